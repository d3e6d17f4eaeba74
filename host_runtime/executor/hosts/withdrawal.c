// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/withdrawal.h"

#include "host_runtime/executor/kernel/withdrawal.h"

typedef struct tfrt_withdrawal_s {
  tfrt_request_last_act_t act;
  tfrt_allocator_t allocator;
  tfrt_execution_context_t context;  // +0: the act is its request's
  const tfrt_function_t* function;   // +1
} tfrt_withdrawal_t;

static void tfrt_withdrawal_run(tfrt_request_last_act_t* act, tfrt_status_t reason) {
  tfrt_withdrawal_t* withdrawal = TFRT_CONTAINER_OF(act, tfrt_withdrawal_t, act);
  if (reason) tfrt_function_withdraw(withdrawal->function, &withdrawal->context, reason);
  tfrt_function_release(withdrawal->function);
  tfrt_allocator_free(withdrawal->allocator, withdrawal, sizeof(*withdrawal));
}

tfrt_status_t tfrt_withdrawal_begin(const tfrt_execution_context_t* context,
                                    const tfrt_function_t* function) {
  if (!tfrt_function_withdraws(function)) return NULL;
  tfrt_withdrawal_t* withdrawal =
      tfrt_allocator_allocate_zeroed(context->request->allocator, sizeof(*withdrawal));
  if (!withdrawal) return tfrt_status_out_of_memory();
  withdrawal->act.run = tfrt_withdrawal_run;
  withdrawal->allocator = context->request->allocator;
  withdrawal->context = *context;
  withdrawal->function = tfrt_function_retain(function);
  tfrt_request_context_set_last_act_take(context->request, &withdrawal->act);
  return NULL;
}

void tfrt_withdrawal_end(tfrt_request_context_t* request) {
  tfrt_request_context_drop_last_act(request);
}
