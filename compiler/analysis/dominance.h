// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a region control must have passed before it is in another one: block A dominates
// block B if each path from the entry to B leads through A. A value of A may then be used in B.
//
//   entry --> a --> c        a and b dominate themselves only, the entry dominates all, and c
//     \-----> b --/          is dominated by the entry alone
//
// Blocks that no path leads to are dominated by every block.
//
// Life: initialised from a region, whose blocks' scratch words it uses while it lives; asked;
// deinitialised. It doesn't follow later changes.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: RESOURCE_EXHAUSTED. Source of the algorithm: Cooper, Harvey, Kennedy, "A simple,
// fast dominance algorithm" (2001).
#ifndef TFRT_COMPILER_ANALYSIS_DOMINANCE_H_
#define TFRT_COMPILER_ANALYSIS_DOMINANCE_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/arena.h"

typedef struct tfrt_dominance_s {
  tfrt_arena_t arena;
  const tfrt_ir_region_t* region;
  uint32_t block_count;            // of those that a path leads to
  const tfrt_ir_block_t** blocks;  // these, each before those that only it leads to
  uint32_t* immediate;             // of each of them: the number of the nearest dominator
  uint32_t* enter;                 // of each of them: when a walk over the tree of dominators
  uint32_t* leave;                 // comes to it, and goes from it
} tfrt_dominance_t;

// Makes |dominance| that of |region|, which has a block. Thread-compatible (caller synchronises).
tfrt_status_t tfrt_dominance_initialize(tfrt_dominance_t* dominance, const tfrt_ir_region_t* region,
                                        tfrt_allocator_t allocator) TFRT_MUST_USE;

// Gives back the memory of |dominance|. Thread-compatible (caller synchronises).
void tfrt_dominance_deinitialize(tfrt_dominance_t* dominance);

// Returns true if |block|, of the region, can be reached. Thread-safe.
bool tfrt_dominance_is_reachable(const tfrt_dominance_t* dominance, const tfrt_ir_block_t* block);

// Returns true if |first| dominates |second|, both of the region. Thread-safe.
bool tfrt_dominance_holds(const tfrt_dominance_t* dominance, const tfrt_ir_block_t* first,
                          const tfrt_ir_block_t* second);

#endif  // TFRT_COMPILER_ANALYSIS_DOMINANCE_H_
