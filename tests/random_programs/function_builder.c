// SPDX-License-Identifier: Apache-2.0
#include "tests/random_programs/function_builder.h"

#include <string.h>

void tfrt_function_builder_initialize(tfrt_function_builder_t* builder, uint64_t seed,
                                      tfrt_model_t* model) {
  static const uint32_t stream_counts[] = {1, 2, 3, 8};
  *builder = (tfrt_function_builder_t){.model = model};
  tfrt_random_initialize(&builder->random, seed);
  builder->stream_count = stream_counts[tfrt_function_builder_below(builder, 4)];
  model->function_count = 0;
  model->last_line = 0;
  model->main = 0;
}

uint32_t tfrt_function_builder_below(tfrt_function_builder_t* builder, uint32_t limit) {
  return (uint32_t)tfrt_random_below(&builder->random, limit);
}

bool tfrt_function_builder_chance(tfrt_function_builder_t* builder, uint32_t percent) {
  return tfrt_function_builder_below(builder, 100) < percent;
}

uint32_t tfrt_function_builder_begin(tfrt_function_builder_t* builder, bool is_region,
                                     const tfrt_model_types_t* arguments) {
  tfrt_model_t* model = builder->model;
  if (model->function_count == TFRT_MODEL_MAX_FUNCTIONS) {
    builder->failed = true;
    --model->function_count;
  }
  uint32_t index = model->function_count++;
  tfrt_model_function_t* function = &model->functions[index];
  function->form = builder->is_sync ? TFRT_MODEL_FORM_SYNC : TFRT_MODEL_FORM_ASYNC;
  function->is_region = is_region;
  function->root_stream = tfrt_function_builder_below(builder, builder->stream_count);
  function->argument_count = arguments->count;
  function->value_count = arguments->count;
  function->result_count = 0;
  function->op_count = 0;
  memcpy(function->types, arguments->types, arguments->count);
  return index;
}

uint32_t tfrt_function_builder_native(tfrt_function_builder_t* builder, tfrt_model_form_t form,
                                      const tfrt_model_types_t* arguments,
                                      const tfrt_model_types_t* results) {
  tfrt_model_t* model = builder->model;
  for (uint32_t i = 0; i < model->function_count; ++i) {
    if (model->functions[i].form == form) return i;
  }
  uint32_t index = tfrt_function_builder_begin(builder, false, arguments);
  tfrt_model_function_t* function = &model->functions[index];
  function->form = form;
  for (uint32_t i = 0; i < results->count; ++i) {
    function->results[function->result_count++] = (uint16_t)function->value_count;
    function->types[function->value_count++] = results->types[i];
  }
  return index;
}

tfrt_model_op_t* tfrt_function_builder_add(tfrt_function_builder_t* builder, uint32_t function,
                                           tfrt_model_kind_t kind, const uint16_t* operands,
                                           uint32_t count, const tfrt_model_types_t* results) {
  tfrt_model_function_t* body = &builder->model->functions[function];
  if (body->op_count == TFRT_MODEL_MAX_OPS ||
      body->value_count + TFRT_MODEL_MAX_RESULTS > TFRT_MODEL_MAX_VALUES) {
    builder->failed = true;
    body->op_count = 0;
    body->value_count = body->argument_count;
  }
  tfrt_model_op_t* op = &body->ops[body->op_count++];
  *op = (tfrt_model_op_t){.kind = kind,
                          .line = ++builder->model->last_line,
                          .stream = tfrt_function_builder_below(builder, builder->stream_count),
                          .first_result = body->value_count,
                          .operand_count = (uint16_t)count,
                          .result_count = (uint16_t)(results ? results->count : 0)};
  memcpy(op->operands, operands, count * sizeof(*operands));
  for (uint32_t i = 0; i < op->result_count; ++i) {
    body->types[body->value_count++] = results->types[i];
  }
  return op;
}

uint16_t tfrt_function_builder_add_one(tfrt_function_builder_t* builder, uint32_t function,
                                       tfrt_model_kind_t kind, const uint16_t* operands,
                                       uint32_t count, tfrt_model_type_t result) {
  tfrt_model_types_t results = {.count = 1, .types = {(uint8_t)result}};
  uint16_t none = 0;
  return (uint16_t)tfrt_function_builder_add(builder, function, kind, operands ? operands : &none,
                                             count, &results)
      ->first_result;
}

