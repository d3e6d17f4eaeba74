// SPDX-License-Identifier: Apache-2.0
//
// Constant tensors that lie in the program's memory: weights of any size, without a copy.
//
//   tensor --> external buffer --> the attribute's bytes
//                    \-----------> the program (+1)
//
// Thread rule: frame's thread only. Failure rule: RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_KERNELS_NN_NN_CONSTANT_H_
#define TFRT_KERNELS_NN_NN_CONSTANT_H_

#include "host_runtime/executor/kernel/kernel_frame.h"

// The kernel `tfrt_nn.constant`. Frame's thread only.
void tfrt_nn_constant(tfrt_kernel_frame_t* frame);

// The kernel `tfrt_nn.condition`: a tensor of one truth value as an i1. Frame's thread only.
void tfrt_nn_condition(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_NN_NN_CONSTANT_H_
