// SPDX-License-Identifier: Apache-2.0
//
// JPEG images as tensors: the bytes of a file to [height, width, 3] of ui8, red, green and blue;
// grey images, too. The codec is the system's (libjpeg), opened when the first image comes.
//
// Images are untrusted: whatever the bytes are, there is a tensor or an error. An image has at
// most TFRT_JPEG_MAX_PIXELS pixels, and a progressive one at most TFRT_JPEG_MAX_SCANS scans, so
// that a few bytes can't ask for all memory or for hours.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT that says what is wrong with the image; RESOURCE_EXHAUSTED;
// NOT_FOUND if the system has no libjpeg.
#ifndef TFRT_KERNELS_TENSOR_FILES_JPEG_H_
#define TFRT_KERNELS_TENSOR_FILES_JPEG_H_

#include "host_runtime/base/string_view.h"
#include "host_runtime/tensor/dense_host_tensor.h"

// Some sixteen thousand by sixteen thousand.
#define TFRT_JPEG_MAX_PIXELS ((int64_t)1 << 28)

// More than any encoder makes.
#define TFRT_JPEG_MAX_SCANS 500

// Makes |*out_image| the image in the JPEG file |bytes|. Thread-safe.
tfrt_status_t tfrt_jpeg_decode(tfrt_string_view_t bytes, tfrt_allocator_t allocator,
                               tfrt_dense_host_tensor_t* out_image) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_FILES_JPEG_H_
