// SPDX-License-Identifier: Apache-2.0
#include "distributed/action_queue.h"

#include <string.h>

#include "host_runtime/base/log.h"

typedef enum tfrt_action_kind_e {
  TFRT_ACTION_FORWARD,
  TFRT_ACTION_FAIL,
  TFRT_ACTION_RELEASE,
  TFRT_ACTION_WAIT,
  TFRT_ACTION_CALL,
} tfrt_action_kind_t;

struct tfrt_action_s {
  tfrt_action_kind_t kind;
  tfrt_action_wait_t wait;
  tfrt_async_value_t* value;
  union {
    tfrt_async_value_t* target;  // FORWARD, +1
    tfrt_status_t status;        // FAIL, +1
    tfrt_task_t* task;           // WAIT
    struct {                     // CALL
      tfrt_action_fn_t run;
      void* argument;
    };
  };
};

static void tfrt_action_run_wait(const tfrt_action_t* action) {
  switch (action->wait) {
    case TFRT_ACTION_AND_THEN:
      tfrt_async_value_and_then(action->value, action->task);
      break;
    case TFRT_ACTION_AWAIT:
      tfrt_async_value_await(action->value, action->task);
      break;
    case TFRT_ACTION_WATCH:
      tfrt_async_value_watch(action->value, action->task);
      break;
  }
}

static void tfrt_action_run(const tfrt_action_t* action) {
  switch (action->kind) {
    case TFRT_ACTION_FORWARD:
      tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)action->value, action->target);
      tfrt_async_value_release(action->value);
      break;
    case TFRT_ACTION_FAIL:
      tfrt_async_value_set_error(action->value, action->status);
      tfrt_status_release(action->status);
      tfrt_async_value_release(action->value);
      break;
    case TFRT_ACTION_RELEASE:
      tfrt_async_value_release(action->value);
      break;
    case TFRT_ACTION_WAIT:
      tfrt_action_run_wait(action);
      break;
    case TFRT_ACTION_CALL:
      action->run(action->argument);
      break;
  }
}

// Takes all actions out and carries them out; what they lead to is queued behind.
static void tfrt_action_queue_run(tfrt_task_t* task) {
  tfrt_action_queue_t* queue = TFRT_CONTAINER_OF(task, tfrt_action_queue_t, task);
  tfrt_node_lock_lock(queue->lock);
  tfrt_action_t* actions = queue->actions;
  size_t count = queue->count;
  size_t capacity = queue->capacity;
  queue->actions = NULL;
  queue->count = 0;
  queue->capacity = 0;
  queue->scheduled = false;
  tfrt_node_lock_unlock_and_run(queue->lock);
  for (size_t i = 0; i < count; ++i) tfrt_action_run(&actions[i]);
  tfrt_allocator_free(queue->allocator, actions, capacity * sizeof(*actions));
}

void tfrt_action_queue_initialize(tfrt_action_queue_t* queue, tfrt_node_lock_t* lock,
                                  tfrt_allocator_t allocator) {
  memset(queue, 0, sizeof(*queue));
  queue->lock = lock;
  queue->allocator = allocator;
  tfrt_task_initialize(&queue->task, tfrt_action_queue_run);
}

void tfrt_action_queue_deinitialize(tfrt_action_queue_t* queue) {
  tfrt_allocator_free(queue->allocator, queue->actions, queue->capacity * sizeof(*queue->actions));
}

static void tfrt_action_queue_add(tfrt_action_queue_t* queue, const tfrt_action_t* action) {
  if (queue->count == queue->capacity) {
    size_t capacity = queue->capacity ? 2 * queue->capacity : 16;
    tfrt_action_t* actions =
        tfrt_allocator_reallocate(queue->allocator, queue->actions,
                                  queue->capacity * sizeof(*actions), capacity * sizeof(*actions));
    if (!actions) {
      tfrt_log(TFRT_LOG_ERROR, NULL, "no memory to hand on a value; whoever waits for it waits on");
      return;
    }
    queue->actions = actions;
    queue->capacity = capacity;
  }
  queue->actions[queue->count++] = *action;
  if (queue->scheduled) return;
  queue->scheduled = true;
  tfrt_node_lock_defer(queue->lock, &queue->task);
}

void tfrt_action_queue_forward_take(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                                    tfrt_async_value_t* target) {
  tfrt_action_queue_add(
      queue, &(tfrt_action_t){.kind = TFRT_ACTION_FORWARD, .value = value, .target = target});
}

void tfrt_action_queue_fail_take(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                                 tfrt_status_t status) {
  tfrt_action_queue_add(
      queue, &(tfrt_action_t){
                 .kind = TFRT_ACTION_FAIL, .value = value, .status = tfrt_status_retain(status)});
}

void tfrt_action_queue_release(tfrt_action_queue_t* queue, tfrt_async_value_t* value) {
  if (!value) return;
  tfrt_action_queue_add(queue, &(tfrt_action_t){.kind = TFRT_ACTION_RELEASE, .value = value});
}

void tfrt_action_queue_wait(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                            tfrt_action_wait_t wait, tfrt_task_t* task) {
  tfrt_action_queue_add(
      queue,
      &(tfrt_action_t){.kind = TFRT_ACTION_WAIT, .wait = wait, .value = value, .task = task});
}

void tfrt_action_queue_call(tfrt_action_queue_t* queue, tfrt_action_fn_t run, void* argument) {
  tfrt_action_queue_add(
      queue, &(tfrt_action_t){.kind = TFRT_ACTION_CALL, .run = run, .argument = argument});
}

static void tfrt_action_run_demand(void* argument) { tfrt_async_value_demand(argument); }

void tfrt_action_queue_demand(tfrt_action_queue_t* queue, tfrt_async_value_t* value) {
  tfrt_action_queue_call(queue, tfrt_action_run_demand, value);
}
