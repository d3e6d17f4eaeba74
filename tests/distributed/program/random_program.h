// SPDX-License-Identifier: Apache-2.0
//
// A program of calls between hosts that follows from a seed, and the results that it must have. The
// program is a tree of functions that add, now or later, divide by zero, and append. The functions
// call each other at fixed and computed hosts, in loops along several hosts, and on all hosts at
// once. They keep borrowed values beyond the call, hand on values that they never look at, and
// leave results unused. @main has hosts reduce together, and tell each other something by key.
//
// Some calls are `pure` and have retries, some have retries alone.
//
//   each function   (i32, !tfrt.string) -> (i32, !tfrt.string)
//   @main           the same
//
// Life: generated, started, compared; nothing to free.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_PROGRAM_RANDOM_PROGRAM_H_
#define TFRT_TESTS_DISTRIBUTED_PROGRAM_RANDOM_PROGRAM_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/random.h"

#define TFRT_RANDOM_PROGRAM_MAX_FUNCTIONS 6
#define TFRT_RANDOM_PROGRAM_MAX_OPS 8
#define TFRT_RANDOM_PROGRAM_TEXT_SIZE 32768

typedef enum tfrt_random_op_kind_e {
  TFRT_RANDOM_OP_ADD,      // of the numbers a and b
  TFRT_RANDOM_OP_FAIL,     // number a divided by zero
  TFRT_RANDOM_OP_LOOP,     // number a and one for each call, along hosts from |host| on, in turns
  TFRT_RANDOM_OP_APPEND,   // of the texts a and b
  TFRT_RANDOM_OP_CALL,     // of |function| on |host| with number a and text b
  TFRT_RANDOM_OP_COMPUTE,  // the same, with a host that is known at run time
  TFRT_RANDOM_OP_ALL,      // the sum of the numbers of |function| on all hosts, by some host
  TFRT_RANDOM_OP_GET,      // what that is on |host|, taken out of the list by some host
  TFRT_RANDOM_OP_KEEP,  // the sum, by way of a list that |host| makes, which it, or another, sums
  TFRT_RANDOM_OP_COPY,  // text b, by way of |host|
  // Only @main has these, and @main runs once.
  TFRT_RANDOM_OP_REDUCE,  // the sum of number a on all hosts, when they have reduced a tensor
  TFRT_RANDOM_OP_TELL,    // the number of the argument, which |host| tells host 0
} tfrt_random_op_kind_t;

typedef struct tfrt_random_op_s {
  tfrt_random_op_kind_t kind;
  uint32_t a;  // index of a number, or text, that is known before
  uint32_t b;
  uint32_t function;
  uint32_t host;
} tfrt_random_op_t;

typedef struct tfrt_random_function_s {
  tfrt_random_op_t ops[TFRT_RANDOM_PROGRAM_MAX_OPS];
  uint32_t op_count;
  uint32_t number;  // what it returns
  uint32_t text;
  uint32_t cost;  // calls, with all below
} tfrt_random_function_t;

typedef struct tfrt_random_program_s {
  uint32_t host_count;
  bool has_messages;  // hosts may wait for what others send
  uint32_t function_count;
  tfrt_random_function_t functions[TFRT_RANDOM_PROGRAM_MAX_FUNCTIONS];  // 0: main; calls go up
  char source[TFRT_RANDOM_PROGRAM_TEXT_SIZE];
} tfrt_random_program_t;

// The value of a number; or how often a text has that of the argument.
typedef struct tfrt_random_value_s {
  uint32_t value;
  bool is_error;
} tfrt_random_value_t;

// Makes a program for |host_count| hosts; one that |has_messages| may wait for ever for a host that
// an error kept from sending. Thread-compatible.
void tfrt_random_program_generate(tfrt_random_program_t* program, uint32_t host_count,
                                  bool has_messages, tfrt_random_t* random);

// Sets |out_results| to the number and the text of @main for the number |x| and a text.
// Thread-compatible.
void tfrt_random_program_evaluate(const tfrt_random_program_t* program, uint32_t x,
                                  tfrt_random_value_t out_results[2]);

#endif  // TFRT_TESTS_DISTRIBUTED_PROGRAM_RANDOM_PROGRAM_H_
