// SPDX-License-Identifier: Apache-2.0
//
// A kind of devices, as one driver gives access to them: "cpu" (devices/cpu), "cuda"
// (devices/cuda). It owns its devices, and everything that is made on a device keeps the
// platform alive.
//
//   platform --owns--> device 0, device 1, ...
//                        ^ streams, events, modules, buffers, allocators hold on to it
//
// Life:
//  1. Created at +1 by a backend, which finds its devices then.
//  2. tfrt_device_platform_device() hands out devices.
//  3. Released. With the last reference, those of its devices and their objects
//     included, nothing is in flight any more and all devices are given back. The last one
//     must not be dropped by a task of the work queue that it was given.
//
// Thread rule: thread-safe.
// Failure rule: a backend that can't work here (no driver, no device) fails to be created,
// with one line that says why; nothing else is affected.
#ifndef TFRT_DEVICES_DEVICE_PLATFORM_H_
#define TFRT_DEVICES_DEVICE_PLATFORM_H_

#include <stdint.h>

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/status.h"

TFRT_API_BEGIN

typedef struct tfrt_device_platform_s tfrt_device_platform_t;
typedef struct tfrt_device_s tfrt_device_t;
typedef struct tfrt_ccl_id_s tfrt_ccl_id_t;
typedef struct tfrt_ccl_site_s tfrt_ccl_site_t;

typedef struct tfrt_device_platform_vtable_s {
  // Gives back |platform| and its devices. Nobody uses any of them.
  void (*destroy)(tfrt_device_platform_t* platform);
  // The device |ordinal| (+0), which is less than |device_count|; made on the first call.
  tfrt_status_t (*device)(tfrt_device_platform_t* platform, uint32_t ordinal,
                          tfrt_device_t** out_device);
  // As tfrt_device_platform_create_ccl_id() (device_ccl.h).
  tfrt_status_t (*create_ccl_id)(tfrt_device_platform_t* platform, tfrt_ccl_id_t* out_id);
} tfrt_device_platform_vtable_t;

// Embedded first in every implementation. Constant after creation, but for the count.
struct tfrt_device_platform_s {
  const tfrt_device_platform_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  const char* name;  // static, in small letters
  uint32_t device_count;
  tfrt_allocator_t allocator;     // for the host's side of what is made
  tfrt_work_queue_t* work_queue;  // +1; where values become available
};

// Fills the zeroed |platform| in; |work_queue| is retained. For backends. Thread-compatible.
void tfrt_device_platform_initialize(tfrt_device_platform_t* platform,
                                     const tfrt_device_platform_vtable_t* vtable, const char* name,
                                     uint32_t device_count, tfrt_allocator_t allocator,
                                     tfrt_work_queue_t* work_queue);

// Releases the resources of initialize; the last step of a backend's destroy. Thread-compatible.
void tfrt_device_platform_deinitialize(tfrt_device_platform_t* platform);

// Adds one reference to |platform| and returns it. Thread-safe.
tfrt_device_platform_t* tfrt_device_platform_retain(tfrt_device_platform_t* platform);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_platform_release(tfrt_device_platform_t* platform);

// Sets |*out_device| (+1) to the device |ordinal|: the same one each time. NOT_FOUND if
// there is no such device, or what its driver says. May block. Thread-safe.
tfrt_status_t tfrt_device_platform_device(tfrt_device_platform_t* platform, int64_t ordinal,
                                          tfrt_device_t** out_device) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_PLATFORM_H_
