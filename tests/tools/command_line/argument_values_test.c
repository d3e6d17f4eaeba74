// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/argument_values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/file.h"
#include "host_runtime/tensor/dense_host_tensor.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tests/support/test_main.h"

#define MAX_VALUES 8
static tfrt_async_value_t* values[MAX_VALUES];

// A function with parameters of |types|, called |names|.
static tfrt_bef_function_t make_function(const char* const* names, const char* const* types,
                                         uint32_t count) {
  return (tfrt_bef_function_t){
      .name = "main", .argument_count = count, .argument_types = types, .argument_names = names};
}

// Parses |texts|; the first |default_count| are a file's.
static tfrt_status_t parse_behind(const tfrt_bef_function_t* function, size_t default_count,
                                  const char* const* texts) {
  tfrt_flag_list_t list = {.default_count = default_count};
  while (texts[list.count]) {
    list.values[list.count] = texts[list.count];
    ++list.count;
  }
  return tfrt_argument_values_parse(function, &list, NULL, values);
}

static tfrt_status_t parse(const tfrt_bef_function_t* function, const char* const* texts) {
  return parse_behind(function, 0, texts);
}

static void release_values(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) tfrt_async_value_release(values[i]);
}

// One parameter of |type|, given as |text|: expects the error |message|.
static void expect_error(const char* type, const char* text, const char* message) {
  const char* names[] = {"x"};
  tfrt_bef_function_t function = make_function(names, &type, 1);
  const char* texts[] = {text, NULL};
  tfrt_status_t status = parse(&function, texts);
  ck_assert_ptr_nonnull(status);
  ck_assert_str_eq(tfrt_status_message(status), message);
  ck_assert_ptr_null(values[0]);
  tfrt_status_release(status);
}

START_TEST(scalars_are_given_by_name_or_position) {
  const char* names[] = {"a", "b", "c", "d", "e"};
  const char* types[] = {"i32", "f64", "i1", "!tfrt.string", "ui64"};
  tfrt_bef_function_t function = make_function(names, types, 5);
  const char* texts[] = {"b=-2.5", "0=-17", "c=true", "d=x=y", "4=18446744073709551615", NULL};
  ck_assert_ptr_null(parse(&function, texts));
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(values[0]), -17);
  ck_assert_double_eq(*(double*)tfrt_async_value_payload(values[1]), -2.5);
  ck_assert(*(bool*)tfrt_async_value_payload(values[2]));
  ck_assert_str_eq(tfrt_async_value_string(values[3]).data, "x=y");
  ck_assert_uint_eq(*(uint64_t*)tfrt_async_value_payload(values[4]), UINT64_MAX);
  release_values(5);
}
END_TEST

START_TEST(the_command_line_goes_before_a_file) {
  const char* names[] = {"a", "b"};
  const char* types[] = {"i32", "i32"};
  tfrt_bef_function_t function = make_function(names, types, 2);
  const char* texts[] = {"a=1", "1=2", "0=10", NULL};
  ck_assert_ptr_null(parse_behind(&function, 2, texts));
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(values[0]), 10);
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(values[1]), 2);
  release_values(2);
  // A value that either gives twice is still an error.
  for (size_t default_count = 1; default_count <= 3; default_count += 2) {
    const char* twice[] = {"a=1", "b=2", "1=3", NULL};
    tfrt_status_t status = parse_behind(&function, default_count, twice);
    ck_assert_str_eq(tfrt_status_message(status), "--arg 1 is given twice");
    tfrt_status_release(status);
  }
}
END_TEST

START_TEST(a_name_wins_over_a_position) {
  const char* names[] = {"1", "0"};
  const char* types[] = {"i32", "i32"};
  tfrt_bef_function_t function = make_function(names, types, 2);
  const char* texts[] = {"0=10", "1=11", NULL};
  ck_assert_ptr_null(parse(&function, texts));
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(values[1]), 10);
  release_values(2);
}
END_TEST

START_TEST(each_mistake_is_one_line_that_names_it) {
  expect_error("i32", "x", "--arg wants NAME=VALUE or POSITION=VALUE, not 'x'");
  expect_error("i32", "y=1", "--arg y: function 'main' has no such parameter; it has 0 or x (i32)");
  expect_error("i32", "1=1", "--arg 1: function 'main' has no such parameter; it has 0 or x (i32)");
  expect_error("i32", "x=2147483648", "--arg x: '2147483648' is no i32");
  expect_error("i32", "x=1.5", "--arg x: '1.5' is no i32");
  expect_error("ui8", "x=-1", "--arg x: '-1' is no ui8");
  expect_error("f32", "x=", "--arg x: '' is no f32");
  expect_error("i1", "x=yes", "--arg x: 'yes' is no i1 (true, false, 1 or 0)");
  expect_error("!my.type", "x=1",
               "--arg x: a value of type !my.type can't be given on the command line");
  expect_error("!tfrt_tensor.tensor", "x=/nowhere/digits",
               "--arg x: can't open /nowhere/digits: No such file or directory");
}
END_TEST

