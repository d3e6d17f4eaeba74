// SPDX-License-Identifier: Apache-2.0
#include "distributed/session/send_queue.h"

#include "tests/support/test_main.h"

static tfrt_send_queue_t queue;
static tfrt_send_batch_t batch;
static uint64_t next_call;

static void setup(void) {
  tfrt_send_queue_initialize(&queue, 1, tfrt_allocator_system());
  tfrt_send_queue_grant(&queue, 8, 8);
  next_call = 1;
}

static void teardown(void) { tfrt_send_queue_deinitialize(&queue); }

static void append(const tfrt_session_frame_t* frame) {
  tfrt_status_t status = tfrt_send_queue_append(&queue, frame, 0);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

static void append_free(const char* body) {
  const tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_RELEASE,
                                      .deadline_ns = TFRT_TIME_INFINITE,
                                      .body = tfrt_string_view_of(body)};
  append(&frame);
}

static void append_call(void) {
  const tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_INVOKE,
                                      .deadline_ns = TFRT_TIME_INFINITE,
                                      .body = tfrt_string_view_of("call"),
                                      .call = next_call++};
  append(&frame);
}

static size_t fill(int64_t now_ns) {
  tfrt_send_queue_fill(&queue, TFRT_WIRE_BATCH_TARGET_SIZE, now_ns, &batch);
  return batch.count;
}

START_TEST(frames_are_numbered_from_one_and_come_in_order) {
  append_free("a");
  append_free("b");
  ck_assert_uint_eq(fill(5), 2);
  ck_assert_uint_eq(batch.first_seq, 1);
  ck_assert(tfrt_string_view_equal(batch.frames[1].body, tfrt_string_view_of("b")));
  ck_assert_uint_eq(fill(5), 0);
  ck_assert_uint_eq(batch.first_seq, 0);
  append_free("c");
  ck_assert_uint_eq(fill(5), 1);
  ck_assert_uint_eq(batch.first_seq, 3);
}
END_TEST

START_TEST(what_is_not_acknowledged_is_written_again_with_its_age) {
  append_free("a");
  append_free("b");
  fill(1000000);
  append_free("c");
  fill(3000000);
  append_free("d");
  tfrt_send_queue_acknowledge(&queue, 1, 0);
  tfrt_send_queue_begin_connection(&queue, TFRT_WIRE_DEFAULT_REPLAY_SIZE);
  // One batch for each age, and what was never written comes in one of its own.
  ck_assert_uint_eq(fill(9000000), 1);
  ck_assert_uint_eq(batch.first_seq, 2);
  ck_assert_uint_eq(batch.age_us, 8000);
  ck_assert_uint_eq(fill(9000000), 1);
  ck_assert_uint_eq(batch.age_us, 6000);
  ck_assert_uint_eq(fill(9000000), 1);
  ck_assert_uint_eq(batch.first_seq, 4);
  ck_assert_uint_eq(batch.age_us, 0);
  ck_assert_uint_eq(batch.replayed_count, 0);
}
END_TEST

START_TEST(what_was_never_written_can_not_be_acknowledged) {
  append_free("a");
  ck_assert(!tfrt_send_queue_acknowledge(&queue, 1, 0));
  fill(0);
  ck_assert(!tfrt_send_queue_acknowledge(&queue, 2, 0));
  ck_assert(tfrt_send_queue_acknowledge(&queue, 1, 0));
  ck_assert(tfrt_send_queue_acknowledge(&queue, 0, 0));
  ck_assert_uint_eq(queue.window_size, 0);
}
END_TEST

START_TEST(a_budget_is_what_was_left_when_it_was_written_first) {
  const tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_RELEASE, .deadline_ns = 10000000};
  append(&frame);
  append(&frame);
  fill(4000000);
  ck_assert(batch.frames[0].has_budget);
  ck_assert_uint_eq(batch.frames[0].budget_us, 6000);
  tfrt_send_queue_begin_connection(&queue, TFRT_WIRE_DEFAULT_REPLAY_SIZE);
  fill(7000000);
  ck_assert_uint_eq(batch.frames[0].budget_us, 6000);
  ck_assert_uint_eq(batch.age_us, 3000);
  append(&frame);
  fill(20000000);
  ck_assert(batch.frames[0].has_budget);
  ck_assert_uint_eq(batch.frames[0].budget_us, 0);
}
END_TEST

