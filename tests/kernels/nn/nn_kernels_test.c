// SPDX-License-Identifier: Apache-2.0
//
// Programs of tfrt_nn ops as text, without a model: on the calling thread, and on several threads,
// where long operations are tasks.
#include "kernels/nn/nn_kernels.h"

#include <string.h>

#include "embedding/program_source.h"
#include "embedding/tfrt.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tests/support/test_main.h"

static tfrt_host_context_t* host;
static tfrt_string_builder_t report;
static tfrt_async_value_t* results[4];

// Both kinds of work queues: the test's number says which.
static void set_up(int thread_count) {
  tfrt_work_queue_t* queue = NULL;
  tfrt_thread_pool_options_t pool = {.thread_count = thread_count};
  if (thread_count) {
    ck_assert_ptr_null(tfrt_thread_pool_work_queue_create(&pool, tfrt_allocator_system(), &queue));
  } else {
    ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  }
  ck_assert_ptr_null(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, &host));
  ck_assert_ptr_null(tfrt_standard_kernels_register(host->registry));
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
}

static void tear_down(void) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(results); ++i) {
    tfrt_async_value_release(results[i]);
    results[i] = NULL;
  }
  tfrt_string_builder_deinitialize(&report);
  tfrt_host_context_free(host);
}

static void run(const char* text) {
  tfrt_program_t* program = NULL;
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_request_context_t* request = NULL;
  tfrt_status_t status =
      tfrt_program_create_from_text("p.mlir", tfrt_string_view_of(text), host->registry,
                                    tfrt_allocator_system(), &report, &program);
  ck_assert_msg(status == NULL, "%s", tfrt_string_builder_text(&report));
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  const tfrt_function_t* function = tfrt_program_find_function(program, "main");
  tfrt_function_execute(function, &context, NULL, results);
  tfrt_work_queue_await(host->work_queue, results, function->result_count);
  tfrt_request_context_release(request);
  tfrt_program_release(program);
}

static const tfrt_dense_host_tensor_t* tensor(uint32_t index) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(results[index]);
  ck_assert_msg(
      !tfrt_async_value_is_error(value), "%s",
      tfrt_async_value_is_error(value) ? tfrt_status_message(tfrt_async_value_error(value)) : "");
  return &((const tfrt_host_tensor_t*)tfrt_async_value_payload(value))->dense;
}

static const float* floats(uint32_t index) { return tfrt_dense_host_tensor_data(tensor(index)); }

static void assert_error(uint32_t index, const char* part) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(results[index]);
  ck_assert(tfrt_async_value_is_error(value));
  const char* message = tfrt_status_message(tfrt_async_value_error(value));
  ck_assert_msg(strstr(message, part) != NULL, "%s", message);
}

#define TENSOR "!tfrt_tensor.tensor"

static const char broadcast[] =
    "func.func @main() -> " TENSOR
    " {\n"
    "  %a = tfrt_nn.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>\n"
    "  %b = tfrt_nn.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>\n"
    "  %c = tfrt_nn.add(%a, %b)\n"
    "  tfrt.return %c : " TENSOR "\n}\n";

// Each of these works long enough to be a task where there are threads.
static const char long_ones[] =
    "func.func @main() -> (" TENSOR ", " TENSOR ", " TENSOR
    ") {\n"
    "  %shape = tfrt_nn.constant dense<[600, 600]> : tensor<2xi64>\n"
    "  %one = tfrt_nn.constant dense<1.0> : tensor<1xf32>\n"
    "  %a = tfrt_nn.constant_of_shape(%shape, %one)\n"
    "  %b = tfrt_nn.add(%a, %a)\n"
    "  %c = tfrt_nn.exp(%a)\n"
    "  %d = tfrt_nn.mat_mul(%a, %b)\n"
    "  %e:2 = tfrt_nn.split(%d) {axis = 1 : i64} : (" TENSOR ") -> (" TENSOR ", " TENSOR
    ")\n"
    "  %f = tfrt_nn.mul(%e#0, %e#1)\n"
    "  tfrt.return %f, %c, %e#1 : " TENSOR ", " TENSOR ", " TENSOR "\n}\n";

