// SPDX-License-Identifier: Apache-2.0
//
// Pictures with other lengths, interpolated: each axis by itself, one after the other. Along an
// axis each element of the result is a weighted sum of a few of the operand.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/ops.h"

// How one axis is resized.
typedef struct axis_s {
  int64_t source;
  int64_t target;
  double scale;
  double roi_start;
  double roi_end;
} axis_t;

typedef enum resize_mode_e {
  RESIZE_NEAREST,
  RESIZE_LINEAR,
  RESIZE_CUBIC,
} resize_mode_t;

// How all axes are resized.
typedef struct resize_s {
  resize_mode_t mode;
  tfrt_string_view_t coordinates;
  tfrt_string_view_t rounding;
  bool excludes_outside;
  bool antialiases;
  double cubic;
  float extrapolation;
  uint32_t rank;
  axis_t axes[TFRT_SHAPE_MAX_RANK];
} resize_t;

static bool is(tfrt_string_view_t text, const char* value) {
  return tfrt_string_view_equal(text, tfrt_string_view_of(value));
}

// Where element |i| of the result lies in the operand.
static double original_place(const resize_t* resize, const axis_t* axis, int64_t i) {
  double x = (double)i, length = (double)axis->source;
  double target = axis->scale * length;
  if (is(resize->coordinates, "asymmetric")) return x / axis->scale;
  if (is(resize->coordinates, "align_corners")) {
    return axis->target == 1 ? 0 : x * (length - 1) / (target - 1);
  }
  if (is(resize->coordinates, "pytorch_half_pixel")) {
    return axis->target == 1 ? -0.5 : (x + 0.5) / axis->scale - 0.5;
  }
  if (is(resize->coordinates, "tf_half_pixel_for_nn")) return (x + 0.5) / axis->scale;
  if (is(resize->coordinates, "half_pixel_symmetric")) {
    double adjustment = (double)axis->target / target;
    double offset = length / 2 * (1 - adjustment);
    return offset + (x + 0.5) / axis->scale - 0.5;
  }
  if (is(resize->coordinates, "tf_crop_and_resize")) {
    double span = axis->roi_end - axis->roi_start;
    if (axis->target == 1) return 0.5 * (axis->roi_start + axis->roi_end) * (length - 1);
    return axis->roi_start * (length - 1) + x * span * (length - 1) / ((double)axis->target - 1);
  }
  return (x + 0.5) / axis->scale - 0.5;
}

static int64_t round_place(const resize_t* resize, double place) {
  if (is(resize->rounding, "floor")) return (int64_t)floor(place);
  if (is(resize->rounding, "ceil")) return (int64_t)ceil(place);
  if (is(resize->rounding, "round_prefer_ceil")) return (int64_t)floor(place + 0.5);
  return (int64_t)ceil(place - 0.5);
}

