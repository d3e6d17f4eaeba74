// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/service.h"

#include "distributed/wire/codec.h"
#include "distributed/wire/limits.h"
#include "proto/service.pb-c.h"

// Answer.parts.
enum { PARTS_NUMBER = 1 };

#define FIELD TFRT_WIRE_FIELD
#define NAME .limit = TFRT_WIRE_MAX_NAME_SIZE
#define JOB_ID .exact = true, .limit = TFRT_WIRE_JOB_ID_SIZE
#define PLACE .form = TFRT_WIRE_FORM_POINTER, .message = &tfrt_wire_location_message

// --- Questions -----------------------------------------------------------------

// A table without rows has a pointer to none.
static const tfrt_wire_message_t ask_status_message = {.name = "AskStatus",
                                                       .struct_size = sizeof(tfrt_wire_ask_t)};
static const tfrt_wire_field_t ask_inventory_fields[] = {
    FIELD(tfrt_wire_ask_inventory_t, kinds, 1, UINT32),
    FIELD(tfrt_wire_ask_inventory_t, limit, 2, UINT32),
    FIELD(tfrt_wire_ask_inventory_t, skip, 3, UINT64),
};
static const tfrt_wire_message_t ask_inventory_message =
    TFRT_WIRE_MESSAGE("AskInventory", tfrt_wire_ask_inventory_t, ask_inventory_fields);
static const tfrt_wire_message_t ask_trace_message = {.name = "AskTrace",
                                                      .struct_size = sizeof(tfrt_wire_ask_t)};
static const tfrt_wire_message_t ask_drain_message = {.name = "AskDrain",
                                                      .struct_size = sizeof(tfrt_wire_ask_t)};
static const tfrt_wire_message_t done_part_message = {.name = "DonePart",
                                                      .struct_size = sizeof(tfrt_wire_ask_t)};

static const tfrt_wire_field_t ask_cancel_fields[] = {
    FIELD(tfrt_wire_ask_cancel_t, job, 1, BYTES, .limit = TFRT_WIRE_JOB_ID_SIZE),
    FIELD(tfrt_wire_ask_cancel_t, caller, 2, FIXED64),
    FIELD(tfrt_wire_ask_cancel_t, number, 3, UINT64, .limit = TFRT_WIRE_MAX_NUMBER),
    FIELD(tfrt_wire_ask_cancel_t, place, 4, MESSAGE, PLACE),
};

static tfrt_status_t check_job(const char* message, tfrt_string_view_t job) {
  if (job.size == 0 || job.size == TFRT_WIRE_JOB_ID_SIZE) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.job: %zu bytes, must be none or %d",
                            message, job.size, TFRT_WIRE_JOB_ID_SIZE);
}

static tfrt_status_t check_ask_cancel(const void* object) {
  const tfrt_wire_ask_cancel_t* cancel = object;
  TFRT_RETURN_IF_ERROR(check_job("AskCancel", cancel->job));
  if ((cancel->job.size == 0) != (cancel->caller == 0)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "AskCancel.job: exactly one of job and caller must be set");
}

static const tfrt_wire_message_t ask_cancel_message = TFRT_WIRE_MESSAGE(
    "AskCancel", tfrt_wire_ask_cancel_t, ask_cancel_fields, .check = check_ask_cancel);

static const tfrt_wire_field_t ask_record_fields[] = {
    FIELD(tfrt_wire_ask_record_t, action, 1, ENUM, .limit = TFRT_WIRE_RECORD_READ,
          .fallback = TFRT_WIRE_RECORD_CLOCK),
    FIELD(tfrt_wire_ask_record_t, job, 2, BYTES, .limit = TFRT_WIRE_JOB_ID_SIZE),
    FIELD(tfrt_wire_ask_record_t, milliseconds, 3, UINT64, .limit = INT32_MAX),
    FIELD(tfrt_wire_ask_record_t, since_ns, 4, UINT64, .limit = INT64_MAX),
};

