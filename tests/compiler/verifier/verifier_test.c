// SPDX-License-Identifier: Apache-2.0

#include "compiler/verifier/verifier.h"

#include "tests/compiler/compiler_test_support.h"
#include "tests/support/test_main.h"

START_TEST(a_good_program_has_no_errors) {
  test_program_t program;
  test_program_verify(
      &program,
      "func.func private @native(i32) attributes {tfrt.native}\n"
      "func.func @f(%a: i32, %c: i1) -> i32 {\n"
      "  %ch = tfrt.new.chain\n"
      "  %x = \"tfrt.lessequal.i32\"(%a, %a, %ch) : (i32, i32, !tfrt.chain) -> i1\n"
      "  \"unknown.op\"(%x) {anything = @nowhere} : (i1) -> ()\n"
      "  %r = tfrt.call @f(%a, %x) {host = 2 : i32, device = \"cuda:0\", pure, retries = 1 : i32, "
      "deadline_ms = 10 : i64} : (i32, i1) -> i32\n"
      "  %z = tfrt.constant.i32 0\n"
      "  %d = tfrt.parallel_for.i32 %z to %a fixed %a { tfrt.return }\n"
      "  tfrt.return %r : i32\n"
      "}\n"
      "module @k attributes {tfrt.compiled} { func.func @f() { return } }\n");
  ck_assert_str_eq(tfrt_string_builder_text(&program.errors), "");
  ck_assert_ptr_nonnull(program.module);
  test_program_free(&program);
}
END_TEST

START_TEST(returns_must_match_what_they_return_from) {
  test_expect_verifier_errors(
      "func.func @bad_return(%x: i32) {\n"
      "  tfrt.return %x : i32\n"
      "}\n"
      "func.func @return_mismatch(%x: i32) -> !tfrt.chain {\n"
      "  tfrt.return %x : i32\n"
      "}\n"
      "func.func @if_mismatch(%cond: i1, %v1: i32) -> i32 {\n"
      "  tfrt.if %cond, %v1 : (i32) -> () {\n"
      "    tfrt.return %v1 : i32\n"
      "  }\n"
      "  tfrt.return %v1 : i32\n"
      "}\n"
      "func.func @range(%n: i32) {\n"
      "  %start = tfrt.constant.i32 0\n"
      "  tfrt.parallel_for.i32 %start to %n fixed %n {\n"
      "    tfrt.return %n : i32\n"
      "  }\n"
      "  tfrt.return\n"
      "}\n",
      "2:3: error: 'tfrt.return' op has 1 operands, but enclosing function returns 0\n"
      "5:3: error: type of return operand 0 ('i32') doesn't match function result type "
      "('!tfrt.chain')\n"
      "9:5: error: 'tfrt.return' op operand types don't match 'tfrt.if' result\n"
      "16:5: error: 'tfrt.return' op operand types don't match 'tfrt.parallel_for.i32' result\n");
}
END_TEST

START_TEST(blocks_end_in_one_return) {
  test_expect_verifier_errors(
      "func.func @nothing() { }\n"
      "func.func @none() {\n"
      "  %c = tfrt.new.chain\n"
      "}\n"
      "func.func @two(%n: i32) {\n"
      "  tfrt.return\n"
      "  tfrt.return\n"
      "}\n"
      "func.func @region(%n: i32) {\n"
      "  tfrt.repeat.i32 %n { }\n"
      "  tfrt.return\n"
      "}\n"
      "func.func @outside(i32)\n"
      "func.func @worse(%n: i32, %b: i1) {\n"
      "  tfrt.if %b, %n : (i32) -> () { tfrt.return %n : i32 }\n"
      "}\n",
      "1:1: error: function '@nothing' must end in one: all functions need to have a tfrt.return\n"
      "3:8: error: function '@none' must end in one: all functions need to have a tfrt.return\n"
      "6:3: error: 'tfrt.return' op must be the last operation in the parent block\n"
      "10:3: error: 'tfrt.repeat.i32' op expected tfrt.return in body\n"
      "13:1: error: 'func.func' op has no body, and external functions are not allowed: only "
      "private ones and those with the attribute 'tfrt.native'\n"
      // That it doesn't end in a return either is not said.
      "15:34: error: 'tfrt.return' op operand types don't match 'tfrt.if' result\n");
}
END_TEST

