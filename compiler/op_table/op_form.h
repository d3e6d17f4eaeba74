// SPDX-License-Identifier: Apache-2.0
//
// The parts of an op table entry that the parser needs for each op of that name: the single words
// of its custom form, and the types that the table names. The parser makes a form at the first such
// op, and keeps it for the next ones.
//
// Life: made in a context, for one parser; lives as long as the context.
//
// Thread rule: immutable once made; making is as tfrt_ir_context_t.
// Failure rule: NULL when memory is out.
#ifndef TFRT_COMPILER_OP_TABLE_OP_FORM_H_
#define TFRT_COMPILER_OP_TABLE_OP_FORM_H_

#include "compiler/ir/ir.h"
#include "host_runtime/executor/descriptor/assembly.h"

#define TFRT_OP_FORM_MAX_PLAIN 8

typedef struct tfrt_op_form_s {
  const tfrt_kernel_descriptor_t* descriptor;
  const tfrt_ir_string_t* name;
  const tfrt_assembly_word_t* words;
  uint32_t word_count;
  uint32_t fixed_operand_count;
  uint32_t fixed_result_count;
  bool results_are_known;  // the table says all types of all results
  // The table has a fixed number of operands and results, at most TFRT_OP_FORM_MAX_PLAIN and one,
  // and nothing else: no attributes, no regions.
  bool is_plain;
  // One for each entry of the table, the variadic one included; NULL: any.
  const tfrt_ir_type_t** operand_types;
  const tfrt_ir_type_t** result_types;
} tfrt_op_form_t;

// Returns the form of |descriptor|, which has a custom one, but for its types: these are NULL
// until the caller, who can make types of texts, has set them. NULL when memory is out.
// Thread-compatible (caller synchronises).
tfrt_op_form_t* tfrt_op_form_create(tfrt_ir_context_t* context,
                                    const tfrt_kernel_descriptor_t* descriptor) TFRT_MUST_USE;

// The family of |descriptor|'s custom form, of an op of the language: the word behind `syntax`.
// Thread-safe.
tfrt_string_view_t tfrt_op_form_family(const tfrt_kernel_descriptor_t* descriptor);

// The type of operand |index|, or NULL if the table leaves it open. Thread-safe.
static inline const tfrt_ir_type_t* tfrt_op_form_operand_type(const tfrt_op_form_t* form,
                                                              uint32_t index) {
  uint32_t last = form->fixed_operand_count;
  return form->operand_types[index < last ? index : last];
}

#endif  // TFRT_COMPILER_OP_TABLE_OP_FORM_H_
