// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/file_system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test_main.h"

static void fails(tfrt_status_t status, tfrt_status_code_t code, const char* part) {
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_msg(strstr(tfrt_status_message(status), part) != NULL, "'%s' lacks '%s'",
                tfrt_status_message(status), part);
  tfrt_status_release(status);
}

// A file system with one file, whose name is what was written last; it reads as its name, twice.
static char written[16];

static tfrt_status_t echo_read(const char* path, tfrt_file_contents_t* out_contents) {
  if (strcmp(path, written) != 0) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "there is no %s", path);
  }
  TFRT_RETURN_IF_ERROR(tfrt_file_contents_append(out_contents, path, strlen(path)));
  return tfrt_file_contents_append(out_contents, path, strlen(path));
}

static tfrt_status_t echo_write(const char* path, const void* data, size_t size) {
  (void)path;
  snprintf(written, sizeof(written), "%.*s", (int)size, (const char*)data);
  return NULL;
}

static const tfrt_file_system_t echo = {{"echo", "://PATH"}, echo_read, echo_write};

START_TEST(a_scheme_leads_to_the_file_system_that_was_registered_for_it) {
  ck_assert_ptr_null(tfrt_file_system_register(&echo));
  ck_assert_ptr_null(tfrt_file_system_register(&echo));
  ck_assert_ptr_null(tfrt_file_write("echo://x", "a/b", 3));
  tfrt_file_contents_t contents;
  ck_assert_ptr_null(tfrt_file_read("echo://a/b", tfrt_allocator_system(), &contents));
  ck_assert_str_eq((const char*)contents.data, "a/ba/b");
  ck_assert_uint_eq(contents.size, 6);
  tfrt_file_contents_deinitialize(&contents);
  fails(tfrt_file_read("echo://c", tfrt_allocator_system(), &contents), TFRT_STATUS_NOT_FOUND,
        "there is no c");
  ck_assert_ptr_null(contents.data);
  // Nothing is something, too.
  ck_assert_ptr_null(tfrt_file_write("echo://x", "", 0));
  ck_assert_ptr_null(tfrt_file_read("echo://", tfrt_allocator_system(), &contents));
  ck_assert_uint_eq(contents.size, 0);
  ck_assert_ptr_nonnull(contents.data);
  tfrt_file_contents_deinitialize(&contents);
}
END_TEST

START_TEST(files_of_this_machine_need_no_scheme) {
  char folder[] = "/tmp/tfrt_file_system_test.XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  char location[64];
  snprintf(location, sizeof(location), "file://%s/a", folder);
  ck_assert_ptr_null(tfrt_file_write(location, "text", 4));
  tfrt_file_contents_t contents;
  ck_assert_ptr_null(
      tfrt_file_read(location + strlen("file://"), tfrt_allocator_system(), &contents));
  ck_assert_str_eq((const char*)contents.data, "text");
  tfrt_file_contents_deinitialize(&contents);
  ck_assert_ptr_null(tfrt_file_read(location, tfrt_allocator_system(), &contents));
  ck_assert_str_eq((const char*)contents.data, "text");
  tfrt_file_contents_deinitialize(&contents);
  ck_assert_int_eq(unlink(location + strlen("file://")), 0);
  ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(an_unknown_scheme_is_refused_with_those_that_there_are) {
  tfrt_file_contents_t contents;
  fails(tfrt_file_read("gs://bucket/a", tfrt_allocator_system(), &contents),
        TFRT_STATUS_INVALID_ARGUMENT, "there is no file system 'gs'; there are file://PATH");
  fails(tfrt_file_write("gs://bucket/a", "", 0), TFRT_STATUS_INVALID_ARGUMENT, "'gs'");
}
END_TEST

START_TEST(only_a_word_before_the_separator_is_a_scheme) {
  static const struct {
    const char* location;
    bool has_scheme;
  } cases[] = {{"file:///a", true}, {"x1://", true},    {"://a", false}, {"a:/b", false},
               {"a/b://c", false},  {"./a://b", false}, {"", false},     {"a:", false},
               {"a://", true},      {"-", false},       {"a:/", false}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    ck_assert_msg(
        tfrt_file_system_has_scheme(tfrt_string_view_of(cases[i].location)) == cases[i].has_scheme,
        "%s", cases[i].location);
  }
}
END_TEST

START_TEST(a_file_system_needs_a_scheme_of_its_own_and_its_functions) {
  static const tfrt_file_system_t local = {{"file", "://PATH"}, echo_read, echo_write};
  static const tfrt_file_system_t odd = {{"a-b", "://PATH"}, echo_read, echo_write};
  static const tfrt_file_system_t bare = {{"bare", ""}, echo_read, echo_write};
  static const tfrt_file_system_t mute = {{"mute", "://PATH"}, echo_read, NULL};
  fails(tfrt_file_system_register(&local), TFRT_STATUS_ALREADY_EXISTS, "'file'");
  fails(tfrt_file_system_register(&odd), TFRT_STATUS_INVALID_ARGUMENT, "'a-b'");
  fails(tfrt_file_system_register(&bare), TFRT_STATUS_INVALID_ARGUMENT, "://PATH");
  fails(tfrt_file_system_register(&mute), TFRT_STATUS_INVALID_ARGUMENT, "'mute'");
}
END_TEST

START_TEST(one_that_is_only_read_says_so) {
  static const tfrt_file_system_t fixed = {
      {"fixed", "://PATH"}, echo_read, tfrt_file_system_refuse_write};
  ck_assert_ptr_null(tfrt_file_system_register(&fixed));
  fails(tfrt_file_write("fixed://a", "bc", 2), TFRT_STATUS_PERMISSION_DENIED,
        "can't write 2 bytes to a: this file system is only read");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("file_system");
  tcase_add_test(cases, a_scheme_leads_to_the_file_system_that_was_registered_for_it);
  tcase_add_test(cases, files_of_this_machine_need_no_scheme);
  tcase_add_test(cases, an_unknown_scheme_is_refused_with_those_that_there_are);
  tcase_add_test(cases, only_a_word_before_the_separator_is_a_scheme);
  tcase_add_test(cases, a_file_system_needs_a_scheme_of_its_own_and_its_functions);
  tcase_add_test(cases, one_that_is_only_read_says_so);
  Suite* suite = suite_create("file_system");
  suite_add_tcase(suite, cases);
  return suite;
}
