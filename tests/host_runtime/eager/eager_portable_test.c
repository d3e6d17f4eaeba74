// SPDX-License-Identifier: Apache-2.0
//
// Ops that other hosts can be asked to run, with hosts that are all this process.
#include "host_runtime/eager/eager_op.h"
#include "host_runtime/executor/hosts/in_process_hosts.h"
#include "tests/host_runtime/eager/eager_fixture.h"
#include "tests/support/test_main.h"

static const tfrt_eager_place_t here = {.name = "caller", .file = "here.c", .line = 7};

static tfrt_eager_op_t* portable(const char* name, uint32_t argument_count) {
  tfrt_eager_op_options_t options = {
      .name = name, .argument_count = argument_count, .is_portable = true, .place = here};
  tfrt_eager_op_t* op = NULL;
  ck_assert_ptr_null(tfrt_eager_op_create(eager_fixture_host->registry, &options, &op));
  return op;
}

// Runs |op| (consumed) on host |rank| of the request of |context| with |count| |arguments| (+0) and
// returns its result (+1).
static tfrt_async_value_t* run_on(tfrt_eager_op_t* op, const tfrt_execution_context_t* context,
                                  uint32_t rank, tfrt_async_value_t* const* arguments,
                                  uint32_t count) {
  tfrt_call_options_t call = {.has_host = true, .host = rank};
  tfrt_async_value_t* result = NULL;
  ck_assert_ptr_null(tfrt_eager_op_run_on(op, context, &call, arguments, count, &result, 1));
  tfrt_eager_op_release(op);
  return result;
}

START_TEST(in_a_request_of_one_host_it_runs_here) {
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(40),
                                     tfrt_async_value_create_i32(2)};
  tfrt_async_value_t* sum =
      run_on(portable("tfrt.add.i32", 0), &eager_fixture_context, 5, arguments, 2);
  ck_assert_int_eq(eager_fixture_take_i32(sum), 42);
  sum = run_on(portable("eager.sum", 2), &eager_fixture_context, 5, arguments, 2);
  ck_assert_int_eq(eager_fixture_take_i32(sum), 42);
  tfrt_eager_op_t* op = portable("tfrt.add.i32", 0);
  ck_assert_ptr_null(tfrt_eager_op_run(op, &eager_fixture_context, arguments, 2, &sum, 1));
  ck_assert_int_eq(eager_fixture_take_i32(sum), 42);
  tfrt_eager_op_release(op);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}
END_TEST

START_TEST(a_host_is_where_it_is_asked_to_run) {
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_in_process_hosts_t* hosts = NULL;
  ck_assert_ptr_null(tfrt_in_process_hosts_allocate(3, &options, tfrt_allocator_system(), &hosts));
  tfrt_execution_context_t context =
      tfrt_host_context_execution(eager_fixture_host, tfrt_in_process_hosts_request(hosts));
  tfrt_async_value_t* rank = run_on(portable("tfrt_dist.rank", 0), &context, 2, NULL, 0);
  ck_assert_int_eq(eager_fixture_take_i32(rank), 2);
  tfrt_async_value_t* error = run_on(portable("tfrt_dist.rank", 0), &context, 3, NULL, 0);
  const tfrt_status_origin_t* origin = &tfrt_status_fields(tfrt_async_value_error(error))->origin;
  ck_assert_str_eq(origin->kernel, "tfrt_dist.rank");
  ck_assert_str_eq(origin->file, "here.c");
  ck_assert_uint_eq(origin->line, 7);
  eager_fixture_expect_error(error, TFRT_STATUS_INVALID_ARGUMENT,
                             "the call asks for host 3, the job has 3 hosts");
  tfrt_in_process_hosts_free(hosts);
}
END_TEST

START_TEST(a_function_of_a_program_is_portable) {
  tfrt_program_t* program = eager_fixture_load(
      "func.func @where() -> i32 {\n"
      "  %x = tfrt.constant.i32 5\n"
      "  tfrt.return %x : i32\n"
      "}\n");
  tfrt_eager_op_t* op = NULL;
  ck_assert_ptr_null(tfrt_eager_op_create_composite(program, "where", &op));
  tfrt_program_release(program);
  ck_assert_int_eq(eager_fixture_take_i32(run_on(op, &eager_fixture_context, 1, NULL, 0)), 5);
}
END_TEST

