// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the dialect `tfrt_gpu`, over the interface of devices/: which devices there
// are is the host's business (kernels/device/host_devices.h).
//
// A chain here says that work was put into its stream. Order between operations of one stream
// is the stream's, and of two streams that of events; nothing waits on the host but
// `synchronize`, and copies to memory that isn't pinned.
//
// Thread rule: registering is thread-compatible. Failure rule: as tfrt_kernel_registry_add_all().
#ifndef TFRT_KERNELS_DEVICE_DEVICE_KERNELS_H_
#define TFRT_KERNELS_DEVICE_DEVICE_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers the types and kernels of this room. Thread-compatible.
tfrt_status_t tfrt_device_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_DEVICE_DEVICE_KERNELS_H_
