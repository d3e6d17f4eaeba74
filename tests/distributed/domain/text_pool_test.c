// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/domain.h"

#include <stdio.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

START_TEST(a_text_is_kept_once) {
  tfrt_text_pool_t pool;
  tfrt_text_pool_initialize(&pool, tfrt_allocator_system());
  char text[16] = "here.c";
  const char* kept = tfrt_text_pool_keep(&pool, text);
  ck_assert_ptr_ne(kept, text);
  text[0] = 't';
  ck_assert_str_eq(kept, "here.c");
  ck_assert_ptr_eq(tfrt_text_pool_keep(&pool, "here.c"), kept);
  ck_assert_ptr_ne(tfrt_text_pool_keep(&pool, text), kept);
  ck_assert_ptr_null(tfrt_text_pool_keep(&pool, NULL));
  ck_assert_str_eq(tfrt_text_pool_keep(&pool, ""), "");
  tfrt_text_pool_deinitialize(&pool);
}
END_TEST

START_TEST(the_same_texts_take_no_more_memory) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_text_pool_t pool;
  tfrt_text_pool_initialize(&pool, tfrt_counting_allocator_interface(&books));
  uint64_t taken = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) {
      char text[16];
      snprintf(text, sizeof(text), "text %d", i);
      ck_assert_str_eq(tfrt_text_pool_keep(&pool, text), text);
    }
    if (round == 0) taken = tfrt_counting_allocator_counts(&books).current_bytes;
  }
  ck_assert_uint_eq(tfrt_counting_allocator_counts(&books).current_bytes, taken);
  tfrt_text_pool_deinitialize(&pool);
  ck_assert_uint_eq(tfrt_counting_allocator_counts(&books).current_count, 0);
}
END_TEST

START_TEST(without_memory_a_text_is_empty) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 0);
  tfrt_text_pool_t pool;
  tfrt_text_pool_initialize(&pool, tfrt_counting_allocator_interface(&books));
  ck_assert_str_eq(tfrt_text_pool_keep(&pool, "here.c"), "");
  tfrt_text_pool_deinitialize(&pool);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("texts");
  tcase_add_test(cases, a_text_is_kept_once);
  tcase_add_test(cases, the_same_texts_take_no_more_memory);
  tcase_add_test(cases, without_memory_a_text_is_empty);
  Suite* suite = suite_create("text_pool");
  suite_add_tcase(suite, cases);
  return suite;
}
