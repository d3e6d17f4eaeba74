// SPDX-License-Identifier: Apache-2.0
//
// Payloads on their way between two processes: in chunks, with credit, on connections of
// their own, so that no message of a session ever waits behind one.
//
// A *bulk channel* is one BULK connection of a session; at most one is in use at a time, and
// chunks go both ways on it. A *transfer* is the payload of one Want(VALUE). The owner sends it
// from the value's own memory, the borrower receives it into the final buffer:
//
//   borrower (core)     borrower (bulk)           owner (bulk)         owner (core)
//     Want(window) ------------------------- control --------------------->  send
//     <------------------------------------- control -------------- Resolve(on_bulk)
//     need                 BulkHello  ----------->
//                          <-----------  BulkWelcome
//     begin: buffer        <-----------  Chunk(type, header, total, 0..)
//                          Window     ----------->
//     complete             <-----------  Chunk(.., last)
//     Unwant --------------------------------- control ------------------->  end
//
// Memory that both reach: where both ends say the same |place|, the owner asks the payload's source
// to lend its memory, and offers that instead of chunks; the borrower's sink copies it. If the
// borrower can't, it declines, and chunks come. Only the payload's type knows the form of a ticket:
//
//     <------------------ Offer(ticket)       the owner's source: lend
//     the sink: fetch
//     complete, or  Decline ------------->    Chunk(type, header, total, 0..)
//
// Dialling: a side that has the other's address dials when a payload is first to move, or in
// tfrt_bulk_manager_need(). It dials again whenever the channel is lost, as long as the session
// lives. A channel may be lost on one side only, for example behind a relay that drops idle
// connections. So a side that expects a payload on an idle channel writes a message, and learns of
// the loss. If both dial at once, the channel of the smaller incarnation stays; a channel that is
// dialled after that Welcome replaces it, because its dialler has lost the old one.
//
//   of a session:   NONE --needed--> DIALLING --Welcome--> OPEN --lost--> NONE ...
//                     \-- its Hello -------------------------^
//
// A transfer outlives its channel. After a loss it is INTERRUPTED: the borrower sees the loss, or
// the owner sends an Abort(ABORTED) for each such transfer on the next channel. Then the borrower's
// core sends a new Want that resumes the old one at the offset reached. Both cores give the
// transfer its new number:
//
//   SENDING --channel lost--> INTERRUPTED --resume--> SENDING          RECEIVING
//      |---- end, Abort, bury ----> done                            alike
//      `---- its source fails --> FAILED ---^
//
// The owner reports a failure by an Abort on each channel until the Unwant has come. One of them is
// that channels can be had, and no byte of the payload arrives over any: as where the network
// passes small packets only. Timers of both sides look at that (bulk_stall.c), and break a channel
// that brings nothing.
//
// Life of a manager:
//  1. Created over transport, lock, timers and handler. Its acceptor is given to the
//     session manager, which has checked the cluster's key before it calls that.
//  2. open for each session that is OPEN; send, need, end; bury when it is DEAD.
//  3. close: no new channels, every session is buried. When nothing is |live|, it is freed.
//
// The handler is called with NO lock held, for one transfer by one thread at a time, and for
// one channel in order. Each begin that returned OK is followed by exactly one complete or
// aborted, behind which the buffer is never touched.
//
// Thread rule: as in session.h: thread-compatible under the node's lock where a function
// says so. Nothing here waits.
// Failure rule: the caller's mistake fails at once and changes nothing. A chunk that does not fit
// (a gap, too long, beyond the credit, a wrong checksum) ends its transfer with an Abort to the
// owner. If a message breaks the protocol, or no channel can be had for |give_up_ns|, the handler's
// |lost| is called and should end the session. A message for an unknown transfer is late, and
// ignored.
#ifndef TFRT_DISTRIBUTED_BULK_BULK_MANAGER_H_
#define TFRT_DISTRIBUTED_BULK_BULK_MANAGER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "distributed/threads/node_lock.h"
#include "distributed/transport/transport.h"
#include "distributed/wire/bulk.h"
#include "host_runtime/async/payload_stream.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"

typedef struct tfrt_bulk_manager_s tfrt_bulk_manager_t;

