// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/compiler/compiler_test_support.h"
#include "tests/support/test_main.h"
#include "tools/kernels/op_tables.h"

// --- What is built ------------------------------------------------------------------------

static size_t use_count(const tfrt_ir_value_t* value) {
  size_t count = 0;
  for (const tfrt_ir_operand_t* use = value->first_use; use; use = use->next) ++count;
  return count;
}

START_TEST(an_op_has_operands_results_attributes_and_uses) {
  test_program_t program;
  test_program_parse(&program,
                     "func.func @f(%a: i32) -> i32 {\n"
                     "  %q, %r = tfrt.div.i32 %a, %a\n"
                     "  tfrt.return %r : i32\n"
                     "}\n");
  ck_assert_ptr_nonnull(program.module);
  const tfrt_ir_operation_t* function = tfrt_ir_module_block(program.module)->first;
  ck_assert(tfrt_ir_is_function(function));
  ck_assert_str_eq(tfrt_ir_function_type(function)->text->data, "(i32) -> i32");
  const tfrt_ir_block_t* block = tfrt_ir_function_block(function);
  ck_assert_uint_eq(block->argument_count, 1);
  ck_assert(tfrt_ir_string_is(block->arguments[0]->name, "a"));
  ck_assert_uint_eq(use_count(block->arguments[0]), 2);
  const tfrt_ir_operation_t* div = block->first;
  ck_assert_str_eq(div->descriptor->name, "tfrt.div.i32");
  ck_assert_uint_eq(div->operand_count, 2);
  ck_assert_uint_eq(div->result_count, 2);
  ck_assert_ptr_eq(div->operands[1].value, block->arguments[0]);
  ck_assert_uint_eq(use_count(&div->results[0]), 0);
  ck_assert_uint_eq(use_count(&div->results[1]), 1);
  ck_assert_ptr_eq(div->results[1].first_use->owner, div->next);
  test_program_free(&program);
}
END_TEST

// The |count| ops of the first block of the first region of |op|.
static void list_ops(const tfrt_ir_operation_t* op, const tfrt_ir_operation_t** ops, size_t count) {
  size_t found = 0;
  const tfrt_ir_operation_t* next = op->regions[0].first_block->first;
  for (; next && found < count; next = next->next) ops[found++] = next;
  ck_assert(found == count && !next);
}

// The second time that an op is met its form is known, and it is parsed another way unless
// something is unusual: one of these ops is, in each way there is.
START_TEST(an_op_that_was_met_before_may_have_all_that_the_first_one_may) {
  test_program_t program;
  test_program_parse(&program,
                     "func.func @f(%a: i32) -> i32 {\n"
                     "  %b = tfrt.add.i32 %a, %a\n"
                     "  %c = tfrt.add.i32 %a, %b\n"
                     "  %d = tfrt.add.i32 %b, // why\n"
                     "    %c loc(\"x\":7:8)\n"
                     "  %e = tfrt.add.i32 %d, %c {k = 1 : i32}\n"
                     "  %g:1 = tfrt.add.i32 %e, %late\n"
                     "  tfrt.add.i32 %g, %g\n"
                     "  %late = tfrt.add.i32 %g#0, %a\n"
                     "  tfrt.return %late : i32\n"
                     "}\n");
  ck_assert_ptr_nonnull(program.module);
  const tfrt_ir_operation_t* ops[8];
  list_ops(tfrt_ir_module_block(program.module)->first, ops, TFRT_ARRAY_SIZE(ops));
  for (size_t i = 0; i < 7; ++i) {
    ck_assert(tfrt_ir_operation_is(ops[i], "tfrt.add.i32"));
    ck_assert_uint_eq(ops[i]->operand_count, 2);
    ck_assert_uint_eq(ops[i]->result_count, 1);
    ck_assert_uint_eq(ops[i]->attribute_count, i == 3 ? 1 : 0);
    ck_assert_uint_eq(ops[i]->location->line, i == 2 ? 7 : i < 2 ? 2 + i : 3 + i);
  }
  ck_assert_ptr_eq(ops[1]->operands[1].value, ops[0]->results);
  ck_assert_ptr_eq(ops[2]->operands[1].value, ops[1]->results);
  ck_assert_ptr_eq(ops[4]->operands[1].value, ops[6]->results);
  ck_assert_ptr_eq(ops[6]->operands[0].value, ops[4]->results);
  ck_assert_ptr_null(ops[5]->results[0].name);
  ck_assert(tfrt_ir_string_is(ops[1]->results[0].name, "c"));
  ck_assert_ptr_eq(ops[7]->operands[0].value, ops[6]->results);
  test_program_free(&program);
}
END_TEST

