// SPDX-License-Identifier: Apache-2.0
//
// Cases outside the conformance suite: drivers that are absent, too old or failing, and their
// errors. Also checks that the fake driver finds the defects that it exists for.
#include "devices/cuda/cuda_platform.h"

#include <stdio.h>

#include "devices/cuda/cuda_library.h"
#include "devices/device_allocator.h"
#include "devices/device_stream.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "tests/devices/awaiting.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

static tfrt_work_queue_t* work_queue;

static void test_set_up(void) {
  tfrt_thread_pool_options_t options = {.thread_count = 2};
  ck_assert(!tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &work_queue));
}

static void test_tear_down(void) {
  tfrt_work_queue_quiesce(work_queue);
  tfrt_work_queue_release(work_queue);
}

static tfrt_status_t test_open(const char* path, tfrt_device_platform_t** out_platform) {
  tfrt_cuda_platform_options_t options = {.library_for_testing = path};
  return tfrt_cuda_platform_create(&options, tfrt_allocator_system(), work_queue, out_platform);
}

// Checks that |status| (consumed) has |code| and one line with |part| in it.
static void test_expect(tfrt_status_t status, tfrt_status_code_t code, const char* part) {
  const char* message = tfrt_status_message(status);
  ck_assert_msg(tfrt_status_code(status) == code && strstr(message, part) && !strchr(message, '\n'),
                "%s: %s", tfrt_status_code_name(tfrt_status_code(status)), message);
  tfrt_status_release(status);
}

// --- Opening -------------------------------------------------------------------------

START_TEST(an_absent_driver_is_one_clear_line) {
  tfrt_device_platform_t* platform;
  test_expect(test_open("no/such/library.so", &platform), TFRT_STATUS_UNAVAILABLE,
              "no CUDA: the driver's library can't be opened");
  ck_assert_ptr_null(platform);
}
END_TEST

START_TEST(a_library_that_is_no_driver_is_one_clear_line) {
  tfrt_device_platform_t* platform;
  test_expect(test_open("libm.so.6", &platform), TFRT_STATUS_UNAVAILABLE,
              "no CUDA: libm.so.6 has no cuGetProcAddress");
}
END_TEST

START_TEST(a_driver_that_is_too_old_is_one_clear_line) {
  tfrt_device_platform_t* platform;
  tfrt_fake_cuda_control()->set_version(8000);
  test_expect(test_open(TFRT_FAKE_CUDA_PATH, &platform), TFRT_STATUS_UNAVAILABLE,
              "too old: CUDA 11.3");
}
END_TEST

START_TEST(a_driver_that_does_not_start_is_one_clear_line) {
  tfrt_device_platform_t* platform;
  tfrt_fake_cuda_control()->set_failure("cuInit", 1, TFRT_CUDA_ERROR_NO_DEVICE);
  test_expect(test_open(TFRT_FAKE_CUDA_PATH, &platform), TFRT_STATUS_UNAVAILABLE,
              "cuInit failed: CUDA_ERROR_NO_DEVICE (100)");
}
END_TEST

// --- Failing calls -------------------------------------------------------------------

// The objects that a test has of the fake driver; +1 of each, NULL: it got none.
typedef struct tfrt_test_objects_s {
  tfrt_device_platform_t* platform;
  tfrt_device_t* device;
  tfrt_device_stream_t* stream;
  tfrt_device_allocator_t* allocator;
  tfrt_device_buffer_t* buffer;
} tfrt_test_objects_t;

static void test_close(tfrt_test_objects_t* objects) {
  tfrt_device_buffer_release(objects->buffer);
  tfrt_device_allocator_release(objects->allocator);
  tfrt_device_stream_release(objects->stream);
  tfrt_device_release(objects->device);
  tfrt_device_platform_release(objects->platform);
  tfrt_work_queue_quiesce(work_queue);
}

