// SPDX-License-Identifier: Apache-2.0
//
// Tensors of devices between whole nodes, on the simulated network: over the fake CUDA driver,
// whose streams are threads, and over the CPU's devices, which do the same in each run.
#include <stdio.h>
#include <string.h>

#include "devices/device_manager.h"
#include "distributed/node_impl.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/device/host_devices.h"
#include "tests/distributed/node_harness.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"
#include "tools/common/device_platforms.h"

// The numbers in a tensor: three chunks and a bit.
#define COUNT 800000
#define SIZE ((uint64_t)COUNT * 4)
#define PATIENCE_NS (60 * TFRT_NANOSECONDS_PER_SECOND)

static tfrt_node_world_t world;

// --- The world ---------------------------------------------------------------

static void add_devices(uint32_t index, tfrt_node_options_t* options) {
  (void)index;
  ck_assert_ptr_null(tfrt_device_platforms_add(options->host, TFRT_FAKE_CUDA_PATH));
  options->check_device = tfrt_host_devices_check;
}

static void begin(uint32_t host_count, uint64_t seed, uint64_t window) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = seed > 1 ? 4 * options.delay_ns : options.jitter_ns;
  tfrt_fake_cuda_control()->set_seed(seed);
  tfrt_node_world_set_configure(add_devices);
  tfrt_node_world_initialize_with_window(&world, host_count, &options, window);
}

// Lets simulated and real time pass until |is_done|.
static void run_until(bool (*is_done)(void)) {
  int64_t deadline_ns = tfrt_clock_now_ns(tfrt_clock_system()) + PATIENCE_NS;
  while (!is_done()) {
    ck_assert_msg(tfrt_clock_now_ns(tfrt_clock_system()) < deadline_ns, "nothing more comes");
    tfrt_node_world_run_for(&world, TFRT_NANOSECONDS_PER_MILLISECOND);
    for (uint32_t i = 0; i <= world.host_count; ++i) {
      if (world.hosts[i].context) tfrt_work_queue_quiesce(world.hosts[i].context->work_queue);
    }
    tfrt_thread_yield();
  }
}

static bool has_no_transfers(void) {
  uint64_t count = 0;
  for (uint32_t i = 0; i <= world.host_count; ++i) {
    if (world.hosts[i].node) count += tfrt_node_counts(world.hosts[i].node).transfers;
  }
  return count == 0;
}

static void end(void) {
  // What a driver has begun takes real time.
  run_until(has_no_transfers);
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
  tfrt_node_world_set_configure(NULL);
  char text[2048];
  int count = tfrt_fake_cuda_control()->defects(text, sizeof(text));
  ck_assert_msg(count == 0, "%d defects:\n%s", count, text);
  ck_assert_int_eq(tfrt_fake_cuda_control()->live(), 0);
}

static bool has_results(void) {
  bool has_all = true;
  for (uint32_t i = 0; i < world.result_count; ++i) {
    has_all &= tfrt_async_value_is_available(world.results[i]);
  }
  return has_all;
}

// --- Tensors -----------------------------------------------------------------

static int32_t number_at(int32_t index, int32_t seed) { return index * 7 + seed; }

static tfrt_async_value_t* make_tensor(int32_t seed) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_shape_t shape;
  const int64_t dims[] = {COUNT};
  ck_assert_ptr_null(tfrt_shape_make(dims, 1, &shape));
  ck_assert_ptr_null(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_I32, &shape, tfrt_allocator_system(), &tensor));
  int32_t* numbers = tfrt_dense_host_tensor_data(&tensor);
  for (int32_t i = 0; i < COUNT; ++i) numbers[i] = number_at(i, seed);
  return tfrt_async_value_create_tensor_take(&tensor);
}

static void expect_tensor(uint32_t index, int32_t seed) {
  tfrt_async_value_t* value = world.results[index];
  if (tfrt_async_value_is_error(value)) {
    ck_abort_msg("%s", tfrt_status_message(tfrt_async_value_error(value)));
  }
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(tfrt_async_value_resolved(value));
  ck_assert_int_eq(tfrt_dense_host_tensor_element_count(&tensor->dense), COUNT);
  const int32_t* numbers = tfrt_dense_host_tensor_data(&tensor->dense);
  for (int32_t i = 0; i < COUNT; ++i) {
    if (numbers[i] != number_at(i, seed)) ck_abort_msg("number %d is %d", i, numbers[i]);
  }
}

static void start(const char* program, int32_t seed) {
  tfrt_async_value_t* tensor = make_tensor(seed);
  tfrt_node_world_start(&world, program, &tensor, 1, 1);
  tfrt_async_value_release(tensor);
}

// --- Programs ----------------------------------------------------------------

