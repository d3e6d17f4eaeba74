// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/onnx/onnx_model.h"
#include "host_runtime/base/number_text.h"

#define MAX_ATTRIBUTES 16

void tfrt_onnx_report(tfrt_onnx_builder_t* builder, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(text, sizeof(text), format, arguments);
  va_end(arguments);
  const Onnx__NodeProto* node = builder->node;
  tfrt_diagnostics_report_at(builder->diagnostics, TFRT_SEVERITY_ERROR, builder->location,
                             "node %zu%s%s%s, %s: %s", builder->node_number,
                             node->name[0] ? " '" : "", node->name, node->name[0] ? "'" : "",
                             node->op_type, text);
}

tfrt_onnx_entry_t* tfrt_onnx_entry(tfrt_onnx_builder_t* builder, const char* name) {
  const tfrt_ir_string_t* string = tfrt_ir_string_of(builder->context, name);
  return string ? string->meaning : NULL;
}

const Onnx__AttributeProto* tfrt_onnx_attribute(tfrt_onnx_builder_t* builder, const char* name,
                                                int32_t type) {
  for (size_t i = 0; i < builder->node->n_attribute; ++i) {
    const Onnx__AttributeProto* attribute = builder->node->attribute[i];
    if (strcmp(attribute->name, name) != 0) continue;
    // Files of the first version leave types out.
    if (!attribute->has_type || attribute->type == type) return attribute;
    tfrt_onnx_report(builder, "its attribute '%s' has the type %d instead of %d", name,
                     attribute->type, type);
  }
  return NULL;
}

// --- Constants --------------------------------------------------------------------

tfrt_ir_value_t* tfrt_onnx_constant(tfrt_onnx_builder_t* builder,
                                    const tfrt_ir_attribute_t* value) {
  const tfrt_onnx_setting_t setting = {"value", value};
  const tfrt_onnx_operands_t none = {.count = 0};
  if (!value) return NULL;
  builder->weight_bytes += value->size;
  return tfrt_onnx_make(builder, "constant", &none, &setting, 1, 1);
}

static tfrt_ir_value_t* constant_of(tfrt_onnx_builder_t* builder, const tfrt_ir_type_t* element,
                                    const void* numbers, size_t count, size_t size,
                                    bool is_scalar) {
  const int64_t length = (int64_t)count;
  const tfrt_ir_type_t* type = tfrt_ir_type_shaped(builder->context, TFRT_IR_TYPE_TENSOR, true,
                                                   &length, is_scalar ? 0 : 1, element, NULL);
  if (!type) return NULL;
  return tfrt_onnx_constant(builder,
                            tfrt_ir_attribute_dense(builder->context, type, numbers, count * size));
}

tfrt_ir_value_t* tfrt_onnx_numbers(tfrt_onnx_builder_t* builder, const int64_t* numbers,
                                   size_t count) {
  return constant_of(builder, tfrt_ir_type_integer(builder->context, 64, TFRT_IR_SIGNLESS), numbers,
                     count, sizeof(int64_t), false);
}

tfrt_ir_value_t* tfrt_onnx_floats(tfrt_onnx_builder_t* builder, const float* numbers, size_t count,
                                  bool is_scalar) {
  return constant_of(builder, tfrt_ir_type_float(builder->context, tfrt_string_view_of("f32")),
                     numbers, count, sizeof(float), is_scalar);
}

tfrt_ir_value_t* tfrt_onnx_number(tfrt_onnx_builder_t* builder, int64_t number) {
  return constant_of(builder, tfrt_ir_type_integer(builder->context, 64, TFRT_IR_SIGNLESS), &number,
                     1, sizeof(number), true);
}

tfrt_ir_value_t* tfrt_onnx_truth(tfrt_onnx_builder_t* builder) {
  const uint8_t truth = 1;
  return constant_of(builder, tfrt_ir_type_integer(builder->context, 1, TFRT_IR_SIGNLESS), &truth,
                     1, sizeof(truth), true);
}

// --- Values -----------------------------------------------------------------------

