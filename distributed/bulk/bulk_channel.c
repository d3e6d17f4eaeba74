// SPDX-License-Identifier: Apache-2.0
//
// One bulk channel. Only the channel's task, which runs without the lock,
// calls the transport; |due| says which calls the task has to make.
#include <string.h>

#include "distributed/bulk/bulk_impl.h"
#include "distributed/bulk/crc32c.h"

static const tfrt_transport_handler_vtable_t handler_vtable;

// --- References --------------------------------------------------------------

static void free_channel(tfrt_bulk_channel_t* channel) {
  tfrt_allocator_t allocator = channel->manager->allocator;
  tfrt_transport_connection_release(channel->connection);
  tfrt_string_builder_deinitialize(&channel->head);
  tfrt_allocator_free(allocator, channel, sizeof(*channel));
}

// Drops one reference, opens the lock, and frees |channel| if that was the last one.
static void release_and_unlock(tfrt_bulk_channel_t* channel) {
  tfrt_bulk_manager_t* manager = channel->manager;
  tfrt_node_lock_t* lock = manager->lock;
  bool is_last = --channel->references == 0;
  if (is_last) {
    tfrt_list_remove(&channel->link);
    tfrt_node_lock_unlock_and_run(lock);
    free_channel(channel);
    // Only now the manager may be gone.
    tfrt_node_lock_lock(lock);
    --manager->counts.channels;
    tfrt_bulk_manager_forget_one(manager);
  }
  tfrt_node_lock_unlock_and_run(lock);
}

static void run_task(tfrt_task_t* task);
static void run_timer(tfrt_timer_t* timer);

// Has |channel|'s task make the call |due| when the lock is opened.
static void schedule(tfrt_bulk_channel_t* channel, tfrt_bulk_channel_due_t due) {
  channel->due |= due;
  if (channel->has_task) return;
  channel->has_task = true;
  ++channel->references;
  tfrt_task_initialize(&channel->task, run_task);
  tfrt_node_lock_defer(channel->manager->lock, &channel->task);
}

tfrt_bulk_channel_t* tfrt_bulk_channel_create(tfrt_bulk_manager_t* manager, tfrt_bulk_peer_t* peer,
                                              tfrt_transport_connection_t* connection) {
  tfrt_bulk_channel_t* channel =
      tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*channel));
  if (!channel) return NULL;
  channel->handler.vtable = &handler_vtable;
  channel->manager = manager;
  channel->peer = peer;
  channel->connection = connection ? tfrt_transport_connection_retain(connection) : NULL;
  channel->is_dialler = !connection;
  channel->state = connection ? TFRT_BULK_CHANNEL_GREETING : TFRT_BULK_CHANNEL_DIALLING;
  channel->references = 1;
  tfrt_bulk_pace_reset(&channel->pace);
  tfrt_string_builder_initialize(&channel->head, manager->allocator);
  tfrt_list_push_back(&manager->channels, &channel->link);
  ++manager->live;
  ++manager->counts.channels;
  // A dial has a limit of its own; the answer to Hello gets the same time.
  int64_t budget_ns = manager->options.dial_timeout_ns * (channel->is_dialler ? 2 : 1);
  int64_t now_ns = tfrt_clock_now_ns(manager->timers->clock);
  channel->has_timer = true;
  ++channel->references;
  tfrt_timer_start(manager->timers, &channel->timer, tfrt_deadline_after(now_ns, budget_ns),
                   run_timer);
  if (channel->is_dialler) {
    ++manager->counts.dials;
    schedule(channel, TFRT_BULK_CHANNEL_DUE_DIAL);
  }
  return channel;
}

static void stop_timer(tfrt_bulk_channel_t* channel) {
  if (!channel->has_timer || !tfrt_timer_cancel(channel->manager->timers, &channel->timer)) return;
  channel->has_timer = false;
  --channel->references;  // not the last one: on_closed is to come, or a task has one
}

static void leave_state(tfrt_bulk_channel_t* channel, tfrt_bulk_channel_state_t state) {
  if (channel->state == TFRT_BULK_CHANNEL_GREETING) --channel->manager->greeting_count;
  channel->state = state;
}

