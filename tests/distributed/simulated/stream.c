// SPDX-License-Identifier: Apache-2.0
//
// Streams of the simulated network, what happens at their two ends, and these as connections of
// the transport interface.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "tests/distributed/simulated/network_internal.h"

static const char* const event_names[] = {"dial",  "answer",  "timeout", "message", "end",
                                          "reset", "written", "closed",  "deliver"};

// --- Streams and their events ------------------------------------------------

static void release_stream(tfrt_simulated_stream_t* stream) {
  if (--stream->ref_count > 0) return;
  tfrt_simulated_network_t* network = stream->network;
  tfrt_list_remove(&stream->link);
  tfrt_status_release(stream->rejection);
  tfrt_allocator_free(network->allocator, stream->metadata, stream->metadata_size);
  tfrt_allocator_free(network->allocator, stream, sizeof(*stream));
}

tfrt_simulated_event_t* tfrt_simulated_event_allocate(tfrt_simulated_stream_t* stream,
                                                      tfrt_simulated_event_kind_t kind, int side,
                                                      size_t size) {
  tfrt_simulated_event_t* event = tfrt_simulated_allocate(stream->network, sizeof(*event) + size);
  tfrt_list_initialize(&event->link);
  event->kind = kind;
  event->stream = stream;
  event->side = side;
  event->size = size;
  ++stream->ref_count;
  return event;
}

void tfrt_simulated_event_free(tfrt_simulated_event_t* event) {
  tfrt_simulated_stream_t* stream = event->stream;
  tfrt_allocator_t allocator = stream->network->allocator;
  tfrt_allocator_free(allocator, event, sizeof(*event) + event->size);
  release_stream(stream);
}

void tfrt_simulated_end_happen(tfrt_simulated_end_t* end, tfrt_simulated_event_kind_t kind,
                               int64_t delay_ns) {
  tfrt_simulated_network_t* network = end->stream->network;
  tfrt_simulated_event_t* event = tfrt_simulated_event_allocate(end->stream, kind, end->side, 0);
  event->from = event->to = end->endpoint;
  event->write_number = end->write_number;
  tfrt_simulated_network_take_event(network, event, network->now_ns + delay_ns);
}

// Sends |event| (taken) to |end|. With |in_order| it arrives behind all that was sent so.
static void take_and_send(tfrt_simulated_event_t* event, tfrt_simulated_end_t* end, bool in_order) {
  tfrt_simulated_network_t* network = end->stream->network;
  event->from = end->stream->ends[1 - end->side].endpoint;
  event->to = end->endpoint;
  int64_t time_ns = network->now_ns + tfrt_simulated_delay(network);
  if (in_order) {
    if (time_ns <= end->last_arrival_ns) time_ns = end->last_arrival_ns + 1;
    end->last_arrival_ns = time_ns;
  }
  tfrt_simulated_network_take_event(network, event, time_ns);
}

static void send_to(tfrt_simulated_end_t* end, tfrt_simulated_event_kind_t kind, bool in_order) {
  if (!end->endpoint) return;  // nobody is at that address
  if (tfrt_simulated_end_other(end)->is_mute) return;
  take_and_send(tfrt_simulated_event_allocate(end->stream, kind, end->side, 0), end, in_order);
}

// --- Ends --------------------------------------------------------------------

// Tells the end of the stream, as |end| sees it. |status| is +0.
static void tell(tfrt_simulated_end_t* end, tfrt_transport_end_t how, tfrt_status_t status,
                 tfrt_status_t write_status) {
  if (end->is_told || !end->is_attached) return;
  end->is_done = true;
  end->is_told = true;
  end->is_writer_blocked = false;
  ++end->stream->ref_count;  // the callbacks may drop all others
  tfrt_simulated_inbox_drop(end);
  while (atomic_load_explicit(&end->base.in_flight, memory_order_relaxed)) {
    tfrt_transport_connection_report_written(&end->base, write_status);
  }
  tfrt_transport_connection_report_closed(&end->base, how, status);
  tfrt_transport_connection_release(&end->base);  // its own reference
  release_stream(end->stream);
}

void tfrt_simulated_end_tell_error(tfrt_simulated_end_t* end, tfrt_transport_end_t how,
                                   const char* reason) {
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "%s: %s", end->stream->address, reason);
  tell(end, how, status, status);
  tfrt_status_release(status);
}

