// SPDX-License-Identifier: Apache-2.0
//
// The order in which the kernels of a function run when each value is there as soon as it is
// made, worked out when the program is loaded. A call that goes this way counts nothing, looks
// for nothing that is ready, and shares no counter with other threads (scheduled_call.h).
//
//   step:  C function | slots: arguments, results, and those that nobody reads behind it
//
//   slots: [ arguments of the function | constants | values of kernels ... ]
//           lent or given by the caller  the program's  the call's own, used again and again
//
// The order is not chosen here: the function is run with the executor's own lists (arrival.h),
// only without values, as by a work queue that has one thread; unless each kernel uses what the
// one before makes, so that there is no other order than the file's. Only functions that are not
// worth more threads have a schedule: all of their streams but one are *cheap*, made of pure
// kernels that cost less, together, than to wake a thread. From the first value that is late
// the executor takes over.
//
// A kernel that makes the same scalar each time, a constant, is run once, here: calls borrow
// its value.
//
// Life:
//  1. A survey is told of each kernel of a function as that is resolved: it is in the cache then.
//  2. Made from that for the whole function, in its program's arena.
//  3. Read by any number of calls.
//  4. Its constants are released with the program.
//
// Thread rule: immutable after creation.
// Failure rule: RESOURCE_EXHAUSTED. A function that can't go this way has no schedule.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_SCHEDULE_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_SCHEDULE_H_

#include "host_runtime/executor/call_frame.h"
#include "host_runtime/executor/program_impl.h"

// A kernel with more arguments, or more results, has no place in a schedule.
#define TFRT_SCHEDULE_MAX_VALUES 16

// A stream that costs more, in units of the op table, may be worth a thread of its own: so much
// takes some ten microseconds, and so does the waking of a thread.
#define TFRT_SCHEDULE_CHEAP_STREAM 1000

// So much of each kernel doesn't count: it is what it takes longer to start one from lists, on any
// number of threads, than by a schedule.
#define TFRT_SCHEDULE_START_COST 3

// One kernel. What most kernels need is here, so that a call reads little memory.
typedef struct tfrt_schedule_step_s {
  const tfrt_kernel_site_t* site;
  tfrt_kernel_fn_t run;
  uint32_t first_slot;  // of the schedule's |slots|: arguments, results, dead ones
  uint8_t argument_count;
  uint8_t result_count;
  uint8_t dead_count;
  // Neither attributes, functions, options nor checks: |site| need not be read.
  bool is_plain;
} tfrt_schedule_step_t;

struct tfrt_schedule_s {
  const tfrt_schedule_step_t* steps;
  const uint32_t* slots;  // of all steps, one after the other
  uint32_t step_count;
  uint32_t slot_count;
  tfrt_async_value_t** constants;
  uint32_t constant_count;
  const uint32_t* unused_arguments;  // slots that no kernel reads
  uint32_t unused_count;
  const uint32_t* result_slots;  // of the function
  const bool* result_is_last;    // whether it is the last one to read its slot, and may have it
};

// What must be known of all kernels of a function before it gets a schedule.
typedef struct tfrt_schedule_survey_s {
  uint64_t* costs;          // per stream: of its kernels beyond their starts
  uint32_t first_constant;  // kernels that may be constants are from here on
  uint32_t constants_end;   // and before this one
  uint32_t constant_count;
  bool is_too_wide;  // a kernel has more values than TFRT_SCHEDULE_MAX_VALUES
} tfrt_schedule_survey_t;

// Makes |survey| one of no kernels of |callable| yet. What is made in |scratch| is needed as long
// as it. Errors: RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_schedule_survey_initialize(tfrt_schedule_survey_t* survey,
                                              const tfrt_bef_callable_t* callable,
                                              tfrt_arena_t* scratch) TFRT_MUST_USE;

// What a kernel costs, beyond what it takes to start it, whose entry in the op table is
// |descriptor|, or NULL. What others can see happen, or nobody knows the cost of, costs more than
// any stream that is cheap. Thread-safe.
uint64_t tfrt_schedule_cost(const tfrt_kernel_descriptor_t* descriptor);

// Adds the kernel that is bound at |site| and costs |cost|, the next one. Thread-compatible.
static inline void tfrt_schedule_survey_add(tfrt_schedule_survey_t* survey,
                                            const tfrt_kernel_site_t* site, uint64_t cost) {
  // Each is below 2^32, and there are fewer than 2^30 kernels (each has a record).
  survey->costs[site->stream_id] += cost;
}

// Looks at the counts of kernel |index|, from 1 on and in their order, which is bound at |site|,
// where constants are marked; |descriptor| is its entry in the op table, or NULL. Need not be told
// of a kernel that shares the binding of one that it was told of. Thread-compatible.
void tfrt_schedule_survey_look_at(tfrt_schedule_survey_t* survey, tfrt_kernel_site_t* site,
                                  const tfrt_kernel_descriptor_t* descriptor, uint32_t index);

// About how many bytes the schedule of |function| takes. Thread-safe.
size_t tfrt_schedule_size(const tfrt_bef_function_t* function);

// Sets |callable->schedule|, or leaves NULL there. |survey| has been told of all kernels. What
// lasts lies in the arena of |program|, the rest in |scratch|. Errors: RESOURCE_EXHAUSTED.
// Thread-compatible.
tfrt_status_t tfrt_schedule_create(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                   const tfrt_schedule_survey_t* survey, tfrt_arena_t* scratch)
    TFRT_MUST_USE;

// Releases the constants of |schedule|; NULL is allowed. Thread-compatible.
void tfrt_schedule_release_constants(const tfrt_schedule_t* schedule);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_SCHEDULE_H_
