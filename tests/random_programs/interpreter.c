// SPDX-License-Identifier: Apache-2.0
#include "tests/random_programs/interpreter.h"

#include <stdio.h>
#include <string.h>

enum { TFRT_INTERPRETER_MAX_ATOMICS = 1024 };

typedef struct tfrt_interpreter_s {
  const tfrt_model_t* model;
  uint32_t steps;
  uint32_t max_steps;
  bool cancelled;
  uint32_t atomic_count;
  int32_t atomics[TFRT_INTERPRETER_MAX_ATOMICS];
} tfrt_interpreter_t;

static void interpreter_call(tfrt_interpreter_t* self, uint32_t function,
                             const tfrt_model_value_t* arguments, tfrt_model_value_t* out_results);

static int32_t interpreter_wrap(uint64_t number) { return (int32_t)(uint32_t)number; }

static tfrt_model_value_t interpreter_number(int64_t number) {
  return (tfrt_model_value_t){.number = interpreter_wrap((uint64_t)number)};
}

static const tfrt_model_value_t tfrt_interpreter_cancelled = {.error = TFRT_MODEL_ERROR_CANCELLED};

static tfrt_model_value_t interpreter_error(tfrt_model_error_t error, const tfrt_model_op_t* op) {
  return (tfrt_model_value_t){.error = error, .line = op->line};
}

static void interpreter_fill(const tfrt_model_op_t* op, tfrt_model_value_t value,
                             tfrt_model_value_t* out_results) {
  for (uint32_t i = 0; i < op->result_count; ++i) out_results[i] = value;
}

static void interpreter_divide(const tfrt_model_op_t* op, const tfrt_model_value_t* operands,
                               tfrt_model_value_t* out_results) {
  int64_t a = operands[0].number;
  int64_t b = operands[1].number;
  if (b == 0) {
    interpreter_fill(op, interpreter_error(TFRT_MODEL_ERROR_DIVIDE_BY_ZERO, op), out_results);
    return;
  }
  out_results[0] = interpreter_number(a / b);
  out_results[1] = interpreter_number(a % b);
}

static void interpreter_repeat(tfrt_interpreter_t* self, const tfrt_model_op_t* op,
                               const tfrt_model_value_t* operands,
                               tfrt_model_value_t* out_results) {
  memcpy(out_results, operands + 1, op->result_count * sizeof(*out_results));
  for (int32_t i = 0; i < operands[0].number && self->steps <= self->max_steps; ++i) {
    tfrt_model_value_t carried[TFRT_MODEL_MAX_RESULTS];
    memcpy(carried, out_results, op->result_count * sizeof(*carried));
    interpreter_call(self, op->callees[0], carried, out_results);
  }
}

static void interpreter_while(tfrt_interpreter_t* self, const tfrt_model_op_t* op,
                              const tfrt_model_value_t* operands, tfrt_model_value_t* out_results) {
  tfrt_model_value_t carried[TFRT_MODEL_MAX_RESULTS + 1];
  uint32_t count = op->result_count;
  memcpy(carried, operands + 1, count * sizeof(*carried));
  carried[count] = operands[0];
  while (!carried[count].error && carried[count].number && self->steps <= self->max_steps) {
    tfrt_model_value_t next[TFRT_MODEL_MAX_RESULTS + 1];
    interpreter_call(self, op->callees[0], carried, next);
    memcpy(carried, next, (count + 1) * sizeof(*carried));
  }
  memcpy(out_results, carried, count * sizeof(*carried));
  if (carried[count].error) interpreter_fill(op, carried[count], out_results);
}

