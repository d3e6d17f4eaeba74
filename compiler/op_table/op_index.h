// SPDX-License-Identifier: Apache-2.0
//
// The op tables of a program's kernels, found by name: once per op that is parsed or
// read from BEF. The index grows with what is asked for: a program that knows nothing but the
// ops of the first tables, as most do, doesn't pay for the others.
//
//   tables   | constants, adds, ... | calls, returns, ... | tensors, ...         in order
//   entries  | made and hashed: found at once ......| not made yet |
//
// Life:
//  1. Initialised with the tables (borrowed).
//  2. Asked. A name that is new has the tables read on until it is met.
//  3. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises), also for asking.
// Failure rule: initialising fails when memory is out; of two entries with one name
// the first counts (the op-table test refuses such tables).
#ifndef TFRT_COMPILER_OP_TABLE_OP_INDEX_H_
#define TFRT_COMPILER_OP_TABLE_OP_INDEX_H_

#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"

// The op tables of the program's kernels, for custom forms and checks.
typedef struct tfrt_op_tables_s {
  const tfrt_kernel_table_t* tables;
  size_t count;
  // Runs kernels for passes that fold constants; NULL: the caller has none.
  const struct tfrt_constant_evaluator_s* evaluator;
} tfrt_op_tables_t;

typedef struct tfrt_op_index_entry_s {
  tfrt_hash_node_t node;
  tfrt_string_view_t name;
  const tfrt_kernel_descriptor_t* descriptor;
  struct tfrt_op_form_s* form;  // a parser's; NULL until it has made it
} tfrt_op_index_entry_t;

typedef struct tfrt_op_index_s {
  tfrt_allocator_t allocator;
  tfrt_hash_table_t table;  // of the entries that are made
  tfrt_op_index_entry_t* entries;
  size_t count;             // of the ops of all tables
  size_t known_count;       // of those that have an entry
  tfrt_op_tables_t tables;  // from the one on that was not read to its end,
  size_t next;              // and which of its ops is the next one
} tfrt_op_index_t;

// Makes |index| one of |tables|. Thread-safe.
tfrt_status_t tfrt_op_index_initialize(tfrt_op_index_t* index, const tfrt_op_tables_t* tables,
                                       tfrt_allocator_t allocator) TFRT_MUST_USE;

// Gives back the memory of |index|. Thread-compatible (caller synchronises).
void tfrt_op_index_deinitialize(tfrt_op_index_t* index);

// The entry named |name|, or NULL. Thread-compatible (caller synchronises).
const tfrt_kernel_descriptor_t* tfrt_op_index_find(tfrt_op_index_t* index, tfrt_string_view_t name);

// The same with what is kept beside the entry, which stays where it is. Thread-compatible (caller
// synchronises).
tfrt_op_index_entry_t* tfrt_op_index_find_entry(tfrt_op_index_t* index, tfrt_string_view_t name);

// The entry whose name is most like |name|, if it is so like it that a slip of the
// finger explains the difference, or NULL. Linear; for error messages. Thread-compatible (caller
// synchronises).
const tfrt_kernel_descriptor_t* tfrt_op_index_suggest(tfrt_op_index_t* index,
                                                      tfrt_string_view_t name);

#endif  // TFRT_COMPILER_OP_TABLE_OP_INDEX_H_
