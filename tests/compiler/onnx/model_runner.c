// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/onnx/model_runner.h"

#include <string.h>

#include "compiler/onnx/onnx.pb-c.h"
#include "compiler/onnx/onnx_model.h"
#include "compiler/onnx/onnx_translate.h"
#include "embedding/standard_kernels.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/executor/program/program.h"

#include "host_runtime/tensor/tensor_types.h"
#include "tools/kernels/op_tables.h"

tfrt_status_t tfrt_test_model_host(tfrt_host_context_t** out_host) {
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  TFRT_RETURN_IF_ERROR(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, out_host));
  return tfrt_standard_kernels_register((*out_host)->registry);
}

static tfrt_status_t load(const tfrt_host_context_t* host, const char* path,
                          const tfrt_onnx_options_t* options, tfrt_program_t** out_program) {
  tfrt_file_contents_t contents;
  tfrt_string_builder_t report, summary;
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_string_builder_initialize(&summary, tfrt_allocator_system());
  const tfrt_onnx_texts_t texts = {&report, &summary};
  tfrt_status_t status = tfrt_onnx_to_bef(
      path, tfrt_string_view_make((const char*)contents.data, contents.size), tfrt_all_op_tables(),
      options, tfrt_allocator_system(), &texts, &bytes, &size);
  tfrt_string_builder_deinitialize(&report);
  tfrt_string_builder_deinitialize(&summary);
  tfrt_file_contents_deinitialize(&contents);
  if (status) return status;
  tfrt_bef_file_t* file = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_bef_file_create_take(bytes, size, tfrt_allocator_system(), &file));
  status = tfrt_program_create(file, host->registry, tfrt_allocator_system(), out_program);
  tfrt_bef_file_release(file);
  return status;
}

tfrt_status_t tfrt_test_model_import(tfrt_host_context_t* host, const char* path) {
  const tfrt_onnx_options_t options = {.directory = NULL};
  tfrt_program_t* program = NULL;
  tfrt_status_t status = load(host, path, &options, &program);
  tfrt_program_release(program);
  return status;
}

static tfrt_status_t take_results(tfrt_async_value_t** values, uint32_t count,
                                  tfrt_dense_host_tensor_t* results) {
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_async_value_t* value = tfrt_async_value_resolved(values[i]);
    if (status) {
    } else if (tfrt_async_value_is_error(value)) {
      status = tfrt_status_retain(tfrt_async_value_error(value));
    } else {
      const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(value);
      tfrt_dense_host_tensor_initialize_alias(&tensor->dense, &results[i]);
    }
    tfrt_async_value_release(values[i]);
  }
  return status;
}

static tfrt_status_t execute(tfrt_host_context_t* host, tfrt_program_t* program,
                             tfrt_async_value_t** arguments, uint32_t argument_count,
                             tfrt_dense_host_tensor_t* results, uint32_t room,
                             uint32_t* out_count) {
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_request_context_t* request = NULL;
  tfrt_async_value_t* values[64] = {NULL};
  const tfrt_function_t* function = tfrt_program_find_function(program, "main");
  if (function->argument_count != argument_count || function->result_count > room ||
      function->result_count > TFRT_ARRAY_SIZE(values)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%u inputs for %u parameters",
                              argument_count, function->argument_count);
  }
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  tfrt_function_execute(function, &context, arguments, values);
  tfrt_work_queue_await(host->work_queue, values, function->result_count);
  *out_count = function->result_count;
  tfrt_status_t status = take_results(values, function->result_count, results);
  tfrt_request_context_release(request);
  return status;
}

tfrt_status_t tfrt_test_model_run(tfrt_host_context_t* host, const char* path,
                                  const tfrt_onnx_options_t* options,
                                  tfrt_dense_host_tensor_t* inputs, uint32_t input_count,
                                  tfrt_dense_host_tensor_t* results, uint32_t result_room,
                                  uint32_t* out_count) {
  tfrt_program_t* program = NULL;
  tfrt_async_value_t* arguments[64] = {NULL};
  *out_count = 0;
  memset(results, 0, result_room * sizeof(*results));
  for (uint32_t i = 0; i < input_count; ++i) {
    arguments[i] = tfrt_async_value_create_tensor_take(&inputs[i]);
  }
  tfrt_status_t status = load(host, path, options, &program);
  if (!status) {
    status = execute(host, program, arguments, input_count, results, result_room, out_count);
  }
  for (uint32_t i = 0; i < input_count; ++i) tfrt_async_value_release(arguments[i]);
  tfrt_program_release(program);
  return status;
}

// --- Tensors ----------------------------------------------------------------------

static tfrt_status_t tensor_of(tfrt_ir_context_t* context, const Onnx__TensorProto* message,
                               tfrt_dense_host_tensor_t* out_tensor) {
  static const tfrt_dtype_t dtypes[] = {
      [1] = TFRT_DTYPE_F32,  [2] = TFRT_DTYPE_UI8,  [3] = TFRT_DTYPE_I8,    [4] = TFRT_DTYPE_UI16,
      [5] = TFRT_DTYPE_I16,  [6] = TFRT_DTYPE_I32,  [7] = TFRT_DTYPE_I64,   [9] = TFRT_DTYPE_I1,
      [10] = TFRT_DTYPE_F16, [11] = TFRT_DTYPE_F64, [12] = TFRT_DTYPE_UI32, [13] = TFRT_DTYPE_UI64,
      [16] = TFRT_DTYPE_BF16};
  const tfrt_ir_attribute_t* attribute;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_onnx_tensor_attribute(context, message, NULL, &attribute));
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(attribute->type->dims, attribute->type->rank, &shape));
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(dtypes[message->data_type], &shape,
                                                         tfrt_allocator_system(), out_tensor));
  if (attribute->size) {
    memcpy(tfrt_dense_host_tensor_data(out_tensor), attribute->bytes, attribute->size);
  }
  return NULL;
}

tfrt_status_t tfrt_test_model_read_tensor(const char* path, tfrt_dense_host_tensor_t* out_tensor) {
  tfrt_file_contents_t contents;
  tfrt_ir_context_t* context;
  TFRT_RETURN_IF_ERROR(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  Onnx__TensorProto* message = onnx__tensor_proto__unpack(NULL, contents.size, contents.data);
  tfrt_status_t status = tfrt_ir_context_allocate(tfrt_allocator_system(), &context);
  if (!status && !message) {
    status = tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "%s is no tensor", path);
  }
  if (!status) status = tensor_of(context, message, out_tensor);
  if (message) onnx__tensor_proto__free_unpacked(message, NULL);
  tfrt_ir_context_free(context);
  tfrt_file_contents_deinitialize(&contents);
  return status;
}
