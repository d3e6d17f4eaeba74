// SPDX-License-Identifier: Apache-2.0
//
// How many messages calls between hosts take, on which links, and how long a chain of them is:
// each frame is counted where it arrives, and time is the network's.
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define DELAY (100 * TFRT_NANOSECONDS_PER_MICROSECOND)
#define KIB ((uint64_t)1024)

// The most that a test has.
#define MAX_HOSTS 9

static tfrt_node_world_t world;

static uint64_t count(uint32_t from, uint32_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count(world.frames, from, to, kind);
}

static uint64_t count_all(tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count_all(world.frames, kind);
}

// Every message takes the same time.
static void begin(uint32_t host_count) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.delay_ns = DELAY;
  options.jitter_ns = 0;
  tfrt_node_world_initialize(&world, host_count, &options);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static void start_number(const char* program, int32_t x) {
  tfrt_node_world_start_i32(&world, program, x, 1);
}

static void start_text(const char* program, size_t size, uint32_t result_count) {
  char* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  memset(bytes, 'a', size);
  tfrt_async_value_t* text = tfrt_async_value_create_string(tfrt_string_view_make(bytes, size));
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  tfrt_node_world_start(&world, program, &text, 1, result_count);
  tfrt_async_value_release(text);
}

static void drop_results(void) {
  for (uint32_t i = 0; i < world.result_count; ++i) tfrt_async_value_release(world.results[i]);
  world.result_count = 0;
}

// Waits for the results of a first run, after which all sessions are open and all programs are
// where they are used; from there on is counted.
static void warm_up(void) {
  tfrt_node_world_await(&world);
  drop_results();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_frame_oracle_reset_counts(world.frames);
}

// --- A chain -----------------------------------------------------------------

// A program that calls @twice on host 1 with its argument, on 2 with that result, and so on.
static const char* chain_over(uint32_t length) {
  static char text[2048];
  size_t used = (size_t)snprintf(text, sizeof(text),
                                 "func.func @twice(%%x: i32) -> i32 {\n"
                                 "  %%y = tfrt.add.i32 %%x, %%x\n"
                                 "  tfrt.return %%y : i32\n"
                                 "}\n"
                                 "func.func @main(%%v0: i32) -> i32 {\n");
  for (uint32_t i = 0; i < length; ++i) {
    used += (size_t)snprintf(text + used, sizeof(text) - used,
                             "  %%v%u = tfrt.call @twice(%%v%u) {host = %u : i32} : (i32) -> i32\n",
                             i + 1, i, i + 1);
  }
  snprintf(text + used, sizeof(text) - used, "  tfrt.return %%v%u : i32\n}\n", length);
  return text;
}

START_TEST(a_chain_of_calls_is_shipped_at_once_and_takes_one_delay_more_than_it_has_hosts) {
  for (uint32_t length = 1; length < MAX_HOSTS; ++length) {
    begin(length + 1);
    start_number(chain_over(length), 1);
    warm_up();
    start_number(chain_over(length), 1);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 1 << length);
    int64_t begun_ns =
        tfrt_frame_oracle_last_ns(world.frames, length + 1, 0, TFRT_WIRE_FRAME_JOB_START);
    int64_t ended_ns = tfrt_frame_oracle_last_ns(world.frames, length, 0, TFRT_WIRE_FRAME_RESULT);
    ck_assert_int_le(ended_ns - begun_ns, (length + 1) * DELAY + DELAY / 10);
    for (uint32_t host = 1; host <= length; ++host) {
      int64_t shipped_ns = tfrt_frame_oracle_last_ns(world.frames, 0, host, TFRT_WIRE_FRAME_INVOKE);
      ck_assert_int_le(shipped_ns - begun_ns, DELAY + DELAY / 10);
    }
    end();
  }
}
END_TEST

