// SPDX-License-Identifier: Apache-2.0
//
// A value that was lent to this host and is used beyond the call. This host asks the owner to hold
// it, and the call is not done before the owner answers.
//
//   borrower                                owner
//     Retain x   ------------------------->   holders: + borrower
//                <-------------------------   Retained x: held       the call may be done
//     ...
//     Release x  ------------------------->   holders: - borrower
//
// Each Retain is one hold, and each result of an own call is one; a Release gives back one. So two
// handles of one value don't have to know each other.
//
// Life: sent once for a remote value; answered once, or ended by the owner's death or the job's
// close. Meanwhile it keeps the value.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: what can't be held becomes an error, where its payload is not here.
#ifndef TFRT_DISTRIBUTED_VALUE_OUTGOING_RETAIN_H_
#define TFRT_DISTRIBUTED_VALUE_OUTGOING_RETAIN_H_

#include "distributed/domain/job.h"
#include "distributed/value/remote_value.h"

// Has the owner of |value|, which was lent to us, hold it for us. Returns an AsyncValue (+0, lives
// as long as |value|) that is available when it does, or never will; NULL if memory is out.
tfrt_async_value_t* tfrt_outgoing_retain_send(tfrt_remote_value_t* value);

// The name under which |value| was to be held is lost, and |value->peer| was asked for another: the
// wait goes on until the answer comes.
void tfrt_outgoing_retain_postpone(tfrt_remote_value_t* value);

// |value| was lost and is at |value->location| now: what was put off goes on there.
void tfrt_outgoing_retain_again(tfrt_remote_value_t* value);

// |value| was lost, and stays so: nothing is waited for.
void tfrt_outgoing_retain_give_up(tfrt_remote_value_t* value);

// A Retained came from |peer| for |job| (NULL: closed here).
void tfrt_outgoing_retain_on_retained(tfrt_peer_t* peer, tfrt_job_t* job,
                                      const tfrt_wire_retained_t* retained);

// Has questions end with their owners.
void tfrt_outgoing_retain_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_VALUE_OUTGOING_RETAIN_H_
