// SPDX-License-Identifier: Apache-2.0
//
// One device, "null:0", that computes nothing. Its memory is the host's, copies and fills are done
// before the call that gives them returns, and a kernel leaves its arguments as they are. So a
// program on it shows what all but the kernels cost, and its files are the pattern for another kind
// of device:
//
//   null_library.c    the description of the library, the kind of devices
//   null_platform.c   the platform, the device, its memory
//   null_stream.c     streams, events
//   null_module.c     modules, functions, variables; of a PTX text the declarations
//
// Thread rule: all functions here are thread-safe.
// Failure rule: as <tfrt/devices/device.h> says. The device is never lost.
#ifndef NULL_DEVICE_H_
#define NULL_DEVICE_H_

#include <tfrt/device_library.h>

// null_platform.c. The first one is a tfrt_device_open_fn_t; |options| are NULL: there are none.
tfrt_status_t null_platform_open(const void* options, tfrt_allocator_t allocator,
                                 tfrt_work_queue_t* work_queue,
                                 tfrt_device_platform_t** out_platform) TFRT_MUST_USE;
tfrt_status_t null_device_allocate(tfrt_device_t* device, tfrt_device_space_t space, size_t size,
                                   tfrt_device_address_t* out_address);
tfrt_status_t null_device_deallocate(tfrt_device_t* device, tfrt_device_space_t space,
                                     tfrt_device_address_t address, size_t size);

// null_stream.c
tfrt_status_t null_device_create_stream(tfrt_device_t* device, tfrt_device_stream_t** out_stream);
tfrt_status_t null_device_create_event(tfrt_device_t* device, bool with_timing,
                                       tfrt_device_event_t** out_event);

// null_module.c
tfrt_status_t null_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                      tfrt_device_module_t** out_module);

#endif  // NULL_DEVICE_H_
