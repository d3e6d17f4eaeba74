// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/table.h"

#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

static const tfrt_table_column_t columns[] = {
    {"NAME", "name", false}, {"N", "n", true}, {"LAST", "last", false}};

static tfrt_table_t table;
static tfrt_string_builder_t out;

static void set_up(void) {
  tfrt_table_initialize(&table, columns, TFRT_ARRAY_SIZE(columns));
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_table_deinitialize(&table);
  tfrt_string_builder_deinitialize(&out);
}

static void add_rows(void) {
  tfrt_table_add_text(&table, "a \"name\"");
  tfrt_table_add_format(&table, "%d", 7);
  tfrt_table_add_text(&table, "x");
  tfrt_table_add_text(&table, "");
  tfrt_table_add_text(&table, "1234");
  tfrt_table_add_view(&table, tfrt_string_view_make("yz", 1));
}

START_TEST(columns_are_as_wide_as_they_must_be) {
  add_rows();
  ck_assert_uint_eq(tfrt_table_row_count(&table), 2);
  tfrt_table_append_text(&table, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out),
                   "NAME         N  LAST\n"
                   "a \"name\"     7  x\n"
                   "-         1234  y\n");
}
END_TEST

START_TEST(cells_for_people_command_no_terminal) {
  tfrt_table_add_text(&table, "\x1b[2J");
  tfrt_table_add_text(&table, "1");
  tfrt_table_add_text(&table,
                      "a\xc2\x9b"
                      "b\xff");
  tfrt_table_append_text(&table, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out),
                   "NAME       N  LAST\n"
                   "\\u001b[2J  1  a\\u009bb\\ufffd\n");
}
END_TEST

START_TEST(json_has_numbers_and_nothing_for_cells_that_are_not_there) {
  add_rows();
  tfrt_table_append_json(&table, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out),
                   "[{\"name\":\"a \\\"name\\\"\",\"n\":7,\"last\":\"x\"},\n"
                   "{\"name\":null,\"n\":1234,\"last\":\"y\"}]");
}
END_TEST

START_TEST(a_table_without_rows_has_titles) {
  tfrt_table_append_text(&table, &out);
  tfrt_table_append_json(&table, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), "NAME  N  LAST\n[]");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tables = tcase_create("tables");
  tcase_add_checked_fixture(tables, set_up, tear_down);
  tcase_add_test(tables, columns_are_as_wide_as_they_must_be);
  tcase_add_test(tables, cells_for_people_command_no_terminal);
  tcase_add_test(tables, json_has_numbers_and_nothing_for_cells_that_are_not_there);
  tcase_add_test(tables, a_table_without_rows_has_titles);
  Suite* suite = suite_create("table");
  suite_add_tcase(suite, tables);
  return suite;
}
