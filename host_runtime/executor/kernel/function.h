// SPDX-License-Identifier: Apache-2.0
//
// Something that can be called with AsyncValues and gives AsyncValues. There are three
// kinds:
//  - asynchronous: a function of a BEF file. It is *non-strict*: a call starts at once,
//    whatever the state of its arguments; each kernel inside waits for its own.
//  - native (`tfrt.native`): a C function under a name (kernel_registry.h). It is called when
//    all of its arguments are there; an error among them becomes each of its results.
//  - synchronous (`tfrt.sync`): a function of a BEF file whose kernels run in their order on
//    the calling thread, on plain values (sync_frame.h). From here it is called as a native
//    one is; synchronous code calls it without AsyncValues.
//
// A call is made in one of five ways:
//
//   tfrt_function_execute()           arguments are lent        on this thread
//   tfrt_function_execute_take()      arguments are given away  on this thread
//   tfrt_function_execute_here()      arguments are lent        on this thread, as the work queue's
//   tfrt_function_execute_in_queue()  arguments are lent        as a task of the work queue
//   tfrt_function_execute_in_queue_after()  the same, once the first argument is there
//
// Life: a function belongs to its program, which the caller keeps alive while it starts
// calls; a call that goes on later keeps its program alive by itself.
//
// Thread rule: functions are immutable; everything here is thread-safe.
// Failure rule: a call doesn't fail; its results may be errors.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_FUNCTION_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_FUNCTION_H_

#include <stdint.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/executor/request/execution_context.h"

TFRT_API_BEGIN

typedef struct tfrt_function_s tfrt_function_t;

typedef enum tfrt_function_kind_e {
  TFRT_FUNCTION_ASYNC = 0,
  TFRT_FUNCTION_NATIVE,
  TFRT_FUNCTION_SYNC,
} tfrt_function_kind_t;

// Starts a call; arguments at +0 or at +1, as the entry says.
typedef void (*tfrt_function_execute_fn_t)(const tfrt_function_t* function,
                                           const tfrt_execution_context_t* context,
                                           tfrt_async_value_t* const* arguments,
                                           tfrt_async_value_t** results);

typedef struct tfrt_function_vtable_s {
  tfrt_function_execute_fn_t execute;       // arguments at +0
  tfrt_function_execute_fn_t execute_take;  // arguments at +1, consumed
} tfrt_function_vtable_t;

// Embedded first in every kind of function.
struct tfrt_function_s {
  const tfrt_function_vtable_t* vtable;
  const char* name;                   // "" for a region
  const char* const* argument_types;  // as MLIR prints them
  const char* const* result_types;
  uint32_t argument_count;
  uint32_t result_count;
  tfrt_function_kind_t kind;
  // Identity across hosts: the program it belongs to and its index there.
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

// The same, but consumes the caller's reference to each argument: if that was the only one,
// the kernel that uses the value last may reuse its payload. Thread-safe.
static inline void tfrt_function_execute_take(const tfrt_function_t* function,
                                              const tfrt_execution_context_t* context,
                                              tfrt_async_value_t* const* arguments,
                                              tfrt_async_value_t** results) {
  function->vtable->execute_take(function, context, arguments, results);
}

// The same as tfrt_function_execute() for a caller that is about to wait for the results (see
// tfrt_work_queue_run_here()). In a queue without threads of its own, long computations run at
// once: tasks would have to wait for this thread. Thread-safe.
void tfrt_function_execute_here(const tfrt_function_t* function,
                                const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments, tfrt_async_value_t** results);

// The same as tfrt_function_execute(), but nothing runs on the calling thread: the call is a
// task of the context's work queue, and the results are indirect values until then. When
// memory is out, the results say so and nothing is called. Thread-safe.
void tfrt_function_execute_in_queue(const tfrt_function_t* function,
                                    const tfrt_execution_context_t* context,
                                    tfrt_async_value_t* const* arguments,
                                    tfrt_async_value_t** results);

// The same for a function with arguments, once the first of them is there. If that is an error, it
// is that of all results, and nothing is called. Thread-safe.
void tfrt_function_execute_in_queue_after(const tfrt_function_t* function,
                                          const tfrt_execution_context_t* context,
                                          tfrt_async_value_t* const* arguments,
                                          tfrt_async_value_t** results);

// Keeps |function| alive by a reference to its program, if it has one, and returns it; drops that.
// Thread-safe.
const tfrt_function_t* tfrt_function_retain(const tfrt_function_t* function);
void tfrt_function_release(const tfrt_function_t* function);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_FUNCTION_H_
