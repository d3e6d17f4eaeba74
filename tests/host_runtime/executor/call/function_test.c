// SPDX-License-Identifier: Apache-2.0
//
// The three kinds of functions, and the three ways to call one. Whole programs with all of
// them are run in tests/integration.
#include "host_runtime/executor/kernel/function.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/priority_work_queue.h"
#include "host_runtime/executor/kernel/sync_frame.h"
#include "tests/host_runtime/executor/small_program.h"
#include "tests/support/test_main.h"

static tfrt_request_context_t* request;
static tfrt_execution_context_t context;
static tfrt_program_t* program;
static tfrt_async_value_t* results[SMALL_PROGRAM_MAX];

static void set_up(void) {
  small_program_set_up();
  tfrt_request_options_t options = tfrt_request_options_default();
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  context = tfrt_host_context_execution(small_program_host, request);
  program = NULL;
  memset(results, 0, sizeof(results));
}

static void tear_down(void) {
  for (int i = 0; i < SMALL_PROGRAM_MAX; ++i) tfrt_async_value_release(results[i]);
  tfrt_program_release(program);
  tfrt_request_context_release(request);
  small_program_tear_down();
}

// The function named |name| of a program made of |table|.
static const tfrt_function_t* load(const small_program_t* table, const char* name) {
  ck_assert_ptr_null(small_program_make(table, &program));
  const tfrt_function_t* function = tfrt_program_find_function(program, name);
  ck_assert_ptr_nonnull(function);
  return function;
}

static int32_t result_i32(int index) {
  ck_assert(tfrt_async_value_state(results[index]) == TFRT_ASYNC_VALUE_AVAILABLE);
  return *(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(results[index]));
}

static bool result_i1(int index) {
  ck_assert(tfrt_async_value_state(results[index]) == TFRT_ASYNC_VALUE_AVAILABLE);
  return *(bool*)tfrt_async_value_payload(tfrt_async_value_resolved(results[index]));
}

static void expect_error(int index, const char* message) {
  ck_assert(tfrt_async_value_is_error(results[index]));
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(results[index])), message);
}

static void expect_refused(const small_program_t* table, tfrt_status_code_t code,
                           const char* message) {
  tfrt_status_t status = small_program_make(table, &program);
  ck_assert_ptr_null(program);
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_str_eq(tfrt_status_message(status), message);
  tfrt_status_release(status);
}

// --- Ways to call --------------------------------------------------------------

// x -> is it the kernel's alone?
static const small_kernel_t unique_kernels[] = {{.name = "test.unique",
                                                 .arguments = {0},
                                                 .argument_count = 1,
                                                 .results = {1},
                                                 .result_count = 1}};
static const small_program_t unique_program = {.argument_types = {"i32"},
                                               .kernels = unique_kernels,
                                               .kernel_count = 1,
                                               .register_count = 2,
                                               .results = {1},
                                               .result_count = 1};

START_TEST(an_argument_that_is_lent_is_not_the_callees_own) {
  const tfrt_function_t* function = load(&unique_program, "main");
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  tfrt_function_execute(function, &context, &argument, results);
  ck_assert(!result_i1(0));
  ck_assert(tfrt_async_value_is_unique(argument));
  tfrt_async_value_release(argument);
}
END_TEST

START_TEST(an_argument_that_is_given_away_is_the_callees_own) {
  const tfrt_function_t* function = load(&unique_program, "main");
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  tfrt_function_execute_take(function, &context, &argument, results);
  ck_assert(result_i1(0));
}
END_TEST

START_TEST(a_late_argument_can_be_given_away) {
  const tfrt_function_t* function = load(&unique_program, "main");
  tfrt_async_value_t* argument = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_retain(argument);
  tfrt_function_execute_take(function, &context, &argument, results);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  tfrt_async_value_set_available(argument);
  ck_assert(!result_i1(0));  // the test still has it
  tfrt_async_value_release(argument);
}
END_TEST