void tfrt_bulk_channel_break(tfrt_bulk_channel_t* channel) {
  leave_state(channel, TFRT_BULK_CHANNEL_ENDING);
  channel->peer = NULL;
  schedule(channel, TFRT_BULK_CHANNEL_DUE_ABORT);
}

void tfrt_bulk_channel_give_up(tfrt_bulk_channel_t* channel) {
  tfrt_bulk_peer_t* peer = channel->peer;
  bool was_open = channel->state == TFRT_BULK_CHANNEL_OPEN;
  tfrt_bulk_channel_break(channel);
  if (peer) tfrt_bulk_peer_detach(peer, was_open);
}

static void run_timer(tfrt_timer_t* timer) {
  tfrt_bulk_channel_t* channel = TFRT_CONTAINER_OF(timer, tfrt_bulk_channel_t, timer);
  tfrt_node_lock_lock(channel->manager->lock);
  channel->has_timer = false;
  // A peer that was refused may never read the answer.
  bool is_late = channel->state == TFRT_BULK_CHANNEL_DIALLING ||
                 channel->state == TFRT_BULK_CHANNEL_GREETING ||
                 channel->state == TFRT_BULK_CHANNEL_REFUSING;
  if (is_late) tfrt_bulk_channel_give_up(channel);
  release_and_unlock(channel);
}

// --- Messages besides chunks: Hello or Welcome, then Aborts and Windows ----------

// Makes a write due, of the chunk or the message that |channel|, which writes nothing, has.
static void must_write(tfrt_bulk_channel_t* channel) {
  channel->is_writing = true;
  channel->used_ns = tfrt_bulk_manager_now_ns(channel->manager);
  channel->writing_ns = channel->used_ns;
  if (channel->sending) tfrt_bulk_peer_watch(channel->peer);
  ++channel->references;  // a write may be completed behind the connection's end
  schedule(channel, TFRT_BULK_CHANNEL_DUE_WRITE);
}

static tfrt_status_t encode_message(tfrt_bulk_channel_t* channel, const tfrt_wire_bulk_t* message) {
  tfrt_string_builder_clear(&channel->head);
  return tfrt_wire_bulk_encode(message, channel->is_dialler, &channel->head);
}

// Begins the write of a small message; an error (taken) breaks the channel.
static void take_encoded(tfrt_bulk_channel_t* channel, tfrt_status_t status) {
  if (!tfrt_status_is_ok(status)) {
    tfrt_status_release(status);
    tfrt_bulk_channel_give_up(channel);
    return;
  }
  must_write(channel);
}

// Begins the write of the small |message|: Hello or a Window.
static void begin_message(tfrt_bulk_channel_t* channel, const tfrt_wire_bulk_t* message) {
  take_encoded(channel, encode_message(channel, message));
}

// Begins the write of |abort|, whose error is |status| (+0).
static void begin_abort(tfrt_bulk_channel_t* channel, tfrt_wire_abort_t abort,
                        tfrt_status_t status) {
  tfrt_bulk_manager_t* manager = channel->manager;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, manager->allocator);
  tfrt_wire_error_t error;
  tfrt_status_t result = tfrt_wire_error_from_status(status, TFRT_WIRE_NO_RANK,
                                                     manager->options.incarnation, &arena, &error);
  if (tfrt_status_is_ok(result)) {
    abort.error = &error;
    result =
        encode_message(channel, &(tfrt_wire_bulk_t){.kind = TFRT_WIRE_BULK_ABORT, .abort = abort});
  }
  tfrt_arena_deinitialize(&arena);
  take_encoded(channel, result);
}

// Begins the write of the Welcome of the channel with |number|, or of its |refusal| (+0; NULL:
// none).
static void begin_welcome(tfrt_bulk_channel_t* channel, uint32_t number, tfrt_status_t refusal) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, channel->manager->allocator);
  tfrt_wire_error_t error;
  tfrt_status_t result = NULL;
  if (refusal) {
    result = tfrt_wire_error_from_status(refusal, TFRT_WIRE_NO_RANK,
                                         channel->manager->options.incarnation, &arena, &error);
  }
  if (tfrt_status_is_ok(result)) {
    const tfrt_wire_bulk_t welcome = {
        .kind = TFRT_WIRE_BULK_GREETING,
        .welcome = {.channel = number,
                    .error = refusal ? &error : NULL,
                    .last_dialled = channel->peer ? channel->peer->last_dialled : 0,
                    .place = channel->manager->options.place}};
    result = encode_message(channel, &welcome);
  }
  tfrt_arena_deinitialize(&arena);
  take_encoded(channel, result);
}

