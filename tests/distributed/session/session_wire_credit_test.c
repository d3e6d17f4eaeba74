// SPDX-License-Identifier: Apache-2.0
//
// Sessions with a peer that violates the protocol: calls and Wants beyond the credit that it has.
#include "tests/distributed/session/raw_peer.h"

static void grant(tfrt_raw_fixture_t* fixture, uint64_t calls, uint64_t wants) {
  tfrt_node_lock_lock(&fixture->host->lock);
  tfrt_session_grant(tfrt_raw_record(fixture)->session, calls, wants);
  tfrt_node_lock_unlock_and_run(&fixture->host->lock);
  // Until the event was reported.
  tfrt_raw_run(fixture);
}

static void assert_alive(tfrt_raw_fixture_t* fixture, uint64_t frames) {
  ck_assert(!tfrt_raw_record(fixture)->is_dead);
  ck_assert_uint_eq(tfrt_raw_record(fixture)->others, frames);
}

START_TEST(a_call_without_credit_is_death) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize_with_credit(&fixture, 4, 2);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frames(&fixture, TFRT_WIRE_FRAME_INVOKE, 1, 4);
  assert_alive(&fixture, 4);
  grant(&fixture, 6, 2);
  tfrt_raw_write_frames(&fixture, TFRT_WIRE_FRAME_INVOKE, 5, 6);
  assert_alive(&fixture, 6);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_INVOKE, 7);
  tfrt_raw_assert_protocol_death(
      &fixture,
      "the call number 7 of the session, with credit for 6 of them: it has to "
      "wait until call_limit is higher");
  ck_assert_uint_eq(tfrt_raw_record(&fixture)->others, 6);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_want_without_credit_is_death) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize_with_credit(&fixture, 4, 2);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frames(&fixture, TFRT_WIRE_FRAME_WANT, 1, 2);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_INVOKE, 3);
  assert_alive(&fixture, 3);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_WANT, 4);
  tfrt_raw_assert_protocol_death(
      &fixture,
      "the Want number 3 of the session, with credit for 2 of them: it has to "
      "wait until want_limit is higher");
  ck_assert_uint_eq(tfrt_raw_record(&fixture)->others, 3);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// Each is answered at once, which gives its credit back; but nobody hears of it.
START_TEST(who_reads_nothing_has_only_the_credit_that_it_was_told) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize_with_credit(&fixture, 4, 8);
  tfrt_raw_open_session(&fixture);
  fixture.peer.is_deaf = true;
  uint64_t count = 0;
  while (!tfrt_raw_record(&fixture)->is_dead && count < 100) {
    ++count;
    tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_WANT, count);
    if (!tfrt_raw_record(&fixture)->is_dead) grant(&fixture, 4, count + 8);
  }
  ck_assert_uint_lt(count, 30);
  ck_assert_int_eq(tfrt_raw_record(&fixture)->death, TFRT_SESSION_DEATH_PROTOCOL);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// Each frame that the peer doesn't acknowledge is kept, and so would be the Results of more calls.
START_TEST(who_acknowledges_nothing_has_only_the_credit_that_it_was_told) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize_with_credit(&fixture, 4, 8);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.limits = &tfrt_raw_tiny_limits;
  tfrt_raw_write_hello(&fixture, &fixture.peer, &said);
  ck_assert_uint_eq(fixture.peer.call_limit, 4);
  grant(&fixture, 6, 8);
  ck_assert_uint_eq(fixture.peer.call_limit, 6);
  tfrt_harness_send(tfrt_raw_record(&fixture), 1000);
  grant(&fixture, 8, 8);
  ck_assert_uint_eq(fixture.peer.call_limit, 6);
  // Nor does a new connection tell more.
  said.resume = true;
  said.connection = 2;
  tfrt_raw_write_hello(&fixture, &fixture.second, &said);
  ck_assert_uint_eq(fixture.second.call_limit, 6);
  const tfrt_wire_batch_t acknowledgement = {.version = 1,
                                             .from_incarnation = TFRT_RAW_PEER,
                                             .to_incarnation = TFRT_RAW_OURS,
                                             .session = 1,
                                             .ack = 1000};
  tfrt_raw_write_batch(&fixture, &fixture.second, &acknowledgement);
  tfrt_raw_run(&fixture);
  ck_assert_uint_eq(fixture.second.call_limit, 8);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

START_TEST(a_void_goes_without_credit_and_takes_it) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize_with_credit(&fixture, 4, 2);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frames(&fixture, TFRT_WIRE_FRAME_VOID, 1, 6);
  assert_alive(&fixture, 6);
  grant(&fixture, 7, 2);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_INVOKE, 7);
  assert_alive(&fixture, 7);
  tfrt_raw_write_frame(&fixture, TFRT_WIRE_FRAME_INVOKE, 8);
  tfrt_raw_assert_protocol_death(&fixture,
                                 "the call number 8 of the session, with credit for 7 of them");
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

// The peer sends frames again whose answers were lost, by the old connection and by a new one.
START_TEST(what_comes_again_takes_no_credit_again) {
  tfrt_raw_fixture_t fixture;
  tfrt_raw_initialize_with_credit(&fixture, 4, 2);
  tfrt_raw_open_session(&fixture);
  tfrt_raw_write_frames(&fixture, TFRT_WIRE_FRAME_INVOKE, 1, 3);
  tfrt_raw_write_frames(&fixture, TFRT_WIRE_FRAME_INVOKE, 1, 3);
  tfrt_wire_hello_t said = tfrt_raw_hello();
  said.resume = true;
  said.connection = 2;
  tfrt_raw_write_hello(&fixture, &fixture.second, &said);
  ck_assert_uint_eq(fixture.second.kind, TFRT_WIRE_FRAME_WELCOME);
  for (uint64_t seq = 1; seq <= 4; ++seq) {
    tfrt_raw_write_frame_of(&fixture, &fixture.second, TFRT_WIRE_FRAME_INVOKE, seq);
  }
  assert_alive(&fixture, 4);
  // Nor does a new connection give any.
  tfrt_raw_write_frame_of(&fixture, &fixture.second, TFRT_WIRE_FRAME_INVOKE, 5);
  ck_assert(tfrt_raw_record(&fixture)->is_dead);
  ck_assert_uint_eq(fixture.second.reason, TFRT_WIRE_GOODBYE_PROTOCOL);
  tfrt_raw_deinitialize(&fixture);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session wire credit");
  TCase* credit = tcase_create("credit");
  tcase_add_test(credit, a_call_without_credit_is_death);
  tcase_add_test(credit, a_want_without_credit_is_death);
  tcase_add_test(credit, who_reads_nothing_has_only_the_credit_that_it_was_told);
  tcase_add_test(credit, who_acknowledges_nothing_has_only_the_credit_that_it_was_told);
  tcase_add_test(credit, a_void_goes_without_credit_and_takes_it);
  tcase_add_test(credit, what_comes_again_takes_no_credit_again);
  suite_add_tcase(suite, credit);
  return suite;
}
