// SPDX-License-Identifier: Apache-2.0
//
// Values across hosts, fetched, held and lost: bodies of frames (proto/object.proto,
// which says what each field means).
//
//   borrower --> owner   Want w         owner --> borrower   Resolve w
//   borrower --> owner   Retain ids     owner --> borrower   Retained ids
//   holder   --> owner   Release ranges
//   owner    --> borrower   Push id
//
// Thread rule: values; texts, bytes and arrays are borrowed. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_WIRE_OBJECT_H_
#define TFRT_DISTRIBUTED_WIRE_OBJECT_H_

#include "distributed/wire/value.h"

typedef enum tfrt_wire_want_level_e {
  TFRT_WIRE_WANT_AVAILABLE = 0,
  TFRT_WIRE_WANT_VALUE = 1,
} tfrt_wire_want_level_t;

typedef struct tfrt_wire_want_s {
  uint64_t want;  // from 1
  tfrt_wire_object_id_t id;
  uint32_t level;    // tfrt_wire_want_level_t
  uint64_t window;   // absolute end of the first credit, in bytes of payload
  uint64_t offset;   // first byte needed
  uint64_t resumes;  // an earlier want; 0: none
} tfrt_wire_want_t;

typedef struct tfrt_wire_resolve_s {
  uint64_t want;
  tfrt_wire_item_t item;             // AVAILABLE, INLINE, LIST, ON_BULK, REFERENCE or ERROR
  const tfrt_wire_origin_t* origin;  // of a REFERENCE; NULL: not known
} tfrt_wire_resolve_t;

typedef struct tfrt_wire_unwant_s {
  uint64_t want;
} tfrt_wire_unwant_t;

typedef struct tfrt_wire_retain_s {
  const tfrt_wire_object_id_t* ids;
  size_t id_count;
} tfrt_wire_retain_t;

typedef struct tfrt_wire_retained_item_s {
  tfrt_wire_object_id_t id;
  tfrt_wire_item_t item;  // HELD, REFERENCE or ERROR
} tfrt_wire_retained_item_t;

typedef struct tfrt_wire_retained_s {
  const tfrt_wire_retained_item_t* items;
  size_t item_count;
} tfrt_wire_retained_t;

// The names (namer, n, i), n from |first_number|, i from |first_index|. No number or
// index in it is above its limit, which the decoder checks.
typedef struct tfrt_wire_object_range_s {
  uint64_t namer;
  uint64_t first_number;
  uint32_t number_count;  // from 1
  uint32_t first_index;
  uint32_t index_count;  // from 1
} tfrt_wire_object_range_t;

// At most TFRT_WIRE_MAX_RELEASED names, which the decoder checks.
typedef struct tfrt_wire_release_s {
  const tfrt_wire_object_range_t* ranges;
  size_t range_count;
} tfrt_wire_release_t;

typedef struct tfrt_wire_lost_s {
  tfrt_wire_reference_t reference;
} tfrt_wire_lost_t;

typedef struct tfrt_wire_replace_s {
  tfrt_wire_reference_t old;
  tfrt_wire_item_t item;  // REFERENCE or ERROR
} tfrt_wire_replace_t;

typedef struct tfrt_wire_push_s {
  tfrt_wire_object_id_t id;
  tfrt_wire_item_t item;  // INLINE, REFERENCE or ERROR
} tfrt_wire_push_t;

#endif  // TFRT_DISTRIBUTED_WIRE_OBJECT_H_
