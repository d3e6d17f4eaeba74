// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/idx.h"

#include <string.h>

#define MAGIC_SIZE 4

static tfrt_dtype_t dtype_of_code(uint8_t code) {
  switch (code) {
    case 0x08:
      return TFRT_DTYPE_UI8;
    case 0x09:
      return TFRT_DTYPE_I8;
    case 0x0B:
      return TFRT_DTYPE_I16;
    case 0x0C:
      return TFRT_DTYPE_I32;
    case 0x0D:
      return TFRT_DTYPE_F32;
    case 0x0E:
      return TFRT_DTYPE_F64;
    default:
      return TFRT_DTYPE_INVALID;
  }
}

bool tfrt_idx_matches(const uint8_t* data, size_t size) {
  return size >= MAGIC_SIZE && data[0] == 0 && data[1] == 0 &&
         dtype_of_code(data[2]) != TFRT_DTYPE_INVALID && data[3] > 0;
}

static tfrt_status_t read_shape(const uint8_t* data, size_t size, tfrt_shape_t* out_shape) {
  memset(out_shape, 0, sizeof(*out_shape));
  if (!tfrt_idx_matches(data, size)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "not an idx file: it begins with no known magic number (0, 0, type, "
                              "number of axes)");
  }
  size_t rank = data[3];
  if (rank > TFRT_SHAPE_MAX_RANK || size < MAGIC_SIZE + 4 * rank) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "not a good idx file: %zu axes in %zu bytes (at most %d axes)", rank,
                              size, TFRT_SHAPE_MAX_RANK);
  }
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  for (size_t i = 0; i < rank; ++i) {
    const uint8_t* dim = data + MAGIC_SIZE + 4 * i;
    dims[i] = (int64_t)dim[0] << 24 | dim[1] << 16 | dim[2] << 8 | dim[3];
  }
  return tfrt_shape_make(dims, rank, out_shape);
}

// Copies |size| bytes, turning round each |element_size| of them.
static void copy_turned(uint8_t* target, const uint8_t* source, size_t size, size_t element_size) {
  for (size_t i = 0; i < size; i += element_size) {
    for (size_t j = 0; j < element_size; ++j) target[i + j] = source[i + element_size - 1 - j];
  }
}

tfrt_status_t tfrt_idx_read(const uint8_t* data, size_t size, tfrt_allocator_t allocator,
                            tfrt_dense_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(read_shape(data, size, &shape));
  tfrt_dtype_t dtype = dtype_of_code(data[2]);
  size_t body_size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, &shape, &body_size));
  size_t header_size = MAGIC_SIZE + 4 * shape.rank;
  // Before memory is asked for: a short file can't make us ask for a lot.
  if (size - header_size != body_size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "not a good idx file: %zu bytes of elements, but %s with the shape "
                              "%s needs %zu",
                              size - header_size, tfrt_dtype_name(dtype),
                              tfrt_shape_text(&shape).text, body_size);
  }
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(dtype, &shape, allocator, out_tensor));
  uint8_t* body = tfrt_dense_host_tensor_data(out_tensor);
  size_t element_size = tfrt_dtype_size(dtype);
  if (body_size > 0 && element_size == 1) {
    memcpy(body, data + header_size, body_size);
  } else {
    copy_turned(body, data + header_size, body_size, element_size);
  }
  return NULL;
}
