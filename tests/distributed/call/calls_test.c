// SPDX-License-Identifier: Apache-2.0
//
// Calls between hosts, from a program's text to the client's results.
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/random.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

static const char simple_program[] =
    "func.func @twice(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @twice(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

START_TEST(a_call_on_another_host_gives_its_result) {
  tfrt_node_world_initialize(&world, 2, NULL);
  tfrt_node_world_start_i32(&world, simple_program, 21, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 42);
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}
END_TEST

// Runs |text| on |host_count| hosts, with |x| for its only argument, until it has ended.
static void run(const char* text, uint32_t host_count, int32_t x, uint32_t result_count) {
  tfrt_node_world_initialize(&world, host_count, NULL);
  tfrt_node_world_start_i32(&world, text, x, result_count);
  tfrt_node_world_await(&world);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static const char chain_program[] =
    "func.func @twice(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %a = tfrt.call @twice(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @twice(%a) {host = 2 : i32} : (i32) -> i32\n"
    "  %c = tfrt.call @twice(%b) {host = 3 : i32} : (i32) -> i32\n"
    "  %d = tfrt.call @twice(%b) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %c, %d : i32, i32\n"
    "}\n";

START_TEST(hosts_fetch_each_others_results_directly) {
  run(chain_program, 4, 3, 2);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 24);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 24);
  end();
}
END_TEST

START_TEST(any_order_of_messages_gives_the_same) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    options.seed = seed;
    options.jitter_ns = 20 * options.delay_ns;
    tfrt_node_world_initialize(&world, 4, &options);
    tfrt_async_value_t* argument = tfrt_async_value_create_i32((int32_t)seed);
    tfrt_node_world_start(&world, chain_program, &argument, 1, 2);
    tfrt_async_value_release(argument);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 8 * (int32_t)seed);
    end();
  }
}
END_TEST

static const char fib_program[] =
    "func.func @fib(%n: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %small = \"tfrt.lessequal.i32\"(%n, %one) : (i32, i32) -> i1\n"
    "  %r = tfrt.if %small, %n : (i32) -> (i32) {\n"
    "    tfrt.return %n : i32\n"
    "  } else {\n"
    "    %m1 = tfrt.constant.i32 -1\n"
    "    %m2 = tfrt.constant.i32 -2\n"
    "    %a = tfrt.add.i32 %n, %m1\n"
    "    %b = tfrt.add.i32 %n, %m2\n"
    "    %x = tfrt.call @fib(%a) {host = 1 : i32} : (i32) -> i32\n"
    "    %y = tfrt.call @fib(%b) {host = 2 : i32} : (i32) -> i32\n"
    "    %s = tfrt.add.i32 %x, %y\n"
    "    tfrt.return %s : i32\n"
    "  }\n"
    "  tfrt.return %r : i32\n"
    "}\n"
    "func.func @main(%n: i32) -> i32 {\n"
    "  %y = tfrt.call @fib(%n) {host = 0 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

START_TEST(calls_nest_to_and_fro) {
  run(fib_program, 3, 8, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 21);
  end();
}
END_TEST

static const char error_program[] =
    "func.func @divide(%x: i32, %y: i32) -> i32 {\n"
    "  %z, %r = tfrt.div.i32 %x, %y\n"
    "  tfrt.return %z : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %y = tfrt.call @divide(%x, %zero) {host = 1 : i32} : (i32, i32) -> i32\n"
    "  %z = tfrt.add.i32 %y, %y\n"
    "  tfrt.return %x, %z : i32, i32\n"
    "}\n";

START_TEST(an_error_comes_from_the_far_end_with_its_origin) {
  run(error_program, 2, 5, 2);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 5);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 1));
  ck_assert_uint_eq(fields->origin.rank, 1);
  ck_assert_str_eq(fields->origin.function, "divide");
  ck_assert_str_eq(fields->origin.kernel, "tfrt.div.i32");
  ck_assert_str_eq(fields->origin.file, "test.mlir");
  ck_assert_uint_eq(fields->origin.line, 2);
  end();
}
END_TEST

