// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_value.h"

#include "host_runtime/bef/bef_bytes.h"

// Sizes of what precedes the variable parts.
#define HEADER_SIZE 8
#define SHAPE_PREFIX_SIZE 12
#define DENSE_PREFIX_SIZE 20
#define AGGREGATE_PREFIX_SIZE 12
#define HEADER_TOTAL_SIZE 4

static size_t max_size(size_t a, size_t b) { return a > b ? a : b; }

// The header that shapes, dense attributes and aggregates begin with. The bytes behind the first
// |prefix_size| will be aligned to |alignment|.
static size_t encode_header(tfrt_bef_bytes_t* bytes, size_t alignment, uint8_t dtype,
                            size_t prefix_size, size_t total_size) {
  tfrt_bef_bytes_align(bytes, alignment, prefix_size);
  size_t offset = tfrt_bef_bytes_size(bytes);
  uint16_t prefix = (uint16_t)prefix_size;
  tfrt_bef_bytes_append_byte(bytes, (uint8_t)alignment);
  tfrt_bef_bytes_append_byte(bytes, dtype);
  tfrt_bef_bytes_append(bytes, &prefix, sizeof(prefix));
  tfrt_bef_bytes_append_u32(bytes, (uint32_t)total_size);
  return offset;
}

static size_t encode_empty(tfrt_bef_bytes_t* bytes) {
  tfrt_bef_bytes_align(bytes, sizeof(uint32_t), 0);
  size_t offset = tfrt_bef_bytes_size(bytes);
  tfrt_bef_bytes_append_u32(bytes, 0);
  return offset;
}

static size_t encode_scalar(const tfrt_bef_value_t* value, tfrt_bef_bytes_t* bytes) {
  size_t size = value->type == TFRT_BEF_ATTRIBUTE_TYPE ? 1 : tfrt_bef_dtype_size(value->type);
  if (size > sizeof(value->bits)) size = sizeof(value->bits);
  tfrt_bef_bytes_align(bytes, size > 0 ? size : 1, 0);
  size_t offset = tfrt_bef_bytes_size(bytes);
  tfrt_bef_bytes_append(bytes, &value->bits, size);
  return offset;
}

// A count, and elements right behind it that are aligned to |alignment|.
static size_t encode_counted(tfrt_bef_bytes_t* bytes, uint32_t count, size_t alignment,
                             tfrt_string_view_t data) {
  if (alignment <= sizeof(uint32_t)) {
    tfrt_bef_bytes_align(bytes, sizeof(uint32_t), 0);
  } else {
    tfrt_bef_bytes_align(bytes, alignment, sizeof(uint32_t));
  }
  size_t offset = tfrt_bef_bytes_size(bytes);
  tfrt_bef_bytes_append_u32(bytes, count);
  tfrt_bef_bytes_append(bytes, data.data, data.size);
  return offset;
}

static size_t array_alignment(tfrt_bef_attribute_type_t type) {
  uint32_t element = type & ~TFRT_BEF_ATTRIBUTE_ARRAY_BIT;
  return element == TFRT_BEF_ATTRIBUTE_TYPE ? 1 : tfrt_bef_dtype_alignment(element);
}

static size_t encode_shape(const tfrt_bef_value_t* value, tfrt_bef_bytes_t* bytes) {
  size_t offset;
  if (value->is_unranked) return encode_empty(bytes);
  if (value->count == 0) {
    // Without dimensions nothing needs 8-byte alignment.
    offset = encode_header(bytes, sizeof(uint32_t), 0, 0, SHAPE_PREFIX_SIZE);
  } else {
    offset = encode_header(bytes, sizeof(int64_t), 0, SHAPE_PREFIX_SIZE,
                           SHAPE_PREFIX_SIZE + value->count * sizeof(int64_t));
  }
  tfrt_bef_bytes_append_u32(bytes, value->count);
  tfrt_bef_bytes_append(bytes, value->dims, value->count * sizeof(int64_t));
  return offset;
}

static size_t encode_dense(const tfrt_bef_value_t* value, tfrt_bef_bytes_t* bytes) {
  size_t data_offset = DENSE_PREFIX_SIZE + value->count * sizeof(int64_t);
  size_t offset = encode_header(bytes, TFRT_BEF_ALIGNMENT, (uint8_t)value->dtype, data_offset,
                                data_offset + value->data.size);
  size_t element_size = tfrt_bef_dtype_size(value->dtype);
  tfrt_bef_bytes_append_u32(bytes, (uint32_t)data_offset);
  tfrt_bef_bytes_append_u32(bytes, (uint32_t)(element_size ? value->data.size / element_size : 0));
  tfrt_bef_bytes_append_u32(bytes, value->count);
  tfrt_bef_bytes_append(bytes, value->dims, value->count * sizeof(int64_t));
  tfrt_bef_bytes_append(bytes, value->data.data, value->data.size);
  return offset;
}

