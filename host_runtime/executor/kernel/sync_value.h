// SPDX-License-Identifier: Apache-2.0
//
// A plain value: what lies in a register of a synchronous function. Never late and never
// an error, used by one thread, with one owner; so it needs no state, no waiters and no
// count.
//
//   byte 0                       8         10     11
//        +-----------------------+---------+------+
//        | payload, or a pointer | type id | kind |
//        +-----------------------+---------+------+
//
//   EMPTY      nothing yet.
//   PLAIN      the payload lies in place: at most 8 bytes that never change, no destructor.
//   OWNED      the payload lies in a block of its own, which goes with the value.
//   BORROWED   the payload belongs to somebody who outlives the value: the caller's
//              register, or an AsyncValue.
//
// A payload moves by its bytes: from an AsyncValue's type nothing else is asked, because a
// payload never points into itself.
//
// Life: zeroed storage is an empty value. Constructed, or borrowed; read; cleared or moved
// out, after which it is empty again.
//
// Thread rule: thread-compatible (one thread at a time).
// Failure rule: constructing gives NULL when memory is out; nothing else fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_SYNC_VALUE_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_SYNC_VALUE_H_

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/type.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef enum tfrt_sync_value_kind_e {
  TFRT_SYNC_VALUE_EMPTY = 0,
  TFRT_SYNC_VALUE_PLAIN,
  TFRT_SYNC_VALUE_OWNED,
  TFRT_SYNC_VALUE_BORROWED,
} tfrt_sync_value_kind_t;

typedef struct tfrt_sync_value_s {
  union {
    bool i1;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    unsigned char bytes[8];
    void* pointer;
  } as;
  tfrt_type_id_t type_id;
  uint8_t kind;
} tfrt_sync_value_t;

static_assert(sizeof(tfrt_sync_value_t) == 16, "a register is two words");

// Where the payload of |value|, which isn't empty, lies. Thread-compatible.
static inline void* tfrt_sync_value_payload(tfrt_sync_value_t* value) {
  return value->kind == TFRT_SYNC_VALUE_PLAIN ? value->as.bytes : value->as.pointer;
}

// Makes the empty |value| one of type |type_id| and returns its payload's storage, zeroed,
// for the caller to construct; NULL, with |value| still empty, when memory is out.
// Thread-compatible.
void* tfrt_sync_value_construct(tfrt_sync_value_t* value, tfrt_type_id_t type_id) TFRT_MUST_USE;

// Gives back what |value| owns. Thread-compatible.
void tfrt_sync_value_clear_owned(tfrt_sync_value_t* value);

// Makes |value| empty; what it owns is destroyed. Thread-compatible.
static inline void tfrt_sync_value_clear(tfrt_sync_value_t* value) {
  if (value->kind == TFRT_SYNC_VALUE_OWNED) tfrt_sync_value_clear_owned(value);
  value->kind = TFRT_SYNC_VALUE_EMPTY;
}

// A value that borrows from |value|, which must outlive it. Thread-compatible.
static inline tfrt_sync_value_t tfrt_sync_value_borrow(const tfrt_sync_value_t* value) {
  tfrt_sync_value_t borrowed = *value;
  if (value->kind == TFRT_SYNC_VALUE_OWNED) borrowed.kind = TFRT_SYNC_VALUE_BORROWED;
  return borrowed;
}

// A value that borrows from the available |value|, which must outlive it. Thread-safe.
tfrt_sync_value_t tfrt_sync_value_borrow_async(tfrt_async_value_t* value);

// Moves |value|, which isn't borrowed, into a new AsyncValue (+1); if memory is out, into
// tfrt_async_value_out_of_memory(). |value| is empty then. Thread-compatible.
tfrt_async_value_t* tfrt_sync_value_take_async(tfrt_sync_value_t* value);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_SYNC_VALUE_H_
