// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/async_ref_count_verifier.h"

#include <inttypes.h>
#include <stdio.h>

#include "compiler/analysis/async_references.h"
#include "compiler/passes/pass.h"
#include "host_runtime/base/plural.h"

#define NONE UINT32_MAX
#define MAX_NAME 96
// Blocks of a path that a report names.
#define MAX_PATH 32

// A block that a path enters with |count| references.
typedef struct state_s {
  uint32_t block;
  uint32_t from;  // the state before it, or NONE
  uint32_t next;  // another state of the same block, or NONE
  int64_t count;
  bool is_suspended;                 // the frame of a coroutine keeps what it holds
  const tfrt_ir_operation_t* giver;  // gave the last reference; NULL: none has
} state_t;

// The facts about a block for one scope; those whose stamp isn't that of the scope are out of date.
typedef struct block_state_s {
  uint32_t reach_stamp;  // control may come from here to an event
  uint32_t event_stamp;
  uint32_t first_event;
  uint32_t event_count;
  uint32_t state_stamp;
  uint32_t first_state;
  uint32_t state_count;
} block_state_t;

typedef struct checker_s {
  tfrt_diagnostics_t* diagnostics;
  tfrt_async_flow_t flow;
  block_state_t* blocks;
  uint32_t stamp;
  tfrt_scratch_t events;    // tfrt_async_event_t: of one value
  tfrt_scratch_t reaching;  // uint32_t: blocks of one scope
  tfrt_scratch_t states;    // state_t: of one scope; the rear ones are to be followed
  const tfrt_ir_value_t* value;
  const tfrt_async_scope_t* scope;
  bool found;       // a mistake in this scope
  bool has_failed;  // anywhere
  bool out_of_memory;
} checker_t;

// --- Reports ----------------------------------------------------------------------------------

static void name_block(const checker_t* checker, uint32_t number, char* out_name, size_t size) {
  const tfrt_ir_block_t* block = checker->flow.blocks[number].block;
  if (block->label) {
    snprintf(out_name, size, "^%.60s", block->label->data);
  } else {
    snprintf(out_name, size, "^bb%" PRIu32, number - block->region->first_block->scratch);
  }
}

static void name_value(const checker_t* checker, char* out_name, size_t size) {
  const tfrt_ir_value_t* value = checker->value;
  if (value->name && value->producer && value->producer->result_count > 1) {
    snprintf(out_name, size, "'%%%.60s#%" PRIu32 "'", value->name->data, value->index);
  } else if (value->name) {
    snprintf(out_name, size, "'%%%.60s'", value->name->data);
  } else if (value->producer) {
    snprintf(out_name, size, "result #%" PRIu32 " of '%.60s'", value->index,
             value->producer->name->data);
  } else {
    snprintf(out_name, size, "argument #%" PRIu32, value->index);
  }
}

// Appends the blocks from the entry of the path to the state |index|.
static void append_path(const checker_t* checker, uint32_t index, tfrt_string_builder_t* text) {
  uint32_t path[MAX_PATH];
  uint32_t length = 0;
  uint32_t skipped = 0;
  for (uint32_t i = index; i != NONE;) {
    const state_t* state = tfrt_scratch_at(&checker->states, i);
    if (length < MAX_PATH) {
      path[length++] = state->block;
    } else {
      ++skipped;
    }
    i = state->from;
  }
  if (skipped) {
    tfrt_string_builder_append_format(text, "%" PRIu32 " blocks, ", skipped);
  }
  while (length) {
    char name[MAX_NAME];
    name_block(checker, path[--length], name, sizeof(name));
    tfrt_string_builder_append_format(text, "%s%s", name, length ? ", " : "");
  }
}

// Reports at |op| |what| is wrong with the value on the path to the state |index|, and to the block
// |to| behind it, unless that is NONE.
static void report(checker_t* checker, const tfrt_ir_operation_t* op, uint32_t index, uint32_t to,
                   const tfrt_ir_operation_t* giver, const char* what) {
  char value[MAX_NAME];
  char block[MAX_NAME];
  tfrt_string_builder_t path;
  checker->found = checker->has_failed = true;
  tfrt_string_builder_initialize(&path, tfrt_allocator_system());
  append_path(checker, index, &path);
  if (to != NONE) {
    name_block(checker, to, block, sizeof(block));
    tfrt_string_builder_append_format(&path, ", %s", block);
  }
  name_value(checker, value, sizeof(value));
  tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_ERROR, op, "%s %s, on the path %s", value,
                   what, tfrt_string_builder_text(&path));
  tfrt_string_builder_deinitialize(&path);
  if (giver) {
    tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_NOTE, giver,
                     "the last reference is given away here");
  } else if (checker->value->producer) {
    tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_NOTE, checker->value->producer,
                     "the value is defined here");
  }
}

// --- States -----------------------------------------------------------------------------------

