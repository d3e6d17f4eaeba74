// SPDX-License-Identifier: Apache-2.0

#include "compiler/piecewise_print.h"

#include "tests/support/test_main.h"
#include "tools/kernels/op_tables.h"

static tfrt_diagnostics_t diagnostics;
static tfrt_string_builder_t pieces;
static tfrt_string_builder_t whole;

static void set_up(void) {
  tfrt_string_builder_initialize(&pieces, tfrt_allocator_system());
  tfrt_string_builder_initialize(&whole, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_string_builder_deinitialize(&pieces);
  tfrt_string_builder_deinitialize(&whole);
}

// Prints |program| piece by piece; false if that must be left to the other way.
static bool print(const char* program, tfrt_text_to_text_options_t options) {
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_diagnostics_initialize(&diagnostics, "p.mlir", tfrt_string_view_of(program),
                              tfrt_allocator_system());
  tfrt_string_builder_clear(&pieces);
  options.piecewise_from = 1;
  return tfrt_print_piecewise(tfrt_all_op_tables(), &options, tfrt_allocator_system(), &diagnostics,
                              &pieces);
}

// Checks that |program| is printed piece by piece as it is as a whole.
static void check(const char* program, tfrt_text_to_text_options_t options) {
  ck_assert_msg(print(program, options), "not piece by piece:\n%s", program);
  tfrt_string_builder_clear(&whole);
  options.piecewise_from = SIZE_MAX;
  ck_assert_ptr_null(tfrt_optimize_text(tfrt_all_op_tables(), &options, tfrt_allocator_system(),
                                        &diagnostics, &whole));
  ck_assert_str_eq(tfrt_string_builder_text(&pieces), tfrt_string_builder_text(&whole));
  ck_assert_uint_eq(diagnostics.count, 0);
}

static const tfrt_text_to_text_options_t plain = {.generic = true, .unnamed_values = true};
static const tfrt_text_to_text_options_t located = {
    .generic = true, .unnamed_values = true, .locations = true};

static const char* const programs[] = {
    // Values are numbered from the last function on; calls of functions that come later.
    "func.func @f(%a: i32) -> i32 {\n"
    "  %b = tfrt.add.i32 %a, %a\n"
    "  %c = tfrt.call @g(%b) : (i32) -> (i32)\n"
    "  tfrt.return %c : i32\n"
    "}\n"
    "func.func @g(%a: i32) -> i32 {\n"
    "  %b = tfrt.add.i32 %a, %a\n"
    "  tfrt.return %b : i32\n"
    "}\n",
    // Declarations, modules in each other, two functions of one name in different ones.
    "module @top attributes {a = 1 : i32} {\n"
    "  func.func private @d(i32) -> i32\n"
    "  func.func @f() { tfrt.return }\n"
    "  module @inner {\n"
    "    func.func @f() -> i32 { %a = tfrt.constant.i32 7 tfrt.return %a : i32 }\n"
    "  }\n"
    "  \"foo.unknown\"() ({ \"foo.inner\"() : () -> () }) : () -> ()\n"
    "}\n",
    "module { func.func @f() { tfrt.return } }\n"
    "module { func.func @f() { tfrt.return } }\n",
    // Blocks, names that an outer scope has too, regions.
    "\"builtin.module\"() ({\n"
    "^bb0:\n"
    "  \"func.func\"() <{function_type = (i1) -> (), sym_name = \"f\"}> ({\n"
    "  ^bb0(%a: i1):\n"
    "    \"cf.cond_br\"(%a)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> "
    "()\n"
    "  ^bb1:\n"
    "    \"cf.br\"()[^bb2] : () -> ()\n"
    "  ^bb2:\n"
    "    %0:2 = \"foo.two\"() ({\n"
    "    ^bb0(%1: f32):\n"
    "      %2 = \"foo.use\"(%1, %a) : (f32, i1) -> i1\n"
    "    }) : () -> (i32, i32)\n"
    "    \"foo.use\"(%0#1) : (i32) -> ()\n"
    "    \"func.return\"() : () -> ()\n"
    "  }) : () -> ()\n"
    "  %0 = \"foo.global\"() : () -> i1\n"
    "  \"func.func\"() <{function_type = (i1) -> (), sym_name = \"g\"}> ({\n"
    "  ^bb0(%0: i1):\n"
    "    \"func.return\"() : () -> ()\n"
    "  }) : () -> ()\n"
    "  \"foo.use\"(%0) : (i1) -> ()\n"
    "}) : () -> ()\n",
    // Functions that are in no module but in regions of ops.
    "\"foo.around\"() ({\n"
    "  func.func @f(%a: i32) -> i32 { tfrt.return %a : i32 }\n"
    "}) : () -> ()\n"
    "func.func @g() { %0 = tfrt.new.chain tfrt.return }\n",
    // Types and attributes that the first function brings and the second one has, too; a function
    // type of many parts.
    "func.func @f(%a: tensor<2x?xf32>, %b: tuple<i32, f32>) {\n"
    "  \"foo.a\"(%b) {x = [1 : i8, dense<[1, 2]> : tensor<2xi32>], y = {z = \"s\"}} : "
    "(tuple<i32, f32>) -> ()\n"
    "  %0:17 = \"foo.many\"() : () -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, "
    "i32, i32, i32, i32, i33)\n"
    "  tfrt.return\n"
    "}\n"
    "func.func @g(%a: tensor<2x?xf32>, %b: tuple<i32, f32>) {\n"
    "  \"foo.a\"(%b) {x = [1 : i8, dense<[1, 2]> : tensor<2xi32>], y = {z = \"s\"}} : "
    "(tuple<i32, f32>) -> ()\n"
    "  %0:17 = \"foo.many\"() : () -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, "
    "i32, i32, i32, i32, i33)\n"
    "  tfrt.return\n"
    "}\n",
    // Locations that are defined behind their uses, in attributes too.
    "func.func @f(%a: i32 loc(#loc1)) {\n"
    "  \"foo.a\"(%a) {at = loc(#loc2), as = #loc1} : (i32) -> () loc(callsite(#loc1 at #loc2))\n"
    "  tfrt.return loc(fused<\"x\">[#loc1, \"g\":1:2])\n"
    "} loc(\"n\"(#loc2))\n"
    "#loc1 = loc(\"f\":3:4)\n"
    "func.func @g(%a: i32 loc(#loc1)) {\n"
    "  tfrt.return loc(callsite(#loc1 at #loc2))\n"
    "}\n"
    "#loc2 = loc(\"name\"(#loc1))\n",
    // Braces that open and close nothing.
    "func.func @f() {  // }\n"
    "  \"foo.a\"() {a = \"}\\\"}\", b = #foo<x / {y}>} : () -> ()  // {\n"
    "  tfrt.return\n"
    "}\n"
    "func.func @g() { tfrt.return }\n",
    "!t = tuple<i32>\n"
    "#m = affine_map<(d0) -> (d0)>\n"
    "async.func @f(%a: !t) -> !async.token {\n"
    "  %t = async.execute { \"foo.a\"(%a) {m = #m} : (!t) -> () async.yield }\n"
    "  async.await %t : !async.token\n"
    "  return\n"
    "}\n",
};

START_TEST(a_text_is_printed_as_it_is_as_a_whole) {
  check(programs[_i], plain);
  check(programs[_i], located);
}
END_TEST

// A piece is parsed as if there had been none before it.
START_TEST(many_functions_don_t_disturb_each_other) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  for (int i = 0; i < 200; ++i) {
    tfrt_string_builder_append_format(
        &text,
        "func.func @f%d(%%a: i32, %%v%d: f32) -> i32 {\n"
        "^bb0:\n  %%x%d = tfrt.add.i32 %%a, %%a\n  %%b = \"tfrt.add.i32\"(%%x%d, %%a) : (i32, i32) "
        "-> i32\n  %%0 = tfrt.call @f%d(%%b, %%v%d) : (i32, f32) -> (i32)\n"
        "  \"foo.n\"(%%0) {n = %d : i%d} : (i32) -> ()\n  tfrt.return %%0 : i32\n}\n",
        i, i % 7, i % 3, i % 3, (i + 1) % 200, i % 7, i, 8 + i % 5);
  }
  // The label is of the second block: the first one has the parameters.
  const char* program = tfrt_string_builder_text(&text);
  ck_assert(!print(program, plain));
  for (char* at = text.data; (at = strstr(at, "^bb0:\n")); ++at) memset(at, ' ', 5);
  check(program, plain);
  check(program, located);
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

START_TEST(what_needs_the_whole_program_is_left_alone) {
  static const char* const others[] = {
      "func.func @f() { tfrt.nope }\n",                                    // the parser
      "func.func @f() -> i32 { tfrt.return }\n",                           // the verifier
      "func.func @f() { tfrt.call @g() : () -> () tfrt.return }\n",        // no callee
      "func.func @f() { tfrt.return }\nfunc.func @f() { tfrt.return }\n",  // two of a name
      "func.func @f() { tfrt.return }\nfunc.func @g() { \"x\"(%a) : (i1) -> () tfrt.return }\n",
      "func.func @f() { tfrt.return loc(#loc9) }\n",                  // no such place
      "func.func @f() { \"x\"() {a = #m} : () -> () tfrt.return }\n"  // no alias yet
      "#m = affine_map<(d0) -> (d0)>\n",
      "func.func @f() { tfrt.return }\n"
      "#m = affine_map<(d0) -> (d0)>\n"  // may not be known to @f
      "func.func @g() { \"x\"() {a = #m} : () -> () tfrt.return }\n",
      "func.func @f() { \"x\"() {a = #foo<// {>} : () -> () tfrt.return }\n"  // no comment
      "func.func @g() { tfrt.return }\n",
      "func.func @f() { tfrt.call @g() {host = 1 : i32} : () -> () tfrt.return }\n"  // lends
      "func.func @g() { tfrt.return }\n",
      "func.func @f() { \"x\"() {a = dense_resource<b> : tensor<1xi8>} : () -> () tfrt.return }\n"
      "{-# dialect_resources: { builtin: { b: \"0x0100000001\" } } #-}\n",
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(others); ++i) {
    ck_assert_msg(!print(others[i], plain), "%s", others[i]);
    ck_assert_uint_eq(pieces.size, 0);
    ck_assert_uint_eq(diagnostics.count, 0);
  }
  // Other options.
  ck_assert(!print(programs[0], (tfrt_text_to_text_options_t){.generic = true}));
  ck_assert(!print(programs[0], (tfrt_text_to_text_options_t){.unnamed_values = true}));
  tfrt_text_to_text_options_t lowering = plain;
  lowering.lowers = true;
  ck_assert(!print(programs[0], lowering));
  tfrt_text_to_text_options_t strict = plain;
  strict.known_dialects_only = true;
  ck_assert(!print(programs[1], strict));
  check(programs[0], strict);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* prints = tcase_create("prints");
  tcase_add_checked_fixture(prints, set_up, tear_down);
  tcase_add_loop_test(prints, a_text_is_printed_as_it_is_as_a_whole, 0,
                      (int)TFRT_ARRAY_SIZE(programs));
  tcase_add_test(prints, many_functions_don_t_disturb_each_other);
  tcase_add_test(prints, what_needs_the_whole_program_is_left_alone);
  Suite* suite = suite_create("piecewise_print");
  suite_add_tcase(suite, prints);
  return suite;
}
