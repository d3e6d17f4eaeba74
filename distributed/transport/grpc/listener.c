// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/listener.h"

#include <stdlib.h>
#include <string.h>

#include "distributed/transport/grpc/accept.h"
#include "distributed/transport/grpc/address.h"
#include "distributed/transport/grpc/admission.h"
#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/string_view.h"

// --- The health service ---------------------------------------------------------

// The standard health service of gRPC, for launchers and probes: grpc.health.v1.Health.
//
//   Check(service)   -> one status
//   Watch(service)   -> the status, then each change of it, until the caller goes
//
//   service          "" or "tfrt.peer.v1.Peer": SERVING, or NOT_SERVING while the process drains
//                    another: Check ends with NOT_FOUND, Watch says SERVICE_UNKNOWN
//
// Requests and responses have one field each, so they are read and written here by hand. Any
// process that can connect may ask: no cluster key is needed, and only the status is answered. So
// that none of them takes more than a little memory, TFRT_TUNING_HEALTH_CALLS calls may be open at
// a time, and a further one ends with RESOURCE_EXHAUSTED; one whose request does not come within
// 5 s ends with DEADLINE_EXCEEDED.

#define HEALTH_CHECK_METHOD "/grpc.health.v1.Health/Check"
#define HEALTH_WATCH_METHOD "/grpc.health.v1.Health/Watch"

typedef struct health_s {
  tfrt_allocator_t allocator;
  tfrt_grpc_queue_t* queue;  // +0
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  size_t busy;                // guarded by |mutex|: calls, and |told| while it is posted
  bool is_serving;            // guarded by |mutex|
  bool is_posted;             // guarded by |mutex|
  tfrt_grpc_event_t told;     // tells all watchers
  tfrt_list_link_t watchers;  // belongs to the queue's thread
  size_t call_count;          // the same: calls that are open
} health_t;

// The longest request that is looked at; a service has a short name.
#define MAX_REQUEST_SIZE 1024

// Numbers of the contract.
enum { STATUS_SERVING = 1, STATUS_NOT_SERVING = 2, STATUS_SERVICE_UNKNOWN = 3 };

typedef struct health_call_s {
  tfrt_list_link_t link;  // among the watchers
  health_t* health;
  grpc_call* call;
  grpc_byte_buffer* request;
  grpc_byte_buffer* response;  // being sent
  grpc_slice details;
  int is_cancelled;
  bool is_watch;
  bool is_known;  // the service
  bool is_over;
  int told;                 // the last status that was sent, 0: none
  int pending;              // batches under way
  tfrt_grpc_timer_t timer;  // until |received|
  tfrt_grpc_event_t received;
  tfrt_grpc_event_t sent;
  tfrt_grpc_event_t ended;
} health_call_t;

// --- Health: counting ---------------------------------------------------------

static void health_enter(health_t* health) {
  tfrt_mutex_lock(&health->mutex);
  ++health->busy;
  tfrt_mutex_unlock(&health->mutex);
}

static void health_leave(health_t* health) {
  tfrt_mutex_lock(&health->mutex);
  --health->busy;
  tfrt_condition_broadcast(&health->changed);
  tfrt_mutex_unlock(&health->mutex);
}

static bool health_serves(health_t* health) {
  tfrt_mutex_lock(&health->mutex);
  bool is_serving = health->is_serving;
  tfrt_mutex_unlock(&health->mutex);
  return is_serving;
}

// --- Health: calls ------------------------------------------------------------

static void health_start(health_call_t* call, const grpc_op* operations, size_t count,
                         tfrt_grpc_event_t* event) {
  ++call->pending;
  tfrt_grpc_queue_start_batch(call->call, operations, count, event);
}

// A batch is done; the call goes with its last one.
static void health_settle(health_call_t* call) {
  if (--call->pending > 0) return;
  health_t* health = call->health;
  tfrt_list_remove(&call->link);
  --health->call_count;
  grpc_byte_buffer_destroy(call->request);
  grpc_slice_unref(call->details);
  grpc_call_unref(call->call);
  tfrt_allocator_free(health->allocator, call, sizeof(*call));
  health_leave(health);
}

static int health_status_of(health_call_t* call) {
  if (!call->is_known) return STATUS_SERVICE_UNKNOWN;
  return health_serves(call->health) ? STATUS_SERVING : STATUS_NOT_SERVING;
}

// The response with |status|: its field 1.
static grpc_byte_buffer* health_make_response(int status) {
  const char bytes[] = {0x08, (char)status};
  grpc_slice slice = grpc_slice_from_copied_buffer(bytes, sizeof(bytes));
  grpc_byte_buffer* response = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  return response;
}

