// SPDX-License-Identifier: Apache-2.0
//
// Questions and answers survive the way there and back; those of a later version are passed over;
// and what is malformed is one error that names the field.
#include "distributed/wire/service.h"

#include <string.h>

#include "tests/distributed/wire/service_samples.h"
#include "tests/support/test_main.h"

static tfrt_arena_t arena;
static tfrt_string_builder_t bytes;

static void set_up(void) {
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_string_builder_deinitialize(&bytes);
  tfrt_arena_deinitialize(&arena);
}

static void assert_ok(tfrt_status_t status) {
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

START_TEST(a_question_survives_the_way_there_and_back) {
  for (size_t i = 0; i < tfrt_wire_sample_question_count; ++i) {
    tfrt_string_builder_t again;
    tfrt_string_builder_initialize(&again, tfrt_allocator_system());
    tfrt_wire_question_t question;
    tfrt_string_builder_clear(&bytes);
    assert_ok(tfrt_wire_question_encode(&tfrt_wire_sample_questions[i], &bytes));
    assert_ok(tfrt_wire_question_decode(tfrt_string_builder_view(&bytes), &arena, &question));
    ck_assert_uint_eq(question.kind, tfrt_wire_sample_questions[i].kind);
    assert_ok(tfrt_wire_question_encode(&question, &again));
    ck_assert(
        tfrt_string_view_equal(tfrt_string_builder_view(&bytes), tfrt_string_builder_view(&again)));
    tfrt_string_builder_deinitialize(&again);
  }
}
END_TEST

START_TEST(an_answer_is_read_part_by_part) {
  for (size_t i = 0; i < tfrt_wire_sample_part_count; ++i) {
    assert_ok(tfrt_wire_answer_append(&tfrt_wire_sample_parts[i], &bytes));
  }
  tfrt_string_builder_t again;
  tfrt_string_builder_initialize(&again, tfrt_allocator_system());
  tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
  for (size_t i = 0; i < tfrt_wire_sample_part_count; ++i) {
    tfrt_wire_answer_part_t part;
    assert_ok(tfrt_wire_answer_next(&rest, &arena, &part));
    ck_assert_uint_eq(part.kind, tfrt_wire_sample_parts[i].kind);
    assert_ok(tfrt_wire_answer_append(&part, &again));
  }
  ck_assert_uint_eq(rest.size, 0);
  ck_assert(
      tfrt_string_view_equal(tfrt_string_builder_view(&bytes), tfrt_string_builder_view(&again)));
  tfrt_string_builder_deinitialize(&again);
}
END_TEST

START_TEST(every_field_arrives) {
  tfrt_wire_answer_part_t part;
  assert_ok(tfrt_wire_answer_append(&tfrt_wire_sample_parts[7], &bytes));
  tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
  assert_ok(tfrt_wire_answer_next(&rest, &arena, &part));
  const tfrt_wire_outgoing_call_part_t* call = &part.outgoing_call;
  ck_assert_int_eq(memcmp(call->job.data, "0123456789abcdef", 16), 0);
  ck_assert_uint_eq(call->callee, 0xb2);
  ck_assert_uint_eq(call->number, 3);
  ck_assert_uint_eq(call->request, 4);
  ck_assert(tfrt_string_view_equal(call->function, tfrt_string_view_of("wait")));
  ck_assert_uint_eq(call->age_us, 7);
  ck_assert(call->is_cancelled);
  ck_assert_uint_eq(call->parent->caller, 0xb2);
  ck_assert_uint_eq(call->parent->number, 9);
  ck_assert_uint_eq(call->place->line, 13);
}
END_TEST

START_TEST(parts_and_fields_of_a_later_version_are_passed_over) {
  // A part of kind 99, a DonePart, a field 2 beside the parts.
  static const char later[] = "\x0a\x03\x9a\x06\x00\x0a\x02\x72\x00\x10\x05";
  static const uint32_t kinds[] = {TFRT_WIRE_PART_UNKNOWN, TFRT_WIRE_PART_DONE,
                                   TFRT_WIRE_PART_UNKNOWN};
  tfrt_string_view_t rest = tfrt_string_view_make(later, sizeof(later) - 1);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) {
    tfrt_wire_answer_part_t part;
    assert_ok(tfrt_wire_answer_next(&rest, &arena, &part));
    ck_assert_uint_eq(part.kind, kinds[i]);
  }
  ck_assert_uint_eq(rest.size, 0);
}
END_TEST

