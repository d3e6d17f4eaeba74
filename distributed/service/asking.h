// SPDX-License-Identifier: Apache-2.0
//
// Questions to this host and their answers: BUILTIN_ASK, and the built-in functions in its place
// that versions before FEATURE_ASK call.
//
//   "!tfrt.message" --decode--> question --> status_report, inventory, administration, tracing or
//   text -------------read----> question     recording --> parts
//   parts are the answer to a message; to a text they become lines, or a "!tfrt.trace"
//
// Thread rule: thread-safe (the node's lock is not held).
// Failure rule: see answer.h; INVALID_ARGUMENT names the field of the question that is wrong.
#ifndef TFRT_DISTRIBUTED_SERVICE_ASKING_H_
#define TFRT_DISTRIBUTED_SERVICE_ASKING_H_

#include "distributed/call/execution.h"

// Answers the question that the argument of |execution| is.
tfrt_status_t tfrt_asking_write(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

// Answers the built-in function |execution->function| in the place of a question, with lines; with
// a trace.
tfrt_status_t tfrt_asking_write_plain(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;
tfrt_status_t tfrt_asking_write_plain_trace(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_ASKING_H_
