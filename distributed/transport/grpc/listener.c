// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/listener.h"

#include <stdlib.h>

#include "distributed/transport/grpc/accept.h"
#include "distributed/transport/grpc/address.h"
#include "distributed/transport/grpc/admission.h"
#include "distributed/transport/grpc/health.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/log.h"

typedef struct slot_s {
  tfrt_grpc_event_t requested;
  tfrt_grpc_listener_t* listener;
  tfrt_grpc_queue_t* queue;
  void* method;  // gRPC's handle; NULL for the slot of unknown methods
  tfrt_transport_kind_t kind;
  bool is_health;  // a method of the health service; |is_watch|: which
  bool is_watch;
  grpc_call* call;
  gpr_timespec deadline;
  grpc_call_details details;  // of an unknown method
  grpc_metadata_array metadata;
} slot_t;

struct tfrt_grpc_listener_s {
  tfrt_list_link_t link;  // the owner's
  tfrt_allocator_t allocator;
  tfrt_transport_acceptor_t* acceptor;
  tfrt_grpc_connection_set_t* set;
  tfrt_grpc_queue_t* first_queue;
  grpc_server* server;
  tfrt_grpc_admission_t* admission;  // NULL: gRPC listens
  tfrt_grpc_health_t health;
  tfrt_grpc_event_t shut_down;
  slot_t* slots;
  size_t slot_count;
  size_t slot_capacity;
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  size_t asking;      // guarded by |mutex|: slots that are not retired
  bool is_retired;    // guarded by |mutex|: gRPC has been asked to shut the server down
  bool is_shut_down;  // guarded by |mutex|
};

// --- Slots -------------------------------------------------------------------

static void ask(slot_t* slot) {
  slot->call = NULL;
  grpc_metadata_array_init(&slot->metadata);
  grpc_call_details_init(&slot->details);
  grpc_completion_queue* queue = slot->queue->completion_queue;
  grpc_server* server = slot->listener->server;
  // Release: pairs with the acquire load of the queue's thread (see queue.h).
  atomic_store_explicit(&slot->requested.hand_over, 1, memory_order_release);
  grpc_call_error error =
      slot->method ? grpc_server_request_registered_call(server, slot->method, &slot->call,
                                                         &slot->deadline, &slot->metadata, NULL,
                                                         queue, queue, &slot->requested)
                   : grpc_server_request_call(server, &slot->call, &slot->details, &slot->metadata,
                                              queue, queue, &slot->requested);
  if (error == GRPC_CALL_OK) return;
  // As with a batch that gRPC does not take: no event would ever come.
  tfrt_log(TFRT_LOG_ERROR, NULL, "gRPC does not take a request for a call: %s",
           grpc_call_error_to_string(error));
  abort();
}

static void retire(tfrt_grpc_listener_t* listener) {
  tfrt_mutex_lock(&listener->mutex);
  --listener->asking;
  tfrt_condition_broadcast(&listener->changed);
  tfrt_mutex_unlock(&listener->mutex);
}

static void on_requested(tfrt_grpc_event_t* event, bool is_ok) {
  slot_t* slot = TFRT_CONTAINER_OF(event, slot_t, requested);
  tfrt_grpc_listener_t* listener = slot->listener;
  if (is_ok && slot->is_health) {
    if (listener->admission) tfrt_grpc_admission_note_call(listener->admission, slot->call);
    tfrt_grpc_health_take_call(&listener->health, slot->call, slot->is_watch);
  } else if (is_ok) {
    const tfrt_grpc_accept_context_t context = {
        .acceptor = slot->method ? listener->acceptor : NULL,
        .queue = slot->queue,
        .set = listener->set,
        .admission = listener->admission,
        .allocator = listener->allocator,
    };
    tfrt_grpc_accept_take_call(slot->call, slot->kind, &slot->metadata, &context);
  }
  grpc_metadata_array_destroy(&slot->metadata);
  grpc_call_details_destroy(&slot->details);
  if (is_ok) {
    ask(slot);
  } else {
    retire(listener);
  }
}

static void add_slot(tfrt_grpc_listener_t* listener, tfrt_grpc_queue_t* queue, void* method,
                     tfrt_transport_kind_t kind) {
  slot_t* slot = &listener->slots[listener->slot_count++];
  tfrt_grpc_event_initialize(&slot->requested, on_requested);
  slot->listener = listener;
  slot->queue = queue;
  slot->method = method;
  slot->kind = kind;
}

