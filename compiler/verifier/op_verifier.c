// SPDX-License-Identifier: Apache-2.0

#include "compiler/analysis/effect_analysis.h"
#include "compiler/op_table/schema.h"
#include "compiler/verifier/verifier_impl.h"
#include "host_runtime/base/plural.h"

// --- Operands and results -----------------------------------------------------------------

// Reports a number of |what| that the table doesn't allow; true if it does. |form| is how the op is
// written.
static bool check_count(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                        const char* what, uint32_t count, uint32_t fixed_count, bool variadic,
                        bool one_more, const char* form) {
  bool fits = count >= fixed_count && (variadic || count <= fixed_count + (one_more ? 1 : 0));
  if (fits) return true;
  tfrt_verifier_op_error(verifier, operation, "expected %s%u %s%s, but found %u%s",
                         variadic ? "at least " : "", fixed_count, what, tfrt_plural(fixed_count),
                         count, form);
  return false;
}

// The same of the operands; the report names them.
static bool check_operand_count(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  uint32_t count = operation->operand_count;
  bool variadic = fixed_count < descriptor->operand_count;
  bool one_more = (descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN) != 0;
  if (count >= fixed_count && (variadic || count == fixed_count)) return true;
  tfrt_string_builder_t form;
  tfrt_string_builder_initialize(&form, tfrt_allocator_system());
  tfrt_string_builder_append_format(&form, ": \"%s\"(", descriptor->name);
  tfrt_schema_append_operands(&form, descriptor);
  tfrt_string_builder_append_text(&form, ")");
  bool fits = check_count(verifier, operation, "operand", count, fixed_count, variadic, one_more,
                          tfrt_string_builder_text(&form));
  tfrt_string_builder_deinitialize(&form);
  return fits;
}

// As tfrt_schema_type_fits(), but what has fitted once is known at sight: most ops of a program
// are like one before.
static bool type_fits(tfrt_verifier_t* verifier, const char* text, const tfrt_ir_type_t* type) {
  size_t hash = ((uintptr_t)text ^ (uintptr_t)type >> 4) % TFRT_VERIFIER_PAIR_COUNT;
  tfrt_verifier_pair_t* pair = &verifier->fitting[hash];
  if (pair->text == text && pair->type == type) return true;
  if (!tfrt_schema_type_fits(text, type)) return false;
  *pair = (tfrt_verifier_pair_t){text, type};
  return true;
}

// Reports that |what| number |index| is of |type|, not |wanted|, of the table.
static void report_type(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                        const char* what, uint32_t index, const char* wanted,
                        const tfrt_ir_type_t* type) {
  tfrt_string_builder_t allowed;
  tfrt_string_builder_initialize(&allowed, tfrt_allocator_system());
  tfrt_schema_append_type(&allowed, wanted, "");
  tfrt_verifier_op_error(verifier, operation, "%s #%u must be %s type, but got '%s'", what, index,
                         tfrt_string_builder_text(&allowed), type->text->data);
  tfrt_string_builder_deinitialize(&allowed);
}

static void check_operands(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  bool has_chain = (descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN) != 0;
  if (!check_operand_count(verifier, operation)) return;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(descriptor, i);
    const char* wanted = entry ? entry->type : "!tfrt.chain";
    const tfrt_ir_type_t* type = operation->operands[i].value->type;
    // The last one of a variadic op may be the chain that the table doesn't list.
    bool is_last = i >= fixed_count && i + 1 == operation->operand_count;
    if (has_chain && is_last && tfrt_ir_type_is(type, "!tfrt.chain")) continue;
    if (type_fits(verifier, wanted, type)) continue;
    report_type(verifier, operation, "operand", i, wanted, type);
  }
}