// Bytes that a stranger may send, and the error.
typedef struct malformed_s {
  tfrt_string_view_t bytes;
  const char* error;
} malformed_t;

#define BYTES(literal) \
  { literal, sizeof(literal) - 1 }

static void assert_error(tfrt_status_t status, const char* error) {
  ck_assert_msg(!tfrt_status_is_ok(status), "no error: %s", error);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tfrt_status_message(status), error), "\"%s\" lacks \"%s\"",
                tfrt_status_message(status), error);
  tfrt_status_release(status);
}

// Counts parts, and fails at number |last|.
typedef struct counter_s {
  size_t seen;
  size_t last;
} counter_t;

static tfrt_status_t count_part(void* self, const tfrt_wire_answer_part_t* part) {
  counter_t* counter = self;
  ck_assert_uint_eq(part->kind, tfrt_wire_sample_parts[counter->seen++].kind);
  if (counter->seen < counter->last) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "enough");
}

START_TEST(each_part_is_handed_on_until_one_fails) {
  for (size_t i = 0; i < tfrt_wire_sample_part_count; ++i) {
    assert_ok(tfrt_wire_answer_append(&tfrt_wire_sample_parts[i], &bytes));
  }
  tfrt_string_view_t answer = tfrt_string_builder_view(&bytes);
  counter_t counter = {.last = SIZE_MAX};
  assert_ok(tfrt_wire_answer_each(answer, count_part, &counter));
  ck_assert_uint_eq(counter.seen, tfrt_wire_sample_part_count);
  counter = (counter_t){.last = 3};
  assert_error(tfrt_wire_answer_each(answer, count_part, &counter), "enough");
  ck_assert_uint_eq(counter.seen, 3);
  --answer.size;
  counter = (counter_t){.last = SIZE_MAX};
  assert_error(tfrt_wire_answer_each(answer, count_part, &counter), "cut off or malformed");
  ck_assert_uint_eq(counter.seen, tfrt_wire_sample_part_count - 1);
}
END_TEST

START_TEST(a_malformed_question_is_an_error_that_names_the_field) {
  static const malformed_t bad[] = {
      {BYTES(""), "Question: none of the fields is set"},
      {BYTES("\x9a\x06\x00"), "Question: none of the fields is set"},
      {BYTES("\x0a"), "Question: cut off or malformed"},
      {BYTES("\x1a\x00"), "AskCancel.job: exactly one of job and caller must be set"},
      {BYTES("\x1a\x03\x0a\x01z"), "AskCancel.job: 1 bytes, must be none or 16"},
      {BYTES("\x1a\x12\x11\x01\0\0\0\0\0\0\0\x18\xff\xff\xff\xff\xff\xff\xff\x7f"),
       "AskCancel.number: 72057594037927935 is above the limit"},
      {BYTES("\x1a\x0e\x11\x01\0\0\0\0\0\0\0\x22\x03\x0a\x01\xff"),
       "Location.function: not valid UTF-8"},
      {BYTES("\x2a\x08\x18\xff\xff\xff\xff\xff\xff\x01"), "AskRecord.milliseconds"},
      {BYTES("\x2a\x03\x12\x01z"), "AskRecord.job: 1 bytes"},
      {BYTES("\x32\x00"), "AskFollow.job: 0 bytes, must be 16"},
      {BYTES("\x32\x03\x0a\x01z"), "AskFollow.job: 1 bytes, must be 16"},
      {BYTES("\x32\x02\x08\x01"), "Question: cut off or malformed"},
      {BYTES("\x32\x02\x10\x01"), "AskFollow.job: 0 bytes"},
      {BYTES("\x32\x05\x0a\x10z"), "Question: cut off or malformed"},
      {BYTES("\x3a\x02\x10\x01"), "AskKeptResult.job: 0 bytes"},
      {BYTES("\x42\x05"), "Question: cut off or malformed"},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    tfrt_wire_question_t question;
    assert_error(tfrt_wire_question_decode(bad[i].bytes, &arena, &question), bad[i].error);
    ck_assert_uint_eq(question.kind, 0);
  }
}
END_TEST

