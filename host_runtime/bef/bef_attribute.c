// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_attribute.h"

#include <inttypes.h>

#include "host_runtime/bef/bef_cursor.h"

// Byte positions in the values that begin with a header.
enum {
  HEADER_DTYPE = 1,
  HEADER_TOTAL_SIZE = 4,
  SHAPE_RANK = 8,
  SHAPE_DIMS = 12,
  DENSE_DATA_OFFSET = 8,
  DENSE_ELEMENT_COUNT = 12,
  DENSE_RANK = 16,
  DENSE_DIMS = 20,
  AGGREGATE_COUNT = 8,
  AGGREGATE_OFFSETS = 12,
};

// A value that is being checked.
typedef struct value_s {
  const uint8_t* section;
  size_t offset;
  size_t left;  // bytes from there to the end of the section, or of what contains it
  tfrt_bef_attribute_type_t type;
} value_t;

static const uint8_t* value_data(const value_t* value) { return value->section + value->offset; }

static uint32_t read_u32(const value_t* value, size_t position) {
  return tfrt_bef_attribute_read_u32(value_data(value) + position);
}

static tfrt_status_t value_error(const value_t* value, const char* problem) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "attribute at offset 0x%zx: no %s: %s",
                            value->offset, tfrt_bef_attribute_type_name(value->type), problem);
}

// The value has |size| bytes, and byte |position| of it is aligned to |alignment| in memory.
static tfrt_status_t expect(const value_t* value, uint64_t size, size_t position,
                            size_t alignment) {
  if (size > value->left) return value_error(value, "it goes beyond its section");
  if (((uintptr_t)value_data(value) + position) % alignment != 0) {
    return value_error(value, "it is not aligned");
  }
  return NULL;
}

// The value has a header with a total size of at least |minimum|, which fits.
static tfrt_status_t expect_header(value_t* value, size_t minimum) {
  TFRT_RETURN_IF_ERROR(expect(value, minimum, 0, sizeof(uint32_t)));
  uint32_t total = read_u32(value, HEADER_TOTAL_SIZE);
  if (total < minimum) return value_error(value, "its total size is too small");
  TFRT_RETURN_IF_ERROR(expect(value, total, 0, sizeof(uint32_t)));
  value->left = total;
  return NULL;
}

// The value is a lone 0, as empty arrays and unranked shapes are.
static bool is_empty(const value_t* value) {
  return value->left >= sizeof(uint32_t) && read_u32(value, 0) == 0;
}

static tfrt_status_t check_scalar(const value_t* value) {
  size_t size = tfrt_bef_dtype_size(value->type);
  if (size == 0) return value_error(value, "the type has no values");
  TFRT_RETURN_IF_ERROR(expect(value, size, 0, tfrt_bef_dtype_alignment(value->type)));
  if (value->type == TFRT_BEF_DTYPE_I1 && *value_data(value) > 1) {
    return value_error(value, "neither 0 nor 1");
  }
  return NULL;
}

static tfrt_status_t check_dtype(const value_t* value) {
  TFRT_RETURN_IF_ERROR(expect(value, 1, 0, 1));
  uint8_t dtype = *value_data(value);
  if (dtype >= 1 && dtype <= TFRT_BEF_DTYPE_LAST) return NULL;
  return value_error(value, "the code is out of range");
}

static tfrt_status_t check_string(const value_t* value) {
  TFRT_RETURN_IF_ERROR(expect(value, sizeof(uint32_t), 0, sizeof(uint32_t)));
  return expect(value, (uint64_t)read_u32(value, 0) + sizeof(uint32_t), 0, 1);
}

static tfrt_status_t check_array(const value_t* value) {
  uint32_t element = value->type & ~TFRT_BEF_ATTRIBUTE_ARRAY_BIT;
  bool is_type = element == TFRT_BEF_ATTRIBUTE_TYPE;
  size_t size = is_type ? 1 : tfrt_bef_dtype_size(element);
  size_t alignment = is_type ? 1 : tfrt_bef_dtype_alignment(element);
  if (size == 0) return value_error(value, "elements have no fixed size");
  TFRT_RETURN_IF_ERROR(expect(value, sizeof(uint32_t), 0, sizeof(uint32_t)));
  uint64_t count = read_u32(value, 0);
  if (count == 0) return NULL;
  return expect(value, sizeof(uint32_t) + count * size, sizeof(uint32_t), alignment);
}

