// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

#include <string.h>

uint32_t tfrt_kernel_descriptor_fixed_operands(const tfrt_kernel_descriptor_t* descriptor) {
  bool variadic = (descriptor->flags & TFRT_KERNEL_VARIADIC_OPERANDS) != 0;
  return (uint32_t)descriptor->operand_count - (variadic ? 1 : 0);
}

uint32_t tfrt_kernel_descriptor_fixed_results(const tfrt_kernel_descriptor_t* descriptor) {
  bool variadic = (descriptor->flags & TFRT_KERNEL_VARIADIC_RESULTS) != 0;
  return (uint32_t)descriptor->result_count - (variadic ? 1 : 0);
}

const tfrt_operand_descriptor_t* tfrt_kernel_descriptor_operand(
    const tfrt_kernel_descriptor_t* descriptor, uint32_t index) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  if (index < fixed_count) return &descriptor->operands[index];
  if (fixed_count < descriptor->operand_count) return &descriptor->operands[fixed_count];
  return NULL;
}

const tfrt_result_descriptor_t* tfrt_kernel_descriptor_result(
    const tfrt_kernel_descriptor_t* descriptor, uint32_t index) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_results(descriptor);
  if (index < fixed_count) return &descriptor->results[index];
  if (fixed_count < descriptor->result_count) return &descriptor->results[fixed_count];
  return NULL;
}

uint32_t tfrt_kernel_descriptor_type_operand(const tfrt_kernel_descriptor_t* descriptor,
                                             const char* type) {
  if (type[0] != '%') return UINT32_MAX;
  uint32_t count = tfrt_kernel_descriptor_fixed_operands(descriptor);
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(descriptor->operands[i].name, type + 1) == 0) return i;
  }
  return UINT32_MAX;
}

bool tfrt_kernel_descriptor_sees_outside(const tfrt_kernel_descriptor_t* descriptor) {
  for (uint32_t i = 0; i < descriptor->region_count; ++i) {
    if (descriptor->regions[i].captures) return true;
  }
  return false;
}

tfrt_kernel_effects_t tfrt_kernel_descriptor_effects(const tfrt_kernel_descriptor_t* descriptor) {
  bool says_nothing = !descriptor->effects;
  if (!says_nothing) return descriptor->effects;
  bool is_pure = (descriptor->flags & (TFRT_KERNEL_PURE | TFRT_KERNEL_TERMINATOR)) != 0;
  return is_pure ? TFRT_EFFECT_NONE : TFRT_EFFECT_EVERYTHING;
}

bool tfrt_kernel_descriptor_list_has(const char* names, const char* name) {
  size_t size = strlen(name);
  for (const char* at = names; at && *at;) {
    size_t length = strcspn(at, " ");
    if (length == size && memcmp(at, name, size) == 0) return true;
    at += length + strspn(at + length, " ");
  }
  return false;
}

bool tfrt_kernel_descriptor_is_chain(const char* type) { return strcmp(type, "!tfrt.chain") == 0; }

bool tfrt_kernel_descriptor_type_is_known(const char* type) {
  return type[0] != '%' && strcmp(type, TFRT_TYPE_ANY) != 0 && !strstr(type, TFRT_TYPE_OR);
}

bool tfrt_kernel_descriptor_next_type(const char** cursor, tfrt_string_view_t* out_type) {
  if (!*cursor) return false;
  const char* end = strstr(*cursor, TFRT_TYPE_OR);
  *out_type = tfrt_string_view_make(*cursor, end ? (size_t)(end - *cursor) : strlen(*cursor));
  *cursor = end ? end + strlen(TFRT_TYPE_OR) : NULL;
  return true;
}

bool tfrt_kernel_descriptor_type_allows(const char* type, const char* printed) {
  if (type[0] == '%' || strcmp(type, TFRT_TYPE_ANY) == 0) return true;
  tfrt_string_view_t given = tfrt_string_view_of(printed);
  tfrt_string_view_t one;
  while (tfrt_kernel_descriptor_next_type(&type, &one)) {
    if (tfrt_string_view_equal(one, given)) return true;
  }
  return false;
}

const tfrt_kernel_descriptor_t* tfrt_kernel_table_find(const tfrt_kernel_table_t* tables,
                                                       size_t table_count, const char* name) {
  for (size_t t = 0; t < table_count; ++t) {
    for (size_t i = 0; i < tables[t].count; ++i) {
      if (strcmp(tables[t].descriptors[i].name, name) == 0) return &tables[t].descriptors[i];
    }
  }
  return NULL;
}
