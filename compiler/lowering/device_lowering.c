// SPDX-License-Identifier: Apache-2.0
//
// Work of devices to kernels that give it to a stream. Each such kernel ends when the work is in
// the stream, and the control goes on, so that work is given in the order of the program and the
// host waits for none of it. A token is
//
//     for work of the same block   the stream: work with one token goes on in it
//     for all others               an event that is recorded in it: other streams wait for that,
//     also
//                                  those of other devices
//
// The control waits for a device in two places: `gpu.wait` without `async`, and, for work without a
// token, before the next op that might see what the work does.

#include "compiler/ir/device_operation.h"
#include "compiler/lowering/lowering_impl.h"
#include "host_runtime/base/ascii.h"

#define CONTEXT "!tfrt_gpu.context"
#define STREAM "!tfrt_gpu.stream"
#define EVENT "!tfrt_gpu.event"
#define BUFFER "!tfrt_gpu.buffer"
#define AXES 3

// --- Kernels -------------------------------------------------------------------------

// Appends `name operands {attribute}` with one result of the type |text|; NULL when memory is out.
static tfrt_ir_value_t* append(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                               const char* name, const char* text, tfrt_ir_value_t* const* operands,
                               uint32_t count, const tfrt_ir_named_attribute_t* attribute) {
  tfrt_ir_context_t* context = body->lowering->context;
  for (uint32_t i = 0; i < count; ++i) {
    if (!operands[i]) return NULL;
  }
  const tfrt_ir_type_t* type = tfrt_ir_type_find(context, tfrt_string_view_of(text));
  if (!type) type = tfrt_ir_type_dialect(context, tfrt_string_view_of(text));
  tfrt_lowering_op_t parts = {.name = name,
                              .like = like,
                              .operands = operands,
                              .operand_count = count,
                              .types = &type,
                              .type_count = 1,
                              .attributes = attribute,
                              .attribute_count = attribute ? 1 : 0};
  tfrt_ir_operation_t* op = tfrt_lowering_append(body, &parts);
  return op ? &op->results[0] : NULL;
}

// The same behind the control, the last operand; the chain is the control then.
static void append_work(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                        const char* name, tfrt_ir_value_t* first, tfrt_ir_value_t* second) {
  tfrt_ir_value_t* operands[] = {first, second ? second : body->control, body->control};
  tfrt_ir_value_t* chain = append(body, like, name, "!tfrt.chain", operands, second ? 3 : 2, NULL);
  if (chain) body->control = chain;
}

// The constant |number| of |width| bits and the type |text|, by the kernel |name|.
static tfrt_ir_value_t* append_number(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                                      const char* name, const char* text, uint32_t width,
                                      int64_t number) {
  tfrt_ir_context_t* context = body->lowering->context;
  const tfrt_ir_type_t* type = tfrt_ir_type_integer(context, width, TFRT_IR_SIGNLESS);
  if (!type) return NULL;
  tfrt_ir_named_attribute_t value = tfrt_lowering_named(
      body->lowering, "value", tfrt_ir_attribute_integer(context, type, number));
  return append(body, like, name, text, NULL, 0, &value);
}

// Operand |index| of |operation| in the new block; NULL after a failure.
static tfrt_ir_value_t* value_of(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                                 uint32_t index) {
  const tfrt_lowering_mapping_t* mapping =
      tfrt_lowering_mapped(body, operation->operands[index].value, operation);
  return mapping ? mapping->value : NULL;
}

// --- The device ----------------------------------------------------------------------

static tfrt_ir_value_t* context_of(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like) {
  if (body->device_context) return body->device_context;
  tfrt_ir_value_t* device =
      append(body, like, "tfrt_gpu.device.default", "!tfrt_gpu.device", NULL, 0, NULL);
  return body->device_context =
             append(body, like, "tfrt_gpu.context.primary", CONTEXT, &device, 1, NULL);
}

