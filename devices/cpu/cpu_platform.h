// SPDX-License-Identifier: Apache-2.0
//
// Devices in this host's own memory, for machines and tests without any other. They do the work of
// a real device, in the same order and with the same errors. There are device memory that only
// streams reach, streams that are queues on the work queue, events, modules, and lost devices.
//
//   stream   ops in order; one task of the work queue at a time runs them
//   kernel   a C function that does the work of the whole grid
//   module   a PTX text (devices/device_image.h); of it only the declarations are read, and
//            the kernel `add` is the C function of that name among the options' kernels
//
// A kernel that returns an error makes its device a lost one, as a fault in a GPU's kernel
// does.
//
// Life: that of a platform (devices/device_platform.h).
// Thread rule: thread-safe.
// Failure rule: as devices/device.h; errors are named CPU_ERROR_....
#ifndef TFRT_DEVICES_CPU_CPU_PLATFORM_H_
#define TFRT_DEVICES_CPU_CPU_PLATFORM_H_

#include "devices/device_stream.h"

// Does the work of all threads of |launch|. |parameters[i]| points to argument i, as the
// kernel's declaration says; a buffer is a pointer. Must not block.
typedef tfrt_status_t (*tfrt_cpu_kernel_fn_t)(const tfrt_device_launch_t* launch,
                                              void* const* parameters);

// How many bytes a kernel reads or writes from the address in each of its buffers, at most.
// Sets |out_bytes[i]|, which is 0, for each argument i that is a buffer; UINT64_MAX: more than
// there can be. |element_size| is that of the kernel's table entry.
typedef void (*tfrt_cpu_kernel_extents_fn_t)(const tfrt_device_launch_t* launch,
                                             void* const* parameters, uint64_t element_size,
                                             uint64_t* out_bytes);

// A kernel. Where |parameters| is not NULL it has a letter for each: b (the address of a buffer),
// u (a ui32), f (an f32), h (16 bits); a module that declares others is refused. Where |extents| is
// not NULL, a launch whose buffers are too small is refused.
typedef struct tfrt_cpu_kernel_s {
  const char* name;  // static
  tfrt_cpu_kernel_fn_t run;
  const char* parameters;
  tfrt_cpu_kernel_extents_fn_t extents;
  uint32_t element_size;  // in bytes
} tfrt_cpu_kernel_t;

typedef struct tfrt_cpu_platform_options_s {
  uint32_t device_count;
  uint64_t memory_size;  // of each device; pinned memory counts, too
  bool has_pools;        // else memory isn't in the order of streams
  // The kernels that modules may name; static.
  const tfrt_cpu_kernel_t* kernels;
  size_t kernel_count;
} tfrt_cpu_platform_options_t;

// Sets |*out_platform| (+1) to a new platform named "cpu". |work_queue| is retained.
// INVALID_ARGUMENT for no device. Thread-safe.
tfrt_status_t tfrt_cpu_platform_create(const tfrt_cpu_platform_options_t* options,
                                       tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue,
                                       tfrt_device_platform_t** out_platform) TFRT_MUST_USE;

#endif  // TFRT_DEVICES_CPU_CPU_PLATFORM_H_
