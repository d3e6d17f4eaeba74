// SPDX-License-Identifier: Apache-2.0
//
// Functions of program 0, which every peer has: services of a host that are not functions of a
// program. Those that take and give values are here: print, send, copy, check of a device. Those
// whose result is made of bytes: answer.h; the one that gives results of detached jobs:
// following.h.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_SERVICE_BUILTIN_H_
#define TFRT_DISTRIBUTED_SERVICE_BUILTIN_H_

#include "distributed/call/execution.h"

// Returns true if |invoke| is of a built-in function that this host has in |job| for |peer|,
// with as many arguments and results as that takes and gives.
bool tfrt_builtin_is_here(const tfrt_peer_t* peer, const tfrt_job_t* job,
                          const tfrt_wire_invoke_t* invoke);

// Runs the built-in function |execution->function| of a call of |peer|, which is here.
void tfrt_builtin_start(tfrt_execution_t* execution, const tfrt_peer_t* peer);

#endif  // TFRT_DISTRIBUTED_SERVICE_BUILTIN_H_
