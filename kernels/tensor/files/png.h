// SPDX-License-Identifier: Apache-2.0
//
// PNG images as tensors: the bytes of a file to [height, width, 3] of ui8, red, green and blue.
// Grey images and those with a palette, too; 16 bits are cut to 8, and what is transparent lies on
// black. The codec is the system's (libpng), opened when the first image comes.
//
// Images are untrusted: whatever the bytes are, there is a tensor or an error. An image has at most
// TFRT_PNG_MAX_PIXELS pixels.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT that says what is wrong with the image; RESOURCE_EXHAUSTED;
// NOT_FOUND if the system has no libpng.
#ifndef TFRT_KERNELS_TENSOR_FILES_PNG_H_
#define TFRT_KERNELS_TENSOR_FILES_PNG_H_

#include "host_runtime/base/string_view.h"
#include "host_runtime/tensor/dense_host_tensor.h"

// Some sixteen thousand by sixteen thousand.
#define TFRT_PNG_MAX_PIXELS ((int64_t)1 << 28)

// Makes |*out_image| the image in the PNG file |bytes|. Thread-safe.
tfrt_status_t tfrt_png_decode(tfrt_string_view_t bytes, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_image) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_FILES_PNG_H_
