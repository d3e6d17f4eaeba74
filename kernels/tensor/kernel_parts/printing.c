// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/kernel_parts/printing.h"

#include "host_runtime/executor/request/request_context.h"
#include "kernels/tensor/kernel_parts/compute.h"

void tfrt_print_line_take(tfrt_kernel_frame_t* frame, tfrt_string_builder_t* line) {
  tfrt_status_t status = tfrt_string_builder_status(line);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(
        frame, 0, tfrt_execution_context_print(frame->context, tfrt_string_builder_view(line)));
  }
  tfrt_string_builder_deinitialize(line);
}

void tfrt_print_shape(tfrt_kernel_frame_t* frame, const tfrt_shape_t* shape) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_string_builder_append_text(&line, "shape = ");
  tfrt_shape_print(shape, &line);
  tfrt_print_line_take(frame, &line);
}
