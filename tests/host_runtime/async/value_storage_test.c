// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/value_storage.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

#ifdef TFRT_SANITIZED
enum { KEEPS = 0 };
#else
enum { KEEPS = 1 };
#endif

START_TEST(storage_of_each_size_is_zeroed_and_aligned_also_when_it_is_used_again) {
  for (size_t size = 1; size <= 2 * TFRT_VALUE_STORAGE_MAX_SIZE; ++size) {
    for (int round = 0; round < 2; ++round) {
      unsigned char* storage = tfrt_value_storage_allocate(size);
      ck_assert_ptr_nonnull(storage);
      ck_assert_uint_eq((uintptr_t)storage % 16, 0);
      for (size_t i = 0; i < size; ++i) ck_assert_uint_eq(storage[i], 0);
      memset(storage, 0xFF, size);
      tfrt_value_storage_free(storage, size);
    }
  }
}
END_TEST

// How many blocks of a size are given back before one of them is used again.
#ifdef NDEBUG
enum { WAITS = 1 };
#else
enum { WAITS = TFRT_VALUE_STORAGE_QUARANTINE + 1 };
#endif

START_TEST(blocks_of_a_size_are_used_again_behind_the_quarantine) {
  void* blocks[WAITS];
  for (int i = 0; i < WAITS; ++i) blocks[i] = tfrt_value_storage_allocate(24);
  for (int i = 0; i < WAITS - 1; ++i) tfrt_value_storage_free(blocks[i], 24);
  void* fresh = tfrt_value_storage_allocate(24);
  for (int i = 0; KEEPS && i < WAITS - 1; ++i) ck_assert_ptr_ne(fresh, blocks[i]);
  tfrt_value_storage_free(blocks[WAITS - 1], 24);
  ck_assert_uint_eq(tfrt_value_storage_kept(), KEEPS * WAITS);
  void* other = tfrt_value_storage_allocate(40);
  ck_assert_uint_eq(tfrt_value_storage_kept(), KEEPS * WAITS);
  void* again = tfrt_value_storage_allocate(20);
  ck_assert_uint_eq(tfrt_value_storage_kept(), KEEPS * (WAITS - 1));
  if (KEEPS) ck_assert_ptr_eq(again, blocks[0]);
  tfrt_value_storage_free(other, 40);
  tfrt_value_storage_free(fresh, 24);
  tfrt_value_storage_free(again, 20);
}
END_TEST

START_TEST(a_thread_keeps_a_bounded_number) {
  enum { COUNT = 10 * TFRT_VALUE_STORAGE_LIST_SIZE };
  static void* blocks[COUNT];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < COUNT; ++i) blocks[i] = tfrt_value_storage_allocate(24);
    for (int i = 0; i < COUNT; ++i) tfrt_value_storage_free(blocks[i], 24);
    ck_assert_uint_eq(tfrt_value_storage_kept(), KEEPS * 2 * TFRT_VALUE_STORAGE_LIST_SIZE);
  }
}
END_TEST

// Drops what another thread has made, more than it keeps itself.
enum { MOVED_COUNT = 3 * TFRT_VALUE_STORAGE_LIST_SIZE };
static void* moved[MOVED_COUNT];

static void drop_many(void* argument) {
  (void)argument;
  for (int i = 0; i < MOVED_COUNT; ++i) tfrt_value_storage_free(moved[i], 56);
}

START_TEST(blocks_come_back_from_a_thread_that_drops_what_another_makes) {
  for (int i = 0; i < MOVED_COUNT; ++i) {
    moved[i] = tfrt_value_storage_allocate(56);
    memset(moved[i], 0xFF, 56);
  }
  tfrt_thread_t thread;
  ck_assert_ptr_null(tfrt_thread_create("test", drop_many, NULL, &thread));
  tfrt_thread_join(&thread);
  // It has had two lists of its own.
  ck_assert_uint_eq(tfrt_value_storage_kept(), 0);
  unsigned char* block = tfrt_value_storage_allocate(56);
  ck_assert_uint_eq(tfrt_value_storage_kept(), KEEPS * (TFRT_VALUE_STORAGE_LIST_SIZE - 1));
  for (int i = 0; i < 56; ++i) ck_assert_uint_eq(block[i], 0);
  tfrt_value_storage_free(block, 56);
  // All of a list that came can be used, and the end of it is its end.
  for (int i = 0; i < MOVED_COUNT; ++i) moved[i] = tfrt_value_storage_allocate(56);
  for (int i = 0; i < MOVED_COUNT; ++i) tfrt_value_storage_free(moved[i], 56);
  ck_assert_uint_ge(tfrt_value_storage_kept(), KEEPS * TFRT_VALUE_STORAGE_LIST_SIZE);
  ck_assert_uint_le(tfrt_value_storage_kept(), KEEPS * 2 * TFRT_VALUE_STORAGE_LIST_SIZE);
}
END_TEST

