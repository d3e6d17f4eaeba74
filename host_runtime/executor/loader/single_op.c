// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/loader/single_op.h"

#include <string.h>

#include "host_runtime/executor/call/kernel_run.h"
#include "host_runtime/executor/loader/program_resolver.h"
#include "host_runtime/executor/request/request_context.h"

// Ops with at most this many arguments run without the executor.
#define TFRT_SINGLE_OP_INLINE_VALUES 24

// The index of the op among the kernels of its function; 0 is the pseudo kernel.
#define TFRT_SINGLE_OP_KERNEL 1

// --- Calls -------------------------------------------------------------------

// Collects the values that |arguments| resolve to in |values|, and in |*out_error| the error (+0)
// that forbids the op to run, or NULL. False if an argument that the op waits for is not there. The
// order of errors is that of the executor: the last one counts, and a cancel only if there is none.
static bool single_op_collect(const tfrt_kernel_site_t* site, tfrt_async_value_t* const* arguments,
                              tfrt_async_value_t** values, tfrt_async_value_t** out_error) {
  const uint8_t* uses = site->binding->uses;
  for (uint32_t i = 0; i < tfrt_kernel_site_record(site)->argument_count; ++i) {
    values[i] = arguments[i];
    if (uses[i] == TFRT_OPERAND_PASSED) continue;
    tfrt_async_value_state_t state = tfrt_async_value_state(arguments[i]);
    if (TFRT_UNLIKELY(state < TFRT_ASYNC_VALUE_AVAILABLE)) return false;
    values[i] = tfrt_async_value_resolved(arguments[i]);
    if (TFRT_UNLIKELY(state == TFRT_ASYNC_VALUE_FAILED)) *out_error = values[i];
  }
  return true;
}

// Runs the kernel of |site| on |values|, which are all there. |registers| as in the frame.
static void single_op_run(const tfrt_kernel_site_t* site, const tfrt_execution_context_t* context,
                          tfrt_async_value_t** values,
                          const _Atomic(tfrt_async_value_t*)* registers,
                          tfrt_async_value_t** results) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  const tfrt_kernel_binding_t* binding = site->binding;
  for (uint32_t i = 0; i < record->result_count; ++i) results[i] = NULL;
  tfrt_kernel_frame_t frame = {
      .arguments = values,
      .results = results,
      .attributes = binding->attributes,
      .functions = binding->functions,
      .argument_count = record->argument_count,
      .result_count = record->result_count,
      .attribute_count = record->attribute_count,
      .function_count = record->function_count,
      .call_options = binding->call_options,
      .context = context,
      .site = site,
      .registers = registers,
  };
  tfrt_running_kernel_outer_t outer = tfrt_running_kernel_enter(context->request->options.whole);
  tfrt_kernel_run(&frame, site, tfrt_request_context_trace(context->request));
  tfrt_running_kernel_leave(outer);
}

// Runs the op on |arguments| at once; false, having done nothing, if that can't be.
static bool single_op_call(const tfrt_bef_callable_t* callable,
                           const tfrt_execution_context_t* context,
                           tfrt_async_value_t* const* arguments,
                           const _Atomic(tfrt_async_value_t*)* registers,
                           tfrt_async_value_t** results) {
  const tfrt_kernel_site_t* site = &callable->sites[TFRT_SINGLE_OP_KERNEL];
  tfrt_async_value_t* values[TFRT_SINGLE_OP_INLINE_VALUES];
  if (callable->base.argument_count > TFRT_SINGLE_OP_INLINE_VALUES || context->scope) return false;
  tfrt_async_value_t* error = tfrt_request_context_cancelled(context->request);
  if (!single_op_collect(site, arguments, values, &error)) return false;
  if (TFRT_LIKELY(!error)) {
    single_op_run(site, context, values, registers, results);
  } else {
    for (uint32_t i = 0; i < callable->base.result_count; ++i) {
      results[i] = tfrt_async_value_retain(error);
    }
  }
  return true;
}

