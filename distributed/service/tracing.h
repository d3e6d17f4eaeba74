// SPDX-License-Identifier: Apache-2.0
//
// Spans as parts of an answer: a ClockPart, then SpanParts (proto/service.proto). A client reads
// those of its own job, which it has had recorded from the start, or has any job recorded for a
// while.
//
//   client                         member
//     JobOpen (frame is sampled) --->  the job records spans
//                                      kernels of the job's requests add spans
//     AskTrace --------------------->
//     <----------------------- Result  ClockPart, SpanPart, SpanPart ...
//
// A host records at most TFRT_JOB_TRACE_LIMIT spans of such a job (job/job_life.h); spans beyond
// that are counted.
//
// *Recordings* are of jobs that were not started with tracing (AskRecord):
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
// Versions before FEATURE_ASK send spans as a "!tfrt.trace" (tracing.c).
//
// A kernel of a job that was once recorded costs two readings of the clock for ever.
//
// Thread rule: as each function says.
// Failure rule: see answer.h; NOT_FOUND for a job that is not here.
#ifndef TFRT_DISTRIBUTED_SERVICE_TRACING_H_
#define TFRT_DISTRIBUTED_SERVICE_TRACING_H_

#include "distributed/service/answer_part.h"
#include "distributed/wire/service.h"
#include "host_runtime/base/trace.h"

// The spans of the job, for its client; and those that a recording takes.
extern const tfrt_answerer_t tfrt_trace_answerer;
extern const tfrt_answerer_t tfrt_record_answerer;

// Has jobs that are opened recorded, while all are.
extern const tfrt_node_part_t tfrt_recording_part;

// Adds the spans of |answer|, a trace or (TFRT_ANSWER_MESSAGE) parts, to |trace|, and sets
// |*out_clock_ns| and |*out_dropped|. With an error, spans before the bad one were added.
// Thread-safe.
tfrt_status_t tfrt_tracing_read(tfrt_answer_form_t form, tfrt_string_view_t answer,
                                tfrt_trace_t* trace, int64_t* out_clock_ns, uint64_t* out_dropped)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_TRACING_H_
