// SPDX-License-Identifier: Apache-2.0
#include "distributed/session/session.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "distributed/session/session_internal.h"

// --- Options -----------------------------------------------------------------

void tfrt_session_options_initialize(tfrt_session_options_t* out_options) {
  *out_options = (tfrt_session_options_t){
      .rank_hint = TFRT_WIRE_NO_RANK,
      .version_min = TFRT_WIRE_VERSION_MIN,
      .version_max = TFRT_WIRE_VERSION_MAX,
      .limits = tfrt_wire_limits_in_force(NULL, NULL),
      .suspect_ns = TFRT_WIRE_DEFAULT_SUSPECT_MS * TFRT_NANOSECONDS_PER_MILLISECOND,
      .dial_timeout_ns = 2 * TFRT_NANOSECONDS_PER_SECOND,
      .redial_delay_ns = 200 * TFRT_NANOSECONDS_PER_MILLISECOND,
      .company_delay_ns = TFRT_WIRE_COMPANY_MS * TFRT_NANOSECONDS_PER_MILLISECOND,
      .ack_delay_ns = TFRT_WIRE_ACK_MS * TFRT_NANOSECONDS_PER_MILLISECOND,
      .ack_frames = TFRT_WIRE_ACK_FRAMES,
      .ack_bytes = TFRT_WIRE_ACK_BYTES,
      .linger_ns = TFRT_NANOSECONDS_PER_SECOND,
      .first_call_limit = 4096,
      .first_want_limit = 4096,
      .max_sessions = 4096,
      .max_peers = 65536,
  };
}

static tfrt_status_t check_name(tfrt_string_view_t name) {
  if (name.size <= TFRT_WIRE_MAX_NAME_SIZE) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a name has at most %u bytes, not %zu",
                            TFRT_WIRE_MAX_NAME_SIZE, name.size);
}

// The silence in force between two processes is never that short, but a configuration that asks for
// it is a mistake.
static tfrt_status_t check_silence(const tfrt_wire_limits_t* limits) {
  const uint32_t silence_ms =
      limits->silence_ms ? limits->silence_ms : TFRT_WIRE_DEFAULT_SILENCE_MS;
  const uint32_t period_ms = limits->heartbeat_period_ms ? limits->heartbeat_period_ms
                                                         : TFRT_WIRE_DEFAULT_HEARTBEAT_PERIOD_MS;
  if (silence_ms / TFRT_WIRE_MIN_SILENCE_PERIODS >= period_ms) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a silence of %" PRIu32 " ms is less than two heartbeats of %" PRIu32
                            " ms: every peer would seem dead",
                            silence_ms, period_ms);
}

static tfrt_status_t check_options(const tfrt_session_options_t* options) {
  if (options->incarnation == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a process needs an incarnation");
  }
  if (options->version_min == 0 || options->version_min > options->version_max) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "versions %" PRIu32 " to %" PRIu32 " are no range",
                              options->version_min, options->version_max);
  }
  TFRT_RETURN_IF_ERROR(check_silence(&options->limits));
  TFRT_RETURN_IF_ERROR(check_name(options->name));
  bool has_times = options->suspect_ns > 0 && options->dial_timeout_ns > 0 &&
                   options->redial_delay_ns > 0 && options->company_delay_ns > 0 &&
                   options->ack_delay_ns > 0 && options->linger_ns > 0 && options->ack_frames > 0 &&
                   options->ack_bytes > 0;
  if (!has_times || options->max_sessions == 0 || options->max_peers < options->max_sessions) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "times and counts of sessions must be positive, and there must be "
                              "room for a peer for each session");
  }
  return NULL;
}

// --- Life --------------------------------------------------------------------

static uint64_t hash_incarnation(const void* key) { return tfrt_hash_u64(*(const uint64_t*)key); }

