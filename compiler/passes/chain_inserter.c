// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/chain_inserter.h"

#include "compiler/lowering/lowering.h"
#include "compiler/passes/chain_checker.h"
#include "compiler/passes/chain_inserter_impl.h"
#include "compiler/passes/pass.h"
#include "compiler/verifier/verifier.h"

// Steps of searches per op, all ops together, and some for small programs.
#define STEPS_PER_OP 4
#define STEPS_AT_LEAST 200000
// The same for the question whether the chains of a text suffice.
#define CHECK_STEPS_PER_OP 16
#define CHECK_STEPS_AT_LEAST 1000000

static bool insert_block(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block);

// --- Ops that run functions and regions --------------------------------------------------------

// Puts chains into the regions of |op|, whose ports are |uses|.
static void insert_regions(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op,
                           const tfrt_port_uses_t* uses) {
  tfrt_ir_block_t* block = inserter->block;
  tfrt_ir_value_t* ready = inserter->ready;
  for (uint32_t i = 0; i < op->region_count && !inserter->failed; ++i) {
    tfrt_ir_block_t* inner = tfrt_ir_region_single_block(&op->regions[i]);
    if (!inner) continue;
    uint32_t outer = tfrt_chain_begin_states(inserter);
    tfrt_chain_enter_ports(inserter, inner, uses);
    if (!inserter->failed && insert_block(inserter, inner))
      tfrt_chain_leave_ports(inserter, inner, uses, 0);
    tfrt_chain_end_states(inserter, outer);
  }
  inserter->block = block;
  inserter->ready = ready;
}

// An op that hands chains on to functions or regions, and gives what these give.
static void insert_handing_on(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op) {
  const tfrt_effect_function_t* callee = tfrt_effect_callee(&inserter->analysis, op);
  bool is_loop = op->region_count ? tfrt_effect_is_loop(op) : callee->is_in_loop;
  tfrt_port_uses_t uses = op->region_count ? tfrt_chain_ports_of_regions(inserter, op)
                                           : tfrt_chain_ports_of_function(inserter, callee, op);
  tfrt_ir_value_t** chains = tfrt_chain_into_ports(inserter, &uses, op);
  if (inserter->failed) return;
  insert_regions(inserter, op, &uses);
  if (!uses.count || inserter->failed) return;
  op = tfrt_chain_extend(inserter, op, chains, uses.in_count, uses.out_count, 0);
  for (uint32_t i = 0; i < uses.out_count; ++i) {
    op->results[op->result_count - 1 - i].scratch = 0;
  }
  if (!inserter->failed) tfrt_chain_note_ports(inserter, op, &uses, is_loop);
}

// --- Plain ops ---------------------------------------------------------------------------------

// Whether |op| is a task, or runs blocks, that lack chains. The chains that it has are those of the
// lowering, and say nothing of what is missing inside.
static bool runs_lacking_function(const tfrt_chain_inserter_t* inserter,
                                  const tfrt_ir_operation_t* op) {
  if (!tfrt_effect_is_task(op) && !tfrt_effect_runs_blocks(op)) return false;
  const tfrt_effect_function_t* callee = tfrt_effect_named_function(&inserter->analysis, op, 0);
  for (uint32_t i = 0; callee; ++i) {
    if (callee->lack) return true;
    callee = tfrt_effect_named_function(&inserter->analysis, op, i + 1);
  }
  return false;
}

// Whether the text has all chains of |op| that it needs, whose accesses are in |found|.
static bool is_by_hand(const tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op) {
  if (tfrt_ir_operation_lacks_chains(op) || runs_lacking_function(inserter, op)) return false;
  if (tfrt_chain_operand(op) != UINT32_MAX) return true;
  if (inserter->analysis.only_memory && tfrt_effect_has_chain(op)) return true;
  bool may_have_one = op->descriptor && op->descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN;
  if (tfrt_chain_result(op) != UINT32_MAX && !may_have_one) return true;
  if (inserter->function->lack == TFRT_EFFECT_LACKS_CHAINS) return false;
  const tfrt_scratch_t* found = &inserter->analysis.found;
  for (size_t i = 0; i < found->count; ++i) {
    const tfrt_access_t* access = tfrt_scratch_at(found, i);
    if (access->place >= TFRT_PLACE_OUTSIDE_COUNT && tfrt_chain_matters(inserter, access->place))
      return false;
  }
  return true;
}

