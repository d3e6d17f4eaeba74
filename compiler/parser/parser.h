// SPDX-License-Identifier: Apache-2.0
//
// Text to IR: reads what MLIR prints in generic form for any op, and the custom forms
// of the ops in the op tables.
//
// Errors go to the diagnostics, several of them in one go: after an error the parser
// goes on with the next op that it can find. Time and memory are linear in the text,
// and nesting is limited (TFRT_PARSER_MAX_NESTING), so that no text can exhaust the
// stack.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL, and at least one error in the diagnostics.
#ifndef TFRT_COMPILER_PARSER_PARSER_H_
#define TFRT_COMPILER_PARSER_PARSER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Regions, types, attributes and locations within each other, taken together.
#define TFRT_PARSER_MAX_NESTING 512

// Parses the text of |diagnostics| into |context| and returns its module (made for it
// if the text has none); NULL if there was any error. Ops get the entries of |tables|
// (borrowed: they outlive the context). Thread-compatible (caller synchronises).
tfrt_ir_operation_t* tfrt_parse_module(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                       tfrt_diagnostics_t* diagnostics);

// Parses the text of |diagnostics| as one type, or one attribute; NULL if there was any
// error. For the BEF importer and tests. Thread-compatible (caller synchronises).
const tfrt_ir_type_t* tfrt_parse_type(tfrt_ir_context_t* context, tfrt_diagnostics_t* diagnostics);
const tfrt_ir_attribute_t* tfrt_parse_attribute(tfrt_ir_context_t* context,
                                                tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PARSER_PARSER_H_
