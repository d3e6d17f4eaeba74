// SPDX-License-Identifier: Apache-2.0
//
// The functions of the lowered gpu dialect, called as lowered programs call them: on the CPU as a
// device, over the fake driver of CUDA, and, in a target of its own, on a GPU.
#include "embedding/mgpu/mgpu.h"

#include <stdlib.h>
#include <string.h>

#include "embedding/mgpu/handle.h"
#include "embedding/mgpu/memory.h"
#include "embedding/mgpu/session.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

#ifdef TFRT_TEST_REAL_DRIVER
static const char* const platforms[] = {"cuda"};
static void open_platform(const char* name) {
  ck_assert_int_eq(setenv("TFRT_MGPU_DEVICE", name, 1), 0);
}
#else
static const char* const platforms[] = {"cpu", "cuda"};
static void open_platform(const char* name) {
  ck_assert_int_eq(setenv("TFRT_MGPU_DEVICE", name, 1), 0);
  tfrt_mgpu_session_use_cuda_library_for_testing(TFRT_FAKE_CUDA_PATH);
}
#endif

extern const char tfrt_standard_kernels_image[];

#define PLATFORM_COUNT ((int)TFRT_ARRAY_SIZE(platforms))

// Gives all back; the program has left nothing, and |errors| calls have failed.
static void close_platform(int64_t errors) {
  ck_assert_int_eq(tfrt_mgpu_handle_live_count(), 0);
  ck_assert_int_eq(tfrt_mgpu_memory_count(), 0);
  tfrt_mgpu_memory_clear();
  tfrt_mgpu_session_close();
  ck_assert_int_eq(tfrt_mgpu_error_count(), errors);
#ifndef TFRT_TEST_REAL_DRIVER
  char text[1000] = "";
  ck_assert_int_eq(tfrt_fake_cuda_control()->defects(text, sizeof(text)), 0);
  ck_assert_str_eq(text, "");
  ck_assert_int_eq(tfrt_fake_cuda_control()->live(), 0);
#endif
}

enum { COUNT = 1000 };

static void* load_kernels(void) { return mgpuModuleLoadJIT(tfrt_standard_kernels_image, 2); }

// target[i] = a[i] + b[i], as gpu.launch_func with bare pointers.
static void launch_add(void* module, void* a, void* b, void* target, void* stream) {
  int32_t count = COUNT;
  void* parameters[] = {&a, &b, &target, &count};
  void* function = mgpuModuleGetFunction(module, "tfrt_add_f32");
  ck_assert_ptr_nonnull(function);
  mgpuLaunchKernel(function, (COUNT + 255) / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL, 4);
}

START_TEST(a_stream_does_its_work_in_order) {
  open_platform(platforms[_i]);
  void* module = load_kernels();
  void* stream = mgpuStreamCreate();
  float a[COUNT], sum[COUNT];
  for (int i = 0; i < COUNT; ++i) a[i] = (float)i;
  void* on_device[3];
  for (int i = 0; i < 3; ++i) on_device[i] = mgpuMemAlloc(sizeof(a), stream, false);
  const float half = 0.5f;
  uint32_t bits;
  memcpy(&bits, &half, sizeof(bits));
  mgpuMemcpy(on_device[0], a, sizeof(a), stream);
  mgpuMemset32(on_device[1], bits, COUNT, stream);
  launch_add(module, on_device[0], on_device[1], on_device[2], stream);
  mgpuMemcpy(sum, on_device[2], sizeof(sum), stream);
  for (int i = 0; i < 3; ++i) mgpuMemFree(on_device[i], stream);
  mgpuStreamSynchronize(stream);
  mgpuStreamDestroy(stream);
  mgpuModuleUnload(module);
  for (int i = 0; i < COUNT; ++i) ck_assert_float_eq(sum[i], (float)i + half);
  close_platform(0);
}
END_TEST

