// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/status.h"

#include <string.h>

#include "tests/fakes/failing_malloc.h"
#include "tests/support/test_main.h"

static void assert_formatted(tfrt_status_t status, const char* expected) {
  char text[256];
  size_t length = tfrt_status_format(status, text, sizeof text);
  ck_assert_str_eq(text, expected);
  ck_assert_uint_eq(length, strlen(expected));
}

START_TEST(ok_is_null_and_has_no_message) {
  ck_assert(tfrt_status_is_ok(NULL));
  ck_assert_int_eq(tfrt_status_code(NULL), TFRT_STATUS_OK);
  ck_assert_str_eq(tfrt_status_message(NULL), "");
  assert_formatted(NULL, "OK");
  ck_assert_ptr_null(tfrt_status_retain(NULL));
  ck_assert_ptr_null(tfrt_status_annotate(NULL, "context"));
  tfrt_status_release(NULL);
}
END_TEST

START_TEST(an_error_has_code_message_and_a_root_key_of_its_own) {
  tfrt_status_t a = tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no %s with %d", "file", 7);
  tfrt_status_t b = tfrt_status_create(TFRT_STATUS_NOT_FOUND, "another");
  ck_assert_int_eq(tfrt_status_code(a), TFRT_STATUS_NOT_FOUND);
  ck_assert_str_eq(tfrt_status_message(a), "no file with 7");
  ck_assert_uint_ne(tfrt_status_fields(a)->root_key, 0);
  ck_assert_uint_ne(tfrt_status_fields(a)->root_key, tfrt_status_fields(b)->root_key);
  ck_assert_uint_eq(tfrt_status_fields(a)->origin.rank, TFRT_STATUS_NO_RANK);
  ck_assert_str_eq(tfrt_status_fields(a)->origin.function, "");
  ck_assert(!tfrt_status_fields(a)->truncated);
  tfrt_status_release(a);
  tfrt_status_release(b);
}
END_TEST

START_TEST(all_fields_are_copied) {
  char message[] = "m";
  tfrt_status_fields_t fields = {
      .code = TFRT_STATUS_ABORTED,
      .message = message,
      .origin = {.rank = 3,
                 .incarnation = 9,
                 .function = "f",
                 .kernel = "k",
                 .file = "p.mlir",
                 .line = 4,
                 .column = 5},
      .root_key = 77,
      .call = 12,
      .derived = true,
      .causes = {"first", "second"},
      .cause_count = 2,
  };
  tfrt_status_t status = tfrt_status_create_from_fields(&fields);
  message[0] = 'x';
  const tfrt_status_fields_t* copy = tfrt_status_fields(status);
  ck_assert_str_eq(copy->message, "m");
  ck_assert_uint_eq(copy->origin.incarnation, 9);
  ck_assert_uint_eq(copy->root_key, 77);
  ck_assert_uint_eq(copy->call, 12);
  ck_assert(copy->derived);
  ck_assert(!copy->may_have_run);
  ck_assert_uint_eq(copy->cause_count, 2);
  ck_assert_str_eq(copy->causes[1], "second");
  assert_formatted(status, "ABORTED: m [in @f, k, p.mlir:4:5, host 3]");
  tfrt_status_release(status);
}
END_TEST

START_TEST(of_a_place_only_what_is_known_is_written) {
  tfrt_status_t bare = tfrt_status_create(TFRT_STATUS_ABORTED, "m");
  tfrt_status_origin_t origin = {.rank = TFRT_STATUS_NO_RANK, .file = "main.c", .line = 4};
  tfrt_status_t status = tfrt_status_with_origin(bare, &origin);
  assert_formatted(status, "ABORTED: m [in main.c:4]");
  tfrt_status_release(status);
  origin.line = 0;
  status = tfrt_status_with_origin(bare, &origin);
  assert_formatted(status, "ABORTED: m [in main.c]");
  tfrt_status_release(status);
  tfrt_status_release(bare);
}
END_TEST

START_TEST(the_first_origin_stays) {
  tfrt_status_t bare = tfrt_status_create(TFRT_STATUS_INTERNAL, "x");
  tfrt_status_origin_t first = {.rank = TFRT_STATUS_NO_RANK, .kernel = "add"};
  tfrt_status_origin_t second = {.rank = 1, .kernel = "later"};
  tfrt_status_t known = tfrt_status_with_origin(bare, &first);
  ck_assert_ptr_ne(known, bare);
  ck_assert_uint_eq(tfrt_status_fields(known)->root_key, tfrt_status_fields(bare)->root_key);
  tfrt_status_t same = tfrt_status_with_origin(known, &second);
  ck_assert_ptr_eq(same, known);
  assert_formatted(same, "INTERNAL: x [in add]");
  tfrt_status_release(bare);
  tfrt_status_release(known);
  tfrt_status_release(same);
}
END_TEST

START_TEST(a_host_alone_is_no_place_and_gives_way_to_one) {
  tfrt_status_fields_t fields = {
      .code = TFRT_STATUS_UNAVAILABLE, .message = "lost", .origin = {.rank = 4}};
  tfrt_status_t of_host = tfrt_status_create_from_fields(&fields);
  assert_formatted(of_host, "UNAVAILABLE: lost [in host 4]");
  tfrt_status_origin_t place = {.rank = 0, .file = "main.mlir", .line = 7};
  tfrt_status_t located = tfrt_status_with_origin(of_host, &place);
  assert_formatted(located, "UNAVAILABLE: lost [in main.mlir:7, host 0]");
  tfrt_status_release(of_host);
  tfrt_status_release(located);
}
END_TEST

