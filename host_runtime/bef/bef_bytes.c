// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_bytes.h"

#include "host_runtime/bef/bef_format.h"

#define FIRST_CAPACITY ((size_t)256)

// For how many VBR integers of 32 bits room is made at once.
#define VBRS_AT_ONCE 16

void tfrt_bef_bytes_initialize(tfrt_bef_bytes_t* bytes, tfrt_allocator_t allocator) {
  *bytes = (tfrt_bef_bytes_t){.alignment = 1, .allocator = allocator};
}

void tfrt_bef_bytes_deinitialize(tfrt_bef_bytes_t* bytes) {
  tfrt_allocator_free(bytes->allocator, bytes->data, bytes->capacity);
  tfrt_bef_bytes_initialize(bytes, bytes->allocator);
}

bool tfrt_bef_bytes_reserve(tfrt_bef_bytes_t* bytes, size_t extra) {
  size_t needed = 0;
  if (bytes->failed) return false;
  if (extra <= bytes->capacity - bytes->size) return true;
  bool fits = tfrt_size_add(bytes->size, extra, &needed);
  // Doubling keeps the cost of each byte constant, however many they become.
  size_t capacity = FIRST_CAPACITY;
  if (bytes->capacity && !tfrt_size_multiply(bytes->capacity, 2, &capacity)) capacity = needed;
  if (capacity < needed) capacity = needed;
  void* data =
      fits ? tfrt_allocator_reallocate(bytes->allocator, bytes->data, bytes->capacity, capacity)
           : NULL;
  if (!data) {
    bytes->failed = true;
    return false;
  }
  bytes->data = data;
  bytes->capacity = capacity;
  return true;
}

void tfrt_bef_bytes_append(tfrt_bef_bytes_t* bytes, const void* data, size_t size) {
  if (size == 0) return;
  uint8_t* at = tfrt_bef_bytes_add(bytes, size);
  if (at) memcpy(at, data, size);
}

size_t tfrt_bef_vbr_size(uint64_t value) {
  size_t size = 1;
  while (value >>= 7) ++size;
  return size;
}

uint8_t* tfrt_bef_vbr_write_long(uint8_t* at, uint64_t value) {
  if (value >= 1u << 28) {
    for (size_t i = tfrt_bef_vbr_size(value); i-- > 4;) *at++ = (uint8_t)(value >> 7 * i) | 0x80;
  }
  *at++ = (uint8_t)(value >> 21) | 0x80;
  *at++ = (uint8_t)(value >> 14) | 0x80;
  *at++ = (uint8_t)(value >> 7) | 0x80;
  *at++ = value & 0x7F;
  return at;
}

void tfrt_bef_bytes_append_vbrs(tfrt_bef_bytes_t* bytes, const uint32_t* values, size_t count) {
  while (count > 0) {
    size_t part = count < VBRS_AT_ONCE ? count : VBRS_AT_ONCE;
    uint8_t* at = tfrt_bef_bytes_add(bytes, part * TFRT_BEF_VBR_32_MAX_SIZE);
    if (!at) return;
    for (size_t i = 0; i < part; ++i) at = tfrt_bef_vbr_write(at, values[i]);
    tfrt_bef_bytes_end(bytes, at);
    values += part;
    count -= part;
  }
}

void tfrt_bef_bytes_align(tfrt_bef_bytes_t* bytes, size_t alignment, size_t ahead) {
  if (alignment > bytes->alignment) bytes->alignment = alignment;
  size_t padding = (size_t)(-(bytes->size + ahead) & (alignment - 1));
  if (padding == 0) return;
  uint8_t* at = tfrt_bef_bytes_add(bytes, padding);
  if (at) memset(at, TFRT_BEF_PADDING_BYTE, padding);
}

void tfrt_bef_bytes_patch_byte(tfrt_bef_bytes_t* bytes, size_t offset, uint8_t byte) {
  // When memory was out, these bytes may be missing.
  if (offset < bytes->size) bytes->data[offset] = byte;
}

void tfrt_bef_bytes_patch_u32(tfrt_bef_bytes_t* bytes, size_t offset, uint32_t value) {
  if (offset + sizeof(value) > bytes->size) return;
  memcpy(bytes->data + offset, &value, sizeof(value));
}
