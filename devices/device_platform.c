// SPDX-License-Identifier: Apache-2.0
#include "devices/device_platform.h"

#include "devices/device.h"

void tfrt_device_platform_initialize(tfrt_device_platform_t* platform,
                                     const tfrt_device_platform_vtable_t* vtable, const char* name,
                                     uint32_t device_count, tfrt_allocator_t allocator,
                                     tfrt_work_queue_t* work_queue) {
  platform->vtable = vtable;
  tfrt_ref_count_initialize(&platform->ref_count);
  platform->name = name;
  platform->device_count = device_count;
  platform->allocator = allocator;
  platform->work_queue = tfrt_work_queue_retain(work_queue);
}

void tfrt_device_platform_deinitialize(tfrt_device_platform_t* platform) {
  tfrt_work_queue_release(platform->work_queue);
}

tfrt_device_platform_t* tfrt_device_platform_retain(tfrt_device_platform_t* platform) {
  tfrt_ref_count_increment(&platform->ref_count);
  return platform;
}

void tfrt_device_platform_release(tfrt_device_platform_t* platform) {
  if (platform && tfrt_ref_count_decrement(&platform->ref_count)) {
    platform->vtable->destroy(platform);
  }
}

tfrt_status_t tfrt_device_platform_device(tfrt_device_platform_t* platform, int64_t ordinal,
                                          tfrt_device_t** out_device) {
  *out_device = NULL;
  if (ordinal < 0 || ordinal >= platform->device_count) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "there is no device %s:%lld: this host has %u of them",
                              platform->name, (long long)ordinal, platform->device_count);
  }
  TFRT_RETURN_IF_ERROR(platform->vtable->device(platform, (uint32_t)ordinal, out_device));
  tfrt_device_retain(*out_device);
  return NULL;
}
