// SPDX-License-Identifier: Apache-2.0
//
// Modules, what is in them, and launches.
#include <stdio.h>
#include <string.h>

#include "devices/cpu/cpu_kernels.h"
#include "devices/device_image.h"
#include "tests/devices/test_kernels.h"
#include "tests/fakes/cuda/fake_cuda_call.h"

// --- Modules ---------------------------------------------------------------------------------

// Reads all declarations of |module| unless that was done; what is wrong is written to its log.
static int fake_module_read(tfrt_fake_module_t* module) {
  char* log = module->log;
  if (module->is_read) return 0;
  tfrt_device_image_cursor_t cursor = {.rest = {module->image, module->size}, .line = 1};
  int count = 0;
  for (;; ++count) {
    tfrt_device_image_symbol_t symbol;
    bool found;
    tfrt_status_t status = tfrt_device_image_next(&cursor, &symbol, &found);
    if (status) {
      if (log) snprintf(log, module->log_size, "%s", tfrt_status_message(status));
      tfrt_status_release(status);
      return TFRT_CUDA_ERROR_INVALID_PTX;
    }
    if (found) continue;
    module->is_read = count > 0;
    return module->is_read ? 0 : TFRT_CUDA_ERROR_INVALID_IMAGE;
  }
}

static void fake_module_free(tfrt_fake_module_t* module) {
  tfrt_list_remove(&module->link);
  tfrt_allocator_free(tfrt_allocator_system(), module->image, module->size + 1);
  tfrt_allocator_free(tfrt_allocator_system(), module, sizeof(*module));
}

// Goes on with a call that has begun with |error|; |is_lazy|: the image is not looked at.
static int fake_module_load(int error, bool is_lazy, tfrt_cuda_module_handle_t* out_module,
                            const void* image, unsigned option_count, const int* options,
                            void** values) {
  if (error) return tfrt_fake_end(error);
  tfrt_fake_module_t* module =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*module));
  for (unsigned i = 0; i < option_count; ++i) {
    if (options[i] == TFRT_CUDA_JIT_ERROR_LOG_BUFFER) module->log = values[i];
    if (options[i] == TFRT_CUDA_JIT_ERROR_LOG_BUFFER_SIZE) module->log_size = (size_t)values[i];
  }
  module->context = tfrt_fake_current();
  module->size = strlen(image);
  module->image = tfrt_allocator_copy_string(tfrt_allocator_system(), image, module->size);
  tfrt_list_initialize(&module->functions);
  tfrt_list_initialize(&module->globals);
  tfrt_list_push_back(&tfrt_fake.modules, &module->link);
  if (!is_lazy) error = fake_module_read(module);
  *out_module = error ? NULL : module;
  if (error) fake_module_free(module);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_ModuleLoadDataEx(tfrt_cuda_module_handle_t* out_module,
                                              const void* image, unsigned option_count,
                                              int* options, void** values) {
  return fake_module_load(tfrt_fake_begin_in_context("cuModuleLoadDataEx", NULL), false, out_module,
                          image, option_count, options, values);
}

// A variable that was asked for; its name is a place in the module's text.
typedef struct fake_global_s {
  tfrt_list_link_t link;
  const char* name;
  tfrt_fake_block_t* block;
} fake_global_t;

static int fake_module_unload(int error, tfrt_fake_module_t* module) {
  if (error && error != tfrt_fake_current()->error) return tfrt_fake_end(error);
  if (!tfrt_fake_is_handle(&tfrt_fake.modules, &module->link, "module")) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_HANDLE);
  }
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&module->functions));) {
    tfrt_fake_function_t* function = TFRT_CONTAINER_OF(l, tfrt_fake_function_t, link);
    tfrt_allocator_free(tfrt_allocator_system(), function, sizeof(*function));
  }
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&module->globals));) {
    fake_global_t* global = TFRT_CONTAINER_OF(l, fake_global_t, link);
    tfrt_fake_block_kill(global->block);
    tfrt_allocator_free(tfrt_allocator_system(), global, sizeof(*global));
  }
  fake_module_free(module);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_ModuleUnload(tfrt_cuda_module_handle_t module) {
  return fake_module_unload(tfrt_fake_begin_in_context("cuModuleUnload", NULL), module);
}