static void check_operands(const tfrt_ir_operation_t* op, const tfrt_ir_operation_t* first,
                           const tfrt_ir_operation_t* second) {
  ck_assert_uint_eq(op->operand_count, 2);
  ck_assert_ptr_eq(op->operands[0].value, first->results);
  ck_assert_ptr_eq(op->operands[1].value, second->results);
}

// Values of the op before are known by their names: in its scope only, and once they are defined.
START_TEST(a_name_means_what_it_does_where_it_stands) {
  test_program_t program;
  test_program_parse(&program,
                     "func.func @f(%a: i32) {\n"
                     "  %b = tfrt.add.i32 %late, %a\n"
                     "  %c = tfrt.add.i32 %late, %b\n"
                     "  %late = tfrt.add.i32 %b, %c\n"
                     "  %d = tfrt.add.i32 %late, %c\n"
                     "  \"wrap\"() ({\n"
                     "    %e = tfrt.add.i32 %d, %c\n"
                     "    %g = tfrt.add.i32 %e, %c\n"
                     "  }) : () -> ()\n"
                     "  %e = tfrt.add.i32 %d, %c\n"
                     "  %g = tfrt.add.i32 %e, %c\n"
                     "}\n"
                     "func.func @h() {\n"
                     "  %e = tfrt.constant.i32 1\n"
                     "  %c = tfrt.add.i32 %e, %e\n"
                     "  %d = tfrt.add.i32 %e, %c\n"
                     "}\n");
  ck_assert_ptr_nonnull(program.module);
  const tfrt_ir_operation_t* f = tfrt_ir_module_block(program.module)->first;
  const tfrt_ir_operation_t* ops[7];
  list_ops(f, ops, 7);
  ck_assert_ptr_eq(ops[0]->operands[0].value, ops[2]->results);
  check_operands(ops[1], ops[2], ops[0]);
  check_operands(ops[3], ops[2], ops[1]);
  check_operands(ops[5], ops[3], ops[1]);
  check_operands(ops[6], ops[5], ops[1]);
  const tfrt_ir_operation_t* inner[2];
  list_ops(ops[4], inner, 2);
  check_operands(inner[0], ops[3], ops[1]);
  check_operands(inner[1], inner[0], ops[1]);
  const tfrt_ir_operation_t* others[3];
  list_ops(f->next, others, 3);
  check_operands(others[1], others[0], others[0]);
  check_operands(others[2], others[0], others[1]);
  test_program_free(&program);
}
END_TEST

START_TEST(the_location_of_an_op_is_that_of_its_name) {
  test_program_t program;
  test_program_parse(&program, "\n  %ch = tfrt.new.chain\n");
  const tfrt_ir_location_t* location = tfrt_ir_module_block(program.module)->first->location;
  ck_assert_int_eq(location->kind, TFRT_IR_LOCATION_FILE);
  ck_assert(tfrt_ir_string_is(location->name, "t.mlir"));
  ck_assert_uint_eq(location->line, 2);
  ck_assert_uint_eq(location->column, 9);
  test_program_free(&program);
}
END_TEST

START_TEST(a_region_names_its_arguments_like_the_operands) {
  test_program_t program;
  test_program_parse(&program,
                     "func.func @f(%n: i32, %c: i1) {\n"
                     "  %r:2 = tfrt_test.do.async %n, %c : (i32, i1) -> (i32, i1) {\n"
                     "    tfrt.return %n, %c : i32, i1\n"
                     "  }\n"
                     "  %s = tfrt.repeat.i32 %n, %r#1 : i1 {\n"
                     "    tfrt.return %r#1 : i1\n"
                     "  }\n"
                     "  tfrt.return\n"
                     "}\n");
  ck_assert_str_eq(tfrt_string_builder_text(&program.errors), "");
  const tfrt_ir_block_t* block =
      tfrt_ir_function_block(tfrt_ir_module_block(program.module)->first);
  const tfrt_ir_operation_t* async = block->first;
  const tfrt_ir_block_t* body = async->regions[0].first_block;
  ck_assert_uint_eq(body->argument_count, 2);
  ck_assert_ptr_eq(body->first->operands[0].value, body->arguments[0]);
  ck_assert_ptr_eq(async->next->operands[1].value, &async->results[1]);
  const tfrt_ir_block_t* loop = async->next->regions[0].first_block;
  ck_assert_uint_eq(loop->argument_count, 1);
  ck_assert_ptr_eq(loop->first->operands[0].value, loop->arguments[0]);
  test_program_free(&program);
}
END_TEST

