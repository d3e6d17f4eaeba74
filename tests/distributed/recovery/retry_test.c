// SPDX-License-Identifier: Apache-2.0
//
// Pure calls with retries, and the loss of hosts: the result still comes, or its error says what
// was tried; a call that is not pure runs at most once. Nothing is left in any table
// (node_harness.h).
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

static void start(const char* text, uint32_t host_count, int32_t x) {
  tfrt_node_world_initialize(&world, host_count, NULL);
  tfrt_node_world_start_i32(&world, text, x, 1);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static const tfrt_status_fields_t* error(void) {
  return tfrt_status_fields(tfrt_node_world_error(&world, 0));
}

// @work gives |x| and the rank of its host, but on hosts below |first| it never ends.
#define WORK                                                           \
  "func.func @work(%x: i32, %first: i32) -> i32 {\n"                   \
  "  %me = tfrt_dist.rank\n"                                           \
  "  %ends = \"tfrt.lessequal.i32\"(%first, %me) : (i32, i32) -> i1\n" \
  "  %r = tfrt.if %ends, %x, %me : (i32, i32) -> (i32) {\n"            \
  "    %y = tfrt.add.i32 %x, %me\n"                                    \
  "    tfrt.return %y : i32\n"                                         \
  "  } else {\n"                                                       \
  "    %ch = tfrt.new.chain\n"                                         \
  "    %h = tfrt_dist.host %me\n"                                      \
  "    %key = tfrt_dist.key \"never\"\n"                               \
  "    %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32\n"                \
  "    tfrt.return %v : i32\n"                                         \
  "  }\n"                                                              \
  "  tfrt.return %r : i32\n"                                           \
  "}\n"

#define MAIN(FIRST, OPTIONS)                                     \
  "func.func @main(%x: i32) -> i32 {\n"                          \
  "  %first = tfrt.constant.i32 " FIRST                          \
  "\n"                                                           \
  "  %y = tfrt.call @work(%x, %first) {host = 1 : i32, " OPTIONS \
  "} : (i32, i32) -> i32\n"                                      \
  "  tfrt.return %y : i32\n"                                     \
  "}\n"

static const char twice_program[] = WORK MAIN("2", "pure, retries = 1 : i32");

START_TEST(a_pure_call_runs_on_the_next_host_when_its_own_is_lost) {
  start(twice_program, 4, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 42);
  end();
}
END_TEST

static const char last_program[] = WORK MAIN("3", "pure, retries = 1 : i32");

START_TEST(without_retries_left_the_error_names_the_last_loss_and_the_first) {
  start(last_program, 4, 40);
  for (uint32_t rank = 1; rank <= 2; ++rank) {
    tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
    tfrt_node_world_kill(&world, rank);
  }
  tfrt_node_world_await(&world);
  ck_assert_int_eq(error()->code, TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(error()->root_key, 0x1002);
  ck_assert_ptr_nonnull(strstr(error()->message, "lost host 2"));
  ck_assert_ptr_nonnull(strstr(error()->message, "run 2"));
  ck_assert_ptr_nonnull(strstr(error()->message, "lost host 1"));
  ck_assert_str_eq(error()->origin.function, "main");
  end();
}
END_TEST

static const char more_program[] = WORK MAIN("3", "pure, retries = 2 : i32");

START_TEST(each_retry_goes_to_the_next_host) {
  start(more_program, 4, 40);
  for (uint32_t rank = 1; rank <= 2; ++rank) {
    tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
    tfrt_node_world_kill(&world, rank);
  }
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 43);
  end();
}
END_TEST

START_TEST(the_host_that_makes_the_call_runs_it_when_it_is_the_next) {
  start(twice_program, 2, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  // There it never ends: the wait is the one on host 0 now.
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert(!tfrt_async_value_is_available(world.results[0]));
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(error()->code, TFRT_STATUS_CANCELLED);
  end();
}
END_TEST

// The call that @back makes on host 0 never ends for calls below host 2.
static const char back_program[] =
    "func.func @work_for(%who: i32, %x: i32) -> i32 {\n"
    "  %first = tfrt.constant.i32 2\n"
    "  %ends = \"tfrt.lessequal.i32\"(%first, %who) : (i32, i32) -> i1\n"
    "  %r = tfrt.if %ends, %x, %who : (i32, i32) -> (i32) {\n"
    "    %y = tfrt.add.i32 %x, %who\n"
    "    tfrt.return %y : i32\n"
    "  } else {\n"
    "    %ch = tfrt.new.chain\n"
    "    %h = tfrt_dist.host %who\n"
    "    %key = tfrt_dist.key \"never\"\n"
    "    %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32\n"
    "    tfrt.return %v : i32\n"
    "  }\n"
    "  tfrt.return %r : i32\n"
    "}\n"
    "func.func @back(%x: i32) -> i32 {\n"
    "  %me = tfrt_dist.rank\n"
    "  %y = tfrt.call @work_for(%me, %x) {host = 0 : i32} : (i32, i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @back(%x) {host = 1 : i32, pure, retries = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

START_TEST(a_call_whose_result_is_made_by_its_caller_runs_again) {
  start(back_program, 4, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 42);
  end();
}
END_TEST

// The first result of @pair is of the next host, the second one of its own. One loss, two results
// that are lost at different times, one run.
static const char pair_program[] = WORK
    "func.func @pair(%x: i32) -> (i32, i32) {\n"
    "  %me = tfrt_dist.rank\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %first = tfrt.constant.i32 3\n"
    "  %next = tfrt.add.i32 %me, %one\n"
    "  %h = tfrt_dist.host %next\n"
    "  %y = tfrt_dist.call %h @work(%x, %first) : (!tfrt_dist.host, i32, i32) -> i32\n"
    "  %z = tfrt.add.i32 %y, %y\n"
    "  tfrt.return %y, %z : i32, i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y, %z = tfrt.call @pair(%x) {host = 1 : i32, pure, retries = 1 : i32} : (i32) -> (i32, "
    "i32)\n"
    "  %s = tfrt.add.i32 %y, %z\n"
    "  tfrt.return %s : i32\n"
    "}\n";

START_TEST(results_that_are_lost_one_after_the_other_are_made_by_one_run) {
  start(pair_program, 5, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 2);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 3 * 44);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 0, 3, TFRT_WIRE_FRAME_INVOKE), 1);
  end();
}
END_TEST

