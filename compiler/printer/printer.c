// SPDX-License-Identifier: Apache-2.0

#include "compiler/printer/printer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "compiler/printer/printer_impl.h"

static void print_operation(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation);

void tfrt_printer_newline(tfrt_printer_t* printer) {
  static const char blanks[] = "\n                                                                ";
  size_t size = 1 + (size_t)2 * printer->indent;
  if (size < sizeof(blanks)) {
    tfrt_quick_text_append_view(printer->builder, tfrt_string_view_make(blanks, size));
    return;
  }
  tfrt_string_builder_append_char(printer->builder, '\n');
  tfrt_string_builder_append_fill(printer->builder, ' ', size - 1);
}

TFRT_ALWAYS_INLINE void append(tfrt_printer_t* printer, const char* text) {
  tfrt_quick_text_append(printer->builder, text);
}

// The text of |type|.
static void append_type(tfrt_printer_t* printer, const tfrt_ir_type_t* type) {
  tfrt_quick_text_append_view(printer->builder, tfrt_ir_string_view(type->text));
}

void tfrt_printer_operands(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                           uint32_t first, uint32_t count, bool typed) {
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_ir_value_t* value = operation->operands[first + i].value;
    if (tfrt_ir_value_is_missing(value)) continue;
    if (any) append(printer, ", ");
    any = true;
    tfrt_value_names_append(&printer->names, value, printer->builder);
    if (!typed) continue;
    append(printer, " : ");
    append_type(printer, value->type);
  }
}

// --- Blocks and regions ---------------------------------------------------------------

// ` loc(...)` behind |argument|, if it has one and that is wanted.
static void print_argument_location(tfrt_printer_t* printer, const tfrt_ir_value_t* argument) {
  const tfrt_ir_location_t* location = tfrt_ir_value_argument(argument)->location;
  if (!printer->options.locations || !location) return;
  append(printer, " ");
  tfrt_print_location(location, printer->builder);
}

static void print_arguments(tfrt_printer_t* printer, const tfrt_ir_block_t* block) {
  append(printer, "(");
  for (uint32_t i = 0; i < block->argument_count; ++i) {
    const tfrt_ir_value_t* argument = block->arguments[i];
    if (i) append(printer, ", ");
    tfrt_value_names_append(&printer->names, argument, printer->builder);
    append(printer, ": ");
    append_type(printer, argument->type);
    print_argument_location(printer, argument);
  }
  append(printer, ")");
}

// A way from one block of a region to another: their places in it.
typedef struct edge_s {
  uint32_t to;
  uint32_t from;
} edge_t;

static int compare_edges(const void* a, const void* b) {
  const edge_t* left = a;
  const edge_t* right = b;
  if (left->to != right->to) return left->to < right->to ? -1 : 1;
  return (left->from > right->from) - (left->from < right->from);
}

// Pushes all ways between the blocks of |region|, in order of the blocks that they go to.
static void find_edges(const tfrt_ir_region_t* region, tfrt_scratch_t* edges) {
  for (const tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    const tfrt_ir_operation_t* last = block->last;
    for (uint32_t i = 0; last && i < last->successor_count; ++i) {
      edge_t edge = {tfrt_ir_operation_successors(last)[i]->scratch, block->scratch};
      if (!tfrt_scratch_push(edges, &edge)) return;
    }
  }
  if (edges->count) {
    qsort(tfrt_scratch_at(edges, 0), edges->count, sizeof(edge_t), compare_edges);
  }
}

