// SPDX-License-Identifier: Apache-2.0
//
// Results of a collective's messages wait for company, and the end of the run waits for no timer.
// Results of all other calls come at once, also in a loop.
#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define DELAY (100 * TFRT_NANOSECONDS_PER_MICROSECOND)
// A frame that waits for company goes alone after this time (TFRT_WIRE_COMPANY_MS).
#define COMPANY (10 * TFRT_NANOSECONDS_PER_MILLISECOND)
#define HOSTS 4

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

// The chain in a function of its own, in a function that another one calls, and as a loop's body.
static const char* const chains[] = {FUNCTIONS "func.func @main(%v: i32) -> i32 {\n" CHAIN
                                               "  tfrt.return %w : i32\n}\n",
                                     FUNCTIONS "func.func @chain(%v: i32) -> i32 {\n" CHAIN
                                               "  tfrt.return %w : i32\n}\n"
                                               "func.func @main(%v: i32) -> i32 {\n"
                                               "  %r = tfrt.call @chain(%v) : (i32) -> i32\n"
                                               "  tfrt.return %r : i32\n}\n",
                                     LOOP(CHAIN)};

START_TEST(other_calls_are_told_at_once_and_not_hurried) {
  begin();
  const bool is_loop = _i == 2;
  warm_up(chains[_i], 1);
  run(chains[_i], is_loop ? 30 : 1, is_loop ? 30 : 4);
  for (uint32_t host = 1; host < HOSTS; ++host) {
    ck_assert_uint_eq(count(0, host, TFRT_WIRE_FRAME_HURRY), 0);
    int64_t invoked_ns = last_ns(0, host, TFRT_WIRE_FRAME_INVOKE);
    ck_assert_int_le(last_ns(host, 0, TFRT_WIRE_FRAME_RESULT) - invoked_ns,
                     host * DELAY + DELAY / 10);
  }
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
  tcase_add_test(unawaited, what_members_of_a_group_send_each_other_at_last_is_hurried);
  tcase_add_loop_test(unawaited, other_calls_are_told_at_once_and_not_hurried, 0, 3);
  tcase_add_loop_test(unawaited, who_is_lost_in_the_middle_leaves_an_error_and_nothing_else, 0, 21);
  tcase_add_loop_test(unawaited, a_cancel_in_the_middle_leaves_nothing, 0, 10);
  Suite* suite = suite_create("unawaited");
  suite_add_tcase(suite, unawaited);
  return suite;
}
