// SPDX-License-Identifier: Apache-2.0

#include <stdlib.h>

#include "compiler/passes/chain_inserter_impl.h"
#include "compiler/passes/pass.h"

// --- Where chains stand in an op -----------------------------------------------------------------

uint32_t tfrt_chain_operand(const tfrt_ir_operation_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  if (!descriptor) return UINT32_MAX;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  for (uint32_t i = 0; i < fixed_count; ++i) {
    if (tfrt_kernel_descriptor_is_chain(descriptor->operands[i].type)) return i;
  }
  uint32_t last = op->operand_count - 1;
  if (!(descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN) || op->operand_count <= fixed_count) {
    return UINT32_MAX;
  }
  return tfrt_ir_type_is(op->operands[last].value->type, "!tfrt.chain") ? last : UINT32_MAX;
}

uint32_t tfrt_chain_result(const tfrt_ir_operation_t* op) {
  if (!op->descriptor) return UINT32_MAX;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_results(op->descriptor);
  for (uint32_t i = 0; i < fixed_count; ++i) {
    if (tfrt_kernel_descriptor_is_chain(op->descriptor->results[i].type)) return i;
  }
  bool is_one_more = op->descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN_RESULT &&
                     op->result_count == (uint32_t)op->descriptor->result_count + 1;
  return is_one_more ? op->result_count - 1 : UINT32_MAX;
}

// --- New ops -----------------------------------------------------------------------------------

// Puts an op of |descriptor| before |position|, in whose place of the block it counts as |place|.
static tfrt_ir_operation_t* make_op(tfrt_chain_inserter_t* inserter,
                                    const tfrt_kernel_descriptor_t* descriptor,
                                    tfrt_ir_value_t* const* operands, uint32_t operand_count,
                                    const tfrt_ir_type_t* result_type,
                                    tfrt_ir_operation_t* position, uint32_t place) {
  tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(inserter->context, descriptor->name),
      .descriptor = descriptor,
      .location = position->location,
      .operands = operands,
      .operand_count = operand_count,
      .result_types = &result_type,
      .result_count = 1,
  };
  tfrt_ir_operation_t* op = parts.name ? tfrt_ir_operation_create(inserter->context, &parts) : NULL;
  if (!op) {
    inserter->failed = true;
    return NULL;
  }
  op->text_offset = position->text_offset;
  tfrt_ir_block_insert_before(position, op);
  op->place = place;
  tfrt_chain_note_op(inserter, op);
  return inserter->failed ? NULL : op;
}

tfrt_ir_value_t* tfrt_chain_ready(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* position) {
  if (inserter->ready) return inserter->ready;
  tfrt_ir_operation_t* op = make_op(inserter, inserter->new_chain, NULL, 0, inserter->chain_type,
                                    position, position->place);
  if (op) inserter->ready = &op->results[0];
  return inserter->ready;
}

static tfrt_ir_value_t* merge_values(tfrt_chain_inserter_t* inserter,
                                     tfrt_ir_value_t* const* values, uint32_t count,
                                     tfrt_ir_operation_t* position, uint32_t place) {
  tfrt_ir_operation_t* op = make_op(inserter, inserter->merge_chains, values, count,
                                    inserter->chain_type, position, place);
  if (!op) return NULL;
  ++inserter->statistics.merges;
  return &op->results[0];
}

tfrt_ir_value_t* tfrt_chain_merge(tfrt_chain_inserter_t* inserter, tfrt_ir_value_t* first,
                                  tfrt_ir_value_t* second, tfrt_ir_operation_t* position) {
  if (!second || first == second || first == inserter->ready) return second ? second : first;
  if (second == inserter->ready) return first;
  tfrt_ir_value_t* both[] = {first, second};
  return merge_values(inserter, both, 2, position, position->place);
}

tfrt_ir_value_t* tfrt_chain_delay(tfrt_chain_inserter_t* inserter, tfrt_ir_value_t* chain,
                                  tfrt_ir_value_t* value, tfrt_ir_operation_t* position) {
  tfrt_ir_value_t* operands[] = {chain, value};
  tfrt_ir_operation_t* op =
      make_op(inserter, inserter->alias_value, operands, 2, value->type, position, position->place);
  if (!op) return NULL;
  op->results[0].scratch = value->scratch;  // the same class of memory
  return &op->results[0];
}

// --- What says that ops are done ---------------------------------------------------------------

