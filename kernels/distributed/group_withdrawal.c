// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/group_withdrawal.h"

#include "host_runtime/host_context.h"
#include "kernels/distributed/collective_keys.h"
#include "kernels/distributed/host_group.h"

// The error (+1) of the members.
static tfrt_async_value_t* explain(tfrt_status_t reason, const tfrt_status_origin_t* site) {
  tfrt_status_t annotated =
      tfrt_status_annotate(reason, "a call that takes part in this group was called off");
  tfrt_status_t located = tfrt_status_with_origin(annotated, site);
  tfrt_status_release(annotated);
  return tfrt_async_value_create_error_take(located);
}

void tfrt_group_withdraw(const void* payload, const tfrt_kernel_withdrawal_t* withdrawal) {
  const tfrt_host_group_t* group = payload;
  const tfrt_execution_context_t* context = withdrawal->context;
  if (group->count == 1 || !context->request->options.router) return;
  tfrt_string_builder_t series;
  tfrt_string_builder_initialize(&series, context->host->allocator);
  tfrt_collective_keys_append_series(group, &series);
  tfrt_status_origin_t site = {.rank = TFRT_STATUS_NO_RANK};
  if (withdrawal->site) tfrt_kernel_site_origin(withdrawal->site, &site);
  tfrt_async_value_t* error = explain(withdrawal->reason, &site);
  for (uint32_t i = 0; i < group->count && !series.failed; ++i) {
    tfrt_collective_keys_close(context, &site, tfrt_string_builder_view(&series), group->ranks[i],
                               error);
  }
  tfrt_async_value_release(error);
  tfrt_string_builder_deinitialize(&series);
}
