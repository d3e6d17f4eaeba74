// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/health.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <string.h>

#include "distributed/tuning/tuning.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/string_view.h"

// The longest request that is looked at; a service has a short name.
#define MAX_REQUEST_SIZE 1024

// Numbers of the contract.
enum { STATUS_SERVING = 1, STATUS_NOT_SERVING = 2, STATUS_SERVICE_UNKNOWN = 3 };

typedef struct health_call_s {
  tfrt_list_link_t link;  // among the watchers
  tfrt_grpc_health_t* health;
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

// --- Counting ------------------------------------------------------------------

static void enter(tfrt_grpc_health_t* health) {
  tfrt_mutex_lock(&health->mutex);
  ++health->busy;
  tfrt_mutex_unlock(&health->mutex);
}

static void leave(tfrt_grpc_health_t* health) {
  tfrt_mutex_lock(&health->mutex);
  --health->busy;
  tfrt_condition_broadcast(&health->changed);
  tfrt_mutex_unlock(&health->mutex);
}

static bool serves(tfrt_grpc_health_t* health) {
  tfrt_mutex_lock(&health->mutex);
  bool is_serving = health->is_serving;
  tfrt_mutex_unlock(&health->mutex);
  return is_serving;
}

// --- Calls ---------------------------------------------------------------------

static void start(health_call_t* call, const grpc_op* operations, size_t count,
                  tfrt_grpc_event_t* event) {
  ++call->pending;
  tfrt_grpc_queue_start_batch(call->call, operations, count, event);
}

// A batch is done; the call goes with its last one.
static void settle(health_call_t* call) {
  if (--call->pending > 0) return;
  tfrt_grpc_health_t* health = call->health;
  tfrt_list_remove(&call->link);
  --health->call_count;
  grpc_byte_buffer_destroy(call->request);
  grpc_slice_unref(call->details);
  grpc_call_unref(call->call);
  tfrt_allocator_free(health->allocator, call, sizeof(*call));
  leave(health);
}

static int status_of(health_call_t* call) {
  if (!call->is_known) return STATUS_SERVICE_UNKNOWN;
  return serves(call->health) ? STATUS_SERVING : STATUS_NOT_SERVING;
}

// The response with |status|: its field 1.
static grpc_byte_buffer* make_response(int status) {
  const char bytes[] = {0x08, (char)status};
  grpc_slice slice = grpc_slice_from_copied_buffer(bytes, sizeof(bytes));
  grpc_byte_buffer* response = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  return response;
}

// Tells a watcher the status, unless it knows it or hears of another one right now.
static void tell(health_call_t* call) {
  int status = status_of(call);
  if (call->is_over || call->response || call->told == status) return;
  call->told = status;
  call->response = make_response(status);
  grpc_op message = {.op = GRPC_OP_SEND_MESSAGE};
  message.data.send_message.send_message = call->response;
  start(call, &message, 1, &call->sent);
}

// Ends a call with |code|, behind the status if that is OK.
static void finish(health_call_t* call, grpc_status_code code, const char* details) {
  grpc_op operations[2] = {{.op = GRPC_OP_SEND_STATUS_FROM_SERVER}};
  size_t count = 1;
  call->details = grpc_slice_from_static_string(details);
  operations[0].data.send_status_from_server.status = code;
  operations[0].data.send_status_from_server.status_details = &call->details;
  if (code == GRPC_STATUS_OK) {
    call->response = make_response(status_of(call));
    operations[count].op = GRPC_OP_SEND_MESSAGE;
    operations[count++].data.send_message.send_message = call->response;
  }
  start(call, operations, count, &call->sent);
}

static void on_sent(tfrt_grpc_event_t* event, bool is_ok) {
  health_call_t* call = TFRT_CONTAINER_OF(event, health_call_t, sent);
  grpc_byte_buffer_destroy(call->response);
  call->response = NULL;
  if (is_ok && call->is_watch) tell(call);
  settle(call);
}

static void on_ended(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  health_call_t* call = TFRT_CONTAINER_OF(event, health_call_t, ended);
  call->is_over = true;
  settle(call);
}

// --- Requests ------------------------------------------------------------------

// Reads a varint off |*rest|.
static bool read_varint(tfrt_string_view_t* rest, uint64_t* out_number) {
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
static bool read_service(tfrt_string_view_t request, tfrt_string_view_t* out_service) {
  *out_service = tfrt_string_view_of("");
  while (request.size > 0) {
    uint64_t tag = 0;
    uint64_t size = 0;
    if (!read_varint(&request, &tag)) return false;
    if ((tag & 7) == 0 && !read_varint(&request, &size)) return false;
    if ((tag & 7) == 0) continue;
    if ((tag & 7) == 2 && !read_varint(&request, &size)) return false;
    if ((tag & 7) == 1) size = 8;
    if ((tag & 7) == 5) size = 4;
    if ((tag & 7) == 3 || (tag & 7) == 4 || (tag & 7) > 5 || size > request.size) return false;
    if (tag == ((1u << 3) | 2)) *out_service = tfrt_string_view_make(request.data, (size_t)size);
    request = tfrt_string_view_make(request.data + size, request.size - (size_t)size);
  }
  return true;
}

// Reads the request of |call|; false if it is none.
static bool read_request(health_call_t* call) {
  if (!call->request || grpc_byte_buffer_length(call->request) > MAX_REQUEST_SIZE) return false;
  grpc_byte_buffer_reader reader;
  if (!grpc_byte_buffer_reader_init(&reader, call->request)) return false;
  grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
  grpc_byte_buffer_reader_destroy(&reader);
  tfrt_string_view_t service;
  bool is_good = read_service(
      tfrt_string_view_make((const char*)GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice)),
      &service);
  call->is_known =
      is_good && (service.size == 0 ||
                  tfrt_string_view_equal(service, tfrt_string_view_of("tfrt.peer.v1.Peer")));
  grpc_slice_unref(slice);
  return is_good;
}

static void on_received(tfrt_grpc_event_t* event, bool is_ok) {
  health_call_t* call = TFRT_CONTAINER_OF(event, health_call_t, received);
  tfrt_grpc_queue_remove_timer(&call->timer);
  if (is_ok && !call->is_over) {
    if (!read_request(call)) {
      finish(call, GRPC_STATUS_INVALID_ARGUMENT, "this is no HealthCheckRequest");
    } else if (call->is_watch) {
      tfrt_list_push_back(&call->health->watchers, &call->link);
      tell(call);
    } else if (call->is_known) {
      finish(call, GRPC_STATUS_OK, "");
    } else {
      finish(call, GRPC_STATUS_NOT_FOUND, "there is only the service tfrt.peer.v1.Peer here");
    }
  }
  settle(call);
}

// No request came: |received| and |ended| follow.
static void on_time_is_up(tfrt_grpc_timer_t* timer) {
  health_call_t* call = TFRT_CONTAINER_OF(timer, health_call_t, timer);
  grpc_call_cancel_with_status(call->call, GRPC_STATUS_DEADLINE_EXCEEDED,
                               "no HealthCheckRequest came within 5 s", NULL);
}

// Makes |call| (taken over) one of |health|, with no batch yet; NULL if it is refused.
static health_call_t* add_call(tfrt_grpc_health_t* health, grpc_call* call, bool is_watch) {
  bool has_room = health->call_count < TFRT_TUNING_HEALTH_CALLS;
  health_call_t* taken =
      has_room ? tfrt_allocator_allocate_zeroed(health->allocator, sizeof(*taken)) : NULL;
  if (!taken) {
    const char* reason = has_room ? "out of memory" : "too many calls to the health service";
    grpc_call_cancel_with_status(call, GRPC_STATUS_RESOURCE_EXHAUSTED, reason, NULL);
    grpc_call_unref(call);
    return NULL;
  }
  enter(health);
  ++health->call_count;
  tfrt_list_initialize(&taken->link);
  taken->health = health;
  taken->call = call;
  taken->is_watch = is_watch;
  taken->details = grpc_empty_slice();
  tfrt_grpc_event_initialize(&taken->received, on_received);
  tfrt_grpc_event_initialize(&taken->sent, on_sent);
  tfrt_grpc_event_initialize(&taken->ended, on_ended);
  const int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  taken->timer.deadline_ns = tfrt_deadline_after(now_ns, TFRT_TUNING_HEALTH_REQUEST_NS);
  taken->timer.expire = on_time_is_up;
  tfrt_grpc_queue_add_timer(health->queue, &taken->timer);
  return taken;
}

void tfrt_grpc_health_take_call(tfrt_grpc_health_t* health, grpc_call* call, bool is_watch) {
  health_call_t* taken = add_call(health, call, is_watch);
  if (!taken) return;
  grpc_op end = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
  end.data.recv_close_on_server.cancelled = &taken->is_cancelled;
  start(taken, &end, 1, &taken->ended);
  grpc_op open[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_MESSAGE}};
  open[1].data.recv_message.recv_message = &taken->request;
  start(taken, open, 2, &taken->received);
}

