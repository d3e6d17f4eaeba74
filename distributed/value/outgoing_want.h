// SPDX-License-Identifier: Apache-2.0
//
// Our open question to the owner of a remote value: one at a time per value, under a number
// that the session gives.
//
//   send --Want--> owner   Resolve(available, inline, forward, error) --> closed
//                          Resolve(on_bulk): stays open while the payload comes on a lane
//   lane lost:  resume --Want(resumes)--> owner   the same question under a new number
//               without credit for it: --Unwant, Want--> owner
//   payload here, or nobody waits any more:  end --Unwant--> owner
//
// Life: opened by send; found in the peer's table by its number, which resume changes; over by
// close (the answer was final) or end (we say that it is over). While it is open the value is kept
// alive, is not resolved, and has the peer that was asked.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: a question that can't be sent makes its value an error.
#ifndef TFRT_DISTRIBUTED_VALUE_OUTGOING_WANT_H_
#define TFRT_DISTRIBUTED_VALUE_OUTGOING_WANT_H_

#include "distributed/value/remote_value.h"

// The value (+0) for which |want| is open at |peer|, or NULL.
tfrt_remote_value_t* tfrt_outgoing_want_find(tfrt_peer_t* peer, uint64_t want);

// Asks the owner for |value|, which has no open question and a peer, at |level|.
void tfrt_outgoing_want_send(tfrt_remote_value_t* value, tfrt_wire_want_level_t level);

// The lane that carried the payload of |value| is lost; |offset| bytes of the payload are here.
// Asks for the rest under a new number. Asks for all of it if the received bytes are gone, or if
// there is no credit to ask with: then they are given back.
void tfrt_outgoing_want_resume(tfrt_remote_value_t* value, uint64_t offset);

// The open question of |value| is answered for good. The received bytes of a payload are given
// back.
void tfrt_outgoing_want_close(tfrt_remote_value_t* value);

// The same, and tells the owner so at once: the payload is not wanted any more.
void tfrt_outgoing_want_end(tfrt_remote_value_t* value);

// The same: the payload is here. The owner keeps it until it knows; if that is not much, the news
// goes with the next batch, which mostly has what came of the payload.
void tfrt_outgoing_want_complete(tfrt_remote_value_t* value);

// Has peers have their tables of wants.
void tfrt_outgoing_want_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_VALUE_OUTGOING_WANT_H_
