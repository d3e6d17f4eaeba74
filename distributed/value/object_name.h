// SPDX-License-Identifier: Apache-2.0
//
// The names by which other hosts know values of this host, where more than the table of objects
// (object_table.h) must be asked: a peer gives names back; a name may stand for no object.
//
//   name --> object
//        --> no object --> a result of a failed call (below)       --> its error
//                      --> its namer may still promise it          --> wait for that
//                      --> released, or never promised             --> an error that says so
//
// A *failed call* is a call of a peer that does not run here: this host refused it, or the caller
// gave it up before it was sent (Void). All of its results are the same error. Each has a name as
// any result has, so a third host may ask for it. Such a call takes a few bytes of a message and
// may name thousands of results, so it is one record here, and no object for each of them.
//
//   (namer, number, index) --> no object --> the namer's failed call |number| --> its error
//
// Life of a failed call:
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
// Failure rule: without memory nothing is kept of a failed call.
#ifndef TFRT_DISTRIBUTED_VALUE_OBJECT_NAME_H_
#define TFRT_DISTRIBUTED_VALUE_OBJECT_NAME_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "distributed/tuning/tuning.h"

// The |result_count| results of the call |number| that |peer| has made in |job| are |status| (+0).
void tfrt_object_name_add_failed_call(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                                      uint32_t result_count, tfrt_status_t status);

// The error (+0) of |id|, which names no object of |job|, if it is a result of a failed call; NULL
// if it is not.
tfrt_status_t tfrt_object_name_find_failed(tfrt_job_t* job, tfrt_wire_object_id_t id);

// Judges the name |id|, for which this host has neither object nor failed call. Sets |*out_namer|
// if the namer may still promise it, or returns the error that says why not.
tfrt_status_t tfrt_object_name_judge(tfrt_job_t* job, tfrt_wire_object_id_t id,
                                     tfrt_peer_t** out_namer) TFRT_MUST_USE;

// Has failed calls end with their owners.
extern const tfrt_node_part_t tfrt_object_name_part;

#endif  // TFRT_DISTRIBUTED_VALUE_OBJECT_NAME_H_
