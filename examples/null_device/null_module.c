// SPDX-License-Identifier: Apache-2.0
//
// Modules: of a PTX text only the declarations are read. So a launch with the wrong arguments is
// refused here, too, and variables have memory. A device with code of its own loads the image here.
#include "null_device.h"

#include <string.h>

typedef struct null_module_s {
  tfrt_device_module_t base;
  char* image;  // owned, with a NUL
  size_t image_size;
  // Owned; zeroed memory of all variables, in the order of the image, each at a multiple of
  // TFRT_DEVICE_ALIGNMENT.
  tfrt_device_address_t variables;
  size_t variables_size;  // 0: there are none
} null_module_t;

static null_module_t* null_module_of(tfrt_device_module_t* module) {
  return TFRT_CONTAINER_OF(module, null_module_t, base);
}

static void null_module_destroy(tfrt_device_module_t* base) {
  null_module_t* module = null_module_of(base);
  tfrt_allocator_t allocator = base->device->platform->allocator;
  if (module->variables_size > 0) {
    tfrt_status_release(null_device_deallocate(base->device, TFRT_DEVICE_SPACE_DEVICE,
                                               module->variables, module->variables_size));
  }
  tfrt_allocator_free(allocator, module->image, module->image_size + 1);
  tfrt_allocator_free(allocator, module, sizeof(*module));
}

// Adds the memory of |variable| to |*offset|. An image is not to be trusted.
static tfrt_status_t null_module_pass(const null_module_t* module,
                                      const tfrt_device_image_symbol_t* variable, size_t* offset) {
  tfrt_device_t* device = module->base.device;
  if (variable->is_initialized) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: %.*s has a value; variables here start as zero", device->name,
                              TFRT_STRING_VIEW_ARGUMENTS(variable->name));
  }
  if (variable->size > device->properties.memory_size - *offset) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "%s: no memory for %.*s",
                              device->name, TFRT_STRING_VIEW_ARGUMENTS(variable->name));
  }
  *offset +=
      (variable->size + TFRT_DEVICE_ALIGNMENT - 1) / TFRT_DEVICE_ALIGNMENT * TFRT_DEVICE_ALIGNMENT;
  return NULL;
}

// Finds the kernel, or the variable, named |name|, or, with NULL, goes through the whole image.
// |*out_offset| is where the variables before it end, |*out_count| the number of declarations.
static tfrt_status_t null_module_read(const null_module_t* module, bool is_kernel, const char* name,
                                      tfrt_device_image_symbol_t* out_symbol, bool* out_found,
                                      size_t* out_offset, size_t* out_count) {
  tfrt_device_image_cursor_t cursor = {
      .rest = tfrt_string_view_make(module->image, module->image_size), .line = 1};
  *out_offset = *out_count = 0;
  for (;; ++*out_count) {
    TFRT_RETURN_IF_ERROR(tfrt_device_image_next(&cursor, out_symbol, out_found));
    if (!*out_found) return NULL;
    if (name && out_symbol->is_kernel == is_kernel &&
        tfrt_string_view_equal(out_symbol->name, tfrt_string_view_of(name))) {
      return NULL;
    }
    if (!out_symbol->is_kernel) {
      TFRT_RETURN_IF_ERROR(null_module_pass(module, out_symbol, out_offset));
    }
  }
}

static tfrt_status_t null_module_not_found(const tfrt_device_module_t* module, const char* name) {
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "%s: %s is not in the module",
                            module->device->name, name);
}

// --- Functions and variables ---------------------------------------------------

static void null_function_destroy(tfrt_device_function_t* function) {
  tfrt_allocator_free(function->module->device->platform->allocator, function, sizeof(*function));
}

static const tfrt_device_function_vtable_t function_vtable = {
    .destroy = null_function_destroy,
};

static tfrt_status_t null_module_function(tfrt_device_module_t* module, const char* name,
                                          tfrt_device_function_t** out_function) {
  tfrt_device_image_symbol_t symbol;
  bool found;
  size_t offset;
  size_t count;
  TFRT_RETURN_IF_ERROR(
      null_module_read(null_module_of(module), true, name, &symbol, &found, &offset, &count));
  if (!found) return null_module_not_found(module, name);
  tfrt_allocator_t allocator = module->device->platform->allocator;
  tfrt_device_function_t* function = tfrt_allocator_allocate_zeroed(allocator, sizeof(*function));
  if (!function) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_device_function_initialize(function, &function_vtable, module, name);
  if (status) {
    tfrt_allocator_free(allocator, function, sizeof(*function));
    return status;
  }
  function->parameter_count = symbol.parameter_count;
  memcpy(function->parameter_sizes, symbol.parameter_sizes, sizeof(symbol.parameter_sizes));
  *out_function = function;
  return NULL;
}

static tfrt_status_t null_module_global(tfrt_device_module_t* base, const char* name,
                                        tfrt_device_address_t* out_address, size_t* out_size) {
  null_module_t* module = null_module_of(base);
  tfrt_device_image_symbol_t symbol;
  bool found;
  size_t offset;
  size_t count;
  TFRT_RETURN_IF_ERROR(null_module_read(module, false, name, &symbol, &found, &offset, &count));
  if (!found) return null_module_not_found(base, name);
  *out_address = module->variables + offset;
  *out_size = symbol.size;
  return NULL;
}

// --- Loading -------------------------------------------------------------------

static const tfrt_device_module_vtable_t module_vtable = {
    .destroy = null_module_destroy,
    .function = null_module_function,
    .global = null_module_global,
};

// Reads the whole image once, so that later questions can't fail for the text.
static tfrt_status_t null_module_check(null_module_t* module) {
  tfrt_device_t* device = module->base.device;
  tfrt_device_image_symbol_t symbol;
  bool found;
  size_t size;
  size_t count;
  TFRT_RETURN_IF_ERROR(null_module_read(module, false, NULL, &symbol, &found, &size, &count));
  if (count == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: the module is no PTX text that declares a kernel", device->name);
  }
  if (size == 0) return NULL;
  TFRT_RETURN_IF_ERROR(
      null_device_allocate(device, TFRT_DEVICE_SPACE_DEVICE, size, &module->variables));
  module->variables_size = size;
  memset((void*)(uintptr_t)module->variables, 0, size);
  return NULL;
}

tfrt_status_t null_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                      tfrt_device_module_t** out_module) {
  tfrt_allocator_t allocator = device->platform->allocator;
  null_module_t* module = tfrt_allocator_allocate_zeroed(allocator, sizeof(*module));
  if (!module) return tfrt_status_out_of_memory();
  module->image = tfrt_allocator_copy_string(allocator, image, size);
  if (!module->image) {
    tfrt_allocator_free(allocator, module, sizeof(*module));
    return tfrt_status_out_of_memory();
  }
  module->image_size = size;
  tfrt_device_module_initialize(&module->base, &module_vtable, device);
  tfrt_status_t status = null_module_check(module);
  if (status) {
    tfrt_device_module_release(&module->base);
    return status;
  }
  *out_module = &module->base;
  return NULL;
}
