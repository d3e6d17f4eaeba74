// SPDX-License-Identifier: Apache-2.0
#include "tools/process/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The first error of writing to the standard output, as errno has it; 0: none. The C library keeps
// only that there was one.
static int tfrt_standard_streams_error;

// Whether the error was reported.
static bool tfrt_standard_streams_is_told;

static ssize_t standard_streams_write(void* cookie, const char* data, size_t size) {
  (void)cookie;
  size_t done = 0;
  while (done < size) {
    ssize_t written = write(STDOUT_FILENO, data + done, size - done);
    if (written >= 0) {
      done += (size_t)written;
    } else if (errno != EINTR) {
      if (tfrt_standard_streams_error == 0) tfrt_standard_streams_error = errno;
      return (ssize_t)done;
    }
  }
  return (ssize_t)done;
}

// The last word of a process that told nobody of what it could not print, `--help` for example.
static void standard_streams_end(void) {
  tfrt_status_t status = tfrt_standard_streams_is_told ? NULL : tfrt_standard_streams_flush();
  if (!status) return;
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, tfrt_status_message(status));
  tfrt_status_release(status);
  _exit(EXIT_FAILURE);
}

// Lets the standard output go through standard_streams_write(), buffered as before.
static void standard_streams_watch(void) {
  static const cookie_io_functions_t functions = {.write = standard_streams_write};
  FILE* watched = fopencookie(NULL, "w", functions);
  if (!watched) return;
  setvbuf(watched, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
  stdout = watched;
  atexit(standard_streams_end);
}

static void standard_streams_fill(void) {
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; ++i) {
    if (fcntl(i, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is taken: |i|, since those below it are in use.
    if (open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void tfrt_standard_streams_open(void) {
  standard_streams_fill();
  standard_streams_watch();
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
  bool is_flushed = fflush(stdout) == 0;
  if (is_flushed && !ferror(stdout)) return NULL;
  if (tfrt_standard_streams_is_cut()) return NULL;
  tfrt_standard_streams_is_told = true;
  return tfrt_status_create(TFRT_STATUS_DATA_LOSS, "can't write to the standard output%s%s",
                            tfrt_standard_streams_error ? ": " : "", tfrt_standard_streams_cause());
}

const char* tfrt_standard_streams_cause(void) {
  return tfrt_standard_streams_error ? strerrordesc_np(tfrt_standard_streams_error) : "";
}