static void interpreter_parallel(tfrt_interpreter_t* self, const tfrt_model_op_t* op,
                                 const tfrt_model_value_t* operands,
                                 tfrt_model_value_t* out_results) {
  int64_t block_size = operands[2].number;
  if (block_size <= 0) {
    out_results[0] = interpreter_error(TFRT_MODEL_ERROR_BLOCK_SIZE, op);
    out_results[0].number = operands[2].number;
    return;
  }
  int64_t end = operands[1].number;
  tfrt_model_value_t all = interpreter_number(0);
  for (int64_t i = operands[0].number; i < end && self->steps <= self->max_steps; i += block_size) {
    tfrt_model_value_t arguments[TFRT_MODEL_MAX_OPERANDS];
    arguments[0] = interpreter_number(i);
    arguments[1] = interpreter_number(i + block_size < end ? i + block_size : end);
    memcpy(arguments + 2, operands + 3, (op->operand_count - 3u) * sizeof(*arguments));
    tfrt_model_value_t chain = interpreter_number(0);
    interpreter_call(self, op->callees[0], arguments, &chain);
    if (!chain.error) continue;
    bool same = !all.error ||
                (all.error == chain.error && all.line == chain.line && all.number == chain.number);
    all = chain;
    if (!same) all.error = TFRT_MODEL_ERROR_ANY;
  }
  out_results[0] = all;
}

// Ops with functions, all of whose waited-for operands are numbers.
static void interpreter_control(tfrt_interpreter_t* self, const tfrt_model_op_t* op,
                                const tfrt_model_value_t* operands,
                                tfrt_model_value_t* out_results) {
  int64_t number = operands[0].number;
  switch (op->kind) {
    case TFRT_MODEL_CALL:
    case TFRT_MODEL_ONCE:
    case TFRT_MODEL_DO_ASYNC:
      interpreter_call(self, op->callees[0], operands, out_results);
      break;
    case TFRT_MODEL_IF:
    case TFRT_MODEL_COND:
      interpreter_call(self, op->callees[number ? 0 : 1], operands + 1, out_results);
      break;
    case TFRT_MODEL_CASE:
      if (number < 0 || number >= op->callee_count) number = op->callee_count - 1;
      interpreter_call(self, op->callees[number], operands + 1, out_results);
      break;
    case TFRT_MODEL_REPEAT:
      interpreter_repeat(self, op, operands, out_results);
      break;
    case TFRT_MODEL_WHILE:
      interpreter_while(self, op, operands, out_results);
      break;
    default:
      interpreter_parallel(self, op, operands, out_results);
      break;
  }
}

static void interpreter_fail(const tfrt_model_op_t* op, const tfrt_model_value_t* operands,
                             tfrt_model_value_t* out_results) {
  tfrt_model_value_t later = interpreter_error(TFRT_MODEL_ERROR_FAILED_LATER, op);
  interpreter_fill(op, interpreter_error(TFRT_MODEL_ERROR_FAILED, op), out_results);
  if (op->kind == TFRT_MODEL_PARTIAL_FAIL) out_results[0] = interpreter_number(1);
  if (op->kind == TFRT_MODEL_ERROR_ASYNC) out_results[0] = later;
  if (op->kind == TFRT_MODEL_ERROR_CONCRETE_ASYNC || op->kind == TFRT_MODEL_ERROR_INDIRECT_ASYNC) {
    out_results[0] = operands[0].number ? later : operands[0];
  }
}

// Ops with an effect.
static void interpreter_act(tfrt_interpreter_t* self, const tfrt_model_op_t* op,
                            const tfrt_model_value_t* operands, tfrt_model_value_t* out_results) {
  interpreter_fill(op, interpreter_number(0), out_results);
  if (op->kind == TFRT_MODEL_CANCEL) {
    self->cancelled = true;
  } else if (op->kind == TFRT_MODEL_ATOMIC_CREATE) {
    if (self->atomic_count == TFRT_INTERPRETER_MAX_ATOMICS) self->steps = self->max_steps + 1;
    self->atomic_count %= TFRT_INTERPRETER_MAX_ATOMICS;
    self->atomics[self->atomic_count] = 0;
    out_results[0] = interpreter_number(self->atomic_count++);
  } else {
    int32_t* atomic = &self->atomics[operands[0].number];
    if (op->kind == TFRT_MODEL_ATOMIC_ADD) {
      *atomic = interpreter_wrap((uint32_t)*atomic + (uint64_t)(uint32_t)operands[1].number);
    } else {
      out_results[0] = interpreter_number(*atomic);
    }
  }
}