START_TEST(a_job_opens_on_all_hosts_at_once_and_its_client_is_on_the_way_of_no_call) {
  int64_t opened_ns = 0;
  for (uint32_t hosts = 2; hosts < MAX_HOSTS; ++hosts) {
    begin(hosts);
    start_number(chain_over(hosts - 1), 1);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 1 << (hosts - 1));
    int64_t last_ns = 0;
    for (uint32_t host = 0; host < hosts; ++host) {
      ck_assert_uint_eq(count(hosts, host, TFRT_WIRE_FRAME_JOB_OPEN), 1);
      int64_t ns = tfrt_frame_oracle_last_ns(world.frames, host, hosts, TFRT_WIRE_FRAME_JOB_OPENED);
      if (ns > last_ns) last_ns = ns;
      if (host == 0) continue;
      ck_assert_uint_eq(count(hosts, host, TFRT_WIRE_FRAME_INVOKE), 0);
      ck_assert_uint_eq(count(hosts, host, TFRT_WIRE_FRAME_WANT), 0);
      ck_assert_uint_eq(count(host, hosts, TFRT_WIRE_FRAME_RESULT), 0);
      ck_assert_uint_eq(count(host, hosts, TFRT_WIRE_FRAME_RESOLVE), 0);
    }
    ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_JOB_OPEN), hosts);
    ck_assert_int_gt(last_ns, 0);
    if (hosts == 2) opened_ns = last_ns;
    ck_assert_int_le(last_ns, opened_ns + DELAY / 10);
    end();
  }
}
END_TEST

START_TEST(each_call_of_a_chain_costs_one_invoke_one_push_and_a_release) {
  begin(4);
  start_number(chain_over(3), 5);
  warm_up();
  start_number(chain_over(3), 5);
  tfrt_node_world_await(&world);
  drop_results();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  for (uint32_t host = 1; host <= 3; ++host) {
    ck_assert_uint_eq(count(0, host, TFRT_WIRE_FRAME_INVOKE), 1);
    // The callee sends the result as soon as it is known, maybe before the call is done.
    ck_assert_uint_le(count(host, 0, TFRT_WIRE_FRAME_RESULT), 2);
    ck_assert_uint_eq(tfrt_frame_oracle_released(world.frames, 0, host), 1);
    ck_assert_uint_le(count(0, host, TFRT_WIRE_FRAME_RELEASE), 1);
  }
  for (uint32_t host = 1; host < 3; ++host) {
    ck_assert_uint_eq(count(host, host + 1, TFRT_WIRE_FRAME_PUSH), 1);
  }
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_INVOKE), 3);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_PUSH), 2);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_WANT), 0);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_RESOLVE), 0);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_RETAIN), 0);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_PROGRAM), 0);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_CANCEL), 0);
  end();
}
END_TEST

// A program that calls @pair, which has two results, |count| times on host 1, one call after the
// other has been made.
static const char* pairs_of(uint32_t count) {
  static char text[16384];
  size_t used = (size_t)snprintf(text, sizeof(text),
                                 "func.func @pair(%%x: i32) -> (i32, i32) {\n"
                                 "  %%y = tfrt.add.i32 %%x, %%x\n"
                                 "  %%z = tfrt.add.i32 %%y, %%x\n"
                                 "  tfrt.return %%y, %%z : i32, i32\n"
                                 "}\n"
                                 "func.func @main(%%v: i32) -> (i32, i32) {\n");
  for (uint32_t i = 0; i < count; ++i) {
    used += (size_t)snprintf(
        text + used, sizeof(text) - used,
        "  %%a%u, %%b%u = tfrt.call @pair(%%v) {host = 1 : i32} : (i32) -> (i32, i32)\n", i, i);
  }
  snprintf(text + used, sizeof(text) - used, "  tfrt.return %%a%u, %%b0 : i32, i32\n}\n",
           count - 1);
  return text;
}

START_TEST(results_of_many_calls_are_given_back_by_few_messages) {
  const uint32_t calls = 100;
  begin(2);
  tfrt_node_world_start_i32(&world, pairs_of(calls), 7, 2);
  warm_up();
  tfrt_node_world_start_i32(&world, pairs_of(calls), 7, 2);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 14);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 21);
  drop_results();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(count(0, 1, TFRT_WIRE_FRAME_INVOKE), calls);
  // Each of the results, once, and some sixty in a message.
  ck_assert_uint_eq(tfrt_frame_oracle_released(world.frames, 0, 1), 2 * calls);
  ck_assert_uint_le(count(0, 1, TFRT_WIRE_FRAME_RELEASE), 2 * calls / 40);
  end();
}
END_TEST

