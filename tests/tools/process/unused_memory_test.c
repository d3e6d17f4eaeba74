// SPDX-License-Identifier: Apache-2.0
#include "tools/process/unused_memory.h"

#include <string.h>

#include "host_runtime/base/allocator.h"
#include "tests/support/test_main.h"

enum { BLOCK_COUNT = 200000, BLOCK_SIZE = 1000 };

static char* blocks[BLOCK_COUNT];

static void free_block(char* block) {
  tfrt_allocator_free(tfrt_allocator_system(), block, BLOCK_SIZE);
}

// Fills the heap with blocks, and frees all but the last one, which lies at its end.
static char* grow_and_free(void) {
  for (int i = 0; i < BLOCK_COUNT; ++i) {
    blocks[i] = tfrt_allocator_allocate(tfrt_allocator_system(), BLOCK_SIZE);
    ck_assert_ptr_nonnull(blocks[i]);
    memset(blocks[i], 1, BLOCK_SIZE);
  }
  for (int i = 0; i < BLOCK_COUNT - 1; ++i) free_block(blocks[i]);
  return blocks[BLOCK_COUNT - 1];
}

START_TEST(what_a_big_job_has_freed_goes_back) {
  tfrt_unused_memory_t memory = {0};
  size_t before = tfrt_unused_memory_resident_size();
  ck_assert_uint_gt(before, 0);
  char* last = grow_and_free();
  // Nothing of it has gone back by itself.
  ck_assert_uint_gt(tfrt_unused_memory_resident_size(), before + 2 * TFRT_UNUSED_MEMORY_LEAST);
  ck_assert(tfrt_unused_memory_give_back(&memory));
  ck_assert_uint_lt(memory.resident_size, before + TFRT_UNUSED_MEMORY_LEAST / 2);
  // A process that has not grown since is left alone.
  ck_assert(!tfrt_unused_memory_give_back(&memory));
  free_block(last);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("unused_memory");
  tcase_add_test(tests, what_a_big_job_has_freed_goes_back);
  Suite* suite = suite_create("unused_memory");
  suite_add_tcase(suite, tests);
  return suite;
}
