// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/bulk_manager.h"

#include "distributed/bulk/bulk_impl.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/block_cache.h"

// --- The manager -------------------------------------------------------------

static bool is_peer(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_bulk_peer_t* peer = TFRT_CONTAINER_OF(node, tfrt_bulk_peer_t, by_incarnation);
  return peer->session.incarnation == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t peers_vtable = {tfrt_bulk_hash_number, is_peer};

tfrt_bulk_peer_t* tfrt_bulk_peer_find(tfrt_bulk_manager_t* manager, uint64_t incarnation) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&manager->peers, &incarnation);
  return node ? TFRT_CONTAINER_OF(node, tfrt_bulk_peer_t, by_incarnation) : NULL;
}

int64_t tfrt_bulk_manager_now_ns(const tfrt_bulk_manager_t* manager) {
  return tfrt_clock_now_ns(manager->timers->clock);
}

void tfrt_bulk_manager_note_frame(tfrt_bulk_manager_t* manager) { ++manager->frame_count; }

void tfrt_bulk_options_initialize(tfrt_bulk_options_t* out_options) {
  *out_options = (tfrt_bulk_options_t){
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
      .lend_size = TFRT_TUNING_BULK_LEND_BYTES,
  };
}

static tfrt_status_t check_options(const tfrt_bulk_options_t* options) {
  bool is_fine = options->incarnation != 0 && options->dial_timeout_ns > 0 &&
                 options->redial_delay_ns > 0 && options->give_up_ns > 0 && options->stall_ns > 0 &&
                 options->window_size > 0 && options->window_size <= UINT32_MAX &&
                 options->max_greeting > 0 && options->polite_chunk_bytes > 0 &&
                 options->place.size <= TFRT_WIRE_MAX_PLACE_SIZE;
  if (is_fine) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "bulk channels need an incarnation, positive times and sizes, and a window "
      "below 4 GiB; a place has at most 128 bytes");
}

static tfrt_status_t accept_stream(tfrt_transport_acceptor_t* acceptor,
                                   const tfrt_transport_incoming_t* incoming,
                                   tfrt_transport_handler_t** out_handler);
static const tfrt_transport_acceptor_vtable_t acceptor_vtable = {accept_stream};

tfrt_status_t tfrt_bulk_manager_create(const tfrt_bulk_options_t* options,
                                       tfrt_transport_t* transport, tfrt_node_lock_t* lock,
                                       tfrt_timer_queue_t* timers, tfrt_bulk_handler_t* handler,
                                       tfrt_allocator_t allocator,
                                       tfrt_bulk_manager_t** out_manager) {
  *out_manager = NULL;
  TFRT_RETURN_IF_ERROR(check_options(options));
  tfrt_bulk_manager_t* manager = tfrt_allocator_allocate_zeroed(allocator, sizeof(*manager));
  if (!manager) return tfrt_status_out_of_memory();
  manager->options = *options;
  size_t key_size = options->cluster_key.size;
  const char* key = tfrt_allocator_copy_string(allocator, options->cluster_key.data, key_size);
  const char* place =
      tfrt_allocator_copy_string(allocator, options->place.data, options->place.size);
  if (!key || !place) {
    tfrt_allocator_free(allocator, (char*)key, key_size + 1);
    tfrt_allocator_free(allocator, (char*)place, options->place.size + 1);
    tfrt_allocator_free(allocator, manager, sizeof(*manager));
    return tfrt_status_out_of_memory();
  }
  manager->options.cluster_key = tfrt_string_view_make(key, key_size);
  manager->options.place = tfrt_string_view_make(place, options->place.size);
  manager->acceptor.vtable = &acceptor_vtable;
  manager->transport = transport;
  manager->lock = lock;
  manager->timers = timers;
  manager->handler = handler;
  manager->allocator = allocator;
  tfrt_hash_table_initialize(&manager->peers, &peers_vtable, allocator);
  tfrt_list_initialize(&manager->channels);
  tfrt_condition_initialize(&manager->drained);
  *out_manager = manager;
  return NULL;
}

