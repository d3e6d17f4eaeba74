// SPDX-License-Identifier: Apache-2.0

#include <string.h>

#include "compiler/ir/device_operation.h"
#include "compiler/lowering/lowering_impl.h"
#include "compiler/op_table/schema.h"

// --- Values -----------------------------------------------------------------------------------

void tfrt_lowering_map(tfrt_lowering_block_t* body, tfrt_ir_value_t* old, tfrt_ir_value_t* value,
                       bool is_late) {
  tfrt_lowering_mapping_t mapping = {
      .old = old, .value = value, .is_late = is_late, .out = UINT32_MAX};
  old->scratch = (uint32_t)body->mappings.count;
  if (!tfrt_scratch_push(&body->mappings, &mapping)) body->lowering->out_of_memory = true;
}

tfrt_lowering_mapping_t* tfrt_lowering_mapped(tfrt_lowering_block_t* body,
                                              const tfrt_ir_value_t* old,
                                              const tfrt_ir_operation_t* user) {
  tfrt_lowering_mapping_t* mapping =
      old->scratch < body->mappings.count ? tfrt_scratch_at(&body->mappings, old->scratch) : NULL;
  if (mapping && mapping->old == old) return mapping;
  if (!body->lowering->failed && !body->lowering->out_of_memory) {
    tfrt_lowering_fail(body->lowering, user, "uses a value that is not known in its block");
  }
  return NULL;
}

// The new values of the operands of |operation| from |first| on, behind |room| entries that the
// caller sets; NULL after a failure.
static tfrt_ir_value_t** map_operands(tfrt_lowering_block_t* body,
                                      const tfrt_ir_operation_t* operation, uint32_t first,
                                      uint32_t room) {
  tfrt_ir_value_t** values = tfrt_lowering_allocate(
      body->lowering, (size_t)operation->operand_count + room + 1, sizeof(*values));
  for (uint32_t i = first; values && i < operation->operand_count; ++i) {
    const tfrt_lowering_mapping_t* mapping =
        tfrt_lowering_mapped(body, operation->operands[i].value, operation);
    if (!mapping) return NULL;
    values[room + i - first] = mapping->value;
  }
  return values;
}

// The types of the results of |operation| in BEF, behind |room| entries; NULL: memory is out.
static const tfrt_ir_type_t** map_types(tfrt_lowering_block_t* body,
                                        const tfrt_ir_operation_t* operation, uint32_t first,
                                        uint32_t room) {
  const tfrt_ir_type_t** types = tfrt_lowering_allocate(
      body->lowering, (size_t)operation->result_count + room + 1, sizeof(*types));
  for (uint32_t i = first; types && i < operation->result_count; ++i) {
    types[room + i - first] = tfrt_lowering_type(body->lowering, operation->results[i].type);
  }
  return types;
}

tfrt_ir_operation_t* tfrt_lowering_append(tfrt_lowering_block_t* body,
                                          const tfrt_lowering_op_t* parts) {
  tfrt_ir_operation_t* op = tfrt_lowering_make(body->lowering, parts);
  if (op) tfrt_ir_block_append(body->block, op);
  return op;
}

// --- Control ------------------------------------------------------------------------------------

