// SPDX-License-Identifier: Apache-2.0
//
// Results of a collective's messages wait for company, and so do those of a loop's calls whose
// results go to calls on other hosts alone. The end of the run waits for no timer.
#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define DELAY (100 * TFRT_NANOSECONDS_PER_MICROSECOND)
// A frame that waits for company goes alone after this time (TFRT_WIRE_COMPANY_MS).
#define COMPANY (10 * TFRT_NANOSECONDS_PER_MILLISECOND)
#define HOSTS 4
// In a chain over 3 hosts two calls of a turn go to other hosts alone.
#define TURNS_AT_ONCE (TFRT_TUNING_LOOP_CALLS / 2)

static tfrt_node_world_t world;
static uint64_t call_room;  // of each host for each other; 0: the default

static uint64_t count(uint32_t from, uint32_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count(world.frames, from, to, kind);
}

static int64_t last_ns(uint32_t from, uint32_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_last_ns(world.frames, from, to, kind);
}

static int64_t now_ns(void) {
  return tfrt_clock_now_ns(tfrt_simulated_network_clock(world.network));
}

static void configure(uint32_t index, tfrt_node_options_t* options) {
  (void)index;
  if (call_room) options->session.first_call_limit = call_room;
}

// Every message takes the same time.
static void begin(void) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.delay_ns = DELAY;
  options.jitter_ns = 0;
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, HOSTS, &options);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
  tfrt_node_world_set_configure(NULL);
  call_room = 0;
}

static void drop_results(void) {
  for (uint32_t i = 0; i < world.result_count; ++i) tfrt_async_value_release(world.results[i]);
  world.result_count = 0;
}

#define CALL(RESULT, FUNCTION, ARGUMENT, HOST)                            \
  "  %" RESULT " = tfrt.call @" FUNCTION "(%" ARGUMENT ") {host = " #HOST \
  " : i32} : (i32) -> "                                                   \
  "i32\n"

#define FUNCTIONS \
  "func.func @next(%x: i32) -> i32 {\n" \
  "  %one = tfrt.constant.i32 1\n" \
  "  %y = tfrt.add.i32 %x, %one\n" \
  "  tfrt.return %y : i32\n" \
  "}\n" \
  "func.func @zero(%x: i32) -> i32 {\n" \
  "  %y = tfrt.constant.i32 0\n" \
  "  tfrt.return %y : i32\n" \
  "}\n" \
  "func.func @divide(%x: i32) -> i32 {\n" \
  "  %zero = tfrt.constant.i32 0\n" \
  "  %y, %r = tfrt.div.i32 %x, %zero\n" \
  "  tfrt.return %y : i32\n" \
  "}\n" \
  "func.func @far(%x: i32) -> i32 {\n" \
  CALL("a", "next", "x", 3) CALL("b", "next", "a", 2) CALL("c", "next", "b", 3) \
  "  %y = tfrt.add.i32 %a, %c\n" \
  "  tfrt.return %y : i32\n" \
  "}\n"

// A loop until |BODY|, which is given %v and makes %w, has given as much as the argument.
#define LOOP(BODY)                                                      \
  FUNCTIONS                                                             \
  "func.func @main(%n: i32) -> i32 {\n"                                 \
  "  %zero = tfrt.constant.i32 0\n"                                     \
  "  %true = tfrt.constant.i1 1\n"                                      \
  "  %r:2 = tfrt.while %true @turn(%zero, %n) parallel_iterations(1)\n" \
  "      : (i32, i32) -> (i32, i32)\n"                                  \
  "  tfrt.return %r#0 : i32\n"                                          \
  "}\n"                                                                 \
  "func.func @turn(%v: i32, %n: i32) -> (i32, i32, i1) {\n" BODY        \
  "  %one = tfrt.constant.i32 1\n"                                      \
  "  %u = tfrt.add.i32 %w, %one\n"                                      \
  "  %again = \"tfrt.lessequal.i32\"(%u, %n) : (i32, i32) -> (i1)\n"    \
  "  tfrt.return %w, %n, %again : i32, i32, i1\n"                       \
  "}\n"

