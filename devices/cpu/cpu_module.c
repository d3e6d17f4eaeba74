// SPDX-License-Identifier: Apache-2.0
//
// A module on the CPU: the declarations of a PTX text, and C functions.
#include <string.h>

#include "devices/cpu/cpu_impl.h"
#include "devices/device_image.h"

// A variable of a module; its memory is the device's.
typedef struct tfrt_cpu_global_s {
  struct tfrt_cpu_global_s* next;
  tfrt_string_view_t name;  // in the image
  tfrt_device_address_t address;
  size_t size;
} tfrt_cpu_global_t;

typedef struct tfrt_cpu_module_s {
  tfrt_device_module_t base;
  char* image;  // owned, with a NUL
  size_t image_size;
  tfrt_cpu_global_t* globals;  // owned
} tfrt_cpu_module_t;

static tfrt_cpu_module_t* cpu_module_of(tfrt_device_module_t* module) {
  return TFRT_CONTAINER_OF(module, tfrt_cpu_module_t, base);
}

static tfrt_string_view_t cpu_module_text(const tfrt_cpu_module_t* module) {
  return tfrt_string_view_make(module->image, module->image_size);
}

static void cpu_module_destroy(tfrt_device_module_t* base) {
  tfrt_cpu_module_t* module = cpu_module_of(base);
  tfrt_allocator_t allocator = base->device->platform->allocator;
  for (tfrt_cpu_global_t* global = module->globals; global;) {
    tfrt_cpu_global_t* next = global->next;
    tfrt_status_release(tfrt_cpu_device_deallocate(base->device, TFRT_DEVICE_SPACE_DEVICE,
                                                   global->address, global->size));
    tfrt_allocator_free(allocator, global, sizeof(*global));
    global = next;
  }
  tfrt_allocator_free(allocator, module->image, module->image_size + 1);
  tfrt_allocator_free(allocator, module, sizeof(*module));
}

// --- Functions -----------------------------------------------------------------

static void cpu_function_destroy(tfrt_device_function_t* base) {
  tfrt_cpu_function_t* function = TFRT_CONTAINER_OF(base, tfrt_cpu_function_t, base);
  tfrt_allocator_free(base->module->device->platform->allocator, function, sizeof(*function));
}

static void cpu_function_extents(const tfrt_device_function_t* base,
                                 const tfrt_device_launch_t* launch, void* const* parameters,
                                 uint64_t* out_bytes) {
  const tfrt_cpu_kernel_t* kernel = TFRT_CONTAINER_OF(base, tfrt_cpu_function_t, base)->kernel;
  if (kernel->extents) kernel->extents(launch, parameters, kernel->element_size, out_bytes);
}

static const tfrt_device_function_vtable_t function_vtable = {.destroy = cpu_function_destroy,
                                                              .extents = cpu_function_extents};

static uint32_t cpu_parameter_size(char letter) {
  return letter == 'b' ? sizeof(tfrt_device_address_t) : letter == 'h' ? 2 : 4;
}

// OK if the parameters that |symbol| declares are those that |kernel| reads.
static tfrt_status_t cpu_module_check_parameters(const tfrt_device_t* device,
                                                 const tfrt_cpu_kernel_t* kernel,
                                                 const tfrt_device_image_symbol_t* symbol) {
  if (!kernel->parameters) return NULL;
  uint32_t count = (uint32_t)strlen(kernel->parameters);
  if (symbol->parameter_count != count) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "%s: get function failed: CPU_ERROR_INVALID_IMAGE (%s is declared with "
        "%u parameters, but has %u here)",
        device->name, kernel->name, symbol->parameter_count, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t size = cpu_parameter_size(kernel->parameters[i]);
    if (symbol->parameter_sizes[i] == size) continue;
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "%s: get function failed: CPU_ERROR_INVALID_IMAGE (parameter %u of %s "
        "is declared with %u bytes, but has %u here)",
        device->name, i, kernel->name, symbol->parameter_sizes[i], size);
  }
  return NULL;
}

static const tfrt_cpu_kernel_t* cpu_module_find_kernel(const tfrt_device_t* device,
                                                       const char* name) {
  const tfrt_cpu_platform_options_t* options = &tfrt_cpu_platform_of(device)->options;
  for (size_t i = 0; i < options->kernel_count; ++i) {
    if (strcmp(options->kernels[i].name, name) == 0) return &options->kernels[i];
  }
  return NULL;
}

