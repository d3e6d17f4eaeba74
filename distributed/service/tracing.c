// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/tracing.h"

#include <stdio.h>
#include <string.h>

#include "distributed/call/incoming_call.h"
#include "distributed/job/job_start.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/value.h"

// The most spans that are copied out of a trace at a time.
#define TFRT_TRACING_BLOCK 64

// Sets |out_span| to what |part| says; longer texts are cut.
static void tracing_read_span(const tfrt_wire_span_part_t* part, tfrt_trace_span_t* out_span) {
  *out_span = (tfrt_trace_span_t){.begin_ns = (int64_t)part->begin_ns,
                                  .end_ns = (int64_t)part->end_ns,
                                  .request = part->request,
                                  .thread = part->thread,
                                  .location = part->location - 1};
  snprintf(out_span->category, sizeof(out_span->category), "%.*s",
           TFRT_STRING_VIEW_ARGUMENTS(part->category));
  snprintf(out_span->name, sizeof(out_span->name), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(part->name));
}

// --- Traces of earlier versions ----------------------------------------------------
//
// A "!tfrt.trace" has little-endian numbers:
//
//   i64 clock   the host's clock when the bytes were made
//   u64 dropped how many spans did not fit there
//   then for each span
//   i64 begin, i64 end, u64 request, u32 thread, u8 sizes of category and name, their texts

#define TFRT_TRACE_IMAGE_HEAD_SIZE 16
#define TFRT_TRACE_IMAGE_SPAN_SIZE 30  // without its texts

static uint8_t* trace_image_put(uint8_t* at, uint64_t number, size_t size) {
  for (size_t i = 0; i < size; ++i) *at++ = (uint8_t)(number >> (8 * i));
  return at;
}

static uint64_t trace_image_get(const uint8_t** at, size_t size) {
  uint64_t number = 0;
  for (size_t i = 0; i < size; ++i) number |= (uint64_t) * (*at)++ << (8 * i);
  return number;
}

static void trace_image_append_span(const tfrt_trace_span_t* span, tfrt_string_builder_t* out) {
  size_t category_size = strlen(span->category);
  size_t name_size = strlen(span->name);
  uint8_t bytes[TFRT_TRACE_IMAGE_SPAN_SIZE];
  uint8_t* at = trace_image_put(bytes, (uint64_t)span->begin_ns, 8);
  at = trace_image_put(at, (uint64_t)span->end_ns, 8);
  at = trace_image_put(at, span->request, 8);
  at = trace_image_put(at, span->thread, 4);
  at = trace_image_put(at, category_size, 1);
  trace_image_put(at, name_size, 1);
  tfrt_string_builder_append(out, (const char*)bytes, sizeof(bytes));
  tfrt_string_builder_append(out, span->category, category_size);
  tfrt_string_builder_append(out, span->name, name_size);
}

static void trace_image_begin(int64_t clock_ns, uint64_t dropped, tfrt_string_builder_t* out) {
  uint8_t head[TFRT_TRACE_IMAGE_HEAD_SIZE];
  uint8_t* at = trace_image_put(head, (uint64_t)clock_ns, 8);
  trace_image_put(at, dropped, 8);
  tfrt_string_builder_append(out, (const char*)head, sizeof(head));
}

// Reads one span at |*at|, which moves behind it. Returns false for what is none.
static bool trace_image_read_span(const uint8_t** at, const uint8_t* end,
                                  tfrt_trace_span_t* out_span) {
  if (end - *at < TFRT_TRACE_IMAGE_SPAN_SIZE) return false;
  *out_span = (tfrt_trace_span_t){.location = TFRT_TRACE_NO_LOCATION};
  out_span->begin_ns = (int64_t)trace_image_get(at, 8);
  out_span->end_ns = (int64_t)trace_image_get(at, 8);
  out_span->request = trace_image_get(at, 8);
  out_span->thread = (uint32_t)trace_image_get(at, 4);
  size_t category_size = (size_t)trace_image_get(at, 1);
  size_t name_size = (size_t)trace_image_get(at, 1);
  if (category_size >= sizeof(out_span->category) || name_size >= sizeof(out_span->name) ||
      (size_t)(end - *at) < category_size + name_size || out_span->end_ns < out_span->begin_ns) {
    return false;
  }
  memcpy(out_span->category, *at, category_size);
  memcpy(out_span->name, *at + category_size, name_size);
  *at += category_size + name_size;
  return true;
}

