// SPDX-License-Identifier: Apache-2.0
//
// The interface to the network: ordered, bidirectional streams of messages between processes. All
// code above it runs unchanged over gRPC (distributed/transport/grpc) and over a seeded network in
// one process (tests/distributed/simulated).
//
// A *transport* is one process's place in a network. It may listen on an address and
// dial others. A *connection* is one stream of messages of one kind: CONTROL carries the
// batches of one session, BULK is a bulk channel for payloads. A message is a few spans of bytes;
// it arrives whole or not at all, and in the order of its stream, but connections break, and the
// transport repeats no lost message: that is the session's work.
//
//   dialler                                       listener
//     dial(address, kind, metadata) ------------>   acceptor.accept(metadata): key checked
//     write(spans)  ---------------------------->   on_message      (one per receive())
//     on_written                                    ...
//     on_message  <------------------------------   write(spans)
//     on_closed   <--- ENDED, RESET, ... -------->  on_closed       (once, the last one)
//
// Life of a connection:
//  1. dial returns it (+1) before anybody has answered; or the acceptor is shown one and
//     retains it. Its handler must live until on_closed has returned.
//  2. The owner writes, one message at a time, and asks for messages, each by one
//     receive(). A dialler may do both at once, without waiting for an answer.
//  3. It ends: by close (in order: what was written arrives first), by abort (at once), by
//     the peer, or by the network. Each accepted write is completed before on_closed, which comes
//     exactly once, with the reason. After that only a write that came too late is still completed,
//     with an error.
//  4. Released by its owner. Releasing does not end a stream: close or abort it first.
//
// Life of a transport: created by an implementation, listen and dial, close (no more of
// either; connections are aborted), drain (wait until each has been told), release.
//
// Callbacks are called with no lock held, one at a time for each connection (those of
// different connections at any time and from any thread), and never from inside of a call
// on the same transport. They MAY call anything here but drain and the last release of a
// transport. They MUST NOT block: they run on the thread that reads the network.
//
// Thread rule: thread-safe unless a function says otherwise.
// Failure rule: a mistake of the caller (no address, a second write in flight, too big a
// message) fails at once and changes nothing. Network failures arrive at on_written and on_closed,
// with a reason that tells whether another try is of use.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_TRANSPORT_H_
#define TFRT_DISTRIBUTED_TRANSPORT_TRANSPORT_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// The biggest message, in bytes: one MiB of payload or frames, and room for its header.
#define TFRT_TRANSPORT_MAX_MESSAGE_SIZE ((size_t)(1024 + 64) * 1024)

// The most spans in one message that is written.
#define TFRT_TRANSPORT_MAX_SPANS 16

// Room for the text of an address with its NUL.
#define TFRT_TRANSPORT_ADDRESS_SIZE 256

// The name under which the cluster's key is given at dial.
#define TFRT_TRANSPORT_CLUSTER_KEY "tfrt-cluster-key"

typedef struct tfrt_transport_s tfrt_transport_t;
typedef struct tfrt_transport_connection_s tfrt_transport_connection_t;

typedef enum tfrt_transport_kind_e {
  TFRT_TRANSPORT_CONTROL = 0,  // batches of one session
  TFRT_TRANSPORT_BULK = 1,     // a bulk channel for payloads, on a connection of its own
} tfrt_transport_kind_t;

// Why a connection is closed, as one side saw it.
typedef enum tfrt_transport_end_e {
  // One side closed it in order; the status is OK.
  TFRT_TRANSPORT_ENDED = 0,
  // Nobody listens there: the machine answers and the process is gone. Only at dial.
  TFRT_TRANSPORT_REFUSED = 1,
  // The acceptor said no (wrong cluster key, ...): the status is the acceptor's. Only at
  // dial, before any message.
  TFRT_TRANSPORT_REJECTED = 2,
  // Nothing answered within the dial's time limit. Only at dial.
  TFRT_TRANSPORT_NO_ANSWER = 3,
  // It was, or may have been, established and broke, or was aborted by either side. At dial
  // with the code UNAUTHENTICATED: the listener seems not to trust this side, or is ending;
  // it does not trust it if that comes again.
  TFRT_TRANSPORT_RESET = 4,
} tfrt_transport_end_t;

// A borrowed piece of a message.
typedef struct tfrt_transport_span_s {
  const void* data;  // may be NULL when |size| is 0
  size_t size;
} tfrt_transport_span_t;

// One name and value, given at dial and shown to the acceptor. Names are lower-case
// letters, digits and '-'; values are printable ASCII. Neither needs a NUL behind.
typedef struct tfrt_transport_metadata_s {
  tfrt_string_view_t name;
  tfrt_string_view_t value;
} tfrt_transport_metadata_t;

// ---------------------------------------------------------------------------------------
// The part that the owner of a connection provides.

typedef struct tfrt_transport_write_s tfrt_transport_write_t;

// Ends the borrow of |write| and of its bytes. OK says that the transport has taken the
// bytes, not that the peer has them. MAY write the next message.
typedef void (*tfrt_transport_written_fn_t)(tfrt_transport_write_t* write, tfrt_status_t status);

