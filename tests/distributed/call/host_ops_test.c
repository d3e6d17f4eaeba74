// SPDX-License-Identifier: Apache-2.0
//
// The dialect tfrt_dist between hosts: computed hosts, calls on all of them, lists, copies.
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

// Starts |text| on |host_count| hosts, with |x| for its only argument.
static void start(const char* text, uint32_t host_count, const tfrt_simulated_options_t* options,
                  int32_t x, uint32_t result_count) {
  tfrt_node_world_initialize(&world, host_count, options);
  tfrt_node_world_start_i32(&world, text, x, result_count);
}

// A network on which messages overtake each other, and with an odd |seed| connections break.
static tfrt_simulated_options_t out_of_order(uint64_t seed) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = 20 * options.delay_ns;
  options.break_chance = seed % 2 ? 10000 : 0;
  return options;
}

static void run(const char* text, uint32_t host_count, int32_t x, uint32_t result_count) {
  start(text, host_count, NULL, x, result_count);
  tfrt_node_world_await(&world);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static const tfrt_status_fields_t* error_of(uint32_t index) {
  return tfrt_status_fields(tfrt_node_world_error(&world, index));
}

#define SUM_UP                                                             \
  "func.func @add_rank(%x: i32) -> i32 {\n"                                \
  "  %me = tfrt_dist.rank\n"                                               \
  "  %y = tfrt.add.i32 %x, %me\n"                                          \
  "  tfrt.return %y : i32\n"                                               \
  "}\n"                                                                    \
  "func.func @everywhere(%x: i32) -> i32 {\n"                              \
  "  %l = tfrt_dist.call_all @add_rank(%x) : (i32) -> (!tfrt_dist.list)\n" \
  "  %s = tfrt_dist.list.sum %l : i32\n"                                   \
  "  tfrt.return %s : i32\n"                                               \
  "}\n"

static const char where_program[] = SUM_UP
    "func.func @main(%x: i32) -> (i32, i32, i32, i32) {\n"
    "  %me = tfrt_dist.rank\n"
    "  %n = tfrt_dist.num_hosts\n"
    "  %h = tfrt_dist.host %x\n"
    "  %there = tfrt_dist.call %h @add_rank(%x) : (!tfrt_dist.host, i32) -> (i32)\n"
    "  %s = tfrt_dist.call %h @everywhere(%there) : (!tfrt_dist.host, i32) -> (i32)\n"
    "  tfrt.return %me, %n, %there, %s : i32, i32, i32, i32\n"
    "}\n";

START_TEST(a_computed_host_runs_what_is_called_there) {
  run(where_program, 4, 3, 4);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 0);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 4);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 6);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 3), 4 * 6 + 0 + 1 + 2 + 3);
  end();
}
END_TEST

START_TEST(one_host_is_all_hosts) {
  run(where_program, 1, 0, 4);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 3), 0);
  end();
}
END_TEST

START_TEST(a_host_that_is_not_there_is_an_error_with_its_place) {
  run(where_program, 3, 3, 4);
  const tfrt_status_fields_t* fields = error_of(2);
  ck_assert_int_eq(fields->code, TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_str_eq(fields->message, "there is no host 3, the job has 3 hosts");
  ck_assert_str_eq(fields->origin.kernel, "tfrt_dist.host");
  ck_assert_str_eq(fields->origin.file, "test.mlir");
  ck_assert_uint_eq(fields->origin.line, 14);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 3);
  end();
  run(where_program, 1, 1, 4);
  ck_assert_str_eq(error_of(2)->message, "there is no host 1, the job has 1 host");
  end();
}
END_TEST

START_TEST(any_order_of_messages_gives_the_same) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    tfrt_simulated_options_t options = out_of_order(seed);
    start(where_program, 5, &options, 2, 4);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 4);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 3), 5 * 4 + 10);
    end();
  }
}
END_TEST

