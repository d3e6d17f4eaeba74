// SPDX-License-Identifier: Apache-2.0
//
// Memory that is made ready before its bytes come: nothing is granted beyond it, and a transfer
// that ends meanwhile keeps its buffer until nobody works on it.
#include <string.h>

#include "tests/distributed/bulk/bulk_harness.h"
#include "tests/support/test_main.h"

#define WINDOW (16u << 10)
#define CHUNK (4u << 10)
#define ROOM_SIZE (4 * WINDOW)
#define LONG_NS (60 * TFRT_NANOSECONDS_PER_SECOND)
#define A_WHILE_NS (100 * TFRT_NANOSECONDS_PER_MILLISECOND)

static tfrt_bulk_harness_t harness;

// --- A queue whose tasks run when the test says so ---------------------------

static struct {
  tfrt_work_queue_t base;
  bool has_no_thread;
  int added;
  tfrt_task_t* tasks[TFRT_BULK_HARNESS_MAX_WANTS];
  int waiting;
} queue;

static bool add_blocking_task(tfrt_work_queue_t* base, tfrt_task_t* task, bool allow_queuing) {
  (void)base;
  ck_assert(!allow_queuing);
  ++queue.added;
  if (queue.has_no_thread) return false;
  queue.tasks[queue.waiting++] = task;
  return true;
}

static const tfrt_work_queue_vtable_t queue_vtable = {.add_blocking_task = add_blocking_task};

static void make_room(void) {
  while (queue.waiting > 0) {
    tfrt_task_t* task = queue.tasks[--queue.waiting];
    task->run(task);
  }
}

static void begin(tfrt_simulated_chance_t break_chance, uint64_t seed) {
  memset(&queue, 0, sizeof(queue));
  queue.base.vtable = &queue_vtable;
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  options.network.seed = seed;
  options.network.break_chance = break_chance;
  options.chunk_bytes = CHUNK;
  options.channels.window_size = WINDOW;
  options.channels.work_queue = &queue.base;
  options.channels.room_size = ROOM_SIZE;
  options.channels.give_up_ns = LONG_NS;
  tfrt_bulk_harness_begin(&harness, &options);
}

static tfrt_bulk_harness_want_t* want_of(size_t index) { return &harness.hosts[0].wants[index]; }

// How many bytes of |want|, whose buffer was zero, have come.
static uint64_t received(const tfrt_bulk_harness_want_t* want) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < want->size; ++i) {
    if (want->buffer[i] != 0) count = i + 1;
  }
  return count;
}

// --- Tests -------------------------------------------------------------------

START_TEST(nothing_is_granted_beyond_the_room) {
  begin(0, 1);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 8 * WINDOW, 5);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_int_eq(queue.waiting, 1);
  // The last byte of a window may be zero.
  ck_assert_uint_le(received(want_of(want)), WINDOW);
  ck_assert_uint_ge(received(want_of(want)), WINDOW - 1);
  make_room();
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(want)->is_intact);
  ck_assert_int_eq(queue.added, 1);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(room_is_made_a_little_ahead_only) {
  begin(0, 1);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 64 * WINDOW, 5);
  while (!tfrt_bulk_harness_run(&harness, A_WHILE_NS)) {
    ck_assert_int_eq(queue.waiting, 1);
    make_room();
  }
  ck_assert(want_of(want)->is_intact);
  ck_assert_int_ge(queue.added, 4);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(without_a_thread_everything_is_granted) {
  begin(0, 1);
  queue.has_no_thread = true;
  size_t want = tfrt_bulk_harness_want(&harness, 0, 40 * WINDOW, 5);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(want)->is_intact);
  ck_assert_int_eq(queue.added, 1);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(a_small_payload_is_not_waited_for) {
  begin(0, 1);
  size_t want = tfrt_bulk_harness_want(&harness, 0, ROOM_SIZE - 1, 5);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(want)->is_intact);
  ck_assert_int_eq(queue.added, 0);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(a_buffer_stays_while_room_is_made_in_it) {
  for (int is_dead = 0; is_dead < 2; ++is_dead) {
    begin(0, 1);
    size_t want = tfrt_bulk_harness_want(&harness, 0, 8 * WINDOW, 5);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    ck_assert_int_eq(queue.waiting, 1);
    if (is_dead) {
      tfrt_bulk_harness_bury(&harness, 0);
    } else {
      tfrt_bulk_harness_unwant(&harness, 0, want);
    }
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    ck_assert_ptr_nonnull(want_of(want)->buffer);
    ck_assert_ptr_null(want_of(want)->error);
    make_room();
    ck_assert_ptr_null(want_of(want)->buffer);
    ck_assert_int_eq(tfrt_status_code(want_of(want)->error),
                     is_dead ? TFRT_STATUS_UNAVAILABLE : TFRT_STATUS_CANCELLED);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).receiving, 0);
    tfrt_bulk_harness_end(&harness);
  }
}
END_TEST

