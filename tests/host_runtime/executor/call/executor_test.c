// SPDX-License-Identifier: Apache-2.0
//
// The executor with values that come late, with errors and types, and the end of a call. Whole
// programs are run in tests/integration.
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/executor/request/call_scope.h"
#include "tests/fakes/failing_malloc.h"
#include "tests/host_runtime/executor/small_program.h"
#include "tests/support/test_main.h"

static tfrt_request_context_t* request;
static tfrt_async_value_t* results[SMALL_PROGRAM_MAX];

// Calls main of |table| with |arguments| (+0) in |scope|; results[] are set.
static void run_in_scope(const small_program_t* table, tfrt_async_value_t* const* arguments,
                         tfrt_call_scope_t* scope) {
  tfrt_program_t* program = NULL;
  ck_assert_ptr_null(small_program_make(table, &program));
  tfrt_execution_context_t context = tfrt_host_context_execution(small_program_host, request);
  context.scope = scope;
  memset(results, 0, sizeof(results));
  tfrt_function_execute(tfrt_program_find_function(program, "main"), &context, arguments, results);
  tfrt_program_release(program);  // a call that goes on keeps it
}

static void run(const small_program_t* table, tfrt_async_value_t* const* arguments) {
  run_in_scope(table, arguments, NULL);
}

static void set_up(void) {
  small_program_set_up();
  tfrt_request_options_t options = tfrt_request_options_default();
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
}

static void tear_down(void) {
  for (int i = 0; i < SMALL_PROGRAM_MAX; ++i) tfrt_async_value_release(results[i]);
  tfrt_request_context_release(request);
  small_program_tear_down();
}

static int32_t result_i32(int index) {
  ck_assert(tfrt_async_value_state(results[index]) == TFRT_ASYNC_VALUE_AVAILABLE);
  return *(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(results[index]));
}

static void expect_error(int index, const char* message) {
  ck_assert(tfrt_async_value_is_error(results[index]));
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(results[index])), message);
}

// x, y -> late(x), late(x) + y
static const small_kernel_t late_sum[] = {
    {.name = "test.late", .arguments = {0}, .argument_count = 1, .results = {2}, .result_count = 1},
    {.name = "test.add",
     .arguments = {2, 1},
     .argument_count = 2,
     .results = {3},
     .result_count = 1},
};
static const small_program_t late_sum_program = {.argument_types = {"i32", "i32"},
                                                 .kernels = late_sum,
                                                 .kernel_count = 2,
                                                 .register_count = 4,
                                                 .results = {2, 3},
                                                 .result_count = 2};

START_TEST(results_are_there_before_they_are_known) {
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(5),
                                     tfrt_async_value_create_i32(7)};
  run(&late_sum_program, arguments);
  tfrt_async_value_release(arguments[0]);
  tfrt_async_value_release(arguments[1]);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  ck_assert(!tfrt_async_value_is_available(results[1]));
  small_program_resolve_late();
  ck_assert_int_eq(result_i32(0), 5);
  ck_assert_int_eq(result_i32(1), 12);
}
END_TEST

START_TEST(a_call_starts_before_its_arguments_are_known) {
  tfrt_indirect_value_t* x = tfrt_indirect_value_create();
  tfrt_async_value_t* y = tfrt_async_value_create_i32(1);
  tfrt_async_value_t* arguments[] = {&x->base, y};
  run(&late_sum_program, arguments);
  tfrt_async_value_release(y);
  ck_assert(!tfrt_async_value_is_available(results[1]));
  tfrt_indirect_value_forward_take(x, tfrt_async_value_create_i32(41));
  tfrt_async_value_release(&x->base);
  small_program_resolve_late();
  ck_assert_int_eq(result_i32(1), 42);
}
END_TEST

