// SPDX-License-Identifier: Apache-2.0
//
// Cuts `main` of an imported program into stages, one for each host, after everything else was done
// to it: so each op is the same as on one host, and so are the bits of the results.
//
//   main: argument, a, b, c, d, return
//   -->  stage0: a, b          stage1: c, d
//        main: argument, call stage0 on host 0, call stage1 on host 1, return
//
// Checks of arguments stay in `main`. Stages take about equally long (onnx_cost.h). Constants are
// made where they are used.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: false when memory is out.
#ifndef TFRT_COMPILER_ONNX_ONNX_STAGES_H_
#define TFRT_COMPILER_ONNX_ONNX_STAGES_H_

#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Cuts `main` of |module|, which |tables| describe, into |count| stages. Thread-compatible.
bool tfrt_onnx_cut_stages(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                          tfrt_ir_operation_t* module, uint32_t count) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_ONNX_ONNX_STAGES_H_
