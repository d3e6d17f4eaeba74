// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/canonicalizer.h"

#include "compiler/ir/scratch.h"
#include "compiler/passes/common_ops.h"
#include "compiler/passes/pass.h"

// Times that a block is gone through at most: what one finds is nearly always the last.
#define MAX_ROUNDS 8

// The ops that are looked at.
typedef enum scope_e {
  MERGES = 0,
  MERGES_AND_PURE_OPS,
} scope_t;

typedef struct canonicalizer_s {
  tfrt_ir_context_t* context;
  scope_t scope;
  tfrt_scratch_t merges;    // of merge_place_t: the way to the operand that is gathered
  tfrt_scratch_t operands;  // of tfrt_ir_value_t*: what a merge waits for
  uint32_t stamp;           // of the scratch words that the last merge has marked; never 0
  bool changed;
} canonicalizer_t;

// A merge whose operands from |next| on were not gathered yet.
typedef struct merge_place_s {
  const tfrt_ir_operation_t* merge;
  uint32_t next;
} merge_place_t;

static bool is_merge(const tfrt_ir_operation_t* op) {
  return op && op->descriptor && tfrt_ir_operation_is(op, "tfrt.merge.chains") &&
         op->result_count == 1 && !op->region_count;
}

// --- Ops that do nothing ----------------------------------------------------------------

static bool is_unused(const tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (op->results[i].first_use) return false;
  }
  return true;
}

// Erases the ops of |block| that can be missed: those that do nothing but give results.
static void erase_unused(canonicalizer_t* canonicalizer, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->last; op;) {
    tfrt_ir_operation_t* previous = op->previous;
    bool is_pure = canonicalizer->scope == MERGES_AND_PURE_OPS && op->descriptor &&
                   op->descriptor->flags & TFRT_KERNEL_PURE && !op->region_count;
    if ((is_pure || is_merge(op)) && is_unused(op)) {
      tfrt_ir_operation_erase(op);
      canonicalizer->changed = true;
    }
    op = previous;
  }
}

// --- What a merge waits for -----------------------------------------------------------------

// Whether |op| becomes part of the merge that uses it.
static bool is_absorbed(const tfrt_ir_operation_t* op) {
  if (!is_merge(op) || op->attribute_count || !tfrt_ir_value_has_one_use(&op->results[0]))
    return false;
  const tfrt_ir_operation_t* user = op->results[0].first_use->owner;
  return is_merge(user) && user->block == op->block;
}

// Gathers what |merge| waits for, with what the merges wait for that it absorbs, in order. A
// path of its own takes the place of recursion: merges may be chained without end.
static bool gather_operands(canonicalizer_t* canonicalizer, const tfrt_ir_operation_t* merge) {
  canonicalizer->operands.count = 0;
  canonicalizer->merges.count = 0;
  merge_place_t place = {merge, 0};
  if (!tfrt_scratch_push(&canonicalizer->merges, &place)) return false;
  while (canonicalizer->merges.count) {
    merge_place_t* top = tfrt_scratch_at(&canonicalizer->merges, canonicalizer->merges.count - 1);
    if (top->next == top->merge->operand_count) {
      --canonicalizer->merges.count;
      continue;
    }
    tfrt_ir_value_t* value = top->merge->operands[top->next++].value;
    bool ok;
    if (value->producer && is_absorbed(value->producer)) {
      place = (merge_place_t){value->producer, 0};
      ok = tfrt_scratch_push(&canonicalizer->merges, &place);
    } else {
      ok = tfrt_scratch_push(&canonicalizer->operands, &value);
    }
    if (!ok) return false;
  }
  return true;
}

static tfrt_ir_value_t* operand_at(const canonicalizer_t* canonicalizer, size_t index) {
  return *(tfrt_ir_value_t**)tfrt_scratch_at(&canonicalizer->operands, index);
}

// Marks all values that some gathered operand covers. Only ops are followed whose results are
// settled after the operand that is asked about, and errors if it is one.
static void mark_covered(canonicalizer_t* canonicalizer) {
  const tfrt_ir_operation_t* reached[TFRT_CANONICALIZER_MAX_STEPS];
  size_t count = 0;
  uint32_t stamp = ++canonicalizer->stamp;
  for (size_t i = 0; i < canonicalizer->operands.count; ++i) {
    tfrt_ir_operation_t* producer = operand_at(canonicalizer, i)->producer;
    if (!producer || producer->scratch == stamp || count == TFRT_ARRAY_SIZE(reached)) continue;
    producer->scratch = stamp;
    reached[count++] = producer;
  }
  for (size_t i = 0; i < count; ++i) {
    const tfrt_ir_operation_t* op = reached[i];
    if (!op->descriptor || tfrt_ir_operation_attribute(op, "bef.nonstrict")) continue;
    for (uint32_t k = 0; k < op->operand_count; ++k) {
      const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(op->descriptor, k);
      if (entry && entry->use == TFRT_OPERAND_PASSED) continue;
      tfrt_ir_value_t* value = op->operands[k].value;
      value->scratch = stamp;
      tfrt_ir_operation_t* producer = value->producer;
      if (!producer || producer->scratch == stamp || count == TFRT_ARRAY_SIZE(reached)) continue;
      producer->scratch = stamp;
      reached[count++] = producer;
    }
  }
}

// Leaves the gathered operands that no other one covers, each once.
static void drop_covered(canonicalizer_t* canonicalizer) {
  mark_covered(canonicalizer);
  size_t kept = 0;
  for (size_t i = 0; i < canonicalizer->operands.count; ++i) {
    tfrt_ir_value_t* value = operand_at(canonicalizer, i);
    if (value->scratch == canonicalizer->stamp) continue;
    value->scratch = canonicalizer->stamp;  // the next one like it is one too many
    *(tfrt_ir_value_t**)tfrt_scratch_at(&canonicalizer->operands, kept++) = value;
  }
  canonicalizer->operands.count = kept;
}

