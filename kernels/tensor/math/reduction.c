// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/reduction.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "host_runtime/tensor/small_float.h"
#include "kernels/tensor/math/check_tensor.h"

// --- Along one axis ----------------------------------------------------------
//
// A lane is what is reduced to one element: |length| elements, |stride| apart.

typedef struct lane_s {
  const void* elements;
  int64_t length;
  int64_t stride;
} lane_t;

typedef void (*reduce_fn_t)(tfrt_dtype_t dtype, lane_t lane, void* target);

// Fills |result|, which is |x| without |axis|, lane by lane.
static void reduce(const tfrt_dense_host_tensor_t* x, uint32_t axis, reduce_fn_t run,
                   const tfrt_dense_host_tensor_t* result) {
  int64_t stride = tfrt_shape_stride(&x->shape, axis);
  int64_t length = x->shape.dims[axis];
  size_t size = tfrt_dtype_size(x->dtype);
  size_t target_size = tfrt_dtype_size(result->dtype);
  const char* source = tfrt_dense_host_tensor_data(x);
  char* target = tfrt_dense_host_tensor_data(result);
  int64_t count = tfrt_dense_host_tensor_element_count(result);
  for (int64_t i = 0; i < count; ++i) {
    int64_t first = i / stride * stride * length + i % stride;
    // Without elements there may be no address to count from.
    const char* elements = length > 0 ? source + (size_t)first * size : NULL;
    run(x->dtype, (lane_t){elements, length, stride}, target + (size_t)i * target_size);
  }
}

// Makes |*out_result| a tensor of |dtype| with the shape of |x| without |axis|.
static tfrt_status_t create_reduced(const tfrt_dense_host_tensor_t* x, int32_t axis,
                                    tfrt_dtype_t dtype, tfrt_allocator_t allocator,
                                    tfrt_dense_host_tensor_t* out_result) {
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  size_t rank = 0;
  for (uint32_t i = 0; i < x->shape.rank; ++i) {
    if (i != (uint32_t)axis) dims[rank++] = x->shape.dims[i];
  }
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, rank, &shape));
  return tfrt_dense_host_tensor_initialize(dtype, &shape, allocator, out_result);
}

static tfrt_status_t wrong_dtype(const char* name, const tfrt_dense_host_tensor_t* x,
                                 const char* dtypes) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s takes %s, but gets %s %s", name,
                            dtypes, tfrt_dtype_name(x->dtype), tfrt_shape_text(&x->shape).text);
}

static double sum_doubles(tfrt_dtype_t dtype, lane_t lane) {
  double sum = 0;
  for (int64_t i = 0; i < lane.length; ++i) {
    int64_t at = i * lane.stride;
    sum += dtype == TFRT_DTYPE_F32 ? (double)((const float*)lane.elements)[at]
                                   : ((const double*)lane.elements)[at];
  }
  return sum;
}

static uint64_t sum_integers(tfrt_dtype_t dtype, lane_t lane) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < lane.length; ++i) {
    int64_t at = i * lane.stride;
    sum += dtype == TFRT_DTYPE_I32 ? ((const uint32_t*)lane.elements)[at]
                                   : ((const uint64_t*)lane.elements)[at];
  }
  return sum;
}

static void sum_lane(tfrt_dtype_t dtype, lane_t lane, void* target) {
  switch (dtype) {
    case TFRT_DTYPE_F32:
      *(float*)target = (float)sum_doubles(dtype, lane);
      break;
    case TFRT_DTYPE_F64:
      *(double*)target = sum_doubles(dtype, lane);
      break;
    case TFRT_DTYPE_I32:
      *(uint32_t*)target = (uint32_t)sum_integers(dtype, lane);
      break;
    default:
      *(uint64_t*)target = sum_integers(dtype, lane);
      break;
  }
}

static void mean_lane(tfrt_dtype_t dtype, lane_t lane, void* target) {
  switch (dtype) {
    case TFRT_DTYPE_F32:
      *(float*)target = (float)(sum_doubles(dtype, lane) / (double)lane.length);
      break;
    case TFRT_DTYPE_F64:
      *(double*)target = sum_doubles(dtype, lane) / (double)lane.length;
      break;
    case TFRT_DTYPE_I32:
      *(int32_t*)target = (int32_t)((int32_t)(uint32_t)sum_integers(dtype, lane) / lane.length);
      break;
    default:
      *(int64_t*)target = (int64_t)sum_integers(dtype, lane) / lane.length;
      break;
  }
}

