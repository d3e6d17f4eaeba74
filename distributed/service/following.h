// SPDX-License-Identifier: Apache-2.0
//
// The built-in functions by which any client follows a detached job (detached_job.h), at its root:
// its state and its printed lines, and then its results. No answer waits: the client asks again.
//
//   client                       root
//     FOLLOW "HEX 0" ----------->
//     <--------------------------  detached state=running function=main results=0 from=0 next=2 ...
//                                  0 5
//                                  hello
//     FOLLOW "HEX 2" ----------->  ... state=ended
//     KEPT_RESULT "HEX 0" ------>  the value
//
// A client that has asked once learns of the end, even if the job is forgotten meanwhile.
//
// proto/call.proto describes the answers.
//
// Thread rule: as each function says. Failure rule: INVALID_ARGUMENT, NOT_FOUND and
// FAILED_PRECONDITION are the result of the call.
#ifndef TFRT_DISTRIBUTED_SERVICE_FOLLOWING_H_
#define TFRT_DISTRIBUTED_SERVICE_FOLLOWING_H_

#include "distributed/call/execution.h"
#include "distributed/tuning/tuning.h"

// Writes the answer to FOLLOW. Thread-safe (the lock is not held).
tfrt_status_t tfrt_following_write(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

// Runs KEPT_RESULT as |execution|. Needs the node's lock.
void tfrt_following_start_result(tfrt_execution_t* execution);

#endif  // TFRT_DISTRIBUTED_SERVICE_FOLLOWING_H_
