// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/processor_set.h"

#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

static tfrt_processor_set_t set_of(const int* processors, int count) {
  tfrt_processor_set_t set = {{0}};
  for (int i = 0; i < count; ++i) {
    set.bits[processors[i] / 64] |= UINT64_C(1) << (processors[i] % 64);
  }
  return set;
}

static void expect_share(const tfrt_processor_set_t* set, uint32_t index, uint32_t count,
                         const int* processors, int processor_count) {
  const tfrt_processor_set_t share = tfrt_processor_set_share(set, index, count);
  const tfrt_processor_set_t wanted = set_of(processors, processor_count);
  ck_assert_int_eq(tfrt_processor_set_count(&share), processor_count);
  ck_assert_mem_eq(&share, &wanted, sizeof(share));
}

static const int kFive[] = {1, 3, 64, 65, 1023};

START_TEST(shares_are_neighbours_and_have_all_of_the_set) {
  const tfrt_processor_set_t set = set_of(kFive, 5);
  ck_assert_int_eq(tfrt_processor_set_count(&set), 5);
  expect_share(&set, 0, 1, kFive, 5);
  expect_share(&set, 0, 2, kFive, 2);
  expect_share(&set, 1, 2, kFive + 2, 3);
  for (uint32_t i = 0; i < 5; ++i) expect_share(&set, i, 5, kFive + i, 1);
}
END_TEST

START_TEST(more_shares_than_processors_have_one_each_in_turn) {
  const tfrt_processor_set_t set = set_of(kFive, 5);
  for (uint32_t i = 0; i < 9; ++i) expect_share(&set, i, 9, kFive + i % 5, 1);
}
END_TEST

START_TEST(an_index_goes_round) {
  const tfrt_processor_set_t set = set_of(kFive, 5);
  expect_share(&set, 7, 5, kFive + 2, 1);
  expect_share(&set, 3, 2, kFive + 2, 3);
}
END_TEST

START_TEST(no_processors_have_no_shares) {
  const tfrt_processor_set_t none = {{0}};
  expect_share(&none, 3, 4, kFive, 0);
  ck_assert(!tfrt_processor_set_bind(&none));
}
END_TEST

START_TEST(a_bound_thread_has_the_processors_of_its_share) {
  const tfrt_processor_set_t all = tfrt_processor_set_of_thread();
  const int count = tfrt_processor_set_count(&all);
  ck_assert_int_eq(count, tfrt_processor_count());
  const tfrt_processor_set_t last =
      tfrt_processor_set_share(&all, (uint32_t)count - 1, (uint32_t)count);
  ck_assert(tfrt_processor_set_bind(&last));
  tfrt_processor_set_t now = tfrt_processor_set_of_thread();
  ck_assert_mem_eq(&now, &last, sizeof(now));
  ck_assert_int_eq(tfrt_processor_count(), 1);
  ck_assert(tfrt_processor_set_bind(&all));
  now = tfrt_processor_set_of_thread();
  ck_assert_mem_eq(&now, &all, sizeof(now));
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("processor_set");
  TCase* tests = tcase_create("sets");
  tcase_add_test(tests, shares_are_neighbours_and_have_all_of_the_set);
  tcase_add_test(tests, more_shares_than_processors_have_one_each_in_turn);
  tcase_add_test(tests, an_index_goes_round);
  tcase_add_test(tests, no_processors_have_no_shares);
  tcase_add_test(tests, a_bound_thread_has_the_processors_of_its_share);
  suite_add_tcase(suite, tests);
  return suite;
}
