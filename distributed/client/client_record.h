// SPDX-License-Identifier: Apache-2.0
//
// The record of a client, for its three sources, and the events that host/ reports to the clients
// of a node: sessions open and die, frames of jobs come.
//
//    client.c       its life: its hosts are dialled, the job is opened on each, closed
//    client_run.c   its starts: packed, sent, cancelled, ended
//    client_query.c what its hosts are asked: how they are, what ran when
//
// Thread rule: everything here needs the node's lock.
// Failure rule: messages that come too late are ignored; an error goes to the waiters of the job.
#ifndef TFRT_DISTRIBUTED_CLIENT_CLIENT_RECORD_H_
#define TFRT_DISTRIBUTED_CLIENT_CLIENT_RECORD_H_

#include "distributed/client/client.h"
#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"

// One host of the job, by rank.
typedef struct tfrt_client_host_s {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_session_t* session;  // +1
  uint64_t incarnation;     // 0: not known yet
  bool opened;              // it has said JobOpened
} tfrt_client_host_t;

// How far the client's part in the job has come.
//
//   OPENING --all hosts said JobOpened--> OPEN --> CLOSED
//      +-------------> GIVEN_UP
typedef enum tfrt_client_state_e {
  TFRT_CLIENT_OPENING = 0,
  TFRT_CLIENT_OPEN = 1,
  TFRT_CLIENT_GIVEN_UP = 2,  // closed before it was open
  TFRT_CLIENT_CLOSED = 3,
} tfrt_client_state_t;

struct tfrt_client_s {
  tfrt_ref_count_t ref_count;
  tfrt_node_t* node;  // +1
  tfrt_client_options_t options;
  char name[TFRT_WIRE_MAX_NAME_SIZE];
  tfrt_indirect_value_t* opened;      // +1
  tfrt_indirect_value_t* first_loss;  // +1
  // Guarded by the node's lock from here on.
  tfrt_list_link_t link;  // in the node's clients, until closed
  bool has_lost;          // a host: |first_loss| is that
  tfrt_client_host_t* hosts;
  tfrt_job_t* job;  // +1; NULL before all hosts are known
  tfrt_list_link_t runs;
  uint64_t next_run;
  tfrt_timer_t timer;  // for the deadline
  bool is_timer_waiting;
  tfrt_client_state_t state;
  bool leaves;        // the job goes on when this is closed
  bool said_over;     // the hosts know that the job is over
  tfrt_status_t end;  // +1; why it was closed: later questions get this error, too
};

// True from the moment when the job was open everywhere, also when it is closed.
static inline bool tfrt_client_was_opened(const tfrt_client_t* client) {
  return client->state == TFRT_CLIENT_OPEN || client->state == TFRT_CLIENT_CLOSED;
}
static inline bool tfrt_client_is_closed(const tfrt_client_t* client) {
  return client->state == TFRT_CLIENT_GIVEN_UP || client->state == TFRT_CLIENT_CLOSED;
}

static inline tfrt_client_t* tfrt_client_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_client_t, link);
}

// The client of |job|, or NULL.
static inline tfrt_client_t* tfrt_client_find(tfrt_node_t* node, const tfrt_job_t* job) {
  for (tfrt_list_link_t* link = node->clients.next; link != &node->clients; link = link->next) {
    if (tfrt_client_of(link)->job == job) return tfrt_client_of(link);
  }
  return NULL;
}

// --- client_run.c ------------------------------------------------------------

// The events that all starts of a client follow.
typedef enum tfrt_client_runs_event_e {
  TFRT_CLIENT_RUNS_OPENED,     // the job has just been opened everywhere: they are sent
  TFRT_CLIENT_RUNS_LATE,       // the deadline has passed: they are cancelled because of |reason|
  TFRT_CLIENT_RUNS_ROOT_LOST,  // |root|, the root of the job, is lost: they fail
  TFRT_CLIENT_RUNS_CLOSED,     // the client is closed: they fail
} tfrt_client_runs_event_t;

// Does what |event| means for all starts of |client|; |reason| (+0) and |root| are NULL where the
// event has none.
void tfrt_client_runs_follow(tfrt_client_t* client, tfrt_client_runs_event_t event,
                             tfrt_status_t reason, const tfrt_peer_t* root);

// --- The node ----------------------------------------------------------------

// Have clients end with the node, and learn of sessions, the job's answers and the root's loss.
extern const tfrt_node_part_t tfrt_client_part;
extern const tfrt_node_part_t tfrt_client_run_part;

#endif  // TFRT_DISTRIBUTED_CLIENT_CLIENT_RECORD_H_
