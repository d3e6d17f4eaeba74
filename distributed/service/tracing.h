// SPDX-License-Identifier: Apache-2.0
//
// The built-in function by which a job's client collects a host's spans. Called with no argument,
// it returns the spans of the job so far, as an image (trace_image.h).
//
//   client                         member
//     JobOpen (frame is sampled) --->  the job records spans
//                                      kernels of the job's requests add spans
//     Invoke BUILTIN_TRACE --------->
//     <----------------------- Result  "!tfrt.trace"
//
// A host records only for jobs whose JobOpen says that its trace is sampled, at most
// TFRT_JOB_TRACE_LIMIT spans each (job/job_trace.h); spans beyond that are counted.
//
// Thread rule: as each function says.
// Failure rule: a trace that can't be given is an error as the call's result.
#ifndef TFRT_DISTRIBUTED_SERVICE_TRACING_H_
#define TFRT_DISTRIBUTED_SERVICE_TRACING_H_

#include "distributed/call/execution.h"

// Sets |*out_type| to the type "!tfrt.trace", whose payload is that of a string. Thread-safe.
tfrt_status_t tfrt_tracing_type(tfrt_type_id_t* out_type) TFRT_MUST_USE;

// Runs a built-in function whose result is an image of spans, which |write| appends to |out| with
// no lock held, as |execution|. Needs the node's lock.
void tfrt_tracing_answer(tfrt_execution_t* execution,
                         tfrt_status_t (*write)(tfrt_execution_t* execution,
                                                tfrt_string_builder_t* out));

// Runs the built-in function as |execution|. Needs the node's lock.
void tfrt_tracing_start(tfrt_execution_t* execution);

#endif  // TFRT_DISTRIBUTED_SERVICE_TRACING_H_
