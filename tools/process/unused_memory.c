// SPDX-License-Identifier: Apache-2.0
#include "tools/process/unused_memory.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

size_t tfrt_unused_memory_resident_size(void) {
  FILE* file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  unsigned long size = 0, resident = 0;
  int count = fscanf(file, "%lu %lu", &size, &resident);
  (void)fclose(file);
  return count == 2 ? (size_t)resident * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

bool tfrt_unused_memory_give_back(tfrt_unused_memory_t* memory) {
  size_t resident_size = tfrt_unused_memory_resident_size();
  if (resident_size < memory->resident_size + TFRT_UNUSED_MEMORY_LEAST) return false;
  malloc_trim(0);
  memory->resident_size = tfrt_unused_memory_resident_size();
  return true;
}