// Uses a stream, both kinds of memory and an await; returns the first error.
static tfrt_status_t test_use(tfrt_test_objects_t* objects) {
  TFRT_RETURN_IF_ERROR(tfrt_device_create_stream(objects->device, &objects->stream));
  TFRT_RETURN_IF_ERROR(tfrt_device_allocator_create(objects->device, &objects->allocator));
  TFRT_RETURN_IF_ERROR(
      tfrt_device_allocator_allocate(objects->allocator, objects->stream, 64, &objects->buffer));
  TFRT_RETURN_IF_ERROR(tfrt_device_stream_fill(objects->stream, objects->buffer, 7, 4));
  return tfrt_test_await(tfrt_device_stream_await(objects->stream));
}

// Opens the fake driver, lets the next call of |name| fail with |result|, and uses the device.
static tfrt_status_t test_use_failing(const char* name, int result) {
  tfrt_test_objects_t objects = {.platform = NULL};
  ck_assert(!test_open(TFRT_FAKE_CUDA_PATH, &objects.platform));
  tfrt_fake_cuda_control()->set_failure(name, 1, result);
  tfrt_status_t status = tfrt_device_platform_device(objects.platform, 0, &objects.device);
  if (!status) status = test_use(&objects);
  tfrt_fake_cuda_control()->set_failure(name, 0, 0);
  test_close(&objects);
  return status;
}

START_TEST(an_error_names_the_device_the_call_and_the_drivers_name) {
  static const char* const names[] = {"cuDevicePrimaryCtxRetain",
                                      "cuStreamCreate",
                                      "cuMemAllocFromPoolAsync",
                                      "cuMemsetD32Async",
                                      "cuEventCreate",
                                      "cuEventRecord",
                                      "cuEventQuery",
                                      "cuDeviceGet"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    char expected[128];
    snprintf(expected, sizeof(expected), "cuda:0: %s failed: CUDA_ERROR_OUT_OF_MEMORY (2)",
             names[i]);
    test_expect(test_use_failing(names[i], TFRT_CUDA_ERROR_OUT_OF_MEMORY),
                TFRT_STATUS_RESOURCE_EXHAUSTED, expected);
  }
}
END_TEST

START_TEST(an_error_that_sticks_loses_the_device_whatever_call_met_it) {
  test_expect(test_use_failing("cuEventQuery", TFRT_CUDA_ERROR_LAUNCH_FAILED), TFRT_STATUS_INTERNAL,
              "cuda:0 is lost");
  test_expect(test_use_failing("cuEventQuery", TFRT_CUDA_ERROR_LAUNCH_FAILED), TFRT_STATUS_INTERNAL,
              "cuEventQuery failed: CUDA_ERROR_LAUNCH_FAILED (719)");
}
END_TEST

// The await has the last references: its platform ends on a thread of its own.
START_TEST(the_last_of_a_platform_may_be_what_is_awaited) {
  const tfrt_fake_cuda_control_t* control = tfrt_fake_cuda_control();
  for (int i = 0; i < 20; ++i) {
    tfrt_test_objects_t objects = {.platform = NULL};
    ck_assert(!test_open(TFRT_FAKE_CUDA_PATH, &objects.platform));
    ck_assert(!tfrt_device_platform_device(objects.platform, 0, &objects.device));
    ck_assert(!test_use(&objects));
    control->hold_copies(0);
    ck_assert(!tfrt_device_stream_copy(objects.stream, objects.buffer, 0, objects.buffer, 32, 32));
    tfrt_async_value_t* end = i % 2 == 0 ? tfrt_device_stream_await(objects.stream)
                                         : tfrt_device_stream_await_soon(objects.stream);
    test_close(&objects);
    control->hold_copies(-1);
    ck_assert(!tfrt_test_await(end));
    tfrt_work_queue_quiesce(work_queue);
    ck_assert_int_eq(control->live(), 0);
  }
}
END_TEST

// --- Code ----------------------------------------------------------------------------

