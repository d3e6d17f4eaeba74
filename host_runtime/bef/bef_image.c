// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_image.h"

#include <assert.h>

void tfrt_bef_image_initialize(tfrt_bef_image_t* image, tfrt_allocator_t allocator) {
  *image = (tfrt_bef_image_t){.allocator = allocator};
}

void tfrt_bef_image_deinitialize(tfrt_bef_image_t* image) {
  for (uint32_t i = 0; i < image->section_count; ++i) {
    tfrt_bef_bytes_deinitialize(&image->sections[i].front);
  }
  image->section_count = 0;
}

tfrt_bef_bytes_t* tfrt_bef_image_add(tfrt_bef_image_t* image, tfrt_bef_section_id_t id,
                                     const tfrt_bef_bytes_t* rest) {
  assert(image->section_count < TFRT_BEF_IMAGE_MAX_SECTIONS);
  tfrt_bef_image_section_t* section = &image->sections[image->section_count++];
  section->id = id;
  section->rest = rest;
  tfrt_bef_bytes_initialize(&section->front, image->allocator);
  return &section->front;
}

static size_t payload_size(const tfrt_bef_image_section_t* section) {
  return section->front.size + (section->rest ? section->rest->size : 0);
}

static size_t payload_alignment(const tfrt_bef_image_section_t* section) {
  size_t alignment = section->front.alignment;
  return section->rest && section->rest->alignment > alignment ? section->rest->alignment
                                                               : alignment;
}

// Writes the head of |section| at |position| of an image, to |head|, which is long enough for
// any, and returns how long it is.
static size_t write_head(const tfrt_bef_image_section_t* section, size_t position, uint8_t* head) {
  uint64_t length = (uint64_t)payload_size(section) << 1;
  size_t alignment = payload_alignment(section);
  uint8_t* at = head;
  *at++ = (uint8_t)section->id;
  uint8_t* end = tfrt_bef_vbr_write(at, length);
  if ((position + (size_t)(end - head)) % alignment == 0) return (size_t)(end - head);
  at = tfrt_bef_vbr_write(at, length | 1);
  *at++ = (uint8_t)alignment;
  while ((position + (size_t)(at - head)) % alignment != 0) *at++ = TFRT_BEF_PADDING_BYTE;
  return (size_t)(at - head);
}

// The longest head: id, length, alignment, and padding for the strongest alignment that a byte
// can tell.
enum { HEAD_ROOM = 1 + TFRT_BEF_VBR_MAX_SIZE + 1 + 255 };

static uint8_t* write_bytes(uint8_t* at, const tfrt_bef_bytes_t* bytes) {
  if (!bytes || bytes->size == 0) return at;
  memcpy(at, bytes->data, bytes->size);
  return at + bytes->size;
}

// The size of the image; false if memory was out before.
static bool measure(const tfrt_bef_image_t* image, size_t* out_size) {
  uint8_t head[HEAD_ROOM];
  size_t size = TFRT_BEF_HEADER_SIZE;
  bool ok = true;
  for (uint32_t i = 0; i < image->section_count; ++i) {
    const tfrt_bef_image_section_t* section = &image->sections[i];
    if (section->front.failed || (section->rest && section->rest->failed)) ok = false;
    size += write_head(section, size, head) + payload_size(section);
  }
  *out_size = size;
  return ok;
}

tfrt_status_t tfrt_bef_image_build(const tfrt_bef_image_t* image, void** out_bytes,
                                   size_t* out_size) {
  static const uint8_t kHeader[] = {TFRT_BEF_MAGIC_0, TFRT_BEF_MAGIC_1, TFRT_BEF_VERSION};
  size_t size = 0;
  *out_bytes = NULL;
  *out_size = 0;
  bool ok = measure(image, &size) && size <= TFRT_BEF_MAX_SIZE;
  uint8_t* bytes = ok ? tfrt_allocator_allocate(image->allocator, size) : NULL;
  if (!bytes) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "no memory to write a BEF file of %zu bytes", size);
  }
  memcpy(bytes, kHeader, sizeof(kHeader));
  uint8_t* at = bytes + sizeof(kHeader);
  for (uint32_t i = 0; i < image->section_count; ++i) {
    const tfrt_bef_image_section_t* section = &image->sections[i];
    uint8_t head[HEAD_ROOM];
    size_t head_size = write_head(section, (size_t)(at - bytes), head);
    memcpy(at, head, head_size);
    at = write_bytes(at + head_size, &section->front);
    at = write_bytes(at, section->rest);
  }
  *out_bytes = bytes;
  *out_size = size;
  return NULL;
}