// Makes |*out_result| |x| with each lane along |axis| reduced by |run|, which keeps the dtype.
static tfrt_status_t reduce_numbers(const char* name, const tfrt_dense_host_tensor_t* x,
                                    int32_t axis, reduce_fn_t run, tfrt_allocator_t allocator,
                                    tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  if (x->dtype != TFRT_DTYPE_F32 && x->dtype != TFRT_DTYPE_F64 && x->dtype != TFRT_DTYPE_I32 &&
      x->dtype != TFRT_DTYPE_I64) {
    return wrong_dtype(name, x, "f32, f64, i32 or i64");
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_status_take_annotate(tfrt_check_axis(x, axis, "the input"), "%s", name));
  TFRT_RETURN_IF_ERROR(create_reduced(x, axis, x->dtype, allocator, out_result));
  if (run == mean_lane && x->shape.dims[axis] == 0 &&
      tfrt_dense_host_tensor_element_count(out_result) > 0) {
    tfrt_dense_host_tensor_deinitialize(out_result);
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "nothing has no mean: axis %d of the shape %s", (int)axis,
                              tfrt_shape_text(&x->shape).text);
  }
  reduce(x, (uint32_t)axis, run, out_result);
  return NULL;
}

tfrt_status_t tfrt_tensor_sum(const tfrt_dense_host_tensor_t* x, int32_t axis,
                              tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  return reduce_numbers("sum", x, axis, sum_lane, allocator, out_result);
}

tfrt_status_t tfrt_tensor_mean(const tfrt_dense_host_tensor_t* x, int32_t axis,
                               tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  return reduce_numbers("reduce_mean", x, axis, mean_lane, allocator, out_result);
}

// A lane's element as a double, or as an integer.
static double double_at(tfrt_dtype_t dtype, lane_t lane, int64_t index) {
  int64_t at = index * lane.stride;
  return dtype == TFRT_DTYPE_F32 ? (double)((const float*)lane.elements)[at]
                                 : ((const double*)lane.elements)[at];
}

static int64_t integer_at(tfrt_dtype_t dtype, lane_t lane, int64_t index) {
  int64_t at = index * lane.stride;
  if (dtype == TFRT_DTYPE_UI8) return ((const uint8_t*)lane.elements)[at];
  if (dtype == TFRT_DTYPE_I32) return ((const int32_t*)lane.elements)[at];
  return ((const int64_t*)lane.elements)[at];
}

static void argmax_lane(tfrt_dtype_t dtype, lane_t lane, void* target) {
  bool is_float = dtype == TFRT_DTYPE_F32 || dtype == TFRT_DTYPE_F64;
  int64_t best = 0;
  for (int64_t i = 1; i < lane.length; ++i) {
    bool is_larger;
    if (is_float) {
      double value = double_at(dtype, lane, i);
      double best_value = double_at(dtype, lane, best);
      // Not "larger", so that a NaN wins; but the first NaN stays.
      is_larger = !isnan(best_value) && !(value <= best_value);
    } else {
      is_larger = integer_at(dtype, lane, i) > integer_at(dtype, lane, best);
    }
    if (is_larger) best = i;
  }
  *(int64_t*)target = best;
}

tfrt_status_t tfrt_tensor_argmax(const tfrt_dense_host_tensor_t* x, int32_t axis,
                                 tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  if (x->dtype != TFRT_DTYPE_F32 && x->dtype != TFRT_DTYPE_F64 && x->dtype != TFRT_DTYPE_I32 &&
      x->dtype != TFRT_DTYPE_I64 && x->dtype != TFRT_DTYPE_UI8) {
    return wrong_dtype("argmax", x, "f32, f64, i32, i64 or ui8");
  }
  TFRT_RETURN_IF_ERROR(tfrt_check_axis(x, axis, "the input of argmax"));
  TFRT_RETURN_IF_ERROR(create_reduced(x, axis, TFRT_DTYPE_I64, allocator, out_result));
  if (x->shape.dims[axis] == 0 && tfrt_dense_host_tensor_element_count(out_result) > 0) {
    tfrt_dense_host_tensor_deinitialize(out_result);
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "argmax has nothing to choose from along axis %d of the shape %s",
                              (int)axis, tfrt_shape_text(&x->shape).text);
  }
  reduce(x, (uint32_t)axis, argmax_lane, out_result);
  return NULL;
}

