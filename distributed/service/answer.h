// SPDX-License-Identifier: Apache-2.0
//
// Built-in functions whose result is made of bytes: this host's state, what lives on it, its spans,
// the state of a detached job, the effect of an administrator's request. A question is a message of
// proto/service.proto (BUILTIN_ASK); versions before FEATURE_ASK or FEATURE_FOLLOW call other
// functions in its place, with a text (plain_form.h).
//
//   Invoke --> answer_start --> decode or read the question
//                           --> inventory, tracing, following, cancel --> parts, the lock open
//                           --> Result of the answer's form
//
//   cancel of a job    the job is closed as by its client, with CANCELLED, everywhere if this host
//                      is its root; what a detached one has left is forgotten
//   cancel of a call   the call is stopped, as by its caller: it starts no kernel any more, and
//                      results that need one are CANCELLED. Those that are known, or that a kernel
//                      gives that runs, stay what they are. The error names the caller's place, if
//                      the question has it, else where the function is written
//   drain              no more jobs; the process ends when those that run are over
//
// A client that may run programs on a host may end jobs and calls of others, too
// (docs/security.md). No step goes through the work queue: a client may ask because the work queue
// is stuck.
//
// Thread rule: as each function says.
// Failure rule: an error, or no memory for the bytes, is the result; INVALID_ARGUMENT names the
// field of the question that is wrong.
#ifndef TFRT_DISTRIBUTED_SERVICE_ANSWER_H_
#define TFRT_DISTRIBUTED_SERVICE_ANSWER_H_

#include "distributed/call/execution.h"
#include "distributed/service/answer_part.h"

// Sets |*out_type| to the type of answers of |form|. Thread-safe.
tfrt_status_t tfrt_answer_type(tfrt_answer_form_t form, tfrt_type_id_t* out_type) TFRT_MUST_USE;

// A value (+1) of |form| with a copy of |bytes|, or an error. Thread-safe.
tfrt_async_value_t* tfrt_answer_create(tfrt_answer_form_t form, tfrt_string_view_t bytes,
                                       tfrt_allocator_t allocator);

// Runs the built-in function |execution->function|, whose one result is an answer. Needs the
// node's lock.
void tfrt_answer_start(tfrt_execution_t* execution);

#endif  // TFRT_DISTRIBUTED_SERVICE_ANSWER_H_
