// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/block_cache.h"

#include <string.h>

#include "host_runtime/base/allocator.h"
#include "tests/support/test_main.h"

// Blocks that were given back, in the order of that.
static void* given_back[16];
static size_t given_back_count;

static void give_back(void* block) { given_back[given_back_count++] = block; }

static tfrt_block_cache_t cache;

static void set_up(void) {
  cache = (tfrt_block_cache_t)TFRT_BLOCK_CACHE_INITIALIZER;
  given_back_count = 0;
}

START_TEST(a_block_is_for_who_asks_for_its_size) {
  char block[100];
  ck_assert_ptr_null(tfrt_block_cache_take(&cache, sizeof(block)));
  tfrt_block_cache_put(&cache, block, sizeof(block), give_back);
  ck_assert_ptr_null(tfrt_block_cache_take(&cache, sizeof(block) - 1));
  ck_assert_ptr_null(tfrt_block_cache_take(&cache, sizeof(block) + 1));
  ck_assert_ptr_eq(tfrt_block_cache_take(&cache, sizeof(block)), block);
  ck_assert_ptr_null(tfrt_block_cache_take(&cache, sizeof(block)));
  ck_assert_uint_eq(given_back_count, 0);
}
END_TEST

// The newest block is still in the processor's cache.
START_TEST(the_newest_is_taken_first) {
  char blocks[3];
  for (int i = 0; i < 3; ++i) tfrt_block_cache_put(&cache, &blocks[i], 1, give_back);
  for (int i = 3; i-- > 0;) ck_assert_ptr_eq(tfrt_block_cache_take(&cache, 1), &blocks[i]);
}
END_TEST

START_TEST(the_oldest_leaves_when_there_are_too_many) {
  char blocks[TFRT_BLOCK_CACHE_MAX_BLOCKS + 2];
  for (size_t i = 0; i < sizeof(blocks); ++i) {
    tfrt_block_cache_put(&cache, &blocks[i], 1, give_back);
  }
  ck_assert_uint_eq(given_back_count, 2);
  ck_assert_ptr_eq(given_back[0], &blocks[0]);
  ck_assert_ptr_eq(given_back[1], &blocks[1]);
  for (size_t i = sizeof(blocks); i-- > 2;) {
    ck_assert_ptr_eq(tfrt_block_cache_take(&cache, 1), &blocks[i]);
  }
  ck_assert_uint_eq(cache.bytes, 0);
}
END_TEST

// No byte of these is touched, so the system has no page for them.
START_TEST(the_oldest_leave_when_they_have_too_many_bytes) {
  const size_t most = TFRT_BLOCK_CACHE_MAX_BYTES;
  const size_t sizes[] = {most / 4, most / 2, most / 4, most / 2};
  void* blocks[4];
  for (int i = 0; i < 4; ++i) {
    blocks[i] = tfrt_allocator_allocate(tfrt_allocator_system(), sizes[i]);
    ck_assert_ptr_nonnull(blocks[i]);
    tfrt_block_cache_put(&cache, blocks[i], sizes[i], give_back);
  }
  ck_assert_uint_eq(given_back_count, 2);
  ck_assert_uint_eq(cache.bytes, most / 4 + most / 2);
  ck_assert_ptr_eq(tfrt_block_cache_take(&cache, most / 4), blocks[2]);
  ck_assert_ptr_eq(tfrt_block_cache_take(&cache, most / 2), blocks[3]);
  for (int i = 0; i < 4; ++i) {
    tfrt_allocator_free(tfrt_allocator_system(), blocks[i], sizes[i]);
  }
}
END_TEST

START_TEST(a_block_of_more_than_may_be_kept_is_not) {
  char small = 0;
  char big = 0;
  tfrt_block_cache_put(&cache, &small, 1, give_back);
  tfrt_block_cache_put(&cache, &big, TFRT_BLOCK_CACHE_MAX_BYTES + 1, give_back);
  ck_assert_uint_eq(given_back_count, 1);
  ck_assert_ptr_eq(given_back[0], &big);
  ck_assert_ptr_eq(tfrt_block_cache_take(&cache, 1), &small);
}
END_TEST

// The system may take pages of it, and then there are others.
START_TEST(a_block_that_was_kept_can_be_written) {
  const size_t size = (size_t)3 << 20;
  char* block = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  ck_assert_ptr_nonnull(block);
  memset(block, 1, size);
  tfrt_block_cache_put(&cache, block, size, give_back);
  char* taken = tfrt_block_cache_take(&cache, size);
  ck_assert_ptr_eq(taken, block);
  memset(taken, 2, size);
  for (size_t i = 0; i < size; ++i) ck_assert_int_eq(taken[i], 2);
  tfrt_allocator_free(tfrt_allocator_system(), block, size);
}
END_TEST

enum { THREADS = 4 };

// There are as many blocks as threads, so there is one for each that asks.
static void take_and_put(void* argument) {
  (void)argument;
  for (int i = 0; i < 1000; ++i) {
    char* block = tfrt_block_cache_take(&cache, 1);
    *block = (char)i;
    tfrt_block_cache_put(&cache, block, 1, give_back);
  }
}

START_TEST(a_block_is_taken_by_one_thread) {
  char blocks[THREADS] = {0};
  tfrt_thread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) tfrt_block_cache_put(&cache, &blocks[i], 1, give_back);
  for (int i = 0; i < THREADS; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("taker", take_and_put, NULL, &threads[i]));
  }
  for (int i = 0; i < THREADS; ++i) tfrt_thread_join(&threads[i]);
  ck_assert_uint_eq(given_back_count, 0);
  bool is_here[THREADS] = {false};
  for (int i = 0; i < THREADS; ++i) {
    char* block = tfrt_block_cache_take(&cache, 1);
    ck_assert_ptr_nonnull(block);
    ck_assert(!is_here[block - blocks]);
    is_here[block - blocks] = true;
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("block_cache");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, a_block_is_for_who_asks_for_its_size);
  tcase_add_test(tests, the_newest_is_taken_first);
  tcase_add_test(tests, the_oldest_leaves_when_there_are_too_many);
  tcase_add_test(tests, the_oldest_leave_when_they_have_too_many_bytes);
  tcase_add_test(tests, a_block_of_more_than_may_be_kept_is_not);
  tcase_add_test(tests, a_block_that_was_kept_can_be_written);
  tcase_add_test(tests, a_block_is_taken_by_one_thread);
  Suite* suite = suite_create("block_cache");
  suite_add_tcase(suite, tests);
  return suite;
}