static const tfrt_cpu_kernel_t* fake_find_kernel(const char* name) {
  for (size_t i = 0; i < TFRT_TEST_KERNEL_COUNT; ++i) {
    if (strcmp(tfrt_test_kernels[i].name, name) == 0) return &tfrt_test_kernels[i];
  }
  for (size_t i = 0; i < TFRT_CPU_KERNEL_COUNT; ++i) {
    if (strcmp(tfrt_cpu_kernels[i].name, name) == 0) return &tfrt_cpu_kernels[i];
  }
  return NULL;
}

// The kernel that does nothing: what a body of nothing but `ret;` is, whatever its name.
static tfrt_status_t fake_return(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  (void)parameters;
  return NULL;
}

static bool fake_is_empty(const char* name) {
  const char* body = strchr(name, '{');
  if (!body) return true;
  ++body;
  body += strspn(body, " \t\n");
  if (strncmp(body, "ret;", 4) != 0) return false;
  return body[4 + strspn(body + 4, " \t\n")] == '}';
}

static int fake_module_get(int error, tfrt_fake_function_t** out_function,
                           tfrt_fake_module_t* module, const char* name) {
  if (!error) error = fake_module_read(module);
  if (error) return tfrt_fake_end(error);
  tfrt_device_image_symbol_t symbol;
  bool found = false;
  tfrt_status_release(tfrt_device_image_find(tfrt_string_view_make(module->image, module->size),
                                             true, name, &symbol, &found));
  static const tfrt_cpu_kernel_t nothing = {.name = "nothing", .run = fake_return};
  const tfrt_cpu_kernel_t* kernel = found ? fake_find_kernel(name) : NULL;
  if (kernel && fake_is_empty(symbol.name.data)) kernel = &nothing;
  if (!kernel) return tfrt_fake_end(TFRT_CUDA_ERROR_NOT_FOUND);
  tfrt_fake_function_t* function =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*function));
  function->module = module;
  function->kernel = kernel;
  function->parameter_count = symbol.parameter_count;
  memcpy(function->parameter_sizes, symbol.parameter_sizes, sizeof(symbol.parameter_sizes));
  function->shared_size = 48 * 1024;
  tfrt_list_push_back(&module->functions, &function->link);
  *out_function = function;
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_ModuleGetFunction(tfrt_cuda_function_handle_t* out_function,
                                               tfrt_cuda_module_handle_t module, const char* name) {
  return fake_module_get(tfrt_fake_begin_in_context("cuModuleGetFunction", module->context),
                         out_function, module, name);
}

static fake_global_t* fake_find_global(tfrt_fake_module_t* module, const char* name) {
  for (tfrt_list_link_t* l = module->globals.next; l != &module->globals; l = l->next) {
    fake_global_t* global = TFRT_CONTAINER_OF(l, fake_global_t, link);
    if (global->name == name) return global;
  }
  return NULL;
}

static int fake_module_get_global(int error, tfrt_cuda_address_t* address, size_t* size,
                                  tfrt_fake_module_t* module, const char* name) {
  if (!error) error = fake_module_read(module);
  if (error) return tfrt_fake_end(error);
  tfrt_device_image_symbol_t symbol;
  bool found = false;
  tfrt_status_release(tfrt_device_image_find(tfrt_string_view_make(module->image, module->size),
                                             false, name, &symbol, &found));
  if (!found) return tfrt_fake_end(TFRT_CUDA_ERROR_NOT_FOUND);
  fake_global_t* global = fake_find_global(module, symbol.name.data);
  if (!global) {
    global = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*global));
    global->name = symbol.name.data;
    global->block =
        tfrt_fake_block_create(TFRT_FAKE_MEMORY_GLOBAL, module->context, NULL, symbol.size);
    tfrt_list_push_back(&module->globals, &global->link);
  }
  *address = (tfrt_cuda_address_t)(uintptr_t)global->block->data;
  *size = symbol.size;
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_ModuleGetGlobal(tfrt_cuda_address_t* address, size_t* size,
                                             tfrt_cuda_module_handle_t module, const char* name) {
  return fake_module_get_global(tfrt_fake_begin_in_context("cuModuleGetGlobal", module->context),
                                address, size, module, name);
}

// --- Libraries -------------------------------------------------------------------------------