// Begins the Abort for the next failed transfer. Returns false if there is none.
static bool begin_failure(tfrt_bulk_channel_t* channel) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&channel->peer->failed);
  if (!link) return false;
  tfrt_bulk_outgoing_t* outgoing = TFRT_CONTAINER_OF(link, tfrt_bulk_outgoing_t, link);
  const tfrt_wire_abort_t abort = {.want = outgoing->want, .from_owner = true, .is_final = true};
  begin_abort(channel, abort, outgoing->failure);
  return true;
}

// Begins the Abort for the next interrupted transfer. Returns false if there is none.
static bool begin_interruption(tfrt_bulk_channel_t* channel) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&channel->peer->interrupted);
  if (!link) return false;
  tfrt_bulk_outgoing_t* outgoing = TFRT_CONTAINER_OF(link, tfrt_bulk_outgoing_t, link);
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_ABORTED, "the bulk channel was lost; resume the transfer");
  begin_abort(channel, (tfrt_wire_abort_t){.want = outgoing->want, .from_owner = true}, status);
  tfrt_status_release(status);
  return true;
}

// Says the next window that has moved, or that no memory can be borrowed; or once more the first
// one, to see whether the channel is lost. Returns false if there is none.
static bool begin_due_window(tfrt_bulk_channel_t* channel) {
  const uint64_t expected_want = channel->expected_want;
  tfrt_wire_bulk_t message;
  bool is_due = tfrt_bulk_incoming_direction.next_message(channel->peer, &message);
  if (!is_due && expected_want == 0) return false;
  channel->expected_want = 0;
  if (!is_due) {
    message = (tfrt_wire_bulk_t){
        .kind = TFRT_WIRE_BULK_WINDOW,
        .window = {.want = expected_want, .limit = channel->manager->options.window_size}};
  }
  begin_message(channel, &message);
  return true;
}

// Reports what has come. Returns false if no chunk has asked for it.
static bool begin_due_report(tfrt_bulk_channel_t* channel) {
  if (!channel->arrivals.is_report_due) return false;
  channel->arrivals.is_report_due = false;
  const tfrt_wire_bulk_t report = {.kind = TFRT_WIRE_BULK_RECEIVED,
                                   .received = {.bytes = channel->arrivals.bytes}};
  begin_message(channel, &report);
  return true;
}

// Begins the next Offer. Returns false if there is none.
static bool begin_offer(tfrt_bulk_channel_t* channel) {
  tfrt_wire_bulk_t message;
  if (!tfrt_bulk_outgoing_direction.next_message(channel->peer, &message)) return false;
  begin_message(channel, &message);
  return true;
}

// Begins the write of the next report, Abort, Offer, Window or Decline that is due. False if there
// is none.
static bool begin_due_message(tfrt_bulk_channel_t* channel) {
  if (begin_due_report(channel)) return true;
  tfrt_bulk_peer_t* peer = channel->peer;
  tfrt_list_link_t* link = tfrt_list_pop_front(&peer->aborts);
  if (link) {
    --peer->abort_count;
    tfrt_bulk_abort_t* abort = TFRT_CONTAINER_OF(link, tfrt_bulk_abort_t, link);
    begin_abort(
        channel,
        (tfrt_wire_abort_t){
            .want = abort->want, .from_owner = abort->from_owner, .is_final = abort->from_owner},
        abort->status);
    tfrt_status_release(abort->status);
    tfrt_allocator_free(channel->manager->allocator, abort, sizeof(*abort));
    return true;
  }
  return begin_failure(channel) || begin_interruption(channel) || begin_due_window(channel) ||
         begin_offer(channel);
}

// --- Writing -----------------------------------------------------------------

