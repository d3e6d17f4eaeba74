// SPDX-License-Identifier: Apache-2.0
//
// SSA values: the results of ops and the arguments of blocks; and their uses.
//
//   value --first_use--> operand --next--> operand --> NULL     (program order of making)
//     ^                     |
//     +-------- value ------+
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: none fails.
#ifndef TFRT_COMPILER_IR_VALUE_H_
#define TFRT_COMPILER_IR_VALUE_H_

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/location.h"
#include "compiler/ir/type.h"
#include "host_runtime/base/macros.h"

typedef struct tfrt_ir_operation_s tfrt_ir_operation_t;
typedef struct tfrt_ir_block_s tfrt_ir_block_t;
typedef struct tfrt_ir_region_s tfrt_ir_region_t;
typedef struct tfrt_ir_value_s tfrt_ir_value_t;

// One use of a value: one of the operands of |owner| (tfrt_ir_operand_index() says which).
typedef struct tfrt_ir_operand_s {
  tfrt_ir_value_t* value;
  tfrt_ir_operation_t* owner;
  struct tfrt_ir_operand_s* next;      // next use of the same value
  struct tfrt_ir_operand_s* previous;  // previous use of the same value
} tfrt_ir_operand_t;

struct tfrt_ir_value_s {
  const tfrt_ir_type_t* type;
  const tfrt_ir_string_t* name;   // as the text had it, without `%`; NULL: none
  tfrt_ir_operation_t* producer;  // the op whose result this is; NULL: it is an argument
  tfrt_ir_operand_t* first_use;
  tfrt_ir_operand_t* last_use;
  uint32_t index;    // among the results, or the arguments
  uint32_t scratch;  // for whichever pass runs now; undefined before and after
};

// A value that no op makes. There are far fewer of these than of results.
typedef struct tfrt_ir_argument_s {
  tfrt_ir_value_t value;
  tfrt_ir_block_t* block;              // NULL: it stands for one that isn't known yet
  const tfrt_ir_location_t* location;  // NULL: none
} tfrt_ir_argument_t;

// |value|, which no op makes, as an argument. Thread-safe.
static inline const tfrt_ir_argument_t* tfrt_ir_value_argument(const tfrt_ir_value_t* value) {
  return TFRT_CONTAINER_OF(value, const tfrt_ir_argument_t, value);
}

// True if |value| is used exactly once. Thread-safe.
static inline bool tfrt_ir_value_has_one_use(const tfrt_ir_value_t* value) {
  return value->first_use && value->first_use == value->last_use;
}

// Returns true if |value| stands for a chain that an op should be given and that its text has left
// out. Thread-safe.
static inline bool tfrt_ir_value_is_missing(const tfrt_ir_value_t* value) {
  return !value->producer && value->index == UINT32_MAX;
}

// Returns a new value that stands for a chain that the text has left out, or NULL when memory is
// out. Thread-compatible (caller synchronises).
tfrt_ir_value_t* tfrt_ir_value_create_missing(tfrt_ir_context_t* context);

// Makes |operand|, which is in no list, the last use of its value. Thread-compatible (caller
// synchronises).
static inline void tfrt_ir_operand_link(tfrt_ir_operand_t* operand) {
  tfrt_ir_value_t* value = operand->value;
  operand->previous = value->last_use;
  if (value->last_use) {
    value->last_use->next = operand;
  } else {
    value->first_use = operand;
  }
  value->last_use = operand;
}

// Makes |operand| one of |owner| that uses |value| (NULL: nothing). Thread-compatible (caller
// synchronises).
static inline void tfrt_ir_operand_initialize(tfrt_ir_operand_t* operand,
                                              tfrt_ir_operation_t* owner, tfrt_ir_value_t* value) {
  operand->value = value;
  operand->owner = owner;
  operand->next = NULL;
  operand->previous = NULL;
  if (value) tfrt_ir_operand_link(operand);
}

// Lets |operand| use |value| (NULL: nothing), and no longer what it used before.
// Thread-compatible (caller synchronises).
void tfrt_ir_operand_set(tfrt_ir_operand_t* operand, tfrt_ir_value_t* value);

// Lets every use of |value| use |replacement|. Thread-compatible (caller synchronises).
void tfrt_ir_value_replace_all_uses(tfrt_ir_value_t* value, tfrt_ir_value_t* replacement);

#endif  // TFRT_COMPILER_IR_VALUE_H_
