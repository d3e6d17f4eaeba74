// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_cost.h"

#include <stdio.h>

#include "tests/compiler/compiler_test_support.h"
#include "tests/support/test_main.h"

#define INPUT(dims)                                                     \
  "func.func @main(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {\n" \
  "  %0 = tfrt_nn.argument(%x) {dims = [" dims                          \
  "], dtype = f32, name = \"x\"}\n"                                     \
  "  %w = tfrt_nn.constant dense<1.0> : tensor<2x1x3x3xf32>\n"

#define CONVOLUTION(x, attributes)                                                    \
  "  %y = tfrt_nn.fused_conv(" x                                                      \
  ", %w) {activation = \"none\", alpha = 0.0 : f32, "                                 \
  "auto_pad = \"NOTSET\", beta = 0.0 : f32, group = 1 : i64, kernel_shape = [3, 3], " \
  "layout = \"NCHW\", present = -1 : i64, " attributes                                \
  "}\n"                                                                               \
  "  tfrt.return %y : !tfrt_tensor.tensor\n"                                          \
  "}\n"

#define PLAIN "dilations = [1, 1], pads = [1, 1, 1, 1], strides = [1, 1]"

// Checks that the convolution of |text|, in front of the return, costs its 18 weights for each of
// |pixels|, and what reading them and the op itself take.
static void check(const char* text, uint64_t pixels) {
  test_program_t program;
  test_program_parse(&program, text);
  ck_assert_msg(program.module != NULL, "%s", tfrt_string_builder_text(&program.errors));
  tfrt_ir_block_t* block = tfrt_ir_function_block(tfrt_ir_module_block(program.module)->first);
  tfrt_onnx_measure_pictures(block);
  ck_assert_uint_eq(tfrt_onnx_op_cost(block->last->previous), 1024 + 18 * (pixels + 28));
  test_program_free(&program);
}

START_TEST(a_convolution_multiplies_once_for_each_pixel) {
  check(INPUT("1, 3, 20, 30") CONVOLUTION("%0", PLAIN), 20 * 30);
  check(INPUT("1, 20, 30, 3") CONVOLUTION("%0", PLAIN), 20 * 30);
  check(INPUT("-1, 3, -1, -1") CONVOLUTION("%0", PLAIN), 224 * 224);
  check(INPUT("1, 3, 20, 30")
            CONVOLUTION("%0", "dilations = [1, 2], pads = [0, 1, 0, 0], strides = [2, 1]"),
        9 * 27);
  check(INPUT("1, 3, 20, 30") CONVOLUTION("%0", "dilations = [1, 1], pads = [], strides = []"),
        18 * 28);
}
END_TEST

START_TEST(pictures_are_followed) {
  check(INPUT("1, 3, 20, 30")
        "  %a = tfrt_nn.relu(%0)\n"
        "  %b = tfrt_nn.transpose(%a) {perm = [0, 2, 3, 1]}\n"
        "  %c = tfrt_nn.max_pool(%b) {auto_pad = \"SAME_UPPER\", ceil_mode = 0 : i64, "
        "dilations = [], kernel_shape = [2, 2], layout = \"NHWC\", pads = [], "
        "storage_order = 0 : i64, strides = [2, 4]} : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor\n" CONVOLUTION("%c", PLAIN),
        10 * 8);
  check(
      INPUT(
          "1, 3, 20, 30") "  %a = tfrt_nn.global_average_pool(%0) {layout = "
                          "\"NCHW\"}\n" CONVOLUTION("%a", PLAIN),
      1);
}
END_TEST

START_TEST(tables_are_not_read_whole) {
  test_program_t program;
  test_program_parse(&program, INPUT("1, 3") "  %y = tfrt_nn.gather(%w, %0) {axis = 0 : i64}\n"
                                             "  tfrt.return %y : !tfrt_tensor.tensor\n"
                                             "}\n");
  ck_assert_msg(program.module != NULL, "%s", tfrt_string_builder_text(&program.errors));
  tfrt_ir_block_t* block = tfrt_ir_function_block(tfrt_ir_module_block(program.module)->first);
  tfrt_onnx_measure_pictures(block);
  ck_assert_uint_eq(tfrt_onnx_op_cost(block->last->previous), 1024);
  test_program_free(&program);
}
END_TEST

START_TEST(numbers_that_no_picture_has_do_no_harm) {
  check(INPUT("1, 3, 20") CONVOLUTION("%0", PLAIN), 1);
  check(INPUT("1, 3, 20, 30, 40") CONVOLUTION("%0", PLAIN), 1);
  check(INPUT("1, 3, 20, 9223372036854775807")
            CONVOLUTION("%0",
                        "dilations = [9223372036854775807, 1], "
                        "pads = [-9223372036854775807, 1, 1, 1], strides = [1, 1]"),
        1);
  check(INPUT("1, 3, 20, 30") CONVOLUTION("%0", "dilations = [], pads = [], strides = [0, -1]"), 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("onnx cost");
  TCase* tests = tcase_create("costs");
  tcase_add_test(tests, a_convolution_multiplies_once_for_each_pixel);
  tcase_add_test(tests, pictures_are_followed);
  tcase_add_test(tests, tables_are_not_read_whole);
  tcase_add_test(tests, numbers_that_no_picture_has_do_no_harm);
  suite_add_tcase(suite, tests);
  return suite;
}
