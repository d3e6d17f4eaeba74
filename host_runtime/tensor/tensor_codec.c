// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_codec.h"

#include <string.h>

#include "host_runtime/tensor/host_tensor.h"
#include "host_runtime/tensor/partial_shape.h"
#include "host_runtime/tensor/tensor_type.h"

#define FIXED_HEADER_SIZE 8

_Static_assert(FIXED_HEADER_SIZE + 8 * TFRT_SHAPE_MAX_RANK + 8 <= TFRT_CODEC_MAX_HEADER_SIZE,
               "the header of any tensor fits");

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bodies are sent as they lie in memory, which needs a little-endian machine"
#endif

// The fields of a header.
typedef struct header_s {
  tfrt_dtype_t dtype;
  uint8_t layout;
  uint8_t reversed;
  uint32_t rank;
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  int64_t count;
} header_t;

static void encode_header(tfrt_dtype_t dtype, uint8_t layout, const int64_t* dims, uint32_t rank,
                          tfrt_encoding_t* out_encoding) {
  memset(out_encoding, 0, sizeof(*out_encoding));
  out_encoding->header[0] = (uint8_t)dtype;
  out_encoding->header[1] = (uint8_t)rank;
  out_encoding->header[2] = layout;
  memcpy(out_encoding->header + FIXED_HEADER_SIZE, dims, 8 * rank);
  out_encoding->header_size = FIXED_HEADER_SIZE + 8 * rank;
}

static tfrt_status_t decode_header(const uint8_t* bytes, size_t size, header_t* out_header) {
  memset(out_header, 0, sizeof(*out_header));
  static const uint8_t zeros[FIXED_HEADER_SIZE - 4] = {0};
  if (size < FIXED_HEADER_SIZE || bytes[2] > TFRT_TENSOR_LAYOUT_SCALAR ||
      bytes[3] > (bytes[2] == TFRT_TENSOR_LAYOUT_COO) ||
      memcmp(bytes + 4, zeros, sizeof(zeros)) != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%zu bytes are not the header of a tensor", size);
  }
  size_t rank = bytes[1];
  // A shape's layout says whether it is ranked; only tensors have a dtype.
  bool is_sparse = bytes[0] != TFRT_DTYPE_INVALID && bytes[2] == TFRT_TENSOR_LAYOUT_COO;
  if (rank > TFRT_SHAPE_MAX_RANK || size != FIXED_HEADER_SIZE + 8 * (rank + is_sparse)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a tensor's header of %zu bytes says that the rank is %zu", size,
                              rank);
  }
  out_header->dtype = (tfrt_dtype_t)bytes[0];
  out_header->layout = bytes[2];
  out_header->reversed = bytes[3];
  out_header->rank = (uint32_t)rank;
  memcpy(out_header->dims, bytes + FIXED_HEADER_SIZE, 8 * rank);
  if (is_sparse) memcpy(&out_header->count, bytes + FIXED_HEADER_SIZE + 8 * rank, 8);
  return NULL;
}

// --- Tensors ---------------------------------------------------------------------

static tfrt_status_t encode_tensor(const void* payload, tfrt_encoding_t* out_encoding) {
  const tfrt_host_tensor_t* tensor = payload;
  if (tensor->layout == TFRT_TENSOR_LAYOUT_FOREIGN) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "a tensor of the type %s can't leave its host; convert it to another "
                              "type first",
                              tfrt_tensor_type_name(tfrt_tensor_type_of(tensor)));
  }
  const tfrt_shape_t* shape = tfrt_host_tensor_shape(tensor);
  encode_header(tfrt_host_tensor_dtype(tensor), (uint8_t)tensor->layout, shape->dims, shape->rank,
                out_encoding);
  switch (tensor->layout) {
    case TFRT_TENSOR_LAYOUT_COO:
      out_encoding->header[3] = tensor->coo.reversed;
      memcpy(out_encoding->header + out_encoding->header_size, &tensor->coo.count, 8);
      out_encoding->header_size += 8;
      out_encoding->body = tensor->coo.buffer->data;
      out_encoding->body_size = tensor->coo.buffer->size;
      break;
    case TFRT_TENSOR_LAYOUT_STRING:
      out_encoding->body = tensor->string.buffer->data;
      out_encoding->body_size = tensor->string.buffer->size;
      break;
    case TFRT_TENSOR_LAYOUT_SCALAR:
      out_encoding->body = tensor->scalar.value;
      out_encoding->body_size = tfrt_dtype_size(tensor->scalar.dtype);
      break;
    default:
      out_encoding->body = tfrt_dense_host_tensor_data(&tensor->dense);
      out_encoding->body_size = tfrt_dense_host_tensor_size(&tensor->dense);
      break;
  }
  return NULL;
}

static tfrt_status_t check_body_size(const header_t* header, const tfrt_shape_t* shape,
                                     size_t expected, size_t body_size) {
  if (expected == body_size) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a tensor of %s with the shape %s has %zu bytes, but %zu are "
                            "announced",
                            tfrt_dtype_name(header->dtype), tfrt_shape_text(shape).text, expected,
                            body_size);
}

