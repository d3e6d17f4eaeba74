// SPDX-License-Identifier: Apache-2.0
//
// Explicit reference counts. The executor counts the uses of each value by itself and gives a value
// back behind the last one. So an add has nothing to do, and neither has a drop right behind the
// last op that uses the value, or at the head of a block. Any other drop becomes a kernel that uses
// the value once control comes to it: the value lives until then.

#include "compiler/lowering/lowering_impl.h"

static bool is_count(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_operation_is(operation, "async.runtime.add_ref") ||
         tfrt_ir_operation_is(operation, "async.runtime.drop_ref");
}

// A search for a use of |value| in an op.
typedef struct search_s {
  const tfrt_ir_value_t* value;
  bool found;
} search_t;

static bool look_for_value(tfrt_ir_operation_t* operation, void* user_data) {
  search_t* search = user_data;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    if (operation->operands[i].value == search->value) search->found = true;
  }
  return !search->found;
}

// True if |operation| makes |value|, or the executor gives the value back behind it unless there
// are later uses. A region that runs as a task gets what it captures as operands.
static bool uses(tfrt_ir_operation_t* operation, const tfrt_ir_value_t* value) {
  search_t search = {.value = value, .found = value->producer == operation};
  bool is_task = operation->descriptor && operation->descriptor->async;
  if (operation->region_count && is_task) {
    tfrt_ir_operation_walk(operation, look_for_value, &search);
  } else {
    look_for_value(operation, &search);
  }
  return search.found;
}

// True if the executor gives the value of |drop| back where that stands.
static bool is_implied(const tfrt_ir_operation_t* drop) {
  tfrt_ir_operation_t* before = drop->previous;
  while (before && is_count(before)) before = before->previous;
  return !before || uses(before, drop->operands[0].value);
}

void tfrt_lowering_counts(tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    for (tfrt_ir_block_t* block = operation->regions[i].first_block; block; block = block->next) {
      tfrt_ir_operation_t* next;
      for (tfrt_ir_operation_t* op = block->first; op; op = next) {
        next = op->next;
        if (op->region_count) tfrt_lowering_counts(op);
        if (!is_count(op)) continue;
        bool is_add = tfrt_ir_operation_is(op, "async.runtime.add_ref");
        if (is_add || is_implied(op)) tfrt_ir_operation_erase(op);
      }
    }
  }
}