static int64_t left_at_end(const checker_t* checker) {
  return checker->scope->kind == TFRT_ASYNC_SCOPE_BORROWED ? 1 : 0;
}

// Enters |state->block|, unless a path with the same count has done so.
static void enter(checker_t* checker, state_t state, const tfrt_ir_operation_t* terminator) {
  block_state_t* block = &checker->blocks[state.block];
  bool is_settled = state.count == left_at_end(checker) || state.is_suspended;
  if (is_settled && block->reach_stamp != checker->stamp) return;
  if (block->state_stamp != checker->stamp) {
    block->state_stamp = checker->stamp;
    block->first_state = NONE;
    block->state_count = 0;
  }
  for (uint32_t i = block->first_state; i != NONE;) {
    const state_t* other = tfrt_scratch_at(&checker->states, i);
    if (other->count == state.count && other->is_suspended == state.is_suspended) return;
    i = other->next;
  }
  if (++block->state_count > TFRT_ASYNC_REF_COUNT_MAX_STATES) {
    report(checker, terminator, state.from, state.block, NULL,
           "leaks: its count grows with each turn of a loop");
    return;
  }
  state.next = block->first_state;
  block->first_state = (uint32_t)checker->states.count;
  if (!tfrt_scratch_push(&checker->states, &state)) checker->out_of_memory = true;
}

// Takes |amount| references from |state|, whose number is |index|; false after a report.
static bool give(checker_t* checker, state_t* state, uint32_t index,
                 const tfrt_async_event_t* event, int64_t amount) {
  int64_t least = left_at_end(checker);
  char what[128];
  if (state->count - amount >= least) {
    state->count -= amount;
    if (state->count == least) state->giver = event->op;
    return true;
  }
  const char* does = event->kind == TFRT_ASYNC_EVENT_DROP ? "is dropped" : "is handed on";
  if (least) {
    snprintf(what, sizeof(what), "%s with a reference that the region only borrows", does);
  } else {
    snprintf(what, sizeof(what), "%s with %" PRId64 " reference%s when %" PRId64 " %s left", does,
             amount, tfrt_plural((uint64_t)amount), state->count, state->count == 1 ? "is" : "are");
  }
  report(checker, event->op, index, NONE, state->giver, what);
  return false;
}

// Runs |event| in |state|, whose number is |index|; false after a report.
static bool run_event(checker_t* checker, state_t* state, uint32_t index,
                      const tfrt_async_event_t* event) {
  switch (event->kind) {
    case TFRT_ASYNC_EVENT_NEED:
    case TFRT_ASYNC_EVENT_ADD:
      if (state->count < 1) {
        report(checker, event->op, index, NONE, state->giver, "is used when no reference is left");
        return false;
      }
      if (event->kind == TFRT_ASYNC_EVENT_ADD) state->count += event->amount;
      return true;
    case TFRT_ASYNC_EVENT_HANDOVER:
      return give(checker, state, index, event, 1);
    case TFRT_ASYNC_EVENT_DROP:
      return give(checker, state, index, event, event->amount);
    case TFRT_ASYNC_EVENT_EDGE:
    case TFRT_ASYNC_EVENT_SETTLE:
      break;
  }
  return true;
}

// Reports references that |state| has left at |op|, before the block |to|, if it isn't NONE.
static void check_left(checker_t* checker, const state_t* state, uint32_t index, uint32_t to,
                       const tfrt_ir_operation_t* op) {
  int64_t left = state->count - left_at_end(checker);
  char what[128];
  if (left <= 0 || state->is_suspended) return;
  snprintf(what, sizeof(what), "leaks: %" PRId64 " reference%s %s left %s", left,
           tfrt_plural((uint64_t)left), left == 1 ? "is" : "are",
           to == NONE ? "at the end" : "when it is defined anew");
  report(checker, op, index, to, NULL, what);
}

// Goes on from |state|, at the end of its block, over |edge|. |*cursor| walks over the |count|
// |events| of the block.
static void follow(checker_t* checker, const state_t* state, uint32_t index,
                   const tfrt_async_edge_t* edge, const tfrt_async_event_t* events, uint32_t count,
                   uint32_t* cursor) {
  state_t next = *state;
  const tfrt_ir_operation_t* terminator = checker->flow.blocks[edge->from].terminator;
  for (; *cursor < count; ++*cursor) {
    const tfrt_async_event_t* event = &events[*cursor];
    if (event->kind != TFRT_ASYNC_EVENT_EDGE) continue;
    if (event->successor != edge->successor) break;
    if (!give(checker, &next, index, event, 1)) return;
  }
  if (edge->is_never_taken) return;
  next.block = edge->to;
  next.from = index;
  next.is_suspended = state->is_suspended || edge->is_suspension;
  if (checker->scope->kind == TFRT_ASYNC_SCOPE_DEFINED && edge->to == checker->scope->home) {
    check_left(checker, &next, index, edge->to, terminator);
    return;
  }
  enter(checker, next, terminator);
}

