// SPDX-License-Identifier: Apache-2.0
//
// Collectives that devices carry out themselves, with nothing of them in the hosts' memory: over
// the double of NCCL, and over CPU devices, between whole nodes on the simulated network.
#include <stdio.h>
#include <string.h>

#include "tests/distributed/collective/device_exchange.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

#define HOSTS TFRT_DEVICE_EXCHANGE_HOSTS

static tfrt_node_world_t world;

static const char* const gpus[] = {"cuda:0", "cuda:1", "cuda:2"};
static const char* const cpus[] = {"cpu:0", "cpu:0", "cpu:0"};

static void begin(uint64_t seed) { tfrt_device_world_begin(&world, HOSTS, seed, 0); }

static void run_until_results(void) {
  tfrt_device_world_run_until(&world, tfrt_device_world_has_results);
}

static tfrt_device_exchange_t all_reduce(tfrt_device_exchange_size_t size,
                                         const char* const* devices) {
  return tfrt_device_exchange_of(TFRT_DEVICE_EXCHANGE_ALL_REDUCE, size, devices);
}

// The bytes that other hosts have sent hosts 1 and 2 by bulk channels. Bulk channels carry the
// messages of a collective of large tensors. The arguments come from the client, and no host
// fetches results by bulk channels.
static uint64_t exchanged_bytes(void) {
  uint64_t bytes = 0;
  for (uint32_t to = 1; to < HOSTS; ++to) {
    for (uint32_t from = 0; from < HOSTS; ++from) {
      if (from != to) bytes += tfrt_node_world_bulk_bytes(&world, from, to);
    }
  }
  return bytes;
}

// More than what a bulk channel that carries nothing begins with, and less than any part of a
// tensor.
#define NOTHING 1000

// --- Results -----------------------------------------------------------------

// Carries |kind| out; returns what went between hosts.
static uint64_t run(tfrt_device_exchange_kind_t kind, tfrt_device_exchange_size_t size,
                    const char* const* devices) {
  tfrt_device_exchange_t exchange = tfrt_device_exchange_of(kind, size, devices);
  begin((uint64_t)kind + 1);
  tfrt_device_exchange_start(&world, &exchange);
  run_until_results();
  tfrt_device_exchange_expect(&world, kind, size);
  uint64_t bytes = exchanged_bytes();
  tfrt_device_world_end(&world);
  return bytes;
}

static void run_each(const char* const* devices) {
  for (tfrt_device_exchange_kind_t kind = 0; kind < TFRT_DEVICE_EXCHANGE_KIND_COUNT; ++kind) {
    ck_assert_uint_lt(run(kind, TFRT_DEVICE_EXCHANGE_EVEN, devices), NOTHING);
  }
}

START_TEST(gpus_exchange_it_themselves) { run_each(gpus); }
END_TEST

START_TEST(cpu_devices_of_one_process_exchange_it_themselves) { run_each(cpus); }
END_TEST

// A library wants parts of one size: where there are none, the hosts do it.
START_TEST(parts_of_different_sizes_go_through_the_hosts) {
  tfrt_device_exchange_size_t size = TFRT_DEVICE_EXCHANGE_MANY;
  ck_assert_uint_lt(run(TFRT_DEVICE_EXCHANGE_ALL_REDUCE, size, gpus), NOTHING);
  ck_assert_uint_gt(run(TFRT_DEVICE_EXCHANGE_REDUCE_SCATTER, size, gpus), NOTHING);
  ck_assert_uint_gt(run(TFRT_DEVICE_EXCHANGE_ALL_TO_ALL, size, gpus), NOTHING);
}
END_TEST

// One GPU for two members, and devices of two drivers, are no group.
START_TEST(devices_that_are_no_group_go_through_the_hosts) {
  static const char* const twice[] = {"cuda:0", "cuda:1", "cuda:0"};
  static const char* const mixed[] = {"cuda:0", "cuda:1", "cpu:0"};
  tfrt_device_exchange_size_t size = TFRT_DEVICE_EXCHANGE_EVEN;
  for (tfrt_device_exchange_kind_t kind = 0; kind < TFRT_DEVICE_EXCHANGE_KIND_COUNT; ++kind) {
    ck_assert_uint_gt(run(kind, size, twice), NOTHING);
  }
  ck_assert_uint_gt(run(TFRT_DEVICE_EXCHANGE_ALL_REDUCE, size, mixed), NOTHING);
}
END_TEST

