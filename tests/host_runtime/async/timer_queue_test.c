// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/timer_queue.h"

#include <stdatomic.h>

#include "host_runtime/base/random.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/test_main.h"

typedef struct alarm_s {
  tfrt_timer_t timer;
  int place;  // 1 for the first that ran
  int64_t again_ns;
} alarm_t;

static tfrt_fake_clock_t fake_clock;
static tfrt_timer_queue_t queue;
static int next_place;

static void begin(void) {
  tfrt_fake_clock_initialize(&fake_clock, 1000);
  tfrt_timer_queue_initialize(&queue, tfrt_fake_clock_interface(&fake_clock));
}

static void ring(tfrt_timer_t* timer) {
  alarm_t* alarm = TFRT_CONTAINER_OF(timer, alarm_t, timer);
  alarm->place = ++next_place;
  if (alarm->again_ns) {
    int64_t deadline_ns = alarm->again_ns;
    alarm->again_ns = 0;
    tfrt_timer_start(&queue, timer, deadline_ns, ring);
  }
}

START_TEST(timers_run_in_the_order_of_their_deadlines) {
  begin();
  alarm_t alarms[3] = {0};
  ck_assert_int_eq(tfrt_timer_queue_next_deadline(&queue), TFRT_TIME_INFINITE);
  tfrt_timer_start(&queue, &alarms[0].timer, 1030, ring);
  tfrt_timer_start(&queue, &alarms[1].timer, 1010, ring);
  tfrt_timer_start(&queue, &alarms[2].timer, 1020, ring);
  ck_assert_int_eq(tfrt_timer_queue_next_deadline(&queue), 1010);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&queue), 0);
  tfrt_fake_clock_advance_to(&fake_clock, 1020);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&queue), 2);
  ck_assert_int_eq(alarms[1].place, 1);
  ck_assert_int_eq(alarms[2].place, 2);
  ck_assert_int_eq(tfrt_timer_queue_next_deadline(&queue), 1030);
  tfrt_fake_clock_advance(&fake_clock, 100);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&queue), 1);
  tfrt_timer_queue_deinitialize(&queue);
}
END_TEST

START_TEST(equal_deadlines_run_in_the_order_of_their_starts) {
  begin();
  alarm_t alarms[100] = {0};
  for (int i = 0; i < 100; ++i) tfrt_timer_start(&queue, &alarms[i].timer, 1000, ring);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&queue), 100);
  for (int i = 0; i < 100; ++i) ck_assert_int_eq(alarms[i].place, i + 1);
  tfrt_timer_queue_deinitialize(&queue);
}
END_TEST

START_TEST(a_cancelled_timer_does_not_run) {
  begin();
  alarm_t alarms[2] = {0};
  tfrt_timer_start(&queue, &alarms[0].timer, 1000, ring);
  tfrt_timer_start(&queue, &alarms[1].timer, 1000, ring);
  ck_assert(tfrt_timer_cancel(&queue, &alarms[0].timer));
  ck_assert(!tfrt_timer_cancel(&queue, &alarms[0].timer));
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&queue), 1);
  ck_assert_int_eq(alarms[0].place, 0);
  ck_assert(!tfrt_timer_cancel(&queue, &alarms[1].timer));
  tfrt_timer_queue_deinitialize(&queue);
}
END_TEST

START_TEST(a_timer_may_start_itself_again) {
  begin();
  alarm_t now = {.again_ns = 1000};
  alarm_t later = {.again_ns = 1500};
  tfrt_timer_start(&queue, &now.timer, 1000, ring);
  tfrt_timer_start(&queue, &later.timer, 1000, ring);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&queue), 3);
  ck_assert_int_eq(tfrt_timer_queue_next_deadline(&queue), 1500);
  ck_assert(tfrt_timer_cancel(&queue, &later.timer));
  tfrt_timer_queue_deinitialize(&queue);
}
END_TEST

#define MANY 2000

START_TEST(many_timers_keep_their_order_through_many_cancels) {
  begin();
  static alarm_t alarms[MANY];
  static int64_t last_ns;
  tfrt_random_t random;
  tfrt_random_initialize(&random, 11);
  int waiting = MANY;
  for (int i = 0; i < MANY; ++i) {
    tfrt_timer_start(&queue, &alarms[i].timer, 1000 + (int64_t)tfrt_random_below(&random, 500),
                     ring);
  }
  for (int i = 0; i < MANY / 2; ++i) {
    waiting -= tfrt_timer_cancel(&queue, &alarms[tfrt_random_below(&random, MANY)].timer);
    if (i % 10 == 0) {
      tfrt_fake_clock_advance(&fake_clock, 2);
      ck_assert_int_ge(tfrt_timer_queue_next_deadline(&queue), last_ns);
      waiting -= (int)tfrt_timer_queue_run_due(&queue);
      last_ns = tfrt_clock_now_ns(queue.clock);
      ck_assert_int_gt(tfrt_timer_queue_next_deadline(&queue), last_ns);
    }
  }
  tfrt_fake_clock_advance(&fake_clock, 1000);
  ck_assert_int_eq((int)tfrt_timer_queue_run_due(&queue), waiting);
  ck_assert_ptr_null(queue.root);
  tfrt_timer_queue_deinitialize(&queue);
}
END_TEST

typedef struct shared_alarm_s {
  tfrt_timer_t timer;
  _Atomic int run_count;
} shared_alarm_t;

static void count_ring(tfrt_timer_t* timer) {
  atomic_fetch_add(&TFRT_CONTAINER_OF(timer, shared_alarm_t, timer)->run_count, 1);
}

START_TEST(the_thread_runs_what_is_due_and_cancel_tells_the_truth) {
  tfrt_timer_queue_initialize(&queue, tfrt_clock_system());
  ck_assert_ptr_null(tfrt_timer_queue_start_thread(&queue));
  static shared_alarm_t alarms[1000];
  shared_alarm_t never = {0};
  tfrt_timer_start(&queue, &never.timer, TFRT_TIME_INFINITE - 1, count_ring);
  int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  for (int i = 0; i < 1000; ++i) {
    tfrt_timer_start(&queue, &alarms[i].timer, now_ns + i * 1000, count_ring);
  }
  for (int i = 0; i < 1000; ++i) {
    bool prevented = i % 2 && tfrt_timer_cancel(&queue, &alarms[i].timer);
    if (prevented) {
      ck_assert_int_eq(atomic_load(&alarms[i].run_count), 0);
    } else {
      while (atomic_load(&alarms[i].run_count) == 0) tfrt_thread_yield();
    }
  }
  ck_assert(tfrt_timer_cancel(&queue, &never.timer));
  tfrt_timer_queue_deinitialize(&queue);
  for (int i = 0; i < 1000; i += 2) ck_assert_int_eq(alarms[i].run_count, 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("timer_queue");
  tcase_add_test(tests, timers_run_in_the_order_of_their_deadlines);
  tcase_add_test(tests, equal_deadlines_run_in_the_order_of_their_starts);
  tcase_add_test(tests, a_cancelled_timer_does_not_run);
  tcase_add_test(tests, a_timer_may_start_itself_again);
  tcase_add_test(tests, many_timers_keep_their_order_through_many_cancels);
  tcase_add_test(tests, the_thread_runs_what_is_due_and_cancel_tells_the_truth);
  Suite* suite = suite_create("timer_queue");
  suite_add_tcase(suite, tests);
  return suite;
}
