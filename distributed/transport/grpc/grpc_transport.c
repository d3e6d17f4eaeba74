// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/grpc_transport.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "distributed/transport/grpc/dial.h"
#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/transport/grpc/grpc_library.h"
#include "distributed/transport/grpc/listener.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"

// --- The port ---------------------------------------------------------------------

// A port that stays open: a listener (listener.h), and another one in its place when gRPC gives the
// port up, as it does once it gets no descriptor for a connection.
//
//   LISTENING --no descriptor--> FULL --room--> LISTENING, with a new listener; the old one keeps
//       |                          |            the calls that it has, and ends with the last
//       +---------close------------+--> CLOSED
//
// Anybody who can connect can use up the descriptors of this process, without a key or a
// certificate. So some are kept in reserve, for the process's own files and dials while it is FULL,
// and for the new listener. Silent connections end after the handshake's limit, which makes room. A
// dialler that connects meanwhile waits in the system's queue, is reset when the port changes
// hands, and comes again.

typedef enum port_state_e { PORT_LISTENING = 0, PORT_FULL, PORT_CLOSED } port_state_t;

typedef struct port_s {
  tfrt_grpc_listener_options_t options;       // its address is |address|
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];  // with the port that was given
  tfrt_allocator_t allocator;
  tfrt_grpc_accept_watch_t watch;
  tfrt_thread_t thread;
  int reserve[TFRT_GRPC_RESERVED_DESCRIPTORS];  // -1: not held; belongs to the thread
  int64_t silent_until_ns;                      // the same
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  port_state_t state;          // guarded by |mutex|, as what follows
  tfrt_list_link_t listeners;  // the current one last; changed by the thread alone
  bool is_serving;
} port_t;

// A new listener and a few connections take these: more than the reserve, or the port is full again
// at once.
#define ROOM_DESCRIPTORS (TFRT_GRPC_RESERVED_DESCRIPTORS + 8)

// --- The port: descriptors ----------------------------------------------------

static void port_open_reserve(port_t* port) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(port->reserve); ++i) {
    if (port->reserve[i] < 0) port->reserve[i] = eventfd(0, EFD_CLOEXEC);
  }
}

static void port_close_reserve(port_t* port) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(port->reserve); ++i) {
    if (port->reserve[i] >= 0) close(port->reserve[i]);
    port->reserve[i] = -1;
  }
}

// Asks the system for room: takes the needed descriptors for a moment, without the reserve.
static bool has_descriptors(void) {
  int files[ROOM_DESCRIPTORS];
  size_t count = 0;
  while (count < ROOM_DESCRIPTORS && (files[count] = eventfd(0, EFD_CLOEXEC)) >= 0) ++count;
  for (size_t i = 0; i < count; ++i) close(files[i]);
  return count == ROOM_DESCRIPTORS;
}

// --- The port: changing hands -------------------------------------------------

// All in this section runs on the port's thread, which alone changes the list of listeners: so it
// reads that without the lock, and calls gRPC without it, which may call port_on_no_descriptor().

static tfrt_grpc_listener_t* listener_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_grpc_listener_t, link);
}

static tfrt_grpc_listener_t* port_current(port_t* port) {
  return listener_of(port->listeners.previous);
}

// Frees listeners whose calls are over.
static void port_free_drained(port_t* port) {
  tfrt_list_link_t* next;
  for (tfrt_list_link_t* link = port->listeners.next; link != port->listeners.previous;
       link = next) {
    next = link->next;
    tfrt_grpc_listener_t* listener = listener_of(link);
    if (!tfrt_grpc_listener_drain(listener, 0)) continue;
    tfrt_mutex_lock(&port->mutex);
    tfrt_list_remove(link);
    tfrt_mutex_unlock(&port->mutex);
    tfrt_grpc_listener_free(listener);
  }
}

