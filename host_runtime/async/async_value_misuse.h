// SPDX-License-Identifier: Apache-2.0
//
// The message of a process whose caller broke a rule of async_value.h: the value's type, the
// mistake, the kernel that the thread runs, and the rule.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_MISUSE_H_
#define TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_MISUSE_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/async/async_value.h"

// Writes up to |size| bytes of text, with its NUL, that says what the calling thread runs, as
// "kernel 'tfrt.add.i32' at a.mlir:3:8", to |buffer|; "" if it runs nothing.
typedef void (*tfrt_async_value_place_fn_t)(char* buffer, size_t size);

// Makes |describe| what knows where a thread is; the room that runs kernels calls it. Thread-safe.
void tfrt_async_value_misuse_set_place(tfrt_async_value_place_fn_t describe);

// The caller has a reference to each of the |count| values at |borrowed| and the |result_count|
// values at |results|, which may be NULL. Aborts if a value has none left, or if a result is a
// borrowed value with one reference, which can't be both. Thread-safe.
void tfrt_async_value_require_kept(tfrt_async_value_t* const* borrowed, uint32_t count,
                                   tfrt_async_value_t* const* results, uint32_t result_count);

#endif  // TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_MISUSE_H_
