// SPDX-License-Identifier: Apache-2.0
//
// A message of a lane, read from the spans in which a transport hands it over, without
// gathering its payload.
//
//   spans:   [ prefix ....... | payl ] [ oad ........... ] [ ... ]
//            `-- gathered --'   `-- left where it is: copied once, to its place
//
// A chunk whose payload is not its last field is legal, and gathered as a whole.
//
// Life: initialised from spans, which must outlive it, read, deinitialised.
//
// Thread rule: thread-compatible.
// Failure rule: see tfrt_lane_message_initialize(); there is nothing to give back then.
#ifndef TFRT_DISTRIBUTED_BULK_LANE_MESSAGE_H_
#define TFRT_DISTRIBUTED_BULK_LANE_MESSAGE_H_

#include "distributed/transport/transport.h"
#include "distributed/wire/bulk.h"
#include "host_runtime/base/arena.h"

typedef struct tfrt_lane_message_s {
  uint32_t kind;  // tfrt_wire_bulk_kind_t; LANE is |hello| from the dialler, else |welcome|
  union {
    tfrt_wire_lane_hello_t hello;
    tfrt_wire_lane_welcome_t welcome;
    tfrt_wire_window_t window;
    tfrt_wire_abort_t abort;
    tfrt_wire_chunk_t chunk;  // its |payload| tells the size only: see copy_payload
  };
  const tfrt_transport_span_t* spans;  // those that hold a chunk's payload
  size_t span_count;
  size_t payload_offset;           // in |spans|
  tfrt_transport_span_t gathered;  // owned; used when the message was gathered
  tfrt_allocator_t allocator;
  tfrt_arena_t arena;
} tfrt_lane_message_t;

// Reads the |count| untrusted |spans| of a message from the dialler of a lane, or from its
// listener. INVALID_ARGUMENT naming the field, RESOURCE_EXHAUSTED when memory is out.
// Thread-compatible.
tfrt_status_t tfrt_lane_message_initialize(tfrt_lane_message_t* message,
                                           const tfrt_transport_span_t* spans, size_t count,
                                           bool is_from_dialler, tfrt_allocator_t allocator)
    TFRT_MUST_USE;

// Gives back the memory of |message|. Thread-compatible.
void tfrt_lane_message_deinitialize(tfrt_lane_message_t* message);

// Copies the payload of a chunk to |target|, which has room for it, and returns its CRC-32C if
// |wants_checksum|, else 0. Thread-compatible.
uint32_t tfrt_lane_message_copy_payload(const tfrt_lane_message_t* message, void* target,
                                        bool wants_checksum);

#endif  // TFRT_DISTRIBUTED_BULK_LANE_MESSAGE_H_
