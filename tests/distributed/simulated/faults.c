// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "tests/distributed/simulated/network_internal.h"

tfrt_simulated_partition_t* tfrt_simulated_find_partition(tfrt_simulated_network_t* network,
                                                          const tfrt_simulated_endpoint_t* from,
                                                          const tfrt_simulated_endpoint_t* to) {
  for (tfrt_list_link_t* l = network->partitions.next; l != &network->partitions; l = l->next) {
    tfrt_simulated_partition_t* partition = TFRT_CONTAINER_OF(l, tfrt_simulated_partition_t, link);
    if (partition->from == from && partition->to == to) return partition;
  }
  return NULL;
}

// Moves from |list| to |out_list|, in order, what goes from |from| (NULL: anybody) to |to|.
static void extract(tfrt_list_link_t* list, const tfrt_simulated_endpoint_t* from,
                    const tfrt_simulated_endpoint_t* to, tfrt_list_link_t* out_list) {
  for (tfrt_list_link_t *l = list->next, *next; l != list; l = next) {
    next = l->next;
    const tfrt_simulated_event_t* event = TFRT_CONTAINER_OF(l, tfrt_simulated_event_t, link);
    if ((from && event->from != from) || event->to != to) continue;
    tfrt_list_remove(l);
    tfrt_list_push_back(out_list, l);
  }
}

// Lets go what was held up on a path. Messages under way on the path come behind, so that each
// stream keeps its order.
static void release_parked(tfrt_simulated_network_t* network, const tfrt_simulated_endpoint_t* from,
                           const tfrt_simulated_endpoint_t* to) {
  tfrt_list_link_t events;
  tfrt_list_initialize(&events);
  extract(&network->parked, from, to, &events);
  if (tfrt_list_is_empty(&events)) return;
  extract(&network->queue, from, to, &events);
  int64_t time_ns = network->now_ns;
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&events));) {
    tfrt_simulated_event_t* event = TFRT_CONTAINER_OF(l, tfrt_simulated_event_t, link);
    ++time_ns;
    if (event->time_ns > time_ns) time_ns = event->time_ns;
    tfrt_simulated_end_t* end = &event->stream->ends[event->side];
    if (end->last_arrival_ns < time_ns) end->last_arrival_ns = time_ns;
    tfrt_simulated_network_take_event(network, event, time_ns);
  }
}

void tfrt_simulated_network_partition(tfrt_simulated_network_t* network,
                                      tfrt_simulated_endpoint_t* from,
                                      tfrt_simulated_endpoint_t* to, bool both_ways) {
  if (!tfrt_simulated_find_partition(network, from, to)) {
    tfrt_simulated_trace(network, "%s -> %s partition", from->name, to->name);
    tfrt_simulated_partition_t* partition = tfrt_simulated_allocate(network, sizeof(*partition));
    *partition = (tfrt_simulated_partition_t){.from = from, .to = to};
    tfrt_list_push_back(&network->partitions, &partition->link);
  }
  if (both_ways) tfrt_simulated_network_partition(network, to, from, false);
}

void tfrt_simulated_network_heal(tfrt_simulated_network_t* network, tfrt_simulated_endpoint_t* from,
                                 tfrt_simulated_endpoint_t* to, bool both_ways) {
  tfrt_simulated_partition_t* partition = tfrt_simulated_find_partition(network, from, to);
  if (partition) {
    tfrt_simulated_trace(network, "%s -> %s heal", from->name, to->name);
    tfrt_list_remove(&partition->link);
    tfrt_allocator_free(network->allocator, partition, sizeof(*partition));
    release_parked(network, from, to);
  }
  if (both_ways) tfrt_simulated_network_heal(network, to, from, false);
}

void tfrt_simulated_network_break(tfrt_simulated_network_t* network, tfrt_simulated_endpoint_t* a,
                                  tfrt_simulated_endpoint_t* b) {
  for (tfrt_list_link_t *l = network->streams.next, *next; l != &network->streams; l = next) {
    next = l->next;
    tfrt_simulated_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_simulated_stream_t, link);
    const tfrt_simulated_endpoint_t* x = stream->ends[0].endpoint;
    const tfrt_simulated_endpoint_t* y = stream->ends[1].endpoint;
    if ((x == a && y == b) || (x == b && y == a)) tfrt_simulated_stream_break(stream);
  }
}

void tfrt_simulated_network_forget(tfrt_simulated_network_t* network,
                                   tfrt_simulated_endpoint_t* told,
                                   tfrt_simulated_endpoint_t* silent, tfrt_transport_kind_t kind) {
  for (tfrt_list_link_t *l = network->streams.next, *next; l != &network->streams; l = next) {
    next = l->next;
    tfrt_simulated_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_simulated_stream_t, link);
    if (stream->kind != kind) continue;
    for (int side = 0; side < 2; ++side) {
      tfrt_simulated_end_t* end = &stream->ends[side];
      const tfrt_simulated_endpoint_t* other = tfrt_simulated_end_other(end)->endpoint;
      if (end->endpoint == told && other == silent) tfrt_simulated_end_forget(end);
    }
  }
}

void tfrt_simulated_network_mute(tfrt_simulated_network_t* network, tfrt_simulated_endpoint_t* a,
                                 tfrt_simulated_endpoint_t* b, tfrt_transport_kind_t kind) {
  for (tfrt_list_link_t* l = network->streams.next; l != &network->streams; l = l->next) {
    tfrt_simulated_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_simulated_stream_t, link);
    const tfrt_simulated_endpoint_t* first = stream->ends[0].endpoint;
    const tfrt_simulated_endpoint_t* second = stream->ends[1].endpoint;
    bool is_between = (first == a && second == b) || (first == b && second == a);
    if (stream->kind != kind || !is_between) continue;
    tfrt_simulated_trace(network, "mute %" PRIu64, stream->number);
    stream->ends[0].is_mute = stream->ends[1].is_mute = true;
  }
}

void tfrt_simulated_endpoint_freeze(tfrt_simulated_endpoint_t* endpoint) {
  if (endpoint->is_frozen) return;
  tfrt_simulated_trace(endpoint->network, "%s freeze", endpoint->name);
  endpoint->is_frozen = true;
}

void tfrt_simulated_endpoint_thaw(tfrt_simulated_endpoint_t* endpoint) {
  if (!endpoint->is_frozen) return;
  tfrt_simulated_trace(endpoint->network, "%s thaw", endpoint->name);
  endpoint->is_frozen = false;
  release_parked(endpoint->network, NULL, endpoint);
}

void tfrt_simulated_endpoint_kill(tfrt_simulated_endpoint_t* endpoint) {
  if (endpoint->is_dead) return;
  tfrt_simulated_trace(endpoint->network, "%s kill", endpoint->name);
  tfrt_simulated_endpoint_thaw(endpoint);
  endpoint->is_dead = true;
  endpoint->acceptor = NULL;
  tfrt_simulated_endpoint_drop_streams(endpoint);
}

bool tfrt_simulated_endpoint_is_alive(const tfrt_simulated_endpoint_t* endpoint) {
  return !endpoint->is_dead;
}