static tfrt_status_t trace_image_append_part(void* self, const tfrt_wire_answer_part_t* part) {
  tfrt_string_builder_t* out = self;
  if (part->kind == TFRT_WIRE_PART_CLOCK) {
    trace_image_begin((int64_t)part->clock.clock_ns, part->clock.dropped, out);
  } else if (part->kind == TFRT_WIRE_PART_SPAN) {
    tfrt_trace_span_t span;
    tracing_read_span(&part->span, &span);
    trace_image_append_span(&span, out);
  }
  return tfrt_status_retain(tfrt_string_builder_status(out));
}

// Appends the trace that |answer| is to |out|.
static tfrt_status_t trace_image_write(tfrt_string_view_t answer, tfrt_string_builder_t* out) {
  return tfrt_wire_answer_each(answer, trace_image_append_part, out);
}

static tfrt_status_t trace_image_read(tfrt_string_view_t image, tfrt_trace_t* trace,
                                      int64_t* out_clock_ns, uint64_t* out_dropped) {
  *out_clock_ns = 0;
  *out_dropped = 0;
  const uint8_t* at = (const uint8_t*)image.data;
  const uint8_t* end = at + image.size;
  bool is_good = image.size >= TFRT_TRACE_IMAGE_HEAD_SIZE;
  if (is_good) {
    *out_clock_ns = (int64_t)trace_image_get(&at, 8);
    *out_dropped = trace_image_get(&at, 8);
  }
  while (is_good && at < end) {
    tfrt_trace_span_t span;
    is_good = trace_image_read_span(&at, end, &span);
    if (is_good) tfrt_trace_add_span(trace, &span);
  }
  if (is_good) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the trace that a host sent is damaged at byte %zu of %zu",
                            (size_t)(at - (const uint8_t*)image.data), image.size);
}

// --- Traces of jobs ------------------------------------------------------------------

static tfrt_status_t tracing_append_clock(int64_t clock_ns, uint64_t dropped,
                                          tfrt_string_builder_t* out) {
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_CLOCK, .clock = {.clock_ns = (uint64_t)clock_ns, .dropped = dropped}};
  return tfrt_wire_answer_append(&part, out);
}

static tfrt_status_t tracing_append_span(const tfrt_trace_span_t* span,
                                         tfrt_string_builder_t* out) {
  char category[sizeof(span->category)];
  char name[sizeof(span->name)];
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_SPAN,
      .span = {.begin_ns = (uint64_t)span->begin_ns,
               .end_ns = (uint64_t)span->end_ns,
               .request = span->request,
               .thread = span->thread,
               // Around to 0 for TFRT_TRACE_NO_LOCATION, as the wire has it.
               .location = span->location + 1,
               .category = tfrt_wire_text_fit(tfrt_string_view_of(span->category), category,
                                              sizeof(category)),
               .name = tfrt_wire_text_fit(tfrt_string_view_of(span->name), name, sizeof(name))}};
  return tfrt_wire_answer_append(&part, out);
}

static tfrt_status_t tracing_append_spans(tfrt_trace_t* trace, int64_t since_ns,
                                          tfrt_string_builder_t* out) {
  tfrt_trace_span_t spans[TFRT_TRACING_BLOCK];
  size_t first = 0;
  for (size_t count; (count = tfrt_trace_read(trace, first, spans, TFRT_TRACING_BLOCK)) > 0;
       first += count) {
    for (size_t i = 0; i < count; ++i) {
      if (spans[i].begin_ns < since_ns) continue;
      TFRT_RETURN_IF_ERROR(tracing_append_span(&spans[i], out));
    }
  }
  return NULL;
}

// The spans of a job are for its client alone.
static tfrt_status_t tracing_write(tfrt_execution_t* execution,
                                   const tfrt_wire_question_t* question,
                                   tfrt_string_builder_t* out) {
  (void)question;
  uint64_t asker = tfrt_incoming_call_cast(execution)->peer->incarnation;
  if (asker != execution->job->client.incarnation) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                              "the trace of a job is for the client that has opened it");
  }
  tfrt_trace_t* trace = tfrt_job_trace(execution->job);
  TFRT_RETURN_IF_ERROR(tracing_append_clock(tfrt_node_now_ns(execution->node),
                                            trace ? tfrt_trace_dropped(trace) : 0, out));
  return trace ? tracing_append_spans(trace, INT64_MIN, out) : NULL;
}

