// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef/bef_attribute_importer.h"

#include <string.h>

// Integer types; NULL for others.
static const tfrt_ir_type_t* integer_of_dtype(tfrt_ir_context_t* context, uint32_t dtype) {
  if (dtype == TFRT_BEF_DTYPE_I1) return tfrt_ir_type_integer(context, 1, TFRT_IR_SIGNLESS);
  uint32_t width = (uint32_t)tfrt_bef_dtype_size(dtype) * 8;
  if (dtype >= TFRT_BEF_DTYPE_UI8 && dtype <= TFRT_BEF_DTYPE_UI64) {
    return tfrt_ir_type_integer(context, width, TFRT_IR_UNSIGNED);
  }
  if (dtype >= TFRT_BEF_DTYPE_I8 && dtype <= TFRT_BEF_DTYPE_I64) {
    return tfrt_ir_type_integer(context, width, TFRT_IR_SIGNLESS);
  }
  return NULL;
}

// Float types and complex ones; NULL for others.
static const tfrt_ir_type_t* float_of_dtype(tfrt_ir_context_t* context, uint32_t dtype) {
  static const char* const kNames[] = {
      [TFRT_BEF_DTYPE_F32] = "f32",       [TFRT_BEF_DTYPE_F64] = "f64",
      [TFRT_BEF_DTYPE_COMPLEX64] = "f32", [TFRT_BEF_DTYPE_COMPLEX128] = "f64",
      [TFRT_BEF_DTYPE_F16] = "f16",       [TFRT_BEF_DTYPE_BF16] = "bf16",
  };
  if (dtype >= TFRT_ARRAY_SIZE(kNames) || !kNames[dtype]) return NULL;
  const tfrt_ir_type_t* type = tfrt_ir_type_float(context, tfrt_string_view_of(kNames[dtype]));
  bool is_complex = dtype == TFRT_BEF_DTYPE_COMPLEX64 || dtype == TFRT_BEF_DTYPE_COMPLEX128;
  return type && is_complex ? tfrt_ir_type_complex(context, type) : type;
}

const tfrt_ir_type_t* tfrt_bef_type_of_dtype(tfrt_ir_context_t* context, uint32_t dtype) {
  static const char* const kDialectTypes[] = {
      [TFRT_BEF_DTYPE_STRING] = "!corert.string",   [TFRT_BEF_DTYPE_RESOURCE] = "!corert.resource",
      [TFRT_BEF_DTYPE_VARIANT] = "!corert.variant", [TFRT_BEF_DTYPE_QUI8] = "!corert.quint8",
      [TFRT_BEF_DTYPE_QUI16] = "!corert.quint16",   [TFRT_BEF_DTYPE_QI8] = "!corert.qint8",
      [TFRT_BEF_DTYPE_QI16] = "!corert.qint16",     [TFRT_BEF_DTYPE_QI32] = "!corert.qint32",
  };
  const tfrt_ir_type_t* type = integer_of_dtype(context, dtype);
  if (!type) type = float_of_dtype(context, dtype);
  if (type || dtype >= TFRT_ARRAY_SIZE(kDialectTypes) || !kDialectTypes[dtype]) return type;
  return tfrt_ir_type_dialect(context, tfrt_string_view_of(kDialectTypes[dtype]));
}

// A number of |size| bytes, and a type for it.
static const tfrt_ir_attribute_t* import_scalar(tfrt_ir_context_t* context, const void* bytes,
                                                uint32_t dtype) {
  const tfrt_ir_type_t* type = tfrt_bef_type_of_dtype(context, dtype);
  uint64_t bits = 0;
  size_t size = tfrt_bef_dtype_size(dtype);
  if (!type || size == 0 || size > sizeof(bits)) return NULL;
  memcpy(&bits, bytes, size);
  if (type->kind == TFRT_IR_TYPE_INTEGER) {
    // Arrays may hold any byte for an i1.
    if (dtype == TFRT_BEF_DTYPE_I1) bits = bits != 0;
    return tfrt_ir_attribute_integer(context, type, (int64_t)bits);
  }
  if (type->kind != TFRT_IR_TYPE_FLOAT) return NULL;
  return tfrt_ir_attribute_float_bits(context, type, bits);
}

