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
// Some messages are walked by their rows alone instead (decoder.h, encoder.h, walks.h): Invoke,
// Result, and the batch around the frames, since they lose more than 15 % of the call rate by
// protobuf-c; Resolve and what a bulk lane carries, because that walk leaves payloads where they
// are, in the bytes that came, and refuses a list that is too long before it takes memory. Measured
// in turn with everything else by rows, release build, two processors that others loaded, 4 and 5
// rounds; the time of a call relative to that, by the medians and by the least of each round:
//
//              call of many          call of 64 bytes      other
//              3.4 to 3.6 us         28 to 40 us
//   Invoke     1.59 / 1.42           1.39 / 1.11
//   Result     1.45 / 1.40           1.14 / 1.04
//   Batch      1.23 / 1.13           1.36 / 1.20
//   Resolve                                                payload of a MiB: 1.09 / 0.98
//   Release    1.13 / 1.05           1.01 / 0.88           so protobuf-c has it
//   Push                                                   chain over 4: 1.10 / 1.11; likewise
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
