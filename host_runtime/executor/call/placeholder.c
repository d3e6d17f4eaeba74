// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/placeholder.h"

tfrt_async_value_t* tfrt_placeholder_put(tfrt_call_frame_t* frame, uint32_t register_index) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  // Without memory the register gets the error, for all who use it.
  tfrt_async_value_t* placeholder = indirect ? &indirect->base : tfrt_async_value_out_of_memory();
  uint32_t uses = frame->callable->bef->use_counts[register_index];
  tfrt_async_value_retain_n(placeholder, uses);
  tfrt_async_value_t* value = NULL;
  // Release: the thread that sets the register sees the whole placeholder; acquire: this one sees
  // the whole value. Partner: the same operation in tfrt_placeholder_set().
  if (atomic_compare_exchange_strong_explicit(&frame->registers[register_index], &value,
                                              placeholder, memory_order_acq_rel,
                                              memory_order_acquire)) {
    return placeholder;
  }
  tfrt_async_value_release_n(placeholder, uses + 1);
  return value;
}

tfrt_async_value_t* tfrt_placeholder_set(tfrt_call_frame_t* frame, uint32_t register_index,
                                         tfrt_async_value_t* value, bool* out_pinned) {
  uint32_t uses = frame->callable->bef->use_counts[register_index];
  *out_pinned = false;
  if (uses > 1) tfrt_async_value_retain_n(value, uses - 1);
  tfrt_async_value_t* placeholder = NULL;
  // Release: a thread that finds the value here early sees all of it; acquire: this one sees the
  // whole placeholder. Partners: the same operation in tfrt_placeholder_put() and the load in
  // tfrt_placeholder_get().
  if (atomic_compare_exchange_strong_explicit(&frame->registers[register_index], &placeholder,
                                              value, memory_order_acq_rel, memory_order_acquire)) {
    return value;
  }
  *out_pinned = true;
  if (uses > 1) tfrt_async_value_release_n(value, uses - 1);
  if (TFRT_UNLIKELY(placeholder->kind != TFRT_ASYNC_VALUE_INDIRECT)) {
    // There was no memory for one.
    tfrt_async_value_release(value);
    return placeholder;
  }
  tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)placeholder, value);
  return placeholder;
}
