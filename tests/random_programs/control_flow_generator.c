// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tests/random_programs/generator_impl.h"

// Appends a random op of one sort, with its functions, to |function|.
typedef void (*tfrt_control_generator_fn_t)(tfrt_model_generator_t* self, uint32_t function,
                                            uint32_t depth);

// A new function or region from |arguments| to |results|, with random ops.
static uint32_t control_generator_make(tfrt_model_generator_t* self, bool is_region,
                                       const tfrt_model_types_t* arguments,
                                       const tfrt_model_types_t* results, uint32_t depth) {
  uint32_t function = tfrt_function_builder_begin(&self->builder, is_region, arguments);
  tfrt_model_generator_fill(self, function, depth + 1);
  tfrt_function_builder_finish(&self->builder, function, results);
  return function;
}

// Sets |operands| from |first| on to values of |types| that all differ, as the names of the
// operands that regions take must; returns the number of operands then.
static uint32_t control_generator_pick(tfrt_model_generator_t* self, uint32_t function,
                                       const tfrt_model_types_t* types, uint32_t first,
                                       uint16_t* operands) {
  for (uint32_t i = 0; i < types->count; ++i) {
    operands[first + i] = tfrt_function_builder_pick_other(
        &self->builder, function, (tfrt_model_type_t)types->types[i], operands, first + i);
  }
  return first + types->count;
}

// A small number; some are only known when the program runs.
static uint16_t control_generator_small(tfrt_model_generator_t* self, uint32_t function) {
  tfrt_function_builder_t* builder = &self->builder;
  if (tfrt_function_builder_chance(builder, 50)) {
    int32_t number = (int32_t)tfrt_function_builder_below(builder, 5);
    if (tfrt_function_builder_chance(builder, 6)) number = 40;
    return tfrt_function_builder_constant(builder, function, number);
  }
  uint16_t divisor = tfrt_function_builder_constant(
      builder, function, (int32_t)tfrt_function_builder_below(builder, 5) + 2);
  uint16_t operands[] = {tfrt_function_builder_pick(builder, function, TFRT_MODEL_I32), divisor};
  tfrt_model_types_t results = {.count = 2, .types = {TFRT_MODEL_I32, TFRT_MODEL_I32}};
  uint32_t quotient =
      tfrt_function_builder_add(builder, function, TFRT_MODEL_DIV, operands, 2, &results)
          ->first_result;
  return (uint16_t)(quotient + 1);
}

// Lets the functions that are made next be synchronous, sometimes; returns whether they were
// before, which the caller puts back.
static bool control_generator_choose_form(tfrt_model_generator_t* self) {
  bool was_sync = self->builder.is_sync;
  self->builder.is_sync = was_sync || tfrt_function_builder_chance(&self->builder, 35);
  return was_sync;
}

// A function that the program can call: a new one, or one that is complete.
static uint32_t control_generator_find_callable(tfrt_model_generator_t* self, uint32_t depth) {
  if (self->callable_count > 0 && tfrt_function_builder_chance(&self->builder, 60)) {
    uint32_t found = tfrt_function_builder_below(&self->builder, self->callable_count);
    if (!self->builder.is_sync ||
        self->builder.model->functions[self->callables[found]].form == TFRT_MODEL_FORM_SYNC) {
      return found;
    }
  }
  bool was_sync = control_generator_choose_form(self);
  tfrt_model_types_t arguments = tfrt_function_builder_types(&self->builder, 4);
  tfrt_model_types_t results = tfrt_function_builder_types(&self->builder, 4);
  uint32_t function = control_generator_make(self, false, &arguments, &results, depth);
  self->builder.is_sync = was_sync;
  if (self->callable_count == TFRT_MODEL_MAX_FUNCTIONS) return 0;
  self->results[self->callable_count] = results;
  self->callables[self->callable_count] = function;
  return self->callable_count++;
}

