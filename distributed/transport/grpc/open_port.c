// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/open_port.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "distributed/tuning/tuning.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"

// A new listener and a few connections take these: more than the reserve, or the port is full again
// at once.
#define ROOM_DESCRIPTORS (TFRT_GRPC_RESERVED_DESCRIPTORS + 8)

// --- Descriptors ---------------------------------------------------------------

static void open_reserve(tfrt_grpc_open_port_t* port) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(port->reserve); ++i) {
    if (port->reserve[i] < 0) port->reserve[i] = eventfd(0, EFD_CLOEXEC);
  }
}

static void close_reserve(tfrt_grpc_open_port_t* port) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(port->reserve); ++i) {
    if (port->reserve[i] >= 0) close(port->reserve[i]);
    port->reserve[i] = -1;
  }
}

// Asks the system for room: takes the needed descriptors for a moment, without the reserve.
static bool has_room(void) {
  int files[ROOM_DESCRIPTORS];
  size_t count = 0;
  while (count < ROOM_DESCRIPTORS && (files[count] = eventfd(0, EFD_CLOEXEC)) >= 0) ++count;
  for (size_t i = 0; i < count; ++i) close(files[i]);
  return count == ROOM_DESCRIPTORS;
}

// --- Changing hands ------------------------------------------------------------

// All in this section runs on the port's thread, which alone changes the list of listeners: so it
// reads that without the lock, and calls gRPC without it, which may call on_no_descriptor().

static tfrt_grpc_listener_t* current(tfrt_grpc_open_port_t* port) {
  return tfrt_grpc_listener_of_link(port->listeners.previous);
}

// Frees listeners whose calls are over.
static void free_drained(tfrt_grpc_open_port_t* port) {
  tfrt_list_link_t* next;
  for (tfrt_list_link_t* link = port->listeners.next; link != port->listeners.previous;
       link = next) {
    next = link->next;
    tfrt_grpc_listener_t* listener = tfrt_grpc_listener_of_link(link);
    if (!tfrt_grpc_listener_is_drained(listener)) continue;
    tfrt_mutex_lock(&port->mutex);
    tfrt_list_remove(link);
    tfrt_mutex_unlock(&port->mutex);
    tfrt_grpc_listener_free(listener);
  }
}

// Waits for |duration_ns|; false if the port is closed.
static bool wait_for(tfrt_grpc_open_port_t* port, int64_t duration_ns) {
  const int64_t deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()), duration_ns);
  bool is_in_time = true;
  tfrt_mutex_lock(&port->mutex);
  while (is_in_time && port->state != TFRT_GRPC_OPEN_PORT_CLOSED) {
    is_in_time = tfrt_condition_wait_until(&port->changed, &port->mutex, deadline_ns);
  }
  const bool is_open = port->state != TFRT_GRPC_OPEN_PORT_CLOSED;
  tfrt_mutex_unlock(&port->mutex);
  return is_open;
}

// Puts a new listener behind the current one, which has given up the port; false if that does not
// work yet.
static bool listen_anew(tfrt_grpc_open_port_t* port) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_grpc_listener_t* listener;
  tfrt_status_t status =
      tfrt_grpc_listener_allocate(&port->options, port->allocator, address, &listener);
  const bool is_open = !status;
  tfrt_status_release(status);
  if (!is_open) return false;
  tfrt_mutex_lock(&port->mutex);
  tfrt_list_push_back(&port->listeners, tfrt_grpc_listener_link(listener));
  tfrt_grpc_listener_set_serving(listener, port->is_serving);
  tfrt_mutex_unlock(&port->mutex);
  return true;
}

// At most one line in a while, however often the port is full.
static void tell(tfrt_grpc_open_port_t* port) {
  const int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  if (now_ns < port->silent_until_ns) return;
  port->silent_until_ns = now_ns + TFRT_TUNING_PORT_TELL_NS;
  tfrt_log(TFRT_LOG_WARNING, NULL,
           "no descriptor is left for another connection to %s: it waits until one is; raise the "
           "limit (ulimit -Hn)",
           port->address);
}

static void set_listening(tfrt_grpc_open_port_t* port) {
  tfrt_mutex_lock(&port->mutex);
  if (port->state == TFRT_GRPC_OPEN_PORT_FULL) port->state = TFRT_GRPC_OPEN_PORT_LISTENING;
  tfrt_mutex_unlock(&port->mutex);
}

// Waits for room and opens the port again.
static void reopen(tfrt_grpc_open_port_t* port) {
  tell(port);
  close_reserve(port);
  while (!has_room()) {
    if (!wait_for(port, TFRT_TUNING_PORT_LOOK_NS)) return;
  }
  // From here on the port may be full again.
  set_listening(port);
  tfrt_grpc_listener_retire(current(port));
  // The old one closes the port on a thread of gRPC's, a moment later.
  while (!listen_anew(port)) {
    if (!wait_for(port, TFRT_TUNING_PORT_LOOK_NS / 10)) return;
  }
  open_reserve(port);
  free_drained(port);
}

