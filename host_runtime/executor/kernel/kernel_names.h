// SPDX-License-Identifier: Apache-2.0
//
// A set of names and what they stand for: op tables, each with the functions of its entries.
//
//   names -> room -> room -> room       a table and its functions, in the order of adding
//     \-> index: name -> room, entry    of all names; made when it is worth that
//
// The first few names are looked for by walking through the tables. Most programs have no more,
// and an index costs as much as some ten walks.
//
// Life: initialised; filled; looked into; deinitialised. Rooms are their adder's, and live longer.
//
// Thread rule: looking up is thread-safe once nothing is added any more; the rest is
// thread-compatible.
// Failure rule: see tfrt_kernel_names_add(). Looking up fails for no lack of memory: it walks then.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_NAMES_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_NAMES_H_

#include <stdatomic.h>

#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/executor/kernel/kernel_registry.h"

// An op table with the functions of its entries.
typedef struct tfrt_kernel_room_s {
  tfrt_kernel_table_t table;
  tfrt_kernel_fn_t* functions;  // by entry, NULL for one that has none; NULL: none has one
  tfrt_sync_kernel_fn_t* sync_functions;   // the same
  tfrt_kernel_withdraw_fn_t* withdrawals;  // the same
  struct tfrt_kernel_room_s* next;         // of the set that it was added to
} tfrt_kernel_room_t;

typedef struct tfrt_kernel_names_s {
  const char* what;  // has these names, for errors
  tfrt_kernel_room_t* first;
  tfrt_kernel_room_t* last;
  tfrt_mutex_t mutex;       // held by the thread that makes the index
  tfrt_hash_table_t index;  // of all names, if |is_indexed|
  tfrt_arena_t entries;     // of the index
  _Atomic bool is_indexed;
  _Atomic uint32_t walk_count;
} tfrt_kernel_names_t;

// Makes the zeroed |names| an empty set of names of a |what| (+0).
void tfrt_kernel_names_initialize(tfrt_kernel_names_t* names, const char* what,
                                  tfrt_allocator_t allocator);
void tfrt_kernel_names_deinitialize(tfrt_kernel_names_t* names);

// Adds |room| (+0). If |is_checked|, or if there is an index, none of its names may be in the set:
// ALREADY_EXISTS, and it has not changed; likewise RESOURCE_EXHAUSTED.
tfrt_status_t tfrt_kernel_names_add(tfrt_kernel_names_t* names, tfrt_kernel_room_t* room,
                                    bool is_checked) TFRT_MUST_USE;

// Sets |*out_kernel| to what |name| stands for; returns false, and has set nothing, if that is
// nothing.
bool tfrt_kernel_names_find(const tfrt_kernel_names_t* names, tfrt_string_view_t name,
                            tfrt_kernel_t* out_kernel);

// The room of |table|, or NULL.
tfrt_kernel_room_t* tfrt_kernel_names_room_of(const tfrt_kernel_names_t* names,
                                              const tfrt_kernel_table_t* table);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_NAMES_H_