static void control_generator_call(tfrt_model_generator_t* self, uint32_t function,
                                   uint32_t depth) {
  uint32_t callable = control_generator_find_callable(self, depth);
  uint32_t callee = self->callables[callable];
  const tfrt_model_function_t* body = &self->builder.model->functions[callee];
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  for (uint32_t i = 0; i < body->argument_count; ++i) {
    operands[i] =
        tfrt_function_builder_pick(&self->builder, function, (tfrt_model_type_t)body->types[i]);
  }
  tfrt_model_op_t* op =
      tfrt_function_builder_add(&self->builder, function, TFRT_MODEL_CALL, operands,
                                body->argument_count, &self->results[callable]);
  op->callee_count = 1;
  op->callees[0] = (uint16_t)callee;
}

static void control_generator_call_native(tfrt_model_generator_t* self, uint32_t function,
                                          uint32_t depth) {
  (void)depth;
  tfrt_function_builder_t* builder = &self->builder;
  tfrt_model_types_t number = {.count = 1, .types = {TFRT_MODEL_I32}};
  tfrt_model_types_t numbers = {.count = 2, .types = {TFRT_MODEL_I32, TFRT_MODEL_I32}};
  tfrt_model_form_t form =
      (tfrt_model_form_t)(TFRT_MODEL_FORM_NATIVE_ADD +
                          tfrt_function_builder_below(builder, self->avoid_errors ? 2 : 3));
  if (form == TFRT_MODEL_FORM_NATIVE_ERROR) numbers.count = 0;
  uint32_t callee = tfrt_function_builder_native(builder, form, &numbers, &number);
  uint16_t operands[2] = {0};
  for (uint32_t i = 0; i < numbers.count; ++i) {
    operands[i] = tfrt_function_builder_pick(builder, function, TFRT_MODEL_I32);
  }
  tfrt_model_op_t* op = tfrt_function_builder_add(builder, function, TFRT_MODEL_CALL, operands,
                                                  numbers.count, &number);
  op->callee_count = 1;
  op->callees[0] = (uint16_t)callee;
}

// A function of its own, called twice with the same operands.
static void control_generator_once(tfrt_model_generator_t* self, uint32_t function,
                                   uint32_t depth) {
  bool was_sync = control_generator_choose_form(self);
  tfrt_model_types_t arguments = tfrt_function_builder_types(&self->builder, 3);
  tfrt_model_types_t results = tfrt_function_builder_types(&self->builder, 3);
  uint32_t callee = control_generator_make(self, false, &arguments, &results, depth);
  self->builder.is_sync = was_sync;
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  uint32_t count = control_generator_pick(self, function, &arguments, 0, operands);
  for (int i = 0; i < 2; ++i) {
    tfrt_model_op_t* op = tfrt_function_builder_add(&self->builder, function, TFRT_MODEL_ONCE,
                                                    operands, count, &results);
    op->callee_count = 1;
    op->callees[0] = (uint16_t)callee;
  }
}

// if, cond, case and do.async: |lead| values decide which of |callees| functions gets the rest.
static void control_generator_branch(tfrt_model_generator_t* self, uint32_t function,
                                     uint32_t depth, tfrt_model_kind_t kind) {
  tfrt_function_builder_t* builder = &self->builder;
  bool is_region = kind == TFRT_MODEL_IF || kind == TFRT_MODEL_DO_ASYNC;
  uint32_t callee_count = 2;
  if (kind == TFRT_MODEL_CASE) callee_count = 1 + tfrt_function_builder_below(builder, 3);
  if (kind == TFRT_MODEL_DO_ASYNC) callee_count = 1;
  // A region is what its function is.
  bool was_sync = is_region ? builder->is_sync : control_generator_choose_form(self);
  tfrt_model_types_t arguments = tfrt_function_builder_types(builder, 4);
  tfrt_model_types_t results = tfrt_function_builder_types(builder, 4);
  uint16_t callees[TFRT_MODEL_MAX_CALLEES];
  for (uint32_t i = 0; i < callee_count; ++i) {
    callees[i] = (uint16_t)control_generator_make(self, is_region, &arguments, &results, depth);
  }
  builder->is_sync = was_sync;
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  uint32_t lead = 0;
  if (kind == TFRT_MODEL_CASE) {
    operands[lead++] = control_generator_small(self, function);
  } else if (kind != TFRT_MODEL_DO_ASYNC) {
    operands[lead++] = tfrt_function_builder_pick(builder, function, TFRT_MODEL_I1);
  }
  uint32_t count = control_generator_pick(self, function, &arguments, lead, operands);
  tfrt_model_op_t* op =
      tfrt_function_builder_add(builder, function, kind, operands, count, &results);
  op->callee_count = (uint16_t)callee_count;
  memcpy(op->callees, callees, callee_count * sizeof(*callees));
}

