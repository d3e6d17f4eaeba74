// SPDX-License-Identifier: Apache-2.0

#include "compiler/analysis/async_references.h"

#include <stdlib.h>

// --- Ops --------------------------------------------------------------------------------------

bool tfrt_async_is_counted(const tfrt_ir_type_t* type) {
  return type->kind == TFRT_IR_TYPE_DIALECT &&
         (type->element || tfrt_ir_type_is(type, "!async.token") ||
          tfrt_ir_type_is(type, "!async.group"));
}

bool tfrt_async_is_add_ref(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_operation_is(operation, "async.runtime.add_ref");
}

bool tfrt_async_is_drop_ref(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_operation_is(operation, "async.runtime.drop_ref");
}

bool tfrt_async_is_task(const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  return operation->region_count && descriptor && descriptor->async &&
         descriptor->async->region_end;
}

static bool is_suspend(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_operation_is(operation, "async.coro.suspend") && operation->successor_count == 3;
}

// The successors of a suspension.
enum { SUSPEND = 0, RESUME, CLEAN_UP };

// True if |operation| ends its block. An op that nobody knows may do so.
static bool ends_block(const tfrt_ir_operation_t* operation) {
  if (operation->next || !operation->block) return false;
  return operation->successor_count || !operation->descriptor ||
         tfrt_ir_operation_is_terminator(operation);
}

// True if |operation| hands operand |index| to what it calls, or to a turn of its loop.
static bool takes_reference(const tfrt_ir_operation_t* operation, uint32_t index) {
  const tfrt_ir_attribute_t* callee = tfrt_ir_operation_attribute(operation, "callee");
  if (callee && callee->kind == TFRT_IR_ATTRIBUTE_SYMBOL) return true;
  if (operation->region_count) {
    return (tfrt_ir_operation_is(operation, "scf.for") && index >= 3) ||
           tfrt_ir_operation_is(operation, "scf.while");
  }
  return index == 0 && tfrt_ir_operation_is(operation, "async.runtime.store");
}

tfrt_async_event_kind_t tfrt_async_operand_event(const tfrt_ir_operation_t* operation,
                                                 uint32_t index) {
  if (tfrt_async_is_add_ref(operation)) return TFRT_ASYNC_EVENT_ADD;
  if (tfrt_async_is_drop_ref(operation)) return TFRT_ASYNC_EVENT_DROP;
  if (tfrt_ir_operation_is(operation, "async.runtime.set_available") ||
      tfrt_ir_operation_is(operation, "async.runtime.set_error")) {
    return TFRT_ASYNC_EVENT_SETTLE;
  }
  if (ends_block(operation)) {
    if (!operation->successor_count) return TFRT_ASYNC_EVENT_HANDOVER;
    for (uint32_t i = 0; i < operation->successor_count; ++i) {
      uint32_t first, count;
      if (tfrt_ir_operation_successor_operands(operation, i, &first, &count) && index >= first &&
          index - first < count) {
        return TFRT_ASYNC_EVENT_EDGE;
      }
    }
    return TFRT_ASYNC_EVENT_NEED;
  }
  return takes_reference(operation, index) ? TFRT_ASYNC_EVENT_HANDOVER : TFRT_ASYNC_EVENT_NEED;
}

// --- Blocks -----------------------------------------------------------------------------------

// Counts the blocks and edges of the regions of |operation|, and numbers the former.
static void count_blocks(tfrt_async_flow_t* flow, tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    tfrt_ir_block_t* first = operation->regions[i].first_block;
    for (tfrt_ir_block_t* block = first; block; block = block->next) {
      block->scratch = flow->block_count++;
      tfrt_ir_block_number_ops(block);
      if (block->last && ends_block(block->last)) flow->edge_count += block->last->successor_count;
    }
    for (tfrt_ir_block_t* block = first; block; block = block->next) {
      for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
        op->scratch = UINT32_MAX;
        if (op->region_count) count_blocks(flow, op);
      }
    }
  }
}

static void add_edges(tfrt_async_flow_t* flow, tfrt_async_flow_block_t* entry) {
  tfrt_ir_operation_t* last = entry->block->last;
  entry->first_edge = flow->edge_count;
  if (!last || !ends_block(last)) return;
  entry->terminator = last;
  entry->edge_count = last->successor_count;
  for (uint32_t i = 0; i < last->successor_count; ++i) {
    tfrt_async_edge_t* edge = &flow->edges[flow->edge_count++];
    *edge = (tfrt_async_edge_t){.from = entry->block->scratch,
                                .to = tfrt_ir_operation_successors(last)[i]->scratch,
                                .successor = i,
                                .is_suspension = is_suspend(last) && i != RESUME,
                                .is_never_taken = is_suspend(last) && i == CLEAN_UP};
    tfrt_ir_operation_successor_operands(last, i, &edge->first, &edge->count);
  }
}