// Runs through the block of the state |index|.
static void run_block(checker_t* checker, uint32_t index) {
  state_t state = *(state_t*)tfrt_scratch_at(&checker->states, index);
  const block_state_t* block_state = &checker->blocks[state.block];
  const tfrt_async_flow_block_t* block = &checker->flow.blocks[state.block];
  bool has_events = block_state->event_stamp == checker->stamp;
  const tfrt_async_event_t* events =
      has_events ? checker->scope->events + block_state->first_event : NULL;
  uint32_t count = has_events ? block_state->event_count : 0;
  uint32_t cursor = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!run_event(checker, &state, index, &events[i])) return;
  }
  if (!block->edge_count) {
    const tfrt_ir_operation_t* end =
        block->block->last ? block->block->last : block->block->region->owner;
    check_left(checker, &state, index, NONE, end);
    return;
  }
  for (uint32_t i = 0; i < block->edge_count && !checker->found; ++i) {
    follow(checker, &state, index, &checker->flow.edges[block->first_edge + i], events, count,
           &cursor);
  }
}

// --- Scopes -----------------------------------------------------------------------------------

static bool reach(checker_t* checker, uint32_t block) {
  block_state_t* state = &checker->blocks[block];
  if (state->reach_stamp == checker->stamp) return true;
  state->reach_stamp = checker->stamp;
  return tfrt_scratch_push(&checker->reaching, &block);
}

// Finds the events of each block, and the blocks from which control may come to one.
static bool find_events(checker_t* checker, const tfrt_async_scope_t* scope) {
  checker->reaching.count = 0;
  for (uint32_t i = 0; i < scope->event_count; ++i) {
    block_state_t* state = &checker->blocks[scope->events[i].block];
    if (state->event_stamp != checker->stamp) {
      state->event_stamp = checker->stamp;
      state->first_event = i;
      state->event_count = 0;
      if (!reach(checker, scope->events[i].block)) return false;
    }
    ++state->event_count;
  }
  for (size_t i = 0; i < checker->reaching.count; ++i) {
    uint32_t number = *(uint32_t*)tfrt_scratch_at(&checker->reaching, i);
    const tfrt_async_flow_block_t* block = &checker->flow.blocks[number];
    if (number == scope->home) continue;
    for (uint32_t k = 0; k < block->predecessor_count; ++k) {
      uint32_t edge = checker->flow.predecessors[block->first_predecessor + k];
      if (!reach(checker, checker->flow.edges[edge].from)) return false;
    }
  }
  return true;
}

static bool check_scope(checker_t* checker, const tfrt_async_scope_t* scope) {
  ++checker->stamp;
  checker->scope = scope;
  checker->found = false;
  checker->states.count = 0;
  if (!find_events(checker, scope)) return false;
  state_t start = {.block = scope->home, .from = NONE, .next = NONE, .count = 1};
  if (!tfrt_scratch_push(&checker->states, &start)) return false;
  for (size_t i = 0; i < checker->states.count && !checker->found; ++i) {
    run_block(checker, (uint32_t)i);
  }
  return !checker->out_of_memory;
}

static bool check_value(const tfrt_ir_value_t* value, void* user_data) {
  checker_t* checker = user_data;
  tfrt_async_scope_t scope = {0};
  checker->value = value;
  if (!tfrt_async_flow_list_events(&checker->flow, value, &checker->events)) return false;
  while (tfrt_async_flow_next_scope(&checker->flow, value, &checker->events, &scope)) {
    if (!check_scope(checker, &scope)) return false;
  }
  return true;
}

static bool check_module(checker_t* checker, tfrt_ir_operation_t* module,
                         tfrt_allocator_t allocator) {
  if (!tfrt_async_flow_initialize(&checker->flow, module, allocator)) return false;
  tfrt_scratch_initialize(&checker->events, sizeof(tfrt_async_event_t), allocator);
  tfrt_scratch_initialize(&checker->reaching, sizeof(uint32_t), allocator);
  tfrt_scratch_initialize(&checker->states, sizeof(state_t), allocator);
  checker->blocks = tfrt_arena_allocate_array(
      &checker->flow.arena, (size_t)checker->flow.block_count + 1, sizeof(*checker->blocks));
  bool ok = checker->blocks && tfrt_async_flow_each_value(&checker->flow, check_value, checker);
  tfrt_scratch_deinitialize(&checker->states);
  tfrt_scratch_deinitialize(&checker->reaching);
  tfrt_scratch_deinitialize(&checker->events);
  tfrt_async_flow_deinitialize(&checker->flow);
  return ok;
}

bool tfrt_verify_async_ref_counts(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                  tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)tables;
  checker_t checker = {.diagnostics = diagnostics};
  if (!check_module(&checker, module, tfrt_ir_context_allocator(context))) {
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module,
                     "out of memory to check reference counts");
    return false;
  }
  return !checker.has_failed;
}
