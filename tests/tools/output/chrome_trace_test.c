// SPDX-License-Identifier: Apache-2.0
#include "tools/output/chrome_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "tests/support/test_main.h"

START_TEST(each_host_is_a_process_and_each_span_an_event) {
  tfrt_trace_t* trace = NULL;
  ck_assert_ptr_null(tfrt_trace_create(10, tfrt_allocator_system(), &trace));
  tfrt_trace_add(trace, "kernel", "tfrt.add.i32", 1500, 2750, 1);
  tfrt_trace_add(trace, "flow.out", "a.1.b", 1600, 1600, 1);
  tfrt_trace_add(trace, "flow.in", "a.1.b", 1700, 1700, 1);
  const char* folder = getenv("TEST_TMPDIR");
  char path[512];
  snprintf(path, sizeof(path), "%s/trace.json", folder ? folder : "/tmp");
  tfrt_chrome_trace_host_t hosts[] = {
      {.rank = 0, .name = "host \"0\"", .trace = trace},
      {.rank = 1, .name = "host 1", .trace = trace, .clock_offset_ns = -2600},
  };
  ck_assert_ptr_null(tfrt_chrome_trace_write(path, hosts, 2));
  tfrt_file_contents_t file;
  ck_assert_ptr_null(tfrt_file_read(path, tfrt_allocator_system(), &file));
  char text[4096];
  snprintf(text, sizeof(text), "%.*s", (int)file.size, (const char*)file.data);
  tfrt_file_contents_deinitialize(&file);
  tfrt_trace_release(trace);
  ck_assert_str_eq(
      text,
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"host \\\"0\\\"\"}},\n"
      "{\"ph\":\"X\",\"name\":\"tfrt.add.i32\",\"cat\":\"kernel\",\"pid\":0,\"tid\":0,"
      "\"ts\":1.500,\"dur\":1.250,\"args\":{\"request\":1}},\n"
      "{\"ph\":\"s\",\"name\":\"call\",\"cat\":\"flow\",\"id\":\"a.1.b\",\"pid\":0,\"tid\":0,"
      "\"ts\":1.600},\n"
      "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"call\",\"cat\":\"flow\",\"id\":\"a.1.b\",\"pid\":0,"
      "\"tid\":0,\"ts\":1.700},\n"
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"host 1\"}},\n"
      "{\"ph\":\"X\",\"name\":\"tfrt.add.i32\",\"cat\":\"kernel\",\"pid\":1,\"tid\":0,"
      "\"ts\":-1.100,\"dur\":1.250,\"args\":{\"request\":1}},\n"
      "{\"ph\":\"s\",\"name\":\"call\",\"cat\":\"flow\",\"id\":\"a.1.b\",\"pid\":1,\"tid\":0,"
      "\"ts\":-1.000},\n"
      "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"call\",\"cat\":\"flow\",\"id\":\"a.1.b\",\"pid\":1,"
      "\"tid\":0,\"ts\":-0.900}\n]}\n");
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_an_error) {
  tfrt_status_t status = tfrt_chrome_trace_write("/nowhere/trace.json", NULL, 0);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "/nowhere/trace.json"));
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("chrome_trace");
  TCase* cases = tcase_create("chrome_trace");
  tcase_add_test(cases, each_host_is_a_process_and_each_span_an_event);
  tcase_add_test(cases, a_folder_that_is_not_there_is_an_error);
  suite_add_tcase(suite, cases);
  return suite;
}