static bool has_incarnation(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_session_peer_t* peer =
      TFRT_CONTAINER_OF((tfrt_hash_node_t*)(uintptr_t)node, tfrt_session_peer_t, node);
  return peer->incarnation == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t peer_vtable = {.hash = hash_incarnation,
                                                     .equal = has_incarnation};

static const tfrt_transport_acceptor_vtable_t acceptor_vtable;

// |name| is not too long.
static void set_name(tfrt_session_manager_t* manager, tfrt_string_view_t name) {
  if (name.size > 0) memmove(manager->name, name.data, name.size);
  manager->options.name = tfrt_string_view_make(manager->name, name.size);
}

static bool copy_options(tfrt_session_manager_t* manager, const tfrt_session_options_t* options) {
  manager->options = *options;
  manager->options.limits = tfrt_wire_limits_in_force(&options->limits, &options->limits);
  set_name(manager, options->name);
  size_t key_size = options->cluster_key.size;
  char* key = tfrt_allocator_allocate(manager->allocator, key_size);
  if (!key) return false;
  if (key_size > 0) memcpy(key, options->cluster_key.data, key_size);
  manager->options.cluster_key = tfrt_string_view_make(key, key_size);
  return true;
}

tfrt_status_t tfrt_session_manager_create(const tfrt_session_options_t* options,
                                          tfrt_transport_t* transport, tfrt_node_lock_t* lock,
                                          tfrt_timer_queue_t* timers,
                                          tfrt_session_handler_t* handler,
                                          tfrt_allocator_t allocator,
                                          tfrt_session_manager_t** out_manager) {
  *out_manager = NULL;
  TFRT_RETURN_IF_ERROR(check_options(options));
  tfrt_session_manager_t* manager = tfrt_allocator_allocate_zeroed(allocator, sizeof(*manager));
  if (manager) manager->allocator = allocator;
  if (!manager || !copy_options(manager, options)) {
    tfrt_allocator_free(allocator, manager, sizeof(*manager));
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a session manager");
  }
  manager->transport = transport;
  manager->lock = lock;
  manager->timers = timers;
  manager->handler = handler;
  manager->acceptor.vtable = &acceptor_vtable;
  tfrt_hash_table_initialize(&manager->peers, &peer_vtable, allocator);
  tfrt_list_initialize(&manager->peer_list);
  manager->call_floor = 1;
  tfrt_list_initialize(&manager->sessions);
  tfrt_list_initialize(&manager->links);
  tfrt_condition_initialize(&manager->drained);
  tfrt_string_builder_initialize(&manager->body, allocator);
  *out_manager = manager;
  return NULL;
}

static void free_peer(tfrt_session_manager_t* manager, tfrt_session_peer_t* peer) {
  tfrt_hash_table_remove(&manager->peers, &peer->node);
  tfrt_list_remove(&peer->link);
  tfrt_allocator_free(manager->allocator, peer, sizeof(*peer));
}

void tfrt_session_manager_free(tfrt_session_manager_t* manager) {
  if (!manager) return;
  assert(manager->link_count == 0 && manager->busy_count == 0);
  assert(tfrt_list_is_empty(&manager->sessions));
  while (!tfrt_list_is_empty(&manager->peer_list)) {
    free_peer(manager, TFRT_CONTAINER_OF(manager->peer_list.next, tfrt_session_peer_t, link));
  }
  tfrt_hash_table_deinitialize(&manager->peers);
  tfrt_condition_deinitialize(&manager->drained);
  tfrt_string_builder_deinitialize(&manager->body);
  tfrt_allocator_free(manager->allocator, (void*)(uintptr_t)manager->options.cluster_key.data,
                      manager->options.cluster_key.size);
  tfrt_allocator_free(manager->allocator, manager, sizeof(*manager));
}

// --- Peers -------------------------------------------------------------------

tfrt_session_peer_t* tfrt_session_peer_find(tfrt_session_manager_t* manager, uint64_t incarnation) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&manager->peers, &incarnation);
  return node ? TFRT_CONTAINER_OF(node, tfrt_session_peer_t, node) : NULL;
}

// Forgets the peer whose session died first. Its call numbers must never return, so they become the
// floor for all new peers.
static void forget_oldest(tfrt_session_manager_t* manager) {
  for (tfrt_list_link_t* l = manager->peer_list.next; l != &manager->peer_list; l = l->next) {
    tfrt_session_peer_t* peer = TFRT_CONTAINER_OF(l, tfrt_session_peer_t, link);
    if (peer->session) continue;
    if (manager->call_floor < peer->next_call) manager->call_floor = peer->next_call;
    free_peer(manager, peer);
    return;
  }
}

