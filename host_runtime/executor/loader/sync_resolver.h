// SPDX-License-Identifier: Apache-2.0
//
// The checks of a synchronous function, besides those of every function of a BEF file
// (program_resolver.h): that it stays synchronous, and when its registers die. Private to the
// executor.
//
//   kernel 3: reads %1, sets %4      dead behind it: %1, if nobody reads it later
//
// Life: while the program is created.
//
// Thread rule: thread-compatible on the program. Failure rule: the first thing that is wrong.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SYNC_RESOLVER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SYNC_RESOLVER_H_

#include "host_runtime/executor/program/program_impl.h"

// Checks that the resolved |site|, of a synchronous function, calls only synchronous
// functions, on this host. Errors: INVALID_ARGUMENT. Thread-compatible.
tfrt_status_t tfrt_sync_resolver_check_kernel(const tfrt_kernel_site_t* site) TFRT_MUST_USE;

// Checks the results of |callable|: none may be an argument or be there twice, as they are moved
// out of their registers. Lists at each site the registers that die there. Errors:
// INVALID_ARGUMENT, RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_sync_resolver_run(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                     tfrt_arena_t* scratch) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_LOADER_SYNC_RESOLVER_H_
