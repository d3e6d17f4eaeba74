// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/btf.h"

#include <inttypes.h>
#include <string.h>

#define RECORD_HEADER_SIZE 16
#define ALIGNMENT 8

enum { LAYOUT_DENSE = 0, LAYOUT_COO = 1 };

// The position is the code.
static const tfrt_dtype_t dtypes_by_code[] = {
    TFRT_DTYPE_I8,  TFRT_DTYPE_I16, TFRT_DTYPE_I32,  TFRT_DTYPE_I64,  TFRT_DTYPE_F32,
    TFRT_DTYPE_F64, TFRT_DTYPE_UI8, TFRT_DTYPE_UI16, TFRT_DTYPE_UI32, TFRT_DTYPE_UI64,
};

// A file, or the rest of one, behind what was read.
typedef struct cursor_s {
  const uint8_t* data;
  size_t size;
  size_t position;
} cursor_t;

static bool read_u64(cursor_t* cursor, uint64_t* out_value) {
  if (cursor->size - cursor->position < sizeof(*out_value)) return false;
  memcpy(out_value, cursor->data + cursor->position, sizeof(*out_value));
  cursor->position += sizeof(*out_value);
  return true;
}

static tfrt_status_t broken(const char* what, size_t position) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "not a good BTF file: %s at byte %zu",
                            what, position);
}

tfrt_status_t tfrt_btf_count(const tfrt_host_buffer_t* file, uint64_t* out_count) {
  *out_count = 0;
  cursor_t cursor = {file->data, file->size, 0};
  uint64_t count;
  if (!read_u64(&cursor, &count)) return broken("it ends in the number of tensors", file->size);
  if (count > (file->size - cursor.position) / sizeof(uint64_t)) {
    return broken("the table of offsets ends behind the file", sizeof(uint64_t));
  }
  for (uint64_t i = 0; i < count; ++i) {
    size_t position = cursor.position;
    uint64_t offset = 0;
    if (!read_u64(&cursor, &offset) || offset % ALIGNMENT != 0 || offset >= file->size) {
      return broken("an offset is not a multiple of 8 inside the file", position);
    }
  }
  *out_count = count;
  return NULL;
}

// Reads dtype, layout and shape of the record at |cursor|, which is left at its payload.
static tfrt_status_t read_header(cursor_t* cursor, tfrt_dtype_t* out_dtype, uint8_t* out_layout,
                                 tfrt_shape_t* out_shape) {
  *out_dtype = TFRT_DTYPE_INVALID;
  *out_layout = LAYOUT_DENSE;
  size_t start = cursor->position;
  uint64_t rank;
  uint64_t kinds;
  if (!read_u64(cursor, &rank) || !read_u64(cursor, &kinds)) {
    return broken("the file ends in a record", start);
  }
  uint8_t code = cursor->data[start + 8];
  if (code >= TFRT_ARRAY_SIZE(dtypes_by_code)) return broken("an unknown dtype", start + 8);
  if (cursor->data[start + 9] > LAYOUT_COO) {
    return broken("a layout other than dense row-major (0) and sparse (1)", start + 9);
  }
  if (rank > TFRT_SHAPE_MAX_RANK) return broken("a tensor with too many axes", start);
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  for (uint64_t i = 0; i < rank; ++i) {
    uint64_t dim;
    if (!read_u64(cursor, &dim)) return broken("the file ends in a shape", start);
    // A length beyond int64_t becomes negative, which the shape refuses.
    dims[i] = (int64_t)dim;
  }
  *out_dtype = dtypes_by_code[code];
  *out_layout = cursor->data[start + 9];
  tfrt_status_t status = tfrt_shape_make(dims, rank, out_shape);
  return tfrt_status_take_annotate(status, "not a good BTF file: the record at byte %zu", start);
}

// Makes a tensor on |file|, or a copy of its bytes where they are misaligned.
static tfrt_status_t make_tensor(tfrt_host_buffer_t* file, size_t position, tfrt_dtype_t dtype,
                                 const tfrt_shape_t* shape, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_tensor) {
  size_t size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, shape, &size));
  if (size > file->size - position) return broken("the file ends in the elements", position);
  if (((uintptr_t)file->data + position) % ALIGNMENT == 0) {
    return tfrt_dense_host_tensor_initialize_view(dtype, shape, file, position, out_tensor);
  }
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(dtype, shape, allocator, out_tensor));
  if (size > 0) {
    memcpy(tfrt_dense_host_tensor_data(out_tensor), (const char*)file->data + position, size);
  }
  return NULL;
}

