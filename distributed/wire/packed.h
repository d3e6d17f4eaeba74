// SPDX-License-Identifier: Apache-2.0
//
// Messages that protobuf-c packs and unpacks, with the code that protoc-c generates from proto/.
//
//   bytes <-- protobuf-c --> generated struct <-- by the rows of schema.h --> our struct, checked
//
// So the contract is written once, in proto/; the rows say where a field lies in our struct, and
// its limits. protobuf-c reads as every protobuf library does. Where a field that isn't repeated
// comes twice, the last one counts. Unknown fields are passed over.
//
// Memory that unpacking takes comes from the arena, up to a budget: a peer's bytes can't ask for
// more. Texts are copied there.
//
// Messages of each call and those with payloads have a codec by hand instead (decoder.h, encoder.h,
// walks.h): Invoke, Result, Release and Push, Resolve, what a bulk lane carries, and the batch
// around the frames. It leaves payloads where they are, in the bytes that came. Measured on one
// processor of an x86-64, in ns of its time, release build, least of 15 times 20,000, a message of
// a call with two small arguments and one small result:
//
//               by hand          protobuf-c
//               write   read     write   read
//   Invoke         78     89      1019    664
//   Result         23     30       458    314
//   Release        33     48       206    157
//   Push           41     40       424    278
//
// So a call takes 2.2 us more with protobuf-c: of 15.9 us where one call waits for the other, and
// of 2.0 us for each of many calls at once (docs/performance.md).
//
// Thread rule: thread-safe as long as the caller owns arena and builder.
// Failure rule: INVALID_ARGUMENT with the message's and mostly the field's name;
// RESOURCE_EXHAUSTED when memory is out, or the budget.
#ifndef TFRT_DISTRIBUTED_WIRE_PACKED_H_
#define TFRT_DISTRIBUTED_WIRE_PACKED_H_

#include <protobuf-c/protobuf-c.h>

#include "distributed/wire/schema.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/string_builder.h"

// Unpacks |bytes|, of |descriptor|, into |out_object|, a struct of |message|, with at most |budget|
// bytes of |arena|. All zero after a failure. Thread-compatible.
tfrt_status_t tfrt_wire_unpack(const ProtobufCMessageDescriptor* descriptor,
                               const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                               size_t budget, tfrt_arena_t* arena, void* out_object) TFRT_MUST_USE;

// Appends |object|, a struct of |message|, packed as |descriptor| says to |out|, which is unchanged
// after a failure. Thread-compatible.
tfrt_status_t tfrt_wire_pack(const ProtobufCMessageDescriptor* descriptor,
                             const tfrt_wire_message_t* message, const void* object,
                             tfrt_string_builder_t* out) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_WIRE_PACKED_H_
