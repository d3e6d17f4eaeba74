// SPDX-License-Identifier: Apache-2.0
//
// A range of numbers cut into blocks, a function called for each block in a task of its
// own, and one chain that is there when all of them have ended. Private to this room.
//
//   [start, end) --> block, block, ... --tasks--> f(block start, block end, extras) ...
//                                                   \--> chain when all have ended
//
// Thread rule: frame's thread; the blocks run wherever the work queue runs them.
// Failure rule: the chain is the error of one of the blocks that failed, the first one to
// be noticed.
#ifndef TFRT_KERNELS_CONTROL_FLOW_PARALLEL_H_
#define TFRT_KERNELS_CONTROL_FLOW_PARALLEL_H_

#include "host_runtime/executor/kernel/kernel_frame.h"

// Runs a tfrt.parallel_for.i32 or tfrt.parallel_call.i32: arguments start, end and block
// size (i32), then extras; |frame->functions[0]| takes two i32 and the extras and gives
// nothing or a chain. Frame's thread only.
void tfrt_parallel_run(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_CONTROL_FLOW_PARALLEL_H_
