// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of memory and of prints, from behind the op's name.

#include <string.h>

#include "compiler/op_table/predicates.h"
#include "compiler/printer/printer_impl.h"

static const char* const segments[] = {"operandSegmentSizes"};

// True if the operands of |operation| from |first| on are indices.
static bool are_indices(const tfrt_ir_operation_t* operation, uint32_t first) {
  for (uint32_t i = first; i < operation->operand_count; ++i) {
    if (operation->operands[i].value->type->kind != TFRT_IR_TYPE_INDEX) return false;
  }
  return true;
}

static bool alloc_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  return tfrt_printer_has_shape(operation, operation->operand_count, 1, 0) &&
         are_indices(operation, 0) && tfrt_ir_segment_size(sizes, 0) == operation->operand_count &&
         sizes->count == 2 && tfrt_ir_segment_size(sizes, 1) == 0;
}

static void print_alloc(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, "(");
  tfrt_printer_operands(printer, operation, 0, operation->operand_count, false);
  tfrt_printer_text(printer, ")");
  tfrt_printer_other_attributes(printer, operation, segments, 1);
  tfrt_printer_colon_type(printer, operation->results[0].type);
}

// True if operand |memory| is a memref, and behind it are its indices.
static bool place_fits(const tfrt_ir_operation_t* operation, uint32_t memory) {
  return operation->operand_count > memory &&
         operation->operands[memory].value->type->kind == TFRT_IR_TYPE_MEMREF &&
         are_indices(operation, memory + 1);
}

// ` %m[%i] : T`
static void print_place(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                        uint32_t memory) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, memory, 1, false);
  tfrt_printer_text(printer, "[");
  tfrt_printer_operands(printer, operation, memory + 1, operation->operand_count - memory - 1,
                        false);
  tfrt_printer_text(printer, "]");
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_printer_colon_type(printer, operation->operands[memory].value->type);
}

static bool load_fits(const tfrt_ir_operation_t* operation) {
  return place_fits(operation, 0) &&
         tfrt_printer_has_shape(operation, operation->operand_count, 1, 0) &&
         operation->results[0].type == operation->operands[0].value->type->element;
}

static void print_load(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  print_place(printer, operation, 0);
}

static bool store_fits(const tfrt_ir_operation_t* operation) {
  return place_fits(operation, 1) &&
         tfrt_printer_has_shape(operation, operation->operand_count, 0, 0) &&
         operation->operands[0].value->type == operation->operands[1].value->type->element;
}

static void print_store(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  tfrt_printer_text(printer, ",");
  print_place(printer, operation, 1);
}

// The name of what |operation| does to its memory, or NULL.
static const char* change_of(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, "kind");
  bool fits =
      value && value->kind == TFRT_IR_ATTRIBUTE_INTEGER && tfrt_ir_type_is(value->type, "i64");
  return fits ? tfrt_atomic_change_name(value->bits) : NULL;
}

static bool atomic_fits(const tfrt_ir_operation_t* operation) {
  return place_fits(operation, 1) && change_of(operation) &&
         tfrt_printer_has_shape(operation, operation->operand_count, 1, 0) &&
         operation->operands[0].value->type == operation->operands[1].value->type->element &&
         operation->results[0].type == operation->operands[0].value->type;
}

static void print_atomic(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  static const char* const hidden[] = {"kind"};
  const char* element = operation->results[0].type->text->data;
  tfrt_string_builder_append_format(printer->builder, " %s ", change_of(operation));
  tfrt_printer_operands(printer, operation, 0, 2, false);
  tfrt_printer_text(printer, "[");
  tfrt_printer_operands(printer, operation, 2, operation->operand_count - 2, false);
  tfrt_printer_text(printer, "]");
  tfrt_printer_other_attributes(printer, operation, hidden, TFRT_ARRAY_SIZE(hidden));
  tfrt_string_builder_append_format(printer->builder, " : (%s, %s) -> %s", element,
                                    operation->operands[1].value->type->text->data, element);
}

static bool dim_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 2, 1, 0) && are_indices(operation, 1) &&
         operation->results[0].type->kind == TFRT_IR_TYPE_INDEX;
}

