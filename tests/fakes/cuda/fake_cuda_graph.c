// SPDX-License-Identifier: Apache-2.0
//
// Captures and graphs: ops that were given to a stream that captures, and copies of them.
#include "tests/fakes/cuda/fake_cuda_call.h"

// Frees the ops in the list |head|, which were never done.
static void fake_free_ops(tfrt_list_link_t* head) {
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(head));) {
    tfrt_fake_op_t* op = TFRT_CONTAINER_OF(l, tfrt_fake_op_t, link);
    tfrt_allocator_free(tfrt_allocator_system(), op, sizeof(*op));
  }
}

static tfrt_fake_op_t* fake_copy_op(const tfrt_list_link_t* link, tfrt_fake_stream_t* stream) {
  const tfrt_fake_op_t* op = TFRT_CONTAINER_OF(link, tfrt_fake_op_t, link);
  tfrt_fake_op_t* copy = tfrt_fake_op_create(stream, op->kind);
  tfrt_list_link_t unlinked = copy->link;
  *copy = *op;
  copy->link = unlinked;
  copy->stream = stream;
  return copy;
}

// A new, empty graph in the list |head|.
static tfrt_fake_graph_t* fake_create_graph(tfrt_list_link_t* head, tfrt_fake_context_t* context) {
  tfrt_fake_graph_t* graph =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*graph));
  graph->context = context;
  tfrt_list_initialize(&graph->ops);
  tfrt_list_push_back(head, &graph->link);
  return graph;
}

static int fake_destroy_graph(int error, const tfrt_list_link_t* head, tfrt_fake_graph_t* graph) {
  if (error && error != tfrt_fake_current()->error) return tfrt_fake_end(error);
  if (!tfrt_fake_is_handle(head, &graph->link, "graph")) {
    return tfrt_fake_end(TFRT_CUDA_ERROR_INVALID_HANDLE);
  }
  fake_free_ops(&graph->ops);
  tfrt_list_remove(&graph->link);
  tfrt_allocator_free(tfrt_allocator_system(), graph, sizeof(*graph));
  return tfrt_fake_end(error);
}

void tfrt_fake_capture_drop(tfrt_fake_stream_t* stream) {
  stream->is_capturing = false;
  fake_free_ops(&stream->captured);
}

// --- Entry points --------------------------------------------------------------------------

tfrt_cuda_result_t tfrt_fake_StreamBeginCapture(tfrt_cuda_stream_handle_t stream, int mode) {
  int error = tfrt_fake_begin_in_stream("cuStreamBeginCapture", stream);
  if (!error && mode != TFRT_CUDA_CAPTURE_RELAXED) {
    tfrt_fake_defect("a capture that other threads disturb");
  }
  if (!error && stream->is_capturing) error = TFRT_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (!error) stream->is_capturing = true;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_StreamEndCapture(tfrt_cuda_stream_handle_t stream,
                                              tfrt_cuda_graph_handle_t* out_graph) {
  *out_graph = NULL;
  int error = tfrt_fake_begin_in_stream("cuStreamEndCapture", stream);
  if (!error && !stream->is_capturing) error = TFRT_CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (error) return tfrt_fake_end(error);
  tfrt_fake_graph_t* graph = fake_create_graph(&tfrt_fake.graphs, stream->context);
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&stream->captured));) {
    tfrt_list_push_back(&graph->ops, l);
  }
  stream->is_capturing = false;
  *out_graph = (tfrt_cuda_graph_handle_t)(void*)graph;
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_GraphInstantiateWithFlags(tfrt_cuda_graph_exec_t* out_exec,
                                                       tfrt_cuda_graph_handle_t handle,
                                                       unsigned long long flags) {
  (void)flags;
  tfrt_fake_graph_t* graph = (tfrt_fake_graph_t*)(void*)handle;
  *out_exec = NULL;
  int error = tfrt_fake_begin_in_context("cuGraphInstantiate", NULL);
  if (!error && !tfrt_fake_is_handle(&tfrt_fake.graphs, &graph->link, "graph")) {
    error = TFRT_CUDA_ERROR_INVALID_HANDLE;
  }
  if (error) return tfrt_fake_end(error);
  tfrt_fake_graph_t* exec = fake_create_graph(&tfrt_fake.graph_execs, graph->context);
  for (const tfrt_list_link_t* l = graph->ops.next; l != &graph->ops; l = l->next) {
    tfrt_list_push_back(&exec->ops, &fake_copy_op(l, NULL)->link);
  }
  *out_exec = (tfrt_cuda_graph_exec_t)(void*)exec;
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_GraphLaunch(tfrt_cuda_graph_exec_t handle,
                                         tfrt_cuda_stream_handle_t stream) {
  const tfrt_fake_graph_t* exec = (const tfrt_fake_graph_t*)(const void*)handle;
  int error = tfrt_fake_begin_in_stream("cuGraphLaunch", stream);
  if (!error && (!tfrt_fake_is_handle(&tfrt_fake.graph_execs, &exec->link, "graph") ||
                 exec->context != stream->context)) {
    error = TFRT_CUDA_ERROR_INVALID_HANDLE;
  }
  if (error) return tfrt_fake_end(error);
  for (const tfrt_list_link_t* l = exec->ops.next; l != &exec->ops; l = l->next) {
    tfrt_fake_op_give(fake_copy_op(l, stream));
  }
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_GraphExecDestroy(tfrt_cuda_graph_exec_t exec) {
  return fake_destroy_graph(tfrt_fake_begin_in_context("cuGraphExecDestroy", NULL),
                            &tfrt_fake.graph_execs, (tfrt_fake_graph_t*)(void*)exec);
}

tfrt_cuda_result_t tfrt_fake_GraphDestroy(tfrt_cuda_graph_handle_t graph) {
  return fake_destroy_graph(tfrt_fake_begin_in_context("cuGraphDestroy", NULL), &tfrt_fake.graphs,
                            (tfrt_fake_graph_t*)(void*)graph);
}
