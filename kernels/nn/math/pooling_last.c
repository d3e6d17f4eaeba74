// SPDX-License-Identifier: Apache-2.0
//
// Poolings of images with the channels last: pixels are added up, or compared, channel by channel.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/pooling.h"

// Channels that are summed up together.
enum { BLOCK = 64 };

static void max_of_place(const float* x, const tfrt_nn_plane_t* plane,
                         const tfrt_nn_pool_place_t* place, int64_t channels, float* out) {
  for (int64_t c = 0; c < channels; ++c) out[c] = -INFINITY;
  TFRT_NN_FOR_EACH_OFFSET(*plane, *place, {
    const float* pixel = x + offset;
    // A NaN stays: nothing is greater.
    for (int64_t c = 0; c < channels; ++c) {
      out[c] = pixel[c] > out[c] || pixel[c] != pixel[c] ? pixel[c] : out[c];
    }
  })
}

static void mean_of_place(const float* x, const tfrt_nn_plane_t* plane,
                          const tfrt_nn_pool_place_t* place, int64_t channels, bool with_padding,
                          float* out) {
  for (int64_t first = 0; first < channels; first += BLOCK) {
    int64_t width = channels - first < BLOCK ? channels - first : BLOCK;
    double sums[BLOCK] = {0};
    int64_t count = 0;
    TFRT_NN_FOR_EACH_OFFSET(*plane, *place, {
      const float* pixel = x + offset + first;
      for (int64_t c = 0; c < width; ++c) sums[c] += (double)pixel[c];
      ++count;
    })
    double divisor = (double)(with_padding ? place->padded_count : count);
    for (int64_t c = 0; c < width; ++c) out[first + c] = (float)(sums[c] / divisor);
  }
}

static tfrt_status_t check_images(const tfrt_nn_call_t* call) {
  if (call->result_count > 1) return tfrt_nn_error(call, "in this layout it gives no indices");
  return tfrt_nn_check_dtype(call, 0, TFRT_DTYPE_F32);
}

tfrt_status_t tfrt_nn_pool_channels_last(const tfrt_nn_call_t* call, const tfrt_nn_window_t* window,
                                         bool is_max, bool with_padding) {
  TFRT_RETURN_IF_ERROR(check_images(call));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  int64_t channels = x->dims[x->rank - 1];
  const tfrt_nn_plane_t plane = tfrt_nn_plane(window, channels);
  int64_t image = tfrt_shape_stride(x, 0), places = 1;
  for (uint32_t i = 0; i < window->spatial; ++i) places *= window->target[i];
  const float* source = tfrt_nn_input_data(call, 0);
  float* out = tfrt_nn_result_data(call, 0);
  for (int64_t i = 0; i < x->dims[0] * places; ++i, out += channels) {
    tfrt_nn_pool_place_t place;
    tfrt_nn_pool_place(window, i % places, &place);
    const float* data = source + i / places * image;
    if (is_max) {
      max_of_place(data, &plane, &place, channels, out);
    } else {
      mean_of_place(data, &plane, &place, channels, with_padding, out);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_pool_all_channels_last(const tfrt_nn_call_t* call, int64_t pixels) {
  TFRT_RETURN_IF_ERROR(check_images(call));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  int64_t channels = x->dims[x->rank - 1];
  const tfrt_nn_plane_t plane = {.dilations = {1, 1, 1}, .strides = {0, 0, channels}};
  const tfrt_nn_pool_place_t all = {.end = {1, 1, pixels}};
  for (int64_t i = 0; i < x->dims[0]; ++i) {
    mean_of_place((const float*)tfrt_nn_input_data(call, 0) + i * pixels * channels, &plane, &all,
                  channels, false, (float*)tfrt_nn_result_data(call, 0) + i * channels);
  }
  return NULL;
}
