// SPDX-License-Identifier: Apache-2.0
//
// The compiler's way to the kernels: a main that has them hands an evaluator in with the op
// tables (op_index.h), and passes let it run ops whose operands are constants. Without one,
// nothing is run.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: an evaluator that can't run a function returns false, and nothing is folded.
#ifndef TFRT_COMPILER_OP_TABLE_CONSTANT_EVALUATOR_H_
#define TFRT_COMPILER_OP_TABLE_CONSTANT_EVALUATOR_H_

#include "compiler/ir/ir.h"

// The largest payload of a constant, in bytes: a complex<f64>.
#define TFRT_CONSTANT_MAX_SIZE 16

// A result: the payload of a value of a builtin scalar type.
typedef struct tfrt_constant_s {
  const char* type;  // as MLIR prints it; NULL: an error, or a value of another type
  unsigned char bytes[TFRT_CONSTANT_MAX_SIZE];
} tfrt_constant_t;

typedef struct tfrt_constant_evaluator_s {
  // Returns true if there is a kernel for ops named |name|.
  bool (*has_kernel)(void* user_data, tfrt_string_view_t name);
  // Runs the one function of |module|, which has no parameters and whose ops are pure, and sets
  // |out_constants| to its |count| results. Returns false if the function can't be run.
  bool (*run)(void* user_data, tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
              tfrt_constant_t* out_constants, uint32_t count);
  void* user_data;
} tfrt_constant_evaluator_t;

#endif  // TFRT_COMPILER_OP_TABLE_CONSTANT_EVALUATOR_H_
