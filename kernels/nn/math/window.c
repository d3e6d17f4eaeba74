// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/window.h"

#include <string.h>

bool tfrt_nn_is_channels_last(const tfrt_nn_call_t* call) {
  for (uint32_t i = 0; i < call->op->attribute_count; ++i) {
    if (strcmp(call->op->attributes[i].name, "layout") != 0) continue;
    return tfrt_nn_string_is(call, "layout", "NHWC");
  }
  return false;
}

tfrt_status_t tfrt_nn_window_numbers(const tfrt_nn_call_t* call, const char* name, uint32_t count,
                                     int64_t low, int64_t standard, int64_t* out_values) {
  tfrt_nn_numbers_t numbers;
  TFRT_RETURN_IF_ERROR(tfrt_nn_numbers(call, name, &numbers));
  if (numbers.count != 0 && numbers.count != count) {
    return tfrt_nn_error(call, "'%s' must have %u numbers", name, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    out_values[i] = numbers.count ? numbers.values[i] : standard;
    if (out_values[i] < low || out_values[i] > INT32_MAX) {
      return tfrt_nn_error(call, "number %u of '%s' is out of range: %lld", i, name,
                           (long long)out_values[i]);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_window_read(const tfrt_nn_call_t* call, const int64_t* size,
                                  tfrt_nn_window_t* out_window) {
  memset(out_window, 0, sizeof(*out_window));
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  if (!x || x->shape.rank < 3 || x->shape.rank > 2 + TFRT_NN_MAX_SPATIAL) {
    return tfrt_nn_error(call, "its operand must have 3 to %d axes", 2 + TFRT_NN_MAX_SPATIAL);
  }
  uint32_t spatial = out_window->spatial = x->shape.rank - 2;
  uint32_t first_axis = tfrt_nn_is_channels_last(call) ? 1 : 2;
  for (uint32_t i = 0; i < spatial; ++i) {
    out_window->source[i] = x->shape.dims[first_axis + i];
    out_window->size[i] = size[i];
    if (size[i] < 1 || size[i] > INT32_MAX || out_window->source[i] > INT32_MAX) {
      return tfrt_nn_error(call, "an axis of the window or the operand is empty or too long");
    }
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_window_numbers(call, "strides", spatial, 1, 1, out_window->strides));
  return tfrt_nn_window_numbers(call, "dilations", spatial, 1, 1, out_window->dilations);
}

static tfrt_status_t read_pads(const tfrt_nn_call_t* call, tfrt_nn_window_t* window) {
  int64_t pads[2 * TFRT_NN_MAX_SPATIAL];
  TFRT_RETURN_IF_ERROR(tfrt_nn_window_numbers(call, "pads", 2 * window->spatial, 0, 0, pads));
  for (uint32_t i = 0; i < window->spatial; ++i) {
    window->before[i] = pads[i];
    window->after[i] = pads[i + window->spatial];
  }
  return NULL;
}

// The number of places of the window along axis |i|.
static int64_t count_places(const tfrt_nn_window_t* window, uint32_t i, bool ceil_mode) {
  int64_t extent = (window->size[i] - 1) * window->dilations[i] + 1;
  int64_t room = window->source[i] + window->before[i] + window->after[i] - extent;
  if (room < 0) return 0;
  int64_t stride = window->strides[i];
  int64_t count = room / stride + 1;
  if (!ceil_mode || room % stride == 0) return count;
  // The last one must not begin in the padding behind.
  return count * stride < window->source[i] + window->before[i] ? count + 1 : count;
}

tfrt_status_t tfrt_nn_window_plan(const tfrt_nn_call_t* call, const int64_t* size, bool ceil_mode,
                                  tfrt_nn_window_t* out_window) {
  TFRT_RETURN_IF_ERROR(tfrt_nn_window_read(call, size, out_window));
  bool is_upper = tfrt_nn_string_is(call, "auto_pad", "SAME_UPPER");
  bool is_lower = tfrt_nn_string_is(call, "auto_pad", "SAME_LOWER");
  if (tfrt_nn_string_is(call, "auto_pad", "NOTSET")) {
    TFRT_RETURN_IF_ERROR(read_pads(call, out_window));
  } else if (!is_upper && !is_lower && !tfrt_nn_string_is(call, "auto_pad", "VALID")) {
    return tfrt_nn_error(call, "there is no such auto_pad");
  }
  for (uint32_t i = 0; i < out_window->spatial; ++i) {
    if (is_upper || is_lower) {
      int64_t stride = out_window->strides[i];
      int64_t places = (out_window->source[i] + stride - 1) / stride;
      int64_t extent = (out_window->size[i] - 1) * out_window->dilations[i] + 1;
      int64_t pad = (places - 1) * stride + extent - out_window->source[i];
      if (pad < 0) pad = 0;
      out_window->before[i] = is_upper ? pad / 2 : pad - pad / 2;
      out_window->after[i] = pad - out_window->before[i];
      out_window->target[i] = places;
    } else {
      out_window->target[i] = count_places(out_window, i, ceil_mode);
    }
  }
  return NULL;
}
