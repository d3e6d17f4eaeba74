// SPDX-License-Identifier: Apache-2.0
//
// The kernels that come with the runtime, from the PTX that is kept for GPUs, against plain
// loops: over the fake driver (where the PTX's declarations, and the C functions, are tested)
// and, as another program (TFRT_TEST_REAL_DRIVER), on a GPU.
#include <math.h>
#include <string.h>

#include "devices/cuda/cuda_platform.h"
#include "devices/device_allocator.h"
#include "devices/device_manager.h"
#include "devices/device_stream.h"
#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

#define ROWS 37
#define INNER 53
#define COLUMNS 41
#define MAX_COUNT (INNER * INNER)

extern const char tfrt_standard_kernels_image[];

static tfrt_work_queue_t* work_queue;
static tfrt_device_manager_t* manager;
static tfrt_device_t* device;
static tfrt_device_stream_t* stream;
static tfrt_device_allocator_t* host_allocator;
static tfrt_device_module_t* module;
static tfrt_device_buffer_t* buffers[3];  // pinned, so that the host sees them, too

static void tfrt_test_ok(tfrt_status_t status) {
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
}

static float* tfrt_test_floats(int index) { return tfrt_device_buffer_host_data(buffers[index]); }

static tfrt_status_t tfrt_test_open(const void* options, tfrt_allocator_t allocator,
                                    tfrt_work_queue_t* queue,
                                    tfrt_device_platform_t** out_platform) {
  return tfrt_cuda_platform_create(options, allocator, queue, out_platform);
}

static void tfrt_test_set_up(void) {
  tfrt_thread_pool_options_t queue_options = {.thread_count = 2};
  static tfrt_cuda_platform_options_t options;
  tfrt_device_platform_t* platform;
#ifndef TFRT_TEST_REAL_DRIVER
  options.library_for_testing = TFRT_FAKE_CUDA_PATH;
#endif
  tfrt_test_ok(
      tfrt_thread_pool_work_queue_create(&queue_options, tfrt_allocator_system(), &work_queue));
  tfrt_test_ok(tfrt_device_manager_allocate(tfrt_allocator_system(), work_queue, &manager));
  tfrt_test_ok(tfrt_device_manager_add(manager, "cuda", tfrt_test_open, &options));
  tfrt_test_ok(tfrt_device_manager_platform(manager, tfrt_string_view_of("cuda"), &platform));
  tfrt_test_ok(tfrt_device_platform_device(platform, 0, &device));
  tfrt_test_ok(tfrt_device_create_stream(device, &stream));
  tfrt_test_ok(
      tfrt_device_allocator_create_caching(device, TFRT_DEVICE_SPACE_HOST, &host_allocator));
  tfrt_test_ok(tfrt_device_load_module(device, tfrt_standard_kernels_image,
                                       strlen(tfrt_standard_kernels_image), &module));
  for (int i = 0; i < 3; ++i) {
    tfrt_test_ok(tfrt_device_allocator_allocate(host_allocator, NULL, MAX_COUNT * sizeof(float),
                                                &buffers[i]));
    for (int k = 0; k < MAX_COUNT; ++k) tfrt_test_floats(i)[k] = (float)((k * 7 + i) % 11) - 5;
  }
}

static void tfrt_test_tear_down(void) {
  for (int i = 0; i < 3; ++i) tfrt_device_buffer_release(buffers[i]);
  tfrt_device_module_release(module);
  tfrt_device_allocator_release(host_allocator);
  tfrt_device_stream_release(stream);
  tfrt_device_release(device);
  tfrt_device_manager_free(manager);
  tfrt_work_queue_release(work_queue);
}

// Runs the kernel |name| and waits for it.
static void tfrt_test_run(const char* name, const tfrt_device_launch_t* launch,
                          const tfrt_device_argument_t* arguments, uint32_t count) {
  tfrt_device_function_t* function;
  tfrt_test_ok(tfrt_device_module_function(module, name, &function));
  tfrt_test_ok(tfrt_device_stream_launch(stream, function, launch, arguments, count));
  tfrt_async_value_t* end = tfrt_device_stream_await(stream);
  tfrt_blocking_wait(&end, 1);
  if (tfrt_async_value_is_error(end)) tfrt_test_ok(tfrt_async_value_error(end));
  tfrt_async_value_release(end);
  tfrt_device_function_release(function);
}

static tfrt_device_argument_t tfrt_test_number(const uint32_t* number) {
  return (tfrt_device_argument_t){.bytes = number, .size = sizeof(*number)};
}

static tfrt_device_argument_t tfrt_test_buffer(int index) {
  return (tfrt_device_argument_t){.buffer = buffers[index]};
}

static const tfrt_device_launch_t line = {.grid = {3, 1, 1}, .block = {128, 1, 1}};