static tfrt_status_t decode_coo(const header_t* header, const tfrt_shape_t* shape, size_t body_size,
                                tfrt_allocator_t allocator, tfrt_coo_host_tensor_t* out_tensor) {
  size_t size;
  TFRT_RETURN_IF_ERROR(
      tfrt_coo_host_tensor_compute_size(header->dtype, shape, header->count, &size));
  TFRT_RETURN_IF_ERROR(check_body_size(header, shape, size, body_size));
  TFRT_RETURN_IF_ERROR(
      tfrt_coo_host_tensor_initialize(header->dtype, shape, header->count, allocator, out_tensor));
  out_tensor->reversed = header->reversed;
  return NULL;
}

static tfrt_status_t decode_dense(const header_t* header, const tfrt_shape_t* shape,
                                  size_t body_size, tfrt_allocator_t allocator,
                                  tfrt_dense_host_tensor_t* out_tensor) {
  size_t size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(header->dtype, shape, &size));
  TFRT_RETURN_IF_ERROR(check_body_size(header, shape, size, body_size));
  return tfrt_dense_host_tensor_initialize(header->dtype, shape, allocator, out_tensor);
}

static tfrt_status_t decode_scalar(const header_t* header, const tfrt_shape_t* shape,
                                   size_t body_size, tfrt_scalar_host_tensor_t* out_tensor) {
  // The value comes later, into the same bytes.
  static const unsigned char none[TFRT_SCALAR_HOST_TENSOR_VALUE_SIZE];
  TFRT_RETURN_IF_ERROR(tfrt_scalar_host_tensor_make(header->dtype, shape, none, out_tensor));
  if (body_size == tfrt_dtype_size(header->dtype)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a ScalarHostTensor of %s has one element, but %zu bytes are announced",
                            tfrt_dtype_name(header->dtype), body_size);
}

static tfrt_status_t decode_tensor(const uint8_t* bytes, size_t header_size, size_t body_size,
                                   tfrt_allocator_t allocator, void* payload, void** out_body) {
  *out_body = NULL;
  tfrt_host_tensor_t* tensor = payload;
  header_t header;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(decode_header(bytes, header_size, &header));
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(header.dims, header.rank, &shape));
  tensor->layout = (tfrt_tensor_layout_t)header.layout;
  if ((header.dtype == TFRT_DTYPE_STRING) != (header.layout == TFRT_TENSOR_LAYOUT_STRING)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a %s of %s is announced",
                              tfrt_tensor_layout_name(tensor->layout),
                              tfrt_dtype_name(header.dtype));
  }
  switch (tensor->layout) {
    case TFRT_TENSOR_LAYOUT_COO:
      TFRT_RETURN_IF_ERROR(decode_coo(&header, &shape, body_size, allocator, &tensor->coo));
      *out_body = tensor->coo.buffer->data;
      return NULL;
    case TFRT_TENSOR_LAYOUT_STRING:
      TFRT_RETURN_IF_ERROR(
          tfrt_string_host_tensor_initialize_empty(&shape, body_size, allocator, &tensor->string));
      *out_body = tensor->string.buffer->data;
      return NULL;
    case TFRT_TENSOR_LAYOUT_SCALAR:
      TFRT_RETURN_IF_ERROR(decode_scalar(&header, &shape, body_size, &tensor->scalar));
      *out_body = tensor->scalar.value;
      return NULL;
    default:
      TFRT_RETURN_IF_ERROR(decode_dense(&header, &shape, body_size, allocator, &tensor->dense));
      *out_body = tfrt_dense_host_tensor_data(&tensor->dense);
      return NULL;
  }
}

// A bool in C with another value than 0 and 1 is undefined behaviour for its readers.
static tfrt_status_t check_truth_values(const uint8_t* bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (bytes[i] > 1) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "element %zu of a tensor of i1 is %d, not 0 or 1", (size_t)i,
                                bytes[i]);
    }
  }
  return NULL;
}

static tfrt_status_t complete_tensor(void* payload) {
  const tfrt_host_tensor_t* tensor = payload;
  bool is_i1 = tfrt_host_tensor_dtype(tensor) == TFRT_DTYPE_I1;
  switch (tensor->layout) {
    case TFRT_TENSOR_LAYOUT_COO:
      if (is_i1) {
        TFRT_RETURN_IF_ERROR(
            check_truth_values(tfrt_coo_host_tensor_values(&tensor->coo), tensor->coo.count));
      }
      return tfrt_coo_host_tensor_check(&tensor->coo);
    case TFRT_TENSOR_LAYOUT_STRING:
      return tfrt_string_host_tensor_check(&tensor->string);
    case TFRT_TENSOR_LAYOUT_SCALAR:
      return is_i1 ? check_truth_values(tensor->scalar.value, 1) : NULL;
    default:
      if (!is_i1) return NULL;
      return check_truth_values(tfrt_dense_host_tensor_data(&tensor->dense),
                                tfrt_dense_host_tensor_element_count(&tensor->dense));
  }
}

const tfrt_codec_t tfrt_host_tensor_codec = {
    .encode = encode_tensor, .decode = decode_tensor, .complete = complete_tensor};

