// SPDX-License-Identifier: Apache-2.0
//
// Converters of the kinds of nodes. Most kinds have an op of the same meaning and the same
// attributes. The others differ between versions of the operator set: the op has the newest form,
// and attributes that became inputs are made constants here.
#include <stdio.h>
#include <string.h>

#include "compiler/onnx/onnx_branch.h"
#include "compiler/onnx/onnx_builder.h"
#include "compiler/onnx/onnx_composites.h"
#include "compiler/onnx/onnx_model.h"

typedef tfrt_ir_value_t* value_t;
typedef bool (*convert_fn_t)(tfrt_onnx_builder_t* builder, const char* op);

// --- Parts ------------------------------------------------------------------------

// The operands that the node has; more may be added behind them.
typedef struct inputs_s {
  value_t values[TFRT_ONNX_MAX_POSITIONS];
  uint32_t count;
} inputs_t;

// Takes the node's inputs; false if one of them is no value.
static bool take_inputs(tfrt_onnx_builder_t* builder, inputs_t* inputs) {
  size_t count = builder->node->n_input;
  *inputs = (inputs_t){.count = 0};
  if (count > TFRT_ONNX_MAX_POSITIONS) {
    tfrt_onnx_report(builder, "it has %zu inputs", count);
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    inputs->values[i] = tfrt_onnx_input(builder, i);
    if (!inputs->values[i] && builder->node->input[i][0]) return false;
    if (inputs->values[i]) inputs->count = (uint32_t)i + 1;
  }
  return true;
}

// Puts the numbers of the attribute |name| where input |index| is in newer versions.
static bool attribute_to_input(tfrt_onnx_builder_t* builder, const char* name, uint32_t index,
                               inputs_t* inputs) {
  const Onnx__AttributeProto* attribute = tfrt_onnx_attribute(builder, name, TFRT_ONNX_INTS);
  if (!attribute || inputs->count > index) return true;
  inputs->values[index] = tfrt_onnx_numbers(builder, attribute->ints, attribute->n_ints);
  inputs->count = index + 1;
  return inputs->values[index] != NULL;
}

// The same for an attribute of one float.
static bool float_to_input(tfrt_onnx_builder_t* builder, const char* name, uint32_t index,
                           inputs_t* inputs) {
  const Onnx__AttributeProto* attribute = tfrt_onnx_attribute(builder, name, TFRT_ONNX_FLOAT);
  if (!attribute || inputs->count > index) return true;
  inputs->values[index] = tfrt_onnx_floats(builder, &attribute->f, 1, true);
  inputs->count = index + 1;
  return inputs->values[index] != NULL;
}

// Makes |op| on |inputs| and lets its results be all outputs of the node.
static bool make_outputs(tfrt_onnx_builder_t* builder, const char* op, inputs_t* inputs,
                         const tfrt_onnx_setting_t* settings, size_t setting_count) {
  const tfrt_onnx_operands_t operands = {inputs->values, inputs->count};
  uint32_t count = (uint32_t)builder->node->n_output;
  value_t first = tfrt_onnx_make(builder, op, &operands, settings, setting_count, count);
  for (uint32_t i = 0; first && i < count; ++i) tfrt_onnx_define(builder, i, first + i);
  return first != NULL;
}

// --- Converters -------------------------------------------------------------------

static bool convert_plain(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  return take_inputs(builder, &inputs) && make_outputs(builder, op, &inputs, NULL, 0);
}

// Any number of inputs of one kind.
static bool convert_variadic(tfrt_onnx_builder_t* builder, const char* op) {
  size_t count = builder->node->n_input;
  value_t* values = tfrt_ir_context_allocate_array(builder->context, count + 1, sizeof(*values));
  const tfrt_onnx_operands_t operands = {values, (uint32_t)count};
  for (size_t i = 0; values && i < count; ++i) {
    values[i] = tfrt_onnx_input(builder, i);
    if (!values[i]) return false;
  }
  value_t result = values ? tfrt_onnx_make(builder, op, &operands, NULL, 0, 1) : NULL;
  tfrt_onnx_define(builder, 0, result);
  return result != NULL;
}

