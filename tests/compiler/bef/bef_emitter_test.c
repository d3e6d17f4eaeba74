// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef/bef_emitter.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/bef/bef_file.h"
#include "tests/compiler/bef/bef_compiler_test_support.h"
#include "tests/support/test_main.h"

// --- The same bytes as TFRT's translator ------------------------------------------------

static tfrt_file_contents_t read_file(const char* path) {
  tfrt_file_contents_t contents;
  tfrt_status_t status = tfrt_file_read(path, tfrt_allocator_system(), &contents);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  return contents;
}

// The name of the text as TFRT's translator was given it: it is in every location.
static void source_name(const tfrt_file_contents_t* bef, char* name, size_t size) {
  tfrt_bef_file_t* file;
  tfrt_bef_source_location_t location;
  tfrt_status_t status = tfrt_bef_file_create(bef->data, bef->size, tfrt_allocator_system(), &file);
  ck_assert(tfrt_status_is_ok(status));
  uint32_t first = tfrt_bef_file_function(file, 0)->location;
  ck_assert(tfrt_bef_file_source_location(file, first, &location));
  snprintf(name, size, "%s", location.file);
  tfrt_bef_file_release(file);
}

static size_t first_difference(const char* a, const char* b, size_t size) {
  size_t i = 0;
  while (i < size && a[i] == b[i]) ++i;
  return i;
}

static void compare_with_tfrt(const char* path) {
  static const tfrt_bef_emitter_options_t kAsTfrt = {.exact_tfrt_bytes = true};
  char other[512];
  char name[512];
  tfrt_file_contents_t text = read_file(path);
  snprintf(other, sizeof(other), "%.*s.bef", (int)(strlen(path) - strlen(".mlir")), path);
  tfrt_file_contents_t bef = read_file(other);
  source_name(&bef, name, sizeof(name));
  test_image_t image =
      test_emit(name, tfrt_string_view_make((const char*)text.data, text.size), &kAsTfrt);
  ck_assert_msg(image.bytes != NULL, "%s: %s", path, image.errors);
  size_t common = image.size < bef.size ? image.size : bef.size;
  ck_assert_msg(image.size == bef.size && memcmp(image.bytes, bef.data, common) == 0,
                "%s: %zu bytes, TFRT's %zu; first difference at 0x%zx", path, image.size, bef.size,
                first_difference(image.bytes, (const char*)bef.data, common));
  test_image_free(&image);
  tfrt_file_contents_deinitialize(&bef);
  tfrt_file_contents_deinitialize(&text);
}

START_TEST(programs_become_the_bytes_that_tfrt_writes) {
  ck_assert_uint_eq(test_for_each_program_path(".mlir", compare_with_tfrt), 45);
}
END_TEST

// --- Programs that have no BEF -------------------------------------------------------------

// |text| must be refused with |message| at |place|, "line:column".
static void refuse(const char* text, const char* place, const char* message) {
  char expected[512];
  test_image_t image = test_emit("a.mlir", tfrt_string_view_of(text), NULL);
  ck_assert_msg(image.bytes == NULL, "was emitted: %s", text);
  snprintf(expected, sizeof(expected), "a.mlir:%s: error: %s", place, message);
  ck_assert_msg(strstr(image.errors, expected) != NULL, "no '%s' in:\n%s", expected, image.errors);
}

START_TEST(rules_of_the_format_are_reported_at_the_op) {
  refuse("func.func @f() {\n  \"x.k\"() : () -> ()\n}\n", "2:3",
         "all functions need to have a tfrt.return");
  refuse("func.func @f(i32)\n", "1:1", "external functions are not allowed");
  refuse("func.func @f() {\n  \"x.k\"() {callee = @g} : () -> ()\n  tfrt.return\n}\n", "2:3",
         "function @g not defined");
  refuse("func.func @f() {\n  \"x.k\"() {fs = [@f, @g]} : () -> ()\n  tfrt.return\n}\n", "2:3",
         "function @g not defined");
  refuse("func.func @f() {\n  \"x.k\"() {t = tensor<2xi32>} : () -> ()\n  tfrt.return\n}\n", "2:3",
         "BEF files cannot encode the 't' attribute");
  refuse("func.func @f() {\n  \"x.k\"() {t = unit} : () -> ()\n  tfrt.return\n}\n", "2:3",
         "BEF files cannot encode the 't' attribute");
  refuse("func.func @f() {\n  \"x.k\"() {t = [1 : i32, [4 : i7]]} : () -> ()\n  tfrt.return\n}\n",
         "2:3", "BEF files cannot encode the 't' attribute");
}
END_TEST