static void add_slots(tfrt_grpc_listener_t* listener, tfrt_grpc_queue_t** queues, uint32_t count,
                      void* method, tfrt_transport_kind_t kind) {
  for (uint32_t i = 0; i < count * TFRT_TUNING_GRPC_SLOTS_PER_QUEUE; ++i) {
    add_slot(listener, queues[i % count], method, kind);
  }
}

// Probes are few: one slot each.
static void add_health_slot(tfrt_grpc_listener_t* listener, tfrt_grpc_queue_t* queue,
                            const char* method, bool is_watch) {
  void* handle =
      grpc_server_register_method(listener->server, method, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
  add_slot(listener, queue, handle, TFRT_TRANSPORT_CONTROL);
  listener->slots[listener->slot_count - 1].is_health = true;
  listener->slots[listener->slot_count - 1].is_watch = is_watch;
}

// --- Life --------------------------------------------------------------------

static void on_shut_down(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  tfrt_grpc_listener_t* listener = TFRT_CONTAINER_OF(event, tfrt_grpc_listener_t, shut_down);
  tfrt_mutex_lock(&listener->mutex);
  listener->is_shut_down = true;
  tfrt_condition_broadcast(&listener->changed);
  tfrt_mutex_unlock(&listener->mutex);
}

static size_t count_slots(const tfrt_grpc_queues_t* queues) {
  return (queues->control_count + queues->bulk_count) * TFRT_TUNING_GRPC_SLOTS_PER_QUEUE + 3;
}

static void register_queues(grpc_server* server, const tfrt_grpc_queues_t* queues) {
  for (uint32_t i = 0; i < queues->control_count; ++i) {
    grpc_server_register_completion_queue(server, queues->control[i]->completion_queue, NULL);
  }
  // gRPC takes note of a queue once, however often it is registered.
  for (uint32_t i = 0; i < queues->bulk_count; ++i) {
    grpc_server_register_completion_queue(server, queues->bulk[i]->completion_queue, NULL);
  }
}

static void start_server(tfrt_grpc_listener_t* listener, const tfrt_grpc_queues_t* queues) {
  grpc_server* server = listener->server;
  register_queues(server, queues);
  void* control =
      grpc_server_register_method(server, TFRT_GRPC_CONTROL_METHOD, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
  void* bulk =
      grpc_server_register_method(server, TFRT_GRPC_BULK_METHOD, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
  add_health_slot(listener, queues->control[0], TFRT_GRPC_HEALTH_CHECK_METHOD, false);
  add_health_slot(listener, queues->control[0], TFRT_GRPC_HEALTH_WATCH_METHOD, true);
  grpc_server_start(server);
  add_slots(listener, queues->control, queues->control_count, control, TFRT_TRANSPORT_CONTROL);
  add_slots(listener, queues->bulk, queues->bulk_count, bulk, TFRT_TRANSPORT_BULK);
  add_slot(listener, queues->control[0], NULL, TFRT_TRANSPORT_CONTROL);
  listener->asking = listener->slot_count;  // before any event can retire one
  for (size_t i = 0; i < listener->slot_count; ++i) ask(&listener->slots[i]);
}

static tfrt_grpc_listener_t* allocate(const tfrt_grpc_listener_options_t* options,
                                      tfrt_allocator_t allocator) {
  tfrt_grpc_listener_t* listener = tfrt_allocator_allocate_zeroed(allocator, sizeof(*listener));
  if (!listener) return NULL;
  listener->slot_capacity = count_slots(&options->queues);
  listener->slots =
      tfrt_allocator_allocate_array(allocator, listener->slot_capacity, sizeof(slot_t));
  if (!listener->slots) {
    tfrt_allocator_free(allocator, listener, sizeof(*listener));
    return NULL;
  }
  tfrt_list_initialize(&listener->link);
  listener->allocator = allocator;
  listener->acceptor = options->acceptor;
  listener->set = options->set;
  listener->first_queue = options->queues.control[0];
  tfrt_grpc_event_initialize(&listener->shut_down, on_shut_down);
  tfrt_mutex_initialize(&listener->mutex);
  tfrt_condition_initialize(&listener->changed);
  listener->server = tfrt_grpc_server_open(&options->settings);
  tfrt_grpc_health_initialize(&listener->health, listener->first_queue, allocator);
  return listener;
}

// Returns the port, or 0. The connections of a numeric address in plain text are admitted.
static int bind_port(tfrt_grpc_listener_t* listener, const char* address,
                     const tfrt_grpc_channel_settings_t* settings) {
  if (settings->credentials->is_encrypted || !tfrt_grpc_address_is_numeric(address)) {
    return tfrt_grpc_server_bind(listener->server, address, settings);
  }
  int port = 0;
  tfrt_status_t status = tfrt_grpc_admission_create(address, settings, listener->allocator, &port,
                                                    &listener->admission);
  tfrt_status_release(status);
  return port;
}

tfrt_status_t tfrt_grpc_listener_allocate(const tfrt_grpc_listener_options_t* options,
                                          tfrt_allocator_t allocator,
                                          char out_address[TFRT_TRANSPORT_ADDRESS_SIZE],
                                          tfrt_grpc_listener_t** out_listener) {
  *out_listener = NULL;
  out_address[0] = '\0';
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  TFRT_RETURN_IF_ERROR(tfrt_grpc_address_check_listen(options->address, address));
  if (tfrt_grpc_address_is_taken(address)) return tfrt_grpc_address_explain(address);
  tfrt_grpc_listener_t* listener = allocate(options, allocator);
  if (!listener) return tfrt_status_out_of_memory();
  int port = bind_port(listener, address, &options->settings);
  if (port == 0) {
    // It never started, so there is nothing to wait for.
    tfrt_grpc_listener_free(listener);
    return tfrt_grpc_address_explain(address);
  }
  start_server(listener, &options->queues);
  tfrt_status_t status =
      listener->admission ? tfrt_grpc_admission_start(listener->admission, listener->server) : NULL;
  if (status) {
    tfrt_grpc_listener_close(listener);
    tfrt_grpc_listener_drain(listener);
    tfrt_grpc_listener_free(listener);
    return status;
  }
  tfrt_grpc_address_with_port(address, port, out_address);
  *out_listener = listener;
  return NULL;
}

void tfrt_grpc_listener_retire(tfrt_grpc_listener_t* listener) {
  tfrt_mutex_lock(&listener->mutex);
  bool is_first = !listener->is_retired;
  listener->is_retired = true;
  tfrt_mutex_unlock(&listener->mutex);
  if (!is_first) return;
  if (listener->admission) tfrt_grpc_admission_stop(listener->admission);
  // Release: pairs with the acquire load of the queue's thread (see queue.h).
  atomic_store_explicit(&listener->shut_down.hand_over, 1, memory_order_release);
  grpc_server_shutdown_and_notify(listener->server, listener->first_queue->completion_queue,
                                  &listener->shut_down);
}

void tfrt_grpc_listener_close(tfrt_grpc_listener_t* listener) {
  tfrt_grpc_listener_retire(listener);
  grpc_server_cancel_all_calls(listener->server);
}

void tfrt_grpc_listener_drain(tfrt_grpc_listener_t* listener) {
  tfrt_mutex_lock(&listener->mutex);
  while (listener->asking > 0 || !listener->is_shut_down) {
    tfrt_condition_wait(&listener->changed, &listener->mutex);
  }
  tfrt_mutex_unlock(&listener->mutex);
  tfrt_grpc_health_drain(&listener->health);
}

bool tfrt_grpc_listener_is_drained(tfrt_grpc_listener_t* listener) {
  tfrt_mutex_lock(&listener->mutex);
  bool is_drained = listener->asking == 0 && listener->is_shut_down;
  tfrt_mutex_unlock(&listener->mutex);
  return is_drained && tfrt_grpc_health_is_drained(&listener->health);
}

tfrt_list_link_t* tfrt_grpc_listener_link(tfrt_grpc_listener_t* listener) {
  return &listener->link;
}

tfrt_grpc_listener_t* tfrt_grpc_listener_of_link(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_grpc_listener_t, link);
}

void tfrt_grpc_listener_set_serving(tfrt_grpc_listener_t* listener, bool is_serving) {
  tfrt_grpc_health_set_serving(&listener->health, is_serving);
}

void tfrt_grpc_listener_free(tfrt_grpc_listener_t* listener) {
  tfrt_grpc_admission_release(listener->admission);
  grpc_server_destroy(listener->server);
  tfrt_grpc_health_deinitialize(&listener->health);
  tfrt_condition_deinitialize(&listener->changed);
  tfrt_mutex_deinitialize(&listener->mutex);
  tfrt_allocator_free(listener->allocator, listener->slots,
                      listener->slot_capacity * sizeof(slot_t));
  tfrt_allocator_free(listener->allocator, listener, sizeof(*listener));
}
