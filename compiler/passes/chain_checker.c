// SPDX-License-Identifier: Apache-2.0
//
// A block is walked once for each 64 accesses: the walk begins at these, gives each a bit, and lets
// the bits flow from operands to results. An op whose operands lack the bit of an access that it
// conflicts with may run before that one is done. A first walk does the same with the parameters,
// for what the block is summed up by.

#include "compiler/passes/chain_checker.h"

#include "compiler/passes/chain_checker_impl.h"
#include "compiler/passes/chain_inserter_impl.h"
#include "compiler/passes/pass.h"

// Rounds of the fixpoint over recursive functions, at most.
#define MAX_ROUNDS 16
// Results that are waited for one by one, at most, where no chain says that an op is done.
#define MAX_SINGLE_RESULTS 16

// The bits of a place in a walk; valid if the stamp is that of the walk.
typedef struct place_bits_s {
  uint32_t stamp;
  uint64_t reads;
  uint64_t writes;
  uint64_t commuting;  // of these, the ones that may change places
} place_bits_t;

// One walk over a block.
typedef struct walk_s {
  tfrt_chain_checker_t* checker;
  tfrt_ir_block_t* block;
  tfrt_check_access_t* accesses;
  tfrt_chain_waits_t* guards;      // NULL, or for each access the bits that its op waits for
  size_t first;                    // the first access that gets bits
  size_t end;                      // behind the last one
  size_t count;                    // of all accesses
  uint32_t used;                   // bits
  size_t owners[TFRT_CHECK_BITS];  // for each bit
  const tfrt_ir_operation_t* ops[TFRT_CHECK_BITS];  // likewise
} walk_t;

static uint64_t bit(uint32_t index) { return index < TFRT_CHECK_BITS ? (uint64_t)1 << index : 0; }

static tfrt_check_mask_t* mask_at(const tfrt_chain_checker_t* checker,
                                  const tfrt_ir_value_t* value) {
  return tfrt_scratch_at(&checker->masks, value->scratch);
}

static tfrt_chain_waits_t waits_of(const walk_t* walk, const tfrt_ir_value_t* value) {
  if (tfrt_ir_value_is_missing(value)) return tfrt_chain_waits_of(0);
  // Values from outside were there before the block began.
  if (tfrt_ir_value_block(value) != walk->block) return tfrt_chain_waits_of(UINT64_MAX);
  const tfrt_check_mask_t* mask = mask_at(walk->checker, value);
  return mask->stamp == walk->checker->stamp ? mask->waits : tfrt_chain_waits_of(0);
}

static void set_waits(const walk_t* walk, const tfrt_ir_value_t* value,
                      const tfrt_chain_waits_t* waits) {
  tfrt_check_mask_t mask = {walk->checker->stamp, *waits};
  // A walk that asks for accesses compares only what is certain.
  if (!walk->guards) mask.waits = tfrt_chain_waits_of(tfrt_chain_waits_certain(waits));
  *mask_at(walk->checker, value) = mask;
}

static void wait_for(tfrt_chain_waits_t* waits, const tfrt_chain_waits_t* more) {
  *waits = tfrt_chain_waits_and(waits, more);
}

// The bits that the operands |which| of |op| come behind.
static tfrt_chain_waits_t behind(const walk_t* walk, const tfrt_ir_operation_t* op,
                                 const tfrt_chain_waits_t* which) {
  tfrt_chain_waits_t either = tfrt_chain_waits_of(UINT64_MAX);
  for (uint64_t k = 0; k < which->count; ++k) {
    uint64_t mask = which->masks[k];
    if (mask == UINT64_MAX) continue;
    tfrt_chain_waits_t all = tfrt_chain_waits_of(0);
    for (uint32_t i = 0; i < op->operand_count && i < TFRT_CHECK_BITS && mask; ++i) {
      if (!(mask & bit(i))) continue;
      tfrt_chain_waits_t waits = waits_of(walk, op->operands[i].value);
      wait_for(&all, &waits);
    }
    either = tfrt_chain_waits_or(&either, &all);
  }
  return either;
}

