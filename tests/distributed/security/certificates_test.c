// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/certificates.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host_runtime/base/file.h"
#include "tests/distributed/security/checked_certificate_folder.h"
#include "tests/support/test_main.h"

static tfrt_certificate_folder_t folder;

static void set_up(void) { tfrt_certificate_folder_initialize(&folder); }

static void tear_down(void) { tfrt_certificate_folder_deinitialize(&folder); }

static void expect_error(tfrt_status_t status, tfrt_status_code_t code, const char* words) {
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_msg(strstr(tfrt_status_message(status), words) != NULL, "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
}

static void expect_description(const char* path, int64_t later_s, const char* words) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  ck_assert_ptr_null(tfrt_certificates_describe(path, (int64_t)time(NULL) + later_s, &text));
  ck_assert_msg(strstr(tfrt_string_builder_text(&text), words) != NULL, "'%s' lacks '%s'",
                tfrt_string_builder_text(&text), words);
  tfrt_string_builder_deinitialize(&text);
}

static tfrt_status_t issue_host(const char* const* names, size_t count) {
  tfrt_certificate_request_t request = {.role = TFRT_CERTIFICATE_HOST,
                                        .names = names,
                                        .name_count = count,
                                        .validity = tfrt_certificate_from_now(0, TFRT_A_DAY_S)};
  return tfrt_certificates_issue(folder.path, &request);
}

START_TEST(an_authority_says_that_it_is_one_and_until_when) {
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "ca");
  expect_description(files.authorities, 0, "authority of tfrt cluster ");
  expect_description(files.authorities, 0, "; until ");
  expect_description(files.authorities, 2 * TFRT_A_DAY_S, "; EXPIRED ");
}
END_TEST

START_TEST(a_host_has_all_its_names_and_its_files_the_first_of_them) {
  const char* names[] = {"node-1.example", "10.0.0.1", "::1"};
  ck_assert_ptr_null(issue_host(names, 3));
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "node-1.example");
  expect_description(files.certificate, 0, "host node-1.example, 10.0.0.1, ::1; of tfrt cluster ");
}
END_TEST

START_TEST(a_client_is_no_host) {
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_CLIENT, "client", TFRT_A_DAY_S);
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "client");
  expect_description(files.certificate, 0, "client client; of tfrt cluster ");
}
END_TEST

START_TEST(nobody_but_the_owner_can_read_any_file_and_no_other_file_is_left) {
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_HOST, "a", TFRT_A_DAY_S);
  DIR* directory = opendir(folder.path);
  ck_assert_ptr_nonnull(directory);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(directory));) {
    if (entry->d_name[0] == '.') continue;
    struct stat found;
    ck_assert_int_eq(fstatat(dirfd(directory), entry->d_name, &found, 0), 0);
    ck_assert_int_eq(found.st_mode & 0777, 0600);
    ++count;
  }
  closedir(directory);
  ck_assert_int_eq(count, 4);
}
END_TEST

START_TEST(files_that_are_there_are_never_replaced) {
  const char* name = "a";
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, name);
  ck_assert_ptr_null(issue_host(&name, 1));
  tfrt_file_contents_t before;
  tfrt_file_contents_t after;
  ck_assert_ptr_null(tfrt_file_read(files.key, tfrt_allocator_system(), &before));
  expect_error(issue_host(&name, 1), TFRT_STATUS_ALREADY_EXISTS, "a.key exists already");
  expect_error(
      tfrt_certificates_create_authority(folder.path, tfrt_certificate_from_now(0, TFRT_A_DAY_S)),
      TFRT_STATUS_ALREADY_EXISTS, "ca.key exists already");
  ck_assert_ptr_null(tfrt_file_read(files.key, tfrt_allocator_system(), &after));
  ck_assert_uint_eq(before.size, after.size);
  ck_assert_mem_eq(before.data, after.data, before.size);
  tfrt_file_contents_deinitialize(&before);
  tfrt_file_contents_deinitialize(&after);
}
END_TEST

