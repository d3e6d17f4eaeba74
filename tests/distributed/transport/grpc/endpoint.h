// SPDX-License-Identifier: Apache-2.0
//
// Two ends of connections for tests of a real transport: one that dials and one that
// accepts. Both record their events, and a test waits for an event with a condition, never by the
// clock. A wait that lasts TFRT_ENDPOINT_PATIENCE_S fails the test.
//
// Life of an endpoint: initialised, dialled or given out by a host's acceptor, waited for
// until it is closed, deinitialised when its transport is drained.
//
// Thread rule: thread-safe after initialisation.
// Failure rule: what a test does not expect fails the test.
#ifndef TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_ENDPOINT_H_
#define TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_ENDPOINT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "distributed/transport/transport.h"
#include "host_runtime/base/sync.h"

#define TFRT_ENDPOINT_PATIENCE_S 30

typedef struct tfrt_endpoint_s {
  tfrt_transport_handler_t handler;
  tfrt_transport_connection_t* connection;  // +1, until deinitialised
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  bool is_greedy;   // asks for the next message whenever one came
  bool is_echoing;  // sends each message back, and asks then for the next
  bool is_pouring;  // writes the same again and again, until that fails

  // Guarded by |mutex|.
  uint64_t message_count;
  uint64_t byte_count;
  uint64_t checksum;  // of all bytes, in order
  char* last;         // a copy of the last message
  size_t last_size;
  uint64_t written_count;
  tfrt_status_code_t written_code;  // of the last write
  bool is_write_done;               // no write is in flight
  bool is_closed;
  tfrt_transport_end_t end;
  tfrt_status_t status;
  int callbacks_running;  // more than one: the transport broke its promise

  tfrt_transport_write_t write;
  char* echo;
  size_t echo_size;
} tfrt_endpoint_t;

// How a listening host treats incoming streams.
typedef struct tfrt_endpoint_host_s {
  tfrt_transport_acceptor_t acceptor;
  tfrt_transport_t* transport;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  const char* key;  // expected; NULL: none
  bool is_greedy;
  bool is_echoing;
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  tfrt_endpoint_t** accepted;  // guarded by |mutex|, in the order of their coming
  size_t accepted_count;
  size_t judged_count;
} tfrt_endpoint_host_t;

// Makes |endpoint| one that has no connection yet. Thread-compatible.
void tfrt_endpoint_initialize(tfrt_endpoint_t* endpoint);
// Gives back all that |endpoint| holds. Thread-compatible.
void tfrt_endpoint_deinitialize(tfrt_endpoint_t* endpoint);

// Dials |address| with |key| (NULL: none) and a limit of |timeout_ms|. Thread-compatible.
void tfrt_endpoint_dial(tfrt_endpoint_t* endpoint, tfrt_transport_t* transport, const char* address,
                        tfrt_transport_kind_t kind, const char* key, int64_t timeout_ms);

// Writes |size| bytes, borrowed, and waits until the borrow is over. Returns the code.
// Thread-safe.
tfrt_status_code_t tfrt_endpoint_write(tfrt_endpoint_t* endpoint, const void* data, size_t size);
// Begins to write, and waits for a write that was begun. Thread-safe.
void tfrt_endpoint_begin_write(tfrt_endpoint_t* endpoint, const void* data, size_t size);
tfrt_status_code_t tfrt_endpoint_wait_written(tfrt_endpoint_t* endpoint);

// Waits until |count| writes are done, or |count| messages have come. Thread-safe.
void tfrt_endpoint_wait_writes(tfrt_endpoint_t* endpoint, uint64_t count);
void tfrt_endpoint_wait_messages(tfrt_endpoint_t* endpoint, uint64_t count);
// Waits for the end and returns it. Thread-safe.
tfrt_transport_end_t tfrt_endpoint_wait_closed(tfrt_endpoint_t* endpoint);

// Makes |host| listen on |address| with |transport|, which it retains. Thread-compatible.
void tfrt_endpoint_host_listen(tfrt_endpoint_host_t* host, tfrt_transport_t* transport,
                               const char* address);
// Waits for the stream number |index|. Thread-safe.
tfrt_endpoint_t* tfrt_endpoint_host_wait(tfrt_endpoint_host_t* host, size_t index);
// Closes, drains and releases the transport and gives back what came. Thread-compatible.
void tfrt_endpoint_host_stop(tfrt_endpoint_host_t* host);

#endif  // TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_ENDPOINT_H_
