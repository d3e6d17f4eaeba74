// SPDX-License-Identifier: Apache-2.0
//
// The remote values to which this host has sent askers on from one of its objects. An asker hears
// what is known at that time: first the host of the call that has the value. After that call has
// told, askers hear where the call got the value from. Our own handles keep those values for the
// askers. Each handle must live as long as the object, even if a copy is here by now.
//
// Thread rule: everything here needs the node's lock.
#ifndef TFRT_DISTRIBUTED_VALUE_KEPT_VALUES_H_
#define TFRT_DISTRIBUTED_VALUE_KEPT_VALUES_H_

#include "distributed/threads/action_queue.h"

// A set, empty when all zero; nearly always of one, which needs no memory.
typedef struct tfrt_kept_values_s {
  tfrt_async_value_t* value;          // +1, or NULL
  struct tfrt_kept_values_s* others;  // NULL while |value| is
} tfrt_kept_values_t;

// Adds |value| (+0), which may be there already. False when memory is out.
bool tfrt_kept_values_add(tfrt_kept_values_t* values, tfrt_async_value_t* value,
                          tfrt_allocator_t allocator);

// True if |value| is one of |values|.
bool tfrt_kept_values_has(const tfrt_kept_values_t* values, const tfrt_async_value_t* value);

// Releases all by way of |actions|: |values| is empty then.
void tfrt_kept_values_clear(tfrt_kept_values_t* values, tfrt_action_queue_t* actions,
                            tfrt_allocator_t allocator);

#endif  // TFRT_DISTRIBUTED_VALUE_KEPT_VALUES_H_