// The cost of barriers behind one another, for four hosts together.
typedef struct barriers_cost_s {
  uint64_t messages;
  uint64_t released;  // names of results that were given back
} barriers_cost_t;

static uint64_t released_by_all(void) {
  uint64_t released = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    for (uint32_t j = 0; j < 4; ++j) {
      if (i != j) released += tfrt_frame_oracle_released(world.frames, i, j);
    }
  }
  return released;
}

static barriers_cost_t cost_of_barriers(int32_t barriers) {
  static const char program[] =
      "func.func @turns(%count: i32) -> !tfrt.chain {\n"
      "  %g = tfrt_dist.world\n"
      "  %c = tfrt.new.chain\n"
      "  %r:2 = tfrt.repeat.i32 %count, %g, %c : !tfrt_dist.group, !tfrt.chain {\n"
      "    %d = tfrt_dist.barrier %g, %c\n"
      "    tfrt.return %g, %d : !tfrt_dist.group, !tfrt.chain\n"
      "  }\n"
      "  tfrt.return %r#1 : !tfrt.chain\n"
      "}\n"
      "func.func @main(%count: i32) -> !tfrt.chain {\n"
      "  %l = tfrt_dist.call_all @turns(%count) : (i32) -> (!tfrt_dist.list)\n"
      "  %me = tfrt_dist.rank\n"
      "  %r = tfrt_dist.list.get %l, %me : !tfrt.chain\n"
      "  tfrt.return %r : !tfrt.chain\n"
      "}\n";
  begin(4);
  start_number(program, 1);
  warm_up();
  uint64_t before = tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL);
  start_number(program, barriers);
  tfrt_node_world_await(&world);
  barriers_cost_t cost = {
      .messages =
          tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL) - before};
  drop_results();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  cost.released = released_by_all();
  // Nor does a host keep what nobody gives back.
  for (uint32_t i = 0; i < 4; ++i) {
    ck_assert_uint_lt(tfrt_node_counts(world.hosts[i].node).objects, 10);
  }
  end();
  return cost;
}

START_TEST(a_barrier_costs_one_message_for_each_host_and_round) {
  // Two rounds. Acknowledgements go with messages of the other direction, or many at once.
  const uint64_t barriers = 200;
  barriers_cost_t few = cost_of_barriers(10);
  barriers_cost_t many = cost_of_barriers(10 + (int32_t)barriers);
  ck_assert_uint_ge(many.messages - few.messages, barriers * 4 * 2);
  ck_assert_uint_le(many.messages - few.messages, barriers * (4 * 2 + 1));
  ck_assert_uint_eq(many.released, few.released);
}
END_TEST

// Four calls that don't wait for each other, each with a constant of its own.
static const char independent_calls[] =
    "func.func @twice(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%v: i32) -> i32 {\n"
    "  %c1 = tfrt.constant.i32 1\n"
    "  %w1 = tfrt.call @twice(%c1) {host = 1 : i32} : (i32) -> i32\n"
    "  %c2 = tfrt.constant.i32 2\n"
    "  %w2 = tfrt.call @twice(%c2) {host = 1 : i32} : (i32) -> i32\n"
    "  %c3 = tfrt.constant.i32 3\n"
    "  %w3 = tfrt.call @twice(%c3) {host = 1 : i32} : (i32) -> i32\n"
    "  %c4 = tfrt.constant.i32 4\n"
    "  %w4 = tfrt.call @twice(%c4) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %w4 : i32\n"
    "}\n";

