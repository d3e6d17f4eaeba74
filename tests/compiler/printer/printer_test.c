// SPDX-License-Identifier: Apache-2.0

#include "compiler/printer/printer.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "tests/compiler/compiler_test_support.h"
#include "tests/support/test_main.h"

START_TEST(custom_forms_are_printed_as_tfrt_writes_them) {
  static const char text[] =
      "func.func private @native(i32) -> (i32, !tfrt.chain) attributes {tfrt.native}\n"
      "func.func @f(%a: i32 {x.y = 1 : i32}, %c: i1) -> i32 {\n"
      "  %ch = tfrt.new.chain\n"
      "  %k = tfrt.constant.f32 1.500000e+00\n"
      "  %q, %r = tfrt.div.i32 %a, %a\n"
      "  %p:2 = tfrt.call @g(%q, %r) {deadline_ms = 5 : i32, host = 2 : i32, pure} : (i32, i32) -> "
      "(i32, i32)\n"
      "  %x = tfrt.call @h(%p#1) : (i32) -> i32\n"
      "  %y = tfrt.if %c, %x, %p#0 : (i32, i32) -> (i32) {\n"
      "    tfrt.return %x : i32\n"
      "  } else {\n"
      "    tfrt.return %p#0 : i32\n"
      "  }\n"
      "  tfrt.if %c : () -> () {\n"
      "    tfrt.return\n"
      "  }\n"
      "  %z = tfrt.repeat.i32 %y, %x : i32 {\n"
      "    %x_0 = tfrt.add.i32 %x, %x\n"
      "    tfrt.return %x_0 : i32\n"
      "  }\n"
      "  %w:2 = tfrt.while %c @body(%x, %y) parallel_iterations(4) : (i32, i32) -> (i32, i32)\n"
      "  %s = tfrt.case %x [@h, @h](%y) : (i32) -> (i32)\n"
      "  %t = tfrt.cond %c @h @h(%y) : (i32) -> (i32)\n"
      "  %u = tfrt.once @h(%y) : (i32) -> (i32)\n"
      "  %d = tfrt.parallel_for.i32 %x to %y fixed %z, %c : i1 {\n"
      "    tfrt.return\n"
      "  }\n"
      "  %e = tfrt.parallel_call.i32 %x to %y fixed %z @native(%ch) : !tfrt.chain\n"
      "  %m = tfrt.merge.chains %ch, %d, %x : !tfrt.chain, !tfrt.chain, i32\n"
      "  %n = tfrt_test.benchmark \"n\"(%x : i32, %c : i1) duration_secs = 1, max_count = 100 {\n"
      "    tfrt.return %x : i32\n"
      "  }\n"
      "  %o = tfrt_test.test_cost %x {_tfrt_cost = 1 : i64, id = 0 : i64} : i32\n"
      "  %v = \"tfrt.lessequal.i32\"(%x, %y) : (i32, i32) -> i1\n"
      "  tfrt.return %x : i32\n"
      "}\n";
  test_expect_print(text, text, NULL);
}
END_TEST

START_TEST(devices_are_written_as_tfrt_writes_them) {
  static const char text[] =
      "func.func @f(%o: i32, %s: !tfrt_gpu.stream, %f: !tfrt_gpu.function, %b: !tfrt_gpu.buffer, "
      "%h: !ht.host_buffer, %n: ui32, %ch: !tfrt.chain) {\n"
      "  %0 = tfrt_gpu.device.get CUDA, %o\n"
      "  %1 = tfrt_gpu.mem.copy %h, %b, %s, %ch : !ht.host_buffer, !tfrt_gpu.buffer\n"
      "  %2 = tfrt_gpu.mem.set %b, %n, %s, %1 : !tfrt_gpu.buffer, ui32\n"
      "  %3 = tfrt_gpu.function.launch %s, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), "
      "%n, %2, args(%b, %n) : (!tfrt_gpu.buffer, ui32)\n"
      "  %4 = tfrt_gpu.function.launch %s, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), "
      "%n, %3\n"
      "  %5 = tfrt_gpu.alias %b, %4 : !tfrt_gpu.buffer\n"
      "  %6 = \"tfrt_gpu.device.get\"(%o) {platform = \"no name\"} : (i32) -> "
      "!tfrt_gpu.device\n"
      "  tfrt.return\n"
      "}\n";
  test_expect_print(text, text, NULL);
}
END_TEST

START_TEST(what_the_custom_form_cannot_say_is_printed_in_generic_form) {
  static const char text[] =
      "func.func @f(%a: i32, %c: i1) {\n"
      "  \"tfrt.if\"(%c, %a, %a) ({\n"
      "  ^bb0(%x: i32, %y: i32):\n"
      "    tfrt.return\n"
      "  }, {\n"
      "  ^bb0(%x: i32, %y: i32):\n"
      "    tfrt.return\n"
      "  }) : (i1, i32, i32) -> ()\n"
      "  %0 = \"tfrt.constant.i32\"() {value = 1 : i64} : () -> i32\n"
      "  %1 = \"tfrt.add.i32\"(%a) : (i32) -> i32\n"
      "  tfrt.return\n"
      "}\n";
  test_expect_print(text, text, NULL);
}
END_TEST

