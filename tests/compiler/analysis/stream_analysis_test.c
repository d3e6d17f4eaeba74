// SPDX-License-Identifier: Apache-2.0

#include "compiler/analysis/stream_analysis.h"

#include <stdio.h>

#include "compiler/parser/parser.h"
#include "kernels/basic/ops.h"
#include "kernels/control_flow/ops.h"
#include "tests/compiler/bef/bef_compiler_test_support.h"
#include "tests/support/test_main.h"

// The first function of a program, analysed.
typedef struct analysed_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  tfrt_stream_analysis_t analysis;
} analysed_t;

static analysed_t analyse_with(const tfrt_op_tables_t* tables, bool uses_table, const char* text) {
  analysed_t analysed;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  ck_assert(tfrt_status_is_ok(tfrt_ir_context_allocate(allocator, &analysed.context)));
  tfrt_diagnostics_initialize(&analysed.diagnostics, "a.mlir", tfrt_string_view_of(text),
                              allocator);
  tfrt_ir_operation_t* module = tfrt_parse_module(analysed.context, tables, &analysed.diagnostics);
  ck_assert_ptr_nonnull(module);
  const tfrt_ir_block_t* block = tfrt_ir_function_block(tfrt_ir_module_block(module)->first);
  ck_assert(tfrt_status_is_ok(
      tfrt_stream_analysis_initialize(&analysed.analysis, block, uses_table, allocator)));
  return analysed;
}

static analysed_t analyse(const char* text) { return analyse_with(test_tables(), true, text); }

static void analysed_free(analysed_t* analysed) {
  tfrt_stream_analysis_deinitialize(&analysed->analysis);
  tfrt_diagnostics_deinitialize(&analysed->diagnostics);
  tfrt_ir_context_free(analysed->context);
}

// The ops' streams, in order, and then the root's must be the |count| |expected| ones.
static void check_streams(const analysed_t* analysed, const uint32_t* expected, uint32_t count) {
  uint32_t streams[64];
  ck_assert_uint_eq(analysed->analysis.op_count + 1, count);
  ck_assert_uint_le(count, TFRT_ARRAY_SIZE(streams));
  tfrt_stream_analysis_list_streams(&analysed->analysis, streams);
  for (uint32_t i = 0; i + 1 < count; ++i) ck_assert_uint_eq(streams[i], expected[i]);
  for (uint32_t i = 0; i < count; ++i) {
    ck_assert_msg(tfrt_stream_analysis_op_stream(&analysed->analysis, i) == expected[i],
                  "op %u is in stream %u", i,
                  tfrt_stream_analysis_op_stream(&analysed->analysis, i));
  }
  ck_assert_uint_eq(tfrt_stream_analysis_root_stream(&analysed->analysis), expected[count - 1]);
}

START_TEST(ops_that_wait_for_each_other_share_a_stream) {
  analysed_t analysed = analyse(
      "func.func @f(%x: i32) -> i32 attributes {tfrt.cost_threshold = 7 : i64} {\n"
      "  %a = tfrt.constant.i32 1\n"
      "  %b = tfrt.add.i32 %x, %a\n"
      "  %c = tfrt.constant.i32 2\n"
      "  %d = tfrt.add.i32 %x, %c\n"
      "  %e = tfrt.add.i32 %b, %d\n"
      "  tfrt.return %e : i32\n}\n");
  static const uint32_t kStreams[] = {0, 0, 1, 1, 0, 0, 0};
  check_streams(&analysed, kStreams, 7);
  tfrt_stream_t root = tfrt_stream_analysis_stream(&analysed.analysis, 0);
  ck_assert_int_eq(root.cost, 1 + 7 + 7 + 7 + 1);
  ck_assert_uint_eq(root.parent_id, TFRT_STREAM_NONE);
  tfrt_stream_t other = tfrt_stream_analysis_stream(&analysed.analysis, 1);
  ck_assert_int_eq(other.cost, 7 + 7);
  ck_assert_uint_eq(other.parent_id, 0);
  ck_assert_ptr_null(other.parent_op);
  analysed_free(&analysed);
}
END_TEST

START_TEST(cheap_streams_are_put_together_up_to_the_threshold) {
  analysed_t analysed = analyse(
      "module attributes {tfrt.cost_threshold = 10 : i64} {\n"
      "func.func @f(%x: i32) -> !tfrt.chain {\n"
      "  %a = \"x.k\"(%x) {_tfrt_cost = 6 : i64} : (i32) -> i32\n"
      "  %b = \"x.k\"(%x) {_tfrt_cost = 12 : i64} : (i32) -> i32\n"
      "  %c = \"x.k\"(%x) {_tfrt_cost = 6 : i64} : (i32) -> i32\n"
      "  %d = \"x.k\"(%x) {_tfrt_cost = 3 : i64} : (i32) -> i32\n"
      "  %e = tfrt.merge.chains %a, %b, %c, %d : i32, i32, i32, i32\n"
      "  tfrt.return %e : !tfrt.chain\n}\n}\n");
  // a and c are 12 together; d is left and joins the stream of the call.
  static const uint32_t kStreams[] = {3, 0, 3, 0, 0, 0, 0};
  check_streams(&analysed, kStreams, 7);
  ck_assert_int_eq(tfrt_stream_analysis_stream(&analysed.analysis, 3).cost, 12);
  ck_assert_int_eq(tfrt_stream_analysis_stream(&analysed.analysis, 0).cost, 1 + 12 + 3 + 1 + 1);
  analysed_free(&analysed);
}
END_TEST

