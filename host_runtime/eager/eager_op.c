// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/eager/eager_op.h"

#include "host_runtime/base/plural.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/eager/eager_binding.h"
#include "host_runtime/eager/eager_image.h"
#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/loader/single_op.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"

struct tfrt_eager_op_s {
  tfrt_ref_count_t ref_count;
  tfrt_program_t* program;          // +1; the op's own, or that of a composite op
  const tfrt_function_t* function;  // of |program|
  const char* name;                 // lies behind
  tfrt_status_origin_t place;       // for calls that don't fit; likewise
  size_t size;                      // of this block
};

// --- Making one --------------------------------------------------------------

// Copies |text| (NULL counts as empty) to |*position|, and moves that behind it.
static const char* eager_op_copy(const char* text, char** position) {
  char* copy = *position;
  size_t size = text ? strlen(text) : 0;
  if (size > 0) memcpy(copy, text, size);
  copy[size] = '\0';
  *position = copy + size + 1;
  return copy;
}

// A handle of |function| of |program| (consumed).
static tfrt_status_t eager_op_allocate(tfrt_program_t* program, const tfrt_function_t* function,
                                       const char* name, const tfrt_eager_place_t* place,
                                       tfrt_eager_op_t** out_op) {
  size_t size = sizeof(tfrt_eager_op_t) + strlen(name) + 1 +
                (place->name ? strlen(place->name) : 0) + 1 +
                (place->file ? strlen(place->file) : 0) + 1;
  tfrt_eager_op_t* op = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  if (!op) {
    tfrt_program_release(program);
    return tfrt_status_out_of_memory();
  }
  tfrt_ref_count_initialize(&op->ref_count);
  op->program = program;
  op->function = function;
  op->size = size;
  char* position = (char*)(op + 1);
  op->name = eager_op_copy(name, &position);
  op->place = (tfrt_status_origin_t){.rank = TFRT_STATUS_NO_RANK,
                                     .function = eager_op_copy(place->name, &position),
                                     .kernel = op->name,
                                     .file = eager_op_copy(place->file, &position),
                                     .line = place->line,
                                     .column = place->column};
  *out_op = op;
  return NULL;
}

// Gives |status| (consumed) the place of the op of |options|.
static tfrt_status_t eager_op_take_locate(tfrt_status_t status,
                                          const tfrt_eager_op_options_t* options) {
  tfrt_status_origin_t origin = {.rank = TFRT_STATUS_NO_RANK,
                                 .function = options->place.name,
                                 .kernel = options->name,
                                 .file = options->place.file,
                                 .line = options->place.line,
                                 .column = options->place.column};
  tfrt_status_t located = tfrt_status_with_origin(status, &origin);
  tfrt_status_release(status);
  return located;
}

static uint32_t eager_op_max(uint32_t a, uint32_t b) { return a > b ? a : b; }

// Makes the program of an op whose attributes are |binding|.
static tfrt_status_t eager_op_make_program(const tfrt_kernel_registry_t* registry,
                                           const tfrt_eager_op_options_t* options,
                                           const tfrt_kernel_descriptor_t* descriptor,
                                           const tfrt_eager_binding_t* binding,
                                           tfrt_program_t** out_program) {
  uint32_t least_arguments = tfrt_kernel_descriptor_fixed_operands(descriptor);
  uint32_t least_results = tfrt_kernel_descriptor_fixed_results(descriptor);
  tfrt_single_op_t op = {
      .name = options->name,
      .argument_count = eager_op_max(options->argument_count, least_arguments),
      .result_count = eager_op_max(options->result_count, least_results),
      .attributes = binding->bytes.data,
      .attributes_size = binding->bytes.size,
      .attribute_offsets = binding->offsets,
      .attribute_count = binding->offset_count,
      .functions = binding->functions,
      .function_count = binding->function_count,
      .call_options = options->call_options,
      .caller = options->place.name,
      .file = options->place.file,
      .line = options->place.line,
      .column = options->place.column,
  };
  if (options->is_portable) {
    return tfrt_eager_image_create_program(&op, descriptor, binding, registry, out_program);
  }
  return tfrt_single_op_create(&op, registry, tfrt_allocator_system(), out_program);
}

