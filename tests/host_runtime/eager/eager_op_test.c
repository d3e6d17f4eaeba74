// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/eager/eager_op.h"

#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_deadline.h"
#include "tests/fakes/fake_clock.h"
#include "tests/host_runtime/eager/eager_fixture.h"
#include "tests/support/test_main.h"

// Runs |op| (consumed) on |count| |arguments| (+0) and returns its one result (+1).
static tfrt_async_value_t* run_once(tfrt_eager_op_t* op, tfrt_async_value_t* const* arguments,
                                    uint32_t count) {
  tfrt_async_value_t* result = NULL;
  ck_assert_ptr_null(tfrt_eager_op_run(op, &eager_fixture_context, arguments, count, &result, 1));
  tfrt_eager_op_release(op);
  return result;
}

// The same for the op |name| with arguments that are consumed.
static tfrt_async_value_t* run(const char* name, tfrt_async_value_t* first,
                               tfrt_async_value_t* second) {
  tfrt_async_value_t* arguments[] = {first, second};
  tfrt_async_value_t* result = run_once(eager_fixture_op(name), arguments, second ? 2 : 1);
  tfrt_async_value_release(first);
  tfrt_async_value_release(second);
  return result;
}

static tfrt_async_value_t* error_value(const char* message) {
  return tfrt_async_value_create_error_take(tfrt_status_create(TFRT_STATUS_ABORTED, "%s", message));
}

static void expect_place(tfrt_async_value_t* error, const char* kernel) {
  ck_assert(tfrt_async_value_is_error(error));
  const tfrt_status_origin_t* origin = &tfrt_status_fields(tfrt_async_value_error(error))->origin;
  ck_assert_str_eq(origin->function, "caller");
  ck_assert_str_eq(origin->kernel, kernel);
  ck_assert_str_eq(origin->file, "here.c");
  ck_assert_uint_eq(origin->line, 7);
}

// --- One op ------------------------------------------------------------------------

START_TEST(an_op_runs_by_its_name) {
  tfrt_async_value_t* sum =
      run("tfrt.add.i32", tfrt_async_value_create_i32(40), tfrt_async_value_create_i32(2));
  ck_assert_int_eq(eager_fixture_take_i32(sum), 42);
}
END_TEST

START_TEST(a_handle_runs_many_times_and_leaves_only_results_behind) {
  tfrt_eager_op_t* add = eager_fixture_op("tfrt.add.i32");
  tfrt_async_value_t* one = tfrt_async_value_create_i32(1);
  tfrt_async_value_t* value = tfrt_async_value_retain(one);
  int64_t live = tfrt_async_value_live_count();
  for (int i = 0; i < 1000; ++i) {
    tfrt_async_value_t* arguments[] = {value, one};
    tfrt_async_value_t* next = NULL;
    ck_assert_ptr_null(tfrt_eager_op_run(add, &eager_fixture_context, arguments, 2, &next, 1));
    tfrt_async_value_release(value);
    value = next;
  }
  if (live > 0) ck_assert_int_eq(tfrt_async_value_live_count(), live + 1);
  ck_assert_int_eq(eager_fixture_take_i32(value), 1001);
  tfrt_async_value_release(one);
  tfrt_eager_op_release(add);
}
END_TEST

START_TEST(a_handle_says_what_it_takes_and_gives) {
  tfrt_eager_op_t* op = eager_fixture_op("tfrt.add.i32");
  ck_assert_str_eq(tfrt_eager_op_name(op), "tfrt.add.i32");
  ck_assert_uint_eq(tfrt_eager_op_argument_count(op), 2);
  ck_assert_uint_eq(tfrt_eager_op_result_count(op), 1);
  ck_assert_str_eq(tfrt_eager_op_argument_type(op, 1), "i32");
  ck_assert_ptr_null(tfrt_eager_op_argument_type(op, 2));
  ck_assert_str_eq(tfrt_eager_op_result_type(op, 0), "i32");
  ck_assert_ptr_null(tfrt_eager_op_result_type(op, 1));
  tfrt_eager_op_release(op);
  op = eager_fixture_op("eager.pass");
  ck_assert_str_eq(tfrt_eager_op_argument_type(op, 0), TFRT_TYPE_ANY);
  tfrt_eager_op_release(op);
  op = eager_fixture_op("eager.unique");  // its table has a choice of two
  ck_assert_str_eq(tfrt_eager_op_argument_type(op, 0), TFRT_TYPE_ANY);
  tfrt_eager_op_release(op);
}
END_TEST