// The bits that |op| waits for.
static tfrt_chain_waits_t awaited(const walk_t* walk, const tfrt_ir_operation_t* op) {
  tfrt_chain_waits_t all = tfrt_chain_waits_of(0);
  if (op->attribute_count && tfrt_ir_operation_attribute(op, "bef.nonstrict")) return all;
  // A kernel that runs no function waits itself for its operands.
  bool runs_functions = op->descriptor && op->descriptor->effects & TFRT_EFFECT_OF_FUNCTIONS;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry =
        runs_functions ? tfrt_kernel_descriptor_operand(op->descriptor, i) : NULL;
    if (entry && entry->use == TFRT_OPERAND_PASSED) continue;
    tfrt_chain_waits_t waits = waits_of(walk, op->operands[i].value);
    wait_for(&all, &waits);
  }
  return all;
}

// --- What ops do -------------------------------------------------------------------------------

// When an op of |result_count| results, which runs nothing else, is done.
static void set_done(const tfrt_ir_operation_t* op, tfrt_check_access_t* access) {
  uint32_t chain = tfrt_chain_result(op);
  if (chain != UINT32_MAX) {
    access->done = chain < TFRT_CHECK_BITS ? bit(chain) : UINT64_MAX;
  } else if (op->result_count > MAX_SINGLE_RESULTS) {
    access->done = UINT64_MAX;
  } else {
    access->done = bit(op->result_count) - 1;
    access->needs_all = op->result_count > 1;
  }
}

// Whether |op| uses |place| only as something that keeps the order of its uses by itself, such as a
// stream: no chain is needed for that. Variadic operands are buffers that a launch may write to.
static bool keeps_order_itself(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                               tfrt_place_t place) {
  bool found = false;
  if (!op->descriptor->orders) return false;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(op->descriptor);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(op->descriptor, i);
    if (!entry || entry->use == TFRT_OPERAND_AWAITED) continue;
    if (tfrt_effect_place(&checker->analysis, op->operands[i].value) != place) continue;
    bool orders = tfrt_kernel_descriptor_list_has(op->descriptor->orders, entry->name);
    if (!orders || i >= fixed_count) return false;
    found = true;
  }
  return found;
}

static void add_own_accesses(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op) {
  // Nothing is known of an op without an entry, and an op of the language is lowered first.
  if (!op->descriptor || op->descriptor->flags & TFRT_KERNEL_LANGUAGE) return;
  if (!tfrt_effect_own_accesses(&checker->analysis, op)) checker->failed = true;
  const tfrt_scratch_t* found = &checker->analysis.found;
  bool commutes = tfrt_kernel_descriptor_effects(op->descriptor) & TFRT_EFFECT_IN_ANY_ORDER;
  for (size_t i = 0; i < found->count && !checker->failed; ++i) {
    const tfrt_access_t* own = tfrt_scratch_at(found, i);
    if (!tfrt_effect_is_live(&checker->analysis, own->place)) continue;
    if (keeps_order_itself(checker, op, own->place)) continue;
    tfrt_check_access_t access = {.place = own->place,
                                  .writes = own->bits & TFRT_ACCESS_WRITES,
                                  .commutes = commutes && own->place >= TFRT_PLACE_OUTSIDE_COUNT,
                                  .guards = tfrt_chain_waits_of(0),
                                  .leaf = op};
    set_done(op, &access);
    if (!tfrt_scratch_push(&checker->accesses, &access)) checker->failed = true;
  }
}

// Notes what each op of |block| does.
static void note_ops(tfrt_chain_checker_t* checker, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op && !checker->failed; op = op->next) {
    tfrt_check_op_t known = {.first_access = checker->accesses.count, .first_transfer = SIZE_MAX};
    if (!tfrt_ir_operation_is_terminator(op)) {
      add_own_accesses(checker, op);
      tfrt_check_inner(checker, op, &known);
    }
    known.access_count = checker->accesses.count - known.first_access;
    op->scratch = (uint32_t)checker->ops.count;
    if (!tfrt_scratch_push(&checker->ops, &known)) checker->failed = true;
  }
}

