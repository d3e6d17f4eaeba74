// SPDX-License-Identifier: Apache-2.0
//
// The .npz format, in which numpy keeps several arrays by name: a zip archive with a member
// NAME.npy for each, packed (numpy.savez_compressed) or not. Reading archives is the system's
// business (libzip), opened when the first one comes.
//
// Archives are untrusted: whatever the bytes are, there is a tensor or an error. A member unpacks
// to at most TFRT_NPZ_MAX_UNPACKED bytes.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT that says what is wrong with the archive or its array; NOT_FOUND
// if it has no such array, or the system has no libzip; DATA_LOSS for a member that is broken;
// RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_TENSOR_FILES_NPZ_H_
#define TFRT_KERNELS_TENSOR_FILES_NPZ_H_

#include <stdbool.h>

#include "host_runtime/base/string_view.h"
#include "host_runtime/tensor/dense_host_tensor.h"

// The most bytes that one member may unpack to.
#define TFRT_NPZ_MAX_UNPACKED ((size_t)4 << 30)

// Returns true if |bytes| begin as an archive with members does. Thread-safe.
bool tfrt_npz_matches(tfrt_string_view_t bytes);

// Makes |*out_tensor| the array |name| of the archive |bytes|, with memory of its own from
// |allocator|. No name, of size 0, is the array of an archive that has one. Thread-safe.
tfrt_status_t tfrt_npz_read(tfrt_string_view_t bytes, tfrt_string_view_t name,
                            tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_FILES_NPZ_H_
