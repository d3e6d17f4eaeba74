// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_program.h"

#include <inttypes.h>

#define MAIN_BEGIN "func.func @main() -> i32 {\n"

static const char fib_text[] =
    "func.func @fib(%arg: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %cond = \"tfrt.lessequal.i32\"(%arg, %one) : (i32, i32) -> (i1)\n"
    "  %res = tfrt.if %cond, %arg : (i32) -> i32 {\n"
    "    tfrt.return %arg : i32\n"
    "  } else {\n"
    "    %m = tfrt.constant.i32 -1\n"
    "    %n1 = tfrt.add.i32 %arg, %m\n"
    "    %n2 = tfrt.add.i32 %n1, %m\n"
    "    %f1 = tfrt.call @fib(%n1) : (i32) -> (i32)\n"
    "    %f2 = tfrt.call @fib(%n2) : (i32) -> (i32)\n"
    "    %s = tfrt.add.i32 %f1, %f2\n"
    "    tfrt.return %s : i32\n"
    "  }\n"
    "  tfrt.return %res : i32\n"
    "}\n";

static const char increment_text[] =
    "func.func @increment(%a: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %b = tfrt.add.i32 %a, %one\n"
    "  tfrt.return %b : i32\n"
    "}\n";

static const char plain_zero[] = "  %v0 = tfrt.constant.i32 0\n";
static const char late_zero[] =
    "  %z = tfrt.constant.i32 0\n"
    "  %v0 = \"tfrt_test.async_add.i32\"(%z, %z) : (i32, i32) -> i32\n";
static const char late_three[] = "  %e = \"tfrt_test.async_add.i32\"(%c, %d) : (i32, i32) -> i32\n";

static const char add_of_constants[] = "tfrt.add.i32 %c, %d";
static const char async_add_of_constants[] =
    "\"tfrt_test.async_add.i32\"(%c, %d) : (i32, i32) -> i32";

static void append_return(int64_t number, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "  tfrt.return %%v%" PRId64 " : i32\n}\n", number);
}

// Each op on the result of the one before, the first one on that of |zero|; |begin| and |end|
// stand around its operand.
static void append_chain(int64_t size, const char* zero, const char* begin, const char* end,
                         tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, MAIN_BEGIN "  %c = tfrt.constant.i32 1\n");
  tfrt_string_builder_append_text(out, zero);
  for (int64_t i = 0; i < size; ++i) {
    tfrt_string_builder_append_format(out, "  %%v%" PRId64 " = %s%%v%" PRId64 "%s\n", i + 1, begin,
                                      i, end);
  }
  append_return(size, out);
}

// Ops that need nothing of each other, behind |begin|.
static void append_leaves(int64_t size, const char* begin, const char* op,
                          tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, MAIN_BEGIN
                                  "  %c = tfrt.constant.i32 1\n"
                                  "  %d = tfrt.constant.i32 2\n");
  tfrt_string_builder_append_text(out, begin);
  for (int64_t i = 0; i < size; ++i) {
    tfrt_string_builder_append_format(out, "  %%v%" PRId64 " = %s\n", i, op);
  }
}

static void append_wide(int64_t size, const char* begin, const char* op,
                        tfrt_string_builder_t* out) {
  append_leaves(size, begin, op, out);
  append_return(size - 1, out);
}

// Leaves, and sums of two until there is one.
static void append_tree(int64_t size, const char* op, tfrt_string_builder_t* out) {
  append_leaves(size, "", op, out);
  for (int64_t i = 0; i < size - 1; ++i) {
    tfrt_string_builder_append_format(
        out, "  %%v%" PRId64 " = tfrt.add.i32 %%v%" PRId64 ", %%v%" PRId64 "\n", size + i, 2 * i,
        2 * i + 1);
  }
  append_return(2 * size - 2, out);
}