// A library would send it as it is.
START_TEST(what_hosts_encrypt_goes_through_the_hosts) {
  tfrt_device_world_set_encrypted(true);
  ck_assert_uint_gt(run(TFRT_DEVICE_EXCHANGE_ALL_REDUCE, TFRT_DEVICE_EXCHANGE_EVEN, gpus), NOTHING);
}
END_TEST

// --- What is kept --------------------------------------------------------------

static void expect_twice_the_sum(void) {
  for (uint32_t host = 0; host < HOSTS; ++host) {
    int64_t count = 0;
    const int32_t* numbers = tfrt_device_world_numbers(&world, host, &count);
    for (int64_t i = 0; i < count; ++i) {
      int32_t sum = 0;
      for (uint32_t j = 0; j < HOSTS; ++j) sum += tfrt_device_exchange_number(j, i);
      ck_assert_int_eq(numbers[i], HOSTS * sum);
    }
  }
}

// Three members join, so a fourth that joins would be one of a second group.
START_TEST(the_next_call_finds_the_group_that_the_last_one_made) {
  for (uint32_t n = 3; n <= 4; ++n) {
    tfrt_device_exchange_t exchange = all_reduce(TFRT_DEVICE_EXCHANGE_FEW, gpus);
    exchange.is_twice = true;
    begin(n);
    tfrt_fake_cuda_control()->set_failure("ncclCommInitRankConfig", n, 5);
    tfrt_device_exchange_start(&world, &exchange);
    run_until_results();
    if (n == 3) {
      tfrt_device_exchange_expect_error(&world, TFRT_STATUS_INVALID_ARGUMENT,
                                        "ncclCommInitRankConfig failed: ncclInvalidUsage (5)");
    } else {
      expect_twice_the_sum();
    }
    tfrt_fake_cuda_control()->set_failure("ncclCommInitRankConfig", 0, 0);
    tfrt_device_world_end(&world);
  }
}
END_TEST

// --- Losses ------------------------------------------------------------------

static bool others_wait(const tfrt_node_world_t* at) {
  (void)at;
  return tfrt_fake_cuda_control()->waiting_lists() == HOSTS - 1;
}

// The communicators in which others were waiting have been aborted: their streams go on.
static bool nobody_waits(const tfrt_node_world_t* at) {
  (void)at;
  return tfrt_fake_cuda_control()->waiting_lists() == 0;
}

// The GPU of |busy| doesn't come to its part; the others' are in the middle of theirs.
static void start_with_busy(uint32_t busy, uint64_t seed) {
  tfrt_device_exchange_t exchange = all_reduce(TFRT_DEVICE_EXCHANGE_FEW, gpus);
  begin(seed);
  tfrt_fake_cuda_control()->hold_copies((int)busy);
  tfrt_device_exchange_start(&world, &exchange);
  tfrt_device_world_run_until(&world, others_wait);
}

static void expect_lost(uint32_t host) {
  char name[16];
  snprintf(name, sizeof(name), "host %u", host);
  tfrt_device_exchange_expect_error(&world, TFRT_STATUS_UNAVAILABLE, name);
}

START_TEST(a_host_that_is_lost_in_the_middle_is_an_error_of_the_others) {
  for (uint32_t killed = 1; killed < HOSTS; ++killed) {
    for (uint32_t busy = 0; busy < HOSTS; ++busy) {
      if (busy == killed) continue;
      start_with_busy(busy, killed + busy);
      tfrt_node_world_kill(&world, killed);
      tfrt_fake_cuda_control()->hold_copies(-1);
      run_until_results();
      expect_lost(killed);
      tfrt_device_world_end(&world);
    }
  }
}
END_TEST

static uint32_t lost;

// Some of its operand, but not all.
static bool some_is_there(const tfrt_node_world_t* at) {
  return tfrt_node_world_bulk_bytes(at, HOSTS, lost) >= 100000;
}

START_TEST(a_host_that_is_lost_before_it_comes_is_an_error_of_the_others) {
  for (lost = 1; lost < HOSTS; ++lost) {
    tfrt_device_exchange_t exchange = all_reduce(TFRT_DEVICE_EXCHANGE_EVEN, gpus);
    begin(lost);
    tfrt_device_exchange_start(&world, &exchange);
    tfrt_device_world_run_until(&world, some_is_there);
    ck_assert_uint_lt(tfrt_node_world_bulk_bytes(&world, HOSTS, lost), 1200000);
    tfrt_node_world_kill(&world, lost);
    run_until_results();
    expect_lost(lost);
    tfrt_device_world_end(&world);
  }
}
END_TEST

