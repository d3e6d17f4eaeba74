// SPDX-License-Identifier: Apache-2.0
//
// A small host program as plain data: what the generator makes, and what is written as a
// BEF image, printed as text and evaluated by the interpreter.
//
//   generator --> model --+--> image --> executor ----+--> compared
//                         +--> interpreter -----------+
//                         +--> text, for whoever reads a report
//
// Life:
//  1. Filled by the generator, in the caller's storage.
//  2. Read by the others.
//
// Values of a function are numbered: its arguments, then the results of its ops in order.
// These are also the registers of the image. |main| is the function that is run.
//
// Thread rule: plain data, thread-compatible. Failure rule: none fails.
#ifndef TFRT_TESTS_RANDOM_PROGRAMS_MODEL_H_
#define TFRT_TESTS_RANDOM_PROGRAMS_MODEL_H_

#include <stdbool.h>
#include <stdint.h>

enum {
  TFRT_MODEL_MAX_OPERANDS = 16,
  TFRT_MODEL_MAX_RESULTS = 16,
  TFRT_MODEL_MAX_OPS = 160,
  TFRT_MODEL_MAX_VALUES = 400,
  TFRT_MODEL_MAX_FUNCTIONS = 96,
  TFRT_MODEL_MAX_CALLEES = 3,
};

typedef enum tfrt_model_type_e {
  TFRT_MODEL_I32 = 0,
  TFRT_MODEL_I1,
  TFRT_MODEL_CHAIN,
  TFRT_MODEL_ATOMIC,
} tfrt_model_type_t;

typedef enum tfrt_model_kind_e {
  TFRT_MODEL_CONSTANT_I32 = 0,
  TFRT_MODEL_CONSTANT_I1,
  TFRT_MODEL_ASYNC_CONSTANT,
  TFRT_MODEL_NEW_CHAIN,
  TFRT_MODEL_ADD,
  TFRT_MODEL_MUL,
  TFRT_MODEL_DIV,
  TFRT_MODEL_ASYNC_ADD,
  TFRT_MODEL_ASYNC_COPY,
  TFRT_MODEL_COUNT3,
  TFRT_MODEL_LESSEQUAL,
  TFRT_MODEL_EQUAL,
  TFRT_MODEL_AND,
  TFRT_MODEL_SYNC_SUM,
  TFRT_MODEL_SLEEP,
  TFRT_MODEL_MERGE_CHAINS,
  TFRT_MODEL_AS_CHAIN,
  TFRT_MODEL_MULTI_ARG_RESULT,
  TFRT_MODEL_MAKE_INDIRECT,
  TFRT_MODEL_IDENTITY,
  TFRT_MODEL_FAIL,
  TFRT_MODEL_PARTIAL_FAIL,
  TFRT_MODEL_ERROR_ASYNC,
  TFRT_MODEL_ERROR_CONCRETE_ASYNC,
  TFRT_MODEL_ERROR_INDIRECT_ASYNC,
  TFRT_MODEL_SYNC_FAIL,
  TFRT_MODEL_ATOMIC_CREATE,
  TFRT_MODEL_ATOMIC_ADD,
  TFRT_MODEL_ATOMIC_GET,
  TFRT_MODEL_CANCEL,
  TFRT_MODEL_CALL,
  TFRT_MODEL_ONCE,
  TFRT_MODEL_IF,
  TFRT_MODEL_COND,
  TFRT_MODEL_CASE,
  TFRT_MODEL_REPEAT,
  TFRT_MODEL_WHILE,
  TFRT_MODEL_DO_ASYNC,
  TFRT_MODEL_PARALLEL_FOR,
  TFRT_MODEL_PARALLEL_CALL,
  TFRT_MODEL_KIND_COUNT,
} tfrt_model_kind_t;

