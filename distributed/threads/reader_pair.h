// SPDX-License-Identifier: Apache-2.0
//
// Two threads. One reads from the network and runs the tasks that a message causes; the other
// watches whether a task lasts too long.
//
// Waking a thread takes as long as a short message needs to the other host. So a task that a
// message causes (a function that was called, the user of a value that has come) should run on the
// thread that has read the message. But a kernel may compute for seconds, and meanwhile heartbeats,
// cancels and other calls must be read. Hence a *deputy*: a task that has been running since the
// deputy's last look costs the *reader* its office; the deputy reads on, and the former reader,
// when it is done, is the deputy.
//
//   reader   turn turn turn [task] turn [task ..................................] deputy
//   deputy   asleep         look  look  look  look: the same task -> reader  turn turn turn
//
// A task is *offered* during a turn and runs after it, when nothing of the turn is on the
// stack. There is room for one task: others belong on the work queue, where all threads find them.
// Tasks that must run after the taken one may stay, too. No task is taken while there is no deputy.
//
// One thread runs many short tasks faster than it could wake other threads, which would then wait
// for the same locks. So the room doubles while tasks are short on average. Time that a short task
// saves is credit for longer ones, up to the time between two of the deputy's looks. When the
// credit is used up, the waiting tasks go to the work queue, and there is room for one again.
//
// Life:
//  1. Started: two threads; one of them takes turns.
//  2. Over as soon as a turn says so: taken tasks still run.
//  3. Joined.
//
// Thread rule: thread-safe, unless a function says otherwise.
// Failure rule: starting fails with RESOURCE_EXHAUSTED; nothing else fails.
#ifndef TFRT_DISTRIBUTED_THREADS_READER_PAIR_H_
#define TFRT_DISTRIBUTED_THREADS_READER_PAIR_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/tuning/tuning.h"
#include "host_runtime/async/task.h"
#include "host_runtime/async/task_list.h"
#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

// Waits for something to read and handles it; false when there will never be anything any more.
typedef bool (*tfrt_reader_turn_fn_t)(void* self);

// In the place of the reader's number.
#define TFRT_READER_PAIR_NOBODY (-1)

typedef struct tfrt_reader_pair_s {
  tfrt_reader_turn_fn_t turn;
  void* self;
  tfrt_thread_t threads[2];
  tfrt_mutex_t mutex;
  // Guarded by |mutex|, like all below: the deputy has something to do.
  tfrt_condition_t changed;
  tfrt_condition_t calmed;   // for drain: no task runs or waits
  int reader;                // which thread; TFRT_READER_PAIR_NOBODY: all is over
  bool has_deputy;           // the other one waits
  bool is_watching;          // the deputy looks now and then
  bool is_running;           // the reader runs a task
  bool was_long;             // some task, since the last look
  uint64_t run_count;        // tasks that readers have begun
  uint32_t running;          // tasks that run now, of former readers too; threads that hand over
  uint32_t room;             // how many tasks of a turn may be taken
  int64_t credit_ns;         // how much longer these may take than short ones do
  uint32_t taken_count;      // of |taken|
  tfrt_task_list_t taken;    // run after this turn
  tfrt_task_list_t behind;   // and then these
  tfrt_work_queue_t* queue;  // where both go if their reader is replaced
} tfrt_reader_pair_t;

// Starts two threads called |name| that take turns with |turn|(|self|). Thread-compatible.
tfrt_status_t tfrt_reader_pair_start(tfrt_reader_pair_t* pair, const char* name,
                                     tfrt_reader_turn_fn_t turn, void* self) TFRT_MUST_USE;

// Returns when a turn has said that all is over and both threads have ended. Thread-compatible,
// and from neither of the two.
void tfrt_reader_pair_join(tfrt_reader_pair_t* pair);

// Returns when no task runs on, or waits for, one of the two threads, or is on its way from there
// to its work queue. Thread-safe, but not from one of the two.
void tfrt_reader_pair_drain(tfrt_reader_pair_t* pair);

// When a task runs.
typedef enum tfrt_reader_pair_when_e {
  // Soon: on the calling thread after its turn, if it is a reader and has room, unless those before
  // it last, and else on the work queue.
  TFRT_READER_PAIR_SOON = 0,
  // The same, after the taken tasks of the turn: there is always room for it.
  TFRT_READER_PAIR_BEHIND,
  // The same, but only if it would run on the calling thread.
  TFRT_READER_PAIR_BEHIND_HERE,
} tfrt_reader_pair_when_t;

// Makes |task| run |when| it says, on the calling thread or on |queue|. False for
// TFRT_READER_PAIR_BEHIND_HERE where it would not run on the calling thread: then it doesn't run.
// Thread-safe.
bool tfrt_reader_pair_offer(tfrt_work_queue_t* queue, tfrt_task_t* task,
                            tfrt_reader_pair_when_t when);

// Returns true if the calling thread runs a task that such a pair has taken, which may last.
// Thread-safe.
bool tfrt_reader_pair_is_in_task(void);

#endif  // TFRT_DISTRIBUTED_THREADS_READER_PAIR_H_
