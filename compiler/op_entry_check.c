// SPDX-License-Identifier: Apache-2.0

#include "compiler/op_entry_check.h"

#include <string.h>

#include "compiler/assembly.h"
#include "compiler/parser.h"
#include "compiler/schema.h"

static tfrt_status_t defect(const tfrt_kernel_descriptor_t* op, const char* format, ...)
    TFRT_PRINTF(2, 3);

static tfrt_status_t defect(const tfrt_kernel_descriptor_t* op, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_status_t status = tfrt_status_create_v(TFRT_STATUS_INVALID_ARGUMENT, format, arguments);
  va_end(arguments);
  return tfrt_status_take_annotate(status, "op table entry '%s'", op->name);
}

// --- Name, operands, results, regions -----------------------------------------------------

static tfrt_status_t check_name(const tfrt_kernel_descriptor_t* op) {
  const char* dot = strchr(op->name, '.');
  if (!dot || dot == op->name || !dot[1]) {
    return defect(op, "the name of an op is dialect.op, such as 'my.op'");
  }
  if (!op->summary || !op->summary[0]) return defect(op, "it has no summary");
  return NULL;
}

// OK if |type| is "any" or a type that is printed just so; |what| has it.
static tfrt_status_t check_type(const tfrt_kernel_descriptor_t* op, const char* what,
                                const char* name, const char* type) {
  if (strcmp(type, TFRT_TYPE_ANY) == 0) return NULL;
  tfrt_ir_context_t* context = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, NULL, tfrt_string_view_of(type),
                              tfrt_allocator_system());
  const tfrt_ir_type_t* parsed = tfrt_parse_type(context, &diagnostics);
  bool is_good = parsed && strcmp(parsed->text->data, type) == 0;
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
  if (is_good) return NULL;
  return defect(op, "%s '%s' has the type '%s', which is none as MLIR prints types", what, name,
                type);
}

static tfrt_status_t check_types(const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    TFRT_RETURN_IF_ERROR(check_type(op, "operand", op->operands[i].name, op->operands[i].type));
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    TFRT_RETURN_IF_ERROR(check_type(op, "result", op->results[i].name, op->results[i].type));
  }
  return NULL;
}

static tfrt_status_t check_flags(const tfrt_kernel_descriptor_t* op) {
  bool variadic_operands = (op->flags & TFRT_KERNEL_VARIADIC_OPERANDS) != 0;
  bool variadic_results = (op->flags & TFRT_KERNEL_VARIADIC_RESULTS) != 0;
  if (variadic_operands && op->operand_count == 0) {
    return defect(op, "variadic operands need an entry that describes them");
  }
  if (variadic_results && op->result_count == 0) {
    return defect(op, "variadic results need an entry that describes them");
  }
  if ((op->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS) && !(variadic_operands && variadic_results)) {
    return defect(op, "results as operands: both must be variadic");
  }
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(op);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    if (!op->regions[i].name) return defect(op, "region %u has no name", i);
    if (fixed_count < 32 && op->regions[i].lead_mask >> fixed_count != 0) {
      return defect(op, "the lead_mask of region '%s' names operands that there are not",
                    op->regions[i].name);
    }
  }
  return NULL;
}

// --- Attributes ----------------------------------------------------------------------------

static bool is_kind(tfrt_attribute_kind_t kind) {
  return (uint32_t)kind <= (uint32_t)TFRT_ATTRIBUTE_SYMBOL_ARRAY;
}

