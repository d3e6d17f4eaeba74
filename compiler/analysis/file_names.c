// SPDX-License-Identifier: Apache-2.0
//
// The files that ops name. A name that may lead to the same file as another one (".." or a path
// from the root) counts as unknown; "./a" is "a". Links aren't looked at.

#include <string.h>

#include "compiler/analysis/effect_analysis_impl.h"

// The text of the one attribute, a string, of |op|, which takes nothing: a constant.
static const tfrt_ir_attribute_t* constant_of(const tfrt_ir_operation_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op ? op->descriptor : NULL;
  if (!descriptor || op->operand_count || op->result_count != 1) return NULL;
  if (descriptor->attribute_count != 1) return NULL;
  if (descriptor->attributes[0].kind != TFRT_ATTRIBUTE_STRING) return NULL;
  bool is_silent =
      !(descriptor->flags & TFRT_KERNEL_PURE) && descriptor->effects != TFRT_EFFECT_NONE;
  return is_silent ? NULL : tfrt_ir_operation_attribute(op, descriptor->attributes[0].name);
}

// The string that names the file of |op|, or NULL.
static const tfrt_ir_attribute_t* path_of(const tfrt_ir_operation_t* op) {
  const tfrt_ir_attribute_t* path = tfrt_ir_operation_attribute(op, "path");
  if (path || !op->descriptor) return path;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = tfrt_kernel_descriptor_operand(op->descriptor, i);
    if (entry && strcmp(entry->name, "path") == 0) {
      return constant_of(op->operands[i].value->producer);
    }
  }
  return NULL;
}

// Takes "./" from the beginning of |name|; empty if the name may be one of several of its file.
static tfrt_string_view_t plain_name(tfrt_string_view_t name) {
  while (name.size > 2 && name.data[0] == '.' && name.data[1] == '/') {
    name = tfrt_string_view_make(name.data + 2, name.size - 2);
  }
  bool is_plain = name.size && name.data[0] != '/' && name.data[0] != '.';
  for (size_t i = 0; i + 1 < name.size; ++i) {
    if (name.data[i] == '/' && (name.data[i + 1] == '.' || name.data[i + 1] == '/')) {
      is_plain = false;
    }
  }
  return is_plain ? name : tfrt_string_view_make(NULL, 0);
}

// A number below |count| that equal names have in common.
static uint32_t hash_of(tfrt_string_view_t name, uint32_t count) {
  uint32_t hash = 0;
  for (size_t i = 0; i < name.size; ++i) hash = 31 * hash + (unsigned char)name.data[i];
  return hash % count;
}

tfrt_place_t tfrt_effect_file(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  const tfrt_ir_attribute_t* path = path_of(op);
  if (!path || path->kind != TFRT_IR_ATTRIBUTE_STRING) return TFRT_PLACE_FILES;
  tfrt_string_view_t name = plain_name(tfrt_ir_attribute_text(path));
  if (!name.size) return TFRT_PLACE_FILES;
  uint32_t index = 0;
  while (index < TFRT_PLACE_MAX_FILES && analysis->files[index].size &&
         !tfrt_string_view_equal(analysis->files[index], name)) {
    ++index;
  }
  if (index == TFRT_PLACE_MAX_FILES) {
    index = hash_of(name, TFRT_PLACE_MAX_FILES);
  } else {
    analysis->files[index] = name;
  }
  return TFRT_PLACE_FIRST_FILE + index;
}
