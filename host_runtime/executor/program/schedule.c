// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/program/schedule.h"

void tfrt_schedule_release_constants(const tfrt_schedule_t* schedule) {
  if (!schedule) return;
  for (uint32_t i = 0; i < schedule->constant_count; ++i) {
    tfrt_async_value_release(schedule->constants[i]);
  }
}
