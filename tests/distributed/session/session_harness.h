// SPDX-License-Identifier: Apache-2.0
//
// Hosts with sessions on a simulated network, and an oracle that looks at every frame: it
// fails the test at once when one comes twice, out of order, or after the session's death.
//
// A test frame is a Release whose body holds a number, counted per session and direction;
// to the session it is like any frame that needs no credit.
//
// Life: initialise a world with a seed, add hosts, dial, send, let time pass and break
// things; deinitialise, which closes all hosts and checks that nothing is left.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_SESSION_SESSION_HARNESS_H_
#define TFRT_TESTS_DISTRIBUTED_SESSION_SESSION_HARNESS_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/session/session.h"
#include "distributed/threads/node_lock.h"
#include "tests/distributed/simulated/network.h"

#define TFRT_HARNESS_MAX_HOSTS 16
#define TFRT_HARNESS_SECOND TFRT_NANOSECONDS_PER_SECOND
#define TFRT_HARNESS_MILLISECOND TFRT_NANOSECONDS_PER_MILLISECOND

typedef struct tfrt_harness_world_s tfrt_harness_world_t;
typedef struct tfrt_harness_host_s tfrt_harness_host_t;

// The record of one session on one host.
typedef struct tfrt_harness_record_s {
  struct tfrt_harness_record_s* next;
  tfrt_harness_host_t* host;
  tfrt_session_t* session;  // retained
  uint64_t sent;            // test frames appended
  uint64_t received;        // test frames that came
  uint64_t others;          // frames of other kinds that came
  uint32_t last_kind;
  int64_t last_deadline_ns;
  bool was_opened;
  bool is_draining;
  bool is_suspected;
  uint32_t suspicions;
  uint64_t heartbeats;
  uint32_t wakes;
  int64_t woken_ns;
  bool is_dead;
  int64_t opened_ns;
  int64_t dead_ns;
  uint32_t number;       // at death
  uint64_t incarnation;  // at death
  tfrt_session_death_t death;
  tfrt_status_code_t code;
  uint64_t root_key;
  char message[512];
} tfrt_harness_record_t;

struct tfrt_harness_host_s {
  tfrt_session_handler_t handler;
  tfrt_harness_world_t* world;
  tfrt_simulated_endpoint_t* endpoint;
  tfrt_node_lock_t lock;
  tfrt_session_manager_t* manager;
  uint64_t incarnation;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_harness_record_t* records;  // the newest first
  uint32_t refusals;               // that it heard of
  uint64_t untold_refusals;        // that it didn't, by the last one
  tfrt_status_code_t refusal_code;
  uint64_t named;           // what heartbeats say
  int64_t elsewhere_ns;     // when a peer was last heard on another connection
  const char* reject_with;  // if set, on_frame answers with this error
  bool closes_on_frame;     // on_frame closes the session
  bool is_down;             // killed and taken down
};

struct tfrt_harness_world_s {
  tfrt_simulated_network_t* network;
  tfrt_harness_host_t hosts[TFRT_HARNESS_MAX_HOSTS];
  size_t host_count;
};

// Makes a world without hosts. Thread-compatible.
void tfrt_harness_initialize(tfrt_harness_world_t* world, const tfrt_simulated_options_t* options);
void tfrt_harness_initialize_with_seed(tfrt_harness_world_t* world, uint64_t seed);

// Closes all hosts, checks that all their sessions are dead and all is given back.
void tfrt_harness_deinitialize(tfrt_harness_world_t* world);

// Options of a host with |incarnation| and the cluster key "key".
tfrt_session_options_t tfrt_harness_options(uint64_t incarnation);

// Adds a host that listens on |address| ("NAME:0", or NULL: it can't be dialled).
tfrt_harness_host_t* tfrt_harness_add_host(tfrt_harness_world_t* world,
                                           const tfrt_session_options_t* options,
                                           const char* address);
tfrt_harness_host_t* tfrt_harness_add_simple_host(tfrt_harness_world_t* world,
                                                  uint64_t incarnation);

// True if nothing of |host|'s manager is left.
bool tfrt_harness_is_drained(const tfrt_harness_host_t* host);

// Kills |host| and takes it down: its sessions die without a word to anybody.
void tfrt_harness_kill(tfrt_harness_host_t* host);

// The session from |from| to |to|, dialled if there is none, and its record.
tfrt_harness_record_t* tfrt_harness_dial(tfrt_harness_host_t* from, const tfrt_harness_host_t* to);
// The same by address only, or by any address and incarnation.
tfrt_harness_record_t* tfrt_harness_dial_address(tfrt_harness_host_t* from, const char* address,
                                                 uint64_t incarnation);

// The newest record of a session of |host| with |peer|; NULL if there is none.
tfrt_harness_record_t* tfrt_harness_find(tfrt_harness_host_t* host,
                                         const tfrt_harness_host_t* peer);

// Appends the next |count| test frames; the session must live.
void tfrt_harness_send(tfrt_harness_record_t* record, size_t count);

// Appends one frame as |frame| says; returns the code.
tfrt_status_code_t tfrt_harness_append(tfrt_harness_record_t* record,
                                       const tfrt_session_frame_t* frame);

// The state of the record's session.
tfrt_session_state_t tfrt_harness_state(const tfrt_harness_record_t* record);

// Time: now; some of it passes; until a state or a count is reached (or the test fails,
// after a minute).
int64_t tfrt_harness_now(tfrt_harness_world_t* world);
void tfrt_harness_run_for(tfrt_harness_world_t* world, int64_t duration_ns);
void tfrt_harness_run_until_state(tfrt_harness_record_t* record, tfrt_session_state_t state);
void tfrt_harness_run_until_received(tfrt_harness_record_t* record, uint64_t count);

// Two hosts, 0x0a (the smaller) and 0x0b, with an OPEN session dialled by the first.
void tfrt_harness_connect_two(tfrt_harness_world_t* world, tfrt_harness_record_t** out_a,
                              tfrt_harness_record_t** out_b);

// Cuts the network between two hosts (one way: only from |a| to |b|), and joins it again.
void tfrt_harness_partition(tfrt_harness_record_t* a, tfrt_harness_record_t* b, bool both_ways);
void tfrt_harness_heal(tfrt_harness_record_t* a, tfrt_harness_record_t* b);

// Closes the session of |record| because of |reason|.
void tfrt_harness_close_session(tfrt_harness_record_t* record, tfrt_wire_goodbye_reason_t reason);

// The counters of the manager that |record|'s session belongs to.
tfrt_session_counters_t tfrt_harness_counters(const tfrt_harness_record_t* record);

// Breaks the connections between the hosts of |a| and |b|.
void tfrt_harness_break_between(tfrt_harness_record_t* a, tfrt_harness_record_t* b);

// Expects that the session of |record| has died of |death|, with an error of |code|.
void tfrt_harness_expect_dead(const tfrt_harness_record_t* record, tfrt_session_death_t death,
                              tfrt_status_code_t code);

#endif  // TFRT_TESTS_DISTRIBUTED_SESSION_SESSION_HARNESS_H_
