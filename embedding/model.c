// SPDX-License-Identifier: Apache-2.0
#include "embedding/model.h"

#include <string.h>

#include "embedding/program_source.h"
#include "embedding/standard_kernels.h"
#include "host_runtime/async/async_value.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_conversion.h"
#include "host_runtime/tensor/tensor_types.h"

// The type of a parameter or a result of the function.
typedef struct tfrt_model_port_s {
  tfrt_type_id_t type_id;
  tfrt_dtype_t dtype;  // of a number; else INVALID
} tfrt_model_port_t;

struct tfrt_model_s {
  tfrt_host_context_t* host;  // owned
  tfrt_program_t* program;    // +1
  const tfrt_function_t* function;
  const char* const* argument_names;  // the file's, or NULL
  tfrt_model_port_t* ports;           // owned: those of the parameters, then of the results
  size_t port_count;
  uint32_t input_count;
  uint32_t output_count;
};

// The numbers that programs have, and what they are as elements of tensors.
static const tfrt_model_port_t tfrt_model_numbers[] = {
    {TFRT_TYPE_I1, TFRT_DTYPE_I1},
    {TFRT_TYPE_I8, TFRT_DTYPE_I8},
    {TFRT_TYPE_I16, TFRT_DTYPE_I16},
    {TFRT_TYPE_I32, TFRT_DTYPE_I32},
    {TFRT_TYPE_I64, TFRT_DTYPE_I64},
    {TFRT_TYPE_UI8, TFRT_DTYPE_UI8},
    {TFRT_TYPE_UI16, TFRT_DTYPE_UI16},
    {TFRT_TYPE_UI32, TFRT_DTYPE_UI32},
    {TFRT_TYPE_UI64, TFRT_DTYPE_UI64},
    {TFRT_TYPE_F32, TFRT_DTYPE_F32},
    {TFRT_TYPE_F64, TFRT_DTYPE_F64},
    {TFRT_TYPE_F16, TFRT_DTYPE_F16},
    {TFRT_TYPE_BF16, TFRT_DTYPE_BF16},
    {TFRT_TYPE_COMPLEX64, TFRT_DTYPE_COMPLEX64},
    {TFRT_TYPE_COMPLEX128, TFRT_DTYPE_COMPLEX128},
};

// --- Loading ---------------------------------------------------------------------------

static tfrt_status_t model_find_port(const char* what, uint32_t index, const char* type,
                                     tfrt_model_port_t* out_port) {
  *out_port = (tfrt_model_port_t){TFRT_TYPE_NONE, TFRT_DTYPE_INVALID};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  bool is_known = tfrt_type_find(type, &id);
  if (is_known && (id == TFRT_TYPE_CHAIN || id == tfrt_host_tensor_type_id())) {
    out_port->type_id = id;
    return NULL;
  }
  for (size_t i = 0; is_known && i < TFRT_ARRAY_SIZE(tfrt_model_numbers); ++i) {
    if (tfrt_model_numbers[i].type_id == id) {
      *out_port = tfrt_model_numbers[i];
      return NULL;
    }
  }
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                            "%s %u is a %s: a model takes and gives tensors and numbers", what,
                            index, type);
}

// Sets the ports of |model| and counts those that are no chains.
static tfrt_status_t model_read_signature(tfrt_model_t* model) {
  const tfrt_function_t* function = model->function;
  size_t count = (size_t)function->argument_count + function->result_count;
  model->ports =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), count, sizeof(*model->ports));
  if (!model->ports && count > 0) return tfrt_status_out_of_memory();
  model->port_count = count;
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    tfrt_model_port_t* port = &model->ports[i];
    TFRT_RETURN_IF_ERROR(model_find_port("parameter", i, function->argument_types[i], port));
    model->input_count += port->type_id != TFRT_TYPE_CHAIN;
  }
  for (uint32_t i = 0; i < function->result_count; ++i) {
    tfrt_model_port_t* port = &model->ports[function->argument_count + i];
    TFRT_RETURN_IF_ERROR(model_find_port("result", i, function->result_types[i], port));
    model->output_count += port->type_id != TFRT_TYPE_CHAIN;
  }
  return NULL;
}

