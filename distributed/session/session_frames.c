// SPDX-License-Identifier: Apache-2.0
#include "distributed/session/session.h"

#include <inttypes.h>
#include <stdio.h>

#include "distributed/session/session_internal.h"

// --- Frames that wait for company -------------------------------------------

// Acknowledgements, credit and frames that nobody waits for may wait for company: another frame
// whose batch takes them along. If none comes within a delay, they go in a batch of their own.
//
// All sessions share one timer. On a host that calls many others, each session has something to
// flush a hundred times a second. Nearly always a message has already taken it along. A timer per
// session would wake a thread as often, for nothing.
//
// An acknowledgement may wait longer than the rest: it only frees the sender's copies, and one
// acknowledgement covers many frames. Where values are only pushed, as along a chain of calls,
// nothing else goes back: each acknowledgement is a packet of its own.

static void run_flush_timer(tfrt_timer_t* timer);

// Has the timer run at |due_ns|, or before.
static void start_flush_timer(tfrt_session_manager_t* manager, int64_t due_ns) {
  if (!manager->is_flush_timer_waiting) {
    manager->is_flush_timer_waiting = true;
    ++manager->busy_count;
  } else {
    if (manager->flush_timer_ns <= due_ns) return;
    // One that runs right now waits for the lock, and then sees by itself what is due.
    if (!tfrt_timer_cancel(manager->timers, &manager->flush_timer)) return;
  }
  manager->flush_timer_ns = due_ns;
  tfrt_timer_start(manager->timers, &manager->flush_timer, due_ns, run_flush_timer);
}

static void note_flush_timer_done(tfrt_session_manager_t* manager) {
  manager->is_flush_timer_waiting = false;
  --manager->busy_count;
  tfrt_session_manager_note_less(manager);
}

// Sends the frames that wait for company with the session's next batch, which is due now.
static void flush(tfrt_session_t* session) {
  session->schedule.flush_ns = session->schedule.ack_ns = TFRT_TIME_INFINITE;
  session->schedule.is_flush_due = true;
  if (session->link) tfrt_session_link_request_work(session->link);
}

// Flushes each session that is due within half of the shorter delay. So no frame waits longer than
// its delay, and the timer runs at most twice in the shorter delay.
static void run_flush_timer(tfrt_timer_t* timer) {
  tfrt_session_manager_t* manager = TFRT_CONTAINER_OF(timer, tfrt_session_manager_t, flush_timer);
  tfrt_node_lock_lock(manager->lock);
  int64_t soon_ns =
      tfrt_deadline_after(tfrt_session_now_ns(manager), manager->options.company_delay_ns / 2);
  int64_t next_ns = TFRT_TIME_INFINITE;
  tfrt_list_link_t* end = &manager->sessions;
  for (tfrt_list_link_t* l = end->next; l != end; l = l->next) {
    tfrt_session_t* session = TFRT_CONTAINER_OF(l, tfrt_session_t, link_in_manager);
    const int64_t due_ns = session->schedule.flush_ns < session->schedule.ack_ns
                               ? session->schedule.flush_ns
                               : session->schedule.ack_ns;
    if (due_ns <= soon_ns) {
      flush(session);
    } else if (due_ns < next_ns) {
      next_ns = due_ns;
    }
  }
  note_flush_timer_done(manager);
  if (next_ns != TFRT_TIME_INFINITE) start_flush_timer(manager, next_ns);
  tfrt_node_lock_unlock_and_run(manager->lock);
}

// Sets |*due_ns|, one of the times of |session|, unless it is set.
static void request_at(tfrt_session_t* session, int64_t delay_ns, int64_t* due_ns) {
  if (session->state != TFRT_SESSION_OPEN || *due_ns != TFRT_TIME_INFINITE) return;
  tfrt_session_manager_t* manager = session->manager;
  *due_ns = tfrt_deadline_after(tfrt_session_now_ns(manager), delay_ns);
  start_flush_timer(manager, *due_ns);
}

static void request_flush(tfrt_session_t* session) {
  request_at(session, session->manager->options.company_delay_ns, &session->schedule.flush_ns);
}

