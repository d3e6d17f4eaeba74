// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef/bef_importer.h"

#include <string.h>

#include "compiler/printer/printer.h"
#include "host_runtime/base/file.h"
#include "tests/compiler/bef/bef_compiler_test_support.h"
#include "tests/support/test_main.h"

// A file that was imported.
typedef struct imported_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  tfrt_ir_operation_t* module;
} imported_t;

static imported_t import_bytes(const void* bytes, size_t size) {
  imported_t imported;
  tfrt_bef_file_t* file;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_status_t status = tfrt_bef_file_create(bytes, size, allocator, &file);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  ck_assert(tfrt_status_is_ok(tfrt_ir_context_allocate(allocator, &imported.context)));
  tfrt_diagnostics_initialize(&imported.diagnostics, "file.bef", tfrt_string_view_of(""),
                              allocator);
  status = tfrt_bef_import(imported.context, file, test_tables(), &imported.diagnostics,
                           &imported.module);
  ck_assert(tfrt_status_is_ok(status) == (imported.module != NULL));
  tfrt_status_release(status);
  tfrt_bef_file_release(file);
  return imported;
}

static void imported_free(imported_t* imported) {
  tfrt_diagnostics_deinitialize(&imported->diagnostics);
  tfrt_ir_context_free(imported->context);
}

static const char* first_report(const imported_t* imported) {
  return imported->diagnostics.count > 0 ? imported->diagnostics.reports[0].message : "(none)";
}

// Imports |bytes|, prints the module with locations, and emits the text again.
static test_image_t through_text(const void* bytes, size_t size, bool generic, char* out_text,
                                 size_t text_size) {
  static const tfrt_bef_emitter_options_t kAsTfrt = {.no_argument_names = true};
  imported_t imported = import_bytes(bytes, size);
  ck_assert_msg(imported.module != NULL, "%s", first_report(&imported));
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_printer_options_t options = {.generic = generic, .locations = true};
  tfrt_print_operation(imported.module, &options, &text);
  test_image_t image = test_emit("back.mlir", tfrt_string_builder_view(&text), &kAsTfrt);
  if (out_text) {
    size_t length = text.size < text_size ? text.size : text_size - 1;
    memcpy(out_text, text.data, length);
    out_text[length] = '\0';
  }
  tfrt_string_builder_deinitialize(&text);
  imported_free(&imported);
  return image;
}

static void check_round_trip(const char* path, bool generic) {
  tfrt_file_contents_t bef;
  ck_assert(tfrt_status_is_ok(tfrt_file_read(path, tfrt_allocator_system(), &bef)));
  test_image_t image = through_text(bef.data, bef.size, generic, NULL, 0);
  ck_assert_msg(image.bytes != NULL, "%s: %s", path, image.errors);
  ck_assert_msg(image.size == bef.size && memcmp(image.bytes, bef.data, bef.size) == 0,
                "%s differs after a way through text", path);
  test_image_free(&image);
  tfrt_file_contents_deinitialize(&bef);
}

static void check_custom_round_trip(const char* path) { check_round_trip(path, false); }
static void check_generic_round_trip(const char* path) { check_round_trip(path, true); }

START_TEST(a_file_of_tfrt_that_went_through_text_is_the_same_bytes) {
  ck_assert_uint_eq(test_for_each_program_path(".bef", check_custom_round_trip), 45);
}
END_TEST

START_TEST(so_is_one_that_went_through_generic_text) {
  ck_assert_uint_eq(test_for_each_program_path(".bef", check_generic_round_trip), 45);
}
END_TEST

// Emits |text|, and checks that its BEF gives text that has each of |parts| and the same BEF.
static void check_text(const char* text, const char* const* parts, size_t part_count) {
  static const tfrt_bef_emitter_options_t kAsTfrt = {.no_argument_names = true};
  static char printed[16384];
  test_image_t image = test_emit("back.mlir", tfrt_string_view_of(text), &kAsTfrt);
  ck_assert_msg(image.bytes != NULL, "%s", image.errors);
  test_image_t again = through_text(image.bytes, image.size, true, printed, sizeof(printed));
  ck_assert_msg(again.bytes != NULL, "%s\n%s", again.errors, printed);
  for (size_t i = 0; i < part_count; ++i) {
    ck_assert_msg(strstr(printed, parts[i]) != NULL, "no '%s' in:\n%s", parts[i], printed);
  }
  ck_assert_uint_eq(again.size, image.size);
  ck_assert_mem_eq(again.bytes, image.bytes, image.size);
  test_image_free(&image);
  test_image_free(&again);
}

