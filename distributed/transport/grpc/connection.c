// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/connection.h"

#include <assert.h>
#include <string.h>

#include "distributed/transport/grpc/address.h"
#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/transport/grpc/grpc_library.h"
#include "distributed/tuning/tuning.h"

// --- Messages ----------------------------------------------------------------

// Spans of bytes to gRPC's byte buffers, and back, with no copy of what is big.
//
// A span of TFRT_GRPC_BORROW_SIZE bytes or more travels as a slice that borrows it. Smaller
// neighbours are copied into one slice, which is cheaper than tracking them. gRPC may release a
// borrowed slice at any time and on any thread, before or after it has completed the operation. So
// a message on its way out counts its *parts*:
//
//   parts = 1 for the operation + 1 for each borrowed slice
//   the operation is done: -1 ---+--> 0: the borrow of all bytes ends
//   a slice is released:   -1 ---+

static bool drop_part(tfrt_grpc_outgoing_t* outgoing) {
  // Release: this thread's use of the bytes is over; acquire, for the last one: so is
  // everybody else's. Both sides are this very operation in other threads.
  return atomic_fetch_sub_explicit(&outgoing->parts, 1, memory_order_acq_rel) == 1;
}

static void release_slice(void* user_data) {
  tfrt_grpc_outgoing_t* outgoing = user_data;
  if (drop_part(outgoing)) outgoing->on_released(outgoing);
}

// Makes one slice of copies of the spans from |first| on that are too small to be
// borrowed, and sets |*out_end| behind them.
static grpc_slice copy_small_spans(const tfrt_transport_write_t* write, size_t first,
                                   size_t* out_end) {
  size_t size = 0;
  size_t end = first;
  for (; end < write->span_count && write->spans[end].size < TFRT_GRPC_BORROW_SIZE; ++end) {
    size += write->spans[end].size;
  }
  grpc_slice slice = grpc_slice_malloc(size);
  unsigned char* target = GRPC_SLICE_START_PTR(slice);
  for (size_t i = first; i < end; ++i) {
    if (write->spans[i].size == 0) continue;
    memcpy(target, write->spans[i].data, write->spans[i].size);
    target += write->spans[i].size;
  }
  *out_end = end;
  return slice;
}

// Makes |outgoing->buffer| the message of |write|, whose bytes are borrowed until it is done.
static void fill_outgoing(tfrt_grpc_outgoing_t* outgoing, const tfrt_transport_write_t* write) {
  grpc_slice slices[TFRT_TRANSPORT_MAX_SPANS];
  size_t count = 0;
  uint32_t borrowed = 0;
  for (size_t i = 0; i < write->span_count;) {
    if (write->spans[i].size < TFRT_GRPC_BORROW_SIZE) {
      slices[count++] = copy_small_spans(write, i, &i);
      continue;
    }
    slices[count++] = grpc_slice_new_with_user_data((void*)write->spans[i].data,
                                                    write->spans[i].size, release_slice, outgoing);
    ++borrowed;
    ++i;
  }
  // Relaxed: gRPC has not seen the slices yet.
  atomic_store_explicit(&outgoing->parts, 1 + borrowed, memory_order_relaxed);
  outgoing->buffer = grpc_raw_byte_buffer_create(slices, count);
  // The byte buffer has taken references of its own.
  for (size_t i = 0; i < count; ++i) grpc_slice_unref(slices[i]);
}

// Says that the operation that sends |outgoing| is done. Returns true if the bytes are no longer
// borrowed; else |on_released| will tell.
static bool finish_outgoing(tfrt_grpc_outgoing_t* outgoing) {
  grpc_byte_buffer_destroy(outgoing->buffer);
  outgoing->buffer = NULL;
  return drop_part(outgoing);
}

static size_t read_spans(grpc_byte_buffer* buffer, tfrt_transport_span_t* spans) {
  grpc_byte_buffer_reader reader;
  if (!grpc_byte_buffer_reader_init(&reader, buffer)) return 0;
  size_t count = 0;
  for (grpc_slice* slice; grpc_byte_buffer_reader_peek(&reader, &slice);) {
    // The slice stays where it is, in the byte buffer, and with it bytes that lie inside of
    // the slice itself.
    if (spans) {
      spans[count] =
          (tfrt_transport_span_t){GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice)};
    }
    ++count;
  }
  grpc_byte_buffer_reader_destroy(&reader);
  return count;
}

