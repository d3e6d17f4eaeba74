// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/list.h"

#include "tests/support/test_main.h"

START_TEST(elements_come_out_in_order) {
  tfrt_list_link_t head, a, b, c;
  tfrt_list_initialize(&head);
  ck_assert(tfrt_list_is_empty(&head));
  ck_assert_ptr_null(tfrt_list_pop_front(&head));
  tfrt_list_push_back(&head, &b);
  tfrt_list_push_back(&head, &c);
  tfrt_list_push_front(&head, &a);
  ck_assert_ptr_eq(tfrt_list_pop_front(&head), &a);
  ck_assert_ptr_eq(tfrt_list_pop_front(&head), &b);
  ck_assert_ptr_eq(tfrt_list_pop_front(&head), &c);
  ck_assert(tfrt_list_is_empty(&head));
}
END_TEST

START_TEST(an_element_leaves_without_its_list) {
  tfrt_list_link_t head, a, b;
  tfrt_list_initialize(&head);
  tfrt_list_push_back(&head, &a);
  tfrt_list_push_back(&head, &b);
  tfrt_list_remove(&a);
  ck_assert(!tfrt_list_is_linked(&a));
  ck_assert(tfrt_list_is_linked(&b));
  tfrt_list_remove(&a);
  ck_assert_ptr_eq(head.next, &b);
}
END_TEST

START_TEST(moving_appends_and_empties) {
  tfrt_list_link_t target, source, a, b, c;
  tfrt_list_initialize(&target);
  tfrt_list_initialize(&source);
  tfrt_list_push_back(&target, &a);
  tfrt_list_push_back(&source, &b);
  tfrt_list_push_back(&source, &c);
  tfrt_list_move_all(&target, &source);
  tfrt_list_move_all(&target, &source);
  ck_assert(tfrt_list_is_empty(&source));
  ck_assert_ptr_eq(tfrt_list_pop_front(&target), &a);
  ck_assert_ptr_eq(tfrt_list_pop_front(&target), &b);
  ck_assert_ptr_eq(tfrt_list_pop_front(&target), &c);
  ck_assert(tfrt_list_is_empty(&target));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("list");
  tcase_add_test(tests, elements_come_out_in_order);
  tcase_add_test(tests, an_element_leaves_without_its_list);
  tcase_add_test(tests, moving_appends_and_empties);
  Suite* suite = suite_create("list");
  suite_add_tcase(suite, tests);
  return suite;
}
