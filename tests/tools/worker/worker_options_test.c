// SPDX-License-Identifier: Apache-2.0
#include "tools/worker/worker_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/distributed/security/checked_certificate_folder.h"
#include "tests/support/test_main.h"

static tfrt_worker_options_t options;
static bool help;

// Parses a NULL-terminated command line.
static tfrt_status_t parse(const char* const* arguments) {
  int count = 0;
  while (arguments[count]) ++count;
  return tfrt_worker_options_parse(count, (char* const*)arguments, &options, &help);
}

static void expect_error(const char* const* arguments, const char* part) {
  tfrt_status_t status = parse(arguments);
  ck_assert_msg(status != NULL, "no error, but: %s", part);
  ck_assert_msg(strstr(tfrt_status_message(status), part) != NULL, "%s",
                tfrt_status_message(status));
  ck_assert_ptr_null(strchr(tfrt_status_message(status), '\n'));
  tfrt_status_release(status);
}

START_TEST(without_flags_a_worker_serves_this_machine) {
  unsetenv(TFRT_CLUSTER_KEY_VARIABLE);
  ck_assert_ptr_null(parse((const char*[]){NULL}));
  ck_assert(!help);
  ck_assert_str_eq(options.listen.text, "127.0.0.1:0");
  ck_assert(options.listen.is_local);
  ck_assert_ptr_null(options.name);
  ck_assert_uint_eq(options.cluster_key.size, 0);
  ck_assert_int_eq(options.threads, 0);
  ck_assert_int_eq(options.drain_timeout_ms, TFRT_WORKER_DRAIN_TIMEOUT_MS);
  ck_assert_int_eq(options.heartbeat_ms, 1000);
  ck_assert_int_eq(options.silence_ms, 5000);
  ck_assert_int_eq(options.log_level, TFRT_LOG_INFO);
  ck_assert_int_eq(options.log_format, TFRT_LOG_FORMAT_TEXT);
  ck_assert(!options.stops_with_stdin);
  ck_assert(!options.checks_types);
}
END_TEST

START_TEST(each_flag_is_heard) {
  ck_assert_ptr_null(parse((const char*[]){
      "--listen=[::1]:7", "--name=a", "--threads=3", "--data-directory=/", "--log-level=debug",
      "--log-format=json", "--pid-file=p", "--ready-file=r", "--drain-timeout-ms=0",
      "--heartbeat-ms=10", "--silence-ms=20", "--stop-with-stdin", "--check_types", NULL}));
  ck_assert_str_eq(options.listen.text, "[::1]:7");
  ck_assert_str_eq(options.name, "a");
  ck_assert_int_eq(options.threads, 3);
  ck_assert_str_eq(options.data_directory, "/");
  ck_assert_int_eq(options.log_level, TFRT_LOG_DEBUG);
  ck_assert_int_eq(options.log_format, TFRT_LOG_FORMAT_JSON);
  ck_assert_str_eq(options.pid_file, "p");
  ck_assert_str_eq(options.ready_file, "r");
  ck_assert_int_eq(options.drain_timeout_ms, 0);
  ck_assert_int_eq(options.heartbeat_ms, 10);
  ck_assert_int_eq(options.silence_ms, 20);
  ck_assert(options.stops_with_stdin);
  ck_assert(options.checks_types);
}
END_TEST

START_TEST(the_key_comes_from_the_environment_or_a_file) {
  setenv(TFRT_CLUSTER_KEY_VARIABLE, "secret", 1);
  ck_assert_ptr_null(parse((const char*[]){NULL}));
  ck_assert_str_eq(options.cluster_key.text, "secret");

  char path[] = "/tmp/tfrt-key-XXXXXX";
  int descriptor = mkstemp(path);
  ck_assert_int_eq(write(descriptor, "first\nsecond\n", 13), 13);
  close(descriptor);
  ck_assert_ptr_null(parse((const char*[]){"--cluster-key-file", path, NULL}));
  ck_assert_str_eq(options.cluster_key.text, "first");
  unlink(path);

  setenv(TFRT_CLUSTER_KEY_VARIABLE, "", 1);
  expect_error((const char*[]){NULL}, TFRT_CLUSTER_KEY_VARIABLE);
}
END_TEST

