// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/value.h"

#include <stddef.h>

static void unlink_use(tfrt_ir_operand_t* operand) {
  tfrt_ir_value_t* value = operand->value;
  if (operand->previous) operand->previous->next = operand->next;
  if (operand->next) operand->next->previous = operand->previous;
  if (value->first_use == operand) value->first_use = operand->next;
  if (value->last_use == operand) value->last_use = operand->previous;
  operand->previous = NULL;
  operand->next = NULL;
}

// Makes |operand|, which is in no list, the last use of its value.
static inline void link_use(tfrt_ir_operand_t* operand) {
  tfrt_ir_value_t* value = operand->value;
  operand->previous = value->last_use;
  if (value->last_use) {
    value->last_use->next = operand;
  } else {
    value->first_use = operand;
  }
  value->last_use = operand;
}

void tfrt_ir_operand_initialize(tfrt_ir_operand_t* operand, tfrt_ir_operation_t* owner,
                                tfrt_ir_value_t* value) {
  operand->value = value;
  operand->owner = owner;
  operand->next = NULL;
  operand->previous = NULL;
  if (value) link_use(operand);
}

void tfrt_ir_operand_set(tfrt_ir_operand_t* operand, tfrt_ir_value_t* value) {
  if (operand->value) unlink_use(operand);
  operand->value = value;
  if (value) link_use(operand);
}

void tfrt_ir_value_replace_all_uses(tfrt_ir_value_t* value, tfrt_ir_value_t* replacement) {
  if (value == replacement) return;
  while (value->first_use) tfrt_ir_operand_set(value->first_use, replacement);
}
