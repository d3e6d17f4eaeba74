// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/simulated/network.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/number_text.h"
#include "tests/distributed/simulated/network_internal.h"

// --- Memory, chance, trace ---------------------------------------------------

void* tfrt_simulated_allocate(tfrt_simulated_network_t* network, size_t size) {
  void* memory = tfrt_allocator_allocate_zeroed(network->allocator, size);
  if (!memory) abort();
  return memory;
}

int64_t tfrt_simulated_delay(tfrt_simulated_network_t* network) {
  const tfrt_simulated_options_t* options = &network->options;
  return options->delay_ns +
         (int64_t)tfrt_random_below(&network->random, (uint64_t)options->jitter_ns + 1);
}

bool tfrt_simulated_happens(tfrt_simulated_network_t* network, tfrt_simulated_chance_t chance) {
  // No number is drawn for what can't happen: turning a fault off leaves the rest as it is.
  return chance > 0 && tfrt_random_below(&network->random, 1000000) < chance;
}

void tfrt_simulated_trace(tfrt_simulated_network_t* network, const char* format, ...) {
  char line[256];
  int size = snprintf(line, sizeof(line), "%" PRId64 " ", network->now_ns);
  va_list arguments;
  va_start(arguments, format);
  size += tfrt_number_text_format_v(line + size, sizeof(line) - (size_t)size, format, arguments);
  va_end(arguments);
  if (size >= (int)sizeof(line)) size = (int)sizeof(line) - 1;
  network->trace_hash = tfrt_hash_combine(network->trace_hash, tfrt_hash_bytes(line, (size_t)size));
  if (!network->options.keeps_trace) return;
  tfrt_string_builder_append(&network->trace, line, (size_t)size);
  tfrt_string_builder_append_char(&network->trace, '\n');
}

// --- Life --------------------------------------------------------------------

void tfrt_simulated_options_initialize(tfrt_simulated_options_t* out_options) {
  *out_options = (tfrt_simulated_options_t){
      .seed = 1,
      .delay_ns = 100 * TFRT_NANOSECONDS_PER_MICROSECOND,
      .jitter_ns = 50 * TFRT_NANOSECONDS_PER_MICROSECOND,
      .stream_depth = 16,
  };
}

tfrt_simulated_network_t* tfrt_simulated_network_allocate(const tfrt_simulated_options_t* options,
                                                          tfrt_allocator_t allocator) {
  tfrt_simulated_network_t* network = tfrt_allocator_allocate_zeroed(allocator, sizeof(*network));
  if (!network) abort();
  assert(options->stream_depth > 0);
  network->options = *options;
  network->allocator = allocator;
  tfrt_random_initialize(&network->random, options->seed);
  network->now_ns = TFRT_NANOSECONDS_PER_SECOND;
  tfrt_list_initialize(&network->endpoints);
  tfrt_list_initialize(&network->streams);
  tfrt_list_initialize(&network->queue);
  tfrt_list_initialize(&network->parked);
  tfrt_list_initialize(&network->partitions);
  network->next_port = 1000;
  tfrt_string_builder_initialize(&network->trace, allocator);
  return network;
}

static void free_events(tfrt_list_link_t* list) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(list));) {
    tfrt_simulated_event_free(TFRT_CONTAINER_OF(link, tfrt_simulated_event_t, link));
  }
}

static void free_endpoint(tfrt_simulated_endpoint_t* endpoint) {
  tfrt_simulated_network_t* network = endpoint->network;
  assert(tfrt_ref_count_is_one(&endpoint->transport.ref_count));
  tfrt_transport_release(&endpoint->transport);
  tfrt_timer_queue_deinitialize(&endpoint->timers);
  tfrt_allocator_free(network->allocator, endpoint, sizeof(*endpoint));
}