// Waits until the port is full; false if it is closed.
static bool await_full(tfrt_grpc_open_port_t* port) {
  tfrt_mutex_lock(&port->mutex);
  while (port->state == TFRT_GRPC_OPEN_PORT_LISTENING) {
    tfrt_condition_wait(&port->changed, &port->mutex);
  }
  const bool is_full = port->state == TFRT_GRPC_OPEN_PORT_FULL;
  tfrt_mutex_unlock(&port->mutex);
  return is_full;
}

static void run(void* argument) {
  tfrt_grpc_open_port_t* port = argument;
  while (await_full(port)) reopen(port);
}

// On a thread of gRPC's. It may be about another port of this process: then a good listener is
// replaced, which costs nothing but a moment.
static void on_no_descriptor(tfrt_grpc_accept_watch_t* watch) {
  tfrt_grpc_open_port_t* port = TFRT_CONTAINER_OF(watch, tfrt_grpc_open_port_t, watch);
  tfrt_mutex_lock(&port->mutex);
  if (port->state == TFRT_GRPC_OPEN_PORT_LISTENING) port->state = TFRT_GRPC_OPEN_PORT_FULL;
  tfrt_condition_broadcast(&port->changed);
  tfrt_mutex_unlock(&port->mutex);
}

// --- Life ----------------------------------------------------------------------

static tfrt_status_t open_first(tfrt_grpc_open_port_t* port, char* out_address) {
  tfrt_grpc_listener_t* listener;
  TFRT_RETURN_IF_ERROR(
      tfrt_grpc_listener_allocate(&port->options, port->allocator, out_address, &listener));
  tfrt_list_push_back(&port->listeners, tfrt_grpc_listener_link(listener));
  snprintf(port->address, sizeof(port->address), "%s", out_address);
  port->options.address = tfrt_string_view_of(port->address);
  return NULL;
}

// Closes and frees the first listener, of a port that does not come about.
static void give_up(tfrt_grpc_open_port_t* port) {
  tfrt_grpc_listener_t* listener = current(port);
  tfrt_grpc_listener_close(listener);
  tfrt_grpc_listener_drain(listener);
  tfrt_grpc_listener_free(listener);
  tfrt_condition_deinitialize(&port->changed);
  tfrt_mutex_deinitialize(&port->mutex);
}

tfrt_status_t tfrt_grpc_open_port_initialize(tfrt_grpc_open_port_t* port,
                                             const tfrt_grpc_listener_options_t* options,
                                             tfrt_allocator_t allocator,
                                             char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  *port = (tfrt_grpc_open_port_t){.options = *options, .allocator = allocator, .is_serving = true};
  memset(port->reserve, -1, sizeof(port->reserve));
  tfrt_list_initialize(&port->listeners);
  tfrt_mutex_initialize(&port->mutex);
  tfrt_condition_initialize(&port->changed);
  tfrt_status_t status = open_first(port, out_address);
  if (status) {
    tfrt_condition_deinitialize(&port->changed);
    tfrt_mutex_deinitialize(&port->mutex);
    return status;
  }
  open_reserve(port);
  tfrt_grpc_process_watch_accepting(&port->watch, on_no_descriptor);
  status = tfrt_thread_create("open-port", run, port, &port->thread);
  if (!status) return NULL;
  tfrt_grpc_process_unwatch_accepting(&port->watch);
  close_reserve(port);
  give_up(port);
  return status;
}

void tfrt_grpc_open_port_set_serving(tfrt_grpc_open_port_t* port, bool is_serving) {
  tfrt_mutex_lock(&port->mutex);
  port->is_serving = is_serving;
  for (tfrt_list_link_t* link = port->listeners.next; link != &port->listeners; link = link->next) {
    tfrt_grpc_listener_set_serving(tfrt_grpc_listener_of_link(link), is_serving);
  }
  tfrt_mutex_unlock(&port->mutex);
}

void tfrt_grpc_open_port_close(tfrt_grpc_open_port_t* port) {
  tfrt_grpc_process_unwatch_accepting(&port->watch);
  tfrt_mutex_lock(&port->mutex);
  port->state = TFRT_GRPC_OPEN_PORT_CLOSED;
  tfrt_condition_broadcast(&port->changed);
  tfrt_mutex_unlock(&port->mutex);
  tfrt_thread_join(&port->thread);
  close_reserve(port);
  // Without the lock from here on: the list changes no more.
  for (tfrt_list_link_t* link = port->listeners.next; link != &port->listeners; link = link->next) {
    tfrt_grpc_listener_close(tfrt_grpc_listener_of_link(link));
  }
}

void tfrt_grpc_open_port_drain(tfrt_grpc_open_port_t* port) {
  for (tfrt_list_link_t* link = port->listeners.next; link != &port->listeners; link = link->next) {
    tfrt_grpc_listener_drain(tfrt_grpc_listener_of_link(link));
  }
}

void tfrt_grpc_open_port_deinitialize(tfrt_grpc_open_port_t* port) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&port->listeners));) {
    tfrt_grpc_listener_free(tfrt_grpc_listener_of_link(link));
  }
  tfrt_condition_deinitialize(&port->changed);
  tfrt_mutex_deinitialize(&port->mutex);
}
