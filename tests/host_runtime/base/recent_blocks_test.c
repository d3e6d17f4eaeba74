// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/recent_blocks.h"

#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

#define SIZE ((size_t)4096)

static char blocks[TFRT_RECENT_BLOCKS_COUNT + 2];  // only their addresses are used
static void* freed[TFRT_RECENT_BLOCKS_COUNT + 2];
static int freed_count;

static void note_freed(void* block) { freed[freed_count++] = block; }

START_TEST(a_block_comes_back_for_its_own_size) {
  ck_assert_ptr_null(tfrt_recent_blocks_take(SIZE));
  tfrt_recent_blocks_put(&blocks[0], SIZE, note_freed);
  tfrt_recent_blocks_put(&blocks[1], SIZE + 1, note_freed);
  ck_assert_ptr_null(tfrt_recent_blocks_take(SIZE + 2));
  ck_assert_ptr_eq(tfrt_recent_blocks_take(SIZE), &blocks[0]);
  ck_assert_ptr_null(tfrt_recent_blocks_take(SIZE));
  ck_assert_ptr_eq(tfrt_recent_blocks_take(SIZE + 1), &blocks[1]);
  ck_assert_int_eq(freed_count, 0);
}
END_TEST

START_TEST(blocks_that_are_too_small_or_too_big_are_not_kept) {
  const size_t sizes[] = {0, TFRT_RECENT_BLOCKS_MIN_SIZE - 1, TFRT_RECENT_BLOCKS_MAX_SIZE + 1};
  for (int i = 0; i < 3; ++i) {
    tfrt_recent_blocks_put(&blocks[i], sizes[i], note_freed);
    ck_assert_int_eq(freed_count, i + 1);
    ck_assert_ptr_eq(freed[i], &blocks[i]);
    ck_assert_ptr_null(tfrt_recent_blocks_take(sizes[i]));
  }
}
END_TEST

START_TEST(places_give_way_in_turn) {
  for (int i = 0; i < TFRT_RECENT_BLOCKS_COUNT + 2; ++i) {
    tfrt_recent_blocks_put(&blocks[i], SIZE + (size_t)i, note_freed);
  }
  ck_assert_int_eq(freed_count, 2);
  for (int i = 0; i < 2; ++i) {
    ck_assert_ptr_eq(freed[i], &blocks[i]);
    ck_assert_ptr_null(tfrt_recent_blocks_take(SIZE + (size_t)i));
  }
  for (int i = 2; i < TFRT_RECENT_BLOCKS_COUNT + 2; ++i) {
    ck_assert_ptr_eq(tfrt_recent_blocks_take(SIZE + (size_t)i), &blocks[i]);
  }
}
END_TEST

static void put_two(void* unused) {
  (void)unused;
  for (int i = 0; i < 2; ++i) tfrt_recent_blocks_put(&blocks[i], SIZE, note_freed);
}

START_TEST(a_thread_that_ends_gives_all_back) {
  tfrt_thread_t thread;
  ck_assert_ptr_null(tfrt_thread_create("keeps", put_two, NULL, &thread));
  tfrt_thread_join(&thread);
  ck_assert_int_eq(freed_count, 2);
  ck_assert_ptr_null(tfrt_recent_blocks_take(SIZE));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("recent_blocks");
  tcase_add_test(tests, a_block_comes_back_for_its_own_size);
  tcase_add_test(tests, blocks_that_are_too_small_or_too_big_are_not_kept);
  tcase_add_test(tests, places_give_way_in_turn);
  tcase_add_test(tests, a_thread_that_ends_gives_all_back);
  Suite* suite = suite_create("recent_blocks");
  suite_add_tcase(suite, tests);
  return suite;
}
