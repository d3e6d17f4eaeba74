// SPDX-License-Identifier: Apache-2.0
//
// Tensors of devices between whole nodes, on the simulated network: over the fake CUDA driver,
// whose streams are threads, and over the CPU's devices, which do the same in each run.
#include <stdio.h>
#include <string.h>

#include "tests/distributed/collective/device_world.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

// The numbers in a tensor: three chunks and a bit.
#define COUNT 800000
#define SIZE ((uint64_t)COUNT * 4)

static tfrt_node_world_t world;

static void begin(uint32_t host_count, uint64_t seed, uint64_t window) {
  tfrt_device_world_begin(&world, host_count, seed, window);
}

static void run_until(bool (*is_done)(const tfrt_node_world_t* world)) {
  tfrt_device_world_run_until(&world, is_done);
}

static void end(void) { tfrt_device_world_end(&world); }

static void expect_tensor_of(int64_t expected_count, uint32_t index, int32_t seed) {
  int64_t count = 0;
  const int32_t* numbers = tfrt_device_world_numbers(&world, index, &count);
  ck_assert_int_eq(count, expected_count);
  for (int32_t i = 0; i < count; ++i) {
    if (numbers[i] != tfrt_device_world_number(i, seed)) {
      ck_abort_msg("number %d is %d", i, numbers[i]);
    }
  }
}

static void expect_tensor(uint32_t index, int32_t seed) { expect_tensor_of(COUNT, index, seed); }

static void start_with(int64_t count, const char* program, int32_t seed) {
  tfrt_async_value_t* tensor = tfrt_device_world_make_tensor(count, seed);
  tfrt_node_world_start(&world, program, &tensor, 1, 1);
  tfrt_async_value_release(tensor);
}

static void start(const char* program, int32_t seed) { start_with(COUNT, program, seed); }

// --- Programs ----------------------------------------------------------------

#define UPLOAD TFRT_DEVICE_WORLD_FUNCTIONS("800000", "3200000")

// A tensor that is read and written in pieces of several chunks.
#define LARGE_COUNT 5000000
#define LARGE_UPLOAD TFRT_DEVICE_WORLD_FUNCTIONS("5000000", "20000000")
#define PIECE ((size_t)4 << 20)

// Made on |FROM| of host 1, used on host 2 with the options |TO|.
#define MOVE(FROM, TO) MOVE_BY(UPLOAD, FROM, TO)
#define MOVE_BY(FUNCTIONS, FROM, TO)                                              \
  FUNCTIONS                                                                       \
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
static const char much_from_gpu_to_gpu[] = MOVE_BY(LARGE_UPLOAD, "cuda:0", ", device = \"cuda:1\"");
static const char much_from_cpu_to_cpu[] = MOVE_BY(LARGE_UPLOAD, "cpu:0", ", device = \"cpu:0\"");

// All on |DEVICE| of host |WHERE|.
#define STAY_ON(WHERE, DEVICE)                                                              \
  UPLOAD                                                                                    \
  "func.func @main(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {\n"                     \
  "  %ch = tfrt.new.chain\n"                                                                \
  "  %there, %ch1 = tfrt.call @upload(%t, %ch) {host = " WHERE " : i32, device = \"" DEVICE \
  "\"}"                                                                                     \
  " : (!tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)\n"              \
  "  %back = tfrt.call @download(%there, %ch1) {host = " WHERE " : i32, device = \"" DEVICE \
  "\"}"                                                                                     \
  " : (!tfrt_gpu.tensor, !tfrt.chain) -> !tfrt_tensor.tensor\n"                             \
  "  tfrt.return %back : !tfrt_tensor.tensor\n"                                             \
  "}\n"

#define STAY(WHERE) STAY_ON(WHERE, "cuda:0")

// --- Ways --------------------------------------------------------------------

