// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "distributed/call/outgoing_call.h"
#include "distributed/client/client_record.h"
#include "distributed/service/answer.h"
#include "distributed/service/following.h"
#include "distributed/service/plain_following.h"
#include "distributed/service/tracing.h"
#include "host_runtime/async/builtin_types.h"

// Sets the job (+1) and callee of |request|. With the lock held.
static tfrt_status_t tfrt_client_find_host(const tfrt_client_t* client, uint32_t rank,
                                           tfrt_outgoing_call_request_t* request) {
  if (rank >= client->options.host_count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "there is no host %u", rank);
  }
  if (tfrt_client_is_closed(client)) return tfrt_status_retain(client->end);
  if (!tfrt_client_was_opened(client)) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the job is not open");
  }
  request->job = tfrt_job_retain(client->job);
  request->callee = client->hosts[rank].incarnation;
  return NULL;
}

// A call of a built-in function: one value of |type| (NULL: of any) is its result.
typedef struct tfrt_client_builtin_s {
  uint32_t function;
  const char* name;
  const char* type;
} tfrt_client_builtin_t;

// The result (+1) of |builtin| with |argument| (+0, NULL: none) on host |rank|.
static tfrt_async_value_t* tfrt_client_ask_with(tfrt_client_t* client, uint32_t rank,
                                                const tfrt_client_builtin_t* builtin,
                                                tfrt_async_value_t* argument) {
  tfrt_async_value_t* result = NULL;
  const char* type = builtin->type;
  tfrt_outgoing_call_request_t request = {.function = builtin->function,
                                          .name = builtin->name,
                                          .deadline_ns = TFRT_TIME_INFINITE,
                                          .arguments = &argument,
                                          .argument_count = argument ? 1 : 0,
                                          .results = &result,
                                          .result_count = 1,
                                          .result_types = type ? &type : NULL};
  tfrt_node_lock_tables(client->node);
  tfrt_status_t status = tfrt_client_find_host(client, rank, &request);
  tfrt_node_unlock(client->node);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_outgoing_call_start(client->node, &request);
  tfrt_node_lock_tables(client->node);
  tfrt_job_release(request.job);
  tfrt_node_unlock(client->node);
  return result;
}

// The same with the text |what| as the argument.
static tfrt_async_value_t* tfrt_client_ask_about(tfrt_client_t* client, uint32_t rank,
                                                 const tfrt_client_builtin_t* builtin,
                                                 tfrt_string_view_t what) {
  tfrt_async_value_t* argument = tfrt_async_value_create_string(what);
  tfrt_async_value_t* result = tfrt_client_ask_with(client, rank, builtin, argument);
  tfrt_async_value_release(argument);
  return result;
}

// --- Questions ---------------------------------------------------------------

// True if host |rank| has the feature |feature|, which lets it read questions as messages.
static bool tfrt_client_may_ask(tfrt_client_t* client, uint32_t rank,
                                tfrt_wire_features_t feature) {
  tfrt_node_lock_tables(client->node);
  const tfrt_peer_t* peer = rank < client->options.host_count
                                ? tfrt_peer_find(client->node, client->hosts[rank].incarnation)
                                : NULL;
  bool may = peer && peer->session && (tfrt_session_features(peer->session) & feature) != 0;
  tfrt_node_unlock(client->node);
  return may;
}

// Calls |builtin| with |question|.
static tfrt_async_value_t* tfrt_client_call_with(tfrt_client_t* client, uint32_t rank,
                                                 const tfrt_client_builtin_t* builtin,
                                                 const tfrt_wire_question_t* question) {
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, client->node->options.allocator);
  tfrt_status_t status = tfrt_wire_question_encode(question, &bytes);
  tfrt_async_value_t* argument =
      status ? tfrt_async_value_create_error_take(status)
             : tfrt_answer_create(TFRT_ANSWER_MESSAGE, tfrt_string_builder_view(&bytes),
                                  client->node->options.host->allocator);
  tfrt_string_builder_deinitialize(&bytes);
  tfrt_async_value_t* result = tfrt_async_value_is_error(argument)
                                   ? tfrt_async_value_retain(argument)
                                   : tfrt_client_ask_with(client, rank, builtin, argument);
  tfrt_async_value_release(argument);
  return result;
}