START_TEST(an_error_skips_what_needs_it_and_keeps_its_place) {
  static const small_kernel_t kernels[] = {
      {.name = "test.fail", .results = {1}, .result_count = 1},
      {.name = "test.add",
       .arguments = {1, 0},
       .argument_count = 2,
       .results = {2},
       .result_count = 1},
      {.name = "test.wait",
       .arguments = {2},
       .argument_count = 1,
       .results = {3},
       .result_count = 1},
  };
  small_program_t table = {.argument_types = {"i32"},
                           .kernels = kernels,
                           .kernel_count = 3,
                           .register_count = 4,
                           .results = {0, 2, 3},
                           .result_count = 3};
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(3);
  run(&table, &argument);
  tfrt_async_value_release(argument);
  ck_assert_int_eq(result_i32(0), 3);
  expect_error(1, "it failed");
  expect_error(2, "it failed");
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_async_value_error(results[2]));
  ck_assert_str_eq(fields->origin.function, "main");
  ck_assert_str_eq(fields->origin.kernel, "test.fail");
  ck_assert_str_eq(fields->origin.file, "small.mlir");
  ck_assert_uint_eq(fields->origin.line, 10);
}
END_TEST

START_TEST(a_value_of_another_type_is_an_error_and_no_crash) {
  static const small_kernel_t kernels[] = {{.name = "test.add",
                                            .arguments = {0, 0},
                                            .argument_count = 2,
                                            .results = {1},
                                            .result_count = 1}};
  small_program_t table = {.argument_types = {"i32"},
                           .kernels = kernels,
                           .kernel_count = 1,
                           .register_count = 2,
                           .results = {1},
                           .result_count = 1};
  tfrt_async_value_t* text = tfrt_async_value_create_string(tfrt_string_view_of("five"));
  run(&table, &text);
  tfrt_async_value_release(text);
  expect_error(0, "argument 0 of 'test.add' is a !tfrt.string, but the kernel takes a i32");
}
END_TEST

START_TEST(a_result_that_a_kernel_forgets_is_an_error) {
  static const small_kernel_t kernels[] = {
      {.name = "test.forget", .results = {0}, .result_count = 1}};
  small_program_t table = {.kernels = kernels,
                           .kernel_count = 1,
                           .register_count = 1,
                           .results = {0, 0},
                           .result_count = 2};
  run(&table, NULL);
  expect_error(0, "kernel 'test.forget' didn't set its result 0");
  expect_error(1, "kernel 'test.forget' didn't set its result 0");
}
END_TEST

START_TEST(a_result_that_a_kernel_sets_twice_is_an_error) {
  static const small_kernel_t kernels[] = {
      {.name = "test.twice", .results = {0}, .result_count = 1}};
  small_program_t table = {.kernels = kernels,
                           .kernel_count = 1,
                           .register_count = 1,
                           .results = {0},
                           .result_count = 1};
  run(&table, NULL);
  expect_error(0, "kernel 'test.twice' set its result 0 twice");
}
END_TEST

START_TEST(a_cancelled_request_starts_no_kernel) {
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(5),
                                     tfrt_async_value_create_i32(7)};
  run(&late_sum_program, arguments);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough");
  tfrt_request_context_cancel(request, reason);
  tfrt_status_release(reason);
  small_program_resolve_late();
  ck_assert_int_eq(result_i32(0), 5);
  expect_error(1, "enough");
  tfrt_async_value_release(arguments[0]);
  tfrt_async_value_release(arguments[1]);
}
END_TEST

// A call scope whose end can be seen.
static int ends;
static void count_end(tfrt_task_t* task) {
  (void)task;
  ++ends;
}

START_TEST(a_call_is_over_when_its_last_value_is_resolved) {
  tfrt_task_t end;
  tfrt_task_initialize(&end, count_end);
  tfrt_call_scope_t scope;
  tfrt_call_scope_initialize(&scope, &end);
  // Nobody uses the late value, and nothing is returned.
  static const small_kernel_t kernels[] = {{.name = "test.late",
                                            .arguments = {0},
                                            .argument_count = 1,
                                            .results = {1},
                                            .result_count = 1}};
  small_program_t table = {
      .argument_types = {"i32"}, .kernels = kernels, .kernel_count = 1, .register_count = 2};
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(5);
  run_in_scope(&table, &argument, &scope);
  tfrt_async_value_release(argument);
  tfrt_call_scope_leave(&scope);
  ck_assert_int_eq(ends, 0);
  small_program_resolve_late();
  ck_assert_int_eq(ends, 1);
}
END_TEST

