// SPDX-License-Identifier: Apache-2.0
//
// Operations on two tensors (or any number of them, two by two) that are stretched to each other.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/broadcast.h"
#include "kernels/nn/math/ops.h"
#include "kernels/tensor/math/elementwise.h"

// One row of |type| to |result|: |expression| of x and y. The loops where both operands go on, or
// one stays, are those that compilers vectorise.
#define ROW(name, type, result, expression)                                                     \
  static void name(const void* const* data, const int64_t* strides, void* out, int64_t count) { \
    const type* a = data[0];                                                                    \
    const type* b = data[1];                                                                    \
    result* target = out;                                                                       \
    if (strides[0] == 1 && strides[1] == 1) {                                                   \
      for (int64_t i = 0; i < count; ++i) {                                                     \
        type x = a[i], y = b[i];                                                                \
        target[i] = (result)(expression);                                                       \
      }                                                                                         \
    } else if (strides[0] == 1 && strides[1] == 0) {                                            \
      type y = *b;                                                                              \
      for (int64_t i = 0; i < count; ++i) {                                                     \
        type x = a[i];                                                                          \
        target[i] = (result)(expression);                                                       \
      }                                                                                         \
    } else {                                                                                    \
      for (int64_t i = 0; i < count; ++i) {                                                     \
        type x = a[i * strides[0]], y = b[i * strides[1]];                                      \
        target[i] = (result)(expression);                                                       \
      }                                                                                         \
    }                                                                                           \
  }

