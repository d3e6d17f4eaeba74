// SPDX-License-Identifier: Apache-2.0
//
// Sessions whose peer is not heard, over the simulated network: heartbeats, suspicion, death,
// partitions, and what begins after them.
#include "distributed/session/session.h"

#include "tests/distributed/session/session_harness.h"
#include "tests/support/test_main.h"

START_TEST(an_idle_session_lives_by_its_heartbeats) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  a->host->named = 7;
  uint64_t messages = tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_SECOND);
  ck_assert_int_eq(tfrt_harness_state(a), TFRT_SESSION_OPEN);
  ck_assert_uint_ge(a->heartbeats, 99);
  ck_assert_uint_ge(b->heartbeats, 99);
  ck_assert_uint_eq(a->suspicions, 0);
  // Round trip: twice 100 to 150 us, and what the local steps take.
  ck_assert_int_ge(tfrt_session_describe(a->session).round_trip_ns, 200 * 1000);
  ck_assert_int_le(tfrt_session_describe(a->session).round_trip_ns, 320 * 1000);
  // One beat each way in a second, and nothing else.
  messages = tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL) - messages;
  ck_assert_uint_le(messages, 2 * 101 + 4);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_silent_peer_is_suspected_after_three_seconds_and_dead_after_five) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
  int64_t begin_ns = tfrt_harness_now(&world);
  tfrt_simulated_endpoint_freeze(b->host->endpoint);
  tfrt_harness_run_for(&world, 2900 * TFRT_HARNESS_MILLISECOND);
  ck_assert(!a->is_suspected);
  tfrt_harness_run_for(&world, 200 * TFRT_HARNESS_MILLISECOND);
  ck_assert(a->is_suspected);
  ck_assert(!a->is_dead);
  tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_SILENCE, TFRT_STATUS_UNAVAILABLE);
  int64_t taken_ns = tfrt_harness_now(&world) - begin_ns;
  ck_assert_int_ge(taken_ns, 4900 * TFRT_HARNESS_MILLISECOND);
  ck_assert_int_lt(taken_ns, 5100 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_peer_that_is_heard_on_another_connection_is_not_silent) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_simulated_endpoint_freeze(b->host->endpoint);
  for (int i = 0; i < 8; ++i) {
    a->host->elsewhere_ns = tfrt_harness_now(&world);
    tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  }
  ck_assert(!a->is_suspected);
  ck_assert(!a->is_dead);
  const int64_t begin_ns = a->host->elsewhere_ns;
  tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_SILENCE, TFRT_STATUS_UNAVAILABLE);
  const int64_t taken_ns = tfrt_harness_now(&world) - begin_ns;
  ck_assert_int_ge(taken_ns, 4900 * TFRT_HARNESS_MILLISECOND);
  ck_assert_int_lt(taken_ns, 5100 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_peer_that_was_suspected_and_speaks_again_lives) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_simulated_endpoint_freeze(b->host->endpoint);
  tfrt_harness_run_for(&world, 4 * TFRT_HARNESS_SECOND);
  ck_assert(a->is_suspected);
  tfrt_harness_send(a, 5);
  tfrt_simulated_endpoint_thaw(b->host->endpoint);
  tfrt_harness_run_until_received(b, 5);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  ck_assert(!a->is_suspected);
  ck_assert_int_eq(tfrt_harness_state(a), TFRT_SESSION_OPEN);
  // It slept itself and accused nobody.
  ck_assert_uint_eq(b->suspicions, 0);
  ck_assert_int_eq(tfrt_harness_state(b), TFRT_SESSION_OPEN);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// From now on messages of more than |bytes| get lost, and those behind them; 0: none. The system
// does not notice that.
static void set_hole(tfrt_harness_world_t* world, size_t bytes) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.hole_bytes = bytes;
  options.hole_ns = 600 * TFRT_HARNESS_SECOND;
  options.hole_is_for_all = true;
  tfrt_simulated_network_set_faults(world->network, &options);
}

// Each of the two can dial the other, as hosts can.
static void connect_diallers(tfrt_harness_world_t* world, tfrt_harness_record_t** out_a,
                             tfrt_harness_record_t** out_b) {
  tfrt_harness_connect_two(world, out_a, out_b);
  ck_assert_ptr_eq(tfrt_harness_dial((*out_b)->host, (*out_a)->host), *out_b);
}

