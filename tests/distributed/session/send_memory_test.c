// SPDX-License-Identifier: Apache-2.0
#include "distributed/session/send_queue.h"

#include <stdint.h>
#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

#define PIECES 1000

typedef struct piece_s {
  unsigned char* bytes;
  size_t size;
  tfrt_send_block_t* block;
} piece_t;

static tfrt_counting_allocator_t books;
static tfrt_send_memory_t memory;
static piece_t pieces[PIECES];

static void set_up(void) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_send_memory_initialize(&memory, tfrt_counting_allocator_interface(&books));
}

static void tear_down(void) {
  tfrt_send_memory_deinitialize(&memory);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_count, 0);
}

// Takes piece |i| and fills it with what belongs to it alone.
static void take(size_t i, size_t size) {
  piece_t* piece = &pieces[i];
  piece->size = size;
  piece->bytes = tfrt_send_memory_take(&memory, size, &piece->block);
  ck_assert_ptr_nonnull(piece->bytes);
  ck_assert_uint_eq((uintptr_t)piece->bytes % 16, 0);
  memset(piece->bytes, (int)(i % 251), size);
}

// Gives piece |i| back, with what was written into it.
static void give_back(size_t i) {
  const piece_t* piece = &pieces[i];
  for (size_t k = 0; k < piece->size; ++k) ck_assert_uint_eq(piece->bytes[k], i % 251);
  tfrt_send_memory_give_back(&memory, piece->block);
}

START_TEST(pieces_keep_their_bytes_until_they_are_given_back) {
  for (size_t i = 0; i < PIECES; ++i) take(i, 1 + i * 37 % 900);
  // The odd ones first, so that no block goes with the first of its pieces.
  for (size_t i = 1; i < PIECES; i += 2) give_back(i);
  for (size_t i = 0; i < PIECES; i += 2) give_back(i);
  ck_assert_int_le(tfrt_counting_allocator_counts(&books).current_count, 1);
}
END_TEST

START_TEST(a_row_of_pieces_needs_the_memory_of_those_that_are_there) {
  int64_t most = 0;
  for (size_t i = 0; i < PIECES; ++i) {
    take(i, 300);
    if (i >= 10) give_back(i - 10);
    int64_t bytes = tfrt_counting_allocator_counts(&books).current_bytes;
    if (bytes > most) most = bytes;
  }
  for (size_t i = PIECES - 10; i < PIECES; ++i) give_back(i);
  ck_assert_int_le(most, 3 * (16 << 10));
#ifndef TFRT_SANITIZED
  // Some fifty in a block.
  ck_assert_int_le(tfrt_counting_allocator_counts(&books).total_count, PIECES / 40);
#endif
}
END_TEST

START_TEST(a_piece_may_be_bigger_than_others_together) {
  take(0, 100);
  take(1, 1 << 20);
  take(2, 100);
  give_back(1);
  ck_assert_int_lt(tfrt_counting_allocator_counts(&books).current_bytes, 1 << 20);
  give_back(0);
  give_back(2);
}
END_TEST

START_TEST(without_memory_there_is_none) {
  take(0, 100);
  books.limit_bytes = tfrt_counting_allocator_counts(&books).current_bytes;
  tfrt_send_block_t* block = NULL;
  ck_assert_ptr_null(tfrt_send_memory_take(&memory, 1 << 20, &block));
  books.limit_bytes = TFRT_COUNTING_ALLOCATOR_UNLIMITED;
  take(1, 1 << 20);
  give_back(0);
  give_back(1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("send_memory");
  TCase* tests = tcase_create("pieces");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, pieces_keep_their_bytes_until_they_are_given_back);
  tcase_add_test(tests, a_row_of_pieces_needs_the_memory_of_those_that_are_there);
  tcase_add_test(tests, a_piece_may_be_bigger_than_others_together);
  tcase_add_test(tests, without_memory_there_is_none);
  suite_add_tcase(suite, tests);
  return suite;
}
