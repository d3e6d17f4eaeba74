// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "distributed/session/session_internal.h"

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t milliseconds(uint32_t ms) { return (int64_t)ms * TFRT_NANOSECONDS_PER_MILLISECOND; }

static int64_t period_ns(const tfrt_session_t* session) {
  return milliseconds(session->terms.limits.heartbeat_period_ms);
}

static int64_t silence_ns(const tfrt_session_t* session) {
  return milliseconds(session->terms.limits.silence_ms);
}

// The silence in force may be shorter than our option for suspicion.
static int64_t suspect_ns(const tfrt_session_t* session) {
  return earlier(session->manager->options.suspect_ns, silence_ns(session) / 5 * 3);
}

// --- The timer ---------------------------------------------------------------

// The last sign of life on any connection.
static int64_t heard_ns(const tfrt_session_t* session) {
  return later(session->liveness.heard_ns, session->liveness.elsewhere_ns);
}

static int64_t death_ns(const tfrt_session_t* session) {
  return later(tfrt_deadline_after(heard_ns(session), silence_ns(session)),
               session->liveness.judge_ns);
}

// When the peer has acknowledged nothing for too long of what was written, though it is heard: the
// network passes small packets only.
static int64_t stall_ns(const tfrt_session_t* session) {
  const int64_t unacked_ns = tfrt_send_queue_unacked_ns(&session->queue);
  if (unacked_ns == TFRT_TIME_INFINITE) return TFRT_TIME_INFINITE;
  return later(tfrt_deadline_after(unacked_ns, 3 * silence_ns(session)),
               session->liveness.judge_ns);
}

static int64_t suspicion_ns(const tfrt_session_t* session) {
  if (session->liveness.is_suspected || session->state == TFRT_SESSION_CONNECTING) {
    return TFRT_TIME_INFINITE;
  }
  return later(tfrt_deadline_after(heard_ns(session), suspect_ns(session)),
               session->liveness.judge_ns);
}

// When a second connection is dialled, as the one that the session has brings nothing: the peer may
// be there, and only that connection be lost without a word.
static int64_t second_dial_ns(const tfrt_session_t* session) {
  if (session->state != TFRT_SESSION_OPEN || session->label.address[0] == '\0') {
    return TFRT_TIME_INFINITE;
  }
  const int64_t half_ns = tfrt_deadline_after(session->liveness.heard_ns, silence_ns(session) / 2);
  // One attempt in a period.
  const int64_t again_ns =
      tfrt_deadline_after(session->liveness.second_dial_ns, period_ns(session));
  return later(later(half_ns, again_ns), session->liveness.judge_ns);
}

static int64_t next_due(tfrt_session_t* session) {
  // At least once in a period, so that a gap between two ticks shows that we slept.
  int64_t due_ns = tfrt_deadline_after(session->liveness.ticked_ns, period_ns(session));
  due_ns = earlier(due_ns, death_ns(session));
  due_ns = earlier(due_ns, stall_ns(session));
  due_ns = earlier(due_ns, suspicion_ns(session));
  due_ns = earlier(due_ns, second_dial_ns(session));
  due_ns = earlier(due_ns, session->schedule.beat_ns);
  due_ns = earlier(due_ns, session->schedule.wake_ns);
  return earlier(due_ns, session->schedule.redial_ns);
}

static void run_timer(tfrt_timer_t* timer);

static void stop_timer(tfrt_session_t* session) {
  if (!session->schedule.is_timer_waiting) return;
  tfrt_session_manager_t* manager = session->manager;
  // If it runs right now, it waits for the lock and will see what the state is then.
  if (!tfrt_timer_cancel(manager->timers, &session->schedule.timer)) return;
  session->schedule.is_timer_waiting = false;
  --manager->busy_count;
  tfrt_session_release(session);
}