START_TEST(every_kind_of_attribute_survives) {
  static const char* const kParts[] = {
      "a = true",
      "b = -8 : i8",
      "c = 65535 : ui16",
      "d = -1 : i64",
      "e = 2.500000e+00 : f64",
      "f = \"text \\22\\00\"",
      "g = f64",
      "h = complex<f32>",
      "i = [1 : i32, 2 : i32]",
      "j = []",
      "k = [1 : i32, \"two\", [3], []]",
      "l = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
      "m = dense<7> : tensor<3xi64>",
      "n = #corert.shape<2x?x3>",
      "o = #corert.shape<*>",
      "q = dense<[true, false]> : tensor<2xi1>",
      "r = [f32, i1]",
      "s = bf16",
      "t = [false, true]",
  };
  check_text(
      "func.func @f() {\n"
      "  \"x.k\"() {a = true, b = -8 : i8, c = 65535 : ui16, d = -1 : i64, e = 2.5 : f64,\n"
      "    f = \"text \\22\\00\", g = f64, h = complex<f32>, i = [1 : i32, 2 : i32], j = [],\n"
      "    k = [1 : i32, \"two\", [3], []], l = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>,\n"
      "    m = dense<7> : tensor<3xi64>, n = #corert.shape<2x?x3>, o = #corert.shape<*>,\n"
      "    q = dense<[true, false]> : tensor<2xi1>, r = [f32, i1], s = bf16, t = [false, true],\n"
      "    u = 1.0 : f16, v = [1.0 : f32], w = \"\", x = 4 : ui8, y = [\"a\", \"b\"],\n"
      "    z = #corert.shape<>} : () -> ()\n"
      "  tfrt.return\n"
      "}\n",
      kParts, TFRT_ARRAY_SIZE(kParts));
}
END_TEST

START_TEST(functions_in_attributes_survive_by_their_names) {
  static const char* const kParts[] = {"a_true_fn = @t",      "b_false_fn = @e", "callee = @t",
                                       "branches = [@t, @e]", "tfrt.native",     "tfrt.sync"};
  check_text(
      "func.func @n(i32) -> i32 attributes {tfrt.native}\n"
      "func.func @s(%a: i32) -> i32 attributes {tfrt.sync} {\n"
      "  %b = \"x.copy\"(%a) : (i32) -> i32\n"
      "  tfrt.return %b : i32\n"
      "}\n"
      "func.func @t(%a: i32) -> i32 {\n  tfrt.return %a : i32\n}\n"
      "func.func @e(%a: i32) -> i32 {\n  tfrt.return %a : i32\n}\n"
      "func.func @f(%c: i1, %i: i32) -> (i32, i32, i32) {\n"
      "  %x = tfrt.cond %c @t @e (%i) : (i32) -> (i32)\n"
      "  %y = tfrt.case %i [@t, @e] (%x) : (i32) -> (i32)\n"
      "  %z = \"x.unknown\"(%y) {callee = @t} : (i32) -> i32\n"
      "  tfrt.return %x, %y, %z : i32, i32, i32\n"
      "}\n",
      kParts, TFRT_ARRAY_SIZE(kParts));
}
END_TEST

START_TEST(call_options_survive) {
  static const char* const kParts[] = {"host = 2 : i32", "device = \"cuda:0\"",
                                       "deadline_ms = 500 : i32", "retries = 3 : i32", "pure"};
  check_text(
      "func.func @g(%a: i32) -> i32 {\n  tfrt.return %a : i32\n}\n"
      "func.func @f(%a: i32) -> i32 {\n"
      "  %r = tfrt.call @g(%a) {host = 2 : i32, device = \"cuda:0\", deadline_ms = 500 : i32, "
      "retries = 3 : i32, pure}"
      " : (i32) -> (i32)\n"
      "  tfrt.return %r : i32\n"
      "}\n",
      kParts, TFRT_ARRAY_SIZE(kParts));
}
END_TEST

