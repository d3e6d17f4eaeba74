// SPDX-License-Identifier: Apache-2.0
//
// The functions of the operations (kernels/nn/ops/op_list.h): one for each, named after it. Several
// share a function where only their names, which the call has, differ.
//
// Thread rule: thread-safe. Failure rule: see op_call.h.
#ifndef TFRT_KERNELS_NN_MATH_OPS_H_
#define TFRT_KERNELS_NN_MATH_OPS_H_

#include "kernels/nn/math/op_call.h"
#include "kernels/nn/ops/op_list.h"

#define TFRT_NN_DECLARE(name, summary, attributes, results, work) \
  tfrt_status_t tfrt_nn_##name(const tfrt_nn_call_t* call) TFRT_MUST_USE;
TFRT_NN_OP_LIST(TFRT_NN_DECLARE)
#undef TFRT_NN_DECLARE

#endif  // TFRT_KERNELS_NN_MATH_OPS_H_
