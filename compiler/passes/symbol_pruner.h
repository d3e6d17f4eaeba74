// SPDX-License-Identifier: Apache-2.0
//
// Removes the private functions of a module that nothing names any more, neither what stays
// in the module nor another function that stays.
//
// Thread rule: thread-compatible (caller synchronises); uses the functions' scratch words.
// Failure rule: false when memory is out; the module is unchanged then.
#ifndef TFRT_COMPILER_PASSES_SYMBOL_PRUNER_H_
#define TFRT_COMPILER_PASSES_SYMBOL_PRUNER_H_

#include "compiler/ir/ir.h"

// Prunes |module|, whose own symbols are |symbols|; those of functions that are removed are of
// no use after that. Thread-compatible (caller synchronises).
bool tfrt_prune_private_functions(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                                  const tfrt_ir_symbol_table_t* symbols);

#endif  // TFRT_COMPILER_PASSES_SYMBOL_PRUNER_H_