START_TEST(a_scope_is_left_at_once_by_a_call_that_is_over) {
  tfrt_task_t end;
  tfrt_task_initialize(&end, count_end);
  tfrt_call_scope_t scope;
  tfrt_call_scope_initialize(&scope, &end);
  static const small_kernel_t kernels[] = {
      {.name = "test.fail", .results = {0}, .result_count = 1}};
  small_program_t table = {.kernels = kernels, .kernel_count = 1, .register_count = 1};
  run_in_scope(&table, NULL, &scope);
  ck_assert_int_eq(ends, 0);
  tfrt_call_scope_leave(&scope);
  ck_assert_int_eq(ends, 1);
}
END_TEST

START_TEST(a_result_whose_kernel_has_not_run_is_a_placeholder) {
  static const small_kernel_t kernels[] = {
      {.name = "test.late",
       .arguments = {0},
       .argument_count = 1,
       .results = {1},
       .result_count = 1},
      {.name = "test.negative",
       .arguments = {1},
       .argument_count = 1,
       .results = {2},
       .result_count = 1},
      {.name = "test.wait",
       .arguments = {2},
       .argument_count = 1,
       .results = {3},
       .result_count = 1},
  };
  small_program_t table = {.argument_types = {"i32"},
                           .kernels = kernels,
                           .kernel_count = 3,
                           .register_count = 4,
                           .results = {3, 2},
                           .result_count = 2};
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(-1);
  run(&table, &argument);
  tfrt_async_value_release(argument);
  // Both results stand for kernels that have not run.
  ck_assert_int_eq(results[0]->kind, TFRT_ASYNC_VALUE_INDIRECT);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  small_program_resolve_late();
  ck_assert(tfrt_async_value_is_available(results[0]));
  ck_assert(*(bool*)tfrt_async_value_payload(tfrt_async_value_resolved(results[1])));
}
END_TEST

START_TEST(streams_that_cost_little_become_no_tasks) {
  // x -> late(x) = v, and (v + x) + (v + x), each of these sums in a stream of its own
  static const small_kernel_t kernels[] = {
      {.name = "test.late",
       .arguments = {0},
       .argument_count = 1,
       .results = {1},
       .result_count = 1},
      {.name = "test.cheap_add",
       .arguments = {1, 0},
       .argument_count = 2,
       .results = {2},
       .result_count = 1,
       .stream = 1},
      {.name = "test.cheap_add",
       .arguments = {1, 0},
       .argument_count = 2,
       .results = {3},
       .result_count = 1,
       .stream = 2},
      {.name = "test.cheap_add",
       .arguments = {2, 3},
       .argument_count = 2,
       .results = {4},
       .result_count = 1},
  };
  static const small_program_t table = {.argument_types = {"i32"},
                                        .kernels = kernels,
                                        .kernel_count = 4,
                                        .register_count = 5,
                                        .results = {4},
                                        .result_count = 1};
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(5);
  run(&table, &argument);
  tfrt_async_value_release(argument);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  // Nobody runs the work queue here.
  small_program_resolve_late();
  ck_assert_int_eq(result_i32(0), 20);
}
END_TEST

// --- Calls that follow a schedule --------------------------------------------------

// x -> late(x + 10 + 10) + 10, x + 10, 10, 10
static const small_kernel_t late_in_the_middle[] = {
    {.name = "test.constant",
     .results = {1},
     .result_count = 1,
     .has_attribute = true,
     .attribute = 10},
    {.name = "test.add",
     .arguments = {0, 1},
     .argument_count = 2,
     .results = {2},
     .result_count = 1},
    {.name = "test.add",
     .arguments = {2, 1},
     .argument_count = 2,
     .results = {3},
     .result_count = 1},
    {.name = "test.late", .arguments = {3}, .argument_count = 1, .results = {4}, .result_count = 1},
    {.name = "test.add",
     .arguments = {4, 1},
     .argument_count = 2,
     .results = {5},
     .result_count = 1},
};
static const small_program_t late_in_the_middle_program = {.argument_types = {"i32"},
                                                           .kernels = late_in_the_middle,
                                                           .kernel_count = 5,
                                                           .register_count = 6,
                                                           .results = {5, 2, 1, 1},
                                                           .result_count = 4};