// A library is a module here, of the context that is current when it is loaded, and a kernel is a
// function: what they are in other contexts, nobody asks. As the real driver does, this one looks
// at the image when the library is used first, and writes to the log of the load then.

static tfrt_fake_module_t* fake_module_of(tfrt_cuda_library_handle_t library) {
  return (tfrt_fake_module_t*)library;
}

tfrt_cuda_result_t tfrt_fake_LibraryLoadData(tfrt_cuda_library_handle_t* library, const void* image,
                                             int* jit_options, void** jit_values,
                                             unsigned jit_option_count, int* options, void** values,
                                             unsigned option_count) {
  (void)options;
  (void)values;
  int error = tfrt_fake_begin_in_context("cuLibraryLoadData", NULL);
  if (!error && option_count > 0) error = TFRT_CUDA_ERROR_INVALID_VALUE;
  tfrt_fake_module_t* module = NULL;
  error = fake_module_load(error, true, &module, image, jit_option_count, jit_options, jit_values);
  *library = (tfrt_cuda_library_handle_t)module;
  return error;
}

tfrt_cuda_result_t tfrt_fake_LibraryUnload(tfrt_cuda_library_handle_t library) {
  return fake_module_unload(tfrt_fake_begin_in_context("cuLibraryUnload", NULL),
                            fake_module_of(library));
}

