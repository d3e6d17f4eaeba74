// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/kernel_parts/tensor_making.h"

#include <inttypes.h>
#include <string.h>

#include "host_runtime/bef/bef_attribute.h"

tfrt_status_t tfrt_check_dense(const tfrt_host_tensor_t* tensor, uint32_t index,
                               tfrt_dtype_t dtype) {
  tfrt_dtype_t actual = tfrt_host_tensor_dtype(tensor);
  if (tensor->layout == TFRT_TENSOR_LAYOUT_DENSE && actual == dtype) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "operand %" PRIu32 " must be a dense tensor of %s, but is a %s of %s with the shape %s",
      index, tfrt_dtype_name(dtype), tfrt_tensor_layout_name(tensor->layout),
      tfrt_dtype_name(actual), tfrt_shape_text(tfrt_host_tensor_shape(tensor)).text);
}

// --- Tensors -------------------------------------------------------------------

tfrt_status_t tfrt_make_uninitialized(tfrt_dtype_t dtype, uint32_t rank, const void* dims,
                                      tfrt_allocator_t allocator,
                                      tfrt_dense_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  tfrt_bef_array_t array = tfrt_bef_attribute_array(dims);
  if (array.count != rank) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a shape with %" PRIu32
                              " axes is given, but the kernel's name says %" PRIu32,
                              array.count, rank);
  }
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(array.data, array.count, &shape));
  tfrt_status_t status = tfrt_dense_host_tensor_initialize(dtype, &shape, allocator, out_tensor);
  if (tfrt_status_code(status) != TFRT_STATUS_RESOURCE_EXHAUSTED) return status;
  tfrt_status_release(status);
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "Cannot allocate tensor");
}

tfrt_status_t tfrt_make_in_buffer(tfrt_dtype_t dtype, tfrt_host_buffer_t* buffer,
                                  const tfrt_shape_t* shape, tfrt_dense_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  size_t size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, shape, &size));
  if (size != buffer->size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "dht.make_tensor failed: buffer_size (%zu) is not equal to the "
                              "number of elements in shape (%s) times element size (%zu)",
                              buffer->size, tfrt_shape_text(shape).text, tfrt_dtype_size(dtype));
  }
  return tfrt_dense_host_tensor_initialize_view(dtype, shape, buffer, 0, out_tensor);
}

tfrt_status_t tfrt_make_constant(const void* value, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  tfrt_bef_dense_t dense = tfrt_bef_attribute_dense(value);
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dense.dims, dense.rank, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize((tfrt_dtype_t)dense.dtype, &shape, allocator, out_tensor));
  if (dense.data_size > 0) {
    memcpy(tfrt_dense_host_tensor_data(out_tensor), dense.data,
           tfrt_dense_host_tensor_size(out_tensor));
  }
  return NULL;
}

tfrt_status_t tfrt_read_shape(const void* value, tfrt_partial_shape_t* out_shape) {
  tfrt_bef_shape_t shape = tfrt_bef_attribute_shape(value);
  *out_shape = tfrt_partial_shape_unranked();
  return shape.ranked ? tfrt_partial_shape_make(shape.dims, shape.rank, out_shape) : NULL;
}

tfrt_status_t tfrt_make_zeros(tfrt_dtype_t dtype, const void* value, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  tfrt_partial_shape_t partial;
  TFRT_RETURN_IF_ERROR(tfrt_read_shape(value, &partial));
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_partial_shape_to_shape(&partial, &shape));
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(dtype, &shape, allocator, out_tensor));
  size_t size = tfrt_dense_host_tensor_size(out_tensor);
  if (size > 0) memset(tfrt_dense_host_tensor_data(out_tensor), 0, size);
  return NULL;
}

tfrt_status_t tfrt_make_buffer(int64_t size, int64_t alignment, tfrt_allocator_t allocator,
                               tfrt_host_buffer_t** out_buffer) {
  *out_buffer = NULL;
  if (size < 0 || alignment < 1 || alignment > TFRT_HOST_BUFFER_ALIGNMENT ||
      (alignment & (alignment - 1)) != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "cannot allocate %" PRId64 " bytes aligned to %" PRId64
                              "; the alignment must be a power of two up to %d",
                              size, alignment, TFRT_HOST_BUFFER_ALIGNMENT);
  }
  return tfrt_host_buffer_create((size_t)size, allocator, out_buffer);
}

// --- Strings -------------------------------------------------------------------