// The alignment that an element asks its aggregate for. For arrays that is 8 whatever they
// hold, as TFRT's writer has it.
static size_t value_alignment(const tfrt_bef_value_t* value) {
  if (value->type & TFRT_BEF_ATTRIBUTE_ARRAY_BIT) return sizeof(int64_t);
  switch (value->type) {
    case TFRT_BEF_DTYPE_STRING:
      return sizeof(uint32_t);
    case TFRT_BEF_ATTRIBUTE_SHAPE:
      return value->is_unranked ? 1 : sizeof(int64_t);
    case TFRT_BEF_ATTRIBUTE_DENSE:
    case TFRT_BEF_ATTRIBUTE_AGGREGATE:
      return sizeof(int64_t);
    default:
      return max_size(tfrt_bef_dtype_size(value->type), 1);
  }
}

static size_t encode_aggregate(const tfrt_bef_value_t* value, tfrt_bef_bytes_t* bytes) {
  if (value->count == 0) return encode_empty(bytes);
  size_t alignment = sizeof(uint32_t);
  for (uint32_t i = 0; i < value->count; ++i) {
    alignment = max_size(alignment, value_alignment(&value->elements[i]));
  }
  size_t prefix_size = AGGREGATE_PREFIX_SIZE + value->count * sizeof(uint32_t);
  size_t offset = encode_header(bytes, alignment, 0, prefix_size, 0);
  tfrt_bef_bytes_append_u32(bytes, value->count);
  size_t place = tfrt_bef_bytes_size(bytes);
  for (uint32_t i = 0; i < value->count; ++i) tfrt_bef_bytes_append_u32(bytes, 0);
  for (uint32_t i = 0; i < value->count; ++i) {
    tfrt_bef_bytes_append_byte(bytes, TFRT_BEF_PADDING_BYTE);  // becomes the type, or padding
    size_t element = tfrt_bef_value_encode(&value->elements[i], bytes);
    tfrt_bef_bytes_patch_byte(bytes, element - 1, value->elements[i].type);
    tfrt_bef_bytes_patch_u32(bytes, place + i * sizeof(uint32_t), (uint32_t)(element - offset));
  }
  tfrt_bef_bytes_patch_u32(bytes, offset + HEADER_TOTAL_SIZE,
                           (uint32_t)(tfrt_bef_bytes_size(bytes) - offset));
  return offset;
}

static size_t encode_symbol(const tfrt_bef_value_t* value, tfrt_bef_bytes_t* bytes) {
  size_t offset = tfrt_bef_bytes_size(bytes);
  tfrt_bef_bytes_append_vbr(bytes, value->bits);
  tfrt_bef_bytes_append_vbr(bytes, value->names[0].size);
  tfrt_bef_bytes_append_vbr(bytes, value->count - 1);
  for (uint32_t i = 1; i < value->count; ++i) {
    tfrt_bef_bytes_append_vbr(bytes, value->names[i].size);
  }
  tfrt_bef_bytes_append_vbr(bytes, value->data.size);
  for (uint32_t i = 0; i < value->count; ++i) {
    tfrt_bef_bytes_append(bytes, value->names[i].data, value->names[i].size);
  }
  tfrt_bef_bytes_append(bytes, value->data.data, value->data.size);
  tfrt_bef_bytes_append_byte(bytes, 0);
  return offset;
}

static size_t encode(const tfrt_bef_value_t* value, tfrt_bef_bytes_t* bytes) {
  if (value->type & TFRT_BEF_ATTRIBUTE_ARRAY_BIT) {
    if (value->count == 0) return encode_empty(bytes);
    return encode_counted(bytes, value->count, array_alignment(value->type), value->data);
  }
  switch (value->type) {
    case TFRT_BEF_DTYPE_STRING:
      return encode_counted(bytes, (uint32_t)value->data.size, 1, value->data);
    case TFRT_BEF_ATTRIBUTE_SHAPE:
      return encode_shape(value, bytes);
    case TFRT_BEF_ATTRIBUTE_DENSE:
      return encode_dense(value, bytes);
    case TFRT_BEF_ATTRIBUTE_AGGREGATE:
      return encode_aggregate(value, bytes);
    case TFRT_BEF_ATTRIBUTE_SYMBOL:
      return encode_symbol(value, bytes);
    default:
      return encode_scalar(value, bytes);
  }
}

uint32_t tfrt_bef_value_encode(const tfrt_bef_value_t* value, tfrt_bef_bytes_t* bytes) {
  return (uint32_t)encode(value, bytes);
}
