// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_stages.h"

#include <stdio.h>

#include "compiler/onnx/onnx_cost.h"

// The scratch word of an op that stays in `main`; of others it is the number of the stage.
#define STAYS UINT32_MAX

// A list of values.
typedef struct values_s {
  tfrt_ir_value_t** list;
  uint32_t count;
  uint32_t capacity;
} values_t;

typedef struct cutter_s {
  tfrt_ir_context_t* context;
  tfrt_op_index_t* ops;
  tfrt_ir_block_t* main;
  tfrt_ir_operation_t* end;  // the return of |main|
  const tfrt_ir_location_t* location;
} cutter_t;

// A stage, and what goes in and out.
typedef struct stage_s {
  const tfrt_ir_string_t* name;
  tfrt_ir_block_t* block;
  values_t taken;
  values_t given;
} stage_t;

static bool add_value(tfrt_ir_context_t* context, values_t* values, tfrt_ir_value_t* value) {
  if (values->count == values->capacity) {
    uint32_t capacity = values->capacity ? 2 * values->capacity : 16;
    tfrt_ir_value_t** list = tfrt_ir_context_allocate_array(context, capacity, sizeof(*list));
    if (!list) return false;
    for (uint32_t i = 0; i < values->count; ++i) list[i] = values->list[i];
    values->list = list;
    values->capacity = capacity;
  }
  values->list[values->count++] = value;
  return true;
}

static bool is_constant(const tfrt_ir_operation_t* op) {
  return op && tfrt_ir_operation_is(op, "tfrt_nn.constant");
}

static bool is_check(const tfrt_ir_operation_t* op) {
  return tfrt_ir_operation_is(op, "tfrt_nn.argument") ||
         tfrt_ir_operation_is(op, "tfrt_nn.argument_of_any_shape");
}

// --- Which op in which stage ----------------------------------------------------------------

static bool is_cut(const cutter_t* cutter, const tfrt_ir_operation_t* op) {
  return op != cutter->end && !is_constant(op) && !is_check(op);
}

// Numbers the stages of all ops, ascending.
static void choose_stages(const cutter_t* cutter, uint32_t count) {
  uint64_t total = 0, so_far = 0;
  for (const tfrt_ir_operation_t* op = cutter->main->first; op; op = op->next) {
    if (is_cut(cutter, op)) total += tfrt_onnx_op_cost(op);
  }
  uint32_t stage = 0;
  for (tfrt_ir_operation_t* op = cutter->main->first; op; op = op->next) {
    op->scratch = STAYS;
    if (!is_cut(cutter, op)) continue;
    uint64_t cost = tfrt_onnx_op_cost(op);
    while (stage + 1 < count && so_far + cost / 2 >= total / count * (stage + 1)) ++stage;
    op->scratch = stage;
    so_far += cost;
  }
}

// --- What goes in and out ---------------------------------------------------------------------

// Lists the values of |op| that others make, each once: its scratch word is 1 from then on.
static bool take_operands(cutter_t* cutter, const tfrt_ir_operation_t* op, uint32_t number,
                          values_t* taken) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    tfrt_ir_value_t* value = op->operands[i].value;
    bool is_own = value->producer && value->producer->scratch == number;
    if (is_own || is_constant(value->producer) || value->scratch) continue;
    value->scratch = 1;
    if (!add_value(cutter->context, taken, value)) return false;
  }
  return true;
}

static bool is_used_outside(const tfrt_ir_value_t* value, uint32_t number) {
  for (const tfrt_ir_operand_t* use = value->first_use; use; use = use->next) {
    if (use->owner->scratch != number) return true;
  }
  return false;
}

static bool list_values(cutter_t* cutter, uint32_t number, stage_t* stage) {
  bool ok = true;
  for (tfrt_ir_operation_t* op = cutter->main->first; ok && op; op = op->next) {
    if (op->scratch != number) continue;
    ok = take_operands(cutter, op, number, &stage->taken);
    for (uint32_t i = 0; ok && i < op->result_count; ++i) {
      if (!is_used_outside(&op->results[i], number)) continue;
      ok = add_value(cutter->context, &stage->given, &op->results[i]);
    }
  }
  return ok;
}

