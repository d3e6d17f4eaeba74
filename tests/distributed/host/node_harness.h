// SPDX-License-Identifier: Apache-2.0
//
// Whole nodes on a simulated network: hosts with kernels, and a client that runs programs on
// them, in one process and from one seed. Two oracles look on, always: at each frame
// (frame_oracle.h) and, after each step, at the tables of all nodes (table_oracle.h).
//
// Life: initialise a world, start a program, let time pass and break things, look at the
// results; deinitialise, which closes all nodes and checks that nothing is left anywhere.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_HOST_NODE_HARNESS_H_
#define TFRT_TESTS_DISTRIBUTED_HOST_NODE_HARNESS_H_

#include "distributed/client/client.h"
#include "distributed/host/node.h"
#include "tests/distributed/host/frame_oracle.h"
#include "tests/distributed/simulated/network.h"

#define TFRT_NODE_WORLD_MAX_HOSTS 20
#define TFRT_NODE_WORLD_MAX_RESULTS 4097
#define TFRT_NODE_WORLD_SECOND TFRT_NANOSECONDS_PER_SECOND

typedef struct tfrt_node_world_s tfrt_node_world_t;

typedef struct tfrt_node_host_s {
  tfrt_node_world_t* world;
  tfrt_simulated_endpoint_t* endpoint;
  tfrt_host_context_t* context;
  tfrt_node_t* node;  // NULL once it is taken down
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
} tfrt_node_host_t;

struct tfrt_node_world_s {
  tfrt_simulated_network_t* network;
  uint64_t step_count;
  tfrt_frame_oracle_t* frames;  // process n has the incarnation 0x1000 + n
  tfrt_node_host_t hosts[TFRT_NODE_WORLD_MAX_HOSTS + 1];  // the last one in use is the client's
  uint32_t host_count;                                    // without the client
  tfrt_client_t* client;
  uint64_t start;
  uint32_t result_count;
  tfrt_async_value_t* results[TFRT_NODE_WORLD_MAX_RESULTS];
  char printed[1024];  // "RANK: LINE\n" each
};

// Makes a world of |host_count| hosts, a client, and an open job. |options| may be NULL.
// Thread-compatible.
void tfrt_node_world_initialize(tfrt_node_world_t* world, uint32_t host_count,
                                const tfrt_simulated_options_t* options);

// The same, but each node grants |window_size| bytes ahead of what it has of a payload.
// Thread-compatible.
void tfrt_node_world_initialize_with_window(tfrt_node_world_t* world, uint32_t host_count,
                                            const tfrt_simulated_options_t* options,
                                            uint64_t window_size);

// Has |configure| change the options of each node, by index, of the worlds that are made from
// now on; NULL: as they are. Thread-compatible.
typedef void (*tfrt_node_world_configure_fn_t)(uint32_t index, tfrt_node_options_t* options);
void tfrt_node_world_set_configure(tfrt_node_world_configure_fn_t configure);

// Closes everything and checks that nothing is left. Thread-compatible.
void tfrt_node_world_deinitialize(tfrt_node_world_t* world);

// Starts function @main of the program |text|, which has |result_count| results, with
// |arguments| (+0). Thread-compatible.
void tfrt_node_world_start(tfrt_node_world_t* world, const char* text,
                           tfrt_async_value_t* const* arguments, uint32_t argument_count,
                           uint32_t result_count);

// The same with |x|, an i32, for its only argument. Thread-compatible.
void tfrt_node_world_start_i32(tfrt_node_world_t* world, const char* text, int32_t x,
                               uint32_t result_count);

// Lets time pass until all results are here, at most a minute. Thread-compatible.
void tfrt_node_world_await(tfrt_node_world_t* world);

// Lets |duration_ns| pass. Thread-compatible.
void tfrt_node_world_run_for(tfrt_node_world_t* world, int64_t duration_ns);

// Gives the results back and checks that, with the job closed, all tables of all nodes are
// empty after a while. Thread-compatible.
void tfrt_node_world_finish(tfrt_node_world_t* world);

// Ends the process of host |rank|. Thread-compatible.
void tfrt_node_world_kill(tfrt_node_world_t* world, uint32_t rank);

// Breaks each connection between two hosts; |host_count| is the client. Thread-compatible.
void tfrt_node_world_break(tfrt_node_world_t* world, uint32_t a, uint32_t b);

// The bytes that went by bulk channels from one host to another so far. Thread-compatible.
uint64_t tfrt_node_world_bulk_bytes(const tfrt_node_world_t* world, uint32_t from, uint32_t to);

// Lets time pass until |bytes| bytes went from |from| to |to|; false if that never happens.
// Thread-compatible.
bool tfrt_node_world_run_until_bytes(tfrt_node_world_t* world, uint32_t from, uint32_t to,
                                     uint64_t bytes);

// Result |index|, which is an i32, a string, or an error; lives as long as the results.
// Thread-compatible.
int32_t tfrt_node_world_i32(const tfrt_node_world_t* world, uint32_t index);
tfrt_string_view_t tfrt_node_world_text(const tfrt_node_world_t* world, uint32_t index);
tfrt_status_t tfrt_node_world_error(const tfrt_node_world_t* world, uint32_t index);

#endif  // TFRT_TESTS_DISTRIBUTED_HOST_NODE_HARNESS_H_
