// SPDX-License-Identifier: Apache-2.0

#include <string.h>

#include "compiler/op_table/schema.h"
#include "compiler/printer/printer_impl.h"
#include "host_runtime/executor/descriptor/assembly.h"

// --- Whether the custom form can say it --------------------------------------------------

static bool has_dictionary(const tfrt_custom_form_t* form) {
  return tfrt_custom_form_has(form, TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY) ||
         tfrt_custom_form_has(form, TFRT_ASSEMBLY_ATTRIBUTES);
}

static bool operands_fit(const tfrt_custom_form_t* form, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  if (operation->operand_count < tfrt_kernel_descriptor_fixed_operands(descriptor)) return false;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(descriptor, i);
    bool is_one_more = i == descriptor->operand_count && i + 1 == operation->operand_count &&
                       (descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN) != 0 &&
                       tfrt_custom_form_has(form, TFRT_ASSEMBLY_OPERANDS);
    bool may_be_chain = is_one_more || (descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN &&
                                        i + 1 == operation->operand_count &&
                                        i >= tfrt_kernel_descriptor_fixed_operands(descriptor));
    if (may_be_chain && tfrt_ir_type_is(operation->operands[i].value->type, "!tfrt.chain")) {
      continue;
    }
    if (!entry || !tfrt_schema_type_fits(entry->type, operation->operands[i].value->type)) {
      return false;
    }
  }
  return true;
}

// True if the text can do without those chains that |operation| lacks: all of its operands or none
// do, and it has no regions, whose arguments have the names of operands.
static bool chains_fit(const tfrt_ir_operation_t* operation) {
  uint32_t missing = 0;
  uint32_t chains = 0;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(operation->descriptor);
  for (uint32_t i = 0; i < fixed_count; ++i) {
    if (!tfrt_kernel_descriptor_is_chain(operation->descriptor->operands[i].type)) continue;
    ++chains;
    missing += tfrt_ir_value_is_missing(operation->operands[i].value);
  }
  return !missing || (missing == chains && !operation->region_count);
}

static bool results_fit(const tfrt_custom_form_t* form, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  uint32_t fixed_operands = tfrt_kernel_descriptor_fixed_operands(descriptor);
  uint32_t fixed_results = tfrt_kernel_descriptor_fixed_results(descriptor);
  if (operation->result_count < fixed_results) return false;
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    const tfrt_result_descriptor_t* entry = tfrt_kernel_descriptor_result(descriptor, i);
    if (!entry || !tfrt_schema_type_fits(entry->type, operation->results[i].type)) return false;
    const tfrt_ir_value_t* like = tfrt_schema_type_operand(operation, i);
    if (like && like->type != operation->results[i].type) return false;
  }
  // Without a function type, the results' types are those of the variadic operands.
  bool is_written = tfrt_custom_form_has(form, TFRT_ASSEMBLY_FUNCTION) ||
                    tfrt_custom_form_has(form, TFRT_ASSEMBLY_SIGNATURE) ||
                    tfrt_custom_form_has(form, TFRT_ASSEMBLY_WHOLE_SIGNATURE);
  if (is_written || fixed_results == descriptor->result_count) return true;
  uint32_t count = operation->result_count - fixed_results;
  if (count != operation->operand_count - fixed_operands) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (operation->results[fixed_results + i].type !=
        operation->operands[fixed_operands + i].value->type) {
      return false;
    }
  }
  return true;
}

static tfrt_string_view_t string_of(const tfrt_ir_attribute_t* attribute) {
  return tfrt_string_view_make(attribute->bytes, attribute->size);
}

static bool attributes_fit(const tfrt_custom_form_t* form, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  bool settings = tfrt_custom_form_has(form, TFRT_ASSEMBLY_SETTINGS);
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &descriptor->attributes[i];
    const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, entry->name);
    tfrt_string_view_t name = tfrt_string_view_of(entry->name);
    bool is_written = settings || tfrt_custom_form_names(form, name, false);
    if (!value && (is_written || entry->default_value)) return false;
    if (value && is_written && !tfrt_schema_attribute_fits(entry->kind, value)) return false;
    if (value && tfrt_custom_form_names(form, name, true) &&
        (value->type || !tfrt_assembly_is_keyword(string_of(value)))) {
      return false;
    }
  }
  if (has_dictionary(form)) return true;
  for (uint32_t i = 0; i < operation->attribute_count; ++i) {
    tfrt_string_view_t name = tfrt_ir_string_view(operation->attributes[i].name);
    if (!tfrt_schema_find_attribute(descriptor, name)) return false;
  }
  return true;
}

