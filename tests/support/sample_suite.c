// SPDX-License-Identifier: Apache-2.0
//
// A suite whose outcome the environment variable SAMPLE names, for the test of test_main.

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test_main.h"

START_TEST(a_passing_test) { ck_assert_int_eq(1, 1); }
END_TEST

START_TEST(a_failing_test) { ck_assert_int_eq(1, 2); }
END_TEST

START_TEST(a_crashing_test) { raise(SIGKILL); }
END_TEST

Suite* tfrt_test_suite(void) {
  const char* sample = getenv("SAMPLE");
  if (sample == NULL) sample = "empty";
  Suite* suite = suite_create("sample");
  TCase* first = tcase_create("first");
  if (strcmp(sample, "empty") != 0) tcase_add_test(first, a_passing_test);
  suite_add_tcase(suite, first);
  TCase* second = tcase_create("second");
  if (strcmp(sample, "fails") == 0) tcase_add_test(second, a_failing_test);
  if (strcmp(sample, "crashes") == 0) tcase_add_test(second, a_crashing_test);
  suite_add_tcase(suite, second);
  return suite;
}