static tfrt_status_t check_ask_record(const void* object) {
  return check_job("AskRecord", ((const tfrt_wire_ask_record_t*)object)->job);
}

static const tfrt_wire_message_t ask_record_message = TFRT_WIRE_MESSAGE(
    "AskRecord", tfrt_wire_ask_record_t, ask_record_fields, .check = check_ask_record);

static const tfrt_wire_field_t ask_follow_fields[] = {
    FIELD(tfrt_wire_ask_follow_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_ask_follow_t, from, 2, UINT64),
};
static const tfrt_wire_message_t ask_follow_message =
    TFRT_WIRE_MESSAGE("AskFollow", tfrt_wire_ask_follow_t, ask_follow_fields);

static const tfrt_wire_field_t ask_kept_result_fields[] = {
    FIELD(tfrt_wire_ask_kept_result_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_ask_kept_result_t, index, 2, UINT32),
};
static const tfrt_wire_message_t ask_kept_result_message =
    TFRT_WIRE_MESSAGE("AskKeptResult", tfrt_wire_ask_kept_result_t, ask_kept_result_fields);

static const tfrt_wire_field_t question_fields[] = {
    FIELD(tfrt_wire_question_t, status, TFRT_WIRE_ASK_STATUS, MESSAGE,
          .message = &ask_status_message),
    FIELD(tfrt_wire_question_t, inventory, TFRT_WIRE_ASK_INVENTORY, MESSAGE,
          .message = &ask_inventory_message),
    FIELD(tfrt_wire_question_t, cancel, TFRT_WIRE_ASK_CANCEL, MESSAGE,
          .message = &ask_cancel_message),
    FIELD(tfrt_wire_question_t, trace, TFRT_WIRE_ASK_TRACE, MESSAGE, .message = &ask_trace_message),
    FIELD(tfrt_wire_question_t, record, TFRT_WIRE_ASK_RECORD, MESSAGE,
          .message = &ask_record_message),
    FIELD(tfrt_wire_question_t, follow, TFRT_WIRE_ASK_FOLLOW, MESSAGE,
          .message = &ask_follow_message),
    FIELD(tfrt_wire_question_t, kept_result, TFRT_WIRE_ASK_KEPT_RESULT, MESSAGE,
          .message = &ask_kept_result_message),
    FIELD(tfrt_wire_question_t, drain, TFRT_WIRE_ASK_DRAIN, MESSAGE, .message = &ask_drain_message),
};
const tfrt_wire_message_t tfrt_wire_question_message =
    TFRT_WIRE_MESSAGE("Question", tfrt_wire_question_t, question_fields, .is_oneof = true,
                      .kind_offset = offsetof(tfrt_wire_question_t, kind));

// --- Parts: the host and its peers -----------------------------------------------

static const tfrt_wire_field_t host_counts_fields[] = {
    FIELD(tfrt_wire_host_counts_t, jobs, 1, UINT64),
    FIELD(tfrt_wire_host_counts_t, kept_jobs, 2, UINT64),
    FIELD(tfrt_wire_host_counts_t, objects, 3, UINT64),
    FIELD(tfrt_wire_host_counts_t, remote_values, 4, UINT64),
    FIELD(tfrt_wire_host_counts_t, outgoing_calls, 5, UINT64),
    FIELD(tfrt_wire_host_counts_t, incoming_calls, 6, UINT64),
    FIELD(tfrt_wire_host_counts_t, incoming_wants, 7, UINT64),
    FIELD(tfrt_wire_host_counts_t, transfers, 8, UINT64),
};
static const tfrt_wire_message_t host_counts_message =
    TFRT_WIRE_MESSAGE("HostCounts", tfrt_wire_host_counts_t, host_counts_fields);