// A message on its way out, embedded in an object of the writer's. It and the bytes that
// it points to are borrowed from write until |on_written|, which is called exactly once.
struct tfrt_transport_write_s {
  tfrt_transport_span_t spans[TFRT_TRANSPORT_MAX_SPANS];
  size_t span_count;
  tfrt_transport_written_fn_t on_written;
};

typedef struct tfrt_transport_handler_s tfrt_transport_handler_t;

typedef struct tfrt_transport_handler_vtable_s {
  // A message of |span_count| spans, in order; they live until the function returns.
  // Called once per receive(). MAY ask for the next one.
  void (*on_message)(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                     const tfrt_transport_span_t* spans, size_t span_count);
  // The end, exactly once, behind every other callback of the connection. |status| is OK
  // only for ENDED. MAY free the handler.
  void (*on_closed)(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                    tfrt_transport_end_t end, tfrt_status_t status);
} tfrt_transport_handler_vtable_t;

// Embedded in the object that handles a connection.
struct tfrt_transport_handler_s {
  const tfrt_transport_handler_vtable_t* vtable;
};

// A stream that somebody dialled. Everything lives until accept returns.
typedef struct tfrt_transport_incoming_s {
  tfrt_transport_kind_t kind;
  const tfrt_transport_metadata_t* metadata;
  size_t metadata_count;
  tfrt_transport_connection_t* connection;
} tfrt_transport_incoming_t;

typedef struct tfrt_transport_acceptor_s tfrt_transport_acceptor_t;

typedef struct tfrt_transport_acceptor_vtable_s {
  // Judges |incoming| before any byte of a message is read: compares the cluster's key
  // (tfrt_transport_secrets_are_equal()). OK: sets |*out_handler|, and retains the
  // connection if it wants to write or receive. An error ends the stream with it.
  // Called from any thread, from several at once. MAY write and receive.
  tfrt_status_t (*accept)(tfrt_transport_acceptor_t* acceptor,
                          const tfrt_transport_incoming_t* incoming,
                          tfrt_transport_handler_t** out_handler);
} tfrt_transport_acceptor_vtable_t;

// Embedded in the object that accepts streams; lives until the transport is drained.
struct tfrt_transport_acceptor_s {
  const tfrt_transport_acceptor_vtable_t* vtable;
};

typedef struct tfrt_transport_dial_options_s {
  tfrt_string_view_t address;  // as a listener told it
  tfrt_transport_kind_t kind;
  const tfrt_transport_metadata_t* metadata;  // copied by dial
  size_t metadata_count;
  int64_t timeout_ns;  // until an answer; must be positive
} tfrt_transport_dial_options_t;

// ---------------------------------------------------------------------------------------
// The part that an implementation provides. No slot is NULL. Arguments have been checked.

typedef struct tfrt_transport_vtable_s {
  void (*destroy)(tfrt_transport_t* transport);
  tfrt_status_t (*listen)(tfrt_transport_t* transport, tfrt_string_view_t address,
                          tfrt_transport_acceptor_t* acceptor,
                          char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]);
  tfrt_status_t (*dial)(tfrt_transport_t* transport, const tfrt_transport_dial_options_t* options,
                        tfrt_transport_handler_t* handler,
                        tfrt_transport_connection_t** out_connection);
  void (*close)(tfrt_transport_t* transport);
  void (*drain)(tfrt_transport_t* transport);
} tfrt_transport_vtable_t;

// Embedded first in every implementation.
struct tfrt_transport_s {
  const tfrt_transport_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
};

typedef struct tfrt_transport_connection_vtable_s {
  void (*destroy)(tfrt_transport_connection_t* connection);
  // Takes |write|, always; a broken connection completes it with an error.
  void (*write)(tfrt_transport_connection_t* connection, tfrt_transport_write_t* write);
  void (*receive)(tfrt_transport_connection_t* connection);
  void (*close)(tfrt_transport_connection_t* connection);
  void (*abort)(tfrt_transport_connection_t* connection);
} tfrt_transport_connection_vtable_t;

// Embedded first in every implementation's connection, which keeps a reference to itself until
// on_closed.
struct tfrt_transport_connection_s {
  const tfrt_transport_connection_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_transport_kind_t kind;
  _Atomic(tfrt_transport_write_t*) in_flight;  // the write that is not completed yet
  tfrt_transport_handler_t* handler;           // set before the first callback
};

// Fills the base of a new transport, or connection, whose reference count becomes 1.
// Thread-compatible (the object is not shared yet).
void tfrt_transport_initialize(tfrt_transport_t* transport, const tfrt_transport_vtable_t* vtable);
void tfrt_transport_connection_initialize(tfrt_transport_connection_t* connection,
                                          const tfrt_transport_connection_vtable_t* vtable,
                                          tfrt_transport_kind_t kind,
                                          tfrt_transport_handler_t* handler);

