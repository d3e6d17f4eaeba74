// SPDX-License-Identifier: Apache-2.0
//
// Internals of the manager of bulk channels, which its sources share.
//
//    bulk_manager.c    sessions: who dials, and when a channel is given up
//    bulk_channel.c    one connection: its task, one write at a time, what comes, who may have it
//    bulk_message.c    a message read
//    bulk_outgoing.c   payloads from here, those that are not in memory, too
//    bulk_pace.c       how many bytes may be on their way
//    bulk_stall.c      whether they arrive
//    bulk_incoming.c   payloads to here, and memory for large ones
//
//   manager --> peer (a session) --> channel in use       any channel --> its connection
//                 |--> outgoing transfers, ready ones in two lists
//                 `--> incoming transfers
//
// Rules that hold in all of them:
//  - Everything is guarded by the node's lock, which every function here expects to be held
//    unless it says that it takes it.
//  - A worker that uses an object without the lock (a write that borrows a value, a copy into a
//    buffer, a callback) marks the object: |writes|, |is_busy|, |is_making_room|, |references|.
//    Code that ends the object meanwhile only marks it as over; the worker finds that mark when it
//    locks again.
//  - The transport and the handler are called without the lock.
//
// Thread rule: as above. Failure rule: as in bulk_manager.h.
#ifndef TFRT_DISTRIBUTED_BULK_BULK_IMPL_H_
#define TFRT_DISTRIBUTED_BULK_BULK_IMPL_H_

#include "distributed/bulk/bulk_manager.h"
#include "distributed/bulk/bulk_pace.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"

typedef struct tfrt_bulk_channel_s tfrt_bulk_channel_t;
typedef struct tfrt_bulk_peer_s tfrt_bulk_peer_t;
typedef struct tfrt_bulk_reader_s tfrt_bulk_reader_t;

// A message as it was read.
typedef struct tfrt_bulk_message_s {
  tfrt_wire_bulk_t body;               // its chunk's |payload| tells the size only
  const tfrt_transport_span_t* spans;  // those that hold a chunk's payload
  size_t span_count;
  size_t payload_offset;           // in |spans|
  tfrt_transport_span_t gathered;  // owned; used when the message was gathered
  tfrt_allocator_t allocator;
  tfrt_arena_t arena;
} tfrt_bulk_message_t;

// An Abort that waits to be written; its transfer is over. Freed once written, or with its session.
typedef struct tfrt_bulk_abort_s {
  tfrt_list_link_t link;
  uint64_t want;
  bool from_owner;
  tfrt_status_t status;  // +1
} tfrt_bulk_abort_t;

// The life of a payload from here: GOING --> OVER --last worker has left--> FINISHING.
typedef enum tfrt_bulk_outgoing_state_e {
  TFRT_BULK_OUTGOING_GOING = 0,
  TFRT_BULK_OUTGOING_OVER,
  TFRT_BULK_OUTGOING_FINISHING,  // |task| is due
} tfrt_bulk_outgoing_state_t;

// Whether bytes of a payload from here arrive (bulk_stall.c).
typedef struct tfrt_bulk_stall_s {
  tfrt_list_link_t link;  // among the peer's transfers with bytes under way, or in none
  int64_t since_ns;       // bytes were given to a channel, or were held back on one, and none came
                          // since then; TFRT_TIME_INFINITE: nothing is waited for
  bool is_fresh;          // |since_ns| is about the channel in use alone
  int64_t waits_ns;       // in the list: a report was asked for, and none came since then;
                          // TFRT_TIME_INFINITE: none was asked for
  uint64_t mark;          // the bytes of that channel behind the first chunk that is waited for
  uint64_t last_mark;     // and behind the last one
  uint64_t arrived;       // bytes, as far as the borrower has said
  uint64_t unasked;       // more may be there without a report: at most this number
} tfrt_bulk_stall_t;

