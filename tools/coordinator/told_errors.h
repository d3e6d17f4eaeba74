// SPDX-License-Identifier: Apache-2.0
//
// The errors that were printed already. Each result that an error has reached is an error of its
// own. If two errors describe the same event in the same words, one is enough.
//
// Thread rule: thread-compatible (one thread, mostly the main one).
// Failure rule: when memory is out an error is printed once more.
#ifndef TFRT_TOOLS_COORDINATOR_TOLD_ERRORS_H_
#define TFRT_TOOLS_COORDINATOR_TOLD_ERRORS_H_

#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/status.h"

typedef struct tfrt_told_errors_s {
  tfrt_allocator_t allocator;
  tfrt_hash_table_t table;
} tfrt_told_errors_t;

// Makes |told| an empty set. Thread-compatible.
void tfrt_told_errors_initialize(tfrt_told_errors_t* told, tfrt_allocator_t allocator);

// Gives back what |told| has. Thread-compatible.
void tfrt_told_errors_deinitialize(tfrt_told_errors_t* told);

// Adds |error| (+0, not OK; outlives |told|); false if one with its root key and its text is in
// |told| already. Thread-compatible.
bool tfrt_told_errors_add(tfrt_told_errors_t* told, tfrt_status_t error);

#endif  // TFRT_TOOLS_COORDINATOR_TOLD_ERRORS_H_