// --- A walk ------------------------------------------------------------------------------------

static place_bits_t* bits_of_place(tfrt_chain_checker_t* checker, tfrt_place_t place) {
  place_bits_t none = {0};
  while (checker->places.count <= place) {
    if (!tfrt_scratch_push(&checker->places, &none)) {
      checker->failed = true;
      return NULL;
    }
  }
  place_bits_t* bits = tfrt_scratch_at(&checker->places, place);
  if (bits->stamp != checker->stamp) *bits = (place_bits_t){.stamp = checker->stamp};
  return bits;
}

// Compares |access|, of |op|, which comes behind |reached|, with those that have bits.
static void compare(walk_t* walk, const tfrt_ir_operation_t* op, const tfrt_check_access_t* access,
                    uint64_t reached) {
  const place_bits_t* place = access->is_new ? NULL : bits_of_place(walk->checker, access->place);
  if (!place) return;
  uint64_t missing = (place->writes | (access->writes ? place->reads : 0)) & ~reached;
  if (access->commutes) missing &= ~place->commuting;
  size_t last = SIZE_MAX;
  for (uint32_t i = 0; i < walk->used && missing; ++i) {
    if (!(missing & bit(i)) || walk->owners[i] == last) continue;
    last = walk->owners[i];
    tfrt_check_report_pair(walk->checker, op, access, walk->ops[i], &walk->accesses[last]);
  }
}

static uint32_t bits_needed(const tfrt_ir_operation_t* op, const tfrt_check_access_t* access) {
  return access->needs_all ? op->result_count : 1;
}

// Gives bits to those of |known|'s accesses whose turn it is; false when none are left.
static bool give_bits(walk_t* walk, const tfrt_ir_operation_t* op, const tfrt_check_op_t* known) {
  for (size_t i = known->first_access; i < known->first_access + known->access_count; ++i) {
    if (i < walk->end) continue;
    const tfrt_check_access_t* access = &walk->accesses[i];
    uint32_t needed = bits_needed(op, access);
    if (walk->used + needed > TFRT_CHECK_BITS) return false;
    place_bits_t* place = bits_of_place(walk->checker, access->place);
    if (!place) return false;
    for (uint32_t k = 0; k < needed; ++k, ++walk->used) {
      *(access->writes ? &place->writes : &place->reads) |= bit(walk->used);
      if (access->commutes) place->commuting |= bit(walk->used);
      walk->owners[walk->used] = i;
      walk->ops[walk->used] = op;
    }
    walk->end = i + 1;
  }
  return true;
}

// The bits of |op|'s own accesses that say, with result |result|, that these are done.
static uint64_t own_bits(const walk_t* walk, const tfrt_ir_operation_t* op, uint32_t result) {
  uint64_t bits = 0;
  for (uint32_t i = walk->used; i-- > 0 && walk->ops[i] == op;) {
    const tfrt_check_access_t* access = &walk->accesses[walk->owners[i]];
    bool is_first = i == 0 || walk->owners[i - 1] != walk->owners[i];
    if (!access->needs_all) {
      if (result >= TFRT_CHECK_BITS || access->done & bit(result)) bits |= bit(i);
    } else if (is_first) {
      bits |= bit(i + result);
    }
  }
  return bits;
}

