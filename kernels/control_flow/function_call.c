// SPDX-License-Identifier: Apache-2.0
#include "kernels/control_flow/function_call.h"

#include "host_runtime/base/plural.h"
#include "host_runtime/executor/request/request_context.h"

bool tfrt_function_call_fits(tfrt_kernel_frame_t* frame, const tfrt_function_t* function,
                             uint32_t argument_count, uint32_t result_count) {
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

void tfrt_function_call(tfrt_kernel_frame_t* frame, const tfrt_function_t* function,
                        uint32_t first_argument) {
  if (!tfrt_function_call_fits(frame, function, frame->argument_count - first_argument,
                               frame->result_count)) {
    return;
  }
  tfrt_call_router_t* router = frame->context->request->options.router;
  if (!frame->call_options || !router) {
    tfrt_execution_context_t context = *frame->context;
    if (frame->call_options) tfrt_call_options_place(frame->call_options, &context);
    tfrt_function_execute(function, &context, frame->arguments + first_argument, frame->results);
    return;
  }
  tfrt_routed_call_t call = {.options = frame->call_options,
                             .function = function,
                             .context = frame->context,
                             .caller = frame->site,
                             .gives_results = true,
                             .arguments = frame->arguments + first_argument,
                             .results = frame->results};
  router->vtable->call(router, &call);
}
