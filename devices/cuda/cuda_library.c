// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_library.h"

#include <dlfcn.h>
#include <string.h>

// cuGetProcAddress has had two forms; the second one also says why a symbol is missing.
typedef tfrt_cuda_result_t (*tfrt_cuda_get_address_1_fn_t)(const char* name, void** address,
                                                           int version, uint64_t flags);
typedef tfrt_cuda_result_t (*tfrt_cuda_get_address_2_fn_t)(const char* name, void** address,
                                                           int version, uint64_t flags,
                                                           int* reason);

typedef struct tfrt_cuda_resolver_s {
  tfrt_cuda_get_address_1_fn_t first;   // NULL: the library has the second form
  tfrt_cuda_get_address_2_fn_t second;  // NULL: it hasn't
} tfrt_cuda_resolver_t;

static const char too_old[] =
    "its driver is too old: CUDA 11.3 (driver 465) or newer is needed for GPUs";

static tfrt_status_t cuda_library_find_resolver(const char* path, void* library,
                                                tfrt_cuda_resolver_t* out_resolver) {
  *out_resolver = (tfrt_cuda_resolver_t){0};
  // A function's address comes as a data pointer: POSIX says that this is fine.
  void* second = dlsym(library, "cuGetProcAddress_v2");
  void* first = dlsym(library, "cuGetProcAddress");
  memcpy(&out_resolver->second, &second, sizeof(second));
  memcpy(&out_resolver->first, &first, sizeof(first));
  if (first || second) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no CUDA: %s has no cuGetProcAddress; %s",
                            path, too_old);
}

// Sets |*out_address| to the entry point |name|, or to NULL if there is none.
static void cuda_resolver_find(const tfrt_cuda_resolver_t* resolver, const char* name, int version,
                               void** out_address) {
  *out_address = NULL;
  int reason = 0;
  tfrt_cuda_result_t result = resolver->second
                                  ? resolver->second(name, out_address, version, 0, &reason)
                                  : resolver->first(name, out_address, version, 0);
  if (result != TFRT_CUDA_SUCCESS || reason != 0) *out_address = NULL;
}

// The table's lines, as data.
typedef struct tfrt_cuda_entry_s {
  const char* name;
  int version;
  bool is_required;
  size_t offset;  // of the member
} tfrt_cuda_entry_t;

static const tfrt_cuda_entry_t entries[] = {
#define TFRT_CUDA_ENTRY(name, version, is_required, parameters) \
  {"cu" #name, version, is_required, offsetof(tfrt_cuda_api_t, name)},
    TFRT_CUDA_ENTRIES(TFRT_CUDA_ENTRY)
#undef TFRT_CUDA_ENTRY
};

static tfrt_status_t cuda_library_fill(const char* path, const tfrt_cuda_resolver_t* resolver,
                                       tfrt_cuda_api_t* out_api) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(entries); ++i) {
    void* address;
    cuda_resolver_find(resolver, entries[i].name, entries[i].version, &address);
    if (!address && entries[i].is_required) {
      return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no CUDA: %s has no %s of CUDA %d.%d; %s",
                                path, entries[i].name, entries[i].version / 1000,
                                entries[i].version % 1000 / 10, too_old);
    }
    memcpy((char*)out_api + entries[i].offset, &address, sizeof(address));
  }
  return NULL;
}

tfrt_status_t tfrt_cuda_library_open(const char* path, tfrt_cuda_api_t* out_api) {
  *out_api = (tfrt_cuda_api_t){0};
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char* why = dlerror();
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                              "no CUDA: the driver's library can't be opened (%s); GPUs need "
                              "NVIDIA's driver on this host",
                              why ? why : path);
  }
  tfrt_cuda_resolver_t resolver;
  TFRT_RETURN_IF_ERROR(cuda_library_find_resolver(path, library, &resolver));
  TFRT_RETURN_IF_ERROR(cuda_library_fill(path, &resolver, out_api));
  tfrt_cuda_result_t result = out_api->Init(0);
  if (result == TFRT_CUDA_SUCCESS) return NULL;
  tfrt_status_t cause = tfrt_cuda_status(out_api, path, result, "cuInit");
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no CUDA: %s", tfrt_status_message(cause));
  tfrt_status_release(cause);
  return status;
}