#define UPLOAD                                                                              \
  "func.func @upload(%t: !tfrt_tensor.tensor, %ch0: !tfrt.chain)\n"                         \
  "    -> (!tfrt_gpu.tensor, !tfrt.chain) {\n"                                              \
  "  %device = tfrt_gpu.device.current\n"                                                   \
  "  %context = tfrt_gpu.context.primary %device\n"                                         \
  "  %stream = tfrt_gpu.stream.create %context\n"                                           \
  "  %allocator = tfrt_gpu.allocator.create %context\n"                                     \
  "  %size = tfrt.constant.i64 3200000\n"                                                   \
  "  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0\n"                    \
  "  %bytes, %ch1 = tfrt_dht.get_buffer %t, %ch0\n"                                         \
  "  %ch2 = tfrt_gpu.mem.copy %buffer, %bytes, %stream, %ch1"                               \
  " : !tfrt_gpu.buffer, !ht.host_buffer\n"                                                  \
  "  %shape = ts.build_shape [800000 : i64]\n"                                              \
  "  %tensor = tfrt_gpu.tensor.make.i32 %buffer, %shape, %ch2\n"                            \
  "  tfrt.return %tensor, %ch2 : !tfrt_gpu.tensor, !tfrt.chain\n"                           \
  "}\n"                                                                                     \
  "func.func @download(%t: !tfrt_gpu.tensor, %ch0: !tfrt.chain) -> !tfrt_tensor.tensor {\n" \
  "  %ch1 = tfrt_gpu.tensor.print_metadata %t, %ch0\n"                                      \
  "  %host = tfrt_gpu.tensor.to_host %t, %ch1\n"                                            \
  "  tfrt.return %host : !tfrt_tensor.tensor\n"                                             \
  "}\n"

// Made on |FROM| of host 1, used on host 2 with the options |TO|.
#define MOVE(FROM, TO)                                                            \
  UPLOAD                                                                          \
  "func.func @main(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {\n"           \
  "  %ch = tfrt.new.chain\n"                                                      \
  "  %there, %ch1 = tfrt.call @upload(%t, %ch) {host = 1 : i32, device = \"" FROM \
  "\"}"                                                                           \
  " : (!tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)\n"    \
  "  %back = tfrt.call @download(%there, %ch1) {host = 2 : i32" TO                \
  "}"                                                                             \
  " : (!tfrt_gpu.tensor, !tfrt.chain) -> !tfrt_tensor.tensor\n"                   \
  "  tfrt.return %back : !tfrt_tensor.tensor\n"                                   \
  "}\n"

static const char from_gpu_to_gpu[] = MOVE("cuda:0", ", device = \"cuda:1\"");
static const char from_gpu_to_host[] = MOVE("cuda:1", "");
static const char from_cpu_to_cpu[] = MOVE("cpu:0", ", device = \"cpu:0\"");

// All on host |WHERE|.
#define STAY(WHERE)                                                            \
  UPLOAD                                                                       \
  "func.func @main(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {\n"        \
  "  %ch = tfrt.new.chain\n"                                                   \
  "  %there, %ch1 = tfrt.call @upload(%t, %ch) {host = " WHERE                 \
  " : i32, device = \"cuda:0\"}"                                               \
  " : (!tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)\n" \
  "  %back = tfrt.call @download(%there, %ch1) {host = " WHERE                 \
  " : i32, device = \"cuda:0\"}"                                               \
  " : (!tfrt_gpu.tensor, !tfrt.chain) -> !tfrt_tensor.tensor\n"                \
  "  tfrt.return %back : !tfrt_tensor.tensor\n"                                \
  "}\n"

// --- Ways --------------------------------------------------------------------

START_TEST(a_tensor_goes_from_one_hosts_gpu_to_anothers) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    begin(3, seed, 0);
    start(from_gpu_to_gpu, (int32_t)seed);
    run_until(has_results);
    expect_tensor(0, (int32_t)seed);
    ck_assert_msg(strstr(world.printed, "2: DenseGpuTensor<dtype=I32, shape=[800000], pointer=0x"),
                  "%s", world.printed);
    ck_assert_msg(strstr(world.printed, "(CUDA)>"), "%s", world.printed);
    // Directly, and once.
    uint64_t bytes = tfrt_node_world_bulk_bytes(&world, 1, 2);
    ck_assert_msg(bytes >= SIZE && bytes < SIZE + 4096, "%llu bytes", (unsigned long long)bytes);
    end();
  }
}
END_TEST

START_TEST(without_a_device_it_goes_to_the_hosts_memory) {
  begin(3, 5, 0);
  start(from_gpu_to_host, 5);
  run_until(has_results);
  expect_tensor(0, 5);
  ck_assert_msg(strstr(world.printed, "(CPU)>"), "%s", world.printed);
  end();
}
END_TEST

START_TEST(any_window_and_order_give_the_same) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    begin(3, seed, seed % 2 ? 100000 : 3000001);
    start(from_cpu_to_cpu, (int32_t)seed);
    run_until(has_results);
    expect_tensor(0, (int32_t)seed);
    end();
  }
}
END_TEST