// Makes the constant that |entry| is in the function that is built.
static tfrt_ir_value_t* materialize(tfrt_onnx_builder_t* builder, tfrt_onnx_entry_t* entry) {
  const tfrt_ir_attribute_t* value;
  tfrt_status_t status =
      tfrt_onnx_tensor_attribute(builder->context, entry->constant, builder->directory, &value);
  if (status) {
    tfrt_onnx_report(builder, "%s", tfrt_status_message(status));
    tfrt_status_release(status);
    return NULL;
  }
  entry->value = tfrt_onnx_constant(builder, value);
  entry->function = builder->function;
  return entry->value;
}

tfrt_ir_value_t* tfrt_onnx_input(tfrt_onnx_builder_t* builder, size_t index) {
  if (index >= builder->node->n_input || !builder->node->input[index][0]) return NULL;
  const char* name = builder->node->input[index];
  tfrt_onnx_entry_t* entry = tfrt_onnx_entry(builder, name);
  if (entry && entry->function == builder->function) return entry->value;
  if (entry && entry->constant) return materialize(builder, entry);
  tfrt_onnx_report(builder, "its input '%s' is made by no node before it", name);
  return NULL;
}

void tfrt_onnx_define(tfrt_onnx_builder_t* builder, size_t index, tfrt_ir_value_t* value) {
  if (index >= builder->node->n_output || !builder->node->output[index][0]) return;
  tfrt_onnx_entry_t* entry = tfrt_onnx_entry(builder, builder->node->output[index]);
  if (!entry) return;
  entry->value = value;
  entry->function = builder->function;
}

// --- Attributes -------------------------------------------------------------------

const tfrt_ir_attribute_t* tfrt_onnx_i64(tfrt_onnx_builder_t* builder, int64_t value) {
  return tfrt_ir_attribute_integer(
      builder->context, tfrt_ir_type_integer(builder->context, 64, TFRT_IR_SIGNLESS), value);
}

const tfrt_ir_attribute_t* tfrt_onnx_string(tfrt_onnx_builder_t* builder, const char* text) {
  return tfrt_ir_attribute_string(builder->context, tfrt_string_view_of(text), NULL);
}

static const tfrt_ir_attribute_t* f32_attribute(tfrt_onnx_builder_t* builder, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return tfrt_ir_attribute_float_bits(
      builder->context, tfrt_ir_type_float(builder->context, tfrt_string_view_of("f32")), bits);
}

// An array of |count| numbers: |ints|, or |floats| if that is NULL.
static const tfrt_ir_attribute_t* array_attribute(tfrt_onnx_builder_t* builder, const int64_t* ints,
                                                  const float* floats, size_t count) {
  // More than any op looks at; the op table's checks say so.
  if (count > 4096) return NULL;
  const tfrt_ir_attribute_t** elements =
      tfrt_ir_context_allocate_array(builder->context, count, sizeof(*elements));
  for (size_t i = 0; elements && i < count; ++i) {
    elements[i] = ints ? tfrt_onnx_i64(builder, ints[i]) : f32_attribute(builder, floats[i]);
  }
  return elements ? tfrt_ir_attribute_array(builder->context, elements, (uint32_t)count) : NULL;
}

// Names, separated by commas.
static const tfrt_ir_attribute_t* joined_attribute(tfrt_onnx_builder_t* builder,
                                                   const Onnx__AttributeProto* attribute) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  for (size_t i = 0; i < attribute->n_strings; ++i) {
    if (i > 0) tfrt_string_builder_append_text(&text, ",");
    tfrt_string_builder_append(&text, attribute->strings[i].data, attribute->strings[i].len);
  }
  const tfrt_ir_attribute_t* result = tfrt_ir_attribute_string(
      builder->context, tfrt_string_view_make(tfrt_string_builder_text(&text), text.size), NULL);
  tfrt_string_builder_deinitialize(&text);
  return result;
}

