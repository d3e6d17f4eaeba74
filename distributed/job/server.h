// SPDX-License-Identifier: Apache-2.0
//
// A host's service for clients. As a member it takes part in a job (JobOpen, JobClose). As the
// job's root it also executes the functions that the client starts (JobStart), and so is the caller
// of everything below.
//
//   client            root                     members
//     JobOpen  ------> JobOpened
//     JobOpen  ------------------------------> a session with the root, then JobOpened
//     JobStart ------> execution ...calls...
//     <------ JobEnd   retired, all results known
//     JobClose ------> JobClose -------------> cancel all, free all
//
// A host that can't take part says so in its JobOpened; its session with the client goes on.
//
// Life: starts live in their job's list from JobStart to JobEnd.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: what can't be done is answered; an impossible frame is an error (+1).
#ifndef TFRT_DISTRIBUTED_JOB_SERVER_H_
#define TFRT_DISTRIBUTED_JOB_SERVER_H_

#include "distributed/call/execution.h"

// A JobOpen came from |peer| in |frame|, whose handle is the peer's for the job.
tfrt_status_t tfrt_server_on_open(tfrt_peer_t* peer, const tfrt_wire_frame_t* frame,
                                  const tfrt_wire_job_open_t* open, int64_t deadline_ns)
    TFRT_MUST_USE;

// Answers the JobOpen of |job|, unless that was done: it is open here, or never will be
// because of |status| (+0).
void tfrt_server_answer_open(tfrt_job_t* job, tfrt_status_t status);

// There is a session with |peer|: what waited for that as its root is answered.
void tfrt_server_on_session_opened(tfrt_peer_t* peer);

// A JobStart came from |peer|.
tfrt_status_t tfrt_server_on_start(tfrt_peer_t* peer, tfrt_job_t* job,
                                   const tfrt_wire_job_start_t* start, int64_t deadline_ns)
    TFRT_MUST_USE;

// Visits the starts of |job|, whose root we are, that are not over.
typedef void (*tfrt_server_visit_fn_t)(void* self, uint64_t number,
                                       const tfrt_execution_t* execution);
void tfrt_server_visit_starts(const tfrt_job_t* job, tfrt_server_visit_fn_t visit, void* self);

// A JobClose came from |peer|.
void tfrt_server_on_close(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_job_close_t* close);

// Cancels the start |start| (0: all) of |job| because of |reason| (+0).
void tfrt_server_cancel_starts(tfrt_job_t* job, uint64_t start, tfrt_status_t reason);

// Tells all other members of |job|, whose root we are, that it is closed; |reason| (+0) may be OK.
void tfrt_server_close_members(tfrt_job_t* job, tfrt_status_t reason);

#endif  // TFRT_DISTRIBUTED_JOB_SERVER_H_
