// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/transport/grpc/plain_grpc_client.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>
#include <stdbool.h>
#include <string.h>

#include "distributed/transport/grpc/credentials.h"
#include "distributed/transport/grpc/grpc_library.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "tests/distributed/transport/grpc/plain_grpc_server.h"

#define PATIENCE_S 60

typedef struct plain_call_s {
  grpc_call* call;
  int64_t number;  // that it sends and shall get back
  grpc_byte_buffer* sent;
  grpc_byte_buffer* received;
  grpc_metadata_array initial;
  grpc_metadata_array trailing;
  grpc_status_code code;
  grpc_slice details;
} plain_call_t;

struct plain_grpc_client_s {
  grpc_channel* channel;
  grpc_completion_queue* queue;
  void* echo;
  void* drain;
  void* bounce;
  tfrt_grpc_credential_set_t credentials;
  plain_call_t calls[PLAIN_GRPC_OUTSTANDING];
};

// --- Messages ------------------------------------------------------------------

static grpc_byte_buffer* make_message(int64_t number) {
  char bytes[PLAIN_GRPC_MESSAGE_SIZE] = {0};
  memcpy(bytes, &number, sizeof(number));
  grpc_slice slice = grpc_slice_from_copied_buffer(bytes, sizeof(bytes));
  grpc_byte_buffer* message = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  return message;
}

// Whether |message|, which may be NULL, has |size| bytes; copies them to |out_bytes|.
static bool read_message(grpc_byte_buffer* message, void* out_bytes, size_t size) {
  grpc_byte_buffer_reader reader;
  if (!message || grpc_byte_buffer_length(message) != size) return false;
  if (!grpc_byte_buffer_reader_init(&reader, message)) return false;
  char* target = out_bytes;
  for (grpc_slice* slice; grpc_byte_buffer_reader_peek(&reader, &slice);) {
    memcpy(target, GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
    target += GRPC_SLICE_LENGTH(*slice);
  }
  grpc_byte_buffer_reader_destroy(&reader);
  return true;
}

static void drop_message(grpc_byte_buffer** message) {
  if (*message) grpc_byte_buffer_destroy(*message);
  *message = NULL;
}

// --- Calls ---------------------------------------------------------------------

static void open_call(plain_grpc_client_t* client, void* method, plain_call_t* call) {
  call->call = grpc_channel_create_registered_call(client->channel, NULL, GRPC_PROPAGATE_DEFAULTS,
                                                   client->queue, method,
                                                   gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
  call->code = GRPC_STATUS_UNKNOWN;
}

static bool start(plain_call_t* call, const grpc_op* operations, size_t count) {
  return grpc_call_start_batch(call->call, operations, count, call, NULL) == GRPC_CALL_OK;
}

// Gives back what |call|, which is over, still has; returns whether its server was content.
static bool close_call(plain_call_t* call) {
  bool is_ok = call->code == GRPC_STATUS_OK;
  drop_message(&call->sent);
  drop_message(&call->received);
  grpc_slice_unref(call->details);
  call->details = grpc_empty_slice();
  call->initial.count = call->trailing.count = 0;
  grpc_call_unref(call->call);
  call->call = NULL;
  return is_ok;
}

// The operations that get the answer and the end of |call|.
static void fill_end(plain_call_t* call, grpc_op operations[2]) {
  operations[0] = (grpc_op){.op = GRPC_OP_RECV_MESSAGE};
  operations[0].data.recv_message.recv_message = &call->received;
  operations[1] = (grpc_op){.op = GRPC_OP_RECV_STATUS_ON_CLIENT};
  operations[1].data.recv_status_on_client.trailing_metadata = &call->trailing;
  operations[1].data.recv_status_on_client.status = &call->code;
  operations[1].data.recv_status_on_client.status_details = &call->details;
}

// The call whose operation is done; NULL if none is in time.
static plain_call_t* await_event(plain_grpc_client_t* client) {
  gpr_timespec deadline =
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(PATIENCE_S, GPR_TIMESPAN));
  grpc_event event = grpc_completion_queue_next(client->queue, deadline, NULL);
  return event.type == GRPC_OP_COMPLETE ? event.tag : NULL;
}

static tfrt_status_t failure(const char* what) {
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s", what);
}

static bool start_echo(plain_grpc_client_t* client, plain_call_t* call, int64_t number) {
  open_call(client, client->echo, call);
  call->number = number;
  call->sent = make_message(number);
  grpc_op operations[6] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},
                           {.op = GRPC_OP_SEND_MESSAGE},
                           {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
                           {.op = GRPC_OP_RECV_INITIAL_METADATA}};
  operations[1].data.send_message.send_message = call->sent;
  operations[3].data.recv_initial_metadata.recv_initial_metadata = &call->initial;
  fill_end(call, &operations[4]);
  return start(call, operations, TFRT_ARRAY_SIZE(operations));
}