// Two regions, each with a stream; what crosses between them is an event, or, as MLIR 22 does in
// one process, the stream itself.
static void run_across_streams(bool gives_stream) {
  void* first = mgpuStreamCreate();
  void* second = mgpuStreamCreate();
  uint16_t values[COUNT] = {0};
  void* block = mgpuMemAlloc(sizeof(values), first, false);
  mgpuMemset16(block, 7, COUNT, first);
  mgpuMemset16((char*)block + COUNT, 9, COUNT / 2, first);
  void* point = first;
  if (!gives_stream) {
    point = mgpuEventCreate();
    mgpuEventRecord(point, first);
  }
  mgpuStreamWaitEvent(second, point);
  mgpuMemcpy(values, block, sizeof(values), second);
  mgpuStreamSynchronize(second);
  ck_assert_int_eq(values[COUNT / 2 - 1], 7);
  ck_assert_int_eq(values[COUNT / 2], 9);
  ck_assert_int_eq(values[COUNT - 1], 9);
  mgpuMemFree(block, second);
  mgpuEventSynchronize(point);
  mgpuEventDestroy(point);
  if (!gives_stream) mgpuStreamDestroy(first);
  mgpuStreamDestroy(second);
}

START_TEST(streams_wait_for_events_and_for_streams_in_their_place) {
  open_platform(platforms[_i]);
  run_across_streams(false);
  run_across_streams(true);
  close_platform(0);
}
END_TEST

START_TEST(calls_without_a_stream_are_done_when_they_return) {
  open_platform(platforms[_i]);
  void* module = load_kernels();
  void* blocks[2];
  float values[COUNT], result[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = (float)i;
  for (int i = 0; i < 2; ++i) {
    blocks[i] = mgpuMemAlloc(sizeof(values), NULL, false);
    ck_assert_ptr_nonnull(blocks[i]);
  }
  mgpuMemcpy(blocks[0], values, sizeof(values), NULL);
  void* stream = mgpuStreamCreate();
  launch_add(module, blocks[0], blocks[0], blocks[1], stream);
  mgpuMemcpy(result, blocks[1], sizeof(result), stream);
  // Behind all that streams do.
  for (int i = 0; i < 2; ++i) mgpuMemFree(blocks[i], NULL);
  for (int i = 0; i < COUNT; ++i) ck_assert_float_eq(result[i], 2 * (float)i);
  mgpuStreamDestroy(stream);
  mgpuModuleUnload(module);
  close_platform(0);
}
END_TEST

START_TEST(memory_is_shared_with_the_host_or_pinned) {
  open_platform(platforms[_i]);
  void* module = load_kernels();
  void* stream = mgpuStreamCreate();
  float* shared = mgpuMemAlloc(COUNT * sizeof(float), NULL, true);
  static _Alignas(4096) float own[2][COUNT + 24];
  for (int i = 0; i < COUNT; ++i) own[0][i] = shared[i] = (float)i;
  struct {
    float *allocated, *aligned;
    int64_t offset, size, stride;
  } memref = {own[0], own[0], 0, 2 * (COUNT + 24), 1};
  mgpuMemHostRegisterMemRef(1, &memref, sizeof(float));
  launch_add(module, own[0], shared, own[1], stream);
  mgpuStreamSynchronize(stream);
  for (int i = 0; i < COUNT; ++i) ck_assert_float_eq(own[1][i], 2 * (float)i);
  mgpuMemHostUnregisterMemRef(1, &memref, sizeof(float));
  mgpuMemFree(shared, stream);
  mgpuStreamDestroy(stream);
  mgpuModuleUnload(module);
  close_platform(0);
}
END_TEST

// One of several threads with a stream each.
static void use_stream(void* argument) {
  int* right = argument;
  mgpuSetDefaultDevice(0);
  for (int round = 0; round < 20; ++round) {
    void* stream = mgpuStreamCreate();
    uint32_t values[COUNT] = {0};
    void* block = mgpuMemAlloc(sizeof(values), stream, false);
    mgpuMemset32(block, (uint32_t)round + 1, COUNT, stream);
    mgpuMemcpy(values, block, sizeof(values), stream);
    mgpuMemFree(block, stream);
    mgpuStreamSynchronize(stream);
    mgpuStreamDestroy(stream);
    *right += values[0] == (uint32_t)round + 1 && values[COUNT - 1] == (uint32_t)round + 1;
  }
}

START_TEST(threads_use_streams_of_their_own) {
  open_platform(platforms[_i]);
  tfrt_thread_t threads[3];
  int right[3] = {0};
  for (int i = 0; i < 3; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("user", use_stream, &right[i], &threads[i]));
  }
  for (int i = 0; i < 3; ++i) tfrt_thread_join(&threads[i]);
  for (int i = 0; i < 3; ++i) ck_assert_int_eq(right[i], 20);
  close_platform(0);
}
END_TEST