// Writes a batch within the acknowledgement delay; as request_flush(), whose delay is
// shorter.
static void request_ack(tfrt_session_t* session) {
  request_at(session, session->manager->options.ack_delay_ns, &session->schedule.ack_ns);
}

void tfrt_session_flush(tfrt_session_t* session, tfrt_session_flush_t which) {
  if (which == TFRT_SESSION_FLUSH_SOON) {
    request_flush(session);
  } else if (tfrt_send_queue_has_unwritten(&session->queue)) {
    flush(session);
  }
}

void tfrt_session_manager_stop_flushing(tfrt_session_manager_t* manager) {
  if (!manager->is_flush_timer_waiting) return;
  // If it runs right now, it waits for the lock and ends by itself.
  if (tfrt_timer_cancel(manager->timers, &manager->flush_timer)) note_flush_timer_done(manager);
}

// --- Frames out --------------------------------------------------------------

static tfrt_status_t check_frame(const tfrt_session_t* session, const tfrt_session_frame_t* frame) {
  if (session->state == TFRT_SESSION_DEAD) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the session is dead");
  }
  bool is_call = frame->kind == TFRT_WIRE_FRAME_INVOKE || frame->kind == TFRT_WIRE_FRAME_VOID;
  bool is_want = frame->kind == TFRT_WIRE_FRAME_WANT;
  bool is_own = frame->kind >= TFRT_WIRE_FRAME_HELLO && frame->kind <= TFRT_WIRE_FRAME_GOODBYE;
  if (is_own || !tfrt_wire_frame_kind_is_known(frame->kind)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a frame of kind %" PRIu32 " can't be appended", frame->kind);
  }
  uint64_t call = is_call ? tfrt_session_next_call(session) : 0;
  if (frame->call != call || (is_call && call == 0)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s with call number %" PRIu64 ", not %" PRIu64,
                              tfrt_wire_frame_kind_name(frame->kind), frame->call, call);
  }
  if (frame->want != (is_want ? session->next_want : 0)) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT, "%s with want number %" PRIu64 ", not %" PRIu64,
        tfrt_wire_frame_kind_name(frame->kind), frame->want, is_want ? session->next_want : 0);
  }
  uint64_t next_call = tfrt_session_next_call(session);
  if ((frame->after_call > 0 && frame->after_call >= next_call) ||
      (frame->after_want > 0 && frame->after_want >= session->next_want)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a frame can't come after a call or want that has no number yet");
  }
  bool waits = frame->call > 0 || frame->want > 0 || frame->after_call > 0 || frame->after_want > 0;
  if (frame->seal && waits) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a draft can't wait for others");
  }
  if (frame->body.size > tfrt_session_batch_room(session)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a body of %zu bytes is above the limit of %zu", frame->body.size,
                              tfrt_session_batch_room(session));
  }
  return NULL;
}

// Appends |frame|, whose body is made at once, as the session's number is final.
static tfrt_status_t append_sealed(tfrt_session_t* session, const tfrt_session_frame_t* frame) {
  tfrt_string_builder_t* body = &session->manager->body;
  tfrt_string_builder_clear(body);
  TFRT_RETURN_IF_ERROR(frame->seal(session, frame->body, body));
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(body));
  tfrt_session_frame_t sealed = *frame;
  sealed.seal = NULL;
  sealed.body = tfrt_string_builder_view(body);
  return tfrt_session_append(session, &sealed);
}

tfrt_status_t tfrt_session_append(tfrt_session_t* session, const tfrt_session_frame_t* frame) {
  TFRT_RETURN_IF_ERROR(check_frame(session, frame));
  if (frame->seal && session->was_opened) return append_sealed(session, frame);
  // A frame that waits for no credit needs no look at the clock.
  bool may_wait = frame->call > 0 || frame->want > 0;
  int64_t now_ns = may_wait ? tfrt_session_now_ns(session->manager) : 0;
  TFRT_RETURN_IF_ERROR(tfrt_send_queue_append(&session->queue, frame, now_ns));
  if (frame->call > 0) ++session->peer->next_call;
  if (frame->want > 0) ++session->next_want;
  if (frame->can_wait && frame->can_wait_long) {
    request_ack(session);
  } else if (frame->can_wait) {
    request_flush(session);
  }
  if (session->link) tfrt_session_link_request_work(session->link);
  if (frame->call > 0 || frame->want > 0) tfrt_session_schedule(session);
  return NULL;
}