// Whether what |call| has received is what it sent.
static bool has_come_back(const plain_call_t* call) {
  char bytes[PLAIN_GRPC_MESSAGE_SIZE];
  return read_message(call->received, bytes, sizeof(bytes)) &&
         memcmp(bytes, &call->number, sizeof(call->number)) == 0;
}

// The same, of one that is over.
static bool end_echo(plain_call_t* call) {
  bool is_same = has_come_back(call);
  return close_call(call) && is_same;
}

tfrt_status_t plain_grpc_client_call(plain_grpc_client_t* client, int64_t count) {
  int64_t begun = 0;
  bool is_ok = true;
  for (; is_ok && begun < count && begun < PLAIN_GRPC_OUTSTANDING; ++begun) {
    is_ok = start_echo(client, &client->calls[begun], begun);
  }
  for (int64_t ended = 0; is_ok && ended < count; ++ended) {
    plain_call_t* call = await_event(client);
    is_ok = call && end_echo(call);
    if (is_ok && begun < count) is_ok = start_echo(client, call, begun++);
  }
  return is_ok ? NULL : failure("a unary call gave no answer, or a wrong one");
}

// --- Streams -------------------------------------------------------------------

// Starts the operation and waits until it is done.
static bool run(plain_grpc_client_t* client, plain_call_t* call, const grpc_op* operations,
                size_t count) {
  return start(call, operations, count) && await_event(client) == call;
}

static bool open_stream(plain_grpc_client_t* client, void* method, plain_call_t* call) {
  open_call(client, method, call);
  grpc_op operations[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},
                           {.op = GRPC_OP_RECV_INITIAL_METADATA}};
  operations[1].data.recv_initial_metadata.recv_initial_metadata = &call->initial;
  return run(client, call, operations, TFRT_ARRAY_SIZE(operations));
}

// Ends the stream at this side and waits for what the server says to it.
static bool end_stream(plain_grpc_client_t* client, plain_call_t* call) {
  grpc_op operations[3] = {{.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT}};
  fill_end(call, &operations[1]);
  return run(client, call, operations, TFRT_ARRAY_SIZE(operations));
}

static bool send_messages(plain_grpc_client_t* client, plain_call_t* call, int64_t count) {
  bool is_ok = true;
  for (int64_t i = 0; is_ok && i < count; ++i) {
    call->sent = make_message(i);
    grpc_op operation = {.op = GRPC_OP_SEND_MESSAGE, .flags = GRPC_WRITE_BUFFER_HINT};
    operation.data.send_message.send_message = call->sent;
    is_ok = run(client, call, &operation, 1);
    if (is_ok) drop_message(&call->sent);
  }
  return is_ok;
}

tfrt_status_t plain_grpc_client_send(plain_grpc_client_t* client, int64_t count) {
  plain_call_t* call = &client->calls[0];
  bool is_ok = open_stream(client, client->drain, call) && send_messages(client, call, count) &&
               end_stream(client, call);
  if (!is_ok) return failure("a stream broke");
  plain_grpc_drained_t drained;
  is_ok = read_message(call->received, &drained, sizeof(drained)) &&
          drained.messages == (uint64_t)count &&
          drained.bytes == (uint64_t)count * PLAIN_GRPC_MESSAGE_SIZE;
  is_ok = close_call(call) && is_ok;
  return is_ok ? NULL : failure("the server has not got all messages");
}

