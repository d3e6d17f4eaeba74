// SPDX-License-Identifier: Apache-2.0
//
// Modules, functions and variables are the driver's: its libraries where it has them (CUDA 12),
// which it loads into a context when something of them is used there, else its modules.
//
// The driver looks at a library when that is used first, and not when it is loaded. So it is used
// at once: an image that is none is an error of the load, while its text is at hand.
#include <string.h>

#include "devices/cuda/cuda_impl.h"
#include "devices/device_image.h"

// Beyond this much shared memory a function has to be told.
#define TFRT_CUDA_SHARED_SIZE_WITHOUT_ASKING (48u * 1024)

// How much the driver may say about code that it can't compile.
#define TFRT_CUDA_LOG_SIZE 1024

typedef struct tfrt_cuda_module_s {
  tfrt_device_module_t base;
  tfrt_cuda_library_handle_t library;  // NULL: it is a module
  tfrt_cuda_module_handle_t handle;
  char* text;  // a copy of the image if that is PTX, else NULL
} tfrt_cuda_module_t;

typedef struct tfrt_cuda_function_s {
  tfrt_device_function_t base;
  tfrt_cuda_function_handle_t handle;
  _Atomic uint32_t shared_size;  // the limit that the driver was given
} tfrt_cuda_function_t;

static tfrt_cuda_module_t* cuda_module_of(tfrt_device_module_t* module) {
  return TFRT_CONTAINER_OF(module, tfrt_cuda_module_t, base);
}

// --- Functions -----------------------------------------------------------------------

static void cuda_function_destroy(tfrt_device_function_t* base) {
  tfrt_cuda_function_t* function = TFRT_CONTAINER_OF(base, tfrt_cuda_function_t, base);
  tfrt_allocator_free(base->module->device->platform->allocator, function, sizeof(*function));
}

static const tfrt_device_function_vtable_t function_vtable = {.destroy = cuda_function_destroy};

tfrt_cuda_result_t tfrt_cuda_function_prepare(tfrt_device_function_t* base, uint32_t shared_size,
                                              tfrt_cuda_function_handle_t* out_handle) {
  tfrt_cuda_function_t* function = TFRT_CONTAINER_OF(base, tfrt_cuda_function_t, base);
  *out_handle = function->handle;
  // Relaxed: to tell it twice does no harm.
  if (shared_size <= atomic_load_explicit(&function->shared_size, memory_order_relaxed)) {
    return TFRT_CUDA_SUCCESS;
  }
  tfrt_cuda_result_t result =
      tfrt_cuda_api_of(base->module->device)
          ->FuncSetAttribute(function->handle, TFRT_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_SIZE,
                             (int)shared_size);
  if (result == TFRT_CUDA_SUCCESS) {
    atomic_store_explicit(&function->shared_size, shared_size, memory_order_relaxed);
  }
  return result;
}

// How many parameters the kernel |name| has, by the text of |module|; as many as there may be where
// that doesn't say.
static uint32_t cuda_module_parameter_count(const tfrt_cuda_module_t* module, const char* name) {
  tfrt_device_image_symbol_t symbol;
  bool found = false;
  tfrt_status_t status = NULL;
  if (module->text) {
    status = tfrt_device_image_find(tfrt_string_view_of(module->text), true, name, &symbol, &found);
  }
  tfrt_status_release(status);
  return found ? symbol.parameter_count : TFRT_DEVICE_MAX_PARAMETERS;
}

// Asks for the parameters of |function|, in its context, at most |limit|. They stay unknown to
// older drivers. The driver doesn't say how many there are, and to ask for one more than that is an
// error to tools that watch its calls: so it is only done for code that can't be read here.
static void cuda_function_read_parameters(tfrt_cuda_function_t* function,
                                          const tfrt_cuda_api_t* api, uint32_t limit) {
  if (!api->FuncGetParamInfo) return;
  uint32_t count = 0;
  size_t offset;
  size_t size;
  while (count < limit &&
         api->FuncGetParamInfo(function->handle, count, &offset, &size) == TFRT_CUDA_SUCCESS) {
    function->base.parameter_sizes[count++] = (uint32_t)size;
  }
  function->base.parameter_count = count;
}