START_TEST(an_else_region_that_is_left_out_only_returns) {
  test_program_t program;
  test_program_parse(&program,
                     "func.func @f(%c: i1, %x: i32) {\n"
                     "  tfrt.if %c, %x : (i32) -> () { tfrt.return }\n"
                     "  tfrt.return\n"
                     "}\n");
  const tfrt_ir_operation_t* branch =
      tfrt_ir_function_block(tfrt_ir_module_block(program.module)->first)->first;
  ck_assert_uint_eq(branch->region_count, 2);
  const tfrt_ir_block_t* block = branch->regions[1].first_block;
  ck_assert_uint_eq(block->argument_count, 1);
  ck_assert_ptr_eq(block->first, block->last);
  ck_assert(tfrt_ir_operation_is(block->first, "tfrt.return"));
  test_program_free(&program);
}
END_TEST

START_TEST(attributes_left_out_get_their_default) {
  test_program_t program;
  test_program_parse(&program,
                     "func.func @f(%c: i32) {\n"
                     "  tfrt_test.benchmark \"n\"(%c : i32) max_count = 7, duration_secs = 1 {\n"
                     "    tfrt.return %c : i32\n"
                     "  }\n"
                     "  tfrt.return\n"
                     "}\n");
  const tfrt_ir_operation_t* op =
      tfrt_ir_function_block(tfrt_ir_module_block(program.module)->first)->first;
  ck_assert_uint_eq(op->attribute_count, 4);
  ck_assert_int_eq(
      tfrt_ir_attribute_integer_value(tfrt_ir_operation_attribute(op, "num_warmup_runs")), 1);
  ck_assert_int_eq(tfrt_ir_attribute_integer_value(tfrt_ir_operation_attribute(op, "max_count")),
                   7);
  test_program_free(&program);
}
END_TEST

START_TEST(a_lone_module_is_the_module_and_bare_ops_get_one) {
  test_program_t program;
  test_program_parse(&program, "module @m attributes {a.b = 1 : i64} { }\n");
  ck_assert(tfrt_string_view_equal(tfrt_ir_symbol_name(program.module), tfrt_string_view_of("m")));
  ck_assert_ptr_nonnull(tfrt_ir_operation_attribute(program.module, "a.b"));
  test_program_free(&program);
  test_program_parse(&program, "module @m { }\nmodule @k attributes {tfrt.compiled} { }");
  ck_assert_uint_eq(tfrt_ir_symbol_name(program.module).size, 0);
  const tfrt_ir_operation_t* second = tfrt_ir_module_block(program.module)->last;
  ck_assert(tfrt_ir_is_compiled_module(second));
  test_program_free(&program);
  test_program_parse(&program, "");
  ck_assert_ptr_null(tfrt_ir_module_block(program.module)->first);
  test_program_free(&program);
}
END_TEST

START_TEST(location_aliases_may_come_later) {
  test_program_t program;
  test_program_parse(&program,
                     "%c = tfrt.new.chain loc(#loc1)\n"
                     "#loc1 = loc(callsite(#loc2 at \"a.py\":1:2))\n"
                     "#loc2 = loc(\"name\")\n");
  ck_assert_str_eq(tfrt_string_builder_text(&program.errors), "");
  const tfrt_ir_location_t* location = tfrt_ir_module_block(program.module)->first->location;
  ck_assert_int_eq(location->kind, TFRT_IR_LOCATION_CALL_SITE);
  ck_assert(tfrt_ir_string_is(location->first->name, "name"));
  ck_assert_uint_eq(location->weight, 3);
  ck_assert_uint_eq(location->depth, 2);
  test_program_free(&program);
}
END_TEST

// --- What is refused ------------------------------------------------------------------------

START_TEST(parentheses_of_another_form_are_named) {
  test_expect_errors(
      "func.func @f(%x: i32) {\n"
      "  %c = tfrt.new.chain()\n"
      "  tfrt.print.i32(%x)\n"
      "  tfrt.return\n"
      "}\n",
      "2:22: error: the operands of 'tfrt.new.chain' are written without parentheses; the generic "
      "form has quotes, \"tfrt.new.chain\"(...) : (...) -> ...\n"
      "3:17: error: the operands of 'tfrt.print.i32' are written without parentheses; the generic "
      "form has quotes, \"tfrt.print.i32\"(...) : (...) -> ...\n");
}
END_TEST