// Calls back, for implementations: the write in flight is done; a message is here; the
// connection is closed. They uphold the order that the interface promises.
// Thread-compatible (one callback at a time for each connection).
void tfrt_transport_connection_report_written(tfrt_transport_connection_t* connection,
                                              tfrt_status_t status);
void tfrt_transport_connection_report_message(tfrt_transport_connection_t* connection,
                                              const tfrt_transport_span_t* spans,
                                              size_t span_count);
void tfrt_transport_connection_report_closed(tfrt_transport_connection_t* connection,
                                             tfrt_transport_end_t end, tfrt_status_t status);

// ---------------------------------------------------------------------------------------
// Transports.

// Adds one reference to |transport| and returns it. Thread-safe.
tfrt_transport_t* tfrt_transport_retain(tfrt_transport_t* transport);

// Drops one reference; NULL is allowed. The last one closes and drains. Thread-safe.
void tfrt_transport_release(tfrt_transport_t* transport);

// Begins to listen on |address| ("127.0.0.1:0"; port 0: a free one) for streams, which
// |acceptor| judges. Writes the address at which others can dial, NUL-terminated, into
// |out_address|. At most once per transport: FAILED_PRECONDITION else, or when it is
// closed; INVALID_ARGUMENT for what is no address; ALREADY_EXISTS when the port is taken.
// Thread-safe.
tfrt_status_t tfrt_transport_listen(tfrt_transport_t* transport, tfrt_string_view_t address,
                                    tfrt_transport_acceptor_t* acceptor,
                                    char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) TFRT_MUST_USE;

// Begins to connect as |options| say and returns the connection (+1), which can be used at
// once. INVALID_ARGUMENT for options that can't work (no address, no time, metadata that
// is not printable), FAILED_PRECONDITION when closed; the rest reaches |handler|.
// Thread-safe.
tfrt_status_t tfrt_transport_dial(tfrt_transport_t* transport,
                                  const tfrt_transport_dial_options_t* options,
                                  tfrt_transport_handler_t* handler,
                                  tfrt_transport_connection_t** out_connection) TFRT_MUST_USE;

// Stops listening, refuses to dial and aborts all connections. Thread-safe, idempotent.
void tfrt_transport_close(tfrt_transport_t* transport);

// Waits until every connection has told its end. To be called after close, and from no
// callback. Thread-safe.
void tfrt_transport_drain(tfrt_transport_t* transport);

// ---------------------------------------------------------------------------------------
// Connections.

// Adds one reference to |connection| and returns it. Thread-safe.
tfrt_transport_connection_t* tfrt_transport_connection_retain(
    tfrt_transport_connection_t* connection);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_transport_connection_release(tfrt_transport_connection_t* connection);

// The kind of |connection|. Thread-safe.
tfrt_transport_kind_t tfrt_transport_connection_kind(const tfrt_transport_connection_t* connection);

// Writes the message |write|, borrowed until its on_written. One write at a time:
// FAILED_PRECONDITION while another is in flight; INVALID_ARGUMENT for too many spans,
// for no byte at all, or for more than TFRT_TRANSPORT_MAX_MESSAGE_SIZE. On an error nothing
// was taken and on_written is not called. A broken or closed connection is no error here:
// on_written tells. Thread-safe.
tfrt_status_t tfrt_transport_connection_write(tfrt_transport_connection_t* connection,
                                              tfrt_transport_write_t* write) TFRT_MUST_USE;

// Asks for one more message; requests add up. A connection from which nothing is asked
// holds its sender back after a while. Thread-safe.
void tfrt_transport_connection_receive(tfrt_transport_connection_t* connection);

// Ends the stream in order: no more writes (they complete with an error), the one in
// flight is sent first; the peer gets what was written, in answer to its receive()s, and
// then ENDED. Messages that the peer sends meanwhile are dropped. The end may wait for the peer
// without limit: for room for the write in flight and, at the dialler's side, for the listener to
// end its stream. A listener's transport does that by itself once all was received. abort does not
// wait. Thread-safe, idempotent.
void tfrt_transport_connection_close(tfrt_transport_connection_t* connection);

// Breaks the stream at once: a write in flight completes, perhaps with an error, and both sides get
// on_closed with RESET. Messages that were not given yet are dropped. Thread-safe, idempotent.
void tfrt_transport_connection_abort(tfrt_transport_connection_t* connection);

// ---------------------------------------------------------------------------------------
// Small helpers.

// Sets |*out_value| to the value of |name| in |metadata| and returns true, or returns
// false if there is none. Thread-safe.
bool tfrt_transport_metadata_find(const tfrt_transport_metadata_t* metadata, size_t count,
                                  tfrt_string_view_t name, tfrt_string_view_t* out_value);

// Compares two secrets in a time that depends on their lengths only. Thread-safe.
bool tfrt_transport_secrets_are_equal(tfrt_string_view_t a, tfrt_string_view_t b);

// "ENDED", "REFUSED", ...; static. Thread-safe.
const char* tfrt_transport_end_name(tfrt_transport_end_t end);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_TRANSPORT_H_
