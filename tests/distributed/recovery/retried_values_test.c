// SPDX-License-Identifier: Apache-2.0
//
// Results of pure calls with retries that are elsewhere, or lent, when a host is lost: their users
// notice nothing, at any time of the loss. Nothing is left in any table (node_harness.h).
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define MICROSECOND INT64_C(1000)
#define TEXT_SIZE 5000  // too long to be sent along

static tfrt_node_world_t world;

static void start_in(const char* text, uint32_t host_count, const tfrt_simulated_options_t* options,
                     uint32_t result_count) {
  char bytes[TEXT_SIZE];
  memset(bytes, 'a', sizeof(bytes));
  tfrt_async_value_t* argument =
      tfrt_async_value_create_string(tfrt_string_view_make(bytes, sizeof(bytes)));
  tfrt_node_world_initialize(&world, host_count, options);
  tfrt_node_world_start(&world, text, &argument, 1, result_count);
  tfrt_async_value_release(argument);
}

static void start_with_text(const char* text, uint32_t host_count) {
  start_in(text, host_count, NULL, 1);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static const tfrt_status_fields_t* error(void) {
  return tfrt_status_fields(tfrt_node_world_error(&world, 0));
}

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
  for (int64_t moment = 0; moment < 6000; moment += 50) {
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

// The result of host 1 is lent to a call that runs once.
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

// Host 0 makes a text for host 1, or for any host that runs @back, and this text is the result of
// @back. Its payload is on host 3, and lent to host 2.
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

#define NEXT                            \
  "func.func @next(%x: i32) -> i32 {\n" \
  "  %one = tfrt.constant.i32 1\n"      \
  "  %y = tfrt.add.i32 %x, %one\n"      \
  "  tfrt.return %y : i32\n"            \
  "}\n"

// Host 2 is lent it when host 0 knows where it is, and asks host 3 when that may have heard of a
// loss that host 0 has mended.
static const char late_lent_program[] =
    TEXTS NEXT
    "func.func @relay(%t: !tfrt.string) -> !tfrt.string {\n"
    CALL("u", "twice", "t", "3")
    "  tfrt.return %u : !tfrt.string\n"
    "}\n"
    TEXT_MAIN(CALL("a", "relay", "t", "1")
    "  %x0 = tfrt.constant.i32 0\n"
    "  %x1 = tfrt.call @next(%x0) {host = 2 : i32} : (i32) -> i32\n"
    "  %y1 = tfrt.call @next(%x1) : (i32) -> i32\n"
    "  %x2 = tfrt.call @next(%y1) {host = 2 : i32} : (i32) -> i32\n"
    "  %y2 = tfrt.call @next(%x2) : (i32) -> i32\n"
    "  %x3 = tfrt.call @next(%y2) {host = 2 : i32} : (i32) -> i32\n"
    "  %m = tfrt.constant.i32 -3\n"
    "  %two = tfrt.add.i32 %x3, %m\n"
    "  %h = tfrt_dist.host %two\n"
    "  %c = tfrt_dist.call %h @twice(%a) : (!tfrt_dist.host, !tfrt.string) -> !tfrt.string\n");

START_TEST(a_borrower_that_is_told_of_a_loss_asks_who_lent_it) {
  expect_not_noticed(late_lent_program, (uint32_t)_i * 2 + 1, 8 * TEXT_SIZE);
}
END_TEST

// Host 0 lends it as host 3's, and then is sent on to host 4 itself.
static const char forwarded_program[] =
    TEXTS NEXT
    "func.func @relay(%t: !tfrt.string) -> !tfrt.string {\n"
    CALL("u", "twice", "t", "4")
    "  tfrt.return %u : !tfrt.string\n"
    "}\n"
    "func.func @relay_twice(%t: !tfrt.string) -> !tfrt.string {\n"
    CALL("u", "relay", "t", "3")
    "  tfrt.return %u : !tfrt.string\n"
    "}\n"
    "func.func @main(%t: !tfrt.string) -> (!tfrt.string, !tfrt.string) {\n"
    CALL("a", "relay_twice", "t", "1")
    "  %d = \"tfrt_test.append_string\"(%a, %a)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %two = tfrt.call @next(%one) {host = 2 : i32} : (i32) -> i32\n"
    "  %h = tfrt_dist.host %two\n"
    "  %c = tfrt_dist.call %h @twice(%a) : (!tfrt_dist.host, !tfrt.string) -> !tfrt.string\n"
    "  %z = \"tfrt_test.append_string\"(%c, %c)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %z, %d : !tfrt.string, !tfrt.string\n"
    "}\n";

START_TEST(who_was_sent_on_itself_knows_as_what_it_has_lent_it) {
  for (int64_t moment = 1500; moment < 3500; moment += 50) {
    tfrt_simulated_options_t options;
    tfrt_simulated_options_initialize(&options);
    options.seed = (uint64_t)_i;
    options.jitter_ns = 150 * MICROSECOND;
    start_in(forwarded_program, 5, &options, 2);
    tfrt_simulated_network_run_until(world.network, NULL, NULL, moment * MICROSECOND);
    tfrt_node_world_kill(&world, 3);
    tfrt_node_world_await(&world);
    if (!tfrt_async_value_is_error(tfrt_client_opened(world.client))) {
      ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 8 * TEXT_SIZE);
      ck_assert_uint_eq(tfrt_node_world_text(&world, 1).size, 4 * TEXT_SIZE);
    }
    end();
  }
}
END_TEST

static const char below_program[] = TEXTS TEXT_MAIN(CALL_ONCE("c", "below", "t", "2"));

// The call that makes it again is over when the result of @below is known. A later loss is an error
// of the caller's host, as the caller runs only once.
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
  Suite* suite = suite_create("retried_values");
  TCase* values = tcase_create("values");
  tcase_set_timeout(values, 60);
  tcase_add_loop_test(values, the_loss_of_a_host_of_pure_calls_at_any_time_is_not_noticed, 1, 4);
  tcase_add_test(values, an_argument_that_is_lost_with_its_host_is_made_again);
  tcase_add_test(values, an_argument_that_was_lent_on_is_made_again);
  tcase_add_loop_test(values, a_result_that_its_caller_has_made_elsewhere_is_made_again, 1, 4);
  tcase_add_loop_test(
      values, an_argument_that_the_caller_of_its_call_has_made_elsewhere_is_made_again, 0, 2);
  tcase_add_loop_test(values, an_argument_whose_lender_was_sent_on_is_made_again, 0, 2);
  tcase_add_loop_test(values, a_borrower_that_is_told_of_a_loss_asks_who_lent_it, 0, 2);
  tcase_add_loop_test(values, who_was_sent_on_itself_knows_as_what_it_has_lent_it, 1, 12);
  tcase_add_test(values, a_result_of_a_call_below_is_made_again_while_its_caller_runs);
  tcase_add_test(values, who_learns_late_that_a_value_is_lost_is_told_where_it_is_now);
  tcase_add_test(values, a_value_that_comes_back_to_nobody_is_given_back);
  tcase_add_test(values, an_argument_of_a_call_that_is_not_pure_is_an_error_when_it_is_lost);
  suite_add_tcase(suite, values);
  return suite;
}
