// SPDX-License-Identifier: Apache-2.0
#include "tests/random_programs/generator.h"

#include "host_runtime/base/macros.h"
#include "tests/random_programs/generator_impl.h"
#include "tests/random_programs/interpreter.h"

// Beyond this depth there are no ops with functions.
#define TFRT_GENERATOR_MAX_DEPTH 3

static uint16_t generator_pick(tfrt_model_generator_t* self, uint32_t function,
                               tfrt_model_type_t type) {
  return tfrt_function_builder_pick(&self->builder, function, type);
}

// An op of two i32 whose result is of |type|.
static void generator_add_binary(tfrt_model_generator_t* self, uint32_t function,
                                 tfrt_model_kind_t kind, tfrt_model_type_t type) {
  uint16_t operands[3];
  uint32_t count = 2;
  tfrt_model_type_t operand = kind == TFRT_MODEL_AND ? TFRT_MODEL_I1 : TFRT_MODEL_I32;
  operands[0] = generator_pick(self, function, operand);
  operands[1] = generator_pick(self, function, operand);
  if (kind == TFRT_MODEL_LESSEQUAL && !self->builder.is_sync &&
      tfrt_function_builder_chance(&self->builder, 30)) {
    operands[count++] = generator_pick(self, function, TFRT_MODEL_CHAIN);
  }
  tfrt_function_builder_add_one(&self->builder, function, kind, operands, count, type);
}

static void generator_add_division(tfrt_model_generator_t* self, uint32_t function) {
  uint16_t operands[2];
  operands[0] = generator_pick(self, function, TFRT_MODEL_I32);
  if (self->avoid_errors) {
    int32_t divisor = (int32_t)tfrt_function_builder_below(&self->builder, 9) - 10;
    operands[1] = tfrt_function_builder_constant(&self->builder, function, divisor);
  } else {
    operands[1] = generator_pick(self, function, TFRT_MODEL_I32);
  }
  tfrt_model_types_t results = {.count = 2, .types = {TFRT_MODEL_I32, TFRT_MODEL_I32}};
  tfrt_function_builder_add(&self->builder, function, TFRT_MODEL_DIV, operands, 2, &results);
}

// An op of several values of any types: their chain, or the values themselves.
static void generator_add_several(tfrt_model_generator_t* self, uint32_t function) {
  tfrt_function_builder_t* builder = &self->builder;
  uint32_t most = tfrt_function_builder_chance(builder, 10) ? 14 : 4;
  tfrt_model_types_t types = tfrt_function_builder_types(builder, most);
  tfrt_model_kind_t kind =
      (tfrt_model_kind_t)(TFRT_MODEL_MERGE_CHAINS + tfrt_function_builder_below(builder, 5));
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  uint32_t count = 0;
  if (kind == TFRT_MODEL_IDENTITY) {
    operands[count++] = generator_pick(self, function, TFRT_MODEL_CHAIN);
  }
  for (uint32_t i = 0; i < types.count; ++i) {
    operands[count++] = generator_pick(self, function, (tfrt_model_type_t)types.types[i]);
  }
  bool is_chain = kind == TFRT_MODEL_MERGE_CHAINS || kind == TFRT_MODEL_AS_CHAIN;
  tfrt_model_types_t chain = {.count = 1, .types = {TFRT_MODEL_CHAIN}};
  tfrt_function_builder_add(builder, function, kind, operands, count, is_chain ? &chain : &types);
}

static void generator_add_failure(tfrt_model_generator_t* self, uint32_t function) {
  tfrt_model_kind_t kind =
      (tfrt_model_kind_t)(TFRT_MODEL_FAIL + tfrt_function_builder_below(&self->builder, 5));
  bool has_operand =
      kind == TFRT_MODEL_ERROR_CONCRETE_ASYNC || kind == TFRT_MODEL_ERROR_INDIRECT_ASYNC;
  uint16_t operand = has_operand ? generator_pick(self, function, TFRT_MODEL_I32) : 0;
  tfrt_model_types_t results = {.count = kind == TFRT_MODEL_PARTIAL_FAIL ? 2 : 1,
                                .types = {TFRT_MODEL_I32, TFRT_MODEL_I32}};
  tfrt_function_builder_add(&self->builder, function, kind, &operand, has_operand, &results);
}

