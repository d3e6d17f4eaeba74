// SPDX-License-Identifier: Apache-2.0
//
// A connection over gRPC: one call, whichever side began it, or a bundle of calls that are used in
// turn (bundle.h). Both sides share connection.c; their differences, how the call begins and what
// its end means, are in dial.c and accept.c.
//
// Callers on any thread change a few states under the lock, and gRPC's events change
// others on the queue's thread. After each event *settle* looks at all of them and does
// what is due, in this order:
//
//   give      the message that is held, if one is wanted; drop it if nobody may get it
//   read      ask gRPC for the next message, so that its arrival, or the end of the
//             stream, is noticed even while nobody wants one; when the queue's thread turns to its
//             next event, because gRPC tells the peer at once how much more it may send, and the
//             answer to the last message should not wait for that system call, nor the peer be
//             woken twice
//   finish    say that nothing more is coming, once the last write is done
//   tell      report the end, when gRPC has told it and nothing is outstanding
//
//   STARTING --start--> OPEN --the main stream has ended--> ENDING --all is over--> ENDED --> TOLD
//      |                                                        `--it broke----------^
//      +--- writes and requests made meanwhile are kept
//
// A connection that ended in order may still have messages: the last ones on each of its streams.
// It is over when they are read and all of its streams have ended. It may still hold one then:
// on_closed comes after that message was given.
//
// Thread rule: the fields say it. Failure rule: see distributed/transport/transport.h.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_CONNECTION_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_CONNECTION_H_

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "distributed/transport/grpc/admission.h"
#include "distributed/transport/grpc/bundle.h"
#include "distributed/transport/grpc/credentials.h"
#include "distributed/transport/grpc/grpc_library.h"
#include "distributed/transport/grpc/queue.h"
#include "distributed/transport/transport.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

// The part of one side in the common life. Belongs to the queue's thread.
typedef struct tfrt_grpc_side_vtable_s {
  void (*on_message)(tfrt_grpc_connection_t* connection);  // one has come
  void (*on_over)(tfrt_grpc_connection_t* connection);     // all streams are over, or one broke
  // Gives back what only that side has.
  void (*deinitialize)(tfrt_grpc_connection_t* connection);
} tfrt_grpc_side_vtable_t;

// The connections of a transport whose on_closed is still to come. So close finds all of them, and
// drain knows when the last one is gone. Connections are added until the set is closed, and each
// removes itself after its on_closed. Its lock is taken before that of a connection, never the
// other way round. The set also knows the diallers whose channels outlive the stream (dial.c). The
// transport makes, closes, drains and ends the set (grpc_transport.c).
typedef struct tfrt_grpc_connection_set_s {
  tfrt_mutex_t mutex;
  tfrt_condition_t emptied;
  tfrt_list_link_t connections;  // guarded by |mutex|
  tfrt_list_link_t abandoned;    // guarded by |mutex|: diallers; empty once the set is drained
  bool is_closed;                // guarded by |mutex|
} tfrt_grpc_connection_set_t;

// A message on its way out: filled, sent, finished once (the operation), and done when the last
// thread or slice has left it. It can be filled again then.
typedef struct tfrt_grpc_outgoing_s tfrt_grpc_outgoing_t;

struct tfrt_grpc_outgoing_s {
  grpc_byte_buffer* buffer;
  _Atomic uint32_t parts;  // see connection.c
  // The last slice was released after the operation was done. Called from any thread, from
  // inside of gRPC: MAY do nothing but post an event.
  void (*on_released)(tfrt_grpc_outgoing_t* outgoing);
};

// The name of the trailing metadata by which a listener says that its acceptor said no.
#define TFRT_GRPC_REJECTED_NAME "tfrt-rejected"

