// SPDX-License-Identifier: Apache-2.0
//
// A call of a peer that does not run here: this host refused it, or the caller gave it up before it
// was sent (Void). All of its results are the same error. Each has a name as any result has, so a
// third host may ask for it. Such a call takes a few bytes of a message and may name thousands of
// results, so it is one record here, and no object (object_table.h) for each of them.
//
//   (namer, number, index) --> no object --> the namer's failed call |number| --> its error
//
// Life:
//  1. Added when the call is processed. A job keeps at most TFRT_FAILED_CALL_MAX_KEPT of them, and
//     no more than it may have values (job_budget.h). A host that asks for a result of another one
//     gets an error that says so.
//  2. Freed when its caller has given back as many names as it has results; when the job is closed;
//     and when the caller is lost, to the job or at all.
//
// A result that a borrower asks to hold becomes an object with the error, because the borrower may
// have sent others here by now. If there is no room for an object, or if the caller asks, for which
// the record stands, the error answers the Retain.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: without memory nothing is kept of the call.
#ifndef TFRT_DISTRIBUTED_VALUE_FAILED_CALL_H_
#define TFRT_DISTRIBUTED_VALUE_FAILED_CALL_H_

#include "distributed/domain/job.h"
#include "distributed/tuning/tuning.h"

// The |result_count| results of the call |number| that |peer| has made in |job| are |status| (+0).
void tfrt_failed_call_add(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                          uint32_t result_count, tfrt_status_t status);

// The error (+0) of |id|, which names no object of |job|, if it is a result of such a call; NULL if
// it is not.
tfrt_status_t tfrt_failed_call_find(tfrt_job_t* job, tfrt_wire_object_id_t id);

// |peer| gives back |result_count| results of the call |number| that it has made in |job|. False if
// that is no failed call.
bool tfrt_failed_call_release(tfrt_peer_t* peer, const tfrt_job_t* job, uint64_t number,
                              uint32_t result_count);

// Has calls end with their owners.
void tfrt_failed_call_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_VALUE_FAILED_CALL_H_
