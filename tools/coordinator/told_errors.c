// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/told_errors.h"

#include <string.h>

// The comparison reads at most this many bytes of a text.
#define TFRT_TOLD_ERRORS_MAX_TEXT 2048

typedef struct tfrt_told_error_s {
  tfrt_hash_node_t node;
  tfrt_status_t error;  // +0
} tfrt_told_error_t;

// The key of an error.
typedef struct tfrt_told_errors_key_s {
  uint64_t root_key;
  char text[TFRT_TOLD_ERRORS_MAX_TEXT];
} tfrt_told_errors_key_t;

static void told_errors_set_key(tfrt_told_errors_key_t* key, tfrt_status_t error) {
  key->root_key = tfrt_status_fields(error)->root_key;
  tfrt_status_format(error, key->text, sizeof(key->text));
}

static uint64_t told_errors_hash(const void* argument) {
  const tfrt_told_errors_key_t* key = argument;
  return tfrt_hash_combine(key->root_key, tfrt_hash_bytes(key->text, strlen(key->text)));
}

static bool told_errors_equal(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_told_errors_key_t* wanted = key;
  tfrt_told_errors_key_t own;
  told_errors_set_key(&own, TFRT_CONTAINER_OF(node, tfrt_told_error_t, node)->error);
  return own.root_key == wanted->root_key && strcmp(own.text, wanted->text) == 0;
}

static const tfrt_hash_table_vtable_t tfrt_told_errors_vtable = {.hash = told_errors_hash,
                                                                 .equal = told_errors_equal};

void tfrt_told_errors_initialize(tfrt_told_errors_t* told, tfrt_allocator_t allocator) {
  told->allocator = allocator;
  tfrt_hash_table_initialize(&told->table, &tfrt_told_errors_vtable, allocator);
}

void tfrt_told_errors_deinitialize(tfrt_told_errors_t* told) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&told->table); node;) {
    tfrt_told_error_t* entry = TFRT_CONTAINER_OF(node, tfrt_told_error_t, node);
    node = tfrt_hash_table_next(&told->table, node);
    tfrt_allocator_free(told->allocator, entry, sizeof(*entry));
  }
  tfrt_hash_table_deinitialize(&told->table);
}

bool tfrt_told_errors_add(tfrt_told_errors_t* told, tfrt_status_t error) {
  tfrt_told_errors_key_t key;
  told_errors_set_key(&key, error);
  uint64_t hash = told_errors_hash(&key);
  if (tfrt_hash_table_find_hashed(&told->table, hash, &key)) return false;
  tfrt_told_error_t* entry = tfrt_allocator_allocate(told->allocator, sizeof(*entry));
  if (!entry) return true;
  entry->error = error;
  tfrt_hash_table_insert_hashed(&told->table, hash, &entry->node);
  return true;
}