// The op table's default for the attribute |entry|.
static const tfrt_ir_attribute_t* standard_attribute(tfrt_onnx_builder_t* builder,
                                                     const tfrt_attribute_descriptor_t* entry) {
  const char* text = entry->default_value;
  if (!text) {
    tfrt_onnx_report(builder, "its attribute '%s' is missing", entry->name);
    return NULL;
  }
  int64_t number = 0;
  switch (entry->kind) {
    case TFRT_ATTRIBUTE_I64:
      tfrt_number_text_parse_i64(tfrt_string_view_of(text), &number);
      return tfrt_onnx_i64(builder, number);
    case TFRT_ATTRIBUTE_F32:
      return f32_attribute(builder, tfrt_number_text_parse_f32(text, NULL));
    case TFRT_ATTRIBUTE_STRING:
      return tfrt_ir_attribute_string(builder->context,
                                      tfrt_string_view_make(text + 1, strlen(text) - 2), NULL);
    default:
      // Lists are empty then.
      return tfrt_ir_attribute_array(builder->context, NULL, 0);
  }
}

static const tfrt_ir_attribute_t* dtype_attribute(tfrt_onnx_builder_t* builder, int64_t number) {
  const tfrt_ir_type_t* type =
      number > 0 && number < 32 ? tfrt_onnx_element_type(builder->context, (int32_t)number) : NULL;
  if (type) return tfrt_ir_attribute_type(builder->context, type);
  tfrt_onnx_report(builder, "elements of %s are not supported",
                   tfrt_onnx_element_name(number > 0 && number < 32 ? (int32_t)number : 0));
  return NULL;
}

// The node's attribute of the name and kind of |entry|, or the standard one.
static const tfrt_ir_attribute_t* node_attribute(tfrt_onnx_builder_t* builder,
                                                 const tfrt_attribute_descriptor_t* entry) {
  static const struct {
    tfrt_attribute_kind_t kind;
    int32_t type;
  } types[] = {
      {TFRT_ATTRIBUTE_I64, TFRT_ONNX_INT},        {TFRT_ATTRIBUTE_TYPE, TFRT_ONNX_INT},
      {TFRT_ATTRIBUTE_F32, TFRT_ONNX_FLOAT},      {TFRT_ATTRIBUTE_STRING, TFRT_ONNX_STRING},
      {TFRT_ATTRIBUTE_I64_ARRAY, TFRT_ONNX_INTS}, {TFRT_ATTRIBUTE_F32_ARRAY, TFRT_ONNX_FLOATS},
  };
  int32_t type = 0;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(types); ++i) {
    if (types[i].kind == entry->kind) type = types[i].type;
  }
  // The one list of strings that there is.
  bool is_list = strcmp(entry->name, "activations") == 0;
  const Onnx__AttributeProto* attribute =
      tfrt_onnx_attribute(builder, entry->name, is_list ? TFRT_ONNX_STRINGS : type);
  if (!attribute) return standard_attribute(builder, entry);
  if (is_list) return joined_attribute(builder, attribute);
  switch (entry->kind) {
    case TFRT_ATTRIBUTE_I64:
      return tfrt_onnx_i64(builder, attribute->i);
    case TFRT_ATTRIBUTE_TYPE:
      return dtype_attribute(builder, attribute->i);
    case TFRT_ATTRIBUTE_F32:
      return f32_attribute(builder, attribute->f);
    case TFRT_ATTRIBUTE_STRING:
      return tfrt_ir_attribute_string(
          builder->context, tfrt_string_view_make((const char*)attribute->s.data, attribute->s.len),
          NULL);
    default:
      return array_attribute(builder, attribute->ints, attribute->floats,
                             attribute->ints ? attribute->n_ints : attribute->n_floats);
  }
}

// --- Ops --------------------------------------------------------------------------

// The attribute `present` for |operands|: -1 where none is left out before another.
static int64_t present_mask(const tfrt_onnx_operands_t* operands) {
  int64_t mask = 0;
  bool has_gap = false;
  bool is_missing = false;
  for (uint32_t i = 0; i < operands->count; ++i) {
    if (operands->values[i]) {
      has_gap |= is_missing;
      if (i < TFRT_ONNX_MAX_POSITIONS) mask |= (int64_t)1 << i;
    } else {
      is_missing = true;
    }
  }
  return has_gap ? mask : -1;
}