static tfrt_status_t cpu_module_function(tfrt_device_module_t* module, const char* name,
                                         tfrt_device_function_t** out_function) {
  tfrt_device_t* device = module->device;
  tfrt_device_image_symbol_t symbol;
  bool found;
  TFRT_RETURN_IF_ERROR(
      tfrt_device_image_find(cpu_module_text(cpu_module_of(module)), true, name, &symbol, &found));
  const tfrt_cpu_kernel_t* kernel = found ? cpu_module_find_kernel(device, name) : NULL;
  if (!kernel) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "%s: get function failed: CPU_ERROR_NOT_FOUND (%s %s)", device->name,
                              name, found ? "has no form for this device" : "is not in the module");
  }
  TFRT_RETURN_IF_ERROR(cpu_module_check_parameters(device, kernel, &symbol));
  tfrt_cpu_function_t* function =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*function));
  if (!function) return tfrt_status_out_of_memory();
  tfrt_status_t status =
      tfrt_device_function_initialize(&function->base, &function_vtable, module, name);
  if (status) {
    tfrt_allocator_free(device->platform->allocator, function, sizeof(*function));
    return status;
  }
  function->kernel = kernel;
  function->base.parameter_count = symbol.parameter_count;
  memcpy(function->base.parameter_sizes, symbol.parameter_sizes, sizeof(symbol.parameter_sizes));
  *out_function = &function->base;
  return NULL;
}

// --- Variables -----------------------------------------------------------------

static tfrt_status_t cpu_module_global(tfrt_device_module_t* module, const char* name,
                                       tfrt_device_address_t* out_address, size_t* out_size) {
  for (const tfrt_cpu_global_t* global = cpu_module_of(module)->globals; global;
       global = global->next) {
    if (!tfrt_string_view_equal(global->name, tfrt_string_view_of(name))) continue;
    *out_address = global->address;
    *out_size = global->size;
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                            "%s: get global failed: CPU_ERROR_NOT_FOUND (%s is not in the module)",
                            module->device->name, name);
}

static tfrt_status_t cpu_module_add_global(tfrt_cpu_module_t* module,
                                           const tfrt_device_image_symbol_t* symbol) {
  tfrt_device_t* device = module->base.device;
  if (symbol->is_initialized) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: load module failed: CPU_ERROR_INVALID_IMAGE (%.*s has a value; "
                              "variables here start as zero)",
                              device->name, TFRT_STRING_VIEW_ARGUMENTS(symbol->name));
  }
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_cpu_global_t* global = tfrt_allocator_allocate_zeroed(allocator, sizeof(*global));
  if (!global) return tfrt_status_out_of_memory();
  tfrt_status_t status =
      tfrt_cpu_device_allocate(device, TFRT_DEVICE_SPACE_DEVICE, symbol->size, &global->address);
  if (status) {
    tfrt_allocator_free(allocator, global, sizeof(*global));
    return status;
  }
  memset((void*)(uintptr_t)global->address, 0, symbol->size);
  global->name = symbol->name;
  global->size = symbol->size;
  global->next = module->globals;
  module->globals = global;
  return NULL;
}

// --- Loading -------------------------------------------------------------------

static const tfrt_device_module_vtable_t module_vtable = {cpu_module_destroy, cpu_module_function,
                                                          cpu_module_global};

// Reads all declarations once, so that later questions can't fail for the text.
static tfrt_status_t cpu_module_read(tfrt_cpu_module_t* module) {
  tfrt_device_image_cursor_t cursor = {.rest = cpu_module_text(module), .line = 1};
  bool any = false;
  for (;;) {
    tfrt_device_image_symbol_t symbol;
    bool found;
    TFRT_RETURN_IF_ERROR(tfrt_device_image_next(&cursor, &symbol, &found));
    if (!found) break;
    any = true;
    if (!symbol.is_kernel) TFRT_RETURN_IF_ERROR(cpu_module_add_global(module, &symbol));
  }
  if (any) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: load module failed: CPU_ERROR_INVALID_IMAGE (no PTX text that "
                            "declares a kernel)",
                            module->base.device->name);
}

tfrt_status_t tfrt_cpu_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                          tfrt_device_module_t** out_module) {
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_cpu_module_t* module = tfrt_allocator_allocate_zeroed(allocator, sizeof(*module));
  if (!module) return tfrt_status_out_of_memory();
  module->image = tfrt_allocator_copy_string(allocator, image, size);
  if (!module->image) {
    tfrt_allocator_free(allocator, module, sizeof(*module));
    return tfrt_status_out_of_memory();
  }
  module->image_size = size;
  tfrt_device_module_initialize(&module->base, &module_vtable, device);
  tfrt_status_t status = cpu_module_read(module);
  if (status) {
    tfrt_device_module_release(&module->base);
    return status;
  }
  *out_module = &module->base;
  return NULL;
}
