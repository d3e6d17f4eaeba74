// SPDX-License-Identifier: Apache-2.0
//
// How a worker's clock differs from ours, from questions that it answered with its time: the
// quickest answer counts, which is wrong by at most half of the time that it took. An answer that
// shows a time between question and answer is taken for the same clock.
//
//   we      asked ----------------- answered
//   it               clock
//           offset = (asked + answered) / 2 - clock, wrong by (answered - asked) / 2 at most
//
// Thread rule: thread-compatible. Failure rule: none fails.
#ifndef TFRT_TOOLS_COORDINATOR_CLOCK_COMPARISON_H_
#define TFRT_TOOLS_COORDINATOR_CLOCK_COMPARISON_H_

#include <stdint.h>

// This many questions are enough.
#define TFRT_CLOCK_COMPARISON_QUESTIONS 8

// Zeroed before the first answer.
typedef struct tfrt_clock_comparison_s {
  int64_t offset_ns;  // added to its times gives ours
  int64_t error_ns;   // by which that is wrong at most
  uint32_t answers;
} tfrt_clock_comparison_t;

// Takes one answer: its time |clock_ns|, to what we asked at |asked_ns| and heard at
// |answered_ns| by our clock. Thread-compatible.
void tfrt_clock_comparison_note(tfrt_clock_comparison_t* comparison, int64_t asked_ns,
                                int64_t answered_ns, int64_t clock_ns);

#endif  // TFRT_TOOLS_COORDINATOR_CLOCK_COMPARISON_H_
