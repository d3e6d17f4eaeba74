// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/tracing.h"

#include <string.h>

#include "distributed/service/trace_image.h"
#include "host_runtime/async/builtin_types.h"

tfrt_status_t tfrt_tracing_type(tfrt_type_id_t* out_type) {
  tfrt_type_t type = *tfrt_type_get(TFRT_TYPE_STRING);
  type.name = "!tfrt.trace";
  type.print = NULL;
  return tfrt_type_register(&type, out_type);
}

// A value (+1) with the bytes of |image|.
static tfrt_async_value_t* tfrt_tracing_make_value(tfrt_string_view_t image,
                                                   tfrt_allocator_t allocator) {
  tfrt_type_id_t type = TFRT_TYPE_NONE;
  tfrt_status_t status = tfrt_tracing_type(&type);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(type);
  if (!value) return tfrt_async_value_out_of_memory();
  void* room = NULL;
  status = tfrt_type_get(type)->codec->decode(NULL, 0, image.size, allocator,
                                              tfrt_async_value_payload(value), &room);
  if (status) {
    tfrt_async_value_release(value);
    return tfrt_async_value_create_error_take(status);
  }
  memcpy(room, image.data, image.size);
  tfrt_async_value_set_available(value);
  return value;
}

// One answer on its way.
typedef struct tfrt_tracing_answer_s {
  tfrt_execution_t* execution;  // +1
  tfrt_status_t (*write)(tfrt_execution_t* execution, tfrt_string_builder_t* out);
} tfrt_tracing_answer_t;

// Runs with the lock open: spans are many, and are copied.
static void tfrt_tracing_run(void* argument) {
  tfrt_tracing_answer_t answer = *(tfrt_tracing_answer_t*)argument;
  tfrt_execution_t* execution = answer.execution;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_allocator_free(node->options.allocator, argument, sizeof(answer));
  tfrt_string_builder_t image;
  tfrt_string_builder_initialize(&image, node->options.allocator);
  tfrt_status_t status = answer.write(execution, &image);
  if (!status) status = tfrt_status_retain(tfrt_string_builder_status(&image));
  tfrt_async_value_t* result = status ? tfrt_async_value_create_error_take(status)
                                      : tfrt_tracing_make_value(tfrt_string_builder_view(&image),
                                                                node->options.host->allocator);
  tfrt_string_builder_deinitialize(&image);
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_tracing_answer(tfrt_execution_t* execution,
                         tfrt_status_t (*write)(tfrt_execution_t* execution,
                                                tfrt_string_builder_t* out)) {
  tfrt_execution_begin(execution);
  tfrt_tracing_answer_t* answer =
      tfrt_allocator_allocate(execution->node->options.allocator, sizeof(*answer));
  if (!answer) {
    tfrt_async_value_t* result = tfrt_async_value_out_of_memory();
    tfrt_execution_complete(execution, &result);
    return;
  }
  *answer = (tfrt_tracing_answer_t){.execution = execution, .write = write};
  tfrt_execution_retain(execution);
  tfrt_action_queue_call(&execution->node->actions, tfrt_tracing_run, answer);
}

static tfrt_status_t tfrt_tracing_write(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_trace_image_append(tfrt_job_trace(execution->job), tfrt_node_now_ns(execution->node), out);
  return NULL;
}

void tfrt_tracing_start(tfrt_execution_t* execution) {
  tfrt_tracing_answer(execution, tfrt_tracing_write);
}
