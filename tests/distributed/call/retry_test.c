// SPDX-License-Identifier: Apache-2.0
//
// Pure calls with retries, and the loss of hosts: the result comes all the same, or says what was
// tried; what is not pure runs at most once. Nothing is left in any table (node_harness.h).
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/node/node_harness.h"
#include "tests/support/test_main.h"

#define MICROSECOND INT64_C(1000)
#define TEXT_SIZE 5000  // too long to be sent along

static tfrt_node_world_t world;

static void start_with(const char* text, uint32_t host_count, tfrt_async_value_t* argument) {
  tfrt_node_world_initialize(&world, host_count, NULL);
  tfrt_node_world_start(&world, text, &argument, 1, 1);
  tfrt_async_value_release(argument);
}

static void start(const char* text, uint32_t host_count, int32_t x) {
  start_with(text, host_count, tfrt_async_value_create_i32(x));
}

static void start_with_text(const char* text, uint32_t host_count) {
  char bytes[TEXT_SIZE];
  memset(bytes, 'a', sizeof(bytes));
  start_with(text, host_count,
             tfrt_async_value_create_string(tfrt_string_view_make(bytes, sizeof(bytes))));
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

// What @back asks for on host 0 never ends for those below host 2.
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

// Host 0, which is told that the result is host 3's, knows of the loss already.
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

// --- Values that are elsewhere -----------------------------------------------------

#define TEXTS                                                                       \
  "func.func @twice(%t: !tfrt.string) -> !tfrt.string {\n"                          \
  "  %u = \"tfrt_test.append_string\"(%t, %t)\n"                                    \
  "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"                          \
  "  tfrt.return %u : !tfrt.string\n"                                               \
  "}\n"                                                                             \
  "func.func @same(%t: !tfrt.string) -> !tfrt.string {\n"                           \
  "  tfrt.return %t : !tfrt.string\n"                                               \
  "}\n"                                                                             \
  "func.func @through(%t: !tfrt.string) -> !tfrt.string {\n"                        \
  "  %u = tfrt.call @twice(%t) {host = 3 : i32} : (!tfrt.string) -> !tfrt.string\n" \
  "  tfrt.return %u : !tfrt.string\n"                                               \
  "}\n"                                                                             \
  "func.func @below(%t: !tfrt.string) -> !tfrt.string {\n"                          \
  "  %u = tfrt.call @twice(%t) {host = 1 : i32, pure, retries = 1 : i32}\n"         \
  "      : (!tfrt.string) -> !tfrt.string\n"                                        \
  "  tfrt.return %u : !tfrt.string\n"                                               \
  "}\n"

// The last one brings the payload to host 0, where it is safe.
#define TEXT_MAIN(CALLS)                                        \
  "func.func @main(%t: !tfrt.string) -> !tfrt.string {\n" CALLS \
  "  %z = \"tfrt_test.append_string\"(%c, %c)\n"                \
  "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"      \
  "  tfrt.return %z : !tfrt.string\n"                           \
  "}\n"

#define CALL(RESULT, FUNCTION, ARGUMENT, HOST)                           \
  "  %" RESULT " = tfrt.call @" FUNCTION "(%" ARGUMENT ") {host = " HOST \
  " : i32, pure,"                                                        \
  " retries = 2 : i32} : (!tfrt.string) -> !tfrt.string\n"

#define CALL_ONCE(RESULT, FUNCTION, ARGUMENT, HOST)                      \
  "  %" RESULT " = tfrt.call @" FUNCTION "(%" ARGUMENT ") {host = " HOST \
  " : i32}"                                                              \
  " : (!tfrt.string) -> !tfrt.string\n"

// Kills host |victim| at each moment of a run of |text|: the result is always the same.
static void expect_not_noticed(const char* text, uint32_t victim, uint64_t size) {
  for (int64_t moment = 0; moment < 4000; moment += 50) {
    printf("moment %d\n", (int)moment);
    fflush(stdout);
    start_with_text(text, 4);
    tfrt_simulated_network_run_until(world.network, NULL, NULL, moment * MICROSECOND);
    tfrt_node_world_kill(&world, victim);
    tfrt_node_world_await(&world);
    bool was_open = !tfrt_async_value_is_error(tfrt_client_opened(world.client));
    if (was_open) ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, size);
    end();
  }
}

