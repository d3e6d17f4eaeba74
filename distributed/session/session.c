// SPDX-License-Identifier: Apache-2.0
#include "distributed/session/session.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "distributed/session/session_internal.h"
#include "host_runtime/base/number_text.h"

// --- Life --------------------------------------------------------------------

tfrt_session_t* tfrt_session_make(tfrt_session_manager_t* manager, tfrt_session_peer_t* peer,
                                  tfrt_string_view_t address, uint32_t number) {
  tfrt_session_t* session = tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*session));
  if (!session) return NULL;
  tfrt_ref_count_initialize(&session->ref_count);
  session->manager = manager;
  session->number = number;
  session->label.rank = TFRT_WIRE_NO_RANK;
  session->next_want = 1;
  session->credit.granted_calls = manager->options.first_call_limit;
  session->credit.granted_wants = manager->options.first_want_limit;
  session->terms.limits =
      tfrt_wire_limits_in_force(&manager->options.limits, &manager->options.limits);
  session->liveness.round_trip_ns = -1;
  int64_t now_ns = tfrt_session_now_ns(manager);
  session->liveness.heard_ns = session->liveness.ticked_ns = now_ns;
  session->liveness.judge_ns = now_ns;
  session->schedule.beat_ns = session->schedule.redial_ns = TFRT_TIME_INFINITE;
  session->schedule.flush_ns = session->schedule.ack_ns = TFRT_TIME_INFINITE;
  session->schedule.wake_ns = TFRT_TIME_INFINITE;
  tfrt_session_copy_text(session->label.address, sizeof(session->label.address), address);
  tfrt_send_queue_initialize(&session->queue, 1, manager->allocator);
  if (peer) tfrt_session_bind(session, peer);
  tfrt_list_push_back(&manager->sessions, &session->link_in_manager);
  ++manager->session_count;
  tfrt_session_schedule(session);
  return tfrt_session_retain(session);
}

void tfrt_session_bind(tfrt_session_t* session, tfrt_session_peer_t* peer) {
  session->peer = peer;
  session->incarnation = peer->incarnation;
  session->first_call = peer->next_call;
  session->queue.sequenced_call = session->queue.written_call = peer->next_call - 1;
  if (peer->last_session < session->number) peer->last_session = session->number;
  peer->session = session;
}

tfrt_session_t* tfrt_session_retain(tfrt_session_t* session) {
  tfrt_ref_count_increment(&session->ref_count);
  return session;
}

void tfrt_session_release(tfrt_session_t* session) {
  if (!session || !tfrt_ref_count_decrement(&session->ref_count)) return;
  tfrt_send_queue_deinitialize(&session->queue);
  tfrt_status_release(session->dial.failure);
  tfrt_allocator_free(session->manager->allocator, session, sizeof(*session));
}

void tfrt_session_on_broken(tfrt_session_t* session) {
  if (session->state != TFRT_SESSION_OPEN) return;
  session->state = TFRT_SESSION_BROKEN;
  session->schedule.beat_ns = session->schedule.flush_ns = session->schedule.ack_ns =
      TFRT_TIME_INFINITE;
  session->schedule.is_beat_due = session->schedule.is_flush_due = false;
  tfrt_session_request_dial(session);
  tfrt_session_schedule(session);
}

// --- Death -------------------------------------------------------------------

tfrt_status_t tfrt_session_error(const tfrt_session_t* session, tfrt_status_code_t code,
                                 const char* format, ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(what, sizeof(what), format, arguments);
  va_end(arguments);
  char rank[16] = "";
  if (session->label.rank != TFRT_WIRE_NO_RANK) {
    snprintf(rank, sizeof(rank), " %" PRIu32, session->label.rank);
  }
  char name[TFRT_WIRE_MAX_NAME_SIZE + TFRT_TRANSPORT_ADDRESS_SIZE + 16];
  bool has_both = session->label.name[0] != '\0' && session->label.address[0] != '\0' &&
                  strcmp(session->label.name, session->label.address) != 0;
  if (has_both) {
    snprintf(name, sizeof(name), "%s, %s", session->label.name, session->label.address);
  } else if (session->label.name[0] != '\0' || session->label.address[0] != '\0') {
    snprintf(name, sizeof(name), "%s",
             session->label.name[0] ? session->label.name : session->label.address);
  } else {
    snprintf(name, sizeof(name), "%016" PRIx64, session->incarnation);
  }
  char message[sizeof(what) + sizeof(name) + sizeof(rank) + 16];
  snprintf(message, sizeof(message), "host%s (%s) %s", rank, name, what);
  const tfrt_status_fields_t fields = {
      .code = code,
      .message = message,
      .origin = {.rank = session->label.rank, .incarnation = session->incarnation},
      .root_key = session->incarnation,
      .may_have_run = true,
  };
  return tfrt_status_create_from_fields(&fields);
}