// The comment of stock MLIR that names the predecessors of the block at |index|. |*in_out_first| is
// the first of the |edges| to it, and then the first one to a later block.
static void print_predecessors(tfrt_printer_t* printer, tfrt_scratch_t* edges, uint32_t index,
                               size_t* in_out_first) {
  size_t first = *in_out_first;
  size_t end = first;
  while (end < edges->count && ((edge_t*)tfrt_scratch_at(edges, end))->to == index) ++end;
  *in_out_first = end;
  if (end == first) {
    append(printer, "  // no predecessors");
    return;
  }
  if (end == first + 1) {
    append(printer, "  // pred: ");
  } else {
    tfrt_string_builder_append_format(printer->builder, "  // %zu preds: ", end - first);
  }
  for (size_t i = first; i < end; ++i) {
    const edge_t* edge = tfrt_scratch_at(edges, i);
    tfrt_string_builder_append_format(printer->builder, "%s^bb%" PRIu32, i > first ? ", " : "",
                                      edge->from);
  }
}

// `^bb0(%a: T):` on a line of its own.
static void print_label(tfrt_printer_t* printer, const tfrt_ir_block_t* block, uint32_t index) {
  tfrt_string_builder_append_format(printer->builder, "\n%*s^bb%" PRIu32,
                                    (int)(2 * printer->indent - 2), "", index);
  if (block->argument_count) print_arguments(printer, block);
  append(printer, ":");
}

// True if the ops of |block|, a function's, come one by one.
static bool is_streamed(const tfrt_printer_t* printer, const tfrt_ir_block_t* block) {
  return printer->options.next && !block->first && tfrt_ir_is_function(block->region->owner);
}

static void print_ops(tfrt_printer_t* printer, tfrt_ir_block_t* block,
                      const tfrt_ir_operation_t* hidden) {
  if (is_streamed(printer, block)) {
    tfrt_ir_operation_t* op = NULL;
    while (!printer->builder->failed &&
           (op = printer->options.next(block, printer->options.user_data))) {
      tfrt_value_names_add_operation(&printer->names, op);
      tfrt_printer_newline(printer);
      print_operation(printer, op);
    }
    return;
  }
  for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (op == hidden) continue;
    tfrt_printer_newline(printer);
    print_operation(printer, op);
  }
}

static void print_region(tfrt_printer_t* printer, const tfrt_ir_region_t* region, bool labels,
                         const tfrt_ir_operation_t* hidden) {
  append(printer, "{");
  ++printer->indent;
  uint32_t index = 0;
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    block->scratch = index++;
  }
  tfrt_scratch_t edges;
  tfrt_scratch_initialize(&edges, sizeof(edge_t), printer->builder->allocator);
  bool has_comments = printer->options.generic && index > 1;
  if (has_comments) find_edges(region, &edges);
  size_t next_edge = 0;
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    bool is_first = block == region->first_block;
    // A first block that is empty needs its label as well, or there would be none.
    bool is_empty = !block->first && !is_streamed(printer, block);
    bool has_label = !is_first || (labels && (block->argument_count || is_empty));
    if (has_label) print_label(printer, block, block->scratch);
    if (has_comments && !is_first) {
      print_predecessors(printer, &edges, block->scratch, &next_edge);
    }
    print_ops(printer, block, hidden);
  }
  tfrt_scratch_deinitialize(&edges);
  --printer->indent;
  tfrt_printer_newline(printer);
  append(printer, "}");
}

void tfrt_printer_region(tfrt_printer_t* printer, const tfrt_ir_region_t* region, bool labels) {
  print_region(printer, region, labels, NULL);
}

void tfrt_printer_open_region(tfrt_printer_t* printer, const tfrt_ir_region_t* region) {
  print_region(printer, region, false, region->last_block ? region->last_block->last : NULL);
}

// --- The generic form ------------------------------------------------------------------

static void print_regions(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  if (!operation->region_count) return;
  bool isolated = tfrt_value_names_is_isolated(&printer->names, operation);
  // The names in it keep clear of all that the function has, and not all are known yet.
  bool is_early = isolated && printer->options.next && !tfrt_ir_is_function(operation) &&
                  !tfrt_ir_is_module(operation);
  if (is_early) printer->builder->failed = true;
  append(printer, " (");
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    if (i) append(printer, ", ");
    if (isolated) {
      tfrt_value_names_begin_inside(&printer->names);
      tfrt_value_names_add_region(&printer->names, &operation->regions[i]);
    }
    tfrt_printer_region(printer, &operation->regions[i], true);
    if (isolated) tfrt_value_names_end(&printer->names);
  }
  append(printer, ")");
}

