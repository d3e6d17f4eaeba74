// SPDX-License-Identifier: Apache-2.0
//
// The frames of a session: budgets, batches and acknowledgements, over the simulated network.
#include "distributed/session/send_queue.h"
#include "distributed/session/session.h"
#include "tests/distributed/session/session_harness.h"
#include "tests/support/test_main.h"

START_TEST(a_deadline_is_never_later_at_the_receiver_even_when_replayed) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  int64_t deadline_ns = tfrt_harness_now(&world) + 4 * TFRT_HARNESS_SECOND;
  const tfrt_session_frame_t frame = {
      .kind = TFRT_WIRE_FRAME_CANCEL, .job = 1, .deadline_ns = deadline_ns};
  tfrt_harness_append(a, &frame);
  tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 1);
  // The transit is not subtracted.
  ck_assert_int_ge(b->last_deadline_ns, deadline_ns - TFRT_HARNESS_MILLISECOND);
  ck_assert_int_le(b->last_deadline_ns, deadline_ns + TFRT_HARNESS_MILLISECOND);
  tfrt_harness_partition(a, b, false);
  tfrt_harness_append(a, &frame);
  tfrt_harness_run_for(&world, 2 * TFRT_HARNESS_SECOND);
  tfrt_harness_break_between(a, b);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  tfrt_harness_heal(a, b);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND / 2);
  ck_assert_uint_eq(b->others, 2);
  ck_assert_int_ge(b->last_deadline_ns, deadline_ns - TFRT_HARNESS_MILLISECOND);
  ck_assert_int_le(b->last_deadline_ns, deadline_ns + TFRT_HARNESS_MILLISECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(frames_collect_while_a_write_is_in_flight) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
  uint64_t before = tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL);
  for (int i = 0; i < 200; ++i) tfrt_harness_send(a, 1);
  tfrt_harness_run_until_received(b, 200);
  uint64_t messages =
      tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL) - before;
  ck_assert_uint_le(messages, 3);
  tfrt_harness_deinitialize(&world);
}
END_TEST

static const tfrt_session_frame_t patient = {
    .kind = TFRT_WIRE_FRAME_CANCEL, .job = 1, .deadline_ns = TFRT_TIME_INFINITE, .can_wait = true};

START_TEST(a_frame_that_can_wait_goes_with_the_next_batch_or_after_the_delay) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  ck_assert_int_eq(tfrt_harness_append(a, &patient), TFRT_STATUS_OK);
  tfrt_harness_run_for(&world, 5 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 0);
  tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 1);
  ck_assert_int_eq(tfrt_harness_append(a, &patient), TFRT_STATUS_OK);
  tfrt_harness_send(a, 1);
  tfrt_harness_run_for(&world, 5 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 2);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// A second batch takes most of the frames that collect behind the first one, but not all.
START_TEST(frames_that_can_wait_do_not_wait_for_more_where_a_batch_had_no_room_for_them) {
  const uint64_t count = TFRT_SEND_QUEUE_MAX_WAITING + TFRT_SEND_QUEUE_BATCH_FRAMES + 10;
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  for (uint64_t i = 0; i < count; ++i) {
    ck_assert_int_eq(tfrt_harness_append(a, &patient), TFRT_STATUS_OK);
  }
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, count);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// Each has its own batch again, as it has its own age.
START_TEST(frames_that_could_wait_are_replayed_at_once) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_partition(a, b, true);
  for (uint64_t i = 0; i < 5; ++i) {
    ck_assert_int_eq(tfrt_harness_append(a, &patient), TFRT_STATUS_OK);
    tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  }
  ck_assert_uint_eq(b->others, 0);
  tfrt_harness_heal(a, b);
  tfrt_harness_break_between(a, b);
  tfrt_harness_run_for(&world, 50 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(tfrt_harness_counters(a).resumes, 1);
  ck_assert_uint_eq(b->others, 5);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(batches_stay_below_their_size) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  static char body[900 * 1024];
  const tfrt_session_frame_t big = {.kind = TFRT_WIRE_FRAME_CANCEL,
                                    .job = 1,
                                    .deadline_ns = TFRT_TIME_INFINITE,
                                    .body = tfrt_string_view_make(body, sizeof(body))};
  for (int i = 0; i < 20; ++i) {
    ck_assert_int_eq(tfrt_harness_append(a, &big), TFRT_STATUS_OK);
    tfrt_harness_send(a, 100);
  }
  tfrt_harness_run_until_received(b, 2000);
  ck_assert_uint_eq(b->others, 20);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(one_way_traffic_is_acknowledged_unasked) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 200 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_send(a, 10);
  tfrt_harness_run_for(&world, 110 * TFRT_HARNESS_MILLISECOND);
  // The session does not replay acknowledged frames.
  tfrt_harness_break_between(a, b);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(tfrt_harness_counters(a).resumes, 1);
  ck_assert_uint_eq(tfrt_harness_counters(a).frames_replayed, 0);
  ck_assert_uint_eq(tfrt_harness_counters(b).duplicates, 0);
  tfrt_harness_deinitialize(&world);
}
END_TEST

