// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/host_context.h"

#include <unistd.h>

#include "host_runtime/base/file_system.h"

tfrt_status_t tfrt_host_context_allocate(tfrt_allocator_t allocator, tfrt_clock_t clock,
                                         tfrt_work_queue_t* work_queue,
                                         tfrt_host_context_t** out_host) {
  *out_host = NULL;
  tfrt_host_context_t* host =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*host));
  if (!host) {
    tfrt_work_queue_release(work_queue);
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a host context");
  }
  host->allocator = allocator;
  host->clock = clock;
  host->work_queue = work_queue;
  tfrt_resource_context_initialize(&host->shared);
  tfrt_status_t status = tfrt_kernel_registry_allocate(tfrt_allocator_system(), &host->registry);
  if (tfrt_status_is_ok(status)) {
    *out_host = host;
  } else {
    tfrt_host_context_free(host);
  }
  return status;
}

void tfrt_host_context_free(tfrt_host_context_t* host) {
  if (!host) return;
  tfrt_work_queue_quiesce(host->work_queue);
  tfrt_resource_context_deinitialize(&host->shared);
  tfrt_work_queue_release(host->work_queue);
  tfrt_kernel_registry_free(host->registry);
  tfrt_allocator_free(tfrt_allocator_system(), host, sizeof(*host));
}

void tfrt_host_context_resolve_path(const tfrt_host_context_t* host, tfrt_string_view_t path,
                                    tfrt_string_builder_t* out) {
  bool is_absolute = (path.size > 0 && path.data[0] == '/') || tfrt_file_system_has_scheme(path);
  if (host->data_directory && !is_absolute) {
    tfrt_string_builder_append_format(out, "%s/", host->data_directory);
    tfrt_string_builder_append_view(out, path);
    if (access(tfrt_string_builder_text(out), F_OK) == 0) return;
    tfrt_string_builder_clear(out);
  }
  tfrt_string_builder_append_view(out, path);
}