// True if region |index| gets the operands it should, each under a name of its own.
static bool region_fits(const tfrt_ir_operation_t* operation, uint32_t index) {
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(&operation->regions[index]);
  uint32_t count =
      tfrt_schema_region_argument_count(operation->descriptor, index, operation->operand_count);
  if (!block || block->argument_count != count) return false;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    const tfrt_ir_value_t* operand = operation->operands[i].value;
    uint32_t argument = tfrt_schema_region_argument(operation->descriptor, index, i);
    if (argument == UINT32_MAX) continue;
    if (block->arguments[argument]->type != operand->type) return false;
    for (const tfrt_ir_operand_t* use = operand->first_use; use; use = use->next) {
      bool is_other = use->owner == operation && tfrt_ir_operand_index(use) != i;
      if (is_other && tfrt_schema_region_argument(operation->descriptor, index,
                                                  tfrt_ir_operand_index(use)) != UINT32_MAX) {
        return false;
      }
    }
  }
  return true;
}

// True if nothing of the custom form of |operation| stands between its name and what follows it: an
// op on the next line, whose first result would be taken for an operand.
static bool is_bare(const tfrt_custom_form_t* form, const tfrt_ir_operation_t* operation) {
  if (tfrt_ir_operation_is_terminator(operation)) return false;
  uint32_t written = 0;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    written += !tfrt_ir_value_is_missing(operation->operands[i].value);
  }
  return !written && form->word_count && form->words[0].kind == TFRT_ASSEMBLY_OPERANDS;
}

// The form of |operation|, which has an assembly.
static tfrt_custom_form_t* form_of(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_custom_form_t* form =
      tfrt_custom_forms_get(&printer->forms, &printer->names.arena, operation->descriptor);
  if (!form) printer->builder->failed = true;
  return form;
}

bool tfrt_printer_can_be_custom(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  if (!descriptor || !descriptor->assembly) return false;
  if (descriptor->flags & TFRT_KERNEL_LANGUAGE) return tfrt_printer_syntax_fits(operation);
  tfrt_custom_form_t* form = form_of(printer, operation);
  if (!form) return false;
  if (tfrt_custom_form_is_known(form, operation)) return true;
  if (operation->successor_count) return false;
  if (operation->region_count != descriptor->region_count || is_bare(form, operation)) return false;
  bool fits = operands_fit(form, operation) && results_fit(form, operation) &&
              chains_fit(operation) && attributes_fit(form, operation);
  for (uint32_t i = 0; fits && i < operation->region_count; ++i) fits = region_fits(operation, i);
  if (fits) tfrt_custom_form_remember(form, operation);
  return fits;
}

// --- Printing ------------------------------------------------------------------------------

// Where a walk over the words stands.
typedef struct walk_s {
  tfrt_printer_t* printer;
  const tfrt_ir_operation_t* operation;
  const tfrt_custom_form_t* form;
  uint32_t operand;  // the next one to print
  bool tight;        // no blank before the next word
  bool is_in;        // the last word was `in`
} walk_t;

TFRT_ALWAYS_INLINE void append(walk_t* walk, const char* text) {
  tfrt_quick_text_append(walk->printer->builder, text);
}

static void append_type(walk_t* walk, const tfrt_ir_type_t* type) {
  tfrt_quick_text_append_view(walk->printer->builder, tfrt_ir_string_view(type->text));
}

// A blank, unless an opening parenthesis was printed last.
static void space(walk_t* walk) {
  if (!walk->tight) append(walk, " ");
  walk->tight = false;
}

static void print_operands(walk_t* walk, uint32_t count, bool typed) {
  uint32_t written = 0;
  for (uint32_t i = 0; i < count; ++i) {
    written += !tfrt_ir_value_is_missing(walk->operation->operands[walk->operand + i].value);
  }
  if (written) {
    space(walk);
    tfrt_printer_operands(walk->printer, walk->operation, walk->operand, count, typed);
  }
  walk->operand += count;
}