static void print_dim(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 2, false);
  tfrt_printer_colon_type(printer, operation->operands[0].value->type);
}

// --- Prints -----------------------------------------------------------------------------------

// The name in `#vector.punctuation<name>`, or false if |operation| has none of that form.
static bool punctuation_of(const tfrt_ir_operation_t* operation, tfrt_string_view_t* out_name) {
  static const char prefix[] = "#vector.punctuation<";
  size_t front = sizeof(prefix) - 1;
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, "punctuation");
  if (!value || value->kind != TFRT_IR_ATTRIBUTE_OPAQUE || value->size <= front ||
      memcmp(value->bytes, prefix, front) != 0 || value->bytes[value->size - 1] != '>') {
    return false;
  }
  *out_name = tfrt_string_view_make(value->bytes + front, value->size - front - 1);
  return true;
}

static bool print_fits(const tfrt_ir_operation_t* operation) {
  tfrt_string_view_t name;
  const tfrt_ir_attribute_t* text = tfrt_ir_operation_attribute(operation, "stringLiteral");
  bool text_fits =
      !text || (text->kind == TFRT_IR_ATTRIBUTE_STRING && !text->type && !operation->operand_count);
  return operation->operand_count <= 1 && text_fits && punctuation_of(operation, &name) &&
         tfrt_printer_has_shape(operation, operation->operand_count, 0, 0);
}

static void print_print(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  static const char* const hidden[] = {"punctuation", "stringLiteral"};
  const tfrt_ir_attribute_t* text = tfrt_ir_operation_attribute(operation, "stringLiteral");
  tfrt_string_view_t name = tfrt_string_view_of("newline");
  punctuation_of(operation, &name);
  if (text) {
    tfrt_printer_text(printer, " str ");
    tfrt_print_attribute(text, printer->builder);
  }
  if (operation->operand_count) {
    tfrt_printer_text(printer, " ");
    tfrt_printer_operands(printer, operation, 0, 1, true);
  }
  // A new line alone is written out: what stands on the next line could be its operand.
  bool is_alone = !text && !operation->operand_count;
  if (is_alone || !tfrt_string_view_equal(name, tfrt_string_view_of("newline"))) {
    tfrt_string_builder_append_format(printer->builder, " punctuation <%.*s>",
                                      TFRT_STRING_VIEW_ARGUMENTS(name));
  }
  tfrt_printer_other_attributes(printer, operation, hidden, TFRT_ARRAY_SIZE(hidden));
}

// True if the region of |operation| says only that an element becomes the value.
static bool fill_fits(const tfrt_ir_operation_t* operation) {
  if (!tfrt_printer_has_shape(operation, 2, 0, 1)) return false;
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(&operation->regions[0]);
  const tfrt_ir_operation_t* end = block ? block->first : NULL;
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  const tfrt_ir_type_t* memory = operation->operands[1].value->type;
  return end && end == block->last && block->argument_count == 2 &&
         tfrt_ir_operation_is(end, "linalg.yield") && tfrt_printer_has_shape(end, 1, 0, 0) &&
         !end->attribute_count && end->operands[0].value == block->arguments[0] &&
         block->arguments[0]->type == operation->operands[0].value->type &&
         memory->kind == TFRT_IR_TYPE_MEMREF && block->arguments[1]->type == memory->element &&
         operation->attribute_count == 1 && tfrt_ir_segment_size(sizes, 0) == 1 &&
         tfrt_ir_segment_size(sizes, 1) == 1 && sizes->count == 2;
}

static void print_fill(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ins(");
  tfrt_printer_operands(printer, operation, 0, 1, true);
  tfrt_printer_text(printer, ") outs(");
  tfrt_printer_operands(printer, operation, 1, 1, true);
  tfrt_printer_text(printer, ")");
}

const tfrt_printer_syntax_t tfrt_printer_memref_syntaxes[] = {
    {"alloc", alloc_fits, print_alloc}, {"load", load_fits, print_load},
    {"store", store_fits, print_store}, {"dim", dim_fits, print_dim},
    {"print", print_fits, print_print}, {"atomic", atomic_fits, print_atomic},
    {"fill", fill_fits, print_fill},    {NULL, NULL, NULL},
};