// The printer remembers what has fitted a form.
START_TEST(an_op_like_one_before_with_other_types_is_printed_in_generic_form) {
  static const char text[] =
      "func.func @f(%a: i32, %c: i1) {\n"
      "  %0 = tfrt.add.i32 %a, %a\n"
      "  %1 = \"tfrt.add.i32\"(%a, %c) : (i32, i1) -> i32\n"
      "  %2 = \"tfrt.add.i32\"(%a, %a) : (i32, i32) -> i1\n"
      "  %3 = \"tfrt.add.i32\"(%a, %a, %a) : (i32, i32, i32) -> i32\n"
      "  %4 = tfrt.add.i32 %0, %a {sum.y = 1 : i32}\n"
      "  %5 = tfrt.add.i32 %0, %a\n"
      "  tfrt.return\n"
      "}\n";
  test_expect_print(text, text, NULL);
}
END_TEST

START_TEST(the_generic_form_is_what_stock_mlir_reads) {
  static const tfrt_printer_options_t generic = {.generic = true};
  test_expect_print(
      "func.func @f(%n: i32, %c: i1) -> i32 attributes {other} {\n"
      "  %r = tfrt.repeat.i32 %n, %n : i32 { tfrt.return %n : i32 }\n"
      "  tfrt.return %r : i32\n"
      "}\n",
      "\"builtin.module\"() ({\n"
      "  \"func.func\"() <{function_type = (i32, i1) -> i32, sym_name = \"f\"}> ({\n"
      "  ^bb0(%n: i32, %c: i1):\n"
      "    %r = \"tfrt.repeat.i32\"(%n, %n) ({\n"
      // Another name: to stock MLIR this region sees the function's values.
      "    ^bb0(%n_0: i32):\n"
      "      \"tfrt.return\"(%n_0) : (i32) -> ()\n"
      "    }) : (i32, i32) -> i32\n"
      "    \"tfrt.return\"(%r) : (i32) -> ()\n"
      "  }) {other} : () -> ()\n"
      "}) : () -> ()\n",
      &generic);
}
END_TEST

// Each as it is printed.
static const char* const attributes[] = {
    "unit",
    "true",
    "42 : i64",
    "-7 : i8",
    "255 : ui8",
    "-1 : si16",
    "3 : index",
    "1.500000e+00 : f64",
    "1.000000e-01 : f32",
    "0x7FC00000 : f32",
    "0x7FF0000000000000 : f64",
    "3.1415926535897931 : f64",
    "1.000000e+00 : bf16",
    "1.000000e+00 : f8E5M2",
    "0x3C : f8E8M0FNU",
    "\"a\\22\\\\\\0A\\E2\\82\\AC\\00\"",
    "\"typed\" : !tfrt.string",
    "[]",
    "[1 : i32, [\"two\", unit], {}]",
    "{a = 1 : i32, \"odd key!\", z.y = \"x\"}",
    "@f",
    "@k::@\"odd name\"::@main",
    "i32",
    "(i32, !tfrt.chain) -> (f32, f64)",
    "tensor<2x?x3xf32>",
    "tensor<*xi8>",
    "tensor<f32, #enc<a -> b>>",
    "memref<2x?xf32, strided<[?, 1]>, 1>",
    "vector<4x[8]xf32>",
    "tuple<i1, tuple<>>",
    "complex<f64>",
    "!tfrt_tensor<[2,3],f32>",
    "!tfrt<\"short {form}\">",
    "none",
    "dense<[1, 2]> : tensor<2xi32>",
    "dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>",
    "dense<7> : tensor<3x3xi32>",
    "dense<[true, false]> : tensor<2xi1>",
    "dense<> : tensor<0xi32>",
    "dense<1.500000e+00> : tensor<f32>",
    "dense<[(1.000000e+00,-2.000000e+00), (0.000000e+00,0x7FC00000)]> : tensor<2xcomplex<f32>>",
    "dense<[\"a\", \"b\"]> : tensor<2x!tfrt.string>",
    "array<i64: 1, -2>",
    "array<i1: true>",
    "array<f32>",
    "#corert.shape<2x?x3>",
    "#corert.shape<>",
    "#corert.shape<*>",
    "#tfrt.thing<a -> b, \">\">",
    "#tfrt.bare",
    "affine_map<(d0, d1) -> (d1, d0)>",
    "sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>",
    "dense<3> : vector<4x[8]xi32>",
    "dense_resource<blob1> : tensor<4xi8>",
    "distinct[0]<42 : i32>",
    "loc(\"zz\":1:2)",
};