START_TEST(a_call_in_the_queue_runs_nothing_here) {
  const tfrt_function_t* function = load(&unique_program, "main");
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  tfrt_function_execute_in_queue(function, &context, &argument, results);
  tfrt_async_value_release(argument);
  tfrt_program_release(program);  // the call keeps it
  program = NULL;
  ck_assert(!tfrt_async_value_is_available(results[0]));
  tfrt_work_queue_quiesce(small_program_host->work_queue);
  ck_assert(result_i1(0));  // the queue held the last reference and gave it on
}
END_TEST

START_TEST(a_call_in_the_queue_begins_when_its_first_argument_is_there) {
  const tfrt_function_t* function = load(&unique_program, "main");
  tfrt_async_value_t* argument = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_function_execute_in_queue_after(function, &context, &argument, results);
  tfrt_program_release(program);  // the call keeps it
  program = NULL;
  tfrt_work_queue_quiesce(small_program_host->work_queue);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  tfrt_async_value_set_available(argument);
  ck_assert(!tfrt_async_value_is_available(results[0]));  // it is a task now
  tfrt_async_value_release(argument);
  tfrt_work_queue_quiesce(small_program_host->work_queue);
  ck_assert(result_i1(0));
}
END_TEST

START_TEST(a_call_in_the_queue_whose_first_argument_fails_runs_nothing) {
  const tfrt_function_t* function = load(&unique_program, "main");
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INTERNAL, "wrong");
  tfrt_async_value_t* early = tfrt_async_value_create_error(status);
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_function_execute_in_queue_after(function, &context, &early, results);
  tfrt_function_execute_in_queue_after(function, &context, &late, results + 1);
  tfrt_async_value_set_error(late, status);
  tfrt_status_release(status);
  for (int i = 0; i < 2; ++i) expect_error(i, "wrong");
  tfrt_async_value_release(early);
  tfrt_async_value_release(late);
}
END_TEST

START_TEST(a_request_runs_in_the_queue_of_its_own_and_before_less_urgent_ones) {
  const tfrt_function_t* function = load(&unique_program, "main");
  tfrt_work_queue_t* queues[TFRT_PRIORITY_COUNT];
  ck_assert_ptr_null(tfrt_priority_work_queues_create(small_program_host->work_queue,
                                                      tfrt_allocator_system(), queues));
  static const tfrt_priority_t priorities[] = {TFRT_PRIORITY_LOW, TFRT_PRIORITY_HIGH};
  tfrt_request_context_t* requests[2];
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  for (int i = 0; i < 2; ++i) {
    tfrt_request_options_t options = tfrt_request_options_default();
    options.work_queue = queues[priorities[i]];
    ck_assert_ptr_null(
        tfrt_request_context_create(&options, tfrt_allocator_system(), &requests[i]));
    tfrt_execution_context_t own = tfrt_host_context_execution(small_program_host, requests[i]);
    ck_assert_ptr_eq(own.work_queue, options.work_queue);
    tfrt_function_execute_in_queue(function, &own, &argument, &results[i]);
  }
  tfrt_async_value_release(argument);
  // The queue of the host has no threads: it stops when what it was waited for is there.
  tfrt_work_queue_await(small_program_host->work_queue, &results[1], 1);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  tfrt_work_queue_await(queues[TFRT_PRIORITY_LOW], &results[0], 1);
  ck_assert(tfrt_async_value_is_available(results[0]));
  tfrt_work_queue_quiesce(small_program_host->work_queue);
  for (int i = 0; i < 2; ++i) tfrt_request_context_release(requests[i]);
  for (int i = 0; i < TFRT_PRIORITY_COUNT; ++i) tfrt_work_queue_release(queues[i]);
}
END_TEST

// --- Native functions ------------------------------------------------------------

static const small_kernel_t native_call[] = {{.name = "test.call",
                                              .arguments = {0, 1},
                                              .argument_count = 2,
                                              .results = {2},
                                              .result_count = 1,
                                              .calls_native = true}};
