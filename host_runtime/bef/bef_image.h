// SPDX-License-Identifier: Apache-2.0
//
// The sections of an image that is put together. Their sizes are known before anything is
// written, so the image is one allocation of its own size, and each section is copied once.
//
//   header | id length payload | id length alignment padding payload | ...
//
// Life:
//  1. Initialised with an allocator.
//  2. Sections are added, in their order; each is what the caller puts into the bytes that it
//     gets, and behind them bytes that lie elsewhere.
//  3. Built: one block of memory. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: building fails when memory is or was out, or the image is too big.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_IMAGE_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_IMAGE_H_

#include "host_runtime/base/status.h"
#include "host_runtime/bef/bef_bytes.h"
#include "host_runtime/bef/bef_format.h"

// There are fewer kinds of sections.
#define TFRT_BEF_IMAGE_MAX_SECTIONS 16

typedef struct tfrt_bef_image_section_s {
  tfrt_bef_section_id_t id;
  tfrt_bef_bytes_t front;
  const tfrt_bef_bytes_t* rest;  // borrowed; NULL: nothing more
} tfrt_bef_image_section_t;

typedef struct tfrt_bef_image_s {
  tfrt_allocator_t allocator;
  uint32_t section_count;
  tfrt_bef_image_section_t sections[TFRT_BEF_IMAGE_MAX_SECTIONS];
} tfrt_bef_image_t;

// Makes |image| empty. Thread-compatible.
void tfrt_bef_image_initialize(tfrt_bef_image_t* image, tfrt_allocator_t allocator);

// Gives back the memory of |image|. Thread-compatible.
void tfrt_bef_image_deinitialize(tfrt_bef_image_t* image);

// Adds the section |id| and returns the bytes that its payload begins with, empty so far; |rest|,
// which may be NULL, follows them and is borrowed until the image is built. Thread-compatible.
tfrt_bef_bytes_t* tfrt_bef_image_add(tfrt_bef_image_t* image, tfrt_bef_section_id_t id,
                                     const tfrt_bef_bytes_t* rest);

// Sets |*out_bytes| to the image, of |*out_size| bytes, which the caller frees with the allocator.
// Errors: RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_bef_image_build(const tfrt_bef_image_t* image, void** out_bytes,
                                   size_t* out_size) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_IMAGE_H_
