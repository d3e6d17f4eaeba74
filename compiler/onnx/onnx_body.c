// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_body.h"

#include <string.h>

#include "compiler/onnx/onnx_graph.h"
#include "compiler/onnx/onnx_model.h"

static bool add_name(tfrt_onnx_names_t* list, const char* name) {
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
static bool capture_name(void* self, const char* name) {
  tfrt_onnx_names_t* list = self;
  const tfrt_onnx_entry_t* entry = tfrt_onnx_entry(list->builder, name);
  bool is_value = entry && !entry->constant && entry->function == list->builder->function;
  return !is_value || add_name(list, name);
}

bool tfrt_onnx_body_capture(tfrt_onnx_builder_t* builder, tfrt_onnx_names_t* out_names) {
  *out_names = (tfrt_onnx_names_t){.builder = builder};
  return tfrt_onnx_visit_names(builder, builder->node, builder->depth, capture_name, out_names);
}

// --- Life -------------------------------------------------------------------------

bool tfrt_onnx_body_open(tfrt_onnx_builder_t* builder, const Onnx__AttributeProto* attribute,
                         const tfrt_onnx_names_t* captured, tfrt_onnx_body_t* out_body) {
  *out_body = (tfrt_onnx_body_t){.builder = builder,
                                 .captured = captured,
                                 .block = builder->block,
                                 .function = builder->function,
                                 .node = builder->node,
                                 .node_number = builder->node_number,
                                 .location = builder->location};
  ++builder->depth;
  if (tfrt_onnx_graph_unpack(&attribute->g, &out_body->graph)) return true;
  tfrt_onnx_report(builder, "its graph '%s' is damaged", attribute->name);
  return false;
}

// Lets |name| stand for nothing, until the body is closed.
static bool hide(tfrt_onnx_body_t* body, const char* name, size_t most) {
  const tfrt_ir_string_t* string = tfrt_ir_string_of(body->builder->context, name);
  if (!string || body->made.count >= most) return false;
  body->meanings[body->made.count] = string->meaning;
  body->made.names[body->made.count++] = string->data;
  tfrt_ir_string_set_meaning(string, NULL);
  return true;
}

static bool hide_made(tfrt_onnx_body_t* body) {
  const Onnx__GraphProto* graph = body->graph;
  size_t most = graph->n_initializer + graph->n_input;
  for (size_t i = 0; i < graph->n_node; ++i) most += graph->node[i]->n_output;
  body->made.names = tfrt_ir_context_allocate_array(body->builder->context, most, sizeof(char*));
  body->meanings = tfrt_ir_context_allocate_array(body->builder->context, most, sizeof(void*));
  if (!body->made.names || !body->meanings) return false;
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    if (!hide(body, graph->initializer[i]->name, most)) return false;
  }
  for (size_t i = 0; i < graph->n_input; ++i) {
    if (!hide(body, graph->input[i]->name, most)) return false;
  }
  for (size_t i = 0; i < graph->n_node; ++i) {
    for (size_t o = 0; o < graph->node[i]->n_output; ++o) {
      const char* name = graph->node[i]->output[o];
      if (name[0] && !hide(body, name, most)) return false;
    }
  }
  return true;
}

// The type of the function of |body|.
static const tfrt_ir_type_t* function_type(const tfrt_onnx_body_t* body,
                                           const tfrt_onnx_body_signature_t* signature) {
  tfrt_ir_context_t* context = body->builder->context;
  size_t parameters = body->captured->count + signature->parameter_count;
  size_t results = signature->result_count;
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(context, parameters + results, sizeof(*types));
  if (!types) return NULL;
  for (size_t i = 0; i < parameters + results; ++i) types[i] = body->builder->tensor_type;
  if (signature->gives_condition) {
    types[parameters + results - 1] = tfrt_ir_type_integer(context, 1, TFRT_IR_SIGNLESS);
  }
  return tfrt_ir_type_function(context, types, (uint32_t)parameters, types + parameters,
                               (uint32_t)results);
}

// Makes the parameters of |body| in its block.
static bool make_parameters(tfrt_onnx_body_t* body, size_t own_count) {
  tfrt_onnx_builder_t* builder = body->builder;
  size_t count = body->captured->count;
  body->values = tfrt_ir_context_allocate_array(builder->context, count, sizeof(*body->values));
  body->parameters = tfrt_ir_context_allocate_array(builder->context, count + own_count,
                                                    sizeof(*body->parameters));
  if (!body->values || !body->parameters) return false;
  for (size_t i = 0; i < count; ++i) {
    body->values[i] = tfrt_onnx_entry(builder, body->captured->names[i])->value;
  }
  for (size_t i = 0; i < count + own_count; ++i) {
    tfrt_ir_value_t* value = tfrt_ir_block_add_argument(
        builder->context, builder->block, builder->tensor_type, NULL, builder->location);
    if (!value) return false;
    body->parameters[i] = value;
    if (i >= count) continue;
    tfrt_onnx_entry_t* entry = tfrt_onnx_entry(builder, body->captured->names[i]);
    entry->value = value;
    entry->function = builder->function;
  }
  return true;
}

