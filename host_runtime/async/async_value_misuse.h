// SPDX-License-Identifier: Apache-2.0
//
// What a process prints when a caller breaks a rule of async_value.h: the value's type, the
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

// Aborts if one of the |count| values at |borrowed| or of the |result_count| values at |results|,
// for each of which the caller has a reference, has none left, or if a result is a borrowed value
// with one reference, which can't be both. A result may be NULL. Thread-safe.
void tfrt_async_value_require_kept(tfrt_async_value_t* const* borrowed, uint32_t count,
                                   tfrt_async_value_t* const* results, uint32_t result_count);

#endif  // TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_MISUSE_H_
