// SPDX-License-Identifier: Apache-2.0
//
// Numbers of calls and wants, and the credit that they wait for, over the simulated network.
#include "distributed/session/session.h"
#include "tests/distributed/session/session_harness.h"
#include "tests/support/test_main.h"

static tfrt_status_code_t append_call(tfrt_harness_record_t* record, uint32_t kind) {
  const tfrt_session_frame_t frame = {
      .kind = kind,
      .job = 1,
      .deadline_ns = TFRT_TIME_INFINITE,
      .body = tfrt_string_view_of("call"),
      .call = tfrt_session_next_call(record->session),
  };
  return tfrt_harness_append(record, &frame);
}

START_TEST(call_numbers_run_on_over_sessions) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  ck_assert_uint_eq(tfrt_session_next_call(a->session), 1);
  ck_assert_uint_eq(tfrt_session_describe(b->session).peer_next_call, 1);
  for (int i = 0; i < 3; ++i) {
    ck_assert_int_eq(append_call(a, TFRT_WIRE_FRAME_INVOKE), TFRT_STATUS_OK);
  }
  ck_assert_uint_eq(tfrt_session_next_call(a->session), 4);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  ck_assert_uint_eq(b->others, 3);
  ck_assert(tfrt_session_call_was_written(a->session, 3));
  ck_assert(!tfrt_session_call_was_written(a->session, 4));
  tfrt_harness_partition(a, b, true);
  ck_assert_int_eq(append_call(a, TFRT_WIRE_FRAME_INVOKE), TFRT_STATUS_OK);
  tfrt_harness_run_for(&world, 12 * TFRT_HARNESS_SECOND);
  ck_assert(a->is_dead);
  ck_assert(tfrt_session_call_was_written(a->session, 4));
  tfrt_harness_heal(a, b);
  tfrt_harness_record_t* again = tfrt_harness_dial(a->host, b->host);
  ck_assert_uint_eq(tfrt_session_next_call(again->session), 5);
  // One that is named before the session is open is one that the peer will see.
  ck_assert_int_eq(append_call(again, TFRT_WIRE_FRAME_INVOKE), TFRT_STATUS_OK);
  tfrt_harness_run_until_state(again, TFRT_SESSION_OPEN);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  tfrt_harness_record_t* back = tfrt_harness_find(b->host, a->host);
  ck_assert_uint_eq(tfrt_session_describe(back->session).peer_next_call, 5);
  ck_assert_uint_eq(back->others, 1);
  ck_assert(!tfrt_session_call_was_written(again->session, 4));
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_number_that_is_not_the_next_one_is_refused_and_not_taken) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_session_frame_t frame = {
      .kind = TFRT_WIRE_FRAME_INVOKE, .job = 1, .deadline_ns = TFRT_TIME_INFINITE, .call = 2};
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  frame.call = 0;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  frame.kind = TFRT_WIRE_FRAME_WANT;
  frame.want = 2;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  frame.want = 0;
  frame.kind = TFRT_WIRE_FRAME_GOODBYE;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  frame.kind = TFRT_WIRE_FRAME_CANCEL;
  frame.after_call = 1;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  frame.after_call = 0;
  frame.after_want = 1;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  frame.after_want = 0;
  frame.kind = 1000;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  frame.kind = TFRT_WIRE_FRAME_RELEASE;
  frame.body = tfrt_string_view_make("", TFRT_WIRE_MAX_BATCH_SIZE);
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_uint_eq(tfrt_session_next_call(a->session), 1);
  ck_assert_uint_eq(tfrt_session_next_want(a->session), 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// The first of two hosts dials the second: its record, of a session that isn't open yet.
static tfrt_harness_record_t* begin_to_dial(tfrt_harness_world_t* world) {
  tfrt_harness_initialize_with_seed(world, 1);
  tfrt_harness_host_t* from = tfrt_harness_add_simple_host(world, 0x0a);
  return tfrt_harness_dial(from, tfrt_harness_add_simple_host(world, 0x0b));
}

// The Welcome states the dialler's credit for calls, even if more frames follow, or follow late.
START_TEST(a_call_that_waits_for_its_session_goes_with_the_first_frames) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t* a = begin_to_dial(&world);
  tfrt_harness_send(a, 1);
  ck_assert_int_eq(append_call(a, TFRT_WIRE_FRAME_INVOKE), TFRT_STATUS_OK);
  tfrt_harness_run_until_state(a, TFRT_SESSION_OPEN);
  ck_assert(tfrt_session_call_was_written(a->session, 1));
  tfrt_harness_record_t* b = tfrt_harness_find(&world.hosts[1], a->host);
  tfrt_harness_partition(b, a, false);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  ck_assert_uint_eq(b->received, 1);
  ck_assert_uint_eq(b->others, 1);
  tfrt_harness_heal(a, b);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// And what the other side may, in the Hello.
START_TEST(who_was_dialled_may_call_at_once) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t* a = begin_to_dial(&world);
  while (!tfrt_harness_find(&world.hosts[1], a->host)) {
    ck_assert(tfrt_simulated_network_step(world.network));
  }
  tfrt_harness_record_t* b = tfrt_harness_find(&world.hosts[1], a->host);
  tfrt_harness_partition(a, b, false);
  ck_assert_int_eq(append_call(b, TFRT_WIRE_FRAME_INVOKE), TFRT_STATUS_OK);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  ck_assert_uint_eq(a->others, 1);
  tfrt_harness_heal(a, b);
  tfrt_harness_deinitialize(&world);
}
END_TEST

