// SPDX-License-Identifier: Apache-2.0
//
// Big texts that are only checked and printed again: function by function, in the memory of the
// biggest one and of what all share.
//
//   text --parse--> heads --check--> heads
//   the last head --parse, check, number, print--> text ... the first head --...--> text
//
// Stock MLIR numbers values from the last function on, so this begins there. The texts are kept
// until all are there.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: false, and nothing has happened: the caller goes through the text as a whole, which
// reports what is wrong with it.
#ifndef TFRT_COMPILER_PIECEWISE_PRINT_H_
#define TFRT_COMPILER_PIECEWISE_PRINT_H_

#include "compiler/translate.h"

// Does what tfrt_optimize_text() does, and returns true, if the |options| and the size of the text
// make it worth while and the text has no error and nothing that is checked across functions.
// Thread-compatible (caller synchronises).
bool tfrt_print_piecewise(const tfrt_op_tables_t* tables,
                          const tfrt_text_to_text_options_t* options, tfrt_allocator_t allocator,
                          const tfrt_diagnostics_t* diagnostics, tfrt_string_builder_t* text);

#endif  // TFRT_COMPILER_PIECEWISE_PRINT_H_
