// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/async_ref_counter.h"

#include <stdlib.h>

#include "compiler/analysis/async_references.h"
#include "compiler/passes/pass.h"

// The facts about a block for one value; those whose stamp isn't that of the value are out of
// date.
typedef struct block_state_s {
  uint32_t live_stamp;  // the value lives into the block
  uint32_t event_stamp;
  uint32_t first_event;
  uint32_t event_count;
  uint32_t head_stamp;
  uint32_t head_count;  // of the edges to the block on which the value is dropped
  int64_t head_amount;  // how many references, if all agree
  bool head_differs;
  bool head_is_done;
  tfrt_ir_block_t* put_before;  // the last block that was put in front of the block; NULL: none
} block_state_t;

// |amount| references of |value| are dropped on |edge|.
typedef struct edge_drop_s {
  uint32_t edge;
  uint32_t order;
  int64_t amount;
  const tfrt_ir_value_t* value;
} edge_drop_t;

typedef struct counter_s {
  tfrt_ir_context_t* context;
  tfrt_async_flow_t flow;
  const tfrt_kernel_descriptor_t* add_ref;
  const tfrt_kernel_descriptor_t* drop_ref;
  const tfrt_kernel_descriptor_t* branch;
  block_state_t* states;
  uint32_t stamp;
  tfrt_scratch_t events;  // tfrt_async_event_t: of one value
  tfrt_scratch_t blocks;  // uint32_t: where one value is live
  tfrt_scratch_t drops;   // edge_drop_t: of one value
  tfrt_scratch_t splits;  // edge_drop_t: of all values, for blocks of their own
  const tfrt_ir_value_t* value;
  const tfrt_async_scope_t* scope;
} counter_t;

// --- Ops --------------------------------------------------------------------------------------

// A new op |name| of |value| in no block, in the place of |like|; NULL when memory is out.
static tfrt_ir_operation_t* make_count(counter_t* counter, bool is_add,
                                       const tfrt_ir_value_t* value, int64_t amount,
                                       const tfrt_ir_operation_t* like) {
  tfrt_ir_context_t* context = counter->context;
  const tfrt_kernel_descriptor_t* descriptor = is_add ? counter->add_ref : counter->drop_ref;
  const tfrt_ir_type_t* type = tfrt_ir_type_integer(context, 64, TFRT_IR_SIGNLESS);
  tfrt_ir_named_attribute_t count = {
      tfrt_ir_string_of(context, "count"),
      type ? tfrt_ir_attribute_integer(context, type, amount) : NULL};
  tfrt_ir_value_t* operands[] = {(tfrt_ir_value_t*)value};
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(context, descriptor->name),
                                     .descriptor = descriptor,
                                     .location = like->location,
                                     .operands = operands,
                                     .operand_count = 1,
                                     .attributes = &count,
                                     .attribute_count = 1};
  if (!parts.name || !count.name || !count.value) return NULL;
  tfrt_ir_operation_t* op = tfrt_ir_operation_create(context, &parts);
  if (op) op->text_offset = like->text_offset;
  return op;
}

static bool add_before(counter_t* counter, tfrt_ir_operation_t* position, int64_t amount) {
  // One op for each taker, as stock MLIR has it.
  for (int64_t i = 0; i < amount; ++i) {
    tfrt_ir_operation_t* op = make_count(counter, true, counter->value, 1, position);
    if (!op) return false;
    tfrt_ir_block_insert_before(position, op);
  }
  return true;
}

static bool drop_behind(counter_t* counter, tfrt_ir_operation_t* position) {
  tfrt_ir_operation_t* op = make_count(counter, false, counter->value, 1, position);
  if (!op) return false;
  if (position->next) {
    tfrt_ir_block_insert_before(position->next, op);
  } else {
    tfrt_ir_block_append(position->block, op);
  }
  return true;
}