// Lets some of the numbers that |body| carries depend on what they were before, so that it shows
// how often it ran.
static void control_generator_accumulate(tfrt_model_generator_t* self, uint32_t body,
                                         const tfrt_model_types_t* carried) {
  uint16_t* results = self->builder.model->functions[body].results;
  for (uint32_t i = 0; i < carried->count; ++i) {
    if (carried->types[i] != TFRT_MODEL_I32) continue;
    if (tfrt_function_builder_chance(&self->builder, 40)) continue;
    uint16_t operands[] = {(uint16_t)i, results[i]};
    results[i] = tfrt_function_builder_add_one(&self->builder, body, TFRT_MODEL_ADD, operands, 2,
                                               TFRT_MODEL_I32);
  }
}

static void control_generator_repeat(tfrt_model_generator_t* self, uint32_t function,
                                     uint32_t depth) {
  tfrt_model_types_t carried = tfrt_function_builder_types(&self->builder, 4);
  uint32_t body = control_generator_make(self, true, &carried, &carried, depth);
  control_generator_accumulate(self, body, &carried);
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  operands[0] = control_generator_small(self, function);
  uint32_t count = control_generator_pick(self, function, &carried, 1, operands);
  tfrt_model_op_t* op = tfrt_function_builder_add(&self->builder, function, TFRT_MODEL_REPEAT,
                                                  operands, count, &carried);
  op->callee_count = 1;
  op->callees[0] = (uint16_t)body;
}

// |number| plus |constant|, at once or later.
static uint16_t control_generator_step(tfrt_model_generator_t* self, uint32_t function,
                                       uint16_t number, int32_t constant) {
  uint16_t operands[] = {number,
                         tfrt_function_builder_constant(&self->builder, function, constant)};
  bool is_late = !self->builder.is_sync && tfrt_function_builder_chance(&self->builder, 50);
  return tfrt_function_builder_add_one(&self->builder, function,
                                       is_late ? TFRT_MODEL_ASYNC_ADD : TFRT_MODEL_ADD, operands, 2,
                                       TFRT_MODEL_I32);
}

// True if |limit| is at most |number|.
static uint16_t control_generator_compare(tfrt_model_generator_t* self, uint32_t function,
                                          int32_t limit, uint16_t number) {
  uint16_t operands[] = {tfrt_function_builder_constant(&self->builder, function, limit), number};
  return tfrt_function_builder_add_one(&self->builder, function, TFRT_MODEL_LESSEQUAL, operands, 2,
                                       TFRT_MODEL_I1);
}

// Counts its first carried value down.
static void control_generator_while(tfrt_model_generator_t* self, uint32_t function,
                                    uint32_t depth) {
  tfrt_function_builder_t* builder = &self->builder;
  bool was_sync = control_generator_choose_form(self);
  tfrt_model_types_t carried = tfrt_function_builder_types(builder, 3);
  memmove(carried.types + 1, carried.types, carried.count++);
  carried.types[0] = TFRT_MODEL_I32;
  uint32_t body = tfrt_function_builder_begin(builder, false, &carried);
  tfrt_model_generator_fill(self, body, depth + 1);
  tfrt_function_builder_finish(builder, body, &carried);
  control_generator_accumulate(self, body, &carried);
  uint16_t next = control_generator_step(self, body, 0, -1);
  uint16_t again = control_generator_compare(self, body, 1, next);
  tfrt_model_function_t* made = &builder->model->functions[body];
  made->results[0] = next;
  made->results[made->result_count++] = again;
  builder->is_sync = was_sync;
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  operands[1] = control_generator_small(self, function);
  operands[0] = control_generator_compare(self, function, 1, operands[1]);
  carried.count -= 1;
  memmove(carried.types, carried.types + 1, carried.count);
  uint32_t count = control_generator_pick(self, function, &carried, 2, operands);
  memmove(carried.types + 1, carried.types, carried.count++);
  carried.types[0] = TFRT_MODEL_I32;
  tfrt_model_op_t* op =
      tfrt_function_builder_add(builder, function, TFRT_MODEL_WHILE, operands, count, &carried);
  op->callee_count = 1;
  op->callees[0] = (uint16_t)body;
}