START_TEST(several_errors_are_reported_in_one_go) {
  test_expect_errors(
      "func.func @f(%a: i32) -> i32 {\n"
      "  %b = tfrt.adf.i32 %a, %a\n"
      "  %c = tfrt.add.i32 %b, %b\n"
      "  %d = tfrt.add.i32 %a\n"
      "  %e = tfrt.lessequal.i32 %a, %a\n"
      "  %f = my.op %a\n"
      "  tfrt.return %nope : i32\n"
      "}\n"
      "func.func @g() {\n"
      "  %x:2 = tfrt.constant.i32 1\n"
      "  tfrt.return\n"
      "}\n",
      "2:8: error: custom op 'tfrt.adf.i32' is unknown; did you mean 'tfrt.add.i32'?\n"
      "4:8: error: op 'tfrt.add.i32' takes 2 operands, not 1: %lhs, %rhs\n"
      "5:8: error: op 'tfrt.lessequal.i32' has no custom form; write \"tfrt.lessequal.i32\"(...) "
      ": (...) -> ...\n"
      "6:8: error: custom op 'my.op' is unknown; an op that is not in the op tables is written "
      "\"my.op\"(...) : (...) -> ..., and a kernel library that has it is named with "
      "--shared_libs\n"
      "7:15: error: use of undeclared value '%nope'\n"
      "10:10: error: op 'tfrt.constant.i32' has 1 results, but the names stand for 2\n");
}
END_TEST

START_TEST(a_value_has_one_type_and_one_definition) {
  test_expect_errors(
      "func.func @f(%a: i32) {\n"
      "  %b = tfrt.add.i64 %a, %late\n"
      "  %a = tfrt.constant.i32 1\n"
      "  %late = tfrt.constant.i32 2\n"
      "  %x = tfrt.constant.i32 2\n"
      "  \"use\"(%x#1) : (i32) -> ()\n"
      "}\n",
      "2:21: error: use of value '%a' expects different type than prior uses: 'i64' vs 'i32'\n"
      "1:14: note: prior use here\n"
      "3:3: error: redefinition of SSA value '%a'\n"
      "1:14: note: previously defined here\n"
      "2:25: error: use of value '%late' expects different type than prior uses: 'i64' vs 'i32'\n"
      "4:3: note: prior use here\n"
      "6:9: error: reference to invalid result number: '%x' has no result 1\n");
}
END_TEST

// An attribute whose text was met before is not parsed again, nor are the integers of an op that is
// parsed in one go.
START_TEST(attributes_that_were_met_before_are_the_same) {
  test_program_t program;
  test_program_parse(&program,
                     "func.func @f(%a: i64) {\n"
                     "  %b = \"arith.addi\"(%a, %a) : (i64, i64) -> i64\n"
                     "  %c = \"arith.addi\"(%b, %b) <{overflowFlags = #arith.overflow<none>}> : "
                     "(i64, i64) -> i64\n"
                     "  %d = \"arith.addi\"(%b, %b) <{overflowFlags = #arith.overflow<none>}> "
                     "{k = 7 : i64} : (i64, i64) -> i64\n"
                     "  %e = \"arith.addi\"(%b, %b) {k = 7 : i64} : (i64, i64) -> i64\n"
                     "  \"x\"(%a) {a, b = \"s\", c = 7 : i64} : (i64) -> ()\n"
                     "  \"x\"(%a) {c = 7 : i64, a, b = \"s\"} : (i64) -> ()\n"
                     "  tfrt.return\n"
                     "}\n");
  ck_assert_ptr_nonnull(program.module);
  const tfrt_ir_operation_t* ops[7];
  list_ops(tfrt_ir_module_block(program.module)->first, ops, TFRT_ARRAY_SIZE(ops));
  const tfrt_ir_attribute_t* seven = tfrt_ir_operation_attribute(ops[2], "k");
  ck_assert_int_eq(tfrt_ir_attribute_integer_value(seven), 7);
  for (size_t i = 0; i < 4; ++i) {
    ck_assert_uint_eq(ops[i]->attribute_count, i < 2 ? 1 : 2);
    ck_assert_ptr_eq(tfrt_ir_operation_attribute(ops[i], "overflowFlags"),
                     tfrt_ir_operation_attribute(ops[0], "overflowFlags"));
    if (i >= 2) ck_assert_ptr_eq(tfrt_ir_operation_attribute(ops[i], "k"), seven);
  }
  for (size_t i = 0; i < 3; ++i) {
    ck_assert_ptr_eq(ops[4]->attributes[i].name, ops[5]->attributes[i].name);
    ck_assert_ptr_eq(ops[4]->attributes[i].value, ops[5]->attributes[i].value);
  }
  ck_assert_ptr_eq(ops[5]->attributes[2].value, seven);
  test_program_free(&program);
}
END_TEST

START_TEST(attributes_behind_good_ones_are_refused_as_the_first_ones_are) {
  test_expect_errors(
      "\"x\"() {a = 1 : i8, b} : () -> ()\n"
      "\"x\"() {a = 1 : i8, b, a = 2 : i8} : () -> ()\n"
      "\"x\"() {a = 256 : i8} : () -> ()\n"
      "\"x\"() {a = 1 : i8 b} : () -> ()\n"
      "\"x\"() {a = , b} : () -> ()\n"
      "\"x\"() {a = 1 : i8, b : () -> ()\n",
      "2:1: error: the attribute 'a' is given twice\n"
      "3:12: error: this number is out of the range of 'i8'\n"
      "4:19: error: expected '}' or ',' behind an attribute\n"
      "5:12: error: expected an attribute: a number, a string, a symbol, a type ...\n"
      "6:22: error: expected '}' or ',' behind an attribute\n");
}
END_TEST

