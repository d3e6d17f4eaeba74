// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/peer_process.h"

#include <stdio.h>
#include <unistd.h>

int tfrt_bench_peer_say(const char* name, const char* address, tfrt_status_t status) {
  if (!status) {
    printf("%s: listening on %s\n", name, address);
    fflush(stdout);
    return 0;
  }
  fprintf(stderr, "%s: %s\n", name, tfrt_status_message(status));
  tfrt_status_release(status);
  return 1;
}

void tfrt_bench_peer_await_end(void) {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}