START_TEST(constants_go_with_the_calls_that_use_them_and_none_is_asked_for) {
  begin(2);
  start_number(independent_calls, 0);
  warm_up();
  start_number(independent_calls, 0);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 8);
  drop_results();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(count(0, 1, TFRT_WIRE_FRAME_INVOKE), 4);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_WANT), 0);
  end();
}
END_TEST

// The same as a chain with texts, each as long as the one before.
static const char* texts_over(uint32_t length) {
  static char text[4096];
  size_t used =
      (size_t)snprintf(text, sizeof(text),
                       "func.func @copy(%%s: !tfrt.string) -> !tfrt.string {\n"
                       "  %%e = \"tfrt_test.get_string\"() {value = \"\"} : () -> !tfrt.string\n"
                       "  %%t = \"tfrt_test.append_string\"(%%s, %%e)\n"
                       "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
                       "  tfrt.return %%t : !tfrt.string\n"
                       "}\n"
                       "func.func @main(%%v0: !tfrt.string) -> !tfrt.string {\n");
  for (uint32_t i = 0; i < length; ++i) {
    used += (size_t)snprintf(text + used, sizeof(text) - used,
                             "  %%v%u = tfrt.call @copy(%%v%u) {host = %u : i32}\n"
                             "      : (!tfrt.string) -> !tfrt.string\n",
                             i + 1, i, i + 1);
  }
  snprintf(text + used, sizeof(text) - used, "  tfrt.return %%v%u : !tfrt.string\n}\n", length);
  return text;
}

static void take_little_inline(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->session.limits.inline_bytes = 100;
}

START_TEST(who_takes_little_inline_is_lent_what_is_larger) {
  static const size_t sizes[] = {100, 101};
  tfrt_node_world_set_configure(take_little_inline);
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(sizes); ++i) {
    begin(2);
    start_text(texts_over(1), sizes[i], 1);
    warm_up();
    start_text(texts_over(1), sizes[i], 1);
    tfrt_node_world_await(&world);
    ck_assert(!tfrt_async_value_is_error(world.results[0]));
    drop_results();
    ck_assert_uint_eq(count(1, 0, TFRT_WIRE_FRAME_WANT), i);
    end();
  }
  tfrt_node_world_set_configure(NULL);
}
END_TEST

// The bytes of payloads on each link so far.
typedef uint64_t link_bytes_t[MAX_HOSTS][MAX_HOSTS];

static void read_links(link_bytes_t out_bytes) {
  for (uint32_t i = 0; i < world.host_count; ++i) {
    for (uint32_t j = 0; j < world.host_count; ++j) {
      out_bytes[i][j] = tfrt_node_world_bulk_bytes(&world, i, j);
    }
  }
}

START_TEST(payloads_of_a_chain_go_from_each_host_to_the_next_once_and_nowhere_else) {
  static const uint32_t lengths[] = {2, 4, 8};
  const uint64_t size = 200 * KIB;
  uint32_t length = lengths[_i];
  begin(length + 1);
  start_text(texts_over(length), size, 1);
  warm_up();
  link_bytes_t before;
  link_bytes_t after;
  read_links(before);
  start_text(texts_over(length), size, 1);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, size);
  read_links(after);
  for (uint32_t i = 0; i <= length; ++i) {
    for (uint32_t j = 0; j <= length; ++j) {
      uint64_t bytes = after[i][j] - before[i][j];
      // The bytes around a payload: the chunks' other fields, and windows.
      uint64_t around = 2 * KIB;
      // Host 1 has the argument from the client.
      bool is_way = i > 0 && j == i + 1;
      ck_assert_uint_ge(bytes, is_way ? size : 0);
      ck_assert_uint_le(bytes, (is_way ? size : 0) + around);
      ck_assert_uint_eq(count(i, j, TFRT_WIRE_FRAME_INVOKE), i == 0 && j > 0);
      ck_assert_uint_eq(count(j, i, TFRT_WIRE_FRAME_WANT), is_way);
      ck_assert_uint_le(count(i, j, TFRT_WIRE_FRAME_RESOLVE), is_way);
    }
  }
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_RETAIN), 0);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_PUSH), 0);
  end();
}
END_TEST

