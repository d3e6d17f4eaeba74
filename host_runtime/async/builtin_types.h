// SPDX-License-Identifier: Apache-2.0
//
// The payloads of the builtin types that are more than a C scalar, and short ways to
// make values of all of them.
//
// Thread rule: thread-safe. Failure rule: a creation that is out of memory returns
// tfrt_async_value_out_of_memory(), so the result is never NULL.
#ifndef TFRT_HOST_RUNTIME_ASYNC_BUILTIN_TYPES_H_
#define TFRT_HOST_RUNTIME_ASYNC_BUILTIN_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/type.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"

TFRT_API_BEGIN

// Payload of "!tfrt.string": immutable bytes, NUL-terminated for convenience; may
// contain NUL.
typedef struct tfrt_string_s {
  char* data;  // |size| + 1 bytes of |allocator|; NULL while |size| is 0
  size_t size;
  tfrt_allocator_t allocator;
} tfrt_string_t;

// New available values (+1) of the scalar types. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_i1(bool value);
tfrt_async_value_t* tfrt_async_value_create_i32(int32_t value);
tfrt_async_value_t* tfrt_async_value_create_i64(int64_t value);
tfrt_async_value_t* tfrt_async_value_create_f32(float value);
tfrt_async_value_t* tfrt_async_value_create_f64(double value);

// A new available value (+1) of the type |type_id|, whose payload is a copy of the
// |size| bytes at |bytes|; only for types without a destructor. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_copy(tfrt_type_id_t type_id, const void* bytes,
                                                 size_t size);

// A new available "!tfrt.string" (+1) with a copy of |text|. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_string(tfrt_string_view_t text);

// True if |value| is available, no error, and a "!tfrt.string", or of a type that was made from
// that one and has another name. Thread-safe.
bool tfrt_async_value_is_text(tfrt_async_value_t* value);

// The text of |value|, which lives as long as that; "" where it is no text, as what comes from
// another host may be. Thread-safe.
tfrt_string_view_t tfrt_async_value_string(tfrt_async_value_t* value);

TFRT_API_END

// The table entries of the builtin types, by type id; those without a name don't
// exist. Only for type.c; others ask tfrt_type_get(). Thread-safe.
extern const tfrt_type_t tfrt_builtin_types[TFRT_TYPE_FIRST_REGISTERED];

#endif  // TFRT_HOST_RUNTIME_ASYNC_BUILTIN_TYPES_H_