// Sets |attributes| for all that the op |descriptor| has; returns how many, or -1.
static int list_attributes(tfrt_onnx_builder_t* builder, const tfrt_kernel_descriptor_t* descriptor,
                           const tfrt_onnx_operands_t* operands,
                           const tfrt_onnx_setting_t* settings, size_t setting_count,
                           tfrt_ir_named_attribute_t* attributes) {
  int64_t mask = present_mask(operands);
  bool has_mask = false;
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &descriptor->attributes[i];
    const tfrt_ir_attribute_t* value = NULL;
    bool is_mask = strcmp(entry->name, "present") == 0;
    has_mask |= is_mask;
    for (size_t s = 0; s < setting_count; ++s) {
      if (strcmp(settings[s].name, entry->name) == 0) value = settings[s].value;
    }
    if (!value) value = is_mask ? tfrt_onnx_i64(builder, mask) : node_attribute(builder, entry);
    attributes[i].name = tfrt_ir_string_of(builder->context, entry->name);
    attributes[i].value = value;
    if (!value || !attributes[i].name) return -1;
  }
  if (mask == -1 || has_mask) return (int)descriptor->attribute_count;
  tfrt_onnx_report(builder, "an input is left out that must be there");
  return -1;
}

tfrt_ir_value_t* tfrt_onnx_make(tfrt_onnx_builder_t* builder, const char* op,
                                const tfrt_onnx_operands_t* operands,
                                const tfrt_onnx_setting_t* settings, size_t setting_count,
                                uint32_t result_count) {
  char name[64];
  tfrt_ir_named_attribute_t attributes[MAX_ATTRIBUTES];
  snprintf(name, sizeof(name), "tfrt_nn.%s", op);
  const tfrt_kernel_descriptor_t* descriptor =
      tfrt_op_index_find(builder->ops, tfrt_string_view_of(name));
  if (!descriptor || descriptor->attribute_count > MAX_ATTRIBUTES) {
    tfrt_onnx_report(builder, "there is no op '%s'", name);
    return NULL;
  }
  int count = list_attributes(builder, descriptor, operands, settings, setting_count, attributes);
  tfrt_ir_value_t** values =
      tfrt_ir_context_allocate_array(builder->context, operands->count + 1, sizeof(*values));
  const tfrt_ir_type_t** types =
      tfrt_ir_context_allocate_array(builder->context, result_count, sizeof(*types));
  if (count < 0 || !values || !types) return NULL;
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(builder->context, name),
                                     .descriptor = descriptor,
                                     .location = builder->location,
                                     .operands = values,
                                     .result_types = types,
                                     .attributes = attributes,
                                     .attribute_count = (uint32_t)count,
                                     .result_count = result_count};
  for (uint32_t i = 0; i < operands->count; ++i) {
    if (operands->values[i]) values[parts.operand_count++] = operands->values[i];
  }
  for (uint32_t i = 0; i < result_count; ++i) types[i] = builder->tensor_type;
  tfrt_ir_operation_t* operation =
      parts.name ? tfrt_ir_operation_create(builder->context, &parts) : NULL;
  if (!operation) return NULL;
  tfrt_ir_block_append(builder->block, operation);
  ++builder->op_count;
  return &operation->results[0];
}

tfrt_ir_value_t* tfrt_onnx_make_one(tfrt_onnx_builder_t* builder, const char* op,
                                    tfrt_ir_value_t* a, tfrt_ir_value_t* b,
                                    const tfrt_onnx_setting_t* settings, size_t setting_count) {
  tfrt_ir_value_t* values[2] = {a, b};
  const tfrt_onnx_operands_t operands = {values, b ? 2 : 1};
  return a ? tfrt_onnx_make(builder, op, &operands, settings, setting_count, 1) : NULL;
}

bool tfrt_onnx_return(tfrt_onnx_builder_t* builder, tfrt_ir_value_t** values, size_t count) {
  const tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(builder->context, "tfrt.return"),
      .descriptor = tfrt_op_index_find(builder->ops, tfrt_string_view_of("tfrt.return")),
      .location = builder->location,
      .operands = values,
      .operand_count = (uint32_t)count};
  tfrt_ir_operation_t* operation =
      parts.name ? tfrt_ir_operation_create(builder->context, &parts) : NULL;
  if (operation) tfrt_ir_block_append(builder->block, operation);
  return operation != NULL;
}
