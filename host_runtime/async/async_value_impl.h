// SPDX-License-Identifier: Apache-2.0
//
// The inside of AsyncValues, for their two sources. Private to them.
//
//   async_value.c     values and their waiters: creation, destruction, resolving
//   indirect_value.c  those that stand for others: targets, and the demands that pass along them
//
// Thread rule: see each function. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_IMPL_H_
#define TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_IMPL_H_

#include "host_runtime/async/async_value.h"

// --- async_value.c -----------------------------------------------------------

// Makes the storage |value| the header of a value with count 1. Thread-compatible.
void tfrt_async_value_initialize(tfrt_async_value_t* value, tfrt_async_value_kind_t kind,
                                 uint8_t flags, tfrt_type_id_t type_id,
                                 tfrt_async_value_state_t state);

// Makes |value| resolved with |state| and runs those who waited. Thread-safe; once, by the thread
// that claimed or produced it.
void tfrt_async_value_publish(tfrt_async_value_t* value, tfrt_async_value_state_t state);

// Marks |value|, whose storage is given back next, as freed, in builds that check for mistakes.
// Thread-compatible.
void tfrt_async_value_mark_freed(tfrt_async_value_t* value);

// --- indirect_value.c --------------------------------------------------------

// Destroys |value|, whose count has reached 0. If it waits for a target, its storage stays until
// that is resolved, or goes, too. Returns (+1) the target that the caller is to release: the one
// that it waited for, or the first one that it kept; or NULL. Thread-safe.
tfrt_async_value_t* tfrt_indirect_value_destroy(tfrt_indirect_value_t* value);

// True if |waiter|, which waits for a value, is that of an indirect without references.
// Thread-safe.
bool tfrt_indirect_value_is_abandoned(const tfrt_task_t* waiter);

#endif  // TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_IMPL_H_
