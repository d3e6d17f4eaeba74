// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/chain_inserter_impl.h"

// --- The ports of a function, or of regions ----------------------------------------------------

static tfrt_port_use_t make_use(tfrt_place_t place, uint32_t bits, bool is_loop) {
  bool writes = (bits & TFRT_ACCESS_WRITES) != 0;
  bool reads_first = (bits & TFRT_ACCESS_READS_FIRST) != 0;
  bool reads_last = (bits & TFRT_ACCESS_READS_LAST) != 0;
  // A loop takes the chains that it gives.
  if (is_loop) reads_first = reads_last = reads_first || reads_last;
  bool two_in = writes ? reads_first : is_loop;
  bool two_out = writes ? reads_last : is_loop;
  return (tfrt_port_use_t){place, bits, two_in ? 2 : 1, two_out ? 2 : 1};
}

// With |is_new|, nobody else knows the memory yet: nothing is waited for.
static void add_use(tfrt_port_uses_t* uses, tfrt_place_t place, uint32_t bits, bool is_loop,
                    bool is_new) {
  tfrt_port_use_t use = make_use(place, bits, is_loop);
  if (is_new) use.in_count = 0;
  uses->in_count += use.in_count;
  uses->out_count += use.out_count;
  uses->uses[uses->count++] = use;
}

static bool begin_uses(tfrt_chain_inserter_t* inserter, tfrt_port_uses_t* uses, size_t room) {
  *uses = (tfrt_port_uses_t){0};
  uses->uses = tfrt_arena_allocate_array(&inserter->arena, room + 1, sizeof(tfrt_port_use_t));
  inserter->failed = inserter->failed || !uses->uses;
  return uses->uses != NULL;
}

tfrt_port_uses_t tfrt_chain_ports_of_function(tfrt_chain_inserter_t* inserter,
                                              const tfrt_effect_function_t* function,
                                              const tfrt_ir_operation_t* call) {
  const tfrt_scratch_t* ports = tfrt_effect_ports(&inserter->analysis, function);
  tfrt_port_uses_t uses;
  if (!begin_uses(inserter, &uses, ports->count)) return uses;
  for (size_t i = 0; i < ports->count; ++i) {
    const tfrt_port_t* port = tfrt_scratch_at(ports, i);
    if (port->position == TFRT_PORT_OUTSIDE && inserter->analysis.only_memory) continue;
    if (!port->is_live) continue;
    tfrt_place_t place = call ? tfrt_effect_port_place_at(&inserter->analysis, call, port)
                              : tfrt_effect_port_place(&inserter->analysis, function, port);
    add_use(&uses, place, port->bits, function->is_in_loop,
            port->position == TFRT_PORT_RESULT && !function->is_in_loop);
  }
  return uses;
}

// Whether memory of |place| may come into the regions of |op|, or out of them. Other memory is made
// anew each time, and nobody outside, and no other turn of a loop, knows it.
static bool is_handed_on(tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op,
                         tfrt_place_t place) {
  if (place < TFRT_PLACE_OUTSIDE_COUNT || tfrt_kernel_descriptor_sees_outside(op->descriptor)) {
    return true;
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (tfrt_effect_place(&inserter->analysis, op->operands[i].value) == place) return true;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (tfrt_effect_place(&inserter->analysis, &op->results[i]) == place) return true;
  }
  return false;
}

tfrt_port_uses_t tfrt_chain_ports_of_regions(tfrt_chain_inserter_t* inserter,
                                             const tfrt_ir_operation_t* op) {
  tfrt_port_uses_t uses = {0};
  if (!tfrt_effect_accesses(&inserter->analysis, op)) inserter->failed = true;
  const tfrt_scratch_t* found = &inserter->analysis.found;
  if (inserter->failed || !begin_uses(inserter, &uses, found->count)) return uses;
  for (size_t i = 0; i < found->count; ++i) {
    const tfrt_access_t* access = tfrt_scratch_at(found, i);
    if (!tfrt_chain_matters(inserter, access->place) || !is_handed_on(inserter, op, access->place))
      continue;
    add_use(&uses, access->place, access->bits, tfrt_effect_is_loop(op), false);
  }
  return uses;
}

// --- Chains at a port ----------------------------------------------------------------------------

// Lets the last event of |reads|, one of two chains that are handed on, say that it comes behind
// the last of |writes|, the other one.
static void cover(tfrt_event_t* reads, const tfrt_event_t* writes) {
  if (reads && writes) reads->covered = writes->chain;
}

void tfrt_chain_enter_ports(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block,
                            const tfrt_port_uses_t* uses) {
  for (uint32_t i = 0; i < uses->count; ++i) {
    for (uint32_t k = 0; k < uses->uses[i].in_count; ++k) {
      tfrt_ir_value_t* chain =
          tfrt_ir_block_add_argument(inserter->context, block, inserter->chain_type, NULL, NULL);
      if (!chain) {
        inserter->failed = true;
        return;
      }
      chain->scratch = 0;
      tfrt_chain_state_t* state = tfrt_chain_state(inserter, uses->uses[i].place);
      tfrt_chain_add_event(inserter, k ? &state->reads : &state->writes, chain, NULL, false);
      if (k) cover(state->reads, state->writes);
    }
  }
}

// A chain for |first| and |second|, lists of events (NULL: none), or one that is ready.
static tfrt_ir_value_t* chain_of_events(tfrt_chain_inserter_t* inserter, const tfrt_event_t* first,
                                        const tfrt_event_t* second, tfrt_ir_operation_t* position) {
  tfrt_chain_begin_candidates(inserter);
  tfrt_chain_add_candidates(inserter, first, false);
  tfrt_chain_add_candidates(inserter, second, false);
  tfrt_chain_reduce(inserter, NULL);
  tfrt_ir_value_t* chain = tfrt_chain_of_candidates(inserter);
  return chain || inserter->failed ? chain : tfrt_chain_ready(inserter, position);
}