// Adds to the candidates the control that the lowering gave |op|, for the chain that is missing.
static void add_control(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op) {
  uint32_t index = tfrt_chain_operand(op);
  tfrt_ir_value_t* missing = tfrt_ir_value_create_missing(inserter->context);
  tfrt_event_t* control = NULL;
  if (!missing || index == UINT32_MAX) {
    inserter->failed = inserter->failed || !missing;
    return;
  }
  tfrt_ir_value_t* chain = op->operands[index].value;
  tfrt_chain_add_event(inserter, &control, chain, chain->producer, false);
  tfrt_chain_add_candidates(inserter, control, false);
  tfrt_ir_operand_set(&op->operands[index], missing);
}

// Gathers what |op| has to wait for.
static void find_waits(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op, bool by_hand) {
  const tfrt_scratch_t* found = &inserter->analysis.found;
  tfrt_chain_begin_candidates(inserter);
  if (op->lacks_dependences) add_control(inserter, op);
  for (size_t i = 0; i < found->count && !inserter->failed; ++i) {
    const tfrt_access_t* access = tfrt_scratch_at(found, i);
    if (!tfrt_chain_matters(inserter, access->place)) continue;
    const tfrt_chain_state_t* state = tfrt_chain_state(inserter, access->place);
    tfrt_chain_add_candidates(inserter, state->writes, by_hand);
    if (access->bits & TFRT_ACCESS_WRITES) {
      tfrt_chain_add_candidates(inserter, state->reads, by_hand);
    }
  }
  tfrt_chain_reduce(inserter, op);
  inserter->statistics.dependences += (uint32_t)inserter->candidates.count;
  inserter->statistics.edges += (uint32_t)inserter->candidates.count;
}

// Keeps of |list| what was written by hand: an op written by hand has not waited for it.
static void keep_by_hand(tfrt_chain_inserter_t* inserter, const tfrt_event_t* list,
                         tfrt_event_t** kept) {
  uint32_t count = 0;
  for (; list && count < 64; list = list->next) {
    if (!list->by_hand) continue;
    ++count;
    tfrt_chain_add_event(inserter, kept, list->chain, list->op, true);
  }
}

static void note_accesses(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op, bool by_hand) {
  const tfrt_scratch_t* found = &inserter->analysis.found;
  for (size_t i = 0; i < found->count && !inserter->failed; ++i) {
    const tfrt_access_t* access = tfrt_scratch_at(found, i);
    if (!tfrt_chain_matters(inserter, access->place)) continue;
    tfrt_chain_state_t* state = tfrt_chain_state(inserter, access->place);
    if (!(access->bits & TFRT_ACCESS_WRITES)) {
      tfrt_chain_add_event(inserter, &state->reads, NULL, op, by_hand);
      continue;
    }
    tfrt_event_t* writes = NULL;
    if (by_hand) {
      keep_by_hand(inserter, state->writes, &writes);
      keep_by_hand(inserter, state->reads, &writes);
    }
    tfrt_chain_add_event(inserter, &writes, NULL, op, by_hand);
    state->writes = writes;
    state->reads = NULL;
  }
}

// A body that runs while |op| does: nothing outside of it is waited for in it, and its end waits
// for all of it.
static void insert_closed(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block,
                          bool may_add_chain, bool is_by_hand);

