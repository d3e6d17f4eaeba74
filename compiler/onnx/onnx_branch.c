// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_branch.h"

#include <stdio.h>
#include <string.h>

#include "compiler/onnx/onnx_graph.h"
#include "compiler/onnx/onnx_model.h"

// A list of different names.
typedef struct list_s {
  tfrt_onnx_builder_t* builder;
  const char** names;
  size_t count;
  size_t capacity;
} list_t;

static bool add_name(list_t* list, const char* name) {
  for (size_t i = 0; i < list->count; ++i) {
    if (strcmp(list->names[i], name) == 0) return true;
  }
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 16;
    const char** names =
        tfrt_ir_context_allocate_array(list->builder->context, capacity, sizeof(*names));
    if (!names) return false;
    if (list->count) memcpy(names, list->names, list->count * sizeof(*names));
    list->names = names;
    list->capacity = capacity;
  }
  list->names[list->count++] = name;
  return true;
}

// --- Names ------------------------------------------------------------------------

static bool visit_name(tfrt_onnx_builder_t* builder, const char* name, tfrt_onnx_name_fn_t visit,
                       void* self) {
  if (!name[0]) return true;
  const tfrt_ir_string_t* string = tfrt_ir_string_of(builder->context, name);
  return string && visit(self, string->data);
}

static bool visit_graph(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph, uint32_t depth,
                        tfrt_onnx_name_fn_t visit, void* self) {
  for (size_t i = 0; i < graph->n_node; ++i) {
    if (!tfrt_onnx_visit_names(builder, graph->node[i], depth + 1, visit, self)) return false;
  }
  for (size_t i = 0; i < graph->n_output; ++i) {
    if (!visit_name(builder, graph->output[i]->name, visit, self)) return false;
  }
  return true;
}

bool tfrt_onnx_visit_names(tfrt_onnx_builder_t* builder, const Onnx__NodeProto* node,
                           uint32_t depth, tfrt_onnx_name_fn_t visit, void* self) {
  for (size_t i = 0; i < node->n_input; ++i) {
    if (!visit_name(builder, node->input[i], visit, self)) return false;
  }
  for (size_t i = 0; i < node->n_attribute; ++i) {
    Onnx__GraphProto* graph;
    if (!node->attribute[i]->has_g) continue;
    if (depth >= TFRT_ONNX_MAX_DEPTH || !tfrt_onnx_graph_unpack(&node->attribute[i]->g, &graph)) {
      tfrt_onnx_report(builder, "a graph inside of it is damaged, or too deep");
      return false;
    }
    bool is_good = visit_graph(builder, graph, depth, visit, self);
    tfrt_onnx_graph_free(graph);
    if (!is_good) return false;
  }
  return true;
}

// Adds |name| to the list |self| if it stands for a value of the function that is built.
static bool capture(void* self, const char* name) {
  list_t* list = self;
  const tfrt_onnx_entry_t* entry = tfrt_onnx_entry(list->builder, name);
  bool is_value = entry && !entry->constant && entry->function == list->builder->function;
  return !is_value || add_name(list, name);
}

// --- A branch ---------------------------------------------------------------------

// The state of the builder that a branch changes and gives back.
typedef struct outside_s {
  tfrt_ir_block_t* block;
  uint32_t function;
  const Onnx__NodeProto* node;
  size_t node_number;
  const tfrt_ir_location_t* location;
  tfrt_ir_value_t** values;  // of the captured names
  void** meanings;           // of the names that the branch makes
  list_t made;
} outside_t;

// Lets |name| stand for nothing, until leave() restores its meaning.
static bool hide(tfrt_onnx_builder_t* builder, outside_t* outside, const char* name, size_t most) {
  const tfrt_ir_string_t* string = tfrt_ir_string_of(builder->context, name);
  if (!string || outside->made.count >= most) return false;
  outside->meanings[outside->made.count] = string->meaning;
  outside->made.names[outside->made.count++] = string->data;
  tfrt_ir_string_set_meaning(string, NULL);
  return true;
}

static bool hide_made(tfrt_onnx_builder_t* builder, outside_t* outside,
                      const Onnx__GraphProto* graph) {
  size_t most = graph->n_initializer;
  for (size_t i = 0; i < graph->n_node; ++i) most += graph->node[i]->n_output;
  outside->made.names = tfrt_ir_context_allocate_array(builder->context, most, sizeof(char*));
  outside->meanings = tfrt_ir_context_allocate_array(builder->context, most, sizeof(void*));
  if (!outside->made.names || !outside->meanings) return false;
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    if (!hide(builder, outside, graph->initializer[i]->name, most)) return false;
  }
  for (size_t i = 0; i < graph->n_node; ++i) {
    for (size_t o = 0; o < graph->node[i]->n_output; ++o) {
      const char* name = graph->node[i]->output[o];
      if (name[0] && !hide(builder, outside, name, most)) return false;
    }
  }
  return true;
}