START_TEST(an_op_runs_once_without_a_handle) {
  tfrt_eager_attribute_t value = tfrt_eager_attribute_i32("value", 5);
  tfrt_eager_op_options_t constant = {
      .name = "tfrt.constant.i32", .attributes = &value, .attribute_count = 1};
  tfrt_async_value_t* results[2];
  ck_assert_ptr_null(tfrt_eager_run(&eager_fixture_context, &constant, NULL, 0, results, 1));
  ck_assert_int_eq(eager_fixture_take_i32(results[0]), 5);
  tfrt_eager_op_options_t add = {.name = "tfrt.add.i32"};
  eager_fixture_expect(tfrt_eager_run(&eager_fixture_context, &add, NULL, 0, results, 1),
                       TFRT_STATUS_INVALID_ARGUMENT,
                       "op 'tfrt.add.i32' takes 2 arguments and gives 1 result; it is run with 0 "
                       "and 1");
  tfrt_async_value_t* many[3] = {0};
  eager_fixture_expect(tfrt_eager_run(&eager_fixture_context, &add, many, 3, results, 1),
                       TFRT_STATUS_INVALID_ARGUMENT,
                       "kernel 'tfrt.add.i32' takes 2 operands but has 3");
}
END_TEST

START_TEST(an_op_that_nobody_registered_is_named) {
  tfrt_eager_op_t* op = NULL;
  tfrt_eager_op_options_t options = {.name = "tfrt.unheard", .place = TFRT_EAGER_HERE};
  tfrt_status_t status = tfrt_eager_op_create(eager_fixture_host->registry, &options, &op);
  ck_assert_ptr_null(op);
  ck_assert_ptr_nonnull(strstr(tfrt_status_fields(status)->origin.file, "eager_op_test.c"));
  ck_assert_uint_gt(tfrt_status_fields(status)->origin.line, 0);
  eager_fixture_expect(status, TFRT_STATUS_NOT_FOUND,
                       "there is no op 'tfrt.unheard'; register the kernels that have it first");
}
END_TEST

START_TEST(a_kernel_without_an_asynchronous_form_is_refused) {
  tfrt_eager_op_t* op = NULL;
  tfrt_eager_op_options_t options = {.name = "tfrt_test.error_s"};
  eager_fixture_expect(tfrt_eager_op_create(eager_fixture_host->registry, &options, &op),
                       TFRT_STATUS_INVALID_ARGUMENT,
                       "kernel 'tfrt_test.error_s' runs only in synchronous functions (tfrt.sync)");
}
END_TEST

START_TEST(a_wrong_number_of_arguments_or_results_runs_nothing) {
  tfrt_eager_op_t* op = eager_fixture_op("tfrt.add.i32");
  tfrt_async_value_t* untouched = tfrt_async_value_ready_chain();
  tfrt_async_value_t* results[2] = {untouched, untouched};
  tfrt_status_t status = tfrt_eager_op_run(op, &eager_fixture_context, NULL, 1, results, 2);
  ck_assert_str_eq(tfrt_status_fields(status)->origin.file, "here.c");
  eager_fixture_expect(status, TFRT_STATUS_INVALID_ARGUMENT,
                       "op 'tfrt.add.i32' takes 2 arguments and gives 1 result; it is run with 1 "
                       "and 2");
  eager_fixture_expect(tfrt_eager_op_run_take(op, &eager_fixture_context, NULL, 0, results, 1),
                       TFRT_STATUS_INVALID_ARGUMENT,
                       "op 'tfrt.add.i32' takes 2 arguments and gives 1 result; it is run with 0 "
                       "and 1");
  ck_assert_ptr_eq(results[0], untouched);
  tfrt_eager_op_release(op);
}
END_TEST

