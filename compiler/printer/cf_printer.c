// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the dialect `cf`, from behind the op's name.

#include <inttypes.h>

#include "compiler/printer/printer_impl.h"

static void append(tfrt_printer_t* printer, const char* text) {
  tfrt_string_builder_append_text(printer->builder, text);
}

// True if each of the successors of |operation|, |count| of them, gets operands, and nobody else.
static bool successors_fit(const tfrt_ir_operation_t* operation, uint32_t count) {
  uint32_t end = tfrt_kernel_descriptor_fixed_operands(operation->descriptor);
  if (operation->successor_count != count || operation->result_count || operation->region_count) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t first, size;
    if (!tfrt_ir_operation_successor_operands(operation, i, &first, &size) || first != end) {
      return false;
    }
    end = first + size;
  }
  return end == operation->operand_count;
}

// `^bb1(%a, %b : T, T)`
static void print_destination(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                              uint32_t index) {
  uint32_t first, count;
  if (!tfrt_ir_operation_successor_operands(operation, index, &first, &count)) return;
  tfrt_string_builder_append_format(printer->builder, "^bb%" PRIu32,
                                    tfrt_ir_operation_successors(operation)[index]->scratch);
  if (!count) return;
  append(printer, "(");
  tfrt_printer_operands(printer, operation, first, count, false);
  for (uint32_t i = 0; i < count; ++i) {
    append(printer, i ? ", " : " : ");
    append(printer, operation->operands[first + i].value->type->text->data);
  }
  append(printer, ")");
}

static bool branch_fits(const tfrt_ir_operation_t* operation) {
  return successors_fit(operation, 1);
}

static void print_branch(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  append(printer, " ");
  print_destination(printer, operation, 0);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
}

// --- The conditional branch ---------------------------------------------------------------------

static bool conditional_branch_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* weights = tfrt_ir_operation_attribute(operation, "branch_weights");
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  bool weights_fit = !weights || (weights->count == 2 && tfrt_ir_segment_size(weights, 0) >= 0 &&
                                  tfrt_ir_segment_size(weights, 1) >= 0);
  return operation->operand_count && tfrt_ir_type_is(operation->operands[0].value->type, "i1") &&
         weights_fit && tfrt_ir_segment_size(sizes, 0) == 1 && sizes->count == 3 &&
         successors_fit(operation, 2);
}

static void print_conditional_branch(tfrt_printer_t* printer,
                                     const tfrt_ir_operation_t* operation) {
  static const char* const hidden[] = {"operandSegmentSizes", "branch_weights"};
  const tfrt_ir_attribute_t* weights = tfrt_ir_operation_attribute(operation, "branch_weights");
  append(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  if (weights) {
    tfrt_string_builder_append_format(printer->builder, " weights([%" PRId64 ", %" PRId64 "])",
                                      tfrt_ir_segment_size(weights, 0),
                                      tfrt_ir_segment_size(weights, 1));
  }
  append(printer, ", ");
  print_destination(printer, operation, 0);
  append(printer, ", ");
  print_destination(printer, operation, 1);
  tfrt_printer_other_attributes(printer, operation, hidden, TFRT_ARRAY_SIZE(hidden));
}

// --- The switch --------------------------------------------------------------------------------

// The bytes that a case's value takes; 0: the type is none that the custom form has.
static size_t value_size(const tfrt_ir_type_t* type) {
  static const char* const types[] = {"i8", "i16", "i32", "i64"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(types); ++i) {
    if (tfrt_ir_type_is(type, types[i])) return (size_t)1 << i;
  }
  return 0;
}

static bool switch_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* values = tfrt_ir_operation_attribute(operation, "case_values");
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  uint32_t case_count = operation->successor_count ? operation->successor_count - 1 : 0;
  if (!operation->operand_count || tfrt_ir_segment_size(sizes, 0) != 1) return false;
  const tfrt_ir_type_t* type = operation->operands[0].value->type;
  size_t size = value_size(type);
  bool values_fit =
      !case_count || (values && values->kind == TFRT_IR_ATTRIBUTE_DENSE &&
                      values->type->element == type && values->size == size * case_count);
  return size && values_fit && successors_fit(operation, case_count + 1);
}

static int64_t value_of_case(const tfrt_ir_attribute_t* values, size_t size, uint32_t index) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= (uint64_t)(unsigned char)values->bytes[index * size + i] << (8 * i);
  }
  unsigned shift = (unsigned)(64 - 8 * size);
  return (int64_t)(value << shift) >> shift;
}

static void print_switch(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  static const char* const hidden[] = {"operandSegmentSizes", "case_operand_segments",
                                       "case_values"};
  const tfrt_ir_type_t* type = operation->operands[0].value->type;
  const tfrt_ir_attribute_t* values = tfrt_ir_operation_attribute(operation, "case_values");
  append(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, true);
  append(printer, ", [");
  ++printer->indent;
  for (uint32_t i = 0; i < operation->successor_count; ++i) {
    if (i) append(printer, ",");
    tfrt_printer_newline(printer);
    if (i) {
      tfrt_string_builder_append_format(printer->builder, "%" PRId64 ": ",
                                        value_of_case(values, value_size(type), i - 1));
    } else {
      append(printer, "default: ");
    }
    print_destination(printer, operation, i);
  }
  --printer->indent;
  tfrt_printer_newline(printer);
  append(printer, "]");
  tfrt_printer_other_attributes(printer, operation, hidden, TFRT_ARRAY_SIZE(hidden));
}

// --- The assertion -----------------------------------------------------------------------------

static bool assertion_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* message = tfrt_ir_operation_attribute(operation, "msg");
  return operation->operand_count == 1 && !operation->result_count && !operation->successor_count &&
         !operation->region_count && tfrt_ir_type_is(operation->operands[0].value->type, "i1") &&
         message && message->kind == TFRT_IR_ATTRIBUTE_STRING && !message->type;
}

static void print_assertion(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  static const char* const hidden[] = {"msg"};
  append(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  append(printer, ", ");
  tfrt_print_attribute(tfrt_ir_operation_attribute(operation, "msg"), printer->builder);
  tfrt_printer_other_attributes(printer, operation, hidden, TFRT_ARRAY_SIZE(hidden));
}

const tfrt_printer_syntax_t tfrt_printer_cf_syntaxes[] = {
    {"br", branch_fits, print_branch},
    {"cond_br", conditional_branch_fits, print_conditional_branch},
    {"switch", switch_fits, print_switch},
    {"assert", assertion_fits, print_assertion},
    {NULL, NULL, NULL},
};