static void insert_plain(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->region_count && op->descriptor; ++i) {
    tfrt_ir_block_t* outer_block = inserter->block;
    tfrt_ir_value_t* ready = inserter->ready;
    tfrt_ir_block_t* inner = tfrt_ir_region_single_block(&op->regions[i]);
    if (inner) {
      insert_closed(inserter, inner, op->descriptor->regions[i].may_yield_nothing,
                    inserter->analysis.only_memory && tfrt_effect_has_chain(op));
    }
    inserter->block = outer_block;
    inserter->ready = ready;
  }
  if (inserter->failed || !tfrt_effect_accesses(&inserter->analysis, op)) {
    inserter->failed = true;
    return;
  }
  bool by_hand = is_by_hand(inserter, op);
  find_waits(inserter, op, by_hand);
  tfrt_ir_value_t* chain = inserter->failed ? NULL : tfrt_chain_of_candidates(inserter);
  if (inserter->failed) return;
  op = tfrt_chain_let_wait(inserter, op, chain);
  op->lacks_chain_results = op->lacks_dependences = false;
  bool wants_result = !by_hand && op->descriptor &&
                      op->descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN_RESULT &&
                      tfrt_chain_result(op) == UINT32_MAX;
  if (wants_result && !inserter->failed) {
    op = tfrt_chain_extend(inserter, op, NULL, 0, 1, 0);
    op->results[op->result_count - 1].scratch = 0;
  }
  if (!inserter->failed) note_accesses(inserter, op, by_hand);
}

// --- Blocks and functions ------------------------------------------------------------------------

// Puts chains between the ops of |block| but its terminator.
static bool insert_block(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block) {
  inserter->block = block;
  inserter->ready = NULL;
  tfrt_ir_block_number_ops(block);
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) tfrt_chain_note_op(inserter, op);
  for (tfrt_ir_operation_t* op = block->first; op && !inserter->failed;) {
    tfrt_ir_operation_t* next = op->next;
    if (tfrt_ir_operation_is_terminator(op)) break;
    if (tfrt_effect_role(&inserter->analysis, op) != TFRT_EFFECT_ROLE_PLAIN) {
      insert_handing_on(inserter, op);
    } else {
      insert_plain(inserter, op);
    }
    if (!inserter->ready && op->descriptor == inserter->new_chain) {
      inserter->ready = &op->results[0];
    }
    op = next;
  }
  return !inserter->failed;
}

// Adds to the candidates all that happened in the current block: what was written by hand only if
// the function lacks chains, since nobody else says then that it is done.
static void add_all_events(tfrt_chain_inserter_t* inserter) {
  bool by_hand = !inserter->function->lack;
  for (size_t i = inserter->first_state; i < inserter->states.count; ++i) {
    const tfrt_chain_state_t* state = tfrt_scratch_at(&inserter->states, i);
    tfrt_chain_add_candidates(inserter, state->writes, by_hand);
    tfrt_chain_add_candidates(inserter, state->reads, by_hand);
  }
}

static void insert_closed(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block,
                          bool may_add_chain, bool is_by_hand) {
  uint32_t outer = tfrt_chain_begin_states(inserter);
  if (insert_block(inserter, block) && block->last) {
    tfrt_ir_operation_t* end = block->last;
    tfrt_chain_begin_candidates(inserter);
    add_all_events(inserter);
    tfrt_chain_reduce(inserter, end);
    bool has_use = (end->operand_count || may_add_chain) && !is_by_hand;
    tfrt_ir_value_t* chain =
        has_use && !inserter->failed ? tfrt_chain_of_candidates(inserter) : NULL;
    if (chain && !end->operand_count) tfrt_chain_extend(inserter, end, &chain, 1, 0, 0);
    for (uint32_t i = 0; chain && i < end->operand_count && !inserter->failed; ++i) {
      tfrt_ir_value_t* value = end->operands[i].value;
      tfrt_ir_value_t* delayed = value->type == inserter->chain_type
                                     ? tfrt_chain_merge(inserter, value, chain, end)
                                     : tfrt_chain_delay(inserter, chain, value, end);
      if (delayed) tfrt_ir_operand_set(&end->operands[i], delayed);
    }
  }
  tfrt_chain_end_states(inserter, outer);
}