// Appends to |function| a call of |callee|, which gives back values of the |types| that it takes,
// with |first| as its first operand.
static void control_generator_recur(tfrt_model_generator_t* self, uint32_t function,
                                    uint32_t callee, const tfrt_model_types_t* types,
                                    uint16_t first) {
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS] = {first};
  for (uint32_t i = 1; i < types->count; ++i) {
    operands[i] =
        tfrt_function_builder_pick(&self->builder, function, (tfrt_model_type_t)types->types[i]);
  }
  tfrt_model_op_t* op = tfrt_function_builder_add(&self->builder, function, TFRT_MODEL_CALL,
                                                  operands, types->count, types);
  op->callee_count = 1;
  op->callees[0] = (uint16_t)callee;
}

// A function that calls itself with a first argument that counts down; sometimes deeper than
// calls may nest on one stack.
static void control_generator_recursion(tfrt_model_generator_t* self, uint32_t function,
                                        uint32_t depth) {
  tfrt_function_builder_t* builder = &self->builder;
  tfrt_model_types_t types = tfrt_function_builder_types(builder, 3);
  memmove(types.types + 1, types.types, types.count++);
  types.types[0] = TFRT_MODEL_I32;
  uint32_t callee = tfrt_function_builder_begin(builder, false, &types);
  uint32_t end = control_generator_make(self, true, &types, &types, depth + 3);
  uint32_t go_on = tfrt_function_builder_begin(builder, true, &types);
  control_generator_recur(self, go_on, callee, &types, control_generator_step(self, go_on, 0, -1));
  tfrt_model_generator_fill(self, go_on, depth + 3);
  tfrt_function_builder_finish(builder, go_on, &types);
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  operands[0] = control_generator_compare(self, callee, 1, 0);
  for (uint32_t i = 0; i < types.count; ++i) operands[i + 1] = (uint16_t)i;
  tfrt_model_op_t* op =
      tfrt_function_builder_add(builder, callee, TFRT_MODEL_IF, operands, types.count + 1, &types);
  op->callee_count = 2;
  op->callees[0] = (uint16_t)go_on;
  op->callees[1] = (uint16_t)end;
  tfrt_function_builder_finish(builder, callee, &types);
  uint16_t turns = tfrt_function_builder_chance(builder, 20)
                       ? tfrt_function_builder_constant(builder, function, 130)
                       : control_generator_small(self, function);
  control_generator_recur(self, function, callee, &types, turns);
}

// Appends to |function| an addition to the counter |atomic|; returns its chain.
static uint16_t control_generator_count(tfrt_model_generator_t* self, uint32_t function,
                                        uint16_t atomic) {
  uint16_t operands[3];
  operands[0] = atomic;
  operands[1] = tfrt_function_builder_pick(&self->builder, function, TFRT_MODEL_I32);
  operands[2] = tfrt_function_builder_pick(&self->builder, function, TFRT_MODEL_CHAIN);
  return tfrt_function_builder_add_one(&self->builder, function, TFRT_MODEL_ATOMIC_ADD, operands, 3,
                                       TFRT_MODEL_CHAIN);
}

