// SPDX-License-Identifier: Apache-2.0
//
// For how long threads have been in the kernels that they are in: what tells a host that is stuck
// from one that is dead (which is silent) and from one that has much to do (whose threads come out
// of their kernels). It is looked at with each heartbeat and whenever somebody asks; being stuck is
// reported, here, to the peers and in dumps, and nothing else: deadlines and cancels end it.
//
//   look    look    look    look
//     [ kernel ................      in it at each look: as old as the first of them
//   [ k ][ k ][ k ][ k ][ k ][ k     in another run of it each time: as young as the last
//
// Life: zeroed storage is one that has never looked. Told once of each thread that is too long in
// one kernel; one that comes out of it is another one after that.
//
// Thread rule: thread-compatible (the node's lock). Failure rule: none fails; of many threads the
// first are looked at.
#ifndef TFRT_DISTRIBUTED_THREADS_PROGRESS_H_
#define TFRT_DISTRIBUTED_THREADS_PROGRESS_H_

#include "host_runtime/executor/call/running_kernel.h"

// More threads in a kernel are not looked at.
#define TFRT_PROGRESS_MAX_THREADS 256

typedef struct tfrt_progress_thread_s {
  tfrt_running_kernel_thread_t in;
  int64_t since_ns;  // of the first look that found it there
  bool is_told;
} tfrt_progress_thread_t;

typedef struct tfrt_progress_s {
  size_t count;
  tfrt_progress_thread_t threads[TFRT_PROGRESS_MAX_THREADS];
} tfrt_progress_t;

// Notes that at |now_ns| the |count| |threads| are in kernels, and no others.
void tfrt_progress_look(tfrt_progress_t* progress, const tfrt_running_kernel_thread_t* threads,
                        size_t count, int64_t now_ns);

// One that is in its kernel since |before_ns| or longer and was not told yet, as it is now; NULL:
// none. Good until the next look.
const tfrt_progress_thread_t* tfrt_progress_tell(tfrt_progress_t* progress, int64_t before_ns);

#endif  // TFRT_DISTRIBUTED_THREADS_PROGRESS_H_