static void print_attribute(walk_t* walk, const tfrt_assembly_word_t* word) {
  const tfrt_ir_operation_t* operation = walk->operation;
  const tfrt_attribute_descriptor_t* entry =
      tfrt_schema_find_attribute(operation->descriptor, word->name);
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, entry->name);
  space(walk);
  if (word->kind == TFRT_ASSEMBLY_KEYWORD) {
    tfrt_string_builder_append_view(walk->printer->builder, string_of(value));
  } else if (word->kind == TFRT_ASSEMBLY_ATTRIBUTE) {
    tfrt_printer_literal(walk->printer->builder, value);
  } else {
    tfrt_print_attribute(value, walk->printer->builder);
  }
}

// True if |value| is what |entry| says when nothing is written.
static bool is_default(const tfrt_attribute_descriptor_t* entry, const tfrt_ir_attribute_t* value,
                       tfrt_allocator_t allocator) {
  if (!entry->default_value) return false;
  tfrt_string_builder_t builder;
  tfrt_string_builder_initialize(&builder, allocator);
  tfrt_printer_literal(&builder, value);
  bool equal =
      !builder.failed && strcmp(tfrt_string_builder_text(&builder), entry->default_value) == 0;
  tfrt_string_builder_deinitialize(&builder);
  return equal;
}

static void print_settings(walk_t* walk) {
  const tfrt_kernel_descriptor_t* descriptor = walk->operation->descriptor;
  tfrt_string_builder_t* builder = walk->printer->builder;
  bool any = false;
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &descriptor->attributes[i];
    tfrt_string_view_t name = tfrt_string_view_of(entry->name);
    if (tfrt_custom_form_names(walk->form, name, false)) continue;
    const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(walk->operation, entry->name);
    if (is_default(entry, value, builder->allocator)) continue;
    if (any) append(walk, ",");
    any = true;
    space(walk);
    tfrt_string_builder_append_format(builder, "%s = ", entry->name);
    tfrt_printer_literal(builder, value);
  }
}

// The attributes that no word names, in braces, behind |prefix|.
static void print_dictionary(walk_t* walk, const char* prefix) {
  const tfrt_ir_operation_t* operation = walk->operation;
  tfrt_string_builder_t* builder = walk->printer->builder;
  bool any = false;
  for (uint32_t i = 0; i < operation->attribute_count; ++i) {
    const tfrt_ir_named_attribute_t* entry = &operation->attributes[i];
    tfrt_string_view_t name = tfrt_ir_string_view(entry->name);
    if (tfrt_custom_form_names(walk->form, name, false)) continue;
    if (!any) space(walk);
    append(walk, any ? ", " : prefix);
    any = true;
    tfrt_printer_key(builder, name);
    if (entry->value->kind == TFRT_IR_ATTRIBUTE_UNIT) continue;
    append(walk, " = ");
    tfrt_print_attribute(entry->value, builder);
  }
  if (any) append(walk, "}");
}

// `: T, T` of the results whose types only the text knows.
static void print_result_types(walk_t* walk) {
  const tfrt_ir_operation_t* operation = walk->operation;
  bool any = false;
  for (uint32_t i = 0; i < tfrt_kernel_descriptor_fixed_results(operation->descriptor); ++i) {
    const char* type = operation->descriptor->results[i].type;
    if (tfrt_kernel_descriptor_type_is_known(type) || tfrt_schema_type_operand(operation, i)) {
      continue;
    }
    append(walk, any ? ", " : " : ");
    append_type(walk, operation->results[i].type);
    any = true;
  }
}