// Copies |size| bytes at |cursor|, which moves behind them, to |target|.
static tfrt_status_t read_bytes(cursor_t* cursor, void* target, size_t size) {
  if (size > cursor->size - cursor->position) {
    return broken("the file ends in the elements of a sparse tensor", cursor->position);
  }
  if (size > 0) memcpy(target, cursor->data + cursor->position, size);
  cursor->position += size;
  return NULL;
}

// Fills in |tensor|, whose coordinates are next at |cursor|.
static tfrt_status_t read_listed(cursor_t* cursor, const tfrt_coo_host_tensor_t* tensor) {
  size_t count = (size_t)tensor->count;
  TFRT_RETURN_IF_ERROR(read_bytes(cursor, tfrt_coo_host_tensor_indices(tensor),
                                  count * tensor->shape.rank * sizeof(int64_t)));
  size_t start = cursor->position;
  uint64_t value_count;
  if (!read_u64(cursor, &value_count)) return broken("the file ends in a record", start);
  if (value_count != count) {
    return broken("a sparse tensor has not as many values as coordinates", start);
  }
  TFRT_RETURN_IF_ERROR(read_bytes(cursor, tfrt_coo_host_tensor_values(tensor),
                                  count * tfrt_dtype_size(tensor->dtype)));
  return tfrt_status_take_annotate(tfrt_coo_host_tensor_check(tensor),
                                   "not a good BTF file: the coordinates before byte %zu", start);
}

static tfrt_status_t read_coo(cursor_t* cursor, tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                              tfrt_allocator_t allocator, tfrt_coo_host_tensor_t* out_tensor) {
  size_t start = cursor->position;
  uint64_t count;
  uint64_t rank;
  if (!read_u64(cursor, &count) || !read_u64(cursor, &rank)) {
    return broken("the file ends in a record", start);
  }
  if (rank != shape->rank) {
    return broken("a sparse tensor has coordinates of another rank than its own", start);
  }
  // Before memory is asked for: the file must hold that number of elements.
  if (count > cursor->size - cursor->position) {
    return broken("the file ends in the elements of a sparse tensor", start);
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_coo_host_tensor_initialize(dtype, shape, (int64_t)count, allocator, out_tensor));
  tfrt_status_t status = read_listed(cursor, out_tensor);
  if (status) tfrt_coo_host_tensor_deinitialize(out_tensor);
  return status;
}

tfrt_status_t tfrt_btf_read_any(tfrt_host_buffer_t* file, uint64_t index,
                                tfrt_allocator_t allocator, tfrt_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  uint64_t count;
  TFRT_RETURN_IF_ERROR(tfrt_btf_count(file, &count));
  if (index >= count) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "tensor %" PRIu64 " is asked for, but the BTF file has %" PRIu64,
                              index, count);
  }
  cursor_t cursor = {file->data, file->size, (size_t)(1 + index) * sizeof(uint64_t)};
  uint64_t offset = 0;
  if (!read_u64(&cursor, &offset)) return broken("the table of offsets ends", cursor.position);
  cursor.position = (size_t)offset;
  tfrt_dtype_t dtype;
  uint8_t layout;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(read_header(&cursor, &dtype, &layout, &shape));
  if (layout == LAYOUT_COO) {
    out_tensor->layout = TFRT_TENSOR_LAYOUT_COO;
    return read_coo(&cursor, dtype, &shape, allocator, &out_tensor->coo);
  }
  return make_tensor(file, cursor.position, dtype, &shape, allocator, &out_tensor->dense);
}

tfrt_status_t tfrt_btf_read(tfrt_host_buffer_t* file, uint64_t index, tfrt_allocator_t allocator,
                            tfrt_dense_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  tfrt_host_tensor_t tensor;
  TFRT_RETURN_IF_ERROR(tfrt_btf_read_any(file, index, allocator, &tensor));
  if (tensor.layout == TFRT_TENSOR_LAYOUT_DENSE) {
    *out_tensor = tensor.dense;
    return NULL;
  }
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT, "tensor %" PRIu64 " of the BTF file, %s %s, is not dense",
      index, tfrt_dtype_name(tensor.coo.dtype), tfrt_shape_text(&tensor.coo.shape).text);
  tfrt_host_tensor_deinitialize(&tensor);
  return status;
}

