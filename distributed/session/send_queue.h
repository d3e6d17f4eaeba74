// SPDX-License-Identifier: Apache-2.0
//
// The frames that one side of a session sends. The queue keeps each frame from its append until the
// peer has processed it.
//
//            +--> gate: calls --+   credit, replay window, order
//   append --+--> gate: wants --+
//            +------------------+-> sequence: | written, not acked | not written |
//                                              first .............. cursor ...... last
//                                              <-- acknowledge      --> fill
//
// An Invoke or a Want waits in a gate until the peer has granted credit and the replay window has
// room. Frames that must come after it wait behind it; all other frames enter the sequence at once.
// A frame gets its number when it enters the sequence.
//
// A frame may wait in its gate as long as the session lives. When a call or a Want only waits for
// others, the peer gives its credit back. So a cycle of calls can't use up the credit that the
// cycle itself needs.
//
// Life: initialised; appended to, filled from, acknowledged; rewound at each new
// connection; deinitialised.
//
// Thread rule: thread-compatible (the node's lock is held).
// Failure rule: RESOURCE_EXHAUSTED when memory is out, and nothing changes.
#ifndef TFRT_DISTRIBUTED_SESSION_SEND_QUEUE_H_
#define TFRT_DISTRIBUTED_SESSION_SEND_QUEUE_H_

#include "distributed/session/session.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/list.h"

// --- Memory of frames ---

// Thousands of frames come and go in a row. They lie side by side in blocks, so the processor
// prefetches them, and no frame needs an allocation of its own.
//
//   current -> | live | free ... free |          block -> | gone | gone | live |
//               `-- pieces are taken here                  freed with its last piece
//
// Life:
//  1. Initialised; nothing is allocated yet.
//  2. Pieces are taken, and given back in any order; a block goes with its last piece. That of the
//     current one empties it.
//  3. Deinitialised, when no piece is left.
//
// With a sanitizer each piece has a block of its own: it sees each use after the end.
typedef struct tfrt_send_block_s tfrt_send_block_t;

typedef struct tfrt_send_memory_s {
  tfrt_allocator_t allocator;
  tfrt_send_block_t* current;  // or NULL
} tfrt_send_memory_t;

// Makes |memory| an empty one over |allocator|. Thread-compatible.
void tfrt_send_memory_initialize(tfrt_send_memory_t* memory, tfrt_allocator_t allocator);

// Frees the block that is kept for the next piece; all pieces must have been given back.
// Thread-compatible.
void tfrt_send_memory_deinitialize(tfrt_send_memory_t* memory);

// Returns |size| undefined bytes, aligned for pointers and numbers, and sets |*out_block| to their
// block, which gives them back. NULL when memory is out. Thread-compatible.
void* tfrt_send_memory_take(tfrt_send_memory_t* memory, size_t size, tfrt_send_block_t** out_block);

// Gives back a piece of |block|, which is of |memory|. Thread-compatible.
void tfrt_send_memory_give_back(tfrt_send_memory_t* memory, tfrt_send_block_t* block);

// --- The queue ---

typedef struct tfrt_send_entry_s {
  tfrt_list_link_t link;       // in a gate or in the sequence
  uint64_t seq;                // 0: in a gate
  tfrt_session_frame_t frame;  // |trace| and |body| point to copies in this entry
  tfrt_wire_trace_t trace;
  int64_t appended_ns;
  bool is_written;     // to any connection
  int64_t encoded_ns;  // when it was written first
  uint64_t budget_us;  // at that time
  size_t encoded_size;
  tfrt_send_block_t* block;  // where it lies
  // the body follows
} tfrt_send_entry_t;

typedef enum tfrt_send_gate_e {
  TFRT_SEND_GATE_CALLS = 0,
  TFRT_SEND_GATE_WANTS = 1,
} tfrt_send_gate_t;

typedef struct tfrt_send_queue_s {
  tfrt_allocator_t allocator;
  tfrt_list_link_t gates[2];  // of tfrt_send_entry_t
  tfrt_list_link_t sequence;  // of tfrt_send_entry_t, by number
  // Memory of frames that enter a gate, which may wait for long, and of all other frames.
  tfrt_send_memory_t gate_memory;
  tfrt_send_memory_t memory;
  tfrt_list_link_t* cursor;  // first one not written to this connection, or |sequence|
  size_t due_count;          // frames from |cursor| on: those that can't wait, and those that can
  size_t waiting_count;
  uint64_t next_seq;  // from 1
  uint64_t acked_seq;
  int64_t acked_ns;         // when that rose; 0: never
  uint64_t written_seq;     // highest ever written
  uint64_t sequenced_call;  // highest number of a call, or a want, in the sequence so far
  uint64_t sequenced_want;
  uint64_t written_call;  // highest number of a call ever written
  uint64_t call_count;    // calls and wants sent in this session: what credit limits
  uint64_t want_count;
  uint64_t call_limit;
  uint64_t want_limit;
  uint64_t first_call_limit;  // the first limit that was granted: how many there may be at once
  // In the gate of calls, where one was looked for last; NULL: it is not there any more.
  tfrt_list_link_t* looked_at;
  size_t window_size;  // bytes in the sequence
  size_t window_limit;
} tfrt_send_queue_t;

