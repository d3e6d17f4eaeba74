// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's cuBLAS: calls are ops of the fake's streams, which compute on the host. A
// misuse by the caller is a defect: no stream, another context, matrices that don't fit their
// columns, memory that isn't there.
#include <stdlib.h>
#include <string.h>

#include "devices/cpu/cpu_blas_math.h"
#include "devices/cuda/cublas_api.h"
#include "tests/fakes/cuda/fake_library.h"

struct tfrt_cublas_handle_s {
  tfrt_fake_library_t base;
};

// The library's symbols, as the real one has them.
TFRT_EXPORT tfrt_cublas_status_t cublasCreate_v2(tfrt_cublas_handle_t* handle);
TFRT_EXPORT tfrt_cublas_status_t cublasDestroy_v2(tfrt_cublas_handle_t handle);
TFRT_EXPORT tfrt_cublas_status_t cublasSetStream_v2(tfrt_cublas_handle_t handle,
                                                    tfrt_cuda_stream_handle_t stream);
TFRT_EXPORT tfrt_cublas_status_t cublasAxpyEx(tfrt_cublas_handle_t handle, int count,
                                              const void* alpha, int alpha_type, const void* x,
                                              int x_type, int x_step, void* y, int y_type,
                                              int y_step, int execution_type);
TFRT_EXPORT tfrt_cublas_status_t cublasScalEx(tfrt_cublas_handle_t handle, int count,
                                              const void* alpha, int alpha_type, void* x,
                                              int x_type, int x_step, int execution_type);
TFRT_EXPORT tfrt_cublas_status_t cublasGemmEx(tfrt_cublas_handle_t handle, int a_form, int b_form,
                                              int rows, int columns, int inner, const void* alpha,
                                              const void* a, int a_type, int a_height,
                                              const void* b, int b_type, int b_height,
                                              const void* beta, void* c, int c_type, int c_height,
                                              int compute_type, int algorithm);
TFRT_EXPORT tfrt_cublas_status_t cublasGemmStridedBatchedEx(
    tfrt_cublas_handle_t handle, int a_form, int b_form, int rows, int columns, int inner,
    const void* alpha, const void* a, int a_type, int a_height, long long a_distance, const void* b,
    int b_type, int b_height, long long b_distance, const void* beta, void* c, int c_type,
    int c_height, long long c_distance, int count, int compute_type, int algorithm);
TFRT_EXPORT tfrt_cublas_status_t cublasStrsmBatched(tfrt_cublas_handle_t handle, int side, int fill,
                                                    int form, int diagonal, int rows, int columns,
                                                    const float* alpha, const float* const* a,
                                                    int a_height, float* const* b, int b_height,
                                                    int count);
TFRT_EXPORT tfrt_cublas_status_t cublasDtrsmBatched(tfrt_cublas_handle_t handle, int side, int fill,
                                                    int form, int diagonal, int rows, int columns,
                                                    const double* alpha, const double* const* a,
                                                    int a_height, double* const* b, int b_height,
                                                    int count);

// --- Handles -----------------------------------------------------------------------------

static const tfrt_fake_library_errors_t errors = {
    TFRT_CUBLAS_NOT_INITIALIZED, TFRT_CUBLAS_INVALID_VALUE, TFRT_CUBLAS_EXECUTION_FAILED};

tfrt_cublas_status_t cublasCreate_v2(tfrt_cublas_handle_t* out_handle) {
  int error = tfrt_fake_library_begin("cublasCreate", &errors, NULL);
  if (!error) *out_handle = tfrt_fake_library_create(sizeof(**out_handle), true);
  return tfrt_fake_end(error);
}

// The handle goes even on a broken context.
tfrt_cublas_status_t cublasDestroy_v2(tfrt_cublas_handle_t handle) {
  int error = tfrt_fake_library_begin("cublasDestroy", &errors, &handle->base);
  if (error == TFRT_CUBLAS_NOT_INITIALIZED) return tfrt_fake_end(error);
  tfrt_fake_library_destroy(&handle->base, sizeof(*handle));
  return tfrt_fake_end(error);
}

