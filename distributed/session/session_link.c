// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "distributed/session/session_internal.h"
#include "distributed/tuning/tuning.h"

// --- Life --------------------------------------------------------------------

static const tfrt_transport_handler_vtable_t handler_vtable;

// Ends |link| if it is not done at |deadline_ns|.
static void set_deadline(tfrt_session_link_t* link, int64_t deadline_ns);

tfrt_session_link_t* tfrt_session_link_make(tfrt_session_manager_t* manager,
                                            tfrt_session_link_state_t state) {
  tfrt_session_link_t* link = tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*link));
  if (!link) return NULL;
  link->handler.vtable = &handler_vtable;
  link->manager = manager;
  link->ref_count = 1;
  link->state = state;
  tfrt_string_builder_initialize(&link->out, manager->allocator);
  tfrt_string_builder_initialize(&link->in, manager->allocator);
  tfrt_arena_initialize(&link->arena, manager->allocator);
  tfrt_list_push_back(&manager->links, &link->link_in_manager);
  ++manager->link_count;
  if (state == TFRT_SESSION_LINK_ACCEPTED) {
    const int64_t now_ns = tfrt_session_now_ns(manager);
    set_deadline(link, tfrt_deadline_after(now_ns, manager->options.dial_timeout_ns));
  }
  return link;
}

tfrt_session_link_t* tfrt_session_link_retain(tfrt_session_link_t* link) {
  ++link->ref_count;
  return link;
}

void tfrt_session_link_release(tfrt_session_link_t* link) {
  if (--link->ref_count > 0) return;
  tfrt_session_manager_t* manager = link->manager;
  tfrt_list_remove(&link->link_in_manager);
  --manager->link_count;
  tfrt_session_release(link->session);
  // The last reference to a closed connection: the transport frees it, which calls nobody.
  tfrt_transport_connection_release(link->connection);
  tfrt_string_builder_deinitialize(&link->out);
  tfrt_string_builder_deinitialize(&link->in);
  tfrt_arena_deinitialize(&link->arena);
  tfrt_allocator_free(manager->allocator, link, sizeof(*link));
  tfrt_session_manager_note_less(manager);
}

static void stop_timer(tfrt_session_link_t* link) {
  if (!link->is_timer_waiting) return;
  if (!tfrt_timer_cancel(link->manager->timers, &link->timer)) return;
  link->is_timer_waiting = false;
  tfrt_session_link_release(link);
}

static void run_timer(tfrt_timer_t* timer) {
  tfrt_session_link_t* link = TFRT_CONTAINER_OF(timer, tfrt_session_link_t, timer);
  tfrt_node_lock_t* lock = link->manager->lock;
  tfrt_node_lock_lock(lock);
  link->is_timer_waiting = false;
  bool is_late = link->state == TFRT_SESSION_LINK_ACCEPTED ||
                 link->state == TFRT_SESSION_LINK_FINISHING ||
                 link->state == TFRT_SESSION_LINK_DROPPED;
  if (is_late) tfrt_session_link_break(link);
  tfrt_session_link_release(link);
  tfrt_node_lock_unlock_and_run(lock);
}

static void set_deadline(tfrt_session_link_t* link, int64_t deadline_ns) {
  stop_timer(link);
  // A timer that runs right now has its own reference and sees the state when it gets the
  // lock; its time was an earlier one, so the link is dropped no later than asked for.
  if (link->is_timer_waiting) return;
  link->is_timer_waiting = true;
  tfrt_session_link_retain(link);
  tfrt_timer_start(link->manager->timers, &link->timer, deadline_ns, run_timer);
}

static void detach_session(tfrt_session_link_t* link) {
  tfrt_session_t* session = link->session;
  if (!session) return;
  link->session = NULL;
  int places = (session->link == link) + (session->dial.link == link);
  if (session->link == link) session->link = NULL;
  if (session->dial.link == link) session->dial.link = NULL;
  while (places-- > 0) tfrt_session_link_release(link);
  tfrt_session_release(session);
}

static void set_linger(tfrt_session_link_t* link) {
  const tfrt_session_manager_t* manager = link->manager;
  set_deadline(link, tfrt_deadline_after(tfrt_session_now_ns(manager), manager->options.linger_ns));
}

void tfrt_session_link_drop(tfrt_session_link_t* link, bool in_order) {
  if (link->state >= TFRT_SESSION_LINK_DROPPED) return;
  bool is_limited = link->state == TFRT_SESSION_LINK_FINISHING;  // it lingers already
  link->state = TFRT_SESSION_LINK_DROPPED;
  link->ending = in_order ? TFRT_SESSION_LINK_CLOSE : TFRT_SESSION_LINK_ABORT;
  tfrt_session_link_retain(link);
  detach_session(link);
  if (!in_order) {
    stop_timer(link);
  } else if (!is_limited) {
    // The peer may never let the last write through, nor end its own side.
    set_linger(link);
  }
  tfrt_session_link_request_work(link);
  tfrt_session_link_release(link);
}

