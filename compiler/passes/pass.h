// SPDX-License-Identifier: Apache-2.0
//
// A pass: a step that reads or changes a checked module, under a name by which command lines
// ask for it. Passes run one after the other, in the order asked for, and whatever a pass
// leaves behind is checked like what the parser read.
//
//   text --parser, verifier--> IR --pass--> IR --verifier--> IR --pass--> ... --> text, BEF
//
// The same module and the same passes always give the same module.
//
// Thread rule: thread-compatible (caller synchronises); passes use the scratch words of ops
// and values.
// Failure rule: false, after at least one error in the diagnostics; the module is then of no
// use any more.
#ifndef TFRT_COMPILER_PASSES_PASS_H_
#define TFRT_COMPILER_PASSES_PASS_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

typedef struct tfrt_pass_s {
  const char* name;     // as on the command line, without dashes
  const char* summary;  // one line
  // Runs the pass on |module|, made in |context|, whose ops |tables| describe, and reports what it
  // has to say.
  bool (*run)(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
              tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);
} tfrt_pass_t;

// All passes, ordered by name. Thread-safe.
const tfrt_pass_t* tfrt_all_passes(size_t* out_count);

// The pass named |name|, or NULL. Thread-safe.
const tfrt_pass_t* tfrt_pass_find(const char* name);

// Runs the |count| |passes| on |module|, which is checked, one after the other.
// Thread-compatible (caller synchronises).
bool tfrt_passes_run(const tfrt_pass_t* const* passes, size_t count, tfrt_ir_context_t* context,
                     const tfrt_op_tables_t* tables, tfrt_ir_operation_t* module,
                     tfrt_diagnostics_t* diagnostics);

// Reports at |operation|: at its place in the text, or without a text at its location.
// For passes. Thread-compatible (caller synchronises).
void tfrt_pass_report(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity,
                      const tfrt_ir_operation_t* operation, const char* format, ...)
    TFRT_PRINTF(4, 5);

#endif  // TFRT_COMPILER_PASSES_PASS_H_
