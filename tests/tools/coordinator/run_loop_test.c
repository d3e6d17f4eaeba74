// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/run_loop.h"

#include <signal.h>
#include <unistd.h>

#include "host_runtime/base/clock.h"
#include "tests/support/test_main.h"
#include "tools/coordinator/exit_code.h"

// More than a limit or an alarm of a millisecond.
#define LATE_NS INT64_C(5000000)

static void let_time_pass(void) {
  tfrt_clock_t clock = tfrt_clock_system();
  int64_t end_ns = tfrt_clock_now_ns(clock) + LATE_NS;
  while (tfrt_clock_now_ns(clock) < end_ns) {
  }
}

// With nothing else in the loop, a turn that waited after the timer would wait for ever.
START_TEST(a_limit_that_is_over_before_the_first_turn_ends_it) {
  tfrt_run_loop_t loop;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, 1));
  let_time_pass();
  tfrt_run_loop_turn(&loop);
  ck_assert_int_eq(tfrt_status_code(loop.cancelled), TFRT_STATUS_DEADLINE_EXCEEDED);
  ck_assert_uint_eq(loop.cancel_count, 1);
  tfrt_run_loop_deinitialize(&loop);
}
END_TEST

START_TEST(an_alarm_that_is_over_before_a_turn_ends_it) {
  tfrt_run_loop_t loop;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, 0));
  tfrt_run_loop_start_alarm(&loop, 1);
  let_time_pass();
  tfrt_run_loop_turn(&loop);
  ck_assert(loop.alarm_is_over);
  ck_assert_ptr_null(loop.cancelled);
  tfrt_run_loop_deinitialize(&loop);
}
END_TEST

START_TEST(a_wake_before_a_turn_is_not_lost) {
  tfrt_run_loop_t loop;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, 0));
  tfrt_run_loop_wake(&loop);
  tfrt_run_loop_turn(&loop);
  tfrt_run_loop_deinitialize(&loop);
}
END_TEST

START_TEST(the_first_reason_to_end_stays_until_it_is_forgotten) {
  tfrt_run_loop_t loop;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, 1));
  tfrt_run_loop_give_up(&loop);
  let_time_pass();
  tfrt_run_loop_turn(&loop);
  ck_assert_int_eq(tfrt_status_code(loop.cancelled), TFRT_STATUS_DATA_LOSS);
  ck_assert_uint_eq(loop.cancel_count, 2);
  tfrt_run_loop_forget_cancel(&loop);
  ck_assert_ptr_null(loop.cancelled);
  ck_assert_uint_eq(loop.cancel_count, 0);
  tfrt_run_loop_deinitialize(&loop);
}
END_TEST

static void give_up(void* loop) { tfrt_run_loop_post_give_up(loop); }

START_TEST(another_thread_gives_up_and_a_turn_ends_and_cancels) {
  tfrt_run_loop_t loop;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, 0));
  uv_thread_t thread;
  ck_assert_int_eq(uv_thread_create(&thread, give_up, &loop), 0);
  while (!loop.cancelled) tfrt_run_loop_turn(&loop);
  ck_assert_int_eq(uv_thread_join(&thread), 0);
  ck_assert_int_eq(tfrt_status_code(loop.cancelled), TFRT_STATUS_DATA_LOSS);
  ck_assert_uint_eq(loop.cancel_count, 1);
  tfrt_run_loop_deinitialize(&loop);
}
END_TEST

START_TEST(a_signal_ends_a_process_that_blocks) {
  tfrt_run_loop_t loop;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, 0));
  tfrt_run_loop_begin_blocking(&loop, false);
  ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
  while (true) pause();
}
END_TEST

START_TEST(a_signal_from_before_ends_a_process_that_blocks) {
  tfrt_run_loop_t loop;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, 0));
  ck_assert_int_eq(kill(getpid(), SIGINT), 0);
  tfrt_run_loop_begin_blocking(&loop, false);
  while (true) pause();
}
END_TEST

START_TEST(the_limit_ends_a_process_that_blocks) {
  tfrt_run_loop_t loop;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, 1));
  tfrt_run_loop_begin_blocking(&loop, false);
  while (true) pause();
}
END_TEST

START_TEST(signals_and_the_limit_are_events_again_when_nothing_blocks) {
  tfrt_run_loop_t loop;
  const int64_t limit_ms = 100;
  ck_assert_ptr_null(tfrt_run_loop_initialize(&loop, limit_ms));
  tfrt_run_loop_begin_blocking(&loop, false);
  tfrt_run_loop_end_blocking(&loop);
  ck_assert_int_eq(kill(getpid(), SIGINT), 0);
  tfrt_run_loop_turn(&loop);
  ck_assert_int_eq(tfrt_status_code(loop.cancelled), TFRT_STATUS_CANCELLED);
  tfrt_run_loop_forget_cancel(&loop);
  tfrt_run_loop_turn(&loop);
  ck_assert_int_eq(tfrt_status_code(loop.cancelled), TFRT_STATUS_DEADLINE_EXCEEDED);
  tfrt_run_loop_deinitialize(&loop);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("run_loop");
  TCase* turns = tcase_create("turns");
  tcase_add_test(turns, a_limit_that_is_over_before_the_first_turn_ends_it);
  tcase_add_test(turns, an_alarm_that_is_over_before_a_turn_ends_it);
  tcase_add_test(turns, a_wake_before_a_turn_is_not_lost);
  tcase_add_test(turns, the_first_reason_to_end_stays_until_it_is_forgotten);
  tcase_add_test(turns, another_thread_gives_up_and_a_turn_ends_and_cancels);
  suite_add_tcase(suite, turns);
  TCase* blocking = tcase_create("blocking");
  tcase_add_exit_test(blocking, a_signal_ends_a_process_that_blocks, TFRT_EXIT_CANCELLED);
  tcase_add_exit_test(blocking, a_signal_from_before_ends_a_process_that_blocks,
                      TFRT_EXIT_CANCELLED);
  tcase_add_exit_test(blocking, the_limit_ends_a_process_that_blocks, TFRT_EXIT_DEADLINE);
  tcase_add_test(blocking, signals_and_the_limit_are_events_again_when_nothing_blocks);
  suite_add_tcase(suite, blocking);
  return suite;
}