START_TEST(a_full_window_holds_calls_and_wants_back_but_not_what_frees) {
  tfrt_send_queue_begin_connection(&queue, 1);
  append_free("a");
  append_call();
  append_free("b");
  const tfrt_session_frame_t want = {
      .kind = TFRT_WIRE_FRAME_WANT, .deadline_ns = TFRT_TIME_INFINITE, .want = 1};
  append(&want);
  ck_assert_uint_eq(fill(0), 2);
  ck_assert_uint_eq(batch.frames[1].kind, TFRT_WIRE_FRAME_RELEASE);
  tfrt_send_queue_acknowledge(&queue, 2, 0);
  // There is room again, for one: it fills the window itself.
  ck_assert_uint_eq(fill(0), 1);
  ck_assert_uint_eq(batch.frames[0].kind, TFRT_WIRE_FRAME_INVOKE);
  tfrt_send_queue_acknowledge(&queue, 3, 0);
  ck_assert_uint_eq(fill(0), 1);
  ck_assert_uint_eq(batch.frames[0].kind, TFRT_WIRE_FRAME_WANT);
}
END_TEST

START_TEST(calls_wait_for_credit) {
  for (int i = 0; i < 10; ++i) append_call();
  ck_assert_uint_eq(fill(0), 8);
  ck_assert_uint_eq(fill(0), 0);
  tfrt_send_queue_grant(&queue, 9, 8);
  ck_assert_uint_eq(fill(0), 1);
}
END_TEST

START_TEST(a_void_needs_no_credit_but_its_turn) {
  for (int i = 0; i < 10; ++i) append_call();
  ck_assert_uint_eq(fill(0), 8);
  bool is_replaced;
  const tfrt_string_view_t body = tfrt_string_view_of("void");
  // The second one that waits: it stays behind the first.
  ck_assert(tfrt_status_is_ok(tfrt_send_queue_replace_by_void(&queue, 10, body, &is_replaced)));
  ck_assert(is_replaced);
  ck_assert_uint_eq(fill(0), 0);
  ck_assert(tfrt_status_is_ok(tfrt_send_queue_replace_by_void(&queue, 9, body, &is_replaced)));
  ck_assert(is_replaced);
  ck_assert_uint_eq(fill(0), 2);
  ck_assert_uint_eq(batch.frames[0].kind, TFRT_WIRE_FRAME_VOID);
  ck_assert_uint_eq(batch.frames[1].kind, TFRT_WIRE_FRAME_VOID);
  ck_assert(tfrt_status_is_ok(tfrt_send_queue_replace_by_void(&queue, 10, body, &is_replaced)));
  ck_assert(!is_replaced);
}
END_TEST

static bool is_replaced_by_void(uint64_t call) {
  bool is_replaced;
  const tfrt_string_view_t body = tfrt_string_view_of("void");
  ck_assert(tfrt_status_is_ok(tfrt_send_queue_replace_by_void(&queue, call, body, &is_replaced)));
  return is_replaced;
}

// Looked for from the same end each time, they would take longer than a test may.
START_TEST(very_many_calls_that_wait_are_given_up_in_any_direction) {
  enum { COUNT = 200000, FIRST = 9 };
  for (uint64_t i = 1; i <= COUNT; ++i) append_call();
  ck_assert_uint_eq(fill(0), FIRST - 1);
  for (uint64_t i = 1; i < FIRST; ++i) ck_assert(!is_replaced_by_void(i));
  // From the middle up, then from there down, so that the gate opens with the last one.
  for (uint64_t i = COUNT / 2; i <= COUNT; ++i) ck_assert(is_replaced_by_void(i));
  for (uint64_t i = COUNT / 2 - 1; i >= FIRST; --i) {
    ck_assert_uint_eq(fill(0), 0);
    ck_assert(is_replaced_by_void(i));
  }
  ck_assert(!is_replaced_by_void(COUNT));
  ck_assert(!is_replaced_by_void(COUNT + 1));
  ck_assert_uint_gt(fill(0), 0);
  ck_assert_uint_eq(batch.frames[0].kind, TFRT_WIRE_FRAME_VOID);
}
END_TEST