static bool walk_op(walk_t* walk, const tfrt_ir_operation_t* op, bool gives_bits) {
  tfrt_chain_checker_t* checker = walk->checker;
  tfrt_check_op_t known = *(tfrt_check_op_t*)tfrt_scratch_at(&checker->ops, op->scratch);
  tfrt_chain_waits_t in = awaited(walk, op);
  for (size_t i = known.first_access; i < known.first_access + known.access_count; ++i) {
    const tfrt_check_access_t* access = &walk->accesses[i];
    tfrt_chain_waits_t reached = behind(walk, op, &access->guards);
    wait_for(&reached, &in);
    if (walk->guards) walk->guards[i] = reached;
    if (walk->used) compare(walk, op, access, tfrt_chain_waits_certain(&reached));
  }
  bool has_room = !gives_bits || give_bits(walk, op, &known);
  bool has_own = walk->used && walk->ops[walk->used - 1] == op;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    tfrt_chain_waits_t waits = in;
    if (known.first_transfer != SIZE_MAX) {
      const tfrt_chain_waits_t* which =
          tfrt_scratch_at(&checker->transfers, known.first_transfer + i);
      tfrt_chain_waits_t more = behind(walk, op, which);
      wait_for(&waits, &more);
    }
    if (has_own) {
      tfrt_chain_waits_t own = tfrt_chain_waits_of(own_bits(walk, op, i));
      wait_for(&waits, &own);
    }
    set_waits(walk, &op->results[i], &waits);
  }
  return has_room;
}

// Walks from |op| to the end of the block.
static void walk_from(walk_t* walk, const tfrt_ir_operation_t* op, bool gives_bits) {
  tfrt_chain_checker_t* checker = walk->checker;
  for (; op && !checker->failed && checker->steps; op = op->next, --checker->steps) {
    if (!walk_op(walk, op, gives_bits)) gives_bits = false;
  }
}

// Says for each access of the walk which operands of the return come behind it.
static void note_done(walk_t* walk, uint64_t* done) {
  const tfrt_ir_operation_t* end = walk->block->last;
  for (uint32_t first = 0; first < walk->used;) {
    uint32_t behind_last = first + 1;
    while (behind_last < walk->used && walk->owners[behind_last] == walk->owners[first]) {
      ++behind_last;
    }
    uint64_t all = 0;
    for (uint32_t i = first; i < behind_last; ++i) all |= bit(i);
    for (uint32_t i = 0; i < end->operand_count && i < TFRT_CHECK_BITS; ++i) {
      tfrt_chain_waits_t waits = waits_of(walk, end->operands[i].value);
      if ((tfrt_chain_waits_certain(&waits) & all) == all) done[walk->owners[first]] |= bit(i);
    }
    first = behind_last;
  }
}

// Walks once for the parameters and then for all accesses. |guards| and |done| are NULL, or have
// room for each access.
static void walk_block(tfrt_chain_checker_t* checker, tfrt_ir_block_t* block,
                       tfrt_chain_waits_t* guards, uint64_t* done, tfrt_chain_waits_t* transfers) {
  walk_t walk = {.checker = checker,
                 .block = block,
                 .accesses = tfrt_scratch_at(&checker->accesses, 0),
                 .count = checker->accesses.count};
  const tfrt_check_op_t* first = tfrt_scratch_at(&checker->ops, block->first->scratch);
  walk.end = first->first_access;
  if (guards) {
    ++checker->stamp;
    walk.guards = guards;
    for (uint32_t i = 0; i < block->argument_count; ++i) {
      tfrt_chain_waits_t itself = tfrt_chain_waits_of(bit(i));
      set_waits(&walk, block->arguments[i], &itself);
    }
    walk_from(&walk, block->first, false);
    for (uint32_t i = 0; i < block->last->operand_count; ++i) {
      transfers[i] = waits_of(&walk, block->last->operands[i].value);
    }
    walk.guards = NULL;
  }
  const tfrt_ir_operation_t* op = block->first;
  while (walk.end < walk.count && !checker->failed && checker->steps) {
    const tfrt_check_op_t* known = tfrt_scratch_at(&checker->ops, op->scratch);
    if (walk.end >= known->first_access + known->access_count) {
      op = op->next;
      continue;
    }
    ++checker->stamp;
    walk.used = 0;
    walk_from(&walk, op, true);
    if (done) note_done(&walk, done);
  }
}

// --- Summaries ---------------------------------------------------------------------------------

