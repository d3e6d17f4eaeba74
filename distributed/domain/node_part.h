// SPDX-License-Identifier: Apache-2.0
//
// A part of a node: what one file of a room above domain/ adds to the node that its process has. It
// is a constant table at the end of the file, and says
//
//   rules      what the file does at the beginnings and ends of owners (domain.h)
//   handlers   the kinds of frames that the file serves
//
// host/ has the list of all parts, and knows nothing else of most of them. So a table of records, a
// kind of frame or a file that comes to the node changes nothing in the rooms that are there
// already.
//
// Thread rule: the functions of a part run with the node's lock held.
// Failure rule: an error (+1) that a handler returns ends the session with the sender, so it
// returns one only for what a correct peer never sends, or when memory is out.
#ifndef TFRT_DISTRIBUTED_DOMAIN_NODE_PART_H_
#define TFRT_DISTRIBUTED_DOMAIN_NODE_PART_H_

#include "distributed/domain/domain.h"
#include "distributed/wire/batch.h"
#include "host_runtime/base/macros.h"

// A frame that has come.
typedef struct tfrt_incoming_frame_s {
  tfrt_peer_t* peer;               // the sender
  tfrt_job_t* job;                 // NULL: of none, or it is over here: a late frame is no error
  const tfrt_wire_frame_t* frame;  // the header
  const tfrt_wire_body_t* body;    // its texts last until the function returns
  int64_t deadline_ns;
} tfrt_incoming_frame_t;

// Serves frames of one kind. Each kind but those of the session has one handler.
typedef struct tfrt_frame_handler_s {
  tfrt_wire_frame_kind_t kind;
  tfrt_status_t (*serve)(const tfrt_incoming_frame_t* in);
} tfrt_frame_handler_t;

typedef struct tfrt_node_part_s {
  const tfrt_owner_rule_t* rules;
  size_t rule_count;
  const tfrt_frame_handler_t* handlers;
  size_t handler_count;
} tfrt_node_part_t;

#endif  // TFRT_DISTRIBUTED_DOMAIN_NODE_PART_H_
