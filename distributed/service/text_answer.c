// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/text_answer.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/number_text.h"

// One answer on its way.
typedef struct tfrt_text_answer_s {
  tfrt_execution_t* execution;  // +1
  tfrt_text_answer_fn_t write;
} tfrt_text_answer_t;

void tfrt_text_answer_add_word(tfrt_string_builder_t* out, tfrt_string_view_t text) {
  if (text.size == 0) tfrt_string_builder_append_char(out, '-');
  for (size_t i = 0; i < text.size; ++i) {
    bool is_plain = (unsigned char)text.data[i] > ' ' && text.data[i] != 0x7f;
    tfrt_string_builder_append_char(out, is_plain ? text.data[i] : '_');
  }
}

void tfrt_text_answer_read_question(const tfrt_execution_t* execution, char* out_text,
                                    size_t size) {
  tfrt_string_view_t view = tfrt_async_value_string(execution->arguments[0]);
  snprintf(out_text, size, "%.*s", (int)(view.size < size ? view.size : size), view.data);
}

bool tfrt_text_answer_read_job(const char* text, uint8_t out_id[TFRT_WIRE_JOB_ID_SIZE]) {
  for (size_t i = 0; i < TFRT_WIRE_JOB_ID_SIZE; ++i) {
    uint64_t byte = 0;
    tfrt_string_view_t digits = tfrt_string_view_make(text + 2 * i, strnlen(text + 2 * i, 2));
    if (digits.size != 2 || !tfrt_number_text_parse_hex(digits, &byte)) return false;
    out_id[i] = (uint8_t)byte;
  }
  return true;
}

tfrt_string_view_t tfrt_text_answer_take_word(const char** text) {
  tfrt_string_view_t word = tfrt_string_view_make(*text, strcspn(*text, " "));
  *text += word.size;
  if (**text == ' ') ++*text;
  return word;
}

// The result (+1). Runs with the lock open.
static tfrt_async_value_t* tfrt_text_answer_make(const tfrt_text_answer_t* answer) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, answer->execution->node->options.allocator);
  tfrt_status_t status = answer->write(answer->execution, &text);
  if (!status) status = tfrt_status_retain(tfrt_string_builder_status(&text));
  tfrt_async_value_t* result =
      status ? tfrt_async_value_create_error_take(status)
             : tfrt_async_value_create_string(tfrt_string_builder_view(&text));
  tfrt_string_builder_deinitialize(&text);
  return result;
}

static void tfrt_text_answer_run(void* argument) {
  tfrt_text_answer_t* answer = argument;
  tfrt_execution_t* execution = answer->execution;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = tfrt_text_answer_make(answer);
  tfrt_allocator_free(node->options.allocator, answer, sizeof(*answer));
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_text_answer_start(tfrt_execution_t* execution, tfrt_text_answer_fn_t write) {
  tfrt_execution_begin(execution);
  tfrt_text_answer_t* answer =
      tfrt_allocator_allocate(execution->node->options.allocator, sizeof(*answer));
  if (!answer) {
    tfrt_async_value_t* result = tfrt_async_value_out_of_memory();
    tfrt_execution_complete(execution, &result);
    return;
  }
  *answer = (tfrt_text_answer_t){.execution = execution, .write = write};
  tfrt_execution_retain(execution);
  tfrt_action_queue_call_at_once(&execution->node->actions, tfrt_text_answer_run, answer);
}
