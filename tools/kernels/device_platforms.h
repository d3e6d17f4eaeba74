// SPDX-License-Identifier: Apache-2.0
//
// The devices that the mains offer to programs: one CPU device, and NVIDIA's GPUs where there are
// any. None is opened before a program asks for it.
//
// Thread rule: thread-compatible. Failure rule: only RESOURCE_EXHAUSTED; a missing driver is an
// error for the program that asks for it.
#ifndef TFRT_TOOLS_KERNELS_DEVICE_PLATFORMS_H_
#define TFRT_TOOLS_KERNELS_DEVICE_PLATFORMS_H_

#include "host_runtime/host_context.h"

// The flag with which tests name another library with the entry points of CUDA's driver.
#define TFRT_DEVICE_PLATFORMS_FLAG "cuda_library_for_testing"
#define TFRT_DEVICE_PLATFORMS_VALUE "FILE"
#define TFRT_DEVICE_PLATFORMS_HELP "for tests: take this for the library of CUDA's driver"

// Gives |host| its devices. |cuda_library_for_testing| is NULL or empty for the real driver;
// outlives |host|. Once per process. Thread-compatible.
tfrt_status_t tfrt_device_platforms_add(tfrt_host_context_t* host,
                                        const char* cuda_library_for_testing) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_KERNELS_DEVICE_PLATFORMS_H_
