// SPDX-License-Identifier: Apache-2.0
//
// Every benchmark once, with a tiny size: that it runs and that what it computes is right.
// No time is judged.
#include <stdlib.h>
#include <string.h>

#include "tests/bench/runner.h"
#include "tests/support/test_main.h"

static tfrt_bench_results_t results;

// The tools' folder comes from the test's BUILD file.
static tfrt_bench_options_t small_options(const char* filter) {
  const char* tools = getenv("TFRT_BENCH_TOOLS");
  ck_assert_msg(tools, "TFRT_BENCH_TOOLS is not set");
  return (tfrt_bench_options_t){
      .filter = filter,
      .repeats = 1,
      .small = true,
      .quiet = true,
      .files = {.tools = tools},
  };
}

static void run_group_of(const char* filter, size_t at_least) {
  tfrt_bench_options_t options = small_options(filter);
  tfrt_status_t status = tfrt_bench_run(&options, &results);
  ck_assert_msg(!status, "%s", status ? tfrt_status_message(status) : "");
  ck_assert_uint_ge(results.count, at_least);
  for (size_t i = 0; i < results.count; ++i) {
    const tfrt_bench_result_t* result = &results.values[i];
    ck_assert_msg(
        result->median > 0 && result->least <= result->median && result->median <= result->greatest,
        "%s: %g", result->benchmark->name, result->median);
  }
}

START_TEST(async_values_are_measured) { run_group_of("async_value/", 9); }
END_TEST

START_TEST(work_queues_are_measured_beside_a_bare_wake) {
  run_group_of("work_queue/", 9);
  const tfrt_bench_result_t* last = &results.values[results.count - 1];
  ck_assert_double_gt(last->limit, 0);
}
END_TEST

START_TEST(programs_give_the_right_results) { run_group_of("executor/", 16); }
END_TEST

START_TEST(the_digits_network_is_measured_beside_bare_primitives) {
  run_group_of("digits/", 4);
  for (size_t i = 1; i < results.count; i += 2) ck_assert_double_gt(results.values[i].limit, 0);
}
END_TEST

START_TEST(tfrts_figures_are_carried_over_by_a_yardstick) {
  run_group_of("yardstick/", 3);
  run_group_of("async_value/create_i32_drop", 1);
  ck_assert_double_gt(results.values[0].scale, 0);
  run_group_of("process/size_of_bef_executor", 2);
  ck_assert_double_eq(results.values[0].scale, 1);
}
END_TEST

START_TEST(one_benchmark_may_be_named) {
  tfrt_bench_options_t options = small_options("=executor/fib_25");
  tfrt_status_t status = tfrt_bench_run(&options, &results);
  ck_assert_ptr_null(status);
  ck_assert_uint_eq(results.count, 1);
}
END_TEST

START_TEST(memory_of_calls_is_measured) {
  // A sanitizer's heap is its own.
#ifndef TFRT_SANITIZED
  run_group_of("memory/", 2);
#endif
}
END_TEST

START_TEST(translation_is_measured) { run_group_of("translation/", 5); }
END_TEST

START_TEST(passes_are_measured) { run_group_of("passes/", 8); }
END_TEST

START_TEST(the_transport_is_measured_with_and_without_tls) { run_group_of("transport/", 12); }
END_TEST

START_TEST(calls_between_hosts_are_measured) {
  run_group_of("cluster/call", 4);
  run_group_of("cluster/chain", 3);
}
END_TEST

START_TEST(payloads_are_measured_beside_bare_sockets) {
  run_group_of("limit/", 5);
  run_group_of("cluster/payload", 2);
  run_group_of("cluster/memory", 1);
  run_group_of("cluster/result", 1);
}
END_TEST

START_TEST(starts_of_workers_are_measured) {
  run_group_of("cluster/worker", 2);
  run_group_of("cluster/first", 3);
}
END_TEST