const tfrt_answerer_t tfrt_trace_answerer = {.kind = TFRT_WIRE_ASK_TRACE,
                                             .write = tracing_write,
                                             .plain_function = TFRT_WIRE_BUILTIN_TRACE,
                                             .plain_form = TFRT_ANSWER_TRACE,
                                             .write_plain = trace_image_write};

// The trace that an answer is.
typedef struct tfrt_tracing_image_s {
  tfrt_trace_t* trace;  // +0
  int64_t clock_ns;
  uint64_t dropped;
} tfrt_tracing_image_t;

static tfrt_status_t tracing_read_part(void* self, const tfrt_wire_answer_part_t* part) {
  tfrt_tracing_image_t* image = self;
  if (part->kind == TFRT_WIRE_PART_CLOCK) {
    image->clock_ns = (int64_t)part->clock.clock_ns;
    image->dropped = part->clock.dropped;
  } else if (part->kind == TFRT_WIRE_PART_SPAN) {
    tfrt_trace_span_t span;
    tracing_read_span(&part->span, &span);
    tfrt_trace_add_span(image->trace, &span);
  }
  return NULL;
}

static tfrt_status_t tracing_read_parts(tfrt_string_view_t answer, tfrt_trace_t* trace,
                                        int64_t* out_clock_ns, uint64_t* out_dropped) {
  tfrt_tracing_image_t image = {.trace = trace};
  tfrt_status_t status = tfrt_wire_answer_each(answer, tracing_read_part, &image);
  *out_clock_ns = image.clock_ns;
  *out_dropped = image.dropped;
  return status;
}

tfrt_status_t tfrt_tracing_read(tfrt_answer_form_t form, tfrt_string_view_t answer,
                                tfrt_trace_t* trace, int64_t* out_clock_ns, uint64_t* out_dropped) {
  return form == TFRT_ANSWER_MESSAGE ? tracing_read_parts(answer, trace, out_clock_ns, out_dropped)
                                     : trace_image_read(answer, trace, out_clock_ns, out_dropped);
}

// --- Recordings ------------------------------------------------------------------

typedef struct tfrt_recording_s {
  tfrt_list_link_t link;  // in the node's recordings, oldest first
  uint8_t job[TFRT_WIRE_JOB_ID_SIZE];
  tfrt_trace_t* trace;  // +1
  int64_t until_ns;     // takes spans that begin before
} tfrt_recording_t;

static tfrt_recording_t* recording_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_recording_t, link);
}

static int64_t recording_now(const tfrt_node_t* node) {
  return tfrt_clock_now_ns(node->options.host->clock);
}

static tfrt_job_t* recording_job(const tfrt_recording_t* recording, tfrt_node_t* node) {
  tfrt_string_view_t id =
      tfrt_string_view_make((const char*)recording->job, sizeof(recording->job));
  return tfrt_job_find(node, id);
}

static void recording_drop(tfrt_recording_t* recording, tfrt_node_t* node) {
  tfrt_list_remove(&recording->link);
  tfrt_trace_release(recording->trace);
  tfrt_allocator_free(node->options.allocator, recording, sizeof(*recording));
}

// Frees what |node| has recorded. Needs the node's lock.
static void recording_on_node_past(const tfrt_owner_end_t* end) {
  tfrt_node_t* node = end->node;
  while (!tfrt_list_is_empty(&node->recordings.list)) {
    recording_drop(recording_of(node->recordings.list.next), node);
  }
}

// Makes room for one more.
static void recording_drop_oldest(tfrt_node_t* node) {
  size_t kept = 0;
  tfrt_recording_t* oldest = NULL;
  for (tfrt_list_link_t* link = node->recordings.list.next; link != &node->recordings.list;
       link = link->next) {
    if (recording_job(recording_of(link), node)) continue;
    if (kept++ == 0) oldest = recording_of(link);
  }
  if (kept >= TFRT_RECORDING_MAX_KEPT) recording_drop(oldest, node);
}

// --- Begin -----------------------------------------------------------------------

static void recording_attach_start(void* self, uint64_t number, const tfrt_execution_t* execution) {
  (void)number;
  if (execution->request) tfrt_request_context_set_trace(execution->request, self);
}

