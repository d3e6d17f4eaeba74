// SPDX-License-Identifier: Apache-2.0
//
// Programs of tfrt_nn ops as text, without a model: on the calling thread, and on several threads,
// where long operations are tasks.
#include "kernels/nn/nn_kernels.h"

#include <math.h>
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

static void tear_down_results(void) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(results); ++i) {
    tfrt_async_value_release(results[i]);
    results[i] = NULL;
  }
}

static void tear_down(void) {
  tear_down_results();
  tfrt_string_builder_deinitialize(&report);
  tfrt_host_context_free(host);
}

static void call(tfrt_program_t* program) {
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_request_context_t* request = NULL;
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  const tfrt_function_t* function = tfrt_program_find_function(program, "main");
  tfrt_function_execute(function, &context, NULL, results);
  tfrt_work_queue_await(host->work_queue, results, function->result_count);
  tfrt_request_context_release(request);
}

static void run(const char* text) {
  tfrt_program_t* program = NULL;
  tfrt_status_t status =
      tfrt_program_create_from_text("p.mlir", tfrt_string_view_of(text), host->registry,
                                    tfrt_allocator_system(), &report, &program);
  ck_assert_msg(status == NULL, "%s", tfrt_string_builder_text(&report));
  call(program);
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

// |layout| of a convolution, a sum and a function that are one op, beside the ops one by one: both
// results are the same. The operand is given as pictures with the channels first, or last.
#define PICTURE                                                         \
  "  %shape = tfrt_nn.constant dense<[2, 3, 5, 4]> : tensor<4xi64>\n"   \
  "  %count = tfrt_nn.constant dense<120> : tensor<i64>\n"              \
  "  %zero = tfrt_nn.constant dense<0> : tensor<i64>\n"                 \
  "  %one = tfrt_nn.constant dense<1> : tensor<i64>\n"                  \
  "  %range = tfrt_nn.range(%zero, %count, %one)\n"                     \
  "  %floats = tfrt_nn.cast(%range) {to = f32}\n"                       \
  "  %waves = tfrt_nn.sin(%floats)\n"                                   \
  "  %x = tfrt_nn.reshape(%waves, %shape)\n"                            \
  "  %w = tfrt_nn.constant dense<[[[[1.0]], [[-0.5]], [[2.0]]], "       \
  "[[[-1.5]], [[0.5]], [[1.0]]], [[[0.25]], [[1.0]], [[-1.0]]]]> : "    \
  "tensor<3x3x1x1xf32>\n"                                               \
  "  %b = tfrt_nn.constant dense<[0.125, -1.0, 0.5]> : tensor<3xf32>\n" \
  "  %c = tfrt_nn.conv(%x, %w, %b)\n"

static const char fused[] =
    "func.func @main() -> (" TENSOR ", " TENSOR ", " TENSOR ", " TENSOR ") {\n" PICTURE
    "  %s = tfrt_nn.add(%c, %x)\n"
    "  %r = tfrt_nn.relu(%s)\n"
    "  %f = tfrt_nn.fused_conv(%x, %w, %b, %x) {activation = \"relu\"}\n"
    "  %t = tfrt_nn.transpose(%x) {perm = [0, 2, 3, 1]}\n"
    "  %u = tfrt_nn.transpose(%x) {perm = [0, 2, 3, 1]}\n"
    "  %l = tfrt_nn.fused_conv(%t, %w, %b, %u) {activation = \"relu\", "
    "layout = \"NHWC\"}\n"
    "  %m = tfrt_nn.transpose(%l) {perm = [0, 3, 1, 2]}\n"
    "  %v = tfrt_nn.fused_conv(%t, %w, %b) {layout = \"NHWC\"}\n"
    "  %n = tfrt_nn.transpose(%v) {perm = [0, 3, 1, 2]}\n"
    "  %d = tfrt_nn.sub(%n, %c)\n"
    "  tfrt.return %r, %f, %m, %d : " TENSOR ", " TENSOR ", " TENSOR ", " TENSOR "\n}\n";

// A summand of one element for each channel, and each function by itself.
static const char stretched[] =
    "func.func @main() -> (" TENSOR ", " TENSOR ", " TENSOR ", " TENSOR ") {\n" PICTURE
    "  %k = tfrt_nn.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>\n"
    "  %s = tfrt_nn.add(%c, %k)\n"
    "  %r = tfrt_nn.tanh(%s)\n"
    "  %f = tfrt_nn.fused_conv(%x, %w, %b, %k) {activation = \"tanh\"}\n"
    "  %q = tfrt_nn.sigmoid(%c)\n"
    "  %g = tfrt_nn.fused_conv(%x, %w, %b) {activation = \"sigmoid\"}\n"
    "  tfrt.return %r, %f, %q, %g : " TENSOR ", " TENSOR ", " TENSOR ", " TENSOR "\n}\n";

// Products with weights, which may be transposed, a bias, a summand and a function.
static const char products[] =
    "func.func @main() -> (" TENSOR ", " TENSOR ", " TENSOR ", " TENSOR ") {\n" PICTURE
    "  %m = tfrt_nn.constant dense<[[1.0, -1.0], [0.5, 2.0], [0.25, 1.0], [-2.0, 3.0]]> : "
    "tensor<4x2xf32>\n"
    "  %n = tfrt_nn.transpose(%m)\n"
    "  %row = tfrt_nn.constant dense<[0.5, -0.5]> : tensor<2xf32>\n"
    "  %y = tfrt_nn.mat_mul(%x, %m)\n"
    "  %z = tfrt_nn.add(%y, %row)\n"
    "  %s = tfrt_nn.add(%z, %y)\n"
    "  %g = tfrt_nn.gelu(%s)\n"
    "  %f = tfrt_nn.fused_mat_mul(%x, %m, %row, %y) {activation = \"gelu\"}\n"
    "  %t = tfrt_nn.fused_mat_mul(%x, %n, %row, %y) {activation = \"gelu\", transB = 1 : i64}\n"
    "  %k = tfrt_nn.fused_mat_mul(%x, %m, %row, %row) {activation = \"leaky_relu\", "
    "alpha = 0.5 : f32}\n"
    "  %u = tfrt_nn.add(%z, %row)\n"
    "  %v = tfrt_nn.leaky_relu(%u) {alpha = 0.5 : f32}\n"
    "  %d = tfrt_nn.sub(%k, %v)\n"
    "  tfrt.return %g, %f, %t, %d : " TENSOR ", " TENSOR ", " TENSOR ", " TENSOR "\n}\n";

// The same with more elements: then the maths library computes the products.
static const char large_products[] =
    "func.func @main() -> (" TENSOR ", " TENSOR ", " TENSOR
    ") {\n"
    "  %zero = tfrt_nn.constant dense<0> : tensor<i64>\n"
    "  %one = tfrt_nn.constant dense<1> : tensor<i64>\n"
    "  %count = tfrt_nn.constant dense<1600> : tensor<i64>\n"
    "  %shape = tfrt_nn.constant dense<[40, 40]> : tensor<2xi64>\n"
    "  %axis = tfrt_nn.constant dense<[0]> : tensor<1xi64>\n"
    "  %range = tfrt_nn.range(%zero, %count, %one)\n"
    "  %floats = tfrt_nn.cast(%range) {to = f32}\n"
    "  %sines = tfrt_nn.sin(%floats)\n"
    "  %cosines = tfrt_nn.cos(%floats)\n"
    "  %x = tfrt_nn.reshape(%sines, %shape)\n"
    "  %m = tfrt_nn.reshape(%cosines, %shape)\n"
    "  %n = tfrt_nn.transpose(%m)\n"
    "  %row = tfrt_nn.reduce_max(%x, %axis) {keepdims = 0 : i64}\n"
    "  %y = tfrt_nn.mat_mul(%x, %m)\n"
    "  %z = tfrt_nn.add(%y, %row)\n"
    "  %s = tfrt_nn.add(%z, %y)\n"
    "  %g = tfrt_nn.gelu(%s)\n"
    "  %f = tfrt_nn.fused_mat_mul(%x, %m, %row, %y) {activation = \"gelu\"}\n"
    "  %t = tfrt_nn.fused_mat_mul(%x, %n, %row, %y) {activation = \"gelu\", transB = 1 : i64}\n"
    "  tfrt.return %g, %f, %t : " TENSOR ", " TENSOR ", " TENSOR "\n}\n";

// Rows by their numbers, where two numbers have no row; rows by keys in another order, where one
// stands for two rows; numbers that each count for their own row. Infinity in a row that isn't
// looked up doesn't count.
static const char lookups[] =
    "func.func @main() -> (" TENSOR ", " TENSOR ", " TENSOR ", " TENSOR
    ") {\n"
    "  %x = tfrt_nn.constant dense<[[2], [0], [-1], [3], [1]]> : tensor<5x1xi32>\n"
    "  %keys = tfrt_nn.constant dense<[0, 1, 2]> : tensor<3xi32>\n"
    "  %m = tfrt_nn.constant dense<[[1.0, -0.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>\n"
    "  %a = tfrt_nn.lookup(%x, %keys, %m)\n"
    "  %others = tfrt_nn.constant dense<[[3, 2, 3]]> : tensor<1x3xi32>\n"
    "  %b = tfrt_nn.lookup(%x, %others, %m)\n"
    "  %numbers = tfrt_nn.constant dense<[[0, 1, 1], [2, 1, 2]]> : tensor<2x3xi32>\n"
    "  %c = tfrt_nn.lookup(%numbers, %keys, %m)\n"
    "  %n = tfrt_nn.constant dense<[[1.0], [0x7F800000], [2.0]]> : tensor<3x1xf32>\n"
    "  %long = tfrt_nn.constant dense<2> : tensor<i64>\n"
    "  %long_keys = tfrt_nn.constant dense<[0, 1, 2]> : tensor<3xi64>\n"
    "  %d = tfrt_nn.lookup(%long, %long_keys, %n)\n"
    "  tfrt.return %a, %b, %c, %d : " TENSOR ", " TENSOR ", " TENSOR ", " TENSOR "\n}\n";

static const char bad_lookup[] =
    "func.func @main() -> " TENSOR
    " {\n"
    "  %x = tfrt_nn.constant dense<[[2], [0]]> : tensor<2x1xi32>\n"
    "  %keys = tfrt_nn.constant dense<[0, 1, 2, 3]> : tensor<4xi32>\n"
    "  %m = tfrt_nn.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>\n"
    "  %a = tfrt_nn.lookup(%x, %keys, %m)\n"
    "  tfrt.return %a : " TENSOR "\n}\n";

// A convolution of a picture of one column, and of the list that the column is.
static const char columns[] =
    "func.func @main() -> (" TENSOR ", " TENSOR ") {\n" PICTURE
    "  %column_shape = tfrt_nn.constant dense<[2, 3, 20, 1]> : tensor<4xi64>\n"
    "  %list_shape = tfrt_nn.constant dense<[2, 3, 20]> : tensor<3xi64>\n"
    "  %column = tfrt_nn.reshape(%x, %column_shape)\n"
    "  %list = tfrt_nn.reshape(%x, %list_shape)\n"
    "  %v = tfrt_nn.constant dense<[[[1.0, 2.0, -1.0], [0.5, 0.0, 1.0], [3.0, -2.0, 0.25]], "
    "[[-1.0, 0.5, 2.0], [1.5, 1.0, -0.5], [0.0, 2.0, 1.0]]]> : tensor<2x3x3xf32>\n"
    "  %window_shape = tfrt_nn.constant dense<[2, 3, 3, 1]> : tensor<4xi64>\n"
    "  %window = tfrt_nn.reshape(%v, %window_shape)\n"
    "  %y = tfrt_nn.conv(%column, %window) {dilations = [2, 1], pads = [3, 0, 1, 0], "
    "strides = [2, 1]}\n"
    "  %z = tfrt_nn.conv(%list, %v) {dilations = [2], pads = [3, 1], strides = [2]}\n"
    "  %last = tfrt_nn.constant dense<3> : tensor<1xi64>\n"
    "  %s = tfrt_nn.unsqueeze(%z, %last)\n"
    "  tfrt.return %y, %s : " TENSOR ", " TENSOR "\n}\n";

static const char pools[] =
    "func.func @main() -> (" TENSOR ", " TENSOR ", " TENSOR ", " TENSOR ") {\n" PICTURE
    "  %t = tfrt_nn.transpose(%x) {perm = [0, 2, 3, 1]}\n"
    "  %p = tfrt_nn.max_pool(%x) {kernel_shape = [3, 2], pads = [1, 0, 1, 1], strides = [2, 1]} : "
    "(" TENSOR ") -> " TENSOR
    "\n"
    "  %q = tfrt_nn.max_pool(%t) {kernel_shape = [3, 2], layout = \"NHWC\", pads = [1, 0, 1, 1], "
    "strides = [2, 1]} : (" TENSOR ") -> " TENSOR
    "\n"
    "  %r = tfrt_nn.transpose(%q) {perm = [0, 3, 1, 2]}\n"
    "  %a = tfrt_nn.average_pool(%x) {kernel_shape = [2, 2], pads = [0, 1, 0, 0]}\n"
    "  %b1 = tfrt_nn.average_pool(%t) {kernel_shape = [2, 2], layout = \"NHWC\", "
    "pads = [0, 1, 0, 0]}\n"
    "  %b2 = tfrt_nn.transpose(%b1) {perm = [0, 3, 1, 2]}\n"
    "  %g = tfrt_nn.global_average_pool(%x)\n"
    "  %h = tfrt_nn.global_average_pool(%t) {layout = \"NHWC\"}\n"
    "  %i = tfrt_nn.transpose(%h) {perm = [0, 3, 1, 2]}\n"
    "  %one_list = tfrt_nn.concat(%g, %i) {axis = 0 : i64}\n"
    "  %pair = tfrt_nn.sub(%b2, %a)\n"
    "  tfrt.return %p, %r, %pair, %one_list : " TENSOR ", " TENSOR ", " TENSOR ", " TENSOR "\n}\n";

static const char no_function[] = "func.func @main() -> " TENSOR " {\n" PICTURE
                                  "  %f = tfrt_nn.fused_conv(%x, %w) {activation = \"swoosh\"}\n"
                                  "  tfrt.return %f : " TENSOR "\n}\n";

static void assert_near(uint32_t index, uint32_t other) {
  const tfrt_dense_host_tensor_t *a = tensor(index), *b = tensor(other);
  ck_assert(tfrt_shape_equal(&a->shape, &b->shape));
  for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(a); ++i) {
    ck_assert_float_eq_tol(floats(index)[i], floats(other)[i], 1e-5f);
  }
}

