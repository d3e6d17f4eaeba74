// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra on a device, by its vendor's library: vectors, products of matrices and
// triangular systems. Matrices are stored column by column, as such libraries have it:
//
//   element (row, column) of a matrix   address[row + column * height]
//   matrix i of a batch                 begins at element i * distance
//
// A call is work of its stream, like a kernel: it is in the stream when the call returns. This is
// where it is checked: types that go together, matrices that lie in their buffers, devices.
//
// Life:
//  1. Created at +1 by tfrt_device_create_blas(), which opens the library if nobody has.
//  2. Called with any streams of the device. The library's own state is per object: calls of one
//     object that meet wait for each other, those of two don't.
//  3. Released at any time: what is in a stream is still done. The last release may wait for it.
//
// Thread rule: thread-safe; the work of two threads has no order.
// Failure rule: as devices/device.h. UNAVAILABLE, with what would help, where the library is
// absent. Errors name the library's function and its name for the error; an error means that the
// work was not taken.
#ifndef TFRT_DEVICES_DEVICE_BLAS_H_
#define TFRT_DEVICES_DEVICE_BLAS_H_

#include "devices/device_allocator.h"
#include "devices/device_stream.h"
#include "host_runtime/tensor/dtype.h"

TFRT_API_BEGIN

// How a matrix is taken. All elements are real, so that the last two are the same.
typedef enum tfrt_blas_form_e {
  TFRT_BLAS_FORM_PLAIN = 0,
  TFRT_BLAS_FORM_TRANSPOSED,
  TFRT_BLAS_FORM_CONJUGATED,
} tfrt_blas_form_t;

// The type that sums are computed in. Pedantic: exactly in that type. Fast: by tensor cores, from
// operands that are rounded to the type behind the word.
typedef enum tfrt_blas_compute_e {
  TFRT_BLAS_COMPUTE_F16 = 0,
  TFRT_BLAS_COMPUTE_F16_PEDANTIC,
  TFRT_BLAS_COMPUTE_F32,
  TFRT_BLAS_COMPUTE_F32_PEDANTIC,
  TFRT_BLAS_COMPUTE_F32_FAST_F16,
  TFRT_BLAS_COMPUTE_F32_FAST_BF16,
  TFRT_BLAS_COMPUTE_F32_FAST_TF32,
  TFRT_BLAS_COMPUTE_F64,
  TFRT_BLAS_COMPUTE_F64_PEDANTIC,
} tfrt_blas_compute_t;

// The library chooses how a product is made; other numbers are the library's own.
#define TFRT_BLAS_ALGORITHM_DEFAULT (-1)

// A number of the host: f16, f32 or f64.
typedef struct tfrt_blas_scalar_s {
  tfrt_dtype_t dtype;
  union {
    uint16_t f16;  // as its bits
    float f32;
    double f64;
  };
} tfrt_blas_scalar_t;

// |address| is filled in for the backend.
typedef struct tfrt_blas_vector_s {
  tfrt_device_buffer_t* buffer;
  tfrt_device_address_t address;
  tfrt_dtype_t dtype;
  int32_t step;  // from one element to the next; less than 0: they lie backwards
} tfrt_blas_vector_t;

typedef struct tfrt_blas_matrix_s {
  tfrt_device_buffer_t* buffer;
  tfrt_device_address_t address;
  tfrt_dtype_t dtype;
  int32_t height;    // elements from one column to the next
  int64_t distance;  // elements from one matrix to the next; 0: all are the same one
} tfrt_blas_matrix_t;

// y = alpha * x + y; alpha is of the type |execution|, f32 or f64.
typedef struct tfrt_blas_axpy_s {
  int32_t count;
  tfrt_blas_scalar_t alpha;
  tfrt_blas_vector_t x;
  tfrt_blas_vector_t y;
  tfrt_dtype_t execution;
} tfrt_blas_axpy_t;

