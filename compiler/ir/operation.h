// SPDX-License-Identifier: Apache-2.0
//
// An operation: the one node of the IR. Modules and functions are operations too
// (`builtin.module`, `func.func`); module.h and function.h read them as such.
//
//   %r:2 = "name"(operands)[successors] ({ regions }) {attributes} : type loc(..)
//
// Life:
//  1. Created in a context with all of its parts; regions begin empty.
//  2. Appended to a block, or kept as a top operation.
//  3. Gone with the context.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL or false when memory is out.
#ifndef TFRT_COMPILER_IR_OPERATION_H_
#define TFRT_COMPILER_IR_OPERATION_H_

#include "compiler/ir/attribute.h"
#include "compiler/ir/block.h"
#include "compiler/ir/value.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"

struct tfrt_ir_operation_s {
  const tfrt_ir_string_t* name;                // e.g. "tfrt.add.i32"
  const tfrt_kernel_descriptor_t* descriptor;  // NULL: not in the op table
  const tfrt_ir_location_t* location;          // never NULL
  // Where the op stands in the parsed text, whatever |location| says; 0: unknown.
  uint32_t text_offset;
  uint32_t operand_count;
  uint32_t result_count;
  uint32_t attribute_count;
  uint32_t region_count;
  uint32_t successor_count;
  tfrt_ir_value_t* results;
  const tfrt_ir_named_attribute_t* attributes;  // sorted by name
  // The attribute between `<` and `>` in the text of an op that no table knows, or NULL. The
  // entries of a dictionary are among |attributes|, too, unless one of these has the name of
  // another attribute.
  const tfrt_ir_attribute_t* properties;
  tfrt_ir_region_t* regions;  // behind them are the successors (tfrt_ir_operation_successors())
  tfrt_ir_block_t* block;     // NULL: top, or not yet appended
  tfrt_ir_operation_t* next;
  tfrt_ir_operation_t* previous;
  // The text has the op without the chains that the table lists among its fixed results: they are
  // among |results| and nobody uses them.
  bool lacks_chain_results;
  // The lowering gave it the control of its block for a chain that the text has left out: the
  // chains that it depends on are still to come.
  bool lacks_dependences;
  uint32_t place;    // ascends in its block, after tfrt_ir_block_number_ops()
  uint32_t scratch;  // for whichever pass runs now; undefined before and after
  tfrt_ir_operand_t operands[];
};

// The input of tfrt_ir_operation_create(), which copies the arrays and sorts |attributes|. These
// must have different names. Every field may be 0 but |name|, and |location| or |file|. An operand
// may be NULL, to be set later.
typedef struct tfrt_ir_operation_parts_s {
  const tfrt_ir_string_t* name;
  const tfrt_kernel_descriptor_t* descriptor;
  const tfrt_ir_location_t* location;  // NULL: |line| and |column| of |file|
  const tfrt_ir_string_t* file;
  uint32_t line;
  uint32_t column;
  tfrt_ir_value_t* const* operands;
  const tfrt_ir_type_t* const* result_types;
  const tfrt_ir_named_attribute_t* attributes;
  tfrt_ir_block_t* const* successors;
  uint32_t operand_count;
  uint32_t result_count;
  uint32_t attribute_count;
  uint32_t successor_count;
  uint32_t region_count;
} tfrt_ir_operation_parts_t;

// Returns a new operation that is in no block, or NULL.
// Thread-compatible (caller synchronises).
tfrt_ir_operation_t* tfrt_ir_operation_create(tfrt_ir_context_t* context,
                                              const tfrt_ir_operation_parts_t* parts);

// Sets the attribute |name| of |operation| to |value|, or removes it if |value| is
// NULL. Returns false when memory is out. Thread-compatible (caller synchronises).
bool tfrt_ir_operation_set_attribute(tfrt_ir_context_t* context, tfrt_ir_operation_t* operation,
                                     const tfrt_ir_string_t* name,
                                     const tfrt_ir_attribute_t* value);

// Takes |operation|, whose results nobody uses, out of its block and lets it use nothing.
// Thread-compatible (caller synchronises).
void tfrt_ir_operation_erase(tfrt_ir_operation_t* operation);

