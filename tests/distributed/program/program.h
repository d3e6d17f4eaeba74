// SPDX-License-Identifier: Apache-2.0
//
// A program of a test: its text, and what a client needs to start it.
//
// Life: initialised from text, started any number of times, deinitialised.
//
// Thread rule: thread-compatible. Failure rule: ck_assert.
#ifndef TFRT_TESTS_DISTRIBUTED_PROGRAM_PROGRAM_H_
#define TFRT_TESTS_DISTRIBUTED_PROGRAM_PROGRAM_H_

#include "distributed/client/client.h"

typedef struct tfrt_test_program_s {
  void* bytes;
  size_t size;
  uint32_t function;  // of @main
  uint32_t result_count;
} tfrt_test_program_t;

// Makes |program| the one of |text|, in MLIR, with a function @main. Thread-compatible.
void tfrt_test_program_initialize(tfrt_test_program_t* program, const char* text);
// Gives |program| back. Thread-compatible.
void tfrt_test_program_deinitialize(tfrt_test_program_t* program);

// Starts @main with |arguments| (+0) and demands its results, which go into |out_results| (+1
// each). Returns the number of the start. Thread-compatible.
uint64_t tfrt_test_program_start(const tfrt_test_program_t* program, tfrt_client_t* client,
                                 tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                 tfrt_async_value_t** out_results);

#endif  // TFRT_TESTS_DISTRIBUTED_PROGRAM_PROGRAM_H_
