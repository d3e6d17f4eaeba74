// SPDX-License-Identifier: Apache-2.0
//
// BTF, the Binary Tensor Format: several tensors in one file, as TFRT lays them out.
// All numbers are little-endian; offsets are multiples of 8.
//
//   count:u64 | offset:u64 x count | record | record | ...
//
//   record:   rank:u64 | dtype:u8 | layout:u8 | 0 x 6 | dims: rank x u64 | payload
//             | zeros up to a multiple of 8
//
//   layout 0, dense, row-major:   elements
//   layout 1, sparse (COO):       n:u64 | rank:u64 | coordinates: n * rank x i64
//                                 | n:u64 | n values
//
// The dtype codes are the file's own (i8 0, i16 1, i32 2, i64 3, f32 4, f64 5, u8 6,
// u16 7, u32 8, u64 9).
//
// Life of what is read: the bytes of a file are a host buffer; dense tensors that are read
// from it are views of that buffer, so nothing is copied and the buffer stays as long as
// any of them. (Where the buffer isn't aligned well enough, a tensor is a copy. A sparse
// one always is, and its coordinates were checked.)
//
// Thread rule: thread-safe, as long as nobody writes into the buffer.
// Failure rule: INVALID_ARGUMENT with the place in the file; the file may come from
// anybody and is not trusted. OUT_OF_RANGE for an index that it doesn't have.
#ifndef TFRT_HOST_RUNTIME_TENSOR_BTF_H_
#define TFRT_HOST_RUNTIME_TENSOR_BTF_H_

#include "host_runtime/base/string_builder.h"
#include "host_runtime/tensor/host_tensor.h"

// Sets |*out_count| to the number of tensors in |file|, whose table of offsets is
// checked; the records are not. Thread-safe.
tfrt_status_t tfrt_btf_count(const tfrt_host_buffer_t* file, uint64_t* out_count) TFRT_MUST_USE;

// Makes |*out_tensor| tensor |index| of |file|. |allocator| is for a copy, where one is
// needed. Thread-safe.
tfrt_status_t tfrt_btf_read_any(tfrt_host_buffer_t* file, uint64_t index,
                                tfrt_allocator_t allocator, tfrt_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

// The same for a tensor that must be dense: INVALID_ARGUMENT if it isn't. Thread-safe.
tfrt_status_t tfrt_btf_read(tfrt_host_buffer_t* file, uint64_t index, tfrt_allocator_t allocator,
                            tfrt_dense_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Appends a file with the |count| tensors at |tensors| to |out|, which should be empty.
// INVALID_ARGUMENT if a dtype or layout has no code in this format. Thread-compatible.
tfrt_status_t tfrt_btf_write(const tfrt_host_tensor_t* tensors, size_t count,
                             tfrt_string_builder_t* out) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_TENSOR_BTF_H_
