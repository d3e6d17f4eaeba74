// SPDX-License-Identifier: Apache-2.0
//
// A call of a function that the other hosts of the job don't have: its program goes with it. Single
// ops (host_runtime/eager) are such: a job may run any number of different ones, so they are not
// announced, and nobody keeps them for the job. What lives as long as the job has their names from
// the node's pool of texts.
//
//   caller                                   callee
//     Invoke BUILTIN_RUN(image, arguments) --> program cache, by SHA-256 --> call as any other
//
// Thread rule: see each function.
// Failure rule: what can't be carried is said when the call is made; an image that is no program,
// as the error of the call's results.
#ifndef TFRT_DISTRIBUTED_CALL_CARRIED_CALL_H_
#define TFRT_DISTRIBUTED_CALL_CARRIED_CALL_H_

#include "distributed/call/outgoing_call.h"

// Completes |request|, which is for |call|, whose caller is not known: what it is named by lives as
// long as the node then, its site is |out_site|, and if its program is not the job's the image goes
// with it. INVALID_ARGUMENT for a program without a small image, or another function of it than the
// first, and for retries. Takes the lock.
tfrt_status_t tfrt_carried_call_describe(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                         tfrt_status_origin_t* out_site,
                                         tfrt_outgoing_call_request_t* request) TFRT_MUST_USE;

// The place |site| of what a kernel asks |job| for in |context|, whose texts live as long as that:
// |site|, or |out_site|, where the kernel's program may go before. Takes the lock.
const tfrt_status_origin_t* tfrt_carried_call_keep_site(tfrt_job_t* job,
                                                        const tfrt_execution_context_t* context,
                                                        const tfrt_status_origin_t* site,
                                                        tfrt_status_origin_t* out_site);

// Sets |*out_program| (+0, as long as the lock is held) to what the image of |invoke|, a call of
// BUILTIN_RUN in |job|, is; it may still have to be loaded. With the lock held.
tfrt_status_t tfrt_carried_call_take_program(tfrt_job_t* job, const tfrt_wire_invoke_t* invoke,
                                             tfrt_cached_program_t** out_program) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_CALL_CARRIED_CALL_H_
