// SPDX-License-Identifier: Apache-2.0
//
// Declarations that the files of this room share. Private to it.
//
// Thread rule: as devices/cpu/cpu_platform.h. Failure rule: as there.
#ifndef TFRT_DEVICES_CPU_CPU_IMPL_H_
#define TFRT_DEVICES_CPU_CPU_IMPL_H_

#include "devices/cpu/cpu_platform.h"

typedef struct tfrt_cpu_device_s {
  tfrt_device_t base;
  _Atomic uint64_t used_size;  // of |memory_size|
} tfrt_cpu_device_t;

typedef struct tfrt_cpu_platform_s {
  tfrt_device_platform_t base;
  tfrt_cpu_platform_options_t options;
  tfrt_cpu_device_t* devices;  // |device_count| of them
} tfrt_cpu_platform_t;

static inline tfrt_cpu_platform_t* tfrt_cpu_platform_of(const tfrt_device_t* device) {
  return TFRT_CONTAINER_OF(device->platform, tfrt_cpu_platform_t, base);
}

// A kernel of a module.
typedef struct tfrt_cpu_function_s {
  tfrt_device_function_t base;
  const tfrt_cpu_kernel_t* kernel;
} tfrt_cpu_function_t;

// Entries of the device's vtable, by file. Thread-safe.
tfrt_status_t tfrt_cpu_device_allocate(tfrt_device_t* device, tfrt_device_space_t space,
                                       size_t size, tfrt_device_address_t* out_address);
tfrt_status_t tfrt_cpu_device_deallocate(tfrt_device_t* device, tfrt_device_space_t space,
                                         tfrt_device_address_t address, size_t size);
tfrt_status_t tfrt_cpu_device_create_stream(tfrt_device_t* device,
                                            tfrt_device_stream_t** out_stream);
tfrt_status_t tfrt_cpu_device_create_event(tfrt_device_t* device, bool with_timing,
                                           tfrt_device_event_t** out_event);
tfrt_status_t tfrt_cpu_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                          tfrt_device_module_t** out_module);
tfrt_status_t tfrt_cpu_device_create_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas);
tfrt_status_t tfrt_cpu_device_create_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn);
tfrt_status_t tfrt_cpu_device_create_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id,
                                         int32_t rank, int32_t size, tfrt_device_ccl_t** out_ccl);

// The same of the platform's. Thread-safe.
tfrt_status_t tfrt_cpu_device_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site)
    TFRT_MUST_USE;
tfrt_status_t tfrt_cpu_platform_create_ccl_id(tfrt_device_platform_t* platform,
                                              tfrt_ccl_id_t* out_id);

// Lets |stream| call |run|, which must not block, with a copy of the |size| bytes at |argument|.
// Thread-safe.
tfrt_status_t tfrt_cpu_stream_call(tfrt_device_stream_t* stream, void (*run)(const void* argument),
                                   const void* argument, size_t size);

// Moves |event| to a new point and returns what to resolve when that is reached (+1); NULL
// when memory is out. Thread-safe.
tfrt_async_value_t* tfrt_cpu_event_begin(tfrt_device_event_t* event);

// Resolves the point |value| (consumed) of |event| (consumed; NULL: it asks for no time), as
// an error if |lost| (+0) is one. Thread-safe.
void tfrt_cpu_event_finish(tfrt_device_event_t* event, tfrt_async_value_t* value,
                           tfrt_status_t lost);

#endif  // TFRT_DEVICES_CPU_CPU_IMPL_H_