// OK if an op that leaves attribute |entry| out gets a value that fits.
static tfrt_status_t check_default(const tfrt_kernel_descriptor_t* op,
                                   const tfrt_attribute_descriptor_t* entry) {
  tfrt_ir_context_t* context = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_format(&text, "\"%s\"() : () -> ()\n", op->name);
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, NULL, tfrt_string_builder_view(&text),
                              tfrt_allocator_system());
  tfrt_kernel_table_t table = {op, 1};
  tfrt_op_tables_t tables = {&table, 1};
  tfrt_ir_operation_t* module = tfrt_parse_module(context, &tables, &diagnostics);
  const tfrt_ir_attribute_t* value =
      module ? tfrt_ir_operation_attribute(tfrt_ir_module_block(module)->first, entry->name) : NULL;
  bool is_good = value && tfrt_schema_attribute_fits(entry->kind, value);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_string_builder_deinitialize(&text);
  tfrt_ir_context_free(context);
  if (is_good) return NULL;
  return defect(op, "the default '%s' of attribute '%s' is not %s", entry->default_value,
                entry->name, tfrt_schema_attribute_kind_name(entry->kind));
}

static tfrt_status_t check_attributes(const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &op->attributes[i];
    if (!is_kind(entry->kind)) {
      return defect(op, "attribute '%s' is of no kind that there is", entry->name);
    }
    if (i > 0 && strcmp(op->attributes[i - 1].name, entry->name) >= 0) {
      return defect(op, "attribute '%s' is not in the order of names, in which kernels get them",
                    entry->name);
    }
  }
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    if (op->attributes[i].default_value) {
      TFRT_RETURN_IF_ERROR(check_default(op, &op->attributes[i]));
    }
  }
  return NULL;
}

// --- The custom form -----------------------------------------------------------------------

// What the words of a custom form have said so far.
typedef struct form_s {
  uint32_t next_operand;
  bool rest;          // all other operands
  bool types;         // of variadic operands
  bool signature;     // the same, by a word of its own
  bool results;       // types of variadic results
  bool open_results;  // types of fixed results that the table leaves open
  bool attributes;    // any that no word names
  bool regions;
  bool list;  // a comma would go on with what is before it
} form_t;

// OK, and sets |*said|, unless the form said |what| before.
static tfrt_status_t say_once(const tfrt_kernel_descriptor_t* op, bool* said, const char* what) {
  if (*said) return defect(op, "its custom form has %s twice: it couldn't be read back", what);
  *said = true;
  return NULL;
}

// Operands are named in their order: parser and printer count on it.
static tfrt_status_t check_operand_word(const tfrt_kernel_descriptor_t* op, form_t* form,
                                        tfrt_string_view_t name) {
  if (form->rest || form->next_operand >= tfrt_kernel_descriptor_fixed_operands(op)) {
    return defect(op, "'%%%.*s' in its custom form is one operand too many",
                  TFRT_STRING_VIEW_ARGUMENTS(name));
  }
  const char* wanted = op->operands[form->next_operand++].name;
  if (tfrt_string_view_equal(name, tfrt_string_view_of(wanted))) return NULL;
  return defect(op, "its custom form has '%%%.*s' where operand '%s' comes next",
                TFRT_STRING_VIEW_ARGUMENTS(name), wanted);
}

// |words| stands behind |word|.
static tfrt_status_t check_attribute_word(const tfrt_kernel_descriptor_t* op,
                                          const tfrt_assembly_t* words,
                                          const tfrt_assembly_word_t* word) {
  const tfrt_attribute_descriptor_t* entry = tfrt_schema_find_attribute(op, word->name);
  if (!entry) {
    return defect(op, "its custom form names '%.*s', which is no attribute of it",
                  TFRT_STRING_VIEW_ARGUMENTS(word->name));
  }
  if (tfrt_assembly_names_attribute(words->rest, word->name)) {
    return defect(op, "its custom form has attribute '%s' twice: it couldn't be read back",
                  entry->name);
  }
  if (word->kind == TFRT_ASSEMBLY_KEYWORD && entry->kind != TFRT_ATTRIBUTE_STRING) {
    return defect(op, "its custom form writes '%s' as a name, and it is no string", entry->name);
  }
  bool is_symbol = entry->kind == TFRT_ATTRIBUTE_SYMBOL;
  bool is_array = entry->kind == TFRT_ATTRIBUTE_SYMBOL_ARRAY;
  if ((word->kind == TFRT_ASSEMBLY_SYMBOL && !is_symbol) ||
      (word->kind == TFRT_ASSEMBLY_SYMBOL_ARRAY && !is_array)) {
    return defect(op, "its custom form writes '%s' as a symbol, which it isn't", entry->name);
  }
  return NULL;
}