static const char chain_program[] = TEXTS TEXT_MAIN(
    CALL("a", "twice", "t", "1") CALL("b", "twice", "a", "2") CALL("c", "same", "b", "3"));

START_TEST(the_loss_of_a_host_of_pure_calls_at_any_time_is_not_noticed) {
  expect_not_noticed(chain_program, (uint32_t)_i, 8 * TEXT_SIZE);
}
END_TEST

// What host 1 makes is lent to a call that runs once.
static const char lent_program[] =
    TEXTS TEXT_MAIN(CALL("a", "twice", "t", "1") CALL_ONCE("c", "twice", "a", "2"));

START_TEST(an_argument_that_is_lost_with_its_host_is_made_again) {
  expect_not_noticed(lent_program, 1, 8 * TEXT_SIZE);
}
END_TEST

static const char nested_program[] =
    TEXTS TEXT_MAIN(CALL("a", "twice", "t", "1") CALL_ONCE("c", "through", "a", "2"));

START_TEST(an_argument_that_was_lent_on_is_made_again) {
  expect_not_noticed(nested_program, 1, 8 * TEXT_SIZE);
}
END_TEST

// What host 0 makes of it for host 1, or whoever runs @back, is the result of that; its payload is
// on host 3, and lent to host 2.
#define HOME \
  "func.func @made_elsewhere(%t: !tfrt.string) -> !tfrt.string {\n" \
  CALL("u", "twice", "t", "3")                                  \
  "  tfrt.return %u : !tfrt.string\n"                           \
  "}\n"                                                         \
  "func.func @back(%t: !tfrt.string) -> !tfrt.string {\n"       \
  CALL_ONCE("u", "made_elsewhere", "t", "0")                    \
  "  tfrt.return %u : !tfrt.string\n"                           \
  "}\n"

static const char home_program[] =
    TEXTS HOME TEXT_MAIN(CALL("a", "back", "t", "1") CALL("c", "twice", "a", "2"));

START_TEST(a_result_that_its_caller_has_made_elsewhere_is_made_again) {
  expect_not_noticed(home_program, (uint32_t)_i, 8 * TEXT_SIZE);
}
END_TEST

static const char lent_home_program[] =
    TEXTS HOME TEXT_MAIN(CALL("a", "back", "t", "1") CALL_ONCE("c", "twice", "a", "2"));

START_TEST(an_argument_that_the_caller_of_its_call_has_made_elsewhere_is_made_again) {
  expect_not_noticed(lent_home_program, (uint32_t)_i * 2 + 1, 8 * TEXT_SIZE);
}
END_TEST

// The result of @relay, which host 2 is lent, is host 3's: host 2 is sent on to that by host 1.
static const char relay_program[] =
    TEXTS
    "func.func @relay(%t: !tfrt.string) -> !tfrt.string {\n"
    CALL("u", "twice", "t", "3")
    "  tfrt.return %u : !tfrt.string\n"
    "}\n"
    TEXT_MAIN(CALL("a", "relay", "t", "1") CALL_ONCE("c", "twice", "a", "2"));

START_TEST(an_argument_whose_lender_was_sent_on_is_made_again) {
  expect_not_noticed(relay_program, (uint32_t)_i * 2 + 1, 8 * TEXT_SIZE);
}
END_TEST

static const char below_program[] = TEXTS TEXT_MAIN(CALL_ONCE("c", "below", "t", "2"));

// The call that makes it again is over when the result of @below is told; what is lost then is an
// error of that host, as it runs once itself.
START_TEST(a_result_of_a_call_below_is_made_again_while_its_caller_runs) {
  uint32_t right = 0;
  for (int64_t moment = 1000; moment < 4000; moment += 50) {
    start_with_text(below_program, 4);
    tfrt_simulated_network_run_until(world.network, NULL, NULL, moment * MICROSECOND);
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    bool was_open = !tfrt_async_value_is_error(tfrt_client_opened(world.client));
    if (tfrt_async_value_is_error(world.results[0])) {
      if (was_open) ck_assert_uint_eq(error()->root_key, 0x1001);
    } else {
      ++right;
      ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 4 * TEXT_SIZE);
    }
    end();
  }
  ck_assert_uint_gt(right, 0);
}
END_TEST