START_TEST(fill_and_copy_reach_every_element) {
  uint32_t count = MAX_COUNT;
  float value = 2.5f;
  tfrt_device_argument_t fill[] = {
      tfrt_test_buffer(0), {.bytes = &value, .size = sizeof(value)}, tfrt_test_number(&count)};
  tfrt_test_run("tfrt_fill_f32", &line, fill, 3);
  tfrt_device_argument_t copy[] = {tfrt_test_buffer(0), tfrt_test_buffer(2),
                                   tfrt_test_number(&count)};
  tfrt_test_run("tfrt_copy_f32", &line, copy, 3);
  for (int i = 0; i < MAX_COUNT; ++i) ck_assert(tfrt_test_floats(2)[i] == value);
}
END_TEST

START_TEST(sums_and_products_of_elements) {
  uint32_t count = MAX_COUNT - 1;
  tfrt_device_argument_t arguments[] = {tfrt_test_buffer(0), tfrt_test_buffer(1),
                                        tfrt_test_buffer(2), tfrt_test_number(&count)};
  const float* a = tfrt_test_floats(0);
  const float* b = tfrt_test_floats(1);
  float last = tfrt_test_floats(2)[count];
  tfrt_test_run("tfrt_add_f32", &line, arguments, 4);
  for (uint32_t i = 0; i < count; ++i) ck_assert(tfrt_test_floats(2)[i] == a[i] + b[i]);
  tfrt_test_run("tfrt_multiply_f32", &line, arguments, 4);
  for (uint32_t i = 0; i < count; ++i) ck_assert(tfrt_test_floats(2)[i] == a[i] * b[i]);
  ck_assert(tfrt_test_floats(2)[count] == last);
}
END_TEST

START_TEST(rows_have_a_sum_and_a_softmax) {
  uint32_t columns = COLUMNS;
  tfrt_device_launch_t launch = {.grid = {ROWS, 1, 1}, .block = {32, 1, 1}};
  tfrt_device_argument_t arguments[] = {tfrt_test_buffer(0), tfrt_test_buffer(2),
                                        tfrt_test_number(&columns)};
  tfrt_test_run("tfrt_sum_rows_f32", &launch, arguments, 3);
  for (int row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (int i = 0; i < COLUMNS; ++i) sum += (double)tfrt_test_floats(0)[row * COLUMNS + i];
    ck_assert(fabs((double)tfrt_test_floats(2)[row] - sum) < 1e-3);
  }
  tfrt_test_run("tfrt_softmax_rows_f32", &launch, arguments, 3);
  for (int row = 0; row < ROWS; ++row) {
    const float* source = tfrt_test_floats(0) + row * COLUMNS;
    double sum = 0;
    for (int i = 0; i < COLUMNS; ++i) sum += exp((double)source[i]);
    for (int i = 0; i < COLUMNS; ++i) {
      double expected = exp((double)source[i]) / sum;
      ck_assert(fabs((double)tfrt_test_floats(2)[row * COLUMNS + i] - expected) < 1e-5);
    }
  }
}
END_TEST

START_TEST(matrices_have_a_product) {
  uint32_t rows = ROWS;
  uint32_t inner = INNER;
  uint32_t columns = COLUMNS;
  tfrt_device_launch_t launch = {.grid = {(COLUMNS + 15) / 16, (ROWS + 15) / 16, 1},
                                 .block = {16, 16, 1}};
  tfrt_device_argument_t arguments[] = {tfrt_test_buffer(0),      tfrt_test_buffer(1),
                                        tfrt_test_buffer(2),      tfrt_test_number(&rows),
                                        tfrt_test_number(&inner), tfrt_test_number(&columns)};
  tfrt_test_run("tfrt_matmul_f32", &launch, arguments, 6);
  for (int row = 0; row < ROWS; ++row) {
    for (int column = 0; column < COLUMNS; ++column) {
      double sum = 0;
      for (int i = 0; i < INNER; ++i) {
        sum += (double)tfrt_test_floats(0)[row * INNER + i] *
               (double)tfrt_test_floats(1)[i * COLUMNS + column];
      }
      ck_assert(fabs((double)tfrt_test_floats(2)[row * COLUMNS + column] - sum) < 1e-2);
    }
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* kernels = tcase_create("kernels");
  tcase_add_checked_fixture(kernels, tfrt_test_set_up, tfrt_test_tear_down);
  tcase_add_test(kernels, fill_and_copy_reach_every_element);
  tcase_add_test(kernels, sums_and_products_of_elements);
  tcase_add_test(kernels, rows_have_a_sum_and_a_softmax);
  tcase_add_test(kernels, matrices_have_a_product);
  Suite* suite = suite_create("standard_kernels");
  suite_add_tcase(suite, kernels);
  return suite;
}
