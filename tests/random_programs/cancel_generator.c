// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tests/random_programs/generator_impl.h"

// A chain that is there when all values of |function| are.
static uint16_t cancel_generator_join(tfrt_model_generator_t* self, uint32_t function) {
  enum { AT_ONCE = 12 };
  tfrt_function_builder_t* builder = &self->builder;
  const uint16_t end = tfrt_function_builder_add_one(builder, function, TFRT_MODEL_NEW_CHAIN, NULL,
                                                     0, TFRT_MODEL_CHAIN);
  uint16_t chain = end;
  for (uint16_t value = 0; value < end && !builder->failed;) {
    uint16_t operands[AT_ONCE + 1] = {chain};
    uint32_t count = 1;
    while (count <= AT_ONCE && value < end) operands[count++] = value++;
    chain = tfrt_function_builder_add_one(builder, function, TFRT_MODEL_AS_CHAIN, operands, count,
                                          TFRT_MODEL_CHAIN);
  }
  return chain;
}

// Appends the cancel to |function|, behind |chain|; returns its first value, a number. The second
// one is a chain.
static uint16_t cancel_generator_cancel(tfrt_model_generator_t* self, uint32_t function,
                                        uint16_t chain) {
  tfrt_model_types_t results = {.count = 2, .types = {TFRT_MODEL_I32, TFRT_MODEL_CHAIN}};
  return (uint16_t)tfrt_function_builder_add(&self->builder, function, TFRT_MODEL_CANCEL, &chain, 1,
                                             &results)
      ->first_result;
}

// A function that may stand around the cancel: the values behind |lead| numbers are a chain and a
// number, and so are its results. Each result waits for the cancel, if there is one, and the last
// operand that is an error comes from the cancel. So a loop ends in the same error, whether it sees
// the cancelled request or the result of its last turn.
typedef struct tfrt_cancel_body_s {
  bool is_region;
  bool cancels;
  bool has_condition;  // one more result, for a while
  bool gives_chain;    // only that
  uint32_t lead;
} tfrt_cancel_body_t;

static uint16_t cancel_generator_make(tfrt_model_generator_t* self,
                                      const tfrt_cancel_body_t* wanted) {
  static const tfrt_model_kind_t kinds[] = {TFRT_MODEL_ADD, TFRT_MODEL_ASYNC_ADD};
  tfrt_function_builder_t* builder = &self->builder;
  tfrt_model_types_t arguments = {.count = wanted->lead + 2,
                                  .types = {TFRT_MODEL_I32, TFRT_MODEL_I32}};
  arguments.types[wanted->lead] = TFRT_MODEL_CHAIN;
  arguments.types[wanted->lead + 1] = TFRT_MODEL_I32;
  uint32_t function = tfrt_function_builder_begin(builder, wanted->is_region, &arguments);
  tfrt_model_function_t* body = &builder->model->functions[function];
  uint16_t chain = (uint16_t)wanted->lead;
  uint16_t number = (uint16_t)(chain + 1);
  if (wanted->cancels) {
    uint16_t given = cancel_generator_cancel(self, function, chain);
    uint16_t operands[] = {number, given};
    chain = (uint16_t)(given + 1);
    number = tfrt_function_builder_add_one(builder, function,
                                           kinds[tfrt_function_builder_below(builder, 2)], operands,
                                           2, TFRT_MODEL_I32);
    if (tfrt_function_builder_chance(builder, 30)) number = given;
    if (wanted->has_condition) {
      uint16_t twice[] = {given, given};
      body->results[2] = tfrt_function_builder_add_one(builder, function, TFRT_MODEL_LESSEQUAL,
                                                       twice, 2, TFRT_MODEL_I1);
    }
  }
  body->results[0] = chain;
  body->results[1] = number;
  body->result_count = wanted->gives_chain ? 1 : 2 + (uint32_t)wanted->has_condition;
  return (uint16_t)function;
}

// The first operands of |op|, which stand before chain and number; returns how many.
static uint32_t cancel_generator_lead(tfrt_model_generator_t* self, uint32_t function,
                                      tfrt_model_kind_t kind, uint16_t* operands) {
  tfrt_function_builder_t* builder = &self->builder;
  switch (kind) {
    case TFRT_MODEL_IF:
    case TFRT_MODEL_COND:
    case TFRT_MODEL_WHILE: {
      uint16_t one = tfrt_function_builder_constant(builder, function, 1);
      uint16_t other = tfrt_function_builder_constant(
          builder, function, (int32_t)tfrt_function_builder_below(builder, 4));
      uint16_t both[] = {one, other};
      operands[0] = tfrt_function_builder_add_one(builder, function, TFRT_MODEL_LESSEQUAL, both, 2,
                                                  TFRT_MODEL_I1);
      return 1;
    }
    case TFRT_MODEL_CASE:
    case TFRT_MODEL_REPEAT:
      operands[0] = tfrt_function_builder_constant(
          builder, function, (int32_t)tfrt_function_builder_below(builder, 4));
      return 1;
    case TFRT_MODEL_PARALLEL_CALL:
      // One block: two would race for the cancel.
      operands[0] = tfrt_function_builder_constant(builder, function, 0);
      operands[1] = tfrt_function_builder_constant(builder, function, 3);
      operands[2] = tfrt_function_builder_constant(builder, function, 5);
      return 3;
    default:
      return 0;
  }
}

