// SPDX-License-Identifier: Apache-2.0

#include "compiler/lowering/block_liveness.h"

static bool number_blocks(tfrt_block_liveness_t* liveness, const tfrt_ir_region_t* region) {
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    block->scratch = liveness->count++;
  }
  size_t count = liveness->count;
  tfrt_allocator_t allocator = liveness->allocator;
  liveness->blocks = tfrt_allocator_allocate_array(allocator, count, sizeof(*liveness->blocks));
  liveness->live = tfrt_allocator_allocate_array(allocator, count, sizeof(*liveness->live));
  liveness->predecessors =
      tfrt_allocator_allocate_array(allocator, count, sizeof(*liveness->predecessors));
  liveness->marks = tfrt_allocator_allocate_array(allocator, count, sizeof(*liveness->marks));
  if (!liveness->blocks || !liveness->live || !liveness->predecessors || !liveness->marks) {
    return false;
  }
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    liveness->blocks[block->scratch] = block;
    liveness->marks[block->scratch] = NULL;
    tfrt_scratch_initialize(&liveness->live[block->scratch], sizeof(tfrt_ir_value_t*), allocator);
    tfrt_scratch_initialize(&liveness->predecessors[block->scratch], sizeof(uint32_t), allocator);
  }
  return true;
}

static bool list_predecessors(tfrt_block_liveness_t* liveness) {
  for (uint32_t i = 0; i < liveness->count; ++i) {
    const tfrt_ir_operation_t* last = liveness->blocks[i]->last;
    for (uint32_t k = 0; last && k < last->successor_count; ++k) {
      uint32_t next = tfrt_ir_operation_successors(last)[k]->scratch;
      if (!tfrt_scratch_push(&liveness->predecessors[next], &i)) return false;
    }
  }
  return true;
}

// Marks |value| as one that lives into |user|, and so into those before it up to its own block.
static bool mark(tfrt_block_liveness_t* liveness, tfrt_scratch_t* pending, tfrt_ir_value_t* value,
                 uint32_t user) {
  uint32_t home = tfrt_ir_value_block(value)->scratch;
  if (user == home || !tfrt_scratch_push(pending, &user)) return user == home;
  while (pending->count) {
    uint32_t block = *(uint32_t*)tfrt_scratch_at(pending, --pending->count);
    if (block == home || liveness->marks[block] == value) continue;
    liveness->marks[block] = value;
    if (!tfrt_scratch_push(&liveness->live[block], &value)) return false;
    for (size_t i = 0; i < liveness->predecessors[block].count; ++i) {
      if (!tfrt_scratch_push(pending, tfrt_scratch_at(&liveness->predecessors[block], i))) {
        return false;
      }
    }
  }
  return true;
}

static bool mark_uses(tfrt_block_liveness_t* liveness, tfrt_scratch_t* pending,
                      tfrt_ir_value_t* value) {
  for (const tfrt_ir_operand_t* use = value->first_use; use; use = use->next) {
    const tfrt_ir_block_t* block = use->owner->block;
    if (block && !mark(liveness, pending, value, block->scratch)) return false;
  }
  return true;
}

static bool mark_all(tfrt_block_liveness_t* liveness, tfrt_scratch_t* pending) {
  for (uint32_t i = 0; i < liveness->count; ++i) {
    const tfrt_ir_block_t* block = liveness->blocks[i];
    for (uint32_t k = 0; k < block->argument_count; ++k) {
      if (!mark_uses(liveness, pending, block->arguments[k])) return false;
    }
    for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
      for (uint32_t k = 0; k < op->result_count; ++k) {
        if (!mark_uses(liveness, pending, &op->results[k])) return false;
      }
    }
  }
  return true;
}

bool tfrt_block_liveness_initialize(tfrt_block_liveness_t* liveness, const tfrt_ir_region_t* region,
                                    tfrt_allocator_t allocator) {
  *liveness = (tfrt_block_liveness_t){.allocator = allocator};
  if (!number_blocks(liveness, region)) {
    liveness->count = 0;
    return false;
  }
  tfrt_scratch_t pending;
  tfrt_scratch_initialize(&pending, sizeof(uint32_t), allocator);
  bool ok = list_predecessors(liveness) && mark_all(liveness, &pending);
  tfrt_scratch_deinitialize(&pending);
  return ok;
}

void tfrt_block_liveness_deinitialize(tfrt_block_liveness_t* liveness) {
  size_t count = liveness->count;
  for (uint32_t i = 0; i < liveness->count; ++i) {
    tfrt_scratch_deinitialize(&liveness->live[i]);
    tfrt_scratch_deinitialize(&liveness->predecessors[i]);
  }
  tfrt_allocator_free(liveness->allocator, liveness->blocks, count * sizeof(*liveness->blocks));
  tfrt_allocator_free(liveness->allocator, liveness->live, count * sizeof(*liveness->live));
  tfrt_allocator_free(liveness->allocator, liveness->predecessors,
                      count * sizeof(*liveness->predecessors));
  tfrt_allocator_free(liveness->allocator, (void*)liveness->marks,
                      count * sizeof(*liveness->marks));
}

tfrt_ir_value_t* const* tfrt_block_liveness_values(const tfrt_block_liveness_t* liveness,
                                                   uint32_t index, uint32_t* out_count) {
  *out_count = (uint32_t)liveness->live[index].count;
  return tfrt_scratch_at(&liveness->live[index], 0);
}
