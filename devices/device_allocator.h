// SPDX-License-Identifier: Apache-2.0
//
// The source of buffers. An allocation belongs to the order of a stream, its *home*: later work of
// that stream may use the memory. Memory that is freed behind a stream's work is reused by later
// work of that stream, with no host waiting.
//
//   pool     the driver's own pools, where it has them (device memory only)
//   caching  keeps what is freed and gives it out again, best fit: for drivers without pools,
//            and for the pinned memory of the host, which is slow to make
//
// The caching allocator gives out a free block to a stream:
//
//   free block --same home--> given out at once: the stream's order protects it
//             \--other home-> given out when its event is done
//
// Blocks are rounded up (512 bytes, then to a 16th of their size or better) and never split; one is
// given out for as little as half of its size. When the driver has no memory left, all free blocks
// that are done go back to it, and it is asked again.
//
// Life:
//  1. Created at +1, for one device and one space.
//  2. Buffers are allocated; each holds on to the allocator.
//  3. Released; the last reference gives all memory back when the work that uses it is done.
//
// Thread rule: thread-safe.
// Failure rule: RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_DEVICES_DEVICE_ALLOCATOR_H_
#define TFRT_DEVICES_DEVICE_ALLOCATOR_H_

#include "devices/device_buffer.h"

TFRT_API_BEGIN

typedef struct tfrt_device_allocator_s tfrt_device_allocator_t;

typedef struct tfrt_device_allocator_vtable_s {
  // No buffer of |allocator| is left.
  void (*destroy)(tfrt_device_allocator_t* allocator);
  // |size| > 0 bytes in the order of |home|, which is NULL only for the host's space. Sets
  // |*out_block| to what |deallocate| needs to find them.
  tfrt_status_t (*allocate)(tfrt_device_allocator_t* allocator, tfrt_device_stream_t* home,
                            size_t size, tfrt_device_address_t* out_address, void** out_block);
  // Takes back |buffer|'s memory, as tfrt_device_buffer_source_t does.
  void (*deallocate)(tfrt_device_allocator_t* allocator, tfrt_device_buffer_t* buffer,
                     tfrt_device_stream_t* stream);
  // Forgets |buffer|'s memory, which stays as it is.
  void (*forget)(tfrt_device_allocator_t* allocator, tfrt_device_buffer_t* buffer);
} tfrt_device_allocator_vtable_t;

// Embedded first in every implementation. Constant but for the count.
struct tfrt_device_allocator_s {
  const tfrt_device_allocator_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;  // +1
  tfrt_device_space_t space;
};

// Sets |*out_allocator| (+1) to an allocator of the device's own memory: of its pools, if it
// has them, else a caching one. Thread-safe.
tfrt_status_t tfrt_device_allocator_create(tfrt_device_t* device,
                                           tfrt_device_allocator_t** out_allocator) TFRT_MUST_USE;

// Sets |*out_allocator| (+1) to a caching allocator of |space|. Thread-safe.
tfrt_status_t tfrt_device_allocator_create_caching(tfrt_device_t* device, tfrt_device_space_t space,
                                                   tfrt_device_allocator_t** out_allocator)
    TFRT_MUST_USE;

// Adds one reference to |allocator| and returns it. Thread-safe.
tfrt_device_allocator_t* tfrt_device_allocator_retain(tfrt_device_allocator_t* allocator);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_allocator_release(tfrt_device_allocator_t* allocator);

// Sets |*out_buffer| (+1) to |size| bytes whose content is undefined, in the order of
// |stream|; NULL is allowed for the host's memory, which may be used at once then.
// INVALID_ARGUMENT for a stream of another device. May block (in the driver). Thread-safe.
tfrt_status_t tfrt_device_allocator_allocate(tfrt_device_allocator_t* allocator,
                                             tfrt_device_stream_t* stream, size_t size,
                                             tfrt_device_buffer_t** out_buffer) TFRT_MUST_USE;

// Fills the zeroed |allocator| in; |device| is retained. For implementations.
// Thread-compatible.
void tfrt_device_allocator_initialize(tfrt_device_allocator_t* allocator,
                                      const tfrt_device_allocator_vtable_t* vtable,
                                      tfrt_device_t* device, tfrt_device_space_t space);

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_ALLOCATOR_H_