static const tfrt_ir_attribute_t* import_dtype(tfrt_ir_context_t* context, const uint8_t* bytes) {
  const tfrt_ir_type_t* type = tfrt_bef_type_of_dtype(context, *bytes);
  return type ? tfrt_ir_attribute_type(context, type) : NULL;
}

static const tfrt_ir_attribute_t* import_array(tfrt_ir_context_t* context, const void* bytes,
                                               uint32_t element) {
  tfrt_bef_array_t array = tfrt_bef_attribute_array(bytes);
  const tfrt_ir_attribute_t** elements =
      tfrt_ir_context_allocate_array(context, array.count, sizeof(*elements));
  if (!elements) return NULL;
  bool is_type = element == TFRT_BEF_ATTRIBUTE_TYPE;
  size_t size = is_type ? 1 : tfrt_bef_dtype_size(element);
  for (uint32_t i = 0; i < array.count; ++i) {
    const uint8_t* place = (const uint8_t*)array.data + i * size;
    elements[i] = is_type ? import_dtype(context, place) : import_scalar(context, place, element);
    if (!elements[i]) return NULL;
  }
  return tfrt_ir_attribute_array(context, elements, array.count);
}

static const tfrt_ir_attribute_t* import_shape(tfrt_ir_context_t* context, const void* bytes) {
  tfrt_bef_shape_t shape = tfrt_bef_attribute_shape(bytes);
  if (!shape.ranked) return tfrt_ir_attribute_shape(context, false, NULL, 0);
  int64_t* dims = tfrt_ir_context_allocate_array(context, shape.rank, sizeof(*dims));
  if (!dims) return NULL;
  for (uint32_t i = 0; i < shape.rank; ++i) {
    dims[i] = shape.dims[i] < 0 ? TFRT_IR_DYNAMIC : shape.dims[i];
  }
  return tfrt_ir_attribute_shape(context, true, dims, shape.rank);
}

static const tfrt_ir_attribute_t* import_dense(tfrt_ir_context_t* context, const void* bytes) {
  tfrt_bef_dense_t dense = tfrt_bef_attribute_dense(bytes);
  const tfrt_ir_type_t* element = tfrt_bef_type_of_dtype(context, dense.dtype);
  const tfrt_ir_type_t* type = element ? tfrt_ir_type_shaped(context, TFRT_IR_TYPE_TENSOR, true,
                                                             dense.dims, dense.rank, element, NULL)
                                       : NULL;
  if (!type) return NULL;
  return tfrt_ir_attribute_dense(context, type, dense.data, dense.data_size);
}

static const tfrt_ir_attribute_t* import_aggregate(tfrt_ir_context_t* context, const void* bytes) {
  uint32_t count = tfrt_bef_attribute_aggregate_count(bytes);
  const tfrt_ir_attribute_t** elements =
      tfrt_ir_context_allocate_array(context, count, sizeof(*elements));
  if (!elements) return NULL;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_bef_attribute_type_t type;
    const void* element = tfrt_bef_attribute_aggregate_element(bytes, i, &type);
    elements[i] = tfrt_bef_attribute_from_bytes(context, element, type);
    if (!elements[i]) return NULL;
  }
  return tfrt_ir_attribute_array(context, elements, count);
}

const tfrt_ir_attribute_t* tfrt_bef_attribute_from_bytes(tfrt_ir_context_t* context,
                                                         const void* bytes,
                                                         tfrt_bef_attribute_type_t type) {
  if (type & TFRT_BEF_ATTRIBUTE_ARRAY_BIT) {
    return import_array(context, bytes, type & ~TFRT_BEF_ATTRIBUTE_ARRAY_BIT);
  }
  switch (type) {
    case TFRT_BEF_DTYPE_STRING:
      return tfrt_ir_attribute_string(context, tfrt_bef_attribute_string(bytes), NULL);
    case TFRT_BEF_ATTRIBUTE_TYPE:
      return import_dtype(context, bytes);
    case TFRT_BEF_ATTRIBUTE_SHAPE:
      return import_shape(context, bytes);
    case TFRT_BEF_ATTRIBUTE_DENSE:
      return import_dense(context, bytes);
    case TFRT_BEF_ATTRIBUTE_AGGREGATE:
      return import_aggregate(context, bytes);
    default:
      return import_scalar(context, bytes, type);
  }
}
