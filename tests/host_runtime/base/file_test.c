// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

// A folder of this test's own, and paths in it.
static char folder[64];
static char path[128];

static const char* in_folder(const char* name) {
  if (!folder[0]) {
    strcpy(folder, "/tmp/tfrt_file_test.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
  }
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void remove_folder(const char* file) {
  if (file) unlink(in_folder(file));
  // Fails if anything else, such as a temporary file, was left.
  ck_assert_int_eq(rmdir(folder), 0);
}

static void assert_error(tfrt_status_t status, tfrt_status_code_t code, const char* part) {
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_msg(strstr(tfrt_status_message(status), part) != NULL, "'%s' lacks '%s'",
                tfrt_status_message(status), part);
  tfrt_status_release(status);
}

START_TEST(what_is_written_is_read_again) {
  static const char text[] = "some\0bytes";
  tfrt_file_contents_t contents;
  ck_assert_ptr_null(tfrt_file_write(in_folder("a"), text, sizeof text));
  ck_assert_ptr_null(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  ck_assert_uint_eq(contents.size, sizeof text);
  ck_assert_int_eq(memcmp(contents.data, text, sizeof text), 0);
  ck_assert_uint_eq((uintptr_t)contents.data % 8, 0);
  ck_assert_int_eq(contents.data[contents.size], 0);
  tfrt_file_contents_deinitialize(&contents);
  remove_folder("a");
}
END_TEST

START_TEST(a_second_write_replaces_the_first_and_obeys_the_umask) {
  umask(027);
  ck_assert_ptr_null(tfrt_file_write(in_folder("a"), "long text", 9));
  ck_assert_ptr_null(tfrt_file_write(path, "", 0));
  tfrt_file_contents_t contents;
  ck_assert_ptr_null(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  ck_assert_uint_eq(contents.size, 0);
  ck_assert_ptr_nonnull(contents.data);
  tfrt_file_contents_deinitialize(&contents);
  struct stat info;
  ck_assert_int_eq(stat(path, &info), 0);
  ck_assert_uint_eq(info.st_mode & 0777, 0640);
  remove_folder("a");
}
END_TEST

START_TEST(errors_name_the_path_and_the_reason) {
  tfrt_file_contents_t contents;
  assert_error(tfrt_file_read(in_folder("none"), tfrt_allocator_system(), &contents),
               TFRT_STATUS_NOT_FOUND, "/none: No such file or directory");
  ck_assert_ptr_null(contents.data);
  assert_error(tfrt_file_read(folder, tfrt_allocator_system(), &contents),
               TFRT_STATUS_INVALID_ARGUMENT, "Is a directory");
  assert_error(tfrt_file_read("", tfrt_allocator_system(), &contents), TFRT_STATUS_NOT_FOUND,
               "can't open '' (an empty name): No such file or directory");
  assert_error(tfrt_file_write(in_folder("no/such"), "", 0), TFRT_STATUS_NOT_FOUND, "no/such");
  remove_folder(NULL);
}
END_TEST

START_TEST(a_write_that_fails_leaves_nothing_behind) {
  ck_assert_int_eq(mkdir(in_folder("taken"), 0700), 0);
  tfrt_status_t status = tfrt_file_write(path, "x", 1);
  assert_error(status, TFRT_STATUS_INVALID_ARGUMENT, "can't replace");
  ck_assert_int_eq(rmdir(path), 0);
  remove_folder(NULL);
}
END_TEST

START_TEST(a_path_without_room_for_a_name_beside_it_is_refused_as_a_whole) {
  char deep[PATH_MAX - 8];
  for (size_t i = 0; i < sizeof deep - 1; ++i) deep[i] = i % 2 ? '/' : '.';
  memcpy(deep + sizeof deep - 3, "/a", 3);
  ck_assert_int_ne(access("a", F_OK), 0);
  assert_error(tfrt_file_write(deep, "x", 1), TFRT_STATUS_INVALID_ARGUMENT,
               "can't create a file beside ./././");
  ck_assert_int_ne(access("a", F_OK), 0);
}
END_TEST

START_TEST(what_could_not_be_written_is_known_before) {
  ck_assert_ptr_null(tfrt_file_check_writable(in_folder("new")));
  ck_assert_ptr_null(tfrt_file_check_writable("in_the_current_folder"));
  ck_assert_ptr_null(tfrt_file_check_writable("/dev/full"));
  ck_assert_int_ne(access(in_folder("new"), F_OK), 0);
  assert_error(tfrt_file_check_writable(in_folder("no/such")), TFRT_STATUS_NOT_FOUND, "no/such");
  assert_error(tfrt_file_check_writable(folder), TFRT_STATUS_INVALID_ARGUMENT, "Is a directory");
  assert_error(tfrt_file_check_writable("nobody://a"), TFRT_STATUS_INVALID_ARGUMENT,
               "there is no file system 'nobody'");
  ck_assert_int_eq(symlink("nothing", in_folder("link")), 0);
  ck_assert_ptr_null(tfrt_file_check_writable(path));
  remove_folder("link");
}
END_TEST

START_TEST(what_is_no_regular_file_is_written_to_and_not_replaced) {
  ck_assert_int_eq(symlink("/dev/null", in_folder("link")), 0);
  ck_assert_ptr_null(tfrt_file_write(path, "x", 1));
  struct stat info;
  ck_assert_int_eq(lstat(path, &info), 0);
  ck_assert(S_ISLNK(info.st_mode));
  ck_assert_int_eq(unlink(path), 0);
  ck_assert_int_eq(symlink("/dev/full", path), 0);
  assert_error(tfrt_file_write(path, "x", 1), TFRT_STATUS_RESOURCE_EXHAUSTED,
               "No space left on device");
  ck_assert_int_eq(stat(path, &info), 0);
  ck_assert(S_ISCHR(info.st_mode));
  remove_folder("link");
}
END_TEST

START_TEST(a_file_that_is_too_big_for_the_budget_is_an_error) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 1000);
  char text[2000] = {0};
  ck_assert_ptr_null(tfrt_file_write(in_folder("a"), text, sizeof text));
  tfrt_file_contents_t contents;
  assert_error(tfrt_file_read(path, tfrt_counting_allocator_interface(&books), &contents),
               TFRT_STATUS_RESOURCE_EXHAUSTED, "2002 bytes");
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
  remove_folder("a");
}
END_TEST

START_TEST(a_file_longer_than_what_is_asked_for_is_an_error_that_names_the_limit) {
  ck_assert_ptr_null(tfrt_file_write(in_folder("a"), "12345", 5));
  tfrt_file_contents_t contents;
  ck_assert_ptr_null(tfrt_file_read_at_most(path, 5, tfrt_allocator_system(), &contents));
  ck_assert_uint_eq(contents.size, 5);
  tfrt_file_contents_deinitialize(&contents);
  assert_error(tfrt_file_read_at_most(path, 4, tfrt_allocator_system(), &contents),
               TFRT_STATUS_INVALID_ARGUMENT, "it has more than 4 bytes, the most that a file");
  ck_assert_ptr_null(contents.data);
  remove_folder("a");
}
END_TEST

// An endless file is read no further than the limit, and takes no more memory than the limit.
START_TEST(a_device_without_an_end_is_an_error) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 3 * 100000);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  tfrt_file_contents_t contents;
  assert_error(tfrt_file_read_at_most("/dev/zero", 100000, allocator, &contents),
               TFRT_STATUS_INVALID_ARGUMENT, "can't read /dev/zero: it has more than 100000 bytes");
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
  assert_error(tfrt_file_read("/dev/zero", tfrt_allocator_system(), &contents),
               TFRT_STATUS_INVALID_ARGUMENT,
               "can't read /dev/zero: it has more than 1073741824 bytes, the most that is read of "
               "a pipe or a device");
  ck_assert_ptr_null(contents.data);
}
END_TEST

