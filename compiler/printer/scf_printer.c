// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the dialect `scf`, of calls, and of what ends their regions, from behind the
// op's name.

#include "compiler/printer/printer_impl.h"

static const char* const callee_name[] = {"callee"};
static const char* const segments[] = {"operandSegmentSizes"};

// --- Calls, and ends of regions -----------------------------------------------------------------

static bool call_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* callee = tfrt_ir_operation_attribute(operation, "callee");
  return callee && callee->kind == TFRT_IR_ATTRIBUTE_SYMBOL && !operation->region_count &&
         !operation->successor_count;
}

static void print_call(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_print_attribute(tfrt_ir_operation_attribute(operation, "callee"), printer->builder);
  tfrt_printer_text(printer, "(");
  tfrt_printer_operands(printer, operation, 0, operation->operand_count, false);
  tfrt_printer_text(printer, ")");
  tfrt_printer_other_attributes(printer, operation, callee_name, 1);
  tfrt_printer_text(printer, " : (");
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    if (i) tfrt_printer_text(printer, ", ");
    tfrt_printer_text(printer, operation->operands[i].value->type->text->data);
  }
  tfrt_printer_text(printer, ")");
  bool is_bare =
      operation->result_count == 1 && operation->results[0].type->kind != TFRT_IR_TYPE_FUNCTION;
  if (is_bare) {
    tfrt_printer_text(printer, " -> ");
    tfrt_printer_text(printer, operation->results[0].type->text->data);
  } else if (operation->result_count) {
    tfrt_printer_arrow_results(printer, operation, 0);
  } else {
    tfrt_printer_text(printer, " -> ()");
  }
}

static bool end_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, operation->operand_count, 0, 0);
}

static void print_end(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  if (operation->operand_count) tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, operation->operand_count, false);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_printer_operand_types(printer, operation, 0, operation->operand_count);
}

static bool condition_fits(const tfrt_ir_operation_t* operation) {
  return end_fits(operation) && operation->operand_count &&
         tfrt_ir_type_is(operation->operands[0].value->type, "i1");
}

static void print_condition(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  uint32_t count = operation->operand_count - 1;
  tfrt_printer_text(printer, "(");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  tfrt_printer_text(printer, ")");
  if (count) tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 1, count, false);
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
  tfrt_printer_operand_types(printer, operation, 1, count);
}

// --- Regions -------------------------------------------------------------------------------------

// A region whose last op is left out if it says nothing.
static void print_region(tfrt_printer_t* printer, const tfrt_ir_region_t* region) {
  tfrt_printer_text(printer, " ");
  if (tfrt_printer_region_ends_plainly(region, "scf.yield")) {
    tfrt_printer_open_region(printer, region);
  } else {
    tfrt_printer_region(printer, region, false);
  }
}

// True if |region| has one block that ends in the op |end| and has |count| arguments.
static bool region_fits(const tfrt_ir_region_t* region, const char* end, uint32_t count) {
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(region);
  return block && block->argument_count == count && block->last &&
         tfrt_ir_operation_is(block->last, end);
}

static bool if_fits(const tfrt_ir_operation_t* operation) {
  if (!tfrt_printer_has_shape(operation, 1, operation->result_count, 2) ||
      !tfrt_ir_type_is(operation->operands[0].value->type, "i1")) {
    return false;
  }
  bool has_else = operation->regions[1].first_block != NULL;
  return region_fits(&operation->regions[0], "scf.yield", 0) &&
         (!has_else || region_fits(&operation->regions[1], "scf.yield", 0));
}

static void print_if(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_printer_text(printer, " ");
  tfrt_printer_operands(printer, operation, 0, 1, false);
  tfrt_printer_arrow_results(printer, operation, 0);
  print_region(printer, &operation->regions[0]);
  if (operation->regions[1].first_block) {
    tfrt_printer_text(printer, " else");
    print_region(printer, &operation->regions[1]);
  }
  tfrt_printer_other_attributes(printer, operation, NULL, 0);
}

// --- Loops ---------------------------------------------------------------------------------------

static bool for_fits(const tfrt_ir_operation_t* operation) {
  uint32_t count = operation->result_count;
  if (!tfrt_printer_has_shape(operation, 3 + count, count, 1)) return false;
  const tfrt_ir_type_t* type = operation->operands[0].value->type;
  bool fits = operation->operands[1].value->type == type &&
              operation->operands[2].value->type == type &&
              region_fits(&operation->regions[0], "scf.yield", 1 + count) &&
              operation->regions[0].first_block->arguments[0]->type == type;
  for (uint32_t i = 0; fits && i < count; ++i) {
    fits = operation->operands[3 + i].value->type == operation->results[i].type &&
           operation->regions[0].first_block->arguments[1 + i]->type == operation->results[i].type;
  }
  return fits;
}

// `(%x = %y, ...)` of the operands from |first| on, and the arguments of |block| from |argument|.
static void print_initial_values(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                                 uint32_t first, const tfrt_ir_block_t* block, uint32_t argument) {
  tfrt_printer_text(printer, "(");
  for (uint32_t i = first; i < operation->operand_count; ++i) {
    if (i > first) tfrt_printer_text(printer, ", ");
    tfrt_value_names_append(&printer->names, block->arguments[argument + i - first],
                            printer->builder);
    tfrt_printer_text(printer, " = ");
    tfrt_printer_operands(printer, operation, i, 1, false);
  }
  tfrt_printer_text(printer, ")");
}