void tfrt_simulated_end_tell_ended(tfrt_simulated_end_t* end, bool by_peer) {
  // The listener's side answers the end of what is sent to it.
  if (by_peer && end->side == 1) send_to(tfrt_simulated_end_other(end), TFRT_SIMULATED_END, true);
  tfrt_status_t write_status =
      by_peer ? tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the peer has closed the stream")
              : NULL;
  tell(end, TFRT_TRANSPORT_ENDED, NULL, write_status);
  tfrt_status_release(write_status);
}

// --- Dialling ----------------------------------------------------------------

static void answer(tfrt_simulated_stream_t* stream, tfrt_transport_end_t how) {
  stream->answer = how;
  send_to(&stream->ends[0], TFRT_SIMULATED_ANSWER, true);
}

static void attach(tfrt_simulated_end_t* end, tfrt_transport_handler_t* handler);

static void take_dial(tfrt_simulated_stream_t* stream) {
  tfrt_simulated_end_t* end = &stream->ends[1];
  if (stream->ends[0].is_done && stream->ends[0].own_end != TFRT_TRANSPORT_ENDED) return;
  if (stream->ends[0].endpoint->is_dead) return;
  tfrt_transport_acceptor_t* acceptor = end->endpoint->acceptor;
  if (!acceptor) {
    answer(stream, TFRT_TRANSPORT_REFUSED);
    return;
  }
  attach(end, NULL);
  end->is_delivering = true;  // no event before the acceptor has judged
  const tfrt_transport_incoming_t incoming = {.kind = stream->kind,
                                              .metadata = stream->metadata,
                                              .metadata_count = stream->metadata_count,
                                              .connection = &end->base};
  tfrt_transport_handler_t* handler = NULL;
  tfrt_status_t status = acceptor->vtable->accept(acceptor, &incoming, &handler);
  end->is_delivering = false;
  if (tfrt_status_is_ok(status)) {
    assert(handler);
    end->base.handler = handler;
    answer(stream, TFRT_TRANSPORT_ENDED);
    return;
  }
  stream->rejection = status;
  end->is_done = true;
  end->is_told = true;  // a stream that was never accepted tells nobody
  answer(stream, TFRT_TRANSPORT_REJECTED);
  tfrt_transport_connection_release(&end->base);
}

static void take_answer(tfrt_simulated_end_t* end) {
  tfrt_simulated_stream_t* stream = end->stream;
  if (end->is_told) return;
  stream->is_answered = true;
  if (stream->answer == TFRT_TRANSPORT_REFUSED) {
    tfrt_simulated_end_tell_error(end, TFRT_TRANSPORT_REFUSED, "connection refused");
  } else if (stream->answer == TFRT_TRANSPORT_REJECTED) {
    tell(end, TFRT_TRANSPORT_REJECTED, stream->rejection, stream->rejection);
  }
}

static void take_timeout(tfrt_simulated_end_t* end) {
  if (end->stream->is_answered || end->is_told) return;
  end->own_end = TFRT_TRANSPORT_NO_ANSWER;
  send_to(tfrt_simulated_end_other(end), TFRT_SIMULATED_RESET, false);
  tfrt_simulated_end_tell_error(end, TFRT_TRANSPORT_NO_ANSWER, "no answer");
}

// --- What happens ------------------------------------------------------------

// |end| was closed, and nothing of it is under way: says so. A listener's side is over then, a
// dialler's when the other one is, too.
static void finish_close(tfrt_simulated_end_t* end) {
  send_to(tfrt_simulated_end_other(end), TFRT_SIMULATED_END, true);
  if (end->side == 0 && !end->has_peer_ended) return;
  tfrt_simulated_end_happen(end, TFRT_SIMULATED_CLOSED, 2 * TFRT_SIMULATED_LOCAL_DELAY_NS);
}

static void take_written(tfrt_simulated_end_t* end, uint64_t write_number) {
  // A write that was completed by the end of the stream, or another one since.
  if (end->write_number != write_number ||
      !atomic_load_explicit(&end->base.in_flight, memory_order_relaxed)) {
    return;
  }
  tfrt_status_t status = NULL;
  if (end->is_told || end->is_write_refused) {
    status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the stream is closed");
  }
  bool closes = end->closes_after_write;
  end->closes_after_write = false;
  tfrt_transport_connection_report_written(&end->base, status);
  tfrt_status_release(status);
  if (closes && !end->is_told) finish_close(end);
}

