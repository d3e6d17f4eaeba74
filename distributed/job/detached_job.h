// SPDX-License-Identifier: Apache-2.0
//
// The record that a detached job leaves at its root, for clients that ask: the lines that its
// kernels print and, when it has ended, its results. The job may go on without its client, and the
// record without the job.
//
//   JobOpen(detached) --> STARTING --arguments here--> RUNNING -results here--> ENDED
//                            |                           |                        |job closed
//      lines from all hosts -+---------------------------+--> the last MiB        +-keep_ms-> freed
//
// Life:
//  1. Created with the job, at the root; the job prints here.
//  2. Takes the one start of the job and, when that has ended, its results, which are here by then.
//  3. The job is closed when its start has ended, or never came, and its client has gone. From then
//     on the time counts.
//  4. Forgotten when that is over, when an administrator says so, or with the node; with its job,
//     if that never had a start. Nobody finds it any more, but clients that follow it have it until
//     they leave.
//
// At most TFRT_DETACHED_JOB_MAX_KEPT that have ended are kept; the oldest goes first.
//
// Thread rule: everything here needs the node's lock, unless it says otherwise.
// Failure rule: a line for which there is no memory is dropped, and counted.
#ifndef TFRT_DISTRIBUTED_JOB_DETACHED_JOB_H_
#define TFRT_DISTRIBUTED_JOB_DETACHED_JOB_H_

#include "distributed/call/execution.h"
#include "distributed/tuning/tuning.h"

// A printed line.
typedef struct tfrt_detached_line_s {
  tfrt_list_link_t link;
  uint32_t rank;
  uint32_t size;
  char text[];
} tfrt_detached_line_t;

// WAITING --the start came--> STARTED --> ENDED
typedef enum tfrt_detached_job_state_e {
  TFRT_DETACHED_JOB_WAITING = 0,
  TFRT_DETACHED_JOB_STARTED,
  TFRT_DETACHED_JOB_ENDED,  // |results| are there
} tfrt_detached_job_state_t;

struct tfrt_detached_job_s {
  tfrt_ref_count_t ref_count;  // of the node's list, the job, the timer, each follower
  tfrt_node_t* node;           // +1
  tfrt_list_link_t link;       // in the node's list
  tfrt_job_t* job;             // +0; NULL: it is over, only this is left
  uint8_t id[TFRT_WIRE_JOB_ID_SIZE];
  char name[TFRT_WIRE_MAX_NAME_SIZE + 1];
  uint32_t host_count;
  uint64_t client;  // incarnation
  int64_t since_ns;
  bool client_has_gone;
  tfrt_detached_job_state_t state;
  tfrt_list_link_t lines;  // tfrt_detached_line_t
  uint64_t first_line;     // the number of the first one that is kept
  uint64_t next_line;
  size_t line_bytes;
  uint64_t keep_ms;
  tfrt_timer_t timer;
  bool is_timer_waiting;
  char function[TFRT_WIRE_MAX_NAME_SIZE + 1];  // of an ended one
  uint32_t result_count;
  tfrt_async_value_t** results;  // +1 each; values that are here, or errors
  tfrt_status_t failure;  // +1; why it was not called, or cut off what no result needs; or NULL
  bool is_loss;           // the first error is the loss of a host
};

// Makes the record that |job|, which is detached and whose root this host is, leaves.
// RESOURCE_EXHAUSTED.
tfrt_status_t tfrt_detached_job_create(tfrt_job_t* job) TFRT_MUST_USE;

// |execution|, the start of |detached|, has ended: keeps its results, which are all here.
void tfrt_detached_job_end(tfrt_detached_job_t* detached, const tfrt_execution_t* execution);

// Closes the job of |detached| if there is nothing left to do for it, and nobody to do it for.
void tfrt_detached_job_settle(tfrt_detached_job_t* detached);

// The record with the |id|, of 16 bytes, or NULL.
tfrt_detached_job_t* tfrt_detached_job_find(tfrt_node_t* node, const uint8_t* id);

// The same for the client of |job|, which follows the detached job from then on: the record stays
// for it as long as |job|, even when it is forgotten. A job follows one record, the last that it
// has found.
tfrt_detached_job_t* tfrt_detached_job_follow(tfrt_job_t* job, const uint8_t* id);

// True if |detached| has ended, and only results are left, or will be in a moment.
bool tfrt_detached_job_is_kept(const tfrt_detached_job_t* detached);

// Forgets |detached|, which is kept.
void tfrt_detached_job_drop(tfrt_detached_job_t* detached);

// The number of records on |node| whose job is over.
size_t tfrt_detached_job_count_kept(const tfrt_node_t* node);

static inline tfrt_detached_job_t* tfrt_detached_job_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_detached_job_t, link);
}

// Has jobs that are over follow nothing any more.
extern const tfrt_node_part_t tfrt_detached_job_part;

#endif  // TFRT_DISTRIBUTED_JOB_DETACHED_JOB_H_
