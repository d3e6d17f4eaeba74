// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "distributed/service/plain_form.h"
#include "distributed/service/trace_image.h"
#include "distributed/service/tracing.h"

// The arena keeps this much from part to part.
#define TFRT_PLAIN_KEPT_SIZE 4096

typedef tfrt_string_builder_t out_t;

// --- Words -----------------------------------------------------------------------

void tfrt_plain_add_word(tfrt_string_builder_t* out, tfrt_string_view_t text) {
  if (text.size == 0) tfrt_string_builder_append_char(out, '-');
  for (size_t i = 0; i < text.size; ++i) {
    bool is_plain = (unsigned char)text.data[i] > ' ' && text.data[i] != 0x7f;
    tfrt_string_builder_append_char(out, is_plain ? text.data[i] : '_');
  }
}

static void add_text(out_t* out, const char* name, tfrt_string_view_t text) {
  tfrt_string_builder_append_format(out, " %s=", name);
  tfrt_plain_add_word(out, text);
}

static void add_number(out_t* out, const char* name, uint64_t number) {
  tfrt_string_builder_append_format(out, " %s=%" PRIu64, name, number);
}

static void add_incarnation(out_t* out, const char* name, uint64_t incarnation) {
  tfrt_string_builder_append_format(out, " %s=%016" PRIx64, name, incarnation);
}

static void add_state(out_t* out, const char* const* names, size_t count, uint32_t state) {
  add_text(out, "state", tfrt_string_view_of(state < count ? names[state] : "unknown"));
}

static void begin(out_t* out, const char* kind, tfrt_string_view_t job) {
  tfrt_string_builder_append_text(out, kind);
  if (job.size == 0) return;
  tfrt_string_builder_append_text(out, " job=");
  for (size_t i = 0; i < job.size; ++i) {
    tfrt_string_builder_append_format(out, "%02x", (unsigned char)job.data[i]);
  }
}

static void append_id(out_t* out, tfrt_wire_object_id_t id) {
  tfrt_string_builder_append_format(out, "%016" PRIx64 ".%" PRIu64 ".%u", id.namer, id.number,
                                    id.index);
}

static void add_place(out_t* out, const tfrt_wire_location_t* place) {
  bool is_known = place && place->file.size > 0;
  add_text(out, "at", is_known ? place->file : tfrt_string_view_of(""));
  if (is_known) tfrt_string_builder_append_format(out, ":%u:%u", place->line, place->column);
}

static tfrt_string_view_t function_of(const tfrt_wire_location_t* place) {
  return place ? place->function : tfrt_string_view_of("");
}

static void add_parent(out_t* out, const tfrt_wire_parent_t* parent) {
  if (!parent) return;
  tfrt_string_builder_append_text(out, " in=");
  if (parent->caller) tfrt_string_builder_append_format(out, "%016" PRIx64 ".", parent->caller);
  tfrt_string_builder_append_format(out, "%" PRIu64, parent->number);
}

static void add_work(out_t* out, const tfrt_wire_work_t* work) {
  static const char* const states[] = {"running", "loading", "ending", "cancelled"};
  add_number(out, "request", work->request);
  add_text(out, "function", work->function);
  add_number(out, "age_us", work->age_us);
  add_state(out, states, TFRT_ARRAY_SIZE(states), work->state);
  for (size_t i = 0; i < work->need_count; ++i) {
    tfrt_string_builder_append_format(out, "%s%016" PRIx64 "/", i == 0 ? " needs=" : ",",
                                      work->needs[i].owner);
    append_id(out, work->needs[i].id);
  }
}

static void add_value(out_t* out, const tfrt_wire_value_info_t* value) {
  static const char* const states[] = {"waiting", "ready", "error", "there", "moving"};
  add_state(out, states, TFRT_ARRAY_SIZE(states), value->state);
  if (value->type.size > 0) add_text(out, "type", value->type);
  if (value->has_size) add_number(out, "bytes", value->size);
}

// --- Status ------------------------------------------------------------------------

static void add_fact(out_t* out, const char* name, uint64_t number) {
  tfrt_string_builder_append_format(out, "%s %" PRIu64 "\n", name, number);
}

static void add_counts(out_t* out, const tfrt_wire_host_counts_t* counts) {
  add_fact(out, "jobs", counts->jobs);
  add_fact(out, "kept_jobs", counts->kept_jobs);
  add_fact(out, "objects", counts->objects);
  add_fact(out, "remote_values", counts->remote_values);
  add_fact(out, "outgoing_calls", counts->outgoing_calls);
  add_fact(out, "incoming_calls", counts->incoming_calls);
  add_fact(out, "incoming_wants", counts->incoming_wants);
  add_fact(out, "transfers", counts->transfers);
}

