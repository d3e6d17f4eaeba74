// SPDX-License-Identifier: Apache-2.0

#include "compiler/printer/custom_form.h"

_Static_assert(TFRT_ASSEMBLY_TEXT < 32, "a bit for each kind");

// Reads the words of |form|; false when memory is out.
static bool read_words(tfrt_custom_form_t* form, tfrt_arena_t* arena) {
  tfrt_assembly_t assembly;
  tfrt_assembly_word_t word;
  uint32_t count = 0;
  tfrt_assembly_begin(&assembly, form->descriptor->assembly);
  while (tfrt_assembly_next(&assembly, &word)) ++count;
  tfrt_assembly_word_t* words = tfrt_arena_allocate_array(arena, count ? count : 1, sizeof(*words));
  if (!words) return false;
  tfrt_assembly_begin(&assembly, form->descriptor->assembly);
  for (uint32_t i = 0; i < count && tfrt_assembly_next(&assembly, &words[i]); ++i) {
    form->kinds |= (uint32_t)1 << words[i].kind;
  }
  form->words = words;
  form->word_count = count;
  return true;
}

tfrt_custom_form_t* tfrt_custom_forms_get(tfrt_custom_forms_t* forms, tfrt_arena_t* arena,
                                          const tfrt_kernel_descriptor_t* descriptor) {
  size_t place = (uintptr_t)descriptor / sizeof(*descriptor) % TFRT_CUSTOM_FORM_PLACES;
  tfrt_custom_form_t* form = forms->places[place];
  while (form && form->descriptor != descriptor) form = form->next;
  if (form) return form;
  form = tfrt_arena_allocate(arena, sizeof(*form));
  if (!form) return NULL;
  *form = (tfrt_custom_form_t){.descriptor = descriptor, .next = forms->places[place]};
  if (!read_words(form, arena)) return NULL;
  forms->places[place] = form;
  return form;
}

bool tfrt_custom_form_names(const tfrt_custom_form_t* form, tfrt_string_view_t name,
                            bool as_keyword) {
  for (uint32_t i = 0; i < form->word_count; ++i) {
    const tfrt_assembly_word_t* word = &form->words[i];
    bool is_candidate =
        as_keyword ? word->kind == TFRT_ASSEMBLY_KEYWORD : tfrt_assembly_is_attribute(word->kind);
    if (is_candidate && tfrt_string_view_equal(word->name, name)) return true;
  }
  return false;
}

// True if whether |operation| fits depends on nothing but its types. Missing chains aside, which
// are looked at one by one.
static bool is_plain(const tfrt_ir_operation_t* operation) {
  return !operation->attribute_count && !operation->region_count && !operation->successor_count;
}

bool tfrt_custom_form_is_known(const tfrt_custom_form_t* form,
                               const tfrt_ir_operation_t* operation) {
  if (!form->has_fitted || !is_plain(operation) ||
      operation->operand_count != form->operand_count ||
      operation->result_count != form->result_count) {
    return false;
  }
  const tfrt_ir_type_t* const* types = form->types;
  for (uint32_t i = 0; i < operation->operand_count; ++i, ++types) {
    const tfrt_ir_value_t* value = operation->operands[i].value;
    if (value->type != *types || tfrt_ir_value_is_missing(value)) return false;
  }
  for (uint32_t i = 0; i < operation->result_count; ++i, ++types) {
    if (operation->results[i].type != *types) return false;
  }
  return true;
}

void tfrt_custom_form_remember(tfrt_custom_form_t* form, const tfrt_ir_operation_t* operation) {
  uint32_t operands = operation->operand_count;
  uint32_t results = operation->result_count;
  bool has_room =
      operands <= TFRT_CUSTOM_FORM_MAX_TYPES && results <= TFRT_CUSTOM_FORM_MAX_TYPES - operands;
  if (!is_plain(operation) || !has_room) return;
  for (uint32_t i = 0; i < operands; ++i) {
    if (tfrt_ir_value_is_missing(operation->operands[i].value)) return;
    form->types[i] = operation->operands[i].value->type;
  }
  for (uint32_t i = 0; i < results; ++i) form->types[operands + i] = operation->results[i].type;
  form->operand_count = operands;
  form->result_count = results;
  form->has_fitted = true;
}