START_TEST(a_peer_that_is_heard_and_gets_nothing_is_lost_after_three_silences) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  connect_diallers(&world, &a, &b);
  set_hole(&world, 1000);
  const int64_t begin_ns = tfrt_harness_now(&world);
  tfrt_harness_send(a, 200);
  tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_STALLED, TFRT_STATUS_UNAVAILABLE);
  const int64_t taken_ns = tfrt_harness_now(&world) - begin_ns;
  ck_assert_int_ge(taken_ns, 15 * TFRT_HARNESS_SECOND);
  ck_assert_int_lt(taken_ns, 15100 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_run_for(&world, 6 * TFRT_HARNESS_SECOND);
  ck_assert(b->is_dead);
  ck_assert_uint_eq(b->received, 0);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(what_a_hole_has_taken_arrives_when_that_closes_in_time) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  connect_diallers(&world, &a, &b);
  for (int i = 1; i <= 3; ++i) {
    set_hole(&world, 1000);
    tfrt_harness_send(a, 200);
    tfrt_harness_run_for(&world, 12 * TFRT_HARNESS_SECOND);
    set_hole(&world, 0);
    tfrt_harness_run_until_received(b, 200 * (size_t)i);
  }
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_SECOND);
  ck_assert_int_eq(tfrt_harness_state(a), TFRT_SESSION_OPEN);
  ck_assert_int_eq(tfrt_harness_state(b), TFRT_SESSION_OPEN);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_host_that_slept_too_long_learns_that_it_was_buried) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_simulated_endpoint_freeze(b->host->endpoint);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_SECOND);
  ck_assert(a->is_dead);
  tfrt_simulated_endpoint_thaw(b->host->endpoint);
  int64_t begin_ns = tfrt_harness_now(&world);
  tfrt_harness_run_until_state(b, TFRT_SESSION_DEAD);
  // It reads what has arrived, the Goodbye or the reset, and does not blame silence.
  ck_assert_int_ne(b->death, TFRT_SESSION_DEATH_SILENCE);
  ck_assert_int_lt(tfrt_harness_now(&world) - begin_ns, TFRT_HARNESS_SECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_short_partition_is_survived) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_partition(a, b, true);
  tfrt_harness_send(a, 5);
  tfrt_harness_send(b, 5);
  tfrt_harness_run_for(&world, 3500 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_heal(a, b);
  tfrt_harness_run_until_received(a, 5);
  tfrt_harness_run_until_received(b, 5);
  ck_assert_uint_eq(tfrt_harness_counters(a).resumes, 0);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_connection_that_is_lost_without_a_word_is_replaced_before_the_peer_seems_dead) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  // Each time at another moment between two heartbeats.
  tfrt_harness_run_for(&world, _i * 53 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_send(a, 3);
  tfrt_harness_run_until_received(b, 3);
  for (uint64_t round = 1; round <= 3; ++round) {
    int64_t begin_ns = tfrt_harness_now(&world);
    tfrt_simulated_network_mute(world.network, a->host->endpoint, b->host->endpoint,
                                TFRT_TRANSPORT_CONTROL);
    tfrt_harness_send(a, 2);
    tfrt_harness_send(b, 1);
    tfrt_harness_run_until_received(b, 3 + 2 * round);
    tfrt_harness_run_until_received(a, round);
    // At half of the silence of 5 s, and long before the end of it.
    int64_t taken_ns = tfrt_harness_now(&world) - begin_ns;
    ck_assert_int_lt(taken_ns, 3 * TFRT_HARNESS_SECOND);
    ck_assert_uint_eq(a->suspicions + b->suspicions, 0);
    ck_assert(!a->is_dead && !b->is_dead);
    // The new connection is the only one.
    tfrt_harness_run_for(&world, 8 * TFRT_HARNESS_SECOND);
    ck_assert_uint_eq(tfrt_simulated_network_stream_count(world.network), 1);
  }
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_broken_connection_is_dialled_several_times_within_the_silence) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* hosts[2];
  for (uint64_t i = 0; i < 2; ++i) {
    tfrt_session_options_t options = tfrt_harness_options(0x0a + i);
    options.limits.heartbeat_period_ms = 200;
    options.limits.silence_ms = 2000;
    hosts[i] = tfrt_harness_add_host(&world, &options, "host:0");
  }
  tfrt_harness_record_t* a = tfrt_harness_dial(hosts[0], hosts[1]);
  tfrt_harness_run_until_state(a, TFRT_SESSION_OPEN);
  tfrt_harness_record_t* b = tfrt_harness_find(hosts[1], hosts[0]);
  const uint64_t dials = tfrt_harness_counters(a).dials;
  // Attempts hear nothing, however long they take.
  tfrt_harness_break_between(a, b);
  tfrt_harness_partition(a, b, true);
  tfrt_harness_run_for(&world, 1700 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_ge(tfrt_harness_counters(a).dials - dials, 3);
  tfrt_harness_heal(a, b);
  tfrt_harness_send(a, 5);
  tfrt_harness_run_until_received(b, 5);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(who_both_wait_longer_survive_a_longer_one) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* hosts[2];
  for (uint64_t i = 0; i < 2; ++i) {
    tfrt_session_options_t options = tfrt_harness_options(0x0a + i);
    options.limits.heartbeat_period_ms = 4000;
    options.limits.silence_ms = 30000;
    hosts[i] = tfrt_harness_add_host(&world, &options, "host:0");
  }
  tfrt_harness_record_t* a = tfrt_harness_dial(hosts[0], hosts[1]);
  tfrt_harness_run_until_state(a, TFRT_SESSION_OPEN);
  tfrt_harness_record_t* b = tfrt_harness_find(hosts[1], hosts[0]);
  ck_assert_uint_eq(tfrt_session_limits(a->session)->heartbeat_period_ms, 4000);
  tfrt_harness_partition(a, b, true);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_SECOND);
  ck_assert(!a->is_dead && !b->is_dead);
  tfrt_harness_heal(a, b);
  tfrt_harness_send(a, 5);
  tfrt_harness_run_until_received(b, 5);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_long_partition_is_death_on_both_sides_within_two_budgets) {
  for (int both_ways = 0; both_ways < 2; ++both_ways) {
    tfrt_harness_world_t world;
    tfrt_harness_record_t *a, *b;
    tfrt_harness_connect_two(&world, &a, &b);
    int64_t begin_ns = tfrt_harness_now(&world);
    tfrt_harness_partition(a, b, both_ways);
    tfrt_harness_run_until_state(b, TFRT_SESSION_DEAD);
    tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
    ck_assert_int_lt(tfrt_harness_now(&world) - begin_ns, 10 * TFRT_HARNESS_SECOND);
    tfrt_harness_heal(a, b);
    tfrt_harness_deinitialize(&world);
  }
}
END_TEST