static const char print_program[] =
    "func.func @say(%x: i32, %c: !tfrt.chain) -> !tfrt.chain {\n"
    "  %d = tfrt.print.i32 %x, %c\n"
    "  tfrt.return %d : !tfrt.chain\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, !tfrt.chain) {\n"
    "  %c = tfrt.new.chain\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  %z = tfrt.add.i32 %y, %x\n"
    "  %c1 = tfrt.call @say(%x, %c) {host = 1 : i32} : (i32, !tfrt.chain) -> !tfrt.chain\n"
    "  %c2 = tfrt.call @say(%y, %c1) {host = 2 : i32} : (i32, !tfrt.chain) -> !tfrt.chain\n"
    "  %c3 = tfrt.call @say(%z, %c2) {host = 1 : i32} : (i32, !tfrt.chain) -> !tfrt.chain\n"
    "  %c4 = tfrt.print.i32 %x, %c3\n"
    "  tfrt.return %x, %c4 : i32, !tfrt.chain\n"
    "}\n";

START_TEST(chains_order_lines_of_several_hosts) {
  run(print_program, 3, 1, 2);
  if (tfrt_async_value_is_error(world.results[1])) tfrt_node_world_i32(&world, 1);
  ck_assert_str_eq(world.printed, "1: int32 = 1\n2: int32 = 2\n1: int32 = 3\n0: int32 = 1\n");
  end();
}
END_TEST

// Nobody uses what the prints give.
static const char unordered_program[] =
    "func.func @say(%x: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %d = tfrt.print.i32 %x, %c\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %d = tfrt.print.i32 %x, %c\n"
    "  %y = tfrt.call @say(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %z = tfrt.call @say(%y) {host = 2 : i32} : (i32) -> i32\n"
    "  %e = tfrt.print.i32 %y, %c\n"
    "  tfrt.return %x : i32\n"
    "}\n";

START_TEST(lines_that_nothing_orders_are_out_before_the_results) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = (uint64_t)_i + 1;
  options.jitter_ns = 5000000;
  tfrt_node_world_initialize(&world, 3, &options);
  tfrt_node_world_start_i32(&world, unordered_program, 7, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 7);
  size_t line_count = 0;
  for (const char* c = world.printed; *c; ++c) line_count += *c == '\n';
  ck_assert_msg(line_count == 4, "%s", world.printed);
  end();
}
END_TEST

static const char late_program[] =
    "func.func @late(%x: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %y = tfrt.call @later(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @later(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %a = tfrt.call @late(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @later(%a) {host = 3 : i32} : (i32) -> i32\n"
    "  tfrt.return %b, %x : i32, i32\n"
    "}\n";

// Kills |rank| after |delay_ns| of a run; each result is right or the loss of that host.
static void run_with_kill(uint64_t seed, uint32_t rank, int64_t delay_ns) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  tfrt_node_world_initialize(&world, 4, &options);
  tfrt_node_world_start_i32(&world, late_program, 7, 2);
  tfrt_node_world_run_for(&world, delay_ns);
  tfrt_node_world_kill(&world, rank);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) {
    if (tfrt_async_value_is_error(world.results[i])) {
      const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, i));
      char text[1024];
      tfrt_status_format(tfrt_node_world_error(&world, i), text, sizeof(text));
      ck_assert_msg(fields->code == TFRT_STATUS_UNAVAILABLE, "%s", text);
      // A host that the client never met has no name yet.
      bool met = !tfrt_async_value_is_error(tfrt_client_opened(world.client));
      ck_assert_msg(!met || fields->root_key == 0x1000 + rank, "%s", text);
      ck_assert_msg(strstr(text, "host"), "%s", text);
    } else {
      ck_assert_int_eq(tfrt_node_world_i32(&world, i), i == 0 ? 28 : 7);
    }
  }
  end();
}

START_TEST(the_loss_of_a_host_at_any_time_is_an_error_or_not_noticed) {
  uint32_t rank = (uint32_t)_i;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    run_with_kill(seed, rank, (int64_t)seed * 100 * TFRT_NANOSECONDS_PER_MICROSECOND);
  }
}
END_TEST

