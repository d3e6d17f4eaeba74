// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_graph.h"

#include <stdio.h>
#include <string.h>

#include "compiler/onnx/onnx_body.h"
#include "compiler/onnx/onnx_model.h"
#include "host_runtime/executor/descriptor/similar_name.h"

void tfrt_onnx_graph_enter_node(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                                size_t number) {
  builder->node = graph->node[number];
  builder->node_number = number;
  // A node has no line: its number stands for one.
  const tfrt_ir_location_t* place =
      tfrt_ir_location_file(builder->context, builder->file, (uint32_t)number + 1, 1);
  const tfrt_ir_string_t* name = tfrt_ir_string_of(builder->context, builder->node->name);
  bool has_name = name && name->size > 0;
  builder->location = has_name ? tfrt_ir_location_name(builder->context, name, place) : place;
}

// Adds an entry for |name|; reports one that there is already.
static tfrt_onnx_entry_t* add_entry(tfrt_onnx_builder_t* builder, const char* name) {
  const tfrt_ir_string_t* string = tfrt_ir_string_of(builder->context, name);
  tfrt_onnx_entry_t* entry = tfrt_ir_context_allocate_array(builder->context, 1, sizeof(*entry));
  if (!string || !entry) return NULL;
  if (string->meaning) {
    tfrt_diagnostics_report_at(builder->diagnostics, TFRT_SEVERITY_ERROR, builder->location,
                               "the name '%s' is made twice", name);
    return NULL;
  }
  tfrt_ir_string_set_meaning(string, entry);
  return entry;
}

static bool name_constants(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph) {
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    tfrt_onnx_entry_t* entry = add_entry(builder, graph->initializer[i]->name);
    if (!entry) return false;
    entry->constant = graph->initializer[i];
  }
  return true;
}

static bool name_inputs(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph) {
  for (size_t i = 0; i < graph->n_input; ++i) {
    if (!tfrt_onnx_graph_is_parameter(builder, graph, i)) continue;
    if (!add_entry(builder, graph->input[i]->name)) return false;
  }
  return true;
}

// The number of the node from |first| on that makes |name|; the number of nodes: none does.
static size_t find_maker(const Onnx__GraphProto* graph, size_t first, const char* name) {
  for (size_t i = first; i < graph->n_node; ++i) {
    for (size_t o = 0; o < graph->node[i]->n_output; ++o) {
      if (strcmp(graph->node[i]->output[o], name) == 0) return i;
    }
  }
  return graph->n_node;
}

static void find_nearer(const char* name, const char* other, size_t* distance, const char** best) {
  size_t found = tfrt_similar_name_distance(tfrt_string_view_of(name), tfrt_string_view_of(other));
  if (!other[0] || found >= *distance) return;
  *distance = found;
  *best = other;
}

// The name before node |number| that is nearest to |name|, or NULL if none is near.
static const char* find_nearest(const Onnx__GraphProto* graph, size_t number, const char* name) {
  const char* best = NULL;
  size_t distance = SIZE_MAX;
  for (size_t i = 0; i < graph->n_input; ++i) {
    find_nearer(name, graph->input[i]->name, &distance, &best);
  }
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    find_nearer(name, graph->initializer[i]->name, &distance, &best);
  }
  for (size_t i = 0; i < number; ++i) {
    for (size_t o = 0; o < graph->node[i]->n_output; ++o) {
      find_nearer(name, graph->node[i]->output[o], &distance, &best);
    }
  }
  return best;
}

static void report_missing(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                           size_t number, const char* name) {
  // The search through all nodes is only for reports that are kept: a hostile file has many.
  bool is_kept = builder->diagnostics->error_count < builder->diagnostics->limit;
  size_t maker = is_kept ? find_maker(graph, number, name) : graph->n_node;
  const char* nearest = is_kept ? find_nearest(graph, number, name) : NULL;
  if (maker < graph->n_node) {
    tfrt_onnx_report(builder,
                     "its input '%s' is made by no node before it, but by node %zu: a graph has "
                     "its nodes in order, without cycles",
                     name, maker);
  } else if (nearest) {
    tfrt_onnx_report(builder, "its input '%s' is made by no node before it; did you mean '%s'?",
                     name, nearest);
  } else {
    tfrt_onnx_report(builder, "its input '%s' is made by no node before it", name);
  }
}

