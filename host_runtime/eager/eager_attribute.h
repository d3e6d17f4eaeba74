// SPDX-License-Identifier: Apache-2.0
//
// A named attribute of an op that is run without a program, as a plain value:
//
//   tfrt_eager_attribute_t attributes[] = {
//       tfrt_eager_attribute_i32("axis", 1),
//       tfrt_eager_attribute_string("padding", "same"),
//   };
//
// The data behind it (text, elements, functions) is borrowed until an op has been made of it.
//
// Thread rule: a value; thread-safe.
// Failure rule: none fails here; what an op doesn't take is said when it is made.
#ifndef TFRT_HOST_RUNTIME_EAGER_EAGER_ATTRIBUTE_H_
#define TFRT_HOST_RUNTIME_EAGER_EAGER_ATTRIBUTE_H_

#include <string.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/bef/bef_value.h"
#include "host_runtime/executor/kernel/function.h"

TFRT_API_BEGIN

typedef struct tfrt_eager_attribute_s {
  const char* name;
  tfrt_bef_value_t value;           // of the type FUNCTION: one of the next two
  const tfrt_function_t* function;  // NULL: |functions|
  const tfrt_function_t* const* functions;
  uint32_t function_count;
} tfrt_eager_attribute_t;

// An attribute of |type| whose content is still to be set: what the others below begin with.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_named(const char* name,
                                                                tfrt_bef_attribute_type_t type) {
  tfrt_eager_attribute_t attribute;
  memset(&attribute, 0, sizeof(attribute));
  attribute.name = name;
  attribute.value.type = type;
  return attribute;
}

// A scalar of |type| whose bytes are the low ones of |bits|: what the others below are made
// of, and those that have no function of their own (f16 and bf16, as their bits).
static inline tfrt_eager_attribute_t tfrt_eager_attribute_scalar(const char* name,
                                                                 tfrt_bef_dtype_t type,
                                                                 uint64_t bits) {
  tfrt_eager_attribute_t attribute =
      tfrt_eager_attribute_named(name, (tfrt_bef_attribute_type_t)type);
  attribute.value.bits = bits;
  return attribute;
}

static inline tfrt_eager_attribute_t tfrt_eager_attribute_i1(const char* name, bool value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_I1, value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_i8(const char* name, int8_t value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_I8, (uint64_t)value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_i16(const char* name, int16_t value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_I16, (uint64_t)value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_i32(const char* name, int32_t value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_I32, (uint64_t)value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_i64(const char* name, int64_t value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_I64, (uint64_t)value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_ui8(const char* name, uint8_t value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_UI8, value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_ui16(const char* name, uint16_t value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_UI16, value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_ui32(const char* name, uint32_t value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_UI32, value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_ui64(const char* name, uint64_t value) {
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_UI64, value);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_f32(const char* name, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_F32, bits);
}
static inline tfrt_eager_attribute_t tfrt_eager_attribute_f64(const char* name, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return tfrt_eager_attribute_scalar(name, TFRT_BEF_DTYPE_F64, bits);
}

// A text.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_string(const char* name,
                                                                 const char* text) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(name, TFRT_BEF_DTYPE_STRING);
  attribute.value.data = tfrt_string_view_of(text);
  return attribute;
}

// A dtype.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_type(const char* name,
                                                               tfrt_bef_dtype_t dtype) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(name, TFRT_BEF_ATTRIBUTE_TYPE);
  attribute.value.bits = dtype;
  return attribute;
}

// A shape of |rank| |dims|, -1 where one is unknown.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_shape(const char* name,
                                                                const int64_t* dims,
                                                                uint32_t rank) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(name, TFRT_BEF_ATTRIBUTE_SHAPE);
  attribute.value.count = rank;
  attribute.value.dims = dims;
  return attribute;
}

// The shape whose rank is unknown.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_unranked_shape(const char* name) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(name, TFRT_BEF_ATTRIBUTE_SHAPE);
  attribute.value.is_unranked = true;
  return attribute;
}

// A tensor of |rank| |dims|, none negative, with the |size| bytes of its elements at |data| in
// row-major order; an i1 is one byte.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_dense(const char* name,
                                                                tfrt_bef_dtype_t dtype,
                                                                const int64_t* dims, uint32_t rank,
                                                                const void* data, size_t size) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(name, TFRT_BEF_ATTRIBUTE_DENSE);
  attribute.value.dtype = dtype;
  attribute.value.count = rank;
  attribute.value.dims = dims;
  attribute.value.data = tfrt_string_view_make((const char*)data, size);
  return attribute;
}

// An array of |count| elements of the fixed-width type |dtype|, one byte per i1.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_array(const char* name,
                                                                tfrt_bef_dtype_t dtype,
                                                                const void* elements,
                                                                uint32_t count) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(
      name, (tfrt_bef_attribute_type_t)(TFRT_BEF_ATTRIBUTE_ARRAY_BIT | (int)dtype));
  attribute.value.count = count;
  attribute.value.data =
      tfrt_string_view_make((const char*)elements, count * tfrt_bef_dtype_size(dtype));
  return attribute;
}

// An array of |count| values of any types, also of arrays.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_aggregate(
    const char* name, const tfrt_bef_value_t* elements, uint32_t count) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(name, TFRT_BEF_ATTRIBUTE_AGGREGATE);
  attribute.value.count = count;
  attribute.value.elements = elements;
  return attribute;
}

// A function: a symbol, or, under the region's name, what stands for a region.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_function(
    const char* name, const tfrt_function_t* function) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(name, TFRT_BEF_ATTRIBUTE_FUNCTION);
  attribute.function = function;
  attribute.function_count = 1;
  return attribute;
}

// An array of |count| functions.
static inline tfrt_eager_attribute_t tfrt_eager_attribute_functions(
    const char* name, const tfrt_function_t* const* functions, uint32_t count) {
  tfrt_eager_attribute_t attribute = tfrt_eager_attribute_named(name, TFRT_BEF_ATTRIBUTE_FUNCTION);
  attribute.functions = functions;
  attribute.function_count = count;
  return attribute;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EAGER_EAGER_ATTRIBUTE_H_
