// SPDX-License-Identifier: Apache-2.0
//
// The parts that passes for programs of tfrt_nn ops share: reading such ops, and making others in
// their place.
//
//   op --> is it ...? --> new ops before it --> its uses are theirs --> erased
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: when memory is out, NULL, and |failed| is set.
#ifndef TFRT_COMPILER_PASSES_NN_REWRITER_H_
#define TFRT_COMPILER_PASSES_NN_REWRITER_H_

#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// No op has more operands by position; some of them may be left out.
#define TFRT_NN_REWRITER_POSITIONS 16

typedef struct tfrt_nn_rewriter_s {
  tfrt_ir_context_t* context;
  tfrt_op_index_t ops;
  const tfrt_ir_type_t* tensor_type;
  bool failed;
} tfrt_nn_rewriter_t;

// An attribute of an op to make.
typedef struct tfrt_nn_setting_s {
  const char* name;
  const tfrt_ir_attribute_t* value;
} tfrt_nn_setting_t;

// An op to make: `tfrt_nn.|name|`, before |before|. Its attributes are |settings|, else those of
// |like| (NULL: none) that have their names, else what the op table says. An operand that is NULL
// is left out.
typedef struct tfrt_nn_recipe_s {
  const char* name;
  tfrt_ir_operation_t* before;
  const tfrt_ir_operation_t* like;
  tfrt_ir_value_t* const* operands;
  uint32_t operand_count;
  uint32_t result_count;
  const tfrt_nn_setting_t* settings;
  size_t setting_count;
} tfrt_nn_recipe_t;

// Calls |rewrite| for each block of a function of |module| that |tables| describe, in order;
// returns false when memory is out. Thread-compatible.
bool tfrt_nn_rewrite_blocks(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                            tfrt_ir_operation_t* module,
                            void (*rewrite)(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block));

// Makes the op of |recipe|. Thread-compatible.
tfrt_ir_operation_t* tfrt_nn_rewriter_make(tfrt_nn_rewriter_t* rewriter,
                                           const tfrt_nn_recipe_t* recipe);

// Makes a constant before |before|. Thread-compatible.
tfrt_ir_value_t* tfrt_nn_rewriter_constant(tfrt_nn_rewriter_t* rewriter,
                                           tfrt_ir_operation_t* before,
                                           const tfrt_ir_attribute_t* value);

// The same of a list of |count| numbers of i64, and of |count| floats with the |rank| lengths
// |dims|. Thread-compatible.
tfrt_ir_value_t* tfrt_nn_rewriter_numbers(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                          const int64_t* numbers, uint32_t count);
tfrt_ir_value_t* tfrt_nn_rewriter_floats(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                         const float* floats, size_t count, const int64_t* dims,
                                         uint32_t rank);

// |x| with its |rank| axes in the |order|; NULL when memory is out. Thread-compatible.
tfrt_ir_value_t* tfrt_nn_rewriter_transpose(tfrt_nn_rewriter_t* rewriter,
                                            tfrt_ir_operation_t* before, tfrt_ir_value_t* x,
                                            const int64_t* order, uint32_t rank);

// Attributes. Thread-compatible.
const tfrt_ir_attribute_t* tfrt_nn_rewriter_i64(tfrt_nn_rewriter_t* rewriter, int64_t value);
const tfrt_ir_attribute_t* tfrt_nn_rewriter_f32(tfrt_nn_rewriter_t* rewriter, float value);
const tfrt_ir_attribute_t* tfrt_nn_rewriter_string(tfrt_nn_rewriter_t* rewriter, const char* text);
const tfrt_ir_attribute_t* tfrt_nn_rewriter_list(tfrt_nn_rewriter_t* rewriter,
                                                 const int64_t* numbers, uint32_t count);

// Lets the uses of result 0 of |op| be those of |value|, and erases |op|. Thread-compatible.
void tfrt_nn_rewriter_replace(tfrt_ir_operation_t* op, tfrt_ir_value_t* value);

// --- Reading ------------------------------------------------------------------------

// True if |op| (NULL allowed) is `tfrt_nn.|name|` of the op table. Thread-safe.
bool tfrt_nn_is(const tfrt_ir_operation_t* op, const char* name);

// The op `tfrt_nn.|name|` whose result 0 |value| (NULL allowed) is, or NULL. Thread-safe.
tfrt_ir_operation_t* tfrt_nn_maker(const tfrt_ir_value_t* value, const char* name);

// The operand of |op| at |position| as ONNX counts, or NULL. Thread-safe.
tfrt_ir_value_t* tfrt_nn_operand(const tfrt_ir_operation_t* op, uint32_t position);

// The elements of the constant |value| (NULL allowed), or NULL if it is none. Thread-safe.
const tfrt_ir_attribute_t* tfrt_nn_read_constant(const tfrt_ir_value_t* value);

// The elements of a constant of f32, or of i64, and their number; NULL if |value| (NULL allowed)
// is none. Thread-safe.
const float* tfrt_nn_read_floats(const tfrt_ir_value_t* value, size_t* out_count);
const int64_t* tfrt_nn_read_numbers_of(const tfrt_ir_value_t* value, size_t* out_count);

// The attribute |name| of |op|, or |otherwise| if it has none. Thread-safe.
int64_t tfrt_nn_attribute_i64(const tfrt_ir_operation_t* op, const char* name, int64_t otherwise);
float tfrt_nn_attribute_f32(const tfrt_ir_operation_t* op, const char* name, float otherwise);
bool tfrt_nn_attribute_is(const tfrt_ir_operation_t* op, const char* name, const char* text);

// The only op that uses result 0 of |op|, once, or NULL. Thread-safe.
tfrt_ir_operation_t* tfrt_nn_only_user(const tfrt_ir_operation_t* op);

#endif  // TFRT_COMPILER_PASSES_NN_REWRITER_H_
