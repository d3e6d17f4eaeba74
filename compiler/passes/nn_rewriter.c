// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/nn_rewriter.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

#define MAX_ATTRIBUTES 16

// Notes that memory is out if |pointer| is NULL, and returns it.
#define CHECKED(rewriter, pointer) (checked((rewriter), (pointer) != NULL), (pointer))

static void checked(tfrt_nn_rewriter_t* rewriter, bool is_there) {
  if (!is_there) rewriter->failed = true;
}

bool tfrt_nn_rewrite_blocks(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                            tfrt_ir_operation_t* module,
                            void (*rewrite)(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block)) {
  tfrt_nn_rewriter_t rewriter = {
      .context = context,
      .tensor_type = tfrt_ir_type_dialect(context, tfrt_string_view_of("!tfrt_tensor.tensor"))};
  tfrt_status_t status =
      tfrt_op_index_initialize(&rewriter.ops, tables, tfrt_ir_context_allocator(context));
  if (status || !rewriter.tensor_type) {
    if (!status) tfrt_op_index_deinitialize(&rewriter.ops);
    tfrt_status_release(status);
    return false;
  }
  tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first;
  for (; op && !rewriter.failed; op = op->next) {
    tfrt_ir_block_t* block = tfrt_ir_is_function(op) ? tfrt_ir_function_block(op) : NULL;
    if (block) rewrite(&rewriter, block);
  }
  tfrt_op_index_deinitialize(&rewriter.ops);
  return !rewriter.failed;
}

// --- Attributes -----------------------------------------------------------------------

const tfrt_ir_attribute_t* tfrt_nn_rewriter_i64(tfrt_nn_rewriter_t* rewriter, int64_t value) {
  const tfrt_ir_type_t* type = tfrt_ir_type_integer(rewriter->context, 64, TFRT_IR_SIGNLESS);
  return type ? tfrt_ir_attribute_integer(rewriter->context, type, value) : NULL;
}

const tfrt_ir_attribute_t* tfrt_nn_rewriter_f32(tfrt_nn_rewriter_t* rewriter, float value) {
  const tfrt_ir_type_t* type = tfrt_ir_type_float(rewriter->context, tfrt_string_view_of("f32"));
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return type ? tfrt_ir_attribute_float_bits(rewriter->context, type, bits) : NULL;
}

const tfrt_ir_attribute_t* tfrt_nn_rewriter_string(tfrt_nn_rewriter_t* rewriter, const char* text) {
  return tfrt_ir_attribute_string(rewriter->context, tfrt_string_view_of(text), NULL);
}

const tfrt_ir_attribute_t* tfrt_nn_rewriter_list(tfrt_nn_rewriter_t* rewriter,
                                                 const int64_t* numbers, uint32_t count) {
  const tfrt_ir_attribute_t* elements[TFRT_NN_REWRITER_POSITIONS];
  if (count > TFRT_NN_REWRITER_POSITIONS) return NULL;
  for (uint32_t i = 0; i < count; ++i) {
    elements[i] = tfrt_nn_rewriter_i64(rewriter, numbers[i]);
    if (!elements[i]) return NULL;
  }
  return tfrt_ir_attribute_array(rewriter->context, elements, count);
}

// The op table's value for an attribute that is left out; lists are empty then.
static const tfrt_ir_attribute_t* standard_attribute(tfrt_nn_rewriter_t* rewriter,
                                                     const tfrt_attribute_descriptor_t* entry) {
  const char* text = entry->default_value;
  int64_t number = 0;
  if (!text) return NULL;
  switch (entry->kind) {
    case TFRT_ATTRIBUTE_I64:
      tfrt_number_text_parse_i64(tfrt_string_view_of(text), &number);
      return tfrt_nn_rewriter_i64(rewriter, number);
    case TFRT_ATTRIBUTE_F32:
      return tfrt_nn_rewriter_f32(rewriter, tfrt_number_text_parse_f32(text, NULL));
    case TFRT_ATTRIBUTE_STRING:
      return tfrt_ir_attribute_string(rewriter->context,
                                      tfrt_string_view_make(text + 1, strlen(text) - 2), NULL);
    default:
      return tfrt_ir_attribute_array(rewriter->context, NULL, 0);
  }
}

// Bit i: operand i is there; -1 where none is left out before another.
static int64_t present_mask(const tfrt_nn_recipe_t* recipe) {
  int64_t mask = 0;
  bool has_gap = false, is_missing = false;
  for (uint32_t i = 0; i < recipe->operand_count; ++i) {
    is_missing |= !recipe->operands[i];
    has_gap |= recipe->operands[i] && is_missing;
    if (recipe->operands[i] && i < TFRT_NN_REWRITER_POSITIONS) mask |= (int64_t)1 << i;
  }
  return has_gap ? mask : -1;
}

