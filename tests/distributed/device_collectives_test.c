// SPDX-License-Identifier: Apache-2.0
//
// Collectives of tensors in the memory of devices, between whole nodes on the simulated network.
#include <stdio.h>
#include <string.h>

#include "tests/distributed/device_world.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

#define HOSTS 3

static tfrt_node_world_t world;
static char program[8192];

// --- Programs ----------------------------------------------------------------

#define TENSOR "!tfrt_tensor.tensor"
#define GPU "!tfrt_gpu.tensor"

// How many numbers each member has: few; one, so that parts are empty; and so many that they go in
// several messages, and no two parts alike.
typedef struct sizes_s {
  int64_t count;
  const char* functions;
} sizes_t;

static const sizes_t sizes[] = {
    {7, TFRT_DEVICE_WORLD_FUNCTIONS("7", "28")},
    {1, TFRT_DEVICE_WORLD_FUNCTIONS("1", "4")},
    {400000, TFRT_DEVICE_WORLD_FUNCTIONS("400000", "1600000")},
};

static const char* options;  // of the calls of @part

// @part uploads its operand, and runs |op| on it; "" for the device is none.
static void write_program(const sizes_t* size, const char* op, const char* attributes,
                          const char* const* devices) {
  char* end = program;
  end += sprintf(end, "%s", size->functions);
  end +=
      sprintf(end,
              "func.func @part(%%t: " TENSOR ", %%ch: !tfrt.chain) -> " TENSOR
              " {\n"
              "  %%world = tfrt_dist.world\n"
              "  %%there, %%ch1 = tfrt.call @upload(%%t, %%ch) : (" TENSOR ", !tfrt.chain) -> (" GPU
              ", !tfrt.chain)\n"
              "  %%made, %%ch2 = tfrt_dist.%s %%world, %%there, %%ch1%s\n"
              "  %%back = tfrt.call @download(%%made, %%ch2) : (" GPU ", !tfrt.chain) -> " TENSOR
              "\n"
              "  tfrt.return %%back : " TENSOR
              "\n"
              "}\n"
              "func.func @in_memory(%%t: " TENSOR ", %%ch: !tfrt.chain) -> " TENSOR
              " {\n"
              "  %%world = tfrt_dist.world\n"
              "  %%made, %%ch1 = tfrt_dist.%s %%world, %%t, %%ch%s\n"
              "  tfrt.return %%made : " TENSOR
              "\n"
              "}\n"
              "func.func @main(%%t0: " TENSOR ", %%t1: " TENSOR ", %%t2: " TENSOR ") -> (" TENSOR
              ", " TENSOR ", " TENSOR
              ") {\n"
              "  %%ch = tfrt.new.chain\n",
              op, attributes, op, attributes);
  for (int i = 0; i < HOSTS; ++i) {
    bool is_placed = devices[i][0];
    end += sprintf(end,
                   "  %%r%d = tfrt.call @%s(%%t%d, %%ch) {host = %d : i32%s%s%s%s} : (" TENSOR
                   ", !tfrt.chain) -> " TENSOR "\n",
                   i, is_placed ? "part" : "in_memory", i, i, is_placed ? ", device = \"" : "",
                   devices[i], is_placed ? "\"" : "", options);
  }
  end += sprintf(end, "  tfrt.return %%r0, %%r1, %%r2 : " TENSOR ", " TENSOR ", " TENSOR "\n}\n");
  ck_assert_uint_lt((size_t)(end - program), sizeof(program));
}

static int32_t seed_of(uint32_t host) { return (int32_t)host * 1000 + 3; }

static void start(const sizes_t* size) {
  tfrt_async_value_t* tensors[HOSTS];
  for (uint32_t i = 0; i < HOSTS; ++i) {
    tensors[i] = tfrt_device_world_make_tensor(size->count, seed_of(i));
  }
  tfrt_node_world_start(&world, program, tensors, HOSTS, HOSTS);
  for (uint32_t i = 0; i < HOSTS; ++i) tfrt_async_value_release(tensors[i]);
}

static void begin(uint64_t seed) {
  options = "";
  tfrt_device_world_begin(&world, HOSTS, seed, 0);
}

static void run_until_results(void) {
  tfrt_device_world_run_until(&world, tfrt_device_world_has_results);
}

// --- What must come ------------------------------------------------------------

typedef struct op_s {
  const char* name;
  const char* attributes;
} op_t;