static void print_entry(tfrt_printer_t* printer, const tfrt_ir_named_attribute_t* entry) {
  tfrt_printer_key(printer->builder, tfrt_ir_string_view(entry->name));
  if (entry->value->kind == TFRT_IR_ATTRIBUTE_UNIT) return;
  append(printer, " = ");
  tfrt_print_attribute(entry->value, printer->builder);
}

static void print_types(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  append(printer, " : (");
  bool any = false;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    const tfrt_ir_value_t* value = operation->operands[i].value;
    if (tfrt_ir_value_is_missing(value)) continue;
    if (any) append(printer, ", ");
    any = true;
    append_type(printer, value->type);
  }
  bool has_function = false;
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    has_function = has_function || operation->results[i].type->kind == TFRT_IR_TYPE_FUNCTION;
  }
  bool bare = tfrt_ir_operation_written_results(operation) == 1 && !has_function;
  append(printer, bare ? ") -> " : ") -> (");
  any = false;
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    if (tfrt_ir_operation_lacks_result(operation, i)) continue;
    if (any) append(printer, ", ");
    any = true;
    append_type(printer, operation->results[i].type);
  }
  if (!bare) append(printer, ")");
}

// Appends the attributes of |operation| that are |properties|, or those that are not, between
// |begin| and |end|, if there are any.
static void print_some_attributes(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                                  const tfrt_printer_properties_t* properties, bool are_properties,
                                  const char* begin, const char* end) {
  bool any = false;
  for (uint32_t i = 0; i < operation->attribute_count; ++i) {
    const tfrt_ir_named_attribute_t* entry = &operation->attributes[i];
    if (tfrt_printer_is_property(operation, properties, entry) != are_properties) continue;
    append(printer, any ? ", " : begin);
    any = true;
    print_entry(printer, entry);
  }
  if (any) append(printer, end);
}

// The properties of |operation|. Most ops are like one before.
static const tfrt_printer_properties_t* properties_of(tfrt_printer_t* printer,
                                                      const tfrt_ir_operation_t* operation) {
  size_t place = (uintptr_t)operation->name / sizeof(void*) % TFRT_PRINTER_RECENT_COUNT;
  tfrt_printer_recent_t* recent = &printer->recent[place];
  if (recent->name != operation->name || recent->descriptor != operation->descriptor) {
    *recent = (tfrt_printer_recent_t){operation->name, operation->descriptor,
                                      tfrt_printer_find_properties(operation)};
  }
  return &recent->properties;
}

// The attributes of |operation|, and its regions between them.
static void print_inside(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  if (!operation->attribute_count && !operation->properties) {
    print_regions(printer, operation);
    return;
  }
  // A copy: ops in the regions may take its place.
  tfrt_printer_properties_t properties = *properties_of(printer, operation);
  if (operation->properties) {
    append(printer, " <");
    tfrt_print_attribute(operation->properties, printer->builder);
    append(printer, ">");
  } else {
    print_some_attributes(printer, operation, &properties, true, " <{", "}>");
  }
  print_regions(printer, operation);
  print_some_attributes(printer, operation, &properties, false, " {", "}");
}

static void print_generic(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_string_builder_t* builder = printer->builder;
  tfrt_print_string(tfrt_ir_string_view(operation->name), builder);
  append(printer, "(");
  tfrt_printer_operands(printer, operation, 0, operation->operand_count, false);
  append(printer, ")");
  for (uint32_t i = 0; i < operation->successor_count; ++i) {
    tfrt_string_builder_append_format(builder, "%s^bb%" PRIu32, i ? ", " : "[",
                                      tfrt_ir_operation_successors(operation)[i]->scratch);
  }
  if (operation->successor_count) append(printer, "]");
  print_inside(printer, operation);
  print_types(printer, operation);
}