START_TEST(a_loss_names_host_function_and_place) {
  bool found = false;
  for (int64_t delay_us = 100; delay_us < 4000 && !found; delay_us += 50) {
    tfrt_node_world_initialize(&world, 2, NULL);
    tfrt_async_value_t* argument = tfrt_async_value_create_i32(7);
    tfrt_node_world_start(&world, simple_program, &argument, 1, 1);
    tfrt_async_value_release(argument);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    if (tfrt_async_value_is_error(world.results[0])) {
      tfrt_status_t status = tfrt_node_world_error(&world, 0);
      const tfrt_status_fields_t* fields = tfrt_status_fields(status);
      static const char right[] =
          "host 0 lost host 1 (n1, n1:1) while it ran @twice: its process is gone";
      found = strcmp(fields->message, right) == 0;
      if (found) {
        ck_assert_str_eq(fields->origin.function, "main");
        ck_assert_str_eq(fields->origin.file, "test.mlir");
        ck_assert_uint_eq(fields->origin.line, 6);
        ck_assert_uint_eq(fields->root_key, 0x1001);
      }
    }
    end();
  }
  ck_assert_msg(found, "no run had the host killed in the middle of its call");
}
END_TEST

// @pass on host 1 calls @wait, which does not end, and gives its result to host 0; or a copy of it.
#define WAIT_PROGRAM(host, given)                           \
  "func.func @wait() -> i32 {\n"                            \
  "  %c = tfrt.new.chain\n"                                 \
  "  %x = tfrt.constant.i32 3\n"                            \
  "  %h = tfrt_dist.host %x\n"                              \
  "  %k = tfrt_dist.key \"never\"\n"                        \
  "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"           \
  "  tfrt.return %v : i32\n"                                \
  "}\n"                                                     \
  "func.func @pass() -> i32 {\n"                            \
  "  %x = tfrt.constant.i32 2\n"                            \
  "  %h = tfrt_dist.host %x\n"                              \
  "  %y = tfrt.call @wait() {host = " host                  \
  " : i32} : () -> i32\n"                                   \
  "  %z = tfrt_dist.copy_to %h, %y : i32\n"                 \
  "  tfrt.return " given                                    \
  " : i32\n"                                                \
  "}\n"                                                     \
  "func.func @main() -> i32 {\n"                            \
  "  %r = tfrt.call @pass() {host = 1 : i32} : () -> i32\n" \
  "  %s = tfrt.add.i32 %r, %r\n"                            \
  "  tfrt.return %s : i32\n"                                \
  "}\n"

// The callee of a lost host does not know the place of that call. The error names the callee's own
// place; for a builtin, the place of the host that has the result.
static const struct {
  const char* program;
  const char* function;
  uint32_t line;
} waits[] = {
    {WAIT_PROGRAM("2", "%y"), "wait", 1},
    {WAIT_PROGRAM("0", "%y"), "wait", 1},
    {WAIT_PROGRAM("3", "%z"), "main", 17},
};

START_TEST(the_loss_of_a_caller_whose_result_was_handed_on_has_a_place) {
  tfrt_node_world_initialize(&world, 4, NULL);
  tfrt_node_world_start(&world, waits[_i].program, NULL, 0, 1);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert(!tfrt_async_value_is_available(world.results[0]));
  // Host 0 hears of it from the others.
  tfrt_simulated_network_partition(world.network, world.hosts[0].endpoint, world.hosts[1].endpoint,
                                   true);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
  ck_assert_ptr_nonnull(strstr(fields->message, "lost host 1"));
  ck_assert_uint_eq(fields->root_key, 0x1001);
  ck_assert_str_eq(fields->origin.function, waits[_i].function);
  ck_assert_str_eq(fields->origin.file, "test.mlir");
  ck_assert_uint_eq(fields->origin.line, waits[_i].line);
  end();
}
END_TEST

// Host 1 sends what host 2 will give it on to host 3, which holds it then.
static const char sent_on_program[] =
    "func.func @wait() -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %x = tfrt.constant.i32 3\n"
    "  %h = tfrt_dist.host %x\n"
    "  %k = tfrt_dist.key \"never\"\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
    "  tfrt.return %v : i32\n"
    "}\n"
    "func.func @give() -> !tfrt.chain {\n"
    "  %c = tfrt.new.chain\n"
    "  %x = tfrt.constant.i32 3\n"
    "  %h = tfrt_dist.host %x\n"
    "  %k = tfrt_dist.key \"k\"\n"
    "  %y = tfrt.call @wait() {host = 2 : i32} : () -> i32\n"
    "  %c1 = tfrt_dist.send %h, %k, %y, %c\n"
    "  tfrt.return %c1 : !tfrt.chain\n"
    "}\n"
    "func.func @take() -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %x = tfrt.constant.i32 1\n"
    "  %h = tfrt_dist.host %x\n"
    "  %k = tfrt_dist.key \"k\"\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
    "  %s = tfrt.add.i32 %v, %v\n"
    "  tfrt.return %s : i32\n"
    "}\n"
    "func.func @main() -> i32 {\n"
    "  %c = tfrt.call @give() {host = 1 : i32} : () -> !tfrt.chain\n"
    "  %r = tfrt.call @take() {host = 3 : i32} : () -> i32\n"
    "  tfrt.return %r : i32\n"
    "}\n";