typedef enum kind_e {
  ALL_REDUCE,
  REDUCE,
  REDUCE_SCATTER,
  ALL_GATHER,
  BROADCAST,
  ALL_TO_ALL
} kind_t;

static const op_t ops[] = {
    [ALL_REDUCE] = {"all_reduce", " {reduction = \"sum\"}"},
    [REDUCE] = {"reduce", " {reduction = \"max\", root = 1 : i32}"},
    [REDUCE_SCATTER] = {"reduce_scatter", " {reduction = \"sum\"}"},
    [ALL_GATHER] = {"all_gather", ""},
    [BROADCAST] = {"broadcast", " {root = 2 : i32}"},
    [ALL_TO_ALL] = {"all_to_all", ""},
};

static int32_t number(uint32_t host, int64_t index) {
  return tfrt_device_world_number(index, seed_of(host));
}

static int32_t sum(int64_t index) { return number(0, index) + number(1, index) + number(2, index); }

// Of |count| rows the first that belongs to |host|.
static int64_t first_row(int64_t count, uint32_t host) {
  return count / HOSTS * host + (host < count % HOSTS ? host : count % HOSTS);
}

static int64_t rows_of(int64_t count, uint32_t host) {
  return first_row(count, host + 1) - first_row(count, host);
}

// How many numbers |host| has in the end if each began with |count|, and which.
static int64_t count_of(kind_t kind, int64_t count, uint32_t host) {
  switch (kind) {
    case REDUCE_SCATTER:
      return rows_of(count, host);
    case ALL_GATHER:
      return HOSTS * count;
    case ALL_TO_ALL:
      return HOSTS * rows_of(count, host);
    default:
      return count;
  }
}

static int32_t expected(kind_t kind, int64_t count, uint32_t host, int64_t index) {
  int64_t rows = rows_of(count, host);
  switch (kind) {
    case ALL_REDUCE:
      return sum(index);
    case REDUCE:
      return number(host == 1 ? 2 : host, index);
    case REDUCE_SCATTER:
      return sum(first_row(count, host) + index);
    case ALL_GATHER:
      return number((uint32_t)(index / count), index % count);
    case BROADCAST:
      return number(2, index);
    default:
      return number((uint32_t)(index / rows), first_row(count, host) + index % rows);
  }
}

static void expect(kind_t kind, int64_t count) {
  for (uint32_t host = 0; host < HOSTS; ++host) {
    int64_t got = 0;
    const int32_t* numbers = tfrt_device_world_numbers(&world, host, &got);
    ck_assert_int_eq(got, count_of(kind, count, host));
    for (int64_t i = 0; i < got; ++i) {
      int32_t wanted = expected(kind, count, host, i);
      ck_assert_msg(numbers[i] == wanted, "%s: host %u has %d at %ld, not %d", ops[kind].name, host,
                    numbers[i], (long)i, wanted);
    }
  }
}

static void expect_error(tfrt_status_code_t code, const char* part) {
  for (uint32_t host = 0; host < HOSTS; ++host) {
    tfrt_status_t status = tfrt_node_world_error(&world, host);
    ck_assert_msg(tfrt_status_code(status) == code && strstr(tfrt_status_message(status), part),
                  "%s", tfrt_status_message(status));
  }
}

// --- Results -----------------------------------------------------------------

static const char* const gpus[] = {"cuda:0", "cuda:1", "cuda:0"};
static const char* const cpus[] = {"cpu:0", "cpu:0", "cpu:0"};
static const char* const both[] = {"cuda:0", "cpu:0", "cuda:1"};

// Each op, with the sizes from |first| to |last|.
static void run_each(const char* const* devices, size_t first, size_t last, const char* place) {
  uint64_t seed = 1;
  for (size_t s = first; s <= last; ++s) {
    for (kind_t kind = ALL_REDUCE; kind <= ALL_TO_ALL; ++kind) {
      begin(seed++);
      write_program(&sizes[s], ops[kind].name, ops[kind].attributes, devices);
      start(&sizes[s]);
      run_until_results();
      expect(kind, sizes[s].count);
      ck_assert_msg(strstr(world.printed, place), "%s", world.printed);
      tfrt_device_world_end(&world);
    }
  }
}

START_TEST(gpus_of_three_hosts_get_what_the_hosts_would) { run_each(gpus, 2, 2, "(CUDA)>"); }
END_TEST

