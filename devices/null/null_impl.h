// SPDX-License-Identifier: Apache-2.0
//
// Entries of the device's vtable, by file. Private to this room.
//
// Thread rule: thread-safe. Failure rule: as devices/device.h.
#ifndef TFRT_DEVICES_NULL_NULL_IMPL_H_
#define TFRT_DEVICES_NULL_NULL_IMPL_H_

#include "devices/device.h"

// null_platform.c. Thread-safe.
tfrt_status_t tfrt_null_device_allocate(tfrt_device_t* device, tfrt_device_space_t space,
                                        size_t size, tfrt_device_address_t* out_address);
tfrt_status_t tfrt_null_device_deallocate(tfrt_device_t* device, tfrt_device_space_t space,
                                          tfrt_device_address_t address, size_t size);

// null_stream.c. Thread-safe.
tfrt_status_t tfrt_null_device_create_stream(tfrt_device_t* device,
                                             tfrt_device_stream_t** out_stream);
tfrt_status_t tfrt_null_device_create_event(tfrt_device_t* device, bool with_timing,
                                            tfrt_device_event_t** out_event);

// null_module.c. Thread-safe.
tfrt_status_t tfrt_null_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                           tfrt_device_module_t** out_module);

#endif  // TFRT_DEVICES_NULL_NULL_IMPL_H_