// A batch's worth of frames.
typedef struct tfrt_send_batch_s {
  uint64_t first_seq;  // 0: no frame
  uint64_t age_us;
  size_t count;
  size_t replayed_count;
  tfrt_wire_frame_t frames[TFRT_SEND_QUEUE_BATCH_FRAMES];
} tfrt_send_batch_t;

// Returns since when an acknowledgement is waited for: since the oldest frame that is not
// acknowledged was written first, or others were acknowledged; TFRT_TIME_INFINITE: there is none.
// Thread-compatible.
static inline int64_t tfrt_send_queue_unacked_ns(const tfrt_send_queue_t* queue) {
  if (tfrt_list_is_empty(&queue->sequence)) return TFRT_TIME_INFINITE;
  const tfrt_send_entry_t* first = TFRT_CONTAINER_OF(queue->sequence.next, tfrt_send_entry_t, link);
  if (!first->is_written) return TFRT_TIME_INFINITE;
  return first->encoded_ns > queue->acked_ns ? first->encoded_ns : queue->acked_ns;
}

// Makes |queue| an empty one, whose calls begin at |first_call|. Thread-compatible.
void tfrt_send_queue_initialize(tfrt_send_queue_t* queue, uint64_t first_call,
                                tfrt_allocator_t allocator);

// Frees all frames. Thread-compatible.
void tfrt_send_queue_deinitialize(tfrt_send_queue_t* queue);

// Appends a copy of |frame|, at the time |now_ns|, which is looked at only if it has the number of
// a call or want. RESOURCE_EXHAUSTED when memory is out. Thread-compatible.
tfrt_status_t tfrt_send_queue_append(tfrt_send_queue_t* queue, const tfrt_session_frame_t* frame,
                                     int64_t now_ns) TFRT_MUST_USE;

// Replaces the Invoke of |call| by a Void with |body|, if it was never written; says so in
// |*out_replaced|. RESOURCE_EXHAUSTED when memory is out. For calls in the order of their numbers,
// up or down, it takes no longer when many wait. Thread-compatible.
tfrt_status_t tfrt_send_queue_replace_by_void(tfrt_send_queue_t* queue, uint64_t call,
                                              tfrt_string_view_t body, bool* out_replaced)
    TFRT_MUST_USE;

// Makes the bodies of all frames that were appended as drafts: |session| has its number now,
// and nothing was written yet. An error is the first that a seal says, or RESOURCE_EXHAUSTED;
// what is a draft then must never be written. Thread-compatible.
tfrt_status_t tfrt_send_queue_seal(tfrt_send_queue_t* queue, const tfrt_session_t* session)
    TFRT_MUST_USE;

// The peer grants |calls| calls and |wants| Wants in all; a number lower than before changes
// nothing. Thread-compatible.
void tfrt_send_queue_grant(tfrt_send_queue_t* queue, uint64_t calls, uint64_t wants);

// There is a new connection, with a replay window of |window_limit| bytes: frames that are not
// acknowledged are written again. Thread-compatible.
void tfrt_send_queue_begin_connection(tfrt_send_queue_t* queue, size_t window_limit);

// The peer has processed everything up to |seq|, as is known from |now_ns| on; less than it had
// said before changes nothing. Returns false, and changes nothing, if that was never written.
// Thread-compatible.
bool tfrt_send_queue_acknowledge(tfrt_send_queue_t* queue, uint64_t seq, int64_t now_ns);

// Returns true if there is something to write. Thread-compatible.
static inline bool tfrt_send_queue_has_unwritten(const tfrt_send_queue_t* queue) {
  return queue->cursor != &queue->sequence;
}

// True if the frames that the peer has not acknowledged take less memory than the replay window
// has. Thread-compatible.
static inline bool tfrt_send_queue_has_room(const tfrt_send_queue_t* queue) {
  uint64_t count = queue->next_seq - 1 - queue->acked_seq;
  return queue->window_size + count * sizeof(tfrt_send_entry_t) < queue->window_limit;
}

// True if a frame of the sequence that is not written to this connection can't wait, or too many
// wait. Thread-compatible.
bool tfrt_send_queue_is_due(const tfrt_send_queue_t* queue);

// Fills |*out_batch| with the next frames, up to |target_size| bytes but at least one frame, and
// counts them as written at |now_ns|. Frames that were written before stay together with those of
// the same age. Bodies live until they are acknowledged. Thread-compatible.
void tfrt_send_queue_fill(tfrt_send_queue_t* queue, size_t target_size, int64_t now_ns,
                          tfrt_send_batch_t* out_batch);

// Drops the frames in the gates and, if |with_sequence|, those not yet written to this connection:
// the next frame gets the number that the peer expects. Thread-compatible.
void tfrt_send_queue_drop_unwritten(tfrt_send_queue_t* queue, bool with_sequence);

#endif  // TFRT_DISTRIBUTED_SESSION_SEND_QUEUE_H_