static uint64_t count_messages(const tfrt_harness_world_t* world) {
  return tfrt_simulated_network_message_count(world->network, TFRT_TRANSPORT_CONTROL);
}

// Sends |count| frames with bodies of |size| bytes, one batch each, and returns how many messages
// that has led to 5 ms later, long before an acknowledgement is due by time.
static uint64_t count_messages_of(tfrt_harness_world_t* world, tfrt_harness_record_t* record,
                                  int count, size_t size) {
  static char body[600 * 1024];
  const tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_CANCEL,
                                      .job = 1,
                                      .deadline_ns = TFRT_TIME_INFINITE,
                                      .body = tfrt_string_view_make(body, size)};
  tfrt_harness_run_for(world, 200 * TFRT_HARNESS_MILLISECOND);
  const uint64_t before = count_messages(world);
  for (int i = 0; i < count; ++i) {
    ck_assert_int_eq(tfrt_harness_append(record, &frame), TFRT_STATUS_OK);
    tfrt_harness_run_for(world, TFRT_HARNESS_MILLISECOND / 20);
  }
  tfrt_harness_run_for(world, 5 * TFRT_HARNESS_MILLISECOND);
  return count_messages(world) - before;
}

START_TEST(many_frames_or_bytes_are_acknowledged_at_once) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  ck_assert_uint_eq(count_messages_of(&world, a, 63, 1), 63);
  ck_assert_uint_eq(count_messages_of(&world, a, 64, 1), 64 + 1);
  ck_assert_uint_eq(count_messages_of(&world, a, 1, 600 * 1024), 1);
  ck_assert_uint_eq(count_messages_of(&world, a, 2, 600 * 1024), 2 + 1);
  ck_assert_uint_eq(b->others, 63 + 64 + 1 + 2);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// The window holds 38 of these calls, fewer frames than are acknowledged at once where it is large.
START_TEST(who_has_a_small_window_is_told_before_it_is_full) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_session_options_t options = tfrt_harness_options(0x0b);
  options.limits.replay_bytes = TFRT_WIRE_MIN_REPLAY_SIZE;
  tfrt_harness_host_t* b = tfrt_harness_add_host(&world, &options, "host:0");
  tfrt_harness_record_t* a = tfrt_harness_dial(tfrt_harness_add_simple_host(&world, 0x0a), b);
  tfrt_harness_run_until_state(a, TFRT_SESSION_OPEN);
  tfrt_harness_run_for(&world, 200 * TFRT_HARNESS_MILLISECOND);
  static char body[1700];
  tfrt_session_frame_t call = {.kind = TFRT_WIRE_FRAME_INVOKE,
                               .job = 1,
                               .deadline_ns = TFRT_TIME_INFINITE,
                               .body = tfrt_string_view_make(body, sizeof(body))};
  for (int i = 0; i < 400; ++i) {
    call.call = tfrt_session_next_call(a->session);
    ck_assert_int_eq(tfrt_harness_append(a, &call), TFRT_STATUS_OK);
  }
  tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(tfrt_harness_find(b, a->host)->others, 400);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// One timer for all sessions: an acknowledgement that is due within half of the shorter delay goes
