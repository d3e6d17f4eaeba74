// SPDX-License-Identifier: Apache-2.0
//
// Messages of a bulk channel: hello, chunks of payloads, windows, reports, aborts, offers of
// memory. proto/bulk.proto says what each field means.
//
// Only a chunk's prefix is encoded; the payload itself is sent from its own memory:
//
//   [ 7a | length | chunk's header fields | 7a | length ][ payload ............ ]
//   `--------- tfrt_wire_chunk_encode_prefix() --------'  borrowed, never copied
//
// Both together are one ordinary protobuf message, for any client.
//
// Thread rule: structs are values; functions are thread-safe as long as the caller owns
// arena and builder.
// Failure rule: as in batch.h.
#ifndef TFRT_DISTRIBUTED_WIRE_BULK_H_
#define TFRT_DISTRIBUTED_WIRE_BULK_H_

#include "distributed/wire/value.h"
#include "host_runtime/base/string_builder.h"

typedef struct tfrt_wire_bulk_hello_s {
  uint32_t version;           // never 0
  uint64_t from_incarnation;  // never 0
  uint64_t to_incarnation;    // never 0
  uint32_t session;           // from 1
  uint32_t channel;           // from 0
  uint32_t connection;        // from 1
  tfrt_string_view_t place;   // of the dialler; empty: it lends no memory
} tfrt_wire_bulk_hello_t;

typedef struct tfrt_wire_bulk_welcome_s {
  uint32_t channel;
  const tfrt_wire_error_t* error;  // NULL: the channel is open
  uint32_t last_dialled;           // the listener's own last |connection|; 0: none
  tfrt_string_view_t place;        // of the listener, as above
} tfrt_wire_bulk_welcome_t;

typedef enum tfrt_wire_checksum_kind_e {
  TFRT_WIRE_CHECKSUM_NONE = 0,
  TFRT_WIRE_CHECKSUM_CRC32C = 1,
} tfrt_wire_checksum_kind_t;

typedef struct tfrt_wire_chunk_s {
  uint64_t want;              // from 1; the borrower's
  uint64_t offset;            // of the payload in the value, in bytes
  tfrt_string_view_t type;    // first chunk only
  tfrt_string_view_t header;  // first chunk only
  uint64_t total_size;        // first chunk only
  bool last;
  uint32_t checksum_kind;  // tfrt_wire_checksum_kind_t
  uint32_t checksum;
  bool asks_received;
  tfrt_string_view_t payload;  // at most TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE
} tfrt_wire_chunk_t;

typedef struct tfrt_wire_window_s {
  uint64_t want;
  uint64_t limit;  // absolute
} tfrt_wire_window_t;

typedef struct tfrt_wire_received_s {
  uint64_t bytes;  // of payloads, on this channel
} tfrt_wire_received_t;

typedef struct tfrt_wire_abort_s {
  uint64_t want;
  bool from_owner;                 // else from the borrower
  const tfrt_wire_error_t* error;  // never NULL after decoding
  bool is_final;                   // no interruption, whatever the code
} tfrt_wire_abort_t;

typedef struct tfrt_wire_offer_s {
  uint64_t want;            // from 1; the borrower's
  tfrt_string_view_t type;  // never empty
  tfrt_string_view_t header;
  uint64_t total_size;        // never 0
  tfrt_string_view_t ticket;  // never empty
} tfrt_wire_offer_t;

typedef struct tfrt_wire_decline_s {
  uint64_t want;
} tfrt_wire_decline_t;

// Which message; the number of its field. 1 is BulkHello towards the listener and
// BulkWelcome towards the dialler.
typedef enum tfrt_wire_bulk_kind_e {
  TFRT_WIRE_BULK_NONE = 0,  // of a zeroed struct only
  TFRT_WIRE_BULK_GREETING = 1,
  TFRT_WIRE_BULK_WINDOW = 2,
  TFRT_WIRE_BULK_ABORT = 3,
  TFRT_WIRE_BULK_RECEIVED = 4,
  TFRT_WIRE_BULK_OFFER = 5,
  TFRT_WIRE_BULK_DECLINE = 6,
  TFRT_WIRE_BULK_CHUNK = 15,
} tfrt_wire_bulk_kind_t;

// A BulkUp, from the dialler of the channel, or a BulkDown, from the listener.
typedef struct tfrt_wire_bulk_s {
  uint32_t kind;  // tfrt_wire_bulk_kind_t
  union {
    tfrt_wire_bulk_hello_t hello;      // of BulkUp
    tfrt_wire_bulk_welcome_t welcome;  // of BulkDown
    tfrt_wire_window_t window;
    tfrt_wire_abort_t abort;
    tfrt_wire_received_t received;
    tfrt_wire_offer_t offer;
    tfrt_wire_decline_t decline;
    tfrt_wire_chunk_t chunk;
  };
} tfrt_wire_bulk_t;

// Appends a message, which |is_from_dialler| or from the listener, in bytes to |out|, a chunk with
// its payload. INVALID_ARGUMENT if it breaks a limit (then |out| is unchanged), RESOURCE_EXHAUSTED
// when memory is out. Thread-compatible.
tfrt_status_t tfrt_wire_bulk_encode(const tfrt_wire_bulk_t* message, bool is_from_dialler,
                                    tfrt_string_builder_t* out) TFRT_MUST_USE;

// Appends all of a BulkUp or BulkDown (for a chunk they are the same) with |chunk| to
// |out|, but for the bytes of |chunk->payload|: the caller sends those right behind.
// Failures as above. Thread-compatible.
tfrt_status_t tfrt_wire_chunk_encode_prefix(const tfrt_wire_chunk_t* chunk,
                                            tfrt_string_builder_t* out) TFRT_MUST_USE;

// Decodes the untrusted |bytes| into |*out_message|. Texts and payload stay in |bytes|; the
// message lives as long as |bytes| and |arena|. INVALID_ARGUMENT naming the field,
// RESOURCE_EXHAUSTED when memory is out; |*out_message| is zero then. Thread-compatible.
tfrt_status_t tfrt_wire_bulk_decode(tfrt_string_view_t bytes, bool is_from_dialler,
                                    tfrt_arena_t* arena, tfrt_wire_bulk_t* out_message)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_WIRE_BULK_H_