static tfrt_status_t check_text_word(const tfrt_kernel_descriptor_t* op,
                                     const tfrt_assembly_word_t* word) {
  tfrt_string_view_t text = word->name;
  if (tfrt_assembly_is_punctuation(word)) return NULL;
  for (size_t i = 0; i < text.size; ++i) {
    if ((text.data[i] >= 'a' && text.data[i] <= 'z') || text.data[i] == '_') continue;
    return defect(op, "the word '%.*s' of its custom form means nothing",
                  TFRT_STRING_VIEW_ARGUMENTS(text));
  }
  return NULL;
}

static tfrt_status_t check_types_word(const tfrt_kernel_descriptor_t* op, tfrt_assembly_kind_t kind,
                                      form_t* form) {
  if (kind == TFRT_ASSEMBLY_RESULT_TYPES || kind == TFRT_ASSEMBLY_WHOLE_SIGNATURE) {
    TFRT_RETURN_IF_ERROR(say_once(op, &form->open_results, "the types of the results"));
  }
  if (kind == TFRT_ASSEMBLY_RESULT_TYPES) return NULL;
  TFRT_RETURN_IF_ERROR(say_once(op, &form->signature, "types"));
  form->types = true;
  form->results = form->results || kind != TFRT_ASSEMBLY_TYPES;
  return NULL;
}

// Of a list, only a word that isn't a comma ends it; what may print nothing leaves it as it was.
static tfrt_status_t check_commas(const tfrt_kernel_descriptor_t* op,
                                  const tfrt_assembly_word_t* word, form_t* form) {
  switch (word->kind) {
    case TFRT_ASSEMBLY_OPERANDS:
    case TFRT_ASSEMBLY_COMMA_OPERANDS:
    case TFRT_ASSEMBLY_ARGS:
    case TFRT_ASSEMBLY_TYPED_OPERANDS:
    case TFRT_ASSEMBLY_SETTINGS:
    case TFRT_ASSEMBLY_TYPES:
    case TFRT_ASSEMBLY_RESULT_TYPES:
      form->list = true;
      return NULL;
    case TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY:
    case TFRT_ASSEMBLY_ATTRIBUTES:
      return NULL;
    default:
      break;
  }
  if (form->list && tfrt_string_view_equal(word->name, tfrt_string_view_of(","))) {
    return defect(op,
                  "its custom form has ',' behind a list, which would go on there: write "
                  "another word in its place");
  }
  form->list = false;
  return NULL;
}

// |words| stands behind |word|.
static tfrt_status_t check_word(const tfrt_kernel_descriptor_t* op, const tfrt_assembly_t* words,
                                const tfrt_assembly_word_t* word, form_t* form) {
  switch (word->kind) {
    case TFRT_ASSEMBLY_OPERAND:
      return check_operand_word(op, form, word->name);
    case TFRT_ASSEMBLY_TYPED_OPERANDS:
    case TFRT_ASSEMBLY_OPERANDS:
    case TFRT_ASSEMBLY_COMMA_OPERANDS:
    case TFRT_ASSEMBLY_ARGS:
      form->types = form->types || word->kind == TFRT_ASSEMBLY_TYPED_OPERANDS ||
                    word->kind == TFRT_ASSEMBLY_ARGS;
      return say_once(op, &form->rest, "the operands");
    case TFRT_ASSEMBLY_ATTRIBUTE:
    case TFRT_ASSEMBLY_TYPED_ATTRIBUTE:
    case TFRT_ASSEMBLY_KEYWORD:
    case TFRT_ASSEMBLY_SYMBOL:
    case TFRT_ASSEMBLY_SYMBOL_ARRAY:
      return check_attribute_word(op, words, word);
    case TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY:
      // Its brace would be a region's.
      if (op->region_count > 0) return defect(op, "with regions, 'attr-dict' is 'attributes'");
      return say_once(op, &form->attributes, "the attributes");
    case TFRT_ASSEMBLY_SETTINGS:
    case TFRT_ASSEMBLY_ATTRIBUTES:
      return say_once(op, &form->attributes, "the attributes");
    case TFRT_ASSEMBLY_REGIONS:
      return say_once(op, &form->regions, "the regions");
    case TFRT_ASSEMBLY_OPERAND_TYPE:
      if (tfrt_assembly_operand_index(op, word->name) != UINT32_MAX) return NULL;
      return defect(op, "its custom form has the type of '%.*s', which is no fixed operand",
                    TFRT_STRING_VIEW_ARGUMENTS(word->name));
    case TFRT_ASSEMBLY_TEXT:
      return check_text_word(op, word);
    default:
      return check_types_word(op, word->kind, form);
  }
}