static const small_program_t native_program = {.argument_types = {"i32", "i32"},
                                               .kernels = native_call,
                                               .kernel_count = 1,
                                               .register_count = 3,
                                               .results = {2},
                                               .result_count = 1,
                                               .native = "plus",
                                               .native_arguments = 2,
                                               .native_results = "i32"};

START_TEST(a_native_function_is_called_like_any_other) {
  const tfrt_function_t* function = load(&native_program, "plus");
  ck_assert_int_eq(function->kind, TFRT_FUNCTION_NATIVE);
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(40),
                                     tfrt_async_value_create_i32(2)};
  tfrt_function_execute(tfrt_program_find_function(program, "main"), &context, arguments, results);
  ck_assert_int_eq(result_i32(0), 42);
  tfrt_function_execute_take(function, &context, arguments, results + 1);
  ck_assert_int_eq(result_i32(1), 42);
}
END_TEST

START_TEST(a_native_function_waits_for_its_arguments_and_is_kept_until_then) {
  const tfrt_function_t* function = load(&native_program, "plus");
  tfrt_indirect_value_t* late = tfrt_indirect_value_create();
  tfrt_async_value_t* arguments[] = {&late->base, tfrt_async_value_create_i32(2)};
  tfrt_function_execute(function, &context, arguments, results);
  tfrt_async_value_release(arguments[1]);
  tfrt_program_release(program);
  program = NULL;
  ck_assert(!tfrt_async_value_is_available(results[0]));
  tfrt_indirect_value_forward_take(late, tfrt_async_value_create_i32(5));
  tfrt_async_value_release(&late->base);
  ck_assert_int_eq(result_i32(0), 7);
}
END_TEST

START_TEST(an_error_or_a_cancel_is_the_result_of_a_native_function) {
  const tfrt_function_t* function = load(&native_program, "plus");
  tfrt_async_value_t* number = tfrt_async_value_create_i32(2);
  tfrt_async_value_t* arguments[] = {
      tfrt_async_value_create_error_take(tfrt_status_create(TFRT_STATUS_INTERNAL, "first")),
      tfrt_async_value_create_error_take(tfrt_status_create(TFRT_STATUS_INTERNAL, "last"))};
  tfrt_function_execute(function, &context, arguments, results);
  expect_error(0, "last");
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "Cancelled");
  tfrt_request_context_cancel(request, reason);
  tfrt_status_release(reason);
  tfrt_async_value_t* numbers[] = {number, number};
  tfrt_function_execute(function, &context, numbers, results + 1);
  expect_error(1, "Cancelled");
  tfrt_async_value_release(arguments[0]);
  tfrt_async_value_release(arguments[1]);
  tfrt_async_value_release(number);
}
END_TEST

START_TEST(a_native_function_gets_no_argument_of_another_type) {
  const tfrt_function_t* function = load(&native_program, "plus");
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(1),
                                     tfrt_async_value_create_f64(2)};
  tfrt_function_execute_take(function, &context, arguments, results);
  expect_error(0, "argument 1 of 'plus' is a f64, but the kernel takes a i32");
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_async_value_error(results[0]));
  ck_assert_str_eq(fields->origin.function, "plus");
}
END_TEST

START_TEST(a_native_function_that_nobody_registered_is_named) {
  small_program_t table = native_program;
  table.native = "unheard";
  expect_refused(
      &table, TFRT_STATUS_NOT_FOUND,
      "native function 'unheard' is not registered in this process (a library that has it "
      "is named with --shared_libs)");
}
END_TEST

START_TEST(a_native_function_is_declared_as_it_is) {
  small_program_t table = native_program;
  table.native_arguments = 1;
  expect_refused(&table, TFRT_STATUS_INVALID_ARGUMENT,
                 "native function 'plus' doesn't take 1 arguments and give 1 results");
  table.native_arguments = 2;
  table.native_results = "i64";
  expect_refused(&table, TFRT_STATUS_INVALID_ARGUMENT,
                 "native function 'plus' gives i32 as result 0, not i64");
  table.native = "nothing";
  table.native_results = NULL;
  ck_assert_ptr_null(small_program_make(&table, &program));
}
END_TEST