START_TEST(values_are_used_behind_their_definition) {
  test_expect_verifier_errors(
      "func.func @f(%a: i32) {\n"
      "  %b = tfrt.add.i32 %a, %c\n"
      "  %c = tfrt.add.i32 %c, %a\n"
      "  tfrt.return\n"
      "}\n",
      "2:8: error: 'tfrt.add.i32' op operand #1 does not dominate this use: '%c' is not known yet "
      "here\n"
      "3:8: error: 'tfrt.add.i32' op operand #0 does not dominate this use: '%c' is not known yet "
      "here\n");
}
END_TEST

START_TEST(ops_are_what_their_table_says) {
  test_expect_verifier_errors(
      "func.func @f(%a: i32, %c: i1) {\n"
      "  %0 = \"tfrt.add.i32\"(%a) : (i32) -> i64\n"
      "  %1 = \"tfrt.add.i32\"(%a, %c) : (i32, i1) -> i32\n"
      "  %2 = \"tfrt.constant.i32\"() : () -> i32\n"
      "  %3 = \"tfrt.constant.i32\"() {value = 1 : i64, foo = 1 : i32, host = 1 : i32, x.y} : () "
      "-> i32\n"
      "  %4 = \"tfrt.lessequal.i32\"(%a, %a, %a) : (i32, i32, i32) -> i1\n"
      "  %5 = \"tfrt.repeat.i32\"(%a, %a) ({\n"
      "  ^bb0(%x: i1):\n"
      "    tfrt.return %x : i1\n"
      "  }) : (i32, i32) -> i1\n"
      "  \"tfrt.if\"(%c) : (i1) -> ()\n"
      "  %6 = tfrt_test.test_cost %a {id = 0 : i64, _tfrt_cost = 0 : i64} : i32\n"
      "  tfrt.return\n"
      "}\n",
      "2:8: error: 'tfrt.add.i32' op expected 2 operands, but found 1: "
      "\"tfrt.add.i32\"(%lhs, %rhs)\n"
      "2:8: error: 'tfrt.add.i32' op result #0 must be i32 type, but got 'i64'\n"
      "3:8: error: 'tfrt.add.i32' op operand #1 must be i32 type, but got 'i1'\n"
      "4:8: error: 'tfrt.constant.i32' op requires attribute 'value', a 32-bit integer (i32)\n"
      "5:8: error: 'tfrt.constant.i32' op attribute 'value' must be a 32-bit integer (i32)\n"
      "5:8: error: 'tfrt.constant.i32' op has no attribute 'foo'\n"
      "5:8: error: 'tfrt.constant.i32' op has no attribute 'host', which only calls have\n"
      "6:8: error: 'tfrt.lessequal.i32' op operand #2 must be !tfrt.chain type, but got 'i32'\n"
      "7:8: error: 'tfrt.repeat.i32' op must give results of the types that it takes\n"
      "7:8: error: 'tfrt.repeat.i32' op argument #0 of 'body' block must be 'i32', as the operand "
      "is\n"
      "11:3: error: 'tfrt.if' op expected 2 regions, but found 0\n"
      "12:8: error: 'tfrt_test.test_cost' op cost value must be larger than 0: '_tfrt_cost' is a "
      "positive "
      "integer\n");
}
END_TEST

// The beginning of a launch, behind which the arguments stand.
#define LAUNCH                                                                                  \
  "func.func @f(%s: !tfrt_gpu.stream, %f: !tfrt_gpu.function, %b: !tfrt_gpu.buffer, %n: ui32, " \
  "%c: !tfrt.chain) {\n"                                                                        \
  "  %0 = tfrt_gpu.function.launch %s, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), "   \
  "%n, %c, "