static void generator_add_count3(tfrt_model_generator_t* self, uint32_t function) {
  uint16_t operand = generator_pick(self, function, TFRT_MODEL_I32);
  tfrt_model_types_t results = {.count = 3,
                                .types = {TFRT_MODEL_I32, TFRT_MODEL_I32, TFRT_MODEL_I32}};
  tfrt_function_builder_add(&self->builder, function, TFRT_MODEL_COUNT3, &operand, 1, &results);
}

// A pause of no time, in the blocking queue.
static void generator_add_sleep(tfrt_model_generator_t* self, uint32_t function) {
  uint16_t operand = tfrt_function_builder_constant(&self->builder, function, 0);
  tfrt_function_builder_add_one(&self->builder, function, TFRT_MODEL_SLEEP, &operand, 1,
                                TFRT_MODEL_CHAIN);
}

static void generator_add_sum(tfrt_model_generator_t* self, uint32_t function) {
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  uint32_t count = tfrt_function_builder_below(&self->builder, 6);
  for (uint32_t i = 0; i < count; ++i) {
    operands[i] = generator_pick(self, function, TFRT_MODEL_I32);
  }
  tfrt_function_builder_add_one(&self->builder, function, TFRT_MODEL_SYNC_SUM, operands, count,
                                TFRT_MODEL_I32);
}

// An op of those that synchronous functions have.
static void generator_add_sync(tfrt_model_generator_t* self, uint32_t function) {
  static const tfrt_model_kind_t binaries[] = {
      TFRT_MODEL_ADD,       TFRT_MODEL_ADD,   TFRT_MODEL_MUL, TFRT_MODEL_LESSEQUAL,
      TFRT_MODEL_LESSEQUAL, TFRT_MODEL_EQUAL, TFRT_MODEL_AND};
  tfrt_function_builder_t* builder = &self->builder;
  uint32_t roll = tfrt_function_builder_below(builder, TFRT_ARRAY_SIZE(binaries) + 3);
  if (!self->avoid_errors && tfrt_function_builder_chance(builder, self->error_percent / 2)) {
    tfrt_function_builder_add_one(builder, function, TFRT_MODEL_SYNC_FAIL, NULL, 0, TFRT_MODEL_I32);
  } else if (roll < TFRT_ARRAY_SIZE(binaries)) {
    tfrt_model_kind_t kind = binaries[roll];
    bool is_number = kind == TFRT_MODEL_ADD || kind == TFRT_MODEL_MUL;
    generator_add_binary(self, function, kind, is_number ? TFRT_MODEL_I32 : TFRT_MODEL_I1);
  } else if (roll == TFRT_ARRAY_SIZE(binaries)) {
    generator_add_division(self, function);
  } else {
    generator_add_sum(self, function);
  }
}

static void generator_add_plain(tfrt_model_generator_t* self, uint32_t function) {
  tfrt_function_builder_t* builder = &self->builder;
  uint32_t roll = tfrt_function_builder_below(builder, 66);
  uint16_t none = 0;
  tfrt_model_types_t number = {.count = 1, .types = {TFRT_MODEL_I32}};
  if (!self->avoid_errors && tfrt_function_builder_chance(builder, self->error_percent)) {
    generator_add_failure(self, function);
  } else if (roll < 5) {
    int32_t constant = (int32_t)tfrt_function_builder_below(builder, 7) - 3;
    tfrt_function_builder_add(builder, function, TFRT_MODEL_ASYNC_CONSTANT, &none, 0, &number)
        ->number = constant;
  } else if (roll < 14) {
    generator_add_binary(self, function, TFRT_MODEL_ADD, TFRT_MODEL_I32);
  } else if (roll < 17) {
    generator_add_binary(self, function, TFRT_MODEL_MUL, TFRT_MODEL_I32);
  } else if (roll < 22) {
    generator_add_division(self, function);
  } else if (roll < 34) {
    generator_add_binary(self, function, TFRT_MODEL_ASYNC_ADD, TFRT_MODEL_I32);
  } else if (roll < 39) {
    uint16_t operand = generator_pick(self, function, TFRT_MODEL_I32);
    tfrt_function_builder_add(builder, function, TFRT_MODEL_ASYNC_COPY, &operand, 1, &number);
  } else if (roll < 42) {
    generator_add_count3(self, function);
  } else if (roll < 48) {
    generator_add_binary(self, function, TFRT_MODEL_LESSEQUAL, TFRT_MODEL_I1);
  } else if (roll < 51) {
    generator_add_binary(self, function, TFRT_MODEL_EQUAL, TFRT_MODEL_I1);
  } else if (roll < 53) {
    generator_add_binary(self, function, TFRT_MODEL_AND, TFRT_MODEL_I1);
  } else if (roll < 55) {
    generator_add_sleep(self, function);
  } else {
    generator_add_several(self, function);
  }
}

