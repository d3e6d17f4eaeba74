// SPDX-License-Identifier: Apache-2.0
//
// The devices of a host, where the kernels of this room find them: among what all requests of
// the host share.
//
// Life:
//  1. A main makes a device manager and gives it to its host context.
//  2. Kernels ask for it.
//  3. It goes with the host context.
//
// Thread rule: adding is thread-compatible, finding thread-safe.
// Failure rule: a host without a manager has no devices.
#ifndef TFRT_KERNELS_DEVICE_HOST_DEVICES_H_
#define TFRT_KERNELS_DEVICE_HOST_DEVICES_H_

#include "devices/device_manager.h"
#include "host_runtime/host_context.h"

// Gives |manager| (also when this fails) to |host|, once. Thread-compatible.
tfrt_status_t tfrt_host_devices_add_take(tfrt_host_context_t* host, tfrt_device_manager_t* manager)
    TFRT_MUST_USE;

// The manager (+0) of |host|, or NULL. Thread-safe.
tfrt_device_manager_t* tfrt_host_devices_find(tfrt_host_context_t* host);

// Sets |*out_device| (+1) to the device |name| of |host|, as "cuda:0"; NOT_FOUND, or what its
// driver says. May block. Thread-safe.
tfrt_status_t tfrt_host_devices_get(tfrt_host_context_t* host, tfrt_string_view_t name,
                                    tfrt_device_t** out_device) TFRT_MUST_USE;

// Returns a chain (+1, never NULL) that is available if |host| has the device |name|, or else an
// error. The driver is opened in the blocking queue. Thread-safe.
tfrt_async_value_t* tfrt_host_devices_check(tfrt_host_context_t* host, tfrt_string_view_t name);

// Waits until nothing of |host|'s devices is in use (tfrt_device_manager_drain()). Not to be
// called by a task of its work queue. Thread-safe.
void tfrt_host_devices_drain(tfrt_host_context_t* host);

#endif  // TFRT_KERNELS_DEVICE_HOST_DEVICES_H_
