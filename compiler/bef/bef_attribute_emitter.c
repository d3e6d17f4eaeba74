// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef/bef_attribute_emitter.h"

#include <string.h>

static tfrt_bef_dtype_t dtype_of_integer(const tfrt_ir_type_t* type) {
  bool is_unsigned = type->signedness == TFRT_IR_UNSIGNED;
  switch (type->width) {
    case 1:
      return is_unsigned ? TFRT_BEF_DTYPE_INVALID : TFRT_BEF_DTYPE_I1;
    case 8:
      return is_unsigned ? TFRT_BEF_DTYPE_UI8 : TFRT_BEF_DTYPE_I8;
    case 16:
      return is_unsigned ? TFRT_BEF_DTYPE_UI16 : TFRT_BEF_DTYPE_I16;
    case 32:
      return is_unsigned ? TFRT_BEF_DTYPE_UI32 : TFRT_BEF_DTYPE_I32;
    case 64:
      return is_unsigned ? TFRT_BEF_DTYPE_UI64 : TFRT_BEF_DTYPE_I64;
    default:
      return TFRT_BEF_DTYPE_INVALID;
  }
}

// Types that are known by their text.
static tfrt_bef_dtype_t dtype_of_text(const tfrt_ir_type_t* type) {
  static const struct {
    const char* text;
    tfrt_bef_dtype_t dtype;
  } kNamed[] = {
      {"f16", TFRT_BEF_DTYPE_F16},
      {"bf16", TFRT_BEF_DTYPE_BF16},
      {"f32", TFRT_BEF_DTYPE_F32},
      {"f64", TFRT_BEF_DTYPE_F64},
      {"complex<f32>", TFRT_BEF_DTYPE_COMPLEX64},
      {"complex<f64>", TFRT_BEF_DTYPE_COMPLEX128},
      {"!corert.string", TFRT_BEF_DTYPE_STRING},
      {"!corert.resource", TFRT_BEF_DTYPE_RESOURCE},
      {"!corert.variant", TFRT_BEF_DTYPE_VARIANT},
      {"!corert.quint8", TFRT_BEF_DTYPE_QUI8},
      {"!corert.quint16", TFRT_BEF_DTYPE_QUI16},
      {"!corert.qint8", TFRT_BEF_DTYPE_QI8},
      {"!corert.qint16", TFRT_BEF_DTYPE_QI16},
      {"!corert.qint32", TFRT_BEF_DTYPE_QI32},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kNamed); ++i) {
    if (tfrt_ir_type_is(type, kNamed[i].text)) return kNamed[i].dtype;
  }
  return TFRT_BEF_DTYPE_INVALID;
}

tfrt_bef_dtype_t tfrt_bef_dtype_of_type(const tfrt_ir_type_t* type) {
  if (!type) return TFRT_BEF_DTYPE_INVALID;
  return type->kind == TFRT_IR_TYPE_INTEGER ? dtype_of_integer(type) : dtype_of_text(type);
}

bool tfrt_bef_attribute_is_functions(const tfrt_ir_attribute_t* attribute) {
  if (attribute->kind == TFRT_IR_ATTRIBUTE_SYMBOL) return true;
  return attribute->kind == TFRT_IR_ATTRIBUTE_ARRAY && attribute->count > 0 &&
         attribute->elements[0]->kind == TFRT_IR_ATTRIBUTE_SYMBOL;
}

static bool scalar_to_value(const tfrt_ir_attribute_t* attribute, tfrt_bef_value_t* value) {
  tfrt_bef_dtype_t dtype = tfrt_bef_dtype_of_type(attribute->type);
  value->type = (tfrt_bef_attribute_type_t)dtype;
  value->bits = attribute->bits;
  // An i1 is kept sign-extended, but is a byte of 0 or 1 in a file.
  if (dtype == TFRT_BEF_DTYPE_I1) value->bits &= 1;
  return tfrt_bef_dtype_size(dtype) > 0;
}

