// SPDX-License-Identifier: Apache-2.0
#include "tools/process/descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

// Seven of a loop of libuv with what stops it, and two for files.
#define TFRT_DESCRIPTORS_NEEDED 9

unsigned long long tfrt_descriptors_limit(void) {
  struct rlimit limit = {0};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

tfrt_status_t tfrt_descriptors_check(void) {
  int files[TFRT_DESCRIPTORS_NEEDED];
  int count = 0;
  while (count < TFRT_DESCRIPTORS_NEEDED && (files[count] = eventfd(0, EFD_CLOEXEC)) >= 0) ++count;
  const int error = errno;
  for (int i = 0; i < count; ++i) close(files[i]);
  if (count == TFRT_DESCRIPTORS_NEEDED) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "%d file descriptors are needed to start, and the system gives %d: %s; "
                            "the limit is %llu, raise it (ulimit -n)",
                            TFRT_DESCRIPTORS_NEEDED, count, strerrordesc_np(error),
                            tfrt_descriptors_limit());
}