// Takes the next chunk that may be sent, if the pace of the session allows one.
static bool begin_chunk(tfrt_bulk_channel_t* channel) {
  const bool is_paced = channel->peer->session.is_paced;
  const int64_t now_ns = is_paced ? tfrt_bulk_manager_now_ns(channel->manager) : 0;
  const uint64_t most = is_paced ? tfrt_bulk_pace_chunk_size(&channel->pace, now_ns) : UINT64_MAX;
  if (most == 0) {
    if (channel->peer->held_since_ns == TFRT_TIME_INFINITE) channel->peer->held_since_ns = now_ns;
    return false;
  }
  channel->peer->held_since_ns = TFRT_TIME_INFINITE;
  channel->sending = tfrt_bulk_outgoing_next(channel->peer, most, &channel->chunk);
  if (!channel->sending) return false;
  const uint64_t size = channel->chunk.payload.size;
  if (size > channel->largest) channel->largest = size;
  if (is_paced && size > 0) {
    bool asks = tfrt_bulk_pace_note_sent(&channel->pace, size, now_ns);
    // Behind the end of a large payload, or of its credit, no chunk may come that asks.
    const tfrt_bulk_outgoing_t* sending = channel->sending;
    const bool is_end = (channel->chunk.last || sending->offset >= sending->limit) &&
                        sending->encoding.body_size >= TFRT_WIRE_SMALL_TRANSFER_SIZE;
    if (is_end && !asks) {
      tfrt_bulk_pace_ask(&channel->pace);
      asks = true;
    }
    channel->chunk.asks_received = asks;
  }
  tfrt_bulk_stall_note(channel->peer, channel->sending, TFRT_BULK_STALL_SENT);
  return true;
}

void tfrt_bulk_channel_pump(tfrt_bulk_channel_t* channel) {
  if (!channel || channel->state != TFRT_BULK_CHANNEL_OPEN || channel->is_writing || !channel->peer)
    return;
  if (begin_due_message(channel)) return;
  if (begin_chunk(channel)) must_write(channel);
}

// The write is over, or was never taken; its reference is the caller's to drop.
static void finish_write(tfrt_bulk_channel_t* channel) {
  channel->is_writing = false;
  if (channel->sending) tfrt_bulk_outgoing_finish_write(channel->sending);
  channel->sending = NULL;
  if (channel->state == TFRT_BULK_CHANNEL_REFUSING) {
    schedule(channel, TFRT_BULK_CHANNEL_DUE_CLOSE);
    return;
  }
  tfrt_bulk_channel_pump(channel);
}

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  (void)status;  // the end of the connection follows, and says why
  tfrt_bulk_channel_t* channel = TFRT_CONTAINER_OF(write, tfrt_bulk_channel_t, write);
  tfrt_node_lock_lock(channel->manager->lock);
  finish_write(channel);
  release_and_unlock(channel);
}

// Frames the chunk and gives it, or the message, to the transport. Without the lock.
static tfrt_status_t write_out(tfrt_bulk_channel_t* channel) {
  channel->write.span_count = 1;
  channel->write.on_written = on_written;
  if (channel->sending) {
    tfrt_wire_chunk_t* chunk = &channel->chunk;
    if (channel->manager->options.uses_checksum && chunk->payload.size > 0) {
      chunk->checksum_kind = TFRT_WIRE_CHECKSUM_CRC32C;
      chunk->checksum = tfrt_crc32c_extend(0, chunk->payload.data, chunk->payload.size);
    }
    tfrt_string_builder_clear(&channel->head);
    TFRT_RETURN_IF_ERROR(tfrt_wire_chunk_encode_prefix(chunk, &channel->head));
    channel->write.spans[1] = (tfrt_transport_span_t){chunk->payload.data, chunk->payload.size};
    channel->write.span_count = chunk->payload.size > 0 ? 2 : 1;
  }
  channel->write.spans[0] = (tfrt_transport_span_t){channel->head.data, channel->head.size};
  return tfrt_transport_connection_write(channel->connection, &channel->write);
}

// --- The task ----------------------------------------------------------------