static tfrt_ir_value_t* allocator_of(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like) {
  if (body->device_allocator) return body->device_allocator;
  tfrt_ir_value_t* context = context_of(body, like);
  return body->device_allocator = append(body, like, "tfrt_gpu.allocator.create",
                                         "!tfrt_gpu.allocator", &context, 1, NULL);
}

static tfrt_ir_value_t* make_stream(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like) {
  tfrt_ir_value_t* context = context_of(body, like);
  return append(body, like, "tfrt_gpu.stream.create", STREAM, &context, 1, NULL);
}

// An event behind the work that |stream| was given.
static tfrt_ir_value_t* record(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like,
                               tfrt_ir_value_t* stream) {
  tfrt_ir_value_t* context = context_of(body, like);
  tfrt_ir_value_t* event = append(body, like, "tfrt_gpu.event.create", EVENT, &context, 1, NULL);
  if (event) append_work(body, like, "tfrt_gpu.event.record", event, stream);
  return event;
}

// Lets |stream| wait for the tokens of |operation|, the first |count| operands.
static void wait_for_tokens(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                            tfrt_ir_value_t* stream, uint32_t count) {
  for (uint32_t i = 0; stream && i < count; ++i) {
    const tfrt_lowering_mapping_t* token =
        tfrt_lowering_mapped(body, operation->operands[i].value, operation);
    if (!token) return;
    if (token->stream == stream) continue;
    tfrt_ir_value_t* event = token->stream ? record(body, operation, token->stream) : token->value;
    if (event) append_work(body, operation, "tfrt_gpu.stream.wait", stream, event);
  }
}

// The stream of |operation|, behind its tokens; NULL when memory is out.
static tfrt_ir_value_t* stream_of(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                                  const tfrt_ir_device_operation_t* parts) {
  const tfrt_lowering_mapping_t* only =
      parts->token_count == 1 ? tfrt_lowering_mapped(body, operation->operands[0].value, operation)
                              : NULL;
  if (only && only->stream && parts->gives_token) return only->stream;
  tfrt_ir_value_t* stream = parts->gives_token ? NULL : body->device_stream;
  if (!stream) stream = make_stream(body, operation);
  if (!parts->gives_token) {
    body->device_stream = stream;
    body->device_is_busy = true;
  }
  wait_for_tokens(body, operation, stream, parts->token_count);
  return stream;
}

// Whether anybody but work of the same block uses |token|.
static bool is_used_elsewhere(const tfrt_ir_operation_t* operation, const tfrt_ir_value_t* token) {
  for (const tfrt_ir_operand_t* use = token->first_use; use; use = use->next) {
    if (use->owner->block != operation->block || !tfrt_ir_is_device_operation(use->owner)) {
      return true;
    }
  }
  return false;
}

// Maps the token that |operation| gives to what |stream| was given so far.
static void give_token(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                       tfrt_ir_value_t* stream) {
  tfrt_ir_value_t* token = &operation->results[operation->result_count - 1];
  tfrt_ir_value_t* value = stream;
  if (stream && is_used_elsewhere(operation, token)) {
    value = record(body, operation, stream);
    // An event that isn't recorded yet is done.
    if (value) value = tfrt_lowering_gate(body, operation, body->control, value);
  }
  if (!value) return;
  tfrt_lowering_map(body, token, value, true);
  tfrt_lowering_mapping_t* mapping = tfrt_lowering_mapped(body, token, operation);
  if (mapping) mapping->stream = stream;
}

// --- Memory --------------------------------------------------------------------------

// The bytes of operand |index| of |operation|, memory. |is_device|: it must be a device's.
static tfrt_ir_value_t* bytes_of(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                                 uint32_t index, bool is_device) {
  tfrt_ir_value_t* value = value_of(body, operation, index);
  return append(body, operation, is_device ? "tfrt_async.device_bytes" : "tfrt_async.bytes", BUFFER,
                &value, 1, NULL);
}

