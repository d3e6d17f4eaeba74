// SPDX-License-Identifier: Apache-2.0
//
// The kernels that come with the runtime, from the PTX that is kept for GPUs, against plain
// loops: over the fake driver (where the PTX's declarations, and the C functions, are tested)
// and, as another program (TFRT_TEST_REAL_DRIVER), on a GPU.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "devices/cuda/cuda_platform.h"
#include "devices/device_allocator.h"
#include "devices/device_manager.h"
#include "devices/device_stream.h"
#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/tensor/small_float.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

#define ROWS 37
#define INNER 53
#define COLUMNS 41
#define MAX_COUNT 40000

extern const char tfrt_standard_kernels_image[];
extern const char tfrt_f16_kernels_image[];
extern const char tfrt_f16_sm80_kernels_image[];
extern const char tfrt_bf16_kernels_image[];

static tfrt_work_queue_t* work_queue;
static tfrt_device_manager_t* manager;
static tfrt_device_t* device;
static tfrt_device_stream_t* stream;
static tfrt_device_allocator_t* host_allocator;
static tfrt_device_module_t* module;
static tfrt_device_buffer_t* buffers[3];  // pinned, so that the host sees them, too

static void test_ok(tfrt_status_t status) {
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
}

static float* test_floats(int index) { return tfrt_device_buffer_host_data(buffers[index]); }

static tfrt_status_t test_open(const void* options, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* queue, tfrt_device_platform_t** out_platform) {
  return tfrt_cuda_platform_create(options, allocator, queue, out_platform);
}

// Makes |module| the code in |image|.
static void test_load(const char* image) {
  tfrt_device_module_release(module);
  test_ok(tfrt_device_load_module(device, image, strlen(image), &module));
}

static void test_set_up(void) {
  tfrt_thread_pool_options_t queue_options = {.thread_count = 2};
  static tfrt_cuda_platform_options_t options;
  tfrt_device_platform_t* platform;
#ifndef TFRT_TEST_REAL_DRIVER
  options.library_for_testing = TFRT_FAKE_CUDA_PATH;
#endif
  test_ok(tfrt_thread_pool_work_queue_create(&queue_options, tfrt_allocator_system(), &work_queue));
  test_ok(tfrt_device_manager_allocate(tfrt_allocator_system(), work_queue, &manager));
  static const tfrt_device_kind_t kind = {"cuda", test_open, &options};
  test_ok(tfrt_device_manager_add(manager, &kind));
  test_ok(tfrt_device_manager_platform(manager, tfrt_string_view_of("cuda"), &platform));
  test_ok(tfrt_device_platform_device(platform, 0, &device));
  test_ok(tfrt_device_create_stream(device, &stream));
  test_ok(tfrt_device_allocator_create_caching(device, TFRT_DEVICE_SPACE_HOST, &host_allocator));
  test_load(tfrt_standard_kernels_image);
  for (int i = 0; i < 3; ++i) {
    test_ok(tfrt_device_allocator_allocate(host_allocator, NULL, MAX_COUNT * sizeof(float),
                                           &buffers[i]));
    for (int k = 0; k < MAX_COUNT; ++k) test_floats(i)[k] = (float)((k * 7 + i) % 11) - 5;
  }
}

static void test_tear_down(void) {
  for (int i = 0; i < 3; ++i) tfrt_device_buffer_release(buffers[i]);
  tfrt_device_module_release(module);
  module = NULL;
  tfrt_device_allocator_release(host_allocator);
  tfrt_device_stream_release(stream);
  tfrt_device_release(device);
  tfrt_device_manager_free(manager);
  tfrt_work_queue_release(work_queue);
}

// Runs the kernel |name| and waits for it.
static void test_run(const char* name, const tfrt_device_launch_t* launch,
                     const tfrt_device_argument_t* arguments, uint32_t count) {
  tfrt_device_function_t* function;
  test_ok(tfrt_device_module_function(module, name, &function));
  test_ok(tfrt_device_stream_launch(stream, function, launch, arguments, count));
  tfrt_async_value_t* end = tfrt_device_stream_await(stream);
  tfrt_blocking_wait(&end, 1);
  if (tfrt_async_value_is_error(end)) test_ok(tfrt_async_value_error(end));
  tfrt_async_value_release(end);
  tfrt_device_function_release(function);
}