START_TEST(a_malformed_answer_is_an_error_that_names_the_field) {
  static const malformed_t bad[] = {
      {BYTES("\x0a"), "Answer.parts: cut off or malformed"},
      {BYTES("\x0a\x05zz"), "Answer.parts: cut off or malformed"},
      {BYTES("\x00"), "Answer.parts: cut off or malformed"},
      {BYTES("\x0a\x81\x80\x04z"), "Answer.parts: cut off or malformed"},
      {BYTES("\x0a\x03zzz"), "AnswerPart: cut off or malformed"},
      {BYTES("\x0a\x02\x0a\x00"), "HostPart.incarnation: missing"},
      {BYTES("\x0a\x0e\x0a\x0c\x09\x01\0\0\0\0\0\0\0\x12\x01\xff"), "HostPart.name: not valid"},
      {BYTES("\x0a\x02\x1a\x00"), "JobPart.job: 0 bytes"},
      {BYTES("\x0a\x06\x1a\x04\x0a\x02zz"), "JobPart.job: 2 bytes"},
      {BYTES("\x0a\x14\x2a\x12\x0a\x10"
             "0123456789abcdef"),
       "StartPart.work: missing"},
      {BYTES("\x0a\x14\x6a\x12\x09\x02\0\0\0\0\0\0\0\x11\x01\0\0\0\0\0\0\0"),
       "SpanPart.end_ns: is before begin_ns"},
      {BYTES("\x0a\x05\x82\x01\x02\x20\x01"), "FollowPart.next: is before from"},
      {BYTES("\x0a\x06\x82\x01\x03\x12\x01\xff"), "FollowPart.function: not valid"},
      {BYTES("\x0a\x05\x8a\x01\x02\x12\x05"), "AnswerPart: cut off or malformed"},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    tfrt_wire_answer_part_t part;
    tfrt_string_view_t rest = bad[i].bytes;
    assert_error(tfrt_wire_answer_next(&rest, &arena, &part), bad[i].error);
    ck_assert_uint_eq(part.kind, TFRT_WIRE_PART_UNKNOWN);
  }
}
END_TEST

START_TEST(a_part_above_a_limit_is_neither_written_nor_read) {
  static tfrt_wire_holder_t holders[TFRT_WIRE_MAX_MEMBERS + 1];
  tfrt_wire_answer_part_t part = tfrt_wire_sample_parts[8];
  ck_assert_uint_eq(part.kind, TFRT_WIRE_PART_OBJECT);
  part.object.holders = holders;
  part.object.holder_count = TFRT_ARRAY_SIZE(holders);
  assert_error(tfrt_wire_answer_append(&part, &bytes),
               "ObjectPart.holders: 1025 elements, at most 1024 are allowed");
  ck_assert_uint_eq(bytes.size, 0);
  static char text[TFRT_WIRE_MAX_LINE_SIZE + 1];
  part = (tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_LINE,
                                   .line = {.text = tfrt_string_view_make(text, sizeof(text))}};
  assert_error(tfrt_wire_answer_append(&part, &bytes), "LinePart.text: 32769 bytes");
  ck_assert_uint_eq(bytes.size, 0);
  // LinePart.text has 32,769 bytes.
  tfrt_string_builder_append(&bytes, "\x0a\x8a\x80\x02\x8a\x01\x85\x80\x02\x12\x81\x80\x02", 13);
  tfrt_string_builder_append(&bytes, text, sizeof(text));
  tfrt_string_view_t line = tfrt_string_builder_view(&bytes);
  assert_error(tfrt_wire_answer_next(&line, &arena, &part), "LinePart.text: 32769 bytes");
  tfrt_string_builder_clear(&bytes);
  // A part of 65,537 bytes.
  tfrt_string_builder_append(&bytes, "\x0a\x81\x80\x04", 4);
  tfrt_string_builder_append_fill(&bytes, 0, TFRT_WIRE_MAX_PART_SIZE + 1);
  tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
  assert_error(tfrt_wire_answer_next(&rest, &arena, &part),
               "Answer.parts: 65537 bytes, at most 65536 are allowed");
}
END_TEST

