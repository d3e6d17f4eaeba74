// SPDX-License-Identifier: Apache-2.0

#include "tests/support/test_main.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Sets the locale of the environment, as many programs that embed the runtime do.
static void set_locale(void) {
  const char* wanted = getenv("TFRT_TEST_DECIMAL_POINT");
  bool is_set = setlocale(LC_ALL, "") != NULL;
  if (!wanted || (is_set && strcmp(localeconv()->decimal_point, wanted) == 0)) return;
  fprintf(stderr, "error: the locale %s is not there; is Debian's package locales installed?\n",
          getenv("LC_ALL"));
  exit(EXIT_FAILURE);
}

// libcheck reads CK_FORK, CK_RUN_SUITE, CK_RUN_CASE and the time limits by itself; an argument
// that is not NULL overrides the environment, so NULL is passed unless Bazel has a filter.
int main(void) {
  set_locale();
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
