// SPDX-License-Identifier: Apache-2.0
#include "devices/device_module.h"

#include <string.h>

#include "devices/device_buffer.h"

void tfrt_device_module_initialize(tfrt_device_module_t* module,
                                   const tfrt_device_module_vtable_t* vtable,
                                   tfrt_device_t* device) {
  module->vtable = vtable;
  tfrt_ref_count_initialize(&module->ref_count);
  module->device = tfrt_device_retain(device);
}

tfrt_status_t tfrt_device_function_initialize(tfrt_device_function_t* function,
                                              const tfrt_device_function_vtable_t* vtable,
                                              tfrt_device_module_t* module, const char* name) {
  tfrt_device_t* device = module->device;
  function->name = tfrt_allocator_copy_string(device->platform->allocator, name, strlen(name));
  if (!function->name) return tfrt_status_out_of_memory();
  function->vtable = vtable;
  tfrt_ref_count_initialize(&function->ref_count);
  function->module = tfrt_device_module_retain(module);
  function->max_threads_per_block = device->properties.max_threads_per_block;
  function->parameter_count = TFRT_DEVICE_PARAMETERS_UNKNOWN;
  return NULL;
}

tfrt_device_module_t* tfrt_device_module_retain(tfrt_device_module_t* module) {
  tfrt_ref_count_increment(&module->ref_count);
  return module;
}

tfrt_device_function_t* tfrt_device_function_retain(tfrt_device_function_t* function) {
  tfrt_ref_count_increment(&function->ref_count);
  return function;
}

void tfrt_device_module_release(tfrt_device_module_t* module) {
  if (!module || !tfrt_ref_count_decrement(&module->ref_count)) return;
  tfrt_device_t* device = module->device;
  module->vtable->destroy(module);
  tfrt_device_release(device);
}

void tfrt_device_function_release(tfrt_device_function_t* function) {
  if (!function || !tfrt_ref_count_decrement(&function->ref_count)) return;
  tfrt_device_module_t* module = function->module;
  tfrt_allocator_free(module->device->platform->allocator, function->name,
                      strlen(function->name) + 1);
  function->vtable->destroy(function);
  tfrt_device_module_release(module);
}

tfrt_status_t tfrt_device_module_function(tfrt_device_module_t* module, const char* name,
                                          tfrt_device_function_t** out_function) {
  *out_function = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(module->device));
  return module->vtable->function(module, name, out_function);
}

static void device_module_release_global(void* context) { tfrt_device_module_release(context); }

tfrt_status_t tfrt_device_module_global(tfrt_device_module_t* module, const char* name,
                                        tfrt_device_buffer_t** out_buffer) {
  *out_buffer = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(module->device));
  tfrt_device_address_t address = 0;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(module->vtable->global(module, name, &address, &size));
  tfrt_device_module_retain(module);
  tfrt_status_t status =
      tfrt_device_buffer_create_external(module->device, TFRT_DEVICE_SPACE_DEVICE, address, size,
                                         device_module_release_global, module, out_buffer);
  if (status) tfrt_device_module_release(module);
  return status;
}