tfrt_session_peer_t* tfrt_session_peer_make(tfrt_session_manager_t* manager, uint64_t incarnation) {
  tfrt_session_peer_t* peer = tfrt_session_peer_find(manager, incarnation);
  if (peer) return peer;
  if (tfrt_hash_table_count(&manager->peers) >= manager->options.max_peers) {
    forget_oldest(manager);
  }
  peer = tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*peer));
  if (!peer) return NULL;
  peer->incarnation = incarnation;
  peer->next_call = manager->call_floor;
  tfrt_hash_table_insert(&manager->peers, &incarnation, &peer->node);
  tfrt_list_push_back(&manager->peer_list, &peer->link);
  return peer;
}

// --- Those who dial in -------------------------------------------------------

static bool has_key(const tfrt_session_manager_t* manager,
                    const tfrt_transport_incoming_t* incoming) {
  if (manager->options.cluster_key.size == 0) return true;
  tfrt_string_view_t key;
  return tfrt_transport_metadata_find(incoming->metadata, incoming->metadata_count,
                                      tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY), &key) &&
         tfrt_transport_secrets_are_equal(key, manager->options.cluster_key);
}

void tfrt_session_manager_tell_refusal(tfrt_session_manager_t* manager, tfrt_status_t status) {
  int64_t now_ns = tfrt_session_now_ns(manager);
  bool was_told = manager->refusal_told_ns != 0;
  if (was_told && now_ns - manager->refusal_told_ns < TFRT_NANOSECONDS_PER_SECOND) {
    ++manager->untold_refusals;
    return;
  }
  uint64_t untold = manager->untold_refusals;
  manager->refusal_told_ns = now_ns;
  manager->untold_refusals = 0;
  manager->handler->vtable->on_refused(manager->handler, status, untold);
}

static tfrt_status_t check_key(const tfrt_session_manager_t* manager,
                               const tfrt_transport_incoming_t* incoming) {
  if (has_key(manager, incoming)) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_UNAUTHENTICATED,
      "wrong cluster key, or none; use the cluster key that it was started with");
}

// A Hello comes with the dial, so the connection that has been silent for longest is the least
// likely to say one. If the newcomer were refused instead, one process could keep all others out.
static bool break_longest_silent(tfrt_session_manager_t* manager) {
  for (tfrt_list_link_t* l = manager->links.next; l != &manager->links; l = l->next) {
    tfrt_session_link_t* link = TFRT_CONTAINER_OF(l, tfrt_session_link_t, link_in_manager);
    if (link->state != TFRT_SESSION_LINK_ACCEPTED) continue;
    tfrt_session_link_drop(link, false);
    return true;
  }
  return false;
}

// With the lock held.
static tfrt_status_t accept_control(tfrt_session_manager_t* manager,
                                    const tfrt_transport_incoming_t* incoming,
                                    tfrt_transport_handler_t** out_handler) {
  if (manager->is_closed) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "this host is shutting down");
  }
  // Each session may have two connections for a moment; the rest has not said Hello yet.
  bool is_full = manager->link_count >= 2 * manager->options.max_sessions;
  if (is_full && !break_longest_silent(manager)) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "too many connections");
  }
  tfrt_session_link_t* link = tfrt_session_link_make(manager, TFRT_SESSION_LINK_ACCEPTED);
  if (!link) return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  tfrt_session_link_take_connection(link, tfrt_transport_connection_retain(incoming->connection));
  *out_handler = &link->handler;
  return NULL;
}

static tfrt_status_t accept(tfrt_transport_acceptor_t* acceptor,
                            const tfrt_transport_incoming_t* incoming,
                            tfrt_transport_handler_t** out_handler) {
  tfrt_session_manager_t* manager = TFRT_CONTAINER_OF(acceptor, tfrt_session_manager_t, acceptor);
  tfrt_status_t status = check_key(manager, incoming);
  if (!status && incoming->kind == TFRT_TRANSPORT_BULK) {
    tfrt_transport_acceptor_t* bulk = manager->options.bulk_acceptor;
    if (!bulk)
      return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "this host has no bulk channels");
    return bulk->vtable->accept(bulk, incoming, out_handler);
  }
  tfrt_node_lock_lock(manager->lock);
  if (!status) status = accept_control(manager, incoming, out_handler);
  if (status) tfrt_session_manager_tell_refusal(manager, status);
  tfrt_node_lock_unlock_and_run(manager->lock);
  return status;
}

static const tfrt_transport_acceptor_vtable_t acceptor_vtable = {.accept = accept};

