// SPDX-License-Identifier: Apache-2.0
//
// Payloads that a program has sent ahead to other hosts (tfrt_dist.prefetch). The value still
// belongs to its owner. But later calls to that host, from the same run of a function on this host,
// take the copy there instead of the value.
//
//   prefetch h, v  --> copy on h (copying.h), noted here
//   call on h (v)  --> Invoke (copy), which h has
//
// A copy is what the value was when it was made. The caller must not use it for a value that may
// have been written since.
//
// Life: noted with a request, and dropped with it.
//
// Thread rule: thread-safe; nothing here wants the node's lock, or takes it.
// Failure rule: what can't be noted is fetched again.
#ifndef TFRT_DISTRIBUTED_DELIVERY_PREFETCHED_H_
#define TFRT_DISTRIBUTED_DELIVERY_PREFETCHED_H_

#include "host_runtime/executor/request/call_router.h"

// Notes that |value| of |copy| is |there| on that host as soon as |chain| is available (all +0).
// Thread-safe.
void tfrt_prefetched_note(const tfrt_routed_copy_t* copy, tfrt_async_value_t* there,
                          tfrt_async_value_t* chain);

// The copy (+1) that host |rank| gets in the place of |value|, or NULL: there is none. Thread-safe.
tfrt_async_value_t* tfrt_prefetched_find(const tfrt_execution_context_t* context, uint32_t rank,
                                         tfrt_async_value_t* value);

#endif  // TFRT_DISTRIBUTED_DELIVERY_PREFETCHED_H_
