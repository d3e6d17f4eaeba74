// SPDX-License-Identifier: Apache-2.0
//
// Questions that any client may ask a host, and the host's answers (proto/service.proto, which says
// what each field means). Both travel as values of the type "!tfrt.message".
//
//   client:  question --encode--> bytes            part <--next-- bytes of the answer
//   host:    question <--decode-- bytes            part --append--> bytes of the answer
//
// An answer is read part by part, so what reading takes doesn't depend on its length: at most
// TFRT_WIRE_MAX_PART_DECODED_SIZE bytes of the caller's arena for each part.
//
// Thread rule: values; texts, bytes and arrays are borrowed.
// Failure rule: INVALID_ARGUMENT with the message's and mostly the field's name;
// RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_DISTRIBUTED_WIRE_SERVICE_H_
#define TFRT_DISTRIBUTED_WIRE_SERVICE_H_

#include "distributed/wire/call.h"
#include "host_runtime/base/string_builder.h"

// The kinds are numbers of fields.
typedef enum tfrt_wire_question_kind_e {
  TFRT_WIRE_ASK_STATUS = 1,
  TFRT_WIRE_ASK_INVENTORY = 2,
  TFRT_WIRE_ASK_CANCEL = 3,
  TFRT_WIRE_ASK_TRACE = 4,
  TFRT_WIRE_ASK_RECORD = 5,
  TFRT_WIRE_ASK_FOLLOW = 6,
  TFRT_WIRE_ASK_KEPT_RESULT = 7,
  TFRT_WIRE_ASK_DRAIN = 8,
} tfrt_wire_question_kind_t;

// Without fields.
typedef struct tfrt_wire_ask_s {
  bool reserved;  // a struct in C has a member
} tfrt_wire_ask_t;

typedef struct tfrt_wire_ask_inventory_s {
  uint32_t kinds;  // 1 << tfrt_wire_part_kind_t; 0: all
  uint32_t limit;  // of each kind; 0: the host's
  uint64_t skip;   // of calls, values and mail
} tfrt_wire_ask_inventory_t;

typedef struct tfrt_wire_ask_cancel_s {
  tfrt_string_view_t job;  // TFRT_WIRE_JOB_ID_SIZE bytes; empty: a call
  uint64_t caller;
  uint64_t number;
  const tfrt_wire_location_t* place;  // NULL: not known
} tfrt_wire_ask_cancel_t;

typedef enum tfrt_wire_record_action_e {
  TFRT_WIRE_RECORD_CLOCK = 0,
  TFRT_WIRE_RECORD_BEGIN = 1,
  TFRT_WIRE_RECORD_END = 2,
  TFRT_WIRE_RECORD_READ = 3,
} tfrt_wire_record_action_t;

typedef struct tfrt_wire_ask_record_s {
  uint32_t action;         // tfrt_wire_record_action_t
  tfrt_string_view_t job;  // TFRT_WIRE_JOB_ID_SIZE bytes; empty: all
  uint64_t milliseconds;   // at most INT32_MAX
  uint64_t since_ns;
} tfrt_wire_ask_record_t;

typedef struct tfrt_wire_ask_follow_s {
  tfrt_string_view_t job;  // TFRT_WIRE_JOB_ID_SIZE bytes
  uint64_t from;
} tfrt_wire_ask_follow_t;

typedef struct tfrt_wire_ask_kept_result_s {
  tfrt_string_view_t job;  // TFRT_WIRE_JOB_ID_SIZE bytes
  uint32_t index;
} tfrt_wire_ask_kept_result_t;

typedef struct tfrt_wire_question_s {
  uint32_t kind;  // tfrt_wire_question_kind_t
  union {
    tfrt_wire_ask_t status;
    tfrt_wire_ask_inventory_t inventory;
    tfrt_wire_ask_cancel_t cancel;
    tfrt_wire_ask_t trace;
    tfrt_wire_ask_record_t record;
    tfrt_wire_ask_follow_t follow;
    tfrt_wire_ask_kept_result_t kept_result;
    tfrt_wire_ask_t drain;
  };
} tfrt_wire_question_t;