void tfrt_session_schedule(tfrt_session_t* session) {
  if (session->state == TFRT_SESSION_DEAD) {
    stop_timer(session);
    return;
  }
  int64_t due_ns = next_due(session);
  if (session->schedule.is_timer_waiting && session->schedule.timer_ns <= due_ns) return;
  tfrt_session_retain(session);
  stop_timer(session);
  if (!session->schedule.is_timer_waiting) {
    session->schedule.is_timer_waiting = true;
    session->schedule.timer_ns = due_ns;
    ++session->manager->busy_count;
    tfrt_session_retain(session);
    tfrt_timer_start(session->manager->timers, &session->schedule.timer, due_ns, run_timer);
  }
  tfrt_session_release(session);
}

void tfrt_session_wake_at(tfrt_session_t* session, int64_t due_ns) {
  if (session->schedule.wake_ns <= due_ns) return;
  session->schedule.wake_ns = due_ns;
  tfrt_session_schedule(session);
}

// --- What is due -------------------------------------------------------------

// A host that slept over half of the silence budget first reads what has arrived meanwhile, and
// sends a sign of life. Only then it judges whether peers have been silent.
static void notice_own_sleep(tfrt_session_t* session, int64_t now_ns) {
  if (now_ns - session->liveness.ticked_ns > silence_ns(session) / 2) {
    session->liveness.judge_ns = tfrt_deadline_after(now_ns, period_ns(session));
  }
  session->liveness.ticked_ns = now_ns;
}

static void die_of_silence(tfrt_session_t* session, int64_t now_ns) {
  double seconds = (double)(now_ns - heard_ns(session)) / (double)TFRT_NANOSECONDS_PER_SECOND;
  // Why attempts failed ("the name is unknown") says more than that they did.
  const char* why = tfrt_status_message(session->dial.failure);
  // This process, not the peer, is why they did.
  const bool is_own = !session->was_opened &&
                      tfrt_status_code(session->dial.failure) == TFRT_STATUS_RESOURCE_EXHAUSTED;
  const char* format = session->was_opened ? "is lost: no sign of life for %.1f s%s%s"
                       : is_own            ? "was not reached: tried for %.1f s%s%s"
                                           : "does not answer: tried for %.1f s%s%s";
  tfrt_session_take_death_with_goodbye(
      session, TFRT_SESSION_DEATH_SILENCE,
      tfrt_session_error(session, is_own ? TFRT_STATUS_RESOURCE_EXHAUSTED : TFRT_STATUS_UNAVAILABLE,
                         format, seconds, why[0] ? "; " : "", why),
      TFRT_WIRE_GOODBYE_DEAD, tfrt_string_view_of("no sign of life of this process came there"));
}

static void die_of_stall(tfrt_session_t* session) {
  const double seconds = 3 * (double)silence_ns(session) / (double)TFRT_NANOSECONDS_PER_SECOND;
  tfrt_session_take_death_with_goodbye(
      session, TFRT_SESSION_DEATH_STALLED,
      tfrt_session_error(session, TFRT_STATUS_UNAVAILABLE,
                         "is lost: it is heard, and nothing of what is sent to it arrived for "
                         "%.1f s, three times --silence-ms (does the path pass packets of full "
                         "size?)",
                         seconds),
      TFRT_WIRE_GOODBYE_DEAD,
      tfrt_string_view_of("what it sent to this process did not arrive (does the path pass packets "
                          "of full size?)"));
}

