// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP as events of a loop, however many threads the process has. SIGHUP is
// none of them in a process that was started with it ignored, as by nohup.
//
//   kernel --> pending for the process (blocked in each thread) --> descriptor --> loop --> on_stop
//
// They are blocked and read, not caught: a handler would run in any thread that does not block
// them, such as those that gRPC makes, and between two instructions of it.
//
// Life:
//  1. Initialised before the process has other threads: these inherit that they are blocked.
//  2. on_stop is called, in the loop, once for each that comes; several at once may count as one.
//     For a while a handler may take them instead (tfrt_stop_signals_lend()).
//  3. Released to a handler (tfrt_stop_signals_release()), or closed, and the loop run once more
//     before its storage goes. Closed, they stay blocked: who ends is not interrupted.
//
// Thread rule: the loop's thread only.
// Failure rule: only initialize fails.
#ifndef TFRT_TOOLS_PROCESS_STOP_SIGNALS_H_
#define TFRT_TOOLS_PROCESS_STOP_SIGNALS_H_

#include <uv.h>

#include "host_runtime/base/macros.h"

typedef void (*tfrt_stop_signals_fn_t)(void* self, int number);

typedef struct tfrt_stop_signals_s {
  int descriptor;
  uv_poll_t poll;
  tfrt_stop_signals_fn_t on_stop;
  void* self;
} tfrt_stop_signals_t;

// Calls |on_stop| with |self| for signals from now on. Returns 0, or an error of libuv (negative):
// the system is out of something. Main thread only, before there are others.
int tfrt_stop_signals_initialize(tfrt_stop_signals_t* signals, uv_loop_t* loop,
                                 tfrt_stop_signals_fn_t on_stop, void* self) TFRT_MUST_USE;

// Lets |handler| take what comes, and what has come since the last turn, in the calling thread,
// until they are taken back: for a stretch in which this thread can't turn the loop. Main thread
// only, after initialize.
void tfrt_stop_signals_lend(void (*handler)(int number));

// Makes what comes from now on an event of the loop again. Main thread only, after lend.
void tfrt_stop_signals_take_back(void);

// Drops what has come, and lets |handler| take what comes from now on, in the calling thread.
// Again: only the handler changes. Main thread only.
void tfrt_stop_signals_release(tfrt_stop_signals_t* signals, void (*handler)(int number));

// Begins to close; the loop does the rest. Main thread only.
void tfrt_stop_signals_close(tfrt_stop_signals_t* signals);

#endif  // TFRT_TOOLS_PROCESS_STOP_SIGNALS_H_
