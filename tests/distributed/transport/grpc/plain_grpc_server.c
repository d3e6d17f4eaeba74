// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/transport/grpc/plain_grpc_server.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "distributed/transport/grpc/credentials.h"
#include "distributed/transport/grpc/grpc_library.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"

// Calls that the server asks for in advance.
#define ECHO_SLOTS 64
#define STREAM_SLOTS 2

typedef enum method_e { ECHO, DRAIN, BOUNCE, METHOD_COUNT } method_t;

static const char* const kNames[METHOD_COUNT] = {PLAIN_GRPC_ECHO, PLAIN_GRPC_DRAIN,
                                                 PLAIN_GRPC_BOUNCE};

typedef struct slot_s slot_t;
typedef void (*slot_fn_t)(slot_t* slot, bool is_ok);

// A call that comes, or is served; used again and again.
struct slot_s {
  slot_fn_t run;  // the end of what is under way
  method_t method;
  grpc_call* call;
  gpr_timespec deadline;
  grpc_metadata_array metadata;
  grpc_byte_buffer* message;  // that came, or goes back at the end
  grpc_byte_buffer* bounced;  // goes back while the next one comes
  int was_cancelled;
  plain_grpc_drained_t drained;
};

typedef struct plain_server_s {
  grpc_server* server;
  grpc_completion_queue* queue;
  tfrt_grpc_credential_set_t credentials;
  void* methods[METHOD_COUNT];
  slot_t slots[ECHO_SLOTS + 2 * STREAM_SLOTS];
  slot_t stopped;   // only its event
  bool is_stopped;  // the server's own: no call any more
} plain_server_t;

static plain_server_t self;

static void check_started(grpc_call_error error) {
  if (error == GRPC_CALL_OK) return;
  tfrt_log(TFRT_LOG_ERROR, NULL, "gRPC does not take an operation: %s",
           grpc_call_error_to_string(error));
  abort();
}

static void start(slot_t* slot, const grpc_op* operations, size_t count, slot_fn_t run) {
  slot->run = run;
  check_started(grpc_call_start_batch(slot->call, operations, count, slot, NULL));
}

static void on_call(slot_t* slot, bool is_ok);

// Asks for the next call to serve.
static void ask(slot_t* slot) {
  slot->call = NULL;
  slot->drained = (plain_grpc_drained_t){0};
  if (self.is_stopped) return;
  slot->run = on_call;
  check_started(grpc_server_request_registered_call(
      self.server, self.methods[slot->method], &slot->call, &slot->deadline, &slot->metadata,
      slot->method == ECHO ? &slot->message : NULL, self.queue, self.queue, slot));
}

static void drop_message(grpc_byte_buffer** message) {
  if (*message) grpc_byte_buffer_destroy(*message);
  *message = NULL;
}

static void on_over(slot_t* slot, bool is_ok) {
  (void)is_ok;  // the caller knows it
  drop_message(&slot->message);
  drop_message(&slot->bounced);
  grpc_call_unref(slot->call);
  ask(slot);
}

// The answer, but that of BOUNCE, is in |slot->message|: in one batch with all that ends the call.
static void finish(slot_t* slot) {
  static const size_t kOperationCounts[METHOD_COUNT] = {[ECHO] = 4, [DRAIN] = 3, [BOUNCE] = 2};
  grpc_op operations[4] = {{.op = GRPC_OP_RECV_CLOSE_ON_SERVER},
                           {.op = GRPC_OP_SEND_STATUS_FROM_SERVER},
                           {.op = GRPC_OP_SEND_MESSAGE},
                           {.op = GRPC_OP_SEND_INITIAL_METADATA}};
  operations[0].data.recv_close_on_server.cancelled = &slot->was_cancelled;
  operations[1].data.send_status_from_server.status = GRPC_STATUS_OK;
  operations[2].data.send_message.send_message = slot->message;
  start(slot, operations, kOperationCounts[slot->method], on_over);
}

static void on_bounced(slot_t* slot, bool is_ok) {
  drop_message(&slot->bounced);
  if (self.is_stopped) {
    on_over(slot, false);
    return;
  }
  if (!is_ok || !slot->message) {
    finish(slot);
    return;
  }
  slot->bounced = slot->message;
  slot->message = NULL;
  grpc_op operations[2] = {{.op = GRPC_OP_SEND_MESSAGE}, {.op = GRPC_OP_RECV_MESSAGE}};
  operations[0].data.send_message.send_message = slot->bounced;
  operations[1].data.recv_message.recv_message = &slot->message;
  start(slot, operations, 2, on_bounced);
}

