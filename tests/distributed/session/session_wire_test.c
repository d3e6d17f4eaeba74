// SPDX-License-Identifier: Apache-2.0
//
// Sessions with a peer that violates the protocol: greetings, ends and batches.
#include <string.h>

#include "tests/distributed/session/raw_peer.h"

// --- Greetings ---------------------------------------------------------------

START_TEST(a_hello_is_answered_by_a_welcome) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 1);
  ck_assert_uint_eq(tfrt_raw_record(&fixture)->others, 1);
  ck_assert_uint_eq(fixture.peer.ack, 1);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// With any requested limits a peer gets few heartbeats, and a session that can carry all frames.
START_TEST(who_asks_for_tiny_limits_gets_the_least_of_the_protocol) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.limits = &tfrt_raw_tiny_limits;
  tfrt_raw_write_hello(&fixture, &fixture.peer, &said);
  ck_assert_uint_eq(fixture.peer.kind, TFRT_WIRE_FRAME_WELCOME);
  const size_t before = fixture.peer.batch_count;
  tfrt_harness_run_for(&fixture.world, 1000 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_le(fixture.peer.batch_count - before, 101);
  static char body[TFRT_WIRE_MAX_INLINE_SIZE + TFRT_WIRE_MAX_IMAGE_SIZE];
  const tfrt_session_frame_t large = {.kind = TFRT_WIRE_FRAME_RESULT,
                                      .job = 1,
                                      .deadline_ns = TFRT_TIME_INFINITE,
                                      .body = tfrt_string_view_make(body, sizeof(body))};
  ck_assert_int_eq(tfrt_harness_append(tfrt_raw_record(&fixture), &large), TFRT_STATUS_OK);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_stream_that_does_not_begin_with_hello_is_reset) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 1);
  ck_assert(fixture.peer.was_closed);
  ck_assert_int_eq(fixture.peer.end, TFRT_TRANSPORT_RESET);
  tfrt_string_builder_append_text(&fixture.second.out, "GET / HTTP/1.1");
  tfrt_raw_write_out(&fixture, &fixture.second);
  ck_assert(fixture.second.was_closed);
  ck_assert_ptr_null(fixture.host->records);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(who_says_nothing_is_not_waited_for) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_harness_run_for(&fixture.world, 3 * TFRT_HARNESS_SECOND);
  ck_assert(fixture.peer.was_closed);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// There is room for two connections, which those who say nothing have.
