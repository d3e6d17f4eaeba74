// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/answer.h"

#include <stdio.h>
#include <string.h>

#include "distributed/call/incoming_call.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_life.h"
#include "distributed/service/following.h"
#include "distributed/service/inventory.h"
#include "distributed/service/plain_form.h"
#include "distributed/service/tracing.h"
#include "distributed/value/object_table.h"
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
static tfrt_string_view_t answer_argument(const tfrt_execution_t* execution) {
  if (execution->argument_count == 0) return tfrt_string_view_of("");
  return tfrt_async_value_string(execution->arguments[0]);
}

// True if the first argument is a message that is here.
static bool answer_has_message(const tfrt_execution_t* execution) {
  if (execution->argument_count == 0) return false;
  tfrt_type_id_t message = TFRT_TYPE_NONE;
  tfrt_status_t status = tfrt_answer_type(TFRT_ANSWER_MESSAGE, &message);
  bool is_it = !status && tfrt_async_value_is_available(execution->arguments[0]) &&
               tfrt_async_value_resolved(execution->arguments[0])->type_id == message;
  tfrt_status_release(status);
  return is_it;
}

// --- The state of this host ------------------------------------------------------
//
// The state in a few numbers: a HostPart with counts, and a PeerPart for each session. The work
// under the lock doesn't grow with what lives on the host: counts are kept.

// The counts of live objects, without jobs that only ask, and without the call that asks this and
// its result's slot.
static tfrt_wire_host_counts_t answer_status_counts(const tfrt_execution_t* execution) {
  const tfrt_node_t* node = execution->node;
  tfrt_bulk_counts_t bulk = tfrt_bulk_manager_counts(node->bulk);
  return (tfrt_wire_host_counts_t){.jobs = tfrt_job_count_running(node, execution->job),
                                   .kept_jobs = tfrt_detached_job_count_kept(node),
                                   .objects = tfrt_object_table_count(node->objects) - 1,
                                   .remote_values = node->counts.remote_values,
                                   .outgoing_calls = node->counts.outgoing_calls,
                                   .incoming_calls = node->counts.incoming_calls - 1,
                                   .incoming_wants = node->counts.incoming_wants,
                                   .transfers = bulk.sending + bulk.receiving};
}

static tfrt_wire_host_counters_t answer_status_counters(const tfrt_node_t* node) {
  tfrt_session_counters_t counters;
  tfrt_session_manager_counters(node->sessions, &counters);
  return (tfrt_wire_host_counters_t){.frames_sent = counters.frames_sent,
                                     .frames_received = counters.frames_received,
                                     .frames_replayed = counters.frames_replayed,
                                     .resumes = counters.resumes,
                                     .dials = counters.dials,
                                     .deaths = counters.deaths};
}

// A peer's session, and what has crossed in it.
static void answer_status_add_peer(tfrt_answer_parts_t* report, const tfrt_session_t* session) {
  uint64_t incarnation = tfrt_session_peer_incarnation(session);
  const tfrt_session_description_t seen = tfrt_session_describe(session);
  tfrt_bulk_traffic_t payloads = tfrt_bulk_manager_traffic(report->node->bulk, incarnation, 0);
  int64_t round_trip_us = seen.round_trip_ns / 1000;
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_PEER,
      .peer = {.incarnation = incarnation,
               .state = (uint32_t)tfrt_session_state(session),
               .round_trip_us = round_trip_us > 0 ? (uint64_t)round_trip_us : 0,
               .address = tfrt_answer_parts_view(report, tfrt_session_address(session)),
               .name = tfrt_answer_parts_view(report, tfrt_session_peer_name(session)),
               .frames_sent = seen.frames_sent,
               .frames_received = seen.frames_received,
               .bytes_sent = seen.bytes_sent,
               .bytes_received = seen.bytes_received,
               .payload_bytes_sent = payloads.sent,
               .payload_bytes_received = payloads.received,
               .payload_bytes_borrowed = payloads.borrowed}};
  tfrt_answer_parts_emit(report, &part);
}

static tfrt_status_t answer_status_write(tfrt_execution_t* execution,
                                         const tfrt_wire_question_t* question,
                                         tfrt_string_builder_t* out) {
  (void)question;
  tfrt_node_t* node = execution->node;
  tfrt_answer_parts_t report;
  tfrt_answer_parts_initialize(&report, node, out);
  tfrt_node_lock_tables(node);
  tfrt_wire_host_counts_t counts = answer_status_counts(execution);
  tfrt_wire_host_counters_t counters = answer_status_counters(node);
  tfrt_string_view_t name = tfrt_session_manager_name(node->sessions);
  const tfrt_wire_answer_part_t part = {.kind = TFRT_WIRE_PART_HOST,
                                        .host = {.incarnation = node->incarnation,
                                                 .name = tfrt_answer_parts_view(&report, name),
                                                 .serving = !node->refuses_jobs && !node->closed,
                                                 .counts = &counts,
                                                 .counters = &counters}};
  tfrt_answer_parts_emit(&report, &part);
  for (tfrt_session_t* session = tfrt_session_manager_first(node->sessions); session;
       session = tfrt_session_manager_next(node->sessions, session)) {
    answer_status_add_peer(&report, session);
  }
  tfrt_node_unlock(node);
  return tfrt_answer_parts_finish(&report);
}

