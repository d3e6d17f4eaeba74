// SPDX-License-Identifier: Apache-2.0
//
// The idx format, in which the handwritten digits are published: one tensor per file.
// Numbers are big-endian.
//
//   byte 0   1   2      3      4
//        +---+---+------+------+-----------------+---------------------+
//        | 0 | 0 | type | rank | dims: rank x u32| elements, row-major |
//        +---+---+------+------+-----------------+---------------------+
//
//   type   8 ui8   9 i8   0x0B i16   0x0C i32   0x0D f32   0x0E f64
//
// These files are often compressed; the code that opens files decompresses them first.
//
// Thread rule: thread-safe.
// Failure rule: INVALID_ARGUMENT that says what is wrong; the bytes are not trusted.
#ifndef TFRT_HOST_RUNTIME_TENSOR_IDX_H_
#define TFRT_HOST_RUNTIME_TENSOR_IDX_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Returns true if |size| bytes at |data| begin as an idx file does. Thread-safe.
bool tfrt_idx_matches(const uint8_t* data, size_t size);

// Makes |*out_tensor| the tensor of the idx file of |size| bytes at |data|, with memory
// of its own from |allocator|. A byte too few or too many is an error. Thread-safe.
tfrt_status_t tfrt_idx_read(const uint8_t* data, size_t size, tfrt_allocator_t allocator,
                            tfrt_dense_host_tensor_t* out_tensor) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_TENSOR_IDX_H_
