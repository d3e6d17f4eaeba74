// SPDX-License-Identifier: Apache-2.0
//
// Sessions, one rule of the protocol at a time, over the simulated network.
#include "distributed/session/session.h"

#include <string.h>

#include "tests/distributed/session/session_harness.h"
#include "tests/support/test_main.h"

// --- Beginning ---------------------------------------------------------------

START_TEST(two_hosts_open_a_session_and_frames_go_both_ways) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  ck_assert_uint_eq(tfrt_session_number(a->session), 1);
  ck_assert_uint_eq(tfrt_session_number(b->session), 1);
  ck_assert_uint_eq(tfrt_session_describe(a->session).version, TFRT_WIRE_VERSION_MAX);
  tfrt_harness_send(a, 100);
  tfrt_harness_send(b, 50);
  tfrt_harness_run_until_received(b, 100);
  tfrt_harness_run_until_received(a, 50);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(frames_that_are_appended_before_the_session_is_open_arrive_first) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  tfrt_harness_record_t* record = tfrt_harness_dial(a, b);
  tfrt_harness_send(record, 3);
  tfrt_harness_run_until_state(record, TFRT_SESSION_OPEN);
  tfrt_harness_send(record, 3);
  tfrt_harness_run_until_received(tfrt_harness_find(b, a), 6);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_peer_is_found_and_not_dialled_twice) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  ck_assert_ptr_eq(tfrt_harness_dial(a->host, b->host), a);
  ck_assert_ptr_eq(tfrt_harness_dial(b->host, a->host), b);
  ck_assert_uint_eq(tfrt_harness_counters(a).dials, 1);
  ck_assert_uint_eq(tfrt_harness_counters(b).dials, 0);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(an_address_alone_is_enough_to_find_out_who_is_there) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  tfrt_harness_record_t* record = tfrt_harness_dial_address(a, b->address, 0);
  ck_assert_ptr_eq(tfrt_harness_dial_address(a, b->address, 0), record);
  tfrt_harness_run_until_state(record, TFRT_SESSION_OPEN);
  ck_assert_uint_eq(tfrt_session_peer_incarnation(record->session), 0x0b);
  ck_assert_ptr_eq(tfrt_harness_dial(a, b), record);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_process_that_is_reached_by_two_addresses_is_told_as_such) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  const tfrt_session_options_t options = tfrt_harness_options(0x0b);
  tfrt_harness_host_t* b = tfrt_harness_add_host(&world, &options, "host:0");
  tfrt_harness_record_t* back = tfrt_harness_dial(b, a);
  tfrt_harness_run_until_state(back, TFRT_SESSION_OPEN);
  tfrt_harness_record_t* record = tfrt_harness_dial_address(a, b->address, 0);
  tfrt_harness_run_until_state(record, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(record, TFRT_SESSION_DEATH_BURIED, TFRT_STATUS_ALREADY_EXISTS);
  ck_assert_int_eq(tfrt_harness_state(back), TFRT_SESSION_OPEN);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(of_two_crossing_dials_the_one_of_the_smaller_incarnation_stays) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    tfrt_harness_world_t world;
    tfrt_harness_initialize_with_seed(&world, seed);
    tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
    tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
    tfrt_harness_record_t* to_b = tfrt_harness_dial(a, b);
    tfrt_harness_record_t* to_a = tfrt_harness_dial(b, a);
    tfrt_harness_send(to_b, 5);
    tfrt_harness_send(to_a, 5);
    tfrt_harness_run_until_received(to_a, 5);
    tfrt_harness_run_until_received(to_b, 5);
    tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
    ck_assert_int_eq(tfrt_harness_state(to_a), TFRT_SESSION_OPEN);
    ck_assert_int_eq(tfrt_harness_state(to_b), TFRT_SESSION_OPEN);
    ck_assert_uint_eq(tfrt_simulated_network_stream_count(world.network), 1);
    // Neither had to be begun twice, or to be carried by two connections in turn.
    ck_assert_uint_eq(tfrt_harness_counters(to_a).deaths + tfrt_harness_counters(to_b).deaths, 0);
    ck_assert_uint_eq(tfrt_harness_counters(to_a).resumes + tfrt_harness_counters(to_b).resumes, 0);
    ck_assert_uint_eq(tfrt_harness_counters(to_b).dials, 1);
    ck_assert_uint_eq(tfrt_harness_counters(to_a).dials, 1);
    ck_assert_uint_eq(tfrt_session_number(to_a->session), 1);
    tfrt_harness_deinitialize(&world);
  }
}
END_TEST