START_TEST(annotations_go_in_front_and_keep_the_rest) {
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_DATA_LOSS, "bad byte");
  uint64_t key = tfrt_status_fields(status)->root_key;
  status = tfrt_status_take_annotate(status, "reading %s", "a.bef");
  ck_assert_str_eq(tfrt_status_message(status), "reading a.bef: bad byte");
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_DATA_LOSS);
  ck_assert_uint_eq(tfrt_status_fields(status)->root_key, key);
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_long_message_is_cut_at_a_whole_character) {
  char message[2000];
  memset(message, 'a', sizeof message);
  message[sizeof message - 1] = '\0';
  // A character of two bytes lies across the limit.
  memcpy(message + TFRT_STATUS_MAX_TEXT_SIZE - 1, "\xc3\xa4", 2);
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INTERNAL, "%s", message);
  ck_assert_uint_eq(strlen(tfrt_status_message(status)), TFRT_STATUS_MAX_TEXT_SIZE - 1);
  ck_assert(tfrt_status_fields(status)->truncated);
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_message_of_exactly_the_limit_is_not_cut) {
  char message[TFRT_STATUS_MAX_TEXT_SIZE + 1];
  memset(message, 'a', sizeof message);
  message[sizeof message - 1] = '\0';
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INTERNAL, "%s", message);
  ck_assert_str_eq(tfrt_status_message(status), message);
  ck_assert(!tfrt_status_fields(status)->truncated);
  status = tfrt_status_take_annotate(status, "c");
  ck_assert_uint_eq(strlen(tfrt_status_message(status)), TFRT_STATUS_MAX_TEXT_SIZE);
  ck_assert(tfrt_status_fields(status)->truncated);
  tfrt_status_release(status);
}
END_TEST

START_TEST(fields_from_outside_are_brought_into_range) {
  tfrt_status_fields_t fields = {
      .code = (tfrt_status_code_t)99, .causes = {"a", "b", "c", "d"}, .cause_count = 50};
  tfrt_status_t status = tfrt_status_create_from_fields(&fields);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNKNOWN);
  ck_assert_uint_eq(tfrt_status_fields(status)->cause_count, TFRT_STATUS_MAX_CAUSES);
  ck_assert(tfrt_status_fields(status)->truncated);
  ck_assert_str_eq(tfrt_status_message(status), "");
  tfrt_status_release(status);
}
END_TEST

START_TEST(formatting_into_too_little_room_is_cut_and_tells_the_length) {
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INTERNAL, "message");
  char text[6];
  ck_assert_uint_eq(tfrt_status_format(status, text, sizeof text), 17);
  ck_assert_str_eq(text, "INTER");
  ck_assert_uint_eq(tfrt_status_format(status, NULL, 0), 17);
  tfrt_status_release(status);
}
END_TEST

START_TEST(code_names_are_those_of_grpc) {
  ck_assert_str_eq(tfrt_status_code_name(TFRT_STATUS_OK), "OK");
  ck_assert_str_eq(tfrt_status_code_name(TFRT_STATUS_UNAVAILABLE), "UNAVAILABLE");
  ck_assert_str_eq(tfrt_status_code_name(TFRT_STATUS_UNAUTHENTICATED), "UNAUTHENTICATED");
  ck_assert_str_eq(tfrt_status_code_name((tfrt_status_code_t)17), "UNKNOWN");
  ck_assert_str_eq(tfrt_status_code_name((tfrt_status_code_t)-1), "UNKNOWN");
}
END_TEST

START_TEST(without_memory_an_error_is_the_immortal_one) {
  tfrt_failing_malloc_arm(0);
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_NOT_FOUND, "lost");
  int64_t failures = tfrt_failing_malloc_disarm();
  ck_assert_int_eq(failures, 1);
  ck_assert_ptr_eq(status, tfrt_status_out_of_memory());
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_uint_ne(tfrt_status_fields(status)->root_key, 0);
  tfrt_status_release(status);
  tfrt_status_release(status);
  ck_assert_str_eq(tfrt_status_message(status), "memory is out");
}
END_TEST

START_TEST(without_memory_an_annotated_error_stays_as_it_is) {
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_NOT_FOUND, "lost");
  tfrt_status_origin_t origin = {.rank = 1};
  tfrt_failing_malloc_arm(0);
  tfrt_status_t annotated = tfrt_status_annotate(status, "context");
  tfrt_status_t located = tfrt_status_with_origin(status, &origin);
  ck_assert_int_eq(tfrt_failing_malloc_disarm(), 2);
  ck_assert_ptr_eq(annotated, status);
  ck_assert_ptr_eq(located, status);
  tfrt_status_release(annotated);
  tfrt_status_release(located);
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("status");
  tcase_add_test(tests, ok_is_null_and_has_no_message);
  tcase_add_test(tests, an_error_has_code_message_and_a_root_key_of_its_own);
  tcase_add_test(tests, all_fields_are_copied);
  tcase_add_test(tests, the_first_origin_stays);
  tcase_add_test(tests, a_host_alone_is_no_place_and_gives_way_to_one);
  tcase_add_test(tests, of_a_place_only_what_is_known_is_written);
  tcase_add_test(tests, annotations_go_in_front_and_keep_the_rest);
  tcase_add_test(tests, a_long_message_is_cut_at_a_whole_character);
  tcase_add_test(tests, a_message_of_exactly_the_limit_is_not_cut);
  tcase_add_test(tests, fields_from_outside_are_brought_into_range);
  tcase_add_test(tests, formatting_into_too_little_room_is_cut_and_tells_the_length);
  tcase_add_test(tests, code_names_are_those_of_grpc);
  tcase_add_test(tests, without_memory_an_error_is_the_immortal_one);
  tcase_add_test(tests, without_memory_an_annotated_error_stays_as_it_is);
  Suite* suite = suite_create("status");
  suite_add_tcase(suite, tests);
  return suite;
}
