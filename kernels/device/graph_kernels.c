// SPDX-License-Identifier: Apache-2.0
//
// Functions that are called often, as graphs: after a few plain calls the device work of one is
// captured, and from then on launched.
//
//   call --same arguments--> launch of the graph
//     \----other, or none--> capture: the function runs once with a stream that only writes down
//                              \--that failed, once and for all--> plain calls
//
// A call that comes while another one captures is a plain one.
#include <string.h>

#include "devices/device_graph.h"
#include "host_runtime/base/log.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/request_context.h"
#include "kernels/device/device_types.h"
#include "kernels/device/kernel_groups.h"

// The first arguments of a function that can be a graph: a chain and a stream.
#define TFRT_GPU_GRAPH_STREAM 1
#define TFRT_GPU_GRAPH_FIRST_ARGUMENT 2

struct tfrt_gpu_graph_s {
  int32_t plain_calls;
  tfrt_mutex_t mutex;               // guards all below
  const tfrt_function_t* function;  // the one that is called; only compared
  int32_t call_count;               // up to |plain_calls|
  bool is_capturing;                // a call does
  bool has_failed;                  // nothing is captured any more
  tfrt_device_graph_t* graph;       // +1, or NULL
  tfrt_async_value_t** arguments;   // +1 each, those of |graph|
  uint32_t argument_count;
};

// A call that captures, until the function has given all its work.
typedef struct tfrt_gpu_capture_s {
  tfrt_task_t task;
  tfrt_execution_context_t context;  // its request +1
  const tfrt_kernel_site_t* site;    // +1
  const tfrt_function_t* function;
  tfrt_async_value_t* graph;       // +1, the value
  tfrt_device_stream_t* stream;    // +1, that captures
  tfrt_async_value_t* result;      // +1, of the function with it
  tfrt_indirect_value_t* promise;  // +1, of the call
  uint32_t argument_count;
  tfrt_async_value_t* arguments[];  // +1 each, of the call
} tfrt_gpu_capture_t;

static void gpu_release_values(tfrt_async_value_t** values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) tfrt_async_value_release(values[i]);
}

static void gpu_free_values(tfrt_async_value_t** values, uint32_t count) {
  if (values) gpu_release_values(values, count);
  tfrt_allocator_free(tfrt_allocator_system(), values, count * sizeof(*values));
}

// --- Graphs --------------------------------------------------------------------------

void tfrt_gpu_graph_create(tfrt_kernel_frame_t* frame) {
  int32_t plain_calls = *(const int32_t*)frame->attributes[0];
  tfrt_gpu_graph_t* graph = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*graph));
  if (!graph || plain_calls < 0) {
    tfrt_allocator_free(tfrt_allocator_system(), graph, sizeof(*graph));
    tfrt_kernel_frame_fail_take(frame, graph ? tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                                                  "%d plain calls before a "
                                                                  "graph: give a number from 0 on",
                                                                  plain_calls)
                                             : tfrt_status_out_of_memory());
    return;
  }
  graph->plain_calls = plain_calls;
  tfrt_mutex_initialize(&graph->mutex);
  tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_take(TFRT_GPU_GRAPH, graph));
}

void tfrt_gpu_graph_free(tfrt_gpu_graph_t* graph) {
  tfrt_device_graph_release(graph->graph);
  gpu_free_values(graph->arguments, graph->argument_count);
  tfrt_mutex_deinitialize(&graph->mutex);
  tfrt_allocator_free(tfrt_allocator_system(), graph, sizeof(*graph));
}

// Whether the graph is of a call with |arguments|: the same objects, and equal numbers. The stream
// may be another one.
static bool gpu_graph_fits(const tfrt_gpu_graph_t* graph, tfrt_async_value_t* const* arguments,
                           uint32_t count) {
  if (!graph->graph || graph->argument_count != count) return false;
  const tfrt_gpu_stream_t* stream = tfrt_async_value_payload(arguments[TFRT_GPU_GRAPH_STREAM]);
  if (graph->graph->device != stream->stream->device) return false;
  for (uint32_t i = TFRT_GPU_GRAPH_FIRST_ARGUMENT; i < count; ++i) {
    const tfrt_async_value_t* known = tfrt_async_value_resolved(graph->arguments[i]);
    const tfrt_async_value_t* given = tfrt_async_value_resolved(arguments[i]);
    if (known->type_id != given->type_id ||
        memcmp(tfrt_async_value_payload((tfrt_async_value_t*)known),
               tfrt_async_value_payload((tfrt_async_value_t*)given),
               tfrt_type_get(known->type_id)->size) != 0) {
      return false;
    }
  }
  return true;
}

