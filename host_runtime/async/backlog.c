// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/backlog.h"

_Thread_local tfrt_backlog_t tfrt_backlog;

void tfrt_backlog_run(void) {
  const tfrt_backlog_fn_t run = tfrt_backlog.run;
  tfrt_backlog.run = NULL;
  tfrt_backlog.is_running = true;
  run(tfrt_backlog.queue);
  tfrt_backlog.is_running = false;
}
