// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/clone.h"

// A copy under way. The copy of an original value is |values| at its |scratch|.
typedef struct cloner_s {
  tfrt_ir_context_t* context;
  const tfrt_ir_location_t* caller;
  tfrt_ir_value_t** values;
} cloner_t;

// --- Numbers ------------------------------------------------------------------------------

// Numbers the values of |block| and of all regions in it, from |count| on; returns the next
// number. The parser's nesting limit bounds the recursion.
static uint32_t number_values(const tfrt_ir_block_t* block, uint32_t count) {
  for (uint32_t i = 0; i < block->argument_count; ++i) block->arguments[i]->scratch = count++;
  for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].scratch = count++;
    for (uint32_t i = 0; i < op->region_count; ++i) {
      const tfrt_ir_block_t* inner = tfrt_ir_region_single_block(&op->regions[i]);
      if (inner) count = number_values(inner, count);
    }
  }
  return count;
}

// --- Copies -------------------------------------------------------------------------------

static const tfrt_ir_location_t* copy_location(const cloner_t* cloner,
                                               const tfrt_ir_location_t* location) {
  if (location->depth >= TFRT_IR_CLONE_MAX_LOCATION_DEPTH) return location;
  return tfrt_ir_location_call_site(cloner->context, location, cloner->caller);
}

static tfrt_ir_operation_t* copy_operation(cloner_t* cloner, const tfrt_ir_operation_t* operation);

// Fills |target|, the region of a copy.
static bool copy_region(cloner_t* cloner, const tfrt_ir_region_t* source,
                        tfrt_ir_region_t* target) {
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(source);
  if (!block) return true;
  tfrt_ir_block_t* copy = tfrt_ir_block_create(cloner->context, target);
  if (!copy) return false;
  copy->label = block->label;
  for (uint32_t i = 0; i < block->argument_count; ++i) {
    const tfrt_ir_value_t* argument = block->arguments[i];
    tfrt_ir_value_t* copied =
        tfrt_ir_block_add_argument(cloner->context, copy, argument->type, argument->name,
                                   tfrt_ir_value_argument(argument)->location);
    if (!copied) return false;
    cloner->values[argument->scratch] = copied;
  }
  for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    tfrt_ir_operation_t* copied = copy_operation(cloner, op);
    if (!copied) return false;
    tfrt_ir_block_append(copy, copied);
  }
  return true;
}

static tfrt_ir_operation_t* copy_operation(cloner_t* cloner, const tfrt_ir_operation_t* operation) {
  uint32_t operand_count = operation->operand_count;
  uint32_t result_count = operation->result_count;
  tfrt_ir_context_t* context = cloner->context;
  tfrt_ir_value_t** operands =
      tfrt_ir_context_allocate_array(context, operand_count, sizeof(*operands));
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(context, result_count, sizeof(*types));
  const tfrt_ir_location_t* location = copy_location(cloner, operation->location);
  if (!operands || !types || !location) return NULL;
  for (uint32_t i = 0; i < operand_count; ++i) {
    tfrt_ir_value_t* value = operation->operands[i].value;
    operands[i] = tfrt_ir_value_is_missing(value) ? value : cloner->values[value->scratch];
  }
  for (uint32_t i = 0; i < result_count; ++i) types[i] = operation->results[i].type;
  tfrt_ir_operation_parts_t parts = {.name = operation->name,
                                     .descriptor = operation->descriptor,
                                     .location = location,
                                     .operands = operands,
                                     .result_types = types,
                                     .attributes = operation->attributes,
                                     .operand_count = operand_count,
                                     .result_count = result_count,
                                     .attribute_count = operation->attribute_count,
                                     .region_count = operation->region_count};
  tfrt_ir_operation_t* copy = tfrt_ir_operation_create(context, &parts);
  if (!copy) return NULL;
  copy->text_offset = operation->text_offset;
  copy->lacks_chain_results = operation->lacks_chain_results;
  copy->lacks_dependences = operation->lacks_dependences;
  copy->properties = operation->properties;
  for (uint32_t i = 0; i < result_count; ++i) {
    copy->results[i].name = operation->results[i].name;
    cloner->values[operation->results[i].scratch] = &copy->results[i];
  }
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    if (!copy_region(cloner, &operation->regions[i], &copy->regions[i])) return NULL;
  }
  return copy;
}

// --- Interface ------------------------------------------------------------------------------

bool tfrt_ir_clone_body(tfrt_ir_context_t* context, const tfrt_ir_block_t* source,
                        tfrt_ir_value_t* const* arguments, tfrt_ir_operation_t* position,
                        tfrt_ir_value_t** out_yielded) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  uint32_t count = number_values(source, 0);
  cloner_t cloner = {.context = context, .caller = position->location};
  cloner.values = tfrt_allocator_allocate_array(allocator, count, sizeof(*cloner.values));
  if (!cloner.values) return false;
  for (uint32_t i = 0; i < source->argument_count; ++i) cloner.values[i] = arguments[i];
  bool ok = true;
  for (const tfrt_ir_operation_t* op = source->first; ok && op != source->last; op = op->next) {
    tfrt_ir_operation_t* copy = copy_operation(&cloner, op);
    ok = copy != NULL;
    if (ok) tfrt_ir_block_insert_before(position, copy);
  }
  for (uint32_t i = 0; ok && i < source->last->operand_count; ++i) {
    out_yielded[i] = cloner.values[source->last->operands[i].value->scratch];
  }
  tfrt_allocator_free(allocator, cloner.values, count * sizeof(*cloner.values));
  return ok;
}