static tfrt_device_argument_t test_number(const uint32_t* number) {
  return (tfrt_device_argument_t){.bytes = number, .size = sizeof(*number)};
}

static tfrt_device_argument_t test_buffer(int index) {
  return (tfrt_device_argument_t){.buffer = buffers[index]};
}

static const tfrt_device_launch_t line = {.grid = {3, 1, 1}, .block = {128, 1, 1}};

START_TEST(fill_and_copy_reach_every_element) {
  uint32_t count = MAX_COUNT;
  float value = 2.5f;
  tfrt_device_argument_t fill[] = {
      test_buffer(0), {.bytes = &value, .size = sizeof(value)}, test_number(&count)};
  test_run("tfrt_fill_f32", &line, fill, 3);
  tfrt_device_argument_t copy[] = {test_buffer(0), test_buffer(2), test_number(&count)};
  test_run("tfrt_copy_f32", &line, copy, 3);
  for (int i = 0; i < MAX_COUNT; ++i) ck_assert(test_floats(2)[i] == value);
}
END_TEST

START_TEST(sums_and_products_of_elements) {
  uint32_t count = MAX_COUNT - 1;
  tfrt_device_argument_t arguments[] = {test_buffer(0), test_buffer(1), test_buffer(2),
                                        test_number(&count)};
  const float* a = test_floats(0);
  const float* b = test_floats(1);
  float last = test_floats(2)[count];
  test_run("tfrt_add_f32", &line, arguments, 4);
  for (uint32_t i = 0; i < count; ++i) ck_assert(test_floats(2)[i] == a[i] + b[i]);
  test_run("tfrt_multiply_f32", &line, arguments, 4);
  for (uint32_t i = 0; i < count; ++i) ck_assert(test_floats(2)[i] == a[i] * b[i]);
  ck_assert(test_floats(2)[count] == last);
}
END_TEST

// Rows that vectors fit into, and others; with few threads, and with more than a warp.
static const uint32_t row_sizes[] = {COLUMNS, 64, 1000, 3, 1025};
static const uint32_t row_threads[] = {32, 256, 128, 64, 8};

START_TEST(rows_have_a_sum_and_a_softmax) {
  uint32_t columns = row_sizes[_i];
  tfrt_device_launch_t launch = {.grid = {ROWS, 1, 1}, .block = {row_threads[_i], 1, 1}};
  tfrt_device_argument_t arguments[] = {test_buffer(0), test_buffer(2), test_number(&columns)};
  test_run("tfrt_sum_rows_f32", &launch, arguments, 3);
  for (uint32_t row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (uint32_t i = 0; i < columns; ++i) sum += (double)test_floats(0)[row * columns + i];
    ck_assert(fabs((double)test_floats(2)[row] - sum) < 1e-3);
  }
  // Masked elements count nothing.
  for (uint32_t row = 0; row < ROWS; ++row) {
    for (uint32_t i = row % 3; i + 1 < columns; i += 3) {
      test_floats(0)[row * columns + i] = -INFINITY;
    }
  }
  test_run("tfrt_softmax_rows_f32", &launch, arguments, 3);
  for (uint32_t row = 0; row < ROWS; ++row) {
    const float* source = test_floats(0) + row * columns;
    double sum = 0;
    for (uint32_t i = 0; i < columns; ++i) sum += exp((double)source[i]);
    for (uint32_t i = 0; i < columns; ++i) {
      double expected = exp((double)source[i]) / sum;
      ck_assert(fabs((double)test_floats(2)[row * columns + i] - expected) < 1e-5);
    }
  }
}
END_TEST

