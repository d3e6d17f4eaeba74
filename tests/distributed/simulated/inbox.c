// SPDX-License-Identifier: Apache-2.0
//
// Messages that have arrived at an end of a stream, until who uses it asks for them; the faults of
// one stream: breaks, copies and swapped messages.
#include <string.h>

#include "tests/distributed/simulated/network_internal.h"

// A message to |end| is out of the stream, so that its writer may go on.
static void note_consumed(tfrt_simulated_end_t* end) {
  --end->incoming_count;
  tfrt_simulated_end_t* writer = tfrt_simulated_end_other(end);
  const uint32_t depth = end->stream->network->options.stream_depth;
  if (!writer->is_writer_blocked || end->incoming_count >= depth) return;
  writer->is_writer_blocked = false;
  tfrt_simulated_end_happen(writer, TFRT_SIMULATED_WRITTEN, TFRT_SIMULATED_LOCAL_DELAY_NS);
}

static void take_and_drop_message(tfrt_simulated_end_t* end, tfrt_simulated_event_t* event) {
  note_consumed(end);
  tfrt_simulated_event_free(event);
}

void tfrt_simulated_inbox_drop(tfrt_simulated_end_t* end) {
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&end->inbox));) {
    take_and_drop_message(end, TFRT_CONTAINER_OF(l, tfrt_simulated_event_t, link));
  }
  tfrt_simulated_event_t* held = end->held;
  end->held = NULL;
  if (held) take_and_drop_message(end, held);
}

// Shows |event|, which |from| has sent to |end|, to the network's observer.
static void show_message(const tfrt_simulated_end_t* end, tfrt_simulated_event_t* event,
                         const tfrt_simulated_endpoint_t* from) {
  tfrt_simulated_network_t* network = end->stream->network;
  if (!network->tap || !from) return;
  const tfrt_simulated_message_t message = {
      .kind = end->stream->kind,
      .from = from->index,
      .to = end->endpoint->index,
      .is_from_dialler = end->side == 1,
      .bytes = tfrt_string_view_make((const char*)tfrt_simulated_event_bytes(event), event->size)};
  network->tap(network->tap_argument, &message);
}

static void report_message(tfrt_simulated_end_t* end, tfrt_simulated_event_t* event) {
  tfrt_simulated_network_t* network = end->stream->network;
  ++network->message_counts[end->stream->kind];
  const tfrt_simulated_endpoint_t* from = end->stream->ends[1 - end->side].endpoint;
  if (from && from->index < TFRT_SIMULATED_COUNTED_ENDPOINTS) {
    end->endpoint->received_bytes[end->stream->kind][from->index] += event->size;
  }
  show_message(end, event, from);
  unsigned char* bytes = tfrt_simulated_event_bytes(event);
  // In two spans where it can be: nobody may rely on messages in one piece.
  size_t half = event->size / 2;
  tfrt_transport_span_t spans[2] = {{bytes, half}, {bytes + half, event->size - half}};
  if (half == 0) {
    tfrt_transport_connection_report_message(&end->base, spans + 1, 1);
  } else {
    tfrt_transport_connection_report_message(&end->base, spans, 2);
  }
}

void tfrt_simulated_inbox_deliver(tfrt_simulated_end_t* end) {
  if (end->is_delivering) return;
  end->is_delivering = true;
  while (end->credits > 0 && !end->is_done && !tfrt_list_is_empty(&end->inbox)) {
    tfrt_simulated_event_t* event =
        TFRT_CONTAINER_OF(tfrt_list_pop_front(&end->inbox), tfrt_simulated_event_t, link);
    --end->credits;
    note_consumed(end);
    report_message(end, event);
    tfrt_simulated_event_free(event);
  }
  end->is_delivering = false;
  if (end->has_peer_ended && !end->is_done && tfrt_list_is_empty(&end->inbox)) {
    tfrt_simulated_end_tell_ended(end, true);
  }
}

static void push_to_inbox(tfrt_simulated_end_t* end, tfrt_simulated_event_t* event) {
  tfrt_simulated_network_t* network = end->stream->network;
  tfrt_list_push_back(&end->inbox, &event->link);
  if (end->arrived_count <= 1 || event->was_copied ||
      !tfrt_simulated_happens(network, network->options.duplicate_chance)) {
    return;
  }
  tfrt_simulated_event_t* copy =
      tfrt_simulated_event_allocate(end->stream, TFRT_SIMULATED_MESSAGE, end->side, event->size);
  copy->was_copied = true;
  memcpy(tfrt_simulated_event_bytes(copy), tfrt_simulated_event_bytes(event), event->size);
  ++end->incoming_count;
  tfrt_list_push_back(&end->inbox, &copy->link);
}

void tfrt_simulated_inbox_release_held(tfrt_simulated_end_t* end) {
  tfrt_simulated_event_t* held = end->held;
  end->held = NULL;
  if (held) push_to_inbox(end, held);
}

void tfrt_simulated_inbox_take_message(tfrt_simulated_end_t* end, tfrt_simulated_event_t* event) {
  tfrt_simulated_network_t* network = end->stream->network;
  if (!end->is_attached || end->is_done) {
    take_and_drop_message(end, event);
    return;
  }
  if (tfrt_simulated_happens(network, network->options.break_chance)) {
    take_and_drop_message(end, event);
    tfrt_simulated_stream_break(end->stream);
    return;
  }
  ++end->arrived_count;
  if (end->arrived_count > 1 && !end->held &&
      tfrt_simulated_happens(network, network->options.reorder_chance)) {
    end->held = event;
    return;
  }
  push_to_inbox(end, event);
  tfrt_simulated_inbox_release_held(end);
  tfrt_simulated_inbox_deliver(end);
}
