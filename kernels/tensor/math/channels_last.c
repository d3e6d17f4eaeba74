// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/channels_last.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/math/nan_keeping.h"
#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_library.h"
#include "kernels/tensor/onednn/onednn_primitive.h"

// OK if |target| is f32 and has the |rank| lengths |dims|, which the result of |name| has.
static tfrt_status_t check_target(const char* name, const int64_t* dims, size_t rank,
                                  const tfrt_dense_host_tensor_t* target) {
  tfrt_shape_t expected;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, rank, &expected));
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(target, TFRT_DTYPE_F32, name));
  if (tfrt_shape_equal(&expected, &target->shape)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s output shape %s does not match the expected output shape %s", name,
                            tfrt_shape_text(&target->shape).text, tfrt_shape_text(&expected).text);
}

// --- Pooling -----------------------------------------------------------------

// The library's axes are N, C, H, W, whatever the order in memory. The paddings of the far
// sides stand behind those of the near ones in the key.
static dnnl_status_t describe_pool(const tfrt_onednn_key_t* key,
                                   const_dnnl_primitive_attr_t attributes, dnnl_engine_t engine,
                                   dnnl_primitive_desc_t* out_description) {
  dnnl_dims_t from = {key->source[0], key->source[1], key->source[2], key->source[3]};
  dnnl_dims_t to = {key->target[0], key->target[1], key->target[2], key->target[3]};
  dnnl_memory_desc_t source, target;
  dnnl_status_t result =
      tfrt_onednn()->dnnl_memory_desc_init_by_tag(&source, 4, from, dnnl_f32, dnnl_nhwc);
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_memory_desc_init_by_tag(&target, 4, to, dnnl_f32, dnnl_nhwc);
  }
  const dnnl_dims_t window = {key->window[0], key->window[1]};
  const dnnl_dims_t strides = {key->strides[0], key->strides[1]};
  const dnnl_dims_t near = {key->padding[0], key->padding[1]};
  const dnnl_dims_t far = {key->padding[2], key->padding[3]};
  dnnl_pooling_desc_t operation;
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_pooling_forward_desc_init(&operation, dnnl_forward_inference,
                                                           dnnl_pooling_max, &source, &target,
                                                           strides, window, near, far);
  }
  if (result != dnnl_success) return result;
  return tfrt_onednn()->dnnl_primitive_desc_create(out_description, &operation, attributes, engine,
                                                   NULL);
}

// The padding of both sides together, along an axis of |length|.
static int64_t total_padding(const tfrt_pool_window_t* window, int axis, int64_t length) {
  if (!window->same) return 0;
  int64_t rest = length % window->strides[axis];
  int64_t total = window->size[axis] - (rest != 0 ? rest : window->strides[axis]);
  return total > 0 ? total : 0;
}

// Fills in the key of a pooling of |x|, whose result is key.target: [N, C, OH, OW].
static tfrt_status_t make_key(const tfrt_dense_host_tensor_t* x, const tfrt_pool_window_t* window,
                              tfrt_onednn_key_t* out_key) {
  *out_key = (tfrt_onednn_key_t){.kind = TFRT_ONEDNN_MAX_POOL_CHANNELS_LAST};
  const int64_t* dims = x->shape.dims;
  const int64_t source[4] = {dims[0], dims[3], dims[1], dims[2]};
  memcpy(out_key->source, source, sizeof(source));
  memcpy(out_key->target, source, sizeof(source));
  for (int i = 0; i < 2; ++i) {
    if (window->size[i] < 1 || window->size[i] > INT32_MAX || window->strides[i] < 1 ||
        window->strides[i] > INT32_MAX) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "MaxPool2D has a pool_size of %" PRId64 " and strides of %" PRId64
                                "; both must be at least 1",
                                window->size[i], window->strides[i]);
    }
    int64_t total = total_padding(window, i, dims[1 + i]);
    int64_t room = dims[1 + i] + total - window->size[i];
    out_key->window[i] = window->size[i];
    out_key->strides[i] = window->strides[i];
    out_key->padding[i] = total / 2;
    out_key->padding[2 + i] = total - total / 2;
    out_key->target[2 + i] = room < 0 ? 0 : room / window->strides[i] + 1;
  }
  return NULL;
}

