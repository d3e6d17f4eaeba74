// SPDX-License-Identifier: Apache-2.0
//
// One device, "null:0", that computes nothing. Its memory is the host's, copies and fills are done
// before the call that gives them returns, and a kernel leaves its arguments as they are. So a
// program on it shows what all but the kernels cost, and its files are the pattern for another kind
// of device:
//
//   null_platform.c   the platform, the device, its memory
//   null_stream.c     streams, events
//   null_module.c     modules, functions, variables; of a PTX text the declarations
//
// Life: that of a platform (devices/device_platform.h).
// Thread rule: thread-safe.
// Failure rule: as devices/device.h. The device is never lost.
#ifndef TFRT_DEVICES_NULL_NULL_PLATFORM_H_
#define TFRT_DEVICES_NULL_NULL_PLATFORM_H_

#include "devices/device_platform.h"

// Sets |*out_platform| (+1) to a new platform named "null". |options| are NULL: there are none;
// this is a tfrt_device_open_fn_t. |work_queue| is retained. Thread-safe.
tfrt_status_t tfrt_null_platform_open(const void* options, tfrt_allocator_t allocator,
                                      tfrt_work_queue_t* work_queue,
                                      tfrt_device_platform_t** out_platform) TFRT_MUST_USE;

#endif  // TFRT_DEVICES_NULL_NULL_PLATFORM_H_