// Lets the states of |function|, a block of several, begin with the chain that it is given: what
// the blocks before it did comes before.
static void enter_flow_block(tfrt_chain_inserter_t* inserter,
                             const tfrt_effect_function_t* function) {
  const tfrt_scratch_t* ports = tfrt_effect_ports(&inserter->analysis, function);
  for (size_t i = 0; i < ports->count && !inserter->failed; ++i) {
    const tfrt_port_t* port = tfrt_scratch_at(ports, i);
    if (port->position == TFRT_PORT_RESULT) continue;
    tfrt_place_t place = tfrt_effect_port_place(&inserter->analysis, function, port);
    tfrt_chain_state_t* state = tfrt_chain_state(inserter, place);
    tfrt_chain_add_event(inserter, &state->writes, function->block->arguments[0], NULL, false);
  }
}

// A block of a function of several: the next one begins when the chain, its first result, is there.
static void insert_flow_block(tfrt_chain_inserter_t* inserter,
                              const tfrt_effect_function_t* function) {
  tfrt_ir_block_t* block = function->block;
  uint32_t outer = tfrt_chain_begin_states(inserter);
  enter_flow_block(inserter, function);
  if (insert_block(inserter, block) && block->last && block->last->operand_count) {
    tfrt_ir_value_t* own = block->last->operands[0].value;
    tfrt_event_t* end = NULL;
    tfrt_chain_begin_candidates(inserter);
    add_all_events(inserter);
    if (inserter->candidates.count) {
      tfrt_chain_add_event(inserter, &end, own, own->producer, false);
      tfrt_chain_add_candidates(inserter, end, false);
      tfrt_chain_reduce(inserter, NULL);
    }
    tfrt_ir_value_t* chain = inserter->failed ? NULL : tfrt_chain_of_candidates(inserter);
    if (chain && !inserter->failed) tfrt_ir_operand_set(&block->last->operands[0], chain);
  }
  tfrt_chain_end_states(inserter, outer);
}

// The results of a function that nobody calls are there once they are written.
static void delay_results(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block) {
  tfrt_ir_operation_t* end = block->last;
  for (uint32_t i = 0; end && i < end->operand_count && !inserter->failed; ++i) {
    tfrt_ir_value_t* value = end->operands[i].value;
    tfrt_place_t place = tfrt_effect_place(&inserter->analysis, value);
    if (!tfrt_chain_matters(inserter, place)) continue;
    tfrt_chain_begin_candidates(inserter);
    tfrt_chain_add_candidates(inserter, tfrt_chain_state(inserter, place)->writes, true);
    tfrt_chain_reduce(inserter, value->producer);
    tfrt_ir_value_t* chain = tfrt_chain_of_candidates(inserter);
    if (!chain || inserter->failed) continue;
    tfrt_ir_value_t* delayed = tfrt_chain_delay(inserter, chain, value, end);
    if (delayed) tfrt_ir_operand_set(&end->operands[i], delayed);
  }
}

// |old|, an array of dictionaries or NULL, with |count| empty ones behind |first| of them.
static const tfrt_ir_attribute_t* extend_dictionaries(tfrt_chain_inserter_t* inserter,
                                                      const tfrt_ir_attribute_t* old,
                                                      uint32_t first, uint32_t count) {
  if (!old) return NULL;
  const tfrt_ir_attribute_t** elements = tfrt_arena_allocate_array(
      &inserter->arena, (size_t)old->count + count, sizeof(tfrt_ir_attribute_t*));
  const tfrt_ir_attribute_t* empty = tfrt_ir_attribute_dictionary(inserter->context, NULL, 0);
  inserter->failed = inserter->failed || !elements || !empty;
  if (inserter->failed) return NULL;
  uint32_t next = 0;
  for (uint32_t i = 0; i < old->count + count; ++i) {
    elements[i] = i >= first && i < first + count ? empty : old->elements[next++];
  }
  return tfrt_ir_attribute_array(inserter->context, elements, old->count + count);
}

static void set_dictionaries(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* function,
                             const char* name, uint32_t first, uint32_t count) {
  const tfrt_ir_attribute_t* old = tfrt_ir_operation_attribute(function, name);
  const tfrt_ir_attribute_t* extended = extend_dictionaries(inserter, old, first, count);
  if (!extended) return;
  const tfrt_ir_string_t* key = tfrt_ir_string_of(inserter->context, name);
  if (!key || !tfrt_ir_operation_set_attribute(inserter->context, function, key, extended)) {
    inserter->failed = true;
  }
}

