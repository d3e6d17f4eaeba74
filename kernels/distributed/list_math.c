// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/list_math.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/numeric_reduction.h"

// The tensor that |value| is; check_dense() has seen it.
static const tfrt_dense_host_tensor_t* tensor_of(tfrt_async_value_t* value) {
  return &((const tfrt_host_tensor_t*)tfrt_async_value_payload(value))->dense;
}

// Reports the first of the tensors |elements| that is not dense.
static tfrt_status_t check_dense(tfrt_async_value_t* const* elements, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(elements[i]);
    if (tensor->layout == TFRT_TENSOR_LAYOUT_DENSE) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "element %u of the list is a %s; only dense tensors are combined", i,
                              tfrt_tensor_layout_name(tensor->layout));
  }
  return NULL;
}

// Reports the first element whose type is not that of element 0.
static tfrt_status_t check_types(tfrt_async_value_t* const* elements, uint32_t count) {
  // Another host may have sent a list of nothing.
  if (count == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the list has no elements");
  }
  for (uint32_t i = 1; i < count; ++i) {
    if (elements[i]->type_id == elements[0]->type_id) continue;
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT, "element %u of the list is a %s, element 0 is a %s", i,
        tfrt_type_get(elements[i]->type_id)->name, tfrt_type_get(elements[0]->type_id)->name);
  }
  return NULL;
}

// --- Sums ----------------------------------------------------------------------

static tfrt_status_t sum_numbers(tfrt_async_value_t* const* elements, uint32_t count,
                                 tfrt_dtype_t dtype, tfrt_async_value_t** out_result) {
  tfrt_async_value_t* result =
      tfrt_async_value_create_copy(elements[0]->type_id, tfrt_async_value_payload(elements[0]),
                                   tfrt_type_get(elements[0]->type_id)->size);
  *out_result = result;
  if (tfrt_async_value_is_error(result)) return NULL;
  for (uint32_t i = 1; i < count; ++i) {
    void* sum = tfrt_async_value_payload(result);
    tfrt_reduction_apply(TFRT_REDUCTION_SUM, dtype, sum, sum, tfrt_async_value_payload(elements[i]),
                         1);
  }
  return NULL;
}

// Reports the first tensor that can't be added to element 0.
static tfrt_status_t check_sum(tfrt_async_value_t* const* elements, uint32_t count) {
  const tfrt_dense_host_tensor_t* first = tensor_of(elements[0]);
  if (!tfrt_reduction_can(TFRT_REDUCTION_SUM, first->dtype)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "there are no sums of %s",
                              tfrt_dtype_name(first->dtype));
  }
  for (uint32_t i = 1; i < count; ++i) {
    const tfrt_dense_host_tensor_t* tensor = tensor_of(elements[i]);
    if (tensor->dtype == first->dtype && tfrt_shape_equal(&tensor->shape, &first->shape)) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "element %u of the list is %s %s, element 0 is %s %s", i,
                              tfrt_dtype_name(tensor->dtype), tfrt_shape_text(&tensor->shape).text,
                              tfrt_dtype_name(first->dtype), tfrt_shape_text(&first->shape).text);
  }
  return NULL;
}

static tfrt_status_t sum_tensors(tfrt_async_value_t* const* elements, uint32_t count,
                                 tfrt_allocator_t allocator, tfrt_async_value_t** out_result) {
  TFRT_RETURN_IF_ERROR(check_dense(elements, count));
  TFRT_RETURN_IF_ERROR(check_sum(elements, count));
  const tfrt_dense_host_tensor_t* first = tensor_of(elements[0]);
  tfrt_dense_host_tensor_t sum;
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(first->dtype, &first->shape, allocator, &sum));
  size_t size = tfrt_dense_host_tensor_size(first);
  if (size > 0) {
    memcpy(tfrt_dense_host_tensor_data(&sum), tfrt_dense_host_tensor_data(first), size);
  }
  for (uint32_t i = 1; i < count; ++i) {
    void* data = tfrt_dense_host_tensor_data(&sum);
    tfrt_reduction_apply(TFRT_REDUCTION_SUM, first->dtype, data, data,
                         tfrt_dense_host_tensor_data(tensor_of(elements[i])),
                         tfrt_dense_host_tensor_element_count(first));
  }
  *out_result = tfrt_async_value_create_tensor_take(&sum);
  return NULL;
}

tfrt_status_t tfrt_list_sum(tfrt_async_value_t* const* elements, uint32_t count,
                            tfrt_allocator_t allocator, tfrt_async_value_t** out_result) {
  *out_result = NULL;
  TFRT_RETURN_IF_ERROR(check_types(elements, count));
  if (elements[0]->type_id == tfrt_host_tensor_type_id()) {
    return sum_tensors(elements, count, allocator, out_result);
  }
  tfrt_dtype_t dtype = tfrt_reduction_dtype_of(elements[0]->type_id);
  if (dtype != TFRT_DTYPE_INVALID) return sum_numbers(elements, count, dtype, out_result);
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "there are no sums of %s",
                            tfrt_type_get(elements[0]->type_id)->name);
}

// --- Concatenation -------------------------------------------------------------

// Sets |*out_shape| to that of all tensors behind one another.
static tfrt_status_t concat_shape(tfrt_async_value_t* const* elements, uint32_t count,
                                  tfrt_shape_t* out_shape) {
  const tfrt_dense_host_tensor_t* first = tensor_of(elements[0]);
  tfrt_shape_t shape = first->shape;
  if (shape.rank == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "element 0 of the list has no axis 0 to concatenate along");
  }
  for (uint32_t i = 1; i < count; ++i) {
    const tfrt_dense_host_tensor_t* tensor = tensor_of(elements[i]);
    tfrt_shape_t like_first = tensor->shape;
    if (like_first.rank > 0) like_first.dims[0] = first->shape.dims[0];
    bool fits = tensor->dtype == first->dtype && tfrt_shape_equal(&like_first, &first->shape) &&
                !__builtin_add_overflow(shape.dims[0], tensor->shape.dims[0], &shape.dims[0]);
    if (fits) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "element %u of the list, %s %s, doesn't fit behind element 0, %s %s",
                              i, tfrt_dtype_name(tensor->dtype),
                              tfrt_shape_text(&tensor->shape).text, tfrt_dtype_name(first->dtype),
                              tfrt_shape_text(&first->shape).text);
  }
  return tfrt_shape_make(shape.dims, shape.rank, out_shape);
}

tfrt_status_t tfrt_list_concat(tfrt_async_value_t* const* elements, uint32_t count,
                               tfrt_allocator_t allocator, tfrt_async_value_t** out_result) {
  *out_result = NULL;
  TFRT_RETURN_IF_ERROR(check_types(elements, count));
  if (elements[0]->type_id != tfrt_host_tensor_type_id()) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "only tensors are concatenated, not %s",
                              tfrt_type_get(elements[0]->type_id)->name);
  }
  TFRT_RETURN_IF_ERROR(check_dense(elements, count));
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(concat_shape(elements, count, &shape));
  tfrt_dense_host_tensor_t whole;
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(tensor_of(elements[0])->dtype, &shape, allocator, &whole));
  size_t offset = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_dense_host_tensor_t* tensor = tensor_of(elements[i]);
    size_t size = tfrt_dense_host_tensor_size(tensor);
    if (size == 0) continue;
    memcpy((char*)tfrt_dense_host_tensor_data(&whole) + offset, tfrt_dense_host_tensor_data(tensor),
           size);
    offset += size;
  }
  *out_result = tfrt_async_value_create_tensor_take(&whole);
  return NULL;
}
