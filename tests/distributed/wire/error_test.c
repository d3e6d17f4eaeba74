// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/value.h"

#include <string.h>

#include "distributed/wire/codec.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static tfrt_arena_t arena;

static void set_up(void) { tfrt_arena_initialize(&arena, tfrt_allocator_system()); }
static void tear_down(void) { tfrt_arena_deinitialize(&arena); }

static void assert_view(tfrt_string_view_t view, const char* text) {
  ck_assert_msg(tfrt_string_view_equal(view, tfrt_string_view_of(text)), "\"%.*s\" is not \"%s\"",
                TFRT_STRING_VIEW_ARGUMENTS(view), text);
}

START_TEST(all_that_an_error_says_crosses) {
  tfrt_status_fields_t fields = {
      .code = TFRT_STATUS_UNAVAILABLE,
      .message = "host 2 is gone",
      .origin = {.rank = 2,
                 .incarnation = 77,
                 .function = "classify",
                 .kernel = "tfrt.call",
                 .file = "mnist.mlir",
                 .line = 17,
                 .column = 8},
      .root_key = 99,
      .call = 5,
      .derived = true,
      .may_have_run = true,
      .truncated = true,
      .causes = {"one", "two"},
      .cause_count = 2,
  };
  tfrt_status_t sent = tfrt_status_create_from_fields(&fields);
  tfrt_wire_error_t error;
  ck_assert_ptr_null(tfrt_wire_error_from_status(sent, 1, 11, &arena, &error));
  tfrt_status_t got = tfrt_wire_error_to_status(&error);
  const tfrt_status_fields_t* copy = tfrt_status_fields(got);
  ck_assert_int_eq(copy->code, fields.code);
  ck_assert_str_eq(copy->message, fields.message);
  ck_assert_uint_eq(copy->origin.rank, 2);
  ck_assert_uint_eq(copy->origin.incarnation, 77);
  ck_assert_str_eq(copy->origin.function, "classify");
  ck_assert_str_eq(copy->origin.kernel, "tfrt.call");
  ck_assert_str_eq(copy->origin.file, "mnist.mlir");
  ck_assert_uint_eq(copy->origin.line, 17);
  ck_assert_uint_eq(copy->origin.column, 8);
  ck_assert_uint_eq(copy->root_key, 99);
  ck_assert_uint_eq(copy->call, 5);
  ck_assert(copy->derived && copy->may_have_run && copy->truncated);
  ck_assert_uint_eq(copy->cause_count, 2);
  ck_assert_str_eq(copy->causes[0], "one");
  ck_assert_str_eq(copy->causes[1], "two");
  tfrt_status_release(got);
  tfrt_status_release(sent);
}
END_TEST

START_TEST(this_process_becomes_the_sender) {
  tfrt_status_t sent = tfrt_status_create(TFRT_STATUS_INTERNAL, "here");
  tfrt_wire_error_t error;
  ck_assert_ptr_null(tfrt_wire_error_from_status(sent, 3, 33, &arena, &error));
  ck_assert_uint_eq(error.origin->rank, 3);
  ck_assert_uint_eq(error.origin->incarnation, 33);
  ck_assert(error.root_key != 0);
  ck_assert(error.root_key == tfrt_status_fields(sent)->root_key);
  tfrt_status_release(sent);
}
END_TEST

START_TEST(a_long_text_is_cut_between_characters) {
  // 1,023 bytes, then a character of three bytes across the limit.
  char text[1100];
  memset(text, 'x', sizeof(text));
  memcpy(text + 1023, "\xe2\x82\xac", 3);
  text[sizeof(text) - 1] = '\0';
  tfrt_wire_error_t long_error = {.code = TFRT_STATUS_INTERNAL};
  tfrt_status_fields_t fields = {.code = TFRT_STATUS_INTERNAL, .message = text};
  tfrt_status_t sent = tfrt_status_create_from_fields(&fields);
  ck_assert_ptr_null(tfrt_wire_error_from_status(sent, 0, 1, &arena, &long_error));
  // A status may keep less than the wire would.
  ck_assert_uint_le(long_error.message.size, 1024);
  ck_assert(long_error.truncated);
  ck_assert_uint_eq(tfrt_wire_utf8_prefix(long_error.message), long_error.message.size);
  ck_assert_ptr_null(tfrt_wire_encode_check(&tfrt_wire_error_message, &long_error));
  tfrt_status_release(sent);
}
END_TEST