START_TEST(a_cancel_ends_a_call_whose_result_is_made_by_its_caller) {
  start(back_program, 4, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(error()->code, TFRT_STATUS_CANCELLED);
  end();
}
END_TEST

START_TEST(a_cancel_ends_a_call_that_runs_again) {
  start(last_program, 4, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(error()->code, TFRT_STATUS_CANCELLED);
  // Nothing is run once more for that.
  tfrt_node_world_kill(&world, 2);
  end();
}
END_TEST

static const char impure_program[] = WORK MAIN("2", "retries = 3 : i32");

START_TEST(a_call_that_is_not_pure_runs_at_most_once) {
  start(impure_program, 4, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(error()->root_key, 0x1001);
  for (size_t to = 2; to < 4; ++to) {
    ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 0, to, TFRT_WIRE_FRAME_INVOKE), 0);
  }
  end();
}
END_TEST

// Host 1 is lost while @work runs there, and %late, which is 1, comes after that.
#define LATE                                                                       \
  "func.func @rank(%x: i32) -> i32 {\n"                                            \
  "  %me = tfrt_dist.rank\n"                                                       \
  "  %y = tfrt.add.i32 %x, %me\n"                                                  \
  "  tfrt.return %y : i32\n"                                                       \
  "}\n"                                                                            \
  "func.func @first_of(%a: i32, %b: i32) -> i32 {\n"                               \
  "  %less = \"tfrt.lessequal.i32\"(%a, %b) : (i32, i32) -> i1\n"                  \
  "  %r = tfrt.if %less, %a, %b : (i32, i32) -> (i32) {\n"                         \
  "    tfrt.return %a : i32\n"                                                     \
  "  } else {\n"                                                                   \
  "    tfrt.return %b : i32\n"                                                     \
  "  }\n"                                                                          \
  "  tfrt.return %r : i32\n"                                                       \
  "}\n"                                                                            \
  "func.func @main(%x: i32) -> i32 {\n"                                            \
  "  %first = tfrt.constant.i32 2\n"                                               \
  "  %one = tfrt.constant.i32 1\n"                                                 \
  "  %y = tfrt.call @work(%x, %first) {host = 1 : i32, pure, retries = 1 : i32}\n" \
  "      : (i32, i32) -> i32\n"                                                    \
  "  %late = tfrt.call @first_of(%one, %y) : (i32, i32) -> i32\n"

static const char late_program[] = WORK LATE
    "  %h = tfrt_dist.host %late\n"
    "  %z = tfrt_dist.call %h @rank(%y) {retries = 1 : i32} : (!tfrt_dist.host, i32) -> i32\n"
    "  tfrt.return %z : i32\n"
    "}\n";

START_TEST(a_call_with_retries_to_a_host_that_is_lost_already_goes_to_the_next) {
  start(late_program, 4, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 44);
  end();
}
END_TEST

// Host 2 has never met host 3, which is gone before @below calls it.
#define NEVER_SENT(OPTIONS, USE, RESULT)                                             \
  WORK "func.func @below(%x: i32) -> i32 {\n"                                        \
       "  %y = tfrt.call @rank(%x) {host = 3 : i32" OPTIONS "} : (i32) -> i32\n" USE \
       "  tfrt.return %" RESULT                                                      \
       " : i32\n"                                                                    \
       "}\n" LATE                                                                    \
       "  %two = tfrt.add.i32 %late, %late\n"                                        \
       "  %h = tfrt_dist.host %two\n"                                                \
       "  %z = tfrt_dist.call %h @below(%y) : (!tfrt_dist.host, i32) -> i32\n"       \
       "  tfrt.return %z : i32\n"                                                    \
       "}\n"

static void run_never_sent(const char* text) {
  start(text, 4, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 3);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
}

static const char never_sent_program[] = NEVER_SENT(", retries = 1 : i32", "", "y");

// Host 0 already knows of the loss when it learns that host 3 owns the result.
START_TEST(a_call_with_retries_that_never_left_goes_to_the_next_pure_or_not) {
  run_never_sent(never_sent_program);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 42);
  end();
}
END_TEST

