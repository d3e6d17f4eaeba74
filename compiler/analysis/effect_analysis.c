// SPDX-License-Identifier: Apache-2.0

#include "compiler/analysis/effect_analysis.h"

#include <string.h>

#include "compiler/analysis/effect_analysis_impl.h"
#include "compiler/op_table/schema.h"

// --- Functions and their callers ---------------------------------------------------------------

static const struct {
  const char* op;
  uint32_t first_parameters;  // before the operands
  bool has_condition;         // the callee gives one more result, the last
} conventions[] = {
    {"tfrt.while", 0, true},
    {"tfrt.parallel_call.i32", 2, false},
    {"tfrt_async.execute", 1, false},
    {"tfrt_async.run", 1, false},
};

bool tfrt_effect_is_task(const tfrt_ir_operation_t* op) {
  return tfrt_ir_operation_is(op, "tfrt_async.execute");
}

bool tfrt_effect_runs_blocks(const tfrt_ir_operation_t* op) {
  return tfrt_ir_operation_is(op, "tfrt_async.run");
}

static uint32_t first_parameters(const tfrt_ir_operation_t* op) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(conventions); ++i) {
    if (tfrt_ir_operation_is(op, conventions[i].op)) return conventions[i].first_parameters;
  }
  return 0;
}

uint32_t tfrt_effect_parameter_of(const tfrt_ir_operation_t* op, uint32_t operand) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(op->descriptor);
  return operand < fixed_count ? UINT32_MAX : operand - fixed_count + first_parameters(op);
}

uint32_t tfrt_effect_result_of(const tfrt_ir_operation_t* op, uint32_t result) {
  return result < op->result_count ? result : UINT32_MAX;
}

bool tfrt_effect_is_loop(const tfrt_ir_operation_t* op) {
  return op->descriptor && op->descriptor->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS &&
         op->descriptor->effects & TFRT_EFFECT_OF_FUNCTIONS;
}

const tfrt_ir_operation_t* tfrt_effect_return(const tfrt_effect_function_t* function) {
  return function->block ? function->block->last : NULL;
}

static tfrt_effect_function_t* function_of(const tfrt_effect_analysis_t* analysis,
                                           const tfrt_ir_attribute_t* symbol) {
  const tfrt_ir_operation_t* op = tfrt_ir_symbol_table_resolve(analysis->symbols, symbol);
  if (!op || !tfrt_ir_is_function(op)) return NULL;
  if (op->scratch >= analysis->functions.count) return NULL;
  tfrt_effect_function_t* function = tfrt_effect_analysis_function(analysis, op->scratch);
  return function->op == op ? function : NULL;
}

tfrt_effect_function_t* tfrt_effect_named_function(const tfrt_effect_analysis_t* analysis,
                                                   const tfrt_ir_operation_t* op, uint32_t index) {
  if (!op->descriptor || !op->attribute_count) return NULL;
  for (uint32_t i = 0; i < op->descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &op->descriptor->attributes[i];
    bool is_symbol = entry->kind == TFRT_ATTRIBUTE_SYMBOL;
    if (!is_symbol && entry->kind != TFRT_ATTRIBUTE_SYMBOL_ARRAY) continue;
    const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(op, entry->name);
    uint32_t count = !value ? 0 : is_symbol ? 1 : value->count;
    if (index >= count) {
      index -= count;
      continue;
    }
    return function_of(analysis, is_symbol ? value : value->elements[index]);
  }
  return NULL;
}

bool tfrt_effect_hands_on(const tfrt_ir_operation_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  const tfrt_kernel_flags_t both = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS;
  if (!descriptor || !(descriptor->effects & TFRT_EFFECT_OF_FUNCTIONS)) return false;
  if (tfrt_effect_runs_blocks(op)) return false;
  if ((descriptor->flags & both) != both || descriptor->flags & TFRT_KERNEL_SYNC_ONLY) return false;
  return descriptor->operands[descriptor->operand_count - 1].use == TFRT_OPERAND_PASSED &&
         tfrt_kernel_descriptor_fixed_results(descriptor) == 0;
}