START_TEST(a_tensor_goes_from_one_hosts_gpu_to_anothers) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    begin(3, seed, 0);
    start(from_gpu_to_gpu, (int32_t)seed);
    run_until(tfrt_device_world_has_results);
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
  run_until(tfrt_device_world_has_results);
  expect_tensor(0, 5);
  ck_assert_msg(strstr(world.printed, "(CPU)>"), "%s", world.printed);
  end();
}
END_TEST

START_TEST(any_window_and_order_give_the_same) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    begin(3, seed, seed % 2 ? 100000 : 3000001);
    start(from_cpu_to_cpu, (int32_t)seed);
    run_until(tfrt_device_world_has_results);
    expect_tensor(0, (int32_t)seed);
    end();
  }
}
END_TEST

static uint64_t wanted_bytes;

static bool enough_came(const tfrt_node_world_t* at) {
  return tfrt_node_world_bulk_bytes(at, 1, 2) >= wanted_bytes;
}

START_TEST(a_broken_channel_resumes_where_it_was) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    begin(3, seed, 1 << 20);
    start(from_cpu_to_cpu, (int32_t)seed);
    wanted_bytes = seed * 400000;
    run_until(enough_came);
    tfrt_node_world_break(&world, 1, 2);
    run_until(tfrt_device_world_has_results);
    expect_tensor(0, (int32_t)seed);
    end();
  }
}
END_TEST

// --- Back-pressure -----------------------------------------------------------

#define WINDOW ((size_t)1 << 20)

static bool half_a_window_waits(const tfrt_node_world_t* at) {
  (void)at;
  return tfrt_fake_cuda_control()->held_size() >= WINDOW / 2;
}

// Bytes that came and are not yet in the device's memory lie in staging memory of the host.
START_TEST(a_device_that_does_not_keep_up_is_sent_no_more_than_a_window) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    begin(3, seed, WINDOW);
    tfrt_fake_cuda_control()->hold_copies(1);
    start(from_gpu_to_gpu, (int32_t)seed);
    run_until(half_a_window_waits);
    // All that may come has time to.
    for (int i = 0; i < 300; ++i) {
      tfrt_device_world_run_a_moment(&world);
      ck_assert_uint_le(tfrt_fake_cuda_control()->held_size(), WINDOW);
    }
    ck_assert_uint_lt(tfrt_node_world_bulk_bytes(&world, 1, 2), WINDOW + 4096);
    tfrt_fake_cuda_control()->hold_copies(-1);
    run_until(tfrt_device_world_has_results);
    expect_tensor(0, (int32_t)seed);
    end();
  }
}
END_TEST

// A bulk channel that breaks then is resumed when the device has kept up, with one window again.
START_TEST(a_broken_channel_resumes_when_what_came_is_stored) {
  begin(3, 4, WINDOW);
  tfrt_fake_cuda_control()->hold_copies(1);
  start(from_gpu_to_gpu, 4);
  run_until(half_a_window_waits);
  tfrt_node_world_break(&world, 1, 2);
  for (int i = 0; i < 300; ++i) {
    tfrt_device_world_run_a_moment(&world);
    ck_assert_uint_le(tfrt_fake_cuda_control()->held_size(), WINDOW);
  }
  tfrt_fake_cuda_control()->hold_copies(-1);
  run_until(tfrt_device_world_has_results);
  expect_tensor(0, 4);
  end();
}
END_TEST

static bool a_copy_waits(const tfrt_node_world_t* at) {
  (void)at;
  return tfrt_fake_cuda_control()->held_size() > 0;
}

// The copies to the device are of several chunks each. Beside a window, one piece may be on its
// way.
START_TEST(a_large_tensor_is_written_in_large_pieces) {
  begin(3, 9, PIECE);
  tfrt_fake_cuda_control()->hold_copies(1);
  start_with(LARGE_COUNT, much_from_gpu_to_gpu, 9);
  run_until(a_copy_waits);
  for (int i = 0; i < 300; ++i) {
    tfrt_device_world_run_a_moment(&world);
    ck_assert_uint_eq(tfrt_fake_cuda_control()->held_size() % PIECE, 0);
    ck_assert_uint_le(tfrt_fake_cuda_control()->held_size(), 2 * PIECE);
  }
  ck_assert_uint_lt(tfrt_node_world_bulk_bytes(&world, 1, 2), 2 * PIECE + 65536);
  tfrt_fake_cuda_control()->hold_copies(-1);
  run_until(tfrt_device_world_has_results);
  expect_tensor_of(LARGE_COUNT, 0, 9);
  end();
}
END_TEST