// `: T, T` or `: (T) -> R` of the variadic, or all, operands and results.
static void print_types(walk_t* walk, tfrt_assembly_kind_t kind) {
  const tfrt_ir_operation_t* operation = walk->operation;
  bool is_whole = kind == TFRT_ASSEMBLY_WHOLE_SIGNATURE;
  if (kind == TFRT_ASSEMBLY_RESULT_TYPES) {
    print_result_types(walk);
    return;
  }
  uint32_t operand = is_whole ? 0 : tfrt_kernel_descriptor_fixed_operands(operation->descriptor);
  uint32_t result = is_whole ? 0 : tfrt_kernel_descriptor_fixed_results(operation->descriptor);
  bool is_list = kind == TFRT_ASSEMBLY_TYPES;
  if (is_list && operand == operation->operand_count) return;
  space(walk);
  append(walk, is_list ? ": " : ": (");
  for (uint32_t i = operand; i < operation->operand_count; ++i) {
    if (i > operand) append(walk, ", ");
    append_type(walk, operation->operands[i].value->type);
  }
  if (is_list) return;
  bool bare = kind == TFRT_ASSEMBLY_FUNCTION && operation->result_count == result + 1 &&
              operation->results[result].type->kind != TFRT_IR_TYPE_FUNCTION;
  append(walk, bare ? ") -> " : ") -> (");
  for (uint32_t i = result; i < operation->result_count; ++i) {
    if (i > result) append(walk, ", ");
    append_type(walk, operation->results[i].type);
  }
  if (!bare) append(walk, ")");
}

// `, args(%a, %b) : (T, T)` of the variadic operands, if there are any.
static void print_args(walk_t* walk) {
  const tfrt_ir_operation_t* operation = walk->operation;
  uint32_t first = walk->operand;
  if (first == operation->operand_count) return;
  append(walk, ", args(");
  walk->tight = true;
  print_operands(walk, operation->operand_count - first, false);
  append(walk, ") : (");
  for (uint32_t i = first; i < operation->operand_count; ++i) {
    if (i > first) append(walk, ", ");
    append_type(walk, operation->operands[i].value->type);
  }
  append(walk, ")");
}

// True if region |index| is what the parser makes when it is left out.
static bool is_default_region(const tfrt_ir_operation_t* operation, uint32_t index) {
  const tfrt_ir_block_t* block = operation->regions[index].first_block;
  return operation->descriptor->regions[index].optional && !operation->result_count &&
         block->first && block->first == block->last &&
         tfrt_ir_operation_is(block->first, "tfrt.return") && !block->first->operand_count &&
         !block->first->attribute_count;
}

static void print_regions(walk_t* walk) {
  tfrt_printer_t* printer = walk->printer;
  const tfrt_ir_operation_t* operation = walk->operation;
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    const tfrt_ir_block_t* block = operation->regions[i].first_block;
    if (i && is_default_region(operation, i)) continue;
    append(walk, i ? " else " : " ");
    tfrt_value_names_begin(&printer->names);
    for (uint32_t k = 0; k < operation->operand_count; ++k) {
      uint32_t argument = tfrt_schema_region_argument(operation->descriptor, i, k);
      if (argument == UINT32_MAX) continue;
      tfrt_value_names_alias(&printer->names, block->arguments[argument],
                             operation->operands[k].value);
    }
    tfrt_value_names_add_region(&printer->names, &operation->regions[i]);
    tfrt_printer_region(printer, &operation->regions[i], false);
    tfrt_value_names_end(&printer->names);
  }
}

static void print_text(walk_t* walk, const tfrt_assembly_word_t* word) {
  char first = word->name.data[0];
  bool is_opening = first == '(';
  bool is_loose = !tfrt_assembly_is_punctuation(word) || first == ':';
  if (is_loose || (is_opening && walk->is_in)) space(walk);
  tfrt_string_builder_append_view(walk->printer->builder, word->name);
  walk->tight = is_opening;
  walk->is_in = tfrt_string_view_equal(word->name, tfrt_string_view_of("in"));
}

static void print_operand_type(walk_t* walk, tfrt_string_view_t name) {
  uint32_t index = tfrt_assembly_operand_index(walk->operation->descriptor, name);
  space(walk);
  append_type(walk, walk->operation->operands[index].value->type);
}

