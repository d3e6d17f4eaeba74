// SPDX-License-Identifier: Apache-2.0
//
// Answers to AskFollow: their parts, and the text that versions before FEATURE_FOLLOW send
// survive the way there and back; what is malformed is an error.
#include "distributed/service/following.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/test_main.h"

static tfrt_string_builder_t parts;
static tfrt_string_builder_t lines;  // that were read, as "RANK:TEXT;"
static tfrt_wire_follow_part_t follow;
static char function[64];  // of |follow|

static void set_up(void) {
  tfrt_string_builder_initialize(&parts, tfrt_allocator_system());
  tfrt_string_builder_initialize(&lines, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_string_builder_deinitialize(&parts);
  tfrt_string_builder_deinitialize(&lines);
}

static void append(const tfrt_wire_answer_part_t* part) {
  ck_assert_ptr_null(tfrt_wire_answer_append(part, &parts));
}

static void append_head(void) {
  append(&(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_FOLLOW,
                                    .follow = {.state = TFRT_WIRE_DETACHED_ENDED,
                                               .function = tfrt_string_view_of("main"),
                                               .results = 2,
                                               .from = 3,
                                               .next = 6,
                                               .has_more = true}});
}

static void append_line(uint32_t rank, tfrt_string_view_t text, uint32_t rest) {
  append(&(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_LINE,
                                    .line = {.rank = rank, .text = text, .rest = rest}});
}

static void take_line(void* self, uint32_t rank, tfrt_string_view_t text) {
  (void)self;
  tfrt_string_builder_append_format(&lines, "%u:", rank);
  tfrt_string_builder_append_view(&lines, text);
  tfrt_string_builder_append_char(&lines, ';');
}

// The state comes before the lines.
static void take_state(void* self, const tfrt_wire_follow_part_t* state) {
  (void)self;
  ck_assert_uint_eq(lines.size, 0);
  follow = *state;
  snprintf(function, sizeof(function), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(state->function));
  follow.function = tfrt_string_view_of(function);
}

static const tfrt_following_reader_t reader = {NULL, take_state, take_line};

static tfrt_status_t read_parts(tfrt_string_view_t answer) {
  tfrt_string_builder_clear(&lines);
  return tfrt_following_read(TFRT_ANSWER_MESSAGE, answer, &reader);
}

static void expect_head(void) {
  ck_assert_uint_eq(follow.state, TFRT_WIRE_DETACHED_ENDED);
  ck_assert(tfrt_string_view_equal(follow.function, tfrt_string_view_of("main")));
  ck_assert_uint_eq(follow.results, 2);
  ck_assert_uint_eq(follow.from, 3);
  ck_assert_uint_eq(follow.next, 6);
  ck_assert(follow.has_more);
  ck_assert(!follow.is_loss);
}

static tfrt_status_t read_text(tfrt_string_view_t text) {
  tfrt_string_builder_clear(&lines);
  return tfrt_following_read(TFRT_ANSWER_TEXT, text, &reader);
}

// Parts become the text, and that says the same: the parts were read before.
static void expect_same_as_text(const char* expected) {
  tfrt_string_builder_t text;
  tfrt_string_builder_t before;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_initialize(&before, tfrt_allocator_system());
  tfrt_string_builder_append_view(&before, tfrt_string_builder_view(&lines));
  ck_assert_ptr_null(tfrt_follow_answerer.write_plain(tfrt_string_builder_view(&parts), &text));
  if (expected) ck_assert_str_eq(tfrt_string_builder_text(&text), expected);
  follow = (tfrt_wire_follow_part_t){0};
  ck_assert_ptr_null(read_text(tfrt_string_builder_view(&text)));
  expect_head();
  ck_assert(
      tfrt_string_view_equal(tfrt_string_builder_view(&before), tfrt_string_builder_view(&lines)));
  tfrt_string_builder_deinitialize(&text);
  tfrt_string_builder_deinitialize(&before);
}

START_TEST(state_and_lines_survive_both_ways) {
  append_head();
  append_line(1, tfrt_string_view_of("hello"), 0);
  append_line(0, tfrt_string_view_of(""), 0);
  append_line(2, tfrt_string_view_of("two\nlines"), 0);
  ck_assert_ptr_null(read_parts(tfrt_string_builder_view(&parts)));
  expect_head();
  ck_assert_str_eq(tfrt_string_builder_text(&lines), "1:hello;0:;2:two\nlines;");
  expect_same_as_text(
      "detached state=ended function=main results=2 from=3 next=6 more=1 lost=0\n"
      "1 5\nhello\n0 0\n\n2 9\ntwo\nlines\n");
}
END_TEST

START_TEST(a_long_line_travels_in_pieces_and_is_one_line) {
  static char bytes[TFRT_WIRE_MAX_LINE_SIZE * 2 + 5];
  memset(bytes, 'x', sizeof(bytes));
  append_head();
  for (size_t at = 0; at < sizeof(bytes); at += TFRT_WIRE_MAX_LINE_SIZE) {
    size_t left = sizeof(bytes) - at;
    size_t size = left < TFRT_WIRE_MAX_LINE_SIZE ? left : TFRT_WIRE_MAX_LINE_SIZE;
    append_line(1, tfrt_string_view_make(bytes + at, size), (uint32_t)(left - size));
  }
  append_line(0, tfrt_string_view_of("end"), 0);
  ck_assert_ptr_null(read_parts(tfrt_string_builder_view(&parts)));
  ck_assert_uint_eq(lines.size, sizeof(bytes) + strlen("1:;0:end;"));
  ck_assert_ptr_nonnull(strstr(tfrt_string_builder_text(&lines), "xxx;0:end;"));
  expect_same_as_text(NULL);
}
END_TEST

START_TEST(parts_of_a_later_version_are_passed_over) {
  append(&(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_DONE});
  append_head();
  tfrt_string_builder_append(&parts, "\x0a\x03\x9a\x06\x00", 5);
  append_line(0, tfrt_string_view_of("end"), 0);
  ck_assert_ptr_null(read_parts(tfrt_string_builder_view(&parts)));
  expect_head();
  ck_assert_str_eq(tfrt_string_builder_text(&lines), "0:end;");
}
END_TEST

static void expect_malformed(tfrt_status_t status) {
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
}

START_TEST(parts_that_are_no_such_answer_are_an_error) {
  // Nothing; a line without a state; a line whose end is missing; pieces that don't fit.
  expect_malformed(read_parts(tfrt_string_view_of("")));
  append_line(0, tfrt_string_view_of("end"), 0);
  expect_malformed(read_parts(tfrt_string_builder_view(&parts)));
  tfrt_string_builder_clear(&parts);
  append_head();
  append_line(0, tfrt_string_view_of("be"), 3);
  expect_malformed(read_parts(tfrt_string_builder_view(&parts)));
  append_line(0, tfrt_string_view_of("gin, and more"), 0);
  expect_malformed(read_parts(tfrt_string_builder_view(&parts)));
  ck_assert_uint_eq(lines.size, 0);
  expect_malformed(read_parts(tfrt_string_view_of("\x0a\x05zz")));
}
END_TEST

START_TEST(texts_that_are_no_such_answer_are_an_error) {
#define HEAD "detached state=ended function=main results=2 from=3 next=6 more=1 lost=0\n"
  static const char* const bad[] = {
      "",
      "cancelled",
      "detached",
      "detached state=ended function=main results=2 from=3 more=1 lost=0\n",
      "detached state=ended function=main results=-2 from=3 next=6 more=1 lost=0\n",
      "detached state=ended function=main results=4294967296 from=3 next=6 more=1 lost=0\n",
      "detached state=ended function=main results=2 from=3 next=6 more=2 lost=0\n",
      HEAD "1",
      HEAD "1 5",
      HEAD "1 5\nhell",
      HEAD "1 5\nhello",
      HEAD "1 5\nhello!\n",
      HEAD "1 99999999999\nhello\n",
      HEAD "1 18446744073709551615\nhello\n",
      HEAD "one 5\nhello\n",
      HEAD "4294967296 5\nhello\n",
      HEAD "\n",
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    tfrt_status_t status = read_text(tfrt_string_view_of(bad[i]));
    ck_assert_msg(!tfrt_status_is_ok(status), "no error: %s", bad[i]);
    expect_malformed(status);
  }
  // A name that this version doesn't know; a state that it doesn't.
  static const char later[] =
      "detached state=paused mood=good function=- results=2 from=3 next=6 more=1 lost=1\n";
  ck_assert_ptr_null(read_text(tfrt_string_view_of(later)));
  ck_assert_uint_eq(follow.state, TFRT_WIRE_DETACHED_RUNNING);
  ck_assert_uint_eq(follow.function.size, 0);
  ck_assert(follow.is_loss);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("following");
  TCase* tests = tcase_create("following");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, state_and_lines_survive_both_ways);
  tcase_add_test(tests, a_long_line_travels_in_pieces_and_is_one_line);
  tcase_add_test(tests, parts_of_a_later_version_are_passed_over);
  tcase_add_test(tests, parts_that_are_no_such_answer_are_an_error);
  tcase_add_test(tests, texts_that_are_no_such_answer_are_an_error);
  suite_add_tcase(suite, tests);
  return suite;
}
