// SPDX-License-Identifier: Apache-2.0
#include "devices/device_blas.h"

#include <stdlib.h>

#include "devices/device_graph.h"

void tfrt_device_blas_initialize(tfrt_device_blas_t* blas, const tfrt_device_blas_vtable_t* vtable,
                                 tfrt_device_t* device) {
  blas->vtable = vtable;
  tfrt_ref_count_initialize(&blas->ref_count);
  blas->device = tfrt_device_retain(device);
}

tfrt_status_t tfrt_device_create_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas) {
  *out_blas = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  tfrt_device_blas_t* blas;
  TFRT_RETURN_IF_ERROR(device->vtable->create_blas(device, &blas));
  tfrt_status_t status =
      tfrt_device_allocator_create_caching(device, TFRT_DEVICE_SPACE_HOST, &blas->staging);
  if (status) {
    tfrt_device_blas_release(blas);
    return status;
  }
  *out_blas = blas;
  return NULL;
}

tfrt_device_blas_t* tfrt_device_blas_retain(tfrt_device_blas_t* blas) {
  tfrt_ref_count_increment(&blas->ref_count);
  return blas;
}

void tfrt_device_blas_release(tfrt_device_blas_t* blas) {
  if (!blas || !tfrt_ref_count_decrement(&blas->ref_count)) return;
  tfrt_device_t* device = blas->device;
  tfrt_device_allocator_release(blas->staging);
  blas->vtable->destroy(blas);
  tfrt_device_release(device);
}

// --- Checks ------------------------------------------------------------------------------

static tfrt_status_t device_blas_refuse(const tfrt_device_blas_t* blas, const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: %s", blas->device->name, what);
}

// The checks that all calls share.
static tfrt_status_t device_blas_check_stream(tfrt_device_blas_t* blas,
                                              tfrt_device_stream_t* stream) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(stream->device));
  if (stream->device != blas->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a stream of %s gets linear algebra of %s", stream->device->name,
                              blas->device->name);
  }
  return tfrt_device_capture_refuse(stream, "a call of a library");
}

// Checks that |buffer| is of the device and has |count| elements of |dtype|, and sets
// |*out_address|.
static tfrt_status_t device_blas_check_buffer(tfrt_device_blas_t* blas,
                                              tfrt_device_buffer_t* buffer, uint64_t count,
                                              tfrt_dtype_t dtype,
                                              tfrt_device_address_t* out_address) {
  if (buffer->device != blas->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "linear algebra of %s gets a buffer of %s", blas->device->name,
                              buffer->device->name);
  }
  *out_address = buffer->address;
  // Counts are below 2 to the 63: no product with the size of an element wraps around unseen.
  uint64_t size;
  if (__builtin_mul_overflow(count, (uint64_t)tfrt_dtype_size(dtype), &size)) size = SIZE_MAX;
  return tfrt_device_buffer_check(buffer, 0, (size_t)size);
}

static tfrt_status_t device_blas_check_vector(tfrt_device_blas_t* blas, tfrt_blas_vector_t* vector,
                                              int32_t count) {
  if (vector->step == 0) return device_blas_refuse(blas, "a vector with steps of 0 elements");
  uint64_t step = (uint64_t)llabs((long long)vector->step);
  uint64_t elements = count > 0 ? ((uint64_t)count - 1) * step + 1 : 0;
  return device_blas_check_buffer(blas, vector->buffer, elements, vector->dtype, &vector->address);
}

// A matrix of |rows| rows and |columns| columns as it is stored, |count| times.
static tfrt_status_t device_blas_check_matrix(tfrt_device_blas_t* blas, tfrt_blas_matrix_t* matrix,
                                              int32_t rows, int32_t columns, int32_t count) {
  if (matrix->height < 1 || matrix->height < rows) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: a matrix of %d rows has columns %d elements apart",
                              blas->device->name, rows, matrix->height);
  }
  if (matrix->distance < 0) {
    return device_blas_refuse(blas, "matrices of a batch less than 0 elements apart");
  }
  uint64_t elements = 0;
  if (rows > 0 && columns > 0 && count > 0) {
    elements = ((uint64_t)columns - 1) * (uint64_t)matrix->height + (uint64_t)rows;
    uint64_t others;
    if (__builtin_mul_overflow((uint64_t)count - 1, (uint64_t)matrix->distance, &others) ||
        __builtin_add_overflow(elements, others, &elements)) {
      elements = UINT64_MAX;
    }
  }
  return device_blas_check_buffer(blas, matrix->buffer, elements, matrix->dtype, &matrix->address);
}