static tfrt_async_value_t* tfrt_client_ask_message(tfrt_client_t* client, uint32_t rank,
                                                   const char* name,
                                                   const tfrt_wire_question_t* question) {
  const tfrt_client_builtin_t builtin = {TFRT_WIRE_BUILTIN_ASK, name, "!tfrt.message"};
  return tfrt_client_call_with(client, rank, &builtin, question);
}

// Asks the question of |kind|, which came with |feature|, about |what|, a text as plain_form.h
// says: as a message or, a host that doesn't know those, as |plain| with that text.
static tfrt_async_value_t* tfrt_client_question(tfrt_client_t* client, uint32_t rank,
                                                tfrt_wire_features_t feature,
                                                tfrt_wire_question_kind_t kind,
                                                const tfrt_client_builtin_t* plain,
                                                tfrt_string_view_t what) {
  if (tfrt_client_may_ask(client, rank, feature)) {
    tfrt_plain_question_t question;
    tfrt_status_t status = tfrt_plain_question_read(kind, what, &question);
    if (status) return tfrt_async_value_create_error_take(status);
    return tfrt_client_ask_message(client, rank, plain->name, &question.question);
  }
  return what.size > 0 ? tfrt_client_ask_about(client, rank, plain, what)
                       : tfrt_client_ask_with(client, rank, plain, NULL);
}

tfrt_async_value_t* tfrt_client_trace(tfrt_client_t* client, uint32_t rank) {
  static const tfrt_client_builtin_t plain = {TFRT_WIRE_BUILTIN_TRACE, "trace", "!tfrt.trace"};
  return tfrt_client_question(client, rank, TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_TRACE, &plain,
                              tfrt_string_view_of(""));
}

tfrt_async_value_t* tfrt_client_status(tfrt_client_t* client, uint32_t rank) {
  static const tfrt_client_builtin_t plain = {TFRT_WIRE_BUILTIN_STATUS, "status", "!tfrt.string"};
  return tfrt_client_question(client, rank, TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_STATUS, &plain,
                              tfrt_string_view_of(""));
}

// The kinds of parts of an inventory that says which jobs there are, and the most parts of each
// kind of one that shows a few things.
#define TFRT_CLIENT_JOB_KINDS (1u << TFRT_WIRE_PART_JOB)
#define TFRT_CLIENT_FEW_PARTS 64u

tfrt_async_value_t* tfrt_client_inventory(tfrt_client_t* client, uint32_t rank,
                                          tfrt_client_inventory_t which) {
  static const tfrt_client_builtin_t plain = {TFRT_WIRE_BUILTIN_INVENTORY, "inventory",
                                              "!tfrt.string"};
  tfrt_wire_question_t question = {.kind = TFRT_WIRE_ASK_INVENTORY};
  if (which == TFRT_CLIENT_INVENTORY_JOBS) question.inventory.kinds = TFRT_CLIENT_JOB_KINDS;
  if (which == TFRT_CLIENT_INVENTORY_FEW) question.inventory.limit = TFRT_CLIENT_FEW_PARTS;
  return tfrt_client_may_ask(client, rank, TFRT_WIRE_FEATURE_ASK)
             ? tfrt_client_ask_message(client, rank, plain.name, &question)
             : tfrt_client_ask_with(client, rank, &plain, NULL);
}

tfrt_async_value_t* tfrt_client_record(tfrt_client_t* client, uint32_t rank,
                                       tfrt_string_view_t what) {
  static const tfrt_client_builtin_t plain = {TFRT_WIRE_BUILTIN_RECORD, "record", "!tfrt.trace"};
  return tfrt_client_question(client, rank, TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_RECORD, &plain,
                              what);
}

