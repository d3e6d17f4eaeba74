// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of work of devices:
//
//   gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "...">]
//   %t = gpu.wait async [%a, %b]                  gpu.wait [%t]
//   %m, %t = gpu.alloc async [%a] (%n) : memref<?xf32>
//   %t = gpu.memcpy async [%a] %target, %source : memref<4xf32>, memref<4xf32>
//   %t = gpu.launch_func async [%a] @kernels::@add blocks in (%x, %y, %z) threads in (%x, %y, %z)
//            dynamic_shared_memory_size %s args(%m : memref<4xf32>, %n : i32)

#include "compiler/ir/device_operation.h"
#include "compiler/parser/parser_impl.h"

#define AXES 3

static const tfrt_ir_type_t* token_type(tfrt_parser_t* parser) {
  return tfrt_ir_type_dialect(parser->context, tfrt_string_view_of(TFRT_IR_DEVICE_TOKEN));
}

// `async`, if there, and `[%a, %b]`, if there.
static bool take_tokens(tfrt_parser_t* parser, tfrt_parser_op_t* op, bool* out_is_async) {
  const tfrt_ir_type_t* type = token_type(parser);
  *out_is_async = tfrt_parser_accept_word(parser, "async");
  if (!tfrt_parser_accept(parser, '[')) return type != NULL;
  size_t mark = parser->operands.count;
  return type && tfrt_parser_take_references(parser, ']') &&
         tfrt_parser_expect(parser, ']', "behind tokens") &&
         tfrt_parser_resolve_all(parser, op, mark, type);
}

// Sets the results: |memory| (NULL: none), and a token if |is_async|.
static bool set_results(tfrt_parser_t* parser, tfrt_parser_op_t* op, const tfrt_ir_type_t* memory,
                        bool is_async) {
  size_t mark = parser->pointers.count;
  if (memory && !tfrt_parser_push_pointer(parser, memory)) return false;
  if (is_async && !tfrt_parser_push_pointer(parser, token_type(parser))) return false;
  op->result_types = tfrt_parser_take_pointers(parser, mark, &op->result_count);
  return op->result_types != NULL;
}

bool tfrt_parser_gpu_binary(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  (void)op;
  const tfrt_ir_string_t* name = tfrt_parser_symbol_name(parser);
  if (!name || !tfrt_parser_add_attribute(
                   parser, "sym_name",
                   tfrt_ir_attribute_string(parser->context, tfrt_ir_string_view(name), NULL))) {
    return false;
  }
  const tfrt_ir_attribute_t* handler =
      tfrt_ir_attribute_opaque(parser->context, tfrt_string_view_of("#gpu.select_object"));
  if (tfrt_parser_accept(parser, '<')) {
    handler = tfrt_parser_attribute(parser);
    if (!handler || !tfrt_parser_expect(parser, '>', "behind how an object is chosen"))
      return false;
  }
  if (parser->token.kind != '[') return tfrt_parser_miss(parser, "expected '[' before objects");
  return tfrt_parser_add_attribute(parser, "offloadingHandler", handler) &&
         tfrt_parser_add_attribute(parser, "objects", tfrt_parser_attribute(parser));
}

bool tfrt_parser_gpu_wait(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  bool is_async;
  return take_tokens(parser, op, &is_async) && tfrt_parser_optional_dictionary(parser) &&
         set_results(parser, op, NULL, is_async);
}

bool tfrt_parser_gpu_alloc(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  bool is_async;
  if (!take_tokens(parser, op, &is_async)) return false;
  int32_t sizes[3] = {(int32_t)op->operand_count, 0, 0};
  if (tfrt_parser_accept_word(parser, "host_shared") &&
      !tfrt_parser_add_attribute(parser, "hostShared", tfrt_ir_attribute_unit(parser->context))) {
    return false;
  }
  size_t mark = parser->operands.count;
  if (!tfrt_parser_expect(parser, '(', "and sizes") || !tfrt_parser_take_references(parser, ')') ||
      !tfrt_parser_expect(parser, ')', "behind sizes") ||
      !tfrt_parser_resolve_all(parser, op, mark, tfrt_ir_type_index(parser->context)) ||
      !tfrt_parser_optional_dictionary(parser)) {
    return false;
  }
  sizes[1] = (int32_t)op->operand_count - sizes[0];
  const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
  return type && set_results(parser, op, type, is_async) &&
         tfrt_parser_add_segments(parser, "operandSegmentSizes", sizes, 3);
}

