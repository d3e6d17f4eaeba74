// SPDX-License-Identifier: Apache-2.0
//
// A process that sends each message back that comes over a stream of the transport, for the
// benchmark of a message and its echo between two processes; what comes over a bulk connection it
// drops. Says where it listens, and ends when its standard input does.
//
//   transport_echo [CA CERTIFICATE KEY]     with files: over TLS
#include <string.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "tests/bench/peer_process.h"

#define MESSAGE_SIZE 4096

typedef struct echo_s {
  tfrt_transport_t* transport;
  tfrt_transport_acceptor_t acceptor;
  tfrt_transport_handler_t handler;
  tfrt_transport_handler_t sink;            // of bulk connections
  tfrt_transport_connection_t* connection;  // +1, when there is one
  tfrt_transport_write_t write;
  tfrt_transport_span_t answer;
  bool is_writing;
  bool is_due;                     // to be written when the write is done
  char messages[2][MESSAGE_SIZE];  // one is on its way, one comes
  int next;
} echo_t;

static echo_t echo;

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status);

static void answer(void) {
  echo.is_due = echo.is_writing;
  if (echo.is_due) return;
  echo.is_writing = true;
  echo.write.spans[0] = echo.answer;
  echo.write.span_count = 1;
  echo.write.on_written = on_written;
  tfrt_status_t status = tfrt_transport_connection_write(echo.connection, &echo.write);
  if (status) tfrt_transport_connection_abort(echo.connection);
  tfrt_status_release(status);
}

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  (void)write;
  echo.is_writing = false;
  if (!status && echo.is_due) answer();
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  (void)handler;
  size_t size = 0;
  char* message = echo.messages[echo.next];
  echo.next = !echo.next;
  for (size_t i = 0; i < span_count && size + spans[i].size <= MESSAGE_SIZE; ++i) {
    memcpy(message + size, spans[i].data, spans[i].size);
    size += spans[i].size;
  }
  echo.answer = (tfrt_transport_span_t){message, size};
  tfrt_transport_connection_receive(connection);
  answer();
}

// The dialler learns it by itself.
static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)handler;
  (void)connection;
  (void)end;
  (void)status;
}

static const tfrt_transport_handler_vtable_t kHandlerVtable = {on_message, on_closed};

static void drop_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                         const tfrt_transport_span_t* spans, size_t span_count) {
  (void)handler;
  (void)spans;
  (void)span_count;
  tfrt_transport_connection_receive(connection);
}

static const tfrt_transport_handler_vtable_t kSinkVtable = {drop_message, on_closed};

static tfrt_status_t accept(tfrt_transport_acceptor_t* acceptor,
                            const tfrt_transport_incoming_t* incoming,
                            tfrt_transport_handler_t** out_handler) {
  (void)acceptor;
  if (incoming->kind == TFRT_TRANSPORT_BULK) {
    *out_handler = &echo.sink;
    tfrt_transport_connection_receive(incoming->connection);
    return NULL;
  }
  if (echo.connection) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "there is one stream already");
  }
  echo.connection = tfrt_transport_connection_retain(incoming->connection);
  *out_handler = &echo.handler;
  tfrt_transport_connection_receive(incoming->connection);
  return NULL;
}

static const tfrt_transport_acceptor_vtable_t kAcceptorVtable = {accept};

static tfrt_status_t open_echo(int argument_count, char** arguments,
                               char address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  if (argument_count == 4) {
    options.credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
    options.credentials.files =
        (tfrt_certificate_files_t){arguments[1], arguments[2], arguments[3]};
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &echo.transport));
  // Without certificates as a name: transport_bench.c says why.
  const char* host = argument_count == 4 ? "127.0.0.1:0" : "localhost:0";
  return tfrt_transport_listen(echo.transport, tfrt_string_view_of(host), &echo.acceptor, address);
}

int main(int argument_count, char** arguments) {
  echo.acceptor.vtable = &kAcceptorVtable;
  echo.handler.vtable = &kHandlerVtable;
  echo.sink.vtable = &kSinkVtable;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_status_t status = open_echo(argument_count, arguments, address);
  const int code = tfrt_bench_peer_say("transport_echo", address, status);
  if (code == 0) tfrt_bench_peer_await_end();
  if (echo.transport) {
    tfrt_transport_close(echo.transport);
    tfrt_transport_drain(echo.transport);
  }
  tfrt_transport_connection_release(echo.connection);
  tfrt_transport_release(echo.transport);
  return code;
}