static bool convert_axes(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  return take_inputs(builder, &inputs) && attribute_to_input(builder, "axes", 1, &inputs) &&
         make_outputs(builder, op, &inputs, NULL, 0);
}

static bool convert_shape_attribute(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  return take_inputs(builder, &inputs) && attribute_to_input(builder, "shape", 1, &inputs) &&
         make_outputs(builder, op, &inputs, NULL, 0);
}

static bool convert_slice(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  return take_inputs(builder, &inputs) && attribute_to_input(builder, "starts", 1, &inputs) &&
         attribute_to_input(builder, "ends", 2, &inputs) &&
         attribute_to_input(builder, "axes", 3, &inputs) &&
         make_outputs(builder, op, &inputs, NULL, 0);
}

static bool convert_split(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  return take_inputs(builder, &inputs) && attribute_to_input(builder, "split", 1, &inputs) &&
         make_outputs(builder, op, &inputs, NULL, 0);
}

static bool convert_pad(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  return take_inputs(builder, &inputs) && attribute_to_input(builder, "pads", 1, &inputs) &&
         float_to_input(builder, "value", 2, &inputs) &&
         make_outputs(builder, op, &inputs, NULL, 0);
}

static bool convert_clip(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  return take_inputs(builder, &inputs) && float_to_input(builder, "min", 1, &inputs) &&
         float_to_input(builder, "max", 2, &inputs) && make_outputs(builder, op, &inputs, NULL, 0);
}

static bool convert_top_k(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  if (!take_inputs(builder, &inputs)) return false;
  const Onnx__AttributeProto* k = tfrt_onnx_attribute(builder, "k", TFRT_ONNX_INT);
  if (k && inputs.count == 1) inputs.values[inputs.count++] = tfrt_onnx_numbers(builder, &k->i, 1);
  return make_outputs(builder, op, &inputs, NULL, 0);
}

// Before version 13, the axes from `axis` on were one.
static bool convert_softmax(tfrt_onnx_builder_t* builder, const char* op) {
  if (builder->opset >= 13) return convert_plain(builder, op);
  const Onnx__AttributeProto* axis = tfrt_onnx_attribute(builder, "axis", TFRT_ONNX_INT);
  const tfrt_onnx_setting_t flat = {"axis", tfrt_onnx_i64(builder, axis ? axis->i : 1)};
  const tfrt_onnx_setting_t last = {"axis", tfrt_onnx_i64(builder, -1)};
  value_t x = tfrt_onnx_input(builder, 0);
  value_t shape = tfrt_onnx_make_one(builder, "shape", x, NULL, NULL, 0);
  value_t matrix = tfrt_onnx_make_one(builder, "flatten", x, NULL, &flat, 1);
  value_t result = tfrt_onnx_make_one(builder, op, matrix, NULL, &last, 1);
  value_t back = tfrt_onnx_make_one(builder, "reshape", result, shape, NULL, 0);
  tfrt_onnx_define(builder, 0, back);
  return back != NULL;
}

// The elements of an attribute of the node `Constant`, all but a tensor; NULL if it has none.
static value_t constant_of_numbers(tfrt_onnx_builder_t* builder) {
  const Onnx__NodeProto* node = builder->node;
  const Onnx__AttributeProto* attribute = node->n_attribute == 1 ? node->attribute[0] : NULL;
  if (!attribute) return NULL;
  if (strcmp(attribute->name, "value_float") == 0) {
    return tfrt_onnx_floats(builder, &attribute->f, 1, true);
  }
  if (strcmp(attribute->name, "value_floats") == 0) {
    return tfrt_onnx_floats(builder, attribute->floats, attribute->n_floats, false);
  }
  if (strcmp(attribute->name, "value_ints") == 0) {
    return tfrt_onnx_numbers(builder, attribute->ints, attribute->n_ints);
  }
  if (strcmp(attribute->name, "value_int") != 0) return NULL;
  return tfrt_onnx_number(builder, attribute->i);
}

