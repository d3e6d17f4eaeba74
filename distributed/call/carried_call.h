// SPDX-License-Identifier: Apache-2.0
//
// A call of a function that the other hosts of the job don't have: its program goes with it. Single
// ops (host_runtime/eager) are such: a job may run any number of different ones, so they are not
// announced, and nobody keeps them for the job. Their names and places are kept in the node's pool
// of texts (text_pool.h), because records that live as long as the job use them.
//
//   caller                                   callee
//     Invoke BUILTIN_RUN(image, arguments) --> program cache, by SHA-256 --> call as any other
//
// Thread rule: see each function.
// Failure rule: a call that can't be carried is refused when it is made; an image that is no
// program makes the call's results errors.
#ifndef TFRT_DISTRIBUTED_CALL_CARRIED_CALL_H_
#define TFRT_DISTRIBUTED_CALL_CARRIED_CALL_H_

#include "distributed/call/outgoing_call.h"

// Completes |request| for |call|, whose calling kernel is not known. The names in |request| then
// live as long as the node, and its site is |out_site|. If the program is not one of the job's, its
// image goes with the request. INVALID_ARGUMENT for a program without a small image, for another
// function of it than the first, and for retries. With the lock held.
tfrt_status_t tfrt_carried_call_describe(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                         tfrt_status_origin_t* out_site,
                                         tfrt_outgoing_call_request_t* request) TFRT_MUST_USE;

// The place |site| at which a kernel in |context| asks |job| for something, with texts that live as
// long as |job|: |site| itself, or |out_site| if the kernel's program may be freed earlier. Takes
// the lock.
const tfrt_status_origin_t* tfrt_carried_call_keep_site(tfrt_job_t* job,
                                                        const tfrt_execution_context_t* context,
                                                        const tfrt_status_origin_t* site,
                                                        tfrt_status_origin_t* out_site);

// Sets |*out_program| (+0, as long as the lock is held) to the program whose image |invoke|, a call
// of BUILTIN_RUN in |job|, brings; it may still have to be loaded. With the lock held.
tfrt_status_t tfrt_carried_call_take_program(tfrt_job_t* job, const tfrt_wire_invoke_t* invoke,
                                             tfrt_cached_program_t** out_program) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_CALL_CARRIED_CALL_H_
