// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/dense_host_tensor.h"

#include <string.h>

#include "host_runtime/tensor/small_float.h"

tfrt_status_t tfrt_dense_host_tensor_compute_size(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                                  size_t* out_size) {
  *out_size = 0;
  size_t element_size = tfrt_dtype_size(dtype);
  if (element_size == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the dtype '%s' (%d) has no elements of a fixed size",
                              tfrt_dtype_name(dtype), (int)dtype);
  }
  TFRT_RETURN_IF_ERROR(tfrt_shape_check(shape));
  size_t count = (size_t)tfrt_shape_element_count(shape);
  // Sizes are also differences of addresses, so they stay below half of all of them.
  if (!tfrt_size_multiply(count, element_size, out_size) || *out_size > PTRDIFF_MAX) {
    *out_size = 0;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the size of a tensor of %s with the shape %s overflows",
                              tfrt_dtype_name(dtype), tfrt_shape_text(shape).text);
  }
  return NULL;
}

static tfrt_status_t create_buffer(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                   tfrt_allocator_t allocator, tfrt_host_buffer_t** out_buffer) {
  size_t size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, shape, &size));
  return tfrt_host_buffer_create(size, allocator, out_buffer);
}

tfrt_status_t tfrt_dense_host_tensor_initialize(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                                tfrt_allocator_t allocator,
                                                tfrt_dense_host_tensor_t* out_tensor) {
  tfrt_host_buffer_t* buffer;
  tfrt_status_t status = create_buffer(dtype, shape, allocator, &buffer);
  if (status) {
    memset(out_tensor, 0, sizeof(*out_tensor));
    return status;
  }
  out_tensor->dtype = dtype;
  out_tensor->shape = *shape;
  out_tensor->buffer = buffer;
  out_tensor->offset = 0;
  return NULL;
}

// The alignment that elements need: that of their parts, for complex ones.
static size_t alignment_of(tfrt_dtype_t dtype) {
  if (dtype == TFRT_DTYPE_COMPLEX64) return sizeof(float);
  if (dtype == TFRT_DTYPE_COMPLEX128) return sizeof(double);
  return tfrt_dtype_size(dtype);
}

tfrt_status_t tfrt_dense_host_tensor_initialize_view(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                                     tfrt_host_buffer_t* buffer, size_t offset,
                                                     tfrt_dense_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  size_t size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, shape, &size));
  if (offset > buffer->size || size > buffer->size - offset) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "a tensor of %s with the shape %s needs %zu bytes from offset %zu of "
                              "a buffer of %zu bytes",
                              tfrt_dtype_name(dtype), tfrt_shape_text(shape).text, size, offset,
                              buffer->size);
  }
  if (size > 0 && ((uintptr_t)buffer->data + offset) % alignment_of(dtype) != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "elements of %s at offset %zu of a buffer would be misaligned",
                              tfrt_dtype_name(dtype), offset);
  }
  out_tensor->dtype = dtype;
  out_tensor->shape = *shape;
  out_tensor->buffer = tfrt_host_buffer_retain(buffer);
  out_tensor->offset = offset;
  return NULL;
}

void tfrt_dense_host_tensor_initialize_alias(const tfrt_dense_host_tensor_t* tensor,
                                             tfrt_dense_host_tensor_t* out_tensor) {
  *out_tensor = *tensor;
  tfrt_host_buffer_retain(out_tensor->buffer);
}

void tfrt_dense_host_tensor_deinitialize(tfrt_dense_host_tensor_t* tensor) {
  tfrt_host_buffer_release(tensor->buffer);
  memset(tensor, 0, sizeof(*tensor));
}

void tfrt_dense_host_tensor_fill(const tfrt_dense_host_tensor_t* tensor, const void* element) {
  size_t element_size = tfrt_dtype_size(tensor->dtype);
  size_t size = tfrt_dense_host_tensor_size(tensor);
  if (size == 0) return;
  char* data = tfrt_dense_host_tensor_data(tensor);
  memcpy(data, element, element_size);
  // Each copy doubles what is filled.
  for (size_t filled = element_size; filled < size;) {
    size_t count = filled < size - filled ? filled : size - filled;
    memcpy(data + filled, data, count);
    filled += count;
  }
}

// Floats aren't compared as bytes: -0 equals 0, and a NaN nothing.
static bool floats_equal(const float* a, const float* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}

static bool doubles_equal(const double* a, const double* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}

static bool complexes_equal(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                            int64_t count) {
  const void* in_a = tfrt_dense_host_tensor_data(a);
  const void* in_b = tfrt_dense_host_tensor_data(b);
  if (a->dtype == TFRT_DTYPE_COMPLEX64) return floats_equal(in_a, in_b, count * 2);
  return doubles_equal(in_a, in_b, count * 2);
}

static bool small_floats_equal(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                               int64_t count) {
  const uint16_t* in_a = tfrt_dense_host_tensor_data(a);
  const uint16_t* in_b = tfrt_dense_host_tensor_data(b);
  bool is_f16 = a->dtype == TFRT_DTYPE_F16;
  for (int64_t i = 0; i < count; ++i) {
    double value_a = is_f16 ? tfrt_f16_to_double(in_a[i]) : tfrt_bf16_to_double(in_a[i]);
    double value_b = is_f16 ? tfrt_f16_to_double(in_b[i]) : tfrt_bf16_to_double(in_b[i]);
    if (!(value_a == value_b)) return false;
  }
  return true;
}

bool tfrt_dense_host_tensor_equal(const tfrt_dense_host_tensor_t* a,
                                  const tfrt_dense_host_tensor_t* b) {
  if (a->dtype != b->dtype || !tfrt_shape_equal(&a->shape, &b->shape)) return false;
  int64_t count = tfrt_dense_host_tensor_element_count(a);
  const void* in_a = tfrt_dense_host_tensor_data(a);
  const void* in_b = tfrt_dense_host_tensor_data(b);
  if (count == 0) return true;
  switch (a->dtype) {
    case TFRT_DTYPE_F32:
      return floats_equal(in_a, in_b, count);
    case TFRT_DTYPE_F64:
      return doubles_equal(in_a, in_b, count);
    case TFRT_DTYPE_COMPLEX64:
    case TFRT_DTYPE_COMPLEX128:
      return complexes_equal(a, b, count);
    case TFRT_DTYPE_F16:
    case TFRT_DTYPE_BF16:
      return small_floats_equal(a, b, count);
    default:
      return memcmp(in_a, in_b, tfrt_dense_host_tensor_size(a)) == 0;
  }
}

void tfrt_dense_host_tensor_print(const tfrt_dense_host_tensor_t* tensor,
                                  tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out, "DenseHostTensor dtype = %s, shape = ", tfrt_dtype_name(tensor->dtype));
  tfrt_shape_print(&tensor->shape, out);
  tfrt_string_builder_append_text(out, ", values = [");
  int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  size_t element_size = tfrt_dtype_size(tensor->dtype);
  const char* element = tfrt_dense_host_tensor_data(tensor);
  for (int64_t i = 0; i < count && i < TFRT_DENSE_HOST_TENSOR_PRINT_LIMIT; ++i) {
    if (i > 0) tfrt_string_builder_append_text(out, ", ");
    tfrt_dtype_print_element(tensor->dtype, element + (size_t)i * element_size, out);
  }
  if (count > TFRT_DENSE_HOST_TENSOR_PRINT_LIMIT) tfrt_string_builder_append_text(out, ", ... ");
  tfrt_string_builder_append_char(out, ']');
}