// The one result of an op that computes something of its operands.
static tfrt_model_value_t interpreter_compute(const tfrt_model_op_t* op,
                                              const tfrt_model_value_t* operands) {
  int64_t a = operands[0].number;
  int64_t b = operands[1].number;
  switch (op->kind) {
    case TFRT_MODEL_ADD:
    case TFRT_MODEL_ASYNC_ADD:
      return interpreter_number(a + b);
    case TFRT_MODEL_SYNC_SUM: {
      uint64_t sum = 0;
      for (uint32_t i = 0; i < op->operand_count; ++i) sum += (uint32_t)operands[i].number;
      return (tfrt_model_value_t){.number = interpreter_wrap(sum)};
    }
    case TFRT_MODEL_MUL:
      return interpreter_number(a * b);
    case TFRT_MODEL_ASYNC_COPY:
      return operands[0];
    case TFRT_MODEL_LESSEQUAL:
      return interpreter_number(a <= b);
    case TFRT_MODEL_EQUAL:
      return interpreter_number(a == b);
    case TFRT_MODEL_AND:
      return interpreter_number(a && b);
    case TFRT_MODEL_CONSTANT_I32:
    case TFRT_MODEL_CONSTANT_I1:
    case TFRT_MODEL_ASYNC_CONSTANT:
      return interpreter_number(op->number);
    default:  // chains
      return interpreter_number(0);
  }
}

static void interpreter_run(tfrt_interpreter_t* self, const tfrt_model_op_t* op,
                            const tfrt_model_value_t* operands, tfrt_model_value_t* out_results) {
  if (op->kind >= TFRT_MODEL_CALL) {
    interpreter_control(self, op, operands, out_results);
  } else if (op->kind >= TFRT_MODEL_ATOMIC_CREATE) {
    interpreter_act(self, op, operands, out_results);
  } else if (op->kind >= TFRT_MODEL_FAIL) {
    interpreter_fail(op, operands, out_results);
  } else if (op->kind == TFRT_MODEL_DIV) {
    interpreter_divide(op, operands, out_results);
  } else if (op->kind == TFRT_MODEL_COUNT3) {
    for (int i = 0; i < 3; ++i) {
      out_results[i] = interpreter_number((int64_t)operands[0].number + i + 1);
    }
  } else if (op->kind == TFRT_MODEL_MULTI_ARG_RESULT || op->kind == TFRT_MODEL_MAKE_INDIRECT) {
    memcpy(out_results, operands, op->result_count * sizeof(*operands));
  } else if (op->kind == TFRT_MODEL_IDENTITY) {
    memcpy(out_results, operands + 1, op->result_count * sizeof(*operands));
  } else {
    out_results[0] = interpreter_compute(op, operands);
  }
}

static void interpreter_step(tfrt_interpreter_t* self, const tfrt_model_op_t* op,
                             tfrt_model_value_t* values) {
  ++self->steps;
  tfrt_model_value_t operands[TFRT_MODEL_MAX_OPERANDS] = {{0}};
  tfrt_model_value_t error = {0};
  if (self->cancelled) error = tfrt_interpreter_cancelled;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    operands[i] = values[op->operands[i]];
    if (tfrt_model_op_waits(op, i) && operands[i].error) error = operands[i];
  }
  tfrt_model_value_t* results = values + op->first_result;
  if (error.error) {
    interpreter_fill(op, error, results);
  } else {
    interpreter_run(self, op, operands, results);
  }
}

static void interpreter_call_async(tfrt_interpreter_t* self, uint32_t function,
                                   const tfrt_model_value_t* arguments,
                                   tfrt_model_value_t* out_results) {
  const tfrt_model_function_t* body = &self->model->functions[function];
  tfrt_model_value_t values[TFRT_MODEL_MAX_VALUES] = {{0}};
  memcpy(values, arguments, body->argument_count * sizeof(*values));
  for (uint32_t i = 0; i < body->op_count && self->steps <= self->max_steps; ++i) {
    interpreter_step(self, &body->ops[i], values);
  }
  for (uint32_t i = 0; i < body->result_count; ++i) out_results[i] = values[body->results[i]];
}