static void model_find_names(tfrt_model_t* model) {
  const tfrt_bef_file_t* file = tfrt_program_file(model->program);
  const tfrt_bef_function_t* function = tfrt_bef_file_find_function(file, model->function->name);
  if (function) model->argument_names = function->argument_names;
}

static tfrt_status_t model_open_host(const tfrt_model_options_t* options,
                                     tfrt_host_context_t** out_host) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_thread_pool_options_t threads = {.thread_count = options->thread_count};
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_thread_pool_work_queue_create(&threads, system, &queue));
  TFRT_RETURN_IF_ERROR(tfrt_host_context_allocate(system, tfrt_clock_system(), queue, out_host));
  return tfrt_standard_kernels_register((*out_host)->registry);
}

static tfrt_status_t model_open(tfrt_model_t* model, const char* path,
                                const tfrt_model_options_t* options) {
  TFRT_RETURN_IF_ERROR(model_open_host(options, &model->host));
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_string_builder_t report;  // the error has its first line
  tfrt_string_builder_initialize(&report, system);
  tfrt_status_t status =
      tfrt_program_create_from_file(path, model->host->registry, system, &report, &model->program);
  tfrt_string_builder_deinitialize(&report);
  if (status) return status;
  const char* name = options->function ? options->function : "main";
  model->function = tfrt_program_find_function(model->program, name);
  if (!model->function) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "%s has no function '%s'", path, name);
  }
  model_find_names(model);
  status = model_read_signature(model);
  return status ? tfrt_status_take_annotate(status, "%s: function '%s'", path, name) : NULL;
}

tfrt_status_t tfrt_model_load(const char* path, const tfrt_model_options_t* options,
                              tfrt_model_t** out_model) {
  static const tfrt_model_options_t defaults = {0};
  *out_model = NULL;
  tfrt_model_t* model = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*model));
  if (!model) return tfrt_status_out_of_memory();
  tfrt_status_t status = model_open(model, path, options ? options : &defaults);
  if (status) {
    tfrt_model_free(model);
    return status;
  }
  *out_model = model;
  return NULL;
}

void tfrt_model_free(tfrt_model_t* model) {
  if (!model) return;
  // Calls that still run keep the program alive; the host waits for them.
  tfrt_program_release(model->program);
  tfrt_host_context_free(model->host);
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_allocator_free(system, model->ports, model->port_count * sizeof(*model->ports));
  tfrt_allocator_free(system, model, sizeof(*model));
}

uint32_t tfrt_model_input_count(const tfrt_model_t* model) { return model->input_count; }

uint32_t tfrt_model_output_count(const tfrt_model_t* model) { return model->output_count; }

const char* tfrt_model_input_name(const tfrt_model_t* model, uint32_t index) {
  if (!model->argument_names) return "";
  uint32_t parameter = 0;
  for (uint32_t left = index; parameter < model->function->argument_count; ++parameter) {
    if (model->ports[parameter].type_id == TFRT_TYPE_CHAIN) continue;
    if (left-- == 0) break;
  }
  return model->argument_names[parameter];
}

// --- Inputs ----------------------------------------------------------------------------

// The way to give the elements of an input back.
typedef struct tfrt_model_loan_s {
  void (*release)(void* context);
  void* context;
} tfrt_model_loan_t;

static void model_loan_end(void* context, void* data, size_t size) {
  (void)data;
  (void)size;
  tfrt_model_loan_t* loan = context;
  if (loan->release) loan->release(loan->context);
  tfrt_allocator_free(tfrt_allocator_system(), loan, sizeof(*loan));
}

// Sets |*out_buffer| (+1) to a buffer over the |size| bytes of |input|. On success the buffer gives
// them back, else nobody has.
static tfrt_status_t model_lend(const tfrt_model_tensor_t* input, size_t size,
                                tfrt_host_buffer_t** out_buffer) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_model_loan_t* loan = tfrt_allocator_allocate(system, sizeof(*loan));
  if (!loan) return tfrt_status_out_of_memory();
  *loan = (tfrt_model_loan_t){input->release, input->context};
  // Kernels write only to tensors that a program has made: see the header.
  void* data = (void*)(uintptr_t)input->data;
  tfrt_status_t status =
      tfrt_host_buffer_create_external(data, size, model_loan_end, loan, system, out_buffer);
  if (status) tfrt_allocator_free(system, loan, sizeof(*loan));
  return status;
}