// Sizes that fill no tile, and several; that vectors fit into, and others. With as few blocks as
// there are tiles, and with more.
START_TEST(matrices_have_a_product) {
  static const uint32_t sizes[][3] = {{ROWS, INNER, COLUMNS}, {260, 72, 132},
                                      {257, 129, 131},        {5, 0, 7},
                                      {128, 8, 128},          {129, 4, 4}};
  const uint32_t* size = sizes[_i];
  uint32_t tile = _i % 2 == 0 ? 128 : 16;
  tfrt_device_launch_t launch = {
      .grid = {(size[2] + tile - 1) / tile, (size[0] + tile - 1) / tile, 1},
      .block = {_i % 2 == 0 ? 256 : 16, _i % 2 == 0 ? 1 : 16, 1}};
  tfrt_device_argument_t arguments[] = {test_buffer(0),        test_buffer(1),
                                        test_buffer(2),        test_number(&size[0]),
                                        test_number(&size[1]), test_number(&size[2])};
  test_run("tfrt_matmul_f32", &launch, arguments, 6);
  for (uint32_t row = 0; row < size[0]; ++row) {
    for (uint32_t column = 0; column < size[2]; ++column) {
      double sum = 0;
      for (uint32_t i = 0; i < size[1]; ++i) {
        sum += (double)test_floats(0)[row * size[1] + i] *
               (double)test_floats(1)[i * size[2] + column];
      }
      ck_assert(fabs((double)test_floats(2)[row * size[2] + column] - sum) < 1e-2);
    }
  }
}
END_TEST

// --- 16 bits -----------------------------------------------------------------------------

// A type of 16 bits, its kernels, and by how much a rounded number may be off: a part of it.
typedef struct tfrt_test_half_s {
  const char* suffix;
  const char* image;
  uint32_t architecture;  // of the GPUs that know it
  double (*to)(uint16_t bits);
  uint16_t (*from)(double value);
  double precision;
} tfrt_test_half_t;

#define HALVES 3

static const tfrt_test_half_t halves[HALVES] = {
    {"f16", tfrt_f16_kernels_image, 70, tfrt_f16_to_double, tfrt_f16_from_double, 1.0 / 1024},
    {"f16", tfrt_f16_sm80_kernels_image, 80, tfrt_f16_to_double, tfrt_f16_from_double, 1.0 / 1024},
    {"bf16", tfrt_bf16_kernels_image, 80, tfrt_bf16_to_double, tfrt_bf16_from_double, 1.0 / 128},
};

static uint16_t* test_bits(int index) { return tfrt_device_buffer_host_data(buffers[index]); }

static double test_half(const tfrt_test_half_t* type, int buffer, int index) {
  return type->to(test_bits(buffer)[index]);
}

// Loads the kernels of |type| and fills two buffers with its numbers; false if the GPU doesn't
// know the type.
static bool test_prepare(const tfrt_test_half_t* type) {
  if (device->properties.architecture < type->architecture) return false;
  test_load(type->image);
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < MAX_COUNT; ++k) {
      test_bits(i)[k] = type->from((double)((k * 7 + i) % 11) - 5);
    }
  }
  return true;
}

static void test_run_half(const tfrt_test_half_t* type, const char* kernel,
                          const tfrt_device_launch_t* launch,
                          const tfrt_device_argument_t* arguments, uint32_t count) {
  char name[64];
  snprintf(name, sizeof(name), "tfrt_%s_%s", kernel, type->suffix);
  test_run(name, launch, arguments, count);
}

// Checks element |index| of the target.
static void test_expect_half(const tfrt_test_half_t* type, int index, double expected) {
  double found = test_half(type, 2, index);
  ck_assert_msg(fabs(found - expected) <= type->precision * (fabs(expected) + 1e-3),
                "%s: element %d is %f, not %f", type->suffix, index, found, expected);
}

START_TEST(elements_of_16_bits) {
  const tfrt_test_half_t* type = &halves[_i];
  if (!test_prepare(type)) return;
  uint32_t count = MAX_COUNT - 1;
  uint16_t value = type->from(2.5);
  tfrt_device_argument_t fill[] = {
      test_buffer(2), {.bytes = &value, .size = sizeof(value)}, test_number(&count)};
  test_bits(2)[count] = 0;
  test_run_half(type, "fill", &line, fill, 3);
  for (uint32_t i = 0; i < count; ++i) ck_assert_uint_eq(test_bits(2)[i], value);
  tfrt_device_argument_t copy[] = {test_buffer(0), test_buffer(2), test_number(&count)};
  test_run_half(type, "copy", &line, copy, 3);
  ck_assert_mem_eq(test_bits(2), test_bits(0), count * sizeof(value));
  tfrt_device_argument_t two[] = {test_buffer(0), test_buffer(1), test_buffer(2),
                                  test_number(&count)};
  test_run_half(type, "add", &line, two, 4);
  for (int i = 0; i < (int)count; ++i) {
    test_expect_half(type, i, test_half(type, 0, i) + test_half(type, 1, i));
  }
  test_run_half(type, "multiply", &line, two, 4);
  for (int i = 0; i < (int)count; ++i) {
    test_expect_half(type, i, test_half(type, 0, i) * test_half(type, 1, i));
  }
  ck_assert_uint_eq(test_bits(2)[count], 0);
}
END_TEST

