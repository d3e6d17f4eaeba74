// SPDX-License-Identifier: Apache-2.0
//
// The accesses of functions and regions, seen from the op that runs them:
//
//   summary:  access, guarded by parameter 1, done before result 0     (of the function)
//   here:     access, guarded by operand 2,   done before result 0     (of tfrt.cond)
//
// A loop runs its body again and again. In the second turn, parameter j is what result j of the
// first one was; so the guards of an access follow from one turn to the next, and so do the results
// that it is done before.

#include <string.h>

#include "compiler/op_table/schema.h"
#include "compiler/passes/chain_checker_impl.h"

// Turns of a loop after which nothing new is expected.
#define MAX_TURNS 8

// Accesses of one op, at most: others aren't compared.
#define MAX_INNER 4096

// A function, or a region, that an op runs.
typedef struct inner_s {
  const tfrt_effect_function_t* function;  // NULL: a region
  uint32_t region;                         // or the place of the function among those of the op
  const tfrt_check_summary_t* summary;
  uint32_t result_count;  // of its return
} inner_t;

static uint64_t bit(uint32_t index) { return index < TFRT_CHECK_BITS ? (uint64_t)1 << index : 0; }

static tfrt_chain_waits_t transfer_of(const tfrt_check_summary_t* summary, uint32_t result) {
  if (!summary->is_known || result >= summary->transfers.count) {
    return tfrt_chain_waits_of(UINT64_MAX);
  }
  return *(tfrt_chain_waits_t*)tfrt_scratch_at(&summary->transfers, result);
}

// --- One turn of a loop after another ------------------------------------------------------------

typedef struct turns_s {
  const inner_t* inner;
  uint32_t count;                // of what goes round
  tfrt_chain_waits_t condition;  // the parameters that the condition of a turn comes behind
  tfrt_chain_waits_t begin;      // those of the first turn that this turn waits for as a whole
  tfrt_chain_waits_t sources[TFRT_CHECK_BITS];  // for each parameter of this turn, likewise
} turns_t;

static tfrt_chain_waits_t follow(const turns_t* turns, const tfrt_chain_waits_t* parameters) {
  tfrt_chain_waits_t either = tfrt_chain_waits_of(UINT64_MAX);
  for (uint64_t k = 0; k < parameters->count; ++k) {
    tfrt_chain_waits_t all = tfrt_chain_waits_of(0);
    for (uint32_t i = 0; i < turns->count; ++i) {
      if (!(parameters->masks[k] & bit(i))) continue;
      all = tfrt_chain_waits_and(&all, &turns->sources[i]);
    }
    either = tfrt_chain_waits_or(&either, &all);
  }
  return either;
}

static void begin_turns(turns_t* turns, const inner_t* inner, uint32_t count) {
  *turns = (turns_t){.inner = inner, .count = count};
  turns->begin = turns->condition = tfrt_chain_waits_of(0);
  if (inner->result_count > count) turns->condition = transfer_of(inner->summary, count);
  for (uint32_t i = 0; i < count; ++i) turns->sources[i] = tfrt_chain_waits_of(bit(i));
}

static void next_turn(turns_t* turns) {
  turns_t last = *turns;
  tfrt_chain_waits_t condition = follow(&last, &turns->condition);
  turns->begin = tfrt_chain_waits_and(&last.begin, &condition);
  for (uint32_t i = 0; i < turns->count; ++i) {
    tfrt_chain_waits_t transfer = transfer_of(turns->inner->summary, i);
    tfrt_chain_waits_t source = follow(&last, &transfer);
    turns->sources[i] = tfrt_chain_waits_and(&turns->begin, &source);
  }
}

// The results, after one more turn, that come behind what |results| of this one come behind.
static uint64_t done_after_turn(const turns_t* turns, uint64_t results) {
  uint64_t after = 0;
  for (uint32_t i = 0; i < turns->count; ++i) {
    tfrt_chain_waits_t transfer = transfer_of(turns->inner->summary, i);
    if (tfrt_chain_waits_hit(&transfer, results)) after |= bit(i);
  }
  return after;
}

// Whether the condition of the turn comes behind the access.
static bool condition_is_behind(const turns_t* turns, const tfrt_check_access_t* access) {
  return turns->inner->result_count > turns->count && access->done & bit(turns->count);
}

// The results of the loop, whatever the number of turns that follow, that come behind |access|.
static uint64_t done_after_loop(const turns_t* turns, const tfrt_check_access_t* access) {
  if (condition_is_behind(turns, access)) return UINT64_MAX;
  uint64_t results = access->done;
  uint64_t all = results;
  for (int i = 0; i < MAX_TURNS && all; ++i) {
    results = done_after_turn(turns, results);
    all &= results;
  }
  return all;
}

