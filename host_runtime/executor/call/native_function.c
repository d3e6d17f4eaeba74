// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/kernel_run.h"
#include "host_runtime/executor/call/strict_call.h"
#include "host_runtime/executor/request/request_context.h"

// Calls the C function as a kernel is run; its one site says what there is to say about it.
static void native_function_run(const tfrt_function_t* function,
                                const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments,
                                tfrt_async_value_t** results) {
  const tfrt_kernel_site_t* site = ((const tfrt_bef_callable_t*)function)->sites;
  for (uint32_t i = 0; i < function->result_count; ++i) results[i] = NULL;
  tfrt_kernel_frame_t frame = {
      .arguments = arguments,
      .results = results,
      .argument_count = function->argument_count,
      .result_count = function->result_count,
      .context = context,
      .site = site,
  };
  tfrt_running_kernel_outer_t outer = tfrt_running_kernel_enter(context->request->options.whole);
  tfrt_kernel_run(&frame, site, tfrt_request_context_trace(context->request));
  tfrt_running_kernel_leave(outer);
}

void tfrt_native_function_execute(const tfrt_function_t* function,
                                  const tfrt_execution_context_t* context,
                                  tfrt_async_value_t* const* arguments,
                                  tfrt_async_value_t** results) {
  tfrt_strict_call(function, native_function_run, tfrt_native_function_execute_take, context,
                   arguments, false, results);
}

void tfrt_native_function_execute_take(const tfrt_function_t* function,
                                       const tfrt_execution_context_t* context,
                                       tfrt_async_value_t* const* arguments,
                                       tfrt_async_value_t** results) {
  tfrt_strict_call(function, native_function_run, tfrt_native_function_execute_take, context,
                   arguments, true, results);
}
