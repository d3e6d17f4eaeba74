// SPDX-License-Identifier: Apache-2.0
//
// One member never joins its group, because its call was cancelled: the members that wait for it
// get an error, the others don't.
#include <stdio.h>
#include <string.h>

#include "distributed/domain/job.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;
static char program[8192];

// @meet_twice meets others twice, and @meet_and_miss once: it would meet them again if something
// came that never does. Both know the group "a" alone, and @meet_elsewhere the group "b".
static const char functions[] =
    "func.func @meet(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %g = tfrt_dist.world {name = \"a\"}\n"
    "  %c = tfrt_dist.barrier %g, %ch\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @meet_twice(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %c1 = tfrt.call @meet(%ch) : (!tfrt.chain) -> !tfrt.chain\n"
    "  %c2 = tfrt.call @meet(%c1) : (!tfrt.chain) -> !tfrt.chain\n"
    "  tfrt.return %c2 : !tfrt.chain\n"
    "}\n"
    "func.func @miss(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %me = tfrt_dist.rank\n"
    "  %h = tfrt_dist.host %me\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %go, %c1 = tfrt_dist.recv %h, %key, %ch : i1\n"
    "  %c2 = tfrt.cond %go @meet @meet(%ch) : (!tfrt.chain) -> (!tfrt.chain)\n"
    "  tfrt.return %c2 : !tfrt.chain\n"
    "}\n"
    "func.func @meet_and_miss(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %c1 = tfrt.call @meet(%ch) : (!tfrt.chain) -> !tfrt.chain\n"
    "  %c2 = tfrt.call @miss(%c1) : (!tfrt.chain) -> !tfrt.chain\n"
    "  tfrt.return %c2 : !tfrt.chain\n"
    "}\n"
    "func.func @meet_elsewhere(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %g = tfrt_dist.world {name = \"b\"}\n"
    "  %c = tfrt_dist.barrier %g, %ch\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @send_on(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %me = tfrt_dist.rank\n"
    "  %h = tfrt_dist.host %me\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %x, %c1 = tfrt_dist.recv %h, %key, %ch : !tfrt_dist.host\n"
    "  %c2 = tfrt_dist.call %x @meet_twice(%ch) : (!tfrt_dist.host, !tfrt.chain) -> !tfrt.chain\n"
    "  tfrt.return %c2 : !tfrt.chain\n"
    "}\n"
    "func.func @meet_and_stop(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %c1 = tfrt.call @meet(%ch) : (!tfrt.chain) -> !tfrt.chain\n"
    "  %x, %c2 = \"tfrt_test.cancel\"(%c1) : (!tfrt.chain) -> (i32, !tfrt.chain)\n"
    "  %go = \"tfrt.lessequal.i32\"(%x, %x) : (i32, i32) -> i1\n"
    "  %c3 = tfrt.cond %go @meet @meet(%c2) : (!tfrt.chain) -> (!tfrt.chain)\n"
    "  tfrt.return %c3 : !tfrt.chain\n"
    "}\n"
    "func.func @stop_and_meet(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %x, %c1 = \"tfrt_test.cancel\"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)\n"
    "  %go = \"tfrt.lessequal.i32\"(%x, %x) : (i32, i32) -> i1\n"
    "  %c2 = tfrt.cond %go @meet @meet(%c1) : (!tfrt.chain) -> (!tfrt.chain)\n"
    "  tfrt.return %c2 : !tfrt.chain\n"
    "}\n"
    "func.func @have_missed(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %c = tfrt.call @miss(%ch) {host = 0 : i32, deadline_ms = 500 : i32}"
    " : (!tfrt.chain) -> !tfrt.chain\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @miss_here(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %c = tfrt.call @miss(%ch) {host = 1 : i32, deadline_ms = 500 : i32}"
    " : (!tfrt.chain) -> !tfrt.chain\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @meet_in(%g: !tfrt_dist.group, %ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %c = tfrt_dist.barrier %g, %ch\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @miss_in(%g: !tfrt_dist.group, %ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %c1 = tfrt.call @hold(%ch) : (!tfrt.chain) -> !tfrt.chain\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %x = \"tfrt_test.identity\"(%c1, %one) : (!tfrt.chain, i32) -> i32\n"
    "  %go = \"tfrt.lessequal.i32\"(%x, %x) : (i32, i32) -> i1\n"
    "  %c2 = tfrt.cond %go @meet_in @meet_in(%g, %c1)"
    " : (!tfrt_dist.group, !tfrt.chain) -> (!tfrt.chain)\n"
    "  tfrt.return %c2 : !tfrt.chain\n"
    "}\n"
    "func.func @meet_02(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %g = tfrt_dist.group [0, 2] {name = \"d\"}\n"
    "  %c = tfrt_dist.barrier %g, %ch\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @hold_and_have_meet(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %me = tfrt_dist.rank\n"
    "  %h = tfrt_dist.host %me\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %x, %c1 = tfrt_dist.recv %h, %key, %ch : !tfrt_dist.host\n"
    "  %c2 = tfrt_dist.call %x @meet_02(%ch) : (!tfrt_dist.host, !tfrt.chain) -> !tfrt.chain\n"
    "  tfrt.return %c2 : !tfrt.chain\n"
    "}\n"
    "func.func @hold_but_on_2_and_have_meet(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %me = tfrt_dist.rank\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %is = \"tfrt.lessequal.i32\"(%two, %me) : (i32, i32) -> i1\n"
    "  %c = tfrt.cond %is @meet_02 @hold_and_have_meet(%ch) : (!tfrt.chain) -> (!tfrt.chain)\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @two(%x: i32) -> i32 {\n"
    "  %two = tfrt.constant.i32 2\n"
    "  tfrt.return %two : i32\n"
    "}\n"
    "func.func @hold(%ch: !tfrt.chain) -> !tfrt.chain {\n"
    "  %me = tfrt_dist.rank\n"
    "  %h = tfrt_dist.host %me\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %x, %c = tfrt_dist.recv %h, %key, %ch : i1\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @main(%x: i32) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain) {\n"
    "  %g = tfrt_dist.world {name = \"c\"}\n"
    "  %ch = tfrt.new.chain\n";

