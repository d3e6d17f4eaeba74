// SPDX-License-Identifier: Apache-2.0

#include <string.h>

#include "compiler/analysis/effect_analysis_impl.h"
#include "compiler/op_table/schema.h"

// An entry of an open list.
typedef struct entry_s {
  tfrt_access_t access;
  uint32_t slot;  // what the slot of the place was before
} entry_t;

// --- Lists of accesses -----------------------------------------------------------------------

void tfrt_effect_initialize_lists(tfrt_effect_analysis_t* analysis) {
  tfrt_scratch_initialize(&analysis->entries, sizeof(entry_t), analysis->allocator);
  tfrt_scratch_initialize(&analysis->slots, sizeof(uint32_t), analysis->allocator);
  tfrt_scratch_initialize(&analysis->found, sizeof(tfrt_access_t), analysis->allocator);
  tfrt_scratch_initialize(&analysis->first, tfrt_effect_first_size, analysis->allocator);
}

tfrt_access_list_t tfrt_effect_begin_list(tfrt_effect_analysis_t* analysis) {
  tfrt_access_list_t list = {analysis->entries.count, analysis->list};
  analysis->list = (uint32_t)list.mark;
  return list;
}

static uint32_t* slot_of(tfrt_effect_analysis_t* analysis, tfrt_place_t place) {
  while (analysis->slots.count <= place) {
    uint32_t none = UINT32_MAX;
    if (!tfrt_scratch_push(&analysis->slots, &none)) {
      analysis->failed = true;
      return NULL;
    }
  }
  return tfrt_scratch_at(&analysis->slots, place);
}

void tfrt_effect_end_list(tfrt_effect_analysis_t* analysis, tfrt_access_list_t list) {
  analysis->found.count = 0;
  for (size_t i = list.mark; i < analysis->entries.count; ++i) {
    const entry_t* entry = tfrt_scratch_at(&analysis->entries, i);
    if (!tfrt_scratch_push(&analysis->found, &entry->access)) analysis->failed = true;
  }
  while (analysis->entries.count > list.mark) {
    const entry_t* entry = tfrt_scratch_at(&analysis->entries, --analysis->entries.count);
    *(uint32_t*)tfrt_scratch_at(&analysis->slots, entry->access.place) = entry->slot;
  }
  analysis->list = list.outer;
}

// The bits of |place| in the open list, which it is added to; NULL when memory is out.
static uint32_t* bits_of(tfrt_effect_analysis_t* analysis, tfrt_place_t place) {
  uint32_t* slot = slot_of(analysis, place);
  if (!slot) return NULL;
  if (*slot == UINT32_MAX || *slot < analysis->list) {
    entry_t entry = {{place, 0}, *slot};
    *slot = (uint32_t)analysis->entries.count;
    if (!tfrt_scratch_push(&analysis->entries, &entry)) {
      *slot = entry.slot;
      analysis->failed = true;
      return NULL;
    }
  }
  return &((entry_t*)tfrt_scratch_at(&analysis->entries, *slot))->access.bits;
}

void tfrt_effect_add_next(tfrt_effect_analysis_t* analysis, tfrt_place_t place, uint32_t bits) {
  uint32_t* own = bits_of(analysis, place);
  if (!own) return;
  if (!(*own & TFRT_ACCESS_WRITES)) *own |= bits & TFRT_ACCESS_READS_FIRST;
  if (bits & TFRT_ACCESS_WRITES) *own &= ~(uint32_t)TFRT_ACCESS_READS_LAST;
  *own |= bits & (TFRT_ACCESS_WRITES | TFRT_ACCESS_READS_LAST);
}

void tfrt_effect_add_other(tfrt_effect_analysis_t* analysis, tfrt_place_t place, uint32_t bits) {
  uint32_t* own = bits_of(analysis, place);
  if (own) *own |= bits;
}

// --- What an entry says ------------------------------------------------------------------------

static void add_value(tfrt_effect_analysis_t* analysis, const tfrt_ir_value_t* value, bool writes) {
  tfrt_place_t place = tfrt_effect_place(analysis, value);
  if (place == TFRT_PLACE_NONE) return;
  tfrt_effect_add_other(analysis, place, writes ? TFRT_ACCESS_WRITES : TFRT_ACCESS_READ);
}

// Adds an access of the file that |op| names, or of all files.
static void add_file(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op,
                     uint32_t bits) {
  tfrt_place_t place = tfrt_effect_file(analysis, op);
  tfrt_effect_add_other(analysis, place, bits);
  if (place != TFRT_PLACE_FILES) return;
  for (uint32_t i = TFRT_PLACE_FIRST_FILE; i < TFRT_PLACE_OUTSIDE_COUNT; ++i) {
    if (analysis->outside >> i & 1) tfrt_effect_add_other(analysis, i, bits);
  }
}

static void add_outside(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op,
                        tfrt_kernel_effects_t effects) {
  static const struct {
    tfrt_kernel_effects_t effect;
    tfrt_place_t place;
  } outside[] = {
      {TFRT_EFFECT_OUTPUT, TFRT_PLACE_OUTPUT},
      {TFRT_EFFECT_MESSAGES, TFRT_PLACE_MESSAGES},
      {TFRT_EFFECT_STATE, TFRT_PLACE_STATE},
  };
  // As readers, equals wait for the others and not for each other.
  uint32_t bits = effects & TFRT_EFFECT_IN_ANY_ORDER ? TFRT_ACCESS_READ : TFRT_ACCESS_WRITES;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(outside); ++i) {
    if (effects & outside[i].effect) tfrt_effect_add_other(analysis, outside[i].place, bits);
  }
  if (effects & TFRT_EFFECT_FILE_READ) add_file(analysis, op, TFRT_ACCESS_READ);
  if (effects & TFRT_EFFECT_FILE_WRITE) add_file(analysis, op, TFRT_ACCESS_WRITES);
  if (!(effects & TFRT_EFFECT_EVERYTHING)) return;
  // Places that no entry of this program names need no order; one is left at least.
  uint32_t named = analysis->outside ? analysis->outside : 1u << TFRT_PLACE_STATE;
  for (uint32_t i = 0; i < TFRT_PLACE_OUTSIDE_COUNT; ++i) {
    if (named >> i & 1) tfrt_effect_add_other(analysis, i, TFRT_ACCESS_WRITES);
  }
}

