// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/cluster_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

static tfrt_cluster_file_t file;
static char path[4096];

// Writes |size| bytes of |text| to a file and loads that.
static tfrt_status_t load_bytes(const char* text, size_t size) {
  snprintf(path, sizeof(path), "%s/c.yaml", getenv("TEST_TMPDIR"));
  FILE* stream = fopen(path, "wb");
  ck_assert_ptr_nonnull(stream);
  ck_assert_uint_eq(fwrite(text, 1, size, stream), size);
  ck_assert_int_eq(fclose(stream), 0);
  return tfrt_cluster_file_load(path, &file);
}

static tfrt_status_t load(const char* text) { return load_bytes(text, strlen(text)); }

static void expect_loaded(const char* text) {
  tfrt_status_t status = load(text);
  ck_assert_msg(!status, "%s: %s", text, tfrt_status_message(status));
}

// Checks that |status| (consumed) begins with the file and |message|.
static void expect_at(tfrt_status_t status, const char* message) {
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  const char* said = tfrt_status_message(status);
  size_t size = strlen(path);
  bool is_it =
      strncmp(said, path, size) == 0 && strncmp(said + size, message, strlen(message)) == 0;
  ck_assert_msg(is_it, "'%s' is not 'FILE%s'", said, message);
  tfrt_status_release(status);
}

static void expect_error(const char* text, const char* message) {
  expect_at(load(text), message);
  tfrt_cluster_file_free(&file);
}

// --- What flags get ------------------------------------------------------------------

static const char* hosts;
static const char* output;
static int64_t threads;
static bool verbose;
static bool binds;
static tfrt_flag_list_t arguments;
static const tfrt_flag_t flags[] = {
    {"hosts", TFRT_FLAG_TEXT, &hosts, "A:P,B:P", "", 0, 0},
    {"o", TFRT_FLAG_TEXT, &output, "FORMAT", "", 0, 0},
    {"threads", TFRT_FLAG_NUMBER, &threads, "N", "", 1, 1024},
    {"v", TFRT_FLAG_BOOL, &verbose, NULL, "", 0, 0},
    {"bind", TFRT_FLAG_BOOL, &binds, NULL, "", 0, 0},
    {"arg", TFRT_FLAG_LIST, &arguments, "NAME=VALUE", "", 0, 0},
};
static const tfrt_flag_table_t table = {.flags = flags, .flag_count = TFRT_ARRAY_SIZE(flags)};

static tfrt_status_t apply(void) { return tfrt_cluster_file_apply(&file, &table); }

START_TEST(keys_are_flags) {
  expect_loaded(
      "%YAML 1.1\n"
      "--- # a cluster\n"
      "hosts:\n"
      "  - a:1\n"
      "  - unix:/x\n"
      "local: 3   # of a flag that is not in the table\n"
      "\"v\": 'true'\n"
      "bind: true\n"
      "arg: [x=1, 'y=a, b']\n"
      "threads: 4\n"
      "...\n"
      "# the end\n");
  ck_assert_ptr_null(apply());
  ck_assert_str_eq(hosts, "a:1,unix:/x");
  ck_assert_int_eq(threads, 4);
  ck_assert(verbose);
  ck_assert(binds);
  ck_assert_uint_eq(arguments.count, 2);
  ck_assert_str_eq(arguments.values[1], "y=a, b");
  tfrt_cluster_file_free(&file);
}
END_TEST

START_TEST(a_wrong_value_is_said_with_its_line) {
  static const char* const texts[][2] = {
      {"hosts: [a:1]\nthreads: none\n", ":2: --threads wants a number from 1 to 1024, not 'none'"},
      {"threads: 1025\n", ":1: --threads wants a number from 1 to 1024, not '1025'"},
      {"# none\n\n\"threads\":\n", ":3: --threads wants a number"},
      {"{local: 1,\n threads: 0}\n", ":2: --threads wants a number"},
      {"local: 2\nbind: yes\n", ":2: --bind wants true or false, not 'yes'"},
      {"o: |\n  threads: 1\n  x\nv: maybe\n", ":4: --v wants true or false, not 'maybe'"},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(texts); ++i) {
    expect_loaded(texts[i][0]);
    expect_at(apply(), texts[i][1]);
    tfrt_cluster_file_free(&file);
  }
}
END_TEST

START_TEST(what_is_found_wrong_later_has_a_line_too) {
  expect_loaded("threads: 2\no: xml\n");
  ck_assert_ptr_null(apply());
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "no such format");
  status = tfrt_cluster_file_locate(&file, "xml", status);
  ck_assert_str_eq(tfrt_status_message(status), "no such format");
  status = tfrt_cluster_file_locate(&file, output, status);
  char message[sizeof(path) + 64];
  snprintf(message, sizeof(message), "--cluster: %s:2: no such format", path);
  ck_assert_str_eq(tfrt_status_message(status), message);
  tfrt_status_release(status);
  ck_assert_ptr_null(tfrt_cluster_file_locate(&file, output, NULL));
  tfrt_cluster_file_free(&file);
}
END_TEST