static void single_op_execute(const tfrt_function_t* function,
                              const tfrt_execution_context_t* context,
                              tfrt_async_value_t* const* arguments, tfrt_async_value_t** results) {
  const tfrt_bef_callable_t* callable = (const tfrt_bef_callable_t*)function;
  // Without registers no argument is the kernel's own: the caller has them.
  if (single_op_call(callable, context, arguments, NULL, results)) return;
  tfrt_bef_callable_execute(function, context, arguments, results);
}

static void single_op_execute_take(const tfrt_function_t* function,
                                   const tfrt_execution_context_t* context,
                                   tfrt_async_value_t* const* arguments,
                                   tfrt_async_value_t** results) {
  const tfrt_bef_callable_t* callable = (const tfrt_bef_callable_t*)function;
  _Atomic(tfrt_async_value_t*) registers[TFRT_SINGLE_OP_INLINE_VALUES];
  for (uint32_t i = 0; i < function->argument_count && i < TFRT_SINGLE_OP_INLINE_VALUES; ++i) {
    atomic_init(&registers[i], arguments[i]);
  }
  if (!single_op_call(callable, context, arguments, registers, results)) {
    tfrt_bef_callable_execute_take(function, context, arguments, results);
    return;
  }
  for (uint32_t i = 0; i < function->argument_count; ++i) tfrt_async_value_release(arguments[i]);
}

static const tfrt_function_vtable_t tfrt_single_op_vtable = {
    .execute = single_op_execute,
    .execute_take = single_op_execute_take,
};

// --- Making one --------------------------------------------------------------

static tfrt_status_t single_op_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for an op");
}

// Writes |header| to |at|, and returns what is behind it; the same for the |count| numbers from
// |first| on.
static uint32_t* single_op_put_header(uint32_t* at, tfrt_bef_record_t header) {
  memcpy(at, &header, sizeof(header));
  return at + TFRT_BEF_KERNEL_HEADER_WORDS;
}
static uint32_t* single_op_put_numbers(uint32_t* at, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) *at++ = first + i;
  return at;
}

// Writes |count| times |number| to |at|, and returns what is behind them.
static uint32_t* single_op_repeat(uint32_t* at, uint32_t number, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) *at++ = number;
  return at;
}

// The record of the pseudo kernel: its special result starts an op without arguments, and each
// argument is used once by the op. Its results are the special register, whose number is the
// number of registers, and then the arguments.
static uint32_t* single_op_put_start(uint32_t* at, const tfrt_single_op_t* op) {
  const uint32_t count = op->argument_count;
  at = single_op_put_header(at,
                            (tfrt_bef_record_t){.location = UINT32_MAX, .result_count = count + 1});
  at = single_op_repeat(at, count == 0, 1);
  at = single_op_repeat(at, 1, count);
  at = single_op_put_numbers(at, count + op->result_count, 1);
  at = single_op_put_numbers(at, 0, count);
  return single_op_repeat(at, TFRT_SINGLE_OP_KERNEL, count > 0 ? count : 1);
}

// The record of the op, whose results nobody uses. Its functions are not numbers (program_impl.h).
static void single_op_put_kernel(uint32_t* at, const tfrt_single_op_t* op) {
  at = single_op_put_header(at, (tfrt_bef_record_t){.argument_count = op->argument_count,
                                                    .attribute_count = op->attribute_count,
                                                    .function_count = op->function_count,
                                                    .result_count = op->result_count});
  at = single_op_repeat(at, 0, op->result_count);
  at = single_op_put_numbers(at, 0, op->argument_count);
  for (uint32_t i = 0; i < op->attribute_count; ++i) *at++ = op->attribute_offsets[i];
  at = single_op_repeat(at, 0, op->function_count);
  single_op_put_numbers(at, op->argument_count, op->result_count);
}

