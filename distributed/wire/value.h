// SPDX-License-Identifier: Apache-2.0
//
// Names of values, and the forms in which one value crosses a link
// (proto/value.proto).
//
//   object id   namer incarnation (64) | number (48) | index (16)
//               namer != owner: promised: result |index| of the namer's call |number|
//               namer == owner: exported: the owner's own counter, index 0
//
// Thread rule: values; texts and bytes are borrowed from the code that filled the struct or, after
// decoding, from the message. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_WIRE_VALUE_H_
#define TFRT_DISTRIBUTED_WIRE_VALUE_H_

#include "distributed/wire/error.h"

typedef struct tfrt_wire_object_id_s {
  uint64_t namer;   // an incarnation; never 0
  uint64_t number;  // 1 to TFRT_WIRE_MAX_NUMBER
  uint32_t index;   // 0 to TFRT_WIRE_MAX_INDEX
} tfrt_wire_object_id_t;

// An id and what is needed to reach the value.
typedef struct tfrt_wire_reference_s {
  tfrt_wire_object_id_t id;
  uint64_t owner;  // an incarnation; never 0
  uint32_t owner_rank;
  uint32_t namer_rank;
  bool is_chain;
  bool is_mutable;
  bool is_recoverable;
  bool is_pushed;  // in an Invoke only
} tfrt_wire_reference_t;

// A payload in bytes, as a codec makes it.
typedef struct tfrt_wire_value_s {
  tfrt_string_view_t type;    // registered name; never empty
  tfrt_string_view_t header;  // at most TFRT_WIRE_MAX_VALUE_HEADER_SIZE
  tfrt_string_view_t body;    // at most TFRT_WIRE_MAX_INLINE_SIZE
} tfrt_wire_value_t;

// It is there, at its owner.
typedef struct tfrt_wire_available_s {
  tfrt_string_view_t type;  // empty: not known
  uint64_t size;            // of the payload, in bytes
} tfrt_wire_available_t;

// It follows on a bulk lane.
typedef struct tfrt_wire_on_bulk_s {
  tfrt_string_view_t type;
  tfrt_string_view_t header;
  uint64_t size;  // of the payload, in bytes
} tfrt_wire_on_bulk_t;

// It is the call's argument at this position.
typedef struct tfrt_wire_same_as_argument_s {
  uint32_t argument;
} tfrt_wire_same_as_argument_t;

// It consists of these values.
typedef struct tfrt_wire_list_s {
  tfrt_string_view_t type;                  // registered name; never empty
  const struct tfrt_wire_item_s* elements;  // INLINE, REFERENCE or ERROR
  size_t element_count;                     // at most TFRT_WIRE_MAX_ELEMENTS
} tfrt_wire_list_t;

// The form of an item; the number of its field in proto/value.proto.
typedef enum tfrt_wire_item_kind_e {
  TFRT_WIRE_ITEM_NONE = 0,  // of a zeroed struct only: neither encoded nor decoded
  TFRT_WIRE_ITEM_INLINE = 1,
  TFRT_WIRE_ITEM_AVAILABLE = 2,
  TFRT_WIRE_ITEM_REFERENCE = 3,  // an argument by reference, "forward", "moved"
  TFRT_WIRE_ITEM_SAME_AS_ARGUMENT = 4,
  TFRT_WIRE_ITEM_ON_BULK = 5,
  TFRT_WIRE_ITEM_HELD = 6,
  TFRT_WIRE_ITEM_ERROR = 7,
  TFRT_WIRE_ITEM_LIST = 8,
} tfrt_wire_item_kind_t;

// One bit per item kind, for saying which ones may be somewhere.
#define TFRT_WIRE_ITEM_BIT(kind) (1u << (kind))

// One value as it crosses a link. Which kinds may be is said where an item is used; the
// decoders refuse the others.
typedef struct tfrt_wire_item_s {
  uint32_t kind;  // tfrt_wire_item_kind_t
  union {
    tfrt_wire_value_t value;          // INLINE
    tfrt_wire_available_t available;  // AVAILABLE
    tfrt_wire_reference_t reference;  // REFERENCE
    tfrt_wire_same_as_argument_t same_as_argument;
    tfrt_wire_on_bulk_t on_bulk;
    const tfrt_wire_error_t* error;  // ERROR
    tfrt_wire_list_t list;           // LIST
  };
} tfrt_wire_item_t;

// True if |a| and |b| are the same name. Thread-safe.
static inline bool tfrt_wire_object_id_equal(tfrt_wire_object_id_t a, tfrt_wire_object_id_t b) {
  return a.namer == b.namer && a.number == b.number && a.index == b.index;
}

#endif  // TFRT_DISTRIBUTED_WIRE_VALUE_H_