START_TEST(an_op_that_was_met_before_is_refused_like_the_first_one) {
  test_expect_errors(
      "func.func @f(%a: i32, %l: i64) {\n"
      "  %b = tfrt.add.i32 %a, %a\n"
      "  %c = tfrt.add.i32 %a\n"
      "  %d = tfrt.add.i32 %a, %b, %b\n"
      "  %e = tfrt.add.i32 %a, %l\n"
      "  %g = tfrt.add.i32 %a, ;\n"
      "  %h = tfrt.add.i32 %a, %b#2\n"
      "  %b = tfrt.add.i32 %a, %a\n"
      "  %i:2 = tfrt.add.i32 %a, %b\n"
      "  %j = tfrt.add.i32 %a, %nope\n"
      "  tfrt.return\n"
      "}\n",
      "3:8: error: op 'tfrt.add.i32' takes 2 operands, not 1: %lhs, %rhs\n"
      "4:8: error: op 'tfrt.add.i32' takes 2 operands, not 3: %lhs, %rhs\n"
      "5:25: error: use of value '%l' expects different type than prior uses: 'i32' vs 'i64'\n"
      "1:23: note: prior use here\n"
      "6:25: error: unexpected character ';'\n"
      "7:25: error: reference to invalid result number: '%b' has no result 2\n"
      "8:3: error: redefinition of SSA value '%b'\n"
      "2:3: note: previously defined here\n"
      "9:10: error: op 'tfrt.add.i32' has 1 results, but the names stand for 2\n"
      "10:25: error: use of undeclared value '%nope'\n");
}
END_TEST

START_TEST(regions_of_control_flow_see_their_operands_only) {
  test_expect_errors(
      "func.func @f(%n: i32, %x: i32) {\n"
      "  tfrt.repeat.i32 %n {\n"
      "    %y = tfrt.add.i32 %x, %x\n"
      "    tfrt.return\n"
      "  }\n"
      "  tfrt.return\n"
      "}\n",
      "3:23: error: use of undeclared value '%x'\n");
  test_expect_errors(
      "func.func @f(%n: i32, %c: i1) -> i32 {\n"
      "  %r = tfrt.if %c, %n : (i32) -> i32 { tfrt.return %n : i32 }\n"
      "  tfrt.return %r : i32\n"
      "}\n",
      "2:8: error: op 'tfrt.if' has results, so it needs an 'else' region\n");
}
END_TEST

START_TEST(numbers_must_fit_their_type) {
  test_expect_errors(
      "%a = tfrt.constant.i32 4294967296\n"
      "%b = tfrt.constant.i32 -2147483649\n"
      "%c = tfrt.constant.i1 2\n"
      "%d = tfrt.constant.ui32 -1\n"
      "%e = tfrt.constant.f32 1\n"
      "%f = tfrt.constant.f32 1.0e400\n"
      "%g = tfrt.constant.i64 99999999999999999999999999\n"
      "%h = tfrt.constant.f32 0x100000000\n"
      "\"x\"() {a = 1 : i65} : () -> ()\n"
      "\"x\"() {a = 1 : !tfrt.chain} : () -> ()\n",
      "1:24: error: this number is out of the range of 'i32'\n"
      "2:25: error: this number is out of the range of 'i32'\n"
      "3:23: error: this number is out of the range of 'i1'\n"
      "4:26: error: this number is out of the range of 'ui32'\n"
      "5:24: error: expected a float for type 'f32'; write a decimal point, as in 1.0\n"
      "6:24: error: this number is out of the range of 'f32'\n"
      "7:24: error: this number is out of the range of 'i64'\n"
      "8:24: error: this number is out of the range of 'f32'\n"
      "9:12: error: integers of more than 64 bits are not supported\n"
      "10:12: error: a number can't have the type '!tfrt.chain'\n");
}
END_TEST

