// SPDX-License-Identifier: Apache-2.0
#include "kernels/control_flow/once.h"
#include "host_runtime/async/value_storage.h"

#include <stdio.h>

#include "host_runtime/executor/request/request_context.h"
#include "kernels/control_flow/function_call.h"

// The results of the one call, as a resource of the request named after the function.
typedef struct tfrt_once_results_s {
  tfrt_resource_t base;
  char name[64];
  size_t size;
  uint32_t count;
  tfrt_indirect_value_t* results[];  // +1 each
} tfrt_once_results_t;

static void once_results_destroy(tfrt_resource_t* resource) {
  tfrt_once_results_t* once = TFRT_CONTAINER_OF(resource, tfrt_once_results_t, base);
  for (uint32_t i = 0; i < once->count; ++i) tfrt_async_value_release(&once->results[i]->base);
  tfrt_allocator_free(tfrt_value_storage_allocator(), once, once->size);
}

static tfrt_once_results_t* once_results_allocate(const tfrt_function_t* function) {
  size_t size = sizeof(tfrt_once_results_t) + function->result_count * sizeof(void*);
  tfrt_once_results_t* once = tfrt_allocator_allocate_zeroed(tfrt_value_storage_allocator(), size);
  if (!once) return NULL;
  once->size = size;
  // The address of the function is its identity in this process.
  snprintf(once->name, sizeof(once->name), "tfrt.once %p", (const void*)function);
  once->base.name = once->name;
  once->base.destroy = once_results_destroy;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    tfrt_indirect_value_t* result = tfrt_indirect_value_create();
    if (!result) {
      once_results_destroy(&once->base);
      return NULL;
    }
    once->results[once->count++] = result;
  }
  return once;
}

void tfrt_once_run_function(tfrt_kernel_frame_t* frame) {
  const tfrt_function_t* function = frame->functions[0];
  if (!tfrt_function_call_fits(frame, function, frame->argument_count, frame->result_count)) {
    return;
  }
  tfrt_once_results_t* mine = once_results_allocate(function);
  if (!mine) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a tfrt.once");
    return;
  }
  tfrt_resource_t* added = tfrt_resource_context_add(
      tfrt_request_context_shared_resources(frame->context->request), &mine->base);
  bool first = added == &mine->base;
  tfrt_once_results_t* once = TFRT_CONTAINER_OF(added, tfrt_once_results_t, base);
  if (first) {
    tfrt_function_execute(function, frame->context, frame->arguments, frame->results);
  }
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    if (first) {
      tfrt_indirect_value_forward_take(once->results[i], tfrt_kernel_frame_take(frame, i));
    }
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_retain(&once->results[i]->base));
  }
}