static tfrt_status_t dial(tfrt_bulk_channel_t* channel, tfrt_string_view_t address,
                          tfrt_transport_connection_t** out_connection) {
  tfrt_bulk_manager_t* manager = channel->manager;
  const tfrt_transport_metadata_t key = {tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY),
                                         manager->options.cluster_key};
  const tfrt_transport_dial_options_t options = {.address = address,
                                                 .kind = TFRT_TRANSPORT_BULK,
                                                 .metadata = &key,
                                                 .metadata_count = key.value.size > 0 ? 1 : 0,
                                                 .timeout_ns = manager->options.dial_timeout_ns};
  return tfrt_transport_dial(manager->transport, &options, &channel->handler, out_connection);
}

// Dials, and says Hello. Takes the lock; the caller's reference keeps |channel|.
static void dial_and_greet(tfrt_bulk_channel_t* channel) {
  tfrt_bulk_manager_t* manager = channel->manager;
  tfrt_wire_bulk_t hello = {.kind = TFRT_WIRE_BULK_GREETING};
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  size_t address_size = 0;
  tfrt_node_lock_lock(manager->lock);
  if (channel->peer) {
    const tfrt_bulk_session_t* session = &channel->peer->session;
    address_size = session->address.size;
    memcpy(address, session->address.data, address_size);
    hello.hello = (tfrt_wire_bulk_hello_t){.version = session->version,
                                           .from_incarnation = manager->options.incarnation,
                                           .to_incarnation = session->incarnation,
                                           .session = session->session,
                                           .connection = channel->number,
                                           .place = manager->options.place};
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
  tfrt_transport_connection_t* connection = NULL;
  if (address_size > 0) {
    tfrt_status_release(dial(channel, tfrt_string_view_make(address, address_size), &connection));
  }
  tfrt_node_lock_lock(manager->lock);
  channel->connection = connection;
  if (!connection) {
    tfrt_bulk_channel_give_up(channel);
    stop_timer(channel);
    --channel->references;  // on_closed will not come; the task still has one
  } else if (channel->peer) {
    begin_message(channel, &hello);
  } else {
    // It was broken before there was anything to break.
    schedule(channel, TFRT_BULK_CHANNEL_DUE_ABORT);
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
  if (connection) tfrt_transport_connection_receive(connection);
}

static void run_task(tfrt_task_t* task) {
  tfrt_bulk_channel_t* channel = TFRT_CONTAINER_OF(task, tfrt_bulk_channel_t, task);
  tfrt_node_lock_t* lock = channel->manager->lock;
  tfrt_node_lock_lock(lock);
  channel->has_task = false;
  // Before the dial there is no connection to do the others with.
  uint32_t due = channel->due & (channel->connection ? ~0u : (uint32_t)TFRT_BULK_CHANNEL_DUE_DIAL);
  channel->due &= ~due;
  tfrt_node_lock_unlock_and_run(lock);
  if (due & TFRT_BULK_CHANNEL_DUE_DIAL) dial_and_greet(channel);
  if (due & TFRT_BULK_CHANNEL_DUE_ABORT) tfrt_transport_connection_abort(channel->connection);
  tfrt_status_t status = due & TFRT_BULK_CHANNEL_DUE_WRITE ? write_out(channel) : NULL;
  if (due & TFRT_BULK_CHANNEL_DUE_CLOSE) tfrt_transport_connection_close(channel->connection);
  tfrt_node_lock_lock(lock);
  if (status) {
    finish_write(channel);
    --channel->references;  // the task has one still
    if (!tfrt_bulk_channel_is_over(channel)) tfrt_bulk_channel_give_up(channel);
  }
  tfrt_status_release(status);
  release_and_unlock(channel);
}

// --- Who has dialled in --------------------------------------------------------

// Whether |hello| crossed the dial of the channel that |peer| has, which stays. A peer that dials
// after it sent Welcome has lost that connection, even if this side has not noticed.
static bool is_crossed(const tfrt_bulk_peer_t* peer, const tfrt_wire_bulk_hello_t* hello) {
  const tfrt_bulk_channel_t* channel = peer->channel;
  if (!channel || !channel->is_dialler) return false;
  if (peer->manager->options.incarnation > hello->from_incarnation) return false;
  return channel->state == TFRT_BULK_CHANNEL_DIALLING || hello->connection <= channel->passed;
}

static tfrt_status_t check_hello(const tfrt_bulk_manager_t* manager, const tfrt_bulk_peer_t* peer,
                                 const tfrt_wire_bulk_hello_t* hello) {
  if (hello->to_incarnation != manager->options.incarnation) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "another process lives at this address");
  }
  if (!peer || peer->session.session != hello->session) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "no session %u is open between these two", hello->session);
  }
  if (hello->version != peer->session.version) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "the session speaks version %u, its bulk channel version %u",
                              peer->session.version, hello->version);
  }
  if (hello->channel != 0) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE, "a session has one bulk channel, number 0");
  }
  if (hello->connection <= peer->last_accepted) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "connection %u of the bulk channel was followed by %u",
                              hello->connection, peer->last_accepted);
  }
  if (is_crossed(peer, hello)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "both dialled; the bulk channel of the smaller incarnation stays");
  }
  return NULL;
}

