// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>
#include <string.h>

#include "compiler/lowering/lowering_impl.h"
#include "compiler/op_table/op_form.h"

#define MAX_NAME 64

// The bits of a scalar of |type| in BEF; 0: it is none that there is.
static uint32_t scalar_width(const tfrt_ir_type_t* type) {
  static const char* const types[] = {"i1", "i8", "i16", "i32", "i64", "f32", "f64", "index"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(types); ++i) {
    if (tfrt_ir_type_is(type, types[i])) return type->width;
  }
  return 0;
}

static bool check_types(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t* bad = NULL;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    // One of two values is chosen, whatever they are.
    if (i > 0 && tfrt_ir_operation_is(operation, "arith.select")) continue;
    const tfrt_ir_type_t* type = operation->operands[i].value->type;
    if (!scalar_width(type)) bad = type;
  }
  const tfrt_ir_type_t* result = operation->results[0].type;
  if (!scalar_width(result) && !tfrt_ir_operation_is(operation, "arith.select")) bad = result;
  if (!bad) return true;
  tfrt_lowering_fail(body->lowering, operation,
                     "is lowered for i1, i8, i16, i32, i64, index, f32 and f64, not for '%s'",
                     bad->text->data);
  return false;
}

// Appends `name operands {attribute}` with the operands of |operation|, and maps its result.
static void append_like(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                        const char* name, const tfrt_ir_named_attribute_t* attribute) {
  tfrt_ir_value_t* operands[3];
  bool is_late = false;
  for (uint32_t i = 0; i < operation->operand_count && i < TFRT_ARRAY_SIZE(operands); ++i) {
    const tfrt_lowering_mapping_t* mapping =
        tfrt_lowering_mapped(body, operation->operands[i].value, operation);
    if (!mapping) return;
    operands[i] = mapping->value;
    is_late = is_late || mapping->is_late;
  }
  const tfrt_ir_type_t* type = tfrt_lowering_type(body->lowering, operation->results[0].type);
  tfrt_lowering_op_t parts = {.name = name,
                              .like = operation,
                              .operands = operands,
                              .operand_count = operation->operand_count,
                              .types = &type,
                              .type_count = 1,
                              .attributes = attribute,
                              .attribute_count = attribute ? 1 : 0};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  if (op)
    tfrt_lowering_map(body, &((tfrt_ir_operation_t*)operation)->results[0], &op->results[0],
                      is_late);
}

// The constant |value| of |type|, one of BEF's; its value, or NULL.
static tfrt_ir_value_t* append_constant(tfrt_lowering_block_t* body,
                                        const tfrt_ir_operation_t* operation,
                                        const tfrt_ir_type_t* type,
                                        const tfrt_ir_attribute_t* value) {
  char name[MAX_NAME];
  snprintf(name, sizeof(name), "tfrt.constant.%s", type->text->data);
  tfrt_ir_named_attribute_t attribute = tfrt_lowering_named(body->lowering, "value", value);
  tfrt_lowering_op_t parts = {.name = name,
                              .like = operation,
                              .types = &type,
                              .type_count = 1,
                              .attributes = &attribute,
                              .attribute_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  return op ? &op->results[0] : NULL;
}

static void lower_constant(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_lowering_t* lowering = body->lowering;
  const tfrt_ir_type_t* type = tfrt_lowering_type(lowering, operation->results[0].type);
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, "value");
  bool is_narrow = tfrt_ir_type_is(type, "i8") || tfrt_ir_type_is(type, "i16");
  if (!check_types(body, operation)) return;
  const tfrt_ir_type_t* made =
      is_narrow ? tfrt_ir_type_integer(lowering->context, 32, TFRT_IR_SIGNLESS) : type;
  if (made && value->kind == TFRT_IR_ATTRIBUTE_INTEGER && value->type != made) {
    value =
        tfrt_ir_attribute_integer(lowering->context, made, tfrt_ir_attribute_integer_value(value));
  }
  tfrt_ir_value_t* result = made ? append_constant(body, operation, made, value) : NULL;
  if (result && is_narrow) {
    tfrt_ir_named_attribute_t width =
        tfrt_lowering_named(lowering, "width", tfrt_lowering_i32(lowering, (int32_t)type->width));
    tfrt_lowering_op_t parts = {.name = "tfrt_async.trunci",
                                .like = operation,
                                .operands = &result,
                                .operand_count = 1,
                                .types = &type,
                                .type_count = 1,
                                .attributes = &width,
                                .attribute_count = 1};
    tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
    result = op ? &op->results[0] : NULL;
  }
  if (result) tfrt_lowering_map(body, &operation->results[0], result, false);
}

static bool is_family(const tfrt_ir_operation_t* operation, const char* family) {
  return tfrt_string_view_equal(tfrt_op_form_family(operation->descriptor),
                                tfrt_string_view_of(family));
}

bool tfrt_lowering_scalar(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation) {
  char name[MAX_NAME];
  const char* dot = strchr(operation->name->data, '.');
  bool is_cast = is_family(operation, "cast");
  bool is_comparison = is_family(operation, "compare");
  if (is_family(operation, "constant")) {
    lower_constant(body, (tfrt_ir_operation_t*)operation);
    return true;
  }
  if (!is_cast && !is_comparison && !is_family(operation, "same") &&
      !is_family(operation, "select")) {
    return false;
  }
  if (!check_types(body, operation)) return true;
  snprintf(name, sizeof(name), "tfrt_async%s", dot);
  tfrt_ir_named_attribute_t attribute;
  bool has_attribute = is_comparison;
  if (is_comparison) {
    attribute = tfrt_lowering_named(body->lowering, "predicate",
                                    tfrt_ir_operation_attribute(operation, "predicate"));
  } else if (is_cast && !tfrt_ir_operation_is(operation, "arith.bitcast")) {
    has_attribute = true;
    int32_t width = (int32_t)scalar_width(operation->results[0].type);
    attribute =
        tfrt_lowering_named(body->lowering, "width", tfrt_lowering_i32(body->lowering, width));
  }
  append_like(body, operation, name, has_attribute ? &attribute : NULL);
  return true;
}