// Waits for |duration_ns|; false if the port is closed.
static bool port_wait(port_t* port, int64_t duration_ns) {
  const int64_t deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()), duration_ns);
  bool is_in_time = true;
  tfrt_mutex_lock(&port->mutex);
  while (is_in_time && port->state != PORT_CLOSED) {
    is_in_time = tfrt_condition_wait_until(&port->changed, &port->mutex, deadline_ns);
  }
  const bool is_open = port->state != PORT_CLOSED;
  tfrt_mutex_unlock(&port->mutex);
  return is_open;
}

// Puts a new listener behind the port_current one, which has given up the port; false if that does
// not work yet.
static bool port_listen_anew(port_t* port) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_grpc_listener_t* listener;
  tfrt_status_t status =
      tfrt_grpc_listener_allocate(&port->options, port->allocator, address, &listener);
  const bool is_open = !status;
  tfrt_status_release(status);
  if (!is_open) return false;
  tfrt_mutex_lock(&port->mutex);
  tfrt_list_push_back(&port->listeners, &listener->link);
  tfrt_grpc_listener_set_serving(listener, port->is_serving);
  tfrt_mutex_unlock(&port->mutex);
  return true;
}

// At most one line in a while, however often the port is full.
static void port_tell(port_t* port) {
  const int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  if (now_ns < port->silent_until_ns) return;
  port->silent_until_ns = now_ns + TFRT_TUNING_PORT_TELL_NS;
  tfrt_grpc_library_log_no_descriptor(port->address);
}

static void port_set_listening(port_t* port) {
  tfrt_mutex_lock(&port->mutex);
  if (port->state == PORT_FULL) port->state = PORT_LISTENING;
  tfrt_mutex_unlock(&port->mutex);
}

// Waits for room and opens the port again.
static void port_reopen(port_t* port) {
  port_tell(port);
  port_close_reserve(port);
  while (!has_descriptors()) {
    if (!port_wait(port, TFRT_TUNING_PORT_LOOK_NS)) return;
  }
  // From here on the port may be full again.
  port_set_listening(port);
  tfrt_grpc_listener_stop(port_current(port), TFRT_GRPC_LISTENER_RETIRED);
  // The old one closes the port on a thread of gRPC's, a moment later.
  while (!port_listen_anew(port)) {
    if (!port_wait(port, TFRT_TUNING_PORT_LOOK_NS / 10)) return;
  }
  port_open_reserve(port);
  port_free_drained(port);
}

// Waits until the port is full; false if it is closed.
static bool port_await_full(port_t* port) {
  tfrt_mutex_lock(&port->mutex);
  while (port->state == PORT_LISTENING) {
    tfrt_condition_wait(&port->changed, &port->mutex);
  }
  const bool is_full = port->state == PORT_FULL;
  tfrt_mutex_unlock(&port->mutex);
  return is_full;
}

static void port_run(void* argument) {
  port_t* port = argument;
  while (port_await_full(port)) port_reopen(port);
}

// On a thread of gRPC's. It may be about another port of this process: then a good listener is
// replaced, which costs nothing but a moment.
static void port_on_no_descriptor(tfrt_grpc_accept_watch_t* watch) {
  port_t* port = TFRT_CONTAINER_OF(watch, port_t, watch);
  tfrt_mutex_lock(&port->mutex);
  if (port->state == PORT_LISTENING) port->state = PORT_FULL;
  tfrt_condition_broadcast(&port->changed);
  tfrt_mutex_unlock(&port->mutex);
}

// --- The port: life -----------------------------------------------------------

static tfrt_status_t port_open_first(port_t* port, char* out_address) {
  tfrt_grpc_listener_t* listener;
  TFRT_RETURN_IF_ERROR(
      tfrt_grpc_listener_allocate(&port->options, port->allocator, out_address, &listener));
  tfrt_list_push_back(&port->listeners, &listener->link);
  snprintf(port->address, sizeof(port->address), "%s", out_address);
  port->options.address = tfrt_string_view_of(port->address);
  return NULL;
}

