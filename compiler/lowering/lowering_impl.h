// SPDX-License-Identifier: Apache-2.0
//
// The inside of the lowering, shared by its sources.
//
//     lowering.c             modules: which functions are lowered, and their order
//     count_lowering.c       reference counts
//     structured_lowering.c  scf to branches
//     region_outlining.c     async.execute to functions
//     block_liveness.c       the values that live into a block
//     function_lowering.c    functions to functions of one block
//     block_lowering.c       the ops of one block
//     scalar_lowering.c      arith and math
//     device_lowering.c      work of devices
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: reports; when memory is out, |out_of_memory| is set.
#ifndef TFRT_COMPILER_LOWERING_LOWERING_IMPL_H_
#define TFRT_COMPILER_LOWERING_LOWERING_IMPL_H_

#include "compiler/ir/scratch.h"
#include "compiler/lowering/lowering.h"

typedef enum tfrt_lowering_kind_e {
  TFRT_LOWERING_FUNCTION = 0,  // func.func
  TFRT_LOWERING_ASYNC,         // async.func
  TFRT_LOWERING_REGION,        // was the region of an async.execute
} tfrt_lowering_kind_t;

// A function to lower.
typedef struct tfrt_lowering_function_s {
  struct tfrt_lowering_function_s* next;
  tfrt_ir_operation_t* op;
  tfrt_lowering_kind_t kind;
  const tfrt_ir_string_t* body_name;  // of what it becomes
} tfrt_lowering_function_t;

typedef struct tfrt_lowering_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t* diagnostics;
  tfrt_op_index_t index;
  const tfrt_ir_symbol_table_t* symbols;
  tfrt_ir_operation_t* module;
  tfrt_lowering_function_t* first;
  tfrt_lowering_function_t** last_next;
  uint32_t region_count;  // that became functions
  bool prints_pieces;     // of lines, so that the last one may have to be ended
  bool failed;
  bool out_of_memory;
} tfrt_lowering_t;

// The parts of a new op. |like|: the op whose place it takes in the text.
typedef struct tfrt_lowering_op_s {
  const char* name;
  const tfrt_ir_operation_t* like;
  tfrt_ir_value_t* const* operands;
  uint32_t operand_count;
  const tfrt_ir_type_t* const* types;
  uint32_t type_count;
  const tfrt_ir_named_attribute_t* attributes;
  uint32_t attribute_count;
  tfrt_ir_block_t* const* successors;
  uint32_t successor_count;
  uint32_t region_count;
} tfrt_lowering_op_t;

// A new op in no block, or NULL.
tfrt_ir_operation_t* tfrt_lowering_make(tfrt_lowering_t* lowering, const tfrt_lowering_op_t* parts);
// Reports at |operation|.
void tfrt_lowering_fail(tfrt_lowering_t* lowering, const tfrt_ir_operation_t* operation,
                        const char* format, ...) TFRT_PRINTF(3, 4);
// An attribute of |name|; its value may be NULL when memory is out.
tfrt_ir_named_attribute_t tfrt_lowering_named(tfrt_lowering_t* lowering, const char* name,
                                              const tfrt_ir_attribute_t* value);
const tfrt_ir_attribute_t* tfrt_lowering_i32(tfrt_lowering_t* lowering, int32_t value);
const tfrt_ir_attribute_t* tfrt_lowering_string(tfrt_lowering_t* lowering, tfrt_string_view_t text);
const tfrt_ir_attribute_t* tfrt_lowering_segments(tfrt_lowering_t* lowering, const int32_t* sizes,
                                                  uint32_t count);
// Memory in the context, or NULL.
void* tfrt_lowering_allocate(tfrt_lowering_t* lowering, size_t count, size_t size);
// The type that a value of |type| has in BEF.
const tfrt_ir_type_t* tfrt_lowering_type(tfrt_lowering_t* lowering, const tfrt_ir_type_t* type);
const tfrt_ir_type_t* tfrt_lowering_chain_type(tfrt_lowering_t* lowering);
// The name |base| with |suffix| behind it, that no symbol of the module has.
const tfrt_ir_string_t* tfrt_lowering_new_name(tfrt_lowering_t* lowering, tfrt_string_view_t base,
                                               const char* suffix);
// Adds |op| to the functions to lower; returns its entry, or NULL.
tfrt_lowering_function_t* tfrt_lowering_add(tfrt_lowering_t* lowering, tfrt_ir_operation_t* op,
                                            tfrt_lowering_kind_t kind);