START_TEST(a_function_is_the_same_one_each_time) {
  open_platform(platforms[_i]);
  void* module = mgpuModuleLoad(tfrt_standard_kernels_image, strlen(tfrt_standard_kernels_image));
  void* function = mgpuModuleGetFunction(module, "tfrt_add_f32");
  ck_assert_ptr_nonnull(function);
  ck_assert_ptr_ne(mgpuModuleGetFunction(module, "tfrt_fill_f32"), function);
  ck_assert_ptr_eq(mgpuModuleGetFunction(module, "tfrt_add_f32"), function);
  mgpuModuleUnload(module);
  close_platform(0);
}
END_TEST

START_TEST(mistakes_are_errors_and_nothing_else_happens) {
  open_platform(platforms[_i]);
  tfrt_log_set_level(TFRT_LOG_SILENT);
  ck_assert_ptr_null(mgpuModuleLoadJIT("no code", 2));
  ck_assert_ptr_null(mgpuModuleGetFunction(NULL, "f"));
  void* module = load_kernels();
  ck_assert_ptr_null(mgpuModuleGetFunction(module, "absent"));
  void* function = mgpuModuleGetFunction(module, "tfrt_add_f32");
  void* stream = mgpuStreamCreate();
  void* event = mgpuEventCreate();
  int32_t number = 0;
  void* parameters[] = {&number, &number, &number, &number};
  mgpuLaunchKernel(function, -1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL, 4);
  mgpuLaunchKernel(function, 1, 1, 1, 1 << 20, 1, 1, 0, stream, parameters, NULL, 4);
  mgpuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL, 65);
  mgpuMemFree(parameters, stream);
  mgpuMemset32(parameters, 1, 1, stream);
  mgpuMemHostUnregister(parameters);
  mgpuEventRecord(stream, stream);
  mgpuMemset32(parameters, 1, 1, event);
  mgpuStreamDestroy(stream);
  mgpuEventDestroy(event);
  mgpuModuleUnload(module);
  mgpuSetDefaultDevice(1000);
  ck_assert_ptr_null(mgpuStreamCreate());
  mgpuStreamSynchronize(NULL);
  close_platform(12);
}
END_TEST

START_TEST(a_device_of_another_name_is_refused_in_one_line) {
  open_platform("abacus");
  tfrt_log_set_level(TFRT_LOG_SILENT);
  ck_assert_ptr_null(mgpuStreamCreate());
  ck_assert_ptr_null(mgpuMemAlloc(10, NULL, false));
  close_platform(2);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("mgpu");
  tcase_add_loop_test(tests, a_stream_does_its_work_in_order, 0, PLATFORM_COUNT);
  tcase_add_loop_test(tests, streams_wait_for_events_and_for_streams_in_their_place, 0,
                      PLATFORM_COUNT);
  tcase_add_loop_test(tests, calls_without_a_stream_are_done_when_they_return, 0, PLATFORM_COUNT);
  tcase_add_loop_test(tests, memory_is_shared_with_the_host_or_pinned, 0, PLATFORM_COUNT);
  tcase_add_loop_test(tests, threads_use_streams_of_their_own, 0, PLATFORM_COUNT);
  tcase_add_loop_test(tests, a_function_is_the_same_one_each_time, 0, PLATFORM_COUNT);
  tcase_add_loop_test(tests, mistakes_are_errors_and_nothing_else_happens, 0, PLATFORM_COUNT);
  tcase_add_test(tests, a_device_of_another_name_is_refused_in_one_line);
  Suite* suite = suite_create("mgpu");
  suite_add_tcase(suite, tests);
  return suite;
}
