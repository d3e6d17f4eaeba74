// SPDX-License-Identifier: Apache-2.0

#include "compiler/lowering/lowering_impl.h"

// --- Blocks -----------------------------------------------------------------------------------

// Moves the ops behind |operation| to |target|, which is empty.
static void move_tail(tfrt_ir_operation_t* operation, tfrt_ir_block_t* target) {
  tfrt_ir_block_t* block = operation->block;
  tfrt_ir_operation_t* first = operation->next;
  if (!first) return;
  target->first = first;
  target->last = block->last;
  target->is_mixed = true;
  block->last = operation;
  operation->next = NULL;
  first->previous = NULL;
  for (tfrt_ir_operation_t* op = first; op; op = op->next) {
    op->block = target;
    ++target->op_count;
    --block->op_count;
  }
}

// A block behind |operation| with the ops that follow it and an argument for each of its results,
// which stand for these from now on; NULL: memory is out.
static tfrt_ir_block_t* split_behind(tfrt_lowering_t* lowering, tfrt_ir_operation_t* operation) {
  tfrt_ir_block_t* block = tfrt_ir_block_create(lowering->context, operation->block->region);
  if (!block) return NULL;
  move_tail(operation, block);
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    tfrt_ir_value_t* argument = tfrt_ir_block_add_argument(
        lowering->context, block, operation->results[i].type, operation->results[i].name, NULL);
    if (!argument) return NULL;
    tfrt_ir_value_replace_all_uses(&operation->results[i], argument);
  }
  return block;
}

// The values of the operands of |operation| from |first| on; NULL: memory is out.
static tfrt_ir_value_t** list_operands(tfrt_lowering_t* lowering,
                                       const tfrt_ir_operation_t* operation, uint32_t first) {
  tfrt_ir_value_t** values =
      tfrt_lowering_allocate(lowering, operation->operand_count + 1, sizeof(*values));
  for (uint32_t i = first; values && i < operation->operand_count; ++i) {
    values[i - first] = operation->operands[i].value;
  }
  return values;
}