// A dialler's own part; belongs to the queue's thread once the dialler is posted.
typedef struct tfrt_grpc_dialler_s {
  grpc_channel* channel;            // once abandoned: of the one that takes it out of that list
  tfrt_list_link_t abandoned_link;  // guarded by the set's lock
  grpc_metadata* metadata;          // |metadata_count|, sent at the start
  size_t metadata_count;
  grpc_metadata_array initial;
  grpc_metadata_array trailing;
  grpc_status_code code;
  grpc_slice details;
  int64_t begin_ns;
  int64_t deadline_ns;
  tfrt_grpc_timer_t timer;
  bool has_received;                              // a message: so it can't be a rejection
  const tfrt_grpc_credential_set_t* credentials;  // outlives it
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
} tfrt_grpc_dialler_t;

// A listener's own part; belongs to the queue's thread.
typedef struct tfrt_grpc_listener_side_s {
  int is_cancelled;  // gRPC's word at the end
  grpc_metadata rejected_mark;
  grpc_slice details;
  tfrt_grpc_admission_t* admission;  // +1 until the first message; NULL: needs none
  uint64_t stranger;                 // its number there
} tfrt_grpc_listener_side_t;

// The events of a connection; each is under way at most once.
typedef struct tfrt_grpc_connection_events_s {
  tfrt_grpc_event_t start;     // dialler: leaves STARTING
  tfrt_grpc_event_t opened;    // initial metadata was sent (dialler: and answered)
  tfrt_grpc_event_t sent;      // the write's operation is done
  tfrt_grpc_event_t released;  // its last slice was released after that
  tfrt_grpc_event_t refused;   // a write on a connection that takes none
  tfrt_grpc_event_t finished;  // half-close or status was sent
  tfrt_grpc_event_t ended;     // gRPC's last word
  tfrt_grpc_event_t poke;      // somebody changed a state that settle has to see
  tfrt_grpc_event_t left;      // dialler: the abandoned channel no longer connects
} tfrt_grpc_connection_events_t;

// The picture above.
typedef enum tfrt_grpc_phase_e {
  TFRT_GRPC_PHASE_STARTING = 0,
  TFRT_GRPC_PHASE_OPEN,
  TFRT_GRPC_PHASE_ENDING,  // |end| and |end_status| are known
  TFRT_GRPC_PHASE_ENDED,
  TFRT_GRPC_PHASE_TOLD,
} tfrt_grpc_phase_t;

// The sending half: FREE <--> WRITING; FREE --> FINISHED.
typedef enum tfrt_grpc_sending_e {
  TFRT_GRPC_SENDING_FREE = 0,
  TFRT_GRPC_SENDING_WRITING,   // a write was taken, and on_written is still to come
  TFRT_GRPC_SENDING_FINISHED,  // |finished| is under way, or done: no more writes
} tfrt_grpc_sending_t;

// The receiving half: FREE <--> READING; either --> EXHAUSTED.
typedef enum tfrt_grpc_receiving_e {
  TFRT_GRPC_RECEIVING_FREE = 0,
  TFRT_GRPC_RECEIVING_READING,    // |read| is under way, or the next message
  TFRT_GRPC_RECEIVING_EXHAUSTED,  // gRPC has no more messages
} tfrt_grpc_receiving_t;

// How the owner, or the dialler's clock, ends the stream: a later wish wins over an earlier one.
typedef enum tfrt_grpc_wish_e {
  TFRT_GRPC_WISH_NONE = 0,
  TFRT_GRPC_WISH_CLOSE,
  TFRT_GRPC_WISH_ABORT,
  TFRT_GRPC_WISH_GIVE_UP,  // an abort because the time for an answer was up
} tfrt_grpc_wish_t;

struct tfrt_grpc_connection_s {
  tfrt_transport_connection_t base;
  tfrt_allocator_t allocator;
  tfrt_grpc_queue_t* queue;
  tfrt_grpc_connection_set_t* set;
  tfrt_list_link_t set_link;  // guarded by the set's lock
  bool is_dialled;            // never changes
  const tfrt_grpc_side_vtable_t* side_vtable;

  tfrt_grpc_connection_events_t events;
  // Belongs to the thread that works on the write in flight.
  tfrt_grpc_outgoing_t outgoing;
  // Belongs to the queue's thread.
  tfrt_task_t read;  // asks for a message; counted in |pending|
  bool is_sent_ok;
  union {
    tfrt_grpc_dialler_t dialler;
    tfrt_grpc_listener_side_t listener;
  } side;