// The weight of a neighbour at |distance|.
static double kernel_weight(const resize_t* resize, double distance) {
  double x = fabs(distance), a = resize->cubic;
  if (resize->mode == RESIZE_LINEAR) return x < 1 ? 1 - x : 0;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The neighbours of one element of the result.
typedef struct taps_s {
  int64_t first;
  int64_t count;
  bool is_outside;  // it takes the extrapolation value
} taps_t;

static int64_t clamp_index(int64_t index, int64_t length) {
  return index < 0 ? 0 : index >= length ? length - 1 : index;
}

// How far the kernel reaches, and by what distances are multiplied, which makes it wider where the
// result is smaller.
static double kernel_reach(const resize_t* resize, const axis_t* axis, double* out_factor) {
  *out_factor = resize->antialiases && axis->scale < 1 ? axis->scale : 1;
  double reach = resize->mode == RESIZE_LINEAR ? 1 : 2;
  return reach / *out_factor;
}

// Sets |weights| of the neighbours of element |i|, as many as the result says.
static taps_t find_taps(const resize_t* resize, const axis_t* axis, int64_t i, double* weights) {
  double place = original_place(resize, axis, i), factor;
  taps_t taps = {.count = 1};
  taps.is_outside = is(resize->coordinates, "tf_crop_and_resize") &&
                    (place < 0 || place > (double)axis->source - 1);
  if (resize->mode == RESIZE_NEAREST) {
    taps.first = clamp_index(round_place(resize, place), axis->source);
    weights[0] = 1;
    return taps;
  }
  double reach = kernel_reach(resize, axis, &factor);
  taps.first = (int64_t)floor(place - reach) + 1;
  int64_t last = (int64_t)ceil(place + reach) - 1;
  if (last < taps.first) last = taps.first;
  taps.count = last - taps.first + 1;
  double sum = 0;
  for (int64_t t = 0; t < taps.count; ++t) {
    int64_t index = taps.first + t;
    bool is_left_out = resize->excludes_outside && (index < 0 || index >= axis->source);
    weights[t] = is_left_out ? 0 : kernel_weight(resize, ((double)index - place) * factor);
    sum += weights[t];
  }
  for (int64_t t = 0; t < taps.count && sum != 0; ++t) weights[t] /= sum;
  return taps;
}

// --- One axis -------------------------------------------------------------------------

#define RESIZE_ROW(suffix, type, finish)                                                   \
  static void resize_##suffix(const void* data, void* out, int64_t stride, int64_t length, \
                              const taps_t* taps, const double* weights) {                 \
    for (int64_t s = 0; s < stride; ++s) {                                                 \
      double x = 0;                                                                        \
      for (int64_t t = 0; t < taps->count; ++t) {                                          \
        int64_t index = clamp_index(taps->first + t, length);                              \
        x += weights[t] * (double)((const type*)data)[index * stride + s];                 \
      }                                                                                    \
      ((type*)out)[s] = (type)(finish);                                                    \
    }                                                                                      \
  }
RESIZE_ROW(f32, float, x)
RESIZE_ROW(f64, double, x)
RESIZE_ROW(ui8, uint8_t, x<0 ? 0 : x> 255 ? 255 : rint(x))
RESIZE_ROW(i8, int8_t, x<-128 ? -128 : x> 127 ? 127 : rint(x))
RESIZE_ROW(i32, int32_t, x<INT32_MIN ? INT32_MIN : x> INT32_MAX ? INT32_MAX : rint(x))
RESIZE_ROW(i64, int64_t, fabs(x) < 9e18 ? rint(x) : 0)

typedef void (*resize_fn_t)(const void* data, void* out, int64_t stride, int64_t length,
                            const taps_t* taps, const double* weights);
static const resize_fn_t resize_functions[TFRT_DTYPE_COUNT] = {
    [TFRT_DTYPE_F32] = resize_f32, [TFRT_DTYPE_F64] = resize_f64, [TFRT_DTYPE_UI8] = resize_ui8,
    [TFRT_DTYPE_I8] = resize_i8,   [TFRT_DTYPE_I32] = resize_i32, [TFRT_DTYPE_I64] = resize_i64,
};

// The value that elements outside of the operand take, in the first bytes of |*out|.
static void extrapolated(const resize_t* resize, tfrt_dtype_t dtype, double* out) {
  if (dtype == TFRT_DTYPE_F64) *out = (double)resize->extrapolation;
  if (dtype == TFRT_DTYPE_F32) memcpy(out, &resize->extrapolation, sizeof(float));
}

