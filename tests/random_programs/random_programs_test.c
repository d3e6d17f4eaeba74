// SPDX-License-Identifier: Apache-2.0
#include "tests/random_programs/checker.h"
#include "tests/support/test_main.h"

#ifdef TFRT_SANITIZED
enum { PROGRAMS = 500 };
#else
enum { PROGRAMS = 5000 };
#endif

START_TEST(programs_give_in_each_queue_what_the_interpreter_says) {
  tfrt_model_checker_t* checker = tfrt_model_checker_allocate();
  for (uint64_t seed = 0; seed < PROGRAMS; ++seed) {
    ck_assert_msg(tfrt_model_checker_check(checker, seed), "program %llu differs; see above",
                  (unsigned long long)seed);
  }
  ck_assert_uint_ge(tfrt_model_checker_steps(checker), 10 * PROGRAMS);
  tfrt_model_checker_free(checker);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* programs = tcase_create("random programs");
  // Seconds: a busy machine has other things to do, too.
  tcase_set_timeout(programs, 60);
  tcase_add_test(programs, programs_give_in_each_queue_what_the_interpreter_says);
  Suite* suite = suite_create("random_programs");
  suite_add_tcase(suite, programs);
  return suite;
}
