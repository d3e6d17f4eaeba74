// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/answer.h"

#include <stdio.h>
#include <string.h>

#include "distributed/call/incoming_call.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_life.h"
#include "distributed/service/following.h"
#include "distributed/service/inventory.h"
#include "distributed/service/plain_following.h"
#include "distributed/service/status_report.h"
#include "distributed/service/tracing.h"
#include "host_runtime/async/builtin_types.h"

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

// The bytes of the first argument; "" if it is no text that is here.
static tfrt_string_view_t tfrt_answer_argument(const tfrt_execution_t* execution) {
  if (execution->argument_count == 0) return tfrt_string_view_of("");
  return tfrt_async_value_string(execution->arguments[0]);
}

void tfrt_answer_read_question(const tfrt_execution_t* execution, char* out_text, size_t size) {
  tfrt_string_view_t view = tfrt_answer_argument(execution);
  snprintf(out_text, size, "%.*s", (int)(view.size < size ? view.size : size), view.data);
}

// True if the first argument is a message that is here.
static bool tfrt_answer_has_message(const tfrt_execution_t* execution) {
  if (execution->argument_count == 0) return false;
  tfrt_type_id_t message = TFRT_TYPE_NONE;
  tfrt_status_t status = tfrt_answer_type(TFRT_ANSWER_MESSAGE, &message);
  bool is_it = !status && tfrt_async_value_is_available(execution->arguments[0]) &&
               tfrt_async_value_resolved(execution->arguments[0])->type_id == message;
  tfrt_status_release(status);
  return is_it;
}

void tfrt_answer_question_initialize(tfrt_answer_question_t* question, const tfrt_node_t* node) {
  question->message = (tfrt_wire_question_t){0};
  tfrt_arena_initialize(&question->arena, node->options.allocator);
}

void tfrt_answer_question_deinitialize(tfrt_answer_question_t* question) {
  tfrt_arena_deinitialize(&question->arena);
}

tfrt_status_t tfrt_answer_question_read(tfrt_answer_question_t* question,
                                        const tfrt_execution_t* execution,
                                        tfrt_wire_question_kind_t kind) {
  tfrt_string_view_t bytes = tfrt_answer_argument(execution);
  if (!tfrt_answer_has_message(execution)) {
    TFRT_RETURN_IF_ERROR(tfrt_plain_question_read(kind, bytes, &question->plain));
    question->message = question->plain.question;
    return NULL;
  }
  TFRT_RETURN_IF_ERROR(tfrt_wire_question_decode(bytes, &question->arena, &question->message));
  if (question->message.kind == kind) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "Question: field %u, must be %u",
                            question->message.kind, kind);
}

// --- Cancel and drain ------------------------------------------------------------

static tfrt_status_t tfrt_answer_end_job(tfrt_node_t* node, tfrt_string_view_t id) {
  tfrt_job_t* job = tfrt_job_find(node, id);
  tfrt_detached_job_t* detached = tfrt_detached_job_find(node, (const uint8_t*)id.data);
  if (detached && tfrt_detached_job_is_kept(detached)) {
    tfrt_detached_job_drop(detached);
    return NULL;
  }
  if (!job || tfrt_job_is_closed(job)) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such job is here");
  }
  tfrt_status_t reason =
      tfrt_status_create(TFRT_STATUS_CANCELLED, "cancelled by an administrator (tfrt cancel)");
  tfrt_job_close(job, reason);
  tfrt_status_release(reason);
  return NULL;
}

// A place that a question names; its texts end with a 0 here.
typedef struct tfrt_answer_place_s {
  char function[TFRT_WIRE_MAX_NAME_SIZE + 1];
  char file[TFRT_WIRE_MAX_PATH_SIZE + 1];
} tfrt_answer_place_t;