bool tfrt_onnx_body_begin(tfrt_onnx_body_t* body, const tfrt_onnx_body_signature_t* signature) {
  tfrt_onnx_builder_t* builder = body->builder;
  const tfrt_ir_string_t* symbol = tfrt_ir_string_of(builder->context, signature->name);
  const tfrt_ir_type_t* type = function_type(body, signature);
  tfrt_ir_operation_t* function =
      type && symbol ? tfrt_ir_function_create(builder->context, builder->location, symbol, type)
                     : NULL;
  tfrt_ir_block_t* block =
      function ? tfrt_ir_block_create(builder->context, &function->regions[0]) : NULL;
  if (!block) return false;
  tfrt_ir_block_append(tfrt_ir_module_block(builder->module), function);
  builder->block = block;
  builder->function = ++builder->function_count;
  return make_parameters(body, signature->parameter_count) && hide_made(body) &&
         tfrt_onnx_graph_name(builder, body->graph);
}

void tfrt_onnx_body_set_input(tfrt_onnx_body_t* body, size_t index, tfrt_ir_value_t* value) {
  if (index >= body->graph->n_input) return;
  tfrt_onnx_entry_t* entry = tfrt_onnx_entry(body->builder, body->graph->input[index]->name);
  if (!entry) return;
  entry->value = value;
  entry->function = body->builder->function;
}

bool tfrt_onnx_body_convert(tfrt_onnx_body_t* body) {
  tfrt_onnx_builder_t* builder = body->builder;
  const Onnx__GraphProto* graph = body->graph;
  for (size_t i = 0; i < graph->n_node; ++i) {
    tfrt_onnx_graph_enter_node(builder, graph, i);
    if (!builder->location || !tfrt_onnx_convert_node(builder)) return false;
  }
  // A node that has nothing but the outputs as inputs.
  Onnx__NodeProto outputs;
  onnx__node_proto__init(&outputs);
  char** names = tfrt_ir_context_allocate_array(builder->context, graph->n_output, sizeof(*names));
  body->outputs =
      tfrt_ir_context_allocate_array(builder->context, graph->n_output, sizeof(*body->outputs));
  if (!names || !body->outputs) return false;
  for (size_t i = 0; i < graph->n_output; ++i) names[i] = graph->output[i]->name;
  outputs.n_input = graph->n_output;
  outputs.input = names;
  builder->node = &outputs;
  builder->location = body->location;
  bool is_good = true;
  for (size_t i = 0; i < graph->n_output && is_good; ++i) {
    body->outputs[i] = tfrt_onnx_input(builder, i);
    is_good = body->outputs[i] != NULL;
  }
  builder->node = body->node;
  return is_good;
}

void tfrt_onnx_body_close(tfrt_onnx_body_t* body) {
  tfrt_onnx_builder_t* builder = body->builder;
  --builder->depth;
  builder->block = body->block;
  builder->function = body->function;
  builder->node = body->node;
  builder->node_number = body->node_number;
  builder->location = body->location;
  // The last one that was hidden first, so that a name that was hidden twice is itself again.
  for (size_t i = body->made.count; i-- > 0;) {
    const tfrt_ir_string_t* string = tfrt_ir_string_of(builder->context, body->made.names[i]);
    if (string) tfrt_ir_string_set_meaning(string, body->meanings[i]);
  }
  for (size_t i = 0; body->values && i < body->captured->count; ++i) {
    tfrt_onnx_entry_t* entry = tfrt_onnx_entry(builder, body->captured->names[i]);
    if (!entry) continue;
    entry->value = body->values[i];
    entry->function = body->function;
  }
  tfrt_onnx_graph_free(body->graph);
}

// --- Calls ------------------------------------------------------------------------

tfrt_ir_operation_t* tfrt_onnx_make_call(tfrt_onnx_builder_t* builder, const char* name,
                                         const tfrt_onnx_operands_t* operands,
                                         const tfrt_ir_named_attribute_t* attributes,
                                         uint32_t attribute_count, uint32_t result_count) {
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(builder->context, result_count, sizeof(*types));
  if (!types) return NULL;
  for (uint32_t i = 0; i < result_count; ++i) types[i] = builder->tensor_type;
  for (uint32_t i = 0; i < attribute_count; ++i) {
    if (!attributes[i].name || !attributes[i].value) return NULL;
  }
  for (uint32_t i = 0; i < operands->count; ++i) {
    if (!operands->values[i]) return NULL;
  }
  const tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(builder->context, name),
      .descriptor = tfrt_op_index_find(builder->ops, tfrt_string_view_of(name)),
      .location = builder->location,
      .operands = operands->values,
      .operand_count = operands->count,
      .result_types = types,
      .result_count = result_count,
      .attributes = attributes,
      .attribute_count = attribute_count};
  tfrt_ir_operation_t* operation =
      parts.name ? tfrt_ir_operation_create(builder->context, &parts) : NULL;
  if (operation) tfrt_ir_block_append(builder->block, operation);
  return operation;
}

tfrt_ir_value_t* tfrt_onnx_make_condition(tfrt_onnx_builder_t* builder, tfrt_ir_value_t* x) {
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
      x && type && parts.name ? tfrt_ir_operation_create(builder->context, &parts) : NULL;
  if (operation) tfrt_ir_block_append(builder->block, operation);
  return operation ? &operation->results[0] : NULL;
}