bool tfrt_effect_has_chain(const tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (tfrt_ir_type_is(op->operands[i].value->type, "!tfrt.chain")) return true;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (tfrt_ir_type_is(op->results[i].type, "!tfrt.chain")) return true;
  }
  return false;
}

tfrt_effect_role_t tfrt_effect_role(const tfrt_effect_analysis_t* analysis,
                                    const tfrt_ir_operation_t* op) {
  if (!tfrt_effect_hands_on(op)) return TFRT_EFFECT_ROLE_PLAIN;
  if (analysis->only_memory && tfrt_effect_has_chain(op)) return TFRT_EFFECT_ROLE_PLAIN;
  if (op->region_count) return TFRT_EFFECT_ROLE_REGIONS;
  const tfrt_effect_function_t* callee = tfrt_effect_named_function(analysis, op, 0);
  return callee && callee->has_ports ? TFRT_EFFECT_ROLE_CALL : TFRT_EFFECT_ROLE_PLAIN;
}

static uint32_t group_of(const tfrt_effect_analysis_t* analysis, uint32_t function) {
  uint32_t group = tfrt_effect_analysis_function(analysis, function)->group;
  return group == function ? function : group_of(analysis, group);
}

static uint32_t index_of(const tfrt_effect_function_t* function) { return function->op->scratch; }

tfrt_effect_function_t* tfrt_effect_callee(const tfrt_effect_analysis_t* analysis,
                                           const tfrt_ir_operation_t* op) {
  return tfrt_effect_named_function(analysis, op, 0);
}

const tfrt_scratch_t* tfrt_effect_ports(const tfrt_effect_analysis_t* analysis,
                                        const tfrt_effect_function_t* function) {
  return &tfrt_effect_analysis_function(analysis, group_of(analysis, index_of(function)))->ports;
}

// --- The functions of the module -----------------------------------------------------------------

static bool note_chains(tfrt_ir_operation_t* op, void* user_data) {
  tfrt_effect_function_t* function = user_data;
  if (tfrt_ir_operation_lacks_chains(op)) {
    function->lack = TFRT_EFFECT_LACKS_CHAINS;
  } else if (!function->lack && tfrt_effect_may_need_chain(op)) {
    function->lack = TFRT_EFFECT_LACKS_INSIDE;
  }
  return function->lack != TFRT_EFFECT_LACKS_CHAINS;
}

bool tfrt_effect_may_need_chain(const tfrt_ir_operation_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  const tfrt_kernel_flags_t other = TFRT_KERNEL_TERMINATOR | TFRT_KERNEL_LANGUAGE;
  if (!descriptor || descriptor->flags & other || op->region_count) return false;
  // Others are given operands that come behind a chain.
  bool is_pure = (descriptor->flags & TFRT_KERNEL_PURE) != 0;
  if (!is_pure && !(descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN)) return false;
  tfrt_kernel_effects_t effects = tfrt_kernel_descriptor_effects(descriptor);
  if (effects & TFRT_EFFECT_READS_NO_CONTENTS) return false;
  bool reads = false;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_type_t* type = op->operands[i].value->type;
    if (tfrt_ir_type_is(type, "!tfrt.chain")) return false;
    reads = reads || tfrt_effect_has_memory(type);
  }
  return reads;
}

// True if |type|, of a function, has a chain.
static bool has_chain(const tfrt_ir_type_t* type) {
  for (uint32_t i = 0; type && i < type->input_count + type->result_count; ++i) {
    const tfrt_ir_type_t* one =
        i < type->input_count ? type->inputs[i] : type->results[i - type->input_count];
    if (tfrt_ir_type_is(one, "!tfrt.chain")) return true;
  }
  return false;
}

static bool add_function(tfrt_effect_analysis_t* analysis, tfrt_ir_operation_t* op) {
  tfrt_effect_function_t function = {
      .op = op, .block = tfrt_ir_function_block(op), .group = (uint32_t)analysis->functions.count};
  if (tfrt_ir_operation_attribute(op, "tfrt.native")) function.block = NULL;
  function.is_sync = tfrt_ir_operation_attribute(op, "tfrt.sync") != NULL;
  function.is_by_hand = analysis->only_memory && has_chain(tfrt_ir_function_type(op));
  function.has_ports = function.block && !function.is_sync && !function.is_by_hand;
  tfrt_ir_operation_walk(op, note_chains, &function);
  if (analysis->only_memory) function.lack = TFRT_EFFECT_LACKS_NOTHING;
  tfrt_scratch_initialize(&function.ports, sizeof(tfrt_port_t), analysis->allocator);
  op->scratch = (uint32_t)analysis->functions.count;
  return tfrt_scratch_push(&analysis->functions, &function);
}