typedef enum tfrt_wire_part_kind_e {
  TFRT_WIRE_PART_UNKNOWN = 0,  // of a later version
  TFRT_WIRE_PART_HOST = 1,
  TFRT_WIRE_PART_PEER = 2,
  TFRT_WIRE_PART_JOB = 3,
  TFRT_WIRE_PART_MEMBER = 4,
  TFRT_WIRE_PART_START = 5,
  TFRT_WIRE_PART_INCOMING_CALL = 6,
  TFRT_WIRE_PART_OUTGOING_CALL = 7,
  TFRT_WIRE_PART_OBJECT = 8,
  TFRT_WIRE_PART_REMOTE_VALUE = 9,
  TFRT_WIRE_PART_MAIL = 10,
  TFRT_WIRE_PART_KERNEL = 11,
  TFRT_WIRE_PART_CLOCK = 12,
  TFRT_WIRE_PART_SPAN = 13,
  TFRT_WIRE_PART_DONE = 14,
  TFRT_WIRE_PART_MORE = 15,
  TFRT_WIRE_PART_FOLLOW = 16,
  TFRT_WIRE_PART_LINE = 17,
  TFRT_WIRE_PART_DRAIN = 18,
} tfrt_wire_part_kind_t;

typedef struct tfrt_wire_host_counts_s {
  uint64_t jobs;
  uint64_t kept_jobs;
  uint64_t objects;
  uint64_t remote_values;
  uint64_t outgoing_calls;
  uint64_t incoming_calls;
  uint64_t incoming_wants;
  uint64_t transfers;
} tfrt_wire_host_counts_t;

typedef struct tfrt_wire_host_counters_s {
  uint64_t frames_sent;
  uint64_t frames_received;
  uint64_t frames_replayed;
  uint64_t resumes;
  uint64_t dials;
  uint64_t deaths;
} tfrt_wire_host_counters_t;

typedef struct tfrt_wire_host_part_s {
  uint64_t incarnation;
  tfrt_string_view_t name;
  bool serving;
  const tfrt_wire_host_counts_t* counts;      // NULL: no status
  const tfrt_wire_host_counters_t* counters;  // NULL: no status
} tfrt_wire_host_part_t;

// As tfrt_session_state_t.
#define TFRT_WIRE_MAX_SESSION_STATE 3u

typedef struct tfrt_wire_peer_part_s {
  uint64_t incarnation;
  uint32_t state;
  uint64_t round_trip_us;
  tfrt_string_view_t address;
  tfrt_string_view_t name;
  uint64_t frames_sent;
  uint64_t frames_received;
  uint64_t bytes_sent;
  uint64_t bytes_received;
  uint64_t payload_bytes_sent;
  uint64_t payload_bytes_received;
  uint64_t payload_bytes_borrowed;
} tfrt_wire_peer_part_t;

typedef enum tfrt_wire_job_state_e {
  TFRT_WIRE_JOB_STATE_OPEN = 0,
  TFRT_WIRE_JOB_STATE_DETACHED = 1,
  TFRT_WIRE_JOB_STATE_CLOSED = 2,
  TFRT_WIRE_JOB_STATE_KEPT = 3,
} tfrt_wire_job_state_t;

typedef struct tfrt_wire_job_part_s {
  tfrt_string_view_t job;  // TFRT_WIRE_JOB_ID_SIZE bytes, here and below
  tfrt_string_view_t name;
  uint32_t rank;
  uint32_t hosts;
  uint64_t root;
  uint64_t client;
  uint64_t age_us;
  uint32_t state;  // tfrt_wire_job_state_t
} tfrt_wire_job_part_t;

typedef struct tfrt_wire_member_part_s {
  tfrt_string_view_t job;
  uint32_t rank;
  uint64_t incarnation;
  tfrt_string_view_t address;
  bool is_lost;
} tfrt_wire_member_part_t;

typedef enum tfrt_wire_work_state_e {
  TFRT_WIRE_WORK_RUNNING = 0,
  TFRT_WIRE_WORK_LOADING = 1,
  TFRT_WIRE_WORK_ENDING = 2,
  TFRT_WIRE_WORK_CANCELLED = 3,
} tfrt_wire_work_state_t;

typedef struct tfrt_wire_need_s {
  uint64_t owner;
  tfrt_wire_object_id_t id;
} tfrt_wire_need_t;

