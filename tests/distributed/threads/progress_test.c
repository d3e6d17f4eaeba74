// SPDX-License-Identifier: Apache-2.0
#include "distributed/threads/progress.h"

#include <check.h>

#include "tests/support/test_main.h"

static const char places[TFRT_PROGRESS_MAX_THREADS + 1];
static tfrt_progress_t progress;

// The state of thread |number|: in kernel |site|, in its call |calls|.
static tfrt_running_kernel_thread_t in(int number, int site, uint64_t calls) {
  return (tfrt_running_kernel_thread_t){
      .thread = &places[number], .site = &places[site], .calls = calls};
}

// A look at threads that are as |a| and |b| say.
static void look(tfrt_running_kernel_thread_t a, tfrt_running_kernel_thread_t b, int64_t now_ns) {
  const tfrt_running_kernel_thread_t threads[] = {a, b};
  tfrt_progress_note(&progress, threads, 2, now_ns);
}

// Since when the thread |index| of the last look is where it is.
static int64_t since(size_t index) { return progress.threads[index].since_ns; }

static void set_up(void) { progress = (tfrt_progress_t){.count = 0}; }

START_TEST(a_kernel_is_as_old_as_the_first_look_that_has_found_it) {
  look(in(1, 7, 1), in(2, 8, 1), 100);
  look(in(3, 9, 1), in(1, 7, 1), 200);
  look(in(1, 7, 1), in(2, 8, 1), 300);
  ck_assert_int_eq(since(0), 100);
  // It was not in any for a while.
  ck_assert_int_eq(since(1), 300);
}
END_TEST

START_TEST(who_comes_out_of_a_kernel_and_into_it_again_gets_on) {
  look(in(1, 7, 1), in(2, 7, 1), 100);
  look(in(1, 7, 2), in(2, 7, 1), 200);
  ck_assert_int_eq(since(0), 200);
  ck_assert_int_eq(since(1), 100);
  look(in(1, 7, 2), in(2, 8, 1), 300);
  ck_assert_int_eq(since(0), 200);
  ck_assert_int_eq(since(1), 300);
}
END_TEST

START_TEST(what_takes_too_long_is_told_once) {
  look(in(1, 7, 1), in(2, 8, 1), 100);
  ck_assert_ptr_null(tfrt_progress_tell(&progress, 99));
  look(in(1, 7, 1), in(2, 8, 2), 200);
  const tfrt_progress_thread_t* told = tfrt_progress_tell(&progress, 100);
  ck_assert_ptr_nonnull(told);
  ck_assert_ptr_eq(told->in.site, &places[7]);
  ck_assert_int_eq(told->since_ns, 100);
  look(in(2, 8, 2), in(1, 7, 1), 300);
  ck_assert_ptr_null(tfrt_progress_tell(&progress, 199));
  ck_assert_ptr_eq(tfrt_progress_tell(&progress, 200)->in.site, &places[8]);
  ck_assert_ptr_null(tfrt_progress_tell(&progress, 300));
  // In the same kernel, but again.
  look(in(2, 8, 2), in(1, 7, 2), 400);
  ck_assert_int_eq(tfrt_progress_tell(&progress, 400)->since_ns, 400);
}
END_TEST

START_TEST(of_more_threads_than_fit_the_first_are_looked_at) {
  static tfrt_running_kernel_thread_t threads[TFRT_PROGRESS_MAX_THREADS + 1];
  for (int i = 0; i <= TFRT_PROGRESS_MAX_THREADS; ++i) threads[i] = in(i, 0, 1);
  tfrt_progress_note(&progress, threads, TFRT_PROGRESS_MAX_THREADS + 1, 100);
  ck_assert_uint_eq(progress.count, TFRT_PROGRESS_MAX_THREADS);
  tfrt_progress_note(&progress, threads, 0, 200);
  ck_assert_uint_eq(progress.count, 0);
  ck_assert_ptr_null(tfrt_progress_tell(&progress, 200));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("progress");
  tcase_add_checked_fixture(cases, set_up, NULL);
  tcase_add_test(cases, a_kernel_is_as_old_as_the_first_look_that_has_found_it);
  tcase_add_test(cases, who_comes_out_of_a_kernel_and_into_it_again_gets_on);
  tcase_add_test(cases, what_takes_too_long_is_told_once);
  tcase_add_test(cases, of_more_threads_than_fit_the_first_are_looked_at);
  Suite* suite = suite_create("progress");
  suite_add_tcase(suite, cases);
  return suite;
}