// The size in bytes of the memory that |operation| gives; NULL after a failure.
static tfrt_ir_value_t* size_of(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                                uint32_t first) {
  const tfrt_ir_type_t* type = operation->results[0].type;
  size_t known = tfrt_ir_type_byte_size(type->element);
  bool fits = known > 0;
  for (uint32_t i = 0; fits && i < type->rank; ++i) {
    if (type->dims[i] == TFRT_IR_DYNAMIC) continue;
    fits = tfrt_size_multiply(known, (size_t)type->dims[i], &known) && known <= INT64_MAX;
  }
  if (!fits) {
    tfrt_lowering_fail(body->lowering, operation,
                       "gives memory of no size that is known here: '%s'", type->text->data);
    return NULL;
  }
  tfrt_ir_value_t* size =
      append_number(body, operation, "tfrt.constant.i64", "i64", 64, (int64_t)known);
  for (uint32_t i = first; i < operation->operand_count; ++i) {
    tfrt_ir_value_t* factors[] = {size, value_of(body, operation, i)};
    size = append(body, operation, "tfrt_async.muli", "i64", factors, 2, NULL);
  }
  return size;
}

static void lower_alloc(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation,
                        const tfrt_ir_device_operation_t* parts, tfrt_ir_value_t* stream) {
  tfrt_ir_value_t* size = size_of(body, operation, parts->token_count);
  bool is_shared = tfrt_ir_operation_attribute(operation, "hostShared") != NULL;
  tfrt_ir_value_t* memory = NULL;
  if (is_shared) {
    tfrt_ir_value_t* operands[] = {context_of(body, operation), size, body->control};
    memory = append(body, operation, "tfrt_gpu.mem.allocate_host", BUFFER, operands, 3, NULL);
  } else {
    tfrt_ir_value_t* operands[] = {allocator_of(body, operation), stream, size, body->control};
    memory = append(body, operation, "tfrt_gpu.mem.allocate", BUFFER, operands, 4, NULL);
  }
  memory = append(body, operation, "tfrt_async.device_memory",
                  operation->results[0].type->text->data, &memory, 1, NULL);
  if (memory) tfrt_lowering_map(body, &operation->results[0], memory, true);
}

static void lower_memory(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation,
                         const tfrt_ir_device_operation_t* parts, tfrt_ir_value_t* stream) {
  uint32_t first = parts->token_count;
  if (parts->kind == TFRT_IR_DEVICE_DEALLOC) {
    tfrt_ir_value_t* memory = bytes_of(body, operation, first, true);
    if (memory) append_work(body, operation, "tfrt_gpu.mem.deallocate", memory, stream);
    return;
  }
  bool is_copy = parts->kind == TFRT_IR_DEVICE_COPY;
  tfrt_ir_value_t* operands[4] = {bytes_of(body, operation, first, !is_copy)};
  if (is_copy) {
    operands[1] = bytes_of(body, operation, first + 1, false);
  } else {
    operands[1] = value_of(body, operation, first + 1);
  }
  operands[2] = stream;
  operands[3] = body->control;
  tfrt_ir_value_t* chain =
      append(body, operation, is_copy ? "tfrt_gpu.mem.copy" : "tfrt_gpu.mem.set", "!tfrt.chain",
             operands, 4, NULL);
  if (chain) body->control = chain;
}

// --- Launches ------------------------------------------------------------------------

// Appends the decoded string that begins in |text| at |at|, behind its quote.
static void append_string(tfrt_string_builder_t* builder, tfrt_string_view_t text, size_t at) {
  for (; at < text.size && text.data[at] != '"'; ++at) {
    char c = text.data[at];
    if (c != '\\' || at + 2 >= text.size) {
      tfrt_string_builder_append_char(builder, c);
      continue;
    }
    int high = tfrt_ascii_hex_digit(text.data[at + 1]);
    int low = tfrt_ascii_hex_digit(text.data[at + 2]);
    if (high >= 0 && low >= 0) {
      tfrt_string_builder_append_char(builder, (char)(high * 16 + low));
      at += 2;
      continue;
    }
    c = text.data[++at];
    tfrt_string_builder_append_char(builder, c == 'n' ? '\n' : c == 't' ? '\t' : c);
  }
}