// Returns room for |count| spans, which is |queue|'s, or NULL when memory is out. It is valid until
// the next call.
static tfrt_transport_span_t* room_for_spans(tfrt_grpc_queue_t* queue, size_t count) {
  if (count > queue->span_capacity || !queue->spans) {
    size_t capacity = count < 64 ? 64 : count;
    tfrt_transport_span_t* spans =
        tfrt_allocator_reallocate(queue->allocator, queue->spans,
                                  queue->span_capacity * sizeof(*spans), capacity * sizeof(*spans));
    if (!spans) return NULL;
    queue->spans = spans;
    queue->span_capacity = capacity;
  }
  return queue->spans;
}

// Sets |*out_spans| and |*out_count| to the pieces of |buffer|, which is not changed and must
// outlive them; false when memory is out. Uses the room of |queue|, on its thread.
static bool spans_of(grpc_byte_buffer* buffer, tfrt_grpc_queue_t* queue,
                     const tfrt_transport_span_t** out_spans, size_t* out_count) {
  *out_spans = NULL;
  *out_count = read_spans(buffer, NULL);
  tfrt_transport_span_t* spans = room_for_spans(queue, *out_count);
  if (!spans) return false;
  *out_count = read_spans(buffer, spans);
  *out_spans = spans;
  return true;
}

// --- Batches and events ----------------------------------------------------

static tfrt_grpc_connection_t* connection_of(tfrt_transport_connection_t* base) {
  return TFRT_CONTAINER_OF(base, tfrt_grpc_connection_t, base);
}

void tfrt_grpc_connection_start_batch(tfrt_grpc_connection_t* connection, grpc_call* call,
                                      const grpc_op* operations, size_t count,
                                      tfrt_grpc_event_t* event) {
  tfrt_mutex_lock(&connection->mutex);
  ++connection->pending;
  tfrt_mutex_unlock(&connection->mutex);
  // Without the lock: gRPC may write to the socket in here.
  tfrt_grpc_queue_start_batch(call, operations, count, event);
}

// The phases that may follow each phase. The end may come while the first operations are started.
static void set_phase(tfrt_grpc_connection_t* connection, tfrt_grpc_phase_t phase) {
  static const uint32_t next_phases[] = {
      [TFRT_GRPC_PHASE_STARTING] = 1u << TFRT_GRPC_PHASE_OPEN | 1u << TFRT_GRPC_PHASE_ENDING,
      [TFRT_GRPC_PHASE_OPEN] = 1u << TFRT_GRPC_PHASE_ENDING,
      [TFRT_GRPC_PHASE_ENDING] = 1u << TFRT_GRPC_PHASE_ENDED,
      [TFRT_GRPC_PHASE_ENDED] = 1u << TFRT_GRPC_PHASE_TOLD,
      [TFRT_GRPC_PHASE_TOLD] = 0,
  };
  const uint32_t next = next_phases[connection->phase];
  assert(next & (1u << phase));
  (void)next;  // without assertions nothing else reads it
  connection->phase = phase;
}

static bool is_aborted(const tfrt_grpc_connection_t* connection) {
  return connection->wish >= TFRT_GRPC_WISH_ABORT;
}

// Makes settle run on the queue's thread. With the lock held; returns true if the caller
// has to post the event |poke| once the lock is open.
static bool prepare_poke(tfrt_grpc_connection_t* connection) {
  if (connection->is_poked || connection->phase == TFRT_GRPC_PHASE_TOLD ||
      connection->phase == TFRT_GRPC_PHASE_STARTING) {
    return false;
  }
  connection->is_poked = true;
  ++connection->pending;
  return true;
}

static void post(tfrt_grpc_connection_t* connection, tfrt_grpc_event_t* event) {
  // The queue is gone: so is the transport, and nobody but the caller is left to do it.
  if (!tfrt_grpc_queue_post(connection->queue, event)) event->run(event, true);
}

static void on_poke(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.poke);
  tfrt_mutex_lock(&connection->mutex);
  connection->is_poked = false;
  tfrt_mutex_unlock(&connection->mutex);
  tfrt_grpc_connection_settle_event(connection);
}

