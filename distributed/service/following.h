// SPDX-License-Identifier: Apache-2.0
//
// The questions by which any client follows a detached job (detached_job.h), at its root: its state
// and its printed lines, and then its results (proto/service.proto). No answer waits: the client
// asks again.
//
//   client                            root
//     ASK AskFollow(job, 0) --------->
//     <------------------------------- FollowPart(running, main, from 0, next 2), LinePart,
//     LinePart ASK AskFollow(job, 2) --------->
//     <------------------------------- FollowPart(ended, 1 result, from 2, next 2)
//     KEPT_RESULT AskKeptResult(job, 0) -->
//     <------------------------------- the value
//
// A client that has asked once learns of the end, even if the job is forgotten meanwhile.
//
// Thread rule: as each function says. Failure rule: INVALID_ARGUMENT, NOT_FOUND and
// FAILED_PRECONDITION are the result of the call.
#ifndef TFRT_DISTRIBUTED_SERVICE_FOLLOWING_H_
#define TFRT_DISTRIBUTED_SERVICE_FOLLOWING_H_

#include "distributed/service/answerer.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/service.h"

extern const tfrt_answerer_t tfrt_follow_answerer;

// Runs KEPT_RESULT as |execution|. Needs the node's lock.
void tfrt_following_start_result(tfrt_execution_t* execution);

// Sets |*out_follow|, whose function is in |arena|, to the FollowPart of |answer|. INVALID_ARGUMENT
// for what is no answer to AskFollow. Thread-safe.
tfrt_status_t tfrt_following_read(tfrt_string_view_t answer, tfrt_arena_t* arena,
                                  tfrt_wire_follow_part_t* out_follow) TFRT_MUST_USE;

// Takes a line that host |rank| has printed. |text| is borrowed.
typedef void (*tfrt_following_line_fn_t)(void* self, uint32_t rank, tfrt_string_view_t text);

// Calls |on_line| for each line of |answer|, its pieces put together. INVALID_ARGUMENT; lines
// before the bad part were taken. Thread-safe.
tfrt_status_t tfrt_following_read_lines(tfrt_string_view_t answer, tfrt_following_line_fn_t on_line,
                                        void* self) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_FOLLOWING_H_
