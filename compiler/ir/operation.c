// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/operation_maker.h"

#include <string.h>

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

bool tfrt_ir_operation_lacks_result(const tfrt_ir_operation_t* operation, uint32_t index) {
  if (!operation->lacks_chain_results || !operation->descriptor) return false;
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  return index < tfrt_kernel_descriptor_fixed_results(descriptor) &&
         tfrt_kernel_descriptor_is_chain(descriptor->results[index].type);
}

uint32_t tfrt_ir_operation_count_written_results(const tfrt_ir_operation_t* operation) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    count += !tfrt_ir_operation_lacks_result(operation, i);
  }
  return count;
}

bool tfrt_ir_operation_lacks_chains(const tfrt_ir_operation_t* operation) {
  if (operation->lacks_chain_results || operation->lacks_dependences) return true;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    if (tfrt_ir_value_is_missing(operation->operands[i].value)) return true;
  }
  return false;
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

bool tfrt_ir_operation_is_return(const tfrt_ir_operation_t* operation) {
  return operation && (tfrt_ir_operation_is(operation, "tfrt.return") ||
                       tfrt_ir_operation_is(operation, "func.return"));
}

bool tfrt_ir_operation_is_terminator(const tfrt_ir_operation_t* operation) {
  if (operation->descriptor) {
    return (operation->descriptor->flags & TFRT_KERNEL_TERMINATOR) != 0;
  }
  return tfrt_ir_operation_is_return(operation);
}

int64_t tfrt_ir_segment_size(const tfrt_ir_attribute_t* attribute, uint32_t index) {
  if (!attribute || attribute->kind != TFRT_IR_ATTRIBUTE_DENSE_ARRAY ||
      !tfrt_ir_type_is(attribute->type, "i32") || index >= attribute->count) {
    return -1;
  }
  int32_t size;
  memcpy(&size, attribute->bytes + (size_t)index * sizeof(size), sizeof(size));
  return size;
}

// The operands before segment |index| of |sizes|, or -1 if those are none.
static int64_t operands_before(const tfrt_ir_attribute_t* sizes, uint32_t index) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < index; ++i) {
    int64_t size = tfrt_ir_segment_size(sizes, i);
    if (size < 0) return -1;
    sum += size;
  }
  return sum;
}

bool tfrt_ir_operation_successor_operands(const tfrt_ir_operation_t* operation, uint32_t index,
                                          uint32_t* out_first, uint32_t* out_count) {
  uint32_t fixed_count =
      operation->descriptor ? tfrt_kernel_descriptor_fixed_operands(operation->descriptor) : 0;
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  const tfrt_ir_attribute_t* cases = NULL;
  int64_t first = fixed_count;
  int64_t count = (int64_t)operation->operand_count - fixed_count;
  *out_first = *out_count = 0;
  if (!operation->descriptor || index >= operation->successor_count) return false;
  if (tfrt_ir_operation_is(operation, "cf.switch") && index > 0) {
    cases = tfrt_ir_operation_attribute(operation, "case_operand_segments");
    int64_t before = operands_before(sizes, 2);
    int64_t skipped = operands_before(cases, index - 1);
    first = before < 0 || skipped < 0 ? -1 : before + skipped;
    count = tfrt_ir_segment_size(cases, index - 1);
  } else if (sizes || (operation->successor_count > 1 &&
                       operation->descriptor->flags & TFRT_KERNEL_VARIADIC_OPERANDS)) {
    first = operands_before(sizes, fixed_count + index);
    count = tfrt_ir_segment_size(sizes, fixed_count + index);
  }
  if (first < 0 || count < 0 || first + count > operation->operand_count) return false;
  *out_first = (uint32_t)first;
  *out_count = (uint32_t)count;
  return true;
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
