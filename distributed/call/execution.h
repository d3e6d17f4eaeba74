// SPDX-License-Identifier: Apache-2.0
//
// One run of a function of a job's program on this host, for a caller on another host
// (incoming_call.h), or for the client (job_start.h). Tells its owner what each result becomes, and
// when the run is over.
//
//   WAIT_PROGRAM -> RUNNING -> RETIRED        known(i): result i is here, or known to be elsewhere
//       |cancel        |cancel                retired: all kernels and nested calls are over
//       +--------------+--> errors as results
//
// Life:
//  1. Initialised in the owner's storage with its arguments; one reference is the owner's.
//  2. Started: waits for the program, then runs on the host's work queue.
//  3. known() comes once for each result, and again for one that its owner asks for with
//     tfrt_execution_observe_again(); retired() comes once; both with the node's lock held.
//     cancelled() comes at most once, before the others are told why they stop. waits() comes, at
//     most once and before retired(), when the function has returned and something that it started
//     is not over.
//  4. Finished by the owner. Its last reference calls destroy(), with the lock held.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: what can't run has errors as results.
#ifndef TFRT_DISTRIBUTED_CALL_EXECUTION_H_
#define TFRT_DISTRIBUTED_CALL_EXECUTION_H_

#include "distributed/domain/job.h"
#include "distributed/value/object_table.h"
#include "distributed/value/remote_value.h"
#include "host_runtime/base/list.h"
#include "host_runtime/executor/request/call_scope.h"

typedef struct tfrt_execution_s tfrt_execution_t;

typedef struct tfrt_execution_vtable_s {
  void (*known)(tfrt_execution_t* execution, uint32_t index);
  void (*waits)(tfrt_execution_t* execution);
  void (*retired)(tfrt_execution_t* execution, bool at_once);
  void (*cancelled)(tfrt_execution_t* execution);
  void (*destroy)(tfrt_execution_t* execution);
} tfrt_execution_vtable_t;

typedef struct tfrt_execution_result_s {
  tfrt_execution_t* owner;
  tfrt_async_value_t* value;      // +1; NULL before the function has run
  tfrt_object_promise_t promise;  // of a slot that |value| is for, if there is one
  tfrt_task_t waiter;
  bool known;
} tfrt_execution_result_t;

// *Unawaited* are the calls of an execution whose end nobody waits for. Their Results wait for
// company (Invoke.results_can_wait). When nothing else of the execution is under way, its end waits
// for theirs, so they are hurried. There are two kinds:
//
// The messages of a collective. Mostly the messages of the next collective are the company.
//
//   a collective     Invoke send, send     their Results go with the next batch, or after 100 ms
//   all else is over Hurry send, send      Results at once
//
// In a loop, calls whose results are given to calls on other hosts alone, which get them from the
// callee. A host in the middle of a chain of calls then writes one message for each turn of the
// loop, instead of two. A Hurry and its answer cost two messages for each host, and a Result that
// waits saves one. So it begins when TFRT_TUNING_LOOP_CALLS of these calls have ended: calls that
// are made once, or all at once, are never hurried.
//
//   the first turns  Invoke a, b, c         Results of all; c's decides about the next turn
//   later ones       Invoke a, b, c         Result of c; those of a and b share a batch, within the
//                                           delay of an acknowledgement
//   all else is over Hurry a, b             Results at once
//
// Measured, release build, 7 pairs in turn on two loaded processors, medians of the ratios: without
// it an all_reduce of 64 bytes by 4 hosts takes 1.35 of its time, a barrier of 8 1.13 to 1.22.
//
// There are two scopes (call_scope.h), one inside of the other: that of the execution, with its
// frames and all other calls; and the one here, with these calls, and one until the first is over.
// The execution is over when this one is.
//
// Their life:
//  1. Initialised with the task to run when it is over.
//  2. Joined by calls, each until it has ENDED.
//  3. Ended once, by the execution, when its own scope is left for the last time: hurries the calls
//     that are left. Over at once if there is none, else with the last one.
typedef struct tfrt_unawaited_s {
  tfrt_call_scope_t scope;
  tfrt_list_link_t calls;  // of tfrt_outgoing_call_t
  uint64_t fed_others;     // calls of the second kind whose Results came at once
} tfrt_unawaited_t;

