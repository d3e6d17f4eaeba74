// SPDX-License-Identifier: Apache-2.0
//
// Binds a job to a session: by the handle with which each side names the job in its frames, and by
// the proof that the client let that side into the job.
//
//   A                                              B
//     JobAttach(handle 7, job, proof)  ---------->   proof good: 7 is that job, from A
//     frames with handle 7  --------------------->
//     <----------  JobAttach(handle 4, job, proof)   B's own handle, in the other direction
//     JobDetach(7, why)  ------------------------>   7 means nothing any more
//
//   proof = HMAC-SHA-256(the job's key, A's incarnation | B's incarnation | session | job id)
//
// A proof is good for one session only, so that none can be repeated in another. The number of a
// session is final only when it is OPEN (session.h). Frames of a job may be appended before. Their
// JobAttach waits with them as a draft, and gets its proof when the session opens.
//
// Life of a handle, in one direction:
//  1. Given by JobAttach, or by a client's JobOpen, before the first frame that has it.
//  2. Stands for the job; for a job that is over here, or unknown, its frames are late and
//     dropped. A peer that gives such a handle gets a JobGone. At the end of the job, a peer that
//     gave a handle and got none from us also gets a JobGone.
//  3. Ends with JobDetach, or with the session.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: a frame that the peer must not send is an error, which ends the session.
#ifndef TFRT_DISTRIBUTED_DOMAIN_JOB_ATTACHMENT_H_
#define TFRT_DISTRIBUTED_DOMAIN_JOB_ATTACHMENT_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "distributed/tuning/tuning.h"

// Frees the handles of |peer| for jobs that are over here.
void tfrt_job_attachment_forget_gone(tfrt_peer_t* peer);

// Sends JobAttach to |peer|, which has a session, unless our handle of |job| is bound there.
// FAILED_PRECONDITION for a job that is over, RESOURCE_EXHAUSTED.
tfrt_status_t tfrt_job_attachment_send(tfrt_job_t* job, tfrt_peer_t* peer) TFRT_MUST_USE;

// Tells |peer|, which names the job |handle|, that this host can't open the job |open| because of
// |reason| (+0): JobAttach, JobOpened with the error, JobDetach. The session goes on. An error if
// |handle| is bound already, or memory is out.
tfrt_status_t tfrt_job_attachment_refuse(tfrt_peer_t* peer, uint32_t handle,
                                         const tfrt_wire_job_open_t* open, tfrt_status_t reason)
    TFRT_MUST_USE;

// Binds |handle|, as |peer| names it, to |job|; NULL: a job that is closed here. Errors as
// above, and RESOURCE_EXHAUSTED for too many of those.
tfrt_status_t tfrt_job_attachment_bind(tfrt_job_t* job, tfrt_peer_t* peer, uint32_t handle)
    TFRT_MUST_USE;

// Sets |*out_job| (+0) to the job that |peer| calls |handle|, NULL if that is over here. An
// error says that the handle was never bound.
tfrt_status_t tfrt_job_attachment_find(tfrt_peer_t* peer, uint32_t handle, tfrt_job_t** out_job)
    TFRT_MUST_USE;

// |peer| retires its handle |handle|, as a JobDetach says: what it stood for (+0), or NULL if that
// is over here.
tfrt_peer_job_t* tfrt_job_attachment_retire(tfrt_peer_t* peer, uint32_t handle);

// Has jobs attached that a peer attaches.
extern const tfrt_node_part_t tfrt_job_attachment_part;

#endif  // TFRT_DISTRIBUTED_DOMAIN_JOB_ATTACHMENT_H_