static void check_results(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_results(descriptor);
  bool variadic = fixed_count < descriptor->result_count;
  bool has_chain = (descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN_RESULT) != 0;
  if (!check_count(verifier, operation, "result", operation->result_count, fixed_count, variadic,
                   has_chain, "")) {
    return;
  }
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    const tfrt_ir_value_t* like = tfrt_schema_type_operand(operation, i);
    const tfrt_result_descriptor_t* entry = tfrt_kernel_descriptor_result(descriptor, i);
    const char* wanted = entry ? entry->type : "!tfrt.chain";
    if (like) wanted = like->type->text->data;
    const tfrt_ir_type_t* type = operation->results[i].type;
    if (like ? like->type == type : type_fits(verifier, wanted, type)) continue;
    report_type(verifier, operation, "result", i, wanted, type);
  }
  if (!(descriptor->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS)) return;
  uint32_t first = tfrt_kernel_descriptor_fixed_operands(descriptor);
  bool fits = operation->operand_count >= first &&
              operation->operand_count - first == operation->result_count - fixed_count;
  for (uint32_t i = fixed_count; fits && i < operation->result_count; ++i) {
    const tfrt_ir_value_t* operand = operation->operands[first + i - fixed_count].value;
    fits = operation->results[i].type == operand->type;
  }
  if (!fits) {
    tfrt_verifier_op_error(verifier, operation, "must give results of the types that it takes");
  }
}

// --- Attributes ----------------------------------------------------------------------------

static void check_attributes(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &descriptor->attributes[i];
    const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, entry->name);
    if (!value) {
      tfrt_verifier_op_error(verifier, operation, "requires attribute '%s', %s", entry->name,
                             tfrt_schema_attribute_kind_name(entry->kind));
    } else if (!tfrt_schema_attribute_fits(entry->kind, value)) {
      tfrt_verifier_op_error(verifier, operation, "attribute '%s' must be %s", entry->name,
                             tfrt_schema_attribute_kind_name(entry->kind));
    }
  }
  if (descriptor->flags & TFRT_KERNEL_LANGUAGE) return;
  // Kernels get attributes by position, so one too many shifts the others.
  for (uint32_t i = 0; i < operation->attribute_count; ++i) {
    tfrt_string_view_t name = tfrt_ir_string_view(operation->attributes[i].name);
    bool is_option =
        (descriptor->flags & TFRT_KERNEL_CALL_OPTIONS) != 0 && tfrt_schema_is_call_option(name);
    if (is_option || tfrt_schema_is_discardable(name) ||
        tfrt_schema_find_attribute(descriptor, name)) {
      continue;
    }
    tfrt_verifier_op_error(verifier, operation, "has no attribute '%.*s'%s",
                           TFRT_STRING_VIEW_ARGUMENTS(name),
                           tfrt_schema_is_call_option(name) ? ", which only calls have" : "");
  }
}

static void check_cost(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* cost = tfrt_ir_operation_attribute(operation, "_tfrt_cost");
  if (!cost) return;
  bool fits = cost->kind == TFRT_IR_ATTRIBUTE_INTEGER && tfrt_ir_attribute_integer_value(cost) > 0;
  if (fits) return;
  tfrt_verifier_op_error(verifier, operation,
                         "cost value must be larger than 0: '_tfrt_cost' is a positive integer");
}

// Checks |element| of `tfrt.reads`.
static void check_read(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                       const tfrt_ir_attribute_t* element) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(operation->descriptor);
  uint32_t count =
      operation->operand_count > fixed_count ? operation->operand_count - fixed_count : 0;
  int64_t index = tfrt_ir_attribute_integer_value(element);
  if (index < 0 || index >= count) {
    tfrt_verifier_op_error(verifier, operation,
                           "'%s' lists argument %lld, and there %s %u, from 0: it is no place "
                           "among them",
                           TFRT_SCHEMA_READS, (long long)index, count == 1 ? "is" : "are", count);
    return;
  }
  const tfrt_ir_type_t* type = operation->operands[fixed_count + index].value->type;
  if (tfrt_effect_has_memory(type)) return;
  tfrt_verifier_op_error(verifier, operation,
                         "'%s' lists argument %lld, of type '%s': only memory is read or written "
                         "to, numbers need no word",
                         TFRT_SCHEMA_READS, (long long)index, type->text->data);
}

// Checks `tfrt.reads`, if |operation| has it: places of variadic operands.
static void check_reads(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* reads = tfrt_schema_reads(operation);
  if (!reads) return;
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(descriptor, fixed_count);
  if (!entry || !tfrt_kernel_descriptor_list_has(descriptor->orders, entry->name)) {
    tfrt_verifier_op_error(verifier, operation,
                           "can't have '%s': its entry says what it does with its operands",
                           TFRT_SCHEMA_READS);
    return;
  }
  bool fits = reads->kind == TFRT_IR_ATTRIBUTE_ARRAY;
  for (uint32_t i = 0; fits && i < reads->count; ++i) {
    fits = tfrt_schema_attribute_fits(TFRT_ATTRIBUTE_I64, reads->elements[i]);
  }
  if (!fits) {
    tfrt_verifier_op_error(verifier, operation,
                           "attribute '%s' must be an array of 64-bit integers, the places of "
                           "arguments that are only read, such as [0, 2]",
                           TFRT_SCHEMA_READS);
    return;
  }
  for (uint32_t i = 0; i < reads->count; ++i) check_read(verifier, operation, reads->elements[i]);
}