// The dims of |rank| at |position| fit, are aligned and at least |minimum|.
static tfrt_status_t check_dims(const value_t* value, size_t position, uint32_t rank,
                                int64_t minimum) {
  uint64_t size = position + (uint64_t)rank * sizeof(int64_t);
  TFRT_RETURN_IF_ERROR(expect(value, size, position, rank > 0 ? sizeof(int64_t) : 1));
  for (uint32_t i = 0; i < rank; ++i) {
    size_t place = position + (size_t)i * sizeof(int64_t);
    if ((int64_t)tfrt_bef_attribute_read_u64(value_data(value) + place) < minimum) {
      return value_error(value, "a dimension is negative");
    }
  }
  return NULL;
}

static tfrt_status_t check_shape(value_t value) {
  if (is_empty(&value)) return expect(&value, sizeof(uint32_t), 0, sizeof(uint32_t));
  TFRT_RETURN_IF_ERROR(expect_header(&value, SHAPE_DIMS));
  return check_dims(&value, SHAPE_DIMS, read_u32(&value, SHAPE_RANK), -1);
}

static tfrt_status_t check_dense(value_t value) {
  TFRT_RETURN_IF_ERROR(expect_header(&value, DENSE_DIMS));
  uint32_t rank = read_u32(&value, DENSE_RANK);
  TFRT_RETURN_IF_ERROR(check_dims(&value, DENSE_DIMS, rank, 0));
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    size_t place = DENSE_DIMS + (size_t)i * sizeof(int64_t);
    uint64_t dim = tfrt_bef_attribute_read_u64(value_data(&value) + place);
    if (__builtin_mul_overflow(count, dim, &count)) return value_error(&value, "it is too large");
  }
  size_t element_size = tfrt_bef_dtype_size(value_data(&value)[HEADER_DTYPE]);
  if (element_size == 0) return value_error(&value, "elements have no fixed size");
  if (count != read_u32(&value, DENSE_ELEMENT_COUNT)) {
    return value_error(&value, "the number of elements is not the product of the dimensions");
  }
  uint64_t data_offset = read_u32(&value, DENSE_DATA_OFFSET);
  if (data_offset < DENSE_DIMS + (uint64_t)rank * sizeof(int64_t)) {
    return value_error(&value, "its data begin before its dimensions end");
  }
  size_t alignment = tfrt_bef_dtype_alignment(value_data(&value)[HEADER_DTYPE]);
  return expect(&value, data_offset + count * element_size, (size_t)data_offset, alignment);
}

static tfrt_status_t check_value(value_t value, uint32_t depth);

// Elements follow each other without overlap, so that checking stays linear.
static tfrt_status_t check_aggregate(value_t value, uint32_t depth) {
  if (is_empty(&value)) return expect(&value, sizeof(uint32_t), 0, sizeof(uint32_t));
  if (depth >= TFRT_BEF_MAX_ATTRIBUTE_DEPTH) return value_error(&value, "nested too deeply");
  TFRT_RETURN_IF_ERROR(expect_header(&value, AGGREGATE_OFFSETS));
  uint32_t count = read_u32(&value, AGGREGATE_COUNT);
  uint64_t end = AGGREGATE_OFFSETS + (uint64_t)count * sizeof(uint32_t);
  TFRT_RETURN_IF_ERROR(expect(&value, end, 0, 1));
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t place = read_u32(&value, AGGREGATE_OFFSETS + (size_t)i * sizeof(uint32_t));
    if (place <= end || place >= value.left) {
      return value_error(&value, "an element is not behind the one before it, or outside");
    }
    value_t element = {
        .section = value.section,
        .offset = value.offset + place,
        .left = value.left - place,
        .type = value_data(&value)[place - 1],
    };
    TFRT_RETURN_IF_ERROR(check_value(element, depth + 1));
    // One byte before the next element is its type.
    end = place + tfrt_bef_attribute_size(value_data(&element), element.type);
  }
  return NULL;
}