// A payload from here.
typedef struct tfrt_bulk_outgoing_s {
  tfrt_hash_node_t by_want;
  tfrt_list_link_t link;  // among the peer's ready, interrupted, failed or lent ones, or in none
  tfrt_bulk_manager_t* manager;
  tfrt_bulk_peer_t* peer;  // NULL when over
  uint64_t want;
  tfrt_async_value_t* value;  // +1
  const char* type;
  tfrt_encoding_t encoding;
  uint64_t offset;      // of the next chunk
  uint64_t limit;       // credit
  bool is_described;    // the chunk that describes it was sent
  bool was_written;     // something was given to the channel in use
  bool is_interrupted;  // that channel was lost; waits for its resumption
  tfrt_bulk_stall_t stall;
  tfrt_status_t failure;  // +1: no byte comes any more, which each channel tells; waits for its end
  uint32_t writes;        // that borrow the value, or a piece of it, at the moment
  tfrt_bulk_reader_t* reader;  // owned; NULL: the payload is in memory
  tfrt_bulk_outgoing_state_t state;
  tfrt_status_t result;  // +1, when over
  tfrt_bulk_done_fn_t done;
  void* context;
  tfrt_task_t task;
} tfrt_bulk_outgoing_t;

// The life of a payload to here: RECEIVING --> FILLED; either --ended early--> OVER.
typedef enum tfrt_bulk_incoming_state_e {
  TFRT_BULK_INCOMING_RECEIVING = 0,
  TFRT_BULK_INCOMING_FILLED,  // all is received; the last to work on it completes it
  TFRT_BULK_INCOMING_OVER,
} tfrt_bulk_incoming_state_t;

// Memory that the owner has offered for a payload to here.
typedef enum tfrt_bulk_borrowing_e {
  TFRT_BULK_NOT_BORROWING = 0,
  TFRT_BULK_BORROWING,  // the sink fetches; the transfer is busy with that
  TFRT_BULK_DECLINING,  // a Decline is due
} tfrt_bulk_borrowing_t;

// An interruption: no chunk is taken before its resumption.
typedef enum tfrt_bulk_interruption_e {
  TFRT_BULK_NOT_INTERRUPTED = 0,
  TFRT_BULK_INTERRUPTED,       // to be told when all that was received is stored
  TFRT_BULK_INTERRUPTED_TOLD,  // waits for that
} tfrt_bulk_interruption_t;

// A payload to here.
typedef struct tfrt_bulk_incoming_s {
  tfrt_hash_node_t by_want;
  tfrt_list_link_t link;  // among the peer's due windows, or in none
  tfrt_bulk_manager_t* manager;
  tfrt_bulk_peer_t* peer;  // NULL when over
  tfrt_bulk_transfer_t name;
  tfrt_bulk_sink_t sink;
  uint64_t total_size;
  uint64_t received;
  uint64_t granted;
  uint64_t limit;    // |granted| when the chunk came that is worked on: the busy thread's
  uint64_t storing;  // received ones that are not where they belong yet
  // Received ones that a stream has named nothing to wait for: the busy thread's. A stream may
  // collect some MiB, and then tells of all of them by one commit. They count as stored until then:
  // a window may be smaller than what is collected.
  uint64_t held;
  tfrt_list_link_t pieces;  // of those
  tfrt_bulk_incoming_state_t state;
  tfrt_bulk_interruption_t interruption;
  tfrt_bulk_borrowing_t borrowing;
  tfrt_async_value_t* fetched;  // +1 while it borrows
  bool is_busy;                 // a thread copies, or calls the handler
  bool must_tell_end;           // aborted is due at the end: the handler has made room
  bool is_making_room;          // |room_task| is under way
  uint64_t ready;        // bytes whose memory is there, if that is made ready (bulk_incoming.c)
  tfrt_status_t result;  // +1, when over
  tfrt_task_t task;
  tfrt_task_t room_task;
  tfrt_task_t fetch_task;
} tfrt_bulk_incoming_t;

// One connection.
//
//   DIALLING --Welcome--> OPEN            each of them --broken--> ENDING
//   GREETING --Hello--> OPEN, or REFUSING
typedef enum tfrt_bulk_channel_state_e {
  TFRT_BULK_CHANNEL_DIALLING = 0,  // ours, no Welcome yet
  TFRT_BULK_CHANNEL_GREETING = 1,  // accepted, no Hello yet
  TFRT_BULK_CHANNEL_OPEN = 2,
  TFRT_BULK_CHANNEL_REFUSING =
      3,  // in use by nobody; closes when its Welcome, which says no, is written
  TFRT_BULK_CHANNEL_ENDING = 4,  // in use by nobody; waits for its end
} tfrt_bulk_channel_state_t;

