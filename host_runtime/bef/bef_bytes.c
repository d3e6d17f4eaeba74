// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_bytes.h"

#include <string.h>

#include "host_runtime/bef/bef_format.h"

void tfrt_bef_bytes_initialize(tfrt_bef_bytes_t* bytes, tfrt_allocator_t allocator) {
  tfrt_string_builder_initialize(&bytes->builder, allocator);
  bytes->alignment = 1;
}

void tfrt_bef_bytes_deinitialize(tfrt_bef_bytes_t* bytes) {
  tfrt_string_builder_deinitialize(&bytes->builder);
}

void tfrt_bef_bytes_append_byte(tfrt_bef_bytes_t* bytes, uint8_t byte) {
  tfrt_string_builder_append_char(&bytes->builder, (char)byte);
}

void tfrt_bef_bytes_append(tfrt_bef_bytes_t* bytes, const void* data, size_t size) {
  if (size > 0) tfrt_string_builder_append(&bytes->builder, data, size);
}

void tfrt_bef_bytes_append_u32(tfrt_bef_bytes_t* bytes, uint32_t value) {
  tfrt_bef_bytes_append(bytes, &value, sizeof(value));
}

size_t tfrt_bef_vbr_size(uint64_t value) {
  size_t size = 1;
  while (value >>= 7) ++size;
  return size;
}

void tfrt_bef_bytes_append_vbr(tfrt_bef_bytes_t* bytes, uint64_t value) {
  // Of 64 bits, seven to a byte. Filled from its end.
  uint8_t groups[10];
  size_t begin = sizeof(groups) - 1;
  groups[begin] = value & 0x7F;
  while (value >>= 7) groups[--begin] = (uint8_t)(value & 0x7F) | 0x80;
  tfrt_bef_bytes_append(bytes, groups + begin, sizeof(groups) - begin);
}

void tfrt_bef_bytes_align(tfrt_bef_bytes_t* bytes, size_t alignment, size_t ahead) {
  if (alignment > bytes->alignment) bytes->alignment = alignment;
  size_t position = bytes->builder.size + ahead;
  size_t padding = (alignment - position % alignment) % alignment;
  tfrt_string_builder_append_fill(&bytes->builder, (char)TFRT_BEF_PADDING_BYTE, padding);
}

void tfrt_bef_bytes_patch_byte(tfrt_bef_bytes_t* bytes, size_t offset, uint8_t byte) {
  // A failed builder may lack these bytes.
  if (offset < bytes->builder.size) bytes->builder.data[offset] = (char)byte;
}

void tfrt_bef_bytes_patch_u32(tfrt_bef_bytes_t* bytes, size_t offset, uint32_t value) {
  if (offset + sizeof(value) > bytes->builder.size) return;
  memcpy(bytes->builder.data + offset, &value, sizeof(value));
}
