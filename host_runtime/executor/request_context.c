// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/request_context.h"

#include <string.h>

tfrt_status_t tfrt_request_context_create(const tfrt_request_options_t* options,
                                          tfrt_allocator_t allocator,
                                          tfrt_request_context_t** out_request) {
  *out_request = NULL;
  tfrt_request_context_t* request = tfrt_allocator_allocate_zeroed(allocator, sizeof(*request));
  if (!request) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a request");
  }
  tfrt_ref_count_initialize(&request->ref_count);
  request->allocator = allocator;
  request->options = *options;
  if (options->trace) tfrt_trace_retain(options->trace);
  if (!request->options.output) request->options.output = tfrt_output_standard();
  tfrt_cancellation_initialize(&request->cancellation);
  tfrt_mutex_initialize(&request->mutex);
  tfrt_list_initialize(&request->resources);
  *out_request = request;
  return NULL;
}

tfrt_request_context_t* tfrt_request_context_retain(tfrt_request_context_t* request) {
  tfrt_ref_count_increment(&request->ref_count);
  return request;
}

void tfrt_request_context_release(tfrt_request_context_t* request) {
  if (!request || !tfrt_ref_count_decrement(&request->ref_count)) return;
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&request->resources));) {
    tfrt_request_resource_t* resource = TFRT_CONTAINER_OF(link, tfrt_request_resource_t, link);
    resource->destroy(resource);
  }
  tfrt_trace_release(request->options.trace);
  tfrt_mutex_deinitialize(&request->mutex);
  tfrt_cancellation_deinitialize(&request->cancellation);
  tfrt_allocator_free(request->allocator, request, sizeof(*request));
}

void tfrt_request_context_cancel(tfrt_request_context_t* request, tfrt_status_t reason) {
  tfrt_cancellation_cancel(&request->cancellation, reason);
}

tfrt_async_value_t* tfrt_request_context_print(tfrt_request_context_t* request,
                                               tfrt_string_view_t text) {
  return request->options.output->vtable->print(request->options.output, text);
}

// With the mutex held.
static tfrt_request_resource_t* tfrt_request_context_find_locked(tfrt_request_context_t* request,
                                                                 const char* name) {
  tfrt_list_link_t* head = &request->resources;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_request_resource_t* resource = TFRT_CONTAINER_OF(link, tfrt_request_resource_t, link);
    if (strcmp(resource->name, name) == 0) return resource;
  }
  return NULL;
}

tfrt_request_resource_t* tfrt_request_context_add_resource(tfrt_request_context_t* request,
                                                           tfrt_request_resource_t* resource) {
  tfrt_mutex_lock(&request->mutex);
  tfrt_request_resource_t* existing = tfrt_request_context_find_locked(request, resource->name);
  if (!existing) tfrt_list_push_front(&request->resources, &resource->link);
  tfrt_mutex_unlock(&request->mutex);
  if (!existing) return resource;
  resource->destroy(resource);
  return existing;
}

tfrt_request_resource_t* tfrt_request_context_find_resource(tfrt_request_context_t* request,
                                                            const char* name) {
  tfrt_mutex_lock(&request->mutex);
  tfrt_request_resource_t* resource = tfrt_request_context_find_locked(request, name);
  tfrt_mutex_unlock(&request->mutex);
  return resource;
}
