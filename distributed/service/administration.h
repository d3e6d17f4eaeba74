// SPDX-License-Identifier: Apache-2.0
//
// The built-in functions by which a client ends things that are not its own: another client's job,
// one call of it, or the host's service. A client that may run programs on a host may use them, too
// (docs/security.md).
//
//   cancel of a job    the job is closed as by its client, with CANCELLED, everywhere if this host
//                      is its root; what a detached one has left is forgotten
//   cancel of a call   the call is stopped, as by its caller: it starts no kernel any more, and
//                      results that need one are CANCELLED. Those that are known, or that a kernel
//                      gives that runs, stay what they are. The error names the caller's place, if
//                      the question has it, else where the function is written
//   drain              no more jobs; the process ends when those that run are over
//
// Thread rule: each takes the node's lock. Failure rule: see answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_ADMINISTRATION_H_
#define TFRT_DISTRIBUTED_SERVICE_ADMINISTRATION_H_

#include "distributed/call/execution.h"
#include "distributed/wire/service.h"

// Ends |target|, and appends a DonePart to |out|; NOT_FOUND. Thread-safe (the lock is not held).
tfrt_status_t tfrt_administration_cancel(tfrt_execution_t* execution,
                                         const tfrt_wire_ask_cancel_t* target,
                                         tfrt_string_builder_t* out) TFRT_MUST_USE;

// Has the process drain; |out| gets the number of jobs that go on, as a text. Thread-safe (the lock
// is not held).
tfrt_status_t tfrt_administration_drain(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_ADMINISTRATION_H_