static void on_drained(slot_t* slot, bool is_ok) {
  if (self.is_stopped) {
    on_over(slot, false);
    return;
  }
  if (is_ok && slot->message) {
    ++slot->drained.messages;
    slot->drained.bytes += grpc_byte_buffer_length(slot->message);
    drop_message(&slot->message);
    grpc_op operation = {.op = GRPC_OP_RECV_MESSAGE};
    operation.data.recv_message.recv_message = &slot->message;
    start(slot, &operation, 1, on_drained);
    return;
  }
  grpc_slice slice =
      grpc_slice_from_copied_buffer((const char*)&slot->drained, sizeof(slot->drained));
  slot->message = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  finish(slot);
}

static void on_call(slot_t* slot, bool is_ok) {
  if (!is_ok) return;  // the server has stopped
  slot->metadata.count = 0;
  if (self.is_stopped) {
    on_over(slot, false);
    return;
  }
  if (slot->method == ECHO) {
    finish(slot);
    return;
  }
  grpc_op operations[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_MESSAGE}};
  operations[1].data.recv_message.recv_message = &slot->message;
  start(slot, operations, 2, slot->method == DRAIN ? on_drained : on_bounced);
}

// --- Life --------------------------------------------------------------------

static void on_stopped(slot_t* slot, bool is_ok) {
  (void)slot;
  (void)is_ok;
  self.is_stopped = true;
  grpc_completion_queue_shutdown(self.queue);
}

// The method of slot |index|.
static method_t method_of(size_t index) {
  if (index < ECHO_SLOTS) return ECHO;
  return index < ECHO_SLOTS + STREAM_SLOTS ? DRAIN : BOUNCE;
}

static void register_methods(void) {
  for (size_t i = 0; i < METHOD_COUNT; ++i) {
    self.methods[i] = grpc_server_register_method(
        self.server, kNames[i], NULL,
        i == ECHO ? GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER : GRPC_SRM_PAYLOAD_NONE, 0);
  }
}

tfrt_status_t plain_grpc_server_start(const tfrt_grpc_credentials_t* credentials, char* out_address,
                                      size_t size) {
  TFRT_RETURN_IF_ERROR(tfrt_grpc_process_enter());
  tfrt_status_t status = tfrt_grpc_credential_set_initialize(&self.credentials, credentials);
  if (status) {
    tfrt_grpc_process_leave();
    return status;
  }
  self.queue = grpc_completion_queue_create_for_next(NULL);
  self.server = grpc_server_create(NULL, NULL);
  grpc_server_register_completion_queue(self.server, self.queue, NULL);
  register_methods();
  int port = grpc_server_add_http2_port(self.server, "127.0.0.1:0", self.credentials.server);
  grpc_server_start(self.server);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(self.slots); ++i) {
    self.slots[i].method = method_of(i);
    grpc_metadata_array_init(&self.slots[i].metadata);
    ask(&self.slots[i]);
  }
  self.stopped.run = on_stopped;
  snprintf(out_address, size, "127.0.0.1:%d", port);
  if (port > 0) return NULL;
  plain_grpc_server_stop();
  plain_grpc_server_serve();
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no port of 127.0.0.1 is free");
}

void plain_grpc_server_serve(void) {
  const gpr_timespec never = gpr_inf_future(GPR_CLOCK_MONOTONIC);
  for (grpc_event event;
       (event = grpc_completion_queue_next(self.queue, never, NULL)).type == GRPC_OP_COMPLETE;) {
    slot_t* slot = event.tag;
    slot->run(slot, event.success != 0);
  }
  grpc_server_destroy(self.server);
  grpc_completion_queue_destroy(self.queue);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(self.slots); ++i) {
    grpc_metadata_array_destroy(&self.slots[i].metadata);
  }
  tfrt_grpc_credential_set_deinitialize(&self.credentials);
  tfrt_grpc_process_leave();
}

void plain_grpc_server_stop(void) {
  grpc_server_shutdown_and_notify(self.server, self.queue, &self.stopped);
  grpc_server_cancel_all_calls(self.server);
}