static void grant(tfrt_harness_record_t* record, uint64_t calls, uint64_t wants) {
  tfrt_node_lock_lock(&record->host->lock);
  tfrt_session_grant(record->session, calls, wants);
  tfrt_node_lock_unlock_and_run(&record->host->lock);
}

// Two hosts; the second grants four calls and four wants.
static void connect_with_little_credit(tfrt_harness_world_t* world, tfrt_harness_record_t** out_a,
                                       tfrt_harness_record_t** out_b) {
  tfrt_harness_initialize_with_seed(world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(world, 0x0a);
  tfrt_session_options_t options = tfrt_harness_options(0x0b);
  options.first_call_limit = options.first_want_limit = 4;
  tfrt_harness_host_t* b = tfrt_harness_add_host(world, &options, "host:0");
  *out_a = tfrt_harness_dial(a, b);
  tfrt_harness_run_until_state(*out_a, TFRT_SESSION_OPEN);
  tfrt_harness_run_for(world, 10 * TFRT_HARNESS_MILLISECOND);
  *out_b = tfrt_harness_find(b, a);
}

START_TEST(calls_wait_for_credit_and_what_frees_overtakes_them) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  connect_with_little_credit(&world, &a, &b);
  for (int i = 0; i < 6; ++i) append_call(a, TFRT_WIRE_FRAME_INVOKE);
  tfrt_harness_send(a, 2);
  tfrt_harness_run_until_received(b, 2);
  ck_assert_uint_eq(b->others, 4);
  grant(b, 5, 4);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 5);
  grant(b, 100, 4);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 6);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_call_that_waits_becomes_a_void_in_its_place) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  connect_with_little_credit(&world, &a, &b);
  for (int i = 0; i < 5; ++i) append_call(a, TFRT_WIRE_FRAME_INVOKE);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 4);
  bool is_replaced;
  tfrt_node_lock_lock(&a->host->lock);
  ck_assert(tfrt_status_is_ok(
      tfrt_session_replace_by_void(a->session, 4, tfrt_string_view_of("void"), &is_replaced)));
  ck_assert(!is_replaced);
  ck_assert(tfrt_status_is_ok(
      tfrt_session_replace_by_void(a->session, 5, tfrt_string_view_of("void"), &is_replaced)));
  ck_assert(is_replaced);
  tfrt_node_lock_unlock_and_run(&a->host->lock);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 5);
  ck_assert_uint_eq(b->last_kind, TFRT_WIRE_FRAME_VOID);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_frame_that_comes_after_a_waiting_call_waits_with_it) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  connect_with_little_credit(&world, &a, &b);
  for (int i = 0; i < 5; ++i) append_call(a, TFRT_WIRE_FRAME_INVOKE);
  const tfrt_session_frame_t frame = {
      .kind = TFRT_WIRE_FRAME_CANCEL, .job = 1, .deadline_ns = TFRT_TIME_INFINITE, .after_call = 5};
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_OK);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 4);
  grant(b, 100, 0);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 6);
  ck_assert_uint_eq(b->last_kind, TFRT_WIRE_FRAME_CANCEL);
  tfrt_harness_deinitialize(&world);
}
END_TEST

static void give_up(tfrt_harness_record_t* record, uint64_t call) {
  bool is_replaced;
  tfrt_node_lock_lock(&record->host->lock);
  ck_assert(tfrt_status_is_ok(tfrt_session_replace_by_void(
      record->session, call, tfrt_string_view_of("void"), &is_replaced)));
  tfrt_node_lock_unlock_and_run(&record->host->lock);
}

