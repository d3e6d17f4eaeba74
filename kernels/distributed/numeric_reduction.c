// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/numeric_reduction.h"

#include <stddef.h>

typedef void (*apply_fn_t)(void* target, const void* source, int64_t count);

// One loop over elements |x| and |y| of |type|, which become |expression|.
#define DEFINE_LOOP(name, type, expression)                           \
  static void name(void* target, const void* source, int64_t count) { \
    type* xs = target;                                                \
    const type* ys = source;                                          \
    for (int64_t i = 0; i < count; ++i) {                             \
      const type x = xs[i];                                           \
      const type y = ys[i];                                           \
      xs[i] = (type)(expression);                                     \
    }                                                                 \
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

#define ENTRY(name)                                                 \
  [TFRT_DTYPE_##name] = {[TFRT_REDUCTION_SUM] = sum_##name,         \
                         [TFRT_REDUCTION_PRODUCT] = product_##name, \
                         [TFRT_REDUCTION_MINIMUM] = minimum_##name, \
                         [TFRT_REDUCTION_MAXIMUM] = maximum_##name}

static const apply_fn_t loops[TFRT_DTYPE_COUNT][4] = {
    ENTRY(UI8), ENTRY(UI16), ENTRY(UI32), ENTRY(UI64), ENTRY(I8),
    ENTRY(I16), ENTRY(I32),  ENTRY(I64),  ENTRY(F32),  ENTRY(F64),
};

bool tfrt_reduction_can(tfrt_dtype_t dtype) {
  return dtype < TFRT_DTYPE_COUNT && loops[dtype][TFRT_REDUCTION_SUM] != NULL;
}

void tfrt_reduction_apply(tfrt_reduction_t reduction, tfrt_dtype_t dtype, void* target,
                          const void* source, int64_t count) {
  loops[dtype][reduction](target, source, count);
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
