// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra, by the library of a device.
#include "devices/device_blas.h"

#include <stdio.h>

#include "host_runtime/bef/bef_attribute.h"
#include "kernels/device/device_job.h"
#include "kernels/device/kernel_groups.h"
#include "kernels/device/named_number.h"
#include "kernels/device/ops.h"

// --- Names -----------------------------------------------------------------------------

#define NAMES(text, table) \
  { text, table, TFRT_ARRAY_SIZE(table) }

static const tfrt_named_number_t type_names[] = {
    {"CUDA_R_16F", TFRT_DTYPE_F16},
    {"CUDA_R_16BF", TFRT_DTYPE_BF16},
    {"CUDA_R_32F", TFRT_DTYPE_F32},
    {"CUDA_R_64F", TFRT_DTYPE_F64},
};
static const tfrt_named_number_t form_names[] = {
    {"CUBLAS_OP_N", TFRT_BLAS_FORM_PLAIN},
    {"CUBLAS_OP_T", TFRT_BLAS_FORM_TRANSPOSED},
    {"CUBLAS_OP_C", TFRT_BLAS_FORM_CONJUGATED},
};
static const tfrt_named_number_t compute_names[] = {
    {"CUBLAS_COMPUTE_16F", TFRT_BLAS_COMPUTE_F16},
    {"CUBLAS_COMPUTE_16F_PEDANTIC", TFRT_BLAS_COMPUTE_F16_PEDANTIC},
    {"CUBLAS_COMPUTE_32F", TFRT_BLAS_COMPUTE_F32},
    {"CUBLAS_COMPUTE_32F_PEDANTIC", TFRT_BLAS_COMPUTE_F32_PEDANTIC},
    {"CUBLAS_COMPUTE_32F_FAST_16F", TFRT_BLAS_COMPUTE_F32_FAST_F16},
    {"CUBLAS_COMPUTE_32F_FAST_16BF", TFRT_BLAS_COMPUTE_F32_FAST_BF16},
    {"CUBLAS_COMPUTE_32F_FAST_TF32", TFRT_BLAS_COMPUTE_F32_FAST_TF32},
    {"CUBLAS_COMPUTE_64F", TFRT_BLAS_COMPUTE_F64},
    {"CUBLAS_COMPUTE_64F_PEDANTIC", TFRT_BLAS_COMPUTE_F64_PEDANTIC},
};
static const tfrt_named_number_t side_names[] = {{"CUBLAS_SIDE_LEFT", 0}, {"CUBLAS_SIDE_RIGHT", 1}};
static const tfrt_named_number_t fill_names[] = {{"CUBLAS_FILL_MODE_LOWER", 0},
                                                 {"CUBLAS_FILL_MODE_UPPER", 1}};
static const tfrt_named_number_t diagonal_names[] = {{"CUBLAS_DIAG_NON_UNIT", 0},
                                                     {"CUBLAS_DIAG_UNIT", 1}};

static const tfrt_named_numbers_t types = NAMES("type of elements", type_names);
static const tfrt_named_numbers_t forms = NAMES("form of a matrix", form_names);
static const tfrt_named_numbers_t computes = NAMES("type of sums", compute_names);
static const tfrt_named_numbers_t sides = NAMES("side", side_names);
static const tfrt_named_numbers_t fills = NAMES("half of a matrix", fill_names);
static const tfrt_named_numbers_t diagonals = NAMES("kind of diagonal", diagonal_names);

// Sets |*out_number| to what attribute |index| names, unless |*status| is an error already.
static void gpu_blas_name(const tfrt_kernel_frame_t* frame, uint32_t index,
                          const tfrt_named_numbers_t* numbers, int* out_number,
                          tfrt_status_t* status) {
  *out_number = 0;
  if (!*status) *status = tfrt_named_number_read(numbers, frame->attributes[index], out_number);
}

static tfrt_dtype_t gpu_blas_type(const tfrt_kernel_frame_t* frame, uint32_t index,
                                  tfrt_status_t* status) {
  int number;
  gpu_blas_name(frame, index, &types, &number, status);
  return (tfrt_dtype_t)number;
}

