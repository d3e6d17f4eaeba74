// SPDX-License-Identifier: Apache-2.0
//
// A chain that tells when a value is settled, wherever its payload is: for code that has to wait
// for a value without moving it. Or one that tells when the payload is here, which moves it.
//
// Life: made; the chain is available when the value is settled, or here, or the value's error.
//
// Thread rule: thread-safe. Failure rule: without memory the chain is that error.
#ifndef TFRT_HOST_RUNTIME_ASYNC_SETTLED_CHAIN_H_
#define TFRT_HOST_RUNTIME_ASYNC_SETTLED_CHAIN_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/allocator.h"

// Returns such a chain (+1) of |value| (+0). Thread-safe.
tfrt_async_value_t* tfrt_settled_chain_create(tfrt_async_value_t* value,
                                              tfrt_allocator_t allocator);

// The same, but |value| is demanded, and the chain is available when its payload is here; what
// keeps that from coming is the chain's error, too. Thread-safe.
tfrt_async_value_t* tfrt_settled_chain_create_here(tfrt_async_value_t* value,
                                                   tfrt_allocator_t allocator);

#endif  // TFRT_HOST_RUNTIME_ASYNC_SETTLED_CHAIN_H_