// --- The function -------------------------------------------------------------------------------

static const tfrt_ir_type_t** types_of(cutter_t* cutter, const values_t* values) {
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(cutter->context, values->count + 1, sizeof(*types));
  for (uint32_t i = 0; types && i < values->count; ++i) types[i] = values->list[i]->type;
  return types;
}

static bool make_function(cutter_t* cutter, uint32_t number, stage_t* stage) {
  char name[24];
  snprintf(name, sizeof(name), "stage%u", number);
  const tfrt_ir_type_t** inputs = types_of(cutter, &stage->taken);
  const tfrt_ir_type_t** results = types_of(cutter, &stage->given);
  const tfrt_ir_type_t* type =
      inputs && results ? tfrt_ir_type_function(cutter->context, inputs, stage->taken.count,
                                                results, stage->given.count)
                        : NULL;
  stage->name = tfrt_ir_string_of(cutter->context, name);
  tfrt_ir_operation_t* function =
      type && stage->name
          ? tfrt_ir_function_create(cutter->context, cutter->location, stage->name, type)
          : NULL;
  stage->block = function ? tfrt_ir_block_create(cutter->context, &function->regions[0]) : NULL;
  if (!stage->block) return false;
  tfrt_ir_block_insert_before(tfrt_ir_operation_parent(cutter->end), function);
  return true;
}

// Makes the constant |op| at the end of the stage, or NULL.
static tfrt_ir_value_t* copy_constant(cutter_t* cutter, const tfrt_ir_operation_t* op,
                                      stage_t* stage) {
  const tfrt_ir_operation_parts_t parts = {.name = op->name,
                                           .descriptor = op->descriptor,
                                           .location = op->location,
                                           .result_types = &op->results[0].type,
                                           .result_count = 1,
                                           .attributes = op->attributes,
                                           .attribute_count = op->attribute_count};
  tfrt_ir_operation_t* copy = tfrt_ir_operation_create(cutter->context, &parts);
  if (!copy) return NULL;
  tfrt_ir_block_append(stage->block, copy);
  return &copy->results[0];
}

// Lets the op, which comes to the end of the stage, use constants that are made there.
static bool move_op(cutter_t* cutter, tfrt_ir_operation_t* op, stage_t* stage) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_operation_t* maker = op->operands[i].value->producer;
    if (!is_constant(maker) || maker->block != cutter->main) continue;
    tfrt_ir_value_t* copy = copy_constant(cutter, maker, stage);
    if (!copy) return false;
    tfrt_ir_operand_set(&op->operands[i], copy);
  }
  tfrt_ir_block_remove(op);
  tfrt_ir_block_append(stage->block, op);
  return true;
}

static bool return_given(cutter_t* cutter, stage_t* stage) {
  const tfrt_ir_operation_parts_t parts = {.name = cutter->end->name,
                                           .descriptor = cutter->end->descriptor,
                                           .location = cutter->end->location,
                                           .operands = stage->given.list,
                                           .operand_count = stage->given.count};
  tfrt_ir_operation_t* end = tfrt_ir_operation_create(cutter->context, &parts);
  if (end) tfrt_ir_block_append(stage->block, end);
  return end != NULL;
}

// Replaces the uses of |value| by ops of |block|, or by all others, by |replacement|.
static void replace_uses(tfrt_ir_value_t* value, const tfrt_ir_block_t* block, bool inside,
                         tfrt_ir_value_t* replacement) {
  for (tfrt_ir_operand_t* use = value->first_use; use;) {
    tfrt_ir_operand_t* next = use->next;
    if ((use->owner->block == block) == inside) tfrt_ir_operand_set(use, replacement);
    use = next;
  }
}

// --- The call ----------------------------------------------------------------------------------

