// SPDX-License-Identifier: Apache-2.0
//
// Modules, functions and symbols: how the operations `builtin.module`, `func.func` and
// any op with a `sym_name` are read.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL when memory is out or where said.
#ifndef TFRT_COMPILER_IR_MODULE_H_
#define TFRT_COMPILER_IR_MODULE_H_

#include "compiler/ir/operation.h"

// --- Modules ------------------------------------------------------------------

// Returns a new, empty module with one block in its region, or NULL.
// Thread-compatible (caller synchronises).
tfrt_ir_operation_t* tfrt_ir_module_create(tfrt_ir_context_t* context,
                                           const tfrt_ir_location_t* location);

// Returns true if |operation| is a `builtin.module`. Thread-safe.
bool tfrt_ir_is_module(const tfrt_ir_operation_t* operation);

// Returns true if |operation| is a module marked `tfrt.compiled`: foreign code, which
// BEF holds as text. Thread-safe.
bool tfrt_ir_is_compiled_module(const tfrt_ir_operation_t* operation);

// The block with the ops of |module|. Thread-safe.
static inline tfrt_ir_block_t* tfrt_ir_module_block(const tfrt_ir_operation_t* module) {
  return module->regions[0].first_block;
}

// --- Functions ----------------------------------------------------------------

// Returns a new `func.func` named |name| of function type |type|, in no block, whose
// region is empty: a declaration until a block is created in it. NULL when memory is
// out. Thread-compatible (caller synchronises).
tfrt_ir_operation_t* tfrt_ir_function_create(tfrt_ir_context_t* context,
                                             const tfrt_ir_location_t* location,
                                             const tfrt_ir_string_t* name,
                                             const tfrt_ir_type_t* type);

// Returns true if |operation| is a `func.func` or an `async.func`, or only the latter, which the
// compiler lowers. Thread-safe.
bool tfrt_ir_is_function(const tfrt_ir_operation_t* operation);
bool tfrt_ir_is_async_function(const tfrt_ir_operation_t* operation);

// The function type of |function|, or NULL if it has none (malformed). Thread-safe.
const tfrt_ir_type_t* tfrt_ir_function_type(const tfrt_ir_operation_t* function);

// The single block of |function|'s body; NULL: a declaration, or several blocks.
// Thread-safe.
static inline tfrt_ir_block_t* tfrt_ir_function_block(const tfrt_ir_operation_t* function) {
  return function->region_count == 1 ? tfrt_ir_region_single_block(&function->regions[0]) : NULL;
}

// --- Symbols ------------------------------------------------------------------

// The `sym_name` of |operation|, or an empty view. Thread-safe.
tfrt_string_view_t tfrt_ir_symbol_name(const tfrt_ir_operation_t* operation);

// The ops with a symbol directly inside one module, by name.
typedef struct tfrt_ir_symbol_table_s tfrt_ir_symbol_table_t;

// Returns the table of |module|'s own symbols (of equal names, the first counts),
// which lives as long as |context| and does not follow later changes; NULL when
// memory is out. Thread-compatible (caller synchronises).
const tfrt_ir_symbol_table_t* tfrt_ir_symbol_table_create(tfrt_ir_context_t* context,
                                                          const tfrt_ir_operation_t* module);

// The op named |name| of |table|, or NULL. Thread-safe.
tfrt_ir_operation_t* tfrt_ir_symbol_table_find(const tfrt_ir_symbol_table_t* table,
                                               tfrt_string_view_t name);

// The op that the SYMBOL |symbol| names, found from |table|'s module down through the
// nested modules, or NULL. Linear in the nested ones. |symbol| is one of |table|'s context.
// Thread-compatible (caller synchronises).
tfrt_ir_operation_t* tfrt_ir_symbol_table_resolve(const tfrt_ir_symbol_table_t* table,
                                                  const tfrt_ir_attribute_t* symbol);

#endif  // TFRT_COMPILER_IR_MODULE_H_
