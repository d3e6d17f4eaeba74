// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/region.h"

#include <string.h>

#include "tests/support/test_main.h"

#define BIG ((size_t)100 * 1024)

static tfrt_region_t region;
static tfrt_allocator_t allocator;

static void begin(size_t size) {
  tfrt_region_initialize(&region, size);
  allocator = tfrt_region_allocator(&region);
}

static bool is_inside(const void* block) {
  return (uintptr_t)block >= region.begin && (uintptr_t)block < region.end;
}

START_TEST(blocks_are_aligned_and_apart) {
  begin(1 << 20);
  char* last = NULL;
  for (size_t i = 0; i < 1000; ++i) {
    size_t alignment = (size_t)1 << (i % 13);
    size_t size = i % 300 + 1;
    char* block = tfrt_allocator_allocate_aligned(allocator, size, alignment);
    ck_assert(is_inside(block));
    ck_assert_uint_eq((uintptr_t)block % alignment, 0);
    memset(block, 'x', size);
    if (last) ck_assert_int_eq(*last, 'x');
    last = block + size - 1;
    *last = 'x';
  }
  tfrt_region_deinitialize(&region);
}
END_TEST

START_TEST(the_last_block_and_big_ones_are_used_again) {
  begin(1 << 20);
  char* small = tfrt_allocator_allocate(allocator, 100);
  tfrt_allocator_free(allocator, small, 100);
  ck_assert_ptr_eq(tfrt_allocator_allocate(allocator, 50), small);
  char* big = tfrt_allocator_allocate(allocator, 2 * BIG + 4096);
  char* behind = tfrt_allocator_allocate(allocator, BIG);
  tfrt_allocator_free(allocator, big, 2 * BIG + 4096);
  char* first = tfrt_allocator_allocate(allocator, BIG);
  ck_assert_ptr_eq(first, big);
  char* second = tfrt_allocator_allocate_aligned(allocator, BIG, 4096);
  ck_assert(second >= first + BIG && second + BIG <= behind);
  ck_assert_uint_eq((uintptr_t)second % 4096, 0);
  memset(second, 'x', BIG);
  ck_assert(tfrt_allocator_allocate(allocator, BIG) > (void*)behind);
  tfrt_region_deinitialize(&region);
}
END_TEST

START_TEST(freed_neighbours_are_one_block) {
  // In any order.
  static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(orders); ++i) {
    begin(4 << 20);
    char* blocks[3];
    for (int b = 0; b < 3; ++b) blocks[b] = tfrt_allocator_allocate(allocator, BIG + 1);
    char* behind = tfrt_allocator_allocate(allocator, BIG);
    for (int b = 0; b < 3; ++b) {
      tfrt_allocator_free(allocator, blocks[orders[i][b]], BIG + 1);
    }
    const size_t size = (size_t)(blocks[2] - blocks[0]) + BIG + 1;
    ck_assert_ptr_eq(tfrt_allocator_allocate(allocator, size), blocks[0]);
    tfrt_allocator_free(allocator, blocks[0], size);
    tfrt_allocator_free(allocator, behind, BIG);
    // Nothing is used: all of it is room again.
    ck_assert_ptr_eq(tfrt_allocator_allocate(allocator, 2 << 20), blocks[0]);
    tfrt_region_deinitialize(&region);
  }
}
END_TEST

START_TEST(big_blocks_leave_the_small_pages_to_small_ones) {
  begin(1 << 20);
  char* first = tfrt_allocator_allocate(allocator, 100);
  char* big = tfrt_allocator_allocate(allocator, BIG);
  char* second = tfrt_allocator_allocate(allocator, 100);
  ck_assert_uint_eq((uintptr_t)big, region.small.end);
  ck_assert(first < second && second < big);
  // Blocks that don't fit into the small pages lie behind it, too.
  size_t room = region.small.end - region.small.position;
  size_t count = room / 100 + 1;
  char* last = NULL;
  for (size_t i = 0; i < count; ++i) last = tfrt_allocator_allocate(allocator, 100);
  ck_assert(last >= big + BIG);
  tfrt_region_deinitialize(&region);
}
END_TEST

START_TEST(what_does_not_fit_comes_from_the_system) {
  begin(0);
  size_t size = region.end - region.begin + 1;
  char* block = tfrt_allocator_allocate(allocator, size);
  ck_assert_ptr_nonnull(block);
  ck_assert(!is_inside(block));
  block[size - 1] = 'x';
  tfrt_allocator_free(allocator, block, size);
  tfrt_region_deinitialize(&region);
}
END_TEST

START_TEST(without_address_space_all_comes_from_the_system) {
  begin(SIZE_MAX / 2);
  ck_assert_ptr_null(region.mapping);
  char* block = tfrt_allocator_allocate(allocator, BIG);
  memset(block, 'x', BIG);
  tfrt_allocator_free(allocator, block, BIG);
  tfrt_region_deinitialize(&region);
  begin(SIZE_MAX);
  ck_assert_ptr_null(region.mapping);
  tfrt_region_deinitialize(&region);
}
END_TEST

// Fills blocks of its own; |*argument| is true at the end if nobody else wrote to them.
static void use_blocks(void* argument) {
  bool* out_ok = argument;
  *out_ok = true;
  for (int i = 0; i < 300; ++i) {
    size_t size = i % 3 ? 100 : BIG;
    char* block = tfrt_allocator_allocate(allocator, size);
    memset(block, i, size);
    *out_ok = *out_ok && block[0] == (char)i && memcmp(block, block + 1, size - 1) == 0;
    tfrt_allocator_free(allocator, block, size);
  }
}

START_TEST(threads_share_it) {
  begin(16 << 20);
  tfrt_thread_t threads[2];
  bool ok[2];
  for (int i = 0; i < 2; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("region", use_blocks, &ok[i], &threads[i]));
  }
  for (int i = 0; i < 2; ++i) {
    tfrt_thread_join(&threads[i]);
    ck_assert(ok[i]);
  }
  tfrt_region_deinitialize(&region);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("region");
  tcase_add_test(tests, blocks_are_aligned_and_apart);
  tcase_add_test(tests, the_last_block_and_big_ones_are_used_again);
  tcase_add_test(tests, freed_neighbours_are_one_block);
  tcase_add_test(tests, big_blocks_leave_the_small_pages_to_small_ones);
  tcase_add_test(tests, what_does_not_fit_comes_from_the_system);
  tcase_add_test(tests, without_address_space_all_comes_from_the_system);
  tcase_add_test(tests, threads_share_it);
  Suite* suite = suite_create("region");
  suite_add_tcase(suite, tests);
  return suite;
}