  tfrt_grpc_bundle_t bundle;  // its fields say whose they are

  tfrt_mutex_t mutex;
  // All below is guarded by |mutex|.
  grpc_call*
      call;  // of the main stream; given up at the end; an event counted in |pending| needs no lock
  uint32_t pending;                     // events that will come
  uint64_t wanted;                      // messages asked for and not given
  grpc_byte_buffer* held;               // the message that arrived and was not given
  tfrt_transport_write_t* early_write;  // taken before the start, or before the turns begin
  tfrt_transport_end_t end;             // once |phase| is ENDING
  tfrt_status_t end_status;
  tfrt_grpc_phase_t phase;
  tfrt_grpc_sending_t sending;
  tfrt_grpc_receiving_t receiving;
  tfrt_grpc_wish_t wish;
  bool is_poked;  // |poke| is under way
};

// The bytes of |slice| (+0). Thread-compatible.
static inline tfrt_string_view_t tfrt_grpc_view_of(const grpc_slice* slice) {
  return tfrt_string_view_make((const char*)GRPC_SLICE_START_PTR(*slice),
                               GRPC_SLICE_LENGTH(*slice));
}

// Makes |connection|, all of whose bytes are zero, one of |kind| on |queue|, which it
// retains. Thread-compatible.
void tfrt_grpc_connection_initialize(tfrt_grpc_connection_t* connection, tfrt_transport_kind_t kind,
                                     tfrt_transport_handler_t* handler, tfrt_grpc_queue_t* queue,
                                     tfrt_grpc_connection_set_t* set, tfrt_allocator_t allocator);

// Starts the operations |operations| on |call|, that of one of the streams, under |event|, which
// must be counted: adds it to what is pending. Thread-safe.
void tfrt_grpc_connection_start_batch(tfrt_grpc_connection_t* connection, grpc_call* call,
                                      const grpc_op* operations, size_t count,
                                      tfrt_grpc_event_t* event);

// Leaves STARTING, when the first operations have been started; does what was asked for
// meanwhile. Belongs to the queue's thread.
void tfrt_grpc_connection_open(tfrt_grpc_connection_t* connection);

// An event that was counted has come and changed nothing else. Belongs to the queue's
// thread.
void tfrt_grpc_connection_settle_event(tfrt_grpc_connection_t* connection);

// True if more may be sent and is to come. With the lock held.
static inline bool tfrt_grpc_connection_is_usable(const tfrt_grpc_connection_t* connection) {
  return connection->phase == TFRT_GRPC_PHASE_OPEN && connection->wish == TFRT_GRPC_WISH_NONE &&
         connection->sending != TFRT_GRPC_SENDING_FINISHED &&
         connection->receiving != TFRT_GRPC_RECEIVING_EXHAUSTED;
}

// Why a connection breaks, besides an abort.
typedef enum tfrt_grpc_break_e {
  TFRT_GRPC_BREAK_PEER,       // one of its streams broke, or the peer sent what it may not
  TFRT_GRPC_BREAK_NO_ANSWER,  // dialler: the time for an answer is up
} tfrt_grpc_break_t;

// Breaks the connection because of |reason|. Belongs to the queue's thread.
void tfrt_grpc_connection_break(tfrt_grpc_connection_t* connection, tfrt_grpc_break_t reason);

// The event |ended| has come: the main stream is over as |end| and |status| (taken over) say.
// Belongs to the queue's thread.
void tfrt_grpc_connection_take_end(tfrt_grpc_connection_t* connection, tfrt_transport_end_t end,
                                   tfrt_status_t status);

// Adds |connection|, which must live until it is removed, and returns true, or returns
// false if |set| is closed. Thread-safe.
bool tfrt_grpc_connection_set_add(tfrt_grpc_connection_set_t* set,
                                  tfrt_grpc_connection_t* connection) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_CONNECTION_H_