void tfrt_check_summary_initialize(tfrt_chain_checker_t* checker, tfrt_check_summary_t* summary) {
  *summary = (tfrt_check_summary_t){0};
  tfrt_allocator_t allocator = checker->analysis.allocator;
  tfrt_scratch_initialize(&summary->accesses, sizeof(tfrt_check_access_t), allocator);
  tfrt_scratch_initialize(&summary->transfers, sizeof(tfrt_chain_waits_t), allocator);
}

void tfrt_check_summary_deinitialize(tfrt_check_summary_t* summary) {
  tfrt_scratch_deinitialize(&summary->accesses);
  tfrt_scratch_deinitialize(&summary->transfers);
}

static bool is_alike(const tfrt_check_access_t* a, const tfrt_check_access_t* b) {
  return a->place == b->place && a->writes == b->writes && a->commutes == b->commutes &&
         tfrt_chain_waits_equal(&a->guards, &b->guards) && a->done == b->done &&
         a->is_new == b->is_new && a->port.position == b->port.position &&
         a->port.index == b->port.index;
}

// Adds |access| unless another one says the same of its place.
static void sum_up_access(tfrt_chain_checker_t* checker, tfrt_check_summary_t* summary,
                          const tfrt_check_access_t* access) {
  for (size_t i = 0; i < summary->accesses.count; ++i) {
    if (is_alike(tfrt_scratch_at(&summary->accesses, i), access)) return;
  }
  if (!tfrt_scratch_push(&summary->accesses, access)) checker->failed = true;
}

static void sum_up(tfrt_chain_checker_t* checker, tfrt_ir_block_t* block, size_t first,
                   tfrt_check_summary_t* summary) {
  size_t count = checker->accesses.count;
  uint32_t result_count = block->last->operand_count;
  tfrt_allocator_t allocator = checker->analysis.allocator;
  size_t waits_count = count + result_count + 1;
  tfrt_chain_waits_t* guards =
      tfrt_allocator_allocate_array(allocator, waits_count, sizeof(*guards));
  uint64_t* done = tfrt_allocator_allocate_array(allocator, count + 1, sizeof(*done));
  if (!guards || !done) checker->failed = true;
  if (!checker->failed) {
    tfrt_chain_waits_t* transfers = guards + count;
    walk_block(checker, block, guards, done, transfers);
    bool has_many = block->argument_count > TFRT_CHECK_BITS || result_count > TFRT_CHECK_BITS;
    if (has_many) tfrt_check_count_as_ordered(checker);
    for (size_t i = first; i < count; ++i) {
      tfrt_check_access_t access = *(tfrt_check_access_t*)tfrt_scratch_at(&checker->accesses, i);
      access.guards = guards[i];
      access.done = done[i];
      access.needs_all = false;
      if (!has_many) sum_up_access(checker, summary, &access);
    }
    for (uint32_t i = 0; i < result_count; ++i) {
      if (has_many) transfers[i] = tfrt_chain_waits_of(UINT64_MAX);
      if (!tfrt_scratch_push(&summary->transfers, &transfers[i])) checker->failed = true;
    }
    summary->is_known = true;
  }
  tfrt_allocator_free(allocator, guards, waits_count * sizeof(*guards));
  tfrt_allocator_free(allocator, done, (count + 1) * sizeof(*done));
}

void tfrt_check_block(tfrt_chain_checker_t* checker, tfrt_ir_block_t* block,
                      tfrt_check_summary_t* out_summary) {
  if (!block->last || checker->failed) return;
  size_t accesses = checker->accesses.count;
  size_t ops = checker->ops.count;
  size_t transfers = checker->transfers.count;
  note_ops(checker, block);
  if (!checker->failed) {
    if (out_summary) {
      sum_up(checker, block, accesses, out_summary);
    } else {
      walk_block(checker, block, NULL, NULL, NULL);
    }
  }
  checker->accesses.count = accesses;
  checker->ops.count = ops;
  checker->transfers.count = transfers;
}

// --- Functions ---------------------------------------------------------------------------------

