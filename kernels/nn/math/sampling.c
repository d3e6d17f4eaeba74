// SPDX-License-Identifier: Apache-2.0
//
// Operations that read pictures between their pixels: at places of a grid, and in regions.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/ops.h"

// --- Grids --------------------------------------------------------------------------

enum { MAX_SPACE = 3, MAX_TAPS = 4 };

typedef enum sampling_padding_e {
  PADDING_ZEROS,
  PADDING_BORDER,
  PADDING_REFLECTION
} sampling_padding_t;
typedef enum sampling_mode_e { MODE_NEAREST, MODE_LINEAR, MODE_CUBIC } sampling_mode_t;

typedef struct sampling_s {
  uint32_t space;  // axes of a picture
  int64_t lengths[MAX_SPACE];
  sampling_mode_t mode;
  sampling_padding_t padding;
  bool aligns_corners;
} sampling_t;

// The pixels of one axis that a place is made of.
typedef struct taps_s {
  uint32_t count;
  int64_t places[MAX_TAPS];  // -1: outside, where zeros are
  float weights[MAX_TAPS];
} taps_t;

// |x| reflected at |low| and |high| as often as it takes.
static float reflect(float x, float low, float high) {
  float range = high - low;
  if (!(range > 0)) return low;
  float away = x < low ? low - x : x > high ? x - high : 0;
  if (away == 0) return x;
  float turns = floorf(away / range);
  float rest = away - turns * range;
  bool is_even = fmodf(turns, 2) == 0;
  return (x < low) == is_even ? low + rest : high - rest;
}

static float low_border(const sampling_t* s) { return s->aligns_corners ? 0 : -0.5f; }
static float high_border(const sampling_t* s, int64_t length) {
  return (float)length - (s->aligns_corners ? 1.0f : 0.5f);
}

// The pixel of |length| at |place|, or -1.
static int64_t pixel(const sampling_t* s, int64_t place, int64_t length) {
  if (place >= 0 && place < length) return place;
  if (s->padding == PADDING_ZEROS) return -1;
  if (s->padding == PADDING_BORDER) return place < 0 ? 0 : length - 1;
  int64_t reflected = (int64_t)reflect((float)place, low_border(s), high_border(s, length));
  return reflected < 0 ? 0 : reflected < length ? reflected : length - 1;
}

