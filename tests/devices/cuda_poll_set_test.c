// SPDX-License-Identifier: Apache-2.0
//
// When the poller asks, on a clock that the test moves: how late it learns of work of a given
// length, how often it asks meanwhile, and what it leaves out.
#include "devices/cuda/cuda_poll_set.h"

#include "tests/fakes/fake_clock.h"
#include "tests/support/test_main.h"

#define US TFRT_NANOSECONDS_PER_MICROSECOND

// A point that is reached at a time.
typedef struct tfrt_test_point_s {
  tfrt_cuda_poll_t poll;
  int64_t end_ns;
  int looks;
} tfrt_test_point_t;

static tfrt_fake_clock_t fake_clock;
static tfrt_cuda_poll_set_t set;
static tfrt_list_link_t over;

static int64_t test_now(void) { return tfrt_clock_now_ns(tfrt_fake_clock_interface(&fake_clock)); }

static bool test_is_over(tfrt_cuda_poll_t* poll) {
  tfrt_test_point_t* point = TFRT_CONTAINER_OF(poll, tfrt_test_point_t, poll);
  ++point->looks;
  return test_now() >= point->end_ns;
}

static void test_set_up(void) {
  tfrt_fake_clock_initialize(&fake_clock, 1000 * US);
  tfrt_cuda_poll_set_initialize(&set);
  tfrt_list_initialize(&over);
}

// Adds |point| of |stream| at |place|, which is reached |duration_ns| from now.
static void test_add(tfrt_test_point_t* point, uint64_t stream, uint64_t place,
                     int64_t duration_ns) {
  *point = (tfrt_test_point_t){.poll = {.is_over = test_is_over, .stream = stream, .place = place},
                               .end_ns = test_now() + duration_ns};
  tfrt_cuda_poll_set_add(&set, &point->poll, test_now());
}

static void test_look(void) { tfrt_cuda_poll_set_look(&set, test_now(), &over); }

// Expects that |point| is the next one that is over.
static void test_expect(const tfrt_test_point_t* point) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&over);
  ck_assert_ptr_eq(link, &point->poll.link);
}

// Looks until |point|, the only one, is over; each look takes |look_ns|.
static void test_follow(tfrt_test_point_t* point, int64_t look_ns) {
  while (tfrt_list_is_empty(&over)) {
    tfrt_fake_clock_advance_to(&fake_clock, tfrt_cuda_poll_set_next(&set));
    test_look();
    tfrt_fake_clock_advance(&fake_clock, look_ns);
  }
  test_expect(point);
  ck_assert_int_eq(tfrt_cuda_poll_set_next(&set), TFRT_TIME_INFINITE);
}

START_TEST(work_of_any_length_is_noticed_soon_and_seldom_asked_for) {
  // How late at most and on average, and how many looks at most; a look takes 1 us.
  static const struct {
    int64_t duration_us, most_us, mean_us;
    int looks;
  } cases[] = {{1, 3, 2, 3},       {5, 4, 3, 5},        {50, 13, 7, 20},       {300, 64, 34, 34},
               {1000, 64, 34, 50}, {5000, 64, 34, 140}, {100000, 64, 34, 2700}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    int64_t sum_ns = 0;
    for (int k = 0; k < 40; ++k) {
      tfrt_test_point_t point;
      test_add(&point, 1, 1, cases[i].duration_us * US);
      test_follow(&point, US);
      int64_t late_ns = test_now() - point.end_ns;
      sum_ns += late_ns;
      ck_assert_msg(late_ns <= (cases[i].most_us + 1) * US && point.looks <= cases[i].looks,
                    "after %d us: %d ns late, %d looks", (int)cases[i].duration_us, (int)late_ns,
                    point.looks);
    }
    ck_assert_msg(sum_ns / 40 <= (cases[i].mean_us + 1) * US, "after %d us: %d ns late on average",
                  (int)cases[i].duration_us, (int)(sum_ns / 40));
  }
}
END_TEST