START_TEST(every_kind_of_location_survives) {
  static const char* const kParts[] = {"loc(\"a.py\":1:2)",
                                       "loc(\"name\")",
                                       "loc(unknown)",
                                       "loc(fused[\"a\", \"b\"])",
                                       "loc(callsite(\"a\" at \"b.py\":1:2))",
                                       "loc(\"outer\"(\"c.py\":3:4))"};
  check_text(
      "func.func @f() {\n"
      "  \"x.k\"() : () -> () loc(\"a.py\":1:2)\n"
      "  \"x.k\"() : () -> () loc(\"name\")\n"
      "  \"x.k\"() : () -> () loc(unknown)\n"
      "  \"x.k\"() : () -> () loc(fused[\"a\", \"b\"])\n"
      "  \"x.k\"() : () -> () loc(callsite(\"a\" at \"b.py\":1:2))\n"
      "  \"x.k\"() : () -> () loc(\"outer\"(\"c.py\":3:4))\n"
      "  tfrt.return\n"
      "}\n",
      kParts, TFRT_ARRAY_SIZE(kParts));
}
END_TEST

START_TEST(parameters_keep_their_names) {
  test_image_t image =
      test_emit("a.mlir",
                tfrt_string_view_of("func.func @f(%left: i32, %right: i32) -> i32 {\n"
                                    "  tfrt.return %left : i32\n}\n"),
                NULL);
  imported_t imported = import_bytes(image.bytes, image.size);
  ck_assert_ptr_nonnull(imported.module);
  const tfrt_ir_block_t* block =
      tfrt_ir_function_block(tfrt_ir_module_block(imported.module)->first);
  ck_assert_str_eq(block->arguments[0]->name->data, "left");
  ck_assert_str_eq(block->arguments[1]->name->data, "right");
  imported_free(&imported);
  test_image_free(&image);
}
END_TEST

START_TEST(without_the_optional_sections_one_warning_says_what_is_made_up) {
  static const tfrt_bef_emitter_options_t kSmall = {.no_optional_sections = true,
                                                    .no_argument_names = true};
  test_image_t image =
      test_emit("a.mlir",
                tfrt_string_view_of("func.func @f() -> i32 {\n"
                                    "  %a = tfrt.constant.i32 42\n"
                                    "  %b = tfrt.constant.i32 43\n"
                                    "  %c = tfrt.add.i32 %a, %b\n"
                                    "  \"x.k\"(%c) {lost = 1 : i32} : (i32) -> ()\n"
                                    "  tfrt.return %c : i32\n}\n"),
                &kSmall);
  imported_t imported = import_bytes(image.bytes, image.size);
  ck_assert_ptr_nonnull(imported.module);
  ck_assert_uint_eq(imported.diagnostics.warning_count, 1);
  const tfrt_ir_block_t* block =
      tfrt_ir_function_block(tfrt_ir_module_block(imported.module)->first);
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(block->first, "value");
  ck_assert_ptr_nonnull(value);
  ck_assert_int_eq(tfrt_ir_attribute_integer_value(value), 42);
  ck_assert(tfrt_ir_type_is(block->first->results[0].type, TFRT_BEF_UNKNOWN_TYPE));
  ck_assert(tfrt_ir_type_is(block->first->next->next->results[0].type, "i32"));
  imported_free(&imported);
  test_image_free(&image);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* import = tcase_create("import");
  tcase_set_timeout(import, 30);
  tcase_add_test(import, a_file_of_tfrt_that_went_through_text_is_the_same_bytes);
  tcase_add_test(import, so_is_one_that_went_through_generic_text);
  tcase_add_test(import, every_kind_of_attribute_survives);
  tcase_add_test(import, functions_in_attributes_survive_by_their_names);
  tcase_add_test(import, call_options_survive);
  tcase_add_test(import, every_kind_of_location_survives);
  tcase_add_test(import, parameters_keep_their_names);
  tcase_add_test(import, without_the_optional_sections_one_warning_says_what_is_made_up);
  Suite* suite = suite_create("bef_importer");
  suite_add_tcase(suite, import);
  return suite;
}
