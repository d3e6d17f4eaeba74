// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/nan_keeping.h"

#include <math.h>

// Whether a NaN or an infinity is among the numbers: their differences to themselves are NaN, and
// so is the sum. The compiler makes this loop a wide one.
static bool all_finite(const float* numbers, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += numbers[i] - numbers[i];
  return sum == 0;
}

// --- Pooling -------------------------------------------------------------------------

// The places whose windows have row or column |at| of axis |axis|.
typedef struct range_s {
  int64_t first;
  int64_t end;
} range_t;

static range_t places_of(const tfrt_pool_places_t* places, int axis, int64_t at) {
  int64_t stride = places->strides[axis];
  int64_t behind = at + places->padding[axis] - places->window[axis] + 1;
  range_t range = {behind > 0 ? (behind + stride - 1) / stride : 0,
                   (at + places->padding[axis]) / stride + 1};
  if (range.end > places->target[axis]) range.end = places->target[axis];
  return range;
}

// The index of an element of images of |size| rows and columns.
static int64_t index_of(const tfrt_pool_places_t* places, const int64_t* size, int64_t image,
                        int64_t channel, int64_t row, int64_t column) {
  if (places->is_channels_last) {
    return ((image * size[0] + row) * size[1] + column) * places->channels + channel;
  }
  return ((image * places->channels + channel) * size[0] + row) * size[1] + column;
}

static void spread_nan(const tfrt_pool_places_t* places, int64_t image, int64_t channel,
                       int64_t row, int64_t column, float* target) {
  range_t rows = places_of(places, 0, row);
  range_t columns = places_of(places, 1, column);
  for (int64_t i = rows.first; i < rows.end; ++i) {
    for (int64_t j = columns.first; j < columns.end; ++j) {
      target[index_of(places, places->target, image, channel, i, j)] = NAN;
    }
  }
}

void tfrt_pool_keep_nan(const tfrt_pool_places_t* places, const float* source, float* target) {
  int64_t pixels = places->source[0] * places->source[1];
  int64_t count = places->batch * places->channels * pixels;
  if (all_finite(source, count)) return;
  for (int64_t image = 0; image < places->batch; ++image) {
    for (int64_t i = 0; i < places->channels * pixels; ++i) {
      int64_t channel = i / pixels;
      int64_t row = i % pixels / places->source[1];
      int64_t column = i % places->source[1];
      float value = source[index_of(places, places->source, image, channel, row, column)];
      if (isnan(value)) spread_nan(places, image, channel, row, column, target);
    }
  }
}

// --- Softmax -------------------------------------------------------------------------

static bool has_softmax(const float* row, int64_t columns) {
  bool has_finite = false;
  for (int64_t i = 0; i < columns; ++i) {
    if (isnan(row[i]) || row[i] == INFINITY) return false;
    has_finite = has_finite || row[i] != -INFINITY;
  }
  return has_finite;
}

void tfrt_softmax_keep_nan(int64_t rows, int64_t columns, const float* source, float* target) {
  if (all_finite(source, rows * columns)) return;
  for (int64_t row = 0; row < rows; ++row, source += columns, target += columns) {
    if (has_softmax(source, columns)) continue;
    for (int64_t i = 0; i < columns; ++i) target[i] = NAN;
  }
}
