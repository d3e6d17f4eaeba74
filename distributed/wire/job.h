// SPDX-License-Identifier: Apache-2.0
//
// The life of a job between client, root and members: bodies of frames. proto/job.proto says what
// each field means, and which side sends each message when.
//
// Thread rule: values; texts, bytes and arrays are borrowed. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_WIRE_JOB_H_
#define TFRT_DISTRIBUTED_WIRE_JOB_H_

#include "distributed/wire/value.h"

// Binds |handle| of the sender's direction to a job.
typedef struct tfrt_wire_job_attach_s {
  uint32_t handle;            // from 1
  tfrt_string_view_t job_id;  // TFRT_WIRE_JOB_ID_SIZE bytes
  tfrt_string_view_t proof;   // TFRT_WIRE_PROOF_SIZE bytes
} tfrt_wire_job_attach_t;

typedef struct tfrt_wire_job_gone_s {
  tfrt_string_view_t job_id;       // TFRT_WIRE_JOB_ID_SIZE bytes
  const tfrt_wire_error_t* error;  // NULL: finished, a loss, or nobody knows
} tfrt_wire_job_gone_t;

typedef struct tfrt_wire_member_s {
  uint32_t rank;
  uint64_t incarnation;                 // never 0
  const tfrt_string_view_t* addresses;  // "ADDRESS:PORT", best first
  size_t address_count;
  tfrt_string_view_t name;
} tfrt_wire_member_t;

// The members of a job by rising rank, which the decoder checks.
typedef struct tfrt_wire_view_s {
  uint32_t epoch;  // from 1
  const tfrt_wire_member_t* members;
  size_t member_count;
  uint64_t features;  // tfrt_wire_features_t that all members have; 0: none, or not known
} tfrt_wire_view_t;

// The most that a job may use on one host; 0: the host's default.
typedef struct tfrt_wire_job_budgets_s {
  uint64_t memory_bytes;
  uint32_t objects;
  uint32_t calls;
  uint32_t requests;
} tfrt_wire_job_budgets_t;

// The job's deadline is the budget of the frame.
typedef struct tfrt_wire_job_open_s {
  tfrt_string_view_t job_id;               // TFRT_WIRE_JOB_ID_SIZE bytes
  tfrt_string_view_t key;                  // TFRT_WIRE_KEY_SIZE bytes
  const tfrt_wire_job_budgets_t* budgets;  // NULL: defaults
  tfrt_wire_view_t view;
  uint32_t root;
  tfrt_string_view_t name;
  bool asks_only;  // no program, no start: only built-in functions
  bool detached;   // it outlives its client
} tfrt_wire_job_open_t;

typedef struct tfrt_wire_job_opened_s {
  const tfrt_wire_error_t* error;  // NULL: the job exists
} tfrt_wire_job_opened_t;

typedef struct tfrt_wire_job_start_s {
  uint64_t start;  // from 1
  uint32_t program;
  uint32_t function;
  const tfrt_wire_item_t* arguments;  // INLINE, REFERENCE or ERROR
  size_t argument_count;
  bool detach;
  uint64_t keep_results_ms;
} tfrt_wire_job_start_t;

typedef struct tfrt_wire_job_end_s {
  uint64_t start;  // from 1
  uint64_t request;
  const tfrt_wire_item_t* results;  // INLINE, REFERENCE or ERROR
  size_t result_count;
  const tfrt_wire_error_t* error;  // NULL: no result is an error
} tfrt_wire_job_end_t;

typedef struct tfrt_wire_job_close_s {
  const tfrt_wire_error_t* error;  // NULL: finished
} tfrt_wire_job_close_t;

typedef struct tfrt_wire_job_detach_s {
  const tfrt_wire_error_t* error;  // NULL: finished, or only left
} tfrt_wire_job_detach_t;

// The kinds of frames with these bodies; batch.h says what the columns are.
#define TFRT_WIRE_JOB_FRAMES(FRAME)                  \
  FRAME(JOB_ATTACH, 10, job_attach, SESSION, PACKED) \
  FRAME(JOB_GONE, 11, job_gone, SESSION, PACKED)     \
  FRAME(JOB_OPEN, 12, job_open, NEW_JOB, PACKED)     \
  FRAME(JOB_OPENED, 14, job_opened, JOB, PACKED)     \
  FRAME(JOB_START, 16, job_start, JOB, PACKED)       \
  FRAME(JOB_END, 18, job_end, JOB, PACKED)           \
  FRAME(JOB_CLOSE, 22, job_close, JOB, PACKED)       \
  FRAME(JOB_DETACH, 24, job_detach, JOB, PACKED)

#endif  // TFRT_DISTRIBUTED_WIRE_JOB_H_