START_TEST(a_wrong_cluster_key_is_death_that_says_so) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_session_options_t options = tfrt_harness_options(0x0a);
  options.cluster_key = tfrt_string_view_of("wrong");
  tfrt_harness_host_t* a = tfrt_harness_add_host(&world, &options, NULL);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  tfrt_harness_record_t* record = tfrt_harness_dial(a, b);
  tfrt_harness_run_until_state(record, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(record, TFRT_SESSION_DEATH_REJECTED, TFRT_STATUS_UNAUTHENTICATED);
  ck_assert(!record->was_opened);
  ck_assert_ptr_null(tfrt_harness_find(b, a));
  tfrt_harness_deinitialize(&world);
}
END_TEST

// The handler gets one event a second for refused dials, however often a peer dials.
START_TEST(of_who_is_refused_the_handler_hears_once_a_second) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  for (uint64_t i = 0; i < 4; ++i) {
    if (i == 3) tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
    tfrt_session_options_t options = tfrt_harness_options(0x0c + i);
    if (i < 3) options.cluster_key = tfrt_string_view_of("wrong");
    if (i == 3) options.version_min = options.version_max = 7;
    tfrt_harness_host_t* a = tfrt_harness_add_host(&world, &options, NULL);
    tfrt_harness_run_until_state(tfrt_harness_dial(a, b), TFRT_SESSION_DEAD);
    ck_assert_uint_eq(b->refusals, i < 3 ? 1 : 2);
    ck_assert_uint_eq(b->untold_refusals, i < 3 ? 0 : 2);
    ck_assert_int_eq(b->refusal_code,
                     i < 3 ? TFRT_STATUS_UNAUTHENTICATED : TFRT_STATUS_FAILED_PRECONDITION);
  }
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(versions_without_overlap_are_refused_with_both_ranges) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_session_options_t options = tfrt_harness_options(0x0a);
  options.version_min = 7;
  options.version_max = 9;
  tfrt_harness_host_t* a = tfrt_harness_add_host(&world, &options, NULL);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  tfrt_harness_record_t* record = tfrt_harness_dial(a, b);
  tfrt_harness_run_until_state(record, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(record, TFRT_SESSION_DEATH_VERSION, TFRT_STATUS_ABORTED);
  ck_assert_ptr_nonnull(strstr(record->message, "7 to 9"));
  ck_assert_ptr_nonnull(strstr(record->message, "1 to 1"));
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(the_highest_common_version_and_the_common_features_rule) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_session_options_t options = tfrt_harness_options(0x0a);
  options.version_max = 3;
  options.features = TFRT_WIRE_FEATURE_PUSH | TFRT_WIRE_FEATURE_CHANNELS;
  options.limits.inline_bytes = 100;
  tfrt_harness_host_t* a = tfrt_harness_add_host(&world, &options, "host:0");
  options = tfrt_harness_options(0x0b);
  options.version_max = 2;
  options.features = TFRT_WIRE_FEATURE_RECOVER | TFRT_WIRE_FEATURE_CHANNELS;
  options.limits.heartbeat_period_ms = 500;
  tfrt_harness_host_t* b = tfrt_harness_add_host(&world, &options, "host:0");
  tfrt_harness_record_t* record = tfrt_harness_dial(a, b);
  tfrt_harness_run_until_state(record, TFRT_SESSION_OPEN);
  const tfrt_harness_record_t* records[2] = {record, tfrt_harness_find(b, a)};
  for (int i = 0; i < 2; ++i) {
    ck_assert_uint_eq(tfrt_session_describe(records[i]->session).version, 2);
    ck_assert_uint_eq(tfrt_session_features(records[i]->session), TFRT_WIRE_FEATURE_CHANNELS);
    ck_assert_uint_eq(tfrt_session_limits(records[i]->session)->inline_bytes, 100);
    ck_assert_uint_eq(tfrt_session_limits(records[i]->session)->heartbeat_period_ms, 500);
  }
  tfrt_harness_send(record, 1);
  tfrt_harness_run_until_received(tfrt_harness_find(b, a), 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(nobody_there_is_death_at_once_and_silence_within_the_budget) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  tfrt_harness_record_t* nobody = tfrt_harness_dial_address(a, "nobody:1", 0);
  tfrt_harness_run_until_state(nobody, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(nobody, TFRT_SESSION_DEATH_GONE, TFRT_STATUS_UNAVAILABLE);
  int64_t begin_ns = tfrt_harness_now(&world);
  ck_assert_int_lt(begin_ns, 2 * TFRT_HARNESS_SECOND);
  tfrt_simulated_endpoint_freeze(b->endpoint);
  tfrt_harness_record_t* frozen = tfrt_harness_dial(a, b);
  tfrt_harness_run_until_state(frozen, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(frozen, TFRT_SESSION_DEATH_SILENCE, TFRT_STATUS_UNAVAILABLE);
  int64_t taken_ns = tfrt_harness_now(&world) - begin_ns;
  ck_assert_int_ge(taken_ns, 5 * TFRT_HARNESS_SECOND);
  ck_assert_int_lt(taken_ns, 6 * TFRT_HARNESS_SECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(another_process_at_the_address_is_death_at_once) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  tfrt_harness_record_t* record = tfrt_harness_dial_address(a, b->address, 0x0c);
  tfrt_harness_run_until_state(record, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(record, TFRT_SESSION_DEATH_REPLACED, TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(record->root_key, 0x0c);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// --- Connections that break --------------------------------------------------

START_TEST(a_broken_connection_is_resumed_and_nothing_is_lost_or_doubled) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    tfrt_harness_world_t world;
    tfrt_harness_record_t *a, *b;
    tfrt_harness_connect_two(&world, &a, &b);
    for (int i = 0; i < 10; ++i) {
      tfrt_harness_send(a, 20);
      tfrt_harness_send(b, 30);
      tfrt_harness_run_for(&world, (int64_t)(seed * 7 + (uint64_t)i * 13) % 300 * 1000);
      tfrt_harness_break_between(a, b);
      tfrt_harness_send(a, 20);
    }
    tfrt_harness_run_until_received(b, 400);
    tfrt_harness_run_until_received(a, 300);
    ck_assert_int_eq(tfrt_harness_state(a), TFRT_SESSION_OPEN);
    ck_assert_uint_gt(tfrt_harness_counters(a).resumes, 0);
    ck_assert_uint_eq(tfrt_session_number(a->session), 1);
    tfrt_harness_deinitialize(&world);
  }
}
END_TEST

START_TEST(a_reset_is_redialled_at_once) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  int64_t begin_ns = tfrt_harness_now(&world);
  tfrt_harness_break_between(a, b);
  tfrt_harness_run_until_state(a, TFRT_SESSION_BROKEN);
  tfrt_harness_run_until_state(a, TFRT_SESSION_OPEN);
  ck_assert_int_lt(tfrt_harness_now(&world) - begin_ns, 10 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// A process that dies: its connections end, and a dial that comes before its port is closed ends as
// these.
START_TEST(a_dial_that_is_reset_too_is_made_again_soon) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  const uint64_t dials = tfrt_harness_counters(a).dials;
  tfrt_harness_break_between(a, b);
  tfrt_harness_run_until_state(a, TFRT_SESSION_BROKEN);
  const int64_t begin_ns = tfrt_harness_now(&world);
  tfrt_harness_break_between(a, b);
  tfrt_harness_kill(b->host);
  tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_GONE, TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(tfrt_harness_counters(a).dials - dials, 2);
  ck_assert_int_lt(tfrt_harness_now(&world) - begin_ns, 10 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// A relay that resets every connection: the dials become as rare as those of other failures.
START_TEST(dials_that_are_reset_again_and_again_become_rare) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  const uint64_t dials = tfrt_harness_counters(a).dials;
  const int64_t end_ns = tfrt_harness_now(&world) + TFRT_HARNESS_SECOND;
  while (tfrt_harness_now(&world) < end_ns) {
    tfrt_harness_break_between(a, b);
    tfrt_harness_run_for(&world, 10 * 1000);
  }
  ck_assert_uint_ge(tfrt_harness_counters(a).dials - dials, 8);
  ck_assert_uint_le(tfrt_harness_counters(a).dials - dials, 11);
  tfrt_harness_run_until_state(a, TFRT_SESSION_OPEN);
  ck_assert_uint_eq(tfrt_session_number(a->session), 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(what_the_resume_says_is_there_is_not_replayed) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_send(a, 10);
  // It has come, and is not acknowledged yet.
  tfrt_harness_run_until_received(b, 10);
  tfrt_harness_break_between(a, b);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(tfrt_harness_counters(a).resumes, 1);
  ck_assert_uint_eq(tfrt_harness_counters(a).frames_replayed, 0);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_session_whose_welcome_was_lost_is_begun_again_as_the_same) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  tfrt_simulated_network_partition(world.network, b->endpoint, a->endpoint, false);
  tfrt_harness_record_t* to_b = tfrt_harness_dial(a, b);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_record_t* to_a = tfrt_harness_find(b, a);
  ck_assert_int_eq(tfrt_harness_state(to_a), TFRT_SESSION_OPEN);
  ck_assert_int_eq(tfrt_harness_state(to_b), TFRT_SESSION_CONNECTING);
  tfrt_harness_send(to_a, 3);
  tfrt_simulated_network_break(world.network, a->endpoint, b->endpoint);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  tfrt_simulated_network_heal(world.network, b->endpoint, a->endpoint, false);
  tfrt_harness_run_until_state(to_b, TFRT_SESSION_OPEN);
  tfrt_harness_send(to_b, 3);
  tfrt_harness_run_until_received(to_b, 3);
  tfrt_harness_run_until_received(to_a, 3);
  ck_assert_uint_eq(tfrt_session_number(to_b->session), 1);
  ck_assert_uint_eq(tfrt_harness_counters(to_a).deaths, 0);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_peer_that_can_not_be_dialled_is_waited_for) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  const tfrt_session_options_t options = tfrt_harness_options(0x0b);
  tfrt_harness_host_t* client = tfrt_harness_add_host(&world, &options, NULL);
  tfrt_harness_host_t* server = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_record_t* to_server = tfrt_harness_dial(client, server);
  tfrt_harness_run_until_state(to_server, TFRT_SESSION_OPEN);
  tfrt_harness_record_t* to_client = tfrt_harness_find(server, client);
  tfrt_harness_break_between(to_server, to_client);
  tfrt_harness_run_until_state(to_client, TFRT_SESSION_BROKEN);
  tfrt_harness_send(to_client, 3);
  tfrt_harness_run_until_received(to_server, 3);
  // A client that is gone is silence: nobody can tell more.
  int64_t begin_ns = tfrt_harness_now(&world);
  tfrt_harness_kill(client);
  tfrt_harness_run_until_state(to_client, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(to_client, TFRT_SESSION_DEATH_SILENCE, TFRT_STATUS_UNAVAILABLE);
  ck_assert_int_lt(tfrt_harness_now(&world) - begin_ns, 6 * TFRT_HARNESS_SECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_killed_host_is_dead_as_soon_as_its_port_refuses) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_session_set_peer_rank(a->session, 2);
  int64_t begin_ns = tfrt_harness_now(&world);
  tfrt_harness_kill(b->host);
  tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_GONE, TFRT_STATUS_UNAVAILABLE);
  ck_assert_int_lt(tfrt_harness_now(&world) - begin_ns, 10 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(a->root_key, 0x0b);
  ck_assert_ptr_nonnull(strstr(a->message, "host 2"));
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_restarted_host_is_another_one) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_send(a, 1);
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  memcpy(address, b->host->address, sizeof(address));
  tfrt_harness_kill(b->host);
  const tfrt_session_options_t options = tfrt_harness_options(0x0c);
  tfrt_harness_host_t* c = tfrt_harness_add_host(&world, &options, address);
  tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_REPLACED, TFRT_STATUS_UNAVAILABLE);
  ck_assert_ptr_null(tfrt_harness_find(c, a->host));
  tfrt_harness_record_t* again = tfrt_harness_dial(a->host, c);
  tfrt_harness_send(again, 2);
  tfrt_harness_run_until_state(again, TFRT_SESSION_OPEN);
  tfrt_harness_run_until_received(tfrt_harness_find(c, a->host), 2);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(doubled_and_swapped_batches_do_not_reach_the_handler) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    tfrt_simulated_options_t network;
    tfrt_simulated_options_initialize(&network);
    network.seed = seed;
    network.duplicate_chance = 100000;
    network.reorder_chance = 100000;
    tfrt_harness_world_t world;
    tfrt_harness_initialize(&world, &network);
    tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
    tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
    tfrt_harness_record_t* to_b = tfrt_harness_dial(a, b);
    for (int i = 0; i < 50; ++i) {
      tfrt_harness_send(to_b, 3);
      tfrt_harness_run_for(&world, TFRT_HARNESS_MILLISECOND);
    }
    tfrt_harness_record_t* to_a = tfrt_harness_find(b, a);
    tfrt_harness_run_until_received(to_a, 150);
    ck_assert_uint_gt(tfrt_harness_counters(to_a).duplicates + tfrt_harness_counters(to_a).gaps, 0);
    network.duplicate_chance = network.reorder_chance = 0;
    tfrt_simulated_network_set_faults(world.network, &network);
    tfrt_harness_deinitialize(&world);
  }
}
END_TEST

// --- Goodbyes ----------------------------------------------------------------

START_TEST(a_handler_is_woken_when_it_has_asked_for_that_but_not_by_a_dead_session) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
  tfrt_harness_record_t* record = tfrt_harness_dial(a, b);
  tfrt_harness_run_until_state(record, TFRT_SESSION_OPEN);
  int64_t begin_ns = tfrt_harness_now(&world);
  tfrt_node_lock_lock(&a->lock);
  tfrt_session_wake_at(record->session, begin_ns + 30 * TFRT_HARNESS_MILLISECOND);
  tfrt_session_wake_at(record->session, begin_ns + 20 * TFRT_HARNESS_MILLISECOND);
  tfrt_session_wake_at(record->session, begin_ns + 40 * TFRT_HARNESS_MILLISECOND);
  tfrt_node_lock_unlock_and_run(&a->lock);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(record->wakes, 1);
  ck_assert_int_ge(record->woken_ns, begin_ns + 20 * TFRT_HARNESS_MILLISECOND);
  ck_assert_int_lt(record->woken_ns, begin_ns + 30 * TFRT_HARNESS_MILLISECOND);
  tfrt_node_lock_lock(&a->lock);
  tfrt_session_wake_at(record->session, tfrt_harness_now(&world) + TFRT_HARNESS_SECOND);
  tfrt_session_close(record->session, TFRT_WIRE_GOODBYE_SHUTDOWN, tfrt_string_view_of("enough"));
  tfrt_session_wake_at(record->session, tfrt_harness_now(&world) + TFRT_HARNESS_MILLISECOND);
  tfrt_node_lock_unlock_and_run(&a->lock);
  tfrt_harness_run_for(&world, 2 * TFRT_HARNESS_SECOND);
  ck_assert_uint_eq(record->wakes, 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_goodbye_comes_behind_what_was_appended) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_send(a, 100);
  tfrt_harness_close_session(a, TFRT_WIRE_GOODBYE_SHUTDOWN);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_CLOSED, TFRT_STATUS_UNAVAILABLE);
  tfrt_harness_run_until_state(b, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(b, TFRT_SESSION_DEATH_GOODBYE, TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(b->received, 100);
  ck_assert_ptr_nonnull(strstr(b->message, "a test"));
  const tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_RELEASE,
                                      .deadline_ns = TFRT_TIME_INFINITE};
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// Its end of the stream goes on as long as it stands still; ours does not.
START_TEST(a_host_that_stands_still_is_waited_for_as_long_as_a_goodbye_takes) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_simulated_endpoint_freeze(b->host->endpoint);
  tfrt_harness_close_session(a, TFRT_WIRE_GOODBYE_SHUTDOWN);
  tfrt_harness_run_for(&world, 900 * TFRT_HARNESS_MILLISECOND);
  ck_assert(!tfrt_harness_is_drained(a->host));
  tfrt_harness_run_for(&world, 200 * TFRT_HARNESS_MILLISECOND);
  ck_assert(tfrt_harness_is_drained(a->host));
  tfrt_simulated_endpoint_thaw(b->host->endpoint);
  tfrt_harness_run_until_state(b, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(b, TFRT_SESSION_DEATH_GOODBYE, TFRT_STATUS_UNAVAILABLE);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(draining_is_told_and_the_session_goes_on) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_node_lock_lock(&a->host->lock);
  tfrt_session_manager_close(a->host->manager, true);
  tfrt_node_lock_unlock_and_run(&a->host->lock);
  tfrt_harness_send(a, 1);
  tfrt_harness_run_until_received(b, 1);
  ck_assert(b->is_draining);
  tfrt_harness_host_t* c = tfrt_harness_add_simple_host(&world, 0x0c);
  tfrt_harness_record_t* late = tfrt_harness_dial(c, a->host);
  tfrt_harness_run_until_state(late, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(late, TFRT_SESSION_DEATH_BURIED, TFRT_STATUS_UNAVAILABLE);
  tfrt_harness_break_between(a, b);
  tfrt_harness_send(b, 1);
  tfrt_harness_run_until_received(a, 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_breach_of_protocol_ends_that_session_only) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_host_t* c = tfrt_harness_add_simple_host(&world, 0x0c);
  tfrt_harness_record_t* other = tfrt_harness_dial(c, b->host);
  tfrt_harness_run_until_state(other, TFRT_SESSION_OPEN);
  b->host->reject_with = "call number 9 is not 8";
  tfrt_harness_send(a, 3);
  tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
  tfrt_harness_expect_dead(b, TFRT_SESSION_DEATH_PROTOCOL, TFRT_STATUS_ABORTED);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_PROTOCOL, TFRT_STATUS_ABORTED);
  ck_assert_ptr_nonnull(strstr(a->message, "call number 9 is not 8"));
  ck_assert_uint_eq(b->received, 1);
  b->host->reject_with = NULL;
  tfrt_harness_send(other, 3);
  tfrt_harness_run_until_received(tfrt_harness_find(b->host, c), 3);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_handler_may_close_the_session_inside_of_on_frame) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  b->host->closes_on_frame = true;
  tfrt_harness_send(a, 10);
  tfrt_harness_run_until_state(a, TFRT_SESSION_DEAD);
  ck_assert_uint_eq(b->received, 1);
  tfrt_harness_expect_dead(a, TFRT_SESSION_DEATH_GOODBYE, TFRT_STATUS_UNAVAILABLE);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// --- Options -----------------------------------------------------------------

START_TEST(options_that_can_not_work_are_refused) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_session_options_t options[4];
  for (int i = 0; i < 4; ++i) options[i] = tfrt_harness_options(0x0b);
  options[0].incarnation = 0;
  options[1].limits.silence_ms = 1500;
  options[2].version_min = 0;
  options[3].redial_delay_ns = 0;
  for (int i = 0; i < 4; ++i) {
    tfrt_session_manager_t* manager;
    tfrt_status_t status =
        tfrt_session_manager_create(&options[i], tfrt_simulated_endpoint_transport(a->endpoint),
                                    &a->lock, tfrt_simulated_endpoint_timers(a->endpoint),
                                    &a->handler, tfrt_allocator_system(), &manager);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_null(manager);
    tfrt_status_release(status);
  }
  tfrt_harness_deinitialize(&world);
}
END_TEST

static TCase* add_case(Suite* suite, const char* name) {
  TCase* test_case = tcase_create(name);
  tcase_set_timeout(test_case, 60);
  suite_add_tcase(suite, test_case);
  return test_case;
}

static void add_goodbye_cases(Suite* suite) {
  TCase* goodbye = add_case(suite, "goodbye");
  tcase_add_test(goodbye, a_goodbye_comes_behind_what_was_appended);
  tcase_add_test(goodbye, a_handler_is_woken_when_it_has_asked_for_that_but_not_by_a_dead_session);
  tcase_add_test(goodbye, a_host_that_stands_still_is_waited_for_as_long_as_a_goodbye_takes);
  tcase_add_test(goodbye, draining_is_told_and_the_session_goes_on);
  tcase_add_test(goodbye, a_breach_of_protocol_ends_that_session_only);
  tcase_add_test(goodbye, a_handler_may_close_the_session_inside_of_on_frame);
}

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session");
  TCase* beginning = add_case(suite, "beginning");
  tcase_add_test(beginning, two_hosts_open_a_session_and_frames_go_both_ways);
  tcase_add_test(beginning, frames_that_are_appended_before_the_session_is_open_arrive_first);
  tcase_add_test(beginning, a_peer_is_found_and_not_dialled_twice);
  tcase_add_test(beginning, an_address_alone_is_enough_to_find_out_who_is_there);
  tcase_add_test(beginning, a_process_that_is_reached_by_two_addresses_is_told_as_such);
  tcase_add_test(beginning, of_two_crossing_dials_the_one_of_the_smaller_incarnation_stays);
  tcase_add_test(beginning, a_wrong_cluster_key_is_death_that_says_so);
  tcase_add_test(beginning, of_who_is_refused_the_handler_hears_once_a_second);
  tcase_add_test(beginning, versions_without_overlap_are_refused_with_both_ranges);
  tcase_add_test(beginning, the_highest_common_version_and_the_common_features_rule);
  tcase_add_test(beginning, nobody_there_is_death_at_once_and_silence_within_the_budget);
  tcase_add_test(beginning, another_process_at_the_address_is_death_at_once);
  tcase_add_test(beginning, options_that_can_not_work_are_refused);
  TCase* breaking = add_case(suite, "breaking");
  tcase_add_test(breaking, a_broken_connection_is_resumed_and_nothing_is_lost_or_doubled);
  tcase_add_test(breaking, a_reset_is_redialled_at_once);
  tcase_add_test(breaking, a_dial_that_is_reset_too_is_made_again_soon);
  tcase_add_test(breaking, dials_that_are_reset_again_and_again_become_rare);
  tcase_add_test(breaking, what_the_resume_says_is_there_is_not_replayed);
  tcase_add_test(breaking, a_session_whose_welcome_was_lost_is_begun_again_as_the_same);
  tcase_add_test(breaking, a_peer_that_can_not_be_dialled_is_waited_for);
  tcase_add_test(breaking, a_killed_host_is_dead_as_soon_as_its_port_refuses);
  tcase_add_test(breaking, a_restarted_host_is_another_one);
  tcase_add_test(breaking, doubled_and_swapped_batches_do_not_reach_the_handler);
  add_goodbye_cases(suite);
  return suite;
}