static tfrt_status_t model_make_tensor(const tfrt_model_tensor_t* input,
                                       tfrt_async_value_t** out_value, bool* out_is_lent) {
  tfrt_shape_t shape;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(input->dims, input->rank, &shape));
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(input->dtype, &shape, &size));
  if (!input->data && size > 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "it has no data");
  }
  tfrt_host_buffer_t* buffer = NULL;
  TFRT_RETURN_IF_ERROR(model_lend(input, size, &buffer));
  *out_is_lent = true;
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status =
      tfrt_dense_host_tensor_initialize_view(input->dtype, &shape, buffer, 0, &tensor);
  tfrt_host_buffer_release(buffer);
  if (status) return status;
  *out_value = tfrt_async_value_create_tensor_take(&tensor);
  return NULL;
}

static tfrt_status_t model_make_number(const tfrt_model_port_t* port,
                                       const tfrt_model_tensor_t* input,
                                       tfrt_async_value_t** out_value) {
  if (input->dtype != port->dtype || input->rank != 0 || !input->data) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT, "it is a %s of rank %u, but the parameter is a number, a %s",
        tfrt_dtype_name(input->dtype), input->rank, tfrt_dtype_name(port->dtype));
  }
  *out_value =
      tfrt_async_value_create_copy(port->type_id, input->data, tfrt_dtype_size(port->dtype));
  return NULL;
}

// Gives back the inputs from |first| on.
static void model_give_back(const tfrt_model_tensor_t* inputs, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < count; ++i) {
    if (inputs[i].release) inputs[i].release(inputs[i].context);
  }
}

// Sets |*out_value| (+1) to the value of |input|, which is consumed also on an error.
static tfrt_status_t model_take_input(const tfrt_model_port_t* port,
                                      const tfrt_model_tensor_t* input,
                                      tfrt_async_value_t** out_value) {
  bool is_lent = false;
  tfrt_status_t status = port->dtype == TFRT_DTYPE_INVALID
                             ? model_make_tensor(input, out_value, &is_lent)
                             : model_make_number(port, input, out_value);
  if (!is_lent) model_give_back(input, 0, 1);
  return status;
}

// Sets |arguments|, one for each parameter, to values (+1); they stay NULL where none was made. All
// |inputs| are consumed.
static tfrt_status_t model_take_inputs(const tfrt_model_t* model, const tfrt_model_tensor_t* inputs,
                                       uint32_t input_count, tfrt_async_value_t** arguments) {
  tfrt_status_t status = NULL;
  if (input_count != model->input_count) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "function '%s' takes %u inputs, but %u were given",
                                model->function->name, model->input_count, input_count);
  }
  uint32_t next = 0;
  for (uint32_t i = 0; !status && i < model->function->argument_count; ++i) {
    if (model->ports[i].type_id == TFRT_TYPE_CHAIN) {
      arguments[i] = tfrt_async_value_ready_chain();
      continue;
    }
    status = model_take_input(&model->ports[i], &inputs[next], &arguments[i]);
    if (status) {
      status = tfrt_status_take_annotate(status, "input %u '%s'", next,
                                         tfrt_model_input_name(model, next));
    }
    ++next;
  }
  model_give_back(inputs, next, input_count);
  return status;
}

// --- Outputs ---------------------------------------------------------------------------

static void model_release_value(void* context) { tfrt_async_value_release(context); }

void tfrt_model_tensor_release(tfrt_model_tensor_t* tensor) {
  if (tensor->release) tensor->release(tensor->context);
  memset(tensor, 0, sizeof(*tensor));
}