// Whether |later|, of any turn behind that of |earlier|, waits for it.
static bool turns_are_ordered(const turns_t* turns, const tfrt_check_access_t* later,
                              const tfrt_check_access_t* earlier) {
  if (condition_is_behind(turns, earlier)) return true;
  uint64_t results = earlier->done;
  for (int i = 0; i < MAX_TURNS; ++i) {
    if (!tfrt_chain_waits_hit(&later->guards, results)) return false;
    results = done_after_turn(turns, results);
  }
  return true;
}

// Whether one turn's memory of the access is that of the next one.
static bool goes_round(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                       const inner_t* inner, const tfrt_check_access_t* access) {
  if (inner->function) return access->port.position != TFRT_PORT_RESULT;
  if (access->place < TFRT_PLACE_OUTSIDE_COUNT) return true;
  const tfrt_ir_block_t* block = op->regions[inner->region].first_block;
  for (uint32_t i = 0; i < block->argument_count; ++i) {
    if (tfrt_effect_place(&checker->analysis, block->arguments[i]) == access->place) return true;
  }
  return false;
}

static bool is_same_place(const inner_t* inner, const tfrt_check_access_t* a,
                          const tfrt_check_access_t* b) {
  if (!inner->function) return a->place == b->place;
  return a->port.position == b->port.position && a->port.index == b->port.index;
}

static void compare_turns(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                          const turns_t* turns) {
  const inner_t* inner = turns->inner;
  const tfrt_scratch_t* accesses = &inner->summary->accesses;
  for (size_t i = 0; i < accesses->count && checker->reports; ++i) {
    const tfrt_check_access_t* earlier = tfrt_scratch_at(accesses, i);
    if (!goes_round(checker, op, inner, earlier)) continue;
    for (size_t k = 0; k < accesses->count; ++k) {
      const tfrt_check_access_t* later = tfrt_scratch_at(accesses, k);
      if (!(earlier->writes || later->writes) || !is_same_place(inner, earlier, later)) continue;
      if (later->is_new || (earlier->commutes && later->commutes)) continue;
      if (turns_are_ordered(turns, later, earlier)) continue;
      tfrt_check_report_turns(checker, op, later, earlier);
    }
  }
}

// --- From the inside to the op -----------------------------------------------------------------

// The operands of |op| that are |parameters| of |inner|.
static uint64_t operands_of_mask(const tfrt_ir_operation_t* op, const inner_t* inner,
                                 uint64_t parameters) {
  uint64_t operands = 0;
  for (uint32_t i = 0; i < op->operand_count && parameters; ++i) {
    uint32_t parameter = inner->function
                             ? tfrt_effect_parameter_of(op, i)
                             : tfrt_schema_region_argument(op->descriptor, inner->region, i);
    if (parameters & bit(parameter)) operands |= bit(i);
  }
  return operands;
}

static tfrt_chain_waits_t operands_of(const tfrt_ir_operation_t* op, const inner_t* inner,
                                      const tfrt_chain_waits_t* parameters) {
  tfrt_chain_waits_t either = tfrt_chain_waits_of(UINT64_MAX);
  for (uint64_t k = 0; k < parameters->count; ++k) {
    tfrt_chain_waits_t operands =
        tfrt_chain_waits_of(operands_of_mask(op, inner, parameters->masks[k]));
    either = tfrt_chain_waits_or(&either, &operands);
  }
  return either;
}

static void add_access(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                       const inner_t* inner, const tfrt_check_access_t* access,
                       const tfrt_chain_waits_t* guards, uint64_t done) {
  tfrt_check_access_t here = *access;
  if (inner->function) {
    here.place = tfrt_effect_port_place_of(&checker->analysis, op, inner->function, &access->port);
    bool is_result = access->port.position == TFRT_PORT_RESULT;
    here.is_new = access->is_new || (is_result && !inner->function->is_in_loop);
  }
  if (here.place == TFRT_PLACE_NONE) return;
  here.needs_all = false;
  here.guards = operands_of(op, inner, guards);
  here.done = done;
  if (!tfrt_scratch_push(&checker->accesses, &here)) checker->failed = true;
}

static void meet_transfer(tfrt_chain_checker_t* checker, const tfrt_check_op_t* out_op,
                          uint32_t result, const tfrt_chain_waits_t* operands) {
  tfrt_chain_waits_t* transfer =
      tfrt_scratch_at(&checker->transfers, out_op->first_transfer + result);
  *transfer = tfrt_chain_waits_or(transfer, operands);
}

static void add_once(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                     const inner_t* inner, const tfrt_check_op_t* out_op, bool hands_on) {
  const tfrt_check_summary_t* summary = inner->summary;
  for (size_t i = 0; i < summary->accesses.count; ++i) {
    const tfrt_check_access_t* access = tfrt_scratch_at(&summary->accesses, i);
    uint64_t done = access->done;
    // Such an op's own results say that all is done which the return waits for.
    if (!hands_on) done = done || !inner->result_count ? UINT64_MAX : 0;
    add_access(checker, op, inner, access, &access->guards, done);
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    tfrt_chain_waits_t behind = hands_on ? transfer_of(summary, i) : tfrt_chain_waits_of(0);
    tfrt_chain_waits_t operands = operands_of(op, inner, &behind);
    meet_transfer(checker, out_op, i, &operands);
  }
}

