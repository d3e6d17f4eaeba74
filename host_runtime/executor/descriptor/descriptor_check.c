// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/descriptor/descriptor_check.h"

#include <stdarg.h>
#include <string.h>

#include "host_runtime/executor/descriptor/assembly.h"

tfrt_status_t tfrt_descriptor_defect(const tfrt_kernel_descriptor_t* entry, const char* format,
                                     ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_status_t status = tfrt_status_create_v(TFRT_STATUS_INVALID_ARGUMENT, format, arguments);
  va_end(arguments);
  return tfrt_status_take_annotate(status, "op table entry '%s'", entry->name);
}

// --- Names, operands, results, regions ------------------------------------------------------

static tfrt_status_t check_name(const tfrt_kernel_descriptor_t* op) {
  const char* dot = strchr(op->name, '.');
  if (!dot || dot == op->name || !dot[1]) {
    return tfrt_descriptor_defect(op, "the name of an op is dialect.op, such as 'my.op'");
  }
  if (!op->summary || !op->summary[0]) return tfrt_descriptor_defect(op, "it has no summary");
  return NULL;
}

static tfrt_status_t check_arrays(const tfrt_kernel_descriptor_t* op) {
  if ((op->operand_count && !op->operands) || (op->result_count && !op->results) ||
      (op->attribute_count && !op->attributes) || (op->region_count && !op->regions)) {
    return tfrt_descriptor_defect(op, "a count without an array");
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = &op->operands[i];
    if (!entry->name || !entry->type)
      return tfrt_descriptor_defect(op, "operand %u lacks name or type", i);
    if ((uint32_t)entry->use > (uint32_t)TFRT_OPERAND_PASSED) {
      return tfrt_descriptor_defect(op, "operand '%s' has no use that there is", entry->name);
    }
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const tfrt_result_descriptor_t* entry = &op->results[i];
    if (!entry->name || !entry->type)
      return tfrt_descriptor_defect(op, "result %u lacks name or type", i);
  }
  return NULL;
}

// OK if results whose type is that of an operand are fixed, and so is the operand.
static tfrt_status_t check_result_types(const tfrt_kernel_descriptor_t* op) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_results(op);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const tfrt_result_descriptor_t* entry = &op->results[i];
    if (entry->type[0] != '%') continue;
    if (i < fixed_count && tfrt_kernel_descriptor_type_operand(op, entry->type) != UINT32_MAX) {
      continue;
    }
    return tfrt_descriptor_defect(
        op, "result '%s' has the type of '%s': both must be fixed, and the operand be there",
        entry->name, entry->type);
  }
  return NULL;
}

static tfrt_status_t check_flags(const tfrt_kernel_descriptor_t* op) {
  bool variadic_operands = (op->flags & TFRT_KERNEL_VARIADIC_OPERANDS) != 0;
  bool variadic_results = (op->flags & TFRT_KERNEL_VARIADIC_RESULTS) != 0;
  if (variadic_operands && op->operand_count == 0) {
    return tfrt_descriptor_defect(op, "variadic operands need an entry that describes them");
  }
  if (variadic_results && op->result_count == 0) {
    return tfrt_descriptor_defect(op, "variadic results need an entry that describes them");
  }
  if ((op->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS) && !(variadic_operands && variadic_results)) {
    return tfrt_descriptor_defect(op, "results as operands: both must be variadic");
  }
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(op);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    if (!op->regions[i].name) return tfrt_descriptor_defect(op, "region %u has no name", i);
    if (fixed_count < 32 && op->regions[i].lead_mask >> fixed_count != 0) {
      return tfrt_descriptor_defect(
          op, "the lead_mask of region '%s' names operands that there are not",
          op->regions[i].name);
    }
  }
  return NULL;
}

// --- Effects -------------------------------------------------------------------------------

static bool has_operand(const tfrt_kernel_descriptor_t* op, const char* name, size_t size) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const char* own = op->operands[i].name;
    if (strlen(own) == size && memcmp(own, name, size) == 0) return true;
  }
  return false;
}

// OK if |names|, what the table says the op |does|, are operands.
static tfrt_status_t check_operand_names(const tfrt_kernel_descriptor_t* op, const char* does,
                                         const char* names) {
  for (const char* at = names; at && *at;) {
    size_t size = strcspn(at, " ");
    if (!has_operand(op, at, size)) {
      return tfrt_descriptor_defect(op, "it %s '%.*s', which is no operand of it", does, (int)size,
                                    at);
    }
    at += size + strspn(at + size, " ");
  }
  return NULL;
}

