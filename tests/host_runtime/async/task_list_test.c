// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/task_list.h"

#include "tests/support/test_main.h"

START_TEST(tasks_come_out_in_the_order_in_which_they_came) {
  tfrt_task_list_t list = {0};
  tfrt_task_t tasks[3];
  ck_assert(tfrt_task_list_is_empty(&list));
  ck_assert_ptr_null(tfrt_task_list_pop_front(&list));
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 3; ++i) tfrt_task_list_push_back(&list, &tasks[i]);
    for (int i = 0; i < 3; ++i) ck_assert_ptr_eq(tfrt_task_list_pop_front(&list), &tasks[i]);
    ck_assert(tfrt_task_list_is_empty(&list));
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("task_list");
  tcase_add_test(tests, tasks_come_out_in_the_order_in_which_they_came);
  Suite* suite = suite_create("task_list");
  suite_add_tcase(suite, tests);
  return suite;
}
