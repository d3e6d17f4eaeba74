// SPDX-License-Identifier: Apache-2.0
//
// A queue of work on a device: copies, fills, kernels, points to record and to wait for. Work
// of one stream is done in the order in which it was given; that of two streams in any order,
// but for events.
//
// This is where work is checked: each buffer must be of the stream's device (or the host's, or,
// for copies, of a peer), alive and big enough, and a launch must fit the function and the
// device. Only then the backend sees it, as addresses.
//
// Life:
//  1. Created at +1 by tfrt_device_create_stream().
//  2. Given work, from any thread; each call returns when the work is in the queue.
//  3. Released at any time: what it was given is still done.
//
// Thread rule: thread-safe; the work of two threads has no order.
// Failure rule: as devices/device.h. An error means that the work was not taken.
#ifndef TFRT_DEVICES_DEVICE_STREAM_H_
#define TFRT_DEVICES_DEVICE_STREAM_H_

#include "devices/device_buffer.h"
#include "devices/device_event.h"
#include "devices/device_module.h"

TFRT_API_BEGIN

// The most blocks of a cluster that any device with clusters runs.
#define TFRT_DEVICE_MAX_CLUSTER_SIZE 8

// How a kernel is launched: |grid| blocks of |block| threads each, with |shared_size| bytes
// of memory that a block's threads share. Blocks of a |cluster| are close to each other and reach
// each other's shared memory; a grid is a whole number of clusters, of at most
// TFRT_DEVICE_MAX_CLUSTER_SIZE blocks.
typedef struct tfrt_device_launch_s {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_size;
  bool is_cooperative;  // all blocks run at once and may wait for each other
  uint32_t cluster[3];  // all 0: no clusters
  int32_t priority;     // its blocks go before those that wait with a greater one; 0 is the last
} tfrt_device_launch_t;

// One argument of a kernel: the address of |buffer|, or, when that is NULL, the |size| bytes
// at |bytes|.
typedef struct tfrt_device_argument_s {
  tfrt_device_buffer_t* buffer;
  const void* bytes;
  size_t size;
} tfrt_device_argument_t;

// A copy as backends see it. A device that is NULL stands for the host.
typedef struct tfrt_device_copy_s {
  tfrt_device_address_t target;
  tfrt_device_address_t source;
  size_t size;  // > 0
  tfrt_device_t* target_device;
  tfrt_device_t* source_device;
} tfrt_device_copy_t;

// A fill as backends see it: |count| elements of |width| (1, 2 or 4) bytes become |pattern|.
typedef struct tfrt_device_fill_s {
  tfrt_device_address_t target;
  uint32_t pattern;
  uint32_t width;
  size_t count;  // > 0
} tfrt_device_fill_t;

typedef struct tfrt_device_stream_vtable_s {
  // No work is given any more; what is in the queue is still done.
  void (*destroy)(tfrt_device_stream_t* stream);
  tfrt_status_t (*copy)(tfrt_device_stream_t* stream, const tfrt_device_copy_t* copy);
  tfrt_status_t (*fill)(tfrt_device_stream_t* stream, const tfrt_device_fill_t* fill);
  // |parameters[i]| points to the bytes of parameter i, |sizes[i]| of them; they may go after
  // the call.
  tfrt_status_t (*launch)(tfrt_device_stream_t* stream, tfrt_device_function_t* function,
                          const tfrt_device_launch_t* launch, void* const* parameters,
                          const size_t* sizes, uint32_t parameter_count);
  tfrt_status_t (*record)(tfrt_device_stream_t* stream, tfrt_device_event_t* event);
  tfrt_status_t (*wait)(tfrt_device_stream_t* stream, tfrt_device_event_t* event);
  // |size| > 0 bytes of the device that may be used by work that follows in the stream, and
  // back again. Only called on devices that have pools.
  tfrt_status_t (*allocate)(tfrt_device_stream_t* stream, size_t size,
                            tfrt_device_address_t* out_address);
  tfrt_status_t (*deallocate)(tfrt_device_stream_t* stream, tfrt_device_address_t address,
                              size_t size);
  // The stream is new: from now on it only writes down what it is given; UNIMPLEMENTED if it
  // can't. Then makes a graph (+1) of that (device_graph.h).
  tfrt_status_t (*begin_capture)(tfrt_device_stream_t* stream);
  tfrt_status_t (*end_capture)(tfrt_device_stream_t* stream, tfrt_device_graph_t** out_graph);
} tfrt_device_stream_vtable_t;

