// SPDX-License-Identifier: Apache-2.0
//
// Collectives of tensors in the memory of devices that go through the hosts' memory, as not all of
// these devices can be in one group: between whole nodes on the simulated network.
#include <stdio.h>
#include <string.h>

#include "tests/distributed/collective/device_exchange.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

#define HOSTS TFRT_DEVICE_EXCHANGE_HOSTS
#define TENSOR "!tfrt_tensor.tensor"
#define GPU "!tfrt_gpu.tensor"

static tfrt_node_world_t world;

static void begin(uint64_t seed) { tfrt_device_world_begin(&world, HOSTS, seed, 0); }

static void run_until_results(void) {
  tfrt_device_world_run_until(&world, tfrt_device_world_has_results);
}

// --- Results -----------------------------------------------------------------

// Two hosts with the same GPU, and hosts with devices of different drivers.
static const char* const gpus[] = {"cuda:0", "cuda:1", "cuda:0"};
static const char* const both[] = {"cuda:0", "cpu:0", "cuda:1"};

// Each op, with |size|.
static void run_each(const char* const* devices, tfrt_device_exchange_size_t size,
                     const char* place) {
  uint64_t seed = 1;
  for (tfrt_device_exchange_kind_t kind = 0; kind < TFRT_DEVICE_EXCHANGE_KIND_COUNT; ++kind) {
    tfrt_device_exchange_t exchange = tfrt_device_exchange_of(kind, size, devices);
    begin(seed++);
    tfrt_device_exchange_start(&world, &exchange);
    run_until_results();
    tfrt_device_exchange_expect(&world, kind, size);
    ck_assert_msg(strstr(world.printed, place), "%s", world.printed);
    tfrt_device_world_end(&world);
  }
}

START_TEST(gpus_of_three_hosts_get_what_the_hosts_would) {
  run_each(gpus, TFRT_DEVICE_EXCHANGE_MANY, "(CUDA)>");
}
END_TEST

START_TEST(few_and_empty_parts_are_parts) {
  run_each(gpus, TFRT_DEVICE_EXCHANGE_FEW, "(CUDA)>");
  run_each(gpus, TFRT_DEVICE_EXCHANGE_ONE, "(CUDA)>");
}
END_TEST

START_TEST(devices_of_different_kinds_get_the_same) {
  run_each(both, TFRT_DEVICE_EXCHANGE_FEW, "(CPU)>");
}
END_TEST

// --- Disagreement ------------------------------------------------------------

START_TEST(a_member_whose_tensor_is_in_the_hosts_memory_is_named) {
  static const char* const mixed[] = {"cpu:0", "cpu:0", ""};
  tfrt_device_exchange_t exchange =
      tfrt_device_exchange_of(TFRT_DEVICE_EXCHANGE_ALL_REDUCE, TFRT_DEVICE_EXCHANGE_FEW, mixed);
  begin(1);
  tfrt_device_exchange_start(&world, &exchange);
  run_until_results();
  tfrt_device_exchange_expect_error(
      &world, TFRT_STATUS_INVALID_ARGUMENT,
      "host 0 has all_reduce sum of i32 [7] on a device, host 2 has all_reduce sum of i32 [7]");
  tfrt_device_world_end(&world);
}
END_TEST

START_TEST(a_broadcast_does_not_change_where_a_tensor_is) {
  static const char* const mixed[] = {"", "cpu:0", "cpu:0"};
  tfrt_device_exchange_t exchange =
      tfrt_device_exchange_of(TFRT_DEVICE_EXCHANGE_BROADCAST, TFRT_DEVICE_EXCHANGE_FEW, mixed);
  exchange.attributes = " {root = 0 : i32}";
  begin(1);
  tfrt_device_exchange_start(&world, &exchange);
  run_until_results();
  tfrt_device_exchange_expect_error(&world, TFRT_STATUS_INVALID_ARGUMENT,
                                    "host 0 has broadcast with root 0 of i32 [7], host 1 has "
                                    "broadcast with root 0 on a device");
  tfrt_device_world_end(&world);
}
END_TEST

// @spread broadcasts the tensor that only host 0 has.
static void start_spread(void) {
  static char program[8192];
  snprintf(program, sizeof(program),
           "%s"
           "func.func @spread(%%t: " GPU ", %%ch: !tfrt.chain) -> " TENSOR
           " {\n"
           "  %%world = tfrt_dist.world\n"
           "  %%made, %%ch1 = tfrt_dist.broadcast %%world, %%t, %%ch {root = 0 : i32}\n"
           "  %%back = tfrt.call @download(%%made, %%ch1) : (" GPU ", !tfrt.chain) -> " TENSOR
           "\n"
           "  tfrt.return %%back : " TENSOR
           "\n"
           "}\n"
           "func.func @main(%%t0: " TENSOR ", %%t1: " TENSOR ", %%t2: " TENSOR ") -> (" TENSOR
           ", " TENSOR ", " TENSOR
           ") {\n"
           "  %%ch = tfrt.new.chain\n"
           "  %%t, %%ch1 = tfrt.call @upload(%%t0, %%ch) {host = 0 : i32, device = \"cuda:0\"}"
           " : (" TENSOR ", !tfrt.chain) -> (" GPU
           ", !tfrt.chain)\n"
           "  %%r0 = tfrt.call @spread(%%t, %%ch1) {host = 0 : i32, device = \"cuda:0\"} : (" GPU
           ", !tfrt.chain) -> " TENSOR
           "\n"
           "  %%r1 = tfrt.call @spread(%%t, %%ch1) {host = 1 : i32, device = \"cuda:1\"} : (" GPU
           ", !tfrt.chain) -> " TENSOR
           "\n"
           "  %%r2 = tfrt.call @spread(%%t, %%ch1) {host = 2 : i32} : (" GPU
           ", !tfrt.chain) -> " TENSOR
           "\n"
           "  tfrt.return %%r0, %%r1, %%r2 : " TENSOR ", " TENSOR ", " TENSOR "\n}\n",
           tfrt_device_exchange_functions(TFRT_DEVICE_EXCHANGE_MANY));
  tfrt_device_exchange_start_program(&world, TFRT_DEVICE_EXCHANGE_MANY, program);
}