// --- Synchronous functions ---------------------------------------------------------

// x, y -> x + y + 10
static const small_kernel_t sum_kernels[] = {
    {.name = "test.add",
     .arguments = {0, 1},
     .argument_count = 2,
     .results = {2},
     .result_count = 1},
    {.name = "test.constant",
     .results = {3},
     .result_count = 1,
     .has_attribute = true,
     .attribute = 10},
    {.name = "test.add",
     .arguments = {2, 3},
     .argument_count = 2,
     .results = {4},
     .result_count = 1},
};
static const small_program_t sum_program = {.kind = TFRT_BEF_FUNCTION_SYNC,
                                            .argument_types = {"i32", "i32"},
                                            .kernels = sum_kernels,
                                            .kernel_count = 3,
                                            .register_count = 5,
                                            .results = {4},
                                            .result_count = 1};

START_TEST(a_synchronous_function_works_on_plain_values) {
  const tfrt_function_t* function = load(&sum_program, "main");
  ck_assert_int_eq(function->kind, TFRT_FUNCTION_SYNC);
  int64_t live = tfrt_async_value_live_count();
  tfrt_sync_value_t arguments[2] = {
      {.as.i32 = 30, .type_id = TFRT_TYPE_I32, .kind = TFRT_SYNC_VALUE_PLAIN},
      {.as.i32 = 2, .type_id = TFRT_TYPE_I32, .kind = TFRT_SYNC_VALUE_PLAIN}};
  tfrt_sync_value_t result;
  ck_assert_ptr_null(tfrt_sync_function_call(function, &context, arguments, &result));
  ck_assert_int_eq(result.as.i32, 42);
  ck_assert_int_eq(tfrt_async_value_live_count(), live);
}
END_TEST

START_TEST(a_synchronous_function_is_called_with_async_values_too) {
  const tfrt_function_t* function = load(&sum_program, "main");
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* arguments[] = {late, tfrt_async_value_create_i32(2)};
  tfrt_function_execute(function, &context, arguments, results);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  *(int32_t*)tfrt_async_value_payload(late) = 30;
  tfrt_async_value_set_available(late);
  ck_assert_int_eq(result_i32(0), 42);
  tfrt_function_execute_take(function, &context, arguments, results + 1);
  ck_assert_int_eq(result_i32(1), 42);
}
END_TEST

