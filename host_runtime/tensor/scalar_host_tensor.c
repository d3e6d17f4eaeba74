// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/scalar_host_tensor.h"

#include <inttypes.h>
#include <string.h>

tfrt_status_t tfrt_scalar_host_tensor_make(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                           const void* value,
                                           tfrt_scalar_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  size_t size = tfrt_dtype_size(dtype);
  if (size == 0 || size > sizeof(out_tensor->value)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a ScalarHostTensor cannot be of %s: its elements have no bytes",
                              tfrt_dtype_name(dtype));
  }
  TFRT_RETURN_IF_ERROR(tfrt_shape_check(shape));
  out_tensor->dtype = dtype;
  out_tensor->shape = *shape;
  memcpy(out_tensor->value, value, size);
  return NULL;
}

tfrt_status_t tfrt_scalar_host_tensor_to_dense(const tfrt_scalar_host_tensor_t* tensor,
                                               tfrt_allocator_t allocator,
                                               tfrt_dense_host_tensor_t* out_dense) {
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(tensor->dtype, &tensor->shape, allocator, out_dense));
  tfrt_dense_host_tensor_fill(out_dense, tensor->value);
  return NULL;
}

tfrt_status_t tfrt_scalar_host_tensor_from_dense(const tfrt_dense_host_tensor_t* dense,
                                                 tfrt_scalar_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  int64_t count = tfrt_dense_host_tensor_element_count(dense);
  size_t size = tfrt_dtype_size(dense->dtype);
  const char* data = tfrt_dense_host_tensor_data(dense);
  if (count == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a tensor with the shape %s has no element that could stand for all",
                              tfrt_shape_text(&dense->shape).text);
  }
  for (int64_t i = 1; i < count; ++i) {
    if (memcmp(data, data + (size_t)i * size, size) == 0) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a tensor of one value needs equal elements, but element %" PRId64
                              " differs from element 0",
                              i);
  }
  return tfrt_scalar_host_tensor_make(dense->dtype, &dense->shape, data, out_tensor);
}

void tfrt_scalar_host_tensor_print(const tfrt_scalar_host_tensor_t* tensor,
                                   tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out, "ScalarHostTensor dtype = %s, shape = ", tfrt_dtype_name(tensor->dtype));
  tfrt_shape_print(&tensor->shape, out);
  tfrt_string_builder_append_text(out, ", value = ");
  tfrt_dtype_print_element(tensor->dtype, tensor->value, out);
}