// Makes running work of |job| record into |trace|.
static void recording_attach(tfrt_job_t* job, tfrt_trace_t* trace) {
  tfrt_job_start_visit_all(job, recording_attach_start, trace);
  tfrt_hash_table_t* peers = &job->node->peers;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(peers); found;
       found = tfrt_hash_table_next(peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming_calls); node;
         node = tfrt_hash_table_next(&peer->incoming_calls, node)) {
      tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
      if (call->execution.job == job) recording_attach_start(trace, 0, &call->execution);
    }
  }
}

static tfrt_status_t recording_create(tfrt_job_t* job, tfrt_recording_t** out_recording) {
  tfrt_node_t* node = job->node;
  recording_drop_oldest(node);
  tfrt_recording_t* recording =
      tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*recording));
  if (!recording) return tfrt_status_out_of_memory();
  tfrt_status_t status =
      tfrt_trace_create(TFRT_RECORDING_LIMIT, node->options.allocator, &recording->trace);
  if (status) {
    tfrt_allocator_free(node->options.allocator, recording, sizeof(*recording));
    return status;
  }
  memcpy(recording->job, job->identity.id, sizeof(recording->job));
  recording->until_ns = INT64_MIN;
  tfrt_list_push_back(&node->recordings.list, &recording->link);
  tfrt_job_set_trace(job, recording->trace);
  recording_attach(job, recording->trace);
  *out_recording = recording;
  return NULL;
}

// Records |job| until |until_ns|, if its client does not do that itself.
static tfrt_status_t recording_begin_job(tfrt_job_t* job, int64_t now_ns, int64_t until_ns) {
  tfrt_recording_t* recording = NULL;
  tfrt_list_link_t* head = &job->node->recordings.list;
  for (tfrt_list_link_t* link = head->next; link != head && !recording; link = link->next) {
    bool is_its = memcmp(recording_of(link)->job, job->identity.id, sizeof(job->identity.id)) == 0;
    if (is_its) recording = recording_of(link);
  }
  if (job->asks_only || (!recording && tfrt_job_trace(job))) return NULL;
  if (!recording) TFRT_RETURN_IF_ERROR(recording_create(job, &recording));
  // A client that left without reading it has left it full.
  if (now_ns >= recording->until_ns || tfrt_trace_dropped(recording->trace) > 0) {
    tfrt_trace_restart(recording->trace, now_ns);
  }
  if (until_ns > recording->until_ns) recording->until_ns = until_ns;
  tfrt_trace_bound(recording->trace, recording->until_ns);
  return NULL;
}

// A job was opened: records it, if that goes on for all jobs.
static void recording_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_list_initialize(&end->node->recordings.list);
}

static void recording_on_job_opened(const tfrt_owner_end_t* end) {
  tfrt_job_t* job = end->job;
  int64_t now_ns = recording_now(job->node);
  if (now_ns >= job->node->recordings.until_ns) return;
  // Without memory for it, the job runs unrecorded.
  tfrt_status_release(recording_begin_job(job, now_ns, job->node->recordings.until_ns));
}

// --- Questions -------------------------------------------------------------------

// True if |question| is about the job with the id |job|.
static bool recording_is_meant(const tfrt_wire_ask_record_t* question, const uint8_t* job) {
  return question->job.size == 0 || memcmp(question->job.data, job, TFRT_WIRE_JOB_ID_SIZE) == 0;
}

static tfrt_status_t recording_begin(tfrt_node_t* node, const tfrt_wire_ask_record_t* question,
                                     int64_t now_ns) {
  int64_t until_ns = now_ns + (int64_t)question->milliseconds * TFRT_NANOSECONDS_PER_MILLISECOND;
  bool is_here = question->job.size == 0;
  if (is_here && until_ns > node->recordings.until_ns) node->recordings.until_ns = until_ns;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (tfrt_job_is_closed(job) || !recording_is_meant(question, job->identity.id)) continue;
    is_here = true;
    TFRT_RETURN_IF_ERROR(recording_begin_job(job, now_ns, until_ns));
  }
  if (is_here) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such job is here");
}

static void recording_end(tfrt_node_t* node, const tfrt_wire_ask_record_t* question) {
  int64_t now_ns = recording_now(node);
  if (question->job.size == 0) node->recordings.until_ns = now_ns;
  for (tfrt_list_link_t* link = node->recordings.list.next; link != &node->recordings.list;
       link = link->next) {
    tfrt_recording_t* recording = recording_of(link);
    if (!recording_is_meant(question, recording->job)) continue;
    if (now_ns < recording->until_ns) recording->until_ns = now_ns;
    tfrt_trace_bound(recording->trace, recording->until_ns);
  }
}