static void add_operand(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op,
                        uint32_t index, tfrt_kernel_effects_t effects) {
  const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(op->descriptor, index);
  const tfrt_ir_value_t* value = op->operands[index].value;
  if (!entry || entry->use == TFRT_OPERAND_AWAITED) return;
  bool keeps_order = tfrt_kernel_descriptor_list_has(op->descriptor->orders, entry->name) &&
                     !tfrt_schema_only_reads(op, index);
  bool writes = entry->use == TFRT_OPERAND_MUTATED || keeps_order;
  bool reads = !(effects & TFRT_EFFECT_READS_NO_CONTENTS);
  // The functions' own ports say how they use it.
  if (effects & TFRT_EFFECT_OF_FUNCTIONS && entry->use == TFRT_OPERAND_PASSED) reads = false;
  if (writes || reads) add_value(analysis, value, writes);
}

static void add_entry(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  if (!op->descriptor) {
    add_outside(analysis, op, TFRT_EFFECT_EVERYTHING);
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      add_value(analysis, op->operands[i].value, true);
    }
    return;
  }
  tfrt_kernel_effects_t effects = tfrt_kernel_descriptor_effects(op->descriptor);
  add_outside(analysis, op, effects);
  for (uint32_t i = 0; i < op->operand_count; ++i) add_operand(analysis, op, i, effects);
}

// --- What functions and regions do ---------------------------------------------------------------

// Native code may do anything.
static void add_native(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  add_outside(analysis, op, TFRT_EFFECT_EVERYTHING);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    add_value(analysis, op->operands[i].value, true);
  }
}

static void add_callees(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  const tfrt_effect_function_t* callee = tfrt_effect_named_function(analysis, op, 0);
  for (uint32_t i = 0; callee; callee = tfrt_effect_named_function(analysis, op, ++i)) {
    if (!callee->block) add_native(analysis, op);
    const tfrt_scratch_t* ports = tfrt_effect_ports(analysis, callee);
    for (size_t k = 0; k < ports->count; ++k) {
      const tfrt_port_t* port = tfrt_scratch_at(ports, k);
      tfrt_place_t place = tfrt_effect_port_place_of(analysis, op, callee, port);
      if (place != TFRT_PLACE_NONE) tfrt_effect_add_other(analysis, place, port->bits);
    }
  }
}

static void add_regions(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  bool is_loop = tfrt_effect_is_loop(op);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    for (const tfrt_ir_block_t* block = op->regions[i].first_block; block; block = block->next) {
      tfrt_access_list_t list = tfrt_effect_begin_list(analysis);
      tfrt_effect_add_block(analysis, block);
      tfrt_effect_end_list(analysis, list);
      for (size_t k = 0; k < analysis->found.count; ++k) {
        tfrt_access_t access = *(tfrt_access_t*)tfrt_scratch_at(&analysis->found, k);
        // Without a turn, a loop hands on the reads that it was given.
        if (is_loop && access.bits & TFRT_ACCESS_READ) access.bits |= TFRT_ACCESS_READ;
        tfrt_effect_add_other(analysis, access.place, access.bits);
      }
    }
  }
}

bool tfrt_effect_own_accesses(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  tfrt_access_list_t list = tfrt_effect_begin_list(analysis);
  if (!tfrt_ir_operation_is_terminator(op)) add_entry(analysis, op);
  tfrt_effect_end_list(analysis, list);
  return !analysis->failed;
}

// The nesting of the text bounds the recursion.
bool tfrt_effect_accesses(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  tfrt_access_list_t list = tfrt_effect_begin_list(analysis);
  if (!tfrt_ir_operation_is_terminator(op)) {
    add_entry(analysis, op);
    add_callees(analysis, op);
    add_regions(analysis, op);
  }
  tfrt_effect_end_list(analysis, list);
  if (tfrt_effect_role(analysis, op) != TFRT_EFFECT_ROLE_PLAIN) return !analysis->failed;
  for (size_t i = 0; i < analysis->found.count; ++i) {
    tfrt_access_t* access = tfrt_scratch_at(&analysis->found, i);
    // The op waits as a whole, so the order of its own accesses doesn't matter.
    access->bits = access->bits & TFRT_ACCESS_WRITES ? TFRT_ACCESS_WRITES : TFRT_ACCESS_READ;
  }
  return !analysis->failed;
}

void tfrt_effect_add_block(tfrt_effect_analysis_t* analysis, const tfrt_ir_block_t* block) {
  for (const tfrt_ir_operation_t* op = block->first; op && !analysis->failed; op = op->next) {
    if (!tfrt_effect_accesses(analysis, op)) return;
    for (size_t i = 0; i < analysis->found.count; ++i) {
      tfrt_access_t access = *(tfrt_access_t*)tfrt_scratch_at(&analysis->found, i);
      tfrt_effect_add_next(analysis, access.place, access.bits);
    }
  }
}