tfrt_status_t tfrt_session_replace_by_void(tfrt_session_t* session, uint64_t call,
                                           tfrt_string_view_t body, bool* out_replaced) {
  *out_replaced = false;
  if (session->state == TFRT_SESSION_DEAD) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_send_queue_replace_by_void(&session->queue, call, body, out_replaced));
  if (session->link) tfrt_session_link_request_work(session->link);
  return NULL;
}

// True if |granted| exceeds |told|, the credit that the peer knows of, so far that the peer may
// soon run out. |first| is the first grant.
static bool is_missed(uint64_t granted, uint64_t told, uint64_t first) {
  return granted - told > first / 8;
}

// Sees to it that the peer hears of its credit: at once if it may soon run out.
static void announce_credit(tfrt_session_t* session) {
  const tfrt_session_credit_t* credit = &session->credit;
  if (credit->granted_calls == credit->told_calls && credit->granted_wants == credit->told_wants) {
    return;
  }
  const tfrt_session_options_t* options = &session->manager->options;
  if (is_missed(credit->granted_calls, credit->told_calls, options->first_call_limit) ||
      is_missed(credit->granted_wants, credit->told_wants, options->first_want_limit)) {
    request_flush(session);
  } else {
    request_ack(session);
  }
}

void tfrt_session_tell_credit(tfrt_session_t* session) {
  tfrt_session_credit_t* credit = &session->credit;
  bool is_first = credit->told_calls == 0 && credit->told_wants == 0;
  if (!is_first && !tfrt_send_queue_has_room(&session->queue)) return;
  credit->told_calls = credit->granted_calls;
  credit->told_wants = credit->granted_wants;
}

void tfrt_session_grant(tfrt_session_t* session, uint64_t calls, uint64_t wants) {
  if (calls <= session->credit.granted_calls && wants <= session->credit.granted_wants) return;
  if (calls > session->credit.granted_calls) session->credit.granted_calls = calls;
  if (wants > session->credit.granted_wants) session->credit.granted_wants = wants;
  announce_credit(session);
}

void tfrt_session_return_credit(tfrt_session_t* session, uint64_t calls, uint64_t wants) {
  tfrt_session_grant(session, session->credit.granted_calls + calls,
                     session->credit.granted_wants + wants);
}

// --- Frames in ---------------------------------------------------------------

// |error| (+1, consumed) with the peer's own |words| for its cause; they may be none.
static tfrt_status_t take_with_words(tfrt_status_t error, tfrt_string_view_t words) {
  char text[TFRT_STATUS_MAX_TEXT_SIZE];
  snprintf(text, sizeof(text), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(words));
  tfrt_status_fields_t fields = *tfrt_status_fields(error);
  fields.causes[0] = text;
  fields.cause_count = text[0] ? 1 : 0;
  tfrt_status_t whole = tfrt_status_create_from_fields(&fields);
  tfrt_status_release(error);
  return whole;
}

static void on_goodbye(tfrt_session_t* session, const tfrt_wire_goodbye_t* goodbye) {
  tfrt_session_manager_t* manager = session->manager;
  if (goodbye->reason == TFRT_WIRE_GOODBYE_DRAIN) {
    if (session->is_peer_draining) return;
    session->is_peer_draining = true;
    manager->handler->vtable->on_draining(manager->handler, session);
    return;
  }
  tfrt_session_death_t death = TFRT_SESSION_DEATH_GOODBYE;
  tfrt_status_code_t code = TFRT_STATUS_UNAVAILABLE;
  const char* what = "has shut down";
  if (goodbye->reason == TFRT_WIRE_GOODBYE_PROTOCOL) {
    death = TFRT_SESSION_DEATH_PROTOCOL;
    code = TFRT_STATUS_ABORTED;
    what = "says that this process broke the protocol";
  } else if (goodbye->reason == TFRT_WIRE_GOODBYE_DEAD) {
    death = TFRT_SESSION_DEATH_BURIED;
    what = "has given this process up";
  }
  tfrt_status_t error = tfrt_session_error(session, code, "%s: %.*s", what,
                                           TFRT_STRING_VIEW_ARGUMENTS(goodbye->message));
  tfrt_session_take_death(session, death, take_with_words(error, goodbye->message));
}

