// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/arena.h"

#include <stdint.h>
#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

START_TEST(pieces_are_zeroed_aligned_and_apart) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  unsigned char* last = NULL;
  for (size_t i = 0; i < 2000; ++i) {
    size_t alignment = (size_t)1 << (i % 13);
    size_t size = i % 300;
    unsigned char* piece = tfrt_arena_allocate_aligned(&arena, size, alignment);
    ck_assert_ptr_nonnull(piece);
    ck_assert_uint_eq((uintptr_t)piece % alignment, 0);
    for (size_t k = 0; k < size; ++k) ck_assert_uint_eq(piece[k], 0);
    memset(piece, 0xff, size);
    if (last) ck_assert_uint_eq(*last, 0xff);
    if (size > 0) last = piece + size - 1;
  }
  tfrt_arena_deinitialize(&arena);
}
END_TEST

START_TEST(pieces_that_are_taken_to_be_filled_in_are_aligned_and_apart) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  unsigned char* last = NULL;
  for (size_t i = 1; i < 2000; ++i) {
    size_t size = i % 300 + 1;
    unsigned char* piece = tfrt_arena_take(&arena, size, 8);
    ck_assert_ptr_nonnull(piece);
    ck_assert_uint_eq((uintptr_t)piece % 8, 0);
    memset(piece, (int)(i & 0xff), size);
    if (last) ck_assert_uint_eq(*last, (i - 1) & 0xff);
    last = piece + size - 1;
  }
  ck_assert_ptr_null(tfrt_arena_take(&arena, SIZE_MAX, 8));
  tfrt_arena_deinitialize(&arena);
}
END_TEST

START_TEST(big_pieces_and_copies_fit) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_counting_allocator_interface(&books));
  char* big = tfrt_arena_allocate(&arena, 5 << 20);
  big[(5 << 20) - 1] = 'x';
  ck_assert_str_eq(tfrt_arena_copy_string(&arena, tfrt_string_view_make("hello", 4)), "hell");
  ck_assert_str_eq(tfrt_arena_copy_string(&arena, tfrt_string_view_of(NULL)), "");
  uint64_t number = 17;
  ck_assert_uint_eq(*(uint64_t*)tfrt_arena_copy(&arena, &number, sizeof number, 8), 17);
  volatile size_t huge = SIZE_MAX / 2;
  ck_assert_ptr_null(tfrt_arena_allocate_array(&arena, huge, 4));
  ck_assert_ptr_null(tfrt_arena_allocate(&arena, SIZE_MAX));
  tfrt_arena_deinitialize(&arena);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
  ck_assert_ptr_nonnull(tfrt_arena_allocate(&arena, 1));
  tfrt_arena_deinitialize(&arena);
}
END_TEST

START_TEST(a_cleared_arena_uses_its_newest_block_again_if_that_is_small) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_counting_allocator_interface(&books));
  tfrt_arena_clear(&arena, 1000);
  ck_assert_ptr_nonnull(tfrt_arena_allocate(&arena, 600));
  char* newest = tfrt_arena_allocate(&arena, 600);
  memset(newest, 0xff, 600);
  tfrt_arena_clear(&arena, 4096);
  int64_t kept = tfrt_counting_allocator_counts(&books).current_bytes;
  ck_assert_int_gt(kept, 600);
  char* again = tfrt_arena_allocate(&arena, 600);
  ck_assert_ptr_eq(again, newest);
  ck_assert_int_eq(again[599], 0);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, kept);
  tfrt_arena_clear(&arena, 600);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
  tfrt_arena_deinitialize(&arena);
}
END_TEST

START_TEST(what_is_reserved_is_one_block_of_that_size) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_counting_allocator_interface(&books));
  tfrt_arena_reserve(&arena, 100000);
  for (int i = 0; i < 100; ++i) ck_assert_ptr_nonnull(tfrt_arena_take(&arena, 1000, 8));
  int64_t used = tfrt_counting_allocator_counts(&books).current_bytes;
  ck_assert(used >= 100000 && used < 100100);
  // A limit that is beyond all memory is none.
  tfrt_arena_reserve(&arena, SIZE_MAX);
  ck_assert_ptr_nonnull(tfrt_arena_take(&arena, 1000, 8));
  tfrt_arena_deinitialize(&arena);
}
END_TEST

START_TEST(without_memory_a_piece_is_null_and_the_arena_stays) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 2000);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_counting_allocator_interface(&books));
  char* text = tfrt_arena_copy_string(&arena, tfrt_string_view_of("kept"));
  ck_assert_ptr_null(tfrt_arena_allocate(&arena, 3000));
  ck_assert_str_eq(text, "kept");
  ck_assert_ptr_nonnull(tfrt_arena_allocate(&arena, 10));
  tfrt_arena_deinitialize(&arena);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("arena");
  tcase_add_test(tests, pieces_are_zeroed_aligned_and_apart);
  tcase_add_test(tests, pieces_that_are_taken_to_be_filled_in_are_aligned_and_apart);
  tcase_add_test(tests, big_pieces_and_copies_fit);
  tcase_add_test(tests, a_cleared_arena_uses_its_newest_block_again_if_that_is_small);
  tcase_add_test(tests, what_is_reserved_is_one_block_of_that_size);
  tcase_add_test(tests, without_memory_a_piece_is_null_and_the_arena_stays);
  Suite* suite = suite_create("arena");
  suite_add_tcase(suite, tests);
  return suite;
}
