// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective_keys.h"

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/executor/hosts/mailbox.h"

void tfrt_collective_keys_append_series(const tfrt_host_group_t* group,
                                        tfrt_string_builder_t* out) {
  tfrt_host_group_append(group, out);
  tfrt_string_builder_append_char(out, ':');
  tfrt_string_builder_append_view(out, tfrt_host_group_name(group));
}

// The name may be anything, so its length comes first.
void tfrt_collective_keys_append_prefix(uint64_t request, tfrt_string_view_t series,
                                        tfrt_string_builder_t* out) {
  tfrt_mailbox_append_owed_prefix(request, out);
  tfrt_string_builder_append_format(out, "%zu:", series.size);
  tfrt_string_builder_append_view(out, series);
  tfrt_string_builder_append_char(out, ':');
}

tfrt_async_value_t* tfrt_collective_keys_take(tfrt_string_builder_t* key) {
  tfrt_async_value_t* value = key->failed
                                  ? tfrt_async_value_out_of_memory()
                                  : tfrt_async_value_create_string(tfrt_string_builder_view(key));
  tfrt_string_builder_deinitialize(key);
  return value;
}

void tfrt_collective_keys_close(const tfrt_execution_context_t* context,
                                const tfrt_status_origin_t* site, tfrt_string_view_t series,
                                uint32_t rank, tfrt_async_value_t* error) {
  tfrt_request_context_t* request = context->request;
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, request->allocator);
  tfrt_string_builder_append_text(&text, TFRT_MAILBOX_CLOSE_PREFIX);
  tfrt_collective_keys_append_prefix(request->options.id, series, &text);
  tfrt_async_value_t* key = tfrt_collective_keys_take(&text);
  if (!tfrt_async_value_is_error(key)) {
    tfrt_routed_message_t message = {.host = rank,
                                     .context = context,
                                     .site = site,
                                     .key = key,
                                     .value = error,
                                     .is_owed = true,
                                     .is_unawaited = true};
    tfrt_call_router_t* router = request->options.router;
    tfrt_async_value_release(router->vtable->send(router, &message));
  }
  tfrt_async_value_release(key);
}
