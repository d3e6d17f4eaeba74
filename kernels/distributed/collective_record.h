// SPDX-License-Identifier: Apache-2.0
//
// A record: the collective that a member of a group is about to do, and its operand. Members
// exchange records first in a collective. With the records of all, each member can decide alone,
// and all alike, whether they agree. If the elements are few, they come with the records.
//
//   | kind 8 | reduction 8 | dtype 8 | rank 8 | flags 32 | root 32 | size 32 |
//   | dims, rank * 64 | elements, type's name and seat, or error, size bytes |   little-endian
//
// An operand that is an error makes a record too, so that all members get it.
//
// A seat (host_runtime/tensor/tensor_group.h) lies behind the NUL of the type's name:
//
//   | rules 32 | taken 32 | token 64 | library, with its NUL | place, likewise |
//
// A member that doesn't know seats reads up to the NUL and sends no seat. A record with other rules
// than ours counts as one without a seat. Then the tensors go through the hosts' memory.
//
// Life: filled in and encoded by its member; decoded by the others, then it borrows the bytes
// that it came in.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: bytes that are no record, and records that don't fit together, are
// INVALID_ARGUMENT.
#ifndef TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_RECORD_H_
#define TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_RECORD_H_

#include <stdbool.h>

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/tensor/dtype.h"
#include "host_runtime/tensor/shape.h"
#include "kernels/distributed/numeric_reduction.h"

// By which members decide from the records whether their devices do it (collective_group.h).
// Another number each time that they would decide otherwise.
#define TFRT_COLLECTIVE_SEAT_RULES 1

typedef enum tfrt_collective_kind_e {
  TFRT_COLLECTIVE_BARRIER = 0,
  TFRT_COLLECTIVE_ALL_REDUCE,
  TFRT_COLLECTIVE_REDUCE,
  TFRT_COLLECTIVE_REDUCE_SCATTER,
  TFRT_COLLECTIVE_ALL_GATHER,
  TFRT_COLLECTIVE_BROADCAST,
  TFRT_COLLECTIVE_ALL_TO_ALL,
  TFRT_COLLECTIVE_KIND_COUNT,
} tfrt_collective_kind_t;

typedef struct tfrt_collective_record_s {
  tfrt_collective_kind_t kind;
  tfrt_reduction_t reduction;   // of the kinds that reduce; else 0
  uint32_t root;                // position, of the kinds that have one; else 0
  tfrt_dtype_t dtype;           // of the operand; INVALID: there is none
  tfrt_shape_t shape;           // likewise
  bool is_on_device;            // the operand, and so the result
  bool is_anywhere;             // the operand, which is ignored, isn't here: as the root's
  bool knows_large_chunks;      // its member may plan with chunks of more than the least size
  bool knows_pairs;             // its member may plan an all_reduce in pairs
  bool has_elements;            // |elements| are all of the operand's
  tfrt_string_view_t elements;  // +0, any alignment; on a device, the name of the operand's type
  tfrt_string_view_t library;   // +0; of the operand's seat; empty: it has none
  tfrt_string_view_t place;     // +0; likewise, as what follows
  uint64_t token;
  bool is_taken;
  tfrt_status_t error;  // why there is no operand; NULL
} tfrt_collective_record_t;

// The name that programs have for |kind|, e.g. "all_reduce". Static. Thread-safe.
const char* tfrt_collective_kind_name(tfrt_collective_kind_t kind);

// Returns true if |kind| combines elements, or is about one member that is its root.
// Thread-safe.
bool tfrt_collective_kind_reduces(tfrt_collective_kind_t kind);
bool tfrt_collective_kind_has_root(tfrt_collective_kind_t kind);

// Returns true if |kind| is about the rows (axis 0) of tensors, so that a single element is none.
// Thread-safe.
bool tfrt_collective_kind_is_about_rows(tfrt_collective_kind_t kind);

// Appends the bytes of |record| to |out|. Thread-compatible.
void tfrt_collective_record_encode(const tfrt_collective_record_t* record,
                                   tfrt_string_builder_t* out);

// Decodes the first bytes of |*bytes| to |*out_record|, and takes these off. The error in it is the
// caller's (+1); the elements are borrowed. Thread-compatible.
tfrt_status_t tfrt_collective_record_decode(tfrt_string_view_t* bytes,
                                            tfrt_collective_record_t* out_record) TFRT_MUST_USE;

// Some members of a group, in a circle: |count| of |of|, from |begin| on.
typedef struct tfrt_collective_range_s {
  uint32_t begin;
  uint32_t count;
  uint32_t of;
} tfrt_collective_range_t;

// The position of the member |index| of |range|. Thread-safe.
static inline uint32_t tfrt_collective_range_member(const tfrt_collective_range_t* range,
                                                    uint32_t index) {
  return (uint32_t)(((uint64_t)range->begin + index) % range->of);
}

// Appends the records of the members of |range|, whose |bytes| are indexed by position, to |out|.
// Equal ones behind each other go once, with their number (4 bytes) in front: mostly all are equal.
// Thread-compatible.
void tfrt_collective_runs_encode(const tfrt_string_view_t* bytes,
                                 const tfrt_collective_range_t* range, tfrt_string_builder_t* out);

// Decodes them from |text| to |records| and |bytes|, by position. Records are as of
// tfrt_collective_record_decode(), also those that come before an error. Thread-compatible.
tfrt_status_t tfrt_collective_runs_decode(tfrt_string_view_t text,
                                          const tfrt_collective_range_t* range,
                                          tfrt_collective_record_t* records,
                                          tfrt_string_view_t* bytes) TFRT_MUST_USE;

// Gives back what |record| holds. Thread-compatible.
void tfrt_collective_record_deinitialize(tfrt_collective_record_t* record);

// OK if the |count| members, whose ranks are |ranks|, can do what their |records| say; else
// the error (+1) of the first operand that is one, or INVALID_ARGUMENT that names the first
// two members that differ and in what. The same for all of them. Thread-compatible.
tfrt_status_t tfrt_collective_records_check(const tfrt_collective_record_t* records,
                                            const uint32_t* ranks, uint32_t count) TFRT_MUST_USE;

// The bytes of all elements of the operand of |record|. Thread-safe.
size_t tfrt_collective_record_size(const tfrt_collective_record_t* record);

#endif  // TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_RECORD_H_