// Appends `cf.br target(values)` to |block|.
static void branch(tfrt_lowering_t* lowering, tfrt_ir_block_t* block,
                   const tfrt_ir_operation_t* like, tfrt_ir_block_t* target,
                   tfrt_ir_value_t* const* values, uint32_t count) {
  tfrt_lowering_op_t parts = {.name = "cf.br",
                              .like = like,
                              .operands = values,
                              .operand_count = count,
                              .successors = &target,
                              .successor_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_make(lowering, &parts);
  if (op) tfrt_ir_block_append(block, op);
}

// Appends `cf.cond_br condition, yes(yes_values), no(no_values)`.
static void branch_if(tfrt_lowering_t* lowering, tfrt_ir_block_t* block,
                      const tfrt_ir_operation_t* like, tfrt_ir_value_t* condition,
                      tfrt_ir_block_t* yes, tfrt_ir_value_t* const* yes_values, uint32_t yes_count,
                      tfrt_ir_block_t* no, tfrt_ir_value_t* const* no_values, uint32_t no_count) {
  uint32_t count = 1 + yes_count + no_count;
  tfrt_ir_value_t** operands = tfrt_lowering_allocate(lowering, count, sizeof(*operands));
  int32_t sizes[] = {1, (int32_t)yes_count, (int32_t)no_count};
  tfrt_ir_block_t* successors[] = {yes, no};
  if (!operands) return;
  operands[0] = condition;
  for (uint32_t i = 0; i < yes_count; ++i) operands[1 + i] = yes_values[i];
  for (uint32_t i = 0; i < no_count; ++i) operands[1 + yes_count + i] = no_values[i];
  tfrt_ir_named_attribute_t segments = tfrt_lowering_named(
      lowering, "operandSegmentSizes", tfrt_lowering_segments(lowering, sizes, 3));
  tfrt_lowering_op_t parts = {.name = "cf.cond_br",
                              .like = like,
                              .operands = operands,
                              .operand_count = count,
                              .attributes = &segments,
                              .attribute_count = 1,
                              .successors = successors,
                              .successor_count = 2};
  tfrt_ir_operation_t* op = tfrt_lowering_make(lowering, &parts);
  if (op) tfrt_ir_block_append(block, op);
}

// Replaces |end|, the last op of its block, by a branch to |target| with its operands.
static void replace_end(tfrt_lowering_t* lowering, tfrt_ir_operation_t* end,
                        tfrt_ir_block_t* target) {
  tfrt_ir_value_t** values = list_operands(lowering, end, 0);
  tfrt_ir_block_t* block = end->block;
  if (!values) return;
  uint32_t count = end->operand_count;
  tfrt_ir_operation_erase(end);
  branch(lowering, block, end, target, values, count);
}

// --- Branches ------------------------------------------------------------------------------------

static void lower_if(tfrt_lowering_t* lowering, tfrt_ir_operation_t* operation) {
  tfrt_ir_block_t* block = operation->block;
  tfrt_ir_region_t* region = block->region;
  tfrt_ir_value_t* condition = operation->operands[0].value;
  tfrt_ir_block_t* next = split_behind(lowering, operation);
  tfrt_ir_block_t* targets[2] = {next, next};
  if (!next) return;
  for (uint32_t i = 0; i < 2; ++i) {
    if (!operation->regions[i].first_block) continue;
    targets[i] = operation->regions[i].first_block;
    tfrt_ir_operation_t* end = targets[i]->last;
    tfrt_ir_region_take_blocks(region, &operation->regions[i]);
    replace_end(lowering, end, next);
  }
  tfrt_ir_operation_erase(operation);
  branch_if(lowering, block, operation, condition, targets[0], NULL, 0, targets[1], NULL, 0);
}

// --- Loops -------------------------------------------------------------------------------------

// Appends `name lhs, rhs` to |block|; its result.
static tfrt_ir_value_t* append_binary(tfrt_lowering_t* lowering, tfrt_ir_block_t* block,
                                      const tfrt_ir_operation_t* like, const char* name,
                                      tfrt_ir_value_t* lhs, tfrt_ir_value_t* rhs) {
  tfrt_ir_value_t* operands[] = {lhs, rhs};
  tfrt_lowering_op_t parts = {.name = name,
                              .like = like,
                              .operands = operands,
                              .operand_count = 2,
                              .types = &lhs->type,
                              .type_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_make(lowering, &parts);
  if (op) tfrt_ir_block_append(block, op);
  return op ? &op->results[0] : NULL;
}

// Appends the comparison |lhs| < |rhs|; its result.
static tfrt_ir_value_t* append_less(tfrt_lowering_t* lowering, tfrt_ir_block_t* block,
                                    const tfrt_ir_operation_t* like, tfrt_ir_value_t* lhs,
                                    tfrt_ir_value_t* rhs, bool is_unsigned) {
  const tfrt_ir_type_t* i1 = tfrt_ir_type_integer(lowering->context, 1, TFRT_IR_SIGNLESS);
  const tfrt_ir_type_t* i64 = tfrt_ir_type_integer(lowering->context, 64, TFRT_IR_SIGNLESS);
  tfrt_ir_value_t* operands[] = {lhs, rhs};
  if (!i1 || !i64) return NULL;
  // MLIR's numbers of slt and ult.
  tfrt_ir_named_attribute_t predicate =
      tfrt_lowering_named(lowering, "predicate",
                          tfrt_ir_attribute_integer(lowering->context, i64, is_unsigned ? 6 : 2));
  tfrt_lowering_op_t parts = {.name = "arith.cmpi",
                              .like = like,
                              .operands = operands,
                              .operand_count = 2,
                              .types = &i1,
                              .type_count = 1,
                              .attributes = &predicate,
                              .attribute_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_make(lowering, &parts);
  if (op) tfrt_ir_block_append(block, op);
  return op ? &op->results[0] : NULL;
}

// Appends to |block| the branch of a loop to its |body| with |values|, the first one being the
// number of the turn, or to |next| without that.
static void turn(tfrt_lowering_t* lowering, tfrt_ir_block_t* block, const tfrt_ir_operation_t* like,
                 tfrt_ir_value_t* const* values, uint32_t count, tfrt_ir_value_t* upper,
                 bool is_unsigned, tfrt_ir_block_t* body, tfrt_ir_block_t* next) {
  tfrt_ir_value_t* goes_on = append_less(lowering, block, like, values[0], upper, is_unsigned);
  if (!goes_on) return;
  branch_if(lowering, block, like, goes_on, body, values, count, next, values + 1, count - 1);
}

// The comparison stands before the loop and at the end of the body, so that each turn is one block.
static void lower_for(tfrt_lowering_t* lowering, tfrt_ir_operation_t* operation) {
  tfrt_ir_block_t* block = operation->block;
  tfrt_ir_region_t* region = block->region;
  uint32_t count = operation->result_count;
  tfrt_ir_value_t* upper = operation->operands[1].value;
  tfrt_ir_value_t* step = operation->operands[2].value;
  bool is_unsigned = tfrt_ir_operation_attribute(operation, "unsignedCmp") != NULL;
  tfrt_ir_block_t* body = operation->regions[0].first_block;
  tfrt_ir_value_t** begin = list_operands(lowering, operation, 2);
  tfrt_ir_block_t* next = split_behind(lowering, operation);
  if (!begin || !next) return;
  begin[0] = operation->operands[0].value;
  tfrt_ir_operation_t* end = body->last;
  tfrt_ir_region_take_blocks(region, &operation->regions[0]);
  tfrt_ir_operation_erase(operation);
  turn(lowering, block, operation, begin, 1 + count, upper, is_unsigned, body, next);
  // The next number, and what the body carries on.
  tfrt_ir_value_t** again = tfrt_lowering_allocate(lowering, 1 + count, sizeof(*again));
  if (!again) return;
  for (uint32_t i = 0; i < count; ++i) again[1 + i] = end->operands[i].value;
  tfrt_ir_operation_erase(end);
  again[0] = append_binary(lowering, body, end, "arith.addi", body->arguments[0], step);
  if (again[0]) turn(lowering, body, end, again, 1 + count, upper, is_unsigned, body, next);
}

static void lower_while(tfrt_lowering_t* lowering, tfrt_ir_operation_t* operation) {
  tfrt_ir_block_t* block = operation->block;
  tfrt_ir_region_t* region = block->region;
  tfrt_ir_block_t* before = operation->regions[0].first_block;
  tfrt_ir_block_t* after = operation->regions[1].first_block;
  tfrt_ir_operation_t* condition = before->last;
  tfrt_ir_operation_t* end = after->last;
  tfrt_ir_value_t** begin = list_operands(lowering, operation, 0);
  tfrt_ir_value_t** values = list_operands(lowering, condition, 1);
  tfrt_ir_value_t* holds = condition->operands[0].value;
  uint32_t begin_count = operation->operand_count;
  uint32_t count = condition->operand_count - 1;
  tfrt_ir_block_t* next = split_behind(lowering, operation);
  if (!begin || !values || !next) return;
  tfrt_ir_region_take_blocks(region, &operation->regions[0]);
  tfrt_ir_region_take_blocks(region, &operation->regions[1]);
  tfrt_ir_operation_erase(operation);
  branch(lowering, block, operation, before, begin, begin_count);
  tfrt_ir_operation_erase(condition);
  branch_if(lowering, before, condition, holds, after, values, count, next, values, count);
  replace_end(lowering, end, before);
}

// --- Parallel loops ----------------------------------------------------------------------------

// Inserts before |position| an op named |name|.
static tfrt_ir_operation_t* insert(tfrt_lowering_t* lowering, tfrt_ir_operation_t* position,
                                   const tfrt_lowering_op_t* parts) {
  tfrt_ir_operation_t* op = tfrt_lowering_make(lowering, parts);
  if (op) tfrt_ir_block_insert_before(position, op);
  return op;
}

static tfrt_ir_value_t* insert_binary(tfrt_lowering_t* lowering, tfrt_ir_operation_t* position,
                                      const char* name, tfrt_ir_value_t* lhs,
                                      tfrt_ir_value_t* rhs) {
  tfrt_ir_value_t* operands[] = {lhs, rhs};
  tfrt_lowering_op_t parts = {.name = name,
                              .like = position,
                              .operands = operands,
                              .operand_count = 2,
                              .types = &lhs->type,
                              .type_count = 1};
  tfrt_ir_operation_t* op = insert(lowering, position, &parts);
  return op ? &op->results[0] : NULL;
}

// The number of turns from |lower| to |upper| by |step|, none if that is negative.
static tfrt_ir_value_t* insert_turn_count(tfrt_lowering_t* lowering, tfrt_ir_operation_t* position,
                                          tfrt_ir_value_t* lower, tfrt_ir_value_t* upper,
                                          tfrt_ir_value_t* step) {
  tfrt_ir_value_t* zero = insert_binary(lowering, position, "arith.subi", lower, lower);
  tfrt_ir_value_t* length =
      zero ? insert_binary(lowering, position, "arith.subi", upper, lower) : NULL;
  tfrt_ir_value_t* count =
      length ? insert_binary(lowering, position, "arith.ceildivsi", length, step) : NULL;
  return count ? insert_binary(lowering, position, "arith.maxsi", count, zero) : NULL;
}

// Appends to |block| a loop over the numbers that dimension |index| of |loop| has; its body, with
// the number as its argument, or NULL.
static tfrt_ir_block_t* append_loop(tfrt_lowering_t* lowering, tfrt_ir_block_t* block,
                                    const tfrt_ir_operation_t* loop, uint32_t index,
                                    uint32_t rank) {
  tfrt_ir_value_t* operands[] = {loop->operands[index].value, loop->operands[rank + index].value,
                                 loop->operands[2 * rank + index].value};
  tfrt_lowering_op_t parts = {
      .name = "scf.for", .like = loop, .operands = operands, .operand_count = 3, .region_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_make(lowering, &parts);
  tfrt_ir_block_t* body = op ? tfrt_ir_block_create(lowering->context, &op->regions[0]) : NULL;
  if (!body ||
      !tfrt_ir_block_add_argument(lowering->context, body, operands[0]->type, NULL, NULL)) {
    return NULL;
  }
  tfrt_ir_block_append(block, op);
  return body;
}

static void append_end(tfrt_lowering_t* lowering, tfrt_ir_block_t* block,
                       const tfrt_ir_operation_t* like, const char* name) {
  tfrt_lowering_op_t parts = {.name = name, .like = like};
  tfrt_ir_operation_t* op = tfrt_lowering_make(lowering, &parts);
  if (op) tfrt_ir_block_append(block, op);
}

// Moves the body of |loop| into a task in |outer|, behind loops for all dimensions but the first.
static tfrt_ir_operation_t* append_task(tfrt_lowering_t* lowering, tfrt_ir_block_t* outer,
                                        tfrt_ir_operation_t* loop, uint32_t rank) {
  const int32_t none[] = {0, 0};
  tfrt_ir_named_attribute_t segments = tfrt_lowering_named(
      lowering, "operandSegmentSizes", tfrt_lowering_segments(lowering, none, 2));
  const tfrt_ir_type_t* token =
      tfrt_ir_type_dialect(lowering->context, tfrt_string_view_of("!async.token"));
  tfrt_lowering_op_t parts = {.name = "async.execute",
                              .like = loop,
                              .types = &token,
                              .type_count = 1,
                              .attributes = &segments,
                              .attribute_count = 1,
                              .region_count = 1};
  tfrt_ir_operation_t* task = token ? tfrt_lowering_make(lowering, &parts) : NULL;
  tfrt_ir_block_t* block = task ? tfrt_ir_block_create(lowering->context, &task->regions[0]) : NULL;
  tfrt_ir_block_t* source = loop->regions[0].first_block;
  if (!block) return NULL;
  tfrt_ir_block_append(outer, task);
  tfrt_ir_value_replace_all_uses(source->arguments[0], outer->arguments[0]);
  tfrt_ir_block_t* inner = block;
  for (uint32_t i = 1; i < rank; ++i) {
    tfrt_ir_block_t* body = append_loop(lowering, inner, loop, i, rank);
    if (!body) return NULL;
    tfrt_ir_value_replace_all_uses(source->arguments[i], body->arguments[0]);
    append_end(lowering, inner, loop, inner == block ? "async.yield" : "scf.yield");
    inner = body;
  }
  tfrt_ir_operation_erase(source->last);
  while (source->first) {
    tfrt_ir_operation_t* op = source->first;
    tfrt_ir_block_remove(op);
    tfrt_ir_block_append(inner, op);
  }
  append_end(lowering, inner, loop, inner == block ? "async.yield" : "scf.yield");
  return task;
}

// One task for each number of the first dimension, in a group that is waited for.
static void lower_parallel(tfrt_lowering_t* lowering, tfrt_ir_operation_t* operation) {
  uint32_t rank = operation->regions[0].first_block->argument_count;
  const tfrt_ir_type_t* group_type =
      tfrt_ir_type_dialect(lowering->context, tfrt_string_view_of("!async.group"));
  tfrt_ir_value_t* count =
      insert_turn_count(lowering, operation, operation->operands[0].value,
                        operation->operands[rank].value, operation->operands[2 * rank].value);
  if (!group_type || !count) return;
  tfrt_lowering_op_t group_parts = {.name = "async.create_group",
                                    .like = operation,
                                    .operands = &count,
                                    .operand_count = 1,
                                    .types = &group_type,
                                    .type_count = 1};
  tfrt_ir_operation_t* group = insert(lowering, operation, &group_parts);
  if (!group) return;
  tfrt_ir_value_t* group_value = &group->results[0];
  tfrt_lowering_op_t await_parts = {
      .name = "async.await_all", .like = operation, .operands = &group_value, .operand_count = 1};
  tfrt_ir_operation_t* await = insert(lowering, operation, &await_parts);
  if (!await) return;
  // Made at the end of the block, and then put where it belongs.
  tfrt_ir_block_t* body = append_loop(lowering, operation->block, operation, 0, rank);
  if (!body) return;
  tfrt_ir_operation_t* loop = body->region->owner;
  tfrt_ir_block_remove(loop);
  tfrt_ir_block_insert_before(await, loop);
  tfrt_ir_operation_t* task = append_task(lowering, body, operation, rank);
  if (!task) return;
  tfrt_ir_value_t* member[] = {&task->results[0], group_value};
  tfrt_lowering_op_t add_parts = {.name = "async.add_to_group",
                                  .like = operation,
                                  .operands = member,
                                  .operand_count = 2,
                                  .types = &count->type,
                                  .type_count = 1};
  tfrt_ir_operation_t* add = tfrt_lowering_make(lowering, &add_parts);
  if (add) tfrt_ir_block_append(body, add);
  append_end(lowering, body, operation, "scf.yield");
  tfrt_ir_operation_erase(operation);
}

// --- Regions -----------------------------------------------------------------------------------

typedef void (*lower_fn_t)(tfrt_lowering_t* lowering, tfrt_ir_operation_t* operation);

static lower_fn_t find(const tfrt_ir_operation_t* operation) {
  if (!operation->region_count) return NULL;
  if (tfrt_ir_operation_is(operation, "scf.if")) return lower_if;
  if (tfrt_ir_operation_is(operation, "scf.for")) return lower_for;
  if (tfrt_ir_operation_is(operation, "scf.while")) return lower_while;
  return tfrt_ir_operation_is(operation, "scf.parallel") ? lower_parallel : NULL;
}

void tfrt_lowering_structure(tfrt_lowering_t* lowering, tfrt_ir_region_t* region) {
  // Blocks that are made come to the end, and so are looked at, too. From the last op on: what was
  // split off behind an op has no structure left then.
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    tfrt_ir_operation_t* op = block->last;
    while (op && !lowering->out_of_memory) {
      lower_fn_t lower = find(op);
      tfrt_ir_operation_t* previous = op->previous;
      if (lower) lower(lowering, op);
      // A parallel loop leaves another one in front of it.
      op = lower == lower_parallel ? block->last : previous;
    }
  }
}