START_TEST(the_first_error_ends_a_synchronous_function) {
  static const small_kernel_t kernels[] = {
      {.name = "test.fail", .results = {0}, .result_count = 1},
      {.name = "test.forget", .results = {1}, .result_count = 1},
  };
  small_program_t table = {.kind = TFRT_BEF_FUNCTION_SYNC,
                           .kernels = kernels,
                           .kernel_count = 2,
                           .register_count = 2,
                           .results = {0, 1},
                           .result_count = 2};
  tfrt_sync_value_t values[2];
  tfrt_status_t status = tfrt_sync_function_call(load(&table, "main"), &context, NULL, values);
  ck_assert_str_eq(tfrt_status_message(status), "it failed");
  ck_assert_uint_eq(tfrt_status_fields(status)->origin.line, 10);
  ck_assert_int_eq(values[0].kind, TFRT_SYNC_VALUE_EMPTY);
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_synchronous_kernel_gets_and_gives_what_its_entry_says) {
  const tfrt_function_t* function = load(&sum_program, "main");
  tfrt_sync_value_t arguments[2] = {
      {.as.i32 = 30, .type_id = TFRT_TYPE_I32, .kind = TFRT_SYNC_VALUE_PLAIN},
      {.as.f64 = 2, .type_id = TFRT_TYPE_F64, .kind = TFRT_SYNC_VALUE_PLAIN}};
  tfrt_sync_value_t result;
  tfrt_status_t status = tfrt_sync_function_call(function, &context, arguments, &result);
  ck_assert_str_eq(tfrt_status_message(status),
                   "argument 1 of 'test.add' is a f64, but the kernel takes a i32");
  tfrt_status_release(status);
  tfrt_program_release(program);
  static const small_kernel_t forgets[] = {
      {.name = "test.forget", .results = {0}, .result_count = 1}};
  small_program_t table = {.kind = TFRT_BEF_FUNCTION_SYNC,
                           .kernels = forgets,
                           .kernel_count = 1,
                           .register_count = 1,
                           .results = {0},
                           .result_count = 1};
  status = tfrt_sync_function_call(load(&table, "main"), &context, NULL, &result);
  ck_assert_str_eq(tfrt_status_message(status), "kernel 'test.forget' didn't set its result 0");
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_synchronous_kernel_that_sets_a_result_twice_fails) {
  static const small_kernel_t kernels[] = {
      {.name = "test.twice", .results = {0}, .result_count = 1}};
  small_program_t table = {.kind = TFRT_BEF_FUNCTION_SYNC,
                           .kernels = kernels,
                           .kernel_count = 1,
                           .register_count = 1,
                           .results = {0},
                           .result_count = 1};
  tfrt_sync_value_t result;
  tfrt_status_t status = tfrt_sync_function_call(load(&table, "main"), &context, NULL, &result);
  ck_assert_str_eq(tfrt_status_message(status), "kernel 'test.twice' set its result 0 twice");
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_cancelled_request_runs_no_synchronous_function) {
  // Calls itself for ever: only a cancel ends that.
  static const small_kernel_t kernels[] = {
      {.name = "test.call", .results = {0}, .result_count = 1, .calls_main = true}};
  small_program_t table = {.kind = TFRT_BEF_FUNCTION_SYNC,
                           .kernels = kernels,
                           .kernel_count = 1,
                           .register_count = 1,
                           .results = {0},
                           .result_count = 1};
  const tfrt_function_t* function = load(&table, "main");
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "Cancelled");
  tfrt_request_context_cancel(request, reason);
  tfrt_status_release(reason);
  tfrt_sync_value_t result;
  tfrt_status_t status = tfrt_sync_function_call(function, &context, NULL, &result);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_CANCELLED);
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_synchronous_function_stays_synchronous) {
  static const small_kernel_t late[] = {{.name = "test.late",
                                         .arguments = {0},
                                         .argument_count = 1,
                                         .results = {1},
                                         .result_count = 1}};
  small_program_t table = {.kind = TFRT_BEF_FUNCTION_SYNC,
                           .argument_types = {"i32"},
                           .kernels = late,
                           .kernel_count = 1,
                           .register_count = 2,
                           .results = {1},
                           .result_count = 1};
  expect_refused(&table, TFRT_STATUS_INVALID_ARGUMENT,
                 "kernel 'test.late' has no synchronous form, and 'main' is a synchronous function "
                 "(tfrt.sync)");
  table = native_program;
  table.kind = TFRT_BEF_FUNCTION_SYNC;
  expect_refused(&table, TFRT_STATUS_INVALID_ARGUMENT,
                 "kernel 'test.call' in the synchronous function 'main' runs 'plus', which isn't "
                 "synchronous (tfrt.sync)");
}
END_TEST

START_TEST(a_synchronous_function_gives_each_register_once_and_no_argument) {
  small_program_t table = sum_program;
  table.results[0] = 1;
  expect_refused(&table, TFRT_STATUS_INVALID_ARGUMENT,
                 "result 0 of the synchronous function 'main' is one of its arguments, or a result "
                 "before it");
  table.results[0] = 4;
  table.results[1] = 4;
  table.result_count = 2;
  expect_refused(&table, TFRT_STATUS_INVALID_ARGUMENT,
                 "result 1 of the synchronous function 'main' is one of its arguments, or a result "
                 "before it");
}
END_TEST

