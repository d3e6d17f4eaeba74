// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/pooling.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/math/nan_keeping.h"
#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_library.h"
#include "kernels/tensor/onednn/onednn_primitive.h"

static dnnl_status_t describe(const tfrt_onednn_key_t* key, const_dnnl_primitive_attr_t attributes,
                              dnnl_engine_t engine, dnnl_primitive_desc_t* out_description) {
  dnnl_memory_desc_t source, target;
  dnnl_status_t result = tfrt_onednn_describe_memory(key->source, 4, &source);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(key->target, 4, &target);
  const dnnl_dims_t window = {key->window[0], key->window[1]};
  const dnnl_dims_t strides = {key->strides[0], key->strides[1]};
  const dnnl_dims_t padding = {key->padding[0], key->padding[1]};
  dnnl_pooling_desc_t operation;
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_pooling_forward_desc_init(&operation, dnnl_forward_inference,
                                                           dnnl_pooling_max, &source, &target,
                                                           strides, window, padding, padding);
  }
  if (result != dnnl_success) return result;
  return tfrt_onednn()->dnnl_primitive_desc_create(out_description, &operation, attributes, engine,
                                                   NULL);
}

static tfrt_status_t check_window(const tfrt_window_t* window) {
  TFRT_RETURN_IF_ERROR(tfrt_window_check(window, "max_pool2d"));
  for (int i = 0; i < 2; ++i) {
    if (window->size[i] < 1 || window->size[i] > INT32_MAX ||
        window->padding[i] >= window->size[i]) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "max_pool2d has a window of %" PRId64 " with a padding of %" PRId64
                                "; it must be at least 1 and more than its padding",
                                window->size[i], window->padding[i]);
    }
  }
  return NULL;
}

// Completes |key| and computes what it says.
static tfrt_status_t run_first(tfrt_onednn_key_t* key, const tfrt_onednn_input_t* input,
                               const tfrt_window_t* window, tfrt_allocator_t allocator,
                               tfrt_dense_host_tensor_t* out_result) {
  TFRT_RETURN_IF_ERROR(check_window(window));
  key->target_rank = 4;
  key->target[0] = key->source[0];
  key->target[1] = key->source[1];
  tfrt_window_count(window, window->size, key->source + 2, key->target + 2);
  // Places without a single element have no maximum.
  if (key->source[2] == 0 || key->source[3] == 0) key->target[2] = key->target[3] = 0;
  return tfrt_onednn_run_first(key, describe, input, 1, allocator, out_result);
}

static void keep_nan(const tfrt_dense_host_tensor_t* x, const tfrt_window_t* window,
                     const tfrt_dense_host_tensor_t* result) {
  const int64_t* from = x->shape.dims;
  const int64_t* to = result->shape.dims;
  const tfrt_pool_places_t places = {.batch = from[0],
                                     .channels = from[1],
                                     .source = {from[2], from[3]},
                                     .target = {to[2], to[3]},
                                     .window = {window->size[0], window->size[1]},
                                     .strides = {window->strides[0], window->strides[1]},
                                     .padding = {window->padding[0], window->padding[1]}};
  tfrt_pool_keep_nan(&places, tfrt_dense_host_tensor_data(x), tfrt_dense_host_tensor_data(result));
}

tfrt_status_t tfrt_tensor_max_pool2d(const tfrt_dense_host_tensor_t* x, const tfrt_window_t* window,
                                     tfrt_allocator_t allocator,
                                     tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  tfrt_onednn_key_t key = {.kind = TFRT_ONEDNN_MAX_POOL};
  memcpy(key.source, x->shape.dims, sizeof(key.source));
  memcpy(key.window, window->size, sizeof(window->size));
  memcpy(key.strides, window->strides, sizeof(window->strides));
  memcpy(key.padding, window->padding, sizeof(window->padding));
  const tfrt_onednn_input_t input = {DNNL_ARG_SRC, tfrt_dense_host_tensor_data(x)};
  tfrt_status_t status = NULL;
  if (!tfrt_is_f32(x, 4) ||
      !tfrt_onednn_run_again(&key, &input, 1, allocator, out_result, &status)) {
    TFRT_RETURN_IF_ERROR(tfrt_check_f32(x, 4, "the input of max_pool2d"));
    status = run_first(&key, &input, window, allocator, out_result);
  }
  if (!status) keep_nan(x, window, out_result);
  return status;
}
