// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/operation.h"

// Takes |count| elements of |size| bytes from the front of what |*memory| points to.
static void* take(char** memory, uint32_t count, size_t size) {
  void* array = *memory;
  *memory += count * size;
  return array;
}

_Static_assert(sizeof(tfrt_ir_operation_t) % 8 == 0 && sizeof(tfrt_ir_operand_t) % 8 == 0 &&
                   sizeof(tfrt_ir_value_t) % 8 == 0 && sizeof(tfrt_ir_region_t) % 8 == 0,
               "what lies behind one of these is aligned");

// The size of an op of |parts|, with all that lies behind it.
static size_t size_of(const tfrt_ir_operation_parts_t* parts) {
  return sizeof(tfrt_ir_operation_t) + parts->operand_count * sizeof(tfrt_ir_operand_t) +
         parts->result_count * sizeof(tfrt_ir_value_t) +
         parts->region_count * sizeof(tfrt_ir_region_t) +
         parts->successor_count * sizeof(tfrt_ir_block_t*) +
         (parts->location ? 0 : sizeof(tfrt_ir_location_t));
}

// Fills the results, regions and successors of |operation|, and its location if |parts| has none:
// they lie behind it from |memory| on, in this order.
static void fill(tfrt_ir_operation_t* operation, const tfrt_ir_operation_parts_t* parts,
                 char* memory) {
  operation->results = take(&memory, parts->result_count, sizeof(*operation->results));
  for (uint32_t i = 0; i < parts->result_count; ++i) {
    operation->results[i] =
        (tfrt_ir_value_t){.type = parts->result_types[i], .producer = operation, .index = i};
  }
  operation->regions = take(&memory, parts->region_count, sizeof(*operation->regions));
  for (uint32_t i = 0; i < parts->region_count; ++i) {
    operation->regions[i] = (tfrt_ir_region_t){.owner = operation, .index = i};
  }
  tfrt_ir_block_t** successors = take(&memory, parts->successor_count, sizeof(*successors));
  for (uint32_t i = 0; i < parts->successor_count; ++i) successors[i] = parts->successors[i];
  operation->location = parts->location;
  if (parts->location) return;
  tfrt_ir_location_t* location = take(&memory, 1, sizeof(*location));
  tfrt_ir_location_initialize_file(location, parts->file, parts->line, parts->column);
  operation->location = location;
}

// An op, its arrays and mostly its location are one piece of memory: they are made, and mostly
// read, together. It is filled in field by field: clearing it as a whole first takes longer.
tfrt_ir_operation_t* tfrt_ir_operation_create(tfrt_ir_context_t* context,
                                              const tfrt_ir_operation_parts_t* parts) {
  tfrt_ir_operation_t* operation = tfrt_ir_context_allocate_room(context, size_of(parts));
  if (!operation) return NULL;
  operation->name = parts->name;
  operation->descriptor = parts->descriptor;
  operation->text_offset = 0;
  operation->operand_count = parts->operand_count;
  operation->result_count = parts->result_count;
  operation->attribute_count = parts->attribute_count;
  operation->region_count = parts->region_count;
  operation->successor_count = parts->successor_count;
  operation->block = NULL;
  operation->next = NULL;
  operation->previous = NULL;
  operation->place = 0;
  operation->scratch = 0;
  operation->attributes =
      tfrt_ir_named_attributes_sort(context, parts->attributes, parts->attribute_count);
  if (!operation->attributes) return NULL;
  for (uint32_t i = 0; i < parts->operand_count; ++i) {
    tfrt_ir_operand_initialize(&operation->operands[i], operation, parts->operands[i]);
  }
  fill(operation, parts, (char*)(operation->operands + parts->operand_count));
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