// --- Merges -----------------------------------------------------------------------------------

// Lets |merge| wait for the gathered operands only.
static bool replace_operands(canonicalizer_t* canonicalizer, tfrt_ir_operation_t* merge) {
  tfrt_ir_operation_parts_t parts = {
      .name = merge->name,
      .descriptor = merge->descriptor,
      .location = merge->location,
      .operands = tfrt_scratch_at(&canonicalizer->operands, 0),
      .operand_count = (uint32_t)canonicalizer->operands.count,
      .result_types = &merge->results[0].type,
      .result_count = 1,
      .attributes = merge->attributes,
      .attribute_count = merge->attribute_count,
  };
  tfrt_ir_operation_t* replacement = tfrt_ir_operation_create(canonicalizer->context, &parts);
  if (!replacement) return false;
  replacement->text_offset = merge->text_offset;
  replacement->results[0].name = merge->results[0].name;
  tfrt_ir_block_insert_before(merge, replacement);
  tfrt_ir_value_replace_all_uses(&merge->results[0], &replacement->results[0]);
  tfrt_ir_operation_erase(merge);
  canonicalizer->changed = true;
  return true;
}

static bool fold_merge(canonicalizer_t* canonicalizer, tfrt_ir_operation_t* merge) {
  if (is_absorbed(merge)) return true;
  if (!gather_operands(canonicalizer, merge)) return false;
  drop_covered(canonicalizer);
  tfrt_ir_value_t* only = canonicalizer->operands.count == 1 ? operand_at(canonicalizer, 0) : NULL;
  bool is_chain = only && only->type == merge->results[0].type;
  if (is_chain && (only->producer || !tfrt_ir_value_has_one_use(only))) {
    tfrt_ir_value_replace_all_uses(&merge->results[0], only);
    tfrt_ir_operation_erase(merge);
    canonicalizer->changed = true;
    return true;
  }
  bool is_same = canonicalizer->operands.count == merge->operand_count;
  for (uint32_t i = 0; is_same && i < merge->operand_count; ++i) {
    is_same = merge->operands[i].value == operand_at(canonicalizer, i);
  }
  return is_same || replace_operands(canonicalizer, merge);
}

// --- Blocks -------------------------------------------------------------------------------------

static bool canonicalize_block(canonicalizer_t* canonicalizer, tfrt_ir_block_t* block) {
  for (int round = 0; round < MAX_ROUNDS; ++round) {
    canonicalizer->changed = false;
    erase_unused(canonicalizer, block);
    if (canonicalizer->scope == MERGES_AND_PURE_OPS &&
        !tfrt_merge_common_ops(canonicalizer->context, block, &canonicalizer->changed)) {
      return false;
    }
    for (tfrt_ir_operation_t* op = block->first; op;) {
      tfrt_ir_operation_t* next = op->next;
      if (is_merge(op) && !fold_merge(canonicalizer, op)) return false;
      op = next;
    }
    if (!canonicalizer->changed) return true;
  }
  return true;
}

// The parser's nesting limit bounds the recursion.
static bool canonicalize_regions(canonicalizer_t* canonicalizer, tfrt_ir_operation_t* op) {
  if (tfrt_ir_is_compiled_module(op)) return true;
  if (tfrt_ir_is_function(op) && tfrt_ir_operation_attribute(op, "tfrt.sync")) return true;
  // Nobody knows what the regions of an unknown op mean.
  bool is_known = op->descriptor || tfrt_ir_is_function(op);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    tfrt_ir_block_t* block = tfrt_ir_region_single_block(&op->regions[i]);
    if (!block) continue;
    for (tfrt_ir_operation_t* inner = block->first; inner; inner = inner->next) {
      if (!canonicalize_regions(canonicalizer, inner)) return false;
    }
    if (is_known && !canonicalize_block(canonicalizer, block)) return false;
  }
  return true;
}

// Sets the scratch words of |op| and of what it defines to what is no stamp.
static bool clear_marks(tfrt_ir_operation_t* op, void* user_data) {
  (void)user_data;
  op->scratch = 0;
  for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].scratch = 0;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    for (tfrt_ir_block_t* block = op->regions[i].first_block; block; block = block->next) {
      for (uint32_t k = 0; k < block->argument_count; ++k) block->arguments[k]->scratch = 0;
    }
  }
  return true;
}

static bool run(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                tfrt_diagnostics_t* diagnostics, scope_t scope) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  canonicalizer_t canonicalizer = {.context = context, .scope = scope};
  tfrt_scratch_initialize(&canonicalizer.merges, sizeof(merge_place_t), allocator);
  tfrt_scratch_initialize(&canonicalizer.operands, sizeof(tfrt_ir_value_t*), allocator);
  tfrt_ir_operation_walk(module, clear_marks, NULL);
  bool ok = canonicalize_regions(&canonicalizer, module);
  tfrt_scratch_deinitialize(&canonicalizer.merges);
  tfrt_scratch_deinitialize(&canonicalizer.operands);
  if (ok) return true;
  tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module, "out of memory to canonicalize");
  return false;
}

bool tfrt_canonicalize(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                       tfrt_diagnostics_t* diagnostics) {
  return run(context, module, diagnostics, MERGES_AND_PURE_OPS);
}

bool tfrt_merge_chains(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                       tfrt_diagnostics_t* diagnostics) {
  return run(context, module, diagnostics, MERGES);
}