// Connections break with frames under way, calls are given up, and credit comes one by one: the
// receiver, which ends the session of a peer that exceeds its credit, never has a reason to.
START_TEST(who_waits_for_credit_is_never_found_without) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  connect_with_little_credit(&world, &a, &b);
  uint64_t calls = 0;
  for (uint64_t round = 1; round <= 200; ++round) {
    for (int i = 0; i < 4; ++i, ++calls) append_call(a, TFRT_WIRE_FRAME_INVOKE);
    if (round % 3 == 0) give_up(a, calls);
    if (round % 5 == 0) {
      append_call(a, TFRT_WIRE_FRAME_VOID);
      ++calls;
    }
    tfrt_harness_run_for(&world, (int64_t)(round % 4) * TFRT_HARNESS_MILLISECOND);
    if (round % 2 == 0) {
      tfrt_simulated_network_break(world.network, a->host->endpoint, b->host->endpoint);
    }
    grant(b, b->others + 4, 4);
    tfrt_harness_run_for(&world, (int64_t)(round % 7) * TFRT_HARNESS_MILLISECOND);
  }
  while (b->others < calls) {
    grant(b, b->others + 4, 4);
    tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  }
  ck_assert_uint_eq(b->others, calls);
  ck_assert(!a->is_dead && !b->is_dead);
  tfrt_harness_deinitialize(&world);
}
END_TEST

static void append_wants(tfrt_harness_record_t* record, uint64_t count) {
  for (uint64_t i = 1; i <= count; ++i) {
    const tfrt_session_frame_t frame = {
        .kind = TFRT_WIRE_FRAME_WANT, .job = 1, .deadline_ns = TFRT_TIME_INFINITE, .want = i};
    ck_assert_int_eq(tfrt_harness_append(record, &frame), TFRT_STATUS_OK);
  }
}

// As long as the peer lives: for a call that is long, and runs, others wait for hours.
START_TEST(calls_and_wants_without_credit_wait_as_long_as_it_takes) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  connect_with_little_credit(&world, &a, &b);
  for (int i = 0; i < 6; ++i) append_call(a, TFRT_WIRE_FRAME_INVOKE);
  append_wants(a, 5);
  tfrt_harness_run_for(&world, 3600 * TFRT_HARNESS_SECOND);
  ck_assert_uint_eq(b->others, 4 + 4);
  grant(b, 6, 5);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 6 + 5);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(forgotten_peers_never_give_their_call_numbers_to_others) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_session_options_t options = tfrt_harness_options(0x0a);
  options.max_peers = options.max_sessions = 2;
  tfrt_harness_host_t* a = tfrt_harness_add_host(&world, &options, "host:0");
  uint64_t next_call = 1;
  for (uint64_t i = 0; i < 6; ++i) {
    tfrt_harness_host_t* peer = tfrt_harness_add_simple_host(&world, 0x0b + i);
    tfrt_harness_record_t* record = tfrt_harness_dial(a, peer);
    tfrt_harness_run_until_state(record, TFRT_SESSION_OPEN);
    // Two are remembered; the third one begins above the first.
    if (i >= 2) ck_assert_uint_gt(tfrt_session_next_call(record->session), 1);
    append_call(record, TFRT_WIRE_FRAME_INVOKE);
    ck_assert_uint_ge(tfrt_session_next_call(record->session), next_call);
    next_call = tfrt_session_next_call(record->session);
    tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
    tfrt_harness_close_session(record, TFRT_WIRE_GOODBYE_SHUTDOWN);
    tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  }
  tfrt_harness_deinitialize(&world);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session credit");
  TCase* credit = tcase_create("credit");
  tcase_set_timeout(credit, 60);
  tcase_add_test(credit, call_numbers_run_on_over_sessions);
  tcase_add_test(credit, a_number_that_is_not_the_next_one_is_refused_and_not_taken);
  tcase_add_test(credit, a_call_that_waits_for_its_session_goes_with_the_first_frames);
  tcase_add_test(credit, who_was_dialled_may_call_at_once);
  tcase_add_test(credit, calls_wait_for_credit_and_what_frees_overtakes_them);
  tcase_add_test(credit, a_call_that_waits_becomes_a_void_in_its_place);
  tcase_add_test(credit, who_waits_for_credit_is_never_found_without);
  tcase_add_test(credit, a_frame_that_comes_after_a_waiting_call_waits_with_it);
  tcase_add_test(credit, calls_and_wants_without_credit_wait_as_long_as_it_takes);
  tcase_add_test(credit, forgotten_peers_never_give_their_call_numbers_to_others);
  suite_add_tcase(suite, credit);
  return suite;
}