static void do_due(tfrt_session_t* session, int64_t now_ns) {
  tfrt_session_manager_t* manager = session->manager;
  notice_own_sleep(session, now_ns);
  if (session->state == TFRT_SESSION_OPEN || session->state == TFRT_SESSION_BROKEN) {
    session->liveness.elsewhere_ns =
        manager->handler->vtable->heard_elsewhere_ns(manager->handler, session);
  }
  if (now_ns >= death_ns(session)) {
    die_of_silence(session, now_ns);
    return;
  }
  if (now_ns >= stall_ns(session)) {
    die_of_stall(session);
    return;
  }
  if (now_ns >= suspicion_ns(session)) {
    session->liveness.is_suspected = true;
    manager->handler->vtable->on_suspected(manager->handler, session, true);
  }
  if (now_ns >= second_dial_ns(session)) {
    session->liveness.second_dial_ns = now_ns;
    tfrt_session_request_dial(session);
  }
  if (now_ns >= session->schedule.redial_ns) {
    session->schedule.redial_ns = TFRT_TIME_INFINITE;
    tfrt_session_request_dial(session);
  }
  if (now_ns >= session->schedule.beat_ns) {
    session->schedule.beat_ns = tfrt_deadline_after(now_ns, period_ns(session));
    session->schedule.is_beat_due = true;
  }
  if (now_ns >= session->schedule.wake_ns) {
    session->schedule.wake_ns = TFRT_TIME_INFINITE;
    manager->handler->vtable->on_wake(manager->handler, session);
  }
  if (session->link) tfrt_session_link_request_work(session->link);
}

static void run_timer(tfrt_timer_t* timer) {
  tfrt_session_t* session = TFRT_CONTAINER_OF(timer, tfrt_session_t, schedule.timer);
  tfrt_session_manager_t* manager = session->manager;
  tfrt_node_lock_lock(manager->lock);
  session->schedule.is_timer_waiting = false;
  --manager->busy_count;
  if (session->state != TFRT_SESSION_DEAD) {
    do_due(session, tfrt_session_now_ns(manager));
    tfrt_session_schedule(session);
  }
  tfrt_session_release(session);
  tfrt_session_manager_note_less(manager);
  tfrt_node_lock_unlock_and_run(manager->lock);
}

// --- Signs of life -----------------------------------------------------------

void tfrt_session_note_heard(tfrt_session_t* session) {
  tfrt_session_manager_t* manager = session->manager;
  session->liveness.heard_ns = tfrt_session_now_ns(manager);
  if (!session->liveness.is_suspected) return;
  session->liveness.is_suspected = false;
  manager->handler->vtable->on_suspected(manager->handler, session, false);
}

void tfrt_session_fill_heartbeat(tfrt_session_t* session, tfrt_wire_heartbeat_t* out_heartbeat) {
  tfrt_session_manager_t* manager = session->manager;
  int64_t now_ns = tfrt_session_now_ns(manager);
  *out_heartbeat = (tfrt_wire_heartbeat_t){0};
  if (session->state != TFRT_SESSION_DEAD) {
    manager->handler->vtable->fill_heartbeat(manager->handler, session, out_heartbeat);
  }
  out_heartbeat->number = ++session->liveness.beat;
  out_heartbeat->echo = session->liveness.peer_beat;
  out_heartbeat->clock_us = (uint64_t)(now_ns / TFRT_NANOSECONDS_PER_MICROSECOND);
  if (session->liveness.peer_beat > 0) {
    out_heartbeat->echo_delay_us =
        (uint64_t)((now_ns - session->liveness.peer_beat_ns) / TFRT_NANOSECONDS_PER_MICROSECOND);
  }
  session->liveness.beat_ns = now_ns;
}

void tfrt_session_on_heartbeat(tfrt_session_t* session, const tfrt_wire_heartbeat_t* heartbeat) {
  tfrt_session_manager_t* manager = session->manager;
  if (heartbeat->number <= session->liveness.peer_beat) return;
  int64_t now_ns = tfrt_session_now_ns(manager);
  session->liveness.peer_beat = heartbeat->number;
  session->liveness.peer_beat_ns = now_ns;
  int64_t away_ns = now_ns - session->liveness.beat_ns;
  // A false delay, of a broken peer, must not overflow.
  bool is_sane = heartbeat->echo_delay_us <= (uint64_t)(away_ns / TFRT_NANOSECONDS_PER_MICROSECOND);
  if (heartbeat->echo > 0 && heartbeat->echo == session->liveness.beat && is_sane) {
    session->liveness.round_trip_ns =
        away_ns - (int64_t)heartbeat->echo_delay_us * TFRT_NANOSECONDS_PER_MICROSECOND;
  }
  manager->handler->vtable->on_heartbeat(manager->handler, session, heartbeat);
}