// Tells a watcher the status, unless it knows it or hears of another one right now.
static void health_tell(health_call_t* call) {
  int status = health_status_of(call);
  if (call->is_over || call->response || call->told == status) return;
  call->told = status;
  call->response = health_make_response(status);
  grpc_op message = {.op = GRPC_OP_SEND_MESSAGE};
  message.data.send_message.send_message = call->response;
  health_start(call, &message, 1, &call->sent);
}

// Ends a call with |code|, behind the status if that is OK.
static void health_finish(health_call_t* call, grpc_status_code code, const char* details) {
  grpc_op operations[2] = {{.op = GRPC_OP_SEND_STATUS_FROM_SERVER}};
  size_t count = 1;
  call->details = grpc_slice_from_static_string(details);
  operations[0].data.send_status_from_server.status = code;
  operations[0].data.send_status_from_server.status_details = &call->details;
  if (code == GRPC_STATUS_OK) {
    call->response = health_make_response(health_status_of(call));
    operations[count].op = GRPC_OP_SEND_MESSAGE;
    operations[count++].data.send_message.send_message = call->response;
  }
  health_start(call, operations, count, &call->sent);
}

static void health_on_sent(tfrt_grpc_event_t* event, bool is_ok) {
  health_call_t* call = TFRT_CONTAINER_OF(event, health_call_t, sent);
  grpc_byte_buffer_destroy(call->response);
  call->response = NULL;
  if (is_ok && call->is_watch) health_tell(call);
  health_settle(call);
}

static void health_on_ended(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  health_call_t* call = TFRT_CONTAINER_OF(event, health_call_t, ended);
  call->is_over = true;
  health_settle(call);
}

// --- Health: requests ---------------------------------------------------------

// Reads a varint off |*rest|.
static bool health_read_varint(tfrt_string_view_t* rest, uint64_t* out_number) {
  *out_number = 0;
  for (unsigned shift = 0; rest->size > 0 && shift < 64; shift += 7) {
    unsigned char byte = (unsigned char)rest->data[0];
    *rest = tfrt_string_view_make(rest->data + 1, rest->size - 1);
    *out_number |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Sets |*out_service| to field 1 of |request|; other fields are passed over.
static bool health_read_service(tfrt_string_view_t request, tfrt_string_view_t* out_service) {
  *out_service = tfrt_string_view_of("");
  while (request.size > 0) {
    uint64_t tag = 0;
    uint64_t size = 0;
    if (!health_read_varint(&request, &tag)) return false;
    if ((tag & 7) == 0 && !health_read_varint(&request, &size)) return false;
    if ((tag & 7) == 0) continue;
    if ((tag & 7) == 2 && !health_read_varint(&request, &size)) return false;
    if ((tag & 7) == 1) size = 8;
    if ((tag & 7) == 5) size = 4;
    if ((tag & 7) == 3 || (tag & 7) == 4 || (tag & 7) > 5 || size > request.size) return false;
    if (tag == ((1u << 3) | 2)) *out_service = tfrt_string_view_make(request.data, (size_t)size);
    request = tfrt_string_view_make(request.data + size, request.size - (size_t)size);
  }
  return true;
}

// Reads the request of |call|; false if it is none.
static bool health_read_request(health_call_t* call) {
  if (!call->request || grpc_byte_buffer_length(call->request) > MAX_REQUEST_SIZE) return false;
  grpc_byte_buffer_reader reader;
  if (!grpc_byte_buffer_reader_init(&reader, call->request)) return false;
  grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
  grpc_byte_buffer_reader_destroy(&reader);
  tfrt_string_view_t service;
  bool is_good = health_read_service(
      tfrt_string_view_make((const char*)GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice)),
      &service);
  call->is_known =
      is_good && (service.size == 0 ||
                  tfrt_string_view_equal(service, tfrt_string_view_of("tfrt.peer.v1.Peer")));
  grpc_slice_unref(slice);
  return is_good;
}

static void health_on_received(tfrt_grpc_event_t* event, bool is_ok) {
  health_call_t* call = TFRT_CONTAINER_OF(event, health_call_t, received);
  tfrt_grpc_queue_remove_timer(&call->timer);
  if (is_ok && !call->is_over) {
    if (!health_read_request(call)) {
      health_finish(call, GRPC_STATUS_INVALID_ARGUMENT, "this is no HealthCheckRequest");
    } else if (call->is_watch) {
      tfrt_list_push_back(&call->health->watchers, &call->link);
      health_tell(call);
    } else if (call->is_known) {
      health_finish(call, GRPC_STATUS_OK, "");
    } else {
      health_finish(call, GRPC_STATUS_NOT_FOUND,
                    "there is only the service tfrt.peer.v1.Peer here");
    }
  }
  health_settle(call);
}

// No request came: |received| and |ended| follow.
static void health_on_time_is_up(tfrt_grpc_timer_t* timer) {
  health_call_t* call = TFRT_CONTAINER_OF(timer, health_call_t, timer);
  grpc_call_cancel_with_status(call->call, GRPC_STATUS_DEADLINE_EXCEEDED,
                               "no HealthCheckRequest came within 5 s", NULL);
}

// Makes |call| (taken over) one of |health|, with no batch yet; NULL if it is refused.
static health_call_t* health_add_call(health_t* health, grpc_call* call, bool is_watch) {
  bool has_room = health->call_count < TFRT_TUNING_HEALTH_CALLS;
  health_call_t* taken =
      has_room ? tfrt_allocator_allocate_zeroed(health->allocator, sizeof(*taken)) : NULL;
  if (!taken) {
    const char* reason = has_room ? "out of memory" : "too many calls to the health service";
    grpc_call_cancel_with_status(call, GRPC_STATUS_RESOURCE_EXHAUSTED, reason, NULL);
    grpc_call_unref(call);
    return NULL;
  }
  health_enter(health);
  ++health->call_count;
  tfrt_list_initialize(&taken->link);
  taken->health = health;
  taken->call = call;
  taken->is_watch = is_watch;
  taken->details = grpc_empty_slice();
  tfrt_grpc_event_initialize(&taken->received, health_on_received);
  tfrt_grpc_event_initialize(&taken->sent, health_on_sent);
  tfrt_grpc_event_initialize(&taken->ended, health_on_ended);
  const int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  taken->timer.deadline_ns = tfrt_deadline_after(now_ns, TFRT_TUNING_HEALTH_REQUEST_NS);
  taken->timer.expire = health_on_time_is_up;
  tfrt_grpc_queue_add_timer(health->queue, &taken->timer);
  return taken;
}

static void health_take_call(health_t* health, grpc_call* call, bool is_watch) {
  health_call_t* taken = health_add_call(health, call, is_watch);
  if (!taken) return;
  grpc_op end = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
  end.data.recv_close_on_server.cancelled = &taken->is_cancelled;
  health_start(taken, &end, 1, &taken->ended);
  grpc_op open[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_MESSAGE}};
  open[1].data.recv_message.recv_message = &taken->request;
  health_start(taken, open, 2, &taken->received);
}

