// SPDX-License-Identifier: Apache-2.0
//
// The devices that the mains offer to programs: one CPU device, NVIDIA's GPUs where there are any,
// and those of the libraries that `--device_libs=A,B` names. None is opened before a program asks
// for it.
//
// Life: 1. libraries are loaded; 2. each host gets its devices.
//
// Thread rule: thread-compatible. Failure rule: an error names the library, what is wrong, and what
// to do; a missing driver is an error for the program that asks for it.
#ifndef TFRT_TOOLS_KERNELS_DEVICE_PLATFORMS_H_
#define TFRT_TOOLS_KERNELS_DEVICE_PLATFORMS_H_

#include "host_runtime/host_context.h"

// The flag with which tests name another library with the entry points of CUDA's driver.
#define TFRT_DEVICE_PLATFORMS_FLAG "cuda_library_for_testing"
#define TFRT_DEVICE_PLATFORMS_VALUE "FILE"
#define TFRT_DEVICE_PLATFORMS_HELP "for tests: take this for the library of CUDA's driver"

// The flag that names libraries with devices, and what the help says of it.
#define TFRT_DEVICE_LIBRARIES_FLAG "device_libs"
#define TFRT_DEVICE_LIBRARIES_VALUE "A.so,B.so"
#define TFRT_DEVICE_LIBRARIES_HELP "libraries to load that bring devices"

// Loads the libraries that |list| names, paths separated by commas; NULL: none. Before those of
// --shared_libs, and once per process. The errors of loading a library; INVALID_ARGUMENT if it
// brings no devices, ALREADY_EXISTS if there are devices of its kind. Main thread only.
tfrt_status_t tfrt_device_platforms_load(const char* list) TFRT_MUST_USE;

// Gives |host| its devices. |cuda_library_for_testing| is NULL or empty for the real driver;
// outlives |host|. Once per process. Thread-compatible.
tfrt_status_t tfrt_device_platforms_add(tfrt_host_context_t* host,
                                        const char* cuda_library_for_testing) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_KERNELS_DEVICE_PLATFORMS_H_
