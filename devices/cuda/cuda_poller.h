// SPDX-License-Identifier: Apache-2.0
//
// Turns events of the driver into AsyncValues: one thread asks for all that are awaited.
//
//   await --> incoming --the thread--> pending --done, or device lost--> work queue --> value
//                                        |  ^
//                                        +--+ not yet: sleep, longer each time
//
// The pause starts at 5 microseconds and doubles up to half a millisecond; an event that is
// done, or a new one, makes it short again. With nothing pending the thread sleeps until
// there is. So an event that takes a time t is noticed within about t after it, and at most half
// a millisecond.
//
// Life:
//  1. Initialised in the platform's storage; no thread is started.
//  2. Polls are added, which the first time starts the thread.
//  3. Deinitialised, when nothing is pending: the thread is joined.
//
// Thread rule: thread-safe after initialisation.
// Failure rule: adding fails only if the thread can't be started.
#ifndef TFRT_DEVICES_CUDA_CUDA_POLLER_H_
#define TFRT_DEVICES_CUDA_CUDA_POLLER_H_

#include "host_runtime/async/task.h"
#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

typedef struct tfrt_cuda_poll_s tfrt_cuda_poll_t;

// Something that is asked for; embedded in what its owner allocates.
struct tfrt_cuda_poll_s {
  tfrt_list_link_t link;
  // Whether it is over, for good or bad. Called on the poller's thread; must not block.
  bool (*is_over)(tfrt_cuda_poll_t* poll);
  // Queued when it is; the storage is the owner's again.
  tfrt_task_t task;
};

typedef struct tfrt_cuda_poller_s {
  tfrt_work_queue_t* work_queue;  // +0
  tfrt_mutex_t mutex;             // guards all below
  tfrt_condition_t condition;
  tfrt_list_link_t incoming;
  bool is_stopping;
  bool has_thread;
  tfrt_thread_t thread;
} tfrt_cuda_poller_t;

// Makes |poller| one that queues to |work_queue| (alive as long). Thread-compatible.
void tfrt_cuda_poller_initialize(tfrt_cuda_poller_t* poller, tfrt_work_queue_t* work_queue);

// Ends the thread, if there is one. Not to be called on it. Thread-compatible.
void tfrt_cuda_poller_deinitialize(tfrt_cuda_poller_t* poller);

// Asks for |poll| (+0, alive until its task runs) until it is over. Thread-safe.
tfrt_status_t tfrt_cuda_poller_add(tfrt_cuda_poller_t* poller, tfrt_cuda_poll_t* poll)
    TFRT_MUST_USE;

#endif  // TFRT_DEVICES_CUDA_CUDA_POLLER_H_
