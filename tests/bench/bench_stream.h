// SPDX-License-Identifier: Apache-2.0
//
// One end of a bare stream of the transport that carries messages of one small size. A transport
// writes one message at a time: one that is sent meanwhile waits here.
//
// Life: initialised; dialled, or adopted from an acceptor; messages both ways;
// deinitialised when its transport is drained.
//
// Thread rule: thread-compatible, but sending is thread-safe.
// Failure rule: |on_broken| reports each failure, and the end of the stream.
#ifndef TFRT_TESTS_BENCH_BENCH_STREAM_H_
#define TFRT_TESTS_BENCH_BENCH_STREAM_H_

#include "distributed/transport/transport.h"
#include "host_runtime/base/sync.h"

#define TFRT_BENCH_STREAM_MESSAGE_SIZE 64

// Messages that may wait or be written at once.
#define TFRT_BENCH_STREAM_ROOM 4

typedef struct tfrt_bench_stream_s tfrt_bench_stream_t;

struct tfrt_bench_stream_s {
  // A message has come; TFRT_BENCH_STREAM_MESSAGE_SIZE |bytes|, which live until it returns.
  void (*on_message)(tfrt_bench_stream_t* stream, const void* bytes);
  void (*on_broken)(tfrt_bench_stream_t* stream);

  tfrt_transport_handler_t handler;
  tfrt_transport_connection_t* connection;  // +1, when there is one
  tfrt_transport_write_t write;
  char messages[TFRT_BENCH_STREAM_ROOM][TFRT_BENCH_STREAM_MESSAGE_SIZE];
  tfrt_mutex_t mutex;
  uint64_t sent;     // guarded by |mutex|
  uint64_t written;  // of these; likewise
};

// Makes |stream| one without a connection that calls the two functions. Thread-compatible.
void tfrt_bench_stream_initialize(tfrt_bench_stream_t* stream,
                                  void (*on_message)(tfrt_bench_stream_t* stream,
                                                     const void* bytes),
                                  void (*on_broken)(tfrt_bench_stream_t* stream));

// Connects |stream| to the listener at |address|. Thread-compatible.
tfrt_status_t tfrt_bench_stream_dial(tfrt_bench_stream_t* stream, tfrt_transport_t* transport,
                                     const char* address) TFRT_MUST_USE;

// Makes |connection| that of |stream|; |stream| retains it. Thread-compatible.
void tfrt_bench_stream_adopt(tfrt_bench_stream_t* stream, tfrt_transport_connection_t* connection);

// Sends the TFRT_BENCH_STREAM_MESSAGE_SIZE |bytes|, which are copied. Thread-safe.
void tfrt_bench_stream_send(tfrt_bench_stream_t* stream, const void* bytes);

// Gives back what |stream|, which was initialised, holds. Thread-compatible.
void tfrt_bench_stream_deinitialize(tfrt_bench_stream_t* stream);

#endif  // TFRT_TESTS_BENCH_BENCH_STREAM_H_
