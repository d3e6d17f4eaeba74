// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether a loop can do anything but carry its errors on. Private to this room.
//
//   GOING ON --some carried values are errors, and by the forecast no turn changes that, or does
//      ^       anything--> PROVING --a turn gives the same errors--> ENDED
//      '-----------------------------other errors------'
//
// The rule: the remaining turns of a loop are left out if these hold.
//  - Each carried value is an error, or is handed on as it came, or is made of constants alone.
//    So the loop goes on for a counter that the body adds to.
//  - In such a turn nothing runs that has an effect: it is skipped because of an error, or pure, or
//    a collective whose group is broken, or a call of a function that has only such kernels.
//  - A whole turn has shown that its errors are those of the turn before.
//  - The condition of a while is made of constants alone: it would hold for ever.
// So the results are those that all turns would give.
//
// Life: initialised; asked before and behind each turn; deinitialised.
//
// Thread rule: thread-compatible.
// Failure rule: none fails; without memory the loop goes on.
#ifndef TFRT_KERNELS_CONTROL_FLOW_LOOP_JUDGE_H_
#define TFRT_KERNELS_CONTROL_FLOW_LOOP_JUDGE_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/executor/program/call_forecast.h"

// Turns between two looks at the carried values.
#define TFRT_LOOP_JUDGE_TURNS 32

typedef struct tfrt_loop_judge_s {
  const tfrt_function_t* body;  // +0
  uint32_t carried_count;
  uint32_t turns;        // since the last look
  uint32_t looks;        // since the last forecast
  uint32_t wait;         // looks between two forecasts; it doubles each time
  bool is_proving;       // the turn at hand shows whether the errors stay
  tfrt_status_t* held;   // [carried_count], +1; the errors before the turn at hand; or NULL
  tfrt_forecast_t* now;  // [result_count of the body]; of the carried values at the last look
  tfrt_forecast_t* end;  // likewise, of what a turn gives
} tfrt_loop_judge_t;

// Makes |judge| that of a loop over |body| (+0), whose first |carried_count| results are the next
// turn's arguments. Thread-compatible.
void tfrt_loop_judge_initialize(tfrt_loop_judge_t* judge, const tfrt_function_t* body,
                                uint32_t carried_count);
void tfrt_loop_judge_deinitialize(tfrt_loop_judge_t* judge);

// Looks at the carried |values|. Thread-compatible.
void tfrt_loop_judge_look(tfrt_loop_judge_t* judge, tfrt_async_value_t* const* values);

// Whether the turn at hand, which gave |values|, has shown that no turn changes them.
// Thread-compatible.
bool tfrt_loop_judge_conclude(tfrt_loop_judge_t* judge, tfrt_async_value_t* const* values);

// A turn over |values| begins: looks at them once in TFRT_LOOP_JUDGE_TURNS. Thread-compatible.
static inline void tfrt_loop_judge_begin_turn(tfrt_loop_judge_t* judge,
                                              tfrt_async_value_t* const* values) {
  if (++judge->turns >= TFRT_LOOP_JUDGE_TURNS) tfrt_loop_judge_look(judge, values);
}

// It has given |values|: true if the loop is to end with them. Thread-compatible.
static inline bool tfrt_loop_judge_end_turn(tfrt_loop_judge_t* judge,
                                            tfrt_async_value_t* const* values) {
  return judge->is_proving && tfrt_loop_judge_conclude(judge, values);
}

#endif  // TFRT_KERNELS_CONTROL_FLOW_LOOP_JUDGE_H_
