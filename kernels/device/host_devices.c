// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/host_devices.h"

static const char resource_name[] = "tfrt_gpu.devices";

typedef struct tfrt_host_devices_s {
  tfrt_resource_t base;
  tfrt_device_manager_t* manager;  // owned
} tfrt_host_devices_t;

static void tfrt_host_devices_destroy(tfrt_resource_t* resource) {
  tfrt_host_devices_t* devices = TFRT_CONTAINER_OF(resource, tfrt_host_devices_t, base);
  tfrt_device_manager_free(devices->manager);
  tfrt_allocator_free(tfrt_allocator_system(), devices, sizeof(*devices));
}

tfrt_status_t tfrt_host_devices_add_take(tfrt_host_context_t* host,
                                         tfrt_device_manager_t* manager) {
  tfrt_host_devices_t* devices =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*devices));
  if (!devices) {
    tfrt_device_manager_free(manager);
    return tfrt_status_out_of_memory();
  }
  devices->base.name = resource_name;
  devices->base.destroy = tfrt_host_devices_destroy;
  devices->manager = manager;
  tfrt_resource_context_add(&host->shared, &devices->base);
  return NULL;
}

tfrt_device_manager_t* tfrt_host_devices_find(tfrt_host_context_t* host) {
  tfrt_resource_t* resource = tfrt_resource_context_find(&host->shared, resource_name);
  return resource ? TFRT_CONTAINER_OF(resource, tfrt_host_devices_t, base)->manager : NULL;
}

void tfrt_host_devices_drain(tfrt_host_context_t* host) {
  tfrt_device_manager_t* manager = tfrt_host_devices_find(host);
  if (manager) tfrt_device_manager_drain(manager);
}