// --- Dials: the peer ----------------------------------------------------------------

static tfrt_session_t* find_by_address(tfrt_session_manager_t* manager,
                                       tfrt_string_view_t address) {
  for (tfrt_list_link_t* l = manager->sessions.next; l != &manager->sessions; l = l->next) {
    tfrt_session_t* session = TFRT_CONTAINER_OF(l, tfrt_session_t, link_in_manager);
    if (tfrt_string_view_equal(tfrt_string_view_of(session->label.address), address)) {
      return session;
    }
  }
  return NULL;
}

static tfrt_status_t check_dial(const tfrt_session_manager_t* manager, tfrt_string_view_t address,
                                uint64_t incarnation) {
  if (address.size == 0 && incarnation == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a session needs an address or an incarnation");
  }
  if (address.size >= TFRT_TRANSPORT_ADDRESS_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "an address has at most %d bytes, not %zu",
                              TFRT_TRANSPORT_ADDRESS_SIZE - 1, address.size);
  }
  if (incarnation == manager->options.incarnation) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a process has no session with itself");
  }
  return NULL;
}

static tfrt_session_t* find_living(tfrt_session_manager_t* manager, tfrt_string_view_t address,
                                   uint64_t incarnation) {
  if (incarnation == 0) return find_by_address(manager, address);
  tfrt_session_t* session = tfrt_session_manager_find(manager, incarnation);
  if (session && session->label.address[0] == '\0' && address.size > 0) {
    // A peer that has dialled us can be dialled from now on.
    memcpy(session->label.address, address.data, address.size);
    session->label.address[address.size] = '\0';
    bool is_looking =
        session->state == TFRT_SESSION_BROKEN || session->state == TFRT_SESSION_CONNECTING;
    if (is_looking) tfrt_session_request_dial(session);
  }
  return session;
}

tfrt_status_t tfrt_session_manager_dial(tfrt_session_manager_t* manager, tfrt_string_view_t address,
                                        uint64_t incarnation, tfrt_session_t** out_session) {
  *out_session = NULL;
  TFRT_RETURN_IF_ERROR(check_dial(manager, address, incarnation));
  tfrt_session_t* session = find_living(manager, address, incarnation);
  if (session) {
    *out_session = tfrt_session_retain(session);
    return NULL;
  }
  if (manager->is_draining) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "this process takes no new sessions any more");
  }
  tfrt_session_peer_t* peer = NULL;
  bool has_room = manager->session_count < manager->options.max_sessions;
  if (has_room && incarnation != 0) {
    peer = tfrt_session_peer_make(manager, incarnation);
    has_room = peer && peer->last_session < UINT32_MAX;
  }
  uint32_t number = peer ? peer->last_session + 1 : 1;
  if (has_room) session = tfrt_session_make(manager, peer, address, number);
  if (!session) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no room for another session");
  }
  tfrt_session_request_dial(session);
  *out_session = session;
  return NULL;
}

// --- The dial ----------------------------------------------------------------

// Makes the link that the dial will be about, or NULL if there is nothing to dial for.
static tfrt_session_link_t* begin_dial(tfrt_session_t* session) {
  tfrt_session_manager_t* manager = session->manager;
  const int64_t silence_ns =
      (int64_t)session->terms.limits.silence_ms * TFRT_NANOSECONDS_PER_MILLISECOND;
  const int64_t half_ns = tfrt_deadline_after(session->liveness.heard_ns, silence_ns / 2);
  // An OPEN session, only if it still hears nothing.
  bool is_wanted = session->state == TFRT_SESSION_CONNECTING ||
                   session->state == TFRT_SESSION_BROKEN ||
                   (session->state == TFRT_SESSION_OPEN && tfrt_session_now_ns(manager) >= half_ns);
  if (!is_wanted || session->dial.link) return NULL;
  tfrt_session_link_t* link = tfrt_session_link_make(manager, TFRT_SESSION_LINK_DIALLING);
  if (!link) {
    session->schedule.redial_ns =
        tfrt_deadline_after(tfrt_session_now_ns(manager), manager->options.redial_delay_ns);
    return NULL;
  }
  if (session->dial.attempt < session->connection) session->dial.attempt = session->connection;
  link->number = ++session->dial.attempt;
  link->greeting.is_resume = session->state != TFRT_SESSION_CONNECTING;
  link->greeting.kind = TFRT_WIRE_FRAME_HELLO;
  link->session = tfrt_session_retain(session);
  session->dial.link = tfrt_session_link_retain(link);
  ++manager->counters.dials;
  // This thread's, so that the link lives until the connection is handed to it.
  return tfrt_session_link_retain(link);
}