START_TEST(other_machines_are_let_in_only_on_purpose) {
  expect_error((const char*[]){"--listen=0.0.0.0:0", NULL}, "add --insecure-network");
  expect_error((const char*[]){"--listen=[::]:0", NULL}, "nothing is encrypted");
  expect_error((const char*[]){"--listen=[::]:0", NULL}, "add --tls-dir");
  ck_assert_ptr_null(parse((const char*[]){"--listen=0.0.0.0:0", "--insecure-network", NULL}));
  ck_assert(!options.listen.is_local);
}
END_TEST

START_TEST(with_certificates_others_are_let_in_and_the_host_of_listen_names_them) {
  tfrt_certificate_folder_t folder;
  tfrt_certificate_folder_initialize(&folder);
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_HOST, "0.0.0.0", TFRT_A_DAY_S);
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_HOST, "node", TFRT_A_DAY_S);
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_HOST, "old", -TFRT_A_MINUTE_S);
  const char* directory = folder.path;
  ck_assert_ptr_null(parse((const char*[]){"--listen=0.0.0.0:0", "--tls-dir", directory, NULL}));
  ck_assert(options.tls.is_given);
  ck_assert_str_eq(options.tls.certificate,
                   tfrt_certificate_folder_files(&folder, "0.0.0.0").certificate);
  ck_assert_ptr_null(parse((const char*[]){"--tls-name=node", "--tls-dir", directory, NULL}));
  ck_assert_str_eq(options.tls.key, tfrt_certificate_folder_files(&folder, "node").key);
  expect_error((const char*[]){"--listen=[::1]:0", "--tls-dir", directory, NULL}, "/::1.pem");
  expect_error((const char*[]){"--listen=unix:/tmp/x", "--tls-dir", directory, NULL},
               "/localhost.pem");
  expect_error((const char*[]){"--tls-name=old", "--tls-dir", directory, NULL},
               "certificate has expired");
  expect_error((const char*[]){"--tls-dir=/nowhere", NULL}, "/nowhere/ca.pem");
  expect_error((const char*[]){"--tls-name=node", NULL}, "give --tls-dir, too");
  tfrt_certificate_folder_deinitialize(&folder);
}
END_TEST

START_TEST(what_is_wrong_is_told_with_the_flag) {
  expect_error((const char*[]){"--listen=x", NULL}, "--listen: 'x' is no address");
  expect_error((const char*[]){"--name=", NULL}, "--name wants");
  expect_error((const char*[]){"--name=\x01", NULL}, "--name wants");
  expect_error((const char*[]){"--threads=0", NULL}, "--threads wants");
  expect_error((const char*[]){"--data-directory=/nowhere", NULL}, "--data-directory /nowhere");
  expect_error((const char*[]){"--data-directory=/etc/passwd", NULL}, "this is a file");
  expect_error((const char*[]){"--log-level=loud", NULL}, "--log-level wants");
  expect_error((const char*[]){"--log-format=xml", NULL}, "--log-format wants");
  expect_error((const char*[]){"--cluster-key-file=/nowhere", NULL}, "--cluster-key-file: ");
  expect_error((const char*[]){"--cluster-key-file=/dev/null", NULL}, "1 to 1024 characters");
  expect_error((const char*[]){"--heartbeat-ms=10", "--silence-ms=19", NULL}, "--silence-ms 19");
  expect_error((const char*[]){"--nonsense", NULL}, "unknown flag '--nonsense'");
  expect_error((const char*[]){"program.mlir", NULL}, "programs come from `tfrt run`");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("worker_options");
  tcase_add_test(cases, without_flags_a_worker_serves_this_machine);
  tcase_add_test(cases, each_flag_is_heard);
  tcase_add_test(cases, the_key_comes_from_the_environment_or_a_file);
  tcase_add_test(cases, other_machines_are_let_in_only_on_purpose);
  tcase_add_test(cases, with_certificates_others_are_let_in_and_the_host_of_listen_names_them);
  tcase_add_test(cases, what_is_wrong_is_told_with_the_flag);
  Suite* suite = suite_create("worker_options");
  suite_add_tcase(suite, cases);
  return suite;
}