// --- Writing -----------------------------------------------------------------

// Starts |write| on |call|, whose turn it is.
static void start_write(tfrt_grpc_connection_t* connection, const tfrt_transport_write_t* write,
                        grpc_call* call) {
  fill_outgoing(&connection->outgoing, write);
  grpc_op operation = {.op = GRPC_OP_SEND_MESSAGE};
  operation.data.send_message.send_message = connection->outgoing.buffer;
  // Counted already, when the write was taken.
  tfrt_grpc_queue_start_batch(call, &operation, 1, &connection->events.sent);
}

static void complete_write(tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&connection->mutex);
  connection->sending = TFRT_GRPC_SENDING_FREE;  // before the callback, which may write again
  tfrt_mutex_unlock(&connection->mutex);
  tfrt_status_t status = NULL;
  if (!connection->is_sent_ok) {
    status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the connection broke before it was sent");
  }
  tfrt_transport_connection_report_written(&connection->base, status);
  tfrt_status_release(status);
  tfrt_grpc_connection_settle_event(connection);
}

static void on_sent(tfrt_grpc_event_t* event, bool is_ok) {
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.sent);
  connection->is_sent_ok = is_ok;
  if (finish_outgoing(&connection->outgoing)) {
    complete_write(connection);
  } else {
    // Not counted while slices are out, so that the call can go: after a failure it may be
    // the one that holds them.
    tfrt_grpc_connection_settle_event(connection);
  }
}

// Sends the empty message that begins the turns; counted already.
static void send_beginning(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  bundle->beginning = grpc_raw_byte_buffer_create(NULL, 0);
  grpc_op operation = {.op = GRPC_OP_SEND_MESSAGE};
  operation.data.send_message.send_message = bundle->beginning;
  tfrt_grpc_queue_start_batch(connection->call, &operation, 1, &bundle->begun);
}

// The message that begins the turns was sent: the write that waits for it is next.
static void on_begun(tfrt_grpc_event_t* event, bool is_ok) {
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, bundle.begun);
  grpc_byte_buffer_destroy(connection->bundle.beginning);
  connection->bundle.beginning = NULL;
  tfrt_mutex_lock(&connection->mutex);
  tfrt_transport_write_t* write = connection->early_write;
  connection->early_write = NULL;
  grpc_call* call = tfrt_grpc_bundle_take_turn(connection);
  tfrt_mutex_unlock(&connection->mutex);
  connection->is_sent_ok = false;
  if (is_ok) {
    start_write(connection, write, call);
  } else {
    complete_write(connection);
  }
}

static void on_slices_released(tfrt_grpc_outgoing_t* outgoing) {
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(outgoing, tfrt_grpc_connection_t, outgoing);
  post(connection, &connection->events.released);
}

static void on_released(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.released);
  tfrt_mutex_lock(&connection->mutex);
  ++connection->pending;  // until on_written has returned
  tfrt_mutex_unlock(&connection->mutex);
  complete_write(connection);
}

static void on_refused(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.refused);
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the connection is closed");
  tfrt_transport_connection_report_written(&connection->base, status);
  tfrt_status_release(status);
  tfrt_grpc_connection_settle_event(connection);
  tfrt_transport_connection_release(&connection->base);
}

static void connection_write(tfrt_transport_connection_t* base, tfrt_transport_write_t* write) {
  tfrt_grpc_connection_t* connection = connection_of(base);
  tfrt_mutex_lock(&connection->mutex);
  bool is_taken = connection->wish == TFRT_GRPC_WISH_NONE &&
                  connection->phase < TFRT_GRPC_PHASE_ENDING &&
                  connection->receiving != TFRT_GRPC_RECEIVING_EXHAUSTED &&
                  connection->sending != TFRT_GRPC_SENDING_FINISHED;
  bool is_early = is_taken && connection->phase == TFRT_GRPC_PHASE_STARTING;
  if (is_taken) connection->sending = TFRT_GRPC_SENDING_WRITING;
  grpc_call* call = is_taken && !is_early ? tfrt_grpc_bundle_take_turn(connection) : NULL;
  if (is_taken && !call) connection->early_write = write;
  ++connection->pending;
  tfrt_mutex_unlock(&connection->mutex);
  if (is_early) return;
  if (call) {
    start_write(connection, write, call);
  } else if (is_taken) {
    send_beginning(connection);
  } else {
    // on_closed may have come, and the owner may release the object, which the event needs.
    tfrt_transport_connection_retain(base);
    post(connection, &connection->events.refused);
  }
}