static void forget_peer(tfrt_session_t* session) {
  tfrt_session_peer_t* peer = session->peer;
  if (!peer) return;
  session->peer = NULL;
  peer->session = NULL;
  if (peer->last_session < session->number) peer->last_session = session->number;
  tfrt_list_remove(&peer->link);
  tfrt_list_push_back(&session->manager->peer_list, &peer->link);
}

static void take_death(tfrt_session_t* session, tfrt_session_death_t death, tfrt_status_t status,
                       bool finishes) {
  tfrt_session_manager_t* manager = session->manager;
  tfrt_session_retain(session);
  session->state = TFRT_SESSION_DEAD;
  session->schedule.is_beat_due = session->schedule.is_flush_due = false;
  if (session->dial.link) tfrt_session_link_drop(session->dial.link, false);
  if (session->link && finishes) {
    tfrt_session_link_finish(session->link);
  } else if (session->link) {
    tfrt_session_link_drop(session->link, death == TFRT_SESSION_DEATH_GOODBYE);
  }
  if (!session->link) tfrt_send_queue_drop_unwritten(&session->queue, true);
  forget_peer(session);
  tfrt_list_remove(&session->link_in_manager);
  --manager->session_count;
  ++manager->counters.deaths;
  tfrt_session_schedule(session);
  if (manager->session_count == 0) tfrt_session_manager_stop_flushing(manager);
  manager->handler->vtable->on_dead(manager->handler, session, death, status);
  tfrt_status_release(status);
  tfrt_session_release(session);  // the manager's
  tfrt_session_release(session);
}

void tfrt_session_take_death(tfrt_session_t* session, tfrt_session_death_t death,
                             tfrt_status_t status) {
  if (session->state == TFRT_SESSION_DEAD) {
    tfrt_status_release(status);
    return;
  }
  take_death(session, death, status, false);
}

static tfrt_status_t append_goodbye(tfrt_session_t* session, tfrt_wire_goodbye_reason_t reason,
                                    tfrt_string_view_t message) {
  tfrt_session_manager_t* manager = session->manager;
  if (message.size > TFRT_WIRE_MAX_MESSAGE_SIZE) message.size = TFRT_WIRE_MAX_MESSAGE_SIZE;
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_GOODBYE,
                           .goodbye = {.reason = reason, .message = message}};
  tfrt_string_builder_clear(&manager->body);
  tfrt_status_t status = tfrt_wire_body_encode(&body, &manager->body);
  if (tfrt_status_code(status) == TFRT_STATUS_INVALID_ARGUMENT) {
    // The message is no text, or was cut in the middle of a character.
    tfrt_status_release(status);
    body.goodbye.message.size = 0;
    status = tfrt_wire_body_encode(&body, &manager->body);
  }
  TFRT_RETURN_IF_ERROR(status);
  const tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_GOODBYE,
                                      .deadline_ns = TFRT_TIME_INFINITE,
                                      .body = tfrt_string_builder_view(&manager->body)};
  return tfrt_send_queue_append(&session->queue, &frame, tfrt_session_now_ns(manager));
}

void tfrt_session_take_death_with_goodbye(tfrt_session_t* session, tfrt_session_death_t death,
                                          tfrt_status_t status, tfrt_wire_goodbye_reason_t reason,
                                          tfrt_string_view_t message) {
  if (session->state == TFRT_SESSION_DEAD) {
    tfrt_status_release(status);
    return;
  }
  bool finishes = session->state == TFRT_SESSION_OPEN && session->link;
  if (finishes) {
    // After its funeral nothing of the session may begin to run: only an orderly end lets
    // out what was appended before.
    tfrt_send_queue_drop_unwritten(&session->queue, reason != TFRT_WIRE_GOODBYE_SHUTDOWN);
    tfrt_status_t goodbye = append_goodbye(session, reason, message);
    finishes = tfrt_status_is_ok(goodbye);
    tfrt_status_release(goodbye);
  }
  take_death(session, death, status, finishes);
}

