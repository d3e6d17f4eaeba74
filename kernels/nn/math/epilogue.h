// SPDX-License-Identifier: Apache-2.0
//
// The epilogue of a fused op: a summand, operand 3, and then a function of each element, the
// attribute `activation` with the numbers `alpha` and `beta`. The functions stand for ops:
//
//   none                       leaky_relu   alpha below 0       clip    from alpha to beta
//   relu, sigmoid, tanh        silu         x * sigmoid(x)      hard_swish
//   gelu                       gelu_tanh    gelu by tanh
//
// The maths library computes it within its primitives; there, relu and clip make a number of NaN.
//
// Thread rule: thread-safe. Failure rule: see op_call.h.
#ifndef TFRT_KERNELS_NN_MATH_EPILOGUE_H_
#define TFRT_KERNELS_NN_MATH_EPILOGUE_H_

#include "kernels/nn/math/op_call.h"
#include "kernels/tensor/onednn/onednn_epilogue.h"

// Sets |*out_epilogue| to what the op of |call| says, without a summand. INVALID_ARGUMENT for a
// function that does not exist. Thread-safe.
tfrt_status_t tfrt_nn_epilogue_read(const tfrt_nn_call_t* call,
                                    tfrt_onednn_epilogue_t* out_epilogue) TFRT_MUST_USE;

// Sets |*out_is_plain| to whether there is no summand, or one of |shape|, that of the product: then
// result 0 is made, has the elements of the summand (where they are, if nobody else has them), and
// |epilogue| says so. Else the summand is of another shape. Thread-compatible.
tfrt_status_t tfrt_nn_epilogue_make(const tfrt_nn_call_t* call, const tfrt_shape_t* shape,
                                    tfrt_onednn_epilogue_t* epilogue, bool* out_is_plain)
    TFRT_MUST_USE;

// Makes result 0 |product| and the summand, stretched to each other, and then the function of
// |epilogue|. Thread-compatible.
tfrt_status_t tfrt_nn_epilogue_stretch(const tfrt_nn_call_t* call,
                                       const tfrt_dense_host_tensor_t* product,
                                       const tfrt_onednn_epilogue_t* epilogue) TFRT_MUST_USE;

// Makes each of the |count| elements at |data| what the function of |epilogue| gives. Thread-safe.
void tfrt_nn_epilogue_apply(const tfrt_onednn_epilogue_t* epilogue, float* data, int64_t count);

#endif  // TFRT_KERNELS_NN_MATH_EPILOGUE_H_
