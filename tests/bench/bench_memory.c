// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_memory.h"

#include <stdio.h>

long tfrt_bench_peak_memory(pid_t process) {
  char path[64];
  char line[256];
  long peak = 0;
  snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
  FILE* file = fopen(path, "re");
  while (file && fgets(line, sizeof(line), file)) {
    if (sscanf(line, "VmHWM: %ld kB", &peak) == 1) break;
  }
  if (file) fclose(file);
  return peak;
}
