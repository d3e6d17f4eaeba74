// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/withdrawal.h"

#include "host_runtime/executor/kernel/withdrawal.h"
#include "host_runtime/executor/request/call_scope.h"

typedef struct tfrt_withdrawal_s {
  tfrt_request_last_act_t act;
  tfrt_allocator_t allocator;
  tfrt_execution_context_t context;  // +0: the act is its request's, and the scope is the call's
  bool is_over;                      // it was before anybody cancelled it
  const tfrt_function_t* function;   // +1
  uint32_t value_count;
  tfrt_async_value_t* values[];  // +1 each; arguments with something to tell
} tfrt_withdrawal_t;

static size_t withdrawal_size(uint32_t value_count) {
  return sizeof(tfrt_withdrawal_t) + value_count * sizeof(tfrt_async_value_t*);
}

// The cancel may end all that the call runs, and with the call perhaps the request on all hosts,
// which then forget their withdrawals: so those must reach them before.
static void withdrawal_enter(tfrt_request_last_act_t* act) {
  tfrt_withdrawal_t* withdrawal = TFRT_CONTAINER_OF(act, tfrt_withdrawal_t, act);
  withdrawal->is_over = !tfrt_call_scope_try_enter(withdrawal->context.scope);
}

static void withdrawal_tell(const tfrt_withdrawal_t* withdrawal, tfrt_status_t reason) {
  const tfrt_function_t* function = withdrawal->function;
  if (tfrt_function_withdraws(function)) {
    tfrt_function_withdraw(function, &withdrawal->context, reason);
  }
  for (uint32_t i = 0; i < withdrawal->value_count; ++i) {
    tfrt_value_withdraw(withdrawal->values[i], &withdrawal->context, reason);
  }
}

static void withdrawal_run(tfrt_request_last_act_t* act, tfrt_status_t reason) {
  tfrt_withdrawal_t* withdrawal = TFRT_CONTAINER_OF(act, tfrt_withdrawal_t, act);
  bool is_told = reason && !withdrawal->is_over;
  tfrt_call_scope_t* entered = is_told ? withdrawal->context.scope : NULL;
  if (is_told) withdrawal_tell(withdrawal, reason);
  for (uint32_t i = 0; i < withdrawal->value_count; ++i) {
    tfrt_async_value_release(withdrawal->values[i]);
  }
  tfrt_function_release(withdrawal->function);
  tfrt_allocator_free(withdrawal->allocator, withdrawal, withdrawal_size(withdrawal->value_count));
  // Last: that may be the end of all that was used here.
  tfrt_call_scope_leave(entered);
}

tfrt_status_t tfrt_withdrawal_begin(const tfrt_execution_context_t* context,
                                    const tfrt_function_t* function,
                                    tfrt_async_value_t* const* arguments) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    count += tfrt_value_withdraws(arguments[i]);
  }
  if (count == 0 && !tfrt_function_withdraws(function)) return NULL;
  tfrt_allocator_t allocator = context->request->allocator;
  tfrt_withdrawal_t* withdrawal = tfrt_allocator_allocate_zeroed(allocator, withdrawal_size(count));
  if (!withdrawal) return tfrt_status_out_of_memory();
  withdrawal->act.begin = withdrawal_enter;
  withdrawal->act.run = withdrawal_run;
  withdrawal->allocator = allocator;
  withdrawal->context = *context;
  withdrawal->function = tfrt_function_retain(function);
  withdrawal->value_count = count;
  // As many as then, though more may have come since.
  for (uint32_t i = 0, found = 0; found < count; ++i) {
    if (!tfrt_value_withdraws(arguments[i])) continue;
    withdrawal->values[found++] = tfrt_async_value_retain(arguments[i]);
  }
  tfrt_request_context_set_last_act_take(context->request, &withdrawal->act);
  return NULL;
}

void tfrt_withdrawal_end(tfrt_request_context_t* request) {
  tfrt_request_context_drop_last_act(request);
}
