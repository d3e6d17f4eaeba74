// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_functions.h"

#include <stdio.h>
#include <string.h>

#include "compiler/onnx/onnx_graph.h"
#include "compiler/onnx/onnx_model.h"
#include "compiler/onnx/onnx_summary.h"

// The functions of one program while they are built.
typedef struct functions_s {
  tfrt_onnx_builder_t* builder;
  const Onnx__GraphProto* graph;
  const tfrt_onnx_options_t* options;
  tfrt_ir_operation_t* module;
  const tfrt_ir_location_t* location;  // of what belongs to no node
} functions_t;

// A list of names of the graph.
typedef struct names_s {
  const char** names;
  size_t count;
} names_t;

// --- One function -----------------------------------------------------------------

// Begins the function |name|, with parameters of the names |parameters|; what is built goes there.
static bool begin_function(functions_t* f, const char* name, const names_t* parameters,
                           size_t result_count) {
  tfrt_ir_context_t* context = f->builder->context;
  size_t most = parameters->count > result_count ? parameters->count : result_count;
  const tfrt_ir_type_t** types = tfrt_ir_context_allocate_array(context, most, sizeof(*types));
  for (size_t i = 0; types && i < most; ++i) types[i] = f->builder->tensor_type;
  const tfrt_ir_type_t* type =
      types ? tfrt_ir_type_function(context, types, (uint32_t)parameters->count, types,
                                    (uint32_t)result_count)
            : NULL;
  const tfrt_ir_string_t* symbol = tfrt_ir_string_of(context, name);
  tfrt_ir_operation_t* function =
      type && symbol ? tfrt_ir_function_create(context, f->location, symbol, type) : NULL;
  f->builder->block = function ? tfrt_ir_block_create(context, &function->regions[0]) : NULL;
  if (!f->builder->block) return false;
  tfrt_ir_block_append(tfrt_ir_module_block(f->module), function);
  f->builder->function = ++f->builder->function_count;
  for (size_t i = 0; i < parameters->count; ++i) {
    char value_name[256];
    tfrt_onnx_value_name(parameters->names[i], value_name, sizeof(value_name));
    tfrt_onnx_entry_t* entry = tfrt_onnx_entry(f->builder, parameters->names[i]);
    entry->value = tfrt_ir_block_add_argument(context, f->builder->block, f->builder->tensor_type,
                                              tfrt_ir_string_of(context, value_name), f->location);
    entry->function = f->builder->function;
    if (!entry->value) return false;
  }
  return true;
}

// The value of |name| where it is no input of a node.
static tfrt_ir_value_t* value_of(functions_t* f, const char* name) {
  // A node that has nothing but this input.
  Onnx__NodeProto node;
  onnx__node_proto__init(&node);
  char* input = (char*)(uintptr_t)name;
  node.n_input = 1;
  node.input = &input;
  const Onnx__NodeProto* before = f->builder->node;
  f->builder->node = &node;
  f->builder->location = f->location;
  tfrt_ir_value_t* value = tfrt_onnx_input(f->builder, 0);
  f->builder->node = before;
  return value;
}

// Ends the function with the values of |names|.
static bool return_names(functions_t* f, const names_t* names) {
  tfrt_ir_value_t** values =
      tfrt_ir_context_allocate_array(f->builder->context, names->count, sizeof(*values));
  for (size_t i = 0; values && i < names->count; ++i) {
    values[i] = value_of(f, names->names[i]);
    if (!values[i]) return false;
  }
  return values && tfrt_onnx_return(f->builder, values, names->count);
}

// Converts all nodes.
static bool convert_nodes(functions_t* f) {
  for (size_t i = 0; i < f->graph->n_node; ++i) {
    tfrt_onnx_graph_enter_node(f->builder, f->graph, i);
    // Nodes behind a bad one would be reported for lacking its outputs.
    if (!f->builder->location || !tfrt_onnx_convert_node(f->builder)) return false;
  }
  return true;
}

// --- Parameters -------------------------------------------------------------------

static bool list_parameters(functions_t* f, names_t* out_names) {
  out_names->count = 0;
  out_names->names = tfrt_ir_context_allocate_array(f->builder->context, f->graph->n_input,
                                                    sizeof(*out_names->names));
  for (size_t i = 0; out_names->names && i < f->graph->n_input; ++i) {
    if (!tfrt_onnx_graph_is_parameter(f->builder, f->graph, i)) continue;
    out_names->names[out_names->count++] = f->graph->input[i]->name;
  }
  return out_names->names != NULL;
}

static bool list_outputs(functions_t* f, names_t* out_names) {
  out_names->count = f->graph->n_output;
  out_names->names = tfrt_ir_context_allocate_array(f->builder->context, f->graph->n_output,
                                                    sizeof(*out_names->names));
  for (size_t i = 0; out_names->names && i < f->graph->n_output; ++i) {
    out_names->names[i] = f->graph->output[i]->name;
  }
  return out_names->names != NULL;
}

