// SPDX-License-Identifier: Apache-2.0
//
// What a node tells its clients. Private to this room.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails; what comes too late is ignored.
#ifndef TFRT_DISTRIBUTED_CLIENT_IMPL_H_
#define TFRT_DISTRIBUTED_CLIENT_IMPL_H_

#include "distributed/client.h"
#include "distributed/node_impl.h"

// |session| is open, or dead because of |reason| (+0).
void tfrt_client_on_session_opened(tfrt_node_t* node, tfrt_session_t* session);
void tfrt_client_on_session_dead(tfrt_node_t* node, tfrt_session_t* session, tfrt_status_t reason);

// A JobOpened or a JobEnd came from |peer| for |job|.
void tfrt_client_on_job_opened(tfrt_peer_t* peer, tfrt_job_t* job,
                               const tfrt_wire_job_opened_t* opened);
void tfrt_client_on_job_end(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_job_end_t* end);

// The node is closed.
void tfrt_client_close_all(tfrt_node_t* node, tfrt_status_t reason);

#endif  // TFRT_DISTRIBUTED_CLIENT_IMPL_H_