// --- Functions and modules ----------------------------------------------------------------

// Appends the attributes that are not named in |hidden|, if any are left, in braces behind
// |prefix|.
static void print_others(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                         const char* const* hidden, size_t hidden_count, const char* prefix) {
  bool any = false;
  for (uint32_t i = 0; i < operation->attribute_count; ++i) {
    const tfrt_ir_named_attribute_t* entry = &operation->attributes[i];
    bool is_hidden = false;
    for (size_t k = 0; k < hidden_count; ++k) {
      is_hidden = is_hidden || tfrt_ir_string_is(entry->name, hidden[k]);
    }
    if (is_hidden) continue;
    append(printer, any ? ", " : prefix);
    any = true;
    print_entry(printer, entry);
  }
  if (any) append(printer, "}");
}

// The same behind the word `attributes`.
static void print_attributes(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                             const char* const* hidden, size_t hidden_count) {
  print_others(printer, operation, hidden, hidden_count, " attributes {");
}

void tfrt_printer_other_attributes(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                                   const char* const* hidden, size_t hidden_count) {
  print_others(printer, operation, hidden, hidden_count, " {");
}

// The non-empty dictionary |index| of the array |dictionaries|, with a blank before it.
static void print_dictionary_of(tfrt_printer_t* printer, const tfrt_ir_attribute_t* dictionaries,
                                uint32_t index) {
  if (!dictionaries || !dictionaries->elements[index]->count) return;
  append(printer, " ");
  tfrt_print_attribute(dictionaries->elements[index], printer->builder);
}

static void print_parameters(tfrt_printer_t* printer, const tfrt_ir_operation_t* function,
                             const tfrt_ir_type_t* type) {
  const tfrt_ir_block_t* block = function->regions[0].first_block;
  const tfrt_ir_attribute_t* dictionaries = tfrt_ir_operation_attribute(function, "arg_attrs");
  append(printer, "(");
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (i) append(printer, ", ");
    if (block) {
      tfrt_value_names_append(&printer->names, block->arguments[i], printer->builder);
      append(printer, ": ");
    }
    append_type(printer, type->inputs[i]);
    print_dictionary_of(printer, dictionaries, i);
    if (block) print_argument_location(printer, block->arguments[i]);
  }
  append(printer, ")");
}

static void print_results(tfrt_printer_t* printer, const tfrt_ir_operation_t* function,
                          const tfrt_ir_type_t* type) {
  const tfrt_ir_attribute_t* dictionaries = tfrt_ir_operation_attribute(function, "res_attrs");
  if (!type->result_count) return;
  bool bare =
      type->result_count == 1 && type->results[0]->kind != TFRT_IR_TYPE_FUNCTION && !dictionaries;
  append(printer, bare ? " -> " : " -> (");
  for (uint32_t i = 0; i < type->result_count; ++i) {
    if (i) append(printer, ", ");
    append_type(printer, type->results[i]);
    print_dictionary_of(printer, dictionaries, i);
  }
  if (!bare) append(printer, ")");
}

// True if |attribute| is missing, or |count| dictionaries.
static bool are_dictionaries(const tfrt_ir_attribute_t* attribute, uint32_t count) {
  if (!attribute) return true;
  if (attribute->kind != TFRT_IR_ATTRIBUTE_ARRAY || attribute->count != count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (attribute->elements[i]->kind != TFRT_IR_ATTRIBUTE_DICTIONARY) return false;
  }
  return true;
}