// The entry of the function that |symbol| names, or NULL if that isn't lowered.
tfrt_lowering_function_t* tfrt_lowering_find(const tfrt_lowering_t* lowering,
                                             const tfrt_ir_attribute_t* symbol);
// True if |operation| is an op of the language.
static inline bool tfrt_lowering_is_language(const tfrt_ir_operation_t* operation) {
  return operation->descriptor && operation->descriptor->flags & TFRT_KERNEL_LANGUAGE;
}

// Takes out the reference counts in |operation| that the executor keeps by itself.
void tfrt_lowering_counts(tfrt_ir_operation_t* operation);
// Turns structured control flow in |region|, but not in tasks inside of it, into branches.
void tfrt_lowering_structure(tfrt_lowering_t* lowering, tfrt_ir_region_t* region);
// Turns the tasks in |function| into functions of their own.
void tfrt_lowering_outline(tfrt_lowering_t* lowering, tfrt_lowering_function_t* function);
// Makes the function, or functions, that |function| becomes.
void tfrt_lowering_function(tfrt_lowering_t* lowering, tfrt_lowering_function_t* function);

// --- One block ---------------------------------------------------------------------------------

// A value of the old block, and the one that it is in the new block.
typedef struct tfrt_lowering_mapping_s {
  const tfrt_ir_value_t* old;
  tfrt_ir_value_t* value;
  // It becomes known on its own time: what comes behind it in the block may be pending or fail.
  bool is_late;
  uint32_t out;  // its place among the results of the block, or UINT32_MAX
  // NULL, or, for a token of a device that was made in this block, the stream that the work is in.
  // |value| is then an event behind the work, if anybody but work of this block needs it.
  tfrt_ir_value_t* stream;
} tfrt_lowering_mapping_t;

typedef struct tfrt_lowering_block_s {
  tfrt_lowering_t* lowering;
  tfrt_ir_block_t* block;     // the new one
  tfrt_ir_value_t* entry;     // the chain that it begins with
  tfrt_ir_value_t* control;   // the chain of all that has happened so far
  tfrt_ir_value_t* asserted;  // that of the assertions; NULL: there was none
  tfrt_scratch_t mappings;    // tfrt_lowering_mapping_t; of a value: at its |scratch|
  tfrt_scratch_t chains;      // tfrt_ir_value_t*: of kernels that nobody else need wait for
  // The device's, each made when it is first needed; NULL: it wasn't yet.
  tfrt_ir_value_t* device_context;
  tfrt_ir_value_t* device_allocator;
  tfrt_ir_value_t* device_stream;            // of work without a token
  bool device_is_busy;                       // with work that nothing here has waited for
  const tfrt_ir_operation_t* device_binary;  // the last one that a kernel came from
  tfrt_ir_value_t* device_module;            // what it was loaded as
} tfrt_lowering_block_t;

// Makes |old| stand for |value|.
void tfrt_lowering_map(tfrt_lowering_block_t* body, tfrt_ir_value_t* old, tfrt_ir_value_t* value,
                       bool is_late);
// The mapping of |old|, or NULL after a report at |user|.
tfrt_lowering_mapping_t* tfrt_lowering_mapped(tfrt_lowering_block_t* body,
                                              const tfrt_ir_value_t* old,
                                              const tfrt_ir_operation_t* user);
// Appends the op of |parts|; returns it, or NULL.
tfrt_ir_operation_t* tfrt_lowering_append(tfrt_lowering_block_t* body,
                                          const tfrt_lowering_op_t* parts);
// Lowers |operation|, no terminator, to the end of the block.
void tfrt_lowering_operation(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation);
// The same for one of arith or math; false if it is none.
bool tfrt_lowering_scalar(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation);
// Lowers |operation|, work of a device (device_operation.h).
void tfrt_lowering_device(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation);
// Makes the control wait for the work of the device that has no token.
void tfrt_lowering_device_end(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like);
// Makes the control wait for |value|, too.
void tfrt_lowering_await(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                         tfrt_ir_value_t* value);
// |value| once |chain| is there.
tfrt_ir_value_t* tfrt_lowering_gate(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                                    tfrt_ir_value_t* chain, tfrt_ir_value_t* value);
// The chain of all that the block does.
tfrt_ir_value_t* tfrt_lowering_end_chain(tfrt_lowering_block_t* body,
                                         const tfrt_ir_operation_t* like);

#endif  // TFRT_COMPILER_LOWERING_LOWERING_IMPL_H_