START_TEST(after_a_partition_a_new_session_begins_with_a_new_number) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_send(a, 2);
  tfrt_harness_run_until_received(b, 2);
  tfrt_harness_partition(a, b, true);
  tfrt_harness_send(a, 2);
  tfrt_harness_run_for(&world, 12 * TFRT_HARNESS_SECOND);
  ck_assert(a->is_dead && b->is_dead);
  tfrt_harness_heal(a, b);
  tfrt_harness_record_t* again = tfrt_harness_dial(b->host, a->host);
  ck_assert_ptr_ne(again, b);
  tfrt_harness_run_until_state(again, TFRT_SESSION_OPEN);
  ck_assert_uint_eq(tfrt_session_number(again->session), 2);
  ck_assert_uint_eq(b->received, 2);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_number_that_only_the_peer_knows_is_passed_over) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_partition(a, b, true);
  tfrt_harness_run_for(&world, 12 * TFRT_HARNESS_SECOND);
  // Sessions 2 and 3 of B die before A hears of them.
  for (int i = 0; i < 2; ++i) {
    tfrt_harness_record_t* attempt = tfrt_harness_dial(b->host, a->host);
    tfrt_harness_run_until_state(attempt, TFRT_SESSION_DEAD);
    ck_assert(!attempt->was_opened);
  }
  tfrt_harness_heal(a, b);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  tfrt_harness_record_t* again = tfrt_harness_dial(a->host, b->host);
  tfrt_harness_send(again, 1);
  tfrt_harness_run_until_state(again, TFRT_SESSION_OPEN);
  ck_assert_uint_ge(tfrt_session_number(again->session), 3);
  tfrt_harness_run_until_received(tfrt_harness_find(b->host, a->host), 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

static void append_call(tfrt_harness_record_t* record, uint64_t call) {
  const tfrt_session_frame_t frame = {
      .kind = TFRT_WIRE_FRAME_INVOKE, .job = 1, .deadline_ns = TFRT_TIME_INFINITE, .call = call};
  ck_assert_int_eq(tfrt_harness_append(record, &frame), TFRT_STATUS_OK);
  tfrt_harness_run_for(record->host->world, 100 * TFRT_HARNESS_MILLISECOND);
}

static void say_goodbye(tfrt_harness_record_t* record) {
  tfrt_harness_close_session(record, TFRT_WIRE_GOODBYE_SHUTDOWN);
  tfrt_harness_run_for(record->host->world, 100 * TFRT_HARNESS_MILLISECOND);
}

// A's first Hello goes to any process at the address, so that it can't contain the next numbers for
// B. B, which remembers only the last process that it knew, accepts this Hello.
START_TEST(who_has_forgotten_us_is_told_the_numbers_that_are_next) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_host_t* c = tfrt_harness_add_simple_host(&world, 0x0c);
  tfrt_session_options_t options = tfrt_harness_options(0x0b);
  options.max_sessions = options.max_peers = 1;
  tfrt_harness_host_t* b = tfrt_harness_add_host(&world, &options, "b:0");
  tfrt_harness_record_t* first = tfrt_harness_dial(a, b);
  tfrt_harness_run_until_state(first, TFRT_SESSION_OPEN);
  append_call(first, 1);
  say_goodbye(first);
  tfrt_harness_record_t* of_another = tfrt_harness_dial(c, b);
  tfrt_harness_run_until_state(of_another, TFRT_SESSION_OPEN);
  say_goodbye(of_another);
  tfrt_harness_record_t* again = tfrt_harness_dial_address(a, b->address, 0);
  tfrt_harness_run_until_state(again, TFRT_SESSION_OPEN);
  ck_assert_uint_eq(tfrt_session_number(again->session), 2);
  append_call(again, 2);
  const tfrt_harness_record_t* at_b = tfrt_harness_find(b, a);
  ck_assert_uint_eq(tfrt_session_number(at_b->session), 2);
  ck_assert_uint_eq(tfrt_session_describe(at_b->session).peer_next_call, 2);
  ck_assert_uint_eq(at_b->others, 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session_silence");
  TCase* silence = tcase_create("silence");
  tcase_set_timeout(silence, 60);
  suite_add_tcase(suite, silence);
  tcase_add_test(silence, an_idle_session_lives_by_its_heartbeats);
  tcase_add_test(silence, a_silent_peer_is_suspected_after_three_seconds_and_dead_after_five);
  tcase_add_test(silence, a_peer_that_is_heard_on_another_connection_is_not_silent);
  tcase_add_test(silence, a_peer_that_was_suspected_and_speaks_again_lives);
  tcase_add_test(silence, a_peer_that_is_heard_and_gets_nothing_is_lost_after_three_silences);
  tcase_add_test(silence, what_a_hole_has_taken_arrives_when_that_closes_in_time);
  tcase_add_test(silence, a_host_that_slept_too_long_learns_that_it_was_buried);
  tcase_add_test(silence, a_short_partition_is_survived);
  tcase_add_loop_test(
      silence, a_connection_that_is_lost_without_a_word_is_replaced_before_the_peer_seems_dead, 0,
      20);
  tcase_add_test(silence, a_broken_connection_is_dialled_several_times_within_the_silence);
  tcase_add_test(silence, who_both_wait_longer_survive_a_longer_one);
  tcase_add_test(silence, a_long_partition_is_death_on_both_sides_within_two_budgets);
  tcase_add_test(silence, after_a_partition_a_new_session_begins_with_a_new_number);
  tcase_add_test(silence, a_number_that_only_the_peer_knows_is_passed_over);
  tcase_add_test(silence, who_has_forgotten_us_is_told_the_numbers_that_are_next);
  return suite;
}
