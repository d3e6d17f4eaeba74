// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/host_status.h"

#include <string.h>

#include "tests/support/test_main.h"

static const char report[] =
    "incarnation 0000000000000012\njobs 1\nobjects 22\nremote_values 3\noutgoing_calls 4\n"
    "incoming_calls 5\nincoming_wants 6\ntransfers 7\nnew_thing 8\nname w\"0\nserving 1\n"
    "peer 00000000000000ab OPEN 312 127.0.0.1:7001 w1\npeer 00000000000000cd BROKEN 0 - w2 1 2 3 4 "
    "5 6 7\n";

static tfrt_string_builder_t out;

static void set_up(void) { tfrt_string_builder_initialize(&out, tfrt_allocator_system()); }

static void tear_down(void) { tfrt_string_builder_deinitialize(&out); }

START_TEST(a_line_has_all_columns) {
  tfrt_host_status_append_line(tfrt_string_view_of("127.0.0.1:7000"), tfrt_string_view_of(report),
                               &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out),
                   "127.0.0.1:7000           w\"0                  serving           1        22  "
                   "       3         4         5         6         7\n");
  tfrt_string_builder_clear(&out);
  tfrt_host_status_append_titles(&out);
  ck_assert_str_eq(tfrt_string_builder_text(&out),
                   "HOST                     NAME                 STATE          JOBS   OBJECTS  "
                   "  REMOTE       OUT        IN     WANTS TRANSFERS\n");
}
END_TEST

START_TEST(a_report_that_lacks_lines_has_dashes) {
  tfrt_host_status_append_line(tfrt_string_view_of("a"), tfrt_string_view_of("jobs 1\nserving 0"),
                               &out);
  const char* line = tfrt_string_builder_text(&out);
  ck_assert_ptr_nonnull(strstr(line, "draining"));
  ck_assert_ptr_nonnull(strstr(line, " 1         -         - "));
}
END_TEST

START_TEST(a_line_commands_no_terminal) {
  const char* text =
      "name a\xc2\x9b"
      "b\nserving 1\njobs \x1b[2J\n";
  tfrt_host_status_append_line(tfrt_string_view_of("a"), tfrt_string_view_of(text), &out);
  const char* line = tfrt_string_builder_text(&out);
  ck_assert_ptr_nonnull(
      strstr(line, "a                        a\\u009bb             serving   \\u001b[2J "));
}
END_TEST

START_TEST(a_host_that_says_nothing_has_a_line_that_commands_no_terminal) {
  tfrt_host_status_append_missing(tfrt_string_view_of("\x1b[31m:1"), "no answer", &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out),
                   "\\u001b[31m:1             -                    no answer\n");
}
END_TEST

START_TEST(json_has_numbers_texts_and_peers) {
  tfrt_host_status_append_json(tfrt_string_view_of(report), &out);
  ck_assert_str_eq(
      tfrt_string_builder_text(&out),
      "{\"incarnation\":\"0000000000000012\",\"jobs\":1,\"objects\":22,\"remote_values\":3,"
      "\"outgoing_calls\":4,\"incoming_calls\":5,\"incoming_wants\":6,\"transfers\":7,"
      "\"new_thing\":8,\"name\":\"w\\\"0\",\"serving\":1,\"peers\":["
      "{\"incarnation\":\"00000000000000ab\",\"state\":\"OPEN\",\"round_trip_us\":312,"
      "\"address\":\"127.0.0.1:7001\",\"name\":\"w1\"},"
      "{\"incarnation\":\"00000000000000cd\",\"state\":\"BROKEN\",\"round_trip_us\":0,"
      "\"address\":null,\"name\":\"w2\",\"frames_sent\":1,\"frames_received\":2,"
      "\"bytes_sent\":3,\"bytes_received\":4,\"payload_bytes_sent\":5,"
      "\"payload_bytes_received\":6,\"payload_bytes_borrowed\":7}]}");
  tfrt_string_builder_clear(&out);
  tfrt_host_status_append_json(tfrt_string_view_of(""), &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), "{\"peers\":[]}");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("host_status");
  TCase* tests = tcase_create("host_status");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, a_line_has_all_columns);
  tcase_add_test(tests, a_report_that_lacks_lines_has_dashes);
  tcase_add_test(tests, a_line_commands_no_terminal);
  tcase_add_test(tests, a_host_that_says_nothing_has_a_line_that_commands_no_terminal);
  tcase_add_test(tests, json_has_numbers_texts_and_peers);
  suite_add_tcase(suite, tests);
  return suite;
}