// A chain that is there when |op| is done; NULL, after a report, if nothing says so.
static tfrt_ir_value_t* chain_of_op(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op) {
  tfrt_chain_op_t* known = tfrt_chain_op(inserter, op);
  if (known->done) return known->done;
  uint32_t chain = tfrt_chain_result(op);
  if (chain != UINT32_MAX) return known->done = &op->results[chain];
  if (!op->result_count) {
    tfrt_pass_report(inserter->diagnostics, TFRT_SEVERITY_ERROR, op,
                     "'%s' op has an effect that another op must come after, and gives nothing "
                     "that says when it is done: its entry needs a chain among its results%s",
                     op->name->data,
                     op->attribute_count ? ", or the function that it calls a result" : "");
    inserter->failed = true;
    return NULL;
  }
  if (op->result_count == 1 && op->results[0].type == inserter->chain_type) {
    return known->done = &op->results[0];
  }
  size_t mark = inserter->values.count;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    tfrt_ir_value_t* value = &op->results[i];
    if (!tfrt_scratch_push(&inserter->values, &value)) inserter->failed = true;
  }
  if (inserter->failed) return NULL;
  tfrt_ir_value_t* done = merge_values(inserter, tfrt_scratch_at(&inserter->values, mark),
                                       op->result_count, op->next, op->place);
  inserter->values.count = mark;
  if (!done) return NULL;
  tfrt_chain_op(inserter, done->producer)->completes = op;
  return tfrt_chain_op(inserter, op)->done = done;
}

// --- One chain for many ------------------------------------------------------------------------

// True if |merge| merges the |count| |values|, in this order.
static bool merges(const tfrt_ir_operation_t* merge, tfrt_ir_value_t* const* values,
                   uint32_t count) {
  bool same = merge->operand_count == count;
  for (uint32_t i = 0; same && i < count; ++i) same = merge->operands[i].value == values[i];
  return same;
}

// Merges |count| |values| behind the last op that makes one of them, where others find it again.
static tfrt_ir_value_t* merge_behind(tfrt_chain_inserter_t* inserter,
                                     tfrt_ir_value_t* const* values, uint32_t count) {
  tfrt_ir_operation_t* last = NULL;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_ir_operation_t* op = values[i]->producer;
    // With equal places, one is a merge that was put in behind the other.
    bool is_later =
        op && (!last || op->place > last->place ||
               (op->place == last->place && tfrt_ir_operation_is(op, "tfrt.merge.chains")));
    if (is_later) last = op;
  }
  if (!last) {
    tfrt_ir_operation_t* first = inserter->block->first;
    if (first->descriptor == inserter->merge_chains && merges(first, values, count)) {
      return &first->results[0];
    }
    return merge_values(inserter, values, count, first, 0);
  }
  const tfrt_ir_operation_t* known = tfrt_chain_op(inserter, last)->last_merge;
  if (known && merges(known, values, count)) return &known->results[0];
  tfrt_ir_value_t* merged = merge_values(inserter, values, count, last->next, last->place);
  if (merged) tfrt_chain_op(inserter, last)->last_merge = merged->producer;
  return merged;
}

// Arguments first, then in the order of the ops that make them.
static int compare_values(const void* a, const void* b) {
  const tfrt_ir_value_t* first = *(tfrt_ir_value_t* const*)a;
  const tfrt_ir_value_t* second = *(tfrt_ir_value_t* const*)b;
  uint64_t first_place = first->producer ? (uint64_t)first->producer->place + 1 : 0;
  uint64_t second_place = second->producer ? (uint64_t)second->producer->place + 1 : 0;
  if (first_place != second_place) return first_place < second_place ? -1 : 1;
  return first->index < second->index ? -1 : first->index > second->index;
}

// A value, of any type, that is there when |op| is done: for a merge with others.
static tfrt_ir_value_t* value_of_op(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op) {
  bool is_one = op->result_count == 1 && tfrt_chain_result(op) == UINT32_MAX;
  return is_one ? &op->results[0] : chain_of_op(inserter, op);
}

tfrt_ir_value_t* tfrt_chain_of_candidates(tfrt_chain_inserter_t* inserter) {
  size_t count = inserter->candidates.count;
  size_t mark = inserter->values.count;
  for (size_t i = 0; i < count && !inserter->failed; ++i) {
    const tfrt_chain_candidate_t* candidate = tfrt_scratch_at(&inserter->candidates, i);
    tfrt_ir_value_t* chain = candidate->event->chain;
    tfrt_ir_operation_t* op = candidate->event->op;
    if (!chain) chain = count > 1 ? value_of_op(inserter, op) : chain_of_op(inserter, op);
    if (chain && !tfrt_scratch_push(&inserter->values, &chain)) inserter->failed = true;
  }
  tfrt_ir_value_t* result = NULL;
  tfrt_ir_value_t** values = tfrt_scratch_at(&inserter->values, mark);
  if (count && !inserter->failed) {
    qsort(values, count, sizeof(*values), compare_values);
    result = count == 1 ? values[0] : merge_behind(inserter, values, (uint32_t)count);
  }
  inserter->values.count = mark;
  return result;
}