START_TEST(attributes_of_all_kinds_come_back) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(attributes); ++i) {
    tfrt_ir_context_t* context;
    tfrt_diagnostics_t diagnostics;
    tfrt_string_builder_t text;
    ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
    tfrt_diagnostics_initialize(&diagnostics, NULL, tfrt_string_view_of(attributes[i]),
                                tfrt_allocator_system());
    tfrt_string_builder_initialize(&text, tfrt_allocator_system());
    const tfrt_ir_attribute_t* attribute = tfrt_parse_attribute(context, &diagnostics);
    ck_assert_msg(attribute != NULL, "%s", attributes[i]);
    tfrt_print_attribute(attribute, &text);
    ck_assert_str_eq(tfrt_string_builder_text(&text), attributes[i]);
    tfrt_string_builder_deinitialize(&text);
    tfrt_diagnostics_deinitialize(&diagnostics);
    tfrt_ir_context_free(context);
  }
}
END_TEST

START_TEST(many_elements_are_printed_as_bytes) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_text(&text, "\"a\"() {x = dense<[0");
  for (int i = 1; i < 101; ++i) tfrt_string_builder_append_format(&text, ", %d", i);
  tfrt_string_builder_append_text(&text, "]> : tensor<101xi16>} : () -> ()\n");
  test_program_t program;
  test_program_parse(&program, text.data);
  tfrt_string_builder_clear(&text);
  tfrt_print_operation(program.module, NULL, &text);
  ck_assert_ptr_nonnull(strstr(text.data, "dense<\"0x00000100020003000400"));
  test_program_free(&program);
  test_expect_print(text.data, text.data, NULL);
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

START_TEST(locations_of_all_kinds_come_back) {
  static const tfrt_printer_options_t locations = {.locations = true};
  static const char text[] =
      "module {\n"
      "  \"a\"() : () -> () loc(\"a.py\":1:2)\n"
      "  \"a\"() : () -> () loc(\"a.py\":1:2 to 3:4)\n"
      "  \"a\"() : () -> () loc(\"name\")\n"
      "  \"a\"() : () -> () loc(\"name\"(\"a.py\":1:2))\n"
      "  \"a\"() : () -> () loc(callsite(\"a\" at \"b.py\":1:2))\n"
      "  \"a\"() : () -> () loc(fused[\"a\", unknown])\n"
      "  \"a\"() : () -> () loc(fused<\"why\">[\"a\"])\n"
      "  \"a\"() : () -> () loc(unknown)\n"
      "  func.func @f(%a: i32 loc(\"p.py\":3:4)) {\n"
      "    tfrt.return loc(unknown)\n"
      "  } loc(unknown)\n"
      "} loc(unknown)\n";
  test_expect_print(text, text, &locations);
}
END_TEST

START_TEST(regions_with_several_blocks_come_back) {
  static const char text[] =
      "func.func @f(%a: i32) {\n"
      "  \"region.op\"() ({\n"
      "    %0 = \"inner\"(%a) : (i32) -> i32\n"
      "    \"x.go\"(%0)[^bb1] : (i32) -> ()\n"
      "  ^bb1(%x: i32):\n"
      "    \"back\"(%x)[^bb1, ^bb2] : (i32) -> ()\n"
      "  ^bb2:\n"
      "    \"x\"() : () -> ()\n"
      "  }, {\n"
      "  }) : () -> ()\n"
      "  tfrt.return\n"
      "}\n";
  test_expect_print(text, text, NULL);
}
END_TEST

// Every program of tests/programs/|folder|, printed and read three times.
static size_t round_trip_folder(const char* folder) {
  size_t count = 0;
  DIR* directory = opendir(folder);
  ck_assert_ptr_nonnull(directory);
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory)) {
    size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 5, ".mlir") != 0) continue;
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    tfrt_file_contents_t file;
    ck_assert_ptr_null(tfrt_file_read(path, tfrt_allocator_system(), &file));
    static const tfrt_printer_options_t locations = {.locations = true};
    test_expect_print((const char*)file.data, NULL, NULL);
    test_expect_print((const char*)file.data, NULL, &locations);
    tfrt_file_contents_deinitialize(&file);
    ++count;
  }
  closedir(directory);
  return count;
}

START_TEST(all_programs_come_back) {
  ck_assert_uint_ge(round_trip_folder("tests/programs"), 5);
  ck_assert_uint_ge(round_trip_folder("tests/programs/random"), 40);
  ck_assert_uint_ge(round_trip_folder("tests/programs/distributed"), 4);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* forms = tcase_create("forms");
  tcase_add_test(forms, custom_forms_are_printed_as_tfrt_writes_them);
  tcase_add_test(forms, devices_are_written_as_tfrt_writes_them);
  tcase_add_test(forms, what_the_custom_form_cannot_say_is_printed_in_generic_form);
  tcase_add_test(forms, an_op_like_one_before_with_other_types_is_printed_in_generic_form);
  tcase_add_test(forms, the_generic_form_is_what_stock_mlir_reads);
  tcase_add_test(forms, attributes_of_all_kinds_come_back);
  tcase_add_test(forms, many_elements_are_printed_as_bytes);
  tcase_add_test(forms, locations_of_all_kinds_come_back);
  tcase_add_test(forms, regions_with_several_blocks_come_back);
  TCase* programs = tcase_create("programs");
  tcase_add_test(programs, all_programs_come_back);
  tcase_set_timeout(programs, 60);
  Suite* suite = suite_create("printer");
  suite_add_tcase(suite, forms);
  suite_add_tcase(suite, programs);
  return suite;
}