static const tfrt_wire_field_t host_counters_fields[] = {
    FIELD(tfrt_wire_host_counters_t, frames_sent, 1, UINT64),
    FIELD(tfrt_wire_host_counters_t, frames_received, 2, UINT64),
    FIELD(tfrt_wire_host_counters_t, frames_replayed, 3, UINT64),
    FIELD(tfrt_wire_host_counters_t, resumes, 4, UINT64),
    FIELD(tfrt_wire_host_counters_t, dials, 5, UINT64),
    FIELD(tfrt_wire_host_counters_t, deaths, 6, UINT64),
};
static const tfrt_wire_message_t host_counters_message =
    TFRT_WIRE_MESSAGE("HostCounters", tfrt_wire_host_counters_t, host_counters_fields);

static const tfrt_wire_field_t host_part_fields[] = {
    FIELD(tfrt_wire_host_part_t, incarnation, 1, FIXED64, .required = true),
    FIELD(tfrt_wire_host_part_t, name, 2, STRING, NAME),
    FIELD(tfrt_wire_host_part_t, serving, 3, BOOL),
    FIELD(tfrt_wire_host_part_t, counts, 4, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
          .message = &host_counts_message),
    FIELD(tfrt_wire_host_part_t, counters, 5, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
          .message = &host_counters_message),
};
static const tfrt_wire_message_t host_part_message =
    TFRT_WIRE_MESSAGE("HostPart", tfrt_wire_host_part_t, host_part_fields);

static const tfrt_wire_field_t peer_part_fields[] = {
    FIELD(tfrt_wire_peer_part_t, incarnation, 1, FIXED64),
    FIELD(tfrt_wire_peer_part_t, state, 2, ENUM, .limit = TFRT_WIRE_MAX_SESSION_STATE),
    FIELD(tfrt_wire_peer_part_t, round_trip_us, 3, UINT64),
    FIELD(tfrt_wire_peer_part_t, address, 4, STRING, NAME),
    FIELD(tfrt_wire_peer_part_t, name, 5, STRING, NAME),
    FIELD(tfrt_wire_peer_part_t, frames_sent, 6, UINT64),
    FIELD(tfrt_wire_peer_part_t, frames_received, 7, UINT64),
    FIELD(tfrt_wire_peer_part_t, bytes_sent, 8, UINT64),
    FIELD(tfrt_wire_peer_part_t, bytes_received, 9, UINT64),
    FIELD(tfrt_wire_peer_part_t, payload_bytes_sent, 10, UINT64),
    FIELD(tfrt_wire_peer_part_t, payload_bytes_received, 11, UINT64),
    FIELD(tfrt_wire_peer_part_t, payload_bytes_borrowed, 12, UINT64),
};
static const tfrt_wire_message_t peer_part_message =
    TFRT_WIRE_MESSAGE("PeerPart", tfrt_wire_peer_part_t, peer_part_fields);

// --- Parts: jobs and their work --------------------------------------------------

static const tfrt_wire_field_t job_part_fields[] = {
    FIELD(tfrt_wire_job_part_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_job_part_t, name, 2, STRING, NAME),
    FIELD(tfrt_wire_job_part_t, rank, 3, UINT32),
    FIELD(tfrt_wire_job_part_t, hosts, 4, UINT32),
    FIELD(tfrt_wire_job_part_t, root, 5, FIXED64),
    FIELD(tfrt_wire_job_part_t, client, 6, FIXED64),
    FIELD(tfrt_wire_job_part_t, age_us, 7, UINT64),
    FIELD(tfrt_wire_job_part_t, state, 8, ENUM, .limit = TFRT_WIRE_JOB_STATE_KEPT),
};
static const tfrt_wire_message_t job_part_message =
    TFRT_WIRE_MESSAGE("JobPart", tfrt_wire_job_part_t, job_part_fields);