START_TEST(a_call_in_the_sequence_is_replaced_until_it_is_written) {
  append_free("a");
  append_call();
  bool is_replaced;
  const tfrt_string_view_t body = tfrt_string_view_of("void");
  ck_assert(tfrt_status_is_ok(tfrt_send_queue_replace_by_void(&queue, 1, body, &is_replaced)));
  ck_assert(is_replaced);
  ck_assert_uint_eq(fill(0), 2);
  ck_assert_uint_eq(batch.frames[1].kind, TFRT_WIRE_FRAME_VOID);
  append_call();
  fill(0);
  tfrt_send_queue_begin_connection(&queue, TFRT_WIRE_DEFAULT_REPLAY_SIZE);
  ck_assert(tfrt_status_is_ok(tfrt_send_queue_replace_by_void(&queue, 2, body, &is_replaced)));
  ck_assert(!is_replaced);
}
END_TEST

START_TEST(what_comes_after_a_want_waits_for_it) {
  tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_WANT, .deadline_ns = TFRT_TIME_INFINITE};
  for (frame.want = 1; frame.want <= 9; ++frame.want) append(&frame);
  ck_assert_uint_eq(fill(0), 8);
  frame = (tfrt_session_frame_t){
      .kind = TFRT_WIRE_FRAME_UNWANT, .deadline_ns = TFRT_TIME_INFINITE, .after_want = 9};
  append(&frame);
  append_free("a");
  ck_assert_uint_eq(fill(0), 1);
  tfrt_send_queue_grant(&queue, 8, 9);
  ck_assert_uint_eq(fill(0), 2);
  ck_assert_uint_eq(batch.frames[1].kind, TFRT_WIRE_FRAME_UNWANT);
}
END_TEST

// The appender numbers the wants, and the peer takes them in that order only.
START_TEST(a_want_that_waits_for_a_call_holds_the_wants_behind_it_and_overtakes_none) {
  tfrt_send_queue_deinitialize(&queue);
  tfrt_send_queue_initialize(&queue, 1, tfrt_allocator_system());
  append_call();
  tfrt_session_frame_t want = {.kind = TFRT_WIRE_FRAME_WANT,
                               .deadline_ns = TFRT_TIME_INFINITE,
                               .body = tfrt_string_view_of("want 1"),
                               .want = 1};
  append(&want);
  want.body = tfrt_string_view_of("want 2");
  want.want = 2;
  want.after_call = 1;
  append(&want);
  want.body = tfrt_string_view_of("want 3");
  want.want = 3;
  want.after_call = 0;
  append(&want);
  ck_assert_uint_eq(fill(0), 0);
  tfrt_send_queue_grant(&queue, 0, 8);
  ck_assert_uint_eq(fill(0), 1);
  ck_assert(tfrt_string_view_equal(batch.frames[0].body, tfrt_string_view_of("want 1")));
  tfrt_send_queue_grant(&queue, 4, 8);
  ck_assert_uint_eq(fill(0), 3);
  ck_assert(tfrt_string_view_equal(batch.frames[0].body, tfrt_string_view_of("call")));
  ck_assert(tfrt_string_view_equal(batch.frames[1].body, tfrt_string_view_of("want 2")));
  ck_assert(tfrt_string_view_equal(batch.frames[2].body, tfrt_string_view_of("want 3")));
}
END_TEST

START_TEST(what_comes_after_a_call_and_a_want_waits_for_both) {
  for (int i = 0; i < 10; ++i) append_call();
  tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_WANT, .deadline_ns = TFRT_TIME_INFINITE};
  for (frame.want = 1; frame.want <= 9; ++frame.want) append(&frame);
  ck_assert_uint_eq(fill(0), 8 + 8);
  frame = (tfrt_session_frame_t){.kind = TFRT_WIRE_FRAME_UNWANT,
                                 .deadline_ns = TFRT_TIME_INFINITE,
                                 .after_call = 10,
                                 .after_want = 9};
  append(&frame);
  tfrt_send_queue_grant(&queue, 100, 8);
  ck_assert_uint_eq(fill(0), 2);
  tfrt_send_queue_grant(&queue, 100, 9);
  ck_assert_uint_eq(fill(0), 2);
  ck_assert_uint_eq(batch.frames[0].kind, TFRT_WIRE_FRAME_WANT);
  ck_assert_uint_eq(batch.frames[1].kind, TFRT_WIRE_FRAME_UNWANT);
}
END_TEST

