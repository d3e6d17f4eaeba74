// SPDX-License-Identifier: Apache-2.0
//
// Spans as parts of an answer, and the spans of the job that asks: a ClockPart, then SpanParts
// (proto/service.proto).
//
//   client                         member
//     JobOpen (frame is sampled) --->  the job records spans
//                                      kernels of the job's requests add spans
//     AskTrace --------------------->
//     <----------------------- Result  ClockPart, SpanPart, SpanPart ...
//
// A host records only for jobs whose JobOpen says that its trace is sampled, at most
// TFRT_JOB_TRACE_LIMIT spans each (job/job_life.h); spans beyond that are counted.
//
// Thread rule: thread-safe (the node's lock is not held).
// Failure rule: see answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_TRACING_H_
#define TFRT_DISTRIBUTED_SERVICE_TRACING_H_

#include "distributed/call/execution.h"
#include "distributed/wire/service.h"

// Appends the parts for the job of |execution|, if its client asks; else UNIMPLEMENTED.
tfrt_status_t tfrt_tracing_write(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

// Appends the part that says |clock_ns|, and that |dropped| spans had no room.
tfrt_status_t tfrt_tracing_append_clock(int64_t clock_ns, uint64_t dropped,
                                        tfrt_string_builder_t* out) TFRT_MUST_USE;

// Appends the spans of |trace| that have begun at |since_ns| or later.
tfrt_status_t tfrt_tracing_append_spans(tfrt_trace_t* trace, int64_t since_ns,
                                        tfrt_string_builder_t* out) TFRT_MUST_USE;

// Sets |out_span| to what |part| says; longer texts are cut.
void tfrt_tracing_read_span(const tfrt_wire_span_part_t* part, tfrt_trace_span_t* out_span);

// Adds the spans of |answer| to |trace|, and sets |*out_clock_ns| and |*out_dropped| to what its
// ClockPart says. With an error, spans before the bad part were added.
tfrt_status_t tfrt_tracing_read(tfrt_string_view_t answer, tfrt_trace_t* trace,
                                int64_t* out_clock_ns, uint64_t* out_dropped) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_TRACING_H_