static const tfrt_wire_field_t member_part_fields[] = {
    FIELD(tfrt_wire_member_part_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_member_part_t, rank, 2, UINT32),
    FIELD(tfrt_wire_member_part_t, incarnation, 3, FIXED64),
    FIELD(tfrt_wire_member_part_t, address, 4, STRING, NAME),
    FIELD(tfrt_wire_member_part_t, is_lost, 5, BOOL),
};
static const tfrt_wire_message_t member_part_message =
    TFRT_WIRE_MESSAGE("MemberPart", tfrt_wire_member_part_t, member_part_fields);

static const tfrt_wire_field_t need_fields[] = {
    FIELD(tfrt_wire_need_t, owner, 1, FIXED64),
    FIELD(tfrt_wire_need_t, id, 2, MESSAGE, .required = true,
          .message = &tfrt_wire_object_id_message),
};
static const tfrt_wire_message_t need_message =
    TFRT_WIRE_MESSAGE("Need", tfrt_wire_need_t, need_fields);

static const tfrt_wire_field_t work_fields[] = {
    FIELD(tfrt_wire_work_t, request, 1, UINT64),
    FIELD(tfrt_wire_work_t, function, 2, STRING, NAME),
    FIELD(tfrt_wire_work_t, age_us, 3, UINT64),
    FIELD(tfrt_wire_work_t, state, 4, ENUM, .limit = TFRT_WIRE_WORK_CANCELLED),
    TFRT_WIRE_REPEATED(tfrt_wire_work_t, needs, need_count, 5, MESSAGE, TFRT_WIRE_MAX_NEEDS,
                       .message = &need_message),
};
static const tfrt_wire_message_t work_message =
    TFRT_WIRE_MESSAGE("Work", tfrt_wire_work_t, work_fields);

static const tfrt_wire_field_t parent_fields[] = {
    FIELD(tfrt_wire_parent_t, caller, 1, FIXED64),
    FIELD(tfrt_wire_parent_t, number, 2, UINT64),
};
static const tfrt_wire_message_t parent_message =
    TFRT_WIRE_MESSAGE("Parent", tfrt_wire_parent_t, parent_fields);

static const tfrt_wire_field_t start_part_fields[] = {
    FIELD(tfrt_wire_start_part_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_start_part_t, number, 2, UINT64),
    FIELD(tfrt_wire_start_part_t, work, 3, MESSAGE, .required = true, .message = &work_message),
};
static const tfrt_wire_message_t start_part_message =
    TFRT_WIRE_MESSAGE("StartPart", tfrt_wire_start_part_t, start_part_fields);

static const tfrt_wire_field_t incoming_call_part_fields[] = {
    FIELD(tfrt_wire_incoming_call_part_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_incoming_call_part_t, caller, 2, FIXED64),
    FIELD(tfrt_wire_incoming_call_part_t, number, 3, UINT64),
    FIELD(tfrt_wire_incoming_call_part_t, depth, 4, UINT32),
    FIELD(tfrt_wire_incoming_call_part_t, work, 5, MESSAGE, .required = true,
          .message = &work_message),
};
static const tfrt_wire_message_t incoming_call_part_message = TFRT_WIRE_MESSAGE(
    "IncomingCallPart", tfrt_wire_incoming_call_part_t, incoming_call_part_fields);

static const tfrt_wire_field_t outgoing_call_part_fields[] = {
    FIELD(tfrt_wire_outgoing_call_part_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_outgoing_call_part_t, callee, 2, FIXED64),
    FIELD(tfrt_wire_outgoing_call_part_t, number, 3, UINT64),
    FIELD(tfrt_wire_outgoing_call_part_t, request, 4, UINT64),
    FIELD(tfrt_wire_outgoing_call_part_t, function, 5, STRING, NAME),
    FIELD(tfrt_wire_outgoing_call_part_t, age_us, 6, UINT64),
    FIELD(tfrt_wire_outgoing_call_part_t, is_cancelled, 7, BOOL),
    FIELD(tfrt_wire_outgoing_call_part_t, parent, 8, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
          .message = &parent_message),
    FIELD(tfrt_wire_outgoing_call_part_t, place, 9, MESSAGE, PLACE),
};
static const tfrt_wire_message_t outgoing_call_part_message = TFRT_WIRE_MESSAGE(
    "OutgoingCallPart", tfrt_wire_outgoing_call_part_t, outgoing_call_part_fields);