// True if |function| is well enough formed for its custom form.
static bool is_plain_function(const tfrt_ir_operation_t* function) {
  const tfrt_ir_type_t* type = tfrt_ir_function_type(function);
  const tfrt_ir_attribute_t* visibility = tfrt_ir_operation_attribute(function, "sym_visibility");
  if (!type || function->region_count != 1 || function->operand_count || function->result_count) {
    return false;
  }
  if (!tfrt_ir_symbol_name(function).size) return false;
  if (visibility && (visibility->kind != TFRT_IR_ATTRIBUTE_STRING || visibility->type)) {
    return false;
  }
  const tfrt_ir_block_t* block = function->regions[0].first_block;
  bool fits = !block || block->argument_count == type->input_count;
  for (uint32_t i = 0; fits && block && i < type->input_count; ++i) {
    fits = block->arguments[i]->type == type->inputs[i];
  }
  return fits &&
         are_dictionaries(tfrt_ir_operation_attribute(function, "arg_attrs"), type->input_count) &&
         are_dictionaries(tfrt_ir_operation_attribute(function, "res_attrs"), type->result_count);
}

static void print_function(tfrt_printer_t* printer, const tfrt_ir_operation_t* function) {
  static const char* const hidden[] = {"arg_attrs", "function_type", "res_attrs", "sym_name",
                                       "sym_visibility"};
  const tfrt_ir_type_t* type = tfrt_ir_function_type(function);
  const tfrt_ir_attribute_t* visibility = tfrt_ir_operation_attribute(function, "sym_visibility");
  append(printer, function->name->data);
  append(printer, " ");
  if (visibility) {
    tfrt_string_builder_append_view(printer->builder, tfrt_ir_attribute_text(visibility));
    append(printer, " ");
  }
  append(printer, "@");
  tfrt_printer_key(printer->builder, tfrt_ir_symbol_name(function));
  tfrt_value_names_begin_inside(&printer->names);
  tfrt_value_names_add_region(&printer->names, &function->regions[0]);
  print_parameters(printer, function, type);
  print_results(printer, function, type);
  print_attributes(printer, function, hidden, TFRT_ARRAY_SIZE(hidden));
  if (function->regions[0].first_block) {
    append(printer, " ");
    tfrt_printer_region(printer, &function->regions[0], false);
  }
  tfrt_value_names_end(&printer->names);
}

static bool is_plain_module(const tfrt_ir_operation_t* module) {
  const tfrt_ir_block_t* block = module->region_count == 1 ? tfrt_ir_module_block(module) : NULL;
  return block && !block->next && !block->argument_count && !module->operand_count &&
         !module->result_count;
}

static void print_module(tfrt_printer_t* printer, const tfrt_ir_operation_t* module) {
  static const char* const hidden[] = {"sym_name"};
  append(printer, "module ");
  if (tfrt_ir_symbol_name(module).size) {
    append(printer, "@");
    tfrt_printer_key(printer->builder, tfrt_ir_symbol_name(module));
    append(printer, " ");
  }
  // "attributes" brings its own blank.
  if (printer->builder->size) --printer->builder->size;
  print_attributes(printer, module, hidden, TFRT_ARRAY_SIZE(hidden));
  append(printer, " ");
  tfrt_value_names_begin_inside(&printer->names);
  tfrt_value_names_add_region(&printer->names, &module->regions[0]);
  tfrt_printer_region(printer, &module->regions[0], false);
  tfrt_value_names_end(&printer->names);
}

// --- One op ----------------------------------------------------------------------------------

static void print_operation(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  if (printer->options.read && operation->region_count && operation->regions[0].unread) {
    size_t size = operation->regions[0].unread->printed_size;
    if (!tfrt_function_texts_place(&printer->functions, printer->builder->size, size)) {
      printer->builder->failed = true;
    }
    return;
  }
  tfrt_value_names_append_results(&printer->names, operation, printer->builder);
  bool custom = !printer->options.generic;
  if (custom && tfrt_ir_is_module(operation) && is_plain_module(operation)) {
    print_module(printer, operation);
  } else if (custom && tfrt_ir_is_function(operation) && is_plain_function(operation)) {
    print_function(printer, operation);
  } else if (custom && tfrt_printer_can_be_custom(printer, operation)) {
    tfrt_printer_assembly(printer, operation);
  } else {
    print_generic(printer, operation);
  }
  if (!printer->options.locations) return;
  append(printer, " ");
  tfrt_print_location(operation->location, printer->builder);
}