static const tfrt_answerer_t tfrt_status_answerer = {.kind = TFRT_WIRE_ASK_STATUS,
                                                     .write = answer_status_write,
                                                     .plain_function = TFRT_WIRE_BUILTIN_STATUS,
                                                     .write_plain = tfrt_plain_answer_write};

// --- Cancel and drain ------------------------------------------------------------

static tfrt_status_t answer_end_job(tfrt_node_t* node, tfrt_string_view_t id) {
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
static tfrt_status_t answer_reason(const tfrt_execution_t* execution,
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

static tfrt_status_t answer_end_call(tfrt_node_t* node, const tfrt_wire_ask_cancel_t* target) {
  tfrt_peer_t* peer = tfrt_peer_find(node, target->caller);
  tfrt_execution_t* execution = peer ? tfrt_incoming_call_find(peer, target->number) : NULL;
  if (!execution) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such call runs here");
  tfrt_status_t reason = answer_reason(execution, target);
  tfrt_execution_cancel(execution, reason);
  tfrt_status_release(reason);
  return NULL;
}

static tfrt_status_t answer_cancel(tfrt_execution_t* execution,
                                   const tfrt_wire_question_t* question,
                                   tfrt_string_builder_t* out) {
  const tfrt_wire_ask_cancel_t* target = &question->cancel;
  tfrt_node_t* node = execution->node;
  tfrt_node_lock_tables(node);
  tfrt_status_t status =
      target->job.size > 0 ? answer_end_job(node, target->job) : answer_end_call(node, target);
  tfrt_node_unlock(node);
  if (status) return status;
  return tfrt_wire_answer_append(&(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_DONE}, out);
}

static tfrt_status_t answer_drain(tfrt_execution_t* execution, const tfrt_wire_question_t* question,
                                  tfrt_string_builder_t* out) {
  (void)question;
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

static const tfrt_answerer_t tfrt_cancel_answerer = {.kind = TFRT_WIRE_ASK_CANCEL,
                                                     .write = answer_cancel,
                                                     .plain_function = TFRT_WIRE_BUILTIN_CANCEL,
                                                     .write_plain = tfrt_plain_answer_write};

static const tfrt_answerer_t tfrt_drain_answerer = {.kind = TFRT_WIRE_ASK_DRAIN,
                                                    .write = answer_drain,
                                                    .plain_function = TFRT_WIRE_BUILTIN_DRAIN,
                                                    .write_plain = tfrt_plain_answer_write};

// --- Devices ---------------------------------------------------------------------

// Says whether this host has a device: a chain, or an error. A launcher asks before it starts a
// program whose calls are placed on devices, so that it reports a missing device at once. The
// host's hook opens the driver where it may block.
static tfrt_status_t answer_find_device(tfrt_execution_t* execution,
                                        const tfrt_wire_question_t* question,
                                        tfrt_async_value_t** out_value) {
  (void)question;
  const tfrt_node_options_t* options = &execution->node->options;
  // One byte more than any name of a device, so that a longer one is none.
  char name[TFRT_CALL_DEVICE_SIZE + 1];
  tfrt_string_view_t text = answer_argument(execution);
  snprintf(name, sizeof(name), "%.*s", (int)(text.size < sizeof(name) ? text.size : sizeof(name)),
           text.data);
  *out_value = options->check_device(options->host, tfrt_string_view_of(name));
  return NULL;
}

// Its argument is a name, so it has no kind of question.
static const tfrt_answerer_t tfrt_device_answerer = {
    .find = answer_find_device, .plain_function = TFRT_WIRE_BUILTIN_CHECK_DEVICE};

// --- Questions -------------------------------------------------------------------

// All questions.
static const tfrt_answerer_t* const tfrt_answerers[] = {
    &tfrt_trace_answerer,  &tfrt_status_answerer,      &tfrt_inventory_answerer,
    &tfrt_cancel_answerer, &tfrt_record_answerer,      &tfrt_follow_answerer,
    &tfrt_drain_answerer,  &tfrt_kept_result_answerer, &tfrt_device_answerer,
};

// Answers a question that is a message.
static tfrt_status_t answer_write_parts(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_wire_question_t question;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, execution->node->options.allocator);
  tfrt_status_t status = tfrt_wire_question_decode(answer_argument(execution), &arena, &question);
  const tfrt_answerer_t* answerer = NULL;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_answerers) && !status; ++i) {
    if (tfrt_answerers[i]->kind == question.kind) answerer = tfrt_answerers[i];
  }
  if (answerer && answerer->write) {
    status = answerer->write(execution, &question, out);
  } else if (!status) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "Question.kept_result: only BUILTIN_KEPT_RESULT takes it");
  }
  tfrt_arena_deinitialize(&arena);
  return status;
}

