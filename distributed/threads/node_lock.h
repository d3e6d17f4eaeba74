// SPDX-License-Identifier: Apache-2.0
//
// The one lock of a process's distributed state, and what is put off until it is open.
//
// Sessions, calls, objects and holds of a process change together: a call number is taken in the
// same critical section that appends the Invoke, a funeral touches every table. So one mutex guards
// all of them, and the handlers of frames are called with it held. Work that must not run under a
// lock (resolving values, starting functions, writing to a transport) is *deferred*: a task is put
// into the lock's list and runs when the thread unlocks.
//
//   lock ----> change tables, defer(task), defer(task) ----> unlock_and_run
//                                                              | unlock
//                                                              | task, task, ...
//                                                              v nothing is held
//
// Tasks of one critical section run in the order in which they were deferred. A task may lock,
// defer and unlock again: what it defers runs behind the tasks that are left, in the same outermost
// unlock_and_run, so that chains of consequences use no stack.
//
// Actions on AsyncValues are put off, too. Resolving a value runs its waiters, and releasing one
// may destroy it: both run foreign code. Code that holds the lock adds *actions* to a queue
// instead. They are carried out when the lock is opened; those of one critical section in their
// order.
//
//   lock ... action, action ... unlock_and_run --> forward, fail, release, wait ...
//                                       | on a thread of the network or the timers
//                                       '--> behind the message, or work queue --> the same, there
//
// Resolving a value may run kernels for long. Mostly a thread that reads from the network resolves,
// and heartbeats would wait for it. So the queue may be given a work queue. Then only its threads
// carry out actions, or a network reader with a deputy (reader_pair.h) after its message; other
// threads hand actions over. A batch that has only releases is carried out on the spot, and a call
// that must not wait for a busy thread (a cancel) is made at once.
//
// Life: a lock is initialised; locked, deferred to and unlocked by any number of threads;
// deinitialised when nobody holds it and nothing is deferred. A queue is initialised with the lock
// that guards it; deinitialised when nothing is queued. Batches that were handed over don't need
// the queue any more.
//
// Thread rule: the lock is thread-safe after initialisation, and not recursive. Actions are added
// with it held, and run with it open. Those of different critical sections may run at the same
// time. Failure rule: misuse aborts. A queue has some memory ahead, for when memory is out. If that
// is used up, too, an action is carried out by nobody: its value stays unresolved or unreleased,
// and that is logged.
#ifndef TFRT_DISTRIBUTED_THREADS_NODE_LOCK_H_
#define TFRT_DISTRIBUTED_THREADS_NODE_LOCK_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/task.h"
#include "host_runtime/async/task_list.h"
#include "host_runtime/async/work_queue.h"
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

// --- Actions ---------------------------------------------------------------------

// How a task waits for a value.
typedef enum tfrt_action_wait_e {
  TFRT_ACTION_AND_THEN,  // demands the payload
  TFRT_ACTION_AWAIT,     // asks whether it is settled
  TFRT_ACTION_WATCH,     // asks nothing
} tfrt_action_wait_t;

typedef struct tfrt_action_batch_s tfrt_action_batch_t;

typedef struct tfrt_action_queue_s {
  tfrt_node_lock_t* lock;
  tfrt_allocator_t allocator;
  tfrt_work_queue_t* work_queue;  // NULL: the thread that opens the lock; changed with it held
  tfrt_task_t task;
  bool scheduled;               // |task| is deferred; guarded by the lock, like all below
  tfrt_action_batch_t* urgent;  // calls that are made at once; NULL: none
  tfrt_action_batch_t* batch;   // all others; NULL: none; its memory stays where they are few
  // If one batch can't take all actions: the first and the last full batch. NULL: |batch| has all.
  tfrt_action_batch_t* first_closed;
  tfrt_action_batch_t* last_closed;
  // Empty; takes the place of |batch| when memory is out. NULL: there is none yet, or it was used.
  tfrt_action_batch_t* spare;
  size_t usual_capacity;  // of a batch: what the last one that was taken whole needed
} tfrt_action_queue_t;

// Makes |queue| an empty one whose actions are carried out when |lock| is opened, by threads of
// |work_queue| (+0, outlives what is handed over to it); NULL: by the thread that opens the lock.
// Thread-compatible.
void tfrt_action_queue_initialize(tfrt_action_queue_t* queue, tfrt_node_lock_t* lock,
                                  tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue);

// Gives back |queue|, which is empty. Thread-compatible.
void tfrt_action_queue_deinitialize(tfrt_action_queue_t* queue);

// Will forward the indirect |value| to |target|; consumes a reference to each. With the
// lock held.
void tfrt_action_queue_forward_take(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                                    tfrt_async_value_t* target);

// Will resolve |value| (consumed) as the error |status| (+0). With the lock held.
void tfrt_action_queue_fail_take(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                                 tfrt_status_t status);

// Will call |run| with |argument|. With the lock held.
typedef void (*tfrt_action_fn_t)(void* argument);
void tfrt_action_queue_call(tfrt_action_queue_t* queue, tfrt_action_fn_t run, void* argument);

// The same, but before all other actions, on the thread that opens the lock. With the lock held.
void tfrt_action_queue_call_at_once(tfrt_action_queue_t* queue, tfrt_action_fn_t run,
                                    void* argument);

// Will release |value|; NULL is allowed. With the lock held.
void tfrt_action_queue_release(tfrt_action_queue_t* queue, tfrt_async_value_t* value);

// Will demand the payload of |value|, which the caller keeps alive until then. With the lock
// held.
void tfrt_action_queue_demand(tfrt_action_queue_t* queue, tfrt_async_value_t* value);

// Will make |task| wait for |value|, which the caller keeps alive until it has run. With
// the lock held.
void tfrt_action_queue_wait(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                            tfrt_action_wait_t wait, tfrt_task_t* task);

#endif  // TFRT_DISTRIBUTED_THREADS_NODE_LOCK_H_