// with the first one, and a later one goes when it is due.
START_TEST(acknowledgements_to_several_peers_share_a_timer) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_record_t* records[3];
  for (int i = 0; i < 3; ++i) {
    records[i] = tfrt_harness_dial(tfrt_harness_add_simple_host(&world, 0x0b + (uint64_t)i), a);
    tfrt_harness_run_until_state(records[i], TFRT_SESSION_OPEN);
  }
  tfrt_harness_run_for(&world, 200 * TFRT_HARNESS_MILLISECOND);
  const uint64_t before = count_messages(&world);
  for (int i = 0; i < 3; ++i) {
    tfrt_harness_send(records[i], 1);
    tfrt_harness_run_for(&world, 4 * TFRT_HARNESS_MILLISECOND);
  }
  tfrt_harness_run_for(&world, 86 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(count_messages(&world), before + 3);
  // 102 ms after the first frame, 98 and 94 after the others.
  tfrt_harness_run_for(&world, 4 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(count_messages(&world), before + 3 + 2);
  tfrt_harness_run_for(&world, 8 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(count_messages(&world), before + 3 + 3);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// The timer that has been set for an acknowledgement comes sooner for what waits less.
START_TEST(a_frame_that_can_wait_does_not_wait_as_long_as_an_acknowledgement) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 200 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_send(b, 1);
  tfrt_harness_run_for(&world, 5 * TFRT_HARNESS_MILLISECOND);
  const uint64_t before = count_messages(&world);
  ck_assert_int_eq(tfrt_harness_append(a, &patient), TFRT_STATUS_OK);
  tfrt_harness_run_for(&world, 15 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 1);
  // It took the acknowledgement along; there is one of itself to come.
  tfrt_harness_run_for(&world, 200 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(count_messages(&world), before + 2);
  tfrt_harness_deinitialize(&world);
}
END_TEST

// Grants one more call to the peer of |record|, and returns how many messages go in 15 ms.
static uint64_t grant_one(tfrt_harness_world_t* world, tfrt_harness_record_t* record) {
  const uint64_t before = count_messages(world);
  tfrt_node_lock_lock(&record->host->lock);
  tfrt_session_return_credit(record->session, 1, 0);
  tfrt_node_lock_unlock_and_run(&record->host->lock);
  tfrt_harness_run_for(world, 15 * TFRT_HARNESS_MILLISECOND);
  return count_messages(world) - before;
}

// The peer has 16 to begin with: one or two more than it knows of it can do without for a while.
START_TEST(credit_waits_as_an_acknowledgement_does_until_there_is_much_of_it) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_session_options_t options = tfrt_harness_options(0x0a);
  options.first_call_limit = 16;
  tfrt_harness_host_t* a = tfrt_harness_add_host(&world, &options, "host:0");
  tfrt_harness_record_t* record = tfrt_harness_dial(a, tfrt_harness_add_simple_host(&world, 0x0b));
  tfrt_harness_run_until_state(record, TFRT_SESSION_OPEN);
  for (int i = 0; i < 2; ++i) {
    tfrt_harness_run_for(&world, 200 * TFRT_HARNESS_MILLISECOND);
    ck_assert_uint_eq(grant_one(&world, record), 0);
    ck_assert_uint_eq(grant_one(&world, record), 0);
    ck_assert_uint_eq(grant_one(&world, record), 1);
  }
  ck_assert_uint_eq(grant_one(&world, record), 0);
  const uint64_t before = count_messages(&world);
  tfrt_harness_run_for(&world, 100 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(count_messages(&world), before + 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_trace) {
  uint64_t hashes[3];
  for (int run = 0; run < 3; ++run) {
    tfrt_simulated_options_t options;
    tfrt_simulated_options_initialize(&options);
    options.seed = run < 2 ? 42 : 43;
    options.break_chance = 20000;
    tfrt_harness_world_t world;
    tfrt_harness_initialize(&world, &options);
    tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
    tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
    tfrt_harness_record_t* record = tfrt_harness_dial(a, b);
    for (int i = 0; i < 100; ++i) {
      if (!record->is_dead) tfrt_harness_send(record, 5);
      tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
    }
    hashes[run] = tfrt_simulated_network_trace_hash(world.network);
    tfrt_harness_deinitialize(&world);
  }
  ck_assert_uint_eq(hashes[0], hashes[1]);
  ck_assert_uint_ne(hashes[0], hashes[2]);
}
END_TEST

// --- Drafts ------------------------------------------------------------------

static uint32_t seal_count;
static uint32_t sealed_number;
static tfrt_session_state_t sealed_state;
static bool seal_fails;

// Makes the first test frame (session_harness.c) of any draft.
static tfrt_status_t seal(const tfrt_session_t* session, tfrt_string_view_t draft,
                          tfrt_string_builder_t* out_body) {
  ck_assert(tfrt_string_view_equal(draft, tfrt_string_view_of("draft")));
  if (seal_fails) return tfrt_status_create(TFRT_STATUS_DATA_LOSS, "no seal");
  ++seal_count;
  sealed_number = tfrt_session_number(session);
  sealed_state = tfrt_session_state(session);
  const uint64_t number = 1;
  tfrt_string_builder_append(out_body, &number, sizeof(number));
  return NULL;
}

static tfrt_session_frame_t draft_frame(void) {
  seal_count = 0;
  seal_fails = false;
  return (tfrt_session_frame_t){.kind = TFRT_WIRE_FRAME_RELEASE,
                                .job = 1,
                                .deadline_ns = TFRT_TIME_INFINITE,
                                .body = tfrt_string_view_of("draft"),
                                .seal = seal};
}

START_TEST(a_draft_waits_for_the_number_of_its_session) {
  tfrt_harness_world_t world;
  tfrt_harness_initialize_with_seed(&world, 1);
  tfrt_harness_host_t* x = tfrt_harness_add_simple_host(&world, 0x0a);
  tfrt_harness_host_t* y = tfrt_harness_add_simple_host(&world, 0x0b);
  // Two sessions that y counts and x never hears of.
  tfrt_simulated_network_partition(world.network, x->endpoint, y->endpoint, true);
  for (int i = 0; i < 2; ++i) {
    tfrt_harness_dial(y, x);
    tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_SECOND);
  }
  tfrt_simulated_network_heal(world.network, x->endpoint, y->endpoint, true);
  tfrt_harness_record_t* a = tfrt_harness_dial(x, y);
  ck_assert_uint_eq(tfrt_session_number(a->session), 1);
  const tfrt_session_frame_t frame = draft_frame();
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_OK);
  ck_assert_uint_eq(seal_count, 0);
  tfrt_harness_run_until_state(a, TFRT_SESSION_OPEN);
  ck_assert_uint_eq(seal_count, 1);
  ck_assert_uint_eq(sealed_number, 3);
  ck_assert_int_eq(sealed_state, TFRT_SESSION_OPEN);
  // A reset before it arrives: the same body is sent again.
  tfrt_harness_record_t* b = tfrt_harness_find(y, x);
  tfrt_harness_break_between(a, b);
  tfrt_harness_run_until_received(b, 1);
  ck_assert_uint_eq(seal_count, 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_draft_of_an_open_session_is_made_a_body_at_once) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_session_frame_t frame = draft_frame();
  seal_fails = true;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_DATA_LOSS);
  seal_fails = false;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_OK);
  ck_assert_uint_eq(seal_count, 1);
  tfrt_harness_run_until_received(b, 1);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_draft_that_would_wait_for_credit_is_refused) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_session_frame_t frame = draft_frame();
  frame.kind = TFRT_WIRE_FRAME_WANT;
  frame.want = 1;
  ck_assert_int_eq(tfrt_harness_append(a, &frame), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_uint_eq(seal_count, 0);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(a_draft_that_cant_be_sealed_is_the_end_of_its_session) {
  for (int answers = 0; answers < 2; ++answers) {
    tfrt_harness_world_t world;
    tfrt_harness_initialize_with_seed(&world, 1);
    tfrt_harness_host_t* x = tfrt_harness_add_simple_host(&world, 0x0a);
    tfrt_harness_host_t* y = tfrt_harness_add_simple_host(&world, 0x0b);
    // The smaller one's connection stays: the other one answers a Hello.
    if (answers) tfrt_harness_dial(x, y);
    tfrt_harness_record_t* record = answers ? tfrt_harness_dial(y, x) : tfrt_harness_dial(x, y);
    const tfrt_session_frame_t frame = draft_frame();
    ck_assert_int_eq(tfrt_harness_append(record, &frame), TFRT_STATUS_OK);
    seal_fails = true;
    tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
    ck_assert(record->is_dead);
    ck_assert_int_eq(record->death, TFRT_SESSION_DEATH_CLOSED);
    tfrt_harness_deinitialize(&world);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session frames");
  TCase* batches = tcase_create("batches");
  tcase_set_timeout(batches, 60);
  tcase_add_test(batches, a_deadline_is_never_later_at_the_receiver_even_when_replayed);
  tcase_add_test(batches, frames_collect_while_a_write_is_in_flight);
  tcase_add_test(batches, a_frame_that_can_wait_goes_with_the_next_batch_or_after_the_delay);
  tcase_add_test(batches,
                 frames_that_can_wait_do_not_wait_for_more_where_a_batch_had_no_room_for_them);
  tcase_add_test(batches, frames_that_could_wait_are_replayed_at_once);
  tcase_add_test(batches, batches_stay_below_their_size);
  tcase_add_test(batches, one_way_traffic_is_acknowledged_unasked);
  tcase_add_test(batches, many_frames_or_bytes_are_acknowledged_at_once);
  tcase_add_test(batches, who_has_a_small_window_is_told_before_it_is_full);
  tcase_add_test(batches, acknowledgements_to_several_peers_share_a_timer);
  tcase_add_test(batches, a_frame_that_can_wait_does_not_wait_as_long_as_an_acknowledgement);
  tcase_add_test(batches, credit_waits_as_an_acknowledgement_does_until_there_is_much_of_it);
  tcase_add_test(batches, the_same_seed_gives_the_same_trace);
  tcase_add_test(batches, a_draft_waits_for_the_number_of_its_session);
  tcase_add_test(batches, a_draft_of_an_open_session_is_made_a_body_at_once);
  tcase_add_test(batches, a_draft_that_would_wait_for_credit_is_refused);
  tcase_add_test(batches, a_draft_that_cant_be_sealed_is_the_end_of_its_session);
  suite_add_tcase(suite, batches);
  return suite;
}