START_TEST(what_a_launch_only_reads_is_memory_among_its_arguments) {
  test_expect_verifier_errors(
      LAUNCH
      "args(%b, %n) : (!tfrt_gpu.buffer, ui32) {tfrt.reads = [0, 1, 2, -1]}\n  tfrt.return\n}\n",
      "2:8: error: 'tfrt_gpu.function.launch' op 'tfrt.reads' lists argument 1, of type 'ui32': "
      "only "
      "memory is read or written to, numbers need no word\n"
      "2:8: error: 'tfrt_gpu.function.launch' op 'tfrt.reads' lists argument 2, and there are 2, "
      "from 0: it is no place among them\n"
      "2:8: error: 'tfrt_gpu.function.launch' op 'tfrt.reads' lists argument -1, and there are 2, "
      "from 0: it is no place among them\n");
  test_expect_verifier_errors(
      LAUNCH "args(%b) : (!tfrt_gpu.buffer) {tfrt.reads = [\"b\"]}\n  tfrt.return\n}\n",
      "2:8: error: 'tfrt_gpu.function.launch' op attribute 'tfrt.reads' must be an array of 64-bit "
      "integers, the places of arguments that are only read, such as [0, 2]\n");
  test_expect_verifier_errors(
      LAUNCH "args(%b) : (!tfrt_gpu.buffer) {tfrt.reads = 0}\n  tfrt.return\n}\n",
      "2:8: error: 'tfrt_gpu.function.launch' op attribute 'tfrt.reads' must be an array of 64-bit "
      "integers, the places of arguments that are only read, such as [0, 2]\n");
  test_expect_verifier_errors(
      "func.func @f(%a: i32) {\n"
      "  %0 = tfrt.add.i32 %a, %a {tfrt.reads = [0]}\n"
      "  tfrt.return\n}\n",
      "2:8: error: 'tfrt.add.i32' op can't have 'tfrt.reads': its entry says what it does with its "
      "operands\n");
}
END_TEST

START_TEST(an_op_is_judged_by_its_own_types_behind_a_good_one) {
  test_expect_verifier_errors(
      "func.func @f(%a: i32, %c: i1) {\n"
      "  %0 = \"tfrt.add.i32\"(%a, %a) : (i32, i32) -> i32\n"
      "  %1 = \"tfrt.add.i32\"(%a, %a) : (i32, i32) -> i1\n"
      "  %2 = \"tfrt.add.i32\"(%a, %c) : (i32, i1) -> i32\n"
      "  %3 = \"tfrt.add.i32\"(%a, %c) : (i32, i1) -> i32\n"
      "  %4 = \"tfrt.add.i32\"(%a) : (i32) -> i32\n"
      "  %5 = \"tfrt.add.i32\"(%a, %a) {foo = 1 : i32} : (i32, i32) -> i32\n"
      "  %6 = \"tfrt.add.i32\"(%a, %a) : (i32, i32) -> i32\n"
      "  tfrt.return\n"
      "}\n",
      "3:8: error: 'tfrt.add.i32' op result #0 must be i32 type, but got 'i1'\n"
      "4:8: error: 'tfrt.add.i32' op operand #1 must be i32 type, but got 'i1'\n"
      "5:8: error: 'tfrt.add.i32' op operand #1 must be i32 type, but got 'i1'\n"
      "6:8: error: 'tfrt.add.i32' op expected 2 operands, but found 1: "
      "\"tfrt.add.i32\"(%lhs, %rhs)\n"
      "7:8: error: 'tfrt.add.i32' op has no attribute 'foo'\n");
}
END_TEST