void tfrt_session_link_break(tfrt_session_link_t* link) {
  tfrt_session_link_drop(link, false);
  link->ending = TFRT_SESSION_LINK_ABORT;
  tfrt_session_link_request_work(link);
}

void tfrt_session_link_finish(tfrt_session_link_t* link) {
  link->state = TFRT_SESSION_LINK_FINISHING;
  set_linger(link);
  tfrt_session_link_request_work(link);
}

void tfrt_session_link_take_connection(tfrt_session_link_t* link,
                                       tfrt_transport_connection_t* connection) {
  link->connection = connection;
  link->wants_receive = true;
  tfrt_session_link_request_work(link);
}

// --- Writing -----------------------------------------------------------------

static void run_work(tfrt_task_t* task);

// True if the work of |link| can wait for the write in flight, whose end requests work again.
static bool waits_for_write(const tfrt_session_link_t* link) {
  return link->is_writing && !link->wants_receive && link->ending == TFRT_SESSION_LINK_KEEP;
}

void tfrt_session_link_request_work(tfrt_session_link_t* link) {
  if (link->is_work_deferred || !link->connection) return;
  if (link->state == TFRT_SESSION_LINK_CLOSED) return;
  if (waits_for_write(link)) return;
  link->is_work_deferred = true;
  tfrt_session_link_retain(link);
  tfrt_task_initialize(&link->work, run_work);
  tfrt_node_lock_defer(link->manager->lock, &link->work);
}

// Encoding failed, and only lack of memory can cause that. Gives the connection up; a later one
// repeats it all.
static void give_up(tfrt_session_link_t* link) {
  tfrt_session_t* session = tfrt_session_retain(link->session);
  tfrt_session_link_drop(link, false);
  tfrt_session_on_broken(session);
  tfrt_session_release(session);
}

static void count_batch(const tfrt_session_link_t* link, const tfrt_send_batch_t* frames) {
  tfrt_session_counters_t* counters = &link->manager->counters;
  counters->frames_sent += frames->count - frames->replayed_count;
  counters->frames_replayed += frames->replayed_count;
  link->session->bytes.sent += link->out.size;
}

// A batch was encoded, with all that was put off until there is one; frames for which there was no
// room go with the next, as they have waited, too.
static void note_said(tfrt_session_t* session) {
  session->schedule.is_beat_due = false;
  session->schedule.is_flush_due = tfrt_send_queue_has_unwritten(&session->queue);
  session->schedule.flush_ns = session->schedule.ack_ns = TFRT_TIME_INFINITE;
  session->receipt.unacked_count = 0;
  session->receipt.unacked_bytes = 0;
}

// Encodes the session's next batch. False: there is nothing to say, or no memory for it.
static bool encode_batch(tfrt_session_link_t* link) {
  tfrt_session_manager_t* manager = link->manager;
  tfrt_session_t* session = link->session;
  if (!tfrt_send_queue_is_due(&session->queue) && !session->schedule.is_flush_due &&
      !session->schedule.is_beat_due) {
    return false;
  }
  manager->handler->vtable->fill_batch(manager->handler, session);
  tfrt_send_batch_t* frames = &manager->batch;
  const size_t room = tfrt_session_batch_room(session);
  tfrt_send_queue_fill(&session->queue,
                       room < TFRT_WIRE_BATCH_TARGET_SIZE ? room : TFRT_WIRE_BATCH_TARGET_SIZE,
                       tfrt_session_now_ns(manager), frames);
  tfrt_wire_heartbeat_t heartbeat;
  if (session->schedule.is_beat_due) tfrt_session_fill_heartbeat(session, &heartbeat);
  tfrt_session_tell_credit(session);
  const tfrt_wire_batch_t batch = {
      .version = session->terms.version,
      .from_incarnation = manager->options.incarnation,
      .to_incarnation = session->incarnation,
      .session = session->number,
      .first_seq = frames->first_seq,
      .ack = session->receipt.sequence,
      .call_limit = session->credit.told_calls,
      .want_limit = session->credit.told_wants,
      .age_us = frames->age_us,
      .heartbeat = session->schedule.is_beat_due ? &heartbeat : NULL,
      .frames = frames->frames,
      .frame_count = frames->count,
  };
  tfrt_status_t status = tfrt_wire_batch_encode(&batch, &link->out);
  if (!tfrt_status_is_ok(status)) {
    tfrt_status_release(status);
    give_up(link);
    return false;
  }
  if (TFRT_COUNTERS) count_batch(link, frames);
  note_said(session);
  return true;
}