static bool drop_at_head(counter_t* counter, tfrt_ir_block_t* block, int64_t amount) {
  const tfrt_ir_operation_t* like = block->first ? block->first : block->region->owner;
  tfrt_ir_operation_t* op = make_count(counter, false, counter->value, amount, like);
  if (!op) return false;
  if (block->first) {
    tfrt_ir_block_insert_before(block->first, op);
  } else {
    tfrt_ir_block_append(block, op);
  }
  return true;
}

// --- Liveness ---------------------------------------------------------------------------------

static bool list_block(counter_t* counter, uint32_t block) {
  block_state_t* state = &counter->states[block];
  if (state->live_stamp == counter->stamp) return true;
  state->live_stamp = counter->stamp;
  return tfrt_scratch_push(&counter->blocks, &block);
}

// Lists the blocks that the value of the scope lives into, and finds the events of each block.
static bool find_live_blocks(counter_t* counter, const tfrt_async_scope_t* scope) {
  counter->blocks.count = 0;
  for (uint32_t i = 0; i < scope->event_count; ++i) {
    uint32_t block = scope->events[i].block;
    block_state_t* state = &counter->states[block];
    if (state->event_stamp != counter->stamp) {
      state->event_stamp = counter->stamp;
      state->first_event = i;
      state->event_count = 0;
    }
    ++state->event_count;
    if (block != scope->home && !list_block(counter, block)) return false;
  }
  if (scope->kind == TFRT_ASYNC_SCOPE_BORROWED) return true;
  for (size_t i = 0; i < counter->blocks.count; ++i) {
    uint32_t number = *(uint32_t*)tfrt_scratch_at(&counter->blocks, i);
    const tfrt_async_flow_block_t* block = &counter->flow.blocks[number];
    for (uint32_t k = 0; k < block->predecessor_count; ++k) {
      uint32_t edge = counter->flow.predecessors[block->first_predecessor + k];
      uint32_t from = counter->flow.edges[edge].from;
      if (from != scope->home && !list_block(counter, from)) return false;
    }
  }
  return true;
}

static bool is_live_into(const counter_t* counter, uint32_t block) {
  return counter->scope->kind == TFRT_ASYNC_SCOPE_BORROWED ||
         counter->states[block].live_stamp == counter->stamp;
}

// --- The end of a block -----------------------------------------------------------------------

// The events of a block: those before its terminator, and those of that.
typedef struct ending_s {
  const tfrt_async_flow_block_t* block;
  tfrt_ir_operation_t* last_user;    // before the terminator; NULL: none
  const tfrt_async_event_t* events;  // of the terminator
  uint32_t event_count;
  int64_t taken;   // references that the terminator hands to nobody in particular
  bool is_needed;  // by the terminator itself
} ending_t;

static void read_ending(const counter_t* counter, uint32_t number, ending_t* out_ending) {
  const block_state_t* state = &counter->states[number];
  const tfrt_async_flow_block_t* block = &counter->flow.blocks[number];
  *out_ending = (ending_t){.block = block};
  if (state->event_stamp != counter->stamp) return;
  const tfrt_async_event_t* events = counter->scope->events + state->first_event;
  for (uint32_t i = 0; i < state->event_count; ++i) {
    if (events[i].op != block->terminator) {
      out_ending->last_user = events[i].op;
    } else {
      if (!out_ending->event_count++) out_ending->events = &events[i];
      out_ending->taken += events[i].kind == TFRT_ASYNC_EVENT_HANDOVER;
      if (events[i].kind == TFRT_ASYNC_EVENT_NEED) out_ending->is_needed = true;
    }
  }
}

// The references that |edge| takes, for arguments and for the blocks behind it. |*cursor| walks
// over the terminator's events, which are in the order of its successors.
static int64_t wanted_on(const counter_t* counter, const ending_t* ending,
                         const tfrt_async_edge_t* edge, uint32_t* cursor) {
  bool is_live = edge->to != counter->scope->home && is_live_into(counter, edge->to);
  int64_t wanted = is_live || counter->scope->kind == TFRT_ASYNC_SCOPE_BORROWED;
  for (; *cursor < ending->event_count; ++*cursor) {
    const tfrt_async_event_t* event = &ending->events[*cursor];
    if (event->kind != TFRT_ASYNC_EVENT_EDGE) continue;
    if (event->successor != edge->successor) break;
    ++wanted;
  }
  return wanted;
}