// --- Parts: values and kernels ---------------------------------------------------

static const tfrt_wire_field_t value_info_fields[] = {
    FIELD(tfrt_wire_value_info_t, state, 1, ENUM, .limit = TFRT_WIRE_VALUE_MOVING),
    FIELD(tfrt_wire_value_info_t, type, 2, STRING, .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    FIELD(tfrt_wire_value_info_t, has_size, 3, BOOL),
    FIELD(tfrt_wire_value_info_t, size, 4, UINT64),
    FIELD(tfrt_wire_value_info_t, received, 5, UINT64),
};
static const tfrt_wire_message_t value_info_message =
    TFRT_WIRE_MESSAGE("ValueInfo", tfrt_wire_value_info_t, value_info_fields);

static const tfrt_wire_field_t holder_fields[] = {
    FIELD(tfrt_wire_holder_t, incarnation, 1, FIXED64),
};
static const tfrt_wire_message_t holder_message =
    TFRT_WIRE_MESSAGE("Holder", tfrt_wire_holder_t, holder_fields);

static const tfrt_wire_field_t object_part_fields[] = {
    FIELD(tfrt_wire_object_part_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_object_part_t, id, 2, MESSAGE, .required = true,
          .message = &tfrt_wire_object_id_message),
    FIELD(tfrt_wire_object_part_t, value, 3, MESSAGE, .required = true,
          .message = &value_info_message),
    FIELD(tfrt_wire_object_part_t, age_us, 4, UINT64),
    FIELD(tfrt_wire_object_part_t, function, 5, STRING, NAME),
    TFRT_WIRE_REPEATED(tfrt_wire_object_part_t, holders, holder_count, 6, MESSAGE,
                       TFRT_WIRE_MAX_MEMBERS, .message = &holder_message),
    FIELD(tfrt_wire_object_part_t, loans, 7, UINT32),
};
static const tfrt_wire_message_t object_part_message =
    TFRT_WIRE_MESSAGE("ObjectPart", tfrt_wire_object_part_t, object_part_fields);

static const tfrt_wire_field_t remote_value_part_fields[] = {
    FIELD(tfrt_wire_remote_value_part_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_remote_value_part_t, id, 2, MESSAGE, .required = true,
          .message = &tfrt_wire_object_id_message),
    FIELD(tfrt_wire_remote_value_part_t, owner, 3, FIXED64),
    FIELD(tfrt_wire_remote_value_part_t, value, 4, MESSAGE, .required = true,
          .message = &value_info_message),
    FIELD(tfrt_wire_remote_value_part_t, age_us, 5, UINT64),
    FIELD(tfrt_wire_remote_value_part_t, function, 6, STRING, NAME),
    FIELD(tfrt_wire_remote_value_part_t, place, 7, MESSAGE, PLACE),
};
static const tfrt_wire_message_t remote_value_part_message =
    TFRT_WIRE_MESSAGE("RemoteValuePart", tfrt_wire_remote_value_part_t, remote_value_part_fields);

static const tfrt_wire_field_t mail_part_fields[] = {
    FIELD(tfrt_wire_mail_part_t, job, 1, BYTES, JOB_ID),
    FIELD(tfrt_wire_mail_part_t, is_sent, 2, BOOL),
    FIELD(tfrt_wire_mail_part_t, request, 3, UINT64),
    FIELD(tfrt_wire_mail_part_t, sender, 4, UINT32),
    FIELD(tfrt_wire_mail_part_t, key, 5, BYTES, .limit = TFRT_WIRE_MAX_KEY_SIZE),
    FIELD(tfrt_wire_mail_part_t, kernel, 6, STRING, NAME),
    FIELD(tfrt_wire_mail_part_t, place, 7, MESSAGE, PLACE),
};
static const tfrt_wire_message_t mail_part_message =
    TFRT_WIRE_MESSAGE("MailPart", tfrt_wire_mail_part_t, mail_part_fields);

static const tfrt_wire_field_t kernel_part_fields[] = {
    FIELD(tfrt_wire_kernel_part_t, job, 1, BYTES, .limit = TFRT_WIRE_JOB_ID_SIZE),
    FIELD(tfrt_wire_kernel_part_t, request, 2, UINT64),
    FIELD(tfrt_wire_kernel_part_t, parent, 3, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
          .message = &parent_message),
    FIELD(tfrt_wire_kernel_part_t, kernel, 4, STRING, NAME),
    FIELD(tfrt_wire_kernel_part_t, place, 5, MESSAGE, PLACE),
    FIELD(tfrt_wire_kernel_part_t, age_us, 6, UINT64),
};

static tfrt_status_t check_kernel_part(const void* object) {
  return check_job("KernelPart", ((const tfrt_wire_kernel_part_t*)object)->job);
}

static const tfrt_wire_message_t kernel_part_message = TFRT_WIRE_MESSAGE(
    "KernelPart", tfrt_wire_kernel_part_t, kernel_part_fields, .check = check_kernel_part);

// --- Parts: spans ----------------------------------------------------------------

static const tfrt_wire_field_t clock_part_fields[] = {
    FIELD(tfrt_wire_clock_part_t, clock_ns, 1, FIXED64),
    FIELD(tfrt_wire_clock_part_t, dropped, 2, UINT64),
};
static const tfrt_wire_message_t clock_part_message =
    TFRT_WIRE_MESSAGE("ClockPart", tfrt_wire_clock_part_t, clock_part_fields);

static const tfrt_wire_field_t span_part_fields[] = {
    FIELD(tfrt_wire_span_part_t, begin_ns, 1, FIXED64),
    FIELD(tfrt_wire_span_part_t, end_ns, 2, FIXED64),
    FIELD(tfrt_wire_span_part_t, request, 3, UINT64),
    FIELD(tfrt_wire_span_part_t, thread, 4, UINT32),
    FIELD(tfrt_wire_span_part_t, category, 5, STRING, NAME),
    FIELD(tfrt_wire_span_part_t, name, 6, STRING, NAME),
    FIELD(tfrt_wire_span_part_t, location, 7, UINT32),
};

static tfrt_status_t check_span_part(const void* object) {
  const tfrt_wire_span_part_t* span = object;
  if ((int64_t)span->end_ns >= (int64_t)span->begin_ns) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "SpanPart.end_ns: is before begin_ns");
}