START_TEST(white_space_is_no_part_of_a_number) {
  expect_error("i32", "x= -18446744073709551611", "--arg x: ' -18446744073709551611' is no i32");
  expect_error("i64", "x= -9223372036854775809", "--arg x: ' -9223372036854775809' is no i64");
  expect_error("ui64", "x= -5", "--arg x: ' -5' is no ui64");
  expect_error("i32", "x= 5", "--arg x: ' 5' is no i32");
  expect_error("i8", "x=\t5", "--arg x: '\t5' is no i8");
  expect_error("i32", "x=5 ", "--arg x: '5 ' is no i32");
  expect_error("i32", "x= ", "--arg x: ' ' is no i32");
  expect_error("f32", "x= 1.5", "--arg x: ' 1.5' is no f32");
  expect_error("f64", "x=\n1.5", "--arg x: '\n1.5' is no f64");
}
END_TEST

// One parameter of |type|, given as |text|: its bits are those of |expected|.
static void expect_bits(const char* type, const char* text, const void* expected, size_t size) {
  const char* names[] = {"x"};
  tfrt_bef_function_t function = make_function(names, &type, 1);
  const char* texts[] = {text, NULL};
  tfrt_status_t status = parse(&function, texts);
  ck_assert_msg(!status, "%s: %s", text, tfrt_status_message(status));
  ck_assert_mem_eq(tfrt_async_value_payload(values[0]), expected, size);
  release_values(1);
}

static void expect_i64(const char* text, int64_t expected) {
  expect_bits("i64", text, &expected, sizeof(expected));
}

START_TEST(whole_numbers_are_decimal_or_begin_with_0x) {
  expect_i64("x=010", 10);
  expect_i64("x=-010", -10);
  expect_i64("x=08", 8);
  expect_i64("x=+5", 5);
  expect_i64("x=0x10", 16);
  expect_i64("x=-0X1f", -31);
  expect_i64("x=-9223372036854775808", INT64_MIN);
  expect_error("i64", "x=-9223372036854775809", "--arg x: '-9223372036854775809' is no i64");
  expect_error("ui64", "x=18446744073709551616", "--arg x: '18446744073709551616' is no ui64");
  expect_error("i64", "x=0x", "--arg x: '0x' is no i64");
  expect_error("i64", "x=1f", "--arg x: '1f' is no i64");
}
END_TEST

static void expect_f32(const char* text, float expected) {
  expect_bits("f32", text, &expected, sizeof(expected));
}

START_TEST(a_float_that_is_finite_stays_so) {
  expect_error("f32", "x=1e40", "--arg x: '1e40' is no f32");
  expect_error("f32", "x=-3.5e38", "--arg x: '-3.5e38' is no f32");
  expect_error("f64", "x=1e400", "--arg x: '1e400' is no f64");
  expect_error("f64", "x=-1e400", "--arg x: '-1e400' is no f64");
  expect_f32("x=3.4028235e38", FLT_MAX);
  expect_f32("x=inf", INFINITY);
  expect_f32("x=-Infinity", -INFINITY);
  expect_f32("x=1e-60", 0);
  expect_f32("x=010.5", 10.5F);
  // By way of a double this would round down: its digits beyond a double's are what decides.
  expect_f32("x=1.000000059604644775390626", 1.00000012F);
  double infinite = INFINITY;
  expect_bits("f64", "x=inf", &infinite, sizeof(infinite));
  const char* names[] = {"x", "y"};
  const char* types[] = {"f32", "f64"};
  tfrt_bef_function_t function = make_function(names, types, 2);
  const char* texts[] = {"x=nan", "y=NaN", NULL};
  ck_assert_ptr_null(parse(&function, texts));
  ck_assert(isnan(*(float*)tfrt_async_value_payload(values[0])));
  ck_assert(isnan(*(double*)tfrt_async_value_payload(values[1])));
  release_values(2);
}
END_TEST