// Notes that |amount| references are dropped on the edge |number|.
static bool note_drop(counter_t* counter, uint32_t number, int64_t amount) {
  uint32_t to = counter->flow.edges[number].to;
  block_state_t* state = &counter->states[to];
  if (state->head_stamp != counter->stamp) {
    state->head_stamp = counter->stamp;
    state->head_count = 0;
    state->head_amount = amount;
    state->head_differs = to == counter->scope->home;
    state->head_is_done = false;
  }
  ++state->head_count;
  if (state->head_amount != amount) state->head_differs = true;
  edge_drop_t drop = {.edge = number, .amount = amount, .value = counter->value};
  return tfrt_scratch_push(&counter->drops, &drop);
}

// The drop in the block where the value's life ends.
static bool end_life(counter_t* counter, const ending_t* ending) {
  const tfrt_ir_value_t* value = counter->value;
  if (ending->last_user) return drop_behind(counter, ending->last_user);
  bool is_home = ending->block->block->scratch == counter->scope->home;
  if (is_home && counter->scope->kind == TFRT_ASYNC_SCOPE_DEFINED && value->producer) {
    return drop_behind(counter, value->producer);
  }
  return drop_at_head(counter, ending->block->block, 1);
}

// Balances the references at the end of a block with successors.
static bool balance_edges(counter_t* counter, const ending_t* ending) {
  const tfrt_async_flow_block_t* block = ending->block;
  int64_t most = 0;
  bool is_kept = ending->is_needed;
  uint32_t cursor = 0;
  for (uint32_t i = 0; i < block->edge_count; ++i) {
    const tfrt_async_edge_t* edge = &counter->flow.edges[block->first_edge + i];
    int64_t wanted = wanted_on(counter, ending, edge, &cursor);
    if (wanted) is_kept = true;
    if (!edge->is_suspension && wanted > most) most = wanted;
  }
  bool is_made_here = counter->value->producer && counter->value->producer == block->terminator;
  if (!is_kept && !is_made_here) return end_life(counter, ending);
  int64_t held = most > 1 ? most : 1;
  if (!add_before(counter, block->terminator, held - 1)) return false;
  cursor = 0;
  for (uint32_t i = 0; i < block->edge_count; ++i) {
    uint32_t number = block->first_edge + i;
    const tfrt_async_edge_t* edge = &counter->flow.edges[number];
    int64_t wanted = wanted_on(counter, ending, edge, &cursor);
    if (edge->is_suspension || wanted == held) continue;
    if (!note_drop(counter, number, held - wanted)) return false;
  }
  return true;
}

static bool end_block(counter_t* counter, uint32_t number) {
  bool is_borrowed = counter->scope->kind == TFRT_ASYNC_SCOPE_BORROWED;
  ending_t ending;
  read_ending(counter, number, &ending);
  if (ending.block->edge_count) return balance_edges(counter, &ending);
  if (is_borrowed) {
    return !ending.taken || add_before(counter, ending.block->terminator, ending.taken);
  }
  if (!ending.taken) return end_life(counter, &ending);
  return add_before(counter, ending.block->terminator, ending.taken - 1);
}

// --- Values -----------------------------------------------------------------------------------

// Adds what calls, loops and tasks take.
static bool add_for_takers(counter_t* counter, const tfrt_async_scope_t* scope) {
  for (uint32_t i = 0; i < scope->event_count; ++i) {
    const tfrt_async_event_t* event = &scope->events[i];
    if (event->kind != TFRT_ASYNC_EVENT_HANDOVER) continue;
    if (event->op == counter->flow.blocks[event->block].terminator) continue;
    if (!add_before(counter, event->op, 1)) return false;
  }
  return true;
}

