// SPDX-License-Identifier: Apache-2.0
//
// Values of others that hosts were told an object of ours is. One is told what is known when it
// asks: where a call on another host has the value, and who asks after that call has told, where
// that has it from. All were sent on to what our own handles hold, each of which must live as long
// as the object does, also when we have a copy by now.
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