static void die_of_protocol(tfrt_session_t* session, const char* what) {
  tfrt_session_take_death_with_goodbye(
      session, TFRT_SESSION_DEATH_PROTOCOL,
      tfrt_session_error(session, TFRT_STATUS_ABORTED, "broke the protocol: %s", what),
      TFRT_WIRE_GOODBYE_PROTOCOL, tfrt_string_view_of(what));
}

static void on_own_frame(tfrt_session_t* session, tfrt_session_link_t* link,
                         const tfrt_wire_frame_t* frame) {
  tfrt_wire_body_t body;
  tfrt_status_t status = tfrt_wire_body_decode(frame->kind, frame->body, &link->arena, &body);
  if (tfrt_status_is_ok(status)) {
    on_goodbye(session, &body.goodbye);
    return;
  }
  die_of_protocol(session, tfrt_status_message(status));
  tfrt_status_release(status);
}

static int64_t deadline_of(const tfrt_session_manager_t* manager, const tfrt_wire_batch_t* batch,
                           const tfrt_wire_frame_t* frame) {
  if (!frame->has_budget) return TFRT_TIME_INFINITE;
  uint64_t left_us = frame->budget_us > batch->age_us ? frame->budget_us - batch->age_us : 0;
  const uint64_t most_us = INT64_MAX / (uint64_t)TFRT_NANOSECONDS_PER_MICROSECOND;
  if (left_us > most_us) return TFRT_TIME_INFINITE;
  return tfrt_deadline_after(tfrt_session_now_ns(manager),
                             (int64_t)left_us * TFRT_NANOSECONDS_PER_MICROSECOND);
}

// Counts a frame of |kind|, if it takes credit. False: the peer sent it beyond its credit, and
// |out_what| says so. Both sides count the same frames, and only credit that was sent to the peer
// counts as granted. So a peer that waits for credit never exceeds it. A peer that reads nothing
// gets no new credit, though its requests are answered at once. A Void doesn't wait.
static bool take_credit(tfrt_session_t* session, uint32_t kind, char* out_what, size_t size) {
  bool is_want = kind == TFRT_WIRE_FRAME_WANT;
  if (!is_want && kind != TFRT_WIRE_FRAME_INVOKE && kind != TFRT_WIRE_FRAME_VOID) return true;
  uint64_t count = is_want ? ++session->credit.received_wants : ++session->credit.received_calls;
  uint64_t limit = is_want ? session->credit.told_wants : session->credit.told_calls;
  if (count <= limit || kind == TFRT_WIRE_FRAME_VOID) return true;
  snprintf(out_what, size,
           "%s number %" PRIu64 " of the session, with credit for %" PRIu64
           " of them: it has to wait until %s is higher",
           is_want ? "the Want" : "the call", count, limit, is_want ? "want_limit" : "call_limit");
  return false;
}

static void on_next_frame(tfrt_session_t* session, tfrt_session_link_t* link,
                          const tfrt_wire_batch_t* batch, const tfrt_wire_frame_t* frame) {
  tfrt_session_manager_t* manager = session->manager;
  // No Hello, Welcome or Refuse comes here: the decoder lets none have a number.
  if (frame->kind == TFRT_WIRE_FRAME_GOODBYE) {
    on_own_frame(session, link, frame);
    return;
  }
  if (!tfrt_wire_frame_kind_is_known(frame->kind)) {
    if (tfrt_wire_frame_kind_is_optional(frame->kind)) return;
    char what[64];
    snprintf(what, sizeof(what), "a frame of the unknown kind %" PRIu32, frame->kind);
    die_of_protocol(session, what);
    return;
  }
  char fault[160];
  if (!take_credit(session, frame->kind, fault, sizeof(fault))) {
    die_of_protocol(session, fault);
    return;
  }
  if (TFRT_COUNTERS) ++manager->counters.frames_received;
  tfrt_status_t status = manager->handler->vtable->on_frame(manager->handler, session, frame,
                                                            deadline_of(manager, batch, frame));
  if (tfrt_status_is_ok(status)) return;
  die_of_protocol(session, tfrt_status_message(status));
  tfrt_status_release(status);
}