static const char division_program[] =
    "func.func @divide(%x: i32) -> i32 {\n"
    "  %me = tfrt_dist.rank\n"
    "  %minus = tfrt.constant.i32 -1\n"
    "  %less = tfrt.add.i32 %me, %minus\n"
    "  %q, %r = tfrt.div.i32 %x, %less\n"
    "  tfrt.return %q : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32, i32, i32) {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %l = tfrt_dist.call_all @divide(%x) : (i32) -> (!tfrt_dist.list)\n"
    "  %a = tfrt_dist.list.get %l, %zero : i32\n"
    "  %b = tfrt_dist.list.get %l, %one : i32\n"
    "  %c = tfrt_dist.list.get %l, %two : i32\n"
    "  %s = tfrt_dist.list.sum %l : i32\n"
    "  %n = tfrt_dist.list.size %l\n"
    "  tfrt.return %a, %b, %c, %s, %n : i32, i32, i32, i32, i32\n"
    "}\n";

START_TEST(an_element_that_a_list_lacks_is_an_error) {
  run(division_program, 1, 8, 5);
  ck_assert_int_eq(error_of(1)->code, TFRT_STATUS_OUT_OF_RANGE);
  ck_assert_str_eq(error_of(1)->message, "the list has 1 element, and none with the index 1");
  ck_assert_str_eq(error_of(2)->message, "the list has 1 element, and none with the index 2");
  end();
}
END_TEST

START_TEST(an_error_of_one_element_harms_only_who_uses_it) {
  run(division_program, 3, 8, 5);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), -8);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 8);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 4), 3);
  for (uint32_t i = 1; i < 4; i += 2) {
    ck_assert_uint_eq(error_of(i)->origin.rank, 1);
    ck_assert_str_eq(error_of(i)->origin.function, "divide");
  }
  end();
}
END_TEST

// Without the error of host 1: what is lost is then the only error.
static const char elements_program[] = SUM_UP
    "func.func @main(%x: i32) -> (i32, i32, i32, i32) {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %l = tfrt_dist.call_all @add_rank(%x) : (i32) -> (!tfrt_dist.list)\n"
    "  %a = tfrt_dist.list.get %l, %one : i32\n"
    "  %b = tfrt_dist.list.get %l, %two : i32\n"
    "  %s = tfrt_dist.list.sum %l : i32\n"
    "  %n = tfrt_dist.list.size %l\n"
    "  tfrt.return %a, %b, %s, %n : i32, i32, i32, i32\n"
    "}\n";

START_TEST(the_loss_of_a_host_is_the_loss_of_its_element) {
  bool found = false;
  for (int64_t delay_us = 100; delay_us < 4000; delay_us += 100) {
    start(elements_program, 3, NULL, 5, 4);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_open = tfrt_async_value_is_available(tfrt_client_opened(world.client));
    tfrt_node_world_kill(&world, 2);
    tfrt_node_world_await(&world);
    bool is_lost = tfrt_async_value_is_error(world.results[1]);
    if (is_open) {
      ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 6);
      ck_assert_int_eq(tfrt_node_world_i32(&world, 3), 3);
    }
    if (is_open && is_lost) {
      found = true;
      ck_assert_int_eq(error_of(1)->code, TFRT_STATUS_UNAVAILABLE);
      ck_assert_uint_eq(error_of(1)->root_key, 0x1002);
      ck_assert_uint_eq(error_of(2)->root_key, 0x1002);
    } else if (is_open) {
      ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 7);
      ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 5 + 6 + 7);
    }
    end();
  }
  ck_assert_msg(found, "no run had the host killed before its element came");
}
END_TEST

static const char host_abroad_program[] = SUM_UP
    "func.func @host_of(%h: !tfrt_dist.host, %x: i32) -> i32 {\n"
    "  %y = tfrt_dist.call %h @add_rank(%x) : (!tfrt_dist.host, i32) -> (i32)\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %h = tfrt_dist.host %two\n"
    "  %y = tfrt.call @host_of(%h, %x) {host = 1 : i32} : (!tfrt_dist.host, i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