START_TEST(types_and_attributes_say_what_they_miss) {
  test_expect_errors(
      "\"a\"() {x = i32y} : () -> ()\n"
      "\"a\"() {x = tensor<2xf32} : () -> ()\n"
      "\"a\"() {x = dense<[1, [2]]> : tensor<2xi32>} : () -> ()\n"
      "\"a\"() {x = dense<[1, 2]> : tensor<3xi32>} : () -> ()\n"
      "\"a\"() {x = 1 : i32, x = 2 : i32} : () -> ()\n"
      "\"a\"() {x = !alias} : () -> ()\n"
      "\"a\"() {x = #alias} : () -> ()\n"
      "\"a\"() : (i32) -> ()\n"
      "\"a\"() {x = #corert.shape<2x>} : () -> ()\n"
      "\"a\"() {x = complex<complex<f32>>} : () -> ()\n",
      "1:12: error: expected an attribute: a number, a string, a symbol, a type ...\n"
      "2:24: error: expected '>' at the end of a shaped type\n"
      "3:23: error: the lists in a dense attribute have different lengths\n"
      "4:18: error: the shape of the elements doesn't match type 'tensor<3xi32>'\n"
      "5:1: error: the attribute 'x' is given twice\n"
      "6:12: error: undefined type alias '!alias'\n"
      "7:12: error: undefined attribute alias '#alias'\n"
      "8:9: error: expected 0 operand types but had 1\n"
      "9:25: error: expected a shape such as <2x?x3> or <*>\n"
      "10:20: error: the element of a complex type must be a number\n");
}
END_TEST

START_TEST(what_is_missing_at_the_end_of_a_line_is_missing_there) {
  test_expect_errors(
      "%a = tfrt.constant.i32\n"
      "\n"
      "%b = tfrt.add.i32 %a,  // and nothing more\n"
      "tfrt.return %b :\n",
      "1:23: error: expected an attribute: a number, a string, a symbol, a type ...\n"
      "3:22: error: expected a value such as %name\n"
      "4:17: error: expected a type\n");
  test_expect_errors("func.func @f(\n// the text ends here", "1:14: error: expected a type\n");
}
END_TEST

START_TEST(what_is_open_must_be_closed) {
  test_expect_errors("func.func @f() {\n  tfrt.return\n",
                     "1:16: error: this region is never closed: a '}' is missing\n");
  test_expect_errors(
      "}\n%c = tfrt.new.chain extra\n",
      "1:1: error: unexpected '}': no region is open here\n"
      "2:21: error: custom op 'extra' is unknown; an op that is not in the op tables "
      "is written \"extra\"(...) : (...) -> ...\n");
  test_expect_errors("\"a\"() {x = !d<(} : () -> ()\n",
                     "1:16: error: unbalanced '}': expected ')' here\n");
}
END_TEST

START_TEST(files_that_are_no_text_are_named) {
  test_expect_errors("\x0B\xEF",
                     "1:1: error: this is a BEF file; expected text (bef_to_mlir makes "
                     "text of it)\n");
  test_expect_errors("ML\xEFR...", "1:1: error: this is MLIR bytecode; expected text\n");
  test_expect_errors("{-# x #-}",
                     "1:5: error: expected 'dialect_resources' or 'external_resources'\n");
  test_expect_errors("{-# dialect_resources: { foo: {} } #-}",
                     "1:26: error: dialect 'foo' has no resources here: only 'builtin' has\n");
  test_expect_errors("{-# dialect_resources: { builtin: { a: true } } #-}",
                     "1:40: error: expected bytes \"0x...\" for resource 'a'\n");
  test_expect_errors("{-# dialect_resources: { builtin: { a: \"text\" } } #-}",
                     "1:40: error: expected bytes \"0x...\" for resource 'a'\n");
  test_expect_errors("{-# external_resources: { t: { a: \"0x0400\" } } #-}",
                     "1:35: error: expected an even number of hexadecimal digits for resource 'a', "
                     "eight for its alignment before those of its bytes\n");
  test_expect_errors("{-# external_resources: { t: { a: \"0x03000000\" } } #-}",
                     "1:35: error: the alignment of resource 'a' is 3, not a power of two\n");
  test_expect_errors("{-# external_resources: { t: { a: \"0x00000000AA\" } } #-}",
                     "1:35: error: the alignment of resource 'a' is 0, not a power of two\n");
  test_expect_errors("{-# external_resources: { t: { a: \"0x0400000Z\" } } #-}",
                     "1:45: error: expected hexadecimal digits for resource 'a'\n");
  test_expect_errors("{-# external_resources: { t: { a: 12 } } #-}",
                     "1:35: error: expected a string, \"0x...\", true or false for resource 'a'\n");
  test_expect_errors("{-# external_resources: { t: {} }",
                     "1:34: error: expected '#-}' at the end of the resources\n");
  test_program_t program;
  test_program_parse_view(&program, tfrt_string_view_make("\"a\"() {x = !d<\0>} : () -> ()", 29));
  ck_assert_str_eq(program.diagnostics.reports[0].message,
                   "unexpected NUL byte; is this a text file?");
  test_program_free(&program);
}
END_TEST

