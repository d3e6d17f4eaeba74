// SPDX-License-Identifier: Apache-2.0
//
// Our own declarations of the part of cuBLAS that this project uses, as cuda_api.h has them for the
// driver: the forms that cuBLAS 11, 12 and 13 have.
//
// Thread rule: constant after opening. Failure rule: as devices/cuda/vendor_library.h.
#ifndef TFRT_DEVICES_CUDA_CUBLAS_API_H_
#define TFRT_DEVICES_CUDA_CUBLAS_API_H_

#include "devices/cuda/cuda_api.h"

typedef int tfrt_cublas_status_t;
typedef struct tfrt_cublas_handle_s* tfrt_cublas_handle_t;

// The numbers of the library's interface that are used here.
enum tfrt_cublas_number_e {
  TFRT_CUBLAS_SUCCESS = 0,
  TFRT_CUBLAS_NOT_INITIALIZED = 1,
  TFRT_CUBLAS_ALLOC_FAILED = 3,
  TFRT_CUBLAS_INVALID_VALUE = 7,
  TFRT_CUBLAS_ARCH_MISMATCH = 8,
  TFRT_CUBLAS_MAPPING_ERROR = 11,
  TFRT_CUBLAS_EXECUTION_FAILED = 13,
  TFRT_CUBLAS_INTERNAL_ERROR = 14,
  TFRT_CUBLAS_NOT_SUPPORTED = 15,
  TFRT_CUBLAS_LICENSE_ERROR = 16,

  // Types of elements.
  TFRT_CUBLAS_R_32F = 0,
  TFRT_CUBLAS_R_64F = 1,
  TFRT_CUBLAS_R_16F = 2,
  TFRT_CUBLAS_R_16BF = 14,

  TFRT_CUBLAS_COMPUTE_16F = 64,
  TFRT_CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  TFRT_CUBLAS_COMPUTE_32F = 68,
  TFRT_CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  TFRT_CUBLAS_COMPUTE_64F = 70,
  TFRT_CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  TFRT_CUBLAS_COMPUTE_32F_FAST_16F = 74,
  TFRT_CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  TFRT_CUBLAS_COMPUTE_32F_FAST_TF32 = 77,

  TFRT_CUBLAS_OP_N = 0,
  TFRT_CUBLAS_OP_T = 1,
  TFRT_CUBLAS_OP_C = 2,
  TFRT_CUBLAS_SIDE_LEFT = 0,
  TFRT_CUBLAS_SIDE_RIGHT = 1,
  TFRT_CUBLAS_FILL_LOWER = 0,
  TFRT_CUBLAS_FILL_UPPER = 1,
  TFRT_CUBLAS_DIAGONAL_NON_UNIT = 0,
  TFRT_CUBLAS_DIAGONAL_UNIT = 1,
};

// The table: X(member, symbol, parameters).
#define TFRT_CUBLAS_ENTRIES(X)                                                                    \
  X(Create, "cublasCreate_v2", (tfrt_cublas_handle_t * handle))                                   \
  X(Destroy, "cublasDestroy_v2", (tfrt_cublas_handle_t handle))                                   \
  X(SetStream, "cublasSetStream_v2",                                                              \
    (tfrt_cublas_handle_t handle, tfrt_cuda_stream_handle_t stream))                              \
  X(AxpyEx, "cublasAxpyEx",                                                                       \
    (tfrt_cublas_handle_t handle, int count, const void* alpha, int alpha_type, const void* x,    \
     int x_type, int x_step, void* y, int y_type, int y_step, int execution_type))                \
  X(ScalEx, "cublasScalEx",                                                                       \
    (tfrt_cublas_handle_t handle, int count, const void* alpha, int alpha_type, void* x,          \
     int x_type, int x_step, int execution_type))                                                 \
  X(GemmEx, "cublasGemmEx",                                                                       \
    (tfrt_cublas_handle_t handle, int a_form, int b_form, int rows, int columns, int inner,       \
     const void* alpha, const void* a, int a_type, int a_height, const void* b, int b_type,       \
     int b_height, const void* beta, void* c, int c_type, int c_height, int compute_type,         \
     int algorithm))                                                                              \
  X(GemmStridedBatchedEx, "cublasGemmStridedBatchedEx",                                           \
    (tfrt_cublas_handle_t handle, int a_form, int b_form, int rows, int columns, int inner,       \
     const void* alpha, const void* a, int a_type, int a_height, long long a_distance,            \
     const void* b, int b_type, int b_height, long long b_distance, const void* beta, void* c,    \
     int c_type, int c_height, long long c_distance, int count, int compute_type, int algorithm)) \
  X(StrsmBatched, "cublasStrsmBatched",                                                           \
    (tfrt_cublas_handle_t handle, int side, int fill, int form, int diagonal, int rows,           \
     int columns, const float* alpha, const float* const* a, int a_height, float* const* b,       \
     int b_height, int count))                                                                    \
  X(DtrsmBatched, "cublasDtrsmBatched",                                                           \
    (tfrt_cublas_handle_t handle, int side, int fill, int form, int diagonal, int rows,           \
     int columns, const double* alpha, const double* const* a, int a_height, double* const* b,    \
     int b_height, int count))

typedef struct tfrt_cublas_api_s {
#define TFRT_CUBLAS_MEMBER(name, symbol, parameters) tfrt_cublas_status_t(*name) parameters;
  TFRT_CUBLAS_ENTRIES(TFRT_CUBLAS_MEMBER)
#undef TFRT_CUBLAS_MEMBER
} tfrt_cublas_api_t;

#endif  // TFRT_DEVICES_CUDA_CUBLAS_API_H_
