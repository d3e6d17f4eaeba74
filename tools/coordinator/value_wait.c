// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/value_wait.h"

#include <stdatomic.h>

#include "host_runtime/async/join.h"

typedef struct tfrt_value_wait_s {
  tfrt_task_t task;  // runs when the value is there, on any thread
  tfrt_run_loop_t* loop;
  atomic_bool is_done;
} tfrt_value_wait_t;

static void value_wait_end(tfrt_task_t* task) {
  tfrt_value_wait_t* wait = TFRT_CONTAINER_OF(task, tfrt_value_wait_t, task);
  tfrt_run_loop_t* loop = wait->loop;
  // Pairs with the load in tfrt_value_wait(), behind which |wait| is gone.
  atomic_store_explicit(&wait->is_done, true, memory_order_release);
  tfrt_run_loop_wake(loop);
}

tfrt_status_t tfrt_value_wait(tfrt_client_t* client, tfrt_async_value_t* value,
                              tfrt_run_loop_t* loop, uint64_t patience_ms, bool heeds_cancel) {
  tfrt_value_wait_t wait = {.loop = loop};
  tfrt_task_initialize(&wait.task, value_wait_end);
  TFRT_RETURN_IF_ERROR(tfrt_join_and_then(&value, 1, &wait.task, tfrt_allocator_system()));
  if (patience_ms > 0) tfrt_run_loop_start_alarm(loop, patience_ms);
  // Pairs with the store in value_wait_end().
  while (!atomic_load_explicit(&wait.is_done, memory_order_acquire)) {
    if (patience_ms > 0 && loop->alarm_is_over) tfrt_client_close(client, NULL);
    if (heeds_cancel && loop->cancelled) tfrt_client_close(client, loop->cancelled);
    tfrt_run_loop_turn(loop);
  }
  return NULL;
}