// Lets the type of |function| say what its block takes and gives.
static void set_type(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* function,
                     tfrt_ir_block_t* block) {
  const tfrt_ir_operation_t* end = block->last;
  uint32_t input_count = block->argument_count;
  size_t count = (size_t)input_count + end->operand_count + 1;
  const tfrt_ir_type_t** types =
      tfrt_arena_allocate_array(&inserter->arena, count, sizeof(tfrt_ir_type_t*));
  inserter->failed = inserter->failed || !types;
  if (inserter->failed) return;
  for (uint32_t i = 0; i < input_count; ++i) types[i] = block->arguments[i]->type;
  for (uint32_t i = 0; i < end->operand_count; ++i) {
    types[input_count + i] = end->operands[i].value->type;
  }
  const tfrt_ir_type_t* type = tfrt_ir_type_function(inserter->context, types, input_count,
                                                     types + input_count, end->operand_count);
  const tfrt_ir_attribute_t* attribute =
      type ? tfrt_ir_attribute_type(inserter->context, type) : NULL;
  const tfrt_ir_string_t* key = tfrt_ir_string_of(inserter->context, "function_type");
  if (!attribute || !key ||
      !tfrt_ir_operation_set_attribute(inserter->context, function, key, attribute)) {
    inserter->failed = true;
  }
}

// True if |function|'s last result is a condition, which stays the last one.
static bool ends_in_condition(const tfrt_effect_function_t* function) {
  return function->is_in_loop;
}

static void insert_function(tfrt_chain_inserter_t* inserter,
                            const tfrt_effect_function_t* function) {
  tfrt_ir_block_t* block = function->block;
  if (!block || function->is_sync || !block->last) return;
  // Its results are not what its block ends with; the lowering gives it its chains.
  if (tfrt_ir_is_async_function(function->op)) return;
  inserter->function = function;
  if (function->use == TFRT_EFFECT_USE_BLOCK && !inserter->analysis.only_memory) {
    insert_flow_block(inserter, function);
    return;
  }
  if (!function->has_ports && function->use) {
    insert_closed(inserter, block, !tfrt_ir_function_type(function->op)->result_count,
                  function->is_by_hand);
    set_type(inserter, function->op, block);
    return;
  }
  uint32_t outer = tfrt_chain_begin_states(inserter);
  if (function->has_ports) {
    tfrt_port_uses_t uses = tfrt_chain_ports_of_function(inserter, function, NULL);
    uint32_t parameters = block->argument_count;
    uint32_t before = ends_in_condition(function) ? 1 : 0;
    uint32_t results = block->last->operand_count - before;
    tfrt_chain_enter_ports(inserter, block, &uses);
    if (!inserter->failed && insert_block(inserter, block)) {
      tfrt_chain_leave_ports(inserter, block, &uses, before);
    }
    if (!inserter->failed && uses.count) {
      set_dictionaries(inserter, function->op, "arg_attrs", parameters, uses.in_count);
      set_dictionaries(inserter, function->op, "res_attrs", results, uses.out_count);
      set_type(inserter, function->op, block);
    }
  } else if (insert_block(inserter, block)) {
    delay_results(inserter, block);
  }
  tfrt_chain_end_states(inserter, outer);
}

// --- The pass ----------------------------------------------------------------------------------

static bool find_descriptors(tfrt_chain_inserter_t* inserter, const tfrt_op_tables_t* tables) {
  inserter->new_chain = tfrt_kernel_table_find(tables->tables, tables->count, "tfrt.new.chain");
  inserter->merge_chains =
      tfrt_kernel_table_find(tables->tables, tables->count, "tfrt.merge.chains");
  inserter->alias_value = tfrt_kernel_table_find(tables->tables, tables->count, "tfrt.alias.value");
  return inserter->new_chain && inserter->merge_chains && inserter->alias_value;
}