// Closes and frees the first listener, of a port that does not come about.
static void port_give_up(port_t* port) {
  tfrt_grpc_listener_t* listener = port_current(port);
  tfrt_grpc_listener_stop(listener, TFRT_GRPC_LISTENER_CLOSED);
  (void)tfrt_grpc_listener_drain(listener, TFRT_TIME_INFINITE);
  tfrt_grpc_listener_free(listener);
  tfrt_condition_deinitialize(&port->changed);
  tfrt_mutex_deinitialize(&port->mutex);
}

static tfrt_status_t port_initialize(port_t* port, const tfrt_grpc_listener_options_t* options,
                                     tfrt_allocator_t allocator,
                                     char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  *port = (port_t){.options = *options, .allocator = allocator, .is_serving = true};
  memset(port->reserve, -1, sizeof(port->reserve));
  tfrt_list_initialize(&port->listeners);
  tfrt_mutex_initialize(&port->mutex);
  tfrt_condition_initialize(&port->changed);
  tfrt_status_t status = port_open_first(port, out_address);
  if (status) {
    tfrt_condition_deinitialize(&port->changed);
    tfrt_mutex_deinitialize(&port->mutex);
    return status;
  }
  port_open_reserve(port);
  tfrt_grpc_process_watch_accepting(&port->watch, port_on_no_descriptor);
  status = tfrt_thread_create("open-port", port_run, port, &port->thread);
  if (!status) return NULL;
  tfrt_grpc_process_watch_accepting(&port->watch, NULL);
  port_close_reserve(port);
  port_give_up(port);
  return status;
}

static void port_set_serving(port_t* port, bool is_serving) {
  tfrt_mutex_lock(&port->mutex);
  port->is_serving = is_serving;
  for (tfrt_list_link_t* link = port->listeners.next; link != &port->listeners; link = link->next) {
    tfrt_grpc_listener_set_serving(listener_of(link), is_serving);
  }
  tfrt_mutex_unlock(&port->mutex);
}

static void port_close(port_t* port) {
  tfrt_grpc_process_watch_accepting(&port->watch, NULL);
  tfrt_mutex_lock(&port->mutex);
  port->state = PORT_CLOSED;
  tfrt_condition_broadcast(&port->changed);
  tfrt_mutex_unlock(&port->mutex);
  tfrt_thread_join(&port->thread);
  port_close_reserve(port);
  // Without the lock from here on: the list changes no more.
  for (tfrt_list_link_t* link = port->listeners.next; link != &port->listeners; link = link->next) {
    tfrt_grpc_listener_stop(listener_of(link), TFRT_GRPC_LISTENER_CLOSED);
  }
}

static void port_drain(port_t* port) {
  for (tfrt_list_link_t* link = port->listeners.next; link != &port->listeners; link = link->next) {
    (void)tfrt_grpc_listener_drain(listener_of(link), TFRT_TIME_INFINITE);
  }
}

static void port_deinitialize(port_t* port) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&port->listeners));) {
    tfrt_grpc_listener_free(listener_of(link));
  }
  tfrt_condition_deinitialize(&port->changed);
  tfrt_mutex_deinitialize(&port->mutex);
}

// --- The set of connections -----------------------------------------------------

static void set_initialize(tfrt_grpc_connection_set_t* set) {
  tfrt_mutex_initialize(&set->mutex);
  tfrt_condition_initialize(&set->emptied);
  tfrt_list_initialize(&set->connections);
  tfrt_list_initialize(&set->abandoned);
  set->is_closed = false;
}

static void set_deinitialize(tfrt_grpc_connection_set_t* set) {
  tfrt_condition_deinitialize(&set->emptied);
  tfrt_mutex_deinitialize(&set->mutex);
}

// Closes |set| and aborts all members; idempotent.
static void set_close(tfrt_grpc_connection_set_t* set) {
  tfrt_mutex_lock(&set->mutex);
  set->is_closed = true;
  // With the lock held, so that no member can leave meanwhile. An abort calls nobody back:
  // all callbacks come from queue threads, which at worst wait here to leave the set.
  for (tfrt_list_link_t* link = set->connections.next; link != &set->connections;
       link = link->next) {
    tfrt_grpc_connection_t* connection = TFRT_CONTAINER_OF(link, tfrt_grpc_connection_t, set_link);
    tfrt_transport_connection_abort(&connection->base);
  }
  tfrt_mutex_unlock(&set->mutex);
}