START_TEST(an_op_of_any_number_of_arguments_is_made_for_some) {
  enum { COUNT = 40 };  // more than have room in a frame on the stack
  tfrt_eager_op_options_t options = {.name = "eager.sum", .argument_count = COUNT};
  tfrt_eager_op_t* op = NULL;
  ck_assert_ptr_null(tfrt_eager_op_create(eager_fixture_host->registry, &options, &op));
  ck_assert_uint_eq(tfrt_eager_op_argument_count(op), COUNT);
  tfrt_async_value_t* arguments[COUNT];
  for (int i = 0; i < COUNT; ++i) arguments[i] = tfrt_async_value_create_i32(i);
  tfrt_async_value_t* result = NULL;
  ck_assert_ptr_null(tfrt_eager_op_run(op, &eager_fixture_context, arguments, COUNT, &result, 1));
  ck_assert_int_eq(eager_fixture_take_i32(result), COUNT * (COUNT - 1) / 2);
  ck_assert_ptr_null(
      tfrt_eager_op_run_take(op, &eager_fixture_context, arguments, COUNT, &result, 1));
  ck_assert_int_eq(eager_fixture_take_i32(result), COUNT * (COUNT - 1) / 2);
  tfrt_eager_op_release(op);
  op = eager_fixture_op("eager.sum");
  ck_assert_uint_eq(tfrt_eager_op_argument_count(op), 0);
  ck_assert_int_eq(eager_fixture_take_i32(run_once(op, NULL, 0)), 0);
}
END_TEST

START_TEST(a_chain_may_trail_where_the_table_lets_it) {
  tfrt_eager_op_options_t options = {.name = "tfrt.multiply.f32"};
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_f32(2), tfrt_async_value_create_f32(3),
                                     tfrt_async_value_ready_chain()};
  tfrt_async_value_t* result = NULL;
  ck_assert_ptr_null(tfrt_eager_run(&eager_fixture_context, &options, arguments, 3, &result, 1));
  ck_assert(*(float*)tfrt_async_value_payload(result) == 6.0f);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
  tfrt_async_value_release(result);
}
END_TEST

// --- Late arguments -----------------------------------------------------------------

START_TEST(a_late_argument_delays_the_op_alone) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* sum =
      run("tfrt.add.i32", tfrt_async_value_retain(late), tfrt_async_value_create_i32(2));
  ck_assert(!tfrt_async_value_is_available(sum));  // handle and arguments are gone already
  *(int32_t*)tfrt_async_value_payload(late) = 3;
  tfrt_async_value_set_available(late);
  tfrt_async_value_release(late);
  ck_assert_int_eq(eager_fixture_take_i32(sum), 5);
}
END_TEST

START_TEST(a_late_result_of_one_op_is_an_argument_of_the_next) {
  tfrt_async_value_t* first = run("eager.late", tfrt_async_value_create_i32(20), NULL);
  ck_assert(!tfrt_async_value_is_available(first));
  tfrt_async_value_t* doubled = run("tfrt.add.i32", tfrt_async_value_retain(first), first);
  eager_fixture_resolve_late();
  ck_assert_int_eq(eager_fixture_take_i32(doubled), 40);
}
END_TEST

START_TEST(a_late_error_is_the_result) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* sum =
      run("tfrt.add.i32", tfrt_async_value_retain(late), tfrt_async_value_create_i32(2));
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_ABORTED, "no more");
  tfrt_async_value_set_error(late, status);
  tfrt_status_release(status);
  tfrt_async_value_release(late);
  eager_fixture_expect_error(sum, TFRT_STATUS_ABORTED, "no more");
}
END_TEST

START_TEST(an_operand_that_is_only_handed_on_is_not_waited_for) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  ck_assert(!eager_fixture_take_i1(run("eager.pass", tfrt_async_value_retain(late), NULL)));
  ck_assert(eager_fixture_take_i1(run("eager.pass", error_value("an error is a value"), NULL)));
  tfrt_async_value_t* chain = run("eager.wait", tfrt_async_value_retain(late), NULL);
  ck_assert(!tfrt_async_value_is_available(chain));
  tfrt_async_value_set_available(late);
  ck_assert_int_eq(tfrt_async_value_state(chain), TFRT_ASYNC_VALUE_AVAILABLE);
  tfrt_async_value_release(chain);
  tfrt_async_value_release(late);
}
END_TEST