START_TEST(a_fused_convolution_gives_what_its_parts_give) {
  set_up(_i);
  run(fused);
  assert_near(0, 1);
  assert_near(0, 2);
  for (int64_t i = 0; i < 120; ++i) ck_assert_float_eq_tol(floats(3)[i], 0, 1e-5f);
  tear_down();
}
END_TEST

START_TEST(a_column_is_convolved_as_a_list_is) {
  set_up(_i);
  run(columns);
  ck_assert_int_eq(tfrt_dense_host_tensor_element_count(tensor(0)), 2 * 2 * 10);
  assert_near(0, 1);
  tear_down();
}
END_TEST

START_TEST(a_summand_is_stretched_before_the_function) {
  set_up(_i);
  run(stretched);
  assert_near(0, 1);
  assert_near(2, 3);
  tear_down();
}
END_TEST

START_TEST(a_fused_product_gives_what_its_parts_give) {
  set_up(_i);
  run(products);
  assert_near(0, 1);
  assert_near(0, 2);
  for (int i = 0; i < 60; ++i) ck_assert_float_eq_tol(floats(3)[i], 0, 1e-5f);
  tear_down();
}
END_TEST

START_TEST(a_large_fused_product_gives_what_its_parts_give) {
  set_up(_i);
  run(large_products);
  assert_near(0, 1);
  assert_near(0, 2);
  tear_down();
}
END_TEST

