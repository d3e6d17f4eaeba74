// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/trace.h"

#include <stdatomic.h>
#include <stdio.h>

#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/sync.h"

// Spans lie in chunks that are made when needed, so that a large limit costs nothing.
#define TFRT_TRACE_CHUNK_SPANS 1024

typedef struct tfrt_trace_chunk_s {
  struct tfrt_trace_chunk_s* next;
  tfrt_trace_span_t spans[TFRT_TRACE_CHUNK_SPANS];
} tfrt_trace_chunk_t;

struct tfrt_trace_s {
  tfrt_ref_count_t ref_count;
  tfrt_allocator_t allocator;
  size_t limit;
  _Atomic int64_t until_ns;   // what begins then or later is not taken
  tfrt_trace_sink_t sink;     // constant once something is traced; functions NULL: none
  tfrt_mutex_t mutex;         // guards all below
  tfrt_trace_chunk_t* first;  // in order of adding
  tfrt_trace_chunk_t* last;
  int64_t from_ns;  // what begins earlier is not taken
  size_t count;
  uint64_t dropped;
};

tfrt_status_t tfrt_trace_create(size_t limit, tfrt_allocator_t allocator,
                                tfrt_trace_t** out_trace) {
  *out_trace = NULL;
  tfrt_trace_t* trace = tfrt_allocator_allocate_zeroed(allocator, sizeof(*trace));
  if (!trace) return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a trace");
  tfrt_ref_count_initialize(&trace->ref_count);
  trace->allocator = allocator;
  trace->limit = limit;
  trace->from_ns = INT64_MIN;
  atomic_init(&trace->until_ns, INT64_MAX);
  tfrt_mutex_initialize(&trace->mutex);
  *out_trace = trace;
  return NULL;
}

tfrt_trace_t* tfrt_trace_retain(tfrt_trace_t* trace) {
  tfrt_ref_count_increment(&trace->ref_count);
  return trace;
}

static void trace_free_chunks(tfrt_trace_t* trace) {
  for (tfrt_trace_chunk_t* chunk = trace->first; chunk;) {
    tfrt_trace_chunk_t* next = chunk->next;
    tfrt_allocator_free(trace->allocator, chunk, sizeof(*chunk));
    chunk = next;
  }
}

void tfrt_trace_release(tfrt_trace_t* trace) {
  if (!trace || !tfrt_ref_count_decrement(&trace->ref_count)) return;
  trace_free_chunks(trace);
  tfrt_mutex_deinitialize(&trace->mutex);
  tfrt_allocator_free(trace->allocator, trace, sizeof(*trace));
}

// A dense number for the calling thread.
static uint32_t trace_thread(void) {
  static _Atomic uint32_t next;
  static _Thread_local uint32_t mine = UINT32_MAX;
  if (mine == UINT32_MAX) mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
  return mine;
}

// The place for one more span, or NULL. With the mutex held.
static tfrt_trace_span_t* trace_reserve(tfrt_trace_t* trace) {
  if (trace->count == trace->limit) return NULL;
  size_t index = trace->count % TFRT_TRACE_CHUNK_SPANS;
  if (index == 0) {
    tfrt_trace_chunk_t* chunk = tfrt_allocator_allocate(trace->allocator, sizeof(*chunk));
    if (!chunk) return NULL;
    chunk->next = NULL;
    if (trace->last) {
      trace->last->next = chunk;
    } else {
      trace->first = chunk;
    }
    trace->last = chunk;
  }
  ++trace->count;
  return &trace->last->spans[index];
}

void tfrt_trace_bound(tfrt_trace_t* trace, int64_t until_ns) {
  // Relaxed: whether a span at the edge is taken does not matter.
  atomic_store_explicit(&trace->until_ns, until_ns, memory_order_relaxed);
}

void tfrt_trace_restart(tfrt_trace_t* trace, int64_t from_ns) {
  tfrt_mutex_lock(&trace->mutex);
  trace->from_ns = from_ns;
  trace_free_chunks(trace);
  trace->first = trace->last = NULL;
  trace->count = 0;
  trace->dropped = 0;
  tfrt_mutex_unlock(&trace->mutex);
}

void tfrt_trace_add_span(tfrt_trace_t* trace, const tfrt_trace_span_t* span) {
  if (span->begin_ns >= atomic_load_explicit(&trace->until_ns, memory_order_relaxed)) return;
  tfrt_mutex_lock(&trace->mutex);
  if (span->begin_ns >= trace->from_ns) {
    tfrt_trace_span_t* place = trace_reserve(trace);
    if (place) {
      *place = *span;
    } else {
      ++trace->dropped;
    }
  }
  tfrt_mutex_unlock(&trace->mutex);
}

// Adds |span|, of the calling thread, with texts that may be cut.
static void trace_add_named(tfrt_trace_t* trace, const char* category, const char* name,
                            tfrt_trace_span_t span) {
  span.thread = trace_thread();
  snprintf(span.name, sizeof(span.name), "%s", name);
  snprintf(span.category, sizeof(span.category), "%s", category);
  tfrt_trace_add_span(trace, &span);
}

void tfrt_trace_add(tfrt_trace_t* trace, const char* category, const char* name, int64_t begin_ns,
                    int64_t end_ns, uint64_t request) {
  trace_add_named(trace, category, name,
                  (tfrt_trace_span_t){.begin_ns = begin_ns,
                                      .end_ns = end_ns,
                                      .request = request,
                                      .location = TFRT_TRACE_NO_LOCATION});
}

void tfrt_trace_set_sink(tfrt_trace_t* trace, const tfrt_trace_sink_t* sink) {
  trace->sink = *sink;
}

void tfrt_trace_enter(tfrt_trace_t* trace, const char* name) {
  if (trace->sink.enter) trace->sink.enter(trace->sink.self, name);
}

void tfrt_trace_leave(tfrt_trace_t* trace, const char* category, const char* name, int64_t begin_ns,
                      int64_t end_ns, uint64_t request) {
  tfrt_trace_add(trace, category, name, begin_ns, end_ns, request);
  if (trace->sink.leave) trace->sink.leave(trace->sink.self);
}

void tfrt_trace_leave_kernel(tfrt_trace_t* trace, const char* name, uint32_t location,
                             int64_t begin_ns, int64_t end_ns, uint64_t request) {
  trace_add_named(
      trace, "kernel", name,
      (tfrt_trace_span_t){
          .begin_ns = begin_ns, .end_ns = end_ns, .request = request, .location = location});
  if (trace->sink.leave) trace->sink.leave(trace->sink.self);
}

size_t tfrt_trace_read(tfrt_trace_t* trace, size_t first, tfrt_trace_span_t* out_spans,
                       size_t capacity) {
  size_t copied = 0;
  tfrt_mutex_lock(&trace->mutex);
  size_t index = 0;
  for (tfrt_trace_chunk_t* chunk = trace->first; chunk; chunk = chunk->next) {
    for (size_t i = 0; i < TFRT_TRACE_CHUNK_SPANS && index < trace->count; ++i, ++index) {
      if (index >= first && copied < capacity) out_spans[copied++] = chunk->spans[i];
    }
  }
  tfrt_mutex_unlock(&trace->mutex);
  return copied;
}

uint64_t tfrt_trace_dropped(tfrt_trace_t* trace) {
  tfrt_mutex_lock(&trace->mutex);
  uint64_t dropped = trace->dropped;
  tfrt_mutex_unlock(&trace->mutex);
  return dropped;
}