// Sets the handle of |function| to that of |name|, in the module's context; sets |*out_call| to
// what the result is of.
static tfrt_cuda_result_t cuda_function_get(tfrt_cuda_function_t* function,
                                            const tfrt_cuda_module_t* module, const char* name,
                                            const char** out_call) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(module->base.device);
  if (!module->library) {
    *out_call = "cuModuleGetFunction";
    return api->ModuleGetFunction(&function->handle, module->handle, name);
  }
  tfrt_cuda_kernel_handle_t kernel;
  *out_call = "cuLibraryGetKernel";
  tfrt_cuda_result_t result = api->LibraryGetKernel(&kernel, module->library, name);
  if (result != TFRT_CUDA_SUCCESS) return result;
  *out_call = "cuKernelGetFunction";
  return api->KernelGetFunction(&function->handle, kernel);
}

// Fills |function| in; the status is that of looking for |name|.
static tfrt_status_t cuda_function_find(tfrt_cuda_function_t* function,
                                        tfrt_device_module_t* module, const char* name) {
  tfrt_device_t* device = module->device;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  const char* call;
  tfrt_cuda_result_t result = cuda_function_get(function, cuda_module_of(module), name, &call);
  int threads = 0;
  if (result == TFRT_CUDA_SUCCESS) {
    cuda_function_read_parameters(function, api,
                                  cuda_module_parameter_count(cuda_module_of(module), name));
    api->FuncGetAttribute(&threads, TFRT_CUDA_FUNCTION_MAX_THREADS_PER_BLOCK, function->handle);
  }
  if (threads > 0) function->base.max_threads_per_block = (uint32_t)threads;
  tfrt_status_t status = tfrt_cuda_leave(device, result, call);
  return tfrt_status_take_annotate(status, "kernel %s", name);
}

static tfrt_status_t cuda_module_function(tfrt_device_module_t* module, const char* name,
                                          tfrt_device_function_t** out_function) {
  tfrt_allocator_t allocator = module->device->platform->allocator;
  tfrt_cuda_function_t* function = tfrt_allocator_allocate_zeroed(allocator, sizeof(*function));
  if (!function) return tfrt_status_out_of_memory();
  atomic_init(&function->shared_size, TFRT_CUDA_SHARED_SIZE_WITHOUT_ASKING);
  tfrt_status_t status =
      tfrt_device_function_initialize(&function->base, &function_vtable, module, name);
  if (status) {
    tfrt_allocator_free(allocator, function, sizeof(*function));
    return status;
  }
  status = cuda_function_find(function, module, name);
  if (status) {
    tfrt_device_function_release(&function->base);
    return status;
  }
  *out_function = &function->base;
  return NULL;
}

// --- Modules -------------------------------------------------------------------------

static tfrt_status_t cuda_module_global(tfrt_device_module_t* module, const char* name,
                                        tfrt_device_address_t* out_address, size_t* out_size) {
  tfrt_device_t* device = module->device;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  const tfrt_cuda_module_t* loaded = cuda_module_of(module);
  bool is_library = loaded->library != NULL;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result =
      is_library ? api->LibraryGetGlobal(out_address, out_size, loaded->library, name)
                 : api->ModuleGetGlobal(out_address, out_size, loaded->handle, name);
  tfrt_status_t status =
      tfrt_cuda_leave(device, result, is_library ? "cuLibraryGetGlobal" : "cuModuleGetGlobal");
  return tfrt_status_take_annotate(status, "variable %s", name);
}

static void cuda_module_free(tfrt_cuda_module_t* module, tfrt_allocator_t allocator) {
  if (module->text) tfrt_allocator_free(allocator, module->text, strlen(module->text) + 1);
  tfrt_allocator_free(allocator, module, sizeof(*module));
}

static void cuda_module_destroy(tfrt_device_module_t* base) {
  tfrt_cuda_module_t* module = cuda_module_of(base);
  tfrt_device_t* device = base->device;
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
    status = module->library
                 ? tfrt_cuda_leave(device, api->LibraryUnload(module->library), "cuLibraryUnload")
                 : tfrt_cuda_leave(device, api->ModuleUnload(module->handle), "cuModuleUnload");
  }
  tfrt_status_release(status);
  cuda_module_free(module, device->platform->allocator);
}