// --- Functions whose bodies are unread ---------------------------------------------------------

// Reads the function of |head|, and prints it: it is forgotten when the next one is read.
static void print_function_ahead(tfrt_ir_operation_t* head, void* user_data) {
  tfrt_printer_t* printer = user_data;
  tfrt_string_builder_t* builder = printer->builder;
  if (builder->failed) return;
  const tfrt_ir_operation_t* function = printer->options.read(head, printer->options.user_data);
  if (!function) {
    builder->failed = true;
    return;
  }
  tfrt_value_names_number_function(&printer->names, function);
  for (const tfrt_ir_operation_t* op = head; (op = tfrt_ir_operation_parent(op));) {
    ++printer->indent;
  }
  tfrt_string_builder_clear(builder);
  print_operation(printer, function);
  printer->indent = 0;
  if (builder->failed) return;
  head->regions[0].unread->printed_size = builder->size;
  bool ok = tfrt_function_texts_add(&printer->functions, tfrt_string_builder_view(builder));
  tfrt_string_builder_clear(builder);
  builder->failed = !ok;
}

// A module that says nothing itself is left out: its ops are the text.
static bool is_implicit_module(const tfrt_printer_t* printer,
                               const tfrt_ir_operation_t* operation) {
  if (printer->options.generic || printer->options.locations) return false;
  if (!tfrt_ir_is_module(operation) || operation->attribute_count) return false;
  return is_plain_module(operation) && tfrt_ir_module_block(operation)->first &&
         // Alone it would be taken for the module that is left out.
         !tfrt_ir_is_module(tfrt_ir_module_block(operation)->first);
}

// Prints |operation| with |printer|, which is initialised.
static void print(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_value_names_begin(&printer->names);
  bool numbers_all = printer->options.generic && printer->options.unnamed_values;
  if (numbers_all && tfrt_ir_is_module(operation)) {
    const tfrt_value_names_unread_t unread = {print_function_ahead, printer};
    tfrt_value_names_number_all(&printer->names, operation, printer->options.read ? &unread : NULL);
  }
  if (is_implicit_module(printer, operation)) {
    tfrt_value_names_add_region(&printer->names, &operation->regions[0]);
    for (const tfrt_ir_operation_t* op = tfrt_ir_module_block(operation)->first; op;
         op = op->next) {
      print_operation(printer, op);
      if (op->next) tfrt_printer_newline(printer);
    }
  } else {
    print_operation(printer, operation);
  }
  tfrt_string_builder_append_char(printer->builder, '\n');
}

// Prints |operation|, and functions whose bodies are unread into it.
static void print_woven(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                        tfrt_string_builder_t* builder) {
  tfrt_string_builder_t around;
  tfrt_string_builder_initialize(&around, builder->allocator);
  tfrt_function_texts_initialize(&printer->functions, builder->allocator);
  printer->builder = &around;
  around.failed = !tfrt_function_texts_reserve(&printer->functions, printer->options.expected_size);
  print(printer, operation);
  if (around.failed) {
    builder->failed = true;
  } else {
    tfrt_function_texts_weave(&printer->functions, tfrt_string_builder_view(&around), builder);
  }
  tfrt_function_texts_deinitialize(&printer->functions);
  tfrt_string_builder_deinitialize(&around);
}

void tfrt_print_operation(const tfrt_ir_operation_t* operation,
                          const tfrt_printer_options_t* options, tfrt_string_builder_t* builder) {
  tfrt_printer_t printer = {.builder = builder};
  if (options) printer.options = *options;
  tfrt_value_names_initialize(&printer.names, printer.options.unnamed_values,
                              printer.options.generic, builder->allocator);
  if (printer.options.read) {
    print_woven(&printer, operation, builder);
  } else {
    print(&printer, operation);
  }
  tfrt_value_names_deinitialize(&printer.names);
}
