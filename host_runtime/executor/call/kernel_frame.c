// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/kernel_frame.h"

#include <stdarg.h>

#include "host_runtime/executor/call/scheduled_call.h"
#include "host_runtime/executor/program/program_impl.h"

bool tfrt_kernel_frame_is_unique(const tfrt_kernel_frame_t* frame, uint32_t index) {
  if (frame->scheduled) return tfrt_scheduled_call_is_unique(frame->scheduled, index);
  if (!frame->registers) return false;
  const uint32_t number = tfrt_bef_record_arguments(tfrt_kernel_site_record(frame->site))[index];
  // Not the argument: that may be the target of an indirect value that others have too.
  // Relaxed: the kernel's start ordered the store before this load.
  return tfrt_async_value_is_unique(
      atomic_load_explicit(&frame->registers[number], memory_order_relaxed));
}

void tfrt_kernel_frame_fail_take(tfrt_kernel_frame_t* frame, tfrt_status_t status) {
  tfrt_async_value_t* error =
      tfrt_async_value_create_error_take(tfrt_kernel_site_take_status(frame->site, status));
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    if (!frame->results[i]) frame->results[i] = tfrt_async_value_retain(error);
  }
  tfrt_async_value_release(error);
}

void tfrt_kernel_frame_fail(tfrt_kernel_frame_t* frame, tfrt_status_code_t code, const char* format,
                            ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_status_t status = tfrt_status_create_v(code, format, arguments);
  va_end(arguments);
  tfrt_kernel_frame_fail_take(frame, status);
}

void tfrt_kernel_frame_set_again(tfrt_kernel_frame_t* frame, uint32_t index,
                                 tfrt_async_value_t* value) {
  bool has_failed = tfrt_async_value_is_error(frame->results[index]);
  tfrt_async_value_release(frame->results[index]);
  tfrt_async_value_release(value);
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_INTERNAL, "kernel '%s' set its result %u %s",
                         frame->site ? frame->site->binding->name : "(unknown)", index,
                         has_failed ? "although it was an error already" : "twice");
  frame->results[index] =
      tfrt_async_value_create_error_take(tfrt_kernel_site_take_status(frame->site, status));
}