// The attributes of the check of a parameter.
static bool set_check(functions_t* f, const Onnx__ValueInfoProto* info,
                      const tfrt_onnx_signature_t* signature, tfrt_onnx_setting_t settings[3]) {
  tfrt_ir_context_t* context = f->builder->context;
  const tfrt_ir_type_t* element = tfrt_onnx_element_type(context, signature->element_type);
  const tfrt_ir_attribute_t* dims[TFRT_ONNX_MAX_AXES];
  for (uint32_t i = 0; i < signature->rank; ++i) {
    dims[i] = tfrt_onnx_i64(f->builder, signature->dims[i]);
    if (!dims[i]) return false;
  }
  if (!element) {
    tfrt_diagnostics_report_at(f->builder->diagnostics, TFRT_SEVERITY_ERROR, NULL,
                               "the input '%s' is no tensor, or has elements of %s, which are not "
                               "supported",
                               info->name, tfrt_onnx_element_name(signature->element_type));
    return false;
  }
  settings[0] =
      (tfrt_onnx_setting_t){"dims", tfrt_ir_attribute_array(context, dims, signature->rank)};
  settings[1] = (tfrt_onnx_setting_t){"dtype", tfrt_ir_attribute_type(context, element)};
  settings[2] = (tfrt_onnx_setting_t){"name", tfrt_onnx_string(f->builder, info->name)};
  return settings[0].value && settings[1].value && settings[2].value;
}

// Lets each parameter be one that was checked.
static tfrt_status_t check_parameters(functions_t* f) {
  Onnx__NodeProto node;
  onnx__node_proto__init(&node);
  f->builder->node = &node;
  f->builder->location = f->location;
  for (size_t i = 0; i < f->graph->n_input; ++i) {
    const Onnx__ValueInfoProto* info = f->graph->input[i];
    tfrt_onnx_signature_t signature;
    tfrt_onnx_setting_t settings[3];
    if (!tfrt_onnx_graph_is_parameter(f->builder, f->graph, i)) continue;
    TFRT_RETURN_IF_ERROR(tfrt_onnx_signature_read(info, f->options, &signature));
    tfrt_onnx_entry_t* entry = tfrt_onnx_entry(f->builder, info->name);
    const tfrt_onnx_operands_t operands = {&entry->value, 1};
    if (!set_check(f, info, &signature, settings)) return tfrt_status_out_of_memory();
    // Without a known rank, any shape is taken.
    const char* op = signature.is_ranked ? "argument" : "argument_of_any_shape";
    entry->value = tfrt_onnx_make(f->builder, op, &operands, settings, 3, 1);
    if (!entry->value) return tfrt_status_out_of_memory();
  }
  return NULL;
}

// --- One host -----------------------------------------------------------------------

// The error of a step that returned false.
static tfrt_status_t failure(const functions_t* f) {
  tfrt_status_t status = tfrt_diagnostics_status(f->builder->diagnostics);
  return status ? status : tfrt_status_out_of_memory();
}

// |status| (+1), or what was reported before it.
static tfrt_status_t reported(const functions_t* f, tfrt_status_t status) {
  if (!status) return NULL;
  tfrt_status_t first = tfrt_diagnostics_status(f->builder->diagnostics);
  if (!first) return status;
  tfrt_status_release(status);
  return first;
}

// The function |name| with the whole graph.
static tfrt_status_t build_whole(functions_t* f, const char* name, bool checks) {
  names_t parameters, outputs;
  if (!list_parameters(f, &parameters) || !list_outputs(f, &outputs) ||
      !begin_function(f, name, &parameters, outputs.count)) {
    return failure(f);
  }
  if (checks) TFRT_RETURN_IF_ERROR(reported(f, check_parameters(f)));
  if (!convert_nodes(f) || !return_names(f, &outputs)) return failure(f);
  return NULL;
}

// --- Several hosts ------------------------------------------------------------------