// Makes |*out| the tensor |x| with the axis |index| resized.
static tfrt_status_t resize_axis(const tfrt_nn_call_t* call, const resize_t* resize, uint32_t index,
                                 const tfrt_dense_host_tensor_t* x, tfrt_dense_host_tensor_t* out) {
  const axis_t* axis = &resize->axes[index];
  tfrt_shape_t shape = x->shape;
  shape.dims[index] = axis->target;
  TFRT_RETURN_IF_ERROR(tfrt_shape_check(&shape));
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(x->dtype, &shape, call->allocator, out));
  if (tfrt_shape_element_count(&shape) == 0) return NULL;
  double factor;
  size_t bytes = ((size_t)(2 * kernel_reach(resize, axis, &factor)) + 4) * sizeof(double);
  double* weights = tfrt_allocator_allocate(call->allocator, bytes);
  if (!weights) return tfrt_status_out_of_memory();
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t stride = tfrt_shape_stride(&shape, index);
  int64_t rows = tfrt_shape_element_count(&shape) / stride / axis->target;
  tfrt_dense_host_tensor_t row = {.dtype = x->dtype, .shape = {.rank = 1, .dims = {stride}}};
  double value = 0;
  extrapolated(resize, x->dtype, &value);
  for (int64_t i = 0; i < axis->target; ++i) {
    taps_t taps = find_taps(resize, axis, i, weights);
    for (int64_t r = 0; r < rows; ++r) {
      const char* source =
          (const char*)tfrt_dense_host_tensor_data(x) + (size_t)(r * axis->source * stride) * size;
      size_t place = (size_t)((r * axis->target + i) * stride) * size;
      if (taps.is_outside) {
        row.buffer = out->buffer;
        row.offset = out->offset + place;
        tfrt_dense_host_tensor_fill(&row, &value);
      } else {
        resize_functions[x->dtype](source, (char*)tfrt_dense_host_tensor_data(out) + place, stride,
                                   axis->source, &taps, weights);
      }
    }
  }
  tfrt_allocator_free(call->allocator, weights, bytes);
  return NULL;
}

// --- What the program says ------------------------------------------------------------

static tfrt_status_t read_floats(const tfrt_nn_call_t* call, uint32_t index, uint32_t count,
                                 const float** out_floats) {
  const tfrt_dense_host_tensor_t* tensor = tfrt_nn_input(call, index);
  *out_floats = NULL;
  if (!tensor || tfrt_dense_host_tensor_element_count(tensor) == 0) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, index, TFRT_DTYPE_F32));
  if (tfrt_dense_host_tensor_element_count(tensor) != count) {
    return tfrt_nn_error(call, "operand %u must have %u elements", index, count);
  }
  *out_floats = tfrt_dense_host_tensor_data(tensor);
  return NULL;
}

static tfrt_status_t read_mode(const tfrt_nn_call_t* call, resize_t* resize) {
  tfrt_string_view_t mode = tfrt_nn_string(call, "mode");
  if (!is(mode, "nearest") && !is(mode, "linear") && !is(mode, "cubic")) {
    return tfrt_nn_error(call, "there is no such mode");
  }
  resize->mode = is(mode, "nearest")  ? RESIZE_NEAREST
                 : is(mode, "linear") ? RESIZE_LINEAR
                                      : RESIZE_CUBIC;
  resize->coordinates = tfrt_nn_string(call, "coordinate_transformation_mode");
  resize->rounding = tfrt_nn_string(call, "nearest_mode");
  resize->excludes_outside = tfrt_nn_i64(call, "exclude_outside") != 0;
  resize->antialiases = tfrt_nn_i64(call, "antialias") != 0;
  resize->cubic = (double)tfrt_nn_f32(call, "cubic_coeff_a");
  resize->extrapolation = tfrt_nn_f32(call, "extrapolation_value");
  return NULL;
}

// With one scale for all axes: the least, or the greatest, that fits.
static void keep_aspect(const tfrt_nn_call_t* call, resize_t* resize, uint32_t mask) {
  bool is_larger = tfrt_nn_string_is(call, "keep_aspect_ratio_policy", "not_larger");
  if (!is_larger && !tfrt_nn_string_is(call, "keep_aspect_ratio_policy", "not_smaller")) return;
  double scale = 0;
  bool has_scale = false;
  for (uint32_t i = 0; i < resize->rank; ++i) {
    if (!(mask >> i & 1)) continue;
    double own = resize->axes[i].scale;
    if (!has_scale || (is_larger ? own < scale : own > scale)) scale = own;
    has_scale = true;
  }
  for (uint32_t i = 0; i < resize->rank; ++i) {
    if (!(mask >> i & 1)) continue;
    resize->axes[i].scale = scale;
    resize->axes[i].target = (int64_t)floor(scale * (double)resize->axes[i].source + 0.5);
  }
}

