// SPDX-License-Identifier: Apache-2.0
//
// Bulk channels that a relay between two processes has forgotten while they were idle, which one
// side learns at once, and the other one only when it writes. Sessions live on; so must what needs
// the bulk channel.
#include "distributed/domain/domain.h"
#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

// The size of an argument, in one message; its doubled result needs a bulk channel.
#define SIZE 40000
#define IDLE_NS (5 * TFRT_NODE_WORLD_SECOND)
#define CLIENT 3

#define DOUBLE                                              \
  "func.func @double(%s: !tfrt.string) -> !tfrt.string {\n" \
  "  %t = \"tfrt_test.append_string\"(%s, %s)\n"            \
  "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"  \
  "  tfrt.return %t : !tfrt.string\n"                       \
  "}\n"                                                     \
  "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
#define CALL " : (!tfrt.string) -> !tfrt.string\n"

// Host 2 wants what host 1 owns, and has dialled it for that.
static const char one_way_program[] = DOUBLE "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
                                             "  %b = tfrt.call @double(%a) {host = 2 : i32}" CALL
                                             "  tfrt.return %b : !tfrt.string\n"
                                             "}\n";

// And the other way round, for which host 1 looks up where host 2 is that has dialled it before.
static const char both_ways_program[] = DOUBLE "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
                                               "  %b = tfrt.call @double(%a) {host = 2 : i32}" CALL
                                               "  %c = tfrt.call @double(%b) {host = 1 : i32}" CALL
                                               "  tfrt.return %c : !tfrt.string\n"
                                               "}\n";

// The client wants what host 1 owns. Nobody can dial a client.
static const char client_program[] = DOUBLE "  %a = tfrt.call @double(%s) {host = 1 : i32}" CALL
                                            "  tfrt.return %a : !tfrt.string\n"
                                            "}\n";

static tfrt_node_world_t world;

static void start(const char* program) {
  static char bytes[SIZE];
  for (size_t i = 0; i < SIZE; ++i) bytes[i] = (char)('a' + i % 23);
  tfrt_async_value_t* text = tfrt_async_value_create_string(tfrt_string_view_make(bytes, SIZE));
  tfrt_node_world_start(&world, program, &text, 1, 1);
  tfrt_async_value_release(text);
}

// Runs |program|, whose result is |times| its argument, in less time than a bulk channel is waited
// for, and then nothing for a while.
static void run(const char* program, size_t times) {
  const tfrt_clock_t clock = tfrt_simulated_network_clock(world.network);
  const int64_t begin_ns = tfrt_clock_now_ns(clock);
  start(program);
  tfrt_node_world_await(&world);
  ck_assert_int_lt(tfrt_clock_now_ns(clock) - begin_ns, TFRT_NODE_WORLD_SECOND);
  const tfrt_string_view_t text = tfrt_node_world_text(&world, 0);
  ck_assert_uint_eq(text.size, SIZE * times);
  for (size_t i = 0; i < text.size; ++i) ck_assert_int_eq(text.data[i], 'a' + i % SIZE % 23);
  tfrt_async_value_release(world.results[0]);
  world.result_count = 0;
  tfrt_node_world_run_for(&world, IDLE_NS);
}

// Forgets the bulk channel between two; who is |silent| isn't told.
static void forget(uint32_t told, uint32_t silent) {
  tfrt_simulated_network_forget(world.network, world.hosts[told].endpoint,
                                world.hosts[silent].endpoint, TFRT_TRANSPORT_BULK);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
}

// The bulk channels that |index| has dialled so far.
static uint64_t dials_of(uint32_t index) {
  tfrt_node_t* node = world.hosts[index].node;
  tfrt_node_lock_tables(node);
  const uint64_t dials = tfrt_bulk_manager_counts(node->bulk).dials;
  tfrt_node_unlock(node);
  return dials;
}

static uint64_t all_dials(void) {
  uint64_t dials = 0;
  for (uint32_t i = 0; i <= CLIENT; ++i) dials += dials_of(i);
  return dials;
}

static void begin(void) { tfrt_node_world_initialize(&world, CLIENT, NULL); }

// Nobody has taken anybody for dead.
static void end(void) {
  for (uint32_t i = 0; i <= CLIENT; ++i) {
    tfrt_session_counters_t counters;
    tfrt_node_session_counters(world.hosts[i].node, &counters);
    ck_assert_uint_eq(counters.deaths, 0);
  }
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

START_TEST(a_host_that_expects_a_payload_learns_that_the_owner_has_lost_the_channel) {
  begin();
  run(one_way_program, 4);
  const uint64_t before = dials_of(2);
  forget(1, 2);
  ck_assert_uint_eq(dials_of(2), before);
  run(one_way_program, 4);
  end();
}
END_TEST

START_TEST(a_client_that_expects_a_payload_learns_that_the_owner_has_lost_the_channel) {
  begin();
  run(client_program, 2);
  const uint64_t before = dials_of(CLIENT);
  forget(1, CLIENT);
  ck_assert_uint_eq(dials_of(CLIENT), before);
  run(client_program, 2);
  ck_assert_uint_eq(dials_of(CLIENT), before + 1);
  end();
}
END_TEST

// It has asked nothing of that host: it knows the address from the job.
START_TEST(an_owner_dials_who_has_dialled_it_where_that_has_an_address) {
  begin();
  run(one_way_program, 4);
  const uint64_t before = dials_of(1);
  forget(1, 2);
  ck_assert_uint_eq(dials_of(1), before + 1);
  run(one_way_program, 4);
  run(both_ways_program, 8);
  end();
}
END_TEST

START_TEST(an_owner_that_is_not_told_of_the_loss_learns_of_it_when_it_sends) {
  begin();
  run(one_way_program, 4);
  forget(2, 1);
  run(one_way_program, 4);
  run(client_program, 2);
  forget(CLIENT, 1);
  run(client_program, 2);
  end();
}
END_TEST

START_TEST(a_channel_that_was_idle_and_is_not_lost_is_used_on) {
  begin();
  run(both_ways_program, 8);
  const uint64_t before = all_dials();
  for (int i = 0; i < 3; ++i) run(both_ways_program, 8);
  ck_assert_uint_eq(all_dials(), before);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("forgotten bulk channel");
  TCase* all = tcase_create("all");
  tcase_add_test(all, a_host_that_expects_a_payload_learns_that_the_owner_has_lost_the_channel);
  tcase_add_test(all, a_client_that_expects_a_payload_learns_that_the_owner_has_lost_the_channel);
  tcase_add_test(all, an_owner_dials_who_has_dialled_it_where_that_has_an_address);
  tcase_add_test(all, an_owner_that_is_not_told_of_the_loss_learns_of_it_when_it_sends);
  tcase_add_test(all, a_channel_that_was_idle_and_is_not_lost_is_used_on);
  suite_add_tcase(suite, all);
  return suite;
}