// The weights of the four pixels around a place that is |x| behind the second.
static void set_cubic_weights(float x, float weights[MAX_TAPS]) {
  const float a = -0.75f;
  float back = x + 1, front = 1 - x, far = 2 - x;
  weights[0] = ((a * back - 5 * a) * back + 8 * a) * back - 4 * a;
  weights[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  weights[2] = ((a + 2) * front - (a + 3)) * front * front + 1;
  weights[3] = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
}

// The pixels of an axis of |length| for the coordinate |x|, from -1 to 1.
static taps_t take_taps(const sampling_t* s, float x, int64_t length) {
  taps_t taps = {.count = s->mode == MODE_NEAREST ? 1 : s->mode == MODE_LINEAR ? 2 : 4};
  float place =
      s->aligns_corners ? (x + 1) / 2 * (float)(length - 1) : ((x + 1) * (float)length - 1) / 2;
  if (s->mode == MODE_NEAREST) place = nearbyintf(place);
  float low = low_border(s), high = high_border(s, length);
  // Cubic places stay: each of their pixels is looked up at the border, as torch does.
  if (s->mode != MODE_CUBIC && (place < low || place > high)) {
    if (s->padding == PADDING_BORDER) place = place < 0 ? 0 : (float)(length - 1);
    if (s->padding == PADDING_REFLECTION) place = reflect(place, low, high);
  }
  // Places that no picture has, and no numbers, are outside.
  if (!(place > -1e9f && place < 1e9f)) place = -4;
  float first = floorf(place);
  float rest = place - first;
  if (s->mode == MODE_NEAREST) taps.weights[0] = 1;
  if (s->mode == MODE_LINEAR) {
    taps.weights[0] = 1 - rest;
    taps.weights[1] = rest;
  }
  if (s->mode == MODE_CUBIC) set_cubic_weights(rest, taps.weights);
  int64_t begin = (int64_t)first - (s->mode == MODE_CUBIC ? 1 : 0);
  for (uint32_t i = 0; i < taps.count; ++i) taps.places[i] = pixel(s, begin + i, length);
  return taps;
}

// The weighted sum of the pixels of |picture|, from the axis |axis| on.
static float read_pixels(const sampling_t* s, const taps_t* taps, uint32_t axis,
                         const float* picture, int64_t place) {
  float sum = 0;
  // Recursion is bounded by the number of axes, which is at most MAX_SPACE.
  if (axis == s->space || axis >= MAX_SPACE) return picture[place];
  for (uint32_t i = 0; i < taps[axis].count; ++i) {
    if (taps[axis].places[i] < 0) continue;
    int64_t next = place * s->lengths[axis] + taps[axis].places[i];
    sum += taps[axis].weights[i] * read_pixels(s, taps, axis + 1, picture, next);
  }
  return sum;
}

static tfrt_status_t read_sampling(const tfrt_nn_call_t* call, sampling_t* s) {
  tfrt_string_view_t mode = tfrt_nn_string(call, "mode");
  bool is_nearest = tfrt_string_view_equal(mode, tfrt_string_view_of("nearest"));
  bool is_linear = tfrt_string_view_equal(mode, tfrt_string_view_of("linear")) ||
                   tfrt_string_view_equal(mode, tfrt_string_view_of("bilinear"));
  bool is_cubic = tfrt_string_view_equal(mode, tfrt_string_view_of("cubic")) ||
                  tfrt_string_view_equal(mode, tfrt_string_view_of("bicubic"));
  bool is_zeros = tfrt_nn_string_is(call, "padding_mode", "zeros");
  bool is_border = tfrt_nn_string_is(call, "padding_mode", "border");
  bool is_reflection = tfrt_nn_string_is(call, "padding_mode", "reflection");
  if (!is_nearest && !is_linear && !is_cubic) {
    return tfrt_nn_error(call, "'mode' is nearest, linear or cubic");
  }
  if (!is_zeros && !is_border && !is_reflection) {
    return tfrt_nn_error(call, "'padding_mode' is zeros, border or reflection");
  }
  s->mode = is_nearest ? MODE_NEAREST : is_linear ? MODE_LINEAR : MODE_CUBIC;
  s->padding = is_zeros ? PADDING_ZEROS : is_border ? PADDING_BORDER : PADDING_REFLECTION;
  s->aligns_corners = tfrt_nn_i64(call, "align_corners") != 0;
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  s->space = x->rank - 2;
  for (uint32_t i = 0; i < s->space; ++i) s->lengths[i] = x->dims[2 + i];
  return NULL;
}

tfrt_status_t tfrt_nn_grid_sample(const tfrt_nn_call_t* call) {
  sampling_t s = {.space = 0};
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 0, TFRT_DTYPE_F32));
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 1, TFRT_DTYPE_F32));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  const tfrt_shape_t* grid = &call->inputs[1]->shape;
  if (x->rank < 3 || x->rank > 2 + MAX_SPACE || grid->rank != x->rank ||
      grid->dims[0] != x->dims[0] || grid->dims[grid->rank - 1] != x->rank - 2) {
    return tfrt_nn_error(call, "the grid %s doesn't fit %s", tfrt_shape_text(grid).text,
                         tfrt_shape_text(x).text);
  }
  TFRT_RETURN_IF_ERROR(read_sampling(call, &s));
  int64_t dims[2 + MAX_SPACE] = {x->dims[0], x->dims[1]};
  int64_t places = 1, pixels = 1;
  for (uint32_t i = 0; i < s.space; ++i) {
    dims[2 + i] = grid->dims[1 + i];
    places *= dims[2 + i];
    pixels *= s.lengths[i];
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, TFRT_DTYPE_F32, dims, x->rank));
  if (tfrt_dense_host_tensor_size(&call->results[0]) == 0) return NULL;
  if (pixels == 0) return tfrt_nn_error(call, "the picture is empty");
  const float* picture = tfrt_nn_input_data(call, 0);
  const float* coordinates = tfrt_nn_input_data(call, 1);
  float* out = tfrt_nn_result_data(call, 0);
  for (int64_t i = 0; i < dims[0] * places; ++i) {
    taps_t taps[MAX_SPACE];
    // The grid names the last axis first.
    for (uint32_t axis = 0; axis < s.space; ++axis) {
      taps[axis] = take_taps(&s, coordinates[i * s.space + s.space - 1 - axis], s.lengths[axis]);
    }
    for (int64_t channel = 0; channel < dims[1]; ++channel) {
      int64_t plane = i / places * dims[1] + channel;
      out[plane * places + i % places] = read_pixels(&s, taps, 0, picture + plane * pixels, 0);
    }
  }
  return NULL;
}

// The grid that the matrices of operand 0 make of the places of a picture of operand 1's size.
tfrt_status_t tfrt_nn_affine_grid(const tfrt_nn_call_t* call) {
  tfrt_nn_numbers_t size;
  bool aligns_corners = tfrt_nn_i64(call, "align_corners") != 0;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 0, TFRT_DTYPE_F32));
  if (!tfrt_nn_input(call, 1)) return tfrt_nn_error(call, "the size is missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &size));
  const tfrt_shape_t* theta = &call->inputs[0]->shape;
  uint32_t space = size.count - 2;
  if (size.count < 4 || size.count > 5 || theta->rank != 3 || theta->dims[0] != size.values[0] ||
      theta->dims[1] != space || theta->dims[2] != space + 1) {
    return tfrt_nn_error(call, "%s are no matrices for pictures of %u axes",
                         tfrt_shape_text(theta).text, space);
  }
  int64_t dims[2 + MAX_SPACE] = {size.values[0]};
  for (uint32_t i = 0; i < space; ++i) dims[1 + i] = size.values[2 + i];
  dims[1 + space] = space;
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, TFRT_DTYPE_F32, dims, space + 2));
  int64_t count = tfrt_dense_host_tensor_element_count(&call->results[0]) / space;
  float* out = tfrt_nn_result_data(call, 0);
  const float* matrices = tfrt_nn_input_data(call, 0);
  for (int64_t i = 0; i < count; ++i) {
    float position[MAX_SPACE + 1];
    int64_t rest = i;
    // Matrices take the last axis first.
    for (uint32_t axis = 0; axis < space; ++axis) {
      int64_t length = dims[space - axis];
      float at = (float)(rest % length);
      rest /= length;
      position[axis] = aligns_corners ? (length > 1 ? -1 + 2 * at / (float)(length - 1) : 0)
                                      : (2 * at + 1) / (float)length - 1;
    }
    position[space] = 1;
    const float* matrix = matrices + rest * space * (space + 1);
    for (uint32_t row = 0; row < space; ++row) {
      float sum = 0;
      for (uint32_t k = 0; k <= space; ++k) sum += matrix[row * (space + 1) + k] * position[k];
      out[i * space + row] = sum;
    }
  }
  return NULL;
}