START_TEST(any_op_can_be_made_non_strict) {
  tfrt_bef_call_options_t nonstrict = {.nonstrict = true};
  tfrt_eager_op_options_t options = {.name = "eager.wait", .call_options = &nonstrict};
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* chain = NULL;
  ck_assert_ptr_null(tfrt_eager_run(&eager_fixture_context, &options, &late, 1, &chain, 1));
  ck_assert_int_eq(tfrt_async_value_state(chain), TFRT_ASYNC_VALUE_AVAILABLE);
  tfrt_async_value_release(chain);
  tfrt_async_value_release(late);
  tfrt_bef_call_options_t remote = {.has_host = true, .host = 1};
  options.call_options = &remote;
  eager_fixture_expect(tfrt_eager_run(&eager_fixture_context, &options, &late, 1, &chain, 1),
                       TFRT_STATUS_INVALID_ARGUMENT,
                       "op 'eager.wait' calls no function: it can't have a host, a deadline, "
                       "retries or be pure");
}
END_TEST

static void count_up(tfrt_task_t* task);
static struct {
  tfrt_task_t task;
  int runs;
} over;
static void count_up(tfrt_task_t* task) {
  (void)task;
  ++over.runs;
}

START_TEST(a_scope_hears_when_the_last_result_is_there) {
  tfrt_call_scope_t scope;
  tfrt_task_initialize(&over.task, count_up);
  tfrt_call_scope_initialize(&scope, &over.task);
  eager_fixture_context.scope = &scope;
  tfrt_async_value_t* result = run("eager.late", tfrt_async_value_create_i32(1), NULL);
  eager_fixture_context.scope = NULL;
  tfrt_call_scope_leave(&scope);
  ck_assert_int_eq(over.runs, 0);
  eager_fixture_resolve_late();
  ck_assert_int_eq(over.runs, 1);
  ck_assert_int_eq(eager_fixture_take_i32(result), 1);
}
END_TEST

// --- Errors, cancels -----------------------------------------------------------------

START_TEST(of_several_errors_the_last_one_counts) {
  eager_fixture_expect_error(run("tfrt.add.i32", error_value("first"), error_value("last")),
                             TFRT_STATUS_ABORTED, "last");
}
END_TEST

START_TEST(an_error_of_the_kernel_tells_the_place_of_the_op) {
  tfrt_async_value_t* results[2];
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(1),
                                     tfrt_async_value_create_i32(0)};
  tfrt_eager_op_t* op = eager_fixture_op("tfrt.div.i32");
  ck_assert_ptr_null(tfrt_eager_op_run(op, &eager_fixture_context, arguments, 2, results, 2));
  tfrt_eager_op_release(op);
  for (int i = 0; i < 2; ++i) {
    expect_place(results[i], "tfrt.div.i32");
    tfrt_async_value_release(results[i]);
    tfrt_async_value_release(arguments[i]);
  }
}
END_TEST

START_TEST(an_error_that_comes_later_tells_it_too) {
  tfrt_async_value_t* result = run("eager.fail_late", tfrt_async_value_create_i32(1), NULL);
  eager_fixture_resolve_late();
  expect_place(result, "eager.fail_late");
  eager_fixture_expect_error(result, TFRT_STATUS_INTERNAL, "it failed late");
}
END_TEST

START_TEST(an_argument_of_another_type_is_an_error) {
  tfrt_async_value_t* result =
      run("tfrt.add.i32", tfrt_async_value_create_i32(1), tfrt_async_value_create_f64(2));
  expect_place(result, "tfrt.add.i32");
  eager_fixture_expect_error(result, TFRT_STATUS_INVALID_ARGUMENT,
                             "argument 1 of 'tfrt.add.i32' is a f64, but the kernel takes a i32");
}
END_TEST

START_TEST(nothing_runs_in_a_cancelled_request) {
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "Cancelled");
  tfrt_request_context_cancel(eager_fixture_request, reason);
  tfrt_status_release(reason);
  eager_fixture_expect_error(
      run("tfrt.add.i32", tfrt_async_value_create_i32(1), tfrt_async_value_create_i32(2)),
      TFRT_STATUS_CANCELLED, "Cancelled");
  eager_fixture_expect_error(
      run("tfrt.add.i32", tfrt_async_value_create_i32(1), error_value("before that")),
      TFRT_STATUS_ABORTED, "before that");
}
END_TEST