START_TEST(who_was_sent_a_result_learns_that_its_caller_is_lost) {
  tfrt_node_world_initialize(&world, 4, NULL);
  tfrt_node_world_start(&world, sent_on_program, NULL, 0, 1);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert(!tfrt_async_value_is_available(world.results[0]));
  if (_i == 0) {
    tfrt_node_world_kill(&world, 1);
  } else {
    // To host 2 alone.
    tfrt_simulated_network_partition(world.network, world.hosts[2].endpoint,
                                     world.hosts[1].endpoint, true);
  }
  tfrt_node_world_await(&world);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
  ck_assert_ptr_nonnull(strstr(fields->message, "lost host 1"));
  end();
}
END_TEST

// Host 1 gives back what host 2 has made, and sends itself that result before it is known; it is
// taken after host 0 has released it.
static const char sent_home_program[] =
    "func.func @make() -> !tfrt.string {\n"
    "  %k = \"tfrt_test.get_string\"() {value = \"k\"} : () -> !tfrt.string\n"
    "  tfrt.return %k : !tfrt.string\n"
    "}\n"
    "func.func @same(%t: !tfrt.string) -> !tfrt.string {\n"
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @twice(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @take(%zero: i32) -> !tfrt.string {\n"
    "  %c = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %zero\n"
    "  %k = tfrt_dist.key \"k\"\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : !tfrt.string\n"
    "  %s = \"tfrt_test.append_string\"(%v, %v) : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %s : !tfrt.string\n"
    "}\n"
    "func.func @main() -> !tfrt.string {\n"
    "  %c = tfrt.new.chain\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %h = tfrt_dist.host %one\n"
    "  %k = tfrt_dist.key \"k\"\n"
    "  %x = tfrt.call @make() {host = 2 : i32} : () -> !tfrt.string\n"
    "  %y = tfrt.call @same(%x) {host = 1 : i32} : (!tfrt.string) -> !tfrt.string\n"
    "  %c1 = tfrt_dist.send %h, %k, %y, %c\n"
    "  %n = tfrt.constant.i32 500\n"
    "  %z = tfrt.constant.i32 0\n"
    "  %late = tfrt.repeat.i32 %n, %z : i32 {\n"
    "    %u = tfrt.call @twice(%z) {host = 3 : i32} : (i32) -> i32\n"
    "    tfrt.return %u : i32\n"
    "  }\n"
    "  %r = tfrt.call @take(%late) {host = 1 : i32} : (i32) -> !tfrt.string\n"
    "  tfrt.return %r : !tfrt.string\n"
    "}\n";

START_TEST(what_a_host_sends_itself_of_its_own_results_is_held_for_it) {
  tfrt_node_world_initialize(&world, 4, NULL);
  tfrt_node_world_start(&world, sent_home_program, NULL, 0, 1);
  tfrt_node_world_await(&world);
  tfrt_string_view_t text = tfrt_node_world_text(&world, 0);
  ck_assert(tfrt_string_view_equal(text, tfrt_string_view_of("kk")));
  end();
}
END_TEST

// Host 1 lends on to host 2 what host 0 has lent it; host 2 wants it when host 0 says so.
static const char lent_on_program[] =
    "func.func @work(%t: !tfrt.string) -> !tfrt.chain {\n"
    "  %c = tfrt.new.chain\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %three = tfrt.constant.i32 3\n"
    "  %h0 = tfrt_dist.host %zero\n"
    "  %h3 = tfrt_dist.host %three\n"
    "  %go = tfrt_dist.key \"go\"\n"
    "  %k = tfrt_dist.key \"k\"\n"
    "  %g, %c1 = tfrt_dist.recv %h0, %go, %c : i32\n"
    "  %now = \"tfrt.equal.i32\"(%g, %g) : (i32, i32) -> i1\n"
    "  %s = tfrt.if %now, %t : (!tfrt.string) -> (!tfrt.string) {\n"
    "    %u = \"tfrt_test.append_string\"(%t, %t) : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "    tfrt.return %u : !tfrt.string\n"
    "  } else {\n"
    "    tfrt.return %t : !tfrt.string\n"
    "  }\n"
    "  %c2 = tfrt_dist.send %h3, %k, %s, %c\n"
    "  tfrt.return %c2 : !tfrt.chain\n"
    "}\n"
    "func.func @give(%t: !tfrt.string) -> !tfrt.chain {\n"
    "  %c = tfrt.call @work(%t) {host = 2 : i32} : (!tfrt.string) -> !tfrt.chain\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @take() -> !tfrt.string {\n"
    "  %c = tfrt.new.chain\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %h = tfrt_dist.host %two\n"
    "  %k = tfrt_dist.key \"k\"\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : !tfrt.string\n"
    "  tfrt.return %v : !tfrt.string\n"
    "}\n"
    "func.func @main() -> !tfrt.string {\n"
    "  %c = tfrt.new.chain\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %h = tfrt_dist.host %two\n"
    "  %go = tfrt_dist.key \"go\"\n"
    "  %k = \"tfrt_test.get_string\"() {value = \"k\"} : () -> !tfrt.string\n"
    "  %n = tfrt.constant.i32 16\n"
    "  %t = tfrt.repeat.i32 %n, %k : !tfrt.string {\n"
    "    %u = \"tfrt_test.append_string\"(%k, %k) : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "    tfrt.return %u : !tfrt.string\n"
    "  }\n"
    "  %d = tfrt.call @give(%t) {host = 1 : i32} : (!tfrt.string) -> !tfrt.chain\n"
    "  %c1 = tfrt_dist.send %h, %go, %two, %c\n"
    "  %r = tfrt.call @take() {host = 3 : i32} : () -> !tfrt.string\n"
    "  tfrt.return %r : !tfrt.string\n"
    "}\n";

// Which host 0 notices first, and frees what it had lent.
START_TEST(who_wants_what_a_dead_host_has_lent_on_learns_of_that) {
  tfrt_node_world_initialize(&world, 4, NULL);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 100);
  tfrt_simulated_network_partition(world.network, world.hosts[0].endpoint, world.hosts[2].endpoint,
                                   false);
  tfrt_node_world_start(&world, lent_on_program, NULL, 0, 1);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_simulated_network_partition(world.network, world.hosts[1].endpoint, world.hosts[2].endpoint,
                                   true);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  tfrt_simulated_network_heal(world.network, world.hosts[0].endpoint, world.hosts[2].endpoint,
                              false);
  tfrt_node_world_await(&world);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
  ck_assert_ptr_nonnull(strstr(fields->message, "lost host 1"));
  ck_assert_uint_eq(fields->root_key, 0x1001);
  end();
}
END_TEST

// The client gets the text, which is too large for a message, from host 1 itself.
static const char owned_program[] =
    "func.func @text() -> !tfrt.string {\n"
    "  %k = \"tfrt_test.get_string\"() {value = \"k\"} : () -> !tfrt.string\n"
    "  %n = tfrt.constant.i32 16\n"
    "  %t = tfrt.repeat.i32 %n, %k : !tfrt.string {\n"
    "    %u = \"tfrt_test.append_string\"(%k, %k) : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "    tfrt.return %u : !tfrt.string\n"
    "  }\n"
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @main() -> !tfrt.string {\n"
    "  %r = tfrt.call @text() {host = 1 : i32} : () -> !tfrt.string\n"
    "  tfrt.return %r : !tfrt.string\n"
    "}\n";

START_TEST(the_loss_of_the_owner_of_what_the_client_gets_has_a_place) {
  uint32_t by_client = 0;
  for (int64_t delay_us = 100; delay_us < 4000; delay_us += 20) {
    tfrt_node_world_initialize(&world, 2, NULL);
    tfrt_node_world_start(&world, owned_program, NULL, 0, 1);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_open = tfrt_async_value_is_available(tfrt_client_opened(world.client));
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    if (is_open && tfrt_async_value_is_error(world.results[0])) {
      const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
      ck_assert_uint_eq(fields->root_key, 0x1001);
      ck_assert_str_eq(fields->origin.function, "main");
      ck_assert_str_eq(fields->origin.file, "test.mlir");
      ck_assert_uint_eq(fields->origin.line, 11);
      by_client += strstr(fields->message, "while a value of it was needed") != NULL;
    }
    end();
  }
  ck_assert_uint_gt(by_client, 0);
}
END_TEST

START_TEST(broken_connections_change_nothing) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    options.seed = seed;
    options.jitter_ns = 5 * options.delay_ns;
    options.break_chance = 20000;
    tfrt_node_world_initialize(&world, 3, &options);
    tfrt_async_value_t* argument = tfrt_async_value_create_i32(5);
    tfrt_node_world_start(&world, fib_program, &argument, 1, 1);
    tfrt_async_value_release(argument);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 5);
    end();
  }
}
END_TEST

