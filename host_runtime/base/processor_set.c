// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/processor_set.h"

#include <sched.h>
#include <string.h>

_Static_assert(sizeof(cpu_set_t) == sizeof(tfrt_processor_set_t), "the system's set, by its bits");

tfrt_processor_set_t tfrt_processor_set_of_thread(void) {
  tfrt_processor_set_t set = {{0}};
  cpu_set_t system_set;
  // Fails only on machines with more processors than the set has room for.
  if (sched_getaffinity(0, sizeof(system_set), &system_set) == 0) {
    memcpy(&set, &system_set, sizeof(set));
  }
  return set;
}

int tfrt_processor_set_count(const tfrt_processor_set_t* set) {
  int count = 0;
  for (int i = 0; i < TFRT_PROCESSOR_SET_MAX / 64; ++i) {
    count += __builtin_popcountll(set->bits[i]);
  }
  return count;
}

tfrt_processor_set_t tfrt_processor_set_share(const tfrt_processor_set_t* set, uint32_t index,
                                              uint32_t count) {
  tfrt_processor_set_t share = {{0}};
  const uint32_t processors = (uint32_t)tfrt_processor_set_count(set);
  if (processors == 0) return share;
  index %= count;
  if (count > processors) {
    index %= processors;
    count = processors;
  }
  // The processors of the set, counted from 0, that the share begins with and ends before.
  const uint64_t begin = (uint64_t)index * processors / count;
  const uint64_t end = (uint64_t)(index + 1) * processors / count;
  uint64_t at = 0;
  for (int i = 0; i < TFRT_PROCESSOR_SET_MAX; ++i) {
    const uint64_t bit = UINT64_C(1) << (i % 64);
    if (!(set->bits[i / 64] & bit)) continue;
    if (at >= begin && at < end) share.bits[i / 64] |= bit;
    ++at;
  }
  return share;
}

bool tfrt_processor_set_bind(const tfrt_processor_set_t* set) {
  cpu_set_t system_set;
  memcpy(&system_set, set, sizeof(system_set));
  return sched_setaffinity(0, sizeof(system_set), &system_set) == 0;
}
