// SPDX-License-Identifier: Apache-2.0
//
// Pure calls with retries, when it is the callee that tells of a lost host, which a call further
// down was made of: that runs again, too. Nothing is left in any table (node_harness.h).
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

static void start(const char* text) {
  tfrt_node_world_initialize(&world, 5, NULL);
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(40);
  tfrt_node_world_start(&world, text, &argument, 1, 1);
  tfrt_async_value_release(argument);
}

// Ends the run behind the loss of host |rank|.
static void lose_host(uint32_t rank) {
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_node_world_kill(&world, rank);
  tfrt_node_world_await(&world);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

#define TWICE                            \
  "func.func @twice(%x: i32) -> i32 {\n" \
  "  %y = tfrt.add.i32 %x, %x\n"         \
  "  tfrt.return %y : i32\n"             \
  "}\n"

// @work gives |x| and the rank of its host, but never ends on host 2.
#define WORK                                                      \
  "func.func @work(%x: i32) -> i32 {\n"                           \
  "  %me = tfrt_dist.rank\n"                                      \
  "  %two = tfrt.constant.i32 2\n"                                \
  "  %stays = \"tfrt.equal.i32\"(%two, %me) : (i32, i32) -> i1\n" \
  "  %r = tfrt.if %stays, %x, %me : (i32, i32) -> (i32) {\n"      \
  "    %ch = tfrt.new.chain\n"                                    \
  "    %h = tfrt_dist.host %me\n"                                 \
  "    %key = tfrt_dist.key \"never\"\n"                          \
  "    %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32\n"           \
  "    tfrt.return %v : i32\n"                                    \
  "  } else {\n"                                                  \
  "    %y = tfrt.add.i32 %x, %me\n"                               \
  "    tfrt.return %y : i32\n"                                    \
  "  }\n"                                                         \
  "  tfrt.return %r : i32\n"                                      \
  "}\n"

// @outer adds 1 to what the host behind its own makes of it: so its result, and the error of that,
// are its own.
#define OUTER(OPTIONS)                                                          \
  WORK "func.func @outer(%x: i32) -> i32 {\n"                                   \
       "  %me = tfrt_dist.rank\n"                                               \
       "  %one = tfrt.constant.i32 1\n"                                         \
       "  %next = tfrt.add.i32 %me, %one\n"                                     \
       "  %h = tfrt_dist.host %next\n"                                          \
       "  %y = tfrt_dist.call %h @work(%x) : (!tfrt_dist.host, i32) -> (i32)\n" \
       "  %z = tfrt.add.i32 %y, %one\n"                                         \
       "  tfrt.return %z : i32\n"                                               \
       "}\n"                                                                    \
       "func.func @main(%x: i32) -> i32 {\n"                                    \
       "  %y = tfrt.call @outer(%x) {host = 1 : i32, " OPTIONS                  \
       "} : (i32) -> i32\n"                                                     \
       "  tfrt.return %y : i32\n"                                               \
       "}\n"

static void expect_loss(uint32_t rank) {
  const tfrt_status_fields_t* error = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  char lost[16];
  snprintf(lost, sizeof(lost), "lost host %u", rank);
  ck_assert_int_eq(error->code, TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(error->root_key, 0x1000 + rank);
  ck_assert_ptr_nonnull(strstr(error->message, lost));
  ck_assert_ptr_null(strstr(error->message, "that was run"));
}

START_TEST(a_pure_call_runs_again_for_a_loss_further_down) {
  start(OUTER("pure, retries = 1 : i32"));
  lose_host(2);
  // Host 3 had host 4 do it.
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 45);
  end();
}
END_TEST

// The owner reports the loss of each of the results in turn.
START_TEST(all_results_are_made_by_one_run) {
  start(WORK
        "func.func @outer(%x: i32) -> (i32, i32, i32) {\n"
        "  %me = tfrt_dist.rank\n"
        "  %one = tfrt.constant.i32 1\n"
        "  %next = tfrt.add.i32 %me, %one\n"
        "  %h = tfrt_dist.host %next\n"
        "  %y = tfrt_dist.call %h @work(%x) : (!tfrt_dist.host, i32) -> (i32)\n"
        "  %a = tfrt.add.i32 %y, %one\n"
        "  %b = tfrt.add.i32 %a, %one\n"
        "  %c = tfrt.add.i32 %b, %one\n"
        "  tfrt.return %a, %b, %c : i32, i32, i32\n"
        "}\n"
        "func.func @main(%x: i32) -> i32 {\n"
        "  %a, %b, %c = tfrt.call @outer(%x) {host = 1 : i32, pure, retries = 1 : i32}\n"
        "      : (i32) -> (i32, i32, i32)\n"
        "  %d = tfrt.add.i32 %a, %b\n"
        "  %e = tfrt.add.i32 %d, %c\n"
        "  tfrt.return %e : i32\n"
        "}\n");
  lose_host(2);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 45 + 46 + 47);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 0, 3, TFRT_WIRE_FRAME_INVOKE), 1);
  end();
}
END_TEST