START_TEST(nothing_starts_behind_the_deadline) {
  tfrt_fake_clock_t clock;
  tfrt_timer_queue_t timers;
  tfrt_request_deadline_t* deadline = NULL;
  tfrt_fake_clock_initialize(&clock, 1000);
  tfrt_timer_queue_initialize(&timers, tfrt_fake_clock_interface(&clock));
  tfrt_request_options_t options = tfrt_request_options_default();
  options.deadline_ns = 2000;
  eager_fixture_use_request(&options);
  ck_assert_ptr_null(tfrt_request_deadline_start(eager_fixture_request, &timers, &deadline));
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_t* sum =
      run("tfrt.add.i32", tfrt_async_value_retain(late), tfrt_async_value_create_i32(2));
  tfrt_fake_clock_advance_to(&clock, 2000);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&timers), 1);
  tfrt_async_value_set_available(late);
  tfrt_async_value_release(late);
  eager_fixture_expect_error(sum, TFRT_STATUS_DEADLINE_EXCEEDED,
                             "the deadline of the request has passed");
  tfrt_request_deadline_stop(deadline);
  tfrt_timer_queue_deinitialize(&timers);
}
END_TEST

// --- Ownership ---------------------------------------------------------------------

START_TEST(an_argument_that_is_given_away_is_the_ops_own) {
  tfrt_eager_op_t* op = eager_fixture_op("eager.unique");
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(1);
  tfrt_async_value_t* result = NULL;
  ck_assert_ptr_null(tfrt_eager_op_run(op, &eager_fixture_context, &argument, 1, &result, 1));
  ck_assert(!eager_fixture_take_i1(result));
  tfrt_async_value_retain(argument);
  ck_assert_ptr_null(tfrt_eager_op_run_take(op, &eager_fixture_context, &argument, 1, &result, 1));
  ck_assert(!eager_fixture_take_i1(result));  // the test still has it
  ck_assert_ptr_null(tfrt_eager_op_run_take(op, &eager_fixture_context, &argument, 1, &result, 1));
  ck_assert(eager_fixture_take_i1(result));
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_async_value_retain(late);
  ck_assert_ptr_null(tfrt_eager_op_run_take(op, &eager_fixture_context, &late, 1, &result, 1));
  tfrt_eager_op_release(op);
  tfrt_async_value_set_available(late);
  ck_assert(!eager_fixture_take_i1(result));
  tfrt_async_value_release(late);
}
END_TEST

// --- Functions -----------------------------------------------------------------------

static const char functions_text[] =
    "func.func @next(%x: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %y = tfrt.add.i32 %x, %one\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @late(%x: i32) -> i32 {\n"
    "  %y = \"eager.late\"(%x) : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @twice(%x: i32) -> i32 attributes {tfrt.sync} {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}\n"
    "func.func @fails() -> i32 {\n"
    "  %x = \"tfrt_test.fail\"() : () -> i32\n"
    "  tfrt.return %x : i32\n"
    "}\n";

// A handle (+1) of the function |name| of a program of |functions_text|, which it keeps.
static tfrt_eager_op_t* composite(const char* name) {
  tfrt_program_t* program = eager_fixture_load(functions_text);
  tfrt_eager_op_t* op = NULL;
  ck_assert_ptr_null(tfrt_eager_op_create_composite(program, name, &op));
  tfrt_program_release(program);
  return op;
}

START_TEST(a_function_of_any_kind_is_an_op) {
  static const char* const names[] = {"next", "twice", "native_add"};
  static const int32_t expected[] = {22, 42, 25};
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(21),
                                     tfrt_async_value_create_i32(4)};
  for (int i = 0; i < 3; ++i) {
    tfrt_eager_op_t* op = composite(names[i]);
    ck_assert_str_eq(tfrt_eager_op_name(op), names[i]);
    uint32_t count = tfrt_eager_op_argument_count(op);
    ck_assert_uint_eq(count, i == 2 ? 2 : 1);
    ck_assert_str_eq(tfrt_eager_op_argument_type(op, 0), "i32");
    ck_assert_int_eq(eager_fixture_take_i32(run_once(op, arguments, count)), expected[i]);
  }
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}
END_TEST

