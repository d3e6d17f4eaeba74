// SPDX-License-Identifier: Apache-2.0
//
// Turns a function of a BEF file into one that can be called: looks up its kernels, checks
// each use of them against the op table, and makes pointers of what the file has as numbers.
// Private to this room.
//
//   bef kernel + registry --> site: C function, attribute addresses, functions,
//                                   what it waits for, which types are left to check
//
// What is peculiar to synchronous functions is sync_resolver.h's.
//
// Life: the kernels are looked up once per program, then one call per function.
//
// Thread rule: thread-compatible on the program. Failure rule: the first thing that is wrong,
// with its place in the source text as the error's origin.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RESOLVER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RESOLVER_H_

#include "host_runtime/executor/program_impl.h"

// What a registry has under the names of a program.
typedef struct tfrt_program_kernels_s {
  const tfrt_kernel_t* by_code;       // as BEF numbers the names; all zero for one that is unknown
  const tfrt_kernel_site_t** models;  // by code: the last site of that kernel, NULL before it
  bool checks_types;                  // of all arguments and results
} tfrt_program_kernels_t;

// Looks up all names of |file|. What |*out_kernels| points to lies in |scratch|. Errors:
// RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_program_resolver_look_up(const tfrt_bef_file_t* file,
                                            const tfrt_kernel_registry_t* registry,
                                            tfrt_arena_t* scratch,
                                            tfrt_program_kernels_t* out_kernels) TFRT_MUST_USE;

// Fills in |callable|, a function of |program| whose |bef| and |owner| are set, by
// |kernels|, whose models it sets. What lasts lies in the program's arena, the rest in |scratch|.
// Errors: NOT_FOUND (unknown kernel), INVALID_ARGUMENT, RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_program_resolver_run(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                        const tfrt_program_kernels_t* kernels,
                                        tfrt_arena_t* scratch) TFRT_MUST_USE;

// The same for a native function: looks it up, and checks what the program declares against
// what it is. Errors: NOT_FOUND (nobody has registered it), INVALID_ARGUMENT,
// RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_native_resolver_run(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                       const tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

// The id of the type that the op table calls |type|; TFRT_TYPE_NONE for one that it
// leaves open; one that no value has for a type that is not registered. Thread-safe.
tfrt_type_id_t tfrt_program_resolver_type_id(const char* type);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RESOLVER_H_