START_TEST(who_says_nothing_makes_room_for_who_dials_later) {
  tfrt_raw_fixture_t fixture;
  tfrt_session_options_t options = tfrt_harness_options(TFRT_RAW_OURS);
  options.max_sessions = 1;
  tfrt_raw_initialize_with_options(&fixture, &options, 16);
  tfrt_raw_dial(&fixture.peer, fixture.host->address);
  tfrt_raw_run(&fixture);
  tfrt_raw_dial(&fixture.second, fixture.host->address);
  tfrt_raw_run(&fixture);
  ck_assert(!fixture.peer.was_closed && !fixture.second.was_closed);
  tfrt_harness_host_t* honest = tfrt_harness_add_simple_host(&fixture.world, 0x0c);
  tfrt_harness_record_t* dialled = tfrt_harness_dial(honest, fixture.host);
  tfrt_raw_run(&fixture);
  ck_assert_int_eq(tfrt_harness_state(dialled), TFRT_SESSION_OPEN);
  ck_assert(fixture.peer.was_closed && !fixture.second.was_closed);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// The answers to them do not get through, so that they have the room for a second.
static void fill_up_with_refused(tfrt_raw_fixture_t* fixture) {
  fixture->peer.is_deaf = fixture->second.is_deaf = true;
  tfrt_raw_dial_both(fixture);
  const tfrt_wire_hello_t said = tfrt_raw_hello();
  tfrt_raw_write_hello_to(fixture, &fixture->peer, &said, 0x77);
  tfrt_raw_write_hello_to(fixture, &fixture->second, &said, 0x77);
}

static uint64_t count_dials(tfrt_harness_host_t* host) {
  tfrt_session_counters_t counters;
  tfrt_node_lock_lock(&host->lock);
  tfrt_session_manager_counters(host->manager, &counters);
  tfrt_node_lock_unlock_and_run(&host->lock);
  return counters.dials;
}

START_TEST(who_resumes_and_finds_no_room_tries_again) {
  tfrt_raw_fixture_t fixture;
  tfrt_session_options_t options = tfrt_harness_options(TFRT_RAW_OURS);
  options.max_sessions = 1;
  tfrt_raw_initialize_with_options(&fixture, &options, 1);
  tfrt_simulated_network_t* network = fixture.world.network;
  tfrt_harness_host_t* honest = tfrt_harness_add_simple_host(&fixture.world, 0x0c);
  tfrt_harness_record_t* dialled = tfrt_harness_dial(honest, fixture.host);
  tfrt_harness_run_until_state(dialled, TFRT_SESSION_OPEN);
  tfrt_simulated_network_partition(network, honest->endpoint, fixture.host->endpoint, true);
  tfrt_simulated_network_break(network, honest->endpoint, fixture.host->endpoint);
  fill_up_with_refused(&fixture);
  tfrt_simulated_network_heal(network, honest->endpoint, fixture.host->endpoint, true);
  tfrt_harness_run_until_state(dialled, TFRT_SESSION_OPEN);
  // The first one, one that was rejected, and at least one more.
  ck_assert_uint_gt(count_dials(honest), 2);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(who_is_new_and_finds_no_room_is_told) {
  tfrt_raw_fixture_t fixture;
  tfrt_session_options_t options = tfrt_harness_options(TFRT_RAW_OURS);
  options.max_sessions = 1;
  tfrt_raw_initialize_with_options(&fixture, &options, 1);
  tfrt_harness_host_t* honest = tfrt_harness_add_simple_host(&fixture.world, 0x0c);
  fill_up_with_refused(&fixture);
  tfrt_harness_record_t* dialled = tfrt_harness_dial(honest, fixture.host);
  tfrt_raw_run(&fixture);
  ck_assert(dialled->is_dead);
  ck_assert_int_eq(dialled->death, TFRT_SESSION_DEATH_REJECTED);
  ck_assert_int_eq(dialled->code, TFRT_STATUS_RESOURCE_EXHAUSTED);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_hello_to_another_process_is_refused) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  const tfrt_wire_hello_t said = tfrt_raw_hello();
  tfrt_raw_write_hello_to(&fixture, &fixture.peer, &said, 0x77);
  tfrt_raw_assert_refused(&fixture.peer, TFRT_WIRE_REFUSE_INCARNATION);
  ck_assert_ptr_null(fixture.host->records);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_resume_of_an_unknown_session_is_refused) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.resume = true;
  tfrt_raw_write_hello(&fixture, &fixture.peer, &said);
  tfrt_raw_assert_refused(&fixture.peer, TFRT_WIRE_REFUSE_SESSION);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_resume_takes_the_session_over) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.resume = true;
  said.connection = 2;
  tfrt_raw_write_hello(&fixture, &fixture.second, &said);
  ck_assert_uint_eq(fixture.second.kind, TFRT_WIRE_FRAME_WELCOME);
  ck_assert(fixture.peer.was_closed);
  ck_assert(!fixture.second.was_closed);
  ck_assert(!tfrt_raw_record(&fixture)->is_dead);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_resume_by_an_older_connection_is_refused_and_harms_nobody) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.resume = true;
  said.connection = 1;
  tfrt_raw_write_hello(&fixture, &fixture.second, &said);
  tfrt_raw_assert_refused(&fixture.second, TFRT_WIRE_REFUSE_CROSSED);
  ck_assert(!fixture.peer.was_closed);
  ck_assert(!tfrt_raw_record(&fixture)->is_dead);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// Said before the peer had another connection, by which it acknowledged more; it comes only now.
