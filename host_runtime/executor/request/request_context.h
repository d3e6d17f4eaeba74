// SPDX-License-Identifier: Apache-2.0
//
// One top-level execution: what all of its kernels share, on this host. It carries the
// cancel value, the deadline, where prints go, how calls leave the host, and named
// resources.
//
// Life:
//  1. Created from options; the creator holds +1.
//  2. Passed along in execution contexts; retained by whatever outlives a kernel.
//  3. Cancelled at most once that counts.
//  4. Released; the last release destroys the resources, the newest first.
//
// Thread rule: thread-safe after creation.
// Failure rule: creation fails only with RESOURCE_EXHAUSTED.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_REQUEST_CONTEXT_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_REQUEST_CONTEXT_H_

#include <string.h>

#include "host_runtime/async/cancellation.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/atomic.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/trace.h"
#include "host_runtime/executor/request/call_router.h"
#include "host_runtime/executor/request/execution_context.h"
#include "host_runtime/executor/request/output.h"
#include "host_runtime/executor/request/resource_context.h"

TFRT_API_BEGIN

// No deadline.
#define TFRT_REQUEST_NO_DEADLINE INT64_MAX

typedef struct tfrt_request_options_s {
  uint64_t id;          // unique in its job
  tfrt_trace_t* trace;  // takes what ran when (+0; the context retains it); NULL: none yet
  // A time of the host's clock; TFRT_REQUEST_NO_DEADLINE. Kept by request_deadline.h.
  int64_t deadline_ns;
  tfrt_output_t* output;       // NULL: the standard output; must outlive the request
  tfrt_call_router_t* router;  // NULL: calls stay here; must outlive the request
  // Values that tfrt.once and others share with other requests; NULL: they share nothing. Must
  // outlive the request, and be outlived by the programs that run in it.
  tfrt_resource_context_t* resources;
  // Where the request's tasks run: a queue with threads of its own, or one of
  // priority_work_queue.h; NULL: the host's. Must outlive the request.
  tfrt_work_queue_t* work_queue;
  const char* device;  // that the first call is placed on; copied; NULL: none
  // Calls that routers have made from host to host above the request; 0: it is a job's own.
  uint32_t call_depth;
  // The most calls of functions that may be open at once in a scope (call_scope.h), and in calls of
  // synchronous functions. One more is RESOURCE_EXHAUSTED, and ends the request; 0: no limit.
  uint32_t most_open_calls;
  // Programs that run in it may go before what they have made: a router that keeps the names of
  // their functions and kernels copies them.
  bool names_are_short_lived;
  // The request that it is a part of, and that is noted for its kernels (running_kernel.h): only
  // compared, since it may be gone. NULL: itself, so that a copy of a request's options makes a
  // part of that request.
  const void* whole;
} tfrt_request_options_t;

// Options with nothing set. Thread-safe.
static inline tfrt_request_options_t tfrt_request_options_default(void) {
  tfrt_request_options_t options;
  memset(&options, 0, sizeof(options));
  options.deadline_ns = TFRT_REQUEST_NO_DEADLINE;
  return options;
}

// The action of a cancelled request, after all subscribers have run. |begin| is called before
// those: what the request runs is not over yet, or was before the cancel. |run| consumes |act|;
// with OK for |reason| (+0) nothing is to be done but to give it back, and |begin| was not called.
// Each is called at most once, with no lock held.
typedef struct tfrt_request_last_act_s {
  void (*begin)(struct tfrt_request_last_act_s* act);
  void (*run)(struct tfrt_request_last_act_s* act, tfrt_status_t reason);
} tfrt_request_last_act_t;

struct tfrt_request_context_s {
  tfrt_ref_count_t ref_count;
  // Each task changes |ref_count|, and each kernel reads what is behind it: on lines of their own.
  char unused[64 - sizeof(tfrt_ref_count_t)];
  tfrt_allocator_t allocator;
  tfrt_request_options_t options;      // constant; of its trace, see below
  char device[TFRT_CALL_DEVICE_SIZE];  // where |options.device| points to
  TFRT_ATOMIC(tfrt_trace_t*) trace;    // +1; set at most once
  tfrt_cancellation_t cancellation;
  TFRT_ATOMIC(tfrt_request_last_act_t*) last_act;  // owned; NULL: none, or done
  tfrt_resource_context_t resources;               // its own
};

// Sets |*out_request| (+1) to a new request. Thread-safe.
tfrt_status_t tfrt_request_context_create(const tfrt_request_options_t* options,
                                          tfrt_allocator_t allocator,
                                          tfrt_request_context_t** out_request) TFRT_MUST_USE;

// Adds one reference to |request| and returns it. Thread-safe.
tfrt_request_context_t* tfrt_request_context_retain(tfrt_request_context_t* request);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_request_context_release(tfrt_request_context_t* request);

// Cancels |request| with |reason| (+0). No kernel of it starts on this host once this
// has returned, but for those that are just being started. Thread-safe.
void tfrt_request_context_cancel(tfrt_request_context_t* request, tfrt_status_t reason);

// The error (+1) for a call of |function| by |request|, which has most_open_calls open already; it
// names the host, if the request has a router. Thread-safe.
tfrt_status_t tfrt_request_context_too_many_calls(const tfrt_request_context_t* request,
                                                  const char* function) TFRT_MUST_USE;

// Has |request|, which has none, do |act| (consumed) when it is cancelled. Before anybody else has
// the request; thread-compatible.
void tfrt_request_context_set_last_act_take(tfrt_request_context_t* request,
                                            tfrt_request_last_act_t* act);

// |request| has nothing to do any more when it is cancelled. Thread-safe.
void tfrt_request_context_drop_last_act(tfrt_request_context_t* request);

// The error value (+0) that |request| was cancelled with, or NULL. Thread-safe.
static inline tfrt_async_value_t* tfrt_request_context_cancelled(
    const tfrt_request_context_t* request) {
  return tfrt_cancellation_reason(&request->cancellation);
}

// The recorder of the run's spans (+0, as long as |request|), or NULL. Thread-safe.
static inline tfrt_trace_t* tfrt_request_context_trace(const tfrt_request_context_t* request) {
  // Pairs with the exchange in tfrt_request_context_set_trace().
  return atomic_load_explicit(&request->trace, memory_order_acquire);
}

// Has |trace| (+0) take what |request| runs from now on; without an effect if it has one already. A
// function that runs by a fixed schedule is recorded from its next call on. Thread-safe.
void tfrt_request_context_set_trace(tfrt_request_context_t* request, tfrt_trace_t* trace);

// Prints |text| where the request's lines go; returns a chain (+1). Nobody but the users of that
// waits for the line: for what prints when its call may be over. Thread-safe.
tfrt_async_value_t* tfrt_request_context_print(tfrt_request_context_t* request,
                                               tfrt_string_view_t text);

// The same for a kernel, or for code that has entered the scope of |context|: that call is not over
// before the line has arrived. Thread-safe.
tfrt_async_value_t* tfrt_execution_context_print(const tfrt_execution_context_t* context,
                                                 tfrt_string_view_t text);

// Where resources of |request| go that requests may share (+0, lives as long as |request|): those
// of its options, or else its own. Thread-safe.
static inline tfrt_resource_context_t* tfrt_request_context_shared_resources(
    tfrt_request_context_t* request) {
  return request->options.resources ? request->options.resources : &request->resources;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_REQUEST_CONTEXT_H_