// The way of a payload: from here to the peer, or from the peer.
typedef enum tfrt_bulk_way_e {
  TFRT_BULK_OUT = 0,
  TFRT_BULK_IN,
} tfrt_bulk_way_t;

// Names a transfer: the peer of a session, and the borrower's Want.
typedef struct tfrt_bulk_transfer_s {
  uint64_t incarnation;
  uint32_t session;
  uint64_t want;
} tfrt_bulk_transfer_t;

// Where a payload goes.
typedef struct tfrt_bulk_sink_s {
  void* body;                   // |total_size| bytes, until complete or aborted
  tfrt_payload_sink_t* stream;  // instead, if not NULL; lives as long
  void* context;                // the handler's own
} tfrt_bulk_sink_t;

typedef struct tfrt_bulk_handler_s tfrt_bulk_handler_t;

// Events of channels; no slot is NULL, none may block. All are called with no lock held and may
// take the node's. |context| is what begin set, NULL for a transfer that has not begun here;
// |status| is +0.
typedef struct tfrt_bulk_handler_vtable_s {
  // The first chunk of |transfer|: makes room for |total_size| bytes. Texts live until it
  // returns. NOT_FOUND: nobody waits for it (any more), it is ignored. Any other error
  // (RESOURCE_EXHAUSTED, INVALID_ARGUMENT) goes to the owner.
  tfrt_status_t (*begin)(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                         tfrt_string_view_t type, tfrt_string_view_t header, uint64_t total_size,
                         tfrt_bulk_sink_t* out_sink);
  // All bytes are in the buffer. Send Unwant.
  void (*complete)(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                   void* context);
  // |offset| bytes are in the buffer (0, too, if it never began), and no more come under this
  // want: send a new Want that resumes it there, and call tfrt_bulk_manager_resume()
  // with its number. This call may come twice and late, so the handler looks for the want under the
  // node's lock and ignores an unknown one.
  void (*interrupted)(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                      uint64_t offset);
  // Over, without success: |status| says why. Send Unwant, if the session lives.
  void (*aborted)(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer, void* context,
                  tfrt_status_t status);
  // The peer breaks the protocol on its channel (INVALID_ARGUMENT), or no channel can be had
  // (UNAVAILABLE): close the session |transfer->session|; |want| is 0.
  void (*lost)(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
               tfrt_status_t status);
} tfrt_bulk_handler_vtable_t;

// Embedded in the object that receives payloads; lives until the manager is drained.
struct tfrt_bulk_handler_s {
  const tfrt_bulk_handler_vtable_t* vtable;
};

// Texts are copied by create.
typedef struct tfrt_bulk_options_s {
  uint64_t incarnation;            // of this process, never 0
  tfrt_string_view_t cluster_key;  // given at dial; empty: none
  int64_t dial_timeout_ns;         // for an answer, then for Hello, or a refusal, or Welcome
  int64_t redial_delay_ns;         // between attempts; the first after a loss is made at once
  int64_t give_up_ns;              // without a channel that is needed: lost
  int64_t stall_ns;  // a transfer that gets nowhere for so long, though channels can be had, fails
  uint64_t window_size;  // credit ahead of what was received and stored, in bytes
  size_t max_greeting;   // accepted channels without a Hello; one more ends the oldest
  bool uses_checksum;    // chunks that we send carry a CRC-32C
  // Its threads make memory ready for payloads of |room_size| bytes and more, before these come
  // (+0, outlives the manager); NULL: no thread does.
  tfrt_work_queue_t* work_queue;
  uint64_t room_size;
  // Payloads of this size and more are *long*: they go in chunks of at most |polite_chunk_bytes|
  // while there is other traffic, which waits at both ends for each chunk.
  uint64_t long_size;
  uint32_t polite_chunk_bytes;
  // Processes with an equal |place| can try to lend each other memory; empty: this one doesn't.
  // Payloads of |lend_size| and more are offered.
  tfrt_string_view_t place;
  uint64_t lend_size;
} tfrt_bulk_options_t;