static bool encode_next(tfrt_session_link_t* link) {
  tfrt_string_builder_clear(&link->out);
  if (link->greeting.kind != 0) {
    tfrt_status_t status = tfrt_session_encode_greeting(link);
    link->greeting.kind = 0;
    if (tfrt_status_is_ok(status)) return true;
    tfrt_status_release(status);
    // Without a Welcome the first batch would break the protocol; the dialler tries again.
    if (link->state == TFRT_SESSION_LINK_ESTABLISHED) give_up(link);
    return false;
  }
  bool carries_batches =
      link->state == TFRT_SESSION_LINK_ESTABLISHED || link->state == TFRT_SESSION_LINK_FINISHING;
  return carries_batches && link->session && encode_batch(link);
}

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status);

// Decides, with the lock held, what the transport is to be asked for.
typedef struct link_actions_s {
  bool writes;
  bool receives;
  bool closes;
  bool aborts;
} link_actions_t;

static link_actions_t decide(tfrt_session_link_t* link) {
  link_actions_t actions = {0};
  if (link->state == TFRT_SESSION_LINK_CLOSED) return actions;
  actions.aborts = link->ending == TFRT_SESSION_LINK_ABORT;
  actions.receives = link->wants_receive && !actions.aborts;
  if (actions.aborts) link->ending = TFRT_SESSION_LINK_KEEP;
  link->wants_receive = false;
  if (!actions.aborts && !link->is_writing && link->state < TFRT_SESSION_LINK_DROPPED) {
    actions.writes = encode_next(link);
    // Encoding may have failed, and dropped the link: the work was requested again.
    if (!actions.writes && link->state == TFRT_SESSION_LINK_FINISHING) {
      tfrt_session_link_drop(link, true);
    }
  }
  if (actions.writes) {
    link->is_writing = true;
    tfrt_session_link_retain(link);
    link->write.spans[0] = (tfrt_transport_span_t){link->out.data, link->out.size};
    link->write.span_count = 1;
    link->write.on_written = on_written;
  }
  actions.closes = link->ending == TFRT_SESSION_LINK_CLOSE;
  if (actions.closes) link->ending = TFRT_SESSION_LINK_KEEP;
  return actions;
}

static void run_work(tfrt_task_t* task) {
  tfrt_session_link_t* link = TFRT_CONTAINER_OF(task, tfrt_session_link_t, work);
  tfrt_node_lock_t* lock = link->manager->lock;
  tfrt_node_lock_lock(lock);
  link->is_work_deferred = false;
  link_actions_t actions = decide(link);
  if (!actions.receives && !actions.writes && !actions.closes && !actions.aborts) {
    tfrt_session_link_release(link);
    tfrt_node_lock_unlock_and_run(lock);
    return;
  }
  tfrt_node_lock_unlock_and_run(lock);
  tfrt_status_t status = NULL;
  if (actions.receives) tfrt_transport_connection_receive(link->connection);
  if (actions.writes) status = tfrt_transport_connection_write(link->connection, &link->write);
  if (actions.closes) tfrt_transport_connection_close(link->connection);
  if (actions.aborts) tfrt_transport_connection_abort(link->connection);
  if (!tfrt_status_is_ok(status)) {
    // The write failed (the message is never too big, and no other write is in flight): the
    // connection counts as broken.
    on_written(&link->write, status);
    tfrt_status_release(status);
    tfrt_transport_connection_abort(link->connection);
  }
  tfrt_node_lock_lock(lock);
  tfrt_session_link_release(link);
  tfrt_node_lock_unlock_and_run(lock);
}

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  tfrt_session_link_t* link = TFRT_CONTAINER_OF(write, tfrt_session_link_t, write);
  tfrt_node_lock_t* lock = link->manager->lock;
  tfrt_node_lock_lock(lock);
  link->is_writing = false;
  // An error is followed by on_closed, which decides.
  if (tfrt_status_is_ok(status)) tfrt_session_link_request_work(link);
  tfrt_session_link_release(link);
  tfrt_node_lock_unlock_and_run(lock);
}

// --- What the transport tells ------------------------------------------------

static tfrt_session_link_t* link_of(tfrt_transport_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, tfrt_session_link_t, handler);
}