// --- Headers alone ---------------------------------------------------------------

void tfrt_tensor_header_encode(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                               tfrt_encoding_t* out_encoding) {
  encode_header(dtype, TFRT_TENSOR_LAYOUT_DENSE, shape->dims, shape->rank, out_encoding);
}

tfrt_status_t tfrt_tensor_header_decode(const uint8_t* bytes, size_t header_size, size_t body_size,
                                        tfrt_dtype_t* out_dtype, tfrt_shape_t* out_shape) {
  header_t header;
  size_t size;
  TFRT_RETURN_IF_ERROR(decode_header(bytes, header_size, &header));
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(header.dims, header.rank, out_shape));
  if (header.layout != TFRT_TENSOR_LAYOUT_DENSE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a dense tensor is announced as a %s",
                              tfrt_tensor_layout_name((tfrt_tensor_layout_t)header.layout));
  }
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(header.dtype, out_shape, &size));
  *out_dtype = header.dtype;
  return check_body_size(&header, out_shape, size, body_size);
}

// --- Shapes ----------------------------------------------------------------------

// Decodes the header of a shape, which has no body.
static tfrt_status_t decode_bare_header(const uint8_t* bytes, size_t header_size, size_t body_size,
                                        uint8_t max_layout, header_t* out_header) {
  TFRT_RETURN_IF_ERROR(decode_header(bytes, header_size, out_header));
  if (out_header->dtype == TFRT_DTYPE_INVALID && body_size == 0 && out_header->reversed == 0 &&
      out_header->layout <= max_layout) {
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a shape has no dtype and no elements, but dtype %d and %zu bytes "
                            "are announced",
                            (int)out_header->dtype, body_size);
}

static tfrt_status_t encode_shape(const void* payload, tfrt_encoding_t* out_encoding) {
  const tfrt_shape_t* shape = payload;
  encode_header(TFRT_DTYPE_INVALID, 0, shape->dims, shape->rank, out_encoding);
  return NULL;
}

static tfrt_status_t decode_shape(const uint8_t* bytes, size_t header_size, size_t body_size,
                                  tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)allocator;
  *out_body = NULL;
  header_t header;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(decode_bare_header(bytes, header_size, body_size, 0, &header));
  TFRT_RETURN_IF_ERROR(tfrt_shape_make_unbounded(header.dims, header.rank, &shape));
  memcpy(payload, &shape, sizeof(shape));
  return NULL;
}

const tfrt_codec_t tfrt_shape_codec = {
    .encode = encode_shape, .decode = decode_shape, .complete = NULL};

static tfrt_status_t encode_partial_shape(const void* payload, tfrt_encoding_t* out_encoding) {
  const tfrt_partial_shape_t* shape = payload;
  encode_header(TFRT_DTYPE_INVALID, shape->ranked ? 0 : 1, shape->dims, shape->rank, out_encoding);
  return NULL;
}

static tfrt_status_t decode_partial_shape(const uint8_t* bytes, size_t header_size,
                                          size_t body_size, tfrt_allocator_t allocator,
                                          void* payload, void** out_body) {
  (void)allocator;
  *out_body = NULL;
  header_t header;
  tfrt_partial_shape_t shape = tfrt_partial_shape_unranked();
  TFRT_RETURN_IF_ERROR(decode_bare_header(bytes, header_size, body_size, 1, &header));
  if (header.layout == 1 && header.rank > 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "an unranked shape with %u axes is announced", header.rank);
  }
  if (header.layout == 0) {
    TFRT_RETURN_IF_ERROR(tfrt_partial_shape_make(header.dims, header.rank, &shape));
  }
  memcpy(payload, &shape, sizeof(shape));
  return NULL;
}

const tfrt_codec_t tfrt_partial_shape_codec = {
    .encode = encode_partial_shape, .decode = decode_partial_shape, .complete = NULL};

// --- Types of tensors ------------------------------------------------------------

static tfrt_status_t encode_tensor_type(const void* payload, tfrt_encoding_t* out_encoding) {
  const char* name = tfrt_tensor_type_name(*(const tfrt_tensor_type_t* const*)payload);
  memset(out_encoding, 0, sizeof(*out_encoding));
  out_encoding->header_size = strlen(name);
  memcpy(out_encoding->header, name, out_encoding->header_size);
  return NULL;
}

static tfrt_status_t decode_tensor_type(const uint8_t* bytes, size_t header_size, size_t body_size,
                                        tfrt_allocator_t allocator, void* payload,
                                        void** out_body) {
  (void)allocator;
  *out_body = NULL;
  if (body_size > 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a type of tensors has no elements, but %zu bytes are announced",
                              body_size);
  }
  const tfrt_tensor_type_t* type;
  TFRT_RETURN_IF_ERROR(
      tfrt_tensor_type_find(tfrt_string_view_make((const char*)bytes, header_size), &type));
  *(const tfrt_tensor_type_t**)payload = type;
  return NULL;
}

const tfrt_codec_t tfrt_tensor_type_codec = {
    .encode = encode_tensor_type, .decode = decode_tensor_type, .complete = NULL};