// Whether a number of |execution| scales vectors of |dtype|.
static bool device_blas_can_scale(tfrt_dtype_t dtype, const tfrt_blas_scalar_t* alpha,
                                  tfrt_dtype_t execution) {
  if (alpha->dtype != execution) return false;
  if (execution == TFRT_DTYPE_F64) return dtype == TFRT_DTYPE_F64;
  return execution == TFRT_DTYPE_F32 &&
         (dtype == TFRT_DTYPE_F32 || dtype == TFRT_DTYPE_F16 || dtype == TFRT_DTYPE_BF16);
}

// Whether matrices of these types are multiplied that way.
static bool device_blas_can_multiply(const tfrt_blas_multiply_t* call) {
  tfrt_dtype_t from = call->a.dtype;
  tfrt_dtype_t to = call->c.dtype;
  tfrt_dtype_t scale = TFRT_DTYPE_F32;
  bool fits = from == call->b.dtype;
  switch (call->compute) {
    case TFRT_BLAS_COMPUTE_F16:
    case TFRT_BLAS_COMPUTE_F16_PEDANTIC:
      scale = TFRT_DTYPE_F16;
      fits &= from == TFRT_DTYPE_F16 && to == TFRT_DTYPE_F16;
      break;
    case TFRT_BLAS_COMPUTE_F32:
    case TFRT_BLAS_COMPUTE_F32_PEDANTIC:
      fits &= from == TFRT_DTYPE_F32 || from == TFRT_DTYPE_F16 || from == TFRT_DTYPE_BF16;
      fits &= to == from || to == TFRT_DTYPE_F32;
      break;
    case TFRT_BLAS_COMPUTE_F32_FAST_F16:
    case TFRT_BLAS_COMPUTE_F32_FAST_BF16:
    case TFRT_BLAS_COMPUTE_F32_FAST_TF32:
      fits &= from == TFRT_DTYPE_F32 && to == TFRT_DTYPE_F32;
      break;
    case TFRT_BLAS_COMPUTE_F64:
    case TFRT_BLAS_COMPUTE_F64_PEDANTIC:
      scale = TFRT_DTYPE_F64;
      fits &= from == TFRT_DTYPE_F64 && to == TFRT_DTYPE_F64;
      break;
  }
  return fits && call->alpha.dtype == scale && call->beta.dtype == scale;
}

// --- Calls -------------------------------------------------------------------------------

tfrt_status_t tfrt_device_blas_axpy(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                    const tfrt_blas_axpy_t* given) {
  tfrt_blas_axpy_t call = *given;
  TFRT_RETURN_IF_ERROR(device_blas_check_stream(blas, stream));
  if (call.count < 0) return device_blas_refuse(blas, "vectors of less than 0 elements");
  if (call.x.dtype != call.y.dtype ||
      !device_blas_can_scale(call.x.dtype, &call.alpha, call.execution)) {
    return device_blas_refuse(blas,
                              "vectors are added that have different types, or with a number "
                              "that is not of the type f32 (of f64 for vectors of f64)");
  }
  TFRT_RETURN_IF_ERROR(device_blas_check_vector(blas, &call.x, call.count));
  TFRT_RETURN_IF_ERROR(device_blas_check_vector(blas, &call.y, call.count));
  if (call.count == 0) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(call.x.buffer, stream));
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(call.y.buffer, stream));
  return blas->vtable->axpy(blas, stream, &call);
}

tfrt_status_t tfrt_device_blas_scale(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                     const tfrt_blas_scale_t* given) {
  tfrt_blas_scale_t call = *given;
  TFRT_RETURN_IF_ERROR(device_blas_check_stream(blas, stream));
  if (call.count < 0) return device_blas_refuse(blas, "a vector of less than 0 elements");
  // Libraries take no other steps here.
  if (call.x.step < 1) return device_blas_refuse(blas, "a vector is scaled backwards");
  if (!device_blas_can_scale(call.x.dtype, &call.alpha, call.execution)) {
    return device_blas_refuse(blas,
                              "a vector is scaled by a number that is not of the type f32 (of "
                              "f64 for vectors of f64)");
  }
  TFRT_RETURN_IF_ERROR(device_blas_check_vector(blas, &call.x, call.count));
  if (call.count == 0) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(call.x.buffer, stream));
  return blas->vtable->scale(blas, stream, &call);
}

// OK if the matrices of |call| are where they say; |call->count| is at least 0.
static tfrt_status_t device_blas_check_multiply(tfrt_device_blas_t* blas,
                                                tfrt_blas_multiply_t* call) {
  int32_t rows = call->rows;
  int32_t columns = call->columns;
  int32_t inner = call->inner;
  bool a_is_plain = call->a_form == TFRT_BLAS_FORM_PLAIN;
  bool b_is_plain = call->b_form == TFRT_BLAS_FORM_PLAIN;
  TFRT_RETURN_IF_ERROR(device_blas_check_matrix(blas, &call->a, a_is_plain ? rows : inner,
                                                a_is_plain ? inner : rows, call->count));
  TFRT_RETURN_IF_ERROR(device_blas_check_matrix(blas, &call->b, b_is_plain ? inner : columns,
                                                b_is_plain ? columns : inner, call->count));
  TFRT_RETURN_IF_ERROR(device_blas_check_matrix(blas, &call->c, rows, columns, call->count));
  if (call->count < 2 || rows == 0 || columns == 0) return NULL;
  int64_t last = (int64_t)(columns - 1) * call->c.height + rows;
  if (call->c.distance >= last) return NULL;
  return device_blas_refuse(blas, "the products of a batch overlap");
}