START_TEST(a_broken_lane_resumes_where_it_was) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    begin(3, seed, 1 << 20);
    start(from_cpu_to_cpu, (int32_t)seed);
    ck_assert(tfrt_node_world_run_until_bytes(&world, 1, 2, seed * 400000));
    tfrt_node_world_break(&world, 1, 2);
    run_until(has_results);
    expect_tensor(0, (int32_t)seed);
    end();
  }
}
END_TEST

// --- Losses ------------------------------------------------------------------

static bool half_is_there(void) { return tfrt_node_world_bulk_bytes(&world, 1, 2) >= SIZE / 2; }

// Kills |rank| when half of the tensor went from host 1 to host 2; the devices of |survivor| work.
static void lose(uint32_t rank, const char* next_program) {
  begin(3, 11, 1 << 20);
  start(from_gpu_to_gpu, 1);
  run_until(half_is_there);
  tfrt_node_world_kill(&world, rank);
  run_until(has_results);
  char name[16];
  snprintf(name, sizeof(name), "host %u", rank);
  const char* text = tfrt_status_message(tfrt_node_world_error(&world, 0));
  ck_assert_msg(strstr(text, name), "%s", text);
  tfrt_async_value_release(world.results[0]);
  start(next_program, 2);
  run_until(has_results);
  expect_tensor(0, 2);
  end();
}

START_TEST(a_lost_receiver_leaves_the_senders_device_as_it_was) { lose(2, STAY("1")); }
END_TEST

START_TEST(a_lost_sender_leaves_the_receivers_device_as_it_was) { lose(1, STAY("2")); }
END_TEST

static const char missing_device[] = MOVE("cuda:0", ", device = \"cuda:7\"");

START_TEST(a_device_that_is_not_there_is_an_error_of_what_needs_it) {
  begin(3, 1, 0);
  start(missing_device, 1);
  run_until(has_results);
  const char* text = tfrt_status_message(tfrt_node_world_error(&world, 0));
  ck_assert_msg(strstr(text, "7"), "%s", text);
  end();
}
END_TEST

// --- Failures of the driver --------------------------------------------------

// The |n|-th call of |entry| fails: the tensor comes, or an error; nothing is left, nothing hangs.
static void fail_driver(const char* entry, uint32_t n) {
  begin(3, 3, 1 << 20);
  tfrt_fake_cuda_control()->set_failure(entry, n, 2);
  start(from_gpu_to_gpu, 9);
  run_until(has_results);
  if (!tfrt_async_value_is_error(world.results[0])) expect_tensor(0, 9);
  tfrt_fake_cuda_control()->set_failure(entry, 0, 0);
  end();
}

START_TEST(what_a_driver_refuses_ends_the_transfer_only) {
  for (uint32_t n = 1; n <= 8; ++n) fail_driver("cuMemHostAlloc", n);
  for (uint32_t n = 1; n <= 8; ++n) fail_driver("cuMemcpyAsync", n);
}
END_TEST

// --- Asking ------------------------------------------------------------------

static tfrt_async_value_t* answer;

static bool has_answer(void) { return tfrt_async_value_is_available(answer); }

static bool is_open(void) {
  return tfrt_async_value_is_available(tfrt_client_opened(world.client));
}

START_TEST(a_host_says_which_devices_it_has) {
  begin(2, 1, 0);
  run_until(is_open);
  const char* const names[] = {"cuda:1", "cpu:0", "cuda:2", "tpu:0", "cuda", "cuda:x"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    answer = tfrt_client_check_device(world.client, 1, names[i]);
    tfrt_async_value_demand(answer);
    run_until(has_answer);
    ck_assert_msg(tfrt_async_value_is_error(answer) == (i >= 2), "%s", names[i]);
    tfrt_async_value_release(answer);
  }
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("device_transfer");
  TCase* ways = tcase_create("ways");
  tcase_set_timeout(ways, 240);
  tcase_add_test(ways, a_tensor_goes_from_one_hosts_gpu_to_anothers);
  tcase_add_test(ways, without_a_device_it_goes_to_the_hosts_memory);
  tcase_add_test(ways, any_window_and_order_give_the_same);
  tcase_add_test(ways, a_broken_lane_resumes_where_it_was);
  tcase_add_test(ways, a_lost_receiver_leaves_the_senders_device_as_it_was);
  tcase_add_test(ways, a_lost_sender_leaves_the_receivers_device_as_it_was);
  tcase_add_test(ways, a_device_that_is_not_there_is_an_error_of_what_needs_it);
  tcase_add_test(ways, what_a_driver_refuses_ends_the_transfer_only);
  tcase_add_test(ways, a_host_says_which_devices_it_has);
  suite_add_tcase(suite, ways);
  return suite;
}