// Value number i of each of two chains stands behind the one of the other.
static void append_lanes(int64_t size, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, MAIN_BEGIN
                                  "  %c = tfrt.constant.i32 1\n"
                                  "  %v0 = tfrt.constant.i32 0\n"
                                  "  %v1 = tfrt.constant.i32 1\n");
  for (int64_t i = 0; i < size; ++i) {
    tfrt_string_builder_append_format(out, "  %%v%" PRId64 " = tfrt.add.i32 %%v%" PRId64 ", %%c\n",
                                      i + 2, i);
  }
  tfrt_string_builder_append_format(
      out, "  %%v%" PRId64 " = tfrt.add.i32 %%v%" PRId64 ", %%v%" PRId64 "\n", size + 2, size,
      size + 1);
  append_return(size + 2, out);
}

static void append_repeat(int64_t size, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out,
                                    MAIN_BEGIN "  %%n = tfrt.constant.i32 %" PRId64
                                               "\n"
                                               "  %%v = tfrt.constant.i32 0\n"
                                               "  %%r = tfrt.repeat.i32 %%n, %%v : i32 {\n"
                                               "    %%one = tfrt.constant.i32 1\n"
                                               "    %%w = tfrt.add.i32 %%v, %%one\n"
                                               "    tfrt.return %%w : i32\n"
                                               "  }\n"
                                               "  tfrt.return %%r : i32\n"
                                               "}\n",
                                    size);
}

static void append_while(int64_t size, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out,
      "func.func @body(%%i: i32) -> (i32, i1) {\n"
      "  %%one = tfrt.constant.i32 1\n"
      "  %%lim = tfrt.constant.i32 %" PRId64
      "\n"
      "  %%n = tfrt.add.i32 %%i, %%one\n"
      "  %%c = \"tfrt.lessequal.i32\"(%%n, %%lim) : (i32, i32) -> (i1)\n"
      "  tfrt.return %%n, %%c : i32, i1\n"
      "}\n" MAIN_BEGIN
      "  %%z = tfrt.constant.i32 0\n"
      "  %%t = tfrt.constant.i1 1\n"
      "  %%r = tfrt.while %%t @body(%%z) parallel_iterations(1) : (i32) -> (i32)\n"
      "  tfrt.return %%r : i32\n"
      "}\n",
      size - 1);
}

static void append_fib(int64_t size, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, fib_text);
  tfrt_string_builder_append_format(out,
                                    MAIN_BEGIN "  %%n = tfrt.constant.i32 %" PRId64
                                               "\n"
                                               "  %%r = tfrt.call @fib(%%n) : (i32) -> (i32)\n"
                                               "  tfrt.return %%r : i32\n}\n",
                                    size);
}

// A loop of |size| turns. Each turn starts an empty region as a task, either in a group or behind
// the region of the turn before.
static void append_regions(bool is_chain, int64_t size, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out,
                                    MAIN_BEGIN "  %%n = arith.constant %" PRId64
                                               " : index\n"
                                               "  %%zero = arith.constant 0 : index\n"
                                               "  %%one = arith.constant 1 : index\n",
                                    size);
  tfrt_string_builder_append_text(
      out, is_chain ? "  %first = async.execute { async.yield }\n"
                      "  %last = scf.for %i = %zero to %n step %one iter_args(%before = %first)"
                      " -> (!async.token) {\n"
                      "    %token = async.execute [%before] { async.yield }\n"
                      "    scf.yield %token : !async.token\n"
                      "  }\n"
                      "  async.await %last : !async.token\n"
                    : "  %group = async.create_group %n : !async.group\n"
                      "  scf.for %i = %zero to %n step %one {\n"
                      "    %token = async.execute { async.yield }\n"
                      "    %rank = async.add_to_group %token, %group : !async.token\n"
                      "  }\n"
                      "  async.await_all %group\n");
  tfrt_string_builder_append_format(out,
                                    "  %%r = arith.constant %" PRId64
                                    " : i32\n"
                                    "  return %%r : i32\n}\n",
                                    size);
}