// The elements of |values|, all scalars or dtypes of one type, as bytes.
static bool pack_elements(const tfrt_bef_value_t* values, uint32_t count, tfrt_arena_t* arena,
                          tfrt_bef_value_t* out_value) {
  tfrt_bef_attribute_type_t type = values[0].type;
  size_t size = type == TFRT_BEF_ATTRIBUTE_TYPE ? 1 : tfrt_bef_dtype_size(type);
  char* bytes = tfrt_arena_allocate_array(arena, count, size);
  if (!bytes) return false;
  for (uint32_t i = 0; i < count; ++i) memcpy(bytes + i * size, &values[i].bits, size);
  out_value->type = type | TFRT_BEF_ATTRIBUTE_ARRAY_BIT;
  out_value->data = tfrt_string_view_make(bytes, count * size);
  return true;
}

static bool array_to_value(const tfrt_ir_attribute_t* attribute, tfrt_arena_t* arena,
                           tfrt_bef_value_t* value) {
  value->count = attribute->count;
  value->type = TFRT_BEF_ATTRIBUTE_EMPTY_ARRAY;
  if (attribute->count == 0) return true;
  tfrt_bef_value_t* elements = tfrt_arena_allocate_array(arena, value->count, sizeof(*elements));
  if (!elements) return false;
  bool is_uniform = true;
  for (uint32_t i = 0; i < value->count; ++i) {
    if (!tfrt_bef_attribute_to_value(attribute->elements[i], arena, &elements[i])) return false;
    is_uniform = is_uniform && elements[i].type == elements[0].type;
  }
  bool is_fixed =
      elements[0].type == TFRT_BEF_ATTRIBUTE_TYPE || tfrt_bef_dtype_size(elements[0].type) > 0;
  if (is_uniform && is_fixed) return pack_elements(elements, value->count, arena, value);
  value->type = TFRT_BEF_ATTRIBUTE_AGGREGATE;
  value->elements = elements;
  return true;
}

static bool dense_to_value(const tfrt_ir_attribute_t* attribute, tfrt_bef_value_t* value) {
  const tfrt_ir_type_t* type = attribute->type;
  value->type = TFRT_BEF_ATTRIBUTE_DENSE;
  value->dtype = tfrt_bef_dtype_of_type(type->element);
  value->count = type->rank;
  value->dims = type->dims;
  value->data = tfrt_string_view_make(attribute->bytes, attribute->size);
  return tfrt_bef_dtype_size(value->dtype) > 0 && value->dtype < TFRT_BEF_DTYPE_QUI8;
}

// Unknown dimensions are -1 in a file.
static bool shape_to_value(const tfrt_ir_attribute_t* attribute, tfrt_arena_t* arena,
                           tfrt_bef_value_t* value) {
  value->type = TFRT_BEF_ATTRIBUTE_SHAPE;
  value->is_unranked = !attribute->is_ranked;
  value->count = attribute->count;
  if (value->is_unranked || value->count == 0) return true;
  int64_t* dims = tfrt_arena_allocate_array(arena, value->count, sizeof(*dims));
  if (!dims) return false;
  for (uint32_t i = 0; i < value->count; ++i) {
    dims[i] = attribute->dims[i] == TFRT_IR_DYNAMIC ? -1 : attribute->dims[i];
  }
  value->dims = dims;
  return true;
}

bool tfrt_bef_attribute_to_value(const tfrt_ir_attribute_t* attribute, tfrt_arena_t* arena,
                                 tfrt_bef_value_t* out_value) {
  *out_value = (tfrt_bef_value_t){.type = TFRT_BEF_ATTRIBUTE_UNSUPPORTED};
  switch (attribute->kind) {
    case TFRT_IR_ATTRIBUTE_INTEGER:
    case TFRT_IR_ATTRIBUTE_FLOAT:
      return scalar_to_value(attribute, out_value);
    case TFRT_IR_ATTRIBUTE_STRING:
      out_value->type = TFRT_BEF_DTYPE_STRING;
      out_value->data = tfrt_ir_attribute_text(attribute);
      return true;
    case TFRT_IR_ATTRIBUTE_TYPE:
      out_value->type = TFRT_BEF_ATTRIBUTE_TYPE;
      out_value->bits = tfrt_bef_dtype_of_type(attribute->type);
      return out_value->bits != TFRT_BEF_DTYPE_INVALID;
    case TFRT_IR_ATTRIBUTE_ARRAY:
      return array_to_value(attribute, arena, out_value);
    case TFRT_IR_ATTRIBUTE_DENSE:
      return dense_to_value(attribute, out_value);
    case TFRT_IR_ATTRIBUTE_SHAPE:
      return shape_to_value(attribute, arena, out_value);
    default:
      return false;
  }
}