tfrt_async_value_t* tfrt_client_cancel_on(tfrt_client_t* client, uint32_t rank,
                                          tfrt_string_view_t what) {
  static const tfrt_client_builtin_t plain = {TFRT_WIRE_BUILTIN_CANCEL, "cancel", "!tfrt.string"};
  return tfrt_client_question(client, rank, TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_CANCEL, &plain,
                              what);
}

// True if |value| is available and of |form|.
static bool tfrt_client_is_form(tfrt_async_value_t* value, tfrt_answer_form_t form) {
  tfrt_type_id_t type = TFRT_TYPE_NONE;
  tfrt_status_t status = tfrt_answer_type(form, &type);
  bool is_it = !status && tfrt_async_value_resolved(value)->type_id == type;
  tfrt_status_release(status);
  return is_it;
}

tfrt_async_value_t* tfrt_client_lines_take(tfrt_async_value_t* value) {
  if (tfrt_async_value_is_error(value) || !tfrt_client_is_form(value, TFRT_ANSWER_MESSAGE)) {
    return value;
  }
  tfrt_string_builder_t lines;
  tfrt_string_builder_initialize(&lines, tfrt_allocator_system());
  tfrt_status_t status = tfrt_plain_answer_write(tfrt_async_value_string(value), &lines);
  tfrt_async_value_t* result =
      status ? tfrt_async_value_create_error_take(status)
             : tfrt_async_value_create_string(tfrt_string_builder_view(&lines));
  tfrt_string_builder_deinitialize(&lines);
  tfrt_async_value_release(value);
  return result;
}

// --- Others ------------------------------------------------------------------

tfrt_async_value_t* tfrt_client_check_device(tfrt_client_t* client, uint32_t rank,
                                             const char* name) {
  static const tfrt_client_builtin_t builtin = {TFRT_WIRE_BUILTIN_CHECK_DEVICE, "check_device",
                                                "!tfrt.chain"};
  return tfrt_client_ask_about(client, rank, &builtin, tfrt_string_view_of(name));
}

tfrt_async_value_t* tfrt_client_drain(tfrt_client_t* client, uint32_t rank) {
  static const tfrt_client_builtin_t plain = {TFRT_WIRE_BUILTIN_DRAIN, "drain", "!tfrt.string"};
  return tfrt_client_question(client, rank, TFRT_WIRE_FEATURE_FOLLOW, TFRT_WIRE_ASK_DRAIN, &plain,
                              tfrt_string_view_of(""));
}

// --- Detached jobs -----------------------------------------------------------

// The text of a question about |number| of the job |id|.
typedef struct tfrt_client_job_text_s {
  char text[TFRT_CLIENT_JOB_ID_SIZE + 32];
} tfrt_client_job_text_t;

static tfrt_client_job_text_t tfrt_client_job_text(tfrt_string_view_t id, uint64_t number) {
  tfrt_client_job_text_t what;
  snprintf(what.text, sizeof(what.text), "%.*s %" PRIu64,
           (int)(id.size < TFRT_CLIENT_JOB_ID_SIZE ? id.size : TFRT_CLIENT_JOB_ID_SIZE), id.data,
           number);
  return what;
}

tfrt_async_value_t* tfrt_client_follow(tfrt_client_t* client, uint32_t rank, tfrt_string_view_t id,
                                       uint64_t from) {
  static const tfrt_client_builtin_t plain = {TFRT_WIRE_BUILTIN_FOLLOW, "follow", "!tfrt.string"};
  tfrt_client_job_text_t what = tfrt_client_job_text(id, from);
  return tfrt_client_question(client, rank, TFRT_WIRE_FEATURE_FOLLOW, TFRT_WIRE_ASK_FOLLOW, &plain,
                              tfrt_string_view_of(what.text));
}

