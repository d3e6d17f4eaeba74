// SPDX-License-Identifier: Apache-2.0
//
// A completion queue with the threads that serve it: one at a time, which may run the tasks that an
// event causes, and its deputy (distributed/threads/reader_pair.h).
//
// Each operation that gRPC completes arrives here as an *event*, which its owner embeds; it doubles
// as gRPC's tag. Events of one queue run one after another on its thread, with no lock held. Three
// things put one there:
//
//   tfrt_grpc_queue_start_batch   an operation of gRPC, when it is done
//   tfrt_grpc_queue_post          anybody who wants something done on the thread
//   a timer                       when its time has come
//
// Work that can wait until all tasks of an event are done, like asking for the next message, is
// left for the next turn.
//
// Life:
//  1. Created (+1); the thread waits for events.
//  2. Used by connections; each retains it.
//  3. Shut down once, when no operation is outstanding: what was posted still runs, the
//     thread is joined, and from then on posting is refused.
//  4. Released.
//
// Thread rule: thread-safe, but for what says that it belongs to the queue's thread.
// Failure rule: creation may fail; after that only posting, to a queue that is shut down.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_QUEUE_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_QUEUE_H_

#include <grpc/grpc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "distributed/threads/reader_pair.h"
#include "distributed/transport/transport.h"
#include "host_runtime/async/task_list.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

typedef struct tfrt_grpc_event_s tfrt_grpc_event_t;

// |is_ok| is gRPC's word on the operation; true for what was posted.
typedef void (*tfrt_grpc_event_fn_t)(tfrt_grpc_event_t* event, bool is_ok);

// Embedded in the object that waits for an operation; under way at most once at a time.
struct tfrt_grpc_event_s {
  tfrt_grpc_event_fn_t run;
  // Passes what happened before the operation was started on to the queue's thread: the
  // hand-over inside of gRPC does that too, but no tool can see it.
  _Atomic uint32_t hand_over;
};

typedef struct tfrt_grpc_timer_s tfrt_grpc_timer_t;

struct tfrt_grpc_timer_s {
  tfrt_list_link_t link;
  int64_t deadline_ns;  // by the system's monotonic clock
  void (*expire)(tfrt_grpc_timer_t* timer);
};

typedef struct tfrt_grpc_queue_s {
  tfrt_ref_count_t ref_count;
  tfrt_allocator_t allocator;
  grpc_completion_queue* completion_queue;
  tfrt_reader_pair_t threads;

  // An empty batch on a call completes at once: so an event gets into the queue. This
  // call goes nowhere and serves for nothing else.
  grpc_channel* post_channel;
  grpc_call* post_call;
  tfrt_mutex_t mutex;
  bool is_open;  // guarded by |mutex|

  // Belongs to the thread.
  bool lingers;  // before it sleeps: the last turn had an event
  bool is_near;  // and longer: the last event that was waited for came soon
  tfrt_list_link_t timers;
  int64_t earliest_ns;           // no timer's deadline is before this
  tfrt_task_list_t next_turn;    // runs first in it
  tfrt_transport_span_t* spans;  // room for one message that is being reported
  size_t span_capacity;
} tfrt_grpc_queue_t;

// Makes |event| one that calls |run|. Thread-compatible.
void tfrt_grpc_event_initialize(tfrt_grpc_event_t* event, tfrt_grpc_event_fn_t run);

// To be called before an operation that ends with |event| is started. Thread-safe.
static inline void tfrt_grpc_event_hand_over(tfrt_grpc_event_t* event) {
  // Release: pairs with the acquire load of the queue's thread (run_turn() in queue.c).
  atomic_store_explicit(&event->hand_over, 1, memory_order_release);
}

// Creates a queue (+1) whose thread is called |name|. RESOURCE_EXHAUSTED. Thread-safe.
tfrt_status_t tfrt_grpc_queue_create(const char* name, tfrt_allocator_t allocator,
                                     tfrt_grpc_queue_t** out_queue) TFRT_MUST_USE;

// Adds one reference to |queue| and returns it. Thread-safe.
static inline tfrt_grpc_queue_t* tfrt_grpc_queue_retain(tfrt_grpc_queue_t* queue) {
  tfrt_ref_count_increment(&queue->ref_count);
  return queue;
}

// Drops one reference; NULL is allowed. The last one needs a queue that is shut down.
// Thread-safe.
void tfrt_grpc_queue_release(tfrt_grpc_queue_t* queue);

// Returns when nothing that an event has led to runs on the queue's threads any more.
// Thread-safe, and not from one of them.
static inline void tfrt_grpc_queue_drain(tfrt_grpc_queue_t* queue) {
  tfrt_reader_pair_drain(&queue->threads);
}

// Runs what was posted and ends the threads; returns when it has. Nothing may be started
// on |queue| any more. Thread-compatible, and not from the queue's thread.
void tfrt_grpc_queue_shut_down(tfrt_grpc_queue_t* queue);

// Starts the |count| operations of |operations| on |call|, which is bound to a queue;
// |event| runs there when they are done. An operation that gRPC does not allow at this
// point is a defect of the caller. Thread-safe.
void tfrt_grpc_queue_start_batch(grpc_call* call, const grpc_op* operations, size_t count,
                                 tfrt_grpc_event_t* event);

// Makes |event| run on the thread of |queue| and returns true, or returns false if the
// queue is shut down. Allowed in every callback of gRPC. Thread-safe.
bool tfrt_grpc_queue_post(tfrt_grpc_queue_t* queue, tfrt_grpc_event_t* event) TFRT_MUST_USE;

// Makes |task| run at the beginning of the next turn: after all that the event of this one leads
// to, unless that lasts. Belongs to the queue's thread.
static inline void tfrt_grpc_queue_run_next_turn(tfrt_grpc_queue_t* queue, tfrt_task_t* task) {
  tfrt_task_list_push_back(&queue->next_turn, task);
}

// Makes |timer|, whose fields are filled in, expire at its deadline, once. Belongs to the
// queue's thread.
void tfrt_grpc_queue_add_timer(tfrt_grpc_queue_t* queue, tfrt_grpc_timer_t* timer);

// Makes |timer|, whose link is initialised, never expire. Belongs to the queue's thread.
void tfrt_grpc_queue_remove_timer(tfrt_grpc_timer_t* timer);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_QUEUE_H_