static const char code[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 number;\n"
    ".visible .entry tfrt_fill_f32(.param .u64 target, .param .f32 value, .param .u32 count) "
    "{ ret; }\n";

// Loads the code, and launches the kernel in a cluster of two blocks, cooperatively, and as it is;
// returns the first error.
static tfrt_status_t test_run_code(tfrt_device_stream_t* stream, tfrt_device_buffer_t* buffer,
                                   tfrt_device_module_t** module, tfrt_device_function_t** function,
                                   tfrt_device_buffer_t** number) {
  float value = 1;
  uint32_t count = 2;
  tfrt_device_launch_t launch = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = buffer},
                                        {.bytes = &value, .size = sizeof(value)},
                                        {.bytes = &count, .size = sizeof(count)}};
  TFRT_RETURN_IF_ERROR(tfrt_device_load_module(stream->device, code, strlen(code), module));
  TFRT_RETURN_IF_ERROR(tfrt_device_module_function(*module, "tfrt_fill_f32", function));
  TFRT_RETURN_IF_ERROR(tfrt_device_module_global(*module, "number", number));
  TFRT_RETURN_IF_ERROR(tfrt_device_stream_launch(stream, *function, &launch, arguments, 3));
  launch.cluster[0] = launch.cluster[1] = launch.cluster[2] = 0;
  launch.is_cooperative = true;
  TFRT_RETURN_IF_ERROR(tfrt_device_stream_launch(stream, *function, &launch, arguments, 3));
  launch.is_cooperative = false;
  return tfrt_device_stream_launch(stream, *function, &launch, arguments, 3);
}

// The same on the fake driver of |version|, whose next call of |name| fails with |result|; and once
// more without that.
static tfrt_status_t test_run_code_failing(int version, const char* name, int result) {
  tfrt_test_objects_t objects = {.platform = NULL};
  tfrt_fake_cuda_control()->set_version(version);
  ck_assert(!test_open(TFRT_FAKE_CUDA_PATH, &objects.platform));
  ck_assert(!tfrt_device_platform_device(objects.platform, 0, &objects.device));
  ck_assert(!test_use(&objects));
  tfrt_fake_cuda_control()->set_failure(name, 1, result);
  tfrt_status_t statuses[2];
  for (int i = 0; i < 2; ++i) {
    tfrt_device_module_t* module = NULL;
    tfrt_device_function_t* function = NULL;
    tfrt_device_buffer_t* number = NULL;
    statuses[i] = test_run_code(objects.stream, objects.buffer, &module, &function, &number);
    tfrt_device_buffer_release(number);
    tfrt_device_function_release(function);
    tfrt_device_module_release(module);
    tfrt_fake_cuda_control()->set_failure(name, 0, 0);
  }
  ck_assert_msg(!statuses[1], "%s", tfrt_status_message(statuses[1]));
  test_close(&objects);
  ck_assert_int_eq(tfrt_fake_cuda_control()->live(), 0);
  return statuses[0];
}

START_TEST(each_call_about_code_may_fail) {
  static const struct {
    int version;
    const char* name;
  } calls[] = {{13000, "cuLibraryLoadData"},         {13000, "cuLibraryGetModule"},
               {13000, "cuLibraryGetKernel"},        {13000, "cuKernelGetFunction"},
               {13000, "cuLibraryGetGlobal"},        {13000, "cuLaunchKernelEx"},
               {11080, "cuModuleLoadDataEx"},        {11080, "cuModuleGetFunction"},
               {11080, "cuModuleGetGlobal"},         {11080, "cuLaunchKernelEx"},
               {13000, "cuLaunchCooperativeKernel"}, {13000, "cuLaunchKernel"}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(calls); ++i) {
    char expected[128];
    snprintf(expected, sizeof(expected), "cuda:0: %s failed: CUDA_ERROR_OUT_OF_MEMORY (2)",
             calls[i].name);
    test_expect(
        test_run_code_failing(calls[i].version, calls[i].name, TFRT_CUDA_ERROR_OUT_OF_MEMORY),
        TFRT_STATUS_RESOURCE_EXHAUSTED, expected);
  }
}
END_TEST

