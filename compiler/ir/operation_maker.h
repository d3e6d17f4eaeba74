// SPDX-License-Identifier: Apache-2.0
//
// Makes ops by inline functions, for the code that makes most of a program's ops and knows which
// parts those lack. An absent part then takes no instructions. Other code calls
// tfrt_ir_operation_create().
//
//   operation | operands | results | regions | successors | location
//
// An op, its arrays and mostly its location are one piece of memory: they are made, and mostly
// read, together. The op is filled in field by field: clearing the whole op first takes longer.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL when memory is out.
#ifndef TFRT_COMPILER_IR_OPERATION_MAKER_H_
#define TFRT_COMPILER_IR_OPERATION_MAKER_H_

#include "compiler/ir/operation.h"

// The size of an op of |parts|, with all that lies behind it. Thread-safe.
TFRT_ALWAYS_INLINE size_t tfrt_ir_operation_size(const tfrt_ir_operation_parts_t* parts) {
  return sizeof(tfrt_ir_operation_t) + parts->operand_count * sizeof(tfrt_ir_operand_t) +
         parts->result_count * sizeof(tfrt_ir_value_t) +
         parts->region_count * sizeof(tfrt_ir_region_t) +
         parts->successor_count * sizeof(tfrt_ir_block_t*) +
         (parts->location ? 0 : sizeof(tfrt_ir_location_t));
}

// Fills in what lies behind the operands of |operation|. Thread-compatible (caller synchronises).
TFRT_ALWAYS_INLINE void tfrt_ir_operation_fill(tfrt_ir_operation_t* operation,
                                               const tfrt_ir_operation_parts_t* parts) {
  operation->results = (tfrt_ir_value_t*)(void*)(operation->operands + parts->operand_count);
  for (uint32_t i = 0; i < parts->result_count; ++i) {
    operation->results[i] =
        (tfrt_ir_value_t){.type = parts->result_types[i], .producer = operation, .index = i};
  }
  operation->regions = (tfrt_ir_region_t*)(void*)(operation->results + parts->result_count);
  for (uint32_t i = 0; i < parts->region_count; ++i) {
    operation->regions[i] = (tfrt_ir_region_t){.owner = operation, .index = i};
  }
  tfrt_ir_block_t** successors = tfrt_ir_operation_successors(operation);
  for (uint32_t i = 0; i < parts->successor_count; ++i) successors[i] = parts->successors[i];
  operation->location = parts->location;
  if (parts->location) return;
  tfrt_ir_location_t* location = (tfrt_ir_location_t*)(void*)(successors + parts->successor_count);
  tfrt_ir_location_initialize_file(location, parts->file, parts->line, parts->column);
  operation->location = location;
}

// As tfrt_ir_operation_create(). Thread-compatible (caller synchronises).
TFRT_ALWAYS_INLINE tfrt_ir_operation_t* tfrt_ir_operation_make(
    tfrt_ir_context_t* context, const tfrt_ir_operation_parts_t* parts) {
  tfrt_ir_operation_t* operation =
      tfrt_ir_context_allocate_room(context, tfrt_ir_operation_size(parts));
  if (!operation) return NULL;
  operation->name = parts->name;
  operation->descriptor = parts->descriptor;
  operation->text_offset = 0;
  operation->operand_count = parts->operand_count;
  operation->result_count = parts->result_count;
  operation->attribute_count = parts->attribute_count;
  operation->region_count = parts->region_count;
  operation->successor_count = parts->successor_count;
  operation->properties = NULL;
  operation->block = NULL;
  operation->next = NULL;
  operation->previous = NULL;
  operation->place = 0;
  operation->lacks_chain_results = false;
  operation->lacks_dependences = false;
  operation->scratch = 0;
  operation->attributes =
      tfrt_ir_named_attributes_sort(context, parts->attributes, parts->attribute_count);
  if (!operation->attributes) return NULL;
  for (uint32_t i = 0; i < parts->operand_count; ++i) {
    tfrt_ir_operand_initialize(&operation->operands[i], operation, parts->operands[i]);
  }
  tfrt_ir_operation_fill(operation, parts);
  return operation;
}

#endif  // TFRT_COMPILER_IR_OPERATION_MAKER_H_