// A session that is OPEN. |address| (copied) is where the peer can be dialled, or empty.
typedef struct tfrt_bulk_session_s {
  uint64_t incarnation;
  uint32_t session;
  uint32_t version;
  uint32_t chunk_bytes;  // the limit in force on payload in a message
  bool is_paced;         // the peer reports what has arrived (bulk_pace.h)
  tfrt_string_view_t address;
} tfrt_bulk_session_t;

// A payload to send. |done|, if not NULL, is called once with no lock held, when no byte of
// the value is needed any more; |status| (+0) says why it ended: CANCELLED by end without one.
typedef void (*tfrt_bulk_done_fn_t)(void* context, tfrt_status_t status);
typedef struct tfrt_bulk_send_s {
  uint64_t want;
  tfrt_async_value_t* value;  // +0, kept alive until done; available, not indirect
  // Where its bytes come from, if its type has streams; consumed, unless the send fails.
  tfrt_payload_source_t* source;
  uint64_t offset;  // first byte to send
  uint64_t limit;   // absolute credit so far (the Want's window)
  tfrt_bulk_done_fn_t done;
  void* context;
} tfrt_bulk_send_t;

// The live objects of a manager, for tests and for people.
typedef struct tfrt_bulk_counts_s {
  size_t channels;   // connections
  size_t sessions;   // opened and not buried
  size_t sending;    // transfers from here
  size_t receiving;  // transfers to here that have begun; pieces that are stored after their end
  size_t live;       // what has memory or a timer, in all; after close, 0: drained
  uint64_t ignored;  // messages for transfers that nobody knows, in all
  uint64_t dials;    // in all
} tfrt_bulk_counts_t;

// The bytes of payloads that have crossed in a session, those that were sent again too.
typedef struct tfrt_bulk_traffic_s {
  uint64_t sent;
  uint64_t received;
  uint64_t borrowed;  // copied here from memory that the peer has lent
  uint64_t of_want;   // the bytes that are here of one payload; 0 if it has not begun
  int64_t heard_ns;   // when the last message came on a channel of the session; 0: none has
} tfrt_bulk_traffic_t;

// Sets |*out_options| to the defaults; |incarnation| stays 0 and must be set. Thread-safe.
void tfrt_bulk_options_initialize(tfrt_bulk_options_t* out_options);

// Creates a manager (single owner); all arguments (+0) outlive it. INVALID_ARGUMENT for
// options that can't work, RESOURCE_EXHAUSTED when memory is out. Thread-safe.
tfrt_status_t tfrt_bulk_manager_create(const tfrt_bulk_options_t* options,
                                       tfrt_transport_t* transport, tfrt_node_lock_t* lock,
                                       tfrt_timer_queue_t* timers, tfrt_bulk_handler_t* handler,
                                       tfrt_allocator_t allocator,
                                       tfrt_bulk_manager_t** out_manager) TFRT_MUST_USE;

// Frees |manager|, which is closed and drained; NULL is allowed. Thread-compatible (the
// node's lock is not held).
void tfrt_bulk_manager_free(tfrt_bulk_manager_t* manager);

// The judge of BULK streams (+0), for the session manager's options. Thread-safe.
tfrt_transport_acceptor_t* tfrt_bulk_manager_acceptor(tfrt_bulk_manager_t* manager);

// The window that a Want should offer: how far ahead of its offset the receiver grants, in
// bytes. Thread-safe.
uint64_t tfrt_bulk_manager_window_size(const tfrt_bulk_manager_t* manager);

// Makes |session| known; nothing is dialled yet. ALREADY_EXISTS if one with its incarnation
// is, INVALID_ARGUMENT for zeros, FAILED_PRECONDITION when closed, RESOURCE_EXHAUSTED when
// memory is out. Thread-compatible (the node's lock is held).
tfrt_status_t tfrt_bulk_manager_open(tfrt_bulk_manager_t* manager,
                                     const tfrt_bulk_session_t* session) TFRT_MUST_USE;

// The session with |incarnation| is DEAD because of |reason| (+0): its channel is broken, each
// transfer is aborted or done with |reason|, later. Unknown: nothing. Thread-compatible (the
// node's lock is held).
void tfrt_bulk_manager_bury(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                            tfrt_status_t reason);

