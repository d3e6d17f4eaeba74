// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a BEF section while they are written: a builder that knows VBR integers and
// alignment. Private to those who make sections: this room, and eager execution.
//
// Life: initialised with an allocator; appended to; deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: when memory is out, what follows is dropped; the builder says so
// (tfrt_string_builder_status()).
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_BYTES_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_BYTES_H_

#include <stdint.h>

#include "host_runtime/base/string_builder.h"

typedef struct tfrt_bef_bytes_s {
  tfrt_string_builder_t builder;
  size_t alignment;  // the strongest that anything inside asked for; at least 1
} tfrt_bef_bytes_t;

// Makes |bytes| empty. Thread-compatible.
void tfrt_bef_bytes_initialize(tfrt_bef_bytes_t* bytes, tfrt_allocator_t allocator);

// Gives back the memory of |bytes|. Thread-compatible.
void tfrt_bef_bytes_deinitialize(tfrt_bef_bytes_t* bytes);

// The number of bytes so far. Thread-compatible.
static inline size_t tfrt_bef_bytes_size(const tfrt_bef_bytes_t* bytes) {
  return bytes->builder.size;
}

// Appends one byte, |size| bytes, or a little-endian integer without padding.
// Thread-compatible.
void tfrt_bef_bytes_append_byte(tfrt_bef_bytes_t* bytes, uint8_t byte);
void tfrt_bef_bytes_append(tfrt_bef_bytes_t* bytes, const void* data, size_t size);
void tfrt_bef_bytes_append_u32(tfrt_bef_bytes_t* bytes, uint32_t value);

// Appends |value| as a VBR integer. Thread-compatible.
void tfrt_bef_bytes_append_vbr(tfrt_bef_bytes_t* bytes, uint64_t value);

// Appends padding until what is put |ahead| bytes behind the end is aligned to |alignment|, a
// power of two. Thread-compatible.
void tfrt_bef_bytes_align(tfrt_bef_bytes_t* bytes, size_t alignment, size_t ahead);

// Overwrites bytes that are there, at |offset|. Thread-compatible.
void tfrt_bef_bytes_patch_byte(tfrt_bef_bytes_t* bytes, size_t offset, uint8_t byte);
void tfrt_bef_bytes_patch_u32(tfrt_bef_bytes_t* bytes, size_t offset, uint32_t value);

// The number of bytes that |value| takes as a VBR integer. Thread-safe.
size_t tfrt_bef_vbr_size(uint64_t value);

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_BYTES_H_
