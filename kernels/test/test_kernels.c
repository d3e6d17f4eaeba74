// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/test_kernels.h"

#include <stdatomic.h>
#include <string.h>

#include "host_runtime/executor/program/race_memory.h"
#include "host_runtime/executor/request/request_context.h"
#include "kernels/test/async_kernels.h"
#include "kernels/test/benchmark.h"
#include "kernels/test/eager_kernels.h"
#include "kernels/test/inspection_kernels.h"
#include "kernels/test/lifetime_kernels.h"
#include "kernels/test/native_functions.h"
#include "kernels/test/ops.h"
#include "kernels/test/string_kernels.h"
#include "kernels/test/sync_test_kernels.h"

// --- Printing ----------------------------------------------------------------

// Prints |prefix| and |text| as one line; the result is the line's chain.
static void test_print(tfrt_kernel_frame_t* frame, const char* prefix, tfrt_string_view_t text) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  tfrt_string_builder_append_text(&line, prefix);
  tfrt_string_builder_append_view(&line, text);
  tfrt_kernel_frame_set(
      frame, 0, tfrt_execution_context_print(frame->context, tfrt_string_builder_view(&line)));
  tfrt_string_builder_deinitialize(&line);
}

static void test_print_hello(tfrt_kernel_frame_t* frame) {
  test_print(frame, "", tfrt_string_view_of("hello host executor!"));
}

static void test_print_string(tfrt_kernel_frame_t* frame) {
  test_print(frame, "string = ", tfrt_async_value_string(frame->arguments[0]));
}

static void test_print_bool(tfrt_kernel_frame_t* frame) {
  test_print(frame, "", tfrt_string_view_of(tfrt_kernel_frame_i1(frame, 1) ? "true" : "false"));
}

// --- Counters ----------------------------------------------------------------

static tfrt_type_id_t tfrt_test_atomic_type;

static _Atomic int32_t* test_atomic(tfrt_kernel_frame_t* frame) {
  return tfrt_kernel_frame_payload(frame, 0);
}

static void test_atomic_create_i32(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* counter = tfrt_async_value_create_available(tfrt_test_atomic_type);
  if (counter) atomic_init((_Atomic int32_t*)tfrt_async_value_payload(counter), 0);
  tfrt_kernel_frame_set(frame, 0, counter ? counter : tfrt_async_value_out_of_memory());
}

static void test_atomic_get_i32(tfrt_kernel_frame_t* frame) {
  // Relaxed: chains order this read behind the additions that it must see.
  tfrt_kernel_frame_set_i32(frame, 0,
                            atomic_load_explicit(test_atomic(frame), memory_order_relaxed));
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

static void test_atomic_inc_i32(tfrt_kernel_frame_t* frame) {
  atomic_fetch_add_explicit(test_atomic(frame), 1, memory_order_relaxed);
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

static void test_atomic_add_i32(tfrt_kernel_frame_t* frame) {
  atomic_fetch_add_explicit(test_atomic(frame), tfrt_kernel_frame_i32(frame, 1),
                            memory_order_relaxed);
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

// --- Errors ------------------------------------------------------------------

static void test_fail(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INTERNAL, "something bad happened");
}

static void test_partial_fail(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, 1);
  test_fail(frame);
}

static void test_cancel(tfrt_kernel_frame_t* frame) {
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "Cancelled");
  tfrt_request_context_cancel(frame->context->request, reason);
  tfrt_status_release(reason);
  tfrt_kernel_frame_set_i32(frame, 0, 0);
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

// --- Values ------------------------------------------------------------------

static void test_count3_i32(tfrt_kernel_frame_t* frame) {
  uint32_t number = (uint32_t)tfrt_kernel_frame_i32(frame, 0);
  for (uint32_t i = 0; i < 3; ++i) tfrt_kernel_frame_set_i32(frame, i, (int32_t)(number + i + 1));
}

static void test_count3_i64(tfrt_kernel_frame_t* frame) {
  uint64_t number = (uint64_t)tfrt_kernel_frame_i64(frame, 0);
  for (uint32_t i = 0; i < 3; ++i) tfrt_kernel_frame_set_i64(frame, i, (int64_t)(number + i + 1));
}

static void test_sum(tfrt_kernel_frame_t* frame) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    sum += (uint32_t)tfrt_kernel_frame_i32(frame, i);
  }
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)sum);
}

// Makes the arguments from |first| on the results.
static void test_return_arguments(tfrt_kernel_frame_t* frame, uint32_t first) {
  if (frame->result_count != frame->argument_count - first) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "%u values for %u results",
                           frame->argument_count - first, frame->result_count);
    return;
  }
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_retain(frame->arguments[first + i]));
  }
}

static void test_multi_arg_result(tfrt_kernel_frame_t* frame) { test_return_arguments(frame, 0); }

static void test_identity(tfrt_kernel_frame_t* frame) { test_return_arguments(frame, 1); }

static void test_make_indirect(tfrt_kernel_frame_t* frame) {
  test_return_arguments(frame, 0);
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
    if (!indirect) continue;  // the value itself is as good
    tfrt_indirect_value_forward_take(indirect, tfrt_kernel_frame_take(frame, i));
    tfrt_kernel_frame_set(frame, i, &indirect->base);
  }
}