// Sets |new_summary| to what callers see of |function|, whose places |old| has: ports.
static void keep_ports(tfrt_chain_checker_t* checker, const tfrt_effect_function_t* function,
                       const tfrt_check_summary_t* old, tfrt_check_summary_t* new_summary) {
  for (size_t i = 0; i < old->accesses.count; ++i) {
    tfrt_check_access_t access = *(tfrt_check_access_t*)tfrt_scratch_at(&old->accesses, i);
    if (!tfrt_effect_find_port(&checker->analysis, function, access.place, &access.port)) continue;
    access.place = access.port.position == TFRT_PORT_OUTSIDE ? access.port.index : 0;
    // It runs once all its parameters are there, and gives its results when it is done.
    if (function->is_sync) {
      access.guards = tfrt_chain_waits_of(UINT64_MAX);
      access.done = UINT64_MAX;
    }
    sum_up_access(checker, new_summary, &access);
  }
  for (size_t i = 0; i < old->transfers.count; ++i) {
    tfrt_chain_waits_t transfer = *(tfrt_chain_waits_t*)tfrt_scratch_at(&old->transfers, i);
    if (function->is_sync) transfer = tfrt_chain_waits_of(UINT64_MAX);
    if (!tfrt_scratch_push(&new_summary->transfers, &transfer)) checker->failed = true;
  }
  new_summary->is_known = old->is_known;
}

static bool is_same(const tfrt_check_summary_t* a, const tfrt_check_summary_t* b) {
  if (a->is_known != b->is_known || a->accesses.count != b->accesses.count) return false;
  for (size_t i = 0; i < a->accesses.count; ++i) {
    if (!is_alike(tfrt_scratch_at(&a->accesses, i), tfrt_scratch_at(&b->accesses, i))) return false;
  }
  for (size_t i = 0; i < a->transfers.count && i < b->transfers.count; ++i) {
    const tfrt_chain_waits_t* second = tfrt_scratch_at(&b->transfers, i);
    if (!tfrt_chain_waits_equal(tfrt_scratch_at(&a->transfers, i), second)) return false;
  }
  return true;
}

static void sum_up_function(tfrt_chain_checker_t* checker, uint32_t index) {
  const tfrt_effect_function_t* function = tfrt_effect_analysis_function(&checker->analysis, index);
  tfrt_check_summary_t inside;
  tfrt_check_summary_t seen;
  tfrt_check_summary_initialize(checker, &inside);
  tfrt_check_summary_initialize(checker, &seen);
  tfrt_check_block(checker, function->block, &inside);
  keep_ports(checker, function, &inside, &seen);
  tfrt_check_summary_deinitialize(&inside);
  tfrt_check_summary_t* known = tfrt_scratch_at(&checker->summaries, index);
  if (!is_same(known, &seen)) checker->changed = true;
  tfrt_check_summary_deinitialize(known);
  *known = seen;
}

// Sums up each function that is called. A recursive one begins with nothing, and all rounds but the
// last add to it.
static void sum_up_functions(tfrt_chain_checker_t* checker) {
  uint32_t count = tfrt_effect_analysis_count(&checker->analysis);
  checker->changed = true;
  for (int round = 0; round < MAX_ROUNDS && checker->changed && !checker->failed; ++round) {
    checker->changed = false;
    for (uint32_t i = 0; i < count && !checker->failed; ++i) {
      uint32_t index = round % 2 ? i : count - 1 - i;
      const tfrt_effect_function_t* function =
          tfrt_effect_analysis_function(&checker->analysis, index);
      if (function->use && function->block && function->block->last) {
        sum_up_function(checker, index);
      }
    }
  }
}

