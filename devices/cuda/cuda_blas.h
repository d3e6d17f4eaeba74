// SPDX-License-Identifier: Apache-2.0
//
// Shared by the two ways in which products of matrices are made, both NVIDIA's:
//
//    cuda_blas_lt.c    cuBLASLt, where it is: an algorithm is chosen once for each shape, with a
//                      workspace of the stream's own
//    cuda_blas.c       cuBLAS: all calls but those, and an algorithm that the caller names
//
// Private to this room.
//
// Thread rule: thread-compatible, but where a function says otherwise.
// Failure rule: as devices/device_blas.h.
#ifndef TFRT_DEVICES_CUDA_CUDA_BLAS_H_
#define TFRT_DEVICES_CUDA_CUDA_BLAS_H_

#include "devices/cuda/cuda_impl.h"
#include "devices/device_blas.h"

// --- cuda_blas.c ---

// Returns the status for |result| of the library's function |call|. Thread-safe.
tfrt_status_t tfrt_cuda_blas_status(tfrt_device_t* device, tfrt_cublas_status_t result,
                                    const char* call) TFRT_MUST_USE;

// The libraries' numbers. The caller has checked that |dtype| is a type of theirs. Thread-safe.
int tfrt_cuda_blas_type(tfrt_dtype_t dtype);
int tfrt_cuda_blas_compute(tfrt_blas_compute_t compute);

// How many names of files of a library, newest first, are of a CUDA newer than the driver, and
// would not start over it. Thread-safe.
size_t tfrt_cuda_blas_names_too_new(const tfrt_cuda_api_t* driver);

// --- cuda_blas_lt.c ---

// The products of one object, and the algorithms that were chosen for them.
typedef struct tfrt_cuda_blas_lt_s tfrt_cuda_blas_lt_t;

// Returns a new one (single owner) on |device|, whose context is the current one, or NULL: there is
// no cuBLASLt. Thread-safe.
tfrt_cuda_blas_lt_t* tfrt_cuda_blas_lt_create(tfrt_device_t* device);

// Frees |lt|, in the context of its device; NULL is allowed.
void tfrt_cuda_blas_lt_free(tfrt_cuda_blas_lt_t* lt);

// Puts |call| in |stream|, in the context of the device, and sets |*out_is_taken|; false: it is
// left to cuBLAS. A call with an error was not taken.
tfrt_status_t tfrt_cuda_blas_lt_multiply(tfrt_cuda_blas_lt_t* lt, tfrt_cuda_stream_t* stream,
                                         const tfrt_blas_multiply_t* call, bool* out_is_taken)
    TFRT_MUST_USE;

#endif  // TFRT_DEVICES_CUDA_CUDA_BLAS_H_