// The message in one piece, in |link->in| if it came in several.
static tfrt_status_t join_spans(tfrt_session_link_t* link, const tfrt_transport_span_t* spans,
                                size_t span_count, tfrt_string_view_t* out_bytes) {
  *out_bytes = (tfrt_string_view_t){0};
  if (span_count == 1) {
    *out_bytes = tfrt_string_view_make(spans[0].data, spans[0].size);
    return NULL;
  }
  tfrt_string_builder_clear(&link->in);
  for (size_t i = 0; i < span_count; ++i) {
    tfrt_string_builder_append(&link->in, spans[i].data, spans[i].size);
  }
  *out_bytes = tfrt_string_builder_view(&link->in);
  return tfrt_string_builder_status(&link->in);
}

static void on_batch(tfrt_session_link_t* link, const tfrt_wire_batch_t* batch) {
  switch (link->state) {
    case TFRT_SESSION_LINK_ACCEPTED:
    case TFRT_SESSION_LINK_DIALLING:
      tfrt_session_on_greeting(link, batch);
      break;
    case TFRT_SESSION_LINK_ESTABLISHED:
      tfrt_session_on_batch(link->session, link, batch);
      break;
    case TFRT_SESSION_LINK_FINISHING:
    case TFRT_SESSION_LINK_DROPPED:
    case TFRT_SESSION_LINK_CLOSED:
      break;
  }
}

static void on_bad_batch(tfrt_session_link_t* link, tfrt_status_t status) {
  tfrt_session_t* session = link->session;
  bool is_peers_fault = tfrt_status_code(status) == TFRT_STATUS_INVALID_ARGUMENT;
  if (link->state == TFRT_SESSION_LINK_ESTABLISHED && is_peers_fault) {
    const char* message = tfrt_status_message(status);
    tfrt_session_take_death_with_goodbye(
        session, TFRT_SESSION_DEATH_PROTOCOL,
        tfrt_session_error(session, TFRT_STATUS_ABORTED, "sent what can't be read: %s", message),
        TFRT_WIRE_GOODBYE_PROTOCOL, tfrt_string_view_of(message));
    return;
  }
  if (session) tfrt_session_retain(session);
  bool was_dialling = link->state == TFRT_SESSION_LINK_DIALLING;
  bool was_established = link->state == TFRT_SESSION_LINK_ESTABLISHED;
  if (link->state != TFRT_SESSION_LINK_FINISHING) tfrt_session_link_drop(link, false);
  if (session && was_established) tfrt_session_on_broken(session);
  if (session && was_dialling) {
    tfrt_session_on_dial_failed(session, TFRT_TRANSPORT_RESET, status);
  }
  if (session) tfrt_session_release(session);
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  tfrt_session_link_t* link = link_of(handler);
  tfrt_node_lock_t* lock = link->manager->lock;
  // Decoded without the lock: these buffers belong to the callbacks of this connection.
  tfrt_arena_clear(&link->arena, TFRT_TUNING_LINK_ARENA_BYTES);
  tfrt_string_view_t bytes;
  tfrt_wire_batch_t batch;
  tfrt_status_t status = join_spans(link, spans, span_count, &bytes);
  if (tfrt_status_is_ok(status)) status = tfrt_wire_batch_decode(bytes, &link->arena, &batch);
  tfrt_node_lock_lock(lock);
  // A link that ends here is still needed until this function returns: the transport's
  // reference lasts until on_closed.
  if (TFRT_COUNTERS && link->session) link->session->bytes.received += bytes.size;
  if (tfrt_status_is_ok(status)) {
    on_batch(link, &batch);
  } else {
    on_bad_batch(link, status);
  }
  bool receives = link->state < TFRT_SESSION_LINK_DROPPED;
  tfrt_node_lock_unlock_and_run(lock);
  tfrt_status_release(status);
  if (receives) tfrt_transport_connection_receive(connection);
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection;
  tfrt_session_link_t* link = link_of(handler);
  tfrt_node_lock_t* lock = link->manager->lock;
  tfrt_node_lock_lock(lock);
  tfrt_session_t* session = link->session;
  if (session) tfrt_session_retain(session);
  tfrt_session_link_state_t state = link->state;
  tfrt_session_link_drop(link, false);
  link->state = TFRT_SESSION_LINK_CLOSED;
  stop_timer(link);  // of one that has ended in order
  if (session && state == TFRT_SESSION_LINK_ESTABLISHED) tfrt_session_on_broken(session);
  if (session && state == TFRT_SESSION_LINK_DIALLING) {
    tfrt_session_on_dial_failed(session, end, status);
  }
  if (session) tfrt_session_release(session);
  tfrt_session_link_release(link);  // the transport's
  tfrt_node_lock_unlock_and_run(lock);
}

static const tfrt_transport_handler_vtable_t handler_vtable = {
    .on_message = on_message,
    .on_closed = on_closed,
};