// Rows of all whole numbers, of floats, and of both; SAME: the result has the operands' type.
#define INTEGER_ROWS(name, expression)             \
  ROW(name##_i8, int8_t, int8_t, expression)       \
  ROW(name##_i16, int16_t, int16_t, expression)    \
  ROW(name##_i32, int32_t, int32_t, expression)    \
  ROW(name##_i64, int64_t, int64_t, expression)    \
  ROW(name##_ui8, uint8_t, uint8_t, expression)    \
  ROW(name##_ui16, uint16_t, uint16_t, expression) \
  ROW(name##_ui32, uint32_t, uint32_t, expression) \
  ROW(name##_ui64, uint64_t, uint64_t, expression)
#define FLOAT_ROWS(name, f32_expression, f64_expression) \
  ROW(name##_f32, float, float, f32_expression)          \
  ROW(name##_f64, double, double, f64_expression)
#define COMPARISON_ROWS(name, expression)         \
  ROW(name##_i8, int8_t, uint8_t, expression)     \
  ROW(name##_i16, int16_t, uint8_t, expression)   \
  ROW(name##_i32, int32_t, uint8_t, expression)   \
  ROW(name##_i64, int64_t, uint8_t, expression)   \
  ROW(name##_ui8, uint8_t, uint8_t, expression)   \
  ROW(name##_ui16, uint16_t, uint8_t, expression) \
  ROW(name##_ui32, uint32_t, uint8_t, expression) \
  ROW(name##_ui64, uint64_t, uint8_t, expression) \
  ROW(name##_f32, float, uint8_t, expression)     \
  ROW(name##_f64, double, uint8_t, expression)

#define INTEGER_ENTRIES(name)                                                                    \
  [TFRT_DTYPE_I8] = name##_i8, [TFRT_DTYPE_I16] = name##_i16, [TFRT_DTYPE_I32] = name##_i32,     \
  [TFRT_DTYPE_I64] = name##_i64, [TFRT_DTYPE_UI8] = name##_ui8, [TFRT_DTYPE_UI16] = name##_ui16, \
  [TFRT_DTYPE_UI32] = name##_ui32, [TFRT_DTYPE_UI64] = name##_ui64
#define FLOAT_ENTRIES(name) [TFRT_DTYPE_F32] = name##_f32, [TFRT_DTYPE_F64] = name##_f64

// Rows by element type; NULL: not for that one.
typedef const tfrt_nn_row_fn_t row_table_t[TFRT_DTYPE_COUNT];

static tfrt_status_t run_pair(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* a,
                              const tfrt_dense_host_tensor_t* b, row_table_t* rows,
                              tfrt_dtype_t result_dtype, tfrt_dense_host_tensor_t* out) {
  if (a->dtype != b->dtype) {
    return tfrt_nn_error(call, "both operands must have one type, not %s and %s",
                         tfrt_dtype_name(a->dtype), tfrt_dtype_name(b->dtype));
  }
  tfrt_nn_row_fn_t row = (*rows)[a->dtype];
  if (!row) return tfrt_nn_dtype_error(call, a->dtype);
  const tfrt_dense_host_tensor_t* operands[2] = {a, b};
  tfrt_shape_t shape;
  tfrt_nn_broadcast_t broadcast;
  TFRT_RETURN_IF_ERROR(tfrt_nn_broadcast_shape(call, operands, 2, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(result_dtype, &shape, call->allocator, out));
  tfrt_nn_broadcast_initialize(operands, 2, &shape, &broadcast);
  const void* data[2] = {tfrt_dense_host_tensor_data(a), tfrt_dense_host_tensor_data(b)};
  size_t size = tfrt_dtype_size(a->dtype);
  tfrt_nn_broadcast_walk(&broadcast, row, data, (size_t[]){size, size},
                         tfrt_dense_host_tensor_data(out), tfrt_dtype_size(result_dtype));
  return NULL;
}

static tfrt_status_t check_two(const tfrt_nn_call_t* call) {
  if (tfrt_nn_input(call, 0) && tfrt_nn_input(call, 1) && call->input_count == 2) return NULL;
  return tfrt_nn_error(call, "it takes two operands, not %u", call->input_count);
}

static tfrt_status_t run_same(const tfrt_nn_call_t* call, row_table_t* rows) {
  TFRT_RETURN_IF_ERROR(check_two(call));
  return run_pair(call, call->inputs[0], call->inputs[1], rows, call->inputs[0]->dtype,
                  &call->results[0]);
}

static tfrt_status_t run_comparison(const tfrt_nn_call_t* call, row_table_t* rows) {
  TFRT_RETURN_IF_ERROR(check_two(call));
  return run_pair(call, call->inputs[0], call->inputs[1], rows, TFRT_DTYPE_I1, &call->results[0]);
}

// --- Arithmetic -----------------------------------------------------------------

// Whole numbers wrap around. The operands of narrow types are computed as int, the rest as
// unsigned ones, for which that is defined.
#define WRAPPING_ROWS(name, operator)                                    \
  ROW(name##_i8, int8_t, int8_t, (int)x operator(int) y)                 \
  ROW(name##_i16, int16_t, int16_t, (uint32_t)x operator(uint32_t) y)    \
  ROW(name##_i32, int32_t, int32_t, (uint32_t)x operator(uint32_t) y)    \
  ROW(name##_i64, int64_t, int64_t, (uint64_t)x operator(uint64_t) y)    \
  ROW(name##_ui8, uint8_t, uint8_t, (uint32_t)x operator(uint32_t) y)    \
  ROW(name##_ui16, uint16_t, uint16_t, (uint32_t)x operator(uint32_t) y) \
  ROW(name##_ui32, uint32_t, uint32_t, x operator y)                     \
  ROW(name##_ui64, uint64_t, uint64_t, x operator y)                     \
  FLOAT_ROWS(name, x operator y, x operator y)

WRAPPING_ROWS(add, +)
WRAPPING_ROWS(sub, -)
WRAPPING_ROWS(mul, *)

// Division by 0 has no result that could be agreed on; it doesn't end the process. The least number
// divided by -1 wraps around.
#define SIGNED_DIVIDE(unsigned_type) \
  (y == 0 ? 0 : y == -1 ? (unsigned_type)0 - (unsigned_type)x : (unsigned_type)(x / y))
ROW(div_i8, int8_t, int8_t, SIGNED_DIVIDE(uint32_t))
ROW(div_i16, int16_t, int16_t, SIGNED_DIVIDE(uint32_t))
ROW(div_i32, int32_t, int32_t, SIGNED_DIVIDE(uint32_t))
ROW(div_i64, int64_t, int64_t, SIGNED_DIVIDE(uint64_t))
ROW(div_ui8, uint8_t, uint8_t, y == 0 ? 0 : x / y)
ROW(div_ui16, uint16_t, uint16_t, y == 0 ? 0 : x / y)
ROW(div_ui32, uint32_t, uint32_t, y == 0 ? 0 : x / y)
ROW(div_ui64, uint64_t, uint64_t, y == 0 ? 0 : x / y)
FLOAT_ROWS(div, x / y, x / y)

#define ARITHMETIC(name)                                                         \
  static row_table_t name##_rows = {INTEGER_ENTRIES(name), FLOAT_ENTRIES(name)}; \
  tfrt_status_t tfrt_nn_##name(const tfrt_nn_call_t* call) { return run_same(call, &name##_rows); }
ARITHMETIC(add)
ARITHMETIC(sub)
ARITHMETIC(mul)
ARITHMETIC(div)

// The remainder with the sign of the divisor, as Python has it; C's has that of the dividend.
#define PYTHON_REMAINDER(type) \
  (y == 0 || y == (type)-1 ? 0 : (x % y != 0 && ((x % y < 0) != (y < 0)) ? x % y + y : x % y))
ROW(mod_i8, int8_t, int8_t, PYTHON_REMAINDER(int8_t))
ROW(mod_i16, int16_t, int16_t, PYTHON_REMAINDER(int16_t))
ROW(mod_i32, int32_t, int32_t, PYTHON_REMAINDER(int32_t))
ROW(mod_i64, int64_t, int64_t, PYTHON_REMAINDER(int64_t))
ROW(mod_ui8, uint8_t, uint8_t, y == 0 ? 0 : x % y)
ROW(mod_ui16, uint16_t, uint16_t, y == 0 ? 0 : x % y)
ROW(mod_ui32, uint32_t, uint32_t, y == 0 ? 0 : x % y)
ROW(mod_ui64, uint64_t, uint64_t, y == 0 ? 0 : x % y)
#define C_REMAINDER(type) (y == 0 || y == (type)-1 ? 0 : x % y)
ROW(fmod_i8, int8_t, int8_t, C_REMAINDER(int8_t))
ROW(fmod_i16, int16_t, int16_t, C_REMAINDER(int16_t))
ROW(fmod_i32, int32_t, int32_t, C_REMAINDER(int32_t))
ROW(fmod_i64, int64_t, int64_t, C_REMAINDER(int64_t))
FLOAT_ROWS(fmod, fmodf(x, y), fmod(x, y))

// The remainder of floats with the sign of the divisor, also that of a 0.
static double floor_remainder(double x, double y) {
  double rest = fmod(x, y);
  if (rest == 0) return copysign(0, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}
FLOAT_ROWS(mod, floor_remainder((double)x, (double)y), floor_remainder(x, y))

static row_table_t mod_rows = {INTEGER_ENTRIES(mod), FLOAT_ENTRIES(mod)};
static row_table_t fmod_rows = {
    [TFRT_DTYPE_I8] = fmod_i8,    [TFRT_DTYPE_I16] = fmod_i16,  [TFRT_DTYPE_I32] = fmod_i32,
    [TFRT_DTYPE_I64] = fmod_i64,  [TFRT_DTYPE_UI8] = mod_ui8,   [TFRT_DTYPE_UI16] = mod_ui16,
    [TFRT_DTYPE_UI32] = mod_ui32, [TFRT_DTYPE_UI64] = mod_ui64, FLOAT_ENTRIES(fmod)};

tfrt_status_t tfrt_nn_mod(const tfrt_nn_call_t* call) {
  return run_same(call, tfrt_nn_i64(call, "fmod") ? &fmod_rows : &mod_rows);
}

// --- Powers: the exponent may have another type ----------------------------------

// |base| to the power of |exponent|, with squarings, modulo 2^64. A negative exponent gives what is
// left of the fraction: 0, or 1 and -1 for themselves.
static uint64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : (uint64_t)-1;
    return 0;
  }
  uint64_t result = 1;
  uint64_t factor = (uint64_t)base;
  for (uint64_t rest = (uint64_t)exponent; rest > 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return result;
}

static float float_power(float x, float y) {
  if (y == 2.0f) return x * x;
  return y == 0.5f ? sqrtf(x) : powf(x, y);
}

#define POWER_ROWS(suffix, type) \
  ROW(power_i32_##suffix, type, type, integer_power((int64_t)x, (int64_t)y))
POWER_ROWS(i8, int8_t)
POWER_ROWS(i16, int16_t)
POWER_ROWS(i32, int32_t)
POWER_ROWS(i64, int64_t)
POWER_ROWS(ui8, uint8_t)
POWER_ROWS(ui16, uint16_t)
POWER_ROWS(ui32, uint32_t)
POWER_ROWS(ui64, uint64_t)
FLOAT_ROWS(power, float_power(x, y), pow(x, y))
static row_table_t power_rows = {INTEGER_ENTRIES(power_i32), FLOAT_ENTRIES(power)};

static tfrt_status_t cast_to(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* tensor,
                             tfrt_dtype_t dtype, tfrt_dense_host_tensor_t* out) {
  return tfrt_tensor_cast(tensor, dtype, call->allocator, out);
}

// A base of whole numbers and a float exponent: as doubles, and back.
static tfrt_status_t power_by_doubles(const tfrt_nn_call_t* call,
                                      tfrt_dense_host_tensor_t operands[3]) {
  TFRT_RETURN_IF_ERROR(cast_to(call, call->inputs[0], TFRT_DTYPE_F64, &operands[0]));
  TFRT_RETURN_IF_ERROR(cast_to(call, call->inputs[1], TFRT_DTYPE_F64, &operands[1]));
  TFRT_RETURN_IF_ERROR(
      run_pair(call, &operands[0], &operands[1], &power_rows, TFRT_DTYPE_F64, &operands[2]));
  return cast_to(call, &operands[2], call->inputs[0]->dtype, &call->results[0]);
}

tfrt_status_t tfrt_nn_pow(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_two(call));
  tfrt_dtype_t dtype = call->inputs[0]->dtype;
  if (dtype == call->inputs[1]->dtype) return run_same(call, &power_rows);
  tfrt_dense_host_tensor_t operands[3] = {{0}, {0}, {0}};
  tfrt_status_t status;
  if (tfrt_nn_is_float(call->inputs[1]->dtype) && !tfrt_nn_is_float(dtype)) {
    status = power_by_doubles(call, operands);
  } else {
    status = cast_to(call, call->inputs[1], dtype, &operands[0]);
    if (!status) {
      status = run_pair(call, call->inputs[0], &operands[0], &power_rows, dtype, &call->results[0]);
    }
  }
  for (size_t i = 0; i < 3; ++i) tfrt_dense_host_tensor_deinitialize(&operands[i]);
  return status;
}

// --- Comparisons and logic ---------------------------------------------------------

COMPARISON_ROWS(equal, x == y)
COMPARISON_ROWS(less, x < y)
COMPARISON_ROWS(less_or_equal, x <= y)
COMPARISON_ROWS(greater, x > y)
COMPARISON_ROWS(greater_or_equal, x >= y)

#define COMPARISON(name, ...)                                                                 \
  static row_table_t name##_rows = {INTEGER_ENTRIES(name), FLOAT_ENTRIES(name), __VA_ARGS__}; \
  tfrt_status_t tfrt_nn_##name(const tfrt_nn_call_t* call) {                                  \
    return run_comparison(call, &name##_rows);                                                \
  }
COMPARISON(equal, [TFRT_DTYPE_I1] = equal_ui8)
COMPARISON(less, [TFRT_DTYPE_INVALID] = NULL)
COMPARISON(less_or_equal, [TFRT_DTYPE_INVALID] = NULL)
COMPARISON(greater, [TFRT_DTYPE_INVALID] = NULL)
COMPARISON(greater_or_equal, [TFRT_DTYPE_INVALID] = NULL)

#define LOGIC(name, expression)                                    \
  ROW(name##_row, uint8_t, uint8_t, expression)                    \
  static row_table_t name##_rows = {[TFRT_DTYPE_I1] = name##_row}; \
  tfrt_status_t tfrt_nn_##name(const tfrt_nn_call_t* call) {       \
    return run_comparison(call, &name##_rows);                     \
  }
LOGIC(and, x& y)
LOGIC(or, x | y)
LOGIC(xor, x ^ y)

#define BITWISE(name, operator)                                                 \
  INTEGER_ROWS(bitwise_##name, x operator y)                                    \
  static row_table_t bitwise_##name##_rows = {INTEGER_ENTRIES(bitwise_##name)}; \
  tfrt_status_t tfrt_nn_bitwise_##name(const tfrt_nn_call_t* call) {            \
    return run_same(call, &bitwise_##name##_rows);                              \
  }
BITWISE(and, &)
BITWISE(or, |)
BITWISE(xor, ^)

// A shift by all bits or more, or by a negative number, leaves nothing but the sign.
#define SHIFT_ROWS(suffix, type)                                                               \
  ROW(shift_left_##suffix, type, type, (uint64_t)y >= 8 * sizeof(type) ? 0 : (uint64_t)x << y) \
  ROW(shift_right_##suffix, type, type,                                                        \
      (uint64_t)y >= 8 * sizeof(type) ? x >> (8 * sizeof(type) - 1) >> 1 : x >> y)
SHIFT_ROWS(i8, int8_t)
SHIFT_ROWS(i16, int16_t)
SHIFT_ROWS(i32, int32_t)
SHIFT_ROWS(i64, int64_t)
SHIFT_ROWS(ui8, uint8_t)
SHIFT_ROWS(ui16, uint16_t)
SHIFT_ROWS(ui32, uint32_t)
SHIFT_ROWS(ui64, uint64_t)
static row_table_t shift_left_rows = {INTEGER_ENTRIES(shift_left)};
static row_table_t shift_right_rows = {INTEGER_ENTRIES(shift_right)};

tfrt_status_t tfrt_nn_bit_shift(const tfrt_nn_call_t* call) {
  if (tfrt_nn_string_is(call, "direction", "LEFT")) return run_same(call, &shift_left_rows);
  if (tfrt_nn_string_is(call, "direction", "RIGHT")) return run_same(call, &shift_right_rows);
  return tfrt_nn_error(call, "'direction' is LEFT or RIGHT");
}

FLOAT_ROWS(prelu, x < 0 ? x * y : x, x < 0 ? x * y : x)
ROW(prelu_i32, int32_t, int32_t, x < 0 ? (uint32_t)x * (uint32_t)y : (uint32_t)x)
ROW(prelu_i64, int64_t, int64_t, x < 0 ? (uint64_t)x * (uint64_t)y : (uint64_t)x)
static row_table_t prelu_rows = {
    FLOAT_ENTRIES(prelu), [TFRT_DTYPE_I32] = prelu_i32, [TFRT_DTYPE_I64] = prelu_i64};

// A list of slopes that can't be stretched to the operand is one for each channel, as the first
// versions of the operator had it.
tfrt_status_t tfrt_nn_prelu(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_two(call));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  tfrt_dense_host_tensor_t slope = *call->inputs[1];
  int64_t count = slope.shape.rank == 1 ? slope.shape.dims[0] : 1;
  if (count > 1 && x->rank > 2 && x->dims[x->rank - 1] != count && x->dims[1] == count) {
    slope.shape.rank = x->rank - 1;
    for (uint32_t i = 1; i < slope.shape.rank; ++i) slope.shape.dims[i] = 1;
  }
  return run_pair(call, call->inputs[0], &slope, &prelu_rows, call->inputs[0]->dtype,
                  &call->results[0]);
}

// --- Any number of operands ---------------------------------------------------------

// A NaN on either side wins, as in numpy.
INTEGER_ROWS(max, x > y ? x : y)
INTEGER_ROWS(min, x < y ? x : y)
FLOAT_ROWS(max, x > y || x != x ? x : y, x > y || x != x ? x : y)
FLOAT_ROWS(min, x < y || x != x ? x : y, x < y || x != x ? x : y)
static row_table_t max_rows = {INTEGER_ENTRIES(max), FLOAT_ENTRIES(max)};
static row_table_t min_rows = {INTEGER_ENTRIES(min), FLOAT_ENTRIES(min)};

// Combines all operands into |*out|.
static tfrt_status_t fold(const tfrt_nn_call_t* call, row_table_t* rows,
                          tfrt_dense_host_tensor_t* out) {
  if (call->input_count == 0) return tfrt_nn_error(call, "it takes at least one operand");
  tfrt_dense_host_tensor_initialize_alias(call->inputs[0], out);
  for (uint32_t i = 1; i < call->input_count; ++i) {
    tfrt_dense_host_tensor_t next = {0};
    tfrt_status_t status = run_pair(call, out, call->inputs[i], rows, out->dtype, &next);
    tfrt_dense_host_tensor_deinitialize(out);
    *out = next;
    if (status) return status;
  }
  return NULL;
}

tfrt_status_t tfrt_nn_max(const tfrt_nn_call_t* call) {
  return fold(call, &max_rows, &call->results[0]);
}

tfrt_status_t tfrt_nn_min(const tfrt_nn_call_t* call) {
  return fold(call, &min_rows, &call->results[0]);
}

tfrt_status_t tfrt_nn_sum(const tfrt_nn_call_t* call) {
  return fold(call, &add_rows, &call->results[0]);
}

tfrt_status_t tfrt_nn_mean(const tfrt_nn_call_t* call) {
  tfrt_dense_host_tensor_t sum = {0};
  tfrt_dense_host_tensor_t count = {0};
  tfrt_status_t status = fold(call, &add_rows, &sum);
  if (!status && !tfrt_nn_is_float(sum.dtype)) status = tfrt_nn_dtype_error(call, sum.dtype);
  const tfrt_shape_t scalar = {.rank = 0};
  if (!status) {
    status = tfrt_dense_host_tensor_initialize(sum.dtype, &scalar, call->allocator, &count);
  }
  if (!status) {
    void* data = tfrt_dense_host_tensor_data(&count);
    if (sum.dtype == TFRT_DTYPE_F32) *(float*)data = (float)call->input_count;
    if (sum.dtype == TFRT_DTYPE_F64) *(double*)data = (double)call->input_count;
    status = run_pair(call, &sum, &count, &div_rows, sum.dtype, &call->results[0]);
  }
  tfrt_dense_host_tensor_deinitialize(&sum);
  tfrt_dense_host_tensor_deinitialize(&count);
  return status;
}

// --- A choice by a condition ---------------------------------------------------------

#define CHOICE_ROW(name, type)                                                                  \
  static void name(const void* const* data, const int64_t* strides, void* out, int64_t count) { \
    const uint8_t* condition = data[0];                                                         \
    const type* x = data[1];                                                                    \
    const type* y = data[2];                                                                    \
    type* target = out;                                                                         \
    for (int64_t i = 0; i < count; ++i) {                                                       \
      target[i] = condition[i * strides[0]] ? x[i * strides[1]] : y[i * strides[2]];            \
    }                                                                                           \
  }
CHOICE_ROW(choose_1, uint8_t)
CHOICE_ROW(choose_2, uint16_t)
CHOICE_ROW(choose_4, uint32_t)
CHOICE_ROW(choose_8, uint64_t)

tfrt_status_t tfrt_nn_where(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 0, TFRT_DTYPE_I1));
  if (call->input_count != 3) return tfrt_nn_error(call, "it takes three operands");
  tfrt_dtype_t dtype = call->inputs[1]->dtype;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 2, dtype));
  size_t size = tfrt_dtype_size(dtype);
  tfrt_nn_row_fn_t row = size == 1   ? choose_1
                         : size == 2 ? choose_2
                         : size == 4 ? choose_4
                                     : choose_8;
  if (size > 8 || size == 0) return tfrt_nn_dtype_error(call, dtype);
  tfrt_shape_t shape;
  tfrt_nn_broadcast_t broadcast;
  TFRT_RETURN_IF_ERROR(tfrt_nn_broadcast_shape(call, call->inputs, 3, &shape));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, dtype, &shape));
  tfrt_nn_broadcast_initialize(call->inputs, 3, &shape, &broadcast);
  const void* data[3] = {tfrt_nn_input_data(call, 0), tfrt_nn_input_data(call, 1),
                         tfrt_nn_input_data(call, 2)};
  tfrt_nn_broadcast_walk(&broadcast, row, data, (size_t[]){1, size, size},
                         tfrt_nn_result_data(call, 0), size);
  return NULL;
}