START_TEST(an_op_is_judged_by_its_own_attributes_behind_a_good_one) {
  test_expect_verifier_errors(
      "func.func @f() {\n"
      "  %0 = \"tfrt.constant.i32\"() {value = 1 : i32} : () -> i32\n"
      "  %1 = \"tfrt.constant.i32\"() {value = 1 : i32} : () -> i64\n"
      "  %2 = \"tfrt.constant.i32\"() {value = 1 : i64} : () -> i32\n"
      "  %3 = \"tfrt.constant.i32\"() {wert = 1 : i32} : () -> i32\n"
      "  %4 = \"tfrt.constant.i32\"() {value = 1 : i32, _tfrt_cost = 0 : i64} : () -> i32\n"
      "  %5 = \"tfrt.constant.i32\"()[^bb1] {value = 1 : i32} : () -> i32\n"
      "  tfrt.return\n"
      "^bb1:\n"
      "  tfrt.return\n"
      "}\n",
      "3:8: error: 'tfrt.constant.i32' op result #0 must be i32 type, but got 'i64'\n"
      "4:8: error: 'tfrt.constant.i32' op attribute 'value' must be a 32-bit integer (i32)\n"
      "5:8: error: 'tfrt.constant.i32' op requires attribute 'value', a 32-bit integer (i32)\n"
      "5:8: error: 'tfrt.constant.i32' op has no attribute 'wert'\n"
      "6:8: error: 'tfrt.constant.i32' op cost value must be larger than 0: '_tfrt_cost' is a "
      "positive integer\n"
      "7:8: error: 'tfrt.constant.i32' op can't have successors\n");
}
END_TEST

START_TEST(a_result_that_is_like_an_operand_has_its_type) {
  test_expect_verifier_errors(
      "func.func @f(%g: !tfrt_dist.group, %t: !tfrt_gpu.tensor, %ch: !tfrt.chain)\n"
      "    -> (!tfrt_gpu.tensor, !tfrt.chain) {\n"
      "  %0, %1 = \"tfrt_dist.all_gather\"(%g, %t, %ch)"
      " : (!tfrt_dist.group, !tfrt_gpu.tensor, !tfrt.chain) -> (!tfrt_tensor.tensor, "
      "!tfrt.chain)\n"
      "  %2, %3 = tfrt_dist.all_gather %g, %t, %1\n"
      "  tfrt.return %2, %3 : !tfrt_gpu.tensor, !tfrt.chain\n"
      "}\n",
      "3:12: error: 'tfrt_dist.all_gather' op result #0 must be !tfrt_gpu.tensor type, but got "
      "'!tfrt_tensor.tensor'\n");
}
END_TEST

START_TEST(a_choice_of_types_is_one_of_them) {
  test_expect_verifier_errors(
      "func.func @f(%g: !tfrt_dist.group, %h: !tfrt_tensor.tensor, %d: !tfrt_gpu.tensor,\n"
      "             %i: i32, %l: !tfrt_dist.list, %ch: !tfrt.chain) {\n"
      "  %0, %1 = tfrt_dist.all_reduce %g, %h, %ch {reduction = \"sum\"}\n"
      "  %2, %3 = tfrt_dist.all_reduce %g, %d, %1 {reduction = \"sum\"}\n"
      "  %4, %5 = tfrt_dist.all_reduce %g, %i, %3 {reduction = \"sum\"}\n"
      "  %6, %7 = \"tfrt_dist.broadcast\"(%g, %g, %3) {root = 0 : i32}"
      " : (!tfrt_dist.group, !tfrt_dist.group, !tfrt.chain) -> (!tfrt_dist.group, !tfrt.chain)\n"
      "  %8 = tfrt_dist.list.sum %l : f64\n"
      "  %9 = tfrt_dist.list.sum %l : !tfrt_tensor.tensor\n"
      "  %10 = tfrt_dist.list.sum %l : i1\n"
      "  tfrt.return\n"
      "}\n",
      "5:12: error: 'tfrt_dist.all_reduce' op operand #1 must be !tfrt_tensor.tensor or "
      "!tfrt_gpu.tensor type, but got 'i32'\n"
      "6:12: error: 'tfrt_dist.broadcast' op operand #1 must be !tfrt_tensor.tensor or "
      "!tfrt_gpu.tensor type, but got '!tfrt_dist.group'\n"
      "9:9: error: 'tfrt_dist.list.sum' op result #0 must be i8, i16, i32, i64, ui8, ui16, ui32, "
      "ui64, f32, f64 or !tfrt_tensor.tensor type, but got 'i1'\n");
}
END_TEST

#define BAD_DEVICE \
  "call option 'device' must be the name of a device, as in {device = \"cuda:0\"}\n"

