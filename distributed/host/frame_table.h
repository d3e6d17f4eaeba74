// SPDX-License-Identifier: Apache-2.0
//
// The table of frame kinds and their handlers. A new kind is a row here and a function in its
// folder.
//
//   session --frame--> decoded, its job found --kind--> the room that it concerns
//
// Thread rule: called with the node's lock held, by a session.
// Failure rule: a frame that the peer must not send is an error, which ends the session.
#ifndef TFRT_DISTRIBUTED_HOST_FRAME_TABLE_H_
#define TFRT_DISTRIBUTED_HOST_FRAME_TABLE_H_

#include "distributed/session/session.h"

// |frame| came in |session|. As on_frame() of session.h.
tfrt_status_t tfrt_frame_table_on_frame(tfrt_session_handler_t* handler, tfrt_session_t* session,
                                        const tfrt_wire_frame_t* frame, int64_t deadline_ns)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_HOST_FRAME_TABLE_H_
