// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra by cuBLAS. One handle per object: it holds the stream of a call, and so calls of
// one handle come one after another.
#include "devices/cuda/cuda_blas.h"

typedef struct tfrt_cuda_blas_s {
  tfrt_device_blas_t base;
  const tfrt_cublas_api_t* api;
  tfrt_mutex_t mutex;  // held from the stream's choice to the end of the call; guards |lt|
  tfrt_cublas_handle_t handle;
  tfrt_cuda_blas_lt_t* lt;  // owned; NULL: cuBLAS makes all products
} tfrt_cuda_blas_t;

// --- The library -------------------------------------------------------------------------

static const tfrt_vendor_entry_t entries[] = {
#define TFRT_CUBLAS_ENTRY(name, symbol, parameters) {symbol, offsetof(tfrt_cublas_api_t, name)},
    TFRT_CUBLAS_ENTRIES(TFRT_CUBLAS_ENTRY)
#undef TFRT_CUBLAS_ENTRY
};

static const char* const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};

size_t tfrt_cuda_blas_names_too_new(const tfrt_cuda_api_t* driver) {
  int version = 0;
  if (driver->DriverGetVersion(&version) != TFRT_CUDA_SUCCESS || version >= 13000) return 0;
  return version >= 12000 ? 1 : 2;
}

// Sets |*out_api| to the library's entry points, which live as long as the platform.
static tfrt_status_t cuda_blas_open(tfrt_cuda_platform_t* platform,
                                    const tfrt_cublas_api_t** out_api) {
  size_t skipped = tfrt_cuda_blas_names_too_new(&platform->api);
  tfrt_vendor_library_t library = {
      .title = "cuBLAS",
      .names = names + skipped,
      .name_count = TFRT_ARRAY_SIZE(names) - skipped,
      .fix =
          "install the cuBLAS of CUDA 11, 12 or 13 (not one newer than the driver), or add its "
          "folder to LD_LIBRARY_PATH",
      .entries = entries,
      .entry_count = TFRT_ARRAY_SIZE(entries),
  };
  *out_api = &platform->cublas;
  return tfrt_cuda_platform_open(platform, &library, TFRT_CUDA_CUBLAS, &platform->cublas);
}

// --- Errors ------------------------------------------------------------------------------

