// SPDX-License-Identifier: Apache-2.0
//
// The order in which the kernels of a function run when each value is there as soon as it is
// made, worked out when the program is loaded. A call that goes this way counts nothing, looks
// for nothing that is ready, and shares no counter with other threads (scheduled_call.h).
//
//   step:  kernel | slots: arguments, results, and those that nobody reads behind it
//
//   slots: [ arguments of the function | constants | values of kernels ... ]
//           lent or given by the caller  the program's  the call's own, used again and again
//
// From the first late value that a kernel needs the executor takes over. A kernel that makes the
// same scalar each time, a constant, is run once, when the schedule is made: calls borrow its
// value.
//
// Life:
//  1. Made for a whole function, in its program's arena (schedule_builder.h).
//  2. Read by any number of calls.
//  3. Its constants are released with the program.
//
// Thread rule: immutable after creation.
// Failure rule: none fails. A function that can't go this way has no schedule.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_SCHEDULE_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_SCHEDULE_H_

#include "host_runtime/executor/program/program_impl.h"

// A kernel with more arguments, or more results, has no place in a schedule.
#define TFRT_SCHEDULE_MAX_VALUES 16

// One kernel. With its site it is all that a call reads of most kernels, and small: there are as
// many as ops.
typedef struct tfrt_schedule_step_s {
  uint32_t kernel;  // index of its site in the function
  uint8_t argument_count;
  uint8_t result_count;
  uint8_t dead_count;
  // Neither attributes, functions, options nor checks.
  bool is_plain : 1;
  // The call goes on without its results: the kernel waits itself, and so does each that reads
  // them.
  bool gives_late : 1;
} tfrt_schedule_step_t;

struct tfrt_schedule_s {
  const tfrt_schedule_step_t* steps;
  const uint32_t* slots;  // of all steps, one after the other: arguments, results, dead ones
  uint32_t step_count;
  uint32_t slot_count;
  tfrt_async_value_t** constants;
  uint32_t constant_count;
  const uint32_t* unused_arguments;  // slots that no kernel reads
  uint32_t unused_count;
  const uint32_t* result_slots;  // of the function
  const bool* result_is_last;    // whether it is the last one to read its slot, and may have it
};

// How many slots |step| has: those of the next step follow. Thread-safe.
static inline uint32_t tfrt_schedule_step_slot_count(const tfrt_schedule_step_t* step) {
  return (uint32_t)step->argument_count + step->result_count + step->dead_count;
}

// Releases the constants of |schedule|; NULL is allowed. Thread-compatible.
void tfrt_schedule_release_constants(const tfrt_schedule_t* schedule);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_SCHEDULE_H_
