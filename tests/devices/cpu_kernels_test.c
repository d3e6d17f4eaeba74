// SPDX-License-Identifier: Apache-2.0
//
// The kernels of CPU devices refuse buffers that are too small, and declarations of other
// parameters.
#include "devices/cpu/cpu_kernels.h"

#include <string.h>

#include "devices/device_allocator.h"
#include "devices/device_stream.h"
#include "host_runtime/async/inline_work_queue.h"
#include "tests/support/test_main.h"

static const char image[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry tfrt_fill_f32(.param .u64 a, .param .f32 b, .param .u32 c) { ret; }\n"
    ".visible .entry tfrt_fill_f16(.param .u64 a, .param .u32 b, .param .u32 c) { ret; }\n"
    ".visible .entry tfrt_copy_f32(.param .u64 a, .param .u64 b) { ret; }\n"
    ".visible .entry tfrt_sum_rows_f32(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }\n"
    ".visible .entry tfrt_matmul_bf16(.param .u64 a, .param .u64 b, .param .u64 c,"
    " .param .u32 d, .param .u32 e, .param .u32 f) { ret; }\n"
    ".visible .entry tfrt_conv2d_f32(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d,"
    " .param .u32 e, .param .u32 f, .param .u32 g, .param .u32 h, .param .u32 i, .param .u32 j,"
    " .param .u32 k) { ret; }\n";

static tfrt_work_queue_t* queue;
static tfrt_device_platform_t* platform;
static tfrt_device_t* device;
static tfrt_device_stream_t* stream;
static tfrt_device_allocator_t* allocator;
static tfrt_device_module_t* module;

static void expect_ok(tfrt_status_t status) {
  ck_assert_msg(!status, "%s", status ? tfrt_status_message(status) : "");
}

// |status| (consumed) is an error of |code| with |text| in its message.
static void expect(tfrt_status_t status, tfrt_status_code_t code, const char* text) {
  ck_assert_ptr_nonnull(status);
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_msg(strstr(tfrt_status_message(status), text), "%s", tfrt_status_message(status));
  tfrt_status_release(status);
}

static void set_up(void) {
  expect_ok(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  tfrt_cpu_platform_options_t options = {.device_count = 1,
                                         .memory_size = 1 << 20,
                                         .kernels = tfrt_cpu_kernels,
                                         .kernel_count = TFRT_CPU_KERNEL_COUNT};
  expect_ok(tfrt_cpu_platform_create(&options, tfrt_allocator_system(), queue, &platform));
  expect_ok(tfrt_device_platform_device(platform, 0, &device));
  expect_ok(tfrt_device_create_stream(device, &stream));
  expect_ok(tfrt_device_allocator_create(device, &allocator));
  expect_ok(tfrt_device_load_module(device, image, strlen(image), &module));
}

static void tear_down(void) {
  tfrt_work_queue_quiesce(queue);
  tfrt_device_module_release(module);
  tfrt_device_allocator_release(allocator);
  tfrt_device_stream_release(stream);
  tfrt_device_platform_release(platform);
  tfrt_work_queue_release(queue);
}

static tfrt_device_buffer_t* allocate(size_t size) {
  tfrt_device_buffer_t* buffer = NULL;
  expect_ok(tfrt_device_allocator_allocate(allocator, stream, size, &buffer));
  return buffer;
}

// Launches |name| on |rows| blocks with |buffer_count| times |buffer| and |number_count| ui32s.
static tfrt_status_t launch(const char* name, uint32_t rows, tfrt_device_buffer_t* buffer,
                            uint32_t buffer_count, const uint32_t* numbers, uint32_t number_count) {
  tfrt_device_function_t* function = NULL;
  expect_ok(tfrt_device_module_function(module, name, &function));
  tfrt_device_launch_t launch = {.grid = {rows, 1, 1}, .block = {32, 1, 1}};
  tfrt_device_argument_t arguments[16];
  for (uint32_t i = 0; i < buffer_count; ++i) {
    arguments[i] = (tfrt_device_argument_t){.buffer = buffer};
  }
  for (uint32_t i = 0; i < number_count; ++i) {
    arguments[buffer_count + i] =
        (tfrt_device_argument_t){.bytes = &numbers[i], .size = sizeof(numbers[i])};
  }
  tfrt_status_t status =
      tfrt_device_stream_launch(stream, function, &launch, arguments, buffer_count + number_count);
  tfrt_device_function_release(function);
  return status;
}

START_TEST(a_count_beyond_the_buffer_is_refused) {
  tfrt_device_buffer_t* buffer = allocate(64);
  // The value's bits are 0.
  expect_ok(launch("tfrt_fill_f32", 1, buffer, 1, (uint32_t[]){0, 16}, 2));
  expect(launch("tfrt_fill_f32", 1, buffer, 1, (uint32_t[]){0, 17}, 2), TFRT_STATUS_OUT_OF_RANGE,
         "tfrt_fill_f32 uses 68 bytes of argument 0, a buffer of 64");
  expect(launch("tfrt_fill_f32", 1, buffer, 1, (uint32_t[]){0, UINT32_MAX}, 2),
         TFRT_STATUS_OUT_OF_RANGE, "of argument 0");
  tfrt_device_buffer_release(buffer);
}
END_TEST

START_TEST(rows_beyond_the_buffer_are_refused) {
  tfrt_device_buffer_t* buffer = allocate(64);
  expect_ok(launch("tfrt_sum_rows_f32", 4, buffer, 2, (uint32_t[]){4}, 1));
  expect(launch("tfrt_sum_rows_f32", 5, buffer, 2, (uint32_t[]){4}, 1), TFRT_STATUS_OUT_OF_RANGE,
         "uses 80 bytes of argument 0");
  expect(launch("tfrt_sum_rows_f32", 17, buffer, 2, (uint32_t[]){0}, 1), TFRT_STATUS_OUT_OF_RANGE,
         "uses 68 bytes of argument 1");
  tfrt_device_buffer_release(buffer);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused) {
  tfrt_device_buffer_t* buffer = allocate(64);
  expect_ok(launch("tfrt_matmul_bf16", 1, buffer, 3, (uint32_t[]){4, 8, 4}, 3));
  // 2^32 rows of 2^32 columns of 2 bytes are 2 to the 65.
  expect(
      launch("tfrt_matmul_bf16", 1, buffer, 3, (uint32_t[]){UINT32_MAX, UINT32_MAX, UINT32_MAX}, 3),
      TFRT_STATUS_OUT_OF_RANGE, "uses more than");
  expect(launch("tfrt_conv2d_f32", 1, buffer, 4,
                (uint32_t[]){1u << 31, 1u << 31, 1u << 31, 1u << 31, 1, 1, 0}, 7),
         TFRT_STATUS_OUT_OF_RANGE, "uses more than");
  // One image of 4 times 4, one window of 2 times 2.
  expect_ok(launch("tfrt_conv2d_f32", 1, buffer, 4, (uint32_t[]){1, 1, 4, 4, 1, 2, 0}, 7));
  expect(launch("tfrt_conv2d_f32", 1, buffer, 4, (uint32_t[]){1, 1, 4, 5, 1, 2, 0}, 7),
         TFRT_STATUS_OUT_OF_RANGE, "uses 80 bytes of argument 0");
  tfrt_device_buffer_release(buffer);
}
END_TEST

START_TEST(other_parameters_are_refused) {
  tfrt_device_function_t* function = NULL;
  expect(tfrt_device_module_function(module, "tfrt_copy_f32", &function),
         TFRT_STATUS_INVALID_ARGUMENT,
         "tfrt_copy_f32 is declared with 2 parameters, but has 3 here");
  expect(tfrt_device_module_function(module, "tfrt_fill_f16", &function),
         TFRT_STATUS_INVALID_ARGUMENT,
         "parameter 1 of tfrt_fill_f16 is declared with 4 bytes, but has 2 here");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("cpu_kernels");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, a_count_beyond_the_buffer_is_refused);
  tcase_add_test(tests, rows_beyond_the_buffer_are_refused);
  tcase_add_test(tests, sizes_that_overflow_are_refused);
  tcase_add_test(tests, other_parameters_are_refused);
  Suite* suite = suite_create("cpu_kernels");
  suite_add_tcase(suite, tests);
  return suite;
}
