// SPDX-License-Identifier: Apache-2.0
//
// The kinds of devices that this process has, by name: "cuda" is the kind of "cuda:0". Mains
// register those that are built in, and the `set_up` of a shared library registers its own, so that
// a vendor's devices need no change in this tree (embedding/device_library.h).
//
//   registered: cpu, cuda, mine --each host's device manager, at first use--> open --> platform
//
// Life: a kind is registered once per process, before the hosts get their devices, and stays; it is
// opened once per host.
//
// Thread rule: everything is thread-safe.
// Failure rule: an error names the kind and what to do. A kind that can't be opened (no driver, no
// device) concerns only who asks for it.
#ifndef TFRT_DEVICES_DEVICE_KIND_H_
#define TFRT_DEVICES_DEVICE_KIND_H_

#include "devices/device_platform.h"

TFRT_API_BEGIN

// The most kinds of a process.
#define TFRT_DEVICE_KIND_MAX_COUNT 16

// The longest name of a kind.
#define TFRT_DEVICE_KIND_MAX_NAME_LENGTH 15

// Opens a platform: sets |*out_platform| (+1) to a new one. |options| are those of the kind;
// |work_queue| is the platform's to retain.
typedef tfrt_status_t (*tfrt_device_open_fn_t)(const void* options, tfrt_allocator_t allocator,
                                               tfrt_work_queue_t* work_queue,
                                               tfrt_device_platform_t** out_platform);

typedef struct tfrt_device_kind_s {
  const char* name;  // a small letter, then small letters, digits and '_'; also the platform's
  tfrt_device_open_fn_t open;
  const void* options;  // for |open|; outlives all hosts of the process
} tfrt_device_kind_t;

// Registers |kind|, which must be static. The same again is fine. INVALID_ARGUMENT if it has no
// such name or no open(), ALREADY_EXISTS if there is another kind of its name, RESOURCE_EXHAUSTED
// if there are too many. Thread-safe.
tfrt_status_t tfrt_device_kind_register(const tfrt_device_kind_t* kind) TFRT_MUST_USE;

// How many kinds are registered, and number |index| of them, in the order of their coming.
// Thread-safe.
size_t tfrt_device_kind_count(void);
const tfrt_device_kind_t* tfrt_device_kind_get(size_t index);

// Sets |*out_platform| (+1) to a new platform of |kind|. Errors: those of its open(), and INTERNAL
// if that gives no platform, one of another name, or one that lacks an entry of its vtable. May
// block (a driver starts). Thread-safe.
tfrt_status_t tfrt_device_kind_open(const tfrt_device_kind_t* kind, tfrt_allocator_t allocator,
                                    tfrt_work_queue_t* work_queue,
                                    tfrt_device_platform_t** out_platform) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_KIND_H_