// A chain of |count| |values|.
static tfrt_ir_value_t* merge(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                              tfrt_ir_value_t* const* values, uint32_t count) {
  const tfrt_ir_type_t* type = tfrt_lowering_chain_type(body->lowering);
  if (count == 1 && values[0]->type == type) return values[0];
  tfrt_lowering_op_t parts = {.name = "tfrt.merge.chains",
                              .like = like,
                              .operands = values,
                              .operand_count = count,
                              .types = &type,
                              .type_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  return op ? &op->results[0] : values[0];
}

void tfrt_lowering_await(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                         tfrt_ir_value_t* value) {
  tfrt_ir_value_t* values[] = {body->control, value};
  body->control = merge(body, like, values, 2);
}

tfrt_ir_value_t* tfrt_lowering_gate(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                                    tfrt_ir_value_t* chain, tfrt_ir_value_t* value) {
  tfrt_ir_value_t* operands[] = {chain, value};
  tfrt_lowering_op_t parts = {.name = "tfrt.alias.value",
                              .like = like,
                              .operands = operands,
                              .operand_count = 2,
                              .types = &value->type,
                              .type_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  return op ? &op->results[0] : value;
}

tfrt_ir_value_t* tfrt_lowering_end_chain(tfrt_lowering_block_t* body,
                                         const tfrt_ir_operation_t* like) {
  tfrt_lowering_device_end(body, like);
  if (!body->chains.count) return body->control;
  if (!tfrt_scratch_push(&body->chains, &body->control)) {
    body->lowering->out_of_memory = true;
    return body->control;
  }
  return merge(body, like, tfrt_scratch_at(&body->chains, 0), (uint32_t)body->chains.count);
}

// Appends `name control, operands` whose first result is the control behind it.
static tfrt_ir_operation_t* append_effect(tfrt_lowering_block_t* body,
                                          const tfrt_ir_operation_t* like, const char* name,
                                          tfrt_ir_value_t** operands, uint32_t operand_count,
                                          const tfrt_ir_type_t** types, uint32_t type_count,
                                          const tfrt_ir_named_attribute_t* attributes,
                                          uint32_t attribute_count) {
  operands[0] = body->control;
  types[0] = tfrt_lowering_chain_type(body->lowering);
  tfrt_lowering_op_t parts = {.name = name,
                              .like = like,
                              .operands = operands,
                              .operand_count = operand_count,
                              .types = types,
                              .type_count = type_count,
                              .attributes = attributes,
                              .attribute_count = attribute_count};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  if (op) body->control = &op->results[0];
  return op;
}

// --- Tasks and calls ----------------------------------------------------------------------------

// The call options of |operation|, and room for one more; NULL: memory is out.
static tfrt_ir_named_attribute_t* call_options(tfrt_lowering_block_t* body,
                                               const tfrt_ir_operation_t* operation,
                                               uint32_t* out_count) {
  tfrt_ir_named_attribute_t* options = tfrt_lowering_allocate(
      body->lowering, (size_t)operation->attribute_count + 1, sizeof(*options));
  *out_count = 0;
  for (uint32_t i = 0; options && i < operation->attribute_count; ++i) {
    if (!tfrt_schema_is_call_option(tfrt_ir_string_view(operation->attributes[i].name))) continue;
    options[(*out_count)++] = operation->attributes[i];
  }
  return options;
}

static tfrt_ir_named_attribute_t callee_of(tfrt_lowering_block_t* body,
                                           const tfrt_ir_string_t* name) {
  return tfrt_lowering_named(body->lowering, "callee",
                             tfrt_ir_attribute_symbol(body->lowering->context, &name, 1));
}

// Maps the results of |operation| to those of |op| from |first| on. A token is the chain of |op|.
static void map_results(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation,
                        tfrt_ir_operation_t* op, uint32_t first) {
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    tfrt_lowering_map(body, &operation->results[i], &op->results[first + i], true);
  }
}

static void lower_execute(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  uint32_t tokens = (uint32_t)tfrt_ir_segment_size(sizes, 0);
  uint32_t waited = tokens + (uint32_t)tfrt_ir_segment_size(sizes, 1);
  uint32_t option_count;
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t** types = map_types(body, operation, 0, 0);
  tfrt_ir_named_attribute_t* options = call_options(body, operation, &option_count);
  const tfrt_lowering_function_t* function =
      tfrt_lowering_find(body->lowering, tfrt_ir_operation_attribute(operation, "callee"));
  if (!operands || !types || !options || !function) return;
  operands[0] = body->control;
  tfrt_ir_value_t* start = waited ? merge(body, operation, operands, 1 + waited) : body->control;
  // Tokens are only waited for; the region gets the values and what it captured.
  tfrt_ir_value_t** given = operands + tokens;
  given[0] = start;
  options[option_count] = callee_of(body, function->body_name);
  tfrt_lowering_op_t parts = {.name = "tfrt_async.execute",
                              .like = operation,
                              .operands = given,
                              .operand_count = 1 + operation->operand_count - tokens,
                              .types = types,
                              .type_count = operation->result_count,
                              .attributes = options,
                              .attribute_count = option_count + 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  if (op) map_results(body, operation, op, 0);
}

// Appends `tfrt.call name(control, operands) options`; NULL after a failure.
static tfrt_ir_operation_t* append_call(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation,
                                        const tfrt_ir_string_t* name, bool has_token) {
  uint32_t option_count;
  uint32_t skipped = has_token ? 1 : 0;
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t** types = map_types(body, operation, skipped, 1);
  tfrt_ir_named_attribute_t* options = call_options(body, operation, &option_count);
  if (!operands || !types || !options) return NULL;
  operands[0] = body->control;
  types[0] = tfrt_lowering_chain_type(body->lowering);
  options[option_count] = callee_of(body, name);
  tfrt_lowering_op_t parts = {.name = "tfrt.call",
                              .like = operation,
                              .operands = operands,
                              .operand_count = 1 + operation->operand_count,
                              .types = types,
                              .type_count = 1 + operation->result_count - skipped,
                              .attributes = options,
                              .attribute_count = option_count + 1};
  return tfrt_lowering_append(body, &parts);
}

static void lower_async_call(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  const tfrt_lowering_function_t* function =
      tfrt_lowering_find(body->lowering, tfrt_ir_operation_attribute(operation, "callee"));
  if (!function) return;
  bool has_token =
      operation->result_count && tfrt_ir_type_is(operation->results[0].type, "!async.token");
  tfrt_ir_operation_t* op = append_call(body, operation, function->body_name, has_token);
  if (op) map_results(body, operation, op, has_token ? 0 : 1);
}

// --- Prints -----------------------------------------------------------------------------------

static void append_print(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                         tfrt_string_view_t text) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t* types[1];
  tfrt_ir_named_attribute_t attribute =
      tfrt_lowering_named(body->lowering, "text", tfrt_lowering_string(body->lowering, text));
  if (!operands) return;
  bool ends_line = text.size && text.data[text.size - 1] == '\n';
  if (!ends_line) body->lowering->prints_pieces = true;
  append_effect(body, operation,
                operation->operand_count ? "tfrt_async.print" : "tfrt_async.print_text", operands,
                1 + operation->operand_count, types, 1, &attribute, 1);
}

static void lower_print(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  static const char* const marks[][2] = {{"#vector.punctuation<newline>", "\n"},
                                         {"#vector.punctuation<comma>", ", "},
                                         {"#vector.punctuation<no_punctuation>", ""},
                                         {"#vector.punctuation<open>", "( "},
                                         {"#vector.punctuation<close>", " )"}};
  const tfrt_ir_attribute_t* literal = tfrt_ir_operation_attribute(operation, "stringLiteral");
  const tfrt_ir_attribute_t* mark = tfrt_ir_operation_attribute(operation, "punctuation");
  const char* text = "";
  for (size_t i = 0; mark && i < TFRT_ARRAY_SIZE(marks); ++i) {
    if (mark->kind == TFRT_IR_ATTRIBUTE_OPAQUE &&
        tfrt_string_view_equal(tfrt_ir_attribute_text(mark), tfrt_string_view_of(marks[i][0]))) {
      text = marks[i][1];
    }
  }
  // A text stands for itself, without punctuation.
  append_print(body, operation,
               literal ? tfrt_ir_attribute_text(literal) : tfrt_string_view_of(text));
}

// Lowers `printMemrefF32` and the like, which print memory of whatever rank.
static bool lower_memory_print(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation,
                               const char* name) {
  static const char* const elements[] = {"I8", "I16", "I32", "I64", "Ind", "F32", "F64"};
  static const char prefix[] = "printMemref";
  bool fits = strncmp(name, prefix, sizeof(prefix) - 1) == 0 && operation->operand_count == 1 &&
              operation->operands[0].value->type->kind == TFRT_IR_TYPE_MEMREF;
  bool is_known = false;
  for (size_t i = 0; fits && i < TFRT_ARRAY_SIZE(elements); ++i) {
    is_known = is_known || strcmp(name + sizeof(prefix) - 1, elements[i]) == 0;
  }
  if (!is_known) return false;
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t* types[1];
  if (operands) {
    append_effect(body, operation, "tfrt_async.print_memory", operands, 2, types, 1, NULL, 0);
  }
  return true;
}

// Lowers a call of one of the functions that MLIR's runner offers; false if it is none.
static bool lower_runner_call(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation,
                              const char* name) {
  static const char* const functions[][2] = {
      {"printI64", ""},       {"printU64", ""},     {"printF32", ""},    {"printF64", ""},
      {"printNewline", "\n"}, {"printComma", ", "}, {"printOpen", "( "}, {"printClose", " )"}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(functions); ++i) {
    if (strcmp(functions[i][0], name) != 0 || operation->result_count) continue;
    append_print(body, operation, tfrt_string_view_of(functions[i][1]));
    return true;
  }
  if (strcmp(name, "mlirAsyncRuntimePrintCurrentThreadId") == 0 && !operation->result_count) {
    tfrt_ir_value_t* operands[1];
    const tfrt_ir_type_t* types[1];
    append_effect(body, operation, "tfrt_async.print_thread", operands, 1, types, 1, NULL, 0);
    return true;
  }
  return !operation->result_count && lower_memory_print(body, operation, name);
}

static void lower_call(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* callee = tfrt_ir_operation_attribute(operation, "callee");
  const tfrt_lowering_function_t* function = tfrt_lowering_find(body->lowering, callee);
  const tfrt_ir_operation_t* target = tfrt_ir_symbol_table_resolve(body->lowering->symbols, callee);
  if (function) {
    tfrt_ir_operation_t* op = append_call(body, operation, function->body_name, false);
    if (!op) return;
    body->control = &op->results[0];
    map_results(body, operation, op, 1);
    return;
  }
  const char* name = callee->names[callee->count - 1]->data;
  bool is_native = target && tfrt_ir_operation_attribute(target, "tfrt.native");
  if (target && !is_native && target->regions[0].first_block == NULL) {
    if (lower_runner_call(body, operation, name)) return;
    tfrt_lowering_fail(body->lowering, operation,
                       "calls '@%s', which has no body and is none of the functions that print",
                       name);
    return;
  }
  // A function of kernels, which takes and gives no chain of ours.
  uint32_t option_count;
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 0);
  const tfrt_ir_type_t** types = map_types(body, operation, 0, 0);
  tfrt_ir_named_attribute_t* options = call_options(body, operation, &option_count);
  if (!operands || !types || !options) return;
  options[option_count] = tfrt_lowering_named(body->lowering, "callee", callee);
  tfrt_lowering_op_t parts = {.name = "tfrt.call",
                              .like = operation,
                              .operands = operands,
                              .operand_count = operation->operand_count,
                              .types = types,
                              .type_count = operation->result_count,
                              .attributes = options,
                              .attribute_count = option_count + 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  if (op) map_results(body, operation, op, 0);
}

// --- Waiting -----------------------------------------------------------------------------------

static void lower_await(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  const tfrt_lowering_mapping_t* mapping =
      tfrt_lowering_mapped(body, operation->operands[0].value, operation);
  if (!mapping) return;
  tfrt_ir_value_t* value = mapping->value;
  tfrt_ir_value_t* before = body->control;
  tfrt_lowering_await(body, operation, value);
  if (!operation->result_count) return;
  // A failure before this point reaches the value; one behind it doesn't.
  if (before != body->entry) value = tfrt_lowering_gate(body, operation, before, value);
  tfrt_lowering_map(body, &operation->results[0], value, true);
}

// Appends `name control, operand`; its result of |type|, or NULL.
static tfrt_ir_value_t* append_query(tfrt_lowering_block_t* body,
                                     const tfrt_ir_operation_t* operation, const char* name,
                                     const tfrt_ir_type_t* type) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  if (!operands) return NULL;
  operands[0] = body->control;
  tfrt_lowering_op_t parts = {.name = name,
                              .like = operation,
                              .operands = operands,
                              .operand_count = 2,
                              .types = &type,
                              .type_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  return op ? &op->results[0] : NULL;
}

static bool is_group(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_type_is(operation->operands[0].value->type, "!async.group");
}

// The chain of the members of the group that |operation| waits for.
static tfrt_ir_value_t* append_await_all(tfrt_lowering_block_t* body,
                                         const tfrt_ir_operation_t* operation) {
  return append_query(body, operation, "tfrt_async.await_all",
                      tfrt_lowering_chain_type(body->lowering));
}

static void lower_await_all(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t* chain = append_await_all(body, operation);
  if (chain) body->control = chain;
}

// `async.runtime.await` and `async.runtime.is_error`, which see errors and go on.
static void lower_runtime(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_lowering_t* lowering = body->lowering;
  bool is_await = operation->result_count == 0;
  const char* name = is_await ? "tfrt_async.settled" : "tfrt_async.is_error";
  const tfrt_ir_type_t* type = is_await
                                   ? tfrt_lowering_chain_type(lowering)
                                   : tfrt_ir_type_integer(lowering->context, 1, TFRT_IR_SIGNLESS);
  tfrt_ir_value_t* result = NULL;
  if (is_group(operation)) {
    tfrt_ir_value_t* chain = append_await_all(body, operation);
    tfrt_ir_value_t* operands[] = {body->control, chain};
    tfrt_lowering_op_t parts = {.name = name,
                                .like = operation,
                                .operands = operands,
                                .operand_count = 2,
                                .types = &type,
                                .type_count = 1};
    tfrt_ir_operation_t* op = chain ? tfrt_lowering_append(body, &parts) : NULL;
    result = op ? &op->results[0] : NULL;
  } else {
    result = append_query(body, operation, name, type);
  }
  if (!result) return;
  if (is_await) {
    body->control = result;
  } else {
    tfrt_lowering_map(body, &operation->results[0], result, true);
  }
}

// A drop that is no last use of itself: the value lives until control comes here.
static void lower_drop(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t* types[1];
  if (operands)
    append_effect(body, operation, "tfrt_async.drop_ref", operands, 2, types, 1, NULL, 0);
}

static void lower_create_group(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t* group =
      append_query(body, operation, "tfrt_async.create_group", operation->results[0].type);
  if (group) tfrt_lowering_map(body, &operation->results[0], group, false);
}

static void lower_add_to_group(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t** types = map_types(body, operation, 0, 1);
  if (!operands || !types) return;
  tfrt_ir_value_t* member = operands[1];
  operands[1] = operands[2];
  operands[2] = member;
  tfrt_ir_operation_t* op =
      append_effect(body, operation, "tfrt_async.add_to_group", operands, 3, types, 2, NULL, 0);
  if (op) tfrt_lowering_map(body, &operation->results[0], &op->results[1], false);
}

static void lower_assert(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t* types[1];
  tfrt_ir_named_attribute_t message =
      tfrt_lowering_named(body->lowering, "message", tfrt_ir_operation_attribute(operation, "msg"));
  if (!operands) return;
  tfrt_ir_operation_t* op =
      append_effect(body, operation, "tfrt_async.assert", operands, 2, types, 1, &message, 1);
  if (op) body->asserted = &op->results[0];
}

// --- Memory ------------------------------------------------------------------------------------

static void lower_alloc(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_lowering_t* lowering = body->lowering;
  const tfrt_ir_type_t* type = operation->results[0].type;
  const tfrt_ir_type_t* i64 = tfrt_ir_type_integer(lowering->context, 64, TFRT_IR_SIGNLESS);
  const tfrt_ir_attribute_t** dims = tfrt_lowering_allocate(lowering, type->rank, sizeof(*dims));
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  if (!i64 || !dims || !operands) return;
  for (uint32_t i = 0; i < type->rank; ++i) {
    int64_t dim = type->dims[i] == TFRT_IR_DYNAMIC ? -1 : type->dims[i];
    dims[i] = tfrt_ir_attribute_integer(lowering->context, i64, dim);
    if (!dims[i]) return;
  }
  const tfrt_ir_type_t* element = tfrt_lowering_type(lowering, type->element);
  tfrt_ir_named_attribute_t attributes[] = {
      tfrt_lowering_named(lowering, "dims",
                          tfrt_ir_attribute_array(lowering->context, dims, type->rank)),
      tfrt_lowering_named(lowering, "element",
                          tfrt_lowering_string(lowering, tfrt_ir_string_view(element->text)))};
  operands[0] = body->control;
  tfrt_lowering_op_t parts = {.name = "tfrt_async.alloc",
                              .like = operation,
                              .operands = operands,
                              .operand_count = 1 + operation->operand_count,
                              .types = &type,
                              .type_count = 1,
                              .attributes = attributes,
                              .attribute_count = 2};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  if (op) tfrt_lowering_map(body, &operation->results[0], &op->results[0], false);
}

static void lower_access(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t** types = map_types(body, operation, 0, 1);
  bool is_load = operation->result_count == 1;
  if (!operands || !types) return;
  tfrt_ir_operation_t* op =
      append_effect(body, operation, is_load ? "tfrt_async.load" : "tfrt_async.store", operands,
                    1 + operation->operand_count, types, 1 + operation->result_count, NULL, 0);
  if (op && is_load) tfrt_lowering_map(body, &operation->results[0], &op->results[1], false);
}

static void lower_atomic(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t** types = map_types(body, operation, 0, 1);
  if (!operands || !types) return;
  const tfrt_ir_attribute_t* kind = tfrt_ir_operation_attribute(operation, "kind");
  tfrt_ir_named_attribute_t attribute = tfrt_lowering_named(body->lowering, "kind", kind);
  tfrt_ir_operation_t* op = append_effect(body, operation, "tfrt_async.atomic_rmw", operands,
                                          1 + operation->operand_count, types, 2, &attribute, 1);
  if (op) tfrt_lowering_map(body, &operation->results[0], &op->results[1], false);
}

static void lower_fill(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 1);
  const tfrt_ir_type_t* types[1];
  if (operands) append_effect(body, operation, "tfrt_async.fill", operands, 3, types, 1, NULL, 0);
}