// Answers a question of an earlier version, a text, as |answerer| says.
static tfrt_status_t answer_write_plain(tfrt_execution_t* execution,
                                        const tfrt_answerer_t* answerer,
                                        tfrt_string_builder_t* out) {
  tfrt_plain_question_t plain;
  TFRT_RETURN_IF_ERROR(
      tfrt_plain_question_read(answerer->kind, answer_argument(execution), &plain));
  tfrt_string_builder_t parts;
  tfrt_string_builder_initialize(&parts, execution->node->options.allocator);
  tfrt_status_t status = answerer->write(execution, &plain.question, &parts);
  if (!status) status = answerer->write_plain(tfrt_string_builder_view(&parts), out);
  tfrt_string_builder_deinitialize(&parts);
  return status;
}

// Sets |*out_question| to that of |execution|: a message or, from an earlier version, a text, which
// is read into |plain|.
static tfrt_status_t answer_read_question(const tfrt_execution_t* execution,
                                          tfrt_wire_question_kind_t kind,
                                          tfrt_plain_question_t* plain, tfrt_arena_t* arena,
                                          tfrt_wire_question_t* out_question) {
  tfrt_string_view_t bytes = answer_argument(execution);
  if (!answer_has_message(execution)) {
    TFRT_RETURN_IF_ERROR(tfrt_plain_question_read(kind, bytes, plain));
    *out_question = plain->question;
    return NULL;
  }
  TFRT_RETURN_IF_ERROR(tfrt_wire_question_decode(bytes, arena, out_question));
  if (out_question->kind == kind) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "Question: field %u, must be %u",
                            out_question->kind, kind);
}

// Finds the value (+1) that is the answer of |answerer|.
static tfrt_async_value_t* answer_find(tfrt_execution_t* execution,
                                       const tfrt_answerer_t* answerer) {
  tfrt_wire_question_t question = {.kind = 0};
  tfrt_plain_question_t plain;
  tfrt_async_value_t* value = NULL;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, execution->node->options.allocator);
  tfrt_status_t status = NULL;
  if (answerer->kind != question.kind) {
    status = answer_read_question(execution, answerer->kind, &plain, &arena, &question);
  }
  if (!status) status = answerer->find(execution, &question, &value);
  tfrt_arena_deinitialize(&arena);
  return status ? tfrt_async_value_create_error_take(status) : value;
}

// --- The answer on its way -------------------------------------------------------

typedef struct tfrt_answer_s {
  tfrt_execution_t* execution;      // +1
  const tfrt_answerer_t* answerer;  // of the built-in function; NULL: the question says which
} tfrt_answer_t;

// The result (+1). Runs with the lock open.
static tfrt_async_value_t* answer_make(const tfrt_answer_t* answer) {
  const tfrt_node_t* node = answer->execution->node;
  const tfrt_answerer_t* plain = answer->answerer;
  if (plain && plain->find) return answer_find(answer->execution, plain);
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, node->options.allocator);
  tfrt_status_t status = plain ? answer_write_plain(answer->execution, plain, &bytes)
                               : answer_write_parts(answer->execution, &bytes);
  if (!status) status = tfrt_status_retain(tfrt_string_builder_status(&bytes));
  tfrt_async_value_t* result =
      status ? tfrt_async_value_create_error_take(status)
             : tfrt_answer_create(plain ? plain->plain_form : TFRT_ANSWER_MESSAGE,
                                  tfrt_string_builder_view(&bytes), node->options.host->allocator);
  tfrt_string_builder_deinitialize(&bytes);
  return result;
}

static void answer_run(void* argument) {
  tfrt_answer_t* answer = argument;
  tfrt_execution_t* execution = answer->execution;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = answer_make(answer);
  tfrt_allocator_free(node->options.allocator, answer, sizeof(*answer));
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
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
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_answerers); ++i) {
    bool is_it = tfrt_answerers[i]->plain_function == execution->function;
    if (is_it) answer->answerer = tfrt_answerers[i];
  }
  tfrt_execution_retain(execution);
  tfrt_action_queue_call_at_once(&execution->node->actions, answer_run, answer);
}