// --- Regions and returns -----------------------------------------------------------------------

// Checks what a |region| of an op of the table gets, and that it ends in a return.
static void check_region(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                         uint32_t index) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  const char* name = descriptor->regions[index].name;
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(&operation->regions[index]);
  if (!block) {
    tfrt_verifier_op_error(verifier, operation, "region '%s' must have a single block", name);
    return;
  }
  uint32_t count = tfrt_schema_region_argument_count(descriptor, index, operation->operand_count);
  if (block->argument_count != count) {
    tfrt_verifier_op_error(verifier, operation,
                           "incorrect number of arguments to '%s' block: %u instead of %u", name,
                           block->argument_count, count);
    return;
  }
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    uint32_t argument = tfrt_schema_region_argument(descriptor, index, i);
    const tfrt_ir_type_t* type = operation->operands[i].value->type;
    if (argument == UINT32_MAX || block->arguments[argument]->type == type) continue;
    tfrt_verifier_op_error(verifier, operation,
                           "argument #%u of '%s' block must be '%s', as the operand is", argument,
                           name, type->text->data);
  }
  if (!block->last || !tfrt_ir_operation_is(block->last, "tfrt.return")) {
    tfrt_verifier_op_error(verifier, operation, "expected tfrt.return in body");
  }
}

static void check_regions(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  if (!check_count(verifier, operation, "region", operation->region_count, descriptor->region_count,
                   false, false, "")) {
    return;
  }
  if (operation->operand_count < tfrt_kernel_descriptor_fixed_operands(descriptor)) return;
  // language_verifier.c says more of these.
  if (descriptor->flags & TFRT_KERNEL_LANGUAGE) return;
  for (uint32_t i = 0; i < operation->region_count; ++i) check_region(verifier, operation, i);
}

static void check_function_return(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                                  const tfrt_ir_operation_t* function) {
  const tfrt_ir_type_t* type = tfrt_ir_function_type(function);
  if (!type) return;
  if (operation->operand_count != type->result_count) {
    tfrt_verifier_op_error(verifier, operation,
                           "has %u operands, but enclosing function returns %u",
                           operation->operand_count, type->result_count);
    return;
  }
  for (uint32_t i = 0; i < type->result_count; ++i) {
    const tfrt_ir_type_t* returned = operation->operands[i].value->type;
    if (returned == type->results[i]) continue;
    tfrt_verifier_report(verifier, TFRT_SEVERITY_ERROR, operation,
                         "type of return operand %u ('%s') doesn't match function result type "
                         "('%s')",
                         i, returned->text->data, type->results[i]->text->data);
  }
}

// A return in a region of |parent|, an op of the table.
static void check_region_return(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                                const tfrt_ir_operation_t* parent) {
  uint32_t index = operation->block->region->index;
  if (index >= parent->descriptor->region_count) return;
  const tfrt_region_descriptor_t* region = &parent->descriptor->regions[index];
  if (region->may_yield_nothing && !operation->operand_count) return;
  uint32_t count = region->yields ? region->yield_count : parent->result_count;
  bool fits = operation->operand_count == count;
  for (uint32_t i = 0; fits && i < count; ++i) {
    const tfrt_ir_type_t* type = operation->operands[i].value->type;
    fits = region->yields ? tfrt_schema_type_fits(region->yields[i].type, type)
                          : type == parent->results[i].type;
  }
  if (fits) return;
  tfrt_verifier_op_error(verifier, operation, "operand types don't match '%s' result",
                         parent->name->data);
}

// A return, by what stands around it.
static void check_return(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_operation_t* parent = tfrt_ir_operation_parent(operation);
  if (!parent) return;
  if (tfrt_ir_is_function(parent)) {
    check_function_return(verifier, operation, parent);
  } else if (parent->descriptor) {
    check_region_return(verifier, operation, parent);
  }
}

