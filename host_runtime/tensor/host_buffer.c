// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/host_buffer.h"

#include <string.h>

enum { KIND_OWNED = 0, KIND_EXTERNAL, KIND_SLICE };

// Data of an owned buffer lies right behind its header.
#define HEADER_SIZE TFRT_HOST_BUFFER_ALIGNMENT

_Static_assert(sizeof(tfrt_host_buffer_t) <= HEADER_SIZE, "the data behind it is aligned");

static tfrt_status_t allocate_header(size_t data_size, tfrt_allocator_t allocator,
                                     tfrt_host_buffer_t** out_buffer) {
  *out_buffer = NULL;
  size_t block_size = 0;
  tfrt_host_buffer_t* buffer = NULL;
  if (tfrt_size_add(HEADER_SIZE, data_size, &block_size)) {
    buffer = tfrt_allocator_allocate_aligned(allocator, block_size, TFRT_HOST_BUFFER_ALIGNMENT);
  }
  if (!buffer) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "memory for a buffer of %zu bytes is out", data_size);
  }
  memset(buffer, 0, sizeof(*buffer));
  tfrt_ref_count_initialize(&buffer->ref_count);
  buffer->allocator = allocator;
  buffer->block_size = block_size;
  *out_buffer = buffer;
  return NULL;
}

tfrt_status_t tfrt_host_buffer_create(size_t size, tfrt_allocator_t allocator,
                                      tfrt_host_buffer_t** out_buffer) {
  TFRT_RETURN_IF_ERROR(allocate_header(size, allocator, out_buffer));
  (*out_buffer)->data = (char*)*out_buffer + HEADER_SIZE;
  (*out_buffer)->size = size;
  return NULL;
}

tfrt_status_t tfrt_host_buffer_create_external(void* data, size_t size,
                                               tfrt_host_buffer_deallocate_fn_t deallocate,
                                               void* context, tfrt_allocator_t allocator,
                                               tfrt_host_buffer_t** out_buffer) {
  TFRT_RETURN_IF_ERROR(allocate_header(0, allocator, out_buffer));
  (*out_buffer)->data = data;
  (*out_buffer)->size = size;
  (*out_buffer)->kind = KIND_EXTERNAL;
  (*out_buffer)->external.deallocate = deallocate;
  (*out_buffer)->external.context = context;
  return NULL;
}

tfrt_status_t tfrt_host_buffer_create_slice(tfrt_host_buffer_t* parent, size_t offset, size_t size,
                                            tfrt_allocator_t allocator,
                                            tfrt_host_buffer_t** out_buffer) {
  *out_buffer = NULL;
  if (offset > parent->size || size > parent->size - offset) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "a slice of %zu bytes from offset %zu does not fit into a buffer of "
                              "%zu bytes",
                              size, offset, parent->size);
  }
  TFRT_RETURN_IF_ERROR(allocate_header(0, allocator, out_buffer));
  // A buffer without bytes may have no address, to which nothing may be added.
  (*out_buffer)->data = parent->data ? (char*)parent->data + offset : NULL;
  (*out_buffer)->size = size;
  (*out_buffer)->kind = KIND_SLICE;
  (*out_buffer)->parent = tfrt_host_buffer_retain(parent);
  return NULL;
}

bool tfrt_host_buffer_is_exclusive(const tfrt_host_buffer_t* buffer) {
  return buffer->kind == KIND_OWNED && tfrt_ref_count_is_one(&buffer->ref_count);
}

tfrt_host_buffer_t* tfrt_host_buffer_retain(tfrt_host_buffer_t* buffer) {
  tfrt_ref_count_increment(&buffer->ref_count);
  return buffer;
}

// A slice of a slice of ... is let go in a loop, so that no depth needs stack.
void tfrt_host_buffer_release(tfrt_host_buffer_t* buffer) {
  while (buffer && tfrt_ref_count_decrement(&buffer->ref_count)) {
    tfrt_host_buffer_t* parent = buffer->kind == KIND_SLICE ? buffer->parent : NULL;
    if (buffer->kind == KIND_EXTERNAL) {
      buffer->external.deallocate(buffer->external.context, buffer->data, buffer->size);
    }
    tfrt_allocator_free_aligned(buffer->allocator, buffer, buffer->block_size,
                                TFRT_HOST_BUFFER_ALIGNMENT);
    buffer = parent;
  }
}

const tfrt_host_buffer_t* tfrt_host_buffer_root(const tfrt_host_buffer_t* buffer) {
  while (buffer->kind == KIND_SLICE) buffer = buffer->parent;
  return buffer;
}
