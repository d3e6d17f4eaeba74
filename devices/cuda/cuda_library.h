// SPDX-License-Identifier: Apache-2.0
//
// The driver's library, opened at run time. All entry points are asked of the library's own
// cuGetProcAddress, each in the version that our table names, so that a newer driver gives us
// the forms we know.
//
//   dlopen("libcuda.so.1") --> cuGetProcAddress --> table of entry points --> cuInit
//
// Life:
//  1. Opened. Once open it stays loaded until the process ends: a driver has threads.
//
// Thread rule: thread-safe.
// Failure rule: a library that is absent, no driver, or too old is one UNAVAILABLE error that
// says which, and what would help.
#ifndef TFRT_DEVICES_CUDA_CUDA_LIBRARY_H_
#define TFRT_DEVICES_CUDA_CUDA_LIBRARY_H_

#include <stdbool.h>

#include "devices/cuda/cuda_api.h"
#include "host_runtime/base/status.h"

// The library that comes with NVIDIA's driver for Linux.
#define TFRT_CUDA_LIBRARY_NAME "libcuda.so.1"

// Opens the library |path| (a name is searched where the system's libraries are), fills
// |*out_api| in and initialises the driver. Thread-safe.
tfrt_status_t tfrt_cuda_library_open(const char* path, tfrt_cuda_api_t* out_api) TFRT_MUST_USE;

// Returns an error (+1) that names |where| (a device), the entry point |call| and the driver's
// name and text for |result|, or OK for success. Thread-safe.
tfrt_status_t tfrt_cuda_status(const tfrt_cuda_api_t* api, const char* where,
                               tfrt_cuda_result_t result, const char* call) TFRT_MUST_USE;

// Whether a context that has once returned |result| returns it for ever. Thread-safe.
bool tfrt_cuda_result_is_sticky(tfrt_cuda_result_t result);

#endif  // TFRT_DEVICES_CUDA_CUDA_LIBRARY_H_