// --- What is no cluster file ---------------------------------------------------------

START_TEST(hosts_are_addresses) {
  expect_error("threads: 1\nhosts:\n  - a:1\n  - b\n", ":4: 'b' is no HOST:PORT with a port");
  expect_error("hosts:\n  - a:1\n\n  - b:65536\n", ":4: 'b:65536' is no HOST:PORT");
  expect_error("hosts: [a:1,\n  b:0]\n", ":2: 'b:0' is no HOST:PORT");
  expect_error("hosts:\n  - '[::1:4'\n", ":2: '[::1:4': brackets stand around an IPv6 address");
  expect_error("hosts:\n  -\n", ":2: this is no address");
  expect_error("hosts:\n  - a:1,b:2\n", ":2: 'a:1,b:2' is no HOST:PORT; give each worker a line");
  expect_error("hosts:\n  - a:1\n  - a:1\n", ":3: a:1 stands in line 2 already");
  expect_error("threads: 1\nhosts: []\n", ":2: hosts names no worker");
}
END_TEST

START_TEST(keys_are_known_and_stand_once) {
  expect_error("local: 1\n# or\nthreds: 2\n", ":3: there is no key 'threds'; the keys are");
  expect_error("threads: 1\nlocal: 1\nthreads: 2\n", ":3: threads stands in line 1 already");
  expect_error("local: 1\nrank: 0\n",
               ":2: there is no key 'rank'; the keys are the flags of tfrt run and tfrt_worker, "
               "without cluster and those that are one process's own: listen, name, pid-file, "
               "rank, ready-file, stop-with-stdin");
  expect_error("hosts: [a:1]\nhosts: [b:1]\n", ":2: hosts stands in line 1 already");
  expect_error("threads: 1\n? [a]\n: 2\n", ":2: a key wants one value, and here is a list");
}
END_TEST

START_TEST(values_are_what_their_key_takes) {
  expect_error("threads: 1\nhosts: a:1\n", ":2: hosts wants a list, a line - VALUE for each, and");
  expect_error("hosts:\n  - a:1\n  - [b:1]\n", ":3: hosts wants one value, and here is a list");
  expect_error("hosts:\n  - a: 1\n", ":2: hosts wants one value, and here is a mapping");
  expect_error("threads:\n  - 1\n", ":2: threads wants one value, and here is a list");
  expect_error("threads: {a: 1}\n", ":1: threads wants one value, and here is a mapping");
  expect_error("o: &a x\nworker: *a\n", ":2: worker wants one value, and here is an alias");
  expect_error("arg:\n  - x=1\n  - y\n", ":3: arg wants NAME=VALUE or POSITION=VALUE, not 'y'");
  expect_error("threads: 1\no: \"a\\0b\"\n", ":2: the value of o has a zero byte in it");
}
END_TEST

START_TEST(a_file_is_one_mapping) {
  expect_error("", ":1: the file is empty");
  expect_error("# only\n\n", ":3: the file is empty");
  expect_error("- a\n", ":1: the file wants lines KEY: VALUE, and here is a list");
  expect_error("null\n", ":1: the file wants lines KEY: VALUE, and here is one value");
  expect_error("local: 1\n---\nlocal: 2\n", ":2: a second document begins here");
  expect_error("---\nlocal: 1\n...\n---\n", ":4: a second document begins here");
}
END_TEST

START_TEST(what_is_no_yaml_is_said_with_its_line) {
  expect_error("local: 1\n\tthreads: 2\n", ":2: this is no YAML: ");
  expect_error("local: 1\narg: [a=1\n]]\n", ":3: this is no YAML: ");
  expect_error("local: 1\no: \xff\xfe\n", ":1: this is no YAML: ");
  expect_error("local: 1\n...\ngarbage: 1\n", ":3: this is no YAML: ");
  expect_at(load_bytes("local: 1\no: a\0b\n", 16), ":");
  tfrt_cluster_file_free(&file);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* files = tcase_create("cluster files");
  tcase_add_test(files, keys_are_flags);
  tcase_add_test(files, a_wrong_value_is_said_with_its_line);
  tcase_add_test(files, what_is_found_wrong_later_has_a_line_too);
  tcase_add_test(files, hosts_are_addresses);
  tcase_add_test(files, keys_are_known_and_stand_once);
  tcase_add_test(files, values_are_what_their_key_takes);
  tcase_add_test(files, a_file_is_one_mapping);
  tcase_add_test(files, what_is_no_yaml_is_said_with_its_line);
  Suite* suite = suite_create("cluster file");
  suite_add_tcase(suite, files);
  return suite;
}