tfrt_status_t tfrt_device_blas_multiply(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                        const tfrt_blas_multiply_t* given) {
  tfrt_blas_multiply_t call = *given;
  TFRT_RETURN_IF_ERROR(device_blas_check_stream(blas, stream));
  if (call.rows < 0 || call.columns < 0 || call.inner < 0 || call.count < 0) {
    return device_blas_refuse(blas, "matrices of less than 0 rows or columns, or so many");
  }
  if (!device_blas_can_multiply(&call)) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "%s: matrices of %s and %s are not multiplied to ones of %s that way, or not with numbers "
        "of %s and %s",
        blas->device->name, tfrt_dtype_name(call.a.dtype), tfrt_dtype_name(call.b.dtype),
        tfrt_dtype_name(call.c.dtype), tfrt_dtype_name(call.alpha.dtype),
        tfrt_dtype_name(call.beta.dtype));
  }
  TFRT_RETURN_IF_ERROR(device_blas_check_multiply(blas, &call));
  if (call.rows == 0 || call.columns == 0 || call.count == 0) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(call.a.buffer, stream));
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(call.b.buffer, stream));
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(call.c.buffer, stream));
  return blas->vtable->multiply(blas, stream, &call);
}

// --- Triangular systems ------------------------------------------------------------------

static tfrt_status_t device_blas_check_solve(tfrt_device_blas_t* blas, tfrt_blas_solve_t* call) {
  tfrt_dtype_t dtype = call->alpha.dtype;
  if (call->rows < 0 || call->columns < 0 || call->count < 0) {
    return device_blas_refuse(blas, "matrices of less than 0 rows or columns, or so many");
  }
  if ((dtype != TFRT_DTYPE_F32 && dtype != TFRT_DTYPE_F64) || call->a.dtype != dtype ||
      call->b.dtype != dtype) {
    return device_blas_refuse(blas, "triangular systems are of f32 or f64 throughout");
  }
  int32_t size = call->is_right ? call->columns : call->rows;
  call->a.distance = (int64_t)call->a.height * size;
  call->b.distance = (int64_t)call->b.height * call->columns;
  TFRT_RETURN_IF_ERROR(device_blas_check_matrix(blas, &call->a, size, size, call->count));
  return device_blas_check_matrix(blas, &call->b, call->rows, call->columns, call->count);
}

// Sets |*out_list| (+1) to the addresses of all matrices a, and then of all b, of |call|, where
// the device finds them.
static tfrt_status_t device_blas_list(tfrt_device_blas_t* blas, tfrt_blas_solve_t* call,
                                      tfrt_device_buffer_t** out_list) {
  size_t count = (size_t)call->count;
  size_t size = tfrt_dtype_size(call->alpha.dtype);
  TFRT_RETURN_IF_ERROR(tfrt_device_allocator_allocate(
      blas->staging, NULL, 2 * count * sizeof(tfrt_device_address_t), out_list));
  tfrt_device_address_t* addresses = tfrt_device_buffer_host_data(*out_list);
  for (size_t i = 0; i < count; ++i) {
    addresses[i] = call->a.address + i * (size_t)call->a.distance * size;
    addresses[count + i] = call->b.address + i * (size_t)call->b.distance * size;
  }
  call->a_addresses = (*out_list)->address;
  call->b_addresses = (*out_list)->address + count * sizeof(tfrt_device_address_t);
  return NULL;
}

tfrt_status_t tfrt_device_blas_solve(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                     const tfrt_blas_solve_t* given) {
  tfrt_blas_solve_t call = *given;
  TFRT_RETURN_IF_ERROR(device_blas_check_stream(blas, stream));
  TFRT_RETURN_IF_ERROR(device_blas_check_solve(blas, &call));
  if (call.rows == 0 || call.columns == 0 || call.count == 0) return NULL;
  tfrt_device_buffer_t* list;
  TFRT_RETURN_IF_ERROR(device_blas_list(blas, &call, &list));
  tfrt_status_t status = tfrt_device_buffer_use(call.a.buffer, stream);
  if (!status) status = tfrt_device_buffer_use(call.b.buffer, stream);
  if (!status) status = tfrt_device_buffer_use(list, stream);
  if (!status) status = blas->vtable->solve(blas, stream, &call);
  // The device reads the list when it gets there; the memory comes back behind that.
  tfrt_device_buffer_release(list);
  return status;
}
