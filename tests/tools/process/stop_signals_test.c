// SPDX-License-Identifier: Apache-2.0
#include "tools/process/stop_signals.h"

#include <signal.h>
#include <unistd.h>

#include "tests/support/test_main.h"

static uv_loop_t loop;
static tfrt_stop_signals_t signals;
static int stops[4];
static int stop_count;
static volatile sig_atomic_t caught;

static void on_stop(void* self, int number) {
  ck_assert_ptr_eq(self, stops);
  ck_assert_int_lt(stop_count, 4);
  stops[stop_count++] = number;
}

static void on_caught(int number) { caught = number; }

static void set_up(void) {
  ck_assert_int_eq(uv_loop_init(&loop), 0);
  ck_assert_int_eq(tfrt_stop_signals_initialize(&signals, &loop, on_stop, stops), 0);
}

static void tear_down(void) {
  tfrt_stop_signals_close(&signals);
  ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
  ck_assert_int_eq(uv_loop_close(&loop), 0);
}

START_TEST(what_comes_before_a_turn_is_an_event_of_it) {
  ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
  ck_assert_int_eq(stop_count, 0);
  uv_run(&loop, UV_RUN_ONCE);
  ck_assert_int_eq(stop_count, 1);
  ck_assert_int_eq(stops[0], SIGTERM);
}
END_TEST

START_TEST(each_of_both_is_told) {
  ck_assert_int_eq(kill(getpid(), SIGINT), 0);
  ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
  uv_run(&loop, UV_RUN_ONCE);
  ck_assert_int_eq(stop_count, 2);
  ck_assert_int_eq(stops[0] + stops[1], SIGINT + SIGTERM);
  ck_assert_int_eq(kill(getpid(), SIGINT), 0);
  uv_run(&loop, UV_RUN_ONCE);
  ck_assert_int_eq(stop_count, 3);
  ck_assert_int_eq(stops[2], SIGINT);
}
END_TEST

START_TEST(a_hangup_is_told_unless_the_process_was_started_to_ignore_it) {
  tear_down();
  signal(SIGHUP, SIG_DFL);
  set_up();
  ck_assert_int_eq(kill(getpid(), SIGHUP), 0);
  uv_run(&loop, UV_RUN_ONCE);
  ck_assert_int_eq(stop_count, 1);
  ck_assert_int_eq(stops[0], SIGHUP);
  tear_down();
  signal(SIGHUP, SIG_IGN);
  set_up();
  // Else a signal of the life before is pending, and taken now.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  ck_assert_int_eq(kill(getpid(), SIGHUP), 0);
  ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
  uv_run(&loop, UV_RUN_ONCE);
  ck_assert_int_eq(stop_count, 2);
  ck_assert_int_eq(stops[1], SIGTERM);
}
END_TEST

static void signal_process(void* argument) { *(int*)argument = kill(getpid(), SIGTERM); }

START_TEST(no_thread_takes_one_away_from_the_loop) {
  uv_thread_t thread;
  int result = -1;
  ck_assert_int_eq(uv_thread_create(&thread, signal_process, &result), 0);
  ck_assert_int_eq(uv_thread_join(&thread), 0);
  ck_assert_int_eq(result, 0);
  uv_run(&loop, UV_RUN_ONCE);
  ck_assert_int_eq(stop_count, 1);
}
END_TEST

START_TEST(a_handler_takes_what_comes_later_and_nothing_that_came_before) {
  ck_assert_int_eq(kill(getpid(), SIGINT), 0);
  tfrt_stop_signals_release(&signals, on_caught);
  ck_assert_int_eq(caught, 0);
  ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
  ck_assert_int_eq(caught, SIGTERM);
  tfrt_stop_signals_release(&signals, on_caught);
  ck_assert_int_eq(kill(getpid(), SIGINT), 0);
  ck_assert_int_eq(caught, SIGINT);
  uv_run(&loop, UV_RUN_NOWAIT);
  ck_assert_int_eq(stop_count, 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("stop_signals");
  TCase* tests = tcase_create("signals");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, what_comes_before_a_turn_is_an_event_of_it);
  tcase_add_test(tests, each_of_both_is_told);
  tcase_add_test(tests, a_hangup_is_told_unless_the_process_was_started_to_ignore_it);
  tcase_add_test(tests, no_thread_takes_one_away_from_the_loop);
  tcase_add_test(tests, a_handler_takes_what_comes_later_and_nothing_that_came_before);
  suite_add_tcase(suite, tests);
  return suite;
}
