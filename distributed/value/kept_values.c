// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/kept_values.h"

bool tfrt_kept_values_has(const tfrt_kept_values_t* values, const tfrt_async_value_t* value) {
  for (; values; values = values->others) {
    if (values->value == value) return true;
  }
  return false;
}

bool tfrt_kept_values_add(tfrt_kept_values_t* values, tfrt_async_value_t* value,
                          tfrt_allocator_t allocator) {
  if (tfrt_kept_values_has(values, value)) return true;
  if (values->value) {
    tfrt_kept_values_t* other = tfrt_allocator_allocate(allocator, sizeof(*other));
    if (!other) return false;
    *other = *values;
    values->others = other;
  }
  values->value = tfrt_async_value_retain(value);
  return true;
}

void tfrt_kept_values_clear(tfrt_kept_values_t* values, tfrt_action_queue_t* actions,
                            tfrt_allocator_t allocator) {
  tfrt_action_queue_release(actions, values->value);
  while (values->others) {
    tfrt_kept_values_t* other = values->others;
    values->others = other->others;
    tfrt_action_queue_release(actions, other->value);
    tfrt_allocator_free(allocator, other, sizeof(*other));
  }
  values->value = NULL;
}
