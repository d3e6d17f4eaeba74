// SPDX-License-Identifier: Apache-2.0
#include "devices/device_graph.h"

struct tfrt_device_kept_s {
  tfrt_device_kept_t* next;
  tfrt_device_buffer_t* buffer;      // +1, or NULL
  tfrt_device_function_t* function;  // +1, or NULL
};

struct tfrt_device_capture_s {
  tfrt_allocator_t allocator;
  tfrt_mutex_t mutex;  // guards all below
  bool is_ended;
  tfrt_device_kept_t* kept;
};

// --- What is kept ------------------------------------------------------------------

static void device_kept_free(tfrt_allocator_t allocator, tfrt_device_kept_t* kept) {
  while (kept) {
    tfrt_device_kept_t* next = kept->next;
    tfrt_device_buffer_release(kept->buffer);
    tfrt_device_function_release(kept->function);
    tfrt_allocator_free(allocator, kept, sizeof(*kept));
    kept = next;
  }
}

tfrt_status_t tfrt_device_capture_keep(tfrt_device_capture_t* capture, tfrt_device_buffer_t* buffer,
                                       tfrt_device_function_t* function) {
  tfrt_device_kept_t* kept = tfrt_allocator_allocate_zeroed(capture->allocator, sizeof(*kept));
  if (!kept) return tfrt_status_out_of_memory();
  if (buffer) kept->buffer = tfrt_device_buffer_retain(buffer);
  if (function) kept->function = tfrt_device_function_retain(function);
  tfrt_mutex_lock(&capture->mutex);
  bool is_ended = capture->is_ended;
  if (!is_ended) {
    kept->next = capture->kept;
    capture->kept = kept;
  }
  tfrt_mutex_unlock(&capture->mutex);
  if (!is_ended) return NULL;
  device_kept_free(capture->allocator, kept);
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                            "work for a stream whose capture has ended");
}

tfrt_status_t tfrt_device_capture_refuse(const tfrt_device_stream_t* stream, const char* what) {
  if (!stream || !stream->capture) return NULL;
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                            "%s: %s can't be part of a graph: only copies, fills and launches can",
                            stream->device->name, what);
}

void tfrt_device_capture_free(tfrt_device_t* device, tfrt_device_capture_t* capture) {
  if (!capture) return;
  device_kept_free(capture->allocator, capture->kept);
  tfrt_mutex_deinitialize(&capture->mutex);
  tfrt_allocator_free(device->platform->allocator, capture, sizeof(*capture));
}

// --- Capturing ---------------------------------------------------------------------

tfrt_status_t tfrt_device_capture_begin(tfrt_device_t* device, tfrt_device_stream_t** out_stream) {
  *out_stream = NULL;
  tfrt_device_stream_t* stream = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_stream(device, &stream));
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_device_capture_t* capture = tfrt_allocator_allocate_zeroed(allocator, sizeof(*capture));
  tfrt_status_t status = capture ? stream->vtable->begin_capture(stream) : NULL;
  if (status || !capture) {
    tfrt_allocator_free(allocator, capture, sizeof(*capture));
    tfrt_device_stream_release(stream);
    return status ? status : tfrt_status_out_of_memory();
  }
  capture->allocator = allocator;
  tfrt_mutex_initialize(&capture->mutex);
  stream->capture = capture;
  *out_stream = stream;
  return NULL;
}

tfrt_status_t tfrt_device_capture_end(tfrt_device_stream_t* stream,
                                      tfrt_device_graph_t** out_graph) {
  *out_graph = NULL;
  tfrt_device_capture_t* capture = stream->capture;
  if (!capture) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "%s: a stream that doesn't capture",
                              stream->device->name);
  }
  tfrt_mutex_lock(&capture->mutex);
  bool was_ended = capture->is_ended;
  tfrt_device_kept_t* kept = capture->kept;
  capture->is_ended = true;
  capture->kept = NULL;
  tfrt_mutex_unlock(&capture->mutex);
  if (was_ended) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "%s: a capture ends twice",
                              stream->device->name);
  }
  tfrt_status_t status = stream->vtable->end_capture(stream, out_graph);
  if (!status && !kept) {
    status = tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "%s: nothing was captured",
                                stream->device->name);
    tfrt_device_graph_release(*out_graph);
    *out_graph = NULL;
  }
  if (status) {
    device_kept_free(capture->allocator, kept);
  } else {
    (*out_graph)->kept = kept;
  }
  return status;
}

// --- Graphs ------------------------------------------------------------------------

void tfrt_device_graph_initialize(tfrt_device_graph_t* graph,
                                  const tfrt_device_graph_vtable_t* vtable, tfrt_device_t* device) {
  graph->vtable = vtable;
  tfrt_ref_count_initialize(&graph->ref_count);
  graph->device = tfrt_device_retain(device);
}

tfrt_device_graph_t* tfrt_device_graph_retain(tfrt_device_graph_t* graph) {
  tfrt_ref_count_increment(&graph->ref_count);
  return graph;
}

void tfrt_device_graph_release(tfrt_device_graph_t* graph) {
  if (!graph || !tfrt_ref_count_decrement(&graph->ref_count)) return;
  tfrt_device_t* device = graph->device;
  tfrt_device_kept_t* kept = graph->kept;
  graph->vtable->destroy(graph);
  device_kept_free(device->platform->allocator, kept);
  tfrt_device_release(device);
}

tfrt_status_t tfrt_device_graph_launch(tfrt_device_graph_t* graph, tfrt_device_stream_t* stream) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(stream->device));
  TFRT_RETURN_IF_ERROR(tfrt_device_capture_refuse(stream, "a graph"));
  if (graph->device != stream->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a stream of %s gets a graph of %s",
                              stream->device->name, graph->device->name);
  }
  for (const tfrt_device_kept_t* kept = graph->kept; kept; kept = kept->next) {
    if (!kept->buffer) continue;
    TFRT_RETURN_IF_ERROR(tfrt_device_buffer_check(kept->buffer, 0, kept->buffer->size));
  }
  for (const tfrt_device_kept_t* kept = graph->kept; kept; kept = kept->next) {
    if (kept->buffer) TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(kept->buffer, stream));
  }
  return graph->vtable->launch(graph, stream);
}
