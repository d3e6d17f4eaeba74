// SPDX-License-Identifier: Apache-2.0
//
// Collects what ran when, and where, for a picture of a run. Spans are kept in memory
// (a bounded buffer; the newest are dropped once it is full, and counted) and read at the end:
// tools write Chrome's trace format from them.
//
// To watch scopes while they run, give the trace a sink: its functions are called when each scope
// begins and ends. Scopes of one thread nest.
//
// Life:
//  1. Created with a limit, and given a sink, if it is to have one.
//  2. Filled from any thread by tfrt_trace_add(), or by a pair of tfrt_trace_enter() and
//     tfrt_trace_leave().
//  3. Read by tfrt_trace_read(), while others may still add; released.
//
// Thread rule: thread-safe.
// Failure rule: adding never fails; what doesn't fit is counted.
#ifndef TFRT_HOST_RUNTIME_BASE_TRACE_H_
#define TFRT_HOST_RUNTIME_BASE_TRACE_H_

#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

TFRT_API_BEGIN

typedef struct tfrt_trace_s tfrt_trace_t;

// The location of a span that is none of an op.
#define TFRT_TRACE_NO_LOCATION UINT32_MAX

// Something that took time on one thread.
typedef struct tfrt_trace_span_s {
  char name[64];      // NUL-terminated, cut if longer
  char category[16];  // "kernel", "call", ...
  int64_t begin_ns;   // of the process's clock
  int64_t end_ns;
  uint64_t request;   // 0: none
  uint32_t thread;    // dense numbers from 0, in order of first use
  uint32_t location;  // of a kernel's op, in its program's file; TFRT_TRACE_NO_LOCATION: unknown
} tfrt_trace_span_t;

// Receives the begin and end of scopes. Called on the thread of the scope, with no lock held.
typedef struct tfrt_trace_sink_s {
  void (*enter)(void* self, const char* name);
  void (*leave)(void* self);
  void* self;
} tfrt_trace_sink_t;

// Sets |*out_trace| (+1) to a new trace that keeps at most |limit| spans. Thread-safe.
tfrt_status_t tfrt_trace_create(size_t limit, tfrt_allocator_t allocator, tfrt_trace_t** out_trace)
    TFRT_MUST_USE;

// Adds one reference to |trace| and returns it. Thread-safe.
tfrt_trace_t* tfrt_trace_retain(tfrt_trace_t* trace);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_trace_release(tfrt_trace_t* trace);

// Adds a span of the calling thread. Thread-safe.
void tfrt_trace_add(tfrt_trace_t* trace, const char* category, const char* name, int64_t begin_ns,
                    int64_t end_ns, uint64_t request);

// Tells |sink|, which is copied and must be good as long as |trace| is used, of each scope.
// Before anything is traced. Thread-compatible.
void tfrt_trace_set_sink(tfrt_trace_t* trace, const tfrt_trace_sink_t* sink);

// A scope named |name| begins, and ends, on the calling thread at the given times: together
// they do what tfrt_trace_add() does, and tell the sink. Thread-safe.
void tfrt_trace_enter(tfrt_trace_t* trace, const char* name);
void tfrt_trace_leave(tfrt_trace_t* trace, const char* category, const char* name, int64_t begin_ns,
                      int64_t end_ns, uint64_t request);

// The same as tfrt_trace_leave() for a kernel that ran, whose op is at |location| of its program's
// file. Thread-safe.
void tfrt_trace_leave_kernel(tfrt_trace_t* trace, const char* name, uint32_t location,
                             int64_t begin_ns, int64_t end_ns, uint64_t request);

// Adds a copy of |span|, of whatever thread it says: for a trace that came from elsewhere.
// Thread-safe.
void tfrt_trace_add_span(tfrt_trace_t* trace, const tfrt_trace_span_t* span);

// Has |trace| take only what begins before |until_ns|; the rest is not missed. Thread-safe.
void tfrt_trace_bound(tfrt_trace_t* trace, int64_t until_ns);

// Drops all that |trace| has, and has it take only what begins at |from_ns| or later: what ran
// already would take the room of what is asked for. Thread-safe.
void tfrt_trace_restart(tfrt_trace_t* trace, int64_t from_ns);

// Copies up to |capacity| spans, from number |first| on, in the order of their adding,
// to |out_spans| and returns how many that were. Thread-safe.
size_t tfrt_trace_read(tfrt_trace_t* trace, size_t first, tfrt_trace_span_t* out_spans,
                       size_t capacity);

// How many spans did not fit. Thread-safe.
uint64_t tfrt_trace_dropped(tfrt_trace_t* trace);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_TRACE_H_
