// SPDX-License-Identifier: Apache-2.0
//
// Code on a device: a module is what one image (PTX, cubin, ...) was loaded to; functions
// are the kernels in it, by name, and globals its variables.
//
// A function knows how many parameters it has and how big they are, where the driver or the
// image tells, so that a launch with the wrong arguments is refused instead of reading
// beside them.
//
// Life:
//  1. Created at +1 by tfrt_device_load_module().
//  2. Functions and globals are looked up; each holds on to its module.
//  3. Released; the last reference unloads the code. Work in flight that runs it is the
//     caller's to wait for.
//
// Thread rule: thread-safe.
// Failure rule: NOT_FOUND for a name that the module lacks, with its name and the module's.
#ifndef TFRT_DEVICES_DEVICE_MODULE_H_
#define TFRT_DEVICES_DEVICE_MODULE_H_

#include "devices/device.h"

TFRT_API_BEGIN

// The most parameters of a kernel, and the most bytes that they have together.
#define TFRT_DEVICE_MAX_PARAMETERS 64
#define TFRT_DEVICE_MAX_PARAMETER_SIZE 4096

// As |parameter_count|: the count is unknown.
#define TFRT_DEVICE_PARAMETERS_UNKNOWN UINT32_MAX

typedef struct tfrt_device_function_s tfrt_device_function_t;
typedef struct tfrt_device_buffer_s tfrt_device_buffer_t;

typedef struct tfrt_device_module_vtable_s {
  void (*destroy)(tfrt_device_module_t* module);
  tfrt_status_t (*function)(tfrt_device_module_t* module, const char* name,
                            tfrt_device_function_t** out_function);
  tfrt_status_t (*global)(tfrt_device_module_t* module, const char* name,
                          tfrt_device_address_t* out_address, size_t* out_size);
} tfrt_device_module_vtable_t;

// Embedded first in every implementation.
struct tfrt_device_module_s {
  const tfrt_device_module_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;  // +1
};

struct tfrt_device_launch_s;

typedef struct tfrt_device_function_vtable_s {
  void (*destroy)(tfrt_device_function_t* function);
  // NULL, or: sets |out_bytes[i]|, which is 0, to how many bytes the kernel reads or writes from
  // the address that parameter i holds, in such a launch.
  void (*extents)(const tfrt_device_function_t* function, const struct tfrt_device_launch_s* launch,
                  void* const* parameters, uint64_t* out_bytes);
} tfrt_device_function_vtable_t;

// Embedded first in every implementation. Constant but for the count.
struct tfrt_device_function_s {
  const tfrt_device_function_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_module_t* module;  // +1
  char* name;                    // owned
  uint32_t max_threads_per_block;
  uint32_t parameter_count;  // or TFRT_DEVICE_PARAMETERS_UNKNOWN
  uint32_t parameter_sizes[TFRT_DEVICE_MAX_PARAMETERS];
};

// Fills the zeroed |module| in; |device| is retained. For backends. Thread-compatible.
void tfrt_device_module_initialize(tfrt_device_module_t* module,
                                   const tfrt_device_module_vtable_t* vtable,
                                   tfrt_device_t* device);

// The same for |function|, which retains |module| and copies |name|; its parameters are
// unknown, and its block as big as the device allows. RESOURCE_EXHAUSTED when memory is out.
// Thread-compatible.
tfrt_status_t tfrt_device_function_initialize(tfrt_device_function_t* function,
                                              const tfrt_device_function_vtable_t* vtable,
                                              tfrt_device_module_t* module, const char* name)
    TFRT_MUST_USE;

// Adds one reference and returns its argument. Thread-safe.
tfrt_device_module_t* tfrt_device_module_retain(tfrt_device_module_t* module);
tfrt_device_function_t* tfrt_device_function_retain(tfrt_device_function_t* function);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_module_release(tfrt_device_module_t* module);
void tfrt_device_function_release(tfrt_device_function_t* function);

// Sets |*out_function| (+1) to the kernel |name| of |module|. Thread-safe.
tfrt_status_t tfrt_device_module_function(tfrt_device_module_t* module, const char* name,
                                          tfrt_device_function_t** out_function) TFRT_MUST_USE;

// Sets |*out_buffer| (+1) to the memory of the global variable |name| of |module|, which it
// keeps loaded. Thread-safe.
tfrt_status_t tfrt_device_module_global(tfrt_device_module_t* module, const char* name,
                                        tfrt_device_buffer_t** out_buffer) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_MODULE_H_