static const tfrt_wire_message_t span_part_message = TFRT_WIRE_MESSAGE(
    "SpanPart", tfrt_wire_span_part_t, span_part_fields, .check = check_span_part);

static const tfrt_wire_field_t more_part_fields[] = {
    FIELD(tfrt_wire_more_part_t, jobs, 1, UINT64),
    FIELD(tfrt_wire_more_part_t, members, 2, UINT64),
    FIELD(tfrt_wire_more_part_t, starts, 3, UINT64),
    FIELD(tfrt_wire_more_part_t, incoming_calls, 4, UINT64),
    FIELD(tfrt_wire_more_part_t, outgoing_calls, 5, UINT64),
    FIELD(tfrt_wire_more_part_t, objects, 6, UINT64),
    FIELD(tfrt_wire_more_part_t, remote_values, 7, UINT64),
    FIELD(tfrt_wire_more_part_t, mail, 8, UINT64),
};
static const tfrt_wire_message_t more_part_message =
    TFRT_WIRE_MESSAGE("MorePart", tfrt_wire_more_part_t, more_part_fields);

// --- Parts: detached jobs ----------------------------------------------------------

static const tfrt_wire_field_t follow_part_fields[] = {
    FIELD(tfrt_wire_follow_part_t, state, 1, ENUM, .limit = TFRT_WIRE_DETACHED_ENDED),
    FIELD(tfrt_wire_follow_part_t, function, 2, STRING, NAME),
    FIELD(tfrt_wire_follow_part_t, results, 3, UINT32),
    FIELD(tfrt_wire_follow_part_t, from, 4, UINT64),
    FIELD(tfrt_wire_follow_part_t, next, 5, UINT64),
    FIELD(tfrt_wire_follow_part_t, has_more, 6, BOOL),
    FIELD(tfrt_wire_follow_part_t, is_loss, 7, BOOL),
};