// Launches with |priority| on the fake driver of |version|; returns the priority that it was given.
static int32_t test_priority(int version, int32_t priority) {
  tfrt_test_objects_t objects = {.platform = NULL};
  tfrt_device_module_t* module;
  tfrt_device_function_t* function;
  float value = 1;
  uint32_t count = 2;
  tfrt_fake_cuda_control()->set_version(version);
  ck_assert(!test_open(TFRT_FAKE_CUDA_PATH, &objects.platform));
  ck_assert(!tfrt_device_platform_device(objects.platform, 0, &objects.device));
  ck_assert(!test_use(&objects));
  ck_assert(!tfrt_device_load_module(objects.device, code, strlen(code), &module));
  ck_assert(!tfrt_device_module_function(module, "tfrt_fill_f32", &function));
  tfrt_device_launch_t launch = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .priority = priority};
  tfrt_device_argument_t arguments[] = {{.buffer = objects.buffer},
                                        {.bytes = &value, .size = sizeof(value)},
                                        {.bytes = &count, .size = sizeof(count)}};
  ck_assert(!tfrt_device_stream_launch(objects.stream, function, &launch, arguments, 3));
  ck_assert(!tfrt_test_await(tfrt_device_stream_await(objects.stream)));
  tfrt_device_function_release(function);
  tfrt_device_module_release(module);
  test_close(&objects);
  return tfrt_fake_cuda_control()->take_priority();
}

START_TEST(a_launch_has_the_nearest_priority_that_there_is) {
  ck_assert_int_eq(test_priority(13000, -2), -2);
  ck_assert_int_eq(test_priority(13000, -100), TFRT_FAKE_CUDA_FIRST_PRIORITY);
  ck_assert_int_eq(test_priority(13000, 1), 0);
  // Launches with attributes are older than priorities.
  ck_assert_int_eq(test_priority(11060, -2), 0);
  ck_assert_int_eq(test_priority(11040, -2), 0);
}
END_TEST

START_TEST(where_libraries_are_not_supported_modules_are_loaded) {
  tfrt_status_t status =
      test_run_code_failing(13000, "cuLibraryLoadData", TFRT_CUDA_ERROR_NOT_SUPPORTED);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
  // It was a module: its calls fail where a library's would not be made.
  test_expect(test_run_code_failing(11080, "cuModuleLoadDataEx", TFRT_CUDA_ERROR_NOT_SUPPORTED),
              TFRT_STATUS_UNIMPLEMENTED, "cuModuleLoadDataEx failed");
}
END_TEST

// --- The fake ------------------------------------------------------------------------

// The driver as a careless caller uses it.
typedef struct tfrt_test_driver_s {
  tfrt_cuda_api_t api;
  tfrt_cuda_context_t contexts[2];
  tfrt_cuda_stream_handle_t stream;  // of the first one
  tfrt_cuda_address_t memory;        // of the first one, 64 bytes
} tfrt_test_driver_t;

static void test_start(tfrt_test_driver_t* driver) {
  tfrt_cuda_api_t* api = &driver->api;
  ck_assert(!tfrt_cuda_library_open(TFRT_FAKE_CUDA_PATH, api));
  for (int i = 0; i < 2; ++i) {
    tfrt_cuda_device_id_t device;
    ck_assert_int_eq(api->DeviceGet(&device, i), 0);
    ck_assert_int_eq(api->DevicePrimaryCtxRetain(&driver->contexts[i], device), 0);
  }
  ck_assert_int_eq(api->CtxPushCurrent(driver->contexts[0]), 0);
  ck_assert_int_eq(api->StreamCreate(&driver->stream, TFRT_CUDA_STREAM_NON_BLOCKING), 0);
  ck_assert_int_eq(api->MemAlloc(&driver->memory, 64), 0);
}

// Ends the use, waiting for the stream, and checks that there was one defect, about |part|.
static void test_expect_defect(tfrt_test_driver_t* driver, const char* part) {
  ck_assert_int_eq(driver->api.StreamDestroy(driver->stream), 0);
  for (int i = 0; i < 2; ++i) driver->api.DevicePrimaryCtxRelease(100 + i);
  char text[4096];
  int count = tfrt_fake_cuda_control()->defects(text, sizeof(text));
  ck_assert_msg(count == 1 && strstr(text, part), "%d defects: %s", count, text);
}