static void leave(tfrt_onnx_builder_t* builder, const list_t* captured, outside_t* outside) {
  builder->block = outside->block;
  builder->function = outside->function;
  builder->node = outside->node;
  builder->node_number = outside->node_number;
  builder->location = outside->location;
  // The last one that was hidden first, so that a name that was hidden twice is itself again.
  for (size_t i = outside->made.count; i-- > 0;) {
    const tfrt_ir_string_t* string = tfrt_ir_string_of(builder->context, outside->made.names[i]);
    if (string) tfrt_ir_string_set_meaning(string, outside->meanings[i]);
  }
  for (size_t i = 0; outside->values && i < captured->count; ++i) {
    tfrt_onnx_entry_t* entry = tfrt_onnx_entry(builder, captured->names[i]);
    if (!entry) continue;
    entry->value = outside->values[i];
    entry->function = outside->function;
  }
}

// Begins the function |name| with the captured values as parameters, and |result_count| results.
static bool begin(tfrt_onnx_builder_t* builder, const char* name, const list_t* captured,
                  size_t result_count, outside_t* outside) {
  tfrt_ir_context_t* context = builder->context;
  size_t most = captured->count > result_count ? captured->count : result_count;
  const tfrt_ir_type_t** types = tfrt_ir_context_allocate_array(context, most, sizeof(*types));
  for (size_t i = 0; types && i < most; ++i) types[i] = builder->tensor_type;
  const tfrt_ir_string_t* symbol = tfrt_ir_string_of(context, name);
  const tfrt_ir_type_t* type =
      types ? tfrt_ir_type_function(context, types, (uint32_t)captured->count, types,
                                    (uint32_t)result_count)
            : NULL;
  tfrt_ir_operation_t* function =
      type && symbol ? tfrt_ir_function_create(context, builder->location, symbol, type) : NULL;
  tfrt_ir_block_t* block = function ? tfrt_ir_block_create(context, &function->regions[0]) : NULL;
  outside->values =
      tfrt_ir_context_allocate_array(context, captured->count, sizeof(*outside->values));
  if (!block || !outside->values) return false;
  tfrt_ir_block_append(tfrt_ir_module_block(builder->module), function);
  builder->block = block;
  builder->function = ++builder->function_count;
  for (size_t i = 0; i < captured->count; ++i) {
    tfrt_onnx_entry_t* entry = tfrt_onnx_entry(builder, captured->names[i]);
    outside->values[i] = entry->value;
    entry->value =
        tfrt_ir_block_add_argument(context, block, builder->tensor_type, NULL, builder->location);
    entry->function = builder->function;
    if (!entry->value) return false;
  }
  return true;
}

static bool convert_body(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph) {
  const tfrt_ir_location_t* location = builder->location;
  if (!tfrt_onnx_graph_name(builder, graph)) return false;
  for (size_t i = 0; i < graph->n_node; ++i) {
    tfrt_onnx_graph_enter_node(builder, graph, i);
    if (!builder->location || !tfrt_onnx_convert_node(builder)) return false;
  }
  Onnx__NodeProto outputs;
  onnx__node_proto__init(&outputs);
  char** names = tfrt_ir_context_allocate_array(builder->context, graph->n_output, sizeof(*names));
  tfrt_ir_value_t** values =
      tfrt_ir_context_allocate_array(builder->context, graph->n_output, sizeof(*values));
  if (!names || !values) return false;
  for (size_t i = 0; i < graph->n_output; ++i) names[i] = graph->output[i]->name;
  outputs.n_input = graph->n_output;
  outputs.input = names;
  builder->node = &outputs;
  builder->location = location;
  for (size_t i = 0; i < graph->n_output; ++i) {
    values[i] = tfrt_onnx_input(builder, i);
    if (!values[i]) return false;
  }
  return tfrt_onnx_return(builder, values, graph->n_output);
}

// Makes the function |name| of the attribute |attribute|.
static bool build_branch(tfrt_onnx_builder_t* builder, const Onnx__AttributeProto* attribute,
                         const char* name, const list_t* captured) {
  Onnx__GraphProto* graph;
  if (!tfrt_onnx_graph_unpack(&attribute->g, &graph)) {
    tfrt_onnx_report(builder, "its graph '%s' is damaged", attribute->name);
    return false;
  }
  outside_t outside = {.block = builder->block,
                       .function = builder->function,
                       .node = builder->node,
                       .node_number = builder->node_number,
                       .location = builder->location};
  bool is_good = true;
  if (graph->n_input > 0 || graph->n_output != builder->node->n_output) {
    tfrt_onnx_report(builder, "its graph '%s' has other inputs or outputs", attribute->name);
    is_good = false;
  }
  is_good = is_good && begin(builder, name, captured, graph->n_output, &outside) &&
            hide_made(builder, &outside, graph) && convert_body(builder, graph);
  leave(builder, captured, &outside);
  tfrt_onnx_graph_free(graph);
  return is_good;
}

