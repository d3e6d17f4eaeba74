// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/convolution.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/math/elementwise.h"
#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_library.h"
#include "kernels/tensor/onednn/onednn_primitive.h"

tfrt_status_t tfrt_window_check(const tfrt_window_t* window, const char* what) {
  for (int i = 0; i < 2; ++i) {
    if (window->strides[i] < 1 || window->strides[i] > INT32_MAX || window->padding[i] < 0 ||
        window->padding[i] > INT32_MAX) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "%s has a stride of %" PRId64 " and a padding of %" PRId64
                                "; they must be at least 1 and 0",
                                what, window->strides[i], window->padding[i]);
    }
  }
  return NULL;
}

void tfrt_window_count(const tfrt_window_t* window, const int64_t* size, const int64_t* image,
                       int64_t* out_size) {
  for (int i = 0; i < 2; ++i) {
    int64_t room = image[i] + 2 * window->padding[i] - size[i];
    out_size[i] = room < 0 ? 0 : room / window->strides[i] + 1;
  }
}

static dnnl_status_t describe(const tfrt_onednn_key_t* key, const_dnnl_primitive_attr_t attributes,
                              dnnl_engine_t engine, dnnl_primitive_desc_t* out_description) {
  dnnl_memory_desc_t source, weights, bias, target;
  dnnl_status_t result = tfrt_onednn_describe_memory(key->source, 4, &source);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(key->weights, 4, &weights);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(key->weights, 1, &bias);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(key->target, 4, &target);
  const dnnl_dims_t strides = {key->strides[0], key->strides[1]};
  const dnnl_dims_t padding = {key->padding[0], key->padding[1]};
  dnnl_convolution_desc_t operation;
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_convolution_forward_desc_init(
        &operation, dnnl_forward_inference, dnnl_convolution_auto, &source, &weights,
        key->bias ? &bias : NULL, &target, strides, padding, padding);
  }
  if (result != dnnl_success) return result;
  return tfrt_onednn()->dnnl_primitive_desc_create(out_description, &operation, attributes, engine,
                                                   NULL);
}

static tfrt_status_t check_operands(const tfrt_dense_host_tensor_t* x,
                                    const tfrt_dense_host_tensor_t* weights,
                                    const tfrt_dense_host_tensor_t* bias) {
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(x, 4, "the input of conv2d"));
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(weights, 4, "the weights of conv2d"));
  if (x->shape.dims[1] != weights->shape.dims[1]) {
    return tfrt_shapes_mismatch("conv2d", "input and weights must have as many channels (axis 1)",
                                &x->shape, &weights->shape);
  }
  if (weights->shape.dims[2] == 0 || weights->shape.dims[3] == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the weights of conv2d have an empty window: their shape is %s",
                              tfrt_shape_text(&weights->shape).text);
  }
  if (!bias) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(bias, 1, "the bias of conv2d"));
  if (bias->shape.dims[0] != weights->shape.dims[0]) {
    return tfrt_shapes_mismatch("conv2d", "bias and weights must have as many filters (axis 0)",
                                &bias->shape, &weights->shape);
  }
  return NULL;
}

// Whether the operands are those of a run before if the key of their lengths is.
static bool may_be_known(const tfrt_dense_host_tensor_t* x, const tfrt_dense_host_tensor_t* weights,
                         const tfrt_dense_host_tensor_t* bias) {
  return tfrt_is_f32(x, 4) && tfrt_is_f32(weights, 4) &&
         (!bias || (tfrt_is_f32(bias, 1) && bias->shape.dims[0] == weights->shape.dims[0]));
}

// Completes |key| and computes what it says.
static tfrt_status_t run_first(tfrt_onednn_key_t* key, const tfrt_onednn_input_t* inputs,
                               size_t count, const tfrt_window_t* window,
                               const tfrt_dense_host_tensor_t* bias, tfrt_allocator_t allocator,
                               tfrt_dense_host_tensor_t* out_result) {
  TFRT_RETURN_IF_ERROR(tfrt_window_check(window, "conv2d"));
  key->target_rank = 4;
  key->target[0] = key->source[0];
  key->target[1] = key->weights[0];
  tfrt_window_count(window, key->weights + 2, key->source + 2, key->target + 2);
  if (key->weights[1] > 0) {
    return tfrt_onednn_run_first(key, describe, inputs, count, allocator, out_result);
  }
  // Filters over no channels: nothing is summed up.
  TFRT_RETURN_IF_ERROR(tfrt_onednn_make_target(key, allocator, out_result));
  tfrt_tensor_fill_with_bias(bias, 1, out_result);
  return NULL;
}

tfrt_status_t tfrt_tensor_conv2d(const tfrt_dense_host_tensor_t* x,
                                 const tfrt_dense_host_tensor_t* weights,
                                 const tfrt_dense_host_tensor_t* bias, const tfrt_window_t* window,
                                 bool relu, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  tfrt_onednn_key_t key = {.kind = TFRT_ONEDNN_CONVOLUTION, .bias = bias != NULL};
  memcpy(key.source, x->shape.dims, sizeof(key.source));
  memcpy(key.weights, weights->shape.dims, sizeof(key.weights));
  memcpy(key.strides, window->strides, sizeof(window->strides));
  memcpy(key.padding, window->padding, sizeof(window->padding));
  const tfrt_onednn_input_t inputs[] = {
      {DNNL_ARG_SRC, tfrt_dense_host_tensor_data(x)},
      {DNNL_ARG_WEIGHTS, tfrt_dense_host_tensor_data(weights)},
      {DNNL_ARG_BIAS, bias ? tfrt_dense_host_tensor_data(bias) : NULL},
  };
  const size_t count = bias ? 3 : 2;
  tfrt_status_t status = NULL;
  if (!may_be_known(x, weights, bias) ||
      !tfrt_onednn_run_again(&key, inputs, count, allocator, out_result, &status)) {
    TFRT_RETURN_IF_ERROR(check_operands(x, weights, bias));
    status = run_first(&key, inputs, count, window, bias, allocator, out_result);
  }
  if (!status && relu) tfrt_tensor_cut_at_zero(out_result);
  return status;
}