// A resumed transfer has its whole window again, room or not.
START_TEST(a_payload_that_is_filled_is_complete_when_nobody_makes_room) {
  begin(0, 1);
  size_t want = tfrt_bulk_harness_want(&harness, 0, ROOM_SIZE, 5);
  for (int i = 0; i < 4; ++i) {
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    ck_assert_int_eq(queue.waiting, 1);
    ck_assert(!want_of(want)->is_complete);
    ck_assert_uint_ge(received(want_of(want)), (uint64_t)(i + 1) * WINDOW - 1);
    tfrt_simulated_network_break(harness.network, harness.hosts[0].endpoint,
                                 harness.hosts[1].endpoint);
  }
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_uint_eq(want_of(want)->resumes, 3);
  ck_assert(!want_of(want)->is_complete);
  ck_assert_int_eq(queue.added, 1);
  make_room();
  ck_assert(want_of(want)->is_complete);
  ck_assert(want_of(want)->is_intact);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(random_transfers_end_whenever_room_is_made) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    begin(20000, seed);
    tfrt_random_t* random = tfrt_simulated_network_random(harness.network);
    for (size_t i = 0; i < 6; ++i) {
      uint64_t size = tfrt_random_below(random, 16 * WINDOW);
      size_t want = tfrt_bulk_harness_want(&harness, 0, size, i + 1);
      tfrt_bulk_harness_pass(&harness, (int64_t)tfrt_random_below(random, 2000000));
      if (tfrt_random_below(random, 2) == 0) make_room();
      if (i % 3 == 2) tfrt_bulk_harness_unwant(&harness, 0, want);
    }
    int turns = 0;
    while (!tfrt_bulk_harness_run(&harness, TFRT_NANOSECONDS_PER_MILLISECOND)) {
      ck_assert_msg(++turns < 60000, "seed %llu: a want never ends", (unsigned long long)seed);
      if (tfrt_random_below(random, 3) == 0) make_room();
    }
    make_room();
    for (size_t i = 0; i < harness.hosts[0].want_count; ++i) {
      ck_assert(!want_of(i)->is_complete || want_of(i)->is_intact);
    }
    tfrt_bulk_harness_end(&harness);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* rooms = tcase_create("channel_room");
  tcase_set_timeout(rooms, 60);
  tcase_add_test(rooms, nothing_is_granted_beyond_the_room);
  tcase_add_test(rooms, room_is_made_a_little_ahead_only);
  tcase_add_test(rooms, without_a_thread_everything_is_granted);
  tcase_add_test(rooms, a_small_payload_is_not_waited_for);
  tcase_add_test(rooms, a_buffer_stays_while_room_is_made_in_it);
  tcase_add_test(rooms, a_payload_that_is_filled_is_complete_when_nobody_makes_room);
  tcase_add_test(rooms, random_transfers_end_whenever_room_is_made);
  Suite* suite = suite_create("channel_room");
  suite_add_tcase(suite, rooms);
  return suite;
}
