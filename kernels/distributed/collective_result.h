// SPDX-License-Identifier: Apache-2.0
//
// The result of a collective, once the records of all members are known and agree: its dtype and
// shape, and the plan by which its elements come or, when they came with the records, the elements.
//
//    kind            result at position p of n members
//    all_reduce      all operands combined
//    reduce          the same at the root; elsewhere the own operand
//    reduce_scatter  part p of all operands combined
//    all_gather      the operands behind one another along axis 0
//    broadcast       the root's operand
//    all_to_all      part p of each operand, behind one another along axis 0
//
// Parts are rows (steps along axis 0) that follow each other: of r rows the first r mod n
// members have one more than the others.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: INVALID_ARGUMENT for a result that is too large; RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_RESULT_H_
#define TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_RESULT_H_

#include "host_runtime/tensor/dense_host_tensor.h"
#include "kernels/distributed/collective_plan.h"
#include "kernels/distributed/collective_record.h"

// Elements go in messages of at most MIN_CHUNK to MAX_CHUNK bytes. The fixed cost of a message
// counts less in large ones. But few messages overlap less with the work on them, so the greatest
// operand is cut into at least MIN_CHUNKS.
#define TFRT_COLLECTIVE_MIN_CHUNK ((size_t)512 << 10)
#define TFRT_COLLECTIVE_MAX_CHUNK ((size_t)2 << 20)
#define TFRT_COLLECTIVE_MIN_CHUNKS 16

// An all_reduce of at most this many bytes goes in pairs, a larger one in a ring: pairs have fewer
// messages, a ring fewer bytes.
#define TFRT_COLLECTIVE_MAX_PAIRS TFRT_COLLECTIVE_MIN_CHUNK

// The records of all members and whose result is asked for. Borrowed.
typedef struct tfrt_collective_view_s {
  const tfrt_collective_record_t* records;  // of |count| members, by position; they agree
  uint32_t count;
  uint32_t position;
} tfrt_collective_view_t;

// Returns true if the result is the member's own operand, as it is. Thread-compatible.
bool tfrt_collective_result_is_operand(const tfrt_collective_view_t* view);

// Returns true if all elements that the result needs are in the records. Thread-compatible.
bool tfrt_collective_result_is_here(const tfrt_collective_view_t* view);

// Sets |*out_dtype| and |*out_shape| to those of the result. Thread-compatible.
tfrt_status_t tfrt_collective_result_describe(const tfrt_collective_view_t* view,
                                              tfrt_dtype_t* out_dtype, tfrt_shape_t* out_shape)
    TFRT_MUST_USE;

// Makes |*out_tensor| the result with undefined elements. Thread-compatible.
tfrt_status_t tfrt_collective_result_initialize(const tfrt_collective_view_t* view,
                                                tfrt_allocator_t allocator,
                                                tfrt_dense_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Fills |result|, which was made so, from the records, which have all elements. Numbers are
// combined in the order of positions. Thread-compatible.
tfrt_status_t tfrt_collective_result_fill(const tfrt_collective_view_t* view,
                                          tfrt_allocator_t allocator,
                                          tfrt_dense_host_tensor_t* result) TFRT_MUST_USE;

// The size of the chunks of the members' plans in bytes: the same for all of them, and the least
// size if one is of a version that knows no other. Thread-compatible.
size_t tfrt_collective_result_chunk(const tfrt_collective_view_t* view);

// Fills |plan|, an empty one of the member, with how the result's elements come.
// RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_collective_result_plan(const tfrt_collective_view_t* view,
                                          tfrt_collective_plan_t* plan) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_RESULT_H_