// --- Errors --------------------------------------------------------------------

static tfrt_status_code_t cuda_status_code(tfrt_cuda_result_t result) {
  static const struct {
    tfrt_cuda_result_t result;
    tfrt_status_code_t code;
  } codes[] = {
      {TFRT_CUDA_ERROR_INVALID_VALUE, TFRT_STATUS_INVALID_ARGUMENT},
      {TFRT_CUDA_ERROR_OUT_OF_MEMORY, TFRT_STATUS_RESOURCE_EXHAUSTED},
      {TFRT_CUDA_ERROR_NO_DEVICE, TFRT_STATUS_NOT_FOUND},
      {TFRT_CUDA_ERROR_INVALID_DEVICE, TFRT_STATUS_NOT_FOUND},
      {TFRT_CUDA_ERROR_INVALID_IMAGE, TFRT_STATUS_INVALID_ARGUMENT},
      {TFRT_CUDA_ERROR_NO_BINARY_FOR_GPU, TFRT_STATUS_INVALID_ARGUMENT},
      {TFRT_CUDA_ERROR_INVALID_PTX, TFRT_STATUS_INVALID_ARGUMENT},
      {TFRT_CUDA_ERROR_UNSUPPORTED_PTX_VERSION, TFRT_STATUS_INVALID_ARGUMENT},
      {TFRT_CUDA_ERROR_NOT_FOUND, TFRT_STATUS_NOT_FOUND},
      {TFRT_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, TFRT_STATUS_INVALID_ARGUMENT},
      {TFRT_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, TFRT_STATUS_INVALID_ARGUMENT},
      {TFRT_CUDA_ERROR_NOT_SUPPORTED, TFRT_STATUS_UNIMPLEMENTED},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(codes); ++i) {
    if (codes[i].result == result) return codes[i].code;
  }
  return TFRT_STATUS_INTERNAL;
}

tfrt_status_t tfrt_cuda_status(const tfrt_cuda_api_t* api, const char* where,
                               tfrt_cuda_result_t result, const char* call) {
  if (result == TFRT_CUDA_SUCCESS) return NULL;
  const char* name = NULL;
  const char* text = NULL;
  api->GetErrorName(result, &name);
  api->GetErrorString(result, &text);
  return tfrt_status_create(cuda_status_code(result), "%s: %s failed: %s (%d): %s", where, call,
                            name ? name : "unknown error", result, text ? text : "");
}

bool tfrt_cuda_result_is_sticky(tfrt_cuda_result_t result) {
  // Between these two: stack, instruction, alignment, address space, program counter, launch.
  if (result >= TFRT_CUDA_ERROR_HARDWARE_STACK_ERROR && result <= TFRT_CUDA_ERROR_LAUNCH_FAILED) {
    return true;
  }
  static const tfrt_cuda_result_t sticky[] = {
      TFRT_CUDA_ERROR_ECC_UNCORRECTABLE,
      TFRT_CUDA_ERROR_NVLINK_UNCORRECTABLE,
      TFRT_CUDA_ERROR_CONTAINED,
      TFRT_CUDA_ERROR_ILLEGAL_ADDRESS,
      TFRT_CUDA_ERROR_LAUNCH_TIMEOUT,
      TFRT_CUDA_ERROR_CONTEXT_IS_DESTROYED,
      TFRT_CUDA_ERROR_ASSERT,
      TFRT_CUDA_ERROR_TENSOR_MEMORY_LEAK,
      TFRT_CUDA_ERROR_EXTERNAL_DEVICE,
      TFRT_CUDA_ERROR_MPS_CLIENT_TERMINATED,
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(sticky); ++i) {
    if (sticky[i] == result) return true;
  }
  return false;
}
