// SPDX-License-Identifier: Apache-2.0

#include "compiler/analysis/dominance.h"

#define NONE UINT32_MAX

// A block while a walk is in it, and which of its successors, or children, comes next.
typedef struct step_s {
  const tfrt_ir_block_t* block;
  uint32_t next;
} step_t;

// --- The order of blocks --------------------------------------------------------------------

static uint32_t successor_count(const tfrt_ir_block_t* block) {
  return block->last ? block->last->successor_count : 0;
}

static const tfrt_ir_block_t* successor(const tfrt_ir_block_t* block, uint32_t index) {
  return tfrt_ir_operation_successors(block->last)[index];
}

// Lists the blocks that can be reached in reverse postorder, and numbers them so.
static bool order_blocks(tfrt_dominance_t* dominance, uint32_t count) {
  step_t* path = tfrt_arena_allocate_array(&dominance->arena, count, sizeof(*path));
  const tfrt_ir_block_t** blocks =
      tfrt_arena_allocate_array(&dominance->arena, count, sizeof(*blocks));
  if (!path || !blocks) return false;
  uint32_t depth = 0;
  uint32_t place = count;
  tfrt_ir_block_t* entry = dominance->region->first_block;
  for (tfrt_ir_block_t* block = entry; block; block = block->next) block->scratch = NONE;
  entry->scratch = 0;
  path[depth++] = (step_t){entry, 0};
  while (depth) {
    step_t* top = &path[depth - 1];
    if (top->next == successor_count(top->block)) {
      blocks[--place] = top->block;
      --depth;
      continue;
    }
    tfrt_ir_block_t* next = (tfrt_ir_block_t*)successor(top->block, top->next++);
    if (next->scratch != NONE) continue;
    next->scratch = 0;
    path[depth++] = (step_t){next, 0};
  }
  dominance->blocks = blocks + place;
  dominance->block_count = count - place;
  for (uint32_t i = 0; i < dominance->block_count; ++i) {
    ((tfrt_ir_block_t*)dominance->blocks[i])->scratch = i;
  }
  return true;
}

// --- The tree -------------------------------------------------------------------------------

static uint32_t common_dominator(const uint32_t* immediate, uint32_t a, uint32_t b) {
  while (a != b) {
    while (a > b) a = immediate[a];
    while (b > a) b = immediate[b];
  }
  return a;
}

// The predecessors of the blocks: those of block i stand from |first[i]| to |first[i + 1]|.
typedef struct predecessors_s {
  uint32_t* first;
  uint32_t* blocks;
} predecessors_t;

static bool list_predecessors(tfrt_dominance_t* dominance, predecessors_t* list) {
  uint32_t count = dominance->block_count;
  size_t edge_count = 0;
  list->first = tfrt_arena_allocate_array(&dominance->arena, (size_t)count + 2, sizeof(uint32_t));
  if (!list->first) return false;
  // Counted one place further on than they will begin.
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < successor_count(dominance->blocks[i]); ++k, ++edge_count) {
      ++list->first[successor(dominance->blocks[i], k)->scratch + 2];
    }
  }
  for (uint32_t i = 2; i < count + 2; ++i) list->first[i] += list->first[i - 1];
  list->blocks = tfrt_arena_allocate_array(&dominance->arena, edge_count + 1, sizeof(uint32_t));
  if (!list->blocks) return false;
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < successor_count(dominance->blocks[i]); ++k) {
      list->blocks[list->first[successor(dominance->blocks[i], k)->scratch + 1]++] = i;
    }
  }
  return true;
}

// Finds the nearest dominator of each block: improved in their order until nothing changes.
static bool find_immediate(tfrt_dominance_t* dominance) {
  predecessors_t list;
  uint32_t count = dominance->block_count;
  uint32_t* immediate = tfrt_arena_allocate_array(&dominance->arena, count, sizeof(*immediate));
  if (!immediate || !list_predecessors(dominance, &list)) return false;
  dominance->immediate = immediate;
  for (uint32_t i = 1; i < count; ++i) immediate[i] = NONE;
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t i = 1; i < count; ++i) {
      uint32_t nearest = NONE;
      for (uint32_t k = list.first[i]; k < list.first[i + 1]; ++k) {
        uint32_t block = list.blocks[k];
        if (immediate[block] == NONE) continue;
        nearest = nearest == NONE ? block : common_dominator(immediate, nearest, block);
      }
      changed = changed || immediate[i] != nearest;
      immediate[i] = nearest;
    }
  }
  return true;
}

// Numbers the tree, so that a dominator's interval holds those of what it dominates. A block comes
// behind its dominator in the order, so children are listed from the last one on.
static bool number_tree(tfrt_dominance_t* dominance) {
  uint32_t count = dominance->block_count;
  tfrt_arena_t* arena = &dominance->arena;
  uint32_t* first_child = tfrt_arena_allocate_array(arena, count, sizeof(uint32_t));
  uint32_t* next_sibling = tfrt_arena_allocate_array(arena, count, sizeof(uint32_t));
  uint32_t* path = tfrt_arena_allocate_array(arena, count, sizeof(uint32_t));
  dominance->enter = tfrt_arena_allocate_array(arena, count, sizeof(uint32_t));
  dominance->leave = tfrt_arena_allocate_array(arena, count, sizeof(uint32_t));
  if (!first_child || !next_sibling || !path || !dominance->enter || !dominance->leave) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) first_child[i] = NONE;
  for (uint32_t i = count; i-- > 1;) {
    next_sibling[i] = first_child[dominance->immediate[i]];
    first_child[dominance->immediate[i]] = i;
  }
  uint32_t depth = 0;
  uint32_t time = 0;
  path[depth++] = 0;
  dominance->enter[0] = time++;
  while (depth) {
    uint32_t top = path[depth - 1];
    uint32_t child = first_child[top];
    if (child == NONE) {
      dominance->leave[top] = time++;
      --depth;
      continue;
    }
    first_child[top] = next_sibling[child];
    dominance->enter[child] = time++;
    path[depth++] = child;
  }
  return true;
}

// --- Interface --------------------------------------------------------------------------------

tfrt_status_t tfrt_dominance_initialize(tfrt_dominance_t* dominance, const tfrt_ir_region_t* region,
                                        tfrt_allocator_t allocator) {
  *dominance = (tfrt_dominance_t){.region = region};
  tfrt_arena_initialize(&dominance->arena, allocator);
  uint32_t count = 0;
  for (const tfrt_ir_block_t* block = region->first_block; block; block = block->next) ++count;
  if (order_blocks(dominance, count) && find_immediate(dominance) && number_tree(dominance)) {
    return NULL;
  }
  tfrt_arena_deinitialize(&dominance->arena);
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for dominators");
}

void tfrt_dominance_deinitialize(tfrt_dominance_t* dominance) {
  tfrt_arena_deinitialize(&dominance->arena);
}

bool tfrt_dominance_is_reachable(const tfrt_dominance_t* dominance, const tfrt_ir_block_t* block) {
  return block->scratch < dominance->block_count && dominance->blocks[block->scratch] == block;
}

bool tfrt_dominance_holds(const tfrt_dominance_t* dominance, const tfrt_ir_block_t* first,
                          const tfrt_ir_block_t* second) {
  if (!tfrt_dominance_is_reachable(dominance, second)) return true;
  if (!tfrt_dominance_is_reachable(dominance, first)) return false;
  return dominance->enter[first->scratch] <= dominance->enter[second->scratch] &&
         dominance->leave[first->scratch] >= dominance->leave[second->scratch];
}