// How long an attempt may take. A session that was open needs several within the silence: an
// attempt may wait in vain for a packet that was lost, while the next one gets through. One takes
// some round trips; TCP, TLS and HTTP/2 each have theirs.
static int64_t attempt_ns(const tfrt_session_t* session) {
  const int64_t most_ns = session->manager->options.dial_timeout_ns;
  if (!session->was_opened) return most_ns;
  return earlier(most_ns, later(silence_ns(session) / 4, 8 * session->liveness.round_trip_ns));
}

// Runs without the lock.
static tfrt_status_t dial(tfrt_session_t* session, tfrt_session_link_t* link, int64_t timeout_ns,
                          tfrt_transport_connection_t** out_connection) {
  const tfrt_session_manager_t* manager = session->manager;
  const tfrt_transport_metadata_t key = {
      .name = tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY),
      .value = manager->options.cluster_key,
  };
  const tfrt_transport_dial_options_t options = {
      .address = tfrt_string_view_of(session->label.address),
      .kind = TFRT_TRANSPORT_CONTROL,
      .metadata = &key,
      .metadata_count = manager->options.cluster_key.size > 0 ? 1 : 0,
      .timeout_ns = timeout_ns,
  };
  return tfrt_transport_dial(manager->transport, &options, &link->handler, out_connection);
}

static void finish_dial(tfrt_session_t* session, tfrt_session_link_t* link, tfrt_status_t status,
                        tfrt_transport_connection_t* connection) {
  if (tfrt_status_is_ok(status)) {
    tfrt_session_link_take_connection(link, connection);
    return;
  }
  // The address is wrong, or the transport is closed; nobody will call back.
  tfrt_session_link_drop(link, false);
  tfrt_session_link_release(link);
  if (session->state != TFRT_SESSION_CONNECTING && session->state != TFRT_SESSION_BROKEN) return;
  tfrt_session_take_death(session, TFRT_SESSION_DEATH_GONE,
                          tfrt_session_error(session, tfrt_status_code(status),
                                             "can't be dialled: %s", tfrt_status_message(status)));
}

static void run_dial(tfrt_task_t* task) {
  tfrt_session_t* session = TFRT_CONTAINER_OF(task, tfrt_session_t, dial.task);
  tfrt_session_manager_t* manager = session->manager;
  tfrt_node_lock_lock(manager->lock);
  session->dial.is_deferred = false;
  tfrt_session_link_t* link = begin_dial(session);
  const int64_t timeout_ns = attempt_ns(session);
  tfrt_node_lock_unlock_and_run(manager->lock);
  tfrt_transport_connection_t* connection = NULL;
  tfrt_status_t status = NULL;
  if (link) status = dial(session, link, timeout_ns, &connection);
  tfrt_node_lock_lock(manager->lock);
  if (link) {
    finish_dial(session, link, status, connection);
    tfrt_session_link_release(link);
  }
  tfrt_session_schedule(session);
  --manager->busy_count;
  tfrt_session_release(session);
  tfrt_session_manager_note_less(manager);
  tfrt_node_lock_unlock_and_run(manager->lock);
  tfrt_status_release(status);
}

