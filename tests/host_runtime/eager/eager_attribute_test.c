// SPDX-License-Identifier: Apache-2.0
//
// Attributes of ops that run without a program: kernels read the same bytes as from a file, and
// what is wrong is said when the op is made.
#include "host_runtime/eager/eager_attribute.h"

#include "tests/host_runtime/eager/eager_fixture.h"
#include "tests/support/test_main.h"

// Makes the op |name| with |count| |attributes|; |*out_op| is at +1.
static tfrt_status_t make(const char* name, const tfrt_eager_attribute_t* attributes,
                          uint32_t count, tfrt_eager_op_t** out_op) {
  tfrt_eager_op_options_t options = {.name = name,
                                     .attributes = attributes,
                                     .attribute_count = count,
                                     .place = {.name = "caller", .file = "here.c", .line = 7}};
  return tfrt_eager_op_create(eager_fixture_host->registry, &options, out_op);
}

static void expect_refused(const char* name, const tfrt_eager_attribute_t* attributes,
                           uint32_t count, const char* message) {
  tfrt_eager_op_t* op = NULL;
  tfrt_status_t status = make(name, attributes, count, &op);
  ck_assert_ptr_null(op);
  ck_assert_ptr_nonnull(status);
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  ck_assert_str_eq(fields->origin.function, "caller");
  ck_assert_str_eq(fields->origin.kernel, name);
  ck_assert_str_eq(fields->origin.file, "here.c");
  ck_assert_uint_eq(fields->origin.line, 7);
  eager_fixture_expect(status, TFRT_STATUS_INVALID_ARGUMENT, message);
}

static const char record_text[] =
    "func.func @main() {\n"
    "  \"eager.record\"() {a_i1 = true, b_i8 = -8 : i8, c_i16 = -16 : i16, d_i32 = -32 : i32,\n"
    "    e_i64 = -64, f_ui8 = 8 : ui8, g_ui16 = 16 : ui16, h_ui32 = 32 : ui32,\n"
    "    i_ui64 = 64 : ui64, j_f32 = 1.5 : f32, k_f64 = -2.25 : f64, l_string = \"text\",\n"
    "    m_type = f64, n_shape = #corert.shape<2x?x3>, o_dense = dense<[[1, 2], [3, 4]]> :\n"
    "    tensor<2x2xi32>, p_array = [5, -6, 7], q_aggregate = [\"a\", 9 : i32],\n"
    "    r_unranked = #corert.shape<*>} : () -> ()\n"
    "  tfrt.return\n"
    "}\n";

// Runs eager.record with the attributes of |record_text|, in another order than the table's.
static void run_record(bool is_portable) {
  int64_t shape[] = {2, -1, 3};
  int64_t dims[] = {2, 2};
  int32_t elements[] = {1, 2, 3, 4};
  int64_t array[] = {5, -6, 7};
  tfrt_bef_value_t aggregate[] = {tfrt_eager_attribute_string("", "a").value,
                                  tfrt_eager_attribute_i32("", 9).value};
  tfrt_eager_attribute_t attributes[] = {
      tfrt_eager_attribute_unranked_shape("r_unranked"),
      tfrt_eager_attribute_aggregate("q_aggregate", aggregate, 2),
      tfrt_eager_attribute_array("p_array", TFRT_BEF_DTYPE_I64, array, 3),
      tfrt_eager_attribute_dense("o_dense", TFRT_BEF_DTYPE_I32, dims, 2, elements,
                                 sizeof(elements)),
      tfrt_eager_attribute_shape("n_shape", shape, 3),
      tfrt_eager_attribute_type("m_type", TFRT_BEF_DTYPE_F64),
      tfrt_eager_attribute_string("l_string", "text"),
      tfrt_eager_attribute_f64("k_f64", -2.25),
      tfrt_eager_attribute_f32("j_f32", 1.5f),
      tfrt_eager_attribute_ui64("i_ui64", 64),
      tfrt_eager_attribute_ui32("h_ui32", 32),
      tfrt_eager_attribute_ui16("g_ui16", 16),
      tfrt_eager_attribute_ui8("f_ui8", 8),
      tfrt_eager_attribute_i64("e_i64", -64),
      tfrt_eager_attribute_i32("d_i32", -32),
      tfrt_eager_attribute_i16("c_i16", -16),
      tfrt_eager_attribute_i8("b_i8", -8),
      tfrt_eager_attribute_i1("a_i1", true),
  };
  tfrt_eager_op_options_t options = {.name = "eager.record",
                                     .attributes = attributes,
                                     .attribute_count = TFRT_ARRAY_SIZE(attributes),
                                     .is_portable = is_portable};
  tfrt_eager_op_t* op = NULL;
  ck_assert_ptr_null(tfrt_eager_op_create(eager_fixture_host->registry, &options, &op));
  ck_assert_ptr_null(tfrt_eager_op_run(op, &eager_fixture_context, NULL, 0, NULL, 0));
  tfrt_eager_op_release(op);
}

START_TEST(kernels_read_the_bytes_that_a_file_would_have) {
  tfrt_program_t* program = eager_fixture_load(record_text);
  tfrt_function_execute(tfrt_program_find_function(program, "main"), &eager_fixture_context, NULL,
                        NULL);
  tfrt_program_release(program);
  ck_assert_uint_gt(eager_fixture_recorded.size, 0);
  char expected[1024];
  size_t size = eager_fixture_recorded.size;
  ck_assert_uint_le(size, sizeof(expected));
  memcpy(expected, eager_fixture_recorded.data, size);
  for (int is_portable = 0; is_portable < 2; ++is_portable) {
    tfrt_string_builder_clear(&eager_fixture_recorded);
    run_record(is_portable);
    ck_assert_uint_eq(eager_fixture_recorded.size, size);
    ck_assert_mem_eq(eager_fixture_recorded.data, expected, size);
  }
}
END_TEST

