// SPDX-License-Identifier: Apache-2.0
//
// Reads a payload that is not in memory (payload_stream.h) ahead of the transfer that sends it:
// two pieces, so that one is being read while the other one is being sent.
//
//   piece:   FREE --read--> READING --ready--> READY --sent, or stale--> RELEASING --> FREE
//
//   the source   | read 1 | read 2 | read 3 | ...
//   the lane              | send 1 | send 2 | ...
//
// Life:
//  1. Allocated by an outgoing transfer over a source, which it owns.
//  2. Started; says when bytes are ready by placing and pumping the transfer.
//  3. A resumed transfer moves it: pieces that it no longer needs are stale.
//  4. Freed with the transfer, when the reader is idle: no piece is being read or given back.
//
// The source is called, and pieces are given back, without the node's lock; one call at a time.
//
// Thread rule: thread-compatible under the node's lock.
// Failure rule: an error of the source ends the transfer, which tells the borrower why.
#ifndef TFRT_DISTRIBUTED_BULK_LANE_READER_H_
#define TFRT_DISTRIBUTED_BULK_LANE_READER_H_

#include "distributed/bulk/lane_impl.h"

// Sets |*out_reader| to a new reader (single owner) for |outgoing|, from its offset on; |source|
// is consumed, unless memory is out.
tfrt_status_t tfrt_lane_reader_allocate_take(tfrt_lane_outgoing_t* outgoing,
                                             tfrt_payload_source_t* source,
                                             tfrt_lane_reader_t** out_reader) TFRT_MUST_USE;

// Frees |reader|, which is idle, with the bytes that it has read; NULL is allowed. Takes no lock,
// and must be called without it.
void tfrt_lane_reader_free(tfrt_lane_reader_t* reader);

// Begins to read if there is room.
void tfrt_lane_reader_start(tfrt_lane_reader_t* reader);

// Sets |*out_data| to the ready bytes at |offset|, and returns their number.
uint64_t tfrt_lane_reader_find(const tfrt_lane_reader_t* reader, uint64_t offset,
                               const char** out_data);

// To be called when no write borrows a piece: gives back the pieces that were sent or are stale.
void tfrt_lane_reader_trim(tfrt_lane_reader_t* reader);

// The transfer goes on at |offset|.
void tfrt_lane_reader_move(tfrt_lane_reader_t* reader, uint64_t offset);

// Whether nothing is being read or given back; NULL is idle. If it isn't, the transfer is finished
// later, once it is.
bool tfrt_lane_reader_is_idle(const tfrt_lane_reader_t* reader);

#endif  // TFRT_DISTRIBUTED_BULK_LANE_READER_H_