// Notes why there is no graph, once.
static void gpu_graph_give_up_take(tfrt_gpu_graph_t* graph, const tfrt_function_t* function,
                                   tfrt_status_t reason) {
  tfrt_mutex_lock(&graph->mutex);
  bool is_first = !graph->has_failed;
  graph->has_failed = true;
  graph->is_capturing = false;
  tfrt_mutex_unlock(&graph->mutex);
  if (is_first) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "function '%s' is no graph, and is called each time: %s",
             function->name, tfrt_status_message(reason));
  }
  tfrt_status_release(reason);
}

// --- Capturing -----------------------------------------------------------------------

static void gpu_capture_free(tfrt_gpu_capture_t* capture) {
  gpu_release_values(capture->arguments, capture->argument_count);
  tfrt_async_value_release(capture->result);
  tfrt_async_value_release(capture->graph);
  tfrt_device_stream_release(capture->stream);
  if (capture->promise) tfrt_async_value_release(&capture->promise->base);
  tfrt_request_context_t* request = capture->context.request;
  const tfrt_kernel_site_t* site = capture->site;
  size_t size = sizeof(*capture) + capture->argument_count * sizeof(capture->arguments[0]);
  tfrt_allocator_free(tfrt_allocator_system(), capture, size);
  tfrt_request_context_release(request);
  tfrt_kernel_site_release(site);
}

// Makes the captured work |graph|'s, with the arguments of the call. Sets |*out_device_graph| (+1).
static tfrt_status_t gpu_capture_store(tfrt_gpu_capture_t* capture, tfrt_gpu_graph_t* graph,
                                       tfrt_device_graph_t** out_device_graph) {
  uint32_t count = capture->argument_count;
  tfrt_async_value_t** arguments =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), count, sizeof(*arguments));
  if (!arguments) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_device_capture_end(capture->stream, out_device_graph);
  if (status) {
    tfrt_allocator_free(tfrt_allocator_system(), arguments, count * sizeof(*arguments));
    return status;
  }
  for (uint32_t i = 0; i < count; ++i) {
    arguments[i] = tfrt_async_value_retain(capture->arguments[i]);
  }
  tfrt_mutex_lock(&graph->mutex);
  tfrt_device_graph_t* old = graph->graph;
  tfrt_async_value_t** old_arguments = graph->arguments;
  uint32_t old_count = graph->argument_count;
  graph->graph = tfrt_device_graph_retain(*out_device_graph);
  graph->arguments = arguments;
  graph->argument_count = count;
  graph->is_capturing = false;
  tfrt_mutex_unlock(&graph->mutex);
  tfrt_device_graph_release(old);
  gpu_free_values(old_arguments, old_count);
  return NULL;
}

// The function has given its work, or failed.
static void gpu_capture_finish(tfrt_task_t* task) {
  tfrt_gpu_capture_t* capture = TFRT_CONTAINER_OF(task, tfrt_gpu_capture_t, task);
  tfrt_gpu_graph_t* graph = *(tfrt_gpu_graph_t**)tfrt_async_value_payload(capture->graph);
  tfrt_device_graph_t* device_graph = NULL;
  tfrt_status_t reason = tfrt_async_value_is_error(capture->result)
                             ? tfrt_status_retain(tfrt_async_value_error(capture->result))
                             : gpu_capture_store(capture, graph, &device_graph);
  if (reason) {
    gpu_graph_give_up_take(graph, capture->function, reason);
    tfrt_async_value_t* result;
    tfrt_function_execute(capture->function, &capture->context, capture->arguments, &result);
    tfrt_indirect_value_forward_take(capture->promise, result);
  } else {
    const tfrt_gpu_stream_t* stream =
        tfrt_async_value_payload(capture->arguments[TFRT_GPU_GRAPH_STREAM]);
    tfrt_status_t status = tfrt_device_graph_launch(device_graph, stream->stream);
    if (status) {
      tfrt_kernel_site_fail_take(capture->site, &capture->promise->base, status);
    } else {
      tfrt_indirect_value_forward_take(capture->promise, tfrt_async_value_ready_chain());
    }
  }
  tfrt_device_graph_release(device_graph);
  gpu_capture_free(capture);
}

// A new capture for the call of |frame|; NULL when memory is out.
static tfrt_gpu_capture_t* gpu_capture_allocate(tfrt_kernel_frame_t* frame) {
  uint32_t count = frame->argument_count - 1;
  tfrt_gpu_capture_t* capture = tfrt_allocator_allocate_zeroed(
      tfrt_allocator_system(), sizeof(*capture) + count * sizeof(capture->arguments[0]));
  if (!capture) return NULL;
  tfrt_task_initialize(&capture->task, gpu_capture_finish);
  capture->context = *frame->context;
  capture->context.request = tfrt_request_context_retain(frame->context->request);
  // Nobody asks when the call is over but by its result.
  capture->context.scope = NULL;
  capture->site = tfrt_kernel_site_retain(frame->site);
  capture->function = frame->functions[0];
  capture->graph = tfrt_async_value_retain(frame->arguments[0]);
  capture->argument_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    capture->arguments[i] = tfrt_async_value_retain(frame->arguments[1 + i]);
  }
  capture->promise = tfrt_indirect_value_create();
  if (capture->promise) return capture;
  gpu_capture_free(capture);
  return NULL;
}

