// SPDX-License-Identifier: Apache-2.0
//
// Lines that kernels of tensors print: put together in memory, then given whole to the
// request's output, whose chain becomes the kernel's.
//
// Thread rule: frame's thread only.
// Failure rule: RESOURCE_EXHAUSTED when memory is out; otherwise as the output says.
#ifndef TFRT_KERNELS_TENSOR_KERNEL_PARTS_PRINTING_H_
#define TFRT_KERNELS_TENSOR_KERNEL_PARTS_PRINTING_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/tensor/shape.h"

// Prints what |line| holds and makes result 0 of |frame| the chain of that. |line| is
// given back. Frame's thread only.
void tfrt_print_line_take(tfrt_kernel_frame_t* frame, tfrt_string_builder_t* line);

// Prints "shape = [2, 3]" in this way. Frame's thread only.
void tfrt_print_shape(tfrt_kernel_frame_t* frame, const tfrt_shape_t* shape);

#endif  // TFRT_KERNELS_TENSOR_KERNEL_PARTS_PRINTING_H_
