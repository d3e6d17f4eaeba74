// SPDX-License-Identifier: Apache-2.0
#include "devices/cpu/cpu_platform.h"

#include <string.h>

#include "devices/cpu/cpu_impl.h"

// --- Memory --------------------------------------------------------------------

tfrt_status_t tfrt_cpu_device_allocate(tfrt_device_t* device, tfrt_device_space_t space,
                                       size_t size, tfrt_device_address_t* out_address) {
  (void)space;
  tfrt_cpu_device_t* cpu = TFRT_CONTAINER_OF(device, tfrt_cpu_device_t, base);
  uint64_t limit = device->properties.memory_size;
  // Relaxed: a number that nothing else hangs on.
  uint64_t used = atomic_fetch_add_explicit(&cpu->used_size, size, memory_order_relaxed);
  void* memory = NULL;
  if (used <= limit && size <= limit - used) {
    memory =
        tfrt_allocator_allocate_aligned(device->platform->allocator, size, TFRT_DEVICE_ALIGNMENT);
  }
  if (memory) {
    *out_address = (tfrt_device_address_t)(uintptr_t)memory;
    return NULL;
  }
  atomic_fetch_sub_explicit(&cpu->used_size, size, memory_order_relaxed);
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "%s: allocate failed: CPU_ERROR_OUT_OF_MEMORY (%zu bytes on top of "
                            "%llu of %llu)",
                            device->name, size, (unsigned long long)used,
                            (unsigned long long)limit);
}

tfrt_status_t tfrt_cpu_device_deallocate(tfrt_device_t* device, tfrt_device_space_t space,
                                         tfrt_device_address_t address, size_t size) {
  (void)space;
  tfrt_cpu_device_t* cpu = TFRT_CONTAINER_OF(device, tfrt_cpu_device_t, base);
  tfrt_allocator_free_aligned(device->platform->allocator, (void*)(uintptr_t)address, size,
                              TFRT_DEVICE_ALIGNMENT);
  atomic_fetch_sub_explicit(&cpu->used_size, size, memory_order_relaxed);
  return NULL;
}

// All memory of the host is within reach.
static tfrt_status_t cpu_device_pin(tfrt_device_t* device, void* data, size_t size) {
  (void)device;
  (void)data;
  (void)size;
  return NULL;
}

static tfrt_status_t cpu_device_can_copy_from(tfrt_device_t* device, tfrt_device_t* peer,
                                              bool* out_can) {
  (void)device;
  (void)peer;
  *out_can = true;
  return NULL;
}

// --- Devices -------------------------------------------------------------------

// The platform owns the storage.
static void cpu_device_destroy(tfrt_device_t* device) { tfrt_device_deinitialize(device); }

static const tfrt_device_vtable_t device_vtable = {
    .destroy = cpu_device_destroy,
    .allocate = tfrt_cpu_device_allocate,
    .deallocate = tfrt_cpu_device_deallocate,
    .pin = cpu_device_pin,
    .unpin = cpu_device_pin,
    .create_stream = tfrt_cpu_device_create_stream,
    .create_event = tfrt_cpu_device_create_event,
    .load_module = tfrt_cpu_device_load_module,
    .can_copy_from = cpu_device_can_copy_from,
    .create_blas = tfrt_cpu_device_create_blas,
    .create_dnn = tfrt_cpu_device_create_dnn,
    .create_ccl = tfrt_cpu_device_create_ccl,
    .ccl_site = tfrt_cpu_device_ccl_site,
};

static void cpu_device_initialize(tfrt_cpu_device_t* device, tfrt_cpu_platform_t* platform,
                                  uint32_t ordinal) {
  tfrt_device_initialize(&device->base, &device_vtable, &platform->base, ordinal);
  atomic_init(&device->used_size, 0);
  device->base.properties = (tfrt_device_properties_t){
      .model = "host memory",
      .memory_size = platform->options.memory_size,
      .multiprocessor_count = 1,
      .max_threads_per_block = 1024,
      .max_block = {1024, 1024, 64},
      .max_grid = {INT32_MAX, UINT16_MAX, UINT16_MAX},
      .max_shared_size = 48 * 1024,
      .has_pools = platform->options.has_pools,
      .has_cooperative_launch = true,
      .has_clusters = true,
  };
}

// --- The platform --------------------------------------------------------------

static void cpu_platform_destroy(tfrt_device_platform_t* base) {
  tfrt_cpu_platform_t* platform = TFRT_CONTAINER_OF(base, tfrt_cpu_platform_t, base);
  tfrt_allocator_t allocator = base->allocator;
  for (uint32_t i = 0; i < base->device_count; ++i) {
    tfrt_device_t* device = &platform->devices[i].base;
    device->vtable->destroy(device);
  }
  tfrt_allocator_free(allocator, platform->devices,
                      base->device_count * sizeof(*platform->devices));
  tfrt_device_platform_deinitialize(base);
  tfrt_allocator_free(allocator, platform, sizeof(*platform));
}

static tfrt_status_t cpu_platform_device(tfrt_device_platform_t* base, uint32_t ordinal,
                                         tfrt_device_t** out_device) {
  *out_device = &TFRT_CONTAINER_OF(base, tfrt_cpu_platform_t, base)->devices[ordinal].base;
  return NULL;
}

static const tfrt_device_platform_vtable_t platform_vtable = {
    .destroy = cpu_platform_destroy,
    .device = cpu_platform_device,
    .create_ccl_id = tfrt_cpu_platform_create_ccl_id,
};

tfrt_status_t tfrt_cpu_platform_create(const tfrt_cpu_platform_options_t* options,
                                       tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue,
                                       tfrt_device_platform_t** out_platform) {
  *out_platform = NULL;
  uint32_t count = options->device_count;
  if (count == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a platform of 0 CPU devices");
  }
  tfrt_cpu_platform_t* platform = tfrt_allocator_allocate_zeroed(allocator, sizeof(*platform));
  if (!platform) return tfrt_status_out_of_memory();
  platform->devices = tfrt_allocator_allocate_array(allocator, count, sizeof(*platform->devices));
  if (!platform->devices) {
    tfrt_allocator_free(allocator, platform, sizeof(*platform));
    return tfrt_status_out_of_memory();
  }
  tfrt_device_platform_initialize(&platform->base, &platform_vtable, "cpu", count, allocator,
                                  work_queue);
  platform->options = *options;
  for (uint32_t i = 0; i < count; ++i) {
    cpu_device_initialize(&platform->devices[i], platform, i);
  }
  *out_platform = &platform->base;
  return NULL;
}
