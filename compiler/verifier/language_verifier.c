// SPDX-License-Identifier: Apache-2.0
//
// The rules for ops of the language that the op table can't state.

#include "compiler/verifier/verifier_impl.h"
#include "host_runtime/base/plural.h"

typedef void (*check_fn_t)(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation);

typedef struct rule_s {
  const char* name;
  check_fn_t check;
} rule_t;

// --- Branches -------------------------------------------------------------------------------

static void check_successor_count(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                                  uint32_t count) {
  if (operation->successor_count == count) return;
  tfrt_verifier_op_error(verifier, operation, "needs %u successor%s, and has %u", count,
                         tfrt_plural(count), operation->successor_count);
}

static void check_branch(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_successor_count(verifier, operation, 1);
}

static void check_conditional_branch(tfrt_verifier_t* verifier,
                                     const tfrt_ir_operation_t* operation) {
  check_successor_count(verifier, operation, 2);
}

static void check_switch(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* values = tfrt_ir_operation_attribute(operation, "case_values");
  size_t count = 0;
  bool is_dense = values && values->kind == TFRT_IR_ATTRIBUTE_DENSE &&
                  tfrt_ir_type_element_count(values->type, &count);
  bool fits = values ? is_dense : true;
  if (fits && is_dense) fits = values->type->element == operation->operands[0].value->type;
  if (!fits) {
    tfrt_verifier_op_error(verifier, operation,
                           "attribute 'case_values' must be dense numbers of the type that is "
                           "switched on");
    return;
  }
  check_successor_count(verifier, operation, (uint32_t)count + 1);
}

// --- The table --------------------------------------------------------------------------------

static const rule_t rules[] = {
    {"cf.br", check_branch},
    {"cf.cond_br", check_conditional_branch},
    {"cf.switch", check_switch},
};

void tfrt_verifier_check_language(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  bool is_terminator = (operation->descriptor->flags & TFRT_KERNEL_TERMINATOR) != 0;
  if (operation->successor_count && !is_terminator) {
    tfrt_verifier_op_error(verifier, operation, "can't have successors");
  }
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(rules); ++i) {
    if (tfrt_ir_operation_is(operation, rules[i].name)) rules[i].check(verifier, operation);
  }
}
