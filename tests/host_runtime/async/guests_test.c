// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/guests.h"

#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

START_TEST(a_ring_is_used_again_and_its_tasks_stay) {
  tfrt_guests_t guests;
  tfrt_task_t tasks[3];
  tfrt_task_t* taken[3];
  tfrt_guests_initialize(&guests, tfrt_allocator_system());
  ck_assert(!tfrt_guests_have_tasks(&guests));
  tfrt_guest_t* first = tfrt_guests_enter(&guests);
  tfrt_guest_t* second = tfrt_guests_enter(&guests);
  ck_assert(first && second && first != second);
  ck_assert(tfrt_task_ring_put(&first->ring, &tasks[0]));
  ck_assert(tfrt_task_ring_put(&second->ring, &tasks[1]));
  tfrt_guests_leave(&guests, first);
  ck_assert(tfrt_guests_have_tasks(&guests));
  ck_assert_ptr_eq(tfrt_guests_enter(&guests), first);
  ck_assert(tfrt_task_ring_put(&first->ring, &tasks[2]));
  // The newest guest's first.
  ck_assert_uint_eq(tfrt_guests_take(&guests, 1, 3, taken), 1);
  ck_assert_ptr_eq(taken[0], &tasks[1]);
  ck_assert_uint_eq(tfrt_guests_take(&guests, 1, 3, taken), 2);
  ck_assert(taken[0] == &tasks[0] && taken[1] == &tasks[2]);
  ck_assert_uint_eq(tfrt_guests_take(&guests, 1, 3, taken), 0);
  tfrt_guests_leave(&guests, first);
  tfrt_guests_leave(&guests, second);
  tfrt_guests_deinitialize(&guests);
}
END_TEST

static bool says_no(void* pool) {
  (void)pool;
  return false;
}

static bool says_yes(void* pool) {
  ++*(int*)pool;
  return true;
}

static void end_nap(void* guests) { tfrt_guests_wake_napper(guests); }

// The last look, of the worker that naps: somebody adds a task now.
static bool is_woken_meanwhile(void* guests) {
  tfrt_thread_t thread;
  ck_assert_ptr_null(tfrt_thread_create("waker", end_nap, guests, &thread));
  tfrt_thread_join(&thread);
  return false;
}

START_TEST(a_worker_naps_where_guests_are_and_nobody_wakes_it_too_late) {
  tfrt_guests_t guests;
  tfrt_parker_t parker = {0};
  int looks = 0;
  tfrt_guests_initialize(&guests, tfrt_allocator_system());
  ck_assert(!tfrt_guests_nap(&guests, &parker, says_yes, &looks));
  ck_assert_int_eq(looks, 0);
  tfrt_guest_t* guest = tfrt_guests_enter(&guests);
  ck_assert(guest != NULL);
  // Tasks that are there, the end of the nap, and another thread end it; no wake is left over.
  ck_assert(tfrt_guests_nap(&guests, &parker, says_yes, &looks));
  ck_assert_int_eq(looks, 1);
  ck_assert(tfrt_guests_nap(&guests, &parker, says_no, NULL));
  ck_assert(tfrt_guests_nap(&guests, &parker, is_woken_meanwhile, &guests));
  tfrt_guests_wake_napper(&guests);
  ck_assert(!tfrt_parker_wait_for(&parker, 1));
  tfrt_guests_leave(&guests, guest);
  tfrt_guests_deinitialize(&guests);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("guests");
  TCase* guests = tcase_create("guests");
  tcase_add_test(guests, a_ring_is_used_again_and_its_tasks_stay);
  tcase_add_test(guests, a_worker_naps_where_guests_are_and_nobody_wakes_it_too_late);
  suite_add_tcase(suite, guests);
  return suite;
}
