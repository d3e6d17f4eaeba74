// SPDX-License-Identifier: Apache-2.0
//
// One call that follows its function's schedule (schedule.h): the kernels run one after the
// other on the calling thread, without a slab, counters or lists. Private to the executor.
//
//   arguments --> step --> step --> ... --> results
//                    \-- a value that is needed is late: the executor goes on
//
// References: a slot of the call's own holds one; the step that reads the slot last drops it.
// Arguments that are lent and constants are not counted at all.
//
// Life:
//  1. Begun, in the caller's storage, when all arguments that are needed are resolved.
//  2. Run. It ends by itself, with the results, or stops behind a step whose |results| are late.
//  3. Then the executor takes the slots over, and the call must not be run on; or, without memory
//     for that, it is run out.
//
// Thread rule: calling thread only. Failure rule: none fails; values may be errors.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_SCHEDULED_CALL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_SCHEDULED_CALL_H_

#include "host_runtime/executor/program/schedule.h"

struct tfrt_scheduled_call_s {
  const tfrt_bef_callable_t* callable;
  tfrt_async_value_t** slots;
  uint32_t first_owned;              // slots before this one belong to the caller
  const tfrt_schedule_step_t* step;  // the one that runs, or where the call stopped
  const uint32_t* step_slots;        // of |step|
  tfrt_kernel_frame_t frame;         // of the kernel that runs
  tfrt_async_value_t* arguments[TFRT_SCHEDULE_MAX_VALUES];
  tfrt_async_value_t* results[TFRT_SCHEDULE_MAX_VALUES];  // of the kernel that runs
};

// Whether a call of |callable| with |arguments| in |context| may follow a schedule.
// Thread-safe.
bool tfrt_scheduled_call_is_possible(const tfrt_bef_callable_t* callable,
                                     const tfrt_execution_context_t* context,
                                     tfrt_async_value_t* const* arguments);

// Runs |call|, whose |callable| and |slots| (|slot_count| of the schedule) are set, with
// |arguments| (+0, or +1 with |take|). Returns true if it is over: |results| (+1) are set.
// Else it has stopped behind |step|. Calling thread only.
bool tfrt_scheduled_call_run(tfrt_scheduled_call_t* call, const tfrt_execution_context_t* context,
                             tfrt_async_value_t* const* arguments, bool take,
                             tfrt_async_value_t** results);

// Ends |call|, which has stopped behind |step|, and whose request is cancelled: none of the kernels
// that are left runs, and the slots are dropped. Sets |results| (+1): what the kernels gave already
// stays, and the rest is errors. Calling thread only.
void tfrt_scheduled_call_run_out(tfrt_scheduled_call_t* call, tfrt_async_value_t** results);

// tfrt_kernel_frame_is_unique() for argument |index| of the kernel that runs. Calling thread
// only.
bool tfrt_scheduled_call_is_unique(const tfrt_scheduled_call_t* call, uint32_t index);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_SCHEDULED_CALL_H_
