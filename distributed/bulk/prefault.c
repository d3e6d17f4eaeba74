// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/prefault.h"

#include <stdint.h>
#include <sys/mman.h>

#define PAGE_SIZE ((size_t)4096)

void tfrt_prefault(void* begin, size_t size) {
#ifdef MADV_POPULATE_WRITE
  const size_t skipped = (PAGE_SIZE - (uintptr_t)begin % PAGE_SIZE) % PAGE_SIZE;
  if (size < skipped + PAGE_SIZE) return;
  // Systems before Linux 5.14 refuse.
  (void)madvise((char*)begin + skipped, (size - skipped) / PAGE_SIZE * PAGE_SIZE,
                MADV_POPULATE_WRITE);
#else
  (void)begin, (void)size;
#endif
}
