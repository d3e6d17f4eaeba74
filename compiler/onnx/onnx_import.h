// SPDX-License-Identifier: Apache-2.0
//
// A model of the ONNX format as a program: one function `main`, whose parameters are the graph's
// inputs and whose results are its outputs, all tensors; weights are constants in it. Operators
// become ops of the dialect `tfrt_nn`, which work out shapes when they run.
//
//   main(%x, %y) = argument checks; constants; ops in the order of the graph; return
//
// For several hosts the same ops lie in functions of their own:
//   pipeline   @stage0, @stage1, ...: the nodes in as many runs, of about equal cost. `main` calls
//              each on its host; weights are made where they are used.
//   data       @replica: `main` cuts the inputs along their first axis into as many parts, calls
//              @replica on each host with one, and joins the results along their first axis.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: what is wrong with the model is reported to the diagnostics, all operators that are
// missing at once; INVALID_ARGUMENT then. RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_COMPILER_ONNX_ONNX_IMPORT_H_
#define TFRT_COMPILER_ONNX_ONNX_IMPORT_H_

#include <stddef.h>
#include <stdint.h>

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

typedef enum tfrt_onnx_split_e {
  TFRT_ONNX_SPLIT_NONE = 0,
  TFRT_ONNX_SPLIT_PIPELINE,
  TFRT_ONNX_SPLIT_DATA,
} tfrt_onnx_split_t;

// Filled in from all zeros.
typedef struct tfrt_onnx_options_s {
  const char* directory;  // where data in files of their own may be; NULL: nowhere
  // Shapes of inputs, each "NAME=1x3x224x224"; they go before what the model says.
  const char* const* shapes;
  size_t shape_count;
  tfrt_onnx_split_t split;
  uint32_t host_count;  // with |split|: at least 1
  // A text whose functions are put around the model's (onnx_around.h), and its name; NULL: none.
  const char* around_name;
  tfrt_string_view_t around;
} tfrt_onnx_options_t;

// Sets |*out_module| to the program, made in |context|, that the model of |size| bytes at |data|
// is; |tables| have the ops. Appends lines about inputs, outputs and weights to |summary|; reports
// to |diagnostics|. Thread-compatible (caller synchronises).
tfrt_status_t tfrt_onnx_import(tfrt_ir_context_t* context, const uint8_t* data, size_t size,
                               const tfrt_op_tables_t* tables, const tfrt_onnx_options_t* options,
                               tfrt_diagnostics_t* diagnostics, tfrt_string_builder_t* summary,
                               tfrt_ir_operation_t** out_module) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_ONNX_ONNX_IMPORT_H_
