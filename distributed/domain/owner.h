// SPDX-License-Identifier: Apache-2.0
//
// The ends of owners. Peers, jobs and requests *own* records of many tables: when an owner ends,
// its records end, too, in a fixed order. A table says once, in *rules*, what it does at which end;
// the code that sees the end tells it here, and all rules for it are followed. So a new table
// changes neither the code that finds a peer dead nor the code that closes a job.
//
//   table --rules--> node          what a table does, given when the node is made
//   peer dead, job closed, ... --tfrt_node_end()--> rule, rule, rule     by phase
//
// Life: rules are constant, and added before there is an owner.
//
// Thread rule: rules are added before the node has threads; the rest needs the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_DOMAIN_OWNER_H_
#define TFRT_DISTRIBUTED_DOMAIN_OWNER_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/status.h"

typedef struct tfrt_node_s tfrt_node_t;
typedef struct tfrt_peer_s tfrt_peer_t;
typedef struct tfrt_job_s tfrt_job_t;

// The ends of owners, and their beginnings, as some tables make something for each owner.
typedef enum tfrt_owner_event_e {
  TFRT_OWNER_PEER_MADE,
  // |peer| is dead, or lost to |job| alone (NULL: to all): first while its session can still say
  // which calls were written to it, then for good.
  TFRT_OWNER_PEER_SILENT,
  TFRT_OWNER_PEER_LOST,
  TFRT_OWNER_PEER_PAST,  // nothing needs |peer| any more
  // The member |rank| of |job|, which is |peer|, is lost to that because of |reason|.
  TFRT_OWNER_MEMBER_LOST,
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

#endif  // TFRT_DISTRIBUTED_DOMAIN_OWNER_H_