tfrt_cublas_status_t cublasSetStream_v2(tfrt_cublas_handle_t handle,
                                        tfrt_cuda_stream_handle_t stream) {
  int error = tfrt_fake_library_begin("cublasSetStream", &errors, &handle->base);
  if (!error) error = tfrt_fake_library_set_stream(&handle->base, stream, &errors);
  return tfrt_fake_end(error);
}

// --- Calls -------------------------------------------------------------------------------

// A call on its way into the stream of a handle.
typedef struct fake_call_s {
  tfrt_fake_library_call_t base;
  tfrt_cpu_blas_call_t call;
} fake_call_t;

static fake_call_t fake_call_begin(const char* name, tfrt_cublas_handle_t handle,
                                   tfrt_cpu_blas_kind_t kind) {
  return (fake_call_t){.base = tfrt_fake_library_call(name, &errors, &handle->base),
                       .call.kind = kind};
}

static int fake_call_end(const fake_call_t* call) {
  return tfrt_fake_library_end(&call->base, tfrt_cpu_blas_run, &call->call, sizeof(call->call));
}

// Notes that |count| elements at |data| are touched.
static void fake_call_touch(fake_call_t* call, const void* data, int64_t count,
                            tfrt_dtype_t dtype) {
  tfrt_fake_library_touch(&call->base, data, (size_t)count * tfrt_dtype_size(dtype));
}

static tfrt_dtype_t fake_dtype(fake_call_t* call, int type) {
  switch (type) {
    case TFRT_CUBLAS_R_32F:
      return TFRT_DTYPE_F32;
    case TFRT_CUBLAS_R_64F:
      return TFRT_DTYPE_F64;
    case TFRT_CUBLAS_R_16F:
      return TFRT_DTYPE_F16;
    case TFRT_CUBLAS_R_16BF:
      return TFRT_DTYPE_BF16;
    default:
      tfrt_fake_library_refuse(&call->base, "an unknown type");
      return TFRT_DTYPE_F32;
  }
}

static tfrt_blas_scalar_t fake_scalar(const void* number, tfrt_dtype_t dtype) {
  tfrt_blas_scalar_t scalar = {.dtype = dtype};
  memcpy(&scalar.f64, number, tfrt_dtype_size(dtype));
  return scalar;
}

static tfrt_blas_vector_t fake_vector(fake_call_t* call, const void* data, int type, int step,
                                      int count) {
  tfrt_dtype_t dtype = fake_dtype(call, type);
  if (count < 1 || step == 0) {
    tfrt_fake_library_refuse(&call->base, "a vector of no elements, or no steps");
  }
  fake_call_touch(call, data, (int64_t)(count - 1) * abs(step) + 1, dtype);
  return (tfrt_blas_vector_t){
      .address = (tfrt_device_address_t)(uintptr_t)data, .dtype = dtype, .step = step};
}

tfrt_cublas_status_t cublasAxpyEx(tfrt_cublas_handle_t handle, int count, const void* alpha,
                                  int alpha_type, const void* x, int x_type, int x_step, void* y,
                                  int y_type, int y_step, int execution_type) {
  fake_call_t call = fake_call_begin("cublasAxpyEx", handle, TFRT_CPU_BLAS_AXPY);
  tfrt_blas_axpy_t* axpy = &call.call.axpy;
  axpy->count = count;
  axpy->alpha = fake_scalar(alpha, fake_dtype(&call, alpha_type));
  axpy->x = fake_vector(&call, x, x_type, x_step, count);
  axpy->y = fake_vector(&call, y, y_type, y_step, count);
  axpy->execution = fake_dtype(&call, execution_type);
  return fake_call_end(&call);
}

tfrt_cublas_status_t cublasScalEx(tfrt_cublas_handle_t handle, int count, const void* alpha,
                                  int alpha_type, void* x, int x_type, int x_step,
                                  int execution_type) {
  fake_call_t call = fake_call_begin("cublasScalEx", handle, TFRT_CPU_BLAS_SCALE);
  tfrt_blas_scale_t* scale = &call.call.scale;
  scale->count = count;
  scale->alpha = fake_scalar(alpha, fake_dtype(&call, alpha_type));
  scale->x = fake_vector(&call, x, x_type, x_step, count);
  scale->execution = fake_dtype(&call, execution_type);
  return fake_call_end(&call);
}

