// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host_runtime/base/macros.h"
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

// The text behind the severity in a line that says |message|.
static const char* logged(tfrt_log_format_t format, const char* message) {
  tfrt_log_set_sink(&sink);
  tfrt_log_set_format(format);
  tfrt_log(TFRT_LOG_INFO, NULL, "%s", message);
  return strstr(captured, "info") + strlen("info");
}

START_TEST(a_line_is_utf8_and_commands_nothing_whatever_it_says) {
  static const struct {
    const char* message;
    const char* shown;
  } cases[] = {
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
      {"caf\xE9.mlir", "caf\\ufffd.mlir"},
      {"\xE2\x82", "\\ufffd\\ufffd"},
      {"a\x80\x9F", "a\\ufffd\\ufffd"},
      {"\x7F\xC2\x80\xC2\x9B[2J\xC2\x9F\xC2\xA0", "\\u007f\\u0080\\u009b[2J\\u009f\xC2\xA0"},
      {"\t\n\x1F ", "\\t\\n\\u001f "},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    char expected[128];
    snprintf(expected, sizeof expected, ": %s\n", cases[i].shown);
    ck_assert_str_eq(logged(TFRT_LOG_FORMAT_TEXT, cases[i].message), expected);
    snprintf(expected, sizeof expected, "\",\"message\":\"%s\"}\n", cases[i].shown);
    ck_assert_str_eq(logged(TFRT_LOG_FORMAT_JSON, cases[i].message), expected);
  }
}
END_TEST

START_TEST(a_long_message_is_cut_at_a_whole_character) {
  char message[2 * TFRT_LOG_MAX_LINE_SIZE];
  for (size_t begin = 0; begin < 4; ++begin) {
    // Characters of three bytes, or escapes of six, lie across the limit, and what would fit is
    // behind them.
    static const char* const repeated[] = {"\xE2\x82\xAC", "\x01"};
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(repeated); ++i) {
      message[0] = '\0';
      memset(message, 'x', begin);
      const size_t piece = strlen(repeated[i]);
      size_t size = begin;
      for (size_t n = 0; n < 3900 / (i ? 6 : 3); ++n, size += piece) {
        memcpy(message + size, repeated[i], piece);
      }
      memset(message + size, 'y', 300);
      message[size + 300] = '\0';
      const char* said =
          logged(TFRT_LOG_FORMAT_JSON, message) + strlen("\",\"message\":\"") + begin;
      const char* shown = i ? "\\u0001" : repeated[i];
      while (strncmp(said, shown, strlen(shown)) == 0) said += strlen(shown);
      ck_assert_str_eq(said, "\"}\n");
    }
  }
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

// Reads from |descriptor| what is there, as one text.
static const char* read_all(int descriptor) {
  static char text[4 << 20];
  size_t size = 0;
  for (ssize_t got; (got = read(descriptor, text + size, sizeof(text) - 1 - size)) > 0;) {
    size += (size_t)got;
  }
  text[size] = '\0';
  return text;
}

// The sum of the numbers of dropped lines that |text| tells of.
static int sum_dropped(const char* text) {
  int sum = 0;
  for (const char* at = text; (at = strstr(at, "warning: ")); ++at) sum += atoi(at + 9);
  return sum;
}

// Logs into |pair|, whose end [0] nobody reads at first, until lines are dropped; then reads all,
// and expects that the next line comes behind the number of those. A short line may have found room
// where a long one did not: so the number may come in parts.
static void fill_and_drain(const int pair[2]) {
  enum { LINES = 3000 };
  ck_assert_int_ge(dup2(pair[1], STDERR_FILENO), 0);
  for (int i = 0; i < LINES; ++i) tfrt_log(TFRT_LOG_INFO, NULL, "line %0500d", i);
  fcntl(pair[0], F_SETFL, O_NONBLOCK);
  const char* text = read_all(pair[0]);
  int dropped = sum_dropped(text);
  int whole = 0;
  for (const char* at = text; (at = strstr(at, "info: line ")); ++at) ++whole;
  ck_assert_int_gt(whole, 0);
  ck_assert_int_lt(whole, LINES);
  tfrt_log(TFRT_LOG_INFO, NULL, "room again");
  text = read_all(pair[0]);
  ck_assert_ptr_nonnull(strstr(text, " of this log were dropped: nobody read it\n"));
  ck_assert_int_eq(dropped + sum_dropped(text), LINES - whole);
  ck_assert_ptr_nonnull(strstr(text, " info: room again\n"));
}

START_TEST(nobody_waits_for_the_reader_of_a_pipe) {
  int pair[2];
  ck_assert_int_eq(pipe(pair), 0);
  fill_and_drain(pair);
  // The flag of the pipe that others write to is as it was.
  ck_assert_int_eq(fcntl(pair[1], F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

START_TEST(nobody_waits_for_the_reader_of_a_socket) {
  int pair[2];
  ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
  fill_and_drain(pair);
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
  tcase_add_test(tests, a_line_is_utf8_and_commands_nothing_whatever_it_says);
  tcase_add_test(tests, a_long_message_is_cut_at_a_whole_character);
  tcase_add_test(tests, a_long_message_is_cut_and_keeps_its_fields);
  tcase_add_test(tests, what_is_below_the_level_is_not_written);
  tcase_add_test(tests, without_a_sink_a_line_goes_to_standard_error);
  tcase_add_test(tests, nobody_waits_for_the_reader_of_a_pipe);
  tcase_add_test(tests, nobody_waits_for_the_reader_of_a_socket);
  tcase_add_test(tests, severities_have_names);
  Suite* suite = suite_create("log");
  suite_add_tcase(suite, tests);
  return suite;
}