// The programs that are one long function.
static void append_long(tfrt_bench_program_t program, int64_t size, tfrt_string_builder_t* out) {
  switch (program) {
    case TFRT_BENCH_WIDE:
      append_wide(size, "", add_of_constants, out);
      break;
    case TFRT_BENCH_LATE_WIDE:
      append_wide(size, late_three, "tfrt.add.i32 %c, %e", out);
      break;
    case TFRT_BENCH_ASYNC_WIDE:
      append_wide(size, "", async_add_of_constants, out);
      break;
    case TFRT_BENCH_TREE:
      append_tree(size, add_of_constants, out);
      break;
    case TFRT_BENCH_ASYNC_TREE:
      append_tree(size, async_add_of_constants, out);
      break;
    case TFRT_BENCH_LANES:
      append_lanes(size, out);
      break;
    case TFRT_BENCH_LATE_CHAIN:
      append_chain(size, late_zero, "tfrt.add.i32 ", ", %c", out);
      break;
    case TFRT_BENCH_ASYNC_CHAIN:
      append_chain(size, plain_zero, "\"tfrt_test.async_add.i32\"(", ", %c) : (i32, i32) -> i32",
                   out);
      break;
    default:
      append_chain(size, plain_zero, "tfrt.add.i32 ", ", %c", out);
      break;
  }
}

void tfrt_bench_program_append(tfrt_bench_program_t program, int64_t size,
                               tfrt_string_builder_t* out) {
  switch (program) {
    case TFRT_BENCH_CALL_CHAIN:
      tfrt_string_builder_append_text(out, increment_text);
      append_chain(size, plain_zero, "tfrt.call @increment(", ") : (i32) -> (i32)", out);
      break;
    case TFRT_BENCH_FIB:
      append_fib(size, out);
      break;
    case TFRT_BENCH_REPEAT:
      append_repeat(size, out);
      break;
    case TFRT_BENCH_WHILE:
      append_while(size, out);
      break;
    case TFRT_BENCH_REGION_GROUP:
    case TFRT_BENCH_REGION_CHAIN:
      append_regions(program == TFRT_BENCH_REGION_CHAIN, size, out);
      break;
    case TFRT_BENCH_TRIVIAL:
      tfrt_string_builder_append_text(out, MAIN_BEGIN
                                      "  %c = tfrt.constant.i32 42\n"
                                      "  tfrt.return %c : i32\n}\n");
      break;
    default:
      append_long(program, size, out);
      break;
  }
}

static int64_t fib(int64_t n) {
  int64_t before = 0;
  int64_t value = 1;
  for (int64_t i = 0; i < n; ++i) {
    int64_t next = before + value;
    before = value;
    value = next;
  }
  return before;
}

int32_t tfrt_bench_program_result(tfrt_bench_program_t program, int64_t size) {
  switch (program) {
    case TFRT_BENCH_WIDE:
    case TFRT_BENCH_ASYNC_WIDE:
      return 3;
    case TFRT_BENCH_LATE_WIDE:
      return 4;
    case TFRT_BENCH_TREE:
    case TFRT_BENCH_ASYNC_TREE:
      return (int32_t)(3 * size);
    case TFRT_BENCH_LANES:
      return (int32_t)(size + 1);
    case TFRT_BENCH_FIB:
      return (int32_t)fib(size);
    case TFRT_BENCH_TRIVIAL:
      return 42;
    default:
      return (int32_t)size;
  }
}

int64_t tfrt_bench_program_units(tfrt_bench_program_t program, int64_t size) {
  switch (program) {
    case TFRT_BENCH_FIB:
      // fib(n) is called once, and then as often as fib(n - 1) and fib(n - 2) are.
      return 2 * fib(size + 1) - 1;
    case TFRT_BENCH_TREE:
    case TFRT_BENCH_ASYNC_TREE:
      return 2 * size - 1;
    default:
      return size;
  }
}
