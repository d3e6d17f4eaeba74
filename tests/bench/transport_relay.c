// SPDX-License-Identifier: Apache-2.0
//
// A callee of a chain of calls on bare streams of the transport (relayed_chain.h), as a process.
//
//   transport_relay [PREVIOUS]     the address of the callee before it, if it is not the first
#include <string.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "tests/bench/peer_process.h"
#include "tests/bench/relayed_chain.h"

#define MAX_INCOMING 2  // streams of the caller and of the next callee

typedef struct relay_s {
  tfrt_transport_t* transport;
  tfrt_transport_acceptor_t acceptor;
  tfrt_bench_stream_t previous;
  bool has_previous;
  tfrt_bench_stream_t incoming[MAX_INCOMING];
  int incoming_count;
  tfrt_bench_stream_t* next;  // NULL: not known yet, or there is none
  // The caller of the chain that is under way.
  tfrt_bench_stream_t* caller;  // NULL: it has not invoked this yet
  bool is_last;
  int64_t argument;
  bool has_argument;
  int64_t result;
  bool has_result;  // and nowhere to push it
} relay_t;

// Handlers find the relay here. All of them run on the one thread that reads.
static relay_t relay;

static void send(tfrt_bench_stream_t* stream, tfrt_bench_relayed_kind_t kind, int64_t value) {
  const tfrt_bench_relayed_t message = {.kind = kind, .value = value};
  tfrt_bench_stream_send(stream, &message);
}

static void push_result(void) {
  if (!relay.next || !relay.has_result) return;
  send(relay.next, TFRT_BENCH_RELAYED_PUSH, relay.result);
  relay.has_result = false;
}

// Runs the call if it has been made and has its argument.
static void run(void) {
  if (!relay.caller || !relay.has_argument) return;
  tfrt_bench_stream_t* caller = relay.caller;
  relay.caller = NULL;
  relay.has_argument = false;
  relay.result = relay.argument + 1;
  if (relay.is_last) {
    send(caller, TFRT_BENCH_RELAYED_RESULT, relay.result);
    return;
  }
  relay.has_result = true;
  push_result();
}

static void set_argument(int64_t value) {
  relay.argument = value;
  relay.has_argument = true;
}

static void on_message(tfrt_bench_stream_t* stream, const void* bytes) {
  tfrt_bench_relayed_t message;
  memcpy(&message, bytes, sizeof(message));
  switch (message.kind) {
    case TFRT_BENCH_RELAYED_INVOKE:
      relay.caller = stream;
      relay.is_last = message.is_last != 0;
      if (!relay.has_previous) set_argument(message.value);
      run();
      break;
    case TFRT_BENCH_RELAYED_NEXT:
      relay.next = stream;
      push_result();
      break;
    case TFRT_BENCH_RELAYED_PUSH:
      set_argument(message.value);
      run();
      break;
    default:
      tfrt_transport_connection_abort(stream->connection);
      break;
  }
}

// The process that waits for its messages learns it by itself.
static void on_broken(tfrt_bench_stream_t* stream) { (void)stream; }

static tfrt_status_t accept(tfrt_transport_acceptor_t* acceptor,
                            const tfrt_transport_incoming_t* incoming,
                            tfrt_transport_handler_t** out_handler) {
  (void)acceptor;
  if (relay.incoming_count == MAX_INCOMING) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "there are two streams already");
  }
  tfrt_bench_stream_t* stream = &relay.incoming[relay.incoming_count++];
  *out_handler = &stream->handler;
  tfrt_bench_stream_adopt(stream, incoming->connection);
  return NULL;
}

static const tfrt_transport_acceptor_vtable_t kAcceptorVtable = {accept};

static tfrt_status_t open_relay(const char* previous, char address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  const tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  TFRT_RETURN_IF_ERROR(
      tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &relay.transport));
  relay.has_previous = previous != NULL;
  if (previous) {
    TFRT_RETURN_IF_ERROR(tfrt_bench_stream_dial(&relay.previous, relay.transport, previous));
    send(&relay.previous, TFRT_BENCH_RELAYED_NEXT, 0);
  }
  return tfrt_transport_listen(relay.transport, tfrt_string_view_of("127.0.0.1:0"), &relay.acceptor,
                               address);
}

int main(int argument_count, char** arguments) {
  relay.acceptor.vtable = &kAcceptorVtable;
  tfrt_bench_stream_initialize(&relay.previous, on_message, on_broken);
  for (int i = 0; i < MAX_INCOMING; ++i) {
    tfrt_bench_stream_initialize(&relay.incoming[i], on_message, on_broken);
  }
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_status_t status = open_relay(argument_count > 1 ? arguments[1] : NULL, address);
  const int code = tfrt_bench_peer_say("transport_relay", address, status);
  if (code == 0) tfrt_bench_peer_await_end();
  if (relay.transport) {
    tfrt_transport_close(relay.transport);
    tfrt_transport_drain(relay.transport);
  }
  tfrt_bench_stream_deinitialize(&relay.previous);
  for (int i = 0; i < MAX_INCOMING; ++i) tfrt_bench_stream_deinitialize(&relay.incoming[i]);
  tfrt_transport_release(relay.transport);
  return code;
}