START_TEST(processes_are_measured) {
  // How much memory a process has is a sanitizer's business there, and being traced is not
  // allowed to a leak checker.
#ifdef TFRT_SANITIZED
  run_group_of("process/run_chain", 2);
#else
  run_group_of("process/", 10);
#endif
}
END_TEST

// How many benchmarks of all groups are called |name|.
static int count_named(const char* name) {
  int count = 0;
  tfrt_benchmark_group_t group;
  for (size_t g = 0; (group = tfrt_bench_group(g)).count > 0; ++g) {
    for (size_t i = 0; i < group.count; ++i) {
      count += strcmp(group.benchmarks[i].name, name) == 0;
    }
  }
  return count;
}

START_TEST(names_are_unique_and_limits_are_benchmarks) {
  size_t count = 0;
  tfrt_benchmark_group_t group;
  for (size_t g = 0; (group = tfrt_bench_group(g)).count > 0; ++g) {
    for (size_t i = 0; i < group.count; ++i, ++count) {
      const tfrt_benchmark_t* benchmark = &group.benchmarks[i];
      ck_assert_int_eq(count_named(benchmark->name), 1);
      ck_assert(!benchmark->limit || count_named(benchmark->limit) == 1);
    }
  }
  ck_assert_uint_ge(count, 49);
  ck_assert_uint_le(count, TFRT_BENCH_MAX_BENCHMARKS);
}
END_TEST

START_TEST(a_table_has_a_line_and_json_an_object_for_each) {
  run_group_of("async_value/retain_release", 2);
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_bench_append_table(&results, &out);
  ck_assert_ptr_nonnull(strstr(tfrt_string_builder_text(&out), "async_value/retain_release_2_"));
  tfrt_string_builder_clear(&out);
  tfrt_bench_append_json(&results, &out);
  ck_assert_ptr_nonnull(
      strstr(tfrt_string_builder_text(&out), "{\"name\": \"async_value/retain_release\", "));
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

START_TEST(a_tool_that_is_not_there_is_an_error_that_names_the_benchmark) {
  tfrt_bench_options_t options = small_options("process/run_chain_10k");
  options.files.tools = "/nowhere";
  tfrt_status_t status = tfrt_bench_run(&options, &results);
  ck_assert_ptr_nonnull(status);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "process/run_chain_10k: /nowhere/"));
  tfrt_status_release(status);
}
END_TEST

START_TEST(collectives_are_measured) { run_group_of("collective/", 12); }
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* measured = tcase_create("bench");
  tcase_add_test(measured, async_values_are_measured);
  tcase_add_test(measured, work_queues_are_measured_beside_a_bare_wake);
  tcase_add_test(measured, programs_give_the_right_results);
  tcase_add_test(measured, the_digits_network_is_measured_beside_bare_primitives);
  tcase_add_test(measured, tfrts_figures_are_carried_over_by_a_yardstick);
  tcase_add_test(measured, one_benchmark_may_be_named);
  tcase_add_test(measured, memory_of_calls_is_measured);
  tcase_add_test(measured, translation_is_measured);
  tcase_add_test(measured, passes_are_measured);
  tcase_add_test(measured, the_transport_is_measured_with_and_without_tls);
  tcase_add_test(measured, calls_between_hosts_are_measured);
  tcase_add_test(measured, payloads_are_measured_beside_bare_sockets);
  tcase_add_test(measured, starts_of_workers_are_measured);
  tcase_add_test(measured, collectives_are_measured);
  tcase_add_test(measured, processes_are_measured);
  tcase_add_test(measured, names_are_unique_and_limits_are_benchmarks);
  tcase_add_test(measured, a_table_has_a_line_and_json_an_object_for_each);
  tcase_add_test(measured, a_tool_that_is_not_there_is_an_error_that_names_the_benchmark);
  Suite* suite = suite_create("bench");
  suite_add_tcase(suite, measured);
  return suite;
}
