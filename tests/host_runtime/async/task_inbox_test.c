// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/task_inbox.h"

#include "tests/support/test_main.h"

START_TEST(tasks_are_taken_in_the_order_in_which_they_were_put_in) {
  tfrt_task_inbox_t inbox = {NULL};
  tfrt_task_list_t list = {0};
  tfrt_task_t tasks[5];
  ck_assert(tfrt_task_inbox_is_empty(&inbox));
  for (int i = 0; i < 3; ++i) tfrt_task_inbox_put(&inbox, &tasks[i]);
  ck_assert(!tfrt_task_inbox_is_empty(&inbox));
  tfrt_task_inbox_take(&inbox, &list);
  ck_assert(tfrt_task_inbox_is_empty(&inbox));
  // Behind what is in the list.
  for (int i = 3; i < 5; ++i) tfrt_task_inbox_put(&inbox, &tasks[i]);
  tfrt_task_inbox_take(&inbox, &list);
  for (int i = 0; i < 5; ++i) ck_assert_ptr_eq(tfrt_task_list_pop_front(&list), &tasks[i]);
  ck_assert(tfrt_task_list_is_empty(&list));
}
END_TEST

START_TEST(taking_nothing_changes_nothing) {
  tfrt_task_inbox_t inbox = {NULL};
  tfrt_task_list_t list = {0};
  tfrt_task_inbox_take(&inbox, &list);
  ck_assert(tfrt_task_list_is_empty(&list));
  tfrt_task_t task;
  tfrt_task_list_push_back(&list, &task);
  tfrt_task_inbox_take(&inbox, &list);
  ck_assert_ptr_eq(tfrt_task_list_pop_front(&list), &task);
  ck_assert(tfrt_task_list_is_empty(&list));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("task_inbox");
  tcase_add_test(tests, tasks_are_taken_in_the_order_in_which_they_were_put_in);
  tcase_add_test(tests, taking_nothing_changes_nothing);
  Suite* suite = suite_create("task_inbox");
  suite_add_tcase(suite, tests);
  return suite;
}
