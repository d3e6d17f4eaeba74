// SPDX-License-Identifier: Apache-2.0
//
// Where a program runs, and calls to where it says.

#include "host_runtime/async/settled_chain.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "kernels/distributed/distributed_types.h"
#include "kernels/distributed/kernel_groups.h"

tfrt_call_place_t tfrt_distributed_place(const tfrt_execution_context_t* context) {
  tfrt_call_router_t* router = context->request->options.router;
  if (!router) return (tfrt_call_place_t){.rank = 0, .host_count = 1};
  return router->vtable->place(router);
}

void tfrt_distributed_rank(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)tfrt_distributed_place(frame->context).rank);
}

void tfrt_distributed_num_hosts(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)tfrt_distributed_place(frame->context).host_count);
}

void tfrt_distributed_host(tfrt_kernel_frame_t* frame) {
  int32_t rank = tfrt_kernel_frame_i32(frame, 0);
  uint32_t count = tfrt_distributed_place(frame->context).host_count;
  if (rank < 0 || (uint32_t)rank >= count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "there is no host %d, the job has %u host%s", rank, count,
                           tfrt_plural(count));
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_host((uint32_t)rank));
}

// --- Calls -----------------------------------------------------------------------

// Returns true if the frame's function takes |argument_count| arguments and gives
// |result_count| results; else fails |frame|. A BEF file may combine any function with any
// call.
static bool check_function(tfrt_kernel_frame_t* frame, uint32_t argument_count,
                           uint32_t result_count) {
  const tfrt_function_t* function = frame->functions[0];
  if (function->argument_count == argument_count && function->result_count == result_count) {
    return true;
  }
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "function '%s' takes %u argument%s and gives %u result%s; the call has "
                         "%u and wants %u",
                         function->name, function->argument_count,
                         tfrt_plural(function->argument_count), function->result_count,
                         tfrt_plural(function->result_count), argument_count, result_count);
  return false;
}

// Calls the frame's function on host |rank| with the frame's arguments from |first_argument|
// on. Without a router there is one host, this one.
static void call_host(tfrt_kernel_frame_t* frame, uint32_t rank, uint32_t first_argument,
                      tfrt_async_value_t** results) {
  tfrt_call_options_t options = {0};
  if (frame->call_options) options = *frame->call_options;
  options.has_host = true;
  options.host = rank;
  tfrt_routed_call_t call = {.options = &options,
                             .function = frame->functions[0],
                             .context = frame->context,
                             .caller = frame->site,
                             .arguments = frame->arguments + first_argument,
                             .results = results};
  tfrt_routed_call_make(&call, frame->context->request->options.router);
}

void tfrt_distributed_call(tfrt_kernel_frame_t* frame) {
  if (!check_function(frame, frame->argument_count - 1, frame->result_count)) return;
  uint32_t rank = *(const uint32_t*)tfrt_kernel_frame_payload(frame, 0);
  call_host(frame, rank, 1, frame->results);
}

// The call on this host comes last: it may run here and now, and the others need not wait.
void tfrt_distributed_call_all(tfrt_kernel_frame_t* frame) {
  if (!check_function(frame, frame->argument_count, 1)) return;
  tfrt_call_place_t place = tfrt_distributed_place(frame->context);
  tfrt_async_value_t** elements = NULL;
  tfrt_async_value_t* list =
      tfrt_async_value_create_list(place.host_count, frame->context->host->allocator, &elements);
  tfrt_kernel_frame_set(frame, 0, list);
  if (!elements) return;
  for (uint32_t rank = 0; rank < place.host_count; ++rank) {
    if (rank != place.rank) call_host(frame, rank, 0, &elements[rank]);
  }
  call_host(frame, place.rank, 0, &elements[place.rank]);
}

// --- Moving values ------------------------------------------------------------------

// Returns true if the frame has a result for each of |count| values; else fails |frame|.
static bool check_moved(tfrt_kernel_frame_t* frame, uint32_t count) {
  if (count == frame->result_count) return true;
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "%u values are moved, and %u are wanted", count, frame->result_count);
  return false;
}

// Operands that are demanded are here.
void tfrt_distributed_fetch(tfrt_kernel_frame_t* frame) {
  if (!check_moved(frame, frame->argument_count)) return;
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_retain(frame->arguments[i]));
  }
}

void tfrt_distributed_prefetch(tfrt_kernel_frame_t* frame) {
  tfrt_call_router_t* router = frame->context->request->options.router;
  tfrt_status_origin_t site;
  tfrt_kernel_site_origin(frame->site, &site);
  tfrt_routed_copy_t copy = {.host = *(const uint32_t*)tfrt_kernel_frame_payload(frame, 0),
                             .context = frame->context,
                             .site = &site,
                             .value = frame->arguments[1]};
  tfrt_async_value_t* chain =
      router ? router->vtable->prefetch(router, &copy)
             : tfrt_settled_chain_create(copy.value, frame->context->host->allocator);
  tfrt_kernel_frame_set(frame, 0, chain);
}

// One copy for each value, so that none waits for another.
void tfrt_distributed_copy_to(tfrt_kernel_frame_t* frame) {
  if (!check_moved(frame, frame->argument_count - 1)) return;
  tfrt_call_router_t* router = frame->context->request->options.router;
  tfrt_status_origin_t site;
  tfrt_kernel_site_origin(frame->site, &site);
  tfrt_routed_copy_t copy = {.host = *(const uint32_t*)tfrt_kernel_frame_payload(frame, 0),
                             .context = frame->context,
                             .site = &site};
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    copy.value = frame->arguments[i + 1];
    tfrt_async_value_t* result =
        router ? router->vtable->copy(router, &copy) : tfrt_async_value_retain(copy.value);
    tfrt_kernel_frame_set(frame, i, result);
  }
}