typedef struct tfrt_wire_work_s {
  uint64_t request;
  tfrt_string_view_t function;
  uint64_t age_us;
  uint32_t state;  // tfrt_wire_work_state_t
  const tfrt_wire_need_t* needs;
  size_t need_count;  // at most TFRT_WIRE_MAX_NEEDS
} tfrt_wire_work_t;

typedef struct tfrt_wire_parent_s {
  uint64_t caller;  // 0: a start
  uint64_t number;
} tfrt_wire_parent_t;

typedef struct tfrt_wire_start_part_s {
  tfrt_string_view_t job;
  uint64_t number;
  tfrt_wire_work_t work;
} tfrt_wire_start_part_t;

typedef struct tfrt_wire_incoming_call_part_s {
  tfrt_string_view_t job;
  uint64_t caller;
  uint64_t number;
  uint32_t depth;
  tfrt_wire_work_t work;
} tfrt_wire_incoming_call_part_t;

typedef struct tfrt_wire_outgoing_call_part_s {
  tfrt_string_view_t job;
  uint64_t callee;
  uint64_t number;
  uint64_t request;
  tfrt_string_view_t function;
  uint64_t age_us;
  bool is_cancelled;
  const tfrt_wire_parent_t* parent;   // NULL: not known
  const tfrt_wire_location_t* place;  // NULL: not known
} tfrt_wire_outgoing_call_part_t;

typedef enum tfrt_wire_value_state_e {
  TFRT_WIRE_VALUE_WAITING = 0,
  TFRT_WIRE_VALUE_READY = 1,
  TFRT_WIRE_VALUE_ERROR = 2,
  TFRT_WIRE_VALUE_THERE = 3,
  TFRT_WIRE_VALUE_MOVING = 4,
} tfrt_wire_value_state_t;

typedef struct tfrt_wire_value_info_s {
  uint32_t state;           // tfrt_wire_value_state_t
  tfrt_string_view_t type;  // empty: not known
  bool has_size;
  uint64_t size;      // in bytes
  uint64_t received;  // of them, while it is moving
} tfrt_wire_value_info_t;

typedef struct tfrt_wire_holder_s {
  uint64_t incarnation;
} tfrt_wire_holder_t;

typedef struct tfrt_wire_object_part_s {
  tfrt_string_view_t job;
  tfrt_wire_object_id_t id;
  tfrt_wire_value_info_t value;
  uint64_t age_us;
  tfrt_string_view_t function;
  const tfrt_wire_holder_t* holders;
  size_t holder_count;  // at most TFRT_WIRE_MAX_MEMBERS
  uint32_t loans;
} tfrt_wire_object_part_t;

typedef struct tfrt_wire_remote_value_part_s {
  tfrt_string_view_t job;
  tfrt_wire_object_id_t id;
  uint64_t owner;
  tfrt_wire_value_info_t value;
  uint64_t age_us;
  tfrt_string_view_t function;
  const tfrt_wire_location_t* place;  // NULL: not known
} tfrt_wire_remote_value_part_t;

typedef struct tfrt_wire_mail_part_s {
  tfrt_string_view_t job;
  bool is_sent;
  uint64_t request;
  uint32_t sender;
  tfrt_string_view_t key;
  tfrt_string_view_t kernel;
  const tfrt_wire_location_t* place;  // NULL: nobody waits
} tfrt_wire_mail_part_t;

typedef struct tfrt_wire_kernel_part_s {
  tfrt_string_view_t job;  // empty: not known
  uint64_t request;
  const tfrt_wire_parent_t* parent;  // NULL: not known
  tfrt_string_view_t kernel;
  const tfrt_wire_location_t* place;  // NULL: not known
  uint64_t age_us;
} tfrt_wire_kernel_part_t;

typedef struct tfrt_wire_clock_part_s {
  uint64_t clock_ns;
  uint64_t dropped;
} tfrt_wire_clock_part_t;

typedef struct tfrt_wire_span_part_s {
  uint64_t begin_ns;
  uint64_t end_ns;
  uint64_t request;
  uint32_t thread;
  tfrt_string_view_t category;
  tfrt_string_view_t name;
  uint32_t location;  // one more than that of the kernel's op in its program; 0: unknown
} tfrt_wire_span_part_t;