START_TEST(rows_are_looked_up_by_their_keys) {
  static const float in_order[] = {5, 6, 1, 0, 0, 0, 0, 0, 3, 4};
  static const float by_keys[] = {3, 4, 0, 0, 0, 0, 6, 6, 0, 0};
  static const float one_each[] = {4, 4, 8, 10};
  set_up(_i);
  run(lookups);
  for (int i = 0; i < 10; ++i) ck_assert_float_eq(floats(0)[i], in_order[i]);
  ck_assert(!signbit(floats(0)[3]));
  for (int i = 0; i < 10; ++i) ck_assert_float_eq(floats(1)[i], by_keys[i]);
  for (int i = 0; i < 4; ++i) ck_assert_float_eq(floats(2)[i], one_each[i]);
  ck_assert_uint_eq(tensor(2)->shape.rank, 2);
  ck_assert_uint_eq(tensor(3)->shape.rank, 1);
  ck_assert_float_eq(floats(3)[0], 2);
  tear_down();
  set_up(_i);
  run(bad_lookup);
  assert_error(0, "tfrt_nn.lookup: [2, 1], keys of [4] and a matrix of [3, 2] don't fit");
  tear_down();
}
END_TEST

START_TEST(pools_give_the_same_with_the_channels_last) {
  set_up(_i);
  run(pools);
  assert_near(0, 1);
  const tfrt_dense_host_tensor_t* differences = tensor(2);
  for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(differences); ++i) {
    ck_assert_float_eq_tol(floats(2)[i], 0, 1e-6f);
  }
  for (int i = 0; i < 6; ++i) ck_assert_float_eq_tol(floats(3)[i], floats(3)[6 + i], 1e-6f);
  tear_down();
}
END_TEST