tfrt_status_t tfrt_cuda_blas_status(tfrt_device_t* device, tfrt_cublas_status_t result,
                                    const char* call) {
  static const struct {
    tfrt_cublas_status_t result;
    const char* name;
    tfrt_status_code_t code;
  } errors[] = {
      {TFRT_CUBLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", TFRT_STATUS_UNAVAILABLE},
      {TFRT_CUBLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", TFRT_STATUS_RESOURCE_EXHAUSTED},
      {TFRT_CUBLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", TFRT_STATUS_INVALID_ARGUMENT},
      {TFRT_CUBLAS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", TFRT_STATUS_UNIMPLEMENTED},
      {TFRT_CUBLAS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", TFRT_STATUS_INTERNAL},
      {TFRT_CUBLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", TFRT_STATUS_INTERNAL},
      {TFRT_CUBLAS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", TFRT_STATUS_INTERNAL},
      {TFRT_CUBLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", TFRT_STATUS_UNIMPLEMENTED},
      {TFRT_CUBLAS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", TFRT_STATUS_UNAVAILABLE},
  };
  if (result == TFRT_CUBLAS_SUCCESS) return NULL;
  const char* name = "unknown error";
  tfrt_status_code_t code = TFRT_STATUS_INTERNAL;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(errors); ++i) {
    if (errors[i].result != result) continue;
    name = errors[i].name;
    code = errors[i].code;
  }
  return tfrt_status_create(code, "%s: %s failed: %s (%d)", device->name, call, name, result);
}

// --- Calls -------------------------------------------------------------------------------

static tfrt_status_t cuda_blas_end(tfrt_cuda_blas_t* blas, tfrt_cublas_status_t result,
                                   const char* call) {
  tfrt_device_t* device = blas->base.device;
  tfrt_mutex_unlock(&blas->mutex);
  tfrt_status_release(tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, ""));
  return tfrt_cuda_blas_status(device, result, call);
}

// Begins a call in |stream|. The caller has the handle until cuda_blas_end(), unless this
// fails.
static tfrt_status_t cuda_blas_begin(tfrt_cuda_blas_t* blas, tfrt_device_stream_t* stream) {
  tfrt_device_t* device = blas->base.device;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_mutex_lock(&blas->mutex);
  tfrt_cublas_status_t result =
      blas->api->SetStream(blas->handle, tfrt_cuda_stream_of(stream)->handle);
  if (result == TFRT_CUBLAS_SUCCESS) return NULL;
  return cuda_blas_end(blas, result, "cublasSetStream");
}

int tfrt_cuda_blas_type(tfrt_dtype_t dtype) {
  if (dtype == TFRT_DTYPE_F64) return TFRT_CUBLAS_R_64F;
  if (dtype == TFRT_DTYPE_F32) return TFRT_CUBLAS_R_32F;
  return dtype == TFRT_DTYPE_F16 ? TFRT_CUBLAS_R_16F : TFRT_CUBLAS_R_16BF;
}

static int cuda_blas_form(tfrt_blas_form_t form) {
  if (form == TFRT_BLAS_FORM_PLAIN) return TFRT_CUBLAS_OP_N;
  return form == TFRT_BLAS_FORM_TRANSPOSED ? TFRT_CUBLAS_OP_T : TFRT_CUBLAS_OP_C;
}

int tfrt_cuda_blas_compute(tfrt_blas_compute_t compute) {
  static const int numbers[] = {
      [TFRT_BLAS_COMPUTE_F16] = TFRT_CUBLAS_COMPUTE_16F,
      [TFRT_BLAS_COMPUTE_F16_PEDANTIC] = TFRT_CUBLAS_COMPUTE_16F_PEDANTIC,
      [TFRT_BLAS_COMPUTE_F32] = TFRT_CUBLAS_COMPUTE_32F,
      [TFRT_BLAS_COMPUTE_F32_PEDANTIC] = TFRT_CUBLAS_COMPUTE_32F_PEDANTIC,
      [TFRT_BLAS_COMPUTE_F32_FAST_F16] = TFRT_CUBLAS_COMPUTE_32F_FAST_16F,
      [TFRT_BLAS_COMPUTE_F32_FAST_BF16] = TFRT_CUBLAS_COMPUTE_32F_FAST_16BF,
      [TFRT_BLAS_COMPUTE_F32_FAST_TF32] = TFRT_CUBLAS_COMPUTE_32F_FAST_TF32,
      [TFRT_BLAS_COMPUTE_F64] = TFRT_CUBLAS_COMPUTE_64F,
      [TFRT_BLAS_COMPUTE_F64_PEDANTIC] = TFRT_CUBLAS_COMPUTE_64F_PEDANTIC,
  };
  return numbers[compute];
}

static void* cuda_blas_at(tfrt_device_address_t address) { return (void*)(uintptr_t)address; }

static tfrt_cuda_blas_t* cuda_blas_of(tfrt_device_blas_t* blas) {
  return TFRT_CONTAINER_OF(blas, tfrt_cuda_blas_t, base);
}

// Numbers of the host are read before the library's functions return.

static tfrt_status_t cuda_blas_axpy(tfrt_device_blas_t* base, tfrt_device_stream_t* stream,
                                    const tfrt_blas_axpy_t* call) {
  tfrt_cuda_blas_t* blas = cuda_blas_of(base);
  TFRT_RETURN_IF_ERROR(cuda_blas_begin(blas, stream));
  int type = tfrt_cuda_blas_type(call->x.dtype);
  int number_type = tfrt_cuda_blas_type(call->execution);
  tfrt_cublas_status_t result = blas->api->AxpyEx(
      blas->handle, call->count, &call->alpha.f64, number_type, cuda_blas_at(call->x.address), type,
      call->x.step, cuda_blas_at(call->y.address), type, call->y.step, number_type);
  return cuda_blas_end(blas, result, "cublasAxpyEx");
}

static tfrt_status_t cuda_blas_scale(tfrt_device_blas_t* base, tfrt_device_stream_t* stream,
                                     const tfrt_blas_scale_t* call) {
  tfrt_cuda_blas_t* blas = cuda_blas_of(base);
  TFRT_RETURN_IF_ERROR(cuda_blas_begin(blas, stream));
  int number_type = tfrt_cuda_blas_type(call->execution);
  tfrt_cublas_status_t result = blas->api->ScalEx(
      blas->handle, call->count, &call->alpha.f64, number_type, cuda_blas_at(call->x.address),
      tfrt_cuda_blas_type(call->x.dtype), call->x.step, number_type);
  return cuda_blas_end(blas, result, "cublasScalEx");
}

// The product by cuBLASLt, if that takes it.
static tfrt_status_t cuda_blas_multiply_lt(tfrt_cuda_blas_t* blas, tfrt_device_stream_t* stream,
                                           const tfrt_blas_multiply_t* call, bool* out_is_taken) {
  *out_is_taken = false;
  if (!blas->lt) return NULL;
  tfrt_device_t* device = blas->base.device;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_mutex_lock(&blas->mutex);
  tfrt_status_t status =
      tfrt_cuda_blas_lt_multiply(blas->lt, tfrt_cuda_stream_of(stream), call, out_is_taken);
  tfrt_mutex_unlock(&blas->mutex);
  tfrt_status_release(tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, ""));
  return status;
}

static tfrt_status_t cuda_blas_multiply(tfrt_device_blas_t* base, tfrt_device_stream_t* stream,
                                        const tfrt_blas_multiply_t* call) {
  tfrt_cuda_blas_t* blas = cuda_blas_of(base);
  bool is_taken;
  TFRT_RETURN_IF_ERROR(cuda_blas_multiply_lt(blas, stream, call, &is_taken));
  if (is_taken) return NULL;
  TFRT_RETURN_IF_ERROR(cuda_blas_begin(blas, stream));
  int a_form = cuda_blas_form(call->a_form);
  int b_form = cuda_blas_form(call->b_form);
  int from = tfrt_cuda_blas_type(call->a.dtype);
  int to = tfrt_cuda_blas_type(call->c.dtype);
  int compute = tfrt_cuda_blas_compute(call->compute);
  const void* a = cuda_blas_at(call->a.address);
  const void* b = cuda_blas_at(call->b.address);
  void* c = cuda_blas_at(call->c.address);
  if (!call->is_batch) {
    tfrt_cublas_status_t result =
        blas->api->GemmEx(blas->handle, a_form, b_form, call->rows, call->columns, call->inner,
                          &call->alpha.f64, a, from, call->a.height, b, from, call->b.height,
                          &call->beta.f64, c, to, call->c.height, compute, call->algorithm);
    return cuda_blas_end(blas, result, "cublasGemmEx");
  }
  tfrt_cublas_status_t result = blas->api->GemmStridedBatchedEx(
      blas->handle, a_form, b_form, call->rows, call->columns, call->inner, &call->alpha.f64, a,
      from, call->a.height, call->a.distance, b, from, call->b.height, call->b.distance,
      &call->beta.f64, c, to, call->c.height, call->c.distance, call->count, compute,
      call->algorithm);
  return cuda_blas_end(blas, result, "cublasGemmStridedBatchedEx");
}

static tfrt_status_t cuda_blas_solve(tfrt_device_blas_t* base, tfrt_device_stream_t* stream,
                                     const tfrt_blas_solve_t* call) {
  tfrt_cuda_blas_t* blas = cuda_blas_of(base);
  TFRT_RETURN_IF_ERROR(cuda_blas_begin(blas, stream));
  int side = call->is_right ? TFRT_CUBLAS_SIDE_RIGHT : TFRT_CUBLAS_SIDE_LEFT;
  int fill = call->is_upper ? TFRT_CUBLAS_FILL_UPPER : TFRT_CUBLAS_FILL_LOWER;
  int form = cuda_blas_form(call->form);
  int diagonal =
      call->has_unit_diagonal ? TFRT_CUBLAS_DIAGONAL_UNIT : TFRT_CUBLAS_DIAGONAL_NON_UNIT;
  const void* a = cuda_blas_at(call->a_addresses);
  const void* b = cuda_blas_at(call->b_addresses);
  if (call->alpha.dtype == TFRT_DTYPE_F32) {
    tfrt_cublas_status_t result = blas->api->StrsmBatched(
        blas->handle, side, fill, form, diagonal, call->rows, call->columns, &call->alpha.f32, a,
        call->a.height, b, call->b.height, call->count);
    return cuda_blas_end(blas, result, "cublasStrsmBatched");
  }
  tfrt_cublas_status_t result =
      blas->api->DtrsmBatched(blas->handle, side, fill, form, diagonal, call->rows, call->columns,
                              &call->alpha.f64, a, call->a.height, b, call->b.height, call->count);
  return cuda_blas_end(blas, result, "cublasDtrsmBatched");
}

// --- Life --------------------------------------------------------------------------------

static void cuda_blas_destroy(tfrt_device_blas_t* base) {
  tfrt_cuda_blas_t* blas = cuda_blas_of(base);
  tfrt_device_t* device = base->device;
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    // The library waits for the device here. Resources that it can't free end with the context.
    blas->api->Destroy(blas->handle);
    tfrt_cuda_blas_lt_free(blas->lt);
    status = tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, "");
  }
  tfrt_status_release(status);
  tfrt_mutex_deinitialize(&blas->mutex);
  tfrt_allocator_free(device->platform->allocator, blas, sizeof(*blas));
}

static const tfrt_device_blas_vtable_t blas_vtable = {
    .destroy = cuda_blas_destroy,
    .axpy = cuda_blas_axpy,
    .scale = cuda_blas_scale,
    .multiply = cuda_blas_multiply,
    .solve = cuda_blas_solve,
};

tfrt_status_t tfrt_cuda_device_create_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas) {
  const tfrt_cublas_api_t* api;
  TFRT_RETURN_IF_ERROR(cuda_blas_open(tfrt_cuda_platform_of(device), &api));
  tfrt_cuda_blas_t* blas =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*blas));
  if (!blas) return tfrt_status_out_of_memory();
  blas->api = api;
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    tfrt_cublas_status_t result = api->Create(&blas->handle);
    if (result == TFRT_CUBLAS_SUCCESS) blas->lt = tfrt_cuda_blas_lt_create(device);
    status = tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, "");
    if (!status) status = tfrt_cuda_blas_status(device, result, "cublasCreate");
  }
  if (status) {
    tfrt_allocator_free(device->platform->allocator, blas, sizeof(*blas));
    return status;
  }
  tfrt_mutex_initialize(&blas->mutex);
  tfrt_device_blas_initialize(&blas->base, &blas_vtable, device);
  *out_blas = &blas->base;
  return NULL;
}
