// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/pooling.h"

void tfrt_nn_pool_place(const tfrt_nn_window_t* window, int64_t index,
                        tfrt_nn_pool_place_t* out_place) {
  out_place->padded_count = 1;
  for (uint32_t i = 0; i < TFRT_NN_MAX_SPATIAL; ++i) {
    out_place->first[i] = 0;
    out_place->end[i] = 1;
  }
  for (uint32_t i = window->spatial; i-- > 0; index /= window->target[i]) {
    uint32_t axis = i + TFRT_NN_MAX_SPATIAL - window->spatial;
    int64_t dilation = window->dilations[i];
    int64_t begin = index % window->target[i] * window->strides[i] - window->before[i];
    int64_t end = begin + (window->size[i] - 1) * dilation + 1;
    int64_t limit = window->source[i] + window->after[i];
    int64_t padded_end = end < limit ? end : limit;
    out_place->padded_count *= (padded_end - begin + dilation - 1) / dilation;
    // The first element inside, in steps of the dilation.
    if (begin < 0) begin += (-begin + dilation - 1) / dilation * dilation;
    out_place->first[axis] = begin;
    out_place->end[axis] = end < window->source[i] ? end : window->source[i];
  }
}

tfrt_nn_plane_t tfrt_nn_plane(const tfrt_nn_window_t* window, int64_t channels) {
  tfrt_nn_plane_t plane = {.dilations = {1, 1, 1}};
  int64_t stride = channels;
  for (uint32_t i = window->spatial; i-- > 0; stride *= window->source[i]) {
    uint32_t axis = i + TFRT_NN_MAX_SPATIAL - window->spatial;
    plane.dilations[axis] = window->dilations[i];
    plane.strides[axis] = stride;
  }
  return plane;
}