START_TEST(a_cancel_ends_every_call_below_it) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    options.seed = seed;
    tfrt_node_world_initialize(&world, 3, &options);
    tfrt_async_value_t* argument = tfrt_async_value_create_i32(9);
    tfrt_node_world_start(&world, fib_program, &argument, 1, 1);
    tfrt_async_value_release(argument);
    tfrt_node_world_run_for(&world, (int64_t)seed * 300 * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
    tfrt_node_world_await(&world);
    if (tfrt_async_value_is_error(world.results[0])) {
      ck_assert_str_eq(tfrt_status_message(tfrt_node_world_error(&world, 0)), "enough of that");
    } else {
      ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 34);
    }
    end();
  }
}
END_TEST

// The result is that of a run without faults, or an error that was injected.
static void expect_right_or_injected(uint32_t index, int32_t right) {
  if (!tfrt_async_value_is_error(world.results[index])) {
    ck_assert_int_eq(tfrt_node_world_i32(&world, index), right);
    return;
  }
  tfrt_status_t status = tfrt_node_world_error(&world, index);
  char text[1024];
  tfrt_status_format(status, text, sizeof(text));
  tfrt_status_code_t code = tfrt_status_code(status);
  ck_assert_msg(code == TFRT_STATUS_UNAVAILABLE || code == TFRT_STATUS_CANCELLED, "%s", text);
}