// --- Products ----------------------------------------------------------------------------

// A matrix of |rows| rows and |columns| columns as it is stored, |count| times.
static tfrt_blas_matrix_t fake_matrix(fake_call_t* call, const void* data, int type, int height,
                                      long long distance, int rows, int columns, int count) {
  tfrt_dtype_t dtype = fake_dtype(call, type);
  if (rows < 0 || columns < 0 || count < 0 || height < 1 || height < rows) {
    tfrt_fake_library_refuse(&call->base, "a matrix whose columns don't fit");
  }
  int64_t elements = rows > 0 && columns > 0 && count > 0
                         ? (count - 1) * distance + (int64_t)(columns - 1) * height + rows
                         : 0;
  fake_call_touch(call, data, elements, dtype);
  return (tfrt_blas_matrix_t){.address = (tfrt_device_address_t)(uintptr_t)data,
                              .dtype = dtype,
                              .height = height,
                              .distance = distance};
}

static int fake_multiply(fake_call_t* call, tfrt_blas_multiply_t product, const void* alpha,
                         const void* beta, int compute_type) {
  tfrt_dtype_t scale = TFRT_DTYPE_F32;
  if (compute_type == TFRT_CUBLAS_COMPUTE_16F || compute_type == TFRT_CUBLAS_COMPUTE_16F_PEDANTIC) {
    scale = TFRT_DTYPE_F16;
  }
  if (compute_type == TFRT_CUBLAS_COMPUTE_64F || compute_type == TFRT_CUBLAS_COMPUTE_64F_PEDANTIC) {
    scale = TFRT_DTYPE_F64;
  }
  product.alpha = fake_scalar(alpha, scale);
  product.beta = fake_scalar(beta, scale);
  call->call.multiply = product;
  return fake_call_end(call);
}

// The batch without its numbers.
static tfrt_blas_multiply_t fake_product(int a_form, int b_form, int rows, int columns, int inner,
                                         int count) {
  return (tfrt_blas_multiply_t){.a_form = (tfrt_blas_form_t)a_form,
                                .b_form = (tfrt_blas_form_t)b_form,
                                .rows = rows,
                                .columns = columns,
                                .inner = inner,
                                .count = count};
}

tfrt_cublas_status_t cublasGemmEx(tfrt_cublas_handle_t handle, int a_form, int b_form, int rows,
                                  int columns, int inner, const void* alpha, const void* a,
                                  int a_type, int a_height, const void* b, int b_type, int b_height,
                                  const void* beta, void* c, int c_type, int c_height,
                                  int compute_type, int algorithm) {
  (void)algorithm;
  fake_call_t call = fake_call_begin("cublasGemmEx", handle, TFRT_CPU_BLAS_MULTIPLY);
  tfrt_blas_multiply_t product = fake_product(a_form, b_form, rows, columns, inner, 1);
  product.a =
      fake_matrix(&call, a, a_type, a_height, 0, a_form ? inner : rows, a_form ? rows : inner, 1);
  product.b = fake_matrix(&call, b, b_type, b_height, 0, b_form ? columns : inner,
                          b_form ? inner : columns, 1);
  product.c = fake_matrix(&call, c, c_type, c_height, 0, rows, columns, 1);
  return fake_multiply(&call, product, alpha, beta, compute_type);
}

tfrt_cublas_status_t cublasGemmStridedBatchedEx(
    tfrt_cublas_handle_t handle, int a_form, int b_form, int rows, int columns, int inner,
    const void* alpha, const void* a, int a_type, int a_height, long long a_distance, const void* b,
    int b_type, int b_height, long long b_distance, const void* beta, void* c, int c_type,
    int c_height, long long c_distance, int count, int compute_type, int algorithm) {
  (void)algorithm;
  fake_call_t call = fake_call_begin("cublasGemmStridedBatchedEx", handle, TFRT_CPU_BLAS_MULTIPLY);
  tfrt_blas_multiply_t product = fake_product(a_form, b_form, rows, columns, inner, count);
  product.a = fake_matrix(&call, a, a_type, a_height, a_distance, a_form ? inner : rows,
                          a_form ? rows : inner, count);
  product.b = fake_matrix(&call, b, b_type, b_height, b_distance, b_form ? columns : inner,
                          b_form ? inner : columns, count);
  product.c = fake_matrix(&call, c, c_type, c_height, c_distance, rows, columns, count);
  return fake_multiply(&call, product, alpha, beta, compute_type);
}

