// SPDX-License-Identifier: Apache-2.0
//
// Measures how long each thread has been in its current kernel. That tells a stuck host from a dead
// one, which is silent, and from a busy one, whose threads come out of their kernels. The node
// looks with each heartbeat and on each request. A stuck thread is only reported: in the log, to
// the peers and in dumps. Deadlines and cancels end it.
//
//   look    look    look    look
//     [ kernel ................      in it at each look: as old as the first of them
//   [ k ][ k ][ k ][ k ][ k ][ k     in another run of it each time: as young as the last
//
// Life: zeroed storage is one that has never looked. tfrt_progress_tell() returns each thread once
// that is too long in one kernel, and again only after it came out of that kernel.
//
// Thread rule: thread-compatible (the node's lock). Failure rule: with too many threads, only the
// first ones are looked at.
#ifndef TFRT_DISTRIBUTED_THREADS_PROGRESS_H_
#define TFRT_DISTRIBUTED_THREADS_PROGRESS_H_

#include "distributed/tuning/tuning.h"
#include "host_runtime/executor/call/running_kernel.h"

typedef struct tfrt_progress_thread_s {
  tfrt_running_kernel_thread_t in;
  int64_t since_ns;  // of the first look that found it there
  bool is_told;
} tfrt_progress_thread_t;

typedef struct tfrt_progress_s {
  size_t count;
  tfrt_progress_thread_t threads[TFRT_PROGRESS_MAX_THREADS];
} tfrt_progress_t;

// Looks in which kernels the process's threads are at |now_ns|.
void tfrt_progress_look(tfrt_progress_t* progress, int64_t now_ns);

// The same, where the |count| |threads| are in kernels, and no others.
void tfrt_progress_note(tfrt_progress_t* progress, const tfrt_running_kernel_thread_t* threads,
                        size_t count, int64_t now_ns);

// Returns a thread that has been in its kernel since |before_ns| or longer and was not returned
// yet; NULL: none. Valid until the next look.
const tfrt_progress_thread_t* tfrt_progress_tell(tfrt_progress_t* progress, int64_t before_ns);

#endif  // TFRT_DISTRIBUTED_THREADS_PROGRESS_H_
