// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/operation.h"

// Fills the results, operands and regions of |operation|, whose arrays are there.
static void fill(tfrt_ir_operation_t* operation, const tfrt_ir_operation_parts_t* parts) {
  for (uint32_t i = 0; i < parts->operand_count; ++i) {
    tfrt_ir_operand_initialize(&operation->operands[i], operation, parts->operands[i]);
  }
  for (uint32_t i = 0; i < parts->result_count; ++i) {
    operation->results[i] =
        (tfrt_ir_value_t){.type = parts->result_types[i], .producer = operation, .index = i};
  }
  for (uint32_t i = 0; i < parts->region_count; ++i) {
    operation->regions[i] = (tfrt_ir_region_t){.owner = operation, .index = i};
  }
  for (uint32_t i = 0; i < parts->successor_count; ++i) {
    operation->successors[i] = parts->successors[i];
  }
}

// Takes |count| elements of |size| bytes from the front of what |*memory| points to.
static void* take(char** memory, uint32_t count, size_t size) {
  void* array = *memory;
  *memory += count * size;
  return array;
}

_Static_assert(sizeof(tfrt_ir_operation_t) % 8 == 0 && sizeof(tfrt_ir_operand_t) % 8 == 0 &&
                   sizeof(tfrt_ir_value_t) % 8 == 0 && sizeof(tfrt_ir_region_t) % 8 == 0,
               "what lies behind one of these is aligned");

// An op and its arrays are one piece of memory: they are made, and mostly read, together. Here it
// gets all but its attributes, field by field: clearing it as a whole first takes longer.
static tfrt_ir_operation_t* allocate(tfrt_ir_context_t* context,
                                     const tfrt_ir_operation_parts_t* parts) {
  size_t size = sizeof(tfrt_ir_operation_t) + parts->operand_count * sizeof(tfrt_ir_operand_t) +
                parts->result_count * sizeof(tfrt_ir_value_t) +
                parts->region_count * sizeof(tfrt_ir_region_t) +
                parts->successor_count * sizeof(tfrt_ir_block_t*);
  char* memory = tfrt_ir_context_allocate_room(context, size);
  if (!memory) return NULL;
  tfrt_ir_operation_t* operation = take(&memory, 1, sizeof(*operation));
  operation->name = parts->name;
  operation->descriptor = parts->descriptor;
  operation->location = parts->location;
  operation->text_offset = 0;
  operation->operand_count = parts->operand_count;
  operation->result_count = parts->result_count;
  operation->attribute_count = parts->attribute_count;
  operation->region_count = parts->region_count;
  operation->successor_count = parts->successor_count;
  operation->operands = take(&memory, parts->operand_count, sizeof(*operation->operands));
  operation->results = take(&memory, parts->result_count, sizeof(*operation->results));
  operation->regions = take(&memory, parts->region_count, sizeof(*operation->regions));
  operation->successors = take(&memory, parts->successor_count, sizeof(*operation->successors));
  operation->block = NULL;
  operation->next = NULL;
  operation->previous = NULL;
  operation->place = 0;
  operation->scratch = 0;
  return operation;
}

tfrt_ir_operation_t* tfrt_ir_operation_create(tfrt_ir_context_t* context,
                                              const tfrt_ir_operation_parts_t* parts) {
  tfrt_ir_operation_t* operation = allocate(context, parts);
  if (!operation) return NULL;
  operation->attributes =
      tfrt_ir_named_attributes_sort(context, parts->attributes, parts->attribute_count);
  if (!operation->attributes) return NULL;
  fill(operation, parts);
  return operation;
}

bool tfrt_ir_operation_set_attribute(tfrt_ir_context_t* context, tfrt_ir_operation_t* operation,
                                     const tfrt_ir_string_t* name,
                                     const tfrt_ir_attribute_t* value) {
  uint32_t old_count = operation->attribute_count;
  tfrt_ir_named_attribute_t* entries =
      tfrt_ir_context_allocate_array(context, (size_t)old_count + 1, sizeof(*entries));
  if (!entries) return false;
  uint32_t count = 0;
  for (uint32_t i = 0; i < old_count; ++i) {
    if (operation->attributes[i].name != name) entries[count++] = operation->attributes[i];
  }
  if (value) entries[count++] = (tfrt_ir_named_attribute_t){name, value};
  const tfrt_ir_named_attribute_t* sorted = tfrt_ir_named_attributes_sort(context, entries, count);
  if (!sorted) return false;
  operation->attributes = sorted;
  operation->attribute_count = count;
  return true;
}

void tfrt_ir_operation_erase(tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    tfrt_ir_operand_set(&operation->operands[i], NULL);
  }
  tfrt_ir_block_remove(operation);
}

tfrt_ir_operation_t* tfrt_ir_operation_parent(const tfrt_ir_operation_t* operation) {
  return operation->block ? operation->block->region->owner : NULL;
}

bool tfrt_ir_operation_is_terminator(const tfrt_ir_operation_t* operation) {
  if (operation->descriptor) {
    return (operation->descriptor->flags & TFRT_KERNEL_TERMINATOR) != 0;
  }
  return tfrt_ir_operation_is(operation, "tfrt.return") ||
         tfrt_ir_operation_is(operation, "func.return");
}

bool tfrt_ir_operation_walk(tfrt_ir_operation_t* root, tfrt_ir_walk_fn_t visit, void* user_data) {
  for (uint32_t i = 0; i < root->region_count; ++i) {
    for (tfrt_ir_block_t* block = root->regions[i].first_block; block; block = block->next) {
      for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
        bool goes_on =
            op->region_count ? tfrt_ir_operation_walk(op, visit, user_data) : visit(op, user_data);
        if (!goes_on) return false;
      }
    }
  }
  return visit(root, user_data);
}
