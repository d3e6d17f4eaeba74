// SPDX-License-Identifier: Apache-2.0
//
// Poolings: the greatest element, or the mean, of each window.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/pooling.h"
#include "kernels/nn/math/wide_loops.h"
#include "kernels/nn/math/window.h"

#define MAX_POOL(suffix, type, least)                                         \
  static int64_t max_##suffix(const void* data, const tfrt_nn_plane_t* plane, \
                              const tfrt_nn_pool_place_t* place, void* out) { \
    const type* x = data;                                                     \
    type greatest = (least);                                                  \
    int64_t where = -1;                                                       \
    TFRT_NN_FOR_EACH_OFFSET(*plane, *place, {                                 \
      if (where < 0 || x[offset] > greatest || x[offset] != x[offset]) {      \
        greatest = x[offset];                                                 \
        where = offset;                                                       \
      }                                                                       \
    })                                                                        \
    *(type*)out = greatest;                                                   \
    return where;                                                             \
  }
MAX_POOL(f32, float, -INFINITY)
MAX_POOL(f64, double, -INFINITY)
MAX_POOL(i8, int8_t, INT8_MIN)
MAX_POOL(ui8, uint8_t, 0)

typedef int64_t (*max_fn_t)(const void* data, const tfrt_nn_plane_t* plane,
                            const tfrt_nn_pool_place_t* place, void* out);

// The index of |where| in the flattened operand; with column-major storage, the planes' axes are
// counted the other way round.
static int64_t index_of(const tfrt_nn_window_t* window, int64_t plane, int64_t where,
                        bool is_column_major) {
  int64_t pixels = 1;
  for (uint32_t i = 0; i < window->spatial; ++i) pixels *= window->source[i];
  if (!is_column_major) return plane * pixels + where;
  int64_t index = 0, positions[TFRT_NN_MAX_SPATIAL];
  for (uint32_t i = window->spatial; i-- > 0; where /= window->source[i]) {
    positions[i] = where % window->source[i];
  }
  for (uint32_t i = window->spatial; i-- > 0;) index = index * window->source[i] + positions[i];
  return plane * pixels + index;
}

static tfrt_status_t plan(const tfrt_nn_call_t* call, tfrt_nn_window_t* window) {
  tfrt_nn_numbers_t size;
  TFRT_RETURN_IF_ERROR(tfrt_nn_numbers(call, "kernel_shape", &size));
  if (!tfrt_nn_input(call, 0) || size.count + 2 != call->inputs[0]->shape.rank) {
    return tfrt_nn_error(call, "'kernel_shape' must have a length for each axis behind two");
  }
  return tfrt_nn_window_plan(call, size.values, tfrt_nn_i64(call, "ceil_mode") != 0, window);
}

static tfrt_status_t make_pooled(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype,
                                 const tfrt_nn_window_t* window) {
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  bool is_last = tfrt_nn_is_channels_last(call);
  int64_t dims[2 + TFRT_NN_MAX_SPATIAL] = {x->dims[0]};
  dims[is_last ? x->rank - 1 : 1] = x->dims[is_last ? x->rank - 1 : 1];
  memcpy(dims + (is_last ? 1 : 2), window->target, window->spatial * sizeof(int64_t));
  return tfrt_nn_make_dims(call, index, dtype, dims, x->rank);
}

tfrt_status_t tfrt_nn_max_pool(const tfrt_nn_call_t* call) {
  static const max_fn_t functions[TFRT_DTYPE_COUNT] = {[TFRT_DTYPE_F32] = max_f32,
                                                       [TFRT_DTYPE_F64] = max_f64,
                                                       [TFRT_DTYPE_I8] = max_i8,
                                                       [TFRT_DTYPE_UI8] = max_ui8};
  tfrt_nn_window_t window;
  TFRT_RETURN_IF_ERROR(plan(call, &window));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  max_fn_t function = functions[x->dtype];
  if (!function) return tfrt_nn_dtype_error(call, x->dtype);
  TFRT_RETURN_IF_ERROR(make_pooled(call, 0, x->dtype, &window));
  if (tfrt_nn_is_channels_last(call)) return tfrt_nn_pool_channels_last(call, &window, true, false);
  int64_t* indices = NULL;
  if (call->result_count > 1) {
    TFRT_RETURN_IF_ERROR(make_pooled(call, 1, TFRT_DTYPE_I64, &window));
    indices = tfrt_nn_result_data(call, 1);
  }
  bool is_column_major = tfrt_nn_i64(call, "storage_order") != 0;
  const tfrt_nn_plane_t plane = tfrt_nn_plane(&window, 1);
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t pixels = tfrt_shape_stride(&x->shape, 1);
  int64_t places = tfrt_shape_stride(&call->results[0].shape, 1);
  int64_t planes = x->shape.dims[0] * x->shape.dims[1];
  for (int64_t i = 0; i < places; ++i) {
    tfrt_nn_pool_place_t place;
    tfrt_nn_pool_place(&window, i, &place);
    for (int64_t p = 0; p < planes; ++p) {
      const char* data = (const char*)tfrt_nn_input_data(call, 0) + (size_t)(p * pixels) * size;
      char* out = (char*)tfrt_nn_result_data(call, 0) + (size_t)(p * places + i) * size;
      int64_t where = function(data, &plane, &place, out);
      if (!indices) continue;
      indices[p * places + i] = index_of(&window, p, where < 0 ? 0 : where, is_column_major);
    }
  }
  return NULL;
}

