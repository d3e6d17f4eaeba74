// SPDX-License-Identifier: Apache-2.0
//
// One connection of the lanes' manager. Only the lane's task, which runs without the lock, calls
// the transport; |due| says which calls the task has to make.
#include <string.h>

#include "distributed/bulk/crc32c.h"
#include "distributed/bulk/lane_impl.h"

static const tfrt_transport_handler_vtable_t handler_vtable;

// --- References --------------------------------------------------------------

static void free_lane(tfrt_lane_t* lane) {
  tfrt_allocator_t allocator = lane->manager->allocator;
  tfrt_transport_connection_release(lane->connection);
  tfrt_string_builder_deinitialize(&lane->head);
  tfrt_allocator_free(allocator, lane, sizeof(*lane));
}

// Drops one reference, opens the lock, and frees |lane| if that was the last one.
static void release_and_unlock(tfrt_lane_t* lane) {
  tfrt_lane_manager_t* manager = lane->manager;
  tfrt_node_lock_t* lock = manager->lock;
  bool is_last = --lane->references == 0;
  if (is_last) {
    tfrt_list_remove(&lane->link);
    tfrt_node_lock_unlock_and_run(lock);
    free_lane(lane);
    // Only now the manager may be gone.
    tfrt_node_lock_lock(lock);
    --manager->counts.lanes;
    tfrt_lane_manager_forget_one(manager);
  }
  tfrt_node_lock_unlock_and_run(lock);
}

static void run_task(tfrt_task_t* task);
static void run_timer(tfrt_timer_t* timer);

// Has |lane|'s task make the call |due| when the lock is opened.
static void schedule(tfrt_lane_t* lane, tfrt_lane_due_t due) {
  lane->due |= due;
  if (lane->has_task) return;
  lane->has_task = true;
  ++lane->references;
  tfrt_task_initialize(&lane->task, run_task);
  tfrt_node_lock_defer(lane->manager->lock, &lane->task);
}

tfrt_lane_t* tfrt_lane_create(tfrt_lane_manager_t* manager, tfrt_lane_peer_t* peer,
                              tfrt_transport_connection_t* connection) {
  tfrt_lane_t* lane = tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*lane));
  if (!lane) return NULL;
  lane->handler.vtable = &handler_vtable;
  lane->manager = manager;
  lane->peer = peer;
  lane->connection = connection ? tfrt_transport_connection_retain(connection) : NULL;
  lane->is_dialler = !connection;
  lane->state = connection ? TFRT_LANE_GREETING : TFRT_LANE_DIALLING;
  lane->references = 1;
  tfrt_string_builder_initialize(&lane->head, manager->allocator);
  tfrt_list_push_back(&manager->lanes, &lane->link);
  ++manager->live;
  ++manager->counts.lanes;
  // A dial has a limit of its own; the answer to Hello gets the same time.
  int64_t budget_ns = manager->options.dial_timeout_ns * (lane->is_dialler ? 2 : 1);
  int64_t now_ns = tfrt_clock_now_ns(manager->timers->clock);
  lane->has_timer = true;
  ++lane->references;
  tfrt_timer_start(manager->timers, &lane->timer, tfrt_deadline_after(now_ns, budget_ns),
                   run_timer);
  if (lane->is_dialler) {
    ++manager->counts.dials;
    schedule(lane, TFRT_LANE_DUE_DIAL);
  }
  return lane;
}

static void stop_timer(tfrt_lane_t* lane) {
  if (!lane->has_timer || !tfrt_timer_cancel(lane->manager->timers, &lane->timer)) return;
  lane->has_timer = false;
  --lane->references;  // not the last one: on_closed is to come, or a task has one
}

static void leave_state(tfrt_lane_t* lane, tfrt_lane_state_t state) {
  if (lane->state == TFRT_LANE_GREETING) --lane->manager->greeting_count;
  lane->state = state;
}

void tfrt_lane_break(tfrt_lane_t* lane) {
  leave_state(lane, TFRT_LANE_ENDING);
  lane->peer = NULL;
  schedule(lane, TFRT_LANE_DUE_ABORT);
}

// Takes |lane| out of use and breaks it.
static void give_up(tfrt_lane_t* lane) {
  tfrt_lane_peer_t* peer = lane->peer;
  bool was_open = lane->state == TFRT_LANE_OPEN;
  tfrt_lane_break(lane);
  if (peer) tfrt_lane_peer_detach(peer, was_open);
}

