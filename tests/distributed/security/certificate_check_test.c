// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/certificates.h"

#include <string.h>
#include <time.h>

#include "host_runtime/base/file.h"
#include "tests/distributed/security/checked_certificate_folder.h"
#include "tests/support/test_main.h"

static tfrt_certificate_folder_t folder;

static void set_up(void) {
  tfrt_certificate_folder_initialize(&folder);
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_HOST, "a", TFRT_A_DAY_S);
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_CLIENT, "client", TFRT_A_DAY_S);
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_HOST, "old", -TFRT_A_MINUTE_S);
}

static void tear_down(void) { tfrt_certificate_folder_deinitialize(&folder); }

static void expect(tfrt_certificate_files_t files, tfrt_certificate_role_t role, int64_t later_s,
                   tfrt_status_code_t code, const char* words) {
  tfrt_status_t status = tfrt_certificate_check(&files, role, (int64_t)time(NULL) + later_s);
  ck_assert_int_eq(tfrt_status_code(status), code);
  if (status) {
    ck_assert_msg(strstr(tfrt_status_message(status), words) != NULL, "%s",
                  tfrt_status_message(status));
  }
  tfrt_status_release(status);
}

static void expect_name(const char* name, tfrt_certificate_role_t role, tfrt_status_code_t code,
                        const char* words) {
  expect(tfrt_certificate_folder_files(&folder, name), role, 0, code, words);
}

START_TEST(what_the_authority_issued_will_do) {
  expect_name("a", TFRT_CERTIFICATE_HOST, TFRT_STATUS_OK, "");
  expect_name("a", TFRT_CERTIFICATE_CLIENT, TFRT_STATUS_OK, "");
  expect_name("client", TFRT_CERTIFICATE_CLIENT, TFRT_STATUS_OK, "");
}
END_TEST

START_TEST(a_client_certificate_will_not_do_for_a_host) {
  expect_name("client", TFRT_CERTIFICATE_HOST, TFRT_STATUS_UNAUTHENTICATED,
              "client.pem is no certificate for a host");
}
END_TEST

START_TEST(one_that_has_expired_or_not_begun_says_when) {
  expect_name("old", TFRT_CERTIFICATE_HOST, TFRT_STATUS_UNAUTHENTICATED,
              "old.pem does not count now: certificate has expired");
  expect(tfrt_certificate_folder_files(&folder, "a"), TFRT_CERTIFICATE_HOST, -TFRT_A_DAY_S / 2,
         TFRT_STATUS_UNAUTHENTICATED, "a.pem does not count now: certificate is not yet valid");
}
END_TEST

START_TEST(one_of_another_authority_names_both_files) {
  tfrt_certificate_folder_t other;
  tfrt_certificate_folder_initialize(&other);
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "a");
  files.authorities = tfrt_certificate_folder_files(&other, "a").authorities;
  expect(files, TFRT_CERTIFICATE_HOST, 0, TFRT_STATUS_UNAUTHENTICATED,
         "is not of the authority in ");
  tfrt_certificate_folder_deinitialize(&other);
}
END_TEST

START_TEST(the_key_of_another_certificate_names_both_files) {
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "a");
  char key[128];
  strcpy(key, folder.path);
  strcat(key, "/client.key");
  files.key = key;
  expect(files, TFRT_CERTIFICATE_HOST, 0, TFRT_STATUS_INVALID_ARGUMENT,
         "client.key is not the key of ");
}
END_TEST

START_TEST(files_that_are_missing_or_something_else_are_named) {
  expect_name("none", TFRT_CERTIFICATE_HOST, TFRT_STATUS_NOT_FOUND, "none.pem");
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&folder, "a");
  files.key = files.certificate;
  expect(files, TFRT_CERTIFICATE_HOST, 0, TFRT_STATUS_INVALID_ARGUMENT,
         "a.pem holds no private key");
  files = tfrt_certificate_folder_files(&folder, "a");
  files.authorities = files.key;
  expect(files, TFRT_CERTIFICATE_HOST, 0, TFRT_STATUS_INVALID_ARGUMENT,
         "a.key holds no certificate");
}
END_TEST

START_TEST(several_authorities_in_one_file_are_all_trusted) {
  tfrt_certificate_folder_t other;
  tfrt_certificate_folder_initialize(&other);
  tfrt_file_contents_t first;
  tfrt_file_contents_t second;
  tfrt_certificate_files_t files = tfrt_certificate_folder_files(&other, "a");
  ck_assert_ptr_null(tfrt_file_read(files.authorities, tfrt_allocator_system(), &first));
  files = tfrt_certificate_folder_files(&folder, "a");
  ck_assert_ptr_null(tfrt_file_read(files.authorities, tfrt_allocator_system(), &second));
  char both[8192];
  ck_assert_uint_le(first.size + second.size, sizeof(both));
  memcpy(both, first.data, first.size);
  memcpy(both + first.size, second.data, second.size);
  ck_assert_ptr_null(tfrt_file_write(files.authorities, both, first.size + second.size));
  expect(files, TFRT_CERTIFICATE_HOST, 0, TFRT_STATUS_OK, "");
  tfrt_file_contents_deinitialize(&first);
  tfrt_file_contents_deinitialize(&second);
  tfrt_certificate_folder_deinitialize(&other);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("certificate_check");
  TCase* tests = tcase_create("certificate_check");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, what_the_authority_issued_will_do);
  tcase_add_test(tests, a_client_certificate_will_not_do_for_a_host);
  tcase_add_test(tests, one_that_has_expired_or_not_begun_says_when);
  tcase_add_test(tests, one_of_another_authority_names_both_files);
  tcase_add_test(tests, the_key_of_another_certificate_names_both_files);
  tcase_add_test(tests, files_that_are_missing_or_something_else_are_named);
  tcase_add_test(tests, several_authorities_in_one_file_are_all_trusted);
  suite_add_tcase(suite, tests);
  return suite;
}
