// SPDX-License-Identifier: Apache-2.0
#include "tools/process/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
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

tfrt_status_t tfrt_standard_streams_flush(void) {
  int error = fflush(stdout) == 0 ? 0 : errno;
  if (error == 0 && !ferror(stdout)) return NULL;
  return tfrt_status_create(TFRT_STATUS_DATA_LOSS, "can't write to the standard output%s%s",
                            error ? ": " : "", error ? strerrordesc_np(error) : "");
}