START_TEST(what_was_done_before_a_value_is_late_is_kept) {
  int64_t live = tfrt_async_value_live_count();
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  run(&late_in_the_middle_program, &argument);
  ck_assert(tfrt_async_value_is_unique(argument));
  tfrt_async_value_release(argument);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  ck_assert_int_eq(result_i32(1), 11);
  // The program, whose constant this is, may be gone.
  ck_assert_int_eq(result_i32(2), 10);
  ck_assert_ptr_eq(results[2], results[3]);
  small_program_resolve_late();
  ck_assert_int_eq(result_i32(0), 31);
  for (int i = 0; i < SMALL_PROGRAM_MAX; ++i) {
    tfrt_async_value_release(results[i]);
    results[i] = NULL;
  }
  ck_assert_int_eq(tfrt_async_value_live_count(), live);
}
END_TEST

// x, y -> when(y) + (x + x), x + x
static const small_kernel_t needed_late[] = {
    {.name = "test.add",
     .arguments = {0, 0},
     .argument_count = 2,
     .results = {2},
     .result_count = 1},
    {.name = "test.when", .arguments = {1}, .argument_count = 1, .results = {3}, .result_count = 1},
    {.name = "test.add",
     .arguments = {3, 2},
     .argument_count = 2,
     .results = {4},
     .result_count = 1},
};
static const small_program_t needed_late_program = {.argument_types = {"i32", "i32"},
                                                    .kernels = needed_late,
                                                    .kernel_count = 3,
                                                    .register_count = 5,
                                                    .results = {4, 2},
                                                    .result_count = 2};

// Runs |function| where |successes| allocations succeed; returns whether one failed.
static bool run_in_little_memory(const tfrt_function_t* function, int64_t successes) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(5), late};
  tfrt_execution_context_t context = tfrt_host_context_execution(small_program_host, request);
  tfrt_failing_malloc_arm(successes);
  tfrt_function_execute(function, &context, arguments, results);
  const bool is_out = tfrt_failing_malloc_disarm() > 0;
  *(int32_t*)tfrt_async_value_payload(late) = 7;
  tfrt_async_value_set_available(late);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
  return is_out;
}

START_TEST(a_call_that_gets_no_memory_when_a_value_is_late_drops_what_it_has) {
  tfrt_program_t* program = NULL;
  ck_assert_ptr_null(small_program_make(&needed_late_program, &program));
  const tfrt_function_t* function = tfrt_program_find_function(program, "main");
  const int64_t live = tfrt_async_value_live_count();
  bool has_lost_one = false;
  bool is_out = true;
  for (int64_t successes = 0; is_out; ++successes) {
    is_out = run_in_little_memory(function, successes);
    if (is_out) {
      expect_error(0, "memory is out");
      has_lost_one |= !tfrt_async_value_is_error(results[1]);
    } else {
      ck_assert_int_eq(result_i32(0), 17);
    }
    for (int i = 0; i < 2; ++i) {
      tfrt_async_value_release(results[i]);
      results[i] = NULL;
    }
    ck_assert_int_eq(tfrt_async_value_live_count(), live);
    // The call that failed has cancelled it.
    tfrt_request_context_release(request);
    tfrt_request_options_t options = tfrt_request_options_default();
    ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  }
  ck_assert_msg(has_lost_one, "no call was to be taken over");
  tfrt_program_release(program);
}
END_TEST

// x, y -> when(when(y)), x + x
static const small_kernel_t started[] = {
    {.name = "test.when", .arguments = {1}, .argument_count = 1, .results = {2}, .result_count = 1},
    {.name = "test.when", .arguments = {2}, .argument_count = 1, .results = {3}, .result_count = 1},
    {.name = "test.add",
     .arguments = {0, 0},
     .argument_count = 2,
     .results = {4},
     .result_count = 1},
};
static const small_program_t started_program = {.argument_types = {"i32", "i32"},
                                                .kernels = started,
                                                .kernel_count = 3,
                                                .register_count = 5,
                                                .results = {3, 4},
                                                .result_count = 2};

START_TEST(kernels_that_wait_themselves_hold_up_nothing) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(5), late};
  run(&started_program, arguments);
  ck_assert_int_eq(small_program_early_count, 2);
  ck_assert_ptr_eq(results[0], late);
  ck_assert_int_eq(result_i32(1), 10);
  *(int32_t*)tfrt_async_value_payload(late) = 7;
  tfrt_async_value_set_available(late);
  ck_assert_int_eq(result_i32(0), 7);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}
