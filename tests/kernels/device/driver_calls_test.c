// SPDX-License-Identifier: Apache-2.0
//
// The driver calls that programs make, and those that they don't. Each test lets a call of the fake
// driver fail; a program that makes the call gets the error.
#include <string.h>

#include "devices/cuda/cuda_api.h"
#include "kernels/device/host_devices.h"
#include "tests/bench/bench_host.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"
#include "tools/kernels/device_platforms.h"

// %buffer and %pinned of 4 bytes, %stream, %number = 7.
#define BEGIN                                                            \
  "  %ch0 = tfrt.new.chain\n"                                            \
  "  %ordinal = tfrt.constant.i32 0\n"                                   \
  "  %device = tfrt_gpu.device.get CUDA, %ordinal\n"                     \
  "  %context = tfrt_gpu.context.primary %device\n"                      \
  "  %stream = tfrt_gpu.stream.create %context\n"                        \
  "  %allocator = tfrt_gpu.allocator.create %context\n"                  \
  "  %size = tfrt.constant.i64 4\n"                                      \
  "  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0\n" \
  "  %pinned = tfrt_gpu.mem.allocate_host %context, %size, %ch0\n"       \
  "  %number = tfrt.constant.i32 7\n"

// The number in %buffer behind %ch3, which is the result.
#define END                                                    \
  "  %ch4 = tfrt_gpu.mem.copy %pinned, %buffer, %stream, %ch3" \
  " : !tfrt_gpu.buffer, !tfrt_gpu.buffer\n"                    \
  "  %ch5 = tfrt_gpu.stream.synchronize %stream, %ch4\n"       \
  "  %found = tfrt_gpu.mem.load %pinned, %ch5 : i32\n"         \
  "  tfrt.return %found : i32\n"                               \
  "}\n"

// Four pieces of work of one stream, each behind the one before, and one wait.
static const char one_stream[] =
    "func.func @main() -> i32 {\n" BEGIN
    "  %ch1 = tfrt_gpu.mem.set %buffer, %ordinal, %stream, %ch0 : !tfrt_gpu.buffer, i32\n"
    "  %ch2 = tfrt_gpu.mem.set %buffer, %number, %stream, %ch1 : !tfrt_gpu.buffer, i32\n"
    "  %other = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch2\n"
    "  %ch3 = tfrt_gpu.mem.copy %other, %buffer, %stream, %ch2"
    " : !tfrt_gpu.buffer, !tfrt_gpu.buffer\n" END;

// The same work in two streams, the second one behind an event of the first.
static const char two_streams[] =
    "func.func @main() -> i32 {\n" BEGIN
    "  %far = tfrt_gpu.stream.create %context\n"
    "  %ch1 = tfrt_gpu.mem.set %buffer, %number, %far, %ch0 : !tfrt_gpu.buffer, i32\n"
    "  %event = tfrt_gpu.event.create %context\n"
    "  %ch2 = tfrt_gpu.event.record %event, %far, %ch1\n"
    "  %ch3 = tfrt_gpu.stream.wait %stream, %event, %ch2\n" END;

#define CALL(to, from)                                       \
  "  %ch" to " = tfrt_gpu.graph.call %graph, @fill(%ch" from \
  ", %stream, %buffer, %number) : !tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.buffer, i32\n"

// The first call is a plain one, the second is captured, and it and the third are launched.
static const char often_called[] =
    "func.func @fill(%ch0: !tfrt.chain, %stream: !tfrt_gpu.stream, %buffer: !tfrt_gpu.buffer,\n"
    "                %number: i32) -> !tfrt.chain {\n"
    "  %ch1 = tfrt_gpu.mem.set %buffer, %number, %stream, %ch0 : !tfrt_gpu.buffer, i32\n"
    "  tfrt.return %ch1 : !tfrt.chain\n"
    "}\n"
    "func.func @main() -> i32 {\n" BEGIN
    "  %graph = tfrt_gpu.graph.create {plain_calls = 1 : i32}\n" CALL("1", "0") CALL("2", "1")
        CALL("3", "2") END;

#define PLACED "attributes {device = \"cuda:0\"} {\n"
#define TOKEN "!async.value<!gpu.async.token>"
#define MEMORY "!async.value<memref<1xi32>>"

// Three tasks, each with work behind the token of the one before. The last one copies %b to %c, and
// does |end| behind the token of that, %td.
#define TASKS(end)                                                                           \
  "func.func @main() -> i32 {\n"                                                             \
  "  %c0 = arith.constant 0 : index\n"                                                       \
  "  %seven = arith.constant 7 : i32\n"                                                      \
  "  %host = memref.alloc() : memref<1xi32>\n"                                               \
  "  memref.store %seven, %host[%c0] : memref<1xi32>\n"                                      \
  "  %t0, %e, %m = async.execute -> (" TOKEN ", " MEMORY ") " PLACED                         \
  "    %a, %ta = gpu.alloc async () : memref<1xi32>\n"                                       \
  "    %tb = gpu.memset async [%ta] %a, %seven : memref<1xi32>, i32\n"                       \
  "    async.yield %tb, %a : !gpu.async.token, memref<1xi32>\n"                              \
  "  }\n"                                                                                    \
  "  %t1, %f, %n = async.execute (%e as %token: " TOKEN ", %m as %a: " MEMORY ") -> (" TOKEN \
  ", " MEMORY ") " PLACED                                                                    \
  "    %b, %tb = gpu.alloc async [%token] () : memref<1xi32>\n"                              \
  "    %tc = gpu.memcpy async [%tb] %b, %a : memref<1xi32>, memref<1xi32>\n"                 \
  "    async.yield %tc, %b : !gpu.async.token, memref<1xi32>\n"                              \
  "  }\n"                                                                                    \
  "  %t2 = async.execute (%f as %token: " TOKEN ", %n as %b: " MEMORY ") " PLACED            \
  "    %c, %tc = gpu.alloc async [%token] () : memref<1xi32>\n"                              \
  "    %td = gpu.memcpy async [%tc] %c, %b : memref<1xi32>, memref<1xi32>\n" end             \
  "    async.yield\n"                                                                        \
  "  }\n"                                                                                    \
  "  async.await %t2 : !async.token\n"                                                       \
  "  %x = memref.load %host[%c0] : memref<1xi32>\n"                                          \
  "  return %x : i32\n"                                                                      \
  "}\n"

