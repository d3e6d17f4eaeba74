// SPDX-License-Identifier: Apache-2.0
#include "tools/worker/presence_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_runtime/base/file.h"
#include "tests/support/test_main.h"

static char folder[64];
static char path[80];

static void make_folder(void) {
  strcpy(folder, "/tmp/tfrt-presence-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof(path), "%s/file", folder);
}

static void remove_folder(void) {
  unlink(path);
  ck_assert_int_eq(rmdir(folder), 0);
}

static void expect_content(const char* text) {
  tfrt_file_contents_t contents;
  tfrt_status_t status = tfrt_file_read(path, tfrt_allocator_system(), &contents);
  ck_assert_ptr_null(status);
  ck_assert_str_eq((const char*)contents.data, text);
  tfrt_file_contents_deinitialize(&contents);
}

START_TEST(it_holds_its_text_until_it_is_removed) {
  tfrt_presence_file_t file;
  ck_assert_ptr_null(tfrt_presence_file_write(path, "127.0.0.1:1\n", &file));
  expect_content("127.0.0.1:1\n");
  tfrt_presence_file_remove(&file);
  ck_assert_int_ne(access(path, F_OK), 0);
  tfrt_presence_file_remove(&file);
}
END_TEST

START_TEST(it_takes_the_place_of_an_older_one) {
  tfrt_presence_file_t older, newer;
  ck_assert_ptr_null(tfrt_presence_file_write(path, "old\n", &older));
  ck_assert_ptr_null(tfrt_presence_file_write(path, "new\n", &newer));
  expect_content("new\n");
  tfrt_presence_file_remove(&newer);
}
END_TEST

START_TEST(a_link_to_a_file_is_refused) {
  char target[96];
  snprintf(target, sizeof(target), "%s/target", folder);
  ck_assert_int_eq(symlink(target, path), 0);
  for (int round = 0; round < 2; ++round) {
    tfrt_presence_file_t file;
    tfrt_status_t status = tfrt_presence_file_write(path, "1\n", &file);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "is a symbolic link"));
    tfrt_status_release(status);
    // First the link leads to nothing, then to a file.
    ck_assert_int_eq(access(target, F_OK) == 0, round == 1);
    ck_assert_ptr_null(tfrt_file_write(target, "theirs\n", 7));
  }
  expect_content("theirs\n");
  unlink(target);
}
END_TEST

START_TEST(a_link_to_a_device_is_written_through) {
  ck_assert_int_eq(symlink("/dev/null", path), 0);
  tfrt_presence_file_t file;
  ck_assert_ptr_null(tfrt_presence_file_write(path, "1\n", &file));
}
END_TEST

START_TEST(one_that_another_process_has_replaced_stays) {
  tfrt_presence_file_t ours, theirs;
  ck_assert_ptr_null(tfrt_presence_file_write(path, "same\n", &ours));
  ck_assert_ptr_null(tfrt_presence_file_write(path, "same\n", &theirs));
  tfrt_presence_file_remove(&ours);
  expect_content("same\n");
}
END_TEST

START_TEST(one_that_is_gone_already_is_no_error) {
  tfrt_presence_file_t file;
  ck_assert_ptr_null(tfrt_presence_file_write(path, "x\n", &file));
  ck_assert_int_eq(unlink(path), 0);
  tfrt_presence_file_remove(&file);
  ck_assert(!file.is_written);
}
END_TEST

START_TEST(one_that_was_never_written_removes_nothing) {
  tfrt_presence_file_t file = {0}, other;
  ck_assert_ptr_null(tfrt_presence_file_write(path, "x\n", &other));
  tfrt_presence_file_remove(&file);
  expect_content("x\n");
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_an_error_that_names_it) {
  tfrt_presence_file_t file;
  tfrt_status_t status = tfrt_presence_file_write("/nowhere/file", "x\n", &file);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "/nowhere/file"));
  ck_assert(!file.is_written);
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("presence_file");
  tcase_add_checked_fixture(cases, make_folder, remove_folder);
  tcase_add_test(cases, it_holds_its_text_until_it_is_removed);
  tcase_add_test(cases, it_takes_the_place_of_an_older_one);
  tcase_add_test(cases, one_that_another_process_has_replaced_stays);
  tcase_add_test(cases, a_link_to_a_file_is_refused);
  tcase_add_test(cases, a_link_to_a_device_is_written_through);
  tcase_add_test(cases, one_that_is_gone_already_is_no_error);
  tcase_add_test(cases, one_that_was_never_written_removes_nothing);
  tcase_add_test(cases, a_folder_that_is_not_there_is_an_error_that_names_it);
  Suite* suite = suite_create("presence_file");
  suite_add_tcase(suite, cases);
  return suite;
}
