// SPDX-License-Identifier: Apache-2.0
//
// Runs a computation on tensors as a kernel: short ones at once, long ones as a task of
// the call's work queue, so that independent ones run in parallel and nobody waits behind
// them. (On the only thread of a queue nothing runs in parallel, so there they are short, too.)
//
//   kernel --> short: compute, set the result
//          \-> long:  result unavailable, task queued --> compute, resolve the result
//
// Life of a long one:
//  1. The job retains the kernel's arguments and the request, and copies the rest.
//  2. When a thread takes it, a request that was cancelled meanwhile ends it at once.
//  3. The job releases the arguments before it resolves the result, so that the code that continues
//     may be their only owner.
//
// Thread rule: called by kernels; jobs run on any thread of the queue.
// Failure rule: an error of the computation becomes the result, with the kernel's place.
#ifndef TFRT_KERNELS_TENSOR_KERNEL_PARTS_COMPUTE_H_
#define TFRT_KERNELS_TENSOR_KERNEL_PARTS_COMPUTE_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/tensor/host_tensor.h"
#include "kernels/tensor/math/channels_last.h"
#include "kernels/tensor/math/convolution.h"
#include "kernels/tensor/math/pointwise.h"

// A computation of at least this many elementary operations is long. It takes some tens of
// microseconds; handing it to the queue takes about one.
#define TFRT_COMPUTE_LONG_WORK 200000

typedef struct tfrt_compute_s tfrt_compute_t;

// Makes |*out_result| from the operands and settings of |compute|; or, if it works in place,
// writes to one of the operands, and |out_result| is NULL. An error leaves |*out_result|, which was
// zeroed, empty.
typedef tfrt_status_t (*tfrt_compute_fn_t)(const tfrt_compute_t* compute,
                                           tfrt_allocator_t allocator,
                                           tfrt_dense_host_tensor_t* out_result);

// A computation: its function, its operands, and what it may need beside them.
struct tfrt_compute_s {
  tfrt_compute_fn_t run;
  tfrt_async_value_t* const* operands;  // +0; available
  uint32_t operand_count;
  bool in_place;     // result 0 is a chain
  const char* name;  // for messages, where several operations share a function
  tfrt_window_t window;
  bool relu;
  int32_t axis;
  float factor;
  tfrt_dtype_t dtype;
  tfrt_pool_window_t pool;
  tfrt_pointwise_t pointwise;
};

// Operand |index| of |compute|, a dense tensor. Thread-safe.
static inline const tfrt_dense_host_tensor_t* tfrt_compute_tensor(const tfrt_compute_t* compute,
                                                                  uint32_t index) {
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(compute->operands[index]);
  return &tensor->dense;
}

// The same for an operand that a kernel finds in its frame, after it has asked
// tfrt_kernel_frame_has_dense_tensors(). Frame's thread only.
static inline const tfrt_dense_host_tensor_t* tfrt_kernel_frame_tensor(
    const tfrt_kernel_frame_t* frame, uint32_t index) {
  const tfrt_host_tensor_t* tensor = tfrt_kernel_frame_payload(frame, index);
  return &tensor->dense;
}

// The number of arguments of |frame| without the chain that an op may be given behind those that
// its entry lists. Frame's thread only.
uint32_t tfrt_kernel_frame_operand_count(const tfrt_kernel_frame_t* frame);

// Returns true if all tensors among the arguments of |frame| are dense; else fails the
// kernel: in a program all layouts have one type. Frame's thread only.
bool tfrt_kernel_frame_has_dense_tensors(tfrt_kernel_frame_t* frame);

// Runs |compute|, whose operands are the first |operand_count| ones of |frame|, and makes
// its result (or, in place, the chain of that) result 0 of |frame|. |work| is about the number of
// elementary operations. Frame's thread only.
void tfrt_compute_start(tfrt_kernel_frame_t* frame, const tfrt_compute_t* compute, uint64_t work);

// The allocator for what kernels make. Frame's thread only.
tfrt_allocator_t tfrt_kernel_frame_allocator(const tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_TENSOR_KERNEL_PARTS_COMPUTE_H_