// Memory goes when nobody refers to it any more.
static void lower_dealloc(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  (void)body;
  (void)operation;
}

static void lower_memory_cast(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  const tfrt_ir_type_t* type = operation->results[0].type;
  const tfrt_lowering_mapping_t* mapping =
      tfrt_lowering_mapped(body, operation->operands[0].value, operation);
  if (!mapping) return;
  bool is_late = mapping->is_late;
  tfrt_ir_value_t* value = mapping->value;
  tfrt_lowering_op_t parts = {.name = "tfrt_async.memory_cast",
                              .like = operation,
                              .operands = &value,
                              .operand_count = 1,
                              .types = &type,
                              .type_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  if (op) tfrt_lowering_map(body, &operation->results[0], &op->results[0], is_late);
}

static void lower_dim(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_value_t** operands = map_operands(body, operation, 0, 0);
  const tfrt_ir_type_t** types = map_types(body, operation, 0, 0);
  if (!operands || !types) return;
  tfrt_lowering_op_t parts = {.name = "tfrt_async.dim",
                              .like = operation,
                              .operands = operands,
                              .operand_count = 2,
                              .types = types,
                              .type_count = 1};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  if (op) tfrt_lowering_map(body, &operation->results[0], &op->results[0], false);
}

// --- Kernels -----------------------------------------------------------------------------------

// A kernel with regions, and what was found in these.
typedef struct kernel_regions_s {
  const tfrt_ir_operation_t* kernel;
  const tfrt_ir_operation_t* language;  // an op of the language
  const tfrt_ir_operation_t* capture;   // an op that uses a value from outside of the kernel
} kernel_regions_t;

static bool is_within(const tfrt_ir_operation_t* kernel, const tfrt_ir_value_t* value) {
  const tfrt_ir_block_t* block = tfrt_ir_value_block(value);
  while (block && block->region->owner != kernel) block = block->region->owner->block;
  return block != NULL;
}

static bool look_at_inner(tfrt_ir_operation_t* operation, void* user_data) {
  kernel_regions_t* regions = user_data;
  if (operation == regions->kernel) return true;
  if (tfrt_lowering_is_language(operation)) regions->language = operation;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    const tfrt_ir_value_t* value = operation->operands[i].value;
    if (tfrt_ir_value_is_missing(value) || is_within(regions->kernel, value)) continue;
    regions->capture = operation;
  }
  return true;
}