// The state of a capture in its stream.
typedef struct tfrt_device_capture_s tfrt_device_capture_t;

// Embedded first in every implementation. Constant but for the count.
struct tfrt_device_stream_s {
  const tfrt_device_stream_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;           // +1
  tfrt_device_capture_t* capture;  // owned; NULL: it does what it is given
};

// Fills the zeroed |stream| in; |device| is retained. For backends. Thread-compatible.
void tfrt_device_stream_initialize(tfrt_device_stream_t* stream,
                                   const tfrt_device_stream_vtable_t* vtable,
                                   tfrt_device_t* device);

// Adds one reference to |stream| and returns it. Thread-safe.
tfrt_device_stream_t* tfrt_device_stream_retain(tfrt_device_stream_t* stream);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_stream_release(tfrt_device_stream_t* stream);

// Copies |size| bytes from |source_offset| of |source| to |target_offset| of |target|. One of
// them, or both, are of the stream's device or the host's memory; the other may be a peer's.
// The two ranges must not overlap. 0 bytes are no work. Thread-safe.
tfrt_status_t tfrt_device_stream_copy(tfrt_device_stream_t* stream, tfrt_device_buffer_t* target,
                                      size_t target_offset, tfrt_device_buffer_t* source,
                                      size_t source_offset, size_t size) TFRT_MUST_USE;

// Sets all of |target|, of the stream's device, to |pattern|, an element of |width| bytes: 1,
// 2 or 4. INVALID_ARGUMENT if the buffer is no multiple of that. Thread-safe.
tfrt_status_t tfrt_device_stream_fill(tfrt_device_stream_t* stream, tfrt_device_buffer_t* target,
                                      uint32_t pattern, uint32_t width) TFRT_MUST_USE;

// Runs |function| with |count| arguments; scalars are copied before this returns. A grid of no
// blocks is no work. A priority that the device doesn't have is the nearest that it has.
// Thread-safe.
tfrt_status_t tfrt_device_stream_launch(tfrt_device_stream_t* stream,
                                        tfrt_device_function_t* function,
                                        const tfrt_device_launch_t* launch,
                                        const tfrt_device_argument_t* arguments, uint32_t count)
    TFRT_MUST_USE;

// Moves |event|, of the stream's device, to the present end of the stream. Thread-safe.
tfrt_status_t tfrt_device_stream_record(tfrt_device_stream_t* stream, tfrt_device_event_t* event)
    TFRT_MUST_USE;

// Lets the work that is given from now on start when |event|, of a device of the same
// platform, is done. Thread-safe.
tfrt_status_t tfrt_device_stream_wait(tfrt_device_stream_t* stream, tfrt_device_event_t* event)
    TFRT_MUST_USE;

// Lets the work that |stream| is given from now on start when all that |other| has now is
// done. Thread-safe.
tfrt_status_t tfrt_device_stream_join(tfrt_device_stream_t* stream, tfrt_device_stream_t* other)
    TFRT_MUST_USE;

// Returns a chain (+1, never NULL) that becomes available when all that |stream| has now is
// done, or the error that the device is lost with. Thread-safe.
tfrt_async_value_t* tfrt_device_stream_await(tfrt_device_stream_t* stream) TFRT_MUST_USE;

// The same as tfrt_device_event_await_soon() does it. Thread-safe.
tfrt_async_value_t* tfrt_device_stream_await_soon(tfrt_device_stream_t* stream) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_STREAM_H_