// The records of both kernels, as an image has them.
static bool single_op_make_records(tfrt_arena_t* arena, const tfrt_single_op_t* op,
                                   tfrt_bef_function_t* bef) {
  size_t argument_count = op->argument_count;
  size_t start_size = TFRT_BEF_KERNEL_HEADER_WORDS + 3 * (argument_count + 1);
  size_t size = start_size + TFRT_BEF_KERNEL_HEADER_WORDS + argument_count + op->attribute_count +
                op->function_count + 2 * (size_t)op->result_count;
  uint32_t* words = tfrt_arena_allocate_array(arena, size, sizeof(*words));
  uint32_t* offsets = tfrt_arena_allocate_array(arena, 2, sizeof(*offsets));
  if (!words || !offsets) return false;
  uint32_t* kernel = single_op_put_start(words, op);
  offsets[TFRT_SINGLE_OP_KERNEL] = (uint32_t)((size_t)(kernel - words) * sizeof(*words));
  single_op_put_kernel(kernel, op);
  bef->records = (const uint8_t*)words;
  bef->offsets = offsets;
  return true;
}

static bool single_op_make_options(tfrt_arena_t* arena, const tfrt_single_op_t* op,
                                   tfrt_bef_function_t* bef) {
  if (!op->call_options) return true;
  tfrt_bef_call_options_entry_t* entry = tfrt_arena_allocate(arena, sizeof(*entry));
  if (!entry) return false;
  *entry = (tfrt_bef_call_options_entry_t){TFRT_SINGLE_OP_KERNEL, *op->call_options};
  bef->call_options = entry;
  bef->call_options_count = 1;
  return true;
}

// The body: each argument is used once, each result is returned.
static bool single_op_make_body(tfrt_program_t* program, const tfrt_single_op_t* op,
                                tfrt_bef_callable_t* callable) {
  tfrt_arena_t* arena = &program->arena;
  uint32_t register_count = op->argument_count + op->result_count;
  tfrt_bef_function_t* bef = tfrt_arena_allocate(arena, sizeof(*bef));
  uint32_t* use_counts = tfrt_arena_allocate_array(arena, (size_t)register_count + 1, 4);
  if (!bef || !use_counts) return false;
  for (uint32_t i = 0; i < register_count; ++i) use_counts[i] = 1;
  *bef = (tfrt_bef_function_t){
      .name = tfrt_arena_copy_string(arena, tfrt_string_view_of(op->caller)),
      .kind = TFRT_BEF_FUNCTION_ASYNC,
      .argument_count = op->argument_count,
      .result_count = op->result_count,
      .location = UINT32_MAX,
      .register_count = register_count,
      .kernel_count = 2,
      .stream_count = 1,
      .attribute_count = op->attribute_count,
      .value_count = op->argument_count + op->result_count,
      .use_counts = use_counts,
  };
  callable->bef = bef;
  if (!bef->name || !single_op_make_records(arena, op, bef)) return false;
  bef->result_registers =
      tfrt_bef_record_results(tfrt_bef_function_record(bef, TFRT_SINGLE_OP_KERNEL));
  return single_op_make_options(arena, op, bef);
}

// The types of the function's arguments and results by the op table.
static bool single_op_make_types(tfrt_arena_t* arena, const tfrt_kernel_descriptor_t* descriptor,
                                 tfrt_function_t* function) {
  size_t count = (size_t)function->argument_count + function->result_count + 1;
  const char** types = tfrt_arena_allocate_array(arena, count, sizeof(*types));
  if (!types) return false;
  function->argument_types = types;
  function->result_types = types + function->argument_count;
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    const tfrt_operand_descriptor_t* operand =
        descriptor ? tfrt_kernel_descriptor_operand(descriptor, i) : NULL;
    bool is_known = operand && tfrt_kernel_descriptor_type_is_known(operand->type);
    types[i] = is_known ? operand->type : TFRT_TYPE_ANY;
  }
  for (uint32_t i = 0; i < function->result_count; ++i) {
    const tfrt_result_descriptor_t* result =
        descriptor ? tfrt_kernel_descriptor_result(descriptor, i) : NULL;
    // That of an operand is known when there is one.
    bool is_known = result && tfrt_kernel_descriptor_type_is_known(result->type);
    types[function->argument_count + i] = is_known ? result->type : TFRT_TYPE_ANY;
  }
  return true;
}

