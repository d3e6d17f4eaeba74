// SPDX-License-Identifier: Apache-2.0
//
// Our own declarations of the part of cuBLASLt that this project uses, as cublas_api.h has them for
// cuBLAS, with which it comes: the forms of CUDA 11, 12 and 13. Types of elements, ways to compute
// and status codes are cuBLAS's.
//
// Thread rule: constant after opening. Failure rule: as devices/cuda/vendor_library.h.
#ifndef TFRT_DEVICES_CUDA_CUBLASLT_API_H_
#define TFRT_DEVICES_CUDA_CUBLASLT_API_H_

#include "devices/cuda/cublas_api.h"

typedef struct tfrt_cublaslt_handle_s* tfrt_cublaslt_handle_t;
typedef struct tfrt_cublaslt_product_s* tfrt_cublaslt_product_t;  // cublasLtMatmulDesc_t
typedef struct tfrt_cublaslt_layout_s* tfrt_cublaslt_layout_t;    // cublasLtMatrixLayout_t
typedef struct tfrt_cublaslt_wish_s* tfrt_cublaslt_wish_t;        // cublasLtMatmulPreference_t

// The library's own; may be copied.
typedef struct tfrt_cublaslt_algorithm_s {
  uint64_t data[8];
} tfrt_cublaslt_algorithm_t;

// cublasLtMatmulHeuristicResult_t.
typedef struct tfrt_cublaslt_choice_s {
  tfrt_cublaslt_algorithm_t algorithm;
  size_t workspace_size;
  tfrt_cublas_status_t state;  // the rest counts only with TFRT_CUBLAS_SUCCESS
  float waves;
  int reserved[4];
} tfrt_cublaslt_choice_t;

// The numbers of the library's interface that are used here, with the types of their values.
enum tfrt_cublaslt_number_e {
  // Attributes of a product.
  TFRT_CUBLASLT_PRODUCT_A_FORM = 3,  // int32_t
  TFRT_CUBLASLT_PRODUCT_B_FORM = 4,  // int32_t

  // Attributes of a matrix; without them it is one matrix, column by column.
  TFRT_CUBLASLT_LAYOUT_BATCH_COUNT = 5,     // int32_t
  TFRT_CUBLASLT_LAYOUT_BATCH_DISTANCE = 6,  // int64_t, in elements

  // Attributes of a wish.
  TFRT_CUBLASLT_WISH_MAX_WORKSPACE = 1,    // uint64_t, in bytes; else 0
  TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_A = 5,  // uint32_t, in bytes; else 256; so are the next three
  TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_B = 6,
  TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_C = 7,
  TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_D = 8,
};

// The table: X(member, symbol, parameters).
#define TFRT_CUBLASLT_ENTRIES(X)                                                                  \
  X(Create, "cublasLtCreate", (tfrt_cublaslt_handle_t * handle))                                  \
  X(Destroy, "cublasLtDestroy", (tfrt_cublaslt_handle_t handle))                                  \
  X(MatmulDescCreate, "cublasLtMatmulDescCreate",                                                 \
    (tfrt_cublaslt_product_t * product, int compute_type, int scale_type))                        \
  X(MatmulDescDestroy, "cublasLtMatmulDescDestroy", (tfrt_cublaslt_product_t product))            \
  X(MatmulDescSetAttribute, "cublasLtMatmulDescSetAttribute",                                     \
    (tfrt_cublaslt_product_t product, int attribute, const void* value, size_t size))             \
  X(MatrixLayoutCreate, "cublasLtMatrixLayoutCreate",                                             \
    (tfrt_cublaslt_layout_t * layout, int type, uint64_t rows, uint64_t columns, int64_t height)) \
  X(MatrixLayoutDestroy, "cublasLtMatrixLayoutDestroy", (tfrt_cublaslt_layout_t layout))          \
  X(MatrixLayoutSetAttribute, "cublasLtMatrixLayoutSetAttribute",                                 \
    (tfrt_cublaslt_layout_t layout, int attribute, const void* value, size_t size))               \
  X(MatmulPreferenceCreate, "cublasLtMatmulPreferenceCreate", (tfrt_cublaslt_wish_t * wish))      \
  X(MatmulPreferenceDestroy, "cublasLtMatmulPreferenceDestroy", (tfrt_cublaslt_wish_t wish))      \
  X(MatmulPreferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute",                         \
    (tfrt_cublaslt_wish_t wish, int attribute, const void* value, size_t size))                   \
  X(MatmulAlgoGetHeuristic, "cublasLtMatmulAlgoGetHeuristic",                                     \
    (tfrt_cublaslt_handle_t handle, tfrt_cublaslt_product_t product, tfrt_cublaslt_layout_t a,    \
     tfrt_cublaslt_layout_t b, tfrt_cublaslt_layout_t c, tfrt_cublaslt_layout_t d,                \
     tfrt_cublaslt_wish_t wish, int most, tfrt_cublaslt_choice_t* choices, int* count))           \
  X(Matmul, "cublasLtMatmul",                                                                     \
    (tfrt_cublaslt_handle_t handle, tfrt_cublaslt_product_t product, const void* alpha,           \
     const void* a, tfrt_cublaslt_layout_t a_layout, const void* b,                               \
     tfrt_cublaslt_layout_t b_layout, const void* beta, const void* c,                            \
     tfrt_cublaslt_layout_t c_layout, void* d, tfrt_cublaslt_layout_t d_layout,                   \
     const tfrt_cublaslt_algorithm_t* algorithm, void* workspace, size_t workspace_size,          \
     tfrt_cuda_stream_handle_t stream))

typedef struct tfrt_cublaslt_api_s {
#define TFRT_CUBLASLT_MEMBER(name, symbol, parameters) tfrt_cublas_status_t(*name) parameters;
  TFRT_CUBLASLT_ENTRIES(TFRT_CUBLASLT_MEMBER)
#undef TFRT_CUBLASLT_MEMBER
} tfrt_cublaslt_api_t;

#endif  // TFRT_DEVICES_CUDA_CUBLASLT_API_H_
