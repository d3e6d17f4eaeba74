// SPDX-License-Identifier: Apache-2.0
//
// The sessions of a node: frames reach the rooms that serve them, and peers come and
// go.
//
//   session --on_frame--> handler of the kind, in its room
//           --on_opened, on_dead, ...--> rules of all rooms
//
// Thread rule: the session calls this with the node's lock held.
// Failure rule: an error of a frame's handler ends the session.
#ifndef TFRT_DISTRIBUTED_HOST_NODE_SESSION_H_
#define TFRT_DISTRIBUTED_HOST_NODE_SESSION_H_

#include "distributed/call/call_hooks.h"
#include "distributed/domain/node_part.h"
#include "distributed/value/object_table.h"
#include "distributed/value/remote_value.h"

// A node, and what the rooms above domain/ have once in it.
typedef struct tfrt_host_s {
  tfrt_node_t node;
  tfrt_object_table_t objects;
  tfrt_value_hooks_t value_hooks;
  tfrt_call_hooks_t call_hooks;
  // By kind of frame; NULL: no part of the node serves it.
  tfrt_status_t (*handlers[TFRT_WIRE_FRAME_KIND_LIMIT])(const tfrt_incoming_frame_t* in);
  // The thread that is in its kernel for longest, for a heartbeat, until that is encoded.
  tfrt_wire_running_kernel_t oldest_kernel;
  // Its texts, where they have to be made to fit: a file's name may be any bytes, and long.
  char oldest_function[TFRT_WIRE_MAX_NAME_SIZE];
  char oldest_name[TFRT_WIRE_MAX_NAME_SIZE];
  char oldest_file[TFRT_WIRE_MAX_PATH_SIZE];
} tfrt_host_t;

// The handler of all sessions of a node that is in a tfrt_host_t.
extern const tfrt_session_handler_vtable_t tfrt_node_session_handler;

#endif  // TFRT_DISTRIBUTED_HOST_NODE_SESSION_H_
