// SPDX-License-Identifier: Apache-2.0
//
// Runs an operation as a kernel: a short one at once, a long one as a task of the call's work
// queue, so that independent ones run in parallel. (On the only thread of a queue nothing runs in
// parallel, so there all are short.)
//
//   kernel --> short: compute, set the results
//          \-> long:  results unavailable, task queued --> compute, resolve the results
//
// Floats of 16 bits: an operation that isn't made for them gets its operands as f32, and its f32
// results are rounded.
//
// Life of a long one:
//  1. The job retains the kernel's arguments and the request.
//  2. When a thread takes it, a request that was cancelled meanwhile ends it at once.
//  3. It gives back the arguments first and resolves the results then, so that their users may find
//     themselves the only owners.
//
// Thread rule: called by kernels; jobs run on any thread of the queue.
// Failure rule: an error of the operation becomes each result, with the kernel's place.
#ifndef TFRT_KERNELS_NN_NN_JOB_H_
#define TFRT_KERNELS_NN_NN_JOB_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "kernels/nn/math/op_call.h"

// An operation and how long it takes.
typedef struct tfrt_nn_op_s {
  const tfrt_kernel_descriptor_t* descriptor;
  tfrt_nn_op_fn_t run;
  uint32_t work;  // elementary operations for each element of the operands, about
} tfrt_nn_op_t;

// An operation with at least this number of elementary steps is long: some tens of microseconds.
#define TFRT_NN_LONG_WORK 200000

// Runs |op| on the tensors that are the arguments of |frame|.
// Frame's thread only.
void tfrt_nn_job_start(tfrt_kernel_frame_t* frame, const tfrt_nn_op_t* op);

// Runs |call| on this thread, by way of f32 where that is needed. An error leaves its results
// empty. Thread-safe.
tfrt_status_t tfrt_nn_job_run(const tfrt_nn_op_t* op, const tfrt_nn_call_t* call) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_NN_NN_JOB_H_