END_TEST

START_TEST(kernels_that_wait_themselves_do_not_run_with_an_error_or_when_cancelled) {
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INTERNAL, "wrong");
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(5),
                                     tfrt_async_value_create_error(status)};
  run(&started_program, arguments);
  expect_error(0, "wrong");
  ck_assert_int_eq(result_i32(1), 10);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(results[i]);
  tfrt_async_value_release(arguments[1]);
  arguments[1] = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_request_context_cancel(request, status);
  tfrt_status_release(status);
  run(&started_program, arguments);
  for (int i = 0; i < 2; ++i) ck_assert(tfrt_async_value_is_error(results[i]));
  ck_assert_int_eq(small_program_early_count, 0);
  tfrt_async_value_set_available(arguments[1]);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}
END_TEST

// x, y -> when(when(y)), late(x) + x
static const small_kernel_t started_and_needed[] = {
    {.name = "test.when", .arguments = {1}, .argument_count = 1, .results = {2}, .result_count = 1},
    {.name = "test.late", .arguments = {0}, .argument_count = 1, .results = {3}, .result_count = 1},
    {.name = "test.add",
     .arguments = {3, 0},
     .argument_count = 2,
     .results = {4},
     .result_count = 1},
    {.name = "test.when", .arguments = {2}, .argument_count = 1, .results = {5}, .result_count = 1},
};
static const small_program_t started_and_needed_program = {.argument_types = {"i32", "i32"},
                                                           .kernels = started_and_needed,
                                                           .kernel_count = 4,
                                                           .register_count = 6,
                                                           .results = {5, 4},
                                                           .result_count = 2};

START_TEST(a_call_that_is_taken_over_keeps_late_values_that_nobody_needs) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(5), late};
  run(&started_and_needed_program, arguments);
  for (int i = 0; i < 2; ++i) ck_assert(!tfrt_async_value_is_available(results[i]));
  small_program_resolve_late();
  ck_assert_int_eq(result_i32(1), 10);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  *(int32_t*)tfrt_async_value_payload(late) = 7;
  tfrt_async_value_set_available(late);
  ck_assert_int_eq(result_i32(0), 7);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}
END_TEST

// x, y -> w = when(y); follows_schedule(w), late(x) + x, follows_schedule(w)
static const small_kernel_t handed_on[] = {
    {.name = "test.when", .arguments = {1}, .argument_count = 1, .results = {2}, .result_count = 1},
    {.name = "test.follows_schedule",
     .arguments = {2},
     .argument_count = 1,
     .results = {3},
     .result_count = 1},
    {.name = "test.late", .arguments = {0}, .argument_count = 1, .results = {4}, .result_count = 1},
    {.name = "test.add",
     .arguments = {4, 0},
     .argument_count = 2,
     .results = {5},
     .result_count = 1},
    {.name = "test.follows_schedule",
     .arguments = {2},
     .argument_count = 1,
     .results = {6},
     .result_count = 1},
};
static const small_program_t handed_on_program = {.argument_types = {"i32", "i32"},
                                                  .kernels = handed_on,
                                                  .kernel_count = 2,
                                                  .register_count = 4,
                                                  .results = {2, 3},
                                                  .result_count = 2};
static const small_program_t handed_on_and_needed_program = {.argument_types = {"i32", "i32"},
                                                             .kernels = handed_on,
                                                             .kernel_count = 5,
                                                             .register_count = 7,
                                                             .results = {2, 5, 6},
                                                             .result_count = 3};

START_TEST(a_kernel_that_hands_a_late_value_on_keeps_the_call_on_its_schedule) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(5), late};
  run(&handed_on_program, arguments);
  ck_assert_ptr_eq(results[0], late);
  ck_assert(*(const bool*)tfrt_async_value_payload(results[1]));
  *(int32_t*)tfrt_async_value_payload(late) = 7;
  tfrt_async_value_set_available(late);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}
END_TEST

START_TEST(a_call_that_is_taken_over_hands_late_values_on) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(5), late};
  run(&handed_on_and_needed_program, arguments);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  small_program_resolve_late();
  ck_assert_int_eq(result_i32(1), 10);
  ck_assert(tfrt_async_value_is_available(results[2]));
  *(int32_t*)tfrt_async_value_payload(late) = 7;
  tfrt_async_value_set_available(late);
  ck_assert_int_eq(result_i32(0), 7);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}