static void take_closed(tfrt_simulated_end_t* end) {
  if (end->own_end == TFRT_TRANSPORT_ENDED) {
    tfrt_simulated_end_tell_ended(end, false);
  } else {
    tfrt_simulated_end_tell_error(end, end->own_end, "aborted");
  }
}

static void take_end(tfrt_simulated_end_t* end) {
  end->has_peer_ended = true;
  if (end->side == 0 && end->is_done && end->own_end == TFRT_TRANSPORT_ENDED) {
    tfrt_simulated_end_tell_ended(end, true);
    return;
  }
  if (!end->is_attached || end->is_done) return;
  tfrt_simulated_inbox_release_held(end);
  tfrt_simulated_inbox_deliver(end);
}

// Does what |event|, which is no message, says.
static void happen(tfrt_simulated_end_t* end, const tfrt_simulated_event_t* event) {
  switch (event->kind) {
    case TFRT_SIMULATED_DIAL:
      take_dial(end->stream);
      break;
    case TFRT_SIMULATED_ANSWER:
      take_answer(end);
      break;
    case TFRT_SIMULATED_TIMEOUT:
      take_timeout(end);
      break;
    case TFRT_SIMULATED_END:
      take_end(end);
      break;
    case TFRT_SIMULATED_RESET:
      tfrt_simulated_end_tell_error(end, TFRT_TRANSPORT_RESET, "connection reset");
      break;
    case TFRT_SIMULATED_WRITTEN:
      take_written(end, event->write_number);
      break;
    case TFRT_SIMULATED_CLOSED:
      take_closed(end);
      break;
    case TFRT_SIMULATED_DELIVER:
      if (!end->is_done) tfrt_simulated_inbox_deliver(end);
      break;
    case TFRT_SIMULATED_MESSAGE:
      break;
  }
}

void tfrt_simulated_stream_take_event(tfrt_simulated_event_t* event) {
  tfrt_simulated_stream_t* stream = event->stream;
  tfrt_simulated_end_t* end = &stream->ends[event->side];
  tfrt_simulated_trace(stream->network, "%s %s %" PRIu64 " %zu", event->to->name,
                       event_names[event->kind], stream->number, event->size);
  if (event->kind != TFRT_SIMULATED_MESSAGE) {
    happen(end, event);
    tfrt_simulated_event_free(event);
    return;
  }
  ++stream->ref_count;  // a message is freed before its callbacks are over
  tfrt_simulated_inbox_take_message(end, event);
  release_stream(stream);
}

void tfrt_simulated_stream_break(tfrt_simulated_stream_t* stream) {
  tfrt_simulated_trace(stream->network, "break %" PRIu64, stream->number);
  for (int side = 0; side < 2; ++side) {
    tfrt_simulated_end_t* end = &stream->ends[side];
    if (end->is_attached && !end->is_told) {
      // No message may arrive behind the lost ones before the event of the end.
      end->is_done = true;
      tfrt_simulated_end_happen(end, TFRT_SIMULATED_RESET, TFRT_SIMULATED_LOCAL_DELAY_NS);
    }
  }
  // A dial that is under way finds a stream that its dialler has lost.
  stream->ends[0].own_end = TFRT_TRANSPORT_RESET;
}

void tfrt_simulated_end_forget(tfrt_simulated_end_t* end) {
  tfrt_simulated_end_t* other = tfrt_simulated_end_other(end);
  if (!end->is_attached || end->is_done || !other->is_attached || other->is_done) return;
  tfrt_simulated_trace(end->stream->network, "forget %" PRIu64, end->stream->number);
  end->is_done = true;
  end->own_end = TFRT_TRANSPORT_RESET;
  other->is_forgotten = true;
  tfrt_simulated_end_happen(end, TFRT_SIMULATED_RESET, TFRT_SIMULATED_LOCAL_DELAY_NS);
}

void tfrt_simulated_end_reset(tfrt_simulated_end_t* end) {
  end->is_done = true;
  end->own_end = TFRT_TRANSPORT_RESET;
  send_to(tfrt_simulated_end_other(end), TFRT_SIMULATED_RESET, false);
}

