// SPDX-License-Identifier: Apache-2.0
//
// Values that are lent, handed on, and kept beyond the call: a value stays as long as any host has
// its name. The oracles of node_harness.h look on.
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

// A text that is lent, as it is too long to be sent along.
#define TEXT_SIZE 5000

// Starts |text| on |host_count| hosts with a text for its only argument; it has one result.
static void start(const char* text, uint32_t host_count) {
  tfrt_node_world_initialize(&world, host_count, NULL);
  char bytes[TEXT_SIZE];
  memset(bytes, 'a', sizeof(bytes));
  tfrt_async_value_t* argument =
      tfrt_async_value_create_string(tfrt_string_view_make(bytes, sizeof(bytes)));
  tfrt_node_world_start(&world, text, &argument, 1, 1);
  tfrt_async_value_release(argument);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

// Host 1 reports to its caller that host 2 has its result. Then host 2 reports that the result is
// the argument; host 1 has a copy of it by then. Host 2 forwards requests to the owner of the
// argument.
static const char sent_on_program[] =
    "func.func @same(%t: !tfrt.string) -> !tfrt.string {\n"
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @between(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %s = tfrt.call @same(%t) {host = 2 : i32} : (!tfrt.string) -> !tfrt.string\n"
    "  %copy = \"tfrt_test.append_string\"(%t, %t)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %s : !tfrt.string\n"
    "}\n"
    "func.func @main(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %u = \"tfrt_test.append_string\"(%t, %t)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  %s = tfrt.call @between(%u) {host = 1 : i32} : (!tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %s : !tfrt.string\n"
    "}\n";

START_TEST(an_argument_stays_for_who_was_sent_on_to_it_though_a_copy_is_here) {
  start(sent_on_program, 3);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 2 * TEXT_SIZE);
  end();
}
END_TEST

// Host 1 returns its argument by a placeholder, which it also sends to itself. The result is not
// used, and the message when the call has been over for long.
static const char kept_program[] =
    "func.func @keep(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %p = \"tfrt_test.stand_for\"(%t) : (!tfrt.string) -> !tfrt.string\n"
    "  %ch = tfrt.new.chain\n"
    "  %me = tfrt_dist.rank\n"
    "  %h = tfrt_dist.host %me\n"
    "  %key = tfrt_dist.key \"later\"\n"
    "  %sent = tfrt_dist.send %h, %key, %p, %ch\n"
    "  tfrt.return %p : !tfrt.string\n"
    "}\n"
    "func.func @less(%x: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %y = \"tfrt.minus.i32\"(%x, %one) : (i32, i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @take(%x: i32) -> !tfrt.string {\n"
    "  %ch = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %key = tfrt_dist.key \"later\"\n"
    "  %p, %received = tfrt_dist.recv %h, %key, %ch : !tfrt.string\n"
    "  tfrt.return %p : !tfrt.string\n"
    "}\n"
    "func.func @main(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %u = \"tfrt_test.append_string\"(%t, %t)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  %p = tfrt.call @keep(%u) {host = 1 : i32} : (!tfrt.string) -> !tfrt.string\n"
    "  %many = tfrt.constant.i32 20\n"
    "  %more = tfrt.constant.i32 21\n"
    "  %one = tfrt.repeat.i32 %many, %more : i32 {\n"
    "    %less = tfrt.call @less(%more) {host = 2 : i32} : (i32) -> i32\n"
    "    tfrt.return %less : i32\n"
    "  }\n"
    "  %e = tfrt.call @take(%one) {host = 1 : i32} : (i32) -> !tfrt.string\n"
    "  tfrt.return %e : !tfrt.string\n"
    "}\n";

START_TEST(an_argument_that_is_kept_by_a_placeholder_stays) {
  start(kept_program, 3);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 2 * TEXT_SIZE);
  end();
}
END_TEST