// Makes a call of |callee| on host |host|; returns the first result.
static tfrt_ir_value_t* make_call(functions_t* f, const char* callee, uint32_t host,
                                  tfrt_ir_value_t** arguments, size_t argument_count,
                                  size_t result_count) {
  tfrt_ir_context_t* context = f->builder->context;
  const tfrt_ir_string_t* symbol = tfrt_ir_string_of(context, callee);
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(context, result_count, sizeof(*types));
  if (!symbol || !types) return NULL;
  for (size_t i = 0; i < result_count; ++i) types[i] = f->builder->tensor_type;
  const tfrt_ir_named_attribute_t attributes[] = {
      {tfrt_ir_string_of(context, "callee"), tfrt_ir_attribute_symbol(context, &symbol, 1)},
      {tfrt_ir_string_of(context, "host"),
       tfrt_ir_attribute_integer(context, tfrt_ir_type_integer(context, 32, TFRT_IR_SIGNLESS),
                                 host)},
  };
  const tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(context, "tfrt.call"),
      .descriptor = tfrt_op_index_find(f->builder->ops, tfrt_string_view_of("tfrt.call")),
      .location = f->location,
      .operands = arguments,
      .operand_count = (uint32_t)argument_count,
      .result_types = types,
      .result_count = (uint32_t)result_count,
      .attributes = attributes,
      .attribute_count = TFRT_ARRAY_SIZE(attributes)};
  bool is_whole = parts.name && attributes[0].name && attributes[0].value && attributes[1].name &&
                  attributes[1].value;
  tfrt_ir_operation_t* operation = is_whole ? tfrt_ir_operation_create(context, &parts) : NULL;
  if (operation) tfrt_ir_block_append(f->builder->block, operation);
  return operation ? &operation->results[0] : NULL;
}

// --- Data: parts of a batch ---------------------------------------------------------

// Cuts |x| into a part for each host.
static tfrt_ir_value_t* cut(functions_t* f, tfrt_ir_value_t* x) {
  const tfrt_onnx_operands_t operands = {&x, 1};
  return tfrt_onnx_make(f->builder, "split", &operands, NULL, 0, f->options->host_count);
}

static bool join_results(functions_t* f, tfrt_ir_value_t** calls, size_t output_count) {
  uint32_t hosts = f->options->host_count;
  tfrt_ir_value_t** joined =
      tfrt_ir_context_allocate_array(f->builder->context, output_count, sizeof(*joined));
  tfrt_ir_value_t** parts =
      tfrt_ir_context_allocate_array(f->builder->context, hosts, sizeof(*parts));
  for (size_t i = 0; joined && parts && i < output_count; ++i) {
    for (uint32_t h = 0; h < hosts; ++h) parts[h] = calls[h] + i;
    const tfrt_onnx_operands_t operands = {parts, hosts};
    joined[i] = tfrt_onnx_make(f->builder, "concat", &operands, NULL, 0, 1);
    if (!joined[i]) return false;
  }
  return joined && parts && tfrt_onnx_return(f->builder, joined, output_count);
}

static tfrt_status_t build_data(functions_t* f) {
  Onnx__NodeProto node;
  names_t parameters, outputs;
  uint32_t hosts = f->options->host_count;
  TFRT_RETURN_IF_ERROR(build_whole(f, "replica", false));
  if (!list_parameters(f, &parameters) || !list_outputs(f, &outputs) ||
      !begin_function(f, "main", &parameters, outputs.count)) {
    return failure(f);
  }
  TFRT_RETURN_IF_ERROR(reported(f, check_parameters(f)));
  onnx__node_proto__init(&node);
  f->builder->node = &node;
  tfrt_ir_context_t* context = f->builder->context;
  tfrt_ir_value_t** parts =
      tfrt_ir_context_allocate_array(context, parameters.count, sizeof(*parts));
  tfrt_ir_value_t** arguments =
      tfrt_ir_context_allocate_array(context, parameters.count, sizeof(*arguments));
  tfrt_ir_value_t** calls = tfrt_ir_context_allocate_array(context, hosts, sizeof(*calls));
  if (!parts || !arguments || !calls) return failure(f);
  for (size_t i = 0; i < parameters.count; ++i) {
    parts[i] = cut(f, tfrt_onnx_entry(f->builder, parameters.names[i])->value);
    if (!parts[i]) return failure(f);
  }
  for (uint32_t h = 0; h < hosts; ++h) {
    for (size_t i = 0; i < parameters.count; ++i) arguments[i] = parts[i] + h;
    calls[h] = make_call(f, "replica", h, arguments, parameters.count, outputs.count);
    if (!calls[h]) return failure(f);
  }
  return join_results(f, calls, outputs.count) ? NULL : failure(f);
}

tfrt_status_t tfrt_onnx_functions_build(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                                        const tfrt_onnx_options_t* options,
                                        tfrt_ir_operation_t** out_module) {
  functions_t f = {.builder = builder,
                   .graph = graph,
                   .options = options,
                   .location = tfrt_ir_location_file(builder->context, builder->file, 1, 1)};
  f.module = f.location ? tfrt_ir_module_create(builder->context, f.location) : NULL;
  if (!f.module) return tfrt_status_out_of_memory();
  builder->module = f.module;
  tfrt_status_t status;
  if (options->split == TFRT_ONNX_SPLIT_DATA && options->host_count > 1) {
    status = build_data(&f);
  } else {
    status = build_whole(&f, "main", true);
  }
  if (!status) *out_module = f.module;
  return status;
}