static tfrt_status_t check_follow_part(const void* object) {
  const tfrt_wire_follow_part_t* follow = object;
  if (follow->next >= follow->from) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "FollowPart.next: is before from");
}

static const tfrt_wire_message_t follow_part_message = TFRT_WIRE_MESSAGE(
    "FollowPart", tfrt_wire_follow_part_t, follow_part_fields, .check = check_follow_part);

static const tfrt_wire_field_t line_part_fields[] = {
    FIELD(tfrt_wire_line_part_t, rank, 1, UINT32),
    FIELD(tfrt_wire_line_part_t, text, 2, BYTES, .limit = TFRT_WIRE_MAX_LINE_SIZE),
    FIELD(tfrt_wire_line_part_t, rest, 3, UINT32),
};
static const tfrt_wire_message_t line_part_message =
    TFRT_WIRE_MESSAGE("LinePart", tfrt_wire_line_part_t, line_part_fields);

static const tfrt_wire_field_t drain_part_fields[] = {
    FIELD(tfrt_wire_drain_part_t, jobs, 1, UINT64),
};
static const tfrt_wire_message_t drain_part_message =
    TFRT_WIRE_MESSAGE("DrainPart", tfrt_wire_drain_part_t, drain_part_fields);

// --- Answers ---------------------------------------------------------------------

#define PART(member, kind) \
  FIELD(tfrt_wire_answer_part_t, member, kind, MESSAGE, .message = &member##_part_message)

static const tfrt_wire_field_t answer_part_fields[] = {
    PART(host, TFRT_WIRE_PART_HOST),
    PART(peer, TFRT_WIRE_PART_PEER),
    PART(job, TFRT_WIRE_PART_JOB),
    PART(member, TFRT_WIRE_PART_MEMBER),
    PART(start, TFRT_WIRE_PART_START),
    PART(incoming_call, TFRT_WIRE_PART_INCOMING_CALL),
    PART(outgoing_call, TFRT_WIRE_PART_OUTGOING_CALL),
    PART(object, TFRT_WIRE_PART_OBJECT),
    PART(remote_value, TFRT_WIRE_PART_REMOTE_VALUE),
    PART(mail, TFRT_WIRE_PART_MAIL),
    PART(kernel, TFRT_WIRE_PART_KERNEL),
    PART(clock, TFRT_WIRE_PART_CLOCK),
    PART(span, TFRT_WIRE_PART_SPAN),
    PART(done, TFRT_WIRE_PART_DONE),
    PART(more, TFRT_WIRE_PART_MORE),
    PART(follow, TFRT_WIRE_PART_FOLLOW),
    PART(line, TFRT_WIRE_PART_LINE),
    PART(drain, TFRT_WIRE_PART_DRAIN),
};
const tfrt_wire_message_t tfrt_wire_answer_part_message =
    TFRT_WIRE_MESSAGE("AnswerPart", tfrt_wire_answer_part_t, answer_part_fields,
                      .max_size = TFRT_WIRE_MAX_PART_SIZE, .is_oneof = true, .may_be_unknown = true,
                      .kind_offset = offsetof(tfrt_wire_answer_part_t, kind));

tfrt_status_t tfrt_wire_question_encode(const tfrt_wire_question_t* question,
                                        tfrt_string_builder_t* out) {
  return tfrt_wire_pack(&tfrt__peer__v1__question__descriptor, &tfrt_wire_question_message,
                        question, out);
}

tfrt_status_t tfrt_wire_question_decode(tfrt_string_view_t bytes, tfrt_arena_t* arena,
                                        tfrt_wire_question_t* out_question) {
  return tfrt_wire_unpack(&tfrt__peer__v1__question__descriptor, &tfrt_wire_question_message, bytes,
                          TFRT_WIRE_MAX_PART_DECODED_SIZE, arena, out_question);
}

static tfrt_status_t append_prefixed(tfrt_string_view_t packed, tfrt_string_builder_t* out) {
  uint8_t prefix[20];
  uint8_t* end = tfrt_wire_write_varint(prefix, tfrt_wire_tag(PARTS_NUMBER, TFRT_WIRE_TYPE_BYTES));
  end = tfrt_wire_write_varint(end, packed.size);
  tfrt_string_builder_append(out, prefix, (size_t)(end - prefix));
  tfrt_string_builder_append_view(out, packed);
  return tfrt_string_builder_status(out);
}

tfrt_status_t tfrt_wire_answer_append(const tfrt_wire_answer_part_t* part,
                                      tfrt_string_builder_t* out) {
  tfrt_string_builder_t packed;
  tfrt_string_builder_initialize(&packed, tfrt_allocator_system());
  tfrt_status_t status = tfrt_wire_pack(&tfrt__peer__v1__answer_part__descriptor,
                                        &tfrt_wire_answer_part_message, part, &packed);
  if (!status) status = append_prefixed(tfrt_string_builder_view(&packed), out);
  tfrt_string_builder_deinitialize(&packed);
  return status;
}

static tfrt_status_t malformed(void) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "Answer.parts: cut off or malformed");
}