// --- Shapes ------------------------------------------------------------------------------------

// The place for the shape of ops of |descriptor|.
static size_t place_of_shape(const tfrt_kernel_descriptor_t* descriptor) {
  return ((uintptr_t)descriptor >> 4) % TFRT_VERIFIER_SHAPE_COUNT;
}

// Whether |attribute| says the same wherever it stands: it names no function.
static bool means_the_same(const tfrt_ir_attribute_t* attribute) {
  return attribute->kind != TFRT_IR_ATTRIBUTE_SYMBOL && attribute->kind != TFRT_IR_ATTRIBUTE_ARRAY;
}

// Whether nothing but the types of its operands and results and its attributes decides about
// |operation|, wherever it stands, and there are few of them.
static bool is_plain(const tfrt_ir_operation_t* operation) {
  if (operation->attribute_count > TFRT_VERIFIER_SHAPE_ATTRIBUTES) return false;
  for (uint32_t i = 0; i < operation->attribute_count; ++i) {
    if (!means_the_same(operation->attributes[i].value)) return false;
  }
  return !operation->region_count && !operation->successor_count &&
         !(operation->descriptor->flags & TFRT_KERNEL_CALL_OPTIONS) &&
         !tfrt_ir_operation_is_terminator(operation) &&
         operation->operand_count < TFRT_VERIFIER_SHAPE_TYPES &&
         operation->operand_count + operation->result_count <= TFRT_VERIFIER_SHAPE_TYPES;
}

bool tfrt_verifier_is_like_good(const tfrt_verifier_t* verifier,
                                const tfrt_ir_operation_t* operation) {
  if (!operation->descriptor || operation->region_count || operation->successor_count) return false;
  const tfrt_verifier_shape_t* shape = &verifier->good[place_of_shape(operation->descriptor)];
  bool same = shape->descriptor == operation->descriptor &&
              shape->operand_count == operation->operand_count &&
              shape->result_count == operation->result_count &&
              shape->attribute_count == operation->attribute_count;
  const tfrt_ir_type_t* const* type = shape->types;
  for (uint32_t i = 0; same && i < operation->operand_count; ++i) {
    same = *type++ == operation->operands[i].value->type;
  }
  for (uint32_t i = 0; same && i < operation->result_count; ++i) {
    same = *type++ == operation->results[i].type;
  }
  for (uint32_t i = 0; same && i < operation->attribute_count; ++i) {
    same = shape->attributes[i].name == operation->attributes[i].name &&
           shape->attributes[i].value == operation->attributes[i].value;
  }
  return same;
}

static void remember_shape(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  tfrt_verifier_shape_t* shape = &verifier->good[place_of_shape(operation->descriptor)];
  *shape = (tfrt_verifier_shape_t){.descriptor = operation->descriptor,
                                   .operand_count = operation->operand_count,
                                   .result_count = operation->result_count,
                                   .attribute_count = operation->attribute_count};
  const tfrt_ir_type_t** type = shape->types;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    *type++ = operation->operands[i].value->type;
  }
  for (uint32_t i = 0; i < operation->result_count; ++i) *type++ = operation->results[i].type;
  for (uint32_t i = 0; i < operation->attribute_count; ++i) {
    shape->attributes[i] = operation->attributes[i];
  }
}

// --- The whole op ------------------------------------------------------------------------------

void tfrt_verifier_check_op(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_cost(verifier, operation);
  if (!operation->descriptor) return;
  size_t errors_before = verifier->diagnostics->error_count;
  check_operands(verifier, operation);
  check_results(verifier, operation);
  check_attributes(verifier, operation);
  check_reads(verifier, operation);
  check_regions(verifier, operation);
  if (tfrt_ir_operation_is_return(operation)) check_return(verifier, operation);
  tfrt_verifier_check_callees(verifier, operation);
  if (operation->descriptor->flags & TFRT_KERNEL_LANGUAGE) {
    tfrt_verifier_check_language(verifier, operation);
  } else if (operation->successor_count) {
    tfrt_verifier_op_error(verifier, operation, "can't have successors");
  }
  bool is_good = verifier->diagnostics->error_count == errors_before;
  if (is_good && is_plain(operation)) remember_shape(verifier, operation);
}