// Takes out an abandoned one (+1), or returns NULL.
static tfrt_grpc_connection_t* set_take_abandoned(tfrt_grpc_connection_set_t* set) {
  tfrt_grpc_connection_t* connection = NULL;
  tfrt_mutex_lock(&set->mutex);
  tfrt_list_link_t* link = tfrt_list_pop_front(&set->abandoned);
  if (link) {
    connection = TFRT_CONTAINER_OF(link, tfrt_grpc_connection_t, side.dialler.abandoned_link);
    // Its event may come as soon as the lock is open, and drop the reference that it holds.
    tfrt_transport_connection_retain(&connection->base);
  }
  tfrt_mutex_unlock(&set->mutex);
  return connection;
}

// Waits until |list|, of |set|, is empty; false if that takes longer. With the lock held.
static bool set_await_empty(tfrt_grpc_connection_set_t* set, const tfrt_list_link_t* list,
                            int64_t deadline_ns) {
  bool is_in_time = true;
  while (is_in_time && !tfrt_list_is_empty(list)) {
    is_in_time = tfrt_condition_wait_until(&set->emptied, &set->mutex, deadline_ns);
  }
  return tfrt_list_is_empty(list);
}

// Waits until |set|, which is closed, is empty, at most until |deadline_ns| of the system's clock
// (TFRT_TIME_INFINITE: for ever). Returns whether it is. Then waits a moment for the ends of those
// that are abandoned, and destroys the channels of the others.
static bool set_drain(tfrt_grpc_connection_set_t* set, int64_t deadline_ns) {
  tfrt_mutex_lock(&set->mutex);
  bool is_empty = set_await_empty(set, &set->connections, deadline_ns);
  if (is_empty) {
    const int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
    const int64_t patience_ns = tfrt_deadline_after(now_ns, tfrt_grpc_leave_ns());
    (void)set_await_empty(set, &set->abandoned,
                          patience_ns < deadline_ns ? patience_ns : deadline_ns);
  }
  tfrt_mutex_unlock(&set->mutex);
  if (!is_empty) return false;
  for (tfrt_grpc_connection_t* abandoned; (abandoned = set_take_abandoned(set));) {
    grpc_channel_destroy(abandoned->side.dialler.channel);
    tfrt_transport_connection_release(&abandoned->base);
  }
  return true;
}

// --- The transport ------------------------------------------------------------

typedef struct grpc_transport_s {
  tfrt_transport_t base;
  tfrt_allocator_t allocator;
  tfrt_grpc_credential_set_t credentials;
  tfrt_grpc_channel_settings_t settings;                 // points to |credentials|
  tfrt_grpc_queue_t* queues[2 * TFRT_GRPC_MAX_THREADS];  // of control, then of bulk
  uint32_t control_count;
  uint32_t bulk_count;  // 0: bulk uses those of control
  tfrt_grpc_connection_set_t set;
  _Atomic uint32_t next_queue;  // for dialled connections, in turn

  tfrt_mutex_t mutex;
  port_t port;        // as the two below say
  bool is_listening;  // guarded by |mutex|: |port| is initialised
  bool is_closed;     // guarded by |mutex|
} grpc_transport_t;

static grpc_transport_t* transport_of(tfrt_transport_t* base) {
  return TFRT_CONTAINER_OF(base, grpc_transport_t, base);
}

static tfrt_grpc_queues_t queues_of(grpc_transport_t* transport) {
  tfrt_grpc_queues_t queues = {.control = transport->queues,
                               .control_count = transport->control_count,
                               .bulk = transport->queues,
                               .bulk_count = transport->control_count};
  if (transport->bulk_count > 0) {
    queues.bulk = transport->queues + transport->control_count;
    queues.bulk_count = transport->bulk_count;
  }
  return queues;
}

