// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "distributed/service/plain_form.h"
#include "host_runtime/base/number_text.h"

bool tfrt_plain_read_job(const char* text, uint8_t out_id[TFRT_WIRE_JOB_ID_SIZE]) {
  for (size_t i = 0; i < TFRT_WIRE_JOB_ID_SIZE; ++i) {
    uint64_t byte = 0;
    tfrt_string_view_t digits = tfrt_string_view_make(text + 2 * i, strnlen(text + 2 * i, 2));
    if (digits.size != 2 || !tfrt_number_text_parse_hex(digits, &byte)) return false;
    out_id[i] = (uint8_t)byte;
  }
  return true;
}

// The part of |*text| before its first blank, or all of it; |*text| moves behind that blank.
static tfrt_string_view_t tfrt_plain_take_word(const char** text) {
  tfrt_string_view_t word = tfrt_string_view_make(*text, strcspn(*text, " "));
  *text += word.size;
  if (**text == ' ') ++*text;
  return word;
}

static tfrt_string_view_t tfrt_plain_job_of(const tfrt_plain_question_t* question) {
  return tfrt_string_view_make((const char*)question->job, sizeof(question->job));
}

// --- Cancel ----------------------------------------------------------------------

// Reads the number behind the colon at |text|, and moves |*end| before that; false if there is
// none.
static bool tfrt_plain_read_number(const char* text, const char** end, uint32_t* out_number) {
  size_t size = strspn(text + 1, "0123456789");
  if (size == 0 || size > 9 || text + 1 + size != *end) return false;
  uint64_t number = 0;
  tfrt_number_text_parse_u64(tfrt_string_view_make(text + 1, size), &number);
  *out_number = (uint32_t)number;
  *end = text;
  return true;
}

// The last colon of |text| before |end|, or |text|.
static const char* tfrt_plain_find_colon(const char* text, const char* end) {
  while (end > text && *--end != ':') continue;
  return end;
}

// Reads "FILE:LINE:COLUMN"; false if |text| is something else.
static bool tfrt_plain_read_place(const char* text, tfrt_wire_location_t* place) {
  const char* end = text + strlen(text);
  const char* column = tfrt_plain_find_colon(text, end);
  const char* line = tfrt_plain_find_colon(text, column);
  if (line == text || (size_t)(line - text) > TFRT_WIRE_MAX_PATH_SIZE ||
      !tfrt_plain_read_number(column, &end, &place->column) ||
      !tfrt_plain_read_number(line, &end, &place->line)) {
    return false;
  }
  place->file = tfrt_string_view_make(text, (size_t)(line - text));
  return true;
}

// Takes "@FUNCTION " off the beginning of |*text|, if it is there. One that is too long is left
// out.
static void tfrt_plain_take_function(const char** text, tfrt_wire_location_t* place) {
  const char* end = **text == '@' ? strchr(*text, ' ') : NULL;
  if (!end) return;
  size_t size = (size_t)(end - *text - 1);
  if (size <= TFRT_WIRE_MAX_NAME_SIZE) place->function = tfrt_string_view_make(*text + 1, size);
  *text = end + 1;
}

// Reads "call CALLER NUMBER", with a place behind it or without; false if the text is something
// else.
static bool tfrt_plain_read_call(tfrt_plain_question_t* question) {
  tfrt_wire_ask_cancel_t* cancel = &question->question.cancel;
  if (strncmp(question->text, "call ", 5) != 0) return false;
  const char* place = question->text + 5;
  if (!tfrt_number_text_parse_hex(tfrt_plain_take_word(&place), &cancel->caller) ||
      !tfrt_number_text_parse_u64(tfrt_plain_take_word(&place), &cancel->number)) {
    return false;
  }
  if (*place == '\0') return place[-1] != ' ';
  tfrt_plain_take_function(&place, &question->place);
  cancel->place = &question->place;
  return tfrt_plain_read_place(place, &question->place);
}

static tfrt_status_t tfrt_plain_read_cancel(tfrt_plain_question_t* question) {
  const char* text = question->text;
  if (strncmp(text, "job ", 4) == 0 && tfrt_plain_read_job(text + 4, question->job) &&
      text[4 + 2 * TFRT_WIRE_JOB_ID_SIZE] == '\0') {
    question->question.cancel.job = tfrt_plain_job_of(question);
    return NULL;
  }
  if (tfrt_plain_read_call(question)) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "cancel wants `job ID`, `call CALLER NUMBER` or `call CALLER NUMBER [@FUNCTION] PLACE`, not "
      "`%s`",
      text);
}

// --- Record ----------------------------------------------------------------------

// The action that |verb| names, or CLOCK.
static tfrt_wire_record_action_t tfrt_plain_action(tfrt_string_view_t verb) {
  static const char* const names[] = {[TFRT_WIRE_RECORD_BEGIN] = "begin",
                                      [TFRT_WIRE_RECORD_END] = "end",
                                      [TFRT_WIRE_RECORD_READ] = "read"};
  for (uint32_t i = TFRT_WIRE_RECORD_BEGIN; i <= TFRT_WIRE_RECORD_READ; ++i) {
    if (tfrt_string_view_equal(verb, tfrt_string_view_of(names[i]))) return i;
  }
  return TFRT_WIRE_RECORD_CLOCK;
}

static bool tfrt_plain_read_record_job(tfrt_plain_question_t* question, tfrt_string_view_t job) {
  if (tfrt_string_view_equal(job, tfrt_string_view_of("-"))) return true;
  if (job.size != 2 * TFRT_WIRE_JOB_ID_SIZE || !tfrt_plain_read_job(job.data, question->job)) {
    return false;
  }
  question->question.record.job = tfrt_plain_job_of(question);
  return true;
}

static tfrt_status_t tfrt_plain_read_record(tfrt_plain_question_t* question) {
  tfrt_wire_ask_record_t* record = &question->question.record;
  const char* rest = question->text;
  int64_t number = 0;
  if (strcmp(rest, "clock") == 0) return NULL;
  record->action = tfrt_plain_action(tfrt_plain_take_word(&rest));
  bool is_job = tfrt_plain_read_record_job(question, tfrt_plain_take_word(&rest));
  bool is_number = tfrt_number_text_parse_i64(tfrt_string_view_of(rest), &number) && number >= 0;
  bool is_begin = record->action == TFRT_WIRE_RECORD_BEGIN;
  if (is_begin) {
    record->milliseconds = (uint64_t)number;
  } else if (record->action == TFRT_WIRE_RECORD_READ) {
    record->since_ns = (uint64_t)number;
  }
  bool is_action = record->action != TFRT_WIRE_RECORD_CLOCK;
  if (is_action && is_job && is_number && (!is_begin || number <= INT32_MAX)) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "record wants `clock`, `begin JOB MS`, `end JOB 0` or `read JOB SINCE`, not `%s`",
      question->text);
}

tfrt_status_t tfrt_plain_question_read(tfrt_wire_question_kind_t kind, tfrt_string_view_t text,
                                       tfrt_plain_question_t* out_question) {
  *out_question = (tfrt_plain_question_t){.question = {.kind = kind}};
  snprintf(out_question->text, sizeof(out_question->text), "%.*s",
           TFRT_STRING_VIEW_ARGUMENTS(text));
  if (kind == TFRT_WIRE_ASK_CANCEL) return tfrt_plain_read_cancel(out_question);
  return kind == TFRT_WIRE_ASK_RECORD ? tfrt_plain_read_record(out_question) : NULL;
}
