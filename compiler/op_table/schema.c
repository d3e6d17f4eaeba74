// SPDX-License-Identifier: Apache-2.0

#include "compiler/op_table/schema.h"

// The properties of each kind of attribute: the type of its numbers, if it has any, and its name.
static const struct {
  const char* type;  // of a number, or of the elements of an array; NULL: neither
  const char* name;
  bool is_array;
} kinds[] = {
    [TFRT_ATTRIBUTE_I1] = {"i1", "a truth value (i1)", false},
    [TFRT_ATTRIBUTE_I8] = {"i8", "an 8-bit integer (i8)", false},
    [TFRT_ATTRIBUTE_I16] = {"i16", "a 16-bit integer (i16)", false},
    [TFRT_ATTRIBUTE_I32] = {"i32", "a 32-bit integer (i32)", false},
    [TFRT_ATTRIBUTE_I64] = {"i64", "a 64-bit integer (i64)", false},
    [TFRT_ATTRIBUTE_UI8] = {"ui8", "an unsigned 8-bit integer (ui8)", false},
    [TFRT_ATTRIBUTE_UI16] = {"ui16", "an unsigned 16-bit integer (ui16)", false},
    [TFRT_ATTRIBUTE_UI32] = {"ui32", "an unsigned 32-bit integer (ui32)", false},
    [TFRT_ATTRIBUTE_UI64] = {"ui64", "an unsigned 64-bit integer (ui64)", false},
    [TFRT_ATTRIBUTE_F32] = {"f32", "a 32-bit float (f32)", false},
    [TFRT_ATTRIBUTE_F64] = {"f64", "a 64-bit float (f64)", false},
    [TFRT_ATTRIBUTE_F16] = {"f16", "a 16-bit float (f16)", false},
    [TFRT_ATTRIBUTE_BF16] = {"bf16", "a brain float (bf16)", false},
    [TFRT_ATTRIBUTE_STRING] = {NULL, "a string", false},
    [TFRT_ATTRIBUTE_TYPE] = {NULL, "a type", false},
    [TFRT_ATTRIBUTE_SHAPE] = {NULL, "a shape (#corert.shape<...>)", false},
    [TFRT_ATTRIBUTE_DENSE] = {NULL, "a dense tensor (dense<...>)", false},
    [TFRT_ATTRIBUTE_I32_ARRAY] = {"i32", "an array of 32-bit integers ([1 : i32, ...])", true},
    [TFRT_ATTRIBUTE_I64_ARRAY] = {"i64", "an array of 64-bit integers ([1 : i64, ...])", true},
    [TFRT_ATTRIBUTE_F32_ARRAY] = {"f32", "an array of 32-bit floats ([1.0 : f32, ...])", true},
    [TFRT_ATTRIBUTE_I1_ARRAY] = {"i1", "an array of truth values ([true, ...])", true},
    [TFRT_ATTRIBUTE_I8_ARRAY] = {"i8", "an array of 8-bit integers ([1 : i8, ...])", true},
    [TFRT_ATTRIBUTE_I16_ARRAY] = {"i16", "an array of 16-bit integers ([1 : i16, ...])", true},
    [TFRT_ATTRIBUTE_UI8_ARRAY] = {"ui8", "an array of unsigned 8-bit integers ([1 : ui8, ...])",
                                  true},
    [TFRT_ATTRIBUTE_UI16_ARRAY] = {"ui16", "an array of unsigned 16-bit integers ([1 : ui16, ...])",
                                   true},
    [TFRT_ATTRIBUTE_UI32_ARRAY] = {"ui32", "an array of unsigned 32-bit integers ([1 : ui32, ...])",
                                   true},
    [TFRT_ATTRIBUTE_UI64_ARRAY] = {"ui64", "an array of unsigned 64-bit integers ([1 : ui64, ...])",
                                   true},
    [TFRT_ATTRIBUTE_F64_ARRAY] = {"f64", "an array of 64-bit floats ([1.0 : f64, ...])", true},
    [TFRT_ATTRIBUTE_F16_ARRAY] = {"f16", "an array of 16-bit floats ([1.0 : f16, ...])", true},
    [TFRT_ATTRIBUTE_BF16_ARRAY] = {"bf16", "an array of brain floats ([1.0 : bf16, ...])", true},
    [TFRT_ATTRIBUTE_AGGREGATE] = {NULL, "an array", false},
    [TFRT_ATTRIBUTE_SYMBOL] = {NULL, "a symbol (@name)", false},
    [TFRT_ATTRIBUTE_SYMBOL_ARRAY] = {NULL, "an array of symbols ([@f, @g])", false},
};

static bool is_number_of(const tfrt_ir_attribute_t* attribute, const char* type) {
  bool is_number =
      attribute->kind == TFRT_IR_ATTRIBUTE_INTEGER || attribute->kind == TFRT_IR_ATTRIBUTE_FLOAT;
  return is_number && tfrt_ir_type_is(attribute->type, type);
}

static bool is_array_of_symbols(const tfrt_ir_attribute_t* attribute) {
  if (attribute->kind != TFRT_IR_ATTRIBUTE_ARRAY) return false;
  for (uint32_t i = 0; i < attribute->count; ++i) {
    if (attribute->elements[i]->kind != TFRT_IR_ATTRIBUTE_SYMBOL) return false;
  }
  return true;
}

static bool is_array_of(const tfrt_ir_attribute_t* attribute, const char* type) {
  if (attribute->kind == TFRT_IR_ATTRIBUTE_DENSE_ARRAY) {
    return tfrt_ir_type_is(attribute->type, type);
  }
  if (attribute->kind != TFRT_IR_ATTRIBUTE_ARRAY) return false;
  for (uint32_t i = 0; i < attribute->count; ++i) {
    if (!is_number_of(attribute->elements[i], type)) return false;
  }
  return true;
}

