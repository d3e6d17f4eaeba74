// SPDX-License-Identifier: Apache-2.0
#include "tools/process/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void tfrt_standard_streams_open(void) {
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; ++i) {
    if (fcntl(i, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is taken: |i|, since those below it are in use.
    if (open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

static bool tfrt_standard_streams_holds_cut;

void tfrt_standard_streams_hold_cut(void) {
  struct sigaction before;
  bool is_ended = sigaction(SIGPIPE, NULL, &before) == 0 && before.sa_handler == SIG_DFL;
  if (!is_ended) return;
  signal(SIGPIPE, SIG_IGN);
  tfrt_standard_streams_holds_cut = true;
}

bool tfrt_standard_streams_is_cut(void) {
  if (!tfrt_standard_streams_holds_cut || !ferror(stdout)) return false;
  // An output without a reader is in error; one that is full is not.
  struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

void tfrt_standard_streams_pass_on_cut(void) {
  if (!tfrt_standard_streams_is_cut()) return;
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

tfrt_status_t tfrt_standard_streams_flush(void) {
  int error = fflush(stdout) == 0 ? 0 : errno;
  if (error == 0 && !ferror(stdout)) return NULL;
  if (tfrt_standard_streams_is_cut()) return NULL;
  return tfrt_status_create(TFRT_STATUS_DATA_LOSS, "can't write to the standard output%s%s",
                            error ? ": " : "", error ? strerrordesc_np(error) : "");
}
