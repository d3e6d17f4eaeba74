// SPDX-License-Identifier: Apache-2.0
#include "tools/process/address_space.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

// The address space that an arena of malloc() reserves, and the default limit of arenas per
// processor.
#define TFRT_ARENA_BYTES ((rlim_t)64 * 1024 * 1024)
#define TFRT_ARENAS_OF_PROCESSOR 8

void tfrt_address_space_spare(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const rlim_t count = limit.rlim_cur / 8 / TFRT_ARENA_BYTES;
  const long processor_count = sysconf(_SC_NPROCESSORS_ONLN);
  if (processor_count < 1 || count >= (rlim_t)processor_count * TFRT_ARENAS_OF_PROCESSOR) return;
  mallopt(M_ARENA_MAX, count > 0 ? (int)count : 1);
}