// Host 1 returns its argument by a placeholder, twice, and by one that leads to another.
static const char returned_program[] =
    "func.func @give(%t: !tfrt.string) -> (!tfrt.string, !tfrt.string, !tfrt.string) {\n"
    "  %p = \"tfrt_test.stand_for\"(%t) : (!tfrt.string) -> !tfrt.string\n"
    "  %q = \"tfrt_test.stand_for\"(%t) : (!tfrt.string) -> !tfrt.string\n"
    "  %r = \"tfrt_test.stand_for\"(%q) : (!tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %p, %p, %r : !tfrt.string, !tfrt.string, !tfrt.string\n"
    "}\n"
    "func.func @main(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %u = \"tfrt_test.append_string\"(%t, %t)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  %p, %q, %r = tfrt.call @give(%u) {host = 1 : i32}\n"
    "      : (!tfrt.string) -> (!tfrt.string, !tfrt.string, !tfrt.string)\n"
    "  %pq = \"tfrt_test.append_string\"(%p, %q)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  %pqr = \"tfrt_test.append_string\"(%pq, %r)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %pqr : !tfrt.string\n"
    "}\n";

START_TEST(an_argument_that_is_only_returned_is_not_held) {
  start(returned_program, 2);
  tfrt_node_world_await(&world);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 6 * TEXT_SIZE);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[1].node).incoming_calls, 0);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 1, 0, TFRT_WIRE_FRAME_RETAIN), 0);
  end();
}
END_TEST

// A call on host 0 that doesn't end by itself has an argument that host 1 holds.
static const char endless_program[] =
    "func.func @same(%t: !tfrt.string) -> !tfrt.string {\n"
    "  tfrt.return %t : !tfrt.string\n"
    "}\n"
    "func.func @wait(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %ch = tfrt.new.chain\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %h = tfrt_dist.host %zero\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %v, %ch1 = tfrt_dist.recv %h, %key, %ch : !tfrt.string\n"
    "  %u = \"tfrt_test.append_string\"(%t, %v)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %u : !tfrt.string\n"
    "}\n"
    "func.func @lend(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %s = tfrt.call @same(%t) {host = 2 : i32} : (!tfrt.string) -> !tfrt.string\n"
    "  %u = tfrt.call @wait(%s) {host = 0 : i32} : (!tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %u : !tfrt.string\n"
    "}\n"
    "func.func @main(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %u = tfrt.call @lend(%t) {host = 1 : i32} : (!tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %u : !tfrt.string\n"
    "}\n";

START_TEST(a_host_that_has_lost_the_client_lets_go_of_what_it_lends) {
  start(endless_program, 3);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_simulated_endpoint_t* host = world.hosts[1].endpoint;
  tfrt_simulated_endpoint_t* client = world.hosts[3].endpoint;
  tfrt_simulated_network_partition(world.network, host, client, true);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)), TFRT_STATUS_UNAVAILABLE);
  end();
}
END_TEST

// The result stays at host 0, and the client has its payload.
static const char long_program[] =
    "func.func @main(%t: !tfrt.string) -> !tfrt.string {\n"
    "  %u = \"tfrt_test.append_string\"(%t, %t)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  tfrt.return %u : !tfrt.string\n"
    "}\n";

START_TEST(a_result_goes_when_the_client_lets_go_of_it_though_the_job_stays) {
  start(long_program, 1);
  tfrt_node_world_await(&world);
  tfrt_node_t* root = world.hosts[0].node;
  ck_assert_uint_eq(tfrt_node_counts(root).objects, 1);
  tfrt_async_value_release(world.results[0]);
  world.result_count = 0;
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_uint_eq(tfrt_node_counts(root).jobs, 1);
  ck_assert_uint_eq(tfrt_node_counts(root).objects, 0);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("lending");
  TCase* lending = tcase_create("lending");
  tcase_set_timeout(lending, 60);
  tcase_add_test(lending, an_argument_stays_for_who_was_sent_on_to_it_though_a_copy_is_here);
  tcase_add_test(lending, an_argument_that_is_kept_by_a_placeholder_stays);
  tcase_add_test(lending, an_argument_that_is_only_returned_is_not_held);
  tcase_add_test(lending, a_host_that_has_lost_the_client_lets_go_of_what_it_lends);
  tcase_add_test(lending, a_result_goes_when_the_client_lets_go_of_it_though_the_job_stays);
  suite_add_tcase(suite, lending);
  return suite;
}