void tfrt_simulated_network_free(tfrt_simulated_network_t* network) {
  if (!network) return;
  for (tfrt_list_link_t* l = network->endpoints.next; l != &network->endpoints; l = l->next) {
    tfrt_transport_t* transport = &TFRT_CONTAINER_OF(l, tfrt_simulated_endpoint_t, link)->transport;
    tfrt_transport_close(transport);
    tfrt_transport_drain(transport);
  }
  free_events(&network->queue);
  free_events(&network->parked);
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&network->endpoints));) {
    free_endpoint(TFRT_CONTAINER_OF(l, tfrt_simulated_endpoint_t, link));
  }
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&network->partitions));) {
    tfrt_simulated_partition_t* partition = TFRT_CONTAINER_OF(l, tfrt_simulated_partition_t, link);
    tfrt_allocator_free(network->allocator, partition, sizeof(*partition));
  }
  assert(tfrt_list_is_empty(&network->streams));
  tfrt_string_builder_deinitialize(&network->trace);
  tfrt_allocator_free(network->allocator, network, sizeof(*network));
}

static int64_t clock_now_ns(void* self) { return ((tfrt_simulated_network_t*)self)->now_ns; }

static const tfrt_clock_vtable_t clock_vtable = {.now_ns = clock_now_ns};

tfrt_clock_t tfrt_simulated_network_clock(tfrt_simulated_network_t* network) {
  return (tfrt_clock_t){.vtable = &clock_vtable, .self = network};
}

// --- Clocks of processes -----------------------------------------------------

#define TFRT_SIMULATED_MILLION INT64_C(1000000)

// |value| * |numerator| / |denominator|, whose products may not overflow.
static int64_t scale(int64_t value, int64_t numerator, int64_t denominator) {
  return value / denominator * numerator + value % denominator * numerator / denominator;
}

static int64_t local_time(const tfrt_simulated_endpoint_t* endpoint, int64_t network_ns) {
  return network_ns + endpoint->clock_offset_ns +
         scale(network_ns, endpoint->clock_drift_ppm, TFRT_SIMULATED_MILLION);
}

// The first time of the network at which the endpoint's clock shows |local_ns| or more.
static int64_t network_time(const tfrt_simulated_endpoint_t* endpoint, int64_t local_ns) {
  if (local_ns == TFRT_TIME_INFINITE) return TFRT_TIME_INFINITE;
  int64_t rate = TFRT_SIMULATED_MILLION + endpoint->clock_drift_ppm;
  // Rounded down twice, so it may be a little early.
  int64_t time_ns = scale(local_ns - endpoint->clock_offset_ns, TFRT_SIMULATED_MILLION, rate) - 2;
  while (local_time(endpoint, time_ns) < local_ns) ++time_ns;
  return time_ns;
}

static int64_t endpoint_clock_now_ns(void* self) {
  const tfrt_simulated_endpoint_t* endpoint = self;
  return local_time(endpoint, endpoint->network->now_ns);
}

static const tfrt_clock_vtable_t endpoint_clock_vtable = {.now_ns = endpoint_clock_now_ns};

static int64_t next_timer_time(tfrt_simulated_endpoint_t* endpoint) {
  return network_time(endpoint, tfrt_timer_queue_next_deadline(&endpoint->timers));
}

// --- Processes ---------------------------------------------------------------

tfrt_random_t* tfrt_simulated_network_random(tfrt_simulated_network_t* network) {
  return &network->random;
}

void tfrt_simulated_network_set_faults(tfrt_simulated_network_t* network,
                                       const tfrt_simulated_options_t* options) {
  bool keeps_trace = network->options.keeps_trace;
  network->options = *options;
  network->options.keeps_trace = keeps_trace;
}

tfrt_simulated_endpoint_t* tfrt_simulated_network_add_endpoint(tfrt_simulated_network_t* network,
                                                               const char* name) {
  tfrt_simulated_endpoint_t* endpoint = tfrt_simulated_allocate(network, sizeof(*endpoint));
  tfrt_transport_initialize(&endpoint->transport, &tfrt_simulated_transport_vtable);
  endpoint->network = network;
  endpoint->index = network->endpoint_count++;
  snprintf(endpoint->name, sizeof(endpoint->name), "%s", name);
  endpoint->clock_offset_ns = (int64_t)endpoint->index * network->options.clock_offset_ns;
  endpoint->clock_drift_ppm = (int64_t)endpoint->index * network->options.clock_drift_ppm;
  tfrt_timer_queue_initialize(&endpoint->timers,
                              (tfrt_clock_t){.vtable = &endpoint_clock_vtable, .self = endpoint});
  tfrt_list_push_back(&network->endpoints, &endpoint->link);
  return endpoint;
}

