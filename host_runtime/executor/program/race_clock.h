// SPDX-License-Identifier: Apache-2.0
//
// The accesses that a value comes behind, by their numbers, and what is known of all values.
// Private to race_watch.c.
//
//   clock:  all before 17 | 20 23 31        (in order)
//
// A value that was given back leaves its clock behind, until another one at its address gets one.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: when memory is out a value has no clock.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_CLOCK_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_CLOCK_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/executor/program/race_watch.h"

typedef struct tfrt_race_clock_s {
  uint64_t all_before;
  uint32_t count;
  uint64_t numbers[TFRT_RACE_WATCH_MAX_BEHIND];
} tfrt_race_clock_t;

typedef struct tfrt_race_clock_table_s {
  tfrt_allocator_t allocator;
  tfrt_hash_table_t values;
} tfrt_race_clock_table_t;

// Returns true if |clock| is behind access |number|. Thread-compatible.
bool tfrt_race_clock_has(const tfrt_race_clock_t* clock, uint64_t number);

// Adds |number| to |clock|. Thread-compatible.
void tfrt_race_clock_add(tfrt_race_clock_t* clock, uint64_t number);

// Makes |table| empty; gives back all that it has. Thread-compatible.
void tfrt_race_clock_table_initialize(tfrt_race_clock_table_t* table, tfrt_allocator_t allocator);
void tfrt_race_clock_table_clear(tfrt_race_clock_table_t* table);

// Adds all that |value| is behind to |clock|. Thread-compatible.
void tfrt_race_clock_merge_value(const tfrt_race_clock_table_t* table,
                                 const tfrt_async_value_t* value, tfrt_race_clock_t* clock);

// Lets |value| have a copy of |clock|. Thread-compatible.
void tfrt_race_clock_set(tfrt_race_clock_table_t* table, const tfrt_async_value_t* value,
                         const tfrt_race_clock_t* clock);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_CLOCK_H_
