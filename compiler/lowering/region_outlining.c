// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>

#include "compiler/lowering/lowering_impl.h"

// A task while its region becomes a function.
typedef struct outliner_s {
  tfrt_lowering_t* lowering;
  tfrt_ir_operation_t* task;
  tfrt_ir_block_t* block;   // the first one of its region
  tfrt_scratch_t captured;  // capture_t; of a value: at its |scratch|
} outliner_t;

typedef struct capture_s {
  tfrt_ir_value_t* value;
  tfrt_ir_value_t* argument;
} capture_t;

// True if |value| is defined in the region of |task|.
static bool is_inside(const tfrt_ir_operation_t* task, const tfrt_ir_value_t* value) {
  const tfrt_ir_block_t* block = tfrt_ir_value_block(value);
  while (block && block->region->owner != task) block = block->region->owner->block;
  return block != NULL;
}

// The argument that |value|, from outside, becomes; NULL: memory is out.
static tfrt_ir_value_t* capture(outliner_t* outliner, tfrt_ir_value_t* value) {
  if (value->scratch < outliner->captured.count) {
    const capture_t* known = tfrt_scratch_at(&outliner->captured, value->scratch);
    if (known->value == value) return known->argument;
  }
  capture_t entry = {value, tfrt_ir_block_add_argument(outliner->lowering->context, outliner->block,
                                                       value->type, value->name, NULL)};
  value->scratch = (uint32_t)outliner->captured.count;
  if (!entry.argument || !tfrt_scratch_push(&outliner->captured, &entry)) return NULL;
  return entry.argument;
}

static bool capture_operands(tfrt_ir_operation_t* operation, void* user_data) {
  outliner_t* outliner = user_data;
  if (operation == outliner->task) return true;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    tfrt_ir_value_t* value = operation->operands[i].value;
    if (tfrt_ir_value_is_missing(value) || is_inside(outliner->task, value)) continue;
    tfrt_ir_value_t* argument = capture(outliner, value);
    if (!argument) return false;
    tfrt_ir_operand_set(&operation->operands[i], argument);
  }
  return true;
}

// The function of what the region takes and gives, whose body it becomes.
static tfrt_ir_operation_t* make_function(outliner_t* outliner, const tfrt_ir_operation_t* parent) {
  tfrt_lowering_t* lowering = outliner->lowering;
  tfrt_ir_context_t* context = lowering->context;
  const tfrt_ir_block_t* block = outliner->block;
  const tfrt_ir_operation_t* end = block->region->last_block->last;
  const tfrt_ir_type_t** types = tfrt_lowering_allocate(
      lowering, (size_t)block->argument_count + end->operand_count + 1, sizeof(*types));
  char suffix[32];
  snprintf(suffix, sizeof(suffix), ".region%u", lowering->region_count++);
  const tfrt_ir_string_t* name =
      tfrt_lowering_new_name(lowering, tfrt_ir_symbol_name(parent), suffix);
  if (!types || !name) return NULL;
  for (uint32_t i = 0; i < block->argument_count; ++i) types[i] = block->arguments[i]->type;
  const tfrt_ir_type_t** results = types + block->argument_count;
  for (uint32_t i = 0; i < end->operand_count; ++i) results[i] = end->operands[i].value->type;
  const tfrt_ir_type_t* type =
      tfrt_ir_type_function(context, types, block->argument_count, results, end->operand_count);
  if (!type) return NULL;
  tfrt_ir_operation_t* function =
      tfrt_ir_function_create(context, outliner->task->location, name, type);
  if (!function) return NULL;
  function->text_offset = outliner->task->text_offset;
  tfrt_ir_region_take_blocks(&function->regions[0], &outliner->task->regions[0]);
  tfrt_ir_block_append(tfrt_ir_module_block(lowering->module), function);
  return function;
}

// Puts an op in the place of the task that has what is captured as operands, too.
static void replace_task(outliner_t* outliner, const tfrt_ir_operation_t* function) {
  tfrt_lowering_t* lowering = outliner->lowering;
  tfrt_ir_operation_t* task = outliner->task;
  uint32_t captured = (uint32_t)outliner->captured.count;
  uint32_t count = task->operand_count + captured;
  tfrt_ir_value_t** operands = tfrt_lowering_allocate(lowering, count, sizeof(*operands));
  const tfrt_ir_type_t** types =
      tfrt_lowering_allocate(lowering, task->result_count, sizeof(*types));
  tfrt_ir_named_attribute_t* attributes =
      tfrt_lowering_allocate(lowering, (size_t)task->attribute_count + 1, sizeof(*attributes));
  if (!operands || !types || !attributes) return;
  for (uint32_t i = 0; i < task->operand_count; ++i) operands[i] = task->operands[i].value;
  for (uint32_t i = 0; i < captured; ++i) {
    operands[task->operand_count + i] =
        ((capture_t*)tfrt_scratch_at(&outliner->captured, i))->value;
  }
  for (uint32_t i = 0; i < task->result_count; ++i) types[i] = task->results[i].type;
  for (uint32_t i = 0; i < task->attribute_count; ++i) attributes[i] = task->attributes[i];
  const tfrt_ir_attribute_t* name = tfrt_ir_operation_attribute(function, "sym_name");
  const tfrt_ir_string_t* symbol =
      tfrt_ir_string_get(lowering->context, tfrt_ir_attribute_text(name));
  if (!symbol) return;
  attributes[task->attribute_count] = tfrt_lowering_named(
      lowering, "callee", tfrt_ir_attribute_symbol(lowering->context, &symbol, 1));
  tfrt_lowering_op_t parts = {.name = "async.execute",
                              .like = task,
                              .operands = operands,
                              .operand_count = count,
                              .types = types,
                              .type_count = task->result_count,
                              .attributes = attributes,
                              .attribute_count = task->attribute_count + 1};
  tfrt_ir_operation_t* op = tfrt_lowering_make(lowering, &parts);
  if (!op) return;
  tfrt_ir_block_insert_before(task, op);
  for (uint32_t i = 0; i < task->result_count; ++i) {
    op->results[i].name = task->results[i].name;
    tfrt_ir_value_replace_all_uses(&task->results[i], &op->results[i]);
  }
  tfrt_ir_operation_erase(task);
}

static void outline(tfrt_lowering_t* lowering, tfrt_lowering_function_t* parent,
                    tfrt_ir_operation_t* task) {
  outliner_t outliner = {.lowering = lowering, .task = task, .block = task->regions[0].first_block};
  tfrt_scratch_initialize(&outliner.captured, sizeof(capture_t),
                          tfrt_ir_context_allocator(lowering->context));
  bool ok = tfrt_ir_operation_walk(task, capture_operands, &outliner);
  tfrt_ir_operation_t* function = ok ? make_function(&outliner, parent->op) : NULL;
  if (function) {
    replace_task(&outliner, function);
    tfrt_lowering_add(lowering, function, TFRT_LOWERING_REGION);
  } else {
    lowering->out_of_memory = true;
  }
  tfrt_scratch_deinitialize(&outliner.captured);
}

void tfrt_lowering_outline(tfrt_lowering_t* lowering, tfrt_lowering_function_t* function) {
  tfrt_ir_block_t* block = function->op->regions[0].first_block;
  for (; block; block = block->next) {
    for (tfrt_ir_operation_t* op = block->first; op && !lowering->out_of_memory;) {
      tfrt_ir_operation_t* next = op->next;
      if (op->region_count && tfrt_ir_operation_is(op, "async.execute")) {
        outline(lowering, function, op);
      }
      op = next;
    }
  }
}