static const char unwaited_tasks[] = TASKS("");
static const char waited_tasks[] = TASKS("    gpu.wait [%td]\n");
// The host gets what the first task has set.
static const char copied_tasks[] = TASKS(
    "    %zero = arith.constant 0 : i32\n"
    "    memref.store %zero, %host[%c0] : memref<1xi32>\n"
    "    %te = gpu.memcpy async [%td] %host, %c : memref<1xi32>, memref<1xi32>\n");

// Runs |program| with call |n| of the driver's |name| failing; returns its error (+1), or NULL if
// it gives 7.
static tfrt_status_t run(const char* program, const char* name, uint32_t n) {
  tfrt_bench_host_t host;
  tfrt_async_value_t* result = NULL;
  ck_assert_ptr_null(tfrt_bench_host_open(&host, 2, tfrt_string_view_of(program)));
  ck_assert_ptr_null(tfrt_device_platforms_add(host.host, TFRT_FAKE_CUDA_PATH));
  tfrt_fake_cuda_control()->set_failure(name, n, TFRT_CUDA_ERROR_OUT_OF_MEMORY);
  tfrt_bench_host_call(&host, NULL, &result, 1);
  tfrt_fake_cuda_control()->set_failure(name, 0, 0);
  tfrt_status_t status = NULL;
  if (tfrt_async_value_is_error(result)) {
    status = tfrt_status_retain(tfrt_async_value_error(result));
    ck_assert_msg(strstr(tfrt_status_message(status), name) != NULL, "%s",
                  tfrt_status_message(status));
  } else {
    const int32_t* number = tfrt_async_value_payload(tfrt_async_value_resolved(result));
    ck_assert_int_eq(*number, 7);
  }
  tfrt_async_value_release(result);
  tfrt_host_devices_drain(host.host);
  tfrt_bench_host_close(&host);
  return status;
}

static void expect_call(const char* program, const char* name, uint32_t n) {
  tfrt_status_t status = run(program, name, n);
  ck_assert_msg(status != NULL, "there is no call %u of %s", n, name);
  tfrt_status_release(status);
}

static void expect_no_call(const char* program, const char* name, uint32_t n) {
  tfrt_status_t status = run(program, name, n);
  ck_assert_msg(!status, "there is a call %u of %s", n, name);
}

// Memory may be kept where a call fails; without that all of it comes back.
static void expect_all_back(const char* program) {
  ck_assert(!run(program, "", 0));
  ck_assert_int_eq(tfrt_fake_cuda_control()->live(), 0);
}

START_TEST(chains_in_one_stream_are_no_events) {
  expect_all_back(one_stream);
  // The one event is that of the wait at the end.
  expect_call(one_stream, "cuEventRecord", 1);
  expect_no_call(one_stream, "cuEventRecord", 2);
  expect_no_call(one_stream, "cuStreamWaitEvent", 1);
}
END_TEST

START_TEST(streams_are_ordered_by_events_of_the_device) {
  expect_all_back(two_streams);
  expect_call(two_streams, "cuEventRecord", 1);
  expect_call(two_streams, "cuStreamWaitEvent", 1);
}
END_TEST

START_TEST(a_function_that_is_called_often_is_a_launch_of_a_graph) {
  expect_all_back(often_called);
  expect_call(often_called, "cuMemsetD32Async", 1);
  expect_no_call(often_called, "cuMemsetD32Async", 3);
  expect_call(often_called, "cuGraphLaunch", 1);
  expect_call(often_called, "cuGraphLaunch", 2);
  expect_no_call(often_called, "cuGraphLaunch", 3);
}
END_TEST

START_TEST(tokens_between_tasks_are_events_of_the_device) {
  expect_all_back(unwaited_tasks);
  expect_all_back(waited_tasks);
  expect_all_back(copied_tasks);
  expect_call(unwaited_tasks, "cuEventRecord", 1);
  expect_call(unwaited_tasks, "cuStreamWaitEvent", 1);
  // The host asks for events that it waits for.
  expect_no_call(unwaited_tasks, "cuEventQuery", 1);
  expect_call(waited_tasks, "cuEventQuery", 1);
  // It never blocks.
  expect_no_call(waited_tasks, "cuStreamSynchronize", 1);
  expect_no_call(waited_tasks, "cuEventSynchronize", 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("driver_calls");
  TCase* calls = tcase_create("calls");
  tcase_add_test(calls, chains_in_one_stream_are_no_events);
  tcase_add_test(calls, streams_are_ordered_by_events_of_the_device);
  tcase_add_test(calls, a_function_that_is_called_often_is_a_launch_of_a_graph);
  tcase_add_test(calls, tokens_between_tasks_are_events_of_the_device);
  suite_add_tcase(suite, calls);
  return suite;
}