// The code in the first object of |binary|, `#gpu.object<target, format = "code">`; NULL after a
// failure.
static const tfrt_ir_attribute_t* code_of(tfrt_lowering_block_t* body,
                                          const tfrt_ir_operation_t* binary) {
  const tfrt_ir_attribute_t* objects = tfrt_ir_operation_attribute(binary, "objects");
  bool is_list = objects && objects->kind == TFRT_IR_ATTRIBUTE_ARRAY && objects->count > 0 &&
                 objects->elements[0]->kind == TFRT_IR_ATTRIBUTE_OPAQUE;
  tfrt_string_view_t text =
      is_list ? tfrt_ir_attribute_text(objects->elements[0]) : (tfrt_string_view_t){0};
  // The target may have quotes too, in brackets: `{chip = "sm_90"}`.
  int depth = 0;
  size_t at = 0;
  for (; at < text.size && !(depth == 1 && text.data[at] == '"'); ++at) {
    char c = text.data[at];
    depth += (c == '<' || c == '{') - (c == '>' || c == '}');
  }
  if (at >= text.size) {
    tfrt_lowering_fail(body->lowering, binary,
                       "needs an object with code, as in [#gpu.object<#nvvm.target, assembly = "
                       "\"...\">]");
    return NULL;
  }
  tfrt_string_builder_t code;
  tfrt_string_builder_initialize(&code, tfrt_ir_context_allocator(body->lowering->context));
  append_string(&code, text, at + 1);
  const tfrt_ir_attribute_t* attribute =
      code.failed ? NULL : tfrt_lowering_string(body->lowering, tfrt_string_builder_view(&code));
  tfrt_string_builder_deinitialize(&code);
  if (!attribute) body->lowering->out_of_memory = true;
  return attribute;
}

// The module that |operation|, a launch, has its kernel from; NULL after a failure.
static tfrt_ir_value_t* module_of(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* operation,
                                  const tfrt_ir_attribute_t* kernel) {
  const tfrt_ir_operation_t* binary =
      tfrt_ir_symbol_table_find(body->lowering->symbols, tfrt_ir_string_view(kernel->names[0]));
  if (!binary || !tfrt_ir_operation_is(binary, "gpu.binary")) {
    tfrt_lowering_fail(body->lowering, operation,
                       "launches a kernel of '@%s', which is no 'gpu.binary' of the module: "
                       "mlir-opt --gpu-module-to-binary makes one",
                       kernel->names[0]->data);
    return NULL;
  }
  if (body->device_binary == binary) return body->device_module;
  const tfrt_ir_attribute_t* code = code_of(body, binary);
  if (!code) return NULL;
  tfrt_ir_value_t* context = context_of(body, operation);
  tfrt_ir_named_attribute_t data = tfrt_lowering_named(body->lowering, "data", code);
  body->device_binary = binary;
  return body->device_module = append(body, operation, "tfrt_gpu.module.load", "!tfrt_gpu.module",
                                      &context, 1, &data);
}

// |value|, a number, as a size of a launch; NULL after a failure.
static tfrt_ir_value_t* append_size(tfrt_lowering_block_t* body,
                                    const tfrt_ir_operation_t* operation, tfrt_ir_value_t* value) {
  return append(body, operation, "tfrt_async.device_size", "ui32", &value, 1, NULL);
}