// Host 2 has taken the payload of host 1, to which it has nothing else to say.
START_TEST(who_has_taken_a_payload_says_so_at_once_only_if_its_owner_keeps_much_for_it) {
  for (int is_large = 0; is_large <= 1; ++is_large) {
    size_t size = is_large ? 2 * TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE : 200 * KIB;
    begin(3);
    start_text(texts_over(2), size, 1);
    warm_up();
    start_text(texts_over(2), size, 1);
    tfrt_node_world_await(&world);
    tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
    ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_UNWANT), 1);
    int64_t told_ns = tfrt_frame_oracle_last_ns(world.frames, 2, 1, TFRT_WIRE_FRAME_UNWANT);
    int64_t done_ns = tfrt_frame_oracle_last_ns(world.frames, 2, 0, TFRT_WIRE_FRAME_RESULT);
    ck_assert_int_eq(told_ns > done_ns + DELAY, !is_large);
    ck_assert_int_lt(told_ns, done_ns + 20 * TFRT_NANOSECONDS_PER_MILLISECOND);
    end();
  }
}
END_TEST

// --- Hand-over ---------------------------------------------------------------

#define PASS                                              \
  "func.func @same(%s: !tfrt.string) -> !tfrt.string {\n" \
  "  tfrt.return %s : !tfrt.string\n"                     \
  "}\n"
#define CALL " : (!tfrt.string) -> !tfrt.string\n"

// Host 3 is lent a value of host 1 through two hosts that don't look at it.
static const char relay_program[] = PASS
    "func.func @double(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %t = \"tfrt_test.append_string\"(%s, %s)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @relay(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %t = tfrt.call @double(%s) {host = 3 : i32}" CALL
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
    "  %b = tfrt.call @relay(%a) {host = 2 : i32}" CALL
    "  tfrt.return %b : !tfrt.string\n"
    "}\n";

START_TEST(a_value_that_is_passed_on_costs_its_owner_one_want_however_many_hosts_pass_it) {
  begin(4);
  start_text(relay_program, 100 * KIB, 1);
  warm_up();
  uint64_t relayed = tfrt_node_world_bulk_bytes(&world, 1, 2);
  uint64_t rooted = tfrt_node_world_bulk_bytes(&world, 1, 0);
  uint64_t used = tfrt_node_world_bulk_bytes(&world, 1, 3);
  start_text(relay_program, 100 * KIB, 1);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 400 * KIB);
  ck_assert_uint_eq(count(3, 1, TFRT_WIRE_FRAME_WANT), 1);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_WANT), 0);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_RETAIN), 0);
  ck_assert_uint_eq(tfrt_node_world_bulk_bytes(&world, 1, 2), relayed);
  ck_assert_uint_eq(tfrt_node_world_bulk_bytes(&world, 1, 0), rooted);
  ck_assert_uint_ge(tfrt_node_world_bulk_bytes(&world, 1, 3), used + 200 * KIB);
  end();
}
END_TEST

// Host 2 keeps a value of host 1 in a list, and gives it away after calls that take their time.
static const char keep_program[] = PASS
    "func.func @make(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %t = \"tfrt_test.append_string\"(%s, %s)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @keep(%s: !tfrt.string) -> !tfrt_dist.list {\n"
    "  %l = tfrt_dist.call_all @same(%s) : (!tfrt.string) -> (!tfrt_dist.list)\n"
    "  tfrt.return %l : !tfrt_dist.list\n"
    "}\n"
    "func.func @next(%x: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %y = tfrt.add.i32 %x, %one\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @pick(%l: !tfrt_dist.list, %i: i32) -> !tfrt.string {\n"
    "  %s = tfrt_dist.list.get %l, %i : !tfrt.string\n"
    "  tfrt.return %s : !tfrt.string\n"
    "}\n"
    "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
    "  %a = tfrt.call @make(%s) {host = 1 : i32}" CALL
    "  %l = tfrt.call @keep(%a) {host = 2 : i32} : (!tfrt.string) -> !tfrt_dist.list\n"
    "  %x0 = tfrt.constant.i32 0\n"
    "  %x1 = tfrt.call @next(%x0) {host = 3 : i32} : (i32) -> i32\n"
    "  %y1 = tfrt.call @next(%x1) : (i32) -> i32\n"
    "  %x2 = tfrt.call @next(%y1) {host = 3 : i32} : (i32) -> i32\n"
    "  %y2 = tfrt.call @next(%x2) : (i32) -> i32\n"
    "  %x3 = tfrt.call @next(%y2) {host = 3 : i32} : (i32) -> i32\n"
    "  %y3 = tfrt.call @next(%x3) : (i32) -> i32\n"
    "  %x4 = tfrt.call @next(%y3) {host = 3 : i32} : (i32) -> i32\n"
    "  %m = tfrt.constant.i32 -5\n"
    "  %i = tfrt.add.i32 %x4, %m\n"
    "  %b = tfrt.call @pick(%l, %i) {host = 2 : i32} : (!tfrt_dist.list, i32) -> !tfrt.string\n"
    "  tfrt.return %b : !tfrt.string\n"
    "}\n";