// The error (+1) that the results of the call |execution| become.
static tfrt_status_t tfrt_answer_reason(const tfrt_execution_t* execution,
                                        const tfrt_wire_ask_cancel_t* target) {
  tfrt_status_origin_t place;
  tfrt_answer_place_t texts;
  if (target->place) {
    const tfrt_wire_location_t* there = target->place;
    snprintf(texts.function, sizeof(texts.function), "%.*s",
             TFRT_STRING_VIEW_ARGUMENTS(there->function));
    snprintf(texts.file, sizeof(texts.file), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(there->file));
    place = (tfrt_status_origin_t){.rank = tfrt_job_rank_of(execution->job, target->caller),
                                   .incarnation = target->caller,
                                   .function = texts.function,
                                   .file = texts.file,
                                   .line = there->line,
                                   .column = there->column};
  } else {
    tfrt_execution_function_place(execution, &place);
    place.rank = execution->job->rank;
  }
  tfrt_status_t plain = tfrt_status_create(
      TFRT_STATUS_CANCELLED, "cancelled by an administrator (tfrt cancel) while it ran @%s",
      tfrt_execution_function_name(execution));
  tfrt_status_t reason = tfrt_status_with_origin(plain, &place);
  tfrt_status_release(plain);
  return reason;
}

static tfrt_status_t tfrt_answer_end_call(tfrt_node_t* node, const tfrt_wire_ask_cancel_t* target) {
  tfrt_peer_t* peer = tfrt_peer_find(node, target->caller);
  tfrt_execution_t* execution = peer ? tfrt_incoming_call_find(peer, target->number) : NULL;
  if (!execution) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such call runs here");
  tfrt_status_t reason = tfrt_answer_reason(execution, target);
  tfrt_execution_cancel(execution, reason);
  tfrt_status_release(reason);
  return NULL;
}

static tfrt_status_t tfrt_answer_cancel(tfrt_execution_t* execution,
                                        const tfrt_wire_ask_cancel_t* target,
                                        tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  tfrt_node_lock_tables(node);
  tfrt_status_t status = target->job.size > 0 ? tfrt_answer_end_job(node, target->job)
                                              : tfrt_answer_end_call(node, target);
  tfrt_node_unlock(node);
  if (status) return status;
  return tfrt_wire_answer_append(&(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_DONE}, out);
}

static tfrt_status_t tfrt_answer_drain(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  if (!node->options.on_drain) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "this host does not drain");
  }
  tfrt_node_lock_tables(node);
  size_t count = tfrt_job_count_running(node, execution->job);
  tfrt_node_unlock(node);
  node->options.on_drain(node->options.on_drain_self);
  return tfrt_wire_answer_append(
      &(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_DRAIN, .drain = {.jobs = count}}, out);
}

// --- Questions -------------------------------------------------------------------

// The spans of a job are for its client alone.
static tfrt_status_t tfrt_answer_trace(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  uint64_t asker = tfrt_incoming_call_cast(execution)->peer->incarnation;
  if (asker == execution->job->client.incarnation) return tfrt_tracing_write(execution, out);
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                            "the trace of a job is for the client that has opened it");
}

static tfrt_status_t tfrt_answer_write_to(tfrt_execution_t* execution,
                                          const tfrt_wire_question_t* question,
                                          tfrt_string_builder_t* out) {
  switch (question->kind) {
    case TFRT_WIRE_ASK_STATUS:
      return tfrt_status_report_write(execution, out);
    case TFRT_WIRE_ASK_INVENTORY:
      return tfrt_inventory_write(execution, &question->inventory, out);
    case TFRT_WIRE_ASK_CANCEL:
      return tfrt_answer_cancel(execution, &question->cancel, out);
    case TFRT_WIRE_ASK_RECORD:
      return tfrt_recording_write(execution, &question->record, out);
    case TFRT_WIRE_ASK_FOLLOW:
      return tfrt_following_write(execution, &question->follow, out);
    case TFRT_WIRE_ASK_DRAIN:
      return tfrt_answer_drain(execution, out);
    case TFRT_WIRE_ASK_KEPT_RESULT:
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "Question.kept_result: only BUILTIN_KEPT_RESULT takes it");
    default:
      return tfrt_answer_trace(execution, out);
  }
}

static tfrt_status_t tfrt_answer_write_parts(tfrt_execution_t* execution,
                                             tfrt_string_builder_t* out) {
  tfrt_wire_question_t question;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, execution->node->options.allocator);
  tfrt_status_t status =
      tfrt_wire_question_decode(tfrt_answer_argument(execution), &arena, &question);
  if (!status) status = tfrt_answer_write_to(execution, &question, out);
  tfrt_arena_deinitialize(&arena);
  return status;
}

// --- Plain forms -----------------------------------------------------------------

