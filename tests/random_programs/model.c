// SPDX-License-Identifier: Apache-2.0
#include "tests/random_programs/model.h"

static const char* const tfrt_model_kind_names[TFRT_MODEL_KIND_COUNT] = {
    [TFRT_MODEL_CONSTANT_I32] = "tfrt.constant.i32",
    [TFRT_MODEL_CONSTANT_I1] = "tfrt.constant.i1",
    [TFRT_MODEL_ASYNC_CONSTANT] = "tfrt_test.async_constant.i32",
    [TFRT_MODEL_NEW_CHAIN] = "tfrt.new.chain",
    [TFRT_MODEL_ADD] = "tfrt.add.i32",
    [TFRT_MODEL_MUL] = "tfrt.mul.i32",
    [TFRT_MODEL_DIV] = "tfrt.div.i32",
    [TFRT_MODEL_ASYNC_ADD] = "tfrt_test.async_add.i32",
    [TFRT_MODEL_ASYNC_COPY] = "tfrt_test.async_copy.i32",
    [TFRT_MODEL_COUNT3] = "tfrt_test.count3.i32",
    [TFRT_MODEL_LESSEQUAL] = "tfrt.lessequal.i32",
    [TFRT_MODEL_EQUAL] = "tfrt.equal.i32",
    [TFRT_MODEL_AND] = "tfrt.and.i1",
    [TFRT_MODEL_SYNC_SUM] = "tfrt_test.sync_sum",
    [TFRT_MODEL_SLEEP] = "tfrt_test.blocking.usleep",
    [TFRT_MODEL_MERGE_CHAINS] = "tfrt.merge.chains",
    [TFRT_MODEL_AS_CHAIN] = "tfrt_test.as_chain",
    [TFRT_MODEL_MULTI_ARG_RESULT] = "tfrt_test.multi_arg_result",
    [TFRT_MODEL_MAKE_INDIRECT] = "tfrt_test.make_indirect",
    [TFRT_MODEL_IDENTITY] = "tfrt_test.identity",
    [TFRT_MODEL_FAIL] = "tfrt_test.fail",
    [TFRT_MODEL_PARTIAL_FAIL] = "tfrt_test.partial_fail",
    [TFRT_MODEL_ERROR_ASYNC] = "tfrt_test.report_error_async",
    [TFRT_MODEL_ERROR_CONCRETE_ASYNC] = "tfrt_test.report_error_concrete_async",
    [TFRT_MODEL_ERROR_INDIRECT_ASYNC] = "tfrt_test.report_error_indirect_async",
    [TFRT_MODEL_SYNC_FAIL] = "tfrt_test.fail_s",
    [TFRT_MODEL_ATOMIC_CREATE] = "tfrt_test.atomic.create.i32",
    [TFRT_MODEL_ATOMIC_ADD] = "tfrt_test.atomic.add.i32",
    [TFRT_MODEL_ATOMIC_GET] = "tfrt_test.atomic.get.i32",
    [TFRT_MODEL_CANCEL] = "tfrt_test.cancel",
    [TFRT_MODEL_CALL] = "tfrt.call",
    [TFRT_MODEL_ONCE] = "tfrt.once",
    [TFRT_MODEL_IF] = "tfrt.if",
    [TFRT_MODEL_COND] = "tfrt.cond",
    [TFRT_MODEL_CASE] = "tfrt.case",
    [TFRT_MODEL_REPEAT] = "tfrt.repeat.i32",
    [TFRT_MODEL_WHILE] = "tfrt.while",
    [TFRT_MODEL_DO_ASYNC] = "tfrt_test.do.async",
    [TFRT_MODEL_PARALLEL_FOR] = "tfrt.parallel_for.i32",
    [TFRT_MODEL_PARALLEL_CALL] = "tfrt.parallel_call.i32",
};

const char* tfrt_model_kind_name(tfrt_model_kind_t kind) { return tfrt_model_kind_names[kind]; }

const char* tfrt_model_form_native_name(tfrt_model_form_t form) {
  static const char* const names[TFRT_MODEL_FORM_COUNT] = {
      [TFRT_MODEL_FORM_NATIVE_ADD] = "native_add",
      [TFRT_MODEL_FORM_NATIVE_ASYNC_ADD] = "native_async_add",
      [TFRT_MODEL_FORM_NATIVE_ERROR] = "native_error",
      [TFRT_MODEL_FORM_NATIVE_SINK] = "native_sink",
      [TFRT_MODEL_FORM_NATIVE_ASYNC_SINK] = "native_async_sink",
  };
  return names[form];
}

// How many of |count| operands, from the first on, an op of |kind| reads and therefore waits for.
// It reads at most the availability of the others.
static uint32_t model_read_operands(tfrt_model_kind_t kind, uint32_t count) {
  switch (kind) {
    case TFRT_MODEL_CALL:
    case TFRT_MODEL_ONCE:
    case TFRT_MODEL_DO_ASYNC:
    case TFRT_MODEL_MERGE_CHAINS:
    case TFRT_MODEL_AS_CHAIN:
    case TFRT_MODEL_CANCEL:
      return 0;
    case TFRT_MODEL_IF:
    case TFRT_MODEL_COND:
    case TFRT_MODEL_CASE:
    case TFRT_MODEL_REPEAT:
    case TFRT_MODEL_WHILE:
    case TFRT_MODEL_ATOMIC_GET:
      return 1;
    case TFRT_MODEL_LESSEQUAL:
    case TFRT_MODEL_ATOMIC_ADD:
      return 2;
    case TFRT_MODEL_PARALLEL_FOR:
    case TFRT_MODEL_PARALLEL_CALL:
      return 3;
    default:
      return count;
  }
}

bool tfrt_model_op_waits(const tfrt_model_op_t* op, uint32_t index) {
  // The chain of this one stands before what it reads.
  if (op->kind == TFRT_MODEL_IDENTITY) return index > 0 || !op->nonstrict;
  if (index < model_read_operands(op->kind, op->operand_count)) return true;
  return !op->nonstrict && (op->kind < TFRT_MODEL_CALL);
}

const char* tfrt_model_type_name(tfrt_model_type_t type) {
  static const char* const names[] = {"i32", "i1", "!tfrt.chain", "!test.atomic.i32"};
  return names[type];
}