// Empty elements take 2 bytes each, and much more than that where they are unpacked.
START_TEST(reading_a_part_takes_no_more_than_its_budget) {
  enum { COUNT = (int)TFRT_WIRE_MAX_PART_SIZE / 2 - 8 };
  tfrt_string_builder_append(&bytes, "\x0a", 1);
  // ObjectPart.holders, field 6, COUNT times, within AnswerPart.object, field 8.
  const size_t inner = 2 * (size_t)COUNT;
  const size_t outer = inner + 4;
  const uint8_t head[] = {
      (uint8_t)(outer | 0x80), (uint8_t)(outer >> 7 | 0x80), (uint8_t)(outer >> 14), 0x42,
      (uint8_t)(inner | 0x80), (uint8_t)(inner >> 7 | 0x80), (uint8_t)(inner >> 14)};
  tfrt_string_builder_append(&bytes, head, sizeof(head));
  for (int i = 0; i < COUNT; ++i) tfrt_string_builder_append(&bytes, "\x32\x00", 2);
  tfrt_wire_answer_part_t part;
  tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
  tfrt_status_t status = tfrt_wire_answer_next(&rest, &arena, &part);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_msg(strstr(tfrt_status_message(status), "AnswerPart"), "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
  ck_assert_uint_le(arena.used_size, TFRT_WIRE_MAX_PART_DECODED_SIZE);
}
END_TEST

START_TEST(damage_is_an_error_or_another_part) {
  for (size_t i = 0; i < tfrt_wire_sample_part_count; ++i) {
    tfrt_string_builder_clear(&bytes);
    assert_ok(tfrt_wire_answer_append(&tfrt_wire_sample_parts[i], &bytes));
    for (size_t at = 0; at < bytes.size; ++at) {
      const char kept = bytes.data[at];
      for (int bit = 0; bit < 8; ++bit) {
        bytes.data[at] = (char)(kept ^ (1 << bit));
        tfrt_wire_answer_part_t part;
        tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
        while (rest.size > 0) {
          tfrt_status_t status = tfrt_wire_answer_next(&rest, &arena, &part);
          if (status) rest.size = 0;
          tfrt_status_release(status);
        }
        tfrt_arena_clear(&arena, 4096);
      }
      bytes.data[at] = kept;
    }
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* service = tcase_create("service");
  tcase_add_checked_fixture(service, set_up, tear_down);
  tcase_add_test(service, a_question_survives_the_way_there_and_back);
  tcase_add_test(service, an_answer_is_read_part_by_part);
  tcase_add_test(service, each_part_is_handed_on_until_one_fails);
  tcase_add_test(service, every_field_arrives);
  tcase_add_test(service, parts_and_fields_of_a_later_version_are_passed_over);
  tcase_add_test(service, a_malformed_question_is_an_error_that_names_the_field);
  tcase_add_test(service, a_malformed_answer_is_an_error_that_names_the_field);
  tcase_add_test(service, a_part_above_a_limit_is_neither_written_nor_read);
  tcase_add_test(service, reading_a_part_takes_no_more_than_its_budget);
  tcase_add_test(service, damage_is_an_error_or_another_part);
  Suite* suite = suite_create("service");
  suite_add_tcase(suite, service);
  return suite;
}