static void run_timer(tfrt_timer_t* timer) {
  tfrt_lane_t* lane = TFRT_CONTAINER_OF(timer, tfrt_lane_t, timer);
  tfrt_node_lock_lock(lane->manager->lock);
  lane->has_timer = false;
  // A peer that was refused may never read the answer.
  bool is_late = lane->state == TFRT_LANE_DIALLING || lane->state == TFRT_LANE_GREETING ||
                 lane->state == TFRT_LANE_REFUSING;
  if (is_late) give_up(lane);
  release_and_unlock(lane);
}

// --- Messages besides chunks: Hello or Welcome, then Aborts and Windows ----------

// Makes a write due, of the chunk or the message that |lane|, which writes nothing, has.
static void must_write(tfrt_lane_t* lane) {
  lane->is_writing = true;
  lane->used_ns = tfrt_lane_manager_now_ns(lane->manager);
  ++lane->references;  // a write may be completed behind the connection's end
  schedule(lane, TFRT_LANE_DUE_WRITE);
}

static tfrt_status_t encode_message(tfrt_lane_t* lane, const tfrt_wire_bulk_t* message) {
  tfrt_string_builder_clear(&lane->head);
  return tfrt_wire_bulk_encode(message, lane->is_dialler, &lane->head);
}

// Begins the write of a small message; an error (taken) breaks the lane.
static void take_encoded(tfrt_lane_t* lane, tfrt_status_t status) {
  if (!tfrt_status_is_ok(status)) {
    tfrt_status_release(status);
    give_up(lane);
    return;
  }
  must_write(lane);
}

// Begins the write of the small |message|: Hello or a Window.
static void begin_message(tfrt_lane_t* lane, const tfrt_wire_bulk_t* message) {
  take_encoded(lane, encode_message(lane, message));
}

// Begins the write of |abort|, whose error is |status| (+0).
static void begin_abort(tfrt_lane_t* lane, tfrt_wire_abort_t abort, tfrt_status_t status) {
  tfrt_lane_manager_t* manager = lane->manager;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, manager->allocator);
  tfrt_wire_error_t error;
  tfrt_status_t result = tfrt_wire_error_from_status(status, TFRT_WIRE_NO_RANK,
                                                     manager->options.incarnation, &arena, &error);
  if (tfrt_status_is_ok(result)) {
    abort.error = &error;
    result =
        encode_message(lane, &(tfrt_wire_bulk_t){.kind = TFRT_WIRE_BULK_ABORT, .abort = abort});
  }
  tfrt_arena_deinitialize(&arena);
  take_encoded(lane, result);
}

// Begins the write of the Welcome of the lane with |number|, or of its |refusal| (+0; NULL: none).
static void begin_welcome(tfrt_lane_t* lane, uint32_t number, tfrt_status_t refusal) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, lane->manager->allocator);
  tfrt_wire_error_t error;
  tfrt_status_t result = NULL;
  if (refusal) {
    result = tfrt_wire_error_from_status(refusal, TFRT_WIRE_NO_RANK,
                                         lane->manager->options.incarnation, &arena, &error);
  }
  if (tfrt_status_is_ok(result)) {
    const tfrt_wire_bulk_t welcome = {
        .kind = TFRT_WIRE_BULK_LANE,
        .welcome = {.lane = number,
                    .error = refusal ? &error : NULL,
                    .last_dialled = lane->peer ? lane->peer->last_dialled : 0}};
    result = encode_message(lane, &welcome);
  }
  tfrt_arena_deinitialize(&arena);
  take_encoded(lane, result);
}

// Begins the Abort for the next failed transfer. Returns false if there is none.
static bool begin_failure(tfrt_lane_t* lane) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&lane->peer->failed);
  if (!link) return false;
  tfrt_lane_outgoing_t* outgoing = TFRT_CONTAINER_OF(link, tfrt_lane_outgoing_t, link);
  const tfrt_wire_abort_t abort = {.want = outgoing->want, .from_owner = true, .is_final = true};
  begin_abort(lane, abort, outgoing->failure);
  return true;
}

