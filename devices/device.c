// SPDX-License-Identifier: Apache-2.0
#include "devices/device.h"

#include <stdio.h>

#include "host_runtime/base/log.h"

void tfrt_device_initialize(tfrt_device_t* device, const tfrt_device_vtable_t* vtable,
                            tfrt_device_platform_t* platform, uint32_t ordinal) {
  device->vtable = vtable;
  device->platform = platform;
  device->ordinal = ordinal;
  snprintf(device->name, sizeof(device->name), "%.12s:%u", platform->name, ordinal);
  atomic_init(&device->lost, NULL);
}

void tfrt_device_deinitialize(tfrt_device_t* device) {
  // Relaxed: nobody else has the device any more.
  tfrt_status_release(atomic_load_explicit(&device->lost, memory_order_relaxed));
}

tfrt_status_t tfrt_device_check(tfrt_device_t* device) {
  // Acquire: pairs with the release of tfrt_device_lose(), which made the error.
  tfrt_status_t lost = atomic_load_explicit(&device->lost, memory_order_acquire);
  return tfrt_status_retain(lost);
}

void tfrt_device_lose(tfrt_device_t* device, tfrt_status_t status) {
  tfrt_status_t lost =
      tfrt_status_annotate(status, "%s is lost; nothing can run on it any more", device->name);
  struct tfrt_status_s* expected = NULL;
  // Release: pairs with the acquire of tfrt_device_check().
  if (!atomic_compare_exchange_strong_explicit(&device->lost, &expected, lost, memory_order_release,
                                               memory_order_relaxed)) {
    tfrt_status_release(lost);
  }
}

void tfrt_device_report_kept(tfrt_device_t* device, size_t size, tfrt_status_t status) {
  tfrt_status_t lost = tfrt_device_check(device);
  if (status && !lost) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "%s: %zu bytes can't be given back and are kept: %s",
             device->name, size, tfrt_status_message(status));
  }
  tfrt_status_release(lost);
  tfrt_status_release(status);
}

tfrt_status_t tfrt_device_create_stream(tfrt_device_t* device, tfrt_device_stream_t** out_stream) {
  *out_stream = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  return device->vtable->create_stream(device, out_stream);
}

tfrt_status_t tfrt_device_create_event(tfrt_device_t* device, bool with_timing,
                                       tfrt_device_event_t** out_event) {
  *out_event = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  return device->vtable->create_event(device, with_timing, out_event);
}

tfrt_status_t tfrt_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                      tfrt_device_module_t** out_module) {
  *out_module = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  if (size == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: a module of 0 bytes",
                              device->name);
  }
  // Text must end with a NUL, which callers' strings need not have.
  tfrt_allocator_t allocator = device->platform->allocator;
  char* copy = tfrt_allocator_copy_string(allocator, image, size);
  if (!copy) return tfrt_status_out_of_memory();
  tfrt_status_t status = device->vtable->load_module(device, copy, size, out_module);
  tfrt_allocator_free(allocator, copy, size + 1);
  return status;
}

tfrt_status_t tfrt_device_check_peer(tfrt_device_t* device, tfrt_device_t* peer) {
  if (device == peer) return NULL;
  if (device->platform != peer->platform) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s and %s have different drivers: copy through the host",
                              device->name, peer->name);
  }
  bool can = false;
  TFRT_RETURN_IF_ERROR(device->vtable->can_copy_from(device, peer, &can));
  if (can) return NULL;
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                            "%s can't reach the memory of %s: copy through the host", device->name,
                            peer->name);
}