// --- Functions that are strict ------------------------------------------------
// These return the error that ended them, if any did; results are set only if none did.

static tfrt_model_value_t interpreter_call_native(const tfrt_model_function_t* function,
                                                  const tfrt_model_value_t* arguments,
                                                  tfrt_model_value_t* out_results) {
  tfrt_model_value_t none = {0};
  if (function->form == TFRT_MODEL_FORM_NATIVE_ERROR) {
    return (tfrt_model_value_t){.error = TFRT_MODEL_ERROR_FAILED};
  }
  if (function->form == TFRT_MODEL_FORM_NATIVE_ADD ||
      function->form == TFRT_MODEL_FORM_NATIVE_ASYNC_ADD) {
    out_results[0] = interpreter_number((int64_t)arguments[0].number + arguments[1].number);
  } else if (function->result_count > 0) {
    out_results[0] = none;
  }
  return none;
}

static tfrt_model_value_t interpreter_call_sync(tfrt_interpreter_t* self, uint32_t function,
                                                const tfrt_model_value_t* arguments,
                                                tfrt_model_value_t* out_results);

// A repeat or a while in a synchronous function.
static tfrt_model_value_t interpreter_loop_sync(tfrt_interpreter_t* self, const tfrt_model_op_t* op,
                                                const tfrt_model_value_t* operands,
                                                tfrt_model_value_t* out_results) {
  bool is_while = op->kind == TFRT_MODEL_WHILE;
  tfrt_model_value_t carried[TFRT_MODEL_MAX_RESULTS + 1];
  tfrt_model_value_t error = {0};
  memcpy(carried, operands + 1, op->result_count * sizeof(*carried));
  int32_t left = operands[0].number;
  while (left > 0 && !error.error && self->steps <= self->max_steps) {
    tfrt_model_value_t next[TFRT_MODEL_MAX_RESULTS + 1];
    error = interpreter_call_sync(self, op->callees[0], carried, next);
    if (error.error) break;
    memcpy(carried, next, (op->result_count + (size_t)is_while) * sizeof(*carried));
    left = is_while ? carried[op->result_count].number : left - 1;
  }
  memcpy(out_results, carried, op->result_count * sizeof(*carried));
  return error;
}

static tfrt_model_value_t interpreter_control_sync(tfrt_interpreter_t* self,
                                                   const tfrt_model_op_t* op,
                                                   const tfrt_model_value_t* operands,
                                                   tfrt_model_value_t* out_results) {
  int32_t callee = operands[0].number;
  switch (op->kind) {
    case TFRT_MODEL_CALL:
      return interpreter_call_sync(self, op->callees[0], operands, out_results);
    case TFRT_MODEL_REPEAT:
    case TFRT_MODEL_WHILE:
      return interpreter_loop_sync(self, op, operands, out_results);
    case TFRT_MODEL_CASE:
      if (callee < 0 || callee >= op->callee_count) callee = op->callee_count - 1;
      break;
    default:
      callee = callee ? 0 : 1;
      break;
  }
  return interpreter_call_sync(self, op->callees[callee], operands + 1, out_results);
}

