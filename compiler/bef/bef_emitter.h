// SPDX-License-Identifier: Apache-2.0
//
// IR to BEF: the last step of an assembler. The order in which entities are numbered, and
// with it every byte, is that of TFRT's translator.
//
//   module --walk, post-order--> types, kernel names, attributes, functions  (collect)
//          --function by function--> registers, kernels, users, streams      (emit)
//
// The emitter turns the parts of an op into:
//   attributes      values: encoded, each once; symbols: function indices; `_tfrt_cost`
//                   and `tfrt.reads`: dropped; `bef.nonstrict`, and on calls `host`,
//                   `device`, `deadline_ms`, `pure`, `retries`: the section of call options
//   regions         functions without a name, before the one that contains them
//   `tfrt.return`   the function's result registers
//
// The emitter checks these rules of the format. A region has one block, which a `tfrt.return` ends,
// and uses only its own values. Functions have bodies, unless they are `tfrt.native`. Symbols
// resolve, and attributes can be encoded. A `tfrt.sync` function returns neither an argument nor a
// value twice.
//
// Thread rule: thread-compatible (caller synchronises); uses the IR's scratch words.
// Failure rule: errors of the program go to the diagnostics, with the place of the op.
#ifndef TFRT_COMPILER_BEF_BEF_EMITTER_H_
#define TFRT_COMPILER_BEF_BEF_EMITTER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"

typedef struct tfrt_bef_emitter_options_s {
  // Leave out types and names of attributes and types of registers: smaller, but the file
  // can't be turned back into text.
  bool no_optional_sections;
  // Leave out the names of the functions' parameters.
  bool no_argument_names;
  // Write what TFRT's translator writes: no names of parameters, no cost of an op but what the
  // program says, and an error for an op with call options, for which TFRT has no bytes.
  bool exact_tfrt_bytes;
} tfrt_bef_emitter_options_t;

// Translates |module| of |context| and sets |*out_bytes| to the image, of |*out_size| bytes from
// |allocator|; the caller frees it, or hands it to tfrt_bef_file_create_take(). |options| may be
// NULL. Errors: INVALID_ARGUMENT with the first of the errors that |diagnostics| got,
// RESOURCE_EXHAUSTED. Thread-compatible (caller synchronises).
tfrt_status_t tfrt_bef_emit(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                            const tfrt_bef_emitter_options_t* options,
                            tfrt_diagnostics_t* diagnostics, tfrt_allocator_t allocator,
                            void** out_bytes, size_t* out_size) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_BEF_BEF_EMITTER_H_
