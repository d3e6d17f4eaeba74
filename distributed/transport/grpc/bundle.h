// SPDX-License-Identifier: Apache-2.0
//
// The streams of a connection: the *main* one, alone, or a bundle of several that are used in turn.
//
// gRPC's core tells the sender that a message was read as soon as the next one of the same stream
// is waited for, in a packet of its own. On one stream that is a packet for each message. So two
// hosts that both can use several streams, which are calls on one connection of HTTP/2. The
// messages of a direction go over them in turn. The reads of a turn are started together, when all
// of its messages have come: then one packet tells of all of them (docs/performance_notes.md).
//
//   dialler                                               listener
//     main    tfrt-streams: 4                ----------->
//             tfrt-bundle: TOKEN-4           <-----------   OFFERED
//   OFFERED
//     others  tfrt-bundle: TOKEN-1, -2, -3   ----------->   JOINED, with the last one
//   JOINED, with the last one                <-----------   others: accepted, the same
//
// A side that is JOINED sends an empty message on the main stream in front of its next message.
// From there on its messages go over stream 1, 2, 3, main, 1 ... A side of an earlier version
// neither asks nor answers, and any other client of the service need not: then the main stream is
// alone. It also stays alone where memory is out.
//
//   ALONE --asked and answered--> OFFERED --all are there--> JOINED --one ends badly--> BROKEN
//                                    `--one ends---------------------------------------^
//
// The end: all streams are finished together. Each gives its messages before its end, so a turn
// never lacks one. The connection is over in order when all streams are; the first stream of a
// bundle in use that breaks ends it as broken.
//
// The token is 128 random bits, which a dialler learns from the answer to its main stream: nobody
// else can add a stream. A listener takes each number once. On each stream a message may wait for
// its turn, and a part of the next one behind it. So a peer can have a process keep the bytes of
// one stream, times the streams of a bundle.
//
// Thread rule: as connection.h, whose lock it uses; the fields say it.
// Failure rule: a bundle that can't be made leaves the main stream alone.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_BUNDLE_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_BUNDLE_H_

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <stdbool.h>
#include <stdint.h>

#include "distributed/transport/grpc/queue.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"

typedef struct tfrt_grpc_connection_s tfrt_grpc_connection_t;
typedef struct tfrt_grpc_connection_set_s tfrt_grpc_connection_set_t;

// Names of metadata: how many streams a dialler can use, and a token with a number, which is the
// count of streams in the answer to the main one, and that of the stream for the others.
#define TFRT_GRPC_STREAMS_NAME "tfrt-streams"
#define TFRT_GRPC_BUNDLE_NAME "tfrt-bundle"

// The digits of a token; and room for it with '-', a number and the NUL.
#define TFRT_GRPC_TOKEN_DIGITS 32
#define TFRT_GRPC_TOKEN_SIZE (TFRT_GRPC_TOKEN_DIGITS + 8)

// The reading of one stream. Belongs to the queue's thread.
typedef enum tfrt_grpc_reading_e {
  TFRT_GRPC_READING_IDLE = 0,
  TFRT_GRPC_READING_ASKED,    // |received| is under way
  TFRT_GRPC_READING_ARRIVED,  // |message| waits for its turn
  TFRT_GRPC_READING_OVER,     // gRPC has no more of the stream's messages
} tfrt_grpc_reading_t;

typedef struct tfrt_grpc_stream_s {
  tfrt_grpc_connection_t* connection;
  tfrt_grpc_event_t received;
  grpc_byte_buffer* message;  // filled by gRPC
  tfrt_grpc_reading_t reading;
} tfrt_grpc_stream_t;

// A stream besides the main one. Belongs to the queue's thread, but for |call|.
typedef struct tfrt_grpc_other_stream_s {
  tfrt_grpc_stream_t stream;
  grpc_call* call;  // set with the lock held; NULL until the stream is there
  tfrt_grpc_event_t opened;
  tfrt_grpc_event_t finished;
  tfrt_grpc_event_t ended;
  int is_cancelled;    // listener: gRPC's word at the end
  grpc_metadata mark;  // sent at the start, and with the answer
  grpc_metadata_array initial;
  grpc_metadata_array trailing;
  grpc_status_code code;
  grpc_slice details;
} tfrt_grpc_other_stream_t;

