// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_codec.h"

#include <string.h>

#include "host_runtime/tensor/dense_host_tensor.h"

#define FIXED_HEADER_SIZE 8

_Static_assert(FIXED_HEADER_SIZE + 8 * TFRT_SHAPE_MAX_RANK <= TFRT_CODEC_MAX_HEADER_SIZE,
               "the header of any tensor fits");

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bodies are sent as they lie in memory, which needs a little-endian machine"
#endif

static void encode_header(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                          tfrt_encoding_t* out_encoding) {
  memset(out_encoding, 0, sizeof(*out_encoding));
  out_encoding->header[0] = (uint8_t)dtype;
  out_encoding->header[1] = (uint8_t)shape->rank;
  memcpy(out_encoding->header + FIXED_HEADER_SIZE, shape->dims, 8 * shape->rank);
  out_encoding->header_size = FIXED_HEADER_SIZE + 8 * shape->rank;
}

static tfrt_status_t decode_header(const uint8_t* header, size_t header_size,
                                   tfrt_dtype_t* out_dtype, tfrt_shape_t* out_shape) {
  memset(out_shape, 0, sizeof(*out_shape));
  *out_dtype = TFRT_DTYPE_INVALID;
  static const uint8_t zeros[FIXED_HEADER_SIZE - 2] = {0};
  if (header_size < FIXED_HEADER_SIZE || memcmp(header + 2, zeros, sizeof(zeros)) != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%zu bytes are not the header of a tensor", header_size);
  }
  size_t rank = header[1];
  if (rank > TFRT_SHAPE_MAX_RANK || header_size != FIXED_HEADER_SIZE + 8 * rank) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a tensor's header of %zu bytes says that the rank is %zu",
                              header_size, rank);
  }
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  memcpy(dims, header + FIXED_HEADER_SIZE, 8 * rank);
  *out_dtype = (tfrt_dtype_t)header[0];
  return tfrt_shape_make(dims, rank, out_shape);
}

static tfrt_status_t encode_tensor(const void* payload, tfrt_encoding_t* out_encoding) {
  const tfrt_dense_host_tensor_t* tensor = payload;
  encode_header(tensor->dtype, &tensor->shape, out_encoding);
  out_encoding->body = tfrt_dense_host_tensor_data(tensor);
  out_encoding->body_size = tfrt_dense_host_tensor_size(tensor);
  return NULL;
}

static tfrt_status_t decode_tensor(const uint8_t* header, size_t header_size, size_t body_size,
                                   tfrt_allocator_t allocator, void* payload, void** out_body) {
  *out_body = NULL;
  tfrt_dtype_t dtype;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(decode_header(header, header_size, &dtype, &shape));
  size_t size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, &shape, &size));
  if (size != body_size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a tensor of %s with the shape %s has %zu bytes, but %zu are "
                              "announced",
                              tfrt_dtype_name(dtype), tfrt_shape_text(&shape).text, size,
                              body_size);
  }
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(dtype, &shape, allocator, payload));
  *out_body = tfrt_dense_host_tensor_data(payload);
  return NULL;
}

// A bool in C with another value than 0 and 1 is undefined behaviour for its readers.
static tfrt_status_t complete_tensor(void* payload) {
  const tfrt_dense_host_tensor_t* tensor = payload;
  if (tensor->dtype != TFRT_DTYPE_I1) return NULL;
  const uint8_t* bytes = tfrt_dense_host_tensor_data(tensor);
  size_t size = tfrt_dense_host_tensor_size(tensor);
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] > 1) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "element %zu of a tensor of i1 is %d, not 0 or 1", i, bytes[i]);
    }
  }
  return NULL;
}

static tfrt_status_t encode_shape(const void* payload, tfrt_encoding_t* out_encoding) {
  encode_header(TFRT_DTYPE_INVALID, payload, out_encoding);
  return NULL;
}

static tfrt_status_t decode_shape(const uint8_t* header, size_t header_size, size_t body_size,
                                  tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)allocator;
  *out_body = NULL;
  tfrt_dtype_t dtype;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(decode_header(header, header_size, &dtype, &shape));
  if (dtype != TFRT_DTYPE_INVALID || body_size != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a shape has no dtype and no elements, but dtype %d and %zu bytes "
                              "are announced",
                              (int)dtype, body_size);
  }
  memcpy(payload, &shape, sizeof(shape));
  return NULL;
}

const tfrt_codec_t tfrt_dense_host_tensor_codec = {
    .encode = encode_tensor, .decode = decode_tensor, .complete = complete_tensor};

const tfrt_codec_t tfrt_shape_codec = {
    .encode = encode_shape, .decode = decode_shape, .complete = NULL};