// x = alpha * x.
typedef struct tfrt_blas_scale_s {
  int32_t count;
  tfrt_blas_scalar_t alpha;
  tfrt_blas_vector_t x;
  tfrt_dtype_t execution;
} tfrt_blas_scale_t;

// c = alpha * (a times b) + beta * c: c of m rows and n columns, and |inner| terms per sum.
typedef struct tfrt_blas_multiply_s {
  tfrt_blas_form_t a_form;
  tfrt_blas_form_t b_form;
  int32_t rows;
  int32_t columns;
  int32_t inner;
  tfrt_blas_scalar_t alpha;
  tfrt_blas_matrix_t a;
  tfrt_blas_matrix_t b;
  tfrt_blas_scalar_t beta;
  tfrt_blas_matrix_t c;
  bool is_batch;  // else |count| is 1
  int32_t count;
  tfrt_blas_compute_t compute;
  int32_t algorithm;
} tfrt_blas_multiply_t;

// b becomes the x of a times x = alpha * b (or x times a): b of |rows| rows and |columns| columns,
// a triangular. f32 or f64 throughout. The matrices of a batch lie one behind the other.
typedef struct tfrt_blas_solve_s {
  bool is_right;
  bool is_upper;  // where the elements of a are, as it is stored
  tfrt_blas_form_t form;
  bool has_unit_diagonal;  // it isn't read, then
  int32_t rows;
  int32_t columns;
  tfrt_blas_scalar_t alpha;
  tfrt_blas_matrix_t a;
  tfrt_blas_matrix_t b;
  int32_t count;
  // Filled in for the backend: where |count| addresses of matrices are, for the device to read.
  tfrt_device_address_t a_addresses;
  tfrt_device_address_t b_addresses;
} tfrt_blas_solve_t;

typedef struct tfrt_device_blas_vtable_s {
  // Called with nothing but the base's device left.
  void (*destroy)(tfrt_device_blas_t* blas);
  tfrt_status_t (*axpy)(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                        const tfrt_blas_axpy_t* call);
  tfrt_status_t (*scale)(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                         const tfrt_blas_scale_t* call);
  tfrt_status_t (*multiply)(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                            const tfrt_blas_multiply_t* call);
  tfrt_status_t (*solve)(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                         const tfrt_blas_solve_t* call);
} tfrt_device_blas_vtable_t;

// Embedded first in every implementation. Constant but for the count.
struct tfrt_device_blas_s {
  const tfrt_device_blas_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;             // +1
  tfrt_device_allocator_t* staging;  // +1, of pinned memory; NULL until it is created
};

// Fills the zeroed |blas| in; |device| is retained. For backends. Thread-compatible.
void tfrt_device_blas_initialize(tfrt_device_blas_t* blas, const tfrt_device_blas_vtable_t* vtable,
                                 tfrt_device_t* device);

// Sets |*out_blas| (+1) to a new object on |device|. May block (a library is loaded).
// Thread-safe.
tfrt_status_t tfrt_device_create_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas)
    TFRT_MUST_USE;

// Adds one reference to |blas| and returns it. Thread-safe.
tfrt_device_blas_t* tfrt_device_blas_retain(tfrt_device_blas_t* blas);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_blas_release(tfrt_device_blas_t* blas);

// Puts |call| in |stream|. No element is no work. INVALID_ARGUMENT for types that don't go together
// or sizes below 0, OUT_OF_RANGE for elements beyond a buffer's end. Thread-safe.
tfrt_status_t tfrt_device_blas_axpy(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                    const tfrt_blas_axpy_t* call) TFRT_MUST_USE;
tfrt_status_t tfrt_device_blas_scale(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                     const tfrt_blas_scale_t* call) TFRT_MUST_USE;
tfrt_status_t tfrt_device_blas_multiply(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                        const tfrt_blas_multiply_t* call) TFRT_MUST_USE;
tfrt_status_t tfrt_device_blas_solve(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                     const tfrt_blas_solve_t* call) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_BLAS_H_
