// SPDX-License-Identifier: Apache-2.0
//
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
#include "distributed/session/session_internal.h"

static void run_timer(tfrt_timer_t* timer);

// Has the timer run at |due_ns|, or before.
static void start_timer(tfrt_session_manager_t* manager, int64_t due_ns) {
  if (!manager->is_flush_timer_waiting) {
    manager->is_flush_timer_waiting = true;
    ++manager->busy_count;
  } else {
    if (manager->flush_timer_ns <= due_ns) return;
    // One that runs right now waits for the lock, and then sees by itself what is due.
    if (!tfrt_timer_cancel(manager->timers, &manager->flush_timer)) return;
  }
  manager->flush_timer_ns = due_ns;
  tfrt_timer_start(manager->timers, &manager->flush_timer, due_ns, run_timer);
}

static void note_timer_done(tfrt_session_manager_t* manager) {
  manager->is_flush_timer_waiting = false;
  --manager->busy_count;
  tfrt_session_manager_note_less(manager);
}

// Flushes each session that is due within half of the shorter delay. So no frame waits longer than
// its delay, and the timer runs at most twice in the shorter delay.
static void run_timer(tfrt_timer_t* timer) {
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
      tfrt_session_flush(session);
    } else if (due_ns < next_ns) {
      next_ns = due_ns;
    }
  }
  note_timer_done(manager);
  if (next_ns != TFRT_TIME_INFINITE) start_timer(manager, next_ns);
  tfrt_node_lock_unlock_and_run(manager->lock);
}

// Sets |*due_ns|, one of the times of |session|, unless it is set.
static void request(tfrt_session_t* session, int64_t delay_ns, int64_t* due_ns) {
  if (session->state != TFRT_SESSION_OPEN || *due_ns != TFRT_TIME_INFINITE) return;
  tfrt_session_manager_t* manager = session->manager;
  *due_ns = tfrt_deadline_after(tfrt_session_now_ns(manager), delay_ns);
  start_timer(manager, *due_ns);
}

void tfrt_session_request_flush(tfrt_session_t* session) {
  request(session, session->manager->options.company_delay_ns, &session->schedule.flush_ns);
}

void tfrt_session_request_ack(tfrt_session_t* session) {
  request(session, session->manager->options.ack_delay_ns, &session->schedule.ack_ns);
}

void tfrt_session_flush(tfrt_session_t* session) {
  session->schedule.flush_ns = session->schedule.ack_ns = TFRT_TIME_INFINITE;
  session->schedule.is_flush_due = true;
  if (session->link) tfrt_session_link_request_work(session->link);
}

void tfrt_session_send_waiting(tfrt_session_t* session) {
  if (tfrt_send_queue_has_unwritten(&session->queue)) tfrt_session_flush(session);
}

void tfrt_session_manager_stop_flushing(tfrt_session_manager_t* manager) {
  if (!manager->is_flush_timer_waiting) return;
  // If it runs right now, it waits for the lock and ends by itself.
  if (tfrt_timer_cancel(manager->timers, &manager->flush_timer)) note_timer_done(manager);
}
