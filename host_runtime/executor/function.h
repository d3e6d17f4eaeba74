// SPDX-License-Identifier: Apache-2.0
//
// Something that can be called with AsyncValues and gives AsyncValues: a function of
// a BEF file, or a C function. Functions are *non-strict*: a call starts at once,
// whatever the state of its arguments; each kernel inside waits for its own.
//
// Life: a function belongs to its program (or to the native registry), which the
// caller keeps alive while calls run; a running BEF call keeps its program alive by
// itself.
//
// Thread rule: functions are immutable; everything here is thread-safe.
// Failure rule: a call doesn't fail; its results may be errors.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_FUNCTION_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_FUNCTION_H_

#include <stdint.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/executor/execution_context.h"

typedef struct tfrt_function_s tfrt_function_t;

typedef struct tfrt_function_vtable_s {
  void (*execute)(const tfrt_function_t* function, const tfrt_execution_context_t* context,
                  tfrt_async_value_t* const* arguments, tfrt_async_value_t** results);
} tfrt_function_vtable_t;

// Embedded first in every kind of function.
struct tfrt_function_s {
  const tfrt_function_vtable_t* vtable;
  const char* name;                   // "" for a region
  const char* const* argument_types;  // as MLIR prints them
  const char* const* result_types;
  uint32_t argument_count;
  uint32_t result_count;
  // Identity across hosts: the program it belongs to (NULL: none) and its index there.
  const struct tfrt_program_s* program;
  uint32_t index;
};

// Calls |function| with |function->argument_count| arguments (+0, in any state) and
// sets the |function->result_count| entries of |results| to values (+1, in any
// state). Runs what can run on the calling thread. Thread-safe.
static inline void tfrt_function_execute(const tfrt_function_t* function,
                                         const tfrt_execution_context_t* context,
                                         tfrt_async_value_t* const* arguments,
                                         tfrt_async_value_t** results) {
  function->vtable->execute(function, context, arguments, results);
}

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_FUNCTION_H_
