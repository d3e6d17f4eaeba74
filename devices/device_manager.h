// SPDX-License-Identifier: Apache-2.0
//
// The platforms that a host may use, by the names of their kinds (device_kind.h). A driver is
// opened when somebody first asks for it, so that a process that uses no GPU never touches one.
//
//   "cuda" --first use--> open --> platform        | the same error to all, if it can't be
//
// Life:
//  1. Allocated; kinds are added by the main.
//  2. Asked for platforms.
//  3. Freed, when nothing is run any more. Work that is still in flight gets a few seconds to end.
//
// Thread rule: adding is thread-compatible, asking thread-safe.
// Failure rule: NOT_FOUND for a name that was never added, with the names that were; the error of
// opening, each time.
#ifndef TFRT_DEVICES_DEVICE_MANAGER_H_
#define TFRT_DEVICES_DEVICE_MANAGER_H_

#include "devices/device_kind.h"
#include "devices/device_lending.h"
#include "devices/device_port.h"
#include "host_runtime/base/string_view.h"

typedef struct tfrt_device_manager_s tfrt_device_manager_t;

// Sets |*out_manager| to a new manager without platforms, which opens them with |allocator|
// and |work_queue| (retained). Thread-safe.
tfrt_status_t tfrt_device_manager_allocate(tfrt_allocator_t allocator,
                                           tfrt_work_queue_t* work_queue,
                                           tfrt_device_manager_t** out_manager) TFRT_MUST_USE;

// Gives |manager| back; NULL is allowed. Waits up to five seconds for what is in flight.
// Thread-compatible.
void tfrt_device_manager_free(tfrt_device_manager_t* manager);

// Gives up the ports, ends lending, and waits until nothing but |manager| holds on to an open
// platform: all that was made on its devices is gone, and their work is done. Gives up after five
// seconds, and logs that. Not to be called by a task of the work queue. Thread-safe.
void tfrt_device_manager_drain(tfrt_device_manager_t* manager);

// Adds the platform of |kind|, which outlives |manager|. ALREADY_EXISTS for a name twice,
// RESOURCE_EXHAUSTED for more than TFRT_DEVICE_KIND_MAX_COUNT. Thread-compatible.
tfrt_status_t tfrt_device_manager_add(tfrt_device_manager_t* manager,
                                      const tfrt_device_kind_t* kind) TFRT_MUST_USE;

// Adds all kinds that are registered in this process (device_kind.h). Thread-compatible.
tfrt_status_t tfrt_device_manager_add_all(tfrt_device_manager_t* manager) TFRT_MUST_USE;

// Sets |*out_device| (+1) to the device |name|: a platform, a colon and an ordinal, as "cuda:0".
// INVALID_ARGUMENT for another text; errors as those of tfrt_device_manager_platform() and
// tfrt_device_platform_device(). May block (a driver starts). Thread-safe.
tfrt_status_t tfrt_device_manager_device(tfrt_device_manager_t* manager, tfrt_string_view_t name,
                                         tfrt_device_t** out_device) TFRT_MUST_USE;

// Sets |*out_port| (+1) to the port of |device|, the same one until the manager is drained.
// Thread-safe.
tfrt_status_t tfrt_device_manager_port(tfrt_device_manager_t* manager, tfrt_device_t* device,
                                       tfrt_device_port_t** out_port) TFRT_MUST_USE;

// Sets |*out_lending| (+1) to what lends this process's memory of devices and borrows that of
// others, the same one until the manager is drained. Thread-safe.
tfrt_status_t tfrt_device_manager_lending(tfrt_device_manager_t* manager,
                                          tfrt_device_lending_t** out_lending) TFRT_MUST_USE;

// Sets |*out_platform| (+0, lives as long as |manager|) to the platform |name|, in letters of
// any case. May block (a driver starts). Thread-safe.
tfrt_status_t tfrt_device_manager_platform(tfrt_device_manager_t* manager, tfrt_string_view_t name,
                                           tfrt_device_platform_t** out_platform) TFRT_MUST_USE;

#endif  // TFRT_DEVICES_DEVICE_MANAGER_H_