START_TEST(synchronous_functions_return_only_what_is_theirs) {
  refuse("func.func @f(%a: i32) -> i32 attributes {tfrt.sync} {\n  tfrt.return %a : i32\n}\n",
         "2:3", "return value 0 is an argument in a sync function");
  refuse(
      "func.func @f() -> (i32, i32) attributes {tfrt.sync} {\n"
      "  %a = tfrt.constant.i32 1\n  tfrt.return %a, %a : i32, i32\n}\n",
      "3:3", "return value 1 is duplicated in a sync function");
}
END_TEST

// A call with |options| must be refused with |message|.
static void refuse_options(const char* options, const char* message) {
  char text[512];
  snprintf(text, sizeof(text),
           "func.func @g() {\n  tfrt.return\n}\n"
           "func.func @f() {\n  tfrt.call @g() {%s} : () -> ()\n  tfrt.return\n}\n",
           options);
  refuse(text, "5:3", message);
}

START_TEST(call_options_have_ranges) {
  refuse_options("host = -1 : i32", "'host' must be an integer from 0 to 4294967295");
  refuse_options("host = \"two\"", "'host' must be an integer");
  refuse_options("deadline_ms = 0 : i32", "'deadline_ms' must be an integer from 1 to");
  refuse_options("retries = 4294967296 : i64", "'retries' must be an integer");
  refuse_options("device = 1 : i32", "'device' must be the name of a device");
  refuse_options("device = \"\"", "'device' must be the name of a device");
  refuse_options("device = \"a_very_long_platform_of:1\"", "'device' must be the name");
  refuse_options("pure = 1 : i32", "'pure' must be true, false, or without a value");
}
END_TEST

START_TEST(call_options_never_enter_the_attributes) {
  test_image_t image = test_emit(
      "a.mlir",
      tfrt_string_view_of(
          "func.func @g(%x: i32) {\n  tfrt.return\n}\n"
          "func.func @f(%x: i32) {\n  tfrt.call @g(%x) {host = 7 : i32, pure} : (i32) -> ()\n"
          "  \"x.k\"() {bef.nonstrict, host = 9 : i32} : () -> ()\n  tfrt.return\n}\n"),
      NULL);
  ck_assert_msg(image.bytes != NULL, "%s", image.errors);
  tfrt_bef_file_t* file;
  ck_assert(tfrt_status_is_ok(
      tfrt_bef_file_create(image.bytes, image.size, tfrt_allocator_system(), &file)));
  const tfrt_bef_function_t* function = tfrt_bef_file_find_function(file, "f");
  ck_assert_str_eq(function->argument_names[0], "x");
  const tfrt_bef_kernel_t call = tfrt_bef_file_kernel(file, function, 1);
  ck_assert_uint_eq(call.attribute_count, 0);
  ck_assert(call.call_options->has_host && call.call_options->pure);
  ck_assert_uint_eq(call.call_options->host, 7);
  // To a kernel that is no call, `host` is an attribute like any other.
  const tfrt_bef_kernel_t other = tfrt_bef_file_kernel(file, function, 2);
  ck_assert_uint_eq(other.attribute_count, 1);
  ck_assert(other.call_options->nonstrict && !other.call_options->has_host);
  tfrt_bef_file_release(file);
  test_image_free(&image);
}
END_TEST