START_TEST(rows_of_16_bits) {
  const tfrt_test_half_t* type = &halves[_i % HALVES];
  if (!test_prepare(type)) return;
  int size = _i / HALVES;
  uint32_t columns = row_sizes[size];
  tfrt_device_launch_t launch = {.grid = {ROWS, 1, 1}, .block = {row_threads[size], 1, 1}};
  tfrt_device_argument_t arguments[] = {test_buffer(0), test_buffer(2), test_number(&columns)};
  test_run_half(type, "sum_rows", &launch, arguments, 3);
  for (uint32_t row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (uint32_t i = 0; i < columns; ++i) sum += test_half(type, 0, row * columns + i);
    test_expect_half(type, row, sum);
  }
  test_run_half(type, "softmax_rows", &launch, arguments, 3);
  for (uint32_t row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (uint32_t i = 0; i < columns; ++i) sum += exp(test_half(type, 0, row * columns + i));
    for (uint32_t i = 0; i < columns; ++i) {
      uint32_t index = row * columns + i;
      test_expect_half(type, index, exp(test_half(type, 0, index)) / sum);
    }
  }
}
END_TEST

// Small sizes with odd edges: one tile that isn't full; sizes that need several tiles and steps;
// and some that vectors fit into. Sums of whole numbers are exact in f32.
START_TEST(matrices_of_16_bits_have_a_product) {
  const tfrt_test_half_t* type = &halves[_i % HALVES];
  static const uint32_t sizes[][3] = {
      {ROWS, INNER, COLUMNS}, {3, 9, 281},   {260, 10, 8}, {5, 0, 7},
      {130, 72, 264},         {264, 24, 16}, {130, 16, 8}};
  const uint32_t* size = sizes[_i / HALVES];
  if (!test_prepare(type)) return;
  tfrt_device_launch_t launch = {.grid = {(size[2] + 127) / 128, (size[0] + 127) / 128, 1},
                                 .block = {256, 1, 1}};
  tfrt_device_argument_t arguments[] = {test_buffer(0),        test_buffer(1),
                                        test_buffer(2),        test_number(&size[0]),
                                        test_number(&size[1]), test_number(&size[2])};
  test_run_half(type, "matmul", &launch, arguments, 6);
  for (uint32_t row = 0; row < size[0]; ++row) {
    for (uint32_t column = 0; column < size[2]; ++column) {
      double sum = 0;
      for (uint32_t i = 0; i < size[1]; ++i) {
        sum += test_half(type, 0, (int)(row * size[1] + i)) *
               test_half(type, 1, (int)(i * size[2] + column));
      }
      test_expect_half(type, (int)(row * size[2] + column), sum);
    }
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* kernels = tcase_create("kernels");
  tcase_add_checked_fixture(kernels, test_set_up, test_tear_down);
  tcase_add_test(kernels, fill_and_copy_reach_every_element);
  tcase_add_test(kernels, sums_and_products_of_elements);
  tcase_add_loop_test(kernels, rows_have_a_sum_and_a_softmax, 0, 5);
  tcase_add_loop_test(kernels, matrices_have_a_product, 0, 6);
  tcase_add_loop_test(kernels, elements_of_16_bits, 0, HALVES);
  tcase_add_loop_test(kernels, rows_of_16_bits, 0, 5 * HALVES);
  tcase_add_loop_test(kernels, matrices_of_16_bits_have_a_product, 0, 7 * HALVES);
  Suite* suite = suite_create("standard_kernels");
  suite_add_tcase(suite, kernels);
  return suite;
}