START_TEST(cpu_devices_get_the_same) { run_each(cpus, 0, 1, "(CPU)>"); }
END_TEST

START_TEST(devices_of_different_kinds_get_the_same) { run_each(both, 0, 0, "(CPU)>"); }
END_TEST

// --- Disagreement ------------------------------------------------------------

START_TEST(a_member_whose_tensor_is_in_the_hosts_memory_is_named) {
  static const char* const mixed[] = {"cpu:0", "cpu:0", ""};
  begin(1);
  write_program(&sizes[0], "all_reduce", " {reduction = \"sum\"}", mixed);
  start(&sizes[0]);
  run_until_results();
  expect_error(TFRT_STATUS_INVALID_ARGUMENT,
               "host 0 has all_reduce sum of i32 [7] on a device, host 2 has all_reduce sum of i32 "
               "[7]");
  tfrt_device_world_end(&world);
}
END_TEST

START_TEST(a_broadcast_does_not_change_where_a_tensor_is) {
  static const char* const mixed[] = {"", "cpu:0", "cpu:0"};
  begin(1);
  write_program(&sizes[0], "broadcast", " {root = 0 : i32}", mixed);
  start(&sizes[0]);
  run_until_results();
  expect_error(TFRT_STATUS_INVALID_ARGUMENT,
               "host 0 has broadcast with root 0 of i32 [7], host 1 has broadcast with root 0 on a "
               "device");
  tfrt_device_world_end(&world);
}
END_TEST

// @spread broadcasts the tensor that only host 0 has.
static void write_spread(void) {
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
           sizes[2].functions);
}

// Who ignores its operand needs none that is here.
START_TEST(a_broadcast_of_a_tensor_that_only_the_root_has_goes_to_the_devices_of_the_calls) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    begin(seed);
    write_spread();
    start(&sizes[2]);
    run_until_results();
    for (uint32_t host = 0; host < HOSTS; ++host) {
      int64_t count = 0;
      const int32_t* numbers = tfrt_device_world_numbers(&world, host, &count);
      ck_assert_int_eq(count, sizes[2].count);
      for (int64_t i = 0; i < count; ++i) ck_assert_int_eq(numbers[i], number(0, i));
    }
    ck_assert_msg(strstr(world.printed, "(CUDA)>") && strstr(world.printed, "(CPU)>"), "%s",
                  world.printed);
    tfrt_device_world_end(&world);
  }
}
END_TEST

// --- Losses ------------------------------------------------------------------

static uint32_t lost;

static bool some_is_there(const tfrt_node_world_t* at) {
  return tfrt_node_world_bulk_bytes(at, (lost + HOSTS - 1) % HOSTS, lost) >= 100000;
}

// Whoever has no result then gets an error that names the host; devices work as before.
START_TEST(a_host_that_is_lost_in_the_middle_is_an_error_of_the_others) {
  for (lost = 1; lost < HOSTS; ++lost) {
    begin(lost);
    write_program(&sizes[2], "all_reduce", " {reduction = \"sum\"}", gpus);
    start(&sizes[2]);
    tfrt_device_world_run_until(&world, some_is_there);
    tfrt_node_world_kill(&world, lost);
    run_until_results();
    char name[16];
    snprintf(name, sizeof(name), "host %u", lost);
    expect_error(TFRT_STATUS_UNAVAILABLE, name);
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
  begin(1);
  options = ", deadline_ms = 50 : i32";
  tfrt_fake_cuda_control()->hold_copies(1);
  write_program(&sizes[2], "all_reduce", " {reduction = \"sum\"}", gpus);
  start(&sizes[2]);
  tfrt_device_world_run_until(&world, a_copy_is_held);
  for (int i = 0; i < 200; ++i) tfrt_device_world_run_a_moment(&world);
  tfrt_fake_cuda_control()->hold_copies(-1);
  run_until_results();
  expect_error(TFRT_STATUS_DEADLINE_EXCEEDED, "");
  tfrt_device_world_end(&world);
}
END_TEST

// The |n|-th call of |entry| fails: all get what they must, or all an error; nothing is left.
static void fail_driver(const char* entry, uint32_t n) {
  begin(n);
  tfrt_fake_cuda_control()->set_failure(entry, n, 2);
  write_program(&sizes[0], "all_reduce", " {reduction = \"sum\"}", gpus);
  start(&sizes[0]);
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
  tcase_add_test(results, cpu_devices_get_the_same);
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
