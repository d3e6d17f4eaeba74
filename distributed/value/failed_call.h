// SPDX-License-Identifier: Apache-2.0
//
// A call of a peer's that does not run here: it was refused, or given up before it was sent (Void).
// Each of its results is the one error, and has that name as any result has: a third host may ask
// for it. Such a call takes a few bytes of a message and may name thousands of results, so it is
// one record here, and no object (object_table.h) for each of them.
//
//   (namer, number, index) --> no object --> the namer's failed call |number| --> its error
//
// Life:
//  1. Added when the call is processed. Of one job only so many are kept, as many as it may have
//     values at most (job_budget.h): who asks for a result of another one is told that.
//  2. Freed when its caller has given back as many names as it has results; when the job is closed;
//     and when the caller is lost, to the job or at all.
//
// What a borrower asks to hold becomes an object for it, which has the error: it may have told
// others by now that something is elsewhere, namely here. Without room for that, or if the caller
// asks, which has the record, a Retain is answered by the error.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: without memory nothing is kept of the call.
#ifndef TFRT_DISTRIBUTED_VALUE_FAILED_CALL_H_
#define TFRT_DISTRIBUTED_VALUE_FAILED_CALL_H_

#include "distributed/domain/job.h"

// The most of one job that are kept: more than a job has use for, in a few MiB.
#define TFRT_FAILED_CALL_MAX_KEPT 65536u

// The |result_count| results of the call |number| that |peer| has made in |job| are |status| (+0).
void tfrt_failed_call_add(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                          uint32_t result_count, tfrt_status_t status);

// What |id|, which stands for no object of |job|, is (+0), if it is a result of such a call; NULL
// if it is not.
tfrt_status_t tfrt_failed_call_find(tfrt_job_t* job, tfrt_wire_object_id_t id);

// |peer| gives back so many results of the call |number| that it has made in |job|. False if it is
// no failed one.
bool tfrt_failed_call_release(tfrt_peer_t* peer, const tfrt_job_t* job, uint64_t number,
                              uint32_t result_count);

// Has calls end with their owners.
void tfrt_failed_call_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_VALUE_FAILED_CALL_H_
