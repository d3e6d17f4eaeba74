// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/executor/descriptor/assembly.h"

#include "host_runtime/base/macros.h"

static const struct {
  const char* text;
  tfrt_assembly_kind_t kind;
} fixed_words[] = {
    {"operands", TFRT_ASSEMBLY_OPERANDS},
    {",operands", TFRT_ASSEMBLY_COMMA_OPERANDS},
    {",args", TFRT_ASSEMBLY_ARGS},
    {"typed-operands", TFRT_ASSEMBLY_TYPED_OPERANDS},
    {"settings", TFRT_ASSEMBLY_SETTINGS},
    {"attr-dict", TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY},
    {"attributes", TFRT_ASSEMBLY_ATTRIBUTES},
    {"types", TFRT_ASSEMBLY_TYPES},
    {"function", TFRT_ASSEMBLY_FUNCTION},
    {"signature", TFRT_ASSEMBLY_SIGNATURE},
    {"whole-signature", TFRT_ASSEMBLY_WHOLE_SIGNATURE},
    {"result-types", TFRT_ASSEMBLY_RESULT_TYPES},
    {"regions", TFRT_ASSEMBLY_REGIONS},
    {"syntax", TFRT_ASSEMBLY_SYNTAX},
};

void tfrt_assembly_begin(tfrt_assembly_t* assembly, const char* text) { assembly->rest = text; }

// |text| without |front| bytes at its begin and |back| at its end.
static tfrt_string_view_t inner(tfrt_string_view_t text, size_t front, size_t back) {
  return tfrt_string_view_make(text.data + front, text.size - front - back);
}

// The kind of |text| by its sigil; TEXT without one.
static tfrt_assembly_word_t classify(tfrt_string_view_t text) {
  tfrt_assembly_word_t word = {TFRT_ASSEMBLY_TEXT, text};
  if (text.size < 2) return word;
  static const char suffix[] = ":type";
  size_t suffix_size = sizeof(suffix) - 1;
  bool is_typed = text.size > suffix_size + 1 &&
                  memcmp(text.data + text.size - suffix_size, suffix, suffix_size) == 0;
  static const char prefix[] = "type(%";
  size_t prefix_size = sizeof(prefix) - 1;
  bool is_type = text.size > prefix_size + 1 && memcmp(text.data, prefix, prefix_size) == 0 &&
                 text.data[text.size - 1] == ')';
  if (is_type) {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_OPERAND_TYPE, inner(text, prefix_size, 1)};
  } else if (text.data[0] == '%') {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_OPERAND, inner(text, 1, 0)};
  } else if (text.data[0] == '#' && is_typed) {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_TYPED_ATTRIBUTE, inner(text, 1, suffix_size)};
  } else if (text.data[0] == '#') {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_ATTRIBUTE, inner(text, 1, 0)};
  } else if (text.data[0] == '$') {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_KEYWORD, inner(text, 1, 0)};
  } else if (text.data[0] == '@') {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_SYMBOL, inner(text, 1, 0)};
  } else if (text.size > 3 && text.data[0] == '[' && text.data[1] == '@') {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_SYMBOL_ARRAY, inner(text, 2, 1)};
  }
  return word;
}

bool tfrt_assembly_next(tfrt_assembly_t* assembly, tfrt_assembly_word_t* out_word) {
  *out_word = (tfrt_assembly_word_t){0};
  while (*assembly->rest == ' ') ++assembly->rest;
  if (!*assembly->rest) return false;
  tfrt_string_view_t text = tfrt_string_view_make(assembly->rest, strcspn(assembly->rest, " "));
  assembly->rest += text.size;
  *out_word = classify(text);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(fixed_words); ++i) {
    if (tfrt_string_view_equal(text, tfrt_string_view_of(fixed_words[i].text))) {
      out_word->kind = fixed_words[i].kind;
    }
  }
  return true;
}

bool tfrt_assembly_is_keyword(tfrt_string_view_t text) {
  for (size_t i = 0; i < text.size; ++i) {
    char c = text.data[i];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return text.size > 0;
}

uint32_t tfrt_assembly_operand_index(const tfrt_kernel_descriptor_t* descriptor,
                                     tfrt_string_view_t name) {
  uint32_t count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  for (uint32_t i = 0; i < count && i < TFRT_ASSEMBLY_MAX_TYPED; ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(descriptor->operands[i].name))) return i;
  }
  return UINT32_MAX;
}

bool tfrt_assembly_is_attribute(tfrt_assembly_kind_t kind) {
  return kind >= TFRT_ASSEMBLY_ATTRIBUTE && kind <= TFRT_ASSEMBLY_SYMBOL_ARRAY;
}

bool tfrt_assembly_is_punctuation(const tfrt_assembly_word_t* word) {
  return word->kind == TFRT_ASSEMBLY_TEXT && word->name.size == 1 &&
         strchr("(),:", word->name.data[0]) != NULL;
}

bool tfrt_assembly_names_attribute(const char* text, tfrt_string_view_t name) {
  tfrt_assembly_t assembly;
  tfrt_assembly_begin(&assembly, text);
  tfrt_assembly_word_t word;
  while (tfrt_assembly_next(&assembly, &word)) {
    if (tfrt_assembly_is_attribute(word.kind) && tfrt_string_view_equal(word.name, name))
      return true;
  }
  return false;
}