void tfrt_bulk_manager_free(tfrt_bulk_manager_t* manager) {
  if (!manager) return;
  tfrt_allocator_t allocator = manager->allocator;
  tfrt_hash_table_deinitialize(&manager->peers);
  tfrt_condition_deinitialize(&manager->drained);
  tfrt_allocator_free(allocator, (char*)manager->options.cluster_key.data,
                      manager->options.cluster_key.size + 1);
  tfrt_allocator_free(allocator, (char*)manager->options.place.data,
                      manager->options.place.size + 1);
  tfrt_allocator_free(allocator, manager, sizeof(*manager));
}

tfrt_transport_acceptor_t* tfrt_bulk_manager_acceptor(tfrt_bulk_manager_t* manager) {
  return &manager->acceptor;
}

uint64_t tfrt_bulk_manager_window_size(const tfrt_bulk_manager_t* manager) {
  return manager->options.window_size;
}

void tfrt_bulk_manager_forget_one(tfrt_bulk_manager_t* manager) {
  if (--manager->live == 0) tfrt_condition_broadcast(&manager->drained);
}

void tfrt_bulk_manager_drain(tfrt_bulk_manager_t* manager) {
  tfrt_node_lock_lock(manager->lock);
  int64_t deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(manager->timers->clock), TFRT_TUNING_BULK_DRAIN_NS);
  bool is_in_time = true;
  while (is_in_time && manager->live > 0) {
    is_in_time = tfrt_condition_wait_until(&manager->drained, &manager->lock->mutex, deadline_ns);
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
}

tfrt_bulk_counts_t tfrt_bulk_manager_counts(const tfrt_bulk_manager_t* manager) {
  tfrt_bulk_counts_t counts = manager->counts;
  counts.sessions = tfrt_hash_table_count(&manager->peers);
  counts.live = manager->live;
  return counts;
}

void tfrt_bulk_manager_close(tfrt_bulk_manager_t* manager) {
  if (manager->is_closed) return;
  manager->is_closed = true;
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_CANCELLED, "this host shuts down");
  for (tfrt_hash_node_t* node; (node = tfrt_hash_table_first(&manager->peers));) {
    tfrt_bulk_peer_t* peer = TFRT_CONTAINER_OF(node, tfrt_bulk_peer_t, by_incarnation);
    tfrt_bulk_manager_bury(manager, peer->session.incarnation, status);
  }
  tfrt_status_release(status);
  for (tfrt_list_link_t* l = manager->channels.next; l != &manager->channels; l = l->next) {
    tfrt_bulk_channel_t* channel = TFRT_CONTAINER_OF(l, tfrt_bulk_channel_t, link);
    if (channel->state != TFRT_BULK_CHANNEL_ENDING) tfrt_bulk_channel_break(channel);
  }
}

// --- Tables of transfers ------------------------------------------------------------------

static bool is_outgoing(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_bulk_outgoing_t, by_want)->want == *(const uint64_t*)key;
}

static bool is_incoming(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_bulk_incoming_t, by_want)->name.want == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t outgoing_vtable = {tfrt_bulk_hash_number, is_outgoing};
static const tfrt_hash_table_vtable_t incoming_vtable = {tfrt_bulk_hash_number, is_incoming};

// --- Sessions ----------------------------------------------------------------

tfrt_status_t tfrt_bulk_manager_open(tfrt_bulk_manager_t* manager,
                                     const tfrt_bulk_session_t* session) {
  if (manager->is_closed) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "no bulk channels any more: closed");
  }
  if (session->incarnation == 0 || session->session == 0 || session->version == 0 ||
      session->chunk_bytes == 0 || session->address.size >= TFRT_TRANSPORT_ADDRESS_SIZE) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "a session for bulk channels has an incarnation, a number, a version and "
        "a size of chunks");
  }
  if (tfrt_bulk_peer_find(manager, session->incarnation)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "a session with this peer has bulk channels");
  }
  tfrt_allocator_t allocator = manager->allocator;
  tfrt_bulk_peer_t* peer = tfrt_allocator_allocate_zeroed(allocator, sizeof(*peer));
  const char* address =
      tfrt_allocator_copy_string(allocator, session->address.data, session->address.size);
  if (!peer || !address) {
    tfrt_allocator_free(allocator, peer, sizeof(*peer));
    tfrt_allocator_free(allocator, (char*)address, session->address.size + 1);
    return tfrt_status_out_of_memory();
  }
  peer->manager = manager;
  peer->session = *session;
  peer->session.address.data = address;
  if (peer->session.chunk_bytes > TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE) {
    peer->session.chunk_bytes = TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE;
  }
  peer->give_up_at_ns = TFRT_TIME_INFINITE;
  peer->held_since_ns = TFRT_TIME_INFINITE;
  peer->chunks.bytes = UINT64_MAX;
  tfrt_hash_table_initialize(&peer->outgoing, &outgoing_vtable, allocator);
  tfrt_hash_table_initialize(&peer->incoming, &incoming_vtable, allocator);
  tfrt_list_initialize(&peer->small);
  tfrt_list_initialize(&peer->large);
  tfrt_list_initialize(&peer->interrupted);
  tfrt_list_initialize(&peer->failed);
  tfrt_list_initialize(&peer->offers);
  tfrt_list_initialize(&peer->under_way);
  tfrt_list_initialize(&peer->windows);
  tfrt_list_initialize(&peer->aborts);
  tfrt_hash_table_insert(&manager->peers, &peer->session.incarnation, &peer->by_incarnation);
  ++manager->live;
  return NULL;
}