// --- The interface -----------------------------------------------------------

static tfrt_status_t listen_locked(grpc_transport_t* transport, tfrt_string_view_t address,
                                   tfrt_transport_acceptor_t* acceptor, char* out_address) {
  if (transport->is_closed) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the transport is closed");
  }
  if (transport->is_listening) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "the transport listens already; it can do so once");
  }
  tfrt_grpc_listener_options_t options = {.address = address,
                                          .acceptor = acceptor,
                                          .queues = queues_of(transport),
                                          .set = &transport->set,
                                          .settings = transport->settings};
  tfrt_status_t status =
      port_initialize(&transport->port, &options, transport->allocator, out_address);
  transport->is_listening = !status;
  return status;
}

static tfrt_status_t transport_listen(tfrt_transport_t* base, tfrt_string_view_t address,
                                      tfrt_transport_acceptor_t* acceptor,
                                      char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  grpc_transport_t* transport = transport_of(base);
  tfrt_mutex_lock(&transport->mutex);
  tfrt_status_t status = listen_locked(transport, address, acceptor, out_address);
  tfrt_mutex_unlock(&transport->mutex);
  return status;
}

static tfrt_status_t transport_dial(tfrt_transport_t* base,
                                    const tfrt_transport_dial_options_t* options,
                                    tfrt_transport_handler_t* handler,
                                    tfrt_transport_connection_t** out_connection) {
  grpc_transport_t* transport = transport_of(base);
  tfrt_grpc_queues_t queues = queues_of(transport);
  // Relaxed: any number will do.
  uint32_t turn = atomic_fetch_add_explicit(&transport->next_queue, 1, memory_order_relaxed);
  bool is_bulk = options->kind == TFRT_TRANSPORT_BULK;
  tfrt_grpc_dial_context_t context = {
      .queue = is_bulk ? queues.bulk[turn % queues.bulk_count]
                       : queues.control[turn % queues.control_count],
      .set = &transport->set,
      .settings = transport->settings,
      .allocator = transport->allocator,
  };
  return tfrt_grpc_dial(&context, options, handler, out_connection);
}

static void transport_close(tfrt_transport_t* base) {
  grpc_transport_t* transport = transport_of(base);
  set_close(&transport->set);
  tfrt_mutex_lock(&transport->mutex);
  bool is_first = !transport->is_closed;
  transport->is_closed = true;
  bool is_listening = transport->is_listening;
  tfrt_mutex_unlock(&transport->mutex);
  if (is_first && is_listening) port_close(&transport->port);
}

// Waits until |deadline_ns| for the ends of connections, and then for the tasks that these caused.
static bool drain_until(grpc_transport_t* transport, int64_t deadline_ns) {
  if (!set_drain(&transport->set, deadline_ns)) return false;
  tfrt_mutex_lock(&transport->mutex);
  bool is_listening = transport->is_listening;
  tfrt_mutex_unlock(&transport->mutex);
  if (is_listening) port_drain(&transport->port);
  for (uint32_t i = 0; i < transport->control_count + transport->bulk_count; ++i) {
    tfrt_grpc_queue_drain(transport->queues[i]);
  }
  return true;
}

static void transport_drain(tfrt_transport_t* base) {
  (void)drain_until(transport_of(base), TFRT_TIME_INFINITE);
}

bool tfrt_grpc_transport_drain_within(tfrt_transport_t* base, int64_t limit_ms) {
  const int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  return drain_until(transport_of(base),
                     tfrt_deadline_after(now_ns, limit_ms * TFRT_NANOSECONDS_PER_MILLISECOND));
}

void tfrt_grpc_transport_set_serving(tfrt_transport_t* base, bool is_serving) {
  grpc_transport_t* transport = transport_of(base);
  tfrt_mutex_lock(&transport->mutex);
  if (transport->is_listening && !transport->is_closed) {
    port_set_serving(&transport->port, is_serving);
  }
  tfrt_mutex_unlock(&transport->mutex);
}

