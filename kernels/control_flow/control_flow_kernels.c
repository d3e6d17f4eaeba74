// SPDX-License-Identifier: Apache-2.0
#include "kernels/control_flow/control_flow_kernels.h"

#include "kernels/control_flow/function_call.h"
#include "kernels/control_flow/loop.h"
#include "kernels/control_flow/once.h"
#include "kernels/control_flow/ops.h"
#include "kernels/control_flow/parallel.h"

static void control_flow_call(tfrt_kernel_frame_t* frame) {
  tfrt_function_call(frame, frame->functions[0], 0);
}

// Both tfrt.if and tfrt.cond: the function for true comes first. A missing else is an
// empty region in BEF.
static void control_flow_if(tfrt_kernel_frame_t* frame) {
  tfrt_function_call(frame, frame->functions[tfrt_kernel_frame_i1(frame, 0) ? 0 : 1], 1);
}

static void control_flow_case(tfrt_kernel_frame_t* frame) {
  if (frame->function_count == 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "tfrt.case has no branches");
    return;
  }
  int32_t index = tfrt_kernel_frame_i32(frame, 0);
  bool in_range = index >= 0 && (uint32_t)index < frame->function_count;
  tfrt_function_call(frame,
                     frame->functions[in_range ? (uint32_t)index : frame->function_count - 1], 1);
}

static void control_flow_repeat(tfrt_kernel_frame_t* frame) {
  tfrt_loop_repeat(frame, tfrt_kernel_frame_i32(frame, 0));
}

// --- The same for synchronous functions ----------------------------------------

static void control_flow_sync_call(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_call(frame, frame->functions[0], 0);
}

// Both tfrt.if and tfrt.cond.
static void control_flow_sync_cond(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_call(frame, frame->functions[tfrt_sync_frame_i1(frame, 0) ? 0 : 1], 1);
}

static void control_flow_sync_case(tfrt_sync_frame_t* frame) {
  uint32_t count = frame->function_count;
  if (count == 0) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "tfrt.case has no branches");
    return;
  }
  // A negative index is a large one.
  uint32_t index = (uint32_t)tfrt_sync_frame_i32(frame, 0);
  tfrt_sync_frame_call(frame, frame->functions[index < count ? index : count - 1], 1);
}

static void control_flow_sync_repeat(tfrt_sync_frame_t* frame) {
  int32_t count = tfrt_sync_frame_i32(frame, 0);
  tfrt_sync_frame_loop(frame, frame->functions[0], false, count > 0 ? count : 0);
}

static void control_flow_sync_while(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_loop(frame, frame->functions[0], true, tfrt_sync_frame_i1(frame, 0));
}

// --- Registration ------------------------------------------------------------

tfrt_status_t tfrt_control_flow_kernels_register(tfrt_kernel_registry_t* registry) {
  static const tfrt_kernel_registration_t kernels[] = {
      {"tfrt.call", control_flow_call},
      {"tfrt.if", control_flow_if},
      {"tfrt.cond", control_flow_if},
      {"tfrt.case", control_flow_case},
      {"tfrt.while", tfrt_loop_while},
      {"tfrt.repeat.i32", control_flow_repeat},
      {"tfrt.once", tfrt_once_run_function},
      {"tfrt.parallel_for.i32", tfrt_parallel_run},
      {"tfrt.parallel_call.i32", tfrt_parallel_run},
  };
  static const tfrt_sync_kernel_registration_t sync_kernels[] = {
      {"tfrt.call", control_flow_sync_call},   {"tfrt.if", control_flow_sync_cond},
      {"tfrt.cond", control_flow_sync_cond},   {"tfrt.case", control_flow_sync_case},
      {"tfrt.while", control_flow_sync_while}, {"tfrt.repeat.i32", control_flow_sync_repeat},
  };
  TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_add_all(registry, &tfrt_control_flow_ops, kernels,
                                                    TFRT_ARRAY_SIZE(kernels)));
  return tfrt_kernel_registry_add_sync(registry, &tfrt_control_flow_ops, sync_kernels,
                                       TFRT_ARRAY_SIZE(sync_kernels));
}
