// SPDX-License-Identifier: Apache-2.0
//
// Calls that the backend refuses at once, changing nothing.
#include "devices/conformance/conformance_fixture.h"

#define SIZE TFRT_CONFORMANCE_SIZE

START_TEST(a_copy_beyond_the_end_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  const size_t bad[][3] = {{0, 0, SIZE + 1}, {1, 0, SIZE},     {0, 1, SIZE},
                           {SIZE + 1, 0, 0}, {SIZE_MAX, 0, 2}, {0, 2, SIZE_MAX}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    tfrt_conformance_expect(
        tfrt_device_stream_copy(t->stream, t->buffer, bad[i][0], t->host, bad[i][1], bad[i][2]),
        TFRT_STATUS_OUT_OF_RANGE);
  }
}
END_TEST

START_TEST(a_copy_onto_itself_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_conformance_expect(
      tfrt_device_stream_copy(t->stream, t->buffer, 0, t->buffer, 100, SIZE / 2),
      TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_conformance_expect_ok(
      tfrt_device_stream_copy(t->stream, t->buffer, 0, t->buffer, SIZE / 2, SIZE / 2));
}
END_TEST

START_TEST(a_fill_that_does_not_fit_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_buffer_t* there = tfrt_conformance_allocate(t->stream, SIZE + 1);
  tfrt_conformance_expect(tfrt_device_stream_fill(t->stream, there, 0, 2),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_conformance_expect(tfrt_device_stream_fill(t->stream, there, 0, 3),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_conformance_expect(tfrt_device_stream_fill(t->stream, t->host, 0, 4),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_device_buffer_release(there);
}
END_TEST

START_TEST(wrong_arguments_of_a_kernel_are_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  if (t->increment->parameter_count != TFRT_DEVICE_PARAMETERS_UNKNOWN) {
    tfrt_device_buffer_t* buffer = tfrt_conformance_allocate(t->stream, SIZE);
    uint64_t count = 1;
    tfrt_device_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    tfrt_device_argument_t wide[] = {{.buffer = buffer}, {.bytes = &count, .size = sizeof(count)}};
    tfrt_conformance_expect(tfrt_device_stream_launch(t->stream, t->increment, &launch, wide, 1),
                            TFRT_STATUS_INVALID_ARGUMENT);
    tfrt_conformance_expect(tfrt_device_stream_launch(t->stream, t->increment, &launch, wide, 2),
                            TFRT_STATUS_INVALID_ARGUMENT);
    tfrt_device_buffer_release(buffer);
  }
}
END_TEST

START_TEST(a_block_that_the_device_can_not_run_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  uint32_t count = 1;
  tfrt_device_argument_t arguments[] = {{.buffer = t->buffer},
                                        {.bytes = &count, .size = sizeof(count)}};
  const tfrt_device_launch_t bad[] = {
      {.grid = {1, 1, 1}, .block = {0, 1, 1}},
      {.grid = {1, 1, 1}, .block = {1 << 20, 1, 1}},
      {.grid = {1, 1, 1}, .block = {1024, 1024, 1}},
      {.grid = {1, UINT32_MAX, 1}, .block = {1, 1, 1}},
      {.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_size = 1u << 30},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    tfrt_conformance_expect(
        tfrt_device_stream_launch(t->stream, t->increment, &bad[i], arguments, 2),
        TFRT_STATUS_INVALID_ARGUMENT);
  }
}
END_TEST

START_TEST(what_a_module_lacks_is_not_found) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_module_t* module = tfrt_conformance_module(t->device);
  tfrt_device_function_t* function;
  tfrt_device_buffer_t* buffer;
  tfrt_conformance_expect(tfrt_device_module_function(module, "test_total", &function),
                          TFRT_STATUS_NOT_FOUND);
  tfrt_conformance_expect(tfrt_device_module_function(module, "nothing", &function),
                          TFRT_STATUS_NOT_FOUND);
  tfrt_conformance_expect(tfrt_device_module_global(module, "nothing", &buffer),
                          TFRT_STATUS_NOT_FOUND);
  ck_assert_ptr_null(function);
  ck_assert_ptr_null(buffer);
  tfrt_device_module_release(module);
}
END_TEST

START_TEST(an_image_that_is_none_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_module_t* module;
  tfrt_conformance_expect(tfrt_device_load_module(t->device, "", 0, &module),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_conformance_expect(tfrt_device_load_module(t->device, "no code", 7, &module),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_conformance_expect(
      tfrt_device_load_module(t->device, ".version 6.4\n.entry f(.param .u64", 33, &module),
      TFRT_STATUS_INVALID_ARGUMENT);
}
END_TEST

START_TEST(a_device_that_is_not_there_is_not_found) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_t* device;
  tfrt_conformance_expect(
      tfrt_device_platform_device(t->platform, t->platform->device_count, &device),
      TFRT_STATUS_NOT_FOUND);
  tfrt_conformance_expect(tfrt_device_platform_device(t->platform, -1, &device),
                          TFRT_STATUS_NOT_FOUND);
  ck_assert_ptr_null(device);
}
END_TEST

TCase* tfrt_conformance_refusals_case(void) {
  TCase* refusals = tcase_create("refusals");
  tcase_add_checked_fixture(refusals, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(refusals, a_copy_beyond_the_end_is_refused);
  tcase_add_test(refusals, a_copy_onto_itself_is_refused);
  tcase_add_test(refusals, a_fill_that_does_not_fit_is_refused);
  tcase_add_test(refusals, wrong_arguments_of_a_kernel_are_refused);
  tcase_add_test(refusals, a_block_that_the_device_can_not_run_is_refused);
  tcase_add_test(refusals, what_a_module_lacks_is_not_found);
  tcase_add_test(refusals, an_image_that_is_none_is_refused);
  tcase_add_test(refusals, a_device_that_is_not_there_is_not_found);
  return refusals;
}