// --- Types at run time ----------------------------------------------------------------

START_TEST(a_program_that_checks_all_types_finds_a_kernel_that_breaks_its_word) {
  static const small_kernel_t kernels[] = {
      {.name = "test.lie", .results = {0}, .result_count = 1},
      {.name = "test.add",
       .arguments = {0, 0},
       .argument_count = 2,
       .results = {1},
       .result_count = 1},
  };
  small_program_t table = {.kernels = kernels,
                           .kernel_count = 2,
                           .register_count = 2,
                           .results = {0},
                           .result_count = 1};
  tfrt_kernel_registry_set_type_checks(small_program_host->registry, true);
  tfrt_function_execute(load(&table, "main"), &context, NULL, results);
  expect_error(0, "kernel 'test.lie' gave a i1 as result 0, but its op table entry says i32");
  ck_assert_uint_eq(tfrt_status_fields(tfrt_async_value_error(results[0]))->origin.line, 10);
}
END_TEST

START_TEST(an_error_has_any_type_whatever_the_value_was_to_be) {
  static const small_kernel_t kernels[] = {
      {.name = "test.fail_as_i1", .results = {0, 1}, .result_count = 2}};
  small_program_t table = {.kernels = kernels,
                           .kernel_count = 1,
                           .register_count = 2,
                           .results = {0, 1},
                           .result_count = 2};
  tfrt_kernel_registry_set_type_checks(small_program_host->registry, true);
  tfrt_function_execute(load(&table, "main"), &context, NULL, results);
  expect_error(0, "no i1");
  expect_error(1, "no i1");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("function");
  TCase* cases = tcase_create("function");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, an_argument_that_is_lent_is_not_the_callees_own);
  tcase_add_test(cases, an_argument_that_is_given_away_is_the_callees_own);
  tcase_add_test(cases, a_late_argument_can_be_given_away);
  tcase_add_test(cases, a_call_in_the_queue_runs_nothing_here);
  tcase_add_test(cases, a_call_in_the_queue_begins_when_its_first_argument_is_there);
  tcase_add_test(cases, a_call_in_the_queue_whose_first_argument_fails_runs_nothing);
  tcase_add_test(cases, a_request_runs_in_the_queue_of_its_own_and_before_less_urgent_ones);
  tcase_add_test(cases, a_native_function_is_called_like_any_other);
  tcase_add_test(cases, a_native_function_waits_for_its_arguments_and_is_kept_until_then);
  tcase_add_test(cases, an_error_or_a_cancel_is_the_result_of_a_native_function);
  tcase_add_test(cases, a_native_function_gets_no_argument_of_another_type);
  tcase_add_test(cases, a_native_function_that_nobody_registered_is_named);
  tcase_add_test(cases, a_native_function_is_declared_as_it_is);
  tcase_add_test(cases, a_synchronous_function_works_on_plain_values);
  tcase_add_test(cases, a_synchronous_function_is_called_with_async_values_too);
  tcase_add_test(cases, the_first_error_ends_a_synchronous_function);
  tcase_add_test(cases, a_synchronous_kernel_gets_and_gives_what_its_entry_says);
#ifndef NDEBUG
  tcase_add_test(cases, a_synchronous_kernel_that_sets_a_result_twice_fails);
#endif
  tcase_add_test(cases, a_cancelled_request_runs_no_synchronous_function);
  tcase_add_test(cases, a_synchronous_function_stays_synchronous);
  tcase_add_test(cases, a_synchronous_function_gives_each_register_once_and_no_argument);
  tcase_add_test(cases, a_program_that_checks_all_types_finds_a_kernel_that_breaks_its_word);
  tcase_add_test(cases, an_error_has_any_type_whatever_the_value_was_to_be);
  suite_add_tcase(suite, cases);
  return suite;
}