static void lower_launch(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation,
                         const tfrt_ir_device_operation_t* parts, tfrt_ir_value_t* stream) {
  const tfrt_ir_attribute_t* kernel = tfrt_ir_operation_attribute(operation, "kernel");
  tfrt_ir_value_t* module = module_of(body, operation, kernel);
  tfrt_ir_named_attribute_t name = tfrt_lowering_named(
      body->lowering, "name",
      tfrt_lowering_string(body->lowering, tfrt_ir_string_view(kernel->names[1])));
  uint32_t axis_count = parts->has_clusters ? 3 * AXES : 2 * AXES;
  uint32_t count = 0;
  tfrt_ir_value_t** operands = tfrt_lowering_allocate(
      body->lowering, (size_t)operation->operand_count + 4, sizeof(*operands));
  if (!operands || !module) return;
  operands[count++] = stream;
  operands[count++] = append(body, operation, "tfrt_gpu.module.get_function", "!tfrt_gpu.function",
                             &module, 1, &name);
  uint32_t next = parts->token_count;
  for (uint32_t i = 0; i < axis_count; ++i) {
    operands[count++] = append_size(body, operation, value_of(body, operation, next++));
  }
  tfrt_ir_value_t* shared = parts->has_shared_size
                                ? value_of(body, operation, next++)
                                : append_number(body, operation, "tfrt.constant.i32", "i32", 32, 0);
  operands[count++] = append_size(body, operation, shared);
  operands[count++] = body->control;
  for (; next < operation->operand_count; ++next) {
    const tfrt_ir_value_t* argument = operation->operands[next].value;
    const tfrt_lowering_mapping_t* mapping = tfrt_lowering_mapped(body, argument, operation);
    bool is_memory = argument->type->kind == TFRT_IR_TYPE_MEMREF;
    operands[count++] =
        is_memory ? bytes_of(body, operation, next, true) : (mapping ? mapping->value : NULL);
  }
  const char* op =
      parts->has_clusters ? "tfrt_gpu.function.launch.cluster" : "tfrt_gpu.function.launch";
  tfrt_ir_value_t* chain = append(body, operation, op, "!tfrt.chain", operands, count, NULL);
  if (chain) body->control = chain;
}

// --- One op --------------------------------------------------------------------------

// `gpu.wait` without `async`: the host waits.
static void lower_host_wait(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation,
                            uint32_t count) {
  tfrt_lowering_device_end(body, operation);
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_lowering_mapping_t* token =
        tfrt_lowering_mapped(body, operation->operands[i].value, operation);
    if (!token) return;
    append_work(body, operation,
                token->stream ? "tfrt_gpu.stream.synchronize" : "tfrt_gpu.event.synchronize",
                token->stream ? token->stream : token->value, NULL);
  }
}

void tfrt_lowering_device_end(tfrt_lowering_block_t* body, const tfrt_ir_operation_t* like) {
  if (!body->device_is_busy) return;
  body->device_is_busy = false;
  append_work(body, like, "tfrt_gpu.stream.synchronize", body->device_stream, NULL);
}

void tfrt_lowering_device(tfrt_lowering_block_t* body, tfrt_ir_operation_t* operation) {
  tfrt_ir_device_operation_t parts;
  if (!tfrt_ir_device_operation_read(operation, &parts)) {
    tfrt_lowering_fail(body->lowering, operation, "is not well formed");
    return;
  }
  if (parts.kind == TFRT_IR_DEVICE_WAIT && !parts.gives_token) {
    lower_host_wait(body, operation, parts.token_count);
    return;
  }
  tfrt_ir_value_t* stream = stream_of(body, operation, &parts);
  if (!stream) return;
  switch (parts.kind) {
    case TFRT_IR_DEVICE_WAIT:
      break;
    case TFRT_IR_DEVICE_ALLOC:
      lower_alloc(body, operation, &parts, stream);
      break;
    case TFRT_IR_DEVICE_DEALLOC:
    case TFRT_IR_DEVICE_COPY:
    case TFRT_IR_DEVICE_SET:
      lower_memory(body, operation, &parts, stream);
      break;
    case TFRT_IR_DEVICE_LAUNCH:
      lower_launch(body, operation, &parts, stream);
      break;
  }
  if (parts.gives_token) give_token(body, operation, stream);
}