START_TEST(the_standard_input_is_read_to_its_end) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i) {
      char block[1000];
      memset(block, 'a' + i % 26, sizeof block);
      if (write(ends[1], block, sizeof block) != sizeof block) _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  tfrt_file_contents_t contents;
  ck_assert_ptr_null(tfrt_file_read("-", tfrt_allocator_system(), &contents));
  ck_assert_uint_eq(contents.size, 100000);
  ck_assert_int_eq(contents.data[99999], 'a' + 99 % 26);
  tfrt_file_contents_deinitialize(&contents);
}
END_TEST

// A file of |size| bytes, each its place in the file.
static uint8_t byte_at(size_t place) { return (uint8_t)(place * 31 + place / 4096); }

static void write_large(const char* name, size_t size) {
  uint8_t* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  for (size_t i = 0; i < size; ++i) bytes[i] = byte_at(i);
  ck_assert_ptr_null(tfrt_file_write(in_folder(name), bytes, size));
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
}

static void assert_large(const tfrt_file_contents_t* contents, size_t size) {
  ck_assert_uint_eq(contents->size, size);
  size_t equal = 0;
  while (equal < size && contents->data[equal] == byte_at(equal)) ++equal;
  ck_assert_uint_eq(equal, size);
  ck_assert_int_eq(contents->data[size], 0);
}

