// SPDX-License-Identifier: Apache-2.0
//
// The one lock of a process's distributed state, and the list of tasks to run once it is open
// again.
//
// Sessions, calls, objects and holds of a process change together: a call number is taken
// in the same critical section that appends the Invoke, a funeral touches every table. So one mutex
// guards all of them, and the handlers of frames are called with it held. Work that must not run
// under a lock (resolving values, starting functions, writing to a transport) is *deferred*: a task
// is put into the lock's list and runs when the thread unlocks.
//
//   lock ----> change tables, defer(task), defer(task) ----> unlock_and_run
//                                                              | unlock
//                                                              | task, task, ...
//                                                              v nothing is held
//
// Life: initialised; locked, deferred to and unlocked by any number of threads;
// deinitialised when nobody holds it and nothing is deferred.
//
// Tasks of one critical section run in the order in which they were deferred. A task may
// lock, defer and unlock again: what it defers runs behind the tasks that are left, in
// the same outermost unlock_and_run, so that chains of consequences use no stack.
//
// Thread rule: thread-safe after initialisation. Not recursive.
// Failure rule: none fails; misuse aborts.
#ifndef TFRT_DISTRIBUTED_THREADS_NODE_LOCK_H_
#define TFRT_DISTRIBUTED_THREADS_NODE_LOCK_H_

#include "host_runtime/async/task.h"
#include "host_runtime/async/task_list.h"
#include "host_runtime/base/sync.h"

typedef struct tfrt_node_lock_s {
  tfrt_mutex_t mutex;
  tfrt_task_list_t deferred;  // guarded by |mutex|
} tfrt_node_lock_t;

// Makes |lock| an unlocked one with nothing deferred. Thread-compatible.
void tfrt_node_lock_initialize(tfrt_node_lock_t* lock);

// Gives back |lock|, which nobody holds and to which nothing is deferred.
// Thread-compatible.
void tfrt_node_lock_deinitialize(tfrt_node_lock_t* lock);

// Locks. Thread-safe.
void tfrt_node_lock_lock(tfrt_node_lock_t* lock);

// Makes |task| run when the calling thread, which holds |lock|, unlocks it.
// Thread-compatible (the lock is held).
void tfrt_node_lock_defer(tfrt_node_lock_t* lock, tfrt_task_t* task);

// Unlocks and runs what was deferred. Inside of a task that is run by this function, for
// the same lock, it only unlocks: the outer call runs the rest. Thread-safe.
void tfrt_node_lock_unlock_and_run(tfrt_node_lock_t* lock);

#endif  // TFRT_DISTRIBUTED_THREADS_NODE_LOCK_H_
