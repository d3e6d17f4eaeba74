// SPDX-License-Identifier: Apache-2.0

#include "tests/support/test_main.h"

#include <stdio.h>
#include <stdlib.h>

// libcheck reads CK_FORK, CK_RUN_SUITE, CK_RUN_CASE and the time limits by itself; an argument
// that is not NULL overrides the environment, so NULL is passed unless Bazel has a filter.
int main(void) {
  SRunner* runner = srunner_create(tfrt_test_suite());
  srunner_run(runner, NULL, getenv("TESTBRIDGE_TEST_ONLY"), CK_VERBOSE);
  int run_count = srunner_ntests_run(runner);
  int failed_count = srunner_ntests_failed(runner);
  srunner_free(runner);
  if (run_count == 0) {
    fprintf(stderr, "error: no test ran; is the filter right, and does the suite have cases?\n");
  }
  return run_count > 0 && failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
