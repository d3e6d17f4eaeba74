// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/async_ref_count_optimizer.h"

#include "compiler/analysis/async_references.h"
#include "compiler/ir/scratch.h"
#include "compiler/passes/pass.h"

#define NONE UINT32_MAX

// A drop that may be cancelled.
typedef struct pending_s {
  tfrt_ir_operation_t* op;
  int64_t amount;
  uint32_t next;  // in its list
} pending_t;

typedef struct list_s {
  uint32_t first;
  uint32_t last;
} list_t;

// The drops of a value in the block that is walked over.
typedef struct value_drops_s {
  const tfrt_ir_value_t* value;
  uint32_t block;  // which one
  list_t unneeded;
  list_t needed;
} value_drops_t;

typedef struct optimizer_s {
  tfrt_ir_context_t* context;
  tfrt_scratch_t pendings;  // pending_t: of one block
  tfrt_scratch_t values;    // value_drops_t; of a value: at its |scratch|
  uint32_t block;
  bool out_of_memory;
} optimizer_t;

static const list_t empty = {NONE, NONE};

static pending_t* pending_at(const optimizer_t* optimizer, uint32_t index) {
  return tfrt_scratch_at(&optimizer->pendings, index);
}

// The entry of |value|, empty at first in each block; NULL: it has none, and |makes| is false, or
// memory is out.
static value_drops_t* drops_of(optimizer_t* optimizer, tfrt_ir_value_t* value, bool makes) {
  value_drops_t* drops = value->scratch < optimizer->values.count
                             ? tfrt_scratch_at(&optimizer->values, value->scratch)
                             : NULL;
  bool is_own = drops && drops->value == value;
  if (is_own && drops->block == optimizer->block) return drops;
  if (!makes) return NULL;
  if (!is_own) {
    value->scratch = (uint32_t)optimizer->values.count;
    drops = tfrt_scratch_add(&optimizer->values);
  }
  if (!drops) {
    optimizer->out_of_memory = true;
    return NULL;
  }
  *drops = (value_drops_t){
      .value = value, .block = optimizer->block, .unneeded = empty, .needed = empty};
  return drops;
}

// --- Events -----------------------------------------------------------------------------------

static void need(optimizer_t* optimizer, tfrt_ir_value_t* value) {
  value_drops_t* drops = drops_of(optimizer, value, false);
  if (!drops || drops->unneeded.first == NONE) return;
  if (drops->needed.first == NONE) {
    drops->needed = drops->unneeded;
  } else {
    pending_at(optimizer, drops->needed.last)->next = drops->unneeded.first;
    drops->needed.last = drops->unneeded.last;
  }
  drops->unneeded = empty;
}

static void take(optimizer_t* optimizer, tfrt_ir_value_t* value) {
  value_drops_t* drops = drops_of(optimizer, value, false);
  if (drops) drops->needed = empty;
}

static int64_t amount_of(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* count = tfrt_ir_operation_attribute(operation, "count");
  bool is_number = count && count->kind == TFRT_IR_ATTRIBUTE_INTEGER;
  return is_number ? tfrt_ir_attribute_integer_value(count) : 0;
}

static void drop(optimizer_t* optimizer, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t* value = operation->operands[0].value;
  value_drops_t* drops = drops_of(optimizer, value, true);
  pending_t pending = {.op = operation, .amount = amount_of(operation), .next = NONE};
  uint32_t index = (uint32_t)optimizer->pendings.count;
  if (!drops) return;
  drops->needed = empty;
  if (!tfrt_scratch_push(&optimizer->pendings, &pending)) {
    optimizer->out_of_memory = true;
    return;
  }
  if (drops->unneeded.first == NONE) {
    drops->unneeded.first = index;
  } else {
    pending_at(optimizer, drops->unneeded.last)->next = index;
  }
  drops->unneeded.last = index;
}

// Lets |operation| count |amount| references; none: it goes.
static void set_amount(optimizer_t* optimizer, tfrt_ir_operation_t* operation, int64_t amount) {
  if (amount == 0) {
    tfrt_ir_operation_erase(operation);
    return;
  }
  if (amount == amount_of(operation)) return;
  const tfrt_ir_string_t* name = tfrt_ir_string_of(optimizer->context, "count");
  const tfrt_ir_type_t* type = tfrt_ir_type_integer(optimizer->context, 64, TFRT_IR_SIGNLESS);
  const tfrt_ir_attribute_t* count =
      type ? tfrt_ir_attribute_integer(optimizer->context, type, amount) : NULL;
  bool ok =
      name && count && tfrt_ir_operation_set_attribute(optimizer->context, operation, name, count);
  if (!ok) optimizer->out_of_memory = true;
}