// --- Means --------------------------------------------------------------------------

#define SUM_POOL(suffix, type, term)                                          \
  static double sum_##suffix(const void* data, const tfrt_nn_plane_t* plane,  \
                             const tfrt_nn_pool_place_t* place, double power, \
                             int64_t* out_count) {                            \
    const type* source = data;                                                \
    double sum = 0;                                                           \
    int64_t count = 0;                                                        \
    (void)power;                                                              \
    TFRT_NN_FOR_EACH_OFFSET(*plane, *place, {                                 \
      double x = (double)source[offset];                                      \
      sum += (term);                                                          \
      ++count;                                                                \
    })                                                                        \
    *out_count = count;                                                       \
    return sum;                                                               \
  }
SUM_POOL(f32, float, x)
SUM_POOL(f64, double, x)
SUM_POOL(power_f32, float, pow(fabs(x), power))
SUM_POOL(power_f64, double, pow(fabs(x), power))

typedef double (*sum_fn_t)(const void* data, const tfrt_nn_plane_t* plane,
                           const tfrt_nn_pool_place_t* place, double power, int64_t* out_count);

static void set_float(const tfrt_nn_call_t* call, int64_t index, double value) {
  void* out = tfrt_nn_result_data(call, 0);
  if (call->results[0].dtype == TFRT_DTYPE_F32) {
    ((float*)out)[index] = (float)value;
  } else {
    ((double*)out)[index] = value;
  }
}