START_TEST(nothing_is_given_twice_or_left_out) {
  const char* names[] = {"x", "y"};
  const char* types[] = {"i32", "i32"};
  tfrt_bef_function_t function = make_function(names, types, 2);
  const char* twice[] = {"x=1", "0=2", NULL};
  tfrt_status_t status = parse(&function, twice);
  ck_assert_str_eq(tfrt_status_message(status), "--arg 0 is given twice");
  tfrt_status_release(status);
  const char* missing[] = {"x=1", NULL};
  status = parse(&function, missing);
  ck_assert_str_eq(tfrt_status_message(status),
                   "function 'main' wants its parameter 1, y, a i32: give --arg y=VALUE");
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_chain_is_ready_by_itself) {
  const char* names[] = {"before", "x"};
  const char* types[] = {"!tfrt.chain", "i32"};
  tfrt_bef_function_t function = make_function(names, types, 2);
  const char* texts[] = {"x=1", NULL};
  ck_assert_ptr_null(parse(&function, texts));
  ck_assert(tfrt_async_value_is_available(values[0]));
  ck_assert_uint_eq(values[0]->type_id, TFRT_TYPE_CHAIN);
  release_values(2);
}
END_TEST

// Two images of 1 x 3 bytes, as idx.
static const uint8_t idx_file[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                   1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};

static char* test_path(const char* name) {
  static char path[512];
  const char* folder = getenv("TEST_TMPDIR");
  snprintf(path, sizeof(path), "%s/%s", folder ? folder : "/tmp", name);
  return path;
}

// Parses one tensor from |path|; returns the error (+1), or NULL with values[0] set.
static tfrt_status_t parse_tensor(const char* path) {
  const char* names[] = {"t"};
  const char* types[] = {"!tfrt_tensor.tensor"};
  tfrt_bef_function_t function = make_function(names, types, 1);
  char text[600];
  snprintf(text, sizeof(text), "t=%s", path);
  const char* texts[] = {text, NULL};
  return parse(&function, texts);
}

static void expect_idx_tensor(const char* path) {
  ck_assert_ptr_null(parse_tensor(path));
  const tfrt_host_tensor_t* payload = tfrt_async_value_payload(values[0]);
  ck_assert_int_eq(payload->layout, TFRT_TENSOR_LAYOUT_DENSE);
  const tfrt_dense_host_tensor_t* tensor = &payload->dense;
  ck_assert_int_eq(tfrt_dense_host_tensor_element_count(tensor), 6);
  ck_assert_mem_eq(tfrt_dense_host_tensor_data(tensor), idx_file + 16, 6);
  release_values(1);
}

START_TEST(a_tensor_is_an_idx_file_plain_or_packed) {
  ck_assert_ptr_null(tfrt_tensor_types_register());
  char* path = test_path("plain.idx");
  ck_assert_ptr_null(tfrt_file_write(path, idx_file, sizeof(idx_file)));
  expect_idx_tensor(path);
  path = test_path("packed.gz");
  gzFile file = gzopen(path, "wb");
  ck_assert_int_eq(gzwrite(file, idx_file, sizeof(idx_file)), sizeof(idx_file));
  gzclose(file);
  expect_idx_tensor(path);
}
END_TEST

START_TEST(a_file_that_is_no_tensor_or_is_cut_is_an_error) {
  ck_assert_ptr_null(tfrt_tensor_types_register());
  char* path = test_path("text");
  ck_assert_ptr_null(tfrt_file_write(path, "not a tensor at all\n", 20));
  tfrt_status_t status = parse_tensor(path);
  ck_assert_ptr_nonnull(
      strstr(tfrt_status_message(status),
             "the file is neither .npy nor idx (plain or gzip) nor .npz nor BTF"));
  tfrt_status_release(status);
  static const uint8_t cut[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1};
  ck_assert_ptr_null(tfrt_file_write(path, cut, sizeof(cut)));
  status = parse_tensor(path);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_DATA_LOSS);
  tfrt_status_release(status);
  ck_assert_ptr_null(tfrt_file_write(path, idx_file, sizeof(idx_file) - 1));
  status = parse_tensor(path);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
}
END_TEST

// The tensor that |text| is has |dtype|, the |rank| lengths |dims| and the |size| bytes |elements|.
static void expect_tensor(const char* text, tfrt_dtype_t dtype, uint32_t rank, const int64_t* dims,
                          const void* elements, size_t size) {
  tfrt_status_t status = parse_tensor(text);
  ck_assert_msg(!status, "%s: %s", text, tfrt_status_message(status));
  const tfrt_host_tensor_t* payload = tfrt_async_value_payload(values[0]);
  const tfrt_dense_host_tensor_t* tensor = &payload->dense;
  ck_assert_int_eq(tensor->dtype, dtype);
  ck_assert_uint_eq(tensor->shape.rank, rank);
  for (uint32_t i = 0; i < rank; ++i) ck_assert_int_eq(tensor->shape.dims[i], dims[i]);
  ck_assert_uint_eq(tfrt_dense_host_tensor_size(tensor), size);
  if (size > 0) ck_assert_mem_eq(tfrt_dense_host_tensor_data(tensor), elements, size);
  release_values(1);
}