bool tfrt_schema_attribute_fits(tfrt_attribute_kind_t kind, const tfrt_ir_attribute_t* attribute) {
  switch (kind) {
    case TFRT_ATTRIBUTE_STRING:
      return attribute->kind == TFRT_IR_ATTRIBUTE_STRING;
    case TFRT_ATTRIBUTE_TYPE:
      return attribute->kind == TFRT_IR_ATTRIBUTE_TYPE;
    case TFRT_ATTRIBUTE_SHAPE:
      return attribute->kind == TFRT_IR_ATTRIBUTE_SHAPE;
    case TFRT_ATTRIBUTE_DENSE:
      return attribute->kind == TFRT_IR_ATTRIBUTE_DENSE;
    case TFRT_ATTRIBUTE_AGGREGATE:
      return attribute->kind == TFRT_IR_ATTRIBUTE_ARRAY;
    case TFRT_ATTRIBUTE_SYMBOL:
      return attribute->kind == TFRT_IR_ATTRIBUTE_SYMBOL;
    case TFRT_ATTRIBUTE_SYMBOL_ARRAY:
      return is_array_of_symbols(attribute);
    default:
      break;
  }
  return kinds[kind].is_array ? is_array_of(attribute, kinds[kind].type)
                              : is_number_of(attribute, kinds[kind].type);
}

const char* tfrt_schema_attribute_kind_name(tfrt_attribute_kind_t kind) { return kinds[kind].name; }

bool tfrt_schema_type_fits(const char* text, const tfrt_ir_type_t* type) {
  return tfrt_ir_type_is(type, text) || tfrt_kernel_descriptor_type_allows(text, type->text->data);
}

void tfrt_schema_append_type(tfrt_string_builder_t* builder, const char* text, const char* quote) {
  const char* before = "";
  tfrt_string_view_t type;
  for (const char* cursor = text; tfrt_kernel_descriptor_next_type(&cursor, &type);) {
    bool is_last_of_some = !cursor && before[0];
    tfrt_string_builder_append_format(builder, "%s%s%.*s%s", is_last_of_some ? " or " : before,
                                      quote, TFRT_STRING_VIEW_ARGUMENTS(type), quote);
    before = ", ";
  }
}

void tfrt_schema_append_operands(tfrt_string_builder_t* builder,
                                 const tfrt_kernel_descriptor_t* descriptor) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  for (uint32_t i = 0; i < descriptor->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = &descriptor->operands[i];
    bool is_chain = i < fixed_count && tfrt_kernel_descriptor_is_chain(entry->type);
    tfrt_string_builder_append_format(builder, "%s%s%%%s%s%s", i ? ", " : "", is_chain ? "[" : "",
                                      entry->name, i >= fixed_count ? "..." : "",
                                      is_chain ? "]" : "");
  }
}

const tfrt_ir_value_t* tfrt_schema_type_operand(const tfrt_ir_operation_t* operation,
                                                uint32_t result) {
  const tfrt_result_descriptor_t* entry =
      tfrt_kernel_descriptor_result(operation->descriptor, result);
  if (!entry) return NULL;
  uint32_t operand = tfrt_kernel_descriptor_type_operand(operation->descriptor, entry->type);
  return operand < operation->operand_count ? operation->operands[operand].value : NULL;
}

const tfrt_attribute_descriptor_t* tfrt_schema_find_attribute(
    const tfrt_kernel_descriptor_t* descriptor, tfrt_string_view_t name) {
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(descriptor->attributes[i].name))) {
      return &descriptor->attributes[i];
    }
  }
  return NULL;
}

bool tfrt_schema_is_discardable(tfrt_string_view_t name) {
  return name.size && (name.data[0] == '_' || memchr(name.data, '.', name.size) != NULL);
}

const tfrt_ir_attribute_t* tfrt_schema_reads(const tfrt_ir_operation_t* operation) {
  if (!operation->attribute_count) return NULL;
  return tfrt_ir_operation_attribute(operation, TFRT_SCHEMA_READS);
}

bool tfrt_schema_only_reads(const tfrt_ir_operation_t* operation, uint32_t operand) {
  const tfrt_ir_attribute_t* reads = tfrt_schema_reads(operation);
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(operation->descriptor);
  for (uint32_t i = 0; reads && i < reads->count && operand >= fixed_count; ++i) {
    if (tfrt_ir_attribute_integer_value(reads->elements[i]) == operand - fixed_count) return true;
  }
  return false;
}

bool tfrt_schema_is_call_option(tfrt_string_view_t name) {
  static const char* const options[] = {"host", "device", "deadline_ms", "pure", "retries"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(options); ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(options[i]))) return true;
  }
  return false;
}

uint32_t tfrt_schema_region_argument(const tfrt_kernel_descriptor_t* descriptor, uint32_t region,
                                     uint32_t operand) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  uint32_t lead_mask = descriptor->regions[region].lead_mask;
  uint32_t index = 0;
  for (uint32_t i = 0; i < fixed_count && i < operand; ++i) index += lead_mask >> i & 1;
  if (operand >= fixed_count) return index + operand - fixed_count;
  return lead_mask >> operand & 1 ? index : UINT32_MAX;
}

uint32_t tfrt_schema_region_argument_count(const tfrt_kernel_descriptor_t* descriptor,
                                           uint32_t region, uint32_t operand_count) {
  return tfrt_schema_region_argument(descriptor, region, operand_count);
}