// Lets the last op of |function| sometimes wait for less, unless it has an effect, which must not
// come early.
static void generator_loosen(tfrt_model_generator_t* self, uint32_t function) {
  tfrt_model_function_t* body = &self->builder.model->functions[function];
  if (self->builder.is_sync || body->op_count == 0) return;
  tfrt_model_op_t* op = &body->ops[body->op_count - 1];
  bool has_effect = op->kind >= TFRT_MODEL_ATOMIC_CREATE && op->kind < TFRT_MODEL_CALL;
  if (!has_effect && tfrt_function_builder_chance(&self->builder, 6)) op->nonstrict = true;
}

void tfrt_model_generator_fill(tfrt_model_generator_t* self, uint32_t function, uint32_t depth) {
  static const uint32_t control_percent[] = {40, 22, 10};
  tfrt_function_builder_t* builder = &self->builder;
  uint32_t count = depth == 0 ? 3 + tfrt_function_builder_below(builder, 22)
                              : tfrt_function_builder_below(builder, 8);
  for (uint32_t i = 0; i < count && !builder->failed; ++i) {
    if (depth < TFRT_GENERATOR_MAX_DEPTH &&
        tfrt_function_builder_chance(builder, control_percent[depth] + 12 * builder->is_sync)) {
      tfrt_model_generator_add_control(self, function, depth, depth == 0);
    } else if (builder->is_sync) {
      generator_add_sync(self, function);
    } else {
      generator_add_plain(self, function);
    }
    generator_loosen(self, function);
  }
}

static void generator_make_main(tfrt_model_generator_t* self, bool cancels) {
  tfrt_function_builder_t* builder = &self->builder;
  tfrt_model_t* model = builder->model;
  tfrt_model_types_t arguments = {.count = tfrt_function_builder_below(builder, 4),
                                  .types = {TFRT_MODEL_I32, TFRT_MODEL_I32, TFRT_MODEL_I32}};
  for (uint32_t i = 0; i < arguments.count; ++i) {
    model->numbers[i] = (int32_t)tfrt_function_builder_below(builder, 7) - 1;
    do {
      model->arguments[i] = (tfrt_model_argument_t)tfrt_function_builder_below(
          builder, TFRT_MODEL_ARGUMENT_KIND_COUNT);
    } while (self->avoid_errors && tfrt_model_argument_is_error(model->arguments[i]));
  }
  model->main = tfrt_function_builder_begin(builder, false, &arguments);
  tfrt_model_generator_fill(self, model->main, 0);
  // Many results, since only what these depend on is compared.
  tfrt_model_types_t results;
  do {
    results = tfrt_function_builder_types(builder, TFRT_MODEL_MAX_RESULTS - 1);
  } while (results.count < 8);
  results.types[results.count++] = TFRT_MODEL_I32;
  tfrt_function_builder_finish(builder, model->main, &results);
  if (!cancels || builder->failed) return;
  uint32_t first = tfrt_model_generator_add_cancel(self, model->main);
  if (builder->failed) return;
  tfrt_model_function_t* body = &model->functions[model->main];
  for (uint32_t i = first; i < body->value_count && body->result_count < TFRT_MODEL_MAX_RESULTS;
       ++i) {
    body->results[body->result_count++] = (uint16_t)i;
  }
}

void tfrt_model_generate(uint64_t seed, uint32_t max_steps, tfrt_model_t* out_model) {
  static const uint32_t error_percents[] = {0, 1, 3, 12};
  for (uint64_t attempt = 0;; ++attempt) {
    tfrt_model_generator_t self = {0};
    // Far apart for different seeds; the first attempt of most seeds is good.
    tfrt_function_builder_initialize(&self.builder, seed + (attempt << 40), out_model);
    bool cancels = tfrt_function_builder_chance(&self.builder, 15);
    self.avoid_errors = tfrt_function_builder_chance(&self.builder, cancels ? 80 : 15);
    self.error_percent = error_percents[tfrt_function_builder_below(&self.builder, 4)];
    generator_make_main(&self, cancels);
    tfrt_model_value_t results[TFRT_MODEL_MAX_RESULTS];
    if (!self.builder.failed && tfrt_model_interpret(out_model, max_steps, results) > 0) return;
  }
}