tfrt_transport_t* tfrt_simulated_endpoint_transport(tfrt_simulated_endpoint_t* endpoint) {
  return &endpoint->transport;
}

tfrt_timer_queue_t* tfrt_simulated_endpoint_timers(tfrt_simulated_endpoint_t* endpoint) {
  return &endpoint->timers;
}

void tfrt_simulated_endpoint_set_hook(tfrt_simulated_endpoint_t* endpoint,
                                      tfrt_simulated_hook_fn_t hook, void* argument) {
  endpoint->hook = hook;
  endpoint->hook_argument = argument;
}

// --- Events ------------------------------------------------------------------

void tfrt_simulated_network_take_event(tfrt_simulated_network_t* network,
                                       tfrt_simulated_event_t* event, int64_t time_ns) {
  event->time_ns = time_ns;
  // From the back: most events are later than most others.
  tfrt_list_link_t* position = network->queue.previous;
  while (position != &network->queue &&
         TFRT_CONTAINER_OF(position, tfrt_simulated_event_t, link)->time_ns > time_ns) {
    position = position->previous;
  }
  tfrt_list_insert_after(position, &event->link);
}

static bool is_held_up(tfrt_simulated_network_t* network, const tfrt_simulated_event_t* event) {
  return event->to->is_frozen || tfrt_simulated_find_partition(network, event->from, event->to);
}

static void run_hook(tfrt_simulated_endpoint_t* endpoint) {
  if (endpoint->hook && !endpoint->is_dead) endpoint->hook(endpoint->hook_argument);
}

static void do_first_event(tfrt_simulated_network_t* network) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&network->queue);
  tfrt_simulated_event_t* event = TFRT_CONTAINER_OF(link, tfrt_simulated_event_t, link);
  if (event->time_ns > network->now_ns) network->now_ns = event->time_ns;
  // A dead process does nothing; a dial to it is answered by its machine.
  if (event->to->is_dead && event->kind != TFRT_SIMULATED_DIAL) {
    tfrt_simulated_event_free(event);
    return;
  }
  if (is_held_up(network, event)) {
    tfrt_list_push_back(&network->parked, &event->link);
    return;
  }
  tfrt_simulated_endpoint_t* endpoint = event->to;
  tfrt_simulated_stream_take_event(event);
  run_hook(endpoint);
}

static void run_timers(tfrt_simulated_network_t* network, tfrt_simulated_endpoint_t* endpoint) {
  int64_t deadline_ns = next_timer_time(endpoint);
  if (deadline_ns > network->now_ns) network->now_ns = deadline_ns;
  tfrt_simulated_trace(network, "%s timers", endpoint->name);
  (void)tfrt_timer_queue_run_due(&endpoint->timers);
  run_hook(endpoint);
}

// The candidates for the next step: the earliest due time, and how many things are due then.
typedef struct candidates_s {
  int64_t time_ns;
  uint64_t count;
} candidates_t;

static void add_candidate(candidates_t* candidates, int64_t time_ns) {
  if (time_ns < candidates->time_ns) *candidates = (candidates_t){.time_ns = time_ns};
  if (time_ns == candidates->time_ns) ++candidates->count;
}

static int64_t first_event_time(const tfrt_simulated_network_t* network) {
  if (tfrt_list_is_empty(&network->queue)) return TFRT_TIME_INFINITE;
  int64_t time_ns = TFRT_CONTAINER_OF(network->queue.next, tfrt_simulated_event_t, link)->time_ns;
  return time_ns > network->now_ns ? time_ns : network->now_ns;
}

