// SPDX-License-Identifier: Apache-2.0
//
// The programs of a job by number. A Program frame goes to a peer before the first call of a
// function of that program: it names the program and the place of its bytes. A host that has the
// bytes already doesn't fetch them (program_cache.h).
//
// Thread rule: everything here needs the node's lock.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_CALL_JOB_PROGRAM_H_
#define TFRT_DISTRIBUTED_CALL_JOB_PROGRAM_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "distributed/domain/program_cache.h"

// Sets |*out_handle| to the number by which |peer| knows |program| from us, telling it first
// (a Program frame) if it doesn't. RESOURCE_EXHAUSTED, also for too many programs.
tfrt_status_t tfrt_job_announce_program(tfrt_job_t* job, tfrt_peer_t* peer,
                                        tfrt_cached_program_t* program, uint32_t* out_handle)
    TFRT_MUST_USE;

// Has jobs give back their programs.
extern const tfrt_node_part_t tfrt_job_program_part;

#endif  // TFRT_DISTRIBUTED_CALL_JOB_PROGRAM_H_
