// SPDX-License-Identifier: Apache-2.0
//
// Makes the schedule of a function (schedule.h): the order of the kernels, and the last reader of
// each value. Private to the executor.
//
// The executor's own lists (arrival.h) give the order: the builder runs the function with them,
// without values, as a work queue with one thread would. If each kernel uses the result of the one
// before, the order is that of the file. Only functions that are not worth more threads get a
// schedule: all of their streams but one are *cheap*, made of pure kernels that together cost less
// than to wake a thread. Constants are run here.
//
// Life:
//  1. A survey gets each kernel of a function as that is resolved: it is in the cache then.
//  2. The schedule is made from that for the whole function.
//
// Thread rule: thread-compatible on the program.
// Failure rule: RESOURCE_EXHAUSTED. A function that can't have a schedule gets none.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SCHEDULE_BUILDER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SCHEDULE_BUILDER_H_

#include "host_runtime/executor/program/schedule.h"

// A stream that costs more, in units of the op table, may be worth a thread of its own: so much
// takes some ten microseconds, and so does the waking of a thread.
#define TFRT_SCHEDULE_CHEAP_STREAM 1000

// So much of each kernel doesn't count: it is what it takes longer to start one from lists, on any
// number of threads, than by a schedule.
#define TFRT_SCHEDULE_START_COST 3

// Facts about all kernels of a function, needed before it gets a schedule.
typedef struct tfrt_schedule_survey_s {
  uint64_t* costs;          // per stream: of its kernels beyond their starts
  uint32_t first_constant;  // kernels that may be constants are from here on
  uint32_t constants_end;   // and before this one
  uint32_t constant_count;
  bool is_too_wide;  // a kernel has more values than TFRT_SCHEDULE_MAX_VALUES
} tfrt_schedule_survey_t;

// Makes |survey| one of no kernels of |callable| yet. The data in |scratch| is needed as long as
// the survey. Errors: RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_schedule_survey_initialize(tfrt_schedule_survey_t* survey,
                                              const tfrt_bef_callable_t* callable,
                                              tfrt_arena_t* scratch) TFRT_MUST_USE;

// The cost of a kernel with the entry |descriptor| (or NULL) in the op table, beyond the cost of
// starting it. A kernel with a visible effect, or of unknown cost, costs more than any stream that
// is cheap. Thread-safe.
uint64_t tfrt_schedule_cost(const tfrt_kernel_descriptor_t* descriptor);

// Adds the kernel that is bound at |site| and costs |cost|, the next one. Thread-compatible.
static inline void tfrt_schedule_survey_add(tfrt_schedule_survey_t* survey,
                                            const tfrt_kernel_site_t* site, uint64_t cost) {
  // Each is below 2^32, and there are fewer than 2^30 kernels (each has a record).
  survey->costs[site->stream_id] += cost;
}

// Looks at the counts of kernel |index|, from 1 on and in their order, which is bound at |site|,
// where constants are marked; |descriptor| is its entry in the op table, or NULL. Need not be
// called for a kernel that shares the binding of an earlier one. Thread-compatible.
void tfrt_schedule_survey_look_at(tfrt_schedule_survey_t* survey, tfrt_kernel_site_t* site,
                                  const tfrt_kernel_descriptor_t* descriptor, uint32_t index);

// About how many bytes the schedule of |function| takes. Thread-safe.
size_t tfrt_schedule_size(const tfrt_bef_function_t* function);

// Sets |callable->schedule|, or leaves NULL there. |survey| has been told of all kernels. Lasting
// data lies in the arena of |program|, the rest in |scratch|. Errors: RESOURCE_EXHAUSTED.
// Thread-compatible.
tfrt_status_t tfrt_schedule_create(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                   const tfrt_schedule_survey_t* survey, tfrt_arena_t* scratch)
    TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SCHEDULE_BUILDER_H_
