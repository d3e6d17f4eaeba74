// SPDX-License-Identifier: Apache-2.0

#include "compiler/op_table/schema.h"
#include "compiler/verifier/verifier_impl.h"
#include "host_runtime/base/ascii.h"

// The arguments and results of a callee besides the variadic operands and results of the op.
typedef struct convention_s {
  const char* op;
  const char* first_parameter;  // type of the parameters before the operands; NULL: none
  uint32_t first_count;
  const char* last_result;   // type of one more result behind the others; NULL: none
  bool results_are_free;     // checked by the op itself when it runs
  uint32_t own_results;      // if these are free: how many the callee must give; 0: any number
  bool parameters_are_free;  // likewise
} convention_t;

static const convention_t conventions[] = {
    {"tfrt.while", NULL, 0, "i1", false, 0, false},
    {"tfrt.parallel_call.i32", "i32", 2, NULL, true, 0, false},
    {"tfrt_dist.call_all", NULL, 0, NULL, true, 1, false},
    {"tfrt_async.run", NULL, 0, NULL, true, 0, true},
    {"tfrt_async.execute", "!tfrt.chain", 1, NULL, false, 0, false},
};

static const convention_t* convention_of(const tfrt_ir_operation_t* operation) {
  static const convention_t plain = {NULL, NULL, 0, NULL, false, 0, false};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(conventions); ++i) {
    if (tfrt_ir_operation_is(operation, conventions[i].op)) return &conventions[i];
  }
  return &plain;
}

bool tfrt_verifier_is_host_call(const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  if (!descriptor || !(descriptor->flags & TFRT_KERNEL_CALL_OPTIONS)) return false;
  return descriptor->flags & TFRT_KERNEL_CALLS_HOSTS ||
         tfrt_ir_operation_attribute(operation, "host");
}

tfrt_ir_operation_t* tfrt_verifier_find_function(const tfrt_verifier_t* verifier,
                                                 const tfrt_ir_attribute_t* symbol) {
  tfrt_ir_operation_t* found = NULL;
  if (verifier->nearest) found = tfrt_ir_symbol_table_resolve(verifier->nearest, symbol);
  if (!found) found = tfrt_ir_symbol_table_resolve(verifier->symbols, symbol);
  return found && tfrt_ir_is_function(found) && tfrt_ir_function_type(found) ? found : NULL;
}

uint32_t tfrt_verifier_parameter_of(const tfrt_ir_operation_t* operation, uint32_t index,
                                    uint32_t parameter_count) {
  uint32_t parameter = index + convention_of(operation)->first_count;
  return parameter < parameter_count ? parameter : UINT32_MAX;
}

// Checks the parameters of |type|, the callee's.
static void check_parameters(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                             const char* callee, const tfrt_ir_type_t* type) {
  const convention_t* convention = convention_of(operation);
  uint32_t first = tfrt_kernel_descriptor_fixed_operands(operation->descriptor);
  uint32_t count = operation->operand_count - first + convention->first_count;
  if (convention->parameters_are_free) return;
  if (type->input_count != count) {
    tfrt_verifier_op_error(verifier, operation,
                           "incorrect number of operands for callee '@%s': it takes %u, not %u",
                           callee, type->input_count, count);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    bool is_operand = i >= convention->first_count;
    const char* given =
        is_operand
            ? operation->operands[first + i - convention->first_count].value->type->text->data
            : convention->first_parameter;
    if (tfrt_ir_type_is(type->inputs[i], given)) continue;
    tfrt_verifier_op_error(verifier, operation,
                           "operand type mismatch: callee '@%s' takes '%s' as argument #%u, not "
                           "'%s'",
                           callee, type->inputs[i]->text->data, i, given);
  }
}

static void check_results(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                          const char* callee, const tfrt_ir_type_t* type) {
  const convention_t* convention = convention_of(operation);
  if (convention->results_are_free) {
    if (convention->own_results == 0 || convention->own_results == type->result_count) return;
    tfrt_verifier_op_error(verifier, operation, "callee '@%s' must give %u result, not %u", callee,
                           convention->own_results, type->result_count);
    return;
  }
  uint32_t count = operation->result_count + (convention->last_result ? 1 : 0);
  if (type->result_count != count) {
    tfrt_verifier_op_error(verifier, operation,
                           "incorrect number of results for callee '@%s': it gives %u, not %u",
                           callee, type->result_count, count);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char* wanted = i < operation->result_count ? operation->results[i].type->text->data
                                                     : convention->last_result;
    if (tfrt_ir_type_is(type->results[i], wanted)) continue;
    tfrt_verifier_op_error(verifier, operation,
                           "result type mismatch: callee '@%s' gives '%s' as result #%u, not '%s'",
                           callee, type->results[i]->text->data, i, wanted);
  }
}