// Puts the drops on edges at the heads of blocks where all ways to these have them.
static bool place_edge_drops(counter_t* counter) {
  for (size_t i = 0; i < counter->drops.count; ++i) {
    edge_drop_t drop = *(edge_drop_t*)tfrt_scratch_at(&counter->drops, i);
    uint32_t to = counter->flow.edges[drop.edge].to;
    const tfrt_async_flow_block_t* block = &counter->flow.blocks[to];
    block_state_t* state = &counter->states[to];
    if (state->head_differs || state->head_count != block->predecessor_count) {
      drop.order = (uint32_t)counter->splits.count;
      if (!tfrt_scratch_push(&counter->splits, &drop)) return false;
    } else if (!state->head_is_done) {
      state->head_is_done = true;
      if (!drop_at_head(counter, block->block, drop.amount)) return false;
    }
  }
  return true;
}

static bool count_scope(counter_t* counter, const tfrt_async_scope_t* scope) {
  ++counter->stamp;
  counter->scope = scope;
  counter->drops.count = 0;
  if (!find_live_blocks(counter, scope) || !add_for_takers(counter, scope)) return false;
  // A region that borrows only ends where it hands the value on.
  bool visits_home = scope->kind != TFRT_ASYNC_SCOPE_BORROWED ||
                     counter->states[scope->home].event_stamp == counter->stamp;
  if (visits_home && !end_block(counter, scope->home)) return false;
  for (size_t i = 0; i < counter->blocks.count; ++i) {
    if (!end_block(counter, *(uint32_t*)tfrt_scratch_at(&counter->blocks, i))) return false;
  }
  return place_edge_drops(counter);
}

static bool count_value(const tfrt_ir_value_t* value, void* user_data) {
  counter_t* counter = user_data;
  tfrt_async_scope_t scope = {0};
  counter->value = value;
  if (!tfrt_async_flow_list_events(&counter->flow, value, &counter->events)) return false;
  while (tfrt_async_flow_next_scope(&counter->flow, value, &counter->events, &scope)) {
    if (!count_scope(counter, &scope)) return false;
  }
  return true;
}

// --- Blocks on edges --------------------------------------------------------------------------

static int compare_drops(const void* left, const void* right) {
  const edge_drop_t* a = left;
  const edge_drop_t* b = right;
  if (a->edge != b->edge) return a->edge < b->edge ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

// Puts |block| in front of the block |to|; at the end of its region if control enters that at |to|.
static void put_in_front(counter_t* counter, uint32_t to, tfrt_ir_block_t* block) {
  block_state_t* state = &counter->states[to];
  tfrt_ir_region_t* region = counter->flow.blocks[to].block->region;
  bool is_first = region->first_block == counter->flow.blocks[to].block;
  tfrt_ir_block_t* previous = state->put_before;
  if (!previous) previous = is_first ? region->last_block : counter->flow.blocks[to - 1].block;
  tfrt_ir_block_insert_behind(previous, block);
  state->put_before = block;
}

// Puts a new block on |edge|, which hands its arguments on, in front of the edge's target; NULL
// when memory is out.
static tfrt_ir_block_t* split_edge(counter_t* counter, const tfrt_async_edge_t* edge) {
  tfrt_ir_context_t* context = counter->context;
  tfrt_ir_operation_t* terminator = counter->flow.blocks[edge->from].terminator;
  tfrt_ir_block_t* target = counter->flow.blocks[edge->to].block;
  tfrt_ir_block_t* block = tfrt_ir_block_make(context);
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(context, counter->branch->name),
                                     .descriptor = counter->branch,
                                     .location = terminator->location,
                                     .operand_count = target->argument_count,
                                     .successors = &target,
                                     .successor_count = 1};
  if (!block || !parts.name) return NULL;
  put_in_front(counter, edge->to, block);
  for (uint32_t i = 0; i < target->argument_count; ++i) {
    const tfrt_ir_argument_t* argument = tfrt_ir_value_argument(target->arguments[i]);
    if (!tfrt_ir_block_add_argument(context, block, argument->value.type, NULL,
                                    argument->location)) {
      return NULL;
    }
  }
  parts.operands = block->arguments;
  tfrt_ir_operation_t* branch = tfrt_ir_operation_create(context, &parts);
  if (!branch) return NULL;
  branch->text_offset = terminator->text_offset;
  tfrt_ir_block_append(block, branch);
  tfrt_ir_operation_successors(terminator)[edge->successor] = block;
  return block;
}