static int64_t first_timer_time(tfrt_simulated_endpoint_t* endpoint) {
  if (endpoint->is_dead || endpoint->is_frozen) return TFRT_TIME_INFINITE;
  int64_t now_ns = endpoint->network->now_ns;
  int64_t time_ns = next_timer_time(endpoint);
  return time_ns > now_ns ? time_ns : now_ns;
}

static candidates_t find_candidates(tfrt_simulated_network_t* network) {
  candidates_t candidates = {.time_ns = TFRT_TIME_INFINITE};
  add_candidate(&candidates, first_event_time(network));
  for (tfrt_list_link_t* l = network->endpoints.next; l != &network->endpoints; l = l->next) {
    add_candidate(&candidates,
                  first_timer_time(TFRT_CONTAINER_OF(l, tfrt_simulated_endpoint_t, link)));
  }
  return candidates;
}

static void do_candidate(tfrt_simulated_network_t* network, const candidates_t* candidates) {
  uint64_t choice =
      candidates->count > 1 ? tfrt_random_below(&network->random, candidates->count) : 0;
  if (first_event_time(network) == candidates->time_ns && choice-- == 0) {
    do_first_event(network);
    return;
  }
  for (tfrt_list_link_t* l = network->endpoints.next; l != &network->endpoints; l = l->next) {
    tfrt_simulated_endpoint_t* endpoint = TFRT_CONTAINER_OF(l, tfrt_simulated_endpoint_t, link);
    if (first_timer_time(endpoint) != candidates->time_ns || choice-- != 0) continue;
    run_timers(network, endpoint);
    return;
  }
}

bool tfrt_simulated_network_step(tfrt_simulated_network_t* network) {
  candidates_t candidates = find_candidates(network);
  if (candidates.time_ns == TFRT_TIME_INFINITE) return false;
  do_candidate(network, &candidates);
  return true;
}

bool tfrt_simulated_network_run_until(tfrt_simulated_network_t* network,
                                      tfrt_simulated_predicate_fn_t predicate, void* argument,
                                      int64_t limit_ns) {
  int64_t end_ns = tfrt_deadline_after(network->now_ns, limit_ns);
  for (;;) {
    if (predicate && predicate(argument)) return true;
    candidates_t candidates = find_candidates(network);
    if (candidates.time_ns == TFRT_TIME_INFINITE || candidates.time_ns > end_ns) break;
    do_candidate(network, &candidates);
  }
  if (end_ns != TFRT_TIME_INFINITE && end_ns > network->now_ns) network->now_ns = end_ns;
  return false;
}

// --- Books -------------------------------------------------------------------

uint64_t tfrt_simulated_network_trace_hash(const tfrt_simulated_network_t* network) {
  return network->trace_hash;
}

const char* tfrt_simulated_network_trace(const tfrt_simulated_network_t* network) {
  return tfrt_string_builder_text(&network->trace);
}

size_t tfrt_simulated_network_stream_count(const tfrt_simulated_network_t* network) {
  size_t count = 0;
  for (const tfrt_list_link_t* l = network->streams.next; l != &network->streams; l = l->next) {
    const tfrt_simulated_stream_t* stream = TFRT_CONTAINER_OF(l, tfrt_simulated_stream_t, link);
    for (int side = 0; side < 2; ++side) {
      if (!stream->ends[side].is_attached || stream->ends[side].is_told) continue;
      ++count;
      break;
    }
  }
  return count;
}

void tfrt_simulated_network_set_tap(tfrt_simulated_network_t* network, tfrt_simulated_tap_fn_t tap,
                                    void* argument) {
  network->tap = tap;
  network->tap_argument = argument;
}

uint64_t tfrt_simulated_network_message_count(const tfrt_simulated_network_t* network,
                                              tfrt_transport_kind_t kind) {
  return network->message_counts[kind];
}

uint64_t tfrt_simulated_endpoint_received_bytes(const tfrt_simulated_endpoint_t* to,
                                                const tfrt_simulated_endpoint_t* from,
                                                tfrt_transport_kind_t kind) {
  return from->index < TFRT_SIMULATED_COUNTED_ENDPOINTS ? to->received_bytes[kind][from->index] : 0;
}
