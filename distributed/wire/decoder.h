// SPDX-License-Identifier: Apache-2.0
//
// Decodes untrusted bytes to structs, by their tables (schema.h). A decoded struct has kept every
// limit.
//
//  - Fields may come in any order. Unknown ones are passed over, so that later versions
//    can add some. One that isn't repeated may come once.
//  - Texts and payloads are not copied; arrays are allocated once, after their elements
//    were counted and the count was found allowed.
//  - Depth is bounded by the tables, work by the size of the bytes times that depth.
//
// Thread rule: thread-safe as long as the caller owns the arena.
// Failure rule: INVALID_ARGUMENT with the field's name; RESOURCE_EXHAUSTED.
#ifndef TFRT_DISTRIBUTED_WIRE_DECODER_H_
#define TFRT_DISTRIBUTED_WIRE_DECODER_H_

#include "distributed/wire/schema.h"
#include "host_runtime/base/arena.h"

// Decodes |bytes| into |out_object|, a struct of |message|. It lives as long as |bytes|
// and |arena|; all zero after a failure. Thread-compatible.
tfrt_status_t tfrt_wire_decode(const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                               tfrt_arena_t* arena, void* out_object) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_WIRE_DECODER_H_
