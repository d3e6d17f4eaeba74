// SPDX-License-Identifier: Apache-2.0
//
// Graphs are the driver's, captured from a stream and made ready to be launched at once.
#include "devices/cuda/cuda_impl.h"
#include "devices/device_graph.h"

typedef struct tfrt_cuda_graph_s {
  tfrt_device_graph_t base;
  tfrt_cuda_graph_exec_t handle;
} tfrt_cuda_graph_t;

static tfrt_cuda_graph_t* cuda_graph_of(tfrt_device_graph_t* graph) {
  return TFRT_CONTAINER_OF(graph, tfrt_cuda_graph_t, base);
}

static void cuda_graph_destroy(tfrt_device_graph_t* base) {
  tfrt_cuda_graph_t* graph = cuda_graph_of(base);
  tfrt_device_t* device = base->device;
  tfrt_status_t status = graph->handle ? tfrt_cuda_enter(device) : NULL;
  if (graph->handle && !status) {
    status = tfrt_cuda_leave(device, tfrt_cuda_api_of(device)->GraphExecDestroy(graph->handle),
                             "cuGraphExecDestroy");
  }
  // Ignores an error: the driver frees everything of a lost device at its end.
  tfrt_status_release(status);
  tfrt_allocator_free(device->platform->allocator, graph, sizeof(*graph));
}

static tfrt_status_t cuda_graph_launch(tfrt_device_graph_t* graph, tfrt_device_stream_t* stream) {
  tfrt_device_t* device = stream->device;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result = tfrt_cuda_api_of(device)->GraphLaunch(
      cuda_graph_of(graph)->handle, tfrt_cuda_stream_of(stream)->handle);
  return tfrt_cuda_leave(device, result, "cuGraphLaunch");
}

static const tfrt_device_graph_vtable_t graph_vtable = {cuda_graph_destroy, cuda_graph_launch};

// Any thread may give work, and what other threads do meanwhile is no business of the capture.
tfrt_status_t tfrt_cuda_stream_begin_capture(tfrt_device_stream_t* stream) {
  tfrt_device_t* device = stream->device;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  if (!api->StreamBeginCapture || !api->StreamEndCapture || !api->GraphInstantiateWithFlags ||
      !api->GraphLaunch || !api->GraphExecDestroy || !api->GraphDestroy) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                              "%s: graphs need a driver for CUDA 11.4 or later", device->name);
  }
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  return tfrt_cuda_leave(
      device,
      api->StreamBeginCapture(tfrt_cuda_stream_of(stream)->handle, TFRT_CUDA_CAPTURE_RELAXED),
      "cuStreamBeginCapture");
}

// Makes |graph| ready to be launched, as |stream| has captured it, in its context. Sets |*out_call|
// to the call that |result| is of.
static tfrt_cuda_result_t cuda_graph_prepare(const tfrt_cuda_api_t* api,
                                             tfrt_cuda_stream_handle_t stream,
                                             tfrt_cuda_graph_exec_t* out_handle,
                                             const char** out_call) {
  tfrt_cuda_graph_handle_t graph = NULL;
  *out_call = "cuStreamEndCapture";
  tfrt_cuda_result_t result = api->StreamEndCapture(stream, &graph);
  if (result != TFRT_CUDA_SUCCESS) return result;
  *out_call = "cuGraphInstantiate";
  result = api->GraphInstantiateWithFlags(out_handle, graph, 0);
  if (result != TFRT_CUDA_SUCCESS) *out_handle = NULL;
  tfrt_cuda_result_t destroyed = api->GraphDestroy(graph);
  if (result != TFRT_CUDA_SUCCESS || destroyed == TFRT_CUDA_SUCCESS) return result;
  *out_call = "cuGraphDestroy";
  return destroyed;
}

tfrt_status_t tfrt_cuda_stream_end_capture(tfrt_device_stream_t* stream,
                                           tfrt_device_graph_t** out_graph) {
  tfrt_device_t* device = stream->device;
  tfrt_cuda_graph_t* graph =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*graph));
  // Without memory the capture ends with its stream.
  if (!graph) return tfrt_status_out_of_memory();
  tfrt_device_graph_initialize(&graph->base, &graph_vtable, device);
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    const char* call;
    tfrt_cuda_result_t result = cuda_graph_prepare(
        tfrt_cuda_api_of(device), tfrt_cuda_stream_of(stream)->handle, &graph->handle, &call);
    status = tfrt_cuda_leave(device, result, call);
  }
  if (status) {
    tfrt_device_graph_release(&graph->base);
    return status;
  }
  *out_graph = &graph->base;
  return NULL;
}
