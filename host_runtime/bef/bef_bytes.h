// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a BEF section while they are written: a buffer that grows and knows VBR integers
// and alignment. Private to those who make sections: this room, and eager execution. Functions that
// run for each kernel are inline.
//
// Life: initialised with an allocator; appended to; read through |data| and |size|;
// deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: when memory is out, |failed| is set and what follows is dropped.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_BYTES_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_BYTES_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host_runtime/base/allocator.h"

// The most bytes that a VBR integer takes, and one of 32 bits.
#define TFRT_BEF_VBR_MAX_SIZE 10
#define TFRT_BEF_VBR_32_MAX_SIZE 5

typedef struct tfrt_bef_bytes_s {
  uint8_t* data;  // NULL: none yet
  size_t size;
  size_t capacity;
  size_t alignment;  // the strongest that anything inside asked for; at least 1
  bool failed;
  tfrt_allocator_t allocator;
} tfrt_bef_bytes_t;

// Makes |bytes| empty. Thread-compatible.
void tfrt_bef_bytes_initialize(tfrt_bef_bytes_t* bytes, tfrt_allocator_t allocator);

// Gives back the memory of |bytes|. Thread-compatible.
void tfrt_bef_bytes_deinitialize(tfrt_bef_bytes_t* bytes);

// The number of bytes so far. Thread-compatible.
static inline size_t tfrt_bef_bytes_size(const tfrt_bef_bytes_t* bytes) { return bytes->size; }

// Makes room for |extra| bytes more and returns true; false if that can't be.
// Thread-compatible.
bool tfrt_bef_bytes_reserve(tfrt_bef_bytes_t* bytes, size_t extra);

// Returns where the next |size| bytes go, which the caller writes at once, or fewer: then it
// says with tfrt_bef_bytes_end() where they end. NULL once memory is out. Thread-compatible.
static inline uint8_t* tfrt_bef_bytes_add(tfrt_bef_bytes_t* bytes, size_t size) {
  if (size > bytes->capacity - bytes->size && !tfrt_bef_bytes_reserve(bytes, size)) return NULL;
  uint8_t* at = bytes->data + bytes->size;
  bytes->size += size;
  return at;
}
static inline void tfrt_bef_bytes_end(tfrt_bef_bytes_t* bytes, const uint8_t* end) {
  bytes->size = (size_t)(end - bytes->data);
}

// Appends one byte, |size| bytes, or a little-endian integer without padding.
// Thread-compatible.
static inline void tfrt_bef_bytes_append_byte(tfrt_bef_bytes_t* bytes, uint8_t byte) {
  uint8_t* at = tfrt_bef_bytes_add(bytes, 1);
  if (at) *at = byte;
}
void tfrt_bef_bytes_append(tfrt_bef_bytes_t* bytes, const void* data, size_t size);
static inline void tfrt_bef_bytes_append_u32(tfrt_bef_bytes_t* bytes, uint32_t value) {
  uint8_t* at = tfrt_bef_bytes_add(bytes, sizeof(value));
  if (at) memcpy(at, &value, sizeof(value));
}

// The number of bytes that |value| takes as a VBR integer. Thread-safe.
size_t tfrt_bef_vbr_size(uint64_t value);

// Writes |value| as a VBR integer at |at|, where TFRT_BEF_VBR_MAX_SIZE bytes are, and returns
// the address behind it; the first one where it takes more than three bytes. Thread-compatible.
uint8_t* tfrt_bef_vbr_write_long(uint8_t* at, uint64_t value);
static inline uint8_t* tfrt_bef_vbr_write(uint8_t* at, uint64_t value) {
  if (value >= 1u << 7) {
    if (value >= 1u << 21) return tfrt_bef_vbr_write_long(at, value);
    if (value >= 1u << 14) *at++ = (uint8_t)(value >> 14) | 0x80;
    *at++ = (uint8_t)(value >> 7) | 0x80;
  }
  *at = value & 0x7F;
  return at + 1;
}

// Appends |value| as a VBR integer. Thread-compatible.
static inline void tfrt_bef_bytes_append_vbr(tfrt_bef_bytes_t* bytes, uint64_t value) {
  uint8_t* at = tfrt_bef_bytes_add(bytes, TFRT_BEF_VBR_MAX_SIZE);
  if (at) tfrt_bef_bytes_end(bytes, tfrt_bef_vbr_write(at, value));
}

// Appends |count| of them. Thread-compatible.
void tfrt_bef_bytes_append_vbrs(tfrt_bef_bytes_t* bytes, const uint32_t* values, size_t count);

// Appends padding until what is put |ahead| bytes behind the end is aligned to |alignment|, a
// power of two. Thread-compatible.
void tfrt_bef_bytes_align(tfrt_bef_bytes_t* bytes, size_t alignment, size_t ahead);

// Overwrites bytes that are there, at |offset|. Thread-compatible.
void tfrt_bef_bytes_patch_byte(tfrt_bef_bytes_t* bytes, size_t offset, uint8_t byte);
void tfrt_bef_bytes_patch_u32(tfrt_bef_bytes_t* bytes, size_t offset, uint32_t value);

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_BYTES_H_