END_TEST

// x -> a = x + x; is a the first one's alone? the second one's?
static const small_kernel_t two_readers[] = {
    {.name = "test.add",
     .arguments = {0, 0},
     .argument_count = 2,
     .results = {1},
     .result_count = 1},
    {.name = "test.unique",
     .arguments = {1},
     .argument_count = 1,
     .results = {2},
     .result_count = 1},
    {.name = "test.unique",
     .arguments = {1},
     .argument_count = 1,
     .results = {3},
     .result_count = 1},
};
static const small_program_t two_readers_program = {.argument_types = {"i32"},
                                                    .kernels = two_readers,
                                                    .kernel_count = 3,
                                                    .register_count = 4,
                                                    .results = {2, 3},
                                                    .result_count = 2};

START_TEST(a_value_is_its_last_readers_alone) {
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  run(&two_readers_program, &argument);
  tfrt_async_value_release(argument);
  int alone = 0;
  for (int i = 0; i < 2; ++i) alone += *(bool*)tfrt_async_value_payload(results[i]);
  ck_assert_int_eq(alone, 1);
}
END_TEST

START_TEST(an_argument_that_is_given_and_not_used_is_dropped) {
  static const small_kernel_t kernels[] = {{.name = "test.constant",
                                            .results = {1},
                                            .result_count = 1,
                                            .has_attribute = true,
                                            .attribute = 3}};
  static const small_program_t table = {.argument_types = {"i32"},
                                        .kernels = kernels,
                                        .kernel_count = 1,
                                        .register_count = 2,
                                        .results = {1},
                                        .result_count = 1};
  tfrt_program_t* program = NULL;
  ck_assert_ptr_null(small_program_make(&table, &program));
  tfrt_execution_context_t context = tfrt_host_context_execution(small_program_host, request);
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  tfrt_async_value_t* given = tfrt_async_value_retain(argument);
  tfrt_function_execute_take(tfrt_program_find_function(program, "main"), &context, &given,
                             results);
  tfrt_program_release(program);
  ck_assert(tfrt_async_value_is_unique(argument));
  tfrt_async_value_release(argument);
  ck_assert_int_eq(result_i32(0), 3);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("executor");
  TCase* cases = tcase_create("executor");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, results_are_there_before_they_are_known);
  tcase_add_test(cases, a_call_starts_before_its_arguments_are_known);
  tcase_add_test(cases, an_error_skips_what_needs_it_and_keeps_its_place);
  tcase_add_test(cases, a_value_of_another_type_is_an_error_and_no_crash);
  tcase_add_test(cases, a_result_that_a_kernel_forgets_is_an_error);
#ifndef NDEBUG
  tcase_add_test(cases, a_result_that_a_kernel_sets_twice_is_an_error);
#endif
  tcase_add_test(cases, a_cancelled_request_starts_no_kernel);
  tcase_add_test(cases, a_call_is_over_when_its_last_value_is_resolved);
  tcase_add_test(cases, a_scope_is_left_at_once_by_a_call_that_is_over);
  tcase_add_test(cases, a_result_whose_kernel_has_not_run_is_a_placeholder);
  tcase_add_test(cases, streams_that_cost_little_become_no_tasks);
  tcase_add_test(cases, what_was_done_before_a_value_is_late_is_kept);
  tcase_add_test(cases, a_call_that_gets_no_memory_when_a_value_is_late_drops_what_it_has);
  tcase_add_test(cases, kernels_that_wait_themselves_hold_up_nothing);
  tcase_add_test(cases, kernels_that_wait_themselves_do_not_run_with_an_error_or_when_cancelled);
  tcase_add_test(cases, a_call_that_is_taken_over_keeps_late_values_that_nobody_needs);
  tcase_add_test(cases, a_kernel_that_hands_a_late_value_on_keeps_the_call_on_its_schedule);
  tcase_add_test(cases, a_call_that_is_taken_over_hands_late_values_on);
  tcase_add_test(cases, a_value_is_its_last_readers_alone);
  tcase_add_test(cases, an_argument_that_is_given_and_not_used_is_dropped);
  suite_add_tcase(suite, cases);
  return suite;
}
