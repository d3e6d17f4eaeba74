// SPDX-License-Identifier: Apache-2.0
//
// The built-in function by which a job's client collects what ran when on a host: called
// with no argument, it gives the spans of the job so far, as an image (trace_image.h).
//
//   client                         member
//     JobOpen (frame is sampled) --->  job->trace
//                                      kernels of the job's requests add spans
//     Invoke BUILTIN_TRACE --------->
//     <----------------------- Result  "!tfrt.trace"
//
// A host records only for jobs whose JobOpen says that its trace is sampled, at most
// TFRT_TRACING_LIMIT spans each; what does not fit is counted.
//
// Thread rule: as each function says.
// Failure rule: a trace that can't be given is an error as the call's result.
#ifndef TFRT_DISTRIBUTED_SERVICE_TRACING_H_
#define TFRT_DISTRIBUTED_SERVICE_TRACING_H_

#include "distributed/call/execution.h"

// The most spans of one job on one host; at 112 bytes each they may take 28 MiB.
#define TFRT_TRACING_LIMIT (256u << 10)

// Sets |*out_type| to the type "!tfrt.trace", whose payload is that of a string. Thread-safe.
tfrt_status_t tfrt_tracing_type(tfrt_type_id_t* out_type) TFRT_MUST_USE;

// The client wants this |job|, which it makes, to be traced everywhere. Needs the node's lock.
void tfrt_tracing_request(tfrt_job_t* job);

// |job| was opened by a frame that says |trace| (NULL: nothing): records, if that is sampled.
// Needs the node's lock.
tfrt_status_t tfrt_tracing_accept(tfrt_job_t* job, const tfrt_wire_trace_t* trace) TFRT_MUST_USE;

// The ends of a call between hosts in the traces of both: a moment within the kernel that calls,
// and one at the begin of what it runs. Both have the same name, CALLER.NUMBER.CALLEE, by which who
// draws them ties them together.
#define TFRT_TRACING_FLOW_OUT "flow.out"
#define TFRT_TRACING_FLOW_IN "flow.in"

// Adds one of them, |category|, to the trace of |job|, if it is traced, at the present time and on
// the calling thread. Thread-safe.
void tfrt_tracing_add_flow(const tfrt_job_t* job, const char* category, uint64_t caller,
                           uint64_t number, uint64_t callee, uint64_t request);

// Runs a built-in function whose result is an image of spans, which |write| appends to |out| with
// no lock held, as |execution|. Needs the node's lock.
void tfrt_tracing_answer(tfrt_execution_t* execution,
                         tfrt_status_t (*write)(tfrt_execution_t* execution,
                                                tfrt_string_builder_t* out));

// Runs the built-in function as |execution|. Needs the node's lock.
void tfrt_tracing_start(tfrt_execution_t* execution);

#endif  // TFRT_DISTRIBUTED_SERVICE_TRACING_H_
