// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/whole_value.h"

#include "distributed/value/list_item.h"
#include "host_runtime/async/join.h"

// A whole value that is being made.
typedef struct tfrt_whole_value_s {
  tfrt_task_t task;  // waits for |value|, then for the elements of |list|
  tfrt_allocator_t allocator;
  tfrt_async_value_t* value;      // +1
  tfrt_async_value_t* list;       // +1; unresolved, or NULL
  tfrt_indirect_value_t* result;  // +1
} tfrt_whole_value_t;

static tfrt_whole_value_t* tfrt_whole_value_of(tfrt_task_t* task) {
  return TFRT_CONTAINER_OF(task, tfrt_whole_value_t, task);
}

// |whole| is |result| (taken).
static void tfrt_whole_value_end(tfrt_whole_value_t* whole, tfrt_async_value_t* result) {
  tfrt_indirect_value_forward_take(whole->result, result);
  tfrt_async_value_release(&whole->result->base);
  tfrt_async_value_release(whole->value);
  tfrt_allocator_free(whole->allocator, whole, sizeof(*whole));
}

// Runs when all elements are whole.
static void tfrt_whole_value_run_elements(tfrt_task_t* task) {
  tfrt_whole_value_t* whole = tfrt_whole_value_of(task);
  tfrt_async_value_set_available(whole->list);
  tfrt_whole_value_end(whole, whole->list);
}

// Makes the list of |whole|, whose value is |from|, of |type|, and waits for its elements.
static void tfrt_whole_value_begin_list(tfrt_whole_value_t* whole, tfrt_async_value_t* from,
                                        const tfrt_type_t* type) {
  uint32_t count = 0;
  tfrt_async_value_t* const* parts =
      type->aggregate->elements(tfrt_async_value_payload(from), &count);
  tfrt_async_value_t** elements = NULL;
  tfrt_status_t status =
      tfrt_list_item_create(from->type_id, count, whole->allocator, &whole->list, &elements);
  if (status) {
    tfrt_whole_value_end(whole, tfrt_async_value_create_error_take(status));
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    elements[i] = tfrt_whole_value_take(tfrt_async_value_retain(parts[i]), whole->allocator);
  }
  tfrt_task_initialize(&whole->task, tfrt_whole_value_run_elements);
  status = tfrt_join_and_then(elements, count, &whole->task, whole->allocator);
  if (!status) return;
  tfrt_async_value_release(whole->list);
  tfrt_whole_value_end(whole, tfrt_async_value_create_error_take(status));
}

// Runs when the value itself is here.
static void tfrt_whole_value_run(tfrt_task_t* task) {
  tfrt_whole_value_t* whole = tfrt_whole_value_of(task);
  if (tfrt_async_value_is_error(whole->value)) {
    tfrt_status_t error = tfrt_async_value_error(whole->value);
    tfrt_whole_value_end(whole, tfrt_async_value_create_error(error));
    return;
  }
  tfrt_async_value_t* value = tfrt_async_value_resolved(whole->value);
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  if (type->aggregate) {
    tfrt_whole_value_begin_list(whole, value, type);
  } else {
    tfrt_whole_value_end(whole, tfrt_async_value_retain(value));
  }
}

tfrt_async_value_t* tfrt_whole_value_take(tfrt_async_value_t* value, tfrt_allocator_t allocator) {
  tfrt_whole_value_t* whole = tfrt_allocator_allocate_zeroed(allocator, sizeof(*whole));
  tfrt_indirect_value_t* result = tfrt_indirect_value_create();
  if (!whole || !result) {
    tfrt_allocator_free(allocator, whole, sizeof(*whole));
    tfrt_async_value_release(result ? &result->base : NULL);
    tfrt_async_value_release(value);
    return tfrt_async_value_out_of_memory();
  }
  *whole = (tfrt_whole_value_t){.allocator = allocator, .value = value, .result = result};
  tfrt_async_value_retain(&result->base);
  tfrt_task_initialize(&whole->task, tfrt_whole_value_run);
  tfrt_async_value_and_then(value, &whole->task);
  return &result->base;
}