static const tfrt_ir_attribute_t* choose_attribute(tfrt_nn_rewriter_t* rewriter,
                                                   const tfrt_nn_recipe_t* recipe,
                                                   const tfrt_attribute_descriptor_t* entry) {
  for (size_t i = 0; i < recipe->setting_count; ++i) {
    if (strcmp(recipe->settings[i].name, entry->name) == 0) return recipe->settings[i].value;
  }
  if (strcmp(entry->name, "present") == 0) {
    return tfrt_nn_rewriter_i64(rewriter, present_mask(recipe));
  }
  const tfrt_ir_attribute_t* value =
      recipe->like ? tfrt_ir_operation_attribute(recipe->like, entry->name) : NULL;
  return value ? value : standard_attribute(rewriter, entry);
}

// --- Ops --------------------------------------------------------------------------------

static tfrt_ir_operation_t* make_parts(tfrt_nn_rewriter_t* rewriter, const tfrt_nn_recipe_t* recipe,
                                       tfrt_ir_operation_parts_t* parts,
                                       tfrt_ir_named_attribute_t* attributes) {
  const tfrt_ir_type_t* types[TFRT_NN_REWRITER_POSITIONS];
  tfrt_ir_value_t** values =
      tfrt_ir_context_allocate_array(rewriter->context, recipe->operand_count + 1, sizeof(*values));
  if (!values || recipe->result_count > TFRT_NN_REWRITER_POSITIONS) return NULL;
  for (uint32_t i = 0; i < recipe->operand_count; ++i) {
    if (recipe->operands[i]) values[parts->operand_count++] = recipe->operands[i];
  }
  for (uint32_t i = 0; i < recipe->result_count; ++i) types[i] = rewriter->tensor_type;
  for (uint32_t i = 0; i < parts->descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &parts->descriptor->attributes[i];
    attributes[i].name = tfrt_ir_string_of(rewriter->context, entry->name);
    attributes[i].value = choose_attribute(rewriter, recipe, entry);
    if (!attributes[i].name || !attributes[i].value) return NULL;
  }
  parts->attribute_count = parts->descriptor->attribute_count;
  parts->operands = values;
  parts->result_types = types;
  parts->result_count = recipe->result_count;
  return tfrt_ir_operation_create(rewriter->context, parts);
}

tfrt_ir_operation_t* tfrt_nn_rewriter_make(tfrt_nn_rewriter_t* rewriter,
                                           const tfrt_nn_recipe_t* recipe) {
  char name[64];
  tfrt_ir_named_attribute_t attributes[MAX_ATTRIBUTES];
  snprintf(name, sizeof(name), "tfrt_nn.%s", recipe->name);
  tfrt_ir_operation_parts_t parts = {
      .name = tfrt_ir_string_of(rewriter->context, name),
      .descriptor = tfrt_op_index_find(&rewriter->ops, tfrt_string_view_of(name)),
      .location = recipe->before->location,
      .attributes = attributes};
  bool is_known =
      parts.name && parts.descriptor && parts.descriptor->attribute_count <= MAX_ATTRIBUTES;
  tfrt_ir_operation_t* op = is_known ? make_parts(rewriter, recipe, &parts, attributes) : NULL;
  if (CHECKED(rewriter, op)) {
    op->text_offset = recipe->before->text_offset;
    tfrt_ir_block_insert_before(recipe->before, op);
  }
  return op;
}

tfrt_ir_value_t* tfrt_nn_rewriter_constant(tfrt_nn_rewriter_t* rewriter,
                                           tfrt_ir_operation_t* before,
                                           const tfrt_ir_attribute_t* value) {
  const tfrt_nn_setting_t setting = {"value", value};
  const tfrt_nn_recipe_t recipe = {.name = "constant",
                                   .before = before,
                                   .result_count = 1,
                                   .settings = &setting,
                                   .setting_count = 1};
  tfrt_ir_operation_t* op =
      CHECKED(rewriter, value) ? tfrt_nn_rewriter_make(rewriter, &recipe) : NULL;
  return op ? &op->results[0] : NULL;
}

static tfrt_ir_value_t* constant_of(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                    const tfrt_ir_type_t* element, const void* bytes, size_t size,
                                    const int64_t* dims, uint32_t rank) {
  const tfrt_ir_type_t* type = element ? tfrt_ir_type_shaped(rewriter->context, TFRT_IR_TYPE_TENSOR,
                                                             true, dims, rank, element, NULL)
                                       : NULL;
  if (!CHECKED(rewriter, type)) return NULL;
  return tfrt_nn_rewriter_constant(rewriter, before,
                                   tfrt_ir_attribute_dense(rewriter->context, type, bytes, size));
}

tfrt_ir_value_t* tfrt_nn_rewriter_numbers(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                          const int64_t* numbers, uint32_t count) {
  const int64_t length = count;
  return constant_of(rewriter, before,
                     tfrt_ir_type_integer(rewriter->context, 64, TFRT_IR_SIGNLESS), numbers,
                     count * sizeof(*numbers), &length, 1);
}

