// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/lane_manager.h"

#include "distributed/bulk/lane_impl.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/block_cache.h"

// --- The manager -------------------------------------------------------------

static bool is_peer(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_lane_peer_t* peer = TFRT_CONTAINER_OF(node, tfrt_lane_peer_t, by_incarnation);
  return peer->session.incarnation == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t peers_vtable = {tfrt_lane_hash_number, is_peer};

tfrt_lane_peer_t* tfrt_lane_peer_find(tfrt_lane_manager_t* manager, uint64_t incarnation) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&manager->peers, &incarnation);
  return node ? TFRT_CONTAINER_OF(node, tfrt_lane_peer_t, by_incarnation) : NULL;
}

int64_t tfrt_lane_manager_now_ns(const tfrt_lane_manager_t* manager) {
  return tfrt_clock_now_ns(manager->timers->clock);
}

void tfrt_lane_manager_note_frame(tfrt_lane_manager_t* manager) { ++manager->frame_count; }

void tfrt_lane_options_initialize(tfrt_lane_options_t* out_options) {
  *out_options = (tfrt_lane_options_t){
      .dial_timeout_ns = 3 * TFRT_NANOSECONDS_PER_SECOND,
      .redial_delay_ns = 100 * TFRT_NANOSECONDS_PER_MILLISECOND,
      // More than a session's silence: its death comes first where both are cut off.
      .give_up_ns = 10 * TFRT_NANOSECONDS_PER_SECOND,
      .stall_ns = 15 * TFRT_NANOSECONDS_PER_SECOND,
      .window_size = TFRT_WIRE_DEFAULT_WINDOW_SIZE,
      .max_greeting = 64,
      // Smaller blocks may have been kept, and have their pages.
      .room_size = TFRT_BLOCK_CACHE_MAX_BYTES + 1,
      .long_size = (uint64_t)256 << 20,
      .polite_chunk_bytes = 128u << 10,
  };
}

static tfrt_status_t check_options(const tfrt_lane_options_t* options) {
  bool is_fine = options->incarnation != 0 && options->dial_timeout_ns > 0 &&
                 options->redial_delay_ns > 0 && options->give_up_ns > 0 && options->stall_ns > 0 &&
                 options->window_size > 0 && options->window_size <= UINT32_MAX &&
                 options->max_greeting > 0 && options->polite_chunk_bytes > 0;
  if (is_fine) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "lanes need an incarnation, positive times and sizes, and a window "
                            "below 4 GiB");
}

static tfrt_status_t accept_stream(tfrt_transport_acceptor_t* acceptor,
                                   const tfrt_transport_incoming_t* incoming,
                                   tfrt_transport_handler_t** out_handler);
static const tfrt_transport_acceptor_vtable_t acceptor_vtable = {accept_stream};

tfrt_status_t tfrt_lane_manager_create(const tfrt_lane_options_t* options,
                                       tfrt_transport_t* transport, tfrt_node_lock_t* lock,
                                       tfrt_timer_queue_t* timers, tfrt_lane_handler_t* handler,
                                       tfrt_allocator_t allocator,
                                       tfrt_lane_manager_t** out_manager) {
  *out_manager = NULL;
  TFRT_RETURN_IF_ERROR(check_options(options));
  tfrt_lane_manager_t* manager = tfrt_allocator_allocate_zeroed(allocator, sizeof(*manager));
  if (!manager) return tfrt_status_out_of_memory();
  manager->options = *options;
  size_t key_size = options->cluster_key.size;
  const char* key = tfrt_allocator_copy_string(allocator, options->cluster_key.data, key_size);
  if (!key) {
    tfrt_allocator_free(allocator, manager, sizeof(*manager));
    return tfrt_status_out_of_memory();
  }
  manager->options.cluster_key = tfrt_string_view_make(key, key_size);
  manager->acceptor.vtable = &acceptor_vtable;
  manager->transport = transport;
  manager->lock = lock;
  manager->timers = timers;
  manager->handler = handler;
  manager->allocator = allocator;
  tfrt_hash_table_initialize(&manager->peers, &peers_vtable, allocator);
  tfrt_list_initialize(&manager->lanes);
  tfrt_condition_initialize(&manager->drained);
  *out_manager = manager;
  return NULL;
}