// Fills in the blocks of the regions of |operation|.
static void add_blocks(tfrt_async_flow_t* flow, tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    tfrt_ir_block_t* first = operation->regions[i].first_block;
    for (tfrt_ir_block_t* block = first; block; block = block->next) {
      flow->blocks[block->scratch].block = block;
      add_edges(flow, &flow->blocks[block->scratch]);
    }
    for (tfrt_ir_block_t* block = first; block; block = block->next) {
      for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
        if (op->region_count) add_blocks(flow, op);
      }
    }
  }
}

// Marks what can be reached from the first blocks of regions. |stack| has room for all blocks.
static void mark_reachable(tfrt_async_flow_t* flow, uint32_t* stack) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < flow->block_count; ++i) {
    tfrt_async_flow_block_t* entry = &flow->blocks[i];
    if (entry->block != entry->block->region->first_block) continue;
    entry->is_reachable = true;
    stack[depth++] = i;
    while (depth) {
      const tfrt_async_flow_block_t* from = &flow->blocks[stack[--depth]];
      for (uint32_t k = 0; k < from->edge_count; ++k) {
        uint32_t to = flow->edges[from->first_edge + k].to;
        if (flow->blocks[to].is_reachable) continue;
        flow->blocks[to].is_reachable = true;
        stack[depth++] = to;
      }
    }
  }
}

static void list_predecessors(tfrt_async_flow_t* flow) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < flow->edge_count; ++i) {
    const tfrt_async_edge_t* edge = &flow->edges[i];
    if (flow->blocks[edge->from].is_reachable) ++flow->blocks[edge->to].predecessor_count;
  }
  for (uint32_t i = 0; i < flow->block_count; ++i) {
    flow->blocks[i].first_predecessor = first;
    first += flow->blocks[i].predecessor_count;
    flow->blocks[i].predecessor_count = 0;
  }
  for (uint32_t i = 0; i < flow->edge_count; ++i) {
    if (!flow->blocks[flow->edges[i].from].is_reachable) continue;
    tfrt_async_flow_block_t* to = &flow->blocks[flow->edges[i].to];
    flow->predecessors[to->first_predecessor + to->predecessor_count++] = i;
  }
}

bool tfrt_async_flow_initialize(tfrt_async_flow_t* flow, tfrt_ir_operation_t* module,
                                tfrt_allocator_t allocator) {
  *flow = (tfrt_async_flow_t){0};
  tfrt_arena_initialize(&flow->arena, allocator);
  count_blocks(flow, module);
  flow->blocks =
      tfrt_arena_allocate_array(&flow->arena, (size_t)flow->block_count + 1, sizeof(*flow->blocks));
  flow->edges =
      tfrt_arena_allocate_array(&flow->arena, (size_t)flow->edge_count + 1, sizeof(*flow->edges));
  flow->predecessors = tfrt_arena_allocate_array(&flow->arena, (size_t)flow->edge_count + 1,
                                                 sizeof(*flow->predecessors));
  uint32_t* stack =
      tfrt_arena_allocate_array(&flow->arena, (size_t)flow->block_count + 1, sizeof(*stack));
  if (!flow->blocks || !flow->edges || !flow->predecessors || !stack) {
    tfrt_async_flow_deinitialize(flow);
    return false;
  }
  flow->edge_count = 0;
  add_blocks(flow, module);
  mark_reachable(flow, stack);
  list_predecessors(flow);
  return true;
}

void tfrt_async_flow_deinitialize(tfrt_async_flow_t* flow) {
  tfrt_arena_deinitialize(&flow->arena);
}

// --- Events -----------------------------------------------------------------------------------

// The successor of |block| whose arguments operand |index| of the terminator is one of, or
// UINT32_MAX. The operands of successors stand in the order of these.
static uint32_t successor_of(const tfrt_async_flow_t* flow, const tfrt_async_flow_block_t* block,
                             uint32_t index) {
  uint32_t low = 0;
  uint32_t high = block->edge_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const tfrt_async_edge_t* edge = &flow->edges[block->first_edge + middle];
    if (index < edge->first) {
      high = middle;
    } else if (index - edge->first >= edge->count) {
      low = middle + 1;
    } else {
      return middle;
    }
  }
  return UINT32_MAX;
}

static tfrt_async_event_t event_of(const tfrt_async_flow_t* flow,
                                   const tfrt_ir_operand_t* operand) {
  tfrt_ir_operation_t* op = operand->owner;
  uint32_t index = tfrt_ir_operand_index(operand);
  tfrt_async_event_t event = {.op = op, .operand = index, .amount = 1};
  if (op->successor_count && ends_block(op)) {
    event.successor = successor_of(flow, &flow->blocks[op->block->scratch], index);
    event.kind = event.successor == UINT32_MAX ? TFRT_ASYNC_EVENT_NEED : TFRT_ASYNC_EVENT_EDGE;
    return event;
  }
  event.kind = tfrt_async_operand_event(op, index);
  if (event.kind == TFRT_ASYNC_EVENT_ADD || event.kind == TFRT_ASYNC_EVENT_DROP) {
    const tfrt_ir_attribute_t* count = tfrt_ir_operation_attribute(op, "count");
    bool is_number = count && count->kind == TFRT_IR_ATTRIBUTE_INTEGER;
    event.amount = is_number ? tfrt_ir_attribute_integer_value(count) : 1;
  }
  return event;
}

