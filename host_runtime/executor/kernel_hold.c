// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel_hold.h"

#include "host_runtime/executor/program.h"
#include "host_runtime/executor/request_context.h"

void tfrt_kernel_hold_initialize(tfrt_kernel_hold_t* hold, const tfrt_kernel_frame_t* frame) {
  *hold =
      (tfrt_kernel_hold_t){.context = *frame->context,
                           .program = tfrt_program_retain(tfrt_kernel_site_program(frame->site)),
                           .site = frame->site};
  tfrt_request_context_retain(hold->context.request);
}

void tfrt_kernel_hold_deinitialize(tfrt_kernel_hold_t* hold) {
  tfrt_request_context_release(hold->context.request);
  tfrt_program_release(hold->program);
}