// The state of an execution.
//
//   MADE --begun--> WAITING --results observed--> RUNNING
//    |                |                              |kernels and nested calls are over
//    |                `--all over--> TELLING --told--+--> RETIRED
//    `--refused--> FINISHED <-----------------------------'
typedef enum tfrt_execution_state_e {
  TFRT_EXECUTION_MADE = 0,
  TFRT_EXECUTION_WAITING,  // for the program and, if it needs them, for the arguments; or it runs
  TFRT_EXECUTION_TELLING,  // retired() follows known() in this critical section
  TFRT_EXECUTION_RUNNING,  // the function has returned
  TFRT_EXECUTION_RETIRED,
  TFRT_EXECUTION_FINISHED,
} tfrt_execution_state_t;

// The demands of the owner, set before the execution is initialised.
typedef struct tfrt_execution_needs_s {
  bool any_result_count;  // there are as many results as the function has
  bool arguments;         // the function is called when all are here; not if one can't be had
  bool results;           // a result is known when it is here as a whole, or an error
} tfrt_execution_needs_t;

typedef struct tfrt_execution_deadline_s {
  int64_t at_ns;       // TFRT_TIME_INFINITE: none
  tfrt_timer_t timer;  // started in WAITING, if there is a deadline
} tfrt_execution_deadline_t;

typedef struct tfrt_execution_tasks_s {
  tfrt_task_t run;      // waits for the program, then runs the function
  tfrt_task_t ending;   // of |scope|
  tfrt_task_t retired;  // of |unawaited|
} tfrt_execution_tasks_t;

struct tfrt_execution_s {
  const tfrt_execution_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_node_t* node;               // +1
  tfrt_job_t* job;                 // +1; entered until finished
  tfrt_execution_state_t state;    // changed by tfrt_execution_set_state()
  tfrt_cached_program_t* program;  // +1
  bool is_carried;                 // |program| came with the call, and the job doesn't keep it
  uint32_t function;
  uint32_t from_rank;  // the sender of a message or a line, where no program runs
  uint64_t request_id;
  uint64_t caller;  // the calling process, 0 for a start, and its number of the call
  uint64_t call;
  uint32_t depth;                      // of remote calls above it
  char device[TFRT_CALL_DEVICE_SIZE];  // that the call is placed on; "": none
  tfrt_execution_deadline_t deadline;
  int64_t since_ns;  // when it came, by the node's tick
  tfrt_execution_needs_t needs;
  uint32_t argument_count;
  void* room;                      // of the arrays, if it is the owner's; see tfrt_execution_room()
  tfrt_async_value_t** arguments;  // +1 each; NULL: the owner has released it
  uint32_t result_count;
  tfrt_execution_result_t* results;
  tfrt_request_context_t* request;  // +1 once it runs
  tfrt_call_scope_t scope;
  tfrt_unawaited_t unawaited;
  tfrt_execution_tasks_t tasks;
  tfrt_status_t cancelled;  // +1; why, or NULL
  tfrt_status_t failure;    // +1; why the function was never called, or NULL
};

// |execution| is in |state| from now on. Builds with assertions refuse a transition that the
// picture doesn't have.
void tfrt_execution_set_state(tfrt_execution_t* execution, tfrt_execution_state_t state);

static inline bool tfrt_execution_is_retired(const tfrt_execution_t* execution) {
  return execution->state >= TFRT_EXECUTION_RETIRED;
}