// A member that ignores its operand needs none on its own host.
START_TEST(a_broadcast_of_a_tensor_that_only_the_root_has_goes_to_the_devices_of_the_calls) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    begin(seed);
    start_spread();
    run_until_results();
    for (uint32_t host = 0; host < HOSTS; ++host) {
      int64_t count = 0;
      const int32_t* numbers = tfrt_device_world_numbers(&world, host, &count);
      ck_assert_int_eq(count, tfrt_device_exchange_count(TFRT_DEVICE_EXCHANGE_MANY));
      for (int64_t i = 0; i < count; ++i) {
        ck_assert_int_eq(numbers[i], tfrt_device_exchange_number(0, i));
      }
    }
    ck_assert_msg(strstr(world.printed, "(CUDA)>") && strstr(world.printed, "(CPU)>"), "%s",
                  world.printed);
    tfrt_device_world_end(&world);
  }
}
END_TEST

// --- Losses ------------------------------------------------------------------

static tfrt_device_exchange_t all_reduce(tfrt_device_exchange_size_t size) {
  return tfrt_device_exchange_of(TFRT_DEVICE_EXCHANGE_ALL_REDUCE, size, gpus);
}

static uint32_t lost;

static bool some_is_there(const tfrt_node_world_t* at) {
  return tfrt_node_world_bulk_bytes(at, (lost + HOSTS - 1) % HOSTS, lost) >= 100000;
}

// Members without a result then get an error that names the host; devices work as before.
START_TEST(a_host_that_is_lost_in_the_middle_is_an_error_of_the_others) {
  for (lost = 1; lost < HOSTS; ++lost) {
    tfrt_device_exchange_t exchange = all_reduce(TFRT_DEVICE_EXCHANGE_MANY);
    begin(lost);
    tfrt_device_exchange_start(&world, &exchange);
    tfrt_device_world_run_until(&world, some_is_there);
    tfrt_node_world_kill(&world, lost);
    run_until_results();
    char name[16];
    snprintf(name, sizeof(name), "host %u", lost);
    tfrt_device_exchange_expect_error(&world, TFRT_STATUS_UNAVAILABLE, name);
    tfrt_device_world_end(&world);
  }
}
END_TEST

static bool a_copy_is_held(const tfrt_node_world_t* at) {
  (void)at;
  return tfrt_fake_cuda_control()->held_size() > 0;
}

// The member's call has begun when its copies are held, and then its deadline passes.
START_TEST(a_deadline_that_passes_while_a_device_is_busy_is_the_error_of_all) {
  tfrt_device_exchange_t exchange = all_reduce(TFRT_DEVICE_EXCHANGE_MANY);
  exchange.options = ", deadline_ms = 50 : i32";
  begin(1);
  tfrt_fake_cuda_control()->hold_copies(1);
  tfrt_device_exchange_start(&world, &exchange);
  tfrt_device_world_run_until(&world, a_copy_is_held);
  for (int i = 0; i < 200; ++i) tfrt_device_world_run_a_moment(&world);
  tfrt_fake_cuda_control()->hold_copies(-1);
  run_until_results();
  tfrt_device_exchange_expect_error(&world, TFRT_STATUS_DEADLINE_EXCEEDED, "");
  tfrt_device_world_end(&world);
}
END_TEST

// The |n|-th call of |entry| fails: all get what they must, or all an error; nothing is left.
static void fail_driver(const char* entry, uint32_t n) {
  tfrt_device_exchange_t exchange = all_reduce(TFRT_DEVICE_EXCHANGE_FEW);
  begin(n);
  tfrt_fake_cuda_control()->set_failure(entry, n, 2);
  tfrt_device_exchange_start(&world, &exchange);
  run_until_results();
  tfrt_fake_cuda_control()->set_failure(entry, 0, 0);
  tfrt_device_world_end(&world);
}

START_TEST(what_a_driver_refuses_is_an_error_and_no_wait) {
  for (uint32_t n = 1; n <= 4; ++n) fail_driver("cuMemHostAlloc", n);
  for (uint32_t n = 1; n <= 4; ++n) fail_driver("cuMemcpyAsync", n);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("device_collectives");
  TCase* results = tcase_create("results");
  tcase_set_timeout(results, 240);
  tcase_add_test(results, gpus_of_three_hosts_get_what_the_hosts_would);
  tcase_add_test(results, few_and_empty_parts_are_parts);
  tcase_add_test(results, devices_of_different_kinds_get_the_same);
  tcase_add_test(results, a_member_whose_tensor_is_in_the_hosts_memory_is_named);
  tcase_add_test(results, a_broadcast_does_not_change_where_a_tensor_is);
  tcase_add_test(results,
                 a_broadcast_of_a_tensor_that_only_the_root_has_goes_to_the_devices_of_the_calls);
  tcase_add_test(results, a_host_that_is_lost_in_the_middle_is_an_error_of_the_others);
  tcase_add_test(results, a_deadline_that_passes_while_a_device_is_busy_is_the_error_of_all);
  tcase_add_test(results, what_a_driver_refuses_is_an_error_and_no_wait);
  suite_add_tcase(suite, results);
  return suite;
}