#define CALL(result, function, options) \
  "  %" result " = tfrt.call @" function "(%ch) {" options "} : (!tfrt.chain) -> !tfrt.chain\n"
#define CALL_IN(result, function, options)                     \
  "  %" result " = tfrt.call @" function "(%g, %ch) {" options \
  "}"                                                          \
  " : (!tfrt_dist.group, !tfrt.chain) -> !tfrt.chain\n"
#define TWO_MEET_TWICE                       \
  CALL("r0", "meet_twice", "host = 0 : i32") \
  CALL("r1", "meet_twice", "host = 1 : i32")
#define ALL_MEET_ELSEWHERE                       \
  CALL("r3", "meet_elsewhere", "host = 0 : i32") \
  CALL("s1", "meet_elsewhere", "host = 1 : i32") \
  CALL("s2", "meet_elsewhere", "host = 2 : i32")

static void start(const char* calls) {
  snprintf(program, sizeof(program),
           "%s%s  tfrt.return %%r0, %%r1, %%r2, %%r3 : !tfrt.chain, !tfrt.chain, !tfrt.chain, "
           "!tfrt.chain\n}\n",
           functions, calls);
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_node_world_start_i32(&world, program, 0, 4);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

// Results |first| to |last| are errors with |code|; those of members that waited say why.
static void expect_errors(uint32_t first, uint32_t last, tfrt_status_code_t code) {
  for (uint32_t i = first; i <= last; ++i) {
    tfrt_status_t error = tfrt_node_world_error(&world, i);
    ck_assert_int_eq(tfrt_status_code(error), code);
    if (i < 2) ck_assert_ptr_nonnull(strstr(tfrt_status_message(error), "was called off: "));
    ck_assert_ptr_nonnull(tfrt_status_fields(error)->origin.file);
  }
}

static void expect_value(uint32_t index) {
  ck_assert(tfrt_async_value_is_available(world.results[index]));
  ck_assert(!tfrt_async_value_is_error(world.results[index]));
}

typedef struct case_s {
  const char* calls;
  tfrt_status_code_t code;
} case_t;

static const case_t cases[] = {
    {TWO_MEET_TWICE ALL_MEET_ELSEWHERE CALL("r2", "meet_and_miss",
                                            "host = 2 : i32, deadline_ms = 500 : i32"),
     TFRT_STATUS_DEADLINE_EXCEEDED},
    // Before they have met at all.
    {TWO_MEET_TWICE ALL_MEET_ELSEWHERE CALL("r2", "miss",
                                            "host = 2 : i32, deadline_ms = 500 : i32"),
     TFRT_STATUS_DEADLINE_EXCEEDED},
    // Late is who was to call it.
    {TWO_MEET_TWICE ALL_MEET_ELSEWHERE CALL("r2", "send_on",
                                            "host = 1 : i32, deadline_ms = 500 : i32"),
     TFRT_STATUS_DEADLINE_EXCEEDED},
    // On the host that calls.
    {CALL("r0", "meet_twice", "host = 1 : i32") CALL("r1", "meet_twice", "host = 2 : i32")
         ALL_MEET_ELSEWHERE CALL("r2", "meet_and_miss", "host = 0 : i32, deadline_ms = 500 : i32"),
     TFRT_STATUS_DEADLINE_EXCEEDED},
    // It was given the group.
    {CALL_IN("r0", "meet_in", "host = 0 : i32") CALL_IN("r1", "meet_in", "host = 1 : i32")
         ALL_MEET_ELSEWHERE CALL_IN("r2", "miss_in", "host = 2 : i32, deadline_ms = 500 : i32"),
     TFRT_STATUS_DEADLINE_EXCEEDED},
    // Where nobody but the host that runs it knows.
    {TWO_MEET_TWICE ALL_MEET_ELSEWHERE CALL("r2", "meet_and_stop", "host = 2 : i32"),
     TFRT_STATUS_CANCELLED},
};

// When the run is over, nobody remembers that the members can't meet in it.
static void expect_nothing_closed(void) {
  for (uint32_t host = 0; host < 3; ++host) {
    const tfrt_list_link_t* jobs = &world.hosts[host].node->jobs;
    ck_assert_ptr_ne(jobs->next, jobs);
    const tfrt_job_t* job = TFRT_CONTAINER_OF(jobs->next, tfrt_job_t, link);
    ck_assert(tfrt_list_is_empty(&job->exchange.mailbox.closed));
  }
}

START_TEST(a_call_that_is_called_off_is_not_waited_for_by_who_would_meet_it) {
  start(cases[_i].calls);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  expect_errors(0, 2, cases[_i].code);
  expect_value(3);
  expect_nothing_closed();
  end();
}
END_TEST

// Host 1 can't tell host 2, which waits for nothing, before the link between them is whole again:
// the run is not over until then.
static const char* const late_calls[] = {
    CALL("r1", "miss", "host = 1 : i32, deadline_ms = 500 : i32"),
    CALL("r1", "stop_and_meet", "host = 1 : i32"),
    // As the one that calls.
    CALL("r1", "have_missed", "host = 1 : i32"),
    // As both.
    CALL("r1", "miss_here", "host = 1 : i32"),
};

START_TEST(who_is_told_late_forgets_it_all_the_same) {
  char calls[1024];
  snprintf(calls, sizeof(calls), "%s%s  %%r2 = tfrt.new.chain\n  %%r3 = tfrt.new.chain\n",
           CALL("r0", "meet_twice", "host = 0 : i32"), late_calls[_i]);
  start(calls);
  tfrt_simulated_network_partition(world.network, world.hosts[1].endpoint, world.hosts[2].endpoint,
                                   true);
  tfrt_node_world_run_for(&world, 2 * TFRT_NODE_WORLD_SECOND);
  tfrt_simulated_network_heal(world.network, world.hosts[1].endpoint, world.hosts[2].endpoint,
                              true);
  tfrt_node_world_await(&world);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  expect_errors(0, 0, _i == 1 ? TFRT_STATUS_CANCELLED : TFRT_STATUS_DEADLINE_EXCEEDED);
  expect_nothing_closed();
  end();
}
END_TEST

// Host 2 runs one call at a time.
static void limit_calls(uint32_t index, tfrt_node_options_t* options) {
  if (index == 2) options->job_limits.calls = 1;
}

// Host 2 refuses what comes after the call that it runs.
START_TEST(a_call_that_is_refused_is_not_waited_for) {
  tfrt_node_world_set_configure(limit_calls);
  start(CALL("r3", "hold", "host = 2 : i32, deadline_ms = 500 : i32") TWO_MEET_TWICE
        "  %two = tfrt.call @two(%x) {host = 1 : i32} : (i32) -> i32\n"
        "  %h = tfrt_dist.host %two\n"
        "  %r2 = tfrt_dist.call %h @meet_twice(%ch) : (!tfrt_dist.host, !tfrt.chain) -> "
        "!tfrt.chain\n");
  tfrt_node_world_set_configure(NULL);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  expect_errors(0, 2, TFRT_STATUS_RESOURCE_EXHAUSTED);
  expect_errors(3, 3, TFRT_STATUS_DEADLINE_EXCEEDED);
  end();
}
END_TEST

// Host 1, which is no member, is lost before it has host 2 meet host 0.
START_TEST(a_call_that_is_lost_is_not_waited_for_by_who_would_meet_it) {
  start("  %r1 = tfrt.new.chain\n" CALL("r0", "meet_02", "host = 0 : i32") CALL(
      "r2", "hold_and_have_meet", "host = 1 : i32") CALL("r3", "meet_02", "host = 0 : i32"));
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  expect_errors(0, 0, TFRT_STATUS_UNAVAILABLE);
  ck_assert_ptr_nonnull(
      strstr(tfrt_status_message(tfrt_node_world_error(&world, 0)), "lost host 1"));
  expect_value(1);
  expect_errors(2, 3, TFRT_STATUS_UNAVAILABLE);
  end();
}
END_TEST

// It runs on host 2 instead.
START_TEST(a_lost_call_that_runs_again_is_waited_for) {
  start("  %r1 = tfrt.new.chain\n  %r3 = tfrt.new.chain\n" CALL("r0", "meet_02", "host = 0 : i32")
            CALL("r2", "hold_but_on_2_and_have_meet", "host = 1 : i32, pure, retries = 1 : i32"));
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 4; ++i) expect_value(i);
  end();
}
END_TEST

