// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/matmul.h"

#include <string.h>

#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/math/elementwise.h"
#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_library.h"
#include "kernels/tensor/onednn/onednn_primitive.h"

static dnnl_status_t describe(const tfrt_onednn_key_t* key, const_dnnl_primitive_attr_t attributes,
                              dnnl_engine_t engine, dnnl_primitive_desc_t* out_description) {
  // The library wants a bias of the result's rank: one row.
  const int64_t bias_dims[2] = {1, key->target[1]};
  dnnl_memory_desc_t a, b, bias, target;
  dnnl_status_t result = tfrt_onednn_describe_memory(key->source, 2, &a);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(key->weights, 2, &b);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(bias_dims, 2, &bias);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(key->target, 2, &target);
  dnnl_matmul_desc_t operation;
  if (result == dnnl_success) {
    result =
        tfrt_onednn()->dnnl_matmul_desc_init(&operation, &a, &b, key->bias ? &bias : NULL, &target);
  }
  if (result != dnnl_success) return result;
  return tfrt_onednn()->dnnl_primitive_desc_create(out_description, &operation, attributes, engine,
                                                   NULL);
}

static tfrt_status_t check_operands(const tfrt_dense_host_tensor_t* a,
                                    const tfrt_dense_host_tensor_t* b,
                                    const tfrt_dense_host_tensor_t* bias) {
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(a, 2, "the first operand of matmul"));
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(b, 2, "the second operand of matmul"));
  if (a->shape.dims[1] != b->shape.dims[0]) {
    return tfrt_shapes_mismatch(
        "matmul", "the first operand must have as many columns as the second has rows", &a->shape,
        &b->shape);
  }
  if (!bias) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(bias, 1, "the bias of matmul"));
  if (bias->shape.dims[0] != b->shape.dims[1]) {
    return tfrt_shapes_mismatch("matmul",
                                "the bias must be as long as the second operand has columns",
                                &bias->shape, &b->shape);
  }
  return NULL;
}

// Whether the operands are those of a run before if the key of their lengths is.
static bool may_be_known(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                         const tfrt_dense_host_tensor_t* bias) {
  return tfrt_is_f32(a, 2) && tfrt_is_f32(b, 2) &&
         (!bias || (tfrt_is_f32(bias, 1) && bias->shape.dims[0] == b->shape.dims[1]));
}

// Completes |key| and computes what it says.
static tfrt_status_t run_first(tfrt_onednn_key_t* key, const tfrt_onednn_input_t* inputs,
                               size_t count, const tfrt_dense_host_tensor_t* bias,
                               tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  key->target_rank = 2;
  key->target[0] = key->source[0];
  key->target[1] = key->weights[1];
  if (key->source[1] > 0) {
    return tfrt_onednn_run_first(key, describe, inputs, count, allocator, out_result);
  }
  TFRT_RETURN_IF_ERROR(tfrt_onednn_make_target(key, allocator, out_result));
  tfrt_tensor_fill_with_bias(bias, 1, out_result);
  return NULL;
}

tfrt_status_t tfrt_tensor_matmul(const tfrt_dense_host_tensor_t* a,
                                 const tfrt_dense_host_tensor_t* b,
                                 const tfrt_dense_host_tensor_t* bias, bool relu,
                                 tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  tfrt_onednn_key_t key = {.kind = TFRT_ONEDNN_MATMUL, .bias = bias != NULL};
  memcpy(key.source, a->shape.dims, 2 * sizeof(key.source[0]));
  memcpy(key.weights, b->shape.dims, 2 * sizeof(key.weights[0]));
  const tfrt_onednn_input_t inputs[] = {
      {DNNL_ARG_SRC, tfrt_dense_host_tensor_data(a)},
      {DNNL_ARG_WEIGHTS, tfrt_dense_host_tensor_data(b)},
      {DNNL_ARG_BIAS, bias ? tfrt_dense_host_tensor_data(bias) : NULL},
  };
  const size_t count = bias ? 3 : 2;
  tfrt_status_t status = NULL;
  if (!may_be_known(a, b, bias) ||
      !tfrt_onednn_run_again(&key, inputs, count, allocator, out_result, &status)) {
    TFRT_RETURN_IF_ERROR(check_operands(a, b, bias));
    status = run_first(&key, inputs, count, bias, allocator, out_result);
  }
  if (!status && relu) tfrt_tensor_cut_at_zero(out_result);
  return status;
}