// --- Arguments -------------------------------------------------------------------------

static int32_t gpu_blas_i32(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const int32_t*)tfrt_kernel_frame_payload(frame, index);
}

static int64_t gpu_blas_i64(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const int64_t*)tfrt_kernel_frame_payload(frame, index);
}

// The number that argument |index| is; of no type if it is none of those that scale.
static tfrt_blas_scalar_t gpu_blas_scalar(const tfrt_kernel_frame_t* frame, uint32_t index) {
  tfrt_blas_scalar_t scalar = {.dtype = TFRT_DTYPE_INVALID};
  const void* payload = tfrt_kernel_frame_payload(frame, index);
  tfrt_type_id_t type = frame->arguments[index]->type_id;
  if (type == TFRT_TYPE_F16) {
    scalar.dtype = TFRT_DTYPE_F16;
    scalar.f16 = *(const uint16_t*)payload;
  } else if (type == TFRT_TYPE_F32) {
    scalar.dtype = TFRT_DTYPE_F32;
    scalar.f32 = *(const float*)payload;
  } else if (type == TFRT_TYPE_F64) {
    scalar.dtype = TFRT_DTYPE_F64;
    scalar.f64 = *(const double*)payload;
  }
  return scalar;
}

static tfrt_blas_vector_t gpu_blas_vector(const tfrt_kernel_frame_t* frame, uint32_t index,
                                          tfrt_dtype_t dtype) {
  return (tfrt_blas_vector_t){.buffer = tfrt_gpu_argument(frame, index),
                              .dtype = dtype,
                              .step = gpu_blas_i32(frame, index + 1)};
}

static tfrt_blas_matrix_t gpu_blas_matrix(const tfrt_kernel_frame_t* frame, uint32_t index,
                                          tfrt_dtype_t dtype) {
  return (tfrt_blas_matrix_t){.buffer = tfrt_gpu_argument(frame, index),
                              .dtype = dtype,
                              .height = gpu_blas_i32(frame, index + 1)};
}

// The stream that a call is for.
static tfrt_device_stream_t* gpu_blas_stream(const tfrt_kernel_frame_t* frame) {
  return tfrt_gpu_stream_argument(frame, 1)->stream;
}

// --- Handles ---------------------------------------------------------------------------

static tfrt_status_t gpu_keep_blas(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_gpu_context_t* context = *(tfrt_gpu_context_t**)tfrt_gpu_job_payload(job, 0);
  tfrt_device_blas_t* blas;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_blas(context->device, &blas));
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_BLAS, blas);
  return NULL;
}

static void gpu_blas_create(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_blas);
}

// Whether |name| is CUBLAS_GEMM_ALGO, a number up to |last|, and |suffix|.
static bool gpu_blas_parse_algorithm(tfrt_string_view_t name, const char* suffix, int32_t last,
                                     int32_t* out_number) {
  for (int32_t i = 0; i <= last; ++i) {
    char text[64];
    snprintf(text, sizeof(text), "CUBLAS_GEMM_ALGO%d%s", i, suffix);
    *out_number = i;
    if (tfrt_string_view_equal(name, tfrt_string_view_of(text))) return true;
  }
  return false;
}

// The library's numbers: -1 and 99 leave the choice to it.
static bool gpu_blas_find_algorithm(tfrt_string_view_t name, int32_t* out_number) {
  *out_number = TFRT_BLAS_ALGORITHM_DEFAULT;
  if (tfrt_string_view_equal(name, tfrt_string_view_of("CUBLAS_GEMM_DEFAULT"))) return true;
  *out_number = 99;
  if (tfrt_string_view_equal(name, tfrt_string_view_of("CUBLAS_GEMM_DEFAULT_TENSOR_OP"))) {
    return true;
  }
  if (gpu_blas_parse_algorithm(name, "", 23, out_number)) return true;
  bool is_found = gpu_blas_parse_algorithm(name, "_TENSOR_OP", 15, out_number);
  *out_number += 100;
  return is_found;
}

