// SPDX-License-Identifier: Apache-2.0
//
// What may wait for company (acknowledgements, credit, frames that nobody waits for), and goes
// without when none has come.
//
// All sessions share one timer. On a host that calls many others each session has something to
// flush a hundred times a second, and nearly always finds that it has gone with a message: a timer
// for each of them would wake a thread as often, for nothing.
#include "distributed/session/session_internal.h"

static void run_timer(tfrt_timer_t* timer);

static void start_timer(tfrt_session_manager_t* manager, int64_t due_ns) {
  if (manager->is_flush_timer_waiting) return;
  manager->is_flush_timer_waiting = true;
  ++manager->busy_count;
  tfrt_timer_start(manager->timers, &manager->flush_timer, due_ns, run_timer);
}

static void note_timer_done(tfrt_session_manager_t* manager) {
  manager->is_flush_timer_waiting = false;
  --manager->busy_count;
  tfrt_session_manager_note_less(manager);
}

// What waits for half of the delay goes now: so nothing waits longer than the delay, and the timer
// runs at most twice in it.
static void run_timer(tfrt_timer_t* timer) {
  tfrt_session_manager_t* manager = TFRT_CONTAINER_OF(timer, tfrt_session_manager_t, flush_timer);
  tfrt_node_lock_lock(manager->lock);
  int64_t soon_ns =
      tfrt_deadline_after(tfrt_session_now_ns(manager), manager->options.ack_delay_ns / 2);
  int64_t next_ns = TFRT_TIME_INFINITE;
  tfrt_list_link_t* end = &manager->sessions;
  for (tfrt_list_link_t* l = end->next; l != end; l = l->next) {
    tfrt_session_t* session = TFRT_CONTAINER_OF(l, tfrt_session_t, link_in_manager);
    if (session->flush_ns <= soon_ns) {
      tfrt_session_flush(session);
    } else if (session->flush_ns < next_ns) {
      next_ns = session->flush_ns;
    }
  }
  note_timer_done(manager);
  if (next_ns != TFRT_TIME_INFINITE) start_timer(manager, next_ns);
  tfrt_node_lock_unlock_and_run(manager->lock);
}

void tfrt_session_request_flush(tfrt_session_t* session) {
  if (session->state != TFRT_SESSION_OPEN || session->flush_ns != TFRT_TIME_INFINITE) return;
  tfrt_session_manager_t* manager = session->manager;
  session->flush_ns =
      tfrt_deadline_after(tfrt_session_now_ns(manager), manager->options.ack_delay_ns);
  start_timer(manager, session->flush_ns);
}

void tfrt_session_flush(tfrt_session_t* session) {
  session->flush_ns = TFRT_TIME_INFINITE;
  session->is_flush_due = true;
  if (session->link) tfrt_session_link_request_work(session->link);
}

void tfrt_session_manager_stop_flushing(tfrt_session_manager_t* manager) {
  if (!manager->is_flush_timer_waiting) return;
  // If it runs right now, it waits for the lock and ends by itself.
  if (tfrt_timer_cancel(manager->timers, &manager->flush_timer)) note_timer_done(manager);
}
