// SPDX-License-Identifier: Apache-2.0
//
// The transitive reduction, one op at a time: from what an op waits for, and from what it is to
// wait for, the ops are walked backwards. A candidate that is met on the way is implied.
//
//   fill %t  <---  print %t  <---  op     the op need not wait for `fill`
//
// No op waits for a later one, so a walk never goes behind the earliest candidate. In most programs
// it ends after a few steps; a budget, shared by all walks, bounds the others. Then a chain may be
// put in that another path implies.

#include "compiler/passes/chain_inserter_impl.h"

// Candidates that are looked at, at most, for a chain of their own: those of ports.
#define MAX_CHAINS 16

tfrt_chain_op_t* tfrt_chain_op(const tfrt_chain_inserter_t* inserter,
                               const tfrt_ir_operation_t* op) {
  return tfrt_scratch_at(&inserter->ops, op->scratch);
}

void tfrt_chain_note_op(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op) {
  tfrt_chain_op_t known = {.first_out = UINT32_MAX};
  op->scratch = (uint32_t)inserter->ops.count;
  if (!tfrt_scratch_push(&inserter->ops, &known)) inserter->failed = true;
  // A chain has no class of memory: searches mark it there.
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (tfrt_ir_type_is(op->results[i].type, "!tfrt.chain")) op->results[i].scratch = 0;
  }
}

static tfrt_chain_candidate_t* candidate_at(const tfrt_chain_inserter_t* inserter, size_t index) {
  return tfrt_scratch_at(&inserter->candidates, index);
}

void tfrt_chain_begin_candidates(tfrt_chain_inserter_t* inserter) {
  inserter->candidates.count = 0;
  ++inserter->search;
}

// True if |event| is a candidate already. Events with a chain of their own are few.
static bool is_candidate(tfrt_chain_inserter_t* inserter, const tfrt_event_t* event) {
  if (!event->chain) {
    tfrt_chain_op_t* known = tfrt_chain_op(inserter, event->op);
    if (known->candidate == inserter->search) return true;
    known->candidate = inserter->search;
    known->index = (uint32_t)inserter->candidates.count;
    return false;
  }
  for (size_t i = 0; i < inserter->candidates.count; ++i) {
    if (candidate_at(inserter, i)->event->chain == event->chain) return true;
  }
  return false;
}

void tfrt_chain_add_candidates(tfrt_chain_inserter_t* inserter, const tfrt_event_t* list,
                               bool is_by_hand) {
  for (const tfrt_event_t* event = list; event; event = event->next) {
    if ((is_by_hand && event->by_hand) || is_candidate(inserter, event)) continue;
    tfrt_chain_candidate_t candidate = {event, false};
    if (!tfrt_scratch_push(&inserter->candidates, &candidate)) inserter->failed = true;
  }
}

// --- The walk ------------------------------------------------------------------------------------

// True if |value|, a result of |op|, says that all of |op| is done.
static bool says_done(const tfrt_ir_operation_t* op, const tfrt_ir_value_t* value) {
  uint32_t chain = tfrt_chain_result(op);
  return chain == UINT32_MAX ? op->result_count == 1 : value->index == chain;
}

static void meet_op(tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op) {
  const tfrt_chain_op_t* known = tfrt_chain_op(inserter, op);
  if (known->candidate == inserter->search) candidate_at(inserter, known->index)->implied = true;
}

// A step of the way: all that |op| has waited for, or what |chain|, of a port of it, implies.
typedef struct step_s {
  const tfrt_ir_operation_t* op;
  tfrt_ir_value_t* chain;  // NULL: all
} step_t;

static void push_step(tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op,
                      tfrt_ir_value_t* chain) {
  step_t step = {op, chain};
  if (!tfrt_scratch_push(&inserter->way, &step)) inserter->failed = true;
}

// Walks on from |op|, which gives |value|, unless that was done.
static void walk_on(tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op,
                    tfrt_ir_value_t* value) {
  if (tfrt_effect_role(&inserter->analysis, op) != TFRT_EFFECT_ROLE_PLAIN) {
    // Such an op gives each result when that is there. Only its ports say what they imply.
    if (value->index < tfrt_chain_op(inserter, op)->first_out) return;
    if (value->scratch == inserter->search) return;
    value->scratch = inserter->search;  // no class of memory: it is a chain
    push_step(inserter, op, value);
    return;
  }
  tfrt_chain_op_t* known = tfrt_chain_op(inserter, op);
  if (known->visited == inserter->search) return;
  known->visited = inserter->search;
  push_step(inserter, op, NULL);
}