// OK if a text of that form says all types that the table leaves open.
static tfrt_status_t check_form_types(const tfrt_kernel_descriptor_t* op, const form_t* form) {
  uint32_t fixed_operands = tfrt_kernel_descriptor_fixed_operands(op);
  uint32_t fixed_results = tfrt_kernel_descriptor_fixed_results(op);
  // A type that the table knows needs no word.
  bool any_operands = fixed_operands < op->operand_count &&
                      strcmp(op->operands[fixed_operands].type, TFRT_TYPE_ANY) == 0;
  if (any_operands && !form->types) {
    return defect(op, "its custom form doesn't say the types of the variadic operands");
  }
  if (fixed_results < op->result_count && !form->results &&
      !(op->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS)) {
    return defect(op, "its custom form doesn't say the types of the variadic results");
  }
  for (uint32_t i = 0; i < fixed_results && !form->open_results; ++i) {
    if (strcmp(op->results[i].type, TFRT_TYPE_ANY) != 0) continue;
    return defect(op, "its custom form doesn't say the type of result '%s': add 'result-types'",
                  op->results[i].name);
  }
  return NULL;
}

static tfrt_status_t check_form(const tfrt_kernel_descriptor_t* op) {
  if (!op->assembly) return NULL;
  form_t form = {0};
  tfrt_assembly_t words;
  tfrt_assembly_word_t word;
  tfrt_assembly_begin(&words, op->assembly);
  while (tfrt_assembly_next(&words, &word)) {
    TFRT_RETURN_IF_ERROR(check_word(op, &words, &word, &form));
    TFRT_RETURN_IF_ERROR(check_commas(op, &word, &form));
  }
  if (!form.rest && form.next_operand < op->operand_count) {
    return defect(op, "its custom form lacks operand '%s': name it, or add 'operands'",
                  op->operands[form.next_operand].name);
  }
  TFRT_RETURN_IF_ERROR(check_form_types(op, &form));
  if (form.regions != (op->region_count > 0)) {
    return defect(op, form.regions ? "its custom form has regions, and it has none"
                                   : "its custom form lacks 'regions'");
  }
  for (uint32_t i = 0; i < op->attribute_count && !form.attributes; ++i) {
    const char* name = op->attributes[i].name;
    if (tfrt_assembly_names_attribute(op->assembly, tfrt_string_view_of(name))) continue;
    return defect(op, "its custom form lacks attribute '%s': name it, or add 'attr-dict'", name);
  }
  return NULL;
}

tfrt_status_t tfrt_op_entry_check(const tfrt_kernel_descriptor_t* entry) {
  TFRT_RETURN_IF_ERROR(check_name(entry));
  TFRT_RETURN_IF_ERROR(check_types(entry));
  TFRT_RETURN_IF_ERROR(check_flags(entry));
  TFRT_RETURN_IF_ERROR(check_attributes(entry));
  return check_form(entry);
}
