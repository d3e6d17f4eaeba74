// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/elementwise.h"

#include <string.h>

#include "host_runtime/tensor/small_float.h"
#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/math/pointwise.h"

// --- Conversion --------------------------------------------------------------
//
// Any dtype to any other would be a hundred loops. Instead, blocks of elements are widened
// to one of two types and narrowed from there: to double if floats are involved, else to
// 64-bit integers. Each element is rounded once: where a double has no room for an integer of 64
// bits and the target is a smaller float, it is rounded to odd on its way.

#define BLOCK_SIZE 256

// Integer dtypes: name, C type, smallest and largest value, first double beyond that.
// clang-format off
#define FOR_EACH_INTEGER(action)                     \
  action(UI8, uint8_t, 0, UINT8_MAX, 0x1p8)          \
  action(UI16, uint16_t, 0, UINT16_MAX, 0x1p16)      \
  action(UI32, uint32_t, 0, UINT32_MAX, 0x1p32)      \
  action(UI64, uint64_t, 0, UINT64_MAX, 0x1p64)      \
  action(I8, int8_t, INT8_MIN, INT8_MAX, 0x1p7)      \
  action(I16, int16_t, INT16_MIN, INT16_MAX, 0x1p15) \
  action(I32, int32_t, INT32_MIN, INT32_MAX, 0x1p31) \
  action(I64, int64_t, INT64_MIN, INT64_MAX, 0x1p63)
// clang-format on

typedef void (*load_doubles_fn_t)(const void* source, int64_t first, int64_t count, double* target);
typedef void (*load_integers_fn_t)(const void* source, int64_t first, int64_t count,
                                   int64_t* target);
typedef void (*store_doubles_fn_t)(const double* source, int64_t first, int64_t count,
                                   void* target);
typedef void (*store_integers_fn_t)(const int64_t* source, int64_t first, int64_t count,
                                    void* target);

#define DEFINE_LOADS(name, type)                                                     \
  static void load_doubles_##name(const void* source, int64_t first, int64_t count,  \
                                  double* target) {                                  \
    const type* elements = (const type*)source + first;                              \
    for (int64_t i = 0; i < count; ++i) target[i] = (double)elements[i];             \
  }                                                                                  \
  static void load_integers_##name(const void* source, int64_t first, int64_t count, \
                                   int64_t* target) {                                \
    const type* elements = (const type*)source + first;                              \
    for (int64_t i = 0; i < count; ++i) target[i] = (int64_t)elements[i];            \
  }

#define DEFINE_INTEGER(name, type, low, high, beyond)                                    \
  DEFINE_LOADS(name, type)                                                               \
  static void store_doubles_##name(const double* source, int64_t first, int64_t count,   \
                                   void* target) {                                       \
    type* elements = (type*)target + first;                                              \
    for (int64_t i = 0; i < count; ++i) {                                                \
      double value = source[i];                                                          \
      type limit = value >= beyond ? high : value <= (double)low ? low : 0;              \
      elements[i] = value > (double)low && value < beyond ? (type)value : limit;         \
    }                                                                                    \
  }                                                                                      \
  static void store_integers_##name(const int64_t* source, int64_t first, int64_t count, \
                                    void* target) {                                      \
    type* elements = (type*)target + first;                                              \
    for (int64_t i = 0; i < count; ++i) elements[i] = (type)source[i];                   \
  }

FOR_EACH_INTEGER(DEFINE_INTEGER)
DEFINE_LOADS(I1, bool)

static void store_doubles_I1(const double* source, int64_t first, int64_t count, void* target) {
  bool* elements = (bool*)target + first;
  for (int64_t i = 0; i < count; ++i) elements[i] = source[i] != 0;
}

static void store_integers_I1(const int64_t* source, int64_t first, int64_t count, void* target) {
  bool* elements = (bool*)target + first;
  for (int64_t i = 0; i < count; ++i) elements[i] = source[i] != 0;
}

static void load_doubles_F32(const void* source, int64_t first, int64_t count, double* target) {
  const float* elements = (const float*)source + first;
  for (int64_t i = 0; i < count; ++i) target[i] = (double)elements[i];
}

