// SPDX-License-Identifier: Apache-2.0
//
// The Invoke, the message that makes a call: its arguments, as bytes or lent; the hosts that the
// callee pushes results to; and whether its Results may wait.
//
// Thread rule: everything here needs the node's lock, but what says otherwise.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_CALL_OUTGOING_INVOKE_H_
#define TFRT_DISTRIBUTED_CALL_OUTGOING_INVOKE_H_

#include "distributed/call/execution.h"
#include "distributed/call/outgoing_call.h"

// The arguments of one Invoke, while they are packed.
typedef struct tfrt_outgoing_arguments_s {
  const tfrt_outgoing_call_request_t* request;
  tfrt_arena_t* arena;  // the node's
  tfrt_wire_item_t* items;
  size_t inline_room;
  bool chains_are_here;  // so that a mutable value is what the program means
} tfrt_outgoing_arguments_t;

// Fills |arguments->items| with the arguments of |call|; those that are lent are so from now on.
// RESOURCE_EXHAUSTED.
tfrt_status_t tfrt_outgoing_arguments_pack(tfrt_outgoing_call_t* call,
                                           tfrt_outgoing_arguments_t* arguments) TFRT_MUST_USE;

// Returns true if the entry |index| of |types| (NULL: unknown) is the chain; if what has that type
// may be written after it is available. Thread-safe.
bool tfrt_outgoing_arguments_is_chain(const char* const* types, uint32_t index);
bool tfrt_outgoing_arguments_is_mutable(const char* const* types, uint32_t index);

// Sends the Invoke of |call|, which has a number, results, and |arguments|, to the callee, which
// knows the program as |program|.
tfrt_status_t tfrt_outgoing_invoke_send(tfrt_outgoing_call_t* call,
                                        const tfrt_outgoing_call_request_t* request,
                                        const tfrt_outgoing_arguments_t* arguments,
                                        uint32_t program) TFRT_MUST_USE;

// Nothing else is under way: hurries the calls that are left. True if there is none, and the caller
// does what |over| would.
bool tfrt_outgoing_unawaited_end(tfrt_unawaited_t* unawaited) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_CALL_OUTGOING_INVOKE_H_
