// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/plain_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

// --- Questions -------------------------------------------------------------------

// Sets |out_id| to the job whose id |text| begins with, in hexadecimal digits; false if it does
// not.
static bool plain_read_job(const char* text, uint8_t out_id[TFRT_WIRE_JOB_ID_SIZE]) {
  for (size_t i = 0; i < TFRT_WIRE_JOB_ID_SIZE; ++i) {
    uint64_t byte = 0;
    tfrt_string_view_t digits = tfrt_string_view_make(text + 2 * i, strnlen(text + 2 * i, 2));
    if (digits.size != 2 || !tfrt_number_text_parse_hex(digits, &byte)) return false;
    out_id[i] = (uint8_t)byte;
  }
  return true;
}

// The part of |*text| before its first blank, or all of it; |*text| moves behind that blank.
static tfrt_string_view_t plain_take_word(const char** text) {
  tfrt_string_view_t word = tfrt_string_view_make(*text, strcspn(*text, " "));
  *text += word.size;
  if (**text == ' ') ++*text;
  return word;
}

static tfrt_string_view_t plain_job_of(const tfrt_plain_question_t* question) {
  return tfrt_string_view_make((const char*)question->job, sizeof(question->job));
}

// --- Cancel ----------------------------------------------------------------------

// Reads the number behind the colon at |text|, and moves |*end| before that; false if there is
// none.
static bool plain_read_number(const char* text, const char** end, uint32_t* out_number) {
  size_t size = strspn(text + 1, "0123456789");
  if (size == 0 || size > 9 || text + 1 + size != *end) return false;
  uint64_t number = 0;
  tfrt_number_text_parse_u64(tfrt_string_view_make(text + 1, size), &number);
  *out_number = (uint32_t)number;
  *end = text;
  return true;
}

// The last colon of |text| before |end|, or |text|.
static const char* plain_find_colon(const char* text, const char* end) {
  while (end > text && *--end != ':') continue;
  return end;
}

// Reads "FILE:LINE:COLUMN"; false if |text| is something else.
static bool plain_read_place(const char* text, tfrt_wire_location_t* place) {
  const char* end = text + strlen(text);
  const char* column = plain_find_colon(text, end);
  const char* line = plain_find_colon(text, column);
  if (line == text || (size_t)(line - text) > TFRT_WIRE_MAX_PATH_SIZE ||
      !plain_read_number(column, &end, &place->column) ||
      !plain_read_number(line, &end, &place->line)) {
    return false;
  }
  place->file = tfrt_string_view_make(text, (size_t)(line - text));
  return true;
}

// Takes "@FUNCTION " off the beginning of |*text|, if it is there. One that is too long is left
// out.
static void plain_take_function(const char** text, tfrt_wire_location_t* place) {
  const char* end = **text == '@' ? strchr(*text, ' ') : NULL;
  if (!end) return;
  size_t size = (size_t)(end - *text - 1);
  if (size <= TFRT_WIRE_MAX_NAME_SIZE) place->function = tfrt_string_view_make(*text + 1, size);
  *text = end + 1;
}

// Reads "call CALLER NUMBER", with a place behind it or without; false if the text is something
// else.
static bool plain_read_call(tfrt_plain_question_t* question) {
  tfrt_wire_ask_cancel_t* cancel = &question->question.cancel;
  if (strncmp(question->text, "call ", 5) != 0) return false;
  const char* place = question->text + 5;
  if (!tfrt_number_text_parse_hex(plain_take_word(&place), &cancel->caller) ||
      !tfrt_number_text_parse_u64(plain_take_word(&place), &cancel->number)) {
    return false;
  }
  if (*place == '\0') return place[-1] != ' ';
  plain_take_function(&place, &question->place);
  cancel->place = &question->place;
  return plain_read_place(place, &question->place);
}

static tfrt_status_t plain_read_cancel(tfrt_plain_question_t* question) {
  const char* text = question->text;
  if (strncmp(text, "job ", 4) == 0 && plain_read_job(text + 4, question->job) &&
      text[4 + 2 * TFRT_WIRE_JOB_ID_SIZE] == '\0') {
    question->question.cancel.job = plain_job_of(question);
    return NULL;
  }
  if (plain_read_call(question)) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "cancel wants `job ID`, `call CALLER NUMBER` or `call CALLER NUMBER [@FUNCTION] PLACE`, not "
      "`%s`",
      text);
}

// --- Record ----------------------------------------------------------------------

// The action that |verb| names, or CLOCK.
static tfrt_wire_record_action_t plain_action(tfrt_string_view_t verb) {
  static const char* const names[] = {[TFRT_WIRE_RECORD_BEGIN] = "begin",
                                      [TFRT_WIRE_RECORD_END] = "end",
                                      [TFRT_WIRE_RECORD_READ] = "read"};
  for (uint32_t i = TFRT_WIRE_RECORD_BEGIN; i <= TFRT_WIRE_RECORD_READ; ++i) {
    if (tfrt_string_view_equal(verb, tfrt_string_view_of(names[i]))) return i;
  }
  return TFRT_WIRE_RECORD_CLOCK;
}