START_TEST(in_a_hurry_there_is_no_pause_for_a_while) {
  tfrt_test_point_t point;
  test_add(&point, 1, 1, 40 * US);
  // The one behind it is in a hurry, so this one is, too.
  tfrt_test_point_t hurried = {.poll = {.is_over = test_is_over, .stream = 1, .place = 2},
                               .end_ns = point.end_ns + 40 * US};
  hurried.poll.in_hurry = true;
  test_look();
  tfrt_cuda_poll_set_add(&set, &hurried.poll, test_now());
  while (tfrt_list_is_empty(&over)) {
    ck_assert_int_le(tfrt_cuda_poll_set_next(&set), test_now());
    test_look();
    tfrt_fake_clock_advance(&fake_clock, US);
  }
  test_expect(&point);
  ck_assert_int_eq(hurried.looks, 1);
  while (tfrt_list_is_empty(&over)) {
    ck_assert_int_le(tfrt_cuda_poll_set_next(&set), test_now());
    test_look();
    tfrt_fake_clock_advance(&fake_clock, US);
  }
  test_expect(&hurried);
  // Longer work is not spun for.
  hurried.end_ns = test_now() + 10000 * US;
  hurried.looks = 0;
  tfrt_cuda_poll_set_add(&set, &hurried.poll, test_now());
  test_follow(&hurried, US);
  ck_assert_int_le(hurried.looks, 320);
}
END_TEST

START_TEST(a_look_stops_at_the_first_of_a_stream_that_is_not_over) {
  tfrt_test_point_t points[5];
  // In another order than they are reached.
  test_add(&points[1], 7, 2, 20 * US);
  test_add(&points[0], 7, 1, 10 * US);
  test_add(&points[3], 7, 9, 40 * US);
  test_add(&points[2], 7, 5, 20 * US);
  test_add(&points[4], 8, 1, 15 * US);
  test_look();
  ck_assert(tfrt_list_is_empty(&over));
  ck_assert_int_eq(points[0].looks + points[4].looks, 2);
  ck_assert_int_eq(points[1].looks + points[2].looks + points[3].looks, 0);
  tfrt_fake_clock_advance(&fake_clock, 12 * US);
  test_look();
  test_expect(&points[0]);
  ck_assert(tfrt_list_is_empty(&over));
  ck_assert_int_eq(points[1].looks, 1);
  ck_assert_int_eq(points[2].looks + points[3].looks, 0);
  tfrt_fake_clock_advance(&fake_clock, 10 * US);
  test_look();
  test_expect(&points[1]);
  test_expect(&points[2]);
  test_expect(&points[4]);
  ck_assert_int_eq(points[3].looks, 1);
  tfrt_fake_clock_advance(&fake_clock, 50 * US);
  test_look();
  test_expect(&points[3]);
}
END_TEST

START_TEST(what_is_of_no_stream_waits_for_nothing_else) {
  tfrt_test_point_t points[3];
  test_add(&points[0], 0, 0, 1000 * US);
  test_add(&points[1], 0, 0, 0);
  test_add(&points[2], 3, 1, 0);
  test_look();
  test_expect(&points[1]);
  test_expect(&points[2]);
  ck_assert_int_eq(points[0].looks, 1);
  test_follow(&points[0], US);
}
END_TEST

START_TEST(long_work_of_one_stream_does_not_make_that_of_another_late) {
  tfrt_test_point_t long_one;
  tfrt_test_point_t short_one;
  test_add(&long_one, 1, 1, 100000 * US);
  for (int i = 0; i < 1000; ++i) {
    tfrt_fake_clock_advance(&fake_clock, 10 * US);
    test_add(&short_one, 2, (uint64_t)i, 6 * US);
    while (tfrt_list_is_empty(&over)) {
      tfrt_fake_clock_advance_to(&fake_clock, tfrt_cuda_poll_set_next(&set));
      test_look();
    }
    test_expect(&short_one);
    ck_assert_int_le(test_now() - short_one.end_ns, 3 * US);
  }
  // 16 ms of it were waited for meanwhile.
  ck_assert_int_le(long_one.looks, 16000 / 45 + 40);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* polls = tcase_create("polls");
  tcase_add_checked_fixture(polls, test_set_up, NULL);
  tcase_add_test(polls, work_of_any_length_is_noticed_soon_and_seldom_asked_for);
  tcase_add_test(polls, in_a_hurry_there_is_no_pause_for_a_while);
  tcase_add_test(polls, a_look_stops_at_the_first_of_a_stream_that_is_not_over);
  tcase_add_test(polls, what_is_of_no_stream_waits_for_nothing_else);
  tcase_add_test(polls, long_work_of_one_stream_does_not_make_that_of_another_late);
  Suite* suite = suite_create("cuda_poll_set");
  suite_add_tcase(suite, polls);
  return suite;
}
