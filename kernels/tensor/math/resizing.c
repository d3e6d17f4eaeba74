// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/resizing.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/tensor/math/check_tensor.h"

// Where a new pixel lies along one axis: between two old ones, and how far from the first.
typedef struct place_s {
  int64_t low;
  int64_t high;
  float share;
} place_t;

static place_t place_of(int64_t index, int64_t old_length, int64_t new_length) {
  float scale = (float)old_length / (float)new_length;
  float at = (float)index * scale;
  // Not negative, so that the conversion rounds down.
  int64_t low = (int64_t)at;
  float share = at - (float)low;
  int64_t last = old_length - 1;
  place_t place = {.low = low, .high = share > 0 ? low + 1 : low, .share = share};
  // Rounding may lead beyond the end.
  if (place.low > last) place.low = last;
  if (place.high > last) place.high = last;
  return place;
}

static tfrt_status_t check(const tfrt_dense_host_tensor_t* x, int64_t height, int64_t width) {
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(x, TFRT_DTYPE_UI8, "the input of resize_bilinear"));
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(x, 3, "the input of resize_bilinear"));
  const int64_t* dims = x->shape.dims;
  bool from_nothing = dims[0] == 0 || dims[1] == 0;
  if (height >= 0 && width >= 0 && !(from_nothing && height > 0 && width > 0)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "an image with the shape %s cannot get the height %" PRId64
                            " and the width %" PRId64,
                            tfrt_shape_text(&x->shape).text, height, width);
}

static float mix(float from, float to, float share) { return from + (to - from) * share; }

tfrt_status_t tfrt_tensor_resize_bilinear(const tfrt_dense_host_tensor_t* x, int64_t height,
                                          int64_t width, tfrt_allocator_t allocator,
                                          tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TFRT_RETURN_IF_ERROR(check(x, height, width));
  const int64_t* old = x->shape.dims;
  const int64_t dims[3] = {height, width, old[2]};
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, 3, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, allocator, out_result));
  if (tfrt_shape_element_count(&shape) == 0) return NULL;
  const uint8_t* source = tfrt_dense_host_tensor_data(x);
  float* pixel = tfrt_dense_host_tensor_data(out_result);
  for (int64_t i = 0; i < height; ++i) {
    place_t row = place_of(i, old[0], height);
    for (int64_t j = 0; j < width; ++j) {
      place_t column = place_of(j, old[1], width);
      const uint8_t* top_left = source + (row.low * old[1] + column.low) * old[2];
      const uint8_t* top_right = source + (row.low * old[1] + column.high) * old[2];
      const uint8_t* bottom_left = source + (row.high * old[1] + column.low) * old[2];
      const uint8_t* bottom_right = source + (row.high * old[1] + column.high) * old[2];
      for (int64_t c = 0; c < old[2]; ++c) {
        float top = mix(top_left[c], top_right[c], column.share);
        float bottom = mix(bottom_left[c], bottom_right[c], column.share);
        *pixel++ = mix(top, bottom, row.share);
      }
    }
  }
  return NULL;
}