// --- Reading -----------------------------------------------------------------

// Takes the next message, if it is there.
static void look(tfrt_grpc_connection_t* connection) {
  // Only this thread changes it.
  if (connection->receiving != TFRT_GRPC_RECEIVING_READING) return;
  grpc_byte_buffer* message;
  if (!tfrt_grpc_bundle_take(connection, &message)) return;
  tfrt_mutex_lock(&connection->mutex);
  connection->held = message;
  connection->receiving = message ? TFRT_GRPC_RECEIVING_FREE : TFRT_GRPC_RECEIVING_EXHAUSTED;
  tfrt_mutex_unlock(&connection->mutex);
  if (message) connection->side_vtable->on_message(connection);
}

static void on_received(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;  // a failure shows as no message
  tfrt_grpc_stream_t* stream = TFRT_CONTAINER_OF(event, tfrt_grpc_stream_t, received);
  stream->reading = stream->message ? TFRT_GRPC_READING_ARRIVED : TFRT_GRPC_READING_OVER;
  look(stream->connection);
  tfrt_grpc_connection_settle_event(stream->connection);
}

static void report_message(tfrt_grpc_connection_t* connection, grpc_byte_buffer* message) {
  const tfrt_transport_span_t* spans;
  size_t count;
  if (spans_of(message, connection->queue, &spans, &count)) {
    tfrt_transport_connection_report_message(&connection->base, spans, count);
  } else {
    // A message can't be left out: the stream would have a hole.
    tfrt_transport_connection_abort(&connection->base);
  }
}

// Gives the message that is held to the owner, or drops it, or leaves it for later.
static void give_message(tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&connection->mutex);
  bool is_over = connection->phase >= TFRT_GRPC_PHASE_ENDING;
  bool is_dropped = connection->wish != TFRT_GRPC_WISH_NONE ||
                    (is_over && connection->end != TFRT_TRANSPORT_ENDED);
  bool is_given = connection->held && !is_dropped && connection->wanted > 0;
  grpc_byte_buffer* message = NULL;
  if (is_given || is_dropped) {
    message = connection->held;
    connection->held = NULL;
  }
  if (is_given) --connection->wanted;
  tfrt_mutex_unlock(&connection->mutex);
  if (is_given) report_message(connection, message);
  if (message) grpc_byte_buffer_destroy(message);
}

// Counted already, when it was found due.
static void start_read(tfrt_task_t* task) {
  tfrt_grpc_connection_t* connection = TFRT_CONTAINER_OF(task, tfrt_grpc_connection_t, read);
  tfrt_grpc_bundle_read(connection);
  look(connection);
  tfrt_grpc_connection_settle_event(connection);
}

static void connection_receive(tfrt_transport_connection_t* base) {
  tfrt_grpc_connection_t* connection = connection_of(base);
  tfrt_mutex_lock(&connection->mutex);
  ++connection->wanted;
  // With nothing held, the message that arrives next finds the request.
  bool is_due = connection->held && prepare_poke(connection);
  tfrt_mutex_unlock(&connection->mutex);
  if (is_due) post(connection, &connection->events.poke);
}

// --- The set ----------------------------------------------------------------

bool tfrt_grpc_connection_set_add(tfrt_grpc_connection_set_t* set,
                                  tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&set->mutex);
  bool is_open = !set->is_closed;
  if (is_open) tfrt_list_push_back(&set->connections, &connection->set_link);
  tfrt_mutex_unlock(&set->mutex);
  return is_open;
}

// Removes |connection|, a member.
static void set_remove(tfrt_grpc_connection_set_t* set, tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&set->mutex);
  tfrt_list_remove(&connection->set_link);
  if (tfrt_list_is_empty(&set->connections)) tfrt_condition_broadcast(&set->emptied);
  tfrt_mutex_unlock(&set->mutex);
}

// --- The end -----------------------------------------------------------------

