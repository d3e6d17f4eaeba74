// SPDX-License-Identifier: Apache-2.0
//
// Turns events of the driver into AsyncValues: a thread asks for all that are awaited, when the
// poll set (cuda_poll_set.h) says that it is time.
//
//   await --> incoming --> poll set --over--> value, and what waits for it
//                            |  ^
//                            +--+ not yet: sleep
//
// To wake another thread takes as long as many a kernel. So the thread that finds something over
// runs its task itself, and with it what waits for the value. Should that take long, a second
// thread goes on asking; when both have something else to do, a thread of the work queue does it,
// and so it is where tasks may only run on the queue's own threads.
//
// The system lets a thread oversleep by 50 us unless the thread asks for less (its timer slack):
// these ask. With nothing to ask for they sleep until there is.
//
// Life:
//  1. Initialised in the platform's storage; no thread is started.
//  2. Polls are added, which the first time starts the threads.
//  3. Deinitialised, when nothing is pending: the threads are joined.
//
// Thread rule: thread-safe after initialisation.
// Failure rule: adding fails only if the threads can't be started.
#ifndef TFRT_DEVICES_CUDA_CUDA_POLLER_H_
#define TFRT_DEVICES_CUDA_CUDA_POLLER_H_

#include "devices/cuda/cuda_poll_set.h"
#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

#define TFRT_CUDA_POLLER_THREAD_COUNT 2

typedef struct tfrt_cuda_poller_s {
  tfrt_work_queue_t* work_queue;  // +0
  tfrt_cuda_poll_set_t set;       // of the thread that asks
  tfrt_mutex_t mutex;             // guards all below
  tfrt_condition_t condition;     // for the thread that asks
  tfrt_condition_t turn;          // for those that could
  tfrt_list_link_t incoming;
  bool is_asking;    // some thread is
  int free_count;    // of threads that have nothing to do
  int64_t wakes_ns;  // when the thread that asks ends its sleep; 0: it is awake
  bool is_stopping;
  int thread_count;  // that were started
  tfrt_thread_t threads[TFRT_CUDA_POLLER_THREAD_COUNT];
} tfrt_cuda_poller_t;

// Makes |poller| one that queues to |work_queue| (alive as long). Thread-compatible.
void tfrt_cuda_poller_initialize(tfrt_cuda_poller_t* poller, tfrt_work_queue_t* work_queue);

// Whether the calling thread is one of those of |poller|. Thread-safe.
bool tfrt_cuda_poller_is_here(const tfrt_cuda_poller_t* poller);

// Ends the threads, if there are any. Not to be called on one of them. Thread-compatible.
void tfrt_cuda_poller_deinitialize(tfrt_cuda_poller_t* poller);

// Asks for |poll| (+0, alive until its task runs) until it is over. Thread-safe.
tfrt_status_t tfrt_cuda_poller_add(tfrt_cuda_poller_t* poller, tfrt_cuda_poll_t* poll)
    TFRT_MUST_USE;

#endif  // TFRT_DEVICES_CUDA_CUDA_POLLER_H_
