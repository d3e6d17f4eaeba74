// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/flags.h"

#include <string.h>

#include "tests/support/test_main.h"

// The variables that the table under test fills in.
static struct {
  const char* name;
  const char* path;
  int64_t number;
  bool on;
  tfrt_flag_list_t list;
  tfrt_flag_list_t steps;
} values;

static const tfrt_flag_t flags[] = {
    {"name", TFRT_FLAG_TEXT, &values.name, "TEXT", "a text", 0, 0},
    {"number", TFRT_FLAG_NUMBER, &values.number, "N", "a number", 1, 10},
    {"path", TFRT_FLAG_PATH, &values.path, "FILE", "a file", 0, 0},
    {"on", TFRT_FLAG_BOOL, &values.on, NULL, "a switch", 0, 0},
    {"arg", TFRT_FLAG_LIST, &values.list, "X", "several", 0, 0},
    {"walk", TFRT_FLAG_STEP, &values.steps, NULL, "a step", 0, 0},
    {"run", TFRT_FLAG_STEP, &values.steps, NULL, "another step", 0, 0},
};
static const tfrt_flag_table_t table = {
    .usage = "test", .summary = "A test.", .flags = flags, .flag_count = TFRT_ARRAY_SIZE(flags)};

static tfrt_flag_list_t positional;
static bool help;

static void reset(void) { memset(&values, 0, sizeof(values)); }

// Parses a NULL-terminated command line.
static tfrt_status_t parse(const char* const* arguments) {
  int count = 0;
  while (arguments[count]) ++count;
  return tfrt_flags_parse(&table, count, (char* const*)arguments, &positional, &help);
}

static void expect_error(const char* const* arguments, const char* message) {
  reset();
  tfrt_status_t status = parse(arguments);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_str_eq(tfrt_status_message(status), message);
  tfrt_status_release(status);
}

START_TEST(each_way_to_write_a_flag_works) {
  reset();
  const char* arguments[] = {"file",  "--name=a=b", "-number", "7", "--on",
                             "--arg", "x",          "--arg=y", "-", NULL};
  ck_assert_ptr_null(parse(arguments));
  ck_assert_str_eq(values.name, "a=b");
  ck_assert_int_eq(values.number, 7);
  ck_assert(values.on);
  ck_assert_uint_eq(values.list.count, 2);
  ck_assert_str_eq(values.list.values[1], "y");
  ck_assert_uint_eq(positional.count, 2);
  ck_assert_str_eq(positional.values[1], "-");
  ck_assert(!help);
}
END_TEST

START_TEST(steps_keep_the_order_in_which_they_are_given) {
  reset();
  const char* arguments[] = {"-run", "file", "--walk", "-run", NULL};
  ck_assert_ptr_null(parse(arguments));
  ck_assert_uint_eq(values.steps.count, 3);
  ck_assert_str_eq(values.steps.values[0], "run");
  ck_assert_str_eq(values.steps.values[1], "walk");
  ck_assert_str_eq(values.steps.values[2], "run");
  ck_assert_uint_eq(positional.count, 1);
  expect_error((const char*[]){"--walk=true", NULL}, "--walk stands alone, without '=true'");
}
END_TEST

START_TEST(two_dashes_end_the_flags) {
  reset();
  const char* arguments[] = {"--on=false", "--", "--name", NULL};
  ck_assert_ptr_null(parse(arguments));
  ck_assert(!values.on);
  ck_assert_ptr_null(values.name);
  ck_assert_str_eq(positional.values[0], "--name");
}
END_TEST

START_TEST(questions_are_seen_before_what_follows) {
  static const char* const questions[] = {"--help", "-help", "-h", "--version", "-version"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(questions); ++i) {
    reset();
    const char* arguments[] = {"--on", questions[i], "--nonsense", NULL};
    ck_assert_ptr_null(parse(arguments));
    ck_assert(help);
  }
  reset();
  ck_assert_ptr_null(parse((const char*[]){"--", "--version", NULL}));
  ck_assert(!help);
}
END_TEST

START_TEST(a_wrong_flag_is_named_with_what_it_wants) {
  expect_error((const char*[]){"--nonsense", NULL}, "unknown flag '--nonsense'; --help lists them");
  expect_error((const char*[]){"--number=11", NULL},
               "--number wants a number from 1 to 10, not '11'");
  expect_error((const char*[]){"--number=1x", NULL},
               "--number wants a number from 1 to 10, not '1x'");
  expect_error((const char*[]){"--number=", NULL}, "--number wants a number from 1 to 10, not ''");
  expect_error((const char*[]){"--on=maybe", NULL}, "--on wants true or false, not 'maybe'");
  expect_error((const char*[]){"--name", NULL}, "--name wants a value, TEXT");
}
END_TEST

START_TEST(a_path_is_not_empty) {
  reset();
  ck_assert_ptr_null(parse((const char*[]){"--path=a", "--name=", NULL}));
  ck_assert_str_eq(values.path, "a");
  ck_assert_str_eq(values.name, "");
  expect_error((const char*[]){"--path=", NULL},
               "--path wants a value, FILE, and this one is empty");
  expect_error((const char*[]){"--path", "", NULL},
               "--path wants a value, FILE, and this one is empty");
}
END_TEST

static const char* last(const char* const* arguments) {
  int count = 0;
  while (arguments[count]) ++count;
  const char* value = tfrt_flags_last_value(count, (char* const*)arguments, "o");
  return value ? value : "none";
}

START_TEST(the_last_value_is_found_whatever_else_is_wrong) {
  ck_assert_str_eq(last((const char*[]){NULL}), "none");
  ck_assert_str_eq(last((const char*[]){"o", "json", "--on", "-", "-x", NULL}), "none");
  ck_assert_str_eq(last((const char*[]){"--nonsense", "-o", "a", "b", NULL}), "a");
  ck_assert_str_eq(last((const char*[]){"-o=a", "--o", "b", "--number=x", NULL}), "b");
  ck_assert_str_eq(last((const char*[]){"--o=a", "-o=", "-o", NULL}), "");
  ck_assert_str_eq(last((const char*[]){"-o=a", "--", "-o=b", NULL}), "a");
}
END_TEST

START_TEST(a_list_has_an_end) {
  reset();
  static const char* arguments[TFRT_FLAG_MAX_LIST + 2];
  for (int i = 0; i <= TFRT_FLAG_MAX_LIST; ++i) arguments[i] = "--arg=x";
  tfrt_status_t status = parse(arguments);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_uint_eq(values.list.count, TFRT_FLAG_MAX_LIST);
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("flags");
  TCase* cases = tcase_create("flags");
  tcase_add_test(cases, each_way_to_write_a_flag_works);
  tcase_add_test(cases, steps_keep_the_order_in_which_they_are_given);
  tcase_add_test(cases, two_dashes_end_the_flags);
  tcase_add_test(cases, questions_are_seen_before_what_follows);
  tcase_add_test(cases, a_wrong_flag_is_named_with_what_it_wants);
  tcase_add_test(cases, a_path_is_not_empty);
  tcase_add_test(cases, the_last_value_is_found_whatever_else_is_wrong);
  tcase_add_test(cases, a_list_has_an_end);
  suite_add_tcase(suite, cases);
  return suite;
}