// A window that is smaller than a piece, and a channel that breaks in the middle of one.
START_TEST(a_piece_is_filled_in_through_small_windows_and_broken_channels) {
  begin(3, 10, 300000);
  start_with(LARGE_COUNT, much_from_cpu_to_cpu, 10);
  for (uint64_t i = 1; i <= 3; ++i) {
    wanted_bytes = i * 5500000;
    run_until(enough_came);
    tfrt_node_world_break(&world, 1, 2);
  }
  run_until(tfrt_device_world_has_results);
  expect_tensor_of(LARGE_COUNT, 0, 10);
  end();
}
END_TEST

// --- Losses ------------------------------------------------------------------

static bool half_is_there(const tfrt_node_world_t* at) {
  return tfrt_node_world_bulk_bytes(at, 1, 2) >= SIZE / 2;
}

// Kills |rank| when half of the tensor went from host 1 to host 2; the devices of |survivor| work.
static void lose(uint32_t rank, const char* next_program) {
  begin(3, 11, 1 << 20);
  start(from_gpu_to_gpu, 1);
  run_until(half_is_there);
  tfrt_node_world_kill(&world, rank);
  run_until(tfrt_device_world_has_results);
  char name[16];
  snprintf(name, sizeof(name), "host %u", rank);
  const char* text = tfrt_status_message(tfrt_node_world_error(&world, 0));
  ck_assert_msg(strstr(text, name), "%s", text);
  tfrt_async_value_release(world.results[0]);
  start(next_program, 2);
  run_until(tfrt_device_world_has_results);
  expect_tensor(0, 2);
  end();
}

START_TEST(a_lost_receiver_leaves_the_senders_device_as_it_was) { lose(2, STAY("1")); }
END_TEST

START_TEST(a_lost_sender_leaves_the_receivers_device_as_it_was) { lose(1, STAY("2")); }
END_TEST

// --- Lost devices ------------------------------------------------------------

// A kernel of host 1 breaks the context of its first device.
static const char faulting[] =
    "func.func @fault(%t: !tfrt_tensor.tensor, %ch0: !tfrt.chain) -> !tfrt_tensor.tensor {\n"
    "  %device = tfrt_gpu.device.current\n"
    "  %context = tfrt_gpu.context.primary %device\n"
    "  %stream = tfrt_gpu.stream.create %context\n"
    "  %module = tfrt_gpu.module.load %context {data = \".version 6.4\\0A.target sm_70\\0A"
    ".address_size 64\\0A.visible .entry test_fault() { trap; }\"}\n"
    "  %fault = tfrt_gpu.module.get_function %module {name = \"test_fault\"}\n"
    "  %zero = tfrt.constant.ui32 0\n"
    "  %one = tfrt.constant.ui32 1\n"
    "  %ch1 = tfrt_gpu.function.launch %stream, %fault, blocks in (%one, %one, %one), "
    "threads in (%one, %one, %one), %zero, %ch0\n"
    "  %ch2 = tfrt_gpu.stream.synchronize %stream, %ch1\n"
    "  %same = \"tfrt_test.identity\"(%ch2, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> "
    "!tfrt_tensor.tensor\n"
    "  tfrt.return %same : !tfrt_tensor.tensor\n"
    "}\n"
    "func.func @main(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {\n"
    "  %ch = tfrt.new.chain\n"
    "  %back = tfrt.call @fault(%t, %ch) {host = 1 : i32, device = \"cuda:0\"}"
    " : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt_tensor.tensor\n"
    "  tfrt.return %back : !tfrt_tensor.tensor\n"
    "}\n";