START_TEST(a_function_goes_on_without_its_handle) {
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(21);
  tfrt_async_value_t* result = run_once(composite("late"), &argument, 1);
  tfrt_async_value_release(argument);
  eager_fixture_resolve_late();
  ck_assert_int_eq(eager_fixture_take_i32(result), 21);
}
END_TEST

START_TEST(an_error_in_a_function_tells_the_place_in_its_text) {
  tfrt_async_value_t* error = run_once(composite("fails"), NULL, 0);
  const tfrt_status_origin_t* origin = &tfrt_status_fields(tfrt_async_value_error(error))->origin;
  ck_assert_str_eq(origin->function, "fails");
  ck_assert_str_eq(origin->file, "test.mlir");
  tfrt_async_value_release(error);
}
END_TEST

START_TEST(a_function_that_is_not_there_is_named) {
  tfrt_program_t* program = eager_fixture_load(functions_text);
  tfrt_eager_op_t* op = NULL;
  eager_fixture_expect(tfrt_eager_op_create_composite(program, "unheard", &op),
                       TFRT_STATUS_NOT_FOUND, "the program has no function 'unheard'");
  ck_assert_ptr_null(op);
  tfrt_program_release(program);
}
END_TEST

// Runs the op |name| with |attributes| on |arguments| (consumed), which gives one i32.
static int32_t run_with_functions(const char* name, const tfrt_eager_attribute_t* attributes,
                                  uint32_t attribute_count, tfrt_async_value_t** arguments) {
  tfrt_eager_op_options_t options = {
      .name = name, .attributes = attributes, .attribute_count = attribute_count};
  tfrt_async_value_t* result = NULL;
  ck_assert_ptr_null(tfrt_eager_run(&eager_fixture_context, &options, arguments, 2, &result, 1));
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
  return eager_fixture_take_i32(result);
}

START_TEST(ops_and_functions_are_attributes_of_ops) {
  tfrt_eager_op_t* next = composite("next");
  tfrt_eager_op_t* late = eager_fixture_op("tfrt_test.async_copy.i32");
  const tfrt_function_t* functions[] = {tfrt_eager_op_function(next), tfrt_eager_op_function(late)};
  tfrt_eager_attribute_t cond[] = {tfrt_eager_attribute_function("b_false_fn", functions[1]),
                                   tfrt_eager_attribute_function("a_true_fn", functions[0])};
  tfrt_eager_attribute_t branches = tfrt_eager_attribute_functions("branches", functions, 2);
  tfrt_eager_attribute_t regions[] = {tfrt_eager_attribute_function("then", functions[0]),
                                      tfrt_eager_attribute_function("else", functions[0])};
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i1(true),
                                     tfrt_async_value_create_i32(6)};
  ck_assert_int_eq(run_with_functions("tfrt.cond", cond, 2, arguments), 7);
  tfrt_async_value_t* again[] = {tfrt_async_value_create_i32(0), tfrt_async_value_create_i32(8)};
  ck_assert_int_eq(run_with_functions("tfrt.case", &branches, 1, again), 9);
  tfrt_async_value_t* third[] = {tfrt_async_value_create_i1(false), tfrt_async_value_create_i32(1)};
  ck_assert_int_eq(run_with_functions("tfrt.if", regions, 2, third), 2);
  tfrt_eager_op_release(next);
  tfrt_eager_op_release(late);
}
END_TEST

// The result of tfrt.once for @next(|number|) in a new request that shares |store|.
static int32_t run_once_in_request(const tfrt_eager_op_t* once, tfrt_resource_context_t* store,
                                   int32_t number) {
  tfrt_request_options_t options = tfrt_request_options_default();
  options.resources = store;
  eager_fixture_use_request(&options);
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(number);
  tfrt_async_value_t* result = NULL;
  ck_assert_ptr_null(tfrt_eager_op_run(once, &eager_fixture_context, &argument, 1, &result, 1));
  tfrt_async_value_release(argument);
  return eager_fixture_take_i32(result);
}

