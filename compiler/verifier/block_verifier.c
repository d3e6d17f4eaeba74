// SPDX-License-Identifier: Apache-2.0
//
// The values that a block sees, and how blocks follow each other.

#include <stdio.h>

#include "compiler/verifier/verifier_impl.h"

// --- Order of values ----------------------------------------------------------------------

// The op around |operation|, or itself, that lies in |region|; NULL if there is none.
static const tfrt_ir_operation_t* ancestor_in(const tfrt_ir_operation_t* operation,
                                              const tfrt_ir_region_t* region) {
  while (operation && (!operation->block || operation->block->region != region)) {
    operation = tfrt_ir_operation_parent(operation);
  }
  return operation;
}

// True if |first| dominates |second|, another block of the same region.
static bool dominates(const tfrt_verifier_t* verifier, const tfrt_ir_block_t* first,
                      const tfrt_ir_block_t* second) {
  for (const tfrt_verifier_region_t* entry = verifier->regions; entry; entry = entry->outer) {
    if (entry->dominance.region != first->region) continue;
    return tfrt_dominance_holds(&entry->dominance, first, second);
  }
  // In a region without order, as those of unknown ops are.
  return true;
}

static bool is_seen(const tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                    const tfrt_ir_value_t* value) {
  const tfrt_ir_block_t* home = tfrt_ir_value_block(value);
  const tfrt_ir_operation_t* user = home ? ancestor_in(operation, home->region) : NULL;
  if (!user) return false;
  if (user->block != home) return dominates(verifier, home, user->block);
  return !value->producer || value->producer->place < user->place;
}

void tfrt_verifier_check_order(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    const tfrt_ir_value_t* value = operation->operands[i].value;
    // As most are.
    if (value->producer && value->producer->block == operation->block &&
        value->producer->place < operation->place) {
      continue;
    }
    if (tfrt_ir_value_is_missing(value) || is_seen(verifier, operation, value)) continue;
    tfrt_verifier_op_error(verifier, operation,
                           "operand #%u does not dominate this use: '%%%s' is not known yet here",
                           i, value->name ? value->name->data : "?");
  }
}

// --- Ends of blocks -------------------------------------------------------------------------

// The name of a block in messages: its label, or its place in the region.
static void block_name(const tfrt_ir_block_t* block, char* out_name, size_t size) {
  uint32_t index = 0;
  const tfrt_ir_block_t* other = block->region->first_block;
  for (; other != block; other = other->next) ++index;
  if (block->label) {
    snprintf(out_name, size, "^%.*s", (int)size - 2, block->label->data);
  } else {
    snprintf(out_name, size, "^bb%u", index);
  }
}

#define BLOCK_NAME_SIZE 64

// Checks what |operation| hands to its successor |index|.
static void check_successor(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                            uint32_t index) {
  const tfrt_ir_block_t* block = tfrt_ir_operation_successors(operation)[index];
  char name[BLOCK_NAME_SIZE];
  uint32_t first, count;
  block_name(block, name, sizeof(name));
  if (block == block->region->first_block) {
    tfrt_verifier_op_error(verifier, operation,
                           "goes to '%s', and an entry block can't have predecessors", name);
    return;
  }
  // No table says what an unknown op hands to its successors.
  if (!operation->descriptor) return;
  if (!tfrt_ir_operation_successor_operands(operation, index, &first, &count)) {
    tfrt_verifier_op_error(verifier, operation,
                           "doesn't say which of its operands successor #%u gets: it needs an "
                           "'operandSegmentSizes' that fits, as in array<i32: 1, 0, 0>",
                           index);
    return;
  }
  if (count != block->argument_count) {
    tfrt_verifier_op_error(verifier, operation, "hands %u operands to '%s', which has %u arguments",
                           count, name, block->argument_count);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_ir_type_t* given = operation->operands[first + i].value->type;
    if (given == block->arguments[i]->type) continue;
    tfrt_verifier_op_error(verifier, operation,
                           "type mismatch for argument #%u of '%s': it is '%s', not '%s'", i, name,
                           block->arguments[i]->type->text->data, given->text->data);
  }
}

void tfrt_verifier_check_blocks(tfrt_verifier_t* verifier, const tfrt_ir_region_t* region) {
  for (const tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    const tfrt_ir_operation_t* last = block->last;
    char name[BLOCK_NAME_SIZE];
    if (!last || (last->descriptor && !tfrt_ir_operation_is_terminator(last))) {
      block_name(block, name, sizeof(name));
      tfrt_verifier_report(verifier, TFRT_SEVERITY_ERROR, last ? last : region->owner,
                           "block '%s' has no terminator: it must end in a return or a branch",
                           name);
      continue;
    }
    for (uint32_t i = 0; i < last->successor_count; ++i) check_successor(verifier, last, i);
  }
}
