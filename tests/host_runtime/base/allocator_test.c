// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/allocator.h"

#include <stdint.h>
#include <string.h>

#include "tests/support/test_main.h"

START_TEST(blocks_have_the_alignment_that_was_asked_for) {
  for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    void* block = tfrt_allocator_allocate_aligned(tfrt_allocator_system(), 100, alignment);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq((uintptr_t)block % alignment, 0);
    memset(block, 1, 100);
    tfrt_allocator_free_aligned(tfrt_allocator_system(), block, 100, alignment);
  }
}
END_TEST

START_TEST(a_big_block_begins_where_a_huge_page_can) {
  const size_t huge_page = (size_t)2 * 1024 * 1024;
  const size_t sizes[] = {huge_page, huge_page + 1, 3 * huge_page + 4096};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(sizes); ++i) {
    char* block = tfrt_allocator_allocate(tfrt_allocator_system(), sizes[i]);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq((uintptr_t)block % huge_page, 0);
    memset(block, 1, sizes[i]);
    tfrt_allocator_free(tfrt_allocator_system(), block, sizes[i]);
  }
}
END_TEST

// Blocks of elements only: a block with the default alignment may be a table that grows.
START_TEST(a_big_block_of_elements_is_used_again) {
  const size_t size = (size_t)3 << 20;
  void* block = tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, 64);
  ck_assert_ptr_nonnull(block);
  tfrt_allocator_free_aligned(tfrt_allocator_system(), block, size, 64);
  void* next = tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, 64);
#ifndef TFRT_SANITIZED
  ck_assert_ptr_eq(next, block);
#endif
  memset(next, 1, size);
  tfrt_allocator_free_aligned(tfrt_allocator_system(), next, size, 64);
}
END_TEST

START_TEST(an_array_is_zeroed) {
  uint64_t* array = tfrt_allocator_allocate_array(tfrt_allocator_system(), 100, sizeof *array);
  for (int i = 0; i < 100; ++i) ck_assert_uint_eq(array[i], 0);
  tfrt_allocator_free(tfrt_allocator_system(), array, 100 * sizeof *array);
}
END_TEST

START_TEST(an_array_whose_size_overflows_is_refused) {
  // Through a variable, so that the compiler does not see the constant.
  volatile size_t huge = SIZE_MAX / 4;
  ck_assert_ptr_null(tfrt_allocator_allocate_array(tfrt_allocator_system(), huge, 8));
}
END_TEST

START_TEST(an_empty_block_has_an_address_of_its_own) {
  void* a = tfrt_allocator_allocate(tfrt_allocator_system(), 0);
  void* b = tfrt_allocator_allocate(tfrt_allocator_system(), 0);
  ck_assert_ptr_nonnull(a);
  ck_assert_ptr_nonnull(b);
  ck_assert_ptr_ne(a, b);
  tfrt_allocator_free(tfrt_allocator_system(), a, 0);
  tfrt_allocator_free(tfrt_allocator_system(), b, 0);
}
END_TEST

START_TEST(reallocating_keeps_the_contents) {
  char* block = tfrt_allocator_reallocate(tfrt_allocator_system(), NULL, 0, 4);
  memcpy(block, "abc", 4);
  block = tfrt_allocator_reallocate(tfrt_allocator_system(), block, 4, 4000);
  ck_assert_str_eq(block, "abc");
  block = tfrt_allocator_reallocate(tfrt_allocator_system(), block, 4000, 2);
  ck_assert_int_eq(memcmp(block, "ab", 2), 0);
  tfrt_allocator_free(tfrt_allocator_system(), block, 2);
}
END_TEST

START_TEST(a_copied_string_ends_with_a_nul) {
  char* copy = tfrt_allocator_copy_string(tfrt_allocator_system(), "hello", 4);
  ck_assert_str_eq(copy, "hell");
  tfrt_allocator_free(tfrt_allocator_system(), copy, 5);
  copy = tfrt_allocator_copy_string(tfrt_allocator_system(), NULL, 0);
  ck_assert_str_eq(copy, "");
  tfrt_allocator_free(tfrt_allocator_system(), copy, 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("allocator");
  tcase_add_test(tests, blocks_have_the_alignment_that_was_asked_for);
  tcase_add_test(tests, a_big_block_begins_where_a_huge_page_can);
  tcase_add_test(tests, a_big_block_of_elements_is_used_again);
  tcase_add_test(tests, an_array_is_zeroed);
  tcase_add_test(tests, an_array_whose_size_overflows_is_refused);
  tcase_add_test(tests, an_empty_block_has_an_address_of_its_own);
  tcase_add_test(tests, reallocating_keeps_the_contents);
  tcase_add_test(tests, a_copied_string_ends_with_a_nul);
  Suite* suite = suite_create("allocator");
  suite_add_tcase(suite, tests);
  return suite;
}