static void control_generator_read(tfrt_model_generator_t* self, uint32_t function, uint16_t atomic,
                                   uint16_t chain) {
  uint16_t operands[] = {atomic, chain};
  tfrt_model_types_t results = {.count = 2, .types = {TFRT_MODEL_I32, TFRT_MODEL_CHAIN}};
  tfrt_function_builder_add(&self->builder, function, TFRT_MODEL_ATOMIC_GET, operands, 2, &results);
}

// Sets the three |operands| of a parallel op that say what range it has, in blocks of what size.
static void control_generator_range(tfrt_model_generator_t* self, uint32_t function,
                                    uint16_t* operands) {
  tfrt_function_builder_t* builder = &self->builder;
  operands[0] = control_generator_step(self, function, control_generator_small(self, function), -2);
  operands[1] = control_generator_step(self, function, control_generator_small(self, function), 1);
  bool is_valid = tfrt_function_builder_chance(builder, 90);
  operands[2] = tfrt_function_builder_constant(
      builder, function, is_valid ? 1 + (int32_t)tfrt_function_builder_below(builder, 3) : -1);
}

// Blocks of a range that give nothing back, or, if they are native, a chain.
static void control_generator_silent(tfrt_model_generator_t* self, uint32_t function,
                                     uint32_t depth) {
  tfrt_function_builder_t* builder = &self->builder;
  bool is_region = tfrt_function_builder_chance(builder, 50);
  bool is_native = !is_region && tfrt_function_builder_chance(builder, 30);
  bool was_sync = is_region ? builder->is_sync : control_generator_choose_form(self);
  tfrt_model_types_t extras = {0};
  if (!is_native) extras = tfrt_function_builder_types(builder, 3);
  tfrt_model_types_t arguments = {.count = 2 + extras.count,
                                  .types = {TFRT_MODEL_I32, TFRT_MODEL_I32}};
  memcpy(arguments.types + 2, extras.types, extras.count);
  tfrt_model_types_t chain = {.count = 1, .types = {TFRT_MODEL_CHAIN}};
  tfrt_model_types_t nothing = {0};
  bool has_chain = tfrt_function_builder_chance(builder, 50);
  uint32_t body = is_native
                      ? tfrt_function_builder_native(builder,
                                                     has_chain ? TFRT_MODEL_FORM_NATIVE_ASYNC_SINK
                                                               : TFRT_MODEL_FORM_NATIVE_SINK,
                                                     &arguments, has_chain ? &chain : &nothing)
                      : control_generator_make(self, is_region, &arguments, &nothing, depth);
  builder->is_sync = was_sync;
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  control_generator_range(self, function, operands);
  uint32_t count = control_generator_pick(self, function, &extras, 3, operands);
  tfrt_model_op_t* op = tfrt_function_builder_add(
      builder, function, is_region ? TFRT_MODEL_PARALLEL_FOR : TFRT_MODEL_PARALLEL_CALL, operands,
      count, &chain);
  op->callee_count = 1;
  op->callees[0] = (uint16_t)body;
}

// A counter that all blocks of a range add to.
static void control_generator_parallel(tfrt_model_generator_t* self, uint32_t function,
                                       uint32_t depth) {
  tfrt_function_builder_t* builder = &self->builder;
  tfrt_model_kind_t kind = tfrt_function_builder_chance(builder, 50) ? TFRT_MODEL_PARALLEL_FOR
                                                                     : TFRT_MODEL_PARALLEL_CALL;
  tfrt_model_types_t extras = tfrt_function_builder_types(builder, 3);
  tfrt_model_types_t arguments = {.count = 3 + extras.count};
  arguments.types[0] = TFRT_MODEL_I32;
  arguments.types[1] = TFRT_MODEL_I32;
  arguments.types[2] = TFRT_MODEL_ATOMIC;
  memcpy(arguments.types + 3, extras.types, extras.count);
  uint32_t body = tfrt_function_builder_begin(builder, kind == TFRT_MODEL_PARALLEL_FOR, &arguments);
  tfrt_model_generator_fill(self, body, depth + 1);
  uint16_t added = control_generator_count(self, body, 2);
  builder->model->functions[body].results[0] = added;
  builder->model->functions[body].result_count = 1;
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  operands[3] = tfrt_function_builder_add_one(builder, function, TFRT_MODEL_ATOMIC_CREATE, NULL, 0,
                                              TFRT_MODEL_ATOMIC);
  control_generator_range(self, function, operands);
  uint32_t count = control_generator_pick(self, function, &extras, 4, operands);
  tfrt_model_types_t chain = {.count = 1, .types = {TFRT_MODEL_CHAIN}};
  tfrt_model_op_t* op = tfrt_function_builder_add(builder, function, kind, operands, count, &chain);
  op->callee_count = 1;
  op->callees[0] = (uint16_t)body;
  control_generator_read(self, function, operands[3], (uint16_t)op->first_result);
}