static bool is_kept(void* argument) {
  (void)argument;
  return count_all(TFRT_WIRE_FRAME_RETAINED) > 0 && count(2, 0, TFRT_WIRE_FRAME_RESULT) >= 2;
}

START_TEST(what_is_kept_is_retained_and_its_call_is_done_before_its_payload_comes) {
  begin(4);
  start_text(keep_program, 100 * KIB, 1);
  warm_up();
  uint64_t before = tfrt_node_world_bulk_bytes(&world, 1, 2);
  start_text(keep_program, 100 * KIB, 1);
  // First the list, then done, before anybody has looked into it.
  ck_assert(tfrt_simulated_network_run_until(world.network, is_kept, NULL, TFRT_NODE_WORLD_SECOND));
  ck_assert_uint_eq(tfrt_node_world_bulk_bytes(&world, 1, 2), before);
  // By host 2, from host 1 or from the root, whichever has named it; the others only pass it on.
  ck_assert_uint_eq(count(2, 0, TFRT_WIRE_FRAME_RETAIN) + count(2, 1, TFRT_WIRE_FRAME_RETAIN), 1);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_RETAIN), 1);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 200 * KIB);
  end();
}
END_TEST

START_TEST(what_is_kept_outlives_who_lent_it_under_any_order_of_messages) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    options.seed = seed;
    options.jitter_ns = (int64_t)(seed % 20) * options.delay_ns;
    options.break_chance = seed % 3 == 0 ? 10000 : 0;
    tfrt_node_world_initialize(&world, 4, &options);
    start_text(keep_program, 10 * KIB, 1);
    tfrt_node_world_await(&world);
    ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 20 * KIB);
    end();
  }
}
END_TEST

// --- Faults ------------------------------------------------------------------

// All errors of one loss have the same root in both results; which host noticed the loss makes no
// difference.
static const char loss_program[] =
    "func.func @twice(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%v: i32) -> (i32, i32) {\n"
    "  %x = tfrt.call @twice(%v) {host = 1 : i32} : (i32) -> i32\n"
    "  %y = tfrt.call @twice(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  %z = tfrt.call @twice(%y) {host = 3 : i32} : (i32) -> i32\n"
    "  tfrt.return %y, %z : i32, i32\n"
    "}\n";

START_TEST(the_loss_of_an_owner_while_it_sends_has_one_root_wherever_it_is_noticed) {
  uint32_t losses = 0;
  for (int64_t delay_us = 0; delay_us < 700; delay_us += 20) {
    begin(4);
    start_number(chain_over(3), 1);
    warm_up();
    tfrt_async_value_t* argument = tfrt_async_value_create_i32(3);
    tfrt_node_world_start(&world, loss_program, &argument, 1, 2);
    tfrt_async_value_release(argument);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    for (uint32_t i = 0; i < 2; ++i) {
      if (!tfrt_async_value_is_error(world.results[i])) {
        ck_assert_int_eq(tfrt_node_world_i32(&world, i), 12 << i);
        continue;
      }
      const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, i));
      ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
      ck_assert_uint_eq(fields->root_key, 0x1001);
      ++losses;
    }
    end();
  }
  ck_assert_uint_gt(losses, 0);
}
END_TEST

