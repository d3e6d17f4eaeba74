// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/random.h"

#include <string.h>

#include "tests/support/test_main.h"

START_TEST(the_same_seed_gives_the_same_numbers) {
  tfrt_random_t a, b, c;
  tfrt_random_initialize(&a, 42);
  tfrt_random_initialize(&b, 42);
  tfrt_random_initialize(&c, 43);
  int same_as_c = 0;
  for (int i = 0; i < 100; ++i) {
    uint64_t number = tfrt_random_next(&a);
    ck_assert_uint_eq(number, tfrt_random_next(&b));
    same_as_c += number == tfrt_random_next(&c);
  }
  ck_assert_int_eq(same_as_c, 0);
}
END_TEST

START_TEST(the_numbers_are_those_of_xoshiro256_starstar) {
  // The state 1, 2, 3, 4, worked out by hand from the definition.
  tfrt_random_t random = {{1, 2, 3, 4}};
  ck_assert_uint_eq(tfrt_random_next(&random), 11520);
  ck_assert_uint_eq(tfrt_random_next(&random), 0);
  ck_assert_uint_eq(tfrt_random_next(&random), 1509978240);
}
END_TEST

START_TEST(numbers_below_a_limit_reach_all_of_it) {
  tfrt_random_t random;
  tfrt_random_initialize(&random, 0);
  int seen[10] = {0};
  for (int i = 0; i < 10000; ++i) ++seen[tfrt_random_below(&random, 10)];
  for (int i = 0; i < 10; ++i) ck_assert_int_gt(seen[i], 800);
  for (int i = 0; i < 10; ++i) ck_assert_uint_eq(tfrt_random_below(&random, 1), 0);
}
END_TEST

START_TEST(unit_numbers_are_at_least_zero_and_below_one) {
  tfrt_random_t random;
  tfrt_random_initialize(&random, 7);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    double number = tfrt_random_unit(&random);
    ck_assert(number >= 0 && number < 1);
    sum += number;
  }
  ck_assert(sum > 4800 && sum < 5200);
}
END_TEST

START_TEST(entropy_fills_all_bytes_and_never_repeats) {
  unsigned char a[300] = {0}, b[300] = {0};
  tfrt_random_entropy(a, sizeof a);
  tfrt_random_entropy(b, sizeof b);
  ck_assert_int_ne(memcmp(a, b, 16), 0);
  ck_assert_int_ne(memcmp(a + sizeof a - 16, b + sizeof b - 16, 16), 0);
  tfrt_random_entropy(a, 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("random");
  tcase_add_test(tests, the_same_seed_gives_the_same_numbers);
  tcase_add_test(tests, the_numbers_are_those_of_xoshiro256_starstar);
  tcase_add_test(tests, numbers_below_a_limit_reach_all_of_it);
  tcase_add_test(tests, unit_numbers_are_at_least_zero_and_below_one);
  tcase_add_test(tests, entropy_fills_all_bytes_and_never_repeats);
  Suite* suite = suite_create("random");
  suite_add_tcase(suite, tests);
  return suite;
}