void tfrt_session_close(tfrt_session_t* session, tfrt_wire_goodbye_reason_t reason,
                        tfrt_string_view_t message) {
  if (session->state == TFRT_SESSION_DEAD) return;
  if (reason == TFRT_WIRE_GOODBYE_DRAIN) {
    // Without memory for it the peer learns by our refusals.
    tfrt_status_release(append_goodbye(session, reason, message));
    if (session->link) tfrt_session_link_request_work(session->link);
    return;
  }
  bool is_protocol = reason == TFRT_WIRE_GOODBYE_PROTOCOL;
  tfrt_status_t status =
      is_protocol
          ? tfrt_session_error(session, TFRT_STATUS_ABORTED, "broke the protocol: %.*s",
                               TFRT_STRING_VIEW_ARGUMENTS(message))
          : tfrt_session_error(session, TFRT_STATUS_UNAVAILABLE, "is no longer connected: %.*s",
                               TFRT_STRING_VIEW_ARGUMENTS(message));
  tfrt_session_take_death_with_goodbye(
      session, is_protocol ? TFRT_SESSION_DEATH_PROTOCOL : TFRT_SESSION_DEATH_CLOSED, status,
      reason, message);
}

// --- Questions ---------------------------------------------------------------

uint64_t tfrt_session_next_call(const tfrt_session_t* session) {
  return session->peer ? session->peer->next_call : 0;
}

uint64_t tfrt_session_next_want(const tfrt_session_t* session) { return session->next_want; }

bool tfrt_session_has_credit(const tfrt_session_t* session, tfrt_wire_frame_kind_t kind) {
  const tfrt_send_queue_t* queue = &session->queue;
  if (kind == TFRT_WIRE_FRAME_WANT) {
    return tfrt_list_is_empty(&queue->gates[TFRT_SEND_GATE_WANTS]) &&
           queue->want_count < queue->want_limit;
  }
  // The count includes calls that need no credit, so it may be above the limit.
  return tfrt_list_is_empty(&queue->gates[TFRT_SEND_GATE_CALLS]) &&
         queue->call_limit > queue->call_count + queue->first_call_limit / 2;
}

bool tfrt_session_call_was_written(const tfrt_session_t* session, uint64_t call) {
  return call >= session->first_call && call <= session->queue.written_call;
}

tfrt_session_state_t tfrt_session_state(const tfrt_session_t* session) { return session->state; }

uint64_t tfrt_session_peer_incarnation(const tfrt_session_t* session) {
  return session->incarnation;
}

uint32_t tfrt_session_number(const tfrt_session_t* session) { return session->number; }

tfrt_string_view_t tfrt_session_address(const tfrt_session_t* session) {
  return tfrt_string_view_of(session->label.address);
}

tfrt_string_view_t tfrt_session_peer_name(const tfrt_session_t* session) {
  return tfrt_string_view_of(session->label.name);
}

tfrt_wire_features_t tfrt_session_features(const tfrt_session_t* session) {
  return session->terms.features;
}

const tfrt_wire_limits_t* tfrt_session_limits(const tfrt_session_t* session) {
  return &session->terms.limits;
}

void tfrt_session_set_peer_rank(tfrt_session_t* session, uint32_t rank) {
  session->label.rank = rank;
}

tfrt_session_description_t tfrt_session_describe(const tfrt_session_t* session) {
  return (tfrt_session_description_t){.version = session->terms.version,
                                      .peer_next_call = session->peer_next_call,
                                      .heartbeat = session->liveness.beat,
                                      .round_trip_ns = session->liveness.round_trip_ns,
                                      .frames_sent = session->queue.written_seq,
                                      .frames_received = session->receipt.sequence,
                                      .bytes_sent = session->bytes.sent,
                                      .bytes_received = session->bytes.received};
}

void** tfrt_session_user_data(tfrt_session_t* session) { return &session->user_data; }

const char* tfrt_session_state_name(tfrt_session_state_t state) {
  static const char* const names[] = {"CONNECTING", "OPEN", "BROKEN", "DEAD"};
  return (size_t)state < TFRT_ARRAY_SIZE(names) ? names[state] : "UNKNOWN";
}

const char* tfrt_session_death_name(tfrt_session_death_t death) {
  static const char* const names[] = {"SILENCE",  "GONE",    "REJECTED", "VERSION", "BURIED",
                                      "PROTOCOL", "GOODBYE", "CLOSED",   "STALLED", "REPLACED"};
  return (size_t)death < TFRT_ARRAY_SIZE(names) ? names[death] : "UNKNOWN";
}