// Cancels up to |amount| references with the drops of |list|; returns those that are left.
static int64_t cancel(optimizer_t* optimizer, list_t* list, int64_t amount) {
  while (amount > 0 && list->first != NONE) {
    pending_t* pending = pending_at(optimizer, list->first);
    int64_t cancelled = amount < pending->amount ? amount : pending->amount;
    pending->amount -= cancelled;
    amount -= cancelled;
    if (pending->amount) {
      set_amount(optimizer, pending->op, pending->amount);
    } else {
      set_amount(optimizer, pending->op, 0);
      list->first = pending->next;
    }
  }
  return amount;
}

static void add(optimizer_t* optimizer, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t* value = operation->operands[0].value;
  value_drops_t* drops = drops_of(optimizer, value, false);
  int64_t amount = amount_of(operation);
  if (drops) {
    // The first list can only get shorter from here on.
    amount = cancel(optimizer, &drops->needed, amount);
    amount = cancel(optimizer, &drops->unneeded, amount);
  }
  if (amount) need(optimizer, value);
  set_amount(optimizer, operation, amount);
}

// --- Walks ------------------------------------------------------------------------------------

// A walk over the regions of |root|.
typedef struct inner_s {
  optimizer_t* optimizer;
  const tfrt_ir_operation_t* root;
  bool is_task;
} inner_t;

static bool visit_inner(tfrt_ir_operation_t* operation, void* user_data) {
  inner_t* inner = user_data;
  if (operation == inner->root) return true;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    tfrt_ir_value_t* value = operation->operands[i].value;
    if (!tfrt_async_is_counted(value->type)) continue;
    // Only values that have drops in this block have an entry, and so none from inside.
    if (inner->is_task) {
      take(inner->optimizer, value);
    } else {
      need(inner->optimizer, value);
    }
  }
  return true;
}

static void visit(optimizer_t* optimizer, tfrt_ir_operation_t* operation) {
  if (operation->operand_count == 1 && tfrt_async_is_add_ref(operation)) {
    add(optimizer, operation);
    return;
  }
  if (operation->operand_count == 1 && tfrt_async_is_drop_ref(operation)) {
    drop(optimizer, operation);
    return;
  }
  // Regions run behind what the op does with its operands.
  if (operation->region_count) {
    inner_t inner = {optimizer, operation, tfrt_async_is_task(operation)};
    tfrt_ir_operation_walk(operation, visit_inner, &inner);
  }
  for (uint32_t i = operation->operand_count; i > 0; --i) {
    tfrt_ir_value_t* value = operation->operands[i - 1].value;
    if (!tfrt_async_is_counted(value->type)) continue;
    if (tfrt_async_operand_event(operation, i - 1) == TFRT_ASYNC_EVENT_HANDOVER) {
      take(optimizer, value);
    } else {
      need(optimizer, value);
    }
  }
}

static void optimize_regions(optimizer_t* optimizer, tfrt_ir_operation_t* operation);

static void optimize_block(optimizer_t* optimizer, tfrt_ir_block_t* block) {
  tfrt_ir_operation_t* previous;
  ++optimizer->block;
  optimizer->pendings.count = 0;
  // No drop comes behind the terminator.
  for (tfrt_ir_operation_t* op = block->last; op && !optimizer->out_of_memory; op = previous) {
    previous = op->previous;
    if (op->next || !op->successor_count) visit(optimizer, op);
  }
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (op->region_count) optimize_regions(optimizer, op);
  }
}

static void optimize_regions(optimizer_t* optimizer, tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    for (tfrt_ir_block_t* block = operation->regions[i].first_block; block; block = block->next) {
      optimize_block(optimizer, block);
    }
  }
}

bool tfrt_optimize_async_ref_counts(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                    tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)tables;
  optimizer_t optimizer = {.context = context};
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  tfrt_scratch_initialize(&optimizer.pendings, sizeof(pending_t), allocator);
  tfrt_scratch_initialize(&optimizer.values, sizeof(value_drops_t), allocator);
  optimize_regions(&optimizer, module);
  tfrt_scratch_deinitialize(&optimizer.values);
  tfrt_scratch_deinitialize(&optimizer.pendings);
  if (!optimizer.out_of_memory) return true;
  tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module,
                   "out of memory to cancel reference counts");
  return false;
}