START_TEST(a_small_tensor_is_written_as_numbers) {
  ck_assert_ptr_null(tfrt_tensor_types_register());
  static const int64_t square[] = {2, 2}, three[] = {3}, deep[] = {1, 2, 1}, none[] = {0},
                       empty[] = {2, 0};
  static const float floats[] = {1, 2.5F, -3, 4};
  static const int64_t whole[] = {1, 2, 3};
  static const int32_t narrow[] = {-1, 16, 3};
  static const bool truth[] = {true, false};
  static const int64_t rate = 16000;
  static const double half = 0.5;
  expect_tensor("[[1, 2.5], [-3, 4]]", TFRT_DTYPE_F32, 2, square, floats, sizeof(floats));
  expect_tensor("[1,2,3]", TFRT_DTYPE_I64, 1, three, whole, sizeof(whole));
  expect_tensor("[-1, 0x10, 3 ]:i32", TFRT_DTYPE_I32, 1, three, narrow, sizeof(narrow));
  expect_tensor("[[[true], [0]]]:i1", TFRT_DTYPE_I1, 3, deep, truth, sizeof(truth));
  expect_tensor("16000:i64", TFRT_DTYPE_I64, 0, NULL, &rate, sizeof(rate));
  expect_tensor("5e-1:f64", TFRT_DTYPE_F64, 0, NULL, &half, sizeof(half));
  expect_tensor("[]", TFRT_DTYPE_I64, 1, none, NULL, 0);
  expect_tensor("[[], []]:f32", TFRT_DTYPE_F32, 2, empty, NULL, 0);
}
END_TEST

START_TEST(a_mistake_in_a_written_tensor_is_named_with_its_place) {
  static const char* const mistakes[][2] = {
      {"[1, 2", "sign 6: a comma or a closing bracket is missing"},
      {"[", "sign 2: a number can't stand here"},
      {"[1, 2] 3", "sign 8: there is more behind the tensor"},
      {"[1 2]", "sign 4: a comma or a closing bracket is missing"},
      {"[1,, 2]", "sign 4: a number can't stand here"},
      {"[1, ]", "sign 5: a number can't stand here"},
      {"[[1, 2], [3]]", "sign 12: this list is not as long as the one before"},
      {"[[1], 2]", "sign 7: a number can't stand here"},
      {"[1, [2]]", "sign 5: a bracket too many"},
      {"[[], 2]", "sign 6: a number can't stand here"},
      {"[[[[[[[[[[[[[1]]]]]]]]]]]]]", "sign 13: a bracket too many"},
      {"[1, x]", "'x' is no f32"},
      {"[1, 300]:ui8", "'300' is no ui8"},
      {"[1.5]:i64", "'1.5' is no i64"},
      {"[1]:string", "none of 'string'"},
      {"[1]:", "none of ''"},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(mistakes); ++i) {
    tfrt_status_t status = parse_tensor(mistakes[i][0]);
    ck_assert_msg(status && strstr(tfrt_status_message(status), mistakes[i][1]), "%s: %s",
                  mistakes[i][0], status ? tfrt_status_message(status) : "no error");
    tfrt_status_release(status);
  }
  // Texts of files' names.
  tfrt_status_t status = parse_tensor("16000:i65");
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "can't open 16000:i65"));
  tfrt_status_release(status);
  status = parse_tensor("@[1]");
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "can't open [1]"));
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("argument_values");
  TCase* cases = tcase_create("argument_values");
  tcase_add_test(cases, scalars_are_given_by_name_or_position);
  tcase_add_test(cases, a_name_wins_over_a_position);
  tcase_add_test(cases, the_command_line_goes_before_a_file);
  tcase_add_test(cases, each_mistake_is_one_line_that_names_it);
  tcase_add_test(cases, white_space_is_no_part_of_a_number);
  tcase_add_test(cases, whole_numbers_are_decimal_or_begin_with_0x);
  tcase_add_test(cases, a_float_that_is_finite_stays_so);
  tcase_add_test(cases, nothing_is_given_twice_or_left_out);
  tcase_add_test(cases, a_chain_is_ready_by_itself);
  tcase_add_test(cases, a_tensor_is_an_idx_file_plain_or_packed);
  tcase_add_test(cases, a_file_that_is_no_tensor_or_is_cut_is_an_error);
  tcase_add_test(cases, a_small_tensor_is_written_as_numbers);
  tcase_add_test(cases, a_mistake_in_a_written_tensor_is_named_with_its_place);
  suite_add_tcase(suite, cases);
  return suite;
}