// The executor has waited for all operands.
static void test_as_chain(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

static void test_test_cost(tfrt_kernel_frame_t* frame) {
  int64_t id;
  memcpy(&id, frame->attributes[0], sizeof(id));
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  tfrt_string_builder_append_format(&line, "id: %lld", (long long)id);
  tfrt_async_value_release(
      tfrt_execution_context_print(frame->context, tfrt_string_builder_view(&line)));
  tfrt_string_builder_deinitialize(&line);
  tfrt_kernel_frame_set_i32(frame, 0, 0);
}

// --- Registration ------------------------------------------------------------

static const tfrt_kernel_registration_t kernels[] = {
    {"tfrt_test.async_add.i32", tfrt_test_async_add_i32},
    {"tfrt_test.async_constant.i1", tfrt_test_async_constant_i1},
    {"tfrt_test.async_constant.i32", tfrt_test_async_constant_i32},
    {"tfrt_test.async_copy.i32", tfrt_test_async_copy_i32},
    {"tfrt_test.async_copy_2.i32", tfrt_test_async_copy_i32},
    {"tfrt_test.async_copy.with_delay.i32", tfrt_test_async_copy_with_delay_i32},
    {"tfrt_test.async_copy.with_delay.i64", tfrt_test_async_copy_with_delay_i64},
    {"tfrt_test.copy.with_delay.i32", tfrt_test_copy_with_delay},
    {"tfrt_test.copy.with_delay.i64", tfrt_test_copy_with_delay},
    {"tfrt_test.count3.i32", test_count3_i32},
    {"tfrt_test.count3.i64", test_count3_i64},
    {"tfrt_test.sum", test_sum},
    {"tfrt_test.atomic.create.i32", test_atomic_create_i32},
    {"tfrt_test.atomic.get.i32", test_atomic_get_i32},
    {"tfrt_test.atomic.inc.i32", test_atomic_inc_i32},
    {"tfrt_test.atomic.add.i32", test_atomic_add_i32},
    {"tfrt_test.get_string", tfrt_test_get_string},
    {"tfrt_test.append_string", tfrt_test_append_string},
    {"tfrt_test.run_op_on", tfrt_test_run_op_on},
    {"tfrt_test.sum_on", tfrt_test_sum_on},
    {"tfrt_test.string_equal", tfrt_test_string_equal},
    {"tfrt_test.format_string", tfrt_test_format_string},
    {"tfrt_test.read_string_from_file", tfrt_test_read_string_from_file},
    {"tfrt_test.print_string", test_print_string},
    {"tfrt_test.print_hello", test_print_hello},
    {"tfrt_test.print_bool", test_print_bool},
    {"tfrt_test.fail", test_fail},
    {"tfrt_test.partial_fail", test_partial_fail},
    {"tfrt_test.report_error_async", tfrt_test_report_error_async},
    {"tfrt_test.report_error_concrete_async", tfrt_test_report_error_concrete_async},
    {"tfrt_test.report_error_indirect_async", tfrt_test_report_error_indirect_async},
    {"tfrt_test.cancel", test_cancel},
    {"tfrt_test.multi_arg_result", test_multi_arg_result},
    {"tfrt_test.make_indirect", test_make_indirect},
    {"tfrt_test.stand_for", test_make_indirect},
    {"tfrt_test.identity", test_identity},
    {"tfrt_test.as_chain", test_as_chain},
    {"tfrt_test.usleep", tfrt_test_usleep},
    {"tfrt_test.blocking.usleep", tfrt_test_blocking_usleep},
    {"tfrt_test.test_cost", test_test_cost},
    {"tfrt_test.do.async", tfrt_test_do_async},
    {"tfrt_test.benchmark", tfrt_test_benchmark},
    {"tfrt_test.share_to_two", tfrt_test_share_to_two},
    {"tfrt_test.get_uniqueness", tfrt_test_get_uniqueness},
    {"tfrt_test.allocate_resource", tfrt_test_allocate_resource},
    {"tfrt_test.deallocate_resource", tfrt_test_deallocate_resource},
    {"tfrt_test.memory_leak_one_int32", tfrt_test_memory_leak_one_int32},
    {"tfrt_test.print_debug_info", tfrt_test_print_debug_info},
    {"tfrt_test.unique_loc", tfrt_test_unique_loc},
    {"tfrt_test.get_thread_id", tfrt_test_get_thread_id},
    {"tfrt_test.flat", tfrt_test_flat},
    {"tfrt_test.logging", tfrt_test_logging},
    {"tfrt_test.use_sample_shared_context", tfrt_test_use_sample_shared_context},
    {"tfrt_test.async_value_get", tfrt_test_async_value_get},
    {"tfrt_test.async_value_ref", tfrt_test_async_value_ref},
    {"vt.constant", tfrt_test_vt_constant},
    {"vt.add", tfrt_test_vt_add},
    {"vt.print", tfrt_test_vt_print},
    {"tfrt_tutorial.create_coordinate", tfrt_test_create_coordinate},
    {"tfrt_tutorial.print_coordinate", tfrt_test_print_coordinate},
};

// Any kernels may use an atomic at once.
static const void* no_memory(const void* payload) {
  (void)payload;
  return NULL;
}

tfrt_status_t tfrt_test_kernels_register(tfrt_kernel_registry_t* registry) {
  static const tfrt_type_t atomic_type = {
      .name = "!test.atomic.i32", .size = sizeof(_Atomic int32_t), .flags = TFRT_TYPE_FLAG_MUTABLE};
  TFRT_RETURN_IF_ERROR(tfrt_type_register(&atomic_type, &tfrt_test_atomic_type));
  tfrt_race_watch_set_memory(tfrt_test_atomic_type, no_memory);
  TFRT_RETURN_IF_ERROR(tfrt_test_lifetime_types_register());
  TFRT_RETURN_IF_ERROR(tfrt_test_inspection_types_register());
  TFRT_RETURN_IF_ERROR(
      tfrt_kernel_registry_add_all(registry, &tfrt_test_ops, kernels, TFRT_ARRAY_SIZE(kernels)));
  TFRT_RETURN_IF_ERROR(tfrt_test_sync_kernels_register(registry));
  return tfrt_test_native_functions_register(registry);
}
