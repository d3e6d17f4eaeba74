// SPDX-License-Identifier: Apache-2.0
#include "tools/process/unused_memory.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host_runtime/base/number_text.h"

size_t tfrt_unused_memory_resident_size(void) {
  FILE* file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  // The second number of the line: resident pages.
  char line[128];
  bool is_read = fgets(line, sizeof(line), file) != NULL;
  (void)fclose(file);
  const char* begin = is_read ? strchr(line, ' ') : NULL;
  if (!begin) return 0;
  ++begin;
  uint64_t pages = 0;
  bool is_number =
      tfrt_number_text_parse_u64(tfrt_string_view_make(begin, strcspn(begin, " \n")), &pages);
  return is_number ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

bool tfrt_unused_memory_give_back(tfrt_unused_memory_t* memory) {
  size_t resident_size = tfrt_unused_memory_resident_size();
  if (resident_size < memory->resident_size + TFRT_UNUSED_MEMORY_LEAST) return false;
  malloc_trim(0);
  memory->resident_size = tfrt_unused_memory_resident_size();
  return true;
}