// The tensor that is the attribute |name|, as a constant.
static value_t constant_of_tensor(tfrt_onnx_builder_t* builder, const char* name) {
  const tfrt_ir_attribute_t* value;
  const Onnx__AttributeProto* attribute = tfrt_onnx_attribute(builder, name, TFRT_ONNX_TENSOR);
  if (!attribute || !attribute->t) return NULL;
  tfrt_status_t status =
      tfrt_onnx_tensor_attribute(builder->context, attribute->t, builder->directory, &value);
  if (!status) return tfrt_onnx_constant(builder, value);
  tfrt_onnx_report(builder, "%s", tfrt_status_message(status));
  tfrt_status_release(status);
  return NULL;
}

static bool convert_constant(tfrt_onnx_builder_t* builder, const char* op) {
  (void)op;
  size_t errors = builder->diagnostics->error_count;
  value_t value = constant_of_tensor(builder, "value");
  if (!value && errors == builder->diagnostics->error_count) value = constant_of_numbers(builder);
  if (!value && errors == builder->diagnostics->error_count) {
    tfrt_onnx_report(builder, "its value is of a kind that is not supported");
  }
  tfrt_onnx_define(builder, 0, value);
  return value != NULL;
}

static bool convert_constant_of_shape(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  if (!take_inputs(builder, &inputs)) return false;
  value_t value = constant_of_tensor(builder, "value");
  if (value && inputs.count == 1) inputs.values[inputs.count++] = value;
  return make_outputs(builder, op, &inputs, NULL, 0);
}

// Without a dtype, that of the operand.
static bool convert_eye_like(tfrt_onnx_builder_t* builder, const char* op) {
  if (tfrt_onnx_attribute(builder, "dtype", TFRT_ONNX_INT)) return convert_plain(builder, op);
  const tfrt_ir_type_t* f32 = tfrt_ir_type_float(builder->context, tfrt_string_view_of("f32"));
  const tfrt_onnx_setting_t dtype = {"dtype", tfrt_ir_attribute_type(builder->context, f32)};
  value_t x = tfrt_onnx_input(builder, 0);
  value_t eye = tfrt_onnx_make_one(builder, op, x, NULL, &dtype, 1);
  value_t result = tfrt_onnx_make_one(builder, "cast_like", eye, x, NULL, 0);
  tfrt_onnx_define(builder, 0, result);
  return result != NULL;
}

static bool convert_group_normalization(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  const tfrt_onnx_setting_t setting = {"per_group", tfrt_onnx_i64(builder, builder->opset < 21)};
  return take_inputs(builder, &inputs) && make_outputs(builder, op, &inputs, &setting, 1);
}

// The forms of version 10 and before have only scales, and take the pixel at or before a place.
static bool convert_old_resize(tfrt_onnx_builder_t* builder, const char* op) {
  inputs_t inputs;
  if (!take_inputs(builder, &inputs)) return false;
  const Onnx__AttributeProto* scales = tfrt_onnx_attribute(builder, "scales", TFRT_ONNX_FLOATS);
  value_t given = inputs.count > 1 ? inputs.values[1] : NULL;
  if (!given && scales) given = tfrt_onnx_floats(builder, scales->floats, scales->n_floats, false);
  inputs.values[1] = NULL;
  inputs.values[2] = given;
  inputs.count = 3;
  const tfrt_onnx_setting_t settings[] = {
      {"coordinate_transformation_mode", tfrt_onnx_string(builder, "asymmetric")},
      {"nearest_mode", tfrt_onnx_string(builder, "floor")},
  };
  return given && make_outputs(builder, op, &inputs, settings, TFRT_ARRAY_SIZE(settings));
}

static bool convert_resize(tfrt_onnx_builder_t* builder, const char* op) {
  if (builder->opset < 11 || strcmp(builder->node->op_type, "Upsample") == 0) {
    return convert_old_resize(builder, op);
  }
  return convert_plain(builder, op);
}

static bool convert_dropout(tfrt_onnx_builder_t* builder, const char* op) {
  // Before version 12 the ratio is an attribute, and nothing is dropped anyway.
  return convert_plain(builder, op);
}