START_TEST(dropping_what_is_unwritten_leaves_no_gap) {
  append_free("a");
  fill(0);
  append_free("b");
  for (int i = 0; i < 9; ++i) append_call();
  tfrt_send_queue_drop_unwritten(&queue, true);
  ck_assert_uint_eq(fill(0), 0);
  append_free("goodbye");
  ck_assert_uint_eq(fill(0), 1);
  ck_assert_uint_eq(batch.first_seq, 2);
}
END_TEST

START_TEST(a_batch_stops_at_its_size_and_its_count) {
  for (int i = 0; i < TFRT_SEND_QUEUE_BATCH_FRAMES + 10; ++i) append_free("x");
  ck_assert_uint_eq(fill(0), TFRT_SEND_QUEUE_BATCH_FRAMES);
  ck_assert_uint_eq(fill(0), 10);
  for (int i = 0; i < 4; ++i) append_free("0123456789");
  tfrt_send_queue_fill(&queue, 1, 0, &batch);
  ck_assert_uint_eq(batch.count, 1);
}
END_TEST

START_TEST(what_can_wait_goes_with_the_next_frame_or_when_there_are_many) {
  const tfrt_session_frame_t patient = {.kind = TFRT_WIRE_FRAME_RELEASE,
                                        .deadline_ns = TFRT_TIME_INFINITE,
                                        .body = tfrt_string_view_of("patient"),
                                        .can_wait = true};
  ck_assert(!tfrt_send_queue_is_due(&queue));
  append(&patient);
  ck_assert(!tfrt_send_queue_is_due(&queue));
  append_free("now");
  ck_assert(tfrt_send_queue_is_due(&queue));
  ck_assert_uint_eq(fill(0), 2);
  ck_assert(!tfrt_send_queue_is_due(&queue));
  for (int i = 1; i < TFRT_SEND_QUEUE_MAX_WAITING; ++i) append(&patient);
  ck_assert(!tfrt_send_queue_is_due(&queue));
  append(&patient);
  ck_assert(tfrt_send_queue_is_due(&queue));
  ck_assert_uint_eq(fill(0), TFRT_SEND_QUEUE_MAX_WAITING);
  ck_assert(!tfrt_send_queue_is_due(&queue));
  // On a new connection all of it is to be written again, but for what has come.
  tfrt_send_queue_begin_connection(&queue, TFRT_WIRE_DEFAULT_REPLAY_SIZE);
  ck_assert(tfrt_send_queue_is_due(&queue));
  ck_assert(tfrt_send_queue_acknowledge(&queue, 2, 0));
  ck_assert(tfrt_send_queue_is_due(&queue));
  ck_assert(tfrt_send_queue_acknowledge(&queue, 3, 0));
  ck_assert(!tfrt_send_queue_is_due(&queue));
  append_free("now");
  ck_assert(tfrt_send_queue_is_due(&queue));
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("send queue");
  TCase* sequence = tcase_create("sequence");
  tcase_add_checked_fixture(sequence, setup, teardown);
  tcase_add_test(sequence, frames_are_numbered_from_one_and_come_in_order);
  tcase_add_test(sequence, what_is_not_acknowledged_is_written_again_with_its_age);
  tcase_add_test(sequence, what_was_never_written_can_not_be_acknowledged);
  tcase_add_test(sequence, a_budget_is_what_was_left_when_it_was_written_first);
  tcase_add_test(sequence, dropping_what_is_unwritten_leaves_no_gap);
  tcase_add_test(sequence, a_batch_stops_at_its_size_and_its_count);
  tcase_add_test(sequence, what_can_wait_goes_with_the_next_frame_or_when_there_are_many);
  suite_add_tcase(suite, sequence);
  TCase* gates = tcase_create("gates");
  tcase_add_checked_fixture(gates, setup, teardown);
  tcase_add_test(gates, a_full_window_holds_calls_and_wants_back_but_not_what_frees);
  tcase_add_test(gates, calls_wait_for_credit);
  tcase_add_test(gates, a_void_needs_no_credit_but_its_turn);
  tcase_add_test(gates, very_many_calls_that_wait_are_given_up_in_any_direction);
  tcase_add_test(gates, a_call_in_the_sequence_is_replaced_until_it_is_written);
  tcase_add_test(gates, what_comes_after_a_want_waits_for_it);
  tcase_add_test(gates, a_want_that_waits_for_a_call_holds_the_wants_behind_it_and_overtakes_none);
  tcase_add_test(gates, what_comes_after_a_call_and_a_want_waits_for_both);
  suite_add_tcase(suite, gates);
  return suite;
}