START_TEST(without_a_threshold_the_critical_path_is_the_limit) {
  // The path of the result costs 3 from the root: two constants fit beside it, three don't.
  analysed_t analysed = analyse(
      "func.func @f(%x: i32) -> i32 {\n"
      "  %a = tfrt.constant.i32 1\n"
      "  %b = tfrt.constant.i32 2\n"
      "  %c = tfrt.constant.i32 3\n"
      "  %d = tfrt.add.i32 %x, %x\n"
      "  %e = tfrt.add.i32 %d, %d\n"
      "  tfrt.return %e : i32\n}\n");
  static const uint32_t kStreams[] = {3, 3, 1, 0, 0, 0, 0};
  check_streams(&analysed, kStreams, 7);
  ck_assert_int_eq(analysed.analysis.critical_path, 4);
  analysed_free(&analysed);
}
END_TEST

START_TEST(a_block_with_a_return_alone_is_one_stream) {
  analysed_t analysed = analyse("func.func @f() {\n  tfrt.return\n}\n");
  static const uint32_t kStreams[] = {0, 0};
  check_streams(&analysed, kStreams, 2);
  analysed_free(&analysed);
}
END_TEST

// A library's kernels: one that is worth a thread, and one that isn't.
static const tfrt_operand_descriptor_t one_i32[] = {{"input", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t i32_result[] = {{"result", "i32"}};
static const tfrt_kernel_descriptor_t library_ops[] = {
    {.name = "my.heavy",
     .summary = "Takes a millisecond.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     .cost = 100000},
    {.name = "my.light",
     .summary = "Takes a microsecond.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     .cost = TFRT_STREAM_HEAVY_COST},
};

static uint32_t count_streams(bool uses_table, const char* kernel) {
  enum { KERNELS = 200 };
  tfrt_kernel_table_t tables[] = {
      tfrt_basic_ops, tfrt_control_flow_ops, {library_ops, TFRT_ARRAY_SIZE(library_ops)}};
  const tfrt_op_tables_t op_tables = {.tables = tables, .count = TFRT_ARRAY_SIZE(tables)};
  static char text[64 * KERNELS * 2];
  int size = snprintf(text, sizeof(text), "func.func @f(%%s0: i32) -> i32 {\n");
  for (int i = 0; i < KERNELS; ++i) {
    size += snprintf(text + size, sizeof(text) - (size_t)size,
                     "%%k%d = \"%s\"(%%s0) : (i32) -> i32\n%%s%d = tfrt.add.i32 %%s%d, %%k%d\n", i,
                     kernel, i + 1, i, i);
  }
  snprintf(text + size, sizeof(text) - (size_t)size, "tfrt.return %%s%d : i32\n}\n", KERNELS);
  analysed_t analysed = analyse_with(&op_tables, uses_table, text);
  uint32_t streams[2 * KERNELS + 1];
  uint32_t count = 0;
  tfrt_stream_analysis_list_streams(&analysed.analysis, streams);
  bool is_seen[2 * KERNELS + 1] = {false};
  for (uint32_t i = 0; i < analysed.analysis.op_count; ++i) {
    count += !is_seen[streams[i]];
    is_seen[streams[i]] = true;
  }
  analysed_free(&analysed);
  return count;
}

START_TEST(kernels_that_the_table_calls_heavy_have_streams_of_their_own) {
  // Summed by a chain of adds: a stream for each kernel.
  ck_assert_uint_ge(count_streams(true, "my.heavy"), 200);
  ck_assert_uint_le(count_streams(true, "my.light"), 2);
  // TFRT knows no costs of a table.
  ck_assert_uint_eq(count_streams(false, "my.heavy"), count_streams(true, "my.light"));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* streams = tcase_create("streams");
  tcase_add_test(streams, ops_that_wait_for_each_other_share_a_stream);
  tcase_add_test(streams, cheap_streams_are_put_together_up_to_the_threshold);
  tcase_add_test(streams, without_a_threshold_the_critical_path_is_the_limit);
  tcase_add_test(streams, a_block_with_a_return_alone_is_one_stream);
  tcase_add_test(streams, kernels_that_the_table_calls_heavy_have_streams_of_their_own);
  Suite* suite = suite_create("stream_analysis");
  suite_add_tcase(suite, streams);
  return suite;
}
