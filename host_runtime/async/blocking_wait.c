// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/blocking_wait.h"

#include "host_runtime/base/parker.h"

// How often a thread looks, with others let run in between, before it sleeps: what it waits
// for is often made by a thread that shares the processor with it, or by one that is awake on
// another. All of them together take some 4 us where nobody else wants the processor, as much as
// two threads that wake each other on one, and a sixth of what they take on two.
#define LOOKS 10

// Lives on the waiting thread's stack, once for all of its values.
typedef struct blocking_waiter_s {
  tfrt_task_t task;
  tfrt_parker_t parker;
} blocking_waiter_t;

static void wake(tfrt_task_t* task) {
  tfrt_parker_wake(&TFRT_CONTAINER_OF(task, blocking_waiter_t, task)->parker);
}

// Returns true if all |values| are available by the last look.
static bool come_soon(tfrt_async_value_t* const* values, size_t count) {
  size_t done = 0;
  for (int look = 0; look < LOOKS; ++look) {
    while (done < count && tfrt_async_value_is_available(values[done])) ++done;
    if (done == count) return true;
    if (!tfrt_parker_linger()) return false;
  }
  return false;
}

static void wait_for_one(blocking_waiter_t* waiter, tfrt_async_value_t* value) {
  tfrt_task_initialize(&waiter->task, wake);
  tfrt_async_value_and_then(value, &waiter->task);
  tfrt_parker_wait(&waiter->parker);
}

void tfrt_blocking_wait(tfrt_async_value_t* const* values, size_t count) {
  for (size_t i = 0; i < count; ++i) tfrt_async_value_demand(values[i]);
  if (come_soon(values, count)) return;
  blocking_waiter_t waiter = {.parker = {0}};
  // One after the other: all are being worked on, so this takes as long as the slowest,
  // and needs no memory for a waiter per value.
  for (size_t i = 0; i < count; ++i) {
    if (!tfrt_async_value_is_available(values[i])) wait_for_one(&waiter, values[i]);
  }
}