static bool split_edges(counter_t* counter) {
  tfrt_scratch_t* splits = &counter->splits;
  tfrt_ir_block_t* block = NULL;
  if (splits->count) qsort(splits->data, splits->count, sizeof(edge_drop_t), compare_drops);
  for (size_t i = 0; i < splits->count; ++i) {
    const edge_drop_t* drop = tfrt_scratch_at(splits, i);
    bool is_new =
        i == 0 || ((const edge_drop_t*)tfrt_scratch_at(splits, i - 1))->edge != drop->edge;
    if (is_new) block = split_edge(counter, &counter->flow.edges[drop->edge]);
    counter->value = drop->value;
    if (!block || !drop_at_head(counter, block, drop->amount)) return false;
  }
  return true;
}

// --- The module -------------------------------------------------------------------------------

// Takes the counts out of the regions of |operation|.
static void remove_counts(tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    for (tfrt_ir_block_t* block = operation->regions[i].first_block; block; block = block->next) {
      tfrt_ir_operation_t* next;
      for (tfrt_ir_operation_t* op = block->first; op; op = next) {
        next = op->next;
        if (op->region_count) remove_counts(op);
        if (tfrt_async_is_add_ref(op) || tfrt_async_is_drop_ref(op)) tfrt_ir_operation_erase(op);
      }
    }
  }
}

static bool count_module(counter_t* counter, tfrt_ir_operation_t* module) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(counter->context);
  remove_counts(module);
  if (!tfrt_async_flow_initialize(&counter->flow, module, allocator)) return false;
  tfrt_scratch_initialize(&counter->events, sizeof(tfrt_async_event_t), allocator);
  tfrt_scratch_initialize(&counter->blocks, sizeof(uint32_t), allocator);
  tfrt_scratch_initialize(&counter->drops, sizeof(edge_drop_t), allocator);
  tfrt_scratch_initialize(&counter->splits, sizeof(edge_drop_t), allocator);
  counter->states = tfrt_arena_allocate_array(
      &counter->flow.arena, (size_t)counter->flow.block_count + 1, sizeof(*counter->states));
  bool ok = counter->states && tfrt_async_flow_each_value(&counter->flow, count_value, counter) &&
            split_edges(counter);
  tfrt_scratch_deinitialize(&counter->splits);
  tfrt_scratch_deinitialize(&counter->drops);
  tfrt_scratch_deinitialize(&counter->blocks);
  tfrt_scratch_deinitialize(&counter->events);
  tfrt_async_flow_deinitialize(&counter->flow);
  return ok;
}

bool tfrt_count_async_references(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                 tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  counter_t counter = {.context = context};
  tfrt_op_index_t index;
  tfrt_status_t status =
      tfrt_op_index_initialize(&index, tables, tfrt_ir_context_allocator(context));
  bool ok = status == NULL;
  tfrt_status_release(status);
  if (ok) {
    counter.add_ref = tfrt_op_index_find(&index, tfrt_string_view_of("async.runtime.add_ref"));
    counter.drop_ref = tfrt_op_index_find(&index, tfrt_string_view_of("async.runtime.drop_ref"));
    counter.branch = tfrt_op_index_find(&index, tfrt_string_view_of("cf.br"));
    tfrt_op_index_deinitialize(&index);
    if (!counter.add_ref || !counter.drop_ref || !counter.branch) {
      tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module,
                       "the op tables have no 'async.runtime.add_ref', 'async.runtime.drop_ref' "
                       "or 'cf.br' to count references with");
      return false;
    }
    ok = count_module(&counter, module);
  }
  if (!ok) {
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module, "out of memory to count references");
  }
  return ok;
}
