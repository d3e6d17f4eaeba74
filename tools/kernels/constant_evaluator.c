// SPDX-License-Identifier: Apache-2.0
#include "tools/kernels/constant_evaluator.h"

#include <string.h>

#include "compiler/bef/bef_emitter.h"
#include "host_runtime/async/work_queue_type.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/host_context.h"
#include "tools/kernels/kernel_rooms.h"

typedef struct tfrt_evaluator_state_s {
  bool was_set_up;
  tfrt_host_context_t* host;  // NULL: it can't be made
} tfrt_evaluator_state_t;

static tfrt_status_t set_up(tfrt_evaluator_state_t* state) {
  tfrt_work_queue_settings_t settings = {.pin_threads = false};
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_work_queue_create_by_name("s", &settings, allocator, &queue));
  tfrt_host_context_t* host = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_host_context_allocate(allocator, tfrt_clock_system(), queue, &host));
  tfrt_status_t status = tfrt_kernel_rooms_register(host->registry);
  if (status) {
    tfrt_host_context_free(host);
    return status;
  }
  state->host = host;
  return NULL;
}

static tfrt_host_context_t* host_of(tfrt_evaluator_state_t* state) {
  if (!state->was_set_up) tfrt_status_release(set_up(state));
  state->was_set_up = true;
  return state->host;
}

static bool has_kernel(void* user_data, tfrt_string_view_t name) {
  tfrt_host_context_t* host = host_of(user_data);
  tfrt_kernel_t kernel;
  return host && tfrt_kernel_registry_find(host->registry, name, &kernel);
}

// --- Running ------------------------------------------------------------------

// Sets |*out_program| (+1) to |module| as a program of |host|.
static tfrt_status_t load(tfrt_host_context_t* host, tfrt_ir_context_t* context,
                          tfrt_ir_operation_t* module, tfrt_program_t** out_program) {
  tfrt_diagnostics_t diagnostics;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_diagnostics_initialize(&diagnostics, "constants", tfrt_string_view_make(NULL, 0), allocator);
  tfrt_bef_emitter_options_t options = {.no_optional_sections = true, .no_argument_names = true};
  void* bytes = NULL;
  size_t size = 0;
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t status =
      tfrt_bef_emit(context, module, &options, &diagnostics, allocator, &bytes, &size);
  if (!status) status = tfrt_bef_file_create(bytes, size, allocator, &file);
  if (!status) status = tfrt_program_create(file, host->registry, allocator, out_program);
  tfrt_bef_file_release(file);
  tfrt_allocator_free(allocator, bytes, size);
  tfrt_diagnostics_deinitialize(&diagnostics);
  return status;
}

// Sets |out_constant| to the payload of |value|, if that is one of a builtin type.
static void read_result(tfrt_async_value_t* value, tfrt_constant_t* out_constant) {
  out_constant->type = NULL;
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(value);
  if (tfrt_async_value_state(resolved) != TFRT_ASYNC_VALUE_AVAILABLE) return;
  const tfrt_type_t* type = tfrt_type_get(resolved->type_id);
  bool is_number = resolved->type_id >= TFRT_TYPE_I1 && resolved->type_id <= TFRT_TYPE_COMPLEX128 &&
                   resolved->type_id != TFRT_TYPE_STRING;
  if (!is_number) return;
  memcpy(out_constant->bytes, tfrt_async_value_payload(resolved), type->size);
  out_constant->type = type->name;
}

static tfrt_status_t run_program(tfrt_host_context_t* host, tfrt_program_t* program,
                                 tfrt_constant_t* out_constants, uint32_t count) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_request_context_t* request = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, allocator, &request));
  tfrt_async_value_t** results = tfrt_allocator_allocate_array(allocator, count, sizeof(*results));
  if (!results) {
    tfrt_request_context_release(request);
    return tfrt_status_out_of_memory();
  }
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  tfrt_function_execute_here(tfrt_program_function(program, 0), &context, NULL, results);
  tfrt_work_queue_await(host->work_queue, results, count);
  tfrt_work_queue_quiesce(host->work_queue);
  for (uint32_t i = 0; i < count; ++i) {
    read_result(results[i], &out_constants[i]);
    tfrt_async_value_release(results[i]);
  }
  tfrt_allocator_free(allocator, results, count * sizeof(*results));
  tfrt_request_context_release(request);
  return NULL;
}

static bool run(void* user_data, tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                tfrt_constant_t* out_constants, uint32_t count) {
  tfrt_host_context_t* host = host_of(user_data);
  if (!host) return false;
  tfrt_program_t* program = NULL;
  tfrt_status_t status = load(host, context, module, &program);
  if (!status) status = run_program(host, program, out_constants, count);
  tfrt_program_release(program);
  bool ok = tfrt_status_is_ok(status);
  tfrt_status_release(status);
  return ok;
}

const tfrt_constant_evaluator_t* tfrt_constant_evaluator(void) {
  static tfrt_evaluator_state_t state;
  static const tfrt_constant_evaluator_t evaluator = {has_kernel, run, &state};
  return &evaluator;
}