tfrt_status_t tfrt_wire_answer_next(tfrt_string_view_t* rest, tfrt_arena_t* arena,
                                    tfrt_wire_answer_part_t* out_part) {
  *out_part = (tfrt_wire_answer_part_t){0};
  const uint8_t* bytes = (const uint8_t*)rest->data;
  tfrt_wire_reader_t reader = {.position = bytes, .end = bytes + rest->size};
  uint32_t number;
  uint32_t type;
  tfrt_string_view_t part = tfrt_string_view_of("");
  if (!tfrt_wire_read_tag(&reader, &number, &type)) return malformed();
  bool is_part = number == PARTS_NUMBER && type == TFRT_WIRE_TYPE_BYTES;
  bool is_good = is_part ? tfrt_wire_read_bytes(&reader, &part) : tfrt_wire_skip(&reader, type);
  if (!is_good) return malformed();
  if (part.size > TFRT_WIRE_MAX_PART_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Answer.parts: %zu bytes, at most %u are allowed", part.size,
                              TFRT_WIRE_MAX_PART_SIZE);
  }
  *rest =
      tfrt_string_view_make((const char*)reader.position, (size_t)(reader.end - reader.position));
  return is_part ? tfrt_wire_unpack(&tfrt__peer__v1__answer_part__descriptor,
                                    &tfrt_wire_answer_part_message, part,
                                    TFRT_WIRE_MAX_PART_DECODED_SIZE, arena, out_part)
                 : NULL;
}

// The arena keeps this much from part to part.
#define TFRT_WIRE_ANSWER_KEPT_SIZE 4096

tfrt_status_t tfrt_wire_answer_each(tfrt_string_view_t answer, tfrt_wire_answer_part_fn_t on_part,
                                    void* self) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_status_t status = NULL;
  while (answer.size > 0 && !status) {
    tfrt_wire_answer_part_t part;
    status = tfrt_wire_answer_next(&answer, &arena, &part);
    if (!status) status = on_part(self, &part);
    tfrt_arena_clear(&arena, TFRT_WIRE_ANSWER_KEPT_SIZE);
  }
  tfrt_arena_deinitialize(&arena);
  return status;
}