static tfrt_status_t check_effects(const tfrt_kernel_descriptor_t* op) {
  const tfrt_kernel_effects_t outside = TFRT_EFFECT_OUTPUT | TFRT_EFFECT_FILE_READ |
                                        TFRT_EFFECT_FILE_WRITE | TFRT_EFFECT_MESSAGES |
                                        TFRT_EFFECT_STATE | TFRT_EFFECT_EVERYTHING;
  if (op->effects >= TFRT_EFFECT_IN_ANY_ORDER << 1) {
    return tfrt_descriptor_defect(op, "its effects have a bit that means nothing");
  }
  if (op->effects & TFRT_EFFECT_NONE && op->effects & outside) {
    return tfrt_descriptor_defect(op, "it says that it has effects and that it has none");
  }
  if (op->flags & TFRT_KERNEL_PURE && op->effects & outside) {
    return tfrt_descriptor_defect(op, "it is pure, and has effects");
  }
  const tfrt_kernel_effects_t details = TFRT_EFFECT_READS_NO_CONTENTS | TFRT_EFFECT_IN_ANY_ORDER;
  if (op->effects && !(op->effects & ~details) && !(op->flags & TFRT_KERNEL_PURE)) {
    return tfrt_descriptor_defect(op, "it doesn't say its effects: add TFRT_EFFECT_NONE");
  }
  TFRT_RETURN_IF_ERROR(check_operand_names(op, "shares the memory of", op->shares));
  return check_operand_names(op, "keeps the order of", op->orders);
}

// --- Attributes ----------------------------------------------------------------------------

static bool is_kind(tfrt_attribute_kind_t kind) {
  return (uint32_t)kind <= (uint32_t)TFRT_ATTRIBUTE_SYMBOL_ARRAY;
}

static tfrt_status_t check_attributes(const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &op->attributes[i];
    if (!entry->name) return tfrt_descriptor_defect(op, "attribute %u has no name", i);
    if (!is_kind(entry->kind)) {
      return tfrt_descriptor_defect(op, "attribute '%s' is of no kind that there is", entry->name);
    }
    if (i > 0 && strcmp(op->attributes[i - 1].name, entry->name) >= 0) {
      return tfrt_descriptor_defect(
          op,
          "its attributes are not in the order of their names, in which kernels get "
          "them: '%s' stands behind '%s'",
          entry->name, op->attributes[i - 1].name);
    }
  }
  return NULL;
}

// --- The custom form -----------------------------------------------------------------------

// The state after the words of a custom form so far.
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
  if (*said)
    return tfrt_descriptor_defect(op, "its custom form has %s twice: it couldn't be read back",
                                  what);
  *said = true;
  return NULL;
}

// Operands are named in their order: parser and printer count on it.
static tfrt_status_t check_operand_word(const tfrt_kernel_descriptor_t* op, form_t* form,
                                        tfrt_string_view_t name) {
  if (form->rest || form->next_operand >= tfrt_kernel_descriptor_fixed_operands(op)) {
    return tfrt_descriptor_defect(op, "'%%%.*s' in its custom form is one operand too many",
                                  TFRT_STRING_VIEW_ARGUMENTS(name));
  }
  const char* wanted = op->operands[form->next_operand++].name;
  if (tfrt_string_view_equal(name, tfrt_string_view_of(wanted))) return NULL;
  return tfrt_descriptor_defect(op, "its custom form has '%%%.*s' where operand '%s' comes next",
                                TFRT_STRING_VIEW_ARGUMENTS(name), wanted);
}

static const tfrt_attribute_descriptor_t* find_attribute(const tfrt_kernel_descriptor_t* op,
                                                         tfrt_string_view_t name) {
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &op->attributes[i];
    if (tfrt_string_view_equal(tfrt_string_view_of(entry->name), name)) return entry;
  }
  return NULL;
}

// |words| stands behind |word|.
static tfrt_status_t check_attribute_word(const tfrt_kernel_descriptor_t* op,
                                          const tfrt_assembly_t* words,
                                          const tfrt_assembly_word_t* word) {
  const tfrt_attribute_descriptor_t* entry = find_attribute(op, word->name);
  if (!entry) {
    return tfrt_descriptor_defect(op, "its custom form names '%.*s', which is no attribute of it",
                                  TFRT_STRING_VIEW_ARGUMENTS(word->name));
  }
  if (tfrt_assembly_names_attribute(words->rest, word->name)) {
    return tfrt_descriptor_defect(
        op, "its custom form has attribute '%s' twice: it couldn't be read back", entry->name);
  }
  if (word->kind == TFRT_ASSEMBLY_KEYWORD && entry->kind != TFRT_ATTRIBUTE_STRING) {
    return tfrt_descriptor_defect(op, "its custom form writes '%s' as a name, and it is no string",
                                  entry->name);
  }
  bool is_symbol = entry->kind == TFRT_ATTRIBUTE_SYMBOL;
  bool is_array = entry->kind == TFRT_ATTRIBUTE_SYMBOL_ARRAY;
  if ((word->kind == TFRT_ASSEMBLY_SYMBOL && !is_symbol) ||
      (word->kind == TFRT_ASSEMBLY_SYMBOL_ARRAY && !is_array)) {
    return tfrt_descriptor_defect(op, "its custom form writes '%s' as a symbol, which it isn't",
                                  entry->name);
  }
  return NULL;
}