tfrt_cuda_result_t tfrt_fake_LibraryGetModule(tfrt_cuda_module_handle_t* module,
                                              tfrt_cuda_library_handle_t library) {
  int error = tfrt_fake_begin_in_context("cuLibraryGetModule", fake_module_of(library)->context);
  if (!error) error = fake_module_read(fake_module_of(library));
  if (!error) *module = fake_module_of(library);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_LibraryGetKernel(tfrt_cuda_kernel_handle_t* kernel,
                                              tfrt_cuda_library_handle_t library,
                                              const char* name) {
  tfrt_fake_function_t* function = NULL;
  int error = fake_module_get(tfrt_fake_begin_in_context("cuLibraryGetKernel", NULL), &function,
                              fake_module_of(library), name);
  *kernel = (tfrt_cuda_kernel_handle_t)function;
  return error;
}

tfrt_cuda_result_t tfrt_fake_LibraryGetGlobal(tfrt_cuda_address_t* address, size_t* size,
                                              tfrt_cuda_library_handle_t library,
                                              const char* name) {
  tfrt_fake_module_t* module = fake_module_of(library);
  return fake_module_get_global(tfrt_fake_begin_in_context("cuLibraryGetGlobal", module->context),
                                address, size, module, name);
}

tfrt_cuda_result_t tfrt_fake_KernelGetFunction(tfrt_cuda_function_handle_t* out_function,
                                               tfrt_cuda_kernel_handle_t kernel) {
  tfrt_fake_function_t* function = (tfrt_fake_function_t*)kernel;
  int error = tfrt_fake_begin_in_context("cuKernelGetFunction", function->module->context);
  *out_function = function;
  return tfrt_fake_end(error);
}

// --- Functions -------------------------------------------------------------------------------

tfrt_cuda_result_t tfrt_fake_FuncGetAttribute(int* value, int attribute,
                                              tfrt_cuda_function_handle_t function) {
  (void)function;
  int error = tfrt_fake_begin("cuFuncGetAttribute");
  *value = attribute == TFRT_CUDA_FUNCTION_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_FuncSetAttribute(tfrt_cuda_function_handle_t function, int attribute,
                                              int value) {
  int error = tfrt_fake_begin_in_context("cuFuncSetAttribute", function->module->context);
  if (attribute != TFRT_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_SIZE) {
    error = TFRT_CUDA_ERROR_INVALID_VALUE;
  }
  if (!error) function->shared_size = value;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_FuncGetParamInfo(tfrt_cuda_function_handle_t function, size_t index,
                                              size_t* offset, size_t* size) {
  int error = tfrt_fake_begin("cuFuncGetParamInfo");
  // Tools that watch the driver's calls print this as an error of the program.
  if (!error && index >= function->parameter_count) {
    tfrt_fake_defect("a parameter is asked for that there isn't");
    error = TFRT_CUDA_ERROR_INVALID_VALUE;
  }
  if (!error) {
    *offset = 8 * index;
    *size = function->parameter_sizes[index];
  }
  return tfrt_fake_end(error);
}

static int fake_launch(int error, tfrt_fake_function_t* function,
                       const tfrt_device_launch_t* launch, tfrt_fake_stream_t* stream,
                       void** parameters) {
  if (!error && function->module->context != stream->context) {
    tfrt_fake_defect("a kernel of another context is launched");
    error = TFRT_CUDA_ERROR_INVALID_HANDLE;
  }
  if (!error && (int)launch->shared_size > function->shared_size) {
    error = TFRT_CUDA_ERROR_INVALID_VALUE;
  }
  if (error) return tfrt_fake_end(error);
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_LAUNCH);
  op->kernel = function->kernel;
  op->launch = *launch;
  op->parameter_count = function->parameter_count;
  memcpy(op->parameter_sizes, function->parameter_sizes, sizeof(op->parameter_sizes));
  for (uint32_t i = 0; i < op->parameter_count; ++i) {
    size_t size = op->parameter_sizes[i];
    memcpy(&op->parameters[i], parameters[i], size < sizeof(uint64_t) ? size : sizeof(uint64_t));
  }
  tfrt_fake_op_give(op);
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_LaunchKernel(tfrt_cuda_function_handle_t function, unsigned grid_x,
                                          unsigned grid_y, unsigned grid_z, unsigned block_x,
                                          unsigned block_y, unsigned block_z, unsigned shared_size,
                                          tfrt_cuda_stream_handle_t stream, void** parameters,
                                          void** extra) {
  (void)extra;
  tfrt_device_launch_t launch = {
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_size, false, {0, 0, 0}, 0};
  return fake_launch(tfrt_fake_begin_in_stream("cuLaunchKernel", stream), function, &launch, stream,
                     parameters);
}

tfrt_cuda_result_t tfrt_fake_LaunchCooperativeKernel(
    tfrt_cuda_function_handle_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_size,
    tfrt_cuda_stream_handle_t stream, void** parameters) {
  tfrt_device_launch_t launch = {
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_size, true, {0, 0, 0}, 0};
  return fake_launch(tfrt_fake_begin_in_stream("cuLaunchCooperativeKernel", stream), function,
                     &launch, stream, parameters);
}

tfrt_cuda_result_t tfrt_fake_LaunchKernelEx(const tfrt_cuda_launch_t* with,
                                            tfrt_cuda_function_handle_t function, void** parameters,
                                            void** extra) {
  (void)extra;
  int error = tfrt_fake_begin_in_stream("cuLaunchKernelEx", with->stream);
  tfrt_device_launch_t launch = {.grid = {with->grid[0], with->grid[1], with->grid[2]},
                                 .block = {with->block[0], with->block[1], with->block[2]},
                                 .shared_size = with->shared_size};
  for (unsigned i = 0; i < with->attribute_count && !error; ++i) {
    const tfrt_cuda_launch_attribute_t* attribute = &with->attributes[i];
    if (attribute->id == TFRT_CUDA_LAUNCH_CLUSTER) {
      for (int axis = 0; axis < 3; ++axis) {
        unsigned cluster = attribute->value.cluster[axis];
        if (cluster == 0 || with->grid[axis] % cluster != 0) {
          tfrt_fake_defect("a grid that is no whole number of clusters");
          error = TFRT_CUDA_ERROR_INVALID_VALUE;
        }
        launch.cluster[axis] = cluster;
      }
    } else if (attribute->id == TFRT_CUDA_LAUNCH_COOPERATIVE) {
      launch.is_cooperative = attribute->value.cooperative != 0;
    } else if (attribute->id == TFRT_CUDA_LAUNCH_PRIORITY && tfrt_fake.version >= 11070) {
      launch.priority = attribute->value.priority;
      if (launch.priority > 0 || launch.priority < TFRT_FAKE_CUDA_FIRST_PRIORITY) {
        tfrt_fake_defect("a launch with a priority that there isn't");
      }
      tfrt_fake.last_priority = launch.priority;
    } else {
      error = TFRT_CUDA_ERROR_INVALID_VALUE;
    }
  }
  return fake_launch(error, function, &launch, with->stream, parameters);
}