START_TEST(a_resume_that_was_overtaken_is_refused_and_harms_nobody) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_harness_send(tfrt_raw_record(&fixture), 1);
  tfrt_raw_run(&fixture);
  const tfrt_wire_batch_t acknowledgement = {.version = 1,
                                             .from_incarnation = TFRT_RAW_PEER,
                                             .to_incarnation = TFRT_RAW_OURS,
                                             .session = 1,
                                             .ack = 1};
  tfrt_raw_write_batch(&fixture, &fixture.peer, &acknowledgement);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.resume = true;
  said.connection = 2;
  said.received_seq = 0;
  tfrt_raw_write_hello(&fixture, &fixture.second, &said);
  tfrt_raw_assert_refused(&fixture.second, TFRT_WIRE_REFUSE_CROSSED);
  ck_assert(!fixture.peer.was_closed);
  ck_assert(!tfrt_raw_record(&fixture)->is_dead);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_resume_outside_of_the_window_is_death) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.resume = true;
  said.connection = 2;
  said.received_seq = 5;
  tfrt_raw_write_hello(&fixture, &fixture.second, &said);
  tfrt_raw_assert_refused(&fixture.second, TFRT_WIRE_REFUSE_SESSION);
  ck_assert(tfrt_raw_record(&fixture)->is_dead);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_new_session_of_the_same_process_buries_the_old_one) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.session = 2;
  tfrt_raw_write_hello(&fixture, &fixture.second, &said);
  ck_assert_uint_eq(fixture.second.kind, TFRT_WIRE_FRAME_WELCOME);
  ck_assert(!tfrt_raw_record(&fixture)->is_dead);
  ck_assert(tfrt_raw_record(&fixture)->next->is_dead);
  ck_assert_int_eq(tfrt_raw_record(&fixture)->next->death, TFRT_SESSION_DEATH_BURIED);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_number_that_was_buried_never_returns) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_transport_connection_abort(fixture.peer.connection);
  tfrt_harness_run_until_state(tfrt_raw_record(&fixture), TFRT_SESSION_DEAD);
  tfrt_transport_connection_release(fixture.second.connection);
  fixture.second.was_closed = false;
  tfrt_string_builder_deinitialize(&fixture.second.out);
  tfrt_raw_dial(&fixture.second, fixture.host->address);
  const tfrt_wire_hello_t said = tfrt_raw_hello();
  tfrt_raw_write_hello(&fixture, &fixture.second, &said);
  tfrt_raw_assert_refused(&fixture.second, TFRT_WIRE_REFUSE_SESSION);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// --- The end -----------------------------------------------------------------

static bool has_nothing_left(void* argument) {
  return tfrt_harness_is_drained(((tfrt_raw_fixture_t*)argument)->host);
}

// The host's writes to this peer never get through. The end of the stream, which goes behind them,
// doesn't either.
START_TEST(who_says_goodbye_and_reads_nothing_is_not_waited_for) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  fixture.peer.is_deaf = true;
  // Each is acknowledged, until there is no room.
  tfrt_raw_write_frames(&fixture, TFRT_WIRE_FRAME_CANCEL, 1, 30);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_GOODBYE, 31);
  ck_assert(tfrt_raw_record(&fixture)->is_dead);
  ck_assert_int_eq(tfrt_raw_record(&fixture)->death, TFRT_SESSION_DEATH_GOODBYE);
  ck_assert(!fixture.peer.was_closed);
  ck_assert(tfrt_simulated_network_run_until(fixture.world.network, has_nothing_left, &fixture,
                                             2 * TFRT_HARNESS_SECOND));
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// --- Batches -----------------------------------------------------------------

