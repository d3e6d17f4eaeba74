// SPDX-License-Identifier: Apache-2.0
//
// Reads a root's answer about a detached job (BUILTIN_FOLLOW in proto/call.proto).
//
// Life: parsed; views borrow from the answer; lines are taken off one by one.
//
// Thread rule: thread-compatible.
// Failure rule: INVALID_ARGUMENT for a text that is no such answer.
#ifndef TFRT_TOOLS_COORDINATOR_FOLLOW_ANSWER_H_
#define TFRT_TOOLS_COORDINATOR_FOLLOW_ANSWER_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

typedef struct tfrt_follow_answer_s {
  bool is_starting;
  bool has_ended;
  tfrt_string_view_t function;
  uint32_t result_count;
  uint64_t from;
  uint64_t next;
  bool has_more;
  bool is_loss;
  tfrt_string_view_t lines;  // that are not taken off yet
} tfrt_follow_answer_t;

// Sets |*out_answer| to what |text| says. Thread-compatible.
tfrt_status_t tfrt_follow_answer_parse(tfrt_string_view_t text, tfrt_follow_answer_t* out_answer)
    TFRT_MUST_USE;

// Takes the next line off |answer|. False if there is none. Thread-compatible.
bool tfrt_follow_answer_take_line(tfrt_follow_answer_t* answer, uint32_t* out_rank,
                                  tfrt_string_view_t* out_text);

#endif  // TFRT_TOOLS_COORDINATOR_FOLLOW_ANSWER_H_
