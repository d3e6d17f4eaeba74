// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/counting_allocator.h"

#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

static tfrt_counting_allocator_t books;

START_TEST(the_books_count_blocks_and_bytes) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  void* a = tfrt_allocator_allocate(allocator, 100);
  void* b = tfrt_allocator_allocate_aligned(allocator, 50, 64);
  tfrt_allocator_free(allocator, a, 100);
  void* c = tfrt_allocator_allocate(allocator, 20);
  tfrt_allocation_counts_t counts = tfrt_counting_allocator_counts(&books);
  ck_assert_int_eq(counts.current_count, 2);
  ck_assert_int_eq(counts.max_count, 2);
  ck_assert_int_eq(counts.total_count, 3);
  ck_assert_int_eq(counts.current_bytes, 70);
  ck_assert_int_eq(counts.max_bytes, 150);
  tfrt_allocator_free_aligned(allocator, b, 50, 64);
  tfrt_allocator_free(allocator, c, 20);
  counts = tfrt_counting_allocator_counts(&books);
  ck_assert_int_eq(counts.current_count, 0);
  ck_assert_int_eq(counts.current_bytes, 0);
  ck_assert_int_eq(counts.total_count, 3);
}
END_TEST

START_TEST(the_limit_is_exact_and_a_refusal_changes_nothing) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 100);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  void* a = tfrt_allocator_allocate(allocator, 60);
  ck_assert_ptr_null(tfrt_allocator_allocate(allocator, 41));
  tfrt_allocation_counts_t counts = tfrt_counting_allocator_counts(&books);
  ck_assert_int_eq(counts.current_bytes, 60);
  ck_assert_int_eq(counts.total_count, 1);
  void* b = tfrt_allocator_allocate(allocator, 40);
  ck_assert_ptr_nonnull(b);
  tfrt_allocator_free(allocator, a, 60);
  tfrt_allocator_free(allocator, b, 40);
}
END_TEST

static void churn(void* argument) {
  tfrt_allocator_t allocator = *(tfrt_allocator_t*)argument;
  for (int i = 0; i < 5000; ++i) {
    void* block = tfrt_allocator_allocate(allocator, 8);
    tfrt_allocator_free(allocator, block, 8);
  }
}

START_TEST(the_books_are_right_with_many_threads) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  tfrt_thread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("churn", churn, &allocator, &threads[i]));
  }
  for (int i = 0; i < 4; ++i) tfrt_thread_join(&threads[i]);
  tfrt_allocation_counts_t counts = tfrt_counting_allocator_counts(&books);
  ck_assert_int_eq(counts.total_count, 20000);
  ck_assert_int_eq(counts.current_count, 0);
  ck_assert_int_eq(counts.current_bytes, 0);
  ck_assert_int_ge(counts.max_count, 1);
  ck_assert_int_le(counts.max_bytes, 32);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("counting_allocator");
  tcase_add_test(tests, the_books_count_blocks_and_bytes);
  tcase_add_test(tests, the_limit_is_exact_and_a_refusal_changes_nothing);
  tcase_add_test(tests, the_books_are_right_with_many_threads);
  Suite* suite = suite_create("counting_allocator");
  suite_add_tcase(suite, tests);
  return suite;
}
