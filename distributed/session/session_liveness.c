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

static int64_t death_ns(const tfrt_session_t* session) {
  return later(tfrt_deadline_after(session->liveness.heard_ns, silence_ns(session)),
               session->liveness.judge_ns);
}

static int64_t suspicion_ns(const tfrt_session_t* session) {
  if (session->liveness.is_suspected || session->state == TFRT_SESSION_CONNECTING) {
    return TFRT_TIME_INFINITE;
  }
  return later(tfrt_deadline_after(session->liveness.heard_ns, suspect_ns(session)),
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
  due_ns = earlier(due_ns, suspicion_ns(session));
  due_ns = earlier(due_ns, second_dial_ns(session));
  due_ns = earlier(due_ns, session->schedule.beat_ns);
  due_ns = earlier(due_ns, session->schedule.wake_ns);
  return earlier(due_ns, session->schedule.redial_ns);
}

static void run_timer(tfrt_timer_t* timer);

void tfrt_session_stop_timer(tfrt_session_t* session) {
  if (!session->schedule.is_timer_waiting) return;
  tfrt_session_manager_t* manager = session->manager;
  // If it runs right now, it waits for the lock and will see what the state is then.
  if (!tfrt_timer_cancel(manager->timers, &session->schedule.timer)) return;
  session->schedule.is_timer_waiting = false;
  --manager->busy_count;
  tfrt_session_release(session);
}

void tfrt_session_schedule(tfrt_session_t* session) {
  if (session->state == TFRT_SESSION_DEAD) return;
  int64_t due_ns = next_due(session);
  if (session->schedule.is_timer_waiting && session->schedule.timer_ns <= due_ns) return;
  tfrt_session_retain(session);
  tfrt_session_stop_timer(session);
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
  double seconds =
      (double)(now_ns - session->liveness.heard_ns) / (double)TFRT_NANOSECONDS_PER_SECOND;
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
      TFRT_WIRE_GOODBYE_DEAD, tfrt_string_view_of("no sign of life"));
}

static void do_due(tfrt_session_t* session, int64_t now_ns) {
  tfrt_session_manager_t* manager = session->manager;
  notice_own_sleep(session, now_ns);
  if (now_ns >= death_ns(session)) {
    die_of_silence(session, now_ns);
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
