// SPDX-License-Identifier: Apache-2.0
//
// A program that is one op, made without a file: what eager execution runs.
//
//   name, counts, attributes, functions, place --registry--> program with one function
//
//   function:  argument 0, 1, ... --> [op] --> result 0, 1, ...
//
// The op is looked up and checked against the op table as those of a file are. A call whose
// arguments are there runs the kernel at once, in a frame on the stack: nothing is allocated
// but what the kernel makes. Any other call (an argument is late, the kernel has very many of
// them, somebody asks when the call is over) goes the executor's way, so that both mean the
// same.
//
// Life:
//  1. Created; retains the programs of the functions that it is given.
//  2. tfrt_program_function(program, 0) is called any number of times, from any thread.
//  3. Released, as any program.
//
// Thread rule: immutable after creation; thread-safe.
// Failure rule: as tfrt_program_create(); the error's origin is the place that the maker gave.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SINGLE_OP_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SINGLE_OP_H_

#include "host_runtime/executor/program/program.h"

// The definition of the op. Everything is copied but for functions, which are retained.
typedef struct tfrt_single_op_s {
  const char* name;  // of the kernel
  uint32_t argument_count;
  uint32_t result_count;
  const uint8_t* attributes;  // bytes as those of a file's attribute section
  size_t attributes_size;
  const uint32_t* attribute_offsets;  // in there, in the order of the attributes' names
  uint32_t attribute_count;
  uint32_t function_count;
  const tfrt_function_t* const* functions;      // symbols in the order of names, then regions
  const tfrt_bef_call_options_t* call_options;  // NULL: none
  const char* caller;  // where the op stands: a function or another name; "" or NULL: unknown
  const char* file;    // the same, NULL: unknown
  uint32_t line;       // 0: unknown
  uint32_t column;     // 0: unknown
} tfrt_single_op_t;

// Sets |*out_program| (+1) to a program that is |op| alone, by |registry|, which must outlive
// it. Errors: NOT_FOUND (no such kernel), INVALID_ARGUMENT (not what the op table says),
// RESOURCE_EXHAUSTED. Thread-safe.
tfrt_status_t tfrt_single_op_create(const tfrt_single_op_t* op,
                                    const tfrt_kernel_registry_t* registry,
                                    tfrt_allocator_t allocator, tfrt_program_t** out_program)
    TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SINGLE_OP_H_
