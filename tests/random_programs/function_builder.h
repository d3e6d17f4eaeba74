// SPDX-License-Identifier: Apache-2.0
//
// Adds functions and ops to a program, and picks operands for them at random.
//
// Life:
//  1. Initialised with a program to fill and a seed.
//  2. Functions are begun, get ops, and are given results, nested as regions are.
//  3. It holds nothing. |failed| says whether the program grew out of its arrays.
//
// Thread rule: thread-compatible. Failure rule: |failed| is set; ids that are returned after
// that are in range and mean nothing.
#ifndef TFRT_TESTS_RANDOM_PROGRAMS_FUNCTION_BUILDER_H_
#define TFRT_TESTS_RANDOM_PROGRAMS_FUNCTION_BUILDER_H_

#include "host_runtime/base/random.h"
#include "tests/random_programs/model.h"

typedef struct tfrt_function_builder_s {
  tfrt_random_t random;
  tfrt_model_t* model;
  bool failed;
  bool is_sync;  // functions that are begun now are synchronous
  uint32_t stream_count;
} tfrt_function_builder_t;

// Types of values, in order.
typedef struct tfrt_model_types_s {
  uint32_t count;
  uint8_t types[TFRT_MODEL_MAX_OPERANDS];
} tfrt_model_types_t;

// Starts |builder| on an empty |model|. Thread-compatible.
void tfrt_function_builder_initialize(tfrt_function_builder_t* builder, uint64_t seed,
                                      tfrt_model_t* model);

// A number below |limit|; true |percent| times of 100. Thread-compatible.
uint32_t tfrt_function_builder_below(tfrt_function_builder_t* builder, uint32_t limit);
bool tfrt_function_builder_chance(tfrt_function_builder_t* builder, uint32_t percent);

// Begins a function with |arguments| and returns its index. Where functions are synchronous, this
// one is, has no types but i1 and i32, and gives back neither an argument nor a value twice.
// Thread-compatible.
uint32_t tfrt_function_builder_begin(tfrt_function_builder_t* builder, bool is_region,
                                     const tfrt_model_types_t* arguments);

// Returns the index of the native function |form| from |arguments| to |results|, which is made
// unless the program has it. Thread-compatible.
uint32_t tfrt_function_builder_native(tfrt_function_builder_t* builder, tfrt_model_form_t form,
                                      const tfrt_model_types_t* arguments,
                                      const tfrt_model_types_t* results);

// Appends an op to |function| with the |count| |operands| and results of |results|, which may
// be NULL: none; returns it. Thread-compatible.
tfrt_model_op_t* tfrt_function_builder_add(tfrt_function_builder_t* builder, uint32_t function,
                                           tfrt_model_kind_t kind, const uint16_t* operands,
                                           uint32_t count, const tfrt_model_types_t* results);

// Appends an op with one result and returns that. Thread-compatible.
uint16_t tfrt_function_builder_add_one(tfrt_function_builder_t* builder, uint32_t function,
                                       tfrt_model_kind_t kind, const uint16_t* operands,
                                       uint32_t count, tfrt_model_type_t result);

// Appends a constant i32 and returns it. Thread-compatible.
uint16_t tfrt_function_builder_constant(tfrt_function_builder_t* builder, uint32_t function,
                                        int32_t number);

// A value of |type|, one of |function| or a new constant. There must be one if |type| is
// ATOMIC. Thread-compatible.
uint16_t tfrt_function_builder_pick(tfrt_function_builder_t* builder, uint32_t function,
                                    tfrt_model_type_t type);

// The same, but none of the |count| values |taken|. Not for ATOMIC. Thread-compatible.
uint16_t tfrt_function_builder_pick_other(tfrt_function_builder_t* builder, uint32_t function,
                                          tfrt_model_type_t type, const uint16_t* taken,
                                          uint32_t count);

// Picks the results of |function|. Thread-compatible.
void tfrt_function_builder_finish(tfrt_function_builder_t* builder, uint32_t function,
                                  const tfrt_model_types_t* results);

// Up to |limit| random types, no ATOMIC. Thread-compatible.
tfrt_model_types_t tfrt_function_builder_types(tfrt_function_builder_t* builder, uint32_t limit);

#endif  // TFRT_TESTS_RANDOM_PROGRAMS_FUNCTION_BUILDER_H_