START_TEST(a_cancel_that_crosses_the_result_changes_nothing_but_the_result) {
  uint64_t crossed = 0;
  for (int64_t delay_us = 0; delay_us < 800; delay_us += 20) {
    begin(2);
    start_number(chain_over(1), 1);
    warm_up();
    start_number(chain_over(1), 4);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
    tfrt_node_world_await(&world);
    drop_results();
    tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
    uint64_t calls = count(0, 1, TFRT_WIRE_FRAME_INVOKE);
    ck_assert_uint_eq(count(1, 0, TFRT_WIRE_FRAME_RESULT), calls);
    ck_assert_uint_eq(tfrt_frame_oracle_released(world.frames, 0, 1),
                      calls + count(0, 1, TFRT_WIRE_FRAME_VOID));
    ck_assert_uint_eq(tfrt_frame_oracle_open_calls(world.frames), 0);
    crossed += count(0, 1, TFRT_WIRE_FRAME_CANCEL);
    end();
  }
  ck_assert_uint_gt(crossed, 0);
}
END_TEST

START_TEST(what_is_sent_again_after_a_break_is_processed_once) {
  uint64_t replayed = 0;
  for (int64_t delay_us = 0; delay_us < 800; delay_us += 20) {
    begin(4);
    start_number(chain_over(3), 1);
    warm_up();
    start_number(chain_over(3), 4);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_node_world_break(&world, 0, 1);
    tfrt_node_world_break(&world, 1, 2);
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 32);
    ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_INVOKE), 3);
    ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_PUSH), 2);
    ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_WANT), 0);
    for (uint32_t i = 0; i < 4; ++i) {
      tfrt_session_counters_t counters;
      tfrt_node_session_counters(world.hosts[i].node, &counters);
      replayed += counters.frames_replayed;
    }
    end();
  }
  ck_assert_uint_gt(replayed, 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* counts = tcase_create("message_count");
  tcase_set_timeout(counts, 60);
  tcase_add_test(counts,
                 a_chain_of_calls_is_shipped_at_once_and_takes_one_delay_more_than_it_has_hosts);
  tcase_add_test(counts, a_job_opens_on_all_hosts_at_once_and_its_client_is_on_the_way_of_no_call);
  tcase_add_test(counts, each_call_of_a_chain_costs_one_invoke_one_push_and_a_release);
  tcase_add_test(counts, results_of_many_calls_are_given_back_by_few_messages);
  tcase_add_test(counts, a_barrier_costs_one_message_for_each_host_and_round);
  tcase_add_test(counts, constants_go_with_the_calls_that_use_them_and_none_is_asked_for);
  tcase_add_test(counts, who_takes_little_inline_is_lent_what_is_larger);
  tcase_add_loop_test(
      counts, payloads_of_a_chain_go_from_each_host_to_the_next_once_and_nowhere_else, 0, 3);
  tcase_add_test(counts,
                 who_has_taken_a_payload_says_so_at_once_only_if_its_owner_keeps_much_for_it);
  tcase_add_test(counts,
                 a_value_that_is_passed_on_costs_its_owner_one_want_however_many_hosts_pass_it);
  tcase_add_test(counts, what_is_kept_is_retained_and_its_call_is_done_before_its_payload_comes);
  tcase_add_test(counts, what_is_kept_outlives_who_lent_it_under_any_order_of_messages);
  tcase_add_test(counts, the_loss_of_an_owner_while_it_sends_has_one_root_wherever_it_is_noticed);
  tcase_add_test(counts, a_cancel_that_crosses_the_result_changes_nothing_but_the_result);
  tcase_add_test(counts, what_is_sent_again_after_a_break_is_processed_once);
  Suite* suite = suite_create("message_count");
  suite_add_tcase(suite, counts);
  return suite;
}
