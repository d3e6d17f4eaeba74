// SPDX-License-Identifier: Apache-2.0
#include "tools/process/memory_limit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/number_text.h"

// Where a container sees its own limit, by the second and the first version of control groups.
static const char* const tfrt_memory_limit_groups[] = {
    "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};

uint64_t tfrt_memory_limit_of_group(const char* path) {
  FILE* file = fopen(path, "re");
  if (!file) return UINT64_MAX;
  char line[32];
  bool is_read = fgets(line, sizeof(line), file) != NULL;
  (void)fclose(file);
  uint64_t bytes = UINT64_MAX;
  bool is_number = is_read && tfrt_number_text_parse_u64(
                                  tfrt_string_view_make(line, strcspn(line, "\n")), &bytes);
  return is_number ? bytes : UINT64_MAX;
}

static uint64_t memory_limit_of_resource(int resource) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

static uint64_t memory_limit_of_machine(void) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : UINT64_MAX;
}

uint64_t tfrt_memory_limit(void) {
  uint64_t limit = memory_limit_of_machine();
  const uint64_t others[] = {memory_limit_of_resource(RLIMIT_AS),
                             memory_limit_of_resource(RLIMIT_DATA),
                             tfrt_memory_limit_of_group(tfrt_memory_limit_groups[0]),
                             tfrt_memory_limit_of_group(tfrt_memory_limit_groups[1])};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(others); ++i) {
    if (others[i] < limit) limit = others[i];
  }
  return limit;
}

int64_t tfrt_memory_limit_calls(void) {
  const uint64_t by_memory = tfrt_memory_limit() / TFRT_MEMORY_LIMIT_CALL_MEMORY;
  return by_memory < TFRT_MEMORY_LIMIT_MOST_CALLS ? (int64_t)by_memory + 1
                                                  : TFRT_MEMORY_LIMIT_MOST_CALLS;
}
