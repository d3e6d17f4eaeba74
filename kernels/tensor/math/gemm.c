// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/gemm.h"

#include <string.h>

#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/onednn/onednn.h"

static tfrt_status_t check(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                           const tfrt_dense_host_tensor_t* c) {
  if (a->dtype != b->dtype) return tfrt_dtypes_mismatch("matmul", a, b);
  if (a->dtype != c->dtype) return tfrt_dtypes_mismatch("matmul", a, c);
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(a, 2, "the first operand of matmul"));
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(b, 2, "the second operand of matmul"));
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(c, 2, "the target of matmul"));
  if (a->shape.dims[1] != b->shape.dims[0]) {
    return tfrt_shapes_mismatch(
        "matmul", "the first operand must have as many columns as the second has rows", &a->shape,
        &b->shape);
  }
  if (a->shape.dims[0] != c->shape.dims[0]) {
    return tfrt_shapes_mismatch("matmul", "the target must have the rows of the first operand",
                                &a->shape, &c->shape);
  }
  if (b->shape.dims[1] != c->shape.dims[1]) {
    return tfrt_shapes_mismatch("matmul", "the target must have the columns of the second operand",
                                &b->shape, &c->shape);
  }
  TFRT_RETURN_IF_ERROR(tfrt_check_disjoint("matmul", a, c));
  return tfrt_check_disjoint("matmul", b, c);
}

// Integers: row by row of |b|, so that all is read and written in the order it lies in.
#define DEFINE_GEMM(name, type)                                                          \
  static void name(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b, \
                   type alpha, type beta, const tfrt_dense_host_tensor_t* c) {           \
    int64_t columns = c->shape.dims[1];                                                  \
    int64_t depth = a->shape.dims[1];                                                    \
    for (int64_t i = 0; i < c->shape.dims[0]; ++i) {                                     \
      const type* row_a = (const type*)tfrt_dense_host_tensor_data(a) + i * depth;       \
      type* row_c = (type*)tfrt_dense_host_tensor_data(c) + i * columns;                 \
      for (int64_t j = 0; j < columns; ++j) row_c[j] = beta == 0 ? 0 : row_c[j] * beta;  \
      for (int64_t k = 0; k < depth; ++k) {                                              \
        const type* row_b = (const type*)tfrt_dense_host_tensor_data(b) + k * columns;   \
        type factor = alpha * row_a[k];                                                  \
        for (int64_t j = 0; j < columns; ++j) row_c[j] += factor * row_b[j];             \
      }                                                                                  \
    }                                                                                    \
  }

DEFINE_GEMM(gemm_i32, uint32_t)
DEFINE_GEMM(gemm_i64, uint64_t)

static tfrt_status_t gemm_f32(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                              float alpha, float beta, const tfrt_dense_host_tensor_t* c) {
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(a, 2, "the first operand of matmul"));
  TFRT_RETURN_IF_ERROR(tfrt_check_f32(b, 2, "the second operand of matmul"));
  if (a->shape.dims[1] > 0) {
    return tfrt_onednn_gemm(c->shape.dims[0], c->shape.dims[1], a->shape.dims[1], alpha,
                            tfrt_dense_host_tensor_data(a), tfrt_dense_host_tensor_data(b), beta,
                            tfrt_dense_host_tensor_data(c));
  }
  float* elements = tfrt_dense_host_tensor_data(c);
  int64_t count = tfrt_dense_host_tensor_element_count(c);
  for (int64_t i = 0; i < count; ++i) elements[i] = beta == 0 ? 0 : elements[i] * beta;
  return NULL;
}

tfrt_status_t tfrt_tensor_gemm(const void* alpha, const tfrt_dense_host_tensor_t* a,
                               const tfrt_dense_host_tensor_t* b, const void* beta,
                               const tfrt_dense_host_tensor_t* c) {
  TFRT_RETURN_IF_ERROR(check(a, b, c));
  if (tfrt_dense_host_tensor_element_count(c) == 0) return NULL;
  switch (a->dtype) {
    case TFRT_DTYPE_F32:
      return gemm_f32(a, b, *(const float*)alpha, *(const float*)beta, c);
    case TFRT_DTYPE_I32:
      gemm_i32(a, b, *(const uint32_t*)alpha, *(const uint32_t*)beta, c);
      return NULL;
    case TFRT_DTYPE_I64:
      gemm_i64(a, b, *(const uint64_t*)alpha, *(const uint64_t*)beta, c);
      return NULL;
    default:
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "matmul takes f32, i32 or i64, but gets %s %s",
                                tfrt_dtype_name(a->dtype), tfrt_shape_text(&a->shape).text);
  }
}
