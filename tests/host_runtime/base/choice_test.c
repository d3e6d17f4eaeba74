// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/choice.h"

#include <stdio.h>

#include "tests/support/test_main.h"

static const tfrt_choice_t plain = {"plain", ""};
static const tfrt_choice_t fancy = {"fancy", "[:SIZE]"};
static tfrt_choice_table_t table;

static void set_up(void) {
  table = (tfrt_choice_table_t){
      .what = "kind of hat", .mutex = TFRT_MUTEX_INITIALIZER, .count = 1, .entries = {&plain}};
}

static void expect_error(tfrt_status_t status, tfrt_status_code_t code, const char* message) {
  ck_assert_str_eq(tfrt_status_message(status), message);
  ck_assert_int_eq(tfrt_status_code(status), code);
  tfrt_status_release(status);
}

static void expect_choice(const char* text, const tfrt_choice_t* expected, const char* arguments) {
  const tfrt_choice_t* choice = NULL;
  const char* found = NULL;
  ck_assert_ptr_null(tfrt_choice_find(&table, text, &choice, &found));
  ck_assert_ptr_eq(choice, expected);
  ck_assert_str_eq(found, arguments);
}

static void expect_refused(const char* text, const char* message) {
  const tfrt_choice_t* choice = NULL;
  const char* arguments = NULL;
  expect_error(tfrt_choice_find(&table, text, &choice, &arguments), TFRT_STATUS_INVALID_ARGUMENT,
               message);
}

START_TEST(an_entry_is_found_by_its_name_with_its_arguments) {
  ck_assert_ptr_null(tfrt_choice_add(&table, &fancy));
  ck_assert_ptr_null(tfrt_choice_add(&table, &fancy));  // a library may be set up twice
  expect_choice("plain", &plain, "");
  expect_choice("fancy", &fancy, "");
  expect_choice("fancy:4:x", &fancy, "4:x");
}
END_TEST

START_TEST(what_is_no_choice_is_refused_with_what_is) {
  ck_assert_ptr_null(tfrt_choice_add(&table, &fancy));
  expect_refused("straw", "there is no kind of hat 'straw'; there are plain, fancy[:SIZE]");
  expect_refused("", "there is no kind of hat ''; there are plain, fancy[:SIZE]");
  expect_refused("fanc:4", "there is no kind of hat 'fanc'; there are plain, fancy[:SIZE]");
  expect_refused("plain:", "'plain:' is not how a kind of hat is written: plain");
  expect_refused("plain:4", "'plain:4' is not how a kind of hat is written: plain");
  expect_refused("fancy:", "'fancy:' is not how a kind of hat is written: fancy[:SIZE]");
}
END_TEST

START_TEST(a_name_is_taken_once) {
  static const tfrt_choice_t other = {"plain", ""};
  static const tfrt_choice_t colon = {"a:b", ""};
  static const tfrt_choice_t empty = {"", ""};
  expect_error(tfrt_choice_add(&table, &other), TFRT_STATUS_ALREADY_EXISTS,
               "there is a kind of hat 'plain' already; choose another name");
  expect_error(tfrt_choice_add(&table, &colon), TFRT_STATUS_INVALID_ARGUMENT,
               "a kind of hat needs a name without a colon");
  expect_error(tfrt_choice_add(&table, &empty), TFRT_STATUS_INVALID_ARGUMENT,
               "a kind of hat needs a name without a colon");
}
END_TEST

START_TEST(there_is_room_for_some) {
  static char names[TFRT_CHOICE_MAX_COUNT][8];
  static tfrt_choice_t many[TFRT_CHOICE_MAX_COUNT];
  for (int i = 0; i < TFRT_CHOICE_MAX_COUNT; ++i) {
    snprintf(names[i], sizeof(names[i]), "hat%d", i);
    many[i] = (tfrt_choice_t){names[i], ""};
  }
  for (int i = 0; i < TFRT_CHOICE_MAX_COUNT - 1; ++i) {
    ck_assert_ptr_null(tfrt_choice_add(&table, &many[i]));
  }
  expect_error(tfrt_choice_add(&table, &many[TFRT_CHOICE_MAX_COUNT - 1]),
               TFRT_STATUS_RESOURCE_EXHAUSTED,
               "no room for a kind of hat 'hat31': there are 32 already");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("choice");
  TCase* cases = tcase_create("choice");
  tcase_add_checked_fixture(cases, set_up, NULL);
  tcase_add_test(cases, an_entry_is_found_by_its_name_with_its_arguments);
  tcase_add_test(cases, what_is_no_choice_is_refused_with_what_is);
  tcase_add_test(cases, a_name_is_taken_once);
  tcase_add_test(cases, there_is_room_for_some);
  suite_add_tcase(suite, cases);
  return suite;
}