// (x - mean) / sqrt(variance), over all axes but the second.
static bool convert_mean_variance(tfrt_onnx_builder_t* builder, const char* op) {
  (void)op;
  static const int64_t standard[] = {0, 2, 3};
  const float epsilon = 1e-9f;
  const Onnx__AttributeProto* given = tfrt_onnx_attribute(builder, "axes", TFRT_ONNX_INTS);
  value_t axes = given ? tfrt_onnx_numbers(builder, given->ints, given->n_ints)
                       : tfrt_onnx_numbers(builder, standard, TFRT_ARRAY_SIZE(standard));
  value_t x = tfrt_onnx_input(builder, 0);
  value_t mean = axes ? tfrt_onnx_make_one(builder, "reduce_mean", x, axes, NULL, 0) : NULL;
  value_t centred = tfrt_onnx_make_one(builder, "sub", x, mean, NULL, 0);
  value_t squares = tfrt_onnx_make_one(builder, "mul", centred, centred, NULL, 0);
  value_t variance = tfrt_onnx_make_one(builder, "reduce_mean", squares, axes, NULL, 0);
  value_t deviation = tfrt_onnx_make_one(builder, "sqrt", variance, NULL, NULL, 0);
  value_t little = tfrt_onnx_floats(builder, &epsilon, 1, true);
  value_t divisor = little ? tfrt_onnx_make_one(builder, "add", deviation, little, NULL, 0) : NULL;
  value_t result = divisor ? tfrt_onnx_make_one(builder, "div", centred, divisor, NULL, 0) : NULL;
  tfrt_onnx_define(builder, 0, result);
  return result != NULL;
}

// --- The table --------------------------------------------------------------------

// Attributes, beside the op's own, that a converter reads or that mean nothing when a network only
// answers, in words separated by blanks.
static const struct {
  const char* op_type;
  const char* op;
  convert_fn_t convert;  // NULL: convert_plain()
  const char* also;      // NULL: none
} conversions[] = {
#include "compiler/onnx/onnx_node_table.inc"
};

static const size_t conversion_count = TFRT_ARRAY_SIZE(conversions);

static size_t find_conversion(const char* op_type) {
  size_t i = 0;
  while (i < conversion_count && strcmp(conversions[i].op_type, op_type) != 0) ++i;
  return i;
}

const char* tfrt_onnx_op_name(const char* op_type) {
  size_t i = find_conversion(op_type);
  return i < conversion_count ? conversions[i].op : NULL;
}

// Whether the blank-separated |words| have |name|.
static bool has_word(const char* words, const char* name) {
  size_t size = strlen(name);
  if (size == 0) return false;
  for (const char* at = words; at && (at = strstr(at, name)) != NULL; at += size) {
    bool begins = at == words || at[-1] == ' ';
    if (begins && (at[size] == ' ' || at[size] == '\0')) return true;
  }
  return false;
}

// An attribute that nobody reads could change what the node means.
static bool check_attributes(tfrt_onnx_builder_t* builder, size_t conversion) {
  char name[64];
  snprintf(name, sizeof(name), "tfrt_nn.%s", conversions[conversion].op);
  const tfrt_kernel_descriptor_t* op = tfrt_op_index_find(builder->ops, tfrt_string_view_of(name));
  for (size_t i = 0; i < builder->node->n_attribute; ++i) {
    const Onnx__AttributeProto* attribute = builder->node->attribute[i];
    bool is_known = has_word(conversions[conversion].also, attribute->name);
    for (uint32_t a = 0; op && a < op->attribute_count && !is_known; ++a) {
      is_known = strcmp(op->attributes[a].name, attribute->name) == 0;
    }
    if (attribute->ref_attr_name && attribute->ref_attr_name[0]) is_known = false;
    if (is_known) continue;
    tfrt_onnx_report(builder, "its attribute '%s' is not supported", attribute->name);
    return false;
  }
  return true;
}

bool tfrt_onnx_convert_node(tfrt_onnx_builder_t* builder) {
  size_t i = find_conversion(builder->node->op_type);
  if (i == conversion_count) {
    // Those of the outermost graph are reported before anything is made.
    tfrt_onnx_report(builder, "the operator %s is not supported", builder->node->op_type);
    return false;
  }
  if (builder->node->n_output == 0) {
    tfrt_onnx_report(builder, "it has no outputs");
    return false;
  }
  if (!check_attributes(builder, i)) return false;
  convert_fn_t convert = conversions[i].convert ? conversions[i].convert : convert_plain;
  return convert(builder, conversions[i].op);
}
