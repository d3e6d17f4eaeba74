// SPDX-License-Identifier: Apache-2.0
//
// Devices for a program with the runtime inside: the kernels of the dialect `tfrt_gpu`, and what
// they find on a host: one CPU device, as "CPU", NVIDIA's GPUs, as "CUDA", and the kinds of devices
// that libraries bring (device_library.h). Nothing of CUDA is needed to compile or to link; its
// driver is opened when a program first asks for it.
//
// Life:
//  1. tfrt_gpu_kernels_register(), before the first program is loaded.
//  2. Libraries with devices are loaded and registered, or set up, if there are any.
//  3. tfrt_gpu_devices_add(), once per host.
//  4. tfrt_gpu_devices_drain() behind the last wait, when nothing runs any more; then the host is
//     freed.
//
// Thread rule: thread-compatible.
// Failure rule: that a driver is missing is an error of the program that asks for it, in one line.
#ifndef TFRT_EMBEDDING_GPU_H_
#define TFRT_EMBEDDING_GPU_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/executor/kernel/kernel_registry.h"
#include "host_runtime/host_context.h"

TFRT_API_BEGIN

// Registers the kernels and types of the dialect `tfrt_gpu`. ALREADY_EXISTS for a registry that has
// them; RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_gpu_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

// Registers the kinds "cpu" and "cuda" (devices/device_kind.h). Called by tfrt_gpu_devices_add();
// before libraries are set up it makes sure that these names are taken. ALREADY_EXISTS if somebody
// else has one of the names. Thread-safe.
tfrt_status_t tfrt_gpu_kinds_register(void) TFRT_MUST_USE;

// Gives |host| its devices, once: of all kinds that are registered in this process.
// |cuda_library_for_testing| names another library with the entry points of CUDA's driver, and
// outlives the process's hosts; NULL or empty: the real one. All hosts of a process have the same
// one. RESOURCE_EXHAUSTED; ALREADY_EXISTS as above. Thread-compatible.
tfrt_status_t tfrt_gpu_devices_add(tfrt_host_context_t* host, const char* cuda_library_for_testing)
    TFRT_MUST_USE;

// Waits until nothing of |host|'s devices is in use, for at most five seconds; not to be called by
// a task of its work queue. Thread-safe.
void tfrt_gpu_devices_drain(tfrt_host_context_t* host);

TFRT_API_END

#endif  // TFRT_EMBEDDING_GPU_H_