START_TEST(once_is_once_for_all_requests_that_share_their_resources) {
  tfrt_eager_op_t* next = composite("next");
  tfrt_eager_attribute_t function =
      tfrt_eager_attribute_function("function", tfrt_eager_op_function(next));
  tfrt_eager_op_options_t options = {.name = "tfrt.once",
                                     .attributes = &function,
                                     .attribute_count = 1,
                                     .argument_count = 1,
                                     .result_count = 1};
  tfrt_eager_op_t* once = NULL;
  ck_assert_ptr_null(tfrt_eager_op_create(eager_fixture_host->registry, &options, &once));
  tfrt_resource_context_t store;
  tfrt_resource_context_initialize(&store);
  ck_assert_int_eq(run_once_in_request(once, &store, 1), 2);
  ck_assert_int_eq(run_once_in_request(once, &store, 10), 2);
  ck_assert_int_eq(run_once_in_request(once, NULL, 20), 21);
  tfrt_resource_context_deinitialize(&store);
  tfrt_eager_op_release(once);
  tfrt_eager_op_release(next);
}
END_TEST

START_TEST(an_op_keeps_the_functions_that_it_calls) {
  tfrt_eager_op_t* copy = eager_fixture_op("tfrt_test.async_copy.i32");
  tfrt_eager_attribute_t callee =
      tfrt_eager_attribute_function("callee", tfrt_eager_op_function(copy));
  tfrt_eager_op_options_t options = {.name = "tfrt.call",
                                     .attributes = &callee,
                                     .attribute_count = 1,
                                     .argument_count = 1,
                                     .result_count = 1};
  tfrt_eager_op_t* call = NULL;
  ck_assert_ptr_null(tfrt_eager_op_create(eager_fixture_host->registry, &options, &call));
  tfrt_eager_op_release(copy);
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(9);
  tfrt_async_value_t* result = run_once(call, &argument, 1);
  tfrt_async_value_release(argument);
  tfrt_work_queue_await(eager_fixture_host->work_queue, &result, 1);
  ck_assert_int_eq(eager_fixture_take_i32(result), 9);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("eager_op");
  TCase* cases = tcase_create("eager_op");
  tcase_add_checked_fixture(cases, eager_fixture_set_up, eager_fixture_tear_down);
  tcase_add_test(cases, an_op_runs_by_its_name);
  tcase_add_test(cases, a_handle_runs_many_times_and_leaves_only_results_behind);
  tcase_add_test(cases, a_handle_says_what_it_takes_and_gives);
  tcase_add_test(cases, an_op_runs_once_without_a_handle);
  tcase_add_test(cases, an_op_that_nobody_registered_is_named);
  tcase_add_test(cases, a_kernel_without_an_asynchronous_form_is_refused);
  tcase_add_test(cases, a_wrong_number_of_arguments_or_results_runs_nothing);
  tcase_add_test(cases, an_op_of_any_number_of_arguments_is_made_for_some);
  tcase_add_test(cases, a_chain_may_trail_where_the_table_lets_it);
  tcase_add_test(cases, a_late_argument_delays_the_op_alone);
  tcase_add_test(cases, a_late_result_of_one_op_is_an_argument_of_the_next);
  tcase_add_test(cases, a_late_error_is_the_result);
  tcase_add_test(cases, an_operand_that_is_only_handed_on_is_not_waited_for);
  tcase_add_test(cases, any_op_can_be_made_non_strict);
  tcase_add_test(cases, a_scope_hears_when_the_last_result_is_there);
  tcase_add_test(cases, of_several_errors_the_last_one_counts);
  tcase_add_test(cases, an_error_of_the_kernel_tells_the_place_of_the_op);
  tcase_add_test(cases, an_error_that_comes_later_tells_it_too);
  tcase_add_test(cases, an_argument_of_another_type_is_an_error);
  tcase_add_test(cases, nothing_runs_in_a_cancelled_request);
  tcase_add_test(cases, nothing_starts_behind_the_deadline);
  tcase_add_test(cases, an_argument_that_is_given_away_is_the_ops_own);
  tcase_add_test(cases, a_function_of_any_kind_is_an_op);
  tcase_add_test(cases, a_function_goes_on_without_its_handle);
  tcase_add_test(cases, an_error_in_a_function_tells_the_place_in_its_text);
  tcase_add_test(cases, a_function_that_is_not_there_is_named);
  tcase_add_test(cases, ops_and_functions_are_attributes_of_ops);
  tcase_add_test(cases, once_is_once_for_all_requests_that_share_their_resources);
  tcase_add_test(cases, an_op_keeps_the_functions_that_it_calls);
  suite_add_tcase(suite, cases);
  return suite;
}
