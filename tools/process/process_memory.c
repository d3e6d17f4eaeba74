// SPDX-License-Identifier: Apache-2.0
#include "tools/process/process_memory.h"

#include "host_runtime/base/region.h"

// Address space for all that a tool makes; what is beyond comes from the heap.
#define TFRT_PROCESS_MEMORY_SIZE ((size_t)4 * 1024 * 1024 * 1024)

tfrt_allocator_t tfrt_process_memory(void) {
#ifdef TFRT_SANITIZED
  return tfrt_allocator_system();
#else
  static tfrt_region_t region;
  static bool is_open;
  if (!is_open) tfrt_region_initialize(&region, TFRT_PROCESS_MEMORY_SIZE);
  is_open = true;
  return tfrt_region_allocator(&region);
#endif
}
