// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/placement.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/processor_set.h"

static struct {
  bool is_bound;
  bool is_settled;
  uint32_t started;          // processes
  tfrt_processor_set_t all;  // that this process may use
} placement;

// The processor of process |index|; this one is 0.
static tfrt_processor_set_t processor_of(uint32_t index) {
  const int count = tfrt_processor_set_count(&placement.all);
  return tfrt_processor_set_share(&placement.all, index, count > 0 ? (uint32_t)count : 1);
}

// Lets all threads of this process run on |set|; false with errno if the system refuses. A thread
// that has ended meanwhile is none.
static bool bind_threads(const tfrt_processor_set_t* set) {
  DIR* threads = opendir("/proc/self/task");
  if (!threads) return false;
  bool is_done = true;
  for (struct dirent* entry; is_done && (entry = readdir(threads));) {
    const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
    if (thread == 0) continue;  // "." and ".."
    is_done = sched_setaffinity(thread, sizeof(*set), (const cpu_set_t*)(const void*)set) == 0 ||
              errno == ESRCH;
  }
  closedir(threads);
  return is_done;
}

void tfrt_bench_placement_begin(bool is_bound) {
  placement.is_bound = is_bound;
  placement.is_settled = false;
  placement.started = 0;
  placement.all = tfrt_processor_set_of_thread();
}

tfrt_status_t tfrt_bench_placement_settle(void) {
  if (!placement.is_bound) return NULL;
  const tfrt_processor_set_t first = processor_of(0);
  placement.is_settled = true;
  if (bind_threads(&first)) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "can't bind threads to a processor: %s",
                            strerror(errno));
}

void tfrt_bench_placement_end(void) {
  if (placement.is_settled) (void)bind_threads(&placement.all);
  placement.is_bound = placement.is_settled = false;
}

void tfrt_bench_placement_enter_next(void) {
  if (!placement.is_bound) return;
  const tfrt_processor_set_t next = processor_of(++placement.started);
  (void)tfrt_processor_set_bind(&next);
}

void tfrt_bench_placement_leave(void) {
  if (placement.is_bound) (void)tfrt_processor_set_bind(&placement.all);
}