START_TEST(a_function_that_is_not_known_is_refused) {
  set_up(_i);
  run(no_function);
  assert_error(0, "there is no activation 'swoosh'");
  tear_down();
}
END_TEST

// The second run finds what the first one has kept, and must give the same.
START_TEST(what_is_kept_gives_the_same_again) {
  set_up(_i);
  tfrt_program_t* program = NULL;
  tfrt_status_t status =
      tfrt_program_create_from_text("p.mlir", tfrt_string_view_of(fused), host->registry,
                                    tfrt_allocator_system(), &report, &program);
  ck_assert_msg(status == NULL, "%s", tfrt_string_builder_text(&report));
  for (int i = 0; i < 3; ++i) {
    tear_down_results();
    call(program);
    assert_near(0, 1);
    assert_near(0, 2);
  }
  tfrt_program_release(program);
  tear_down();
}
END_TEST

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
  tcase_add_loop_test(kernels, a_fused_convolution_gives_what_its_parts_give, 0, 4);
  tcase_add_loop_test(kernels, a_column_is_convolved_as_a_list_is, 0, 4);
  tcase_add_loop_test(kernels, a_summand_is_stretched_before_the_function, 0, 4);
  tcase_add_loop_test(kernels, a_fused_product_gives_what_its_parts_give, 0, 4);
  tcase_add_loop_test(kernels, a_large_fused_product_gives_what_its_parts_give, 0, 4);
  tcase_add_loop_test(kernels, rows_are_looked_up_by_their_keys, 0, 4);
  tcase_add_loop_test(kernels, pools_give_the_same_with_the_channels_last, 0, 4);
  tcase_add_loop_test(kernels, a_function_that_is_not_known_is_refused, 0, 4);
  tcase_add_loop_test(kernels, what_is_kept_gives_the_same_again, 0, 4);
  Suite* suite = suite_create("nn_kernels");
  suite_add_tcase(suite, kernels);
  return suite;
}
