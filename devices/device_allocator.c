// SPDX-License-Identifier: Apache-2.0
#include "devices/device_allocator.h"

#include "devices/device_graph.h"

#include "devices/device_stream.h"

void tfrt_device_allocator_initialize(tfrt_device_allocator_t* allocator,
                                      const tfrt_device_allocator_vtable_t* vtable,
                                      tfrt_device_t* device, tfrt_device_space_t space) {
  allocator->vtable = vtable;
  tfrt_ref_count_initialize(&allocator->ref_count);
  allocator->device = tfrt_device_retain(device);
  allocator->space = space;
}

tfrt_device_allocator_t* tfrt_device_allocator_retain(tfrt_device_allocator_t* allocator) {
  tfrt_ref_count_increment(&allocator->ref_count);
  return allocator;
}

void tfrt_device_allocator_release(tfrt_device_allocator_t* allocator) {
  if (!allocator || !tfrt_ref_count_decrement(&allocator->ref_count)) return;
  tfrt_device_t* device = allocator->device;
  allocator->vtable->destroy(allocator);
  tfrt_device_release(device);
}

static void device_allocator_take_back(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream) {
  tfrt_device_allocator_t* allocator = buffer->owner;
  if (buffer->address != 0) allocator->vtable->deallocate(allocator, buffer, stream);
  tfrt_device_allocator_release(allocator);
}

static void device_allocator_forget(tfrt_device_buffer_t* buffer) {
  tfrt_device_allocator_t* allocator = buffer->owner;
  if (buffer->address != 0) allocator->vtable->forget(allocator, buffer);
  tfrt_device_allocator_release(allocator);
}

static const tfrt_device_buffer_source_t allocator_source = {device_allocator_take_back,
                                                             device_allocator_forget};

tfrt_status_t tfrt_device_allocator_allocate(tfrt_device_allocator_t* allocator,
                                             tfrt_device_stream_t* stream, size_t size,
                                             tfrt_device_buffer_t** out_buffer) {
  *out_buffer = NULL;
  tfrt_device_t* device = allocator->device;
  TFRT_RETURN_IF_ERROR(tfrt_device_capture_refuse(stream, "new memory"));
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  if (stream ? stream->device != device : allocator->space == TFRT_DEVICE_SPACE_DEVICE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "memory of %s is allocated in a stream of %s", device->name,
                              stream ? stream->device->name : "no device");
  }
  // The buffer first, so that nothing is to be undone in the stream's order.
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_create(device, allocator->space, 0, size,
                                                 &allocator_source, stream, out_buffer));
  (*out_buffer)->owner = tfrt_device_allocator_retain(allocator);
  if (size == 0) return NULL;
  tfrt_status_t status = allocator->vtable->allocate(
      allocator, stream, size, &(*out_buffer)->address, &(*out_buffer)->block);
  if (status) {
    (*out_buffer)->address = 0;
    tfrt_device_buffer_release(*out_buffer);
    *out_buffer = NULL;
  }
  return status;
}

// --- The driver's pools ----------------------------------------------------------

static void device_pool_destroy(tfrt_device_allocator_t* allocator) {
  tfrt_allocator_free(allocator->device->platform->allocator, allocator, sizeof(*allocator));
}

static tfrt_status_t device_pool_allocate(tfrt_device_allocator_t* allocator,
                                          tfrt_device_stream_t* home, size_t size,
                                          tfrt_device_address_t* out_address, void** out_block) {
  (void)allocator;
  *out_block = NULL;
  return home->vtable->allocate(home, size, out_address);
}

static void device_pool_deallocate(tfrt_device_allocator_t* allocator, tfrt_device_buffer_t* buffer,
                                   tfrt_device_stream_t* stream) {
  // A buffer always has its home. Without |stream| the device is lost, and its memory with it.
  tfrt_device_stream_t* last = stream ? stream : buffer->home;
  tfrt_device_report_kept(allocator->device, buffer->size,
                          last->vtable->deallocate(last, buffer->address, buffer->size));
}

static void device_pool_forget(tfrt_device_allocator_t* allocator, tfrt_device_buffer_t* buffer) {
  (void)allocator;
  (void)buffer;
}

static const tfrt_device_allocator_vtable_t pool_vtable = {
    device_pool_destroy, device_pool_allocate, device_pool_deallocate, device_pool_forget};

tfrt_status_t tfrt_device_allocator_create(tfrt_device_t* device,
                                           tfrt_device_allocator_t** out_allocator) {
  if (!device->properties.has_pools) {
    return tfrt_device_allocator_create_caching(device, TFRT_DEVICE_SPACE_DEVICE, out_allocator);
  }
  *out_allocator = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  tfrt_device_allocator_t* allocator =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*allocator));
  if (!allocator) return tfrt_status_out_of_memory();
  tfrt_device_allocator_initialize(allocator, &pool_vtable, device, TFRT_DEVICE_SPACE_DEVICE);
  *out_allocator = allocator;
  return NULL;
}