// Ends in the middle of a page, and with one.
START_TEST(a_large_file_is_mapped_and_reads_the_same_after_its_memory_was_taken) {
  static const size_t sizes[] = {TFRT_FILE_SMALLEST_MAPPED + 12345, 2 * TFRT_FILE_SMALLEST_MAPPED};
  for (int i = 0; i < 2; ++i) {
    tfrt_file_contents_t contents;
    write_large("a", sizes[i]);
    ck_assert_ptr_null(tfrt_file_map(path, sizes[i], tfrt_allocator_system(), &contents));
    ck_assert(contents.is_mapped);
    assert_large(&contents, sizes[i]);
    tfrt_file_contents_unload(&contents, contents.data + 1, sizes[i] - 1);
    tfrt_file_contents_unload(&contents, contents.data + 100, 100);
    // The name is another file's now.
    write_large("a", 10);
    assert_large(&contents, sizes[i]);
    tfrt_file_contents_deinitialize(&contents);
  }
  remove_folder("a");
}
END_TEST

START_TEST(a_file_that_is_small_or_written_by_others_is_read) {
  tfrt_file_contents_t contents;
  write_large("a", TFRT_FILE_SMALLEST_MAPPED - 1);
  ck_assert_ptr_null(
      tfrt_file_map(path, TFRT_FILE_SMALLEST_MAPPED, tfrt_allocator_system(), &contents));
  ck_assert(!contents.is_mapped);
  tfrt_file_contents_unload(&contents, contents.data, contents.size);
  assert_large(&contents, TFRT_FILE_SMALLEST_MAPPED - 1);
  tfrt_file_contents_deinitialize(&contents);
  write_large("a", TFRT_FILE_SMALLEST_MAPPED);
  ck_assert_int_eq(chmod(path, 0620), 0);
  ck_assert_ptr_null(
      tfrt_file_map(path, TFRT_FILE_SMALLEST_MAPPED, tfrt_allocator_system(), &contents));
  ck_assert(!contents.is_mapped);
  assert_large(&contents, TFRT_FILE_SMALLEST_MAPPED);
  tfrt_file_contents_deinitialize(&contents);
  remove_folder("a");
}
END_TEST

START_TEST(a_file_that_is_open_to_write_is_read) {
  tfrt_file_contents_t contents;
  write_large("a", TFRT_FILE_SMALLEST_MAPPED);
  int writer = open(path, O_WRONLY);
  ck_assert_int_ge(writer, 0);
  ck_assert_ptr_null(
      tfrt_file_map(path, TFRT_FILE_SMALLEST_MAPPED, tfrt_allocator_system(), &contents));
  ck_assert(!contents.is_mapped);
  ck_assert_int_eq(ftruncate(writer, 0), 0);
  assert_large(&contents, TFRT_FILE_SMALLEST_MAPPED);
  close(writer);
  tfrt_file_contents_deinitialize(&contents);
  remove_folder("a");
}
END_TEST

START_TEST(what_can_not_be_mapped_is_the_error_of_reading) {
  tfrt_file_contents_t contents;
  write_large("a", TFRT_FILE_SMALLEST_MAPPED);
  assert_error(
      tfrt_file_map(path, TFRT_FILE_SMALLEST_MAPPED - 1, tfrt_allocator_system(), &contents),
      TFRT_STATUS_INVALID_ARGUMENT, "it has more than 262143 bytes");
  assert_error(tfrt_file_map(in_folder("b"), 1, tfrt_allocator_system(), &contents),
               TFRT_STATUS_NOT_FOUND, "/b: No such file or directory");
  remove_folder("a");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("file");
  tcase_add_test(tests, what_is_written_is_read_again);
  tcase_add_test(tests, a_second_write_replaces_the_first_and_obeys_the_umask);
  tcase_add_test(tests, errors_name_the_path_and_the_reason);
  tcase_add_test(tests, a_write_that_fails_leaves_nothing_behind);
  tcase_add_test(tests, a_path_without_room_for_a_name_beside_it_is_refused_as_a_whole);
  tcase_add_test(tests, what_could_not_be_written_is_known_before);
  tcase_add_test(tests, what_is_no_regular_file_is_written_to_and_not_replaced);
  tcase_add_test(tests, a_file_that_is_too_big_for_the_budget_is_an_error);
  tcase_add_test(tests, a_file_longer_than_what_is_asked_for_is_an_error_that_names_the_limit);
  tcase_add_test(tests, a_device_without_an_end_is_an_error);
  tcase_add_test(tests, the_standard_input_is_read_to_its_end);
  tcase_add_test(tests, a_large_file_is_mapped_and_reads_the_same_after_its_memory_was_taken);
  tcase_add_test(tests, a_file_that_is_small_or_written_by_others_is_read);
  tcase_add_test(tests, a_file_that_is_open_to_write_is_read);
  tcase_add_test(tests, what_can_not_be_mapped_is_the_error_of_reading);
  Suite* suite = suite_create("file");
  suite_add_tcase(suite, tests);
  return suite;
}
