// SPDX-License-Identifier: Apache-2.0
//
// The values that live into each block of a region: defined in another one and used in it, or in
// one that control may come to from it.
//
// Life: initialised from a region, whose blocks' scratch words number them from then on; read;
// deinitialised.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: false when memory is out.
#ifndef TFRT_COMPILER_LOWERING_BLOCK_LIVENESS_H_
#define TFRT_COMPILER_LOWERING_BLOCK_LIVENESS_H_

#include "compiler/ir/ir.h"
#include "compiler/ir/scratch.h"

typedef struct tfrt_block_liveness_s {
  tfrt_allocator_t allocator;
  tfrt_ir_block_t** blocks;       // in their order
  tfrt_scratch_t* live;           // of each: tfrt_ir_value_t*
  tfrt_scratch_t* predecessors;   // of each: uint32_t
  const tfrt_ir_value_t** marks;  // of each: the value that was found to live into it last
  uint32_t count;
} tfrt_block_liveness_t;

// Makes |liveness| that of |region|, whose ops have no regions that see out. Thread-compatible
// (caller synchronises).
bool tfrt_block_liveness_initialize(tfrt_block_liveness_t* liveness, const tfrt_ir_region_t* region,
                                    tfrt_allocator_t allocator);
void tfrt_block_liveness_deinitialize(tfrt_block_liveness_t* liveness);

// The values that live into block |index|, |*out_count| of them. Thread-safe.
tfrt_ir_value_t* const* tfrt_block_liveness_values(const tfrt_block_liveness_t* liveness,
                                                   uint32_t index, uint32_t* out_count);

#endif  // TFRT_COMPILER_LOWERING_BLOCK_LIVENESS_H_