// One run with resets, and by chance a kill, a cancel, or both.
static void run_with_faults(uint64_t seed) {
  static const char* const programs[] = {chain_program, fib_program, late_program};
  static const uint32_t result_counts[] = {2, 1, 2};
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = (int64_t)(seed % 7) * options.delay_ns;
  options.break_chance = seed % 3 == 0 ? 5000 : 0;
  tfrt_node_world_initialize(&world, 4, &options);
  tfrt_random_t* random = tfrt_simulated_network_random(world.network);
  uint32_t which = (uint32_t)tfrt_random_below(random, 3);
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(6);
  tfrt_node_world_start(&world, programs[which], &argument, 1, result_counts[which]);
  tfrt_async_value_release(argument);
  int64_t step = 4 * TFRT_NANOSECONDS_PER_MILLISECOND;
  tfrt_node_world_run_for(&world, (int64_t)tfrt_random_below(random, (uint64_t)step));
  if (tfrt_random_below(random, 2) == 0) {
    tfrt_node_world_kill(&world, (uint32_t)tfrt_random_below(random, 4));
  }
  tfrt_node_world_run_for(&world, (int64_t)tfrt_random_below(random, (uint64_t)step));
  if (tfrt_random_below(random, 3) == 0) {
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
  }
  tfrt_node_world_await(&world);
  static const int32_t right[][2] = {{48, 48}, {8, 0}, {24, 6}};
  for (uint32_t i = 0; i < result_counts[which]; ++i) {
    expect_right_or_injected(i, right[which][i]);
  }
  end();
}

START_TEST(random_faults_leave_right_results_or_errors_and_nothing_else) {
  for (uint64_t seed = 1; seed <= 50; ++seed) run_with_faults(50 * (uint64_t)_i + seed);
}
END_TEST

// --- Without memory ------------------------------------------------------------

#define MANY_RESULTS 1000

// The size of the array of these results; no other block of host 1 is that large.
#define MANY_RESULTS_SIZE ((size_t)64 << 10)