static bool bounce_messages(plain_grpc_client_t* client, plain_call_t* call, int64_t count) {
  bool is_ok = true;
  for (int64_t i = 0; is_ok && i < count; ++i) {
    call->number = i;
    call->sent = make_message(i);
    grpc_op operations[2] = {{.op = GRPC_OP_SEND_MESSAGE}, {.op = GRPC_OP_RECV_MESSAGE}};
    operations[0].data.send_message.send_message = call->sent;
    operations[1].data.recv_message.recv_message = &call->received;
    is_ok = run(client, call, operations, 2);
    if (!is_ok) break;
    is_ok = has_come_back(call);
    drop_message(&call->sent);
    drop_message(&call->received);
  }
  return is_ok;
}

tfrt_status_t plain_grpc_client_bounce(plain_grpc_client_t* client, int64_t count) {
  plain_call_t* call = &client->calls[0];
  bool is_ok = open_stream(client, client->bounce, call) && bounce_messages(client, call, count) &&
               end_stream(client, call);
  if (!is_ok) return failure("a stream gave no answer, or a wrong one");
  return close_call(call) ? NULL : failure("the server was not content with a stream");
}

// --- Life ----------------------------------------------------------------------

static void open_channel(plain_grpc_client_t* client, const char* address) {
  grpc_arg no_retries = {.type = GRPC_ARG_INTEGER, .key = (char*)GRPC_ARG_ENABLE_RETRIES};
  grpc_channel_args arguments = {1, &no_retries};
  client->channel = grpc_channel_create(address, client->credentials.channel, &arguments);
  client->queue = grpc_completion_queue_create_for_next(NULL);
  client->echo = grpc_channel_register_call(client->channel, PLAIN_GRPC_ECHO, NULL, NULL);
  client->drain = grpc_channel_register_call(client->channel, PLAIN_GRPC_DRAIN, NULL, NULL);
  client->bounce = grpc_channel_register_call(client->channel, PLAIN_GRPC_BOUNCE, NULL, NULL);
}

tfrt_status_t plain_grpc_client_allocate(const char* address,
                                         const tfrt_grpc_credentials_t* credentials,
                                         plain_grpc_client_t** out_client) {
  *out_client = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_grpc_process_enter());
  plain_grpc_client_t* client =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*client));
  if (!client) {
    tfrt_grpc_process_leave();
    return tfrt_status_out_of_memory();
  }
  tfrt_status_t status = tfrt_grpc_credential_set_initialize(&client->credentials, credentials);
  if (status) {
    tfrt_grpc_process_leave();
    tfrt_allocator_free(tfrt_allocator_system(), client, sizeof(*client));
    return status;
  }
  for (size_t i = 0; i < PLAIN_GRPC_OUTSTANDING; ++i) {
    grpc_metadata_array_init(&client->calls[i].initial);
    grpc_metadata_array_init(&client->calls[i].trailing);
    client->calls[i].details = grpc_empty_slice();
  }
  open_channel(client, address);
  *out_client = client;
  return NULL;
}

void plain_grpc_client_free(plain_grpc_client_t* client) {
  if (!client) return;
  // After a failure there are calls on their way, whose operations end when they are cancelled.
  for (size_t i = 0; i < PLAIN_GRPC_OUTSTANDING; ++i) {
    if (client->calls[i].call) grpc_call_cancel(client->calls[i].call, NULL);
  }
  grpc_completion_queue_shutdown(client->queue);
  const gpr_timespec never = gpr_inf_future(GPR_CLOCK_MONOTONIC);
  while (grpc_completion_queue_next(client->queue, never, NULL).type == GRPC_OP_COMPLETE) {
  }
  for (size_t i = 0; i < PLAIN_GRPC_OUTSTANDING; ++i) {
    if (client->calls[i].call) (void)close_call(&client->calls[i]);
    grpc_metadata_array_destroy(&client->calls[i].initial);
    grpc_metadata_array_destroy(&client->calls[i].trailing);
  }
  grpc_completion_queue_destroy(client->queue);
  grpc_channel_destroy(client->channel);
  tfrt_grpc_credential_set_deinitialize(&client->credentials);
  tfrt_grpc_process_leave();
  tfrt_allocator_free(tfrt_allocator_system(), client, sizeof(*client));
}