static bool plain_read_record_job(tfrt_plain_question_t* question, tfrt_string_view_t job) {
  if (tfrt_string_view_equal(job, tfrt_string_view_of("-"))) return true;
  if (job.size != 2 * TFRT_WIRE_JOB_ID_SIZE || !plain_read_job(job.data, question->job)) {
    return false;
  }
  question->question.record.job = plain_job_of(question);
  return true;
}

static tfrt_status_t plain_read_record(tfrt_plain_question_t* question) {
  tfrt_wire_ask_record_t* record = &question->question.record;
  const char* rest = question->text;
  int64_t number = 0;
  if (strcmp(rest, "clock") == 0) return NULL;
  record->action = plain_action(plain_take_word(&rest));
  bool is_job = plain_read_record_job(question, plain_take_word(&rest));
  bool is_number = tfrt_number_text_parse_i64(tfrt_string_view_of(rest), &number) && number >= 0;
  bool is_begin = record->action == TFRT_WIRE_RECORD_BEGIN;
  if (is_begin) {
    record->milliseconds = (uint64_t)number;
  } else if (record->action == TFRT_WIRE_RECORD_READ) {
    record->since_ns = (uint64_t)number;
  }
  bool is_action = record->action != TFRT_WIRE_RECORD_CLOCK;
  if (is_action && is_job && is_number && (!is_begin || number <= INT32_MAX)) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "record wants `clock`, `begin JOB MS`, `end JOB 0` or `read JOB SINCE`, not `%s`",
      question->text);
}

// --- Detached jobs ---------------------------------------------------------------

static tfrt_status_t plain_read_detached(tfrt_plain_question_t* question) {
  const char* rest = question->text;
  uint64_t number = 0;
  tfrt_string_view_t id = plain_take_word(&rest);
  bool is_good = id.size == sizeof(question->job) * 2 && plain_read_job(id.data, question->job) &&
                 tfrt_number_text_parse_u64(tfrt_string_view_of(rest), &number);
  bool is_result = question->question.kind == TFRT_WIRE_ASK_KEPT_RESULT;
  if (!is_good || (is_result && number > UINT32_MAX)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "`ID NUMBER` was wanted, not `%s`",
                              question->text);
  }
  if (is_result) {
    question->question.kept_result =
        (tfrt_wire_ask_kept_result_t){plain_job_of(question), (uint32_t)number};
  } else {
    question->question.follow = (tfrt_wire_ask_follow_t){plain_job_of(question), number};
  }
  return NULL;
}

tfrt_status_t tfrt_plain_question_read(tfrt_wire_question_kind_t kind, tfrt_string_view_t text,
                                       tfrt_plain_question_t* out_question) {
  *out_question = (tfrt_plain_question_t){.question = {.kind = kind}};
  snprintf(out_question->text, sizeof(out_question->text), "%.*s",
           TFRT_STRING_VIEW_ARGUMENTS(text));
  switch (kind) {
    case TFRT_WIRE_ASK_CANCEL:
      return plain_read_cancel(out_question);
    case TFRT_WIRE_ASK_RECORD:
      return plain_read_record(out_question);
    case TFRT_WIRE_ASK_FOLLOW:
    case TFRT_WIRE_ASK_KEPT_RESULT:
      return plain_read_detached(out_question);
    default:
      return NULL;
  }
}

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
  if (value->state == TFRT_WIRE_VALUE_MOVING) add_number(out, "received", value->received);
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
      out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
      peer->frames_sent, peer->frames_received, peer->bytes_sent, peer->bytes_received,
      peer->payload_bytes_sent, peer->payload_bytes_received, peer->payload_bytes_borrowed);
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

static void add_more(out_t* out, const tfrt_wire_more_part_t* more) {
  begin(out, "more", tfrt_string_view_of(""));
  add_number(out, "jobs", more->jobs);
  add_number(out, "members", more->members);
  add_number(out, "starts", more->starts);
  add_number(out, "incoming_calls", more->incoming_calls);
  add_number(out, "outgoing_calls", more->outgoing_calls);
  add_number(out, "objects", more->objects);
  add_number(out, "remote_values", more->remote_values);
  add_number(out, "mail", more->mail);
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
    case TFRT_WIRE_PART_MORE:
      add_more(out, &part->more);
      return true;
    default:
      return false;
  }
}

static tfrt_status_t write_part(void* self, const tfrt_wire_answer_part_t* part) {
  out_t* out = self;
  if (part->kind == TFRT_WIRE_PART_HOST) {
    write_host(&part->host, out);
  } else if (part->kind == TFRT_WIRE_PART_PEER) {
    write_peer(&part->peer, out);
  } else if (part->kind == TFRT_WIRE_PART_DONE) {
    tfrt_string_builder_append_text(out, "cancelled");
  } else if (part->kind == TFRT_WIRE_PART_DRAIN) {
    tfrt_string_builder_append_format(out, "%" PRIu64, part->drain.jobs);
  } else if (add_line(part, out)) {
    tfrt_string_builder_append_char(out, '\n');
  }
  return tfrt_status_retain(tfrt_string_builder_status(out));
}

tfrt_status_t tfrt_plain_answer_write(tfrt_string_view_t answer, tfrt_string_builder_t* out) {
  return tfrt_wire_answer_each(answer, write_part, out);
}