// --- Answers ---------------------------------------------------------------------

// Traces that are read with the lock open.
typedef struct tfrt_recording_answer_s {
  size_t count;
  tfrt_trace_t* traces[TFRT_RECORDING_MAX_ANSWER];  // +1 each
} tfrt_recording_answer_t;

static void recording_take(tfrt_recording_answer_t* answer, tfrt_trace_t* trace) {
  if (!trace || answer->count == TFRT_ARRAY_SIZE(answer->traces)) return;
  for (size_t i = 0; i < answer->count; ++i) {
    if (answer->traces[i] == trace) return;
  }
  answer->traces[answer->count++] = tfrt_trace_retain(trace);
}

// Collects recordings, and traces that clients have recorded of their own jobs.
static void recording_collect(tfrt_node_t* node, const tfrt_wire_ask_record_t* question,
                              tfrt_recording_answer_t* answer) {
  int64_t now_ns = recording_now(node);
  for (tfrt_list_link_t* link = node->recordings.list.next; link != &node->recordings.list;) {
    tfrt_recording_t* recording = recording_of(link);
    link = link->next;
    if (!recording_is_meant(question, recording->job)) continue;
    recording_take(answer, recording->trace);
    bool is_over = now_ns >= recording->until_ns && !recording_job(recording, node);
    if (is_over) recording_drop(recording, node);
  }
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    const tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (recording_is_meant(question, job->identity.id)) {
      recording_take(answer, tfrt_job_trace(job));
    }
  }
}

// Appends what |answer| has, with the lock open, because it copies many spans.
static tfrt_status_t recording_append(const tfrt_recording_answer_t* answer, int64_t now_ns,
                                      int64_t since_ns, tfrt_string_builder_t* out) {
  uint64_t dropped = 0;
  for (size_t i = 0; i < answer->count; ++i) dropped += tfrt_trace_dropped(answer->traces[i]);
  TFRT_RETURN_IF_ERROR(tracing_append_clock(now_ns, dropped, out));
  for (size_t i = 0; i < answer->count; ++i) {
    TFRT_RETURN_IF_ERROR(tracing_append_spans(answer->traces[i], since_ns, out));
  }
  return NULL;
}

static tfrt_status_t recording_write(tfrt_execution_t* execution, const tfrt_wire_question_t* asked,
                                     tfrt_string_builder_t* out) {
  const tfrt_wire_ask_record_t* question = &asked->record;
  tfrt_node_t* node = execution->node;
  tfrt_recording_answer_t answer = {0};
  tfrt_status_t status = NULL;
  // The answer to a begin has the time from which on spans are taken. A client reads the spans
  // since that time, and gets all that found room.
  int64_t now_ns = recording_now(node);
  tfrt_node_lock_tables(node);
  if (question->action == TFRT_WIRE_RECORD_BEGIN) {
    status = recording_begin(node, question, now_ns);
  } else if (question->action == TFRT_WIRE_RECORD_END) {
    recording_end(node, question);
  } else if (question->action == TFRT_WIRE_RECORD_READ) {
    recording_collect(node, question, &answer);
  }
  tfrt_node_unlock(node);
  if (!status) status = recording_append(&answer, now_ns, (int64_t)question->since_ns, out);
  for (size_t i = 0; i < answer.count; ++i) tfrt_trace_release(answer.traces[i]);
  return status;
}

const tfrt_answerer_t tfrt_record_answerer = {.kind = TFRT_WIRE_ASK_RECORD,
                                              .write = recording_write,
                                              .plain_function = TFRT_WIRE_BUILTIN_RECORD,
                                              .plain_form = TFRT_ANSWER_TRACE,
                                              .write_plain = trace_image_write};

static const tfrt_owner_rule_t tfrt_recording_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_JOBS, recording_on_node_made},
    {TFRT_OWNER_NODE_PAST, TFRT_OWNER_JOBS, recording_on_node_past},
    {TFRT_OWNER_JOB_OPENED, TFRT_OWNER_JOBS, recording_on_job_opened},
};

const tfrt_node_part_t tfrt_recording_part = {
    .rules = tfrt_recording_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_recording_rules),
};