// Reports what the regions of |operation|, a kernel, can't have.
static bool check_kernel_regions(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  kernel_regions_t regions = {.kernel = operation};
  if (!operation->region_count) return true;
  tfrt_ir_operation_walk(operation, look_at_inner, &regions);
  if (regions.language) {
    tfrt_lowering_fail(body->lowering, regions.language,
                       "stands in a region of '%s', which is no op of the language: put it into "
                       "a function that is called there",
                       operation->name->data);
    return false;
  }
  if (!regions.capture) return true;
  tfrt_lowering_fail(body->lowering, regions.capture,
                     "uses a value from outside of the region of '%s'", operation->name->data);
  return false;
}

// A kernel among the ops of the language: it goes over as it is. The chains that it gives are part
// of what the block waits for; one that is made anew, or left out, is the control.
static void move_kernel(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  if (tfrt_ir_operation_is(operation, "tfrt.new.chain")) {
    tfrt_lowering_map(body, &operation->results[0], body->control, true);
    return;
  }
  if (!check_kernel_regions(body, operation)) return;
  for (uint32_t i = 0; i < operation->operand_count; ++i) {
    tfrt_ir_operand_t* operand = &operation->operands[i];
    if (tfrt_ir_value_is_missing(operand->value)) {
      tfrt_ir_operand_set(operand, body->control);
      operation->lacks_dependences = true;
      continue;
    }
    const tfrt_lowering_mapping_t* mapping = tfrt_lowering_mapped(body, operand->value, operation);
    if (!mapping) return;
    tfrt_ir_operand_set(operand, mapping->value);
  }
  tfrt_ir_block_remove(operation);
  tfrt_ir_block_append(body->block, operation);
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    tfrt_ir_value_t* result = &operation->results[i];
    tfrt_lowering_map(body, result, result, true);
    if (!tfrt_ir_type_is(result->type, "!tfrt.chain")) continue;
    if (!tfrt_scratch_push(&body->chains, &result)) body->lowering->out_of_memory = true;
  }
}

