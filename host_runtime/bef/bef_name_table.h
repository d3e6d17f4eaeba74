// SPDX-License-Identifier: Apache-2.0
//
// Texts, each once, numbered in the order in which they came: the strings, kernel names,
// types and file names of a file that is written. Private to this room.
//
// Life: initialised over an arena, which keeps the texts; added to; deinitialised.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: NULL when memory is out.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_NAME_TABLE_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_NAME_TABLE_H_

#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/string_view.h"

typedef struct tfrt_bef_name_s {
  tfrt_hash_node_t node;
  struct tfrt_bef_name_s* next;  // the name that came after this one
  tfrt_string_view_t text;       // NUL-terminated
  uint32_t index;
  uint32_t offset;  // for the writer: where it lies in its section
} tfrt_bef_name_t;

typedef struct tfrt_bef_name_table_s {
  tfrt_arena_t* arena;
  tfrt_hash_table_t hash_table;
  tfrt_bef_name_t* first;
  tfrt_bef_name_t* last;
  tfrt_bef_name_t* recent;  // the answer before; NULL: none yet
  uint32_t count;
} tfrt_bef_name_table_t;

// Makes |table| empty. Thread-compatible.
void tfrt_bef_name_table_initialize(tfrt_bef_name_table_t* table, tfrt_arena_t* arena);

// Gives back the memory of |table|, but for what lies in the arena. Thread-compatible.
void tfrt_bef_name_table_deinitialize(tfrt_bef_name_table_t* table);

// Returns the entry of |text|, made if there is none, or NULL. Thread-compatible.
tfrt_bef_name_t* tfrt_bef_name_table_add(tfrt_bef_name_table_t* table, tfrt_string_view_t text);

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_NAME_TABLE_H_
