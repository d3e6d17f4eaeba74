// SPDX-License-Identifier: Apache-2.0
#include "devices/device_image.h"

#include "tests/support/test_main.h"

static const char image[] =
    ".version 6.4\n"
    ".target sm_70\n"
    ".address_size 64\n"
    "// .visible .entry commented(.param .u64 x)\n"
    "/* .visible .entry\n"
    "   commented_too() */\n"
    ".global .align 4 .b8 total[16];\n"
    ".visible .global .align 8 .f64 scale;\n"
    ".global .align 1 .b8 text[3] = {104, 105, 0};\n"
    ".visible .entry add(\n"
    "  .param .u64 add_0,\n"
    "  .param .u64 .ptr .global .align 16 add_1,\n"
    "  .param .align 8 .b8 add_2[24],\n"
    "  .param .f32 add_3\n"
    ")\n"
    ".maxntid 256, 1, 1\n"
    "{\n"
    "  .reg .b32 %r<3>;\n"
    "  ld.param.u64 %rd1, [add_0];\n"
    "  ld.global.u32 %r1, [total];\n"
    "  ret;\n"
    "}\n"
    ".entry nothing() { ret; }\n"
    ".entry bare { ret; }\n";

static bool test_find(bool is_kernel, const char* name, tfrt_device_image_symbol_t* out_symbol) {
  bool found;
  tfrt_status_t status =
      tfrt_device_image_find(tfrt_string_view_of(image), is_kernel, name, out_symbol, &found);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
  return found;
}

START_TEST(kernels_have_the_sizes_of_their_parameters) {
  tfrt_device_image_symbol_t symbol;
  ck_assert(test_find(true, "add", &symbol));
  ck_assert_uint_eq(symbol.parameter_count, 4);
  ck_assert_uint_eq(symbol.parameter_sizes[0], 8);
  ck_assert_uint_eq(symbol.parameter_sizes[1], 8);
  ck_assert_uint_eq(symbol.parameter_sizes[2], 24);
  ck_assert_uint_eq(symbol.parameter_sizes[3], 4);
  ck_assert(test_find(true, "nothing", &symbol));
  ck_assert_uint_eq(symbol.parameter_count, 0);
  ck_assert(test_find(true, "bare", &symbol));
}
END_TEST

START_TEST(variables_have_sizes_and_may_have_values) {
  tfrt_device_image_symbol_t symbol;
  ck_assert(test_find(false, "total", &symbol));
  ck_assert_uint_eq(symbol.size, 16);
  ck_assert(!symbol.is_initialized);
  ck_assert(test_find(false, "scale", &symbol));
  ck_assert_uint_eq(symbol.size, 8);
  ck_assert(test_find(false, "text", &symbol));
  ck_assert(symbol.is_initialized);
}
END_TEST

START_TEST(comments_and_instructions_declare_nothing) {
  tfrt_device_image_symbol_t symbol;
  ck_assert(!test_find(true, "commented", &symbol));
  ck_assert(!test_find(true, "commented_too", &symbol));
  ck_assert(!test_find(true, "total", &symbol));
  ck_assert(!test_find(false, "add", &symbol));
}
END_TEST

// Every prefix of an image is read to its end or refused with its line.
START_TEST(an_image_may_be_cut_off_anywhere) {
  for (size_t size = 0; size < sizeof(image); ++size) {
    tfrt_device_image_symbol_t symbol;
    bool found;
    tfrt_status_t status =
        tfrt_device_image_find(tfrt_string_view_make(image, size), true, "none", &symbol, &found);
    if (status) {
      ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
      ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "line "));
    }
    ck_assert(!found || status);
    tfrt_status_release(status);
  }
}
END_TEST

START_TEST(sizes_that_are_none_are_refused_with_their_line) {
  const char* const bad[] = {".entry f(.param .u7 x) {}",
                             ".entry f(.param .u64) {}",
                             ".entry f(.param .b8 x[0]) {}",
                             ".entry f(.param .b64 x[2147483647])",
                             ".entry f(.param .b8 x[99999999999999999999])",
                             ".entry"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    tfrt_device_image_symbol_t symbol;
    bool found;
    tfrt_status_t status =
        tfrt_device_image_find(tfrt_string_view_of(bad[i]), true, "g", &symbol, &found);
    ck_assert_msg(tfrt_status_code(status) == TFRT_STATUS_INVALID_ARGUMENT, "%s", bad[i]);
    ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "line 1"));
    tfrt_status_release(status);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* image_case = tcase_create("image");
  tcase_add_test(image_case, kernels_have_the_sizes_of_their_parameters);
  tcase_add_test(image_case, variables_have_sizes_and_may_have_values);
  tcase_add_test(image_case, comments_and_instructions_declare_nothing);
  tcase_add_test(image_case, an_image_may_be_cut_off_anywhere);
  tcase_add_test(image_case, sizes_that_are_none_are_refused_with_their_line);
  Suite* suite = suite_create("device_image");
  suite_add_tcase(suite, image_case);
  return suite;
}
