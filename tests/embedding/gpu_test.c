// SPDX-License-Identifier: Apache-2.0
//
// Devices of a program with the runtime inside, on the CPU and over the fake CUDA driver.
#include "embedding/gpu.h"

#include <string.h>

#include "embedding/tfrt.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

#define PROGRAM(PLATFORM)                                                              \
  "func.func @main() -> i32 {\n"                                                       \
  "  %ch0 = tfrt.new.chain\n"                                                          \
  "  %ordinal = tfrt.constant.i32 0\n"                                                 \
  "  %device = tfrt_gpu.device.get " PLATFORM                                          \
  ", %ordinal\n"                                                                       \
  "  %context = tfrt_gpu.context.primary %device\n"                                    \
  "  %stream = tfrt_gpu.stream.create %context\n"                                      \
  "  %size = tfrt.constant.i64 4\n"                                                    \
  "  %allocator = tfrt_gpu.allocator.create %context\n"                                \
  "  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0\n"               \
  "  %value = tfrt.constant.i32 1077\n"                                                \
  "  %ch1 = tfrt_gpu.mem.set %buffer, %value, %stream, %ch0 : !tfrt_gpu.buffer, i32\n" \
  "  %host = tfrt_gpu.mem.allocate_host %context, %size, %ch1\n"                       \
  "  %ch2 = tfrt_gpu.mem.copy %host, %buffer, %stream, %ch1"                           \
  " : !tfrt_gpu.buffer, !tfrt_gpu.buffer\n"                                            \
  "  %ch3 = tfrt_gpu.stream.synchronize %stream, %ch2\n"                               \
  "  %number = tfrt_gpu.mem.load %host, %ch3 : i32\n"                                  \
  "  tfrt.return %number : i32\n"                                                      \
  "}\n"

// The result (+1) of @main of |text|, on a host of its own whose devices are |library|'s.
static tfrt_async_value_t* run(const char* text, const char* library) {
  tfrt_thread_pool_options_t pool = {.thread_count = 2};
  tfrt_work_queue_t* queue = NULL;
  tfrt_host_context_t* host = NULL;
  tfrt_program_t* program = NULL;
  tfrt_request_context_t* request = NULL;
  tfrt_async_value_t* result = NULL;
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  ck_assert_ptr_null(tfrt_thread_pool_work_queue_create(&pool, tfrt_allocator_system(), &queue));
  ck_assert_ptr_null(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, &host));
  ck_assert_ptr_null(tfrt_standard_kernels_register(host->registry));
  ck_assert_ptr_null(tfrt_gpu_kernels_register(host->registry));
  ck_assert_ptr_null(tfrt_gpu_devices_add(host, library));
  ck_assert_ptr_null(tfrt_program_create_from_text("p.mlir", tfrt_string_view_of(text),
                                                   host->registry, tfrt_allocator_system(), &report,
                                                   &program));
  tfrt_request_options_t options = tfrt_request_options_default();
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  tfrt_function_execute(tfrt_program_find_function(program, "main"), &context, NULL, &result);
  tfrt_blocking_wait(&result, 1);
  tfrt_request_context_release(request);
  tfrt_program_release(program);
  tfrt_gpu_devices_drain(host);
  tfrt_host_context_free(host);
  tfrt_string_builder_deinitialize(&report);
  return result;
}

static void expect_number(const char* text, const char* library) {
  tfrt_async_value_t* result = run(text, library);
  if (tfrt_async_value_is_error(result)) {
    ck_abort_msg("%s", tfrt_status_message(tfrt_async_value_error(result)));
  }
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(result)), 1077);
  tfrt_async_value_release(result);
}

START_TEST(a_program_uses_the_cpu_as_a_device) { expect_number(PROGRAM("CPU"), NULL); }
END_TEST

static tfrt_status_t open_unplugged(const void* options, tfrt_allocator_t allocator,
                                    tfrt_work_queue_t* work_queue,
                                    tfrt_device_platform_t** out_platform) {
  (void)options, (void)allocator, (void)work_queue, (void)out_platform;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "not plugged in");
}

START_TEST(a_program_asks_for_a_kind_that_this_process_registers) {
  static const tfrt_device_kind_t kind = {"mine", open_unplugged, NULL};
  ck_assert_ptr_null(tfrt_device_kind_register(&kind));
  tfrt_async_value_t* result = run(PROGRAM("MINE"), NULL);
  ck_assert(tfrt_async_value_is_error(result));
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(result)), "not plugged in");
  tfrt_async_value_release(result);
}
END_TEST

START_TEST(the_names_of_the_kinds_that_come_along_are_taken) {
  static const tfrt_device_kind_t kind = {"cuda", open_unplugged, NULL};
  ck_assert_ptr_null(tfrt_gpu_kinds_register());
  tfrt_status_t status = tfrt_device_kind_register(&kind);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_ALREADY_EXISTS);
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_program_uses_a_driver_that_is_opened_when_it_asks) {
  expect_number(PROGRAM("CUDA"), TFRT_FAKE_CUDA_PATH);
  ck_assert_int_eq(tfrt_fake_cuda_control()->live(), 0);
}
END_TEST

START_TEST(a_driver_that_is_missing_is_one_line) {
  tfrt_async_value_t* result = run(PROGRAM("CUDA"), "nowhere/libcuda.so");
  ck_assert(tfrt_async_value_is_error(result));
  const char* text = tfrt_status_message(tfrt_async_value_error(result));
  ck_assert_msg(strncmp(text, "no CUDA: ", 9) == 0 && !strchr(text, '\n'), "%s", text);
  tfrt_async_value_release(result);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("gpu");
  TCase* tests = tcase_create("devices");
  tcase_add_test(tests, a_program_uses_the_cpu_as_a_device);
  tcase_add_test(tests, a_program_asks_for_a_kind_that_this_process_registers);
  tcase_add_test(tests, the_names_of_the_kinds_that_come_along_are_taken);
  tcase_add_test(tests, a_program_uses_a_driver_that_is_opened_when_it_asks);
  tcase_add_test(tests, a_driver_that_is_missing_is_one_line);
  suite_add_tcase(suite, tests);
  return suite;
}