static void load_doubles_F64(const void* source, int64_t first, int64_t count, double* target) {
  memcpy(target, (const double*)source + first, (size_t)count * sizeof(double));
}

static void store_doubles_F32(const double* source, int64_t first, int64_t count, void* target) {
  float* elements = (float*)target + first;
  for (int64_t i = 0; i < count; ++i) elements[i] = (float)source[i];
}

static void store_doubles_F64(const double* source, int64_t first, int64_t count, void* target) {
  memcpy((double*)target + first, source, (size_t)count * sizeof(double));
}

#define DEFINE_SMALL_FLOAT(name, to_double, from_double)                               \
  static void load_doubles_##name(const void* source, int64_t first, int64_t count,    \
                                  double* target) {                                    \
    const uint16_t* elements = (const uint16_t*)source + first;                        \
    for (int64_t i = 0; i < count; ++i) target[i] = to_double(elements[i]);            \
  }                                                                                    \
  static void store_doubles_##name(const double* source, int64_t first, int64_t count, \
                                   void* target) {                                     \
    uint16_t* elements = (uint16_t*)target + first;                                    \
    for (int64_t i = 0; i < count; ++i) elements[i] = from_double(source[i]);          \
  }

// |magnitude| in 53 bits. The last bit is 1 if anything was cut off, so that no tie hides that:
// from there it is rounded to fewer than 52 bits as |magnitude| itself would be.
static double odd_double(uint64_t magnitude) {
  if (magnitude >> 53 == 0) return (double)magnitude;
  int cut = 11 - __builtin_clzll(magnitude);
  uint64_t kept = magnitude >> cut;
  if (kept << cut != magnitude) kept |= 1;
  return (double)(kept << cut);
}

static void load_odd_doubles_UI64(const void* source, int64_t first, int64_t count,
                                  double* target) {
  const uint64_t* elements = (const uint64_t*)source + first;
  for (int64_t i = 0; i < count; ++i) target[i] = odd_double(elements[i]);
}

static void load_odd_doubles_I64(const void* source, int64_t first, int64_t count, double* target) {
  const int64_t* elements = (const int64_t*)source + first;
  for (int64_t i = 0; i < count; ++i) {
    bool is_negative = elements[i] < 0;
    double size = odd_double(is_negative ? 0 - (uint64_t)elements[i] : (uint64_t)elements[i]);
    target[i] = is_negative ? -size : size;
  }
}

DEFINE_SMALL_FLOAT(F16, tfrt_f16_to_double, tfrt_f16_from_double)
DEFINE_SMALL_FLOAT(BF16, tfrt_bf16_to_double, tfrt_bf16_from_double)

typedef struct conversion_s {
  load_doubles_fn_t load_doubles;
  load_integers_fn_t load_integers;  // NULL for floats, as the last one
  store_doubles_fn_t store_doubles;
  store_integers_fn_t store_integers;
} conversion_t;

