// SPDX-License-Identifier: Apache-2.0
#include "null_device.h"

// --- Memory --------------------------------------------------------------------

// A device with memory of its own treats the two spaces differently: TFRT_DEVICE_SPACE_HOST is
// memory of the host that the device reaches.
tfrt_status_t null_device_allocate(tfrt_device_t* device, tfrt_device_space_t space, size_t size,
                                   tfrt_device_address_t* out_address) {
  (void)space;
  void* memory = NULL;
  if (size <= device->properties.memory_size) {
    memory =
        tfrt_allocator_allocate_aligned(device->platform->allocator, size, TFRT_DEVICE_ALIGNMENT);
  }
  if (!memory) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "%s: no memory for %zu bytes",
                              device->name, size);
  }
  *out_address = (tfrt_device_address_t)(uintptr_t)memory;
  return NULL;
}

tfrt_status_t null_device_deallocate(tfrt_device_t* device, tfrt_device_space_t space,
                                     tfrt_device_address_t address, size_t size) {
  (void)space;
  tfrt_allocator_free_aligned(device->platform->allocator, (void*)(uintptr_t)address, size,
                              TFRT_DEVICE_ALIGNMENT);
  return NULL;
}

// The device reaches all memory of the host, so that pinning is nothing to do.
static tfrt_status_t null_device_pin(tfrt_device_t* device, void* data, size_t size) {
  (void)device;
  (void)data;
  (void)size;
  return NULL;
}

static tfrt_status_t null_device_can_copy_from(tfrt_device_t* device, tfrt_device_t* peer,
                                               bool* out_can) {
  (void)device;
  (void)peer;
  *out_can = true;
  return NULL;
}

// --- The device ----------------------------------------------------------------

// The platform owns the storage.
static void null_device_destroy(tfrt_device_t* device) { tfrt_device_deinitialize(device); }

// No entry is NULL; those of devices/device_absent.h stand for what a kind of device lacks.
static const tfrt_device_vtable_t device_vtable = {
    .destroy = null_device_destroy,
    .allocate = null_device_allocate,
    .deallocate = null_device_deallocate,
    .pin = null_device_pin,
    .unpin = null_device_pin,
    .create_stream = null_device_create_stream,
    .create_event = null_device_create_event,
    .load_module = null_device_load_module,
    .can_copy_from = null_device_can_copy_from,
    .create_blas = tfrt_device_absent_blas,
    .create_dnn = tfrt_device_absent_dnn,
    .create_ccl = tfrt_device_absent_ccl,
    .ccl_site = tfrt_device_absent_ccl_site,
};

static const tfrt_device_properties_t device_properties = {
    .model = "no device",
    .memory_size = (uint64_t)1 << 36,
    .multiprocessor_count = 1,
    .max_threads_per_block = 1024,
    .max_block = {1024, 1024, 64},
    .max_grid = {INT32_MAX, UINT16_MAX, UINT16_MAX},
    .max_shared_size = 48 * 1024,
    .has_pools = true,
};

// --- The platform --------------------------------------------------------------

typedef struct null_platform_s {
  tfrt_device_platform_t base;
  tfrt_device_t device;
} null_platform_t;

static void null_platform_destroy(tfrt_device_platform_t* base) {
  null_platform_t* platform = TFRT_CONTAINER_OF(base, null_platform_t, base);
  tfrt_allocator_t allocator = base->allocator;
  platform->device.vtable->destroy(&platform->device);
  tfrt_device_platform_deinitialize(base);
  tfrt_allocator_free(allocator, platform, sizeof(*platform));
}

// A backend with a driver opens the device here, when it is first asked for.
static tfrt_status_t null_platform_device(tfrt_device_platform_t* base, uint32_t ordinal,
                                          tfrt_device_t** out_device) {
  (void)ordinal;
  *out_device = &TFRT_CONTAINER_OF(base, null_platform_t, base)->device;
  return NULL;
}

static const tfrt_device_platform_vtable_t platform_vtable = {
    .destroy = null_platform_destroy,
    .device = null_platform_device,
    .create_ccl_id = tfrt_device_absent_ccl_id,
};

tfrt_status_t null_platform_open(const void* options, tfrt_allocator_t allocator,
                                 tfrt_work_queue_t* work_queue,
                                 tfrt_device_platform_t** out_platform) {
  (void)options;
  *out_platform = NULL;
  null_platform_t* platform = tfrt_allocator_allocate_zeroed(allocator, sizeof(*platform));
  if (!platform) return tfrt_status_out_of_memory();
  tfrt_device_platform_initialize(&platform->base, &platform_vtable, "null", 1, allocator,
                                  work_queue);
  tfrt_device_initialize(&platform->device, &device_vtable, &platform->base, 0);
  platform->device.properties = device_properties;
  *out_platform = &platform->base;
  return NULL;
}