static void expect_loss(const char* program) {
  start(program, 1);
  run_until(tfrt_device_world_has_results);
  const char* text = tfrt_status_message(tfrt_node_world_error(&world, 0));
  ck_assert_msg(strstr(text, "cuda:0 is lost"), "%s", text);
  tfrt_async_value_release(world.results[0]);
}

static void expect_success(const char* program) {
  start(program, 2);
  run_until(tfrt_device_world_has_results);
  expect_tensor(0, 2);
  tfrt_async_value_release(world.results[0]);
}

START_TEST(a_lost_device_leaves_other_devices_and_hosts_alive) {
  begin(3, 1, 0);
  expect_loss(faulting);
  expect_loss(STAY("1"));
  expect_success(STAY_ON("1", "cuda:1"));
  expect_success(STAY_ON("1", "cpu:0"));
  expect_success(STAY_ON("2", "cuda:1"));
  start(STAY_ON("2", "cpu:0"), 2);
  run_until(tfrt_device_world_has_results);
  expect_tensor(0, 2);
  end();
}
END_TEST

static const char missing_device[] = MOVE("cuda:0", ", device = \"cuda:7\"");

START_TEST(a_device_that_is_not_there_is_an_error_of_what_needs_it) {
  begin(3, 1, 0);
  start(missing_device, 1);
  run_until(tfrt_device_world_has_results);
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
  run_until(tfrt_device_world_has_results);
  if (!tfrt_async_value_is_error(world.results[0])) expect_tensor(0, 9);
  tfrt_fake_cuda_control()->set_failure(entry, 0, 0);
  end();
}

START_TEST(what_a_driver_refuses_ends_the_transfer_only) {
  for (uint32_t n = 1; n <= 8; ++n) fail_driver("cuMemHostAlloc", n);
  for (uint32_t n = 1; n <= 8; ++n) fail_driver("cuMemcpyAsync", n);
}
END_TEST

// --- Groups of devices ---------------------------------------------------------

// A member of a group of two, which all have [rank + 20] and get the sum.
#define MEMBER                                                                          \
  "func.func @member(%rank: i32, %id: !tfrt_gpu.ccl.id, %ch0: !tfrt.chain) -> i32 {\n"  \
  "  %device = tfrt_gpu.device.current\n"                                               \
  "  %context = tfrt_gpu.context.primary %device\n"                                     \
  "  %stream = tfrt_gpu.stream.create %context\n"                                       \
  "  %allocator = tfrt_gpu.allocator.create %context\n"                                 \
  "  %size = tfrt.constant.i64 4\n"                                                     \
  "  %count = tfrt.constant.i32 2\n"                                                    \
  "  %base = tfrt.constant.i32 20\n"                                                    \
  "  %number = tfrt.add.i32 %rank, %base\n"                                             \
  "  %pinned = tfrt_gpu.mem.allocate_host %context, %size, %ch0\n"                      \
  "  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0\n"                \
  "  %ch1 = tfrt_gpu.mem.set %buffer, %number, %stream, %ch0 : !tfrt_gpu.buffer, i32\n" \
  "  %ccl = tfrt_gpu.ccl.create %context, %rank, %count, %id\n"                         \
  "  %ch2 = tfrt_gpu.ccl.all_reduce %ccl, %buffer, %buffer, ncclInt32, ncclSum, %ch1\n" \
  "  %ch3 = tfrt_gpu.ccl.execute %stream, %ccl, %ch2\n"                                 \
  "  %ch4 = tfrt_gpu.mem.copy %pinned, %buffer, %stream, %ch3"                          \
  " : !tfrt_gpu.buffer, !tfrt_gpu.buffer\n"                                             \
  "  %ch5 = tfrt_gpu.stream.synchronize %stream, %ch4\n"                                \
  "  %sum = tfrt_gpu.mem.load %pinned, %ch5 : i32\n"                                    \
  "  tfrt.return %sum : i32\n"                                                          \
  "}\n"

#define CALL(result, rank, options)                                      \
  "  %" result " = tfrt.call @member(%rank" rank ", %id, %ch) {" options \
  "}"                                                                    \
  " : (i32, !tfrt_gpu.ccl.id, !tfrt.chain) -> i32\n"

