// SPDX-License-Identifier: Apache-2.0
#include "tests/random_programs/image.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/bef/bef_writer.h"

// The arrays that the writer's form of one function points to.
typedef struct tfrt_image_function_s {
  tfrt_bef_writer_kernel_t kernels[TFRT_MODEL_MAX_OPS];
  // Operands, an attribute if there is one, callees.
  uint32_t words[TFRT_MODEL_MAX_OPS][TFRT_MODEL_MAX_OPERANDS + 1 + TFRT_MODEL_MAX_CALLEES];
  uint32_t types[TFRT_MODEL_MAX_VALUES];
  uint32_t result_types[TFRT_MODEL_MAX_RESULTS];
  uint32_t result_registers[TFRT_MODEL_MAX_RESULTS];
} tfrt_image_function_t;

static bool image_attribute(const tfrt_model_op_t* op, tfrt_bef_value_t* out_value) {
  *out_value = (tfrt_bef_value_t){.type = TFRT_BEF_DTYPE_I32, .bits = (uint32_t)op->number};
  switch (op->kind) {
    case TFRT_MODEL_CONSTANT_I32:
    case TFRT_MODEL_ASYNC_CONSTANT:
      return true;
    case TFRT_MODEL_CONSTANT_I1:
      out_value->type = TFRT_BEF_DTYPE_I1;
      return true;
    case TFRT_MODEL_WHILE:
      *out_value = (tfrt_bef_value_t){.type = TFRT_BEF_DTYPE_I64, .bits = 1};
      return true;
    default:
      return false;
  }
}

static void image_add_kernel(tfrt_bef_writer_t* writer, const tfrt_model_op_t* op,
                             tfrt_image_function_t* image, uint32_t index, uint32_t stream_count) {
  static const tfrt_string_view_t value_name = {"value", 5};
  static const tfrt_string_view_t while_name = {"parallel_iterations", 19};
  static const tfrt_bef_call_options_t nonstrict = {.nonstrict = true};
  tfrt_bef_value_t attribute;
  bool has_attribute = image_attribute(op, &attribute);
  uint32_t* word = image->words[index];
  for (uint32_t i = 0; i < op->operand_count; ++i) *word++ = op->operands[i];
  if (has_attribute) *word++ = tfrt_bef_writer_add_attribute(writer, &attribute);
  for (uint32_t i = 0; i < op->callee_count; ++i) *word++ = op->callees[i];
  image->kernels[index] = (tfrt_bef_writer_kernel_t){
      .code = tfrt_bef_writer_add_kernel_name(writer,
                                              tfrt_string_view_of(tfrt_model_kind_name(op->kind))),
      .location = tfrt_bef_writer_add_location_file(writer, tfrt_string_view_of("random.mlir"),
                                                    op->line, 1),
      .stream_id = op->stream % stream_count,
      .argument_count = op->operand_count,
      .attribute_count = has_attribute,
      .function_count = op->callee_count,
      .result_count = op->result_count,
      .words = image->words[index],
      .attribute_names = op->kind == TFRT_MODEL_WHILE ? &while_name : &value_name,
      .call_options = op->nonstrict ? &nonstrict : NULL};
}

static tfrt_bef_function_kind_t image_kind(tfrt_model_form_t form) {
  if (form == TFRT_MODEL_FORM_ASYNC) return TFRT_BEF_FUNCTION_ASYNC;
  return form == TFRT_MODEL_FORM_SYNC ? TFRT_BEF_FUNCTION_SYNC : TFRT_BEF_FUNCTION_NATIVE;
}

static void image_add_function(tfrt_bef_writer_t* writer, const tfrt_model_function_t* body,
                               const char* name, tfrt_image_function_t* image) {
  for (uint32_t i = 0; i < body->value_count; ++i) {
    const char* type = tfrt_model_type_name((tfrt_model_type_t)body->types[i]);
    image->types[i] = tfrt_bef_writer_add_type(writer, tfrt_string_view_of(type));
  }
  for (uint32_t i = 0; i < body->result_count; ++i) {
    image->result_registers[i] = body->results[i];
    image->result_types[i] = image->types[body->results[i]];
  }
  for (uint32_t i = 0; i < body->op_count; ++i) {
    image_add_kernel(writer, &body->ops[i], image, i, body->op_count);
  }
  tfrt_bef_writer_function_t function = {
      .name = tfrt_string_view_of(name),
      .kind = image_kind(body->form),
      .argument_count = body->argument_count,
      .result_count = body->result_count,
      .argument_types = image->types,
      .result_types = image->result_types,
      .location = tfrt_bef_writer_add_location_unknown(writer),
      .root_stream_id = body->op_count ? body->root_stream % body->op_count : 0,
      .register_count = body->value_count,
      .kernel_count = body->op_count,
      .register_types = image->types,
      .result_registers = image->result_registers,
      .kernels = image->kernels};
  tfrt_bef_writer_add_function(writer, &function);
}

tfrt_status_t tfrt_model_write_image(const tfrt_model_t* model, tfrt_allocator_t allocator,
                                     void** out_bytes, size_t* out_size) {
  *out_bytes = NULL;
  *out_size = 0;
  tfrt_bef_writer_t* writer = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_bef_writer_allocate(true, allocator, &writer));
  tfrt_image_function_t* image = tfrt_allocator_allocate_zeroed(allocator, sizeof(*image));
  if (!image) {
    tfrt_bef_writer_free(writer);
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for an image");
  }
  for (uint32_t i = 0; i < model->function_count; ++i) {
    char name[32] = "";
    const char* native = tfrt_model_form_native_name(model->functions[i].form);
    if (i == model->main || native) {
      snprintf(name, sizeof(name), "%s", native ? native : "main");
    } else if (!model->functions[i].is_region) {
      snprintf(name, sizeof(name), "f%u", i);
    }
    image_add_function(writer, &model->functions[i], name, image);
  }
  tfrt_allocator_free(allocator, image, sizeof(*image));
  tfrt_status_t status = tfrt_bef_writer_finish(writer, out_bytes, out_size);
  tfrt_bef_writer_free(writer);
  return status;
}