tfrt_async_value_t* tfrt_client_kept_result(tfrt_client_t* client, uint32_t rank,
                                            tfrt_string_view_t id, uint32_t index) {
  static const tfrt_client_builtin_t builtin = {TFRT_WIRE_BUILTIN_KEPT_RESULT, "kept_result", NULL};
  tfrt_client_job_text_t what = tfrt_client_job_text(id, index);
  if (!tfrt_client_may_ask(client, rank, TFRT_WIRE_FEATURE_FOLLOW)) {
    return tfrt_client_ask_about(client, rank, &builtin, tfrt_string_view_of(what.text));
  }
  tfrt_plain_question_t question;
  tfrt_status_t status = tfrt_plain_question_read(TFRT_WIRE_ASK_KEPT_RESULT,
                                                  tfrt_string_view_of(what.text), &question);
  if (status) return tfrt_async_value_create_error_take(status);
  return tfrt_client_call_with(client, rank, &builtin, &question.question);
}

static tfrt_status_t tfrt_client_read_follow_parts(tfrt_string_view_t answer,
                                                   tfrt_client_print_fn_t on_line, void* self,
                                                   tfrt_client_following_t* out_following) {
  tfrt_wire_follow_part_t follow;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_status_t status = tfrt_following_read(answer, &arena, &follow);
  *out_following =
      (tfrt_client_following_t){.is_starting = follow.state == TFRT_WIRE_DETACHED_STARTING,
                                .has_ended = follow.state == TFRT_WIRE_DETACHED_ENDED,
                                .result_count = follow.results,
                                .from = follow.from,
                                .next = follow.next,
                                .has_more = follow.has_more,
                                .is_loss = follow.is_loss};
  snprintf(out_following->function, sizeof(out_following->function), "%.*s",
           TFRT_STRING_VIEW_ARGUMENTS(follow.function));
  tfrt_arena_deinitialize(&arena);
  return status ? status : tfrt_following_read_lines(answer, on_line, self);
}

tfrt_status_t tfrt_client_read_following(tfrt_async_value_t* value, tfrt_client_print_fn_t on_line,
                                         void* self, tfrt_client_following_t* out_following) {
  tfrt_string_view_t answer = tfrt_async_value_string(value);
  if (tfrt_client_is_form(value, TFRT_ANSWER_MESSAGE)) {
    return tfrt_client_read_follow_parts(answer, on_line, self, out_following);
  }
  *out_following = (tfrt_client_following_t){0};
  tfrt_string_builder_t parts;
  tfrt_string_builder_initialize(&parts, tfrt_allocator_system());
  tfrt_status_t status = tfrt_plain_following_read(answer, &parts);
  if (!status) {
    status = tfrt_client_read_follow_parts(tfrt_string_builder_view(&parts), on_line, self,
                                           out_following);
  }
  tfrt_string_builder_deinitialize(&parts);
  return status;
}

void tfrt_client_job_id(tfrt_client_t* client, char out_id[TFRT_CLIENT_JOB_ID_SIZE]) {
  tfrt_node_lock_tables(client->node);
  out_id[0] = '\0';
  for (size_t i = 0; client->job && i < TFRT_WIRE_JOB_ID_SIZE; ++i) {
    snprintf(out_id + 2 * i, TFRT_CLIENT_JOB_ID_SIZE - 2 * i, "%02x", client->job->identity.id[i]);
  }
  tfrt_node_unlock(client->node);
}

tfrt_status_t tfrt_client_read_trace(tfrt_async_value_t* value, tfrt_trace_t* trace,
                                     int64_t* out_clock_ns, uint64_t* out_dropped) {
  tfrt_string_view_t bytes = tfrt_async_value_string(value);
  if (tfrt_client_is_form(value, TFRT_ANSWER_MESSAGE)) {
    return tfrt_tracing_read(bytes, trace, out_clock_ns, out_dropped);
  }
  if (tfrt_client_is_form(value, TFRT_ANSWER_TRACE)) {
    return tfrt_plain_trace_read(bytes, trace, out_clock_ns, out_dropped);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a %s is no trace",
                            tfrt_type_get(tfrt_async_value_resolved(value)->type_id)->name);
}
