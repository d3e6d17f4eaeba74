// SPDX-License-Identifier: Apache-2.0
//
// Calls of functions that are strict in all arguments: native and synchronous ones. They
// run when every argument is there, on the thread that brings the last one. Private to
// the executor.
//
//   arguments --all there?--> errors? --none--> body --> results
//        \-- some late: a queued call waits for them, results are indirect values
//
// If several arguments are errors, the last one counts; a cancelled request counts only if none is
// an error, as with kernels.
//
// Thread rule: thread-safe.
// Failure rule: a failure is the results' error.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_STRICT_CALL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_STRICT_CALL_H_

#include "host_runtime/executor/kernel/function.h"

// Entries for the vtable of a native function (native_function.c). Thread-safe.
void tfrt_native_function_execute(const tfrt_function_t* function,
                                  const tfrt_execution_context_t* context,
                                  tfrt_async_value_t* const* arguments,
                                  tfrt_async_value_t** results);
void tfrt_native_function_execute_take(const tfrt_function_t* function,
                                       const tfrt_execution_context_t* context,
                                       tfrt_async_value_t* const* arguments,
                                       tfrt_async_value_t** results);

// The same for a synchronous one (sync_function.c). Thread-safe.
void tfrt_sync_function_execute(const tfrt_function_t* function,
                                const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments, tfrt_async_value_t** results);
void tfrt_sync_function_execute_take(const tfrt_function_t* function,
                                     const tfrt_execution_context_t* context,
                                     tfrt_async_value_t* const* arguments,
                                     tfrt_async_value_t** results);

// Calls |function| by |body|, which gets arguments (+0) that are concrete and available, and
// sets results (+1); at once or when they are. |arguments| are at +0, or, with |take|, at +1
// and consumed; |run_take| is the function's own entry for that. Thread-safe.
void tfrt_strict_call(const tfrt_function_t* function, tfrt_function_execute_fn_t body,
                      tfrt_function_execute_fn_t run_take, const tfrt_execution_context_t* context,
                      tfrt_async_value_t* const* arguments, bool take,
                      tfrt_async_value_t** results);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_STRICT_CALL_H_