tfrt_status_t tfrt_session_manager_listen(tfrt_session_manager_t* manager,
                                          tfrt_string_view_t address,
                                          char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  return tfrt_transport_listen(manager->transport, address, &manager->acceptor, out_address);
}

tfrt_status_t tfrt_session_manager_set_name(tfrt_session_manager_t* manager,
                                            tfrt_string_view_t name) {
  TFRT_RETURN_IF_ERROR(check_name(name));
  set_name(manager, name);
  return NULL;
}

tfrt_string_view_t tfrt_session_manager_name(const tfrt_session_manager_t* manager) {
  return manager->options.name;
}

// --- Sessions ----------------------------------------------------------------

tfrt_session_t* tfrt_session_manager_find(tfrt_session_manager_t* manager, uint64_t incarnation) {
  tfrt_session_peer_t* peer = tfrt_session_peer_find(manager, incarnation);
  return peer ? peer->session : NULL;
}

static tfrt_session_t* session_at(tfrt_session_manager_t* manager, tfrt_list_link_t* link) {
  if (link == &manager->sessions) return NULL;
  return TFRT_CONTAINER_OF(link, tfrt_session_t, link_in_manager);
}

tfrt_session_t* tfrt_session_manager_first(tfrt_session_manager_t* manager) {
  return session_at(manager, manager->sessions.next);
}

tfrt_session_t* tfrt_session_manager_next(tfrt_session_manager_t* manager,
                                          tfrt_session_t* session) {
  return session_at(manager, session->link_in_manager.next);
}

void tfrt_session_manager_counters(const tfrt_session_manager_t* manager,
                                   tfrt_session_counters_t* out_counters) {
  *out_counters = manager->counters;
  out_counters->live = manager->link_count + manager->busy_count;
}

// --- The end -----------------------------------------------------------------

static void drop_unidentified(tfrt_session_manager_t* manager) {
  for (tfrt_list_link_t *l = manager->links.next, *next; l != &manager->links; l = next) {
    next = l->next;
    tfrt_session_link_t* link = TFRT_CONTAINER_OF(l, tfrt_session_link_t, link_in_manager);
    if (link->state == TFRT_SESSION_LINK_ACCEPTED) tfrt_session_link_drop(link, false);
  }
}

void tfrt_session_manager_close(tfrt_session_manager_t* manager, bool is_draining) {
  if (manager->is_closed || (is_draining && manager->is_draining)) return;
  manager->is_draining = true;
  if (is_draining) {
    for (tfrt_session_t* session = tfrt_session_manager_first(manager); session;
         session = tfrt_session_manager_next(manager, session)) {
      tfrt_session_close(session, TFRT_WIRE_GOODBYE_DRAIN, tfrt_string_view_of("draining"));
    }
    return;
  }
  manager->is_closed = true;
  drop_unidentified(manager);
  for (tfrt_session_t* session; (session = tfrt_session_manager_first(manager));) {
    tfrt_session_close(session, TFRT_WIRE_GOODBYE_SHUTDOWN, tfrt_string_view_of("shutting down"));
  }
}

// Returns true if nothing of the manager is left.
static bool is_drained(const tfrt_session_manager_t* manager) {
  return manager->link_count == 0 && manager->busy_count == 0;
}

void tfrt_session_manager_note_less(tfrt_session_manager_t* manager) {
  if (is_drained(manager)) tfrt_condition_broadcast(&manager->drained);
}

static void drop_all(tfrt_session_manager_t* manager) {
  for (tfrt_list_link_t *l = manager->links.next, *next; l != &manager->links; l = next) {
    next = l->next;
    tfrt_session_link_break(TFRT_CONTAINER_OF(l, tfrt_session_link_t, link_in_manager));
  }
}

void tfrt_session_manager_drain(tfrt_session_manager_t* manager) {
  tfrt_node_lock_lock(manager->lock);
  int64_t deadline_ns = tfrt_deadline_after(
      tfrt_session_now_ns(manager), manager->options.linger_ns + TFRT_NANOSECONDS_PER_SECOND);
  bool is_in_time = true;
  while (is_in_time && !is_drained(manager)) {
    is_in_time = tfrt_condition_wait_until(&manager->drained, &manager->lock->mutex, deadline_ns);
  }
  if (!is_in_time) drop_all(manager);
  tfrt_node_lock_unlock_and_run(manager->lock);
}
