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

#include "distributed/service/answer_part.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/service.h"

extern const tfrt_answerer_t tfrt_follow_answerer;
extern const tfrt_answerer_t tfrt_kept_result_answerer;

// Takes a line that host |rank| has printed. |text| is borrowed.
typedef void (*tfrt_following_line_fn_t)(void* self, uint32_t rank, tfrt_string_view_t text);

// Takes an answer to AskFollow.
typedef struct tfrt_following_reader_s {
  void* self;
  // Called first, once, unless the answer has no state. Its texts are borrowed.
  void (*on_state)(void* self, const tfrt_wire_follow_part_t* follow);
  tfrt_following_line_fn_t on_line;  // for each line, its pieces put together
} tfrt_following_reader_t;

// Gives |reader| what |answer| says: parts (TFRT_ANSWER_MESSAGE), or the text of a version before
// FEATURE_FOLLOW. INVALID_ARGUMENT for something else; lines before the bad part were taken.
// Thread-safe.
tfrt_status_t tfrt_following_read(tfrt_answer_form_t form, tfrt_string_view_t answer,
                                  const tfrt_following_reader_t* reader) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_FOLLOWING_H_
