// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/eager/eager_image.h"

#include "host_runtime/bef/bef_writer.h"

// The parts of the image; |arena| has what the writer is given.
typedef struct tfrt_eager_image_s {
  tfrt_bef_writer_t* writer;
  const tfrt_single_op_t* op;
  const tfrt_kernel_descriptor_t* descriptor;
  const tfrt_eager_binding_t* binding;
  tfrt_arena_t arena;
} tfrt_eager_image_t;

static uint32_t* eager_image_allocate(tfrt_eager_image_t* image, size_t count) {
  return tfrt_arena_allocate_array(&image->arena, count + 1, sizeof(uint32_t));
}

// The number of |type| (may be NULL), or of "any" if it is left open.
static uint32_t eager_image_add_type(tfrt_eager_image_t* image, const char* type) {
  bool is_known = type && tfrt_kernel_descriptor_type_is_known(type);
  return tfrt_bef_writer_add_type(image->writer,
                                  tfrt_string_view_of(is_known ? type : TFRT_TYPE_ANY));
}

static const uint32_t* eager_image_argument_types(tfrt_eager_image_t* image) {
  uint32_t* types = eager_image_allocate(image, image->op->argument_count);
  for (uint32_t i = 0; types && i < image->op->argument_count; ++i) {
    const tfrt_operand_descriptor_t* operand = tfrt_kernel_descriptor_operand(image->descriptor, i);
    types[i] = eager_image_add_type(image, operand ? operand->type : NULL);
  }
  return types;
}

static const uint32_t* eager_image_result_types(tfrt_eager_image_t* image) {
  uint32_t* types = eager_image_allocate(image, image->op->result_count);
  for (uint32_t i = 0; types && i < image->op->result_count; ++i) {
    const tfrt_result_descriptor_t* result = tfrt_kernel_descriptor_result(image->descriptor, i);
    types[i] = eager_image_add_type(image, result ? result->type : NULL);
  }
  return types;
}

// The |count| numbers from |first| on.
static uint32_t* eager_image_numbers(tfrt_eager_image_t* image, uint32_t first, uint32_t count) {
  uint32_t* numbers = eager_image_allocate(image, count);
  for (uint32_t i = 0; numbers && i < count; ++i) numbers[i] = first + i;
  return numbers;
}

static const uint32_t* eager_image_words(tfrt_eager_image_t* image) {
  const tfrt_eager_binding_t* binding = image->binding;
  uint32_t count = image->op->argument_count;
  uint32_t* words = eager_image_numbers(image, 0, count + binding->offset_count);
  for (uint32_t i = 0; words && i < binding->offset_count; ++i) {
    words[count + i] = tfrt_bef_writer_add_attribute(image->writer, &binding->values[i]);
  }
  return words;
}

static uint32_t eager_image_add_location(tfrt_eager_image_t* image) {
  const tfrt_single_op_t* op = image->op;
  if (!op->file || !op->file[0]) return tfrt_bef_writer_add_location_unknown(image->writer);
  return tfrt_bef_writer_add_location_file(image->writer, tfrt_string_view_of(op->file), op->line,
                                           op->column);
}

static tfrt_status_t eager_image_feed(tfrt_eager_image_t* image) {
  const tfrt_single_op_t* op = image->op;
  tfrt_bef_writer_kernel_t kernel = {
      .code = tfrt_bef_writer_add_kernel_name(image->writer, tfrt_string_view_of(op->name)),
      .location = eager_image_add_location(image),
      .argument_count = op->argument_count,
      .attribute_count = image->binding->offset_count,
      .result_count = op->result_count,
      .words = eager_image_words(image),
      .call_options = op->call_options};
  tfrt_bef_writer_function_t function = {
      .name = tfrt_string_view_of(op->name),
      .kind = TFRT_BEF_FUNCTION_ASYNC,
      .argument_count = op->argument_count,
      .result_count = op->result_count,
      .argument_types = eager_image_argument_types(image),
      .result_types = eager_image_result_types(image),
      .location = kernel.location,
      .register_count = op->argument_count + op->result_count,
      .kernel_count = 1,
      .result_registers = eager_image_numbers(image, op->argument_count, op->result_count),
      .kernels = &kernel};
  if (!kernel.words || !function.argument_types || !function.result_types ||
      !function.result_registers) {
    return tfrt_status_out_of_memory();
  }
  tfrt_bef_writer_add_function(image->writer, &function);
  return NULL;
}

static tfrt_status_t eager_image_load(tfrt_eager_image_t* image,
                                      const tfrt_kernel_registry_t* registry,
                                      tfrt_program_t** out_program) {
  const tfrt_allocator_t system = tfrt_allocator_system();
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(eager_image_feed(image));
  TFRT_RETURN_IF_ERROR(tfrt_bef_writer_finish(image->writer, &bytes, &size));
  tfrt_bef_file_t* file = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_bef_file_create_take(bytes, size, system, &file));
  tfrt_status_t status = tfrt_program_create(file, registry, system, out_program);
  tfrt_bef_file_release(file);
  return status;
}

// Whether |op| can mean on another host what it means here.
static tfrt_status_t eager_image_check(const tfrt_single_op_t* op,
                                       const tfrt_kernel_descriptor_t* descriptor) {
  if (op->function_count > 0) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "op '%s' is given functions, so it can't be portable: write it into a "
        "function of a program, and make a composite op of that",
        op->name);
  }
  for (uint32_t i = 0; i < op->argument_count; ++i) {
    const tfrt_operand_descriptor_t* operand = tfrt_kernel_descriptor_operand(descriptor, i);
    if (!operand || operand->use != TFRT_OPERAND_MUTATED) continue;
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "op '%s' writes to its operand '%s', so it can't be portable: another "
        "host would write to a copy",
        op->name, operand->name);
  }
  return NULL;
}

tfrt_status_t tfrt_eager_image_create_program(const tfrt_single_op_t* op,
                                              const tfrt_kernel_descriptor_t* descriptor,
                                              const tfrt_eager_binding_t* binding,
                                              const tfrt_kernel_registry_t* registry,
                                              tfrt_program_t** out_program) {
  *out_program = NULL;
  TFRT_RETURN_IF_ERROR(eager_image_check(op, descriptor));
  tfrt_eager_image_t image = {.op = op, .descriptor = descriptor, .binding = binding};
  TFRT_RETURN_IF_ERROR(tfrt_bef_writer_allocate(false, tfrt_allocator_system(), &image.writer));
  tfrt_arena_initialize(&image.arena, tfrt_allocator_system());
  tfrt_status_t status = eager_image_load(&image, registry, out_program);
  tfrt_arena_deinitialize(&image.arena);
  tfrt_bef_writer_free(image.writer);
  return status;
}
