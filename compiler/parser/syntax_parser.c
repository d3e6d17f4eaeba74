// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the ops of the language, whose op-table entries say `syntax FAMILY`: MLIR's
// own, each family written by one function.

#include "compiler/parser/parser_impl.h"

typedef bool (*syntax_fn_t)(tfrt_parser_t* parser, tfrt_parser_op_t* op);

typedef struct syntax_s {
  const char* family;
  syntax_fn_t parse;
} syntax_t;

static const syntax_t syntaxes[] = {
    {"same", tfrt_parser_same_types},
    {"cast", tfrt_parser_cast},
    {"constant", tfrt_parser_constant},
    {"compare", tfrt_parser_comparison},
    {"select", tfrt_parser_selection},
    {"br", tfrt_parser_branch},
    {"cond_br", tfrt_parser_conditional_branch},
    {"switch", tfrt_parser_switch},
    {"assert", tfrt_parser_assertion},
    {"call", tfrt_parser_call},
    {"yield", tfrt_parser_yield},
    {"condition", tfrt_parser_condition},
    {"if", tfrt_parser_if},
    {"for", tfrt_parser_for},
    {"while", tfrt_parser_while},
    {"parallel", tfrt_parser_parallel},
    {"reduce", tfrt_parser_reduce},
    {"execute", tfrt_parser_execute},
    {"await", tfrt_parser_await},
    {"create_group", tfrt_parser_create_group},
    {"add_to_group", tfrt_parser_add_to_group},
    {"await_all", tfrt_parser_await_all},
    {"create", tfrt_parser_create},
    {"await_and_resume", tfrt_parser_await_and_resume},
    {"coro", tfrt_parser_coro},
    {"runtime_load", tfrt_parser_runtime_load},
    {"runtime_store", tfrt_parser_runtime_store},
    {"suspend", tfrt_parser_suspend},
    {"alloc", tfrt_parser_alloc},
    {"load", tfrt_parser_load},
    {"store", tfrt_parser_store},
    {"dim", tfrt_parser_dim},
    {"atomic", tfrt_parser_atomic},
    {"fill", tfrt_parser_fill},
    {"print", tfrt_parser_print},
    {"gpu_binary", tfrt_parser_gpu_binary},
    {"gpu_wait", tfrt_parser_gpu_wait},
    {"gpu_alloc", tfrt_parser_gpu_alloc},
    {"gpu_memory", tfrt_parser_gpu_memory},
    {"gpu_launch", tfrt_parser_gpu_launch},
};

bool tfrt_parser_take_operand(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                              const tfrt_ir_type_t* type) {
  tfrt_value_reference_t reference;
  if (!tfrt_parser_value_reference(parser, &reference)) return false;
  ++op->operand_count;
  return tfrt_parser_resolve(parser, &reference, type);
}

bool tfrt_parser_take_references(tfrt_parser_t* parser, int closing) {
  if (parser->token.kind == closing) return true;
  do {
    tfrt_value_reference_t* reference = tfrt_scratch_add(&parser->operands);
    if (!reference || !tfrt_parser_value_reference(parser, reference)) return false;
  } while (tfrt_parser_accept(parser, ','));
  return true;
}

bool tfrt_parser_resolve_all(tfrt_parser_t* parser, tfrt_parser_op_t* op, size_t mark,
                             const tfrt_ir_type_t* type) {
  for (size_t i = mark; i < parser->operands.count; ++i) {
    if (!tfrt_parser_resolve(parser, tfrt_scratch_at(&parser->operands, i), type)) return false;
    ++op->operand_count;
  }
  parser->operands.count = mark;
  return true;
}

bool tfrt_parser_one_result(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                            const tfrt_ir_type_t* type) {
  size_t mark = parser->pointers.count;
  if (!tfrt_parser_push_pointer(parser, type)) return false;
  op->result_types = tfrt_parser_take_pointers(parser, mark, &op->result_count);
  return op->result_types != NULL;
}

const tfrt_ir_type_t* tfrt_parser_colon_type(tfrt_parser_t* parser) {
  if (!tfrt_parser_expect(parser, ':', "and a type")) return NULL;
  return tfrt_parser_type(parser);
}

bool tfrt_parser_optional_dictionary(tfrt_parser_t* parser) {
  return !tfrt_parser_accept(parser, '{') || tfrt_parser_attribute_entries(parser);
}

bool tfrt_parser_optional_attributes(tfrt_parser_t* parser) {
  if (!tfrt_parser_accept_word(parser, "attributes")) return true;
  return tfrt_parser_expect(parser, '{', "behind 'attributes'") &&
         tfrt_parser_attribute_entries(parser);
}

bool tfrt_parser_add_segments(tfrt_parser_t* parser, const char* name, const int32_t* sizes,
                              uint32_t count) {
  const tfrt_ir_type_t* type = tfrt_parser_type_of_text(parser, "i32");
  return type &&
         tfrt_parser_add_attribute(
             parser, name, tfrt_ir_attribute_dense_array(parser->context, type, sizes, count));
}

// A region that the text leaves open at its end gets the op |name|, which hands nothing on.
bool tfrt_parser_end_region(tfrt_parser_t* parser, tfrt_parser_op_t* op, tfrt_ir_region_t* region,
                            const char* name) {
  tfrt_ir_block_t* block = region->last_block;
  if (!block) block = tfrt_ir_block_create(parser->context, region);
  if (!block) return false;
  if (block->last && tfrt_ir_operation_is_terminator(block->last)) return true;
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(parser->context, name),
                                     .location = tfrt_parser_location_here(parser, &op->place)};
  if (!parts.name || !parts.location) return false;
  parts.descriptor = tfrt_op_index_find(&parser->index, tfrt_ir_string_view(parts.name));
  tfrt_ir_operation_t* end = tfrt_ir_operation_create(parser->context, &parts);
  if (!end) return false;
  end->text_offset = (uint32_t)op->place.offset;
  tfrt_ir_block_append(block, end);
  return true;
}

bool tfrt_parser_syntax(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_string_view_t family = tfrt_op_form_family(op->descriptor);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(syntaxes); ++i) {
    if (tfrt_string_view_equal(family, tfrt_string_view_of(syntaxes[i].family))) {
      return syntaxes[i].parse(parser, op);
    }
  }
  return tfrt_parser_fail_at(parser, op->place.offset,
                             "op '%s' has no custom form that is known here", op->name->data);
}