// The nesting of the text bounds the recursion.
static void add_functions(tfrt_effect_analysis_t* analysis, tfrt_ir_operation_t* module) {
  if (tfrt_ir_is_compiled_module(module)) return;
  for (tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first; op; op = op->next) {
    if (tfrt_ir_is_module(op)) add_functions(analysis, op);
    if (tfrt_ir_is_function(op) && !add_function(analysis, op)) analysis->failed = true;
  }
}

// Notes the functions that |op| names, and that they have the same ports; those that can't get any,
// take them from the others.
static bool note_names(tfrt_ir_operation_t* op, void* user_data) {
  tfrt_effect_analysis_t* analysis = user_data;
  if (op->descriptor) {
    tfrt_kernel_effects_t effects = op->descriptor->effects;
    if (effects & TFRT_EFFECT_OUTPUT) analysis->outside |= 1u << TFRT_PLACE_OUTPUT;
    if (effects & (TFRT_EFFECT_FILE_READ | TFRT_EFFECT_FILE_WRITE)) {
      analysis->outside |= 1u << tfrt_effect_file(analysis, op);
    }
    if (effects & TFRT_EFFECT_MESSAGES) analysis->outside |= 1u << TFRT_PLACE_MESSAGES;
    if (effects & TFRT_EFFECT_STATE) analysis->outside |= 1u << TFRT_PLACE_STATE;
  }
  tfrt_effect_function_t* first = tfrt_effect_named_function(analysis, op, 0);
  tfrt_effect_function_t* function = first;
  for (uint32_t i = 0; function; function = tfrt_effect_named_function(analysis, op, ++i)) {
    if (!function->use) function->use = TFRT_EFFECT_USE_CALLED;
    function->is_in_loop = function->is_in_loop || tfrt_effect_is_loop(op);
    // Blocks take each what is theirs.
    if (tfrt_effect_runs_blocks(op)) {
      function->use = TFRT_EFFECT_USE_BLOCK;
      continue;
    }
    uint32_t group = group_of(analysis, index_of(function));
    uint32_t other = group_of(analysis, index_of(first));
    if (group == other) continue;
    tfrt_effect_analysis_function(analysis, group > other ? group : other)->group =
        group > other ? other : group;
    analysis->changed = true;
  }
  return true;
}

// Functions without ports: their op can't hand chains on, or another one that it may choose can't
// take them.
static bool note_ports(tfrt_ir_operation_t* op, void* user_data) {
  tfrt_effect_analysis_t* analysis = user_data;
  tfrt_effect_function_t* function = tfrt_effect_named_function(analysis, op, 0);
  for (uint32_t i = 0; function; function = tfrt_effect_named_function(analysis, op, ++i)) {
    tfrt_effect_function_t* head =
        tfrt_effect_analysis_function(analysis, group_of(analysis, index_of(function)));
    // The order of tasks that lack no chains is what the text says, also beside others.
    bool keeps = tfrt_effect_is_task(op) && !function->lack;
    if (!tfrt_effect_hands_on(op) || !function->has_ports || keeps) head->has_ports = false;
  }
  return true;
}

// Notes that a function lacks chains somewhere inside. If one block of a function does, all do.
static bool note_lacking(tfrt_ir_operation_t* op, void* user_data) {
  tfrt_effect_analysis_t* analysis = user_data;
  bool lacks = false;
  const tfrt_effect_function_t* callee = tfrt_effect_named_function(analysis, op, 0);
  for (uint32_t i = 0; callee; callee = tfrt_effect_named_function(analysis, op, ++i)) {
    lacks = lacks || callee->lack;
  }
  if (!lacks) return true;
  tfrt_effect_function_t* block = NULL;
  if (tfrt_effect_runs_blocks(op)) block = tfrt_effect_named_function(analysis, op, 0);
  for (uint32_t i = 0; block; block = tfrt_effect_named_function(analysis, op, ++i)) {
    if (block->lack) continue;
    analysis->changed = true;
    block->lack = TFRT_EFFECT_LACKS_INSIDE;
  }
  analysis->lacks = true;
  return true;
}

