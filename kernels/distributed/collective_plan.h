// SPDX-License-Identifier: Apache-2.0
//
// The plan of one member of a group for a collective of many elements: a list of steps that send
// and receive, over two arrays of bytes, its operand (input) and its result (output). A plan is
// pure data: its maker knows no network, and its executor knows no algorithm.
//
//   step   SEND     bytes of the input, of the output or of a step before  -> member
//          RECEIVE  bytes <- member; they are the output's, or are combined with the input's, or
//                   with those of a step before
//          COPY     bytes of the input that are the output's too
//
// A step waits for at most one other, |after|. Apart from that any order is right. The executor
// begins the receives in the order of the list, and the sends too, each at most a few ahead. Every
// plan makes progress even with one of each at a time.
//
// Messages between two members are numbered from 0 in either direction; both sides' plans say
// the same number of bytes for the same number.
//
//    all_reduce      ring: n - 1 turns that combine, n - 1 that hand on what is complete; of few
//                    bytes, pairs: log2 n turns in which two members tell each other all they have
//    reduce_scatter  ring: the first half of that
//    all_gather      ring: the second half
//    reduce          chain: from the member farthest behind the root to the root
//    broadcast       chain: the other way
//    all_to_all      n - 1 turns: in turn t to the member t places on
//
// Everything goes in chunks, so that a member hands on the first while it receives the second:
// with k chunks a chain over n members takes k + n - 2 chunk times. No member sends more than
// twice the operand's bytes; in a chain, not more than once; in pairs, log2 n times.
//
// In which order numbers are combined follows from plan and sizes alone: element by element from
// left to right along the ring or chain, or the lower member's first in each pair. So members agree
// to the last bit, and so do two runs.
//
// Life: initialised, filled by one of the makers below, read, deinitialised.
//
// Thread rule: thread-compatible; reading is thread-safe.
// Failure rule: a plan for which there is no memory is *failed*.
#ifndef TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_PLAN_H_
#define TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_PLAN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"

// No step.
#define TFRT_COLLECTIVE_NO_STEP UINT32_MAX

typedef enum tfrt_collective_step_kind_e {
  TFRT_COLLECTIVE_SEND_INPUT = 0,
  TFRT_COLLECTIVE_SEND_OUTPUT,
  TFRT_COLLECTIVE_SEND_STEP,        // what the step |after| made
  TFRT_COLLECTIVE_RECEIVE_STORE,    // output = received
  TFRT_COLLECTIVE_RECEIVE_COMBINE,  // output = received OP own
  TFRT_COLLECTIVE_RECEIVE_RELAY,    // made here = received OP own, for a SEND_STEP
  TFRT_COLLECTIVE_COPY,             // output = input
} tfrt_collective_step_kind_t;

typedef struct tfrt_collective_step_s {
  uint8_t kind;
  bool finish;      // of a combination: it is the last one
  bool joins;       // of a combination: own is what the step |after| made; else it is the input
  bool own_first;   // of a combination: own OP received
  uint32_t member;  // position; of the other side
  uint32_t number;  // of the message
  uint32_t after;   // index, or TFRT_COLLECTIVE_NO_STEP
  size_t input;     // offset in bytes, where the kind has one
  size_t output;    // likewise
  size_t size;      // in bytes, more than 0
} tfrt_collective_step_t;

typedef struct tfrt_collective_plan_s {
  tfrt_allocator_t allocator;
  uint32_t count;     // of the members
  uint32_t position;  // whose plan it is
  size_t chunk;       // the most bytes in one message
  tfrt_collective_step_t* steps;
  uint32_t step_count;
  uint32_t step_capacity;
  uint32_t* numbers;  // of the next message to each member, and from each
  bool failed;
} tfrt_collective_plan_t;

// A range of bytes of each member: those of member i begin at |offsets[i]| and end where those
// of member i + 1 begin; there are count + 1 offsets.
typedef const size_t* tfrt_collective_parts_t;

// Makes |plan| an empty one of the member |position| of |count|, in chunks of |chunk| bytes,
// which is a multiple of the size of an element. Thread-compatible.
void tfrt_collective_plan_initialize(tfrt_collective_plan_t* plan, uint32_t count,
                                     uint32_t position, size_t chunk, tfrt_allocator_t allocator);

// Gives back the memory of |plan|. Thread-compatible.
void tfrt_collective_plan_deinitialize(tfrt_collective_plan_t* plan);

// Appends a step, whose |number| is filled in; returns its index, or TFRT_COLLECTIVE_NO_STEP.
// Thread-compatible.
uint32_t tfrt_collective_plan_add(tfrt_collective_plan_t* plan, const tfrt_collective_step_t* step);

// Returns true if |step| receives. Thread-safe.
bool tfrt_collective_step_receives(const tfrt_collective_step_t* step);

// --- The makers; each is a file of its own, or shares one with its other half ----------------

// collective_ring.c. |parts| cut the operand, which all members have alike, into one part per
// member: the whole is the result of each (all_reduce), or part i that of member i. All
// Thread-compatible.
void tfrt_collective_plan_all_reduce(tfrt_collective_plan_t* plan, tfrt_collective_parts_t parts);
void tfrt_collective_plan_reduce_scatter(tfrt_collective_plan_t* plan,
                                         tfrt_collective_parts_t parts);
// Part i of the result is the operand of member i.
void tfrt_collective_plan_all_gather(tfrt_collective_plan_t* plan, tfrt_collective_parts_t parts);

// collective_pairs.c. The operand, which all members have alike, has |size| bytes; the whole is the
// result of each. Thread-compatible.
void tfrt_collective_plan_all_reduce_in_pairs(tfrt_collective_plan_t* plan, size_t size);

// Returns true if in that plan of |count| members one of |a| and |b| sends something to the other.
// Thread-safe.
bool tfrt_collective_plan_are_paired(uint32_t count, uint32_t a, uint32_t b);

// collective_chain.c. The operand has |size| bytes. Thread-compatible.
void tfrt_collective_plan_broadcast(tfrt_collective_plan_t* plan, uint32_t root, size_t size);
void tfrt_collective_plan_reduce(tfrt_collective_plan_t* plan, uint32_t root, size_t size);

// collective_exchange.c. |sizes| has a row for each member: how many bytes it has for each.
// Thread-compatible.
void tfrt_collective_plan_all_to_all(tfrt_collective_plan_t* plan, const size_t* sizes);

#endif  // TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_PLAN_H_