// --- Connections -------------------------------------------------------------

static tfrt_simulated_end_t* end_of(tfrt_transport_connection_t* connection) {
  return TFRT_CONTAINER_OF(connection, tfrt_simulated_end_t, base);
}

static void end_destroy(tfrt_transport_connection_t* connection) {
  release_stream(end_of(connection)->stream);
}

// True if |size| bytes, which |end| writes, arrive nowhere. In a hole the stream breaks later.
static bool takes_no_message(tfrt_simulated_end_t* end, size_t size) {
  const tfrt_simulated_options_t* options = &end->stream->network->options;
  const bool is_in_hole = options->hole_bytes > 0 && size > options->hole_bytes &&
                          (options->hole_is_for_all || end->stream->kind == TFRT_TRANSPORT_BULK);
  if (is_in_hole && !end->is_mute) {
    end->is_mute = true;
    tfrt_simulated_end_happen(end, TFRT_SIMULATED_RESET, options->hole_ns);
    tfrt_simulated_end_happen(tfrt_simulated_end_other(end), TFRT_SIMULATED_RESET,
                              options->hole_ns + tfrt_simulated_delay(end->stream->network));
  }
  return end->is_mute;
}

static void end_write(tfrt_transport_connection_t* connection, tfrt_transport_write_t* write) {
  tfrt_simulated_end_t* end = end_of(connection);
  tfrt_simulated_end_t* reader = tfrt_simulated_end_other(end);
  ++end->write_number;
  end->is_write_refused = end->is_done;
  if (end->is_done || !reader->endpoint) {
    tfrt_simulated_end_happen(end, TFRT_SIMULATED_WRITTEN, TFRT_SIMULATED_LOCAL_DELAY_NS);
    return;
  }
  if (end->is_forgotten) {
    tfrt_simulated_end_happen(end, TFRT_SIMULATED_WRITTEN, TFRT_SIMULATED_LOCAL_DELAY_NS);
    tfrt_simulated_end_happen(end, TFRT_SIMULATED_RESET,
                              2 * tfrt_simulated_delay(end->stream->network));
    return;
  }
  size_t size = 0;
  for (size_t i = 0; i < write->span_count; ++i) size += write->spans[i].size;
  if (takes_no_message(end, size)) {
    tfrt_simulated_end_happen(end, TFRT_SIMULATED_WRITTEN, TFRT_SIMULATED_LOCAL_DELAY_NS);
    return;
  }
  tfrt_simulated_event_t* event =
      tfrt_simulated_event_allocate(end->stream, TFRT_SIMULATED_MESSAGE, reader->side, size);
  unsigned char* bytes = tfrt_simulated_event_bytes(event);
  for (size_t i = 0; i < write->span_count; ++i) {
    if (write->spans[i].size == 0) continue;
    memcpy(bytes, write->spans[i].data, write->spans[i].size);
    bytes += write->spans[i].size;
  }
  ++reader->incoming_count;
  take_and_send(event, reader, true);
  if (reader->incoming_count >= end->stream->network->options.stream_depth) {
    end->is_writer_blocked = true;
  } else {
    tfrt_simulated_end_happen(end, TFRT_SIMULATED_WRITTEN, TFRT_SIMULATED_LOCAL_DELAY_NS);
  }
}

static void end_receive(tfrt_transport_connection_t* connection) {
  tfrt_simulated_end_t* end = end_of(connection);
  ++end->credits;
  if (end->is_delivering || end->is_done || tfrt_list_is_empty(&end->inbox)) return;
  tfrt_simulated_end_happen(end, TFRT_SIMULATED_DELIVER, TFRT_SIMULATED_LOCAL_DELAY_NS);
}

static void end_close(tfrt_transport_connection_t* connection) {
  tfrt_simulated_end_t* end = end_of(connection);
  if (end->is_done) return;
  end->is_done = true;
  end->own_end = TFRT_TRANSPORT_ENDED;
  tfrt_simulated_inbox_drop(end);
  end->closes_after_write = end->is_writer_blocked;
  if (!end->closes_after_write) finish_close(end);
}

