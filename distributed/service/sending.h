// SPDX-License-Identifier: Apache-2.0
//
// The built-in function by which a host gives another a value under a key: it puts the value
// into the mailbox of the job there (host_runtime/executor/hosts/mailbox.h), where it meets who
// receives it.
//
//   sender                                 receiver
//     Invoke BUILTIN_SEND(key, value) -----> mailbox <--- tfrt_dist.recv
//     <--------------------------- Result    chain: it waits there, or was received
//     <--------------------------- done      its payload is there, or held for the receiver
//
// The chain says that the sender may write to the value: so the payload of a mutable one of the
// sender's own that did not come with the Invoke is fetched first, whether anybody receives it or
// not. Else the receiver would get what was written later, or half of it. What the sender did not
// have yet either may be such a value; that shows when it is settled. What keeps the payload from
// coming is an error of the value, not of the chain.
//
// Who does not wait for the chain says so in the Invoke: then both go with other messages.
//
// A send whose Invoke can't be made, gets no credit, or is stopped before it is written, is a Void
// that has the key: who receives has the error for the value, and waits no more (delivery/mail.h).
//
// Thread rule: needs the node's lock, but for what says otherwise.
// Failure rule: what can't be put there is an error as the call's result.
#ifndef TFRT_DISTRIBUTED_SERVICE_SENDING_H_
#define TFRT_DISTRIBUTED_SERVICE_SENDING_H_

#include "distributed/call/execution.h"

// Runs the built-in function as |execution|, for host |rank|.
void tfrt_sending_start(tfrt_execution_t* execution, uint32_t rank);

#endif  // TFRT_DISTRIBUTED_SERVICE_SENDING_H_