START_TEST(hosts_travel) {
  run(host_abroad_program, 3, 5, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 7);
  end();
}
END_TEST

#define MIB (UINT64_C(1) << 20)

// A tensor of 1 MiB goes to host 1 once and is used there twice; then from there to host 2.
static const char copy_program[] =
    "func.func @sum(%t: !tfrt_tensor.tensor, %x: i32) -> i32 {\n"
    "  %n = tfrt_tensor.dim %t axis 0\n"
    "  %y = tfrt.add.i32 %n, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32, i32) {\n"
    "  %c = tfrt.new.chain\n"
    "  %t0 = tfrt_dht.create_uninitialized_tensor.i32.1 [262144 : i64]\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t0, %c 1 : i32\n"
    "  %t = \"tfrt_test.identity\"(%c1, %t0) : (!tfrt.chain, !tfrt_tensor.tensor) -> "
    "!tfrt_tensor.tensor\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %h1 = tfrt_dist.host %one\n"
    "  %h2 = tfrt_dist.host %two\n"
    "  %there, %small = tfrt_dist.copy_to %h1, %t, %x : !tfrt_tensor.tensor, i32\n"
    "  %a = tfrt_dist.call %h1 @sum(%there, %small) : (!tfrt_dist.host, !tfrt_tensor.tensor, i32) "
    "-> (i32)\n"
    "  %b = tfrt_dist.call %h1 @sum(%there, %a) : (!tfrt_dist.host, !tfrt_tensor.tensor, i32) -> "
    "(i32)\n"
    "  %further = tfrt_dist.copy_to %h2, %there : !tfrt_tensor.tensor\n"
    "  %d = tfrt_dist.call %h2 @sum(%further, %x) : (!tfrt_dist.host, !tfrt_tensor.tensor, i32) -> "
    "(i32)\n"
    "  tfrt.return %a, %b, %d, %small : i32, i32, i32, i32\n"
    "}\n";

START_TEST(a_copy_travels_once_and_is_used_where_it_is) {
  run(copy_program, 3, 5, 4);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 262144 + 5);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 2 * 262144 + 5);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 262144 + 5);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 3), 5);
  ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 0, 1), MIB);
  ck_assert_uint_lt(tfrt_node_world_bulk_bytes(&world, 0, 1), 2 * MIB);
  ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 1, 2), MIB);
  ck_assert_uint_lt(tfrt_node_world_bulk_bytes(&world, 0, 2), MIB);
  ck_assert_uint_lt(tfrt_node_world_bulk_bytes(&world, 1, 0), MIB);
  end();
}
END_TEST

// A tensor of 1 MiB is sent ahead to host 1, and used there twice: by calls that are made when it
// is there, or before. If a value can't be sent ahead, or its maker is lost, only the chain is an
// error.
static const char prefetch_program[] =
    "func.func @sum(%t: !tfrt_tensor.tensor, %x: i32) -> i32 {\n"
    "  %n = tfrt_tensor.dim %t axis 0\n"
    "  %y = tfrt.add.i32 %n, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @pass(%a: !test.atomic.i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  tfrt.return %one : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, !tfrt.chain, i32) {\n"
    "  %c = tfrt.new.chain\n"
    "  %t0 = tfrt_dht.create_uninitialized_tensor.i32.1 [262144 : i64]\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t0, %c 1 : i32\n"
    "  %t = \"tfrt_test.identity\"(%c1, %t0) : (!tfrt.chain, !tfrt_tensor.tensor) -> "
    "!tfrt_tensor.tensor\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %h1 = tfrt_dist.host %one\n"
    "  %ahead = tfrt_dist.prefetch %h1, %t\n"
    "  %after = tfrt.merge.chains %ahead, %c : !tfrt.chain, !tfrt.chain\n"
    "  %u = \"tfrt_test.identity\"(@ORDER@, %x) : (!tfrt.chain, i32) -> i32\n"
    "  %h = tfrt_dist.host %u\n"
    "  %a = tfrt_dist.call %h @sum(%t, %x) "
    ": (!tfrt_dist.host, !tfrt_tensor.tensor, i32) -> (i32)\n"
    "  %b = tfrt_dist.call %h @sum(%t, %a) "
    ": (!tfrt_dist.host, !tfrt_tensor.tensor, i32) -> (i32)\n"
    "  %a0 = \"tfrt_test.atomic.create.i32\"() : () -> !test.atomic.i32\n"
    "  %stays = tfrt_dist.prefetch %h1, %a0\n"
    "  %d = tfrt_dist.call %h1 @pass(%a0) : (!tfrt_dist.host, !test.atomic.i32) -> (i32)\n"
    "  tfrt.return %a, %b, %stays, %d : i32, i32, !tfrt.chain, i32\n"
    "}\n";