void tfrt_session_request_dial(tfrt_session_t* session) {
  if (session->label.address[0] == '\0' || session->dial.is_deferred || session->dial.link) return;
  session->dial.is_deferred = true;
  session->schedule.redial_ns = TFRT_TIME_INFINITE;
  ++session->manager->busy_count;
  tfrt_session_retain(session);
  tfrt_task_initialize(&session->dial.task, run_dial);
  tfrt_node_lock_defer(session->manager->lock, &session->dial.task);
}

// --- When it fails -----------------------------------------------------------

// True if it has let us in before and has no room for one more stream at the moment.
static bool is_too_busy(const tfrt_session_t* session, tfrt_transport_end_t end,
                        tfrt_status_t status) {
  return end == TFRT_TRANSPORT_REJECTED && session->was_opened &&
         tfrt_status_code(status) == TFRT_STATUS_RESOURCE_EXHAUSTED;
}

// How long after an attempt that ended with |end| and |status| the next one is made. Resets of a
// session that was open are followed soon: it is nearly always the end of a process, which the
// next dial shows.
static int64_t redial_delay_ns(tfrt_session_t* session, tfrt_transport_end_t end,
                               tfrt_status_t status) {
  const int64_t most_ns = session->manager->options.redial_delay_ns;
  // Listeners that are ending, and those without room, need their time.
  bool is_soon = end == TFRT_TRANSPORT_RESET && session->was_opened &&
                 tfrt_status_code(status) != TFRT_STATUS_UNAUTHENTICATED;
  if (!is_soon) return most_ns;
  session->dial.delay_ns =
      session->dial.delay_ns > 0 ? 2 * session->dial.delay_ns : TFRT_TUNING_FIRST_REDIAL_NS;
  session->dial.delay_ns = earlier(session->dial.delay_ns, most_ns);
  return session->dial.delay_ns;
}

void tfrt_session_on_dial_failed(tfrt_session_t* session, tfrt_transport_end_t end,
                                 tfrt_status_t status) {
  if (session->state == TFRT_SESSION_DEAD || session->state == TFRT_SESSION_OPEN) return;
  if (end == TFRT_TRANSPORT_REFUSED) {
    tfrt_session_take_death(
        session, TFRT_SESSION_DEATH_GONE,
        tfrt_session_error(session, TFRT_STATUS_UNAVAILABLE,
                           session->was_opened ? "is lost: nobody listens at %s any more"
                                               : "is not there: nobody listens at %s",
                           session->label.address));
    return;
  }
  // A listener that is ending may look as one that does not trust us; a second time it is not.
  bool is_turned_away = tfrt_status_code(status) == TFRT_STATUS_UNAUTHENTICATED &&
                        tfrt_status_code(session->dial.failure) == TFRT_STATUS_UNAUTHENTICATED;
  if (end != TFRT_TRANSPORT_REJECTED && is_turned_away && session->was_opened) {
    // The peer has trusted us before: the refusal comes from a relay in front of it, or from
    // another process on its port.
    tfrt_session_take_death(session, TFRT_SESSION_DEATH_REPLACED,
                            tfrt_session_error(session, TFRT_STATUS_UNAVAILABLE, "is lost: %s",
                                               tfrt_status_message(status)));
    return;
  }
  bool is_rejected = end == TFRT_TRANSPORT_REJECTED && !is_too_busy(session, end, status);
  if (is_rejected || is_turned_away) {
    tfrt_session_take_death(
        session, TFRT_SESSION_DEATH_REJECTED,
        tfrt_session_error(session, tfrt_status_code(status), "does not let this process in: %s",
                           tfrt_status_message(status)));
    return;
  }
  tfrt_status_release(session->dial.failure);
  session->dial.failure = tfrt_status_retain(status);
  session->schedule.redial_ns = tfrt_deadline_after(tfrt_session_now_ns(session->manager),
                                                    redial_delay_ns(session, end, status));
  tfrt_session_schedule(session);
}