// The calls of the transport that a channel's task makes.
typedef enum tfrt_bulk_channel_due_e {
  TFRT_BULK_CHANNEL_DUE_DIAL = 1 << 0,
  TFRT_BULK_CHANNEL_DUE_WRITE = 1 << 1,
  TFRT_BULK_CHANNEL_DUE_ABORT = 1 << 2,
  TFRT_BULK_CHANNEL_DUE_CLOSE = 1 << 3,
} tfrt_bulk_channel_due_t;

// Payloads that have come on a channel.
typedef struct tfrt_bulk_arrivals_s {
  uint64_t bytes;
  bool is_report_due;
} tfrt_bulk_arrivals_t;

struct tfrt_bulk_channel_s {
  tfrt_transport_handler_t handler;
  tfrt_list_link_t link;  // in the manager's list
  tfrt_bulk_manager_t* manager;
  tfrt_bulk_peer_t* peer;                   // whose channel in use it is, or NULL
  tfrt_transport_connection_t* connection;  // +1; NULL before the dial
  tfrt_bulk_channel_state_t state;
  bool is_dialler;
  uint32_t number;      // of the connection, as Hello says
  uint32_t passed;      // ours: those of the peer up to this one were dropped for it
  uint32_t references;  // 1 until on_closed; task, timer and write: 1 each
  uint32_t due;         // a set of tfrt_bulk_channel_due_t
  bool has_task;
  bool has_timer;
  tfrt_task_t task;
  tfrt_timer_t timer;      // for Hello, or Welcome, or the end of a channel that was refused
  int64_t used_ns;         // when a message came, or was begun to be written
  int64_t heard_ns;        // when a message came, or none could
  uint64_t expected_want;  // a Window of it is due; 0: none is
  tfrt_bulk_arrivals_t arrivals;
  tfrt_bulk_pace_t pace;  // of the bytes that we send, if the session has one
  uint64_t largest;       // chunk that was sent
  bool is_writing;        // |write|, |head|, |chunk| and |sending| are in use
  int64_t writing_ns;     // since then, if so
  tfrt_transport_write_t write;
  tfrt_string_builder_t head;  // a message, or a chunk up to its payload
  tfrt_wire_chunk_t chunk;
  tfrt_bulk_outgoing_t* sending;  // NULL: |head| is all of the message
};

// The size of chunks to a peer, after larger ones were lost on the way.
typedef struct tfrt_bulk_chunk_limit_s {
  uint64_t bytes;    // at most; UINT64_MAX: no limit
  int64_t since_ns;  // it is in force
} tfrt_bulk_chunk_limit_t;

// One session.
struct tfrt_bulk_peer_s {
  tfrt_hash_node_t by_incarnation;
  tfrt_bulk_manager_t* manager;
  tfrt_bulk_session_t session;   // its address is owned
  tfrt_bulk_channel_t* channel;  // in use: DIALLING or OPEN
  tfrt_bulk_traffic_t traffic;
  int64_t heard_ns;  // a message came on a channel; 0: never
  tfrt_bulk_chunk_limit_t chunks;
  int64_t held_since_ns;  // the pace lets no chunk go on the channel; TFRT_TIME_INFINITE: it does
  uint32_t last_dialled;  // numbers of connections
  uint32_t last_accepted;
  bool is_needed;
  bool is_here;           // may lend us memory, and be lent ours
  uint32_t declines;      // in a row
  bool is_buried;         // waits for its timer
  int64_t next_dial_ns;   // not before
  int64_t give_up_at_ns;  // TFRT_TIME_INFINITE: a channel is open, or none is needed
  bool has_timer;
  int64_t timer_ns;  // when it is due
  tfrt_timer_t timer;
  tfrt_hash_table_t outgoing;
  tfrt_hash_table_t incoming;
  tfrt_list_link_t small;        // outgoing ones that may send; served first
  tfrt_list_link_t large;        // in turn
  tfrt_list_link_t interrupted;  // outgoing ones; the borrower must hear of each
  tfrt_list_link_t failed;       // the same
  tfrt_list_link_t offers;       // outgoing ones whose memory is lent
  tfrt_list_link_t under_way;    // outgoing ones with bytes that were not reported, by their marks
  tfrt_list_link_t windows;      // incoming ones with a grant that was not sent
  tfrt_list_link_t aborts;
  uint32_t abort_count;
};

