// SPDX-License-Identifier: Apache-2.0
//
// Operations that make one element of all along some axes.
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/reduction.h"
#include "kernels/tensor/math/elementwise.h"

tfrt_status_t tfrt_nn_reduction_plan(const tfrt_nn_call_t* call, uint32_t axes_mask, bool keeps,
                                     tfrt_nn_reduction_t* out_plan) {
  const tfrt_shape_t* shape = &call->inputs[0]->shape;
  memset(out_plan, 0, sizeof(*out_plan));
  for (uint32_t i = 0; i < shape->rank; ++i) {
    bool is_reduced = axes_mask >> i & 1;
    int64_t stride = tfrt_shape_stride(shape, i);
    tfrt_nn_axes_t* axes = is_reduced ? &out_plan->reduced : &out_plan->kept;
    if (!is_reduced || keeps) {
      out_plan->shape.dims[out_plan->shape.rank++] = is_reduced ? 1 : shape->dims[i];
    }
    if (shape->dims[i] == 1) continue;
    uint32_t last = axes->rank - 1;
    if (axes->rank > 0 && axes->strides[last] == stride * shape->dims[i]) {
      axes->dims[last] *= shape->dims[i];
      axes->strides[last] = stride;
    } else {
      axes->dims[axes->rank] = shape->dims[i];
      axes->strides[axes->rank++] = stride;
    }
  }
  out_plan->count = 1;
  for (uint32_t i = 0; i < out_plan->reduced.rank; ++i) {
    out_plan->count *= out_plan->reduced.dims[i];
  }
  return NULL;
}

int64_t tfrt_nn_axes_offset(const tfrt_nn_axes_t* axes, int64_t index) {
  int64_t offset = 0;
  for (uint32_t i = axes->rank; i-- > 0; index /= axes->dims[i]) {
    offset += index % axes->dims[i] * axes->strides[i];
  }
  return offset;
}

tfrt_status_t tfrt_nn_reduction_axes(const tfrt_nn_call_t* call, uint32_t* out_mask) {
  const tfrt_dense_host_tensor_t* axes = tfrt_nn_input(call, 1);
  uint32_t rank = call->inputs[0]->shape.rank;
  tfrt_nn_numbers_t numbers = {.count = 0};
  *out_mask = 0;
  if (axes) TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, axes, &numbers));
  for (uint32_t i = 0; i < numbers.count; ++i) {
    uint32_t axis;
    TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, numbers.values[i], rank, &axis));
    *out_mask |= 1u << axis;
  }
  if (numbers.count == 0 && !tfrt_nn_i64(call, "noop_with_empty_axes")) {
    *out_mask = (1u << rank) - 1;
  }
  return NULL;
}

// Computes one element of the result from the elements of |plan| that begin at |data|.
typedef void (*reduce_fn_t)(const void* data, const tfrt_nn_reduction_t* plan, void* out);

// A reduction: |start|, each element x by |step|, and what becomes of the accumulator r at the end.
#define REDUCE(name, type, wide, start, step, finish)                              \
  static void name(const void* data, const tfrt_nn_reduction_t* plan, void* out) { \
    const type* source = data;                                                     \
    wide r = (start);                                                              \
    const tfrt_nn_axes_t* axes = &plan->reduced;                                   \
    int64_t length = axes->rank ? axes->dims[axes->rank - 1] : 1;                  \
    int64_t stride = axes->rank ? axes->strides[axes->rank - 1] : 1;               \
    int64_t rows = length ? plan->count / length : 0;                              \
    for (int64_t row = 0; row < rows; ++row) {                                     \
      const type* place = source + tfrt_nn_axes_offset(axes, row * length);        \
      for (int64_t i = 0; i < length; ++i) {                                       \
        wide x = (wide)place[i * stride];                                          \
        step;                                                                      \
      }                                                                            \
    }                                                                              \
    double n = (double)plan->count;                                                \
    (void)n;                                                                       \
    *(type*)out = (type)(finish);                                                  \
  }