static void initialize(tfrt_chain_inserter_t* inserter, tfrt_ir_context_t* context,
                       tfrt_diagnostics_t* diagnostics) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  inserter->context = context;
  inserter->diagnostics = diagnostics;
  tfrt_arena_initialize(&inserter->arena, allocator);
  inserter->chain_type = tfrt_ir_type_dialect(context, tfrt_string_view_of("!tfrt.chain"));
  inserter->failed = !inserter->chain_type;
  tfrt_scratch_initialize(&inserter->states, sizeof(tfrt_chain_state_t), allocator);
  tfrt_scratch_initialize(&inserter->slots, sizeof(uint32_t), allocator);
  tfrt_scratch_initialize(&inserter->ops, sizeof(tfrt_chain_op_t), allocator);
  tfrt_scratch_initialize(&inserter->links, sizeof(tfrt_chain_link_t), allocator);
  tfrt_scratch_initialize(&inserter->candidates, sizeof(tfrt_chain_candidate_t), allocator);
  tfrt_scratch_initialize(&inserter->way, tfrt_chain_step_size, allocator);
  tfrt_scratch_initialize(&inserter->values, sizeof(tfrt_ir_value_t*), allocator);
  tfrt_scratch_initialize(&inserter->types, sizeof(tfrt_ir_type_t*), allocator);
}

static void deinitialize(tfrt_chain_inserter_t* inserter) {
  tfrt_scratch_t* all[] = {&inserter->states, &inserter->slots,      &inserter->ops,
                           &inserter->links,  &inserter->candidates, &inserter->way,
                           &inserter->values, &inserter->types};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(all); ++i) tfrt_scratch_deinitialize(all[i]);
  tfrt_arena_deinitialize(&inserter->arena);
}

// The result of a first walk over the program.
typedef struct survey_s {
  uint32_t op_count;
  bool lacks_chains;  // some that the tables list
  bool may_race;      // an op that may be given a chain, and has none, reads what may be written to
  bool writes;        // an op writes to memory
} survey_t;

static bool survey_op(tfrt_ir_operation_t* op, void* user_data) {
  survey_t* survey = user_data;
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  ++survey->op_count;
  if (op->lacks_chain_results || op->lacks_dependences) survey->lacks_chains = true;
  if (!descriptor) return true;
  if (descriptor->flags & TFRT_KERNEL_TERMINATOR) return true;
  bool may_wait = descriptor->flags & (TFRT_KERNEL_TRAILING_CHAIN | TFRT_KERNEL_PURE) &&
                  !(tfrt_kernel_descriptor_effects(descriptor) & TFRT_EFFECT_READS_NO_CONTENTS) &&
                  tfrt_chain_operand(op) == UINT32_MAX;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_value_t* value = op->operands[i].value;
    const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(descriptor, i);
    if (tfrt_ir_value_is_missing(value)) survey->lacks_chains = true;
    if (entry && entry->use == TFRT_OPERAND_MUTATED) survey->writes = true;
    if (may_wait && tfrt_effect_has_memory(value->type)) survey->may_race = true;
  }
  return true;
}

// Reports functions whose blocks nobody puts chains between: they are lowered first.
static bool check_blocks(const tfrt_effect_analysis_t* analysis, tfrt_diagnostics_t* diagnostics) {
  size_t errors_before = diagnostics->error_count;
  for (uint32_t i = 0; i < tfrt_effect_analysis_count(analysis); ++i) {
    const tfrt_effect_function_t* function = tfrt_effect_analysis_function(analysis, i);
    if (function->block || function->lack != TFRT_EFFECT_LACKS_CHAINS) continue;
    tfrt_string_view_t name = tfrt_ir_symbol_name(function->op);
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, function->op,
                     "function '@%.*s' lacks chains, and has several blocks, between which none "
                     "can be put in: write it with tfrt.if, tfrt.while or tfrt.repeat",
                     TFRT_STRING_VIEW_ARGUMENTS(name));
  }
  return diagnostics->error_count == errors_before;
}

static bool report_out_of_memory(const tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics,
                                 size_t errors_before) {
  if (diagnostics->error_count == errors_before) {
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module, "out of memory to insert chains");
  }
  return false;
}