START_TEST(an_unknown_odd_frame_is_skipped_and_an_unknown_even_one_is_not) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frame(&fixture, 1001, 1);
  ck_assert_uint_eq(tfrt_raw_record(&fixture)->others, 0);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 2);
  ck_assert_uint_eq(tfrt_raw_record(&fixture)->others, 1);
  tfrt_raw_write_frame(&fixture, 1002, 3);
  tfrt_raw_assert_protocol_death(&fixture, "unknown kind 1002");
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_gap_closes_the_connection_and_not_the_session) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 2);
  ck_assert(fixture.peer.was_closed);
  ck_assert_uint_eq(tfrt_raw_record(&fixture)->others, 0);
  ck_assert_int_eq(tfrt_harness_state(tfrt_raw_record(&fixture)), TFRT_SESSION_BROKEN);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_duplicate_is_dropped) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 1);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 1);
  ck_assert_uint_eq(tfrt_raw_record(&fixture)->others, 1);
  ck_assert(!fixture.peer.was_closed);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_hello_in_the_middle_of_a_stream_is_death) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_REFUSE, 0);
  tfrt_raw_assert_protocol_death(&fixture, "frames without a number");
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(bytes_that_are_no_batch_are_death) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize(&fixture);
  tfrt_raw_open_session(&fixture);
  tfrt_string_builder_clear(&fixture.peer.out);
  tfrt_string_builder_append(&fixture.peer.out, "\xff\xff\xff\xff\xff", 5);
  tfrt_raw_write_out(&fixture, &fixture.peer);
  tfrt_raw_assert_protocol_death(&fixture, "can't be read");
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_header_that_does_not_fit_is_death) {
  static const struct {
    tfrt_wire_batch_t batch;
    const char* message;
  } cases[] = {
      {{.version = 1, .from_incarnation = 0x0c, .to_incarnation = TFRT_RAW_OURS, .session = 1},
       "from somebody else"},
      {{.version = 1, .from_incarnation = TFRT_RAW_PEER, .to_incarnation = 0x0c, .session = 1},
       "for somebody else"},
      {{.version = 1,
        .from_incarnation = TFRT_RAW_PEER,
        .to_incarnation = TFRT_RAW_OURS,
        .session = 2},
       "another session"},
      {{.version = 2,
        .from_incarnation = TFRT_RAW_PEER,
        .to_incarnation = TFRT_RAW_OURS,
        .session = 1},
       "another version"},
      {{.version = 1,
        .from_incarnation = TFRT_RAW_PEER,
        .to_incarnation = TFRT_RAW_OURS,
        .session = 1,
        .ack = 9},
       "never sent"},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    tfrt_raw_fixture_t fixture;
    tfrt_raw_initialize(&fixture);
    tfrt_raw_open_session(&fixture);
    tfrt_raw_write_batch(&fixture, &fixture.peer, &cases[i].batch);
    tfrt_raw_assert_protocol_death(&fixture, cases[i].message);
    tfrt_raw_deinitialize(&fixture);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session wire");
  TCase* greetings = tcase_create("greetings");
  tcase_add_test(greetings, a_hello_is_answered_by_a_welcome);
  tcase_add_test(greetings, who_asks_for_tiny_limits_gets_the_least_of_the_protocol);
  tcase_add_test(greetings, a_stream_that_does_not_begin_with_hello_is_reset);
  tcase_add_test(greetings, who_says_nothing_is_not_waited_for);
  tcase_add_test(greetings, who_says_nothing_makes_room_for_who_dials_later);
  tcase_add_test(greetings, who_resumes_and_finds_no_room_tries_again);
  tcase_add_test(greetings, who_is_new_and_finds_no_room_is_told);
  tcase_add_test(greetings, a_hello_to_another_process_is_refused);
  tcase_add_test(greetings, a_resume_of_an_unknown_session_is_refused);
  tcase_add_test(greetings, a_resume_takes_the_session_over);
  tcase_add_test(greetings, a_resume_by_an_older_connection_is_refused_and_harms_nobody);
  tcase_add_test(greetings, a_resume_that_was_overtaken_is_refused_and_harms_nobody);
  tcase_add_test(greetings, a_resume_outside_of_the_window_is_death);
  tcase_add_test(greetings, a_new_session_of_the_same_process_buries_the_old_one);
  tcase_add_test(greetings, a_number_that_was_buried_never_returns);
  suite_add_tcase(suite, greetings);
  TCase* ends = tcase_create("ends");
  tcase_add_test(ends, who_says_goodbye_and_reads_nothing_is_not_waited_for);
  suite_add_tcase(suite, ends);
  TCase* batches = tcase_create("batches");
  tcase_add_test(batches, an_unknown_odd_frame_is_skipped_and_an_unknown_even_one_is_not);
  tcase_add_test(batches, a_gap_closes_the_connection_and_not_the_session);
  tcase_add_test(batches, a_duplicate_is_dropped);
  tcase_add_test(batches, a_hello_in_the_middle_of_a_stream_is_death);
  tcase_add_test(batches, bytes_that_are_no_batch_are_death);
  tcase_add_test(batches, a_header_that_does_not_fit_is_death);
  suite_add_tcase(suite, batches);
  return suite;
}