// The cost that the file names for an add with `_tfrt_cost = |cost|`; 0: none.
static uint32_t cost_in_file(const char* cost, const tfrt_bef_emitter_options_t* options) {
  char text[512];
  snprintf(text, sizeof(text),
           "func.func @f(%%arg0: i32) -> i32 {\n"
           "  %%0 = tfrt.add.i32 %%arg0, %%arg0 {_tfrt_cost = %s : i64}\n"
           "  tfrt.return %%0 : i32\n}\n",
           cost);
  test_image_t image = test_emit("a.mlir", tfrt_string_view_of(text), options);
  ck_assert_msg(image.bytes != NULL, "%s", image.errors);
  tfrt_bef_file_t* file;
  ck_assert(tfrt_status_is_ok(
      tfrt_bef_file_create(image.bytes, image.size, tfrt_allocator_system(), &file)));
  const tfrt_bef_kernel_t kernel =
      tfrt_bef_file_kernel(file, tfrt_bef_file_find_function(file, "f"), 1);
  ck_assert_uint_eq(kernel.attribute_count, 0);
  uint32_t result = kernel.call_options ? kernel.call_options->cost : 0;
  tfrt_bef_file_release(file);
  test_image_free(&image);
  return result;
}

START_TEST(costs_that_the_table_does_not_know_are_in_the_file) {
  const tfrt_bef_emitter_options_t exact = {.exact_tfrt_bytes = true};
  ck_assert_uint_eq(cost_in_file("9", NULL), 0);
  ck_assert_uint_eq(cost_in_file("10", NULL), 100);
  ck_assert_uint_eq(cost_in_file("300", NULL), 3000);
  ck_assert_uint_eq(cost_in_file("9000000000000000000", NULL), UINT32_MAX);
  ck_assert_uint_eq(cost_in_file("-1", NULL), 0);
  ck_assert_uint_eq(cost_in_file("300", &exact), 0);
}
END_TEST

// Words for the compiler would shift the attributes that the kernel gets by position.
START_TEST(what_an_op_only_reads_is_not_in_the_file) {
  test_image_t image = test_emit(
      "a.mlir",
      tfrt_string_view_of("func.func @f(%x: i32) {\n"
                          "  \"x.k\"(%x) {tfrt.reads = [0], value = 4 : i32} : (i32) -> ()\n"
                          "  tfrt.return\n}\n"),
      NULL);
  ck_assert_msg(image.bytes != NULL, "%s", image.errors);
  tfrt_bef_file_t* file;
  ck_assert(tfrt_status_is_ok(
      tfrt_bef_file_create(image.bytes, image.size, tfrt_allocator_system(), &file)));
  const tfrt_bef_kernel_t kernel =
      tfrt_bef_file_kernel(file, tfrt_bef_file_find_function(file, "f"), 1);
  ck_assert_uint_eq(kernel.attribute_count, 1);
  tfrt_bef_file_release(file);
  test_image_free(&image);
}
END_TEST

START_TEST(kernels_without_a_place_have_different_locations) {
  test_image_t image =
      test_emit("a.mlir",
                tfrt_string_view_of("func.func @f() {\n  \"x.k\"() : () -> () loc(unknown)\n"
                                    "  \"x.k\"() : () -> () loc(unknown)\n  tfrt.return\n}\n"),
                NULL);
  tfrt_bef_file_t* file;
  ck_assert(tfrt_status_is_ok(
      tfrt_bef_file_create(image.bytes, image.size, tfrt_allocator_system(), &file)));
  const tfrt_bef_function_t* function = tfrt_bef_file_function(file, 0);
  ck_assert_uint_ne(tfrt_bef_function_record(function, 1)->location,
                    tfrt_bef_function_record(function, 2)->location);
  tfrt_bef_file_release(file);
  test_image_free(&image);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* programs = tcase_create("programs");
  tcase_add_test(programs, programs_become_the_bytes_that_tfrt_writes);
  TCase* rules = tcase_create("rules");
  tcase_add_test(rules, rules_of_the_format_are_reported_at_the_op);
  tcase_add_test(rules, synchronous_functions_return_only_what_is_theirs);
  tcase_add_test(rules, call_options_have_ranges);
  tcase_add_test(rules, call_options_never_enter_the_attributes);
  tcase_add_test(rules, costs_that_the_table_does_not_know_are_in_the_file);
  tcase_add_test(rules, what_an_op_only_reads_is_not_in_the_file);
  tcase_add_test(rules, kernels_without_a_place_have_different_locations);
  Suite* suite = suite_create("bef_emitter");
  suite_add_tcase(suite, programs);
  suite_add_tcase(suite, rules);
  return suite;
}