static void gpu_blas_gemm_algo(tfrt_kernel_frame_t* frame) {
  tfrt_string_view_t name = tfrt_bef_attribute_string(frame->attributes[0]);
  int32_t number;
  if (!gpu_blas_find_algorithm(name, &number)) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "'%.*s' is no way to make a product, which is one of: "
                           "CUBLAS_GEMM_DEFAULT, CUBLAS_GEMM_ALGO0 to 23, and with _TENSOR_OP "
                           "behind it CUBLAS_GEMM_DEFAULT and CUBLAS_GEMM_ALGO0 to 15",
                           TFRT_STRING_VIEW_ARGUMENTS(name));
    return;
  }
  tfrt_async_value_t* value =
      tfrt_async_value_create_available(tfrt_gpu_type_id(TFRT_GPU_BLAS_ALGORITHM));
  if (value) *(int32_t*)tfrt_async_value_payload(value) = number;
  tfrt_kernel_frame_set(frame, 0, value ? value : tfrt_async_value_out_of_memory());
}

// --- Vectors ---------------------------------------------------------------------------

// OK if |scalar| is of the type that the text says, or |status|, an error.
static tfrt_status_t gpu_blas_check_scalar(tfrt_status_t status, const tfrt_blas_scalar_t* scalar,
                                           tfrt_dtype_t dtype) {
  if (status || scalar->dtype == dtype) return status;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "alpha is not %s, as typeAlpha says",
                            tfrt_dtype_name(dtype));
}

static void gpu_blas_axpy(tfrt_kernel_frame_t* frame) {
  tfrt_status_t status = NULL;
  tfrt_blas_axpy_t call = {
      .count = gpu_blas_i32(frame, 2),
      .alpha = gpu_blas_scalar(frame, 3),
      .x = gpu_blas_vector(frame, 4, gpu_blas_type(frame, 2, &status)),
      .y = gpu_blas_vector(frame, 6, gpu_blas_type(frame, 3, &status)),
      .execution = gpu_blas_type(frame, 0, &status),
  };
  tfrt_dtype_t type = gpu_blas_type(frame, 1, &status);
  status = gpu_blas_check_scalar(status, &call.alpha, type);
  if (!status) {
    status = tfrt_device_blas_axpy(tfrt_gpu_argument(frame, 0), gpu_blas_stream(frame), &call);
  }
  tfrt_gpu_finish_take(frame, status);
}

static void gpu_blas_scal(tfrt_kernel_frame_t* frame) {
  tfrt_status_t status = NULL;
  tfrt_blas_scale_t call = {
      .count = gpu_blas_i32(frame, 2),
      .alpha = gpu_blas_scalar(frame, 3),
      .x = gpu_blas_vector(frame, 4, gpu_blas_type(frame, 2, &status)),
      .execution = gpu_blas_type(frame, 0, &status),
  };
  tfrt_dtype_t type = gpu_blas_type(frame, 1, &status);
  status = gpu_blas_check_scalar(status, &call.alpha, type);
  if (!status) {
    status = tfrt_device_blas_scale(tfrt_gpu_argument(frame, 0), gpu_blas_stream(frame), &call);
  }
  tfrt_gpu_finish_take(frame, status);
}

// --- Products --------------------------------------------------------------------------

// Reads the parts that both products share: the attributes, and the first six arguments. The
// matrices are arguments |a|, |b| and |c|; beta stands before |c|.
static tfrt_status_t gpu_blas_read_product(const tfrt_kernel_frame_t* frame, uint32_t a, uint32_t b,
                                           uint32_t c, tfrt_blas_multiply_t* out_call) {
  tfrt_status_t status = NULL;
  int compute;
  int a_form;
  int b_form;
  gpu_blas_name(frame, 0, &computes, &compute, &status);
  gpu_blas_name(frame, 1, &forms, &a_form, &status);
  gpu_blas_name(frame, 2, &forms, &b_form, &status);
  *out_call = (tfrt_blas_multiply_t){
      .a_form = (tfrt_blas_form_t)a_form,
      .b_form = (tfrt_blas_form_t)b_form,
      .rows = gpu_blas_i32(frame, 2),
      .columns = gpu_blas_i32(frame, 3),
      .inner = gpu_blas_i32(frame, 4),
      .alpha = gpu_blas_scalar(frame, 5),
      .a = gpu_blas_matrix(frame, a, gpu_blas_type(frame, 3, &status)),
      .b = gpu_blas_matrix(frame, b, gpu_blas_type(frame, 4, &status)),
      .beta = gpu_blas_scalar(frame, c - 1),
      .c = gpu_blas_matrix(frame, c, gpu_blas_type(frame, 5, &status)),
      .count = 1,
      .compute = (tfrt_blas_compute_t)compute,
  };
  return status;
}