static void check_callee(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                         const tfrt_ir_attribute_t* symbol) {
  const char* name = symbol->names[symbol->count - 1]->data;
  const tfrt_ir_operation_t* function = tfrt_verifier_find_function(verifier, symbol);
  if (!function) {
    tfrt_verifier_op_error(verifier, operation, "'%s' does not reference a valid function", name);
    return;
  }
  if (operation->operand_count < tfrt_kernel_descriptor_fixed_operands(operation->descriptor)) {
    return;
  }
  const tfrt_ir_type_t* type = tfrt_ir_function_type(function);
  check_parameters(verifier, operation, name, type);
  check_results(verifier, operation, name, type);
}

// Reports the call option |name| if it is there and no integer of i32 or i64 from |least| to
// INT32_MAX.
static void check_integer_option(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                                 const char* name, int64_t least) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, name);
  if (!value) return;
  bool fits = value->kind == TFRT_IR_ATTRIBUTE_INTEGER &&
              (tfrt_ir_type_is(value->type, "i32") || tfrt_ir_type_is(value->type, "i64")) &&
              tfrt_ir_attribute_integer_value(value) >= least &&
              tfrt_ir_attribute_integer_value(value) <= INT32_MAX;
  if (fits) return;
  tfrt_verifier_op_error(verifier, operation,
                         "call option '%s' must be an integer from %d to %d, as in {%s = %d : i32}",
                         name, (int)least, INT32_MAX, name, (int)least);
}

// The longest name of a device that a BEF file has room for.
#define MAX_DEVICE_SIZE 23

// Whether |text| is a platform, a colon and an ordinal of at most four digits.
static bool is_device(tfrt_string_view_t text) {
  size_t size = 0;
  while (size < text.size && (tfrt_ascii_is_lower(text.data[size]) || text.data[size] == '_')) {
    ++size;
  }
  bool fits = size > 0 && size < text.size && text.data[size] == ':' && size + 1 < text.size &&
              size + 5 >= text.size && text.size <= MAX_DEVICE_SIZE;
  for (size_t i = size + 1; fits && i < text.size; ++i) {
    fits = tfrt_ascii_is_digit(text.data[i]);
  }
  return fits;
}

static void check_device_option(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, "device");
  if (!value) return;
  if (value->kind == TFRT_IR_ATTRIBUTE_STRING &&
      is_device(tfrt_string_view_make(value->bytes, value->size))) {
    return;
  }
  tfrt_verifier_op_error(verifier, operation,
                         "call option 'device' must be the name of a device, as in {device = "
                         "\"cuda:0\"}");
}

static void check_options(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  check_integer_option(verifier, operation, "host", 0);
  if (operation->descriptor->flags & TFRT_KERNEL_CALLS_HOSTS &&
      tfrt_ir_operation_attribute(operation, "host")) {
    tfrt_verifier_op_error(verifier, operation,
                           "has its hosts already, so it can't have the call option 'host'");
  }
  check_device_option(verifier, operation);
  check_integer_option(verifier, operation, "deadline_ms", 1);
  check_integer_option(verifier, operation, "retries", 0);
  const tfrt_ir_attribute_t* pure = tfrt_ir_operation_attribute(operation, "pure");
  if (pure && pure->kind != TFRT_IR_ATTRIBUTE_UNIT) {
    tfrt_verifier_op_error(verifier, operation, "call option 'pure' stands alone, as in {pure}");
  }
}

void tfrt_verifier_check_callees(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation) {
  const tfrt_kernel_descriptor_t* descriptor = operation->descriptor;
  if (!descriptor) return;
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &descriptor->attributes[i];
    const tfrt_ir_attribute_t* value = tfrt_ir_operation_attribute(operation, entry->name);
    if (!value || !tfrt_schema_attribute_fits(entry->kind, value)) continue;
    if (entry->kind == TFRT_ATTRIBUTE_SYMBOL) check_callee(verifier, operation, value);
    if (entry->kind != TFRT_ATTRIBUTE_SYMBOL_ARRAY) continue;
    if (!value->count) {
      tfrt_verifier_op_error(verifier, operation, "needs at least one function in '%s'",
                             entry->name);
    }
    for (uint32_t k = 0; k < value->count; ++k) {
      check_callee(verifier, operation, value->elements[k]);
    }
  }
  if (descriptor->flags & TFRT_KERNEL_CALL_OPTIONS) check_options(verifier, operation);
  if (tfrt_verifier_is_host_call(operation)) verifier->has_host_calls = true;
}