#define CHAIN CALL("a", "next", "v", 1) CALL("b", "next", "a", 2) CALL("w", "next", "b", 3)

// Runs |program| to its end, until the argument |n|, and then counts from there on.
static void warm_up(const char* program, int32_t n) {
  tfrt_node_world_start_i32(&world, program, n, 1);
  tfrt_node_world_await(&world);
  drop_results();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_frame_oracle_reset_counts(world.frames);
}

static void run(const char* program, int32_t n, int32_t expected) {
  tfrt_node_world_start_i32(&world, program, n, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), expected);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
}

// How many messages |turns| turns of |program| take; each turn adds three.
static uint64_t messages_of(const char* program, int32_t turns) {
  begin();
  warm_up(program, 1);
  uint64_t before = tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL);
  tfrt_node_world_start_i32(&world, program, 3 * turns, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 3 * turns);
  uint64_t messages =
      tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL) - before;
  end();
  return messages;
}

static double messages_of_a_turn(const char* program) {
  const int32_t turns = 400;
  return (double)(messages_of(program, 10 + turns) - messages_of(program, 10)) / turns;
}

START_TEST(results_that_go_to_other_hosts_alone_share_batches) {
  // Three Invokes, two Pushes, and from the last host what it gives and that it is done.
  double messages = messages_of_a_turn(LOOP(CHAIN));
  ck_assert_double_le(messages, 7.5);
}
END_TEST

START_TEST(a_result_that_is_used_here_comes_at_once) {
  // So two of the three hosts tell theirs.
  double messages = messages_of_a_turn(LOOP(CHAIN "  %z = tfrt.add.i32 %a, %a\n"));
  ck_assert_double_ge(messages, 7.9);
  ck_assert_double_le(messages, 8.5);
}
END_TEST

START_TEST(the_end_of_a_loop_is_hurried) {
  begin();
  static const char program[] = LOOP(CHAIN);
  warm_up(program, 1);
  const uint64_t turns = TURNS_AT_ONCE + 4;
  run(program, 3 * (int32_t)turns, 3 * (int32_t)turns);
  for (uint32_t host = 1; host < HOSTS; ++host) {
    ck_assert_uint_eq(count(0, host, TFRT_WIRE_FRAME_INVOKE), turns);
    // All of it takes less time than Results wait.
    ck_assert_uint_eq(count(0, host, TFRT_WIRE_FRAME_HURRY), host < 3 ? turns - TURNS_AT_ONCE : 0);
    ck_assert_uint_ge(count(host, 0, TFRT_WIRE_FRAME_RESULT), turns);
  }
  int64_t decided_ns = last_ns(3, 0, TFRT_WIRE_FRAME_RESULT);
  for (uint32_t host = 1; host < 3; ++host) {
    ck_assert_int_le(last_ns(host, 0, TFRT_WIRE_FRAME_RESULT) - decided_ns, 2 * DELAY + DELAY / 10);
  }
  int64_t ended_ns = last_ns(0, HOSTS, TFRT_WIRE_FRAME_JOB_END);
  ck_assert_int_le(ended_ns - decided_ns, 3 * DELAY + DELAY / 10);
  end();
}
END_TEST