// @open tells what %u is, host 1's, and goes on; host 3 is lent that under the name that host 1 has
// for it.
static const char open_program[] = TEXTS
    "func.func @open(%t: !tfrt.string) -> (!tfrt.string, i32) {\n"
    "  %u = tfrt.call @twice(%t) {host = 1 : i32, pure, retries = 1 : i32}\n"
    "      : (!tfrt.string) -> !tfrt.string\n"
    "  %ch = tfrt.new.chain\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %root = tfrt_dist.host %zero\n"
    "  %key = tfrt_dist.key \"end\"\n"
    "  %end, %ch1 = tfrt_dist.recv %root, %key, %ch : i32\n"
    "  tfrt.return %u, %end : !tfrt.string, i32\n"
    "}\n"
    "func.func @next(%x: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %y = tfrt.add.i32 %x, %one\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %u, %end = tfrt.call @open(%t) {host = 2 : i32}\n"
    "      : (!tfrt.string) -> (!tfrt.string, i32)\n"
    "  %x0 = tfrt.constant.i32 0\n"
    "  %x1 = tfrt.call @next(%x0) {host = 3 : i32} : (i32) -> i32\n"
    "  %x2 = tfrt.call @next(%x1) {host = 3 : i32} : (i32) -> i32\n"
    "  %y2 = tfrt.call @next(%x2) : (i32) -> i32\n"
    "  %x3 = tfrt.call @next(%y2) {host = 3 : i32} : (i32) -> i32\n"
    "  %minus = tfrt.constant.i32 -1\n"
    "  %three = tfrt.add.i32 %x3, %minus\n"
    "  %h = tfrt_dist.host %three\n"
    "  %v = tfrt_dist.call %h @twice(%u) : (!tfrt_dist.host, !tfrt.string) -> !tfrt.string\n"
    "  %z = \"tfrt_test.append_string\"(%v, %v)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %open = tfrt_dist.host %two\n"
    "  %ch = \"tfrt_test.as_chain\"(%z) : (!tfrt.string) -> !tfrt.chain\n"
    "  %key = tfrt_dist.key \"end\"\n"
    "  %ch1 = tfrt_dist.send %open, %key, %three, %ch\n"
    "  %ended = \"tfrt_test.as_chain\"(%end) : (i32) -> !tfrt.chain\n"
    "  %r = \"tfrt_test.identity\"(%ended, %z) : (!tfrt.chain, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %r : !tfrt.string\n"
    "}\n";

// It learns of the loss when host 0 has another owner already.
START_TEST(who_learns_late_that_a_value_is_lost_is_told_where_it_is_now) {
  start_with_text(open_program, 4);
  tfrt_simulated_endpoint_t* one = world.hosts[1].endpoint;
  tfrt_simulated_endpoint_t* three = world.hosts[3].endpoint;
  tfrt_simulated_network_partition(world.network, three, one, true);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 0, 3, TFRT_WIRE_FRAME_INVOKE), 4);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 2, 0, TFRT_WIRE_FRAME_REPLACE), 1);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 3, 0, TFRT_WIRE_FRAME_LOST), 0);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 3, 0, TFRT_WIRE_FRAME_LOST), 1);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 8 * TEXT_SIZE);
  end();
}
END_TEST

// Host 3 is lent for two seconds what host 1 makes, which host 0 has, too.
static const char impatient_program[] = TEXTS
    "func.func @use(%u: !tfrt.string) -> !tfrt.string {\n"
    "  %ch = tfrt.new.chain\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %root = tfrt_dist.host %zero\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %never, %ch1 = tfrt_dist.recv %root, %key, %ch : i32\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %is_one = \"tfrt.equal.i32\"(%never, %one) : (i32, i32) -> i1\n"
    "  %r = tfrt.if %is_one, %u : (!tfrt.string) -> (!tfrt.string) {\n"
    "    tfrt.return %u : !tfrt.string\n"
    "  } else {\n"
    "    tfrt.return %u : !tfrt.string\n"
    "  }\n"
    "  tfrt.return %r : !tfrt.string\n"
    "}\n"
    "func.func @main(%t: !tfrt.string) -> (!tfrt.string, !tfrt.string) {\n"
    "  %u = tfrt.call @twice(%t) {host = 1 : i32, pure, retries = 1 : i32}\n"
    "      : (!tfrt.string) -> !tfrt.string\n"
    "  %z = \"tfrt_test.append_string\"(%u, %u)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  %v = tfrt.call @use(%u) {host = 3 : i32, deadline_ms = 2000 : i32}\n"
    "      : (!tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %z, %v : !tfrt.string, !tfrt.string\n"
    "}\n";