// `gpu.dealloc`, `gpu.memcpy` and `gpu.memset`: operands, and as many types.
bool tfrt_parser_gpu_memory(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  bool is_async;
  if (!take_tokens(parser, op, &is_async)) return false;
  size_t mark = parser->operands.count;
  if (!tfrt_parser_take_references(parser, ':') || !tfrt_parser_optional_dictionary(parser) ||
      !tfrt_parser_expect(parser, ':', "and types")) {
    return false;
  }
  size_t end = parser->operands.count;
  for (size_t i = mark; i < end; ++i) {
    if (i > mark && !tfrt_parser_expect(parser, ',', "and a type for each operand")) return false;
    const tfrt_ir_type_t* type = tfrt_parser_type(parser);
    if (!type || !tfrt_parser_resolve(parser, tfrt_scratch_at(&parser->operands, i), type)) {
      return false;
    }
    ++op->operand_count;
  }
  parser->operands.count = mark;
  return set_results(parser, op, NULL, is_async);
}

// `in (%x, %y, %z)`, pushed on |operands|.
static bool take_axes(tfrt_parser_t* parser) {
  size_t mark = parser->operands.count;
  if (!tfrt_parser_accept_word(parser, "in")) return tfrt_parser_miss(parser, "expected 'in'");
  if (!tfrt_parser_expect(parser, '(', "and three sizes") ||
      !tfrt_parser_take_references(parser, ')') ||
      !tfrt_parser_expect(parser, ')', "behind three sizes")) {
    return false;
  }
  if (parser->operands.count - mark == AXES) return true;
  return tfrt_parser_fail(parser, "expected three sizes");
}

// Resolves the |count| references at |references| as |type|.
static bool resolve(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                    const tfrt_value_reference_t* references, uint32_t count,
                    const tfrt_ir_type_t* type) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!tfrt_parser_resolve(parser, &references[i], type)) return false;
    ++op->operand_count;
  }
  return type != NULL;
}

// `clusters in (...) blocks in (...) threads in (...) : T`, in the order of the operands.
static bool take_sizes(tfrt_parser_t* parser, tfrt_parser_op_t* op, bool* out_has_clusters) {
  tfrt_value_reference_t references[3 * AXES];
  size_t mark = parser->operands.count;
  *out_has_clusters = tfrt_parser_accept_word(parser, "clusters");
  if (*out_has_clusters && !take_axes(parser)) return false;
  if (!tfrt_parser_accept_word(parser, "blocks")) {
    return tfrt_parser_miss(parser, "expected 'blocks in'");
  }
  if (!take_axes(parser)) return false;
  if (!tfrt_parser_accept_word(parser, "threads")) {
    return tfrt_parser_miss(parser, "expected 'threads in'");
  }
  if (!take_axes(parser)) return false;
  uint32_t count = (uint32_t)(parser->operands.count - mark);
  uint32_t first = *out_has_clusters ? AXES : 0;
  for (uint32_t i = 0; i < count; ++i) {
    references[i] =
        *(tfrt_value_reference_t*)tfrt_scratch_at(&parser->operands, mark + (first + i) % count);
  }
  parser->operands.count = mark;
  const tfrt_ir_type_t* type = parser->token.kind == ':' ? tfrt_parser_colon_type(parser)
                                                         : tfrt_ir_type_index(parser->context);
  return type && resolve(parser, op, references, count, type);
}

// `args(%a : T, %b : T)`, if there.
static bool take_arguments(tfrt_parser_t* parser, tfrt_parser_op_t* op, int32_t* out_count) {
  if (!tfrt_parser_accept_word(parser, "args")) return true;
  if (!tfrt_parser_expect(parser, '(', "and arguments")) return false;
  do {
    tfrt_value_reference_t reference;
    if (!tfrt_parser_value_reference(parser, &reference)) return false;
    const tfrt_ir_type_t* type = tfrt_parser_colon_type(parser);
    if (!type || !resolve(parser, op, &reference, 1, type)) return false;
    ++*out_count;
  } while (tfrt_parser_accept(parser, ','));
  return tfrt_parser_expect(parser, ')', "behind arguments");
}

bool tfrt_parser_gpu_launch(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  bool is_async;
  bool has_clusters;
  if (!take_tokens(parser, op, &is_async)) return false;
  int32_t sizes[13] = {(int32_t)op->operand_count, 1, 1, 1, 1, 1, 1};
  if (!tfrt_parser_add_attribute(parser, "kernel", tfrt_parser_symbol(parser)) ||
      !take_sizes(parser, op, &has_clusters)) {
    return false;
  }
  sizes[7] = sizes[8] = sizes[9] = has_clusters;
  if (tfrt_parser_accept_word(parser, "dynamic_shared_memory_size")) {
    sizes[10] = 1;
    const tfrt_ir_type_t* i32 = tfrt_ir_type_integer(parser->context, 32, TFRT_IR_SIGNLESS);
    if (!i32 || !tfrt_parser_take_operand(parser, op, i32)) return false;
  }
  return take_arguments(parser, op, &sizes[11]) && tfrt_parser_optional_dictionary(parser) &&
         set_results(parser, op, NULL, is_async) &&
         tfrt_parser_add_segments(parser, "operandSegmentSizes", sizes, 13);
}
