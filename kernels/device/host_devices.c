// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/host_devices.h"

#include <stdio.h>

#include "host_runtime/async/queued_work.h"

static const char resource_name[] = "tfrt_gpu.devices";

typedef struct tfrt_host_devices_s {
  tfrt_resource_t base;
  tfrt_device_manager_t* manager;  // owned
} tfrt_host_devices_t;

static void host_devices_destroy(tfrt_resource_t* resource) {
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
  devices->base.destroy = host_devices_destroy;
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

tfrt_status_t tfrt_host_devices_get(tfrt_host_context_t* host, tfrt_string_view_t name,
                                    tfrt_device_t** out_device) {
  *out_device = NULL;
  tfrt_device_manager_t* manager = tfrt_host_devices_find(host);
  if (manager) return tfrt_device_manager_device(manager, name, out_device);
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "this host has no devices");
}

// --- Asking ------------------------------------------------------------------------------

// Longer than the name of any device.
#define TFRT_HOST_DEVICES_MAX_NAME 64

typedef struct tfrt_host_devices_question_s {
  tfrt_host_context_t* host;
  char name[TFRT_HOST_DEVICES_MAX_NAME];
} tfrt_host_devices_question_t;

static tfrt_async_value_t* host_devices_answer(void* argument) {
  tfrt_host_devices_question_t* question = argument;
  tfrt_device_t* device;
  tfrt_status_t status =
      tfrt_host_devices_get(question->host, tfrt_string_view_of(question->name), &device);
  tfrt_allocator_free(tfrt_allocator_system(), question, sizeof(*question));
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_device_release(device);
  return tfrt_async_value_ready_chain();
}

tfrt_async_value_t* tfrt_host_devices_check(tfrt_host_context_t* host, tfrt_string_view_t name) {
  tfrt_host_devices_question_t* question =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*question));
  if (!question) return tfrt_async_value_out_of_memory();
  question->host = host;
  // A longer name is none, also when it is cut.
  snprintf(question->name, sizeof(question->name), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(name));
  tfrt_async_value_t* answer;
  tfrt_status_t status = tfrt_work_queue_run_blocking(host->work_queue, true, host_devices_answer,
                                                      question, tfrt_allocator_system(), &answer);
  if (!status) return answer;
  tfrt_allocator_free(tfrt_allocator_system(), question, sizeof(*question));
  return tfrt_async_value_create_error_take(status);
}