// Sums of f32 are kept as double: long ones would lose their last digits otherwise. Whole numbers
// wrap around.
#define ALL_REDUCTIONS(name, start, step, finish)              \
  REDUCE(name##_f32, float, double, start, step, finish)       \
  REDUCE(name##_f64, double, double, start, step, finish)      \
  REDUCE(name##_i32, int32_t, uint64_t, start, step, finish)   \
  REDUCE(name##_i64, int64_t, uint64_t, start, step, finish)   \
  REDUCE(name##_ui32, uint32_t, uint64_t, start, step, finish) \
  REDUCE(name##_ui64, uint64_t, uint64_t, start, step, finish)
#define FLOAT_REDUCTIONS(name, start, step, finish)      \
  REDUCE(name##_f32, float, double, start, step, finish) \
  REDUCE(name##_f64, double, double, start, step, finish)

typedef const reduce_fn_t reduce_table_t[TFRT_DTYPE_COUNT];
#define FLOAT_ENTRIES(name) [TFRT_DTYPE_F32] = name##_f32, [TFRT_DTYPE_F64] = name##_f64
#define WIDE_ENTRIES(name)                                                           \
  FLOAT_ENTRIES(name), [TFRT_DTYPE_I32] = name##_i32, [TFRT_DTYPE_I64] = name##_i64, \
                       [TFRT_DTYPE_UI32] = name##_ui32, [TFRT_DTYPE_UI64] = name##_ui64

// A sum of f32 along the last axis goes by the vectors of the processor: eight sums side by side.
static double sum_row(const float* x, int64_t count) {
  double sums[8] = {0};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += (double)x[i + j];
  }
  double total = 0;
  for (; i < count; ++i) total += (double)x[i];
  for (int j = 0; j < 8; ++j) total += sums[j];
  return total;
}

static tfrt_status_t reduce_elements(const tfrt_nn_call_t* call, const tfrt_nn_reduction_t* plan,
                                     reduce_fn_t reduce) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  size_t size = tfrt_dtype_size(x->dtype);
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &plan->shape));
  int64_t count = tfrt_dense_host_tensor_element_count(&call->results[0]);
  const char* data = tfrt_dense_host_tensor_data(x);
  char* out = tfrt_nn_result_data(call, 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = plan->count ? tfrt_nn_axes_offset(&plan->kept, i) : 0;
    reduce(data ? data + offset * (int64_t)size : NULL, plan, out + (size_t)i * size);
  }
  return NULL;
}

static tfrt_status_t plan_all(const tfrt_nn_call_t* call, tfrt_nn_reduction_t* plan) {
  uint32_t mask;
  if (!tfrt_nn_input(call, 0)) return tfrt_nn_error(call, "its operand is missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_reduction_axes(call, &mask));
  return tfrt_nn_reduction_plan(call, mask, tfrt_nn_i64(call, "keepdims") != 0, plan);
}

static tfrt_status_t run_reduction(const tfrt_nn_call_t* call, reduce_table_t* table) {
  tfrt_nn_reduction_t plan;
  TFRT_RETURN_IF_ERROR(plan_all(call, &plan));
  reduce_fn_t reduce = (*table)[call->inputs[0]->dtype];
  if (!reduce) return tfrt_nn_dtype_error(call, call->inputs[0]->dtype);
  return reduce_elements(call, &plan, reduce);
}

#define REDUCTION(name, ...)                                        \
  tfrt_status_t tfrt_nn_reduce_##name(const tfrt_nn_call_t* call) { \
    static reduce_table_t table = {__VA_ARGS__};                    \
    return run_reduction(call, &table);                             \
  }

static double total_f32(const float* data, const tfrt_nn_reduction_t* plan) {
  const tfrt_nn_axes_t* axes = &plan->reduced;
  uint32_t last = axes->rank - 1;
  double total = 0;
  int64_t length = axes->rank ? axes->dims[last] : 1;
  int64_t stride = axes->rank ? axes->strides[last] : 1;
  for (int64_t row = 0; length > 0 && row < plan->count / length; ++row) {
    const float* place = data + tfrt_nn_axes_offset(axes, row * length);
    if (stride == 1) {
      total += sum_row(place, length);
      continue;
    }
    for (int64_t i = 0; i < length; ++i) total += (double)place[i * stride];
  }
  return total;
}

static void sum_f32(const void* data, const tfrt_nn_reduction_t* plan, void* out) {
  *(float*)out = (float)total_f32(data, plan);
}

static void mean_f32(const void* data, const tfrt_nn_reduction_t* plan, void* out) {
  *(float*)out = (float)(total_f32(data, plan) / (double)plan->count);
}

REDUCE(sum_f64, double, double, 0, r += x, r)
REDUCE(sum_i32, int32_t, uint64_t, 0, r += x, r)
REDUCE(sum_i64, int64_t, uint64_t, 0, r += x, r)
REDUCE(sum_ui32, uint32_t, uint64_t, 0, r += x, r)
REDUCE(sum_ui64, uint64_t, uint64_t, 0, r += x, r)
REDUCTION(sum, WIDE_ENTRIES(sum))
REDUCE(mean_f64, double, double, 0, r += x, r / n)
REDUCE(mean_i32, int32_t, int64_t, 0, r += x, r / (int64_t)(n > 0 ? n : 1))
REDUCE(mean_i64, int64_t, int64_t, 0, r += x, r / (int64_t)(n > 0 ? n : 1))
REDUCTION(mean, FLOAT_ENTRIES(mean), [TFRT_DTYPE_I32] = mean_i32, [TFRT_DTYPE_I64] = mean_i64)
ALL_REDUCTIONS(prod, 1, r *= x, r)
REDUCTION(prod, WIDE_ENTRIES(prod))
ALL_REDUCTIONS(sum_square, 0, r += x * x, r)
REDUCTION(sum_square, WIDE_ENTRIES(sum_square))
FLOAT_REDUCTIONS(l1, 0, r += fabs(x), r)
REDUCE(l1_i32, int32_t, int64_t, 0, r += x < 0 ? -x : x, r)
REDUCE(l1_i64, int64_t, uint64_t, 0, r += (int64_t)x < 0 ? 0 - x : x, r)
REDUCTION(l1, FLOAT_ENTRIES(l1), [TFRT_DTYPE_I32] = l1_i32, [TFRT_DTYPE_I64] = l1_i64)
FLOAT_REDUCTIONS(l2, 0, r += x * x, sqrt(r))
REDUCE(l2_i32, int32_t, double, 0, r += x * x, sqrt(r))
REDUCE(l2_i64, int64_t, double, 0, r += x * x, sqrt(r))
REDUCTION(l2, FLOAT_ENTRIES(l2), [TFRT_DTYPE_I32] = l2_i32, [TFRT_DTYPE_I64] = l2_i64)
FLOAT_REDUCTIONS(log_sum, 0, r += x, log(r))
REDUCTION(log_sum, FLOAT_ENTRIES(log_sum))

// exp of doubles is in range for all f32; of f64 the greatest element is taken out first.
#define LOG_SUM_EXP(suffix, type)                                                                  \
  static void log_sum_exp_##suffix(const void* data, const tfrt_nn_reduction_t* plan, void* out) { \
    const type* source = data;                                                                     \
    double greatest = -INFINITY;                                                                   \
    for (int64_t i = 0; i < plan->count; ++i) {                                                    \
      double x = (double)source[tfrt_nn_axes_offset(&plan->reduced, i)];                           \
      if (x > greatest || x != x) greatest = x;                                                    \
    }                                                                                              \
    double shift = isinf(greatest) ? 0.0 : greatest;                                               \
    double total = 0;                                                                              \
    for (int64_t i = 0; i < plan->count; ++i) {                                                    \
      total += exp((double)source[tfrt_nn_axes_offset(&plan->reduced, i)] - shift);                \
    }                                                                                              \
    *(type*)out = (type)(log(total) + shift);                                                      \
  }
LOG_SUM_EXP(f32, float)
LOG_SUM_EXP(f64, double)
REDUCTION(log_sum_exp, FLOAT_ENTRIES(log_sum_exp))

// --- The greatest and the least ------------------------------------------------------

// A NaN wins. An empty reduction gives the least or greatest number of the type.
#define EXTREMES(suffix, type, least, greatest)                          \
  REDUCE(max_##suffix, type, type, least, if (x > r || x != x) r = x, r) \
  REDUCE(min_##suffix, type, type, greatest, if (x < r || x != x) r = x, r)
EXTREMES(f32, float, -INFINITY, INFINITY)
EXTREMES(f64, double, -INFINITY, INFINITY)
EXTREMES(i8, int8_t, INT8_MIN, INT8_MAX)
EXTREMES(i16, int16_t, INT16_MIN, INT16_MAX)
EXTREMES(i32, int32_t, INT32_MIN, INT32_MAX)
EXTREMES(i64, int64_t, INT64_MIN, INT64_MAX)
EXTREMES(ui8, uint8_t, 0, UINT8_MAX)
EXTREMES(ui16, uint16_t, 0, UINT16_MAX)
EXTREMES(ui32, uint32_t, 0, UINT32_MAX)
EXTREMES(ui64, uint64_t, 0, UINT64_MAX)
EXTREMES(i1, uint8_t, 0, 1)
#define EXTREME_ENTRIES(name)                                                         \
  WIDE_ENTRIES(name), [TFRT_DTYPE_I8] = name##_i8, [TFRT_DTYPE_I16] = name##_i16,     \
                      [TFRT_DTYPE_UI8] = name##_ui8, [TFRT_DTYPE_UI16] = name##_ui16, \
                      [TFRT_DTYPE_I1] = name##_i1
REDUCTION(max, EXTREME_ENTRIES(max))
REDUCTION(min, EXTREME_ENTRIES(min))

// --- Sums so far ------------------------------------------------------------------------

#define RUNNING_SUM(suffix, type, wide)                                                        \
  static void running_sum_##suffix(const void* data, void* out, int64_t count, int64_t stride, \
                                   bool is_exclusive) {                                        \
    const type* source = data;                                                                 \
    type* target = out;                                                                        \
    wide sum = 0;                                                                              \
    for (int64_t i = 0; i < count; ++i) {                                                      \
      wide x = (wide)source[i * stride];                                                       \
      target[i * stride] = (type)(is_exclusive ? sum : sum + x);                               \
      sum += x;                                                                                \
    }                                                                                          \
  }
RUNNING_SUM(f32, float, double)
RUNNING_SUM(f64, double, double)
RUNNING_SUM(i32, int32_t, uint32_t)
RUNNING_SUM(i64, int64_t, uint64_t)
RUNNING_SUM(ui32, uint32_t, uint32_t)
RUNNING_SUM(ui64, uint64_t, uint64_t)

tfrt_status_t tfrt_nn_cum_sum(const tfrt_nn_call_t* call) {
  typedef void (*running_sum_fn_t)(const void*, void*, int64_t, int64_t, bool);
  static const running_sum_fn_t sums[TFRT_DTYPE_COUNT] = {WIDE_ENTRIES(running_sum)};
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  tfrt_nn_numbers_t axes;
  uint32_t axis;
  if (!x || !tfrt_nn_input(call, 1)) return tfrt_nn_error(call, "it takes two operands");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &axes));
  if (axes.count != 1) return tfrt_nn_error(call, "one axis is wanted");
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, axes.values[0], x->shape.rank, &axis));
  if (!sums[x->dtype]) return tfrt_nn_dtype_error(call, x->dtype);
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  int64_t count = x->shape.dims[axis];
  int64_t stride = tfrt_shape_stride(&x->shape, axis);
  bool is_reverse = tfrt_nn_i64(call, "reverse") != 0;
  int64_t rows = count ? tfrt_dense_host_tensor_element_count(x) / count : 0;
  int64_t size = (int64_t)tfrt_dtype_size(x->dtype);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t first = row / stride * stride * count + row % stride;
    if (is_reverse) first += (count - 1) * stride;
    sums[x->dtype]((const char*)tfrt_nn_input_data(call, 0) + first * size,
                   (char*)tfrt_nn_result_data(call, 0) + first * size, count,
                   is_reverse ? -stride : stride, tfrt_nn_i64(call, "exclusive") != 0);
  }
  return NULL;
}