static void free_peer(tfrt_bulk_peer_t* peer) {
  tfrt_bulk_manager_t* manager = peer->manager;
  tfrt_hash_table_deinitialize(&peer->outgoing);
  tfrt_hash_table_deinitialize(&peer->incoming);
  tfrt_allocator_free(manager->allocator, (char*)peer->session.address.data,
                      peer->session.address.size + 1);
  tfrt_allocator_free(manager->allocator, peer, sizeof(*peer));
  tfrt_bulk_manager_forget_one(manager);
}

// Takes |peer|'s channel out of use.
static void drop_channel(tfrt_bulk_peer_t* peer) {
  tfrt_bulk_channel_t* channel = peer->channel;
  peer->channel = NULL;
  if (channel) tfrt_bulk_channel_break(channel);
}

static void drop_aborts(tfrt_bulk_peer_t* peer) {
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&peer->aborts));) {
    tfrt_bulk_abort_t* abort = TFRT_CONTAINER_OF(l, tfrt_bulk_abort_t, link);
    tfrt_status_release(abort->status);
    tfrt_allocator_free(peer->manager->allocator, abort, sizeof(*abort));
    --peer->abort_count;
  }
}

void tfrt_bulk_manager_bury(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                            tfrt_status_t reason) {
  tfrt_bulk_peer_t* peer = tfrt_bulk_peer_find(manager, incarnation);
  if (!peer) return;
  tfrt_hash_table_remove(&manager->peers, &peer->by_incarnation);
  drop_channel(peer);
  tfrt_bulk_outgoing_direction.end_all(peer, reason);
  tfrt_bulk_incoming_direction.end_all(peer, reason);
  drop_aborts(peer);
  peer->is_buried = true;
  if (!peer->has_timer || tfrt_timer_cancel(manager->timers, &peer->timer)) free_peer(peer);
}

static const tfrt_bulk_direction_t* direction_of(tfrt_bulk_way_t way) {
  return way == TFRT_BULK_OUT ? &tfrt_bulk_outgoing_direction : &tfrt_bulk_incoming_direction;
}

tfrt_status_t tfrt_bulk_manager_resume(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                                       tfrt_bulk_way_t way,
                                       const tfrt_bulk_resumption_t* resumption) {
  tfrt_bulk_peer_t* peer = tfrt_bulk_peer_find(manager, incarnation);
  if (!peer) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no session to resume a transfer in");
  TFRT_RETURN_IF_ERROR(direction_of(way)->resume(peer, resumption));
  tfrt_bulk_peer_need(peer);
  return NULL;
}

void tfrt_bulk_manager_end(tfrt_bulk_manager_t* manager, uint64_t incarnation, tfrt_bulk_way_t way,
                           uint64_t want, tfrt_status_t status) {
  tfrt_bulk_peer_t* peer = tfrt_bulk_peer_find(manager, incarnation);
  if (peer) direction_of(way)->end(peer, want, status);
}

void tfrt_bulk_peer_abort_transfer(tfrt_bulk_peer_t* peer, uint64_t want, bool from_owner,
                                   tfrt_status_t status) {
  if (peer->abort_count == TFRT_TUNING_BULK_ABORTS) return;
  tfrt_bulk_abort_t* abort =
      tfrt_allocator_allocate_zeroed(peer->manager->allocator, sizeof(*abort));
  if (!abort) return;
  abort->want = want;
  abort->from_owner = from_owner;
  abort->status = tfrt_status_retain(status);
  tfrt_list_push_back(&peer->aborts, &abort->link);
  ++peer->abort_count;
}