// The picture above.
typedef enum tfrt_grpc_bundle_state_e {
  TFRT_GRPC_BUNDLE_ALONE = 0,
  TFRT_GRPC_BUNDLE_OFFERED,
  TFRT_GRPC_BUNDLE_JOINED,
  TFRT_GRPC_BUNDLE_BROKEN,
} tfrt_grpc_bundle_state_t;

// Where the next message of a direction goes: to the main stream until |has_begun|.
typedef struct tfrt_grpc_turn_s {
  bool has_begun;
  uint32_t next;
} tfrt_grpc_turn_t;

typedef struct tfrt_grpc_bundle_s {
  // Belongs to the queue's thread.
  tfrt_grpc_stream_t main;
  tfrt_grpc_turn_t in;
  char token[TFRT_GRPC_TOKEN_SIZE];  // empty: none. Written before the connection is in its set
  grpc_metadata agreement;           // listener: sent with the answer
  tfrt_grpc_event_t begun;           // the empty message was sent
  grpc_byte_buffer* beginning;       // that message, until then
  // Guarded by the connection's lock; changed on the queue's thread, but for |out|.
  tfrt_grpc_bundle_state_t state;
  tfrt_grpc_turn_t out;
  uint32_t count;                    // of all streams
  uint32_t joined;                   // of the others, those that are there on both sides
  uint32_t live;                     // of the others, those whose |ended| is to come
  tfrt_grpc_other_stream_t* others;  // |count| - 1; NULL: none
} tfrt_grpc_bundle_t;

// Makes the bundle of |connection|, all of whose bytes are zero, one with the main stream alone;
// |on_received| runs after each read. Thread-compatible.
void tfrt_grpc_bundle_initialize(tfrt_grpc_connection_t* connection,
                                 tfrt_grpc_event_fn_t on_received);

// Makes a mark, for the metadata of a stream, of the first TFRT_GRPC_TOKEN_DIGITS characters of
// |token| and |number|; its value is the caller's. Thread-safe.
grpc_metadata tfrt_grpc_bundle_make_mark(const char* token, uint32_t number);

// Sets |*out_number| to the number behind the token in |mark|, the value of such metadata; false if
// it has no such form. Thread-safe.
bool tfrt_grpc_bundle_read_mark(tfrt_string_view_t mark, uint32_t* out_number);

// Makes room for |count| streams in all, OFFERED; |on_opened| runs when one of the others is
// opened. False where memory is out. Belongs to the queue's thread.
bool tfrt_grpc_bundle_make_room(tfrt_grpc_connection_t* connection, uint32_t count,
                                tfrt_grpc_event_fn_t on_opened);

// One more of the others is there on both sides. Belongs to the queue's thread.
void tfrt_grpc_bundle_note_joined(tfrt_grpc_connection_t* connection);

// The call that the next message goes to; the turn passes on. NULL: the turns begin with that
// message, and the caller sends the empty one first. With the lock held.
grpc_call* tfrt_grpc_bundle_take_turn(tfrt_grpc_connection_t* connection);

// Sees to it that the next message is read. Belongs to the queue's thread.
void tfrt_grpc_bundle_read(tfrt_grpc_connection_t* connection);

// True if the next message is there: sets |*out_message| (+1), or NULL if there is none any more.
// Belongs to the queue's thread.
bool tfrt_grpc_bundle_take(tfrt_grpc_connection_t* connection, grpc_byte_buffer** out_message);

// Gives all back; nothing is under way any more. Belongs to the queue's thread, or to the one that
// undoes a dial.
void tfrt_grpc_bundle_deinitialize(tfrt_grpc_connection_t* connection);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_BUNDLE_H_
