// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/numeric_reduction.h"

#include <stddef.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/tensor/small_float.h"

typedef void (*apply_fn_t)(void* target, const void* left, const void* right, int64_t count);
typedef void (*divide_fn_t)(void* target, int64_t count, uint32_t divisor);

typedef struct complex64_s {
  float real;
  float imaginary;
} complex64_t;

typedef struct complex128_s {
  double real;
  double imaginary;
} complex128_t;

// --- Combining -------------------------------------------------------------------

// One loop over elements |x| and |y| of |type|, which become |expression|.
#define DEFINE_LOOP(name, type, expression)                                            \
  static void name(void* target, const void* left, const void* right, int64_t count) { \
    type* results = target;                                                            \
    const type* xs = left;                                                             \
    const type* ys = right;                                                            \
    for (int64_t i = 0; i < count; ++i) {                                              \
      const type x = xs[i];                                                            \
      const type y = ys[i];                                                            \
      results[i] = (type)(expression);                                                 \
    }                                                                                  \
  }

// Signed integers are added as unsigned ones, which wrap around; those that are shorter than
// an int as unsigned ints, which is no different.
#define DEFINE_INTEGER(name, type, wide)             \
  DEFINE_LOOP(sum_##name, type, (wide)x + (wide)y)   \
  DEFINE_LOOP(product_##name, type, (wide)x*(wide)y) \
  DEFINE_LOOP(minimum_##name, type, y < x ? y : x)   \
  DEFINE_LOOP(maximum_##name, type, y > x ? y : x)

#define DEFINE_FLOAT(name, type)                             \
  DEFINE_LOOP(sum_##name, type, x + y)                       \
  DEFINE_LOOP(product_##name, type, x* y)                    \
  DEFINE_LOOP(minimum_##name, type, y < x || y != y ? y : x) \
  DEFINE_LOOP(maximum_##name, type, y > x || y != y ? y : x)

#define DEFINE_SMALL_FLOAT(name, kind)                                                            \
  static double minimum_of_##kind(double x, double y) { return y < x || y != y ? y : x; }         \
  static double maximum_of_##kind(double x, double y) { return y > x || y != y ? y : x; }         \
  DEFINE_LOOP(sum_##name, uint16_t,                                                               \
              tfrt_##kind##_from_double(tfrt_##kind##_to_double(x) + tfrt_##kind##_to_double(y))) \
  DEFINE_LOOP(product_##name, uint16_t,                                                           \
              tfrt_##kind##_from_double(tfrt_##kind##_to_double(x) * tfrt_##kind##_to_double(y))) \
  DEFINE_LOOP(minimum_##name, uint16_t,                                                           \
              tfrt_##kind##_from_double(                                                          \
                  minimum_of_##kind(tfrt_##kind##_to_double(x), tfrt_##kind##_to_double(y))))     \
  DEFINE_LOOP(maximum_##name, uint16_t,                                                           \
              tfrt_##kind##_from_double(                                                          \
                  maximum_of_##kind(tfrt_##kind##_to_double(x), tfrt_##kind##_to_double(y))))

#define DEFINE_COMPLEX(name, type)                              \
  static type sum_of_##name(type x, type y) {                   \
    return (type){x.real + y.real, x.imaginary + y.imaginary};  \
  }                                                             \
  static type product_of_##name(type x, type y) {               \
    return (type){x.real * y.real - x.imaginary * y.imaginary,  \
                  x.real * y.imaginary + x.imaginary * y.real}; \
  }                                                             \
  DEFINE_LOOP(sum_##name, type, sum_of_##name(x, y))            \
  DEFINE_LOOP(product_##name, type, product_of_##name(x, y))

DEFINE_INTEGER(UI8, uint8_t, uint32_t)
DEFINE_INTEGER(UI16, uint16_t, uint32_t)
DEFINE_INTEGER(UI32, uint32_t, uint32_t)
DEFINE_INTEGER(UI64, uint64_t, uint64_t)
DEFINE_INTEGER(I8, int8_t, uint32_t)
DEFINE_INTEGER(I16, int16_t, uint32_t)
DEFINE_INTEGER(I32, int32_t, uint32_t)
DEFINE_INTEGER(I64, int64_t, uint64_t)
DEFINE_FLOAT(F32, float)
DEFINE_FLOAT(F64, double)
DEFINE_SMALL_FLOAT(F16, f16)
DEFINE_SMALL_FLOAT(BF16, bf16)
DEFINE_COMPLEX(COMPLEX64, complex64_t)
DEFINE_COMPLEX(COMPLEX128, complex128_t)
DEFINE_LOOP(and_I1, uint8_t, x& y)
DEFINE_LOOP(or_I1, uint8_t, x | y)

#define FIELD_ENTRY(name)                                    \
  [TFRT_DTYPE_##name] = {[TFRT_REDUCTION_SUM] = sum_##name,  \
                         [TFRT_REDUCTION_MEAN] = sum_##name, \
                         [TFRT_REDUCTION_PRODUCT] = product_##name}
#define ENTRY(name)                                                 \
  [TFRT_DTYPE_##name] = {[TFRT_REDUCTION_SUM] = sum_##name,         \
                         [TFRT_REDUCTION_MEAN] = sum_##name,        \
                         [TFRT_REDUCTION_PRODUCT] = product_##name, \
                         [TFRT_REDUCTION_MINIMUM] = minimum_##name, \
                         [TFRT_REDUCTION_MAXIMUM] = maximum_##name}

static const apply_fn_t loops[TFRT_DTYPE_COUNT][TFRT_REDUCTION_COUNT] = {
    ENTRY(UI8),
    ENTRY(UI16),
    ENTRY(UI32),
    ENTRY(UI64),
    ENTRY(I8),
    ENTRY(I16),
    ENTRY(I32),
    ENTRY(I64),
    ENTRY(F32),
    ENTRY(F64),
    ENTRY(F16),
    ENTRY(BF16),
    FIELD_ENTRY(COMPLEX64),
    FIELD_ENTRY(COMPLEX128),
    [TFRT_DTYPE_I1] = {[TFRT_REDUCTION_MINIMUM] = and_I1, [TFRT_REDUCTION_MAXIMUM] = or_I1},
};

bool tfrt_reduction_can(tfrt_reduction_t reduction, tfrt_dtype_t dtype) {
  return dtype < TFRT_DTYPE_COUNT && reduction < TFRT_REDUCTION_COUNT && loops[dtype][reduction];
}

void tfrt_reduction_apply(tfrt_reduction_t reduction, tfrt_dtype_t dtype, void* target,
                          const void* left, const void* right, int64_t count) {
  loops[dtype][reduction](target, left, right, count);
}

// --- Means -----------------------------------------------------------------------

// One loop over elements |x| of |type|, which become |expression| with the |divisor|.
#define DEFINE_DIVIDE(name, type, expression)                                \
  static void divide_##name(void* target, int64_t count, uint32_t divisor) { \
    type* xs = target;                                                       \
    for (int64_t i = 0; i < count; ++i) {                                    \
      const type x = xs[i];                                                  \
      xs[i] = (type)(expression);                                            \
    }                                                                        \
  }

DEFINE_DIVIDE(UI8, uint8_t, x / divisor)
DEFINE_DIVIDE(UI16, uint16_t, x / divisor)
DEFINE_DIVIDE(UI32, uint32_t, x / divisor)
DEFINE_DIVIDE(UI64, uint64_t, x / divisor)
DEFINE_DIVIDE(I8, int8_t, x / (int64_t)divisor)
DEFINE_DIVIDE(I16, int16_t, x / (int64_t)divisor)
DEFINE_DIVIDE(I32, int32_t, x / (int64_t)divisor)
DEFINE_DIVIDE(I64, int64_t, x / (int64_t)divisor)
DEFINE_DIVIDE(F32, float, (double)x / divisor)
DEFINE_DIVIDE(F64, double, x / divisor)
DEFINE_DIVIDE(F16, uint16_t, tfrt_f16_from_double(tfrt_f16_to_double(x) / divisor))
DEFINE_DIVIDE(BF16, uint16_t, tfrt_bf16_from_double(tfrt_bf16_to_double(x) / divisor))

// The two halves of complex numbers.
static void divide_COMPLEX64(void* target, int64_t count, uint32_t divisor) {
  divide_F32(target, 2 * count, divisor);
}
static void divide_COMPLEX128(void* target, int64_t count, uint32_t divisor) {
  divide_F64(target, 2 * count, divisor);
}

#define DIVIDE_ENTRY(name) [TFRT_DTYPE_##name] = divide_##name

void tfrt_reduction_finish(tfrt_reduction_t reduction, tfrt_dtype_t dtype, void* target,
                           int64_t count, uint32_t operand_count) {
  static const divide_fn_t divisions[TFRT_DTYPE_COUNT] = {
      DIVIDE_ENTRY(UI8),       DIVIDE_ENTRY(UI16),       DIVIDE_ENTRY(UI32), DIVIDE_ENTRY(UI64),
      DIVIDE_ENTRY(I8),        DIVIDE_ENTRY(I16),        DIVIDE_ENTRY(I32),  DIVIDE_ENTRY(I64),
      DIVIDE_ENTRY(F32),       DIVIDE_ENTRY(F64),        DIVIDE_ENTRY(F16),  DIVIDE_ENTRY(BF16),
      DIVIDE_ENTRY(COMPLEX64), DIVIDE_ENTRY(COMPLEX128),
  };
  if (reduction == TFRT_REDUCTION_MEAN) divisions[dtype](target, count, operand_count);
}

// --- Names -----------------------------------------------------------------------

static const char* const names[TFRT_REDUCTION_COUNT] = {
    [TFRT_REDUCTION_SUM] = "sum",     [TFRT_REDUCTION_PRODUCT] = "prod",
    [TFRT_REDUCTION_MINIMUM] = "min", [TFRT_REDUCTION_MAXIMUM] = "max",
    [TFRT_REDUCTION_MEAN] = "mean",
};

bool tfrt_reduction_find(tfrt_string_view_t name, tfrt_reduction_t* out_reduction) {
  for (int i = 0; i < TFRT_REDUCTION_COUNT; ++i) {
    if (!tfrt_string_view_equal(name, tfrt_string_view_of(names[i]))) continue;
    *out_reduction = (tfrt_reduction_t)i;
    return true;
  }
  return false;
}

const char* tfrt_reduction_name(tfrt_reduction_t reduction) {
  return reduction < TFRT_REDUCTION_COUNT ? names[reduction] : "unknown";
}

tfrt_dtype_t tfrt_reduction_dtype_of(tfrt_type_id_t type_id) {
  static const tfrt_dtype_t dtypes[] = {
      [TFRT_TYPE_I8] = TFRT_DTYPE_I8,     [TFRT_TYPE_I16] = TFRT_DTYPE_I16,
      [TFRT_TYPE_I32] = TFRT_DTYPE_I32,   [TFRT_TYPE_I64] = TFRT_DTYPE_I64,
      [TFRT_TYPE_UI8] = TFRT_DTYPE_UI8,   [TFRT_TYPE_UI16] = TFRT_DTYPE_UI16,
      [TFRT_TYPE_UI32] = TFRT_DTYPE_UI32, [TFRT_TYPE_UI64] = TFRT_DTYPE_UI64,
      [TFRT_TYPE_F32] = TFRT_DTYPE_F32,   [TFRT_TYPE_F64] = TFRT_DTYPE_F64,
  };
  return type_id < TFRT_ARRAY_SIZE(dtypes) ? dtypes[type_id] : TFRT_DTYPE_INVALID;
}