typedef struct tfrt_model_op_s {
  tfrt_model_kind_t kind;
  bool nonstrict;  // waits for no operand that it doesn't read
  int32_t number;  // of constants
  uint32_t line;   // in the text; names the op in errors. Unique in the program.
  uint32_t stream;
  uint32_t first_result;  // the value that result 0 is
  uint16_t operand_count;
  uint16_t result_count;
  uint16_t callee_count;  // functions, or regions, which are functions too
  uint16_t operands[TFRT_MODEL_MAX_OPERANDS];
  uint16_t callees[TFRT_MODEL_MAX_CALLEES];
} tfrt_model_op_t;

// The form of a function: one of the model's, asynchronous or synchronous, or a native one.
typedef enum tfrt_model_form_e {
  TFRT_MODEL_FORM_ASYNC = 0,
  TFRT_MODEL_FORM_SYNC,
  TFRT_MODEL_FORM_NATIVE_ADD,
  TFRT_MODEL_FORM_NATIVE_ASYNC_ADD,
  TFRT_MODEL_FORM_NATIVE_ERROR,
  TFRT_MODEL_FORM_NATIVE_SINK,
  TFRT_MODEL_FORM_NATIVE_ASYNC_SINK,
  TFRT_MODEL_FORM_COUNT,
} tfrt_model_form_t;

// A native one has no ops; the values behind its arguments are its results.
typedef struct tfrt_model_function_s {
  tfrt_model_form_t form;
  bool is_region;
  uint32_t root_stream;
  uint32_t argument_count;
  uint32_t value_count;
  uint32_t result_count;
  uint32_t op_count;
  uint8_t types[TFRT_MODEL_MAX_VALUES];  // tfrt_model_type_t of each value
  uint16_t results[TFRT_MODEL_MAX_RESULTS];
  tfrt_model_op_t ops[TFRT_MODEL_MAX_OPS];
} tfrt_model_function_t;

// How an argument of the main function is given to it.
typedef enum tfrt_model_argument_e {
  TFRT_MODEL_ARGUMENT_READY = 0,
  TFRT_MODEL_ARGUMENT_ERROR,
  TFRT_MODEL_ARGUMENT_LATE,
  TFRT_MODEL_ARGUMENT_LATE_ERROR,
  TFRT_MODEL_ARGUMENT_LATE_INDIRECT,
  TFRT_MODEL_ARGUMENT_LATE_INDIRECT_ERROR,
  TFRT_MODEL_ARGUMENT_KIND_COUNT,
} tfrt_model_argument_t;

typedef struct tfrt_model_s {
  uint32_t function_count;
  uint32_t last_line;
  uint32_t main;                                            // index of the main function
  tfrt_model_argument_t arguments[TFRT_MODEL_MAX_RESULTS];  // all i32
  int32_t numbers[TFRT_MODEL_MAX_RESULTS];
  tfrt_model_function_t functions[TFRT_MODEL_MAX_FUNCTIONS];
} tfrt_model_t;

// The line of an error that argument |index| of the main function is. Thread-safe.
static inline uint32_t tfrt_model_argument_line(uint32_t index) { return 1000000 + index; }

// Whether an argument of |kind| is an error, sooner or later. Thread-safe.
static inline bool tfrt_model_argument_is_error(tfrt_model_argument_t kind) {
  return kind == TFRT_MODEL_ARGUMENT_ERROR || kind == TFRT_MODEL_ARGUMENT_LATE_ERROR ||
         kind == TFRT_MODEL_ARGUMENT_LATE_INDIRECT_ERROR;
}

// Whether |op| waits for its operand |index|. Thread-safe.
bool tfrt_model_op_waits(const tfrt_model_op_t* op, uint32_t index);

// The name of the kernel that an op of |kind| is, static. Thread-safe.
const char* tfrt_model_kind_name(tfrt_model_kind_t kind);

// The name of the native function that |form| is, static; NULL: none. Thread-safe.
const char* tfrt_model_form_native_name(tfrt_model_form_t form);

// The type as MLIR prints it, static. Thread-safe.
const char* tfrt_model_type_name(tfrt_model_type_t type);

#endif  // TFRT_TESTS_RANDOM_PROGRAMS_MODEL_H_