static void set_cut(uint32_t from, uint32_t to, bool is_cut) {
  (is_cut ? tfrt_simulated_network_partition : tfrt_simulated_network_heal)(
      world.network, world.hosts[from].endpoint, world.hosts[to].endpoint, false);
}

// It loses that, and what host 0 gives it instead comes when its call is over.
START_TEST(a_value_that_comes_back_to_nobody_is_given_back) {
  tfrt_node_world_initialize(&world, 4, NULL);
  char bytes[TEXT_SIZE];
  memset(bytes, 'a', sizeof(bytes));
  tfrt_async_value_t* text =
      tfrt_async_value_create_string(tfrt_string_view_make(bytes, sizeof(bytes)));
  tfrt_node_world_start(&world, impatient_program, &text, 1, 2);
  tfrt_async_value_release(text);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  set_cut(0, 3, true);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_run_for(&world, 3 * TFRT_NODE_WORLD_SECOND / 2);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 3, 0, TFRT_WIRE_FRAME_LOST), 1);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 0, 3, TFRT_WIRE_FRAME_REPLACE), 0);
  set_cut(0, 3, false);
  tfrt_node_world_await(&world);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 0, 3, TFRT_WIRE_FRAME_REPLACE), 1);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 4 * TEXT_SIZE);
  ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 1)),
                   TFRT_STATUS_DEADLINE_EXCEEDED);
  // The program.
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).objects, 1);
  end();
}
END_TEST

static const char impure_producer_program[] =
    TEXTS TEXT_MAIN(CALL_ONCE("a", "twice", "t", "1") CALL("c", "twice", "a", "2"));

START_TEST(an_argument_of_a_call_that_is_not_pure_is_an_error_when_it_is_lost) {
  uint32_t errors = 0;
  for (int64_t moment = 1000; moment < 4000; moment += 50) {
    start_with_text(impure_producer_program, 4);
    tfrt_simulated_network_run_until(world.network, NULL, NULL, moment * MICROSECOND);
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    if (tfrt_async_value_is_error(world.results[0])) {
      bool was_open = !tfrt_async_value_is_error(tfrt_client_opened(world.client));
      if (was_open) {
        ++errors;
        ck_assert_uint_eq(error()->root_key, 0x1001);
      }
    } else {
      ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 8 * TEXT_SIZE);
    }
    end();
  }
  ck_assert_uint_gt(errors, 0);
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
  TCase* values = tcase_create("values");
  tcase_set_timeout(values, 60);
  tcase_add_loop_test(values, the_loss_of_a_host_of_pure_calls_at_any_time_is_not_noticed, 1, 4);
  tcase_add_test(values, an_argument_that_is_lost_with_its_host_is_made_again);
  tcase_add_test(values, an_argument_that_was_lent_on_is_made_again);
  tcase_add_loop_test(values, a_result_that_its_caller_has_made_elsewhere_is_made_again, 1, 4);
  tcase_add_loop_test(
      values, an_argument_that_the_caller_of_its_call_has_made_elsewhere_is_made_again, 0, 2);
  tcase_add_loop_test(values, an_argument_whose_lender_was_sent_on_is_made_again, 0, 2);
  tcase_add_test(values, a_result_of_a_call_below_is_made_again_while_its_caller_runs);
  tcase_add_test(values, who_learns_late_that_a_value_is_lost_is_told_where_it_is_now);
  tcase_add_test(values, a_value_that_comes_back_to_nobody_is_given_back);
  tcase_add_test(values, an_argument_of_a_call_that_is_not_pure_is_an_error_when_it_is_lost);
  suite_add_tcase(suite, values);
  return suite;
}
