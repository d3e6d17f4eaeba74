// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/device_check.h"

#include "distributed/service/answer.h"

// Runs with the lock open.
static void tfrt_device_check_run(void* argument) {
  tfrt_execution_t* execution = argument;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  // One byte more than any name of a device, so that a longer one is none.
  char name[TFRT_CALL_DEVICE_SIZE + 1];
  tfrt_answer_read_question(execution, name, sizeof(name));
  tfrt_async_value_t* result =
      node->options.check_device(node->options.host, tfrt_string_view_of(name));
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_device_check_start(tfrt_execution_t* execution) {
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_action_queue_call_at_once(&execution->node->actions, tfrt_device_check_run, execution);
}
