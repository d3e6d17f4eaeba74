// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/constant_folder.h"

#include <stdio.h>
#include <string.h>

#include "compiler/analysis/effect_analysis.h"
#include "compiler/ir/scratch.h"
#include "compiler/op_table/constant_evaluator.h"

// A value of the program, and its copy in the function that is run. The scratch word of the value
// is the index behind it among the copies; 0: it has none.
typedef struct copied_value_s {
  tfrt_ir_value_t* original;
  tfrt_ir_value_t* copy;
} copied_value_t;

// A type, and the op that gives constants of it.
typedef struct constant_type_s {
  const tfrt_ir_type_t* type;
  const tfrt_kernel_descriptor_t* op;  // NULL: there is none
} constant_type_t;

typedef struct constant_folder_s {
  tfrt_ir_context_t* context;
  const tfrt_op_tables_t* tables;
  const tfrt_kernel_descriptor_t* return_op;
  tfrt_ir_block_t* block;  // of the function that is run; NULL: none is begun
  tfrt_ir_operation_t* module;
  tfrt_ir_operation_t* function;
  tfrt_scratch_t copies;  // copied_value_t
  tfrt_scratch_t wanted;  // tfrt_ir_value_t*, originals that become constants
  tfrt_scratch_t types;   // constant_type_t: those that were asked for, a handful
} constant_folder_t;

// --- Constants ---------------------------------------------------------------------------------

// The op that gives a constant of |type|, which is a number; NULL: none does.
static const tfrt_kernel_descriptor_t* constant_op(constant_folder_t* folder,
                                                   const tfrt_ir_type_t* type) {
  if (type->kind != TFRT_IR_TYPE_INTEGER && type->kind != TFRT_IR_TYPE_FLOAT) return NULL;
  for (size_t i = 0; i < folder->types.count; ++i) {
    const constant_type_t* known = tfrt_scratch_at(&folder->types, i);
    if (known->type == type) return known->op;
  }
  char name[64];
  snprintf(name, sizeof(name), "tfrt.constant.%s", type->text->data);
  const tfrt_op_tables_t* tables = folder->tables;
  constant_type_t found = {type, tfrt_kernel_table_find(tables->tables, tables->count, name)};
  return tfrt_scratch_push(&folder->types, &found) ? found.op : NULL;
}

// The attribute that says |constant|, a number of |type|; NULL when memory is out.
static const tfrt_ir_attribute_t* constant_value(tfrt_ir_context_t* context,
                                                 const tfrt_ir_type_t* type,
                                                 const tfrt_constant_t* constant) {
  uint64_t bits = 0;
  for (size_t i = tfrt_ir_type_byte_size(type); i-- > 0;) bits = bits << 8 | constant->bytes[i];
  if (type->kind == TFRT_IR_TYPE_FLOAT) return tfrt_ir_attribute_float_bits(context, type, bits);
  return tfrt_ir_attribute_integer(context, type, (int64_t)bits);
}

// Lets all uses of |value| use |constant| instead.
static bool replace_value(constant_folder_t* folder, tfrt_ir_value_t* value,
                          const tfrt_constant_t* constant) {
  const tfrt_ir_type_t* type = value->type;
  const tfrt_kernel_descriptor_t* descriptor = constant_op(folder, type);
  tfrt_ir_named_attribute_t attribute = {.name = tfrt_ir_string_of(folder->context, "value"),
                                         .value = constant_value(folder->context, type, constant)};
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(folder->context, descriptor->name),
                                     .descriptor = descriptor,
                                     .location = value->producer->location,
                                     .result_types = &type,
                                     .result_count = 1,
                                     .attributes = &attribute,
                                     .attribute_count = 1};
  if (!attribute.name || !attribute.value || !parts.name) return false;
  tfrt_ir_operation_t* op = tfrt_ir_operation_create(folder->context, &parts);
  if (!op) return false;
  op->text_offset = value->producer->text_offset;
  op->results[0].name = value->name;
  tfrt_ir_block_insert_before(value->producer, op);
  tfrt_ir_value_replace_all_uses(value, &op->results[0]);
  return true;
}

// --- The function that is run -----------------------------------------------------------------

static bool begin_function(constant_folder_t* folder, const tfrt_ir_location_t* location) {
  const tfrt_ir_type_t* type = tfrt_ir_type_function(folder->context, NULL, 0, NULL, 0);
  const tfrt_ir_string_t* name = tfrt_ir_string_of(folder->context, "fold");
  folder->module = tfrt_ir_module_create(folder->context, location);
  if (!type || !name || !folder->module) return false;
  folder->function = tfrt_ir_function_create(folder->context, location, name, type);
  if (!folder->function) return false;
  tfrt_ir_block_append(tfrt_ir_module_block(folder->module), folder->function);
  folder->block = tfrt_ir_block_create(folder->context, &folder->function->regions[0]);
  return folder->block != NULL;
}

