// SPDX-License-Identifier: Apache-2.0
//
// A server of gRPC by itself (tests/distributed/grpc/plain_grpc_server.h), as a process.
#include "host_runtime/base/sync.h"
#include "tests/bench/peer_process.h"
#include "tests/distributed/grpc/plain_grpc_server.h"

static void stop_at_end(void* argument) {
  (void)argument;
  tfrt_bench_peer_await_end();
  plain_grpc_server_stop();
}

int main(void) {
  char address[64];
  tfrt_status_t status = plain_grpc_server_start(address, sizeof(address));
  if (status) return tfrt_bench_peer_say("plain_grpc_peer", address, status);
  tfrt_thread_t watcher;
  status = tfrt_thread_create("watcher", stop_at_end, NULL, &watcher);
  const int code = tfrt_bench_peer_say("plain_grpc_peer", address, status);
  if (code != 0) plain_grpc_server_stop();
  plain_grpc_server_serve();
  if (code == 0) tfrt_thread_join(&watcher);
  return code;
}
