// SPDX-License-Identifier: Apache-2.0
//
// Makes the arguments of an execution: values that came with it, and placeholders for those of
// other hosts.
#include "distributed/call/execution.h"
#include "distributed/delivery/push_inbox.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/value_item.h"

tfrt_async_value_t* tfrt_execution_argument(tfrt_job_t* job, const tfrt_wire_item_t* item,
                                            const tfrt_execution_t* execution) {
  tfrt_node_t* node = job->node;
  if (item->kind == TFRT_WIRE_ITEM_INLINE) {
    return tfrt_value_item_decode(&item->value, node->options.host->allocator);
  }
  if (item->kind == TFRT_WIRE_ITEM_ERROR) return tfrt_value_item_decode_error(item->error);
  if (item->reference.owner == node->incarnation) {
    return tfrt_incoming_want_own_value(job, &item->reference);
  }
  // The caller says to this host alone that the value is pushed.
  tfrt_wire_reference_t reference = item->reference;
  reference.is_pushed = false;
  tfrt_remote_value_loan_t loan = {0};
  if (execution) {
    loan = (tfrt_remote_value_loan_t){.lender = execution->caller,
                                      .user = execution->program,
                                      .user_function = execution->function};
  }
  tfrt_remote_value_t* remote = tfrt_remote_value_create_lent(job, &reference, &loan);
  if (!remote) return tfrt_async_value_out_of_memory();
  if (execution) tfrt_remote_value_set_device(remote, execution->device);
  if (item->reference.is_pushed) tfrt_push_inbox_expect(remote);
  return &remote->base.base;
}

// True if |items| lend something that may be written while it is available.
static bool has_mutable(const tfrt_wire_item_t* items, size_t item_count) {
  for (size_t i = 0; i < item_count; ++i) {
    if (items[i].kind == TFRT_WIRE_ITEM_REFERENCE && items[i].reference.is_mutable) return true;
  }
  return false;
}

tfrt_status_t tfrt_execution_order_arguments(tfrt_execution_t* execution,
                                             const tfrt_wire_item_t* items) {
  if (!has_mutable(items, execution->argument_count)) return NULL;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, execution->node->options.allocator);
  tfrt_async_value_t** chains =
      tfrt_arena_allocate_array(&arena, execution->argument_count + 1, sizeof(tfrt_async_value_t*));
  uint32_t chain_count = 0;
  for (uint32_t i = 0; i < execution->argument_count && chains; ++i) {
    if (items[i].kind != TFRT_WIRE_ITEM_REFERENCE || !items[i].reference.is_chain) continue;
    chains[chain_count++] = execution->arguments[i];
  }
  for (uint32_t i = 0; i < execution->argument_count && chain_count > 0; ++i) {
    if (items[i].kind != TFRT_WIRE_ITEM_REFERENCE || !items[i].reference.is_mutable) continue;
    tfrt_remote_value_t* remote = tfrt_remote_value_of(execution->node, execution->arguments[i]);
    if (!remote) continue;
    // Only the argument itself is ordered, and not a placeholder that a value of ours leads to.
    bool is_lent = &remote->base.base == execution->arguments[i];
    if (is_lent) tfrt_remote_value_order(remote, chains, chain_count);
    tfrt_remote_value_release(remote);
  }
  tfrt_arena_deinitialize(&arena);
  return chains ? NULL : tfrt_status_out_of_memory();
}

void tfrt_execution_fail_arguments(tfrt_execution_t* execution, tfrt_status_t reason) {
  for (uint32_t i = 0; i < execution->argument_count; ++i) {
    tfrt_async_value_t* argument = execution->arguments[i];
    if (!argument) continue;
    tfrt_remote_value_t* list = tfrt_remote_value_cast(argument);
    if (list && list->parts.cover && !list->place.function) {
      tfrt_remote_value_fail(list->parts.cover, reason);
    }
    tfrt_remote_value_t* remote = tfrt_remote_value_of(execution->node, argument);
    if (!remote) continue;
    bool is_lent = !remote->place.function && &remote->base.base == argument;
    if (is_lent) tfrt_remote_value_fail(remote, reason);
    tfrt_remote_value_release(remote);
  }
}
