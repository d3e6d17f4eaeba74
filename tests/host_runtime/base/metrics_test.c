// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/metrics.h"

#include <string.h>

#include "tests/support/test_main.h"

// A registry of one gauge and one histogram, which remember.
static double number;
static char text[32];
static double recorded;
static char asked[64];
static double last_bound;

static void set_number(tfrt_gauge_t* gauge, double value) {
  (void)gauge;
  number = value;
}
static void set_text(tfrt_gauge_t* gauge, const char* value) {
  (void)gauge;
  strncpy(text, value, sizeof(text) - 1);
}
static void record(tfrt_histogram_t* histogram, double value) {
  (void)histogram;
  recorded += value;
}
static const tfrt_gauge_vtable_t gauge_vtable = {set_number, set_text};
static const tfrt_histogram_vtable_t histogram_vtable = {record};
static tfrt_gauge_t own_gauge = {&gauge_vtable};
static tfrt_histogram_t own_histogram = {&histogram_vtable};

static tfrt_gauge_t* gauge_of(tfrt_metrics_registry_t* registry, const char* name) {
  (void)registry;
  strncat(asked, name, sizeof(asked) - strlen(asked) - 1);
  return &own_gauge;
}
static tfrt_histogram_t* histogram_of(tfrt_metrics_registry_t* registry, const char* name,
                                      const tfrt_buckets_t* buckets) {
  (void)registry;
  strncat(asked, name, sizeof(asked) - strlen(asked) - 1);
  last_bound = buckets->bounds[buckets->count - 1];
  return &own_histogram;
}
static const tfrt_metrics_registry_vtable_t registry_vtable = {gauge_of, histogram_of};
static tfrt_metrics_registry_t own_registry = {&registry_vtable};

static const double bounds[] = {1, 10};
static const tfrt_buckets_t buckets = {bounds, 2};

START_TEST(without_a_registry_metrics_do_nothing) {
  tfrt_gauge_t* gauge = tfrt_metrics_gauge("a");
  ck_assert_ptr_eq(gauge, tfrt_metrics_no_gauge());
  tfrt_gauge_set_number(gauge, 1);
  tfrt_gauge_set_text(gauge, "x");
  tfrt_histogram_t* histogram = tfrt_metrics_histogram("b", &buckets);
  ck_assert_ptr_eq(histogram, tfrt_metrics_no_histogram());
  tfrt_histogram_record(histogram, 1);
}
END_TEST

START_TEST(metrics_come_from_the_registry_that_is_set) {
  tfrt_metrics_set_registry(&own_registry);
  tfrt_gauge_t* gauge = tfrt_metrics_gauge("a");
  tfrt_histogram_t* histogram = tfrt_metrics_histogram("b", &buckets);
  ck_assert_str_eq(asked, "ab");
  ck_assert(last_bound == 10);
  tfrt_metrics_set_registry(NULL);
  // Metrics that were asked for before stay.
  tfrt_gauge_set_number(gauge, 2.5);
  tfrt_gauge_set_text(gauge, "idle");
  tfrt_histogram_record(histogram, 3);
  tfrt_histogram_record(histogram, 4);
  ck_assert(number == 2.5 && recorded == 7);
  ck_assert_str_eq(text, "idle");
  ck_assert_ptr_eq(tfrt_metrics_gauge("c"), tfrt_metrics_no_gauge());
  ck_assert_str_eq(asked, "ab");
}
END_TEST

START_TEST(exponential_buckets_grow_by_a_factor) {
  double filled[4];
  tfrt_buckets_fill_exponential(0.5, 4, 4, filled);
  ck_assert(filled[0] == 0.5 && filled[1] == 2 && filled[2] == 8 && filled[3] == 32);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("metrics");
  TCase* cases = tcase_create("metrics");
  tcase_add_test(cases, without_a_registry_metrics_do_nothing);
  tcase_add_test(cases, metrics_come_from_the_registry_that_is_set);
  tcase_add_test(cases, exponential_buckets_grow_by_a_factor);
  suite_add_tcase(suite, cases);
  return suite;
}
