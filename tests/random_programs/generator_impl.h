// SPDX-License-Identifier: Apache-2.0
//
// Shared by the parts of the generator: generator.c makes functions of plain ops,
// control_flow_generator.c the ops that have functions, cancel_generator.c the end of a request.
// Private to the generator.
//
// Life: one per program. Thread rule: thread-compatible. Failure rule: the builder's.
#ifndef TFRT_TESTS_RANDOM_PROGRAMS_GENERATOR_IMPL_H_
#define TFRT_TESTS_RANDOM_PROGRAMS_GENERATOR_IMPL_H_

#include "tests/random_programs/function_builder.h"

typedef struct tfrt_model_generator_s {
  tfrt_function_builder_t builder;
  uint32_t error_percent;  // of ops that fail by themselves
  bool avoid_errors;
  uint32_t callable_count;  // functions that are complete and may be called from anywhere
  uint32_t callables[TFRT_MODEL_MAX_FUNCTIONS];
  tfrt_model_types_t results[TFRT_MODEL_MAX_FUNCTIONS];  // of each function in |callables|
} tfrt_model_generator_t;

// Appends some random ops to |function|, which is nested |depth| deep. Thread-compatible.
void tfrt_model_generator_fill(tfrt_model_generator_t* generator, uint32_t function,
                               uint32_t depth);

// Appends a random op with functions, which are made for it, to |function|. |in_main| tells
// whether that runs only once. Thread-compatible.
void tfrt_model_generator_add_control(tfrt_model_generator_t* generator, uint32_t function,
                                      uint32_t depth, bool in_main);

// Cancels behind all values of |function|, the main one, and goes on behind that; returns the first
// value that waits for the cancel. Thread-compatible.
uint32_t tfrt_model_generator_add_cancel(tfrt_model_generator_t* generator, uint32_t function);

#endif  // TFRT_TESTS_RANDOM_PROGRAMS_GENERATOR_IMPL_H_
