// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/nn_pool.h"

#include <string.h>

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

enum { LARGE = 200 * 1024, ALIGNMENT = 64 };

static tfrt_counting_allocator_t counting;
static tfrt_host_context_t* host;
static tfrt_allocator_t pool;

static void set_up(int64_t limit) {
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  tfrt_counting_allocator_initialize(&counting, tfrt_allocator_system(), limit);
  ck_assert_ptr_null(tfrt_host_context_allocate(tfrt_counting_allocator_interface(&counting),
                                                tfrt_clock_system(), queue, &host));
  pool = tfrt_nn_pool_allocator(host);
}

static int64_t live_bytes(void) { return tfrt_counting_allocator_counts(&counting).current_bytes; }

static void* take(size_t size) {
  void* block = tfrt_allocator_allocate_aligned(pool, size, ALIGNMENT);
  ck_assert_ptr_nonnull(block);
  ck_assert_uint_eq((uintptr_t)block % ALIGNMENT, 0);
  memset(block, 1, size);
  return block;
}

static void give(void* block, size_t size) {
  tfrt_allocator_free_aligned(pool, block, size, ALIGNMENT);
}

START_TEST(a_block_serves_sizes_of_its_class) {
  set_up(TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  void* block = take(LARGE);
  give(block, LARGE);
  void* again = take(LARGE - 1000);
  ck_assert_ptr_eq(again, block);
  void* other = take(LARGE);
  ck_assert_ptr_ne(other, block);
  void* half = take(LARGE / 2);
  give(half, LARGE / 2);
  give(again, LARGE - 1000);
  give(other, LARGE);
  tfrt_host_context_free(host);
  ck_assert_int_eq(live_bytes(), 0);
}
END_TEST

START_TEST(small_blocks_pass_through) {
  set_up(TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  int64_t before = live_bytes();
  void* block = take(100);
  give(block, 100);
  ck_assert_int_eq(live_bytes(), before);
  tfrt_host_context_free(host);
}
END_TEST

// Blocks that are kept free don't count.
START_TEST(the_peak_is_of_what_is_out_at_once) {
  set_up(TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  ck_assert_uint_eq(tfrt_nn_pool_peak(host), 0);
  void* one = take(TFRT_NN_POOL_SMALLEST);
  void* small = take(100);
  give(one, TFRT_NN_POOL_SMALLEST);
  void* other = take(2 * TFRT_NN_POOL_SMALLEST);
  ck_assert_uint_eq(tfrt_nn_pool_peak(host), 2 * TFRT_NN_POOL_SMALLEST + 100);
  give(other, 2 * TFRT_NN_POOL_SMALLEST);
  give(small, 100);
  other = take(TFRT_NN_POOL_SMALLEST);
  ck_assert_uint_eq(tfrt_nn_pool_peak(host), 2 * TFRT_NN_POOL_SMALLEST + 100);
  give(other, TFRT_NN_POOL_SMALLEST);
  tfrt_host_context_free(host);
}
END_TEST

START_TEST(no_more_than_the_limit_is_kept) {
  set_up(TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  int64_t before = live_bytes();
  void* block = take(TFRT_NN_POOL_LIMIT * 2);
  give(block, TFRT_NN_POOL_LIMIT * 2);
  ck_assert_int_eq(live_bytes(), before);
  tfrt_host_context_free(host);
}
END_TEST

START_TEST(blocks_outlive_the_host) {
  set_up(TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  void* large = take(LARGE);
  void* small = take(100);
  tfrt_host_context_free(host);
  give(large, LARGE);
  give(small, 100);
  ck_assert_int_eq(live_bytes(), 0);
}
END_TEST

START_TEST(free_blocks_make_room_for_others) {
  set_up(LARGE * 3);
  void* block = take(LARGE * 2);
  give(block, LARGE * 2);
  void* other = take(LARGE + LARGE / 2);
  ck_assert_ptr_null(tfrt_allocator_allocate_aligned(pool, LARGE * 2, ALIGNMENT));
  give(other, LARGE + LARGE / 2);
  tfrt_host_context_free(host);
  ck_assert_int_eq(live_bytes(), 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* blocks = tcase_create("pool");
  tcase_add_test(blocks, a_block_serves_sizes_of_its_class);
  tcase_add_test(blocks, small_blocks_pass_through);
  tcase_add_test(blocks, the_peak_is_of_what_is_out_at_once);
  tcase_add_test(blocks, no_more_than_the_limit_is_kept);
  tcase_add_test(blocks, blocks_outlive_the_host);
  tcase_add_test(blocks, free_blocks_make_room_for_others);
  Suite* suite = suite_create("nn_pool");
  suite_add_tcase(suite, blocks);
  return suite;
}