START_TEST(what_fails_tells_the_place_of_the_op) {
  tfrt_async_value_t* error =
      run_on(portable("tfrt_test.fail", 0), &eager_fixture_context, 1, NULL, 0);
  const tfrt_status_origin_t* origin = &tfrt_status_fields(tfrt_async_value_error(error))->origin;
  ck_assert_str_eq(origin->function, "tfrt_test.fail");
  ck_assert_str_eq(origin->kernel, "tfrt_test.fail");
  ck_assert_str_eq(origin->file, "here.c");
  ck_assert_uint_eq(origin->line, 7);
  tfrt_async_value_release(error);
}
END_TEST

START_TEST(an_op_that_was_not_made_for_it_is_refused) {
  tfrt_eager_op_t* add = eager_fixture_op("tfrt.add.i32");
  tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(40),
                                     tfrt_async_value_create_i32(2)};
  tfrt_call_options_t call = {.has_host = true, .host = 1};
  tfrt_async_value_t* result = NULL;
  tfrt_status_t status =
      tfrt_eager_op_run_on(add, &eager_fixture_context, &call, arguments, 2, &result, 1);
  ck_assert_ptr_null(result);
  ck_assert_str_eq(tfrt_status_fields(status)->origin.file, "here.c");
  eager_fixture_expect(status, TFRT_STATUS_INVALID_ARGUMENT,
                       "op 'tfrt.add.i32' is not portable, so no other host can run it: set "
                       "is_portable where it is made");
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
  tfrt_eager_op_release(add);
}
END_TEST

START_TEST(functions_can_not_go_with_an_op) {
  tfrt_eager_op_t* next = eager_fixture_op("tfrt_test.async_copy.i32");
  tfrt_eager_attribute_t function =
      tfrt_eager_attribute_function("function", tfrt_eager_op_function(next));
  tfrt_eager_op_options_t options = {.name = "tfrt.once",
                                     .attributes = &function,
                                     .attribute_count = 1,
                                     .argument_count = 1,
                                     .result_count = 1,
                                     .is_portable = true,
                                     .place = here};
  tfrt_eager_op_t* op = NULL;
  tfrt_status_t status = tfrt_eager_op_create(eager_fixture_host->registry, &options, &op);
  ck_assert_ptr_null(op);
  ck_assert_str_eq(tfrt_status_fields(status)->origin.file, "here.c");
  eager_fixture_expect(status, TFRT_STATUS_INVALID_ARGUMENT,
                       "op 'tfrt.once' is given functions, so it can't be portable: write it into "
                       "a function of a program, and make a composite op of that");
  tfrt_eager_op_release(next);
}
END_TEST

START_TEST(an_op_that_writes_to_an_operand_stays_here) {
  tfrt_eager_op_options_t options = {
      .name = "tfrt_test.atomic.inc.i32", .is_portable = true, .place = here};
  tfrt_eager_op_t* op = NULL;
  tfrt_status_t status = tfrt_eager_op_create(eager_fixture_host->registry, &options, &op);
  ck_assert_ptr_null(op);
  eager_fixture_expect(status, TFRT_STATUS_INVALID_ARGUMENT,
                       "op 'tfrt_test.atomic.inc.i32' writes to its operand 'atomic', so it can't "
                       "be portable: another host would write to a copy");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("portable");
  tcase_add_checked_fixture(cases, eager_fixture_set_up, eager_fixture_tear_down);
  tcase_add_test(cases, in_a_request_of_one_host_it_runs_here);
  tcase_add_test(cases, a_host_is_where_it_is_asked_to_run);
  tcase_add_test(cases, a_function_of_a_program_is_portable);
  tcase_add_test(cases, what_fails_tells_the_place_of_the_op);
  tcase_add_test(cases, an_op_that_was_not_made_for_it_is_refused);
  tcase_add_test(cases, functions_can_not_go_with_an_op);
  tcase_add_test(cases, an_op_that_writes_to_an_operand_stays_here);
  Suite* suite = suite_create("eager_portable");
  suite_add_tcase(suite, cases);
  return suite;
}