// --- Health: the process ------------------------------------------------------

static void health_on_told(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  health_t* health = TFRT_CONTAINER_OF(event, health_t, told);
  tfrt_mutex_lock(&health->mutex);
  health->is_posted = false;
  tfrt_mutex_unlock(&health->mutex);
  for (tfrt_list_link_t* link = health->watchers.next; link != &health->watchers;
       link = link->next) {
    health_tell(TFRT_CONTAINER_OF(link, health_call_t, link));
  }
  health_leave(health);
}

static void health_initialize(health_t* health, tfrt_grpc_queue_t* queue,
                              tfrt_allocator_t allocator) {
  *health = (health_t){.allocator = allocator, .queue = queue, .is_serving = true};
  tfrt_mutex_initialize(&health->mutex);
  tfrt_condition_initialize(&health->changed);
  tfrt_list_initialize(&health->watchers);
  tfrt_grpc_event_initialize(&health->told, health_on_told);
}

static void health_set_serving(health_t* health, bool is_serving) {
  tfrt_mutex_lock(&health->mutex);
  bool is_due = health->is_serving != is_serving && !health->is_posted;
  health->is_serving = is_serving;
  health->is_posted = health->is_posted || is_due;
  if (is_due) ++health->busy;
  tfrt_mutex_unlock(&health->mutex);
  // A queue that is shut down has no watchers any more.
  if (is_due && !tfrt_grpc_queue_post(health->queue, &health->told)) health_leave(health);
}

// Waits until |health| has no call any more, at most until |deadline_ns|; whether it has none.
static bool health_drain(health_t* health, int64_t deadline_ns) {
  bool is_in_time = true;
  tfrt_mutex_lock(&health->mutex);
  while (is_in_time && health->busy > 0) {
    is_in_time = tfrt_condition_wait_until(&health->changed, &health->mutex, deadline_ns);
  }
  bool is_drained = health->busy == 0;
  tfrt_mutex_unlock(&health->mutex);
  return is_drained;
}

