// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the dialect `async`, from behind the op's name.

#include <inttypes.h>

#include "compiler/printer/printer_impl.h"

static const char* const segments[] = {"operandSegmentSizes"};

static bool is_token(const tfrt_ir_type_t* type) { return tfrt_ir_type_is(type, "!async.token"); }

static const tfrt_ir_type_t* element_of(const tfrt_ir_type_t* type) {
  return type->kind == TFRT_IR_TYPE_DIALECT ? type->element : NULL;
}

// --- Regions as tasks --------------------------------------------------------------------------

static bool execute_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  int64_t tokens = tfrt_ir_segment_size(sizes, 0);
  int64_t values = tfrt_ir_segment_size(sizes, 1);
  if (tokens < 0 || values < 0 || sizes->count != 2 || operation->result_count == 0) return false;
  if (!tfrt_printer_has_shape(operation, (uint32_t)(tokens + values), operation->result_count, 1)) {
    return false;
  }
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(&operation->regions[0]);
  bool fits = block && block->argument_count == values && is_token(operation->results[0].type) &&
              block->last && tfrt_ir_operation_is(block->last, "async.yield");
  for (uint32_t i = 0; fits && i < tokens; ++i) {
    fits = is_token(operation->operands[i].value->type);
  }
  for (uint32_t i = 0; fits && i < values; ++i) {
    const tfrt_ir_type_t* type = operation->operands[(uint32_t)tokens + i].value->type;
    fits = element_of(type) && element_of(type) == block->arguments[i]->type;
  }
  return fits;
}

static void print_execute(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  const tfrt_ir_block_t* block = operation->regions[0].first_block;
  uint32_t tokens = (uint32_t)tfrt_ir_segment_size(sizes, 0);
  if (tokens) {
    tfrt_printer_text(printer, " [");
    tfrt_printer_operands(printer, operation, 0, tokens, false);
    tfrt_printer_text(printer, "]");
  }
  for (uint32_t i = tokens; i < operation->operand_count; ++i) {
    tfrt_printer_text(printer, i == tokens ? " (" : ", ");
    tfrt_printer_operands(printer, operation, i, 1, false);
    tfrt_printer_text(printer, " as ");
    tfrt_value_names_append(&printer->names, block->arguments[i - tokens], printer->builder);
    tfrt_string_builder_append_format(printer->builder, ": %s",
                                      operation->operands[i].value->type->text->data);
  }
  if (operation->operand_count > tokens) tfrt_printer_text(printer, ")");
  if (operation->result_count == 2) {
    tfrt_printer_text(printer, " -> ");
    tfrt_printer_text(printer, operation->results[1].type->text->data);
  } else {
    tfrt_printer_arrow_results(printer, operation, 1);
  }
  if (operation->attribute_count > 1) {
    tfrt_printer_text(printer, " attributes");
    tfrt_printer_other_attributes(printer, operation, segments, 1);
  }
  tfrt_printer_text(printer, " ");
  tfrt_printer_region(printer, &operation->regions[0], false);
}

// --- Waiting -------------------------------------------------------------------------------------

static bool await_fits(const tfrt_ir_operation_t* operation) {
  if (!tfrt_printer_has_shape(operation, 1, operation->result_count, 0)) return false;
  const tfrt_ir_type_t* element = element_of(operation->operands[0].value->type);
  if (tfrt_ir_operation_is(operation, "async.runtime.is_error")) {
    return operation->result_count == 1 && tfrt_ir_type_is(operation->results[0].type, "i1");
  }
  bool unwraps = tfrt_ir_operation_is(operation, "async.await") && element;
  return unwraps ? operation->result_count == 1 && operation->results[0].type == element
                 : operation->result_count == 0;
}

static void print_await(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_printer_colon_type(printer, operation->operands[0].value->type);
}

// --- Groups ------------------------------------------------------------------------------------

static bool is_group(const tfrt_ir_type_t* type) { return tfrt_ir_type_is(type, "!async.group"); }

static bool create_group_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 1, 1, 0) &&
         operation->operands[0].value->type->kind == TFRT_IR_TYPE_INDEX;
}

static void print_create_group(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  tfrt_printer_colon_type(printer, operation->results[0].type);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
}

static bool add_to_group_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 2, 1, 0) &&
         is_group(operation->operands[1].value->type) &&
         operation->results[0].type->kind == TFRT_IR_TYPE_INDEX;
}

static void print_add_to_group(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 2, false);
  tfrt_printer_colon_type(printer, operation->operands[0].value->type);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
}

static bool await_all_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 1, 0, 0) && is_group(operation->operands[0].value->type);
}

static void print_await_all(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
}

// --- Payloads and coroutines ---------------------------------------------------------------------

static bool create_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 0, 1, 0);
}

static void print_create(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_printer_colon_type(printer, operation->results[0].type);
}

static bool await_and_resume_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 2, 0, 0) &&
         tfrt_ir_type_is(operation->operands[1].value->type, "!async.coro.handle");
}

static void print_await_and_resume(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 2, false);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_printer_colon_type(printer, operation->operands[0].value->type);
}

// The table has the types of all operands and results.
static bool coro_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  bool fits =
      tfrt_printer_has_shape(operation, descriptor->operand_count, descriptor->result_count, 0);
  for (uint32_t i = 0; fits && i < operation->operand_count; ++i) {
    fits = tfrt_ir_type_is(operation->operands[i].value->type, descriptor->operands[i].type);
  }
  for (uint32_t i = 0; fits && i < operation->result_count; ++i) {
    fits = tfrt_ir_type_is(operation->results[i].type, descriptor->results[i].type);
  }
  return fits;
}

static void print_coro(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  if (operation->operand_count) tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, operation->operand_count, false);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
}

static bool load_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 1, 1, 0) &&
         element_of(operation->operands[0].value->type) == operation->results[0].type;
}

static bool store_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 2, 0, 0) &&
         element_of(operation->operands[1].value->type) == operation->operands[0].value->type;
}

// `%a, %value : <T>`: the value is the last one of the operands.
static void print_payload_access(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  uint32_t count = operation->operand_count;
  const tfrt_ir_type_t* type = operation->operands[count - 1].value->type;
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, count, false);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_string_builder_append_format(printer->builder, " : <%s>", type->element->text->data);
}

static bool suspend_fits(const tfrt_ir_operation_t* operation) {
  return operation->operand_count == 1 && operation->successor_count == 3 &&
         !operation->result_count && !operation->region_count &&
         tfrt_ir_type_is(operation->operands[0].value->type, "!async.coro.state");
}

static void print_suspend(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  for (uint32_t i = 0; i < operation->successor_count; ++i) {
    tfrt_string_builder_append_format(printer->builder, ", ^bb%" PRIu32,
                                      tfrt_ir_operation_successors(operation)[i]->scratch);
  }
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
}

const tfrt_printer_syntax_t tfrt_printer_async_syntaxes[] = {
    {"execute", execute_fits, print_execute},
    {"await", await_fits, print_await},
    {"create_group", create_group_fits, print_create_group},
    {"add_to_group", add_to_group_fits, print_add_to_group},
    {"await_all", await_all_fits, print_await_all},
    {"create", create_fits, print_create},
    {"await_and_resume", await_and_resume_fits, print_await_and_resume},
    {"coro", coro_fits, print_coro},
    {"runtime_load", load_fits, print_payload_access},
    {"runtime_store", store_fits, print_payload_access},
    {"suspend", suspend_fits, print_suspend},
    {NULL, NULL, NULL},
};