static void gpu_blas_give_product(tfrt_kernel_frame_t* frame, tfrt_status_t status,
                                  const tfrt_blas_multiply_t* call) {
  if (!status) {
    status = tfrt_device_blas_multiply(tfrt_gpu_argument(frame, 0), gpu_blas_stream(frame), call);
  }
  tfrt_gpu_finish_take(frame, status);
}

static void gpu_blas_gemm(tfrt_kernel_frame_t* frame) {
  tfrt_blas_multiply_t call;
  tfrt_status_t status = gpu_blas_read_product(frame, 6, 8, 11, &call);
  call.algorithm = gpu_blas_i32(frame, 13);
  gpu_blas_give_product(frame, status, &call);
}

static void gpu_blas_gemm_batch(tfrt_kernel_frame_t* frame) {
  tfrt_blas_multiply_t call;
  tfrt_status_t status = gpu_blas_read_product(frame, 6, 9, 13, &call);
  call.a.distance = gpu_blas_i64(frame, 8);
  call.b.distance = gpu_blas_i64(frame, 11);
  call.c.distance = gpu_blas_i64(frame, 15);
  call.count = gpu_blas_i32(frame, 16);
  call.algorithm = gpu_blas_i32(frame, 17);
  call.is_batch = true;
  gpu_blas_give_product(frame, status, &call);
}

// --- Triangular systems ----------------------------------------------------------------

static void gpu_blas_trsm_batch(tfrt_kernel_frame_t* frame) {
  tfrt_status_t status = NULL;
  int diagonal;
  int fill;
  int side;
  int form;
  tfrt_dtype_t dtype = gpu_blas_type(frame, 0, &status);
  gpu_blas_name(frame, 1, &diagonals, &diagonal, &status);
  gpu_blas_name(frame, 2, &fills, &fill, &status);
  gpu_blas_name(frame, 3, &sides, &side, &status);
  gpu_blas_name(frame, 4, &forms, &form, &status);
  tfrt_blas_solve_t call = {
      .is_right = side != 0,
      .is_upper = fill != 0,
      .form = (tfrt_blas_form_t)form,
      .has_unit_diagonal = diagonal != 0,
      .rows = gpu_blas_i32(frame, 2),
      .columns = gpu_blas_i32(frame, 3),
      .alpha = gpu_blas_scalar(frame, 4),
      .a = gpu_blas_matrix(frame, 5, dtype),
      .b = gpu_blas_matrix(frame, 7, dtype),
      .count = gpu_blas_i32(frame, 9),
  };
  if (!status) {
    status = tfrt_device_blas_solve(tfrt_gpu_argument(frame, 0), gpu_blas_stream(frame), &call);
  }
  tfrt_gpu_finish_take(frame, status);
}

// --- Registration ----------------------------------------------------------------------

static const tfrt_kernel_registration_t kernels[] = {
    {"tfrt_gpu.blas.create", gpu_blas_create},
    {"tfrt_gpu.blas.axpy", gpu_blas_axpy},
    {"tfrt_gpu.blas.scal", gpu_blas_scal},
    {"tfrt_gpu.blas.gemm.algo", gpu_blas_gemm_algo},
    {"tfrt_gpu.blas.gemm", gpu_blas_gemm},
    {"tfrt_gpu.blas.gemm.batch", gpu_blas_gemm_batch},
    {"tfrt_gpu.blas.trsm.batch", gpu_blas_trsm_batch},
};

tfrt_status_t tfrt_blas_kernels_register(tfrt_kernel_registry_t* registry) {
  return tfrt_kernel_registry_add_all(registry, &tfrt_blas_ops, kernels, TFRT_ARRAY_SIZE(kernels));
}
