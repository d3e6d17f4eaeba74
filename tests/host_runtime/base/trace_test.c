// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/trace.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

START_TEST(spans_come_back_in_order_and_in_parts) {
  tfrt_trace_t* trace = NULL;
  ck_assert_ptr_null(tfrt_trace_create(3000, tfrt_allocator_system(), &trace));
  for (int64_t i = 0; i < 2500; ++i) tfrt_trace_add(trace, "kernel", "k", i, i + 1, 7);
  static tfrt_trace_span_t spans[1000];
  ck_assert_uint_eq(tfrt_trace_read(trace, 1000, spans, 1000), 1000);
  ck_assert_int_eq(spans[0].begin_ns, 1000);
  ck_assert_int_eq(spans[999].end_ns, 2000);
  ck_assert_uint_eq(spans[0].request, 7);
  ck_assert_uint_eq(tfrt_trace_read(trace, 2000, spans, 1000), 500);
  ck_assert_uint_eq(tfrt_trace_read(trace, 2500, spans, 1000), 0);
  tfrt_trace_release(trace);
}
END_TEST

START_TEST(what_does_not_fit_is_counted_and_long_names_are_cut) {
  tfrt_trace_t* trace = NULL;
  ck_assert_ptr_null(tfrt_trace_create(1, tfrt_allocator_system(), &trace));
  char name[200];
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  tfrt_trace_add(trace, "a very long category", name, 1, 2, 0);
  tfrt_trace_add(trace, "kernel", "lost", 3, 4, 0);
  ck_assert_uint_eq(tfrt_trace_dropped(trace), 1);
  tfrt_trace_span_t span;
  ck_assert_uint_eq(tfrt_trace_read(trace, 0, &span, 1), 1);
  ck_assert_uint_eq(strlen(span.name), sizeof(span.name) - 1);
  ck_assert_str_eq(span.category, "a very long cat");
  tfrt_trace_release(trace);
}
END_TEST

static void add_many(void* argument) {
  for (int i = 0; i < 1000; ++i) tfrt_trace_add(argument, "kernel", "k", i, i, 0);
}

START_TEST(threads_have_numbers_of_their_own) {
  tfrt_trace_t* trace = NULL;
  ck_assert_ptr_null(tfrt_trace_create(10000, tfrt_allocator_system(), &trace));
  tfrt_thread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("adder", add_many, trace, &threads[i]));
  }
  for (int i = 0; i < 4; ++i) tfrt_thread_join(&threads[i]);
  static tfrt_trace_span_t spans[4000];
  ck_assert_uint_eq(tfrt_trace_read(trace, 0, spans, 4000), 4000);
  int per_thread[8] = {0};
  for (int i = 0; i < 4000; ++i) {
    ck_assert_uint_lt(spans[i].thread, 8);
    ++per_thread[spans[i].thread];
  }
  int of_a_thousand = 0;
  for (int i = 0; i < 8; ++i) of_a_thousand += per_thread[i] == 1000;
  ck_assert_int_eq(of_a_thousand, 4);
  tfrt_trace_release(trace);
}
END_TEST

static char told[256];

static void tell_enter(void* self, const char* name) {
  (void)self;
  snprintf(told + strlen(told), sizeof(told) - strlen(told), "<%s", name);
}
static void tell_leave(void* self) {
  (void)self;
  snprintf(told + strlen(told), sizeof(told) - strlen(told), ">");
}

START_TEST(a_sink_is_told_of_scopes_while_they_run) {
  tfrt_trace_t* trace = NULL;
  ck_assert_ptr_null(tfrt_trace_create(10, tfrt_allocator_system(), &trace));
  const tfrt_trace_sink_t sink = {.enter = tell_enter, .leave = tell_leave};
  tfrt_trace_set_sink(trace, &sink);
  tfrt_trace_enter(trace, "outer");
  tfrt_trace_enter(trace, "inner");
  ck_assert_str_eq(told, "<outer<inner");
  tfrt_trace_leave_kernel(trace, "inner", 17, 2, 3, 0);
  tfrt_trace_leave(trace, "call", "outer", 1, 4, 0);
  ck_assert_str_eq(told, "<outer<inner>>");
  tfrt_trace_span_t spans[2];
  ck_assert_uint_eq(tfrt_trace_read(trace, 0, spans, 2), 2);
  ck_assert_str_eq(spans[0].name, "inner");
  ck_assert_str_eq(spans[0].category, "kernel");
  ck_assert_uint_eq(spans[0].location, 17);
  ck_assert_uint_eq(spans[1].location, TFRT_TRACE_NO_LOCATION);
  ck_assert_int_eq(spans[1].end_ns, 4);
  tfrt_trace_release(trace);
}
END_TEST

START_TEST(what_begins_between_the_bounds_is_taken_and_a_restarted_one_has_room_again) {
  tfrt_trace_t* trace = NULL;
  ck_assert_ptr_null(tfrt_trace_create(2, tfrt_allocator_system(), &trace));
  tfrt_trace_bound(trace, 100);
  tfrt_trace_add(trace, "kernel", "early", 99, 200, 0);
  tfrt_trace_add(trace, "kernel", "late", 100, 101, 0);
  tfrt_trace_span_t spans[3];
  ck_assert_uint_eq(tfrt_trace_read(trace, 0, spans, 3), 1);
  ck_assert_str_eq(spans[0].name, "early");
  ck_assert_uint_eq(tfrt_trace_dropped(trace), 0);
  for (int i = 0; i < 2; ++i) tfrt_trace_add(trace, "kernel", "more", 1, 2, 0);
  ck_assert_uint_eq(tfrt_trace_dropped(trace), 1);
  tfrt_trace_restart(trace, 500);
  ck_assert_uint_eq(tfrt_trace_read(trace, 0, spans, 3), 0);
  ck_assert_uint_eq(tfrt_trace_dropped(trace), 0);
  tfrt_trace_bound(trace, 1000);
  tfrt_trace_add(trace, "kernel", "before", 499, 501, 0);
  for (int i = 0; i < 2; ++i) tfrt_trace_add(trace, "kernel", "again", 500, 501, 0);
  ck_assert_uint_eq(tfrt_trace_read(trace, 0, spans, 3), 2);
  ck_assert_str_eq(spans[0].name, "again");
  ck_assert_uint_eq(tfrt_trace_dropped(trace), 0);
  tfrt_trace_release(trace);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("trace");
  TCase* cases = tcase_create("trace");
  tcase_add_test(cases, spans_come_back_in_order_and_in_parts);
  tcase_add_test(cases, what_does_not_fit_is_counted_and_long_names_are_cut);
  tcase_add_test(cases, threads_have_numbers_of_their_own);
  tcase_add_test(cases, a_sink_is_told_of_scopes_while_they_run);
  tcase_add_test(cases, what_begins_between_the_bounds_is_taken_and_a_restarted_one_has_room_again);
  suite_add_tcase(suite, cases);
  return suite;
}