// A payload is about to come from |incarnation|: dials, if there is no channel and we can. For
// the borrower, when it sends a Want(VALUE), and when it sees the owner's Resolve(on_bulk). It
// gives its |want| then, else 0: an idle channel writes a Window for it, which the owner ignores.
// If the other side has lost the channel, this side learns of it so, and dials. Unknown: nothing.
// Thread-compatible (the node's lock is held).
void tfrt_bulk_manager_need(tfrt_bulk_manager_t* manager, uint64_t incarnation, uint64_t want);

// The peer |incarnation|, which has dialled us, can be dialled at |address| (copied), if no address
// of it is known yet. An owner says so with OUT: its borrower dials, and this side does only if
// there is no channel after the time of a dial. Unknown, or no memory: nothing. Thread-compatible
// (the node's lock is held).
void tfrt_bulk_manager_set_address(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                                   tfrt_string_view_t address, tfrt_bulk_way_t way);

// Sends |send|'s payload to |incarnation|, as credit comes. FAILED_PRECONDITION if the session
// is not known, or the value has no codec; OUT_OF_RANGE for an offset behind the payload;
// ALREADY_EXISTS for a want in use; what the codec says; RESOURCE_EXHAUSTED. On an error
// |done| is not called. Thread-compatible (the node's lock is held).
tfrt_status_t tfrt_bulk_manager_send(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                                     const tfrt_bulk_send_t* send) TFRT_MUST_USE;

// How a transfer goes on that an interruption has stopped.
typedef struct tfrt_bulk_resumption_s {
  uint64_t old_want;
  uint64_t want;  // the number that the transfer has from now on
  // OUT: the next byte, and the credit. IN: 0; a transfer goes on behind what was received, with
  // the window of tfrt_bulk_manager_window_size().
  uint64_t offset;
  uint64_t limit;
} tfrt_bulk_resumption_t;

// Resumes a transfer. OUT: a Want came that resumes an old one. IN: our own Want does; to be called
// in the critical section that appends that. NOT_FOUND if |old_want| is no transfer, or for IN, not
// an interrupted one: the payload is sent anew. OUT_OF_RANGE for an offset beyond what was sent,
// ALREADY_EXISTS for a number in use. Thread-compatible (the node's lock is held).
tfrt_status_t tfrt_bulk_manager_resume(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                                       tfrt_bulk_way_t way,
                                       const tfrt_bulk_resumption_t* resumption) TFRT_MUST_USE;

// Ends the transfer of |want|. OUT: with NULL, because the borrower wants it no longer (Unwant
// came); else because of |status| (+0, an error). The borrower gets |status| only if the channel
// lives that long, so the caller must send it in another way, too. IN: because of |status|, or,
// with NULL, because nobody here waits for it; aborted comes with |status| or CANCELLED, if it has
// begun. Unknown: nothing. Thread-compatible (the node's lock is held).
void tfrt_bulk_manager_end(tfrt_bulk_manager_t* manager, uint64_t incarnation, tfrt_bulk_way_t way,
                           uint64_t want, tfrt_status_t status);

// A frame came to this process from any peer: its sender may wait for an answer, so long payloads
// are polite for some milliseconds. Thread-compatible (the node's lock is held).
void tfrt_bulk_manager_note_frame(tfrt_bulk_manager_t* manager);

// Ends everything; see the life of a manager. Idempotent. Thread-compatible (the node's lock
// is held).
void tfrt_bulk_manager_close(tfrt_bulk_manager_t* manager);

// Waits, after close, until nothing is left, for at most a few seconds. For a transport and
// timers that have threads of their own. Thread-safe (the node's lock is not held; from no
// callback).
void tfrt_bulk_manager_drain(tfrt_bulk_manager_t* manager);

// The number of live objects now. Thread-compatible (the node's lock is held).
tfrt_bulk_counts_t tfrt_bulk_manager_counts(const tfrt_bulk_manager_t* manager);

// The traffic of the session with |incarnation|; zeros if that is not known. |want| is one of ours
// with it, or 0. Thread-compatible (the node's lock is held).
tfrt_bulk_traffic_t tfrt_bulk_manager_traffic(tfrt_bulk_manager_t* manager, uint64_t incarnation,
                                              uint64_t want);

#endif  // TFRT_DISTRIBUTED_BULK_BULK_MANAGER_H_