// Sets |*out_tensor| to what |value| (+0, resolved) is; it keeps a reference.
static tfrt_status_t model_give_output(const tfrt_model_t* model, const tfrt_model_port_t* port,
                                       tfrt_async_value_t* value, tfrt_model_tensor_t* out_tensor) {
  if (tfrt_async_value_is_error(value)) return tfrt_status_retain(tfrt_async_value_error(value));
  *out_tensor = (tfrt_model_tensor_t){.release = model_release_value};
  if (port->dtype != TFRT_DTYPE_INVALID) {
    out_tensor->dtype = port->dtype;
    out_tensor->data = tfrt_async_value_payload(value);
    out_tensor->context = tfrt_async_value_retain(value);
    return NULL;
  }
  tfrt_tensor_conversion_context_t context = {model->host->allocator, model->host->work_queue};
  tfrt_async_value_t* dense =
      tfrt_tensor_convert(value, tfrt_tensor_type_of_layout(TFRT_TENSOR_LAYOUT_DENSE), &context);
  tfrt_work_queue_await(model->host->work_queue, &dense, 1);
  out_tensor->context = dense;
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(dense);
  if (tfrt_async_value_is_error(resolved)) {
    return tfrt_status_retain(tfrt_async_value_error(resolved));
  }
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(resolved);
  out_tensor->dtype = tensor->dense.dtype;
  out_tensor->rank = tensor->dense.shape.rank;
  out_tensor->dims = tensor->dense.shape.dims;
  out_tensor->data = tfrt_dense_host_tensor_data(&tensor->dense);
  return NULL;
}

// Sets the outputs to what the |results| (+0, resolved) are; an error among them is the status,
// chains included.
static tfrt_status_t model_give_outputs(const tfrt_model_t* model,
                                        tfrt_async_value_t* const* results,
                                        tfrt_model_tensor_t* outputs) {
  const tfrt_model_port_t* ports = model->ports + model->function->argument_count;
  uint32_t next = 0;
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; !status && i < model->function->result_count; ++i) {
    tfrt_async_value_t* value = tfrt_async_value_resolved(results[i]);
    if (ports[i].type_id != TFRT_TYPE_CHAIN) {
      status = model_give_output(model, &ports[i], value, &outputs[next++]);
    } else if (tfrt_async_value_is_error(value)) {
      status = tfrt_status_retain(tfrt_async_value_error(value));
    }
  }
  for (uint32_t i = 0; status && i < next; ++i) tfrt_model_tensor_release(&outputs[i]);
  return status;
}

// --- A run -----------------------------------------------------------------------------

// Calls the function with |arguments| (+0) and waits for its |results| (+1).
static tfrt_status_t model_call(const tfrt_model_t* model, tfrt_async_value_t* const* arguments,
                                tfrt_async_value_t** results) {
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_request_context_t* request = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(model->host, request);
  tfrt_function_execute_here(model->function, &context, arguments, results);
  tfrt_work_queue_await(model->host->work_queue, results, model->function->result_count);
  tfrt_request_context_release(request);
  return NULL;
}

// The same with room for all |values|: those of the parameters, then of the results.
static tfrt_status_t model_run_with(const tfrt_model_t* model, const tfrt_model_tensor_t* inputs,
                                    uint32_t input_count, tfrt_async_value_t** values,
                                    tfrt_model_tensor_t* outputs, uint32_t output_count) {
  tfrt_async_value_t** results = values + model->function->argument_count;
  TFRT_RETURN_IF_ERROR(model_take_inputs(model, inputs, input_count, values));
  if (output_count != model->output_count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "function '%s' gives %u outputs, but there is room for %u",
                              model->function->name, model->output_count, output_count);
  }
  TFRT_RETURN_IF_ERROR(model_call(model, values, results));
  return model_give_outputs(model, results, outputs);
}

tfrt_status_t tfrt_model_run(tfrt_model_t* model, const tfrt_model_tensor_t* inputs,
                             uint32_t input_count, tfrt_model_tensor_t* outputs,
                             uint32_t output_count) {
  tfrt_allocator_t system = tfrt_allocator_system();
  // One more, since there may be none.
  size_t size = (model->port_count + 1) * sizeof(tfrt_async_value_t*);
  for (uint32_t i = 0; i < output_count; ++i) outputs[i] = (tfrt_model_tensor_t){0};
  tfrt_async_value_t** values = tfrt_allocator_allocate_zeroed(system, size);
  if (!values) {
    model_give_back(inputs, 0, input_count);
    return tfrt_status_out_of_memory();
  }
  tfrt_status_t status = model_run_with(model, inputs, input_count, values, outputs, output_count);
  for (size_t i = 0; i < model->port_count; ++i) tfrt_async_value_release(values[i]);
  tfrt_allocator_free(system, values, size);
  return status;
}