#define INTEGER_ENTRY(name, type, low, high, beyond)                                      \
  [TFRT_DTYPE_##name] = {load_doubles_##name, load_integers_##name, store_doubles_##name, \
                         store_integers_##name},

static const conversion_t conversions[TFRT_DTYPE_COUNT] = {
    FOR_EACH_INTEGER(INTEGER_ENTRY)  //
        [TFRT_DTYPE_I1] = {load_doubles_I1, load_integers_I1, store_doubles_I1, store_integers_I1},
    [TFRT_DTYPE_F32] = {load_doubles_F32, NULL, store_doubles_F32, NULL},
    [TFRT_DTYPE_F64] = {load_doubles_F64, NULL, store_doubles_F64, NULL},
    [TFRT_DTYPE_F16] = {load_doubles_F16, NULL, store_doubles_F16, NULL},
    [TFRT_DTYPE_BF16] = {load_doubles_BF16, NULL, store_doubles_BF16, NULL},
};

// How elements of |from| become doubles on their way to |to|.
static load_doubles_fn_t find_load_doubles(tfrt_dtype_t from, tfrt_dtype_t to) {
  bool is_smaller_float = to == TFRT_DTYPE_F32 || to == TFRT_DTYPE_F16 || to == TFRT_DTYPE_BF16;
  if (is_smaller_float && from == TFRT_DTYPE_I64) return load_odd_doubles_I64;
  if (is_smaller_float && from == TFRT_DTYPE_UI64) return load_odd_doubles_UI64;
  return conversions[from].load_doubles;
}

static void convert(const tfrt_dense_host_tensor_t* x, const tfrt_dense_host_tensor_t* result) {
  const conversion_t* from = &conversions[x->dtype];
  const conversion_t* to = &conversions[result->dtype];
  const void* source = tfrt_dense_host_tensor_data(x);
  void* target = tfrt_dense_host_tensor_data(result);
  load_doubles_fn_t load_doubles = find_load_doubles(x->dtype, result->dtype);
  bool by_integers = from->load_integers && to->store_integers;
  double doubles[BLOCK_SIZE];
  int64_t integers[BLOCK_SIZE];
  int64_t total = tfrt_dense_host_tensor_element_count(x);
  for (int64_t first = 0; first < total; first += BLOCK_SIZE) {
    int64_t count = total - first < BLOCK_SIZE ? total - first : BLOCK_SIZE;
    if (by_integers) {
      from->load_integers(source, first, count, integers);
      to->store_integers(integers, first, count, target);
    } else {
      load_doubles(source, first, count, doubles);
      to->store_doubles(doubles, first, count, target);
    }
  }
}

tfrt_status_t tfrt_tensor_cast(const tfrt_dense_host_tensor_t* x, tfrt_dtype_t dtype,
                               tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  if ((size_t)dtype >= TFRT_DTYPE_COUNT || !conversions[x->dtype].load_doubles ||
      !conversions[dtype].load_doubles) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "cannot cast %s %s to %s",
                              tfrt_dtype_name(x->dtype), tfrt_shape_text(&x->shape).text,
                              tfrt_dtype_name(dtype));
  }
  if (x->dtype == dtype) {
    tfrt_dense_host_tensor_initialize_alias(x, out_result);
    return NULL;
  }
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(dtype, &x->shape, allocator, out_result));
  convert(x, out_result);
  return NULL;
}

// --- Floats ------------------------------------------------------------------

tfrt_status_t tfrt_tensor_scale(const tfrt_dense_host_tensor_t* x, float factor,
                                tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(x, TFRT_DTYPE_F32, "the input of scale"));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &x->shape, allocator, out_result));
  const float* source = tfrt_dense_host_tensor_data(x);
  float* target = tfrt_dense_host_tensor_data(out_result);
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  for (int64_t i = 0; i < count; ++i) target[i] = source[i] * factor;
  return NULL;
}

tfrt_status_t tfrt_tensor_relu(const tfrt_dense_host_tensor_t* x, tfrt_allocator_t allocator,
                               tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(x, TFRT_DTYPE_F32, "the input of relu"));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &x->shape, allocator, out_result));
  return tfrt_tensor_relu_into(x, out_result);
}

tfrt_status_t tfrt_tensor_add(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                              tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(
      tfrt_status_take_annotate(tfrt_shape_broadcast(&a->shape, &b->shape, &shape), "add"));
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(a->dtype, &shape, allocator, out_result));
  tfrt_status_t status = tfrt_tensor_combine(TFRT_POINTWISE_ADD, "add", a, b, out_result);
  if (status) tfrt_dense_host_tensor_deinitialize(out_result);
  return status;
}

// --- Filling -----------------------------------------------------------------

void tfrt_tensor_fill_with_bias(const tfrt_dense_host_tensor_t* bias, uint32_t axis,
                                const tfrt_dense_host_tensor_t* tensor) {
  const float* addends = bias ? tfrt_dense_host_tensor_data(bias) : NULL;
  float* data = tfrt_dense_host_tensor_data(tensor);
  int64_t stride = tfrt_shape_stride(&tensor->shape, axis);
  int64_t length = tensor->shape.dims[axis];
  int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  for (int64_t i = 0; i < count; ++i) {
    data[i] = addends ? addends[i / stride % length] : 0;
  }
}

void tfrt_tensor_cut_at_zero(const tfrt_dense_host_tensor_t* tensor) {
  float* data = tfrt_dense_host_tensor_data(tensor);
  int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  for (int64_t i = 0; i < count; ++i) data[i] = data[i] < 0 ? 0 : data[i];
}
