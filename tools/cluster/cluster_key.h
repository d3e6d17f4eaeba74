// SPDX-License-Identifier: Apache-2.0
//
// The secret that all processes of a cluster share: from a file that a flag names, or from
// the environment variable TFRT_CLUSTER_KEY. Never from the command line itself, which
// everybody on the machine can read.
//
// Thread rule: thread-compatible. Failure rule: one line that names the file and the fix.
#ifndef TFRT_TOOLS_CLUSTER_CLUSTER_KEY_H_
#define TFRT_TOOLS_CLUSTER_CLUSTER_KEY_H_

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

#define TFRT_CLUSTER_KEY_VARIABLE "TFRT_CLUSTER_KEY"

// The longest key, in bytes.
#define TFRT_CLUSTER_KEY_MAX_SIZE 1024

// A key; of size 0 if there is none.
typedef struct tfrt_cluster_key_s {
  char text[TFRT_CLUSTER_KEY_MAX_SIZE + 1];  // with a NUL
  size_t size;
} tfrt_cluster_key_t;

// Sets |*out_key| to the first line of the file |path|; without a |path| (NULL), to what the
// environment says, if anything. INVALID_ARGUMENT for a key that is empty, too long, or has
// other than printable ASCII characters; the file's own errors. Thread-compatible.
tfrt_status_t tfrt_cluster_key_read(const char* path, tfrt_cluster_key_t* out_key) TFRT_MUST_USE;

// Sets |*out_key| to a new random key of 256 bits. Thread-safe.
void tfrt_cluster_key_generate(tfrt_cluster_key_t* out_key);

// |key| as a view, which lives as long as it. Thread-safe.
static inline tfrt_string_view_t tfrt_cluster_key_view(const tfrt_cluster_key_t* key) {
  return tfrt_string_view_make(key->text, key->size);
}

#endif  // TFRT_TOOLS_CLUSTER_CLUSTER_KEY_H_