static void find_lacking_functions(tfrt_effect_analysis_t* analysis) {
  uint32_t count = tfrt_effect_analysis_count(analysis);
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    any = any || tfrt_effect_analysis_function(analysis, i)->lack;
  }
  bool backwards = true;
  for (analysis->changed = any; analysis->changed; backwards = !backwards) {
    analysis->changed = false;
    for (uint32_t i = 0; i < count; ++i) {
      tfrt_effect_function_t* function =
          tfrt_effect_analysis_function(analysis, backwards ? count - 1 - i : i);
      analysis->lacks = false;
      tfrt_ir_operation_walk(function->op, note_lacking, analysis);
      if (!analysis->lacks || function->lack) continue;
      function->lack = TFRT_EFFECT_LACKS_INSIDE;
      analysis->changed = true;
    }
  }
}

static void walk_functions(tfrt_effect_analysis_t* analysis, tfrt_ir_walk_fn_t visit) {
  for (uint32_t i = 0; i < tfrt_effect_analysis_count(analysis); ++i) {
    tfrt_ir_operation_walk(tfrt_effect_analysis_function(analysis, i)->op, visit, analysis);
  }
}

static void find_functions(tfrt_effect_analysis_t* analysis) {
  add_functions(analysis, analysis->module);
  if (analysis->failed) return;
  if (!analysis->only_memory) find_lacking_functions(analysis);
  walk_functions(analysis, note_names);
  walk_functions(analysis, note_ports);
  for (uint32_t i = 0; i < tfrt_effect_analysis_count(analysis); ++i) {
    tfrt_effect_function_t* function = tfrt_effect_analysis_function(analysis, i);
    tfrt_effect_function_t* head = tfrt_effect_analysis_function(analysis, group_of(analysis, i));
    head->is_in_loop = head->is_in_loop || function->is_in_loop;
    if (!function->has_ports) head->has_ports = false;
  }
  for (uint32_t i = 0; i < tfrt_effect_analysis_count(analysis); ++i) {
    tfrt_effect_function_t* function = tfrt_effect_analysis_function(analysis, i);
    const tfrt_effect_function_t* head =
        tfrt_effect_analysis_function(analysis, group_of(analysis, i));
    function->has_ports = head->has_ports && function->use;
    function->is_in_loop = head->is_in_loop;
  }
}

// --- Places --------------------------------------------------------------------------------------

tfrt_place_t tfrt_effect_place(tfrt_effect_analysis_t* analysis, const tfrt_ir_value_t* value) {
  if (tfrt_ir_value_is_missing(value)) return TFRT_PLACE_NONE;
  if (!tfrt_effect_has_memory(value->type)) return TFRT_PLACE_NONE;
  return TFRT_PLACE_OUTSIDE_COUNT + tfrt_effect_class(analysis, value->scratch);
}

tfrt_place_t tfrt_effect_port_place(tfrt_effect_analysis_t* analysis,
                                    const tfrt_effect_function_t* function,
                                    const tfrt_port_t* port) {
  if (port->position == TFRT_PORT_OUTSIDE) return port->index;
  if (port->position == TFRT_PORT_PARAMETER) {
    return tfrt_effect_place(analysis, function->block->arguments[port->index]);
  }
  return tfrt_effect_place(analysis, function->block->last->operands[port->index].value);
}

tfrt_place_t tfrt_effect_port_place_at(tfrt_effect_analysis_t* analysis,
                                       const tfrt_ir_operation_t* op, const tfrt_port_t* port) {
  if (port->position == TFRT_PORT_OUTSIDE) return port->index;
  if (port->position == TFRT_PORT_RESULT) {
    uint32_t result = tfrt_effect_result_of(op, port->index);
    if (result == UINT32_MAX) return TFRT_PLACE_NONE;
    return tfrt_effect_place(analysis, &op->results[result]);
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (tfrt_effect_parameter_of(op, i) == port->index) {
      return tfrt_effect_place(analysis, op->operands[i].value);
    }
  }
  return TFRT_PLACE_NONE;
}