static tfrt_wire_question_kind_t tfrt_answer_kind(uint32_t function) {
  switch (function) {
    case TFRT_WIRE_BUILTIN_TRACE:
      return TFRT_WIRE_ASK_TRACE;
    case TFRT_WIRE_BUILTIN_STATUS:
      return TFRT_WIRE_ASK_STATUS;
    case TFRT_WIRE_BUILTIN_CANCEL:
      return TFRT_WIRE_ASK_CANCEL;
    case TFRT_WIRE_BUILTIN_RECORD:
      return TFRT_WIRE_ASK_RECORD;
    case TFRT_WIRE_BUILTIN_FOLLOW:
      return TFRT_WIRE_ASK_FOLLOW;
    case TFRT_WIRE_BUILTIN_DRAIN:
      return TFRT_WIRE_ASK_DRAIN;
    default:
      return TFRT_WIRE_ASK_INVENTORY;
  }
}

typedef tfrt_status_t (*tfrt_answer_form_fn_t)(tfrt_string_view_t answer,
                                               tfrt_string_builder_t* out);

static tfrt_status_t tfrt_answer_write_as(tfrt_execution_t* execution, tfrt_answer_form_fn_t form,
                                          tfrt_string_builder_t* out) {
  tfrt_plain_question_t plain;
  TFRT_RETURN_IF_ERROR(tfrt_plain_question_read(tfrt_answer_kind(execution->function),
                                                tfrt_answer_argument(execution), &plain));
  tfrt_string_builder_t parts;
  tfrt_string_builder_initialize(&parts, execution->node->options.allocator);
  tfrt_status_t status = tfrt_answer_write_to(execution, &plain.question, &parts);
  if (!status) status = form(tfrt_string_builder_view(&parts), out);
  tfrt_string_builder_deinitialize(&parts);
  return status;
}

static tfrt_status_t tfrt_answer_write_plain(tfrt_execution_t* execution,
                                             tfrt_string_builder_t* out) {
  return tfrt_answer_write_as(execution, tfrt_plain_answer_write, out);
}

static tfrt_status_t tfrt_answer_write_plain_trace(tfrt_execution_t* execution,
                                                   tfrt_string_builder_t* out) {
  return tfrt_answer_write_as(execution, tfrt_plain_answer_write_trace, out);
}

static tfrt_status_t tfrt_answer_write_plain_following(tfrt_execution_t* execution,
                                                       tfrt_string_builder_t* out) {
  return tfrt_answer_write_as(execution, tfrt_plain_following_write, out);
}

// --- The answer on its way -------------------------------------------------------

// Appends the answer to |out|, or says why there is none. Called with no lock held.
typedef tfrt_status_t (*tfrt_answer_fn_t)(tfrt_execution_t* execution, tfrt_string_builder_t* out);

typedef struct tfrt_answer_s {
  tfrt_execution_t* execution;  // +1
  tfrt_answer_form_t form;
  tfrt_answer_fn_t write;
} tfrt_answer_t;

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

// Sets |answer| to how the built-in function |function| is answered.
static void tfrt_answer_choose(uint32_t function, tfrt_answer_t* answer) {
  switch (function) {
    case TFRT_WIRE_BUILTIN_ASK:
      answer->form = TFRT_ANSWER_MESSAGE;
      answer->write = tfrt_answer_write_parts;
      break;
    case TFRT_WIRE_BUILTIN_TRACE:
    case TFRT_WIRE_BUILTIN_RECORD:
      answer->form = TFRT_ANSWER_TRACE;
      answer->write = tfrt_answer_write_plain_trace;
      break;
    case TFRT_WIRE_BUILTIN_FOLLOW:
      answer->write = tfrt_answer_write_plain_following;
      break;
    default:
      answer->write = tfrt_answer_write_plain;
      break;
  }
}

void tfrt_answer_start(tfrt_execution_t* execution) {
  tfrt_execution_begin(execution);
  tfrt_answer_t* answer =
      tfrt_allocator_allocate(execution->node->options.allocator, sizeof(*answer));
  if (!answer) {
    tfrt_async_value_t* result = tfrt_async_value_out_of_memory();
    tfrt_execution_complete(execution, &result);
    return;
  }
  *answer = (tfrt_answer_t){.execution = execution};
  tfrt_answer_choose(execution->function, answer);
  tfrt_execution_retain(execution);
  tfrt_action_queue_call_at_once(&execution->node->actions, tfrt_answer_run, answer);
}