START_TEST(what_members_of_a_group_send_each_other_at_last_is_hurried) {
  begin();
  static const char program[] =
      "func.func @meet(%x: i32) -> !tfrt.chain {\n"
      "  %world = tfrt_dist.world\n"
      "  %ch0 = tfrt.new.chain\n"
      "  %ch1 = tfrt_dist.barrier %world, %ch0\n"
      "  tfrt.return %ch1 : !tfrt.chain\n"
      "}\n"
      "func.func @main(%x: i32) -> i32 {\n"
      "  %l = tfrt_dist.call_all @meet(%x) : (i32) -> (!tfrt_dist.list)\n"
      "  %n = tfrt_dist.list.size %l\n"
      "  tfrt.return %n : i32\n"
      "}\n";
  warm_up(program, 1);
  int64_t begin_ns = now_ns();
  run(program, 1, HOSTS);
  // Start and Invoke, two rounds of the barrier, Hurry and Result, that the call is done, and End.
  int64_t ended_ns = last_ns(0, HOSTS, TFRT_WIRE_FRAME_JOB_END);
  ck_assert_int_le(ended_ns - begin_ns, 9 * DELAY);
  // When the run is over, nobody remembers how often they have met in it.
  for (uint32_t host = 0; host < HOSTS; ++host) {
    const tfrt_list_link_t* jobs = &world.hosts[host].node->jobs;
    ck_assert_ptr_ne(jobs->next, jobs);
    const tfrt_job_t* job = TFRT_CONTAINER_OF(jobs->next, tfrt_job_t, link);
    ck_assert(tfrt_list_is_empty(&job->exchange.turns.series));
  }
  end();
}
END_TEST

START_TEST(a_host_that_is_hurried_before_the_result_is_known_tells_it_at_once) {
  begin();
  // Only host 2 gets the result of @far, and doesn't look at it. It takes as long as some turns.
  static const char program[] =
      LOOP(CALL("a", "far", "v", 1) CALL("b", "zero", "a", 2) CALL("w", "next", "v", 3));
  warm_up(program, 1);
  run(program, 40, 40);
  ck_assert_uint_gt(count(0, 1, TFRT_WIRE_FRAME_HURRY), 1);
  // The last one was not known when it was hurried. When host 1 has the last of what it called for,
  // it pushes and tells; and when those calls are done, that its own is.
  int64_t known_ns = last_ns(3, 1, TFRT_WIRE_FRAME_RESULT);
  ck_assert_int_gt(known_ns, last_ns(0, 1, TFRT_WIRE_FRAME_HURRY));
  ck_assert_int_le(last_ns(1, 2, TFRT_WIRE_FRAME_PUSH) - known_ns, DELAY + DELAY / 10);
  ck_assert_int_le(last_ns(1, 0, TFRT_WIRE_FRAME_RESULT) - known_ns, 4 * DELAY + DELAY / 10);
  end();
}
END_TEST

// As many calls in a row as a loop makes until its Results wait, and more: none has ended when the
// last one is made.
#define PAIR(V, W, X) CALL(W, "next", V, 1) CALL(X, "next", W, 2)
#define FIRST PAIR("v", "a1", "b1") PAIR("b1", "a2", "b2") PAIR("b2", "a3", "b3")
#define SECOND PAIR("b3", "a4", "b4") PAIR("b4", "a5", "b5") PAIR("b5", "a6", "b6")
#define THIRD PAIR("b6", "a7", "b7") PAIR("b7", "a8", "b8") PAIR("b8", "a9", "b9")
#define ROW FIRST SECOND THIRD CALL("w", "next", "b9", 3)

// The chain in a function of its own, in a function that another one calls, and a long one.
static const char* const once[] = {
    FUNCTIONS "func.func @main(%v: i32) -> i32 {\n" CHAIN "  tfrt.return %w : i32\n}\n",
    FUNCTIONS "func.func @chain(%v: i32) -> i32 {\n" CHAIN
              "  tfrt.return %w : i32\n}\n"
              "func.func @main(%v: i32) -> i32 {\n"
              "  %r = tfrt.call @chain(%v) : (i32) -> i32\n"
              "  tfrt.return %r : i32\n}\n",
    FUNCTIONS "func.func @main(%v: i32) -> i32 {\n" ROW "  tfrt.return %w : i32\n}\n"};