static void on_finished(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;  // a failure shows at |ended|
  tfrt_grpc_connection_settle_event(
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.finished));
}

// Says on all streams that nothing more is coming.
static void start_finish(tfrt_grpc_connection_t* connection) {
  grpc_op operation = {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
  if (!connection->is_dialled) operation.op = GRPC_OP_SEND_STATUS_FROM_SERVER;  // zero: OK
  tfrt_grpc_connection_start_batch(connection, connection->call, &operation, 1,
                                   &connection->events.finished);
  for (uint32_t i = 1; i < connection->bundle.count; ++i) {
    tfrt_grpc_other_stream_t* other = &connection->bundle.others[i - 1];
    if (!other->call) continue;
    tfrt_grpc_connection_start_batch(connection, other->call, &operation, 1, &other->finished);
  }
}

// Breaks the streams besides the main one.
static void cancel_others(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  grpc_call* calls[TFRT_TUNING_GRPC_BUNDLE_STREAMS];
  uint32_t count = 0;
  tfrt_mutex_lock(&connection->mutex);
  for (uint32_t i = 1; i < bundle->count; ++i) {
    grpc_call* call = bundle->others[i - 1].call;
    if (!call) continue;
    grpc_call_ref(call);  // it may be given back as soon as the lock is open
    calls[count++] = call;
  }
  tfrt_mutex_unlock(&connection->mutex);
  for (uint32_t i = 0; i < count; ++i) {
    grpc_call_cancel_with_status(calls[i], GRPC_STATUS_CANCELLED, "aborted", NULL);
    grpc_call_unref(calls[i]);
  }
}

static tfrt_transport_end_t choose_end(tfrt_grpc_connection_t* connection,
                                       tfrt_status_t* out_status) {
  tfrt_status_t status = connection->end_status;
  connection->end_status = NULL;
  *out_status = status;
  if (!is_aborted(connection)) return connection->end;
  tfrt_status_release(status);
  if (connection->wish == TFRT_GRPC_WISH_GIVE_UP) {
    const char* address = connection->side.dialler.address;
    *out_status = tfrt_status_create(
        TFRT_STATUS_UNAVAILABLE, "no answer from %s%s", address,
        tfrt_grpc_address_kind(address) == TFRT_GRPC_ADDRESS_NAME
            ? ": looking its name up, or the host, takes too long (`getent hosts` looks it up, too)"
            : "");
    return TFRT_TRANSPORT_NO_ANSWER;
  }
  *out_status = tfrt_status_create(TFRT_STATUS_CANCELLED, "the connection was aborted here");
  return TFRT_TRANSPORT_RESET;
}

// Nothing is under way on the calls any more.
static void give_up_call(tfrt_grpc_connection_t* connection, grpc_call* call) {
  tfrt_grpc_bundle_deinitialize(connection);
  connection->side_vtable->deinitialize(connection);
  grpc_call_unref(call);
}

// From now on this is an object that only waits for its last reference.
static void tell_end(tfrt_grpc_connection_t* connection) {
  tfrt_status_t status;
  tfrt_transport_end_t end = choose_end(connection, &status);
  // A stream that its acceptor rejected has no handler.
  if (connection->base.handler) {
    tfrt_transport_connection_report_closed(&connection->base, end, status);
  }
  tfrt_status_release(status);
  set_remove(connection->set, connection);
  tfrt_transport_connection_release(&connection->base);
}

void tfrt_grpc_connection_take_end(tfrt_grpc_connection_t* connection, tfrt_transport_end_t end,
                                   tfrt_status_t status) {
  tfrt_mutex_lock(&connection->mutex);
  set_phase(connection, TFRT_GRPC_PHASE_ENDING);
  connection->end = end;
  connection->end_status = status;
  tfrt_mutex_unlock(&connection->mutex);
  if (end != TFRT_TRANSPORT_ENDED) cancel_others(connection);
  tfrt_grpc_connection_settle_event(connection);
}

static void connection_close(tfrt_transport_connection_t* base) {
  tfrt_grpc_connection_t* connection = connection_of(base);
  tfrt_mutex_lock(&connection->mutex);
  // An abort needs no poke: the end comes.
  bool is_due = connection->wish == TFRT_GRPC_WISH_NONE && prepare_poke(connection);
  if (connection->wish == TFRT_GRPC_WISH_NONE) connection->wish = TFRT_GRPC_WISH_CLOSE;
  tfrt_mutex_unlock(&connection->mutex);
  if (is_due) post(connection, &connection->events.poke);
}

static void break_stream(tfrt_grpc_connection_t* connection, tfrt_grpc_wish_t wish) {
  grpc_call* call = NULL;
  tfrt_mutex_lock(&connection->mutex);
  bool is_due = false;
  if (!is_aborted(connection) && connection->phase != TFRT_GRPC_PHASE_TOLD) {
    connection->wish = wish;
    // The end may be known and only wait for somebody to want the last message.
    is_due = connection->phase >= TFRT_GRPC_PHASE_ENDING && prepare_poke(connection);
    if (connection->phase != TFRT_GRPC_PHASE_STARTING && connection->call) {
      call = connection->call;
      grpc_call_ref(call);  // it may be given up as soon as the lock is open
    }
  }
  tfrt_mutex_unlock(&connection->mutex);
  if (is_due) post(connection, &connection->events.poke);
  if (!call) return;
  grpc_call_cancel_with_status(call, GRPC_STATUS_CANCELLED, "aborted", NULL);
  grpc_call_unref(call);
  cancel_others(connection);
}

static void connection_abort(tfrt_transport_connection_t* base) {
  break_stream(connection_of(base), TFRT_GRPC_WISH_ABORT);
}

// The peer has broken the connection.
static void break_because_of_peer(tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&connection->mutex);
  if (connection->phase == TFRT_GRPC_PHASE_ENDING && connection->end == TFRT_TRANSPORT_ENDED) {
    connection->end = TFRT_TRANSPORT_RESET;
    connection->end_status =
        tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "a stream of the connection broke");
  }
  grpc_call* call = connection->call;
  tfrt_mutex_unlock(&connection->mutex);
  // Only this thread gives it up.
  if (call) grpc_call_cancel_with_status(call, GRPC_STATUS_UNAVAILABLE, "a stream broke", NULL);
  cancel_others(connection);
}

