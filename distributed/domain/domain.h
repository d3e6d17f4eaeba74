// SPDX-License-Identifier: Apache-2.0
//
// The inside of a node, for the rooms that share its lock: domain/ and those above it.
//
//   host      puts it together
//   client service job recovery call delivery value      each may use those to its right
//   domain    the lock, what is put off until it is open, peers, jobs, programs
//
// The state of a higher room stands behind a pointer here (|objects|), which host/ sets, and so do
// the functions of higher rooms that lower ones call (|value_hooks|, |call_hooks|), which those
// rooms fill in when the node is made. The ends of peers, jobs and requests reach the tables of all
// rooms by rules, and frames reach the rooms by handlers (node_part.h).
//
// Rules that hold everywhere in these rooms:
//  - Functions of peers, objects, calls, wants and jobs need the lock, unless they say that
//    they take it.
//  - With the lock held, no AsyncValue is resolved, released or waited for; that is put
//    into |actions|. Retaining one is fine.
//  - A thread that takes the lock opens it with tfrt_node_unlock(), which does what was put off.
#ifndef TFRT_DISTRIBUTED_DOMAIN_DOMAIN_H_
#define TFRT_DISTRIBUTED_DOMAIN_DOMAIN_H_

#include <stddef.h>
#include <stdint.h>

#include "distributed/bulk/bulk_manager.h"
#include "distributed/domain/node.h"
#include "distributed/domain/node_part.h"
#include "distributed/domain/peer.h"
#include "distributed/threads/node_lock.h"
#include "distributed/threads/progress.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/limits.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// --- Texts -----------------------------------------------------------------------

// Texts that live as long as the node: names and places of calls that no program of a job holds.
// Placeholders for values on other hosts use these texts as long as the placeholders live. Each
// text is kept once, so the pool grows with the places in the code that make such calls, not with
// the calls. Without memory a text is "".
typedef struct tfrt_text_pool_s {
  tfrt_arena_t arena;
  tfrt_hash_table_t texts;
} tfrt_text_pool_t;

// Makes |pool| an empty one.
void tfrt_text_pool_initialize(tfrt_text_pool_t* pool, tfrt_allocator_t allocator);

// Gives back |pool| and its texts.
void tfrt_text_pool_deinitialize(tfrt_text_pool_t* pool);

// The text of |pool| (+0) that is |text|; NULL for NULL.
const char* tfrt_text_pool_keep(tfrt_text_pool_t* pool, const char* text);

// Has the node have one.
extern const tfrt_node_part_t tfrt_text_pool_part;

// --- The node --------------------------------------------------------------------

// The jobs that have ended on this host before their time (job.h).
typedef struct tfrt_ended_job_s {
  uint8_t id[TFRT_WIRE_JOB_ID_SIZE];
  uint32_t rank;         // ours
  tfrt_status_t reason;  // +1; NULL: there is no such entry
} tfrt_ended_job_t;

typedef struct tfrt_ended_jobs_s {
  tfrt_ended_job_t entries[TFRT_ENDED_JOBS_CAPACITY];  // a ring
  uint32_t next;                                       // the oldest one, or a free place
} tfrt_ended_jobs_t;

// Spans of kernels (service/tracing.h).
typedef struct tfrt_node_recordings_s {
  tfrt_list_link_t list;
  int64_t until_ns;  // new jobs are recorded until then, by the host's clock
} tfrt_node_recordings_t;

struct tfrt_node_s {
  tfrt_ref_count_t ref_count;
  void (*free)(tfrt_node_t* node);         // constant; what the last release does
  tfrt_node_options_t options;             // constant
  uint64_t incarnation;                    // constant
  tfrt_session_handler_t handler;          // constant
  tfrt_session_manager_t* sessions;        // constant
  tfrt_bulk_handler_t bulk_handler;        // constant; see outgoing_want.h
  tfrt_bulk_manager_t* bulk;               // constant
  tfrt_owner_rules_t rules;                // constant
  struct tfrt_value_hooks_s* value_hooks;  // constant; value/remote_value.h
  struct tfrt_call_hooks_s* call_hooks;    // constant; call/call_hooks.h
  struct tfrt_object_table_s* objects;     // constant; value/object_table.h
  tfrt_node_lock_t lock;                   // guards all below
  tfrt_action_queue_t actions;
  tfrt_hash_table_t peers;  // by incarnation
  int64_t tick_ns;          // the time of the last heartbeat or new session, for ages
  tfrt_list_link_t jobs;
  tfrt_ended_jobs_t ended_jobs;
  tfrt_list_link_t detached;          // what detached jobs leave here, by age of their end
  tfrt_list_link_t programs;          // the cache, most recently used first
  tfrt_text_pool_t texts;             // of calls that are of no program of a job
  tfrt_list_link_t clients;           // that wait for sessions or jobs
  tfrt_node_recordings_t recordings;  // of what ran (tracing.h)
  tfrt_progress_t progress;           // of the process's threads, at the last look
  uint32_t next_job_handle;           // from 1
  tfrt_string_builder_t body;         // scratch for sending a frame
  tfrt_arena_t arena;                 // see tfrt_node_scratch()
  tfrt_node_counts_t counts;          // but for what tables and bulk channels count themselves
  bool refuses_jobs;                  // the jobs that run go on
  bool closed;
};

static inline void tfrt_node_lock_tables(tfrt_node_t* node) { tfrt_node_lock_lock(&node->lock); }

// Opens the lock and does what was put off.
static inline void tfrt_node_unlock(tfrt_node_t* node) {
  tfrt_node_lock_unlock_and_run(&node->lock);
}

// The time by the node's clock. Needs no lock.
static inline int64_t tfrt_node_now_ns(const tfrt_node_t* node) {
  return tfrt_clock_now_ns(node->options.timers->clock);
}

// Empty scratch memory (+0) for the frame that is handled, or for one that is made outside of that:
// what was taken from it before is gone. With the lock held.
static inline tfrt_arena_t* tfrt_node_scratch(tfrt_node_t* node) {
  tfrt_arena_clear(&node->arena, TFRT_NODE_KEPT_ARENA_SIZE);
  return &node->arena;
}

static inline tfrt_node_t* tfrt_node_of(tfrt_session_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, tfrt_node_t, handler);
}

// Has every rule of |end->node| for |end| followed. With the lock held.
void tfrt_node_end(const tfrt_owner_end_t* end);

// --- The log -----------------------------------------------------------------------
//
// The words that all lines of the log about peers, jobs and calls share. Each line stands where its
// event is seen: those about sessions in host/, those about jobs in job/, those about calls in
// call/. They are written only if the node's |logs_events| says so. With the lock held.

// Room for a peer's name, which the wire limits to 255 bytes.
#define TFRT_EVENT_LOG_NAME_SIZE (TFRT_TRANSPORT_ADDRESS_SIZE + 256)

// Writes what people call the peer: its name, else its address, else its incarnation.
void tfrt_event_log_peer_name(const tfrt_session_t* session,
                              char out_name[TFRT_EVENT_LOG_NAME_SIZE]);

// The beginning of a line about |job|: its local number; with |call|, that of the call on its
// link, too.
tfrt_log_context_t tfrt_event_log_context(const tfrt_job_t* job, uint64_t call);

#endif  // TFRT_DISTRIBUTED_DOMAIN_DOMAIN_H_