static void run_prefetch(const char* order) {
  char text[sizeof(prefetch_program) + 16];
  const char* place = strstr(prefetch_program, "@ORDER@");
  snprintf(text, sizeof(text), "%.*s%s%s", (int)(place - prefetch_program), prefetch_program, order,
           place + strlen("@ORDER@"));
  run(text, 2, 1, 4);
}

START_TEST(what_is_sent_ahead_travels_once_whoever_is_given_it_there) {
  static const char* const orders[] = {"%after", "%c"};
  for (size_t i = 0; i < 2; ++i) {
    run_prefetch(orders[i]);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 262144 + 1);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 2 * 262144 + 1);
    ck_assert_int_eq(error_of(2)->code, TFRT_STATUS_FAILED_PRECONDITION);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 3), 1);
    ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 0, 1), MIB);
    // A call that does not wait for it may be shipped before it is known to be good.
    if (i == 0) ck_assert_uint_lt(tfrt_node_world_bulk_bytes(&world, 0, 1), 2 * MIB);
    end();
  }
}
END_TEST

// A tensor is sent ahead and then written: host 1 sees the contents that the chain of the call
// stands for.
static const char written_program[] =
    "func.func @show(%t: !tfrt_tensor.tensor, %c: !tfrt.chain) -> !tfrt_tensor.tensor {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %u = \"tfrt_test.identity\"(%c, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> "
    "!tfrt_tensor.tensor\n"
    "  %part = tfrt_tensor.slice %u, %zero, %one\n"
    "  tfrt.return %part : !tfrt_tensor.tensor\n"
    "}\n"
    "func.func @main(%x: i32) -> !tfrt_tensor.tensor {\n"
    "  %c0 = tfrt.new.chain\n"
    "  %h1 = tfrt_dist.host %x\n"
    "  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [%u : i64]\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t, %c0 1 : i32\n"
    "  %p = tfrt_dist.prefetch %h1, %t\n"
    "  %c2 = tfrt.merge.chains %c1, %p : !tfrt.chain, !tfrt.chain\n"
    "  %c3 = tfrt_dht.fill_tensor_with_constant.i32 %t, %c2 2 : i32\n"
    "  %v = tfrt_dist.call %h1 @show(%t, %c3) "
    ": (!tfrt_dist.host, !tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt_tensor.tensor)\n"
    "  tfrt.return %v : !tfrt_tensor.tensor\n"
    "}\n";

// Element 0 of result |index|, a tensor of i32.
static int32_t first_element(uint32_t index) {
  tfrt_async_value_t* value = world.results[index];
  ck_assert(!tfrt_async_value_is_error(value));
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(tfrt_async_value_resolved(value));
  return *(const int32_t*)tfrt_dense_host_tensor_data(&tensor->dense);
}

START_TEST(what_is_written_after_it_was_sent_ahead_is_seen_behind_its_chain) {
  static const unsigned sizes[] = {4, 262144};
  char text[sizeof(written_program) + 16];
  const char* place = strstr(written_program, "%u : i64");
  snprintf(text, sizeof(text), "%.*s%u%s", (int)(place - written_program), written_program,
           sizes[_i], place + 2);
  run(text, 2, 1, 1);
  ck_assert_int_eq(first_element(0), 2);
  end();
}
END_TEST