START_TEST(location_aliases_must_exist_and_end) {
  test_expect_errors("%c = tfrt.new.chain loc(#loc1)\n",
                     "1:25: error: undefined location alias '#loc1'\n");
  test_expect_errors("#loc1 = loc(\"a\"(#loc2))\n#loc2 = loc(\"b\"(#loc1))\n",
                     "3:1: error: a location alias contains itself, is too big or nested too "
                     "deeply\n");
  test_expect_errors("#loc1 = loc(#loc1)\n", "2:1: error: this location alias stands for itself\n");
}
END_TEST

// A text of |count| times |piece|, between |begin| and |end|.
static void repeated(tfrt_string_builder_t* text, const char* begin, const char* piece,
                     size_t count, const char* end) {
  tfrt_string_builder_initialize(text, tfrt_allocator_system());
  tfrt_string_builder_append_text(text, begin);
  for (size_t i = 0; i < count; ++i) tfrt_string_builder_append_text(text, piece);
  tfrt_string_builder_append_text(text, end);
}

START_TEST(nesting_has_a_limit_that_is_said) {
  static const char* const pieces[][2] = {
      {"\"a\"() {x = ", "["},
      {"\"a\"() {x = ", "{a = "},
      {"\"a\"() {x = ", "tuple<"},
      {"\"a\"() {x = dense<", "["},
      {"\"a\"() : () -> () loc(", "callsite("},
      {"", "\"a\"() ({\n"},
      {"\"a\"() {x = !d", "<("},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(pieces); ++i) {
    tfrt_string_builder_t text;
    repeated(&text, pieces[i][0], pieces[i][1], 100000, "");
    test_program_t program;
    test_program_parse(&program, text.data);
    ck_assert_ptr_null(program.module);
    ck_assert_ptr_nonnull(strstr(program.errors.data, "nested too deeply"));
    test_program_free(&program);
    tfrt_string_builder_deinitialize(&text);
  }
}
END_TEST

START_TEST(aliases_cannot_blow_up_a_small_text) {
  static const char* const forms[][2] = {
      {"!t0 = tuple<i32, i32>\n", "!t%d = tuple<!t%d, !t%d>\n"},
      {"#t0 = [1, 2]\n", "#t%d = [#t%d, #t%d]\n"},
      {"#t0 = loc(\"a\")\n", "#t%d = loc(callsite(#t%d at #t%d))\n"},
  };
  for (size_t form = 0; form < TFRT_ARRAY_SIZE(forms); ++form) {
    tfrt_string_builder_t text;
    repeated(&text, forms[form][0], "", 0, "");
    for (int i = 1; i < 100; ++i) {
      char line[64];
      snprintf(line, sizeof(line), forms[form][1], i, i - 1, i - 1);
      tfrt_string_builder_append_text(&text, line);
    }
    test_program_t program;
    test_program_parse(&program, text.data);
    ck_assert_ptr_null(program.module);
    test_program_free(&program);
    tfrt_string_builder_deinitialize(&text);
  }
}
END_TEST

START_TEST(only_so_many_errors_are_kept_and_the_rest_is_counted) {
  tfrt_string_builder_t text;
  repeated(&text, "", "foo.bar\n", 100, "");
  test_program_t program;
  test_program_parse(&program, text.data);
  ck_assert_uint_eq(program.diagnostics.count, TFRT_DIAGNOSTICS_DEFAULT_LIMIT);
  ck_assert_uint_eq(program.diagnostics.error_count, 100);
  ck_assert_ptr_nonnull(strstr(program.errors.data, "... and 80 more errors"));
  test_program_free(&program);
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

START_TEST(a_long_program_takes_memory_in_proportion) {
  tfrt_string_builder_t text;
  repeated(&text, "func.func @f(%a: i32) {\n",
           "  %b:2 = tfrt.div.i32 %a, %a\n  \"u\"(%b#1) : (i32) -> ()\n", 0, "");
  for (int i = 0; i < 20000; ++i) {
    char line[96];
    snprintf(line, sizeof(line), "  %%q%d, %%r%d = tfrt.div.i32 %%a, %%a\n", i, i);
    tfrt_string_builder_append_text(&text, line);
  }
  tfrt_string_builder_append_text(&text, "  tfrt.return\n}\n");
  tfrt_counting_allocator_t counting;
  tfrt_counting_allocator_initialize(&counting, tfrt_allocator_system(), (int64_t)(text.size * 60));
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&counting);
  ck_assert_ptr_null(tfrt_ir_context_allocate(allocator, &context));
  tfrt_diagnostics_initialize(&diagnostics, "t", tfrt_string_builder_view(&text), allocator);
  ck_assert_ptr_nonnull(tfrt_parse_module(context, tfrt_all_op_tables(), &diagnostics));
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

// Any budget either suffices or ends in one clear error, and all memory comes back.
START_TEST(running_out_of_memory_is_an_error_at_any_point) {
  static const char text[] =
      "#l = loc(\"x\")\n"
      "func.func @f(%a: i32, %c: i1) -> i32 attributes {k = [1, {z = \"s\"}]} {\n"
      "  %r = tfrt.if %c, %a : (i32) -> i32 { tfrt.return %a : i32 } else {\n"
      "    tfrt.return %a : i32 }\n"
      "  \"u\"(%r) {d = dense<[1, 2]> : tensor<2xi32>, t = tensor<2x?xf32>} : (i32) -> () loc(#l)\n"
      "  tfrt.return %r : i32\n"
      "}\n";
  bool succeeded = false;
  for (int64_t budget = 0; !succeeded; budget += 997) {
    tfrt_counting_allocator_t counting;
    tfrt_counting_allocator_initialize(&counting, tfrt_allocator_system(), budget);
    tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&counting);
    tfrt_ir_context_t* context = NULL;
    tfrt_diagnostics_t diagnostics;
    tfrt_diagnostics_initialize(&diagnostics, "t", tfrt_string_view_of(text), allocator);
    tfrt_status_t status = tfrt_ir_context_allocate(allocator, &context);
    if (!status) {
      succeeded = tfrt_parse_module(context, tfrt_all_op_tables(), &diagnostics) != NULL;
      ck_assert(succeeded == (diagnostics.error_count == 0));
    }
    tfrt_status_release(status);
    tfrt_diagnostics_deinitialize(&diagnostics);
    tfrt_ir_context_free(context);
    ck_assert_int_lt(budget, 10 << 20);
  }
}
END_TEST