// Makes |strings| the elements of the attribute |values|; false if one is no string.
static bool read_strings(const void* values, uint32_t count, tfrt_string_view_t* strings) {
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_bef_attribute_type_t type;
    const void* element = tfrt_bef_attribute_aggregate_element(values, i, &type);
    if (type != TFRT_BEF_DTYPE_STRING) return false;
    strings[i] = tfrt_bef_attribute_string(element);
  }
  return true;
}

tfrt_status_t tfrt_make_strings(const void* dims, const void* values, tfrt_allocator_t allocator,
                                tfrt_string_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  tfrt_bef_array_t array = tfrt_bef_attribute_array(dims);
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make_unbounded(array.data, array.count, &shape));
  uint32_t count = tfrt_bef_attribute_aggregate_count(values);
  size_t size = count * sizeof(tfrt_string_view_t);
  tfrt_string_view_t* strings = count > 0 ? tfrt_allocator_allocate(allocator, size) : NULL;
  if (count > 0 && !strings) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "Failed to create SHT");
  }
  tfrt_status_t status;
  if (read_strings(values, count, strings)) {
    status = tfrt_string_host_tensor_initialize(&shape, strings, count, allocator, out_tensor);
  } else {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'values' must be strings");
  }
  if (strings) tfrt_allocator_free(allocator, strings, size);
  return status;
}

tfrt_status_t tfrt_make_empty_strings(const void* dims, tfrt_allocator_t allocator,
                                      tfrt_string_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  tfrt_bef_array_t array = tfrt_bef_attribute_array(dims);
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(array.data, array.count, &shape));
  size_t size;
  if (!tfrt_size_multiply((size_t)tfrt_shape_element_count(&shape), sizeof(uint64_t), &size)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the size of a tensor of strings with the shape %s overflows",
                              tfrt_shape_text(&shape).text);
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_string_host_tensor_initialize_empty(&shape, size, allocator, out_tensor));
  // Each string ends where it begins.
  if (size > 0) memset(out_tensor->buffer->data, 0, size);
  return NULL;
}

// --- Elements ------------------------------------------------------------------

uint32_t tfrt_numbers_per_element(tfrt_dtype_t dtype) {
  return dtype == TFRT_DTYPE_COMPLEX64 || dtype == TFRT_DTYPE_COMPLEX128 ? 2 : 1;
}

tfrt_status_t tfrt_read_element(tfrt_dtype_t dtype, const void* value, const void** out_element) {
  *out_element = value;
  if (tfrt_numbers_per_element(dtype) == 1) return NULL;
  tfrt_bef_array_t parts = tfrt_bef_attribute_array(value);
  *out_element = parts.data;
  if (parts.count == 2) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "'value' has %" PRIu32 " numbers, but needs 2: the real and the imaginary part", parts.count);
}

tfrt_status_t tfrt_make_scalar(tfrt_dtype_t dtype, const void* dims, const void* value,
                               tfrt_scalar_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  const void* element;
  TFRT_RETURN_IF_ERROR(tfrt_read_element(dtype, value, &element));
  tfrt_bef_array_t array = tfrt_bef_attribute_array(dims);
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(array.data, array.count, &shape));
  return tfrt_scalar_host_tensor_make(dtype, &shape, element, out_tensor);
}

tfrt_status_t tfrt_wrong_value_count(uint32_t given, int64_t expected) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "Incorrect number of values for the tensor: %" PRIu32
                            ", but expected %" PRId64,
                            given, expected);
}

tfrt_status_t tfrt_set_elements(const tfrt_dense_host_tensor_t* tensor, const void* values) {
  tfrt_bef_array_t array = tfrt_bef_attribute_array(values);
  int64_t count =
      tfrt_dense_host_tensor_element_count(tensor) * tfrt_numbers_per_element(tensor->dtype);
  if (count != (int64_t)array.count) return tfrt_wrong_value_count(array.count, count);
  if (count > 0) {
    memcpy(tfrt_dense_host_tensor_data(tensor), array.data, tfrt_dense_host_tensor_size(tensor));
  }
  return NULL;
}

tfrt_status_t tfrt_make_dense(tfrt_dtype_t dtype, const void* dims, const void* values,
                              tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_tensor) {
  uint32_t rank = tfrt_bef_attribute_array(dims).count;
  TFRT_RETURN_IF_ERROR(tfrt_make_uninitialized(dtype, rank, dims, allocator, out_tensor));
  tfrt_bef_array_t array = tfrt_bef_attribute_array(values);
  tfrt_status_t status = NULL;
  if (array.count == tfrt_numbers_per_element(dtype)) {
    tfrt_dense_host_tensor_fill(out_tensor, array.data);
  } else {
    status = tfrt_set_elements(out_tensor, values);
  }
  if (status) tfrt_dense_host_tensor_deinitialize(out_tensor);
  return status;
}
