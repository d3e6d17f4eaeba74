// SPDX-License-Identifier: Apache-2.0

#include "compiler/op_table/op_form.h"

#include <string.h>

// The |*out_count| words of |text|.
static const tfrt_assembly_word_t* list_words(tfrt_ir_context_t* context, const char* text,
                                              uint32_t* out_count) {
  tfrt_assembly_t assembly;
  tfrt_assembly_word_t word;
  uint32_t count = 0;
  tfrt_assembly_begin(&assembly, text);
  while (tfrt_assembly_next(&assembly, &word)) ++count;
  tfrt_assembly_word_t* words = tfrt_ir_context_allocate_array(context, count, sizeof(*words));
  *out_count = words ? count : 0;
  tfrt_assembly_begin(&assembly, text);
  for (uint32_t i = 0; i < *out_count; ++i) tfrt_assembly_next(&assembly, &words[i]);
  return words;
}

static bool has_open_result(const tfrt_kernel_descriptor_t* descriptor) {
  for (uint32_t i = 0; i < descriptor->result_count; ++i) {
    if (!tfrt_kernel_descriptor_type_is_known(descriptor->results[i].type)) return true;
  }
  return false;
}

// Returns true if the words of |form|, whose other fields are set, make it a plain one.
static bool is_plain(const tfrt_op_form_t* form) {
  const tfrt_kernel_descriptor_t* descriptor = form->descriptor;
  return form->word_count == 2 && form->words[0].kind == TFRT_ASSEMBLY_OPERANDS &&
         form->words[1].kind == TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY && form->results_are_known &&
         form->fixed_result_count <= 1 && form->fixed_operand_count <= TFRT_OP_FORM_MAX_PLAIN &&
         form->fixed_operand_count == descriptor->operand_count && !descriptor->attribute_count &&
         !descriptor->region_count;
}

tfrt_op_form_t* tfrt_op_form_create(tfrt_ir_context_t* context,
                                    const tfrt_kernel_descriptor_t* descriptor) {
  tfrt_op_form_t* form = tfrt_ir_context_allocate_array(context, 1, sizeof(*form));
  if (!form) return NULL;
  form->descriptor = descriptor;
  form->name = tfrt_ir_string_of(context, descriptor->name);
  form->words = list_words(context, descriptor->assembly, &form->word_count);
  form->fixed_operand_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  form->fixed_result_count = tfrt_kernel_descriptor_fixed_results(descriptor);
  form->results_are_known =
      form->fixed_result_count == descriptor->result_count && !has_open_result(descriptor);
  form->operand_types = tfrt_ir_context_allocate_array(context, descriptor->operand_count,
                                                       sizeof(*form->operand_types));
  form->result_types = tfrt_ir_context_allocate_array(context, descriptor->result_count,
                                                      sizeof(*form->result_types));
  bool ok = form->name && form->words && form->operand_types && form->result_types;
  form->is_plain = ok && is_plain(form);
  return ok ? form : NULL;
}

tfrt_string_view_t tfrt_op_form_family(const tfrt_kernel_descriptor_t* descriptor) {
  const char* begin = descriptor->assembly + strcspn(descriptor->assembly, " ");
  begin += strspn(begin, " ");
  return tfrt_string_view_make(begin, strcspn(begin, " "));
}
