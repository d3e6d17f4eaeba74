// SPDX-License-Identifier: Apache-2.0
//
// The built-in function by which a host gives another a value under a key: it puts the value into
// the mailbox of the job there (host_runtime/executor/hosts/mailbox.h), where its receiver finds
// it.
//
//   sender                                 receiver
//     Invoke BUILTIN_SEND(key, value) -----> mailbox <--- tfrt_dist.recv
//     <--------------------------- Result    chain: it waits there, or was received
//     <--------------------------- done      its payload is there, or held for the receiver
//
// The chain says that the sender may write to the value. So this host first fetches the payload of
// a mutable value of the sender's own, unless it came with the Invoke, whether anybody receives it
// or not. Else the receiver would get later writes, or half of them. A value that the sender did
// not have yet may turn out to be such a value when it is settled. If the payload can't come, the
// value is the error, not the chain.
//
// A sender that does not wait for the chain says so in the Invoke: then Result and done go with
// other messages.
//
// A send whose Invoke can't be made, gets no credit, or is stopped before it is written, is a Void
// that has the key: the receiver gets the error as the value, and stops waiting
// (delivery/sent_values.h).
//
// Thread rule: needs the node's lock, but for what says otherwise.
// Failure rule: if the value can't be put there, the call's result is the error.
#ifndef TFRT_DISTRIBUTED_SERVICE_SENDING_H_
#define TFRT_DISTRIBUTED_SERVICE_SENDING_H_

#include "distributed/call/execution.h"

// Runs the built-in function as |execution|, for host |rank|.
void tfrt_sending_start(tfrt_execution_t* execution, uint32_t rank);

#endif  // TFRT_DISTRIBUTED_SERVICE_SENDING_H_
