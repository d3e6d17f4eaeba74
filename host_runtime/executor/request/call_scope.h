// SPDX-License-Identifier: Apache-2.0
//
// Knows when a call is over: not merely when its results are there, but when every
// kernel of it, and of every call below it, has resolved its results. A lender of arguments to a
// call (another host) takes them back at that moment.
//
//   scope <-- frame of the function called
//         <-- frames of the functions that it calls
//         <-- calls of it that run on other hosts
//
// Life:
//  1. Initialised with the task to run at the end; counts 1 for its owner.
//  2. Entered by each frame and each remote call, and left when that is over.
//  3. The owner leaves once it has started everything. The last leave runs |done|.
//
// Thread rule: thread-safe after initialisation.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_CALL_SCOPE_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_CALL_SCOPE_H_

#include "host_runtime/async/task.h"
#include "host_runtime/base/ref_count.h"

typedef struct tfrt_call_scope_s {
  tfrt_ref_count_t active;
  tfrt_task_t* done;
} tfrt_call_scope_t;

// Makes |scope|, in the caller's storage, one that runs |done| when left for the last
// time. Thread-compatible.
static inline void tfrt_call_scope_initialize(tfrt_call_scope_t* scope, tfrt_task_t* done) {
  tfrt_ref_count_initialize(&scope->active);
  scope->done = done;
}

// Something of the call has begun. NULL is allowed. Thread-safe.
static inline void tfrt_call_scope_enter(tfrt_call_scope_t* scope) {
  if (scope) tfrt_ref_count_increment(&scope->active);
}

// The same, unless the call is over: then it returns false. For callers that know by other means
// that |scope| still exists. NULL is allowed. Thread-safe.
static inline bool tfrt_call_scope_try_enter(tfrt_call_scope_t* scope) {
  return !scope || tfrt_ref_count_try_increment(&scope->active);
}

// Counts what has begun in |scope| and is not over, its owner among it; NULL: 0. Thread-safe.
static inline uint32_t tfrt_call_scope_active(const tfrt_call_scope_t* scope) {
  // Relaxed: only the number counts.
  return scope ? atomic_load_explicit(&scope->active.count, memory_order_relaxed) : 0;
}

// The same as tfrt_call_scope_leave(), but returns true where that would run |done|: then the
// caller does what |done| would. Thread-safe.
static inline bool tfrt_call_scope_leave_last(tfrt_call_scope_t* scope) {
  return tfrt_ref_count_decrement_findable(&scope->active);
}

// Something of the call is over. |scope| may be gone after that. NULL is allowed.
// Thread-safe.
static inline void tfrt_call_scope_leave(tfrt_call_scope_t* scope) {
  if (scope && tfrt_ref_count_decrement_findable(&scope->active)) scope->done->run(scope->done);
}

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_CALL_SCOPE_H_
