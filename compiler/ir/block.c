// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/block.h"

#include <string.h>

#include "compiler/ir/operation.h"

tfrt_ir_block_t* tfrt_ir_block_make(tfrt_ir_context_t* context) {
  return tfrt_ir_context_allocate_array(context, 1, sizeof(tfrt_ir_block_t));
}

void tfrt_ir_region_append_block(tfrt_ir_region_t* region, tfrt_ir_block_t* block) {
  block->region = region;
  if (region->last_block) region->last_block->next = block;
  if (!region->first_block) region->first_block = block;
  region->last_block = block;
}

void tfrt_ir_block_insert_behind(tfrt_ir_block_t* position, tfrt_ir_block_t* block) {
  tfrt_ir_region_t* region = position->region;
  block->region = region;
  block->next = position->next;
  position->next = block;
  if (region->last_block == position) region->last_block = block;
}

tfrt_ir_block_t* tfrt_ir_block_create(tfrt_ir_context_t* context, tfrt_ir_region_t* region) {
  tfrt_ir_block_t* block = tfrt_ir_block_make(context);
  if (block) tfrt_ir_region_append_block(region, block);
  return block;
}

void tfrt_ir_region_take_blocks(tfrt_ir_region_t* target, tfrt_ir_region_t* source) {
  for (tfrt_ir_block_t* block = source->first_block; block; block = block->next) {
    block->region = target;
  }
  if (target->last_block) target->last_block->next = source->first_block;
  if (!target->first_block) target->first_block = source->first_block;
  if (source->last_block) target->last_block = source->last_block;
  source->first_block = NULL;
  source->last_block = NULL;
}

tfrt_ir_value_t* tfrt_ir_block_add_argument(tfrt_ir_context_t* context, tfrt_ir_block_t* block,
                                            const tfrt_ir_type_t* type,
                                            const tfrt_ir_string_t* name,
                                            const tfrt_ir_location_t* location) {
  if (block->argument_count == block->argument_capacity) {
    uint32_t capacity = block->argument_capacity ? 2 * block->argument_capacity : 4;
    tfrt_ir_value_t** grown = tfrt_ir_context_allocate_array(context, capacity, sizeof(*grown));
    if (!grown) return NULL;
    if (block->argument_count) {
      memcpy(grown, block->arguments, block->argument_count * sizeof(*grown));
    }
    block->arguments = grown;
    block->argument_capacity = capacity;
  }
  tfrt_ir_argument_t* argument = tfrt_ir_context_allocate_array(context, 1, sizeof(*argument));
  if (!argument) return NULL;
  argument->value.type = type;
  argument->value.name = name;
  argument->value.index = block->argument_count;
  argument->block = block;
  argument->location = location;
  block->arguments[block->argument_count++] = &argument->value;
  return &argument->value;
}

void tfrt_ir_block_append(tfrt_ir_block_t* block, tfrt_ir_operation_t* operation) {
  operation->block = block;
  operation->previous = block->last;
  operation->next = NULL;
  operation->place = block->last ? block->last->place + 1 : 1;
  if (block->last) block->last->next = operation;
  if (!block->first) block->first = operation;
  block->last = operation;
  ++block->op_count;
}

void tfrt_ir_block_insert_before(tfrt_ir_operation_t* position, tfrt_ir_operation_t* operation) {
  tfrt_ir_block_t* block = position->block;
  operation->block = block;
  operation->next = position;
  operation->previous = position->previous;
  if (position->previous) position->previous->next = operation;
  if (block->first == position) block->first = operation;
  position->previous = operation;
  ++block->op_count;
  block->is_mixed = true;
}

void tfrt_ir_block_number_ops(tfrt_ir_block_t* block) {
  if (!block->is_mixed) return;
  uint32_t place = 0;
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) op->place = ++place;
  block->is_mixed = false;
}

void tfrt_ir_block_remove(tfrt_ir_operation_t* operation) {
  tfrt_ir_block_t* block = operation->block;
  if (!block) return;
  if (operation->previous) operation->previous->next = operation->next;
  if (operation->next) operation->next->previous = operation->previous;
  if (block->first == operation) block->first = operation->next;
  if (block->last == operation) block->last = operation->previous;
  --block->op_count;
  operation->block = NULL;
  operation->next = NULL;
  operation->previous = NULL;
}