// Begins the Abort for the next interrupted transfer. Returns false if there is none.
static bool begin_interruption(tfrt_lane_t* lane) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&lane->peer->interrupted);
  if (!link) return false;
  tfrt_lane_outgoing_t* outgoing = TFRT_CONTAINER_OF(link, tfrt_lane_outgoing_t, link);
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_ABORTED, "the lane was lost; resume the transfer");
  begin_abort(lane, (tfrt_wire_abort_t){.want = outgoing->want, .from_owner = true}, status);
  tfrt_status_release(status);
  return true;
}

static void begin_window(tfrt_lane_t* lane, uint64_t want, uint64_t limit) {
  const tfrt_wire_bulk_t window = {.kind = TFRT_WIRE_BULK_WINDOW,
                                   .window = {.want = want, .limit = limit}};
  begin_message(lane, &window);
}

// Says the next window that has moved; or once more the first one, to see whether the lane is lost.
// Returns false if there is none.
static bool begin_due_window(tfrt_lane_t* lane) {
  const uint64_t expected_want = lane->expected_want;
  tfrt_list_link_t* link = tfrt_list_pop_front(&lane->peer->windows);
  if (!link && expected_want == 0) return false;
  lane->expected_want = 0;
  if (link) {
    tfrt_lane_incoming_t* incoming = TFRT_CONTAINER_OF(link, tfrt_lane_incoming_t, link);
    begin_window(lane, incoming->name.want, incoming->granted);
  } else {
    begin_window(lane, expected_want, lane->manager->options.window_size);
  }
  return true;
}

// Begins the write of the next Abort or Window that is due. False if there is none.
static bool begin_due_message(tfrt_lane_t* lane) {
  tfrt_lane_peer_t* peer = lane->peer;
  tfrt_list_link_t* link = tfrt_list_pop_front(&peer->aborts);
  if (link) {
    --peer->abort_count;
    tfrt_lane_abort_t* abort = TFRT_CONTAINER_OF(link, tfrt_lane_abort_t, link);
    begin_abort(
        lane,
        (tfrt_wire_abort_t){
            .want = abort->want, .from_owner = abort->from_owner, .is_final = abort->from_owner},
        abort->status);
    tfrt_status_release(abort->status);
    tfrt_allocator_free(lane->manager->allocator, abort, sizeof(*abort));
    return true;
  }
  return begin_failure(lane) || begin_interruption(lane) || begin_due_window(lane);
}

// --- Writing -----------------------------------------------------------------

void tfrt_lane_pump(tfrt_lane_t* lane) {
  if (!lane || lane->state != TFRT_LANE_OPEN || lane->is_writing || !lane->peer) return;
  if (begin_due_message(lane)) return;
  lane->sending = tfrt_lane_outgoing_next(lane->peer, &lane->chunk);
  if (!lane->sending) return;
  must_write(lane);
}

// The write is over, or was never taken; its reference is the caller's to drop.
static void finish_write(tfrt_lane_t* lane) {
  lane->is_writing = false;
  if (lane->sending) tfrt_lane_outgoing_finish_write(lane->sending);
  lane->sending = NULL;
  if (lane->state == TFRT_LANE_REFUSING) {
    schedule(lane, TFRT_LANE_DUE_CLOSE);
    return;
  }
  tfrt_lane_pump(lane);
}

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  (void)status;  // the end of the connection follows, and says why
  tfrt_lane_t* lane = TFRT_CONTAINER_OF(write, tfrt_lane_t, write);
  tfrt_node_lock_lock(lane->manager->lock);
  finish_write(lane);
  release_and_unlock(lane);
}

// Frames the chunk and gives it, or the message, to the transport. Without the lock.
static tfrt_status_t write_out(tfrt_lane_t* lane) {
  lane->write.span_count = 1;
  lane->write.on_written = on_written;
  if (lane->sending) {
    tfrt_wire_chunk_t* chunk = &lane->chunk;
    if (lane->manager->options.uses_checksum && chunk->payload.size > 0) {
      chunk->checksum_kind = TFRT_WIRE_CHECKSUM_CRC32C;
      chunk->checksum = tfrt_crc32c_extend(0, chunk->payload.data, chunk->payload.size);
    }
    tfrt_string_builder_clear(&lane->head);
    TFRT_RETURN_IF_ERROR(tfrt_wire_chunk_encode_prefix(chunk, &lane->head));
    lane->write.spans[1] = (tfrt_transport_span_t){chunk->payload.data, chunk->payload.size};
    lane->write.span_count = chunk->payload.size > 0 ? 2 : 1;
  }
  lane->write.spans[0] = (tfrt_transport_span_t){lane->head.data, lane->head.size};
  return tfrt_transport_connection_write(lane->connection, &lane->write);
}