START_TEST(a_single_type_or_attribute_can_be_parsed) {
  tfrt_ir_context_t* context;
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, NULL, tfrt_string_view_of(" !tfrt.chain "),
                              tfrt_allocator_system());
  ck_assert_str_eq(tfrt_parse_type(context, &diagnostics)->text->data, "!tfrt.chain");
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_diagnostics_initialize(&diagnostics, NULL, tfrt_string_view_of("[1 : i32] x"),
                              tfrt_allocator_system());
  ck_assert_ptr_null(tfrt_parse_attribute(context, &diagnostics));
  ck_assert_str_eq(diagnostics.reports[0].message, "expected nothing more behind this attribute");
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* built = tcase_create("built");
  tcase_add_test(built, an_op_has_operands_results_attributes_and_uses);
  tcase_add_test(built, an_op_that_was_met_before_may_have_all_that_the_first_one_may);
  tcase_add_test(built, attributes_that_were_met_before_are_the_same);
  tcase_add_test(built, a_name_means_what_it_does_where_it_stands);
  tcase_add_test(built, the_location_of_an_op_is_that_of_its_name);
  tcase_add_test(built, a_region_names_its_arguments_like_the_operands);
  tcase_add_test(built, an_else_region_that_is_left_out_only_returns);
  tcase_add_test(built, attributes_left_out_get_their_default);
  tcase_add_test(built, a_lone_module_is_the_module_and_bare_ops_get_one);
  tcase_add_test(built, location_aliases_may_come_later);
  tcase_add_test(built, a_single_type_or_attribute_can_be_parsed);
  TCase* refused = tcase_create("refused");
  tcase_add_test(refused, several_errors_are_reported_in_one_go);
  tcase_add_test(refused, parentheses_of_another_form_are_named);
  tcase_add_test(refused, what_is_missing_at_the_end_of_a_line_is_missing_there);
  tcase_add_test(refused, a_value_has_one_type_and_one_definition);
  tcase_add_test(refused, an_op_that_was_met_before_is_refused_like_the_first_one);
  tcase_add_test(refused, attributes_behind_good_ones_are_refused_as_the_first_ones_are);
  tcase_add_test(refused, regions_of_control_flow_see_their_operands_only);
  tcase_add_test(refused, numbers_must_fit_their_type);
  tcase_add_test(refused, types_and_attributes_say_what_they_miss);
  tcase_add_test(refused, what_is_open_must_be_closed);
  tcase_add_test(refused, files_that_are_no_text_are_named);
  tcase_add_test(refused, location_aliases_must_exist_and_end);
  tcase_add_test(refused, only_so_many_errors_are_kept_and_the_rest_is_counted);
  TCase* limits = tcase_create("limits");
  tcase_add_test(limits, nesting_has_a_limit_that_is_said);
  tcase_add_test(limits, aliases_cannot_blow_up_a_small_text);
  tcase_add_test(limits, a_long_program_takes_memory_in_proportion);
  tcase_add_test(limits, running_out_of_memory_is_an_error_at_any_point);
  Suite* suite = suite_create("parser");
  suite_add_tcase(suite, built);
  suite_add_tcase(suite, refused);
  suite_add_tcase(suite, limits);
  return suite;
}
