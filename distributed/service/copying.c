// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/copying.h"

// Runs when the payload is here, or can't be.
static void tfrt_copying_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  // Returns the value that the argument resolved to, because the argument itself is only lent.
  tfrt_async_value_t* argument = execution->arguments[0];
  tfrt_async_value_t* result = tfrt_async_value_retain(tfrt_async_value_resolved(argument));
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_copying_start(tfrt_execution_t* execution) {
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&execution->tasks.run, tfrt_copying_run);
  tfrt_action_queue_wait(&execution->node->actions, execution->arguments[0], TFRT_ACTION_AND_THEN,
                         &execution->tasks.run);
}