// Options that mean something only for ops that call functions.
static tfrt_status_t eager_op_check_call_options(const tfrt_eager_op_options_t* options,
                                                 const tfrt_kernel_descriptor_t* descriptor) {
  const tfrt_bef_call_options_t* given = options->call_options;
  if (!given || descriptor->flags & TFRT_KERNEL_CALL_OPTIONS) return NULL;
  if (!given->has_host && !given->pure && !given->deadline_ms && !given->retries) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "op '%s' calls no function: it can't have a host, a deadline, retries "
                            "or be pure",
                            options->name);
}

static tfrt_status_t eager_op_bind(const tfrt_kernel_registry_t* registry,
                                   const tfrt_eager_op_options_t* options,
                                   tfrt_eager_binding_t* binding, tfrt_program_t** out_program) {
  tfrt_kernel_t kernel;
  if (!tfrt_kernel_registry_find(registry, tfrt_string_view_of(options->name), &kernel)) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "there is no op '%s'; register the kernels that have it first",
                              options->name);
  }
  TFRT_RETURN_IF_ERROR(eager_op_check_call_options(options, kernel.descriptor));
  TFRT_RETURN_IF_ERROR(tfrt_eager_binding_fill(binding, kernel.descriptor, options->attributes,
                                               options->attribute_count));
  return eager_op_make_program(registry, options, kernel.descriptor, binding, out_program);
}

tfrt_status_t tfrt_eager_op_create(const tfrt_kernel_registry_t* registry,
                                   const tfrt_eager_op_options_t* options,
                                   tfrt_eager_op_t** out_op) {
  *out_op = NULL;
  tfrt_program_t* program = NULL;
  tfrt_eager_binding_t binding;
  tfrt_eager_binding_initialize(&binding, tfrt_allocator_system());
  tfrt_status_t status = eager_op_bind(registry, options, &binding, &program);
  tfrt_eager_binding_deinitialize(&binding);
  if (status) return eager_op_take_locate(status, options);
  return eager_op_allocate(program, tfrt_program_function(program, 0), options->name,
                           &options->place, out_op);
}

tfrt_status_t tfrt_eager_op_create_composite(tfrt_program_t* program, const char* name,
                                             tfrt_eager_op_t** out_op) {
  *out_op = NULL;
  const tfrt_function_t* function = tfrt_program_find_function(program, name);
  if (!function) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "the program has no function '%s'", name);
  }
  tfrt_eager_place_t place = {.name = name};
  return eager_op_allocate(tfrt_program_retain(program), function, name, &place, out_op);
}

tfrt_eager_op_t* tfrt_eager_op_retain(tfrt_eager_op_t* op) {
  tfrt_ref_count_increment(&op->ref_count);
  return op;
}

void tfrt_eager_op_release(tfrt_eager_op_t* op) {
  if (!op || !tfrt_ref_count_decrement(&op->ref_count)) return;
  tfrt_program_release(op->program);
  tfrt_allocator_free(tfrt_allocator_system(), op, op->size);
}

// --- What it is --------------------------------------------------------------

const char* tfrt_eager_op_name(const tfrt_eager_op_t* op) { return op->name; }

uint32_t tfrt_eager_op_argument_count(const tfrt_eager_op_t* op) {
  return op->function->argument_count;
}

uint32_t tfrt_eager_op_result_count(const tfrt_eager_op_t* op) {
  return op->function->result_count;
}

const char* tfrt_eager_op_argument_type(const tfrt_eager_op_t* op, uint32_t index) {
  return index < op->function->argument_count ? op->function->argument_types[index] : NULL;
}

const char* tfrt_eager_op_result_type(const tfrt_eager_op_t* op, uint32_t index) {
  return index < op->function->result_count ? op->function->result_types[index] : NULL;
}

const tfrt_function_t* tfrt_eager_op_function(const tfrt_eager_op_t* op) { return op->function; }

// --- Running it --------------------------------------------------------------

static tfrt_status_t eager_op_misfit(const tfrt_eager_op_t* op, uint32_t argument_count,
                                     uint32_t result_count) {
  tfrt_status_t plain = tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "op '%s' takes %u argument%s and gives %u result%s; it is run with %u and %u", op->name,
      op->function->argument_count, tfrt_plural(op->function->argument_count),
      op->function->result_count, tfrt_plural(op->function->result_count), argument_count,
      result_count);
  tfrt_status_t located = tfrt_status_with_origin(plain, &op->place);
  tfrt_status_release(plain);
  return located;
}