// --- Ops with more operands and results --------------------------------------------------------

tfrt_ir_operation_t* tfrt_chain_extend(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op,
                                       tfrt_ir_value_t* const* operands, uint32_t operand_count,
                                       uint32_t result_count, uint32_t before) {
  uint32_t own_operands = op->operand_count;
  uint32_t own_results = op->result_count;
  tfrt_ir_value_t** values = tfrt_arena_allocate_array(
      &inserter->arena, (size_t)own_operands + operand_count + 1, sizeof(tfrt_ir_value_t*));
  const tfrt_ir_type_t** types = tfrt_arena_allocate_array(
      &inserter->arena, (size_t)own_results + result_count + 1, sizeof(tfrt_ir_type_t*));
  inserter->failed = inserter->failed || !values || !types;
  if (inserter->failed) return op;
  uint32_t count = 0;
  for (uint32_t i = 0; i < own_operands - before; ++i) values[count++] = op->operands[i].value;
  for (uint32_t i = 0; i < operand_count; ++i) values[count++] = operands[i];
  for (uint32_t i = own_operands - before; i < own_operands; ++i) {
    values[count++] = op->operands[i].value;
  }
  for (uint32_t i = 0; i < own_results; ++i) types[i] = op->results[i].type;
  for (uint32_t i = 0; i < result_count; ++i) types[own_results + i] = inserter->chain_type;
  tfrt_ir_operation_parts_t parts = {.name = op->name,
                                     .descriptor = op->descriptor,
                                     .location = op->location,
                                     .operands = values,
                                     .operand_count = count,
                                     .result_types = types,
                                     .result_count = own_results + result_count,
                                     .attributes = op->attributes,
                                     .attribute_count = op->attribute_count,
                                     .region_count = op->region_count};
  tfrt_ir_operation_t* made = tfrt_ir_operation_create(inserter->context, &parts);
  if (!made) {
    inserter->failed = true;
    return op;
  }
  made->text_offset = op->text_offset;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    tfrt_ir_region_take_blocks(&made->regions[i], &op->regions[i]);
  }
  tfrt_ir_block_insert_before(op, made);
  made->place = op->place;
  made->scratch = op->scratch;
  for (uint32_t i = 0; i < own_results; ++i) {
    made->results[i].name = op->results[i].name;
    made->results[i].scratch = op->results[i].scratch;
    tfrt_ir_value_replace_all_uses(&op->results[i], &made->results[i]);
  }
  tfrt_ir_operation_erase(op);
  return made;
}

// The operand of |op| that is best delayed; UINT32_MAX if it has none.
static uint32_t delayed_operand(const tfrt_ir_operation_t* op) {
  uint32_t found = UINT32_MAX;
  for (uint32_t i = op->operand_count; i-- > 0;) {
    const tfrt_operand_descriptor_t* entry =
        op->descriptor ? tfrt_kernel_descriptor_operand(op->descriptor, i) : NULL;
    bool is_waited_for = !entry || entry->use != TFRT_OPERAND_PASSED;
    if (is_waited_for || found == UINT32_MAX) found = i;
  }
  return found;
}

tfrt_ir_operation_t* tfrt_chain_let_wait(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op,
                                         tfrt_ir_value_t* chain) {
  uint32_t index = tfrt_chain_operand(op);
  if (index != UINT32_MAX) {
    tfrt_ir_value_t* own = op->operands[index].value;
    bool is_missing = tfrt_ir_value_is_missing(own);
    if (is_missing && !chain) chain = tfrt_chain_ready(inserter, op);
    if (!is_missing && chain) chain = tfrt_chain_merge(inserter, own, chain, op);
    if (chain) tfrt_ir_operand_set(&op->operands[index], chain);
    return op;
  }
  if (!chain) return op;
  if (op->descriptor && op->descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN) {
    return tfrt_chain_extend(inserter, op, &chain, 1, 0, 0);
  }
  index = delayed_operand(op);
  if (index == UINT32_MAX) {
    tfrt_pass_report(inserter->diagnostics, TFRT_SEVERITY_ERROR, op,
                     "'%s' op must come after another one, and takes nothing that it could wait "
                     "for: its entry needs a chain among its operands, or "
                     "TFRT_KERNEL_TRAILING_CHAIN",
                     op->name->data);
    inserter->failed = true;
    return op;
  }
  tfrt_ir_value_t* delayed = tfrt_chain_delay(inserter, chain, op->operands[index].value, op);
  if (delayed) tfrt_ir_operand_set(&op->operands[index], delayed);
  return op;
}
