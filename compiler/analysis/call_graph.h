// SPDX-License-Identifier: Apache-2.0
//
// Which function of a module calls which by `tfrt.call`, and an order of the functions in
// which callees come first.
//
//   @main ---> @a ---> @b       order: @b and @a (one circle), then @main
//               ^------'
//
// Life:
//  1. Initialised from a module.
//  2. Read. It doesn't follow later changes.
//  3. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises); the functions' scratch words are their
// numbers as long as the graph lives.
// Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_COMPILER_ANALYSIS_CALL_GRAPH_H_
#define TFRT_COMPILER_ANALYSIS_CALL_GRAPH_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/arena.h"

typedef struct tfrt_call_edge_s {
  tfrt_ir_operation_t* call;
  uint32_t callee;  // its number
} tfrt_call_edge_t;

typedef struct tfrt_call_node_s {
  tfrt_ir_operation_t* function;
  uint32_t first_call;  // among the edges
  uint32_t call_count;
  uint32_t circle;  // equal for functions that call each other in a circle
} tfrt_call_node_t;

typedef struct tfrt_call_graph_s {
  tfrt_arena_t arena;
  tfrt_call_node_t* nodes;  // in the order of the module
  tfrt_call_edge_t* calls;  // by caller, then in program order
  uint32_t* order;          // numbers of nodes, callees first
  uint32_t node_count;
  uint32_t call_count;
} tfrt_call_graph_t;

// Reads the functions of |module| itself, not those of modules in it. |symbols| are its own.
// Thread-compatible (caller synchronises).
tfrt_status_t tfrt_call_graph_initialize(tfrt_call_graph_t* graph, tfrt_ir_operation_t* module,
                                         const tfrt_ir_symbol_table_t* symbols,
                                         tfrt_allocator_t allocator) TFRT_MUST_USE;

// Gives back the memory of |graph|. Thread-compatible (caller synchronises).
void tfrt_call_graph_deinitialize(tfrt_call_graph_t* graph);

#endif  // TFRT_COMPILER_ANALYSIS_CALL_GRAPH_H_
