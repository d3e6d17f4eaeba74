// SPDX-License-Identifier: Apache-2.0
//
// When a request is over on all living hosts, they forget four things about it: its cancel
// (cancelled_requests.h), the turns of kernels that met in it (turn_table.h), the end of such
// meetings, and messages that nobody received (mailbox.h).
//
//   root      its start is over ---EndRequest 7--> every member    if one may remember something
//   member    forgets
//
// If no kernels can have met in the request, the root sends no EndRequest. The members then
// remember nothing of it but messages that nobody received, which go with the job.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_JOB_REQUEST_END_H_
#define TFRT_DISTRIBUTED_JOB_REQUEST_END_H_

#include "distributed/domain/job.h"

// At the root: cancels |request| of |job| because of |reason| (+0), here and on all members.
void tfrt_request_end_tell_cancel(tfrt_job_t* job, uint64_t request, tfrt_status_t reason);

// At the root: |request| of |job|, which may be |is_cancelled|, is over; |can_meet| if its program
// has kernels for which others wait. Forgets it, and has the members do so; if it was not cancelled
// that can wait for company.
void tfrt_request_end_tell(tfrt_job_t* job, uint64_t request, bool is_cancelled, bool can_meet);

// The same on this host alone, as the root has told it. Returns true if there was something beside
// the cancel, which others may remember, too.
bool tfrt_request_end_forget(tfrt_job_t* job, uint64_t request);

// A CancelRequest came from |peer| for |job| (NULL: it is over): the start that its client wants to
// end, or the request that the root has cancelled. An EndRequest came.
void tfrt_request_end_on_cancel(tfrt_peer_t* peer, tfrt_job_t* job,
                                const tfrt_wire_cancel_request_t* cancel);
void tfrt_request_end_on_end(tfrt_peer_t* peer, tfrt_job_t* job,
                             const tfrt_wire_end_request_t* end);

#endif  // TFRT_DISTRIBUTED_JOB_REQUEST_END_H_