START_TEST(bytes_that_are_no_text_become_question_marks) {
  tfrt_status_t sent = tfrt_status_create(TFRT_STATUS_INTERNAL,
                                          "a\xff\xfe"
                                          "b\xe2\x82\xac\x80");
  tfrt_wire_error_t error;
  ck_assert_ptr_null(tfrt_wire_error_from_status(sent, 0, 1, &arena, &error));
  assert_view(error.message, "a??b\xe2\x82\xac?");
  tfrt_status_release(sent);
}
END_TEST

START_TEST(the_longest_error_fits_its_limit) {
  char text[2000];
  memset(text, 'x', sizeof(text));
  text[sizeof(text) - 1] = '\0';
  tfrt_status_fields_t fields = {
      .code = TFRT_STATUS_UNAUTHENTICATED,
      .message = text,
      .origin = {.rank = 5,
                 .incarnation = UINT64_MAX,
                 .function = text,
                 .kernel = text,
                 .file = text,
                 .line = UINT32_MAX,
                 .column = UINT32_MAX},
      .root_key = UINT64_MAX,
      .call = TFRT_WIRE_MAX_NUMBER,
      .derived = true,
      .may_have_run = true,
      .causes = {text, text, text, text},
      .cause_count = 4,
  };
  tfrt_status_t sent = tfrt_status_create_from_fields(&fields);
  tfrt_wire_error_t error;
  ck_assert_ptr_null(tfrt_wire_error_from_status(sent, 0, 1, &arena, &error));
  ck_assert(error.truncated);
  tfrt_status_t status = tfrt_wire_encode_check(&tfrt_wire_error_message, &error);
  ck_assert_msg(status == NULL, "%s", tfrt_status_message(status));
  ck_assert_uint_le(tfrt_wire_encoded_size(&tfrt_wire_error_message, &error),
                    TFRT_WIRE_MAX_ERROR_SIZE);
  tfrt_status_t got = tfrt_wire_error_to_status(&error);
  ck_assert_uint_eq(tfrt_status_fields(got)->cause_count, 4);
  tfrt_status_release(got);
  tfrt_status_release(sent);
}
END_TEST

START_TEST(codes_that_nobody_knows_become_unknown) {
  static const uint32_t codes[] = {0, 17, UINT32_MAX};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(codes); ++i) {
    tfrt_wire_error_t error = {.code = codes[i]};
    tfrt_status_t status = tfrt_wire_error_to_status(&error);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNKNOWN);
    tfrt_status_release(status);
  }
}
END_TEST

START_TEST(no_memory_is_an_error_and_leaves_nothing) {
  tfrt_counting_allocator_t accounts;
  tfrt_counting_allocator_initialize(&accounts, tfrt_allocator_system(), 0);
  tfrt_arena_t empty;
  tfrt_arena_initialize(&empty, tfrt_counting_allocator_interface(&accounts));
  tfrt_status_t sent = tfrt_status_create(TFRT_STATUS_INTERNAL, "x");
  tfrt_wire_error_t error;
  tfrt_status_t status = tfrt_wire_error_from_status(sent, 0, 1, &empty, &error);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_uint_eq(error.code, 0);
  tfrt_status_release(status);
  tfrt_status_release(sent);
  tfrt_arena_deinitialize(&empty);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* error = tcase_create("error");
  tcase_add_checked_fixture(error, set_up, tear_down);
  tcase_add_test(error, all_that_an_error_says_crosses);
  tcase_add_test(error, this_process_becomes_the_sender);
  tcase_add_test(error, a_long_text_is_cut_between_characters);
  tcase_add_test(error, bytes_that_are_no_text_become_question_marks);
  tcase_add_test(error, the_longest_error_fits_its_limit);
  tcase_add_test(error, codes_that_nobody_knows_become_unknown);
  tcase_add_test(error, no_memory_is_an_error_and_leaves_nothing);
  Suite* suite = suite_create("error");
  suite_add_tcase(suite, error);
  return suite;
}
