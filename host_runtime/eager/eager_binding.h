// SPDX-License-Identifier: Apache-2.0
//
// Brings the attributes that a caller names into the form in which a kernel reads them: the
// bytes of BEF, in the op table's order, and its functions in theirs. Private to this room.
//
//   {"b": i32, "a": string, "f": @g}  --op table-->  bytes | offsets of a, b | functions: @g
//                                                     values of a, b
//
// Life: initialised for one op, filled, read while the op is made, deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: INVALID_ARGUMENT that names the op, the attribute and what would be right.
#ifndef TFRT_HOST_RUNTIME_EAGER_EAGER_BINDING_H_
#define TFRT_HOST_RUNTIME_EAGER_EAGER_BINDING_H_

#include "host_runtime/base/arena.h"
#include "host_runtime/bef/bef_bytes.h"
#include "host_runtime/eager/eager_attribute.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"

typedef struct tfrt_eager_binding_s {
  tfrt_arena_t arena;
  tfrt_bef_bytes_t bytes;
  uint32_t* offsets;
  tfrt_bef_value_t* values;  // what is at |offsets|; borrows from the caller's attributes
  uint32_t offset_count;
  const tfrt_function_t** functions;
  uint32_t function_count;
} tfrt_eager_binding_t;

// Makes |binding| an empty one. Thread-compatible.
void tfrt_eager_binding_initialize(tfrt_eager_binding_t* binding, tfrt_allocator_t allocator);

// Gives back what |binding| holds. Thread-compatible.
void tfrt_eager_binding_deinitialize(tfrt_eager_binding_t* binding);

// Fills |binding| with the |count| |attributes| of an op that |descriptor| describes. One that
// is left out and has a default in the table gets that. Errors: INVALID_ARGUMENT (one is
// missing, unknown, of another kind or there twice), RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_eager_binding_fill(tfrt_eager_binding_t* binding,
                                      const tfrt_kernel_descriptor_t* descriptor,
                                      const tfrt_eager_attribute_t* attributes, uint32_t count)
    TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_EAGER_EAGER_BINDING_H_
