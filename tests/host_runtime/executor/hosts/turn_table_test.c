// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/turn_table.h"

#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static void expect_turn(tfrt_turn_table_t* table, uint64_t request, const char* series,
                        uint64_t number, bool overlaps) {
  tfrt_turn_t turn;
  tfrt_status_t status = tfrt_turn_table_begin(table, request, tfrt_string_view_of(series), &turn);
  ck_assert_ptr_null(status);
  ck_assert_uint_eq(turn.number, number);
  ck_assert(turn.overlaps == overlaps);
}

START_TEST(each_series_of_each_request_is_counted_by_itself) {
  tfrt_turn_table_t table;
  tfrt_turn_table_initialize(&table, tfrt_allocator_system());
  expect_turn(&table, 1, "0-2", 0, false);
  expect_turn(&table, 1, "0-3", 0, false);
  expect_turn(&table, 2, "0-2", 0, false);
  expect_turn(&table, 2, "", 0, false);
  tfrt_turn_table_end(&table, 1, tfrt_string_view_of("0-2"));
  expect_turn(&table, 1, "0-2", 1, false);
  tfrt_turn_table_deinitialize(&table);
}
END_TEST

START_TEST(turns_that_overlap_say_so) {
  tfrt_turn_table_t table;
  tfrt_turn_table_initialize(&table, tfrt_allocator_system());
  expect_turn(&table, 1, "a", 0, false);
  expect_turn(&table, 1, "a", 1, true);
  tfrt_turn_table_end(&table, 1, tfrt_string_view_of("a"));
  expect_turn(&table, 1, "a", 2, true);
  tfrt_turn_table_end(&table, 1, tfrt_string_view_of("a"));
  tfrt_turn_table_end(&table, 1, tfrt_string_view_of("a"));
  expect_turn(&table, 1, "a", 3, false);
  tfrt_turn_table_deinitialize(&table);
}
END_TEST

START_TEST(a_broken_series_has_no_more_turns) {
  tfrt_turn_table_t table;
  tfrt_turn_table_initialize(&table, tfrt_allocator_system());
  expect_turn(&table, 1, "a", 0, false);
  tfrt_status_t first = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "lost");
  tfrt_status_t second = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough");
  tfrt_turn_table_break(&table, 1, tfrt_string_view_of("a"), first);
  tfrt_turn_table_break(&table, 1, tfrt_string_view_of("a"), second);
  tfrt_turn_t turn;
  tfrt_status_t status = tfrt_turn_table_begin(&table, 1, tfrt_string_view_of("a"), &turn);
  ck_assert_ptr_eq(status, first);
  tfrt_status_release(status);
  tfrt_turn_table_end(&table, 1, tfrt_string_view_of("a"));
  expect_turn(&table, 2, "a", 0, false);
  tfrt_status_release(first);
  tfrt_status_release(second);
  tfrt_turn_table_deinitialize(&table);
}
END_TEST

START_TEST(what_is_over_is_forgotten) {
  tfrt_turn_table_t table;
  tfrt_turn_table_initialize(&table, tfrt_allocator_system());
  ck_assert(!tfrt_turn_table_forget(&table, 1));
  expect_turn(&table, 1, "a", 0, false);
  expect_turn(&table, 1, "b", 0, false);
  expect_turn(&table, 2, "a", 0, false);
  tfrt_turn_table_end(&table, 1, tfrt_string_view_of("a"));
  ck_assert(tfrt_turn_table_forget(&table, 1));
  // A turn of b has not ended.
  expect_turn(&table, 1, "a", 0, false);
  expect_turn(&table, 1, "b", 1, true);
  expect_turn(&table, 2, "a", 1, true);
  tfrt_turn_table_deinitialize(&table);
}
END_TEST

START_TEST(without_memory_no_turn_begins) {
  tfrt_counting_allocator_t books;
  // A budget of one byte.
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 1);
  tfrt_turn_table_t table;
  tfrt_turn_table_initialize(&table, tfrt_counting_allocator_interface(&books));
  tfrt_turn_t turn;
  tfrt_status_t status = tfrt_turn_table_begin(&table, 1, tfrt_string_view_of("a"), &turn);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  tfrt_status_release(status);
  tfrt_turn_table_deinitialize(&table);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* turns = tcase_create("turns");
  tcase_add_test(turns, each_series_of_each_request_is_counted_by_itself);
  tcase_add_test(turns, turns_that_overlap_say_so);
  tcase_add_test(turns, a_broken_series_has_no_more_turns);
  tcase_add_test(turns, what_is_over_is_forgotten);
  tcase_add_test(turns, without_memory_no_turn_begins);
  Suite* suite = suite_create("turn table");
  suite_add_tcase(suite, turns);
  return suite;
}
