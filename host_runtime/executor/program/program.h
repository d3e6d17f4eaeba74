// SPDX-License-Identifier: Apache-2.0
//
// A program that is ready to run: a verified BEF file whose kernels have been looked
// up once in a registry and whose attributes and functions have become pointers.
//
//   tfrt_bef_file_t + tfrt_kernel_registry_t  -->  tfrt_program_t --> functions[]
//
// Life:
//  1. Created from a file and a registry. All that can be wrong with a program before
//     it runs is said here: unknown kernels, attributes that are not what the kernel
//     reads, functions that don't fit.
//  2. Its functions are called any number of times, from any thread; running calls
//     keep it alive.
//  3. Released.
//
// Thread rule: immutable once its functions are called; thread-safe.
// Failure rule: creation fails with NOT_FOUND (unknown kernel), INVALID_ARGUMENT or
// RESOURCE_EXHAUSTED; the error's origin is the op's place in the source text.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_PROGRAM_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_PROGRAM_H_

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/executor/kernel/kernel_registry.h"
#include "host_runtime/executor/request/resource_context.h"

TFRT_API_BEGIN

typedef struct tfrt_program_s tfrt_program_t;

// Hears of each error that a kernel of a program makes, when it makes it, whether or not
// anybody uses the value: as |error| (+0), with its origin. An error that is only handed on
// isn't told again, and one of a native function isn't told at all: it has no place. Called from
// any thread, several at once.
typedef struct tfrt_error_listener_s {
  void (*on_error)(void* data, tfrt_status_t error);  // NULL: nobody listens
  void* data;                                         // outlives the program's calls
} tfrt_error_listener_t;

// Sets |*out_program| (+1) to |file| (retained) resolved against |registry|, which must
// outlive it. Errors: see above. Thread-safe.
tfrt_status_t tfrt_program_create(tfrt_bef_file_t* file, const tfrt_kernel_registry_t* registry,
                                  tfrt_allocator_t allocator, tfrt_program_t** out_program)
    TFRT_MUST_USE;

// Adds one reference to |program| and returns it. Thread-safe.
tfrt_program_t* tfrt_program_retain(tfrt_program_t* program);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_program_release(tfrt_program_t* program);

// Tells |listener| of the errors of |program| from now on. Before the first call of a function;
// caller synchronises.
void tfrt_program_set_error_listener(tfrt_program_t* program, tfrt_error_listener_t listener);

// The file that |program| was made from (+0); NULL for a single op (single_op.h).
// Thread-safe.
tfrt_bef_file_t* tfrt_program_file(const tfrt_program_t* program);

// The objects that kernels keep with |program| from one call to the next (resource_context.h). They
// end with the program, before its file does, and their memory comes from the program's allocator.
// Thread-safe.
tfrt_resource_context_t* tfrt_program_resources(tfrt_program_t* program);
tfrt_allocator_t tfrt_program_allocator(const tfrt_program_t* program);

// The number of functions, regions included, and function |index| < that; it lives as
// long as |program|. Thread-safe.
uint32_t tfrt_program_function_count(const tfrt_program_t* program);
const tfrt_function_t* tfrt_program_function(const tfrt_program_t* program, uint32_t index);

// The function named |name|, or NULL; a single op has no name. Linear. Thread-safe.
const tfrt_function_t* tfrt_program_find_function(const tfrt_program_t* program, const char* name);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_PROGRAM_H_