START_TEST(what_is_left_out_has_the_value_that_the_table_says) {
  tfrt_eager_op_t* op = NULL;
  tfrt_async_value_t* results[3];
  tfrt_eager_attribute_t count = tfrt_eager_attribute_i32("count", 3);
  ck_assert_ptr_null(make("eager.settings", &count, 1, &op));
  ck_assert_ptr_null(tfrt_eager_op_run(op, &eager_fixture_context, NULL, 0, results, 3));
  tfrt_eager_op_release(op);
  ck_assert_int_eq(eager_fixture_take_i32(results[0]), 3);
  ck_assert(eager_fixture_take_i1(results[1]));
  ck_assert(*(float*)tfrt_async_value_payload(results[2]) == 0.5f);
  tfrt_async_value_release(results[2]);
  op = eager_fixture_op("eager.settings");
  ck_assert_ptr_null(tfrt_eager_op_run(op, &eager_fixture_context, NULL, 0, results, 3));
  tfrt_eager_op_release(op);
  ck_assert_int_eq(eager_fixture_take_i32(results[0]), 7);
  tfrt_async_value_release(results[1]);
  tfrt_async_value_release(results[2]);
}
END_TEST

START_TEST(an_attribute_that_is_missing_is_named_with_its_kind) {
  expect_refused("tfrt.constant.i32", NULL, 0,
                 "op 'tfrt.constant.i32' needs its attribute 'value' (i32)");
  expect_refused("tfrt.call", NULL, 0, "op 'tfrt.call' needs its attribute 'callee' (function)");
  expect_refused("tfrt.case", NULL, 0,
                 "op 'tfrt.case' needs its attribute 'branches' (array of functions)");
  expect_refused("tfrt.if", NULL, 0, "op 'tfrt.if' needs a function for its region 'then'");
}
END_TEST

START_TEST(an_attribute_that_the_op_does_not_have_is_refused_with_those_it_has) {
  tfrt_eager_attribute_t attributes[] = {tfrt_eager_attribute_i32("valu", 1)};
  expect_refused("tfrt.constant.i32", attributes, 1,
                 "op 'tfrt.constant.i32' has no attribute 'valu'; it has 'value'");
  expect_refused("tfrt.add.i32", attributes, 1,
                 "op 'tfrt.add.i32' has no attribute 'valu'; it has none");
  expect_refused("tfrt.if", attributes, 1,
                 "op 'tfrt.if' has no attribute 'valu'; it has 'then', 'else'");
}
END_TEST

START_TEST(an_attribute_of_another_kind_is_refused) {
  tfrt_eager_attribute_t wrong = tfrt_eager_attribute_string("value", "1");
  expect_refused("tfrt.constant.i32", &wrong, 1,
                 "attribute 'value' of op 'tfrt.constant.i32' must be of the kind i32, not string");
  wrong = tfrt_eager_attribute_array("value", TFRT_BEF_DTYPE_I32, NULL, 0);
  expect_refused(
      "tfrt.constant.i32", &wrong, 1,
      "attribute 'value' of op 'tfrt.constant.i32' must be of the kind i32, not array of "
      "i32");
  wrong = tfrt_eager_attribute_i32("callee", 1);
  expect_refused("tfrt.call", &wrong, 1,
                 "attribute 'callee' of op 'tfrt.call' must be of the kind function, not i32");
  wrong = tfrt_eager_attribute_functions("callee", NULL, 0);
  expect_refused("tfrt.call", &wrong, 1,
                 "attribute 'callee' of op 'tfrt.call' must be of the kind function, not array of "
                 "functions");
}
END_TEST

START_TEST(an_attribute_that_is_given_twice_is_refused) {
  tfrt_eager_attribute_t twice[] = {tfrt_eager_attribute_i32("value", 1),
                                    tfrt_eager_attribute_i32("value", 1)};
  expect_refused("tfrt.constant.i32", twice, 2,
                 "attribute 'value' of op 'tfrt.constant.i32' is given twice; leave one of them "
                 "out");
}
END_TEST

START_TEST(a_dense_attribute_that_contradicts_itself_is_refused) {
  int64_t dims[] = {3};
  int32_t elements[] = {1, 2};
  tfrt_eager_attribute_t value =
      tfrt_eager_attribute_dense("value", TFRT_BEF_DTYPE_I32, dims, 1, elements, sizeof(elements));
  expect_refused("eager.dense", &value, 1,
                 "kernel 'eager.dense', attribute 'value': attribute at offset 0x4: no dense: the "
                 "number of elements is not the product of the dimensions");
  value.value.dtype = TFRT_BEF_DTYPE_STRING;
  expect_refused("eager.dense", &value, 1,
                 "kernel 'eager.dense', attribute 'value': attribute at offset 0x4: no dense: "
                 "elements have no fixed size");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("eager_attribute");
  TCase* cases = tcase_create("eager_attribute");
  tcase_add_checked_fixture(cases, eager_fixture_set_up, eager_fixture_tear_down);
  tcase_add_test(cases, kernels_read_the_bytes_that_a_file_would_have);
  tcase_add_test(cases, what_is_left_out_has_the_value_that_the_table_says);
  tcase_add_test(cases, an_attribute_that_is_missing_is_named_with_its_kind);
  tcase_add_test(cases, an_attribute_that_the_op_does_not_have_is_refused_with_those_it_has);
  tcase_add_test(cases, an_attribute_of_another_kind_is_refused);
  tcase_add_test(cases, an_attribute_that_is_given_twice_is_refused);
  tcase_add_test(cases, a_dense_attribute_that_contradicts_itself_is_refused);
  suite_add_tcase(suite, cases);
  return suite;
}
