// SPDX-License-Identifier: Apache-2.0
//
// A stranger sends questions by hand, as messages and as the texts of earlier versions. Each bad
// question is an error of its call alone.
#include <string.h>

#include "distributed/host/node.h"
#include "distributed/wire/service.h"
#include "tests/distributed/job/raw_client.h"
#include "tests/support/test_main.h"

#define MESSAGE "!tfrt.message"
#define TEXT "!tfrt.string"

static tfrt_node_world_t world;
static tfrt_raw_client_t raw;
static uint64_t call_count;

static void begin(void) {
  const uint64_t host = TFRT_RAW_CLIENT_HOST;
  call_count = 0;
  tfrt_raw_client_begin(&raw, &world);
  raw.asks_only = true;
  tfrt_raw_client_open(&raw, 1, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
}

// The host and the session have taken all that well.
static void end(void) {
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  tfrt_raw_client_send(&raw, &close, 1, TFRT_TIME_INFINITE);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
  tfrt_raw_client_end(&raw);
}

// Calls |function| with |bytes| as a value of |type|.
static void call(uint32_t function, const char* type, tfrt_string_view_t bytes) {
  const tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_INLINE,
                                 .value = {.type = tfrt_string_view_of(type), .body = bytes}};
  const tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_INVOKE,
                                 .invoke = {.call = ++call_count,
                                            .function = function,
                                            .arguments = &item,
                                            .argument_count = 1,
                                            .result_count = 1,
                                            .results_wanted = 1}};
  tfrt_raw_client_post(&raw, &body, 1, TFRT_TIME_INFINITE);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  ck_assert_str_eq(raw.said, "Result");
}

static void expect_error(tfrt_status_code_t code, const char* error) {
  ck_assert_msg(raw.error_code == (uint32_t)code, "%s", raw.error);
  ck_assert_msg(strstr(raw.error, error), "\"%s\" lacks \"%s\"", raw.error, error);
}

#define BYTES(literal) \
  { literal, sizeof(literal) - 1 }

typedef struct question_s {
  uint32_t function;
  const char* type;
  tfrt_string_view_t bytes;
  tfrt_status_code_t code;
  const char* error;
} question_t;

#define JOB "0123456789abcdef"
#define HEX "30313233343536373839616263646566"
#define FOLLOW "\x32\x12\x0a\x10" JOB
#define RESULT "\x3a\x12\x0a\x10" JOB

static const question_t questions[] = {
    // Whole, about a job that is not there; and what this host can't do.
    {TFRT_WIRE_BUILTIN_ASK, MESSAGE, BYTES(FOLLOW), TFRT_STATUS_NOT_FOUND, "no such detached job"},
    {TFRT_WIRE_BUILTIN_KEPT_RESULT, MESSAGE, BYTES(RESULT), TFRT_STATUS_NOT_FOUND,
     "no such detached job"},
    {TFRT_WIRE_BUILTIN_FOLLOW, TEXT, BYTES(HEX " 0"), TFRT_STATUS_NOT_FOUND,
     "no such detached job"},
    {TFRT_WIRE_BUILTIN_KEPT_RESULT, TEXT, BYTES(HEX " 0"), TFRT_STATUS_NOT_FOUND,
     "no such detached job"},
    {TFRT_WIRE_BUILTIN_ASK, MESSAGE, BYTES("\x42\x00"), TFRT_STATUS_UNIMPLEMENTED,
     "does not drain"},
    // Messages.
    {TFRT_WIRE_BUILTIN_ASK, MESSAGE, BYTES(""), TFRT_STATUS_INVALID_ARGUMENT,
     "Question: none of the fields is set"},
    {TFRT_WIRE_BUILTIN_ASK, MESSAGE, BYTES("\x32\x00"), TFRT_STATUS_INVALID_ARGUMENT,
     "AskFollow.job: 0 bytes"},
    {TFRT_WIRE_BUILTIN_ASK, MESSAGE, BYTES("\x32\x7f"), TFRT_STATUS_INVALID_ARGUMENT,
     "cut off or malformed"},
    {TFRT_WIRE_BUILTIN_ASK, MESSAGE, BYTES(RESULT), TFRT_STATUS_INVALID_ARGUMENT,
     "Question.kept_result"},
    {TFRT_WIRE_BUILTIN_ASK, TEXT, BYTES(HEX " 0"), TFRT_STATUS_INVALID_ARGUMENT, "Question"},
    {TFRT_WIRE_BUILTIN_KEPT_RESULT, MESSAGE, BYTES(FOLLOW), TFRT_STATUS_INVALID_ARGUMENT,
     "Question: field 6, must be 7"},
    {TFRT_WIRE_BUILTIN_KEPT_RESULT, MESSAGE, BYTES("\x3a\x02\x10\x01"),
     TFRT_STATUS_INVALID_ARGUMENT, "AskKeptResult.job: 0 bytes"},
    {TFRT_WIRE_BUILTIN_KEPT_RESULT, MESSAGE, BYTES(""), TFRT_STATUS_INVALID_ARGUMENT, "Question"},
    // Texts.
    {TFRT_WIRE_BUILTIN_FOLLOW, TEXT, BYTES(""), TFRT_STATUS_INVALID_ARGUMENT, "`ID NUMBER`"},
    {TFRT_WIRE_BUILTIN_FOLLOW, TEXT, BYTES(HEX), TFRT_STATUS_INVALID_ARGUMENT, "`ID NUMBER`"},
    {TFRT_WIRE_BUILTIN_FOLLOW, TEXT, BYTES(HEX " -1"), TFRT_STATUS_INVALID_ARGUMENT, "`ID NUMBER`"},
    {TFRT_WIRE_BUILTIN_FOLLOW, TEXT, BYTES(HEX " 1 2"), TFRT_STATUS_INVALID_ARGUMENT,
     "`ID NUMBER`"},
    {TFRT_WIRE_BUILTIN_FOLLOW, TEXT, BYTES(HEX "0 1"), TFRT_STATUS_INVALID_ARGUMENT, "`ID NUMBER`"},
    {TFRT_WIRE_BUILTIN_KEPT_RESULT, TEXT, BYTES(HEX " 4294967296"), TFRT_STATUS_INVALID_ARGUMENT,
     "`ID NUMBER`"},
    {TFRT_WIRE_BUILTIN_KEPT_RESULT, "i32", BYTES("abcd"), TFRT_STATUS_INVALID_ARGUMENT,
     "`ID NUMBER`"},
};

START_TEST(a_bad_question_is_an_error_of_its_call_alone) {
  begin();
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(questions); ++i) {
    call(questions[i].function, questions[i].type, questions[i].bytes);
    expect_error(questions[i].code, questions[i].error);
  }
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("question");
  TCase* tests = tcase_create("question");
  tcase_add_test(tests, a_bad_question_is_an_error_of_its_call_alone);
  suite_add_tcase(suite, tests);
  return suite;
}