// Threads that make, hand over and drop all the time.
enum { HANDED_COUNT = 20000 };
static _Atomic(int32_t*) handed[64];

static void drop_handed(void* argument) {
  (void)argument;
  for (int i = 0; i < HANDED_COUNT; ++i) {
    int32_t* block = NULL;
    while (!(block = atomic_exchange(&handed[i % 64], NULL))) tfrt_thread_yield();
    ck_assert_int_eq(block[4], i);
    tfrt_value_storage_free(block, 40);
  }
}

START_TEST(a_block_has_one_user_at_a_time) {
  tfrt_thread_t thread;
  ck_assert_ptr_null(tfrt_thread_create("test", drop_handed, NULL, &thread));
  for (int i = 0; i < HANDED_COUNT; ++i) {
    int32_t* block = tfrt_value_storage_allocate(40);
    block[4] = i;
    while (atomic_load(&handed[i % 64])) tfrt_thread_yield();
    atomic_store(&handed[i % 64], block);
  }
  tfrt_thread_join(&thread);
}
END_TEST

START_TEST(a_big_block_is_not_kept) {
  size_t size = TFRT_VALUE_STORAGE_MAX_SIZE + 1;
  tfrt_value_storage_free(tfrt_value_storage_allocate(size), size);
  ck_assert_uint_eq(tfrt_value_storage_kept(), 0);
}
END_TEST

START_TEST(an_allocator_that_is_named_has_each_block_and_no_thread_keeps_one) {
  static tfrt_counting_allocator_t counting;
  tfrt_counting_allocator_initialize(&counting, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_value_storage_use(tfrt_counting_allocator_interface(&counting));
  for (int round = 0; round < 3; ++round) {
    void* small = tfrt_value_storage_allocate_small();
    void* middle = tfrt_value_storage_allocate(100);
    void* big = tfrt_value_storage_allocate(TFRT_VALUE_STORAGE_MAX_SIZE + 1);
    ck_assert_int_eq(tfrt_counting_allocator_counts(&counting).current_count, 3);
    tfrt_value_storage_free(big, TFRT_VALUE_STORAGE_MAX_SIZE + 1);
    tfrt_value_storage_free(middle, 100);
    tfrt_value_storage_free_small(small);
  }
  tfrt_allocation_counts_t counts = tfrt_counting_allocator_counts(&counting);
  ck_assert_int_eq(counts.current_bytes, 0);
  ck_assert_int_eq(counts.total_count, 9);
  ck_assert_uint_eq(tfrt_value_storage_kept(), 0);
}
END_TEST

// Drops values that another thread has made, and says how many blocks are its own then.
static void drop_values(void* argument) {
  tfrt_async_value_t** values = argument;
  for (int i = 0; i < 10; ++i) tfrt_async_value_release(values[i]);
  if (tfrt_value_storage_kept() == 10 * KEEPS) values[0] = NULL;
}

START_TEST(values_move_to_the_thread_that_drops_them_which_gives_them_back_at_its_end) {
  // A leak checker sees what it would forget to give back.
  tfrt_async_value_t* values[10];
  for (int i = 0; i < 10; ++i) values[i] = tfrt_async_value_create_available(TFRT_TYPE_I32);
  tfrt_thread_t thread;
  ck_assert_ptr_null(tfrt_thread_create("test", drop_values, values, &thread));
  tfrt_thread_join(&thread);
  ck_assert_ptr_null(values[0]);
  ck_assert_uint_eq(tfrt_value_storage_kept(), 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* storage = tcase_create("value storage");
  tcase_add_test(storage, storage_of_each_size_is_zeroed_and_aligned_also_when_it_is_used_again);
  tcase_add_test(storage, blocks_of_a_size_are_used_again_behind_the_quarantine);
  tcase_add_test(storage, a_thread_keeps_a_bounded_number);
  tcase_add_test(storage, blocks_come_back_from_a_thread_that_drops_what_another_makes);
  tcase_add_test(storage, a_block_has_one_user_at_a_time);
  tcase_add_test(storage, a_big_block_is_not_kept);
  tcase_add_test(storage, an_allocator_that_is_named_has_each_block_and_no_thread_keeps_one);
  tcase_add_test(storage,
                 values_move_to_the_thread_that_drops_them_which_gives_them_back_at_its_end);
  Suite* suite = suite_create("value_storage");
  suite_add_tcase(suite, storage);
  return suite;
}