// Reports inputs of node |number| that do not exist.
static void check_inputs(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                         size_t number) {
  const Onnx__NodeProto* node = graph->node[number];
  for (size_t i = 0; i < node->n_input; ++i) {
    if (!node->input[i][0] || tfrt_onnx_entry(builder, node->input[i])) continue;
    report_missing(builder, graph, number, node->input[i]);
  }
}

static bool name_nodes(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph) {
  for (size_t i = 0; i < graph->n_node; ++i) {
    tfrt_onnx_graph_enter_node(builder, graph, i);
    check_inputs(builder, graph, i);
    for (size_t o = 0; o < graph->node[i]->n_output; ++o) {
      const char* name = graph->node[i]->output[o];
      if (name[0] && !add_entry(builder, name)) return false;
    }
  }
  return true;
}

bool tfrt_onnx_graph_name(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph) {
  if (!name_constants(builder, graph) || !name_inputs(builder, graph) ||
      !name_nodes(builder, graph)) {
    return false;
  }
  builder->location = NULL;
  for (size_t i = 0; i < graph->n_output; ++i) {
    if (!tfrt_onnx_entry(builder, graph->output[i]->name)) {
      tfrt_diagnostics_report_at(builder->diagnostics, TFRT_SEVERITY_ERROR, NULL,
                                 "the output '%s' is made by no node", graph->output[i]->name);
    }
  }
  return true;
}

bool tfrt_onnx_graph_is_parameter(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                                  size_t index) {
  const tfrt_onnx_entry_t* entry = tfrt_onnx_entry(builder, graph->input[index]->name);
  return !entry || !entry->constant;
}

// --- Operators --------------------------------------------------------------------

static bool is_standard_domain(const char* domain) {
  return domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0;
}

static bool is_supported(const Onnx__NodeProto* node) {
  return is_standard_domain(node->domain) && tfrt_onnx_op_name(node->op_type) != NULL;
}

// Whether a node before |number| has the same operator.
static bool is_repeated(const Onnx__GraphProto* graph, size_t number) {
  for (size_t i = 0; i < number; ++i) {
    if (strcmp(graph->node[i]->op_type, graph->node[number]->op_type) == 0 &&
        strcmp(graph->node[i]->domain, graph->node[number]->domain) == 0) {
      return true;
    }
  }
  return false;
}

static size_t count_nodes(const Onnx__GraphProto* graph, const Onnx__NodeProto* like) {
  size_t count = 0;
  for (size_t i = 0; i < graph->n_node; ++i) {
    count += strcmp(graph->node[i]->op_type, like->op_type) == 0 &&
             strcmp(graph->node[i]->domain, like->domain) == 0;
  }
  return count;
}

static void check_operators(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                            uint32_t depth);

// The same for the graphs inside of |node|. Damaged ones are reported when they are converted.
static void check_inner_operators(tfrt_onnx_builder_t* builder, const Onnx__NodeProto* node,
                                  uint32_t depth) {
  for (size_t i = 0; i < node->n_attribute && depth < TFRT_ONNX_MAX_DEPTH; ++i) {
    Onnx__GraphProto* graph;
    if (!node->attribute[i]->has_g) continue;
    if (!tfrt_onnx_graph_unpack(&node->attribute[i]->g, &graph)) continue;
    check_operators(builder, graph, depth + 1);
    tfrt_onnx_graph_free(graph);
  }
}

// Recursion is bounded by the depth of graphs.
static void check_operators(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                            uint32_t depth) {
  // Each comparison of a hostile file's nodes with all others would take too long.
  size_t limit = builder->diagnostics->limit;
  for (size_t i = 0; i < graph->n_node && builder->diagnostics->error_count < limit; ++i) {
    const Onnx__NodeProto* node = graph->node[i];
    check_inner_operators(builder, node, depth);
    if (is_supported(node) || is_repeated(graph, i)) continue;
    tfrt_onnx_graph_enter_node(builder, graph, i);
    size_t count = count_nodes(graph, node);
    const char* domain = is_standard_domain(node->domain) ? "" : node->domain;
    tfrt_onnx_report(builder, "the operator %s%s%s of opset %lld is not supported (%zu node%s)",
                     domain, domain[0] ? "." : "", node->op_type, (long long)builder->opset, count,
                     count == 1 ? "" : "s");
  }
}

void tfrt_onnx_graph_check_operators(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph) {
  check_operators(builder, graph, 0);
  builder->location = NULL;
}