static inline tfrt_status_t eager_op_check(const tfrt_eager_op_t* op, uint32_t argument_count,
                                           uint32_t result_count) {
  const tfrt_function_t* function = op->function;
  bool fits = argument_count == function->argument_count && result_count == function->result_count;
  return TFRT_LIKELY(fits) ? NULL : eager_op_misfit(op, argument_count, result_count);
}

tfrt_status_t tfrt_eager_op_run(const tfrt_eager_op_t* op, const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                tfrt_async_value_t** results, uint32_t result_count) {
  TFRT_RETURN_IF_ERROR(eager_op_check(op, argument_count, result_count));
  tfrt_function_execute(op->function, context, arguments, results);
  return NULL;
}

tfrt_status_t tfrt_eager_op_run_take(const tfrt_eager_op_t* op,
                                     const tfrt_execution_context_t* context,
                                     tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                     tfrt_async_value_t** results, uint32_t result_count) {
  TFRT_RETURN_IF_ERROR(eager_op_check(op, argument_count, result_count));
  tfrt_function_execute_take(op->function, context, arguments, results);
  return NULL;
}

static tfrt_status_t eager_op_check_portable(const tfrt_eager_op_t* op) {
  if (tfrt_program_file(op->program)) return NULL;
  tfrt_status_t plain =
      tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                         "op '%s' is not portable, so no other host can run it: set is_portable "
                         "where it is made",
                         op->name);
  tfrt_status_t located = tfrt_status_with_origin(plain, &op->place);
  tfrt_status_release(plain);
  return located;
}

tfrt_status_t tfrt_eager_op_run_on(const tfrt_eager_op_t* op,
                                   const tfrt_execution_context_t* context,
                                   const tfrt_call_options_t* call,
                                   tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                   tfrt_async_value_t** results, uint32_t result_count) {
  TFRT_RETURN_IF_ERROR(eager_op_check(op, argument_count, result_count));
  TFRT_RETURN_IF_ERROR(eager_op_check_portable(op));
  tfrt_routed_call_t routed = {.options = call,
                               .function = op->function,
                               .context = context,
                               .site = &op->place,
                               .arguments = arguments,
                               .results = results};
  tfrt_routed_call_make(&routed, context->request->options.router);
  return NULL;
}

// Makes the op of |options| for one run with the given counts of arguments and results.
static tfrt_status_t eager_op_create_once(const tfrt_execution_context_t* context,
                                          const tfrt_eager_op_options_t* options,
                                          uint32_t argument_count, uint32_t result_count,
                                          tfrt_eager_op_t** out_op) {
  tfrt_eager_op_options_t counted = *options;
  counted.argument_count = argument_count;
  counted.result_count = result_count;
  return tfrt_eager_op_create(context->host->registry, &counted, out_op);
}

tfrt_status_t tfrt_eager_run(const tfrt_execution_context_t* context,
                             const tfrt_eager_op_options_t* options,
                             tfrt_async_value_t* const* arguments, uint32_t argument_count,
                             tfrt_async_value_t** results, uint32_t result_count) {
  tfrt_eager_op_t* op = NULL;
  TFRT_RETURN_IF_ERROR(eager_op_create_once(context, options, argument_count, result_count, &op));
  tfrt_status_t status =
      tfrt_eager_op_run(op, context, arguments, argument_count, results, result_count);
  tfrt_eager_op_release(op);
  return status;
}

tfrt_status_t tfrt_eager_run_on(const tfrt_execution_context_t* context,
                                const tfrt_eager_op_options_t* options,
                                const tfrt_call_options_t* call,
                                tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                tfrt_async_value_t** results, uint32_t result_count) {
  tfrt_eager_op_options_t portable = *options;
  portable.is_portable = true;
  tfrt_eager_op_t* op = NULL;
  TFRT_RETURN_IF_ERROR(eager_op_create_once(context, &portable, argument_count, result_count, &op));
  tfrt_status_t status =
      tfrt_eager_op_run_on(op, context, call, arguments, argument_count, results, result_count);
  tfrt_eager_op_release(op);
  return status;
}