// --- Life --------------------------------------------------------------------

static void free_transport(grpc_transport_t* transport) {
  if (transport->is_listening) port_deinitialize(&transport->port);
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(transport->queues); ++i) {
    if (!transport->queues[i]) continue;
    tfrt_grpc_queue_shut_down(transport->queues[i]);
    tfrt_grpc_queue_release(transport->queues[i]);
  }
  tfrt_grpc_credential_set_deinitialize(&transport->credentials);
  tfrt_grpc_process_leave();
  set_deinitialize(&transport->set);
  tfrt_mutex_deinitialize(&transport->mutex);
  tfrt_allocator_free(transport->allocator, transport, sizeof(*transport));
}

static void transport_destroy(tfrt_transport_t* base) { free_transport(transport_of(base)); }

static const tfrt_transport_vtable_t kTransportVtable = {
    .destroy = transport_destroy,
    .listen = transport_listen,
    .dial = transport_dial,
    .close = transport_close,
    .drain = transport_drain,
};

static tfrt_status_t create_queues(grpc_transport_t* transport) {
  for (uint32_t i = 0; i < transport->control_count + transport->bulk_count; ++i) {
    char name[16];
    bool is_control = i < transport->control_count;
    snprintf(name, sizeof(name), "%s-%u", is_control ? "control" : "bulk",
             is_control ? i : i - transport->control_count);
    TFRT_RETURN_IF_ERROR(tfrt_grpc_queue_create(name, transport->allocator, &transport->queues[i]));
  }
  return NULL;
}

static tfrt_status_t check_options(const tfrt_grpc_transport_options_t* options) {
  if (options->control_thread_count < 1 || options->control_thread_count > TFRT_GRPC_MAX_THREADS ||
      options->bulk_thread_count > TFRT_GRPC_MAX_THREADS) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a transport has 1 to %d threads for control and 0 to %d for bulk, "
                              "not %u and %u",
                              TFRT_GRPC_MAX_THREADS, TFRT_GRPC_MAX_THREADS,
                              options->control_thread_count, options->bulk_thread_count);
  }
  if (options->stall_limit_ms > 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the limit for stalled bytes must be positive, not %d ms",
                            (int)options->stall_limit_ms);
}

tfrt_grpc_transport_options_t tfrt_grpc_transport_default_options(void) {
  return (tfrt_grpc_transport_options_t){
      .credentials = {.kind = TFRT_GRPC_CREDENTIALS_PLAIN_TEXT},
      .control_thread_count = 1,
      .bulk_thread_count = 0,
      .stall_limit_ms = 10000,
  };
}

tfrt_status_t tfrt_grpc_transport_create(const tfrt_grpc_transport_options_t* options,
                                         tfrt_allocator_t allocator,
                                         tfrt_transport_t** out_transport) {
  *out_transport = NULL;
  TFRT_RETURN_IF_ERROR(check_options(options));
  grpc_transport_t* transport = tfrt_allocator_allocate_zeroed(allocator, sizeof(*transport));
  if (!transport) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_grpc_process_enter();
  if (status) {
    tfrt_allocator_free(allocator, transport, sizeof(*transport));
    return status;
  }
  tfrt_transport_initialize(&transport->base, &kTransportVtable);
  transport->allocator = allocator;
  transport->settings =
      (tfrt_grpc_channel_settings_t){&transport->credentials, options->stall_limit_ms};
  transport->control_count = options->control_thread_count;
  transport->bulk_count = options->bulk_thread_count;
  atomic_init(&transport->next_queue, 0);
  set_initialize(&transport->set);
  tfrt_mutex_initialize(&transport->mutex);
  status = tfrt_grpc_credential_set_initialize(&transport->credentials, &options->credentials);
  if (tfrt_status_is_ok(status)) status = create_queues(transport);
  if (!tfrt_status_is_ok(status)) {
    free_transport(transport);
    return status;
  }
  *out_transport = &transport->base;
  return NULL;
}
