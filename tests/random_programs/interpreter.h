// SPDX-License-Identifier: Apache-2.0
//
// The meaning of a program, as simply as possible: ops run one after the other, each value is a
// number or an error. It shares nothing with the executor but the model, and knows no time.
//
// The rules that it says:
//  - An op that waits for an operand which is an error is skipped; its results are the last
//    such error in operand order, else the cancellation, if the program was cancelled before.
//  - Functions and regions start whatever their arguments are.
//  - If blocks of a parallel loop fail in different ways, any of their errors may win.
//
// Life: one call. Thread rule: thread-safe. Failure rule: gives up on a program with too many
// steps.
#ifndef TFRT_TESTS_RANDOM_PROGRAMS_INTERPRETER_H_
#define TFRT_TESTS_RANDOM_PROGRAMS_INTERPRETER_H_

#include <stddef.h>

#include "tests/random_programs/model.h"

typedef enum tfrt_model_error_e {
  TFRT_MODEL_NO_ERROR = 0,
  TFRT_MODEL_ERROR_ANY,  // one of several
  TFRT_MODEL_ERROR_DIVIDE_BY_ZERO,
  TFRT_MODEL_ERROR_FAILED,
  TFRT_MODEL_ERROR_FAILED_LATER,
  TFRT_MODEL_ERROR_BLOCK_SIZE,
  TFRT_MODEL_ERROR_ARGUMENT,
  TFRT_MODEL_ERROR_CANCELLED,
} tfrt_model_error_t;

// A value: a number (an i1 as 0 or 1, an atomic as its index), or an error.
typedef struct tfrt_model_value_s {
  tfrt_model_error_t error;
  int32_t number;  // with TFRT_MODEL_ERROR_BLOCK_SIZE: that size
  uint32_t line;   // of the op that made the error
} tfrt_model_value_t;

// Evaluates the main function of |model| and sets |out_results|, one per result. Returns the
// number of ops that were evaluated, or 0 if there are more than |max_steps|.
// Thread-safe.
uint32_t tfrt_model_interpret(const tfrt_model_t* model, uint32_t max_steps,
                              tfrt_model_value_t* out_results);

// Writes the message of the error |value| to |buffer|, of |size| bytes. Thread-safe.
void tfrt_model_value_message(const tfrt_model_value_t* value, char* buffer, size_t size);

#endif  // TFRT_TESTS_RANDOM_PROGRAMS_INTERPRETER_H_
