// SPDX-License-Identifier: Apache-2.0
//
// Recordings: any client can make this host record spans for a while, of jobs that were not started
// with tracing (AskRecord in proto/service.proto).
//
//   begin   each such job that is here, or comes in that time, gets a recording: a trace that takes
//           what begins in the given time, then nothing any more
//   end     ends recording now, also for other clients that began it
//   read    what recordings have, also of jobs that have ended meanwhile
//
// Life of a recording:
//  1. Made by a begin, or by the opening of a job while one for all jobs goes on. The job's running
//     calls and later ones record into it.
//  2. Emptied by the next begin after its time, or when it is full; one before that only goes on.
//  3. Dropped, with what it has, by the first read after its time when its job has ended, or when
//     there are too many.
//
// A kernel of a job that was once recorded costs two readings of the clock for ever.
//
// Thread rule: needs the node's lock.
// Failure rule: see answer.h; NOT_FOUND for a job that is not here.
#ifndef TFRT_DISTRIBUTED_SERVICE_RECORDING_H_
#define TFRT_DISTRIBUTED_SERVICE_RECORDING_H_

#include "distributed/call/execution.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/service.h"

// Does what |question| says, and appends the parts of the answer to |out|. Thread-safe (the lock is
// not held).
tfrt_status_t tfrt_recording_write(tfrt_execution_t* execution,
                                   const tfrt_wire_ask_record_t* question,
                                   tfrt_string_builder_t* out) TFRT_MUST_USE;

// Frees what |node| has recorded.
void tfrt_recording_drop_all(tfrt_node_t* node);

// Has jobs that are opened recorded, while all are.
void tfrt_recording_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_SERVICE_RECORDING_H_
