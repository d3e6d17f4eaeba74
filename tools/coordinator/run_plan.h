// SPDX-License-Identifier: Apache-2.0
//
// The function that a run calls: a function of a loaded program, with its arguments, and room for
// its results.
//
// Life:
//  1. Loaded when all kernels are registered; mistakes in texts are reported on the standard error.
//  2. The code that runs the plan sets |results|.
//  3. Deinitialised, also when loading has failed.
//
// Thread rule: thread-compatible.
// Failure rule: one line about the file, the function or the argument that is wrong.
#ifndef TFRT_TOOLS_COORDINATOR_RUN_PLAN_H_
#define TFRT_TOOLS_COORDINATOR_RUN_PLAN_H_

#include "host_runtime/executor/program/program.h"
#include "tools/coordinator/run_options.h"

typedef struct tfrt_run_plan_s {
  tfrt_bef_file_t* file;            // +1
  tfrt_program_t* program;          // +1
  const tfrt_function_t* function;  // in |program|
  tfrt_async_value_t** arguments;   // +1 each
  tfrt_async_value_t** results;     // +1 each, behind the arguments; NULL before the run
  // +1; behind the results: a chain, or the error that the run has ended with. NULL: there is no
  // more to it than the results.
  tfrt_async_value_t** ended;
} tfrt_run_plan_t;

// Sets |*plan| to what |options| name. Thread-compatible.
tfrt_status_t tfrt_run_plan_load(tfrt_run_plan_t* plan, const tfrt_run_options_t* options,
                                 const tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

// Gives |plan| back; one of zeros is allowed. Thread-compatible.
void tfrt_run_plan_deinitialize(tfrt_run_plan_t* plan);

#endif  // TFRT_TOOLS_COORDINATOR_RUN_PLAN_H_