// Host 0 sends ahead to itself what host 1 has made, and waits for that.
static const char prefetch_here_program[] =
    "func.func @counter() -> !test.atomic.i32 {\n"
    "  %a = \"tfrt_test.atomic.create.i32\"() : () -> !test.atomic.i32\n"
    "  tfrt.return %a : !test.atomic.i32\n"
    "}\n"
    "func.func @large() -> !tfrt_tensor.tensor {\n"
    "  %c = tfrt.new.chain\n"
    "  %t0 = tfrt_dht.create_uninitialized_tensor.i32.1 [262144 : i64]\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t0, %c 1 : i32\n"
    "  %t = \"tfrt_test.identity\"(%c1, %t0) : (!tfrt.chain, !tfrt_tensor.tensor) -> "
    "!tfrt_tensor.tensor\n"
    "  tfrt.return %t : !tfrt_tensor.tensor\n"
    "}\n"
    "func.func @main(%x: i32) -> (!tfrt.chain, i32) {\n"
    "  %me = tfrt_dist.rank\n"
    "  %h = tfrt_dist.host %me\n"
    "  %a = tfrt.call @counter() {host = 1 : i32} : () -> !test.atomic.i32\n"
    "  %never = tfrt_dist.prefetch %h, %a\n"
    "  %t = tfrt.call @large() {host = 1 : i32} : () -> !tfrt_tensor.tensor\n"
    "  %here = tfrt_dist.prefetch %h, %t\n"
    "  %y = \"tfrt_test.identity\"(%here, %x) : (!tfrt.chain, i32) -> i32\n"
    "  tfrt.return %never, %y : !tfrt.chain, i32\n"
    "}\n";

static bool is_here(void* argument) {
  (void)argument;
  return tfrt_async_value_is_available(world.results[1]);
}

START_TEST(what_a_host_sends_ahead_to_itself_is_there_when_the_chain_says_so) {
  tfrt_node_world_initialize_with_window(&world, 2, NULL, 65536);
  tfrt_node_world_start_i32(&world, prefetch_here_program, 7, 2);
  ck_assert(
      tfrt_simulated_network_run_until(world.network, is_here, NULL, 60 * TFRT_NODE_WORLD_SECOND));
  ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 1, 0), MIB);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(error_of(0)->code, TFRT_STATUS_FAILED_PRECONDITION);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 7);
  end();
}
END_TEST

START_TEST(the_loss_of_a_host_is_the_loss_of_copies_there) {
  uint32_t lost = 0;
  for (int64_t delay_us = 500; delay_us < 8000; delay_us += 250) {
    start(copy_program, 3, NULL, 5, 4);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_open = tfrt_async_value_is_available(tfrt_client_opened(world.client));
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    for (uint32_t i = 0; i < 4 && is_open; ++i) {
      if (!tfrt_async_value_is_error(world.results[i])) continue;
      ++lost;
      ck_assert_int_eq(error_of(i)->code, TFRT_STATUS_UNAVAILABLE);
      ck_assert_uint_eq(error_of(i)->root_key, 0x1001);
    }
    end();
  }
  ck_assert_uint_gt(lost, 0);
}
END_TEST

static const char hours_program[] =
    "func.func @wait(%x: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %k = tfrt_dist.key \"never\"\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
    "  tfrt.return %v : i32\n"
    "}\n"
    "func.func @twice(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %a = tfrt.call @wait(%x) {host = 1 : i32, deadline_ms = 7200000 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @twice(%x) {host = 3 : i32} : (i32) -> i32\n"
    "  tfrt.return %a, %b : i32, i32\n"
    "}\n";