// Appends an op of |kind| to |function|, in which the cancel stands, behind |chain|; returns the
// first value that waits for it.
static uint32_t cancel_generator_wrap(tfrt_model_generator_t* self, uint32_t function,
                                      tfrt_model_kind_t kind, uint16_t chain) {
  tfrt_function_builder_t* builder = &self->builder;
  bool is_parallel = kind == TFRT_MODEL_PARALLEL_CALL;
  uint16_t number = tfrt_function_builder_pick(builder, function, TFRT_MODEL_I32);
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  uint32_t count = cancel_generator_lead(self, function, kind, operands);
  operands[count++] = chain;
  operands[count++] = number;
  tfrt_cancel_body_t wanted = {.is_region = kind == TFRT_MODEL_IF || kind == TFRT_MODEL_REPEAT ||
                                            kind == TFRT_MODEL_DO_ASYNC,
                               .cancels = true,
                               .has_condition = kind == TFRT_MODEL_WHILE,
                               .gives_chain = is_parallel,
                               .lead = is_parallel ? 2 : 0};
  uint16_t callees[2] = {cancel_generator_make(self, &wanted)};
  uint16_t callee_count = 1;
  if (kind == TFRT_MODEL_IF || kind == TFRT_MODEL_COND || kind == TFRT_MODEL_CASE) {
    wanted.cancels = tfrt_function_builder_chance(builder, 30);
    callees[callee_count++] = cancel_generator_make(self, &wanted);
  }
  tfrt_model_types_t both = {.count = is_parallel ? 1 : 2,
                             .types = {TFRT_MODEL_CHAIN, TFRT_MODEL_I32}};
  tfrt_model_op_t* op = tfrt_function_builder_add(builder, function, kind, operands, count, &both);
  op->callee_count = callee_count;
  memcpy(op->callees, callees, callee_count * sizeof(*callees));
  uint32_t first = op->first_result;
  if (is_parallel) {
    uint16_t behind[] = {(uint16_t)first, number};
    tfrt_function_builder_add_one(builder, function, TFRT_MODEL_IDENTITY, behind, 2,
                                  TFRT_MODEL_I32);
  }
  return first;
}

// Ops behind the cancel that made the value |first|: each waits for something from there on.
static void cancel_generator_go_on(tfrt_model_generator_t* self, uint32_t function,
                                   uint32_t first) {
  static const tfrt_model_kind_t kinds[] = {TFRT_MODEL_ADD, TFRT_MODEL_ASYNC_ADD, TFRT_MODEL_MUL};
  tfrt_function_builder_t* builder = &self->builder;
  const tfrt_model_function_t* body = &builder->model->functions[function];
  uint32_t count = 1 + tfrt_function_builder_below(builder, 8);
  for (uint32_t i = 0; i < count && !builder->failed; ++i) {
    uint16_t operands[2];
    do {
      operands[0] =
          (uint16_t)(first + tfrt_function_builder_below(builder, body->value_count - first));
    } while (body->types[operands[0]] != TFRT_MODEL_I32);
    do {
      operands[1] = (uint16_t)tfrt_function_builder_below(builder, body->value_count);
    } while (body->types[operands[1]] != TFRT_MODEL_I32);
    if (tfrt_function_builder_chance(builder, 50)) {
      uint16_t swapped = operands[0];
      operands[0] = operands[1];
      operands[1] = swapped;
    }
    tfrt_function_builder_add_one(builder, function, kinds[tfrt_function_builder_below(builder, 3)],
                                  operands, 2, TFRT_MODEL_I32);
  }
}

uint32_t tfrt_model_generator_add_cancel(tfrt_model_generator_t* self, uint32_t function) {
  static const tfrt_model_kind_t kinds[] = {
      TFRT_MODEL_CANCEL, TFRT_MODEL_CALL,         TFRT_MODEL_IF,    TFRT_MODEL_COND,
      TFRT_MODEL_CASE,   TFRT_MODEL_REPEAT,       TFRT_MODEL_WHILE, TFRT_MODEL_DO_ASYNC,
      TFRT_MODEL_ONCE,   TFRT_MODEL_PARALLEL_CALL};
  uint32_t choice = tfrt_function_builder_below(&self->builder, TFRT_ARRAY_SIZE(kinds));
  uint16_t chain = cancel_generator_join(self, function);
  uint32_t first = kinds[choice] == TFRT_MODEL_CANCEL
                       ? cancel_generator_cancel(self, function, chain)
                       : cancel_generator_wrap(self, function, kinds[choice], chain);
  if (!self->builder.failed) cancel_generator_go_on(self, function, first);
  return first;
}