// --- Writing -----------------------------------------------------------------------

static void append_u64(tfrt_string_builder_t* out, uint64_t value) {
  tfrt_string_builder_append(out, &value, sizeof(value));
}

static size_t padded(size_t size) { return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static bool find_code(tfrt_dtype_t dtype, uint8_t* out_code) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(dtypes_by_code); ++i) {
    *out_code = (uint8_t)i;
    if (dtypes_by_code[i] == dtype) return true;
  }
  return false;
}

// The bytes behind the lengths of |tensor|, without what they are filled up with.
static size_t payload_size(const tfrt_host_tensor_t* tensor) {
  if (tensor->layout == TFRT_TENSOR_LAYOUT_DENSE) {
    return tfrt_dense_host_tensor_size(&tensor->dense);
  }
  const tfrt_coo_host_tensor_t* coo = &tensor->coo;
  return 3 * sizeof(uint64_t) +
         (size_t)coo->count * (coo->shape.rank * sizeof(int64_t) + tfrt_dtype_size(coo->dtype));
}

static void append_coo(const tfrt_coo_host_tensor_t* coo, tfrt_string_builder_t* out) {
  append_u64(out, (uint64_t)coo->count);
  append_u64(out, coo->shape.rank);
  int64_t index[TFRT_SHAPE_MAX_RANK];
  for (int64_t i = 0; i < coo->count; ++i) {
    tfrt_coo_host_tensor_index(coo, i, index);
    tfrt_string_builder_append(out, index, coo->shape.rank * sizeof(*index));
  }
  append_u64(out, (uint64_t)coo->count);
  tfrt_string_builder_append(out, tfrt_coo_host_tensor_values(coo),
                             (size_t)coo->count * tfrt_dtype_size(coo->dtype));
}

static void append_record(const tfrt_host_tensor_t* tensor, uint8_t code,
                          tfrt_string_builder_t* out) {
  bool is_dense = tensor->layout == TFRT_TENSOR_LAYOUT_DENSE;
  const uint8_t kinds[8] = {code, is_dense ? LAYOUT_DENSE : LAYOUT_COO};
  const tfrt_shape_t* shape = tfrt_host_tensor_shape(tensor);
  append_u64(out, shape->rank);
  tfrt_string_builder_append(out, kinds, sizeof(kinds));
  for (uint32_t i = 0; i < shape->rank; ++i) append_u64(out, (uint64_t)shape->dims[i]);
  size_t size = payload_size(tensor);
  if (is_dense) {
    tfrt_string_builder_append(out, tfrt_dense_host_tensor_data(&tensor->dense), size);
  } else {
    append_coo(&tensor->coo, out);
  }
  tfrt_string_builder_append_fill(out, 0, padded(size) - size);
}

tfrt_status_t tfrt_btf_write(const tfrt_host_tensor_t* tensors, size_t count,
                             tfrt_string_builder_t* out) {
  uint8_t code;
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i].layout != TFRT_TENSOR_LAYOUT_DENSE &&
        tensors[i].layout != TFRT_TENSOR_LAYOUT_COO) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "a BTF file cannot hold tensor %zu: it is a %s", i,
                                tfrt_tensor_layout_name(tensors[i].layout));
    }
    tfrt_dtype_t dtype = tfrt_host_tensor_dtype(&tensors[i]);
    if (!find_code(dtype, &code)) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "a BTF file cannot hold tensor %zu: it is of %s", i,
                                tfrt_dtype_name(dtype));
    }
  }
  append_u64(out, count);
  size_t offset = (1 + count) * sizeof(uint64_t);
  for (size_t i = 0; i < count; ++i) {
    append_u64(out, offset);
    offset += RECORD_HEADER_SIZE + sizeof(uint64_t) * tfrt_host_tensor_shape(&tensors[i])->rank +
              padded(payload_size(&tensors[i]));
  }
  for (size_t i = 0; i < count; ++i) {
    if (find_code(tfrt_host_tensor_dtype(&tensors[i]), &code))
      append_record(&tensors[i], code, out);
  }
  return tfrt_string_builder_status(out);
}