// Nothing is collected because it was idle for long: not the job, and no value of it.
START_TEST(what_waits_for_hours_is_nobodys_loss) {
  start(hours_program, 4, NULL, 2, 2);
  tfrt_node_world_run_for(&world, 7190 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert(!tfrt_async_value_is_available(world.results[0]));
  tfrt_node_world_await(&world);
  ck_assert_int_eq(error_of(0)->code, TFRT_STATUS_DEADLINE_EXCEEDED);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 4);
  end();
}
END_TEST

static const char slow_program[] =
    "func.func @fib(%n: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %small = \"tfrt.lessequal.i32\"(%n, %one) : (i32, i32) -> i1\n"
    "  %r = tfrt.if %small, %n, %one, %two : (i32, i32, i32) -> (i32) {\n"
    "    tfrt.return %n : i32\n"
    "  } else {\n"
    "    %m1 = tfrt.constant.i32 -1\n"
    "    %m2 = tfrt.constant.i32 -2\n"
    "    %a = tfrt.add.i32 %n, %m1\n"
    "    %b = tfrt.add.i32 %n, %m2\n"
    "    %h1 = tfrt_dist.host %one\n"
    "    %h2 = tfrt_dist.host %two\n"
    "    %x = tfrt_dist.call %h1 @fib(%a) : (!tfrt_dist.host, i32) -> (i32)\n"
    "    %y = tfrt_dist.call %h2 @fib(%b) : (!tfrt_dist.host, i32) -> (i32)\n"
    "    %s = tfrt.add.i32 %x, %y\n"
    "    tfrt.return %s : i32\n"
    "  }\n"
    "  tfrt.return %r : i32\n"
    "}\n"
    "func.func @same(%x: i32) -> i32 {\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %late = tfrt.call @fib(%x) : (i32) -> i32\n"
    "  %l = tfrt_dist.call_all @same(%late) : (i32) -> (!tfrt_dist.list)\n"
    "  %s = tfrt_dist.list.sum %l : i32\n"
    "  tfrt.return %s : i32\n"
    "}\n";

START_TEST(a_cancel_ends_sums_that_wait) {
  bool found = false;
  for (int64_t delay_us = 300; delay_us < 6000; delay_us += 300) {
    start(slow_program, 3, NULL, 9, 1);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
    tfrt_node_world_await(&world);
    if (tfrt_async_value_is_error(world.results[0])) {
      found = true;
      ck_assert_str_eq(error_of(0)->message, "enough of that");
    } else {
      ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 3 * 34);
    }
    end();
  }
  ck_assert(found);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* ops = tcase_create("host ops");
  tcase_set_timeout(ops, 60);
  tcase_add_test(ops, a_computed_host_runs_what_is_called_there);
  tcase_add_test(ops, one_host_is_all_hosts);
  tcase_add_test(ops, a_host_that_is_not_there_is_an_error_with_its_place);
  tcase_add_test(ops, any_order_of_messages_gives_the_same);
  tcase_add_test(ops, an_element_that_a_list_lacks_is_an_error);
  tcase_add_test(ops, an_error_of_one_element_harms_only_who_uses_it);
  tcase_add_test(ops, the_loss_of_a_host_is_the_loss_of_its_element);
  tcase_add_test(ops, hosts_travel);
  tcase_add_test(ops, a_copy_travels_once_and_is_used_where_it_is);
  tcase_add_test(ops, what_is_sent_ahead_travels_once_whoever_is_given_it_there);
  tcase_add_loop_test(ops, what_is_written_after_it_was_sent_ahead_is_seen_behind_its_chain, 0, 2);
  tcase_add_test(ops, what_a_host_sends_ahead_to_itself_is_there_when_the_chain_says_so);
  tcase_add_test(ops, the_loss_of_a_host_is_the_loss_of_copies_there);
  tcase_add_test(ops, what_waits_for_hours_is_nobodys_loss);
  tcase_add_test(ops, a_cancel_ends_sums_that_wait);
  Suite* suite = suite_create("host ops");
  suite_add_tcase(suite, ops);
  return suite;
}
