// SPDX-License-Identifier: Apache-2.0
//
// Encodes structs to bytes, by their tables (schema.h). Fields are written by rising number, and
// numbers that are 0 not at all, as every protobuf library does, so that equal structs give equal
// bytes.
//
//   1. everything is checked and written at once, into the room that the builder has
//   2. if something is wrong, or the room too small: all is checked again, and what is wrong told;
//      else the size is computed, room made once, and the bytes are written
//
// Nothing is appended if something is wrong.
//
// Thread rule: thread-safe as long as the caller owns the builder.
// Failure rule: INVALID_ARGUMENT with the field's name; RESOURCE_EXHAUSTED.
#ifndef TFRT_DISTRIBUTED_WIRE_ENCODER_H_
#define TFRT_DISTRIBUTED_WIRE_ENCODER_H_

#include "distributed/wire/schema.h"
#include "host_runtime/base/string_builder.h"

// Appends |object|, a struct of |message|, in bytes to |out|. Thread-compatible.
tfrt_status_t tfrt_wire_encode(const tfrt_wire_message_t* message, const void* object,
                               tfrt_string_builder_t* out) TFRT_MUST_USE;

// OK, or the error that tfrt_wire_encode() would give. Thread-safe.
tfrt_status_t tfrt_wire_encode_check(const tfrt_wire_message_t* message, const void* object)
    TFRT_MUST_USE;

// The size of |object| in bytes when encoded, which must have been checked. Thread-safe.
size_t tfrt_wire_encoded_size(const tfrt_wire_message_t* message, const void* object);

#endif  // TFRT_DISTRIBUTED_WIRE_ENCODER_H_