START_TEST(callees_exist_and_fit) {
  test_expect_verifier_errors(
      "func.func @g(%a: i32) -> i32 { tfrt.return %a : i32 }\n"
      "func.func @f(%a: i32, %c: i1) {\n"
      "  %0 = tfrt.call @nope(%a) : (i32) -> i32\n"
      "  %1 = tfrt.call @g(%c) : (i1) -> i32\n"
      "  %2 = tfrt.call @g(%a, %a) : (i32, i32) -> i32\n"
      "  %3 = tfrt.call @g(%a) : (i32) -> i64\n"
      "  tfrt.call @g(%a) : (i32) -> ()\n"
      "  %4 = tfrt.case %a [] (%a) : (i32) -> (i32)\n"
      "  %5 = tfrt.while %c @g(%a) parallel_iterations(1) : (i32) -> (i32)\n"
      "  %6 = tfrt.call @g(%a) {host = -1 : i32, deadline_ms = 0 : i32, pure = 1 : i32, retries = "
      "\"x\"} : (i32) -> i32\n"
      "  %7 = tfrt.call @g(%a) {device = \"cuda\"} : (i32) -> i32\n"
      "  %8 = tfrt.call @g(%a) {device = \"cuda:12345\"} : (i32) -> i32\n"
      "  %9 = tfrt.call @g(%a) {device = \":0\"} : (i32) -> i32\n"
      "  %10 = tfrt.call @g(%a) {device = 0 : i32} : (i32) -> i32\n"
      "  tfrt.return\n"
      "}\n",
      "3:8: error: 'tfrt.call' op 'nope' does not reference a valid function\n"
      "4:8: error: 'tfrt.call' op operand type mismatch: callee '@g' takes 'i32' as argument #0, "
      "not 'i1'\n"
      "5:8: error: 'tfrt.call' op incorrect number of operands for callee '@g': it takes 1, not 2\n"
      "6:8: error: 'tfrt.call' op result type mismatch: callee '@g' gives 'i32' as result #0, not "
      "'i64'\n"
      "7:3: error: 'tfrt.call' op incorrect number of results for callee '@g': it gives 1, not 0\n"
      "8:8: error: 'tfrt.case' op needs at least one function in 'branches'\n"
      "9:8: error: 'tfrt.while' op incorrect number of results for callee '@g': it gives 1, not 2\n"
      "10:8: error: 'tfrt.call' op call option 'host' must be an integer from 0 to 2147483647, as "
      "in {host = "
      "0 "
      ": i32}\n"
      "10:8: error: 'tfrt.call' op call option 'deadline_ms' must be an integer from 1 to "
      "2147483647, as in "
      "{deadline_ms = 1 : i32}\n"
      "10:8: error: 'tfrt.call' op call option 'retries' must be an integer from 0 to 2147483647, "
      "as in "
      "{retries = 0 : i32}\n"
      "10:8: error: 'tfrt.call' op call option 'pure' stands alone, as in {pure}\n"
      "11:8: error: 'tfrt.call' op " BAD_DEVICE "12:8: error: 'tfrt.call' op " BAD_DEVICE
      "13:8: error: 'tfrt.call' op " BAD_DEVICE "14:9: error: 'tfrt.call' op " BAD_DEVICE);
}
END_TEST

START_TEST(symbols_are_different) {
  test_expect_verifier_errors(
      "func.func @f() { tfrt.return }\n"
      "func.func @f() { tfrt.return }\n"
      "module @k attributes {tfrt.compiled} {\n"
      "  \"a\"() {sym_name = \"x\"} : () -> ()\n"
      "  \"b\"() {sym_name = \"x\"} : () -> ()\n"
      "}\n",
      "2:1: error: redefinition of symbol named 'f'\n"
      "1:1: note: see existing symbol definition here\n"
      "5:3: error: redefinition of symbol named 'x'\n"
      "4:3: note: see existing symbol definition here\n");
}
END_TEST

