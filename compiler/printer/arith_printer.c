// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the dialects `arith` and `math`, from behind the op's name.

#include <string.h>

#include "compiler/op_table/predicates.h"
#include "compiler/printer/printer_impl.h"

static const char* const flag_names[] = {"overflowFlags", "fastmath"};
static const char* const flag_words[] = {"overflow", "fastmath"};

// The flags in `#arith.word<flags>`, or false if |attribute| is of another form.
static bool flags_of(const tfrt_ir_attribute_t* attribute, const char* word,
                     tfrt_string_view_t* out_flags) {
  if (attribute->kind != TFRT_IR_ATTRIBUTE_OPAQUE) return false;
  tfrt_string_view_t text = tfrt_ir_attribute_text(attribute);
  size_t front = strlen("#arith.") + strlen(word) + 1;
  if (text.size <= front || text.data[text.size - 1] != '>') return false;
  if (memcmp(text.data, "#arith.", strlen("#arith.")) != 0 ||
      memcmp(text.data + strlen("#arith."), word, strlen(word)) != 0 ||
      text.data[front - 1] != '<') {
    return false;
  }
  *out_flags = tfrt_string_view_make(text.data + front, text.size - front - 1);
  return true;
}

// True if the flags of |operation| are those that its family has, in MLIR's form.
static bool flags_fit(const tfrt_ir_operation_t* operation) {
  tfrt_string_view_t flags;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(flag_names); ++i) {
    const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, flag_names[i]);
    const char* found = strstr(operation->descriptor->assembly, flag_words[i]);
    bool is_optional = strstr(operation->descriptor->assembly, " optional-") != NULL;
    if (value ? !found : found && !is_optional) return false;
    if (value && !flags_of(value, flag_words[i], &flags)) return false;
  }
  return true;
}

// ` overflow<nsw>`, unless there are none.
static void print_flags(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(flag_names); ++i) {
    tfrt_string_view_t flags;
    const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, flag_names[i]);
    if (!value || !flags_of(value, flag_words[i], &flags)) continue;
    if (tfrt_string_view_equal(flags, tfrt_string_view_of("none"))) continue;
    tfrt_string_builder_append_format(printer->builder, " %s<%.*s>", flag_words[i],
                                      TFRT_STRING_VIEW_ARGUMENTS(flags));
  }
}

// True if the operands of |operation| from |first| on are all of one type.
static bool is_uniform(const tfrt_ir_operation_t* operation, uint32_t first) {
  for (uint32_t i = first + 1; i < operation->operand_count; ++i) {
    if (operation->operands[i].value->type != operation->operands[first].value->type) return false;
  }
  return operation->operand_count > first;
}

static bool has_table_shape(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, operation->descriptor->operand_count, 1, 0) &&
         flags_fit(operation);
}

static bool same_fits(const tfrt_ir_operation_t* operation) {
  return has_table_shape(operation) && is_uniform(operation, 0) &&
         operation->results[0].type == operation->operands[0].value->type;
}

static void print_operands(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, operation->operand_count, false);
  print_flags(printer, operation);
  tfrt_printer_other_attributes(printer, operation, flag_names, TFRT_ARRAY_SIZE(flag_names));
}

static void print_same(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  print_operands(printer, operation);
  tfrt_printer_colon_type(printer, operation->results[0].type);
}

static bool cast_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 1, 1, 0) && flags_fit(operation);
}

static void print_cast(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  print_operands(printer, operation);
  tfrt_printer_colon_type(printer, operation->operands[0].value->type);
  tfrt_printer_text(printer, " to ");
  tfrt_printer_text(printer, operation->results[0].type->text->data);
}

static bool constant_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, "value");
  return tfrt_printer_has_shape(operation, 0, 1, 0) && value &&
         value->type == operation->results[0].type && value->kind != TFRT_IR_ATTRIBUTE_TYPE &&
         value->kind != TFRT_IR_ATTRIBUTE_DENSE_ARRAY;
}

static void print_constant(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  static const char* const hidden[] = {"value"};
  tfrt_printer_other_attributes(printer, operation, hidden, 1);
  tfrt_printer_text(printer, " ");
  tfrt_print_attribute(tfrt_ir_operation_attribute(operation, "value"), printer->builder);
}

static const char* predicate_of(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, "predicate");
  if (!value || value->kind != TFRT_IR_ATTRIBUTE_INTEGER || !tfrt_ir_type_is(value->type, "i64")) {
    return NULL;
  }
  return tfrt_predicate_name(tfrt_ir_operation_is(operation, "arith.cmpf"), value->bits);
}

static bool comparison_fits(const tfrt_ir_operation_t* operation) {
  return has_table_shape(operation) && is_uniform(operation, 0) &&
         tfrt_ir_type_is(operation->results[0].type, "i1") && predicate_of(operation);
}

static void print_comparison(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  static const char* const hidden[] = {"overflowFlags", "fastmath", "predicate"};
  tfrt_string_builder_append_format(printer->builder, " %s, ", predicate_of(operation));
  tfrt_printer_operands(printer, operation, 0, 2, false);
  print_flags(printer, operation);
  tfrt_printer_other_attributes(printer, operation, hidden, TFRT_ARRAY_SIZE(hidden));
  tfrt_printer_colon_type(printer, operation->operands[0].value->type);
}

static bool selection_fits(const tfrt_ir_operation_t* operation) {
  return has_table_shape(operation) && is_uniform(operation, 1) &&
         tfrt_ir_type_is(operation->operands[0].value->type, "i1") &&
         operation->results[0].type == operation->operands[1].value->type;
}

const tfrt_printer_syntax_t tfrt_printer_arith_syntaxes[] = {
    {"same", same_fits, print_same},
    {"cast", cast_fits, print_cast},
    {"constant", constant_fits, print_constant},
    {"compare", comparison_fits, print_comparison},
    {"select", selection_fits, print_same},
    {NULL, NULL, NULL},
};
