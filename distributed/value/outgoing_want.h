// SPDX-License-Identifier: Apache-2.0
//
// Our open question to the owner of a remote value: one at a time per value, under a number
// that the session gives; and the payload that comes for it on a bulk channel.
//
//   send --Want--> owner   Resolve(available, inline, forward, error) --> closed
//                          Resolve(on_bulk): stays open while the payload comes on a bulk channel
//   channel lost: resume --Want(resumes)--> owner   the same question under a new number
//                 without credit for it: --Unwant, Want--> owner
//   payload here, or nobody waits any more: end --Unwant--> owner
//
// Life: opened by send; found in the peer's table by its number, which resume changes; over by
// end (the answer was final, or we say that it is over). While it is open the value is kept
// alive, is not resolved, and has the peer that was asked.
//
// The bulk channels call the node's handler, by which payloads are received into values. (Sending
// is the business of incoming_want.h.)
//
//   bulk: begin --want open--> the type's codec makes the value, its body is to be filled; of a
//                              type with streams, its sink takes the bytes
//         complete -----------> the value is published, the placeholder stands for it, Unwant;
//                               with a sink, when it has the value
//         interrupted --------> the rest is asked for under a new want
//         aborted ------------> the placeholder is an error that names the owner's host
//         lost ---------------> the session is closed, with all that needs it
//
// Life of the handler: it is embedded in the node and lives until the bulk channels are drained. A
// value that is being filled belongs to its transfer: from begin to complete or aborted.
//
// Thread rule: every function here needs the node's lock. The handler is called with no lock held,
// and takes the node's; buffers are made, checked and freed without it.
// Failure rule: a question that can't be sent makes its value an error, as does a payload that
// can't be received.
#ifndef TFRT_DISTRIBUTED_VALUE_OUTGOING_WANT_H_
#define TFRT_DISTRIBUTED_VALUE_OUTGOING_WANT_H_

#include "distributed/value/remote_value.h"

// Asks the owner for |value|, which has no open question and a peer, at |level|.
void tfrt_outgoing_want_send(tfrt_remote_value_t* value, tfrt_wire_want_level_t level);

// Why a question is over.
typedef enum tfrt_outgoing_want_end_e {
  TFRT_OUTGOING_WANT_ANSWERED,  // for good, by its owner
  // Its payload is not wanted any more, or is here. This host tells the owner, which keeps the
  // payload until it knows: now, or with the next batch.
  TFRT_OUTGOING_WANT_NEEDLESS,
  TFRT_OUTGOING_WANT_NEEDLESS_TOLD_LATER,
} tfrt_outgoing_want_end_t;

// Closes the open question of |value|. The received bytes of a payload are given back.
void tfrt_outgoing_want_end(tfrt_remote_value_t* value, tfrt_outgoing_want_end_t why);

// The functions by which the node receives payloads.
extern const tfrt_bulk_handler_vtable_t tfrt_outgoing_want_bulk_handler;

// Has peers have their tables of wants, and wants get their answers.
extern const tfrt_node_part_t tfrt_outgoing_want_part;

#endif  // TFRT_DISTRIBUTED_VALUE_OUTGOING_WANT_H_
