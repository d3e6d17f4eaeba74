// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/cluster_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/random.h"
#include "tools/cluster/key_file.h"

// The key is the first line; what follows it is not used.
#define TFRT_CLUSTER_KEY_FILE_MAX_SIZE ((size_t)1024 * 1024)

// |where| is what the key was read from, for messages.
static tfrt_status_t cluster_key_set(const char* where, const char* text, size_t size,
                                     tfrt_cluster_key_t* out_key) {
  if (size == 0 || size > TFRT_CLUSTER_KEY_MAX_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: a cluster key has 1 to %d characters, this one has %zu", where,
                              TFRT_CLUSTER_KEY_MAX_SIZE, size);
  }
  for (size_t i = 0; i < size; ++i) {
    if (text[i] >= ' ' && text[i] <= '~') continue;
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "%s: a cluster key is printable ASCII, but character %zu is 0x%02x; `openssl rand -hex 32` "
        "makes a good one",
        where, i + 1, (unsigned char)text[i]);
  }
  memcpy(out_key->text, text, size);
  out_key->size = size;
  return NULL;
}

tfrt_status_t tfrt_cluster_key_read(const char* path, tfrt_cluster_key_t* out_key) {
  memset(out_key, 0, sizeof(*out_key));
  if (!path) {
    const char* text = getenv(TFRT_CLUSTER_KEY_VARIABLE);
    if (!text) return NULL;
    return cluster_key_set(TFRT_CLUSTER_KEY_VARIABLE, text, strlen(text), out_key);
  }
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tfrt_file_read_at_most(path, TFRT_CLUSTER_KEY_FILE_MAX_SIZE,
                                              tfrt_allocator_system(), &contents));
  const char* text = (const char*)contents.data;
  size_t size = 0;
  while (size < contents.size && text[size] != '\n' && text[size] != '\r') ++size;
  tfrt_status_t status = cluster_key_set(path, text, size, out_key);
  tfrt_file_contents_deinitialize(&contents);
  if (!status) tfrt_key_file_check_mode(path);
  return status;
}

void tfrt_cluster_key_generate(tfrt_cluster_key_t* out_key) {
  uint8_t bytes[32];
  tfrt_random_entropy(bytes, sizeof(bytes));
  out_key->size = 2 * sizeof(bytes);
  for (size_t i = 0; i < sizeof(bytes); ++i) snprintf(out_key->text + 2 * i, 3, "%02x", bytes[i]);
}
