// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/kernel_run.h"

#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"

bool tfrt_kernel_run_allow_argument(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site,
                                    uint32_t index) {
  const tfrt_kernel_binding_t* binding = site->binding;
  if (binding->may_end_in_chain && index + 1 == frame->argument_count &&
      frame->arguments[index]->type_id == TFRT_TYPE_CHAIN) {
    return true;
  }
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "argument %u of '%s' is a %s, but the kernel takes a %s", index,
                         binding->name, tfrt_type_get(frame->arguments[index]->type_id)->name,
                         tfrt_type_get(binding->checks[index])->name);
  return false;
}

void tfrt_kernel_run_check_results(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site) {
  const tfrt_type_id_t* checks = site->binding->result_checks;
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    tfrt_async_value_t* result = frame->results[i];
    tfrt_async_value_state_t state = tfrt_async_value_state(result);
    // An error stands for a value of any type, whatever the one that failed was to be.
    if (state == TFRT_ASYNC_VALUE_FAILED) continue;
    tfrt_type_id_t actual = state == TFRT_ASYNC_VALUE_AVAILABLE
                                ? tfrt_async_value_resolved(result)->type_id
                                : result->type_id;
    bool known = actual != TFRT_TYPE_NONE && checks[i] != TFRT_TYPE_NONE;
    if (!known || checks[i] == actual) continue;
    tfrt_async_value_release(result);
    frame->results[i] = NULL;
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INTERNAL,
                           "kernel '%s' gave a %s as result %u, but its op table entry says %s",
                           site->binding->name, tfrt_type_get(actual)->name, i,
                           tfrt_type_get(checks[i])->name);
  }
}

_Thread_local tfrt_kernel_run_misread_t tfrt_kernel_run_misread;

void tfrt_kernel_frame_note_misread(const tfrt_kernel_frame_t* frame, uint32_t index,
                                    tfrt_type_id_t type_id) {
  // The first one explains those behind it.
  if (tfrt_kernel_run_misread.frame == frame) return;
  tfrt_kernel_run_misread =
      (tfrt_kernel_run_misread_t){.frame = frame, .index = index, .type_id = type_id};
}

void tfrt_kernel_run_fail_misread(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site) {
  tfrt_kernel_run_misread_t misread = tfrt_kernel_run_misread;
  tfrt_kernel_run_misread.frame = NULL;
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    tfrt_async_value_release(frame->results[i]);
    frame->results[i] = NULL;
  }
  tfrt_kernel_frame_fail(
      frame, TFRT_STATUS_INTERNAL,
      "kernel '%s' read its argument %u, of type %s, as type %s: let it use the accessor "
      "of the type that its op table entry says",
      site->binding->name, misread.index,
      tfrt_type_get(frame->arguments[misread.index]->type_id)->name,
      tfrt_type_get(misread.type_id)->name);
}

void tfrt_kernel_run_traced(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site) {
  tfrt_clock_t clock = frame->context->host->clock;
  const tfrt_request_context_t* request = frame->context->request;
  tfrt_trace_t* trace = tfrt_request_context_trace(request);
  tfrt_trace_enter(trace, site->binding->name);
  int64_t begin = tfrt_clock_now_ns(clock);
  site->binding->run(frame);
  tfrt_trace_leave_kernel(trace, site->binding->name, tfrt_kernel_site_location(site), begin,
                          tfrt_clock_now_ns(clock), request->options.id);
}

void tfrt_kernel_run_complete(tfrt_kernel_frame_t* frame, const tfrt_kernel_site_t* site,
                              uint32_t index) {
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INTERNAL, "kernel '%s' didn't set its result %u",
                         site->binding->name, index);
}