void tfrt_grpc_connection_break(tfrt_grpc_connection_t* connection, tfrt_grpc_break_t reason) {
  if (reason == TFRT_GRPC_BREAK_NO_ANSWER) {
    break_stream(connection, TFRT_GRPC_WISH_GIVE_UP);
  } else {
    break_because_of_peer(connection);
  }
}

// --- Settling ----------------------------------------------------------------

// The steps that settle finds due, besides giving a message.
typedef struct due_s {
  bool is_read;
  bool is_finish;
  bool is_over;
  grpc_call* call;  // to be given up, or NULL
  bool is_tell;
} due_t;

// True if all streams are over, and their messages read, or one broke. With the lock held.
static bool is_at_end(const tfrt_grpc_connection_t* connection) {
  if (connection->phase != TFRT_GRPC_PHASE_ENDING) return false;
  return connection->end != TFRT_TRANSPORT_ENDED ||
         (connection->bundle.live == 0 && connection->receiving == TFRT_GRPC_RECEIVING_EXHAUSTED);
}

// With the lock held. Sets the states of the due steps, which the caller then does.
static due_t find_due(tfrt_grpc_connection_t* connection) {
  due_t due = {.is_over = is_at_end(connection)};
  if (due.is_over) set_phase(connection, TFRT_GRPC_PHASE_ENDED);
  bool is_live = connection->phase == TFRT_GRPC_PHASE_OPEN;
  due.is_read = (is_live || connection->phase == TFRT_GRPC_PHASE_ENDING) && !connection->held &&
                connection->receiving == TFRT_GRPC_RECEIVING_FREE;
  if (due.is_read) {
    connection->receiving = TFRT_GRPC_RECEIVING_READING;
    ++connection->pending;
  }
  // The listener's side answers the end of what is sent to it.
  bool ends = connection->wish == TFRT_GRPC_WISH_CLOSE ||
              (!connection->is_dialled && connection->receiving == TFRT_GRPC_RECEIVING_EXHAUSTED);
  due.is_finish =
      is_live && ends && connection->sending == TFRT_GRPC_SENDING_FREE && !is_aborted(connection);
  if (due.is_finish) connection->sending = TFRT_GRPC_SENDING_FINISHED;
  if (connection->phase < TFRT_GRPC_PHASE_ENDED || connection->pending > 0) return due;
  due.call = connection->call;
  connection->call = NULL;
  // Relaxed: a writer that has the slot is on its way to the lock; its refusal settles again.
  bool has_writer = atomic_load_explicit(&connection->base.in_flight, memory_order_relaxed) != NULL;
  due.is_tell = !connection->held && connection->sending != TFRT_GRPC_SENDING_WRITING &&
                !has_writer && connection->phase == TFRT_GRPC_PHASE_ENDED;
  if (due.is_tell) set_phase(connection, TFRT_GRPC_PHASE_TOLD);
  return due;
}

