// SPDX-License-Identifier: Apache-2.0
//
// Waiting with a whole thread: for mains, tests and others outside of work queues. A
// task of a compute queue must not do this; it would take the thread that others need.
//
// Thread rule: thread-safe. Failure rule: none fails; nothing is allocated.
#ifndef TFRT_HOST_RUNTIME_ASYNC_BLOCKING_WAIT_H_
#define TFRT_HOST_RUNTIME_ASYNC_BLOCKING_WAIT_H_

#include <stddef.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

// Returns when all |count| values at |values| are resolved (an error counts). Demands
// their payloads, all of them first. Thread-safe.
void tfrt_blocking_wait(tfrt_async_value_t* const* values, size_t count);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_BLOCKING_WAIT_H_