START_TEST(a_certificate_that_lacks_its_key_gets_no_other) {
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "ca");
  ck_assert_int_eq(unlink(files.key), 0);
  expect_error(
      tfrt_certificates_create_authority(folder.path, tfrt_certificate_from_now(0, TFRT_A_DAY_S)),
      TFRT_STATUS_ALREADY_EXISTS, "ca.pem exists already");
  ck_assert_int_eq(access(files.key, F_OK), -1);
}
END_TEST

START_TEST(a_key_goes_when_its_certificate_can_not_be_written) {
  const char* name = "a";
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, name);
  // A file of this size has room for a key, and not for a certificate.
  struct rlimit before;
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = {.rlim_cur = 400, .rlim_max = before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
  tfrt_status_t status = issue_host(&name, 1);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
  expect_error(status, TFRT_STATUS_UNKNOWN, "a.pem: File too large");
  ck_assert_int_eq(access(files.key, F_OK), -1);
  ck_assert_int_eq(access(files.certificate, F_OK), -1);
  ck_assert_ptr_null(issue_host(&name, 1));
}
END_TEST

START_TEST(a_name_is_absent_until_either_file_is_there) {
  const char* name = "a";
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, name);
  ck_assert_ptr_null(tfrt_certificates_check_absent(folder.path, name));
  ck_assert_ptr_null(tfrt_certificates_check_absent("/nowhere", name));
  ck_assert_int_eq(symlink("/nowhere/a.pem", files.certificate), 0);
  expect_error(tfrt_certificates_check_absent(folder.path, name), TFRT_STATUS_ALREADY_EXISTS,
               "a.pem exists already");
  expect_error(issue_host(&name, 1), TFRT_STATUS_ALREADY_EXISTS, "a.pem exists already");
  ck_assert_int_eq(access(files.key, F_OK), -1);
}
END_TEST

START_TEST(what_is_no_name_is_refused_before_a_file_is_written) {
  static const char* const kNames[] = {"",      "../a",        "a/b", "a,DNS:b", ".",
                                       "[::1]", "10.0.0.1:80", "a b", "-a",      "a\nb"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kNames); ++i) {
    expect_error(issue_host(&kNames[i], 1), TFRT_STATUS_INVALID_ARGUMENT, "is no name of a host");
  }
  const char* taken[] = {"ca", "client"};
  expect_error(issue_host(&taken[0], 1), TFRT_STATUS_INVALID_ARGUMENT, "can't be called 'ca'");
  expect_error(issue_host(&taken[1], 1), TFRT_STATUS_INVALID_ARGUMENT, "can't be called 'client'");
  expect_error(issue_host(taken, 0), TFRT_STATUS_INVALID_ARGUMENT, "has 1 to 32 names, not 0");
}
END_TEST

START_TEST(a_folder_without_an_authority_issues_nothing) {
  tfrt_certificate_folder_t other = folder;
  strcat(other.path, "/none");
  const char* name = "a";
  tfrt_certificate_request_t request = {
      .names = &name, .name_count = 1, .validity = tfrt_certificate_from_now(0, TFRT_A_DAY_S)};
  expect_error(tfrt_certificates_issue(other.path, &request), TFRT_STATUS_NOT_FOUND,
               "/none/ca.pem");
}
END_TEST

START_TEST(a_certificate_ends_after_it_begins) {
  const char* name = "a";
  tfrt_certificate_request_t request = {
      .names = &name, .name_count = 1, .validity = tfrt_certificate_from_now(0, -1)};
  expect_error(tfrt_certificates_issue(folder.path, &request), TFRT_STATUS_INVALID_ARGUMENT,
               "must end after it begins");
}
END_TEST