// --- The table ---------------------------------------------------------------------------------

typedef struct rule_s {
  const char* name;
  void (*lower)(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation);
} rule_t;

static const rule_t rules[] = {
    {"async.execute", lower_execute},
    {"async.await", lower_await},
    {"async.call", lower_async_call},
    {"func.call", lower_call},
    {"async.create_group", lower_create_group},
    {"async.add_to_group", lower_add_to_group},
    {"async.await_all", lower_await_all},
    {"async.runtime.await", lower_runtime},
    {"async.runtime.is_error", lower_runtime},
    {"async.runtime.drop_ref", lower_drop},
    {"cf.assert", lower_assert},
    {"vector.print", lower_print},
    {"memref.alloc", lower_alloc},
    {"memref.alloca", lower_alloc},
    {"memref.dealloc", lower_dealloc},
    {"memref.load", lower_access},
    {"memref.store", lower_access},
    {"memref.atomic_rmw", lower_atomic},
    {"linalg.fill", lower_fill},
    {"memref.cast", lower_memory_cast},
    {"memref.dim", lower_dim},
};

void tfrt_lowering_operation(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  if (!tfrt_lowering_is_language(operation)) {
    move_kernel(body, operation);
    return;
  }
  if (tfrt_ir_is_device_operation(operation)) {
    tfrt_lowering_device(body, operation);
    return;
  }
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(rules); ++i) {
    if (!tfrt_ir_operation_is(operation, rules[i].name)) continue;
    // It may see what the device does.
    tfrt_lowering_device_end(body, operation);
    rules[i].lower(body, operation);
    return;
  }
  if (tfrt_lowering_scalar(body, operation)) return;
  tfrt_lowering_fail(body->lowering, operation, "has no lowering to BEF here");
}