// The lengths that a symbol begins with, as a cursor behind them and the size of the rest.
static tfrt_status_t read_symbol(const uint8_t* data, size_t left, tfrt_bef_cursor_t* cursor,
                                 uint64_t* out_size) {
  uint64_t id;
  uint32_t length;
  uint32_t depth;
  *out_size = 0;
  *cursor = (tfrt_bef_cursor_t){
      .image = data,
      .position = data,
      .end = data + left,
      .section = "Attributes",
      .function = TFRT_BEF_NO_INDEX,
      .kernel = TFRT_BEF_NO_INDEX,
  };
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_vbr(cursor, &id));
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "length of a symbol", &length));
  *out_size += length;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_count(cursor, "depth of a symbol", 1, &depth));
  for (uint32_t i = 0; i < depth; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "length of a symbol", &length));
    *out_size += length;
  }
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "length of a module", &length));
  *out_size += (uint64_t)length + 1;
  return NULL;
}

static tfrt_status_t check_symbol(const value_t* value) {
  tfrt_bef_cursor_t cursor;
  uint64_t size;
  tfrt_status_t status = read_symbol(value_data(value), value->left, &cursor, &size);
  bool good = !status && size <= tfrt_bef_cursor_left(&cursor) && cursor.position[size - 1] == 0;
  tfrt_status_release(status);
  return good ? NULL : value_error(value, "its names and text are not whole");
}

static tfrt_status_t check_value(value_t value, uint32_t depth) {
  if (value.type & TFRT_BEF_ATTRIBUTE_ARRAY_BIT) return check_array(&value);
  switch (value.type) {
    case TFRT_BEF_DTYPE_STRING:
      return check_string(&value);
    case TFRT_BEF_ATTRIBUTE_TYPE:
      return check_dtype(&value);
    case TFRT_BEF_ATTRIBUTE_SHAPE:
      return check_shape(value);
    case TFRT_BEF_ATTRIBUTE_DENSE:
      return check_dense(value);
    case TFRT_BEF_ATTRIBUTE_SYMBOL:
      return check_symbol(&value);
    case TFRT_BEF_ATTRIBUTE_AGGREGATE:
      return check_aggregate(value, depth);
    default:
      return check_scalar(&value);
  }
}

tfrt_status_t tfrt_bef_attribute_check(const uint8_t* section, size_t section_size, uint32_t offset,
                                       tfrt_bef_attribute_type_t type) {
  value_t value = {.section = section, .offset = offset, .type = type};
  if (offset >= section_size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "attribute at offset 0x%" PRIx32 ": the section has %zu bytes",
                              offset, section_size);
  }
  value.left = section_size - offset;
  return check_value(value, 0);
}

size_t tfrt_bef_attribute_size(const void* attribute, tfrt_bef_attribute_type_t type) {
  uint32_t word = 0;
  if (type & TFRT_BEF_ATTRIBUTE_ARRAY_BIT) {
    uint32_t element = type & ~TFRT_BEF_ATTRIBUTE_ARRAY_BIT;
    size_t size = element == TFRT_BEF_ATTRIBUTE_TYPE ? 1 : tfrt_bef_dtype_size(element);
    return sizeof(word) + tfrt_bef_attribute_read_u32(attribute) * size;
  }
  switch (type) {
    case TFRT_BEF_DTYPE_STRING:
      return sizeof(word) + tfrt_bef_attribute_read_u32(attribute);
    case TFRT_BEF_ATTRIBUTE_TYPE:
      return 1;
    case TFRT_BEF_ATTRIBUTE_SHAPE:
    case TFRT_BEF_ATTRIBUTE_DENSE:
    case TFRT_BEF_ATTRIBUTE_AGGREGATE:
      if (tfrt_bef_attribute_read_u32(attribute) == 0) return sizeof(word);
      return tfrt_bef_attribute_read_u32((const char*)attribute + HEADER_TOTAL_SIZE);
    case TFRT_BEF_ATTRIBUTE_SYMBOL: {
      tfrt_bef_cursor_t cursor;
      uint64_t size;
      // Checked before: the cursor stops long before this end.
      tfrt_status_release(read_symbol(attribute, UINT32_MAX, &cursor, &size));
      return (size_t)(cursor.position - (const uint8_t*)attribute) + (size_t)size;
    }
    default:
      return tfrt_bef_dtype_size(type);
  }
}