tfrt_ir_value_t* tfrt_nn_rewriter_transpose(tfrt_nn_rewriter_t* rewriter,
                                            tfrt_ir_operation_t* before, tfrt_ir_value_t* x,
                                            const int64_t* order, uint32_t rank) {
  const tfrt_nn_setting_t setting = {"perm", tfrt_nn_rewriter_list(rewriter, order, rank)};
  const tfrt_nn_recipe_t recipe = {.name = "transpose",
                                   .before = before,
                                   .operands = &x,
                                   .operand_count = 1,
                                   .result_count = 1,
                                   .settings = &setting,
                                   .setting_count = 1};
  tfrt_ir_operation_t* op = tfrt_nn_rewriter_make(rewriter, &recipe);
  return op ? &op->results[0] : NULL;
}

tfrt_ir_value_t* tfrt_nn_rewriter_floats(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                         const float* floats, size_t count, const int64_t* dims,
                                         uint32_t rank) {
  return constant_of(rewriter, before,
                     tfrt_ir_type_float(rewriter->context, tfrt_string_view_of("f32")), floats,
                     count * sizeof(*floats), dims, rank);
}

void tfrt_nn_rewriter_replace(tfrt_ir_operation_t* op, tfrt_ir_value_t* value) {
  tfrt_ir_value_replace_all_uses(&op->results[0], value);
  tfrt_ir_operation_erase(op);
}

// --- Reading ------------------------------------------------------------------------------

bool tfrt_nn_is(const tfrt_ir_operation_t* op, const char* name) {
  static const char dialect[] = "tfrt_nn.";
  if (!op || !op->descriptor || op->name->size < sizeof(dialect)) return false;
  return memcmp(op->name->data, dialect, sizeof(dialect) - 1) == 0 &&
         strcmp(op->name->data + sizeof(dialect) - 1, name) == 0;
}

tfrt_ir_operation_t* tfrt_nn_maker(const tfrt_ir_value_t* value, const char* name) {
  bool is_first = value && value->producer && value->index == 0;
  return is_first && tfrt_nn_is(value->producer, name) ? value->producer : NULL;
}

tfrt_ir_value_t* tfrt_nn_operand(const tfrt_ir_operation_t* op, uint32_t position) {
  uint64_t mask = (uint64_t)tfrt_nn_attribute_i64(op, "present", -1);
  uint32_t index = 0;
  if (position >= TFRT_NN_REWRITER_POSITIONS || !(mask >> position & 1)) return NULL;
  for (uint32_t i = 0; i < position; ++i) index += mask >> i & 1;
  return index < op->operand_count ? op->operands[index].value : NULL;
}

const tfrt_ir_attribute_t* tfrt_nn_read_constant(const tfrt_ir_value_t* value) {
  const tfrt_ir_operation_t* maker = tfrt_nn_maker(value, "constant");
  const tfrt_ir_attribute_t* elements = maker ? tfrt_ir_operation_attribute(maker, "value") : NULL;
  return elements && elements->kind == TFRT_IR_ATTRIBUTE_DENSE ? elements : NULL;
}

const float* tfrt_nn_read_floats(const tfrt_ir_value_t* value, size_t* out_count) {
  const tfrt_ir_attribute_t* elements = tfrt_nn_read_constant(value);
  if (!elements) return NULL;
  const tfrt_ir_type_t* type = elements->type->element;
  *out_count = elements->size / sizeof(float);
  bool is_single = type->kind == TFRT_IR_TYPE_FLOAT && tfrt_ir_string_is(type->text, "f32");
  return is_single ? (const float*)(const void*)elements->bytes : NULL;
}

const int64_t* tfrt_nn_read_numbers_of(const tfrt_ir_value_t* value, size_t* out_count) {
  const tfrt_ir_attribute_t* elements = tfrt_nn_read_constant(value);
  if (!elements) return NULL;
  const tfrt_ir_type_t* type = elements->type->element;
  *out_count = elements->size / sizeof(int64_t);
  bool is_long = type->kind == TFRT_IR_TYPE_INTEGER && type->width == 64;
  return is_long ? (const int64_t*)(const void*)elements->bytes : NULL;
}

int64_t tfrt_nn_attribute_i64(const tfrt_ir_operation_t* op, const char* name, int64_t otherwise) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(op, name);
  bool is_number = value && value->kind == TFRT_IR_ATTRIBUTE_INTEGER;
  return is_number ? tfrt_ir_attribute_integer_value(value) : otherwise;
}

float tfrt_nn_attribute_f32(const tfrt_ir_operation_t* op, const char* name, float otherwise) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(op, name);
  bool is_number = value && value->kind == TFRT_IR_ATTRIBUTE_FLOAT;
  return is_number ? (float)tfrt_ir_attribute_float_value(value) : otherwise;
}

bool tfrt_nn_attribute_is(const tfrt_ir_operation_t* op, const char* name, const char* text) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(op, name);
  return value && value->kind == TFRT_IR_ATTRIBUTE_STRING &&
         tfrt_string_view_equal(tfrt_ir_attribute_text(value), tfrt_string_view_of(text));
}

tfrt_ir_operation_t* tfrt_nn_only_user(const tfrt_ir_operation_t* op) {
  const tfrt_ir_value_t* value = &op->results[0];
  return tfrt_ir_value_has_one_use(value) ? value->first_use->owner : NULL;
}
