// SPDX-License-Identifier: Apache-2.0
//
// A running tfrt.repeat.i32 or tfrt.while: calls a body again and again with the values
// that the last turn gave (the *carried* values). Private to this room.
//
//   kernel --> turn, turn, turn ... --finished--> results of the kernel
//                |
//                '--a value is late--> indirect results; the waiter goes on with the turns
//
// Turns run in a loop on one thread as long as what decides about the next turn is there,
// so any number of them needs constant memory and stack. A repeat starts up to 32 turns
// before it waits for the first carried value; a while waits for each condition, and after 32
// turns for its carried values too. The request's cancellation is looked at before each turn. So is
// the router of calls to other hosts: while that is crowded, the loop waits. A loop that can only
// carry its errors on ends before its last turn (loop_judge.h).
//
// Thread rule: one thread at a time; frame's thread first, then the threads that resolve values.
// Failure rule: cancelled, or with a condition that is an error, all results are that
// error.
#ifndef TFRT_KERNELS_CONTROL_FLOW_LOOP_H_
#define TFRT_KERNELS_CONTROL_FLOW_LOOP_H_

#include "host_runtime/executor/kernel/kernel_frame.h"

// Runs the body |frame->functions[0]| |count| times on the frame's arguments from the
// second on. Frame's thread only.
void tfrt_loop_repeat(tfrt_kernel_frame_t* frame, int32_t count);

// Runs the body |frame->functions[0]|, whose last result is the next condition, while
// the condition, first argument 0, holds. Frame's thread only.
void tfrt_loop_while(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_CONTROL_FLOW_LOOP_H_