#define MAIN_BEGIN                   \
  "func.func @main() -> i32 {\n"     \
  "  %ch = tfrt.new.chain\n"         \
  "  %rank0 = tfrt.constant.i32 0\n" \
  "  %rank1 = tfrt.constant.i32 1\n" \
  "  %id = tfrt_gpu.ccl.unique_id CUDA\n"

static const char two_members[] =
    MEMBER MAIN_BEGIN CALL("a", "0", "host = 1 : i32, device = \"cuda:0\"")
        CALL("b", "1", "host = 2 : i32, device = \"cuda:1\"")
            "  %both = tfrt.add.i32 %a, %b\n"
            "  tfrt.return %both : i32\n"
            "}\n";

static const char one_member[] =
    MEMBER MAIN_BEGIN CALL("a", "0", "host = 1 : i32, device = \"cuda:0\", deadline_ms = 50 : i32")
        "  tfrt.return %a : i32\n"
        "}\n";

START_TEST(the_id_of_a_group_crosses_hosts_and_its_members_meet) {
  begin(3, 1, 0);
  tfrt_node_world_start(&world, two_members, NULL, 0, 1);
  run_until(tfrt_device_world_has_results);
  tfrt_async_value_t* value = world.results[0];
  if (tfrt_async_value_is_error(value)) {
    ck_abort_msg("%s", tfrt_status_message(tfrt_async_value_error(value)));
  }
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(value)), 82);
  end();
}
END_TEST

START_TEST(a_member_that_waits_alone_ends_with_its_call) {
  begin(3, 1, 0);
  tfrt_node_world_start(&world, one_member, NULL, 0, 1);
  run_until(tfrt_device_world_has_results);
  ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)),
                   TFRT_STATUS_DEADLINE_EXCEEDED);
  end();
}
END_TEST

// --- Asking ------------------------------------------------------------------

static tfrt_async_value_t* answer;

static bool has_answer(const tfrt_node_world_t* at) {
  (void)at;
  return tfrt_async_value_is_available(answer);
}

static bool is_open(const tfrt_node_world_t* at) {
  return tfrt_async_value_is_available(tfrt_client_opened(at->client));
}

START_TEST(a_host_says_which_devices_it_has) {
  begin(2, 1, 0);
  run_until(is_open);
  const char* const names[] = {"cuda:1", "cpu:0", "cuda:3", "tpu:0", "cuda", "cuda:x"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    answer = tfrt_client_ask(world.client, 1,
                             &(tfrt_client_question_t){.kind = TFRT_CLIENT_ASK_DEVICE,
                                                       .about = tfrt_string_view_of(names[i])});
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
  tcase_add_test(ways, a_broken_channel_resumes_where_it_was);
  tcase_add_test(ways, a_device_that_does_not_keep_up_is_sent_no_more_than_a_window);
  tcase_add_test(ways, a_broken_channel_resumes_when_what_came_is_stored);
  tcase_add_test(ways, a_large_tensor_is_written_in_large_pieces);
  tcase_add_test(ways, a_piece_is_filled_in_through_small_windows_and_broken_channels);
  tcase_add_test(ways, a_lost_receiver_leaves_the_senders_device_as_it_was);
  tcase_add_test(ways, a_lost_sender_leaves_the_receivers_device_as_it_was);
  tcase_add_test(ways, a_lost_device_leaves_other_devices_and_hosts_alive);
  tcase_add_test(ways, a_device_that_is_not_there_is_an_error_of_what_needs_it);
  tcase_add_test(ways, what_a_driver_refuses_ends_the_transfer_only);
  tcase_add_test(ways, the_id_of_a_group_crosses_hosts_and_its_members_meet);
  tcase_add_test(ways, a_member_that_waits_alone_ends_with_its_call);
  tcase_add_test(ways, a_host_says_which_devices_it_has);
  suite_add_tcase(suite, ways);
  return suite;
}
