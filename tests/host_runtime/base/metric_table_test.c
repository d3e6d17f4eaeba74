// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/metric_table.h"

#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static tfrt_metric_table_t table;
static const double bounds[] = {0.5, 2};
static const tfrt_buckets_t buckets = {bounds, 2};

static void set_up(void) {
  tfrt_metric_table_initialize(&table, tfrt_allocator_system());
  tfrt_metrics_set_registry(&table.base);
}

static void tear_down(void) {
  tfrt_metrics_set_registry(NULL);
  tfrt_metric_table_deinitialize(&table);
}

static void expect_text(const char* expected) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_metric_table_append(&table, &text);
  ck_assert_str_eq(tfrt_string_builder_text(&text), expected);
  tfrt_string_builder_deinitialize(&text);
}

START_TEST(a_gauge_is_what_it_was_set_to_last) {
  tfrt_gauge_t* gauge = tfrt_metrics_gauge("hosts");
  expect_text("# TYPE hosts gauge\nhosts 0\n");
  tfrt_gauge_set_number(gauge, 2.5);
  tfrt_gauge_set_number(gauge, -3);
  expect_text("# TYPE hosts gauge\nhosts -3\n");
  tfrt_gauge_set_text(gauge, "a \"quoted\"\nback\\slash");
  expect_text("# TYPE hosts gauge\nhosts{text=\"a \\\"quoted\\\"\\nback\\\\slash\"} 1\n");
  tfrt_gauge_set_number(gauge, 1);
  expect_text("# TYPE hosts gauge\nhosts 1\n");
}
END_TEST

START_TEST(a_histogram_counts_values_by_size) {
  tfrt_histogram_t* histogram = tfrt_metrics_histogram("seconds", &buckets);
  const double values[] = {0.25, 0.5, 0.75, 2, 100};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(values); ++i) {
    tfrt_histogram_record(histogram, values[i]);
  }
  expect_text(
      "# TYPE seconds histogram\n"
      "seconds_bucket{le=\"0.5\"} 2\n"
      "seconds_bucket{le=\"2\"} 4\n"
      "seconds_bucket{le=\"+Inf\"} 5\n"
      "seconds_sum 103.5\n"
      "seconds_count 5\n");
}
END_TEST

START_TEST(metrics_are_written_by_name_and_each_is_there_once) {
  tfrt_gauge_t* b = tfrt_metrics_gauge("b");
  tfrt_gauge_t* a = tfrt_metrics_gauge("a");
  tfrt_gauge_t* c = tfrt_metrics_gauge("c");
  ck_assert_ptr_eq(tfrt_metrics_gauge("b"), b);
  tfrt_gauge_set_number(a, 1);
  tfrt_gauge_set_number(b, 2);
  tfrt_gauge_set_number(c, 3);
  expect_text("# TYPE a gauge\na 1\n# TYPE b gauge\nb 2\n# TYPE c gauge\nc 3\n");
  tfrt_histogram_t* histogram = tfrt_metrics_histogram("h", &buckets);
  ck_assert_ptr_eq(tfrt_metrics_histogram("h", &buckets), histogram);
}
END_TEST

START_TEST(a_name_of_the_other_kind_is_one_that_does_nothing) {
  tfrt_gauge_t* gauge = tfrt_metrics_gauge("x");
  tfrt_histogram_record(tfrt_metrics_histogram("x", &buckets), 1);
  tfrt_histogram_t* histogram = tfrt_metrics_histogram("y", &buckets);
  tfrt_gauge_set_number(tfrt_metrics_gauge("y"), 1);
  ck_assert_ptr_eq(tfrt_metrics_gauge("x"), gauge);
  ck_assert_ptr_eq(tfrt_metrics_histogram("y", &buckets), histogram);
}
END_TEST

START_TEST(without_memory_metrics_do_nothing) {
  tfrt_counting_allocator_t poor;
  tfrt_metric_table_t empty;
  tfrt_counting_allocator_initialize(&poor, tfrt_allocator_system(), 16);
  tfrt_metric_table_initialize(&empty, tfrt_counting_allocator_interface(&poor));
  tfrt_metrics_set_registry(&empty.base);
  ck_assert_ptr_eq(tfrt_metrics_gauge("a"), tfrt_metrics_no_gauge());
  ck_assert_ptr_eq(tfrt_metrics_histogram("b", &buckets), tfrt_metrics_no_histogram());
  tfrt_metrics_set_registry(&table.base);
  tfrt_metric_table_deinitialize(&empty);
}
END_TEST

enum { THREADS = 2, RUNS = 5000 };

static void record_many(void* unused) {
  (void)unused;
  for (int i = 0; i < RUNS; ++i) {
    tfrt_histogram_record(tfrt_metrics_histogram("shared", &buckets), 1);
    tfrt_gauge_set_text(tfrt_metrics_gauge("state"), "busy");
  }
}

START_TEST(nothing_is_lost_that_threads_record_at_once) {
  tfrt_thread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("record", record_many, NULL, &threads[i]));
  }
  for (int i = 0; i < THREADS; ++i) tfrt_thread_join(&threads[i]);
  expect_text(
      "# TYPE shared histogram\n"
      "shared_bucket{le=\"0.5\"} 0\n"
      "shared_bucket{le=\"2\"} 10000\n"
      "shared_bucket{le=\"+Inf\"} 10000\n"
      "shared_sum 10000\n"
      "shared_count 10000\n"
      "# TYPE state gauge\n"
      "state{text=\"busy\"} 1\n");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("metric_table");
  TCase* cases = tcase_create("metric_table");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, a_gauge_is_what_it_was_set_to_last);
  tcase_add_test(cases, a_histogram_counts_values_by_size);
  tcase_add_test(cases, metrics_are_written_by_name_and_each_is_there_once);
  tcase_add_test(cases, a_name_of_the_other_kind_is_one_that_does_nothing);
  tcase_add_test(cases, without_memory_metrics_do_nothing);
  tcase_add_test(cases, nothing_is_lost_that_threads_record_at_once);
  suite_add_tcase(suite, cases);
  return suite;
}