static tfrt_model_value_t interpreter_call_sync(tfrt_interpreter_t* self, uint32_t function,
                                                const tfrt_model_value_t* arguments,
                                                tfrt_model_value_t* out_results) {
  const tfrt_model_function_t* body = &self->model->functions[function];
  tfrt_model_value_t values[TFRT_MODEL_MAX_VALUES] = {{0}};
  memcpy(values, arguments, body->argument_count * sizeof(*values));
  for (uint32_t i = 0; i < body->op_count && self->steps <= self->max_steps; ++i) {
    const tfrt_model_op_t* op = &body->ops[i];
    tfrt_model_value_t operands[TFRT_MODEL_MAX_OPERANDS] = {{0}};
    for (uint32_t k = 0; k < op->operand_count; ++k) operands[k] = values[op->operands[k]];
    tfrt_model_value_t* results = values + op->first_result;
    tfrt_model_value_t error = {0};
    ++self->steps;
    if (op->kind >= TFRT_MODEL_CALL) {
      error = interpreter_control_sync(self, op, operands, results);
    } else {
      interpreter_run(self, op, operands, results);
      if (op->result_count > 0) error = results[0];
    }
    if (error.error) return error;
  }
  for (uint32_t i = 0; i < body->result_count; ++i) out_results[i] = values[body->results[i]];
  return (tfrt_model_value_t){0};
}

static void interpreter_call_strict(tfrt_interpreter_t* self, uint32_t function,
                                    const tfrt_model_value_t* arguments,
                                    tfrt_model_value_t* out_results) {
  const tfrt_model_function_t* body = &self->model->functions[function];
  tfrt_model_value_t error = {0};
  if (self->cancelled) error = tfrt_interpreter_cancelled;
  for (uint32_t i = 0; i < body->argument_count; ++i) {
    if (arguments[i].error) error = arguments[i];
  }
  if (!error.error) {
    error = body->form == TFRT_MODEL_FORM_SYNC
                ? interpreter_call_sync(self, function, arguments, out_results)
                : interpreter_call_native(body, arguments, out_results);
  }
  for (uint32_t i = 0; error.error && i < body->result_count; ++i) out_results[i] = error;
}

static void interpreter_call(tfrt_interpreter_t* self, uint32_t function,
                             const tfrt_model_value_t* arguments, tfrt_model_value_t* out_results) {
  if (self->model->functions[function].form == TFRT_MODEL_FORM_ASYNC) {
    interpreter_call_async(self, function, arguments, out_results);
  } else {
    interpreter_call_strict(self, function, arguments, out_results);
  }
}

uint32_t tfrt_model_interpret(const tfrt_model_t* model, uint32_t max_steps,
                              tfrt_model_value_t* out_results) {
  tfrt_interpreter_t self = {.model = model, .max_steps = max_steps};
  const tfrt_model_function_t* body = &model->functions[model->main];
  tfrt_model_value_t arguments[TFRT_MODEL_MAX_RESULTS] = {{0}};
  for (uint32_t i = 0; i < body->argument_count; ++i) {
    arguments[i].number = model->numbers[i];
    if (tfrt_model_argument_is_error(model->arguments[i])) {
      arguments[i] = (tfrt_model_value_t){.error = TFRT_MODEL_ERROR_ARGUMENT,
                                          .line = tfrt_model_argument_line(i)};
    }
  }
  interpreter_call(&self, model->main, arguments, out_results);
  return self.steps <= max_steps ? self.steps : 0;
}

void tfrt_model_value_message(const tfrt_model_value_t* value, char* buffer, size_t size) {
  static const char* const messages[] = {
      [TFRT_MODEL_NO_ERROR] = "no error",
      [TFRT_MODEL_ERROR_ANY] = "one of several errors",
      [TFRT_MODEL_ERROR_DIVIDE_BY_ZERO] = "Divide by zero",
      [TFRT_MODEL_ERROR_FAILED] = "something bad happened",
      [TFRT_MODEL_ERROR_FAILED_LATER] = "something bad happened asynchronously",
      [TFRT_MODEL_ERROR_BLOCK_SIZE] = "",  // has its size in it
      [TFRT_MODEL_ERROR_ARGUMENT] = "the argument is an error",
      [TFRT_MODEL_ERROR_CANCELLED] = "Cancelled",
  };
  if (value->error == TFRT_MODEL_ERROR_BLOCK_SIZE) {
    snprintf(buffer, size, "the block size is %d; it must be at least 1", value->number);
  } else {
    snprintf(buffer, size, "%s", messages[value->error]);
  }
}