// The bytes that the arrays of an execution with |argument_count| arguments and |result_count|
// results take, at the alignment of pointers. Thread-safe.
static inline size_t tfrt_execution_room(size_t argument_count, size_t result_count) {
  return argument_count * sizeof(tfrt_async_value_t*) +
         result_count * sizeof(tfrt_execution_result_t);
}

// Makes |execution| one with |items| as arguments and |result_count| results. Its owner has zeroed
// it, and set program (+0), function, request_id, caller, call, depth, device, deadline, needs and
// room. |room| is zeroed memory for the arrays, or NULL: they are allocated. If any_result_count is
// needed, |room| is NULL and |result_count| is 0. Even after RESOURCE_EXHAUSTED the owner must
// finish and release it.
tfrt_status_t tfrt_execution_initialize(tfrt_execution_t* execution,
                                        const tfrt_execution_vtable_t* vtable, tfrt_job_t* job,
                                        const tfrt_wire_item_t* items, size_t item_count,
                                        uint32_t result_count) TFRT_MUST_USE;

// Returns a value (+1) for |item|, an argument of |execution|. Reads only the caller, the program,
// the function and the device of |execution|. NULL for |execution|: |item| is no argument of a
// call.
tfrt_async_value_t* tfrt_execution_argument(tfrt_job_t* job, const tfrt_wire_item_t* item,
                                            const tfrt_execution_t* execution);

// Begins an execution that is no function of a program; another part completes it. Starts the timer
// of the deadline.
void tfrt_execution_begin(tfrt_execution_t* execution);

// Ends what tfrt_execution_begin() began, with |results| (consumed). If all results are available
// and there are no arguments, nothing of that waits for the work queue, which may be stuck.
void tfrt_execution_complete(tfrt_execution_t* execution, tfrt_async_value_t* const* results);

// The unawaited calls of the execution whose scope is |scope|; NULL if |scope| is NULL, or of no
// execution. Thread-safe.
tfrt_unawaited_t* tfrt_execution_unawaited(tfrt_call_scope_t* scope);

// The execution (+0, as long as |scope| is entered) for which calls in |scope| are made; NULL as
// above. Thread-safe.
const tfrt_execution_t* tfrt_execution_of_scope(const tfrt_call_scope_t* scope);

// The name of the function (+0, as long as the program or for ever). A built-in function has
// "print" and so on; a region, or a function that is not loaded yet, has "".
const char* tfrt_execution_function_name(const tfrt_execution_t* execution);

// Sets |*out_place| to where the function stands in the program's text (texts as above, no rank).
// It is for errors whose call is not known here: the caller, or the holder of a result, knows a
// better place. A built-in function, or a program that is not loaded yet, has no place.
void tfrt_execution_function_place(const tfrt_execution_t* execution,
                                   tfrt_status_origin_t* out_place);

// Starts |execution|: waits for the program, then runs the function.
void tfrt_execution_start(tfrt_execution_t* execution);

// Result |index| was known to be elsewhere and is on its way here by now: known() comes once
// more, when it is here.
void tfrt_execution_observe_again(tfrt_execution_t* execution, uint32_t index);

// Cancels because of |reason| (+0); later ones change nothing.
void tfrt_execution_cancel(tfrt_execution_t* execution, tfrt_status_t reason);

// Finishes |execution|, about which nothing more is to be reported: releases its arguments, results
// and job.
void tfrt_execution_finish(tfrt_execution_t* execution);

// Counts references.
void tfrt_execution_retain(tfrt_execution_t* execution);
void tfrt_execution_release(tfrt_execution_t* execution);

// True if nothing but the function's own frame keeps |execution|, which has started, from being
// over: that may be so in a moment, or when another kernel has run.
static inline bool tfrt_execution_is_ending(const tfrt_execution_t* execution) {
  return execution->state == TFRT_EXECUTION_RUNNING &&
         tfrt_ref_count_is_one(&execution->scope.active) &&
         tfrt_ref_count_is_one(&execution->unawaited.scope.active);
}

#endif  // TFRT_DISTRIBUTED_CALL_EXECUTION_H_