static void report_statistics(const tfrt_chain_inserter_t* inserter,
                              const tfrt_effect_function_t* function,
                              const tfrt_chain_statistics_t* before) {
  const tfrt_chain_statistics_t* now = &inserter->statistics;
  tfrt_string_view_t name = tfrt_ir_symbol_name(function->op);
  tfrt_pass_report(inserter->diagnostics, TFRT_SEVERITY_REMARK, function->op,
                   "function '@%.*s': %u chains put in, %u needed at least, %u merges",
                   TFRT_STRING_VIEW_ARGUMENTS(name), now->edges - before->edges,
                   now->dependences - before->dependences, now->merges - before->merges);
}

static bool insert_all(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                       tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics,
                       bool with_statistics) {
  size_t errors_before = diagnostics->error_count;
  survey_t survey = {0};
  tfrt_ir_operation_walk(module, survey_op, &survey);
  if (survey.lacks_chains && tfrt_lowering_lacks_chains(module)) {
    if (!tfrt_lower_language(context, module, tables, diagnostics)) return false;
    if (!tfrt_verify_module(context, module, diagnostics)) return false;
    survey = (survey_t){0};
    tfrt_ir_operation_walk(module, survey_op, &survey);
  }
  bool is_complete = !survey.lacks_chains && !(survey.may_race && survey.writes);
  if (!survey.lacks_chains && !is_complete) {
    is_complete = tfrt_chains_order_memory(
        context, module, CHECK_STEPS_PER_OP * (uint64_t)survey.op_count + CHECK_STEPS_AT_LEAST);
  }
  if (is_complete && !with_statistics) return true;
  tfrt_chain_inserter_t inserter = {.budget =
                                        STEPS_PER_OP * (uint64_t)survey.op_count + STEPS_AT_LEAST};
  if (!find_descriptors(&inserter, tables)) {
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module,
                     "chains can't be put in: no op table has tfrt.new.chain, tfrt.merge.chains "
                     "and tfrt.alias.value");
    return false;
  }
  if (!tfrt_effect_analysis_initialize(&inserter.analysis, context, module, !survey.lacks_chains)) {
    return report_out_of_memory(module, diagnostics, errors_before);
  }
  initialize(&inserter, context, diagnostics);
  inserter.failed = inserter.failed || !check_blocks(&inserter.analysis, diagnostics);
  for (uint32_t i = 0; i < tfrt_effect_analysis_count(&inserter.analysis); ++i) {
    const tfrt_effect_function_t* function = tfrt_effect_analysis_function(&inserter.analysis, i);
    tfrt_chain_statistics_t before = inserter.statistics;
    if (!inserter.failed) insert_function(&inserter, function);
    if (with_statistics) report_statistics(&inserter, function, &before);
  }
  bool ok = !inserter.failed;
  deinitialize(&inserter);
  tfrt_effect_analysis_deinitialize(&inserter.analysis);
  return ok || report_out_of_memory(module, diagnostics, errors_before);
}

bool tfrt_insert_chains(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                        tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  return insert_all(context, tables, module, diagnostics, false);
}

bool tfrt_print_dependence_stats(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                 tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  return insert_all(context, tables, module, diagnostics, true);
}

// --- Without the pass --------------------------------------------------------------------------

static bool report_missing(tfrt_ir_operation_t* op, void* user_data) {
  tfrt_diagnostics_t* diagnostics = user_data;
  if (!op->descriptor || !tfrt_ir_operation_lacks_chains(op)) return true;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!tfrt_ir_value_is_missing(op->operands[i].value)) continue;
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, op,
                     "'%s' op lacks operand #%u, the chain '%s'", op->name->data, i,
                     op->descriptor->operands[i].name);
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!tfrt_ir_operation_lacks_result(op, i)) continue;
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, op,
                     "'%s' op lacks result #%u, the chain '%s'", op->name->data, i,
                     op->descriptor->results[i].name);
  }
  return true;
}

bool tfrt_check_no_chain_missing(tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  size_t errors_before = diagnostics->error_count;
  tfrt_ir_operation_walk(module, report_missing, diagnostics);
  return diagnostics->error_count == errors_before;
}
