// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/tracing.h"

#include <stdio.h>

#include "distributed/wire/text.h"

// The most spans that are copied out of a trace at a time.
#define TFRT_TRACING_BLOCK 64

// The arena keeps this much from part to part.
#define TFRT_TRACING_KEPT_SIZE 4096

tfrt_status_t tfrt_tracing_append_clock(int64_t clock_ns, uint64_t dropped,
                                        tfrt_string_builder_t* out) {
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_CLOCK, .clock = {.clock_ns = (uint64_t)clock_ns, .dropped = dropped}};
  return tfrt_wire_answer_append(&part, out);
}

static tfrt_status_t tfrt_tracing_append_span(const tfrt_trace_span_t* span,
                                              tfrt_string_builder_t* out) {
  char category[sizeof(span->category)];
  char name[sizeof(span->name)];
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_SPAN,
      .span = {.begin_ns = (uint64_t)span->begin_ns,
               .end_ns = (uint64_t)span->end_ns,
               .request = span->request,
               .thread = span->thread,
               .category = tfrt_wire_text_fit(tfrt_string_view_of(span->category), category,
                                              sizeof(category)),
               .name = tfrt_wire_text_fit(tfrt_string_view_of(span->name), name, sizeof(name))}};
  return tfrt_wire_answer_append(&part, out);
}

tfrt_status_t tfrt_tracing_append_spans(tfrt_trace_t* trace, int64_t since_ns,
                                        tfrt_string_builder_t* out) {
  tfrt_trace_span_t spans[TFRT_TRACING_BLOCK];
  size_t first = 0;
  for (size_t count; (count = tfrt_trace_read(trace, first, spans, TFRT_TRACING_BLOCK)) > 0;
       first += count) {
    for (size_t i = 0; i < count; ++i) {
      if (spans[i].begin_ns < since_ns) continue;
      TFRT_RETURN_IF_ERROR(tfrt_tracing_append_span(&spans[i], out));
    }
  }
  return NULL;
}

tfrt_status_t tfrt_tracing_write(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_trace_t* trace = tfrt_job_trace(execution->job);
  TFRT_RETURN_IF_ERROR(tfrt_tracing_append_clock(tfrt_node_now_ns(execution->node),
                                                 trace ? tfrt_trace_dropped(trace) : 0, out));
  return trace ? tfrt_tracing_append_spans(trace, INT64_MIN, out) : NULL;
}

void tfrt_tracing_read_span(const tfrt_wire_span_part_t* part, tfrt_trace_span_t* out_span) {
  *out_span = (tfrt_trace_span_t){.begin_ns = (int64_t)part->begin_ns,
                                  .end_ns = (int64_t)part->end_ns,
                                  .request = part->request,
                                  .thread = part->thread};
  snprintf(out_span->category, sizeof(out_span->category), "%.*s",
           TFRT_STRING_VIEW_ARGUMENTS(part->category));
  snprintf(out_span->name, sizeof(out_span->name), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(part->name));
}

tfrt_status_t tfrt_tracing_read(tfrt_string_view_t answer, tfrt_trace_t* trace,
                                int64_t* out_clock_ns, uint64_t* out_dropped) {
  *out_clock_ns = 0;
  *out_dropped = 0;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_status_t status = NULL;
  while (answer.size > 0 && !status) {
    tfrt_wire_answer_part_t part;
    tfrt_trace_span_t span;
    status = tfrt_wire_answer_next(&answer, &arena, &part);
    if (part.kind == TFRT_WIRE_PART_CLOCK) {
      *out_clock_ns = (int64_t)part.clock.clock_ns;
      *out_dropped = part.clock.dropped;
    } else if (part.kind == TFRT_WIRE_PART_SPAN) {
      tfrt_tracing_read_span(&part.span, &span);
      tfrt_trace_add_span(trace, &span);
    }
    tfrt_arena_clear(&arena, TFRT_TRACING_KEPT_SIZE);
  }
  tfrt_arena_deinitialize(&arena);
  return status;
}