// --- Who dials, and when -----------------------------------------------------

static void run_timer(tfrt_timer_t* timer);

// Has the timer run at |due_ns| at the latest.
static void set_timer(tfrt_bulk_peer_t* peer, int64_t due_ns) {
  if (peer->is_buried || due_ns == TFRT_TIME_INFINITE) return;
  if (peer->has_timer) {
    // One that can't be cancelled is about to run, and looks itself what is due.
    bool is_free =
        peer->timer_ns > due_ns && tfrt_timer_cancel(peer->manager->timers, &peer->timer);
    if (!is_free) return;
  }
  peer->has_timer = true;
  peer->timer_ns = due_ns;
  tfrt_timer_start(peer->manager->timers, &peer->timer, due_ns, run_timer);
}

void tfrt_bulk_peer_watch(tfrt_bulk_peer_t* peer) { set_timer(peer, tfrt_bulk_stall_due_ns(peer)); }

// Whether the lack of a channel is a failure. A side that can't dial may need a channel for
// payloads that never come.
static bool is_missed(const tfrt_bulk_peer_t* peer) {
  return peer->session.address.size > 0 || tfrt_hash_table_count(&peer->outgoing) > 0 ||
         tfrt_hash_table_count(&peer->incoming) > 0;
}

// Dials, if a channel is needed, can be had from here and is due; sets the timer for what is next.
static void update(tfrt_bulk_peer_t* peer) {
  tfrt_bulk_manager_t* manager = peer->manager;
  if (peer->is_buried || !peer->is_needed) return;
  bool is_open = peer->channel && peer->channel->state == TFRT_BULK_CHANNEL_OPEN;
  if (is_open || !is_missed(peer)) {
    peer->give_up_at_ns = TFRT_TIME_INFINITE;
    tfrt_bulk_peer_watch(peer);
    return;
  }
  int64_t now_ns = tfrt_bulk_manager_now_ns(manager);
  if (peer->give_up_at_ns == TFRT_TIME_INFINITE) {
    peer->give_up_at_ns = tfrt_deadline_after(now_ns, manager->options.give_up_ns);
  }
  bool can_dial = !peer->channel && peer->session.address.size > 0;
  if (can_dial && now_ns >= peer->next_dial_ns) {
    peer->next_dial_ns = tfrt_deadline_after(now_ns, manager->options.redial_delay_ns);
    peer->channel = tfrt_bulk_channel_create(manager, peer, NULL);
    if (peer->channel) peer->channel->number = ++peer->last_dialled;
    can_dial = !peer->channel;
  }
  int64_t due_ns = peer->give_up_at_ns;
  if (can_dial && peer->next_dial_ns < due_ns) due_ns = peer->next_dial_ns;
  set_timer(peer, due_ns);
}

static void run_timer(tfrt_timer_t* timer) {
  tfrt_bulk_peer_t* peer = TFRT_CONTAINER_OF(timer, tfrt_bulk_peer_t, timer);
  tfrt_bulk_manager_t* manager = peer->manager;
  tfrt_bulk_handler_t* handler = manager->handler;
  tfrt_node_lock_t* lock = manager->lock;
  tfrt_bulk_transfer_t name = {0};
  tfrt_node_lock_lock(lock);
  peer->has_timer = false;
  if (peer->is_buried) {
    free_peer(peer);
  } else if (tfrt_bulk_manager_now_ns(manager) >= peer->give_up_at_ns && is_missed(peer)) {
    name.incarnation = peer->session.incarnation;
    name.session = peer->session.session;
    // The handler hears once of each time that a channel is needed and missing.
    peer->give_up_at_ns = TFRT_TIME_INFINITE;
    peer->is_needed = false;
  } else {
    tfrt_bulk_stall_break_late(peer);
    update(peer);
  }
  tfrt_node_lock_unlock_and_run(lock);
  if (name.incarnation == 0) return;
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_UNAVAILABLE, "no connection for payloads could be had in %lld ms",
      (long long)(manager->options.give_up_ns / TFRT_NANOSECONDS_PER_MILLISECOND));
  handler->vtable->lost(handler, &name, status);
  tfrt_status_release(status);
}

