// SPDX-License-Identifier: Apache-2.0
//
// AsyncValues as items of messages, and back: by value through their type's codec, or as
// errors. Rooms that know names make references (object_table.h, remote_value.h).
//
// Thread rule: thread-safe, but for what says otherwise; takes no lock.
// Failure rule: see each function; what comes from the wire is never trusted.
#ifndef TFRT_DISTRIBUTED_VALUE_VALUE_ITEM_H_
#define TFRT_DISTRIBUTED_VALUE_VALUE_ITEM_H_

#include "distributed/domain/job.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/value.h"
#include "host_runtime/async/payload_stream.h"

// The host that reports an error that has no origin host yet.
typedef struct tfrt_value_item_host_s {
  uint32_t rank;
  uint64_t incarnation;
} tfrt_value_item_host_t;

// This host in |job|. With the node's lock held.
static inline tfrt_value_item_host_t tfrt_value_item_host_of(const tfrt_job_t* job) {
  return (tfrt_value_item_host_t){.rank = job->rank, .incarnation = job->node->incarnation};
}

// Sets |*out_item| to the form of the resolved |value| (+0) on the wire. An error becomes ERROR. A
// value becomes INLINE if its type has a codec and its body at most |limit| bytes, else NONE.
// Memory comes from |arena|; an inline body is borrowed from |value|. Errors: RESOURCE_EXHAUSTED.
// Thread-safe.
tfrt_status_t tfrt_value_item_encode(tfrt_async_value_t* value, size_t limit,
                                     tfrt_value_item_host_t host, tfrt_arena_t* arena,
                                     tfrt_wire_item_t* out_item) TFRT_MUST_USE;

#define TFRT_VALUE_ITEM_REFERENCE_SIZE 64u

// Returns the bytes that |item|, which is neither LIST nor ON_BULK, takes in a message at most.
// Thread-safe.
size_t tfrt_value_item_size(const tfrt_wire_item_t* item);

// True if |item|, INLINE or ERROR, may go into a message with |*room| bytes left for such, from
// which it is taken. An item no larger than a reference always may, and takes no room. Thread-safe.
bool tfrt_value_item_take_room(const tfrt_wire_item_t* item, size_t* room);

// As tfrt_value_item_encode(), but also NONE where |*room| is not enough for |value|; what goes is
// taken from that. Thread-safe.
tfrt_status_t tfrt_value_item_encode_within(tfrt_async_value_t* value, size_t limit,
                                            tfrt_value_item_host_t host, tfrt_arena_t* arena,
                                            size_t* room, tfrt_wire_item_t* out_item) TFRT_MUST_USE;

// Describes the available |value| (+0), which stays where it is: its type, and the bytes of its
// payload, 0 if it has none that could travel. Texts live as long as types do. Thread-safe.
tfrt_wire_available_t tfrt_value_item_describe(tfrt_async_value_t* value);

// Sets |*out_id| to the type called |name|, which came from elsewhere. INVALID_ARGUMENT if there is
// none. Thread-safe.
tfrt_status_t tfrt_value_item_find_type(tfrt_string_view_t name, tfrt_type_id_t* out_id)
    TFRT_MUST_USE;

// A value whose body is on its way.
typedef struct tfrt_value_arrival_s {
  // For a type with streams: the sink (owned), which takes the body and makes the value.
  tfrt_payload_sink_t* sink;
  // Else the value (+1), still unresolved, and the room for its body, which the caller fills.
  tfrt_async_value_t* value;
  void* body;
} tfrt_value_arrival_t;

// Makes |*out_arrival| that of a value of the type that |type| names, with |body_size| bytes. If
// the type has streams, and |place| is not NULL, the body goes there. Errors, which leave it
// zeroed: INVALID_ARGUMENT for an unknown type, or one without a codec, or a bad header;
// RESOURCE_EXHAUSTED. Thread-safe.
tfrt_status_t tfrt_value_item_begin(tfrt_string_view_t type, tfrt_string_view_t header,
                                    size_t body_size, const tfrt_payload_place_t* place,
                                    tfrt_allocator_t allocator, tfrt_value_arrival_t* out_arrival)
    TFRT_MUST_USE;

// The body of |arrival| is complete: sets its |value| (+1), if a sink makes that, and else
// publishes it, or makes it the error that says what is wrong with the body. Thread-safe.
void tfrt_value_item_complete(tfrt_value_arrival_t* arrival);

// Returns a value (+1) for |wire|: available, or the error that says what is wrong with it.
// Never NULL. Thread-safe.
tfrt_async_value_t* tfrt_value_item_decode(const tfrt_wire_value_t* wire,
                                           tfrt_allocator_t allocator) TFRT_MUST_USE;

// Returns a value (+1) that is the error |wire|. Never NULL. Thread-safe.
tfrt_async_value_t* tfrt_value_item_decode_error(const tfrt_wire_error_t* wire) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_VALUE_VALUE_ITEM_H_