static int large_requests;

// The call is given its results; there is no room to tell of them.
static void* refuse_second_array(void* self, size_t size, size_t alignment) {
  (void)self;
  if (size >= MANY_RESULTS_SIZE && ++large_requests > 1) return NULL;
  return tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, alignment);
}

static void give_back(void* self, void* pointer, size_t size, size_t alignment) {
  (void)self;
  tfrt_allocator_free_aligned(tfrt_allocator_system(), pointer, size, alignment);
}

static void give_host_1_little_memory(uint32_t index, tfrt_node_options_t* options) {
  static const tfrt_allocator_vtable_t vtable = {.allocate = refuse_second_array,
                                                 .deallocate = give_back};
  if (index == 1) options->allocator = (tfrt_allocator_t){&vtable, NULL};
}

// Appends |text|, MANY_RESULTS times, with commas between.
static void append_many(tfrt_string_builder_t* out, const char* text) {
  for (int i = 0; i < MANY_RESULTS; ++i) {
    tfrt_string_builder_append_format(out, "%s%s", i > 0 ? ", " : "", text);
  }
}

START_TEST(results_that_do_not_fit_into_memory_together_are_told_one_by_one) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_text(&text, "func.func @many(%x: i32) -> (");
  append_many(&text, "i32");
  tfrt_string_builder_append_text(&text, ") {\n  tfrt.return ");
  append_many(&text, "%x");
  tfrt_string_builder_append_text(&text, " : ");
  append_many(&text, "i32");
  tfrt_string_builder_append_format(&text,
                                    "\n}\nfunc.func @main(%%x: i32) -> (i32, i32) {\n"
                                    "  %%y:%d = tfrt.call @many(%%x) {host = 1 : i32} : (i32) -> (",
                                    MANY_RESULTS);
  append_many(&text, "i32");
  tfrt_string_builder_append_format(&text, ")\n  tfrt.return %%y#0, %%y#%d : i32, i32\n}\n",
                                    MANY_RESULTS - 1);
  ck_assert_ptr_null(tfrt_string_builder_status(&text));
  tfrt_node_world_set_configure(give_host_1_little_memory);
  run(text.data, 2, 21, 2);
  ck_assert_int_gt(large_requests, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 21);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 21);
  end();
  tfrt_node_world_set_configure(NULL);
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* calls = tcase_create("calls");
  tcase_set_timeout(calls, 60);
  tcase_add_test(calls, a_call_on_another_host_gives_its_result);
  tcase_add_test(calls, hosts_fetch_each_others_results_directly);
  tcase_add_test(calls, any_order_of_messages_gives_the_same);
  tcase_add_test(calls, calls_nest_to_and_fro);
  tcase_add_test(calls, an_error_comes_from_the_far_end_with_its_origin);
  tcase_add_test(calls, chains_order_lines_of_several_hosts);
  tcase_add_loop_test(calls, lines_that_nothing_orders_are_out_before_the_results, 0, 40);
  tcase_add_loop_test(calls, the_loss_of_a_host_at_any_time_is_an_error_or_not_noticed, 0, 4);
  tcase_add_test(calls, a_loss_names_host_function_and_place);
  tcase_add_loop_test(calls, the_loss_of_a_caller_whose_result_was_handed_on_has_a_place, 0,
                      (int)TFRT_ARRAY_SIZE(waits));
  tcase_add_loop_test(calls, who_was_sent_a_result_learns_that_its_caller_is_lost, 0, 2);
  tcase_add_test(calls, what_a_host_sends_itself_of_its_own_results_is_held_for_it);
  tcase_add_test(calls, who_wants_what_a_dead_host_has_lent_on_learns_of_that);
  tcase_add_test(calls, the_loss_of_the_owner_of_what_the_client_gets_has_a_place);
  tcase_add_test(calls, broken_connections_change_nothing);
  tcase_add_test(calls, results_that_do_not_fit_into_memory_together_are_told_one_by_one);
  tcase_add_test(calls, a_cancel_ends_every_call_below_it);
  tcase_add_loop_test(calls, random_faults_leave_right_results_or_errors_and_nothing_else, 0, 8);
  Suite* suite = suite_create("calls");
  suite_add_tcase(suite, calls);
  return suite;
}
