// SPDX-License-Identifier: Apache-2.0
//
// The main function of each unit test, and the one function that a test file defines for it.
//
// A test program is one source on libcheck, built by tfrt_cc_test (bazel/defs.bzl):
//
//   #include "tests/support/test_main.h"
//
//   START_TEST(an_empty_list_has_no_head) { ck_assert_ptr_null(...); }
//   END_TEST
//
//   Suite* tfrt_test_suite(void) {
//     TCase* list = tcase_create("list");
//     tcase_add_test(list, an_empty_list_has_no_head);
//     Suite* suite = suite_create("list");
//     suite_add_tcase(suite, list);
//     return suite;
//   }
//
// Life of a test program:
//   1. main calls tfrt_test_suite() once.
//   2. It runs each test in a process of its own, so that a crash or a hang costs one test, and
//      prints the name of each.
//   3. It exits with 0 if at least one test ran and none failed, else with 1: a suite that runs
//      nothing is a failure, because it would pass whatever the code does.
//
// Environment (all optional):
//   CK_FORK=no               all tests in one process, for a debugger
//   CK_DEFAULT_TIMEOUT       seconds that one test may take; CK_TIMEOUT_MULTIPLIER scales it
//   CK_RUN_SUITE, CK_RUN_CASE   run only the suite, or the case, of that name
//   LC_ALL and its like      the locale that is set; TFRT_TEST_DECIMAL_POINT, if it is there, is
//   the
//                            decimal point that the locale must have
//   TESTBRIDGE_TEST_ONLY     as CK_RUN_CASE; Bazel sets it from --test_filter
//
// Threads: main has one thread; what a test starts, it joins before it returns.
// Failure: ck_assert_* ends the test that it is in, and only that one.

#ifndef TFRT_TESTS_SUPPORT_TEST_MAIN_H_
#define TFRT_TESTS_SUPPORT_TEST_MAIN_H_

#include <check.h>

// Defined by the test: builds the suite to run. The caller owns the result and frees it.
// *Thread-compatible: called once, from main.*
Suite* tfrt_test_suite(void);

#endif  // TFRT_TESTS_SUPPORT_TEST_MAIN_H_