// --- The node ---------------------------------------------------------------------

// The truth value of |x|, a tensor of one element.
static tfrt_ir_value_t* make_condition(tfrt_onnx_builder_t* builder, tfrt_ir_value_t* x) {
  const tfrt_ir_type_t* type = tfrt_ir_type_integer(builder->context, 1, TFRT_IR_SIGNLESS);
  const tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(builder->context, "tfrt_nn.condition"),
      .descriptor = tfrt_op_index_find(builder->ops, tfrt_string_view_of("tfrt_nn.condition")),
      .location = builder->location,
      .operands = &x,
      .operand_count = 1,
      .result_types = &type,
      .result_count = 1};
  tfrt_ir_operation_t* operation =
      type && parts.name ? tfrt_ir_operation_create(builder->context, &parts) : NULL;
  if (operation) tfrt_ir_block_append(builder->block, operation);
  return operation ? &operation->results[0] : NULL;
}

// The call of one of two functions with the captured values.
static bool make_choice(tfrt_onnx_builder_t* builder, const char* names[2],
                        const list_t* captured) {
  tfrt_ir_context_t* context = builder->context;
  uint32_t count = (uint32_t)builder->node->n_output;
  tfrt_ir_value_t** operands =
      tfrt_ir_context_allocate_array(context, captured->count + 1, sizeof(*operands));
  const tfrt_ir_type_t** types = tfrt_ir_context_allocate_array(context, count, sizeof(*types));
  const tfrt_ir_string_t* symbols[2] = {tfrt_ir_string_of(context, names[0]),
                                        tfrt_ir_string_of(context, names[1])};
  tfrt_ir_value_t* condition = tfrt_onnx_input(builder, 0);
  if (!operands || !types || !symbols[0] || !symbols[1] || !condition) return false;
  operands[0] = make_condition(builder, condition);
  for (size_t i = 0; i < captured->count; ++i) {
    operands[1 + i] = tfrt_onnx_entry(builder, captured->names[i])->value;
  }
  for (uint32_t i = 0; i < count; ++i) types[i] = builder->tensor_type;
  const tfrt_ir_named_attribute_t attributes[] = {
      {tfrt_ir_string_of(context, "a_true_fn"), tfrt_ir_attribute_symbol(context, &symbols[0], 1)},
      {tfrt_ir_string_of(context, "b_false_fn"), tfrt_ir_attribute_symbol(context, &symbols[1], 1)},
  };
  const tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(context, "tfrt.cond"),
      .descriptor = tfrt_op_index_find(builder->ops, tfrt_string_view_of("tfrt.cond")),
      .location = builder->location,
      .operands = operands,
      .operand_count = (uint32_t)captured->count + 1,
      .result_types = types,
      .result_count = count,
      .attributes = attributes,
      .attribute_count = 2};
  bool is_whole = operands[0] && parts.name && attributes[0].value && attributes[1].value;
  tfrt_ir_operation_t* operation = is_whole ? tfrt_ir_operation_create(context, &parts) : NULL;
  if (!operation) return false;
  tfrt_ir_block_append(builder->block, operation);
  for (uint32_t i = 0; i < count; ++i) tfrt_onnx_define(builder, i, &operation->results[i]);
  return true;
}

bool tfrt_onnx_convert_if(tfrt_onnx_builder_t* builder, const char* op) {
  (void)op;
  const Onnx__AttributeProto* branches[2] = {
      tfrt_onnx_attribute(builder, "then_branch", TFRT_ONNX_GRAPH),
      tfrt_onnx_attribute(builder, "else_branch", TFRT_ONNX_GRAPH)};
  if (!branches[0] || !branches[1] || !branches[0]->has_g || !branches[1]->has_g ||
      builder->depth >= TFRT_ONNX_MAX_DEPTH) {
    tfrt_onnx_report(builder, "a branch is missing, or too deep");
    return false;
  }
  char texts[2][32];
  const char* names[2] = {texts[0], texts[1]};
  list_t captured = {.builder = builder};
  if (!tfrt_onnx_visit_names(builder, builder->node, builder->depth, capture, &captured)) {
    return false;
  }
  ++builder->depth;
  bool is_good = true;
  for (int i = 0; i < 2 && is_good; ++i) {
    snprintf(texts[i], sizeof(texts[i]), "%s_%u", i == 0 ? "then" : "else",
             builder->function_count + 1);
    is_good = build_branch(builder, branches[i], names[i], &captured);
  }
  --builder->depth;
  return is_good && make_choice(builder, names, &captured);
}