static void health_deinitialize(health_t* health) {
  tfrt_condition_deinitialize(&health->changed);
  tfrt_mutex_deinitialize(&health->mutex);
}

// --- The listener -------------------------------------------------------------

typedef struct listener_s listener_t;

typedef struct slot_s {
  tfrt_grpc_event_t requested;
  listener_t* listener;
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

struct listener_s {
  tfrt_grpc_listener_t base;
  tfrt_allocator_t allocator;
  tfrt_transport_acceptor_t* acceptor;
  tfrt_grpc_connection_set_t* set;
  tfrt_grpc_queue_t* first_queue;
  bool has_one_control_queue;
  grpc_server* server;
  tfrt_grpc_admission_t* admission;  // NULL: gRPC listens
  health_t health;
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
  tfrt_grpc_event_hand_over(&slot->requested);
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

static void retire(listener_t* listener) {
  tfrt_mutex_lock(&listener->mutex);
  --listener->asking;
  tfrt_condition_broadcast(&listener->changed);
  tfrt_mutex_unlock(&listener->mutex);
}

static void on_requested(tfrt_grpc_event_t* event, bool is_ok) {
  slot_t* slot = TFRT_CONTAINER_OF(event, slot_t, requested);
  listener_t* listener = slot->listener;
  if (is_ok && slot->is_health) {
    if (listener->admission) tfrt_grpc_admission_note_call(listener->admission, slot->call, true);
    health_take_call(&listener->health, slot->call, slot->is_watch);
  } else if (is_ok) {
    const tfrt_grpc_accept_context_t context = {
        .acceptor = slot->method ? listener->acceptor : NULL,
        .queue = slot->queue,
        .set = listener->set,
        .admission = listener->admission,
        .may_bundle =
            slot->method && slot->kind == TFRT_TRANSPORT_CONTROL && listener->has_one_control_queue,
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

static void add_slot(listener_t* listener, tfrt_grpc_queue_t* queue, void* method,
                     tfrt_transport_kind_t kind) {
  slot_t* slot = &listener->slots[listener->slot_count++];
  tfrt_grpc_event_initialize(&slot->requested, on_requested);
  slot->listener = listener;
  slot->queue = queue;
  slot->method = method;
  slot->kind = kind;
}

static void add_slots(listener_t* listener, tfrt_grpc_queue_t** queues, uint32_t count,
                      void* method, tfrt_transport_kind_t kind) {
  for (uint32_t i = 0; i < count * TFRT_TUNING_GRPC_SLOTS_PER_QUEUE; ++i) {
    add_slot(listener, queues[i % count], method, kind);
  }
}

// Probes are few: one slot each.
static void add_health_slot(listener_t* listener, tfrt_grpc_queue_t* queue, const char* method,
                            bool is_watch) {
  void* handle =
      grpc_server_register_method(listener->server, method, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
  add_slot(listener, queue, handle, TFRT_TRANSPORT_CONTROL);
  listener->slots[listener->slot_count - 1].is_health = true;
  listener->slots[listener->slot_count - 1].is_watch = is_watch;
}

// --- Life --------------------------------------------------------------------

static void on_shut_down(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  listener_t* listener = TFRT_CONTAINER_OF(event, listener_t, shut_down);
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

static void start_server(listener_t* listener, const tfrt_grpc_queues_t* queues) {
  grpc_server* server = listener->server;
  register_queues(server, queues);
  void* control =
      grpc_server_register_method(server, TFRT_GRPC_CONTROL_METHOD, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
  void* bulk =
      grpc_server_register_method(server, TFRT_GRPC_BULK_METHOD, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
  add_health_slot(listener, queues->control[0], HEALTH_CHECK_METHOD, false);
  add_health_slot(listener, queues->control[0], HEALTH_WATCH_METHOD, true);
  grpc_server_start(server);
  add_slots(listener, queues->control, queues->control_count, control, TFRT_TRANSPORT_CONTROL);
  add_slots(listener, queues->bulk, queues->bulk_count, bulk, TFRT_TRANSPORT_BULK);
  add_slot(listener, queues->control[0], NULL, TFRT_TRANSPORT_CONTROL);
  listener->asking = listener->slot_count;  // before any event can retire one
  for (size_t i = 0; i < listener->slot_count; ++i) ask(&listener->slots[i]);
}

static listener_t* allocate(const tfrt_grpc_listener_options_t* options,
                            tfrt_allocator_t allocator) {
  listener_t* listener = tfrt_allocator_allocate_zeroed(allocator, sizeof(*listener));
  if (!listener) return NULL;
  listener->slot_capacity = count_slots(&options->queues);
  listener->slots =
      tfrt_allocator_allocate_array(allocator, listener->slot_capacity, sizeof(slot_t));
  if (!listener->slots) {
    tfrt_allocator_free(allocator, listener, sizeof(*listener));
    return NULL;
  }
  tfrt_list_initialize(&listener->base.link);
  listener->allocator = allocator;
  listener->acceptor = options->acceptor;
  listener->set = options->set;
  listener->first_queue = options->queues.control[0];
  listener->has_one_control_queue = options->queues.control_count == 1;
  tfrt_grpc_event_initialize(&listener->shut_down, on_shut_down);
  tfrt_mutex_initialize(&listener->mutex);
  tfrt_condition_initialize(&listener->changed);
  listener->server = tfrt_grpc_server_open(&options->settings);
  health_initialize(&listener->health, listener->first_queue, allocator);
  return listener;
}

// Returns the port, or 0. The connections of a numeric address in plain text are admitted.
static int bind_port(listener_t* listener, const char* address,
                     const tfrt_grpc_channel_settings_t* settings) {
  if (settings->credentials->is_encrypted ||
      tfrt_grpc_address_kind(address) != TFRT_GRPC_ADDRESS_NUMERIC) {
    return grpc_server_add_http2_port(listener->server, address, settings->credentials->server);
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
  listener_t* listener = allocate(options, allocator);
  if (!listener) return tfrt_status_out_of_memory();
  int port = bind_port(listener, address, &options->settings);
  if (port == 0) {
    // It never started, so there is nothing to wait for.
    tfrt_grpc_listener_free(&listener->base);
    return tfrt_grpc_address_explain(address);
  }
  start_server(listener, &options->queues);
  tfrt_status_t status =
      listener->admission ? tfrt_grpc_admission_start(listener->admission, listener->server) : NULL;
  if (status) {
    tfrt_grpc_listener_stop(&listener->base, TFRT_GRPC_LISTENER_CLOSED);
    (void)tfrt_grpc_listener_drain(&listener->base, TFRT_TIME_INFINITE);
    tfrt_grpc_listener_free(&listener->base);
    return status;
  }
  tfrt_grpc_address_with_port(address, port, out_address);
  *out_listener = &listener->base;
  return NULL;
}

static listener_t* listener_of(tfrt_grpc_listener_t* base) {
  return TFRT_CONTAINER_OF(base, listener_t, base);
}

static void stop_listening(listener_t* listener) {
  tfrt_mutex_lock(&listener->mutex);
  bool is_first = !listener->is_retired;
  listener->is_retired = true;
  tfrt_mutex_unlock(&listener->mutex);
  if (!is_first) return;
  if (listener->admission) tfrt_grpc_admission_stop(listener->admission);
  tfrt_grpc_event_hand_over(&listener->shut_down);
  grpc_server_shutdown_and_notify(listener->server, listener->first_queue->completion_queue,
                                  &listener->shut_down);
}

void tfrt_grpc_listener_stop(tfrt_grpc_listener_t* base, tfrt_grpc_listener_stop_t stop) {
  listener_t* listener = listener_of(base);
  stop_listening(listener);
  if (stop == TFRT_GRPC_LISTENER_CLOSED) grpc_server_cancel_all_calls(listener->server);
}

bool tfrt_grpc_listener_drain(tfrt_grpc_listener_t* base, int64_t deadline_ns) {
  listener_t* listener = listener_of(base);
  bool is_in_time = true;
  tfrt_mutex_lock(&listener->mutex);
  while (is_in_time && (listener->asking > 0 || !listener->is_shut_down)) {
    is_in_time = tfrt_condition_wait_until(&listener->changed, &listener->mutex, deadline_ns);
  }
  bool is_drained = listener->asking == 0 && listener->is_shut_down;
  tfrt_mutex_unlock(&listener->mutex);
  return is_drained && health_drain(&listener->health, deadline_ns);
}

void tfrt_grpc_listener_set_serving(tfrt_grpc_listener_t* base, bool is_serving) {
  health_set_serving(&listener_of(base)->health, is_serving);
}

void tfrt_grpc_listener_free(tfrt_grpc_listener_t* base) {
  listener_t* listener = listener_of(base);
  tfrt_grpc_admission_release(listener->admission);
  grpc_server_destroy(listener->server);
  health_deinitialize(&listener->health);
  tfrt_condition_deinitialize(&listener->changed);
  tfrt_mutex_deinitialize(&listener->mutex);
  tfrt_allocator_free(listener->allocator, listener->slots,
                      listener->slot_capacity * sizeof(slot_t));
  tfrt_allocator_free(listener->allocator, listener, sizeof(*listener));
}
