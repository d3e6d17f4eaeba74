// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/grpc_transport.h"

#include <stdio.h>

#include "distributed/transport/grpc/dial.h"
#include "distributed/transport/grpc/open_port.h"
#include "distributed/transport/grpc/process.h"
#include "host_runtime/base/clock.h"

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
  tfrt_grpc_open_port_t port;  // as the two below say
  bool is_listening;           // guarded by |mutex|: |port| is initialised
  bool is_closed;              // guarded by |mutex|
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
      tfrt_grpc_open_port_initialize(&transport->port, &options, transport->allocator, out_address);
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
  tfrt_grpc_connection_set_close(&transport->set);
  tfrt_mutex_lock(&transport->mutex);
  bool is_first = !transport->is_closed;
  transport->is_closed = true;
  bool is_listening = transport->is_listening;
  tfrt_mutex_unlock(&transport->mutex);
  if (is_first && is_listening) tfrt_grpc_open_port_close(&transport->port);
}

// Waits until |deadline_ns| for the ends of connections, and then for the tasks that these caused.
static bool drain_until(grpc_transport_t* transport, int64_t deadline_ns) {
  if (!tfrt_grpc_connection_set_drain(&transport->set, deadline_ns)) return false;
  tfrt_mutex_lock(&transport->mutex);
  bool is_listening = transport->is_listening;
  tfrt_mutex_unlock(&transport->mutex);
  if (is_listening) tfrt_grpc_open_port_drain(&transport->port);
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
    tfrt_grpc_open_port_set_serving(&transport->port, is_serving);
  }
  tfrt_mutex_unlock(&transport->mutex);
}

// --- Life --------------------------------------------------------------------

static void free_transport(grpc_transport_t* transport) {
  if (transport->is_listening) tfrt_grpc_open_port_deinitialize(&transport->port);
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(transport->queues); ++i) {
    if (!transport->queues[i]) continue;
    tfrt_grpc_queue_shut_down(transport->queues[i]);
    tfrt_grpc_queue_release(transport->queues[i]);
  }
  tfrt_grpc_credential_set_deinitialize(&transport->credentials);
  tfrt_grpc_process_leave();
  tfrt_grpc_connection_set_deinitialize(&transport->set);
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
  tfrt_grpc_connection_set_initialize(&transport->set);
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