// The mean of each window, if |power| is 0, of the elements inside or (|with_padding|) of all; else
// the root of the sum of powers.
static tfrt_status_t run_sums(const tfrt_nn_call_t* call, const tfrt_nn_window_t* window,
                              double power, bool with_padding) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  if (!tfrt_nn_is_float(x->dtype)) return tfrt_nn_dtype_error(call, x->dtype);
  bool is_single = x->dtype == TFRT_DTYPE_F32;
  sum_fn_t function =
      power != 0 ? (is_single ? sum_power_f32 : sum_power_f64) : (is_single ? sum_f32 : sum_f64);
  TFRT_RETURN_IF_ERROR(make_pooled(call, 0, x->dtype, window));
  if (tfrt_nn_is_channels_last(call)) {
    return tfrt_nn_pool_channels_last(call, window, false, with_padding);
  }
  const tfrt_nn_plane_t plane = tfrt_nn_plane(window, 1);
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t pixels = tfrt_shape_stride(&x->shape, 1);
  int64_t places = tfrt_shape_stride(&call->results[0].shape, 1);
  for (int64_t i = 0; i < places; ++i) {
    tfrt_nn_pool_place_t place;
    tfrt_nn_pool_place(window, i, &place);
    for (int64_t p = 0; p < x->shape.dims[0] * x->shape.dims[1]; ++p) {
      int64_t count;
      const char* data = (const char*)tfrt_nn_input_data(call, 0) + (size_t)(p * pixels) * size;
      double sum = function(data, &plane, &place, power, &count);
      double divisor = (double)(with_padding ? place.padded_count : count);
      set_float(call, p * places + i, power != 0 ? pow(sum, 1.0 / power) : sum / divisor);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_average_pool(const tfrt_nn_call_t* call) {
  tfrt_nn_window_t window;
  TFRT_RETURN_IF_ERROR(plan(call, &window));
  return run_sums(call, &window, 0, tfrt_nn_i64(call, "count_include_pad") != 0);
}

tfrt_status_t tfrt_nn_lp_pool(const tfrt_nn_call_t* call) {
  tfrt_nn_window_t window;
  int64_t power = tfrt_nn_i64(call, "p");
  TFRT_RETURN_IF_ERROR(plan(call, &window));
  if (power < 1) return tfrt_nn_error(call, "'p' must be at least 1");
  return run_sums(call, &window, (double)power, false);
}

// --- Whole planes -----------------------------------------------------------------

// Makes result 0 [batch, channels, 1, ...].
static tfrt_status_t make_global(const tfrt_nn_call_t* call, int64_t* out_pixels) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  if (!x || x->shape.rank < 3) return tfrt_nn_error(call, "it takes at least three axes");
  if (!tfrt_nn_is_float(x->dtype)) return tfrt_nn_dtype_error(call, x->dtype);
  tfrt_shape_t shape = x->shape;
  bool is_last = tfrt_nn_is_channels_last(call);
  *out_pixels = 1;
  for (uint32_t i = 1; i < shape.rank; ++i) {
    if (i == (is_last ? shape.rank - 1 : 1)) continue;
    *out_pixels *= shape.dims[i];
    shape.dims[i] = 1;
  }
  return tfrt_nn_make(call, 0, x->dtype, &shape);
}

tfrt_status_t tfrt_nn_global_average_pool(const tfrt_nn_call_t* call) {
  int64_t pixels;
  TFRT_RETURN_IF_ERROR(make_global(call, &pixels));
  if (tfrt_nn_is_channels_last(call)) return tfrt_nn_pool_all_channels_last(call, pixels);
  const void* data = tfrt_nn_input_data(call, 0);
  int64_t planes = tfrt_dense_host_tensor_element_count(&call->results[0]);
  bool is_single = call->results[0].dtype == TFRT_DTYPE_F32;
  for (int64_t p = 0; p < planes; ++p) {
    double sum = 0;
    for (int64_t i = p * pixels; i < (p + 1) * pixels; ++i) {
      sum += is_single ? (double)((const float*)data)[i] : ((const double*)data)[i];
    }
    set_float(call, p, sum / (double)pixels);
  }
  return NULL;
}

enum { MAX_LANES = 16 };

// The greatest of |count| elements, or NaN if one of them is: lane by lane, then of all lanes.
#define GREATEST(suffix, type)                                                                  \
  TFRT_ALWAYS_INLINE void greatest_##suffix##_loop(const type* x, int64_t count, double* out) { \
    type lanes[MAX_LANES];                                                                      \
    for (int l = 0; l < MAX_LANES; ++l) lanes[l] = -INFINITY;                                   \
    int64_t i = 0;                                                                              \
    for (; i + MAX_LANES <= count; i += MAX_LANES) {                                            \
      for (int l = 0; l < MAX_LANES; ++l) {                                                     \
        type y = x[i + l];                                                                      \
        lanes[l] = ((y > lanes[l]) | (y != y)) ? y : lanes[l];                                  \
      }                                                                                         \
    }                                                                                           \
    for (; i < count; ++i) lanes[0] = x[i] > lanes[0] || x[i] != x[i] ? x[i] : lanes[0];        \
    for (int l = 1; l < MAX_LANES; ++l) {                                                       \
      if (lanes[l] > lanes[0] || lanes[l] != lanes[l]) lanes[0] = lanes[l];                     \
    }                                                                                           \
    *out = (double)lanes[0];                                                                    \
  }                                                                                             \
  TFRT_NN_WIDE_FUNCTION(greatest_##suffix, (const type* x, int64_t count, double* out),         \
                        (x, count, out))
GREATEST(f32, float)
GREATEST(f64, double)

tfrt_status_t tfrt_nn_global_max_pool(const tfrt_nn_call_t* call) {
  int64_t pixels;
  TFRT_RETURN_IF_ERROR(make_global(call, &pixels));
  const void* data = tfrt_nn_input_data(call, 0);
  int64_t planes = tfrt_dense_host_tensor_element_count(&call->results[0]);
  bool is_single = call->results[0].dtype == TFRT_DTYPE_F32;
  for (int64_t p = 0; p < planes; ++p) {
    double greatest;
    if (is_single) {
      greatest_f32((const float*)data + p * pixels, pixels, &greatest);
    } else {
      greatest_f64((const double*)data + p * pixels, pixels, &greatest);
    }
    set_float(call, p, greatest);
  }
  return NULL;
}
