// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/operation_maker.h"

_Static_assert(sizeof(tfrt_ir_operation_t) % 8 == 0 && sizeof(tfrt_ir_operand_t) % 8 == 0 &&
                   sizeof(tfrt_ir_value_t) % 8 == 0 && sizeof(tfrt_ir_region_t) % 8 == 0,
               "what lies behind one of these is aligned");

tfrt_ir_operation_t* tfrt_ir_operation_create(tfrt_ir_context_t* context,
                                              const tfrt_ir_operation_parts_t* parts) {
  return tfrt_ir_operation_make(context, parts);
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