struct tfrt_bulk_manager_s {
  tfrt_transport_acceptor_t acceptor;
  tfrt_bulk_options_t options;  // its text is owned
  tfrt_transport_t* transport;
  tfrt_node_lock_t* lock;
  tfrt_timer_queue_t* timers;
  tfrt_bulk_handler_t* handler;
  tfrt_allocator_t allocator;
  tfrt_hash_table_t peers;
  tfrt_list_link_t channels;  // the oldest first
  size_t greeting_count;
  size_t live;                 // channels, peers and transfers whose memory is not given back
  uint64_t frame_count;        // that were noted
  uint64_t known_frame_count;  // when a long payload's chunk was made last
  int64_t polite_until_ns;
  bool is_closed;
  tfrt_condition_t drained;  // |live| is 0
  tfrt_bulk_counts_t counts;
};

// Hashes the number, of 64 bits, at |key|. Thread-safe.
static inline uint64_t tfrt_bulk_hash_number(const void* key) {
  return tfrt_hash_u64(*(const uint64_t*)key);
}

// --- bulk_manager.c ---

tfrt_bulk_peer_t* tfrt_bulk_peer_find(tfrt_bulk_manager_t* manager, uint64_t incarnation);

int64_t tfrt_bulk_manager_now_ns(const tfrt_bulk_manager_t* manager);

// The memory of something that |live| counts is given back.
void tfrt_bulk_manager_forget_one(tfrt_bulk_manager_t* manager);

// Says that a payload waits: dials if that is possible and due.
void tfrt_bulk_peer_need(tfrt_bulk_peer_t* peer);

// |peer|'s channel in use is lost or was refused: interrupts transfers and arranges for the next
// channel, after a delay unless the channel |was_open|.
void tfrt_bulk_peer_detach(tfrt_bulk_peer_t* peer, bool was_open);

// Sees to it that a channel is broken on which nothing has come for too long, though bytes are
// waited for.
void tfrt_bulk_peer_watch(tfrt_bulk_peer_t* peer);

// |peer|'s channel is OPEN, and the peer says that it is at |place|.
static inline void tfrt_bulk_peer_opened(tfrt_bulk_peer_t* peer, tfrt_string_view_t place) {
  peer->is_here = place.size > 0 && tfrt_string_view_equal(place, peer->manager->options.place);
  peer->is_needed = true;
  peer->give_up_at_ns = TFRT_TIME_INFINITE;
  tfrt_bulk_peer_watch(peer);
}

// Makes an Abort due. Drops it if memory is out or too many wait: the session says the same later.
void tfrt_bulk_peer_abort_transfer(tfrt_bulk_peer_t* peer, uint64_t want, bool from_owner,
                                   tfrt_status_t status);

// --- bulk_channel.c ---

// Makes a channel with |connection| (retained; NULL: it will dial |peer|), one reference, which
// its end drops. NULL when memory is out.
tfrt_bulk_channel_t* tfrt_bulk_channel_create(tfrt_bulk_manager_t* manager, tfrt_bulk_peer_t* peer,
                                              tfrt_transport_connection_t* connection);

// Writes what is due, if |channel| (NULL: none) is OPEN and free.
void tfrt_bulk_channel_pump(tfrt_bulk_channel_t* channel);

// Breaks |channel|, which is in use by nobody any more.
void tfrt_bulk_channel_break(tfrt_bulk_channel_t* channel);

// Takes |channel| out of use and breaks it.
void tfrt_bulk_channel_give_up(tfrt_bulk_channel_t* channel);

// Returns true if |channel| is in use by nobody any more.
static inline bool tfrt_bulk_channel_is_over(const tfrt_bulk_channel_t* channel) {
  return channel->state >= TFRT_BULK_CHANNEL_REFUSING;
}

// --- bulk_message.c ---

// Reads the |count| untrusted |spans| of a message from the dialler of a channel, or from its
// listener. INVALID_ARGUMENT naming the field, RESOURCE_EXHAUSTED when memory is out.
// Thread-compatible.
tfrt_status_t tfrt_bulk_message_initialize(tfrt_bulk_message_t* message,
                                           const tfrt_transport_span_t* spans, size_t count,
                                           bool is_from_dialler, tfrt_allocator_t allocator)
    TFRT_MUST_USE;

