// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/log_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"

_Static_assert(TFRT_LOG_MAX_LINE_SIZE <= 4096, "a pipe takes a line whole or not at all");

// The pipe or terminal that was opened anew last, for the next lines. A process may put another
// file in the place of its standard error, which shows by its numbers.
static struct {
  tfrt_mutex_t mutex;  // guards all below
  int descriptor;      // -1: none
  dev_t device;
  ino_t file;
} again = {.mutex = TFRT_MUTEX_INITIALIZER, .descriptor = -1};

// A descriptor of the pipe or terminal that is the standard error and that |found| describes, for
// writing without waiting; -1 if the system gives none.
static int open_again_locked(const struct stat* found) {
  bool is_known =
      again.descriptor >= 0 && again.device == found->st_dev && again.file == found->st_ino;
  if (is_known) return again.descriptor;
  if (again.descriptor >= 0) close(again.descriptor);
  again.descriptor = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  again.device = found->st_dev;
  again.file = found->st_ino;
  return again.descriptor;
}

// Whether |descriptor| takes a line at once. Another process may take the room meanwhile, and then
// writing waits: only where the system gave no descriptor of our own.
static bool has_room(int descriptor) {
  struct pollfd out = {.fd = descriptor, .events = POLLOUT};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0;
}

static bool write_whole(int descriptor, const char* line, size_t size) {
  ssize_t written;
  do {
    written = write(descriptor, line, size);
  } while (written < 0 && errno == EINTR);
  return written == (ssize_t)size;
}

bool tfrt_log_output_write(const char* line, size_t size) {
  struct stat found;
  if (fstat(STDERR_FILENO, &found) != 0) return false;
  if (S_ISSOCK(found.st_mode)) {
    return send(STDERR_FILENO, line, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
  }
  if (!S_ISFIFO(found.st_mode) && !isatty(STDERR_FILENO)) {
    return write_whole(STDERR_FILENO, line, size);
  }
  tfrt_mutex_lock(&again.mutex);
  int descriptor = open_again_locked(&found);
  bool is_written = descriptor >= 0
                        ? write_whole(descriptor, line, size)
                        : has_room(STDERR_FILENO) && write_whole(STDERR_FILENO, line, size);
  tfrt_mutex_unlock(&again.mutex);
  return is_written;
}