static void on_frames(tfrt_session_t* session, tfrt_session_link_t* link,
                      const tfrt_wire_batch_t* batch) {
  tfrt_session_manager_t* manager = session->manager;
  for (size_t i = 0; i < batch->frame_count; ++i) {
    uint64_t seq = batch->first_seq + i;
    if (seq <= session->receipt.sequence) {
      ++manager->counters.duplicates;
      continue;
    }
    if (seq > session->receipt.sequence + 1) {
      ++manager->counters.gaps;
      tfrt_session_link_drop(link, false);
      tfrt_session_on_broken(session);
      return;
    }
    session->receipt.sequence = seq;
    ++session->receipt.unacked_count;
    session->receipt.unacked_bytes += batch->frames[i].body.size;
    on_next_frame(session, link, batch, &batch->frames[i]);
    // The handler may have closed the session.
    if (session->link != link || session->state != TFRT_SESSION_OPEN) return;
  }
}

// The first thing that is wrong with the header, or NULL.
static const char* find_fault(const tfrt_session_t* session, const tfrt_wire_batch_t* batch) {
  if (batch->from_incarnation != session->incarnation) return "a batch from somebody else";
  if (batch->to_incarnation != session->manager->options.incarnation) {
    return "a batch for somebody else";
  }
  if (batch->session != session->number) return "a batch of another session";
  if (batch->version != session->terms.version) return "a batch in another version";
  if (batch->frame_count > 0 && batch->first_seq == 0) return "frames without a number";
  if (batch->first_seq > UINT64_MAX - batch->frame_count) return "numbers of frames that overflow";
  if (batch->ack > session->queue.written_seq) return "an acknowledgement of what was never sent";
  return NULL;
}

// True if frames should be acknowledged now, before the peer's window is full. The limit is an
// eighth of the window, because a frame takes more of it than its body.
static bool is_ack_due(const tfrt_session_t* session) {
  const tfrt_session_options_t* options = &session->manager->options;
  return session->receipt.unacked_count >= options->ack_frames ||
         session->receipt.unacked_bytes >= options->ack_bytes ||
         session->receipt.unacked_bytes > session->terms.limits.replay_bytes / 8;
}

static void schedule_ack(tfrt_session_t* session) {
  if (session->receipt.unacked_count == 0) return;
  if (is_ack_due(session)) {
    flush(session);
  } else {
    request_ack(session);
  }
}

void tfrt_session_on_batch(tfrt_session_t* session, tfrt_session_link_t* link,
                           const tfrt_wire_batch_t* batch) {
  tfrt_session_retain(session);
  const char* fault = find_fault(session, batch);
  if (fault) {
    die_of_protocol(session, fault);
    tfrt_session_release(session);
    return;
  }
  tfrt_session_note_heard(session);
  bool had_room = tfrt_send_queue_has_room(&session->queue);
  tfrt_send_queue_acknowledge(&session->queue, batch->ack, session->liveness.heard_ns);
  if (!had_room && tfrt_send_queue_has_room(&session->queue)) announce_credit(session);
  tfrt_send_queue_grant(&session->queue, batch->call_limit, batch->want_limit);
  if (batch->heartbeat) tfrt_session_on_heartbeat(session, batch->heartbeat);
  on_frames(session, link, batch);
  if (session->link == link && session->state == TFRT_SESSION_OPEN) {
    schedule_ack(session);
    // Credit or room may have let something out of a gate.
    if (tfrt_send_queue_is_due(&session->queue)) tfrt_session_link_request_work(link);
  }
  tfrt_session_release(session);
}
