// SPDX-License-Identifier: Apache-2.0
//
// IR to text. In generic form it is what a stock `mlir-opt
// --allow-unregistered-dialect` reads; otherwise ops with an entry in the op tables
// are printed in their custom form. Either way our own parser reads it back.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: when memory is out the builder becomes failed.
#ifndef TFRT_COMPILER_PRINTER_PRINTER_H_
#define TFRT_COMPILER_PRINTER_PRINTER_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/string_builder.h"

// Returns the function that |head| is the head of, with its body, which lives until the next call;
// NULL if that can't be.
typedef tfrt_ir_operation_t* (*tfrt_printer_read_fn_t)(const tfrt_ir_operation_t* head,
                                                       void* user_data);

// Returns the next op of |block|, which lives until the next call at least; its operands live on,
// too. NULL behind the last one.
typedef tfrt_ir_operation_t* (*tfrt_printer_next_fn_t)(tfrt_ir_block_t* block, void* user_data);

typedef struct tfrt_printer_options_s {
  bool generic;         // every op in generic form, the module included
  bool locations;       // a trailing loc(...) behind each op
  bool unnamed_values;  // number the values instead of using their names
  // Where functions come from whose bodies are unread; both other fields for them are true:
  // |generic| and |unnamed_values|. NULL: all are in memory.
  tfrt_printer_read_fn_t read;
  // Where the ops of functions' blocks come from that have none in memory. They print as all of the
  // program in memory would, or the builder is failed: where names depend on those of later values.
  // NULL: all are in memory.
  tfrt_printer_next_fn_t next;
  void* user_data;       // of |read| and |next|
  size_t expected_size;  // about as many bytes are printed; for |read|
} tfrt_printer_options_t;

// Appends the text of |operation| and all in it to |builder|, with a final newline. The builder is
// failed after that if a function couldn't be read. Thread-compatible (caller synchronises).
void tfrt_print_operation(const tfrt_ir_operation_t* operation,
                          const tfrt_printer_options_t* options, tfrt_string_builder_t* builder);

// Appends the resources of |context| as `{-# ... #-}` behind an empty line, if there are any: those
// of dialects that an attribute of |module| uses, and those of tools. The former stand in the order
// in which tfrt_print_operation() with the same |options| (may be NULL) comes to them.
// Thread-compatible (caller synchronises).
void tfrt_print_resources(tfrt_ir_context_t* context, const tfrt_ir_operation_t* module,
                          const tfrt_printer_options_t* options, tfrt_string_builder_t* builder);

// Appends the text of an attribute, with its type where MLIR prints one, of a location
// (`loc(...)`), or of |string| in quotes with MLIR's escapes. (A type's text is its
// |text|.) Thread-compatible (caller synchronises).
void tfrt_print_attribute(const tfrt_ir_attribute_t* attribute, tfrt_string_builder_t* builder);
void tfrt_print_location(const tfrt_ir_location_t* location, tfrt_string_builder_t* builder);
void tfrt_print_string(tfrt_string_view_t string, tfrt_string_builder_t* builder);

#endif  // TFRT_COMPILER_PRINTER_PRINTER_H_