START_TEST(the_fake_sees_memory_that_is_freed_twice) {
  tfrt_test_driver_t driver;
  test_start(&driver);
  ck_assert_int_eq(driver.api.MemFree(driver.memory), 0);
  ck_assert_int_ne(driver.api.MemFree(driver.memory), 0);
  test_expect_defect(&driver, "after it was freed");
}
END_TEST

START_TEST(the_fake_sees_memory_that_is_used_after_it_was_freed) {
  tfrt_test_driver_t driver;
  test_start(&driver);
  ck_assert_int_eq(driver.api.MemFree(driver.memory), 0);
  ck_assert_int_ne(driver.api.MemsetD8Async(driver.memory, 1, 64, driver.stream), 0);
  test_expect_defect(&driver, "after it was freed");
}
END_TEST

START_TEST(the_fake_sees_bytes_beyond_the_end) {
  tfrt_test_driver_t driver;
  test_start(&driver);
  ck_assert_int_ne(driver.api.MemsetD8Async(driver.memory + 1, 1, 64, driver.stream), 0);
  test_expect_defect(&driver, "of a block of 64");
}
END_TEST

START_TEST(the_fake_sees_memory_that_is_not_pinned) {
  tfrt_test_driver_t driver;
  test_start(&driver);
  char bytes[64];
  ck_assert_int_ne(driver.api.MemcpyAsync(driver.memory, (tfrt_cuda_address_t)(uintptr_t)bytes, 64,
                                          driver.stream),
                   0);
  test_expect_defect(&driver, "nor pinned");
}
END_TEST

START_TEST(the_fake_sees_the_wrong_context) {
  tfrt_test_driver_t driver;
  test_start(&driver);
  tfrt_cuda_context_t context;
  ck_assert_int_eq(driver.api.CtxPushCurrent(driver.contexts[1]), 0);
  ck_assert_int_ne(driver.api.MemsetD8Async(driver.memory, 1, 64, driver.stream), 0);
  ck_assert_int_eq(driver.api.CtxPopCurrent(&context), 0);
  test_expect_defect(&driver, "another context");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("cuda_platform");
  TCase* opening = tcase_create("opening");
  tcase_add_checked_fixture(opening, test_set_up, test_tear_down);
  tcase_add_test(opening, an_absent_driver_is_one_clear_line);
  tcase_add_test(opening, a_library_that_is_no_driver_is_one_clear_line);
  tcase_add_test(opening, a_driver_that_is_too_old_is_one_clear_line);
  tcase_add_test(opening, a_driver_that_does_not_start_is_one_clear_line);
  suite_add_tcase(suite, opening);
  TCase* failing = tcase_create("failing");
  tcase_set_timeout(failing, 60);
  tcase_add_checked_fixture(failing, test_set_up, test_tear_down);
  tcase_add_test(failing, an_error_names_the_device_the_call_and_the_drivers_name);
  tcase_add_test(failing, an_error_that_sticks_loses_the_device_whatever_call_met_it);
  tcase_add_test(failing, the_last_of_a_platform_may_be_what_is_awaited);
  tcase_add_test(failing, each_call_about_code_may_fail);
  tcase_add_test(failing, a_launch_has_the_nearest_priority_that_there_is);
  tcase_add_test(failing, where_libraries_are_not_supported_modules_are_loaded);
  suite_add_tcase(suite, failing);
  TCase* fake = tcase_create("fake");
  tcase_add_test(fake, the_fake_sees_memory_that_is_freed_twice);
  tcase_add_test(fake, the_fake_sees_memory_that_is_used_after_it_was_freed);
  tcase_add_test(fake, the_fake_sees_bytes_beyond_the_end);
  tcase_add_test(fake, the_fake_sees_memory_that_is_not_pinned);
  tcase_add_test(fake, the_fake_sees_the_wrong_context);
  suite_add_tcase(suite, fake);
  return suite;
}
