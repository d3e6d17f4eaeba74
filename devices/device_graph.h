// SPDX-License-Identifier: Apache-2.0
//
// Work that is given often, as one thing: copies, fills and kernels with their arguments are
// captured once, and then put in a stream by one call.
//
//   capture begins --> a stream that only writes down --> capture ends --> graph
//                                                                           | launch
//   stream   ... work ... [all of the graph, in its order] ... work ...  <--+
//
// A graph keeps its buffers and functions. The numbers among the arguments are those of the
// capture; with others, or with other buffers, it is captured again.
//
// Life:
//  1. tfrt_device_capture_begin() gives a stream, for copies, fills and launches only: events,
//     waits and memory are refused, and nothing is done.
//  2. tfrt_device_capture_end() makes the graph (+1) of it. The stream is of no use any more.
//  3. Launched in streams of the device, any number of times.
//  4. Released at any time: what is in a stream is still done.
//
// Thread rule: thread-safe, but that the end of a capture is ordered with its work by the caller.
// Failure rule: as devices/device.h. UNIMPLEMENTED where the device, or its driver, has no graphs.
#ifndef TFRT_DEVICES_DEVICE_GRAPH_H_
#define TFRT_DEVICES_DEVICE_GRAPH_H_

#include "devices/device_stream.h"

TFRT_API_BEGIN

typedef struct tfrt_device_graph_vtable_s {
  // Called with nothing but the base's device left.
  void (*destroy)(tfrt_device_graph_t* graph);
  tfrt_status_t (*launch)(tfrt_device_graph_t* graph, tfrt_device_stream_t* stream);
} tfrt_device_graph_vtable_t;

// The buffers and functions that a capture keeps, as a chain.
typedef struct tfrt_device_kept_s tfrt_device_kept_t;

// Embedded first in every implementation. Constant but for the count.
struct tfrt_device_graph_s {
  const tfrt_device_graph_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;     // +1
  tfrt_device_kept_t* kept;  // owned
};

// Sets |*out_stream| (+1) to a new stream that captures. Thread-safe.
tfrt_status_t tfrt_device_capture_begin(tfrt_device_t* device, tfrt_device_stream_t** out_stream)
    TFRT_MUST_USE;

// Sets |*out_graph| (+1) to what |stream| has captured, which ends its capture also when this
// fails. FAILED_PRECONDITION if it doesn't capture, or nothing was captured. May block (code is
// prepared). Thread-safe.
tfrt_status_t tfrt_device_capture_end(tfrt_device_stream_t* stream, tfrt_device_graph_t** out_graph)
    TFRT_MUST_USE;

// Puts all work of |graph| in |stream|, of the same device. FAILED_PRECONDITION if one of its
// buffers was freed. Thread-safe.
tfrt_status_t tfrt_device_graph_launch(tfrt_device_graph_t* graph, tfrt_device_stream_t* stream)
    TFRT_MUST_USE;

// Adds one reference to |graph| and returns it. Thread-safe.
tfrt_device_graph_t* tfrt_device_graph_retain(tfrt_device_graph_t* graph);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_graph_release(tfrt_device_graph_t* graph);

// --- For devices/ ----------------------------------------------------------------------

// Fills the zeroed |graph| in; |device| is retained. For backends. Thread-compatible.
void tfrt_device_graph_initialize(tfrt_device_graph_t* graph,
                                  const tfrt_device_graph_vtable_t* vtable, tfrt_device_t* device);

// Lets |capture| keep |buffer|, and |function| unless NULL; fails once it has ended. Thread-safe.
tfrt_status_t tfrt_device_capture_keep(tfrt_device_capture_t* capture, tfrt_device_buffer_t* buffer,
                                       tfrt_device_function_t* function) TFRT_MUST_USE;

// OK unless |stream|, which may be NULL, captures: |what| can't be captured. Thread-safe.
tfrt_status_t tfrt_device_capture_refuse(const tfrt_device_stream_t* stream, const char* what)
    TFRT_MUST_USE;

// Gives back |capture|, which may be NULL, with its stream. For tfrt_device_stream_release().
// Thread-compatible.
void tfrt_device_capture_free(tfrt_device_t* device, tfrt_device_capture_t* capture);

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_GRAPH_H_