static void add_loop(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                     const inner_t* inner, const tfrt_check_op_t* out_op) {
  const tfrt_scratch_t* accesses = &inner->summary->accesses;
  turns_t turns;
  begin_turns(&turns, inner, op->result_count);
  compare_turns(checker, op, &turns);
  for (int turn = 0; turn < MAX_TURNS; ++turn) {
    turns_t last = turns;
    for (size_t i = 0; i < accesses->count; ++i) {
      const tfrt_check_access_t* access = tfrt_scratch_at(accesses, i);
      tfrt_chain_waits_t guards = follow(&turns, &access->guards);
      guards = tfrt_chain_waits_and(&turns.begin, &guards);
      add_access(checker, op, inner, access, &guards, done_after_loop(&turns, access));
    }
    for (uint32_t i = 0; i < op->result_count; ++i) {
      tfrt_chain_waits_t operands = operands_of(op, inner, &turns.sources[i]);
      meet_transfer(checker, out_op, i, &operands);
    }
    next_turn(&turns);
    bool is_same = tfrt_chain_waits_equal(&turns.begin, &last.begin) &&
                   memcmp(turns.sources, last.sources, sizeof(turns.sources)) == 0;
    if (is_same) return;
    if (checker->accesses.count - out_op->first_access > MAX_INNER) {
      tfrt_check_count_as_ordered(checker);
      return;
    }
  }
}

// Blocks run one after the other: the next one when the chain of this one, its first result, is
// there. Pairs of accesses in two blocks aren't compared.
static void add_block(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                      const inner_t* inner, const tfrt_check_op_t* out_op) {
  const tfrt_scratch_t* accesses = &inner->summary->accesses;
  tfrt_chain_waits_t none = tfrt_chain_waits_of(0);
  for (size_t i = 0; i < accesses->count; ++i) {
    const tfrt_check_access_t* access = tfrt_scratch_at(accesses, i);
    uint64_t done = access->done & bit(0) ? UINT64_MAX : 0;
    if (tfrt_effect_block_returns(op, inner->region)) done = access->done;
    add_access(checker, op, inner, access, &none, done);
  }
  for (uint32_t i = 0; i < op->result_count; ++i) meet_transfer(checker, out_op, i, &none);
}

static void add_inner(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                      const inner_t* inner, const tfrt_check_op_t* out_op) {
  bool too_many = op->operand_count > TFRT_CHECK_BITS || op->result_count >= TFRT_CHECK_BITS ||
                  inner->result_count > TFRT_CHECK_BITS;
  if (too_many) tfrt_check_count_as_ordered(checker);
  if (too_many || checker->failed) return;
  if (tfrt_effect_runs_blocks(op)) {
    add_block(checker, op, inner, out_op);
    return;
  }
  bool hands_on = tfrt_effect_hands_on(op) || tfrt_effect_is_loop(op);
  if (!inner->function && op->descriptor->regions[inner->region].yields) hands_on = false;
  if (tfrt_effect_is_loop(op) && hands_on) {
    add_loop(checker, op, inner, out_op);
  } else {
    add_once(checker, op, inner, out_op, hands_on);
  }
}

// --- All that an op runs -----------------------------------------------------------------------

static void add_region(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op, uint32_t index,
                       const tfrt_check_op_t* out_op) {
  tfrt_ir_block_t* block = tfrt_ir_region_single_block(&op->regions[index]);
  if (!block) return;
  tfrt_check_summary_t summary;
  tfrt_check_summary_initialize(checker, &summary);
  tfrt_check_block(checker, block, &summary);
  uint32_t result_count = block->last ? block->last->operand_count : 0;
  inner_t inner = {NULL, index, &summary, result_count};
  add_inner(checker, op, &inner, out_op);
  tfrt_check_summary_deinitialize(&summary);
}

void tfrt_check_inner(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                      tfrt_check_op_t* out_op) {
  const tfrt_effect_function_t* callee = tfrt_effect_named_function(&checker->analysis, op, 0);
  if (!op->descriptor || (!op->region_count && !callee)) return;
  out_op->first_transfer = checker->transfers.count;
  tfrt_chain_waits_t all = tfrt_chain_waits_of(UINT64_MAX);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!tfrt_scratch_push(&checker->transfers, &all)) checker->failed = true;
  }
  if (checker->failed) return;
  for (uint32_t i = 0; i < op->region_count; ++i) add_region(checker, op, i, out_op);
  for (uint32_t i = 0; callee && !checker->failed;
       callee = tfrt_effect_named_function(&checker->analysis, op, ++i)) {
    if (!callee->block || !callee->block->last) continue;
    uint32_t index = callee->op->scratch;
    inner_t inner = {callee, i, tfrt_scratch_at(&checker->summaries, index),
                     callee->block->last->operand_count};
    add_inner(checker, op, &inner, out_op);
  }
}