static tfrt_ir_operation_t* make_call(cutter_t* cutter, uint32_t number, const stage_t* stage) {
  tfrt_ir_context_t* context = cutter->context;
  const tfrt_ir_type_t* i32 = tfrt_ir_type_integer(context, 32, TFRT_IR_SIGNLESS);
  const tfrt_ir_named_attribute_t attributes[] = {
      {tfrt_ir_string_of(context, "callee"), tfrt_ir_attribute_symbol(context, &stage->name, 1)},
      {tfrt_ir_string_of(context, "host"),
       i32 ? tfrt_ir_attribute_integer(context, i32, number) : NULL}};
  const tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(context, "tfrt.call"),
      .descriptor = tfrt_op_index_find(cutter->ops, tfrt_string_view_of("tfrt.call")),
      .location = cutter->location,
      .operands = stage->taken.list,
      .operand_count = stage->taken.count,
      .result_types = types_of(cutter, &stage->given),
      .result_count = stage->given.count,
      .attributes = attributes,
      .attribute_count = TFRT_ARRAY_SIZE(attributes)};
  bool is_whole = parts.name && parts.result_types && attributes[0].name && attributes[0].value &&
                  attributes[1].name && attributes[1].value;
  tfrt_ir_operation_t* call = is_whole ? tfrt_ir_operation_create(context, &parts) : NULL;
  if (call) call->scratch = STAYS;
  return call;
}

static bool cut_stage(cutter_t* cutter, uint32_t number) {
  stage_t stage = {.name = NULL};
  if (!list_values(cutter, number, &stage) || !make_function(cutter, number, &stage)) return false;
  for (tfrt_ir_operation_t* op = cutter->main->first; op;) {
    tfrt_ir_operation_t* next = op->next;
    if (op->scratch == number && !move_op(cutter, op, &stage)) return false;
    op = next;
  }
  if (!return_given(cutter, &stage)) return false;
  // The call takes the values as they are in `main`, before the stage gets parameters for them.
  tfrt_ir_operation_t* call = stage.given.count ? make_call(cutter, number, &stage) : NULL;
  if (stage.given.count && !call) return false;
  for (uint32_t i = 0; i < stage.taken.count; ++i) {
    tfrt_ir_value_t* value = stage.taken.list[i];
    tfrt_ir_value_t* parameter = tfrt_ir_block_add_argument(
        cutter->context, stage.block, value->type, value->name, cutter->location);
    if (!parameter) return false;
    value->scratch = 0;
    replace_uses(value, stage.block, true, parameter);
  }
  for (uint32_t i = 0; i < stage.given.count; ++i) {
    replace_uses(stage.given.list[i], stage.block, false, &call->results[i]);
    call->results[i].scratch = 0;
  }
  if (call) tfrt_ir_block_insert_before(cutter->end, call);
  return true;
}

// --- All of them -------------------------------------------------------------------------------

static tfrt_ir_operation_t* find_main(const tfrt_ir_operation_t* module) {
  tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first;
  while (op && !(tfrt_ir_is_function(op) &&
                 tfrt_string_view_equal(tfrt_ir_symbol_name(op), tfrt_string_view_of("main")))) {
    op = op->next;
  }
  return op;
}

static bool cut(cutter_t* cutter, uint32_t count) {
  tfrt_onnx_measure_pictures(cutter->main);
  choose_stages(cutter, count);
  for (uint32_t i = 0; i < cutter->main->argument_count; ++i) {
    cutter->main->arguments[i]->scratch = 0;
  }
  for (const tfrt_ir_operation_t* op = cutter->main->first; op; op = op->next) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].scratch = 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!cut_stage(cutter, i)) return false;
  }
  for (tfrt_ir_operation_t* op = cutter->main->first; op;) {
    tfrt_ir_operation_t* next = op->next;
    if (is_constant(op) && !op->results[0].first_use) tfrt_ir_operation_erase(op);
    op = next;
  }
  return true;
}

bool tfrt_onnx_cut_stages(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                          tfrt_ir_operation_t* module, uint32_t count) {
  tfrt_op_index_t ops;
  tfrt_ir_operation_t* function = find_main(module);
  tfrt_ir_block_t* block = function ? tfrt_ir_function_block(function) : NULL;
  if (!block) return true;
  tfrt_status_t status = tfrt_op_index_initialize(&ops, tables, tfrt_ir_context_allocator(context));
  cutter_t cutter = {.context = context,
                     .ops = &ops,
                     .main = block,
                     .end = block->last,
                     .location = function->location};
  bool ok = !status && cut(&cutter, count);
  if (!status) tfrt_op_index_deinitialize(&ops);
  tfrt_status_release(status);
  return ok;
}