// The attribute |name| of |operation|, or NULL. Most ops have one or two: then the length of the
// name tells them apart. Thread-safe.
TFRT_ALWAYS_INLINE const tfrt_ir_attribute_t* tfrt_ir_operation_attribute(
    const tfrt_ir_operation_t* operation, const char* name) {
  const tfrt_ir_named_attribute_t* attributes = operation->attributes;
  uint32_t count = operation->attribute_count;
  if (!count) return NULL;
  if (count > 2) return tfrt_ir_named_attributes_find(attributes, count, name);
  if (tfrt_ir_string_is(attributes[0].name, name)) return attributes[0].value;
  if (count > 1 && tfrt_ir_string_is(attributes[1].name, name)) return attributes[1].value;
  return NULL;
}

// Returns true if |operation| is named |name|. Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_ir_operation_is(const tfrt_ir_operation_t* operation,
                                             const char* name) {
  return tfrt_ir_string_is(operation->name, name);
}

// Returns true if result |index| of |operation| is a chain that its text has left out. Thread-safe.
bool tfrt_ir_operation_lacks_result(const tfrt_ir_operation_t* operation, uint32_t index);

// The number of results of |operation| that its text has: most have all; the first one counts those
// of one that lacks some. Thread-safe.
uint32_t tfrt_ir_operation_count_written_results(const tfrt_ir_operation_t* operation);
static inline uint32_t tfrt_ir_operation_written_results(const tfrt_ir_operation_t* operation) {
  return operation->lacks_chain_results ? tfrt_ir_operation_count_written_results(operation)
                                        : operation->result_count;
}

// Returns true if |operation| lacks any chain that the table lists. Thread-safe.
bool tfrt_ir_operation_lacks_chains(const tfrt_ir_operation_t* operation);

// The blocks that |operation| may go on with, |successor_count| of them. Thread-safe.
static inline tfrt_ir_block_t** tfrt_ir_operation_successors(const tfrt_ir_operation_t* operation) {
  return (tfrt_ir_block_t**)(void*)(operation->regions + operation->region_count);
}

// The operands of |operation| that become the arguments of its successor |index|: sets
// |*out_first| and |*out_count|. Those of a single successor are the ones behind the fixed
// operands of its entry in the op table; with several, `operandSegmentSizes` says so (and
// `case_operand_segments` of a switch), unless the op can't have other operands: then each gets
// none. Returns false if |operation| says nothing that fits. Thread-safe.
bool tfrt_ir_operation_successor_operands(const tfrt_ir_operation_t* operation, uint32_t index,
                                          uint32_t* out_first, uint32_t* out_count);

// The element |index| of |attribute|, a dense array of i32 (NULL allowed), or -1. Thread-safe.
int64_t tfrt_ir_segment_size(const tfrt_ir_attribute_t* attribute, uint32_t index);

// Which operand of its owner |operand| is. Thread-safe.
static inline uint32_t tfrt_ir_operand_index(const tfrt_ir_operand_t* operand) {
  return (uint32_t)(operand - operand->owner->operands);
}

// The block where |value| is defined; NULL for one that stands for an unknown value. Thread-safe.
static inline tfrt_ir_block_t* tfrt_ir_value_block(const tfrt_ir_value_t* value) {
  return value->producer ? value->producer->block : tfrt_ir_value_argument(value)->block;
}

// The operation in one of whose regions |operation| lies, or NULL. Thread-safe.
tfrt_ir_operation_t* tfrt_ir_operation_parent(const tfrt_ir_operation_t* operation);

// Returns true if |operation| ends a block: the op table says so, or it is one of
// `func.return` and `tfrt.return`. Thread-safe.
bool tfrt_ir_operation_is_terminator(const tfrt_ir_operation_t* operation);

// Returns true if |operation| (NULL allowed) ends a function with its results: `tfrt.return` or
// `func.return`. Thread-safe.
bool tfrt_ir_operation_is_return(const tfrt_ir_operation_t* operation);

// Called for each operation of a walk; returns false to end it.
typedef bool (*tfrt_ir_walk_fn_t)(tfrt_ir_operation_t* operation, void* user_data);

// Calls |visit| for each operation inside |root|, in program order and each one after
// all that lies in its regions (post-order), and for |root| last. This is the order in
// which BEF numbers functions. Returns false if a visit did. |visit| may not change
// the lists. Recursion is bounded by the parser's nesting limit.
// Thread-compatible (caller synchronises).
bool tfrt_ir_operation_walk(tfrt_ir_operation_t* root, tfrt_ir_walk_fn_t visit, void* user_data);

#endif  // TFRT_COMPILER_IR_OPERATION_H_