// --- The task ----------------------------------------------------------------

static tfrt_status_t dial(tfrt_lane_t* lane, tfrt_string_view_t address,
                          tfrt_transport_connection_t** out_connection) {
  tfrt_lane_manager_t* manager = lane->manager;
  const tfrt_transport_metadata_t key = {tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY),
                                         manager->options.cluster_key};
  const tfrt_transport_dial_options_t options = {.address = address,
                                                 .kind = TFRT_TRANSPORT_BULK,
                                                 .metadata = &key,
                                                 .metadata_count = key.value.size > 0 ? 1 : 0,
                                                 .timeout_ns = manager->options.dial_timeout_ns};
  return tfrt_transport_dial(manager->transport, &options, &lane->handler, out_connection);
}

// Dials, and says Hello. Takes the lock; the caller's reference keeps |lane|.
static void dial_and_greet(tfrt_lane_t* lane) {
  tfrt_lane_manager_t* manager = lane->manager;
  tfrt_wire_bulk_t hello = {.kind = TFRT_WIRE_BULK_LANE};
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  size_t address_size = 0;
  tfrt_node_lock_lock(manager->lock);
  if (lane->peer) {
    const tfrt_lane_session_t* session = &lane->peer->session;
    address_size = session->address.size;
    memcpy(address, session->address.data, address_size);
    hello.hello = (tfrt_wire_lane_hello_t){.version = session->version,
                                           .from_incarnation = manager->options.incarnation,
                                           .to_incarnation = session->incarnation,
                                           .session = session->session,
                                           .connection = lane->number};
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
  tfrt_transport_connection_t* connection = NULL;
  if (address_size > 0) {
    tfrt_status_release(dial(lane, tfrt_string_view_make(address, address_size), &connection));
  }
  tfrt_node_lock_lock(manager->lock);
  lane->connection = connection;
  if (!connection) {
    give_up(lane);
    stop_timer(lane);
    --lane->references;  // on_closed will not come; the task still has one
  } else if (lane->peer) {
    begin_message(lane, &hello);
  } else {
    // It was broken before there was anything to break.
    schedule(lane, TFRT_LANE_DUE_ABORT);
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
  if (connection) tfrt_transport_connection_receive(connection);
}

static void run_task(tfrt_task_t* task) {
  tfrt_lane_t* lane = TFRT_CONTAINER_OF(task, tfrt_lane_t, task);
  tfrt_node_lock_t* lock = lane->manager->lock;
  tfrt_node_lock_lock(lock);
  lane->has_task = false;
  // Before the dial there is no connection to do the others with.
  uint32_t due = lane->due & (lane->connection ? ~0u : (uint32_t)TFRT_LANE_DUE_DIAL);
  lane->due &= ~due;
  tfrt_node_lock_unlock_and_run(lock);
  if (due & TFRT_LANE_DUE_DIAL) dial_and_greet(lane);
  if (due & TFRT_LANE_DUE_ABORT) tfrt_transport_connection_abort(lane->connection);
  tfrt_status_t status = due & TFRT_LANE_DUE_WRITE ? write_out(lane) : NULL;
  if (due & TFRT_LANE_DUE_CLOSE) tfrt_transport_connection_close(lane->connection);
  tfrt_node_lock_lock(lock);
  if (status) {
    finish_write(lane);
    --lane->references;  // the task has one still
    if (!tfrt_lane_is_over(lane)) give_up(lane);
  }
  tfrt_status_release(status);
  release_and_unlock(lane);
}

// --- What comes --------------------------------------------------------------

// Decides about Hello. Returns false if it is no Hello.
static bool on_hello(tfrt_lane_t* lane, const tfrt_lane_message_t* message) {
  if (message->body.kind != TFRT_WIRE_BULK_LANE) return false;
  tfrt_status_t refusal = tfrt_lane_peer_adopt(lane, &message->body.hello);
  leave_state(lane, refusal ? TFRT_LANE_REFUSING : TFRT_LANE_OPEN);
  if (!refusal) stop_timer(lane);
  begin_welcome(lane, message->body.hello.lane, refusal);
  if (!refusal && lane->peer) tfrt_lane_peer_opened(lane->peer);
  tfrt_status_release(refusal);
  return true;
}

static bool on_welcome(tfrt_lane_t* lane, const tfrt_lane_message_t* message) {
  if (message->body.kind != TFRT_WIRE_BULK_LANE || message->body.welcome.lane != 0) return false;
  stop_timer(lane);
  if (message->body.welcome.error) {
    give_up(lane);
    return true;
  }
  leave_state(lane, TFRT_LANE_OPEN);
  lane->passed = message->body.welcome.last_dialled;
  tfrt_lane_peer_opened(lane->peer);
  tfrt_lane_pump(lane);
  return true;
}

// The direction of the transfer that |message|, which is no Hello and no Welcome, is about; NULL:
// it is about none.
static const tfrt_lane_direction_t* direction_of(const tfrt_lane_message_t* message) {
  switch (message->body.kind) {
    case TFRT_WIRE_BULK_CHUNK:
      return &tfrt_lane_incoming_direction;
    case TFRT_WIRE_BULK_WINDOW:
      return &tfrt_lane_outgoing_direction;
    case TFRT_WIRE_BULK_ABORT:
      return message->body.abort.from_owner ? &tfrt_lane_incoming_direction
                                            : &tfrt_lane_outgoing_direction;
    default:
      return NULL;
  }
}

// Takes the lock. Returns false for a message that must not come here.
static bool on_wire_message(tfrt_lane_t* lane, const tfrt_lane_message_t* message) {
  tfrt_node_lock_t* lock = lane->manager->lock;
  const tfrt_lane_direction_t* direction = NULL;
  bool is_fine = true;
  tfrt_node_lock_lock(lock);
  lane->used_ns = tfrt_lane_manager_now_ns(lane->manager);
  if (lane->state == TFRT_LANE_GREETING) {
    is_fine = on_hello(lane, message);
  } else if (lane->state == TFRT_LANE_DIALLING) {
    is_fine = on_welcome(lane, message);
  } else if (lane->state == TFRT_LANE_OPEN && lane->peer) {
    direction = direction_of(message);
    is_fine = direction != NULL;
    tfrt_lane_pump(lane);
  }
  tfrt_node_lock_unlock_and_run(lock);
  if (direction) direction->on_message(lane, message);
  return is_fine;
}

// The peer breaks the protocol, as |status| (+0) says. Takes the lock.
static void on_mistake(tfrt_lane_t* lane, tfrt_status_t status) {
  tfrt_lane_handler_t* handler = lane->manager->handler;
  tfrt_lane_transfer_t name = {0};
  tfrt_node_lock_lock(lane->manager->lock);
  if (lane->peer) {
    name.incarnation = lane->peer->session.incarnation;
    name.session = lane->peer->session.session;
  }
  if (!tfrt_lane_is_over(lane)) give_up(lane);
  tfrt_node_lock_unlock_and_run(lane->manager->lock);
  if (name.incarnation != 0) handler->vtable->lost(handler, &name, status);
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  tfrt_lane_t* lane = TFRT_CONTAINER_OF(handler, tfrt_lane_t, handler);
  tfrt_lane_message_t message;
  tfrt_status_t status = tfrt_lane_message_initialize(&message, spans, span_count,
                                                      !lane->is_dialler, lane->manager->allocator);
  if (tfrt_status_is_ok(status)) {
    if (!on_wire_message(lane, &message)) {
      status =
          tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                             "a message of kind %u has no place on this lane", message.body.kind);
    }
    tfrt_lane_message_deinitialize(&message);
  }
  if (!tfrt_status_is_ok(status)) on_mistake(lane, status);
  tfrt_status_release(status);
  // on_closed has not come yet: |lane| and its connection are alive.
  tfrt_transport_connection_receive(connection);
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection;
  (void)end;
  (void)status;
  tfrt_lane_t* lane = TFRT_CONTAINER_OF(handler, tfrt_lane_t, handler);
  tfrt_node_lock_lock(lane->manager->lock);
  tfrt_lane_peer_t* peer = lane->peer;
  bool was_open = lane->state == TFRT_LANE_OPEN;
  leave_state(lane, TFRT_LANE_ENDING);
  lane->peer = NULL;
  stop_timer(lane);
  if (peer) tfrt_lane_peer_detach(peer, was_open);
  release_and_unlock(lane);
}

static const tfrt_transport_handler_vtable_t handler_vtable = {on_message, on_closed};