uint16_t tfrt_function_builder_constant(tfrt_function_builder_t* builder, uint32_t function,
                                        int32_t number) {
  tfrt_model_types_t results = {.count = 1, .types = {TFRT_MODEL_I32}};
  uint16_t none = 0;
  tfrt_model_op_t* op =
      tfrt_function_builder_add(builder, function, TFRT_MODEL_CONSTANT_I32, &none, 0, &results);
  op->number = number;
  return (uint16_t)op->first_result;
}

// A new value of |type| from nothing.
static uint16_t function_builder_make(tfrt_function_builder_t* builder, uint32_t function,
                                      tfrt_model_type_t type) {
  if (type == TFRT_MODEL_CHAIN) {
    return tfrt_function_builder_add_one(builder, function, TFRT_MODEL_NEW_CHAIN, NULL, 0, type);
  }
  if (type == TFRT_MODEL_I32) {
    int32_t number = (int32_t)tfrt_function_builder_below(builder, 9) - 4;
    if (tfrt_function_builder_chance(builder, 5)) number = INT32_MIN;
    return tfrt_function_builder_constant(builder, function, number);
  }
  tfrt_model_types_t results = {.count = 1, .types = {TFRT_MODEL_I1}};
  uint16_t none = 0;
  tfrt_model_op_t* op =
      tfrt_function_builder_add(builder, function, TFRT_MODEL_CONSTANT_I1, &none, 0, &results);
  op->number = (int32_t)tfrt_function_builder_below(builder, 2);
  return (uint16_t)op->first_result;
}

uint16_t tfrt_function_builder_pick(tfrt_function_builder_t* builder, uint32_t function,
                                    tfrt_model_type_t type) {
  const tfrt_model_function_t* body = &builder->model->functions[function];
  uint16_t found[TFRT_MODEL_MAX_VALUES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < body->value_count; ++i) {
    if (body->types[i] == type) found[count++] = (uint16_t)i;
  }
  if (count == 0 && type == TFRT_MODEL_ATOMIC) {
    builder->failed = true;
    return 0;
  }
  if (count == 0 || (type != TFRT_MODEL_ATOMIC && tfrt_function_builder_chance(builder, 8))) {
    return function_builder_make(builder, function, type);
  }
  // The last values are likelier, so that long paths come about.
  uint32_t first = count > 4 && tfrt_function_builder_chance(builder, 50) ? count - 4 : 0;
  return found[first + tfrt_function_builder_below(builder, count - first)];
}

uint16_t tfrt_function_builder_pick_other(tfrt_function_builder_t* builder, uint32_t function,
                                          tfrt_model_type_t type, const uint16_t* taken,
                                          uint32_t count) {
  for (uint32_t attempt = 0; attempt < 4; ++attempt) {
    uint16_t value = tfrt_function_builder_pick(builder, function, type);
    bool is_taken = false;
    for (uint32_t i = 0; i < count; ++i) is_taken |= taken[i] == value;
    if (!is_taken) return value;
  }
  return function_builder_make(builder, function, type);
}

// A value for a result, where the first |count| results are |taken|.
static uint16_t function_builder_pick_result(tfrt_function_builder_t* builder, uint32_t function,
                                             tfrt_model_type_t type, const uint16_t* taken,
                                             uint32_t count) {
  const tfrt_model_function_t* body = &builder->model->functions[function];
  if (!builder->is_sync) return tfrt_function_builder_pick(builder, function, type);
  uint16_t value = tfrt_function_builder_pick_other(builder, function, type, taken, count);
  return value < body->argument_count ? function_builder_make(builder, function, type) : value;
}

void tfrt_function_builder_finish(tfrt_function_builder_t* builder, uint32_t function,
                                  const tfrt_model_types_t* results) {
  for (uint32_t i = 0; i < results->count; ++i) {
    uint16_t* made = builder->model->functions[function].results;
    made[i] = function_builder_pick_result(builder, function, (tfrt_model_type_t)results->types[i],
                                           made, i);
  }
  builder->model->functions[function].result_count = results->count;
}

tfrt_model_types_t tfrt_function_builder_types(tfrt_function_builder_t* builder, uint32_t limit) {
  static const uint8_t choice[] = {TFRT_MODEL_I32, TFRT_MODEL_I32, TFRT_MODEL_I32,
                                   TFRT_MODEL_I32, TFRT_MODEL_I1,  TFRT_MODEL_CHAIN};
  tfrt_model_types_t types = {.count = tfrt_function_builder_below(builder, limit + 1)};
  for (uint32_t i = 0; i < types.count; ++i) {
    // The last one is for asynchronous functions only.
    types.types[i] =
        choice[tfrt_function_builder_below(builder, sizeof(choice) - builder->is_sync)];
  }
  return types;
}
