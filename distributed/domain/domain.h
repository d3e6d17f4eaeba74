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

#include "distributed/bulk/lane_manager.h"
#include "distributed/domain/node.h"
#include "distributed/domain/peer.h"
#include "distributed/threads/node_lock.h"
#include "distributed/threads/progress.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/limits.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// --- The ends of owners ----------------------------------------------------------

// Peers, jobs and requests *own* records of many tables: when an owner ends, its records end, too,
// in a fixed order. A table says once, in *rules*, what it does at which end; the code that sees
// the end tells it here, and all rules for it are followed. So a new table changes neither the code
// that finds a peer dead nor the code that closes a job.
//
//   table --rules--> node          what a table does, given when the node is made
//   peer dead, job closed, ... --tfrt_node_end()--> rule, rule, rule     by phase
//
// Rules are constant, and added before there is an owner, and before the node has threads.

typedef struct tfrt_peer_s tfrt_peer_t;
typedef struct tfrt_job_s tfrt_job_t;

// The ends of owners, and their beginnings, as some tables make something for each owner. The node
// itself is the owner of what there is once.
typedef enum tfrt_owner_event_e {
  TFRT_OWNER_NODE_MADE,
  // A heartbeat is due: what has waited for too long ends.
  TFRT_OWNER_NODE_TICK,
  // The node takes no new work because of |reason|: first while its jobs are open, then when they
  // are closed.
  TFRT_OWNER_NODE_CLOSING,
  TFRT_OWNER_NODE_CLOSED,
  TFRT_OWNER_NODE_PAST,  // nothing needs the node any more, and it has no peers
  // |session| is over, as |death| says, because of |reason|. Some have begun to open only, so there
  // may be no peer.
  TFRT_OWNER_SESSION_DEAD,
  TFRT_OWNER_PEER_MADE,
  TFRT_OWNER_PEER_MET,    // a session with |peer| is open
  TFRT_OWNER_PEER_WOKEN,  // it is the time that was given to tfrt_session_wake_at()
  // |peer| is dead, or lost to |job| alone (NULL: to all): first while its session can still say
  // which calls were written to it, then for good.
  TFRT_OWNER_PEER_SILENT,
  TFRT_OWNER_PEER_LOST,
  // The session with |peer|, which lives, is over, and nothing of it is left: another may begin.
  TFRT_OWNER_PEER_PARTED,
  TFRT_OWNER_PEER_PAST,  // nothing needs |peer| any more
  // The member |rank| of |job|, which is |peer|, is lost to that because of |reason|.
  TFRT_OWNER_MEMBER_LOST,
  // |peer|, which lives, has left |job| by its own will.
  TFRT_OWNER_MEMBER_LEFT,
  // |peer|, the client of |job|, answers nothing of it any more.
  TFRT_OWNER_CLIENT_LEFT,
  TFRT_OWNER_JOB_MADE,
  TFRT_OWNER_JOB_OPENED,  // on a member
  // |job| is closed because of |reason|: what runs for it starts nothing more.
  TFRT_OWNER_JOB_CLOSED,
  // The calls of the closed |job| are over: the rest of it ends.
  TFRT_OWNER_JOB_FINISHED,
  // Nothing of |job| is active any more.
  TFRT_OWNER_JOB_OVER,
  TFRT_OWNER_JOB_PAST,  // nothing needs |job| any more
  // |request| of |job| is cancelled because of |reason|, or over on all hosts.
  TFRT_OWNER_REQUEST_CANCELLED,
  TFRT_OWNER_REQUEST_OVER,
} tfrt_owner_event_t;

// The order in which tables follow one event: calls use values, and values stand for objects.
typedef enum tfrt_owner_phase_e {
  TFRT_OWNER_CALLS,
  TFRT_OWNER_HOLDS,     // of a peer on objects of ours
  TFRT_OWNER_VALUES,    // of others
  TFRT_OWNER_RETAINS,   // that we have asked for
  TFRT_OWNER_RECOVERY,  // calls that may run again, and hosts that wait for that
  TFRT_OWNER_MAIL,      // what was sent by key
  TFRT_OWNER_WANTS,     // of others
  TFRT_OWNER_OBJECTS,   // of ours
  TFRT_OWNER_JOBS,
} tfrt_owner_phase_t;

// An event. Members that don't concern |event| are NULL, or 0.
typedef struct tfrt_owner_end_s {
  tfrt_owner_event_t event;
  tfrt_node_t* node;
  tfrt_peer_t* peer;
  tfrt_job_t* job;
  uint64_t request;
  uint32_t rank;
  tfrt_status_t reason;  // +0
  tfrt_session_t* session;
  tfrt_session_death_t death;
  bool peer_lives;  // only the session with it is over: some jobs don't need that one
} tfrt_owner_end_t;

// The part of one table in |event|.
typedef struct tfrt_owner_rule_s {
  tfrt_owner_event_t event;
  tfrt_owner_phase_t phase;
  void (*run)(const tfrt_owner_end_t* end);
} tfrt_owner_rule_t;

// More rules than all tables have.
#define TFRT_OWNER_MAX_RULES 64u

typedef struct tfrt_owner_rules_s {
  const tfrt_owner_rule_t* rules[TFRT_OWNER_MAX_RULES];  // by phase; +0
  size_t count;
} tfrt_owner_rules_t;

// Adds the |count| |rules| (+0, constant) of a table; rules of one phase are followed in the order
// in which they are added. Thread-compatible.
void tfrt_owner_rules_add(tfrt_owner_rules_t* all, const tfrt_owner_rule_t* rules, size_t count);

// Has every one of |rules| for |end| followed. Thread-compatible (the node's lock is held).
void tfrt_owner_rules_follow(const tfrt_owner_rules_t* rules, const tfrt_owner_end_t* end);

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
  tfrt_lane_handler_t lane_handler;        // constant; see outgoing_want.h
  tfrt_lane_manager_t* lanes;              // constant
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
  tfrt_node_counts_t counts;          // but for what tables and lanes count themselves
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

// Has what |end->node| owns follow |end|. With the lock held.
static inline void tfrt_node_end(const tfrt_owner_end_t* end) {
  tfrt_owner_rules_follow(&end->node->rules, end);
}

static inline tfrt_node_t* tfrt_node_of(tfrt_session_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, tfrt_node_t, handler);
}

// Looks in which kernels the process's threads are at |now_ns|, for |node|'s progress. With the
// lock held.
void tfrt_node_look_at_threads(tfrt_node_t* node, int64_t now_ns);

#endif  // TFRT_DISTRIBUTED_DOMAIN_DOMAIN_H_
