// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/printing.h"

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/join.h"

// The line, or what is wrong with it.
static tfrt_async_value_t* tfrt_printing_print(tfrt_execution_t* execution) {
  for (uint32_t i = 0; i < 2; ++i) {
    if (tfrt_async_value_is_error(execution->arguments[i])) {
      return tfrt_async_value_retain(execution->arguments[i]);
    }
  }
  tfrt_async_value_t* text = tfrt_async_value_resolved(execution->arguments[0]);
  if (text->type_id != TFRT_TYPE_STRING) {
    return tfrt_async_value_create_error_take(
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a %s was to be printed",
                           tfrt_type_get(text->type_id)->name));
  }
  execution->job->printer.print(execution->job->printer.self, execution->from_rank,
                                tfrt_async_value_string(text));
  return tfrt_async_value_ready_chain();
}

// Runs when both arguments are here.
static void tfrt_printing_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = tfrt_printing_print(execution);
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs with the lock open.
static void tfrt_printing_join(void* argument) {
  tfrt_execution_t* execution = argument;
  tfrt_task_initialize(&execution->tasks.run, tfrt_printing_run);
  tfrt_status_t status = tfrt_join_and_then(execution->arguments, 2, &execution->tasks.run,
                                            execution->node->options.allocator);
  if (!status) return;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = tfrt_async_value_create_error_take(status);
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_printing_start(tfrt_execution_t* execution, uint32_t rank) {
  execution->from_rank = rank;
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_action_queue_call(&execution->node->actions, tfrt_printing_join, execution);
}
