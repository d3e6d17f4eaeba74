// SPDX-License-Identifier: Apache-2.0
//
// Two processes with channels between them, on the simulated network, and the little of a core
// that wants and serves payloads:
//
//   host 0 --- control: a Want, an Unwant, each a random time under way, never lost --- host 1
//          --- channels: the simulated network, which breaks them
//
// Each host is owner and borrower. A want of the harness keeps one index for its whole life;
// its number on the wire changes when it is resumed.
//
// Life: begun, run, ended; ending checks that nothing is left.
//
// Thread rule: thread-compatible. Failure rule: ck_assert.
#ifndef TFRT_TESTS_DISTRIBUTED_BULK_BULK_HARNESS_H_
#define TFRT_TESTS_DISTRIBUTED_BULK_BULK_HARNESS_H_

#include "distributed/bulk/bulk_manager.h"
#include "distributed/wire/bulk.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/string_builder.h"
#include "tests/distributed/simulated/network.h"

#define TFRT_BULK_HARNESS_MAX_WANTS 64

typedef struct tfrt_bulk_harness_s tfrt_bulk_harness_t;
typedef struct tfrt_bulk_harness_host_s tfrt_bulk_harness_host_t;

// One wish of a host for bytes of the other.
typedef struct tfrt_bulk_harness_want_s {
  uint64_t number;  // 0: over
  uint64_t size;
  uint64_t seed;  // of the bytes
  uint8_t* buffer;
  tfrt_payload_sink_t* sink;  // owned; NULL: there is none
  uint32_t begins;
  uint32_t resumes;
  uint64_t resumed_at;  // the last offset
  bool is_complete;
  bool is_intact;
  tfrt_status_t error;  // +1, when aborted
  uint32_t place;       // 1 for the first of the host that completed
  uint32_t begin_place;
} tfrt_bulk_harness_want_t;

struct tfrt_bulk_harness_host_s {
  tfrt_bulk_handler_t handler;
  tfrt_bulk_harness_t* harness;
  uint64_t incarnation;
  tfrt_simulated_endpoint_t* endpoint;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_node_lock_t lock;
  tfrt_bulk_manager_t* manager;
  uint64_t next_number;
  uint32_t next_place;
  uint32_t next_begin_place;
  tfrt_bulk_harness_want_t wants[TFRT_BULK_HARNESS_MAX_WANTS];
  size_t want_count;
  tfrt_status_code_t begin_error;  // what begin answers
  uint32_t sends_done;
  tfrt_status_code_t last_done;
  tfrt_status_t lost;  // +1, the last one
};

struct tfrt_bulk_harness_s {
  tfrt_simulated_network_t* network;
  tfrt_counting_allocator_t allocator;  // of the managers
  tfrt_bulk_harness_host_t hosts[2];
  size_t messages;  // of control, under way
  // Makes the source (owned by the transfer) of |size| bytes from |seed|; NULL: they are in memory.
  tfrt_payload_source_t* (*open_source)(uint64_t size, uint64_t seed);
  // Makes a sink (owned by the want) into |buffer|; NULL: they go there without one.
  tfrt_payload_sink_t* (*open_sink)(uint8_t* buffer, uint64_t size);
};

// Options of both hosts, and which of them knows an address of the other (bit 0: host 0).
typedef struct tfrt_bulk_harness_options_s {
  tfrt_simulated_options_t network;
  tfrt_bulk_options_t channels;
  uint32_t chunk_bytes;
  uint32_t diallers;
  bool is_paced;
  const char* other_place;  // of host 1, instead of that of |channels|; NULL: that one
} tfrt_bulk_harness_options_t;

void tfrt_bulk_harness_options_initialize(tfrt_bulk_harness_options_t* out_options);

// Makes both hosts, with an open session.
void tfrt_bulk_harness_begin(tfrt_bulk_harness_t* harness,
                             const tfrt_bulk_harness_options_t* options);

// Buries, closes and checks that all is given back.
void tfrt_bulk_harness_end(tfrt_bulk_harness_t* harness);

// Host |host| wants |size| bytes of the other one, made from |seed|; returns the want's index.
size_t tfrt_bulk_harness_want(tfrt_bulk_harness_t* harness, int host, uint64_t size, uint64_t seed);

// Host |host| no longer wants |index|.
void tfrt_bulk_harness_unwant(tfrt_bulk_harness_t* harness, int host, size_t index);

// Steps until every want is over, or |limit_ns| have passed: returns false then.
bool tfrt_bulk_harness_run(tfrt_bulk_harness_t* harness, int64_t limit_ns);

// Steps until |count| more messages of channels were handed over.
void tfrt_bulk_harness_run_messages(tfrt_bulk_harness_t* harness, uint64_t count);

// Steps for |time_ns|.
void tfrt_bulk_harness_pass(tfrt_bulk_harness_t* harness, int64_t time_ns);

// The session is dead, at |host|.
void tfrt_bulk_harness_bury(tfrt_bulk_harness_t* harness, int host);

tfrt_bulk_counts_t tfrt_bulk_harness_counts(tfrt_bulk_harness_t* harness, int host);

// A value (+1) of the harness's type: |size| bytes made from |seed|.
tfrt_async_value_t* tfrt_bulk_harness_value(uint64_t size, uint64_t seed);

// Values of that type that are alive.
int64_t tfrt_bulk_harness_live_values(void);

// The byte at |offset| of what |seed| makes.
uint8_t tfrt_bulk_harness_byte(uint64_t seed, uint64_t offset);

// A message as a peer of the product reads it: gathered, and decoded by the wire's own functions.
typedef struct tfrt_bulk_harness_message_s {
  tfrt_string_builder_t bytes;
  tfrt_arena_t arena;
  tfrt_wire_bulk_t down;  // of a dialler's message only the kind
} tfrt_bulk_harness_message_t;

// Reads |spans| into |message|; the caller deinitializes it.
void tfrt_bulk_harness_message_read(tfrt_bulk_harness_message_t* message,
                                    const tfrt_transport_span_t* spans, size_t count,
                                    bool is_from_dialler);
void tfrt_bulk_harness_message_deinitialize(tfrt_bulk_harness_message_t* message);

#endif  // TFRT_TESTS_DISTRIBUTED_BULK_BULK_HARNESS_H_
