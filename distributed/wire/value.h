// SPDX-License-Identifier: Apache-2.0
//
// Names of values, the forms in which one value crosses a link (proto/value.proto), errors
// (proto/error.proto), and the bodies of frames by which values are fetched, held and lost
// (proto/object.proto). These files say what each field means.
//
//   object id   namer incarnation (64) | number (48) | index (16)
//               namer != owner: promised: result |index| of the namer's call |number|
//               namer == owner: exported: the owner's own counter, index 0
//
//   borrower --> owner   Want w         owner --> borrower   Resolve w
//   borrower --> owner   Retain ids     owner --> borrower   Retained ids
//   holder   --> owner   Release ranges
//   owner    --> borrower   Push id
//
//   status --error_from_status--> tfrt_wire_error_t --encode--> bytes ... another host ...
//   bytes --decode--> tfrt_wire_error_t --error_to_status--> status, with the same root key
//
// "This process" as an error's origin means nothing elsewhere, so error_from_status writes rank and
// incarnation of the sender into an origin that has none.
//
// Thread rule: values; texts and bytes are borrowed from the code that filled the struct or, after
// decoding, from the message. Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_WIRE_VALUE_H_
#define TFRT_DISTRIBUTED_WIRE_VALUE_H_

#include <stddef.h>

#include "distributed/wire/limits.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// --- Texts -----------------------------------------------------------------------

// Texts from outside the runtime (paths, names in programs) in fields of a message. A text field is
// valid UTF-8 and has a limit; the system's paths and a program's names need be neither valid nor
// short. Such a text only informs somebody, so it is made to fit instead of refused: a call does
// not fail because its program lies in a deep folder.

// |text| as a field of at most |limit| bytes takes it: cut between characters where it is too
// long, and with '?' for each byte that is no part of a character. The result is |text|, or its
// beginning, if that is valid, else a copy in |buffer|, which has |limit| bytes.
// Thread-compatible.
tfrt_string_view_t tfrt_wire_text_fit(tfrt_string_view_t text, char* buffer, size_t limit);

// --- Errors ----------------------------------------------------------------------

// Where an error began. Empty texts, 0 for |line| and |column|: not known.
typedef struct tfrt_wire_origin_s {
  uint32_t rank;         // TFRT_WIRE_NO_RANK: a client
  uint64_t incarnation;  // 0: nobody knows
  tfrt_string_view_t function;
  tfrt_string_view_t kernel;
  tfrt_string_view_t file;
  uint32_t line;
  uint32_t column;
} tfrt_wire_origin_t;

// Fields as in proto/error.proto.
typedef struct tfrt_wire_error_s {
  uint32_t code;  // tfrt_status_code_t; never OK after decoding
  tfrt_string_view_t message;
  const tfrt_wire_origin_t* origin;  // NULL: not known
  uint64_t call;
  uint64_t root_key;
  bool derived;
  bool may_have_run;
  const tfrt_string_view_t* causes;
  size_t cause_count;
  bool truncated;
} tfrt_wire_error_t;

// Sets |*out_error| to what |status| (+0, an error) says, seen from the host with |rank|
// (TFRT_WIRE_NO_RANK: a client) and |incarnation|. Texts are cut to their limits at a character's
// border and made valid UTF-8; |truncated| is set if one was cut. Text that can't be borrowed from
// |status| is copied to |arena|; |*out_error| lives as long as both. RESOURCE_EXHAUSTED when memory
// is out; |*out_error| is zero then. Thread-compatible.
tfrt_status_t tfrt_wire_error_from_status(tfrt_status_t status, uint32_t rank, uint64_t incarnation,
                                          tfrt_arena_t* arena, tfrt_wire_error_t* out_error)
    TFRT_MUST_USE;

// Returns |origin| (+0), seen from that host, with texts treated as above. It lives as long as
// |arena| and |origin|'s texts; NULL when memory is out. Thread-compatible.
const tfrt_wire_origin_t* tfrt_wire_origin_from_status(const tfrt_status_origin_t* origin,
                                                       uint32_t rank, uint64_t incarnation,
                                                       tfrt_arena_t* arena);

// Returns a status (+1, never OK) with all that |error| says, copied. Codes that nobody
// knows become UNKNOWN. Thread-safe.
tfrt_status_t tfrt_wire_error_to_status(const tfrt_wire_error_t* error) TFRT_MUST_USE;

// --- Values ----------------------------------------------------------------------

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

// It follows on a bulk channel.
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

// True if both are one name of one host. Thread-safe.
static inline bool tfrt_wire_reference_same(const tfrt_wire_reference_t* a,
                                            const tfrt_wire_reference_t* b) {
  return a->owner == b->owner && tfrt_wire_object_id_equal(a->id, b->id);
}

// --- Frames about values ---------------------------------------------------------

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

// The kinds of frames with these bodies; batch.h says what the columns are.
#define TFRT_WIRE_VALUE_FRAMES(FRAME)        \
  FRAME(WANT, 64, want, JOB, PACKED)         \
  FRAME(RESOLVE, 66, resolve, JOB, WALKED)   \
  FRAME(UNWANT, 68, unwant, JOB, PACKED)     \
  FRAME(RETAIN, 70, retain, JOB, PACKED)     \
  FRAME(RETAINED, 72, retained, JOB, PACKED) \
  FRAME(RELEASE, 74, release, JOB, PACKED)   \
  FRAME(LOST, 76, lost, JOB, PACKED)         \
  FRAME(REPLACE, 78, replace, JOB, PACKED)   \
  FRAME(PUSH, 81, push, JOB, PACKED)

#endif  // TFRT_DISTRIBUTED_WIRE_VALUE_H_
