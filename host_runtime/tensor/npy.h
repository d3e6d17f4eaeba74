// SPDX-License-Identifier: Apache-2.0
//
// The .npy format, in which numpy keeps one array per file.
//
//   "\x93NUMPY" major minor | length of the header: u16 (version 1) or u32 | header | elements
//
//   header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, padded with blanks
//
// Little-endian arrays of numbers and truth values in C order are read; others are refused by what
// they are.
//
// Thread rule: thread-safe.
// Failure rule: INVALID_ARGUMENT that says what is wrong; the bytes are not trusted.
#ifndef TFRT_HOST_RUNTIME_TENSOR_NPY_H_
#define TFRT_HOST_RUNTIME_TENSOR_NPY_H_

#include <stdbool.h>

#include "host_runtime/base/string_builder.h"
#include "host_runtime/tensor/dense_host_tensor.h"

// Returns true if |size| bytes at |data| begin as a .npy file does. Thread-safe.
bool tfrt_npy_matches(const uint8_t* data, size_t size);

// Makes |*out_tensor| the tensor of the .npy file of |size| bytes at |data|, with memory of its own
// from |allocator|. A byte too few or too many is an error. Thread-safe.
tfrt_status_t tfrt_npy_read(const uint8_t* data, size_t size, tfrt_allocator_t allocator,
                            tfrt_dense_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Appends |tensor| as a .npy file to |out|; bf16, which numpy lacks, as the f32 of its values.
// UNIMPLEMENTED for elements that are no plain or 16-bit numbers. Thread-safe, as |out| is.
tfrt_status_t tfrt_npy_write(const tfrt_dense_host_tensor_t* tensor, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_TENSOR_NPY_H_
