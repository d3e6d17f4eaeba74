// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of work of devices, from behind the op's name.

#include "compiler/ir/device_operation.h"
#include "compiler/printer/printer_impl.h"

static const char* const segments[] = {"operandSegmentSizes", "hostShared"};
static const char* const launch_names[] = {"kernel", "operandSegmentSizes"};
static const char* const binary_names[] = {"objects", "offloadingHandler", "sym_name"};

static bool work_fits(const tfrt_ir_operation_t* operation) {
  tfrt_ir_device_operation_t parts;
  if (!tfrt_ir_device_operation_read(operation, &parts)) return false;
  if (parts.kind == TFRT_IR_DEVICE_ALLOC) {
    for (uint32_t i = parts.token_count; i < operation->operand_count; ++i) {
      if (operation->operands[i].value->type->kind != TFRT_IR_TYPE_INDEX) return false;
    }
    const tfrt_ir_attribute_t* shared = tfrt_ir_operation_attribute(operation, "hostShared");
    return !shared || shared->kind == TFRT_IR_ATTRIBUTE_UNIT;
  }
  if (parts.kind != TFRT_IR_DEVICE_LAUNCH) return true;
  uint32_t size_count = parts.has_clusters ? 9 : 6;
  const tfrt_ir_operand_t* rest = operation->operands + parts.token_count;
  for (uint32_t i = 0; i < size_count; ++i) {
    if (rest[i].value->type != rest[0].value->type) return false;
  }
  return !parts.has_shared_size || tfrt_ir_type_is(rest[size_count].value->type, "i32");
}

// ` async [%a, %b]`; |parts| is set.
static void print_tokens(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                         tfrt_ir_device_operation_t* parts) {
  tfrt_ir_device_operation_read(operation, parts);
  if (parts->gives_token) tfrt_printer_text(printer, " async");
  if (!parts->token_count) return;
  tfrt_printer_text(printer, " [");
  tfrt_printer_operands(printer, operation, 0, parts->token_count, false);
  tfrt_printer_text(printer, "]");
}

static void print_wait(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_ir_device_operation_t parts;
  print_tokens(printer, operation, &parts);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
}

static void print_alloc(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_ir_device_operation_t parts;
  print_tokens(printer, operation, &parts);
  if (tfrt_ir_operation_attribute(operation, "hostShared")) {
    tfrt_printer_text(printer, " host_shared");
  }
  tfrt_printer_text(printer, " (");
  tfrt_printer_operands(printer, operation, parts.token_count, parts.rest_count, false);
  tfrt_printer_text(printer, ")");
  tfrt_printer_other_attributes(printer, operation, segments, TFRT_ARRAY_SIZE(segments));
  tfrt_printer_colon_type(printer, operation->results[0].type);
}

static void print_memory(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_ir_device_operation_t parts;
  print_tokens(printer, operation, &parts);
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, parts.token_count, parts.rest_count, false);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_printer_operand_types(printer, operation, parts.token_count, parts.rest_count);
}

// ` |word| in (%x, %y, %z)`, the operands from |first| on.
static void print_axes(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                       const char* word, uint32_t first) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_text(printer, word);
  tfrt_printer_text(printer, " in (");
  tfrt_printer_operands(printer, operation, first, 3, false);
  tfrt_printer_text(printer, ")");
}

static void print_launch(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_ir_device_operation_t parts;
  print_tokens(printer, operation, &parts);
  uint32_t first = parts.token_count;
  tfrt_printer_text(printer, " ");
  tfrt_print_attribute(tfrt_ir_operation_attribute(operation, "kernel"), printer->builder);
  if (parts.has_clusters) print_axes(printer, operation, "clusters", first + 6);
  print_axes(printer, operation, "blocks", first);
  print_axes(printer, operation, "threads", first + 3);
  const tfrt_ir_type_t* type = operation->operands[first].value->type;
  if (type->kind != TFRT_IR_TYPE_INDEX) tfrt_printer_colon_type(printer, type);
  first += parts.has_clusters ? 9 : 6;
  if (parts.has_shared_size) {
    tfrt_printer_text(printer, " dynamic_shared_memory_size ");
    tfrt_printer_operands(printer, operation, first++, 1, false);
  }
  if (parts.argument_count) {
    tfrt_printer_text(printer, " args(");
    tfrt_printer_operands(printer, operation, first, parts.argument_count, true);
    tfrt_printer_text(printer, ")");
  }
  tfrt_printer_other_attributes(printer, operation, launch_names, TFRT_ARRAY_SIZE(launch_names));
}

static bool binary_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* name = tfrt_ir_operation_attribute(operation, "sym_name");
  const tfrt_ir_attribute_t* objects = tfrt_ir_operation_attribute(operation, "objects");
  return tfrt_printer_has_shape(operation, 0, 0, 0) && name && objects && name->size &&
         name->kind == TFRT_IR_ATTRIBUTE_STRING && !name->type &&
         objects->kind == TFRT_IR_ATTRIBUTE_ARRAY && operation->attribute_count == 3 &&
         tfrt_ir_operation_attribute(operation, "offloadingHandler");
}

static void print_binary(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* handler = tfrt_ir_operation_attribute(operation, "offloadingHandler");
  tfrt_printer_text(printer, " @");
  tfrt_printer_key(printer->builder,
                   tfrt_ir_attribute_text(tfrt_ir_operation_attribute(operation, "sym_name")));
  bool is_default = handler && handler->kind == TFRT_IR_ATTRIBUTE_OPAQUE &&
                    tfrt_string_view_equal(tfrt_ir_attribute_text(handler),
                                           tfrt_string_view_of("#gpu.select_object"));
  if (handler && !is_default) {
    tfrt_printer_text(printer, " <");
    tfrt_print_attribute(handler, printer->builder);
    tfrt_printer_text(printer, ">");
  }
  tfrt_printer_text(printer, " ");
  tfrt_print_attribute(tfrt_ir_operation_attribute(operation, "objects"), printer->builder);
  tfrt_printer_other_attributes(printer, operation, binary_names, TFRT_ARRAY_SIZE(binary_names));
}

const tfrt_printer_syntax_t tfrt_printer_gpu_syntaxes[] = {
    {"gpu_binary", binary_fits, print_binary}, {"gpu_wait", work_fits, print_wait},
    {"gpu_alloc", work_fits, print_alloc},     {"gpu_memory", work_fits, print_memory},
    {"gpu_launch", work_fits, print_launch},   {NULL, NULL, NULL},
};