static void print_for(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  static const char* const hidden[] = {"unsignedCmp"};
  static const char* const words[] = {" = ", " to ", " step "};
  const tfrt_ir_block_t* block = operation->regions[0].first_block;
  if (tfrt_ir_operation_attribute(operation, "unsignedCmp"))
    tfrt_printer_text(printer, " unsigned");
  tfrt_printer_text(printer, " ");
  tfrt_value_names_append(&printer->names, block->arguments[0], printer->builder);
  for (uint32_t i = 0; i < 3; ++i) {
    tfrt_printer_text(printer, words[i]);
    tfrt_printer_operands(printer, operation, i, 1, false);
  }
  if (operation->result_count) {
    tfrt_printer_text(printer, " iter_args");
    print_initial_values(printer, operation, 3, block, 1);
    tfrt_printer_arrow_results(printer, operation, 0);
  }
  const tfrt_ir_type_t* type = operation->operands[0].value->type;
  if (type->kind != TFRT_IR_TYPE_INDEX) tfrt_printer_colon_type(printer, type);
  print_region(printer, &operation->regions[0]);
  tfrt_printer_other_attributes(printer, operation, hidden, TFRT_ARRAY_SIZE(hidden));
}

static bool while_fits(const tfrt_ir_operation_t* operation) {
  uint32_t count = operation->operand_count;
  if (!tfrt_printer_has_shape(operation, count, operation->result_count, 2)) return false;
  bool fits = region_fits(&operation->regions[0], "scf.condition", count) &&
              region_fits(&operation->regions[1], "scf.yield", operation->result_count);
  for (uint32_t i = 0; fits && i < count; ++i) {
    fits =
        operation->regions[0].first_block->arguments[i]->type == operation->operands[i].value->type;
  }
  return fits;
}

static void print_while(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  if (operation->operand_count) {
    tfrt_printer_text(printer, " ");
    print_initial_values(printer, operation, 0, operation->regions[0].first_block, 0);
  }
  tfrt_printer_text(printer, " : (");
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    if (i) tfrt_printer_text(printer, ", ");
    tfrt_printer_text(printer, operation->operands[i].value->type->text->data);
  }
  tfrt_printer_text(printer, operation->result_count ? ")" : ") -> ()");
  tfrt_printer_arrow_results(printer, operation, 0);
  tfrt_printer_text(printer, " ");
  tfrt_printer_region(printer, &operation->regions[0], false);
  tfrt_printer_text(printer, " do ");
  // The arguments of the second region stand on its label.
  if (operation->regions[1].first_block->argument_count) {
    tfrt_printer_region(printer, &operation->regions[1], true);
  } else {
    tfrt_printer_region(printer, &operation->regions[1], false);
  }
  if (operation->attribute_count) {
    tfrt_printer_text(printer, " attributes");
    tfrt_printer_other_attributes(printer, operation, NULL, 0);
  }
}

static bool parallel_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  int64_t rank = tfrt_ir_segment_size(sizes, 0);
  bool fits = rank > 0 && tfrt_ir_segment_size(sizes, 1) == rank &&
              tfrt_ir_segment_size(sizes, 2) == rank && tfrt_ir_segment_size(sizes, 3) == 0 &&
              sizes->count == 4 && tfrt_printer_has_shape(operation, 3 * (uint32_t)rank, 0, 1) &&
              region_fits(&operation->regions[0], "scf.reduce", (uint32_t)rank);
  for (uint32_t i = 0; fits && i < operation->operand_count; ++i) {
    fits = operation->operands[i].value->type->kind == TFRT_IR_TYPE_INDEX;
  }
  return fits;
}

static void print_parallel(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  static const char* const words[] = {" = (", ") to (", ") step ("};
  const tfrt_ir_block_t* block = operation->regions[0].first_block;
  uint32_t rank = block->argument_count;
  tfrt_printer_text(printer, " (");
  for (uint32_t i = 0; i < rank; ++i) {
    if (i) tfrt_printer_text(printer, ", ");
    tfrt_value_names_append(&printer->names, block->arguments[i], printer->builder);
  }
  tfrt_printer_text(printer, ")");
  for (uint32_t i = 0; i < 3; ++i) {
    tfrt_printer_text(printer, words[i]);
    tfrt_printer_operands(printer, operation, i * rank, rank, false);
  }
  tfrt_printer_text(printer, ") ");
  tfrt_printer_region(printer, &operation->regions[0], false);
  tfrt_printer_other_attributes(printer, operation, segments, 1);
}

static bool reduce_fits(const tfrt_ir_operation_t* operation) {
  return tfrt_printer_has_shape(operation, 0, 0, 0);
}

const tfrt_printer_syntax_t tfrt_printer_scf_syntaxes[] = {
    {"call", call_fits, print_call},
    {"yield", end_fits, print_end},
    {"condition", condition_fits, print_condition},
    {"if", if_fits, print_if},
    {"for", for_fits, print_for},
    {"while", while_fits, print_while},
    {"parallel", parallel_fits, print_parallel},
    {"reduce", reduce_fits, print_end},
    {NULL, NULL, NULL},
};
