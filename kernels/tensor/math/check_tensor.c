// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/check_tensor.h"

#include <inttypes.h>

tfrt_status_t tfrt_check_dtype(const tfrt_dense_host_tensor_t* tensor, tfrt_dtype_t dtype,
                               const char* what) {
  if (tensor->dtype == dtype) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s must be %s, but is %s %s", what,
                            tfrt_dtype_name(dtype), tfrt_dtype_name(tensor->dtype),
                            tfrt_shape_text(&tensor->shape).text);
}

tfrt_status_t tfrt_check_rank(const tfrt_dense_host_tensor_t* tensor, uint32_t rank,
                              const char* what) {
  if (tensor->shape.rank == rank) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s must have %" PRIu32 " axes, but has the shape %s", what, rank,
                            tfrt_shape_text(&tensor->shape).text);
}

tfrt_status_t tfrt_check_axis(const tfrt_dense_host_tensor_t* tensor, int32_t axis,
                              const char* what) {
  if (axis >= 0 && (uint32_t)axis < tensor->shape.rank) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s has the shape %s, which has no axis %" PRId32, what,
                            tfrt_shape_text(&tensor->shape).text, axis);
}

tfrt_status_t tfrt_check_f32(const tfrt_dense_host_tensor_t* tensor, uint32_t rank,
                             const char* what) {
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(tensor, TFRT_DTYPE_F32, what));
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(tensor, rank, what));
  for (uint32_t i = 0; i < rank; ++i) {
    if (tensor->shape.dims[i] > INT32_MAX) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "%s has the shape %s; an axis may be at most %d long", what,
                                tfrt_shape_text(&tensor->shape).text, INT32_MAX);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_shapes_mismatch(const char* name, const char* rule, const tfrt_shape_t* a,
                                   const tfrt_shape_t* b) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: %s, but the shapes are %s and %s",
                            name, rule, tfrt_shape_text(a).text, tfrt_shape_text(b).text);
}

tfrt_status_t tfrt_dtypes_mismatch(const char* name, const tfrt_dense_host_tensor_t* a,
                                   const tfrt_dense_host_tensor_t* b) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s needs equal dtypes, but gets %s %s and %s %s", name,
                            tfrt_dtype_name(a->dtype), tfrt_shape_text(&a->shape).text,
                            tfrt_dtype_name(b->dtype), tfrt_shape_text(&b->shape).text);
}

tfrt_status_t tfrt_check_disjoint(const char* name, const tfrt_dense_host_tensor_t* x,
                                  const tfrt_dense_host_tensor_t* target) {
  // As numbers: addresses of different blocks have no order in C.
  uintptr_t start = (uintptr_t)tfrt_dense_host_tensor_data(x);
  uintptr_t target_start = (uintptr_t)tfrt_dense_host_tensor_data(target);
  if (start + tfrt_dense_host_tensor_size(x) <= target_start ||
      target_start + tfrt_dense_host_tensor_size(target) <= start) {
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the output of %s, %s, shares memory with its operand %s", name,
                            tfrt_shape_text(&target->shape).text, tfrt_shape_text(&x->shape).text);
}