static tfrt_status_t read_targets(const tfrt_nn_call_t* call, const tfrt_nn_numbers_t* axes,
                                  resize_t* resize) {
  const float* scales;
  const float* roi;
  tfrt_nn_numbers_t sizes = {.count = 0};
  uint32_t mask = 0;
  TFRT_RETURN_IF_ERROR(read_floats(call, 2, axes->count, &scales));
  TFRT_RETURN_IF_ERROR(read_floats(call, 1, 2 * axes->count, &roi));
  if (!is(resize->coordinates, "tf_crop_and_resize")) roi = NULL;
  if (tfrt_nn_input(call, 3)) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[3], &sizes));
  }
  if (!scales && sizes.count != axes->count) {
    return tfrt_nn_error(call, "it needs a scale or a length for each axis");
  }
  for (uint32_t i = 0; i < axes->count; ++i) {
    uint32_t index;
    TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, axes->values[i], resize->rank, &index));
    axis_t* axis = &resize->axes[index];
    mask |= 1u << index;
    double span = roi ? (double)roi[i + axes->count] - (double)roi[i] : 1;
    if (roi) {
      axis->roi_start = (double)roi[i];
      axis->roi_end = (double)roi[i + axes->count];
    }
    if (scales) {
      axis->scale = (double)scales[i];
      axis->target = (int64_t)floor((double)axis->source * span * axis->scale);
    } else {
      axis->target = sizes.values[i];
      axis->scale = (double)axis->target / (double)axis->source;
    }
    if (!(axis->scale > 0) || axis->target < 0 || axis->target > INT32_MAX || axis->source == 0) {
      return tfrt_nn_error(call, "axis %u can't be resized so", index);
    }
  }
  if (!scales) keep_aspect(call, resize, mask);
  return NULL;
}

static tfrt_status_t plan(const tfrt_nn_call_t* call, resize_t* resize) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  tfrt_nn_numbers_t axes;
  if (!x) return tfrt_nn_error(call, "its operand is missing");
  if (!resize_functions[x->dtype]) return tfrt_nn_dtype_error(call, x->dtype);
  resize->rank = x->shape.rank;
  for (uint32_t i = 0; i < x->shape.rank; ++i) {
    resize->axes[i] = (axis_t){x->shape.dims[i], x->shape.dims[i], 1, 0, 1};
  }
  TFRT_RETURN_IF_ERROR(read_mode(call, resize));
  TFRT_RETURN_IF_ERROR(tfrt_nn_numbers(call, "axes", &axes));
  if (axes.count == 0) {
    axes.count = x->shape.rank;
    for (uint32_t i = 0; i < axes.count; ++i) axes.values[i] = i;
  }
  return read_targets(call, &axes, resize);
}

// Whether the axis stays as it is.
static bool is_kept(const resize_t* resize, const axis_t* axis) {
  return axis->source == axis->target && axis->scale == 1 &&
         !is(resize->coordinates, "tf_crop_and_resize");
}

tfrt_status_t tfrt_nn_resize(const tfrt_nn_call_t* call) {
  resize_t resize = {.rank = 0};
  TFRT_RETURN_IF_ERROR(plan(call, &resize));
  tfrt_dense_host_tensor_t current;
  tfrt_dense_host_tensor_initialize_alias(call->inputs[0], &current);
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; i < resize.rank && !status; ++i) {
    if (is_kept(&resize, &resize.axes[i])) continue;
    tfrt_dense_host_tensor_t next = {0};
    status = resize_axis(call, &resize, i, &current, &next);
    tfrt_dense_host_tensor_deinitialize(&current);
    current = next;
  }
  if (status) {
    tfrt_dense_host_tensor_deinitialize(&current);
    return status;
  }
  call->results[0] = current;
  return NULL;
}
