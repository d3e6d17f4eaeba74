// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/grpc/plain_grpc_server.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "distributed/grpc/process.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"

// Calls that the server asks for in advance.
#define ECHO_SLOTS 64
#define DRAIN_SLOTS 2

typedef struct slot_s slot_t;
typedef void (*slot_fn_t)(slot_t* slot, bool is_ok);

// A call that comes, or is served; used again and again.
struct slot_s {
  slot_fn_t run;  // the end of what is under way
  bool is_drain;
  grpc_call* call;
  gpr_timespec deadline;
  grpc_metadata_array metadata;
  grpc_byte_buffer* message;  // that came, or goes back
  int was_cancelled;
  plain_grpc_drained_t drained;
};

typedef struct plain_server_s {
  grpc_server* server;
  grpc_completion_queue* queue;
  void* methods[2];  // echo, drain
  slot_t slots[ECHO_SLOTS + DRAIN_SLOTS];
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
      self.server, self.methods[slot->is_drain], &slot->call, &slot->deadline, &slot->metadata,
      slot->is_drain ? NULL : &slot->message, self.queue, self.queue, slot));
}

static void on_over(slot_t* slot, bool is_ok) {
  (void)is_ok;  // the caller knows it
  if (slot->message) grpc_byte_buffer_destroy(slot->message);
  slot->message = NULL;
  grpc_call_unref(slot->call);
  ask(slot);
}

// The answer is in |slot->message|: in one batch with all that ends the call.
static void finish(slot_t* slot) {
  grpc_op operations[4] = {{.op = GRPC_OP_RECV_CLOSE_ON_SERVER},
                           {.op = GRPC_OP_SEND_STATUS_FROM_SERVER},
                           {.op = GRPC_OP_SEND_MESSAGE},
                           {.op = GRPC_OP_SEND_INITIAL_METADATA}};
  operations[0].data.recv_close_on_server.cancelled = &slot->was_cancelled;
  operations[1].data.send_status_from_server.status = GRPC_STATUS_OK;
  operations[2].data.send_message.send_message = slot->message;
  start(slot, operations, slot->is_drain ? 3 : 4, on_over);
}

static void on_drained(slot_t* slot, bool is_ok) {
  if (self.is_stopped) {
    on_over(slot, false);
    return;
  }
  if (is_ok && slot->message) {
    ++slot->drained.messages;
    slot->drained.bytes += grpc_byte_buffer_length(slot->message);
    grpc_byte_buffer_destroy(slot->message);
    slot->message = NULL;
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
  if (!slot->is_drain) {
    finish(slot);
    return;
  }
  grpc_op operations[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_MESSAGE}};
  operations[1].data.recv_message.recv_message = &slot->message;
  start(slot, operations, 2, on_drained);
}

// --- Life --------------------------------------------------------------------

static void on_stopped(slot_t* slot, bool is_ok) {
  (void)slot;
  (void)is_ok;
  self.is_stopped = true;
  grpc_completion_queue_shutdown(self.queue);
}

tfrt_status_t plain_grpc_server_start(char* out_address, size_t size) {
  tfrt_grpc_process_enter();
  self.queue = grpc_completion_queue_create_for_next(NULL);
  self.server = grpc_server_create(NULL, NULL);
  grpc_server_register_completion_queue(self.server, self.queue, NULL);
  self.methods[0] = grpc_server_register_method(self.server, PLAIN_GRPC_ECHO, NULL,
                                                GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
  self.methods[1] =
      grpc_server_register_method(self.server, PLAIN_GRPC_DRAIN, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
  grpc_server_credentials* credentials = grpc_insecure_server_credentials_create();
  int port = grpc_server_add_http2_port(self.server, "127.0.0.1:0", credentials);
  grpc_server_credentials_release(credentials);
  grpc_server_start(self.server);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(self.slots); ++i) {
    self.slots[i].is_drain = i >= ECHO_SLOTS;
    grpc_metadata_array_init(&self.slots[i].metadata);
    ask(&self.slots[i]);
  }
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
  tfrt_grpc_process_leave();
}

void plain_grpc_server_stop(void) {
  self.stopped.run = on_stopped;
  grpc_server_shutdown_and_notify(self.server, self.queue, &self.stopped);
  grpc_server_cancel_all_calls(self.server);
}