void tfrt_lane_manager_free(tfrt_lane_manager_t* manager) {
  if (!manager) return;
  tfrt_allocator_t allocator = manager->allocator;
  tfrt_hash_table_deinitialize(&manager->peers);
  tfrt_condition_deinitialize(&manager->drained);
  tfrt_allocator_free(allocator, (char*)manager->options.cluster_key.data,
                      manager->options.cluster_key.size + 1);
  tfrt_allocator_free(allocator, manager, sizeof(*manager));
}

tfrt_transport_acceptor_t* tfrt_lane_manager_acceptor(tfrt_lane_manager_t* manager) {
  return &manager->acceptor;
}

uint64_t tfrt_lane_manager_window_size(const tfrt_lane_manager_t* manager) {
  return manager->options.window_size;
}

void tfrt_lane_manager_forget_one(tfrt_lane_manager_t* manager) {
  if (--manager->live == 0) tfrt_condition_broadcast(&manager->drained);
}

bool tfrt_lane_manager_is_drained(const tfrt_lane_manager_t* manager) {
  return manager->is_closed && manager->live == 0;
}

void tfrt_lane_manager_drain(tfrt_lane_manager_t* manager) {
  tfrt_node_lock_lock(manager->lock);
  int64_t deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(manager->timers->clock), TFRT_TUNING_LANE_DRAIN_NS);
  bool is_in_time = true;
  while (is_in_time && !tfrt_lane_manager_is_drained(manager)) {
    is_in_time = tfrt_condition_wait_until(&manager->drained, &manager->lock->mutex, deadline_ns);
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
}

tfrt_lane_counts_t tfrt_lane_manager_counts(const tfrt_lane_manager_t* manager) {
  tfrt_lane_counts_t counts = manager->counts;
  counts.sessions = tfrt_hash_table_count(&manager->peers);
  return counts;
}

tfrt_lane_traffic_t tfrt_lane_manager_traffic(tfrt_lane_manager_t* manager, uint64_t incarnation) {
  const tfrt_lane_peer_t* peer = tfrt_lane_peer_find(manager, incarnation);
  return peer ? peer->traffic : (tfrt_lane_traffic_t){0};
}

void tfrt_lane_manager_close(tfrt_lane_manager_t* manager) {
  if (manager->is_closed) return;
  manager->is_closed = true;
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_CANCELLED, "this host shuts down");
  for (tfrt_hash_node_t* node; (node = tfrt_hash_table_first(&manager->peers));) {
    tfrt_lane_peer_t* peer = TFRT_CONTAINER_OF(node, tfrt_lane_peer_t, by_incarnation);
    tfrt_lane_manager_bury(manager, peer->session.incarnation, status);
  }
  tfrt_status_release(status);
  for (tfrt_list_link_t* l = manager->lanes.next; l != &manager->lanes; l = l->next) {
    tfrt_lane_t* lane = TFRT_CONTAINER_OF(l, tfrt_lane_t, link);
    if (lane->state != TFRT_LANE_ENDING) tfrt_lane_break(lane);
  }
}

// --- Who dials in ------------------------------------------------------------

// A Hello comes with the dial, so the connection that has been silent for longest is the least
// likely to say one. If the newcomer were refused instead, one process could keep all others out.
static void break_longest_silent(tfrt_lane_manager_t* manager) {
  for (tfrt_list_link_t* l = manager->lanes.next; l != &manager->lanes; l = l->next) {
    tfrt_lane_t* lane = TFRT_CONTAINER_OF(l, tfrt_lane_t, link);
    if (lane->state != TFRT_LANE_GREETING) continue;
    tfrt_lane_break(lane);
    return;
  }
}

static tfrt_status_t accept_stream(tfrt_transport_acceptor_t* acceptor,
                                   const tfrt_transport_incoming_t* incoming,
                                   tfrt_transport_handler_t** out_handler) {
  tfrt_lane_manager_t* manager = TFRT_CONTAINER_OF(acceptor, tfrt_lane_manager_t, acceptor);
  tfrt_lane_t* lane = NULL;
  *out_handler = NULL;
  tfrt_node_lock_lock(manager->lock);
  bool is_closed = manager->is_closed;
  if (!is_closed) lane = tfrt_lane_create(manager, NULL, incoming->connection);
  if (lane && ++manager->greeting_count > manager->options.max_greeting) {
    break_longest_silent(manager);
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
  if (is_closed) return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "this host shuts down");
  if (!lane) return tfrt_status_out_of_memory();
  *out_handler = &lane->handler;
  tfrt_transport_connection_receive(incoming->connection);
  return NULL;
}