static tfrt_status_t check_text_word(const tfrt_kernel_descriptor_t* op,
                                     const tfrt_assembly_word_t* word) {
  tfrt_string_view_t text = word->name;
  if (tfrt_assembly_is_punctuation(word)) return NULL;
  for (size_t i = 0; i < text.size; ++i) {
    if ((text.data[i] >= 'a' && text.data[i] <= 'z') || text.data[i] == '_') continue;
    return tfrt_descriptor_defect(op, "the word '%.*s' of its custom form means nothing",
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

// Only a word that isn't a comma ends a list; a word that may print nothing leaves the state as it
// was.
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
    return tfrt_descriptor_defect(
        op,
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
      if (op->region_count > 0)
        return tfrt_descriptor_defect(op, "with regions, 'attr-dict' is 'attributes'");
      return say_once(op, &form->attributes, "the attributes");
    case TFRT_ASSEMBLY_SETTINGS:
    case TFRT_ASSEMBLY_ATTRIBUTES:
      return say_once(op, &form->attributes, "the attributes");
    case TFRT_ASSEMBLY_REGIONS:
      return say_once(op, &form->regions, "the regions");
    case TFRT_ASSEMBLY_OPERAND_TYPE:
      if (tfrt_assembly_operand_index(op, word->name) != UINT32_MAX) return NULL;
      return tfrt_descriptor_defect(
          op, "its custom form has the type of '%.*s', which is no fixed operand",
          TFRT_STRING_VIEW_ARGUMENTS(word->name));
    case TFRT_ASSEMBLY_SYNTAX:
      return tfrt_descriptor_defect(op, "'syntax' stands alone in a custom form");
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
                      !tfrt_kernel_descriptor_type_is_known(op->operands[fixed_operands].type);
  if (any_operands && !form->types) {
    return tfrt_descriptor_defect(op,
                                  "its custom form doesn't say the types of the variadic operands");
  }
  if (fixed_results < op->result_count && !form->results &&
      !(op->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS)) {
    return tfrt_descriptor_defect(op,
                                  "its custom form doesn't say the types of the variadic results");
  }
  for (uint32_t i = 0; i < fixed_results && !form->open_results; ++i) {
    const char* type = op->results[i].type;
    if (tfrt_kernel_descriptor_type_is_known(type)) continue;
    if (tfrt_kernel_descriptor_type_operand(op, type) != UINT32_MAX) continue;
    return tfrt_descriptor_defect(
        op, "its custom form doesn't say the type of result '%s': add 'result-types'",
        op->results[i].name);
  }
  return NULL;
}

// OK if |op|, which has a custom form, may have one that only the parser and the printer know.
static tfrt_status_t check_syntax(const tfrt_kernel_descriptor_t* op) {
  if (op->flags & TFRT_KERNEL_LANGUAGE) return NULL;
  return tfrt_descriptor_defect(op, "'syntax' is the custom form of ops of the language only");
}

static tfrt_status_t check_form(const tfrt_kernel_descriptor_t* op) {
  if (!op->assembly) return NULL;
  if (strncmp(op->assembly, "syntax", strlen("syntax")) == 0) return check_syntax(op);
  form_t form = {0};
  tfrt_assembly_t words;
  tfrt_assembly_word_t word;
  tfrt_assembly_begin(&words, op->assembly);
  while (tfrt_assembly_next(&words, &word)) {
    TFRT_RETURN_IF_ERROR(check_word(op, &words, &word, &form));
    TFRT_RETURN_IF_ERROR(check_commas(op, &word, &form));
  }
  if (form.rest && !op->operand_count && !(op->flags & TFRT_KERNEL_TRAILING_CHAIN)) {
    return tfrt_descriptor_defect(op, "its custom form has 'operands', and it has none");
  }
  if (!form.rest && form.next_operand < op->operand_count) {
    return tfrt_descriptor_defect(op,
                                  "its custom form lacks operand '%s': name it, or add 'operands'",
                                  op->operands[form.next_operand].name);
  }
  TFRT_RETURN_IF_ERROR(check_form_types(op, &form));
  if (form.regions != (op->region_count > 0)) {
    return tfrt_descriptor_defect(op, form.regions ? "its custom form has regions, and it has none"
                                                   : "its custom form lacks 'regions'");
  }
  for (uint32_t i = 0; i < op->attribute_count && !form.attributes; ++i) {
    const char* name = op->attributes[i].name;
    if (tfrt_assembly_names_attribute(op->assembly, tfrt_string_view_of(name))) continue;
    return tfrt_descriptor_defect(
        op, "its custom form lacks attribute '%s': name it, or add 'attr-dict'", name);
  }
  return NULL;
}

tfrt_status_t tfrt_descriptor_check_native(const tfrt_kernel_descriptor_t* entry) {
  TFRT_RETURN_IF_ERROR(check_arrays(entry));
  TFRT_RETURN_IF_ERROR(check_flags(entry));
  return check_attributes(entry);
}

tfrt_status_t tfrt_descriptor_check_op(const tfrt_kernel_descriptor_t* entry) {
  TFRT_RETURN_IF_ERROR(check_name(entry));
  TFRT_RETURN_IF_ERROR(tfrt_descriptor_check_native(entry));
  TFRT_RETURN_IF_ERROR(check_result_types(entry));
  TFRT_RETURN_IF_ERROR(check_effects(entry));
  return check_form(entry);
}