static void end_abort(tfrt_transport_connection_t* connection) {
  tfrt_simulated_end_t* end = end_of(connection);
  if (end->is_told || (end->is_done && end->own_end != TFRT_TRANSPORT_ENDED)) return;
  end->is_done = true;
  end->own_end = TFRT_TRANSPORT_RESET;
  end->closes_after_write = false;
  tfrt_simulated_inbox_drop(end);
  if (!end->endpoint->is_dead) send_to(tfrt_simulated_end_other(end), TFRT_SIMULATED_RESET, false);
  tfrt_simulated_end_happen(end, TFRT_SIMULATED_CLOSED, TFRT_SIMULATED_LOCAL_DELAY_NS);
}

static const tfrt_transport_connection_vtable_t end_vtable = {
    .destroy = end_destroy,
    .write = end_write,
    .receive = end_receive,
    .close = end_close,
    .abort = end_abort,
};

// Makes |end| one that somebody uses; its own reference is dropped after the last event.
static void attach(tfrt_simulated_end_t* end, tfrt_transport_handler_t* handler) {
  tfrt_transport_connection_initialize(&end->base, &end_vtable, end->stream->kind, handler);
  end->is_attached = true;
  ++end->stream->ref_count;
}

// --- Opening -----------------------------------------------------------------

static void copy_text(char** position, const char* data, size_t size) {
  if (size > 0) memcpy(*position, data, size);
  *position += size;
}

// Copies metadata and address into one block behind the array of metadata.
static void copy_options(tfrt_simulated_stream_t* stream,
                         const tfrt_transport_dial_options_t* options) {
  size_t array_size = options->metadata_count * sizeof(options->metadata[0]);
  size_t size = array_size + options->address.size + 1;
  for (size_t i = 0; i < options->metadata_count; ++i) {
    size += options->metadata[i].name.size + options->metadata[i].value.size;
  }
  char* block = tfrt_simulated_allocate(stream->network, size);
  stream->metadata = (tfrt_transport_metadata_t*)(void*)block;
  stream->metadata_count = options->metadata_count;
  stream->metadata_size = size;
  char* position = block + array_size;
  for (size_t i = 0; i < options->metadata_count; ++i) {
    const tfrt_transport_metadata_t* from = &options->metadata[i];
    stream->metadata[i].name = tfrt_string_view_make(position, from->name.size);
    copy_text(&position, from->name.data, from->name.size);
    stream->metadata[i].value = tfrt_string_view_make(position, from->value.size);
    copy_text(&position, from->value.data, from->value.size);
  }
  stream->address = position;
  copy_text(&position, options->address.data, options->address.size);
}

// A stream from |endpoint| to |listener|, which is NULL where nobody ever listened.
static tfrt_simulated_stream_t* allocate_stream(tfrt_simulated_endpoint_t* endpoint,
                                                tfrt_simulated_endpoint_t* listener,
                                                const tfrt_transport_dial_options_t* options) {
  tfrt_simulated_network_t* network = endpoint->network;
  tfrt_simulated_stream_t* stream = tfrt_simulated_allocate(network, sizeof(*stream));
  stream->network = network;
  stream->number = ++network->next_stream;
  stream->kind = options->kind;
  copy_options(stream, options);
  for (int side = 0; side < 2; ++side) {
    stream->ends[side].stream = stream;
    stream->ends[side].side = side;
    tfrt_list_initialize(&stream->ends[side].inbox);
  }
  stream->ends[0].endpoint = endpoint;
  stream->ends[1].endpoint = listener;
  tfrt_list_push_back(&network->streams, &stream->link);
  return stream;
}

tfrt_transport_connection_t* tfrt_simulated_stream_open(
    tfrt_simulated_endpoint_t* endpoint, tfrt_simulated_endpoint_t* listener,
    const tfrt_transport_dial_options_t* options, tfrt_transport_handler_t* handler) {
  tfrt_simulated_stream_t* stream = allocate_stream(endpoint, listener, options);
  tfrt_simulated_end_t* end = &stream->ends[0];
  attach(end, handler);
  if (listener) {
    send_to(&stream->ends[1], TFRT_SIMULATED_DIAL, true);
  } else {
    stream->answer = TFRT_TRANSPORT_REFUSED;
    tfrt_simulated_end_happen(end, TFRT_SIMULATED_ANSWER, tfrt_simulated_delay(stream->network));
  }
  tfrt_simulated_end_happen(end, TFRT_SIMULATED_TIMEOUT, options->timeout_ns);
  return tfrt_transport_connection_retain(&end->base);
}
