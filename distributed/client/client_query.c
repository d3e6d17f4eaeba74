// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "distributed/call/outgoing_call.h"
#include "distributed/client/client_record.h"
#include "distributed/service/answer.h"
#include "distributed/service/following.h"
#include "distributed/service/plain_form.h"
#include "distributed/service/tracing.h"
#include "host_runtime/async/builtin_types.h"

// Sets the job (+1) and callee of |request|. With the lock held.
static tfrt_status_t client_find_host(const tfrt_client_t* client, uint32_t rank,
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

// The built-in function that answers one kind of question: one value of |type| (NULL: of any) is
// its result. A host that has |feature| reads the question as a message of |kind|; one that
// doesn't, or a question without a feature, gets a text.
typedef struct tfrt_client_builtin_s {
  uint32_t function;
  const char* name;
  const char* type;
  tfrt_wire_features_t feature;
  tfrt_wire_question_kind_t kind;
} tfrt_client_builtin_t;

static const tfrt_client_builtin_t tfrt_client_builtins[] = {
    [TFRT_CLIENT_ASK_TRACE] = {TFRT_WIRE_BUILTIN_TRACE, "trace", "!tfrt.trace",
                               TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_TRACE},
    [TFRT_CLIENT_ASK_RECORD] = {TFRT_WIRE_BUILTIN_RECORD, "record", "!tfrt.trace",
                                TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_RECORD},
    [TFRT_CLIENT_ASK_STATUS] = {TFRT_WIRE_BUILTIN_STATUS, "status", "!tfrt.string",
                                TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_STATUS},
    [TFRT_CLIENT_ASK_INVENTORY] = {TFRT_WIRE_BUILTIN_INVENTORY, "inventory", "!tfrt.string",
                                   TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_INVENTORY},
    [TFRT_CLIENT_ASK_CANCEL] = {TFRT_WIRE_BUILTIN_CANCEL, "cancel", "!tfrt.string",
                                TFRT_WIRE_FEATURE_ASK, TFRT_WIRE_ASK_CANCEL},
    [TFRT_CLIENT_ASK_DRAIN] = {TFRT_WIRE_BUILTIN_DRAIN, "drain", "!tfrt.string",
                               TFRT_WIRE_FEATURE_FOLLOW, TFRT_WIRE_ASK_DRAIN},
    [TFRT_CLIENT_ASK_FOLLOW] = {TFRT_WIRE_BUILTIN_FOLLOW, "follow", "!tfrt.string",
                                TFRT_WIRE_FEATURE_FOLLOW, TFRT_WIRE_ASK_FOLLOW},
    [TFRT_CLIENT_ASK_KEPT_RESULT] = {TFRT_WIRE_BUILTIN_KEPT_RESULT, "kept_result", NULL,
                                     TFRT_WIRE_FEATURE_FOLLOW, TFRT_WIRE_ASK_KEPT_RESULT},
    [TFRT_CLIENT_ASK_DEVICE] = {.function = TFRT_WIRE_BUILTIN_CHECK_DEVICE,
                                .name = "check_device",
                                .type = "!tfrt.chain"},
};

// The result (+1) of |builtin| with |argument| (+0, NULL: none) on host |rank|.
static tfrt_async_value_t* client_call(tfrt_client_t* client, uint32_t rank,
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
  tfrt_status_t status = client_find_host(client, rank, &request);
  tfrt_node_unlock(client->node);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_outgoing_call_start(client->node, &request);
  tfrt_node_lock_tables(client->node);
  tfrt_job_release(request.job);
  tfrt_node_unlock(client->node);
  return result;
}

// The same with the text |what| as the argument.
static tfrt_async_value_t* client_call_with_text(tfrt_client_t* client, uint32_t rank,
                                                 const tfrt_client_builtin_t* builtin,
                                                 tfrt_string_view_t what) {
  tfrt_async_value_t* argument = tfrt_async_value_create_string(what);
  tfrt_async_value_t* result = client_call(client, rank, builtin, argument);
  tfrt_async_value_release(argument);
  return result;
}

// --- Questions ---------------------------------------------------------------

// True if host |rank| has the feature |feature|, which lets it read questions as messages.
static bool client_may_ask(tfrt_client_t* client, uint32_t rank, tfrt_wire_features_t feature) {
  tfrt_node_lock_tables(client->node);
  const tfrt_peer_t* peer = rank < client->options.host_count
                                ? tfrt_peer_find(client->node, client->hosts[rank].incarnation)
                                : NULL;
  bool may = peer && peer->session && (tfrt_session_features(peer->session) & feature) != 0;
  tfrt_node_unlock(client->node);
  return may;
}

// Calls |builtin| with |question|: the question BUILTIN_ASK, unless its answer is any value.
static tfrt_async_value_t* client_call_with_message(tfrt_client_t* client, uint32_t rank,
                                                    const tfrt_client_builtin_t* builtin,
                                                    const tfrt_wire_question_t* question) {
  tfrt_client_builtin_t called = *builtin;
  if (called.type) {
    called.function = TFRT_WIRE_BUILTIN_ASK;
    called.type = "!tfrt.message";
  }
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
                                   : client_call(client, rank, &called, argument);
  tfrt_async_value_release(argument);
  return result;
}

// The kinds of parts of an inventory that says which jobs there are, and the most parts of each
// kind of one that shows a few things.
#define TFRT_CLIENT_JOB_KINDS (1u << TFRT_WIRE_PART_JOB)
#define TFRT_CLIENT_FEW_PARTS 64u

// Room for the text of a question about a number of a job.
#define TFRT_CLIENT_JOB_TEXT_SIZE (TFRT_CLIENT_JOB_ID_SIZE + 32)

// |question| as the text that plain_form.h describes, which may be in |room|.
static tfrt_string_view_t client_question_text(const tfrt_client_question_t* question,
                                               char room[TFRT_CLIENT_JOB_TEXT_SIZE]) {
  bool is_of_job =
      question->kind == TFRT_CLIENT_ASK_FOLLOW || question->kind == TFRT_CLIENT_ASK_KEPT_RESULT;
  if (!is_of_job) return question->about;
  tfrt_string_view_t id = question->about;
  snprintf(room, TFRT_CLIENT_JOB_TEXT_SIZE, "%.*s %" PRIu64,
           (int)(id.size < TFRT_CLIENT_JOB_ID_SIZE ? id.size : TFRT_CLIENT_JOB_ID_SIZE), id.data,
           question->number);
  return tfrt_string_view_of(room);
}

tfrt_async_value_t* tfrt_client_ask(tfrt_client_t* client, uint32_t rank,
                                    const tfrt_client_question_t* question) {
  const tfrt_client_builtin_t* builtin = &tfrt_client_builtins[question->kind];
  char room[TFRT_CLIENT_JOB_TEXT_SIZE];
  tfrt_string_view_t text = client_question_text(question, room);
  if (!client_may_ask(client, rank, builtin->feature)) {
    return text.size > 0 ? client_call_with_text(client, rank, builtin, text)
                         : client_call(client, rank, builtin, NULL);
  }
  tfrt_plain_question_t message;
  tfrt_status_t status = tfrt_plain_question_read(builtin->kind, text, &message);
  if (status) return tfrt_async_value_create_error_take(status);
  if (question->kind == TFRT_CLIENT_ASK_INVENTORY) {
    tfrt_wire_ask_inventory_t* inventory = &message.question.inventory;
    inventory->skip = question->number;
    if (question->part == TFRT_CLIENT_INVENTORY_JOBS) inventory->kinds = TFRT_CLIENT_JOB_KINDS;
    if (question->part == TFRT_CLIENT_INVENTORY_FEW) inventory->limit = TFRT_CLIENT_FEW_PARTS;
  }
  return client_call_with_message(client, rank, builtin, &message.question);
}

// --- Answers -----------------------------------------------------------------

// True if |value| is available and of |form|.
static bool client_is_form(tfrt_async_value_t* value, tfrt_answer_form_t form) {
  tfrt_type_id_t type = TFRT_TYPE_NONE;
  tfrt_status_t status = tfrt_answer_type(form, &type);
  bool is_it = !status && tfrt_async_value_resolved(value)->type_id == type;
  tfrt_status_release(status);
  return is_it;
}

tfrt_async_value_t* tfrt_client_lines_take(tfrt_async_value_t* value) {
  if (tfrt_async_value_is_error(value) || !client_is_form(value, TFRT_ANSWER_MESSAGE)) {
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

// Where the state and the lines of an answer go.
typedef struct tfrt_client_follower_s {
  tfrt_client_following_t* following;
  tfrt_client_print_fn_t on_line;
  void* self;
} tfrt_client_follower_t;

static void client_take_state(void* self, const tfrt_wire_follow_part_t* follow) {
  const tfrt_client_follower_t* follower = self;
  *follower->following =
      (tfrt_client_following_t){.is_starting = follow->state == TFRT_WIRE_DETACHED_STARTING,
                                .has_ended = follow->state == TFRT_WIRE_DETACHED_ENDED,
                                .result_count = follow->results,
                                .from = follow->from,
                                .next = follow->next,
                                .has_more = follow->has_more,
                                .is_loss = follow->is_loss};
  snprintf(follower->following->function, sizeof(follower->following->function), "%.*s",
           TFRT_STRING_VIEW_ARGUMENTS(follow->function));
}

static void client_take_line(void* self, uint32_t rank, tfrt_string_view_t text) {
  const tfrt_client_follower_t* follower = self;
  follower->on_line(follower->self, rank, text);
}

tfrt_status_t tfrt_client_read_following(tfrt_async_value_t* value, tfrt_client_print_fn_t on_line,
                                         void* self, tfrt_client_following_t* out_following) {
  *out_following = (tfrt_client_following_t){0};
  tfrt_client_follower_t follower = {out_following, on_line, self};
  const tfrt_following_reader_t reader = {&follower, client_take_state, client_take_line};
  bool is_message = client_is_form(value, TFRT_ANSWER_MESSAGE);
  return tfrt_following_read(is_message ? TFRT_ANSWER_MESSAGE : TFRT_ANSWER_TEXT,
                             tfrt_async_value_string(value), &reader);
}

tfrt_status_t tfrt_client_read_trace(tfrt_async_value_t* value, tfrt_trace_t* trace,
                                     int64_t* out_clock_ns, uint64_t* out_dropped) {
  bool is_message = client_is_form(value, TFRT_ANSWER_MESSAGE);
  if (is_message || client_is_form(value, TFRT_ANSWER_TRACE)) {
    return tfrt_tracing_read(is_message ? TFRT_ANSWER_MESSAGE : TFRT_ANSWER_TRACE,
                             tfrt_async_value_string(value), trace, out_clock_ns, out_dropped);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a %s is no trace",
                            tfrt_type_get(tfrt_async_value_resolved(value)->type_id)->name);
}

// --- What the client knows itself --------------------------------------------

void tfrt_client_job_id(tfrt_client_t* client, char out_id[TFRT_CLIENT_JOB_ID_SIZE]) {
  tfrt_node_lock_tables(client->node);
  out_id[0] = '\0';
  for (size_t i = 0; client->job && i < TFRT_WIRE_JOB_ID_SIZE; ++i) {
    snprintf(out_id + 2 * i, TFRT_CLIENT_JOB_ID_SIZE - 2 * i, "%02x", client->job->identity.id[i]);
  }
  tfrt_node_unlock(client->node);
}

bool tfrt_client_has_lost(tfrt_client_t* client, tfrt_status_t status) {
  if (!status) return false;
  uint64_t root_key = tfrt_status_fields(status)->root_key;
  tfrt_node_lock_tables(client->node);
  bool found = root_key == client->node->incarnation;
  for (uint32_t i = 0; i < client->options.host_count && !found; ++i) {
    uint64_t incarnation = client->hosts[i].incarnation;
    found = incarnation != 0 && root_key == incarnation;
  }
  tfrt_node_unlock(client->node);
  return found;
}