// Judges |hello| on the accepted |channel|: makes it the channel in use, or returns an error (+1).
static tfrt_status_t adopt(tfrt_bulk_channel_t* channel, const tfrt_wire_bulk_hello_t* hello) {
  tfrt_bulk_manager_t* manager = channel->manager;
  tfrt_bulk_peer_t* peer = tfrt_bulk_peer_find(manager, hello->from_incarnation);
  TFRT_RETURN_IF_ERROR(check_hello(manager, peer, hello));
  peer->last_accepted = hello->connection;
  tfrt_bulk_channel_t* former = peer->channel;
  peer->channel = NULL;
  if (former) {
    tfrt_bulk_channel_break(former);
    tfrt_bulk_outgoing_direction.interrupt_all(peer);
    tfrt_bulk_incoming_direction.interrupt_all(peer);
  }
  peer->channel = channel;
  channel->peer = peer;
  return NULL;
}

// --- What comes --------------------------------------------------------------

// Decides about Hello. Returns false if it is no Hello.
static bool on_hello(tfrt_bulk_channel_t* channel, const tfrt_bulk_message_t* message) {
  if (message->body.kind != TFRT_WIRE_BULK_GREETING) return false;
  tfrt_status_t refusal = adopt(channel, &message->body.hello);
  leave_state(channel, refusal ? TFRT_BULK_CHANNEL_REFUSING : TFRT_BULK_CHANNEL_OPEN);
  if (!refusal) stop_timer(channel);
  begin_welcome(channel, message->body.hello.channel, refusal);
  if (!refusal && channel->peer) {
    tfrt_bulk_peer_opened(channel->peer, message->body.hello.place);
  }
  tfrt_status_release(refusal);
  return true;
}

static bool on_welcome(tfrt_bulk_channel_t* channel, const tfrt_bulk_message_t* message) {
  if (message->body.kind != TFRT_WIRE_BULK_GREETING || message->body.welcome.channel != 0)
    return false;
  stop_timer(channel);
  if (message->body.welcome.error) {
    tfrt_bulk_channel_give_up(channel);
    return true;
  }
  leave_state(channel, TFRT_BULK_CHANNEL_OPEN);
  channel->passed = message->body.welcome.last_dialled;
  tfrt_bulk_peer_opened(channel->peer, message->body.welcome.place);
  tfrt_bulk_channel_pump(channel);
  return true;
}

// The direction of the transfer that |message|, which is no Hello and no Welcome, is about; NULL:
// it is about none.
static const tfrt_bulk_direction_t* direction_of(const tfrt_bulk_message_t* message) {
  switch (message->body.kind) {
    case TFRT_WIRE_BULK_CHUNK:
    case TFRT_WIRE_BULK_OFFER:
      return &tfrt_bulk_incoming_direction;
    case TFRT_WIRE_BULK_WINDOW:
    case TFRT_WIRE_BULK_DECLINE:
      return &tfrt_bulk_outgoing_direction;
    case TFRT_WIRE_BULK_ABORT:
      return message->body.abort.from_owner ? &tfrt_bulk_incoming_direction
                                            : &tfrt_bulk_outgoing_direction;
    default:
      return NULL;
  }
}

