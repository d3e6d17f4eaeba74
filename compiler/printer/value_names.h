// SPDX-License-Identifier: Apache-2.0
//
// The names that the printer gives to values: the name that the text had, with a number behind it
// if the name is taken; else a number. Names are unique within an *isolated* piece of the program:
// a function, and in custom forms the body of control flow. In generic form names are unique within
// the function, since stock MLIR doesn't know that our ops isolate their bodies; numbers alone in
// generic form are those of stock MLIR, unique within the whole text.
//
// Life:
//  1. Initialised.
//  2. A scope begins; the values of its regions are named; they are printed; it ends.
//     Scopes nest.
//  3. Deinitialised.
//
// It uses the |scratch| of values. Names that no memory is left for are "?".
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: none fails.
#ifndef TFRT_COMPILER_PRINTER_VALUE_NAMES_H_
#define TFRT_COMPILER_PRINTER_VALUE_NAMES_H_

#include "compiler/ir/ir.h"
#include "compiler/ir/scratch.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/string_builder.h"

typedef struct tfrt_value_names_s {
  tfrt_arena_t arena;
  tfrt_scratch_t entries;  // value and name; a value's |scratch| is its index, or its number
  struct tfrt_value_names_scope_s* scope;
  bool numbers_only;
  bool generic;
  bool all_numbered;       // by tfrt_value_names_number_all()
  uint32_t next_number;    // of these
  uint32_t next_argument;  // likewise, of the arguments of entry blocks
} tfrt_value_names_t;

// Makes |names| empty. With |numbers_only| the text's names are not used; |generic|: for
// the generic form. Thread-compatible (caller synchronises).
void tfrt_value_names_initialize(tfrt_value_names_t* names, bool numbers_only, bool generic,
                                 tfrt_allocator_t allocator);

// Called for each function whose body is unread, with its head, when it is its turn to be numbered.
typedef struct tfrt_value_names_unread_s {
  void (*visit)(tfrt_ir_operation_t* head, void* user_data);
  void* user_data;
} tfrt_value_names_unread_t;

// Names all values inside of |module| by numbers as stock MLIR does for the generic form: all of a
// region, then those of the regions in it, the last one first. Scopes add nothing to that. |unread|
// may be NULL if all bodies are in memory. Thread-compatible (caller synchronises).
void tfrt_value_names_number_all(tfrt_value_names_t* names, const tfrt_ir_operation_t* module,
                                 const tfrt_value_names_unread_t* unread);

// Numbers the values inside of |function|, which was read while |unread| was called for its head.
// Thread-compatible (caller synchronises).
void tfrt_value_names_number_function(tfrt_value_names_t* names,
                                      const tfrt_ir_operation_t* function);

// Gives back the memory of |names|. Thread-compatible (caller synchronises).
void tfrt_value_names_deinitialize(tfrt_value_names_t* names);

// Begins and ends a scope. Thread-compatible (caller synchronises).
void tfrt_value_names_begin(tfrt_value_names_t* names);
// The same for a function or module: stock MLIR lets its values have no name of a value around it.
void tfrt_value_names_begin_inside(tfrt_value_names_t* names);
void tfrt_value_names_end(tfrt_value_names_t* names);

// Names all values of |region| and of the regions in it that are not isolated; block
// arguments that have a name in this scope already keep it. Thread-compatible (caller
// synchronises).
void tfrt_value_names_add_region(tfrt_value_names_t* names, const tfrt_ir_region_t* region);

// Names the results of |operation|, and all values of the regions in it if it isolates none of
// them: for an op of a named region that was not in the region then. Thread-compatible (caller
// synchronises).
void tfrt_value_names_add_operation(tfrt_value_names_t* names,
                                    const tfrt_ir_operation_t* operation);

// Lets |argument| have the name that |operand| has in the scope around.
// Thread-compatible (caller synchronises).
void tfrt_value_names_alias(tfrt_value_names_t* names, const tfrt_ir_value_t* argument,
                            const tfrt_ir_value_t* operand);

// Appends `%name` of |value| to |builder|. Thread-compatible (caller synchronises).
void tfrt_value_names_append(const tfrt_value_names_t* names, const tfrt_ir_value_t* value,
                             tfrt_string_builder_t* builder);

// Appends `%a, %b = ` or `%0:2 = ` for the results of |operation|, nothing if it has
// none. Thread-compatible (caller synchronises).
void tfrt_value_names_append_results(const tfrt_value_names_t* names,
                                     const tfrt_ir_operation_t* operation,
                                     tfrt_string_builder_t* builder);

// Returns true if the regions of |operation| have names of their own. Thread-safe.
bool tfrt_value_names_is_isolated(const tfrt_value_names_t* names,
                                  const tfrt_ir_operation_t* operation);

#endif  // TFRT_COMPILER_PRINTER_VALUE_NAMES_H_
