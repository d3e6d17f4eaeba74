// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/inliner.h"

#include "compiler/analysis/call_graph.h"
#include "compiler/ir/clone.h"
#include "compiler/op_table/schema.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/symbol_pruner.h"

// The facts about a function in its present state.
typedef struct body_s {
  bool is_inlinable;
  uint32_t op_count;  // all ops in it, the function itself left out
  uint32_t depth;     // of regions within each other
} body_t;

typedef struct inliner_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t* diagnostics;
  tfrt_call_graph_t graph;
  body_t* bodies;   // by number of function
  uint32_t growth;  // ops that were added to the module
} inliner_t;

// --- What may be inlined ----------------------------------------------------------------

// Adds what lies in |region|. A region that can't be copied makes the body not inlinable.
// The parser's nesting limit, and this pass's own, bound the recursion.
static void measure_region(body_t* body, const tfrt_ir_region_t* region, uint32_t depth) {
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(region);
  if (!block) {
    body->is_inlinable = false;
    return;
  }
  if (depth > body->depth) body->depth = depth;
  for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    ++body->op_count;
    // Nobody knows what the regions of an unknown op see.
    if (op->successor_count || (op->region_count && !op->descriptor)) body->is_inlinable = false;
    for (uint32_t i = 0; i < op->region_count; ++i) {
      measure_region(body, &op->regions[i], depth + 1);
    }
  }
}

static body_t measure(const tfrt_ir_operation_t* function) {
  const tfrt_ir_block_t* block = tfrt_ir_function_block(function);
  bool is_plain = block && tfrt_ir_operation_is_return(block->last) &&
                  !tfrt_ir_operation_attribute(function, "tfrt.native") &&
                  !tfrt_ir_operation_attribute(function, "tfrt.sync");
  body_t body = {.is_inlinable = is_plain};
  if (is_plain) measure_region(&body, &function->regions[0], 0);
  return body;
}

static bool has_options(const tfrt_ir_operation_t* call) {
  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    if (tfrt_schema_is_call_option(tfrt_ir_string_view(call->attributes[i].name))) return true;
  }
  return false;
}

// The number of regions around |op| within its function.
static uint32_t depth_of(const tfrt_ir_operation_t* op) {
  uint32_t depth = 0;
  const tfrt_ir_operation_t* parent = tfrt_ir_operation_parent(op);
  while (parent && !tfrt_ir_is_function(parent)) {
    ++depth;
    parent = tfrt_ir_operation_parent(parent);
  }
  return depth;
}

// Whether |body| may take the place of |call|. Warns if only a limit is against it.
static bool may_inline(inliner_t* inliner, const tfrt_ir_operation_t* call, const body_t* body) {
  if (!body->is_inlinable || has_options(call)) return false;
  const char* problem = NULL;
  if (body->op_count > TFRT_INLINER_MAX_GROWTH - inliner->growth) {
    problem = "the program would grow by too many ops";
  } else if (depth_of(call) + body->depth > TFRT_INLINER_MAX_NESTING) {
    problem = "regions would nest too deep";
  }
  if (!problem) return true;
  tfrt_pass_report(inliner->diagnostics, TFRT_SEVERITY_WARNING, call, "this call stays: %s",
                   problem);
  return false;
}

// --- Inlining -----------------------------------------------------------------------------

// Puts the body of |function| where |call| is.
static bool inline_call(inliner_t* inliner, tfrt_ir_operation_t* call,
                        const tfrt_ir_operation_t* function) {
  const tfrt_ir_block_t* block = tfrt_ir_function_block(function);
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(inliner->context);
  size_t count = (size_t)call->operand_count + call->result_count;
  tfrt_ir_value_t** values = tfrt_allocator_allocate_array(allocator, count, sizeof(*values));
  if (!values) return false;
  tfrt_ir_value_t** yielded = values + call->operand_count;
  for (uint32_t i = 0; i < call->operand_count; ++i) values[i] = call->operands[i].value;
  bool ok = tfrt_ir_clone_body(inliner->context, block, values, call, yielded);
  for (uint32_t i = 0; ok && i < call->result_count; ++i) {
    if (!yielded[i]->name) yielded[i]->name = call->results[i].name;
    tfrt_ir_value_replace_all_uses(&call->results[i], yielded[i]);
  }
  if (ok) tfrt_ir_operation_erase(call);
  tfrt_allocator_free(allocator, values, count * sizeof(*values));
  return ok;
}

// Inlines the calls of function |caller|, whose callees are done but for those of its circle.
static bool inline_calls(inliner_t* inliner, uint32_t caller) {
  const tfrt_call_node_t* node = &inliner->graph.nodes[caller];
  bool is_sync = tfrt_ir_operation_attribute(node->function, "tfrt.sync") != NULL;
  bool ok = true;
  for (uint32_t i = 0; ok && !is_sync && i < node->call_count; ++i) {
    const tfrt_call_edge_t* edge = &inliner->graph.calls[node->first_call + i];
    const tfrt_call_node_t* callee = &inliner->graph.nodes[edge->callee];
    const body_t* body = &inliner->bodies[edge->callee];
    if (callee->circle == node->circle || !may_inline(inliner, edge->call, body)) continue;
    inliner->growth += body->op_count;
    ok = inline_call(inliner, edge->call, callee->function);
  }
  inliner->bodies[caller] = measure(node->function);
  return ok;
}

static bool run(inliner_t* inliner, tfrt_ir_operation_t* module,
                const tfrt_ir_symbol_table_t* symbols) {
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(inliner->context);
  tfrt_status_t status = tfrt_call_graph_initialize(&inliner->graph, module, symbols, allocator);
  if (status) {
    tfrt_status_release(status);
    return false;
  }
  uint32_t count = inliner->graph.node_count;
  inliner->bodies = tfrt_allocator_allocate_array(allocator, count, sizeof(*inliner->bodies));
  bool ok = inliner->bodies != NULL;
  for (uint32_t i = 0; ok && i < count; ++i) {
    ok = inline_calls(inliner, inliner->graph.order[i]);
  }
  tfrt_allocator_free(allocator, inliner->bodies, count * sizeof(*inliner->bodies));
  tfrt_call_graph_deinitialize(&inliner->graph);
  return ok && tfrt_prune_private_functions(inliner->context, module, symbols);
}

bool tfrt_inline(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                 tfrt_diagnostics_t* diagnostics) {
  inliner_t inliner = {.context = context, .diagnostics = diagnostics};
  const tfrt_ir_symbol_table_t* symbols = tfrt_ir_symbol_table_create(context, module);
  if (symbols && run(&inliner, module, symbols)) return true;
  tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module, "out of memory to inline calls");
  return false;
}