static void check_function(tfrt_chain_checker_t* checker, const tfrt_effect_function_t* function) {
  if (!function->block) tfrt_check_count_as_ordered(checker);
  if (!function->block || function->is_sync) return;
  tfrt_string_view_t name = tfrt_ir_symbol_name(function->op);
  if (function->lack == TFRT_EFFECT_LACKS_CHAINS) {
    tfrt_check_count_as_ordered(checker);
    if (checker->mode == TFRT_CHECK_ASKS) return;
    tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_WARNING, function->op,
                     "function '@%.*s' lacks chains, which --insert-chains puts in: it isn't "
                     "checked",
                     TFRT_STRING_VIEW_ARGUMENTS(name));
    return;
  }
  checker->warning_count = 0;
  tfrt_check_block(checker, function->block, NULL);
  if (checker->warning_count <= TFRT_CHAIN_CHECKER_MAX_WARNINGS) return;
  tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_WARNING, function->op,
                   "function '@%.*s' has %u more pairs of accesses that no chain orders",
                   TFRT_STRING_VIEW_ARGUMENTS(name),
                   checker->warning_count - TFRT_CHAIN_CHECKER_MAX_WARNINGS);
}

static void check_functions(tfrt_chain_checker_t* checker) {
  uint32_t count = tfrt_effect_analysis_count(&checker->analysis);
  for (uint32_t i = 0; i < count && !checker->failed; ++i) {
    tfrt_check_summary_t summary;
    tfrt_check_summary_initialize(checker, &summary);
    if (!tfrt_scratch_push(&checker->summaries, &summary)) checker->failed = true;
  }
  tfrt_check_mask_t none = {0};
  for (size_t i = 0; i < checker->analysis.classes.count && !checker->failed; ++i) {
    if (!tfrt_scratch_push(&checker->masks, &none)) checker->failed = true;
  }
  if (!checker->failed) sum_up_functions(checker);
  checker->reports = true;
  for (uint32_t i = 0; i < count && !checker->failed; ++i) {
    check_function(checker, tfrt_effect_analysis_function(&checker->analysis, i));
  }
  for (size_t i = 0; i < checker->summaries.count; ++i) {
    tfrt_check_summary_deinitialize(tfrt_scratch_at(&checker->summaries, i));
  }
}

// Checks |module|; false when memory is out.
static bool check_module(tfrt_chain_checker_t* checker, tfrt_ir_context_t* context,
                         tfrt_ir_operation_t* module) {
  if (!tfrt_effect_analysis_initialize(&checker->analysis, context, module, false)) return false;
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  tfrt_scratch_initialize(&checker->summaries, sizeof(tfrt_check_summary_t), allocator);
  tfrt_scratch_initialize(&checker->accesses, sizeof(tfrt_check_access_t), allocator);
  tfrt_scratch_initialize(&checker->ops, sizeof(tfrt_check_op_t), allocator);
  tfrt_scratch_initialize(&checker->transfers, sizeof(tfrt_chain_waits_t), allocator);
  tfrt_scratch_initialize(&checker->masks, sizeof(tfrt_check_mask_t), allocator);
  tfrt_scratch_initialize(&checker->places, sizeof(place_bits_t), allocator);
  check_functions(checker);
  tfrt_scratch_t* all[] = {&checker->summaries, &checker->accesses, &checker->ops,
                           &checker->transfers, &checker->masks,    &checker->places};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(all); ++i) tfrt_scratch_deinitialize(all[i]);
  tfrt_effect_analysis_deinitialize(&checker->analysis);
  return !checker->failed;
}

bool tfrt_check_chains(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                       tfrt_diagnostics_t* diagnostics) {
  tfrt_chain_checker_t checker = {.diagnostics = diagnostics, .steps = UINT64_MAX};
  // The pass counts its warnings itself.
  size_t limit = diagnostics->limit;
  diagnostics->limit = SIZE_MAX;
  bool ok = check_module(&checker, context, module);
  diagnostics->limit = limit;
  if (ok) return true;
  tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module, "out of memory to check chains");
  return false;
}

bool tfrt_chains_order_memory(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                              uint64_t steps) {
  tfrt_chain_checker_t checker = {.mode = TFRT_CHECK_ASKS, .steps = steps};
  bool ok = check_module(&checker, context, module);
  return ok && checker.verdict == TFRT_CHECK_ORDERED && checker.steps;
}