static void add_counters(out_t* out, const tfrt_wire_host_counters_t* counters) {
  add_fact(out, "frames_sent", counters->frames_sent);
  add_fact(out, "frames_received", counters->frames_received);
  add_fact(out, "frames_replayed", counters->frames_replayed);
  add_fact(out, "resumes", counters->resumes);
  add_fact(out, "dials", counters->dials);
  add_fact(out, "deaths", counters->deaths);
}

static void write_host(const tfrt_wire_host_part_t* host, out_t* out) {
  if (!host->counts && !host->counters) {
    tfrt_string_builder_append_text(out, "host");
    add_incarnation(out, "incarnation", host->incarnation);
    add_text(out, "name", host->name);
    add_number(out, "serving", host->serving);
    tfrt_string_builder_append_char(out, '\n');
    return;
  }
  tfrt_string_builder_append_format(out, "incarnation %016" PRIx64 "\n", host->incarnation);
  if (host->counts) add_counts(out, host->counts);
  if (host->counters) add_counters(out, host->counters);
  tfrt_string_builder_append_text(out, "name ");
  tfrt_plain_add_word(out, host->name);
  tfrt_string_builder_append_char(out, '\n');
  add_fact(out, "serving", host->serving);
}

static void write_peer(const tfrt_wire_peer_part_t* peer, out_t* out) {
  static const char* const states[] = {"CONNECTING", "OPEN", "BROKEN", "DEAD"};
  tfrt_string_builder_append_format(
      out, "peer %016" PRIx64 " %s %" PRIu64 " ", peer->incarnation,
      peer->state < TFRT_ARRAY_SIZE(states) ? states[peer->state] : "UNKNOWN", peer->round_trip_us);
  tfrt_plain_add_word(out, peer->address);
  tfrt_string_builder_append_char(out, ' ');
  tfrt_plain_add_word(out, peer->name);
  tfrt_string_builder_append_format(
      out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
      peer->frames_sent, peer->frames_received, peer->bytes_sent, peer->bytes_received,
      peer->payload_bytes_sent, peer->payload_bytes_received);
}

// --- Inventory -----------------------------------------------------------------------

static void add_job(out_t* out, const tfrt_wire_job_part_t* job) {
  static const char* const states[] = {"open", "detached", "closed", "kept"};
  begin(out, "job", job->job);
  add_text(out, "name", job->name);
  add_number(out, "rank", job->rank);
  add_number(out, "hosts", job->hosts);
  add_incarnation(out, "root", job->root);
  add_incarnation(out, "client", job->client);
  add_number(out, "age_us", job->age_us);
  add_state(out, states, TFRT_ARRAY_SIZE(states), job->state);
}

static void add_member(out_t* out, const tfrt_wire_member_part_t* member) {
  begin(out, "member", member->job);
  add_number(out, "rank", member->rank);
  add_incarnation(out, "incarnation", member->incarnation);
  add_text(out, "address", member->address);
  add_text(out, "state", tfrt_string_view_of(member->is_lost ? "lost" : "alive"));
}

static void add_start(out_t* out, const tfrt_wire_start_part_t* start) {
  begin(out, "start", start->job);
  add_number(out, "number", start->number);
  add_work(out, &start->work);
}

static void add_incoming(out_t* out, const tfrt_wire_incoming_call_part_t* call) {
  begin(out, "call", call->job);
  add_text(out, "dir", tfrt_string_view_of("in"));
  add_incarnation(out, "peer", call->caller);
  add_number(out, "number", call->number);
  add_number(out, "depth", call->depth);
  add_work(out, &call->work);
}

static void add_outgoing(out_t* out, const tfrt_wire_outgoing_call_part_t* call) {
  begin(out, "call", call->job);
  add_text(out, "dir", tfrt_string_view_of("out"));
  add_incarnation(out, "peer", call->callee);
  add_number(out, "number", call->number);
  add_number(out, "request", call->request);
  add_text(out, "function", call->function);
  add_parent(out, call->parent);
  add_text(out, "from", function_of(call->place));
  add_place(out, call->place);
  add_number(out, "age_us", call->age_us);
  add_text(out, "state", tfrt_string_view_of(call->is_cancelled ? "cancelled" : "open"));
}

static void add_object(out_t* out, const tfrt_wire_object_part_t* object) {
  begin(out, "object", object->job);
  tfrt_string_builder_append_text(out, " id=");
  append_id(out, object->id);
  add_value(out, &object->value);
  add_number(out, "age_us", object->age_us);
  add_text(out, "function", object->function);
  for (size_t i = 0; i < object->holder_count; ++i) {
    tfrt_string_builder_append_format(out, "%s%016" PRIx64, i == 0 ? " holders=" : ",",
                                      object->holders[i].incarnation);
  }
  add_number(out, "loans", object->loans);
}

