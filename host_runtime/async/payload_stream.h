// SPDX-License-Identifier: Apache-2.0
//
// How the bytes of a payload travel that are not in the host's memory: a tensor of a device. Such
// a type has a codec with *streams*: its encode() gives a header and a size, but no body; the
// body is read piece by piece from a source, and written piece by piece to a sink.
//
//   owner:      open_source --> read 0.. | read 1.. | ...    each gives memory, and a chain that
//                                                            says when the bytes are in it
//   receiver:   open_sink ----> prepare, fill in, commit | prepare, ... | finish --> the value
//
// Where both ends can reach one memory, as two processes that use one GPU, no byte is sent. The
// source lends the memory, and the sink copies from it:
//
//   owner:      lend --> a ticket, and a chain that says when the bytes are there
//   receiver:   fetch(ticket) --> a chain --> finish --> the value       or an error: pieces come
//
// The sender reads one piece ahead, so that the copy of the next piece overlaps the transfer of the
// one before. The receiver asks for no more than it has room for: a committed piece counts until it
// is stored.
//
// Life of a source: opened, asked to lend or not, read from, destroyed; its pieces may outlive it.
// With it ends what it has lent, but for a receiver that copies at that moment.
// Life of a sink: opened; for each piece, in order, prepared and committed; finished if all of
// them came; destroyed in any case. Destroying one that is not finished drops the value.
//
// Thread rule: open_source and open_sink are thread-safe; a source and a sink are
// thread-compatible. open_source must not block: it is called with a lock held.
// Failure rule: an error of read, prepare or commit ends the transfer with it.
#ifndef TFRT_HOST_RUNTIME_ASYNC_PAYLOAD_STREAM_H_
#define TFRT_HOST_RUNTIME_ASYNC_PAYLOAD_STREAM_H_

#include "host_runtime/async/async_value.h"

TFRT_API_BEGIN

struct tfrt_host_context_s;
struct tfrt_tensor_groups_s;

typedef struct tfrt_payload_source_s tfrt_payload_source_t;
typedef struct tfrt_payload_sink_s tfrt_payload_sink_t;

// Some bytes of a payload, or room for them until |ready|.
typedef struct tfrt_payload_piece_s {
  const void* data;
  tfrt_async_value_t* ready;     // +1; a chain, or the error that the bytes don't come with
  void (*release)(void* owner);  // takes |data| back
  void* owner;
} tfrt_payload_piece_t;

// The longest ticket for memory that is lent, in bytes.
#define TFRT_PAYLOAD_MAX_TICKET_SIZE 256

// Names memory that a source lends, for its type's sinks.
typedef struct tfrt_payload_ticket_s {
  uint8_t bytes[TFRT_PAYLOAD_MAX_TICKET_SIZE];
  size_t size;
  tfrt_async_value_t* ready;  // +1; a chain, or the error that the bytes don't come with
} tfrt_payload_ticket_t;

typedef struct tfrt_payload_source_vtable_s {
  void (*destroy)(tfrt_payload_source_t* source);
  // Begins to read |size| > 0 bytes from |offset|. May take the time of a driver's call.
  tfrt_status_t (*read)(tfrt_payload_source_t* source, uint64_t offset, size_t size,
                        tfrt_payload_piece_t* out_piece);
  // Lends the whole payload, at most once. May take the time of a driver's call. NULL: it never
  // does; an error: it can't, and is read from instead.
  tfrt_status_t (*lend)(tfrt_payload_source_t* source, tfrt_payload_ticket_t* out_ticket);
} tfrt_payload_source_vtable_t;

// Embedded first in every source.
struct tfrt_payload_source_s {
  const tfrt_payload_source_vtable_t* vtable;
};

typedef struct tfrt_payload_sink_vtable_s {
  void (*destroy)(tfrt_payload_sink_t* sink);
  // Sets |*out_target| to room for the |size| > 0 bytes from |offset|.
  tfrt_status_t (*prepare)(tfrt_payload_sink_t* sink, uint64_t offset, size_t size,
                           void** out_target);
  // The room that was prepared last is filled in. Sets |*out_stored| (+1) to what becomes
  // available, or an error, when the room is free again. NULL: it is, or the sink collects bytes,
  // and a later commit tells of them, at the latest that of the last bytes.
  tfrt_status_t (*commit)(tfrt_payload_sink_t* sink, tfrt_async_value_t** out_stored);
  // All bytes were committed, or fetched: returns the value (+1, never NULL), which becomes
  // available, or an error, when they are where they belong.
  tfrt_async_value_t* (*finish)(tfrt_payload_sink_t* sink);
  // Copies the whole payload from the memory that the untrusted |size| bytes at |ticket| name.
  // Returns a chain (+1), which becomes available when all bytes are where they belong, or an
  // error: the sink is as before then. Either way nothing touches that memory any more. Must not
  // block; the sink is not destroyed meanwhile. NULL: it can't.
  tfrt_async_value_t* (*fetch)(tfrt_payload_sink_t* sink, const void* ticket, size_t size);
} tfrt_payload_sink_vtable_t;

// Embedded first in every sink.
struct tfrt_payload_sink_s {
  const tfrt_payload_sink_vtable_t* vtable;
};

// Where a payload goes.
typedef struct tfrt_payload_place_s {
  struct tfrt_host_context_s* host;
  const char* device;  // the one that the call was placed on that needs it; "": none, the host
} tfrt_payload_place_t;

// The part of a codec that a type with streams has besides.
typedef struct tfrt_payload_streams_s {
  // Sets |*out_source| (owned by the caller) to one over |payload|, of |host|; what it needs of
  // |payload| is retained.
  tfrt_status_t (*open_source)(const void* payload, struct tfrt_host_context_s* host,
                               tfrt_payload_source_t** out_source);
  // Sets |*out_sink| (owned by the caller) to one for the untrusted |header|, with room for
  // |body_size| bytes. Errors as those of tfrt_codec_t::decode.
  tfrt_status_t (*open_sink)(const tfrt_payload_place_t* place, const uint8_t* header,
                             size_t header_size, size_t body_size, tfrt_payload_sink_t** out_sink);
  // The name of the device that has |payload|, which lives as long as that.
  const char* (*device)(const void* payload);
  // How hosts exchange such payloads without the hosts' memory (tensor_group.h); NULL: they don't.
  const struct tfrt_tensor_groups_s* groups;
} tfrt_payload_streams_t;

// Gives back what |piece| has. Thread-compatible.
static inline void tfrt_payload_piece_deinitialize(tfrt_payload_piece_t* piece) {
  if (piece->release) piece->release(piece->owner);
  if (piece->ready) tfrt_async_value_release(piece->ready);
  piece->release = NULL;
  piece->ready = NULL;
}

// Destroys |source|, or |sink|; NULL is allowed. Thread-compatible.
static inline void tfrt_payload_source_destroy(tfrt_payload_source_t* source) {
  if (source) source->vtable->destroy(source);
}
static inline void tfrt_payload_sink_destroy(tfrt_payload_sink_t* sink) {
  if (sink) sink->vtable->destroy(sink);
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_PAYLOAD_STREAM_H_