typedef struct tfrt_wire_more_part_s {
  uint64_t jobs;
  uint64_t members;
  uint64_t starts;
  uint64_t incoming_calls;
  uint64_t outgoing_calls;
  uint64_t objects;
  uint64_t remote_values;
  uint64_t mail;
} tfrt_wire_more_part_t;

typedef enum tfrt_wire_detached_state_e {
  TFRT_WIRE_DETACHED_RUNNING = 0,
  TFRT_WIRE_DETACHED_STARTING = 1,
  TFRT_WIRE_DETACHED_ENDED = 2,
} tfrt_wire_detached_state_t;

typedef struct tfrt_wire_follow_part_s {
  uint32_t state;               // tfrt_wire_detached_state_t
  tfrt_string_view_t function;  // empty: not known
  uint32_t results;
  uint64_t from;
  uint64_t next;  // at least |from|
  bool has_more;
  bool is_loss;
} tfrt_wire_follow_part_t;

typedef struct tfrt_wire_line_part_s {
  uint32_t rank;
  tfrt_string_view_t text;  // at most TFRT_WIRE_MAX_LINE_SIZE
  uint32_t rest;            // bytes of the line in further parts
} tfrt_wire_line_part_t;

typedef struct tfrt_wire_drain_part_s {
  uint64_t jobs;
} tfrt_wire_drain_part_t;

typedef struct tfrt_wire_answer_part_s {
  uint32_t kind;  // tfrt_wire_part_kind_t
  union {
    tfrt_wire_host_part_t host;
    tfrt_wire_peer_part_t peer;
    tfrt_wire_job_part_t job;
    tfrt_wire_member_part_t member;
    tfrt_wire_start_part_t start;
    tfrt_wire_incoming_call_part_t incoming_call;
    tfrt_wire_outgoing_call_part_t outgoing_call;
    tfrt_wire_object_part_t object;
    tfrt_wire_remote_value_part_t remote_value;
    tfrt_wire_mail_part_t mail;
    tfrt_wire_kernel_part_t kernel;
    tfrt_wire_clock_part_t clock;
    tfrt_wire_span_part_t span;
    tfrt_wire_ask_t done;
    tfrt_wire_more_part_t more;
    tfrt_wire_follow_part_t follow;
    tfrt_wire_line_part_t line;
    tfrt_wire_drain_part_t drain;
  };
} tfrt_wire_answer_part_t;

// Appends |question| to |out|. Thread-compatible.
tfrt_status_t tfrt_wire_question_encode(const tfrt_wire_question_t* question,
                                        tfrt_string_builder_t* out) TFRT_MUST_USE;

// Sets |*out_question| to the question that |bytes| are, in |arena|. All zero after a failure.
// Thread-compatible.
tfrt_status_t tfrt_wire_question_decode(tfrt_string_view_t bytes, tfrt_arena_t* arena,
                                        tfrt_wire_question_t* out_question) TFRT_MUST_USE;

// Appends |part| to the answer |out|, which is unchanged after a failure. Thread-compatible.
tfrt_status_t tfrt_wire_answer_append(const tfrt_wire_answer_part_t* part,
                                      tfrt_string_builder_t* out) TFRT_MUST_USE;

// Takes the first part off |*rest|, which is an answer, or what is left of one, and not empty. Sets
// |*out_part|, in |arena|; its kind is TFRT_WIRE_PART_UNKNOWN if a later version has written it.
// Thread-compatible.
tfrt_status_t tfrt_wire_answer_next(tfrt_string_view_t* rest, tfrt_arena_t* arena,
                                    tfrt_wire_answer_part_t* out_part) TFRT_MUST_USE;

// Calls |on_part| for each part of |answer|, which lives until that returns; its first error ends
// it. Thread-compatible.
typedef tfrt_status_t (*tfrt_wire_answer_part_fn_t)(void* self,
                                                    const tfrt_wire_answer_part_t* part);
tfrt_status_t tfrt_wire_answer_each(tfrt_string_view_t answer, tfrt_wire_answer_part_fn_t on_part,
                                    void* self) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_WIRE_SERVICE_H_
