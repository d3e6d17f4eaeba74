// SPDX-License-Identifier: Apache-2.0
//
// The pass `tfrt-print-stream`: a remark at each function of the module, about the stream of
// the call itself, and at each op of its body:
//
//   remark: stream id: 0, stream cost: 22, parent stream: -1, child streams: [1]
//
// Child streams are those that the op triggers. Functions in nested modules and the regions
// of ops are left out, as TFRT's pass of this name does.
//
// Thread rule: thread-compatible (caller synchronises); uses the ops' scratch words.
// Failure rule: false and an error when memory is out.
#ifndef TFRT_COMPILER_PASSES_STREAM_PRINTER_H_
#define TFRT_COMPILER_PASSES_STREAM_PRINTER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"

// Reports the streams of |module|'s functions. Thread-compatible (caller synchronises).
bool tfrt_print_streams(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                        tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PASSES_STREAM_PRINTER_H_