START_TEST(one_that_is_not_pure_has_run) {
  start(OUTER("retries = 1 : i32"));
  lose_host(2);
  expect_loss(2);
  end();
}
END_TEST

// However many retries there are.
START_TEST(an_argument_that_is_lost_for_good_stays_lost) {
  start(
      WORK TWICE
      "func.func @main(%x: i32) -> i32 {\n"
      "  %y = tfrt.call @work(%x) {host = 2 : i32} : (i32) -> i32\n"
      "  %z = tfrt.call @twice(%y) {host = 1 : i32, pure, retries = 1000000 : i32} : (i32) -> i32\n"
      "  tfrt.return %z : i32\n"
      "}\n");
  lose_host(2);
  expect_loss(2);
  end();
}
END_TEST

// Host 4 is sent on by host 1 to host 2. Host 3, which lends it that, has no use for it itself.
START_TEST(who_was_sent_on_to_a_lost_host_hears_of_that_by_who_lent_it) {
  start(WORK
        "func.func @inner(%x: i32) -> i32 {\n"
        "  %y = tfrt.call @work(%x) {host = 2 : i32} : (i32) -> i32\n"
        "  tfrt.return %y : i32\n"
        "}\n" TWICE
        "func.func @lend(%x: i32) -> i32 {\n"
        "  %y = tfrt.call @twice(%x) {host = 4 : i32} : (i32) -> i32\n"
        "  tfrt.return %y : i32\n"
        "}\n"
        "func.func @main(%x: i32) -> i32 {\n"
        "  %y = tfrt.call @inner(%x) {host = 1 : i32, retries = 1 : i32} : (i32) -> i32\n"
        "  %z = tfrt.call @lend(%y) {host = 3 : i32} : (i32) -> i32\n"
        "  tfrt.return %z : i32\n"
        "}\n");
  lose_host(2);
  expect_loss(2);
  end();
}
END_TEST

// Host 4 has it by way of host 1, which sends it on to host 3, and that to host 2, where it is
// being made. With host 1 the call of host 3 is over, which can't tell any more what host 4 has
// lost.
START_TEST(who_lent_it_no_more_does_not_say_that_a_living_host_is_lost) {
  start(WORK
        "func.func @inner(%x: i32) -> i32 {\n"
        "  %y = tfrt.call @work(%x) {host = 2 : i32, pure, retries = 1 : i32} : (i32) -> i32\n"
        "  tfrt.return %y : i32\n"
        "}\n"
        "func.func @outer(%x: i32) -> i32 {\n"
        "  %y = tfrt.call @inner(%x) {host = 3 : i32} : (i32) -> i32\n"
        "  tfrt.return %y : i32\n"
        "}\n" TWICE
        "func.func @main(%x: i32) -> i32 {\n"
        "  %y = tfrt.call @outer(%x) {host = 1 : i32} : (i32) -> i32\n"
        "  %z = tfrt.call @twice(%y) {host = 4 : i32} : (i32) -> i32\n"
        "  tfrt.return %z : i32\n"
        "}\n");
  lose_host(1);
  expect_loss(1);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("told_loss");
  TCase* tests = tcase_create("told_loss");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, a_pure_call_runs_again_for_a_loss_further_down);
  tcase_add_test(tests, all_results_are_made_by_one_run);
  tcase_add_test(tests, one_that_is_not_pure_has_run);
  tcase_add_test(tests, an_argument_that_is_lost_for_good_stays_lost);
  tcase_add_test(tests, who_was_sent_on_to_a_lost_host_hears_of_that_by_who_lent_it);
  tcase_add_test(tests, who_lent_it_no_more_does_not_say_that_a_living_host_is_lost);
  suite_add_tcase(suite, tests);
  return suite;
}
