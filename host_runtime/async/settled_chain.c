// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/settled_chain.h"

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/macros.h"

typedef struct tfrt_settled_chain_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;     // +1
  tfrt_indirect_value_t* chain;  // +1
  tfrt_allocator_t allocator;
} tfrt_settled_chain_t;

static void settled_chain_run(tfrt_task_t* task) {
  tfrt_settled_chain_t* wait = TFRT_CONTAINER_OF(task, tfrt_settled_chain_t, task);
  bool is_error = tfrt_async_value_is_error(wait->value);
  tfrt_indirect_value_forward_take(wait->chain, is_error ? tfrt_async_value_retain(wait->value)
                                                         : tfrt_async_value_ready_chain());
  tfrt_async_value_release(wait->value);
  tfrt_async_value_release(&wait->chain->base);
  tfrt_allocator_free(wait->allocator, wait, sizeof(*wait));
}

static tfrt_async_value_t* settled_chain_make(tfrt_async_value_t* value, bool needs_payload,
                                              tfrt_allocator_t allocator) {
  tfrt_settled_chain_t* wait = tfrt_allocator_allocate_zeroed(allocator, sizeof(*wait));
  tfrt_indirect_value_t* chain = wait ? tfrt_indirect_value_create() : NULL;
  if (!chain) {
    tfrt_allocator_free(allocator, wait, sizeof(*wait));
    return tfrt_async_value_out_of_memory();
  }
  *wait = (tfrt_settled_chain_t){
      .value = tfrt_async_value_retain(value), .chain = chain, .allocator = allocator};
  tfrt_task_initialize(&wait->task, settled_chain_run);
  tfrt_async_value_t* result = tfrt_async_value_retain(&chain->base);
  if (needs_payload) {
    tfrt_async_value_and_then(value, &wait->task);
  } else {
    tfrt_async_value_await(value, &wait->task);
  }
  return result;
}

tfrt_async_value_t* tfrt_settled_chain_create(tfrt_async_value_t* value,
                                              tfrt_allocator_t allocator) {
  return settled_chain_make(value, false, allocator);
}

tfrt_async_value_t* tfrt_settled_chain_create_here(tfrt_async_value_t* value,
                                                   tfrt_allocator_t allocator) {
  return settled_chain_make(value, true, allocator);
}