static void add_remote(out_t* out, const tfrt_wire_remote_value_part_t* remote) {
  begin(out, "remote", remote->job);
  tfrt_string_builder_append_text(out, " id=");
  append_id(out, remote->id);
  add_incarnation(out, "owner", remote->owner);
  add_value(out, &remote->value);
  add_number(out, "age_us", remote->age_us);
  add_text(out, "function", remote->function);
  add_place(out, remote->place);
}

static void add_mail(out_t* out, const tfrt_wire_mail_part_t* mail) {
  begin(out, mail->is_sent ? "message" : "receive", mail->job);
  add_number(out, "request", mail->request);
  add_number(out, "sender", mail->sender);
  add_text(out, "key", mail->key);
  if (!mail->place) return;
  add_text(out, "name", mail->kernel);
  add_text(out, "function", function_of(mail->place));
  add_place(out, mail->place);
}

static void add_kernel(out_t* out, const tfrt_wire_kernel_part_t* kernel) {
  begin(out, "kernel", kernel->job);
  if (kernel->job.size > 0) add_number(out, "request", kernel->request);
  add_parent(out, kernel->parent);
  add_text(out, "name", kernel->kernel);
  add_text(out, "function", function_of(kernel->place));
  add_place(out, kernel->place);
  add_number(out, "age_us", kernel->age_us);
}

// --- Answers -------------------------------------------------------------------------

// Appends the line of |part|, but for its end; false if it has none.
static bool add_line(const tfrt_wire_answer_part_t* part, out_t* out) {
  switch (part->kind) {
    case TFRT_WIRE_PART_JOB:
      add_job(out, &part->job);
      return true;
    case TFRT_WIRE_PART_MEMBER:
      add_member(out, &part->member);
      return true;
    case TFRT_WIRE_PART_START:
      add_start(out, &part->start);
      return true;
    case TFRT_WIRE_PART_INCOMING_CALL:
      add_incoming(out, &part->incoming_call);
      return true;
    case TFRT_WIRE_PART_OUTGOING_CALL:
      add_outgoing(out, &part->outgoing_call);
      return true;
    case TFRT_WIRE_PART_OBJECT:
      add_object(out, &part->object);
      return true;
    case TFRT_WIRE_PART_REMOTE_VALUE:
      add_remote(out, &part->remote_value);
      return true;
    case TFRT_WIRE_PART_MAIL:
      add_mail(out, &part->mail);
      return true;
    case TFRT_WIRE_PART_KERNEL:
      add_kernel(out, &part->kernel);
      return true;
    default:
      return false;
  }
}

static void write_part(const tfrt_wire_answer_part_t* part, out_t* out) {
  if (part->kind == TFRT_WIRE_PART_HOST) {
    write_host(&part->host, out);
  } else if (part->kind == TFRT_WIRE_PART_PEER) {
    write_peer(&part->peer, out);
  } else if (part->kind == TFRT_WIRE_PART_DONE) {
    tfrt_string_builder_append_text(out, "cancelled");
  } else if (add_line(part, out)) {
    tfrt_string_builder_append_char(out, '\n');
  }
}

static void write_span(const tfrt_wire_answer_part_t* part, out_t* out) {
  if (part->kind == TFRT_WIRE_PART_CLOCK) {
    tfrt_trace_image_begin((int64_t)part->clock.clock_ns, part->clock.dropped, out);
  } else if (part->kind == TFRT_WIRE_PART_SPAN) {
    tfrt_trace_span_t span;
    tfrt_tracing_read_span(&part->span, &span);
    tfrt_trace_image_append_span(&span, out);
  }
}

static tfrt_status_t write_parts(tfrt_string_view_t answer,
                                 void (*write)(const tfrt_wire_answer_part_t* part, out_t* out),
                                 out_t* out) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_status_t status = NULL;
  while (answer.size > 0 && !status) {
    tfrt_wire_answer_part_t part;
    status = tfrt_wire_answer_next(&answer, &arena, &part);
    if (!status) write(&part, out);
    tfrt_arena_clear(&arena, TFRT_PLAIN_KEPT_SIZE);
  }
  tfrt_arena_deinitialize(&arena);
  return status ? status : tfrt_status_retain(tfrt_string_builder_status(out));
}

tfrt_status_t tfrt_plain_answer_write(tfrt_string_view_t answer, tfrt_string_builder_t* out) {
  return write_parts(answer, write_part, out);
}

tfrt_status_t tfrt_plain_answer_write_trace(tfrt_string_view_t answer, tfrt_string_builder_t* out) {
  return write_parts(answer, write_span, out);
}
