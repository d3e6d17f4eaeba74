// SPDX-License-Identifier: Apache-2.0
//
// Events for the clients of a node: sessions open and die, frames of jobs come.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails; an error goes to the waiters of the job.
#ifndef TFRT_DISTRIBUTED_CLIENT_CLIENT_EVENTS_H_
#define TFRT_DISTRIBUTED_CLIENT_CLIENT_EVENTS_H_

#include "distributed/domain/job.h"

// A JobEnd came from |peer| for |job|.
void tfrt_client_on_job_end(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_job_end_t* end);

// The node is closed.
void tfrt_client_close_all(tfrt_node_t* node, tfrt_status_t reason);

// |session| is open, or dead as |death| and |reason| (+0) say.
void tfrt_client_on_session_opened(tfrt_node_t* node, tfrt_session_t* session);
void tfrt_client_on_session_dead(tfrt_node_t* node, tfrt_session_t* session,
                                 tfrt_session_death_t death, tfrt_status_t reason);

// A JobDetach came from |peer| for |job| (NULL: it is over): if |peer| is the root, it has ended
// the job, and no host answers messages on their way to it.
void tfrt_client_on_detach(const tfrt_peer_t* peer, const tfrt_job_t* job);

// A JobOpened came from |peer| for |job|.
void tfrt_client_on_job_opened(tfrt_peer_t* peer, tfrt_job_t* job,
                               const tfrt_wire_job_opened_t* opened);

#endif  // TFRT_DISTRIBUTED_CLIENT_CLIENT_EVENTS_H_
