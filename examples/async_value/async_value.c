// SPDX-License-Identifier: Apache-2.0
//
// The life of AsyncValues in plain C: docs/async_value.md explains it, part by part. Prints what
// happens, and ends with 0 if no value was left alive.
#include <stdio.h>

#include "embedding/tfrt.h"

// --- Creation, and a function that waits ---------------------------------------

static void print_number(tfrt_async_value_t* value, void* name) {
  if (tfrt_async_value_is_error(value)) {
    printf("%s failed: %s\n", (const char*)name,
           tfrt_status_message(tfrt_async_value_error(value)));
    return;
  }
  // NULL unless |value|, or what it forwards to, is an i32.
  const int32_t* number = tfrt_async_value_get(value, TFRT_TYPE_I32);
  printf("%s is %d\n", (const char*)name, number ? *number : -1);
}

static bool wait_for(tfrt_async_value_t* value, const char* name) {
  return tfrt_async_value_and_then_run(value, print_number, (void*)name);
}

static bool show_producer_and_consumer(void) {
  // The storage is there, the payload is not.
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  if (!value) return false;
  // Two consumers; the newest is called first.
  bool waits = wait_for(value, "a, asked first,") && wait_for(value, "a, asked last,");
  // The producer constructs the payload and publishes it, once.
  int32_t number = 42;
  tfrt_async_value_emplace(value, &number, sizeof(number));
  // A consumer of a value that is there is called at once.
  waits = waits && wait_for(value, "a, asked late,");
  tfrt_async_value_release(value);
  return waits;
}

// --- A task in the caller's own storage ------------------------------------------

// Waits without an allocation: the task is part of what waits.
typedef struct sum_s {
  tfrt_task_t task;
  tfrt_async_value_t* left;   // +1
  tfrt_async_value_t* right;  // +1
} sum_t;

static void print_sum(tfrt_task_t* task) {
  sum_t* sum = TFRT_CONTAINER_OF(task, sum_t, task);
  printf("the sum is %d\n", *(const int32_t*)tfrt_async_value_get(sum->left, TFRT_TYPE_I32) +
                                *(const int32_t*)tfrt_async_value_get(sum->right, TFRT_TYPE_I32));
  tfrt_async_value_release(sum->left);
  tfrt_async_value_release(sum->right);
}

static bool show_task(void) {
  tfrt_async_value_t* left = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* right = tfrt_async_value_create_i32(2);
  sum_t sum = {.left = tfrt_async_value_retain(left), .right = right};
  tfrt_task_initialize(&sum.task, print_sum);
  tfrt_async_value_and_then(left, &sum.task);
  tfrt_async_value_emplace(left, &(int32_t){3}, sizeof(int32_t));
  tfrt_async_value_release(left);
  return true;
}

// --- Forwarding --------------------------------------------------------------------

static bool show_forward(void) {
  // A value whose producer isn't known yet, as the result of a call that has not begun.
  tfrt_indirect_value_t* result = tfrt_indirect_value_create();
  if (!result || !wait_for(&result->base, "the result")) return false;
  tfrt_async_value_t* target = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  // From here on |result| stands for |target|; the first forward wins.
  bool is_first = tfrt_indirect_value_forward(result, target);
  tfrt_async_value_emplace(target, &(int32_t){7}, sizeof(int32_t));
  tfrt_async_value_release(target);
  tfrt_async_value_release(&result->base);
  return is_first;
}

// --- Errors -------------------------------------------------------------------------

static bool show_error(void) {
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  bool waits = wait_for(value, "b");
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the sensor is off");
  // Keeps a reference to |status| of its own.
  tfrt_async_value_set_error(value, status);
  tfrt_status_release(status);
  tfrt_async_value_release(value);
  return waits;
}

int main(void) {
  bool ok = show_producer_and_consumer() && show_task() && show_forward() && show_error();
  // Builds without assertions keep no account: 0.
  printf("values left: %d\n", (int)tfrt_async_value_live_count());
  return ok && tfrt_async_value_live_count() == 0 ? 0 : 1;
}