void tfrt_bulk_peer_need(tfrt_bulk_peer_t* peer) {
  peer->is_needed = true;
  tfrt_bulk_channel_pump(peer->channel);
  update(peer);
}

void tfrt_bulk_manager_need(tfrt_bulk_manager_t* manager, uint64_t incarnation, uint64_t want) {
  tfrt_bulk_peer_t* peer = tfrt_bulk_peer_find(manager, incarnation);
  if (!peer) return;
  tfrt_bulk_channel_t* channel = peer->channel;
  const int64_t now_ns = tfrt_bulk_manager_now_ns(manager);
  if (want != 0 && channel && channel->state == TFRT_BULK_CHANNEL_OPEN &&
      now_ns - channel->used_ns >= TFRT_TUNING_BULK_DOUBT_NS) {
    channel->expected_want = want;
  }
  tfrt_bulk_peer_need(peer);
}

void tfrt_bulk_manager_set_address(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                                   tfrt_string_view_t address, tfrt_bulk_way_t way) {
  tfrt_bulk_peer_t* peer = tfrt_bulk_peer_find(manager, incarnation);
  if (!peer || peer->session.address.size > 0 || address.size == 0 ||
      address.size >= TFRT_TRANSPORT_ADDRESS_SIZE) {
    return;
  }
  const char* copy = tfrt_allocator_copy_string(manager->allocator, address.data, address.size);
  if (!copy) return;
  tfrt_allocator_free(manager->allocator, (char*)peer->session.address.data, 1);
  peer->session.address = tfrt_string_view_make(copy, address.size);
  if (way == TFRT_BULK_OUT) {
    const int64_t next_dial_ns =
        tfrt_deadline_after(tfrt_bulk_manager_now_ns(manager), manager->options.dial_timeout_ns);
    if (next_dial_ns > peer->next_dial_ns) peer->next_dial_ns = next_dial_ns;
  }
  update(peer);
}

void tfrt_bulk_peer_detach(tfrt_bulk_peer_t* peer, bool was_open) {
  peer->channel = NULL;
  tfrt_bulk_outgoing_direction.interrupt_all(peer);
  tfrt_bulk_incoming_direction.interrupt_all(peer);
  // At once after a loss, if the last dial is long enough ago.
  if (!was_open) {
    peer->next_dial_ns = tfrt_deadline_after(tfrt_bulk_manager_now_ns(peer->manager),
                                             peer->manager->options.redial_delay_ns);
  }
  update(peer);
}

// --- Accepted connections ------------------------------------------------------------

// A Hello comes with the dial, so the connection that has been silent for longest is the least
// likely to say one. If the newcomer were refused instead, one process could keep all others out.
static void break_longest_silent(tfrt_bulk_manager_t* manager) {
  for (tfrt_list_link_t* l = manager->channels.next; l != &manager->channels; l = l->next) {
    tfrt_bulk_channel_t* channel = TFRT_CONTAINER_OF(l, tfrt_bulk_channel_t, link);
    if (channel->state != TFRT_BULK_CHANNEL_GREETING) continue;
    tfrt_bulk_channel_break(channel);
    return;
  }
}

static tfrt_status_t accept_stream(tfrt_transport_acceptor_t* acceptor,
                                   const tfrt_transport_incoming_t* incoming,
                                   tfrt_transport_handler_t** out_handler) {
  tfrt_bulk_manager_t* manager = TFRT_CONTAINER_OF(acceptor, tfrt_bulk_manager_t, acceptor);
  tfrt_bulk_channel_t* channel = NULL;
  *out_handler = NULL;
  tfrt_node_lock_lock(manager->lock);
  bool is_closed = manager->is_closed;
  if (!is_closed) channel = tfrt_bulk_channel_create(manager, NULL, incoming->connection);
  if (channel && ++manager->greeting_count > manager->options.max_greeting) {
    break_longest_silent(manager);
  }
  tfrt_node_lock_unlock_and_run(manager->lock);
  if (is_closed) return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "this host shuts down");
  if (!channel) return tfrt_status_out_of_memory();
  *out_handler = &channel->handler;
  tfrt_transport_connection_receive(incoming->connection);
  return NULL;
}
