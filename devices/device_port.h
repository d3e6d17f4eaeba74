// SPDX-License-Identifier: Apache-2.0
//
// Where bytes enter and leave the memory of a device on their way to and from elsewhere: two
// streams of its own, one for each direction, and pinned *staging* memory for the pieces on
// their way.
//
//   buffer --stream `out`--> staging --> ... elsewhere ... --> staging --stream `in`--> buffer
//
// The host reads a piece when its copy is done, and the next one is being copied meanwhile. The
// host writes a piece and releases the staging memory at once: the port reuses that memory when the
// copy is done.
//
// Life:
//  1. Created at +1 for a device; its staging memory is kept from transfer to transfer.
//  2. Read from and written to, by any number of transfers.
//  3. Released. A transfer that ends early only releases its memory: the copies that it began are
//     still made, and nothing waits for them.
//
// Thread rule: thread-safe. Calls may take the time of the driver's.
// Failure rule: as devices/device.h.
#ifndef TFRT_DEVICES_DEVICE_PORT_H_
#define TFRT_DEVICES_DEVICE_PORT_H_

#include "devices/device_allocator.h"
#include "devices/device_stream.h"

// All of it belongs to devices/, but for |device|.
typedef struct tfrt_device_port_s {
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;             // +1
  tfrt_device_allocator_t* memory;   // +1, of the device
  tfrt_device_allocator_t* staging;  // +1, pinned
  tfrt_device_stream_t* out;         // +1
  tfrt_device_stream_t* in;          // +1
} tfrt_device_port_t;

// Sets |*out_port| (+1) to a new port of |device|. Thread-safe.
tfrt_status_t tfrt_device_port_create(tfrt_device_t* device, tfrt_device_port_t** out_port)
    TFRT_MUST_USE;

// Adds one reference to |port| and returns it. Thread-safe.
tfrt_device_port_t* tfrt_device_port_retain(tfrt_device_port_t* port);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_port_release(tfrt_device_port_t* port);

// Lets later reads come behind all work that was given with |buffer| so far. Thread-safe.
tfrt_status_t tfrt_device_port_follow(tfrt_device_port_t* port, tfrt_device_buffer_t* buffer)
    TFRT_MUST_USE;

// Begins to read |size| > 0 bytes from |offset| of |buffer|, of the port's device: sets
// |*out_staging| (+1) to memory of the host that has them when the chain |*out_ready| (+1) is
// available. Thread-safe.
tfrt_status_t tfrt_device_port_read(tfrt_device_port_t* port, tfrt_device_buffer_t* buffer,
                                    size_t offset, size_t size, tfrt_device_buffer_t** out_staging,
                                    tfrt_async_value_t** out_ready) TFRT_MUST_USE;

// Returns a chain (+1, never NULL) that is available when all reads so far are done, and what they
// follow. Thread-safe.
tfrt_async_value_t* tfrt_device_port_await_reads(tfrt_device_port_t* port) TFRT_MUST_USE;

// Sets |*out_buffer| (+1) to |size| bytes of the device, to be written to. Thread-safe.
tfrt_status_t tfrt_device_port_allocate(tfrt_device_port_t* port, size_t size,
                                        tfrt_device_buffer_t** out_buffer) TFRT_MUST_USE;

// Sets |*out_staging| (+1) to |size| > 0 bytes of the host, to be filled in. Thread-safe.
tfrt_status_t tfrt_device_port_stage(tfrt_device_port_t* port, size_t size,
                                     tfrt_device_buffer_t** out_staging) TFRT_MUST_USE;

// Begins to write the first |size| > 0 bytes of |staging| to |offset| of |buffer|. The caller may
// release |staging| at once, and must not write to it again. Thread-safe.
tfrt_status_t tfrt_device_port_write(tfrt_device_port_t* port, tfrt_device_buffer_t* buffer,
                                     size_t offset, tfrt_device_buffer_t* staging, size_t size)
    TFRT_MUST_USE;

// Returns a chain (+1, never NULL) that is available when all that was written so far is there.
// Thread-safe.
tfrt_async_value_t* tfrt_device_port_await_writes(tfrt_device_port_t* port) TFRT_MUST_USE;

#endif  // TFRT_DEVICES_DEVICE_PORT_H_