static void settle(tfrt_grpc_connection_t* connection) {
  give_message(connection);
  tfrt_mutex_lock(&connection->mutex);
  due_t due = find_due(connection);
  tfrt_mutex_unlock(&connection->mutex);
  if (due.is_read) tfrt_grpc_queue_run_next_turn(connection->queue, &connection->read);
  if (due.is_finish) start_finish(connection);
  if (due.is_over) connection->side_vtable->on_over(connection);
  // gRPC may release the slices of the last write inside. That event finds the object alive,
  // because on_closed comes only after it.
  if (due.call) give_up_call(connection, due.call);
  if (due.is_tell) tell_end(connection);
}

void tfrt_grpc_connection_settle_event(tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&connection->mutex);
  --connection->pending;
  tfrt_mutex_unlock(&connection->mutex);
  settle(connection);
}

void tfrt_grpc_connection_open(tfrt_grpc_connection_t* connection) {
  tfrt_mutex_lock(&connection->mutex);
  if (connection->phase == TFRT_GRPC_PHASE_STARTING) set_phase(connection, TFRT_GRPC_PHASE_OPEN);
  tfrt_transport_write_t* write = connection->early_write;
  connection->early_write = NULL;
  bool must_cancel = is_aborted(connection);
  grpc_call* call = connection->call;
  tfrt_mutex_unlock(&connection->mutex);
  if (write) start_write(connection, write, call);
  if (must_cancel) {
    grpc_call_cancel_with_status(connection->call, GRPC_STATUS_CANCELLED, "aborted", NULL);
  }
  settle(connection);
}

// --- Life --------------------------------------------------------------------

static void connection_destroy(tfrt_transport_connection_t* base) {
  tfrt_grpc_connection_t* connection = connection_of(base);
  tfrt_mutex_deinitialize(&connection->mutex);
  tfrt_grpc_queue_release(connection->queue);
  tfrt_allocator_free(connection->allocator, connection, sizeof(*connection));
}

static const tfrt_transport_connection_vtable_t kConnectionVtable = {
    .destroy = connection_destroy,
    .write = connection_write,
    .receive = connection_receive,
    .close = connection_close,
    .abort = connection_abort,
};

void tfrt_grpc_connection_initialize(tfrt_grpc_connection_t* connection, tfrt_transport_kind_t kind,
                                     tfrt_transport_handler_t* handler, tfrt_grpc_queue_t* queue,
                                     tfrt_grpc_connection_set_t* set, tfrt_allocator_t allocator) {
  tfrt_transport_connection_initialize(&connection->base, &kConnectionVtable, kind, handler);
  connection->allocator = allocator;
  connection->queue = tfrt_grpc_queue_retain(queue);
  connection->set = set;
  tfrt_list_initialize(&connection->set_link);
  tfrt_mutex_initialize(&connection->mutex);
  connection->outgoing.on_released = on_slices_released;
  tfrt_task_initialize(&connection->read, start_read);
  tfrt_grpc_bundle_initialize(connection, on_received);
  tfrt_grpc_event_initialize(&connection->bundle.begun, on_begun);
  tfrt_grpc_event_initialize(&connection->events.sent, on_sent);
  tfrt_grpc_event_initialize(&connection->events.released, on_released);
  tfrt_grpc_event_initialize(&connection->events.refused, on_refused);
  tfrt_grpc_event_initialize(&connection->events.finished, on_finished);
  tfrt_grpc_event_initialize(&connection->events.poke, on_poke);
}