// --- Triangular systems ------------------------------------------------------------------

// Notes the lists of |count| addresses, and the matrices there, of |elements| elements each: that
// they are written before the call is what the real library can't see.
static tfrt_device_address_t fake_list(fake_call_t* call, const void* list, int count,
                                       int64_t elements, tfrt_dtype_t dtype) {
  fake_call_touch(call, list, count, TFRT_DTYPE_UI64);
  for (int i = 0; i < count && !call->base.error; ++i) {
    tfrt_cuda_address_t address = ((const tfrt_cuda_address_t*)list)[i];
    if (!tfrt_fake_can_use(call->base.library->context, address,
                           (size_t)elements * tfrt_dtype_size(dtype), false)) {
      call->base.error = TFRT_CUBLAS_INVALID_VALUE;
    }
  }
  return (tfrt_device_address_t)(uintptr_t)list;
}

static int fake_solve(const char* name, tfrt_cublas_handle_t handle, tfrt_blas_solve_t system,
                      const void* a, const void* b) {
  fake_call_t call = fake_call_begin(name, handle, TFRT_CPU_BLAS_SOLVE);
  int size = system.is_right ? system.columns : system.rows;
  if (size < 1 || system.a.height < size || system.b.height < system.rows) {
    tfrt_fake_library_refuse(&call.base, "a system whose columns don't fit");
  }
  system.a_addresses = fake_list(&call, a, system.count,
                                 (int64_t)(size - 1) * system.a.height + size, system.alpha.dtype);
  system.b_addresses =
      fake_list(&call, b, system.count,
                (int64_t)(system.columns - 1) * system.b.height + system.rows, system.alpha.dtype);
  call.call.solve = system;
  return fake_call_end(&call);
}

static tfrt_blas_solve_t fake_system(int side, int fill, int form, int diagonal, int rows,
                                     int columns, int a_height, int b_height, int count) {
  return (tfrt_blas_solve_t){.is_right = side == TFRT_CUBLAS_SIDE_RIGHT,
                             .is_upper = fill == TFRT_CUBLAS_FILL_UPPER,
                             .form = (tfrt_blas_form_t)form,
                             .has_unit_diagonal = diagonal == TFRT_CUBLAS_DIAGONAL_UNIT,
                             .rows = rows,
                             .columns = columns,
                             .a.height = a_height,
                             .b.height = b_height,
                             .count = count};
}

tfrt_cublas_status_t cublasStrsmBatched(tfrt_cublas_handle_t handle, int side, int fill, int form,
                                        int diagonal, int rows, int columns, const float* alpha,
                                        const float* const* a, int a_height, float* const* b,
                                        int b_height, int count) {
  tfrt_blas_solve_t system =
      fake_system(side, fill, form, diagonal, rows, columns, a_height, b_height, count);
  system.alpha = fake_scalar(alpha, TFRT_DTYPE_F32);
  return fake_solve("cublasStrsmBatched", handle, system, a, b);
}

tfrt_cublas_status_t cublasDtrsmBatched(tfrt_cublas_handle_t handle, int side, int fill, int form,
                                        int diagonal, int rows, int columns, const double* alpha,
                                        const double* const* a, int a_height, double* const* b,
                                        int b_height, int count) {
  tfrt_blas_solve_t system =
      fake_system(side, fill, form, diagonal, rows, columns, a_height, b_height, count);
  system.alpha = fake_scalar(alpha, TFRT_DTYPE_F64);
  return fake_solve("cublasDtrsmBatched", handle, system, a, b);
}