// Prints |word| if it stands for operands; returns whether it does.
static bool print_operand_word(walk_t* walk, const tfrt_assembly_word_t* word) {
  uint32_t rest = walk->operation->operand_count - walk->operand;
  switch (word->kind) {
    case TFRT_ASSEMBLY_COMMA_OPERANDS:
      if (rest) append(walk, ",");
      print_operands(walk, rest, false);
      return true;
    case TFRT_ASSEMBLY_ARGS:
      print_args(walk);
      return true;
    case TFRT_ASSEMBLY_OPERANDS:
    case TFRT_ASSEMBLY_TYPED_OPERANDS:
      print_operands(walk, rest, word->kind == TFRT_ASSEMBLY_TYPED_OPERANDS);
      return true;
    case TFRT_ASSEMBLY_OPERAND:
      print_operands(walk, 1, false);
      return true;
    default:
      return false;
  }
}

static void print_word(walk_t* walk, const tfrt_assembly_word_t* word) {
  if (print_operand_word(walk, word)) return;
  if (tfrt_assembly_is_attribute(word->kind)) {
    print_attribute(walk, word);
    return;
  }
  switch (word->kind) {
    case TFRT_ASSEMBLY_SETTINGS:
      print_settings(walk);
      return;
    case TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY:
    case TFRT_ASSEMBLY_ATTRIBUTES:
      print_dictionary(walk, word->kind == TFRT_ASSEMBLY_ATTRIBUTES ? "attributes {" : "{");
      return;
    case TFRT_ASSEMBLY_OPERAND_TYPE:
      print_operand_type(walk, word->name);
      return;
    case TFRT_ASSEMBLY_TYPES:
    case TFRT_ASSEMBLY_FUNCTION:
    case TFRT_ASSEMBLY_SIGNATURE:
    case TFRT_ASSEMBLY_WHOLE_SIGNATURE:
    case TFRT_ASSEMBLY_RESULT_TYPES:
      print_types(walk, word->kind);
      return;
    case TFRT_ASSEMBLY_REGIONS:
      print_regions(walk);
      return;
    default:
      print_text(walk, word);
      return;
  }
}

// True if |word| names the next operand, a chain that is missing.
static bool is_missing_chain(const walk_t* walk, const tfrt_assembly_word_t* word) {
  return word->kind == TFRT_ASSEMBLY_OPERAND &&
         tfrt_ir_value_is_missing(walk->operation->operands[walk->operand].value);
}

// The name of |operation|. Directly in a function, MLIR's tools leave out the function's dialect.
static tfrt_string_view_t written_name(const tfrt_ir_operation_t* operation) {
  const tfrt_string_view_t name = tfrt_ir_string_view(operation->name);
  const bool is_func = tfrt_string_view_starts_with(name, tfrt_string_view_of("func."));
  const bool is_async = tfrt_string_view_starts_with(name, tfrt_string_view_of("async."));
  if (TFRT_LIKELY(!is_func && !is_async)) return name;
  const tfrt_ir_operation_t* parent = tfrt_ir_operation_parent(operation);
  const char* function = is_async ? "async.func" : "func.func";
  if (!parent || !tfrt_ir_operation_is(parent, function)) return name;
  const size_t size = is_async ? sizeof("async.") - 1 : sizeof("func.") - 1;
  const tfrt_string_view_t rest = tfrt_string_view_make(name.data + size, name.size - size);
  return memchr(rest.data, '.', rest.size) ? name : rest;
}

void tfrt_printer_assembly(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  walk_t walk = {.printer = printer, .operation = operation};
  tfrt_quick_text_append_view(printer->builder, written_name(operation));
  if (operation->descriptor->flags & TFRT_KERNEL_LANGUAGE) {
    tfrt_printer_syntax(printer, operation);
    return;
  }
  walk.form = form_of(printer, operation);
  if (!walk.form) return;
  const tfrt_assembly_word_t* comma = NULL;  // it is printed with the word behind it, if that is
  for (uint32_t i = 0; i < walk.form->word_count; ++i) {
    const tfrt_assembly_word_t* word = &walk.form->words[i];
    if (is_missing_chain(&walk, word)) {
      ++walk.operand;
      comma = NULL;
      continue;
    }
    if (comma) print_word(&walk, comma);
    bool is_comma = word->kind == TFRT_ASSEMBLY_TEXT &&
                    tfrt_string_view_equal(word->name, tfrt_string_view_of(","));
    comma = is_comma ? word : NULL;
    if (!is_comma) print_word(&walk, word);
  }
  if (comma) print_word(&walk, comma);
}