// Functions that write to their first argument: @inc at once, @deep through a region and
// two calls.
#define WRITERS                                                                            \
  "func.func @inc(%c: !test.atomic.i32, %ch: !tfrt.chain) -> !tfrt.chain {\n"              \
  "  %o = \"tfrt_test.atomic.inc.i32\"(%c, %ch) : (!test.atomic.i32, !tfrt.chain) -> "     \
  "!tfrt.chain\n"                                                                          \
  "  tfrt.return %o : !tfrt.chain\n"                                                       \
  "}\n"                                                                                    \
  "func.func @deep(%c: !test.atomic.i32, %n: i32, %ch: !tfrt.chain) -> !tfrt.chain {\n"    \
  "  %o:2 = tfrt.repeat.i32 %n, %ch, %c : !tfrt.chain, !test.atomic.i32 {\n"               \
  "    %o = tfrt.call @inc(%c, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain\n"    \
  "    tfrt.return %o, %c : !tfrt.chain, !test.atomic.i32\n"                               \
  "  }\n"                                                                                  \
  "  tfrt.return %o#0 : !tfrt.chain\n"                                                     \
  "}\n"                                                                                    \
  "func.func @read(%c: !test.atomic.i32, %ch: !tfrt.chain) -> i32 {\n"                     \
  "  %v, %o = \"tfrt_test.atomic.get.i32\"(%c, %ch) : (!test.atomic.i32, !tfrt.chain) -> " \
  "(i32, !tfrt.chain)\n"                                                                   \
  "  tfrt.return %v : i32\n"                                                               \
  "}\n"

START_TEST(a_host_call_may_not_lend_what_is_written) {
  test_expect_verifier_errors(
      WRITERS
      "func.func @main(%c: !test.atomic.i32, %n: i32, %ch: !tfrt.chain) -> !tfrt.chain {\n"
      "  %a = tfrt.call @deep(%c, %n, %ch) {host = 1 : i32} : (!test.atomic.i32, i32, "
      "!tfrt.chain) -> !tfrt.chain\n"
      "  tfrt.return %a : !tfrt.chain\n"
      "}\n",
      "17:8: error: 'tfrt.call' op on another host, '@deep' would write to a copy of argument #0; "
      "let '@deep' return the new value instead\n"
      "2:8: note: it is written here\n");
}
END_TEST

START_TEST(calls_on_computed_hosts_fit_their_callees) {
  test_expect_verifier_errors(
      "func.func @g(%x: i32) -> (i32, i32) {\n"
      "  tfrt.return %x, %x : i32, i32\n"
      "}\n"
      "func.func @f(%h: !tfrt_dist.host, %a: i32, %b: i1) {\n"
      "  %0:2 = tfrt_dist.call %h @g(%b) : (!tfrt_dist.host, i1) -> (i32, i32)\n"
      "  %1 = tfrt_dist.call %h @g(%a) {host = 1 : i32} : (!tfrt_dist.host, i32) -> (i32)\n"
      "  %2 = tfrt_dist.call_all @g(%a) {deadline_ms = 0 : i32} : (i32) -> (!tfrt_dist.list)\n"
      "  %3 = \"tfrt_dist.list.sum\"(%a) : (i32) -> i32\n"
      "  tfrt.return\n"
      "}\n",
      "5:10: error: 'tfrt_dist.call' op operand type mismatch: callee '@g' takes 'i32' as argument "
      "#0, not 'i1'\n"
      "6:8: error: 'tfrt_dist.call' op incorrect number of results for callee '@g': it gives 2, "
      "not "
      "1\n"
      "6:8: error: 'tfrt_dist.call' op has its hosts already, so it can't have the call option "
      "'host'\n"
      "7:8: error: 'tfrt_dist.call_all' op callee '@g' must give 1 result, not 2\n"
      "7:8: error: 'tfrt_dist.call_all' op call option 'deadline_ms' must be an integer from 1 to "
      "2147483647, "
      "as in {deadline_ms = 1 : i32}\n"
      "8:8: error: 'tfrt_dist.list.sum' op operand #0 must be !tfrt_dist.list type, but got "
      "'i32'\n");
}
END_TEST