// Copies |op|, whose operands have copies.
static bool copy_op(constant_folder_t* folder, tfrt_ir_operation_t* op) {
  if (!folder->block && !begin_function(folder, op->location)) return false;
  tfrt_ir_value_t** operands =
      tfrt_ir_context_allocate_array(folder->context, op->operand_count, sizeof(*operands));
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(folder->context, op->result_count, sizeof(*types));
  if (!operands || !types) return false;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    size_t index = op->operands[i].value->scratch - 1;
    operands[i] = ((copied_value_t*)tfrt_scratch_at(&folder->copies, index))->copy;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) types[i] = op->results[i].type;
  tfrt_ir_operation_parts_t parts = {.name = op->name,
                                     .descriptor = op->descriptor,
                                     .location = op->location,
                                     .operands = operands,
                                     .operand_count = op->operand_count,
                                     .result_types = types,
                                     .result_count = op->result_count,
                                     .attributes = op->attributes,
                                     .attribute_count = op->attribute_count};
  tfrt_ir_operation_t* copy = tfrt_ir_operation_create(folder->context, &parts);
  if (!copy) return false;
  tfrt_ir_block_append(folder->block, copy);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    copied_value_t copied = {&op->results[i], &copy->results[i]};
    if (!tfrt_scratch_push(&folder->copies, &copied)) return false;
    op->results[i].scratch = (uint32_t)folder->copies.count;
  }
  return true;
}

// Ends the function with a return of what is wanted, and lets its type say so.
static bool end_function(constant_folder_t* folder) {
  uint32_t count = (uint32_t)folder->wanted.count;
  tfrt_ir_context_t* context = folder->context;
  tfrt_ir_value_t** values = tfrt_ir_context_allocate_array(context, count, sizeof(*values));
  const tfrt_ir_type_t** types = tfrt_ir_context_allocate_array(context, count, sizeof(*types));
  if (!values || !types) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_ir_value_t* original = *(tfrt_ir_value_t**)tfrt_scratch_at(&folder->wanted, i);
    const copied_value_t* copied = tfrt_scratch_at(&folder->copies, original->scratch - 1);
    values[i] = copied->copy;
    types[i] = original->type;
  }
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(context, "tfrt.return"),
                                     .descriptor = folder->return_op,
                                     .location = folder->function->location,
                                     .operands = values,
                                     .operand_count = count};
  tfrt_ir_operation_t* end = parts.name ? tfrt_ir_operation_create(context, &parts) : NULL;
  const tfrt_ir_type_t* type = tfrt_ir_type_function(context, NULL, 0, types, count);
  const tfrt_ir_attribute_t* attribute = type ? tfrt_ir_attribute_type(context, type) : NULL;
  const tfrt_ir_string_t* key = tfrt_ir_string_of(context, "function_type");
  if (!end || !attribute || !key) return false;
  tfrt_ir_block_append(folder->block, end);
  return tfrt_ir_operation_set_attribute(context, folder->function, key, attribute);
}

// Runs the function that was made, if anything of it is wanted, and forgets it.
static bool run_function(constant_folder_t* folder) {
  uint32_t count = (uint32_t)folder->wanted.count;
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(folder->context);
  tfrt_constant_t* constants = NULL;
  bool ok = true;
  if (count) {
    constants = tfrt_allocator_allocate_array(allocator, count, sizeof(*constants));
    ok = constants && end_function(folder);
  }
  const tfrt_constant_evaluator_t* evaluator = folder->tables->evaluator;
  bool ran =
      ok && count &&
      evaluator->run(evaluator->user_data, folder->context, folder->module, constants, count);
  for (uint32_t i = 0; ran && ok && i < count; ++i) {
    tfrt_ir_value_t* value = *(tfrt_ir_value_t**)tfrt_scratch_at(&folder->wanted, i);
    bool fits = constants[i].type && tfrt_ir_type_is(value->type, constants[i].type);
    if (fits) ok = replace_value(folder, value, &constants[i]);
  }
  tfrt_allocator_free(allocator, constants, count * sizeof(*constants));
  for (size_t i = 0; i < folder->copies.count; ++i) {
    ((copied_value_t*)tfrt_scratch_at(&folder->copies, i))->original->scratch = 0;
  }
  folder->copies.count = 0;
  folder->wanted.count = 0;
  folder->block = NULL;
  return ok;
}

// --- Ops ----------------------------------------------------------------------------------------

static bool is_plain(const tfrt_ir_value_t* value) {
  return !tfrt_effect_has_memory(value->type) && !tfrt_ir_type_is(value->type, "!tfrt.chain");
}