// A message on a channel in use: counts a chunk, and takes a report. Returns false for a report of
// bytes that were not sent.
static bool note_traffic(tfrt_bulk_channel_t* channel, const tfrt_wire_bulk_t* message) {
  channel->peer->heard_ns = channel->used_ns;
  if (message->kind == TFRT_WIRE_BULK_CHUNK) {
    const uint64_t size = message->chunk.payload.size;
    if (TFRT_COUNTERS) channel->peer->traffic.received += size;
    channel->arrivals.bytes += size;
    if (message->chunk.asks_received) channel->arrivals.is_report_due = true;
  }
  if (message->kind != TFRT_WIRE_BULK_RECEIVED) return true;
  if (!tfrt_bulk_pace_note_arrived(&channel->pace, message->received.bytes, channel->used_ns)) {
    return false;
  }
  tfrt_bulk_stall_note(channel->peer, NULL, TFRT_BULK_STALL_REPORT);
  return true;
}

// Takes the lock. Returns false for a message that must not come here.
static bool on_wire_message(tfrt_bulk_channel_t* channel, const tfrt_bulk_message_t* message) {
  tfrt_node_lock_t* lock = channel->manager->lock;
  const tfrt_bulk_direction_t* direction = NULL;
  bool is_fine = true;
  tfrt_node_lock_lock(lock);
  channel->used_ns = tfrt_bulk_manager_now_ns(channel->manager);
  channel->heard_ns = channel->used_ns;
  if (channel->state == TFRT_BULK_CHANNEL_GREETING) {
    is_fine = on_hello(channel, message);
  } else if (channel->state == TFRT_BULK_CHANNEL_DIALLING) {
    is_fine = on_welcome(channel, message);
  } else if (channel->state == TFRT_BULK_CHANNEL_OPEN && channel->peer) {
    direction = direction_of(message);
    is_fine = note_traffic(channel, &message->body) &&
              (direction || message->body.kind == TFRT_WIRE_BULK_RECEIVED);
    tfrt_bulk_channel_pump(channel);
  }
  tfrt_node_lock_unlock_and_run(lock);
  if (direction) direction->on_message(channel, message);
  return is_fine;
}

// The peer breaks the protocol, as |status| (+0) says. Takes the lock.
static void on_mistake(tfrt_bulk_channel_t* channel, tfrt_status_t status) {
  tfrt_bulk_handler_t* handler = channel->manager->handler;
  tfrt_bulk_transfer_t name = {0};
  tfrt_node_lock_lock(channel->manager->lock);
  if (channel->peer) {
    name.incarnation = channel->peer->session.incarnation;
    name.session = channel->peer->session.session;
  }
  if (!tfrt_bulk_channel_is_over(channel)) tfrt_bulk_channel_give_up(channel);
  tfrt_node_lock_unlock_and_run(channel->manager->lock);
  if (name.incarnation != 0) handler->vtable->lost(handler, &name, status);
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  tfrt_bulk_channel_t* channel = TFRT_CONTAINER_OF(handler, tfrt_bulk_channel_t, handler);
  tfrt_bulk_message_t message;
  tfrt_status_t status = tfrt_bulk_message_initialize(
      &message, spans, span_count, !channel->is_dialler, channel->manager->allocator);
  if (tfrt_status_is_ok(status)) {
    if (!on_wire_message(channel, &message)) {
      status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                  "a message of kind %u has no place on this bulk channel",
                                  message.body.kind);
    }
    tfrt_bulk_message_deinitialize(&message);
  }
  if (!tfrt_status_is_ok(status)) on_mistake(channel, status);
  tfrt_status_release(status);
  // on_closed has not come yet: |channel| and its connection are alive.
  tfrt_transport_connection_receive(connection);
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection;
  (void)end;
  (void)status;
  tfrt_bulk_channel_t* channel = TFRT_CONTAINER_OF(handler, tfrt_bulk_channel_t, handler);
  tfrt_node_lock_lock(channel->manager->lock);
  tfrt_bulk_peer_t* peer = channel->peer;
  bool was_open = channel->state == TFRT_BULK_CHANNEL_OPEN;
  leave_state(channel, TFRT_BULK_CHANNEL_ENDING);
  channel->peer = NULL;
  stop_timer(channel);
  if (peer) tfrt_bulk_peer_detach(peer, was_open);
  release_and_unlock(channel);
}

static const tfrt_transport_handler_vtable_t handler_vtable = {on_message, on_closed};