static bool push_event(const tfrt_async_flow_t* flow, tfrt_async_event_t event,
                       tfrt_scratch_t* events) {
  event.block = event.op->block->scratch;
  event.place = event.op->place + 1;
  if (!flow->blocks[event.block].is_reachable) return true;
  return tfrt_scratch_push(events, &event);
}

// Lists the event of one use of |value|, and those of the ops around it that it makes users.
static bool list_use(tfrt_async_flow_t* flow, const tfrt_ir_region_t* home,
                     const tfrt_ir_operand_t* operand, tfrt_scratch_t* events) {
  tfrt_async_event_t event = event_of(flow, operand);
  while (true) {
    tfrt_ir_region_t* region = event.op->block->region;
    if (!push_event(flow, event, events)) return false;
    if (region == home) return true;
    tfrt_ir_operation_t* around = region->owner;
    if (!around || !around->block) return true;
    bool is_task = tfrt_async_is_task(around);
    if (around->scratch == flow->serial) return true;
    around->scratch = flow->serial;
    event =
        (tfrt_async_event_t){.kind = is_task ? TFRT_ASYNC_EVENT_HANDOVER : TFRT_ASYNC_EVENT_NEED,
                             .op = around,
                             // Behind what it does with its operands.
                             .operand = UINT32_MAX,
                             .amount = 1};
  }
}

static int compare_events(const void* left, const void* right) {
  const tfrt_async_event_t* a = left;
  const tfrt_async_event_t* b = right;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  if (a->operand != b->operand) return a->operand < b->operand ? -1 : 1;
  return 0;
}

bool tfrt_async_flow_list_events(tfrt_async_flow_t* flow, const tfrt_ir_value_t* value,
                                 tfrt_scratch_t* events) {
  const tfrt_ir_region_t* home = tfrt_ir_value_block(value)->region;
  events->count = 0;
  ++flow->serial;
  for (const tfrt_ir_operand_t* use = value->first_use; use; use = use->next) {
    if (use->owner->block && !list_use(flow, home, use, events)) return false;
  }
  if (events->count > 1) {
    qsort(events->data, events->count, sizeof(tfrt_async_event_t), compare_events);
  }
  return true;
}

bool tfrt_async_flow_next_scope(const tfrt_async_flow_t* flow, const tfrt_ir_value_t* value,
                                const tfrt_scratch_t* events, tfrt_async_scope_t* scope) {
  const tfrt_async_event_t* list = tfrt_scratch_at(events, 0);
  const tfrt_async_event_t* next = scope->events ? scope->events + scope->event_count : list;
  const tfrt_async_event_t* end = list ? list + events->count : NULL;
  tfrt_ir_block_t* definition = tfrt_ir_value_block(value);
  bool is_first = scope->region == NULL;
  tfrt_ir_region_t* region = next == end ? NULL : flow->blocks[next->block].block->region;
  // Blocks of the regions inside have greater numbers: what comes first is the value's own region,
  // if that has events.
  if (is_first && region != definition->region) {
    *scope = (tfrt_async_scope_t){
        .region = definition->region, .home = definition->scratch, .events = next};
    return true;
  }
  if (!region) return false;
  *scope =
      (tfrt_async_scope_t){.region = region, .home = region->first_block->scratch, .events = next};
  while (next != end && flow->blocks[next->block].block->region == region) ++next;
  scope->event_count = (uint32_t)(next - scope->events);
  if (is_first) {
    scope->home = definition->scratch;
  } else {
    scope->kind =
        tfrt_async_is_task(region->owner) ? TFRT_ASYNC_SCOPE_CAPTURED : TFRT_ASYNC_SCOPE_BORROWED;
  }
  return true;
}

bool tfrt_async_flow_each_value(const tfrt_async_flow_t* flow, tfrt_async_value_fn_t visit,
                                void* user_data) {
  for (uint32_t i = 0; i < flow->block_count; ++i) {
    const tfrt_ir_block_t* block = flow->blocks[i].block;
    if (!flow->blocks[i].is_reachable) continue;
    for (uint32_t k = 0; k < block->argument_count; ++k) {
      const tfrt_ir_value_t* value = block->arguments[k];
      if (tfrt_async_is_counted(value->type) && !visit(value, user_data)) return false;
    }
    for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
      for (uint32_t k = 0; k < op->result_count; ++k) {
        const tfrt_ir_value_t* value = &op->results[k];
        if (tfrt_async_is_counted(value->type) && !visit(value, user_data)) return false;
      }
    }
  }
  return true;
}
