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

tfrt_ir_value_t* tfrt_ir_value_create_missing(tfrt_ir_context_t* context) {
  tfrt_ir_argument_t* argument = tfrt_ir_context_allocate_array(context, 1, sizeof(*argument));
  if (!argument) return NULL;
  argument->value.index = UINT32_MAX;
  argument->value.type = tfrt_ir_type_dialect(context, tfrt_string_view_of("!tfrt.chain"));
  return argument->value.type ? &argument->value : NULL;
}

void tfrt_ir_operand_set(tfrt_ir_operand_t* operand, tfrt_ir_value_t* value) {
  if (operand->value) unlink_use(operand);
  operand->value = value;
  if (value) tfrt_ir_operand_link(operand);
}

void tfrt_ir_value_replace_all_uses(tfrt_ir_value_t* value, tfrt_ir_value_t* replacement) {
  if (value == replacement) return;
  while (value->first_use) tfrt_ir_operand_set(value->first_use, replacement);
}