tfrt_bef_shape_t tfrt_bef_attribute_shape(const void* attribute) {
  const char* data = attribute;
  if (tfrt_bef_attribute_read_u32(data) == 0) return (tfrt_bef_shape_t){.ranked = false};
  return (tfrt_bef_shape_t){
      .ranked = true,
      .rank = tfrt_bef_attribute_read_u32(data + SHAPE_RANK),
      .dims = (const int64_t*)(const void*)(data + SHAPE_DIMS),
  };
}

tfrt_bef_dense_t tfrt_bef_attribute_dense(const void* attribute) {
  const char* data = attribute;
  tfrt_bef_dtype_t dtype = (tfrt_bef_dtype_t)(uint8_t)data[HEADER_DTYPE];
  uint64_t count = tfrt_bef_attribute_read_u32(data + DENSE_ELEMENT_COUNT);
  return (tfrt_bef_dense_t){
      .dtype = dtype,
      .rank = tfrt_bef_attribute_read_u32(data + DENSE_RANK),
      .dims = (const int64_t*)(const void*)(data + DENSE_DIMS),
      .element_count = count,
      .data = data + tfrt_bef_attribute_read_u32(data + DENSE_DATA_OFFSET),
      .data_size = (size_t)count * tfrt_bef_dtype_size(dtype),
  };
}

uint32_t tfrt_bef_attribute_aggregate_count(const void* attribute) {
  if (tfrt_bef_attribute_read_u32(attribute) == 0) return 0;
  return tfrt_bef_attribute_read_u32((const char*)attribute + AGGREGATE_COUNT);
}

const void* tfrt_bef_attribute_aggregate_element(const void* attribute, uint32_t index,
                                                 tfrt_bef_attribute_type_t* out_type) {
  const uint8_t* data = attribute;
  const uint8_t* element = data + tfrt_bef_attribute_read_u32(data + AGGREGATE_OFFSETS +
                                                              (size_t)index * sizeof(uint32_t));
  *out_type = element[-1];
  return element;
}

const char* tfrt_bef_attribute_type_name(tfrt_bef_attribute_type_t type) {
  static const char* const kNames[] = {
      "invalid", "ui8",    "ui16",      "ui32",        "ui64",    "i1",        "i8",
      "i16",     "i32",    "i64",       "f32",         "f64",     "complex64", "complex128",
      "f16",     "bf16",   "string",    "resource",    "variant", "qui8",      "qui16",
      "qi8",     "qi16",   "qi32",      "unsupported", "type",    "function",  "shape",
      "dense",   "symbol", "aggregate",
  };
  static const char* const kArrayNames[] = {
      "array",         "array of ui8", "array of ui16",      "array of ui32",       "array of ui64",
      "array of i1",   "array of i8",  "array of i16",       "array of i32",        "array of i64",
      "array of f32",  "array of f64", "array of complex64", "array of complex128", "array of f16",
      "array of bf16",
  };
  size_t element = type & 0x7Fu;
  if (!(type & TFRT_BEF_ATTRIBUTE_ARRAY_BIT)) {
    return element < TFRT_ARRAY_SIZE(kNames) ? kNames[element] : "unknown type";
  }
  if (element == TFRT_BEF_ATTRIBUTE_TYPE) return "array of types";
  return element < TFRT_ARRAY_SIZE(kArrayNames) ? kArrayNames[element] : "array";
}