static const tfrt_device_module_vtable_t module_vtable = {cuda_module_destroy, cuda_module_function,
                                                          cuda_module_global};

static bool cuda_has_libraries(const tfrt_cuda_api_t* api) {
  return api->LibraryLoadData && api->LibraryUnload && api->LibraryGetModule &&
         api->LibraryGetKernel && api->LibraryGetGlobal && api->KernelGetFunction;
}

// Lets the driver look at the library of |module|, which goes if there is something wrong with it:
// what the driver's compiler says of it lands in the log that it was loaded with.
static tfrt_cuda_result_t cuda_module_look(tfrt_cuda_module_t* module, const tfrt_cuda_api_t* api) {
  tfrt_cuda_module_handle_t looked_at;
  tfrt_cuda_result_t result = api->LibraryGetModule(&looked_at, module->library);
  if (result != TFRT_CUDA_SUCCESS) {
    // The first error counts.
    api->LibraryUnload(module->library);
    module->library = NULL;
  }
  return result;
}

// Loads |image| as a library, or as a module where there are none; sets |*out_call| to what the
// result is of.
static tfrt_cuda_result_t cuda_module_load_image(tfrt_cuda_module_t* module,
                                                 const tfrt_cuda_api_t* api, const char* image,
                                                 int* options, void** values, unsigned count,
                                                 const char** out_call) {
  if (cuda_has_libraries(api)) {
    *out_call = "cuLibraryLoadData";
    tfrt_cuda_result_t result =
        api->LibraryLoadData(&module->library, image, options, values, count, NULL, NULL, 0);
    if (result == TFRT_CUDA_SUCCESS) {
      *out_call = "cuLibraryGetModule";
      return cuda_module_look(module, api);
    }
    module->library = NULL;
    if (result != TFRT_CUDA_ERROR_NOT_SUPPORTED) return result;
  }
  *out_call = "cuModuleLoadDataEx";
  return api->ModuleLoadDataEx(&module->handle, image, count, options, values);
}

// Loads |image|; an error has what the driver's compiler says of it.
static tfrt_status_t cuda_module_load(tfrt_cuda_module_t* module, tfrt_device_t* device,
                                      const char* image) {
  char log[TFRT_CUDA_LOG_SIZE] = "";
  int options[] = {TFRT_CUDA_JIT_ERROR_LOG_BUFFER, TFRT_CUDA_JIT_ERROR_LOG_BUFFER_SIZE};
  // The driver takes a number here as if it were a pointer.
  void* values[] = {log, (void*)(uintptr_t)sizeof(log)};
  const char* call;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result =
      cuda_module_load_image(module, tfrt_cuda_api_of(device), image, options, values, 2, &call);
  tfrt_status_t status = tfrt_cuda_leave(device, result, call);
  log[sizeof(log) - 1] = '\0';
  log[strcspn(log, "\n")] = '\0';
  if (!status || !log[0]) return status;
  tfrt_status_t with_log =
      tfrt_status_create(tfrt_status_code(status), "%s: %s", tfrt_status_message(status), log);
  tfrt_status_release(status);
  return with_log;
}

tfrt_status_t tfrt_cuda_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                           tfrt_device_module_t** out_module) {
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_cuda_module_t* module = tfrt_allocator_allocate_zeroed(allocator, sizeof(*module));
  if (!module) return tfrt_status_out_of_memory();
  tfrt_status_t status = NULL;
  // Binary code has bytes of zero.
  if (!memchr(image, 0, size)) {
    module->text = tfrt_allocator_copy_string(allocator, image, size);
    if (!module->text) status = tfrt_status_out_of_memory();
  }
  if (!status) status = cuda_module_load(module, device, image);
  if (status) {
    cuda_module_free(module, allocator);
    return status;
  }
  tfrt_device_module_initialize(&module->base, &module_vtable, device);
  *out_module = &module->base;
  return NULL;
}