static bool names_function(const tfrt_kernel_descriptor_t* descriptor) {
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    tfrt_attribute_kind_t kind = descriptor->attributes[i].kind;
    if (kind == TFRT_ATTRIBUTE_SYMBOL || kind == TFRT_ATTRIBUTE_SYMBOL_ARRAY) return true;
  }
  return false;
}

// Whether |op|, with constants for its operands, gives constants.
static bool can_run(const constant_folder_t* folder, const tfrt_ir_operation_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  if (!descriptor || !(descriptor->flags & TFRT_KERNEL_PURE)) return false;
  if (descriptor->flags & (TFRT_KERNEL_TERMINATOR | TFRT_KERNEL_SYNC_ONLY | TFRT_KERNEL_LANGUAGE)) {
    return false;
  }
  if (descriptor->cost == TFRT_KERNEL_COST_UNKNOWN) return false;
  if (descriptor->cost > TFRT_CONSTANT_FOLDER_MAX_COST) return false;
  if (op->region_count || op->successor_count || !op->result_count) return false;
  if (names_function(descriptor) || tfrt_ir_operation_attribute(op, "bef.nonstrict")) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!is_plain(&op->results[i])) return false;
  }
  const tfrt_constant_evaluator_t* evaluator = folder->tables->evaluator;
  return evaluator->has_kernel(evaluator->user_data, tfrt_ir_string_view(op->name));
}

static bool is_constant_op(const tfrt_ir_operation_t* op) {
  return op->descriptor && op->descriptor->flags & TFRT_KERNEL_CONSTANT;
}

// Whether |value| is known when the function runs.
static bool is_known(const constant_folder_t* folder, const tfrt_ir_value_t* value) {
  if (tfrt_ir_value_is_missing(value) || !value->producer || !is_plain(value)) return false;
  return value->scratch || (is_constant_op(value->producer) && can_run(folder, value->producer));
}

// Adds |op| to the function, if its operands are known, with those that are no part of it yet.
static bool add_op(constant_folder_t* folder, tfrt_ir_operation_t* op) {
  if (is_constant_op(op) || !can_run(folder, op)) return true;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!is_known(folder, op->operands[i].value)) return true;
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_value_t* value = op->operands[i].value;
    if (!value->scratch && !copy_op(folder, value->producer)) return false;
  }
  if (!copy_op(folder, op)) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    tfrt_ir_value_t* value = &op->results[i];
    if (!value->first_use || !constant_op(folder, value->type)) continue;
    if (!tfrt_scratch_push(&folder->wanted, &value)) return false;
  }
  return true;
}

// --- Blocks -------------------------------------------------------------------------------------

static bool fold_block(constant_folder_t* folder, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (!add_op(folder, op)) return false;
    if (folder->copies.count < TFRT_CONSTANT_FOLDER_MAX_OPS) continue;
    if (!run_function(folder)) return false;
  }
  return run_function(folder);
}

// The parser's nesting limit bounds the recursion.
static bool fold_regions(constant_folder_t* folder, tfrt_ir_operation_t* op) {
  if (tfrt_ir_is_compiled_module(op)) return true;
  if (tfrt_ir_is_function(op) && tfrt_ir_operation_attribute(op, "tfrt.sync")) return true;
  // Nobody knows what the regions of an unknown op mean.
  bool is_known_op = op->descriptor || tfrt_ir_is_function(op);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    for (tfrt_ir_block_t* block = op->regions[i].first_block; block; block = block->next) {
      if (is_known_op && !fold_block(folder, block)) return false;
      for (tfrt_ir_operation_t* inner = block->first; inner; inner = inner->next) {
        if (!fold_regions(folder, inner)) return false;
      }
    }
  }
  return true;
}

static bool clear_mark(tfrt_ir_operation_t* op, void* user_data) {
  (void)user_data;
  for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].scratch = 0;
  return true;
}

bool tfrt_fold_constants(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                         tfrt_ir_operation_t* module) {
  const tfrt_kernel_descriptor_t* return_op =
      tfrt_kernel_table_find(tables->tables, tables->count, "tfrt.return");
  if (!tables->evaluator || !return_op) return true;
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  constant_folder_t folder = {.context = context, .tables = tables, .return_op = return_op};
  tfrt_scratch_initialize(&folder.copies, sizeof(copied_value_t), allocator);
  tfrt_scratch_initialize(&folder.wanted, sizeof(tfrt_ir_value_t*), allocator);
  tfrt_scratch_initialize(&folder.types, sizeof(constant_type_t), allocator);
  tfrt_ir_operation_walk(module, clear_mark, NULL);
  bool ok = fold_regions(&folder, module);
  tfrt_scratch_deinitialize(&folder.copies);
  tfrt_scratch_deinitialize(&folder.wanted);
  tfrt_scratch_deinitialize(&folder.types);
  return ok;
}
