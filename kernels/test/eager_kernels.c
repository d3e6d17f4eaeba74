// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/eager_kernels.h"

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/eager/eager_op.h"
#include "host_runtime/host_context.h"

// The host that operand 0 is.
static tfrt_call_options_t test_call_options(const tfrt_kernel_frame_t* frame) {
  return (tfrt_call_options_t){.has_host = true, .host = (uint32_t)tfrt_kernel_frame_i32(frame, 0)};
}

void tfrt_test_run_op_on(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t name;
  tfrt_string_builder_initialize(&name, tfrt_allocator_system());
  tfrt_string_builder_append_view(&name, tfrt_bef_attribute_string(frame->attributes[1]));
  tfrt_eager_op_options_t options = {.name = tfrt_string_builder_text(&name),
                                     .place = TFRT_EAGER_HERE};
  tfrt_call_options_t call = test_call_options(frame);
  call.deadline_ms = tfrt_bef_attribute_read_u32(frame->attributes[0]);
  call.retries = tfrt_bef_attribute_read_u32(frame->attributes[2]);
  tfrt_status_t status =
      tfrt_eager_run_on(frame->context, &options, &call, frame->arguments + 1,
                        frame->argument_count - 1, frame->results, frame->result_count);
  tfrt_string_builder_deinitialize(&name);
  if (status) tfrt_kernel_frame_fail_take(frame, status);
}

// --- A sum of many ops -----------------------------------------------------------

// Sets |*out_value| to |number| (+1), made on the host of |call|.
static tfrt_status_t test_number_on(const tfrt_execution_context_t* context,
                                    const tfrt_call_options_t* call, int32_t number,
                                    tfrt_async_value_t** out_value) {
  tfrt_eager_attribute_t value = tfrt_eager_attribute_i32("value", number);
  tfrt_eager_op_options_t options = {.name = "tfrt.constant.i32",
                                     .attributes = &value,
                                     .attribute_count = 1,
                                     .place = TFRT_EAGER_HERE};
  return tfrt_eager_run_on(context, &options, call, NULL, 0, out_value, 1);
}

// Replaces |*sum| (+1) by what it is with |number| added, which nobody waits for.
static tfrt_status_t test_add_on(const tfrt_execution_context_t* context,
                                 const tfrt_call_options_t* call, const tfrt_eager_op_t* add,
                                 int32_t number, tfrt_async_value_t** sum) {
  tfrt_async_value_t* arguments[2] = {*sum, NULL};
  TFRT_RETURN_IF_ERROR(test_number_on(context, call, number, &arguments[1]));
  tfrt_async_value_t* next = NULL;
  tfrt_status_t status = tfrt_eager_op_run_on(add, context, call, arguments, 2, &next, 1);
  tfrt_async_value_release(arguments[1]);
  if (status) return status;
  tfrt_async_value_release(*sum);
  *sum = next;
  return NULL;
}

void tfrt_test_sum_on(tfrt_kernel_frame_t* frame) {
  const tfrt_execution_context_t* context = frame->context;
  const int32_t count = (int32_t)tfrt_bef_attribute_read_u32(frame->attributes[0]);
  tfrt_call_options_t call = test_call_options(frame);
  tfrt_eager_op_options_t options = {
      .name = "tfrt.add.i32", .is_portable = true, .place = TFRT_EAGER_HERE};
  tfrt_eager_op_t* add = NULL;
  tfrt_async_value_t* sum = NULL;
  tfrt_status_t status = tfrt_eager_op_create(context->host->registry, &options, &add);
  if (!status) status = test_number_on(context, &call, 0, &sum);
  for (int32_t i = 1; i <= count && !status; ++i) {
    status = test_add_on(context, &call, add, i, &sum);
  }
  tfrt_eager_op_release(add);
  if (!status) {
    tfrt_kernel_frame_set(frame, 0, sum);
    return;
  }
  tfrt_async_value_release(sum);
  tfrt_kernel_frame_fail_take(frame, status);
}