START_TEST(a_file_that_is_no_certificate_is_described_as_that) {
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "junk");
  ck_assert_ptr_null(tfrt_file_write(files.certificate, "junk\n", 5));
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  expect_error(tfrt_certificates_describe(files.certificate, 0, &text),
               TFRT_STATUS_INVALID_ARGUMENT, "junk.pem holds no certificate");
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

static tfrt_status_t renew(const char* name) {
  return tfrt_certificates_renew(folder.path, name,
                                 tfrt_certificate_from_now(0, 90 * TFRT_A_DAY_S));
}

START_TEST(a_renewed_certificate_has_the_old_key_and_names_and_a_later_end) {
  const char* names[] = {"node", "10.0.0.1"};
  ck_assert_ptr_null(issue_host(names, 2));
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "node");
  expect_description(files.certificate, 0, "; RENEW it: `tfrt certs renew`");
  // One that is over, too, and without its key: that stays where the host is.
  expect_description(files.certificate, 2 * TFRT_A_DAY_S, "; EXPIRED ");
  ck_assert_ptr_null(tfrt_certificate_check_form(&files));
  char elsewhere[128];
  snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", folder.path);
  ck_assert_int_eq(rename(files.key, elsewhere), 0);
  ck_assert_ptr_null(renew("node"));
  ck_assert_int_eq(rename(elsewhere, files.key), 0);
  expect_description(files.certificate, 2 * TFRT_A_DAY_S, "host node, 10.0.0.1; of tfrt cluster ");
  expect_description(files.certificate, 2 * TFRT_A_DAY_S, "; until ");
  // The key is the one of the new certificate.
  ck_assert_ptr_null(tfrt_certificate_check_form(&files));
}
END_TEST

START_TEST(only_a_member_of_the_authority_beside_it_is_renewed) {
  expect_error(renew("ca"), TFRT_STATUS_FAILED_PRECONDITION, "is an authority's");
  expect_error(renew("nobody"), TFRT_STATUS_NOT_FOUND, "nobody.pem");
  tfrt_certificate_folder_t other;
  tfrt_certificate_folder_initialize(&other);
  tfrt_certificate_folder_issue(&other, TFRT_CERTIFICATE_CLIENT, "stranger", TFRT_A_DAY_S);
  tfrt_certificate_files_t there = tfrt_certificate_folder_files(&other, "stranger");
  tfrt_certificate_files_t here = tfrt_certificate_folder_files(&folder, "stranger");
  ck_assert_int_eq(rename(there.certificate, here.certificate), 0);
  expect_error(renew("stranger"), TFRT_STATUS_FAILED_PRECONDITION,
               "is not of the authority beside it");
  tfrt_certificate_folder_deinitialize(&other);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("certificates");
  TCase* tests = tcase_create("certificates");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, an_authority_says_that_it_is_one_and_until_when);
  tcase_add_test(tests, a_host_has_all_its_names_and_its_files_the_first_of_them);
  tcase_add_test(tests, a_client_is_no_host);
  tcase_add_test(tests, nobody_but_the_owner_can_read_any_file_and_no_other_file_is_left);
  tcase_add_test(tests, files_that_are_there_are_never_replaced);
  tcase_add_test(tests, a_certificate_that_lacks_its_key_gets_no_other);
  tcase_add_test(tests, a_key_goes_when_its_certificate_can_not_be_written);
  tcase_add_test(tests, a_name_is_absent_until_either_file_is_there);
  tcase_add_test(tests, what_is_no_name_is_refused_before_a_file_is_written);
  tcase_add_test(tests, a_folder_without_an_authority_issues_nothing);
  tcase_add_test(tests, a_certificate_ends_after_it_begins);
  tcase_add_test(tests, a_file_that_is_no_certificate_is_described_as_that);
  tcase_add_test(tests, a_renewed_certificate_has_the_old_key_and_names_and_a_later_end);
  tcase_add_test(tests, only_a_member_of_the_authority_beside_it_is_renewed);
  suite_add_tcase(suite, tests);
  return suite;
}