// A counter that each turn of a loop adds to.
static void control_generator_counting_loop(tfrt_model_generator_t* self, uint32_t function,
                                            uint32_t depth) {
  tfrt_function_builder_t* builder = &self->builder;
  tfrt_model_types_t extras = tfrt_function_builder_types(builder, 2);
  tfrt_model_types_t carried = {.count = 2 + extras.count,
                                .types = {TFRT_MODEL_CHAIN, TFRT_MODEL_ATOMIC}};
  memcpy(carried.types + 2, extras.types, extras.count);
  uint32_t body = tfrt_function_builder_begin(builder, true, &carried);
  tfrt_model_generator_fill(self, body, depth + 1);
  tfrt_function_builder_finish(builder, body, &carried);
  uint16_t added = control_generator_count(self, body, 1);
  uint16_t both[] = {added, 0};
  builder->model->functions[body].results[0] = tfrt_function_builder_add_one(
      builder, body, TFRT_MODEL_MERGE_CHAINS, both, 2, TFRT_MODEL_CHAIN);
  builder->model->functions[body].results[1] = 1;
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  operands[0] = control_generator_small(self, function);
  operands[1] = tfrt_function_builder_pick(builder, function, TFRT_MODEL_CHAIN);
  operands[2] = tfrt_function_builder_add_one(builder, function, TFRT_MODEL_ATOMIC_CREATE, NULL, 0,
                                              TFRT_MODEL_ATOMIC);
  uint32_t count = control_generator_pick(self, function, &extras, 3, operands);
  tfrt_model_op_t* op =
      tfrt_function_builder_add(builder, function, TFRT_MODEL_REPEAT, operands, count, &carried);
  op->callee_count = 1;
  op->callees[0] = (uint16_t)body;
  control_generator_read(self, function, (uint16_t)(op->first_result + 1),
                         (uint16_t)op->first_result);
}

void tfrt_model_generator_add_control(tfrt_model_generator_t* self, uint32_t function,
                                      uint32_t depth, bool in_main) {
  // Likelier kinds stand here more than once; kinds that synchronous functions don't have stand
  // behind the rest.
  static const tfrt_model_kind_t branches[] = {TFRT_MODEL_IF, TFRT_MODEL_IF, TFRT_MODEL_COND,
                                               TFRT_MODEL_CASE, TFRT_MODEL_DO_ASYNC};
  static const tfrt_control_generator_fn_t others[] = {
      control_generator_call,          control_generator_call,     control_generator_call,
      control_generator_repeat,        control_generator_while,    control_generator_recursion,
      control_generator_counting_loop, control_generator_parallel, control_generator_silent,
      control_generator_call_native,   control_generator_once,
  };
  const bool is_sync = self->builder.is_sync;
  const uint32_t branch_count = TFRT_ARRAY_SIZE(branches) - is_sync;
  // The last one is for the main function only.
  uint32_t count = branch_count + TFRT_ARRAY_SIZE(others) - (is_sync ? 5 : !in_main);
  uint32_t choice = tfrt_function_builder_below(&self->builder, count);
  if (choice < branch_count) {
    control_generator_branch(self, function, depth, branches[choice]);
  } else {
    others[choice - branch_count](self, function, depth);
  }
}