// Runs the function of |capture| with the stream that captures in the place of the call's.
static void gpu_capture_run(tfrt_gpu_capture_t* capture, tfrt_kernel_frame_t* frame) {
  const tfrt_gpu_stream_t* stream =
      tfrt_async_value_payload(capture->arguments[TFRT_GPU_GRAPH_STREAM]);
  tfrt_async_value_t* given = capture->arguments[TFRT_GPU_GRAPH_STREAM];
  tfrt_async_value_t* captures = tfrt_gpu_value_create_stream_take(
      tfrt_device_stream_retain(capture->stream), stream->context);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&capture->promise->base));
  capture->arguments[TFRT_GPU_GRAPH_STREAM] = captures;
  tfrt_function_execute(capture->function, &capture->context, capture->arguments, &capture->result);
  capture->arguments[TFRT_GPU_GRAPH_STREAM] = given;
  tfrt_async_value_release(captures);
  // The capture may be gone when this returns.
  tfrt_async_value_and_then(capture->result, &capture->task);
}

// --- Calls ---------------------------------------------------------------------------

static void gpu_graph_call_plainly(tfrt_kernel_frame_t* frame) {
  tfrt_function_execute(frame->functions[0], frame->context, frame->arguments + 1, frame->results);
}

static void gpu_graph_capture(tfrt_kernel_frame_t* frame, tfrt_gpu_graph_t* graph) {
  const tfrt_gpu_stream_t* stream = tfrt_kernel_frame_payload(frame, 1 + TFRT_GPU_GRAPH_STREAM);
  tfrt_gpu_capture_t* capture = gpu_capture_allocate(frame);
  tfrt_status_t status = capture
                             ? tfrt_device_capture_begin(stream->stream->device, &capture->stream)
                             : tfrt_status_out_of_memory();
  if (!status) {
    gpu_capture_run(capture, frame);
    return;
  }
  if (capture) gpu_capture_free(capture);
  gpu_graph_give_up_take(graph, frame->functions[0], status);
  gpu_graph_call_plainly(frame);
}

// OK if the function takes a chain and a stream before anything else.
static tfrt_status_t gpu_graph_check(const tfrt_kernel_frame_t* frame) {
  uint32_t count = frame->argument_count - 1;
  bool is_good =
      count >= TFRT_GPU_GRAPH_FIRST_ARGUMENT && frame->functions[0]->argument_count == count &&
      frame->arguments[1 + TFRT_GPU_GRAPH_STREAM]->type_id == tfrt_gpu_type_id(TFRT_GPU_STREAM);
  if (is_good) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "function '%s' can be no graph: its first two arguments are not a "
                            "chain and a stream",
                            frame->functions[0]->name);
}

void tfrt_gpu_graph_call(tfrt_kernel_frame_t* frame) {
  tfrt_status_t status = gpu_graph_check(frame);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_gpu_graph_t* graph = tfrt_gpu_argument(frame, 0);
  tfrt_device_graph_t* device_graph = NULL;
  tfrt_mutex_lock(&graph->mutex);
  if (!graph->function) graph->function = frame->functions[0];
  bool is_other = graph->function != frame->functions[0];
  bool is_plain = is_other || graph->has_failed || graph->is_capturing;
  if (!is_other && gpu_graph_fits(graph, frame->arguments + 1, frame->argument_count - 1)) {
    device_graph = tfrt_device_graph_retain(graph->graph);
  } else if (!is_plain && graph->call_count < graph->plain_calls) {
    ++graph->call_count;
    is_plain = true;
  } else if (!is_plain) {
    graph->is_capturing = true;
  }
  tfrt_mutex_unlock(&graph->mutex);
  if (device_graph) {
    const tfrt_gpu_stream_t* stream = tfrt_kernel_frame_payload(frame, 1 + TFRT_GPU_GRAPH_STREAM);
    tfrt_gpu_finish_take(frame, tfrt_device_graph_launch(device_graph, stream->stream));
    tfrt_device_graph_release(device_graph);
  } else if (is_other) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "a graph of another function is called as '%s'",
                           frame->functions[0]->name);
  } else if (is_plain) {
    gpu_graph_call_plainly(frame);
  } else {
    gpu_graph_capture(frame, graph);
  }
}