// Its deadline passes when it is over, but not all of the run.
START_TEST(a_call_that_is_over_in_time_changes_nothing) {
  start(TWO_MEET_TWICE CALL("r2", "meet_twice", "host = 2 : i32, deadline_ms = 500 : i32")
            CALL("r3", "hold", "host = 1 : i32, deadline_ms = 1500 : i32"));
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 3; ++i) expect_value(i);
  expect_errors(3, 3, TFRT_STATUS_DEADLINE_EXCEEDED);
  end();
}
END_TEST

// By the time that @inner is over nobody but its withdrawal has the group, which host 1 has made.
static const char last_program[] =
    "func.func @make(%x: i32) -> !tfrt_dist.group {\n"
    "  %g = tfrt_dist.world {name = \"a\"}\n"
    "  tfrt.return %g : !tfrt_dist.group\n"
    "}\n"
    "func.func @sign(%g: !tfrt_dist.group) -> i1 {\n"
    "  %n = tfrt.constant.i32 1\n"
    "  %c = \"tfrt.lessequal.i32\"(%n, %n) : (i32, i32) -> i1\n"
    "  tfrt.return %c : i1\n"
    "}\n"
    "func.func @two() -> i32 {\n"
    "  %two = tfrt.constant.i32 2\n"
    "  tfrt.return %two : i32\n"
    "}\n"
    "func.func @inner(%g: !tfrt_dist.group) -> i32 {\n"
    "  %x = tfrt.call @two() {host = 1 : i32} : () -> i32\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @outer(%g: !tfrt_dist.group) -> i32 {\n"
    "  %x = tfrt.call @inner(%g) {host = 0 : i32, deadline_ms = 5000 : i32}"
    " : (!tfrt_dist.group) -> i32\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %g = tfrt.call @make(%x) {host = 1 : i32} : (i32) -> !tfrt_dist.group\n"
    "  %c = tfrt.call @sign(%g) {host = 1 : i32} : (!tfrt_dist.group) -> i1\n"
    "  %y = tfrt.cond %c @outer @outer(%g) : (!tfrt_dist.group) -> (i32)\n"
    "  tfrt.return %y : i32\n"
    "}\n";

START_TEST(a_call_with_a_deadline_ends_though_nobody_else_has_what_it_was_given) {
  tfrt_node_world_initialize(&world, 2, NULL);
  tfrt_node_world_start_i32(&world, last_program, 0, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 2);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* withdrawal = tcase_create("withdrawal");
  tcase_add_loop_test(withdrawal, a_call_that_is_called_off_is_not_waited_for_by_who_would_meet_it,
                      0, TFRT_ARRAY_SIZE(cases));
  tcase_add_loop_test(withdrawal, who_is_told_late_forgets_it_all_the_same, 0,
                      TFRT_ARRAY_SIZE(late_calls));
  tcase_add_test(withdrawal, a_call_that_is_refused_is_not_waited_for);
  tcase_add_test(withdrawal, a_call_that_is_lost_is_not_waited_for_by_who_would_meet_it);
  tcase_add_test(withdrawal, a_lost_call_that_runs_again_is_waited_for);
  tcase_add_test(withdrawal, a_call_that_is_over_in_time_changes_nothing);
  tcase_add_test(withdrawal, a_call_with_a_deadline_ends_though_nobody_else_has_what_it_was_given);
  Suite* suite = suite_create("withdrawal");
  suite_add_tcase(suite, withdrawal);
  return suite;
}
