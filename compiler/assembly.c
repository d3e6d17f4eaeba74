// SPDX-License-Identifier: Apache-2.0

#include "compiler/assembly.h"

#include "host_runtime/base/macros.h"

static const struct {
  const char* text;
  tfrt_assembly_kind_t kind;
} fixed_words[] = {
    {"operands", TFRT_ASSEMBLY_OPERANDS},
    {",operands", TFRT_ASSEMBLY_COMMA_OPERANDS},
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
};

void tfrt_assembly_begin(tfrt_assembly_t* assembly, const char* text) { assembly->rest = text; }

// |text| without |front| bytes at its begin and |back| at its end.
static tfrt_string_view_t inner(tfrt_string_view_t text, size_t front, size_t back) {
  return tfrt_string_view_make(text.data + front, text.size - front - back);
}

// What |text| means if it begins with a sigil, else TEXT.
static tfrt_assembly_word_t classify(tfrt_string_view_t text) {
  tfrt_assembly_word_t word = {TFRT_ASSEMBLY_TEXT, text};
  if (text.size < 2) return word;
  static const char suffix[] = ":type";
  size_t suffix_size = sizeof(suffix) - 1;
  bool is_typed = text.size > suffix_size + 1 &&
                  memcmp(text.data + text.size - suffix_size, suffix, suffix_size) == 0;
  if (text.data[0] == '%') {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_OPERAND, inner(text, 1, 0)};
  } else if (text.data[0] == '#' && is_typed) {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_TYPED_ATTRIBUTE, inner(text, 1, suffix_size)};
  } else if (text.data[0] == '#') {
    word = (tfrt_assembly_word_t){TFRT_ASSEMBLY_ATTRIBUTE, inner(text, 1, 0)};
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

bool tfrt_assembly_names_attribute(const char* text, tfrt_string_view_t name) {
  tfrt_assembly_t assembly;
  tfrt_assembly_begin(&assembly, text);
  tfrt_assembly_word_t word;
  while (tfrt_assembly_next(&assembly, &word)) {
    bool is_attribute =
        word.kind == TFRT_ASSEMBLY_ATTRIBUTE || word.kind == TFRT_ASSEMBLY_TYPED_ATTRIBUTE ||
        word.kind == TFRT_ASSEMBLY_SYMBOL || word.kind == TFRT_ASSEMBLY_SYMBOL_ARRAY;
    if (is_attribute && tfrt_string_view_equal(word.name, name)) return true;
  }
  return false;
}