// --- Comparisons -------------------------------------------------------------

tfrt_status_t tfrt_tensor_count_equal(const tfrt_dense_host_tensor_t* a,
                                      const tfrt_dense_host_tensor_t* b, int64_t* out_count) {
  *out_count = 0;
  if (a->dtype != b->dtype) return tfrt_dtypes_mismatch("count_equal", a, b);
  if (!tfrt_dtype_is_plain(a->dtype)) return wrong_dtype("count_equal", a, "numbers");
  if (!tfrt_shape_equal(&a->shape, &b->shape)) {
    return tfrt_shapes_mismatch("count_equal", "both shapes must be equal", &a->shape, &b->shape);
  }
  size_t size = tfrt_dtype_size(a->dtype);
  int64_t total = tfrt_dense_host_tensor_element_count(a);
  const char* in_a = tfrt_dense_host_tensor_data(a);
  const char* in_b = tfrt_dense_host_tensor_data(b);
  int64_t count = 0;
  for (int64_t i = 0; i < total; ++i, in_a += size, in_b += size) {
    if (a->dtype == TFRT_DTYPE_F32) {
      count += *(const float*)in_a == *(const float*)in_b;
    } else if (a->dtype == TFRT_DTYPE_F64) {
      count += *(const double*)in_a == *(const double*)in_b;
    } else {
      count += memcmp(in_a, in_b, size) == 0;
    }
  }
  *out_count = count;
  return NULL;
}

// Scaled by the numbers themselves; near 0, where there are no smaller steps, by the
// smallest normal number.
static bool is_close(double a, double b, double epsilon, double smallest, double ulps) {
  double distance = fabs(a - b);
  if (a == b) return true;
  if (!isfinite(distance)) return false;
  return distance <= epsilon * fabs(a + b) * ulps || distance < smallest;
}

// The numbers of a tensor: how to read one as a double, and what the distances of such
// numbers are measured in.
typedef struct number_format_s {
  double (*read)(const void* numbers, int64_t index);
  double epsilon;
  double smallest;
  int64_t numbers_per_element;
} number_format_t;

static double read_f32(const void* numbers, int64_t index) {
  return (double)((const float*)numbers)[index];
}
static double read_f64(const void* numbers, int64_t index) {
  return ((const double*)numbers)[index];
}
static double read_f16(const void* numbers, int64_t index) {
  return tfrt_f16_to_double(((const uint16_t*)numbers)[index]);
}
static double read_bf16(const void* numbers, int64_t index) {
  return tfrt_bf16_to_double(((const uint16_t*)numbers)[index]);
}

// The format of the floats that |dtype| consists of; NULL if it doesn't.
static const number_format_t* float_format(tfrt_dtype_t dtype) {
  static const number_format_t formats[TFRT_DTYPE_COUNT] = {
      [TFRT_DTYPE_F32] = {read_f32, (double)FLT_EPSILON, (double)FLT_MIN, 1},
      [TFRT_DTYPE_F64] = {read_f64, DBL_EPSILON, DBL_MIN, 1},
      [TFRT_DTYPE_F16] = {read_f16, 0x1p-10, 0x1p-14, 1},
      [TFRT_DTYPE_BF16] = {read_bf16, 0x1p-7, 0x1p-126, 1},
      [TFRT_DTYPE_COMPLEX64] = {read_f32, (double)FLT_EPSILON, (double)FLT_MIN, 2},
      [TFRT_DTYPE_COMPLEX128] = {read_f64, DBL_EPSILON, DBL_MIN, 2},
  };
  return formats[dtype].read ? &formats[dtype] : NULL;
}

bool tfrt_tensor_all_close(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                           uint64_t ulps) {
  const number_format_t* format = float_format(a->dtype);
  if (!format) return tfrt_dense_host_tensor_equal(a, b);
  if (a->dtype != b->dtype || !tfrt_shape_equal(&a->shape, &b->shape)) return false;
  int64_t count = tfrt_dense_host_tensor_element_count(a) * format->numbers_per_element;
  const void* in_a = tfrt_dense_host_tensor_data(a);
  const void* in_b = tfrt_dense_host_tensor_data(b);
  for (int64_t i = 0; i < count; ++i) {
    if (!is_close(format->read(in_a, i), format->read(in_b, i), format->epsilon, format->smallest,
                  (double)ulps)) {
      return false;
    }
  }
  return true;
}