static const char bad_long_one[] = "func.func @main() -> (" TENSOR ", " TENSOR
                                   ") {\n"
                                   "  %shape = tfrt_nn.constant dense<[600, 601]> : tensor<2xi64>\n"
                                   "  %a = tfrt_nn.constant_of_shape(%shape)\n"
                                   "  %b = tfrt_nn.mat_mul(%a, %a)\n"
                                   "  %c = tfrt_nn.relu(%a)\n"
                                   "  tfrt.return %b, %c : " TENSOR ", " TENSOR "\n}\n";

static const char half[] = "func.func @main() -> " TENSOR
                           " {\n"
                           "  %a = tfrt_nn.constant dense<[1.5, 2.0]> : tensor<2xf16>\n"
                           "  %b = tfrt_nn.mul(%a, %a)\n"
                           "  tfrt.return %b : " TENSOR "\n}\n";

static const char mixed[] = "func.func @main() -> " TENSOR
                            " {\n"
                            "  %a = tfrt_nn.constant dense<[1.5, 2.0]> : tensor<2xf32>\n"
                            "  %b = tfrt_nn.constant dense<[1, 2]> : tensor<2xi64>\n"
                            "  %c = tfrt_nn.mul(%a, %b)\n"
                            "  tfrt.return %c : " TENSOR "\n}\n";

static const char too_few[] = "func.func @main() -> " TENSOR
                              " {\n"
                              "  %a = tfrt_nn.constant dense<[1.5, 2.0]> : tensor<2xf32>\n"
                              "  %c = tfrt_nn.clip(%a) {present = 5 : i64}\n"
                              "  tfrt.return %c : " TENSOR "\n}\n";

START_TEST(operands_are_stretched_to_each_other) {
  set_up(_i);
  run(broadcast);
  static const float wanted[] = {11, 21, 31, 12, 22, 32};
  ck_assert_uint_eq(tensor(0)->shape.rank, 2);
  ck_assert_int_eq(memcmp(floats(0), wanted, sizeof(wanted)), 0);
  tear_down();
}
END_TEST

START_TEST(long_operations_give_the_same_on_threads) {
  set_up(_i);
  run(long_ones);
  ck_assert_int_eq(tensor(0)->shape.dims[1], 300);
  // 600 products of 1 and 2, squared.
  ck_assert(floats(0)[0] == 1440000.0f && floats(2)[600 * 300 - 1] == 1200.0f);
  ck_assert(floats(1)[600 * 600 - 1] > 2.7182f && floats(1)[0] < 2.7184f);
  tear_down();
}
END_TEST

START_TEST(an_error_is_that_of_its_results_alone) {
  set_up(_i);
  run(bad_long_one);
  assert_error(0, "tfrt_nn.mat_mul: [600, 601] and [600, 601] can't be multiplied");
  ck_assert(floats(1)[600 * 601 - 1] == 0.0f);
  tear_down();
}
END_TEST

START_TEST(floats_of_16_bits_are_computed_as_f32) {
  set_up(_i);
  run(half);
  static const uint16_t wanted[] = {0x4080, 0x4400};  // 2.25 and 4
  ck_assert_int_eq(tensor(0)->dtype, TFRT_DTYPE_F16);
  ck_assert_int_eq(memcmp(tfrt_dense_host_tensor_data(tensor(0)), wanted, sizeof(wanted)), 0);
  tear_down();
}
END_TEST

START_TEST(operands_that_do_not_fit_are_refused) {
  set_up(_i);
  run(mixed);
  assert_error(0, "tfrt_nn.mul: both operands must have one type, not f32 and i64");
  tear_down();
  set_up(_i);
  run(too_few);
  assert_error(0, "'present' names 2 operands, but there are 1");
  tear_down();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* kernels = tcase_create("kernels");
  // Without threads, and on one to three.
  tcase_add_loop_test(kernels, operands_are_stretched_to_each_other, 0, 4);
  tcase_add_loop_test(kernels, long_operations_give_the_same_on_threads, 0, 4);
  tcase_add_loop_test(kernels, an_error_is_that_of_its_results_alone, 0, 4);
  tcase_add_loop_test(kernels, floats_of_16_bits_are_computed_as_f32, 0, 4);
  tcase_add_loop_test(kernels, operands_that_do_not_fit_are_refused, 0, 4);
  Suite* suite = suite_create("nn_kernels");
  suite_add_tcase(suite, kernels);
  return suite;
}