static bool single_op_make_function(tfrt_program_t* program, const tfrt_single_op_t* op,
                                    const tfrt_kernel_t* kernel) {
  tfrt_bef_callable_t* callable = tfrt_arena_allocate(&program->arena, sizeof(*callable));
  if (!callable || !single_op_make_body(program, op, callable)) return false;
  callable->owner = program;
  callable->base = (tfrt_function_t){
      .vtable = &tfrt_single_op_vtable,
      .name = callable->bef->name,
      .argument_count = op->argument_count,
      .result_count = op->result_count,
      .kind = TFRT_FUNCTION_ASYNC,
      .program = program,
  };
  program->functions = callable;
  program->function_count = 1;
  return single_op_make_types(&program->arena, kernel->descriptor, &callable->base);
}

// The parts that stand for the file: place, functions, attributes.
static bool single_op_make_origin(tfrt_program_t* program, const tfrt_single_op_t* op) {
  tfrt_arena_t* arena = &program->arena;
  tfrt_program_op_t* origin = tfrt_arena_allocate(arena, sizeof(*origin));
  const tfrt_function_t** functions = tfrt_arena_copy(
      arena, op->functions, op->function_count * sizeof(*functions), sizeof(*functions));
  uint8_t* attributes =
      tfrt_arena_copy(arena, op->attributes, op->attributes_size, TFRT_BEF_ALIGNMENT);
  const char* file = tfrt_arena_copy_string(arena, tfrt_string_view_of(op->file));
  if (!origin || !functions || !attributes || !file) return false;
  *origin = (tfrt_program_op_t){.place = {file, op->line, op->column},
                                .functions = functions,
                                .function_count = op->function_count};
  for (uint32_t i = 0; i < op->function_count; ++i) {
    tfrt_program_retain((tfrt_program_t*)functions[i]->program);
  }
  program->op = origin;
  program->attributes = attributes;
  program->attributes_size = op->attributes_size;
  return true;
}

// Makes all that stands for a file, and resolves it. |scratch| is for what is needed until then.
static tfrt_status_t single_op_make(tfrt_program_t* program, const tfrt_single_op_t* op,
                                    const tfrt_kernel_registry_t* registry, tfrt_arena_t* scratch) {
  const char* name = tfrt_arena_copy_string(&program->arena, tfrt_string_view_of(op->name));
  if (!name) return single_op_out_of_memory();
  tfrt_kernel_binder_t binder;
  TFRT_RETURN_IF_ERROR(
      tfrt_kernel_binder_initialize(&binder, program, registry, &name, 1, scratch));
  if (!single_op_make_origin(program, op) ||
      !single_op_make_function(program, op, &binder.models[0].kernel)) {
    return single_op_out_of_memory();
  }
  return tfrt_program_resolver_run(&binder, &program->functions[0], scratch);
}

tfrt_status_t tfrt_single_op_create(const tfrt_single_op_t* op,
                                    const tfrt_kernel_registry_t* registry,
                                    tfrt_allocator_t allocator, tfrt_program_t** out_program) {
  *out_program = NULL;
  tfrt_program_t* program = tfrt_allocator_allocate_zeroed(allocator, sizeof(*program));
  if (!program) return single_op_out_of_memory();
  tfrt_ref_count_initialize(&program->ref_count);
  program->allocator = allocator;
  tfrt_arena_initialize(&program->arena, allocator);
  tfrt_resource_context_initialize(&program->resources);
  tfrt_arena_t scratch;
  tfrt_arena_initialize(&scratch, allocator);
  tfrt_status_t status = single_op_make(program, op, registry, &scratch);
  tfrt_arena_deinitialize(&scratch);
  if (tfrt_status_is_ok(status)) {
    *out_program = program;
  } else {
    tfrt_program_release(program);
  }
  return status;
}