tfrt_place_t tfrt_effect_port_place_of(tfrt_effect_analysis_t* analysis,
                                       const tfrt_ir_operation_t* op,
                                       const tfrt_effect_function_t* callee,
                                       const tfrt_port_t* port) {
  bool is_block = callee->block && tfrt_effect_runs_blocks(op);
  return is_block ? tfrt_effect_port_place(analysis, callee, port)
                  : tfrt_effect_port_place_at(analysis, op, port);
}

// --- Ports ---------------------------------------------------------------------------------------

bool tfrt_effect_find_port(tfrt_effect_analysis_t* analysis, const tfrt_effect_function_t* function,
                           tfrt_place_t place, tfrt_port_t* out_port) {
  *out_port = (tfrt_port_t){.position = TFRT_PORT_OUTSIDE, .index = place};
  if (place < TFRT_PLACE_OUTSIDE_COUNT) return true;
  out_port->position = TFRT_PORT_PARAMETER;
  for (uint32_t i = 0; i < function->block->argument_count; ++i) {
    out_port->index = i;
    if (tfrt_effect_place(analysis, function->block->arguments[i]) == place) return true;
  }
  const tfrt_ir_operation_t* end = tfrt_effect_return(function);
  out_port->position = TFRT_PORT_RESULT;
  for (uint32_t i = 0; end && i < end->operand_count; ++i) {
    out_port->index = i;
    if (tfrt_effect_place(analysis, end->operands[i].value) == place) return true;
  }
  return false;
}

// Adds |port|, or its bits, to those of |group|, which are in order.
static void add_port(tfrt_effect_analysis_t* analysis, tfrt_effect_function_t* group,
                     const tfrt_port_t* port) {
  size_t i = 0;
  for (; i < group->ports.count; ++i) {
    tfrt_port_t* other = tfrt_scratch_at(&group->ports, i);
    if (other->position > port->position) break;
    if (other->position < port->position || other->index < port->index) continue;
    if (other->index > port->index) break;
    if ((other->bits | port->bits) != other->bits) analysis->changed = true;
    other->bits |= port->bits;
    return;
  }
  if (!tfrt_scratch_push(&group->ports, port)) {
    analysis->failed = true;
    return;
  }
  for (size_t k = group->ports.count - 1; k > i; --k) {
    *(tfrt_port_t*)tfrt_scratch_at(&group->ports, k) =
        *(tfrt_port_t*)tfrt_scratch_at(&group->ports, k - 1);
  }
  *(tfrt_port_t*)tfrt_scratch_at(&group->ports, i) = *port;
  analysis->changed = true;
}

// Adds to the ports of |function| what its body does.
static void sum_up(tfrt_effect_analysis_t* analysis, tfrt_effect_function_t* function) {
  tfrt_effect_function_t* group =
      tfrt_effect_analysis_function(analysis, group_of(analysis, index_of(function)));
  tfrt_access_list_t list = tfrt_effect_begin_list(analysis);
  tfrt_effect_add_block(analysis, function->block);
  tfrt_effect_end_list(analysis, list);
  for (size_t i = 0; i < analysis->found.count && !analysis->failed; ++i) {
    tfrt_access_t access = *(tfrt_access_t*)tfrt_scratch_at(&analysis->found, i);
    tfrt_port_t port;
    if (!tfrt_effect_find_port(analysis, function, access.place, &port)) continue;
    port.bits = access.bits;
    add_port(analysis, group, &port);
  }
}

// Bits are only added, so that this ends. Callees mostly stand before their callers or behind them:
// two orders in turn need few rounds.
static void find_ports(tfrt_effect_analysis_t* analysis) {
  uint32_t count = tfrt_effect_analysis_count(analysis);
  bool backwards = true;
  for (analysis->changed = true; analysis->changed && !analysis->failed; backwards = !backwards) {
    analysis->changed = false;
    for (uint32_t i = 0; i < count && !analysis->failed; ++i) {
      tfrt_effect_function_t* function =
          tfrt_effect_analysis_function(analysis, backwards ? count - 1 - i : i);
      if (function->block) sum_up(analysis, function);
    }
  }
}

