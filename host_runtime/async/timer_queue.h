// SPDX-License-Identifier: Apache-2.0
//
// Things to do at a time: deadlines, heartbeats, the arrivals of a simulated network.
// Timers are intrusive: their owner embeds them, and starting one allocates nothing.
//
//        +----------------- started -----------------+
//        v                                           |
//      idle --start--> waiting --due--> running --> (idle)
//                         |
//                         +--cancel--> idle
//
// Among timers that are due, the one with the earlier deadline runs first; with equal
// deadlines, the one that was started first. So a test with a fake clock is the same
// each time.
//
// Life of a queue:
//  1. Initialised over a clock.
//  2. Either it gets a thread (tfrt_timer_queue_start_thread(), over the system's
//     clock), or its owner steps it: moves the clock to tfrt_timer_queue_next_deadline()
//     and calls tfrt_timer_queue_run_due().
//  3. Deinitialised, when no timer waits: the thread, if any, is joined.
//
// Thread rule: thread-safe after initialisation. Timers run on the queue's thread, or
// on the one that steps, with no lock held; they must be short and must not block.
// Failure rule: only starting the thread may fail.
#ifndef TFRT_HOST_RUNTIME_ASYNC_TIMER_QUEUE_H_
#define TFRT_HOST_RUNTIME_ASYNC_TIMER_QUEUE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

TFRT_API_BEGIN

typedef struct tfrt_timer_s tfrt_timer_t;

// The action of a timer. Its storage is its owner's again when this is called: it may be freed, or
// the timer started again, inside.
typedef void (*tfrt_timer_fn_t)(tfrt_timer_t* timer);

// All of it belongs to the queue while the timer waits. All zero is an idle timer.
struct tfrt_timer_s {
  int64_t deadline_ns;
  uint64_t sequence;  // counts starts; the order among equal deadlines
  tfrt_timer_fn_t run;
  bool is_waiting;
  // A pairing heap: the children of a timer are due no earlier than it.
  tfrt_timer_t* first_child;
  tfrt_timer_t* next_sibling;
  tfrt_timer_t* previous;  // the sibling before, or the parent of a first child
};

typedef struct tfrt_timer_queue_s {
  tfrt_clock_t clock;
  tfrt_mutex_t mutex;  // guards all below, and the waiting timers
  tfrt_condition_t condition;
  tfrt_timer_t* root;  // the one that is due first
  uint64_t next_sequence;
  bool has_thread;
  bool is_stopping;
  tfrt_thread_t thread;
} tfrt_timer_queue_t;

// Makes |queue| an empty one whose times are those of |clock|. Thread-compatible.
void tfrt_timer_queue_initialize(tfrt_timer_queue_t* queue, tfrt_clock_t clock);

// Starts the thread that runs what is due; the clock must be the system's.
// RESOURCE_EXHAUSTED if that is impossible. Thread-compatible, once.
tfrt_status_t tfrt_timer_queue_start_thread(tfrt_timer_queue_t* queue) TFRT_MUST_USE;

// Ends the thread, if there is one, after the timer that it runs. No timer may wait any
// more. Not to be called by a timer. Thread-compatible.
void tfrt_timer_queue_deinitialize(tfrt_timer_queue_t* queue);

// Starts the idle |timer| (+0, alive until it has run or is cancelled): calls |run|
// once, when the clock shows |deadline_ns| or more, never inside of this call.
// Thread-safe.
void tfrt_timer_start(tfrt_timer_queue_t* queue, tfrt_timer_t* timer, int64_t deadline_ns,
                      tfrt_timer_fn_t run);

// Makes |timer| idle. Returns true if that prevented its run. False: it was idle, or
// is running right now; then its owner must not free it before |run| has told so.
// Thread-safe.
bool tfrt_timer_cancel(tfrt_timer_queue_t* queue, tfrt_timer_t* timer);

// The time at which the next timer is due, or TFRT_TIME_INFINITE. Thread-safe.
int64_t tfrt_timer_queue_next_deadline(tfrt_timer_queue_t* queue);

// Runs all timers that are due at the time of this call, also those that are started
// meanwhile for no later than that; returns how many these were. (So a timer that
// starts itself again must do that for a later time.) Thread-safe.
size_t tfrt_timer_queue_run_due(tfrt_timer_queue_t* queue);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_TIMER_QUEUE_H_