// --- The process ---------------------------------------------------------------

static void on_told(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  tfrt_grpc_health_t* health = TFRT_CONTAINER_OF(event, tfrt_grpc_health_t, told);
  tfrt_mutex_lock(&health->mutex);
  health->is_posted = false;
  tfrt_mutex_unlock(&health->mutex);
  for (tfrt_list_link_t* link = health->watchers.next; link != &health->watchers;
       link = link->next) {
    tell(TFRT_CONTAINER_OF(link, health_call_t, link));
  }
  leave(health);
}

void tfrt_grpc_health_initialize(tfrt_grpc_health_t* health, tfrt_grpc_queue_t* queue,
                                 tfrt_allocator_t allocator) {
  *health = (tfrt_grpc_health_t){.allocator = allocator, .queue = queue, .is_serving = true};
  tfrt_mutex_initialize(&health->mutex);
  tfrt_condition_initialize(&health->changed);
  tfrt_list_initialize(&health->watchers);
  tfrt_grpc_event_initialize(&health->told, on_told);
}

void tfrt_grpc_health_set_serving(tfrt_grpc_health_t* health, bool is_serving) {
  tfrt_mutex_lock(&health->mutex);
  bool is_due = health->is_serving != is_serving && !health->is_posted;
  health->is_serving = is_serving;
  health->is_posted = health->is_posted || is_due;
  if (is_due) ++health->busy;
  tfrt_mutex_unlock(&health->mutex);
  // A queue that is shut down has no watchers any more.
  if (is_due && !tfrt_grpc_queue_post(health->queue, &health->told)) leave(health);
}

void tfrt_grpc_health_drain(tfrt_grpc_health_t* health) {
  tfrt_mutex_lock(&health->mutex);
  while (health->busy > 0) tfrt_condition_wait(&health->changed, &health->mutex);
  tfrt_mutex_unlock(&health->mutex);
}

bool tfrt_grpc_health_is_drained(tfrt_grpc_health_t* health) {
  tfrt_mutex_lock(&health->mutex);
  bool is_drained = health->busy == 0;
  tfrt_mutex_unlock(&health->mutex);
  return is_drained;
}

void tfrt_grpc_health_deinitialize(tfrt_grpc_health_t* health) {
  tfrt_condition_deinitialize(&health->changed);
  tfrt_mutex_deinitialize(&health->mutex);
}