// Something waits for |value|.
static void meet_value(tfrt_chain_inserter_t* inserter, tfrt_ir_value_t* value,
                       uint32_t first_place) {
  const tfrt_ir_operation_t* op = value->producer;
  if (value->type == inserter->chain_type) {
    for (size_t i = 0; i < inserter->candidates.count && i < MAX_CHAINS; ++i) {
      tfrt_chain_candidate_t* candidate = candidate_at(inserter, i);
      if (candidate->event->chain == value) candidate->implied = true;
    }
  }
  if (!op || op->place < first_place || op->block != inserter->block) return;
  const tfrt_chain_op_t* known = tfrt_chain_op(inserter, op);
  if (known->completes) meet_op(inserter, known->completes);
  if (says_done(op, value)) meet_op(inserter, op);
  walk_on(inserter, op, value);
}

// Goes on with what |chain|, of a port of |op|, implies.
static void follow_port(tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op,
                        const tfrt_ir_value_t* chain, uint32_t first_place) {
  const tfrt_chain_op_t* known = tfrt_chain_op(inserter, op);
  tfrt_chain_link_t operands = *(tfrt_chain_link_t*)tfrt_scratch_at(
      &inserter->links, known->links + chain->index - known->first_out);
  for (uint32_t i = 0; i < operands.count; ++i) {
    meet_value(inserter, op->operands[operands.first + i].value, first_place);
  }
}

// Goes on with what |op| has waited for.
static void follow_op(tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op,
                      uint32_t first_place) {
  if (tfrt_ir_operation_attribute(op, "bef.nonstrict")) return;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    tfrt_ir_value_t* value = op->operands[i].value;
    const tfrt_operand_descriptor_t* entry =
        op->descriptor ? tfrt_kernel_descriptor_operand(op->descriptor, i) : NULL;
    if ((entry && entry->use == TFRT_OPERAND_PASSED) || tfrt_ir_value_is_missing(value)) continue;
    meet_value(inserter, value, first_place);
  }
}

// The place before which no candidate is.
static uint32_t first_place_of(const tfrt_chain_inserter_t* inserter) {
  uint32_t first = UINT32_MAX;
  for (size_t i = 0; i < inserter->candidates.count; ++i) {
    const tfrt_event_t* event = candidate_at(inserter, i)->event;
    uint32_t place = event->op ? event->op->place : 0;
    if (place < first) first = place;
  }
  return first;
}

// Chains that one of the candidates covers are implied.
static void leave_out_covered(const tfrt_chain_inserter_t* inserter) {
  for (size_t i = 0; i < inserter->candidates.count && i < MAX_CHAINS; ++i) {
    const tfrt_ir_value_t* covered = candidate_at(inserter, i)->event->covered;
    for (size_t k = 0; covered && k < inserter->candidates.count && k < MAX_CHAINS; ++k) {
      tfrt_chain_candidate_t* other = candidate_at(inserter, k);
      if (other->event->chain == covered) other->implied = true;
    }
  }
}

const size_t tfrt_chain_step_size = sizeof(step_t);

void tfrt_chain_reduce(tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op) {
  if (!inserter->candidates.count) return;
  uint32_t first_place = first_place_of(inserter);
  inserter->way.count = 0;
  leave_out_covered(inserter);
  if (op) follow_op(inserter, op, first_place);
  for (size_t i = 0; i < inserter->candidates.count && inserter->candidates.count > 1; ++i) {
    const tfrt_event_t* event = candidate_at(inserter, i)->event;
    if (event->op) walk_on(inserter, event->op, event->chain);
  }
  for (size_t i = 0; i < inserter->way.count && inserter->budget; ++i, --inserter->budget) {
    step_t step = *(step_t*)tfrt_scratch_at(&inserter->way, i);
    if (step.chain) {
      follow_port(inserter, step.op, step.chain, first_place);
    } else {
      follow_op(inserter, step.op, first_place);
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < inserter->candidates.count; ++i) {
    tfrt_chain_candidate_t candidate = *candidate_at(inserter, i);
    if (!candidate.implied) *candidate_at(inserter, kept++) = candidate;
  }
  inserter->candidates.count = kept;
}