static const char never_tried_program[] = NEVER_SENT("", "  %s = tfrt.add.i32 %y, %y\n", "s");

START_TEST(an_error_says_whether_the_call_may_have_run) {
  run_never_sent(never_tried_program);
  ck_assert_uint_eq(error()->root_key, 0x1003);
  ck_assert(!error()->may_have_run);
  ck_assert_ptr_nonnull(strstr(error()->message, "before it ran @rank"));
  ck_assert_str_eq(error()->origin.function, "below");
  end();
  start(impure_program, 4, 40);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  ck_assert(error()->may_have_run);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("retry");
  TCase* calls = tcase_create("calls");
  tcase_set_timeout(calls, 60);
  tcase_add_test(calls, a_pure_call_runs_on_the_next_host_when_its_own_is_lost);
  tcase_add_test(calls, without_retries_left_the_error_names_the_last_loss_and_the_first);
  tcase_add_test(calls, each_retry_goes_to_the_next_host);
  tcase_add_test(calls, the_host_that_makes_the_call_runs_it_when_it_is_the_next);
  tcase_add_test(calls, a_call_whose_result_is_made_by_its_caller_runs_again);
  tcase_add_test(calls, results_that_are_lost_one_after_the_other_are_made_by_one_run);
  tcase_add_test(calls, a_cancel_ends_a_call_whose_result_is_made_by_its_caller);
  tcase_add_test(calls, a_cancel_ends_a_call_that_runs_again);
  tcase_add_test(calls, a_call_that_is_not_pure_runs_at_most_once);
  tcase_add_test(calls, a_call_with_retries_to_a_host_that_is_lost_already_goes_to_the_next);
  tcase_add_test(calls, a_call_with_retries_that_never_left_goes_to_the_next_pure_or_not);
  tcase_add_test(calls, an_error_says_whether_the_call_may_have_run);
  suite_add_tcase(suite, calls);
  return suite;
}
