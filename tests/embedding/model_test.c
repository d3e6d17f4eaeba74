// SPDX-License-Identifier: Apache-2.0
//
// Models from files: inputs and outputs without a copy, and what is refused.
#include "embedding/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

static char path[64];
static tfrt_model_t* model;

// Loads |text|, whose function |function| (NULL: main) becomes |model|.
static tfrt_status_t load(const char* text, const char* function) {
  snprintf(path, sizeof(path), "model_test_%d.mlir", (int)getpid());
  FILE* file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
  tfrt_model_options_t options = {.function = function, .thread_count = 2};
  tfrt_status_t status = tfrt_model_load(path, &options, &model);
  remove(path);
  return status;
}

static void tear_down(void) {
  tfrt_model_free(model);
  model = NULL;
}

// Fails unless |status| (consumed) has |code| and the message has |words|.
static void assert_error_take(tfrt_status_t status, tfrt_status_code_t code, const char* words) {
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_msg(strstr(tfrt_status_message(status), words) != NULL, "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
}

static int released;
static void count_release(void* context) { ++*(int*)context; }

static const int64_t dims[] = {2, 2};
static const float elements[] = {1, -2, 3, -4};

static tfrt_model_tensor_t matrix(void) {
  return (tfrt_model_tensor_t){.dtype = TFRT_DTYPE_F32,
                               .rank = 2,
                               .dims = dims,
                               .data = elements,
                               .release = count_release,
                               .context = &released};
}

static const char relu[] =
    "func.func @main(%c: !tfrt.chain, %x: !tfrt_tensor.tensor)\n"
    "    -> (!tfrt_tensor.tensor, !tfrt.chain) {\n"
    "  %y = tfrt_tensor.relu %x\n"
    "  tfrt.return %y, %c : !tfrt_tensor.tensor, !tfrt.chain\n"
    "}\n"
    "func.func @same(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {\n"
    "  tfrt.return %x : !tfrt_tensor.tensor\n"
    "}\n";

START_TEST(a_tensor_goes_in_and_another_comes_out) {
  ck_assert_ptr_null(load(relu, NULL));
  ck_assert_uint_eq(tfrt_model_input_count(model), 1);
  ck_assert_uint_eq(tfrt_model_output_count(model), 1);
  ck_assert_str_eq(tfrt_model_input_name(model, 0), "x");
  released = 0;
  tfrt_model_tensor_t input = matrix();
  tfrt_model_tensor_t output;
  ck_assert_ptr_null(tfrt_model_run(model, &input, 1, &output, 1));
  ck_assert_int_eq(output.dtype, TFRT_DTYPE_F32);
  ck_assert_uint_eq(output.rank, 2);
  ck_assert_int_eq(output.dims[0], 2);
  ck_assert_int_eq(output.dims[1], 2);
  const float* result = output.data;
  ck_assert(result[0] == 1 && result[1] == 0 && result[2] == 3 && result[3] == 0);
  // An output outlives the model.
  tear_down();
  ck_assert_int_eq(released, 1);
  ck_assert(result[2] == 3);
  tfrt_model_tensor_release(&output);
  ck_assert_ptr_null(output.data);
  tfrt_model_tensor_release(&output);
}
END_TEST

START_TEST(nothing_is_copied) {
  ck_assert_ptr_null(load(relu, "same"));
  released = 0;
  tfrt_model_tensor_t input = matrix();
  tfrt_model_tensor_t output;
  ck_assert_ptr_null(tfrt_model_run(model, &input, 1, &output, 1));
  ck_assert_ptr_eq(output.data, elements);
  ck_assert_int_eq(released, 0);
  // An output is the input of the next run.
  tfrt_model_tensor_t next;
  ck_assert_ptr_null(tfrt_model_run(model, &output, 1, &next, 1));
  ck_assert_ptr_eq(next.data, elements);
  ck_assert_int_eq(released, 0);
  tfrt_model_tensor_release(&next);
  ck_assert_int_eq(released, 1);
}
END_TEST

START_TEST(a_number_is_a_tensor_without_axes) {
  ck_assert_ptr_null(
      load("func.func @main(%a: i32, %b: i32) -> i32 {\n"
           "  %c = tfrt.add.i32 %a, %b\n"
           "  tfrt.return %c : i32\n"
           "}\n",
           NULL));
  int32_t numbers[] = {40, 2};
  released = 0;
  tfrt_model_tensor_t inputs[] = {{.dtype = TFRT_DTYPE_I32,
                                   .data = &numbers[0],
                                   .release = count_release,
                                   .context = &released},
                                  {.dtype = TFRT_DTYPE_I32, .data = &numbers[1]}};
  tfrt_model_tensor_t output;
  ck_assert_ptr_null(tfrt_model_run(model, inputs, 2, &output, 1));
  ck_assert_int_eq(released, 1);
  ck_assert_int_eq(output.dtype, TFRT_DTYPE_I32);
  ck_assert_uint_eq(output.rank, 0);
  ck_assert_int_eq(*(const int32_t*)output.data, 42);
  tfrt_model_tensor_release(&output);

  inputs[0].dtype = TFRT_DTYPE_F32;
  assert_error_take(tfrt_model_run(model, inputs, 2, &output, 1), TFRT_STATUS_INVALID_ARGUMENT,
                    "input 0 'a': it is a f32 of rank 0, but the parameter is a number, a i32");
  ck_assert_int_eq(released, 2);
}
END_TEST

START_TEST(inputs_that_do_not_fit_are_refused_and_given_back) {
  ck_assert_ptr_null(load(relu, NULL));
  released = 0;
  tfrt_model_tensor_t inputs[] = {matrix(), matrix()};
  tfrt_model_tensor_t outputs[2];
  assert_error_take(tfrt_model_run(model, inputs, 2, outputs, 1), TFRT_STATUS_INVALID_ARGUMENT,
                    "takes 1 inputs, but 2 were given");
  ck_assert_int_eq(released, 2);
  assert_error_take(tfrt_model_run(model, inputs, 1, outputs, 2), TFRT_STATUS_INVALID_ARGUMENT,
                    "gives 1 outputs, but there is room for 2");
  ck_assert_int_eq(released, 3);
  assert_error_take(tfrt_model_run(model, NULL, 0, outputs, 1), TFRT_STATUS_INVALID_ARGUMENT,
                    "takes 1 inputs, but 0 were given");
  inputs[0].rank = 99;
  assert_error_take(tfrt_model_run(model, inputs, 1, outputs, 1), TFRT_STATUS_INVALID_ARGUMENT,
                    "input 0 'x'");
  inputs[0] = matrix();
  inputs[0].dtype = TFRT_DTYPE_STRING;
  assert_error_take(tfrt_model_run(model, inputs, 1, outputs, 1), TFRT_STATUS_INVALID_ARGUMENT,
                    "input 0 'x'");
  inputs[0] = matrix();
  inputs[0].data = NULL;
  assert_error_take(tfrt_model_run(model, inputs, 1, outputs, 1), TFRT_STATUS_INVALID_ARGUMENT,
                    "it has no data");
  inputs[0] = matrix();
  inputs[0].data = (const char*)elements + 1;
  assert_error_take(tfrt_model_run(model, inputs, 1, outputs, 1), TFRT_STATUS_INVALID_ARGUMENT,
                    "input 0 'x'");
  ck_assert_int_eq(released, 7);
}
END_TEST

START_TEST(an_error_of_the_program_is_that_of_the_run) {
  ck_assert_ptr_null(load(
      "func.func @main(%x: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor) {\n"
      "  %y = tfrt_tensor.matmul %x, %x\n"
      "  tfrt.return %x, %y : !tfrt_tensor.tensor, !tfrt_tensor.tensor\n"
      "}\n",
      NULL));
  static const int64_t other[] = {1, 4};
  released = 0;
  tfrt_model_tensor_t input = matrix();
  input.dims = other;
  tfrt_model_tensor_t outputs[2];
  assert_error_take(tfrt_model_run(model, &input, 1, outputs, 2), TFRT_STATUS_INVALID_ARGUMENT,
                    "matmul");
  ck_assert_ptr_null(outputs[0].data);
  tear_down();
  ck_assert_int_eq(released, 1);
}
END_TEST

START_TEST(what_is_no_model_is_refused) {
  assert_error_take(load(relu, "missing"), TFRT_STATUS_NOT_FOUND, "has no function 'missing'");
  ck_assert_ptr_null(model);
  assert_error_take(load("func.func @main(%s: !tfrt.string) {\n  tfrt.return\n}\n", NULL),
                    TFRT_STATUS_UNIMPLEMENTED,
                    "function 'main': parameter 0 is a !tfrt.string: a model takes");
  assert_error_take(load("func.func @main() {\n  my.question\n}\n", NULL),
                    TFRT_STATUS_INVALID_ARGUMENT, "my.question");
  assert_error_take(tfrt_model_load("missing.bef", NULL, &model), TFRT_STATUS_NOT_FOUND,
                    "missing.bef");
}
END_TEST

static void run_often(void* failures) {
  for (int i = 0; i < 50; ++i) {
    tfrt_model_tensor_t input = matrix();
    input.release = NULL;
    tfrt_model_tensor_t output;
    tfrt_status_t status = tfrt_model_run(model, &input, 1, &output, 1);
    if (status || ((const float*)output.data)[2] != 3) ++*(int*)failures;
    tfrt_status_release(status);
    tfrt_model_tensor_release(&output);
  }
}

START_TEST(threads_run_one_model_at_the_same_time) {
  ck_assert_ptr_null(load(relu, NULL));
  tfrt_thread_t threads[3];
  int failures[3] = {0};
  for (int i = 0; i < 3; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("caller", run_often, &failures[i], &threads[i]));
  }
  for (int i = 0; i < 3; ++i) tfrt_thread_join(&threads[i]);
  for (int i = 0; i < 3; ++i) ck_assert_int_eq(failures[i], 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("model");
  TCase* tests = tcase_create("model");
  tcase_add_checked_fixture(tests, NULL, tear_down);
  tcase_add_test(tests, a_tensor_goes_in_and_another_comes_out);
  tcase_add_test(tests, nothing_is_copied);
  tcase_add_test(tests, a_number_is_a_tensor_without_axes);
  tcase_add_test(tests, inputs_that_do_not_fit_are_refused_and_given_back);
  tcase_add_test(tests, an_error_of_the_program_is_that_of_the_run);
  tcase_add_test(tests, what_is_no_model_is_refused);
  tcase_add_test(tests, threads_run_one_model_at_the_same_time);
  suite_add_tcase(suite, tests);
  return suite;
}
