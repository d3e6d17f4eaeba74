// SPDX-License-Identifier: Apache-2.0
//
// Turns a function of a BEF file into one that can be called: binds its kernels
// (kernel_binder.h), and works out what they are to each other. Private to the executor.
//
//   record of a kernel --> site: the record, and what the kernel is bound to
//
// sync_resolver.h has the part for synchronous functions.
//
// Life: one call per function, with the program's binder.
//
// Thread rule: thread-compatible on the program. Failure rule: the first thing that is wrong,
// with its place in the source text as the error's origin.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_LOADER_PROGRAM_RESOLVER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_LOADER_PROGRAM_RESOLVER_H_

#include "host_runtime/executor/loader/kernel_binder.h"

// Fills in |callable|, a function of the program of |binder| whose |bef| and |owner| are set.
// Lasting data lies in the program's arena, the rest in |scratch| and in that of the binder.
// Errors: NOT_FOUND (unknown kernel), INVALID_ARGUMENT, RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_program_resolver_run(tfrt_kernel_binder_t* binder, tfrt_bef_callable_t* callable,
                                        tfrt_arena_t* scratch) TFRT_MUST_USE;

// The same for a native function: looks it up, and checks what the program declares against
// what it is. Errors: NOT_FOUND (nobody has registered it), INVALID_ARGUMENT,
// RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_native_resolver_run(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                       const tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_LOADER_PROGRAM_RESOLVER_H_
