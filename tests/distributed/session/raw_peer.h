// SPDX-License-Identifier: Apache-2.0
//
// A peer of a session that is made by hand: it writes its batches itself, and so may violate the
// protocol, and it notes the last batch that it was sent.
//
// Life:
//  1. tfrt_raw_initialize() and its like make a host, and two connections to it from the peer.
//  2. The peer says Hello, and writes; each write is followed by 150 ms of simulated time.
//  3. tfrt_raw_deinitialize().
//
// Thread rule: one thread. Failure rule: a check fails.
#ifndef TFRT_TESTS_DISTRIBUTED_SESSION_RAW_PEER_H_
#define TFRT_TESTS_DISTRIBUTED_SESSION_RAW_PEER_H_

#include "distributed/wire/batch.h"
#include "tests/distributed/session/session_harness.h"
#include "tests/support/test_main.h"

// The incarnations of the host and of the peer.
#define TFRT_RAW_OURS 0x0a
#define TFRT_RAW_PEER 0x0b

// A peer made by hand, which notes the last batch that it was sent.
typedef struct tfrt_raw_peer_s {
  tfrt_transport_handler_t handler;
  tfrt_simulated_endpoint_t* endpoint;
  tfrt_transport_connection_t* connection;
  tfrt_transport_write_t write;
  tfrt_string_builder_t out;
  bool is_writing;
  bool is_deaf;  // asks for no message any more
  bool was_closed;
  tfrt_transport_end_t end;
  // Fields of the last frame that came.
  uint32_t kind;
  uint32_t reason;
  char message[256];
  size_t batch_count;
  uint64_t ack;
  uint64_t call_limit;
} tfrt_raw_peer_t;

typedef struct tfrt_raw_fixture_s {
  tfrt_harness_world_t world;
  tfrt_harness_host_t* host;
  tfrt_raw_peer_t peer;
  tfrt_raw_peer_t second;
} tfrt_raw_fixture_t;

// For which the other side takes the least that the protocol allows.
extern const tfrt_wire_limits_t tfrt_raw_tiny_limits;

// Dials |address| as |peer|, which has an endpoint.
void tfrt_raw_dial(tfrt_raw_peer_t* peer, const char* address);

// A host with |options| on a network with streams of |stream_depth| messages; nobody has dialled.
void tfrt_raw_initialize_with_options(tfrt_raw_fixture_t* fixture,
                                      const tfrt_session_options_t* options, uint32_t stream_depth);

// Dials the host as |fixture->peer| and |fixture->second|.
void tfrt_raw_dial_both(tfrt_raw_fixture_t* fixture);

// A host that grants |calls| and |wants| at first, and 4,096 of each; both connections are dialled.
void tfrt_raw_initialize_with_credit(tfrt_raw_fixture_t* fixture, uint64_t calls, uint64_t wants);
void tfrt_raw_initialize(tfrt_raw_fixture_t* fixture);
void tfrt_raw_deinitialize(tfrt_raw_fixture_t* fixture);

// Lets 150 ms pass.
void tfrt_raw_run(tfrt_raw_fixture_t* fixture);

// Writes |peer->out|.
void tfrt_raw_write_out(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer);

// Writes |batch| from |peer|.
void tfrt_raw_write_batch(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer,
                          const tfrt_wire_batch_t* batch);

// A Hello of the peer's first session.
tfrt_wire_hello_t tfrt_raw_hello(void);

// Writes the Hello |said| from |peer|, to the host or to another incarnation.
void tfrt_raw_write_hello(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer,
                          const tfrt_wire_hello_t* said);
void tfrt_raw_write_hello_to(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer,
                             const tfrt_wire_hello_t* said, uint64_t to_incarnation);

// Opens the peer's first session by its first connection.
void tfrt_raw_open_session(tfrt_raw_fixture_t* fixture);

// The record that the host has of its newest session.
tfrt_harness_record_t* tfrt_raw_record(tfrt_raw_fixture_t* fixture);

// Writes a batch of the open session with one frame of |kind|, number |seq|, from |peer|, or from
// the first connection; or such batches with the numbers from |first_seq| to |last_seq|.
void tfrt_raw_write_frame_of(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer, uint32_t kind,
                             uint64_t seq);
void tfrt_raw_write_frame(tfrt_raw_fixture_t* fixture, uint32_t kind, uint64_t seq);
void tfrt_raw_write_frames(tfrt_raw_fixture_t* fixture, uint32_t kind, uint64_t first_seq,
                           uint64_t last_seq);

// Checks that |peer| was refused for |reason|.
void tfrt_raw_assert_refused(const tfrt_raw_peer_t* peer, tfrt_wire_refuse_reason_t reason);

// Checks that the session has died because the peer broke the protocol, with |message|.
void tfrt_raw_assert_protocol_death(tfrt_raw_fixture_t* fixture, const char* message);

#endif  // TFRT_TESTS_DISTRIBUTED_SESSION_RAW_PEER_H_