START_TEST(calls_that_are_made_once_are_told_at_once_and_not_hurried) {
  begin();
  const bool is_row = _i == 2;
  warm_up(once[_i], 1);
  run(once[_i], 1, is_row ? 20 : 4);
  for (uint32_t host = 1; host < HOSTS; ++host) {
    ck_assert_uint_eq(count(0, host, TFRT_WIRE_FRAME_HURRY), 0);
    int64_t invoked_ns = last_ns(0, host, TFRT_WIRE_FRAME_INVOKE);
    uint32_t place = is_row ? 16 + host : host;
    ck_assert_int_le(last_ns(host, 0, TFRT_WIRE_FRAME_RESULT) - invoked_ns,
                     place * DELAY + DELAY / 10);
  }
  end();
}
END_TEST

START_TEST(an_error_comes_at_once) {
  begin();
  // The loop goes on with the other chain for longer than results wait.
  static const char program[] =
      LOOP(CALL("a", "divide", "v", 1) CALL("b", "next", "a", 2) CALL("w", "next", "v", 3));
  warm_up(program, 1);
  tfrt_node_world_start_i32(&world, program, 1000, 1);
  tfrt_node_world_run_for(&world, COMPANY / 2);
  // A turn takes two delays.
  ck_assert_uint_ge(count(1, 0, TFRT_WIRE_FRAME_RESULT), 15);
  tfrt_node_world_await(&world);
  end();
}
END_TEST

START_TEST(little_credit_is_given_back_at_once) {
  call_room = 4;
  begin();
  static const char program[] = LOOP(CHAIN);
  warm_up(program, 1);
  int64_t begin_ns = now_ns();
  const int64_t turns = 100;
  tfrt_node_world_start_i32(&world, program, 300, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 300);
  ck_assert_int_le(now_ns() - begin_ns, (turns + 2) * 5 * DELAY + COMPANY);
  end();
}
END_TEST

// At each tenth of a turn of the loop, some host dies.
START_TEST(who_is_lost_in_the_middle_leaves_an_error_and_nothing_else) {
  begin();
  tfrt_node_world_start_i32(&world, LOOP(CHAIN), 1 << 20, 1);
  tfrt_node_world_run_for(&world, COMPANY + _i * DELAY / 2);
  uint32_t rank = 1 + (uint32_t)_i % 3;
  tfrt_node_world_kill(&world, rank);
  tfrt_node_world_await(&world);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(fields->root_key, 0x1000 + rank);
  end();
}
END_TEST

START_TEST(a_cancel_in_the_middle_leaves_nothing) {
  begin();
  tfrt_node_world_start_i32(&world, LOOP(CHAIN), 1 << 20, 1);
  tfrt_node_world_run_for(&world, COMPANY + _i * DELAY / 2);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)), TFRT_STATUS_CANCELLED);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* unawaited = tcase_create("unawaited");
  tcase_set_timeout(unawaited, 60);
  tcase_add_test(unawaited, results_that_go_to_other_hosts_alone_share_batches);
  tcase_add_test(unawaited, a_result_that_is_used_here_comes_at_once);
  tcase_add_test(unawaited, the_end_of_a_loop_is_hurried);
  tcase_add_test(unawaited, what_members_of_a_group_send_each_other_at_last_is_hurried);
  tcase_add_test(unawaited, a_host_that_is_hurried_before_the_result_is_known_tells_it_at_once);
  tcase_add_loop_test(unawaited, calls_that_are_made_once_are_told_at_once_and_not_hurried, 0, 3);
  tcase_add_test(unawaited, an_error_comes_at_once);
  tcase_add_test(unawaited, little_credit_is_given_back_at_once);
  tcase_add_loop_test(unawaited, who_is_lost_in_the_middle_leaves_an_error_and_nothing_else, 0, 21);
  tcase_add_loop_test(unawaited, a_cancel_in_the_middle_leaves_nothing, 0, 10);
  Suite* suite = suite_create("unawaited");
  suite_add_tcase(suite, unawaited);
  return suite;
}
