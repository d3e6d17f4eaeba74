// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/answer.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"

// One answer on its way.
typedef struct tfrt_answer_s {
  tfrt_execution_t* execution;  // +1
  tfrt_answer_form_t form;
  tfrt_answer_fn_t write;
} tfrt_answer_t;

tfrt_status_t tfrt_answer_type(tfrt_answer_form_t form, tfrt_type_id_t* out_type) {
  *out_type = TFRT_TYPE_STRING;
  if (form == TFRT_ANSWER_TEXT) return NULL;
  tfrt_type_t type = *tfrt_type_get(TFRT_TYPE_STRING);
  type.name = form == TFRT_ANSWER_TRACE ? "!tfrt.trace" : "!tfrt.message";
  type.print = NULL;
  return tfrt_type_register(&type, out_type);
}

tfrt_async_value_t* tfrt_answer_create(tfrt_answer_form_t form, tfrt_string_view_t bytes,
                                       tfrt_allocator_t allocator) {
  tfrt_type_id_t type = TFRT_TYPE_NONE;
  tfrt_status_t status = tfrt_answer_type(form, &type);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(type);
  if (!value) return tfrt_async_value_out_of_memory();
  void* room = NULL;
  status = tfrt_type_get(type)->codec->decode(NULL, 0, bytes.size, allocator,
                                              tfrt_async_value_payload(value), &room);
  if (status) {
    tfrt_async_value_release(value);
    return tfrt_async_value_create_error_take(status);
  }
  if (bytes.size > 0) memcpy(room, bytes.data, bytes.size);
  tfrt_async_value_set_available(value);
  return value;
}

tfrt_string_view_t tfrt_answer_question(const tfrt_execution_t* execution) {
  if (execution->argument_count == 0) return tfrt_string_view_of("");
  return tfrt_async_value_string(execution->arguments[0]);
}

void tfrt_answer_read_question(const tfrt_execution_t* execution, char* out_text, size_t size) {
  tfrt_string_view_t view = tfrt_answer_question(execution);
  snprintf(out_text, size, "%.*s", (int)(view.size < size ? view.size : size), view.data);
}

// The result (+1). Runs with the lock open.
static tfrt_async_value_t* tfrt_answer_make(const tfrt_answer_t* answer) {
  const tfrt_node_t* node = answer->execution->node;
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, node->options.allocator);
  tfrt_status_t status = answer->write(answer->execution, &bytes);
  if (!status) status = tfrt_status_retain(tfrt_string_builder_status(&bytes));
  tfrt_async_value_t* result =
      status ? tfrt_async_value_create_error_take(status)
             : tfrt_answer_create(answer->form, tfrt_string_builder_view(&bytes),
                                  node->options.host->allocator);
  tfrt_string_builder_deinitialize(&bytes);
  return result;
}

static void tfrt_answer_run(void* argument) {
  tfrt_answer_t* answer = argument;
  tfrt_execution_t* execution = answer->execution;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = tfrt_answer_make(answer);
  tfrt_allocator_free(node->options.allocator, answer, sizeof(*answer));
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_answer_start(tfrt_execution_t* execution, tfrt_answer_form_t form,
                       tfrt_answer_fn_t write) {
  tfrt_execution_begin(execution);
  tfrt_answer_t* answer =
      tfrt_allocator_allocate(execution->node->options.allocator, sizeof(*answer));
  if (!answer) {
    tfrt_async_value_t* result = tfrt_async_value_out_of_memory();
    tfrt_execution_complete(execution, &result);
    return;
  }
  *answer = (tfrt_answer_t){.execution = execution, .form = form, .write = write};
  tfrt_execution_retain(execution);
  tfrt_action_queue_call_at_once(&execution->node->actions, tfrt_answer_run, answer);
}