// Gives back the memory of |message|. Thread-compatible.
void tfrt_bulk_message_deinitialize(tfrt_bulk_message_t* message);

// --- bulk_outgoing.c ---

// Takes the next chunk of |peer|, of at most |max_size| bytes, that may be sent into |*out_chunk|
// (without its payload's bytes if that is empty) and counts a write. NULL: there is none.
tfrt_bulk_outgoing_t* tfrt_bulk_outgoing_next(tfrt_bulk_peer_t* peer, uint64_t max_size,
                                              tfrt_wire_chunk_t* out_chunk);

// A write of |outgoing| is over.
void tfrt_bulk_outgoing_finish_write(tfrt_bulk_outgoing_t* outgoing);

// --- bulk_stall.c ---

// An event that tells whether bytes arrive.
typedef enum tfrt_bulk_stall_event_e {
  TFRT_BULK_STALL_SENT,    // a chunk is given to the channel in use, which has it as |chunk|
  TFRT_BULK_STALL_WINDOW,  // the borrower has made room for more: it has received
  TFRT_BULK_STALL_REPORT,  // the peer has reported bytes on its channel in use
} tfrt_bulk_stall_event_t;

// Notes that |event| has happened at |peer| to |outgoing|; for REPORT, to all under way (NULL).
void tfrt_bulk_stall_note(tfrt_bulk_peer_t* peer, tfrt_bulk_outgoing_t* outgoing,
                          tfrt_bulk_stall_event_t event);

// The channel in use was lost and can't bring |outgoing| any more. If no byte of |outgoing|, which
// could send, was given to it, since others waited for their reports, that counts as a try.
// Otherwise each of many payloads would wait for a channel of its own. Returns the error (+1) if
// that has lasted for too long.
tfrt_status_t tfrt_bulk_stall_note_lost(tfrt_bulk_outgoing_t* outgoing) TFRT_MUST_USE;

// The borrower resumes |outgoing|, which was given up to its offset, at |offset|, with credit up to
// |limit|. Returns the error (+1) if none of its bytes have arrived for too long, though channels
// could be had: none ever will.
tfrt_status_t tfrt_bulk_stall_note_resumed(tfrt_bulk_outgoing_t* outgoing, uint64_t offset,
                                           uint64_t limit) TFRT_MUST_USE;

// Returns when tfrt_bulk_stall_break_late() is due; TFRT_TIME_INFINITE: not at all.
int64_t tfrt_bulk_stall_due_ns(const tfrt_bulk_peer_t* peer);

// Breaks |peer|'s channel in use if that should have brought bytes, and has not for too long.
void tfrt_bulk_stall_break_late(tfrt_bulk_peer_t* peer);

// --- Directions ---

// The transfers of one direction, as its source serves them.
typedef struct tfrt_bulk_direction_s {
  // A message about one of them came on |channel|: of the owner, or of the borrower. Takes the
  // lock.
  void (*on_message)(tfrt_bulk_channel_t* channel, const tfrt_bulk_message_t* message);
  // The channel in use is lost, and chunks that were given to it may be, too.
  void (*interrupt_all)(tfrt_bulk_peer_t* peer);
  // Takes the next message about one of |peer| that is due, an Offer, or a Window or Decline, into
  // |*out_message|, whose texts live until the lock is opened. Returns false if there is none.
  bool (*next_message)(tfrt_bulk_peer_t* peer, tfrt_wire_bulk_t* out_message);
  // Lets one of |peer| go on as |resumption| says; see tfrt_bulk_manager_resume().
  tfrt_status_t (*resume)(tfrt_bulk_peer_t* peer, const tfrt_bulk_resumption_t* resumption);
  // Ends that of |want|, or all of |peer|, with |status| (+0); see tfrt_bulk_manager_end().
  void (*end)(tfrt_bulk_peer_t* peer, uint64_t want, tfrt_status_t status);
  void (*end_all)(tfrt_bulk_peer_t* peer, tfrt_status_t status);
} tfrt_bulk_direction_t;

extern const tfrt_bulk_direction_t tfrt_bulk_outgoing_direction;  // bulk_outgoing.c
extern const tfrt_bulk_direction_t tfrt_bulk_incoming_direction;  // bulk_incoming.c

#endif  // TFRT_DISTRIBUTED_BULK_BULK_IMPL_H_