// --- Live places -------------------------------------------------------------------------------

bool tfrt_effect_is_live(const tfrt_effect_analysis_t* analysis, tfrt_place_t place) {
  return place < analysis->live.count && *(bool*)tfrt_scratch_at(&analysis->live, place);
}

static void make_live(tfrt_effect_analysis_t* analysis, tfrt_place_t place) {
  if (place >= analysis->live.count || tfrt_effect_is_live(analysis, place)) return;
  *(bool*)tfrt_scratch_at(&analysis->live, place) = true;
  analysis->changed = true;
}

// A place is live if |op| writes to it, or if a call connects it with a live one.
static bool note_live(tfrt_ir_operation_t* op, void* user_data) {
  tfrt_effect_analysis_t* analysis = user_data;
  if (tfrt_ir_is_function(op) || tfrt_ir_is_module(op)) return true;
  if (tfrt_effect_accesses(analysis, op)) {
    for (size_t i = 0; i < analysis->found.count; ++i) {
      const tfrt_access_t* access = tfrt_scratch_at(&analysis->found, i);
      if (access->bits & TFRT_ACCESS_WRITES) make_live(analysis, access->place);
    }
  }
  tfrt_effect_function_t* callee = tfrt_effect_named_function(analysis, op, 0);
  for (uint32_t i = 0; callee; callee = tfrt_effect_named_function(analysis, op, ++i)) {
    const tfrt_scratch_t* ports = tfrt_effect_ports(analysis, callee);
    for (size_t k = 0; callee->block && k < ports->count; ++k) {
      tfrt_port_t* port = tfrt_scratch_at(ports, k);
      tfrt_place_t place = tfrt_effect_port_place_of(analysis, op, callee, port);
      if (place == TFRT_PLACE_NONE || !tfrt_effect_is_live(analysis, place)) continue;
      port->is_live = true;
      make_live(analysis, tfrt_effect_port_place(analysis, callee, port));
    }
  }
  return true;
}

static void find_live_places(tfrt_effect_analysis_t* analysis) {
  bool no = false;
  for (size_t i = 0; i < TFRT_PLACE_OUTSIDE_COUNT + analysis->classes.count; ++i) {
    if (!tfrt_scratch_push(&analysis->live, &no)) analysis->failed = true;
  }
  for (analysis->changed = true; analysis->changed && !analysis->failed;) {
    analysis->changed = false;
    walk_functions(analysis, note_live);
  }
}

// --- Life --------------------------------------------------------------------------------------

void tfrt_effect_analysis_deinitialize(tfrt_effect_analysis_t* analysis) {
  for (uint32_t i = 0; i < tfrt_effect_analysis_count(analysis); ++i) {
    tfrt_scratch_deinitialize(&tfrt_effect_analysis_function(analysis, i)->ports);
  }
  tfrt_scratch_t* all[] = {&analysis->classes, &analysis->functions, &analysis->entries,
                           &analysis->slots,   &analysis->found,     &analysis->first,
                           &analysis->live};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(all); ++i) tfrt_scratch_deinitialize(all[i]);
}

bool tfrt_effect_analysis_initialize(tfrt_effect_analysis_t* analysis, tfrt_ir_context_t* context,
                                     tfrt_ir_operation_t* module, bool only_memory) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  *analysis = (tfrt_effect_analysis_t){
      .allocator = allocator, .module = module, .only_memory = only_memory};
  tfrt_scratch_initialize(&analysis->classes, sizeof(uint32_t), allocator);
  tfrt_scratch_initialize(&analysis->functions, sizeof(tfrt_effect_function_t), allocator);
  tfrt_effect_initialize_lists(analysis);
  tfrt_scratch_initialize(&analysis->live, sizeof(bool), allocator);
  analysis->symbols = tfrt_ir_symbol_table_create(context, module);
  analysis->failed = !analysis->symbols;
  if (!analysis->failed) find_functions(analysis);
  if (!analysis->failed) tfrt_effect_find_classes(analysis);
  if (!analysis->failed) find_ports(analysis);
  if (!analysis->failed) find_live_places(analysis);
  if (!analysis->failed) return true;
  tfrt_effect_analysis_deinitialize(analysis);
  return false;
}