// The chain of the reads of |state|, which has some. It comes behind the writes, too: reads wait
// for those before them, but not for what a call has written to memory that it has made.
static tfrt_ir_value_t* chain_of_reads(tfrt_chain_inserter_t* inserter,
                                       const tfrt_chain_state_t* state,
                                       tfrt_ir_operation_t* position) {
  return chain_of_events(inserter, state->reads, state->writes, position);
}

// Sets |out_chains| to the chains that |use| takes at |position|.
static void chains_into(tfrt_chain_inserter_t* inserter, const tfrt_port_use_t* use,
                        tfrt_ir_operation_t* position, tfrt_ir_value_t** out_chains) {
  tfrt_chain_state_t state = *tfrt_chain_state(inserter, use->place);
  if (!use->in_count) return;
  bool both = use->in_count == 1 && use->bits & TFRT_ACCESS_WRITES;
  out_chains[0] = chain_of_events(inserter, state.writes, both ? state.reads : NULL, position);
  if (use->in_count == 1) return;
  out_chains[1] = state.reads ? chain_of_reads(inserter, &state, position) : out_chains[0];
}

tfrt_ir_value_t** tfrt_chain_into_ports(tfrt_chain_inserter_t* inserter,
                                        const tfrt_port_uses_t* uses,
                                        tfrt_ir_operation_t* position) {
  if (inserter->failed) return NULL;
  tfrt_ir_value_t** chains = tfrt_arena_allocate_array(&inserter->arena, (size_t)uses->in_count + 1,
                                                       sizeof(tfrt_ir_value_t*));
  if (!chains) inserter->failed = true;
  uint32_t count = 0;
  for (uint32_t i = 0; i < uses->count && !inserter->failed; ++i) {
    chains_into(inserter, &uses->uses[i], position, chains + count);
    count += uses->uses[i].in_count;
  }
  return chains;
}

// Sets |out_chains| to the chains that |use| gives at the end of a block.
static void chains_out_of(tfrt_chain_inserter_t* inserter, const tfrt_port_use_t* use,
                          tfrt_ir_operation_t* position, tfrt_ir_value_t** out_chains) {
  tfrt_chain_state_t state = *tfrt_chain_state(inserter, use->place);
  if (use->out_count == 1) {
    // A branch that did nothing hands on what it was given. Reads of memory that a call has made
    // have not waited for that, so it is handed on beside them, too.
    out_chains[0] = chain_of_events(inserter, state.writes, state.reads, position);
    return;
  }
  out_chains[0] = chain_of_events(inserter, state.writes, NULL, position);
  out_chains[1] = state.reads ? chain_of_reads(inserter, &state, position) : out_chains[0];
}

void tfrt_chain_leave_ports(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block,
                            const tfrt_port_uses_t* uses, uint32_t before) {
  tfrt_ir_value_t** chains = tfrt_arena_allocate_array(
      &inserter->arena, (size_t)uses->out_count + 1, sizeof(tfrt_ir_value_t*));
  if (!chains) inserter->failed = true;
  uint32_t count = 0;
  for (uint32_t i = 0; i < uses->count && !inserter->failed; ++i) {
    chains_out_of(inserter, &uses->uses[i], block->last, chains + count);
    count += uses->uses[i].out_count;
  }
  if (count && !inserter->failed) {
    tfrt_chain_extend(inserter, block->last, chains, count, 0, before);
  }
}

void tfrt_chain_note_ports(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op,
                           const tfrt_port_uses_t* uses, bool is_loop) {
  uint32_t operand = op->operand_count - uses->in_count;
  uint32_t result = op->result_count - uses->out_count;
  tfrt_chain_op_t* known = tfrt_chain_op(inserter, op);
  known->first_out = result;
  known->links = (uint32_t)inserter->links.count;
  // Before any is added: two ports may be of one place here. New memory has not waited for what
  // happened to other memory of its place.
  for (uint32_t i = 0; i < uses->count; ++i) {
    if (!(uses->uses[i].bits & TFRT_ACCESS_WRITES) || !uses->uses[i].in_count) continue;
    tfrt_chain_state_t* state = tfrt_chain_state(inserter, uses->uses[i].place);
    state->writes = state->reads = NULL;
  }
  for (uint32_t i = 0; i < uses->count; ++i) {
    const tfrt_port_use_t* use = &uses->uses[i];
    tfrt_chain_state_t* state = tfrt_chain_state(inserter, use->place);
    bool writes = (use->bits & TFRT_ACCESS_WRITES) != 0;
    // The first of two has waited for the writes before, any other for the reads too.
    for (uint32_t k = 0; k < use->out_count; ++k) {
      bool has_both = k || !writes || use->out_count == 1;
      tfrt_chain_link_t link = {operand, has_both || !use->in_count ? use->in_count : 1};
      if (!tfrt_scratch_push(&inserter->links, &link)) inserter->failed = true;
    }
    tfrt_event_t** list = writes ? &state->writes : &state->reads;
    bool is_second = use->out_count == 2 && !writes && is_loop;
    tfrt_chain_add_event(inserter, list, &op->results[result + (is_second ? 1 : 0)], op, false);
    if (use->out_count == 2 && writes) {
      tfrt_chain_add_event(inserter, &state->reads, &op->results[result + 1], op, false);
      cover(state->reads, state->writes);
    }
    operand += use->in_count;
    result += use->out_count;
  }
}
