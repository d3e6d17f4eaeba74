// SPDX-License-Identifier: Apache-2.0
//
// A part of a node: what one file of a room above domain/ adds to the node that its process has. It
// is a constant table at the end of the file, and says
//
//   rules      what the file does at the beginnings and ends of owners
//   handlers   the kinds of frames that the file serves
//
// host/ has the list of all parts, and knows nothing else of most of them. So a table of records, a
// kind of frame or a file that comes to the node changes nothing in the rooms that are there
// already.
//
// Thread rule: the functions of a part run with the node's lock held.
// Failure rule: an error (+1) that a handler returns ends the session with the sender, so it
// returns one only for what a correct peer never sends, or when memory is out.
#ifndef TFRT_DISTRIBUTED_DOMAIN_NODE_PART_H_
#define TFRT_DISTRIBUTED_DOMAIN_NODE_PART_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "distributed/session/session.h"
#include "distributed/wire/batch.h"
#include "host_runtime/base/macros.h"

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

typedef struct tfrt_node_s tfrt_node_t;
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
  TFRT_OWNER_NODE_PAST,  // nothing needs the node any more
  // |session| is over, as |death| says, because of |reason|. Some have begun to open only, so there
  // may be no peer.
  TFRT_OWNER_SESSION_DEAD,
  TFRT_OWNER_PEER_MADE,
  TFRT_OWNER_PEER_MET,    // a session with |peer| is open
  TFRT_OWNER_PEER_WOKEN,  // it is the time that was given to tfrt_session_wake_at()
  TFRT_OWNER_PEER_BEAT,   // |heartbeat| has come from |peer|
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
  const tfrt_wire_heartbeat_t* heartbeat;
  bool peer_lives;  // only the session with it is over: some jobs don't need that one
} tfrt_owner_end_t;

// The part of one table in |event|.
typedef struct tfrt_owner_rule_s {
  tfrt_owner_event_t event;
  tfrt_owner_phase_t phase;
  void (*run)(const tfrt_owner_end_t* end);
} tfrt_owner_rule_t;

// More rules than all tables have.
#define TFRT_OWNER_MAX_RULES 96u

typedef struct tfrt_owner_rules_s {
  const tfrt_owner_rule_t* rules[TFRT_OWNER_MAX_RULES];  // by phase; +0
  size_t count;
} tfrt_owner_rules_t;

// Adds the |count| |rules| (+0, constant) of a table; rules of one phase are followed in the order
// in which they are added. Thread-compatible.
void tfrt_owner_rules_add(tfrt_owner_rules_t* all, const tfrt_owner_rule_t* rules, size_t count);

// --- Frames ----------------------------------------------------------------------

// A frame that has come.
typedef struct tfrt_incoming_frame_s {
  tfrt_peer_t* peer;               // the sender
  tfrt_job_t* job;                 // NULL: of none, or it is over here: a late frame is no error
  const tfrt_wire_frame_t* frame;  // the header
  const tfrt_wire_body_t* body;    // its texts last until the function returns
  int64_t deadline_ns;
} tfrt_incoming_frame_t;

// Serves frames of one kind. Each kind but those of the session has one handler.
typedef struct tfrt_frame_handler_s {
  tfrt_wire_frame_kind_t kind;
  tfrt_status_t (*serve)(const tfrt_incoming_frame_t* in);
} tfrt_frame_handler_t;

// --- Parts -----------------------------------------------------------------------

typedef struct tfrt_node_part_s {
  const tfrt_owner_rule_t* rules;
  size_t rule_count;
  const tfrt_frame_handler_t* handlers;
  size_t handler_count;
} tfrt_node_part_t;

#endif  // TFRT_DISTRIBUTED_DOMAIN_NODE_PART_H_
