// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test_main.h"

static char captured[TFRT_LOG_MAX_LINE_SIZE + 1];
static size_t captured_size;
static int captured_count;

static void capture(void* self, tfrt_log_severity_t severity, const char* line, size_t size) {
  (void)self;
  (void)severity;
  memcpy(captured, line, size);
  captured[size] = '\0';
  captured_size = size;
  ++captured_count;
}

static const tfrt_log_sink_t sink = {capture, NULL};

START_TEST(a_text_line_has_time_severity_message_and_fields) {
  tfrt_log_set_sink(&sink);
  tfrt_log_set_host(2);
  tfrt_log_context_t context = {.job = 7, .call = 9};
  tfrt_log(TFRT_LOG_WARNING, &context, "lost %d", 3);
  // 2026-01-31T12:00:00.000123Z
  ck_assert_int_eq(captured[10], 'T');
  ck_assert_int_eq(captured[26], 'Z');
  ck_assert_str_eq(captured + 27, " warning: lost 3 [host=2 job=7 call=9]\n");
  context = (tfrt_log_context_t){.job = 7, .has_host = true, .host = 0};
  tfrt_log(TFRT_LOG_WARNING, &context, "here");
  ck_assert_str_eq(captured + 27, " warning: here [host=0 job=7]\n");
  tfrt_log_set_host(TFRT_LOG_NO_HOST);
  tfrt_log(TFRT_LOG_ERROR, NULL, "bare");
  ck_assert_str_eq(captured + 27, " error: bare\n");
}
END_TEST

START_TEST(a_json_line_is_escaped) {
  tfrt_log_set_sink(&sink);
  tfrt_log_set_format(TFRT_LOG_FORMAT_JSON);
  tfrt_log_context_t context = {.job = 7};
  tfrt_log(TFRT_LOG_INFO, &context, "a \"b\" \\ \n\x01");
  ck_assert_ptr_eq(strstr(captured, "{\"time\":\""), captured);
  ck_assert_ptr_nonnull(
      strstr(captured,
             "Z\",\"severity\":\"info\",\"message\":\"a \\\"b\\\" \\\\ \\n\\u0001\",\"job\":7}\n"));
}
END_TEST

START_TEST(one_event_is_one_line_whatever_it_says) {
  tfrt_log_set_sink(&sink);
  tfrt_log(TFRT_LOG_INFO, NULL, "first\nforged\r\nline\x1b[31m");
  ck_assert_ptr_eq(strchr(captured, '\n'), captured + captured_size - 1);
  ck_assert_ptr_null(strchr(captured, '\x1b'));
}
END_TEST

START_TEST(a_long_message_is_cut_and_keeps_its_fields) {
  char message[2 * TFRT_LOG_MAX_LINE_SIZE];
  memset(message, 'x', sizeof message);
  message[sizeof message - 1] = '\0';
  tfrt_log_set_sink(&sink);
  tfrt_log_set_host(UINT32_MAX - 1);
  tfrt_log_context_t context = {.job = UINT64_MAX, .call = UINT64_MAX};
  for (int format = TFRT_LOG_FORMAT_TEXT; format <= TFRT_LOG_FORMAT_JSON; ++format) {
    tfrt_log_set_format((tfrt_log_format_t)format);
    tfrt_log(TFRT_LOG_INFO, &context, "%s", message);
    ck_assert_uint_le(captured_size, TFRT_LOG_MAX_LINE_SIZE);
    ck_assert_ptr_nonnull(strstr(captured, "18446744073709551615"));
    ck_assert_str_eq(captured + captured_size - 2, format ? "}\n" : "]\n");
  }
}
END_TEST

START_TEST(what_is_below_the_level_is_not_written) {
  tfrt_log_set_sink(&sink);
  tfrt_log(TFRT_LOG_DEBUG, NULL, "no");
  ck_assert_int_eq(captured_count, 0);
  tfrt_log_set_level(TFRT_LOG_ERROR);
  ck_assert(!tfrt_log_is_enabled(TFRT_LOG_WARNING));
  tfrt_log(TFRT_LOG_WARNING, NULL, "no");
  ck_assert_int_eq(captured_count, 0);
  tfrt_log(TFRT_LOG_ERROR, NULL, "yes");
  ck_assert_int_eq(captured_count, 1);
  tfrt_log_set_level(TFRT_LOG_SILENT);
  tfrt_log(TFRT_LOG_ERROR, NULL, "no");
  tfrt_log(TFRT_LOG_SILENT, NULL, "no");
  ck_assert_int_eq(captured_count, 1);
}
END_TEST

START_TEST(without_a_sink_a_line_goes_to_standard_error) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
  errno = EDOM;
  tfrt_log(TFRT_LOG_INFO, NULL, "hello");
  ck_assert_int_eq(errno, EDOM);
  ssize_t size = read(ends[0], captured, TFRT_LOG_MAX_LINE_SIZE);
  ck_assert_int_gt(size, 27);
  captured[size] = '\0';
  ck_assert_str_eq(captured + 27, " info: hello\n");
}
END_TEST

START_TEST(severities_have_names) {
  tfrt_log_severity_t severity = TFRT_LOG_SILENT;
  ck_assert(tfrt_log_severity_parse("debug", &severity));
  ck_assert_int_eq(severity, TFRT_LOG_DEBUG);
  ck_assert(!tfrt_log_severity_parse("loud", &severity));
  ck_assert_str_eq(tfrt_log_severity_name(TFRT_LOG_WARNING), "warning");
  ck_assert_str_eq(tfrt_log_severity_name((tfrt_log_severity_t)77), "unknown");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("log");
  tcase_add_test(tests, a_text_line_has_time_severity_message_and_fields);
  tcase_add_test(tests, a_json_line_is_escaped);
  tcase_add_test(tests, one_event_is_one_line_whatever_it_says);
  tcase_add_test(tests, a_long_message_is_cut_and_keeps_its_fields);
  tcase_add_test(tests, what_is_below_the_level_is_not_written);
  tcase_add_test(tests, without_a_sink_a_line_goes_to_standard_error);
  tcase_add_test(tests, severities_have_names);
  Suite* suite = suite_create("log");
  suite_add_tcase(suite, tests);
  return suite;
}