tfrt_status_t tfrt_channels_last_max_pool(const tfrt_dense_host_tensor_t* x,
                                          const tfrt_pool_window_t* window,
                                          tfrt_allocator_t allocator,
                                          const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(x, 4, "the input of MaxPool2D"));
  tfrt_onednn_key_t key;
  TFRT_RETURN_IF_ERROR(make_key(x, window, &key));
  // Places without a single element have no maximum.
  if (key.source[2] == 0 || key.source[3] == 0) key.target[2] = key.target[3] = 0;
  const int64_t expected[4] = {key.target[0], key.target[2], key.target[3], key.target[1]};
  TFRT_RETURN_IF_ERROR(check_target("MaxPool2D", expected, 4, target));
  if (tfrt_dense_host_tensor_element_count(target) == 0) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_check_disjoint("MaxPool2D", x, target));
  const tfrt_onednn_input_t input = {DNNL_ARG_SRC, tfrt_dense_host_tensor_data(x)};
  TFRT_RETURN_IF_ERROR(tfrt_onednn_run(&key, describe_pool, &input, 1, allocator,
                                       tfrt_dense_host_tensor_data(target)));
  const tfrt_pool_places_t places = {.batch = key.source[0],
                                     .channels = key.source[1],
                                     .source = {key.source[2], key.source[3]},
                                     .target = {key.target[2], key.target[3]},
                                     .window = {key.window[0], key.window[1]},
                                     .strides = {key.strides[0], key.strides[1]},
                                     .padding = {key.padding[0], key.padding[1]},
                                     .is_channels_last = true};
  tfrt_pool_keep_nan(&places, tfrt_dense_host_tensor_data(x), tfrt_dense_host_tensor_data(target));
  return NULL;
}

// --- Loops -------------------------------------------------------------------

tfrt_status_t tfrt_channels_last_average(const tfrt_dense_host_tensor_t* x,
                                         const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(x, 4, "the input of GlobalAveragePool"));
  const int64_t* dims = x->shape.dims;
  const int64_t expected[2] = {dims[0], dims[3]};
  TFRT_RETURN_IF_ERROR(check_target("GlobalAveragePool", expected, 2, target));
  TFRT_RETURN_IF_ERROR(tfrt_check_disjoint("GlobalAveragePool", x, target));
  const float* source = tfrt_dense_host_tensor_data(x);
  float* means = tfrt_dense_host_tensor_data(target);
  int64_t pixels = dims[1] * dims[2];
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t c = 0; c < dims[3]; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < pixels; ++i) sum += (double)source[(n * pixels + i) * dims[3] + c];
      means[n * dims[3] + c] = (float)(sum / (double)pixels);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_channels_last_pad(const tfrt_dense_host_tensor_t* x, const int64_t* padding,
                                     const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(x, 4, "the input of ZeroPadding"));
  const int64_t* dims = x->shape.dims;
  for (int i = 0; i < 2; ++i) {
    if (padding[i] >= 0 && padding[i] <= INT32_MAX) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "ZeroPadding has a padding of %" PRId64,
                              padding[i]);
  }
  const int64_t expected[4] = {dims[0], dims[1] + 2 * padding[0], dims[2] + 2 * padding[1],
                               dims[3]};
  TFRT_RETURN_IF_ERROR(check_target("ZeroPadding", expected, 4, target));
  size_t size = tfrt_dense_host_tensor_size(target);
  if (size == 0) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_check_disjoint("ZeroPadding", x, target));
  memset(tfrt_dense_host_tensor_data(target), 0, size);
  size_t row = (size_t)(dims[2] * dims[3]);
  const float* source = tfrt_dense_host_tensor_data(x);
  float* pixels = tfrt_dense_host_tensor_data(target);
  for (int64_t n = 0; n < dims[0] && row > 0; ++n) {
    for (int64_t y = 0; y < dims[1]; ++y) {
      int64_t place = ((n * expected[1] + padding[0] + y) * expected[2] + padding[1]) * dims[3];
      memcpy(pixels + place, source + (n * dims[1] + y) * (int64_t)row, row * sizeof(float));
    }
  }
  return NULL;
}

tfrt_status_t tfrt_channels_last_spread(const tfrt_dense_host_tensor_t* x,
                                        const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(x, 2, "the input of Broadcast2D"));
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(target, 4, "the output of Broadcast2D"));
  const int64_t* dims = target->shape.dims;
  if (x->shape.dims[0] != dims[0] || x->shape.dims[1] != dims[3]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Broadcast2D output shape %s does not match the input shape %s",
                              tfrt_shape_text(&target->shape).text,
                              tfrt_shape_text(&x->shape).text);
  }
  TFRT_RETURN_IF_ERROR(tfrt_check_disjoint("Broadcast2D", x, target));
  const float* source = tfrt_dense_host_tensor_data(x);
  float* pixels = tfrt_dense_host_tensor_data(target);
  int64_t total = tfrt_dense_host_tensor_element_count(target);
  int64_t image = dims[1] * dims[2] * dims[3];
  for (int64_t i = 0; i < total; i += dims[3]) {
    memcpy(pixels + i, source + i / image * dims[3], (size_t)dims[3] * sizeof(float));
  }
  return NULL;
}