START_TEST(a_cancel_in_the_middle_ends_it_on_all) {
  start_with_busy(1, 1);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
  tfrt_device_world_run_until(&world, nobody_waits);
  tfrt_fake_cuda_control()->hold_copies(-1);
  run_until_results();
  tfrt_device_exchange_expect_error(&world, TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_device_world_end(&world);
}
END_TEST

// --- Refusals ----------------------------------------------------------------

// The |n|-th call of |entry| fails: all get what they must, or all an error; nothing is left.
// Returns whether it was the former.
static bool fail_driver(const char* entry, uint32_t n) {
  tfrt_device_exchange_t exchange = all_reduce(TFRT_DEVICE_EXCHANGE_FEW, gpus);
  begin(n);
  tfrt_fake_cuda_control()->set_failure(entry, n, 2);
  tfrt_device_exchange_start(&world, &exchange);
  run_until_results();
  tfrt_fake_cuda_control()->set_failure(entry, 0, 0);
  uint32_t errors = 0;
  for (uint32_t host = 0; host < HOSTS; ++host) {
    errors += tfrt_async_value_is_error(world.results[host]);
  }
  bool is_good = errors == 0;
  if (is_good) {
    tfrt_device_exchange_expect(&world, TFRT_DEVICE_EXCHANGE_ALL_REDUCE, TFRT_DEVICE_EXCHANGE_FEW);
  } else {
    char name[64];
    snprintf(name, sizeof(name), "%s failed", entry);
    tfrt_device_exchange_expect_error(&world, TFRT_STATUS_UNAVAILABLE, name);
  }
  tfrt_device_world_end(&world);
  return is_good;
}

// An error before the members agree only means that the hosts run the collective.
START_TEST(a_library_that_does_not_say_what_it_is_is_not_used) {
  for (uint32_t n = 1; n <= HOSTS; ++n) ck_assert(fail_driver("ncclGetVersion", n));
}
END_TEST

START_TEST(what_a_library_refuses_is_an_error_of_all_members) {
  static const char* const entries[] = {"ncclCommInitRankConfig", "ncclGroupStart", "ncclGroupEnd",
                                        "ncclAllReduce"};
  ck_assert(!fail_driver("ncclGetUniqueId", 1));
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(entries); ++i) {
    for (uint32_t n = 1; n <= HOSTS; ++n) ck_assert(!fail_driver(entries[i], n));
  }
}
END_TEST

// An answer comes after any failed call, and nothing is left.
START_TEST(what_a_driver_refuses_is_an_error_and_no_wait) {
  static const char* const entries[] = {"cuStreamCreate", "cuMemAllocFromPoolAsync",
                                        "ncclCommGetAsyncError"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(entries); ++i) {
    for (uint32_t n = 1; n <= 4; ++n) {
      tfrt_device_exchange_t exchange = all_reduce(TFRT_DEVICE_EXCHANGE_FEW, gpus);
      begin(n);
      tfrt_fake_cuda_control()->set_failure(entries[i], n, 2);
      tfrt_device_exchange_start(&world, &exchange);
      run_until_results();
      tfrt_fake_cuda_control()->set_failure(entries[i], 0, 0);
      tfrt_device_world_end(&world);
    }
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("device_groups");
  TCase* groups = tcase_create("groups");
  tcase_set_timeout(groups, 240);
  tcase_add_test(groups, gpus_exchange_it_themselves);
  tcase_add_test(groups, cpu_devices_of_one_process_exchange_it_themselves);
  tcase_add_test(groups, parts_of_different_sizes_go_through_the_hosts);
  tcase_add_test(groups, devices_that_are_no_group_go_through_the_hosts);
  tcase_add_test(groups, what_hosts_encrypt_goes_through_the_hosts);
  tcase_add_test(groups, the_next_call_finds_the_group_that_the_last_one_made);
  tcase_add_test(groups, a_host_that_is_lost_in_the_middle_is_an_error_of_the_others);
  tcase_add_test(groups, a_host_that_is_lost_before_it_comes_is_an_error_of_the_others);
  tcase_add_test(groups, a_cancel_in_the_middle_ends_it_on_all);
  tcase_add_test(groups, a_library_that_does_not_say_what_it_is_is_not_used);
  tcase_add_test(groups, what_a_library_refuses_is_an_error_of_all_members);
  tcase_add_test(groups, what_a_driver_refuses_is_an_error_and_no_wait);
  suite_add_tcase(suite, groups);
  return suite;
}
