// SPDX-License-Identifier: Apache-2.0
//
// A server of gRPC by itself (tests/distributed/transport/grpc/plain_grpc_server.h), as a process.
//
//   plain_grpc_peer [CA CERTIFICATE KEY]     with files: over TLS
#include "host_runtime/base/sync.h"
#include "tests/bench/peer_process.h"
#include "tests/distributed/transport/grpc/plain_grpc_server.h"

static void stop_at_end(void* argument) {
  (void)argument;
  tfrt_bench_peer_await_end();
  plain_grpc_server_stop();
}

int main(int argument_count, char** arguments) {
  char address[64] = "";
  tfrt_grpc_credentials_t credentials = {.kind = TFRT_GRPC_CREDENTIALS_PLAIN_TEXT};
  if (argument_count == 4) {
    credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
    credentials.files = (tfrt_certificate_files_t){arguments[1], arguments[2], arguments[3]};
  }
  tfrt_status_t status = plain_grpc_server_start(&credentials, address, sizeof(address));
  if (status) return tfrt_bench_peer_say("plain_grpc_peer", address, status);
  tfrt_thread_t watcher;
  status = tfrt_thread_create("watcher", stop_at_end, NULL, &watcher);
  const int code = tfrt_bench_peer_say("plain_grpc_peer", address, status);
  if (code != 0) plain_grpc_server_stop();
  plain_grpc_server_serve();
  if (code == 0) tfrt_thread_join(&watcher);
  return code;
}
