// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/parallel_for.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

#define MOST 1000

// How often each place was seen, and what blocks give.
typedef struct places_s {
  _Atomic int seen[MOST];
  _Atomic int blocks;
  tfrt_async_value_t* gate;  // +0; what blocks wait for, or NULL
  size_t failing;            // the place whose block fails, or MOST
} places_t;

static places_t places;
static tfrt_work_queue_t* queues[2];

static void set_up(void) {
  memset(&places, 0, sizeof(places));
  places.failing = MOST;
  const tfrt_thread_pool_options_t options = {.thread_count = 3};
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queues[0]));
  ck_assert_ptr_null(
      tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queues[1]));
}

static void tear_down(void) {
  for (int i = 0; i < 2; ++i) {
    tfrt_work_queue_quiesce(queues[i]);
    tfrt_work_queue_release(queues[i]);
  }
}

static tfrt_async_value_t* see(void* argument, size_t start, size_t end) {
  ck_assert_ptr_eq(argument, &places);
  ck_assert_uint_lt(start, end);
  for (size_t i = start; i < end; ++i) atomic_fetch_add(&places.seen[i], 1);
  atomic_fetch_add(&places.blocks, 1);
  if (start <= places.failing && places.failing < end) {
    return tfrt_async_value_create_error_take(
        tfrt_status_create(TFRT_STATUS_DATA_LOSS, "place %zu is bad", places.failing));
  }
  return places.gate ? tfrt_async_value_retain(places.gate) : NULL;
}

static tfrt_async_value_t* start(tfrt_work_queue_t* queue, size_t total, tfrt_block_sizes_t sizes) {
  tfrt_async_value_t* done;
  ck_assert_ptr_null(
      tfrt_parallel_for(queue, total, sizes, see, &places, tfrt_allocator_system(), &done));
  return done;
}

START_TEST(each_place_is_in_one_block) {
  static const size_t totals[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 999, MOST};
  for (int i = 0; i < 2; ++i) {
    for (size_t t = 0; t < TFRT_ARRAY_SIZE(totals); ++t) {
      for (size_t size = 1; size <= 70; size += 23) {
        memset((void*)places.seen, 0, sizeof(places.seen));
        places.blocks = 0;
        tfrt_async_value_t* done = start(queues[i], totals[t], tfrt_block_sizes_fixed(size));
        tfrt_work_queue_await(queues[i], &done, 1);
        ck_assert(!tfrt_async_value_is_error(done));
        tfrt_async_value_release(done);
        ck_assert_uint_eq((size_t)places.blocks, (totals[t] + size - 1) / size);
        for (size_t p = 0; p < MOST; ++p) ck_assert_int_eq(places.seen[p], p < totals[t]);
      }
    }
  }
}
END_TEST

START_TEST(sizes_are_even_but_not_below_the_least) {
  ck_assert_uint_eq(tfrt_block_sizes_choose(tfrt_block_sizes_min(1), 1000, 4), 62);
  ck_assert_uint_eq(tfrt_block_sizes_choose(tfrt_block_sizes_min(100), 1000, 4), 100);
  ck_assert_uint_eq(tfrt_block_sizes_choose(tfrt_block_sizes_min(0), 10, 4), 1);
  ck_assert_uint_eq(tfrt_block_sizes_choose(tfrt_block_sizes_min(2000), 1000, 4), 1000);
  ck_assert_uint_eq(tfrt_block_sizes_choose(tfrt_block_sizes_fixed(3), 1000, 4), 3);
  ck_assert_uint_eq(tfrt_block_sizes_choose(tfrt_block_sizes_fixed(0), 1000, 4), 1);
  ck_assert_uint_eq(tfrt_block_sizes_choose(tfrt_block_sizes_fixed(SIZE_MAX), 1000, 4), 1000);
}
END_TEST

START_TEST(one_block_runs_at_once_and_allocates_nothing) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 0);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  tfrt_async_value_t* done;
  ck_assert_ptr_null(
      tfrt_parallel_for(queues[0], 10, tfrt_block_sizes_min(10), see, &places, allocator, &done));
  ck_assert_ptr_eq(done, tfrt_async_value_ready_chain());
  ck_assert_int_eq(places.blocks, 1);
  tfrt_status_t status =
      tfrt_parallel_for(queues[0], 10, tfrt_block_sizes_fixed(9), see, &places, allocator, &done);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_ptr_null(done);
  ck_assert_int_eq(places.blocks, 1);
  tfrt_status_release(status);
}
END_TEST

START_TEST(the_chain_waits_for_what_blocks_give) {
  places.gate = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  tfrt_async_value_t* done = start(queues[0], 100, tfrt_block_sizes_fixed(7));
  tfrt_work_queue_quiesce(queues[0]);
  ck_assert_int_eq(places.blocks, 15);
  ck_assert(!tfrt_async_value_is_available(done));
  tfrt_async_value_set_available(places.gate);
  ck_assert(tfrt_async_value_is_available(done));
  tfrt_async_value_release(done);
  tfrt_async_value_release(places.gate);
}
END_TEST

START_TEST(a_block_that_fails_makes_the_chain_its_error) {
  for (int i = 0; i < 2; ++i) {
    for (places.failing = 0; places.failing < 50; places.failing += 7) {
      places.blocks = 0;
      tfrt_async_value_t* done = start(queues[i], 50, tfrt_block_sizes_fixed(5));
      tfrt_work_queue_await(queues[i], &done, 1);
      ck_assert(tfrt_async_value_is_error(done));
      ck_assert_int_eq(tfrt_status_code(tfrt_async_value_error(done)), TFRT_STATUS_DATA_LOSS);
      ck_assert_int_eq(places.blocks, 10);
      tfrt_async_value_release(done);
    }
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("parallel_for");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, each_place_is_in_one_block);
  tcase_add_test(cases, sizes_are_even_but_not_below_the_least);
  tcase_add_test(cases, one_block_runs_at_once_and_allocates_nothing);
  tcase_add_test(cases, the_chain_waits_for_what_blocks_give);
  tcase_add_test(cases, a_block_that_fails_makes_the_chain_its_error);
  Suite* suite = suite_create("parallel_for");
  suite_add_tcase(suite, cases);
  return suite;
}