START_TEST(calls_on_computed_hosts_lend_nothing_that_is_written) {
  test_expect_verifier_errors(
      WRITERS
      "func.func @main(%h: !tfrt_dist.host, %c: !test.atomic.i32, %n: i32, %ch: !tfrt.chain) -> "
      "!tfrt.chain {\n"
      "  %a = tfrt_dist.call %h @deep(%c, %n, %ch) : (!tfrt_dist.host, !test.atomic.i32, i32, "
      "!tfrt.chain) -> (!tfrt.chain)\n"
      "  %l = tfrt_dist.call_all @deep(%c, %n, %ch) : (!test.atomic.i32, i32, !tfrt.chain) -> "
      "(!tfrt_dist.list)\n"
      "  tfrt.return %a : !tfrt.chain\n"
      "}\n",
      "17:8: error: 'tfrt_dist.call' op on another host, '@deep' would write to a copy of argument "
      "#0; let '@deep' return the new value instead\n"
      "2:8: note: it is written here\n"
      "18:8: error: 'tfrt_dist.call_all' op on another host, '@deep' would write to a copy of "
      "argument #0; let '@deep' return the new value instead\n"
      "2:8: note: it is written here\n");
}
END_TEST

START_TEST(calls_that_stay_here_or_only_read_may_lend_anything) {
  test_program_t program;
  test_program_verify(
      &program, WRITERS
      "func.func @main(%c: !test.atomic.i32, %n: i32, %ch: !tfrt.chain) -> !tfrt.chain {\n"
      "  %a = tfrt.call @deep(%c, %n, %ch) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain\n"
      "  %v = tfrt.call @read(%c, %a) {host = 1 : i32} : (!test.atomic.i32, !tfrt.chain) -> i32\n"
      "  tfrt.return %a : !tfrt.chain\n"
      "}\n");
  ck_assert_str_eq(tfrt_string_builder_text(&program.errors), "");
  test_program_free(&program);
}
END_TEST

START_TEST(without_a_text_errors_stand_at_their_locations) {
  test_program_t program;
  test_program_parse(&program,
                     "func.func @f() {\n"
                     "  \"tfrt.return\"() {extra = 1 : i32} : () -> () loc(\"a.py\":7:8)\n"
                     "}\n");
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, "f.bef", tfrt_string_view_make(NULL, 0),
                              tfrt_allocator_system());
  ck_assert(!tfrt_verify_module(program.context, program.module, &diagnostics));
  ck_assert_str_eq(diagnostics.reports[0].file, "a.py");
  ck_assert_uint_eq(diagnostics.reports[0].line, 7);
  ck_assert_uint_eq(diagnostics.reports[0].column, 8);
  tfrt_diagnostics_deinitialize(&diagnostics);
  test_program_free(&program);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* ops = tcase_create("ops");
  tcase_add_test(ops, a_good_program_has_no_errors);
  tcase_add_test(ops, returns_must_match_what_they_return_from);
  tcase_add_test(ops, blocks_end_in_one_return);
  tcase_add_test(ops, values_are_used_behind_their_definition);
  tcase_add_test(ops, ops_are_what_their_table_says);
  tcase_add_test(ops, what_a_launch_only_reads_is_memory_among_its_arguments);
  tcase_add_test(ops, an_op_is_judged_by_its_own_types_behind_a_good_one);
  tcase_add_test(ops, an_op_is_judged_by_its_own_attributes_behind_a_good_one);
  tcase_add_test(ops, a_result_that_is_like_an_operand_has_its_type);
  tcase_add_test(ops, a_choice_of_types_is_one_of_them);
  tcase_add_test(ops, without_a_text_errors_stand_at_their_locations);
  TCase* calls = tcase_create("calls");
  tcase_add_test(calls, callees_exist_and_fit);
  tcase_add_test(calls, symbols_are_different);
  tcase_add_test(calls, a_host_call_may_not_lend_what_is_written);
  tcase_add_test(calls, calls_on_computed_hosts_fit_their_callees);
  tcase_add_test(calls, calls_on_computed_hosts_lend_nothing_that_is_written);
  tcase_add_test(calls, calls_that_stay_here_or_only_read_may_lend_anything);
  Suite* suite = suite_create("verifier");
  suite_add_tcase(suite, ops);
  suite_add_tcase(suite, calls);
  return suite;
}
