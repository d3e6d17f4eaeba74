// SPDX-License-Identifier: Apache-2.0
//
// A frame that has come, as the function gets it that serves its kind. The lists of wire/ name that
// function in the row of each kind; it stands in the room that the frame concerns, and host/ calls
// it:
//
//   tfrt_status_t tfrt_..._on_...(const tfrt_incoming_frame_t* in) TFRT_MUST_USE;
//
// Thread rule: such a function runs with the node's lock held.
// Failure rule: an error (+1) that it returns ends the session, so it returns one only for what a
// correct peer never sends, or when memory is out.
#ifndef TFRT_DISTRIBUTED_DOMAIN_INCOMING_FRAME_H_
#define TFRT_DISTRIBUTED_DOMAIN_INCOMING_FRAME_H_

#include <stdint.h>

#include "distributed/wire/batch.h"

typedef struct tfrt_job_s tfrt_job_t;
typedef struct tfrt_peer_s tfrt_peer_t;

typedef struct tfrt_incoming_frame_s {
  tfrt_peer_t* peer;               // the sender
  tfrt_job_t* job;                 // NULL: of none, or it is over here: a late frame is no error
  const tfrt_wire_frame_t* frame;  // the header
  const tfrt_wire_body_t* body;    // its texts last until the function returns
  int64_t deadline_ns;
} tfrt_incoming_frame_t;

#endif  // TFRT_DISTRIBUTED_DOMAIN_INCOMING_FRAME_H_
