// SPDX-License-Identifier: Apache-2.0
//
// The inside of a router, for its two sources. Private to this room.
//
//   router.c          calls, copies, and printed lines
//   router_message.c  messages by key
//
// Thread rule: called from any thread, with no lock held.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_CALL_ROUTER_IMPL_H_
#define TFRT_DISTRIBUTED_CALL_ROUTER_IMPL_H_

#include "distributed/call/router.h"

// A message that the receiver waits for, or a line, travels unasked up to this size: to ask for it
// takes two more hops and six more frames.
#define TFRT_ROUTER_OWED_INLINE TFRT_WIRE_MAX_INLINE_SIZE

// --- router.c ------------------------------------------------------------------

// The error |status| (consumed) with the place |site|, as a value (+1).
tfrt_async_value_t* tfrt_router_error_take(tfrt_status_t status, const tfrt_status_origin_t* site)
    TFRT_MUST_USE;

// Sets |*out_incarnation| to the member of |job| with |rank|; INVALID_ARGUMENT if there is none.
tfrt_status_t tfrt_router_find_member(tfrt_job_t* job, uint32_t rank, uint64_t* out_incarnation)
    TFRT_MUST_USE;

// --- router_message.c ----------------------------------------------------------

// As the hooks of a router promise (call_router.h).
tfrt_async_value_t* tfrt_router_send(tfrt_call_router_t* router,
                                     const tfrt_routed_message_t* message);
tfrt_async_value_t* tfrt_router_receive(tfrt_call_router_t* router,
                                        const tfrt_routed_message_t* message);

#endif  // TFRT_DISTRIBUTED_CALL_ROUTER_IMPL_H_
